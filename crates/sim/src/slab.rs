//! Side data of packets: what only some packets carry (SACK blocks, timestamps, telemetry), by index.
//!
//! An entry counts the packets that refer to it (a duplicated packet shares it) and is released when the
//! last of them is delivered or dropped.

use sojourn_units::Time;

/// Side data of one packet; opaque words whose meaning is the transport's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Side {
    /// SACK blocks (RFC 2018), first byte and byte after the last; (0, 0) is none.
    pub sack: [(u64, u64); 3],
    /// Timestamp value and echo reply (RFC 7323), in the transport's own clock.
    pub timestamps: (u64, u64),
    /// Anything else that a transport sends along.
    pub words: [u64; 2],
}

/// The entries of one run.
#[derive(Debug, Default)]
pub struct Slab {
    entries: Vec<Entry>,
    free: Vec<u32>,
    /// When the packet of an entry passed the place from which delays are measured a second time; only as long as an entry
    /// that has been stamped, so that entries without stamps are not larger.
    passed: Vec<Option<Time>>,
}

#[derive(Debug)]
struct Entry {
    side: Side,
    shares: u32,
}

impl Slab {
    /// Stores `side`, shared by one packet; returns its index.
    ///
    /// # Panics
    /// With 2^32 - 1 entries in use.
    pub fn insert(&mut self, side: Side) -> u32 {
        let entry = Entry { side, shares: 1 };
        if let Some(index) = self.free.pop() {
            if let Some(free) = self.entries.get_mut(to_usize(index)) {
                *free = entry;
            }
            if let Some(passed) = self.passed.get_mut(to_usize(index)) {
                *passed = None;
            }
            return index;
        }
        let index = u32::try_from(self.entries.len()).expect("fewer than 2^32 entries");
        self.entries.push(entry);
        index
    }

    /// Notes that the packet that refers to `index`, if to any, passes now; returns the index that it refers to from now
    /// on. Packets that it shared its entry with are not meant.
    pub(crate) fn stamp(&mut self, index: u32, now: Time) -> u32 {
        let side = self.get(index).copied();
        let alone = side.is_some() && self.entries[to_usize(index)].shares == 1;
        let own = if alone {
            index
        } else {
            self.release(index);
            self.insert(side.unwrap_or_default())
        };
        if self.passed.len() < self.entries.len() {
            self.passed.resize(self.entries.len(), None);
        }
        self.passed[to_usize(own)] = Some(now);
        own
    }

    /// When the packet that refers to `index` has passed, if it has.
    pub(crate) fn stamped(&self, index: u32) -> Option<Time> {
        let entry = self.entries.get(to_usize(index))?;
        let passed = self.passed.get(to_usize(index)).copied().flatten();
        passed.filter(|_| entry.shares > 0)
    }

    /// The entry, if `index` refers to one.
    pub fn get(&self, index: u32) -> Option<&Side> {
        self.entries
            .get(to_usize(index))
            .filter(|e| e.shares > 0)
            .map(|e| &e.side)
    }

    /// One more packet refers to the entry.
    pub fn share(&mut self, index: u32) {
        if let Some(entry) = self.entries.get_mut(to_usize(index)) {
            entry.shares += 1;
        }
    }

    /// One packet fewer refers to the entry.
    pub fn release(&mut self, index: u32) {
        if let Some(entry) = self.entries.get_mut(to_usize(index)) {
            assert!(entry.shares > 0, "side data released twice");
            entry.shares -= 1;
            if entry.shares == 0 {
                self.free.push(index);
            }
        }
    }

    /// True when no packet refers to any entry.
    pub fn is_empty(&self) -> bool {
        self.free.len() == self.entries.len()
    }
}

/// An index that came from a 32-bit id.
#[allow(
    clippy::as_conversions,
    reason = "usize has at least 32 bits on every supported target"
)]
#[inline]
pub const fn to_usize(index: u32) -> usize {
    index as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_of_one_packet() {
        let mut slab = Slab::default();
        let (early, late) = (Time::from_ps(1), Time::from_ps(2));
        let bare = slab.stamp(u32::MAX, early);
        assert_eq!(slab.stamped(bare), Some(early));
        slab.share(bare);
        let other = slab.stamp(bare, late);
        assert_eq!(
            (slab.stamped(bare), slab.stamped(other)),
            (Some(early), Some(late))
        );
        slab.release(bare);
        assert_eq!(slab.stamp(other, early), other);
        slab.release(other);
        assert!(slab.is_empty() && slab.stamped(other).is_none());
    }

    #[test]
    fn an_entry_lives_until_its_last_packet() {
        let mut slab = Slab::default();
        let a = slab.insert(Side {
            words: [7, 0],
            ..Side::default()
        });
        slab.share(a);
        slab.release(a);
        assert_eq!(slab.get(a).map(|s| s.words[0]), Some(7));
        slab.release(a);
        assert!(slab.is_empty() && slab.get(a).is_none());
        assert_eq!(slab.insert(Side::default()), a);
    }
}
