//! Which of many queues comes first, by a number that each has.
//!
//! A calendar (R. Brown, "Calendar queues: a fast O(1) priority queue implementation for the simulation event set problem", CACM
//! 31(10), 1988): keys are cut into *days* of a power of two, the days that follow the first one have a list each, in
//! order, and a queue is put in from the end of the list of its day. What is beyond the last day, or would have to pass many
//! others of its day, goes to a tournament, and the first queue is the lesser of the two firsts; so the order never depends on
//! the length of a day, which follows from how many go there.

use crate::tournament::{Entry, Tournament};
use sojourn_sim::to_usize as at;

/// Queues by key, the least first; of equal keys the queue of the lowest index. Keys are below 2^96. A queue is in it once at most.
pub struct Ordered {
    /// The queues in it, and places that are free.
    places: Vec<Place>,
    /// The place that was left last, or [`NONE`]; the others follow by their `next`.
    free: u32,
    /// The first and the last place of each day, both [`NONE`] without any.
    days: Box<[[u32; 2]; DAYS]>,
    /// A bit for each day that has any, and one for each of these words that is not 0.
    marks: [u64; WORDS],
    /// Bit i: word i of `marks` is not 0.
    words: u16,
    /// The day that is counted first. Whatever comes before it is counted with it; it has a queue if any day has.
    today: u64,
    /// A day is 2^`shift` in the unit of keys.
    shift: u32,
    /// The first place of today, or [`NONE`].
    first: u32,
    /// Queues that are in no day.
    far: Tournament<u128>,
    load: Load,
}

/// What has come since the length of a day was checked.
#[derive(Default)]
struct Load {
    /// Queues that came.
    came: u32,
    /// Those of them that came beyond the last day.
    beyond: u32,
    /// Queues that they passed within their days.
    passed: u32,
}

#[derive(Clone, Copy)]
struct Place {
    /// The key and the index of the queue.
    entry: u128,
    /// The place before it in its day, or [`NONE`].
    previous: u32,
    /// The place after it in its day or among the free ones, or [`NONE`].
    next: u32,
    /// The day's number among [`DAYS`], or [`FAR`].
    day: u32,
}

/// No place.
const NONE: u32 = u32::MAX;
/// In place of a day.
const FAR: u32 = u32::MAX;
/// Days that have a list.
const DAYS: usize = 1024;
/// Words of marks.
const WORDS: usize = DAYS / 64;
const _: () = assert!(WORDS == 16);
/// The mask of a day's number.
const MASK: u64 = 1023;
/// Most queues that one passes within a day.
const MOST_PASSED: u32 = 8;
/// Queues that come before the length of a day is checked.
const LOOK: u32 = 1024;
/// Bits of an index.
const INDEX: u32 = 32;

#[inline]
fn entry(key: u128, index: u32) -> u128 {
    assert!(key >> 96 == 0, "a key of 96 bits at most");
    key << INDEX | u128::from(index)
}

/// The day's number among [`DAYS`].
#[inline]
fn number(day: u64) -> usize {
    usize::try_from(day & MASK).unwrap_or(0)
}

impl Ordered {
    /// Without queues; a day is 2^`shift` in the unit of keys until it is known how they come.
    pub fn with_days_of(shift: u32) -> Ordered {
        Ordered {
            places: Vec::new(),
            free: NONE,
            days: Box::new([[NONE; 2]; DAYS]),
            marks: [0; WORDS],
            words: 0,
            today: 0,
            shift,
            first: NONE,
            far: Tournament::default(),
            load: Load::default(),
        }
    }

    /// The first queue and its key.
    #[inline]
    pub fn first(&self) -> Option<(u128, u32)> {
        let near = self.places.get(at(self.first));
        let first = match (near.map(|place| place.entry), self.far.first()) {
            (Some(near), Some(far)) => near.min(far),
            (near, far) => near.or(far)?,
        };
        Some((first >> INDEX, first.index()))
    }

    /// The key of the queue at a place.
    #[inline]
    pub fn key(&self, place: u32) -> u128 {
        self.places[at(place)].entry >> INDEX
    }

