//! 95 % intervals of means over replications that stay inside the range of what they are about.
//!
//! [`of`] picks the scale by the ends of the range, and uses the delta method on it (Casella and Berger, Statistical Inference,
//! 2nd edition, section 5.5.4) with Student's t at n - 1 degrees of freedom, m the mean and e = s / √n its standard error:
//!
//! - no finite end: m ± t e, Student's interval (Law, Simulation Modeling and Analysis, 5th edition, section 4.5);
//! - one finite end a: a + (m - a) exp(± t e / (m - a)), the interval of the logarithm of the distance;
//! - two finite ends a and b: the interval of the logit of u = (m - a) / (b - a), so logit(u) ± t e / ((b - a) u (1 - u)).
//!
//! Far from every end, where e is small against the distance to it, all three are Student's interval. Near an end the values are
//! skewed, and Student's interval leaves the range and misses the truth. [`count`] is for means of ratios whose events are rare:
//! its error is at least that of Poisson's distribution, and no event at all gives an upper end (N. Johnson, A. Kemp and S. Kotz,
//! Univariate Discrete Distributions, 3rd edition, section 4.7.3). `make coverage` measures all of them.

use super::distributions::{LOWER, UPPER, t_quantile};
use super::moments::{mean, size, to_f64, variance};

/// From where to where the truth lies with 95 % confidence.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Whether the value lies inside, the ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// The distance of the ends.
    pub fn width(&self) -> f64 {
        self.high - self.low
    }

    /// The same, or wider where it did not reach from `low` to `high`.
    #[must_use]
    pub fn reaching(self, low: f64, high: f64) -> Interval {
        Interval {
            low: self.low.min(low),
            high: self.high.max(high),
        }
    }
}

/// The scale on which the error of a mean is nearly symmetric.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Scale {
    Plain,
    /// The logarithm of the distance above the least value.
    Above(f64),
    /// The logarithm of the distance below the greatest value.
    Below(f64),
    /// The logit of the place between the ends.
    Between(f64, f64),
}

impl Scale {
    fn of((least, greatest): (f64, f64)) -> Scale {
        match (least.is_finite(), greatest.is_finite()) {
            (false, false) => Scale::Plain,
            (true, false) => Scale::Above(least),
            (false, true) => Scale::Below(greatest),
            (true, true) => Scale::Between(least, greatest),
        }
    }

    /// The interval `center ± reach`, where `reach` is small, and its equal on this scale. `None` for a center at an end.
    fn around(self, center: f64, reach: f64) -> Option<Interval> {
        let interval = match self {
            Scale::Plain => Interval {
                low: center - reach,
                high: center + reach,
            },
            Scale::Above(least) => {
                let from = center - least;
                let factor = libm::exp(reach / from);
                Interval {
                    low: least + from / factor,
                    high: least + from * factor,
                }
            }
            Scale::Below(greatest) => {
                let from = greatest - center;
                let factor = libm::exp(reach / from);
                Interval {
                    low: greatest - from * factor,
                    high: greatest - from / factor,
                }
            }
            Scale::Between(least, greatest) => {
                let (width, below, above) = (greatest - least, center - least, greatest - center);
                // Odds are multiplied and divided by this.
                let factor = libm::exp(reach * width / (below * above));
                Interval {
                    low: least + width * below / (below + above * factor),
                    high: least + width / (1.0 + above / (below * factor)),
                }
            }
        };
        let inside = match self {
            Scale::Plain => true,
            Scale::Above(least) => center > least,
            Scale::Below(greatest) => center < greatest,
            Scale::Between(least, greatest) => center > least && center < greatest,
        };
        inside.then_some(interval)
    }
}

/// Student's interval of the mean; `None` of fewer than two values, or of values that are all equal, whose spread of zero says
/// nothing of how far the next one may lie.
pub fn student(values: &[f64]) -> Option<Interval> {
    of(values, (f64::NEG_INFINITY, f64::INFINITY))
}

/// The interval of the mean of values between two finite ends. It lies inside them. `None` as for [`student`]. A mean at an end
/// has only values at that end, and so no interval either.
pub fn bounded(values: &[f64], bounds: (f64, f64)) -> Option<Interval> {
    of(values, bounds)
}

