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

/// The entries of one run. What only acknowledgements with timestamps carry is kept apart, in entries of less than half a cache
/// line.
#[derive(Debug, Default)]
pub struct Slab {
    full: Shared<Side>,
    /// Their index has the highest bit, [`SHORT`].
    short: Shared<(u64, u64)>,
    /// When the packet of a full entry passed the place from which delays are measured a second time; only as long as an entry
    /// that has been stamped, so that entries without stamps are not larger.
    passed: Vec<Option<Time>>,
}

const SHORT: u32 = 1 << 31;

impl Slab {
    /// Stores `side`, shared by one packet; returns its index.
    ///
    /// # Panics
    /// With 2^31 - 1 entries in use.
    #[inline]
    pub fn insert(&mut self, side: Side) -> u32 {
        let index = self.full.insert(side);
        if let Some(passed) = self.passed.get_mut(to_usize(index)) {
            *passed = None;
        }
        index
    }

    /// As [`Slab::insert`], where the side data is nothing but timestamps.
    ///
    /// # Panics
    /// With 2^31 - 1 such entries in use.
    #[inline]
    pub fn insert_timestamps(&mut self, timestamps: (u64, u64)) -> u32 {
        self.short.insert(timestamps) | SHORT
    }

    /// Notes that the packet that refers to `index`, if to any, passes now; returns the index that it refers to from now
    /// on. Packets that it shared its entry with are not meant.
    pub(crate) fn stamp(&mut self, index: u32, now: Time) -> u32 {
        let own = if self.full.get(index).is_some_and(|entry| entry.shares == 1) {
            index
        } else {
            let side = self.get(index);
            self.release(index);
            self.insert(side.unwrap_or_default())
        };
        if self.passed.len() < self.full.entries.len() {
            self.passed.resize(self.full.entries.len(), None);
        }
        self.passed[to_usize(own)] = Some(now);
        own
    }

    /// When the packet that refers to `index` has passed, if it has.
    pub(crate) fn stamped(&self, index: u32) -> Option<Time> {
        self.full.get(index)?;
        self.passed.get(to_usize(index)).copied().flatten()
    }

    /// The side data, if `index` refers to an entry.
    #[inline(always)]
    pub fn get(&self, index: u32) -> Option<Side> {
        if index & SHORT == 0 {
            return self.full.get(index).map(|entry| entry.data);
        }
        let entry = self.short.get(index & !SHORT)?;
        Some(Side {
            timestamps: entry.data,
            ..Side::default()
        })
    }

    /// One more packet refers to the entry.
    pub fn share(&mut self, index: u32) {
        match index & SHORT {
            0 => self.full.share(index),
            _ => self.short.share(index & !SHORT),
        }
    }

    /// One packet fewer refers to the entry.
    #[inline]
    pub fn release(&mut self, index: u32) {
        match index & SHORT {
            0 => self.full.release(index),
            _ => self.short.release(index & !SHORT),
        }
    }

    /// True when no packet refers to any entry.
    pub fn is_empty(&self) -> bool {
        self.full.is_empty() && self.short.is_empty()
    }
}

/// Entries of one kind: a round, a power of two long. The next entry is the next place in the round that is free. Packets are released
/// about in the order in which they were sent, so that what is written and read next lies beside what was written and read
/// last, as it does not where the entry released last is taken first.
#[derive(Debug, Default)]
struct Shared<T> {
    entries: Vec<Entry<T>>,
    /// The place after the one taken last.
    next: u32,
    /// Entries that may be taken before the round is to become longer.
    room: u32,
}

#[derive(Clone, Debug, Default)]
struct Entry<T> {
    data: T,
    /// Packets that refer to it.
    shares: u32,
}

/// Entries to begin with.
const FIRST_ENTRIES: u32 = 16;