    /// Puts a queue in; says where, which is its place until it is taken out.
    #[inline(never)]
    pub fn enter(&mut self, index: u32, key: u128) -> u32 {
        let place = self.free;
        let place = match self.places.get(at(place)) {
            Some(free) => {
                self.free = free.next;
                place
            }
            None => self.grow(),
        };
        self.count();
        self.insert(place, entry(key, index));
        place
    }

    /// The queue at a place gets another key.
    #[inline(always)]
    pub fn change(&mut self, place: u32, key: u128) {
        self.count();
        if place != self.first {
            return self.change_other(place, key);
        }
        let own = &self.places[at(place)];
        let (entry, next) = (entry(key, own.entry.index()), own.next);
        // As a rule it is the first of all that moves on. Which comes first is seen when it is in its new day.
        let today = number(self.today);
        match next {
            NONE => self.empty(today),
            next => {
                self.days[today][0] = next;
                self.places[at(next)].previous = NONE;
            }
        }
        self.put(place, entry);
        self.first = self.days[today][0];
        if self.first == NONE {
            self.advance();
        }
    }

    /// As [`Ordered::change`], of one that is not the first.
    #[inline(never)]
    fn change_other(&mut self, place: u32, key: u128) {
        let index = self.places[at(place)].entry.index();
        self.unlink(place);
        self.insert(place, entry(key, index));
    }

    /// Takes the queue at a place out.
    #[inline(never)]
    pub fn leave(&mut self, place: u32) {
        self.unlink(place);
        self.places[at(place)].next = self.free;
        self.free = place;
    }

    /// Takes all queues out.
    pub fn clear(&mut self) {
        while self.first != NONE {
            self.unlink(self.first);
        }
        self.far.clear();
        self.places.clear();
        self.free = NONE;
    }

    #[cold]
    fn grow(&mut self) -> u32 {
        let place = u32::try_from(self.places.len()).expect("fewer than 2^32 queues");
        self.places.push(Place {
            entry: 0,
            previous: NONE,
            next: NONE,
            day: FAR,
        });
        place
    }

    #[inline]
    fn day(&self, entry: u128) -> u64 {
        match u64::try_from(entry >> INDEX) {
            Ok(key) if self.shift < u64::BITS => key >> self.shift,
            Ok(_) => 0,
            Err(_) => self.far_day(entry),
        }
    }

    /// That of a key of more than 64 bits.
    #[cold]
    fn far_day(&self, entry: u128) -> u64 {
        u64::try_from(entry >> (INDEX + self.shift)).unwrap_or(u64::MAX)
    }

    /// A queue comes or gets another key.
    #[inline(always)]
    fn count(&mut self) {
        self.load.came += 1;
        if self.load.came.is_multiple_of(LOOK) {
            self.look();
        }
    }

    #[inline(always)]
    fn insert(&mut self, place: u32, entry: u128) {
        if self.first == NONE {
            self.today = self.day(entry);
        }
        self.put(place, entry);
        self.first = self.days[number(self.today)][0];
    }

    /// Puts a queue into its day, or far away. Which queue is the first of today is to be seen after that.
    #[inline(always)]
    fn put(&mut self, place: u32, entry: u128) {
        let ahead = self.day(entry).saturating_sub(self.today);
        if ahead > MASK {
            self.load.beyond += 1;
            return self.put_far(place, entry);
        }
        let number = number(self.today.wrapping_add(ahead));
        let mut between = [NONE; 2];
        if self.days[number][0] == NONE {
            self.days[number] = [place; 2];
            self.marks[number / 64] |= 1 << (number % 64);
            self.words |= 1 << (number / 64);
        } else if let Some(found) = self.join(number, place, entry) {
            between = found;
        } else {
            return self.put_far(place, entry);
        }
        self.places[at(place)] = Place {
            entry,
            previous: between[0],
            next: between[1],
            day: u32::try_from(number).unwrap_or(FAR),
        };
    }

