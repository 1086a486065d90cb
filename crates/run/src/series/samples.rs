//! Samples as numbers.

use sojourn_results::outcome::SeriesOutcome;

/// Adds a value to each series.
pub(super) fn push(series: &mut [SeriesOutcome], values: &[f64]) {
    for (series, value) in series.iter_mut().zip(values) {
        series.values.push(*value);
    }
}

#[allow(
    clippy::cast_precision_loss,
    reason = "a sample of a series: 53 bits are plenty"
)]
pub(super) fn signed(value: i64) -> f64 {
    value as f64
}

/// Seconds of picoseconds.
pub(super) fn seconds(picoseconds: u128) -> f64 {
    wide(picoseconds) * 1e-12
}

/// A count as samples have it.
#[allow(
    clippy::cast_precision_loss,
    reason = "a sample of a series: 53 bits are plenty"
)]
pub fn count(value: u64) -> f64 {
    value as f64
}

#[allow(
    clippy::cast_precision_loss,
    reason = "a sample of a series: 53 bits are plenty"
)]
fn wide(value: u128) -> f64 {
    value as f64
}
