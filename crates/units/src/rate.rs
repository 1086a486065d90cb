//! Bit rates, and the two questions asked of them: how long a number of bytes takes, and how many bytes pass in a time.

use core::iter::Sum;
use core::ops::{Add, Div, Mul, Sub};

use crate::convert::{nearest_f64, nearest_u64, saturate, widen};
use crate::size::Bytes;
use crate::time::{PS_PER_S, Span};

/// Bits in a byte times picoseconds in a second: the picoseconds that one byte takes at 1 bps.
const PS_PER_BYTE_AT_1_BPS: u64 = 8 * PS_PER_S;

/// A rate in bits per second.
///
/// ```
/// use sojourn_units::{Rate, Span};
///
/// let rate: Rate = "1.5 Mbps".parse()?;
/// assert_eq!(rate, Rate::kbps(1500));
/// assert_eq!(rate.serialization(1500), Span::from_ms(8));
/// assert_eq!(rate.bytes_in(Span::from_secs(1)), 187_500);
/// # Ok::<(), sojourn_units::UnitError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// Nothing moves.
    pub const ZERO: Rate = Rate(0);
    /// The fastest rate.
    pub const MAX: Rate = Rate(u64::MAX);

    /// A rate in bits per second.
    #[inline]
    pub const fn bps(bits: u64) -> Rate {
        Rate(bits)
    }

    /// A rate in thousands of bits per second.
    #[inline]
    #[track_caller]
    pub const fn kbps(kilobits: u64) -> Rate {
        Rate(fitting(kilobits, 1_000))
    }

    /// A rate in millions of bits per second.
    #[inline]
    #[track_caller]
    pub const fn mbps(megabits: u64) -> Rate {
        Rate(fitting(megabits, 1_000_000))
    }

    /// A rate in thousand millions of bits per second.
    #[inline]
    #[track_caller]
    pub const fn gbps(gigabits: u64) -> Rate {
        Rate(fitting(gigabits, 1_000_000_000))
    }

    /// Bits per second.
    #[inline]
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// Bits per second, for output and formulas.
    #[inline]
    pub const fn as_bps_f64(self) -> f64 {
        nearest_f64(self.0)
    }

    /// Whether nothing moves.
    #[inline]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The time that `bytes` take, to the nearest picosecond (halves up); at most [`Span::MAX`].
    ///
    /// # Panics
    /// At rate zero, where nothing is ever sent.
    #[inline]
    #[track_caller]
    pub const fn serialization(self, bytes: u64) -> Span {
        assert!(
            self.0 > 0,
            "at rate zero no packet is ever sent; check the rate before asking for a serialization time"
        );
        // One machine division for every packet size there is; the 128-bit one costs several times as much.
        if bytes <= (u64::MAX - self.0 / 2) / PS_PER_BYTE_AT_1_BPS {
            return Span::from_ps((bytes * PS_PER_BYTE_AT_1_BPS + self.0 / 2) / self.0);
        }
        let rate = widen(self.0);
        Span::from_ps(saturate(
            (widen(bytes) * widen(PS_PER_BYTE_AT_1_BPS) + rate / 2) / rate,
        ))
    }

    /// The bytes that pass in `span`, rounded down; the bandwidth-delay product when `span` is the base RTT.
    #[inline]
    pub const fn bytes_in(self, span: Span) -> u64 {
        // At most 2^128 / 8e12, so that the product fits; the quotient may not.
        saturate(widen(self.0) * widen(span.as_ps()) / widen(PS_PER_BYTE_AT_1_BPS))
    }

    /// The mean rate of `bytes` in `span`, rounded down; `None` when `span` is zero.
    #[inline]
    pub const fn of(bytes: Bytes, span: Span) -> Option<Rate> {
        if span.is_zero() {
            return None;
        }
        Some(Rate(saturate(
            widen(bytes.get()) * widen(PS_PER_BYTE_AT_1_BPS) / widen(span.as_ps()),
        )))
    }

    /// This rate times a factor, to the nearest bit per second; at most [`Rate::MAX`].
    ///
    /// # Panics
    /// When the factor is negative or not a number.
    #[inline]
    #[track_caller]
    pub fn scale(self, factor: f64) -> Rate {
        assert!(
            factor >= 0.0,
            "a rate is scaled by a factor from 0 up, not {factor}"
        );
        // Infinity times zero is not a number; nothing scaled stays nothing.
        if self.0 == 0 {
            Rate::ZERO
        } else {
            Rate(nearest_u64(nearest_f64(self.0) * factor))
        }
    }
}

/// A number of units in bits per second; past the range is a mistake, in release builds too.
#[inline]
#[track_caller]
const fn fitting(count: u64, bps_per_unit: u64) -> u64 {
    match count.checked_mul(bps_per_unit) {
        Some(bps) => bps,
        None => panic!("a rate is at most 2^64 bits per second"),
    }
}

