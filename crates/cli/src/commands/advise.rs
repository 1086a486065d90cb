//! `sojourn advise`.

mod shown;

use super::tc::check_device;
use crate::args::{ForceArgs, threads};
use crate::command::Words;
use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{emit, emit_data};
use crate::runs;
use clap::Args;
use sojourn_results::directory::write_whole;
use sojourn_results::overwrite::{has_text, refuse_foreign, refuse_input, refuse_twice};
use sojourn_scenario::document::read_text;
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_study::advise::{Link, Plan, Platform, Request, Use, Varying, advice, json};
use sojourn_units::{Limit, Span, nearest};
use std::num::NonZero;
use std::path::{Path, PathBuf};

/// Say which queue and settings to use on the router or modem of an access link, with the lines to paste.
///
/// A fixed panel of settings runs under a mix of the uses that you name, in both directions. The setting that loses least in its worst use is
/// recommended; of several that are nearly as good, the simplest.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sojourn advise --rate 50/10Mbps --rtt 30ms --use web,voice,game,bulk --platform linux
  sojourn advise --rate 300Mbps --platform openwrt --dev wan --quick
  sojourn advise --rate 100/15Mbps --rtt 50ms --vary 30% --write satellite.toml")]
pub(crate) struct AdviseArgs {
    /// Measured rate of the link, down and up, such as 50/10Mbps; one rate for both directions.
    #[arg(long, value_name = "DOWN/UP")]
    pub(crate) rate: String,
    /// Round trip to the servers that you use, while the link is idle.
    #[arg(long, value_name = "TIME", default_value = "30ms")]
    pub(crate) rtt: String,
    /// What the link is used for at the same time, separated by commas: bulk, web, voice, game, video.
    #[arg(
        long = "use",
        value_name = "USES",
        default_value = "web,voice,game,bulk"
    )]
    pub(crate) uses: String,
    /// Where you can change settings: linux, openwrt or docsis (the cable modem and the operator's end).
    #[arg(long, value_name = "PLATFORM", default_value = "linux")]
    pub(crate) platform: String,
    /// Network device of the router towards the modem.
    #[arg(long, value_name = "DEVICE", default_value = "eth0")]
    pub(crate) dev: String,
    /// Bytes that the link adds to each IP packet, for the lines to paste: 18 on cable and Ethernet, 34 on VDSL2 with PPPoE, 44 if unsure.
    #[arg(long, value_name = "BYTES", default_value = "18")]
    pub(crate) overhead: u64,
    /// Queue of the modem and of the operator's end without AQM, in packets.
    #[arg(long, value_name = "LIMIT", default_value = "1000p")]
    pub(crate) buffer: String,
    /// The link's rate varies in steps between this share of --rate and --rate, such as 40%.
    #[arg(long, value_name = "SHARE", conflicts_with_all = ["trace", "trace_up"])]
    pub(crate) vary: Option<String>,
    /// Time of a step of --vary. Starlink gives a terminal a satellite for 15 s at a time.
    #[arg(long, value_name = "TIME", default_value = "15s", requires = "vary")]
    pub(crate) vary_every: String,
    /// The link's rate down varies as in this packet delivery trace of mm-link; --rate is what a shaper would be set to.
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// As --trace, of the rate up.
    #[arg(long, value_name = "FILE", requires = "trace")]
    pub(crate) trace_up: Option<PathBuf>,
    /// Shorter runs and fewer of them. Intervals are wider.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Number of replications [default: 10, or 5 with --quick].
    #[arg(long, value_name = "N")]
    pub(crate) replications: Option<u64>,
    /// Seed of every random stream.
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) seed: u64,
    /// Keep the results in this directory. Runs that it already holds are not repeated.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write the study that the advice rests on to this file. `sojourn study FILE` repeats it.
    #[arg(long, value_name = "FILE")]
    pub(crate) write: Option<PathBuf>,
    /// Write the advice as JSON to this file, or to standard output for -.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Number of parallel runs [default: one per core]. Results do not depend on it.
    #[arg(long, visible_alias = "threads", value_name = "N", value_parser = threads)]
    pub(crate) jobs: Option<NonZero<usize>>,
    /// Delete the results in the directory instead of continuing them.
    #[arg(long, requires = "out")]
    pub(crate) fresh: bool,
    #[command(flatten)]
    pub(crate) force: ForceArgs,
}

