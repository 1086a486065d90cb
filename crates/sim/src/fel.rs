//! The future event list: one pending event per component, least (time, birth, id) first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A pending event.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Event {
    /// When, picoseconds.
    pub time: u64,
    /// When it was scheduled, picoseconds.
    pub birth: u64,
    /// The component.
    pub id: u32,
}

/// The list that the engine runs on.
pub trait EventList {
    /// A list for components 0..n.
    fn with_components(n: usize) -> Self;
    /// Schedules the event of a component in place of its pending one.
    fn set(&mut self, id: u32, time: u64, birth: u64);
    /// Removes and returns the least event.
    fn pop(&mut self) -> Option<Event>;
}

/// The list that the engine uses.
pub struct AutoList {
    heap: BinaryHeap<Reverse<Event>>,
    pending: Vec<Option<(u64, u64)>>,
}

impl EventList for AutoList {
    fn with_components(n: usize) -> Self {
        AutoList {
            heap: BinaryHeap::new(),
            pending: vec![None; n],
        }
    }

    fn set(&mut self, id: u32, time: u64, birth: u64) {
        let slot = &mut self.pending[crate::slab::to_usize(id)];
        if *slot != Some((time, birth)) {
            *slot = Some((time, birth));
            self.heap.push(Reverse(Event { time, birth, id }));
        }
    }

    fn pop(&mut self) -> Option<Event> {
        while let Some(Reverse(event)) = self.heap.pop() {
            let slot = &mut self.pending[crate::slab::to_usize(event.id)];
            if *slot == Some((event.time, event.birth)) {
                *slot = None;
                return Some(event);
            }
        }
        None
    }
}
