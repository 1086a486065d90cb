//! The scenarios of a case: with the tested algorithm or a reference in its place, measured over the whole run or over a window.

use std::ffi::OsStr;
use std::path::Path;

use sojourn_results::asked::Asked;
use sojourn_results::metrics::Unit;
use sojourn_scenario::document::{Document, TableRef, Value, read_text};
use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use sojourn_scenario::model::Warmup;
use sojourn_units::Span;

use super::algorithm::Algorithm;
use super::keys::Statistic;
use super::read::{Case, Criterion, Reference, Suite};
use crate::factors::unknown;
use crate::figure::quantity::{of_total, title_and_unit};
use crate::named::{self, Found};
use crate::study::{Study, document_at, set_from};

/// The part of a run that is measured, where it is not that of the scenario.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Window {
    pub(super) from: Option<Span>,
    pub(super) to: Option<Span>,
}

/// One scenario of a case.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    /// The reference in the place of the tested algorithm, by its number.
    pub(super) reference: Option<usize>,
    pub(super) window: Window,
    /// Where its results are, below those of the suite.
    pub(super) folder: String,
    document: Document,
}

/// What a criterion takes of a run.
#[derive(Clone)]
pub(super) enum Quantity {
    /// A metric.
    Metric(Asked),
    /// A time series, or the sum of several; a level of it, in its unit.
    Series {
        quantity: String,
        level: Option<f64>,
        /// Where the window begins.
        from: Span,
    },
}

/// The numbers of the settings that a criterion compares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Compared {
    /// That of the tested algorithm.
    pub(super) tested: usize,
    pub(super) over: Option<usize>,
    pub(super) harm: Option<usize>,
    pub(super) less: Option<usize>,
}

impl Compared {
    /// Whether a setting is among them.
    pub(super) fn has(&self, number: usize) -> bool {
        let others = [self.over, self.harm, self.less];
        self.tested == number || others.contains(&Some(number))
    }
}

/// A criterion, checked against the scenario of its case.
#[derive(Clone)]
pub(super) struct Question<'a> {
    pub(super) criterion: &'a Criterion,
    pub(super) quantity: Quantity,
    /// The unit of the value that is judged.
    pub(super) unit: Unit,
    /// In that unit.
    pub(super) at_least: Option<f64>,
    pub(super) at_most: Option<f64>,
    /// What was measured elsewhere, by its source, in that unit.
    pub(super) marks: Vec<(&'a str, f64)>,
    pub(super) settings: Compared,
}

/// A case for one algorithm: what is to be run and what is asked.
pub(super) struct Plan<'a> {
    pub(super) case: &'a Case,
    pub(super) settings: Vec<Setting>,
    pub(super) questions: Vec<Question<'a>>,
    found: Option<Found>,
}

