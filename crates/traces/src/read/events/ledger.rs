//! Follows each packet of an event trace from its source to its end.
//!
//! Two records per packet: its travel (from where, since when, where it is now), and its hop through each link's queue and wire. The
//! first is kept until the packet has arrived or is dropped, the second until it has passed the link. What was not heard of for longer
//! than the horizon is forgotten: such records are removed when their number has doubled, and are not found any more as soon as they
//! are too old, so that what is counted does not depend on when they are removed.
//!
//! Where a trace names addresses and not nodes (ns-3), a node that receives a packet is its destination if it does not send the packet
//! on. A node that has sent on one packet of a flow is a router for that flow, one that kept a packet for [`SETTLE`], or answers, is
//! its end. What of the flow has arrived there until then has arrived in that order.

use super::stats::{FlowStats, LinkStats, NodeStats};
use crate::read::analysis::Options;
use crate::read::event::{Event, Lookup, NONE, Names, What, place};
use crate::read::moments::signed;
use crate::read::series::{Bin, Series, Subject};
use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use sojourn_units::{Span, Time};
use std::collections::VecDeque;

/// So long may a router keep a packet before it is taken for the packet's destination.
const SETTLE: Span = Span::from_secs(1);
/// Records before the first look for those that are too old.
const SWEEP: usize = 1 << 12;

/// Everything that is known after some lines.
pub(super) struct Ledger {
    pub(super) links: Vec<LinkStats>,
    pub(super) nodes: Vec<NodeStats>,
    pub(super) flows: Vec<FlowStats>,
    pub(super) series: Series,
    /// Time of the first and of the last event that counts.
    pub(super) span: Option<(Time, Time)>,
    pub(super) events: u64,
    from: Time,
    horizon: Span,
    /// Since when a packet was not heard of that goes on, if that is longer than the horizon.
    late: Option<Time>,
    travels: Lookup<u64, Travel>,
    hops: Lookup<(u64, u32), Hop>,
    sweep: (usize, usize),
    roles: Lookup<(u32, u32), Role>,
    /// Arrivals that may not be the last: when, packet, node.
    pending: VecDeque<(Time, u64, u32)>,
}

/// A packet under way.
#[derive(Clone, Copy, Debug)]
struct Travel {
    flow: u32,
    /// Where it was seen first, and when.
    origin: u32,
    started: Time,
    /// It was seen first at its source.
    whole: bool,
    /// When it was seen last.
    seen: Time,
    place: Place,
    /// The link that it was handed to last.
    link: u32,
    size: u32,
    marked: bool,
    acknowledged: u64,
    end: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Queue,
    Wire,
    /// At a node since it was seen last; it may have to be decided whether that is its destination.
    Node {
        node: u32,
        pending: bool,
    },
}

/// A packet at one link.
#[derive(Clone, Copy, Debug)]
struct Hop {
    entered: Time,
    sent: Option<Time>,
    size: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    Router,
    End,
}

impl Hop {
    fn seen(&self) -> Time {
        self.sent.unwrap_or(self.entered)
    }
}

impl Ledger {
    pub(super) fn new(options: &Options) -> Ledger {
        let from = options.from.unwrap_or(Time::ZERO);
        Ledger {
            links: Vec::new(),
            nodes: Vec::new(),
            flows: Vec::new(),
            series: Series::new(options.step, from),
            span: None,
            events: 0,
            from,
            horizon: options.horizon,
            late: None,
            travels: Lookup::default(),
            hops: Lookup::default(),
            sweep: (SWEEP, SWEEP),
            roles: Lookup::default(),
            pending: VecDeque::new(),
        }
    }

    /// Takes an event.
    ///
    /// # Errors
    /// If the time series gets too long, or a packet goes on that was not heard of within the horizon.
    #[inline]
    pub(super) fn event(&mut self, event: &Event, names: &Names) -> Result<()> {
        if self.nodes.len() < names.nodes.len() {
            self.nodes
                .resize_with(names.nodes.len(), NodeStats::default);
        }
        if self.links.len() < names.links.len() {
            self.links
                .resize_with(names.links.len(), LinkStats::default);
        }
        if self.flows.len() < names.flows.len() {
            self.flows
                .resize_with(names.flows.len(), FlowStats::default);
        }
        let counted = event.time >= self.from;
        if counted {
            self.series.advance(event.time)?;
            let first = self.span.map_or(event.time, |(first, _)| first);
            self.span = Some((first, event.time));
            self.events += 1;
        }
        if !self.pending.is_empty() {
            self.settle(event.time, names);
        }
        match event.what {
            What::Enqueue => self.enqueue(event, names, counted),
            What::Dequeue => self.dequeue(event, counted),
            What::Transmit => {
                self.enqueue(event, names, counted);
                self.dequeue(event, counted);
            }
            What::Receive => self.receive(event, names, counted),
            What::Drop => self.drop(event, counted),
        }
        if let Some(since) = self.late {
            return Err(self.too_short(since, event, names));
        }
        if self.travels.len() > self.sweep.0 || self.hops.len() > self.sweep.1 {
            self.forget(event.time);
        }
        Ok(())
    }

