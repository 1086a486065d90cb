//! The receiving end of a connection.
//!
//! Sources: RFC 9293 sections 3.5 and 3.10, RFC 5681 section 4.2 (when to acknowledge), RFC 3168 sections 6.1.3 and 6.1.5 (echo).
//! Deviations are listed in [`crate::tcp`].

use super::params::TcpParams;
use super::sender::FIRST_BYTE;
use super::timer_wheel::TimerWheel;
use crate::report::ReceiverReport;
use sojourn_sim::{Agent, Ecn, Flags, Host, Kind, Outgoing, Packet, Timers};
use sojourn_units::{Span, Time};
use std::collections::VecDeque;

/// Timers, in the order in which those due at one instant fire.
const SYN_ACK: usize = 0;
const DELAYED_ACK: usize = 1;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Listen,
    /// A SYN was answered, the answer not acknowledged.
    SynReceived,
    Established,
}

/// The receiving end of a connection. What a segment in order touches comes first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct TcpReceiver {
    /// The byte expected next.
    next: u64,
    /// Bytes received in order in the measured part of the run.
    goodput: u64,
    /// Acknowledgements sent in it.
    acks: u64,
    /// Segments in order that are not acknowledged.
    unacked: u32,
    /// Segments that one acknowledgement covers.
    delayed_ack: u32,
    /// The number of the flow in the network.
    flow: u32,
    /// Bytes of the headers of a segment.
    headers: u32,
    state: State,
    /// ECN was negotiated.
    ecn: bool,
    /// Acknowledgements echo a mark until the sender says CWR.
    echo: bool,
    /// There are ranges beyond a gap.
    gap: bool,
    /// The timer of the delayed acknowledgement is set.
    delays: bool,
    /// Those ranges of bytes: first, one past the last; in order, apart from each other.
    held: VecDeque<(u64, u64)>,
    timers: Timers<2>,
    delayed_ack_timeout: Span,
    timer_wheel: TimerWheel,
    /// Segments received that had nothing new, in the measured part of the run.
    duplicates: u64,
    wants_ecn: bool,
    syn_ack_rto: Span,
    max_rto: Span,
}

impl TcpReceiver {
    /// A receiver that waits for a SYN.
    pub fn new(params: &TcpParams) -> TcpReceiver {
        TcpReceiver {
            next: FIRST_BYTE,
            goodput: 0,
            acks: 0,
            unacked: 0,
            delayed_ack: params.delayed_ack,
            flow: 0,
            headers: u32::try_from(params.headers.get()).unwrap_or(u32::MAX),
            state: State::Listen,
            ecn: false,
            echo: false,
            gap: false,
            delays: false,
            held: VecDeque::new(),
            timers: Timers::default(),
            delayed_ack_timeout: params.delayed_ack_timeout,
            timer_wheel: TimerWheel::new(params.jiffy),
            duplicates: 0,
            wants_ecn: params.ecn,
            syn_ack_rto: params.initial_rto,
            max_rto: params.max_rto,
        }
    }

    /// What it has got.
    pub fn report(&self) -> ReceiverReport {
        ReceiverReport {
            goodput_bytes: self.goodput,
            duplicates: self.duplicates,
            acks: self.acks,
        }
    }

    /// Bytes that wait behind a gap.
    pub fn held_bytes(&self) -> u64 {
        self.held.iter().map(|(first, end)| end - first).sum()
    }

    fn on_syn<H: Host>(&mut self, syn: &Packet, host: &mut H) {
        match self.state {
            State::Listen => {
                self.state = State::SynReceived;
                // Both flags ask for ECN, one alone would answer (RFC 3168 section 6.1.1).
                self.ecn = self.wants_ecn && syn.flags.has(Flags::ECE.with(Flags::CWR));
                self.send_syn_ack(Flags::NONE, host);
            }
            State::SynReceived => self.send_syn_ack(Flags::RETRANSMIT, host),
            State::Established => self.acknowledge(host),
        }
    }

