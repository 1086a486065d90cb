//! Pictures of topologies, of all points of an experiment together. The picture of one scenario is made in
//! [`sojourn_run::picture`].

use std::borrow::Borrow;

use sojourn_report::topology::Topology;
use sojourn_results::directory::ResultSet;
use sojourn_results::manifest::{ExperimentInfo, PointInfo};
use sojourn_scenario::error::Result;
use sojourn_scenario::model::Scenario;

use crate::study::Point;

pub use sojourn_run::picture::of_scenario;

/// Points of an experiment that its picture takes up.
const MOST_POINTS: usize = 128;

/// Flows of all these points together, after which no further point is taken up.
const MOST_FLOWS: u64 = 20_000;

/// The pictures of the points of an experiment, called `title`: one for all points with the same nodes, links and flows, whose texts list
/// the values of all of them. Of very many points or flows, those of the first.
///
/// # Errors
/// When a scenario cannot be read or compiled.
pub fn of_points<'a>(
    title: &str,
    points: impl Iterator<Item = &'a Point>,
) -> Result<Vec<Topology>> {
    of_scenarios(title, points.map(Point::scenario))
}

/// The pictures of an experiment of results, as [`of_points`].
///
/// # Errors
/// When a scenario of the manifest cannot be read or compiled.
pub fn of_results(results: &ResultSet, experiment: &ExperimentInfo) -> Result<Vec<Topology>> {
    let points = results.manifest.points_of(&experiment.name);
    of_scenarios(&experiment.title, points.map(PointInfo::scenario))
}

fn of_scenarios<S: Borrow<Scenario>>(
    title: &str,
    scenarios: impl Iterator<Item = Result<S>>,
) -> Result<Vec<Topology>> {
    let mut all = Vec::new();
    let mut flows = 0;
    for scenario in scenarios.take(MOST_POINTS) {
        let scenario = scenario?;
        let scenario = scenario.borrow();
        take(&mut all, of_scenario(scenario)?);
        flows += scenario.flows.iter().map(|f| f.place.count).sum::<u64>();
        if flows > MOST_FLOWS {
            break;
        }
    }
    Ok(titled(all, title))
}

fn take(all: &mut Vec<Topology>, next: Topology) {
    if !all.iter_mut().any(|known| known.join(&next)) {
        all.push(next);
    }
}

fn titled(mut all: Vec<Topology>, title: &str) -> Vec<Topology> {
    let several = all.len() > 1;
    for (topology, number) in all.iter_mut().zip(1..) {
        title.clone_into(&mut topology.title);
        if several {
            topology.title.push_str(&format!(" ({number})"));
        }
    }
    all
}
