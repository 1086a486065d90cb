//! `sojourn worst`.

use super::run::LIMIT_MEMORY;
use crate::args::{Format, MakeArgs};
use crate::command::Words;
use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::inputs;
use crate::interrupt;
use crate::make::{check_fresh, make};
use crate::output::{Text, complain, emit, emit_data};
use crate::progress::{Line, watched};
use crate::show::{self, needs, place_of};
use crate::terminal;
use clap::Args;
use sojourn_results::ResultSet;
use sojourn_results::directory::{MANIFEST_FILE, found_in, write_whole};
use sojourn_results::overwrite::{has_text, refuse_foreign};
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_study::named::find;
use sojourn_study::study::Progress;
use sojourn_study::worst::{Confirmed, Hands, Request, Search, Space};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Search for the scenario in which a metric is worst. The search keeps no runs: repeat the command to search again.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sojourn worst --cc bbr3 --against cubic --minimise 'share of cubic'
  sojourn worst --queue pie --maximise sojourn_s_p99 --runs 300
  sojourn worst study.toml --range rate=1..100Mbps:log --maximise sojourn_s_p95 --write worst.toml")]
#[command(override_usage = "sojourn worst [OPTIONS] <GOAL> <STUDY>
       sojourn worst [OPTIONS] <GOAL> --cc <FLOW> --against <FLOW>
       sojourn worst [OPTIONS] <GOAL> --queue <QUEUE>

GOAL is --minimise <METRIC> or --maximise <METRIC>.")]
#[command(group = clap::ArgGroup::new("space").required(true).args(["study", "cc", "queue"]))]
#[command(group = clap::ArgGroup::new("goal").required(true).args(["minimise", "maximise"]))]
pub(crate) struct WorstArgs {
    /// Scenario or study file (TOML), or the name of a study. The factors of its first experiment are the space, with those of --range.
    pub(crate) study: Option<OsString>,
    /// Congestion control of the first flows at a dumbbell, such as bbr3.
    #[arg(long, value_name = "FLOW", requires = "against")]
    pub(crate) cc: Option<String>,
    /// Congestion control of as many second flows, such as 'cubic ecn=true'. Where it is the same kind, the flows are called first and second.
    #[arg(long, value_name = "FLOW", requires = "cc")]
    pub(crate) against: Option<String>,
    /// Queue at the bottleneck of a dumbbell, such as pie, under flows of several congestion controls.
    #[arg(long, value_name = "QUEUE")]
    pub(crate) queue: Option<String>,
    /// Metric whose lowest value is the worst, such as jain_index, or 'share of cubic': its part of all goodput.
    #[arg(long, value_name = "METRIC", alias = "minimize")]
    pub(crate) minimise: Option<String>,
    /// Metric whose highest value is the worst, such as sojourn_s_p99.
    #[arg(long, value_name = "METRIC", alias = "maximize")]
    pub(crate) maximise: Option<String>,
    /// Add a factor, or give one other values: NAME=LOW..HIGH[:log], 'NAME=VALUE|VALUE', or NAME=VALUE to fix it. NAME is that of a
    /// factor, a short name as sojourn map has it, or a path. Repeat it for more factors.
    #[arg(long = "range", value_name = "NAME=VALUES")]
    pub(crate) ranges: Vec<String>,
    /// Set a value in every place, such as run.duration=120s. Repeat it for more values.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) sets: Vec<String>,
    /// Experiment whose factors are the space [default: the first].
    #[arg(long, value_name = "NAME", requires = "study")]
    pub(crate) experiment: Option<String>,
    /// Number of runs in all, those of the confirmation included.
    #[arg(long, value_name = "N", default_value = "600")]
    pub(crate) runs: u64,
    /// Fresh runs that confirm the worst case; the default gets as many.
    #[arg(long, value_name = "N", default_value = "10")]
    pub(crate) confirm: u64,
    /// Seed of the search. The confirmation has the next one.
    #[arg(long, default_value = "1")]
    pub(crate) seed: u64,
    /// Keep the results of the confirmation in this directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write the worst case to this file: sojourn study FILE.toml repeats the confirmed value.
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) write: Option<PathBuf>,
    /// Replace a file that Sojourn did not make.
    #[arg(long, requires = "write")]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) make: MakeArgs,
}

