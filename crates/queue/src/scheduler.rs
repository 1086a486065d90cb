//! The scheduler trait: a discipline that owns child queues, classification and the overflow victim.

use crate::store::{Held, Store};
use sojourn_sim::{DropReason, Label, MarkReason, Stream};
use sojourn_units::{Rate, Time};

/// What a scheduler is given, and where it hands dropped packets back.
///
/// It is kept from call to call, and handed on as a whole.
pub struct SchedulerCx {
    /// The instant of the call.
    pub now: Time,
    /// Rate of the link.
    pub rate: Rate,
    /// The random stream of the queue.
    pub rng: Stream,
    /// Where the packets of all its queues wait.
    pub store: Store,
    /// Dropped packets, to be handed to the link after the call.
    pub(crate) drops: Vec<(Held, DropReason)>,
    /// Marked packets, to be reported after the call.
    pub(crate) marks: Vec<(Label, MarkReason)>,
}

impl SchedulerCx {
    /// At time zero, without packets.
    pub(crate) fn new(rate: Rate, rng: Stream) -> SchedulerCx {
        SchedulerCx {
            now: Time::ZERO,
            rate,
            rng,
            store: Store::default(),
            drops: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// Nothing is to be handed back.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        self.drops.is_empty() && self.marks.is_empty()
    }

    /// Consumes a packet.
    #[inline]
    pub fn drop(&mut self, held: Held, reason: DropReason) {
        self.drops.push((held, reason));
    }

    /// Sets CE on a packet if it is ECN-capable, and says so.
    #[inline]
    pub fn mark(&mut self, held: &Held, reason: MarkReason) -> bool {
        let packet = self.store.packet_mut(held);
        let marked = packet.mark();
        if marked {
            self.marks.push((packet.label(), reason));
        }
        marked
    }
}

/// What judges or schedules inside one of the queues of a scheduler, to be asked for its internal state.
pub trait Inside {
    /// As [`Scheduler::state_names`].
    fn state_names(&self) -> &'static [&'static str] {
        &[]
    }

    /// As [`Scheduler::state`].
    fn state(&self, out: &mut Vec<f64>) {
        let _ = out;
    }

    /// As [`Scheduler::queues`].
    fn queues(&self, show: &mut dyn FnMut(QueueState<'_>)) {
        let _ = show;
    }
}

/// Nothing that has a state of its own.
impl Inside for () {}

/// One of the queues of a scheduler.
#[derive(Clone, Copy)]
pub struct QueueState<'a> {
    /// Its number within the scheduler.
    pub number: u32,
    /// Packets that wait in it.
    pub packets: u64,
    /// Bytes that wait in it.
    pub bytes: u64,
    /// Bytes that it may still send in its turn, if the scheduler counts them; negative after more than its share.
    pub deficit: Option<i64>,
    /// Its AQM, or the scheduler in it.
    pub inside: &'a dyn Inside,
}

/// A packet scheduler.
pub trait Scheduler {
    /// A packet arrives: it is kept in a list through `cx.store`, or it (or others in its place) is given to `cx.drop`.
    fn enqueue(&mut self, packet: Held, cx: &mut SchedulerCx);

    /// The next packet to send; `None` if no packet is left, or a shaper holds back what is.
    fn dequeue(&mut self, cx: &mut SchedulerCx) -> Option<Held>;

    /// True if it may hold packets back while the transmitter is free: a shaper. Asked once, when the link is built.
    fn shapes(&self) -> bool {
        false
    }

    /// Asked when [`Scheduler::dequeue`] at `now` gave nothing although packets wait: the earliest time, later than `now`, at
    /// which it may give one. It is asked for one again then, and whenever another packet arrives.
    fn ready_at(&mut self, now: Time) -> Time {
        let _ = now;
        Time::MAX
    }

    /// The transmitter wanted a packet and found none.
    fn on_empty(&mut self, now: Time) {
        let _ = now;
    }

    /// Does the periodic updates that are due by `cx.now`, before its state is read.
    fn catch_up(&mut self, cx: &mut SchedulerCx) {
        let _ = cx;
    }

    /// Packets and bytes that wait, counted by the scheduler itself; the frame compares them with its own count.
    fn backlog(&self) -> (u64, u64);

    /// The names of the internal state that [`Scheduler::state`] reports, with units in the name.
    fn state_names(&self) -> &'static [&'static str] {
        &[]
    }

    /// The internal state, in the order of [`Scheduler::state_names`].
    fn state(&self, out: &mut Vec<f64>) {
        let _ = out;
    }

    /// Bytes of memory that it keeps, where it can tell, its packets left out. A property test asks whether they stay bounded.
    fn footprint(&self) -> Option<u64> {
        None
    }

    /// Shows the queues that there are, by their numbers; a number belongs to the same queue for the whole run.
    fn queues(&self, show: &mut dyn FnMut(QueueState<'_>)) {
        let _ = show;
    }
}