    fn send_syn_ack<H: Host>(&mut self, more: Flags, host: &mut H) {
        let mut flags = Flags::SYN.with(more);
        if self.ecn {
            flags = flags.with(Flags::ECE);
        }
        host.send(
            self.flow,
            Outgoing {
                size: self.headers,
                ack: FIRST_BYTE,
                kind: Kind::Segment,
                flags,
                ..Outgoing::default()
            },
        );
        let at = self.timer_wheel.expiry(host.now(), self.syn_ack_rto);
        self.timers.set(SYN_ACK, at, host);
    }

    #[inline]
    fn acknowledge<H: Host>(&mut self, host: &mut H) {
        self.unacked = 0;
        if self.delays {
            self.delays = false;
            self.timers.clear(DELAYED_ACK);
        }
        self.acks += 1;
        host.send(
            self.flow,
            Outgoing {
                size: self.headers,
                seq: FIRST_BYTE,
                ack: self.next,
                kind: Kind::Ack,
                flags: if self.echo { Flags::ECE } else { Flags::NONE },
                ..Outgoing::default()
            },
        );
    }

    #[inline]
    fn on_data<H: Host>(&mut self, first: u64, end: u64, host: &mut H) {
        if end <= self.next {
            self.duplicates += 1;
            self.acknowledge(host);
        } else if first > self.next {
            self.hold(first, end);
            self.acknowledge(host);
        } else {
            let before = self.next;
            self.next = end;
            let gap = self.gap;
            if gap {
                self.release();
            }
            self.goodput += self.next - before;
            self.unacked += 1;
            // A segment that fills all or part of a gap is acknowledged at once.
            if gap || self.unacked >= self.delayed_ack {
                self.acknowledge(host);
            } else if !self.delays {
                let at = self
                    .timer_wheel
                    .expiry(host.now(), self.delayed_ack_timeout);
                self.timers.set(DELAYED_ACK, at, host);
                self.delays = true;
            }
        }
    }

    /// Hands on what follows without a gap.
    fn release(&mut self) {
        while let Some(&(first, end)) = self.held.front()
            && first <= self.next
        {
            self.next = self.next.max(end);
            self.held.pop_front();
        }
        self.gap = !self.held.is_empty();
    }

    /// Keeps a range beyond a gap. Most segments continue the last range, so the search begins there.
    fn hold(&mut self, first: u64, end: u64) {
        self.gap = true;
        // The ranges from `low` on end at or after `first`: they touch the new one or lie beyond it.
        let mut low = self.held.len();
        while low > 0 && self.held[low - 1].1 >= first {
            low -= 1;
        }
        let mut high = low;
        let (mut merged_first, mut merged_end) = (first, end);
        while high < self.held.len() && self.held[high].0 <= end {
            let (other_first, other_end) = self.held[high];
            if other_first <= first && end <= other_end {
                self.duplicates += 1;
                return;
            }
            merged_first = merged_first.min(other_first);
            merged_end = merged_end.max(other_end);
            high += 1;
        }
        if low == high {
            self.held.insert(low, (first, end));
        } else {
            self.held[low] = (merged_first, merged_end);
            if high - low > 1 {
                self.held.drain(low + 1..high);
            }
        }
    }
}

impl Agent for TcpReceiver {
    fn on_start<H: Host>(&mut self, _host: &mut H) {}

