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
mod execute;
mod keys;
mod points;
mod published;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use sojourn_report::{ID_RULE, is_id};
use sojourn_results::asked::{Asked, Names};
use sojourn_results::manifest::{
    ExperimentInfo, FactorInfo, Manifest, PointInfo, SCHEMA_VERSION, ScenarioText, VERSION,
};
use sojourn_results::size_statistics;
use sojourn_results::specs::{FigureSpec, Published, TableSpec, id};
use sojourn_run::compile::compile;
use sojourn_run::needs::{self, Needs};
use sojourn_scenario::document::{Document, Extra, TableRef, Value, ValueRef, read_text};
use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use sojourn_scenario::model::{LimitParams, Scenario};
use sojourn_units::{Spec, nearest};

pub use execute::{Executed, Failure, Options, Progress, Shard, execute};
pub use keys::{
    AxisScale, ExperimentParams, FactorParams, FigureKind, FigureParams, STUDY_KEYS, StudyParams,
    TableParams, tables,
};
pub use points::Point;

use algorithms::add_algorithms;
use points::{Edit, Experiment, Facts, Files, Gathering, Levels};

/// The longest name of an experiment: with what tables and figures add to it, it is still an id.
const MOST_LETTERS: usize = 64;

/// What a figure of kind cdf can be the distribution of.
const DISTRIBUTIONS: [&str; 5] = ["sojourn_s", "delay_s", "fct_s", "slowdown", "page_load_s"];

