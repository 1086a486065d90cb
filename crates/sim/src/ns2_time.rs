//! The clock of ns-2: seconds in double precision, to which each event adds how long it takes until the next.
//!
//! Events that coincide on paper lie some units of the last place apart in ns-2, to one side or the other as the sums round, and
//! ns-2 runs them in that order (scheduler.cc and delay.cc of ns-2.35, behaviour). A flow that is clocked by its own acknowledgements has
//! such coincidences all the time: packets arrive when others depart, and which comes first decides what is dropped.
//!
//! Here an event has its time in whole picoseconds, on this clock the nearest to ns-2's, and a [birth], which is read when times are
//! equal. On this clock the birth says first how far ns-2's time lies from the picosecond, then how many events were scheduled
//! before it. ns-2 orders events of equal times by that number. To count them everything has to happen in its order, so links are
//! eager on this clock.
//!
//! [birth]: crate::network::Key::birth

use sojourn_units::{Span, Time};

/// Bits behind the point of a second in which distances are counted: times from 4 ms on have no more.
const FRACTION_BITS: u32 = 60;

/// Bits of a birth that say how many events were scheduled before.
const SCHEDULED_BITS: u32 = 36;

/// What is added to a distance, so that a birth of this kind is larger than any time of a run (2^62 ps are 53 days).
const MIDDLE: i128 = 1 << 27;

/// Distances of more than 58 ps are taken as that much.
const MOST: i128 = MIDDLE / 2;

/// Births below this are plain times.
const LEAST: u64 = 1 << 62;

/// Gives events their births.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    scheduled: u64,
}

impl Clock {
    /// The time and the birth of an event that is scheduled now, and that ns-2 has at `seconds`.
    pub(crate) fn event(&mut self, seconds: f64) -> (Time, Time) {
        let at = Time::ZERO + Span::round_from_secs(seconds);
        (at, self.birth(at, seconds))
    }

    /// The birth of an event at `at` that an event at `now` with the birth `born` schedules.
    pub(crate) fn scheduled(&mut self, at: Time, (now, born): (Time, Time)) -> Time {
        self.birth(at, seconds(now, born) + at.since(now).as_secs_f64())
    }

    /// The birth of an event that comes after those that happen at its time by themselves.
    pub(crate) fn latest(&mut self) -> Time {
        self.joined(MIDDLE + MOST)
    }

    fn birth(&mut self, at: Time, seconds: f64) -> Time {
        self.joined((scaled(seconds) - whole(at)).clamp(-MOST, MOST) + MIDDLE)
    }

    fn joined(&mut self, distance: i128) -> Time {
        let distance = u64::try_from(distance).unwrap_or(0);
        let number = self.scheduled & ((1 << SCHEDULED_BITS) - 1);
        self.scheduled += 1;
        Time::from_ps((distance << SCHEDULED_BITS) | number)
    }
}

/// ns-2's time of an event at `at`, in seconds.
pub(crate) fn seconds(at: Time, birth: Time) -> f64 {
    if birth.as_ps() < LEAST {
        // Not scheduled on this clock: the beginning of the run, a change of a link, of a group.
        return at.as_secs_f64();
    }
    let distance = i128::from(birth.as_ps() >> SCHEDULED_BITS) - MIDDLE;
    unscaled(whole(at) + distance)
}

/// ns-2's time of an event at `at`, in microseconds as its traces print it; `None` for an event that was not scheduled on this clock.
/// Trace::round of trace.h: floor(x * 1e6 + .5), in double precision.
pub(crate) fn traced_us(at: Time, birth: Time) -> Option<u64> {
    (birth.as_ps() >= LEAST).then(|| whole_us(seconds(at, birth)))
}

#[allow(clippy::as_conversions, reason = "not negative and far below 2^53")]
fn whole_us(seconds: f64) -> u64 {
    (seconds * 1e6 + 0.5).floor() as u64
}

/// How long ns-2's link takes to send `bytes` at this rate, in seconds.
pub(crate) fn transmission(bytes: u32, bps: u64) -> f64 {
    8.0 * f64::from(bytes) / float(bps)
}

/// A time in units of 2^-60 s, rounded down: 10^12 is 2^12 times 5^12.
fn whole(at: Time) -> i128 {
    const FIVE_12: u128 = 244_140_625;
    let units = (u128::from(at.as_ps()) << (FRACTION_BITS - 12)) / FIVE_12;
    i128::try_from(units).unwrap_or(i128::MAX)
}

#[allow(
    clippy::as_conversions,
    reason = "exact: a whole number below 2^100, or what is below 2^-60 s cut off"
)]
fn scaled(seconds: f64) -> i128 {
    const UNITS: f64 = (1_u64 << FRACTION_BITS) as f64;
    (seconds * UNITS) as i128
}

#[allow(
    clippy::as_conversions,
    reason = "exact where the number came from a double: it has 53 significant bits"
)]
fn unscaled(units: i128) -> f64 {
    const UNITS: f64 = (1_u64 << FRACTION_BITS) as f64;
    units as f64 / UNITS
}

#[allow(clippy::as_conversions, reason = "rates lie far below 2^53")]
const fn float(value: u64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_comes_back_to_the_last_bit() {
        let mut clock = 0.0;
        for step in 1..2000_u64 {
            // What a flow adds: transmission and propagation, again and again.
            clock += 8.0 * 1040.0 / 1e7 + 0.08;
            let at = Time::ZERO + Span::from_us(832 + 80_000) * step;
            let born = Clock::default().birth(at, clock);
            assert_eq!(seconds(at, born), clock, "step {step}");
        }
    }

    #[test]
    fn events_at_one_picosecond_are_ordered_as_their_doubles_and_then_as_they_were_scheduled() {
        let at = Time::ZERO + Span::from_ms(10);
        let (one, other) = (0.01, f64::from_bits(0.01_f64.to_bits() + 1));
        let mut clock = Clock::default();
        let second = clock.birth(at, other);
        let first = clock.birth(at, one);
        assert!(first < second);
        assert!(first < clock.birth(at, one));
        assert!(clock.birth(at, other) < clock.latest());
    }
}
