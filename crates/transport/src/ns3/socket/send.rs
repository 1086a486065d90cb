//! What a socket sends: segments with and without data, and what it sends again.

use super::{
    ACK, DELAYED_ACK, FIN, Header, IP_TCP, LONGEST_PERSIST, LONGEST_RTO, MOST_SCALE, Ns3Change,
    OnTimeout, PERSIST, RETRANSMIT, RST, SCALE_OPTION, SYN, Socket, State, TIMESTAMP, Timed,
    milliseconds,
};
use crate::ns3::Ns3Recovery;
use sojourn_sim::{Flags, Host, Kind, Outgoing, Side};

impl Socket {
    pub(super) fn send_reset<H: Host>(&mut self, host: &mut H) {
        self.send_empty(RST, host);
        self.bound = false;
        self.cancel_timers();
    }

    fn transmit<H: Host>(&mut self, seq: u64, flags: u8, payload: u64, again: bool, host: &mut H) {
        let now = host.now();
        let syn = flags & SYN != 0;
        let scale = (self.scaling && syn).then(|| self.offer_scale());
        let header = Header {
            seq,
            ack: self.rx.next(),
            flags,
            window: self.window_field(),
            payload,
            scale,
            timestamps: self.timestamps.then(|| (milliseconds(now), self.echo)),
        };
        // Options fill whole words of four bytes: 10 of the timestamp and 3 of the scale make 16, either alone 12 and 4.
        let options = if self.timestamps { TIMESTAMP } else { 0 }
            + if scale.is_some() { SCALE_OPTION } else { 0 };
        let size = IP_TCP + options + self.link_header + payload;
        let mut marks = Flags::NONE;
        for (flag, mark) in [(SYN, Flags::SYN), (FIN, Flags::FIN)] {
            if flags & flag != 0 {
                marks = marks.with(mark);
            }
        }
        if again {
            marks = marks.with(Flags::RETRANSMIT);
        }
        let packet = Outgoing {
            size: u32::try_from(size).unwrap_or(u32::MAX),
            seq,
            ack: header.ack,
            kind: if payload > 0 || syn {
                Kind::Segment
            } else {
                Kind::Ack
            },
            tos: 0,
            flags: marks,
        };
        let side = Side {
            timestamps: header.timestamps.unwrap_or_default(),
            words: header.words(),
            ..Side::default()
        };
        self.note(now, Ns3Change::Sent(flags, payload, header.window));
        host.send_with(self.flow, packet, side);
    }

    /// The shift with which the receive buffer fits the window field.
    fn offer_scale(&mut self) -> u32 {
        let (mut room, mut scale) = (self.rx.most(), 0);
        while room > self.max_window {
            room >>= 1;
            scale += 1;
        }
        self.own_scale = scale.min(MOST_SCALE);
        self.own_scale
    }

    pub(super) fn send_empty<H: Host>(&mut self, flags: u8, host: &mut H) {
        if !self.bound {
            return;
        }
        let now = host.now();
        let (mut flags, mut seq) = (flags, self.next);
        if flags & FIN != 0 {
            flags |= ACK;
        } else if matches!(
            self.state,
            State::FinWait1 | State::LastAck | State::Closing
        ) {
            seq += 1;
        }
        // The scale that goes with the SYN shifts its own window already.
        self.renew_rto(now);
        let (syn, fin) = (flags & SYN != 0, flags & FIN != 0);
        if syn {
            if self.tries_left == 0 {
                self.rtt.reset();
                self.end();
                return;
            }
            let doublings = self.connect_tries - self.tries_left;
            self.set_rto(self.connect_timeout.saturating_mul(1 << doublings), now);
            self.tries_left -= 1;
        }
        let again = syn && self.tries_left + 1 < self.connect_tries;
        self.report.handshake_retransmissions += u64::from(again);
        self.transmit(seq, flags, 0, again, host);
        if flags & ACK != 0 {
            self.received.acks += u64::from(flags == ACK);
            self.timers.clear(DELAYED_ACK);
            self.unacked = 0;
        }
        if !self.is_set(RETRANSMIT) && (syn || fin) {
            self.on_timeout = OnTimeout::Empty(flags);
            self.arm(RETRANSMIT, self.rto, host);
        }
    }

