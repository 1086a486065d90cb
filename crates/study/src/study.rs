//! Studies: a scenario with factors, tables and figures.
//!
//! ```toml
//! # ... keys of a scenario ...
//!
//! [study]
//! title = "CoDel against DRR"
//! published = "published.csv"
//!
//! [[experiment]]
//! name = "bandwidth"
//! set = { "run.duration" = "60s" }
//!
//! [[experiment.factor]]
//! name = "rate"
//! path = "topology.rate"
//! values = ["2Mbps", "10Mbps"]
//!
//! [[experiment.factor]]
//! name = "queue"
//! path = "topology.queue"
//! values = ["codel", "drr"]
//! compare = true
//!
//! [[table]]
//! id = "delay"
//! rows = ["rate"]
//! columns = ["queue"]
//! metrics = ["sojourn_s_p95", "goodput_bps_sum of reno"]
//! ```
//!
//! The levels of an experiment's factors, each with each, are its points; each point runs in replications. All points have
//! the same seed: the same replication number gives the same traffic to every point, whatever its queue (common random
//! numbers), so that levels of a factor with `compare` can be compared replication by replication. A scenario without
//! experiments is a study of one point.

mod again;
mod algorithms;
mod answer;
mod dispatch;
mod execute;
mod factors;
mod keys;
mod lists;
mod placed;
mod points;
mod published;
mod rounds;
mod sampled;
mod shown;
mod varied;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use sojourn_results::asked::Names;
use sojourn_results::chunks::in_chunks;
use sojourn_results::design::Design;
use sojourn_results::manifest::{
    Allowance, ExperimentInfo, FactorInfo, Manifest, SCHEMA_VERSION, VERSION,
};
use sojourn_results::specs::{AnswerSpec, FigureSpec, Published, TableSpec};
use sojourn_run::compile::compile;
use sojourn_run::needs::{self, Needs};
use sojourn_run::series::Recordable;
use sojourn_scenario::document::{Document, Extra, read_text};
use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use sojourn_scenario::model::{LimitParams, Scenario};
use sojourn_units::{Ratio, Spec};

pub(crate) use self::execute::execute_points;
pub use dispatch::{Arrival, Dispatch, Task, Teller};
pub use execute::{Executed, Failure, Options, Progress, Shard, Waits, execute};
pub use keys::{
    AnswerParams, DesignParams, ExperimentParams, FactorParams, FigureParams, STUDY_KEYS,
    StudyParams, TableParams, tables,
};
pub(crate) use placed::{document_at, set_from};
pub(crate) use points::Placed;
pub use points::Point;
pub(crate) use sampled::sobol_side;
pub(crate) use varied::{Choice, varied};

use crate::auditor::allowances;
use crate::factors::unknown;
use algorithms::add_algorithms;
use factors::{experiments, queue_labels};
use lists::unique_ids;
use points::{Experiment, Facts, Files, Gathering};

/// Reads a file that a study names.
type ReadFile<'a> = &'a dyn Fn(&Path) -> std::io::Result<String>;

/// A study, read and checked.
#[derive(Clone, Debug)]
pub struct Study {
    /// Its name.
    pub name: String,
    /// Heading of the report.
    pub title: String,
    /// The question that it answers.
    pub question: Option<String>,
    /// What answers the question, as far as the study says.
    pub answer: AnswerSpec,
    /// What it is for, in Markdown.
    pub description: Option<String>,
    /// The publication that it reproduces.
    pub paper: Option<String>,
    /// Its experiments.
    pub experiments: Vec<ExperimentInfo>,
    /// Its points, experiment by experiment, the last factor fastest.
    pub points: Vec<Point>,
    /// Tables that it asks for.
    pub tables: Vec<TableSpec>,
    /// Figures that it asks for.
    pub figures: Vec<FigureSpec>,
    /// Published values.
    pub published: Vec<Published>,
    /// The share within which levels are called equivalent.
    pub equivalent_within: Option<f64>,
    /// What the user should know, such as a dialect that fell back.
    pub notes: Vec<String>,
    /// Remarks of the auditor that its comments allow.
    pub allowances: Vec<Allowance>,
    /// Experiments and the arguments that have no effect in them.
    idle: Vec<(String, String)>,
    /// What is known of the points of each experiment, by its name.
    facts: BTreeMap<String, Facts>,
    /// How much it may ask for.
    pub limits: LimitParams,
    /// What was decided of it, if it is that of a manifest.
    design: Option<Design>,
}

