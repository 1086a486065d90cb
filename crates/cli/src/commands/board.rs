//! `sojourn board`.

use crate::args::threads;
use crate::command::Words;
use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{complain, emit, say};
use crate::runs;
use clap::Args;
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_study::board::{Board, Came, Cell, Member, Site, files};
use sojourn_study::study::Study;
use sojourn_study::suite::{
    Algorithm, Course, Kind, Report, Request, Suite, Verdict, built_in, check, find, run_and_see,
};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Run suites over algorithms, and write what they say as a site of static pages.
///
/// Without options, all suites that come with Sojourn test all queues and congestion controls that they can, in their default dialects. The
/// same command continues where it was stopped, and repeats no run.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sojourn board --out board --quick
  sojourn board --out board --suite rfc9743 --cc bbr3 --cc cubic
  sojourn board --out mine --suite mine/suite.toml --queue 'codel target=10ms' --queue fq_codel")]
pub(crate) struct BoardArgs {
    /// Directory of the site and of the runs.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Suite: a name, a file, or its folder. Repeat it for more [default: all that come with Sojourn].
    #[arg(long = "suite", value_name = "SUITE")]
    pub(crate) suites: Vec<OsString>,
    /// Queue to test, such as 'pie target=10ms'. Repeat it for more [default: all, unless --cc is given].
    #[arg(long = "queue", value_name = "QUEUE")]
    pub(crate) queues: Vec<String>,
    /// Congestion control to test, such as cubic. Repeat it for more [default: all, unless --queue is given].
    #[arg(long = "cc", value_name = "CONTROL")]
    pub(crate) controls: Vec<String>,
    /// Run fewer replications, and only the cases that a suite marks as quick.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Number of parallel runs [default: one per core]. Results do not depend on it.
    #[arg(long, visible_alias = "threads", value_name = "N", value_parser = threads)]
    pub(crate) jobs: Option<NonZero<usize>>,
    /// Seed of every random stream [default: that of each suite].
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Delete the runs of these suites and algorithms instead of continuing them.
    #[arg(long)]
    pub(crate) fresh: bool,
}

/// A suite, and as it was given.
struct Given {
    suite: Suite,
    text: String,
}

impl Execute for BoardArgs {
    fn execute(&self, _: Option<&Draw<'_>>) -> Result<(), Failure> {
        board(self)
    }
}

fn board(args: &BoardArgs) -> Result<(), Failure> {
    let site = Site::of(&args.out)?;
    if args.out.exists() {
        // Those of the board before.
        interrupt::keeps_in(Some(&args.out));
    }
    let given = suites(args)?;
    let algorithms = algorithms(args)?;
    say(&format!(
        "checking {} with {}",
        counted(given.len(), "suite"),
        counted(algorithms.len(), "algorithm")
    ));
    let mut cells = planned(args, &given, &algorithms)?;
    let _hold = site.begin()?;
    interrupt::keeps_in(Some(&args.out));
    let names = given
        .iter()
        .map(|own| (own.suite.clone(), own.suite.name.clone()));
    let suites = Member::all(names.collect());
    let (number, failed) = test_all(args, (&given, &suites, &algorithms), &site, &mut cells)?;
    let names = algorithms.into_iter().map(|own| (own.clone(), own.text));
    let board = Board {
        suites,
        algorithms: Member::all(names.collect()),
        cells: cells
            .into_iter()
            .filter_map(|planned| {
                Some(Cell {
                    suite: planned.suite,
                    algorithm: planned.algorithm,
                    came: planned.came?,
                })
            })
            .collect(),
        quick: args.quick,
        command: command(args),
    };
    let files = files(&board);
    stop_if_interrupted(&args.out)?;
    site.write(&files)?;
    emit(&format!(
        "Board: {} ({}, {}, {}, {})\n",
        site.front().display(),
        counted(board.suites.len(), "suite"),
        counted(board.algorithms.len(), "algorithm"),
        counted(number, "cell"),
        counted(files.len(), "file")
    ))?;
    match failed {
        0 => Ok(()),
        _ => Err(Failure::Told),
    }
}

/// `1 suite`, `2 suites`.
fn counted(count: usize, what: &str) -> String {
    let end = if count == 1 { "" } else { "s" };
    format!("{count} {what}{end}")
}

