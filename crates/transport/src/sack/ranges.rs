//! Ranges of bytes that a receiver holds behind a gap, and the blocks by which it reports them.
//!
//! Source: RFC 2018 section 4: the first block holds what arrived last, then the blocks reported most recently.

use std::collections::VecDeque;

/// Blocks that are remembered for telling.
const TOLD: usize = 4;

/// Ranges behind a gap.
#[derive(Clone, Debug, Default)]
pub(crate) struct Held {
    /// First byte, one past the last; in order, apart from each other.
    ranges: VecDeque<(u64, u64)>,
    /// The same ranges by how recently they grew; the first `told` are set.
    recent: [(u64, u64); TOLD],
    told: usize,
    /// A block grows by those that were reported beside it, not by all that is held (ns-3, TcpRxBuffer::UpdateSackList).
    forgetful: bool,
}

impl Held {
    /// Ranges of a receiver that forgets older blocks, if `forgetful`.
    pub(crate) fn new(forgetful: bool) -> Held {
        Held {
            forgetful,
            ..Held::default()
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.ranges.iter().map(|(first, end)| end - first).sum()
    }

    /// The blocks to report.
    pub(crate) fn blocks(&self) -> &[(u64, u64)] {
        &self.recent[..self.told]
    }

    /// Keeps a range; false if all of it is held already.
    pub(crate) fn insert(&mut self, first: u64, end: u64) -> bool {
        // Most segments continue the last range, so the search begins there.
        let mut low = self.ranges.len();
        while low > 0 && self.ranges[low - 1].1 >= first {
            low -= 1;
        }
        let mut high = low;
        let (mut merged_first, mut merged_end) = (first, end);
        while high < self.ranges.len() && self.ranges[high].0 <= end {
            let (other_first, other_end) = self.ranges[high];
            if other_first <= first && end <= other_end {
                return false;
            }
            merged_first = merged_first.min(other_first);
            merged_end = merged_end.max(other_end);
            high += 1;
        }
        if low == high {
            self.ranges.insert(low, (first, end));
        } else {
            self.ranges[low] = (merged_first, merged_end);
            if high - low > 1 {
                self.ranges.drain(low + 1..high);
            }
        }
        if self.forgetful {
            (merged_first, merged_end) = self.grown(first, end);
        }
        self.tell(merged_first, merged_end);
        true
    }

    /// A range with the told blocks that adjoin it.
    fn grown(&self, mut first: u64, mut end: u64) -> (u64, u64) {
        for block in self.blocks() {
            if block.1 == first {
                first = block.0;
            } else if block.0 == end {
                end = block.1;
            }
        }
        (first, end)
    }

    /// The range becomes the first block; blocks inside it go.
    fn tell(&mut self, first: u64, end: u64) {
        let mut kept = 0;
        let mut blocks = [(0, 0); TOLD];
        for block in &self.recent[..self.told] {
            if (block.0 < first || block.1 > end) && kept + 1 < TOLD {
                blocks[kept + 1] = *block;
                kept += 1;
            }
        }
        blocks[0] = (first, end);
        self.recent = blocks;
        self.told = kept + 1;
    }

    /// Everything below `next` has arrived: the byte up to which there is no gap.
    pub(crate) fn release(&mut self, mut next: u64) -> u64 {
        while let Some(&(first, end)) = self.ranges.front()
            && first <= next
        {
            next = next.max(end);
            self.ranges.pop_front();
        }
        let mut kept = 0;
        for index in 0..self.told {
            if self.recent[index].0 > next {
                self.recent[kept] = self.recent[index];
                kept += 1;
            }
        }
        self.told = kept;
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_block_holds_what_arrived_last() {
        let mut held = Held::default();
        assert!(held.insert(20, 30) && held.insert(40, 50));
        assert_eq!(held.blocks(), [(40, 50), (20, 30)]);
        assert!(held.insert(30, 35));
        assert_eq!(held.blocks(), [(20, 35), (40, 50)]);
        assert!(!held.insert(21, 29));
        assert!(held.insert(35, 40));
        assert_eq!(held.blocks(), [(20, 50)]);
        assert_eq!((held.bytes(), held.release(20)), (30, 50));
        assert!(held.is_empty() && held.blocks().is_empty());
    }

    #[test]
    fn a_forgetful_receiver_tells_only_of_what_it_has_told_of_lately() {
        let mut held = Held::new(true);
        for n in 0..6 {
            held.insert(10 * n, 10 * n + 5);
        }
        assert!(held.insert(5, 10) && held.insert(45, 50));
        assert_eq!(held.blocks(), [(40, 55), (5, 10), (30, 35)]);
        assert_eq!((held.bytes(), held.release(0)), (40, 15));
    }

    #[test]
    fn only_the_four_most_recent_blocks_are_remembered() {
        let mut held = Held::default();
        for n in 0..6 {
            held.insert(10 * n, 10 * n + 5);
        }
        assert_eq!(held.blocks(), [(50, 55), (40, 45), (30, 35), (20, 25)]);
        assert_eq!(held.release(10), 15);
        assert_eq!(held.blocks().len(), 4);
        assert_eq!(held.release(40), 45);
        assert_eq!(held.blocks(), [(50, 55)]);
    }
}
