//! A link: transmitter, wire, and the queue in front of it. One event per packet.
//!
//! In lazy mode (the normal one) the only event of a link is the arrival of the packet in flight that
//! arrives next. Departures are replayed when something needs to know: before an arrival at the queue,
//! at each delivery, before a change or a reading of the link. The departure instants of a link follow
//! from its own arrivals, so replaying them later gives the same decisions at the same times. In eager mode
//! every end of transmission is an event; both modes give the same result bit for bit, and the eager
//! one is the oracle of the other.
//!
//! The queue of a link may *shape*: hold packets back while the transmitter is free. Then the transmitter counts as busy until the
//! queue may give a packet, and that instant is replayed as the end of a transmission is; it is an event of its own only while
//! nothing is in flight, and the link does not feed others (below). A packet that arrives meanwhile lets the
//! transmitter ask again. A device queue asks when the transmitter starts and when a packet arrives, not when the queue would
//! give one in the middle of a transmission.
//!
//! A *plain* link is lazy, has no impairments and no device queue, and shapes only if it feeds others (below). Where its
//! port allows a [bypass](crate::port::Caps::bypass), a packet that finds such a link idle goes straight through: from the ring of
//! the link it comes from into the flight of this one.
//!
//! Where nobody can tell the difference a plain link has fewer events still. One that leads to passive receivers only is
//! *silent*: its packets are counted when the next one enters it, or when the run stops to be looked at. And the sender that
//! alone uses a link and hears nothing back is that link's *source*: while packets are in flight there, what it sends is
//! put off until they have arrived. If the next packet finds the link free, as it does unless the source is faster than the
//! link, the source *launches* it in the same stroke (`network/launch.rs`): one event per packet, and none of its own.
//!
//! A link that *feeds* others, which get all their packets from it, lets packets run ahead into them as soon as they are
//! on its wire (`network/ahead.rs`). All keep their true times; a traced run does none of it.
//!
//! A link may go *down* (`set_state`). What [waits](crate::Outage::Wait) for the link to come up keeps its place: the transmitter ends the
//! packet that it has begun, which arrives, and begins no other; the queue goes on to take packets in and to drop what it has no
//! room for. Where packets are [lost](crate::Outage::Lose) the transmitter goes on, and nothing that it begins while the link is down
//! arrives, nor does the packet that it has begun when the link goes down. What is in flight arrives either way. A change of the
//! rate does not touch the packet in transmission, which keeps the rate at which it began.
//!
//! A plain link whose port is [precomputable](crate::port::Caps::precomputable) has its packets on the wire as soon as it gets them: one
//! that has to wait starts when the one before has been sent, whatever else comes. Only what would start after the next stop of the
//! run waits in the ring, as it would otherwise.

mod impaired;
mod serializer;
mod wire;

pub use self::serializer::TxRounding;

use self::impaired::Impaired;
use self::serializer::Serializer;
use crate::fel;
use crate::impair::{Impairments, LinkState};
use crate::key::Key;
use crate::ns2_time;
use crate::opportunities::Opportunities;
use crate::packet::Packet;
use crate::port::{DropReason, FastPort, PortSink};
use crate::ring::Ring;
use crate::routing::Exits;
use crate::trace::Event;
use sojourn_units::{Rate, Span, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Which of two events at one instant comes first: a departure of a link or another component's event.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ties {
    /// A departure at or before t precedes an arrival at t.
    #[default]
    DeparturesFirst,
    /// The one that was scheduled earlier, then the component of lower rank: the order of ns-3.
    Birth,
    /// As the clock of ns-2 has them, whose sums of doubles round to one side or the other, and then in the order in which they were
    /// scheduled. Links are eager.
    Ns2Clock,
}

/// Packets that a [calm](Link::calm) link launches before it lets those in flight run ahead.
pub(crate) const AT_ONCE: u64 = 16;

