//! When a sender may send whose congestion control asks for a rate.
//!
//! Source: tcp_output.c of Linux 6.1, which was read: tcp_pacing_check, tcp_tso_autosize, tcp_update_skb_after_send, tcp_xmit_size_goal.
//! What an application writes lies in buffers of 64 KiB less headers there, and leaves them in pieces of what the rate sends in 1/1024 s,
//! two segments at least (one below 1.2 Mbps); a piece that ends a buffer may be shorter. Beside traces of BBR in Linux 6.1: what it has
//! sent at 10 Mbps is of one parity for 45 segments, then of the other.

use super::params::PacingUnit;
use sojourn_units::{Rate, Time};

/// Segments at the beginning of a connection that no gap follows (tcp_update_skb_after_send).
const FREE: u32 = 10;
/// Payload of a buffer: 65 536 bytes less MAX_TCP_HEADER, of which whole segments are used.
const BUFFER: u64 = 65_215;
/// Part of a second that makes a piece (sk_pacing_shift), and the rate below which a segment is one (tcp_bbr.c, bbr_min_tso_rate).
const PER_SECOND: u64 = 1024;
const SINGLE_BELOW: Rate = Rate::bps(1_200_000);

/// What a paced sender remembers.
#[derive(Clone, Debug)]
pub(super) struct Pacer {
    /// The next piece is not sent before.
    until: Time,
    pieces: bool,
    /// Segments of the piece at hand that may still go at once, of the buffer at hand, and of the beginning.
    piece: u32,
    buffer: u32,
    free: u32,
}

impl Pacer {
    /// Of a connection that has not sent.
    pub(super) fn new(unit: PacingUnit) -> Pacer {
        Pacer {
            until: Time::ZERO,
            pieces: unit == PacingUnit::Pieces,
            piece: 0,
            buffer: 0,
            free: if unit == PacingUnit::Pieces { FREE } else { 0 },
        }
    }

    /// Until when the next segment has to wait.
    #[inline]
    pub(super) fn holds(&self, now: Time) -> Option<Time> {
        (self.until > now && self.piece == 0).then_some(self.until)
    }

    /// What is sent from now on is a piece of its own.
    #[inline]
    pub(super) fn begin(&mut self) {
        self.piece = 0;
    }

    /// Nothing has to wait.
    #[inline]
    pub(super) fn release(&mut self, now: Time) {
        self.until = now;
    }

    /// A segment was sent, `again` or for the first time.
    pub(super) fn on_sent(&mut self, now: Time, bytes: u64, mss: u64, again: bool, rate: Rate) {
        let gap = rate.serialization(bytes);
        if !self.pieces {
            self.until = self.until.max(now).saturating_add(gap);
            return;
        }
        if again {
            self.piece = 0;
        } else {
            if self.buffer == 0 {
                self.buffer = narrow(BUFFER / mss.max(1)).max(1);
            }
            if self.piece == 0 {
                let least = if rate < SINGLE_BELOW { 1 } else { 2 };
                let most = rate.as_bps() / 8 / PER_SECOND / mss.max(1);
                self.piece = narrow(most).max(least).min(self.buffer);
            }
            self.piece -= 1;
            self.buffer -= 1;
        }
        self.free = self.free.saturating_sub(1);
        if self.free > 0 {
            self.until = self.until.max(now);
            return;
        }
        // What was sent late shortens the gap that follows.
        let late = now.saturating_since(self.until);
        let gap = gap - late.min(gap / 2);
        self.until = self.until.max(now).saturating_add(gap);
    }
}

/// A count of segments.
fn narrow(segments: u64) -> u32 {
    u32::try_from(segments).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::Span;

    const MSS: u64 = 1448;

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    /// When each of `count` segments is sent by a sender that always has one.
    fn times(unit: PacingUnit, count: u32, rate: Rate) -> Vec<Time> {
        let mut pacer = Pacer::new(unit);
        let mut now = Time::ZERO;
        (0..count)
            .map(|_| {
                if let Some(until) = pacer.holds(now) {
                    now = until;
                    pacer.begin();
                }
                pacer.on_sent(now, MSS, MSS, false, rate);
                now
            })
            .collect()
    }

    #[test]
    fn segments_are_spaced_by_the_rate() {
        let sent = times(PacingUnit::Segments, 4, Rate::mbps(11));
        let gaps: Vec<_> = sent.windows(2).map(|two| two[1] - two[0]).collect();
        assert_eq!(gaps, [Rate::mbps(11).serialization(MSS); 3]);
    }

    #[test]
    fn pieces_of_two_follow_the_first_ten_and_a_single_segment_ends_a_buffer() {
        let rate = Rate::mbps(10);
        let sent = times(PacingUnit::Pieces, 60, rate);
        let at_once = |from: usize| sent[from..].iter().filter(|&&t| t == sent[from]).count();
        assert_eq!(at_once(0), 10);
        let mut sizes = Vec::new();
        let mut next = 10;
        while next < 58 {
            sizes.push(at_once(next));
            next += at_once(next);
        }
        // 45 segments in a buffer: 10, seventeen pieces of two, a single one.
        assert_eq!(sizes[..17], [2; 17]);
        assert_eq!(sizes[17], 1);
        assert_eq!(sizes[18..], [2; 7]);
    }

    #[test]
    fn below_1200_kbps_each_segment_is_a_piece() {
        let sent = times(PacingUnit::Pieces, 20, Rate::kbps(1000));
        assert!(sent[10..].windows(2).all(|two| two[0] < two[1]));
    }

    #[test]
    fn at_most_half_of_a_gap_is_made_up_for() {
        let rate = Rate::kbps(1000);
        let gap = rate.serialization(MSS);
        for (late, expected) in [
            (1000, gap - Span::from_us(1000)),
            (1_000_000, gap - gap / 2),
        ] {
            let mut pacer = Pacer::new(PacingUnit::Pieces);
            pacer.free = 0;
            pacer.release(at(100));
            let now = at(100 + late);
            pacer.on_sent(now, MSS, MSS, false, rate);
            assert_eq!(pacer.holds(now), Some(now + expected));
        }
    }
}
