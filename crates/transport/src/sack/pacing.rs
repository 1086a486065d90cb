//! When a sender may send whose congestion control asks for a rate.
//!
//! Source: tcp_output.c of Linux 6.1, which was read: tcp_pacing_check and tcp_update_skb_after_send.

use super::params::SendUnit;
use sojourn_units::{Rate, Span, Time};

/// Segments at the beginning of a connection that no gap follows (tcp_update_skb_after_send).
const FREE: u32 = 10;

/// What a paced sender remembers.
#[derive(Clone, Debug)]
pub(super) struct Pacer {
    /// What is next is not sent before.
    until: Time,
    /// What was sent late shortens the gap that follows.
    makes_up: bool,
    /// Segments of the beginning that may still go at once.
    free: u32,
}

impl Pacer {
    /// Of a connection that has not sent.
    pub(super) fn new(unit: SendUnit) -> Pacer {
        let linux = unit == SendUnit::Pieces;
        Pacer {
            until: Time::ZERO,
            makes_up: linux,
            free: if linux { FREE } else { 0 },
        }
    }

    /// Until when the next segment, or piece, has to wait.
    #[inline]
    pub(super) fn holds(&self, now: Time) -> Option<Time> {
        (self.until > now).then_some(self.until)
    }

    /// Nothing has to wait.
    #[inline]
    pub(super) fn release(&mut self, now: Time) {
        self.until = now;
    }

    /// A segment was sent, and nothing more is before that time has passed, unless a wait goes on (ns-3).
    pub(super) fn wait(&mut self, now: Time, gap: Span) {
        if self.until <= now {
            self.until = now.saturating_add(gap);
        }
    }

    /// A segment was sent.
    pub(super) fn on_sent(&mut self, now: Time, bytes: u64, rate: Rate) {
        let gap = rate.serialization(bytes);
        self.free = self.free.saturating_sub(1);
        if self.free > 0 {
            self.until = self.until.max(now);
            return;
        }
        let late = match self.makes_up {
            true => now.saturating_since(self.until).min(gap / 2),
            false => Span::ZERO,
        };
        self.until = self.until.max(now).saturating_add(gap - late);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1448;

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    /// When each of `count` segments is sent by a sender that always has one.
    fn times(unit: SendUnit, count: u32, rate: Rate) -> Vec<Time> {
        let mut pacer = Pacer::new(unit);
        let mut now = Time::ZERO;
        (0..count)
            .map(|_| {
                now = pacer.holds(now).unwrap_or(now);
                pacer.on_sent(now, MSS, rate);
                now
            })
            .collect()
    }

    #[test]
    fn segments_are_spaced_by_the_rate() {
        let sent = times(SendUnit::Segments, 4, Rate::mbps(11));
        let gaps: Vec<_> = sent.windows(2).map(|two| two[1] - two[0]).collect();
        assert_eq!(gaps, [Rate::mbps(11).serialization(MSS); 3]);
    }

    #[test]
    fn the_first_ten_segments_of_linux_are_not_spaced() {
        let sent = times(SendUnit::Pieces, 12, Rate::mbps(10));
        assert_eq!(sent[..10], [Time::ZERO; 10]);
        assert!(sent[9] < sent[10] && sent[10] < sent[11]);
    }

    #[test]
    fn at_most_half_of_a_gap_is_made_up_for() {
        let rate = Rate::kbps(1000);
        let gap = rate.serialization(MSS);
        for (late, expected) in [
            (1000, gap - Span::from_us(1000)),
            (1_000_000, gap - gap / 2),
        ] {
            let mut pacer = Pacer::new(SendUnit::Pieces);
            pacer.free = 0;
            pacer.release(at(100));
            let now = at(100 + late);
            pacer.on_sent(now, MSS, rate);
            assert_eq!(pacer.holds(now), Some(now + expected));
        }
    }
}
