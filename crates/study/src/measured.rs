//! Which link directions the metrics of the bottleneck are of in an experiment, and why.
//!
//! A builder's topology and a link with `bottleneck = true` say so themselves. Elsewhere one link direction is measured at all points of an
//! experiment, so that differences compare like with like: of the links that are the slowest on the way of a flow at any point, those
//! whose queue a factor sets, if there are any; of several, the busiest in all runs together.

use std::collections::BTreeMap;

use serde_json::Value;
use sojourn_results::directory::ResultSet;
use sojourn_results::manifest::{ExperimentInfo, FactorInfo, PointInfo};
use sojourn_results::outcome::{QueueOutcome, RunOutcome};
use sojourn_results::stats::{to_f64, wide_to_f64};
use sojourn_run::compile::{LinkInfo, compile};
use sojourn_units::Rate;

/// Links are as busy as the busiest within this share of its utilization; their queues tell them apart.
const AS_BUSY: f64 = 0.99;

/// What the metrics of the bottleneck are of.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Measured {
    /// What each outcome calls a bottleneck: the topology or the file says so.
    Told,
    /// A link direction that was found.
    Found {
        /// Its name.
        link: String,
        /// Why it is this one.
        reason: Reason,
    },
}

/// Why a link direction is measured.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Reason {
    /// This factor sets its queue.
    SetBy(String),
    /// It is the slowest on the way of a flow at every point.
    Slowest,
    /// It is the busier direction of the link that is the slowest on the way of flows in both.
    Busier,
    /// It is the busiest of several.
    Busiest {
        /// How many.
        of: usize,
        /// Their rate, if it is one.
        rate: Option<Rate>,
        /// The factor that sets the queues of all candidates.
        set_by: Option<String>,
    },
}

/// A point of a graph that does not say which link is the bottleneck.
struct Open<'a> {
    info: &'a PointInfo,
    links: Vec<LinkInfo>,
    /// Names of the links that may be the bottleneck by their rate.
    slowest: Vec<String>,
    /// Names of the links that the file excludes.
    excluded: Vec<String>,
}

impl Measured {
    /// What the metrics of the bottleneck are of in an experiment.
    pub(crate) fn of(results: &ResultSet, experiment: &ExperimentInfo) -> Measured {
        let points = results.manifest.points_of(&experiment.name);
        let points: Option<Vec<Open<'_>>> = points.map(Open::of).collect();
        let found = points.and_then(|points| found(results, experiment, &points));
        found.unwrap_or(Measured::Told)
    }

    /// Whether a queue is measured.
    pub(crate) fn is(&self, queue: &QueueOutcome) -> bool {
        match self {
            Measured::Told => queue.bottleneck,
            Measured::Found { link, .. } => queue.link == *link,
        }
    }

    /// The name of the link that was found.
    pub(crate) fn found(&self) -> Option<&str> {
        match self {
            Measured::Told => None,
            Measured::Found { link, .. } => Some(link),
        }
    }
}