    /// Refuses a horizon within which a packet was not heard of although it goes on: it would be lost, and sent once more.
    #[cold]
    fn too_short(&self, since: Time, event: &Event, names: &Names) -> LabError {
        let flow = names.flows.get(place(event.flow));
        let flow = flow.map_or_else(String::new, |flow| {
            format!(" from {} to {}", flow.source, flow.destination)
        });
        let at = match event.what {
            What::Receive => "on the wire",
            _ => "in a queue",
        };
        let problem = format!(
            "a packet{flow} was {at} from {since} to {}, which is longer than the horizon; it would count twice, as lost and as sent again",
            event.time
        );
        LabError::new(LabErrorKind::Contradiction, problem)
            .in_file(&format!("--horizon {}", self.horizon))
            .remedy("choose a horizon above the longest delay of the path")
    }

    fn enqueue(&mut self, event: &Event, names: &Names, counted: bool) {
        let known = self.travels.get(&event.uid).copied();
        let known = known.filter(|travel| !self.is_lost_or_sent_again(travel, event));
        match known {
            None => self.depart(event, names, counted),
            // A copy of what its source sends several ways at once.
            Some(travel) if travel.origin == event.node && travel.started == event.time => {}
            Some(travel) => {
                if let Place::Node { node, pending } = travel.place
                    && node == event.node
                {
                    if pending {
                        self.roles.insert((event.flow, node), Role::Router);
                    }
                    if counted {
                        let took = event.time.saturating_since(travel.seen);
                        self.nodes[place(node)].processing.record(took);
                    }
                }
                if counted {
                    self.forwarded(event);
                }
            }
        }
        if let Some(travel) = self.travels.get_mut(&event.uid) {
            travel.seen = event.time;
            travel.place = Place::Queue;
            travel.link = event.link;
        }
        let hop = Hop {
            entered: event.time,
            sent: None,
            size: event.size,
        };
        self.hops.insert((event.uid, event.link), hop);
        let link = &mut self.links[place(event.link)];
        link.backlog += 1;
        if counted {
            link.enqueued.record(event.size);
            link.backlog_max = link.backlog_max.max(link.backlog);
        }
    }

    /// The packet of this name that is known is another, older one; it is counted as lost.
    fn is_lost_or_sent_again(&mut self, travel: &Travel, event: &Event) -> bool {
        let old = travel.seen.saturating_add(self.horizon) < event.time;
        let back = matches!(travel.place, Place::Node { node, .. } if node == event.node);
        let again = travel.origin == event.node && travel.started < event.time && !back;
        if old || again {
            self.give_up(travel);
        }
        old || again
    }

    /// A packet is seen for the first time.
    fn depart(&mut self, event: &Event, names: &Names, counted: bool) {
        let flow = &names.flows[place(event.flow)];
        let whole = flow.source_node.is_none_or(|node| node == event.node);
        let travel = Travel {
            flow: event.flow,
            origin: event.node,
            started: event.time,
            whole,
            seen: event.time,
            place: Place::Queue,
            link: event.link,
            size: event.size,
            marked: event.marked,
            acknowledged: event.acknowledged,
            end: event.end,
        };
        self.travels.insert(event.uid, travel);
        if let (None, Some(reverse)) = (flow.source_node, flow.reverse) {
            // Who sends from an address is who receives what goes there.
            self.end_at(reverse, event.node, names);
        }
        let stats = &mut self.flows[place(event.flow)];
        let repeated = event.end > event.start && stats.send_data(event.end, event.time);
        if !counted {
            return;
        }
        stats.touch(event.time);
        stats.sent.record(event.size);
        stats.repeated += u64::from(repeated);
        let bin = self.series.bin(Subject::Flow(event.flow));
        bin.sent.record(event.size);
        bin.highest.0 = bin.highest.0.max(event.end);
        self.series.bin(Subject::Trace).sent.record(event.size);
        if whole {
            self.nodes[place(event.node)].sent.record(event.size);
            self.series
                .bin(Subject::Node(event.node))
                .sent
                .record(event.size);
        } else {
            self.forwarded(event);
        }
    }

    fn forwarded(&mut self, event: &Event) {
        self.nodes[place(event.node)].forwarded.record(event.size);
        for subject in [Subject::Node(event.node), Subject::Trace] {
            self.series.bin(subject).forwarded.record(event.size);
        }
    }

