//! Pictures of topologies: what [`sojourn_report::topology`] draws, of the network that a scenario compiles to.
//!
//! Nodes, links and ways are those of the compiled network, so that the picture shows what runs. Flows of one kind have one colour; hosts
//! that are the same, and routers in the middle of a long row, are drawn once.

mod fold;
mod lanes;
mod legs;
mod words;

use std::borrow::Borrow;
use std::collections::BTreeMap;

use sojourn_report::topology::{Flow, Form, Link, Node, Topology, Values};
use sojourn_results::directory::ResultSet;
use sojourn_results::manifest::{ExperimentInfo, PointInfo};
use sojourn_run::compile::{Compiled, compile};
use sojourn_scenario::Resolved;
use sojourn_scenario::error::Result;
use sojourn_scenario::model::Scenario;
use sojourn_scenario::resolved::Network;
use sojourn_sim::topology::Role;

use crate::study::Point;
use fold::Folded;
use lanes::Lanes;

/// Points of an experiment that its picture takes up.
const MOST_POINTS: usize = 128;

/// Flows of all these points together, after which no further point is taken up.
const MOST_FLOWS: u64 = 20_000;

/// Links of a picture; a larger network is described in words.
const MOST_LINKS: usize = 500;

/// The picture of the network of a scenario.
///
/// # Errors
/// When the scenario cannot be compiled.
pub fn of_scenario(scenario: &Scenario) -> Result<Topology> {
    let resolved = scenario.resolve()?;
    let compiled = compile(&resolved, 0)?;
    Ok(topology(&resolved, &compiled))
}

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

fn topology(resolved: &Resolved, compiled: &Compiled) -> Topology {
    let title = resolved.name.clone();
    let form = match &resolved.network {
        Network::Graph(_) => Form::Graph,
        _ => Form::Row,
    };
    let lanes = Lanes::of(resolved, compiled);
    let folded = Folded::of(resolved, compiled, &lanes);
    let mut notes = words::notes(resolved);
    if folded.links.len() > MOST_LINKS {
        let (nodes, links) = (compiled.network.nodes.len(), compiled.links.len() / 2);
        notes.insert(
            0,
            format!("{nodes} nodes and {links} links are too many to draw."),
        );
        return Topology {
            title,
            form,
            nodes: Vec::new(),
            links: Vec::new(),
            flows: Vec::new(),
            notes,
        };
    }
    let legs = legs::legs(&lanes, resolved, compiled, &folded);
    let flows = lanes.all.iter().zip(legs).map(|(lane, legs)| Flow {
        label: Values::one(&lane.label),
        count: words::count(lane.count),
        kind: Values::one(&lane.kind),
        route: lane.route.clone(),
        legs,
    });
    let (links, note) = links(resolved, compiled, &folded);
    notes.extend(note);
    Topology {
        title,
        form,
        flows: flows.collect(),
        nodes: nodes(compiled, &lanes, &folded),
        links,
        notes,
    }
}

fn nodes(compiled: &Compiled, lanes: &Lanes, folded: &Folded) -> Vec<Node> {
    let nodes = folded.nodes.iter();
    nodes
        .map(|node| Node {
            name: Values::one(node.name(compiled, lanes)),
            kind: node.kind,
            count: words::count(node.count()),
            member_of: node.member_of.clone(),
        })
        .collect()
}

/// The links, and what queues there are in front of those whose text does not name theirs.
fn links(resolved: &Resolved, compiled: &Compiled, folded: &Folded) -> (Vec<Link>, Option<String>) {
    let measured = |edge: usize| compiled.links[edge].role == Role::Bottleneck;
    let queue = |edge: usize| words::queue(&compiled.links[edge]);
    let edges = || {
        let links = folded.links.iter();
        links.flat_map(|link| [link.edge, link.edge + 1])
    };
    let pair = |edge: usize| measured(edge) || measured(edge ^ 1);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for edge in edges().filter(|edge| !pair(*edge)) {
        *counts.entry(queue(edge)).or_default() += 1;
    }
    let usual = counts.iter().max_by_key(|(_, count)| **count);
    let usual = usual.map(|(queue, _)| queue.clone());
    let rows = !matches!(resolved.network, Network::Graph(_));
    let way = |edge: usize| {
        let own = queue(edge);
        let named = match (pair(edge), rows) {
            (true, true) => true,
            (true, false) => measured(edge) || own != queue(edge ^ 1),
            (false, _) => Some(&own) != usual.as_ref(),
        };
        words::way(resolved, &compiled.links[edge], named.then_some(own))
    };
    let links = folded.links.iter().map(|link| Link {
        from: link.from,
        to: link.to,
        forward: way(link.edge),
        reverse: way(link.edge + 1),
    });
    let note = usual
        .as_ref()
        .map(|queue| format!("Queue of the other links: {queue}."));
    (links.collect(), note)
}
