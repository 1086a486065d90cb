//! The network: components, the loop that runs them, and the conservation of packets.

mod ahead;
mod dense;
mod groups;
mod launch;
mod multicast;
mod quiet;

pub use self::groups::{DelayCounts, ReceiverCounts};

use self::groups::{BEYOND, FRESH, Groups};
use self::quiet::Quiet;
use crate::agent::{Agent, Host};
use crate::fel::{self, AutoList, EventList};
use crate::group::GroupSpec;
use crate::histogram::Histogram;
use crate::impair::{ImpairmentSpec, Impairments};
use crate::link::{Link, LinkShape, LinkSink, LinkState, Ties, TxRounding};
use crate::ns2_time;
use crate::opportunities::Opportunities;
use crate::packet::{Flags, Label, NONE, Outgoing, Packet};
use crate::port::{DropReason, FastPort, MarkReason, PortSink};
use crate::routing::Routes;
use crate::slab::{Side, Slab, to_usize};
use crate::trace::{Event, Record, Tracer};
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

/// One direction of a link, as a scenario describes it.
#[derive(Clone, Debug)]
pub struct LinkSpec<P> {
    /// Stable name, such as `link/left-right`: streams and rank derive from it.
    pub name: String,
    /// Index of the node at the head.
    pub from: u32,
    /// Index of the node at the far end.
    pub to: u32,
    /// Rate of serialization.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Span,
    /// Rounding of serialization times.
    pub rounding: TxRounding,
    /// Packets that the device takes from the discipline ahead of their transmission.
    pub device_queue: u32,
    /// Bytes that the link adds to each packet while it transmits it: what queues count does not have them.
    pub header: u32,
    /// When it may send, in place of the rate; not on the clock of ns-2. The rate is what the queue is told.
    pub opportunities: Option<Opportunities>,
    /// What the wire does to packets.
    pub impairments: ImpairmentSpec,
    /// The queue.
    pub port: P,
}

/// An endpoint and where it sits.
#[derive(Clone, Debug)]
pub struct AgentSpec<A> {
    /// Stable name, such as `flow/reno-1/sender`.
    pub name: String,
    /// Index of its node.
    pub node: u32,
    /// The endpoint.
    pub agent: A,
}

/// A flow: who sends and who receives.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// Stable name, such as `flow/reno-1`.
    pub name: String,
    /// Differentiated services codepoint of its packets, both ways: 0 to 63.
    pub dscp: u8,
    /// Node of the sender.
    pub source: u32,
    /// Node of the receiver; or a group, as the number of nodes and its index.
    pub sink: u32,
    /// Index of the sending agent.
    pub sender: u32,
    /// Index of the receiving agent; `None` for a passive sink, where packets are only counted, and for a group.
    pub receiver: Option<u32>,
}

/// A whole network, ready to be built.
#[derive(Clone, Debug)]
pub struct NetworkSpec<P, A> {
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// Link directions.
    pub links: Vec<LinkSpec<P>>,
    /// Endpoints.
    pub agents: Vec<AgentSpec<A>>,
    /// Flows.
    pub flows: Vec<FlowSpec>,
    /// Groups that flows may be sent to.
    pub groups: Vec<GroupSpec>,
    /// Order of events at one instant.
    pub ties: Ties,
    /// True runs every link in eager mode: slower, the same result.
    pub eager: bool,
    /// Seed of the run.
    pub seed: u64,
    /// Replication of the run.
    pub replication: u64,
}

/// Why a network cannot be built.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BuildError {
    /// No path leads from a flow's source to its sink, or back.
    Unreachable {
        /// The flow.
        flow: String,
        /// Name of the node from which no path leads.
        from: String,
        /// Name of the node that cannot be reached.
        to: String,
    },
    /// A path is longer than a packet may travel.
    TooFar {
        /// The flow.
        flow: String,
        /// Links on its path.
        links: usize,
    },
    /// The links of a static tree lead to a node by two ways.
    NotATree {
        /// The group.
        group: String,
        /// Name of the node.
        node: String,
    },
    /// Two components have one name.
    Duplicate {
        /// The name.
        name: String,
    },
}