impl Study {
    /// The study of a file.
    ///
    /// # Errors
    /// When the file or its published values cannot be read, or say what cannot be.
    pub fn read(path: &Path) -> Result<Study> {
        Study::from_document(&Document::read(path)?)
    }

    /// The study of a document; published values are looked for in the folder of its file.
    ///
    /// # Errors
    /// When a key is unknown or missing, a value cannot be read, or a name means nothing.
    pub fn from_document(document: &Document) -> Result<Study> {
        Study::from_document_and_files(document, &read_text)
    }

    /// The study of a document whose other files are read with `read`, which takes their paths.
    ///
    /// # Errors
    /// As [`Study::from_document`].
    pub fn from_document_and_files(
        document: &Document,
        read: &dyn Fn(&Path) -> std::io::Result<String>,
    ) -> Result<Study> {
        let root = document.root();
        let about = match root.table("study")? {
            Some(table) => table.params(Extra {
                keys: &["answer"],
                dialect: None,
            })?,
            None => StudyParams::default(),
        };
        let experiments = experiments(&root)?;
        let mut study = Study {
            name: String::new(),
            title: String::new(),
            question: about.question,
            answer: AnswerSpec::default(),
            description: None,
            paper: about.paper,
            experiments: Vec::new(),
            points: Vec::new(),
            tables: Vec::new(),
            figures: Vec::new(),
            published: Vec::new(),
            equivalent_within: about.equivalent_within.map(Ratio::get),
            notes: Vec::new(),
            allowances: allowances(document)?,
            idle: Vec::new(),
            facts: BTreeMap::new(),
            limits: match root.table("limits")? {
                Some(table) => table.params(Extra::default())?,
                None => LimitParams::default(),
            },
            design: None,
        };
        match experiments.as_slice() {
            [] => study.read_point(document, (about.title, about.description), read)?,
            all => {
                study.read_experiments(all, document, (about.title, about.description), read)?;
            }
        }
        for table in root.tables("table")? {
            let spec = study.table(&table)?;
            study.tables.push(spec);
        }
        for figure in root.tables("figure")? {
            let spec = study.figure(&figure)?;
            study.figures.push(spec);
        }
        unique_ids(&root, "table", study.tables.iter().map(|table| &table.id))?;
        unique_ids(
            &root,
            "figure",
            study.figures.iter().map(|figure| &figure.id),
        )?;
        study.answer = study.answer_in(&root)?;
        study.read_published(document, about.published.as_deref(), read)?;
        if let Some(table) = root.table("run")? {
            study.check_precision(&table)?;
        }
        Ok(study)
    }

    /// Reads the file of published values, if one is named.
    fn read_published(
        &mut self,
        document: &Document,
        file: Option<&str>,
        read: ReadFile<'_>,
    ) -> Result<()> {
        let (Some(file), Some(table)) = (file, document.root().table("study")?) else {
            return Ok(());
        };
        let path = Path::new(document.file()).with_file_name(file);
        let known = published::Known {
            experiments: &self.experiments,
            names: &|experiment| self.names(experiment),
        };
        self.published = published::read(&path, read, known).map_err(|error| {
            match error.kind() == LabErrorKind::Io {
                true => table.error_on("published", LabErrorKind::Io, error.to_string()),
                false => error,
            }
        })?;
        Ok(())
    }

    /// A scenario without experiments: one point.
    fn read_point(
        &mut self,
        document: &Document,
        (title, description): (Option<String>, Option<String>),
        read: ReadFile<'_>,
    ) -> Result<()> {
        let base = Scenario::read_with_files(document, &STUDY_KEYS, read)?;
        let mut gathering = Gathering::with_recordable(draws_series(document)?);
        gathering.take(&base, document)?;
        self.facts.insert(String::new(), gathering.facts());
        self.add_notes(&base.notes);
        self.describe(
            title,
            description,
            &base.scenario.name,
            base.title,
            base.description,
        );
        self.experiments.push(ExperimentInfo {
            name: String::new(),
            title: self.title.clone(),
            factors: Vec::new(),
            sampling: None,
        });
        let scenario = Arc::new(base.scenario);
        self.points = vec![Point::of_scenario("", BTreeMap::new(), scenario)];
        Ok(())
    }

