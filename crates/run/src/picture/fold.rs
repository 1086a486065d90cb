//! Which nodes and links of a network a picture has: hosts that are the same are one, and so are the routers in the middle of a long row.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::compile::{Compiled, LinkInfo};
use sojourn_report::topology::NodeKind;
use sojourn_scenario::Resolved;
use sojourn_scenario::resolved::Network;

use super::lanes::{End, Lanes};

/// Routers of a row that are all drawn; of a longer row, the first and the last.
const MOST_ROUTERS: usize = 8;
const FIRST_ROUTERS: usize = 4;
const LAST_ROUTERS: usize = 2;

/// Nodes of a graph that are all drawn, and how many hosts have to be the same to be drawn as one.
const MOST_NODES: usize = 24;
const LEAST_SAME: usize = 3;

/// Link directions that one link of a picture stands for at most.
const MOST_DIRECTIONS: usize = 32;

/// A node of the picture.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) kind: NodeKind,
    /// The nodes that it stands for, in order.
    pub(super) nodes: Vec<usize>,
    /// Lanes to a group that it is a member of.
    pub(super) member_of: Vec<usize>,
    /// Lanes that begin or end here.
    lanes: BTreeSet<(usize, bool)>,
}

/// A link of the picture, and the first of its two edges.
#[derive(Debug)]
pub(super) struct ShownLink {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) edge: usize,
}

/// The nodes and links of a picture.
#[derive(Debug)]
pub(super) struct Folded {
    pub(super) nodes: Vec<Shown>,
    pub(super) links: Vec<ShownLink>,
    /// For each node of the network, that of the picture.
    of: Vec<usize>,
}

/// What hosts that are the same share: router, both directions of the link, lanes.
type Same = (
    usize,
    [(String, u64, u64); 2],
    BTreeSet<(usize, bool)>,
    Vec<usize>,
);

/// What is known of the network.
struct Net<'a> {
    compiled: &'a Compiled,
    /// Routers of a row, which come before its hosts; 0 for a graph.
    routers: usize,
    /// The nodes of each link.
    pairs: Vec<(usize, usize)>,
    /// The only link of each node that has no other.
    only: BTreeMap<usize, usize>,
    ends: Vec<BTreeSet<(usize, bool)>>,
    members: Vec<Vec<usize>>,
}

