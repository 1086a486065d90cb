//! `sojourn suite`.

mod shown;

use crate::args::{ForceArgs, Format, threads};
use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{emit, emit_data, say, table, warn};
use crate::runs;
use clap::Args;
use sojourn_results::directory::write_whole;
use sojourn_results::overwrite::{has_text, refuse_foreign, refuse_input, refuse_twice};
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_study::study::Study;
use sojourn_study::suite::{
    Algorithm, Baseline, Case, Changed, Kind, Report, Request, Suite, Verdict, built_in, chosen,
    find, json, junit, names, run,
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
  sojourn suite list rfc7928
  sojourn suite rfc7928 --queue codel --queue 'pie target=10ms'
  sojourn suite rfc9743 --cc bbr3 --cc cubic --quick
  sojourn suite mine/suite.toml --queue fq_codel --json now.json --baseline before.json")]
pub(crate) struct SuiteArgs {
    /// Suite: a name, a file, or its folder; or list, for the names.
    pub(crate) suite: OsString,
    /// After list: the suite whose cases to list.
    #[arg(value_name = "OF")]
    pub(crate) of: Option<OsString>,
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
    #[command(flatten)]
    pub(crate) force: ForceArgs,
    /// Format of sojourn suite list.
    #[arg(long, value_enum, default_value = "table")]
    pub(crate) format: Format,
}

/// The word in place of a suite that lists them.
const LIST: &str = "list";

/// The name of a file that stands for standard output.
const STANDARD_OUTPUT: &str = "-";

/// What the files of `--json` and `--junit` are known by.
const JSON_MARK: &str = "\"criterion\": ";
const JUNIT_MARK: &str = "<testsuites>";

impl Execute for SuiteArgs {
    fn execute(&self, _: Option<&Draw<'_>>) -> Result<(), Failure> {
        match self.suite.as_os_str() == OsStr::new(LIST) {
            true => match &self.of {
                None => list(self.format),
                Some(of) => list_cases(&find(of)?, self.format),
            },
            false => match &self.of {
                None => test(self),
                Some(of) => Err(LabError::new(
                    LabErrorKind::Contradiction,
                    "a second word belongs to sojourn suite list",
                )
                .in_file(&of.to_string_lossy())
                .remedy("name what to test with --queue or --cc")
                .into()),
            },
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
    let below = format!("\nRun one of them: {}\n", example());
    show_list(&header, &rows, &below, format)
}

/// The cases of a suite with the sections that they are from.
fn list_cases(suite: &Suite, format: Format) -> Result<(), Failure> {
    let row = |case: &Case| {
        vec![
            case.about.name.clone(),
            if case.about.quick { "yes" } else { "no" }.to_owned(),
            case.criteria.len().to_string(),
            case.about.title.clone().unwrap_or_default(),
            case.about.source.clone().unwrap_or_default(),
        ]
    };
    let rows: Vec<Vec<String>> = suite.cases.iter().map(row).collect();
    let header = ["case", "quick", "criteria", "title", "source"];
    show_list(&header, &rows, "", format)
}

/// Shows a table, with a text below it where people read it.
fn show_list(
    header: &[&str],
    rows: &[Vec<String>],
    below: &str,
    format: Format,
) -> Result<(), Failure> {
    match format {
        Format::Table => emit(&format!("{}{below}", table(header, rows))),
        Format::Csv => emit_data(&crate::output::csv(header, rows)?),
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
    check_files(args, &suite)?;
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
    let changes = baseline.as_ref().map(|own| own.changes(&reports));
    write(args, &reports, changes.as_deref().unwrap_or_default())?;
    // What goes to standard output is the JSON alone, if that is asked for.
    if args.json.as_deref() != Some(Path::new(STANDARD_OUTPUT)) {
        emit(&shown::text(&reports, changes.as_deref()))?;
    } else if let Some(changes) = &changes {
        say(&shown::changes(changes));
    }
    if let Some(baseline) = &baseline {
        warn_of_unmatched(args, baseline, &reports);
    }
    end(args, &reports, changes.as_deref().unwrap_or_default())
}

/// Names what only one of the baseline and the reports has.
fn warn_of_unmatched(args: &SuiteArgs, baseline: &Baseline, reports: &[Report]) {
    let (new, gone) = baseline.unmatched(reports);
    // With --case, most of the baseline is left out on purpose.
    let gone = if args.cases.is_empty() {
        gone
    } else {
        Vec::new()
    };
    for (names, what) in [
        (new, "not compared, as the baseline lacks them"),
        (gone, "in the baseline, and not in the suite any more"),
    ] {
        if !names.is_empty() {
            warn(&format!("{what}: {}", names.join(", ")));
        }
    }
}

/// The status with which the command ends, and why.
fn end(args: &SuiteArgs, reports: &[Report], changes: &[Changed]) -> Result<(), Failure> {
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
    let reasons = [
        (reports.iter().any(failed), "a must fails"),
        (
            changes.iter().any(Changed::is_regression),
            "a value of a must or a should is worse than in the baseline",
        ),
        (open > 0 && args.strict, "a must is undecided"),
    ];
    let reasons: Vec<&str> = reasons
        .iter()
        .filter(|(holds, _)| *holds)
        .map(|(_, reason)| *reason)
        .collect();
    if reasons.is_empty() {
        return Ok(());
    }
    say(&format!("exit status 1: {}", reasons.join("; ")));
    Err(Failure::Differs)
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

/// Refuses to write over files of others, and to places that are not there, before anything runs.
fn check_files(args: &SuiteArgs, suite: &Suite) -> Result<(), LabError> {
    let mut inputs = vec![Path::new(suite.file())];
    inputs.extend(args.baseline.as_deref());
    let json = args.json.as_deref();
    let json = json.filter(|file| *file != Path::new(STANDARD_OUTPUT));
    if let (Some(json), Some(junit)) = (json, &args.junit) {
        refuse_twice(("--json", json), ("--junit", junit))?;
    }
    for (file, mark) in [(json, JSON_MARK), (args.junit.as_deref(), JUNIT_MARK)] {
        let Some(file) = file else {
            continue;
        };
        // The results may become the next baseline.
        let reads = match Some(file) == json {
            true => &inputs[..1],
            false => &inputs[..],
        };
        refuse_input(file, reads)?;
        refuse_foreign(file, |bytes| has_text(bytes, mark), args.force.force)?;
        let folder = file
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        if folder.is_some_and(|folder| !folder.is_dir()) {
            let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
            return Err(LabError::io(file, "write the file", &missing)
                .remedy("make its directory first, or name another file"));
        }
    }
    Ok(())
}

fn write(args: &SuiteArgs, reports: &[Report], changed: &[Changed]) -> Result<(), Failure> {
    if let Some(file) = &args.json {
        let text = json(reports);
        match file.as_path() == Path::new(STANDARD_OUTPUT) {
            true => emit_data(&text)?,
            false => write_whole(file, text.as_bytes())?,
        }
    }
    if let Some(file) = &args.junit {
        write_whole(file, junit(reports, changed).as_bytes())?;
    }
    Ok(())
}
