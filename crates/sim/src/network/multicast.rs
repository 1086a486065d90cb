//! Packets to groups: copies at branch points, members, joins and leaves.
//!
//! A packet to a group comes here because no table has a route for it ([`super::groups`]), at the cost of nothing to packets
//! that have one. At each node one copy goes on over each link of its tree and one is for each member there; they share
//! the packet's side data, and the census counts them as replicated. A copy that has nowhere to go, because the last
//! member behind it has left or there has been none, ends there and counts as dropped in the census alone.
//!
//! Members without an agent are counted at once. For others packets wait until the event of the component `group`, which
//! happens at the same instant after everything that was scheduled before it. That component is also what makes members
//! join and leave: before anything else at that instant, later where an agent lingers. Whom a dropped packet was on the
//! way to is asked at once; so every link replays its departures up to a change of a tree before it.

use super::core::Core;
use super::dense::Message;
use super::frame::Frame;
use super::groups::{BEYOND, Event, FRESH, Groups, MESSAGE, ReceiverCounts};
use super::host::Cx;
use super::prunes::Answer;
use super::{Agent, MAX_HOPS, Network, Tracer};
use crate::fel::EventList;
use crate::group::TreeSpec;
use crate::packet::{Flags, Kind, NONE, Packet};
use crate::port::{DropReason, FastPort};
use crate::slab::to_usize;
use sojourn_units::Time;

/// Differentiated services codepoint of messages between nodes: CS6, network control (RFC 4594 section 3.2).
const NETWORK_CONTROL: u8 = 48 << 2;

impl<P: FastPort, A: Agent, T: Tracer> Network<P, A, T> {
    /// The event of all groups: joins and leaves that are due, then packets for members.
    #[inline(never)]
    pub(super) fn tend_groups(&mut self) {
        let (agents, now) = (&self.agents, self.core.key.time);
        let ask = |agent: u32| agents.get(to_usize(agent))?.lingers(now);
        self.core.frame.groups.put_off(now, ask);
        self.core.change_groups();
        while let Some((agent, packet)) = self.core.frame.groups.pending.pop_front() {
            let core = &mut self.core;
            if let Some(endpoint) = self.agents.get_mut(to_usize(agent)) {
                endpoint.on_packet(&packet, &mut Cx { core, agent });
            }
            self.core.frame.release(&packet);
        }
        self.core.list_groups();
    }

    /// Counts of each member of the group that a flow is sent to, in the order of the group's members; none of a flow to a
    /// node.
    pub fn receivers(&self, flow: usize) -> &[ReceiverCounts] {
        self.core.frame.groups.receivers(flow)
    }
}

impl<P: FastPort, T: Tracer> Core<P, T> {
    /// Lists the next event of the groups.
    pub(super) fn list_groups(&mut self) {
        let groups = &self.frame.groups;
        let now = self.key.time;
        if !groups.pending.is_empty() {
            let id = groups.id;
            let birth = self.birth(now);
            self.fel.set(id, now.as_ps(), birth.as_ps());
        } else if let Some(at) = groups.next_time() {
            self.fel.set(groups.id, at.as_ps(), Time::ZERO.as_ps());
        }
    }

    /// Does what is due by the clock: joins, leaves, switches, timers of dense trees.
    pub(super) fn change_groups(&mut self) {
        let now = self.key.time;
        let groups = &self.frame.groups;
        if groups.is_empty() || groups.next_time().is_none_or(|at| at > now) {
            return;
        }
        self.catch_up_links();
        while let Some(event) = self.frame.groups.due(now) {
            if let Event::Join { group, member } = event {
                self.graft_for_member(group, member);
            }
            self.frame.groups.apply(event, &self.routes);
        }
        for tree in 0..super::groups::count(self.frame.groups.trees.len()) {
            let dense = self.frame.groups.trees[to_usize(tree)].dense.as_mut();
            let again = dense.map(|dense| dense.expire(now)).unwrap_or_default();
            for node in again {
                let graft = self.frame.groups.graft(tree, node, now);
                self.tell(tree, graft);
            }
        }
    }

