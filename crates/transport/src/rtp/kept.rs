//! Packets that were sent and are kept for a while, because they may be asked for (RFC 4588 section 8: rtx-time).

use super::flight::extended;
use sojourn_units::{Span, Time};
use std::collections::VecDeque;

/// Packets by their numbers, which follow one another.
#[derive(Clone, Debug)]
pub(super) struct Kept<P> {
    time: Span,
    /// The number of the first.
    first: u64,
    packets: VecDeque<(Time, P)>,
}

impl<P: Copy> Kept<P> {
    /// Keeps packets for so long.
    pub(super) fn new(time: Span) -> Kept<P> {
        Kept {
            time,
            first: 0,
            packets: VecDeque::new(),
        }
    }

    /// Packet `seq`, the one after the last, was sent.
    pub(super) fn sent(&mut self, seq: u64, packet: P, now: Time) {
        self.forget(now);
        if self.packets.is_empty() {
            self.first = seq;
        }
        self.packets.push_back((now, packet));
    }

    /// The packet whose number has these lower 16 bits, where the next to be sent has number `next`; none if it is kept no more.
    pub(super) fn of(&mut self, low: u16, next: u64, now: Time) -> Option<P> {
        self.forget(now);
        let place = extended(low, next).checked_sub(self.first)?;
        let (_, packet) = self.packets.get(usize::try_from(place).ok()?)?;
        Some(*packet)
    }

    fn forget(&mut self, now: Time) {
        while let Some((sent, _)) = self.packets.front()
            && now.saturating_since(*sent) > self.time
        {
            self.packets.pop_front();
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_found_by_its_lower_bits_while_it_is_kept() {
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        let mut kept = Kept::new(Span::from_ms(100));
        for n in 0..20 {
            kept.sent(65_530 + n, n, at(10 * n));
        }
        // At 190 ms those from 90 ms on.
        let mut of = |low| kept.of(low, 65_550, at(190));
        assert_eq!((of(65_535), of(3), of(13)), (None, Some(9), Some(19)));
        assert_eq!((of(2), of(14)), (None, None));
        kept.sent(65_550, 20, at(1000));
        assert_eq!(kept.of(14, 65_551, at(1000)), Some(20));
    }
}
