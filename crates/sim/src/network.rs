//! The network: the loop that runs its components, and the conservation of packets.
//!
//! By file: `spec` what it is built from, `build` how, `rank` the order of components, `frame` what links hand back, `host` what endpoints see, `counts` what is
//! counted; `quiet` which links need few events, `launch` and `ahead` how their packets run ahead; `groups`, `dense` and `multicast` packets to several receivers.

mod ahead;
mod build;
mod counts;
mod dense;
mod frame;
mod groups;
mod host;
mod launch;
mod multicast;
mod quiet;
mod rank;
mod spec;

pub use self::counts::{Census, FlowCounts};
pub use self::groups::{DelayCounts, ReceiverCounts};
pub use self::spec::{AgentSpec, BuildError, FlowSpec, LinkSpec, MAX_HOPS, NetworkSpec};

use self::frame::{Frame, Handed};
use self::host::Cx;
use self::quiet::Quiet;
use crate::agent::Agent;
use crate::fel::{self, AutoList, EventList};
use crate::link::{Link, LinkSink, LinkState};
use crate::packet::{Flags, NONE, Packet};
use crate::port::{DropReason, FastPort, PortSink};
use crate::routing::Routes;
use crate::slab::to_usize;
use crate::trace::{Event, Tracer};
use sojourn_units::{Rate, Span, Time};

/// Events between two questions whether the run is to stop: a fraction of a second even where each is slow.
const EVENTS_AT_A_TIME: u32 = 1 << 12;

/// The order of events: time, then birth (the instant the event was scheduled), then the rank of the component.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Key {
    /// When it happens.
    pub time: Time,
    /// When it was scheduled; read only when times are equal.
    pub birth: Time,
    /// Twice the component's id; a departure of a link comes right after the link's deliveries.
    pub order: u64,
}

impl Key {
    /// The key of an event of component `id`.
    #[inline]
    pub fn event(time: Time, birth: Time, id: u32) -> Key {
        Key {
            time,
            birth,
            order: 2 * u64::from(id),
        }
    }

    /// The place of a departure of link `id` among events of equal time and birth.
    #[inline]
    pub(crate) fn departure_order(id: u32) -> u64 {
        2 * u64::from(id) + 1
    }

    /// Before every event at `time`.
    #[inline]
    pub fn before(time: Time) -> Key {
        Key {
            time,
            birth: Time::ZERO,
            order: 0,
        }
    }

    /// After every event of component `id` at `time` that was born by `birth`.
    #[inline]
    fn including_departure(self) -> Key {
        Key {
            order: self.order + 2,
            ..self
        }
    }
}

/// A flow: the way of its sender's packets, and the way back.
struct Flow {
    ways: [Way; 2],
}

/// One direction of a flow.
#[repr(C, align(64))]
struct Way {
    counts: FlowCounts,
    /// The node that its packets are addressed to.
    node: u32,
    /// The agent that gets them, [`NONE`] for a passive sink.
    receiver: u32,
    /// As [`Seat::tos`].
    tos: u8,
}

#[derive(Clone, Copy)]
enum Component {
    /// Of a plain link: lazy, without impairments and device queue.
    Delivery(u32),
    /// Of a plain link with a [source](Link::source) of its own.
    Outlet(u32),
    /// Of a plain link that [feeds](Link::feeds) others.
    Feeder(u32),
    /// Of any other link.
    Landing(u32),
    Departure(u32),
    Agent(u32),
    /// Joins, leaves, and packets for members.
    Groups,
}

struct Core<P, T> {
    key: Key,
    /// The next stop of the run, at which everything has to be as if no packet had run ahead.
    horizon: Time,
    /// Links whose packets in flight may run ahead, and whose event is not listed, until that is seen to.
    due: Vec<u32>,
    fel: AutoList,
    /// The next arrival at the end of the link whose packet has arrived last, which is to be listed.
    again: Again,
    links: Vec<Link<P>>,
    routes: Routes,
    seats: Vec<Seat>,
    /// Births say where events lie on the clock of ns-2.
    on_ns2_clock: bool,
    frame: Frame<T>,
}

