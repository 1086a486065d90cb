//! A suite as its file says it.

use std::collections::BTreeMap;
use std::sync::Arc;

use sojourn_scenario::document::{Document, Extra, TableRef, ValueRef};
use sojourn_scenario::error::{LabError, LabErrorKind, Place, Result};

use super::algorithm::{Algorithm, Kind};
use super::each::expanded;
use super::keys::{
    CaseParams, CriterionParams, NeedsParams, ReferenceParams, Severity, Statistic, SuiteParams,
};
use crate::factors::unknown;

/// Letters that the name of a case may have.
const LONGEST: usize = 64;

/// A suite, read and checked as far as can be without an algorithm.
#[derive(Clone, Debug)]
pub struct Suite {
    /// Its name.
    pub name: String,
    /// Title, source and replications.
    pub about: SuiteParams,
    /// Its cases, in the order of the file.
    pub cases: Vec<Case>,
    pub(super) document: Arc<Document>,
    /// Whether it comes along, so that there are no files beside it.
    pub(super) built_in: bool,
}

/// A case.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its place in the file, from 0.
    pub(super) index: usize,
    /// Its name, title, source and where its scenario is from.
    pub about: CaseParams,
    /// For each kind of algorithm that it tests, the paths that the algorithm replaces.
    pub substitute: BTreeMap<Kind, Vec<String>>,
    /// For each factor of the experiment of a study, its level.
    pub(super) levels: BTreeMap<String, String>,
    /// Runs to compare with.
    pub(super) references: Vec<Reference>,
    /// What is asked of it.
    pub criteria: Vec<Criterion>,
    pub(super) needs: Option<Needs>,
}

/// A run to compare with.
#[derive(Clone, Debug)]
pub(super) struct Reference {
    pub(super) name: String,
    /// In the place of the tested algorithm; `None` for that itself with other settings.
    pub(super) algorithm: Option<Algorithm>,
}

/// What some algorithms have and others lack.
#[derive(Clone, Debug)]
pub(super) struct Needs {
    pub(super) what: String,
    pub(super) algorithms: Vec<String>,
}

impl Needs {
    /// Whether an algorithm has it.
    pub(super) fn has(&self, algorithm: &Algorithm) -> bool {
        let name = algorithm.name();
        self.algorithms.iter().any(|own| own == name)
    }
}

/// A criterion.
#[derive(Clone, Debug)]
pub struct Criterion {
    /// Everything but the thresholds.
    pub about: CriterionParams,
    /// As it is written.
    pub at_least: Option<String>,
    /// As it is written.
    pub at_most: Option<String>,
    /// Values known from elsewhere, by what they are from, as they are written.
    pub(crate) marks: Vec<(String, String)>,
    pub(super) needs: Option<Needs>,
    /// Where it stands.
    pub(super) place: Place,
}

impl Suite {
    /// The suite of a document; `name` is what its results are called.
    ///
    /// # Errors
    /// When a key is unknown or missing, a value cannot be read, or a name means nothing. The error names the file, the line and the key.
    pub fn from_document(name: &str, document: Document, built_in: bool) -> Result<Suite> {
        let document = expanded(document)?;
        let root = document.root();
        root.only(&["suite", "case"])?;
        let head = root
            .table("suite")?
            .ok_or_else(|| root.missing("suite", "begin with [suite] and title = \"...\""))?;
        head.required_text("title", "write title = \"...\"")?;
        let about: SuiteParams = head.params(Extra::default())?;
        for (least, most, key) in [
            (
                about.replications,
                about.most_replications,
                "most_replications",
            ),
            (about.quick_replications, about.quick_most, "quick_most"),
        ] {
            if most < least {
                let problem = format!("{most} is fewer than the {least} replications at first");
                return Err(head
                    .error_on(key, LabErrorKind::Contradiction, problem)
                    .remedy(format!("write {least} or more")));
            }
        }
        let tables = root.tables("case")?;
        if tables.is_empty() {
            return Err(root.missing("case", "add [[case]] with name, scenario and substitute"));
        }
        let mut cases: Vec<Case> = Vec::new();
        for (index, table) in tables.iter().enumerate() {
            let case = case(index, table, about.source.as_deref())?;
            let same = |other: &Case| other.about.name == case.about.name;
            if cases.iter().any(same) {
                let problem = format!("two cases are named {:?}", case.about.name);
                return Err(table
                    .error_on("name", LabErrorKind::Contradiction, problem)
                    .remedy("give each case a different name"));
            }
            cases.push(case);
        }
        Ok(Suite {
            name: name.to_owned(),
            about,
            cases,
            document: Arc::new(document),
            built_in,
        })
    }

