//! Which level of a compared factor wins where, over one or two quantities: a map, or a crossover.
//!
//! Each place is a comparison of its own: all levels of the factor run there in all replications of the study, with the same traffic, and a
//! level wins where it is better than each other one by more than chance (Holm, over the pairs of the place). Elsewhere the place is
//! undecided. A map begins with a coarse grid, each of whose cells is judged at its middle, and splits the cells whose neighbours differ. Along
//! one axis, intervals with different ends are halved.

mod axis;
mod plane;
mod shown;

use std::collections::{BTreeMap, BTreeSet};

use sojourn_report::Note;
use sojourn_results::directory::ResultSet;
use sojourn_results::manifest::{ExperimentInfo, FactorInfo};
use sojourn_results::specs::TableSpec;
use sojourn_scenario::error::{LabError, LabErrorKind, Result};

use crate::factors::unknown;
use crate::study::{Placed, Point, Study};
use crate::summary::{Order, PairVerdict, Record, pair_verdicts, records};

pub use axis::Axis;
pub use plane::Cell;
use plane::Plane;

/// What a map shows.
#[derive(Clone, Debug)]
pub struct Request {
    /// From left to right.
    pub x: Axis,
    /// From below; without it the map is a line.
    pub y: Option<Axis>,
    /// The metric; that of the study's first table, or the 95th percentile of the sojourn time, unless given.
    pub metric: Option<String>,
    /// Whether a lower value is better; by the metric's name unless given.
    pub lower: Option<bool>,
    /// The experiment; the first that compares something unless given.
    pub experiment: Option<String>,
    /// Cells of the coarse grid along each axis.
    pub cells: u32,
    /// How often cells are split.
    pub depth: u32,
}

/// What is known of a place.
#[derive(Clone, PartialEq, Debug)]
pub struct Spot {
    /// Values of x and y as texts; y is empty on a line.
    pub at: (String, String),
    /// The level that wins; `None` where that is undecided.
    pub winner: Option<usize>,
    /// The mean of the metric at each level.
    pub means: Vec<Option<f64>>,
}

/// A map that is being drawn.
#[derive(Debug)]
pub struct Map {
    title: String,
    request: Request,
    experiment: ExperimentInfo,
    factor: FactorInfo,
    /// The level of each other factor that the map is of.
    fixed: BTreeMap<String, String>,
    /// Those of factors whose values no axis replaces.
    others: BTreeMap<String, String>,
    metric: String,
    /// Its heading, as tables have it.
    heading: String,
    lower: bool,
    plane: Plane,
    spots: BTreeMap<(u64, u64), Spot>,
    unit: String,
    /// Each point runs once, so that nothing tells a difference from chance.
    once: bool,
    /// What the auditor says of the places, each rule once.
    notes: Vec<Note>,
}

/// How the names of metrics begin whose higher value is better.
const HIGHER: [&str; 18] = [
    "goodput",
    "throughput",
    "utilization",
    "jain",
    "delivered",
    "received",
    "mos",
    "r_factor",
    "power",
    "fairness",
    "min_share",
    "responsiveness",
    "exchanges_per",
    "exchanges_count",
    "quality_bps",
    "repaired",
    "recovered",
    "completed",
];

/// The metric where neither the study nor the user names one.
const METRIC: &str = "sojourn_s_p95";

impl Map {
    /// Whether the lower value wins.
    pub fn lower(&self) -> bool {
        self.lower
    }

