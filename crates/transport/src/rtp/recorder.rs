//! What a receiver keeps for congestion control feedback (RFC 8888): which packets arrived, when, and how marked.
//!
//! Source: RFC 8888 section 3.1. A report covers packets that no earlier report covered, in order of their numbers, and of at most
//! [`MOST_ENTRIES`]; when this number has come, it is due before its time. One that arrives after its number was reported missing is not
//! reported again (the RFC lets a report overlap those before it; here losses are final).

use super::report::{Arrived, Feedback, MOST_ENTRIES, middle, ntp};
use crate::num::low16;
use sojourn_units::Time;

/// The packets that no report has covered.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    begun: bool,
    /// The number of the first of them.
    begin: u64,
    waiting: Vec<Option<(Time, u8)>>,
}

impl Recorder {
    /// Packet number `seq` has arrived with these bits of ECN; says whether a report is due because it would be full.
    pub fn on_packet(&mut self, seq: u64, ecn: u8, now: Time) -> bool {
        if !self.begun {
            self.begun = true;
            self.begin = seq;
        }
        let Some(place) = seq.checked_sub(self.begin) else {
            return false;
        };
        let place = usize::try_from(place).unwrap_or(usize::MAX);
        // A gap longer than reports can cover is not walked through.
        if place >= 64 * MOST_ENTRIES {
            self.waiting.clear();
            self.begin = seq;
            self.waiting.push(Some((now, ecn)));
            return false;
        }
        if place >= self.waiting.len() {
            self.waiting.resize(place + 1, None);
        }
        if let Some(entry) = self.waiting.get_mut(place) {
            entry.get_or_insert((now, ecn));
        }
        self.waiting.len() >= MOST_ENTRIES
    }

    /// Whether there is anything to tell.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The next report; none if there is nothing to tell.
    pub fn report(&mut self, now: Time) -> Option<Feedback> {
        if self.waiting.is_empty() {
            return None;
        }
        let count = self.waiting.len().min(MOST_ENTRIES);
        let mut entries = [0; MOST_ENTRIES];
        for (entry, packet) in entries.iter_mut().zip(self.waiting.drain(..count)) {
            *entry = Feedback::entry(packet.map(|(at, ecn)| Arrived {
                ecn,
                before: before(at, now),
            }));
        }
        let begin = low16(self.begin);
        self.begin += u64::try_from(count).unwrap_or(0);
        Some(Feedback {
            begin,
            count: u16::try_from(count).unwrap_or(0),
            entries,
            at: middle(ntp(now)),
        })
    }
}

/// A time ago in units of 1/1024 s.
fn before(at: Time, now: Time) -> Option<u16> {
    let units = u128::from(now.saturating_since(at).as_ps()) * 1024 / 1_000_000_000_000;
    u16::try_from(units).ok().filter(|units| *units < 0x1ffe)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::Span;

    #[test]
    fn a_report_tells_of_every_number_once_and_is_due_when_full() {
        let mut recorder = Recorder::default();
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        assert!(recorder.report(at(0)).is_none());
        for seq in [65_534, 65_536, 65_535, 65_539] {
            assert!(!recorder.on_packet(seq, 2, at(seq - 65_500)));
        }
        let report = recorder.report(at(139)).unwrap();
        assert_eq!((report.begin, report.count), (65_534, 6));
        let told: Vec<_> = (0..6)
            .map(|n| Feedback::arrived(report.entries[n]))
            .collect();
        assert!(told[3].is_none() && told[4].is_none());
        // 105 ms before.
        assert_eq!(
            told[0],
            Some(Arrived {
                ecn: 2,
                before: Some(107)
            })
        );
        assert_eq!(report.size(), 8 + 8 + 12 + 4);
        // Late news of what was reported missing.
        assert!(!recorder.on_packet(65_537, 2, at(140)) && recorder.is_empty());
        let full = (65_540..).take_while(|seq| !recorder.on_packet(*seq, 0, at(150)));
        assert_eq!(full.count(), MOST_ENTRIES - 1);
    }
}