/// An event that is to be listed, or none. Its parts are written and read one by one: to read them at once, so soon after they were
/// written, waits for all of them.
struct Again {
    time: u64,
    birth: u64,
    /// [`NONE`] if there is none.
    id: u32,
}

impl Default for Again {
    fn default() -> Self {
        Again {
            time: 0,
            birth: 0,
            id: NONE,
        }
    }
}

impl Again {
    /// The event of a plain link is to be listed, if packets are in flight on it.
    #[inline(always)]
    fn list<P: FastPort>(&mut self, link: &Link<P>) {
        if let Some(next) = link.next_landing() {
            self.time = next.time;
            self.birth = next.birth;
            self.id = next.id;
        }
    }

    #[inline(always)]
    fn take(&mut self) -> Option<fel::Event> {
        if self.id == NONE {
            return None;
        }
        let event = fel::Event {
            time: self.time,
            birth: self.birth,
            id: self.id,
        };
        self.id = NONE;
        Some(event)
    }
}

/// The place of an endpoint in the network, and what it has sent: one cache line.
#[repr(align(64))]
struct Seat {
    /// When its event fires, [`Time::MAX`] if it has none. The event is in the list, except that of a source while it is
    /// *deferred*: until a packet has arrived at the end of the outlet. Of a source this tells the deferred event only.
    wakes: Time,
    /// When that event was armed.
    armed: Time,
    /// Packets of its flow that it has sent and their bytes, until the flow is told of them.
    sent: (u64, u64),
    /// Its flow, if it has exactly one and is one end of it, or [`NONE`].
    flow: u32,
    /// The node of the other end of that flow.
    peer: u32,
    /// The link that leads there, or [`NONE`].
    exit: u32,
    /// Of its component.
    id: u32,
    node: u32,
    /// The link whose [source](Link::source) it is, or [`NONE`].
    outlet: u32,
    /// It is the receiver of its flow: what it sends travels back.
    answers: bool,
    /// The codepoint of its flow, where packets have it: above the two bits of ECN.
    tos: u8,
}

impl Seat {
    /// The event of a source that is deferred.
    #[inline(always)]
    fn deferred(&self) -> Option<Key> {
        (self.wakes != Time::MAX).then(|| Key::event(self.wakes, self.armed, self.id))
    }
}

const _: () = assert!(size_of::<Seat>() == 64);

/// A network that runs.
pub struct Network<P, A, T> {
    core: Core<P, T>,
    agents: Vec<A>,
    components: Vec<Component>,
    /// Links that are silent, and links that have a source.
    quiet: Quiet,
    link_names: Vec<String>,
    flow_names: Vec<String>,
    node_names: Vec<String>,
    link_ends: Vec<(u32, u32)>,
    measuring_from: Time,
    finished: bool,
}

impl<P: FastPort, A: Agent, T: Tracer> Network<P, A, T> {
    /// Runs every event before `until`.
    pub fn run_before(&mut self, until: Time) {
        self.run_before_unless(until, &|| false);
    }

