//! What is inside one queue of a scheduler: a FIFO with an AQM of its own, or another scheduler with queues of its own.

use crate::aqm::{Aqm, Cx, Departures, Interest, Meta, Verdict, View, Waiting};
use crate::disciplines::aqms::AnyAqm;
use crate::scheduler::{Inside, QueueState, Scheduler, SchedulerCx};
use crate::store::{Held, List, Store};
use sojourn_sim::{DropReason, MarkReason, Packet};
use sojourn_units::{Bytes, Limit, Packets, Time};

/// A child queue. The fields that every packet touches come first, whatever the AQM. With the fields that a scheduler keeps before
/// them for each queue they fill one cache line.
#[repr(C)]
pub struct Child {
    /// The packets that wait here. Under a scheduler only their number.
    queue: List,
    /// Bytes in `queue` and `peeked`.
    bytes: u64,
    /// [`Interest::arrivals_from`], at most the length of the longest possible list.
    room: u32,
    /// What a departure involves: [`JUDGED`] and [`ASIDE`] bits.
    departures: u8,
    /// [`Interest::empty`].
    empty: bool,
    /// `peeked` holds a packet.
    peeks: bool,
    /// [`View::asked`].
    asked: bool,
    /// When the last packet left.
    last_departure: Time,
    /// No periodic update of the AQM is due before this. Zero if it has to be asked each time: an AQM from outside this crate,
    /// or a scheduler inside.
    tick_at: Time,
    /// At most one packet, released by the AQM or the scheduler and not taken yet.
    peeked: List,
    /// The scheduler in place of the AQM. Not one enum with it, so that the AQM is reached without a look at this.
    inside: Option<Box<dyn Scheduler + Send>>,
    /// Unused under a scheduler.
    aqm: AnyAqm,
}

/// When the next periodic update is due of an AQM that has them. Those of this crate move it by an update only.
fn tick_of(aqm: &AnyAqm) -> Time {
    match aqm {
        AnyAqm::Custom(_) => Time::ZERO,
        _ => aqm.next_tick().unwrap_or(Time::MAX),
    }
}

/// In place of the AQM of a queue that is under a scheduler.
struct Unasked;

impl Aqm for Unasked {
    fn on_enqueue(&mut self, _: &Meta, _: &View<'_>, _: &mut Cx<'_>) -> Verdict {
        Verdict::Pass
    }
}

/// The AQM is asked about departures, or has updates that come before them.
const JUDGED: u8 = 1;

/// The next packet is not the first of the queue: it is the one let go before, or what a scheduler chooses.
const ASIDE: u8 = 2;

impl Child {
    /// An empty queue judged by `aqm`.
    pub fn new(aqm: AnyAqm) -> Child {
        let interest = Interest::of(&aqm);
        let tick_at = match interest.ticks {
            true => tick_of(&aqm),
            false => Time::MAX,
        };
        Child {
            queue: List::default(),
            bytes: 0,
            room: u32::try_from(interest.arrivals_from).unwrap_or(u32::MAX),
            departures: match interest.departures != Departures::Ignored || interest.ticks {
                true => JUDGED,
                false => 0,
            },
            empty: interest.empty,
            peeks: false,
            asked: false,
            last_departure: Time::ZERO,
            tick_at,
            peeked: List::default(),
            aqm,
            inside: None,
        }
    }

    /// Empty queues under `scheduler`, which are asked as one.
    pub fn under(scheduler: Box<dyn Scheduler + Send>) -> Child {
        Child {
            departures: ASIDE,
            inside: Some(scheduler),
            ..Child::new(AnyAqm::Custom(Box::new(Unasked)))
        }
    }

    /// For schedulers that ask an empty queue for packets, and call [`Child::on_empty`] when the link becomes idle.
    #[must_use]
    pub fn asked(self) -> Child {
        Child {
            asked: true,
            ..self
        }
    }

    /// As [`Scheduler::shapes`].
    pub fn shapes(&self) -> bool {
        self.inside.as_ref().is_some_and(|inside| inside.shapes())
    }

    /// As [`Scheduler::ready_at`].
    pub fn ready_at(&mut self, now: Time) -> Time {
        match &mut self.inside {
            Some(inside) if inside.backlog().0 > 0 => inside.ready_at(now),
            _ => Time::MAX,
        }
    }