    /// Makes room in a day that has queues; says between which two, or nothing if too many would have to be passed.
    #[inline(never)]
    fn join(&mut self, number: usize, place: u32, entry: u128) -> Option<[u32; 2]> {
        let ends = &mut self.days[number];
        let [mut previous, mut next] = [ends[1], NONE];
        let mut passed = 0;
        while let Some(before) = self.places.get(at(previous))
            && before.entry > entry
        {
            if passed == MOST_PASSED {
                self.load.passed += passed;
                return None;
            }
            passed += 1;
            next = std::mem::replace(&mut previous, before.previous);
        }
        self.load.passed += passed;
        match next {
            NONE => ends[1] = place,
            next => self.places[at(next)].previous = place,
        }
        match previous {
            NONE => ends[0] = place,
            previous => self.places[at(previous)].next = place,
        }
        Some([previous, next])
    }

    /// The last queue of a day has left.
    #[inline(always)]
    fn empty(&mut self, number: usize) {
        self.days[number] = [NONE; 2];
        self.unmark(number);
    }

    #[inline(always)]
    fn unmark(&mut self, number: usize) {
        let marks = &mut self.marks[number / 64];
        *marks &= !(1 << (number % 64));
        if *marks == 0 {
            self.words &= !(1 << (number / 64));
        }
    }

    #[inline(never)]
    fn put_far(&mut self, place: u32, entry: u128) {
        let own = &mut self.places[at(place)];
        (own.entry, own.day) = (entry, FAR);
        self.far.set(entry);
    }

    #[inline(never)]
    fn leave_far(&mut self, index: u32) {
        self.far.remove(index);
    }

    #[inline(always)]
    fn unlink(&mut self, place: u32) {
        let Place {
            entry,
            previous,
            next,
            day,
        } = self.places[at(place)];
        if day == FAR {
            return self.leave_far(entry.index());
        }
        let number = number(u64::from(day));
        let ends = &mut self.days[number];
        match next {
            NONE => ends[1] = previous,
            next => self.places[at(next)].previous = previous,
        }
        match previous {
            NONE => ends[0] = next,
            previous => self.places[at(previous)].next = next,
        }
        let left = ends[0];
        if left == NONE {
            self.unmark(number);
        }
        if place == self.first {
            self.first = left;
            if left == NONE {
                self.advance();
            }
        }
    }

    /// Today becomes the next day that has a queue.
    #[inline(always)]
    fn advance(&mut self) {
        let from = number(self.today);
        let marks = self.marks[from / 64] >> (from % 64);
        match marks {
            0 => self.advance_far(),
            _ => self.begin(u64::from(marks.trailing_zeros())),
        }
    }

    /// The next day that has a queue is in another word of marks, or the lower part of this one, if there is one.
    #[inline(never)]
    fn advance_far(&mut self) {
        if self.words == 0 {
            return;
        }
        let from = number(self.today);
        let next = u32::try_from(from / 64 + 1).unwrap_or(0);
        let others = self.words.rotate_right(next).trailing_zeros();
        let marks = self.marks[at(next + others) % WORDS];
        let rest = 64 - self.today % 64;
        self.begin(rest + u64::from(64 * others + marks.trailing_zeros()));
    }

    /// Moves today on by some days.
    #[inline(always)]
    fn begin(&mut self, days: u64) {
        self.today = self.today.wrapping_add(days);
        self.first = self.days[number(self.today)][0];
    }

