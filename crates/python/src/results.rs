//! Results: what a study, a comparison or a single scenario yields.

use crate::document::document;
use crate::errors;
use crate::supervise::{Control, supervise};
use crate::table::Table;
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use serde::Serialize;
use sojourn_report::{self as report, shell_word};
use sojourn_results::directory::{hold_for_report, write_whole};
use sojourn_results::{Damage, Hold, Kind, ResultSet, Run};
use sojourn_run::needs::Needs;
use sojourn_run::run::run_unless;
use sojourn_scenario::model::Scenario;
use sojourn_scenario::reader::Reading;
use sojourn_scenario::resolved::Resolved;
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_study::bundle::open;
use sojourn_study::named::find;
use sojourn_study::rerun::rerun as run_again;
use sojourn_study::study::{Options, Progress, Study, execute};
use sojourn_study::summary::{SUMMARY_FILE, comparison, summarize};
use sojourn_units::Spec;
use std::ffi::{CString, OsString};
use std::num::NonZero;
use std::path::PathBuf;

/// The results of a study, a comparison or a single scenario, in memory.
#[pyclass(frozen, module = "sojourn._core")]
pub(crate) struct Results {
    set: ResultSet,
}

#[pymethods]
impl Results {
    /// The table of one kind: `runs`, `queues`, `flows` or `series`.
    fn table(&self, py: Python<'_>, kind: &str) -> PyResult<Table> {
        let Some(kind) = Kind::ALL.into_iter().find(|known| known.name() == kind) else {
            let names = Kind::ALL.map(Kind::name).join(", ");
            let message = format!("no kind of table {kind:?}; kinds: {names}");
            return Err(errors::bad_value(py, &message));
        };
        py.detach(|| self.set.table(kind))
            .map(Table::new)
            .map_err(|error| errors::lab(py, &error))
    }

    /// Tables, figures, settings and the auditor's notes, as JSON: the content of `summary.json`.
    fn summary(&self, py: Python<'_>) -> PyResult<String> {
        json(py, &self.summarize(py)?)
    }

    /// The tables of the summary: id, title, and the table in Markdown.
    fn tables(&self, py: Python<'_>) -> PyResult<Vec<(String, String, String)>> {
        let summary = self.summarize(py)?;
        let read = |table: &report::Table| {
            (
                table.id.clone(),
                table.title.clone(),
                report::markdown_table(table),
            )
        };
        Ok(summary.tables().map(read).collect())
    }

    /// The figures of the summary: id, and the Vega-Lite specification in JSON.
    fn figures(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        let summary = self.summarize(py)?;
        let palette = report::Palette::of_summary(&summary);
        let draw = |figure: &report::Figure| {
            let spec = report::vega_lite_with(figure, &palette, report::Theme::Light);
            (figure.id.clone(), spec.to_string())
        };
        Ok(summary.figures().map(draw).collect())
    }

    /// What the command prints on a terminal of `width` columns: the tables and the auditor's notes.
    #[pyo3(signature = (width=None))]
    fn text(&self, py: Python<'_>, width: Option<usize>) -> String {
        let text = || comparison(&self.set).text(width);
        py.detach(|| sojourn_scenario::printable(&text()).into_owned())
    }

    /// Writes the report into a directory and returns its path.
    fn report(&self, py: Python<'_>, directory: PathBuf) -> PyResult<PathBuf> {
        let text = self.summary(py)?;
        let write = || -> Result<Hold, LabError> {
            std::fs::create_dir_all(&directory)
                .map_err(|error| LabError::io(&directory, "make the directory", &error))?;
            let hold = hold_for_report(&directory)?;
            write_whole(&directory.join(SUMMARY_FILE), text.as_bytes())?;
            Ok(hold)
        };
        let _hold = py.detach(write).map_err(|error| errors::lab(py, &error))?;
        py.detach(|| report::render(&directory))
            .map(|rendered| rendered.report)
            .map_err(|error| errors::report(py, &error))
    }

    /// What ran, as JSON: the content of `manifest.json`.
    fn manifest(&self, py: Python<'_>) -> PyResult<String> {
        json(py, &self.set.manifest)
    }
}

impl Results {
    pub(crate) fn new(set: ResultSet) -> Results {
        Results { set }
    }

