//! Dense mode: the state of one source's tree that is flooded and pruned (RFC 3973; ns-2.35 `DM.tcl`).
//!
//! A node forwards the packets that come over the link of its own shortest path to the source to all its other links, except for
//! those over which it was asked to stop (a *prune*), for so long as a prune holds. A node without members and without links
//! to forward to asks its upstream neighbour to stop; so does one that gets a packet over another link. A node that has
//! pruned itself off and gets a member, or is asked to go on, sends a *graft* upstream, again and again until it is
//! acknowledged.
//!
//! Differences to RFC 3973: a prune is sent for each packet that comes unwanted, as ns-2 does (the RFC sends at most one in a
//! while); links join two nodes, so that there are no asserts, overrides and prune delays; there is no state refresh. The
//! state is one flow's, also where a source has several to the same group. Acknowledgements of grafts are the RFC's, ns-2
//! has none.

use crate::group::DenseSpec;
use crate::packet::NONE;
use crate::slab::to_usize;
use sojourn_units::Time;
use std::collections::BTreeMap;

/// What nodes tell each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Message {
    Prune,
    Graft,
    GraftAck,
}

impl Message {
    const ALL: [Message; 3] = [Message::Prune, Message::Graft, Message::GraftAck];

    /// The number that stands for it in a packet.
    pub(super) fn number(self) -> u64 {
        match self {
            Message::Prune => 0,
            Message::Graft => 1,
            Message::GraftAck => 2,
        }
    }

    pub(super) fn of(number: u64) -> Option<Message> {
        Message::ALL.into_iter().find(|one| one.number() == number)
    }
}

/// The tree of one flow.
pub(super) struct Dense {
    pub(super) spec: DenseSpec,
    pub(super) nodes: Vec<Node>,
}

/// What a node knows.
#[derive(Clone, Default)]
pub(super) struct Node {
    /// The link over which packets are to come, once one has; [`NONE`] at the source.
    pub(super) upstream: Option<u32>,
    /// Links that carry nothing, and until when.
    pub(super) pruned: BTreeMap<u32, Time>,
    /// A graft was sent that is not acknowledged: when it is sent again.
    pub(super) graft: Option<Time>,
}

impl Dense {
    pub(super) fn new(spec: DenseSpec, nodes: usize) -> Dense {
        Dense {
            spec,
            nodes: vec![Node::default(); nodes],
        }
    }

    /// Whether a packet may come to a node over a link, as far as the node has an opinion.
    pub(super) fn expects(&self, node: u32, link: u32) -> bool {
        self.nodes[to_usize(node)]
            .upstream
            .is_none_or(|upstream| upstream == link)
    }

    /// Puts into `links` those over which packets go on from a node; `ends` and `link_between` are those of the [groups](super::groups).
    pub(super) fn onward(
        &self,
        ends: &[(u32, u32)],
        link_between: &BTreeMap<(u32, u32), u32>,
        node: u32,
        over: Option<u32>,
        links: &mut Vec<u32>,
    ) {
        let state = &self.nodes[to_usize(node)];
        let back = state.upstream.filter(|link| *link != NONE).or(over);
        let back = back.map(|link| ends[to_usize(link)].0);
        let neighbours = link_between.range((node, 0)..=(node, NONE));
        links.extend(
            neighbours
                .filter(|((_, to), link)| Some(*to) != back && !state.pruned.contains_key(link))
                .map(|(_, link)| *link),
        );
        links.sort_unstable();
    }

    /// When the first timer is due.
    pub(super) fn next_time(&self) -> Option<Time> {
        let timers = self
            .nodes
            .iter()
            .flat_map(|node| node.pruned.values().copied().chain(node.graft));
        timers.min()
    }

    /// Ends the prunes that hold no longer; says which nodes are to send their graft again.
    pub(super) fn expire(&mut self, now: Time) -> Vec<u32> {
        let mut again = Vec::new();
        for (number, node) in (0..).zip(&mut self.nodes) {
            node.pruned.retain(|_, until| *until > now);
            if node.graft.is_some_and(|at| at <= now) {
                node.graft = None;
                again.push(number);
            }
        }
        again
    }
}
