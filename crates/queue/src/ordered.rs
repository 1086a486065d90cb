//! Which of many queues comes first, by a number that each has.

use sojourn_sim::to_usize as at;

/// A heap of queues by key, the least first; which of equal ones comes first is left open, but the same in every run.
#[derive(Default)]
pub struct Ordered {
    heap: Vec<(u128, u32)>,
    /// Where each queue stands in the heap; [`NOWHERE`] if it does not.
    place: Vec<u32>,
}

const NOWHERE: u32 = u32::MAX;

impl Ordered {
    /// The first queue and its key.
    #[inline]
    pub fn first(&self) -> Option<(u128, u32)> {
        self.heap.first().copied()
    }

    /// True without queues.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// True if the queue is there.
    #[inline]
    pub fn contains(&self, index: u32) -> bool {
        self.place
            .get(at(index))
            .is_some_and(|place| *place != NOWHERE)
    }

    /// The key of a queue becomes `key`; it enters if it was not there.
    pub fn set(&mut self, index: u32, key: u128) {
        if at(index) >= self.place.len() {
            self.place.resize(at(index) + 1, NOWHERE);
        }
        let entry = (key, index);
        match self.place[at(index)] {
            NOWHERE => {
                let end = self.heap.len();
                self.heap.push(entry);
                self.rise(end, entry);
            }
            place if key < self.heap[at(place)].0 => self.rise(at(place), entry),
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
        if last.1 != index {
            match place > 0 && last.0 < self.heap[(place - 1) / 2].0 {
                true => self.rise(place, last),
                false => self.fall(place, last),
            }
        }
        true
    }

    /// Takes all queues out.
    pub fn clear(&mut self) {
        for (_, index) in self.heap.drain(..) {
            self.place[at(index)] = NOWHERE;
        }
    }

    #[inline]
    fn put(&mut self, place: usize, entry: (u128, u32)) {
        self.heap[place] = entry;
        self.place[at(entry.1)] = u32::try_from(place).unwrap_or(NOWHERE);
    }

    /// Puts `entry` at `place` or above.
    fn rise(&mut self, mut place: usize, entry: (u128, u32)) {
        while place > 0 {
            let parent = (place - 1) / 2;
            let above = self.heap[parent];
            if above.0 <= entry.0 {
                break;
            }
            self.put(place, above);
            place = parent;
        }
        self.put(place, entry);
    }

    /// Puts `entry` at `place` or below.
    fn fall(&mut self, mut place: usize, entry: (u128, u32)) {
        loop {
            let mut child = 2 * place + 1;
            let Some(&(mut first)) = self.heap.get(child) else {
                break;
            };
            if let Some(&other) = self.heap.get(child + 1)
                && other.0 < first.0
            {
                (first, child) = (other, child + 1);
            }
            if entry.0 <= first.0 {
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
                let key = u128::from(rng.below(40)) << 32 | u128::from(index);
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
