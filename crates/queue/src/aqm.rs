//! The AQM trait: a judgement on one packet at a time, testable without packets.

use crate::store::{List, Store};
use sojourn_sim::{DropReason, Ecn, MarkReason, Packet, Ring, Stream};
use sojourn_units::{Rate, Span, Time};

/// What an AQM may know of the packet that it judges.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Meta {
    /// Bytes on the wire.
    pub size: u32,
    /// The flow it belongs to.
    pub flow: u32,
    /// DSCP and ECN, as in the IP header.
    pub tos: u8,
}

impl Meta {
    /// What an AQM may know of `packet`.
    #[inline]
    pub fn of(packet: &Packet) -> Meta {
        Meta {
            size: packet.size,
            flow: packet.flow,
            tos: packet.tos,
        }
    }

    /// The ECN codepoint.
    #[inline]
    pub fn ecn(&self) -> Ecn {
        Ecn::from_bits(self.tos)
    }

    /// The differentiated services codepoint.
    #[inline]
    pub fn dscp(&self) -> u8 {
        self.tos >> 2
    }
}

/// A count as a number: exact below 2^53, and not above 2^63, up to where the conversion is one instruction.
#[allow(clippy::as_conversions, reason = "counts are far below 2^53")]
#[inline]
pub(crate) const fn float(n: u64) -> f64 {
    (n & (u64::MAX >> 1)).cast_signed() as f64
}

/// The packets that wait, head first.
#[derive(Clone, Copy)]
pub enum Waiting<'a> {
    /// In the ring of a link.
    Ring(&'a Ring),
    /// In a child queue.
    Queue(&'a Store, &'a List),
    /// Nowhere: in tests of an algorithm alone.
    Nothing,
}

impl Waiting<'_> {
    /// The packet at `position` (0 is the head).
    pub fn peek(&self, position: u64) -> Option<Meta> {
        match self {
            Waiting::Ring(ring) => ring.peek(position).map(Meta::of),
            Waiting::Queue(store, list) => store.get(list, position).map(Meta::of),
            Waiting::Nothing => None,
        }
    }

    /// How long the head of the queue has waited at `now`; zero for an empty queue.
    pub fn head_age(&self, now: Time) -> Span {
        let head = match self {
            Waiting::Ring(ring) => ring.peek(0),
            Waiting::Queue(store, list) => store.front(list),
            Waiting::Nothing => None,
        };
        head.map_or(Span::ZERO, |packet| now.since(packet.arrived()))
    }
}

/// What an AQM may know of its queue. In `on_enqueue` the judged packet is not in it yet, in `on_dequeue` not any more;
/// there the packets themselves are not shown, but may be dropped by their position behind the judged one.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// Packets that wait.
    pub packets: u64,
    /// Bytes that wait.
    pub bytes: u64,
    /// Rate of the link.
    pub rate: Rate,
    /// When the last packet left the queue for transmission; time zero before the first.
    pub last_departure: Time,
    /// The packets themselves.
    pub waiting: Waiting<'a>,
}

/// What an AQM is given beside the packet and the queue.
pub struct Cx<'a> {
    /// The instant of the judgement.
    pub now: Time,
    /// The random stream of the queue.
    pub rng: &'a mut Stream,
}

impl Cx<'_> {
    /// The same, for a while.
    #[inline(always)]
    pub(crate) fn again(&mut self) -> Cx<'_> {
        Cx {
            now: self.now,
            rng: self.rng,
        }
    }
}

/// A judgement on a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It goes on.
    Pass,
    /// It goes on with CE; the packet must be ECN-capable.
    Mark(MarkReason),
    /// It is dropped.
    Drop(DropReason),
    /// It goes on, and the waiting packet at this position (0 is the head) is dropped.
    DropOther(u32, DropReason),
    /// It is dropped, and so is the waiting packet at this position.
    DropBoth(u32, DropReason),
}

// A judgement that does not fit a register is put into memory in parts and read as a whole, which waits for the parts.
const _: () = assert!(size_of::<Verdict>() <= 8);

/// What an AQM wants to be asked and told; the frame spares the rest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Judges {
    /// While fewer packets than this wait it lets every arrival in, whatever its state, and learns nothing from it; 0 if it
    /// wants to see every arrival.
    pub room: u64,
    /// [`Aqm::on_dequeue`] may answer other than `Pass`, or learns from being asked.
    pub departures: bool,
    /// [`Aqm::on_empty`] does something.
    pub empty: bool,
    /// [`Aqm::next_tick`] may answer other than `None`.
    pub ticks: bool,
}