/// A study, read and checked.
#[derive(Clone, Debug)]
pub struct Study {
    /// Its name.
    pub name: String,
    /// Heading of the report.
    pub title: String,
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
    /// What the user should know, such as a dialect that fell back.
    pub notes: Vec<String>,
    /// Experiments and the arguments that have no effect in them.
    idle: Vec<(String, String)>,
    /// What is known of the points of each experiment, by its name.
    facts: BTreeMap<String, Facts>,
    /// How much it may ask for.
    pub limits: LimitParams,
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
            Some(table) => table.params(Extra::default())?,
            None => StudyParams::default(),
        };
        let experiments = experiments(&root)?;
        let mut study = Study {
            name: String::new(),
            title: String::new(),
            description: None,
            paper: about.paper,
            experiments: Vec::new(),
            points: Vec::new(),
            tables: Vec::new(),
            figures: Vec::new(),
            published: Vec::new(),
            notes: Vec::new(),
            idle: Vec::new(),
            facts: BTreeMap::new(),
            limits: match root.table("limits")? {
                Some(table) => table.params(Extra::default())?,
                None => LimitParams::default(),
            },
        };
        if experiments.is_empty() {
            let base = Scenario::read_with_files(document, &STUDY_KEYS, read)?;
            let mut gathering = Gathering::default();
            gathering.take(&base, document)?;
            study.facts.insert(String::new(), gathering.facts());
            study.add_notes(&base.notes);
            study.describe(
                about.title,
                about.description,
                &base.scenario.name,
                base.title,
                base.description,
            );
            study.experiments.push(ExperimentInfo {
                name: String::new(),
                title: study.title.clone(),
                factors: Vec::new(),
            });
            let scenario = Arc::new(base.scenario);
            study.points = vec![Point::of_scenario("", BTreeMap::new(), scenario)];
        } else {
            let files = Arc::new(Files::default());
            let mut named = None;
            let total = study.check_points(&experiments, document)?;
            let mut needs = Needs::default();
            for experiment in &experiments {
                let name = &experiment.info.name;
                let mut gathering = Gathering::default();
                let mut seen = BTreeSet::new();
                let mut idle: Option<Vec<String>> = None;
                for point in experiment.points(document, &files)? {
                    let document = point.document()?;
                    let reading = files.reading(&document, read)?;
                    let own = gathering.take(&reading, &document)?;
                    needs.add(&own);
                    // A study in a directory needs less; whether it has one is not known here.
                    if needs.check(&study.limits, true).is_err() {
                        // Most often the points ahead need as much.
                        needs.add(&own.times(total.saturating_sub(needs.points)));
                        let checked = needs.check(&study.limits, true);
                        checked.map_err(|error| document.locate(error))?;
                    }
                    for note in &reading.notes {
                        if seen.insert(note.clone()) {
                            study.add_notes(std::slice::from_ref(note));
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
                    named.get_or_insert((
                        reading.scenario.name,
                        reading.title,
                        reading.description,
                    ));
                    study.points.push(point);
                }
                let idle = idle.into_iter().flatten();
                study.idle.extend(idle.map(|text| (name.clone(), text)));
                study.facts.insert(name.clone(), gathering.facts());
                study.experiments.push(experiment.info.clone());
            }
            // Every experiment has a point.
            if let Some((name, title, description)) = named {
                study.describe(about.title, about.description, &name, title, description);
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
        if let (Some(file), Some(table)) = (&about.published, root.table("study")?) {
            let path = Path::new(document.file()).with_file_name(file);
            let known = published::Known {
                experiments: &study.experiments,
                names: &|experiment| study.names(experiment),
            };
            study.published = published::read(&path, read, known).map_err(|error| {
                match error.kind() == LabErrorKind::Io {
                    true => table.error_on("published", LabErrorKind::Io, error.to_string()),
                    false => error,
                }
            })?;
        }
        Ok(study)
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
                let problem = "the factors of every experiment set that themselves, point by point";
                return Err(LabError::new(LabErrorKind::Contradiction, problem)
                    .in_file(text)
                    .remedy("change the values of the factor in the file, or run one point of it: sojourn run FILE --set ..."));
            }
            self.add_notes(&[format!(
                "{text} has no effect in experiment {experiment:?}: a factor sets the same there"
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
            description: None,
            paper: None,
            experiments: vec![ExperimentInfo {
                name: String::new(),
                title,
                factors,
            }],
            points,
            tables: Vec::new(),
            figures: Vec::new(),
            published: Vec::new(),
            notes: Vec::new(),
            idle: Vec::new(),
            facts: BTreeMap::new(),
            limits: LimitParams::default(),
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
        let mut points = Vec::with_capacity(self.points.len());
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
        for (point, number) in self.points.iter().zip(0..) {
            let scenario = point.scenario()?;
            let resolved = scenario.resolve()?;
            if !self.facts.contains_key(&point.experiment) {
                let compiled = compile(&resolved, 0)?;
                add_algorithms(
                    &mut |algorithm| gathering.add(algorithm),
                    &scenario,
                    &compiled,
                );
            }
            points.push(PointInfo {
                point: number,
                experiment: point.experiment.clone(),
                levels: point.levels.clone(),
                seed: scenario.run.seed,
                replications: scenario.run.runs(),
                deterministic: scenario.run.deterministic,
                scenario: ScenarioText::new(&resolved.to_document().to_json()),
            });
        }
        let algorithms = gathering.facts().algorithms;
        Ok(Manifest {
            schema_version: SCHEMA_VERSION,
            sojourn: VERSION.to_owned(),
            name: self.name.clone(),
            title: self.title.clone(),
            description: self.description.clone(),
            paper: self.paper.clone(),
            command: command.to_owned(),
            experiments: self.experiments.clone(),
            points,
            algorithms,
            tables: self.tables.clone(),
            figures: self.figures.clone(),
            published: self.published.clone(),
            notes: Vec::new(),
            checksum: None,
        })
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

    /// The experiment that a table or figure is of: the one it names, or the first.
    fn experiment_of(&self, table: &TableRef<'_>, name: Option<&str>) -> Result<&ExperimentInfo> {
        let Some(name) = name else {
            return Ok(&self.experiments[0]);
        };
        let names = || {
            self.experiments
                .iter()
                .map(|experiment| experiment.name.as_str())
        };
        let found = self
            .experiments
            .iter()
            .find(|experiment| experiment.name == name);
        found.ok_or_else(|| {
            unknown(
                &table.error_on("experiment", LabErrorKind::UnknownName, ""),
                "experiment",
                name,
                names(),
            )
        })
    }

    fn table(&self, table: &TableRef<'_>) -> Result<TableSpec> {
        let params: TableParams = table.params(Extra {
            keys: &["rows", "columns", "metrics", "where"],
            dialect: None,
        })?;
        check_id(table, &params.id)?;
        let experiment = self.experiment_of(table, params.experiment.as_deref())?;
        let only = only(table, experiment)?;
        let columns = factor_list(table, "columns", experiment)?.unwrap_or_default();
        let rows = match factor_list(table, "rows", experiment)? {
            Some(rows) => rows,
            None => free_factors(experiment, &columns, &only),
        };
        let taken: Vec<String> = rows.iter().chain(&columns).cloned().collect();
        if let Some(name) = free_factors(experiment, &taken, &only).first() {
            return Err(table
                .error(
                    LabErrorKind::MissingKey,
                    format!("the factor {name:?} is neither in rows nor in columns"),
                )
                .remedy(format!(
                    "add it to one of them, or choose a level: where = {{ {name} = \"...\" }}"
                )));
        }
        if let Some(name) = rows.iter().find(|name| columns.contains(name)) {
            return Err(table
                .error_on(
                    "columns",
                    LabErrorKind::Contradiction,
                    format!("the factor {name:?} is in rows and in columns"),
                )
                .remedy("keep one of them"));
        }
        let metrics = text_list(table, "metrics")?.ok_or_else(|| {
            table.missing(
                "metrics",
                "list what to show, such as metrics = [\"sojourn_s_p95\"]",
            )
        })?;
        let names = self.names(&experiment.name);
        let mut asked = Vec::new();
        for (text, value) in metrics {
            Asked::parse(&text, params.of.as_deref(), names)
                .map_err(|error| value.error(error.kind(), "").with_text_of(&error))?;
            asked.push(text);
        }
        Ok(TableSpec {
            id: params.id,
            title: params.title.unwrap_or_else(|| experiment.title.clone()),
            caption: params.caption,
            experiment: experiment.name.clone(),
            rows,
            columns,
            metrics: asked,
            of: params.of,
            only,
            published: params.published,
            exact: params.exact,
        })
    }

    fn figure(&self, table: &TableRef<'_>) -> Result<FigureSpec> {
        let params: FigureParams = table.params(Extra {
            keys: &["where"],
            dialect: None,
        })?;
        check_id(table, &params.id)?;
        let experiment = self.experiment_of(table, params.experiment.as_deref())?;
        let only = only(table, experiment)?;
        let factor = |key: &str, name: &Option<String>| match name {
            Some(name) => known_factor(experiment, name)
                .map_err(|error| table.error_on(key, error.kind(), "").with_text_of(&error)),
            None => Ok(()),
        };
        factor("series", &params.series)?;
        factor("facet", &params.facet)?;
        let names = self.names(&experiment.name);
        let metric = |key: &str, name: &Option<String>| match name {
            Some(name) => Asked::parse(name, params.of.as_deref(), names)
                .map(|_| ())
                .map_err(|error| table.error_on(key, error.kind(), "").with_text_of(&error)),
            None => Ok(()),
        };
        let required = |key: &str, name: &Option<String>, remedy: &str| match name {
            Some(_) => Ok(()),
            None => Err(table.missing(key, remedy)),
        };
        let mut series = params.series.clone();
        let mut x = params.x.clone();
        let mut y = params.y.clone();
        let compared = experiment.factors.iter().find(|factor| factor.compare);
        if series.is_none()
            && let Some(compared) = compared
            && x.as_ref() != Some(&compared.name)
            && params.facet.as_ref() != Some(&compared.name)
            && !only.contains_key(&compared.name)
        {
            series = Some(compared.name.clone());
        }
        match params.kind {
            FigureKind::Bars | FigureKind::Points | FigureKind::Lines => {
                y.get_or_insert_with(|| "sojourn_s_mean".to_owned());
                metric("y", &y)?;
            }
            FigureKind::Range => {
                let remedy = "name the metrics at both ends, such as y_low = \"sojourn_s_p05\", y_high = \"sojourn_s_p95\"";
                required("y_low", &params.y_low, remedy)?;
                required("y_high", &params.y_high, remedy)?;
                metric("y", &y)?;
                metric("y_low", &params.y_low)?;
                metric("y_high", &params.y_high)?;
            }
            FigureKind::Cdf => {
                let y = y.get_or_insert_with(|| "sojourn_s".to_owned());
                if !DISTRIBUTIONS.contains(&y.as_str()) {
                    return Err(unknown(
                        &table.error_on("y", LabErrorKind::UnknownName, ""),
                        "distribution",
                        y,
                        DISTRIBUTIONS.into_iter(),
                    ));
                }
                let stand_in = format!("{y}_mean");
                metric("of", &Some(stand_in))?;
            }
            FigureKind::Sizes => {
                let y = y.get_or_insert_with(|| "slowdown_p99".to_owned());
                if !size_statistics::statistics().any(|name| name == y) {
                    return Err(unknown(
                        &table.error_on("y", LabErrorKind::UnknownName, ""),
                        "statistic by size",
                        y,
                        size_statistics::statistics(),
                    ));
                }
            }
            FigureKind::Time => required(
                "y",
                &y,
                "name what was recorded, such as y = \"backlog_packets\", and record it: [series] record = \"backlog\"",
            )?,
            FigureKind::Scatter | FigureKind::Ellipse => {
                required("x", &x, "name a metric, such as x = \"sojourn_s_mean\"")?;
                required("y", &y, "name a metric, such as y = \"utilization_ratio\"")?;
                metric("x", &x)?;
                metric("y", &y)?;
            }
        }
        let over_factor = matches!(
            params.kind,
            FigureKind::Bars | FigureKind::Points | FigureKind::Lines | FigureKind::Range
        );
        if over_factor {
            factor("x", &x)?;
            let taken: Vec<String> = [&series, &params.facet]
                .into_iter()
                .filter_map(Clone::clone)
                .collect();
            if x.is_none() {
                x = free_factors(experiment, &taken, &only)
                    .into_iter()
                    .next()
                    .or_else(|| series.clone());
            }
            let mut taken = taken;
            taken.extend(x.clone());
            if let Some(name) = free_factors(experiment, &taken, &only).first() {
                return Err(unused_factor(table, name, "x, series nor facet"));
            }
            numeric_labels(table, experiment, x.as_deref(), params.x_scale)?;
        }
        // Points of different levels would be one line, or one bar.
        let of_one_point = matches!(
            params.kind,
            FigureKind::Cdf | FigureKind::Sizes | FigureKind::Time
        );
        if of_one_point {
            let taken: Vec<String> = [&series, &params.facet]
                .into_iter()
                .filter_map(Clone::clone)
                .collect();
            if let Some(name) = free_factors(experiment, &taken, &only).first() {
                return Err(unused_factor(table, name, "series nor facet"));
            }
        }
        if params.y_scale == AxisScale::Category {
            return Err(table
                .error_on(
                    "y_scale",
                    LabErrorKind::BadValue,
                    "the y axis has numbers, not categories",
                )
                .remedy("write linear or log"));
        }
        // The report would refuse it, but only when the runs are done.
        if params.kind == FigureKind::Bars && params.y_scale == AxisScale::Log {
            return Err(table
                .error_on(
                    "y_scale",
                    LabErrorKind::Contradiction,
                    "bars start at zero, which a logarithmic axis does not have",
                )
                .remedy("write kind = \"points\", or a linear axis"));
        }
        let title = params.title.clone().unwrap_or_else(|| {
            let shown = y
                .as_deref()
                .or(params.y_high.as_deref())
                .unwrap_or_default();
            match Asked::parse(shown, params.of.as_deref(), names) {
                Ok(asked) => asked.title(),
                Err(_) => shown.to_owned(),
            }
        });
        Ok(FigureSpec {
            id: params.id,
            title,
            caption: params.caption,
            kind: params.kind.name().to_owned(),
            experiment: experiment.name.clone(),
            x,
            y,
            y_low: params.y_low,
            y_high: params.y_high,
            series,
            facet: params.facet,
            of: params.of,
            only,
            published: params.published,
            x_scale: params.x_scale.name().to_owned(),
            y_scale: params.y_scale.name().to_owned(),
        })
    }

    /// What metrics of an experiment can be of: the names in any of its points, since a factor may replace the flows.
    pub fn names(&self, experiment: &str) -> &Names {
        static NONE: Names = Names::NONE;
        self.facts
            .get(experiment)
            .map_or(&NONE, |facts| &facts.names)
    }
}

/// Name of the factor of a comparison of queues.
const QUEUE: &str = "queue";

fn experiments(root: &TableRef<'_>) -> Result<Vec<Experiment>> {
    let mut all: Vec<Experiment> = Vec::new();
    for table in root.tables("experiment")? {
        let params: ExperimentParams = table.params(Extra {
            keys: &["set", "factor"],
            dialect: None,
        })?;
        let name = table
            .required_text("name", "name it, such as name = \"bandwidth\"")?
            .to_owned();
        let names = || all.iter().map(|other| other.info.name.as_str());
        if names().any(|other| other == name) {
            let problem = format!("there is another experiment {name:?}");
            return Err(table
                .error_on("name", LabErrorKind::Contradiction, problem)
                .remedy("give each experiment its own name"));
        }
        if name.chars().count() > MOST_LETTERS {
            let problem = format!("{name:?} is too long: it is part of names of files");
            return Err(table
                .error_on("name", LabErrorKind::BadValue, problem)
                .remedy(format!(
                    "write at most {MOST_LETTERS} letters; what readers see goes into title"
                )));
        }
        let of_files = |name: &str| id(&[name]);
        if let Some(other) = names().find(|other| of_files(other) == of_files(&name)) {
            let problem = format!("{name:?} and {other:?} give files of the same names");
            return Err(table
                .error_on("name", LabErrorKind::Contradiction, problem)
                .remedy("let them differ in letters a to z, or digits"));
        }
        let mut experiment = match &params.extends {
            None => Experiment {
                info: ExperimentInfo {
                    name: String::new(),
                    title: String::new(),
                    factors: Vec::new(),
                },
                edits: Vec::new(),
                levels: Vec::new(),
            },
            Some(base) => {
                let found = all.iter().find(|other| other.info.name == *base);
                found.cloned().ok_or_else(|| {
                    let error = table.error_on("extends", LabErrorKind::UnknownName, "");
                    unknown(&error, "experiment above this one", base, names())
                })?
            }
        };
        experiment.info.title = params.title.unwrap_or_else(|| name.clone());
        experiment.info.name = name;
        if let Some(set) = table.get("set") {
            experiment.edits.extend(edits(&set)?);
        }
        for factor in table.tables("factor")? {
            let (info, levels) = self::factor(&factor)?;
            let position = experiment
                .info
                .factors
                .iter()
                .position(|other| other.name == info.name);
            match position {
                Some(position) if params.extends.is_some() => {
                    experiment.info.factors[position] = info;
                    experiment.levels[position] = Arc::new(levels);
                }
                Some(_) => {
                    let problem = format!("there is another factor {:?}", info.name);
                    return Err(factor
                        .error_on("name", LabErrorKind::Contradiction, problem)
                        .remedy("give each factor its own name"));
                }
                None => {
                    experiment.info.factors.push(info);
                    experiment.levels.push(Arc::new(levels));
                }
            }
        }
        all.push(experiment);
    }
    Ok(all)
}

fn factor(table: &TableRef<'_>) -> Result<(FactorInfo, Levels)> {
    let params: FactorParams = table.params(Extra {
        keys: &["values", "labels"],
        dialect: None,
    })?;
    let name = table.required_text("name", "name it, such as name = \"queue\"")?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(plain) {
        return Err(table
            .error_on(
                "name",
                LabErrorKind::BadValue,
                format!("{name:?} cannot be the name of a factor"),
            )
            .remedy(
                "write a letter, then letters, digits and _; what readers see goes into title",
            ));
    }
    let values = table.get("values").ok_or_else(|| {
        table.missing(
            "values",
            "list its levels, such as values = [\"codel\", \"drr\"]",
        )
    })?;
    let list = values.list("values = [\"codel\", \"drr\"]")?;
    if list.is_empty() {
        return Err(values
            .error(
                LabErrorKind::BadValue,
                "a factor without values has no points",
            )
            .remedy("give one value or more"));
    }
    let mut labels = Vec::new();
    let mut levels = Vec::new();
    for value in &list {
        let (label, edits) = match &params.path {
            Some(paths) => {
                let node = Arc::new(value.node().clone());
                let edit = |path: &str| Edit::new(path.trim(), Arc::clone(&node));
                (label_of(value)?, paths.split(',').map(edit).collect())
            }
            None => {
                let shape = "{ label = \"small\", set = { \"topology.buffer\" = \"20p\" } }, or give the factor a path";
                let level = value.table(shape)?;
                level.only(&["label", "set"])?;
                let label =
                    level.required_text("label", "name the level, such as label = \"small\"")?;
                let set = level
                    .get("set")
                    .ok_or_else(|| level.missing("set", &format!("write {shape}")))?;
                (label.to_owned(), edits(&set)?)
            }
        };
        labels.push(label);
        levels.push(edits);
    }
    if let Some(given) = text_list(table, "labels")? {
        if given.len() != levels.len() {
            let problem = format!("{} labels for {} values", given.len(), levels.len());
            return Err(table
                .error_on("labels", LabErrorKind::Contradiction, problem)
                .remedy("give one label per value"));
        }
        labels = given.into_iter().map(|(label, _)| label).collect();
    } else if params.path.is_some() {
        labels = titled(&list, labels);
        if let Some(unit) = &params.unit {
            labels = labels
                .iter()
                .map(|label| without_unit(label, unit))
                .collect();
        }
    }
    let mut known = BTreeSet::new();
    for label in &labels {
        if !known.insert(label) {
            return Err(values
                .error(
                    LabErrorKind::Contradiction,
                    format!("two levels are called {label:?}"),
                )
                .remedy("tell them apart with labels = [...]"));
        }
    }
    let info = FactorInfo {
        name: name.to_owned(),
        title: params.title.unwrap_or_else(|| capitalized(name)),
        unit: params.unit,
        compare: params.compare,
        labels,
    };
    Ok((info, levels))
}

/// What a table of paths and values sets. Paths may also be written as tables in tables.
fn edits(set: &ValueRef<'_>) -> Result<Vec<Edit>> {
    let table = set.table("set = { \"topology.rate\" = \"2Mbps\" }")?;
    let mut all = Vec::new();
    for (key, value) in table.values() {
        match &value.node().value {
            Value::Table(inner) if ["run", "topology", "wire", "series"].contains(&key) => {
                all.extend(inner.entries().iter().map(|entry| {
                    let path = format!("{key}.{}", entry.key);
                    Edit::new(&path, Arc::new(entry.node.clone()))
                }));
            }
            _ => all.push(Edit::new(key, Arc::new(value.node().clone()))),
        }
    }
    Ok(all)
}

fn label_of(value: &ValueRef<'_>) -> Result<String> {
    match &value.node().value {
        Value::Table(_) => Ok(value.spec()?.to_string()),
        _ => value.scalar(),
    }
}

/// Titles of queues in place of their specifications, where all values are queues and their titles differ.
fn titled(values: &[ValueRef<'_>], labels: Vec<String>) -> Vec<String> {
    let specs: Option<Vec<Spec>> = values.iter().map(|value| value.spec().ok()).collect();
    match specs {
        Some(specs) => queue_labels(&specs),
        None => labels,
    }
}

/// How queues are called: by the titles of their disciplines if these tell them apart, else by their specifications.
fn queue_labels(queues: &[Spec]) -> Vec<String> {
    let titles: Option<Vec<String>> = queues
        .iter()
        .map(|queue| sojourn_queue::registry::find(&queue.name).ok())
        .map(|entry| entry.map(|entry| entry.title.to_owned()))
        .collect();
    let distinct =
        |titles: &Vec<String>| titles.iter().collect::<BTreeSet<_>>().len() == titles.len();
    titles
        .filter(distinct)
        .unwrap_or_else(|| queues.iter().map(Spec::to_string).collect())
}

fn without_unit(label: &str, unit: &str) -> String {
    label
        .strip_suffix(unit)
        .map_or(label, str::trim_end)
        .to_owned()
}

fn capitalized(name: &str) -> String {
    let words = name.replace('_', " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

fn check_id(table: &TableRef<'_>, id: &str) -> Result<()> {
    table.required_text("id", "name its files, such as id = \"delay\"")?;
    match is_id(id) {
        true => Ok(()),
        false => Err(table
            .error_on(
                "id",
                LabErrorKind::BadValue,
                format!("{id:?} cannot name files"),
            )
            .remedy(format!("write {ID_RULE}"))),
    }
}

fn unique_ids<'a>(
    root: &TableRef<'_>,
    key: &str,
    ids: impl Iterator<Item = &'a String>,
) -> Result<()> {
    let mut seen: Vec<&String> = Vec::new();
    for (id, table) in ids.zip(root.tables(key)?) {
        if seen.contains(&id) {
            return Err(table
                .error_on(
                    "id",
                    LabErrorKind::Contradiction,
                    format!("there is another {key} {id:?}"),
                )
                .remedy("give each its own id"));
        }
        seen.push(id);
    }
    Ok(())
}

/// The levels to which a table or figure is narrowed.
fn only(table: &TableRef<'_>, experiment: &ExperimentInfo) -> Result<BTreeMap<String, String>> {
    let mut chosen = BTreeMap::new();
    let Some(only) = table.table("where")? else {
        return Ok(chosen);
    };
    for (name, value) in only.values() {
        known_factor(experiment, name)
            .map_err(|error| value.error(error.kind(), "").with_text_of(&error))?;
        let label = value.scalar()?;
        let factor = experiment.factors.iter().find(|factor| factor.name == name);
        let labels = || {
            factor
                .into_iter()
                .flat_map(|factor| factor.labels.iter().map(String::as_str))
        };
        if !labels().any(|known| known == label) {
            return Err(unknown(
                &value.error(LabErrorKind::UnknownName, ""),
                "level",
                &label,
                labels(),
            ));
        }
        chosen.insert(name.to_owned(), label);
    }
    Ok(chosen)
}

fn factor_list(
    table: &TableRef<'_>,
    key: &str,
    experiment: &ExperimentInfo,
) -> Result<Option<Vec<String>>> {
    let Some(list) = text_list(table, key)? else {
        return Ok(None);
    };
    let mut names = Vec::new();
    for (name, value) in list {
        known_factor(experiment, &name)
            .map_err(|error| value.error(error.kind(), "").with_text_of(&error))?;
        names.push(name);
    }
    Ok(Some(names))
}

fn known_factor(experiment: &ExperimentInfo, name: &str) -> Result<()> {
    let names = || experiment.factors.iter().map(|factor| factor.name.as_str());
    match names().any(|known| known == name) {
        true => Ok(()),
        false => Err(unknown(
            &LabError::new(LabErrorKind::UnknownName, ""),
            "factor",
            name,
            names(),
        )),
    }
}

/// Factors that are neither taken nor narrowed to a level.
/// The error for a factor whose levels a figure would show as one.
fn unused_factor(table: &TableRef<'_>, name: &str, places: &str) -> LabError {
    table
        .error(
            LabErrorKind::MissingKey,
            format!("the factor {name:?} is neither {places}"),
        )
        .remedy(format!(
            "use it, or choose a level: where = {{ {name} = \"...\" }}"
        ))
}

fn free_factors(
    experiment: &ExperimentInfo,
    taken: &[String],
    only: &BTreeMap<String, String>,
) -> Vec<String> {
    let names = experiment.factors.iter().map(|factor| &factor.name);
    let free = names.filter(|name| !taken.contains(name) && !only.contains_key(*name));
    free.cloned().collect()
}

fn numeric_labels(
    table: &TableRef<'_>,
    experiment: &ExperimentInfo,
    x: Option<&str>,
    scale: AxisScale,
) -> Result<()> {
    let factor = experiment
        .factors
        .iter()
        .find(|factor| Some(factor.name.as_str()) == x);
    let (Some(factor), false) = (factor, scale == AxisScale::Category) else {
        return Ok(());
    };
    match factor
        .labels
        .iter()
        .find(|label| label.parse::<f64>().is_err())
    {
        None => Ok(()),
        Some(label) => Err(table
            .error_on(
                "x_scale",
                LabErrorKind::Contradiction,
                format!("the level {label:?} of {:?} is not a number", factor.name),
            )
            .remedy("give the factor a unit, or labels that are numbers, or leave x_scale out")),
    }
}

fn text_list<'a>(table: &TableRef<'a>, key: &str) -> Result<Option<Vec<(String, ValueRef<'a>)>>> {
    let Some(value) = table.get(key) else {
        return Ok(None);
    };
    let list = value.list(&format!("{key} = [\"...\"]"))?;
    let texts: Result<Vec<_>> = list
        .into_iter()
        .map(|value| Ok((value.scalar()?, value)))
        .collect();
    texts.map(Some)
}

/// The error of a name that means nothing, at the place of `error`.
fn unknown<'a>(
    error: &LabError,
    what: &str,
    given: &str,
    names: impl Iterator<Item = &'a str> + Clone,
) -> LabError {
    let list: Vec<&str> = names.clone().collect();
    let text = LabError::new(
        LabErrorKind::UnknownName,
        format!("there is no {what} {given:?}"),
    )
    .nearest(nearest(given, names))
    .allowed("there are", list.join(", "));
    error.clone().with_text_of(&text)
}