/// Tests what was not tested before; says how many that were, and how many of them failed.
fn test_all(
    args: &BoardArgs,
    (given, suites, algorithms): (&[Given], &[Member<Suite>], &[Algorithm]),
    site: &Site,
    cells: &mut [Planned],
) -> Result<(usize, usize), Failure> {
    let total = cells.iter().filter(|cell| cell.came.is_none()).count();
    let mut begun: BTreeSet<PathBuf> = BTreeSet::new();
    let mut failed = 0_usize;
    let mut number = 0_usize;
    for cell in cells {
        if cell.came.is_some() {
            continue;
        }
        stop_if_interrupted(&args.out)?;
        number += 1;
        let (suite, algorithm) = (&given[cell.suite], &algorithms[cell.algorithm]);
        let what = format!("{} {}", suite.suite.name, algorithm.text);
        let folder = site.runs(&suites[cell.suite].slug);
        let came = match test(args, suite, algorithm, &folder, &mut begun) {
            Ok((report, courses)) => {
                say(&format!("{number}/{total} {what}: {}", counts(&report)));
                Came::Report(Box::new(report), courses)
            }
            Err(Failure::Lab(error)) if may_go_on(&error) => {
                complain(&format!("{number}/{total} {what}: {error}"));
                failed += 1;
                Came::Failed(error.to_string())
            }
            Err(other) => return Err(other),
        };
        cell.came = Some(came);
    }
    Ok((number, failed))
}

/// Ends the command between two steps, if it is interrupted.
fn stop_if_interrupted(out: &Path) -> Result<(), LabError> {
    match interrupt::flag().load(Ordering::Relaxed) {
        false => Ok(()),
        true => Err(LabError::new(
            LabErrorKind::Interrupted,
            "interrupted; finished runs are kept",
        )
        .in_file(&out.display().to_string())
        .remedy("repeat the command to continue")),
    }
}

/// Whether the other cells are worth running: a run failed, and neither the disk, nor a directory of something else, nor an interrupt is why.
fn may_go_on(error: &LabError) -> bool {
    !matches!(
        error.kind(),
        LabErrorKind::Interrupted | LabErrorKind::Io | LabErrorKind::ForeignResults
    )
}

/// A cell that is to be run, or what came of it.
struct Planned {
    suite: usize,
    algorithm: usize,
    came: Option<Came>,
}

/// The suites that are asked for.
fn suites(args: &BoardArgs) -> Result<Vec<Given>, LabError> {
    let names = match args.suites.as_slice() {
        [] => built_in()
            .iter()
            .map(|own| OsString::from(own.name))
            .collect(),
        given => given.to_vec(),
    };
    let mut all: Vec<Given> = Vec::new();
    for name in names {
        let suite = find(OsStr::new(&name))?;
        let text = name.to_string_lossy().into_owned();
        if all.iter().any(|own| own.suite.name == suite.name) {
            let problem = format!("two suites are called {}", suite.name);
            return Err(LabError::new(LabErrorKind::Contradiction, problem)
                .in_file(&format!("--suite {text}"))
                .remedy("leave one of them out, or rename its file or folder"));
        }
        all.push(Given { suite, text });
    }
    Ok(all)
}

/// What is tested, queues first.
fn algorithms(args: &BoardArgs) -> Result<Vec<Algorithm>, LabError> {
    if args.queues.is_empty() && args.controls.is_empty() {
        let all = Kind::ALL
            .iter()
            .flat_map(|kind| Algorithm::catalogue(*kind));
        return Ok(all.collect());
    }
    let mut all: Vec<Algorithm> = Vec::new();
    for (kind, texts) in [(Kind::Queue, &args.queues), (Kind::Cc, &args.controls)] {
        for text in texts {
            let one = Algorithm::new(kind, text);
            one.check()?;
            if all.contains(&one) {
                let argument = format!("--{} {text}", kind.name());
                let problem = "it is given twice";
                return Err(LabError::new(LabErrorKind::Contradiction, problem).in_file(&argument));
            }
            all.push(one);
        }
    }
    Ok(all)
}

