//! What the frame counts of a queue, and the identities that the counts obey.
//!
//! ```text
//! received = dropped_before + enqueued
//! enqueued = dequeued + dropped_after + backlog
//! ```
//!
//! The time average of the backlog needs no clock of its own: the area under the backlog is the sum of the times that
//! packets spent in the queue, whether they were sent or dropped in the end.

use sojourn_sim::histogram::Histogram;
use sojourn_sim::{DropReason, MarkReason, Packet};
use sojourn_units::{Span, Time};
use std::collections::VecDeque;

/// Counts of one queue.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Account {
    /// Packets that did not wait, or whose departure was counted ahead, over the whole run.
    passed: u64,
    /// Bytes of those packets.
    passed_bytes: u64,
    // Packets and bytes of the backlog are not side by side: the compiler would subtract from both with one wide load, which
    // stalls on the two narrow stores before it.
    /// Packets that wait.
    backlog_packets: u64,
    /// Largest backlog in packets since measuring began.
    pub backlog_max_packets: u64,
    /// Bytes that wait.
    backlog_bytes: u64,
    /// Largest backlog in bytes since measuring began.
    pub backlog_max_bytes: u64,
    /// Packets and bytes of all others over the whole run.
    waited: Totals,
    /// The total when measuring began.
    before: Totals,
    /// Drops by [`DropReason::index`] since measuring began.
    pub drops_by_reason: [u64; DropReason::ALL.len()],
    /// Marks by [`MarkReason::index`] since measuring began.
    pub marks_by_reason: [u64; MarkReason::ALL.len()],
    /// Sojourn times above zero of packets that were sent, picoseconds. Packets sent and not in here waited for no time.
    waits: Histogram,
    /// The shortest of them.
    wait_min: Span,
    /// Sum of the sojourn times of packets that were sent, picoseconds.
    pub sojourn_sum: u128,
    /// The longest sojourn time of a packet that was sent.
    pub sojourn_max: Span,
    /// Area under the backlog without what `sojourn_sum` holds: time in the queue of dropped packets, packet-picoseconds.
    area: u128,
    /// Area under the backlog in bytes, byte-picoseconds.
    area_bytes: u128,
    /// Both areas, the first with `sojourn_sum`, when measuring began.
    area_before: (u128, u128),
    /// When measuring began.
    since: Time,
    /// When the run ended.
    end: Option<Time>,
    /// Departures counted ahead: when, and bytes. These packets are in the backlog until then.
    ahead: VecDeque<(Time, u32)>,
    /// Counts per flow, by index of the flow, where asked for.
    pub flows: Option<Vec<FlowAccount>>,
    /// Loss events, and whom they hit, where flows are counted.
    pub losses: LossEvents,
}

/// Losses that come together: a loss event begins with a drop and lasts for a given time, in which further drops belong to it.
#[derive(Clone, Debug, Default)]
pub struct LossEvents {
    /// How long an event lasts.
    pub window: Span,
    /// Events since measuring began.
    pub events: u64,
    /// Flows that lost packets in an event, summed over the events.
    pub flows: u64,
    /// When the last one began.
    began: Time,
    /// The number of the last event that hit each flow, by index; 0 for none.
    hit: Vec<u64>,
}

impl LossEvents {
    /// A flow loses a packet.
    fn count(&mut self, flow: u32, at: Time) {
        if self.events == 0 || at.saturating_since(self.began) >= self.window {
            self.events += 1;
            self.began = at;
        }
        let Ok(index) = usize::try_from(flow) else {
            return;
        };
        if index >= self.hit.len() {
            self.hit.resize(index + 1, 0);
        }
        if self.hit[index] != self.events {
            self.hit[index] = self.events;
            self.flows += 1;
        }
    }

    fn restart(&mut self) {
        *self = LossEvents {
            window: self.window,
            ..LossEvents::default()
        };
    }
}

/// Packets and bytes that went each way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    /// Packets handed to the queue.
    pub received: u64,
    /// Their bytes.
    pub received_bytes: u64,
    /// Packets dropped on arrival.
    pub dropped_before: u64,
    /// Packets dropped later.
    pub dropped_after: u64,
    /// Bytes dropped, on arrival or later.
    pub dropped_bytes: u64,
    /// Packets given up for transmission.
    pub dequeued: u64,
    /// Their bytes.
    pub dequeued_bytes: u64,
    /// Packets marked with CE.
    pub marked: u64,
}

