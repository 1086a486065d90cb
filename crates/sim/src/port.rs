//! What a link needs to know of the queue in front of it, and what the queue may tell the link.

use crate::packet::{Label, Packet};
use crate::ring::Ring;
use sojourn_units::{Rate, Time};

/// Why a packet was dropped.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum DropReason {
    /// Refused: the queue is at its limit.
    Overlimit,
    /// Pushed out of a full queue to make room for another packet.
    Evicted,
    /// The controller decided so from its measure of congestion, on a random draw.
    Early,
    /// The controller's measure is beyond its upper bound: every packet is dropped.
    Forced,
    /// The sojourn time stayed above the target (CoDel and its relatives).
    TargetExceeded,
    /// A packet of the same flow was found in the queue (CHOKe).
    FlowMatch,
    /// Its flow was found not to respond to congestion, and is limited in rate (SFB).
    Penalty,
    /// An acknowledgement that a later one makes superfluous (CAKE).
    AckFiltered,
    /// It exceeded the rate and burst that a policer allows.
    Policed,
    /// Lost on the wire.
    Wire,
    /// No route leads to its destination.
    Unroutable,
    /// It crossed more links than a packet may.
    HopLimit,
    /// Still in a queue or on a wire when the run ended; not a loss, listed for conservation.
    EndOfRun,
}

impl DropReason {
    /// Every reason, in order of its number.
    pub const ALL: [DropReason; 13] = [
        DropReason::Overlimit,
        DropReason::Evicted,
        DropReason::Early,
        DropReason::Forced,
        DropReason::TargetExceeded,
        DropReason::FlowMatch,
        DropReason::Penalty,
        DropReason::AckFiltered,
        DropReason::Policed,
        DropReason::Wire,
        DropReason::Unroutable,
        DropReason::HopLimit,
        DropReason::EndOfRun,
    ];

    /// What happens at a queue or on the wire behind it, in order of its number: the reasons that are counted by link. The
    /// others are of packets that no queue was given, and of the end of the run.
    pub fn of_links() -> impl Iterator<Item = DropReason> {
        let others = [
            DropReason::Unroutable,
            DropReason::HopLimit,
            DropReason::EndOfRun,
        ];
        let all = DropReason::ALL.into_iter();
        all.filter(move |reason| !others.contains(reason))
    }

    /// The name used in result files and by `sojourn replay`.
    pub const fn name(self) -> &'static str {
        match self {
            DropReason::Overlimit => "overlimit",
            DropReason::Evicted => "evicted",
            DropReason::Early => "early",
            DropReason::Forced => "forced",
            DropReason::TargetExceeded => "target_exceeded",
            DropReason::FlowMatch => "flow_match",
            DropReason::Penalty => "penalty",
            DropReason::AckFiltered => "ack_filtered",
            DropReason::Policed => "policed",
            DropReason::Wire => "wire",
            DropReason::Unroutable => "unroutable",
            DropReason::HopLimit => "hop_limit",
            DropReason::EndOfRun => "end_of_run",
        }
    }

    /// Position in [`DropReason::ALL`].
    #[allow(
        clippy::as_conversions,
        reason = "the discriminant of a fieldless enum"
    )]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// Why a packet was marked with CE.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum MarkReason {
    /// The controller decided so, on a random draw.
    Early,
    /// The sojourn time stayed above the target.
    TargetExceeded,
    /// The sojourn time or backlog is above a step threshold.
    Threshold,
    /// It exceeded the rate and burst that a policer allows.
    Policed,
}

impl MarkReason {
    /// Every reason, in order of its number.
    pub const ALL: [MarkReason; 4] = [
        MarkReason::Early,
        MarkReason::TargetExceeded,
        MarkReason::Threshold,
        MarkReason::Policed,
    ];

