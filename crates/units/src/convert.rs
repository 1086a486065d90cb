//! Conversions between number types, each named for what it does to the value.
//!
//! `From` is not `const` and does not reach from `u64` to `f64`; these do, and a reader sees which way a value is rounded.

/// A `u64` in twice the width, for products that may not fit.
#[inline]
pub(crate) const fn widen(value: u64) -> u128 {
    value as u128
}

/// A `u128` back in a `u64`, or `u64::MAX` where it does not fit.
#[inline]
pub(crate) const fn saturate(value: u128) -> u64 {
    if value > widen(u64::MAX) {
        u64::MAX
    } else {
        value as u64
    }
}

/// The `f64` nearest to a `u64`: exact up to 2^53.
#[inline]
pub(crate) const fn nearest_f64(value: u64) -> f64 {
    value as f64
}

/// The `u64` nearest to a non-negative `f64`, halves up; `u64::MAX` above the range. NaN is the caller's to refuse.
#[inline]
pub(crate) fn nearest_u64(value: f64) -> u64 {
    // A float-to-integer `as` saturates.
    value.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_beyond_the_range_saturate() {
        assert_eq!(saturate(widen(u64::MAX) + 1), u64::MAX);
        assert_eq!(saturate(7), 7);
        assert_eq!(nearest_u64(1e30), u64::MAX);
        assert_eq!(nearest_u64(f64::INFINITY), u64::MAX);
    }

    #[test]
    fn floats_round_to_the_nearest_integer() {
        assert_eq!(nearest_u64(2.4), 2);
        assert_eq!(nearest_u64(2.5), 3);
        assert_eq!(nearest_u64(0.0), 0);
    }
}
