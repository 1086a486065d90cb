//! The state of multicast groups: who belongs to them now, over which links their packets go, and what members have got.
//!
//! A packet to a group carries a number beyond the nodes as its destination, for which no forwarding table has an entry, so
//! that it takes the way of a packet without a route, which no other packet takes:
//!
//! ```text
//!  below the number of nodes    a node
//!  nodes + group                the way to the group's rendezvous point: tables lead there as to that node
//!  BEYOND | FRESH               sent by its source and on no tree yet
//!  BEYOND | copy                a copy on a link of a tree: tree * (links + 1) + link + 1
//!  BEYOND | MESSAGE | copy      a prune or graft about that tree
//! ```
//!
//! The number tells where the copy is, so that a copy that a queue drops is a loss of those members that it was on the way
//! to, and of nobody else.

use super::counts::FlowCounts;
use super::dense::Dense;
use super::spec::{BuildError, FlowSpec};
use crate::group::{GroupSpec, TreeSpec};
use crate::histogram::Histogram;
use crate::packet::{NONE, Packet};
use crate::routing::Routes;
use crate::slab::to_usize;
use sojourn_units::{Span, Time};
use std::collections::{BTreeMap, VecDeque};

/// Of destinations that no table knows.
pub(super) const BEYOND: u32 = 1 << 31;
/// Of destinations of messages between nodes.
pub(super) const MESSAGE: u32 = 1 << 30;
/// Of packets that are on no tree yet.
pub(super) const FRESH: u32 = MESSAGE - 1;

/// What a member of a group has got of one flow, from the end of the warm-up on.
#[derive(Clone, Debug, Default)]
pub struct ReceiverCounts {
    /// Packets, bytes and delays from the sender on. Of `sent` and `dropped` packets nothing is known here.
    pub counts: FlowCounts,
    /// Copies on the way to it that were dropped while it belonged to the group.
    pub lost_packets: u64,
    /// Delays from the group's waypoint on.
    pub from_waypoint: DelayCounts,
}

/// Delays, counted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DelayCounts {
    /// Packets.
    pub packets: u64,
    /// Sum of their delays, picoseconds.
    pub sum: u128,
    /// Their distribution.
    pub delays: Histogram,
}

impl DelayCounts {
    fn record(&mut self, delay: Span) {
        self.packets += 1;
        self.sum += u128::from(delay.as_ps());
        self.delays.record(delay.as_ps());
    }

    /// Mean delay, if there was a packet.
    pub fn mean(&self) -> Option<Span> {
        let mean = self.sum.checked_div(u128::from(self.packets))?;
        u64::try_from(mean).ok().map(Span::from_ps)
    }
}

/// Every group of a network; empty where there is none.
pub(super) struct Groups {
    /// The first destination that is no node, or [`NONE`] without groups.
    pub(super) first: u32,
    /// Links and one more.
    stride: u32,
    pub(super) groups: Vec<Group>,
    pub(super) trees: Vec<Tree>,
    /// For each flow where its packets go.
    pub(super) flows: Vec<Sending>,
    receivers: Vec<ReceiverCounts>,
    /// Nodes at both ends of each link.
    pub(super) ends: Vec<(u32, u32)>,
    /// The link from one node to another.
    pub(super) link_between: BTreeMap<(u32, u32), u32>,
    /// Joins, leaves and switches to come, in order.
    schedule: VecDeque<(Time, Event)>,
    /// Packets for agents of members, which get them next.
    pub(super) pending: VecDeque<(u32, Packet)>,
    /// The component whose event does all that.
    pub(super) id: u32,
    /// Where packets go next, and who gets them: kept for their memory.
    pub(super) links_scratch: Vec<u32>,
    pub(super) members_scratch: Vec<u32>,
}

/// What happens to a group.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Event {
    /// `late`: it has been put off, because the member's agent still had to hear the group.
    Leave {
        group: u32,
        member: u32,
        late: bool,
    },
    Join {
        group: u32,
        member: u32,
    },
    Switch {
        group: u32,
    },
}

/// One group.
pub(super) struct Group {
    pub(super) spec: GroupSpec,
    /// Those of its members that belong to it now.
    pub(super) present: Vec<bool>,
    /// Every source has a tree of its own now.
    pub(super) switched: bool,
    /// The tree from the rendezvous point, or [`NONE`].
    pub(super) shared: u32,
}

