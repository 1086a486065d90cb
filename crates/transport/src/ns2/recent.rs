//! What ns-2's Sack1 sink reports of packets that came early: the block of the last one, and those that it has told before.

/// At most this many blocks fit an acknowledgement of ns-2 (NSA).
pub(super) const MOST: usize = 3;

/// Blocks in packets, first and the one after the last; (0, 0) is none.
pub(super) type Blocks = [(u64, u64); MOST];

/// The blocks told last, the latest first. ns-2 keeps those that the cumulative acknowledgement has passed until a later one
/// covers them or nothing is missing, and goes on telling them.
#[derive(Debug)]
pub(super) struct Recent {
    told: Vec<(u64, u64)>,
    most: usize,
}

impl Recent {
    pub(super) fn new(most: u32) -> Recent {
        Recent {
            told: Vec::with_capacity(MOST),
            most: usize::try_from(most).unwrap_or(MOST).min(MOST),
        }
    }

    /// Nothing is missing.
    pub(super) fn clear(&mut self) {
        self.told.clear();
    }

    /// The blocks of the next acknowledgement. `latest` is the block of the packet that has just arrived, or what that
    /// packet has filled up to; an acknowledgement carries only a block that `is_early`, beyond a gap.
    pub(super) fn tell(&mut self, latest: (u64, u64), is_early: bool) -> Blocks {
        let mut blocks = Blocks::default();
        let mut count = 0;
        let mut put = |block| {
            blocks[count] = block;
            count += 1;
            count
        };
        let mut told = match is_early {
            true => put(latest),
            false => 0,
        };
        let mut index = 0;
        while told < self.most
            && let Some(&block) = self.told.get(index)
        {
            if latest.0 <= block.0 && block.1 <= latest.1 {
                self.told.remove(index);
            } else {
                told = put(block);
                index += 1;
            }
        }
        if is_early {
            self.told.truncate(self.most - 1);
            self.told.insert(0, latest);
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_block_comes_first_and_takes_the_place_of_those_that_it_covers() {
        let mut recent = Recent::new(3);
        assert_eq!(recent.tell((5, 6), true), [(5, 6), (0, 0), (0, 0)]);
        assert_eq!(recent.tell((9, 10), true), [(9, 10), (5, 6), (0, 0)]);
        assert_eq!(recent.tell((9, 11), true), [(9, 11), (5, 6), (0, 0)]);
        assert_eq!(recent.tell((20, 21), true), [(20, 21), (9, 11), (5, 6)]);
        assert_eq!(recent.tell((30, 31), true), [(30, 31), (20, 21), (9, 11)]);
        assert_eq!(recent.tell((40, 41), true), [(40, 41), (30, 31), (20, 21)]);
    }

    #[test]
    fn a_packet_that_fills_a_gap_tells_the_blocks_of_before() {
        let mut recent = Recent::new(3);
        recent.tell((5, 6), true);
        recent.tell((9, 10), true);
        assert_eq!(recent.tell((0, 6), false), [(9, 10), (0, 0), (0, 0)]);
        recent.clear();
        assert_eq!(recent.tell((0, 6), false), Blocks::default());
    }
}
