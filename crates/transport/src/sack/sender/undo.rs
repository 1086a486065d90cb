//! Undoing a needless reduction.
//!
//! Sources: RFC 3522 (Eifel detection, by timestamps), RFC 3708 (by duplicates that the receiver reports), Linux 6.1: tcp_try_undo_recovery.

use super::SackSender;
use super::state::{Event, UndoState};
use crate::app::Source;
use sojourn_cc::{CongestionControl, Undo};
use sojourn_units::Time;

impl<S: Source> SackSender<S> {
    /// Keeps what the window is before it falls (RFC 4015 section 3). `allowed`: it may be restored.
    pub(super) fn begin_undo(&mut self, now: Time, allowed: bool) {
        self.undo_retransmissions =
            (self.board.retransmitted() > 0).then(|| self.board.retransmitted() / self.mss);
        self.undo = UndoState::Tracking {
            from: self.una,
            restore: (allowed && self.options.undo).then(|| Undo {
                now,
                cwnd: self.cwnd(),
                ssthresh: self.cc.ssthresh(),
            }),
        };
    }

    /// The acknowledgement answers to a segment that was sent before the first retransmission (RFC 3522).
    fn is_early(&self, event: &Event) -> bool {
        match (event.stamp, self.first_retransmission) {
            (Some(stamp), Some(resent)) => stamp < resent,
            _ => false,
        }
    }

    /// Every retransmission was reported as a duplicate (RFC 3708).
    pub(super) fn undone_by_duplicates(&self) -> bool {
        self.undo.is_tracking() && self.undo_retransmissions == Some(0)
    }

    /// Either sign is there.
    pub(super) fn may_undo(&self, event: &Event) -> bool {
        self.undo.is_tracking() && (self.undone_by_duplicates() || self.is_early(event))
    }

    /// Restores the window if that is `allowed`.
    pub(super) fn try_undo(&mut self, allowed: bool, now: Time) {
        if !allowed || !self.options.undo {
            return;
        }
        if let UndoState::Tracking {
            restore: Some(undo),
            ..
        } = self.undo
        {
            self.cc.on_undo(&Undo { now, ..undo });
            self.cold.report.undone += 1;
        }
        self.undo = UndoState::Off;
        self.reducing = false;
    }

    /// A partial acknowledgement of what was sent before the first retransmission; true if nothing else is to be done.
    pub(super) fn try_undo_partial(&mut self, event: &Event) -> bool {
        if !self.undo.is_tracking() || !self.is_early(event) || !self.options.undo {
            return false;
        }
        self.rack.on_reordering();
        if self.board.retransmitted() > 0 {
            return true;
        }
        self.try_undo(true, event.now);
        self.board.unlose();
        self.finish_reduction(event.now);
        self.keep_open(event.now);
        true
    }
}
