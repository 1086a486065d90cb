//! Statistics over replications: means with intervals, paired differences, fairness, percentiles of merged histograms.
//!
//! An interval is mean ± t s / √n with the 97.5 % quantile t of Student's distribution with n - 1 degrees of freedom and the
//! sample standard deviation s (Law, Simulation Modeling and Analysis, 5th edition, section 4.5). Replications are independent,
//! so the values that go in here are one per replication, never one per packet. Two settings that ran with the same random
//! streams are compared by the interval of their differences, replication by replication (section 10.2.1, paired-t).

pub mod compare;
pub mod distributions;
pub mod interval;
pub mod jackknife;
pub mod moments;
#[cfg(test)]
mod oracle;
pub mod quantile;
pub mod steady;
pub mod transient;

use interval::Interval;
use moments::{count, size};
pub use moments::{covariance, mean, to_f64, variance, whole};
use sojourn_sim::histogram::Histogram;

/// Share of intervals that contain the true mean.
pub const CONFIDENCE: f64 = 0.95;

/// A mean over replications.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// The 95 % interval; `None` where there is none: a single value, values that are all equal, or a deterministic run.
    pub interval: Option<Interval>,
    /// Values that went in.
    pub n: u64,
    /// The replications are one and the same, so that there is nothing to estimate.
    pub deterministic: bool,
    /// Two or more replications, which need not be the same in all else, have exactly this value. Their sample deviation of zero
    /// says nothing of how far the next one may lie: an interval of "± 0" would not be precision.
    pub equal: bool,
    /// There is too little behind it for more than an order of magnitude.
    pub few: Option<Few>,
}

/// What there is too little of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Few {
    /// Events, such as drops, in all replications together.
    Events,
    /// Packets or transfers beyond a percentile.
    Beyond,
}

impl Few {
    /// The remark on the quantile at a share of `count` values, if fewer than 10 are beyond it.
    pub fn beyond(share: f64, count: usize) -> Option<Few> {
        let count = to_f64(u64::try_from(count).unwrap_or(u64::MAX));
        (share.min(1.0 - share) * count < quantile::FEW).then_some(Few::Beyond)
    }

    /// The remark on such a value.
    pub fn text(self) -> &'static str {
        match self {
            Few::Events => "fewer than 10 events in all replications: an order of magnitude",
            Few::Beyond => {
                "fewer than 10 independent values beyond the percentile: its interval may be too narrow"
            }
        }
    }
}

/// No end on either side.
pub const UNBOUNDED: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

impl Estimate {
    /// The mean of `values`, with Student's interval if there are two or more that are not all equal; `None` if there are none.
    /// Values that are not finite are left out.
    pub fn of(values: &[f64]) -> Option<Estimate> {
        Estimate::within(values, UNBOUNDED)
    }

    /// As [`Estimate::of`], of a quantity that has no value beyond `bounds`: its interval has none either.
    pub fn within(values: &[f64], bounds: (f64, f64)) -> Option<Estimate> {
        let values: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
        let equal = values.len() > 1 && values.iter().all(|value| *value == values[0]);
        Some(Estimate {
            mean: mean(&values)?,
            interval: interval::of(&values, bounds).filter(|_| !equal),
            n: count(&values),
            deterministic: false,
            equal,
            few: None,
        })
    }

    /// Half the width of the interval.
    pub fn half_width(&self) -> Option<f64> {
        self.interval.map(|interval| interval.width() / 2.0)
    }

    /// The one value that `n` runs have in which nothing is random.
    pub fn exact(value: f64, n: u64) -> Estimate {
        Estimate {
            mean: value,
            interval: None,
            n,
            deterministic: true,
            equal: false,
            few: None,
        }
    }

    /// The same with an interval no narrower than this, which is what the values themselves are known to. Values that came out
    /// equal within that are not known to be equal.
    #[must_use]
    pub fn at_least(self, half_width: f64) -> Estimate {
        let (low, high) = (self.mean - half_width, self.mean + half_width);
        match self.interval {
            Some(interval) => Estimate {
                interval: Some(interval.reaching(low, high)),
                ..self
            },
            None if self.equal && half_width > 0.0 => Estimate {
                interval: Some(Interval { low, high }),
                equal: false,
                ..self
            },
            None => self,
        }
    }

