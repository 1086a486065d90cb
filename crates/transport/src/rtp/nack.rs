//! Packets that are missing, and how a receiver asks for them: generic negative acknowledgement.
//!
//! Source: RFC 4585 section 6.2.1 (an identifier and the bits of the sixteen packets after it), RFC 4588 section 6.3 (what is asked for
//! can be asked for again, after a round trip that the receiver estimates from what it asked for before, and not once it would come too
//! late). When a request may go is RTCP's business (RFC 4585 section 3.5). Left out: the extra wait of RFC 4588 section 6.3 for packets
//! that are merely out of order.

use crate::num::low16;
use sojourn_units::{Span, Time};
use std::collections::BTreeMap;

/// Entries of one request at most: what goes into the side data of a packet.
pub(super) const MOST_NACKS: usize = 16;

/// Packets after a first one of which an entry can tell.
const FOLLOWING: u64 = 16;

/// Packets that are waited for at most: of a longer gap, the last.
const MOST_WANTED: u64 = 1024;

/// A request for packets: entries of an identifier (PID) and the packets that follow it (BLP).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Nack {
    /// How many entries it has.
    pub count: u8,
    /// The entries, PID before BLP; those beyond the count are zero.
    pub entries: [(u16, u16); MOST_NACKS],
}

impl Nack {
    /// A request for the first of these packets, which rise, and how many of them it asks for.
    pub fn of(packets: &[u64]) -> (Nack, usize) {
        let mut nack = Nack::default();
        let mut places = nack.entries.iter_mut();
        let mut asked = 0;
        while let Some(first) = packets.get(asked)
            && let Some(place) = places.next()
        {
            nack.count += 1;
            place.0 = low16(*first);
            asked += 1;
            while let Some(next) = packets.get(asked)
                && let after = next - first
                && (1..=FOLLOWING).contains(&after)
            {
                place.1 |= 1 << (after - 1);
                asked += 1;
            }
        }
        (nack, asked)
    }

    /// The packets that it asks for.
    pub fn packets(&self) -> impl Iterator<Item = u16> + '_ {
        let entries = self.entries.iter().take(usize::from(self.count));
        entries.flat_map(|(first, following)| {
            let set = (0..16u16).filter(move |bit| following >> bit & 1 == 1);
            std::iter::once(*first).chain(set.map(move |bit| first.wrapping_add(bit + 1)))
        })
    }

    /// Bytes without the headers below: RTCP header, sender and source, and four per entry.
    pub fn size(&self) -> u32 {
        12 + 4 * u32::from(self.count)
    }
}

/// A packet that is missing.
#[derive(Clone, Copy, Debug)]
struct Missing {
    /// When it was asked for first and last.
    asked: Option<(Time, Time)>,
    /// From when on it would come too late.
    until: Time,
}

/// What a receiver misses.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// Time after which a packet may be asked for again.
    again: Span,
    newest: Option<u64>,
    missing: BTreeMap<u64, Missing>,
}

impl Wanted {
    /// Nothing is missing; a packet may be asked for again after `again`.
    pub(super) fn new(again: Span) -> Wanted {
        Wanted {
            again,
            newest: None,
            missing: BTreeMap::new(),
        }
    }

    /// A packet has arrived, whose media is played at `due`: what is missing before it is due earlier.
    pub(super) fn on_packet(&mut self, seq: u64, due: Time) {
        self.missing.remove(&seq);
        let newest = self.newest.unwrap_or(seq);
        for missing in (newest + 1).max(seq.saturating_sub(MOST_WANTED))..seq {
            let asked = None;
            self.missing.insert(missing, Missing { asked, until: due });
        }
        self.newest = Some(newest.max(seq));
    }

    /// A packet has come again: how long after it was asked for first, and whether that was the only time.
    pub(super) fn answered(&self, seq: u64, now: Time) -> Option<(Span, bool)> {
        let (first, last) = self.missing.get(&seq)?.asked?;
        Some((now.saturating_since(first), first == last))
    }