    fn summarize(&self, py: Python<'_>) -> PyResult<report::Summary> {
        py.detach(|| summarize(&self.set))
            .map_err(|error| errors::lab(py, &error))
    }
}

fn json(py: Python<'_>, value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| errors::bad_value(py, &error.to_string()))
}

/// How runs are made, as Python gives it.
struct How {
    command: String,
    out: Option<PathBuf>,
    fresh: bool,
    threads: Option<usize>,
}

/// Runs a scenario given as JSON; with `queues`, each a value in JSON, once with each of them at the bottleneck.
#[pyfunction]
#[pyo3(signature = (json, name, queues, *, replications, replication, seed, out, fresh, threads, progress))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn run(
    py: Python<'_>,
    json: &str,
    name: &str,
    queues: Vec<String>,
    replications: Option<u64>,
    replication: Option<u64>,
    seed: Option<u64>,
    out: Option<PathBuf>,
    fresh: bool,
    threads: Option<usize>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Results> {
    let read = || {
        let mut document = document(json, name)?;
        for (key, value) in [("replications", replications), ("seed", seed)] {
            if let Some(value) = value {
                let argument = format!("{key}={value}");
                document.set_argument(&format!("run.{key}"), &value.to_string(), &argument)?;
            }
        }
        let Reading {
            scenario, limits, ..
        } = Scenario::read(&document, &[])?;
        scenario.refuse_vain_replications(&document)?;
        let needs = Needs::of_allowed(&scenario, &limits);
        needs.map_err(|error| document.locate(error))?;
        let queues: Vec<Spec> = queues
            .iter()
            .map(|queue| read_queue(queue))
            .collect::<Result<_, _>>()?;
        Ok((scenario, queues, limits))
    };
    let (scenario, queues, limits) = read().map_err(|error| errors::lab(py, &error))?;
    let how = How {
        command: "sojourn.run(...)".to_owned(),
        out,
        fresh,
        threads,
    };
    match replication {
        None => {
            let mut study = Study::comparison(&scenario, &queues);
            study.limits = limits;
            finish(py, study, how, progress.as_ref())
        }
        Some(number) => results(supervised(py, progress.as_ref(), move |control| {
            one_run(&scenario, number, &how, control)
        })),
    }
}

/// A study that is asked for: its name or file, what is set in it, and the experiments.
pub(crate) struct Asked {
    pub(crate) given: OsString,
    /// Path, value, and the argument as messages show it.
    pub(crate) overrides: Vec<(String, String, String)>,
    pub(crate) only: Vec<String>,
}

impl Asked {
    /// The command that repeats it.
    pub(crate) fn command(&self) -> String {
        let mut command = format!(
            "sojourn study {}",
            shell_word(&self.given.to_string_lossy())
        );
        for (path, value, _) in &self.overrides {
            let set = format!("{path}={value}");
            command.extend([" --set ", &*shell_word(&set)]);
        }
        if !self.only.is_empty() {
            command.extend([" --only ", &*shell_word(&self.only.join(","))]);
        }
        command
    }
}

/// The study that is asked for.
pub(crate) fn read_study(asked: &Asked) -> Result<Study, LabError> {
    let mut found = find(&asked.given)?;
    for (path, value, argument) in &asked.overrides {
        found.document.set_argument(path, value, argument)?;
    }
    let mut study = found.study()?;
    study.keep_only(&asked.only)?;
    study.check_arguments()?;
    Ok(study)
}

/// Runs a study: one by name, or that of a file. Each override is a path, its value, and the argument as messages show it.
#[pyfunction]
#[pyo3(signature = (given, overrides, *, only, out, fresh, threads, progress))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn study(
    py: Python<'_>,
    given: OsString,
    overrides: Vec<(String, String, String)>,
    only: Vec<String>,
    out: Option<PathBuf>,
    fresh: bool,
    threads: Option<usize>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Results> {
    let asked = Asked {
        given,
        overrides,
        only,
    };
    let command = asked.command();
    // A large study takes its time, too.
    let study = supervise(py, None, move |_| read_study(&asked))?
        .map_err(|error| errors::lab(py, &error))?;
    let how = How {
        command,
        out,
        fresh,
        threads,
    };
    finish(py, study, how, progress.as_ref())
}

