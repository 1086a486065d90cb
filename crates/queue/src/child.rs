//! A FIFO inside a scheduler, with an AQM of its own.

use crate::aqm::{Aqm, Cx, Judges, Meta, Verdict, View, Waiting};
use crate::registry::AnyAqm;
use crate::scheduler::{Inside, SchedulerCx};
use crate::store::{Held, List, Store};
use sojourn_sim::{DropReason, MarkReason, Packet};
use sojourn_units::Time;

/// A child queue. What a packet touches whatever the AQM comes first: with as much before it that the scheduler has for each
/// queue it is one cache line.
#[repr(C)]
pub struct Child {
    queue: List,
    /// Of `queue` and `peeked`.
    bytes: u64,
    /// As [`Judges::room`]; no list is longer than the greatest.
    room: u32,
    /// The AQM is asked about departures, or has updates that come before them.
    judged: bool,
    /// As [`Judges::ticks`].
    ticks: bool,
    /// As [`Judges::empty`].
    empty: bool,
    /// There is a packet in `peeked`.
    peeks: bool,
    last_departure: Time,
    /// At most one packet, let go by the AQM, and not taken yet.
    peeked: List,
    aqm: AnyAqm,
}

impl Child {
    /// An empty queue judged by `aqm`.
    pub fn new(aqm: AnyAqm) -> Child {
        let judges = Judges::of(&aqm);
        Child {
            queue: List::default(),
            bytes: 0,
            room: u32::try_from(judges.room).unwrap_or(u32::MAX),
            judged: judges.departures || judges.ticks,
            ticks: judges.ticks,
            empty: judges.empty,
            peeks: false,
            last_departure: Time::ZERO,
            peeked: List::default(),
            aqm,
        }
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

    /// The packet that is sent next, unless the AQM drops it.
    #[inline]
    pub fn head<'a>(&self, store: &'a Store) -> Option<&'a Packet> {
        match self.peeks {
            false => store.front(&self.queue),
            true => store.front(&self.peeked),
        }
    }

    /// The size of that packet.
    #[inline(always)]
    pub fn head_size(&self) -> Option<u32> {
        match self.peeks {
            false => self.queue.head_size(),
            true => self.peeked.head_size(),
        }
    }

    /// The [slot](Held::slot) of that packet.
    #[inline(always)]
    pub fn head_slot(&self) -> Option<u32> {
        match self.peeks {
            false => self.queue.head_slot(),
            true => self.peeked.head_slot(),
        }
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

    /// The AQM of the queue.
    pub fn aqm(&self) -> &AnyAqm {
        &self.aqm
    }

    /// Offers a packet to the AQM and keeps it unless it is dropped; says whether it was kept.
    #[inline(always)]
    pub fn enqueue(&mut self, packet: Held, cx: &mut SchedulerCx<'_>) -> bool {
        if self.packets() >= u64::from(self.room) {
            return self.offer(packet, cx);
        }
        self.bytes += u64::from(packet.size);
        cx.store.push_back(&mut self.queue, packet);
        true
    }

    /// Lets the AQM judge an arriving packet.
    #[inline(never)]
    fn offer(&mut self, packet: Held, cx: &mut SchedulerCx<'_>) -> bool {
        self.tick(cx);
        let meta = Meta::of(cx.store.packet(&packet));
        let view = View {
            packets: self.packets(),
            bytes: self.bytes,
            rate: cx.rate,
            last_departure: self.last_departure,
            waiting: Waiting::Queue(cx.store, &self.queue),
        };
        match self.aqm.on_enqueue(
            &meta,
            &view,
            &mut Cx {
                now: cx.now,
                rng: cx.rng,
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
    /// queue that drops at its head (qdisc_peek_dequeued).
    #[inline]
    pub fn peek(&mut self, cx: &mut SchedulerCx<'_>) -> Option<u32> {
        // Who is not asked does not see whether the packet is still in the queue.
        match self.asks_nothing() {
            true => self.queue.head_size(),
            false => self.peek_judged(cx),
        }
    }

    fn peek_judged(&mut self, cx: &mut SchedulerCx<'_>) -> Option<u32> {
        if !self.peeks
            && let Some(packet) = self.dequeue(cx)
        {
            self.bytes += u64::from(packet.size);
            cx.store.push_back(&mut self.peeked, packet);
            self.peeks = true;
        }
        self.peeked.head_size()
    }

    /// The next packet that the AQM lets go.
    #[inline(always)]
    pub fn dequeue(&mut self, cx: &mut SchedulerCx<'_>) -> Option<Held> {
        self.dequeue_among(0, cx)
    }

    /// The next packet that the AQM lets go, where `others` bytes wait in other queues and the AQM is to count them too.
    #[inline(always)]
    pub fn dequeue_among(&mut self, others: u64, cx: &mut SchedulerCx<'_>) -> Option<Held> {
        if self.judged || self.peeks {
            return self.dequeue_judged(others, cx);
        }
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

    /// The next packet that an AQM lets go that judges them, or let one go before.
    #[inline(never)]
    fn dequeue_judged(&mut self, others: u64, cx: &mut SchedulerCx<'_>) -> Option<Held> {
        if let Some(packet) = self.take_peeked(cx.store) {
            self.bytes -= u64::from(packet.size);
            return Some(packet);
        }
        self.tick(cx);
        while let Some(head) = cx.store.front(&self.queue) {
            let meta = Meta::of(head);
            let sojourn = cx.now.since(head.arrived());
            let view = View {
                packets: self.queue.len() - 1,
                bytes: others + self.bytes - u64::from(meta.size),
                rate: cx.rate,
                last_departure: self.last_departure,
                waiting: Waiting::Nothing,
            };
            let judge = &mut Cx {
                now: cx.now,
                rng: cx.rng,
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
    pub fn drop_head(&mut self, reason: DropReason, cx: &mut SchedulerCx<'_>) -> bool {
        let Some(packet) = self.take_head(cx.store) else {
            return false;
        };
        cx.drop(packet, reason);
        self.emptied(cx.now);
        true
    }

    /// Drops the packet that arrived last; false if the queue is empty.
    pub fn drop_tail(&mut self, reason: DropReason, cx: &mut SchedulerCx<'_>) -> bool {
        let Some(packet) = self.take_tail(cx.store) else {
            return false;
        };
        self.bytes -= u64::from(packet.size);
        cx.drop(packet, reason);
        self.emptied(cx.now);
        true
    }

    /// Drops the head of the queue and tells the AQM of the drop only, not of an empty queue; returns its size.
    pub fn evict_head(&mut self, cx: &mut SchedulerCx<'_>) -> Option<u32> {
        self.tick(cx);
        let packet = self.take_head(cx.store)?;
        let size = packet.size;
        cx.drop(packet, DropReason::Evicted);
        self.aqm.on_evicted(1);
        Some(size)
    }

    /// Refuses an arriving packet for want of room, and tells the AQM.
    pub fn refuse(&mut self, packet: Held, cx: &mut SchedulerCx<'_>) {
        self.tick(cx);
        cx.drop(packet, DropReason::Overlimit);
        self.aqm.on_evicted(1);
    }

    /// The transmitter asked and no queue held a packet.
    #[inline]
    pub fn on_empty(&mut self, now: Time) {
        if self.empty {
            self.aqm.on_empty(now);
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
        store.pop_front(&mut self.peeked)
    }

    /// The AQM is never asked, nor told.
    #[inline(always)]
    fn asks_nothing(&self) -> bool {
        self.room == u32::MAX && !self.judged && !self.empty
    }

    #[cold]
    fn drop_at(&mut self, position: u64, reason: DropReason, cx: &mut SchedulerCx<'_>) {
        if let Some(packet) = cx.store.remove(&mut self.queue, position) {
            self.bytes -= u64::from(packet.size);
            cx.drop(packet, reason);
        }
    }

    /// Replays the periodic updates of the AQM that are due.
    #[inline]
    pub fn tick(&mut self, cx: &mut SchedulerCx<'_>) {
        if !self.ticks {
            return;
        }
        while let Some(at) = self.aqm.next_tick().filter(|at| *at <= cx.now) {
            let view = View {
                packets: self.packets(),
                bytes: self.bytes,
                rate: cx.rate,
                last_departure: self.last_departure,
                waiting: Waiting::Queue(cx.store, &self.queue),
            };
            self.aqm.on_tick(
                &view,
                &mut Cx {
                    now: at,
                    rng: cx.rng,
                },
            );
        }
    }
}

impl Inside for Child {
    fn state_names(&self) -> &'static [&'static str] {
        self.aqm.state_names()
    }

    fn state(&self, out: &mut Vec<f64>) {
        self.aqm.state(out);
    }
}

#[cold]
fn mark(packet: &Held, reason: MarkReason, cx: &mut SchedulerCx<'_>) {
    let marked = cx.mark(packet, reason);
    assert!(marked, "an AQM marks only ECN-capable packets");
}