/// The interval of the mean of values that lie between `bounds`, either of which may be infinite. `None` of fewer than two
/// values, or of values that are all equal.
///
/// Values beyond a finite end, which only rounding brings about, make a mean that counts as inside: a mean at or beyond the end
/// has Student's interval, cut off there, and so has a mean of two.
pub fn of(values: &[f64], bounds: (f64, f64)) -> Option<Interval> {
    let error = error(values)?;
    let reach = t_quantile(UPPER, size(values) - 1.0) * error;
    let center = mean(values)?;
    // From two values, t is so large that the interval would cover everything on a logarithm.
    let scale = match values.len() {
        2 => Scale::Plain,
        _ => Scale::of(bounds),
    };
    let interval = scale.around(center, reach);
    let interval = interval.or_else(|| Scale::Plain.around(center, reach))?;
    Some(Interval {
        low: interval.low.max(bounds.0),
        high: interval.high.min(bounds.1),
    })
}

/// The standard error of the mean; `None` of fewer than two values, or of values that are all equal.
fn error(values: &[f64]) -> Option<f64> {
    let variance = variance(values).filter(|variance| *variance > 0.0)?;
    Some((variance / size(values)).sqrt())
}

/// Events in all below which a mean of their ratios is no more than its order of magnitude: its interval reaches from half to
/// twice the mean, or farther.
pub const FEW: u64 = 10;

/// Whether there are too few events, in all replications together, to say more than the order of magnitude of their ratio.
pub fn few(events: &[u64]) -> bool {
    events.iter().sum::<u64>() < FEW
}

/// The interval of the mean over replications of `events[i] / trials[i]`, where events may be rare: drops of packets, or of
/// seconds. `greatest` is 1 where an event is one of the trials, and infinite where trials are a time. Replications without
/// trials are left out; `None` if fewer than two remain.
///
/// The standard error is the greater of the one that the replications show and the one of independent events, so that equal
/// counts by chance give no narrow interval. Without any event the interval begins at 0 and ends where the probability of that
/// is 2.5 %; where every trial is an event, it is the mirror image.
pub fn count(events: &[u64], trials: &[f64], greatest: f64) -> Option<Interval> {
    let pairs = events.iter().zip(trials);
    let counted: Vec<(f64, f64)> = pairs
        .filter(|(_, trials)| **trials > 0.0)
        .map(|(events, trials)| (to_f64(*events), *trials))
        .collect();
    if counted.len() < 2 {
        return None;
    }
    let ratios: Vec<f64> = counted.iter().map(|(events, of)| events / of).collect();
    let all: f64 = counted.iter().map(|(_, trials)| trials).sum();
    let center = mean(&ratios)?;
    if center <= 0.0 {
        return Some(Interval {
            low: 0.0,
            high: most_without_events(all, greatest),
        });
    }
    if center >= greatest {
        return Some(Interval {
            low: greatest - most_without_events(all, greatest),
            high: greatest,
        });
    }
    // Variance of a ratio of independent events: its mean over the trials, less what a share below 1 leaves out.
    let inverse: f64 = counted.iter().map(|(_, trials)| 1.0 / trials).sum();
    let independent =
        center * (1.0 - center / greatest) * inverse / (size(&ratios) * size(&ratios));
    let shown = variance(&ratios)? / size(&ratios);
    let reach = t_quantile(UPPER, size(&ratios) - 1.0) * shown.max(independent).sqrt();
    Scale::of((0.0, greatest)).around(center, reach)
}