impl<T: Clone + Default> Shared<T> {
    #[inline]
    fn insert(&mut self, data: T) -> u32 {
        if self.room == 0 {
            self.grow();
        }
        self.room -= 1;
        let mask = self.len() - 1;
        loop {
            let index = self.next & mask;
            self.next = index + 1;
            if let Some(entry) = self.entries.get_mut(to_usize(index))
                && entry.shares == 0
            {
                *entry = Entry { data, shares: 1 };
                return index;
            }
        }
    }

    /// Places in the round; a quarter of them stay free, so that a free one is found soon.
    #[inline]
    #[allow(
        clippy::as_conversions,
        clippy::cast_possible_truncation,
        reason = "at most 2^31: see `grow`"
    )]
    fn len(&self) -> u32 {
        self.entries.len() as u32
    }

    /// Makes the round twice as long: what comes next is put into the new half.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let len = (2 * self.len()).max(FIRST_ENTRIES);
        // The greatest index with the highest bit is no packet's.
        assert!(len < SHORT, "fewer than 2^30 entries");
        self.next = self.len();
        self.room += (len - self.len()) / 4 * 3;
        self.entries.resize(to_usize(len), Entry::default());
    }
}

impl<T> Shared<T> {
    #[inline(always)]
    fn get(&self, index: u32) -> Option<&Entry<T>> {
        let entry = self.entries.get(to_usize(index));
        entry.filter(|entry| entry.shares > 0)
    }

    fn share(&mut self, index: u32) {
        if let Some(entry) = self.entries.get_mut(to_usize(index)) {
            entry.shares += 1;
        }
    }

    #[inline]
    fn release(&mut self, index: u32) {
        if let Some(entry) = self.entries.get_mut(to_usize(index)) {
            assert!(entry.shares > 0, "side data released twice");
            entry.shares -= 1;
            self.room += u32::from(entry.shares == 0);
        }
    }

    fn is_empty(&self) -> bool {
        to_usize(self.room) == self.entries.len() / 4 * 3
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
    fn timestamps_alone_are_side_data_like_any_other() {
        let mut slab = Slab::default();
        let short = slab.insert_timestamps((3, 4));
        let full = slab.insert(Side::default());
        let side = Side {
            timestamps: (3, 4),
            ..Side::default()
        };
        assert_eq!(
            (slab.get(short), slab.get(full)),
            (Some(side), Some(Side::default()))
        );
        slab.share(short);
        let stamped = slab.stamp(short, Time::from_ps(1));
        assert_eq!(slab.get(stamped), Some(side));
        assert_eq!((slab.stamped(short), slab.get(short)), (None, Some(side)));
        for index in [short, full, stamped, u32::MAX] {
            slab.release(index);
        }
        assert!(slab.is_empty() && slab.get(short).is_none() && slab.get(u32::MAX).is_none());
        let again = slab.insert_timestamps((5, 6));
        assert_eq!(again & SHORT, SHORT);
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
    }

    #[test]
    fn entries_are_taken_in_turn_around_those_in_use_and_only_as_many_as_are_needed() {
        let mut slab = Slab::default();
        let kept: Vec<u32> = (0..5)
            .map(|word| slab.insert_timestamps((word, 0)))
            .collect();
        let mut last = 0;
        for word in 5..1000 {
            let index = slab.insert_timestamps((word, 0));
            let next = (last + 1) & (FIRST_ENTRIES - 1);
            last = index & !SHORT;
            assert!(last == next || last == 5, "{last} after {next}");
            slab.release(index);
        }
        assert_eq!(slab.short.entries.len(), to_usize(FIRST_ENTRIES));
        let many: Vec<u32> = (0..100)
            .map(|word| slab.insert_timestamps((word, 1)))
            .collect();
        for (index, word) in kept.into_iter().chain(many).zip((0..5).chain(0..100)) {
            assert_eq!(slab.get(index).map(|side| side.timestamps.0), Some(word));
            slab.release(index);
        }
        assert!(slab.is_empty() && slab.short.entries.len() == 256);
    }
}
