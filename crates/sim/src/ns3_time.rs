//! The clock of ns-3: whole nanoseconds, made from seconds in double precision through fixed-point numbers with 64 bits on
//! each side of the point.
//!
//! Source: ns-3.24 src/core/model, nstime.h and int64x64-128 (behaviour). A `double` of seconds becomes such a number, rounded in
//! its last bit, is multiplied by 10^9 exactly and cut to whole nanoseconds: 0.000944 s, which a double cannot hold, are 943999 ns.

use sojourn_units::Span;

/// Nanoseconds of a second.
const NS_PER_S: u128 = 1_000_000_000;

/// 2^128 / 10^9, rounded up: by what ns-3 multiplies nanoseconds to make seconds of them.
const INVERSE_OF_NS: u128 = u128::MAX / NS_PER_S + 1;

/// The lower half of a fixed-point number: what is behind the point.
const FRACTION: u128 = (1 << 64) - 1;

/// `ns3::Seconds (seconds)`: this number of seconds as a span of ns-3's clock; zero for a number below zero.
pub fn seconds(seconds: f64) -> Span {
    let fixed = fixed_point(seconds);
    let ns = (fixed >> 64) * NS_PER_S + (((fixed & FRACTION) * NS_PER_S) >> 64);
    Span::from_ns(u64::try_from(ns).unwrap_or(u64::MAX / 1000))
}

/// The time that a device takes to send `bytes`: `DataRate::CalculateBytesTxTime`.
pub fn transmission(bytes: u32, bps: u64) -> Span {
    seconds(f64::from(bytes) * 8.0 / float(bps))
}

/// The time in which `bits` pass at a rate on the clock of ns-3 from 3.36 on. Its `Time` takes the nearest nanosecond. A value half
/// way between two becomes the lower one, because ns-3 cuts quotients far behind the point.
pub fn nearest(bits: u64, bps: u64) -> Span {
    let rate = u128::from(bps.max(1));
    let ns = (2 * u128::from(bits) * NS_PER_S + rate - 1) / (2 * rate);
    Span::from_ns(u64::try_from(ns).unwrap_or(u64::MAX / 1000))
}

/// The time in which `bits` pass at a rate: `Seconds (bits / static_cast<double> (rate))`.
pub fn of_bits(bits: u64, bps: u64) -> Span {
    seconds(float(bits) / float(bps))
}

/// Whole bits that pass in a span: `(span.To (Time::S) * rate).GetHigh ()`.
pub fn bits_in(span: Span, bps: u64) -> u64 {
    let ns = u128::from(span.as_ps() / 1000);
    let fixed = ns * (INVERSE_OF_NS >> 64) + ((ns * (INVERSE_OF_NS & FRACTION)) >> 64);
    let rate = u128::from(bps);
    let bits = (fixed >> 64) * rate + (((fixed & FRACTION) * rate) >> 64);
    u64::try_from(bits).unwrap_or(u64::MAX)
}

/// A number above zero with 64 bits behind the point, the last one rounded, halves up.
#[allow(
    clippy::as_conversions,
    reason = "whole floats below 2^65, exact in an u128"
)]
fn fixed_point(value: f64) -> u128 {
    const TWO_64: f64 = 18_446_744_073_709_551_616.0;
    let value = value.max(0.0);
    let whole = value.floor();
    let scaled = (value - whole) * TWO_64;
    let below = scaled.floor();
    let up = u128::from(scaled - below >= 0.5);
    ((whole as u128) << 64) + below as u128 + up
}

#[allow(clippy::as_conversions, reason = "rates and bits lie far below 2^53")]
const fn float(value: u64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_double_holds_a_little_short_of_a_nanosecond_loses_it() {
        // Seen in ns-3.24's runs: 590 bytes at 5 Mbps.
        assert_eq!(transmission(590, 5_000_000), Span::from_ns(943_999));
        assert_eq!(transmission(1500, 3_000_000), Span::from_ns(4_000_000));
        assert_eq!(transmission(542, 3_000_000), Span::from_ns(1_445_333));
        assert_eq!(seconds(0.25), Span::from_ms(250));
        assert_eq!(seconds(-1.0), Span::ZERO);
    }

    #[test]
    fn nanoseconds_turn_into_bits_as_the_rounded_inverse_has_it() {
        // The inverse is rounded up, so that whole seconds stay whole.
        for s in [1, 7, 500, 100_000] {
            assert_eq!(bits_in(Span::from_secs(s), 580_000), s * 580_000);
        }
        assert_eq!(bits_in(Span::from_ns(1_724), 580_000), 0);
        assert_eq!(bits_in(Span::from_ns(1_725), 580_000), 1);
    }

    #[test]
    fn fixed_point_numbers_round_their_last_bit() {
        assert_eq!(fixed_point(1.5), (1 << 64) + (1 << 63));
        assert_eq!(fixed_point(f64::from_bits((1023 - 65) << 52)), 1);
        assert_eq!(fixed_point(f64::from_bits((1023 - 66) << 52)), 0);
    }
}