    /// The name used in result files and by `sojourn replay`.
    pub const fn name(self) -> &'static str {
        match self {
            MarkReason::Early => "early",
            MarkReason::TargetExceeded => "target_exceeded",
            MarkReason::Threshold => "threshold",
            MarkReason::Policed => "policed",
        }
    }

    /// Position in [`MarkReason::ALL`].
    #[allow(
        clippy::as_conversions,
        reason = "the discriminant of a fieldless enum"
    )]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// Takes dropped packets back and learns of marks. The frame behind it counts, traces and releases.
pub trait PortSink {
    /// Consumes a dropped packet.
    fn dropped(&mut self, packet: Packet, reason: DropReason, at: Time);
    /// The packet with this label now carries CE.
    fn marked(&mut self, label: &Label, reason: MarkReason, at: Time);
}

/// The queue at the head of a link.
///
/// The link calls it with times that never decrease. A port keeps waiting packets in the link's ring
/// (FIFO disciplines) or in queues of its own (schedulers), never in both.
pub trait Port {
    /// Takes the packet that arrives at `now`: [stamps](Packet::stamp) it, and keeps it or gives it to `sink`.
    fn enqueue<S: PortSink>(&mut self, packet: Packet, ring: &mut Ring, now: Time, sink: &mut S);

    /// The transmitter wants a packet at `now`: moves the next one to the ring's taken region
    /// ([`Ring::take`] or [`Ring::put`]) and returns true, or returns false if it has none to give.
    fn dequeue<S: PortSink>(&mut self, ring: &mut Ring, now: Time, sink: &mut S) -> bool;

    /// The earliest time after `now` at which a port that [shapes](Caps::shapes) may give a packet. The link asks when the
    /// transmitter is free and got nothing although packets wait. It calls [`Port::dequeue`] at that time, and whenever another
    /// packet arrives.
    fn ready_at(&mut self, now: Time) -> Time {
        let _ = now;
        Time::MAX
    }

    /// Packets that wait.
    fn backlog_packets(&self) -> u64;

    /// Packets and bytes dequeued since measuring began.
    fn released(&self) -> (u64, u64);

    /// Does the periodic updates that are due at `now` or before. Called before somebody reads the state of the port.
    fn update(&mut self, ring: &Ring, now: Time) {
        let _ = (ring, now);
    }

    /// The transmitter became free at `now` and found nothing to send.
    fn on_idle(&mut self, now: Time);

    /// The rate of the link is `rate` from now on. Called once before the first packet, too.
    fn on_rate(&mut self, rate: Rate);

    /// The warm-up is over: leaves out what was measured so far. `ring` holds what waits there.
    fn start_measuring(&mut self, ring: &Ring, now: Time);

    /// The run is over: gives packets that the port still holds outside the ring to `sink` as
    /// [`DropReason::EndOfRun`], closes time averages, and asserts the accounting identities.
    fn finish<S: PortSink>(&mut self, ring: &Ring, now: Time, sink: &mut S);
}

/// A port that can take the place of another in the middle of a run.
pub trait Successor: FastPort {
    /// Takes over from `before`, which has stood before the link until `now`: the packets that wait, in the order of their arrival and
    /// with the time of it, and what has been counted. What it has no room for goes to `sink`. The link has told it the rate.
    fn take_over<S: PortSink>(&mut self, before: Self, ring: &mut Ring, now: Time, sink: &mut S);
}

/// What a port can do beyond [`Port`]. The link asks once, when it is built.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Caps {
    /// A packet that finds the queue empty and the transmitter free need not be enqueued: the link transmits it at once and
    /// calls [`FastPort::bypass`]. The link need not call [`Port::on_idle`] before such a packet either.
    pub bypass: bool,
    /// The port counts by flow: the link calls [`FastPort::bypass_counting`] in place of [`FastPort::bypass`].
    pub counts_flows: bool,
    /// The port can count a departure ahead of its time: it sends every packet that it admits, in order and without a
    /// judgement, and its judgement of an arrival reads the number and bytes of the waiting packets only. See
    /// [`FastPort::precompute`].
    pub precomputable: bool,
    /// The port may hold packets back while the transmitter is free: a shaper.
    pub shapes: bool,
}

