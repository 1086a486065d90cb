//! Ways through the network: whether there is one, how long it is, and which of its links is the bottleneck.

use std::collections::BTreeSet;

use sojourn_scenario::error::{LabError, LabErrorKind};
use sojourn_scenario::resolved::{Link, Network, Resolved};
use sojourn_sim::routing::Routes;
use sojourn_sim::topology::Graph;
use sojourn_units::{Rate, Span};

use super::parts::{GroupInfo, Place};

/// Links run both ways, so a graph is connected or falls into pieces. A flow between two pieces is said first.
pub(super) fn check_connected(
    scenario: &Resolved,
    graph: &Graph,
    places: &[Place],
) -> Result<(), LabError> {
    let Network::Graph(links) = &scenario.network else {
        return Ok(());
    };
    let pieces = pieces(graph);
    let piece = |node: u32| usize::try_from(node).ok().and_then(|node| pieces.get(node));
    let unreachable = |key: String, problem: String, remedy: &str| {
        LabError::new(LabErrorKind::Unreachable, problem)
            .in_file(&scenario.name)
            .key(key)
            .remedy(remedy)
    };
    let name = |node: u32| {
        let node = usize::try_from(node)
            .ok()
            .and_then(|node| graph.nodes.get(node));
        node.map_or("", String::as_str)
    };
    // Where a group's members are is looked at below: everywhere.
    let to_node = places.iter().filter(|place| place.to_group.is_none());
    if let Some(place) = to_node
        .into_iter()
        .find(|place| piece(place.source) != piece(place.sink))
    {
        return Err(unreachable(
            format!("flows[{}].to", place.group),
            format!(
                "no path leads from node {:?} to node {:?}",
                name(place.source),
                name(place.sink)
            ),
            "add a link between them in [[links]]",
        ));
    }
    let apart = |link: &Link| {
        graph
            .node(&link.from)
            .is_some_and(|node| piece(node) != piece(0))
    };
    match links.iter().zip(0..).find(|(link, _)| apart(link)) {
        Some((link, index)) => Err(unreachable(
            format!("links[{index}]"),
            format!(
                "the graph is not connected: no path connects {:?} with {:?}",
                link.from,
                name(0)
            ),
            "add a link between the two parts, or remove this one",
        )),
        None => Ok(()),
    }
}

/// The piece of a graph that each node lies in, by the lowest node in it.
fn pieces(graph: &Graph) -> Vec<u32> {
    let mut pieces: Vec<u32> = (0u32..).take(graph.nodes.len()).collect();
    loop {
        let mut changed = false;
        for edge in &graph.edges {
            let ends = [edge.from, edge.to].map(|node| usize::try_from(node).unwrap_or(usize::MAX));
            let lowest = pieces[ends[0]].min(pieces[ends[1]]);
            for end in ends {
                changed |= pieces[end] != lowest;
                pieces[end] = lowest;
            }
        }
        if !changed {
            return pieces;
        }
    }
}

/// The bottlenecks of a graph.
pub(super) struct Bottlenecks {
    /// The edges that outcomes call so: those of links that say so; where none does, on each way the first of the slowest, of each link
    /// one direction.
    pub(super) chosen: Vec<usize>,
    /// Every edge that is the slowest on the way of a flow, in order, however slow others are; the chosen ones where links say so.
    pub(super) slowest: Vec<usize>,
}

/// The bottlenecks of a graph. Ways are those of flows to a node in the direction under study. A link that says that it is none, or is not
/// observed, is none.
pub(super) fn graph_bottlenecks(
    links: &[Link],
    graph: &Graph,
    paths: &Paths,
    places: &[Place],
) -> Bottlenecks {
    // Each link has its two edges one after the other, the one from `from` first.
    let link_of = |edge: usize| links.get(edge / 2);
    let told: Vec<usize> = (0..graph.edges.len())
        .filter(|edge| edge % 2 == 0 && link_of(*edge).is_some_and(|l| l.bottleneck == Some(true)))
        .collect();
    if !told.is_empty() {
        return Bottlenecks {
            slowest: told.clone(),
            chosen: told,
        };
    }
    let may = |edge: &usize| {
        link_of(*edge).is_some_and(|link| link.observed && link.bottleneck.is_none())
    };
    let rate = |edge: &usize| graph.edges[*edge].rate;
    let mut chosen: Vec<usize> = Vec::new();
    let mut all = BTreeSet::new();
    let forward = |place: &&Place| place.forward && place.to_group.is_none();
    for place in places.iter().filter(forward) {
        let mut way = paths.edges(place.source, place.sink);
        way.retain(may);
        // The first of the slowest.
        let Some(first) = way.iter().copied().min_by_key(rate) else {
            continue;
        };
        all.extend(way.into_iter().filter(|edge| rate(edge) == rate(&first)));
        // Of a link's two directions the one that a flow crosses first, in the order of the flows.
        if !chosen.contains(&first) && !chosen.contains(&(first ^ 1)) {
            chosen.push(first);
        }
    }
    let least = chosen.iter().map(rate).min();
    chosen.retain(|edge| Some(rate(edge)) == least);
    Bottlenecks {
        chosen,
        slowest: all.into_iter().collect(),
    }
}

/// The routes of every flow, to tell base round trips.
pub(super) struct Paths {
    links: Vec<(u32, u32)>,
    routes: Routes,
}

impl Paths {
    /// The edges on the shortest path between two nodes, in order.
    pub(super) fn edges(&self, from: u32, to: u32) -> Vec<usize> {
        let path = self.routes.path(from, to, &self.links);
        path.into_iter()
            .flatten()
            .filter_map(|link| usize::try_from(link).ok())
            .collect()
    }

    pub(super) fn new(graph: &Graph, places: &[Place], groups: &[GroupInfo]) -> Paths {
        let links: Vec<(u32, u32)> = graph.edges.iter().map(|e| (e.from, e.to)).collect();
        let mut ends: Vec<u32> = places.iter().map(|place| place.source).collect();
        ends.extend(places.iter().flat_map(|place| place.sinks(groups)));
        let routes = Routes::shortest(graph.nodes.len(), &links, &ends);
        Paths { links, routes }
    }

    /// Propagation from the sender to the receiver and back, over shortest paths, and the rate of the slowest link on the way
    /// there; zero, and without bound, if there is none. Of several receivers, the longest and the slowest.
    pub(super) fn of(&self, graph: &Graph, source: u32, sinks: &[u32]) -> (Span, Rate) {
        let edges = |from, to| {
            let path = self.edges(from, to).into_iter();
            path.filter_map(|link| graph.edges.get(link))
        };
        let there = sinks.iter().flat_map(|sink| edges(source, *sink));
        let slowest = there.map(|edge| edge.rate).min();
        let both = sinks.iter().map(|sink| {
            let both = edges(source, *sink).chain(edges(*sink, source));
            both.map(|edge| edge.delay).sum()
        });
        (
            both.max().unwrap_or(Span::ZERO),
            slowest.unwrap_or(Rate::bps(u64::MAX)),
        )
    }
}