impl std::fmt::Display for BuildError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BuildError::Unreachable { flow, from, to } => write!(
                f,
                "{flow}: no path leads from node \"{from}\" to node \"{to}\"; connect them with a link"
            ),
            BuildError::TooFar { flow, links } => write!(
                f,
                "{flow}: its path has {links} links, a packet may cross at most {MAX_HOPS}"
            ),
            BuildError::NotATree { group, node } => write!(
                f,
                "{group}: its links lead to node \"{node}\" by two ways; leave one out"
            ),
            BuildError::Duplicate { name } => {
                write!(f, "two components are called \"{name}\"; names must differ")
            }
        }
    }
}

impl std::error::Error for BuildError {}

/// Links that a packet may cross.
pub const MAX_HOPS: u8 = 254;

/// Counts of one direction of a flow, from the end of the warm-up on. What a delivery touches is in two cache lines.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct FlowCounts {
    /// Sum of one-way delays of delivered packets, picoseconds.
    pub delay_sum: u128,
    /// Sum of |D(i-1, i)| over consecutive deliveries (RFC 3550), picoseconds.
    pub jitter_sum: u128,
    /// Packets that arrived.
    pub delivered_packets: u64,
    /// Bytes on the wire that arrived.
    pub delivered_bytes: u64,
    /// [`Span::MAX`] before the first packet.
    least_delay: Span,
    /// Longest one-way delay.
    pub delay_max: Span,
    /// [`Span::MAX`] before the first packet.
    last_transit: Span,
    /// Interarrival jitter of RFC 3550 section 6.4.1, in picoseconds times 16 (its estimator keeps four more bits).
    pub jitter_sixteenths: u64,
    /// Distribution of one-way delays.
    pub delays: Histogram,
    /// Packets that carry CE on arrival.
    pub marked_packets: u64,
    /// Packets that the endpoint sent.
    pub sent_packets: u64,
    /// Bytes on the wire that the endpoint sent.
    pub sent_bytes: u64,
    /// Packets dropped anywhere on the path.
    pub dropped_packets: u64,
}

impl FlowCounts {
    /// Counts of several flows as one. Jitter is the sum of theirs; there is no last packet.
    pub fn together<'a>(all: impl IntoIterator<Item = &'a FlowCounts>) -> FlowCounts {
        let mut sum = FlowCounts::default();
        for one in all {
            sum.delay_sum += one.delay_sum;
            sum.jitter_sum += one.jitter_sum;
            sum.delivered_packets += one.delivered_packets;
            sum.delivered_bytes += one.delivered_bytes;
            sum.least_delay = sum.least_delay.min(one.least_delay);
            sum.delay_max = sum.delay_max.max(one.delay_max);
            sum.delays.merge(&one.delays);
            sum.marked_packets += one.marked_packets;
            sum.sent_packets += one.sent_packets;
            sum.sent_bytes += one.sent_bytes;
            sum.dropped_packets += one.dropped_packets;
        }
        sum
    }
}

impl Default for FlowCounts {
    fn default() -> Self {
        FlowCounts {
            delay_sum: 0,
            delivered_packets: 0,
            delivered_bytes: 0,
            least_delay: Span::MAX,
            delay_max: Span::ZERO,
            last_transit: Span::MAX,
            jitter_sixteenths: 0,
            jitter_sum: 0,
            marked_packets: 0,
            delays: Histogram::default(),
            sent_packets: 0,
            sent_bytes: 0,
            dropped_packets: 0,
        }
    }
}

impl FlowCounts {
    /// Shortest one-way delay, if any packet arrived.
    pub fn delay_min(&self) -> Option<Span> {
        (self.delivered_packets > 0).then_some(self.least_delay)
    }