impl Judges {
    /// Everything.
    pub const EVERYTHING: Judges = Judges {
        room: 0,
        departures: true,
        empty: true,
        ticks: true,
    };

    /// As [`Judges::of`], of a frame whose packets wait in a ring, which they leave at its head unless the AQM drops them.
    pub(crate) fn of_ring(aqm: &impl Aqm) -> Judges {
        let judges = Judges::of(aqm);
        let departures = judges.departures && !aqm.only_counts_departures();
        Judges {
            departures,
            ..judges
        }
    }

    /// What `aqm` wants, of a frame that replays its periodic updates: one that has them sees every arrival, since the updates
    /// that are due come before it.
    pub(crate) fn of(aqm: &impl Aqm) -> Judges {
        let judges = aqm.judges();
        let room = if judges.ticks { 0 } else { judges.room };
        Judges { room, ..judges }
    }

    /// Nothing but arrivals while so many packets wait or more.
    pub const fn arrivals_beyond(room: u64) -> Judges {
        Judges {
            room,
            departures: false,
            empty: false,
            ticks: false,
        }
    }
}

/// An active queue management algorithm over one FIFO.
pub trait Aqm {
    /// What it wants to be asked and told, asked once when the queue is built.
    fn judges(&self) -> Judges {
        Judges::EVERYTHING
    }

    /// Judges an arriving packet.
    fn on_enqueue(&mut self, meta: &Meta, view: &View<'_>, cx: &mut Cx<'_>) -> Verdict;

    /// As [`Aqm::on_enqueue`], of a packet that finds so many others waiting in a ring, where little has to be asked; none, and
    /// nothing done, if that has to judge. Not for an AQM with periodic updates, whose next one is asked for after that.
    #[inline(always)]
    fn judge_shortly(
        &mut self,
        meta: &Meta,
        packets: u64,
        ring: &Ring,
        cx: &mut Cx<'_>,
    ) -> Option<Verdict> {
        let _ = (meta, packets, ring, cx);
        None
    }

    /// Judges the head of the queue when the transmitter wants a packet; `sojourn` is how long it waited. After `Drop`
    /// the next packet is judged at the same instant.
    #[inline]
    fn on_dequeue(
        &mut self,
        meta: &Meta,
        sojourn: Span,
        view: &View<'_>,
        cx: &mut Cx<'_>,
    ) -> Verdict {
        let _ = (meta, sojourn, view, cx);
        Verdict::Pass
    }

    /// True if [`Aqm::on_dequeue`] lets every packet pass, and only counts what has left: then a frame from which packets leave in
    /// their order need not ask, since the next arrival shows how many wait; [`Aqm::state_among`] is told of those.
    fn only_counts_departures(&self) -> bool {
        false
    }

    /// True if it never drops a packet that waits, and reads nothing of what waits but [`View::packets`] and [`View::bytes`]:
    /// then departures that it does not [judge](Judges::departures) may be replayed before their time.
    fn reads_counts_only(&self) -> bool {
        false
    }

    /// The transmitter wanted a packet and found none: the queue was empty, or every packet in it was dropped.
    #[inline]
    fn on_empty(&mut self, now: Time) {
        let _ = now;
    }

    /// The scheduler dropped so many packets of this queue, waiting or arriving, without asking.
    #[inline]
    fn on_evicted(&mut self, packets: u32) {
        let _ = packets;
    }

    /// When the periodic update is due, if the algorithm has one. It is replayed before the first enqueue, dequeue or
    /// reading at or after that time.
    #[inline]
    fn next_tick(&self) -> Option<Time> {
        None
    }

    /// The periodic update; `cx.now` is the time of the tick.
    fn on_tick(&mut self, view: &View<'_>, cx: &mut Cx<'_>) {
        let _ = (view, cx);
    }

    /// The names of the internal state that [`Aqm::state`] reports, with units in the name.
    fn state_names(&self) -> &'static [&'static str] {
        &[]
    }

    /// The internal state, in the order of [`Aqm::state_names`].
    fn state(&self, out: &mut Vec<f64>) {
        let _ = out;
    }

    /// As [`Aqm::state`], where so many packets wait.
    fn state_among(&self, packets: u64, out: &mut Vec<f64>) {
        let _ = packets;
        self.state(out);
    }
}
