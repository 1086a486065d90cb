//! Which of many queues is the longest, without a look at all of them.

use crate::tournament::{Entry, Tournament, index_of};

/// How long a queue is, and which of equally long ones goes first: the one with the least `tie`. Both are below 2^48.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rank {
    /// In the unit that counts.
    pub length: u64,
    /// Least for the one that goes first.
    pub tie: u64,
}

impl Rank {
    /// The greatest tie.
    pub const LAST: u64 = (1 << 48) - 1;
}

/// The longest first: complement of the length, tie, index.
#[inline]
fn entry(rank: Rank, index: u32) -> Entry {
    debug_assert!(rank.length <= Rank::LAST && rank.tie <= Rank::LAST);
    u128::from(Rank::LAST - rank.length) << 80 | u128::from(rank.tie) << 32 | u128::from(index)
}

/// Finds the longest queue, from ranks that are never too low. A queue that grows moves up at once; one that shrinks, or whose
/// tie grows, is put right when it comes to the top, which each such change pays for once.
#[derive(Default)]
pub struct Longest(Tournament);

impl Longest {
    /// The rank of a queue may have become higher.
    #[inline]
    pub fn raise(&mut self, index: u32, rank: Rank) {
        let raised = entry(rank, index);
        if rank.length > 0 && self.0.get(index).is_none_or(|before| raised < before) {
            self.0.set(raised);
        }
    }

    /// The queue is empty. Who does not tell has it among the others until it comes to the top.
    #[inline]
    pub fn forget(&mut self, index: u32) {
        self.0.remove(index);
    }

    /// The longest queue, where `now` tells the present rank of each.
    ///
    /// # Panics
    /// If every queue is empty.
    pub fn top(&mut self, now: impl Fn(u32) -> Rank) -> u32 {
        loop {
            let first = self.0.first().expect("a queue that is not empty");
            let index = index_of(first);
            let rank = now(index);
            let present = entry(rank, index);
            if present == first {
                return index;
            }
            match rank.length {
                0 => {
                    self.0.remove(index);
                }
                _ => self.0.set(present),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_sim::{Stream, to_usize as at};

    #[test]
    fn the_longest_of_ten_thousand_queues_is_found_without_a_scan() {
        let mut longest = Longest::default();
        let mut lengths = vec![0_u64; 10_000];
        let rank = |lengths: &[u64], index: u32| Rank {
            length: lengths[at(index)],
            tie: u64::from(index),
        };
        let mut rng = Stream::derive(1, 0, "lengths");
        let looks = std::cell::Cell::new(0_u32);
        for step in 0..100_000_u32 {
            let grows = u32::try_from(rng.below(10_000)).expect("small");
            lengths[at(grows)] += 1500;
            longest.raise(grows, rank(&lengths, grows));
            let shrinks = usize::try_from(rng.below(10_000)).expect("small");
            lengths[shrinks] = lengths[shrinks].saturating_sub(1500);
            if step % 2 == 1 {
                let victim = longest.top(|index| {
                    looks.set(looks.get() + 1);
                    rank(&lengths, index)
                });
                assert_eq!(Some(&lengths[at(victim)]), lengths.iter().max());
                lengths[at(victim)] -= 1500;
            }
        }
        // One look finds it, and one more for each change before.
        assert!(looks.get() < 200_000, "{}", looks.get());
    }
}