    /// True under a scheduler.
    pub fn is_scheduled(&self) -> bool {
        self.inside.is_some()
    }

    /// Packets that wait.
    #[inline]
    pub fn packets(&self) -> u64 {
        self.queue.len() + u64::from(self.peeks)
    }

    /// True if nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty() && !self.peeks
    }

    /// Bytes that wait.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The next packet is not the first of the queue: [`Child::peek`] finds it.
    #[inline(always)]
    pub fn chooses(&self) -> bool {
        self.departures & ASIDE != 0
    }

    /// The size of the first packet of the queue, which is sent next unless the AQM drops it, or [another is](Child::chooses).
    #[inline(always)]
    pub fn head_size(&self) -> Option<u32> {
        self.queue.head_size()
    }

    /// The [slot](Held::slot) of the first packet of the queue, which is sent next unless the AQM drops it, or
    /// [another is](Child::chooses).
    #[inline(always)]
    pub fn head_slot(&self) -> Option<u32> {
        self.queue.head_slot()
    }

    /// The [slot](Held::slot) of the packet that arrived last.
    #[inline]
    pub fn tail_slot(&self) -> Option<u32> {
        self.queue.tail_slot().or(self.peeked.tail_slot())
    }

    /// The packets that wait, head first.
    pub fn iter<'a>(&self, store: &'a Store) -> impl Iterator<Item = &'a Packet> {
        store.iter(&self.peeked).chain(store.iter(&self.queue))
    }

    /// Offers a packet to the AQM and keeps it unless it is dropped; says whether it was kept. Under a scheduler, which may drop
    /// another one, it says whether there is one to send.
    #[inline(always)]
    pub fn enqueue(&mut self, packet: Held, cx: &mut SchedulerCx) -> bool {
        if self.is_asked() {
            return self.offer(packet, cx);
        }
        self.enqueue_unseen(packet, &mut cx.store);
        true
    }

    /// The AQM is asked about a packet that arrives now.
    #[inline(always)]
    fn is_asked(&self) -> bool {
        self.packets() >= u64::from(self.room)
    }

    #[inline(always)]
    fn enqueue_unseen(&mut self, packet: Held, store: &mut Store) {
        self.bytes += u64::from(packet.size);
        store.push_back(&mut self.queue, packet);
    }

    /// Lets the AQM judge an arriving packet, or the scheduler take it.
    #[inline(never)]
    fn offer(&mut self, packet: Held, cx: &mut SchedulerCx) -> bool {
        if self.tick_at <= cx.now {
            if let Some(inside) = &mut self.inside {
                inside.enqueue(packet, cx);
                self.recount(self.peeked.head_size().unwrap_or(0));
                return !self.is_empty();
            }
            self.replay(cx);
        }
        let meta = Meta::of(cx.store.packet(&packet));
        let view = View {
            packets: self.packets(),
            bytes: self.bytes,
            rate: cx.rate,
            last_departure: self.last_departure,
            asked: self.asked,
            waiting: Waiting::Queue(&cx.store, &self.queue),
        };
        match self.aqm.on_enqueue(
            &meta,
            &view,
            &mut Cx {
                now: cx.now,
                rng: &mut cx.rng,
            },
        ) {
            Verdict::Pass => {}
            Verdict::Mark(reason) => mark(&packet, reason, cx),
            Verdict::Drop(reason) => {
                cx.drop(packet, reason);
                return false;
            }
            Verdict::DropOther(position, reason) => self.drop_at(u64::from(position), reason, cx),
            Verdict::DropBoth(position, reason) => {
                self.drop_at(u64::from(position), reason, cx);
                cx.drop(packet, reason);
                return false;
            }
        }
        self.bytes += u64::from(packet.size);
        cx.store.push_back(&mut self.queue, packet);
        true
    }

    /// The size of the next packet that the AQM lets go, judged now and kept for [`Child::dequeue`]: how Linux looks at the head of a
    /// queue that drops at its head (qdisc_peek_dequeued). Under a scheduler the one that it chooses now.
    #[inline]
    pub fn peek(&mut self, cx: &mut SchedulerCx) -> Option<u32> {
        // Who is not asked does not see whether the packet is still in the queue.
        match self.asks_nothing() {
            true => self.queue.head_size(),
            false => self.peek_aside(cx),
        }
    }

    fn peek_aside(&mut self, cx: &mut SchedulerCx) -> Option<u32> {
        if !self.peeks
            && let Some(packet) = self.let_go(cx)
        {
            self.bytes += u64::from(packet.size);
            cx.store.push_back(&mut self.peeked, packet);
            self.peeks = true;
            self.departures |= ASIDE;
        }
        self.peeked.head_size()
    }

    /// The next packet, where none was let go before.
    fn let_go(&mut self, cx: &mut SchedulerCx) -> Option<Held> {
        match self.inside {
            None => self.dequeue(cx),
            Some(_) => self.choose(cx),
        }
    }

    /// The next packet that the AQM lets go.
    #[inline(always)]
    pub fn dequeue(&mut self, cx: &mut SchedulerCx) -> Option<Held> {
        self.dequeue_among(0, cx)
    }

    /// The next packet that the AQM lets go, where `others` bytes wait in other queues and the AQM is to count them too.
    #[inline(always)]
    pub fn dequeue_among(&mut self, others: u64, cx: &mut SchedulerCx) -> Option<Held> {
        if self.departures != 0 {
            return match self.chooses() {
                false => self.dequeue_judged(others, cx),
                true => self.dequeue_aside(cx),
            };
        }
        self.dequeue_unseen(cx)
    }

    #[inline(always)]
    fn dequeue_unseen(&mut self, cx: &mut SchedulerCx) -> Option<Held> {
        let Some(packet) = cx.store.pop_front(&mut self.queue) else {
            self.on_empty(cx.now);
            return None;
        };
        if !self.asks_nothing() {
            self.last_departure = cx.now;
        }
        self.bytes -= u64::from(packet.size);
        Some(packet)
    }

    /// The packet that was let go before, or the one that a scheduler chooses.
    #[inline(never)]
    fn dequeue_aside(&mut self, cx: &mut SchedulerCx) -> Option<Held> {
        if let Some(packet) = self.take_peeked(&mut cx.store) {
            self.bytes -= u64::from(packet.size);
            return Some(packet);
        }
        self.choose(cx)
    }

    /// The packet that the scheduler inside chooses.
    #[inline]
    fn choose(&mut self, cx: &mut SchedulerCx) -> Option<Held> {
        let inside = self.inside.as_mut()?;
        let packet = inside.dequeue(cx);
        // A shaper may hold back what it has.
        if packet.is_none() && inside.backlog().0 == 0 {
            inside.on_empty(cx.now);
        }
        self.recount(0);
        packet
    }

    /// Counts what waits under the scheduler inside, and the bytes of the packet that it has let go.
    #[inline]
    fn recount(&mut self, peeked: u32) {
        if let Some(inside) = &self.inside {
            let (packets, bytes) = inside.backlog();
            self.queue.stand_for(packets);
            self.bytes = bytes + u64::from(peeked);
        }
    }

    /// The next packet that an AQM lets go that judges them.
    #[inline(never)]
    fn dequeue_judged(&mut self, others: u64, cx: &mut SchedulerCx) -> Option<Held> {
        self.tick(cx);
        while let Some(head) = cx.store.front(&self.queue) {
            let meta = Meta::of(head);
            let sojourn = cx.now.since(head.arrived());
            let view = View {
                packets: self.queue.len() - 1,
                bytes: others + self.bytes - u64::from(meta.size),
                rate: cx.rate,
                last_departure: self.last_departure,
                asked: self.asked,
                waiting: Waiting::Nothing,
            };
            let judge = &mut Cx {
                now: cx.now,
                rng: &mut cx.rng,
            };
            match self.aqm.on_dequeue(&meta, sojourn, &view, judge) {
                Verdict::Pass => {}
                Verdict::Mark(reason) => {
                    if let Some(packet) = cx.store.front_mut(&self.queue) {
                        assert!(packet.mark(), "an AQM marks only ECN-capable packets");
                        cx.marks.push((packet.label(), reason));
                    }
                }
                Verdict::Drop(reason) => {
                    self.drop_at(0, reason, cx);
                    continue;
                }
                Verdict::DropOther(position, reason) => {
                    self.drop_at(u64::from(position) + 1, reason, cx);
                }
                Verdict::DropBoth(position, reason) => {
                    self.drop_at(u64::from(position) + 1, reason, cx);
                    self.drop_at(0, reason, cx);
                    continue;
                }
            }
            self.last_departure = cx.now;
            self.bytes -= u64::from(meta.size);
            return cx.store.pop_front(&mut self.queue);
        }
        self.on_empty(cx.now);
        None
    }

    /// Drops the head of the queue; false if it is empty.
    pub fn drop_head(&mut self, reason: DropReason, cx: &mut SchedulerCx) -> bool {
        let Some(packet) = self.take_head(&mut cx.store) else {
            return false;
        };
        cx.drop(packet, reason);
        self.emptied(cx.now);
        true
    }

    /// Drops the packet that arrived last; false if the queue is empty.
    pub fn drop_tail(&mut self, reason: DropReason, cx: &mut SchedulerCx) -> bool {
        let Some(packet) = self.take_tail(&mut cx.store) else {
            return false;
        };
        self.bytes -= u64::from(packet.size);
        cx.drop(packet, reason);
        self.emptied(cx.now);
        true
    }

    /// Drops the head of the queue and tells the AQM of the drop only, not of an empty queue; returns its size.
    pub fn evict_head(&mut self, cx: &mut SchedulerCx) -> Option<u32> {
        self.tick(cx);
        let packet = self.take_head(&mut cx.store)?;
        let size = packet.size;
        cx.drop(packet, DropReason::Evicted);
        self.aqm.on_evicted(1);
        Some(size)
    }

    /// Refuses an arriving packet for want of room, and tells the AQM.
    pub fn refuse(&mut self, packet: Held, cx: &mut SchedulerCx) {
        self.tick(cx);
        cx.drop(packet, DropReason::Overlimit);
        self.aqm.on_evicted(1);
    }

    /// As [`Child::dequeue`] of an empty queue under an AQM.
    #[inline]
    pub fn is_found_empty(&mut self, cx: &mut SchedulerCx) {
        self.tick(cx);
        self.on_empty(cx.now);
    }

    /// The transmitter asked and no queue held a packet.
    #[inline]
    pub fn on_empty(&mut self, now: Time) {
        if self.empty {
            match &mut self.inside {
                None => self.aqm.on_empty(now),
                Some(inside) => inside.on_empty(now),
            }
        }
    }

    /// Tells the AQM when a packet dropped past it was the last.
    fn emptied(&mut self, now: Time) {
        if self.is_empty() {
            self.on_empty(now);
        }
    }

    /// Takes the head out, past the AQM.
    pub fn take_head(&mut self, store: &mut Store) -> Option<Held> {
        let peeked = self.take_peeked(store);
        let packet = peeked.or_else(|| store.pop_front(&mut self.queue))?;
        self.bytes -= u64::from(packet.size);
        Some(packet)
    }

    fn take_tail(&mut self, store: &mut Store) -> Option<Held> {
        let last = store.pop_back(&mut self.queue);
        last.or_else(|| self.take_peeked(store))
    }

    #[inline]
    fn take_peeked(&mut self, store: &mut Store) -> Option<Held> {
        if !self.peeks {
            return None;
        }
        self.peeks = false;
        if !self.is_scheduled() {
            self.departures &= JUDGED;
        }
        store.pop_front(&mut self.peeked)
    }

    /// The AQM is never called.
    #[inline(always)]
    fn asks_nothing(&self) -> bool {
        self.room == u32::MAX && self.departures == 0 && !self.empty
    }

    #[cold]
    fn drop_at(&mut self, position: u64, reason: DropReason, cx: &mut SchedulerCx) {
        if let Some(packet) = cx.store.remove(&mut self.queue, position) {
            self.bytes -= u64::from(packet.size);
            cx.drop(packet, reason);
        }
    }

    /// Does the periodic updates that are due, of the AQM or of what the scheduler has inside.
    #[inline]
    pub fn catch_up(&mut self, cx: &mut SchedulerCx) {
        match &mut self.inside {
            Some(inside) => inside.catch_up(cx),
            None => self.tick(cx),
        }
    }

    /// Replays the periodic updates of the AQM that are due.
    #[inline(always)]
    fn tick(&mut self, cx: &mut SchedulerCx) {
        if self.tick_at <= cx.now {
            self.replay(cx);
        }
    }

    #[inline(never)]
    fn replay(&mut self, cx: &mut SchedulerCx) {
        while let Some(at) = self.aqm.next_tick().filter(|at| *at <= cx.now) {
            let view = View {
                packets: self.packets(),
                bytes: self.bytes,
                rate: cx.rate,
                last_departure: self.last_departure,
                asked: self.asked,
                waiting: Waiting::Queue(&cx.store, &self.queue),
            };
            self.aqm.on_tick(
                &view,
                &mut Cx {
                    now: at,
                    rng: &mut cx.rng,
                },
            );
        }
        self.tick_at = tick_of(&self.aqm);
    }
}

