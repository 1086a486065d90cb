//! The receiving end of a connection.
//!
//! Sources: RFC 9293 sections 3.5 and 3.10, RFC 5681 section 4.2 (when to acknowledge), RFC 3168 section 6.1.3 (echo).
//! Deviations are listed in [`crate::tcp`].

use super::params::TcpParams;
use super::sender::FIRST_BYTE;
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

/// The receiving end of a connection.
#[derive(Clone, Debug)]
pub struct TcpReceiver {
    /// The byte expected next.
    next: u64,
    goodput: u64,
    /// Segments in order that are not acknowledged.
    unacked: u32,
    delayed_ack: u32,
    flow: u32,
    headers: u32,
    state: State,
    /// ECN was negotiated.
    ecn: bool,
    /// Acknowledgements echo a mark until the sender says CWR.
    echo: bool,
    timers: Timers<2>,
    delayed_ack_timeout: Span,
    /// Ranges of bytes beyond a gap: first, one past the last; in order, apart from each other.
    held: VecDeque<(u64, u64)>,
    duplicates: u64,
    acks: u64,
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
            unacked: 0,
            delayed_ack: params.delayed_ack,
            flow: 0,
            headers: u32::try_from(params.headers.get()).unwrap_or(u32::MAX),
            state: State::Listen,
            ecn: false,
            echo: false,
            timers: Timers::default(),
            delayed_ack_timeout: params.delayed_ack_timeout,
            held: VecDeque::new(),
            duplicates: 0,
            acks: 0,
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
        let at = host.now().saturating_add(self.syn_ack_rto);
        self.timers.set(SYN_ACK, at, host);
    }

    #[inline]
    fn acknowledge<H: Host>(&mut self, host: &mut H) {
        self.unacked = 0;
        self.timers.clear(DELAYED_ACK);
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
            let gap = !self.held.is_empty();
            if gap {
                self.release();
            }
            self.goodput += self.next - before;
            self.unacked += 1;
            // A segment that fills all or part of a gap is acknowledged at once.
            if gap || self.unacked >= self.delayed_ack {
                self.acknowledge(host);
            } else if self.timers.deadline(DELAYED_ACK).is_none() {
                let at = host.now().saturating_add(self.delayed_ack_timeout);
                self.timers.set(DELAYED_ACK, at, host);
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
    }

    /// Keeps a range beyond a gap. Most segments continue the last range, so the search begins there.
    fn hold(&mut self, first: u64, end: u64) {
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
            if packet.ecn() == Ecn::Ce {
                self.echo = true;
            }
        }
        self.on_data(packet.seq, packet.seq + bytes, host);
    }

    fn on_wake<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        while let Some(timer) = self.timers.due(now) {
            if timer == DELAYED_ACK {
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
