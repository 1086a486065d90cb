//! Moments and lengths of simulated time, in whole picoseconds.
//!
//! A picosecond is fine enough for one byte at 400 Gbps to be exactly 20 units, and a `u64` of them spans 213 days.
//! [`Time`] is a moment counted from the start of the run, [`Span`] a length; only what makes sense between the two compiles.
//!
//! Constructors refuse what does not fit. The operators overflow as Rust's integers do: a panic where overflow checks are on (development and test profiles),
//! wrapping in a release build. Where input may be extreme use the `checked_` and `saturating_` forms.

use core::iter::Sum;
use core::ops::{Add, AddAssign, Div, Mul, Rem, Sub, SubAssign};

use crate::convert::{nearest_f64, nearest_u64};

const PS_PER_NS: u64 = 1_000;
const PS_PER_US: u64 = 1_000_000;
const PS_PER_MS: u64 = 1_000_000_000;
pub(crate) const PS_PER_S: u64 = 1_000_000_000_000;
const PS_PER_S_F64: f64 = 1e12;

/// A moment of simulated time: picoseconds since the start of the run.
///
/// ```
/// use sojourn_units::{Span, Time};
///
/// let sent = Time::ZERO + Span::from_ms(5);
/// let received = sent + Span::from_us(120);
/// assert_eq!(received - sent, Span::from_us(120));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

/// A length of simulated time in picoseconds. There is no negative length.
///
/// ```
/// use sojourn_units::Span;
///
/// let target: Span = "5 ms".parse()?;
/// assert_eq!(target, Span::from_ms(5));
/// assert_eq!(target.to_string(), "5ms");
/// assert_eq!(target * 20, Span::from_ms(100));
/// # Ok::<(), sojourn_units::UnitError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// The last moment there is, 213 days after the start; stands for "never".
    pub const MAX: Time = Time(u64::MAX);

    /// The moment `ps` picoseconds after the start.
    #[inline]
    pub const fn from_ps(ps: u64) -> Time {
        Time(ps)
    }

    /// Picoseconds since the start.
    #[inline]
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Whole nanoseconds since the start, rounded down.
    #[inline]
    pub const fn as_ns(self) -> u64 {
        self.0 / PS_PER_NS
    }

    /// Seconds since the start, for output and formulas; never for the time of an event.
    #[inline]
    pub const fn as_secs_f64(self) -> f64 {
        nearest_f64(self.0) / PS_PER_S_F64
    }

    /// The length from `earlier` to this moment.
    ///
    /// # Panics
    /// When `earlier` is later than this moment, in release builds too.
    #[inline]
    #[track_caller]
    pub fn since(self, earlier: Time) -> Span {
        if self.0 < earlier.0 {
            went_back(self, earlier);
        }
        Span(self.0 - earlier.0)
    }

    /// The length from `earlier` to this moment, zero when `earlier` is later.
    #[inline]
    pub const fn saturating_since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// The length from `earlier` to this moment, `None` when `earlier` is later.
    #[inline]
    pub const fn checked_since(self, earlier: Time) -> Option<Span> {
        match self.0.checked_sub(earlier.0) {
            Some(ps) => Some(Span(ps)),
            None => None,
        }
    }

    /// The moment `span` later, `None` beyond [`Time::MAX`].
    #[inline]
    pub const fn checked_add(self, span: Span) -> Option<Time> {
        match self.0.checked_add(span.0) {
            Some(ps) => Some(Time(ps)),
            None => None,
        }
    }

    /// The moment `span` later, at most [`Time::MAX`].
    #[inline]
    pub const fn saturating_add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }

    /// The moment `span` earlier, `None` before the start.
    #[inline]
    pub const fn checked_sub(self, span: Span) -> Option<Time> {
        match self.0.checked_sub(span.0) {
            Some(ps) => Some(Time(ps)),
            None => None,
        }
    }

    /// The moment `span` earlier, at least [`Time::ZERO`].
    #[inline]
    pub const fn saturating_sub(self, span: Span) -> Time {
        Time(self.0.saturating_sub(span.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);
    /// The longest length, 213 days; stands for "for ever".
    pub const MAX: Span = Span(u64::MAX);

    /// A span in picoseconds.
    #[inline]
    pub const fn from_ps(ps: u64) -> Span {
        Span(ps)
    }

    /// A span in nanoseconds.
    #[inline]
    #[track_caller]
    pub const fn from_ns(ns: u64) -> Span {
        Span(fitting(ns, PS_PER_NS))
    }

    /// A span in microseconds.
    #[inline]
    #[track_caller]
    pub const fn from_us(us: u64) -> Span {
        Span(fitting(us, PS_PER_US))
    }

    /// A span in milliseconds.
    #[inline]
    #[track_caller]
    pub const fn from_ms(ms: u64) -> Span {
        Span(fitting(ms, PS_PER_MS))
    }

    /// A span in seconds.
    #[inline]
    #[track_caller]
    pub const fn from_secs(secs: u64) -> Span {
        Span(fitting(secs, PS_PER_S))
    }

    /// The length nearest to a number of seconds: the one place where a float becomes time. Halves go up; what does not
    /// fit, infinity included, becomes [`Span::MAX`].
    ///
    /// # Panics
    /// When `secs` is negative or not a number.
    #[inline]
    #[track_caller]
    pub fn round_from_secs(secs: f64) -> Span {
        assert!(
            secs >= 0.0,
            "a length of time is a number of seconds from 0 up, not {secs}"
        );
        Span(nearest_u64(secs * PS_PER_S_F64))
    }

    /// Picoseconds.
    #[inline]
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Whole nanoseconds, rounded down.
    #[inline]
    pub const fn as_ns(self) -> u64 {
        self.0 / PS_PER_NS
    }

    /// Seconds, for output and formulas.
    #[inline]
    pub const fn as_secs_f64(self) -> f64 {
        nearest_f64(self.0) / PS_PER_S_F64
    }

    /// Whether this is no time at all.
    #[inline]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The sum, at most [`Span::MAX`].
    #[inline]
    pub const fn saturating_add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }

    /// The difference, zero when `other` is longer.
    #[inline]
    pub const fn saturating_sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }

    /// The multiple, at most [`Span::MAX`].
    #[inline]
    pub const fn saturating_mul(self, times: u64) -> Span {
        Span(self.0.saturating_mul(times))
    }

    /// The sum, `None` beyond [`Span::MAX`].
    #[inline]
    pub const fn checked_add(self, other: Span) -> Option<Span> {
        match self.0.checked_add(other.0) {
            Some(ps) => Some(Span(ps)),
            None => None,
        }
    }

    /// The difference, `None` when `other` is longer.
    #[inline]
    pub const fn checked_sub(self, other: Span) -> Option<Span> {
        match self.0.checked_sub(other.0) {
            Some(ps) => Some(Span(ps)),
            None => None,
        }
    }

    /// The multiple, `None` beyond [`Span::MAX`].
    #[inline]
    pub const fn checked_mul(self, times: u64) -> Option<Span> {
        match self.0.checked_mul(times) {
            Some(ps) => Some(Span(ps)),
            None => None,
        }
    }
}