    /// Runs every event before `until` unless `stop` says to stop; says whether it did get there. `stop` is asked every few
    /// thousand events, and has no influence on what happens in the run. A network that was stopped is good for nothing but to be
    /// asked for its time.
    pub fn run_before_unless(&mut self, until: Time, stop: &dyn Fn() -> bool) -> bool {
        let limit = until.as_ps();
        self.core.horizon = until;
        self.run_ahead();
        let mut events = 0;
        let mut patience = EVENTS_AT_A_TIME;
        while let Some(event) = self.core.next_event(limit) {
            patience -= 1;
            if patience == 0 {
                if stop() {
                    return false;
                }
                patience = EVENTS_AT_A_TIME;
            }
            events += 1;
            if T::ON {
                self.core.frame.tracer.advance(Time::from_ps(event.time));
            }
            let component = self.components[to_usize(event.id)];
            if let Component::Delivery(link) = component {
                self.deliver::<false>(link, event.time, event.birth, event.id);
                self.run_ahead();
                continue;
            }
            if let Component::Outlet(link) = component {
                self.deliver_from_outlet(link, event.time, event.birth, event.id);
                self.run_ahead();
                continue;
            }
            self.core.key = key_of(event.time, event.birth, event.id);
            match component {
                Component::Feeder(link) => events -= u64::from(!self.deliver_from_feeder(link)),
                Component::Agent(agent) => {
                    self.core.seats[to_usize(agent)].wakes = Time::MAX;
                    self.wake(agent);
                    self.go_on(agent);
                }
                Component::Departure(link) => events -= u64::from(!self.core.depart(link)),
                Component::Groups => self.tend_groups(),
                Component::Landing(link) | Component::Delivery(link) | Component::Outlet(link) => {
                    self.deliver_landing(link);
                }
            }
            self.run_ahead();
        }
        self.core.frame.census.events += events;
        self.make_up_for(until);
        self.core.key = Key::before(until);
        true
    }

    /// Does what has not been done yet and comes before `until`: what sources send whose event is deferred, and what has
    /// arrived at the end of silent links.
    fn make_up_for(&mut self, until: Time) {
        for i in 0..self.quiet.outlets.len() {
            let (_, source) = self.quiet.outlets[i];
            self.wake_deferred(source, &Key::before(until));
            self.go_on(source);
        }
        self.core.key = Key::before(until);
        for i in 0..self.quiet.calm.len() {
            let link = self.quiet.calm[i];
            self.core.settle(to_usize(link));
            self.run_ahead_of(link);
            self.core.key = Key::before(until);
        }
        for link in &self.quiet.silent {
            let link = to_usize(*link);
            self.core.settle(link);
            self.core.frame.absorb(&mut self.core.links[link], until);
        }
        self.core.tell_flows();
    }

    #[inline(never)]
    fn wake(&mut self, agent: u32) {
        let cx = &mut Cx {
            core: &mut self.core,
            agent,
        };
        if let Some(endpoint) = self.agents.get_mut(to_usize(agent)) {
            endpoint.on_wake(cx);
        }
    }

    /// A packet has arrived at the far end of a plain link: lazy, without impairments and device queue. The next arrival of
    /// a feeder is left to the caller to list.
    #[inline(always)]
    fn deliver<const FEEDS: bool>(&mut self, link: u32, time: u64, birth: u64, id: u32) {
        let now = Time::from_ps(time);
        let core = &mut self.core;
        let Some(from) = core.links.get_mut(to_usize(link)) else {
            return;
        };
        if from.waiting {
            from.catch_up(
                &key_of(time, birth, id).including_departure(),
                &mut core.frame,
            );
        }
        let Some(packet) = from.ring.flight_head() else {
            return;
        };
        if T::ON {
            core.frame.at_key(key_of(time, birth, id), link);
            core.frame.event(Event::Receive, packet);
        }
        let mut next = from.onward;
        if next == NONE && packet.dst == from.to {
            let packet = from.ring.land_next();
            core.frame.census.hops += 1;
            core.key = key_of(time, birth, id);
            if !FEEDS {
                core.again.list(from);
            }
            self.consume(&packet);
            return;
        }
        let (size, flow, hops_left) = (packet.size, packet.flow, packet.hops_left);
        if next == NONE {
            next = core.routes.towards(from.exits, packet.dst);
        }
        if let Ok([from, to]) = core
            .links
            .get_disjoint_mut([to_usize(link), to_usize(next)])
            && hops_left > 0
            && let Some((start, arrival)) = to.enter(size, flow, now, core.horizon)
        {
            if to.silent {
                core.frame.absorb(to, now);
            }
            let listed = to.is_listed();
            core.frame.census.hops += 1;
            if !FEEDS && to.feeds && !listed && !to.calm {
                return self.go_straight_on(link, next, start, arrival);
            }
            let Some(packet) = to.ring.relay(&mut from.ring) else {
                return;
            };
            packet.at = arrival;
            packet.launched = start;
            packet.hops_left = hops_left - 1;
            if T::ON {
                core.frame.at_key(key_of(time, birth, id), to.index);
                core.frame.event(Event::Enqueue, packet);
                core.frame.event(Event::Dequeue, packet);
            }
            if !FEEDS {
                core.again.list(from);
            }
            if !listed {
                if !to.feeds {
                    core.fel.set(to.id, arrival.as_ps(), start.as_ps());
                } else if to.needs_event() {
                    core.due.push(next);
                }
            }
        } else {
            core.frame.census.hops += 1;
            core.key = key_of(time, birth, id);
            core.pass_on(link, next);
        }
    }

