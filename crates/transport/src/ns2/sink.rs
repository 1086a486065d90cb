//! The sink: ns-2's Agent/TCPSink, which acknowledges the last packet of the unbroken sequence, its DelAck variant, and both with
//! selective acknowledgement (Agent/TCPSink/Sack1, Agent/TCPSink/Sack1/DelAck).
//!
//! DelAck holds the acknowledgement of a packet that ends the sequence (one that has just arrived in order, or its last one
//! again) unless it is the SYN, a later packet has arrived before it, or another acknowledgement is held, which then leaves at once.

use super::recent::{Blocks, Recent};
use super::{Ns2Params, Ns2Recovery, narrow};
use crate::report::ReceiverReport;
use sojourn_sim::{Agent, Ecn, Flags, Host, Kind, Outgoing, Packet, Side, Timers};
use sojourn_units::{Span, Time};
use std::collections::VecDeque;

/// The receiver of a one-way flow. Its memory for packets that came early has no bound.
#[derive(Debug)]
pub struct Ns2Sink {
    /// The number of the flow in the network.
    flow: u32,
    /// Bytes of an acknowledgement on the wire.
    ack_size: u32,
    /// Bytes of data in a packet.
    payload: u64,
    hold: Option<Span>,
    /// The first packet that has not arrived.
    expected: u64,
    /// Whether packets `expected + 1`, `expected + 2`, ... have.
    early: VecDeque<bool>,
    /// The highest packet received.
    highest: u64,
    echo: bool,
    /// The packet whose acknowledgement is held back.
    held: Option<Arrival>,
    /// The blocks of selective acknowledgements, where they are used.
    recent: Option<Recent>,
    /// Acknowledgements carry a time: when the last packet was sent that did not come early.
    echoes_time: bool,
    echo_time: Time,
    /// The packet that the last acknowledgement named.
    told: u64,
    timers: Timers<1>,
    report: ReceiverReport,
}

/// What an acknowledgement depends on of the packet that it answers.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    number: u64,
    flags: Flags,
    ecn: Ecn,
}

/// Bytes of a block in an acknowledgement.
const BLOCK_BYTES: u32 = 8;

impl Ns2Sink {
    /// A sink of `flow`.
    pub fn new(flow: u32, params: &Ns2Params) -> Self {
        Ns2Sink {
            flow,
            ack_size: narrow(params.ack_size),
            payload: params.payload.get(),
            hold: params.delayed_ack,
            expected: 0,
            early: VecDeque::new(),
            highest: 0,
            echo: false,
            held: None,
            recent: matches!(params.recovery, Ns2Recovery::Sack | Ns2Recovery::Fack)
                .then(|| Recent::new(params.sack_blocks)),
            echoes_time: params.recovery == Ns2Recovery::Fack,
            echo_time: Time::ZERO,
            told: 0,
            timers: Timers::default(),
            report: ReceiverReport::default(),
        }
    }

    /// The number of its flow in the network.
    pub fn set_flow(&mut self, flow: u32) {
        self.flow = flow;
    }

    /// What was counted since measuring began.
    pub fn report(&self) -> &ReceiverReport {
        &self.report
    }

    /// Takes in packet `number`; says how many packets the unbroken sequence grew by.
    fn take(&mut self, number: u64) -> u64 {
        let Some(ahead) = number.checked_sub(self.expected) else {
            self.report.duplicates += 1;
            return 0;
        };
        if ahead > 0 {
            // A number beyond what memory can index cannot occur: it would be that many packets ahead.
            let index = usize::try_from(ahead - 1).unwrap_or(usize::MAX);
            if self.early.len() <= index {
                self.early.resize(index + 1, false);
            }
            if std::mem::replace(&mut self.early[index], true) {
                self.report.duplicates += 1;
            }
            return 0;
        }
        let mut grown = 1;
        while self.early.pop_front() == Some(true) {
            grown += 1;
        }
        self.expected += grown;
        grown
    }

    /// Whether packet `number` has arrived.
    fn has(&self, number: u64) -> bool {
        match number.checked_sub(self.expected) {
            None => true,
            Some(0) => false,
            Some(ahead) => usize::try_from(ahead - 1)
                .ok()
                .and_then(|index| self.early.get(index))
                .is_some_and(|&has| has),
        }
    }

    /// The blocks to tell with the acknowledgement of packet `number`.
    fn blocks(&mut self, number: u64) -> Blocks {
        let hole = |number: &u64| !self.has(*number);
        let end = (number.max(self.expected)..=self.highest).find(hole);
        let end = end.unwrap_or(self.highest + 1);
        let is_early = number > self.expected;
        let first = match is_early {
            true => (self.expected..end).rev().find(hole).map_or(0, |at| at + 1),
            false => 0,
        };
        let Some(recent) = &mut self.recent else {
            return Blocks::default();
        };
        if self.expected > self.highest {
            recent.clear();
            return Blocks::default();
        }
        recent.tell((first, end), is_early)
    }

