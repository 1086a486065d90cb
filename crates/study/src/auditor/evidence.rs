//! What rules look at: the scenarios and outcomes of a study.

use std::collections::BTreeMap;

use sojourn_results::asked::Of;
use sojourn_results::directory::ResultSet;
use sojourn_results::manifest::PointInfo;
use sojourn_results::outcome::{QueueOutcome, RunOutcome};
use sojourn_run::compile::{Compiled, LinkInfo, compile};
use sojourn_scenario::model::{Scenario, Topology};
use sojourn_sim::DropReason;
use sojourn_sim::topology::Role;

use super::finding::Finding;
use crate::measured::{Load, Measured, busiest, queues_set_by};
use crate::summary::links::is_marked;
use crate::summary::wanted::Wanted;

/// A bottleneck has at least this utilization; Sojourn's choice.
const BUSY: f64 = 0.5;
/// A queue is longer than another if it is this many times as long; Sojourn's choice.
const LONGER: f64 = 2.0;

/// A study that ran.
pub(super) struct Evidence<'a> {
    pub(super) results: &'a ResultSet,
    /// Its points, in order.
    pub(super) points: &'a [Seen<'a>],
    /// Which points are compared with which.
    pub(super) comparisons: Vec<Compared<'a>>,
    /// Points that differ in their queue alone by a factor that is not declared as under comparison: tables put them side by side.
    pub(super) beside: Vec<Compared<'a>>,
    /// What tables show, experiment by experiment.
    pub(super) shown: Vec<Shown<'a>>,
    /// What the reader of the study had to say on dialects that components lack.
    pub(super) fallbacks: &'a [String],
    /// How many points and comparisons the study has. These may be those of some experiments alone.
    pub(super) all: Totals,
}

/// What texts count against.
#[derive(Clone, Copy, Debug)]
pub(super) struct Totals {
    /// Points of the study.
    pub(super) points: usize,
    /// Comparisons of the study.
    pub(super) comparisons: usize,
}

/// What the tables of an experiment show.
pub(super) struct Shown<'a> {
    pub(super) wanted: Wanted<'a>,
    /// Whether a metric is of the bottleneck.
    pub(super) bottleneck: bool,
    /// The link directions that metrics name.
    pub(super) named: Vec<String>,
    /// Whether a metric is of all queues.
    all: bool,
}

impl<'a> Shown<'a> {
    fn of(wanted: Wanted<'a>) -> Shown<'a> {
        let asked = wanted.asked();
        let subjects = asked.iter();
        let subjects = subjects.flat_map(|asked| std::iter::once(&asked.of).chain(&asked.over));
        let subjects: Vec<&Of> = subjects.collect();
        let named = subjects.iter().filter_map(|of| match of {
            Of::Link(name) => Some(name.clone()),
            _ => None,
        });
        let of_bottleneck = |of: &&Of| matches!(of, Of::Bottleneck | Of::Measured(_));
        Shown {
            bottleneck: subjects.iter().any(of_bottleneck),
            named: named.collect(),
            all: subjects.contains(&&Of::Queues),
            wanted,
        }
    }

    /// The link directions that metrics of queues are of, each once; empty where no metric is of a queue.
    pub(super) fn links(&self, evidence: &Evidence<'_>) -> Vec<String> {
        let mut links = match self.all {
            true => self.wanted.names.links.clone(),
            false => self.named.clone(),
        };
        if self.bottleneck {
            let runs = evidence
                .points_of(self)
                .filter_map(|seen| seen.runs.first());
            let queues = runs.flat_map(|run| &run.queues);
            let queues = queues.filter(|queue| self.wanted.measured.is(queue));
            links.extend(queues.map(|queue| queue.link.clone()));
        }
        let mut once: Vec<String> = Vec::new();
        for link in links {
            if !once.contains(&link) {
                once.push(link);
            }
        }
        once
    }
}

/// A point with what ran at it.
pub(super) struct Seen<'a> {
    pub(super) info: &'a PointInfo,
    pub(super) scenario: Scenario,
    /// Without its queues, which are the largest part.
    pub(super) compiled: Compiled,
    pub(super) runs: Vec<&'a RunOutcome>,
}

impl<'a> Seen<'a> {
    /// Whether its network is a graph.
    pub(super) fn is_graph(&self) -> bool {
        matches!(self.scenario.topology, Topology::Graph(_))
    }

    /// The queue of a link direction in each run.
    pub(super) fn queues_of(&self, link: &str) -> impl Iterator<Item = &'a QueueOutcome> {
        let queues = self.runs.iter().flat_map(|run| &run.queues);
        queues.filter(move |queue| queue.link == link)
    }
}