    /// Sends a segment from `seq` on; says how much it carries.
    fn send_data<H: Host>(&mut self, seq: u64, most: u64, host: &mut H) -> u64 {
        let now = host.now();
        let bytes = most.min(self.held_from(seq));
        let mut flags = 0;
        if self.connected {
            flags = ACK;
            self.timers.clear(DELAYED_ACK);
            self.unacked = 0;
        }
        if self.close_on_empty && self.held_from(seq + bytes) == 0 {
            flags |= FIN;
            self.state = match self.state {
                State::Established => State::FinWait1,
                State::CloseWait => State::LastAck,
                other => other,
            };
        }
        if !self.is_set(RETRANSMIT) {
            self.set_rto((self.rto + self.rto).min(LONGEST_RTO), now);
            self.on_timeout = OnTimeout::Data;
            self.arm(RETRANSMIT, self.rto, host);
        }
        let again = seq < self.highest;
        self.report.retransmissions += u64::from(again);
        self.transmit(seq, flags, bytes, again, host);
        if seq == self.head {
            let timed = self
                .history
                .iter_mut()
                .find(|timed| seq >= timed.seq && seq < timed.seq + timed.bytes);
            if let Some(timed) = timed {
                timed.again = true;
                timed.bytes = seq + bytes - timed.seq;
            }
        } else {
            self.history.push_back(Timed {
                seq,
                bytes,
                sent: now,
                again: false,
            });
        }
        self.highest = self.highest.max(seq + bytes);
        bytes
    }

    pub(super) fn send_pending<H: Host>(&mut self, host: &mut H) {
        if self.held == 0 || !self.bound {
            return;
        }
        loop {
            let left = self.held_from(self.next);
            let window = self.available_window();
            let silly = window < self.segment && left > window;
            let nagle = self.nagle && self.in_flight() > 0 && left < self.segment;
            if left == 0 || silly || nagle {
                return;
            }
            let bytes = self.send_data(self.next, window.min(self.segment), host);
            self.next += bytes;
        }
    }

    pub(super) fn on_retransmit_timer<H: Host>(&mut self, host: &mut H) {
        match self.on_timeout {
            OnTimeout::Empty(flags) => self.send_empty(flags, host),
            OnTimeout::Data => self.on_data_timeout(host),
        }
    }

    fn on_data_timeout<H: Host>(&mut self, host: &mut H) {
        let nothing_out = self.state <= State::Established && self.head >= self.highest;
        if matches!(self.state, State::Closed | State::TimeWait) || nothing_out {
            return;
        }
        self.report.timeouts += 1;
        self.restart_from_head(host);
    }

    /// Tahoe: halves the threshold, and goes back to the first byte that is not acknowledged, with one segment.
    pub(super) fn restart_from_head<H: Host>(&mut self, host: &mut H) {
        match self.recovery {
            Ns3Recovery::Tahoe => {
                let now = host.now();
                self.set_ssthresh((self.cwnd / 2).max(2 * self.segment), now);
                self.set_cwnd(self.segment, now);
                self.next = self.head;
                self.resend(host);
            }
        }
    }

    fn resend<H: Host>(&mut self, host: &mut H) {
        if self.state == State::SynSent {
            if self.tries_left > 0 {
                self.send_empty(SYN, host);
            }
            return;
        }
        if self.held == 0 {
            if matches!(self.state, State::FinWait1 | State::Closing) {
                self.send_empty(FIN, host);
            }
            return;
        }
        let bytes = self.send_data(self.head, self.segment, host);
        self.next = self.next.max(self.head + bytes);
    }

    pub(super) fn on_persist_timer<H: Host>(&mut self, host: &mut H) {
        self.persist_timeout = self.persist_timeout.saturating_mul(2).min(LONGEST_PERSIST);
        let bytes = self.held_from(self.next).min(1);
        self.transmit(self.next, 0, bytes, false, host);
        self.arm(PERSIST, self.persist_timeout, host);
    }
}
