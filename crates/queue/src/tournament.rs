//! Which of many queues comes first, by a number that each has: a tournament in which the lesser of two wins.
//!
//! A tree of matches (D. Knuth, The Art of Computer Programming, volume 3, section 5.4.1) instead of a heap: who plays
//! against a changed entry is known from its place alone. A queue takes the place that was left last, so that the tree is as
//! large as the number of queues that are in it at once, however many there are.

use sojourn_sim::to_usize as at;

/// A key in the high bits, and the index of its queue in the low ones: no two are equal. The least wins.
pub(crate) trait Entry: Copy + Ord {
    /// In place of an entry where there is none: more than every entry.
    const NOBODY: Self;

    /// The index of the queue.
    fn index(self) -> u32;
}

/// A key of 96 bits and an index of 32.
impl Entry for u128 {
    const NOBODY: u128 = u128::MAX;

    #[inline]
    #[allow(
        clippy::as_conversions,
        clippy::cast_possible_truncation,
        reason = "the index is the low 32 bits"
    )]
    fn index(self) -> u32 {
        self as u32
    }
}

/// A key of 40 bits and an index of 24.
impl Entry for u64 {
    const NOBODY: u64 = u64::MAX;

    #[inline]
    #[allow(
        clippy::as_conversions,
        clippy::cast_possible_truncation,
        reason = "the index is the low 24 bits"
    )]
    fn index(self) -> u32 {
        self as u32 & 0xff_ffff
    }
}

/// No place.
const NOWHERE: u32 = u32::MAX;

/// Places before the first queue comes.
const FIRST_PLACES: usize = 8;

/// Entries of queues, at most one for each.
pub(crate) struct Tournament<E> {
    /// The matches: that of pair i is between places 2 i and 2 i + 1, and its winner stands at place i, which is in pair i / 2; the
    /// winner of all is at place 1. The second half are the entries themselves. Place 0 is not used.
    pairs: Vec<[E; 2]>,
    /// Where the entry of each queue is in the second half; [`NOWHERE`] if it has none.
    places: Vec<u32>,
    /// Places without an entry, the one left last at the end.
    free: Vec<u32>,
}

impl<E> Default for Tournament<E> {
    fn default() -> Self {
        Tournament {
            pairs: Vec::new(),
            places: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<E: Entry> Tournament<E> {
    /// The least entry.
    #[inline]
    pub(crate) fn first(&self) -> Option<E> {
        let [_, first] = *self.pairs.first()?;
        (first != E::NOBODY).then_some(first)
    }

    /// The entry of a queue.
    #[cfg(test)]
    fn get(&self, index: u32) -> Option<E> {
        let place = at(*self.places.get(at(index))?);
        Some(self.pairs.get(place / 2)?[place & 1])
    }

    /// Puts an entry in place of the one that its queue has, if it has one.
    #[inline]
    pub(crate) fn set(&mut self, entry: E) {
        match self.places.get(at(entry.index())) {
            Some(&place) if place != NOWHERE => self.play(at(place), entry),
            _ => self.enter(entry),
        }
    }

    /// As [`Tournament::set`], unless the queue has a lesser entry.
    #[inline(always)]
    pub(crate) fn lower(&mut self, entry: E) {
        match self.places.get(at(entry.index())) {
            Some(&place) if place != NOWHERE => {
                let place = at(place);
                let before = self.pairs.get(place / 2).map(|pair| pair[place & 1]);
                if before.is_some_and(|before| entry < before) {
                    self.replay(place, entry);
                }
            }
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
        self.play(at(place), E::NOBODY);
        true
    }

    /// Takes all entries out.
    pub(crate) fn clear(&mut self) {
        while let Some(first) = self.first() {
            self.remove(first.index());
        }
    }

    #[inline(never)]
    fn enter(&mut self, entry: E) {
        let index = at(entry.index());
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
        let before = self.pairs.len();
        let entries: Vec<E> = self.pairs[before / 2..].iter().flatten().copied().collect();
        let places = (2 * before).max(FIRST_PLACES);
        self.pairs.clear();
        self.pairs.resize(places, [E::NOBODY; 2]);
        self.free.clear();
        for place in (places..2 * places).rev() {
            let entry = entries.get(place - places).copied();
            let number = u32::try_from(place).expect("fewer than 2^32 queues");
            match entry.filter(|entry| *entry != E::NOBODY) {
                Some(entry) => {
                    self.places[at(entry.index())] = number;
                    self.play(place, entry);
                }
                None => self.free.push(number),
            }
        }
    }

    /// As [`Tournament::play`], for callers that seldom need it.
    #[inline(never)]
    fn replay(&mut self, place: usize, entry: E) {
        self.play(place, entry);
    }

    /// Puts an entry into a place, and repeats the matches whose outcome that may change.
    #[inline(always)]
    fn play(&mut self, mut place: usize, mut entry: E) {
        while place > 0
            && let Some(pair) = self.pairs.get_mut(place / 2)
            && pair[place & 1] != entry
        {
            pair[place & 1] = entry;
            let other = pair[(place & 1) ^ 1];
            if other < entry {
                entry = other;
            }
            place /= 2;
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
        let mut entries: Vec<Option<u128>> = vec![None; 60];
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
            tree.set(u64::from(index));
            if index >= 10 {
                assert!(tree.remove(index - 10));
            }
        }
        assert_eq!(tree.pairs.len(), 16);
        assert_eq!(tree.first(), Some(9_990));
    }
}