impl Totals {
    fn minus(&self, other: &Totals) -> Totals {
        Totals {
            received: self.received - other.received,
            received_bytes: self.received_bytes - other.received_bytes,
            dropped_before: self.dropped_before - other.dropped_before,
            dropped_after: self.dropped_after - other.dropped_after,
            dropped_bytes: self.dropped_bytes - other.dropped_bytes,
            dequeued: self.dequeued - other.dequeued,
            dequeued_bytes: self.dequeued_bytes - other.dequeued_bytes,
            marked: self.marked - other.marked,
        }
    }

    /// Packets let in.
    pub fn enqueued(&self) -> u64 {
        self.received - self.dropped_before
    }

    /// Packets dropped, on arrival or later.
    pub fn dropped(&self) -> u64 {
        self.dropped_before + self.dropped_after
    }
}

/// Counts of one flow at one queue, since measuring began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(align(64))]
pub struct FlowAccount {
    /// Packets handed to the queue.
    pub received: u64,
    /// Packets dropped, on arrival or later.
    pub dropped: u64,
    /// Packets marked with CE.
    pub marked: u64,
    /// Packets given up for transmission.
    pub dequeued: u64,
    /// Their bytes.
    pub dequeued_bytes: u64,
    /// Sum of their sojourn times, picoseconds.
    pub sojourn_sum: u128,
}

impl Account {
    /// An account; `per_flow` asks for counts by flow.
    pub fn new(per_flow: bool) -> Account {
        Account {
            flows: per_flow.then(Vec::new),
            wait_min: Span::MAX,
            ..Account::default()
        }
    }

    /// Packets that wait.
    #[inline]
    pub fn backlog_packets(&self) -> u64 {
        self.backlog_packets
    }

    /// Bytes that wait.
    #[inline]
    pub fn backlog_bytes(&self) -> u64 {
        self.backlog_bytes
    }

    /// Counts since measuring began.
    pub fn measured(&self) -> Totals {
        self.total().minus(&self.before)
    }

    /// Counts of the whole run.
    pub fn total(&self) -> Totals {
        Totals {
            received: self.waited.received + self.passed,
            received_bytes: self.waited.received_bytes + self.passed_bytes,
            dequeued: self.waited.dequeued + self.passed,
            dequeued_bytes: self.waited.dequeued_bytes + self.passed_bytes,
            ..self.waited
        }
    }

    /// Sojourn times of packets that were sent since measuring began, picoseconds.
    pub fn sojourn(&self) -> Histogram {
        let mut all = self.waits.clone();
        all.record_zeros(self.measured().dequeued - self.waits.count());
        all
    }

    /// The shortest sojourn time, once a packet was sent.
    pub fn sojourn_min(&self) -> Option<Span> {
        match self.measured().dequeued {
            0 => None,
            sent if sent > self.waits.count() => Some(Span::ZERO),
            _ => Some(self.wait_min),
        }
    }

    /// Time average of the backlog in packets and bytes, from the beginning of measuring to the end of the run; zero
    /// before the end.
    pub fn backlog_mean(&self) -> (f64, f64) {
        let Some(end) = self.end else {
            return (0.0, 0.0);
        };
        let time = end.since(self.since).as_secs_f64() * 1e12;
        if time == 0.0 {
            return (0.0, 0.0);
        }
        let mean = |area: u128, before: u128| to_f64(area - before) / time;
        (
            mean(self.area + self.sojourn_sum, self.area_before.0),
            mean(self.area_bytes, self.area_before.1),
        )
    }

    #[inline]
    fn flow(&mut self, flow: u32) -> Option<&mut FlowAccount> {
        let flows = self.flows.as_mut()?;
        let index = usize::try_from(flow).ok()?;
        if index >= flows.len() {
            grow(flows, index);
        }
        flows.get_mut(index)
    }

    #[inline]
    pub(crate) fn receive(&mut self, bytes: u32, flow: u32) {
        self.waited.received += 1;
        self.waited.received_bytes += u64::from(bytes);
        if let Some(flow) = self.flow(flow) {
            flow.received += 1;
        }
    }