    #[inline]
    fn on_packet<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        if packet.flags.has(Flags::SYN) {
            self.flow = packet.flow;
            self.on_syn(packet, host);
            return;
        }
        if self.state != State::Established {
            if self.state == State::Listen {
                return;
            }
            self.state = State::Established;
            self.timers.clear(SYN_ACK);
        }
        let bytes = u64::from(packet.size.saturating_sub(self.headers));
        if bytes == 0 {
            return;
        }
        if self.ecn {
            if packet.flags.has(Flags::CWR) {
                self.echo = false;
            }
            // Section 6.1.5: not that of a duplicate.
            if packet.ecn() == Ecn::Ce && packet.seq + bytes > self.next {
                self.echo = true;
            }
        }
        self.on_data(packet.seq, packet.seq + bytes, host);
    }

    fn on_wake<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        while let Some(timer) = self.timers.due(now) {
            if timer == DELAYED_ACK {
                self.delays = false;
                self.acknowledge(host);
            } else {
                self.syn_ack_rto = self.syn_ack_rto.saturating_mul(2).min(self.max_rto);
                self.send_syn_ack(Flags::RETRANSMIT, host);
            }
        }
        self.timers.relist(host);
    }

    fn start_measuring(&mut self, _now: Time) {
        self.goodput = 0;
        self.duplicates = 0;
        self.acks = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::double::Bench;
    use sojourn_units::Params;

    const MSS: u64 = 1460;

    fn established(pairs: &[(&str, &str)]) -> (TcpReceiver, Bench) {
        let mut params = TcpParams::default();
        for (key, value) in pairs {
            params.set(key, value).unwrap();
        }
        let mut receiver = TcpReceiver::new(&params);
        let mut bench = Bench::default();
        let flags = Flags::SYN.with(Flags::ECE).with(Flags::CWR);
        bench.give(
            Outgoing {
                size: 40,
                flags,
                ..Outgoing::default()
            },
            &mut receiver,
        );
        bench.give(
            Outgoing {
                size: 40,
                seq: 1,
                ack: 1,
                ..Outgoing::default()
            },
            &mut receiver,
        );
        (receiver, bench)
    }

    /// The `n`-th segment, from 0.
    fn segment(n: u64) -> Outgoing {
        Outgoing {
            size: 1500,
            seq: FIRST_BYTE + n * MSS,
            kind: Kind::Segment,
            ..Outgoing::default()
        }
    }

    fn acks(bench: &mut Bench) -> Vec<u64> {
        let sent = bench.take();
        sent.iter()
            .map(|out| (out.ack - FIRST_BYTE) / MSS)
            .collect()
    }

    #[test]
    fn a_syn_is_answered_and_answered_again_until_it_is_acknowledged() {
        let mut receiver = TcpReceiver::new(&TcpParams::default());
        let mut bench = Bench::default();
        let syn = Outgoing {
            size: 40,
            flags: Flags::SYN,
            ..Outgoing::default()
        };
        bench.give(syn, &mut receiver);
        let answer = bench.take();
        assert!(answer[0].flags.has(Flags::SYN) && answer[0].ack == FIRST_BYTE);
        // After 1 s and 2 s more.
        bench.pass(Span::from_ms(3500), &mut receiver);
        assert_eq!(bench.take().len(), 2);
        bench.give(syn, &mut receiver);
        assert_eq!(bench.take().len(), 1);
        bench.give(segment(0), &mut receiver);
        bench.take();
        bench.pass(Span::from_secs(100), &mut receiver);
        assert!(bench.take().iter().all(|out| !out.flags.has(Flags::SYN)));
    }

    #[test]
    fn every_second_segment_is_acknowledged_and_a_lone_one_after_the_delay() {
        let (mut receiver, mut bench) = established(&[]);
        bench.take();
        for n in 0..5 {
            bench.give(segment(n), &mut receiver);
        }
        assert_eq!(acks(&mut bench), [2, 4]);
        bench.pass(Span::from_ms(199), &mut receiver);
        assert_eq!(acks(&mut bench), []);
        bench.pass(Span::from_ms(1), &mut receiver);
        assert_eq!(acks(&mut bench), [5]);
        bench.pass(Span::from_secs(10), &mut receiver);
        assert_eq!(acks(&mut bench), []);
    }

    #[test]
    fn the_delay_runs_from_the_first_segment_that_waits() {
        let (mut receiver, mut bench) = established(&[("delayed_ack", "3")]);
        bench.take();
        bench.give(segment(0), &mut receiver);
        bench.pass(Span::from_ms(150), &mut receiver);
        bench.give(segment(1), &mut receiver);
        bench.pass(Span::from_ms(50), &mut receiver);
        assert_eq!(acks(&mut bench), [2]);
    }

    #[test]
    fn segments_beyond_a_gap_into_it_and_known_ones_are_acknowledged_at_once() {
        let (mut receiver, mut bench) = established(&[]);
        bench.take();
        for n in [0, 2, 4, 4, 1, 3, 3] {
            bench.give(segment(n), &mut receiver);
        }
        // The first alone waits; then every one is answered.
        assert_eq!(acks(&mut bench), [1, 1, 1, 3, 5, 5]);
        assert_eq!(receiver.report().duplicates, 2);
        assert_eq!(receiver.report().goodput_bytes, 5 * MSS);
        assert_eq!(receiver.held_bytes(), 0);
    }

    #[test]
    fn a_mark_is_echoed_until_the_sender_has_reduced_its_window() {
        let (mut receiver, mut bench) = established(&[("ecn", "true"), ("delayed_ack", "1")]);
        assert!(bench.take()[0].flags.has(Flags::ECE));
        let give = |n, tos: Ecn, flags, receiver: &mut TcpReceiver, bench: &mut Bench| {
            let out = Outgoing {
                tos: tos.bits(),
                flags,
                ..segment(n)
            };
            bench.give(out, receiver);
            bench.take()[0].flags.has(Flags::ECE)
        };
        let none = Flags::NONE;
        assert!(!give(0, Ecn::Ect0, none, &mut receiver, &mut bench));
        assert!(give(1, Ecn::Ce, none, &mut receiver, &mut bench));
        assert!(give(2, Ecn::Ect0, none, &mut receiver, &mut bench));
        assert!(!give(3, Ecn::Ect0, Flags::CWR, &mut receiver, &mut bench));
        assert!(give(4, Ecn::Ce, Flags::CWR, &mut receiver, &mut bench));
    }

    #[test]
    fn a_mark_of_a_duplicate_is_not_echoed() {
        let (mut receiver, mut bench) = established(&[("ecn", "true"), ("delayed_ack", "1")]);
        bench.take();
        bench.give(segment(0), &mut receiver);
        let marked = Outgoing {
            tos: Ecn::Ce.bits(),
            ..segment(0)
        };
        bench.give(marked, &mut receiver);
        assert!(bench.take().iter().all(|out| !out.flags.has(Flags::ECE)));
    }

    #[test]
    fn a_mark_without_negotiation_is_not_echoed() {
        let (mut receiver, mut bench) = established(&[("delayed_ack", "1")]);
        assert!(!bench.take()[0].flags.has(Flags::ECE));
        let out = Outgoing {
            tos: Ecn::Ce.bits(),
            ..segment(0)
        };
        bench.give(out, &mut receiver);
        assert!(!bench.take()[0].flags.has(Flags::ECE));
    }

    #[test]
    fn ranges_beyond_gaps_merge_as_a_set_of_bytes_would() {
        // Every way to deliver 7 units in pieces of 1 to 3, from a fixed shuffle, against a set.
        let mut word = 1u64;
        for _ in 0..2000 {
            let (mut receiver, mut bench) = established(&[]);
            let mut have = [false; 8];
            for _ in 0..12 {
                word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let first = (word >> 33) % 7;
                let end = (first + 1 + (word >> 50) % 3).min(7);
                let out = Outgoing {
                    size: u32::try_from(40 + end - first).unwrap(),
                    seq: FIRST_BYTE + first,
                    ..segment(0)
                };
                bench.give(out, &mut receiver);
                for unit in first..end {
                    have[usize::try_from(unit).unwrap()] = true;
                }
                let next = have.iter().position(|&h| !h).unwrap();
                let held = have[next..].iter().filter(|&&h| h).count();
                assert_eq!(
                    receiver.report().goodput_bytes,
                    u64::try_from(next).unwrap()
                );
                assert_eq!(receiver.held_bytes(), u64::try_from(held).unwrap());
                let apart = receiver.held.iter().zip(receiver.held.iter().skip(1));
                assert!(apart.clone().all(|(a, b)| a.1 < b.0), "{:?}", receiver.held);
            }
        }
    }
}
