//! Conversions between counts and real numbers, named so that each says how it rounds.

/// The nearest real number.
#[allow(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "rounds to nearest; there is no From for it"
)]
#[inline]
pub(crate) fn real(count: u64) -> f64 {
    count as f64
}

/// The whole part; 0 for what is negative or not a number, the greatest count for what is above it.
#[allow(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates; there is no TryFrom for it"
)]
#[inline]
pub(crate) fn whole(number: f64) -> u64 {
    number as u64
}

/// The lower 32 bits.
#[allow(clippy::as_conversions, reason = "the lower bits are what is wanted")]
#[inline]
pub(crate) const fn low32(word: u64) -> u32 {
    (word & 0xffff_ffff) as u32
}

/// The lower 16 bits.
#[allow(clippy::as_conversions, reason = "the lower bits are what is wanted")]
#[inline]
pub(crate) const fn low16(word: u64) -> u16 {
    (word & 0xffff) as u16
}