impl<'a> Plan<'a> {
    /// The case for an algorithm: every scenario is read and compiled once, and every criterion is checked.
    pub(super) fn of(
        suite: &Suite,
        case: &'a Case,
        algorithm: &Algorithm,
        (quick, seed): (bool, u64),
    ) -> Result<Plan<'a>> {
        let mut plan = Plan {
            case,
            settings: Vec::new(),
            questions: Vec::new(),
            found: found(suite, case)?,
        };
        let whole = plan.setting(suite, algorithm, None, Window::default(), (quick, seed))?;
        let study = plan.study(&plan.settings[whole], 1)?;
        let scenario = match study.points().first() {
            Some(point) => point.scenario()?,
            None => return Err(LabError::new(LabErrorKind::Bug, "a case without a point")),
        };
        let table = suite.table(case)?;
        let Warmup::Of(warmup) = scenario.run.warmup else {
            let problem =
                "the warm-up follows from first runs, which differ from algorithm to algorithm";
            return Err(table.error(LabErrorKind::MissingKey, problem).remedy(
                "give the scenario run.warmup, such as set = { \"run.warmup\" = \"5s\" }",
            ));
        };
        for criterion in &case.criteria {
            if criterion.lacks(algorithm).is_some() {
                continue;
            }
            let window = match criterion.about.series {
                Some(_) => Window::default(),
                None => Window {
                    from: criterion.about.from,
                    to: criterion.about.to,
                },
            };
            if let Some(to) = criterion.about.to
                && to > scenario.run.duration
            {
                let problem = format!(
                    "{to} is beyond the end of the run, {}",
                    scenario.run.duration
                );
                return Err(criterion.error(suite, "to", problem));
            }
            let tested = plan.setting(suite, algorithm, None, window, (quick, seed))?;
            let mut reference = |name: &Option<String>| -> Result<Option<usize>> {
                let Some(name) = name else {
                    return Ok(None);
                };
                let mut all = case.references.iter();
                let number = all.position(|own| own.name == *name);
                let setting = plan.setting(suite, algorithm, number, window, (quick, seed))?;
                Ok(Some(setting))
            };
            let settings = Compared {
                tested,
                over: reference(&criterion.about.over)?,
                harm: reference(&criterion.about.harm)?,
                less: reference(&criterion.about.less)?,
            };
            let question = question(suite, criterion, (&study, warmup), settings)?;
            plan.questions.push(question);
        }
        for setting in &plan.settings {
            plan.study(setting, 1)?;
        }
        Ok(plan)
    }

    /// The number of a setting, which is added unless it is there.
    fn setting(
        &mut self,
        suite: &Suite,
        algorithm: &Algorithm,
        reference: Option<usize>,
        window: Window,
        (quick, seed): (bool, u64),
    ) -> Result<usize> {
        let same = |own: &Setting| own.reference == reference && own.window == window;
        if let Some(number) = self.settings.iter().position(same) {
            return Ok(number);
        }
        let case = self.case;
        let table = suite.table(case)?;
        let known = reference.map(|number| &case.references[number]);
        let put = known
            .and_then(|own| own.algorithm.as_ref())
            .unwrap_or(algorithm);
        let mut document = self.base(suite)?;
        let owner = case.about.study.as_ref().map(|_| suite.file());
        if let Some(set) = table.get("set") {
            set_from(&mut document, &set, owner)?;
        }
        if let Some(set) = table.get("quick_set").filter(|_| quick) {
            set_from(&mut document, &set, owner)?;
        }
        // A reference may replace another thing than what is tested; this then stays.
        if put.kind != algorithm.kind {
            self.put(&mut document, &table, algorithm)?;
        }
        self.put(&mut document, &table, put)?;
        if let Some(number) = reference
            && let Some(set) = table
                .tables("reference")?
                .get(number)
                .and_then(|own| own.get("set"))
        {
            set_from(&mut document, &set, owner)?;
        }
        document.set("run.seed", &seed.to_string())?;
        if let Some(from) = window.from {
            document.set("run.warmup", &from.to_string())?;
        }
        if let Some(to) = window.to {
            document.set("run.duration", &to.to_string())?;
            leave_out_changes(&mut document, to)?;
        }
        self.settings.push(Setting {
            reference,
            window,
            folder: folder(case, algorithm, known, window, quick),
            document,
        });
        Ok(self.settings.len() - 1)
    }

    fn put(
        &self,
        document: &mut Document,
        table: &TableRef<'_>,
        algorithm: &Algorithm,
    ) -> Result<()> {
        let Some(paths) = self.case.substitute.get(&algorithm.kind) else {
            let kind = algorithm.kind.name();
            let problem = format!("nothing says where a {kind} stands in this case");
            return Err(table
                .error_on("substitute", LabErrorKind::MissingKey, problem)
                .remedy(format!("add {kind} = \"...\" to `substitute`")));
        };
        let mut each = paths.iter();
        each.try_for_each(|path| algorithm.put(document, path))
    }

    /// The scenario of the case before anything is replaced.
    fn base(&self, suite: &Suite) -> Result<Document> {
        let table = suite.table(self.case)?;
        let Some(found) = &self.found else {
            let mut document = Document::new(suite.file());
            if let Some(own) = table.table("scenario")? {
                for (key, value) in own.values() {
                    document.set_node(key, value.node().clone())?;
                }
            }
            return Ok(document);
        };
        let replaced = |path: &str| {
            let mut paths = self.case.substitute.values().flatten();
            paths.any(|own| is_below(path, own))
        };
        let experiment = self.case.about.experiment.as_deref().unwrap_or("");
        document_at(&found.document, experiment, &self.case.levels, &replaced).map_err(|error| {
            let at = match error.kind() {
                LabErrorKind::MissingKey => table.error(error.kind(), ""),
                _ if error.to_string().contains("experiment") => {
                    table.error_on("experiment", error.kind(), "")
                }
                _ => table.error_on("levels", error.kind(), ""),
            };
            at.with_text_of(&error)
        })
    }

    /// The study of a setting with as many replications.
    pub(super) fn study(&self, setting: &Setting, replications: u64) -> Result<Study> {
        let mut document = setting.document.clone();
        document.set("run.replications", &replications.to_string())?;
        match &self.found {
            Some(found) => Study::from_document_and_files(&document, &|path| found.file(path)),
            None => Study::from_document_and_files(&document, &read_text),
        }
    }
}