/// Everything that a link needs to be built.
#[derive(Clone, Debug)]
pub(crate) struct LinkShape {
    pub(crate) id: u32,
    pub(crate) index: u32,
    pub(crate) to: u32,
    pub(crate) exits: Exits,
    pub(crate) rate: Rate,
    pub(crate) delay: Span,
    pub(crate) rounding: TxRounding,
    pub(crate) ties: Ties,
    pub(crate) eager: bool,
    pub(crate) silent: bool,
    pub(crate) feeds: bool,
    pub(crate) fed: bool,
    pub(crate) calm: bool,
    pub(crate) precomputes: bool,
    pub(crate) answers: u32,
    pub(crate) source: u32,
    pub(crate) onward: u32,
    pub(crate) device_queue: u32,
    pub(crate) header: u32,
    pub(crate) opportunities: Option<Opportunities>,
}

impl LinkShape {
    /// True if packets reach the wire straight from the discipline, and departures are replayed.
    pub(crate) fn is_plain(&self) -> bool {
        !self.eager && self.device_queue == 0
    }
}

/// What a link tells its surroundings while it works. [`PortSink`] is the part that ports see.
pub(crate) trait LinkSink: PortSink {
    /// False compiles the trace calls away.
    const TRACES: bool;
    /// The key of what happens from here on, for traces.
    fn at_key(&mut self, key: Key, link: u32);
    /// An event of `packet`.
    fn event(&mut self, event: Event, packet: &Packet);
    /// What gives events their births on the clock of ns-2.
    fn ns2_clock(&mut self) -> &mut ns2_time::Clock;
}

/// One direction of a link. What an arrival at its far end touches is in the first cache line, what a packet touches that
/// goes straight through is in the second, which holds the beginning of the port too.
#[repr(C, align(64))]
pub(crate) struct Link<P> {
    pub(crate) ring: Ring,
    pub(crate) id: u32,
    pub(crate) to: u32,
    /// Where the routes of node `to` are.
    pub(crate) exits: Exits,
    idle: bool,
    /// Packets wait for the transmitter, in the discipline or in the device.
    pub(crate) waiting: bool,
    /// Lazy, without impairments and device queue. Its port shapes only if the link feeds others, and looks at what was held
    /// back.
    pub(crate) plain: bool,
    /// The link is plain, and packets that find it idle bypass the port.
    bypass: bool,
    /// The link is plain, and the port counts departures ahead of their time, up to the next stop of the run.
    pub(crate) precomputes: bool,
    /// The port counts bypassed packets by flow.
    counts_flows: bool,
    pub(crate) eager: bool,
    ties: Ties,
    /// Nothing looks at its packets when they arrive: they are [absorbed](Link::absorb) later, and it has no events.
    pub(crate) silent: bool,
    /// Its packets may run ahead of it into links that get all their packets from it.
    pub(crate) feeds: bool,
    pub(crate) free_at: Time,
    pub(crate) delay: Span,
    last_start: Time,
    /// As [`Serializer::whole`].
    per_byte: u64,
    /// The agent that may hear of its packets ahead, [`NONE`](crate::packet::NONE) if there is none.
    pub(crate) answers: u32,
    /// It gets all its packets from one link that [feeds](Link::feeds) it.
    pub(crate) fed: bool,
    /// Its event in the list only checks what has been launched.
    pub(crate) looks: bool,
    /// It feeds silent links only: its packets run ahead a number at once, or when the run stops, and it has no events.
    pub(crate) calm: bool,
    /// Plain, and the delay has never become shorter: packets arrive in their order by themselves.
    ordered: bool,
    /// The agent that alone sends over this link and hears nothing back, [`NONE`](crate::packet::NONE) if there is none.
    pub(crate) source: u32,
    /// The link that all its packets go on to, [`NONE`](crate::packet::NONE) if they part, or some have arrived.
    pub(crate) onward: u32,
    pub(crate) port: P,
    serializer: Serializer,
    /// The arrival of the packet that was launched last; not kept up while the link is `ordered`.
    last_arrival: Time,
    pub(crate) index: u32,
    device_queue: u32,
    /// Packets that arrive in the instant in which the device begins a transmission are in the queue before the device asks for the next
    /// one: ns-3's device wakes its queue disc by an event of its own (NetDeviceQueue::PacketDequeued).
    fills_late: bool,
    /// The device is filled at the end of this instant; [`Time::MAX`] if that is not due.
    pub(crate) fill_at: Time,
    shapes: bool,
    /// With this number of packets in flight a calm link lets them run ahead again.
    pub(crate) enough: u64,
    /// The port holds back what waits, until `free_at`.
    held_back: bool,
    /// Packets and bytes that the device held when measuring began.
    held_before: (u64, u64),
    impaired: Option<Box<Impaired>>,
}