    /// Whether the interval leaves out zero: for a difference, whether it is more than chance.
    pub fn excludes_zero(&self) -> bool {
        self.interval
            .is_some_and(|interval| !interval.contains(0.0))
    }
}

/// Half the width of the 95 % interval of the mean; `None` of fewer than two values.
pub fn half_width(values: &[f64]) -> Option<f64> {
    let variance = variance(values)?;
    Some(t_quantile(count(values) - 1) * (variance / size(values)).sqrt())
}

/// The quantile of Student's distribution that 95 % of its mass lie within, both sides.
///
/// # Panics
/// With zero degrees of freedom.
pub fn t_quantile(degrees_of_freedom: u64) -> f64 {
    distributions::t_quantile(0.5 + CONFIDENCE / 2.0, to_f64(degrees_of_freedom))
}

/// The mean of `a[i] - b[i]`, with its interval. Pairs in which a value is missing or not finite are left out.
pub fn paired_difference(a: &[Option<f64>], b: &[Option<f64>]) -> Option<Estimate> {
    let pairs = a.iter().zip(b);
    let differences: Vec<f64> = pairs.filter_map(|(a, b)| Some((*a)? - (*b)?)).collect();
    Estimate::of(&differences)
}

/// Jain's fairness index (Σx)² / (n Σx²): 1 where all shares are equal, 1/n where one has all (Jain, Chiu and Hawe, DEC
/// TR-301, 1984). `None` of no values, or where all are zero.
pub fn jain_index(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|x| x * x).sum();
    (squares > 0.0).then(|| sum * sum / (size(shares) * squares))
}

/// The smallest share over the mean share: 1 where all are equal, 0 where one starves.
pub fn min_share(shares: &[f64]) -> Option<f64> {
    let mean = mean(shares).filter(|mean| *mean > 0.0)?;
    shares
        .iter()
        .copied()
        .reduce(f64::min)
        .map(|least| least / mean)
}

/// `numerator / denominator`; `None` over zero.
pub fn ratio(numerator: f64, denominator: f64) -> Option<f64> {
    (denominator != 0.0).then(|| numerator / denominator)
}

/// All values of some histograms in one.
pub fn merged<'a>(histograms: impl IntoIterator<Item = &'a Histogram>) -> Histogram {
    let mut all = Histogram::default();
    for histogram in histograms {
        all.merge(histogram);
    }
    all
}

/// A sum as a number: the nearest double.
#[allow(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "the nearest double is what is wanted"
)]
pub fn wide_to_f64(sum: u128) -> f64 {
    sum as f64
}

