//! On which links flows run.

use std::collections::BTreeSet;

use crate::compile::Compiled;
use sojourn_report::topology::Leg;
use sojourn_scenario::Resolved;
use sojourn_scenario::resolved::Tree;
use sojourn_sim::routing::Routes;

use super::fold::Folded;
use super::lanes::{End, Lanes};

/// The link directions that each lane crosses.
pub(super) fn legs(
    lanes: &Lanes,
    resolved: &Resolved,
    compiled: &Compiled,
    folded: &Folded,
) -> Vec<Vec<Leg>> {
    let narrow = |node: usize| u32::try_from(node).unwrap_or(u32::MAX);
    // In the order of the compiled links, so that of equally short ways the same one is found.
    let links: Vec<(u32, u32)> = folded
        .links
        .iter()
        .flat_map(|link| {
            let (from, to) = (narrow(link.from), narrow(link.to));
            [(from, to), (to, from)]
        })
        .collect();
    let all: Vec<u32> = (0..narrow(folded.nodes.len())).collect();
    let routes = Routes::shortest(folded.nodes.len(), &links, &all);
    let between = |from: u32, to: u32| -> Vec<u32> {
        let path = routes.path(from, to, &links);
        path.unwrap_or_default()
    };
    let way = |from: u32, to: u32| between(folded.node(from), folded.node(to));
    let of_lanes = lanes.all.iter().map(|lane| {
        let mut legs = BTreeSet::new();
        // One way for all flows between the same nodes of the picture.
        let mut pairs = BTreeSet::new();
        for (source, end) in &lane.ends {
            match end {
                End::Node(sink) => {
                    pairs.insert((folded.node(*source), folded.node(*sink)));
                }
                End::Group(group) => {
                    let net = (resolved, compiled, folded);
                    legs.extend(tree(net, (*source, *group), &way));
                }
            }
        }
        legs.extend(pairs.into_iter().flat_map(|(from, to)| between(from, to)));
        legs.into_iter().filter_map(leg).collect()
    });
    of_lanes.collect()
}

/// A link direction of a picture, by the number of its edge.
fn leg(edge: u32) -> Option<Leg> {
    Some(Leg {
        link: usize::try_from(edge / 2).ok()?,
        back: edge % 2 == 1,
    })
}

/// The edges of a picture on which packets of a source reach a group.
fn tree(
    (resolved, compiled, folded): (&Resolved, &Compiled, &Folded),
    (source, group): (u32, usize),
    way: &impl Fn(u32, u32) -> Vec<u32>,
) -> Vec<u32> {
    let (Some(given), Some(info)) = (resolved.groups.get(group), compiled.groups.get(group)) else {
        return Vec::new();
    };
    let to_members = |from: u32| -> Vec<u32> {
        let members = info.members.iter();
        members.flat_map(|member| way(from, member.index)).collect()
    };
    match &given.tree {
        Tree::Source | Tree::Dense { .. } => to_members(source),
        Tree::Shared {
            rendezvous_point, ..
        } => {
            let nodes = compiled.network.nodes.iter();
            let root = nodes.zip(0..).find(|(name, _)| *name == rendezvous_point);
            root.map_or_else(Vec::new, |(_, root): (_, u32)| {
                [way(source, root), to_members(root)].concat()
            })
        }
        Tree::Static(names) => {
            let edges = names.iter().filter_map(|name| {
                let edge = compiled.links.iter().position(|link| link.name == *name)?;
                let link = folded
                    .links
                    .iter()
                    .position(|link| link.edge / 2 == edge / 2)?;
                u32::try_from(2 * link + edge % 2).ok()
            });
            edges.collect()
        }
    }
}