/// Reasons of drops for lack of room.
pub(super) const FULL: [DropReason; 2] = [DropReason::Overlimit, DropReason::Evicted];

/// Packets that a queue dropped for some reasons.
pub(super) fn drops(queue: &QueueOutcome, reasons: &[DropReason]) -> u64 {
    let of = |reason: &DropReason| queue.drops_by_reason[reason.index()];
    reasons.iter().map(of).sum()
}

/// A link that is the bottleneck in place of the measured one.
pub(super) struct Other {
    pub(super) link: String,
    /// It is busier; else it is as busy and has a longer queue.
    pub(super) busier: bool,
}

/// Points under comparison.
pub(super) struct Compared<'a> {
    /// What they share.
    pub(super) place: String,
    /// The level of each, and the point.
    pub(super) points: Vec<(String, &'a Seen<'a>)>,
}

/// The points of a study that ran.
pub(super) fn seen(results: &ResultSet) -> Vec<Seen<'_>> {
    let of = |info: &'_ PointInfo| -> Option<(Scenario, Compiled)> {
        // What cannot be compiled did not run.
        let scenario = info.scenario().ok()?;
        let mut compiled = compile(&scenario.resolve().ok()?, 0).ok()?;
        compiled.network.links = Vec::new();
        compiled.network.flows = Vec::new();
        Some((scenario, compiled))
    };
    let mut points = BTreeMap::new();
    for info in &results.manifest.points {
        if let Some((scenario, compiled)) = of(info) {
            let runs = results.of_point(info.point).collect();
            let seen = Seen {
                info,
                scenario,
                compiled,
                runs,
            };
            points.insert(info.point, seen);
        }
    }
    points.into_values().collect()
}

