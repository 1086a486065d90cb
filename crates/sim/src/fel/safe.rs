//! The reference: an ordered set of the standard library and a table of what is pending.

use std::collections::BTreeSet;

use super::{Event, EventList, index};

/// The plain event list that the others are tested against.
#[derive(Clone, Debug)]
pub struct SafeList {
    events: BTreeSet<Event>,
    pending: Vec<Option<(u64, u64)>>,
}

impl EventList for SafeList {
    fn with_components(n: usize) -> Self {
        Self {
            events: BTreeSet::new(),
            pending: vec![None; n],
        }
    }

    fn set(&mut self, id: u32, time: u64, birth: u64) {
        self.cancel(id);
        self.pending[index(id)] = Some((time, birth));
        self.events.insert(Event { time, birth, id });
    }

    fn cancel(&mut self, id: u32) {
        if let Some((time, birth)) = self.pending[index(id)].take() {
            self.events.remove(&Event { time, birth, id });
        }
    }

    fn pending(&self, id: u32) -> Option<(u64, u64)> {
        self.pending[index(id)]
    }

    fn pop(&mut self) -> Option<Event> {
        let event = self.events.pop_first()?;
        self.pending[index(event.id)] = None;
        Some(event)
    }

    fn peek(&mut self) -> Option<Event> {
        self.events.first().copied()
    }

    fn len(&self) -> usize {
        self.events.len()
    }
}
