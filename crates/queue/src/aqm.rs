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
    /// The queue is inside a scheduler that asks empty queues for packets as the link does, so that [`Aqm::on_empty`] reports every
    /// idle time. Of no meaning outside a scheduler.
    pub asked: bool,
    /// The packets themselves.
    pub waiting: Waiting<'a>,
}

impl View<'_> {
    /// Since when an empty queue has been idle, where [`Aqm::on_empty`] does not tell: most schedulers do not ask an empty
    /// queue for packets. It is idle since its last packet left.
    #[inline(always)]
    pub fn idle_unasked(&self) -> Option<Time> {
        let unasked =
            self.packets == 0 && !self.asked && matches!(self.waiting, Waiting::Queue(..));
        unasked.then_some(self.last_departure)
    }
}

/// What an AQM is given beside the packet and the queue.
pub struct Cx<'a> {
    /// The instant of the judgement.
    pub now: Time,
    /// The random stream of the queue.
    pub rng: &'a mut Stream,
}

impl Cx<'_> {
    /// Reborrows the context.
    #[inline(always)]
    pub(crate) fn reborrow(&mut self) -> Cx<'_> {
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

/// What an AQM does when packets leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Departures {
    /// Nothing: [`Aqm::on_dequeue`] answers `Pass` and changes nothing.
    Ignored,
    /// It counts them: [`Aqm::on_dequeue`] answers `Pass`, and what it changes can as well be derived at the next arrival from
    /// [`View::packets`]. A queue from which packets leave in order may skip the call; it then reads the state by
    /// [`Aqm::state_with_backlog`].
    Counted,
    /// It judges them: [`Aqm::on_dequeue`] may answer other than `Pass`, or has an effect that an arrival cannot make up for.
    Judged,
}

impl Departures {
    /// Judged under a condition, else ignored.
    pub(crate) const fn judged_if(judges: bool) -> Departures {
        match judges {
            true => Departures::Judged,
            false => Departures::Ignored,
        }
    }
}

/// Which calls an AQM needs. The frame skips the others, so a narrow answer is faster; [`Interest::EVERYTHING`] is always
/// correct.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interest {
    /// Arrivals that find at least this many packets are judged. With fewer, [`Aqm::on_enqueue`] would answer `Pass` and change
    /// nothing, whatever the state, and is not called. 0 for every arrival, `u64::MAX` for none.
    pub arrivals_from: u64,
    /// Whether [`Aqm::on_dequeue`] is called.
    pub departures: Departures,
    /// Whether [`Aqm::on_empty`] is called.
    pub empty: bool,
    /// Whether [`Aqm::next_tick`] is asked; false if it always answers `None`.
    pub ticks: bool,
    /// The AQM never drops a waiting packet, and of the queue it reads [`View::packets`] and [`View::bytes`] only. A link
    /// may then count departures ahead of their time, unless they are judged.
    pub reads_counts_only: bool,
}

impl Interest {
    /// Every call.
    pub const EVERYTHING: Interest = Interest {
        arrivals_from: 0,
        departures: Departures::Judged,
        empty: true,
        ticks: true,
        reads_counts_only: false,
    };

    /// Arrivals that find at least `packets`, and no other call.
    pub const fn in_arrivals_from(packets: u64) -> Interest {
        Interest {
            arrivals_from: packets,
            departures: Departures::Ignored,
            empty: false,
            ticks: false,
            reads_counts_only: false,
        }
    }

    /// The interest of `aqm`, for a frame that replays its periodic updates. With updates it sees every arrival, since those
    /// that are due come before it.
    pub(crate) fn of(aqm: &impl Aqm) -> Interest {
        let interest = aqm.interest();
        let arrivals_from = if interest.ticks {
            0
        } else {
            interest.arrivals_from
        };
        Interest {
            arrivals_from,
            ..interest
        }
    }

    /// As [`Interest::of`], for a frame whose packets wait in a ring: they leave it in order unless the AQM drops them, so
    /// departures that are only counted are skipped.
    pub(crate) fn of_ring(aqm: &impl Aqm) -> Interest {
        let interest = Interest::of(aqm);
        let departures = match interest.departures {
            Departures::Counted => Departures::Ignored,
            other => other,
        };
        Interest {
            departures,
            ..interest
        }
    }

    /// True if departures are judged.
    #[inline(always)]
    pub(crate) fn judges_departures(&self) -> bool {
        self.departures == Departures::Judged
    }
}

/// An active queue management algorithm over one FIFO.
pub trait Aqm {
    /// Which calls it needs. Asked once, when the queue is built.
    fn interest(&self) -> Interest {
        Interest::EVERYTHING
    }

    /// Judges an arriving packet.
    fn on_enqueue(&mut self, meta: &Meta, view: &View<'_>, cx: &mut Cx<'_>) -> Verdict;

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

    /// The transmitter wanted a packet and found none: the queue was empty, or every packet in it was dropped.
    #[inline]
    fn on_empty(&mut self, now: Time) {
        let _ = now;
    }

    /// The scheduler dropped `packets` of this queue, waiting or arriving, without a judgement.
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

    /// An action from outside, between two moments of the run: what a learning environment has decided. What its numbers mean is the
    /// algorithm's own; most take none.
    fn steer(&mut self, action: &[f64]) {
        let _ = action;
    }

    /// The names of the internal state that [`Aqm::state`] reports, with units in the name.
    fn state_names(&self) -> &'static [&'static str] {
        &[]
    }

    /// The internal state, in the order of [`Aqm::state_names`].
    fn state(&self, out: &mut Vec<f64>) {
        let _ = out;
    }

    /// Bytes of memory that it keeps, where it can tell. A property test asks whether they stay bounded.
    fn footprint(&self) -> Option<u64> {
        None
    }

    /// [`Aqm::state`] when `packets` wait, for a frame that skips departures that are only [counted](Departures::Counted).
    fn state_with_backlog(&self, packets: u64, out: &mut Vec<f64>) {
        let _ = packets;
        self.state(out);
    }
}
