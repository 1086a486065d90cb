//! `sojourn suite`.

mod shown;

use crate::args::{Format, threads};
use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{emit, emit_data, say, table, warn};
use crate::runs;
use clap::Args;
use sojourn_results::directory::write_whole;
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_study::study::Study;
use sojourn_study::suite::{
    Algorithm, Baseline, Kind, Report, Request, Suite, Verdict, built_in, chosen, find, json,
    junit, names, run,
};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::num::NonZero;
use std::path::{Path, PathBuf};

/// Test a queue or a congestion control with a suite: cases with criteria, each with a verdict.
///
/// Each case runs in replications until the 95 % intervals decide its criteria, or as often as the suite allows. The exit status is 1 if a
/// criterion fails that the suite calls a must, or if a value is worse than in the baseline by more than noise.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sojourn suite list
  sojourn suite rfc7928 --queue codel --queue 'pie target=10ms'
  sojourn suite rfc9743 --cc bbr3 --cc cubic --quick
  sojourn suite mine/suite.toml --queue fq_codel --json now.json --baseline before.json")]
pub(crate) struct SuiteArgs {
    /// Suite: a name, a file, or its folder; or list, for the names and the cases.
    pub(crate) suite: OsString,
    /// Queue to test, such as 'pie target=10ms'. Repeat it for more queues.
    #[arg(long = "queue", value_name = "QUEUE")]
    pub(crate) queues: Vec<String>,
    /// Congestion control to test, such as cubic. Repeat it for more.
    #[arg(long = "cc", value_name = "CONTROL")]
    pub(crate) controls: Vec<String>,
    /// Run fewer replications, and only the cases that the suite marks as quick.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Run only the cases whose names fit this pattern, such as '5.*'. Repeat it for more patterns.
    #[arg(long = "case", value_name = "GLOB")]
    pub(crate) cases: Vec<String>,
    /// Result directory [default: results/suite-NAME]. Runs that it already holds are not repeated.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write the results as JSON to this file, or to standard output for -.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write the results as JUnit XML to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Compare with the results in this JSON file, and print what changed beyond noise.
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Let a must that is undecided fail, too.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Seed of every random stream [default: that of the suite].
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Number of parallel runs [default: one per core]. Results do not depend on it.
    #[arg(long, visible_alias = "threads", value_name = "N", value_parser = threads)]
    pub(crate) jobs: Option<NonZero<usize>>,
    /// Delete the results in the directory instead of continuing them.
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Format of sojourn suite list.
    #[arg(long, value_enum, default_value = "table")]
    pub(crate) format: Format,
}

/// The word in place of a suite that lists them.
const LIST: &str = "list";

/// The name of a file that stands for standard output.
const STANDARD_OUTPUT: &str = "-";

impl Execute for SuiteArgs {
    fn execute(&self, _: Option<&Draw<'_>>) -> Result<(), Failure> {
        match self.suite.as_os_str() == OsStr::new(LIST) {
            true => list(self.format),
            false => test(self),
        }
    }
}

/// The suites, with how many cases they have and what they test.
fn list(format: Format) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for name in names() {
        let suite = find(OsStr::new(&name))?;
        let kinds: Vec<String> = suite
            .kinds()
            .iter()
            .map(|kind| format!("--{}", kind.name()))
            .collect();
        let criteria: usize = suite.cases.iter().map(|case| case.criteria.len()).sum();
        rows.push(vec![
            name,
            kinds.join(" "),
            suite.cases.len().to_string(),
            criteria.to_string(),
            suite.about.title.clone(),
        ]);
    }
    let header = ["suite", "tests", "cases", "criteria", "title"];
    match format {
        Format::Table => emit(&format!(
            "{}\nRun one of them: {}\n",
            table(&header, &rows),
            example(),
        )),
        Format::Csv => emit_data(&crate::output::csv(&header, &rows)?),
        Format::Json => {
            let each = rows.iter().map(|row| {
                let cells = header.iter().zip(row);
                cells
                    .map(|(key, cell)| ((*key).to_owned(), cell.as_str().into()))
                    .collect::<serde_json::Map<String, serde_json::Value>>()
            });
            let all: Vec<_> = each.collect();
            emit_data(&format!("{:#}\n", serde_json::json!(all)))
        }
    }
}

/// A command that runs the first suite that comes along.
fn example() -> String {
    let first = built_in().first();
    let kind = first.and_then(|own| own.suite().ok()?.kinds().first().copied());
    let name = first.map_or("NAME", |own| own.name);
    format!(
        "sojourn suite {name} {} --quick",
        usual(kind.unwrap_or(Kind::Queue))
    )
}

