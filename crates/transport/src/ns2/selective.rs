//! What a sender knows by selective acknowledgements alone.

use super::board::Board;

/// The state that only selective acknowledgement needs.
#[derive(Debug)]
pub(super) struct Selective {
    pub(super) recovering: bool,
    /// Nothing new has been acknowledged since the timer fired.
    pub(super) timed_out: bool,
    /// Packets taken to be under way, in fast recovery.
    pub(super) pipe: i64,
    pub(super) board: Board,
}

impl Selective {
    pub(super) fn new() -> Selective {
        Selective {
            recovering: false,
            timed_out: false,
            pipe: 0,
            board: Board::new(),
        }
    }

    /// The timer has fired: the blocks are forgotten.
    pub(super) fn on_timeout(&mut self) {
        self.recovering = false;
        self.timed_out = true;
        self.board.clear();
    }

    pub(super) fn on_new_ack(&mut self) {
        self.timed_out = false;
        self.board.clear();
    }
}