    /// Grafts the node of a member that is about to join onto every dense tree of the group.
    fn graft_for_member(&mut self, group: u32, member: u32) {
        let now = self.key.time;
        let groups = &self.frame.groups;
        let node = groups.groups[to_usize(group)].spec.members[to_usize(member)].node;
        for tree in 0..super::groups::count(groups.trees.len()) {
            if self.frame.groups.trees[to_usize(tree)].group == group {
                let graft = self.frame.groups.graft_for(tree, node, now);
                self.tell(tree, graft);
            }
        }
    }

    /// Replays what has happened on every link before the current event.
    fn catch_up_links(&mut self) {
        for link in 0..self.links.len() {
            let key = self.key;
            self.links[link].catch_up(&key, &mut self.frame);
            self.list_events(link);
        }
    }

    /// A packet that no table has a route for: it is lost, unless it is to a group.
    #[cold]
    #[inline(never)]
    pub(super) fn forward_beyond(&mut self, packet: Packet) {
        let destination = packet.dst;
        let groups = &self.frame.groups;
        if destination < groups.first {
            self.lose(packet, DropReason::Unroutable, 0);
        } else if destination & BEYOND == 0 {
            self.unwrap(packet, destination - groups.first);
        } else if destination & MESSAGE != 0 {
            self.take_message(&packet);
        } else if destination & FRESH == FRESH {
            self.send_out(packet);
        } else {
            let (tree, link) = groups.place(destination);
            self.spread(packet, tree, groups.ends[to_usize(link)].1, Some(link));
        }
    }

    /// A source sends a packet to its group: over a tree, or to the rendezvous point.
    fn send_out(&mut self, mut packet: Packet) {
        let groups = &self.frame.groups;
        let node = self.frame.flows[to_usize(packet.flow)].ways[1].node;
        if let Some(tree) = groups.tree_of(packet.flow) {
            self.spread(packet, tree, node, None);
            return;
        }
        let group = groups.flows[to_usize(packet.flow)].group;
        let Some(TreeSpec::Shared { encapsulation, .. }) = groups
            .groups
            .get(to_usize(group))
            .map(|group| &group.spec.tree)
        else {
            self.lose(packet, DropReason::Unroutable, 0);
            return;
        };
        packet.size += encapsulation;
        packet.dst = groups.first + group;
        let next = self.routes.next(node, packet.dst);
        self.forward_new(packet, next);
    }

    /// A packet has come to the rendezvous point of its group.
    fn unwrap(&mut self, mut packet: Packet, group: u32) {
        let groups = &self.frame.groups;
        let Some(group) = groups.groups.get(to_usize(group)) else {
            self.lose(packet, DropReason::Unroutable, 0);
            return;
        };
        let (tree, mut node) = (group.shared, NONE);
        if let TreeSpec::Shared {
            encapsulation,
            rendezvous_point,
            ..
        } = group.spec.tree
        {
            packet.size -= encapsulation;
            node = rendezvous_point;
        }
        self.spread(packet, tree, node, None);
    }

    /// Copies a packet of a tree at a node, to which it has come over a link, if over any.
    fn spread(&mut self, mut packet: Packet, tree: u32, node: u32, over: Option<u32>) {
        let answer = self.frame.groups.comes(tree, node, over, &self.routes);
        let unwelcome = over.is_some_and(|link| !self.frame.groups.expects(tree, node, link));
        self.tell(tree, answer);
        let (mut links, mut members) = (
            std::mem::take(&mut self.frame.groups.links_scratch),
            std::mem::take(&mut self.frame.groups.members_scratch),
        );
        links.clear();
        members.clear();
        if !unwelcome {
            self.frame.groups.onward(tree, node, over, &mut links);
            self.frame.groups.at_node(tree, node, &mut members);
        }
        self.stamp(&mut packet, tree, node);
        let mut left = links.len() + members.len();
        if left == 0 {
            self.frame.census.dropped += 1;
            self.frame.release(&packet);
        }
        let mut packet = Some(packet);
        for (place, is_link) in members
            .iter()
            .map(|m| (*m, false))
            .chain(links.iter().map(|l| (*l, true)))
        {
            left -= 1;
            let copy = match left {
                0 => packet.take(),
                _ => packet.as_ref().map(|packet| self.frame.copy(packet)),
            };
            let Some(mut copy) = copy else {
                break;
            };
            if is_link {
                copy.dst = self.frame.groups.copy(tree, place);
                self.forward_new(copy, place);
            } else {
                self.hand_to_member(copy, tree, place);
            }
        }
        self.frame.groups.links_scratch = links;
        self.frame.groups.members_scratch = members;
    }