    /// Every point of every experiment.
    fn read_experiments(
        &mut self,
        experiments: &[Experiment],
        document: &Document,
        (title, description): (Option<String>, Option<String>),
        read: ReadFile<'_>,
    ) -> Result<()> {
        let files = Arc::new(Files::default());
        let mut named = None;
        let total = self.check_points(experiments, document)?;
        let mut needs = Needs::default();
        for experiment in experiments {
            let name = &experiment.info.name;
            let mut gathering = Gathering::with_recordable(draws_series(document)?);
            let mut seen = BTreeSet::new();
            let mut idle: Option<Vec<String>> = None;
            for point in experiment.points(document, &files)? {
                let document = point.document()?;
                let reading = files
                    .reading(&document, read)
                    .map_err(|error| point.blamed(error, &document))?;
                let own = gathering.take(&reading, &document)?;
                needs.add(&own);
                // A study in a directory needs less; whether it has one is not known here.
                if needs.check(&self.limits, true).is_err() {
                    // Most often the points ahead need as much.
                    needs.add(&own.times(total.saturating_sub(needs.points)));
                    let checked = needs.check(&self.limits, true);
                    checked.map_err(|error| document.locate(error))?;
                }
                for note in &reading.notes {
                    if seen.insert(note.clone()) {
                        self.add_notes(std::slice::from_ref(note));
                    }
                }
                // An argument is idle where it has an effect at no point.
                match &mut idle {
                    None => idle = Some(document.overridden().map(str::to_owned).collect()),
                    Some(idle) if idle.is_empty() => {}
                    Some(idle) => {
                        let here: Vec<&str> = document.overridden().collect();
                        idle.retain(|text| here.contains(&text.as_str()));
                    }
                }
                named.get_or_insert((reading.scenario.name, reading.title, reading.description));
                self.points.push(point);
            }
            let idle = idle.into_iter().flatten();
            self.idle.extend(idle.map(|text| (name.clone(), text)));
            self.facts.insert(name.clone(), gathering.facts());
            self.experiments.push(experiment.info.clone());
        }
        // Every experiment has a point.
        if let Some((name, own_title, own_description)) = named {
            self.describe(title, description, &name, own_title, own_description);
        }
        Ok(())
    }

    /// Checks that each argument, such as `--set topology.rate=5Mbps`, has an effect in one experiment at least; notes those in
    /// which it has none, because their factors set the same.
    ///
    /// # Errors
    /// When an argument has no effect.
    pub fn check_arguments(&mut self) -> Result<()> {
        let idle = std::mem::take(&mut self.idle);
        for (experiment, text) in &idle {
            let without = |info: &ExperimentInfo| idle.contains(&(info.name.clone(), text.clone()));
            if self.experiments.iter().all(without) {
                let problem = "it has no effect: in every experiment, a factor sets this value for each point";
                return Err(LabError::new(LabErrorKind::Contradiction, problem)
                    .in_file(text)
                    .remedy("change the factor's values in the file, or run a single point: sojourn run FILE --set ..."));
            }
            self.add_notes(&[format!(
                "{text} has no effect in experiment {experiment:?}, where a factor sets the same value"
            )]);
        }
        Ok(())
    }