/// The cells: what each suite can test, and why it cannot test the others. Every scenario is read before the first one runs.
fn planned(
    args: &BoardArgs,
    given: &[Given],
    algorithms: &[Algorithm],
) -> Result<Vec<Planned>, LabError> {
    let mut cells = Vec::new();
    let mut refused: Vec<(usize, usize, LabError)> = Vec::new();
    for (suite, own) in given.iter().enumerate() {
        let kinds = own.suite.kinds();
        for (algorithm, tested) in algorithms.iter().enumerate() {
            if !kinds.contains(&tested.kind) {
                continue;
            }
            let came = match check(&request(args, own, std::slice::from_ref(tested))) {
                Ok(()) => None,
                Err(error) => {
                    let reason = error.to_string();
                    refused.push((suite, algorithm, error));
                    Some(Came::Refused(reason))
                }
            };
            cells.push(Planned {
                suite,
                algorithm,
                came,
            });
        }
    }
    // What nothing can test, and what tests nothing, is a mistake.
    let runs = |fits: &dyn Fn(&Planned) -> bool| {
        let mut cells = cells.iter();
        cells.any(|cell| cell.came.is_none() && fits(cell))
    };
    let chosen = !(args.queues.is_empty() && args.controls.is_empty());
    for (suite, algorithm, error) in refused {
        // The suites that come along need not all have something for what is chosen.
        let meant = !chosen || !args.suites.is_empty();
        let useless = meant && !runs(&|cell| cell.suite == suite);
        let unfit = chosen && !runs(&|cell| cell.algorithm == algorithm);
        if useless || unfit {
            return Err(error);
        }
    }
    for (algorithm, tested) in algorithms.iter().enumerate() {
        if chosen && !runs(&|cell| cell.algorithm == algorithm) {
            let kind = tested.kind.name();
            let names: Vec<&str> = given.iter().map(|own| own.suite.name.as_str()).collect();
            let problem = "none of the suites has a case for it";
            return Err(LabError::new(LabErrorKind::Contradiction, problem)
                .in_file(&format!("--{kind} {}", tested.text))
                .allowed("the suites are", names.join(", "))
                .remedy("name a suite that sojourn suite list shows with it"));
        }
    }
    Ok(cells)
}

fn request<'a>(args: &BoardArgs, given: &'a Given, algorithms: &'a [Algorithm]) -> Request<'a> {
    Request {
        suite: &given.suite,
        given: &given.text,
        algorithms,
        cases: &[],
        quick: args.quick,
        seed: args.seed,
    }
}

/// Runs what is missing of a cell, and judges it.
fn test(
    args: &BoardArgs,
    given: &Given,
    algorithm: &Algorithm,
    folder: &Path,
    begun: &mut BTreeSet<PathBuf>,
) -> Result<(Report, Vec<Course>), Failure> {
    // With --fresh, the first round of a case begins anew, and the others continue it.
    let mut make = |study: &Study, names: (&str, &str), folder: &Path| {
        let first = begun.insert(folder.to_owned());
        runs::make(study, names, Some(folder), args.jobs, args.fresh && first)
    };
    let mut courses = Vec::new();
    let request = request(args, given, std::slice::from_ref(algorithm));
    let reports = run_and_see(&request, folder, &mut make, &mut |course| {
        courses.push(course);
    })?;
    let report = reports.into_iter().next();
    let bug = || LabError::new(LabErrorKind::Bug, "a suite without a report");
    Ok((report.ok_or_else(bug)?, courses))
}

/// The counts of a report in words.
fn counts(report: &Report) -> String {
    let each = Verdict::ALL
        .iter()
        .map(|verdict| (report.count(*verdict), verdict.name()));
    let each = each.filter(|(count, _)| *count > 0);
    let each: Vec<String> = each
        .map(|(count, name)| format!("{count} {name}"))
        .collect();
    each.join(", ")
}

/// The command that makes the same pages, wherever they are.
fn command(args: &BoardArgs) -> String {
    let mut words = Words::new("board").option("--out", Some("board"));
    for suite in &args.suites {
        words = words.option_path("--suite", Some(Path::new(suite)));
    }
    words = words
        .options("--queue", &args.queues)
        .options("--cc", &args.controls);
    if args.quick {
        words = words.word("--quick");
    }
    let seed = args.seed.map(|seed| seed.to_string());
    words.option("--seed", seed.as_deref()).text()
}