    #[inline(always)]
    fn deliver(&mut self, packet: &Packet, now: Time) {
        let delay = now.since(packet.created);
        self.delivered_packets += 1;
        self.delivered_bytes += u64::from(packet.size);
        if packet.tos & 3 == 3 {
            self.marked_packets += 1;
        }
        self.delay_sum += u128::from(delay.as_ps());
        if delay < self.least_delay {
            self.least_delay = delay;
        }
        if delay > self.delay_max {
            self.delay_max = delay;
        }
        self.delays.record(delay.as_ps());
        if self.last_transit != Span::MAX {
            let d = delay.as_ps().abs_diff(self.last_transit.as_ps());
            self.jitter_sum += u128::from(d);
            // J += (|D| - J) / 16 with J held in sixteenths: J16 += |D| - J16 / 16.
            self.jitter_sixteenths = self.jitter_sixteenths - self.jitter_sixteenths / 16 + d;
        }
        self.last_transit = delay;
    }

    /// As [`FlowCounts::deliver`], of a packet to a group: jitter is a matter of one receiver.
    fn deliver_one_of_many(&mut self, packet: &Packet, now: Time) {
        self.last_transit = Span::MAX;
        self.deliver(packet, now);
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

/// Packets made and consumed in the whole run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Census {
    /// Made by endpoints.
    pub created: u64,
    /// Made by duplication, and where the ways of a group's packets part.
    pub replicated: u64,
    /// Handed to an endpoint or a passive sink.
    pub delivered: u64,
    /// Dropped before the end of the run.
    pub dropped: u64,
    /// In queues and on wires when the run ended.
    pub left: u64,
    /// Packet-hops: packets that arrived at the far end of a link.
    pub hops: u64,
    /// Arrivals at the far end of links, events of endpoints and departures of eager links, also those that took no place in
    /// the event list.
    pub events: u64,
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

/// What links and ports hand packets and events back to, while one of them works.
struct Frame<T> {
    /// The key and link of what is traced.
    traced: (Key, u32),
    tracer: T,
    flows: Vec<Flow>,
    groups: Groups,
    slab: Slab,
    census: Census,
    /// Packet-hops without an event in the list, until the census is told of them. A counter of its own: two that are
    /// added to at once and one by one in turn wait for each other.
    ahead: u64,
    /// Events of sources at which they have [launched](launch) a packet, until the census is told of them.
    launched: u64,
    /// Used where the ties are ns-2's.
    ns2_clock: ns2_time::Clock,
}

impl Census {
    /// One more packet is created: its number.
    #[inline(always)]
    fn next_uid(&mut self) -> u32 {
        let uid = low32(self.created);
        self.created += 1;
        uid
    }
}

/// The lower 32 bits.
#[inline(always)]
#[allow(clippy::as_conversions, reason = "cut off on purpose")]
const fn low32(number: u64) -> u32 {
    number as u32
}

/// What has become of a packet that was handed to a link.
enum Handed {
    /// It is on its wire, starts and arrives at these times.
    Through { start: Time, arrival: Time },
    /// It waits, or is gone.
    Queued,
    /// It is still to be offered to the link.
    Not,
}

impl<T: Tracer> Frame<T> {
    /// Counts a packet that has arrived where it was sent to.
    #[inline(always)]
    fn take_in(&mut self, packet: &Packet, now: Time) {
        self.census.delivered += 1;
        let way = &mut self.flows[to_usize(packet.flow)].ways[direction(packet)];
        way.counts.deliver(packet, now);
    }

    #[inline(always)]
    fn release(&mut self, packet: &Packet) {
        if packet.side != NONE {
            self.slab.release(packet.side);
        }
    }

    /// Counts the packets of a silent link that have arrived before `time`.
    #[inline(always)]
    fn absorb<P: FastPort>(&mut self, link: &mut Link<P>, time: Time) {
        let packets = link.absorb(time, |packet| {
            self.take_in(packet, packet.at);
            self.release(packet);
        });
        self.ahead += packets;
    }

    /// Takes the packet that has arrived at the far end of a plain link by the event `key`, and hands it to the link `to`.
    /// The next arrival is left to the caller to list. Nothing is traced.
    #[inline(always)]
    fn hand_over<P: FastPort>(
        &mut self,
        from: &mut Link<P>,
        to: &mut Link<P>,
        key: &Key,
        horizon: Time,
    ) -> Handed {
        let now = key.time;
        if (to.precomputes || to.lets_through(now))
            && let Some(packet) = from.ring.flight_head()
            && packet.hops_left > 0
            && let Some((start, arrival)) = to.enter(packet.size, packet.flow, now, horizon)
        {
            if to.silent {
                self.absorb(to, now);
            }
            if let Some(packet) = to.ring.relay(&mut from.ring) {
                packet.at = arrival;
                packet.launched = start;
                packet.hops_left -= 1;
            }
            return Handed::Through { start, arrival };
        }
        match self.queue_up(from, to, key, horizon) {
            true => Handed::Queued,
            false => Handed::Not,
        }
    }

    /// Takes the packet that has arrived at the far end of a plain link, and hands it to the queue of the link `to`, if that
    /// transmits. Says whether it does.
    #[inline(always)]
    fn queue_up<P: FastPort>(
        &mut self,
        from: &mut Link<P>,
        to: &mut Link<P>,
        key: &Key,
        horizon: Time,
    ) -> bool {
        if to.is_busy_at(key, self)
            && let Some(packet) = from.ring.flight_head()
            && packet.hops_left > 0
        {
            if to.port.admit_at_tail(packet, &to.ring, key.time)
                && let Some(packet) = to.ring.queue(&mut from.ring)
            {
                packet.at = key.time;
                packet.hops_left -= 1;
                to.waiting = true;
                if T::ON {
                    self.at_key(*key, to.index);
                    self.event(Event::Enqueue, packet);
                }
            } else {
                to.take_in(&mut from.ring, key, self);
            }
            to.launch_ahead(horizon, self);
            return true;
        }
        false
    }

    fn record(&mut self, time: Time, event: Event, packet: Label, side: Option<Side>) {
        let (key, link) = self.traced;
        let key = Key { time, ..key };
        self.tracer.record(Record {
            key,
            event,
            link,
            packet,
            side,
        });
    }
}

impl<T: Tracer> PortSink for Frame<T> {
    fn dropped(&mut self, packet: Packet, reason: DropReason, at: Time) {
        if reason == DropReason::EndOfRun {
            self.census.left += 1;
        } else {
            self.census.dropped += 1;
            let counts = packet.dst < self.groups.first || self.lose_copy(&packet);
            if counts && let Some(flow) = self.flows.get_mut(to_usize(packet.flow)) {
                flow.ways[direction(&packet)].counts.dropped_packets += 1;
            }
            if T::ON {
                let side = self.slab.get(packet.side);
                self.record(at, Event::Drop(reason), packet.label(), side);
            }
        }
        self.release(&packet);
    }

    fn marked(&mut self, label: &Label, reason: MarkReason, at: Time) {
        if T::ON {
            self.record(at, Event::Mark(reason), *label, None);
        }
    }
}

impl<T: Tracer> LinkSink for Frame<T> {
    const TRACES: bool = T::ON;

    fn at_key(&mut self, key: Key, link: u32) {
        self.traced = (key, link);
    }

    fn event(&mut self, event: Event, packet: &Packet) {
        let time = self.traced.0.time;
        self.record(time, event, packet.label(), self.slab.get(packet.side));
    }

    fn ns2_clock(&mut self) -> &mut ns2_time::Clock {
        &mut self.ns2_clock
    }
}

#[inline]
fn direction(packet: &Packet) -> usize {
    usize::from(packet.flags.has(Flags::REVERSE))
}

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
    /// Builds the network and lets every endpoint start.
    ///
    /// # Errors
    /// If a flow has no path, a path is too long, or two components share a name.
    pub fn build(spec: NetworkSpec<P, A>, tracer: T) -> Result<Self, BuildError> {
        Self::build_with(spec, tracer, true)
    }

    /// As [`Network::build`], for flows whose receivers never answer: no way back is asked for.
    ///
    /// # Errors
    /// As [`Network::build`].
    pub fn build_one_way(spec: NetworkSpec<P, A>, tracer: T) -> Result<Self, BuildError> {
        Self::build_with(spec, tracer, false)
    }

    fn build_with(spec: NetworkSpec<P, A>, tracer: T, way_back: bool) -> Result<Self, BuildError> {
        let NetworkSpec {
            nodes,
            links,
            agents,
            flows,
            groups: group_specs,
            ties,
            eager,
            seed,
            replication,
        } = spec;
        let eager = eager || ties == Ties::Ns2Clock;
        let ends: Vec<(u32, u32)> = links.iter().map(|l| (l.from, l.to)).collect();
        let first_group = groups::count(nodes.len());
        let to_node = |flow: &&FlowSpec| flow.sink < first_group;
        let mut endpoints: Vec<u32> = flows.iter().map(|f| f.source).collect();
        endpoints.extend(flows.iter().filter(to_node).map(|f| f.sink));
        let routes = if group_specs.is_empty() {
            Routes::shortest(nodes.len(), &ends, &endpoints)
        } else {
            let (points, aliases) = Groups::destinations(&group_specs);
            endpoints.extend(points);
            Routes::with_aliases(nodes.len(), &ends, &endpoints, &aliases)
        };
        for flow in flows.iter().filter(to_node) {
            let ways = [(flow.source, flow.sink), (flow.sink, flow.source)];
            for (from, to) in ways.into_iter().take(1 + usize::from(way_back)) {
                let node_name = |i: u32| nodes.get(to_usize(i)).cloned().unwrap_or_default();
                match routes.path_length(from, to, &ends) {
                    None => {
                        return Err(BuildError::Unreachable {
                            flow: flow.name.clone(),
                            from: node_name(from),
                            to: node_name(to),
                        });
                    }
                    Some(links) if links > usize::from(MAX_HOPS) => {
                        return Err(BuildError::TooFar {
                            flow: flow.name.clone(),
                            links,
                        });
                    }
                    Some(_) => {}
                }
            }
        }
        let resumes = |l: &LinkSpec<P>| l.impairments.outages.is_some();
        let departs =
            |l: &LinkSpec<P>| eager || l.impairments.reorder || l.port.caps().shapes || resumes(l);
        let bare = |l: &LinkSpec<P>| !eager && l.device_queue == 0 && l.impairments.is_none();
        let plain = |l: &LinkSpec<P>| bare(l) && !departs(l);
        // What is traced happens in its time, and so does what is sent to groups.
        let quiet = match T::ON || !group_specs.is_empty() {
            true => Quiet::default(),
            false => {
                let seats: Vec<u32> = agents.iter().map(|a| a.node).collect();
                let link = |link: u32| &links[to_usize(link)];
                let shaper = |number: u32| bare(link(number)) && link(number).port.caps().shapes;
                let plain = |number: u32| plain(link(number));
                let lets_through = |link: u32| {
                    ties == Ties::DeparturesFirst && links[to_usize(link)].port.caps().bypass
                };
                Quiet::of(&flows, &seats, &routes, &ends, plain, shaper, lets_through)
            }
        };
        let (mut outlets, mut sources) = (vec![NONE; agents.len()], vec![NONE; links.len()]);
        for (link, agent) in &quiet.outlets {
            outlets[to_usize(*agent)] = *link;
            sources[to_usize(*link)] = *agent;
        }
        // Of each endpoint: its flow, the other end of it, and whether it answers there.
        let mut ends_of: Vec<Option<(u32, u32, bool)>> = vec![None; agents.len()];
        let mut count_of = vec![0_u32; agents.len()];
        for (flow, number) in flows.iter().zip(0..) {
            let receiver = flow.receiver.map(|agent| (agent, flow.source, true));
            for (agent, peer, answers) in
                receiver
                    .into_iter()
                    .chain([(flow.sender, address(flow, first_group), false)])
            {
                ends_of[to_usize(agent)] = Some((number, peer, answers));
                count_of[to_usize(agent)] += 1;
            }
        }
        let (mut components, link_ids, agent_ids) = rank(
            links
                .iter()
                .map(|l| (l.name.as_str(), departs(l), plain(l))),
            agents.iter().map(|a| a.name.as_str()),
            !group_specs.is_empty(),
        )?;
        let is_groups = |component: &Component| matches!(component, Component::Groups);
        let groups_id = components.iter().position(is_groups);
        let groups = Groups::new(
            group_specs,
            first_group,
            &ends,
            &flows,
            groups_id.map_or(NONE, groups::count),
        );
        groups.check(&routes, &nodes)?;
        for (link, _) in &quiet.outlets {
            components[to_usize(link_ids[to_usize(*link)])] = Component::Outlet(*link);
        }
        for (link, id) in (0..).zip(&link_ids) {
            if quiet.feeding(link).feeds {
                components[to_usize(*id)] = Component::Feeder(link);
            }
        }
        let mut core = Core {
            key: Key::default(),
            horizon: Time::ZERO,
            due: Vec::with_capacity(links.len()),
            fel: AutoList::with_components(components.len()),
            again: Again::default(),
            on_ns2_clock: ties == Ties::Ns2Clock,
            links: Vec::with_capacity(links.len()),
            seats: (0..agents.len())
                .map(|i| {
                    let only = ends_of[i].filter(|_| count_of[i] == 1);
                    let (flow, peer, answers) = only.unwrap_or((NONE, NONE, false));
                    let tos = flows.get(to_usize(flow)).map_or(0, |flow| flow.dscp << 2);
                    let node = agents[i].node;
                    Seat {
                        wakes: Time::MAX,
                        armed: Time::ZERO,
                        sent: (0, 0),
                        flow,
                        peer,
                        exit: only.map_or(NONE, |_| routes.next(node, peer)),
                        id: agent_ids[i],
                        node,
                        outlet: outlets[i],
                        answers,
                        tos,
                    }
                })
                .collect(),
            routes,
            frame: Frame {
                traced: (Key::default(), 0),
                tracer,
                flows: flows
                    .iter()
                    .map(|f| {
                        let way = |node, receiver| Way {
                            counts: FlowCounts::default(),
                            node,
                            receiver,
                            tos: f.dscp << 2,
                        };
                        Flow {
                            ways: [
                                way(address(f, first_group), f.receiver.unwrap_or(NONE)),
                                way(f.source, f.sender),
                            ],
                        }
                    })
                    .collect(),
                groups,
                slab: Slab::default(),
                census: Census::default(),
                ahead: 0,
                launched: 0,
                ns2_clock: ns2_time::Clock::default(),
            },
        };
        let foresight = !T::ON && ties == Ties::DeparturesFirst;
        let mut link_names = Vec::with_capacity(links.len());
        for ((link, id), (source, index)) in links
            .into_iter()
            .zip(link_ids)
            .zip(sources.into_iter().zip(0..))
        {
            let shape = LinkShape {
                id,
                index,
                silent: quiet.silent.binary_search(&index).is_ok(),
                feeds: quiet.feeding(index).feeds,
                fed: quiet.feeding(index).fed,
                calm: quiet.feeding(index).calm,
                // A calm link has no events that could be spared, and a source waits for what its link has in flight.
                precomputes: foresight && source == NONE && !quiet.feeding(index).calm,
                answers: quiet.feeding(index).answers,
                source,
                onward: quiet.onward(index),
                to: link.to,
                exits: core.routes.exits(link.to),
                rate: link.rate,
                delay: link.delay,
                rounding: link.rounding,
                ties,
                eager: eager || link.impairments.reorder,
                device_queue: link.device_queue,
                header: link.header,
                opportunities: link.opportunities,
            };
            let impairments = (!link.impairments.is_none())
                .then(|| Impairments::new(link.impairments, seed, replication, &link.name));
            core.links.push(Link::new(shape, link.port, impairments));
            link_names.push(link.name);
        }
        let mut network = Network {
            core,
            agents: agents.into_iter().map(|a| a.agent).collect(),
            components,
            quiet,
            link_names,
            flow_names: flows.into_iter().map(|f| f.name).collect(),
            node_names: nodes,
            link_ends: ends,
            measuring_from: Time::ZERO,
            finished: false,
        };
        network.core.change_groups();
        for (agent, i) in network.agents.iter_mut().zip(0..) {
            agent.on_start(&mut Cx {
                core: &mut network.core,
                agent: i,
            });
        }
        for i in 0..network.quiet.outlets.len() {
            network.go_on(network.quiet.outlets[i].1);
        }
        if !network.core.frame.groups.is_empty() {
            network.core.list_groups();
        }
        network.core.tell_flows();
        Ok(network)
    }

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
    /// If the link was not built with [outages](ImpairmentSpec::outages).
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

/// What an endpoint sees of the network.
struct Cx<'a, P, T> {
    core: &'a mut Core<P, T>,
    agent: u32,
}

impl<P: FastPort, T: Tracer> Cx<'_, P, T> {
    #[inline(always)]
    fn emit(&mut self, flow: u32, out: Outgoing, side: u32) {
        let core = &mut *self.core;
        let now = core.key.time;
        let seat = &mut core.seats[to_usize(self.agent)];
        let (dst, reverse, next, tos) = if seat.flow == flow {
            seat.sent.0 += 1;
            seat.sent.1 += u64::from(out.size);
            (seat.peer, seat.answers, seat.exit, seat.tos)
        } else {
            core.address(self.agent, flow, out.size)
        };
        let flags = if reverse {
            out.flags.with(Flags::REVERSE)
        } else {
            out.flags
        };
        let uid = core.frame.census.next_uid();
        let packet = |at, launched, hops_left| Packet {
            at,
            launched,
            created: now,
            seq: out.seq,
            ack: out.ack,
            flow,
            dst,
            side,
            uid,
            size: out.size,
            kind: out.kind,
            tos: out.tos | tos,
            flags,
            hops_left,
        };
        if let Some(link) = core.links.get_mut(to_usize(next))
            && let Some((start, arrival)) = link.enter(out.size, flow, now, core.horizon)
        {
            let listed = link.is_listed();
            let packet = link.ring.send(packet(arrival, start, MAX_HOPS - 1));
            if T::ON {
                core.frame.at_key(core.key, link.index);
                core.frame.event(Event::Enqueue, packet);
                core.frame.event(Event::Dequeue, packet);
            }
            if listed {
            } else if !link.feeds {
                core.fel.set(link.id, arrival.as_ps(), start.as_ps());
            } else if link.needs_event() {
                core.due.push(next);
            }
        } else {
            core.forward_new(packet(now, now, MAX_HOPS), next);
        }
    }
}