impl<P: FastPort> Link<P> {
    pub(crate) fn new(shape: LinkShape, mut port: P, impairments: Option<Impairments>) -> Self {
        port.on_rate(shape.rate);
        let impaired = impairments.map(|state| {
            Box::new(Impaired {
                state,
                air: BinaryHeap::new(),
                launched: 0,
                lost: 0,
                link: LinkState::Up,
                stopped: None,
                resumes: false,
            })
        });
        let first_state = impaired
            .as_ref()
            .map_or(LinkState::Up, |i| i.state.first_state());
        let caps = port.caps();
        let plain = shape.is_plain() && impaired.is_none() && (!caps.shapes || shape.feeds);
        let precomputes = plain && shape.precomputes && caps.precomputable;
        if precomputes {
            port.precompute();
        }
        let serializer = Serializer::new(
            shape.rate,
            shape.rounding,
            shape.header,
            shape.opportunities,
        );
        let mut link = Link {
            ring: Ring::new(),
            id: shape.id,
            to: shape.to,
            exits: shape.exits,
            idle: true,
            waiting: false,
            plain,
            bypass: plain && caps.bypass,
            precomputes,
            counts_flows: caps.counts_flows,
            eager: shape.eager,
            ties: shape.ties,
            silent: shape.silent,
            feeds: shape.feeds,
            fed: shape.fed,
            calm: shape.calm,
            answers: shape.answers,
            looks: false,
            ordered: plain,
            free_at: Time::ZERO,
            delay: shape.delay,
            last_start: Time::ZERO,
            per_byte: serializer.whole,
            port,
            serializer,
            last_arrival: Time::ZERO,
            index: shape.index,
            source: shape.source,
            onward: shape.onward,
            device_queue: shape.device_queue,
            fills_late: shape.device_queue > 0 && shape.ties == Ties::Birth,
            fill_at: Time::MAX,
            shapes: caps.shapes,
            enough: AT_ONCE,
            held_back: false,
            held_before: (0, 0),
            impaired,
        };
        link.set_state(first_state, Time::ZERO);
        link
    }

    /// True if a packet that is handed to the link by an event at `now` goes straight through: nothing waits, the
    /// transmitter is free, and the port allows a bypass.
    #[inline(always)]
    pub(crate) fn lets_through(&self, now: Time) -> bool {
        self.bypass
            && !self.waiting
            && (self.free_at < now || (self.free_at == now && self.ties == Ties::DeparturesFirst))
    }

    /// Accounts for a packet that is handed to the link by an event at `now`, if it goes straight through or starts at a known time
    /// before `horizon`: when it starts, and when it arrives at the far end. The caller puts it into the ring.
    #[inline(always)]
    pub(crate) fn enter(
        &mut self,
        bytes: u32,
        flow: u32,
        now: Time,
        horizon: Time,
    ) -> Option<(Time, Time)> {
        if self.lets_through(now) {
            return Some((now, self.let_through(bytes, flow, now)));
        }
        match self.precomputes {
            true => self.enter_busy(bytes, flow, now, horizon),
            false => None,
        }
    }

