//! Which of many queues comes first, by a number that each has: a tournament in which the lesser of two wins.
//!
//! A tree of matches (D. Knuth, The Art of Computer Programming, volume 3, section 5.4.1) instead of a heap: who plays
//! against a changed entry is known from its place alone. Four meet in a match, which makes half as many on the way to the top as
//! two. A queue takes the place that was left last, so that the tree is as large as the number of queues that are in it at once,
//! however many there are.

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

/// Entries that meet in a match.
const GROUP: usize = 4;

/// Entries of queues, at most one for each.
pub(crate) struct Tournament<E> {
    /// The winner of all.
    first: E,
    /// The matches, each between the four of a group: the winner of group i stands at place i - 1, which is in group (i - 1) / 4,
    /// and that of group 0 is the winner of all. The last three quarters are the entries themselves.
    groups: Vec<[E; GROUP]>,
    /// Where the entry of each queue is among those; [`NOWHERE`] if it has none.
    places: Vec<u32>,
    /// Places without an entry, the one left last at the end.
    free: Vec<u32>,
}

impl<E: Entry> Default for Tournament<E> {
    fn default() -> Self {
        Tournament {
            first: E::NOBODY,
            groups: Vec::new(),
            places: Vec::new(),
            free: Vec::new(),
        }
    }
}

/// Where the winner of a group stands; beyond all places for that of all.
#[inline]
const fn above(place: usize) -> usize {
    (place / GROUP).wrapping_sub(1)
}

impl<E: Entry> Tournament<E> {
    /// The least entry.
    #[inline]
    pub(crate) fn first(&self) -> Option<E> {
        (self.first != E::NOBODY).then_some(self.first)
    }

    /// The entry of a queue.
    #[cfg(test)]
    fn get(&self, index: u32) -> Option<E> {
        let place = at(*self.places.get(at(index))?);
        Some(self.groups.get(place / GROUP)?[place % GROUP])
    }

    /// Where the entry of a queue is; beyond all places if it has none.
    #[inline(always)]
    fn place(&self, index: u32) -> usize {
        at(self.places.get(at(index)).copied().unwrap_or(NOWHERE))
    }

    /// Puts an entry in place of the one that its queue has, if it has one.
    #[inline]
    pub(crate) fn set(&mut self, entry: E) {
        let place = self.place(entry.index());
        match self.groups.get(place / GROUP) {
            Some(group) if entry < group[place % GROUP] => self.improve(place, entry),
            Some(_) => self.worsen(place, entry),
            None => self.enter(entry.index(), entry),
        }
    }

    /// As [`Tournament::set`], unless the queue, which is that of `index`, has a lesser entry.
    #[inline(always)]
    pub(crate) fn lower(&mut self, index: u32, entry: E) {
        let place = self.place(index);
        match self.groups.get(place / GROUP) {
            Some(group) if entry < group[place % GROUP] => self.improve_all(place, entry),
            Some(_) => {}
            None => self.enter(index, entry),
        }
    }

    /// Puts an entry, not less than it, in place of the first, which has the same queue.
    #[inline(always)]
    pub(crate) fn change_first(&mut self, mut entry: E) {
        // It won all its matches, so that all of them are repeated.
        let mut place = self.place(entry.index());
        while let Some(group) = self.groups.get_mut(place / GROUP) {
            entry = put(group, place % GROUP, entry);
            place = above(place);
        }
        self.first = entry;
    }

    /// Takes the entry of a queue out; false if it has none.
    #[inline]
    pub(crate) fn remove(&mut self, index: u32) -> bool {
        let place = match self.places.get_mut(at(index)) {
            Some(place) if *place != NOWHERE => std::mem::replace(place, NOWHERE),
            _ => return false,
        };
        self.free.push(place);
        self.worsen(at(place), E::NOBODY);
        true
    }

    /// Takes all entries out.
    pub(crate) fn clear(&mut self) {
        while let Some(first) = self.first() {
            self.remove(first.index());
        }
    }

    #[inline(never)]
    fn enter(&mut self, index: u32, entry: E) {
        assert!(
            index == entry.index(),
            "fewer queues than an index has bits for"
        );
        let index = at(index);
        if index >= self.places.len() {
            self.places.resize(index + 1, NOWHERE);
        }
        if self.free.is_empty() {
            self.grow();
        }
        if let Some(place) = self.free.pop() {
            self.places[index] = place;
            self.improve(at(place), entry);
        }
    }

    /// Makes place for four times as many.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let before = self.groups.len();
        let entries: Vec<E> = self.groups[before / GROUP..]
            .iter()
            .flatten()
            .copied()
            .collect();
        let groups = GROUP * before + 1;
        self.first = E::NOBODY;
        self.groups.clear();
        self.groups.resize(groups, [E::NOBODY; GROUP]);
        self.free.clear();
        let first = groups - 1;
        for place in (first..GROUP * groups).rev() {
            let entry = entries.get(place - first).copied();
            let number = u32::try_from(place).expect("fewer than 2^32 queues");
            match entry.filter(|entry| *entry != E::NOBODY) {
                Some(entry) => {
                    self.places[at(entry.index())] = number;
                    self.improve(place, entry);
                }
                None => self.free.push(number),
            }
        }
    }

    /// Puts an entry into a place whose entry is not less.
    #[inline(never)]
    fn improve(&mut self, mut place: usize, entry: E) {
        while let Some(group) = self.groups.get_mut(place / GROUP) {
            let before = &mut group[place % GROUP];
            if *before <= entry {
                return;
            }
            *before = entry;
            place = above(place);
        }
        self.first = self.first.min(entry);
    }

    /// As [`Tournament::improve`] without a look at where it stops to win: a branch that cannot be foretold costs more than the
    /// few matches behind it.
    #[inline(never)]
    fn improve_all(&mut self, mut place: usize, entry: E) {
        while let Some(group) = self.groups.get_mut(place / GROUP) {
            let best = &mut group[place % GROUP];
            *best = entry.min(*best);
            place = above(place);
        }
        self.first = self.first.min(entry);
    }

    /// Puts an entry into a place whose entry is not greater, and repeats the matches that this one won.
    #[inline]
    fn worsen(&mut self, mut place: usize, mut entry: E) {
        let Some(group) = self.groups.get(place / GROUP) else {
            return;
        };
        let before = group[place % GROUP];
        while let Some(group) = self.groups.get_mut(place / GROUP) {
            if group[place % GROUP] != before {
                return;
            }
            entry = put(group, place % GROUP, entry);
            place = above(place);
        }
        if self.first == before {
            self.first = entry;
        }
    }
}

/// Puts an entry into a group; the winner. Who else is in it is compared first, so that nothing waits for what is written.
#[inline(always)]
fn put<E: Entry>(group: &mut [E; GROUP], place: usize, entry: E) -> E {
    let [a, b, c] = [1, 2, 3].map(|other| group[place ^ other]);
    group[place] = entry;
    a.min(b).min(c).min(entry)
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
        assert_eq!(tree.groups.len(), 5);
        assert_eq!(tree.first(), Some(9_990));
    }
}