/// How the file of a worst case begins.
const MARK: &str = "# A worst case that a search found";

impl Execute for WorstArgs {
    fn execute(&self, _: Option<&Draw<'_>>) -> Result<(), Failure> {
        worst(self)
    }
}

/// The space that the arguments describe.
fn space(args: &WorstArgs) -> Result<Space, LabError> {
    let mut space = match (&args.study, &args.cc, &args.against, &args.queue) {
        (Some(study), ..) => {
            let found = find(study)?;
            let experiment = args.experiment.as_deref();
            Space::of_document(&found.name, &found.document, experiment)?
        }
        (_, Some(cc), Some(against), _) => Space::of_pair(cc, against)?,
        (.., queue) => Space::of_queue(queue.as_deref().unwrap_or_default())?,
    };
    for range in &args.ranges {
        space.vary(range)?;
    }
    for set in &args.sets {
        space.fix(set)?;
    }
    if let Some(memory) = &args.make.limit_memory {
        space.fix(&format!("limits.memory={memory}"))?;
    }
    Ok(space)
}

/// Refuses a name of the written file that is not one of a TOML file, the file that is read, and files of others.
fn check_write(args: &WorstArgs, path: &Path) -> Result<(), LabError> {
    let ends = path.extension().map(std::ffi::OsStr::to_ascii_lowercase);
    if ends.is_none_or(|ends| ends != "toml") {
        let problem = "the worst case is a TOML file, whose name ends with .toml";
        let name = path.file_stem().map(|stem| stem.to_string_lossy());
        let name = name.filter(|name| name != "-").unwrap_or("worst".into());
        return Err(LabError::new(LabErrorKind::BadValue, problem)
            .in_file(&format!("--write {}", path.display()))
            .remedy(format!("write --write {name}.toml")));
    }
    if let Some(study) = &args.study {
        inputs::keep(Path::new(study), "--write", path)?;
    }
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let unfit = if path.is_dir() {
        Some(ErrorKind::IsADirectory)
    } else if folder.is_some_and(|folder| !folder.is_dir()) {
        Some(ErrorKind::NotFound)
    } else {
        None
    };
    if let Some(kind) = unfit {
        return Err(LabError::io(path, "write the file", &kind.into()));
    }
    refuse_foreign(path, |text| has_text(text, MARK), args.force)
}

/// Refuses a directory that holds something else than what this command, stopped before its end, left there.
fn check_out(args: &WorstArgs, out: &Path) -> Result<(), LabError> {
    if args.make.fresh && out.join(MANIFEST_FILE).exists() {
        return Ok(());
    }
    let found = found_in(out)?;
    let other = found.filter(|manifest| manifest.command != command(args));
    match other {
        None => Ok(()),
        Some(manifest) => {
            let problem = format!("these results are of another command: {}", manifest.command);
            Err(LabError::new(LabErrorKind::ForeignResults, problem)
                .in_file(&out.display().to_string())
                .remedy("name another directory, or add --fresh to replace them"))
        }
    }
}

/// The command that repeats the search.
fn command(args: &WorstArgs) -> String {
    let mut words = Words::new("worst");
    if let Some(study) = &args.study {
        words = words.path(Path::new(study));
    }
    let number = |number: u64| number.to_string();
    words
        .option("--cc", args.cc.as_deref())
        .option("--against", args.against.as_deref())
        .option("--queue", args.queue.as_deref())
        .option("--minimise", args.minimise.as_deref())
        .option("--maximise", args.maximise.as_deref())
        .options("--range", &args.ranges)
        .options("--set", &args.sets)
        .option("--experiment", args.experiment.as_deref())
        .option("--runs", Some(&number(args.runs)))
        .option("--confirm", Some(&number(args.confirm)))
        .option("--seed", Some(&number(args.seed)))
        .option(LIMIT_MEMORY, args.make.limit_memory.as_deref())
        .option_path("--out", args.out.as_deref())
        .text()
}