/// What came of results that were made again: whether the bits are the same, how many runs and files were compared, the files
/// that differ, how many runs there was nothing to compare with, and the version that wrote them if it is another.
type Rerun = (bool, u64, u64, Vec<PathBuf>, u64, Option<String>);

/// Runs the results of a directory or bundle again.
#[pyfunction]
#[pyo3(signature = (directory, *, out, threads, progress))]
pub(crate) fn rerun(
    py: Python<'_>,
    directory: PathBuf,
    out: Option<PathBuf>,
    threads: Option<usize>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Rerun> {
    let again = supervised(py, progress.as_ref(), move |control| {
        let mut tell = |news: &Progress| control.progress(news.done, news.total);
        let options = Options {
            command: "sojourn.rerun(...)".to_owned(),
            threads: threads.and_then(NonZero::new),
            progress: Some(&mut tell),
            cancel: Some(&control.cancel),
            ..Options::default()
        };
        let runner = |scenario: &Resolved, number| run_unless(scenario, number, &control.cancel);
        let opened = open(&directory)?;
        let again = run_again(opened.dir(), runner, out.as_deref(), options);
        let mut again = again.map_err(|error| opened.named(error))?;
        again.named(opened.dir(), &directory);
        let altered = again.altered.iter().map(|damage| damage.file.clone());
        again.differing.extend(altered.collect::<Vec<_>>());
        Ok(again)
    })?;
    Ok((
        again.is_same(),
        again.runs,
        again.files,
        again.differing,
        again.absent,
        again.version,
    ))
}

/// The results of a directory.
#[pyfunction]
pub(crate) fn read(py: Python<'_>, path: PathBuf) -> PyResult<Results> {
    supervise(py, None, move |_| ResultSet::load(&path))?
        .map(|set| Results { set })
        .map_err(|error| errors::lab(py, &error))
}

fn read_queue(json: &str) -> Result<Spec, LabError> {
    let wrapped = document(&format!("{{\"queue\": {json}}}"), "queues")?;
    match wrapped.get("queue")? {
        Some(value) => value.spec(),
        None => Err(LabError::new(
            LabErrorKind::BadValue,
            "a queue is wanted, not None",
        )),
    }
}

fn finish(
    py: Python<'_>,
    study: Study,
    how: How,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Results> {
    let made = supervised(py, progress, move |control| {
        let mut tell = |news: &Progress| control.progress(news.done, news.total);
        let options = Options {
            command: how.command,
            fresh: how.fresh,
            threads: how.threads.and_then(NonZero::new),
            progress: Some(&mut tell),
            cancel: Some(&control.cancel),
            ..Options::default()
        };
        let runner = |scenario: &Resolved, number| run_unless(scenario, number, &control.cancel);
        let executed = execute(&study, runner, how.out.as_deref(), options)?;
        match (executed.results, executed.failures.into_iter().next()) {
            (Some(results), None) => Ok((results, executed.repaired)),
            (_, Some(failure)) => Err(failure.error),
            (None, None) => Err(LabError::new(LabErrorKind::Bug, "runs are missing")),
        }
    });
    let (set, repaired) = made?;
    for damage in &repaired {
        warn(py, damage)?;
    }
    results(Ok(set))
}

/// Says that a file was made again, since something had happened to it.
pub(crate) fn warn(py: Python<'_>, damage: &Damage) -> PyResult<()> {
    let text = CString::new(sojourn_scenario::printable(&damage.to_string()).into_owned())?;
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 2)
}

fn results(set: PyResult<ResultSet>) -> PyResult<Results> {
    set.map(|set| Results { set })
}

/// Repeats one replication of a scenario.
fn one_run(
    scenario: &Scenario,
    number: u64,
    how: &How,
    control: &Control,
) -> Result<ResultSet, LabError> {
    let manifest = Study::single(scenario).manifest(&how.command)?;
    let outcome = run_unless(&scenario.resolve()?, number, &control.cancel)?;
    Ok(ResultSet::new(manifest, vec![Run { point: 0, outcome }]))
}

fn supervised<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Control) -> Result<T, LabError> + Send + 'static,
) -> PyResult<T> {
    supervise(py, progress, work)?.map_err(|error| errors::lab(py, &error))
}
