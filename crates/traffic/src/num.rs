//! Counts as real numbers, and whole numbers with the right mean.

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

/// The whole number at or below an estimate: 0 for what is below it or no number, the greatest for what is above it.
#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the conversion saturates, as the estimate of a count should"
)]
pub(crate) fn whole(estimate: f64) -> u64 {
    estimate as u64
}

/// The mean of the exponential distribution that has this mean, in whole numbers, once it is rounded up. The draws are then geometric from
/// 1 on: the only distribution of whole numbers without memory. A mean below 1 cannot be had; it gives 0, so that all draws are 1.
pub(crate) fn before_rounding_up(mean: f64) -> f64 {
    if mean <= 1.0 {
        return 0.0;
    }
    -1.0 / libm::log1p(-1.0 / mean)
}

/// A draw that has not been rounded up yet, as a whole number from 1 on.
#[allow(
    clippy::as_conversions,
    reason = "not negative, and a float-to-integer cast saturates"
)]
#[inline]
pub(crate) fn rounded_up(draw: f64) -> u64 {
    (draw.ceil() as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_sim::Stream;

    #[test]
    fn an_exponential_that_is_rounded_up_keeps_its_mean() {
        let mut rng = Stream::derive(1, 0, "test");
        for mean in [1.0, 1.5, 2.0, 40.0, 1e6] {
            let scale = before_rounding_up(mean);
            let n = 200_000;
            let sum: u64 = (0..n).map(|_| rounded_up(rng.exponential(scale))).sum();
            // The variance of a geometric distribution from 1 on is mean (mean - 1).
            let deviation = (mean * (mean - 1.0) / real(n)).sqrt();
            let off = real(sum) / real(n) - mean;
            assert!(off.abs() <= 4.0 * deviation, "{mean}: {off}");
        }
    }
}
