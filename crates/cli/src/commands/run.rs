//! `sojourn run`.

use crate::args::MakeArgs;
use crate::command::Words;
use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::inputs;
use crate::interrupt;
use crate::make::make;
use crate::output::say;
use crate::progress::watched;
use crate::show;
use crate::source::keep;
use clap::Args;
use sojourn_results::outcome::RunOutcome;
use sojourn_results::overwrite::{has_text, refuse_foreign};
use sojourn_run::compile::compile;
use sojourn_run::needs::Needs;
use sojourn_scenario::document::{Document, read_text};
use sojourn_scenario::model::{Scenario, Warmup};
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_study::auditor::allowances;
use sojourn_study::study::{STUDY_KEYS, Study};
use sojourn_traces::write::{TraceError, TraceFormat, run_written_unless};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Run a scenario file and print the results.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sojourn run scenario.toml
  sojourn run scenario.toml --set topology.rate=20Mbps --replications 30
  sojourn run scenario.toml --trace nam run.nam")]
pub(crate) struct RunArgs {
    /// Scenario file (TOML).
    pub(crate) scenario: PathBuf,
    /// Set a value of the scenario, such as topology.rate=2Mbps or flows.reno.count=8. Repeat it for more values.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) sets: Vec<String>,
    /// Number of runs that differ only in their random draws [default: the scenario's run.replications].
    #[arg(long, value_name = "N")]
    pub(crate) replications: Option<String>,
    /// Seed of every random stream [default: the scenario's run.seed].
    #[arg(long)]
    pub(crate) seed: Option<String>,
    /// Simulated time at the start of a run that no metric includes, or auto [default: the scenario's run.warmup, or auto].
    #[arg(long, value_name = "TIME")]
    pub(crate) warmup: Option<String>,
    /// Add replications until half of each headline interval is at most this share of its mean, such as 2% [default: the scenario's run.precision, or none].
    #[arg(long, value_name = "SHARE")]
    pub(crate) precision: Option<String>,
    /// Keep the results in this directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[arg(long, num_args = 2, value_names = ["FORMAT", "FILE"], conflicts_with_all = ["out", "threads", "fresh", "replications", "precision"], help = trace_help())]
    pub(crate) trace: Option<Vec<String>>,
    /// Replace a file that Sojourn did not make by the trace. A trace in ns-2's format could be one of ns-2.
    #[arg(long, requires = "trace")]
    pub(crate) force: bool,
    /// Trace only this link direction, such as left-right. Repeat it for more link directions.
    #[arg(long = "trace-link", value_name = "NAME", requires = "trace")]
    pub(crate) trace_links: Vec<String>,
    #[command(flatten)]
    pub(crate) make: MakeArgs,
}

fn trace_help() -> String {
    format!(
        "Run only the first replication and write every packet's events. FORMAT is {}. FILE may be a pipe, or - for standard output; the results then go to standard error. They are the same as without a trace",
        TraceFormat::listed()
    )
}

impl Execute for RunArgs {
    fn execute(&self, _: Option<&Draw<'_>>) -> Result<(), Failure> {
        run(self)
    }
}

/// The option that allows more memory, or less.
pub(crate) const LIMIT_MEMORY: &str = "--limit-memory";

/// What stands for standard output where a file is asked for.
const STANDARD_OUTPUT: &str = "-";

