//! `sojourn run` and `sojourn dumbbell`.

use crate::args::{DumbbellArgs, MakeArgs, RunArgs};
use crate::command::Words;
use crate::failure::Failure;
use crate::interrupt;
use crate::make::make;
use crate::output::{emit, say};
use crate::show;
use sojourn_results::outcome::RunOutcome;
use sojourn_run::compile::compile;
use sojourn_run::needs::Needs;
use sojourn_run::run::run_unless;
use sojourn_scenario::document::Document;
use sojourn_scenario::model::Scenario;
use sojourn_scenario::oneline::{OPTIONS, dumbbell as read_dumbbell};
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_study::study::{STUDY_KEYS, Study};
use sojourn_traces::write::{TraceError, TraceFormat, run_written_unless};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// The option that allows more memory, or less.
pub(crate) const LIMIT_MEMORY: &str = "--limit-memory";

/// What stands for standard output where a file is asked for.
const STANDARD_OUTPUT: &str = "-";

pub(crate) fn run(args: &RunArgs) -> Result<(), Failure> {
    let mut document = Document::read(&args.scenario)?;
    apply_sets(&mut document, &args.sets)?;
    let options = [
        ("--replications", "run.replications", &args.replications),
        ("--seed", "run.seed", &args.seed),
        (LIMIT_MEMORY, "limits.memory", &args.make.limit_memory),
    ];
    for (option, path, value) in options {
        if let Some(text) = value {
            document.set_argument(path, text, &format!("{option} {text}"))?;
        }
    }
    let reading = Scenario::read(&document, &STUDY_KEYS)?;
    for note in &reading.notes {
        say(&format!("note: {note}"));
    }
    let mut scenario = reading.scenario;
    scenario.refuse_vain_replications(&document)?;
    let needs = Needs::of_allowed(&scenario, &reading.limits);
    needs.map_err(|error| document.locate(error))?;
    let resolved = scenario.resolve();
    let compiled = resolved.and_then(|full| compile(&full, 0));
    compiled.map_err(|error| document.locate(error))?;
    if args.trace.is_some() {
        scenario.run.replications = 1;
    }
    let mut study = Study::single(&scenario);
    study.limits = reading.limits;
    if let Some(title) = reading.title {
        study.title = title;
    }
    study.description = reading.description;
    let command = Words::new("run")
        .path(&args.scenario)
        .option("--replications", args.replications.as_deref())
        .option("--seed", args.seed.as_deref())
        .option(LIMIT_MEMORY, args.make.limit_memory.as_deref())
        .options("--set", &args.sets)
        .option_path("--out", args.out.as_deref())
        .text();
    if args.make.dry_run {
        return emit(&study.needs()?.to_string());
    }
    if let Some(trace) = &args.trace {
        return traced(&study, &scenario, trace, command, args);
    }
    make_whole(&study, args.out.as_deref(), command, &args.make)
}

/// Runs one replication of a scenario; an interrupt ends it.
pub(crate) fn stoppable(scenario: &Scenario, replication: u64) -> Result<RunOutcome, LabError> {
    run_unless(scenario, replication, interrupt::flag())
}

/// Runs all of `study` and shows its results.
fn make_whole(
    study: &Study,
    out: Option<&Path>,
    command: String,
    args: &MakeArgs,
) -> Result<(), Failure> {
    match make(study, out, command, None, args, stoppable)?.results {
        Some(results) => show::results(&results, args.format),
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
    let outcome = trace(scenario, format, file, &args.trace_links)?;
    let made = make(study, None, command, None, &args.make, |_, _| {
        Ok(outcome.clone())
    })?;
    let Some(results) = made.results else {
        return Ok(());
    };
    if file == STANDARD_OUTPUT || !is_plain(Path::new(file)) {
        // Standard output is the trace's, or may be, as that of a pipe's other end.
        let text = show::text(&results, args.make.format);
        eprint!("{}", sojourn_scenario::printable(&text));
        return Ok(());
    }
    show::results(&results, args.make.format)?;
    let (warmup, end) = (scenario.run.warmup, scenario.run.duration);
    let analysis = match format {
        TraceFormat::Parquet => String::new(),
        _ => {
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

pub(crate) fn dumbbell(args: &DumbbellArgs) -> Result<(), Failure> {
    let mut given = args.dumbbell.clone();
    if let Some(memory) = &args.make.limit_memory {
        given.sets.push(format!("limits.memory={memory}"));
    }
    let (base, queues, limits) = read_dumbbell(&given, &|scenario, limits| {
        Needs::of_allowed(scenario, limits).map(drop)
    })?;
    let mut study = Study::comparison(&base, &queues);
    study.limits = limits;
    if args.make.dry_run {
        return emit(&study.needs()?.to_string());
    }
    let mut words = Words::new("dumbbell");
    for (option, value) in OPTIONS
        .iter()
        .map(|(option, _)| *option)
        .zip(given.values())
    {
        words = words.option(option, value);
    }
    let mut words = words
        .options("--queue", &given.queues)
        .options("--flow", &given.flows)
        .options("--set", &given.sets);
    if given.deterministic {
        words = words.word("--deterministic");
    }
    let command = words.option_path("--out", args.out.as_deref()).text();
    make_whole(&study, args.out.as_deref(), command, &args.make)
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
        LabErrorKind::Interrupted if plain => error.remedy("the trace is not written"),
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
