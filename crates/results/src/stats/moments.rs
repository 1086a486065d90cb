//! Mean, variance and covariance of a sample, with n - 1 in the denominator.

/// The arithmetic mean; `None` of nothing. Of equal values it is that value, to the last bit.
pub fn mean(values: &[f64]) -> Option<f64> {
    if let [first, rest @ ..] = values
        && rest.iter().all(|value| value == first)
    {
        return Some(*first);
    }
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / size(values))
}

/// The sample variance, with n - 1 in the denominator; `None` of fewer than two values.
pub fn variance(values: &[f64]) -> Option<f64> {
    let center = mean(values).filter(|_| values.len() > 1)?;
    let squares: f64 = values.iter().map(|v| (v - center) * (v - center)).sum();
    Some(squares / (size(values) - 1.0))
}

/// The sample covariance of as many values as others, with n - 1 in the denominator; `None` of fewer than two, or of unequally many.
pub fn covariance(a: &[f64], b: &[f64]) -> Option<f64> {
    if a.len() != b.len() || a.len() < 2 {
        return None;
    }
    let (center_a, center_b) = (mean(a)?, mean(b)?);
    let products = a
        .iter()
        .zip(b)
        .map(|(a, b)| (a - center_a) * (b - center_b));
    Some(products.sum::<f64>() / (size(a) - 1.0))
}

/// A count as a number; counts below 2^53 are exact.
#[allow(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "the nearest double is what is wanted"
)]
pub fn to_f64(count: u64) -> f64 {
    count as f64
}

/// A number that is whole and not negative as a count, the inverse of [`to_f64`]; of any other, its whole part.
#[allow(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates"
)]
pub fn whole(number: f64) -> u64 {
    number as u64
}

/// How many values there are.
pub fn count(values: &[f64]) -> u64 {
    u64::try_from(values.len()).unwrap_or(u64::MAX)
}

/// How many values there are, as a number.
pub fn size(values: &[f64]) -> f64 {
    to_f64(count(values))
}