/// The way of a flow to its group.
#[derive(Clone, Copy)]
pub(super) struct Sending {
    /// The group, or [`NONE`] for a flow to a node.
    pub(super) group: u32,
    /// Its own tree, or [`NONE`].
    pub(super) tree: u32,
    pub(super) sender: u32,
    /// Counts of the group's first member.
    first_receiver: u32,
}

/// A tree that packets of a group follow.
pub(super) struct Tree {
    pub(super) group: u32,
    /// The node from which packets spread.
    pub(super) root: u32,
    /// For each node the links over which packets go on, in order; not of a dense tree.
    out: Vec<Vec<u32>>,
    /// Its links do not follow from its members.
    fixed: bool,
    pub(super) dense: Option<Dense>,
}

/// Joins, leaves and switches of these groups, in order.
fn schedule_of(specs: &[GroupSpec]) -> VecDeque<(Time, Event)> {
    let mut schedule = Vec::new();
    for (group, spec) in (0..).zip(specs) {
        for (member, one) in (0..).zip(&spec.members) {
            for stay in &one.stays {
                schedule.push((stay.from, Event::Join { group, member }));
                if stay.until < Time::MAX {
                    let late = false;
                    let leave = Event::Leave {
                        group,
                        member,
                        late,
                    };
                    schedule.push((stay.until, leave));
                }
            }
        }
        if let TreeSpec::Shared {
            switch: Some(at), ..
        } = spec.tree
        {
            schedule.push((at, Event::Switch { group }));
        }
    }
    schedule.sort_unstable();
    schedule.into()
}

impl Groups {
    /// Of a network without groups.
    pub(super) fn none() -> Groups {
        Groups {
            first: NONE,
            stride: 0,
            groups: Vec::new(),
            trees: Vec::new(),
            flows: Vec::new(),
            receivers: Vec::new(),
            ends: Vec::new(),
            link_between: BTreeMap::new(),
            schedule: VecDeque::new(),
            pending: VecDeque::new(),
            id: NONE,
            links_scratch: Vec::new(),
            members_scratch: Vec::new(),
        }
    }

    /// The groups of a network, before anybody has joined.
    pub(super) fn new(
        specs: Vec<GroupSpec>,
        nodes: u32,
        ends: &[(u32, u32)],
        flows: &[FlowSpec],
        id: u32,
    ) -> Groups {
        if specs.is_empty() {
            return Groups::none();
        }
        let mut link_between = BTreeMap::new();
        for (link, pair) in (0..).zip(ends) {
            link_between.entry(*pair).or_insert(link);
        }
        let mut groups = Groups {
            first: nodes,
            stride: count(ends.len()) + 1,
            schedule: schedule_of(&specs),
            groups: specs
                .into_iter()
                .map(|spec| Group {
                    present: vec![false; spec.members.len()],
                    switched: false,
                    shared: NONE,
                    spec,
                })
                .collect(),
            ends: ends.to_vec(),
            link_between,
            id,
            ..Groups::none()
        };
        for group in 0..groups.groups.len() {
            if let TreeSpec::Shared {
                rendezvous_point, ..
            } = groups.groups[group].spec.tree
            {
                groups.groups[group].shared = groups.plant(count(group), rendezvous_point);
            }
        }
        for flow in flows {
            groups.add_flow(flow);
        }
        assert!(
            u64::from(count(groups.trees.len())) * u64::from(groups.stride) < u64::from(FRESH),
            "trees times links do not fit into a destination"
        );
        groups
    }

    /// The next flow: where its packets go, with a tree and counts of the members if that is a group.
    fn add_flow(&mut self, flow: &FlowSpec) {
        let group = flow.sink.checked_sub(self.first).unwrap_or(NONE);
        let first_receiver = count(self.receivers.len());
        let tree = match self.groups.get(to_usize(group)) {
            None => NONE,
            Some(one) => {
                let length = self.receivers.len() + one.spec.members.len();
                self.receivers.resize_with(length, ReceiverCounts::default);
                self.plant(group, flow.source)
            }
        };
        self.flows.push(Sending {
            group,
            tree,
            sender: flow.sender,
            first_receiver,
        });
    }

