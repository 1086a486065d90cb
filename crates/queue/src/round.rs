//! Queues that take turns, and may leave the round before their turn comes.

use sojourn_sim::to_usize as at;
use std::collections::VecDeque;

/// A round of queues, each in it at most once.
#[derive(Default)]
pub struct Round {
    /// Queues, the one in turn first. Entries of queues that have left stay until they come to the front.
    order: VecDeque<u32>,
    /// Stale entries of each queue; they precede its valid one, if there is one.
    left: Vec<u32>,
    /// Stale entries of all queues.
    all_left: usize,
}

/// Up to this number, useless entries are not swept up.
const FEW: usize = 64;

impl Round {
    /// The queue in turn.
    #[inline(always)]
    pub fn front(&self) -> Option<u32> {
        self.order.front().copied()
    }

    /// Queues in the round.
    #[inline]
    pub fn len(&self) -> usize {
        self.order.len() - self.all_left
    }

    /// True without queues.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// A queue that is not in the round joins it at the end.
    #[inline]
    pub fn join(&mut self, index: u32) {
        self.order.push_back(index);
    }

    /// The queue in turn goes to the end.
    #[inline]
    pub fn rotate(&mut self) {
        if let Some(front) = self.order.pop_front() {
            self.order.push_back(front);
        }
        self.tidy();
    }

    /// The queue in turn leaves the round.
    #[inline]
    pub fn retire(&mut self) {
        self.order.pop_front();
        self.tidy();
    }

    /// A queue of the round leaves it, wherever it stands.
    pub fn leave(&mut self, index: u32) {
        if self.front() == Some(index) {
            return self.retire();
        }
        if at(index) >= self.left.len() {
            self.left.resize(at(index) + 1, 0);
        }
        self.left[at(index)] += 1;
        self.all_left += 1;
        if self.all_left > self.len() + FEW {
            self.sweep();
        }
    }

    /// All queues leave the round.
    pub fn clear(&mut self) {
        self.order.clear();
        self.left.clear();
        self.all_left = 0;
    }

    /// Takes useless entries from the front.
    #[inline(always)]
    fn tidy(&mut self) {
        if self.all_left > 0 {
            self.tidy_front();
        }
    }

    #[inline(never)]
    fn tidy_front(&mut self) {
        while let Some(front) = self.front()
            && let Some(left) = self.left.get_mut(at(front))
            && *left > 0
        {
            *left -= 1;
            self.all_left -= 1;
            self.order.pop_front();
        }
    }

    /// Takes all useless entries out.
    #[cold]
    fn sweep(&mut self) {
        let left = &mut self.left;
        self.order.retain(|index| match left.get_mut(at(*index)) {
            Some(left) if *left > 0 => {
                *left -= 1;
                false
            }
            _ => true,
        });
        self.all_left = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_sim::Stream;

    #[test]
    fn it_does_what_a_list_does_from_which_queues_are_taken() {
        let mut rng = Stream::derive(1, 0, "round");
        let (mut round, mut list) = (Round::default(), VecDeque::new());
        for step in 0..200_000_u32 {
            let index = u32::try_from(rng.below(40)).expect("small");
            match rng.below(8) {
                0..4 if !list.contains(&index) => {
                    round.join(index);
                    list.push_back(index);
                }
                4 | 5 if list.contains(&index) => {
                    round.leave(index);
                    list.retain(|listed| *listed != index);
                }
                6 if !list.is_empty() => {
                    round.rotate();
                    list.rotate_left(1);
                }
                7 if step % 3 == 0 => {
                    round.retire();
                    list.pop_front();
                }
                _ => {}
            }
            assert_eq!(round.front(), list.front().copied());
            assert_eq!(
                (round.len(), round.is_empty()),
                (list.len(), list.is_empty())
            );
            assert!(round.order.len() <= 2 * list.len() + FEW + 1);
            if step % 20_000 == 19_999 {
                round.clear();
                list.clear();
            }
        }
    }
}