    /// The kinds of algorithm that its cases test.
    pub fn kinds(&self) -> Vec<Kind> {
        let tests = |kind: &Kind| {
            let mut cases = self.cases.iter();
            cases.any(|case| case.substitute.contains_key(kind))
        };
        Kind::ALL.iter().copied().filter(tests).collect()
    }

    /// What messages call its file.
    pub fn file(&self) -> &str {
        self.document.file()
    }

    /// The table of a case.
    pub(super) fn table(&self, case: &Case) -> Result<TableRef<'_>> {
        let tables = self.document.root().tables("case")?;
        let table = tables.into_iter().nth(case.index);
        table.ok_or_else(|| self.document.root().missing("case", "add [[case]]"))
    }
}

fn case(index: usize, table: &TableRef<'_>, source: Option<&str>) -> Result<Case> {
    let mut about: CaseParams = table.params(Extra {
        keys: &[
            "substitute",
            "scenario",
            "levels",
            "set",
            "quick_set",
            "needs",
            "reference",
            "criterion",
        ],
        dialect: None,
    })?;
    let name = table.required_text("name", "name it, such as name = \"one-flow\"")?;
    check_name(table, name)?;
    about.source = about.source.or_else(|| source.map(str::to_owned));
    let levels = texts(table, "levels")?;
    check_scenario(table, &about, &levels)?;
    let references = references(table)?;
    let mut criteria: Vec<Criterion> = Vec::new();
    for own in table.tables("criterion")? {
        let criterion = criterion(&own, &references, about.source.as_deref())?;
        let same = |other: &Criterion| other.about.name == criterion.about.name;
        if criteria.iter().any(same) {
            let problem = format!(
                "two criteria of the case are named {:?}",
                criterion.about.name
            );
            return Err(own
                .error_on("name", LabErrorKind::Contradiction, problem)
                .remedy("give each criterion a different name"));
        }
        criteria.push(criterion);
    }
    if criteria.is_empty() {
        return Err(table.missing("criterion", "add [[case.criterion]] with name and metric"));
    }
    Ok(Case {
        index,
        about,
        substitute: substitute(table)?,
        levels,
        references,
        criteria,
        needs: needs(table)?,
    })
}

/// Names of cases are part of paths and commands.
fn check_name(table: &TableRef<'_>, name: &str) -> Result<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let fits = name.chars().all(plain) && name.len() <= LONGEST && !name.starts_with(['.', '-']);
    match fits {
        true => Ok(()),
        false => Err(table
            .error_on(
                "name",
                LabErrorKind::BadValue,
                format!("{name:?} is no name"),
            )
            .remedy(format!(
                "use at most {LONGEST} letters, digits, - _ and dots, and begin with a letter or digit"
            ))),
    }
}

/// A case has a scenario of its own, or that of a study.
fn check_scenario(
    table: &TableRef<'_>,
    about: &CaseParams,
    levels: &BTreeMap<String, String>,
) -> Result<()> {
    let own = table.has("scenario");
    match (own, &about.study) {
        (true, Some(_)) => Err(table
            .error_on(
                "study",
                LabErrorKind::Contradiction,
                "the case has a scenario of its own, too",
            )
            .remedy("leave out `study` or `scenario`")),
        (false, None) => Err(table.missing(
            "scenario",
            "add [case.scenario] with the keys of a scenario, or study and experiment",
        )),
        (false, Some(_)) if about.experiment.is_none() => Err(table.missing(
            "experiment",
            "name the experiment of the study, such as experiment = \"5.1.1\"",
        )),
        (true, None) if about.experiment.is_some() || !levels.is_empty() => {
            let key = match about.experiment {
                Some(_) => "experiment",
                None => "levels",
            };
            let problem = "a scenario has no experiments";
            Err(table
                .error_on(key, LabErrorKind::Contradiction, problem)
                .remedy(format!("leave out `{key}`, or add `study`")))
        }
        _ => Ok(()),
    }
}

/// The paths that each kind of algorithm replaces.
fn substitute(table: &TableRef<'_>) -> Result<BTreeMap<Kind, Vec<String>>> {
    let remedy = "write substitute = { queue = \"topology.queue\" } or { cc = \"flows.tested\" }";
    let Some(given) = table.table("substitute")? else {
        return Err(table.missing("substitute", remedy));
    };
    let names: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
    given.only(&names)?;
    let mut all = BTreeMap::new();
    for &kind in Kind::ALL {
        if let Some(paths) = given.text(kind.name())? {
            let paths = paths.split(',').map(|path| path.trim().to_owned());
            all.insert(kind, paths.collect());
        }
    }
    match all.is_empty() {
        true => Err(table.missing("substitute", remedy)),
        false => Ok(all),
    }
}

