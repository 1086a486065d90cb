//! What ns-2's Sack1 sender remembers of selective acknowledgements: the blocks that acknowledgements carried, and from where on it looks for holes.
//!
//! ns-2.35 keeps them in the reassembly queue of its full TCP (`scoreboard-rq.h`, `rq.cc`), whose edge is what the queue takes as
//! received without a gap. The sink repeats blocks that lie below its cumulative acknowledgement; such a block draws the edge
//! back, and the next acknowledgement then counts as news although it tells none. The board does the same, as it decides
//! which duplicates are counted.

/// The blocks, in packets.
#[derive(Debug)]
pub(super) struct Board {
    /// First packet of each block and the packet after its last; in order, neither touching nor overlapping.
    blocks: Vec<(i64, i64)>,
    /// The packet after those that are taken as acknowledged without a gap.
    edge: i64,
    /// The first packet that has not been looked at for retransmission.
    next: i64,
    changed: bool,
}

impl Board {
    pub(super) fn new() -> Board {
        Board {
            blocks: Vec::new(),
            edge: -1,
            next: -1,
            changed: false,
        }
    }

    /// Forgets the blocks; the edge stays.
    pub(super) fn clear(&mut self) {
        self.blocks.clear();
        self.next = -1;
    }

    /// An acknowledgement of everything up to packet `acked` reports `blocks`.
    pub(super) fn update(&mut self, acked: i64, blocks: impl Iterator<Item = (i64, i64)>) {
        let before = self.packets();
        self.changed = false;
        if self.edge <= acked {
            self.edge = acked + 1;
            self.changed = !self.blocks.is_empty();
            self.clear_to_edge();
        }
        for block in blocks {
            self.add(block);
        }
        self.changed |= self.packets() != before;
    }

    /// Whether the last update told something new.
    pub(super) fn has_changed(&self) -> bool {
        self.changed
    }

    /// The next packet to retransmit: neither acknowledged nor looked at before, and below a block.
    pub(super) fn next_hole(&mut self) -> Option<i64> {
        self.next = self.next.max(self.edge);
        let last = self.blocks.last()?;
        let at = match self
            .blocks
            .iter()
            .find(|&&(first, end)| first > self.next || self.next <= end)
        {
            Some(&(first, end)) if first <= self.next => end,
            _ => self.next,
        };
        if at <= 0 || at >= last.0 {
            return None;
        }
        self.next = at;
        Some(at)
    }

    /// Packet `number` has been sent again.
    pub(super) fn mark(&mut self, number: i64) {
        self.next = self.next.max(number + 1);
    }

    fn packets(&self) -> i64 {
        self.blocks.iter().map(|(first, end)| end - first).sum()
    }

    fn clear_to_edge(&mut self) {
        let edge = self.edge;
        self.blocks.retain(|&(_, end)| end > edge);
        if let Some((first, _)) = self.blocks.first_mut() {
            *first = edge.max(*first);
        }
    }

    fn add(&mut self, (first, end): (i64, i64)) {
        if self.blocks.contains(&(first, end)) {
            return;
        }
        self.blocks.retain(|block| block.0 < first || end < block.1);
        let from = self.blocks.partition_point(|block| block.1 < first);
        let to = self.blocks.partition_point(|block| block.0 <= end);
        // One block has all of it, or is the lowest or highest and was only extended: ns-2 then looks at the lowest block.
        let extended = match self.blocks[from..to] {
            [(f, e)] if f < end && first < e => {
                (f <= first && end <= e)
                    || (from == 0 && first < f)
                    || (to == self.blocks.len() && e < end)
            }
            _ => false,
        };
        let merged = self.blocks[from..to]
            .iter()
            .fold((first, end), |(f, e), block| {
                (f.min(block.0), e.max(block.1))
            });
        self.blocks.splice(from..to, [merged]);
        let settled = match extended {
            true => self.blocks[0],
            false => merged,
        };
        if self.edge >= settled.0 {
            self.edge = settled.1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(acked: i64, blocks: &[(i64, i64)]) -> Board {
        let mut board = Board::new();
        board.update(acked, blocks.iter().copied());
        board
    }

    #[test]
    fn holes_below_a_block_are_found_once_each_and_in_order() {
        let mut board = board(4, &[(9, 12), (6, 7)]);
        let mut holes = vec![];
        while let Some(hole) = board.next_hole() {
            holes.push(hole);
            board.mark(hole);
        }
        assert_eq!(holes, [5, 7, 8]);
    }

    #[test]
    fn blocks_that_touch_or_overlap_become_one() {
        let mut board = board(0, &[(5, 7), (10, 12), (20, 25)]);
        board.update(0, [(7, 10), (12, 22)].into_iter());
        assert_eq!(board.blocks, [(5, 25)]);
        assert!(board.has_changed());
        board.update(0, [(6, 20)].into_iter());
        assert!(!board.has_changed(), "nothing that was not known");
    }

    #[test]
    fn a_block_below_the_acknowledgement_makes_the_next_duplicate_news() {
        let mut board = board(20, &[(23, 24)]);
        board.update(20, [(23, 24)].into_iter());
        assert!(!board.has_changed());
        board.update(20, [(23, 24), (5, 8)].into_iter());
        assert_eq!((board.edge, board.has_changed()), (8, true));
        board.update(20, [(23, 24)].into_iter());
        assert_eq!((board.edge, board.has_changed()), (21, true));
        assert_eq!(board.blocks, [(23, 24)]);
    }

    #[test]
    fn what_is_acknowledged_leaves_the_board() {
        let mut board = board(0, &[(2, 4), (6, 9)]);
        board.update(6, [].into_iter());
        assert_eq!(board.blocks, [(7, 9)]);
        board.clear();
        assert_eq!(board.next_hole(), None);
    }
}
