//! The states of a connection: how it is opened and closed.

use super::{
    ACK, FIN, FIN_ACK, Header, LAST_ACK, RETRANSMIT, RST, SYN, SYN_ACK, Socket, State, TIME_WAIT,
};
use sojourn_sim::Host;

impl Socket {
    pub(super) fn in_established<H: Host>(&mut self, header: &Header, host: &mut H) {
        match header.flags {
            ACK => self.on_ack(header, host),
            SYN | SYN_ACK => {}
            FIN | FIN_ACK => self.on_peer_close(header, host),
            0 => {
                self.on_data(header, host);
                if self.rx.finished() {
                    self.on_peer_close(header, host);
                }
            }
            flags => self.give_up(flags, host),
        }
    }

    pub(super) fn in_listen<H: Host>(&mut self, header: &Header, host: &mut H) {
        if header.flags != SYN {
            return;
        }
        self.state = State::SynReceived;
        self.tries_left = self.connect_tries;
        self.rx.set_next(header.seq + 1);
        self.send_empty(SYN_ACK, host);
    }

    pub(super) fn in_syn_sent<H: Host>(&mut self, header: &Header, host: &mut H) {
        match header.flags {
            ACK => {}
            SYN_ACK if self.next + 1 == header.ack => {
                self.establish();
                self.rx.set_next(header.seq + 1);
                self.send_empty(ACK, host);
                self.send_pending(host);
                self.unacked = self.delayed_ack;
            }
            flags => self.give_up(flags, host),
        }
    }

    /// The handshake is over: the SYN has used up a number.
    fn establish(&mut self) {
        self.state = State::Established;
        self.connected = true;
        self.timers.clear(RETRANSMIT);
        self.next += 1;
        self.highest = self.next;
        self.head = self.next;
    }

    pub(super) fn in_syn_received<H: Host>(&mut self, header: &Header, host: &mut H) {
        match header.flags {
            0 | ACK if header.flags == 0 || self.next + 1 == header.ack => {
                self.establish();
                // The first segment is acknowledged at once.
                self.unacked = self.delayed_ack;
                self.on_ack(header, host);
            }
            SYN => {
                self.rx.set_next(header.seq + 1);
                self.send_empty(SYN_ACK, host);
            }
            FIN_ACK => {
                if header.seq == self.rx.next() {
                    self.establish();
                    self.state = State::SynReceived;
                    self.on_peer_close(header, host);
                }
            }
            flags => self.give_up(flags, host),
        }
    }

    pub(super) fn in_wait<H: Host>(&mut self, header: &Header, host: &mut H) {
        match header.flags {
            flags if header.payload > 0 && flags != ACK => self.on_data(header, host),
            ACK => {
                self.on_ack(header, host);
                let acks_fin = self.held == 0 && header.ack == self.highest + 1;
                if self.state == State::FinWait1 && acks_fin {
                    self.state = State::FinWait2;
                }
            }
            FIN | FIN_ACK => {
                if header.has(ACK) {
                    self.on_ack(header, host);
                }
                self.rx.set_fin(header.seq);
            }
            SYN | SYN_ACK => return,
            flags => {
                self.give_up(flags, host);
                return;
            }
        }
        if matches!(self.state, State::FinWait1 | State::FinWait2) && self.rx.finished() {
            if self.state == State::FinWait2 {
                self.wait(host);
            } else {
                self.state = State::Closing;
                if self.held == 0 && header.ack == self.highest + 1 {
                    self.wait(host);
                }
            }
            self.send_empty(ACK, host);
            self.read();
        }
    }

    pub(super) fn in_closing<H: Host>(&mut self, header: &Header, host: &mut H) {
        match header.flags {
            ACK => {
                if header.seq == self.rx.next() {
                    self.wait(host);
                }
            }
            FIN | FIN_ACK => {
                self.send_empty(ACK, host);
                self.end();
            }
            flags => self.give_up(flags, host),
        }
    }

    pub(super) fn in_last_ack<H: Host>(&mut self, header: &Header, host: &mut H) {
        match header.flags {
            0 => self.on_data(header, host),
            ACK => {
                if header.seq == self.rx.next() {
                    self.end();
                }
            }
            FIN => self.send_empty(FIN_ACK, host),
            FIN_ACK | RST => self.end(),
            flags => self.give_up(flags, host),
        }
    }

    /// Waits for segments that may still be under way.
    fn wait<H: Host>(&mut self, host: &mut H) {
        self.state = State::TimeWait;
        self.cancel_timers();
        self.arm(TIME_WAIT, self.segment_lifetime.saturating_mul(2), host);
    }

    fn on_peer_close<H: Host>(&mut self, header: &Header, host: &mut H) {
        if header.seq < self.rx.next() || header.seq > self.rx.end() {
            return;
        }
        self.rx.set_fin(header.seq + header.payload);
        if header.payload > 0 {
            self.on_data(header, host);
        }
        if !self.rx.finished() {
            return;
        }
        if self.state == State::FinWait1 {
            self.state = State::Closing;
            return;
        }
        self.peer_has_closed(host);
    }

    pub(super) fn peer_has_closed<H: Host>(&mut self, host: &mut H) {
        self.state = State::CloseWait;
        if self.shutdown_send {
            self.close(host);
        } else {
            self.send_empty(ACK, host);
        }
        if self.state == State::LastAck {
            let after = self.rtt.timeout(self.granularity);
            self.arm(LAST_ACK, after, host);
        }
    }
}