    /// Leaves out all experiments but these, with their points, tables and figures; none named keeps all.
    ///
    /// # Errors
    /// When there is no experiment of a name.
    pub fn keep_only(&mut self, names: &[String]) -> Result<()> {
        if names.is_empty() {
            return Ok(());
        }
        for given in names {
            let known = || {
                self.experiments
                    .iter()
                    .map(|experiment| experiment.name.as_str())
            };
            if !known().any(|name| name == given) {
                let error = LabError::new(LabErrorKind::UnknownName, "").in_file("--only");
                return Err(unknown(&error, "experiment", given, known()));
            }
        }
        let keeps = |name: &String| names.contains(name);
        self.experiments
            .retain(|experiment| keeps(&experiment.name));
        self.points.retain(|point| keeps(&point.experiment));
        self.idle.retain(|(experiment, _)| keeps(experiment));
        self.tables.retain(|table| keeps(&table.experiment));
        self.figures.retain(|figure| keeps(&figure.experiment));
        self.published
            .retain(|value| value.experiment.as_ref().is_none_or(keeps));
        let all = self.allowances.iter().cloned();
        let all = all.filter(|own| own.experiment.as_ref().is_none_or(keeps));
        // Whether one for every experiment is needed cannot be seen in some.
        let without_line = |own: Allowance| Allowance {
            line: own.line.filter(|_| own.experiment.is_some()),
            ..own
        };
        self.allowances = all.map(without_line).collect();
        self.keep_answer();
        Ok(())
    }

    /// The study of one scenario.
    pub fn single(scenario: &Scenario) -> Study {
        Study::comparison(scenario, &[])
    }

    /// The study that compares queues at the bottleneck of one scenario; without queues, the scenario as it is.
    pub fn comparison(scenario: &Scenario, queues: &[Spec]) -> Study {
        use sojourn_scenario::model::Topology;
        let labels = queue_labels(queues);
        let points = match queues {
            [] => vec![Point::of_scenario(
                "",
                BTreeMap::new(),
                Arc::new(scenario.clone()),
            )],
            queues => queues
                .iter()
                .zip(&labels)
                .map(|(queue, label)| {
                    let mut scenario = scenario.clone();
                    match &mut scenario.topology {
                        Topology::Dumbbell(params) => params.queue = queue.clone(),
                        Topology::ParkingLot(params) => params.queue = queue.clone(),
                        Topology::Chain(params) => params.queue = queue.clone(),
                        Topology::Graph(links) => {
                            for link in links {
                                link.queue = queue.clone();
                            }
                        }
                    }
                    let levels = BTreeMap::from([(QUEUE.to_owned(), label.clone())]);
                    Point::of_scenario("", levels, Arc::new(scenario))
                })
                .collect(),
        };
        let factors = match queues {
            [] => Vec::new(),
            _ => vec![FactorInfo {
                name: QUEUE.to_owned(),
                title: "Queue".to_owned(),
                unit: None,
                compare: true,
                labels: labels.clone(),
            }],
        };
        let title = match labels.as_slice() {
            [] => scenario.name.clone(),
            labels => labels.join(" against "),
        };
        Study {
            name: scenario.name.clone(),
            title: title.clone(),
            question: None,
            answer: AnswerSpec::default(),
            description: None,
            paper: None,
            experiments: vec![ExperimentInfo {
                name: String::new(),
                title,
                factors,
                sampling: None,
            }],
            points,
            tables: Vec::new(),
            figures: Vec::new(),
            published: Vec::new(),
            equivalent_within: None,
            notes: Vec::new(),
            allowances: Vec::new(),
            idle: Vec::new(),
            facts: BTreeMap::new(),
            limits: LimitParams::default(),
            design: None,
        }
    }

    /// What it needs.
    ///
    /// # Errors
    /// As [`Point::scenario`].
    pub fn needs(&self) -> Result<Needs> {
        let mut needs = Needs::default();
        for experiment in &self.experiments {
            match self.facts.get(&experiment.name) {
                Some(facts) => needs.add(&facts.needs),
                None => {
                    for point in &self.points {
                        needs.add(&Needs::of(&*point.scenario()?));
                    }
                }
            }
        }
        Ok(needs)
    }

    /// Refuses more points than are allowed, before they are made; says how many there are.
    fn check_points(&self, experiments: &[Experiment], document: &Document) -> Result<u64> {
        let sizes = || experiments.iter().map(|experiment| experiment.size());
        let total = sizes().try_fold(0_u64, |sum, size| sum.checked_add(size?));
        let total = total.unwrap_or(u64::MAX);
        needs::check_points(&self.limits, total).map_err(|error| {
            let largest = (0_usize..)
                .zip(sizes())
                .max_by_key(|(_, size)| size.unwrap_or(u64::MAX));
            let index = largest.map_or(0, |(index, _)| index);
            document.locate(error.key(format!("experiment[{index}].factor")))
        })?;
        Ok(total)
    }

