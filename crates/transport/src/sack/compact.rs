//! A queue that goes round in few places of its memory as long as it holds little, so that these stay in the cache: a queue of the
//! standard library goes round in all that it ever needed.

use std::ops::{Index, IndexMut};

/// A queue of plain records.
#[derive(Clone, Debug)]
pub(crate) struct Compact<T> {
    /// A power of two; the queue goes round in the first `mask + 1` places.
    places: Vec<T>,
    mask: usize,
    /// The first record is in this place, except for the bits that `mask` leaves out.
    head: usize,
    len: usize,
}

/// The least number of places.
const LEAST: usize = 8;

impl<T: Copy + Default> Compact<T> {
    /// An empty queue.
    pub(crate) fn new() -> Compact<T> {
        Compact {
            places: vec![T::default(); LEAST],
            mask: LEAST - 1,
            head: 0,
            len: 0,
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    fn place(&self, index: usize) -> usize {
        self.head.wrapping_add(index) & self.mask
    }

    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&T> {
        match index < self.len {
            true => self.places.get(self.place(index)),
            false => None,
        }
    }

    #[inline]
    pub(crate) fn front(&self) -> Option<&T> {
        self.get(0)
    }

    #[inline]
    pub(crate) fn front_mut(&mut self) -> Option<&mut T> {
        let place = self.place(0);
        match self.len {
            0 => None,
            _ => self.places.get_mut(place),
        }
    }

    /// One more record at the end, which is yet to be written field by field: a record that is put together elsewhere and copied
    /// whole waits for its fields.
    #[inline]
    pub(crate) fn extend(&mut self) -> &mut T {
        let mut place = self.place(self.len);
        if self.len > self.mask || place == self.mask / 2 + 1 {
            self.fit();
            place = self.place(self.len);
        }
        self.len += 1;
        &mut self.places[place]
    }

    #[inline]
    pub(crate) fn pop_front(&mut self) -> Option<T> {
        let first = *self.front()?;
        self.head = self.head.wrapping_add(1);
        self.len -= 1;
        Some(first)
    }

    /// Goes round in twice as many places if all are taken; in half of them if less than a quarter is. Then the next record
    /// would be the first in the upper half, and all others are in the lower one.
    #[cold]
    #[inline(never)]
    fn fit(&mut self) {
        if self.len > self.mask {
            let old = self.mask + 1;
            let head = self.place(0);
            if self.places.len() == old {
                self.places.resize(2 * old, T::default());
            }
            self.mask = 2 * old - 1;
            // What was from the head on has its place in one half of the new round, what was before it in the other.
            let upper = match self.place(0) == head {
                true => 0..head,
                false => head..old,
            };
            let to = upper.start + old;
            self.places.copy_within(upper, to);
        } else if self.len <= self.mask / 4 && self.mask >= LEAST {
            self.mask /= 2;
        }
    }

    /// The records, first to last.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + ExactSizeIterator {
        (0..self.len).map(|index| &self[index])
    }

    /// The number of records at the front for which `before` holds; it holds for none behind them.
    pub(crate) fn partition_point(&self, before: impl Fn(&T) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len);
        while low < high {
            let middle = low + (high - low) / 2;
            match before(&self[middle]) {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    }
}

impl<T: Copy + Default> Index<usize> for Compact<T> {
    type Output = T;

    #[inline]
    fn index(&self, index: usize) -> &T {
        assert!(index < self.len, "record {index} of {}", self.len);
        &self.places[self.place(index)]
    }
}

impl<T: Copy + Default> IndexMut<usize> for Compact<T> {
    #[inline]
    fn index_mut(&mut self, index: usize) -> &mut T {
        assert!(index < self.len, "record {index} of {}", self.len);
        let place = self.place(index);
        &mut self.places[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    #[test]
    fn what_was_long_once_goes_round_in_few_places() {
        let mut queue = Compact::new();
        for record in 0..1000 {
            *queue.extend() = record;
        }
        while queue.len() > 10 {
            queue.pop_front();
        }
        for record in 1000..10_000 {
            *queue.extend() = record;
            assert_eq!(queue.pop_front(), Some(record - 10));
        }
        assert!(queue.mask <= 63, "{}", queue.mask);
    }

    proptest! {
        #[test]
        fn agrees_with_the_queue_of_the_standard_library(steps in prop::collection::vec((0_u8..3, 0_usize..40), 0..200)) {
            let mut queue = Compact::new();
            let mut plain = VecDeque::new();
            let mut next = 0_u32;
            for (step, times) in steps {
                for _ in 0..times {
                    match step {
                        0 => {
                            *queue.extend() = next;
                            plain.push_back(next);
                            next += 1;
                        }
                        1 => prop_assert_eq!(queue.pop_front(), plain.pop_front()),
                        _ => {
                            if let (Some(a), Some(b)) = (queue.front_mut(), plain.front_mut()) {
                                prop_assert_eq!(*a, *b);
                            }
                        }
                    }
                }
                prop_assert_eq!(queue.len(), plain.len());
                prop_assert!(queue.iter().eq(&plain));
                prop_assert!(queue.iter().rev().eq(plain.iter().rev()));
                let bound = plain.get(times).copied().unwrap_or(next);
                prop_assert_eq!(queue.partition_point(|r| *r < bound), plain.partition_point(|r| *r < bound));
            }
        }
    }
}