fn references(table: &TableRef<'_>) -> Result<Vec<Reference>> {
    let mut all: Vec<Reference> = Vec::new();
    for own in table.tables("reference")? {
        let params: ReferenceParams = own.params(Extra {
            keys: &["set"],
            dialect: None,
        })?;
        let name = own.required_text("name", "name it, such as name = \"droptail\"")?;
        check_name(&own, name)?;
        if all.iter().any(|other| other.name == name) {
            let problem = format!("two references are named {name:?}");
            return Err(own.error_on("name", LabErrorKind::Contradiction, problem));
        }
        let algorithm = match (params.queue, params.cc) {
            (Some(_), Some(_)) => {
                let problem = "a reference replaces a queue or a congestion control, not both";
                return Err(own
                    .error_on("cc", LabErrorKind::Contradiction, problem)
                    .remedy("put one of them into `set`"));
            }
            (Some(text), None) => Some(Algorithm::new(Kind::Queue, &text)),
            (None, Some(text)) => Some(Algorithm::new(Kind::Cc, &text)),
            (None, None) => None,
        };
        all.push(Reference {
            name: name.to_owned(),
            algorithm,
        });
    }
    Ok(all)
}

fn criterion(
    table: &TableRef<'_>,
    references: &[Reference],
    source: Option<&str>,
) -> Result<Criterion> {
    let mut about: CriterionParams = table.params(Extra {
        keys: &["at_least", "at_most", "marks", "needs"],
        dialect: None,
    })?;
    let name = table.required_text("name", "name it, such as name = \"delay\"")?;
    check_name(table, name)?;
    about.source = about.source.or_else(|| source.map(str::to_owned));
    if about.source.is_none() {
        return Err(table.missing("source", "name the section that asks for it"));
    }
    check_quantity(table, &about)?;
    if let (Some(from), Some(to)) = (about.from, about.to)
        && from >= to
    {
        let problem = format!("the window ends at {to}, before it begins at {from}");
        return Err(table.error_on("to", LabErrorKind::Contradiction, problem));
    }
    check_references(table, &about, references)?;
    let threshold = |key: &str| -> Result<Option<String>> {
        table.get(key).map(|value| value.scalar()).transpose()
    };
    let (at_least, at_most) = (threshold("at_least")?, threshold("at_most")?);
    if about.severity == Severity::Must && at_least.is_none() && at_most.is_none() {
        let problem = "a must without a threshold cannot fail";
        return Err(table
            .error_on("severity", LabErrorKind::Contradiction, problem)
            .remedy("add at_least or at_most, or write severity = \"informative\""));
    }
    if about.severity == Severity::Informative
        && let Some(key) = ["at_least", "at_most"]
            .into_iter()
            .find(|key| table.has(key))
    {
        let problem = "an informative criterion has no threshold";
        return Err(table
            .error_on(key, LabErrorKind::Contradiction, problem)
            .remedy("leave it out, or write severity = \"should\""));
    }
    Ok(Criterion {
        about,
        at_least,
        at_most,
        marks: marks(table)?,
        needs: needs(table)?,
        place: table.place().clone(),
    })
}

/// A criterion has a metric or a time series, and only the keys of what it has.
fn check_quantity(table: &TableRef<'_>, about: &CriterionParams) -> Result<()> {
    match (&about.metric, &about.series) {
        (Some(_), Some(_)) => {
            return Err(table
                .error_on(
                    "series",
                    LabErrorKind::Contradiction,
                    "there is a metric, too",
                )
                .remedy("leave out `metric` or `series`"));
        }
        (None, None) => return Err(table.missing("metric", "name a metric or a series")),
        (Some(_), None) => {
            for key in ["of", "statistic", "level"] {
                if table.has(key) {
                    let problem = "it belongs to a time series, and this is a metric";
                    return Err(table
                        .error_on(key, LabErrorKind::Contradiction, problem)
                        .remedy(
                            "write the subject into the metric: \"sojourn_s_p95 of left-right\"",
                        ));
                }
            }
        }
        (None, Some(_)) => {
            let wants = matches!(
                about.statistic,
                Statistic::TimeToRise | Statistic::TimeToFall | Statistic::ShareAbove
            );
            if wants && about.level.is_none() {
                let statistic = about.statistic.name();
                return Err(table.missing("level", &format!("{statistic} needs a level")));
            }
        }
    }
    Ok(())
}

