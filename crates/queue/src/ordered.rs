//! Which of many queues comes first, by a number that each has.

use crate::tournament::{Entry, Tournament};

/// Queues by key, the least first; of equal keys the queue of the lowest index. Keys are below 2^96.
#[derive(Default)]
pub struct Ordered(Tournament<u128>);

#[inline]
fn entry(key: u128, index: u32) -> u128 {
    assert!(key >> 96 == 0, "a key of 96 bits at most");
    key << 32 | u128::from(index)
}

impl Ordered {
    /// The first queue and its key.
    #[inline]
    pub fn first(&self) -> Option<(u128, u32)> {
        let first = self.0.first()?;
        Some((first >> 32, first.index()))
    }

    /// True without queues.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.first().is_none()
    }

    /// The key of a queue that is there.
    #[inline]
    pub fn key(&self, index: u32) -> Option<u128> {
        Some(self.0.get(index)? >> 32)
    }

    /// The key of a queue becomes `key`; it enters if it was not there.
    #[inline]
    pub fn set(&mut self, index: u32, key: u128) {
        self.0.set(entry(key, index));
    }

    /// Takes a queue out; false if it was not there.
    #[inline]
    pub fn remove(&mut self, index: u32) -> bool {
        self.0.remove(index)
    }

    /// Takes all queues out.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_key_comes_first_and_of_equal_ones_the_lowest_index() {
        let mut ordered = Ordered::default();
        for (index, key) in [(7, 30), (4, 20), (9, 20), (5, 10)] {
            ordered.set(index, key);
        }
        ordered.set(5, 40);
        assert_eq!(ordered.key(5), Some(40));
        let mut order = Vec::new();
        while let Some((key, index)) = ordered.first() {
            order.push((key, index));
            assert!(ordered.remove(index) && !ordered.remove(index));
        }
        assert_eq!(order, [(20, 4), (20, 9), (30, 7), (40, 5)]);
        assert!(ordered.is_empty());
    }
}
