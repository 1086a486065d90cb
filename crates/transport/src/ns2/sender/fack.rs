//! Forward acknowledgement: the sender reckons with the furthest packet that has arrived (ns-2's Agent/TCP/Fack).
//!
//! Source: Mathis and Mahdavi 1996. `forward` (their snd.fack) is the furthest packet that the receiver is known to have, and
//! `resent` (retran_data) counts retransmissions under way; what is out is `next - forward + resent`, which the window bounds (section 2.2).
//! Recovery begins when the receiver has more than three packets beyond the first that it lacks (section 2.3), and with the first hole.
//!
//! What ns-2.35 does beside it (tcp-fack.cc, scoreboard.cc, behaviour):
//! * Recovery begins with a window of one packet and slow start to the halved threshold, and ends with the first acknowledgement beyond
//!   its beginning that tells no blocks. Acknowledgements let the window grow all the while.
//! * Holes below a block are sent again as soon as the window allows, before recovery has begun, too. There is no limited transmit.
//! * A retransmission is lost when an acknowledgement carries a packet that was sent after it; nothing is sent from then on until the timer fires.
//! * Acknowledgements that are duplicates, tell blocks or arrive in recovery give a round-trip sample each. They carry the time of the
//!   last packet that did not come early, so that samples grow while a packet is missing.
//! * An acknowledgement that arrives late, in recovery, counts as the latest one here; in ns-2 it takes the sender back.
//! * A timeout does not end the recovery, and is not counted in nrexmit_.
//! * The options rampdown_ and ss-div4_, which are off, are left out.

use super::{Action, Ns2Sender, Reduce};
use crate::app::Source;
use crate::ns2::num::{real, truncated};
use sojourn_sim::{Flags, Host};
use sojourn_units::Time;

impl<S: Source> Ns2Sender<S> {
    /// An acknowledgement of everything up to packet `acked` arrives with `blocks` and the time `sent` that its sample counts from.
    pub(super) fn receive_fack<H: Host>(
        &mut self,
        acked: i64,
        blocks: &[(i64, i64)],
        sent: Time,
        flags: Flags,
        host: &mut H,
    ) {
        if self.fack.recovering {
            self.take_note(acked, blocks, sent, host);
            self.fack.resent -= self.fack.board.update(acked, blocks);
            self.fack.waits |= self.fack.board.has_lost_again(blocks);
            self.open_window();
            if blocks.is_empty() && self.last_ack >= self.recover {
                self.fack.recovering = false;
                self.fack.forget();
                self.dupacks = 0;
            }
            self.send_forward(host);
            return;
        }
        if acked > self.last_ack && blocks.is_empty() {
            self.take_new_ack(acked, flags, host);
            self.open_window();
            self.note_completion(host.now());
            self.fack.forward = acked;
            self.fack.forget();
        } else if acked >= self.last_ack {
            self.fack.resent -= self.fack.board.update(self.highest_ack, blocks);
            self.take_note(acked, blocks, sent, host);
            self.dupacks = self.fack.forward - self.last_ack - 1;
            if self.dupacks >= self.dupack_threshold {
                self.begin_forward_recovery(host);
            }
        }
        if self.dupacks == 0 {
            self.send_forward(host);
        }
    }

    /// What every acknowledgement tells but the plain ones outside recovery.
    fn take_note<H: Host>(&mut self, acked: i64, blocks: &[(i64, i64)], sent: Time, host: &mut H) {
        let acked = acked.max(self.last_ack);
        self.last_ack = acked;
        self.advance(acked);
        let told = blocks.iter().map(|&(_, to)| to - 1).max();
        self.fack.forward = self.fack.forward.max(acked);
        self.set_timer(host);
        self.end_timing(acked);
        self.rtt.sample(sent, host.now());
        self.note_completion(host.now());
        self.fack.forward = self.fack.forward.max(told.unwrap_or(-1));
        self.next = self.next.max(self.fack.forward + 1);
    }

    fn begin_forward_recovery<H: Host>(&mut self, host: &mut H) {
        self.recover = self.next;
        self.last_action = Action::DupAcks;
        self.report.fast_recoveries += 1;
        self.reduce(Reduce::One, true);
        self.restart_timer(false, host);
        self.fack.recovering = true;
        self.fack.board.mark(self.last_ack + 1, self.next);
        self.fack.resent += 1;
        self.output(self.last_ack + 1, host);
    }

    pub(super) fn on_fack_timeout<H: Host>(&mut self, host: &mut H) {
        let outstanding = self.highest_ack < self.max_sent;
        self.fack.forget();
        self.last_action = Action::Timeout;
        self.reduce(Reduce::One, outstanding);
        if outstanding {
            self.report.timeouts += u64::from(self.highest_ack >= 0);
        } else {
            self.cwnd = real(self.initial_window);
        }
        self.restart_timer(outstanding, host);
        self.fack.forward = self.last_ack;
        self.next = self.last_ack + 1;
        self.send_forward(host);
    }

    /// Sends what the window allows: holes first.
    pub(super) fn send_forward<H: Host>(&mut self, host: &mut H) {
        loop {
            let window = truncated(self.cwnd).min(self.window);
            if self.next > self.fack.forward + window - self.fack.resent || self.fack.waits {
                return;
            }
            let number = match self.fack.board.next_hole() {
                Some(hole) => {
                    self.fack.board.mark(hole, self.next);
                    self.fack.resent += 1;
                    hole
                }
                None => {
                    let beyond = self.fack.recovering && self.next > self.highest_ack + self.window;
                    if self.next >= self.produced || beyond {
                        return;
                    }
                    self.next += 1;
                    self.next - 1
                }
            };
            self.output(number, host);
        }
    }
}