impl<'a> Net<'a> {
    fn of(resolved: &Resolved, compiled: &'a Compiled, lanes: &Lanes) -> Net<'a> {
        let routers = match &resolved.network {
            Network::Dumbbell { .. } => 2,
            Network::ParkingLot { hops, .. } | Network::Chain { hops, .. } => {
                let hops = usize::try_from(*hops).unwrap_or(usize::MAX);
                hops.saturating_add(1)
            }
            Network::Graph(_) => 0,
        };
        let wide = |node: u32| usize::try_from(node).unwrap_or(usize::MAX);
        let links = compiled.network.links.iter().step_by(2);
        let pairs: Vec<(usize, usize)> = links.map(|l| (wide(l.from), wide(l.to))).collect();
        let mut links: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (link, (a, b)) in pairs.iter().enumerate() {
            links.entry(*a).or_default().push(link);
            links.entry(*b).or_default().push(link);
        }
        let only = links.into_iter().filter_map(|(node, links)| {
            let [only] = links.as_slice() else {
                return None;
            };
            Some((node, *only))
        });
        Net {
            compiled,
            routers,
            pairs,
            only: only.collect(),
            ends: node_lanes(compiled, lanes),
            members: node_groups(compiled, lanes),
        }
    }

    fn total(&self) -> usize {
        self.compiled.network.nodes.len()
    }

    /// Whether a flow begins or ends at a node.
    fn is_end(&self, node: usize) -> bool {
        !self.ends[node].is_empty() || !self.members[node].is_empty()
    }

    fn is_host(&self, node: usize) -> bool {
        match self.routers {
            0 => self.only.contains_key(&node) && self.is_end(node) && self.total() > 2,
            routers => node >= routers,
        }
    }

    /// The routers of a row that are left out.
    fn gap(&self) -> Option<Range<usize>> {
        let gap = FIRST_ROUTERS..self.routers.saturating_sub(LAST_ROUTERS);
        Some(gap).filter(|_| self.routers > MOST_ROUTERS)
    }

    /// What a node has to share with others to be drawn as one with them.
    fn same(&self, node: usize) -> Option<Same> {
        let link = *self.only.get(&node)?;
        let (a, b) = self.pairs[link];
        let [there, back] = [2 * link, 2 * link + 1].map(|edge| text(&self.compiled.links[edge]));
        let (router, texts) = match a == node {
            true => (b, [there, back]),
            false => (a, [back, there]),
        };
        let (ends, members) = (&self.ends[node], &self.members[node]);
        Some((router, texts, ends.clone(), members.clone()))
    }

    /// For each node, the first of those that are drawn as one with it.
    fn firsts(&self) -> Vec<usize> {
        let least = match self.routers {
            0 if self.total() <= MOST_NODES => usize::MAX,
            0 => LEAST_SAME,
            _ => 2,
        };
        let mut same: BTreeMap<Same, Vec<usize>> = BTreeMap::new();
        for node in 0..self.total() {
            if (self.is_host(node) || (self.routers == 0 && !self.is_end(node)))
                && let Some(key) = self.same(node)
            {
                same.entry(key).or_default().push(node);
            }
        }
        let mut firsts: Vec<usize> = (0..self.total()).collect();
        let same = same.into_values().filter(|nodes| nodes.len() >= least);
        for nodes in same.chain(self.gap().map(Iterator::collect)) {
            for node in &nodes {
                firsts[*node] = nodes[0];
            }
        }
        firsts
    }
}

impl Folded {
    pub(super) fn of(resolved: &Resolved, compiled: &Compiled, lanes: &Lanes) -> Folded {
        let net = Net::of(resolved, compiled, lanes);
        let gap = net.gap();
        // Hosts of routers that are left out are left out as well.
        let hidden = |node: usize| {
            let router = net.same(node).map(|(router, ..)| router);
            let gap = gap.clone().filter(|_| net.is_host(node))?;
            router.filter(|router| gap.contains(router))?;
            Some(gap.start)
        };
        let mut folded = Folded {
            nodes: Vec::new(),
            links: Vec::new(),
            of: vec![usize::MAX; net.total()],
        };
        for (node, first) in net.firsts().into_iter().enumerate() {
            if let Some(gap) = hidden(node) {
                folded.of[node] = folded.of[gap];
                continue;
            }
            if first == node {
                folded.of[node] = folded.nodes.len();
                let kind = match gap.as_ref().map(|gap| gap.start) == Some(node) {
                    true => NodeKind::Gap,
                    false if net.is_host(node) => NodeKind::Host,
                    false => NodeKind::Router,
                };
                folded.nodes.push(Shown {
                    kind,
                    nodes: Vec::new(),
                    member_of: net.members[node].clone(),
                    lanes: net.ends[node].clone(),
                });
            }
            folded.of[node] = folded.of[first];
            folded.nodes[folded.of[first]].nodes.push(node);
        }
        folded.take_links(&net.pairs);
        folded
    }

    fn take_links(&mut self, pairs: &[(usize, usize)]) {
        let mut known = BTreeSet::new();
        for (link, (a, b)) in pairs.iter().enumerate() {
            let (from, to) = (self.of[*a], self.of[*b]);
            let alone = |node: usize| self.nodes[node].nodes.len() == 1;
            let merged = !(alone(from) && alone(to));
            if from != to && (known.insert((from, to)) || !merged) {
                let edge = 2 * link;
                self.links.push(ShownLink { from, to, edge });
            }
        }
    }