impl<P: FastPort, T: Tracer> Host for Cx<'_, P, T> {
    #[inline]
    fn now(&self) -> Time {
        self.core.key.time
    }

    fn seconds(&self) -> f64 {
        let key = &self.core.key;
        match self.core.on_ns2_clock {
            true => ns2_time::seconds(key.time, key.birth),
            false => key.time.as_secs_f64(),
        }
    }

    #[inline(always)]
    fn send(&mut self, flow: u32, packet: Outgoing) {
        self.emit(flow, packet, NONE);
    }

    fn send_with(&mut self, flow: u32, packet: Outgoing, side: Side) {
        let index = self.core.frame.slab.insert(side);
        self.emit(flow, packet, index);
    }

    fn send_stamped(&mut self, flow: u32, packet: Outgoing, timestamps: (u64, u64)) {
        let index = self.core.frame.slab.insert_timestamps(timestamps);
        self.emit(flow, packet, index);
    }

    #[inline(always)]
    fn side(&self, packet: &Packet) -> Option<Side> {
        self.core.frame.slab.get(packet.side)
    }

    #[inline]
    fn armed(&mut self, at: Time) -> Time {
        self.core.birth(at)
    }

    fn armed_in(&mut self, at: Time, seconds: f64) -> (Time, Time) {
        let core = &mut *self.core;
        if core.on_ns2_clock {
            let now = ns2_time::seconds(core.key.time, core.key.birth);
            return core.frame.ns2_clock.event(now + seconds);
        }
        (at, core.birth(at))
    }

    #[inline]
    fn wake(&mut self, at: Time, armed: Time) {
        let core = &mut *self.core;
        let seat = &mut core.seats[to_usize(self.agent)];
        seat.wakes = at;
        seat.armed = armed;
        if seat.outlet == NONE {
            core.fel.set(seat.id, at.as_ps(), armed.as_ps());
        }
    }
}

