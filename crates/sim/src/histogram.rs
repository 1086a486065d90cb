//! Log-linear histograms of 64-bit values: 32 steps per octave, exact merging, memory by octave in use.
//!
//! A value is known to within 1/32 of its octave's base, so a percentile read as the middle of its step is off by at
//! most 1/64 (1.6 %). Values below 32 are exact.

use crate::slab::to_usize;

/// Steps per octave.
const STEPS: u32 = 32;
const STEP_BITS: u32 = 5;

/// A histogram; an empty one allocates nothing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Histogram {
    /// Counts of the steps of all octaves from the least to the greatest in use.
    counts: Vec<u64>,
    zeros: u64,
    /// Number of the first step, from octave 0 on.
    first: u32,
}

impl Histogram {
    /// Counts one value.
    #[inline]
    pub fn record(&mut self, value: u64) {
        if value == 0 {
            self.zeros += 1;
            return;
        }
        let step = place(value);
        match self.counts.get_mut(to_usize(step.wrapping_sub(self.first))) {
            Some(count) => *count += 1,
            None => *self.make(step) += 1,
        }
    }

    /// The count of a step, with its octave and those between it and the others in use.
    #[cold]
    #[inline(never)]
    fn make(&mut self, step: u32) -> &mut u64 {
        let octave = step - step % STEPS;
        if self.counts.is_empty() {
            self.first = octave;
        }
        if octave < self.first {
            let missing = to_usize(self.first - octave);
            self.counts.splice(0..0, std::iter::repeat_n(0, missing));
            self.first = octave;
        }
        let position = to_usize(octave - self.first);
        let length = self.counts.len().max(position + to_usize(STEPS));
        self.counts.resize(length, 0);
        &mut self.counts[to_usize(step - self.first)]
    }

    /// Counts the value zero `times` times.
    pub fn record_zeros(&mut self, times: u64) {
        self.zeros += times;
    }

    /// Values counted.
    pub fn count(&self) -> u64 {
        self.zeros + self.counts.iter().sum::<u64>()
    }

    /// The steps in use, as (number of the step, count), in ascending order of value. Step 0 is the value zero.
    pub fn steps(&self) -> Vec<(u32, u64)> {
        let mut steps = Vec::new();
        if self.zeros > 0 {
            steps.push((0, self.zeros));
        }
        for (count, step) in self.counts.iter().zip(self.first..) {
            if *count > 0 {
                steps.push((step + 1, *count));
            }
        }
        steps
    }

    /// A histogram from its steps.
    pub fn from_steps(steps: impl IntoIterator<Item = (u32, u64)>) -> Histogram {
        let mut histogram = Histogram::default();
        for (number, count) in steps {
            histogram.add(number, count);
        }
        histogram
    }

    fn add(&mut self, number: u32, count: u64) {
        match number.checked_sub(1) {
            None => self.zeros += count,
            Some(step) => match self.counts.get_mut(to_usize(step.wrapping_sub(self.first))) {
                Some(sum) => *sum += count,
                None => *self.make(step) += count,
            },
        }
    }

    /// Adds every value of `other`.
    pub fn merge(&mut self, other: &Histogram) {
        for (number, count) in other.steps() {
            self.add(number, count);
        }
    }

    /// The value below or at which the share `q` of all values lies (nearest rank), as the middle of its step; `None` if
    /// nothing was counted.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        let total = self.count();
        if total == 0 {
            return None;
        }
        let rank = nearest_rank(q, total);
        let mut seen = 0;
        for (number, count) in self.steps() {
            seen += count;
            if seen >= rank {
                return Some(middle(number));
            }
        }
        None
    }

    /// As [`Histogram::quantile`], within the least and the greatest value that were counted: the middle of a step may lie
    /// beyond.
    pub fn quantile_within(&self, q: f64, least: u64, greatest: u64) -> Option<u64> {
        self.quantile(q).map(|value| value.max(least).min(greatest))
    }
}

