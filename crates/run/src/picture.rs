//! The picture of the network that a scenario compiles to: what [`sojourn_report::topology`] draws.
//!
//! Nodes, links and ways are those of the compiled network, so that the picture shows what runs. Flows of one kind have one colour; hosts
//! that are the same, and routers in the middle of a long row, are drawn once.

mod fold;
mod lanes;
mod legs;
mod words;

use std::collections::BTreeMap;

use sojourn_report::topology::{Flow, Form, Link, Node, Topology, Values};
use sojourn_scenario::Resolved;
use sojourn_scenario::error::Result;
use sojourn_scenario::model::Scenario;
use sojourn_scenario::resolved::Network;
use sojourn_sim::topology::Role;

use crate::compile::{Compiled, compile};
use fold::Folded;
use lanes::Lanes;

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

/// The link directions of a link of the picture: their index, and whether they run from its second end to the first.
pub type Directions = Vec<(usize, bool)>;

/// The same, with the link directions of the network that each link of the picture stands for: an index, and whether it runs from the
/// second end of the picture's link to the first.
///
/// # Errors
/// When the scenario cannot be compiled.
pub fn with_links(scenario: &Scenario) -> Result<(Topology, Vec<Directions>)> {
    let resolved = scenario.resolve()?;
    let compiled = compile(&resolved, 0)?;
    let lanes = Lanes::of(&resolved, &compiled);
    let directions = Folded::of(&resolved, &compiled, &lanes).directions(&compiled);
    Ok((topology(&resolved, &compiled), directions))
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
