//! `sojourn replay`.

use crate::args::ForceArgs;
use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use clap::Args;
use sojourn_conform::replay::{
    read_arrivals, replay as run, replay_sampled, write_decisions, write_series,
};
use sojourn_results::overwrite::{is_same_file, refuse_foreign};
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_units::{Rate, Span, Spec};
use std::fs::File;
use std::io::{BufReader, BufWriter, Read};
use std::path::PathBuf;

/// Feed recorded arrivals to a queue and print its decision on every packet.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sojourn replay arrivals.csv --queue codel --rate 10Mbps
  sojourn replay arrivals.csv --queue pie --rate 10Mbps --series samples.csv")]
pub(crate) struct ReplayArgs {
    /// CSV file with the columns time_ns,bytes,flow,ecn and, optionally, dscp,source,destination; or - for standard
    /// input.
    pub(crate) arrivals: PathBuf,
    /// Queue, such as 'codel target=5ms limit=100p'.
    #[arg(long)]
    pub(crate) queue: String,
    /// Rate of the link.
    #[arg(long)]
    pub(crate) rate: String,
    /// Default dialect. A dialect in the queue itself takes precedence.
    #[arg(long)]
    pub(crate) dialect: Option<String>,
    /// Random seed, for disciplines that draw random numbers.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Write samples of the backlog, the internal state and the queues inside schedulers to this CSV file.
    #[arg(long, value_name = "FILE")]
    pub(crate) series: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) force: ForceArgs,
    /// Time between samples.
    #[arg(long, default_value = "10ms", requires = "series")]
    pub(crate) step: String,
}

impl Execute for ReplayArgs {
    fn execute(&self, _: Option<&Draw<'_>>) -> Result<(), Failure> {
        replay(self)
    }
}

fn replay(args: &ReplayArgs) -> Result<(), Failure> {
    let queue: Spec = args
        .queue
        .parse()
        .map_err(|error: sojourn_units::SpecError| {
            let error = sojourn_queue::registry::advised(error);
            option("--queue", &args.queue, error.to_string())
        })?;
    let rate: Rate = args
        .rate
        .parse()
        .map_err(|error: sojourn_units::UnitError| {
            option("--rate", &args.rate, error.to_string())
        })?;
    if rate.as_bps() == 0 {
        return Err(option(
            "--rate",
            &args.rate,
            "a link needs a rate above zero".to_owned(),
        )
        .into());
    }
    if let Some(series) = &args.series
        && is_same_file(series, &args.arrivals)
    {
        let problem = "this is the file of the arrivals, which would be overwritten";
        return Err(LabError::new(LabErrorKind::Contradiction, problem)
            .in_file(&format!("--series {}", series.display()))
            .remedy("name another file")
            .into());
    }
    if let Some(series) = &args.series {
        let ours = |samples: &[u8]| samples.starts_with(SERIES_HEAD.as_bytes());
        refuse_foreign(series, ours, args.force.force)?;
    }
    let file = args.arrivals.display().to_string();
    let input: Box<dyn Read> = if file == "-" {
        Box::new(std::io::stdin().lock())
    } else {
        let opened = File::open(&args.arrivals)
            .map_err(|error| LabError::io(&args.arrivals, "read the arrivals", &error))?;
        Box::new(BufReader::new(opened))
    };
    let arrivals = read_arrivals(input, &file)?;
    let (dialect, seed) = (args.dialect.as_deref(), args.seed);
    let of_queue = |error: LabError| error.in_file("--queue");
    let decisions = match &args.series {
        None => run(&arrivals, &queue, rate, dialect, seed).map_err(of_queue)?,
        Some(path) => {
            let step = step(&args.step)?;
            let sampled = replay_sampled(&arrivals, &queue, rate, dialect, seed, step);
            let (decisions, series) = sampled.map_err(of_queue)?;
            let file = File::create(path)
                .map_err(|error| LabError::io(path, "write the samples", &error))?;
            write_series(BufWriter::new(file), &series).map_err(|error| {
                let error = std::io::Error::other(error.to_string());
                LabError::io(path, "write the samples", &error)
            })?;
            decisions
        }
    };
    let output = BufWriter::new(std::io::stdout().lock());
    write_decisions(output, &arrivals, &decisions).map_err(|error| match error.into_kind() {
        csv::ErrorKind::Io(error) => Failure::from(error),
        other => Failure::from(std::io::Error::other(format!("{other:?}"))),
    })
}

/// How a file of samples begins.
const SERIES_HEAD: &str = "time_ns,of,quantity,value";

/// The time between samples.
fn step(given: &str) -> Result<Span, LabError> {
    let step: Span = given
        .parse()
        .map_err(|error: sojourn_units::UnitError| option("--step", given, error.to_string()))?;
    if step.is_zero() {
        let problem = "the time between samples must be above zero";
        return Err(option("--step", given, problem.to_owned()));
    }
    Ok(step)
}

fn option(name: &str, given: &str, problem: String) -> LabError {
    LabError::new(LabErrorKind::BadValue, problem).in_file(&format!("{name} '{given}'"))
}
