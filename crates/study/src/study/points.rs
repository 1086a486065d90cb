//! The points of a study. They share the document and hold only which levels they are of: the scenario of a point is made
//! when it is asked for, so that a study of many points needs little memory.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use sojourn_report::Algorithm;
use sojourn_results::asked::{JoinedNames, Names};
use sojourn_results::manifest::{CodeInfo, ExperimentInfo, LimitInfo, PointInfo, ScenarioText};
use sojourn_results::specs::TableSpec;
use sojourn_run::compile::compile;
use sojourn_run::host::code_of;
use sojourn_run::needs::Needs;
use sojourn_run::series::Recordable;
use sojourn_scenario::document::{Document, Node};
use sojourn_scenario::error::{Place, Result};
use sojourn_scenario::model::{RunParams, Scenario, Warmup};
use sojourn_scenario::reader::Reading;
use sojourn_scenario::resolved::Resolved;
use sojourn_scenario::{LabError, LabErrorKind};

use super::algorithms::add_algorithms;
use super::keys::{DesignParams, STUDY_KEYS};
use super::sampled::Ranged;

/// For each level of a factor, what it sets.
pub(super) type Levels = Vec<Vec<Edit>>;

/// A value to be set at a path.
#[derive(Clone, Debug)]
pub(crate) struct Edit {
    path: String,
    node: Arc<Node>,
    /// Where the path stands, if not beside the value.
    place: Option<Place>,
}

impl Edit {
    /// The path that it sets.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    pub(super) fn new(path: &str, node: Arc<Node>) -> Edit {
        Edit {
            path: path.to_owned(),
            node,
            place: None,
        }
    }

    /// The value.
    pub(super) fn node(&self) -> &Node {
        &self.node
    }

    /// Sets the value in a document.
    pub(super) fn apply(&self, document: &mut Document) -> Result<()> {
        let set = document.set_node(&self.path, Node::clone(&self.node));
        set.map_err(|error| match &self.place {
            Some(place) => error.at(place),
            None => error,
        })
    }

    /// With the place of the path.
    pub(super) fn with_path_at(self, place: &Place) -> Edit {
        Edit {
            place: Some(place.clone()),
            ..self
        }
    }

    /// The error at the path, where it is about the path rather than the value.
    fn located(&self, error: LabError) -> LabError {
        let of_path = error.kind() == LabErrorKind::UnknownKey && error.path() == self.path;
        match &self.place {
            Some(place) if of_path && error.place() == &self.node.place => error.at(place),
            _ => error,
        }
    }
}

/// An experiment as it is given.
#[derive(Clone)]
pub(super) struct Experiment {
    pub(super) info: ExperimentInfo,
    pub(super) edits: Vec<Edit>,
    /// For each factor.
    pub(super) levels: Vec<Arc<Levels>>,
    /// For each factor, the range that its levels are drawn from, if they are.
    pub(super) ranged: Vec<Option<Ranged>>,
    /// How they are drawn.
    pub(super) design: Option<DesignParams>,
    /// For each sample, the level of each factor with a range, in their order.
    pub(super) samples: Vec<Vec<usize>>,
}

/// A point of a study.
#[derive(Clone, Debug)]
pub struct Point {
    /// Its experiment.
    pub experiment: String,
    /// Its level of each factor.
    pub levels: BTreeMap<String, String>,
    source: Source,
    /// Of a scenario of a manifest, the limits that had been given in time or in bandwidth-delay products.
    limits: Vec<LimitInfo>,
}

#[derive(Clone, Debug)]
enum Source {
    Scenario(Arc<Scenario>),
    Settings {
        base: Arc<Base>,
        /// The index of its level of each factor.
        chosen: Box<[usize]>,
    },
}

/// What the points of an experiment share.
#[derive(Debug)]
struct Base {
    /// The scenario without what points set, and without the tables of the study.
    document: Document,
    levels: Vec<Arc<Levels>>,
    files: Arc<Files>,
}

impl Point {
    /// A point of a scenario that is there already.
    pub(super) fn of_scenario(
        experiment: &str,
        levels: BTreeMap<String, String>,
        scenario: Arc<Scenario>,
    ) -> Point {
        Point {
            experiment: experiment.to_owned(),
            levels,
            source: Source::Scenario(scenario),
            limits: Vec::new(),
        }
    }

    /// The same with limits that a manifest names.
    #[must_use]
    pub(super) fn with_limits(self, limits: Vec<LimitInfo>) -> Point {
        Point { limits, ..self }
    }

    /// Limits that were given in time or in bandwidth-delay products, in this scenario or in the one that it was made from.
    pub(super) fn limits(&self, resolved: &Resolved) -> Vec<LimitInfo> {
        match LimitInfo::of(resolved) {
            limits if limits.is_empty() => self.limits.clone(),
            limits => limits,
        }
    }