/// Leaves out the changes of a run that now ends before them.
fn leave_out_changes(document: &mut Document, end: Span) -> Result<()> {
    let Some(changes) = document.root().get(CHANGES) else {
        return Ok(());
    };
    let mut node = changes.node().clone();
    if let Value::List(entries) = &mut node.value {
        entries.retain(|entry| match &entry.value {
            Value::Table(table) => match table.entry("at").map(|at| &at.node.value) {
                Some(Value::Text(at)) => at.parse::<Span>().map_or(true, |at| at < end),
                // What is no time is refused where the scenario is read.
                _ => true,
            },
            _ => true,
        });
    }
    document.set_node(CHANGES, node)
}

/// The key of changes of links during a run.
const CHANGES: &str = "changes";

/// Whether a path is another one, or leads to what is in it.
fn is_below(path: &str, other: &str) -> bool {
    let group = other.strip_suffix(".kind").unwrap_or(other);
    let rest = path.strip_prefix(group);
    path == other || rest.is_some_and(|rest| rest.starts_with('.'))
}

/// The study that a case refers to: one of that name, or a file beside the suite.
fn found(suite: &Suite, case: &Case) -> Result<Option<Found>> {
    let Some(name) = &case.about.study else {
        return Ok(None);
    };
    let beside = Path::new(suite.file()).with_file_name(name);
    let given = match !suite.built_in && beside.exists() {
        true => beside.into_os_string(),
        false => OsStr::new(name).to_owned(),
    };
    let found = named::find(&given).map_err(|error| {
        let table = suite.table(case);
        match (table, error.kind()) {
            (Ok(table), LabErrorKind::UnknownName | LabErrorKind::Io) => table
                .error_on("study", error.kind(), "")
                .with_text_of(&error),
            _ => error,
        }
    })?;
    Ok(Some(found))
}

/// Where the results of a setting are. A reference that replaces the tested algorithm is the same for all of them.
fn folder(
    case: &Case,
    algorithm: &Algorithm,
    reference: Option<&Reference>,
    window: Window,
    quick: bool,
) -> String {
    let mut name = match reference {
        None => algorithm.folder(),
        Some(own) => {
            let replaces = |other: &Algorithm| other.kind == algorithm.kind;
            match own.algorithm.as_ref().is_some_and(replaces) {
                true => format!("reference-{}", own.name),
                false => format!("{}-reference-{}", algorithm.folder(), own.name),
            }
        }
    };
    let end = |span: Option<Span>| span.map_or_else(String::new, |span| span.to_string());
    if window != Window::default() {
        name = format!("{name}-from-{}-to-{}", end(window.from), end(window.to));
    }
    let quick = if quick { "quick/" } else { "" };
    format!("{quick}{}/{name}", case.about.name)
}

/// Checks a criterion against a scenario of its case.
fn question<'a>(
    suite: &Suite,
    criterion: &'a Criterion,
    (study, warmup): (&Study, Span),
    settings: Compared,
) -> Result<Question<'a>> {
    let about = &criterion.about;
    let (quantity, own) = match (&about.metric, &about.series) {
        (Some(text), _) => {
            let asked = Asked::parse(text, None, study.names("")).map_err(|error| {
                criterion
                    .error(suite, "metric", String::new())
                    .with_text_of(&error)
            })?;
            if asked.pooled {
                let problem = format!("{text:?} has no value in one replication");
                let error = criterion.error(suite, "metric", problem);
                return Err(error.remedy("leave out _pooled"));
            }
            let unit = asked.unit();
            (Quantity::Metric(asked), unit)
        }
        (None, Some(series)) => series_of(suite, criterion, series, (study, warmup))?,
        (None, None) => return Err(criterion.error(suite, "metric", "missing".to_owned())),
    };
    let unit = match (&about.over, &about.harm) {
        (Some(_), _) => Unit::Index,
        (None, Some(_)) => Unit::Ratio,
        (None, None) => own,
    };
    let threshold = |key: &str, text: &Option<String>| {
        let number = text.as_deref().map(|text| number(text, unit));
        number
            .transpose()
            .map_err(|problem| criterion.error(suite, key, problem))
    };
    let mark = |(from, text): &'a (String, String)| {
        let value = number(text, unit);
        let value = value.map_err(|problem| criterion.error(suite, "marks", problem));
        Ok((from.as_str(), value?))
    };
    let at_least = threshold("at_least", &criterion.at_least)?;
    let at_most = threshold("at_most", &criterion.at_most)?;
    if let (Some(least), Some(most)) = (at_least, at_most)
        && least > most
    {
        let problem = "no value is at least at_least and at most at_most".to_owned();
        return Err(criterion.error(suite, "at_most", problem));
    }
    Ok(Question {
        criterion,
        quantity,
        unit,
        at_least,
        at_most,
        marks: criterion.marks.iter().map(mark).collect::<Result<_>>()?,
        settings,
    })
}

