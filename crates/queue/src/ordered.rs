//! Which of many queues comes first, by a number that each has.

use sojourn_sim::to_usize as at;

/// A heap of queues by key, the least first; of equal keys the queue of the lowest index. Keys are below 2^96.
#[derive(Default)]
pub struct Ordered {
    heap: Vec<Entry>,
    /// Where each queue stands in the heap; [`NOWHERE`] if it does not.
    place: Vec<u32>,
}

/// A key, and the index of its queue in the low 32 bits.
type Entry = u128;

const NOWHERE: u32 = u32::MAX;

/// Children of a place in the heap: their entries fill a cache line.
const CHILDREN: usize = 4;

#[inline]
fn entry(key: u128, index: u32) -> Entry {
    assert!(key >> 96 == 0, "a key of 96 bits at most");
    key << 32 | u128::from(index)
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

impl Ordered {
    /// The first queue and its key.
    #[inline]
    pub fn first(&self) -> Option<(u128, u32)> {
        let first = *self.heap.first()?;
        Some((first >> 32, index_of(first)))
    }

    /// True without queues.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// True if the queue is there.
    #[inline]
    pub fn contains(&self, index: u32) -> bool {
        self.key(index).is_some()
    }

    /// The key of a queue that is there.
    #[inline]
    pub fn key(&self, index: u32) -> Option<u128> {
        let place = *self.place.get(at(index))?;
        Some(*self.heap.get(at(place))? >> 32)
    }

    /// The key of a queue becomes `key`; it enters if it was not there.
    pub fn set(&mut self, index: u32, key: u128) {
        if at(index) >= self.place.len() {
            self.place.resize(at(index) + 1, NOWHERE);
        }
        let entry = entry(key, index);
        match self.place[at(index)] {
            NOWHERE => {
                let end = self.heap.len();
                self.heap.push(entry);
                self.rise(end, entry);
            }
            place if entry < self.heap[at(place)] => self.rise(at(place), entry),
            place => self.fall(at(place), entry),
        }
    }

    /// Takes a queue out; false if it was not there.
    pub fn remove(&mut self, index: u32) -> bool {
        let place = match self.place.get(at(index)) {
            None | Some(&NOWHERE) => return false,
            Some(&place) => at(place),
        };
        self.place[at(index)] = NOWHERE;
        let Some(last) = self.heap.pop() else {
            return false;
        };
        if index_of(last) != index {
            match place > 0 && last < self.heap[(place - 1) / CHILDREN] {
                true => self.rise(place, last),
                false => self.fall(place, last),
            }
        }
        true
    }

    /// Takes all queues out.
    pub fn clear(&mut self) {
        for entry in self.heap.drain(..) {
            self.place[at(index_of(entry))] = NOWHERE;
        }
    }

    #[inline(always)]
    fn put(&mut self, place: usize, entry: Entry) {
        if let (Some(there), Some(at)) = (
            self.heap.get_mut(place),
            self.place.get_mut(at(index_of(entry))),
        ) {
            *there = entry;
            *at = u32::try_from(place).unwrap_or(NOWHERE);
        }
    }

    /// Puts `entry` at `place` or above.
    fn rise(&mut self, mut place: usize, entry: Entry) {
        while place > 0 {
            let parent = (place - 1) / CHILDREN;
            let above = self.heap[parent];
            if above <= entry {
                break;
            }
            self.put(place, above);
            place = parent;
        }
        self.put(place, entry);
    }

    /// Puts `entry` at `place` or below.
    fn fall(&mut self, mut place: usize, entry: Entry) {
        loop {
            let begin = CHILDREN * place + 1;
            let (first, child) = match self.heap.get(begin..begin + CHILDREN) {
                Some(&[a, b, c, d]) => {
                    let left = if b < a { (b, begin + 1) } else { (a, begin) };
                    let right = if d < c {
                        (d, begin + 3)
                    } else {
                        (c, begin + 2)
                    };
                    if right.0 < left.0 { right } else { left }
                }
                _ => {
                    let rest = self.heap.get(begin..).unwrap_or_default();
                    match rest.iter().copied().zip(begin..).min() {
                        Some(first) => first,
                        None => break,
                    }
                }
            };
            if entry <= first {
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
    use std::collections::BTreeSet;

    #[test]
    fn it_orders_as_a_sorted_set_does() {
        let mut rng = Stream::derive(1, 0, "ordered");
        let (mut ordered, mut set) = (Ordered::default(), BTreeSet::new());
        let mut keys: Vec<Option<u128>> = vec![None; 60];
        for step in 0..50_000 {
            let index = u32::try_from(rng.below(60)).expect("small");
            let old = keys[at(index)].take();
            let was = old.is_some_and(|key| set.remove(&(key, index)));
            if rng.below(3) == 0 {
                assert_eq!(ordered.remove(index), was);
            } else {
                let key = u128::from(rng.below(40));
                ordered.set(index, key);
                set.insert((key, index));
                keys[at(index)] = Some(key);
            }
            assert_eq!(ordered.first(), set.first().copied());
            assert_eq!(ordered.is_empty(), set.is_empty());
            if step % 5000 == 4999 {
                ordered.clear();
                set.clear();
                keys.fill(None);
            }
        }
    }
}