    fn dequeue(&mut self, event: &Event, counted: bool) {
        let link = &mut self.links[place(event.link)];
        let mut waited = None;
        if let Some(hop) = self.hops.get_mut(&(event.uid, event.link))
            && hop.sent.is_none()
        {
            hop.sent = Some(event.time);
            let took = event.time.saturating_since(hop.entered);
            if took > self.horizon {
                self.late = Some(hop.entered);
            }
            waited = Some(took);
            link.backlog = link.backlog.saturating_sub(1);
        }
        if let Some(travel) = self.travels.get_mut(&event.uid) {
            travel.seen = event.time;
            travel.place = Place::Wire;
            travel.link = event.link;
        }
        if let Some((then, size, true)) = link.last_sent
            && counted
            && then >= self.from
        {
            link.busy.0 += u64::from(size);
            link.busy.1 += u128::from(event.time.saturating_since(then).as_ps());
        }
        link.last_sent = Some((event.time, event.size, link.backlog > 0));
        if !counted {
            return;
        }
        link.sent.record(event.size);
        let bin = self.series.bin(Subject::Link(event.link));
        bin.sent.record(event.size);
        if let Some(waited) = waited {
            link.queueing.record(waited);
            bin.queueing.0 += u128::from(waited.as_ps());
            bin.queueing.1 += 1;
        }
    }

    fn receive(&mut self, event: &Event, names: &Names, counted: bool) {
        let travel = self.travels.get(&event.uid).copied();
        let fresh = |travel: &Travel| travel.seen.saturating_add(self.horizon) >= event.time;
        if let Some(travel) = travel.filter(|travel| !fresh(travel))
            && travel.place == Place::Wire
            && [NONE, travel.link].contains(&event.link)
        {
            self.late = Some(travel.seen);
        }
        let travel = travel.filter(fresh);
        let link = match (event.link, &travel) {
            (NONE, Some(travel)) => travel.link,
            (link, _) => link,
        };
        if let Some(stats) = self.links.get_mut(place(link)) {
            stats.to = Some(event.node);
            let hop = self.hops.remove(&(event.uid, link));
            if counted {
                stats.received.record(event.size);
                if let Some(sent) = hop.and_then(|hop| hop.sent) {
                    stats.transit.record(event.time.saturating_since(sent));
                }
                self.series
                    .bin(Subject::Link(link))
                    .received
                    .record(event.size);
            }
        }
        let Some(mut travel) = travel else {
            return;
        };
        travel.seen = event.time;
        travel.marked = event.marked;
        let role = match names.flows[place(event.flow)].destination_node {
            Some(node) if node == event.node => Some(Role::End),
            Some(_) => Some(Role::Router),
            None => self.roles.get(&(event.flow, event.node)).copied(),
        };
        let (node, pending) = (event.node, role.is_none());
        travel.place = Place::Node { node, pending };
        if role == Some(Role::End) {
            self.travels.remove(&event.uid);
            self.arrive(&travel, names, node, counted);
            return;
        }
        self.travels.insert(event.uid, travel);
        if pending {
            self.pending.push_back((event.time, event.uid, node));
        }
    }

    /// Decides about arrivals that are old enough.
    fn settle(&mut self, now: Time, names: &Names) {
        while let Some((time, uid, node)) = self.pending.front().copied()
            && time.saturating_add(SETTLE) <= now
        {
            self.pending.pop_front();
            let waits = Place::Node {
                node,
                pending: true,
            };
            let Some(travel) = self.travels.get(&uid).copied() else {
                continue;
            };
            if travel.place != waits || travel.seen != time {
                continue;
            }
            if self.roles.get(&(travel.flow, node)) != Some(&Role::Router) {
                self.travels.remove(&uid);
                self.arrive(&travel, names, node, time >= self.from);
                self.end_at(travel.flow, node, names);
            }
        }
    }

    /// A node turns out to be the end of a flow: what of it waits there has arrived.
    fn end_at(&mut self, flow: u32, node: u32, names: &Names) {
        if self.roles.insert((flow, node), Role::End) == Some(Role::End) {
            return;
        }
        let waits = Place::Node {
            node,
            pending: true,
        };
        for (time, uid, at) in std::mem::take(&mut self.pending) {
            let travel = self.travels.get(&uid).copied();
            let travel = travel.filter(|travel| {
                at == node && travel.flow == flow && travel.place == waits && travel.seen == time
            });
            match travel {
                None => self.pending.push_back((time, uid, at)),
                Some(travel) => {
                    self.travels.remove(&uid);
                    self.arrive(&travel, names, node, time >= self.from);
                }
            }
        }
    }

