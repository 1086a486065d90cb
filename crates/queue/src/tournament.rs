//! Which of many queues comes first, by a number that each has: a tournament in which the lesser of two wins.
//!
//! A tree of matches (D. Knuth, The Art of Computer Programming, volume 3, section 5.4.1) instead of a heap: who plays
//! against a changed entry is known from its place alone. A queue takes the place that was left last, so that the tree is as
//! large as the number of queues that are in it at once, however many there are.

use sojourn_sim::to_usize as at;

/// A key in the high 96 bits, and the index of its queue in the low 32: no two are equal. The least wins.
pub(crate) type Entry = u128;

/// In place of an entry where there is none: more than every entry.
const NOBODY: Entry = Entry::MAX;

/// No place.
const NOWHERE: u32 = u32::MAX;

/// Places before the first queue comes.
const FIRST_PLACES: usize = 8;

/// The index of the queue of an entry.
#[inline]
#[allow(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    reason = "the index is the low 32 bits"
)]
pub(crate) fn index_of(entry: Entry) -> u32 {
    entry as u32
}

/// Entries of queues, at most one for each.
#[derive(Default)]
pub(crate) struct Tournament {
    /// The winners of matches: those of places 2 i and 2 i + 1 play for place i, the winner of all is at 1. The second half
    /// are the entries themselves.
    winners: Vec<Entry>,
    /// Where the entry of each queue is in the second half; [`NOWHERE`] if it has none.
    places: Vec<u32>,
    /// Places without an entry, the one left last at the end.
    free: Vec<u32>,
}

impl Tournament {
    /// The least entry.
    #[inline]
    pub(crate) fn first(&self) -> Option<Entry> {
        let first = *self.winners.get(1)?;
        (first != NOBODY).then_some(first)
    }

    /// The entry of a queue.
    #[inline]
    pub(crate) fn get(&self, index: u32) -> Option<Entry> {
        let place = *self.places.get(at(index))?;
        self.winners.get(at(place)).copied()
    }

    /// Puts an entry in place of the one that its queue has, if it has one.
    #[inline]
    pub(crate) fn set(&mut self, entry: Entry) {
        match self.places.get(at(index_of(entry))) {
            Some(&place) if place != NOWHERE => self.play(at(place), entry),
            _ => self.enter(entry),
        }
    }

    /// Takes the entry of a queue out; false if it has none.
    #[inline]
    pub(crate) fn remove(&mut self, index: u32) -> bool {
        let place = match self.places.get_mut(at(index)) {
            Some(place) if *place != NOWHERE => std::mem::replace(place, NOWHERE),
            _ => return false,
        };
        self.free.push(place);
        self.play(at(place), NOBODY);
        true
    }

    /// Takes all entries out.
    pub(crate) fn clear(&mut self) {
        while let Some(first) = self.first() {
            self.remove(index_of(first));
        }
    }

    fn enter(&mut self, entry: Entry) {
        let index = at(index_of(entry));
        if index >= self.places.len() {
            self.places.resize(index + 1, NOWHERE);
        }
        if self.free.is_empty() {
            self.grow();
        }
        if let Some(place) = self.free.pop() {
            self.places[index] = place;
            self.play(at(place), entry);
        }
    }

    /// Makes place for twice as many.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let half = (self.winners.len() / 2).max(FIRST_PLACES / 2);
        let entries: Vec<Entry> = match self.winners.get(half..) {
            Some(entries) => entries.to_vec(),
            None => Vec::new(),
        };
        self.winners.clear();
        self.winners.resize(4 * half, NOBODY);
        self.free.clear();
        for place in (2 * half..4 * half).rev() {
            let entry = entries.get(place - 2 * half).copied();
            let number = u32::try_from(place).expect("fewer than 2^32 queues");
            match entry.filter(|entry| *entry != NOBODY) {
                Some(entry) => {
                    self.places[at(index_of(entry))] = number;
                    self.play(place, entry);
                }
                None => self.free.push(number),
            }
        }
    }

    /// Puts an entry into a place, and repeats the matches whose outcome that may change.
    #[inline(always)]
    fn play(&mut self, mut place: usize, entry: Entry) {
        if let Some(there) = self.winners.get_mut(place) {
            *there = entry;
        }
        let mut winner = entry;
        while place > 1 {
            if let Some(&other) = self.winners.get(place ^ 1) {
                winner = winner.min(other);
            }
            place /= 2;
            match self.winners.get_mut(place) {
                Some(before) if *before != winner => *before = winner,
                _ => break,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_sim::Stream;
    use std::collections::BTreeSet;

    #[test]
    fn it_orders_as_a_sorted_set_does() {
        let mut rng = Stream::derive(1, 0, "tournament");
        let (mut tree, mut set) = (Tournament::default(), BTreeSet::new());
        let mut entries: Vec<Option<Entry>> = vec![None; 60];
        for step in 0..50_000 {
            let index = u32::try_from(rng.below(60)).expect("small");
            let old = entries[at(index)].take();
            assert_eq!(tree.get(index), old);
            let was = old.is_some_and(|entry| set.remove(&entry));
            if rng.below(3) == 0 {
                assert_eq!(tree.remove(index), was);
            } else {
                let entry = u128::from(rng.below(40)) << 32 | u128::from(index);
                tree.set(entry);
                set.insert(entry);
                entries[at(index)] = Some(entry);
            }
            assert_eq!(tree.first(), set.first().copied());
            if step % 5000 == 4999 {
                tree.clear();
                set.clear();
                entries.fill(None);
                assert_eq!(tree.first(), None);
            }
        }
    }

    #[test]
    fn it_is_as_large_as_the_number_of_queues_in_it() {
        let mut tree = Tournament::default();
        for index in 0..10_000 {
            tree.set(u128::from(index));
            if index >= 10 {
                assert!(tree.remove(index - 10));
            }
        }
        assert_eq!(tree.winners.len(), 32);
        assert_eq!(tree.first(), Some(9_990));
    }
}