    /// A packet has arrived at the far end of a link that is eager or has impairments.
    #[inline(never)]
    fn deliver_landing(&mut self, link: u32) {
        let core = &mut self.core;
        let key = core.key;
        let index = to_usize(link);
        core.links[index].catch_up(&key.including_departure(), &mut core.frame);
        let Some(packet) = core.links[index].land() else {
            return;
        };
        core.list_events(index);
        if packet.flags.has(Flags::LOST) {
            core.links[index].count_loss();
            core.lose(packet, DropReason::Wire, link);
            return;
        }
        core.frame.census.hops += 1;
        if T::ON {
            core.frame.at_key(key, link);
            core.frame.event(Event::Receive, &packet);
        }
        let to = core.links[index].to;
        if packet.flags.has(Flags::DOUBLED) {
            self.deliver_twice(packet, to);
        } else {
            self.at_node(packet, to);
        }
    }

    #[cold]
    fn deliver_twice(&mut self, mut packet: Packet, to: u32) {
        packet.flags = packet.flags.without(Flags::DOUBLED);
        let copy = self.core.frame.copy(&packet);
        self.at_node(packet, to);
        self.at_node(copy, to);
    }

    /// A packet has arrived at `node`: its endpoint gets it, or the next link does.
    fn at_node(&mut self, packet: Packet, node: u32) {
        if packet.dst == node {
            self.consume(&packet);
        } else {
            let next = self.core.routes.next(node, packet.dst);
            self.core.forward(packet, next);
        }
    }

    /// A packet has arrived where it was sent to.
    #[inline(never)]
    fn consume(&mut self, packet: &Packet) {
        let way = &self.core.frame.flows[to_usize(packet.flow)].ways[direction(packet)];
        self.hand_to(way.receiver, packet);
    }

    /// A packet has arrived at an endpoint.
    #[inline(always)]
    fn hand_to(&mut self, agent: u32, packet: &Packet) {
        let core = &mut self.core;
        core.frame.take_in(packet, core.key.time);
        if let Some(endpoint) = self.agents.get_mut(to_usize(agent)) {
            endpoint.on_packet(packet, &mut Cx { core, agent });
        }
        core.frame.release(packet);
    }

    /// Brings the link's state up to (and not including) events at the current time of the run.
    pub fn settle(&mut self, link: usize) {
        self.core.settle(link);
        self.core.links[link].update_port(self.core.key.time);
    }

    /// Brings every link's state up to the current time of the run.
    pub fn settle_all(&mut self) {
        for link in 0..self.core.links.len() {
            self.core.settle(link);
        }
    }

    /// The warm-up ends at the current time of the run: measures count from here on.
    pub fn start_measuring(&mut self) {
        self.settle_all();
        let now = self.core.key.time;
        self.measuring_from = now;
        if now == Time::ZERO {
            // What agents sent when they started is the beginning of what is measured.
            return;
        }
        for link in &mut self.core.links {
            link.start_measuring(now);
        }
        for flow in &mut self.core.frame.flows {
            for way in &mut flow.ways {
                way.counts = FlowCounts {
                    last_transit: way.counts.last_transit,
                    ..FlowCounts::default()
                };
            }
        }
        self.core.frame.groups.start_measuring();
        for agent in &mut self.agents {
            agent.start_measuring(now);
        }
    }

