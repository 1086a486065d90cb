//! Conversions between counts and real numbers, named so that each says how it rounds.

use sojourn_units::{Rate, Span};

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

/// A part of a count, rounded down.
#[inline]
pub(crate) fn scaled(count: u64, factor: f64) -> u64 {
    whole(real(count) * factor)
}

/// Seconds.
#[inline]
pub(crate) fn seconds(span: Span) -> f64 {
    span.as_secs_f64()
}

/// Bytes per second as a rate.
#[inline]
pub(crate) fn rate(bytes_per_second: f64) -> Rate {
    Rate::bps(whole(bytes_per_second * 8.0))
}

/// Whole microseconds.
#[inline]
pub(crate) fn micros(span: Span) -> u64 {
    span.as_ps() / 1_000_000
}

/// Whole milliseconds.
#[inline]
pub(crate) fn millis(span: Span) -> u64 {
    span.as_ps() / 1_000_000_000
}