impl Inside for Child {
    fn state_names(&self) -> &'static [&'static str] {
        match &self.inside {
            None => self.aqm.state_names(),
            Some(inside) => inside.state_names(),
        }
    }

    fn state(&self, out: &mut Vec<f64>) {
        match &self.inside {
            None => self.aqm.state(out),
            Some(inside) => inside.state(out),
        }
    }

    fn queues(&self, show: &mut dyn FnMut(QueueState<'_>)) {
        if let Some(inside) = &self.inside {
            inside.queues(show);
        }
    }
}

impl QueueState<'_> {
    /// A child queue and its deficit.
    pub fn of(number: u32, child: &Child, deficit: Option<i64>) -> QueueState<'_> {
        QueueState {
            number,
            packets: child.packets(),
            bytes: child.bytes(),
            deficit,
            inside: child,
        }
    }
}

/// What waits in all queues of a scheduler together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Backlog {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Backlog {
    /// Runs `work` on one of the queues and counts what has come and gone by it.
    #[inline(always)]
    pub fn keep<R>(&mut self, child: &mut Child, work: impl FnOnce(&mut Child) -> R) -> R {
        let (packets, bytes) = (child.packets(), child.bytes());
        let result = work(child);
        self.packets = self.packets + child.packets() - packets;
        self.bytes = self.bytes + child.bytes() - bytes;
        result
    }

    /// As [`Child::enqueue`] of one of the queues. What is let in unseen needs no comparison of counts.
    #[inline(always)]
    pub fn enqueue(&mut self, child: &mut Child, packet: Held, cx: &mut SchedulerCx) -> bool {
        if child.is_asked() {
            return self.keep(child, |child| child.offer(packet, cx));
        }
        self.packets += 1;
        self.bytes += u64::from(packet.size);
        child.enqueue_unseen(packet, &mut cx.store);
        true
    }

    /// As [`Child::dequeue`] of one of the queues.
    #[inline(always)]
    pub fn dequeue(&mut self, child: &mut Child, cx: &mut SchedulerCx) -> Option<Held> {
        if child.departures != 0 {
            return self.keep(child, |child| child.dequeue(cx));
        }
        let packet = child.dequeue_unseen(cx)?;
        self.packets -= 1;
        self.bytes -= u64::from(packet.size);
        Some(packet)
    }

    /// The size of the packet that one of the queues sends next, unless its AQM drops it. A scheduler inside chooses it now, as in
    /// [`Child::peek`].
    #[inline(always)]
    pub fn head_size(&mut self, child: &mut Child, cx: &mut SchedulerCx) -> Option<u32> {
        match child.chooses() {
            false => child.head_size(),
            true => self.keep(child, |child| child.peek(cx)),
        }
    }

    /// True if it keeps a limit.
    #[inline(always)]
    pub fn keeps(&self, limit: Limit) -> bool {
        limit.admits(Packets::new(self.packets), Bytes::new(self.bytes))
    }

    /// True if a packet of `bytes` fits below a limit.
    #[inline(always)]
    pub fn has_room(&self, limit: Limit, size: u64) -> bool {
        limit.admits(
            Packets::new(self.packets + 1),
            Bytes::new(self.bytes + size),
        )
    }

    /// As [`Scheduler::backlog`].
    pub fn counts(&self) -> (u64, u64) {
        (self.packets, self.bytes)
    }
}

#[cold]
fn mark(packet: &Held, reason: MarkReason, cx: &mut SchedulerCx) {
    let marked = cx.mark(packet, reason);
    assert!(marked, "an AQM marks only ECN-capable packets");
}