    /// What runs. A point of a study file makes it anew each time.
    ///
    /// # Errors
    /// When the scenario cannot be read. All points were read once when the study was, so this is for changed code only.
    pub fn scenario(&self) -> Result<Arc<Scenario>> {
        match &self.source {
            Source::Scenario(scenario) => Ok(Arc::clone(scenario)),
            Source::Settings { base, .. } => {
                let known_only = |_: &Path| Err(io::ErrorKind::NotFound.into());
                let reading = base.files.reading(&self.document()?, &known_only)?;
                Ok(Arc::new(reading.scenario))
            }
        }
    }

    /// What a manifest says of it.
    ///
    /// # Errors
    /// As [`Point::scenario`].
    pub(super) fn info(&self, number: u64) -> Result<PointInfo> {
        let scenario = self.scenario()?;
        let resolved = scenario.resolve()?;
        Ok(PointInfo {
            point: number,
            experiment: self.experiment.clone(),
            levels: self.levels.clone(),
            seed: scenario.run.seed,
            replications: scenario.run.runs(),
            deterministic: scenario.run.deterministic,
            scenario: ScenarioText::new(&resolved.to_document().to_json()),
            limits: self.limits(&resolved),
            code: code_of(&resolved)
                .into_iter()
                .map(|(name, version)| CodeInfo { name, version })
                .collect(),
        })
    }

    /// For each factor of its experiment, the paths that any level of it sets; nothing is known of a scenario alone.
    pub(crate) fn paths(&self) -> Vec<BTreeSet<&str>> {
        let Source::Settings { base, .. } = &self.source else {
            return Vec::new();
        };
        let levels = base.levels.iter();
        levels
            .map(|levels| levels.iter().flatten().map(Edit::path).collect())
            .collect()
    }

    /// The error of reading the point's document, at what is to blame for it: the path of a factor, or an argument.
    pub(super) fn blamed(&self, error: LabError, document: &Document) -> LabError {
        let Source::Settings { base, chosen } = &self.source else {
            return error;
        };
        let edits = base.levels.iter().zip(chosen);
        let edits = edits.flat_map(|(levels, level)| &levels[*level]);
        document.blamed(edits.fold(error, |error, edit| edit.located(error)))
    }

    /// What a changed document of the point says.
    pub(super) fn read_again(&self, document: &Document) -> Result<Reading> {
        let known_only = |_: &Path| Err(io::ErrorKind::NotFound.into());
        let read = match &self.source {
            Source::Scenario(_) => Scenario::read(document, &STUDY_KEYS),
            Source::Settings { base, .. } => base.files.reading(document, &known_only),
        };
        read.map_err(|error| document.blamed(error))
    }

    /// The document of the point.
    pub(crate) fn document(&self) -> Result<Document> {
        match &self.source {
            Source::Scenario(scenario) => Ok(scenario.to_document_as_given()),
            Source::Settings { base, chosen } => {
                let mut document = base.document.clone();
                for (levels, level) in base.levels.iter().zip(chosen) {
                    set_all(&mut document, &levels[*level])?;
                }
                Ok(document)
            }
        }
    }
}

/// An experiment of points that are changed.
pub(crate) struct Placed<'a> {
    /// The experiment.
    pub(crate) experiment: ExperimentInfo,
    /// Its table.
    pub(crate) table: TableSpec,
    /// The point that each is made from, its levels, and its document.
    pub(crate) points: Vec<(&'a Point, BTreeMap<String, String>, Document)>,
}

pub(super) fn set_all(document: &mut Document, edits: &[Edit]) -> Result<()> {
    edits.iter().try_for_each(|edit| edit.apply(document))
}

impl Experiment {
    /// How many points it has; `None` if they are too many to count.
    pub(super) fn size(&self) -> Option<u64> {
        let mut sizes = (0..self.levels.len()).map(|at| u64::try_from(self.digits(at)));
        sizes.try_fold(1_u64, |product, size| product.checked_mul(size.ok()?))
    }

    /// How many steps a factor counts: a list of values its levels. Of factors that are drawn together, the first counts the samples.
    fn digits(&self, at: usize) -> usize {
        match self.ranged[at] {
            None => self.levels[at].len(),
            Some(_) if self.ranged[..at].iter().any(Option::is_some) => 1,
            Some(_) => self.samples.len(),
        }
    }

    /// The level of each factor where they have counted so far.
    fn chosen(&self, steps: &[usize]) -> Vec<usize> {
        let first = self.ranged.iter().position(Option::is_some);
        let mut sample = first.map(|first| self.samples[steps[first]].iter());
        let of = |(ranged, step): (&Option<Ranged>, &usize)| match (ranged, &mut sample) {
            (Some(_), Some(sample)) => sample.next().copied().unwrap_or(0),
            _ => *step,
        };
        self.ranged.iter().zip(steps).map(of).collect()
    }