fn run(args: &RunArgs) -> Result<(), Failure> {
    let mut document = Document::read(&args.scenario)?;
    apply_sets(&mut document, &args.sets)?;
    apply_run_options(
        &mut document,
        [
            args.replications.as_deref(),
            args.seed.as_deref(),
            args.warmup.as_deref(),
            args.precision.as_deref(),
        ],
        &args.make,
    )?;
    let reading = Scenario::read(&document, &STUDY_KEYS)?;
    for note in &reading.notes {
        say(&format!("note: {note}"));
    }
    if document.root().has("experiment") {
        say(&format!(
            "note: {0} is a study, and this runs its scenario alone; to run its experiments: sojourn study {0}",
            sojourn_report::shell_word(&args.scenario.to_string_lossy())
        ));
    }
    let mut scenario = reading.scenario;
    scenario.refuse_vain_replications(&document)?;
    let needs = Needs::of_allowed(&scenario, &reading.limits);
    needs.map_err(|error| document.locate(error))?;
    let resolved = scenario.resolve();
    let compiled = resolved.and_then(|full| compile(&full, 0));
    compiled.map_err(|error| document.locate(error))?;
    if args.trace.is_some() {
        // One run is traced, as it is.
        scenario.run.replications = 1;
        scenario.run.warmup = Warmup::Of(scenario.run.warmup());
        scenario.run.precision = None;
    }
    let mut study = Study::single(&scenario);
    study.limits = reading.limits;
    if let Some(title) = reading.title {
        study.title = title;
    }
    study.description = reading.description;
    study.allowances = allowances(&document)?;
    let command = Words::new("run")
        .path(&args.scenario)
        .option("--replications", args.replications.as_deref())
        .option("--seed", args.seed.as_deref())
        .option("--warmup", args.warmup.as_deref())
        .option("--precision", args.precision.as_deref())
        .option(LIMIT_MEMORY, args.make.limit_memory.as_deref())
        .options("--set", &args.sets)
        .option_path("--out", args.out.as_deref())
        .text();
    if args.make.dry_run {
        return show::needs(&study.needs()?, args.make.format, "");
    }
    if let Some(trace) = &args.trace {
        return traced(&study, &scenario, trace, command, args);
    }
    make_whole(&study, args.out.as_deref(), command.clone(), &args.make)?;
    match (&args.out, read_text(&args.scenario)) {
        (Some(out), Ok(text)) => Ok(keep(out, &text, &command)?),
        _ => Ok(()),
    }
}

/// Options of commands that run a file's scenario, and the keys that they set.
const RUN_OPTIONS: [(&str, &str); 4] = [
    ("--replications", "run.replications"),
    ("--seed", "run.seed"),
    ("--warmup", "run.warmup"),
    ("--precision", "run.precision"),
];

/// Applies the options that stand for one value of every run; `values` are those of [`RUN_OPTIONS`], in their order.
pub(super) fn apply_run_options(
    document: &mut Document,
    values: [Option<&str>; RUN_OPTIONS.len()],
    make: &MakeArgs,
) -> Result<(), LabError> {
    let memory = (LIMIT_MEMORY, "limits.memory", make.limit_memory.as_deref());
    let options = RUN_OPTIONS.into_iter().zip(values);
    let options = options.map(|((option, path), value)| (option, path, value));
    for (option, path, value) in options.chain([memory]) {
        if let Some(text) = value {
            document.set_argument(path, text, &format!("{option} {text}"))?;
        }
    }
    Ok(())
}

/// Runs all of `study` and shows its results.
pub(super) fn make_whole(
    study: &Study,
    out: Option<&Path>,
    command: String,
    args: &MakeArgs,
) -> Result<(), Failure> {
    match make(study, &study.name, out, command, None, args, watched)?.results {
        Some(results) => show::results(&results, args.format, out),
        None => Ok(()),
    }
}

/// Writes the trace of the run, and shows its results as those of a run without a trace, which they equal.
fn traced(
    study: &Study,
    scenario: &Scenario,
    format_and_file: &[String],
    command: String,
    args: &RunArgs,
) -> Result<(), Failure> {
    let [format, file] = format_and_file else {
        unreachable!("the option takes two values");
    };
    let format = TraceFormat::parse(format)?;
    if file != STANDARD_OUTPUT {
        inputs::keep(&args.scenario, "--trace", Path::new(file))?;
        let ours = |trace: &[u8]| is_trace_of_ours(format, trace);
        refuse_foreign(Path::new(file), ours, args.force)?;
    }
    let outcome = trace(scenario, format, file, &args.trace_links)?;
    let made = make(
        study,
        &study.name,
        None,
        command,
        None,
        &args.make,
        |_, _| Ok(outcome.clone()),
    )?;
    let Some(results) = made.results else {
        return Ok(());
    };
    if file == STANDARD_OUTPUT || !is_plain(Path::new(file)) {
        // Standard output is the trace's, or may be, as that of a pipe's other end.
        show::results_beside(&results, args.make.format);
        return Ok(());
    }
    show::results(&results, args.make.format, None)?;
    let (warmup, end) = (scenario.run.warmup(), scenario.run.duration);
    let analysis = match format.form().is_analysed {
        false => String::new(),
        true => {
            let mut words = Words::new("trace").word("analyse").path(Path::new(file));
            if !warmup.is_zero() {
                words = words.option("--from", Some(&warmup.to_string()));
            }
            let words = words.option("--to", Some(&end.to_string())).text();
            format!("; to count in it what the table does: {words}")
        }
    };
    say(&format!("wrote {file}{analysis}"));
    Ok(())
}

