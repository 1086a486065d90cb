//! The network: the loop that runs its components, and the conservation of packets.
//!
//! By file:
//!
//! - `spec` is what a network is built from, `build` how, `rank` the order of its components;
//! - `core` is its state without the endpoints, `flow` the two ways of a flow, `counts` what is counted;
//! - `frame` is what links hand back to, `host` what endpoints see;
//! - `quiet` says which links need few events; in `launch` and `ahead` their packets run ahead;
//! - `groups`, `dense`, `prunes` and `multicast` serve packets to several receivers.

mod ahead;
mod build;
mod core;
mod counts;
mod dense;
mod flow;
mod frame;
mod groups;
mod host;
mod launch;
mod multicast;
mod prunes;
mod quiet;
mod rank;
mod spec;

pub use self::counts::{Census, FlowCounts};
pub use self::groups::{DelayCounts, ReceiverCounts};
pub use self::spec::{AgentSpec, BuildError, FlowSpec, LinkSpec, MAX_HOPS, NetworkSpec};
pub use crate::key::Key;

use self::core::{Core, key_of};
use self::flow::direction;
use self::host::Cx;
use self::quiet::Quiet;
use crate::agent::Agent;
use crate::fel::EventList;
use crate::impair::LinkState;
use crate::link::{Link, LinkSink};
use crate::packet::{Flags, NONE, Packet};
use crate::port::{DropReason, FastPort, Successor};
use crate::ring::Ring;
use crate::slab::to_usize;
use crate::trace::{Event, Tracer};
use sojourn_units::{Rate, Span, Time};

/// Events between two questions whether the run is to stop: a fraction of a second even where each is slow.
const EVENTS_AT_A_TIME: u32 = 1 << 12;

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
    /// thousand events, and has no influence on what happens in the run. Of a network that was
    /// stopped only the time is of use.
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

    /// Puts another queue before a link, which takes over the packets that wait there.
    ///
    /// # Panics
    /// If the link was not built with [outages](crate::ImpairmentSpec::outages).
    pub fn set_queue(&mut self, link: usize, port: P)
    where
        P: Successor,
    {
        // What is due before the change happens in the queue before.
        self.settle(link);
        let key = self.core.key;
        self.core.links[link].set_queue(port, key, &mut self.core.frame);
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

    /// The same, for whoever steers it between two stops of the run. [Settle](Network::settle) the link before.
    pub fn port_mut(&mut self, link: usize) -> &mut P {
        &mut self.core.links[link].port
    }

    /// The queue of a link, and the ring in which the packets of an AQM wait.
    pub fn queue(&self, link: usize) -> (&P, &Ring) {
        let link = &self.core.links[link];
        (&link.port, &link.ring)
    }

    /// The packets that the queue of a link has given up and that are not at the link's far end.
    pub fn under_way(&self, link: usize) -> impl Iterator<Item = &Packet> {
        self.core.links[link].given_up()
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

    /// The same, for whoever steers it between two stops of the run.
    pub fn agent_mut(&mut self, agent: usize) -> &mut A {
        &mut self.agents[agent]
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