/// A number with a given number of significant digits, without trailing zeros, as C's `%.6g` and C++ streams print it.
pub fn significant(value: f64, digits: u64) -> String {
    let digits = usize::try_from(digits.clamp(1, 17)).unwrap_or(17);
    let scientific = format!("{value:.*e}", digits - 1);
    let exponent: i32 = scientific
        .split_once('e')
        .and_then(|(_, exponent)| exponent.parse().ok())
        .unwrap_or(0);
    let most = i32::try_from(digits).unwrap_or(17);
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if !value.is_finite() {
        return value.to_string();
    }
    if !(-4..most).contains(&exponent) {
        let (mantissa, _) = scientific.split_once('e').unwrap_or((&scientific, ""));
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trimmed(mantissa), exponent.abs());
    }
    let places = usize::try_from(most - 1 - exponent).unwrap_or(0);
    trimmed(&format!("{value:.places$}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(a: f64, b: f64, tolerance: f64) {
        assert!((a - b).abs() <= tolerance, "{a} is not {b}");
    }

    #[test]
    fn quantiles_of_student_cut_off_what_they_should() {
        // With one degree of freedom tan(0.475 π), with two 0.95 / √(2 · 0.975 · 0.025), with very many the normal
        // distribution's; the others by bisection of the integral of the density.
        for (freedom, t) in [
            (1, 12.706_204_736),
            (2, 4.302_652_730),
            (4, 2.776_445_105),
            (9, 2.262_157_163),
            (29, 2.045_229_642),
            (99, 1.984_216_952),
            (10_000_000, 1.959_964_22),
        ] {
            close(t_quantile(freedom), t, 1e-6);
        }
    }

    #[test]
    fn the_interval_of_one_to_five_is_known() {
        // Mean 3, variance 2.5, t(4) = 2.776445: 2.776445 * sqrt(2.5 / 5).
        let estimate = Estimate::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).expect("five values");
        assert_eq!((estimate.mean, estimate.n), (3.0, 5));
        close(estimate.half_width().expect("five values"), 1.963_243, 1e-6);
        assert_eq!(variance(&[1.0, 2.0, 3.0, 4.0, 5.0]), Some(2.5));
    }

    #[test]
    fn equal_values_have_no_interval() {
        let estimate = Estimate::of(&[0.1, 0.1, 0.1]).expect("three values");
        assert_eq!((estimate.mean, estimate.half_width()), (0.1, None));
        assert!(estimate.equal && !estimate.deterministic);
    }

    #[test]
    fn one_value_has_no_interval() {
        let estimate = Estimate::of(&[7.0]).expect("one value");
        assert_eq!(estimate.half_width(), None);
        assert_eq!(Estimate::of(&[]), None);
        assert_eq!(Estimate::of(&[f64::NAN]), None);
    }

    #[test]
    fn pairing_removes_what_both_share() {
        let a = [Some(10.0), Some(20.0), Some(30.0)];
        let b = [Some(9.0), Some(18.0), Some(29.0)];
        let difference = paired_difference(&a, &b).expect("three pairs");
        close(difference.mean, 4.0 / 3.0, 1e-12);
        // Differences 1, 2, 1: s = 0.57735, t(2) = 4.302653.
        close(
            difference.half_width().expect("three pairs"),
            1.434_218,
            1e-5,
        );
        assert!(!difference.excludes_zero());
        let lone = paired_difference(&a, &[Some(1.0), None, Some(1.0)]).expect("two pairs");
        assert_eq!(lone.n, 2);
    }

    #[test]
    fn fairness_is_one_for_equals_and_one_nth_for_a_monopoly() {
        assert_eq!(jain_index(&[3.0, 3.0, 3.0]), Some(1.0));
        assert_eq!(jain_index(&[5.0, 0.0, 0.0, 0.0]), Some(0.25));
        close(
            jain_index(&[1.0, 2.0, 3.0]).expect("shares"),
            36.0 / 42.0,
            1e-15,
        );
        assert_eq!(jain_index(&[0.0, 0.0]), None);
        assert_eq!(min_share(&[1.0, 2.0, 3.0]), Some(0.5));
        assert_eq!(min_share(&[]), None);
    }

    #[test]
    fn a_ratio_over_zero_is_no_value() {
        assert_eq!(ratio(1.0, 4.0), Some(0.25));
        assert_eq!(ratio(1.0, 0.0), None);
    }

    #[test]
    fn a_percentile_of_merged_histograms_is_that_of_all_values() {
        let histogram = |values: std::ops::Range<u64>| {
            let mut histogram = Histogram::default();
            values.for_each(|value| histogram.record(value));
            histogram
        };
        let all = merged([&histogram(1..11), &histogram(11..21)]);
        assert_eq!(all.quantile(0.5), Some(10));
        assert_eq!(all.count(), 20);
    }

    proptest! {
        #[test]
        fn the_interval_moves_and_scales_with_the_values(
            values in prop::collection::vec(-1e3f64..1e3, 2..20), shift in -1e3f64..1e3, scale in 0.1f64..10.0,
        ) {
            let moved: Vec<f64> = values.iter().map(|v| v * scale + shift).collect();
            let (a, b) = (Estimate::of(&values).unwrap(), Estimate::of(&moved).unwrap());
            prop_assert!((a.mean * scale + shift - b.mean).abs() < 1e-6);
            let (half, other) = (a.half_width().unwrap(), b.half_width().unwrap());
            prop_assert!((half * scale - other).abs() < 1e-6 * (1.0 + other));
        }
    }

    #[test]
    fn significant_digits_are_those_of_c() {
        for (value, digits, text) in [
            (130_947.675, 6, "130948"),
            (87_587.675, 6, "87587.7"),
            (0.590_399_96, 6, "0.5904"),
            (821.42, 6, "821.42"),
            (1_000_000.0, 6, "1e+06"),
            (0.000_012_345_67, 3, "1.23e-05"),
            (0.0, 6, "0"),
            (-2.5, 6, "-2.5"),
        ] {
            assert_eq!(significant(value, digits), text);
        }
    }
}