    /// Changes the rate of a link from the next start of transmission on.
    pub fn set_rate(&mut self, link: usize, rate: Rate) {
        // What is due before the change reckons with the rate before.
        self.settle(link);
        self.core.links[link].set_rate(rate);
    }

    /// Takes a link down, or up again; see [`LinkState`].
    ///
    /// # Panics
    /// If the link was not built with [outages](crate::ImpairmentSpec::outages).
    pub fn set_state(&mut self, link: usize, state: LinkState) {
        // What is due before the change happens in the state before.
        self.settle(link);
        let now = self.core.key.time;
        self.core.links[link].set_state(state, now);
        self.core.list_events(link);
    }

    /// Changes the delay of a link for packets that start from now on.
    pub fn set_delay(&mut self, link: usize, delay: Span) {
        self.core.settle(link);
        self.core.links[link].set_delay(delay);
        if self.core.links[link].feeds {
            // What a shaper holds back may arrive before the look that is listed.
            self.core.links[link].looks = false;
            self.core.list_look(link);
        }
    }

    /// Ends the run at its current time: closes accounts, empties every queue and wire, and asserts that
    /// packets were conserved and that no side data is left.
    ///
    /// # Panics
    /// If a packet was lost track of: a fault of the simulator.
    pub fn finish(&mut self) -> Census {
        assert!(!self.finished, "a run ends once");
        self.finished = true;
        self.settle_all();
        let now = self.core.key.time;
        let population: u64 = self.core.links.iter().map(Link::population).sum();
        for i in 0..self.core.links.len() {
            self.core.links[i].finish(now, &mut self.core.frame);
        }
        self.core.frame.tracer.finish();
        let census = self.core.frame.census;
        assert_eq!(
            census.left, population,
            "packets left in queues and on wires"
        );
        assert_eq!(
            census.created + census.replicated,
            census.delivered + census.dropped + census.left,
            "packets conserve: created + replicated = delivered + dropped + in queues + in flight"
        );
        assert!(
            self.core.frame.slab.is_empty(),
            "side data of a packet that is gone"
        );
        census
    }

    /// The time up to which events have run.
    pub fn now(&self) -> Time {
        self.core.key.time
    }

    /// When measuring began.
    pub fn measuring_from(&self) -> Time {
        self.measuring_from
    }

    /// Counts of the whole run so far.
    pub fn census(&self) -> Census {
        self.core.frame.census
    }

    /// Longest time by which a lazy link's events may reach the tracer late.
    pub fn lag(&self) -> Span {
        self.core
            .links
            .iter()
            .map(Link::longest_wire)
            .max()
            .unwrap_or(Span::ZERO)
    }

    /// The tracer.
    pub fn tracer(&self) -> &T {
        &self.core.frame.tracer
    }

    /// The tracer, to be configured once the network is known.
    pub fn tracer_mut(&mut self) -> &mut T {
        &mut self.core.frame.tracer
    }

    /// Takes the tracer out of the network.
    pub fn into_tracer(self) -> T {
        self.core.frame.tracer
    }

    /// The queue of a link.
    pub fn port(&self, link: usize) -> &P {
        &self.core.links[link].port
    }

    /// Packets and bytes that a link has started to send since measuring began.
    pub fn sent(&self, link: usize) -> (u64, u64) {
        self.core.links[link].sent()
    }

    /// Packets that the impairments of a link lost since measuring began; its queue's counts have none of them.
    pub fn lost(&self, link: usize) -> u64 {
        self.core.links[link].lost()
    }