/// Shortcuts by which a link spares calls of [`Port`] and copies of packets. Each has the same effect as the calls that it
/// replaces. The defaults take no shortcut, so that `impl FastPort for MyPort {}` is enough.
pub trait FastPort: Port {
    /// Which shortcuts the port supports.
    fn caps(&self) -> Caps {
        Caps::default()
    }

    /// [`Port::enqueue`] of the packet that arrives next in `from`, another link's ring, after one more hop. May be called at
    /// any time in place of `enqueue`.
    #[inline]
    fn enqueue_from<S: PortSink>(
        &mut self,
        from: &mut Ring,
        ring: &mut Ring,
        now: Time,
        sink: &mut S,
    ) {
        let mut packet = from.land_next();
        packet.hop();
        self.enqueue(packet, ring, now, sink);
    }

    /// [`Port::enqueue`] and then [`Port::dequeue`] at one instant, for a packet that finds the queue empty and the
    /// transmitter free. Returns what `dequeue` returns.
    fn enqueue_and_dequeue<S: PortSink>(
        &mut self,
        packet: Packet,
        ring: &mut Ring,
        now: Time,
        sink: &mut S,
    ) -> bool {
        self.enqueue(packet, ring, now, sink);
        self.backlog_packets() > 0 && self.dequeue(ring, now, sink)
    }

    /// Counts a packet of `bytes` that the link transmitted at once. Only with [`Caps::bypass`] and without
    /// [`Caps::counts_flows`].
    #[inline]
    fn bypass(&mut self, bytes: u32) {
        let _ = bytes;
    }

    /// As [`FastPort::bypass`], for a packet of `flow`. Only with [`Caps::bypass`] and [`Caps::counts_flows`].
    #[inline]
    fn bypass_counting(&mut self, bytes: u32, flow: u32) {
        let _ = flow;
        self.bypass(bytes);
    }

    /// Reports when the last transmission began, which may be that of a bypassed packet. Called before the next enqueue. Only
    /// with [`Caps::bypass`].
    #[inline]
    fn after_bypass(&mut self, last_departure: Time) {
        let _ = last_departure;
    }

    /// Offers the packet that arrives at `now` while the transmitter is busy. If true, the port has admitted and counted it, and
    /// the caller puts it, stamped, at the tail of the ring. If false, the caller's next call is an enqueue of this packet.
    #[inline]
    fn admit_at_tail(&mut self, packet: &Packet, ring: &Ring, now: Time) -> bool {
        let _ = (packet, ring, now);
        false
    }

    /// Asks for `packet`, the head of the ring, when the transmitter is free at `now`. If true, the port has counted its
    /// departure, and the caller takes it from the ring. If false, the caller's next call is a dequeue.
    #[inline]
    fn release_head(&mut self, packet: &Packet, now: Time) -> bool {
        let _ = (packet, now);
        false
    }

    /// From now on the link may call [`FastPort::schedule_ahead`], and [`FastPort::release_head`] before its time. Before the port
    /// is read, the link calls [`FastPort::settle`]. Only with [`Caps::precomputable`], before the first packet.
    fn precompute(&mut self) {}

    /// Offers a packet of `bytes` that arrives at `now` and would be transmitted from `start`, later than `now`. If true, the port
    /// has admitted it and counted both. If false, the caller enqueues it. Only after [`FastPort::precompute`].
    #[inline]
    fn schedule_ahead(&mut self, bytes: u32, flow: u32, now: Time, start: Time) -> bool {
        let _ = (bytes, flow, now, start);
        false
    }

    /// Takes the departures at `now` or before that were counted ahead out of the backlog.
    #[inline]
    fn settle(&mut self, now: Time) {
        let _ = now;
    }
}