    /// For each link of the picture, the link directions of the network that it stands for, and whether each runs against it.
    pub(super) fn directions(&self, compiled: &Compiled) -> Vec<Vec<(usize, bool)>> {
        let shown = |node: u32| {
            usize::try_from(node)
                .ok()
                .and_then(|node| self.of.get(node))
        };
        let ends = compiled.network.links.iter();
        let ends: Vec<_> = ends
            .map(|link| (shown(link.from), shown(link.to)))
            .collect();
        let of = |link: &ShownLink| {
            let (from, to) = (Some(&link.from), Some(&link.to));
            let alone = [link.from, link.to]
                .iter()
                .all(|node| self.nodes[*node].nodes.len() == 1);
            let all = ends
                .iter()
                .enumerate()
                .filter_map(|(edge, ends)| match *ends {
                    ends if ends == (from, to) => Some((edge, false)),
                    ends if ends == (to, from) => Some((edge, true)),
                    _ => None,
                });
            // Between two nodes there may be several links, each of which is drawn.
            all.filter(|(edge, _)| !alone || edge / 2 == link.edge / 2)
                .take(MOST_DIRECTIONS)
                .collect()
        };
        self.links.iter().map(of).collect()
    }

    /// The node of the picture that a node of the network is part of.
    pub(super) fn node(&self, node: u32) -> u32 {
        let node = usize::try_from(node).ok();
        let shown = node.and_then(|node| self.of.get(node));
        shown.map_or(u32::MAX, |shown| u32::try_from(*shown).unwrap_or(u32::MAX))
    }
}

impl Shown {
    /// What the node is called: hosts that flows have for themselves by these.
    pub(super) fn name(&self, compiled: &Compiled, lanes: &Lanes) -> String {
        let name = |node: usize| compiled.network.nodes[node].as_str();
        let (Some(first), Some(last)) = (self.nodes.first(), self.nodes.last()) else {
            return String::new();
        };
        let own = self.kind == NodeKind::Host
            && self.lanes.len() == 1
            && ["-src", "-dst"]
                .iter()
                .any(|end| name(*first).ends_with(end));
        match self.lanes.first() {
            _ if self.kind == NodeKind::Gap => format!("⋯ {} more ⋯", self.nodes.len()),
            Some((lane, _)) if own && lanes.all[*lane].count > 1 => lanes.all[*lane].label.clone(),
            _ if own => name(*first)
                .trim_end_matches("-src")
                .trim_end_matches("-dst")
                .to_owned(),
            _ if first == last => name(*first).to_owned(),
            _ => format!("{} … {}", name(*first), name(*last)),
        }
    }

    /// How many nodes it stands for, as its text says it.
    pub(super) fn count(&self) -> u64 {
        match self.kind {
            NodeKind::Gap => 1,
            _ => u64::try_from(self.nodes.len()).unwrap_or(u64::MAX),
        }
    }
}

/// What a leaf's link has to have in common with others.
fn text(link: &LinkInfo) -> (String, u64, u64) {
    (
        super::words::queue(link),
        link.rate.as_bps(),
        link.delay.as_ps(),
    )
}

/// The lanes that begin (true) or end at each node.
fn node_lanes(compiled: &Compiled, lanes: &Lanes) -> Vec<BTreeSet<(usize, bool)>> {
    let mut all = vec![BTreeSet::new(); compiled.network.nodes.len()];
    for (lane, of) in lanes.all.iter().enumerate() {
        for (source, end) in &of.ends {
            let sink = match end {
                End::Node(node) => Some((*node, false)),
                End::Group(_) => None,
            };
            for (node, begins) in sink.into_iter().chain([(*source, true)]) {
                if let Some(here) = usize::try_from(node)
                    .ok()
                    .and_then(|node| all.get_mut(node))
                {
                    here.insert((lane, begins));
                }
            }
        }
    }
    all
}

/// The lanes to groups that each node is a member of.
fn node_groups(compiled: &Compiled, lanes: &Lanes) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new(); compiled.network.nodes.len()];
    for (lane, of) in lanes.all.iter().enumerate() {
        for (_, end) in &of.ends {
            let group = match end {
                End::Group(group) => compiled.groups.get(*group),
                End::Node(_) => None,
            };
            for member in group.iter().flat_map(|group| &group.members) {
                let node = usize::try_from(member.index).unwrap_or(usize::MAX);
                if let Some(here) = all.get_mut(node)
                    && !here.contains(&lane)
                {
                    here.push(lane);
                }
            }
        }
    }
    all
}
