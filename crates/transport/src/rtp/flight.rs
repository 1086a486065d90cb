//! What a sender of media has sent without feedback so far.

use super::report::{Feedback, middle, ntp};
use sojourn_cc::media::{MediaFeedback, PacketResult};
use sojourn_units::{Span, Time};
use std::collections::VecDeque;

/// Packets in the order in which they were sent.
#[derive(Clone, Debug, Default)]
pub(super) struct Flight {
    /// Number, bytes on the wire, and when.
    packets: VecDeque<(u64, u64, Time)>,
    bytes: u64,
    /// When feedback came last.
    heard: Option<Time>,
    /// What the last feedback told.
    results: Vec<PacketResult>,
}

impl Flight {
    /// Bytes in flight.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// A packet was sent.
    pub(super) fn sent(&mut self, seq: u64, bytes: u64, now: Time) {
        self.packets.push_back((seq, bytes, now));
        self.bytes += bytes;
    }

    /// Since when no feedback has come on what is in flight; none if nothing is.
    pub(super) fn silent_since(&self) -> Option<Time> {
        let (_, _, oldest) = self.packets.front()?;
        Some(self.heard.map_or(*oldest, |heard| heard.max(*oldest)))
    }

    /// No feedback will come on what is in flight.
    pub(super) fn give_up(&mut self, now: Time) {
        self.packets.clear();
        self.bytes = 0;
        self.heard = Some(now);
    }

    /// What feedback tells, where the next packet has number `next` and `waiting` bytes wait. Packets before those it reports, whose
    /// feedback was lost, are in flight no more, and nothing is known of them.
    pub(super) fn told(
        &mut self,
        feedback: &Feedback,
        next: u64,
        now: Time,
        waiting: u64,
    ) -> MediaFeedback<'_> {
        self.heard = Some(now);
        self.results.clear();
        let begin = extended(feedback.begin, next);
        let age = middle(ntp(now)).wrapping_sub(feedback.at);
        let made = now.saturating_sub(units(u64::from(age), 65_536));
        let mut newest = None;
        while let Some((seq, bytes, sent)) = self.packets.front().copied() {
            let place = match seq.checked_sub(begin) {
                Some(place) if place >= u64::from(feedback.count) => break,
                place => place,
            };
            self.packets.pop_front();
            self.bytes -= bytes;
            let entry = place
                .and_then(|place| usize::try_from(place).ok())
                .and_then(|place| feedback.entries.get(place));
            let Some(entry) = entry else {
                continue;
            };
            let arrived = Feedback::arrived(*entry);
            let at = arrived.map(|told| {
                let before = units(u64::from(told.before.unwrap_or(0x1ffe)), 1024);
                made.saturating_sub(before).max(sent)
            });
            if let Some(at) = at {
                newest = Some((sent, at));
            }
            self.results.push(PacketResult {
                bytes,
                sent,
                arrived: at,
                marked: arrived.is_some_and(|told| told.ecn == 3),
            });
        }
        MediaFeedback {
            now,
            packets: &self.results,
            round_trip: newest.map(|(sent, at)| {
                now.saturating_since(sent)
                    .saturating_sub(made.saturating_since(at))
            }),
            in_flight: self.bytes,
            waiting,
        }
    }
}

/// The given number of units; a second has `per_second`.
fn units(count: u64, per_second: u128) -> Span {
    let ps = u128::from(count) * 1_000_000_000_000 / per_second;
    Span::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
}

/// The number whose lower 16 bits these are, not above `next`.
pub(super) fn extended(low: u16, next: u64) -> u64 {
    let guess = (next & !0xffff) | u64::from(low);
    match guess > next {
        true => guess.saturating_sub(1 << 16),
        false => guess,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtp::recorder::Recorder;

    #[test]
    fn what_a_receiver_recorded_is_what_its_sender_learns() {
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        let (mut flight, mut recorder) = (Flight::default(), Recorder::default());
        for n in 0..8 {
            flight.sent(65_533 + n, 1000, at(70_000_000 + n));
            if n != 3 {
                recorder.on_packet(
                    65_533 + n,
                    if n == 5 { 3 } else { 2 },
                    at(70_000_050 + 2 * n),
                );
            }
        }
        flight.sent(65_541, 500, at(70_000_070));
        let feedback = recorder.report(at(70_000_080)).unwrap();
        let told = flight.told(&feedback, 65_542, at(70_000_130), 77);
        assert_eq!(
            (told.packets.len(), told.in_flight, told.waiting),
            (8, 500, 77)
        );
        for (packet, n) in told.packets.iter().zip(0u64..) {
            assert_eq!(packet.sent, at(70_000_000 + n));
            assert_eq!(packet.marked, n == 5);
            assert_eq!(packet.arrived.is_none(), n == 3);
            if let Some(arrived) = packet.arrived {
                // Units of 1/1024 s.
                let off = arrived.saturating_since(at(70_000_050 + 2 * n));
                assert!(off < Span::from_us(1000), "{off}");
            }
        }
        let trip = told.round_trip.unwrap();
        assert!(
            trip.saturating_sub(Span::from_ms(107)) < Span::from_ms(1),
            "{trip}"
        );
        assert_eq!(flight.silent_since(), Some(at(70_000_130)));
    }
}