    /// As [`Link::enter`], where the packet does not go straight through.
    #[inline(never)]
    fn enter_busy(
        &mut self,
        bytes: u32,
        flow: u32,
        now: Time,
        horizon: Time,
    ) -> Option<(Time, Time)> {
        let start = self.free_at;
        let known = self.ordered && !self.waiting && now < start;
        if !known || start >= horizon || !self.port.schedule_ahead(bytes, flow, now, start) {
            return None;
        }
        self.last_start = start;
        self.free_at = start + self.serializer.next_span(self.per_byte, bytes, start);
        Some((start, self.free_at + self.delay))
    }

    /// As [`Link::enter`], of a packet that will arrive at `at`, later than now, if it can be let through ahead of that time.
    /// What follows from its passage has to be later still, so that it is in the event list by then.
    #[inline(always)]
    pub(crate) fn enter_ahead(
        &mut self,
        bytes: u32,
        flow: u32,
        at: Time,
        horizon: Time,
    ) -> Option<(Time, Time)> {
        let takes_time = self.delay > Span::ZERO || (self.per_byte > 0 && bytes > 0);
        match self.fed && takes_time {
            true => self.enter(bytes, flow, at, horizon),
            false => None,
        }
    }

    /// Starts what waits before `horizon`, if the port counts departures ahead.
    #[inline(always)]
    pub(crate) fn launch_ahead<S: LinkSink>(&mut self, horizon: Time, sink: &mut S) {
        while self.precomputes && self.waiting && self.free_at < horizon {
            self.depart(sink);
        }
    }

    /// Settles the departures before `now` that the port counted ahead.
    #[inline]
    pub(crate) fn settle_port(&mut self, now: Time) {
        if self.precomputes && now > Time::ZERO {
            self.port.settle(Time::from_ps(now.as_ps() - 1));
        }
    }

    /// Has the port do the updates that are due before `now`.
    pub(crate) fn update_port(&mut self, now: Time) {
        if now > Time::ZERO {
            let before = Time::from_ps(now.as_ps() - 1);
            self.port.update(&self.ring, before);
        }
    }

    /// Accounts for a packet of `bytes` that goes straight through at `now`; returns when it arrives at the far end.
    /// The caller puts it into the ring.
    #[inline(always)]
    pub(crate) fn let_through(&mut self, bytes: u32, flow: u32, now: Time) -> Time {
        self.idle = false;
        match self.counts_flows {
            true => self.port.bypass_counting(bytes, flow),
            false => self.port.bypass(bytes),
        }
        self.last_start = now;
        let serialization = match self.per_byte {
            0 => self.serializer.first_span(bytes, now),
            per_byte => Span::from_ps(u64::from(bytes) * per_byte),
        };
        self.free_at = now + serialization;
        self.free_at + self.delay
    }

    /// The key of the next departure: when the transmitter becomes free.
    #[inline]
    fn departure_key(&self) -> Key {
        let birth = match self.ties {
            Ties::Birth | Ties::Ns2Clock => self.last_start,
            Ties::DeparturesFirst => Time::ZERO,
        };
        Key {
            time: self.free_at,
            birth,
            order: Key::departure_order(self.id),
        }
    }

    /// True if the next departure comes before `bound`.
    #[inline]
    fn departs_before(&self, bound: &Key) -> bool {
        match self.ties {
            Ties::DeparturesFirst => self.free_at <= bound.time,
            Ties::Birth | Ties::Ns2Clock => {
                self.free_at < bound.time
                    || (self.free_at == bound.time && self.departure_key() < *bound)
            }
        }
    }

    /// Brings a plain link up to date for an event `key`; true if it is plain and transmits, so that its arrivals are in
    /// the event list and a packet that comes now waits.
    #[inline(always)]
    pub(crate) fn is_busy_at<S: LinkSink>(&mut self, key: &Key, sink: &mut S) -> bool {
        if !self.plain {
            return false;
        }
        debug_assert_eq!(self.waiting, !self.nothing_to_send());
        while !self.idle && self.departs_before(key) {
            self.depart(sink);
        }
        !self.idle
    }

