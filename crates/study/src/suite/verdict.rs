//! From an estimate and its thresholds to a verdict.

use serde::{Deserialize, Serialize};
use sojourn_results::stats::Estimate;

/// What is said of a criterion.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The whole interval keeps to the threshold.
    Pass,
    /// The whole interval is beyond it.
    Fail,
    /// The interval straddles it, after as many replications as there may be; or there is no value.
    Undecided,
    /// There is no threshold: the value is shown.
    Informative,
    /// The algorithm lacks what the criterion is about.
    NotApplicable,
}

impl Verdict {
    /// Every verdict.
    pub const ALL: [Verdict; 5] = [
        Verdict::Pass,
        Verdict::Fail,
        Verdict::Undecided,
        Verdict::Informative,
        Verdict::NotApplicable,
    ];

    /// The word.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Fail => "fail",
            Verdict::Undecided => "undecided",
            Verdict::Informative => "informative",
            Verdict::NotApplicable => "not-applicable",
        }
    }

    /// The verdict on an estimate that has to lie between two thresholds, both included, in the unit of the estimate. The interval decides.
    /// Where nothing is random, or all replications have one value, the value does. A single value of something random decides nothing.
    pub fn of(estimate: &Estimate, at_least: Option<f64>, at_most: Option<f64>) -> Verdict {
        let certain = estimate.deterministic || estimate.equal;
        let (low, high) = match estimate.interval {
            Some(interval) => (interval.low, interval.high),
            None if certain => (estimate.mean, estimate.mean),
            None => (f64::NEG_INFINITY, f64::INFINITY),
        };
        let sides = [
            at_least.map(|least| (low >= least, high < least)),
            at_most.map(|most| (high <= most, low > most)),
        ];
        let mut sides = sides.into_iter().flatten().peekable();
        if sides.peek().is_none() {
            return Verdict::Informative;
        }
        sides.fold(Verdict::Pass, |so_far, (keeps, breaks)| {
            match (so_far, keeps, breaks) {
                (Verdict::Fail, _, _) | (_, _, true) => Verdict::Fail,
                (Verdict::Pass, true, _) => Verdict::Pass,
                _ => Verdict::Undecided,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64], at_least: Option<f64>, at_most: Option<f64>) -> Verdict {
        let estimate = Estimate::of(values).expect("values");
        Verdict::of(&estimate, at_least, at_most)
    }

    #[test]
    fn an_interval_on_one_side_of_the_threshold_decides() {
        let values = [9.0, 10.0, 11.0];
        assert_eq!(of(&values, Some(5.0), None), Verdict::Pass);
        assert_eq!(of(&values, Some(15.0), None), Verdict::Fail);
        assert_eq!(of(&values, None, Some(15.0)), Verdict::Pass);
        assert_eq!(of(&values, None, Some(5.0)), Verdict::Fail);
    }

    #[test]
    fn an_interval_that_straddles_the_threshold_is_undecided() {
        // The interval of 9, 10, 11 is 10 ± 2.48.
        let values = [9.0, 10.0, 11.0];
        assert_eq!(of(&values, Some(9.0), None), Verdict::Undecided);
        assert_eq!(of(&values, Some(12.0), None), Verdict::Undecided);
        assert_eq!(of(&values, None, Some(12.0)), Verdict::Undecided);
    }

    #[test]
    fn a_value_between_two_thresholds_passes_and_beyond_either_fails() {
        let values = [9.0, 10.0, 11.0];
        assert_eq!(of(&values, Some(5.0), Some(15.0)), Verdict::Pass);
        assert_eq!(of(&values, Some(13.0), Some(15.0)), Verdict::Fail);
        assert_eq!(of(&values, Some(12.0), Some(15.0)), Verdict::Undecided);
        assert_eq!(of(&values, Some(9.0), Some(5.0)), Verdict::Fail);
    }

    #[test]
    fn equal_values_decide_and_a_single_one_does_not() {
        assert_eq!(of(&[3.0, 3.0], Some(3.0), None), Verdict::Pass);
        assert_eq!(of(&[3.0, 3.0], None, Some(2.9)), Verdict::Fail);
        assert_eq!(of(&[3.0], Some(2.0), None), Verdict::Undecided);
        let exact = Estimate::exact(3.0, 1);
        assert_eq!(Verdict::of(&exact, Some(2.0), None), Verdict::Pass);
    }

    #[test]
    fn without_a_threshold_the_value_is_informative() {
        assert_eq!(of(&[1.0, 2.0], None, None), Verdict::Informative);
    }
}