    /// A new tree of a group, without links.
    fn plant(&mut self, group: u32, root: u32) -> u32 {
        let spec = &self.groups[to_usize(group)].spec.tree;
        let nodes = to_usize(self.first);
        let mut out = vec![Vec::new(); nodes];
        if let TreeSpec::Static(links) = spec {
            for link in links {
                out[to_usize(self.ends[to_usize(*link)].0)].push(*link);
            }
            for links in &mut out {
                links.sort_unstable();
                links.dedup();
            }
        }
        let dense = match spec {
            TreeSpec::Dense(spec) => Some(Dense::new(*spec, nodes)),
            _ => None,
        };
        self.trees.push(Tree {
            group,
            root,
            out,
            fixed: matches!(spec, TreeSpec::Static(_)),
            dense,
        });
        count(self.trees.len() - 1)
    }

    /// True if there is no group.
    pub(super) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Nodes to which routes are needed beside those of flows, and what each alias stands for: the way to a group's
    /// rendezvous point.
    pub(super) fn destinations(specs: &[GroupSpec]) -> (Vec<u32>, Vec<Option<u32>>) {
        let points: Vec<Option<u32>> = specs
            .iter()
            .map(|spec| match spec.tree {
                TreeSpec::Shared {
                    rendezvous_point, ..
                } => Some(rendezvous_point),
                _ => None,
            })
            .collect();
        (points.iter().flatten().copied().collect(), points)
    }

    /// Looks whether every member can be reached from every source, by the way of the rendezvous point if there is one.
    pub(super) fn check(&self, routes: &Routes, nodes: &[String]) -> Result<(), BuildError> {
        let name = |node: u32| nodes.get(to_usize(node)).cloned().unwrap_or_default();
        for tree in &self.trees {
            let group = &self.groups[to_usize(tree.group)];
            let reached = tree.fixed.then(|| self.reach(tree));
            if let Some(Err(node)) = reached {
                return Err(BuildError::NotATree {
                    group: group.spec.name.clone(),
                    node: name(node),
                });
            }
            for member in &group.spec.members {
                let found = match &reached {
                    Some(Ok(reached)) => reached[to_usize(member.node)],
                    _ => self.climbs(routes, member.node, tree.root),
                };
                if !found {
                    return Err(BuildError::Unreachable {
                        flow: member.name.clone(),
                        from: name(tree.root),
                        to: name(member.node),
                    });
                }
            }
        }
        for sending in &self.flows {
            let Some(group) = self.groups.get(to_usize(sending.group)) else {
                continue;
            };
            let source = self.trees[to_usize(sending.tree)].root;
            if let TreeSpec::Shared {
                rendezvous_point, ..
            } = group.spec.tree
                && source != rendezvous_point
                && routes.path(source, rendezvous_point, &self.ends).is_none()
            {
                return Err(BuildError::Unreachable {
                    flow: group.spec.name.clone(),
                    from: name(source),
                    to: name(rendezvous_point),
                });
            }
        }
        Ok(())
    }

    /// Whether the shortest path from a node to the root can be gone both ways.
    fn climbs(&self, routes: &Routes, node: u32, root: u32) -> bool {
        routes.path(node, root, &self.ends).is_some_and(|path| {
            path.iter().all(|link| {
                let (from, to) = self.ends[to_usize(*link)];
                self.link_between.contains_key(&(to, from))
            })
        })
    }

    /// The nodes that a static tree reaches; the node that it reaches twice is the error.
    fn reach(&self, tree: &Tree) -> Result<Vec<bool>, u32> {
        let mut reached = vec![false; tree.out.len()];
        let mut open = vec![(tree.root, NONE)];
        while let Some((node, before)) = open.pop() {
            if std::mem::replace(&mut reached[to_usize(node)], true) {
                return Err(node);
            }
            let next = tree.out[to_usize(node)].iter();
            let next = next.map(|link| self.ends[to_usize(*link)].1);
            open.extend(next.filter(|to| *to != before).map(|to| (to, node)));
        }
        Ok(reached)
    }

    /// The destination of a copy on a link of a tree.
    pub(super) fn copy(&self, tree: u32, link: u32) -> u32 {
        BEYOND | (tree * self.stride + link + 1)
    }

    /// The tree and the link of a copy.
    pub(super) fn place(&self, destination: u32) -> (u32, u32) {
        let place = destination & FRESH;
        (place / self.stride, place % self.stride - 1)
    }

    /// The tree that a packet of a flow follows that is spread from its source; `None` if it goes to the rendezvous point.
    pub(super) fn tree_of(&self, flow: u32) -> Option<u32> {
        let sending = &self.flows[to_usize(flow)];
        let group = self.groups.get(to_usize(sending.group))?;
        match group.spec.tree {
            TreeSpec::Shared {
                rendezvous_point, ..
            } if !group.switched => {
                let source = self.trees[to_usize(sending.tree)].root;
                (source == rendezvous_point).then_some(group.shared)
            }
            _ => Some(sending.tree),
        }
    }