    /// The event of a plain link: when the next packet in flight arrives.
    #[inline(always)]
    pub(crate) fn next_landing(&self) -> Option<fel::Event> {
        let next = self.ring.flight_head()?;
        Some(fel::Event {
            time: next.at.as_ps(),
            birth: next.launched.as_ps(),
            id: self.id,
        })
    }

    /// Replays every departure before `bound`.
    #[inline(always)]
    pub(crate) fn catch_up<S: LinkSink>(&mut self, bound: &Key, sink: &mut S) {
        debug_assert_eq!(self.waiting, !self.nothing_to_send());
        // An eager link has an event for each departure; only the tie rule can ask for it ahead of its event.
        if self.eager && self.ties != Ties::DeparturesFirst {
            return;
        }
        self.fill_before(bound, sink);
        while !self.idle && self.departs_before(bound) {
            self.depart(sink);
            self.fill_before(bound, sink);
        }
    }

    /// The key of the event by which the device is filled.
    fn fill_key(&self) -> Key {
        Key {
            time: self.fill_at,
            birth: self.fill_at,
            order: Key::departure_order(self.id),
        }
    }

    /// Fills the device if that is due before `bound`.
    #[inline(always)]
    fn fill_before<S: LinkSink>(&mut self, bound: &Key, sink: &mut S) {
        if self.fill_at != Time::MAX && self.fill_key() < *bound {
            self.fill_now(sink);
        }
    }

    /// Fills the device at the end of its instant.
    #[cold]
    fn fill_now<S: LinkSink>(&mut self, sink: &mut S) {
        let key = self.fill_key();
        if S::TRACES {
            sink.at_key(key, self.index);
        }
        self.fill_at = Time::MAX;
        self.fill_device(key.time, sink);
        self.waiting = !self.nothing_to_send();
    }

    /// The transmitter is free at `free_at`: starts the next packet or goes idle.
    #[inline]
    fn depart<S: LinkSink>(&mut self, sink: &mut S) {
        if self.plain
            && let Some(packet) = self.ring.next_in_line()
            && self.port.release_head(packet, self.free_at)
        {
            if S::TRACES {
                sink.at_key(self.departure_key(), self.index);
            }
            self.launch::<S, true>((self.free_at, self.last_start), sink);
            self.waiting = self.ring.waiting() != 0;
            return;
        }
        if self.fill_at != Time::MAX {
            self.fill_now(sink);
        }
        let key = self.departure_key();
        if !self.waiting || !self.start(key, sink) {
            self.rest(key.time);
        }
        self.waiting = !self.nothing_to_send();
    }

    /// The transmitter is free and was given nothing: it goes idle, or the port holds packets back.
    #[inline]
    fn rest(&mut self, now: Time) {
        self.serializer.clear();
        if !self.plain {
            self.has_resumed();
        }
        if self.shapes && self.is_held_back(now) {
            return;
        }
        self.idle = true;
        self.port.on_idle(now);
    }

    /// True if the port, which shapes, holds back what waits at `now`; then the transmitter is taken as busy until it may give a
    /// packet.
    #[cold]
    fn is_held_back(&mut self, now: Time) -> bool {
        self.held_back = self.port.backlog_packets() > 0;
        if self.held_back {
            self.idle = false;
            self.last_start = now;
            self.free_at = self.port.ready_at(now).max(now + Span::from_ps(1));
            // A look that is listed already would come too late where an arrival has brought this time forward.
            self.looks = false;
        }
        self.held_back
    }