/// Applies `--set PATH=VALUE` options in turn.
pub(crate) fn apply_sets(document: &mut Document, sets: &[String]) -> Result<(), LabError> {
    for set in sets {
        let argument = format!("--set {}", sojourn_report::shell_word(set));
        let Some((path, text)) = set.split_once('=') else {
            return Err(
                LabError::new(LabErrorKind::BadValue, "there is no \"=\" in it")
                    .in_file(&argument)
                    .remedy("write --set topology.rate=10Mbps, say"),
            );
        };
        document.set_argument(path.trim(), text.trim(), &argument)?;
    }
    Ok(())
}

/// Whether Sojourn wrote a trace, as far as the format shows it. Nothing in ns-2's does.
fn is_trace_of_ours(format: TraceFormat, trace: &[u8]) -> bool {
    match format {
        // ns-2 gives a node a second colour, and no label before it.
        TraceFormat::Nam => has_text(trace, "-S UP -v square -c black -b \""),
        TraceFormat::Pcapng => {
            trace.starts_with(b"\x0a\x0d\x0d\x0a") && has_text(trace, "sojourn ")
        }
        TraceFormat::Parquet => trace.starts_with(b"PAR1") && has_text(trace, "sojourn "),
        // A file that may be another's is kept.
        _ => false,
    }
}

/// Runs the first replication with every packet's events written.
fn trace(
    scenario: &Scenario,
    format: TraceFormat,
    file: &str,
    links: &[String],
) -> Result<RunOutcome, Failure> {
    if file == STANDARD_OUTPUT {
        let mut out = BufWriter::new(std::io::stdout());
        return match run_written_unless(scenario, 0, format, links, &mut out, interrupt::flag()) {
            Ok(outcome) => Ok(outcome),
            Err(TraceError::Run(error)) => Err(error.into()),
            Err(TraceError::Write(error)) => Err(error.into()),
        };
    }
    let path = Path::new(file);
    let plain = is_plain(path);
    let partial = match plain {
        true => beside(path),
        false => path.to_owned(),
    };
    let refused = |error: &std::io::Error| LabError::io(path, "write the trace", error);
    let mut out = BufWriter::new(File::create(&partial).map_err(|error| refused(&error))?);
    if plain {
        interrupt::remove(&partial);
    }
    let result = run_written_unless(scenario, 0, format, links, &mut out, interrupt::flag())
        .map_err(|error| match error {
            TraceError::Run(error) => error,
            TraceError::Write(error) => refused(&error),
        })
        .and_then(|outcome| {
            out.flush().map_err(|error| refused(&error))?;
            if plain {
                fs::rename(&partial, path).map_err(|error| refused(&error))?;
            }
            Ok(outcome)
        });
    interrupt::keep();
    if result.is_err() && plain {
        // Half a trace is of no use; if it cannot be removed, the first error is the one to tell.
        let _ = fs::remove_file(&partial);
    }
    Ok(result.map_err(|error| match error.kind() {
        LabErrorKind::Interrupted if plain => error.remedy("no trace was written"),
        _ => error,
    })?)
}

/// Whether it is, or would be, a plain file: what is not, such as a pipe, cannot be renamed over.
fn is_plain(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |found| found.is_file())
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".partial");
    PathBuf::from(name)
}