    /// Puts into `links` the links over which a packet of a tree goes on from a node, to which it has come over a link, if
    /// over any.
    pub(super) fn onward(&self, tree: u32, node: u32, over: Option<u32>, links: &mut Vec<u32>) {
        links.clear();
        let tree = &self.trees[to_usize(tree)];
        if let Some(dense) = &tree.dense {
            dense.onward(&self.ends, &self.link_between, node, over, links);
            return;
        }
        links.extend(&tree.out[to_usize(node)]);
        if tree.fixed
            && let Some(over) = over
        {
            let before = self.ends[to_usize(over)].0;
            links.retain(|link| self.ends[to_usize(*link)].1 != before);
        }
    }

    /// Puts into `members` those members of the tree's group that are at a node.
    pub(super) fn at_node(&self, tree: u32, node: u32, members: &mut Vec<u32>) {
        members.clear();
        let group = &self.groups[to_usize(self.trees[to_usize(tree)].group)];
        let present = (0..).zip(&group.spec.members).zip(&group.present);
        members.extend(
            present
                .filter(|((_, member), present)| **present && member.node == node)
                .map(|((index, _), _)| index),
        );
    }

    /// True if a member of the tree's group is at a node.
    pub(super) fn has_member(&self, tree: u32, node: u32) -> bool {
        let group = &self.groups[to_usize(self.trees[to_usize(tree)].group)];
        let present = group.spec.members.iter().zip(&group.present);
        present
            .into_iter()
            .any(|(one, here)| *here && one.node == node)
    }

    /// Counts of a member for a flow.
    fn receiver(&mut self, flow: u32, member: u32) -> &mut ReceiverCounts {
        let first = self.flows[to_usize(flow)].first_receiver;
        &mut self.receivers[to_usize(first + member)]
    }

    /// Counts of the members of a flow's group; none of a flow to a node.
    pub(super) fn receivers(&self, flow: usize) -> &[ReceiverCounts] {
        let Some(sending) = self.flows.get(flow) else {
            return &[];
        };
        let members = self.groups.get(to_usize(sending.group));
        let length = members.map_or(0, |group| group.spec.members.len());
        &self.receivers[to_usize(sending.first_receiver)..][..length]
    }

    /// Counts a packet that has arrived at a member; `passed` is when it passed the waypoint.
    pub(super) fn take_in(
        &mut self,
        packet: &Packet,
        member: u32,
        now: Time,
        passed: Option<Time>,
    ) {
        let receiver = self.receiver(packet.flow, member);
        receiver.counts.deliver(packet, now);
        if let Some(passed) = passed {
            receiver.from_waypoint.record(now.since(passed));
        }
    }

    /// A copy was dropped: those miss it that it was on the way to. Says whether it was a packet of an endpoint.
    #[cold]
    pub(super) fn lose(&mut self, packet: &Packet) -> bool {
        let destination = packet.dst;
        if destination & (BEYOND | MESSAGE) == BEYOND | MESSAGE {
            return false;
        }
        let missing: Vec<u32> = if destination & BEYOND == 0 {
            let present = &self.groups[to_usize(destination - self.first)].present;
            (0..)
                .zip(present)
                .filter(|(_, here)| **here)
                .map(|(member, _)| member)
                .collect()
        } else {
            let (tree, link) = self.place(destination);
            self.beyond_link(tree, link)
        };
        let sender = self.flows[to_usize(packet.flow)].sender;
        let group = self.flows[to_usize(packet.flow)].group;
        for member in missing {
            let agent = self.groups[to_usize(group)].spec.members[to_usize(member)].agent;
            if agent != Some(sender) {
                self.receiver(packet.flow, member).lost_packets += 1;
            }
        }
        true
    }

    /// The members that a copy on a link of a tree is on the way to.
    fn beyond_link(&self, tree: u32, link: u32) -> Vec<u32> {
        let (mut all, mut here, mut links) = (Vec::new(), Vec::new(), Vec::new());
        let mut open = vec![link];
        // A dense tree that is not pruned yet leads back to where packets have been; there they are discarded.
        let mut seen = vec![false; self.ends.len()];
        while let Some(link) = open.pop() {
            if std::mem::replace(&mut seen[to_usize(link)], true) {
                continue;
            }
            let node = self.ends[to_usize(link)].1;
            if !self.expects(tree, node, link) {
                continue;
            }
            self.at_node(tree, node, &mut here);
            all.append(&mut here);
            self.onward(tree, node, Some(link), &mut links);
            open.append(&mut links);
        }
        all.sort_unstable();
        all
    }