    /// The departure event of an eager link, or of a lazy one whose port holds packets back or that has come up. Ignored if the departure has
    /// happened already, or is due by another event.
    pub(crate) fn on_departure_event<S: LinkSink>(&mut self, key: &Key, sink: &mut S) {
        if self.fill_at == key.time && self.fill_at == key.birth {
            self.fill_now(sink);
            return;
        }
        let due = self.departure_key();
        let looks = self.held_back || self.resumes();
        let listed = self.eager || (looks && due.birth == key.birth);
        if !self.idle && due.time == key.time && listed {
            self.depart(sink);
        }
    }

    #[inline]
    fn nothing_to_send(&self) -> bool {
        let backlog = match self.precomputes {
            true => self.ring.waiting(),
            false => self.port.backlog_packets(),
        };
        self.ring.held() == 0 && backlog == 0
    }

    /// Starts a transmission at `key.time`, unless the discipline drops everything that it holds.
    #[inline]
    fn start<S: LinkSink>(&mut self, key: Key, sink: &mut S) -> bool {
        let now = key.time;
        if S::TRACES {
            sink.at_key(key, self.index);
        }
        if self.ring.held() == 0 && !self.port.dequeue(&mut self.ring, now, sink) {
            return false;
        }
        self.held_back = false;
        self.launch::<S, false>((now, key.birth), sink);
        true
    }

    /// Starts the transmission of the packet that the device holds or, if it comes `STRAIGHT` from the queue, of the next one
    /// there.
    #[inline(always)]
    fn launch<S: LinkSink, const STRAIGHT: bool>(
        &mut self,
        (now, birth): (Time, Time),
        sink: &mut S,
    ) {
        let packet = match STRAIGHT {
            true => self.ring.launch_waiting(),
            false => self.ring.launch(),
        };
        let serialization = self.serializer.next_span(self.per_byte, packet.size, now);
        packet.launched = now;
        self.last_start = now;
        self.free_at = now + serialization;
        self.idle = false;
        let (mut arrival, last_arrival) = (self.free_at + self.delay, self.last_arrival);
        if !self.plain && self.ties == Ties::Ns2Clock {
            // ns-2 adds transmission and propagation to each other first.
            let start = ns2_time::seconds(now, birth);
            let bytes = packet.size.saturating_add(self.serializer.header);
            let sent = ns2_time::transmission(bytes, self.serializer.rate);
            let crossed = sent + self.delay.as_secs_f64();
            let clock = sink.ns2_clock();
            (arrival, packet.launched) = clock.event(start + crossed);
            if arrival <= last_arrival {
                packet.launched = clock.latest();
            }
            (self.free_at, self.last_start) = clock.event(start + sent);
        }
        if !self.ordered {
            // The order of arrival is kept when the delay has become shorter.
            arrival = arrival.max(last_arrival);
            self.last_arrival = arrival;
        }
        packet.at = arrival;
        if S::TRACES {
            sink.event(Event::Dequeue, packet);
        }
        if !self.plain {
            self.impair(last_arrival);
            match self.fills_late {
                true => self.fill_at = now,
                false => self.fill_device(now, sink),
            }
        }
    }

    /// The device takes packets from the discipline as soon as it has room, and finds it empty when it is.
    #[cold]
    fn fill_device<S: LinkSink>(&mut self, now: Time, sink: &mut S) {
        while self.ring.held() < u64::from(self.device_queue) {
            if self.port.backlog_packets() == 0 || !self.port.dequeue(&mut self.ring, now, sink) {
                if !self.shapes || self.port.backlog_packets() == 0 {
                    self.port.on_idle(now);
                }
                break;
            }
        }
    }

    /// A packet has been handed to the queue of a link that is not idle, and that is not plain or holds packets back.
    #[cold]
    fn go_on<S: LinkSink>(&mut self, (now, birth): (Time, Time), sink: &mut S) {
        if !self.held_back {
            if self.fill_at == Time::MAX {
                self.fill_device(now, sink);
            }
        } else if self.port.dequeue(&mut self.ring, now, sink) {
            self.held_back = false;
            // The look that is listed is for what was held back; what the transmitter gets next may be due before.
            self.looks = false;
            self.launch::<S, false>((now, birth), sink);
        } else {
            self.rest(now);
        }
    }

