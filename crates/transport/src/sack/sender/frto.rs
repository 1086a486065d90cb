//! F-RTO: whether a retransmission timeout was spurious.
//!
//! Sources: RFC 5682 section 3.1 (with selective acknowledgement), Linux 6.1: tcp_process_loss.

use super::SackSender;
use super::state::{Event, FrtoState};
use crate::app::Source;
use sojourn_cc::Phase;

impl<S: Source> SackSender<S> {
    /// Loss after a timeout (RFC 5682 section 3.1; tcp_process_loss).
    pub(super) fn in_loss(&mut self, event: &mut Event) {
        let now = event.now;
        let recovered = self.una >= self.high;
        if event.acked > 0 && self.may_undo(event) {
            self.try_undo(true, now);
            self.board.unlose();
            self.set_phase(Phase::Open, now);
            return;
        }
        if self.frto != FrtoState::Idle {
            let spurious = match self.options.linux {
                true => self.examine_as_linux(event, recovered),
                false => self.examine(event, recovered),
            };
            if spurious {
                self.try_undo(true, now);
                self.board.unlose();
                self.set_phase(Phase::Open, now);
                return;
            }
        }
        // Everything sent before the timeout is acknowledged: the repair is over.
        if recovered {
            self.try_undo(self.may_undo(event), now);
            self.set_phase(Phase::Open, now);
        }
    }

    /// What an acknowledgement after a timeout says of it (RFC 5682 section 3.1, steps 2 and 3); true if it was spurious.
    fn examine(&mut self, event: &Event, recovered: bool) -> bool {
        if self.frto == FrtoState::Retransmitted {
            if event.acked == 0 {
                // What duplicates tell is noted, and the retransmission waited for.
                return false;
            }
            // Step 2b: an acknowledgement of new data, and new data goes out in answer. Step 2a: one that covers all that was sent before the timeout, or no
            // new data to send, leaves the question open, and losses are repaired.
            self.high = self.nxt;
            self.frto = if !recovered && self.may_send_new() {
                FrtoState::NewDataSent
            } else {
                FrtoState::Idle
            };
            return false;
        }
        if event.acked == 0 && !event.sacked && !event.duplicate {
            return false;
        }
        // Step 3b: something is acknowledged that was not sent again, and nothing above it is reported: the timeout was spurious. Step 3a: otherwise it was not.
        self.frto = FrtoState::Idle;
        let beyond = self.una.max(self.board.highest()) > self.high;
        event.original && !beyond && self.options.undo && self.undo.may_restore()
    }

    /// The same where whatever was not sent again and arrives will do, even with the retransmission (tcp_process_loss).
    fn examine_as_linux(&mut self, event: &Event, recovered: bool) -> bool {
        if event.original && self.options.undo && self.undo.may_restore() {
            return true;
        }
        if self.nxt > self.high {
            if event.sacked || event.acked == 0 {
                self.frto = FrtoState::Idle;
            }
        } else if event.acked > 0 && !recovered {
            self.high = self.nxt;
            // New data goes out in place of retransmissions.
            if !self.may_send_new() {
                self.frto = FrtoState::Idle;
            }
        } else if event.acked == 0 {
            self.frto = FrtoState::Idle;
        }
        false
    }
}