impl Add for Rate {
    type Output = Rate;
    #[inline]
    fn add(self, other: Rate) -> Rate {
        Rate(self.0 + other.0)
    }
}

impl Sub for Rate {
    type Output = Rate;
    #[inline]
    fn sub(self, other: Rate) -> Rate {
        Rate(self.0 - other.0)
    }
}

impl Mul<u64> for Rate {
    type Output = Rate;
    #[inline]
    fn mul(self, times: u64) -> Rate {
        Rate(self.0 * times)
    }
}

impl Mul<Rate> for u64 {
    type Output = Rate;
    #[inline]
    fn mul(self, rate: Rate) -> Rate {
        rate * self
    }
}

/// One of n equal parts, rounded down.
impl Div<u64> for Rate {
    type Output = Rate;
    #[inline]
    fn div(self, parts: u64) -> Rate {
        Rate(self.0 / parts)
    }
}

impl Sum for Rate {
    fn sum<I: Iterator<Item = Rate>>(rates: I) -> Rate {
        rates.fold(Rate::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn serialization_is_exact_where_it_can_be() {
        assert_eq!(Rate::gbps(400).serialization(1), Span::from_ps(20));
        assert_eq!(Rate::gbps(1).serialization(1500), Span::from_us(12));
        assert_eq!(Rate::mbps(2).serialization(0), Span::ZERO);
    }

    #[test]
    fn serialization_rounds_to_the_nearest_picosecond() {
        // 8e12 / 3 = 2 666 666 666 666.67 and 8e12 / 7 = 1 142 857 142 857.14
        assert_eq!(
            Rate::bps(3).serialization(1),
            Span::from_ps(2_666_666_666_667)
        );
        assert_eq!(
            Rate::bps(7).serialization(1),
            Span::from_ps(1_142_857_142_857)
        );
    }

    #[test]
    fn large_transfers_take_the_wide_path_to_the_same_answer() {
        let bytes = 3_000_000_000_000_u64;
        assert_eq!(Rate::gbps(8).serialization(bytes), Span::from_secs(3_000));
        assert_eq!(Rate::bps(1).serialization(u64::MAX), Span::MAX);
        assert_eq!(Rate::MAX.serialization(1_500_000_000), Span::from_ps(651));
    }

    #[test]
    #[should_panic(expected = "at rate zero no packet is ever sent")]
    fn serialization_at_rate_zero_panics() {
        let _ = Rate::ZERO.serialization(1);
    }

    #[test]
    #[should_panic(expected = "at most 2^64 bits per second")]
    fn more_gigabits_than_there_are_panic() {
        let _ = Rate::gbps(18_446_744_074);
    }

    #[test]
    fn bytes_in_a_span_round_down() {
        assert_eq!(Rate::mbps(10).bytes_in(Span::from_ms(40)), 50_000);
        assert_eq!(Rate::bps(15).bytes_in(Span::from_secs(1)), 1);
        assert_eq!(Rate::MAX.bytes_in(Span::MAX), u64::MAX);
    }

    #[test]
    fn mean_rate_undoes_bytes_in() {
        let second = Span::from_secs(1);
        assert_eq!(Rate::of(Bytes::new(125_000), second), Some(Rate::mbps(1)));
        assert_eq!(Rate::of(Bytes::new(1), Span::ZERO), None);
    }

    #[test]
    fn scaling_rounds_to_the_nearest_bit() {
        assert_eq!(Rate::mbps(10).scale(1.2), Rate::mbps(12));
        assert_eq!(Rate::bps(3).scale(0.5), Rate::bps(2));
        assert_eq!(Rate::ZERO.scale(f64::INFINITY), Rate::ZERO);
    }

    #[test]
    fn rates_add_up_and_divide() {
        assert_eq!(
            [Rate::mbps(1), Rate::mbps(2)].into_iter().sum::<Rate>(),
            3 * Rate::mbps(1)
        );
        assert_eq!(Rate::mbps(3) / 2 - Rate::kbps(500), Rate::mbps(1));
    }

    proptest! {
        #[test]
        fn serialization_is_within_half_a_picosecond_whichever_path_it_takes(
            bps in 1..=u64::MAX,
            bps_shift in 0..64_u32,
            bytes in any::<u64>(),
            bytes_shift in 0..64_u32,
        ) {
            let (bps, bytes) = ((bps >> bps_shift).max(1), bytes >> bytes_shift);
            let taken = Rate::bps(bps).serialization(bytes);
            let (exact, rate) = (u128::from(bytes) * 8_000_000_000_000, u128::from(bps));
            if taken == Span::MAX {
                prop_assert!(exact / rate >= u128::from(u64::MAX) - 1);
            } else {
                prop_assert!((u128::from(taken.as_ps()) * rate).abs_diff(exact) * 2 <= rate);
            }
        }
    }
}