    /// Its points.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// How often a point runs.
    ///
    /// # Errors
    /// As [`Point::scenario`].
    pub fn replications(point: &Point) -> Result<u64> {
        Ok(point.scenario()?.run.runs())
    }

    /// What a result directory says of the study; `command` repeats it.
    ///
    /// # Errors
    /// When a scenario cannot be compiled.
    pub fn manifest(&self, command: &str) -> Result<Manifest> {
        let mut gathering = Gathering::default();
        for facts in self
            .experiments
            .iter()
            .filter_map(|e| self.facts.get(&e.name))
        {
            for algorithm in &facts.algorithms {
                gathering.add(algorithm.clone());
            }
        }
        for point in &self.points {
            if !self.facts.contains_key(&point.experiment) {
                let scenario = point.scenario()?;
                let compiled = compile(&scenario.resolve()?, 0)?;
                add_algorithms(
                    &mut |algorithm| gathering.add(algorithm),
                    &scenario,
                    &compiled,
                );
            }
        }
        let algorithms = gathering.facts().algorithms;
        let numbered: Vec<(u64, &Point)> = (0..).zip(&self.points).collect();
        let points = in_chunks(&numbered, |part| {
            part.iter()
                .map(|(number, point)| point.info(*number))
                .collect()
        })?;
        Ok(Manifest {
            schema_version: SCHEMA_VERSION,
            sojourn: VERSION.to_owned(),
            name: self.name.clone(),
            title: self.title.clone(),
            question: self.question.clone(),
            answer: self.answer.clone(),
            description: self.description.clone(),
            paper: self.paper.clone(),
            command: command.to_owned(),
            experiments: self.experiments.clone(),
            points,
            algorithms,
            tables: self.tables.clone(),
            figures: self.figures.clone(),
            equivalent_within: self.equivalent_within,
            published: self.published.clone(),
            allowances: self.allowances.clone(),
            notes: Vec::new(),
            design: self.design.clone(),
            checksum: None,
        })
    }

    /// Whether a point may leave its warm-up or its number of runs to Sojourn. Nothing is known of points of a manifest.
    fn may_ask(&self) -> bool {
        let of = |point: &Point| self.facts.get(&point.experiment);
        self.points
            .iter()
            .any(|point| of(point).is_none_or(|facts| facts.asks))
    }

    fn add_notes(&mut self, notes: &[String]) {
        for note in notes {
            if !self.notes.contains(note) {
                self.notes.push(note.clone());
            }
        }
    }

    fn describe(
        &mut self,
        title: Option<String>,
        description: Option<String>,
        name: &str,
        scenario_title: Option<String>,
        scenario_description: Option<String>,
    ) {
        name.clone_into(&mut self.name);
        self.title = title.or(scenario_title).unwrap_or_else(|| name.to_owned());
        self.description = description.or(scenario_description);
    }

    /// What can be recorded in the points of an experiment; nothing unless a figure shows that.
    fn recordable(&self, experiment: &str) -> Option<&Recordable> {
        Some(&self.facts.get(experiment)?.recordable)
    }

    /// What metrics of an experiment can be of: the names in any of its points, since a factor may replace the flows.
    pub fn names(&self, experiment: &str) -> &Names {
        static NONE: Names = Names::NONE;
        self.facts
            .get(experiment)
            .map_or(&NONE, |facts| &facts.names)
    }
}

/// Whether a figure of a study shows time series or transfers.
fn draws_series(document: &Document) -> Result<bool> {
    let figures = document.root().tables("figure")?;
    Ok(figures.iter().any(|figure| {
        let kind = figure.get("kind").and_then(|kind| kind.scalar().ok());
        kind.is_some_and(|kind| ["time", "cdf", "sizes"].contains(&kind.as_str()))
    }))
}

/// Name of the factor of a comparison of queues.
const QUEUE: &str = "queue";