    /// A map of a study without any place yet.
    ///
    /// # Errors
    /// When the study compares nothing, has no such experiment, or a number is out of range.
    pub fn of(study: &Study, request: Request) -> Result<Map> {
        check(&request)?;
        let experiment = experiment(study, request.experiment.as_deref())?.clone();
        let compared = experiment.factors.iter().find(|factor| factor.compare);
        let factor = compared.or(experiment.factors.first()).cloned();
        let Some(factor) = factor.filter(|factor| factor.compare && factor.labels.len() > 1) else {
            let error = LabError::new(
                LabErrorKind::Contradiction,
                "the study compares nothing: no factor with two levels has compare = true",
            );
            return Err(
                error.remedy("add compare = true to the factor whose levels the map compares")
            );
        };
        let first = study
            .points()
            .iter()
            .find(|point| point.experiment == experiment.name);
        let mut others = first.map(|point| point.levels.clone()).unwrap_or_default();
        others.remove(&factor.name);
        let mut request = request;
        if let Some(first) = first {
            called_as_factors(&mut request, &experiment, first);
            check_factors(&request, &experiment, (&factor, first))?;
        }
        let run = first.map(Point::scenario).transpose()?;
        let once = run.is_some_and(|scenario| {
            let run = &scenario.run;
            run.runs() == 1 && !run.deterministic && run.precision.is_none()
        });
        let table = study
            .tables
            .iter()
            .find(|table| table.experiment == experiment.name);
        let named = table.and_then(|table| table.metrics.first().cloned());
        let metric = request
            .metric
            .clone()
            .or(named)
            .unwrap_or_else(|| METRIC.to_owned());
        let names = study.names(&experiment.name);
        let asked = sojourn_results::asked::Asked::parse(&metric, None, names)
            .map_err(|error| error.in_file("--metric"))?;
        let higher = HIGHER.iter().any(|begin| metric.starts_with(begin));
        let plane = match request.y {
            Some(_) => Plane::grid(request.cells),
            None => Plane::line(request.cells),
        };
        Ok(Map {
            title: study.title.clone(),
            lower: request.lower.unwrap_or(!higher),
            others: shown_levels(&request, &experiment, others.clone(), first),
            fixed: others,
            request,
            experiment,
            factor,
            metric,
            heading: asked.title(),
            plane,
            spots: BTreeMap::new(),
            unit: String::new(),
            once,
            notes: Vec::new(),
        })
    }

    /// The places to run next, as a study with an experiment for each; `None` when the map is done.
    ///
    /// # Errors
    /// When a path leads nowhere, or a scenario there is not allowed.
    pub fn next(&mut self, study: &Study) -> Result<Option<Study>> {
        if self.spots.is_empty() {
            return self.study(study).map(Some);
        }
        loop {
            let winner = |at: &(u64, u64)| self.spots.get(at).map(|spot| spot.winner);
            if !self.plane.refine(self.request.depth, winner) {
                return Ok(None);
            }
            self.repeat();
            if !self.open().is_empty() {
                return self.study(study).map(Some);
            }
        }
    }

    /// The texts of a place, which are what runs there.
    fn at(&self, (x, y): (u64, u64)) -> (String, String) {
        let text = |axis: &Axis, place| axis.text(self.plane.share(place));
        let above = self.request.y.as_ref();
        (
            text(&self.request.x, x),
            above.map_or_else(String::new, |axis| text(axis, y)),
        )
    }

    /// The places that have not run, one for each that runs something else: on an axis of whole numbers, several places may be the same.
    fn open(&self) -> BTreeMap<(String, String), (u64, u64)> {
        let mut open = BTreeMap::new();
        for at in self.plane.open(|at| self.spots.contains_key(at)) {
            open.entry(self.at(at)).or_insert(at);
        }
        open
    }

    /// Gives places that run the same as one that ran what is known of that.
    fn repeat(&mut self) {
        let known: BTreeMap<(String, String), Spot> = self
            .spots
            .values()
            .map(|spot| (spot.at.clone(), spot.clone()))
            .collect();
        for at in self.plane.open(|at| self.spots.contains_key(at)) {
            if let Some(spot) = known.get(&self.at(at)) {
                self.spots.insert(at, spot.clone());
            }
        }
    }

    /// What is known of each place that is not the same as another one, from left to right.
    fn places(&self) -> Vec<&Spot> {
        let mut known = BTreeSet::new();
        let spots = self.spots.values();
        spots.filter(|spot| known.insert(&spot.at)).collect()
    }