/// The step of a value above 0: its octave times [`STEPS`], and the five bits below its leading one. Below 32 the octave is
/// coarser than the values: each has a step of its own.
///
/// That is how a float of 64 bits begins, and to make one takes less than to find the leading bit.
#[inline]
#[allow(
    clippy::as_conversions,
    reason = "exact: a value of at most 53 bits as a float, and the upper 17 bits of 64"
)]
fn place(value: u64) -> u32 {
    if value >> f64::MANTISSA_DIGITS != 0 {
        return place_of_large(value);
    }
    let float = (value.cast_signed() as f64).to_bits();
    let (exponent_bias, fraction_bits) = (1023, 52);
    (float >> (fraction_bits - STEP_BITS)) as u32 - exponent_bias * STEPS
}

/// As [`place`], of a value that may be too large for a float to hold exactly.
#[cold]
fn place_of_large(value: u64) -> u32 {
    let zeros = value.leading_zeros();
    let scaled = (value << zeros) >> (63 - STEP_BITS);
    #[allow(clippy::as_conversions, reason = "six bits, the leading one cut off")]
    let below = (scaled & 31) as u32;
    (63 - zeros) * STEPS + below
}

/// The middle of a step, the value by which it is known.
pub fn middle(number: u32) -> u64 {
    let Some(n) = number.checked_sub(1) else {
        return 0;
    };
    let (bits, step) = (n / 32, u64::from(n % 32));
    let low = 32 + step;
    if bits > STEP_BITS {
        let shift = bits - STEP_BITS;
        (low << shift) + (1 << (shift - 1))
    } else if bits == STEP_BITS {
        low
    } else {
        low >> (STEP_BITS - bits)
    }
}

#[allow(
    clippy::as_conversions,
    reason = "counts below 2^53 are exact in an f64, and the result is within 1..=count"
)]
fn nearest_rank(q: f64, count: u64) -> u64 {
    ((q * count as f64).ceil() as u64).clamp(1, count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_value_is_known_within_a_64th(value in 1u64..u64::MAX / 4) {
            let mut histogram = Histogram::default();
            histogram.record(value);
            let read = histogram.quantile(0.5).expect("one value");
            prop_assert!(read.abs_diff(value) <= value / 64 + 1, "{value} read as {read}");
        }

        #[test]
        fn merging_is_counting_together(a in prop::collection::vec(0u64..1 << 50, 0..50), b in prop::collection::vec(0u64..1 << 50, 0..50)) {
            let count = |values: &[u64]| {
                let mut h = Histogram::default();
                values.iter().for_each(|v| h.record(*v));
                h
            };
            let mut merged = count(&a);
            merged.merge(&count(&b));
            let together: Vec<u64> = a.iter().chain(&b).copied().collect();
            prop_assert_eq!(merged.steps(), count(&together).steps());
            prop_assert_eq!(Histogram::from_steps(merged.steps()).steps(), merged.steps());
        }
    }

    proptest! {
        #[test]
        fn the_step_is_the_same_by_either_way(bits in 1u32..=64, value in any::<u64>()) {
            let value = value >> (64 - bits) | 1 << (bits - 1);
            prop_assert_eq!(place(value), place_of_large(value));
        }
    }

    #[test]
    fn small_values_are_exact() {
        for value in 0..32 {
            let mut histogram = Histogram::default();
            histogram.record(value);
            assert_eq!(histogram.quantile(1.0), Some(value));
        }
    }

    #[test]
    fn quantiles_are_nearest_ranks() {
        let mut histogram = Histogram::default();
        for value in 1..=20 {
            histogram.record(value);
        }
        assert_eq!(histogram.quantile(0.5), Some(10));
        assert_eq!(histogram.quantile(0.95), Some(19));
        assert_eq!(histogram.quantile(1.0), Some(20));
        let mut one = Histogram::default();
        one.record(48_000);
        assert_ne!(one.quantile(0.5), Some(48_000), "the middle of a step");
        assert_eq!(one.quantile_within(0.5, 48_000, 48_000), Some(48_000));
    }
}