    #[inline]
    pub(crate) fn enqueue(&mut self, size: u32) {
        self.backlog_packets += 1;
        self.backlog_bytes += u64::from(size);
        self.backlog_max_packets = self.backlog_max_packets.max(self.backlog_packets);
        self.backlog_max_bytes = self.backlog_max_bytes.max(self.backlog_bytes);
    }

    #[inline]
    pub(crate) fn dequeue(&mut self, packet: &Packet, now: Time) {
        self.dequeue_here(packet, now);
    }

    /// The same, compiled into its caller.
    #[inline(always)]
    pub(crate) fn dequeue_here(&mut self, packet: &Packet, now: Time) {
        self.leave(packet.size);
        self.send(packet.size, packet.flow, now.since(packet.arrived()));
    }

    /// As [`Account::dequeue`], for a departure at `at`, which may lie ahead.
    #[inline]
    pub(crate) fn dequeue_ahead(&mut self, packet: &Packet, at: Time) {
        self.ahead.push_back((at, packet.size));
        self.send(packet.size, packet.flow, at.since(packet.arrived()));
    }

    /// A packet of `bytes` arrived at `now` and will leave at `start`.
    #[inline(always)]
    pub(crate) fn wait(&mut self, bytes: u32, flow: u32, now: Time, start: Time) {
        let sojourn = start.since(now);
        self.pass_alike(bytes);
        self.enqueue(bytes);
        self.ahead.push_back((start, bytes));
        self.stayed(bytes, sojourn);
        if let Some(flow) = self.flow(flow) {
            flow.received += 1;
            flow.dequeued += 1;
            flow.dequeued_bytes += u64::from(bytes);
            flow.sojourn_sum += u128::from(sojourn.as_ps());
        }
    }

    /// Takes the departures counted ahead for `now` and before out of the backlog.
    #[inline]
    pub(crate) fn settle(&mut self, now: Time) {
        while let Some((at, bytes)) = self.ahead.front()
            && *at <= now
        {
            self.backlog_packets -= 1;
            self.backlog_bytes -= u64::from(*bytes);
            self.ahead.pop_front();
        }
    }

    /// As [`Account::settle`], for a packet of `bytes` that arrives at `now`, and only if it makes a difference. An unsettled
    /// backlog is an upper bound, which is enough while it is below both the largest backlog so far and `room`.
    #[inline(always)]
    pub(crate) fn settle_for(&mut self, bytes: u32, now: Time, room: u64) {
        if self.backlog_packets >= self.backlog_max_packets.min(room)
            || self.backlog_bytes + u64::from(bytes) > self.backlog_max_bytes
        {
            self.settle(now);
        }
    }

    /// A packet is given up for transmission.
    #[inline(always)]
    fn send(&mut self, size: u32, flow: u32, sojourn: Span) {
        self.waited.dequeued += 1;
        self.waited.dequeued_bytes += u64::from(size);
        if sojourn > Span::ZERO {
            self.stayed(size, sojourn);
        }
        if let Some(flow) = self.flow(flow) {
            flow.dequeued += 1;
            flow.dequeued_bytes += u64::from(size);
            flow.sojourn_sum += u128::from(sojourn.as_ps());
        }
    }

    /// A packet that is sent has waited for so long.
    #[inline(always)]
    fn stayed(&mut self, size: u32, sojourn: Span) {
        let ps = u128::from(sojourn.as_ps());
        self.area_bytes += ps * u128::from(size);
        self.sojourn_sum += ps;
        if sojourn < self.wait_min {
            self.wait_min = sojourn;
        }
        if sojourn > self.sojourn_max {
            self.sojourn_max = sojourn;
        }
        self.waits.record(sojourn.as_ps());
    }

    /// A packet came and went without waiting.
    #[inline]
    pub(crate) fn pass(&mut self, bytes: u32, flow: u32) {
        self.pass_alike(bytes);
        if let Some(flow) = self.flow(flow) {
            flow.received += 1;
            flow.dequeued += 1;
            flow.dequeued_bytes += u64::from(bytes);
        }
    }

    /// A packet came and went without waiting, in a queue that does not count by flow.
    #[inline(always)]
    pub(crate) fn pass_alike(&mut self, bytes: u32) {
        self.passed += 1;
        self.passed_bytes += u64::from(bytes);
    }