    /// What the auditor says of the places, each rule once.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The study of all places that have not run.
    fn study(&self, study: &Study) -> Result<Study> {
        let points: Vec<&Point> = study
            .points()
            .iter()
            .filter(|point| {
                let mut others = point.levels.clone();
                others.remove(&self.factor.name);
                point.experiment == self.experiment.name && others == self.fixed
            })
            .collect();
        let mut placed = Vec::new();
        for (texts, at) in self.open() {
            let name = self.name_of(&texts);
            let mut documents = Vec::new();
            for point in &points {
                let mut document = point.document()?;
                self.request.x.set(&mut document, self.plane.share(at.0))?;
                if let Some(y) = &self.request.y {
                    y.set(&mut document, self.plane.share(at.1))?;
                }
                let level = point
                    .levels
                    .get(&self.factor.name)
                    .cloned()
                    .unwrap_or_default();
                let levels = BTreeMap::from([(self.factor.name.clone(), level)]);
                documents.push((*point, levels, document));
            }
            placed.push(Placed {
                experiment: ExperimentInfo {
                    name: name.clone(),
                    title: name.clone(),
                    factors: vec![self.factor.clone()],
                    sampling: None,
                },
                table: TableSpec {
                    id: format!("map-{}-{}", at.0, at.1),
                    experiment: name,
                    rows: Vec::new(),
                    columns: vec![self.factor.name.clone()],
                    metrics: vec![self.metric.clone()],
                    ..TableSpec::default()
                },
                points: documents,
            });
        }
        study.with_places(placed)
    }

    /// Takes up what came of the places that ran.
    pub fn take(&mut self, results: &ResultSet) {
        let verdicts = pair_verdicts(results);
        let values = records(results);
        for note in &results.manifest.notes {
            if !self.notes.iter().any(|known| known.rule == note.rule) {
                self.notes.push(note.clone());
            }
        }
        for (texts, at) in self.open() {
            let name = self.name_of(&texts);
            let pairs: Vec<&PairVerdict> = verdicts
                .iter()
                .filter(|pair| pair.experiment == name)
                .collect();
            let of = |label: &String| {
                let is_it = |record: &&Record| {
                    record.experiment == name
                        && record.levels.iter().any(|(_, level)| level == label)
                };
                values.iter().find(is_it)
            };
            let found: Vec<Option<&Record>> = self.factor.labels.iter().map(of).collect();
            if let Some(record) = found.iter().flatten().next() {
                self.unit.clone_from(&record.unit);
            }
            let spot = Spot {
                at: texts,
                winner: self.winner(&pairs),
                means: found
                    .iter()
                    .map(|record| record.map(|record| record.value))
                    .collect(),
            };
            self.spots.insert(at, spot);
        }
        self.repeat();
    }

    /// The name of the experiment of a place: `rate = 2Mbps, rtt = 40ms`.
    fn name_of(&self, (x, y): &(String, String)) -> String {
        let own = format!("{} = {x}", self.request.x.name());
        match &self.request.y {
            Some(axis) => format!("{own}, {} = {y}", axis.name()),
            None => own,
        }
    }

    /// The level that is better than every other one by more than chance.
    fn winner(&self, pairs: &[&PairVerdict]) -> Option<usize> {
        let beats = |level: &String, other: &String| {
            pairs.iter().any(|pair| match pair.order {
                Some(Order::Less) if self.lower => pair.a == *level && pair.b == *other,
                Some(Order::Greater) if self.lower => pair.b == *level && pair.a == *other,
                Some(Order::Less) => pair.b == *level && pair.a == *other,
                Some(Order::Greater) => pair.a == *level && pair.b == *other,
                None => false,
            })
        };
        let labels = &self.factor.labels;
        labels.iter().position(|level| {
            labels
                .iter()
                .all(|other| level == other || beats(level, other))
        })
    }
}

/// Gives axes the headings of the factors that set the same.
fn called_as_factors(request: &mut Request, experiment: &ExperimentInfo, first: &Point) {
    for (info, paths) in experiment.factors.iter().zip(first.paths()) {
        for axis in std::iter::once(&mut request.x).chain(&mut request.y) {
            if paths.iter().copied().eq([axis.path()]) {
                axis.called(&info.title);
            }
        }
    }
}