    /// Whether packets of a tree that come to a node over a link are welcome there.
    pub(super) fn expects(&self, tree: u32, node: u32, link: u32) -> bool {
        let dense = &self.trees[to_usize(tree)].dense;
        dense.as_ref().is_none_or(|dense| dense.expects(node, link))
    }

    /// When something is to be done next that no packet brings about.
    pub(super) fn next_time(&self) -> Option<Time> {
        let scheduled = self.schedule.front().map(|(at, _)| *at);
        let timers = self
            .trees
            .iter()
            .filter_map(|tree| tree.dense.as_ref()?.next_time());
        scheduled.into_iter().chain(timers).min()
    }

    /// The next join, leave or switch, if it is due.
    pub(super) fn due(&mut self, now: Time) -> Option<Event> {
        self.schedule.front().filter(|(at, _)| *at <= now)?;
        self.schedule.pop_front().map(|(_, event)| event)
    }

    /// Puts off the leaves that are due at `now` of members whose agents linger: `ask` says of an agent until when.
    pub(super) fn put_off(&mut self, now: Time, ask: impl Fn(u32) -> Option<Time>) {
        let due = self.schedule.partition_point(|(at, _)| *at <= now);
        for at in (0..due).rev() {
            let (_, event) = self.schedule[at];
            let Event::Leave { group, member, .. } = event else {
                continue;
            };
            let agent = self.groups[to_usize(group)].spec.members[to_usize(member)].agent;
            if let Some(until) = agent.and_then(&ask).filter(|until| *until > now) {
                self.schedule.remove(at);
                let late = Event::Leave {
                    group,
                    member,
                    late: true,
                };
                let place = self.schedule.partition_point(|one| *one < (until, late));
                self.schedule.insert(place, (until, late));
            }
        }
    }

    /// Makes an event take effect on trees that are computed.
    pub(super) fn apply(&mut self, event: Event, routes: &Routes) {
        let group = match event {
            Event::Join { group, member } => {
                self.groups[to_usize(group)].present[to_usize(member)] = true;
                // Who comes back while leaving does not leave any more.
                let late = Event::Leave {
                    group,
                    member,
                    late: true,
                };
                self.schedule.retain(|(_, event)| *event != late);
                group
            }
            Event::Leave { group, member, .. } => {
                self.groups[to_usize(group)].present[to_usize(member)] = false;
                group
            }
            Event::Switch { group } => {
                self.groups[to_usize(group)].switched = true;
                group
            }
        };
        for tree in 0..self.trees.len() {
            if self.trees[tree].group == group {
                self.compute(tree, routes);
            }
        }
    }

    /// The links of a tree: those of the paths from its members to its root, the other way round.
    fn compute(&mut self, tree: usize, routes: &Routes) {
        if self.trees[tree].fixed || self.trees[tree].dense.is_some() {
            return;
        }
        let root = self.trees[tree].root;
        let mut out = std::mem::take(&mut self.trees[tree].out);
        for links in &mut out {
            links.clear();
        }
        let group = &self.groups[to_usize(self.trees[tree].group)];
        let present = group.spec.members.iter().zip(&group.present);
        for (member, _) in present.filter(|(_, present)| **present) {
            let mut node = member.node;
            while node != root {
                let up = routes.next(node, root);
                let Some((_, parent)) = self.ends.get(to_usize(up)) else {
                    break;
                };
                let down = self.link_between[&(*parent, node)];
                let links = &mut out[to_usize(*parent)];
                match links.binary_search(&down) {
                    Ok(_) => break,
                    Err(place) => links.insert(place, down),
                }
                node = *parent;
            }
        }
        self.trees[tree].out = out;
    }

    /// The warm-up is over.
    pub(super) fn start_measuring(&mut self) {
        for receiver in &mut self.receivers {
            *receiver = ReceiverCounts {
                counts: FlowCounts {
                    last_transit: receiver.counts.last_transit,
                    ..FlowCounts::default()
                },
                ..ReceiverCounts::default()
            };
        }
    }
}

/// A number of things, which is below 2^32.
pub(super) fn count(length: usize) -> u32 {
    u32::try_from(length).expect("fewer than 2^32")
}
