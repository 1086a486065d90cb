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
    pub const ALL: [DropReason; 12] = [
        DropReason::Overlimit,
        DropReason::Evicted,
        DropReason::Early,
        DropReason::Forced,
        DropReason::TargetExceeded,
        DropReason::FlowMatch,
        DropReason::Penalty,
        DropReason::AckFiltered,
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
}

impl MarkReason {
    /// Every reason, in order of its number.
    pub const ALL: [MarkReason; 3] = [
        MarkReason::Early,
        MarkReason::TargetExceeded,
        MarkReason::Threshold,
    ];

    /// The name used in result files and by `sojourn replay`.
    pub const fn name(self) -> &'static str {
        match self {
            MarkReason::Early => "early",
            MarkReason::TargetExceeded => "target_exceeded",
            MarkReason::Threshold => "threshold",
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

/// Where a port hands dropped packets back, and tells of marks. The frame behind it counts, traces and
/// releases.
pub trait PortSink {
    /// Consumes a dropped packet.
    fn dropped(&mut self, packet: Packet, reason: DropReason, at: Time);
    /// Tells that the packet with this label now carries CE.
    fn marked(&mut self, label: &Label, reason: MarkReason, at: Time);
}

/// The queue at the head of a link.
///
/// The link calls it with times that never decrease. A port keeps waiting packets in the link's ring
/// (FIFO disciplines) or in queues of its own (schedulers), never in both.
pub trait Port {
    /// A packet is handed to the queue at `now`. The port [stamps](Packet::stamp) it, and keeps it or gives it to `sink`.
    fn enqueue<S: PortSink>(&mut self, packet: Packet, ring: &mut Ring, now: Time, sink: &mut S);

    /// The packet that arrives next in `from`, another link's ring, is handed to the queue at `now`, after one more hop.
    #[inline]
    fn take_in<S: PortSink>(&mut self, from: &mut Ring, ring: &mut Ring, now: Time, sink: &mut S) {
        let mut packet = from.land_next();
        packet.hop();
        self.enqueue(packet, ring, now, sink);
    }

    /// A packet is handed to the queue at `now` while nothing waits and the transmitter is free: the same as `enqueue`
    /// and then `dequeue` at one instant. True if a packet is in the ring's taken region.
    fn pass<S: PortSink>(
        &mut self,
        packet: Packet,
        ring: &mut Ring,
        now: Time,
        sink: &mut S,
    ) -> bool {
        self.enqueue(packet, ring, now, sink);
        self.backlog_packets() > 0 && self.dequeue(ring, now, sink)
    }

    /// True if the port lets every packet through unseen that comes when nothing waits and the transmitter is free. The link
    /// asks once. Such a port may also not be told that the transmitter found nothing to send before such a packet.
    fn waives(&self) -> bool {
        false
    }

    /// True if the port wants to know the flow of each packet that goes straight through. The link asks once.
    fn counts_flows(&self) -> bool {
        false
    }

    /// A packet of so many bytes has gone straight through: only where the port [waives](Port::waives) to see it, and does not
    /// [count by flow](Port::counts_flows).
    #[inline]
    fn waived(&mut self, bytes: u32) {
        let _ = bytes;
    }

    /// As [`Port::waived`], where it does.
    #[inline]
    fn waived_of(&mut self, bytes: u32, flow: u32) {
        let _ = flow;
        self.waived(bytes);
    }

    /// The last departure was at `at`: told before a packet is offered to a port that [waives](Port::waives) to see others.
    #[inline]
    fn has_waived(&mut self, at: Time) {
        let _ = at;
    }

    /// A packet is about to be handed to the queue at `now` while the transmitter is busy: true if the port has let it in and
    /// counted it, and the caller is to put it behind those that wait in the ring as it is; false if the packet is to be
    /// [offered](Port::enqueue) next.
    #[inline]
    fn lets_in(&mut self, packet: &Packet, ring: &Ring, now: Time) -> bool {
        let _ = (packet, ring, now);
        false
    }

    /// The transmitter wants a packet at `now`, and this one is at the head of those that wait in the ring: true if the port
    /// has counted it as gone, and the caller is to take it as it is; false if the port is to be [asked](Port::dequeue) next.
    #[inline]
    fn lets_out(&mut self, packet: &Packet, now: Time) -> bool {
        let _ = (packet, now);
        false
    }

    /// True if the port can be told of departures before their time: it lets every packet out that it has let in, in their order
    /// and unseen, and what it decides on arrival depends on the packets that wait by their number and bytes only. A link that
    /// wants to asks once. From then on [`Port::lets_out`] may come early; whoever reads the port [settles](Port::settle) it first.
    fn foresees(&mut self) -> bool {
        false
    }

    /// A packet of so many bytes is handed to the queue at `now`, and its transmission will start at `start`, which is later:
    /// true if the port has let it in and counted both; false if it is to be [offered](Port::enqueue). Only where the port
    /// [foresees](Port::foresees).
    #[inline]
    fn lets_wait(&mut self, bytes: u32, flow: u32, now: Time, start: Time) -> bool {
        let _ = (bytes, flow, now, start);
        false
    }

    /// What the port was told to depart at `now` or before has departed.
    #[inline]
    fn settle(&mut self, now: Time) {
        let _ = now;
    }

    /// Does the periodic updates that are due at `now` or before: whoever reads the state of the port wants it as of then.
    fn update(&mut self, ring: &Ring, now: Time) {
        let _ = (ring, now);
    }

    /// The transmitter wants a packet at `now`: moves the next one to the ring's taken region
    /// ([`Ring::take`] or [`Ring::put`]) and says so, or says that none is left.
    fn dequeue<S: PortSink>(&mut self, ring: &mut Ring, now: Time, sink: &mut S) -> bool;

    /// True if the port may hold packets back while the transmitter is free. The link asks once.
    fn shapes(&self) -> bool {
        false
    }

    /// Asked when the transmitter is free at `now` and was given nothing although packets wait: the earliest time, later
    /// than `now`, at which a packet may be given. The link asks for one again then, and whenever another packet arrives.
    fn ready_at(&mut self, now: Time) -> Time {
        let _ = now;
        Time::MAX
    }

    /// Packets and bytes given up for transmission since measuring began.
    fn released(&self) -> (u64, u64);

    /// Packets that wait.
    fn backlog_packets(&self) -> u64;

    /// The transmitter became free at `now` and found nothing to send.
    fn on_idle(&mut self, now: Time);

    /// The rate of the link is `rate` from now on; also told once before the first packet.
    fn on_rate(&mut self, rate: Rate);

    /// The warm-up is over: what was measured so far is left out. `ring` holds what waits there.
    fn start_measuring(&mut self, ring: &Ring, now: Time);

    /// The run is over: packets that the port still holds outside the ring go to `sink` as
    /// [`DropReason::EndOfRun`], time averages are closed, and the accounting identities are asserted.
    fn finish<S: PortSink>(&mut self, ring: &Ring, now: Time, sink: &mut S);
}