/// The name of a file that stands for standard output.
const STANDARD_OUTPUT: &str = "-";
/// What only a study or an advice of this command has.
const STUDY_MARK: &str = "# What `sojourn advise` runs";
const JSON_MARK: &str = "urn:sojourn:schema:advice:";
/// Replications, usual and quick.
const REPLICATIONS: u64 = 10;
const QUICK_REPLICATIONS: u64 = 5;
/// The fewest that an interval and a test can be made of.
const FEWEST: u64 = 3;
/// Most bytes that a link may add, as for CAKE.
const MOST_OVERHEAD: u64 = 256;
/// Most packets of a queue.
const MOST_BUFFER: u64 = 1_000_000;

impl Execute for AdviseArgs {
    fn execute(&self, _: Option<&Draw<'_>>) -> Result<(), Failure> {
        advise(self)
    }
}

fn advise(args: &AdviseArgs) -> Result<(), Failure> {
    let plan = Plan::of(request(args)?)?;
    check_files(args)?;
    if let Some(file) = &args.write {
        write_whole(file, plan.text.as_bytes())?;
    }
    interrupt::keeps_in(args.out.as_deref());
    let names = ("advise", plan.request.command.as_str());
    let results = runs::make(
        &plan.study,
        names,
        args.out.as_deref(),
        args.jobs,
        args.fresh,
    )?;
    let advice = advice(&plan, &results)?;
    let to_output = args.json.as_deref() == Some(Path::new(STANDARD_OUTPUT));
    if let Some(file) = &args.json {
        let text = json(&plan, &advice)?;
        match to_output {
            true => emit_data(&text)?,
            false => write_whole(file, text.as_bytes())?,
        }
    }
    match to_output {
        true => Ok(()),
        false => emit(&shown::text(&plan, &advice, args.write.as_deref())?),
    }
}

/// What is asked, from the arguments.
fn request(args: &AdviseArgs) -> Result<Request, LabError> {
    let (down, up) = Link::rates(&args.rate)?;
    let mut link = Link::fixed(down, up, span(&args.rtt, "--rtt")?);
    link.buffer = buffer(&args.buffer)?;
    link.varying = varying(args)?;
    check_device(&args.dev)?;
    if args.overhead > MOST_OVERHEAD {
        let problem = format!("{} bytes is no overhead of a packet", args.overhead);
        return Err(LabError::new(LabErrorKind::BadValue, problem)
            .in_file("--overhead")
            .remedy(format!("write at most {MOST_OVERHEAD}, such as 18")));
    }
    let usual = match args.quick {
        true => QUICK_REPLICATIONS,
        false => REPLICATIONS,
    };
    let replications = args.replications.unwrap_or(usual);
    if replications < FEWEST {
        let problem = format!("{replications} replications say nothing of chance");
        return Err(LabError::new(LabErrorKind::BadValue, problem)
            .in_file("--replications")
            .remedy(format!("write at least {FEWEST}; {REPLICATIONS} is usual")));
    }
    Ok(Request {
        link,
        uses: Use::list(&args.uses)?,
        platform: platform(&args.platform)?,
        device: args.dev.clone(),
        overhead: args.overhead,
        replications,
        seed: args.seed,
        quick: args.quick,
        command: command(args),
    })
}

fn platform(text: &str) -> Result<Platform, LabError> {
    let names = || Platform::ALL.iter().map(|one| one.name());
    let found = Platform::ALL.iter().find(|one| one.name() == text);
    found.copied().ok_or_else(|| {
        LabError::new(
            LabErrorKind::UnknownName,
            format!("unknown platform {text:?}"),
        )
        .in_file("--platform")
        .nearest(nearest(text, names()))
        .allowed("allowed", names().collect::<Vec<_>>().join(", "))
    })
}