    /// A packet has arrived where it was to go, when it was seen last.
    fn arrive(&mut self, travel: &Travel, names: &Names, node: u32, counted: bool) {
        let time = travel.seen;
        if travel.acknowledged > 0
            && let Some(reverse) = names.flows[place(travel.flow)].reverse
        {
            self.flows[place(reverse)].acknowledge(travel.acknowledged, time, counted);
        }
        let flow = &mut self.flows[place(travel.flow)];
        if travel.whole {
            flow.jitter.record(signed(time, travel.started), counted);
        }
        let last = flow.last_arrival.replace(time);
        if !counted {
            return;
        }
        flow.touch(time);
        flow.received.record(travel.size);
        flow.marked += u64::from(travel.marked);
        if let Some(last) = last.filter(|last| *last >= self.from) {
            flow.gaps.record(time.saturating_since(last));
        }
        let delay = travel.whole.then(|| time.saturating_since(travel.started));
        if let Some(delay) = delay {
            flow.delay.record(delay);
        }
        self.nodes[place(node)].received.record(travel.size);
        let count = |bin: &mut Bin| {
            bin.received.record(travel.size);
            bin.highest.1 = bin.highest.1.max(travel.end);
            if let Some(delay) = delay {
                bin.delay.0 += u128::from(delay.as_ps());
                bin.delay.1 += 1;
            }
        };
        for subject in [
            Subject::Flow(travel.flow),
            Subject::Node(node),
            Subject::Trace,
        ] {
            self.series.late(time, subject, count);
        }
    }

    fn drop(&mut self, event: &Event, counted: bool) {
        let link = &mut self.links[place(event.link)];
        if let Some(hop) = self.hops.remove(&(event.uid, event.link))
            && hop.sent.is_none()
        {
            link.backlog = link.backlog.saturating_sub(1);
            if link.backlog == 0
                && let Some(last) = &mut link.last_sent
            {
                last.2 = false;
            }
        }
        self.travels.remove(&event.uid);
        if !counted {
            return;
        }
        link.dropped.record(event.size);
        self.nodes[place(event.node)].dropped.record(event.size);
        let flow = &mut self.flows[place(event.flow)];
        flow.dropped.record(event.size);
        flow.touch(event.time);
        for subject in [
            Subject::Link(event.link),
            Subject::Node(event.node),
            Subject::Flow(event.flow),
            Subject::Trace,
        ] {
            self.series.bin(subject).dropped.record(event.size);
        }
    }

    /// A packet will not be heard of any more.
    fn give_up(&mut self, travel: &Travel) {
        if travel.seen < self.from {
            return;
        }
        let flow = &mut self.flows[place(travel.flow)];
        let heard = self
            .links
            .get(place(travel.link))
            .is_some_and(|link| link.received.packets > 0);
        match travel.place {
            // It may have gone on where nothing is traced.
            Place::Node { .. } => flow.open.record(travel.size),
            Place::Wire if !heard => flow.open.record(travel.size),
            Place::Wire | Place::Queue => flow.lost.record(travel.size),
        }
    }

    /// Removes what is too old.
    #[cold]
    fn forget(&mut self, now: Time) {
        let horizon = self.horizon;
        let mut old = Vec::new();
        self.travels.retain(|_, travel| {
            let keep = travel.seen.saturating_add(horizon) >= now;
            if !keep {
                old.push(*travel);
            }
            keep
        });
        for travel in &old {
            self.give_up(travel);
        }
        let (links, from) = (&mut self.links, self.from);
        self.hops.retain(|(_, link), hop| {
            let keep = hop.seen().saturating_add(horizon) >= now;
            if !keep {
                passed(&mut links[place(*link)], hop, from);
            }
            keep
        });
        self.sweep = (
            SWEEP.max(2 * self.travels.len()),
            SWEEP.max(2 * self.hops.len()),
        );
    }

    /// The trace is over.
    pub(super) fn finish(&mut self, names: &Names) {
        self.settle(Time::MAX, names);
        let Some((_, end)) = self.span else {
            return;
        };
        self.forget(end);
        let open: Vec<Travel> = self.travels.drain().map(|(_, travel)| travel).collect();
        for travel in open.iter().filter(|travel| travel.seen >= self.from) {
            self.flows[place(travel.flow)].open.record(travel.size);
        }
    }
}

/// A hop is too old: it was lost on the wire, if such hops are heard of at all.
fn passed(link: &mut LinkStats, hop: &Hop, from: Time) {
    match hop.sent {
        None => link.backlog = link.backlog.saturating_sub(1),
        Some(_) if link.received.packets > 0 && hop.seen() >= from => link.lost.record(hop.size),
        Some(_) => {}
    }
}
