//! Counts as real numbers.

/// The nearest real number; exact below 2^53.
#[allow(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "rounds to nearest; there is no From for it"
)]
#[inline]
pub(crate) fn real(count: u64) -> f64 {
    count as f64
}
