//! Numbers that wait for a timer: the one that is due first is found at once, however many there are.

use sojourn_units::Time;
use std::collections::{BTreeMap, BTreeSet};

/// Entries by number, each with the time at which it is due.
#[derive(Clone, Debug)]
pub(super) struct Waiting<T> {
    entries: BTreeMap<u64, (Time, T)>,
    order: BTreeSet<(Time, u64)>,
}

impl<T> Default for Waiting<T> {
    fn default() -> Self {
        Waiting {
            entries: BTreeMap::new(),
            order: BTreeSet::new(),
        }
    }
}

impl<T> Waiting<T> {
    /// Sets the timer of a number, in place of that which it may have.
    pub(super) fn set(&mut self, number: u64, due: Time, entry: T) {
        self.remove(number);
        self.order.insert((due, number));
        self.entries.insert(number, (due, entry));
    }

    /// Ends the wait of a number.
    pub(super) fn remove(&mut self, number: u64) -> Option<T> {
        let (due, entry) = self.entries.remove(&number)?;
        self.order.remove(&(due, number));
        Some(entry)
    }

    /// The entry of a number.
    pub(super) fn get(&self, number: u64) -> Option<&T> {
        self.entries.get(&number).map(|(_, entry)| entry)
    }

    /// When the first is due.
    pub(super) fn next(&self) -> Option<Time> {
        self.order.first().map(|(due, _)| *due)
    }

    /// Takes the number that is due first, if it is due.
    pub(super) fn due(&mut self, now: Time) -> Option<(u64, T)> {
        let (_, number) = *self.order.first().filter(|(due, _)| *due <= now)?;
        self.remove(number).map(|entry| (number, entry))
    }

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Ends every wait.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.order.clear();
    }
}
