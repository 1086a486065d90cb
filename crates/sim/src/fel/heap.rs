//! A 4-ary heap that knows where each component's event is: the event list for a handful of
//! components, and the place of far events in the calendar.
//!
//! Source: D. B. Johnson, "Priority queues with update and finding minimum spanning trees",
//! Information Processing Letters 4(3), 1975, for d-ary heaps and moving an element in place.
//! Entries are 16 bytes, so that four children are one cache line; births are kept apart, because
//! they are read only when times are equal.

use super::{Event, EventList, index, low32, wide};

/// A 4-ary heap with positions; see the module's head.
#[derive(Clone, Debug)]
pub struct HeapList {
    heap: Vec<Entry>,
    components: Box<[Component]>,
}

/// A pending event, without its birth.
#[derive(Clone, Copy, Debug)]
struct Entry {
    time: u64,
    id: u32,
}

#[derive(Clone, Copy, Debug)]
struct Component {
    birth: u64,
    /// Where in the heap its event is, or `IDLE`.
    place: u32,
}

const IDLE: u32 = u32::MAX;
const ARITY: usize = 4;

impl EventList for HeapList {
    fn with_components(n: usize) -> Self {
        let idle = Component {
            birth: 0,
            place: IDLE,
        };
        Self {
            heap: Vec::new(),
            components: vec![idle; n].into(),
        }
    }

    #[inline]
    fn set(&mut self, id: u32, time: u64, birth: u64) {
        let component = &mut self.components[index(id)];
        component.birth = birth;
        let entry = Entry { time, id };
        if component.place == IDLE {
            self.heap.push(entry);
            self.rise(self.heap.len() - 1, entry);
        } else {
            let place = index(component.place);
            self.reseat(place, entry);
        }
    }

    fn cancel(&mut self, id: u32) {
        let place = std::mem::replace(&mut self.components[index(id)].place, IDLE);
        if place != IDLE {
            self.remove_at(index(place));
        }
    }

    fn pending(&self, id: u32) -> Option<(u64, u64)> {
        let Component { birth, place } = self.components[index(id)];
        (place != IDLE).then(|| (self.heap[index(place)].time, birth))
    }

    #[inline]
    fn pop(&mut self) -> Option<Event> {
        let first = self.first()?;
        self.components[index(first.id)].place = IDLE;
        self.remove_at(0);
        Some(first)
    }

    #[inline]
    fn peek(&mut self) -> Option<Event> {
        self.first()
    }

    #[inline]
    fn len(&self) -> usize {
        self.heap.len()
    }
}

impl HeapList {
    /// The least event.
    #[inline]
    pub(super) fn first(&self) -> Option<Event> {
        let &Entry { time, id } = self.heap.first()?;
        Some(Event {
            time,
            birth: self.components[index(id)].birth,
            id,
        })
    }

    /// The time of the least event.
    #[inline]
    pub(super) fn first_time(&self) -> Option<u64> {
        self.heap.first().map(|entry| entry.time)
    }

    /// Cancels every event.
    pub(super) fn clear(&mut self) {
        for entry in self.heap.drain(..) {
            self.components[index(entry.id)].place = IDLE;
        }
    }

    #[inline(always)]
    fn before(&self, a: Entry, b: Entry) -> bool {
        a.time < b.time || a.time == b.time && self.born_before(a.id, b.id)
    }

    #[cold]
    #[inline(never)]
    fn born_before(&self, a: u32, b: u32) -> bool {
        let birth = |id: u32| self.components[index(id)].birth;
        (birth(a), a) < (birth(b), b)
    }

    #[inline(always)]
    fn put(&mut self, place: usize, entry: Entry) {
        self.heap[place] = entry;
        self.components[index(entry.id)].place = low32(wide(place));
    }

    fn remove_at(&mut self, place: usize) {
        let last = self.heap.pop().expect("a place in the heap");
        if place < self.heap.len() {
            self.reseat(place, last);
        }
    }

    /// Puts an entry at a place whose own is void, or above or below it.
    #[inline]
    fn reseat(&mut self, place: usize, entry: Entry) {
        if place > 0 && self.before(entry, self.heap[(place - 1) / ARITY]) {
            self.rise(place, entry);
        } else {
            self.sink(place, entry);
        }
    }

    #[inline]
    fn rise(&mut self, mut place: usize, entry: Entry) {
        while place > 0 {
            let above = (place - 1) / ARITY;
            let parent = self.heap[above];
            if !self.before(entry, parent) {
                break;
            }
            self.put(place, parent);
            place = above;
        }
        self.put(place, entry);
    }

    #[inline]
    fn sink(&mut self, mut place: usize, entry: Entry) {
        while let Some(least) = self.least_child(place) {
            let child = self.heap[least];
            if self.before(entry, child) {
                break;
            }
            self.put(place, child);
            place = least;
        }
        self.put(place, entry);
    }

    /// The least child, chosen without a branch on the times of four.
    #[inline(always)]
    fn least_child(&self, place: usize) -> Option<usize> {
        let first = place * ARITY + 1;
        let children = self.heap.get(first..)?;
        if let Some(&[a, b, c, d]) = children.first_chunk::<ARITY>() {
            let (left, right) = (a.time.min(b.time), c.time.min(d.time));
            let least = left.min(right);
            let equal = [a, b, c, d]
                .iter()
                .filter(|child| child.time == least)
                .count();
            if equal == 1 {
                let of_left = usize::from(b.time < a.time);
                let of_right = 2 + usize::from(d.time < c.time);
                return Some(first + if right < left { of_right } else { of_left });
            }
        }
        let end = self.heap.len().min(first + ARITY);
        (first..end).reduce(|a, b| {
            if self.before(self.heap[b], self.heap[a]) {
                b
            } else {
                a
            }
        })
    }
}
