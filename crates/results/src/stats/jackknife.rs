//! Intervals of what all replications have together, such as a percentile of all their packets: the jackknife over replications.
//!
//! A statistic of all replications is compared with itself without each of them in turn (J. Tukey, "Bias and Confidence in Not-quite
//! Large Samples", Annals of Mathematical Statistics 29, 1958; R. Miller, "The Jackknife: A Review", Biometrika 61, 1974). Replications
//! are independent, so the correlation of the packets within one needs no model. For a positive statistic the error is taken on the
//! logarithm, on which it is nearly symmetric. Many replications are left out in groups, which costs less and says the same.

use std::ops::Range;

use super::distributions::{UPPER, t_quantile};
use super::interval::Interval;
use super::moments::{mean, size};

/// Groups that many replications are left out in.
pub const GROUPS: usize = 50;

/// A statistic of all replications, and without each group of them.
#[derive(Clone, PartialEq, Debug)]
pub struct LeftOut {
    /// Of all.
    pub all: f64,
    /// Without each group.
    pub without: Vec<f64>,
}

/// The groups in which `n` replications are left out: one each, or [`GROUPS`] of nearly equal size.
pub fn groups(n: usize) -> impl Iterator<Item = Range<usize>> {
    let groups = n.min(GROUPS);
    (0..groups).map(move |group| group * n / groups..(group + 1) * n / groups)
}

/// What stands for each group in the statistic: pseudo-values, whose mean is the statistic without its bias of the first order.
pub fn parts(left_out: &LeftOut) -> Vec<f64> {
    let groups = size(&left_out.without);
    let part = |without: &f64| groups * left_out.all - (groups - 1.0) * without;
    left_out.without.iter().map(part).collect()
}

/// The 95 % interval around `center`, which is the statistic as it is shown; `None` of fewer than two groups, or where they say the same.
pub fn interval(left_out: &LeftOut, center: f64) -> Option<Interval> {
    let LeftOut { all, without } = left_out;
    if without.len() < 2 {
        return None;
    }
    // From two groups, t is so large that the interval would cover everything on a logarithm.
    let positive =
        without.len() > 2 && center > 0.0 && *all > 0.0 && without.iter().all(|value| *value > 0.0);
    let least = match center >= 0.0 && without.iter().all(|value| *value >= 0.0) {
        true => 0.0,
        false => f64::NEG_INFINITY,
    };
    let values: Vec<f64> = match positive {
        true => without.iter().map(|value| libm::log(*value)).collect(),
        false => without.clone(),
    };
    let middle = mean(&values)?;
    let groups = size(&values);
    let squares: f64 = values.iter().map(|v| (v - middle) * (v - middle)).sum();
    let reach = t_quantile(UPPER, groups - 1.0) * (squares * (groups - 1.0) / groups).sqrt();
    (reach > 0.0).then(|| match positive {
        true => Interval {
            low: center * libm::exp(-reach),
            high: center * libm::exp(reach),
        },
        false => Interval {
            low: (center - reach).max(least),
            high: center + reach,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::interval::student;
    use proptest::prelude::*;

    fn of_mean(values: &[f64]) -> LeftOut {
        let without = groups(values.len()).map(|group| {
            let rest = values.iter().enumerate();
            let rest = rest.filter(|(index, _)| !group.contains(index));
            mean(&rest.map(|(_, value)| *value).collect::<Vec<f64>>()).unwrap()
        });
        LeftOut {
            all: mean(values).unwrap(),
            without: without.collect(),
        }
    }

    proptest! {
        #[test]
        fn of_a_mean_the_parts_are_the_values_and_the_interval_is_student_s(
            values in prop::collection::vec(-100.0f64..-1.0, 2..40),
        ) {
            let left_out = of_mean(&values);
            for (part, value) in parts(&left_out).iter().zip(&values) {
                prop_assert!((part - value).abs() < 1e-9);
            }
            let (Some(found), Some(plain)) = (interval(&left_out, left_out.all), student(&values)) else {
                return Ok(());
            };
            prop_assert!((found.low - plain.low).abs() < 1e-6 && (found.high - plain.high).abs() < 1e-6);
        }

        #[test]
        fn groups_leave_out_each_replication_once(n in 1usize..400) {
            let all: Vec<usize> = groups(n).flatten().collect();
            prop_assert_eq!(all, (0..n).collect::<Vec<usize>>());
            prop_assert!(groups(n).count() <= GROUPS && groups(n).all(|group| !group.is_empty()));
        }
    }

    #[test]
    fn the_interval_of_a_positive_statistic_is_positive() {
        let found = interval(&of_mean(&[0.1, 0.1, 8.0]), 2.7).unwrap();
        assert!(
            found.low > 0.0 && found.high > 2.7 + (2.7 - found.low),
            "{found:?}"
        );
    }

    #[test]
    fn equal_groups_have_no_interval() {
        assert_eq!(interval(&of_mean(&[2.0, 2.0, 2.0]), 2.0), None);
        let one = LeftOut {
            all: 2.0,
            without: Vec::new(),
        };
        assert_eq!(interval(&one, 2.0), None);
    }
}