impl Add<Span> for Time {
    type Output = Time;
    #[inline]
    fn add(self, span: Span) -> Time {
        Time(self.0 + span.0)
    }
}

impl Sub<Span> for Time {
    type Output = Time;
    #[inline]
    fn sub(self, span: Span) -> Time {
        Time(self.0 - span.0)
    }
}

impl AddAssign<Span> for Time {
    #[inline]
    fn add_assign(&mut self, span: Span) {
        self.0 += span.0;
    }
}

impl SubAssign<Span> for Time {
    #[inline]
    fn sub_assign(&mut self, span: Span) {
        self.0 -= span.0;
    }
}

/// As [`Time::since`]: panics when the right side is later.
impl Sub<Time> for Time {
    type Output = Span;
    #[inline]
    #[track_caller]
    fn sub(self, earlier: Time) -> Span {
        self.since(earlier)
    }
}

impl Add for Span {
    type Output = Span;
    #[inline]
    fn add(self, other: Span) -> Span {
        Span(self.0 + other.0)
    }
}

impl Sub for Span {
    type Output = Span;
    #[inline]
    fn sub(self, other: Span) -> Span {
        Span(self.0 - other.0)
    }
}

impl AddAssign for Span {
    #[inline]
    fn add_assign(&mut self, other: Span) {
        self.0 += other.0;
    }
}

impl SubAssign for Span {
    #[inline]
    fn sub_assign(&mut self, other: Span) {
        self.0 -= other.0;
    }
}

impl Mul<u64> for Span {
    type Output = Span;
    #[inline]
    fn mul(self, times: u64) -> Span {
        Span(self.0 * times)
    }
}

impl Mul<Span> for u64 {
    type Output = Span;
    #[inline]
    fn mul(self, span: Span) -> Span {
        span * self
    }
}

/// One of n equal parts, rounded down.
impl Div<u64> for Span {
    type Output = Span;
    #[inline]
    fn div(self, parts: u64) -> Span {
        Span(self.0 / parts)
    }
}

/// How many times the right side fits in whole.
impl Div<Span> for Span {
    type Output = u64;
    #[inline]
    fn div(self, other: Span) -> u64 {
        self.0 / other.0
    }
}

/// What remains when the right side is taken as often as it fits.
impl Rem<Span> for Span {
    type Output = Span;
    #[inline]
    fn rem(self, other: Span) -> Span {
        Span(self.0 % other.0)
    }
}