/// The levels of factors, without factors whose values an axis replaces whole.
fn shown_levels(
    request: &Request,
    experiment: &ExperimentInfo,
    mut levels: BTreeMap<String, String>,
    first: Option<&Point>,
) -> BTreeMap<String, String> {
    let paths = first.map(Point::paths).unwrap_or_default();
    for (info, paths) in experiment.factors.iter().zip(paths) {
        if paths.iter().all(|path| axis_over(request, path).is_some()) {
            levels.remove(&info.name);
        }
    }
    levels
}

/// The axis that replaces what a path leads to.
fn axis_over<'a>(request: &'a Request, path: &str) -> Option<&'a Axis> {
    let mut axes = std::iter::once(&request.x).chain(&request.y);
    axes.find(|axis| axis.replaces(path))
}

/// Refuses an axis that replaces what the compared factor sets, and ranges that no axis replaces: a map would show one sample.
fn check_factors(
    request: &Request,
    experiment: &ExperimentInfo,
    (compared, first): (&FactorInfo, &Point),
) -> Result<()> {
    for (info, paths) in experiment.factors.iter().zip(first.paths()) {
        let over = |path: &&str| axis_over(request, path);
        if info.name == compared.name
            && let Some((path, axis)) = paths.iter().find_map(|path| Some((path, over(path)?)))
        {
            let problem = format!("the levels of {:?} set {path} themselves", info.name);
            return Err(LabError::new(LabErrorKind::Contradiction, problem)
                .in_file(axis.argument())
                .remedy("name a quantity that all levels share"));
        }
        let sampled = experiment.sampling.as_ref();
        let is_sampled = sampled.is_some_and(|design| design.factors.contains(&info.name));
        if is_sampled && !paths.iter().all(|path| over(path).is_some()) {
            let problem = format!(
                "the experiment {:?} draws {:?} from a range, and a map needs one value",
                experiment.name, info.name
            );
            return Err(LabError::new(LabErrorKind::Contradiction, problem)
                .in_file("--experiment")
                .remedy(
                    "draw the map over it with --x or --y, or name an experiment without ranges",
                ));
        }
    }
    Ok(())
}

fn check(request: &Request) -> Result<()> {
    let wrong = |option: &str, problem: String, remedy: &str| {
        Err(LabError::new(LabErrorKind::BadValue, problem)
            .in_file(option)
            .remedy(remedy))
    };
    if !(1..=64).contains(&request.cells) {
        let problem = format!("{} cells along an axis", request.cells);
        return wrong("--cells", problem, "write a number from 1 to 64");
    }
    if request.depth > 8 {
        let problem = format!("{} times split", request.depth);
        return wrong("--depth", problem, "write a number from 0 to 8");
    }
    if let Some(y) = &request.y
        && y.path() == request.x.path()
    {
        let problem = format!("both axes set {}", y.path());
        return wrong("--y", problem, "name another quantity, or leave out --y");
    }
    Ok(())
}

/// The experiment that is mapped.
fn experiment<'a>(study: &'a Study, name: Option<&str>) -> Result<&'a ExperimentInfo> {
    let compares = |experiment: &&ExperimentInfo| experiment.factors.iter().any(|f| f.compare);
    let mut all = study.experiments.iter();
    let found = match name {
        Some(name) => {
            let names = || {
                study
                    .experiments
                    .iter()
                    .map(|experiment| experiment.name.as_str())
            };
            let error = LabError::new(LabErrorKind::UnknownName, "").in_file("--experiment");
            return all
                .find(|experiment| experiment.name == name)
                .ok_or_else(|| unknown(&error, "experiment", name, names()));
        }
        None => all.find(compares).or(study.experiments.first()),
    };
    found.ok_or_else(|| {
        LabError::new(LabErrorKind::Contradiction, "the study has no experiment")
            .remedy("add [[experiment]] with a factor that has compare = true")
    })
}
