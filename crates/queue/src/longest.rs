//! Which of many queues is the longest, without a look at all of them.

use crate::tournament::{Entry, Tournament};

/// How long a queue is, and which of equally long ones goes first: the one with the least `tie`, or index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rank {
    /// In the unit that counts; below 2^40.
    pub length: u64,
    /// Least for the one that goes first; below 2^48.
    pub tie: u64,
}

impl Rank {
    /// The greatest tie.
    pub const LAST: u64 = (1 << 48) - 1;
}

/// Bits of an index next to a length in 64 bits.
const INDEX_BITS: u32 = 24;
/// The greatest length.
const LONGEST: u64 = (1 << (64 - INDEX_BITS)) - 1;

/// The longest first.
trait Ranked: Entry {
    fn of(rank: Rank, index: u32) -> Self;
}

/// Complement of the length, index.
impl Ranked for u64 {
    #[inline]
    fn of(rank: Rank, index: u32) -> u64 {
        assert!(rank.length <= LONGEST, "queues below 2^40");
        (LONGEST - rank.length) << INDEX_BITS | u64::from(index)
    }
}

/// Complement of the length, tie, index.
impl Ranked for u128 {
    #[inline]
    fn of(rank: Rank, index: u32) -> u128 {
        debug_assert!(rank.length <= LONGEST && rank.tie <= Rank::LAST);
        u128::from(Rank::LAST - rank.length) << 80 | u128::from(rank.tie) << 32 | u128::from(index)
    }
}

/// Finds the longest queue, from ranks that are never too low. A queue that grows moves up at once; one that shrinks, or whose
/// tie grows, is put right when it comes to the top, which each such change pays for once.
pub struct Longest(Queues);

enum Queues {
    /// Of equally long queues the one of the lowest index goes first.
    ByIndex(Tournament<u64>),
    /// Of equally long queues the one of the least tie goes first.
    ByTie(Tournament<u128>),
}

impl Default for Longest {
    fn default() -> Longest {
        Longest(Queues::ByIndex(Tournament::default()))
    }
}

impl Longest {
    /// Where the tie of a rank may be another number than the index.
    pub fn by_tie() -> Longest {
        Longest(Queues::ByTie(Tournament::default()))
    }

    /// The rank of a queue may have become higher.
    #[inline(always)]
    pub fn raise(&mut self, index: u32, rank: Rank) {
        if rank.length == 0 {
            return;
        }
        match &mut self.0 {
            Queues::ByIndex(queues) => queues.lower(index, u64::of(rank, index)),
            Queues::ByTie(queues) => queues.lower(index, u128::of(rank, index)),
        }
    }

    /// The queue is empty. Who does not tell has it among the others until it comes to the top.
    #[inline]
    pub fn forget(&mut self, index: u32) {
        match &mut self.0 {
            Queues::ByIndex(queues) => queues.remove(index),
            Queues::ByTie(queues) => queues.remove(index),
        };
    }

    /// The longest queue, where `now` tells the present rank of each.
    ///
    /// # Panics
    /// If every queue is empty.
    #[inline]
    pub fn top(&mut self, now: impl Fn(u32) -> Rank) -> u32 {
        match &mut self.0 {
            Queues::ByIndex(queues) => top(queues, now),
            Queues::ByTie(queues) => top(queues, now),
        }
    }
}

fn top<E: Ranked>(queues: &mut Tournament<E>, now: impl Fn(u32) -> Rank) -> u32 {
    loop {
        let first = queues.first().expect("a queue that is not empty");
        let index = first.index();
        let rank = now(index);
        let present = E::of(rank, index);
        if present == first {
            return index;
        }
        match rank.length {
            0 => {
                queues.remove(index);
            }
            _ => queues.change_first(present),
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