type Ranked = (Vec<Component>, Vec<u32>, Vec<u32>);

/// The name of the component that tends all groups.
const GROUPS: &str = "group";

/// What packets of a flow carry as their destination.
fn address(flow: &FlowSpec, first_group: u32) -> u32 {
    match flow.sink < first_group {
        true => flow.sink,
        false => BEYOND | FRESH,
    }
}

/// Gives every component its id, in the order of its name: numbers inside names count by value. Of a link it is told
/// whether it has a second id, for its departures, and whether it is lazy and without impairments.
fn rank<'a>(
    links: impl Iterator<Item = (&'a str, bool, bool)>,
    agents: impl Iterator<Item = &'a str>,
    groups: bool,
) -> Result<Ranked, BuildError> {
    let mut named: Vec<(Vec<Piece<'a>>, &'a str, Component, bool)> = Vec::new();
    if groups {
        named.push((pieces(GROUPS), GROUPS, Component::Groups, false));
    }
    let mut counts = (0u32, 0u32);
    for (name, departs, plain) in links {
        let component = match plain {
            true => Component::Delivery(counts.0),
            false => Component::Landing(counts.0),
        };
        named.push((pieces(name), name, component, departs));
        counts.0 += 1;
    }
    for name in agents {
        named.push((pieces(name), name, Component::Agent(counts.1), false));
        counts.1 += 1;
    }
    named.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.cmp(b.1)));
    if let Some(pair) = named.windows(2).find(|pair| pair[0].1 == pair[1].1) {
        return Err(BuildError::Duplicate {
            name: pair[0].1.to_owned(),
        });
    }
    let mut components = Vec::with_capacity(named.len());
    let mut link_ids = vec![0; to_usize(counts.0)];
    let mut agent_ids = vec![0; to_usize(counts.1)];
    for (_, _, component, departs) in named {
        let id = u32::try_from(components.len()).expect("fewer than 2^31 components");
        components.push(component);
        match component {
            Component::Delivery(link)
            | Component::Outlet(link)
            | Component::Feeder(link)
            | Component::Landing(link) => {
                link_ids[to_usize(link)] = id;
                if departs {
                    components.push(Component::Departure(link));
                }
            }
            Component::Agent(agent) => agent_ids[to_usize(agent)] = id,
            Component::Departure(_) | Component::Groups => {}
        }
    }
    Ok((components, link_ids, agent_ids))
}

/// A part of a name: text, or a number compared by value.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Piece<'a> {
    Number(u64),
    Text(&'a str),
}

fn pieces(name: &str) -> Vec<Piece<'_>> {
    let mut parts = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let digits = first.is_ascii_digit();
        let end = rest
            .find(|c: char| c.is_ascii_digit() != digits)
            .unwrap_or(rest.len());
        let (part, tail) = rest.split_at(end);
        parts.push(match part.parse() {
            Ok(number) if digits => Piece::Number(number),
            _ => Piece::Text(part),
        });
        rest = tail;
    }
    parts
}
