//! Which of many queues is the longest, without a look at all of them.

use sojourn_sim::to_usize as at;

/// How long a queue is, and which of equally long ones goes first: the one with the least `tie`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rank {
    /// In the unit that counts.
    pub length: u64,
    /// Least for the one that goes first.
    pub tie: u64,
}

impl Rank {
    fn goes_before(&self, other: &Rank) -> bool {
        (self.length, other.tie) > (other.length, self.tie)
    }
}

/// Finds the longest queue: a heap of ranks that are never too low. A queue that grows moves up at once; one that shrinks,
/// or whose tie grows, is put right when it comes to the top, which each such change pays for once.
#[derive(Default)]
pub struct Longest {
    heap: Vec<(Rank, u32)>,
    /// Where each queue stands in the heap.
    place: Vec<usize>,
}

impl Longest {
    /// One more queue, which is empty.
    pub fn add(&mut self) {
        let index = u32::try_from(self.place.len()).expect("fewer than 2^32 queues");
        self.place.push(self.heap.len());
        let rank = Rank {
            length: 0,
            tie: u64::MAX,
        };
        self.heap.push((rank, index));
    }

    /// The rank of a queue may have become higher.
    #[inline]
    pub fn raise(&mut self, index: u32, rank: Rank) {
        let place = self.place[at(index)];
        if rank.goes_before(&self.heap[place].0) {
            self.heap[place].0 = rank;
            self.sift_up(place);
        }
    }

    /// The longest queue, where `now` tells the present rank of each.
    ///
    /// # Panics
    /// If there is no queue.
    pub fn top(&mut self, now: impl Fn(u32) -> Rank) -> u32 {
        loop {
            let (rank, index) = self.heap[0];
            let present = now(index);
            if present == rank {
                return index;
            }
            self.heap[0].0 = present;
            self.sift_down();
        }
    }

    fn sift_up(&mut self, mut place: usize) {
        while place > 0 {
            let parent = (place - 1) / 2;
            if !self.heap[place].0.goes_before(&self.heap[parent].0) {
                break;
            }
            self.swap(place, parent);
            place = parent;
        }
    }

    fn sift_down(&mut self) {
        let mut place = 0;
        loop {
            let mut first = place;
            for child in [2 * place + 1, 2 * place + 2] {
                if child < self.heap.len() && self.heap[child].0.goes_before(&self.heap[first].0) {
                    first = child;
                }
            }
            if first == place {
                break;
            }
            self.swap(place, first);
            place = first;
        }
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.heap.swap(a, b);
        self.place[at(self.heap[a].1)] = a;
        self.place[at(self.heap[b].1)] = b;
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
