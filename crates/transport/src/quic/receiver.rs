//! The receiving end: what has arrived, in packets and in bytes (RFC 9000 section 13.2).

use super::QuicParams;
use crate::report::ReceiverReport;
use sojourn_sim::{Agent, Ecn, Flags, Host, Kind, Outgoing, Packet, Side, Timers};
use sojourn_units::{Span, Time};

const ACKNOWLEDGE: usize = 0;

/// Ranges of packet numbers that are remembered.
const MOST_RANGES: usize = 64;

/// A receiver of a QUIC-like flow.
#[derive(Clone, Debug)]
pub struct QuicReceiver {
    flow: u32,
    ack_size: u32,
    handshake_size: u32,
    threshold: u32,
    max_delay: Span,
    /// Ranges of packet numbers that have arrived, the highest first, each from the first to one past the last.
    ranges: Vec<(u64, u64)>,
    /// When the packet with the highest number arrived.
    highest_at: Time,
    /// Bytes of the stream that have arrived in order, and ranges beyond, in order.
    next: u64,
    held: Vec<(u64, u64)>,
    /// Packets that are not acknowledged.
    waiting: u32,
    marks: u64,
    /// Packets of the handshake that have arrived.
    handshakes: u64,
    timers: Timers<1>,
    report: ReceiverReport,
}

impl QuicReceiver {
    /// A receiver that waits for the first packet.
    pub fn new(params: &QuicParams) -> QuicReceiver {
        let narrow = |bytes: sojourn_units::Bytes| u32::try_from(bytes.get()).unwrap_or(u32::MAX);
        QuicReceiver {
            flow: 0,
            ack_size: narrow(params.ack_size),
            handshake_size: narrow(params.handshake_size),
            threshold: params.ack_threshold,
            max_delay: params.max_ack_delay,
            ranges: Vec::new(),
            highest_at: Time::ZERO,
            next: 0,
            held: Vec::new(),
            waiting: 0,
            marks: 0,
            handshakes: 0,
            timers: Timers::default(),
            report: ReceiverReport::default(),
        }
    }

    /// What it has got.
    pub fn report(&self) -> ReceiverReport {
        self.report
    }

    /// Bytes that wait behind a gap.
    pub fn held_bytes(&self) -> u64 {
        self.held.iter().map(|(from, to)| to - from).sum()
    }

    /// Takes in a packet number; false if it was there.
    fn take_number(&mut self, number: u64) -> bool {
        let place = self.ranges.partition_point(|range| range.0 > number);
        if self.ranges.get(place).is_some_and(|range| number < range.1) {
            return false;
        }
        let joins_below = self
            .ranges
            .get(place)
            .is_some_and(|range| range.1 == number);
        let joins_above = place > 0 && self.ranges[place - 1].0 == number + 1;
        match (joins_above, joins_below) {
            (true, true) => {
                self.ranges[place - 1].0 = self.ranges[place].0;
                self.ranges.remove(place);
            }
            (true, false) => self.ranges[place - 1].0 = number,
            (false, true) => self.ranges[place].1 = number + 1,
            (false, false) => self.ranges.insert(place, (number, number + 1)),
        }
        self.ranges.truncate(MOST_RANGES);
        true
    }

    /// Takes in bytes of the stream.
    fn take_bytes(&mut self, from: u64, to: u64) {
        let from = from.max(self.next);
        if from >= to {
            return;
        }
        let first = self.held.partition_point(|range| range.1 < from);
        let last = self.held.partition_point(|range| range.0 <= to);
        let joined = self.held[first..last]
            .iter()
            .fold((from, to), |sum, range| {
                (sum.0.min(range.0), sum.1.max(range.1))
            });
        self.held.splice(first..last, [joined]);
        if self.held[0].0 <= self.next {
            let (_, end) = self.held.remove(0);
            self.report.goodput_bytes += end - self.next;
            self.next = end;
        }
    }

    fn acknowledge<H: Host>(&mut self, host: &mut H) {
        let Some(first) = self.ranges.first() else {
            return;
        };
        let delay = host.now().since(self.highest_at);
        let range = |index: usize| self.ranges.get(index).copied().unwrap_or((0, 0));
        let side = Side {
            sack: [range(0), range(1), range(2)],
            timestamps: range(3),
            words: [delay.as_ps(), self.marks],
        };
        let out = Outgoing {
            size: self.ack_size,
            ack: first.1,
            kind: Kind::Ack,
            ..Outgoing::default()
        };
        host.send_with(self.flow, out, side);
        self.waiting = 0;
        self.timers.clear(ACKNOWLEDGE);
        self.report.acks += 1;
    }
}

impl Agent for QuicReceiver {
    fn on_start<H: Host>(&mut self, _host: &mut H) {}

    fn on_packet<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        let now = host.now();
        self.flow = packet.flow;
        if packet.flags.has(Flags::SYN) {
            self.handshakes += 1;
            let out = Outgoing {
                size: self.handshake_size,
                // Which one is answered, and how many up to it are missing.
                ack: packet.seq,
                seq: (packet.seq + 1).saturating_sub(self.handshakes),
                kind: Kind::Segment,
                flags: Flags::SYN,
                ..Outgoing::default()
            };
            host.send(self.flow, out);
            return;
        }
        let Some(side) = host.side(packet) else {
            return;
        };
        let expected = self.ranges.first().map_or(0, |range| range.1);
        if !self.take_number(packet.seq) {
            self.report.duplicates += 1;
            return;
        }
        if packet.seq >= expected {
            self.highest_at = now;
        }
        let before = self.next;
        self.take_bytes(side.words[0], side.words[0] + side.words[1]);
        if side.words[1] > 0 && self.next == before && side.words[0] < before {
            self.report.duplicates += 1;
        }
        self.waiting += 1;
        let marked = packet.ecn() == Ecn::Ce;
        self.marks += u64::from(marked);
        // Section 13.2.1: at once what is out of order or marked.
        if packet.seq != expected || marked || self.waiting >= self.threshold {
            self.acknowledge(host);
        } else if self.timers.deadline(ACKNOWLEDGE).is_none() {
            self.timers
                .set(ACKNOWLEDGE, now.saturating_add(self.max_delay), host);
        }
    }

    fn on_wake<H: Host>(&mut self, host: &mut H) {
        while self.timers.due(host.now()).is_some() {
            self.acknowledge(host);
        }
        self.timers.relist(host);
    }

    fn start_measuring(&mut self, _now: Time) {
        self.report = ReceiverReport::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_bytes_join_to_ranges_in_any_order() {
        let mut receiver = QuicReceiver::new(&QuicParams::default());
        for number in [0, 1, 5, 3, 2, 9, 4] {
            assert!(receiver.take_number(number));
        }
        assert!(!receiver.take_number(3));
        assert_eq!(receiver.ranges, [(9, 10), (0, 6)]);
        for (from, to) in [(10, 20), (40, 50), (30, 40), (0, 5), (18, 32)] {
            receiver.take_bytes(from, to);
        }
        assert_eq!((receiver.next, receiver.held_bytes()), (5, 40));
        receiver.take_bytes(0, 10);
        assert_eq!((receiver.next, receiver.report.goodput_bytes), (50, 50));
    }
}
