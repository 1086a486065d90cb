//! Dense mode: the state of one source's tree that is flooded and pruned (RFC 3973; ns-2.35 `DM.tcl`).
//!
//! A node forwards the packets that come over the link of its own shortest path to the source to all its other links, but for
//! those over which it was asked to stop (a *prune*), for so long as a prune holds. A node without members and without links
//! to forward to asks its upstream neighbour to stop; so does one that gets a packet over another link. A node that has
//! pruned itself off and gets a member, or is asked to go on, sends a *graft* upstream, again and again until it is
//! acknowledged.
//!
//! Differences to RFC 3973: a prune is sent for each packet that comes unwanted, as ns-2 does (the RFC sends at most one in a
//! while); links join two nodes, so that there are no asserts, overrides and prune delays; there is no state refresh. The
//! state is one flow's, also where a source has several to the same group. Acknowledgements of grafts are the RFC's, ns-2
//! has none.

use super::groups::{Groups, Tree};
use crate::group::DenseSpec;
use crate::packet::NONE;
use crate::routing::Routes;
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
    nodes: Vec<Node>,
}

/// What a node knows.
#[derive(Clone, Default)]
struct Node {
    /// The link over which packets are to come, once one has; [`NONE`] at the source.
    upstream: Option<u32>,
    /// Links that carry nothing, and until when.
    pruned: BTreeMap<u32, Time>,
    /// A graft was sent that is not acknowledged: when it is sent again.
    graft: Option<Time>,
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

    /// Puts into `links` those over which packets go on from a node.
    pub(super) fn onward(
        &self,
        groups: &Groups,
        node: u32,
        over: Option<u32>,
        links: &mut Vec<u32>,
    ) {
        let state = &self.nodes[to_usize(node)];
        let back = state.upstream.filter(|link| *link != NONE).or(over);
        let back = back.map(|link| groups.ends[to_usize(link)].0);
        let neighbours = groups.link_between.range((node, 0)..=(node, NONE));
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

/// What is to be sent: over which link.
pub(super) type Answer = Option<(Message, u32)>;

impl Groups {
    fn dense(&mut self, tree: u32, node: u32) -> Option<(&mut Node, DenseSpec)> {
        let dense = self.trees[to_usize(tree)].dense.as_mut()?;
        Some((&mut dense.nodes[to_usize(node)], dense.spec))
    }

    /// The link from a node back over one that leads to it.
    fn back(&self, link: u32) -> u32 {
        let (from, to) = self.ends[to_usize(link)];
        self.link_between.get(&(to, from)).copied().unwrap_or(NONE)
    }

    /// A node has nobody to forward packets to.
    fn is_idle(&self, tree: u32, node: u32) -> bool {
        let mut links = Vec::new();
        self.onward(tree, node, None, &mut links);
        links.is_empty() && !self.has_member(tree, node)
    }

    /// A packet of a dense tree has come to a node over a link, if over any: the node knows its upstream link from now on.
    /// What is to be sent, if the packet is not wanted.
    pub(super) fn comes(
        &mut self,
        tree: u32,
        node: u32,
        over: Option<u32>,
        routes: &Routes,
    ) -> Answer {
        let Tree { root, dense, .. } = &self.trees[to_usize(tree)];
        dense.as_ref()?;
        let up = routes.next(node, *root);
        let upstream = match self.ends.get(to_usize(up)) {
            Some((_, parent)) if node != *root => self
                .link_between
                .get(&(*parent, node))
                .copied()
                .unwrap_or(NONE),
            _ => NONE,
        };
        self.dense(tree, node)?.0.upstream = Some(upstream);
        let over = over?;
        let unwanted = over != upstream || self.is_idle(tree, node);
        unwanted.then(|| (Message::Prune, self.back(over)))
    }

    /// A message has come to a node over a link: what is to be sent.
    pub(super) fn hear(
        &mut self,
        tree: u32,
        over: u32,
        message: Message,
        now: Time,
    ) -> [Answer; 2] {
        let node = self.ends[to_usize(over)].1;
        let back = self.back(over);
        let was_idle = self.is_idle(tree, node);
        let Some((state, spec)) = self.dense(tree, node) else {
            return [None; 2];
        };
        match message {
            Message::Prune => {
                state.pruned.insert(back, now + spec.prune_time);
                let upstream = state.upstream.filter(|link| *link != NONE);
                let idle = !was_idle && self.is_idle(tree, node);
                let prune = upstream
                    .filter(|_| idle)
                    .map(|link| (Message::Prune, self.back(link)));
                [prune, None]
            }
            Message::Graft => {
                state.pruned.remove(&back);
                let graft = if was_idle {
                    self.graft(tree, node, now)
                } else {
                    None
                };
                [Some((Message::GraftAck, back)), graft]
            }
            Message::GraftAck => {
                state.graft = None;
                [None; 2]
            }
        }
    }

    /// A node asks for packets again, if it has pruned itself off: the graft to be sent.
    pub(super) fn graft(&mut self, tree: u32, node: u32, now: Time) -> Answer {
        let (state, spec) = self.dense(tree, node)?;
        let upstream = state.upstream.filter(|link| *link != NONE)?;
        state.graft = Some(now + spec.graft_retry);
        Some((Message::Graft, self.back(upstream)))
    }

    /// A member joins at a node: the graft to be sent, if nobody there was served before. The member is not yet present.
    pub(super) fn graft_for(&mut self, tree: u32, node: u32, now: Time) -> Answer {
        self.trees[to_usize(tree)].dense.as_ref()?;
        if self.is_idle(tree, node) {
            self.graft(tree, node, now)
        } else {
            None
        }
    }
}