    /// Its points: each level of each factor with each of the others, the last factor fastest.
    pub(super) fn points<'a>(
        &'a self,
        document: &Document,
        files: &Arc<Files>,
    ) -> Result<impl Iterator<Item = Point> + 'a> {
        let mut document = document.with_emptied(&STUDY_KEYS);
        set_all(&mut document, &self.edits)?;
        document.set_arguments_again();
        let base = Arc::new(Base {
            document,
            levels: self.levels.clone(),
            files: Arc::clone(files),
        });
        let mut next = Some(vec![0; self.levels.len()]);
        Ok(std::iter::from_fn(move || {
            let steps = next.take()?;
            next = self.after(&steps);
            let chosen = self.chosen(&steps);
            let factors = self.info.factors.iter().zip(&chosen);
            Some(Point {
                experiment: self.info.name.clone(),
                levels: factors
                    .map(|(factor, level)| (factor.name.clone(), factor.labels[*level].clone()))
                    .collect(),
                source: Source::Settings {
                    base: Arc::clone(&base),
                    chosen: chosen.into(),
                },
                limits: Vec::new(),
            })
        }))
    }

    fn after(&self, steps: &[usize]) -> Option<Vec<usize>> {
        let mut steps = steps.to_vec();
        for at in (0..steps.len()).rev() {
            steps[at] += 1;
            if steps[at] < self.digits(at) {
                return Some(steps);
            }
            steps[at] = 0;
        }
        None
    }
}

/// The content of the other files that the scenarios of a study name, each read once.
#[derive(Debug, Default)]
pub(super) struct Files(Mutex<BTreeMap<PathBuf, Arc<str>>>);

impl Files {
    /// What a document says. Files that are not known yet are read with `read`.
    pub(super) fn reading(
        &self,
        document: &Document,
        read: &dyn Fn(&Path) -> io::Result<String>,
    ) -> Result<Reading> {
        let known = |path: &Path| {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(text) = known.get(path) {
                return Ok(text.to_string());
            }
            let text = read(path)?;
            known.insert(path.to_owned(), text.as_str().into());
            Ok(text)
        };
        Scenario::read_with_files(document, &STUDY_KEYS, &known)
    }
}

/// What is known of the points of an experiment.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    /// What metrics can be of.
    pub(super) names: Names,
    /// What runs, each with its dialect and parameters once.
    pub(super) algorithms: Vec<Algorithm>,
    /// What they need.
    pub(super) needs: Needs,
    /// Whether any of them leaves its warm-up or its number of runs to Sojourn.
    pub(super) asks: bool,
    /// What can be recorded in them, where that was asked for.
    pub(super) recordable: Recordable,
}

/// Whether runs may leave their warm-up or their number to Sojourn.
fn may_ask(run: &RunParams) -> bool {
    run.warmup == Warmup::Auto || run.precision.is_some()
}

/// Gathers [`Facts`], point by point.
#[derive(Default)]
pub(super) struct Gathering {
    names: JoinedNames,
    algorithms: Vec<Algorithm>,
    known: BTreeSet<Algorithm>,
    needs: Needs,
    asks: bool,
    recordable: Option<Recordable>,
}

impl Gathering {
    /// Gathers what can be recorded, too, if that is asked for.
    pub(super) fn with_recordable(is_asked: bool) -> Gathering {
        Gathering {
            recordable: is_asked.then(Recordable::default),
            ..Gathering::default()
        }
    }

    /// Takes up a point, which has to keep to the limits and to compile.
    pub(super) fn take(&mut self, reading: &Reading, document: &Document) -> Result<Needs> {
        let scenario = &reading.scenario;
        let needs = Needs::of_allowed(scenario, &reading.limits);
        let needs = needs.map_err(|error| document.locate(error))?;
        self.needs.add(&needs);
        self.asks |= may_ask(&scenario.run);
        let compiled = scenario
            .resolve()
            .and_then(|full| compile(&full, 0))
            .map_err(|error| document.locate(error))?;
        add_algorithms(&mut |algorithm| self.add(algorithm), scenario, &compiled);
        self.names.join(compiled.names());
        if let Some(recordable) = &mut self.recordable {
            recordable.add(&compiled, &scenario.series.record);
        }
        Ok(needs)
    }

    pub(super) fn add(&mut self, algorithm: Algorithm) {
        if !self.known.contains(&algorithm) {
            self.known.insert(algorithm.clone());
            self.algorithms.push(algorithm);
        }
    }

    pub(super) fn facts(self) -> Facts {
        Facts {
            names: self.names.into_names(),
            algorithms: self.algorithms,
            needs: self.needs,
            asks: self.asks,
            recordable: self.recordable.unwrap_or_default(),
        }
    }
}