    /// A packet is handed to the queue by the event `key`.
    #[inline]
    pub(crate) fn arrive<S: LinkSink>(&mut self, packet: Packet, key: &Key, sink: &mut S) {
        self.catch_up(key, sink);
        self.admit(packet, key, sink);
        self.waiting = !self.nothing_to_send();
    }

    /// Hands the packet in flight that arrives next in `from` to the queue of a plain link that is up to date and transmits.
    #[inline(never)]
    pub(crate) fn take_in<S: LinkSink>(&mut self, from: &mut Ring, key: &Key, sink: &mut S) {
        if S::TRACES
            && let Some(packet) = from.flight_head()
        {
            sink.at_key(*key, self.index);
            sink.event(Event::Enqueue, packet);
        }
        self.port.enqueue_from(from, &mut self.ring, key.time, sink);
        if self.held_back {
            self.go_on((key.time, key.birth), sink);
        }
        self.waiting = !self.nothing_to_send();
    }

    /// A packet is handed to the queue of a link that is up to date.
    #[inline(always)]
    fn admit<S: LinkSink>(&mut self, packet: Packet, key: &Key, sink: &mut S) {
        let now = key.time;
        if S::TRACES {
            sink.at_key(*key, self.index);
        }
        if !self.plain && self.loses_at_queue() {
            self.count_loss();
            sink.dropped(packet, DropReason::Wire, now);
            return;
        }
        if S::TRACES {
            sink.event(Event::Enqueue, &packet);
        }
        if self.bypass {
            self.port.after_bypass(self.last_start);
        }
        if self.idle {
            if self
                .port
                .enqueue_and_dequeue(packet, &mut self.ring, now, sink)
            {
                self.launch::<S, false>((now, key.birth), sink);
            } else {
                self.rest(now);
            }
            return;
        }
        self.port.enqueue(packet, &mut self.ring, now, sink);
        if !self.plain || self.held_back {
            self.go_on((now, key.birth), sink);
        }
    }

    /// True if one more packet in flight changes nothing in the event list: the arrival of one before it is there, or the
    /// link is silent.
    #[inline(always)]
    pub(crate) fn is_listed(&self) -> bool {
        self.silent || (!self.calm && self.ring.in_flight() > 0)
    }

    /// True if a feeder without an event in the list, or one with which it only looks, needs one or is to let packets run
    /// ahead.
    #[inline(always)]
    pub(crate) fn needs_event(&self) -> bool {
        match self.calm {
            true => self.ring.in_flight() >= self.enough,
            false => self.ring.in_flight() > 0 || (self.waiting && !self.looks),
        }
    }

    /// Shows the packets of a silent link that have arrived before `time` to `see`, and drops them; says how many.
    #[inline(always)]
    pub(crate) fn absorb(&mut self, time: Time, mut see: impl FnMut(&Packet)) -> u64 {
        let mut packets = 0;
        while self.ring.land_before(time, &mut see) {
            packets += 1;
        }
        packets
    }

    /// The next event of the link in lazy mode: when the next packet in flight arrives, and its birth.
    #[inline]
    pub(crate) fn next_delivery(&self) -> Option<(Time, Time)> {
        if self.silent {
            return None;
        }
        if let Some(impaired) = &self.impaired
            && impaired.state.reorders()
        {
            return impaired.air.peek().map(|Reverse(f)| (f.at, f.launched));
        }
        self.ring.flight_head().map(|p| (p.at, p.launched))
    }

