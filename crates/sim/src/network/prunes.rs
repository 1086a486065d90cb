//! What nodes of a [dense](super::dense) tree tell each other: prunes, grafts, and acknowledgements of grafts.

use super::dense::{Message, Node};
use super::groups::{Groups, Tree};
use crate::group::DenseSpec;
use crate::packet::NONE;
use crate::routing::Routes;
use crate::slab::to_usize;
use sojourn_units::Time;

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