    #[inline]
    fn leave(&mut self, size: u32) {
        self.backlog_packets -= 1;
        self.backlog_bytes -= u64::from(size);
    }

    /// A waiting packet of `size` bytes is about to be offered to another discipline.
    pub(crate) fn withdraw(&mut self, size: u32) {
        self.leave(size);
    }

    /// A packet was refused on arrival.
    #[inline]
    pub(crate) fn refuse(&mut self, packet: &Packet, reason: DropReason) {
        self.waited.dropped_before += 1;
        self.dropped(packet, reason, packet.arrived());
    }

    /// A packet that waited was dropped.
    #[inline]
    pub(crate) fn discard(&mut self, packet: &Packet, reason: DropReason, now: Time) {
        self.waited.dropped_after += 1;
        self.leave(packet.size);
        let stayed = u128::from(now.since(packet.arrived()).as_ps());
        self.area += stayed;
        self.area_bytes += stayed * u128::from(packet.size);
        self.dropped(packet, reason, now);
    }

    #[inline]
    fn dropped(&mut self, packet: &Packet, reason: DropReason, at: Time) {
        self.waited.dropped_bytes += u64::from(packet.size);
        self.drops_by_reason[reason.index()] += 1;
        if let Some(flow) = self.flow(packet.flow) {
            flow.dropped += 1;
            self.losses.count(packet.flow, at);
        }
    }

    #[inline]
    pub(crate) fn mark(&mut self, flow: u32, reason: MarkReason) {
        self.waited.marked += 1;
        self.marks_by_reason[reason.index()] += 1;
        if let Some(flow) = self.flow(flow) {
            flow.marked += 1;
        }
    }

    /// Measuring begins; `waited` and `waited_bytes` are the areas so far of the packets that wait now.
    pub(crate) fn start_measuring(&mut self, now: Time, waited: (u128, u128)) {
        self.before = self.total();
        self.backlog_max_packets = self.backlog_packets;
        self.backlog_max_bytes = self.backlog_bytes;
        self.drops_by_reason = Default::default();
        self.marks_by_reason = Default::default();
        self.waits = Histogram::default();
        self.wait_min = Span::MAX;
        self.area += self.sojourn_sum;
        self.sojourn_sum = 0;
        self.sojourn_max = Span::ZERO;
        self.area_before = (self.area + waited.0, self.area_bytes + waited.1);
        self.since = now;
        if let Some(flows) = &mut self.flows {
            flows.fill(FlowAccount::default());
        }
        self.losses.restart();
    }

    /// The run ends; `waited` are the areas so far of the packets that wait now.
    pub(crate) fn finish(&mut self, now: Time, waited: (u128, u128)) {
        self.area += waited.0;
        self.area_bytes += waited.1;
        self.end = Some(now);
        self.assert_identities();
    }

    /// Asserts the identities of the module documentation.
    ///
    /// # Panics
    /// If one does not hold: a fault of the frame or of a scheduler.
    pub fn assert_identities(&self) {
        let t = self.total();
        assert_eq!(
            t.enqueued(),
            t.dequeued + t.dropped_after + self.backlog_packets,
            "enqueued = dequeued + dropped after + backlog"
        );
        assert_eq!(
            t.received_bytes,
            t.dequeued_bytes + t.dropped_bytes + self.backlog_bytes,
            "bytes received = bytes dequeued + bytes dropped + backlog"
        );
    }
}

#[cold]
#[inline(never)]
fn grow(flows: &mut Vec<FlowAccount>, index: usize) {
    flows.resize(index + 1, FlowAccount::default());
}

#[allow(
    clippy::as_conversions,
    reason = "a statistic: rounding to 53 bits is what is wanted"
)]
fn to_f64(value: u128) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_within_a_round_trip_are_one_event_that_hits_each_flow_once() {
        let mut losses = LossEvents {
            window: Span::from_ms(100),
            ..LossEvents::default()
        };
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        for (flow, ms) in [(0, 10), (0, 20), (2, 109), (1, 110), (1, 150), (0, 1000)] {
            losses.count(flow, at(ms));
        }
        // Flows 0 and 2; flow 1; flow 0 again.
        assert_eq!((losses.events, losses.flows), (3, 4));
        losses.restart();
        losses.count(0, at(1010));
        assert_eq!((losses.events, losses.flows), (1, 1));
    }
}