fn span(text: &str, option: &str) -> Result<Span, LabError> {
    let read: Result<Span, _> = text.parse();
    read.map_err(|error| LabError::from_unit(&error).in_file(option))
}

/// A limit in packets.
fn buffer(text: &str) -> Result<u64, LabError> {
    let wrong = |problem: String| {
        LabError::new(LabErrorKind::BadValue, problem)
            .in_file("--buffer")
            .remedy(format!("write 1p to {MOST_BUFFER}p, such as 1000p"))
    };
    let limit: Limit = text
        .parse()
        .map_err(|error| LabError::from_unit(&error).in_file("--buffer"))?;
    match limit {
        Limit::Packets(packets) if (1..=MOST_BUFFER).contains(&packets.get()) => Ok(packets.get()),
        Limit::Packets(_) => Err(wrong(format!("{text:?} is out of range"))),
        Limit::Bytes(_) => Err(wrong(format!("{text:?} is no number of packets"))),
    }
}

fn varying(args: &AdviseArgs) -> Result<Option<Varying>, LabError> {
    if let Some(text) = &args.vary {
        let every = span(&args.vary_every, "--vary-every")?;
        if every < Span::from_secs(1) || every > Span::from_secs(60) {
            return Err(
                LabError::new(LabErrorKind::BadValue, format!("{every} is out of range"))
                    .in_file("--vary-every")
                    .remedy("write 1s to 60s, such as 15s"),
            );
        }
        let least = Link::least_share(text)?;
        return Ok(Some(Varying::Steps { least, every }));
    }
    let gaps = |file: &Path| -> Result<String, LabError> {
        let text = read_text(file).map_err(|error| LabError::io(file, "read the trace", &error))?;
        Varying::gaps(&text, &file.display().to_string())
    };
    let Some(file) = &args.trace else {
        return Ok(None);
    };
    Ok(Some(Varying::Trace {
        down: gaps(file)?,
        up: args.trace_up.as_deref().map(gaps).transpose()?,
    }))
}

/// Refuses to write over files of others, before anything runs.
fn check_files(args: &AdviseArgs) -> Result<(), LabError> {
    let inputs: Vec<&Path> = [&args.trace, &args.trace_up]
        .into_iter()
        .flatten()
        .map(PathBuf::as_path)
        .collect();
    if let (Some(write), Some(json)) = (&args.write, &args.json) {
        refuse_twice(("--write", write), ("--json", json))?;
    }
    let force = args.force.force;
    for (file, mark) in [(&args.write, STUDY_MARK), (&args.json, JSON_MARK)] {
        let Some(file) = file.as_deref() else {
            continue;
        };
        if file != Path::new(STANDARD_OUTPUT) {
            refuse_input(file, &inputs)?;
            refuse_foreign(file, |bytes| has_text(bytes, mark), force)?;
        }
    }
    Ok(())
}

/// The command that repeats the advice.
fn command(args: &AdviseArgs) -> String {
    let default = |text: &str, usual: &str| (text != usual).then(|| text.to_owned());
    let mut words = Words::new("advise")
        .option("--rate", Some(&args.rate))
        .option("--rtt", Some(&args.rtt))
        .option("--use", Some(&args.uses))
        .option("--platform", Some(&args.platform))
        .option("--dev", default(&args.dev, "eth0").as_deref())
        .option(
            "--overhead",
            default(&args.overhead.to_string(), "18").as_deref(),
        )
        .option("--buffer", default(&args.buffer, "1000p").as_deref())
        .option("--vary", args.vary.as_deref())
        .option("--vary-every", default(&args.vary_every, "15s").as_deref())
        .option_path("--trace", args.trace.as_deref())
        .option_path("--trace-up", args.trace_up.as_deref())
        .option("--seed", default(&args.seed.to_string(), "1").as_deref());
    let replications = args.replications.map(|number| number.to_string());
    words = words.option("--replications", replications.as_deref());
    if args.quick {
        words = words.word("--quick");
    }
    words.text()
}