fn worst(args: &WorstArgs) -> Result<(), Failure> {
    if let Some(path) = &args.write {
        check_write(args, path)?;
    }
    check_fresh(args.out.as_deref(), &args.make)?;
    if let Some(out) = &args.out {
        check_out(args, out)?;
    }
    let (lower, option, metric) = match (&args.minimise, &args.maximise) {
        (Some(metric), _) => (true, "--minimise", metric.clone()),
        (None, metric) => (false, "--maximise", metric.clone().unwrap_or_default()),
    };
    let request = Request {
        metric,
        lower,
        option,
        runs: args.runs,
        confirm: args.confirm,
        seed: args.seed,
    };
    let mut search = Search::of(space(args)?, request)?;
    if args.make.dry_run {
        let first =
            "The search, with the default's duration; what it tries follows from what it finds.\n";
        return needs(&search.needs()?, args.make.format, first);
    }
    let line = Line::new("worst");
    let searched = search.run(&mut Hands {
        runner: watched,
        threads: args.make.threads,
        cancel: interrupt::flag(),
        progress: &mut |news: &Progress| line.show(news),
    });
    line.end();
    for failure in search.failures() {
        complain(&failure.to_string());
    }
    if let Err(error) = searched {
        if error.kind() == LabErrorKind::Interrupted {
            shown(args, &search, None, None)?;
        }
        return Err(error.into());
    }
    confirm(args, &search)?;
    match search.failures().first() {
        Some(failure) => Err(failure.clone().into()),
        None => Ok(()),
    }
}

/// Runs what was found afresh, writes its file, and shows all.
fn confirm(args: &WorstArgs, search: &Search) -> Result<(), Failure> {
    let (study, command) = (search.confirmation()?, command(args));
    let (out, name) = (args.out.as_deref(), "worst, confirmation");
    let made = make(
        &study,
        name,
        out,
        command.clone(),
        None,
        &args.make,
        watched,
    );
    let results = match made {
        Ok(made) => made.results,
        Err(error) => {
            // What the search found took minutes.
            shown(args, search, None, None)?;
            return Err(error);
        }
    };
    let Some(results) = results else {
        return shown(args, search, None, None);
    };
    let confirmed = Search::confirmed(&results);
    let written = args.write.as_ref().map(|path| {
        let file = search.file(&command)?;
        write_whole(path, file.as_bytes())
    });
    let written = written.transpose();
    let file = match written {
        Ok(_) => args.write.as_deref(),
        Err(_) => None,
    };
    shown(args, search, Some(&confirmed), Some((&results, file)))?;
    written?;
    Ok(())
}

/// Prints what was found, with the results of the confirmation and the file that was written, if there are any.
fn shown(
    args: &WorstArgs,
    search: &Search,
    confirmed: Option<&Confirmed>,
    results: Option<(&ResultSet, Option<&Path>)>,
) -> Result<(), Failure> {
    match args.make.format {
        Format::Csv => return emit_data(&search.csv()),
        Format::Json => return emit_data(&search.json(confirmed)),
        Format::Table => {}
    }
    let width = match terminal::is_wide() {
        true => None,
        false => terminal::table_width(),
    };
    let text = search.text(confirmed, width);
    let Some((results, written)) = results else {
        return emit(&text);
    };
    let notes = &results.manifest.notes;
    let mut text = show::warnings(Text::default().titled(&text), notes.iter());
    if let Some(out) = &args.out {
        text = text.plain(&place_of(out));
    }
    if let Some(path) = written {
        let file = sojourn_report::shell_word(&path.to_string_lossy()).into_owned();
        text = text.plain(&format!(
            "\nWrote {file}. To repeat the confirmed value: sojourn study {file}\n"
        ));
    }
    text.emit()
}