impl<'a> Open<'a> {
    /// The point; `None` where its topology or file says which link is the bottleneck.
    fn of(info: &'a PointInfo) -> Option<Open<'a>> {
        let value = info.scenario.value();
        let told = |link: &Value| link.get("bottleneck").and_then(Value::as_bool);
        let given = value.get("links")?.as_array()?;
        if given.iter().any(|link| told(link) == Some(true)) {
            return None;
        }
        let compiled = compile(&info.scenario().ok()?.resolve().ok()?, 0).ok()?;
        let name = |index: usize| Some(compiled.links.get(index)?.name.clone());
        // Each link has its two directions one after the other.
        let excluded = given.iter().enumerate();
        let excluded = excluded.filter(|(_, link)| told(link) == Some(false));
        let excluded = excluded.flat_map(|(at, _)| [name(2 * at), name(2 * at + 1)]);
        let excluded = excluded.flatten().collect();
        let slowest = compiled.slowest.iter();
        let slowest = slowest.filter_map(|edge| name(*edge)).collect();
        Some(Open {
            info,
            slowest,
            excluded,
            links: compiled.links,
        })
    }
}

fn found(
    results: &ResultSet,
    experiment: &ExperimentInfo,
    points: &[Open<'_>],
) -> Option<Measured> {
    let may = |name: &String| {
        let observed = |link: &LinkInfo| link.observed && link.name == *name;
        points.iter().all(|point| !point.excluded.contains(name))
            && points.iter().any(|point| point.links.iter().any(observed))
    };
    let mut slowest: Vec<String> = Vec::new();
    for name in points.iter().flat_map(|point| &point.slowest) {
        if !slowest.contains(name) {
            slowest.push(name.clone());
        }
    }
    let (set_by, mut set) = queues_set(experiment, points);
    set.retain(may);
    let both = slowest.iter().filter(|name| set.contains(name));
    let both: Vec<String> = both.cloned().collect();
    let chosen_by = set_by.filter(|_| !set.is_empty() && both.len() != slowest.len());
    let candidates = match (both.is_empty(), set.is_empty()) {
        (false, _) => both,
        (true, false) => set,
        (true, true) => slowest,
    };
    let infos: Vec<&PointInfo> = points.iter().map(|point| point.info).collect();
    let link = match candidates.as_slice() {
        [] => return None,
        [only] => only.clone(),
        several => {
            let runs = infos.iter().flat_map(|info| results.of_point(info.point));
            let runs: Vec<&RunOutcome> = runs.collect();
            busiest(&runs, several).unwrap_or_else(|| several[0].clone())
        }
    };
    let reason = match (candidates.len(), chosen_by) {
        (1, None) => Reason::Slowest,
        (_, None) if is_one_link(&candidates, points) => Reason::Busier,
        (_, Some(factor)) if is_one_link(&candidates, points) => Reason::SetBy(factor),
        (of, set_by) => Reason::Busiest {
            of,
            rate: rate_of_all(&candidates, points),
            set_by,
        },
    };
    Some(Measured::Found { link, reason })
}

/// Whether link directions are those of one link.
fn is_one_link(names: &[String], points: &[Open<'_>]) -> bool {
    let Some(point) = points.first() else {
        return false;
    };
    let index = |name: &String| point.links.iter().position(|link| link.name == *name);
    let links: Option<Vec<usize>> = names.iter().map(|name| Some(index(name)? / 2)).collect();
    links.is_some_and(|links| links.windows(2).all(|two| two[0] == two[1]))
}

/// The rate that all of some link directions have at all points.
fn rate_of_all(names: &[String], points: &[Open<'_>]) -> Option<Rate> {
    let links = points.iter().flat_map(|point| &point.links);
    let mut rates = links
        .filter(|link| names.contains(&link.name))
        .map(|link| link.rate);
    let first = rates.next()?;
    rates.all(|rate| rate == first).then_some(first)
}

/// The factor that sets queues, and the names of the link directions whose queues it sets: one under comparison if there is one.
fn queues_set(experiment: &ExperimentInfo, points: &[Open<'_>]) -> (Option<String>, Vec<String>) {
    for compared in [true, false] {
        let factors = experiment.factors.iter();
        let mut all: Vec<String> = Vec::new();
        let mut by = None;
        for factor in factors.filter(|factor| factor.compare == compared) {
            let points = points.iter();
            let points = points.map(|point| (point.info, point.links.as_slice()));
            let set = queues_set_by(factor, points);
            if !set.is_empty() {
                by.get_or_insert_with(|| factor.name.clone());
            }
            all.extend(set.into_iter().map(str::to_owned));
        }
        if by.is_some() {
            return (by, all);
        }
    }
    (None, Vec::new())
}

/// The names of the link directions whose queue differs between points that differ in a factor alone. Where the rate differs, too, the
/// queue may follow from it.
pub(crate) fn queues_set_by<'a>(
    factor: &FactorInfo,
    points: impl Iterator<Item = (&'a PointInfo, &'a [LinkInfo])>,
) -> Vec<&'a str> {
    let mut firsts: BTreeMap<BTreeMap<&str, &str>, &[LinkInfo]> = BTreeMap::new();
    let mut found: Vec<&str> = Vec::new();
    for (info, links) in points {
        let levels = info.levels.iter();
        let others = levels.filter(|(name, _)| **name != factor.name);
        let others = others.map(|(name, label)| (name.as_str(), label.as_str()));
        let first = *firsts.entry(others.collect()).or_insert(links);
        for (one, other) in first.iter().zip(links) {
            let same = one.discipline.name == other.discipline.name
                && one.resolved.release == other.resolved.release
                && one.resolved.pairs == other.resolved.pairs;
            let alike = one.name == other.name && one.rate == other.rate;
            if alike && !same && !found.contains(&other.name.as_str()) {
                found.push(&other.name);
            }
        }
    }
    found
}

/// How busy a link direction was, and how much waited for it.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Load {
    /// Share of its capacity that it sent.
    pub(crate) utilization: f64,
    /// Mean time for which its backlog lasts, seconds.
    pub(crate) queueing: f64,
}

impl Load {
    /// That of a link direction in some runs together; `None` if none has it.
    pub(crate) fn of(runs: &[&RunOutcome], link: &str) -> Option<Load> {
        let queues = runs.iter().flat_map(|run| &run.queues);
        let (mut sent, mut capacity, mut queueing, mut count) = (0_u128, 0_u128, 0.0, 0_u64);
        for queue in queues.filter(|queue| queue.link == link) {
            sent += u128::from(queue.sent_bytes) * 8;
            capacity += queue.capacity_bits;
            queueing += queue.backlog_mean.1 * 8.0 / queue.rate.as_bps_f64();
            count += 1;
        }
        (count > 0).then(|| Load {
            utilization: wide_to_f64(sent) / wide_to_f64(capacity.max(1)),
            queueing: queueing / to_f64(count),
        })
    }

    /// Whether it is about as much utilization as another's.
    pub(crate) fn is_as_busy_as(&self, other: &Load) -> bool {
        self.utilization >= other.utilization * AS_BUSY
    }
}

/// The busiest of some link directions: the one with the highest utilization; of those within a hundredth of it, the one for which the most
/// waited; of these, the first.
pub(crate) fn busiest(runs: &[&RunOutcome], names: &[String]) -> Option<String> {
    let loads = names.iter();
    let loads = loads.filter_map(|name| Some((name, Load::of(runs, name)?)));
    let loads: Vec<(&String, Load)> = loads.collect();
    let most = loads.iter().map(|(_, load)| load.utilization);
    let most = Load {
        utilization: most.fold(0.0, f64::max),
        queueing: 0.0,
    };
    let mut best: Option<(&String, Load)> = None;
    for (name, load) in loads {
        let better = best.is_none_or(|(_, best)| load.queueing > best.queueing);
        if load.is_as_busy_as(&most) && better {
            best = Some((name, load));
        }
    }
    best.map(|(name, _)| name.clone())
}