    /// Flow and bytes of each packet that the queue of a link has given up and that is not at the link's far end.
    pub fn on_the_way(&self, link: usize) -> impl Iterator<Item = (usize, u64)> {
        let packets = self.core.links[link].given_up();
        packets.map(|packet| (to_usize(packet.flow), u64::from(packet.size)))
    }

    /// Counts of a flow: packets of its sender, and packets of its receiver.
    pub fn flow(&self, flow: usize) -> [&FlowCounts; 2] {
        let [there, back] = &self.core.frame.flows[flow].ways;
        [&there.counts, &back.counts]
    }

    /// An endpoint.
    pub fn agent(&self, agent: usize) -> &A {
        &self.agents[agent]
    }

    /// Names of the links, in order of their index.
    pub fn link_names(&self) -> &[String] {
        &self.link_names
    }

    /// Nodes at the head and the far end of each link.
    pub fn link_ends(&self) -> &[(u32, u32)] {
        &self.link_ends
    }

    /// Names of the flows, in order of their index.
    pub fn flow_names(&self) -> &[String] {
        &self.flow_names
    }

    /// Names of the nodes, in order of their index.
    pub fn node_names(&self) -> &[String] {
        &self.node_names
    }
}

impl<P: FastPort, T: Tracer> Core<P, T> {
    /// The birth of an event that is scheduled now for `at`.
    #[inline]
    fn birth(&mut self, at: Time) -> Time {
        let (now, birth) = (self.key.time, self.key.birth);
        match self.on_ns2_clock {
            true => self.frame.ns2_clock.scheduled(at, (now, birth)),
            false => now,
        }
    }

    /// Takes the next event before `limit` out of the list. Packets often arrive in pairs, so the next arrival at the end of the
    /// link that had the last one may well be it: then it need not enter the list at all.
    #[inline(always)]
    fn next_event(&mut self, limit: u64) -> Option<fel::Event> {
        if let Some(again) = self.again.take() {
            if again.time < limit && self.fel.comes_first(again.id, again.time) {
                return Some(again);
            }
            self.fel.set(again.id, again.time, again.birth);
        }
        self.fel.pop_before(limit)
    }

    /// Tells the census and the flows what was counted elsewhere on the way.
    fn tell_flows(&mut self) {
        let frame = &mut self.frame;
        let ahead = std::mem::take(&mut frame.ahead);
        frame.census.hops += ahead;
        frame.census.events += ahead + std::mem::take(&mut frame.launched);
        for seat in &mut self.seats {
            let (packets, bytes) = std::mem::take(&mut seat.sent);
            if packets > 0
                && let Some(flow) = frame.flows.get_mut(to_usize(seat.flow))
            {
                let counts = &mut flow.ways[usize::from(seat.answers)].counts;
                counts.sent_packets += packets;
                counts.sent_bytes += bytes;
            }
        }
    }

    /// Counts a packet of an endpoint that has several flows, or sends for one that is not its own. Says where the packet
    /// goes, whether it travels back, over which link it leaves, and its codepoint.
    #[cold]
    fn address(&mut self, agent: u32, flow: u32, bytes: u32) -> (u32, bool, u32, u8) {
        let ways = &mut self.frame.flows[to_usize(flow)].ways;
        // A sender sends forward; whoever else sends for the flow answers.
        let reverse = ways[1].receiver != agent;
        let way = &mut ways[usize::from(reverse)];
        way.counts.sent_packets += 1;
        way.counts.sent_bytes += u64::from(bytes);
        let node = self.seats[to_usize(agent)].node;
        (way.node, reverse, self.routes.next(node, way.node), way.tos)
    }

    fn settle(&mut self, link: usize) {
        let key = self.key;
        let l = &mut self.links[link];
        // Strictly before the current time: events at it have not run.
        if l.free_at < key.time || l.fill_at < key.time {
            let bound = Key {
                time: Time::from_ps(key.time.as_ps() - 1),
                birth: Time::MAX,
                order: u64::MAX,
            };
            l.catch_up(&bound, &mut self.frame);
        }
        l.settle_port(key.time);
        self.list_events(link);
    }

