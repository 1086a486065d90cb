//! What a socket makes of a segment: options, windows, acknowledgements, data.

use super::{
    ACK, DELAYED_ACK, FIN, Header, MOST_SCALE, Ns3Change, OnTimeout, PERSIST, RETRANSMIT, RST,
    SEND, STEP, SYN, Socket, State, milliseconds,
};
use sojourn_sim::Host;
use sojourn_units::{Span, Time};
use std::cmp::Ordering;

impl Socket {
    pub(super) fn on_segment<H: Host>(&mut self, header: &Header, host: &mut H) {
        let now = host.now();
        self.note(now, Ns3Change::Received(header.window));
        self.read_options(header, now);
        if header.has(ACK) {
            self.measure(header, now);
        }
        if header.payload > 0 && self.is_out_of_range(header) {
            self.received.duplicates += 1;
            if self.state == State::Established && !header.has(RST) {
                self.send_empty(ACK, host);
            }
            return;
        }
        if self.peer_window == 0 && header.window != 0 {
            self.timers.clear(PERSIST);
        }
        if header.has(ACK) {
            self.update_peer_window(header);
        }
        match self.state {
            State::Established => self.in_established(header, host),
            State::Listen => self.in_listen(header, host),
            State::SynSent => self.in_syn_sent(header, host),
            State::SynReceived => self.in_syn_received(header, host),
            State::FinWait1 | State::FinWait2 | State::CloseWait => self.in_wait(header, host),
            State::Closing => self.in_closing(header, host),
            State::LastAck => self.in_last_ack(header, host),
            State::Closed | State::TimeWait => {}
        }
    }

    fn read_options(&mut self, header: &Header, now: Time) {
        if header.has(SYN) && self.scaling {
            self.scaling = header.scale.is_some();
            if let Some(scale) = header.scale {
                self.peer_scale = scale.min(MOST_SCALE);
                self.set_ssthresh(self.ssthresh << self.own_scale, now);
            }
        }
        self.timestamps = header.timestamps.is_some();
        if let Some((stamp, _)) = header.timestamps {
            self.echo = stamp;
        }
    }

    /// A round-trip sample, if the oldest segment in the history is acknowledged and was sent once.
    fn measure(&mut self, header: &Header, now: Time) {
        let mut sample = Span::ZERO;
        if let Some(oldest) = self.history.front()
            && !oldest.again
            && header.ack >= oldest.seq + oldest.bytes
        {
            sample = match header.timestamps {
                Some((_, echo)) => Span::from_ms(milliseconds(now).saturating_sub(echo)),
                None => now.since(oldest.sent),
            };
        }
        while self
            .history
            .front()
            .is_some_and(|timed| timed.seq + timed.bytes <= header.ack)
        {
            self.history.pop_front();
        }
        if sample > Span::ZERO {
            self.rtt.sample(sample);
            self.renew_rto(now);
            self.report.record_rtt(sample);
        }
    }

    fn is_out_of_range(&self, header: &Header) -> bool {
        match self.state {
            State::Listen | State::SynSent | State::SynReceived => false,
            State::LastAck | State::Closing | State::CloseWait => header.seq != self.rx.next(),
            _ => header.seq + header.payload < self.rx.next() || self.rx.end() <= header.seq,
        }
    }

    fn update_peer_window(&mut self, header: &Header) {
        let window = header.window << self.peer_scale;
        if self.state < State::Established {
            self.peer_window = window;
            return;
        }
        let mut update = header.ack == self.peer_ack && window > self.peer_window;
        if header.ack > self.peer_ack {
            self.peer_ack = header.ack;
            update = true;
        }
        if header.seq > self.peer_seq {
            self.peer_seq = header.seq;
            update = true;
        }
        if update {
            self.peer_window = window;
        }
    }

    /// A reset, or flags that cannot be.
    pub(super) fn give_up<H: Host>(&mut self, flags: u8, host: &mut H) {
        if flags != RST {
            self.send_reset(host);
        }
        self.end();
    }

    pub(super) fn on_ack<H: Host>(&mut self, header: &Header, host: &mut H) {
        if header.has(ACK) {
            match header.ack.cmp(&self.head) {
                Ordering::Less => {}
                Ordering::Equal => {
                    if header.ack < self.next && header.payload == 0 {
                        self.dupacks += 1;
                        if self.dupacks == self.dupack_threshold {
                            self.report.fast_recoveries += 1;
                            self.restart_from_head(host);
                        }
                    }
                }
                Ordering::Greater => {
                    self.on_new_ack(header.ack, host);
                    self.dupacks = 0;
                }
            }
        }
        if header.payload > 0 {
            self.on_data(header, host);
        }
    }

    fn on_new_ack<H: Host>(&mut self, ack: u64, host: &mut H) {
        let now = host.now();
        let growth = if self.cwnd < self.ssthresh {
            self.segment
        } else {
            // Cut to whole bytes, at least one.
            (self.segment * self.segment / self.cwnd).max(1)
        };
        self.set_cwnd(self.cwnd + growth, now);
        if self.state != State::SynReceived {
            self.renew_rto(now);
            self.on_timeout = OnTimeout::Data;
            self.arm(RETRANSMIT, self.rto, host);
        }
        if self.peer_window == 0 && !self.is_set(PERSIST) {
            self.timers.clear(RETRANSMIT);
            self.arm(PERSIST, self.persist_timeout, host);
        }
        let bytes = (ack - self.head).min(self.held);
        self.held -= bytes;
        self.report.bytes_acked += bytes;
        self.head = ack;
        self.next = self.next.max(ack);
        if self.held == 0 && !matches!(self.state, State::FinWait1 | State::Closing) {
            self.timers.clear(RETRANSMIT);
        }
        if !self.is_set(SEND) {
            self.arm(SEND, STEP, host);
        }
    }

    pub(super) fn on_data<H: Host>(&mut self, header: &Header, host: &mut H) {
        let expected = self.rx.next();
        if !self.rx.add(header.seq, header.payload) {
            self.received.duplicates += 1;
            self.send_empty(ACK, host);
            return;
        }
        if self.rx.has_gap() || self.rx.next() > expected + header.payload {
            self.send_empty(ACK, host);
        } else {
            self.unacked += 1;
            if self.unacked >= self.delayed_ack {
                self.send_empty(ACK, host);
            } else if !self.is_set(DELAYED_ACK) {
                self.arm(DELAYED_ACK, self.delayed_ack_timeout, host);
            }
        }
        if expected < self.rx.next() {
            self.read();
            if self.rx.finished() && !header.has(FIN) {
                self.peer_has_closed(host);
            }
        }
    }

    /// The application takes what is in order.
    pub(super) fn read(&mut self) {
        self.received.goodput_bytes += self.rx.read();
    }
}