/// The ratio at which a given number of trials has no event with a probability of 2.5 %.
fn most_without_events(trials: f64, greatest: f64) -> f64 {
    let exponent = libm::log(LOWER) / trials;
    match greatest.is_finite() {
        // Of shares, (1 - p)^trials; of rates, exp(- rate trials).
        true => -greatest * libm::expm1(exponent),
        false => -exponent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SHARE: (f64, f64) = (0.0, 1.0);
    const NOT_NEGATIVE: (f64, f64) = (0.0, f64::INFINITY);

    fn close(found: Option<Interval>, low: f64, high: f64) {
        let found = found.expect("an interval");
        let off = (found.low - low).abs().max((found.high - high).abs());
        assert!(
            off < 1e-9 * (1.0 + high.abs()),
            "{found:?}: not {low} to {high}"
        );
    }

    /// Lengths of 10 sleeps (Student, "The Probable Error of a Mean", Biometrika 6, 1908): hours gained by the first drug.
    const SLEEP: [f64; 10] = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];

    #[test]
    fn the_interval_of_student_s_sleepers_is_the_published_one() {
        // R 4: t.test(extra) of the first group: mean 0.75, -0.5297804 to 2.0297804.
        let found = student(&SLEEP).expect("ten values");
        assert!((found.low + 0.529_780_4).abs() < 5e-8, "{found:?}");
        assert!((found.high - 2.029_780_4).abs() < 5e-8, "{found:?}");
    }

    #[test]
    fn the_interval_of_a_share_is_that_of_its_logit() {
        // scipy 1.17: m = 0.94, s/√n = 0.0248998, t(4) = 2.7764451; expit(logit(m) ± t e / (m (1 - m))).
        close(
            bounded(&[0.98, 0.99, 0.95, 0.85, 0.93], SHARE),
            0.821_387_190_762_309,
            0.981_608_363_767_384_9,
        );
    }

    #[test]
    fn the_interval_of_a_positive_value_is_that_of_its_logarithm() {
        // scipy 1.17: exp(log(m) ± t e / m) with m = 3, e = √0.5.
        close(
            of(&[1.0, 2.0, 3.0, 4.0, 5.0], NOT_NEGATIVE),
            1.559_239_030_847_103,
            5.772_046_377_719_573,
        );
    }

    #[test]
    fn far_from_every_end_the_interval_is_student_s() {
        let values = [0.499, 0.502, 0.501, 0.498, 0.5];
        let plain = student(&values).expect("five values");
        for bounds in [SHARE, NOT_NEGATIVE, (f64::NEG_INFINITY, 1.0)] {
            let found = of(&values, bounds).expect("five values");
            assert!((found.low - plain.low).abs() < 0.01 * plain.width());
            assert!((found.high - plain.high).abs() < 0.01 * plain.width());
        }
    }

    #[test]
    fn equal_values_and_lone_values_have_no_interval() {
        for bounds in [SHARE, NOT_NEGATIVE, (f64::NEG_INFINITY, f64::INFINITY)] {
            assert_eq!(of(&[1.0, 1.0, 1.0], bounds), None);
            assert_eq!(of(&[0.5], bounds), None);
            assert_eq!(of(&[], bounds), None);
        }
    }

    #[test]
    fn a_mean_that_rounding_put_at_its_end_keeps_an_interval_inside() {
        let found = bounded(&[1.0 + 1e-15, 1.0 - 1e-16, 1.0], SHARE).expect("unequal");
        assert!(found.low < 1.0 && found.high == 1.0, "{found:?}");
    }

    #[test]
    fn no_event_has_an_upper_end() {
        // -ln(0.025) = 3.688879: over 5 runs of 1000 seconds; as a share 1 - 0.025^(1/5000).
        close(
            count(&[0; 5], &[1000.0; 5], f64::INFINITY),
            0.0,
            7.377_758_908_227_873e-4,
        );
        close(
            count(&[0; 5], &[1000.0; 5], 1.0),
            0.0,
            7.375_038_011_081_053e-4,
        );
        close(
            count(&[7, 5], &[7.0, 5.0], 1.0),
            1.0 - 0.264_648_469_397_051_2,
            1.0,
        );
    }

    #[test]
    fn equal_counts_are_no_more_certain_than_independent_events() {
        // Mean 2e-3; √(0.002 / 3000) = 8.16497e-4; t(2) = 4.3026527.
        close(
            count(&[2, 2, 2], &[1000.0; 3], f64::INFINITY),
            3.452_786_727_781_420_3e-4,
            1.158_484_527_241_630_4e-2,
        );
    }

    #[test]
    fn bursts_widen_the_interval_of_a_count() {
        let even = count(&[9, 11, 10, 8, 12], &[1e5; 5], 1.0).expect("five runs");
        let bursts = count(&[0, 0, 45, 0, 5], &[1e5; 5], 1.0).expect("five runs");
        assert!(bursts.width() > 3.0 * even.width());
        assert_eq!(count(&[3, 4], &[0.0, 10.0], 1.0), None);
        assert!(few(&[3, 6]) && !few(&[4, 6]) && few(&[]));
    }

    proptest! {
        #[test]
        fn an_interval_stays_inside_and_holds_its_mean(
            values in prop::collection::vec(0.0f64..=1.0, 2..20),
            share in 0.0f64..1.0,
        ) {
            // Some values at the end itself.
            let values: Vec<f64> = values.iter().map(|v| if *v < share { *v } else { 1.0 }).collect();
            let center = mean(&values).unwrap();
            for bounds in [SHARE, NOT_NEGATIVE, (-2.0, 1.0), (f64::NEG_INFINITY, 1.0)] {
                if let Some(found) = of(&values, bounds) {
                    prop_assert!(bounds.0 <= found.low && found.high <= bounds.1, "{found:?}");
                    prop_assert!(found.low <= center + 1e-12 && center - 1e-12 <= found.high, "{found:?}: {center}");
                }
            }
        }

        #[test]
        fn an_interval_of_counts_stays_inside(events in prop::collection::vec(0u64..=50, 2..12), trials in 50.0f64..1e6) {
            let trials = vec![trials; events.len()];
            let found = count(&events, &trials, 1.0).unwrap();
            prop_assert!(0.0 <= found.low && found.low < found.high && found.high <= 1.0, "{found:?}");
        }
    }
}