    /// Takes the packet that has arrived at the far end of a plain link, and hands it to the link `next`, which does not let
    /// it through. Lists the next arrival, unless the link feeds others.
    #[inline(never)]
    fn pass_on(&mut self, link: u32, next: u32) {
        self.queue_up(link, next);
        if let Some(from) = self.links.get(to_usize(link))
            && !from.feeds
        {
            self.again.list(from);
        }
    }

    /// Takes the packet that has arrived at the far end of a plain link, and hands it to the link `next`, which does not let
    /// it through: as a rule that transmits, and the packet waits there.
    #[inline(always)]
    fn queue_up(&mut self, link: u32, next: u32) {
        if let Ok([from, to]) = self
            .links
            .get_disjoint_mut([to_usize(link), to_usize(next)])
        {
            let was_listed = to.is_listed();
            let queued = self.frame.queue_up(from, to, &self.key, self.horizon);
            if to.feeds && !was_listed && to.needs_event() {
                self.due.push(next);
            }
            if queued {
                return;
            }
        }
        self.offer(link, next);
    }

    /// Takes the packet that has arrived at the far end of a plain link, and offers it to the link `next`.
    #[inline(never)]
    fn offer(&mut self, link: u32, next: u32) {
        if let Some(from) = self.links.get_mut(to_usize(link)) {
            let packet = from.ring.land_next();
            self.forward(packet, next);
        }
    }

    /// Says whether the departure is an event in its own right: that of a lazy link only looks what is held back.
    fn depart(&mut self, link: u32) -> bool {
        let index = to_usize(link);
        self.links[index].on_departure_event(&self.key, &mut self.frame);
        self.list_events(index);
        self.links[index].eager
    }

    /// Lists the events of a link whose state has changed outside the fast path.
    fn list_events(&mut self, link: usize) {
        let l = &self.links[link];
        if l.calm {
            return;
        }
        if let Some((at, birth)) = l.next_delivery() {
            self.fel.set(l.id, at.as_ps(), birth.as_ps());
        }
        if let Some((at, birth)) = l.next_departure() {
            self.fel.set(l.id + 1, at.as_ps(), birth.as_ps());
        }
        if l.feeds {
            self.list_look(link);
        }
    }

    #[cold]
    fn lose(&mut self, packet: Packet, reason: DropReason, link: u32) {
        self.frame.traced = (self.key, link);
        self.frame.dropped(packet, reason, self.key.time);
    }

    /// As [`Core::forward`], out of line.
    #[inline(never)]
    fn forward_new(&mut self, packet: Packet, next: u32) {
        self.forward(packet, next);
    }

    /// Hands a packet to the link `next`, [`NONE`] if no route leads on.
    #[inline]
    fn forward(&mut self, mut packet: Packet, next: u32) {
        let index = to_usize(next);
        let Some(link) = self.links.get_mut(index) else {
            self.forward_beyond(packet);
            return;
        };
        if packet.hops_left == 0 {
            self.lose(packet, DropReason::HopLimit, next);
            return;
        }
        packet.hops_left -= 1;
        let was_listed = link.is_listed();
        link.arrive(packet, &self.key, &mut self.frame);
        link.launch_ahead(self.horizon, &mut self.frame);
        if !link.plain {
            self.list_events(index);
        } else if was_listed {
        } else if link.feeds {
            if link.needs_event() {
                self.due.push(next);
            }
        } else if let Some((at, birth)) = link.next_delivery() {
            self.fel.set(link.id, at.as_ps(), birth.as_ps());
        }
    }
}

/// The key of an event of the event list.
#[inline(always)]
fn key_of(time: u64, birth: u64, id: u32) -> Key {
    Key::event(Time::from_ps(time), Time::from_ps(birth), id)
}

#[inline]
fn direction(packet: &Packet) -> usize {
    usize::from(packet.flags.has(Flags::REVERSE))
}
