//! The order of time in a trace, and what is skipped where it is broken.
//!
//! A time that goes back says that one of two is wrong, and not which: the one that is too early, or the one before, which was too
//! late. Whoever trusts the one before loses all that follows to a single time far ahead. So what is read waits until [`AHEAD`] more
//! are there, and what stands in the way of more than itself is what is skipped: the first of those that wait stays if as many can be
//! put in order with it as without it (by the longest sequence that never falls; Schensted 1961). A run of wrong ones, shorter than
//! half of those that wait, costs itself alone. At the end of a trace nothing is left that could contradict: a last time far ahead is
//! taken for a pause.
//!
//! What stops at the first fault needs no such judgement, but hears of it before the one ahead of it is used, so that a wrong time
//! does not pass for the end that was asked for.

use std::collections::VecDeque;

/// Packets or lines that are read ahead where faults are skipped.
const AHEAD: usize = 64;

/// What was read and is not judged yet.
pub(super) struct Ordered<K, T> {
    waiting: VecDeque<(Option<K>, T)>,
    last: Option<K>,
    lenient: bool,
    /// Ends of sequences that never fall, by their length.
    ends: Vec<K>,
}

/// How something stands to the others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Standing<K> {
    /// In order, or without a time.
    Fits,
    /// Before this one, which was given earlier.
    Behind(K),
    /// Behind this one and others, which come later.
    Ahead(K),
}

impl<K: Copy + Ord, T> Ordered<K, T> {
    pub(super) fn new(lenient: bool) -> Ordered<K, T> {
        Ordered {
            waiting: VecDeque::new(),
            last: None,
            lenient,
            ends: Vec::new(),
        }
    }

    /// Whether more is to be read, if there is more, before [`Ordered::pop`].
    #[inline]
    pub(super) fn wants(&self) -> bool {
        self.waiting.len() < if self.lenient { AHEAD } else { 2 }
    }

    /// Adds what was read next; without a time, it has its place and no order.
    #[inline]
    pub(super) fn push(&mut self, time: Option<K>, item: T) {
        self.waiting.push_back((time, item));
    }

    /// What waits.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &T> {
        self.waiting.iter().map(|(_, item)| item)
    }

    /// The next, with how it stands to the others.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<(Standing<K>, T)> {
        let (time, item) = self.waiting.pop_front()?;
        let Some(time) = time else {
            return Some((Standing::Fits, item));
        };
        if let Some(last) = self.last.filter(|last| time < *last) {
            return Some((Standing::Behind(last), item));
        }
        // Where nothing that counts is earlier, nothing is in the way.
        let least = self.following().filter(|next| *next < time).min();
        if least.is_some() {
            if !self.lenient {
                let wrong = self
                    .waiting
                    .pop_front()
                    .map(|(_, item)| (Standing::Behind(time), item));
                return wrong;
            }
            if let Some(next) = self.in_the_way(time) {
                return Some((Standing::Ahead(next), item));
            }
        }
        self.last = Some(time);
        Some((Standing::Fits, item))
    }

    /// The times of those that wait and are not too early already; of one who stops at a fault, all.
    #[inline]
    fn following(&self) -> impl Iterator<Item = K> {
        let last = self.last.filter(|_| self.lenient);
        let times = self.waiting.iter().filter_map(|(time, _)| *time);
        times.filter(move |time| last.is_none_or(|last| *time >= last))
    }

    /// If more of what waits can be put in order without this time than with it: the next that it is in the way of.
    #[cold]
    fn in_the_way(&mut self, time: K) -> Option<K> {
        let mut ends = std::mem::take(&mut self.ends);
        let without = longest(self.following(), &mut ends);
        let with = 1 + longest(self.following().filter(|next| *next >= time), &mut ends);
        self.ends = ends;
        (with < without)
            .then(|| self.following().find(|next| *next < time))
            .flatten()
    }
}

/// The length of the longest sequence that never falls.
fn longest<K: Copy + Ord>(times: impl Iterator<Item = K>, ends: &mut Vec<K>) -> usize {
    ends.clear();
    for time in times {
        let place = ends.partition_point(|end| *end <= time);
        match ends.get_mut(place) {
            Some(end) => *end = time,
            None => ends.push(time),
        }
    }
    ends.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Places of those that are given and of those that are skipped.
    fn sorted(times: &[u64], lenient: bool) -> (Vec<usize>, Vec<usize>) {
        let mut ordered = Ordered::new(lenient);
        let (mut given, mut skipped) = (Vec::new(), Vec::new());
        let mut rest = times.iter().zip(0..);
        loop {
            while ordered.wants()
                && let Some((time, place)) = rest.next()
            {
                ordered.push(Some(*time), place);
            }
            match ordered.pop() {
                Some((Standing::Fits, place)) => given.push(place),
                Some((_, place)) => skipped.push(place),
                None => return (given, skipped),
            }
        }
    }

    #[test]
    fn the_one_that_stands_out_is_skipped_wherever_it_stands() {
        let mut times: Vec<u64> = (100..400).collect();
        for wrong in [0, 1_000_000] {
            for at in 1..298 {
                let right = std::mem::replace(&mut times[at], wrong);
                let (given, skipped) = sorted(&times, true);
                assert_eq!((given.len(), skipped), (299, vec![at]), "{wrong}");
                times[at] = right;
            }
        }
        times[0] = 1_000_000;
        assert_eq!(sorted(&times, true).1, [0]);
    }

    #[test]
    fn a_run_of_wrong_ones_costs_itself_alone() {
        let mut times: Vec<u64> = (0..500).collect();
        times[100..130].fill(9_000);
        times[300..330].fill(1);
        let wrong: Vec<usize> = (100..130).chain(300..330).collect();
        assert_eq!(sorted(&times, true).1, wrong);
    }

    #[test]
    fn who_stops_at_a_fault_hears_of_it_before_the_one_ahead_is_given() {
        let (given, skipped) = sorted(&[1, 2, 900, 3, 4], false);
        assert_eq!((given[..2].to_vec(), skipped[0]), (vec![0, 1], 3));
    }

    proptest! {
        #[test]
        fn what_is_given_is_in_order_and_nothing_is_lost(times in prop::collection::vec(0u64..300, 0..400)) {
            let (given, skipped) = sorted(&times, true);
            prop_assert_eq!(given.len() + skipped.len(), times.len());
            prop_assert!(given.windows(2).all(|pair| times[pair[0]] <= times[pair[1]]));
            let mut rising = times;
            rising.sort_unstable();
            prop_assert!(sorted(&rising, true).1.is_empty());
        }

        #[test]
        fn of_what_fits_into_sight_as_few_as_possible_are_skipped(times in prop::collection::vec(0u64..50, 0..AHEAD)) {
            let most = longest(times.iter().copied(), &mut Vec::new());
            prop_assert_eq!(sorted(&times, true).0.len(), most);
        }
    }
}