impl Sum for Span {
    fn sum<I: Iterator<Item = Span>>(spans: I) -> Span {
        spans.fold(Span::ZERO, Add::add)
    }
}

/// A number of units in picoseconds; past the range is a mistake, in release builds too.
#[inline]
#[track_caller]
const fn fitting(count: u64, ps_per_unit: u64) -> u64 {
    match count.checked_mul(ps_per_unit) {
        Some(ps) => ps,
        None => panic!("a length of time is at most 213 days"),
    }
}

/// Kept out of the inlined path.
#[cold]
#[inline(never)]
#[track_caller]
fn went_back(now: Time, earlier: Time) -> ! {
    panic!("time went back: {now} is before {earlier}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constructors_agree_with_each_other() {
        assert_eq!(Span::from_secs(1), Span::from_ms(1_000));
        assert_eq!(Span::from_ms(1), Span::from_us(1_000));
        assert_eq!(Span::from_us(1), Span::from_ns(1_000));
        assert_eq!(Span::from_ns(1), Span::from_ps(1_000));
    }

    #[test]
    #[should_panic(expected = "at most 213 days")]
    fn more_seconds_than_there_are_panic() {
        let _ = Span::from_secs(18_446_745);
    }

    #[test]
    fn nanoseconds_round_down() {
        assert_eq!(Span::from_ps(1_999).as_ns(), 1);
        assert_eq!(Time::from_ps(1_999).as_ns(), 1);
    }

    #[test]
    fn moments_and_lengths_do_the_usual_arithmetic() {
        let mut now = Time::from_ps(100);
        now += Span::from_ps(20);
        assert_eq!(now, Time::from_ps(120));
        now -= Span::from_ps(40);
        assert_eq!(now - Time::from_ps(50), Span::from_ps(30));
        assert_eq!(now - Span::from_ps(80), Time::ZERO);
        let span = Span::from_ps(17);
        assert_eq!(3 * span, Span::from_ps(51));
        assert_eq!(span / 5, Span::from_ps(3));
        assert_eq!(span / Span::from_ps(5), 3);
        assert_eq!(span % Span::from_ps(5), Span::from_ps(2));
        assert_eq!([span, span, span].into_iter().sum::<Span>(), span * 3);
    }

    #[test]
    #[should_panic(expected = "time went back: 5ms is before 7ms")]
    fn since_a_later_moment_panics_with_both_values() {
        let _ = (Time::ZERO + Span::from_ms(5)).since(Time::ZERO + Span::from_ms(7));
    }

    #[test]
    fn since_a_later_moment_can_be_asked_without_panic() {
        let (early, late) = (Time::from_ps(5), Time::from_ps(7));
        assert_eq!(early.saturating_since(late), Span::ZERO);
        assert_eq!(early.checked_since(late), None);
        assert_eq!(late.checked_since(early), Some(Span::from_ps(2)));
    }

    #[test]
    fn the_ends_of_the_range_saturate_or_say_none() {
        let one = Span::from_ps(1);
        assert_eq!(Time::MAX.checked_add(one), None);
        assert_eq!(Time::MAX.saturating_add(one), Time::MAX);
        assert_eq!(Time::ZERO.checked_sub(one), None);
        assert_eq!(Time::ZERO.saturating_sub(one), Time::ZERO);
        assert_eq!(Span::MAX.checked_add(one), None);
        assert_eq!(Span::MAX.saturating_add(one), Span::MAX);
        assert_eq!(Span::ZERO.checked_sub(one), None);
        assert_eq!(Span::ZERO.saturating_sub(one), Span::ZERO);
        assert_eq!(Span::MAX.checked_mul(2), None);
        assert_eq!(Span::MAX.saturating_mul(2), Span::MAX);
    }

    #[test]
    fn seconds_round_to_the_nearest_picosecond() {
        assert_eq!(Span::round_from_secs(0.005), Span::from_ms(5));
        assert_eq!(Span::round_from_secs(1.4e-12), Span::from_ps(1));
        assert_eq!(Span::round_from_secs(1.6e-12), Span::from_ps(2));
        assert_eq!(Span::round_from_secs(-0.0), Span::ZERO);
        assert_eq!(Span::round_from_secs(1e300), Span::MAX);
        assert_eq!(Span::round_from_secs(f64::INFINITY), Span::MAX);
    }

    #[test]
    #[should_panic(expected = "from 0 up, not -0.1")]
    fn negative_seconds_panic() {
        let _ = Span::round_from_secs(-0.1);
    }

    #[test]
    #[should_panic(expected = "from 0 up, not NaN")]
    fn not_a_number_of_seconds_panics() {
        let _ = Span::round_from_secs(f64::NAN);
    }
}
