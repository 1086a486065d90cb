//! Conversions between counts and real numbers.

use sojourn_units::Span;

/// The nearest real number.
#[allow(
    clippy::as_conversions,
    reason = "rounds to nearest; there is no From for it"
)]
#[inline]
pub(crate) fn real(count: u64) -> f64 {
    count as f64
}

/// The whole part; 0 for what is negative or not a number, the greatest count for what is above it.
#[allow(
    clippy::as_conversions,
    reason = "saturates; there is no TryFrom for it"
)]
#[inline]
pub(crate) fn whole(number: f64) -> u64 {
    number as u64
}

/// The number in single precision, as environments hand it out.
#[allow(
    clippy::as_conversions,
    reason = "rounds to nearest; there is no From for it"
)]
#[inline]
pub fn single(number: f64) -> f32 {
    number as f32
}

/// `part` of `whole`; 0 of nothing.
#[inline]
pub(crate) fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// Bits per second of bytes that took a time.
#[inline]
pub(crate) fn rate(bytes: u64, time: Span) -> f64 {
    share(8.0 * real(bytes), time.as_secs_f64())
}