impl<'a> Evidence<'a> {
    /// What is known of these points, which [`seen`] gave.
    pub(super) fn of(
        results: &'a ResultSet,
        points: &'a [Seen<'a>],
        fallbacks: &'a [String],
    ) -> Evidence<'a> {
        let find = |number: u64| points.iter().find(|seen| seen.info.point == number);
        let comparisons = results
            .manifest
            .comparisons()
            .into_iter()
            .map(|comparison| {
                let of = |point: &&PointInfo| {
                    let label = point.levels.get(&comparison.factor.name)?.clone();
                    Some((label, find(point.point)?))
                };
                Compared {
                    place: comparison.name(),
                    points: comparison.points.iter().filter_map(of).collect(),
                }
            });
        let comparisons: Vec<Compared<'_>> = comparisons.collect();
        let experiments = results.manifest.experiments.iter();
        let shown = experiments.map(|experiment| Shown::of(Wanted::of(results, experiment)));
        Evidence {
            results,
            points,
            all: Totals {
                points: points.len(),
                comparisons: comparisons.len(),
            },
            comparisons,
            beside: beside(results, points),
            shown: shown.collect(),
            fallbacks,
        }
    }

    /// The points of an experiment.
    pub(super) fn points_of(&self, shown: &Shown<'_>) -> impl Iterator<Item = &'a Seen<'a>> {
        let name = shown.wanted.experiment.name.clone();
        let points = self.points.iter();
        points.filter(move |seen| seen.info.experiment == name)
    }

    /// What the metrics of the bottleneck are of at a point.
    pub(super) fn measured(&self, point: &Seen<'_>) -> &Measured {
        let mut shown = self.shown.iter();
        let own = shown.find(|shown| shown.wanted.experiment.name == point.info.experiment);
        own.map_or(&Measured::Told, |shown| &shown.wanted.measured)
    }

    /// The first link that the metrics of the bottleneck are of at a point.
    pub(super) fn bottleneck<'b>(&self, point: &'b Seen<'_>) -> Option<&'b LinkInfo> {
        let mut links = point.compiled.links.iter();
        match self.measured(point).found() {
            Some(name) => links.find(|link| link.name == name),
            None => links.find(|link| link.role == Role::Bottleneck),
        }
    }

    /// The link that is the bottleneck at a point in place of the measured one, where that was found or the file of a graph marks it.
    pub(super) fn other_bottleneck(&self, point: &Seen<'_>) -> Option<Other> {
        let link = match self.measured(point).found() {
            Some(found) => found.to_owned(),
            None if is_marked(point.info) => self.bottleneck(point)?.name.clone(),
            None => return None,
        };
        self.busier_than(point, &link)
    }

    /// The link that is the bottleneck at a point in place of one link.
    pub(super) fn busier_than(&self, point: &Seen<'_>, link: &str) -> Option<Other> {
        let names = point.compiled.links.iter().filter(|link| link.observed);
        let names: Vec<String> = names.map(|link| link.name.clone()).collect();
        let other = busiest(&point.runs, &names).filter(|other| other != link)?;
        let (theirs, ours) = (Load::of(&point.runs, &other)?, Load::of(&point.runs, link)?);
        let busier = !ours.is_as_busy_as(&theirs);
        let is_more = busier || theirs.queueing > LONGER * ours.queueing;
        (theirs.utilization >= BUSY && is_more).then_some(Other {
            link: other,
            busier,
        })
    }

    /// What a test says of the first point that it has something to say of, and at which points it has; what they concern is joined.
    pub(super) fn at_points(
        &self,
        level: fn(String) -> Finding,
        test: impl Fn(&Seen<'a>) -> Option<Remark>,
    ) -> Vec<Finding> {
        let said = |point: &'a Seen<'a>| Some((point, test(point)?));
        let found: Vec<(&Seen<'_>, Remark)> = self.points.iter().filter_map(said).collect();
        let Some((point, remark)) = found.first() else {
            return Vec::new();
        };
        let text = &remark.text;
        let (count, all) = (found.len(), self.all.points);
        // What is the same everywhere needs no example.
        let everywhere =
            count == all && all > 1 && found.iter().all(|(_, other)| other.text == *text);
        let places = match everywhere {
            true => format!(" (at all {all} points)"),
            false => places(&point.info.name(), count, all),
        };
        let links = found.iter().flat_map(|(_, remark)| remark.links.clone());
        let flows = found.iter().flat_map(|(_, remark)| remark.flows.clone());
        let names = found.iter().map(|(point, _)| point.info.name());
        let finding = level(format!("{text}{places}"));
        let finding = finding.on_links(links).of_flows(flows);
        vec![match count == all {
            true => finding,
            false => finding.at(names),
        }]
    }
}

/// The points that stand side by side without being declared so: those that differ in a factor that sets queues.
fn beside<'a>(results: &'a ResultSet, points: &'a [Seen<'a>]) -> Vec<Compared<'a>> {
    let mut all = Vec::new();
    for experiment in &results.manifest.experiments {
        for factor in experiment.factors.iter().filter(|factor| !factor.compare) {
            let own = points
                .iter()
                .filter(|seen| seen.info.experiment == experiment.name);
            let infos = own
                .clone()
                .map(|seen| (seen.info, seen.compiled.links.as_slice()));
            if queues_set_by(factor, infos).is_empty() {
                continue;
            }
            let mut groups: BTreeMap<BTreeMap<&str, &str>, Vec<(String, &Seen<'_>)>> =
                BTreeMap::new();
            for seen in own {
                let levels = seen.info.levels.iter();
                let others = levels.filter(|(name, _)| **name != factor.name);
                let others = others.map(|(name, label)| (name.as_str(), label.as_str()));
                if let Some(label) = seen.info.levels.get(&factor.name) {
                    let group = groups.entry(others.collect()).or_default();
                    group.push((label.clone(), seen));
                }
            }
            all.extend(groups.into_iter().map(|(levels, points)| {
                let levels: Vec<String> = levels
                    .iter()
                    .map(|(factor, label)| format!("{factor}={label}"))
                    .collect();
                let place = match levels.is_empty() {
                    true => experiment.name.clone(),
                    false => format!("{}: {}", experiment.name, levels.join(", ")),
                };
                Compared { place, points }
            }));
        }
    }
    all
}

/// What a test says of a point.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Remark {
    pub(super) text: String,
    pub(super) links: Vec<String>,
    pub(super) flows: Vec<String>,
}

impl Remark {
    /// A text that concerns the whole point.
    pub(super) fn new(text: impl Into<String>) -> Remark {
        Remark {
            text: text.into(),
            links: Vec::new(),
            flows: Vec::new(),
        }
    }

    /// The same, about a link direction.
    pub(super) fn on(mut self, link: impl Into<String>) -> Remark {
        self.links.push(link.into());
        self
    }

    /// The same, about some flows.
    pub(super) fn of(mut self, flows: impl IntoIterator<Item = String>) -> Remark {
        self.flows.extend(flows);
        self
    }
}

/// Where something was noticed: the first place, and how many there are.
pub(super) fn places(first: &str, count: usize, all: usize) -> String {
    match (count, all) {
        (1, 1) => String::new(),
        (count, all) if count == all => format!(" (at all {all} points, such as {first})"),
        (count, all) => format!(" (at {count} of {all}, such as {first})"),
    }
}

/// The value of a parameter.
pub(super) fn value<'a>(pairs: &'a [(&'static str, String)], key: &str) -> Option<&'a str> {
    pairs
        .iter()
        .find(|(name, _)| *name == key)
        .map(|(_, text)| text.as_str())
}

/// A number with three significant digits.
pub(super) fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    rounded.to_string()
}
