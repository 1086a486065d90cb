//! Which of many queues is the longest, without a look at all of them.

use sojourn_sim::to_usize as at;

/// How long a queue is, and which of equally long ones goes first: the one with the least `tie`. Both are below 2^48.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rank {
    /// In the unit that counts.
    pub length: u64,
    /// Least for the one that goes first.
    pub tie: u64,
}

/// A queue and its rank in one number: length, complement of the tie, index. The greatest goes first.
type Entry = u128;

impl Rank {
    /// The tie of a queue that goes last among equally long ones.
    pub const LAST: u64 = (1 << 48) - 1;
}

/// Children of a place in the heap: their entries fill a cache line.
const CHILDREN: usize = 4;

#[inline]
fn entry(rank: Rank, index: u32) -> Entry {
    debug_assert!(rank.length <= Rank::LAST && rank.tie <= Rank::LAST);
    u128::from(rank.length) << 80 | u128::from(Rank::LAST - rank.tie) << 32 | u128::from(index)
}

#[inline]
#[allow(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    reason = "the index is the low 32 bits"
)]
fn index_of(entry: Entry) -> u32 {
    entry as u32
}

/// Finds the longest queue: a heap of ranks that are never too low. A queue that grows moves up at once; one that shrinks,
/// or whose tie grows, is put right when it comes to the top, which each such change pays for once.
#[derive(Default)]
pub struct Longest {
    heap: Vec<Entry>,
    /// Where each queue stands in the heap.
    place: Vec<u32>,
}

impl Longest {
    /// One more queue, which is empty.
    pub fn add(&mut self) {
        let index = u32::try_from(self.place.len()).expect("fewer than 2^32 queues");
        self.place.push(index);
        let rank = Rank {
            length: 0,
            tie: Rank::LAST,
        };
        self.heap.push(entry(rank, index));
        self.sift_up(at(index), entry(rank, index));
    }

    /// The rank of a queue may have become higher.
    #[inline]
    pub fn raise(&mut self, index: u32, rank: Rank) {
        let place = at(self.place[at(index)]);
        let raised = entry(rank, index);
        if raised > self.heap[place] {
            self.sift_up(place, raised);
        }
    }

    /// The longest queue, where `now` tells the present rank of each.
    ///
    /// # Panics
    /// If there is no queue.
    pub fn top(&mut self, now: impl Fn(u32) -> Rank) -> u32 {
        loop {
            let index = index_of(self.heap[0]);
            let present = entry(now(index), index);
            if present == self.heap[0] {
                return index;
            }
            self.sift_down(present);
        }
    }

    #[inline(always)]
    fn put(&mut self, place: usize, entry: Entry) {
        if let (Some(there), Some(at)) = (
            self.heap.get_mut(place),
            self.place.get_mut(at(index_of(entry))),
        ) {
            *there = entry;
            *at = u32::try_from(place).unwrap_or(u32::MAX);
        }
    }

    /// Puts `entry` at `place` or above.
    fn sift_up(&mut self, mut place: usize, entry: Entry) {
        while place > 0 {
            let parent = (place - 1) / CHILDREN;
            let above = self.heap[parent];
            if entry < above {
                break;
            }
            self.put(place, above);
            place = parent;
        }
        self.put(place, entry);
    }

    /// Puts `entry` at the top or below.
    fn sift_down(&mut self, entry: Entry) {
        let mut place = 0;
        loop {
            let begin = CHILDREN * place + 1;
            let (first, child) = match self.heap.get(begin..begin + CHILDREN) {
                Some(&[a, b, c, d]) => {
                    let left = if b > a { (b, begin + 1) } else { (a, begin) };
                    let right = if d > c {
                        (d, begin + 3)
                    } else {
                        (c, begin + 2)
                    };
                    if right.0 > left.0 { right } else { left }
                }
                _ => {
                    let rest = self.heap.get(begin..).unwrap_or_default();
                    match rest.iter().copied().zip(begin..).max() {
                        Some(first) => first,
                        None => break,
                    }
                }
            };
            if first < entry {
                break;
            }
            self.put(place, first);
            place = child;
        }
        self.put(place, entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_sim::Stream;

    #[test]
    fn the_longest_of_ten_thousand_queues_is_found_without_a_scan() {
        let mut longest = Longest::default();
        let mut lengths = vec![0_u64; 10_000];
        lengths.iter().for_each(|_| longest.add());
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