    /// Makes days longer if many come beyond the last one, shorter if they pass many others. What comes beyond costs as much as some
    /// thirty that are passed.
    #[cold]
    #[inline(never)]
    fn look(&mut self) {
        let Load {
            came,
            beyond,
            passed,
        } = self.load;
        let (longer, shorter) = (beyond > came / 16, beyond < came / 64 && passed > 4 * came);
        let shift = match (longer, shorter) {
            (true, _) => (self.shift + 1).min(127 - INDEX),
            (_, true) => self.shift.saturating_sub(1),
            _ => self.shift,
        };
        // Where many are in it a change costs as much, and so it waits for more of them: how they come in one stretch, such as a burst,
        // is not how they come.
        let in_it = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
        if shift != self.shift && came / 4 > in_it {
            while self.first != NONE {
                let place = self.first;
                let entry = self.places[at(place)].entry;
                self.unlink(place);
                self.put_far(place, entry);
            }
            self.shift = shift;
        }
        if shift == self.shift {
            self.load = Load::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_sim::Stream;
    use std::collections::BTreeSet;

    #[test]
    fn the_least_key_comes_first_and_of_equal_ones_the_lowest_index() {
        let mut ordered = Ordered::with_days_of(25);
        let keys = [(7, 30), (4, 20), (9, 20), (5, 10)];
        let places = keys.map(|(index, key)| ordered.enter(index, key));
        ordered.change(places[3], 40);
        assert_eq!(ordered.key(places[3]), 40);
        let mut order = Vec::new();
        while let Some((key, index)) = ordered.first() {
            order.push((key, index));
            let which = keys.iter().position(|(own, _)| *own == index);
            ordered.leave(places[which.expect("one of them")]);
        }
        assert_eq!(order, [(20, 4), (20, 9), (30, 7), (40, 5)]);
    }

    /// Queues whose keys run ahead by up to `spread`, as tags do, most by the same; and now and then one that stays behind.
    fn it_orders_as_a_sorted_set_does(spread: u64, seed: u64) {
        let mut rng = Stream::derive(seed, 0, "ordered");
        let (mut ordered, mut set) = (Ordered::with_days_of(25), BTreeSet::new());
        let mut places: Vec<Option<(u32, u128)>> = vec![None; 300];
        let mut now: u128 = 0;
        for step in 0..40_000 {
            let index = match set.first() {
                Some(&(_, index)) if rng.below(2) == 0 => index,
                _ => u32::try_from(rng.below(300)).expect("small"),
            };
            let ahead = match rng.below(4) {
                0 => spread,
                1 => spread / 2,
                2 => rng.below(spread + 1),
                _ => 0,
            };
            let key = now + u128::from(ahead);
            let own = &mut places[at(index)];
            if let Some((_, before)) = *own {
                set.remove(&(before, index));
            }
            *own = match *own {
                Some((place, _)) if rng.below(3) == 0 => {
                    ordered.leave(place);
                    None
                }
                Some((place, _)) => {
                    ordered.change(place, key);
                    Some((place, key))
                }
                None => Some((ordered.enter(index, key), key)),
            };
            if let Some((place, key)) = *own {
                set.insert((key, index));
                assert_eq!(ordered.key(place), key);
            }
            assert_eq!(ordered.first(), set.first().copied());
            if let Some((key, _)) = set.first() {
                now = now.max(*key);
            }
            if step % 7000 == 6999 {
                ordered.clear();
                set.clear();
                places.fill(None);
                now = 0;
                assert_eq!(ordered.first(), None);
            }
        }
    }

    #[test]
    fn days_that_are_too_long_or_too_short_do_not_change_the_order() {
        for (spread, seed) in [(0, 1), (1000, 2), (1 << 33, 3), (1 << 45, 4), (1 << 63, 5)] {
            it_orders_as_a_sorted_set_does(spread, seed);
        }
    }

    #[test]
    fn days_come_to_hold_what_comes() {
        // Of a hundred queues each gets a key 2^50 beyond the one it had, a thousand times.
        let mut ordered = Ordered::with_days_of(25);
        let places: Vec<u32> = (0..100)
            .map(|i| ordered.enter(i, u128::from(i) << 43))
            .collect();
        for _ in 0..100_000 {
            let (key, index) = ordered.first().expect("a queue");
            ordered.change(places[at(index)], key + (1 << 50));
        }
        let far = |place: &&u32| ordered.places[at(**place)].day == FAR;
        assert_eq!(places.iter().filter(far).count(), 0);
        assert!(ordered.load.passed <= ordered.load.came / 4);
    }

    #[test]
    fn one_burst_of_keys_far_ahead_does_not_change_how_long_days_are() {
        let days = |days: u128| days << 25;
        let mut ordered = Ordered::with_days_of(25);
        let places: Vec<u32> = (0..1000)
            .map(|i| ordered.enter(i, days(u128::from(i / 2))))
            .collect();
        for (changes, ahead) in [(10_000, 512), (200, 2000), (10_000, 512)] {
            for _ in 0..changes {
                let (key, index) = ordered.first().expect("a queue");
                ordered.change(places[at(index)], key + days(ahead));
            }
            assert_eq!(ordered.shift, 25);
        }
        // Where all come so far ahead, days become longer.
        for _ in 0..10_000 {
            let (key, index) = ordered.first().expect("a queue");
            ordered.change(places[at(index)], key + days(2000));
        }
        assert!(ordered.shift > 25);
    }
}
