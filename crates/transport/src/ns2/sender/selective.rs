//! What the sender does with selective acknowledgements: ns-2's Agent/TCP/Sack1 (Fall and Floyd 1996, section 4).
//!
//! In fast recovery `pipe` estimates the packets under way; holes are filled, and then new packets sent, while it is below the
//! window. An acknowledgement that ends the recovery leaves the window as it is. As in ns-2.35 a partial acknowledgement
//! takes two packets off the pipe, blocks told with the acknowledgement that ends a recovery or between a timeout and
//! the next new acknowledgement are not looked at, and a retransmission that is lost waits for the timer.

use super::Ns2Sender;
use crate::app::Source;
use crate::ns2::num::truncated;
use sojourn_sim::{Flags, Host};
use std::cmp::Ordering;

impl<S: Source> Ns2Sender<S> {
    /// An acknowledgement of everything up to packet `acked` arrives with `blocks`.
    pub(super) fn receive_selective<H: Host>(
        &mut self,
        acked: i64,
        blocks: impl Iterator<Item = (i64, i64)>,
        flags: Flags,
        host: &mut H,
    ) {
        if self.selective.recovering {
            self.recover_selectively(acked, blocks, flags, host);
            self.send_selectively(host);
            return;
        }
        match acked.cmp(&self.last_ack) {
            Ordering::Greater => {
                self.on_full_ack(acked, flags, host);
                self.selective.on_new_ack();
            }
            Ordering::Equal if !self.selective.timed_out => {
                self.selective.board.update(self.highest_ack, blocks);
                if self.selective.board.has_changed() {
                    self.on_duplicate(host);
                }
            }
            Ordering::Equal | Ordering::Less => {}
        }
        if self.dupacks == 0 {
            self.send_selectively(host);
        }
    }

    fn recover_selectively<H: Host>(
        &mut self,
        acked: i64,
        blocks: impl Iterator<Item = (i64, i64)>,
        flags: Flags,
        host: &mut H,
    ) {
        self.selective.pipe -= 1;
        if acked >= self.recover {
            self.recover = 0;
            self.selective.recovering = false;
            self.take_new_ack(acked, flags, host);
            self.selective.on_new_ack();
            self.note_completion(host.now());
        } else if acked > self.highest_ack {
            self.advance(acked);
            self.selective.board.update(acked, blocks);
            self.selective.pipe -= 1;
            self.set_timer(host);
            self.rtt.end_back_off();
        } else if !self.selective.timed_out {
            self.selective.board.update(self.highest_ack, blocks);
            self.dupacks += i64::from(self.selective.board.has_changed() && self.dupacks > 0);
        }
    }

    /// The duplicates are enough: fast recovery begins. The caller has reduced the window.
    pub(super) fn begin_selective_recovery(&mut self) {
        self.selective.pipe = self.max_sent - self.highest_ack - self.dupack_threshold;
        self.selective.recovering = true;
        self.selective.board.mark(self.highest_ack + 1);
    }

    /// Sends what may be sent: holes first.
    pub(super) fn send_selectively<H: Host>(&mut self, host: &mut H) {
        loop {
            let window = self.send_window();
            let open = match self.selective.recovering {
                true => self.selective.pipe < truncated(self.cwnd),
                false => self.next <= self.last_ack + window,
            };
            if !open || self.last_ack + 1 >= self.produced {
                return;
            }
            let number = match self.selective.board.next_hole() {
                Some(hole) if self.recover > 0 && hole <= self.highest_ack + self.window => {
                    self.selective.board.mark(hole);
                    hole
                }
                Some(_) => return,
                None => {
                    let window = match self.selective.recovering {
                        true => self.window,
                        false => window,
                    };
                    if self.next > self.highest_ack + window || self.next >= self.produced {
                        return;
                    }
                    self.next
                }
            };
            self.output(number, host);
            self.next = self.next.max(number + 1);
            self.selective.pipe += 1;
        }
    }
}