/// An algorithm of a kind, as an argument.
fn usual(kind: Kind) -> &'static str {
    match kind {
        Kind::Queue => "--queue codel",
        Kind::Cc => "--cc cubic",
    }
}

fn test(args: &SuiteArgs) -> Result<(), Failure> {
    let suite = find(&args.suite)?;
    let algorithms = algorithms(args, &suite)?;
    let given = args.suite.to_string_lossy();
    let request = Request {
        suite: &suite,
        given: &given,
        algorithms: &algorithms,
        cases: &args.cases,
        quick: args.quick,
        seed: args.seed,
    };
    chosen(&request)?;
    let baseline = args.baseline.as_deref().map(Baseline::read).transpose()?;
    if let (Some(baseline), Some(file)) = (&baseline, &args.baseline) {
        baseline.check(&suite.name, args.quick, &algorithms, file)?;
    }
    let out = match &args.out {
        Some(out) => out.clone(),
        None => Path::new("results").join(format!("suite-{}", suite.name)),
    };
    interrupt::keeps_in(Some(&out));
    // With --fresh, the first round of a case begins anew, and the others continue it.
    let mut begun: BTreeSet<PathBuf> = BTreeSet::new();
    let mut make = |study: &Study, names: (&str, &str), folder: &Path| {
        let first = begun.insert(folder.to_owned());
        runs::make(study, names, Some(folder), args.jobs, args.fresh && first)
    };
    let reports = run(&request, &out, &mut make)?;
    write(args, &reports)?;
    let changes = baseline.as_ref().map(|own| own.changes(&reports));
    // What goes to standard output is the JSON alone, if that is asked for.
    if args.json.as_deref() != Some(Path::new(STANDARD_OUTPUT)) {
        emit(&shown::text(&reports, changes.as_deref()))?;
    } else if let Some(changes) = &changes {
        say(&shown::changes(changes));
    }
    let failed = |report: &Report| report.musts(Verdict::Fail).next().is_some();
    let open: usize = reports
        .iter()
        .map(|report| report.musts(Verdict::Undecided).count())
        .sum();
    if open > 0 && !args.strict {
        let what = if open == 1 { "must is" } else { "musts are" };
        warn(&format!(
            "{open} {what} undecided. That is no failure; --strict makes it one"
        ));
    }
    let worse = changes
        .iter()
        .flatten()
        .any(|change| change.is_regression());
    match reports.iter().any(failed) || worse || (open > 0 && args.strict) {
        true => Err(Failure::Differs),
        false => Ok(()),
    }
}

/// What is tested, in the order of the kinds.
fn algorithms(args: &SuiteArgs, suite: &Suite) -> Result<Vec<Algorithm>, LabError> {
    let of = |kind: Kind, texts: &[String]| -> Vec<Algorithm> {
        texts
            .iter()
            .map(|text| Algorithm::new(kind, text))
            .collect()
    };
    let mut all = of(Kind::Queue, &args.queues);
    all.extend(of(Kind::Cc, &args.controls));
    for (index, one) in all.iter().enumerate() {
        let argument = format!("--{} {}", one.kind.name(), one.text);
        if one.text.is_empty() {
            return Err(LabError::new(LabErrorKind::BadValue, "it names nothing")
                .in_file(argument.trim())
                .remedy("name an algorithm, such as codel or cubic"));
        }
        if all[..index].contains(one) {
            let problem = "it is given twice";
            return Err(LabError::new(LabErrorKind::Contradiction, problem).in_file(&argument));
        }
    }
    if all.is_empty() {
        let takes: Vec<&str> = suite.kinds().iter().map(|kind| usual(*kind)).collect();
        return Err(
            LabError::new(LabErrorKind::MissingKey, "there is nothing to test")
                .in_file(&format!("sojourn suite {}", suite.name))
                .remedy(format!("add {}", takes.join(" or "))),
        );
    }
    Ok(all)
}

fn write(args: &SuiteArgs, reports: &[Report]) -> Result<(), Failure> {
    if let Some(file) = &args.json {
        let text = json(reports);
        match file.as_path() == Path::new(STANDARD_OUTPUT) {
            true => emit_data(&text)?,
            false => write_whole(file, text.as_bytes())?,
        }
    }
    if let Some(file) = &args.junit {
        write_whole(file, junit(reports).as_bytes())?;
    }
    Ok(())
}