    /// The departure event of an eager link while it transmits, or of a lazy one whose port holds packets back, or that has come
    /// up, while nothing is in flight: when, and its birth. A plain link has none.
    #[inline]
    pub(crate) fn next_departure(&self) -> Option<(Time, Time)> {
        let looks = !self.plain && (self.held_back || self.resumes());
        let alone = looks && self.ring.in_flight() == 0;
        let listed = self.eager || alone;
        if listed && self.fill_at != Time::MAX {
            return Some((self.fill_at, self.fill_at));
        }
        if !listed || self.idle || self.free_at == Time::MAX {
            return None;
        }
        let key = self.departure_key();
        Some((key.time, key.birth))
    }

    /// Takes the packet that has arrived at the far end.
    #[inline]
    pub(crate) fn land(&mut self) -> Option<Packet> {
        if let Some(impaired) = &mut self.impaired
            && impaired.state.reorders()
        {
            return impaired.air.pop().map(|Reverse(f)| f.packet);
        }
        self.ring.land()
    }

    /// Packets handed to the link and not yet at the far end: waiting, held, in flight.
    pub(crate) fn population(&self) -> u64 {
        let air = self.impaired.as_ref().map_or(0, |i| i.air.len());
        self.port.backlog_packets()
            + self.ring.held()
            + self.ring.in_flight()
            + u64::try_from(air).unwrap_or(u64::MAX)
    }

    /// Packets that the queue has given up and that are not at the far end.
    pub(crate) fn given_up(&self) -> impl Iterator<Item = &Packet> {
        let air = self.impaired.iter().flat_map(|impaired| &impaired.air);
        let air = air.map(|Reverse(flight)| &flight.packet);
        self.ring.given_up().chain(air)
    }

    /// Applies a new rate from the next start of transmission on; a link with a schedule has it for its queue only.
    pub(crate) fn set_rate(&mut self, rate: Rate) {
        self.serializer.set_rate(rate);
        self.per_byte = self.serializer.whole;
        self.port.on_rate(rate);
    }

    /// Applies a new delay to packets that start from now on.
    pub(crate) fn set_delay(&mut self, delay: Span) {
        if delay < self.delay && self.ordered {
            // From now on packets may catch up with those before them, so none goes straight through.
            self.ordered = false;
            self.bypass = false;
            self.last_arrival = self.ring.launched_last().map_or(Time::ZERO, |p| p.at);
        }
        self.delay = delay;
    }

    /// The longest time from the start of a transmission to the arrival, without serialization.
    pub(crate) fn longest_wire(&self) -> Span {
        let jitter = self
            .impaired
            .as_ref()
            .map_or(Span::ZERO, |i| i.state.max_jitter());
        self.delay + jitter
    }

    /// The warm-up is over: what was measured so far is left out.
    pub(crate) fn start_measuring(&mut self, now: Time) {
        self.port.start_measuring(&self.ring, now);
        if let Some(impaired) = &mut self.impaired {
            impaired.lost = 0;
        }
        self.held_before = (self.ring.held(), self.ring.held_bytes());
    }

    /// Packets and bytes whose transmission has started since measuring began.
    pub(crate) fn sent(&self) -> (u64, u64) {
        let (packets, bytes) = self.port.released();
        (
            packets + self.held_before.0 - self.ring.held(),
            bytes + self.held_before.1 - self.ring.held_bytes(),
        )
    }

    /// Ends the run: hands every packet of the link to `sink`, and closes the accounts of the port.
    pub(crate) fn finish<S: LinkSink>(&mut self, now: Time, sink: &mut S) {
        self.port.finish(&self.ring, now, sink);
        while self.ring.waiting() > 0 {
            self.ring.take();
        }
        while self.ring.held() > 0 {
            self.ring.launch();
        }
        while let Some(packet) = self.ring.land() {
            sink.dropped(packet, DropReason::EndOfRun, now);
        }
        if let Some(impaired) = &mut self.impaired {
            while let Some(Reverse(flight)) = impaired.air.pop() {
                sink.dropped(flight.packet, DropReason::EndOfRun, now);
            }
        }
    }
}