/// A time series of a criterion, and the unit of what is taken of it.
fn series_of(
    suite: &Suite,
    criterion: &Criterion,
    series: &str,
    (study, warmup): (&Study, Span),
) -> Result<(Quantity, Unit)> {
    let about = &criterion.about;
    let quantity = of_total(series).unwrap_or(series);
    let recordable = study.recordable_series()?;
    if !recordable.is_known(quantity) {
        let error = criterion.error(suite, "series", String::new());
        return Err(unknown(
            &error,
            "time series",
            quantity,
            recordable.quantities(),
        ));
    }
    if let Some(record) = recordable.remedy(quantity) {
        let problem = format!("the case does not record {quantity}");
        return Err(criterion.error(suite, "series", problem).remedy(format!(
            "add \"series.record\" = \"{record}\" and \"series.step\" to `set` of the case"
        )));
    }
    let of_samples = title_and_unit(series).1;
    let level = about.level.as_deref().map(|text| number(text, of_samples));
    let level = level
        .transpose()
        .map_err(|problem| criterion.error(suite, "level", problem))?;
    let unit = match about.statistic {
        Statistic::TimeToRise | Statistic::TimeToFall => Unit::LongSeconds,
        Statistic::ShareAbove => Unit::Ratio,
        _ => of_samples,
    };
    let quantity = Quantity::Series {
        quantity: series.to_owned(),
        level,
        from: about.from.unwrap_or(warmup),
    };
    Ok((quantity, unit))
}

/// A number in the unit of storage, from a text with a unit.
fn number(text: &str, unit: Unit) -> std::result::Result<f64, String> {
    let text = text.trim();
    let ends = (1..=text.len())
        .rev()
        .filter(|end| text.is_char_boundary(*end));
    let split = ends
        .map(|end| text.split_at(end))
        .find_map(|(number, rest)| Some((number.parse::<f64>().ok()?, rest.trim())));
    let (number, name) = split
        .filter(|(number, _)| number.is_finite())
        .ok_or_else(|| format!("{text:?} does not begin with a number"))?;
    let factor = match (unit, name) {
        // A ratio to a reference may be written in percent.
        (Unit::Index, "%") => Some(0.01),
        _ => unit.factor(name),
    };
    let names = match unit {
        Unit::Index => "1, %",
        unit => unit.names(),
    };
    let plain = matches!(unit, Unit::Ratio | Unit::Index | Unit::Count);
    if name.is_empty() && number != 0.0 && !plain {
        return Err(format!("{text:?} has no unit; there are {names}"));
    }
    factor
        .map(|factor| number * factor)
        .ok_or_else(|| format!("{name:?} is no unit of this value; there are {names}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_is_read_in_the_unit_of_the_metric() {
        assert_eq!(number("90%", Unit::Ratio), Ok(0.9));
        assert_eq!(number("20 ms", Unit::Seconds), Ok(0.02));
        assert_eq!(number("8Mbps", Unit::BitsPerSecond), Ok(8e6));
        assert_eq!(number("1.5", Unit::Index), Ok(1.5));
        assert_eq!(number("50%", Unit::Index), Ok(0.5));
        assert_eq!(number("0", Unit::Seconds), Ok(0.0));
        let bare = number("30", Unit::Seconds);
        assert!(bare.is_err_and(|problem| problem.contains("has no unit")));
        assert!(number("20 ms", Unit::Ratio).is_err());
        assert!(number("much", Unit::Ratio).is_err());
        assert!(number("nan", Unit::Ratio).is_err());
    }

    #[test]
    fn a_run_that_ends_earlier_leaves_out_the_changes_behind_its_end() -> Result<()> {
        let text = "changes = [{ at = \"1s\" }, { at = \"3s\" }, { at = \"5s\" }]";
        let mut document = Document::parse(text, "x.toml")?;
        leave_out_changes(&mut document, Span::from_secs(3))?;
        let json = document.to_json();
        assert_eq!(json["changes"], serde_json::json!([{ "at": "1s" }]));
        Ok(())
    }

    #[test]
    fn a_path_is_replaced_with_all_that_is_below_it() {
        assert!(is_below("topology.queue", "topology.queue"));
        assert!(is_below("topology.queue.target", "topology.queue"));
        assert!(is_below("flows.tested.ecn", "flows.tested.kind"));
        assert!(!is_below("topology.queues", "topology.queue"));
    }
}