    /// The packets that should be asked for now, rising, where an answer takes so long. Those that would come too late are given up.
    pub(super) fn due(&mut self, now: Time, answer: Option<Span>) -> Vec<u64> {
        self.missing.retain(|_, missing| now < missing.until);
        let again = self.again.max(answer.unwrap_or(Span::ZERO));
        let open = |missing: &Missing| {
            missing
                .asked
                .is_none_or(|(_, last)| now.saturating_since(last) >= again)
        };
        let all = self.missing.iter().filter(|(_, missing)| open(missing));
        all.map(|(seq, _)| *seq).collect()
    }

    /// These are asked for.
    pub(super) fn asked(&mut self, packets: &[u64], now: Time) {
        for seq in packets {
            if let Some(missing) = self.missing.get_mut(seq) {
                let first = missing.asked.map_or(now, |asked| asked.0);
                missing.asked = Some((first, now));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    #[test]
    fn an_entry_has_a_packet_and_a_bit_for_each_of_the_sixteen_after_it() {
        let (nack, asked) = Nack::of(&[100, 101, 103, 116, 117, 134]);
        assert_eq!((nack.count, asked, nack.size()), (3, 6, 24));
        assert_eq!(
            nack.entries[..3],
            [(100, 0b1000_0000_0000_0101), (117, 0), (134, 0)]
        );
        // 117 and 134 are seventeen apart, one more than the bits.
        let (nack, _) = Nack::of(&[117, 133]);
        assert_eq!((nack.count, nack.entries[0]), (1, (117, 1 << 15)));
        assert_eq!(Nack::of(&[]).0.packets().count(), 0);
    }

    #[test]
    fn what_is_asked_for_is_what_is_read_also_where_numbers_wrap() {
        let wanted = [65_530u64, 65_535, 65_536, 65_540, 65_546, 65_547, 70_000];
        let (nack, asked) = Nack::of(&wanted);
        assert_eq!(asked, wanted.len());
        let read: Vec<u16> = nack.packets().collect();
        let low: Vec<u16> = wanted.iter().map(|seq| low16(*seq)).collect();
        assert_eq!(read, low);
    }

    #[test]
    fn a_request_ends_where_its_packet_is_full() {
        let wanted: Vec<u64> = (0..40).map(|n| 1000 + 20 * n).collect();
        let (nack, asked) = Nack::of(&wanted);
        assert_eq!((usize::from(nack.count), asked), (MOST_NACKS, MOST_NACKS));
        assert_eq!(nack.packets().count(), MOST_NACKS);
    }

    #[test]
    fn a_packet_is_asked_for_until_it_comes_or_would_come_too_late() {
        let mut wanted = Wanted::new(Span::from_ms(50));
        wanted.on_packet(7, at(100));
        assert!(wanted.due(at(10), None).is_empty());
        wanted.on_packet(10, at(200));
        assert_eq!(wanted.due(at(20), None), [8, 9]);
        wanted.asked(&[8, 9], at(20));
        assert!(wanted.due(at(69), None).is_empty());
        assert_eq!(wanted.due(at(70), None), [8, 9]);
        wanted.on_packet(8, at(90));
        assert_eq!(wanted.due(at(70), None), [9]);
        assert!(wanted.due(at(200), None).is_empty());
        // What was out of order was not lost, and what comes first has nothing before it.
        wanted.on_packet(9, at(200));
        wanted.on_packet(11, at(300));
        assert!(wanted.due(at(210), None).is_empty());
    }

    #[test]
    fn of_a_long_gap_the_last_packets_are_wanted() {
        let mut wanted = Wanted::new(Span::from_ms(50));
        wanted.on_packet(0, at(1000));
        wanted.on_packet(1 << 40, at(1000));
        let all = wanted.due(at(0), None);
        assert_eq!(all.len(), 1024);
        assert_eq!(all.last(), Some(&((1 << 40) - 1)));
    }
}