/// What a value is compared with is a reference of the case, and there is one at most.
fn check_references(
    table: &TableRef<'_>,
    about: &CriterionParams,
    references: &[Reference],
) -> Result<()> {
    for key in ["over", "harm", "less"] {
        if let Some(given) = table.text(key)?
            && references.iter().all(|own| own.name != given)
        {
            let error = table.error_on(key, LabErrorKind::UnknownName, "");
            let names = references.iter().map(|own| own.name.as_str());
            return Err(unknown(&error, "[[case.reference]]", given, names));
        }
    }
    let both = [
        ("less", about.less.is_some()),
        ("harm", about.harm.is_some()),
    ];
    if let Some((key, _)) = both.into_iter().find(|(_, given)| *given)
        && about.over.is_some()
    {
        let problem = match key {
            "less" => "a value is divided by a reference, or a reference is subtracted, not both",
            _ => "a value is divided by a reference, or its harm is taken, not both",
        };
        return Err(table
            .error_on(key, LabErrorKind::Contradiction, problem)
            .remedy(format!("leave out `over` or `{key}`")));
    }
    if about.harm.is_none() && table.has("good") {
        let problem = "it belongs to `harm`, which is not given";
        return Err(table
            .error_on("good", LabErrorKind::Contradiction, problem)
            .remedy("leave it out, or name the reference in which the flow is alone as `harm`"));
    }
    Ok(())
}

fn needs(table: &TableRef<'_>) -> Result<Option<Needs>> {
    let Some(own) = table.table("needs")? else {
        return Ok(None);
    };
    let params: NeedsParams = own.params(Extra {
        keys: &["algorithms"],
        dialect: None,
    })?;
    own.required_text(
        "what",
        "say what they have, such as what = \"the state of BBR\"",
    )?;
    let list = own
        .get("algorithms")
        .ok_or_else(|| own.missing("algorithms", "name them, such as algorithms = [\"bbr\"]"))?;
    let all: Result<Vec<String>> = list
        .list("[\"bbr\"]")?
        .iter()
        .map(|value| {
            let name = value.text()?;
            let error = value.error(LabErrorKind::UnknownName, "");
            Algorithm::check_name(name, &error).map(|()| name.to_owned())
        })
        .collect();
    Ok(Some(Needs {
        what: params.what,
        algorithms: all?,
    }))
}

/// Values known from elsewhere, with what each is from, in the order of the file.
fn marks(table: &TableRef<'_>) -> Result<Vec<(String, String)>> {
    let Some(own) = table.table("marks")? else {
        return Ok(Vec::new());
    };
    let mark = |(from, value): (&str, ValueRef<'_>)| Ok((from.to_owned(), value.scalar()?));
    own.values().map(mark).collect()
}

fn texts(table: &TableRef<'_>, key: &str) -> Result<BTreeMap<String, String>> {
    let Some(own) = table.table(key)? else {
        return Ok(BTreeMap::new());
    };
    let text = |(key, value): (&str, ValueRef<'_>)| Ok((key.to_owned(), value.scalar()?));
    own.values().map(text).collect()
}

impl Case {
    /// Its heading.
    pub fn title(&self) -> &str {
        self.about.title.as_ref().unwrap_or(&self.about.name)
    }

    /// What an algorithm lacks for all of it.
    pub(super) fn lacks(&self, algorithm: &Algorithm) -> Option<&str> {
        let needs = self.needs.as_ref()?;
        (!needs.has(algorithm)).then_some(needs.what.as_str())
    }
}

impl Criterion {
    /// What an algorithm lacks for it.
    pub(super) fn lacks(&self, algorithm: &Algorithm) -> Option<&str> {
        let needs = self.needs.as_ref()?;
        (!needs.has(algorithm)).then_some(needs.what.as_str())
    }

    /// An error about one of its keys.
    pub(super) fn error(&self, suite: &Suite, key: &str, problem: String) -> LabError {
        LabError::new(LabErrorKind::BadValue, problem)
            .in_file(suite.file())
            .at(&self.place)
            .key(format!("case.criterion.{key}"))
    }

    /// What it asks, in a few words.
    pub fn title(&self) -> &str {
        let about = &self.about;
        let given = about.title.as_ref().or(about.metric.as_ref());
        given.or(about.series.as_ref()).map_or("", String::as_str)
    }
}