    fn acknowledge<H: Host>(&mut self, arrival: Arrival, host: &mut H) {
        let Arrival { number, flags, ecn } = arrival;
        let echo = self.echo && ecn.is_capable() || flags.has(Flags::SYN.with(Flags::ECE));
        self.report.acks += 1;
        self.told = self.expected.saturating_sub(1);
        let mut packet = Outgoing {
            size: self.ack_size,
            // ns-2 numbers acknowledgements by the last packet in order.
            seq: self.expected.saturating_sub(1),
            ack: self.expected,
            kind: Kind::Ack,
            tos: 0,
            flags: if echo { Flags::ECE } else { Flags::NONE },
        };
        let sack = match self.recent {
            Some(_) => self.blocks(number),
            None => Blocks::default(),
        };
        let told = sack.iter().filter(|&&block| block != (0, 0)).count();
        if told == 0 && !self.echoes_time {
            return host.send(self.flow, packet);
        }
        packet.size += BLOCK_BYTES * u32::try_from(told).unwrap_or(0);
        let echo = if self.echoes_time {
            self.echo_time.as_ps()
        } else {
            0
        };
        let side = Side {
            sack,
            timestamps: (0, echo),
            ..Side::default()
        };
        host.send_with(self.flow, packet, side);
    }
}

impl Agent for Ns2Sink {
    fn on_start<H: Host>(&mut self, _: &mut H) {}

    fn on_packet<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        let number = packet.seq;
        let arrival = Arrival {
            number,
            flags: packet.flags,
            ecn: packet.ecn(),
        };
        if packet.created >= self.echo_time && number <= self.told + 1 {
            self.echo_time = packet.created;
        }
        let fills_gap = number < self.highest;
        self.highest = self.highest.max(number);
        let grown = self.take(number);
        let syn = packet.flags.has(Flags::SYN);
        self.report.goodput_bytes += (grown - u64::from(syn && grown > 0)) * self.payload;
        if packet.flags.has(Flags::CWR) {
            self.echo = false;
        }
        if packet.ecn() == Ecn::Ce {
            self.echo = true;
        }
        if let Some(hold) = self.hold
            && self.held.is_none()
            && number + 1 == self.expected
            && !fills_gap
            && !syn
        {
            self.held = Some(arrival);
            let at = host.now().saturating_add(hold);
            self.timers.set(0, at, host);
            return;
        }
        self.held = None;
        self.timers.clear(0);
        self.acknowledge(arrival, host);
    }

    fn on_wake<H: Host>(&mut self, host: &mut H) {
        while self.timers.due(host.now()).is_some() {
            if let Some(arrival) = self.held.take() {
                self.acknowledge(arrival, host);
            }
        }
        self.timers.relist(host);
    }

    fn start_measuring(&mut self, _: Time) {
        self.report = ReceiverReport::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::double::Bench;

    fn data(number: u64) -> Outgoing {
        Outgoing {
            size: if number == 0 { 40 } else { 1040 },
            seq: number,
            kind: Kind::Segment,
            flags: if number == 0 { Flags::SYN } else { Flags::NONE },
            ..Outgoing::default()
        }
    }

    #[test]
    fn every_packet_is_acknowledged_with_the_end_of_the_unbroken_sequence() {
        let mut sink = Ns2Sink::new(0, &Ns2Params::default());
        let mut bench = Bench::default();
        for number in [0, 1, 4, 2, 2, 6, 3, 5] {
            bench.give(data(number), &mut sink);
        }
        let acks: Vec<u64> = bench.take().iter().map(|ack| ack.seq).collect();
        assert_eq!(acks, [0, 1, 1, 2, 2, 2, 4, 6]);
        let report = sink.report();
        assert_eq!(
            (report.goodput_bytes, report.duplicates, report.acks),
            (6000, 1, 8)
        );
    }

    #[test]
    fn a_held_acknowledgement_leaves_with_the_second_packet_or_the_timer() {
        let params = Ns2Params {
            delayed_ack: Some(Span::from_ms(100)),
            ..Ns2Params::default()
        };
        let mut sink = Ns2Sink::new(0, &params);
        let mut bench = Bench::default();
        let acks = |bench: &mut Bench| bench.take().iter().map(|ack| ack.seq).collect::<Vec<_>>();
        bench.give(data(0), &mut sink);
        bench.give(data(1), &mut sink);
        assert_eq!(acks(&mut bench), [0]);
        bench.give(data(2), &mut sink);
        assert_eq!(acks(&mut bench), [2]);
        bench.give(data(3), &mut sink);
        bench.pass(Span::from_ms(99), &mut sink);
        assert_eq!(acks(&mut bench), []);
        bench.pass(Span::from_ms(1), &mut sink);
        assert_eq!(acks(&mut bench), [3]);
        bench.give(data(5), &mut sink);
        bench.give(data(4), &mut sink);
        assert_eq!(
            acks(&mut bench),
            [3, 5],
            "gaps are acknowledged and filled at once"
        );
    }
}
