//! A FIFO inside a scheduler, with an AQM of its own.

use crate::aqm::{Aqm, Cx, Meta, Verdict, View, Waiting};
use crate::registry::AnyAqm;
use crate::scheduler::SchedulerCx;
use sojourn_sim::{DropReason, MarkReason, Packet};
use sojourn_units::Time;
use std::collections::VecDeque;

/// A child queue.
pub struct Child {
    queue: VecDeque<Packet>,
    /// Let go by the AQM, and not taken yet.
    peeked: Option<Packet>,
    /// Of the queue and of `peeked`.
    bytes: u64,
    last_departure: Time,
    aqm: AnyAqm,
}

impl Child {
    /// An empty queue judged by `aqm`.
    pub fn new(aqm: AnyAqm) -> Child {
        Child {
            queue: VecDeque::new(),
            peeked: None,
            bytes: 0,
            last_departure: Time::ZERO,
            aqm,
        }
    }

    /// Packets that wait.
    #[inline]
    pub fn packets(&self) -> u64 {
        count(&self.queue) + u64::from(self.peeked.is_some())
    }

    /// True if nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.peeked.is_none()
    }

    /// Bytes that wait.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The packet that is sent next, unless the AQM drops it.
    #[inline]
    pub fn head(&self) -> Option<&Packet> {
        self.peeked.as_ref().or_else(|| self.queue.front())
    }

    /// The packets that wait, head first.
    pub fn iter(&self) -> impl Iterator<Item = &Packet> {
        self.peeked.iter().chain(&self.queue)
    }

    /// The AQM of the queue.
    pub fn aqm(&self) -> &AnyAqm {
        &self.aqm
    }

    /// Offers a packet to the AQM and keeps it unless it is dropped; says whether it was kept.
    pub fn enqueue(&mut self, mut packet: Packet, cx: &mut SchedulerCx<'_>) -> bool {
        self.tick(cx);
        let meta = Meta::of(&packet);
        let view = View {
            packets: self.packets(),
            bytes: self.bytes,
            rate: cx.rate,
            last_departure: self.last_departure,
            waiting: Waiting::Queue(&self.queue),
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
            Verdict::Mark(reason) => mark(&mut packet, reason, cx),
            Verdict::Drop(reason) => {
                cx.drop(packet, reason);
                return false;
            }
            Verdict::DropOther(position, reason) => self.drop_at(position, reason, cx),
            Verdict::DropBoth(position, reason) => {
                self.drop_at(position, reason, cx);
                cx.drop(packet, reason);
                return false;
            }
        }
        self.bytes += u64::from(packet.size);
        self.queue.push_back(packet);
        true
    }

    /// The next packet that the AQM lets go, judged now and kept for [`Child::dequeue`]: how Linux looks at the head of a
    /// queue that drops at its head (qdisc_peek_dequeued).
    pub fn peek(&mut self, cx: &mut SchedulerCx<'_>) -> Option<&Packet> {
        if self.peeked.is_none() {
            self.peeked = self.dequeue(cx);
            self.bytes += self.peeked.as_ref().map_or(0, |p| u64::from(p.size));
        }
        self.peeked.as_ref()
    }

    /// The next packet that the AQM lets go.
    #[inline]
    pub fn dequeue(&mut self, cx: &mut SchedulerCx<'_>) -> Option<Packet> {
        self.dequeue_among(0, cx)
    }

    /// The next packet that the AQM lets go, where `others` bytes wait in other queues and the AQM is to count them too.
    pub fn dequeue_among(&mut self, others: u64, cx: &mut SchedulerCx<'_>) -> Option<Packet> {
        if let Some(packet) = self.peeked.take() {
            self.bytes -= u64::from(packet.size);
            return Some(packet);
        }
        self.tick(cx);
        while let Some(head) = self.queue.front() {
            let meta = Meta::of(head);
            let sojourn = cx.now.since(head.arrived());
            let view = View {
                packets: count(&self.queue) - 1,
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
                    if let Some(packet) = self.queue.front_mut() {
                        mark(packet, reason, cx);
                    }
                }
                Verdict::Drop(reason) => {
                    self.drop_at(0, reason, cx);
                    continue;
                }
                Verdict::DropOther(position, reason) => self.drop_at(position + 1, reason, cx),
                Verdict::DropBoth(position, reason) => {
                    self.drop_at(position + 1, reason, cx);
                    self.drop_at(0, reason, cx);
                    continue;
                }
            }
            self.last_departure = cx.now;
            self.bytes -= u64::from(meta.size);
            return self.queue.pop_front();
        }
        self.aqm.on_empty(cx.now);
        None
    }

    /// Drops the head of the queue; false if it is empty.
    pub fn drop_head(&mut self, reason: DropReason, cx: &mut SchedulerCx<'_>) -> bool {
        let Some(packet) = self.take_head() else {
            return false;
        };
        cx.drop(packet, reason);
        self.emptied(cx.now);
        true
    }

    /// Drops the packet that arrived last; false if the queue is empty.
    pub fn drop_tail(&mut self, reason: DropReason, cx: &mut SchedulerCx<'_>) -> bool {
        let Some(packet) = self.queue.pop_back().or_else(|| self.peeked.take()) else {
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
        let packet = self.take_head()?;
        let size = packet.size;
        cx.drop(packet, DropReason::Evicted);
        self.aqm.on_evicted(1);
        Some(size)
    }

    /// Refuses an arriving packet for want of room, and tells the AQM.
    pub fn refuse(&mut self, packet: Packet, cx: &mut SchedulerCx<'_>) {
        self.tick(cx);
        cx.drop(packet, DropReason::Overlimit);
        self.aqm.on_evicted(1);
    }

    /// The transmitter asked and no queue held a packet.
    pub fn on_empty(&mut self, now: Time) {
        self.aqm.on_empty(now);
    }

    /// Tells the AQM when a packet dropped past it was the last.
    fn emptied(&mut self, now: Time) {
        if self.is_empty() {
            self.aqm.on_empty(now);
        }
    }

    /// Takes the head out, past the AQM.
    pub fn take_head(&mut self) -> Option<Packet> {
        let packet = self.peeked.take().or_else(|| self.queue.pop_front())?;
        self.bytes -= u64::from(packet.size);
        Some(packet)
    }

    #[cold]
    fn drop_at(&mut self, position: u64, reason: DropReason, cx: &mut SchedulerCx<'_>) {
        let packet = usize::try_from(position)
            .ok()
            .and_then(|i| self.queue.remove(i));
        if let Some(packet) = packet {
            self.bytes -= u64::from(packet.size);
            cx.drop(packet, reason);
        }
    }

    #[inline]
    fn tick(&mut self, cx: &mut SchedulerCx<'_>) {
        while let Some(at) = self.aqm.next_tick().filter(|at| *at <= cx.now) {
            let view = View {
                packets: self.packets(),
                bytes: self.bytes,
                rate: cx.rate,
                last_departure: self.last_departure,
                waiting: Waiting::Queue(&self.queue),
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

#[cold]
fn mark(packet: &mut Packet, reason: MarkReason, cx: &mut SchedulerCx<'_>) {
    let marked = cx.mark(packet, reason);
    assert!(marked, "an AQM marks only ECN-capable packets");
}

#[inline]
fn count(queue: &VecDeque<Packet>) -> u64 {
    u64::try_from(queue.len()).unwrap_or(u64::MAX)
}
