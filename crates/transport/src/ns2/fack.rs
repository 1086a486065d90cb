//! What a sender with forward acknowledgement knows: the furthest packet that has arrived, and what is missing below it.

use std::collections::VecDeque;

/// The state that only forward acknowledgement needs.
#[derive(Debug)]
pub(super) struct Fack {
    pub(super) recovering: bool,
    /// A retransmission was lost: only the timer goes on.
    pub(super) waits: bool,
    /// The furthest packet that has arrived.
    pub(super) forward: i64,
    /// Retransmissions under way.
    pub(super) resent: i64,
    pub(super) board: Board,
}

impl Fack {
    pub(super) fn new() -> Fack {
        Fack {
            recovering: false,
            waits: false,
            forward: -1,
            resent: 0,
            board: Board::default(),
        }
    }

    pub(super) fn forget(&mut self) {
        self.waits = false;
        self.resent = 0;
        self.board.packets.clear();
    }
}

/// What is known of the packets beyond the cumulative acknowledgement, up to the last that an acknowledgement carried.
#[derive(Debug, Default)]
pub(super) struct Board {
    /// The number of the first of `packets`.
    first: i64,
    packets: VecDeque<Told>,
}

/// What is known of a packet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Told {
    arrived: bool,
    /// It was sent again; the next new packet was to be this one then.
    again: Option<i64>,
}

impl Board {
    /// An acknowledgement of everything up to `acked` reports `blocks`; how many retransmissions have arrived.
    pub(super) fn update(&mut self, acked: i64, blocks: &[(i64, i64)]) -> i64 {
        let mut arrived = 0;
        while self.first <= acked
            && let Some(packet) = self.packets.pop_front()
        {
            arrived += i64::from(packet.again.is_some());
            self.first += 1;
        }
        if self.packets.is_empty() && !blocks.is_empty() {
            self.first = acked + 1;
            self.packets.push_back(Told::default());
        }
        for &(from, to) in blocks {
            let length = usize::try_from(to - self.first).unwrap_or(0);
            if self.packets.len() < length {
                self.packets.resize(length, Told::default());
            }
            let skipped = usize::try_from(from - self.first).unwrap_or(0);
            for packet in self.packets.iter_mut().take(length).skip(skipped) {
                packet.arrived = true;
                arrived += i64::from(packet.again.take().is_some());
            }
        }
        arrived
    }

    /// Whether a packet has arrived that was sent after a retransmission that is still missing.
    pub(super) fn has_lost_again(&mut self, blocks: &[(i64, i64)]) -> bool {
        let mut lost = false;
        for &(_, to) in blocks {
            let length = usize::try_from(to - self.first).unwrap_or(0);
            for packet in self.packets.iter_mut().take(length) {
                if packet.again.is_some_and(|next| next < to) {
                    packet.again = None;
                    lost = true;
                }
            }
        }
        lost
    }

    pub(super) fn next_hole(&self) -> Option<i64> {
        let hole = |packet: &Told| !packet.arrived && packet.again.is_none();
        let index = self.packets.iter().position(hole)?;
        Some(self.first + i64::try_from(index).unwrap_or(0))
    }

    /// Packet `number` is sent again when `next` would be the next new one.
    pub(super) fn mark(&mut self, number: i64, next: i64) {
        let index = usize::try_from(number - self.first).ok();
        if let Some(packet) = index.and_then(|index| self.packets.get_mut(index)) {
            packet.again = Some(next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_below_a_block_are_found_until_they_are_sent_again_or_arrive() {
        let mut board = Board::default();
        assert_eq!(board.update(4, &[(9, 12), (6, 7)]), 0);
        assert_eq!(board.next_hole(), Some(5));
        board.mark(5, 20);
        assert_eq!(board.next_hole(), Some(7));
        assert_eq!(board.update(5, &[(7, 12)]), 1, "the retransmission arrived");
        assert_eq!(board.next_hole(), None);
    }

    #[test]
    fn a_retransmission_is_lost_when_a_packet_that_was_sent_after_it_arrives() {
        let mut board = Board::default();
        board.update(4, &[(6, 12)]);
        board.mark(5, 12);
        assert!(!board.has_lost_again(&[(6, 12)]));
        board.update(4, &[(6, 13)]);
        assert!(board.has_lost_again(&[(6, 13)]));
        assert_eq!(board.next_hole(), Some(5));
    }
}
