//! When timers fire that stand in a wheel of slots, as in Linux.
//!
//! Source: the comments of Linux 6.1's kernel/time/timer.c (levels of 64 slots, each level eight times as coarse; a timer fires at the end of its slot and
//! never early), `LVL_START` for where the levels begin.

use sojourn_units::{Span, Time};

/// The ticks at which the second level begins; each further one begins at eight times as many.
const SECOND_LEVEL: u64 = 63;
/// Binary digits by which a level is coarser than the one below.
const COARSER: u32 = 3;
/// The coarsest level.
const LAST_LEVEL: u32 = 8;

/// The clock of a host's timers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimerWheel {
    /// Picoseconds; zero for timers that are exact.
    tick: u64,
}

impl TimerWheel {
    pub(crate) fn new(tick: Option<Span>) -> TimerWheel {
        let tick = tick.map_or(0, Span::as_ps);
        TimerWheel { tick }
    }

    /// When a timer fires that is set now for `wait` from now on.
    #[inline]
    pub(crate) fn expiry(self, now: Time, wait: Span) -> Time {
        if self.tick == 0 {
            now.saturating_add(wait)
        } else {
            self.end_of_slot(now, wait)
        }
    }

    fn end_of_slot(self, now: Time, wait: Span) -> Time {
        let ticks = wait.as_ps().div_ceil(self.tick);
        let mut level = 0;
        while level < LAST_LEVEL && ticks >= SECOND_LEVEL << (COARSER * level) {
            level += 1;
        }
        let shift = COARSER * level;
        let expiry = now.as_ps() / self.tick + ticks;
        let slot_end = ((expiry >> shift) + 1) << shift;
        Time::from_ps(slot_end.saturating_mul(self.tick))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    #[test]
    fn without_a_tick_timers_are_exact() {
        let wheel = TimerWheel::new(None);
        assert_eq!(wheel.expiry(at(1234), Span::from_us(777)), at(2011));
    }

    #[test]
    fn slots_widen_with_the_wait_and_a_timer_fires_when_its_slot_is_over() {
        let wheel = TimerWheel::new(Some(Span::from_ms(1)));
        let fires = |now, wait_us| wheel.expiry(at(now), Span::from_us(wait_us));
        // Waits below 63 ticks: tick 10 and 40 on; the tick after that.
        assert_eq!(fires(10_700, 40_000), at(51_000));
        // A part of a tick counts as one.
        assert_eq!(fires(10_700, 39_001), at(51_000));
        // 200 ticks from 10: 210 lies in the slot from 208 to 216.
        assert_eq!(fires(10_700, 200_000), at(216_000));
        // At the edge of a slot the next one.
        assert_eq!(fires(8_000, 200_000), at(216_000));
        // 600 ticks: slots of 64, 610 lies before 640.
        assert_eq!(fires(10_700, 600_000), at(640_000));
    }

    #[test]
    fn no_timer_fires_early_and_none_later_than_a_seventh_of_its_wait_and_two_ticks() {
        let wheel = TimerWheel::new(Some(Span::from_ms(1)));
        for wait in (1..9000).map(Span::from_ms) {
            for now in [0, 999, 4_500, 63_999, 1_234_567].map(at) {
                let late = wheel.expiry(now, wait).since(now + wait);
                assert!(
                    late <= wait / 7 + Span::from_ms(2),
                    "{wait} at {now}: {late}"
                );
            }
        }
    }
}