    /// Notes in the packet's side data when it has come to the group's waypoint.
    fn stamp(&mut self, packet: &mut Packet, tree: u32, node: u32) {
        let groups = &self.frame.groups;
        let group = &groups.groups[to_usize(groups.trees[to_usize(tree)].group)];
        if group.spec.waypoint == Some(node) {
            packet.side = self.frame.slab.stamp(packet.side, self.key.time);
        }
    }

    /// A packet is for a member: it is counted, and its agent, if it has one, gets it next.
    fn hand_to_member(&mut self, packet: Packet, tree: u32, member: u32) {
        let now = self.key.time;
        let frame = &mut self.frame;
        frame.census.delivered += 1;
        let groups = &mut frame.groups;
        let group = &groups.groups[to_usize(groups.trees[to_usize(tree)].group)];
        let agent = group.spec.members[to_usize(member)].agent;
        let own = agent == Some(groups.flows[to_usize(packet.flow)].sender);
        if !own {
            let passed = frame.slab.stamped(packet.side);
            groups.take_in(&packet, member, now, passed);
            let way = &mut frame.flows[to_usize(packet.flow)].ways[0];
            way.counts.deliver_one_of_many(&packet, now);
        }
        match agent.filter(|_| !own) {
            None => frame.release(&packet),
            Some(agent) => {
                groups.pending.push_back((agent, packet));
                self.list_groups();
            }
        }
    }

    /// A node sends a message about a dense tree to a neighbour.
    fn tell(&mut self, tree: u32, answer: Answer) {
        let Some((message, link)) = answer.filter(|(_, link)| *link != NONE) else {
            return;
        };
        let groups = &self.frame.groups;
        let Some(dense) = &groups.trees[to_usize(tree)].dense else {
            return;
        };
        let now = self.key.time;
        let packet = Packet {
            at: now,
            launched: now,
            created: now,
            seq: message.number(),
            ack: 0,
            flow: groups.flow_of(tree),
            dst: groups.copy(tree, link) | MESSAGE,
            side: NONE,
            uid: self.frame.census.next_uid(),
            size: dense.spec.message,
            kind: Kind::Datagram,
            tos: NETWORK_CONTROL,
            flags: Flags::NONE,
            hops_left: MAX_HOPS,
        };
        self.forward_new(packet, link);
    }

    /// A message about a dense tree has come to a neighbour.
    fn take_message(&mut self, packet: &Packet) {
        let (tree, link) = self.frame.groups.place(packet.dst & !MESSAGE);
        self.catch_up_links();
        self.frame.census.delivered += 1;
        self.frame.release(packet);
        if let Some(message) = Message::of(packet.seq) {
            let now = self.key.time;
            for answer in self.frame.groups.hear(tree, link, message, now) {
                self.tell(tree, answer);
            }
            self.list_groups();
        }
    }
}

impl<T: Tracer> Frame<T> {
    /// A second packet like this one.
    pub(super) fn copy(&mut self, packet: &Packet) -> Packet {
        if packet.side != NONE {
            self.slab.share(packet.side);
        }
        self.census.replicated += 1;
        packet.replicate()
    }

    /// Counts a packet to a group that was dropped. Says whether it counts for its flow.
    #[cold]
    pub(super) fn lose_copy(&mut self, packet: &Packet) -> bool {
        self.groups.lose(packet)
    }
}

impl Groups {
    /// The flow that a tree of its own belongs to.
    fn flow_of(&self, tree: u32) -> u32 {
        let flow = self.flows.iter().position(|flow| flow.tree == tree);
        flow.map_or(0, super::groups::count)
    }
}
