//! What is counted of flows and of packets.

use crate::histogram::Histogram;
use crate::packet::Packet;
use sojourn_units::{Span, Time};

/// Counts of one direction of a flow, from the end of the warm-up on. What a delivery touches is in two cache lines.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct FlowCounts {
    /// Sum of one-way delays of delivered packets, picoseconds.
    pub delay_sum: u128,
    /// Sum of |D(i-1, i)| over consecutive deliveries (RFC 3550), picoseconds.
    pub jitter_sum: u128,
    /// Packets that arrived.
    pub delivered_packets: u64,
    /// Bytes on the wire that arrived.
    pub delivered_bytes: u64,
    /// [`Span::MAX`] before the first packet.
    pub(super) least_delay: Span,
    /// Longest one-way delay.
    pub delay_max: Span,
    /// [`Span::MAX`] before the first packet.
    pub(super) last_transit: Span,
    /// Interarrival jitter of RFC 3550 section 6.4.1, in picoseconds times 16 (its estimator keeps four more bits).
    pub jitter_sixteenths: u64,
    /// Distribution of one-way delays.
    pub delays: Histogram,
    /// Packets that carry CE on arrival.
    pub marked_packets: u64,
    /// Packets that the endpoint sent.
    pub sent_packets: u64,
    /// Bytes on the wire that the endpoint sent.
    pub sent_bytes: u64,
    /// Packets dropped anywhere on the path.
    pub dropped_packets: u64,
}

impl FlowCounts {
    /// Counts of several flows as one. Jitter is the sum of theirs; there is no last packet.
    pub fn together<'a>(all: impl IntoIterator<Item = &'a FlowCounts>) -> FlowCounts {
        let mut sum = FlowCounts::default();
        for one in all {
            sum.delay_sum += one.delay_sum;
            sum.jitter_sum += one.jitter_sum;
            sum.delivered_packets += one.delivered_packets;
            sum.delivered_bytes += one.delivered_bytes;
            sum.least_delay = sum.least_delay.min(one.least_delay);
            sum.delay_max = sum.delay_max.max(one.delay_max);
            sum.delays.merge(&one.delays);
            sum.marked_packets += one.marked_packets;
            sum.sent_packets += one.sent_packets;
            sum.sent_bytes += one.sent_bytes;
            sum.dropped_packets += one.dropped_packets;
        }
        sum
    }
}

impl Default for FlowCounts {
    fn default() -> Self {
        FlowCounts {
            delay_sum: 0,
            delivered_packets: 0,
            delivered_bytes: 0,
            least_delay: Span::MAX,
            delay_max: Span::ZERO,
            last_transit: Span::MAX,
            jitter_sixteenths: 0,
            jitter_sum: 0,
            marked_packets: 0,
            delays: Histogram::default(),
            sent_packets: 0,
            sent_bytes: 0,
            dropped_packets: 0,
        }
    }
}

impl FlowCounts {
    /// Shortest one-way delay, if any packet arrived.
    pub fn delay_min(&self) -> Option<Span> {
        (self.delivered_packets > 0).then_some(self.least_delay)
    }

    /// Counts a packet that has arrived.
    #[inline(always)]
    pub(super) fn deliver(&mut self, packet: &Packet, now: Time) {
        let delay = now.since(packet.created);
        self.delivered_packets += 1;
        self.delivered_bytes += u64::from(packet.size);
        if packet.tos & 3 == 3 {
            self.marked_packets += 1;
        }
        self.delay_sum += u128::from(delay.as_ps());
        if delay < self.least_delay {
            self.least_delay = delay;
        }
        if delay > self.delay_max {
            self.delay_max = delay;
        }
        self.delays.record(delay.as_ps());
        if self.last_transit != Span::MAX {
            let d = delay.as_ps().abs_diff(self.last_transit.as_ps());
            self.jitter_sum += u128::from(d);
            // J += (|D| - J) / 16 with J held in sixteenths: J16 += |D| - J16 / 16.
            self.jitter_sixteenths = self.jitter_sixteenths - self.jitter_sixteenths / 16 + d;
        }
        self.last_transit = delay;
    }

    /// As [`FlowCounts::deliver`], of a packet to a group: jitter is a matter of one receiver.
    pub(super) fn deliver_one_of_many(&mut self, packet: &Packet, now: Time) {
        self.last_transit = Span::MAX;
        self.deliver(packet, now);
    }
}

/// Packets made and consumed in the whole run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Census {
    /// Made by endpoints.
    pub created: u64,
    /// Made by duplication, and where the ways of a group's packets part.
    pub replicated: u64,
    /// Handed to an endpoint or a passive sink.
    pub delivered: u64,
    /// Dropped before the end of the run.
    pub dropped: u64,
    /// In queues and on wires when the run ended.
    pub left: u64,
    /// Packet-hops: packets that arrived at the far end of a link.
    pub hops: u64,
    /// Arrivals at the far end of links, events of endpoints and departures of eager links, also those that took no place in
    /// the event list.
    pub events: u64,
}

impl Census {
    /// One more packet is created: its number.
    #[inline(always)]
    pub(super) fn next_uid(&mut self) -> u32 {
        let uid = low32(self.created);
        self.created += 1;
        uid
    }
}

/// The lower 32 bits.
#[inline(always)]
#[allow(clippy::as_conversions, reason = "cut off on purpose")]
const fn low32(number: u64) -> u32 {
    number as u32
}
