//! Quantiles of the values of all replications together, with their intervals and what they rest on.
//!
//! Values of one replication follow each other closely, so they are no sample of independent ones; replications are independent.
//! The interval is the jackknife's over replications: each is left out once, and the logarithms of the quantiles of the others
//! become pseudo-values with Student's t (R. G. Miller, "The Jackknife: A Review", Biometrika 61(1), 1974; of simulations: P. Heidelberger
//! and P. A. W. Lewis, "Quantile Estimation in Dependent Sequences", Operations Research 32(1), 1984, on why not the mean of quantiles
//! of short parts: it is biased). A replication is a large block, so that the jackknife holds although a quantile is no smooth function.
//!
//! A histogram knows a value to within a step. The jackknife uses quantiles that are interpolated within their step, since leaving out
//! a replication may move the quantile by less; the interval is never narrower than what a step leaves open, 1/64 of the value.
//!
//! Where values lie on a lattice, such as sojourn times in a queue of equal packets, leaving out a replication rarely moves a quantile from
//! one value to the next, and the jackknife sees too little. There the interval also reaches to the quantiles at both ends of the
//! interval of the share of values below (R. S. Woodruff, "Confidence Intervals for Medians and Other Position Measures", Journal of the
//! American Statistical Association 47, 1952).
//!
//! The values beyond a quantile count less where replications disagree on their share: by the ratio of the variance that independent
//! values would give to the one that is seen, the design effect (L. Kish, Survey Sampling, 1965, section 8.2).

use sojourn_sim::histogram::{Histogram, middle};

use super::distributions::{UPPER, chi_squared_quantile, t_quantile};
use super::interval::Interval;
use super::moments::{mean, size, to_f64, variance};

/// A quantile is known to within this share of itself.
pub const RESOLUTION: f64 = 1.0 / 64.0;

/// Values beyond a quantile, each as good as an independent one, below which it is not to be trusted: the standard error of the
/// share beyond is then more than 30 % of that share, so that a 99th percentile may be anything from the 98.5th to the 99.5th.
pub const FEW: f64 = 10.0;

/// A step has this many times the values of its neighbour where values lie on a lattice: what is continuous changes less from step to step.
const SPARSE: u64 = 4;

/// The probability that a variance is as small by chance as the one that [`Quantile::at_least`] allows for.
const BY_CHANCE: f64 = 0.1;

/// A quantile of the values of all replications.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Quantile {
    /// The quantile, in the unit of the histograms' values.
    pub value: f64,
    /// Its 95 % interval; `None` of fewer than two replications with values.
    pub interval: Option<Interval>,
    /// Values beyond it, above or below, on the side with fewer of them.
    pub beyond: f64,
    /// As many independent values beyond as would vary between replications as these do; at most `beyond`. Of one replication it
    /// is not known.
    pub effective: Option<f64>,
    /// What `effective` is at least, with 90 % confidence: a few replications may agree by chance.
    pub at_least: Option<f64>,
    /// Whether values around it lie on a lattice, farther apart than the steps of the histogram.
    pub lattice: bool,
    /// Replications with values.
    pub n: u64,
}

impl Quantile {
    /// Whether too few values lie beyond it to trust it and its interval: fewer than [`FEW`] by the lower limit of the effective
    /// number. The limit, since intervals that are narrow by chance would otherwise be those that are trusted: of 1,000 experiments
    /// with three replications of AR(1), the 99th percentiles that pass the estimate itself cover in 85 %.
    pub fn few(&self) -> bool {
        self.at_least.unwrap_or(self.beyond) < FEW
    }
}

/// The quantile `q` of the values of all replications, one histogram each, within the least and the greatest value that were
/// counted. `None` if nothing was.
pub fn pooled(histograms: &[&Histogram], q: f64, least: u64, greatest: u64) -> Option<Quantile> {
    let counted = histograms.iter().filter(|h| h.count() > 0);
    let each: Vec<Steps> = counted.map(|h| Steps::of(h)).collect();
    let mut all = Histogram::default();
    for histogram in histograms {
        all.merge(histogram);
    }
    let value = to_f64(all.quantile_within(q, least, greatest)?);
    let all = Steps::of(&all);
    let place = all.place(q)?;
    let beyond = q.min(1.0 - q) * to_f64(all.total);
    let shares: Vec<f64> = each.iter().map(|steps| steps.share_above(place)).collect();
    let deflation = deflation(&shares, &each);
    let lattice = all.is_lattice_at(place);
    Some(Quantile {
        value,
        lattice,
        interval: jackknife(&all, &each, q, place.value)
            .map(|interval| match lattice {
                true => by_shares(&all, &shares, q).map_or(interval, |shares| {
                    interval.reaching(shares.low, shares.high)
                }),
                false => interval,
            })
            .map(|interval| {
                interval.reaching(value * (1.0 - RESOLUTION), value * (1.0 + RESOLUTION))
            })
            .map(|interval| Interval {
                low: interval.low.max(0.0),
                ..interval
            }),
        beyond,
        effective: deflation.map(|share| beyond * share.min(1.0)),
        at_least: deflation.map(|share| beyond * (share * smallest(size(&shares))).min(1.0)),
        n: u64::try_from(each.len()).unwrap_or(u64::MAX),
    })
}

/// The counts of a histogram by number of their step.
struct Steps {
    counts: Vec<(u32, u64)>,
    total: u64,
}

/// Where a quantile lies: in a step, with this part of the step's values below.
#[derive(Clone, Copy)]
struct Place {
    step: u32,
    part: f64,
    value: f64,
}

impl Steps {
    fn of(histogram: &Histogram) -> Steps {
        Steps {
            counts: histogram.steps(),
            total: histogram.count(),
        }
    }

    /// These without those, which are among them.
    fn without(&self, others: &Steps) -> Steps {
        let mut rest = others.counts.iter().peekable();
        let counts = self.counts.iter().map(|(step, count)| {
            let less = rest.next_if(|(other, _)| other == step);
            (*step, count - less.map_or(0, |(_, count)| *count))
        });
        Steps {
            counts: counts.filter(|(_, count)| *count > 0).collect(),
            total: self.total - others.total,
        }
    }

    /// The place of a quantile, with values spread evenly over their step.
    fn place(&self, q: f64) -> Option<Place> {
        let rank = q * to_f64(self.total);
        let mut below = 0.0;
        for (step, count) in &self.counts {
            let count = to_f64(*count);
            if below + count >= rank {
                let part = ((rank - below) / count).clamp(0.0, 1.0);
                let (low, high) = ends(*step);
                return Some(Place {
                    step: *step,
                    part,
                    value: low + part * (high - low),
                });
            }
            below += count;
        }
        None
    }

    /// Whether the steps before and behind that of a place hold far fewer values, or none, though there are some farther off.
    fn is_lattice_at(&self, place: Place) -> bool {
        let count = |step: u32| {
            let found = self.counts.iter().find(|(own, _)| *own == step);
            found.map_or(0, |(_, count)| *count)
        };
        let ends = [self.counts.first(), self.counts.last()];
        let [least, greatest] = ends.map(|end| end.map_or(place.step, |(step, _)| *step));
        let own = count(place.step);
        let is_sparse = |step: u32| count(step).saturating_mul(SPARSE) < own;
        (least < place.step && is_sparse(place.step - 1))
            || (place.step < greatest && is_sparse(place.step + 1))
    }

    /// The share of the values that lies above a place.
    fn share_above(&self, place: Place) -> f64 {
        let above = |(step, count): &(u32, u64)| match step.cmp(&place.step) {
            std::cmp::Ordering::Less => 0.0,
            std::cmp::Ordering::Equal => (1.0 - place.part) * to_f64(*count),
            std::cmp::Ordering::Greater => to_f64(*count),
        };
        self.counts.iter().map(above).sum::<f64>() / to_f64(self.total)
    }
}

/// Least value of a step and of the next one. Values below 64 are steps of their own.
fn ends(step: u32) -> (f64, f64) {
    let (octave, part) = ((step.saturating_sub(1)) / 32, (step.saturating_sub(1)) % 32);
    if octave <= 5 {
        let value = to_f64(middle(step));
        return (value, value);
    }
    let width = to_f64(1 << (octave - 5));
    let low = f64::from(32 + part) * width;
    (low, low + width)
}

/// The interval around `center` by leaving out each replication once: of logarithms, or of values where one is zero.
fn jackknife(all: &Steps, each: &[Steps], q: f64, center: f64) -> Option<Interval> {
    if each.len() < 2 {
        return None;
    }
    let left: Option<Vec<f64>> = each
        .iter()
        .map(|one| all.without(one).place(q).map(|place| place.value))
        .collect();
    let left = left?;
    let is_positive = each.len() > 2 && center > 0.0 && left.iter().all(|value| *value > 0.0);
    let scale = |value: f64| match is_positive {
        true => libm::log(value),
        false => value,
    };
    let n = to_f64(u64::try_from(each.len()).ok()?);
    let pseudo: Vec<f64> = left
        .iter()
        .map(|value| n * scale(center) - (n - 1.0) * scale(*value))
        .collect();
    let reach = t_quantile(UPPER, n - 1.0) * (variance(&pseudo)? / n).sqrt();
    Some(match is_positive {
        true => Interval {
            low: center * libm::exp(-reach),
            high: center * libm::exp(reach),
        },
        false => Interval {
            low: center - reach,
            high: center + reach,
        },
    })
}

/// The quantiles of all at both ends of the interval of a share, from the `shares` of replications above the quantile `q`.
fn by_shares(all: &Steps, shares: &[f64], q: f64) -> Option<Interval> {
    let n = size(shares);
    let reach = t_quantile(UPPER, n - 1.0) * (variance(shares)? / n).sqrt();
    let value = |q: f64| Some(to_f64(middle(all.place(q.clamp(0.0, 1.0))?.step)));
    Some(Interval {
        low: value(q - reach)?,
        high: value(q + reach)?,
    })
}

/// How small the variance of `n` values is by chance, over the true one.
fn smallest(n: f64) -> f64 {
    chi_squared_quantile(BY_CHANCE, n - 1.0) / (n - 1.0)
}

/// The variance that the share beyond would have between replications if their values were independent, over the one that it
/// has. `None` of fewer than two.
fn deflation(shares: &[f64], each: &[Steps]) -> Option<f64> {
    let seen = variance(shares)?;
    let share = mean(shares)?;
    let inverse = each.iter().map(|steps| 1.0 / to_f64(steps.total));
    let independent = share * (1.0 - share) * inverse.sum::<f64>() / size(shares);
    Some(match seen > 0.0 {
        true => independent / seen,
        false => f64::INFINITY,
    })
}

#[cfg(test)]
mod tests {
    use super::super::moments::whole;
    use super::*;
    use proptest::prelude::*;
    use sojourn_sim::Stream;

    const ALL: (u64, u64) = (0, u64::MAX);

    fn histogram(values: impl IntoIterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram::default();
        values.into_iter().for_each(|value| histogram.record(value));
        histogram
    }

    fn of(histograms: &[Histogram], q: f64) -> Quantile {
        let each: Vec<&Histogram> = histograms.iter().collect();
        pooled(&each, q, ALL.0, ALL.1).expect("values")
    }

    /// Exponential values of mean 1e9: `per` follow each other that are one and the same.
    fn exponential(seed: u64, count: usize, per: usize) -> Histogram {
        let mut draws = Stream::derive(seed, 0, "values");
        let mut value = 0;
        histogram((0..count).map(|k| {
            if k % per == 0 {
                value = whole(draws.exponential(1e9));
            }
            value
        }))
    }

    #[test]
    fn the_quantile_is_that_of_all_values() {
        let found = of(&[histogram(1..11), histogram(11..21)], 0.5);
        assert_eq!((found.value, found.n), (10.0, 2));
        assert_eq!(found.beyond, 10.0);
        assert!(pooled(&[&Histogram::default()], 0.5, 0, 0).is_none());
    }

    #[test]
    fn the_interval_is_never_narrower_than_a_step() {
        let same = vec![histogram([1_000_000; 50]); 4];
        let found = of(&same, 0.99);
        let interval = found.interval.expect("four replications");
        assert!(interval.low <= found.value * (1.0 - RESOLUTION));
        assert!(interval.high >= found.value * (1.0 + RESOLUTION));
    }

    #[test]
    fn the_interval_is_the_jackknife_by_hand() {
        // Steps of their own: leaving out one leaves the medians 20, 20, 10 and the rank 3 of 6 in all of 10, 10, 20, 20, 30, 30 ...
        let three = [
            histogram([10, 10]),
            histogram([20, 20]),
            histogram([30, 30]),
        ];
        let found = of(&three, 0.5);
        assert_eq!(found.value, 20.0);
        // Others: {20, 20, 30, 30}: rank 2 is 20; {10, 10, 30, 30}: 10; {10, 10, 20, 20}: 10. Pseudo-values of log: 3 L - 2 L(i).
        let l = |v: f64| libm::log(v);
        let pseudo = [20.0, 10.0, 10.0].map(|v| 3.0 * l(20.0) - 2.0 * l(v));
        let reach = 4.302_652_729_911_275 * (variance(&pseudo).unwrap() / 3.0).sqrt();
        let interval = found.interval.expect("three replications");
        assert!((interval.low - 20.0 * libm::exp(-reach)).abs() < 1e-9);
        assert!((interval.high - 20.0 * libm::exp(reach)).abs() < 1e-6);
    }

    #[test]
    fn one_replication_has_no_interval() {
        let found = of(&[exponential(1, 5000, 1)], 0.99);
        assert_eq!(
            (found.interval, found.effective, found.few()),
            (None, None, false)
        );
        assert!(
            of(&[exponential(1, 500, 1)], 0.99).few(),
            "five values beyond"
        );
    }

    #[test]
    fn values_that_repeat_count_less() {
        let apart: Vec<Histogram> = (0..40).map(|seed| exponential(seed, 2000, 1)).collect();
        let alike: Vec<Histogram> = (0..40).map(|seed| exponential(seed, 2000, 50)).collect();
        let (apart, alike) = (of(&apart, 0.95), of(&alike, 0.95));
        assert_eq!(apart.beyond, alike.beyond);
        let of_apart = apart.effective.expect("40 replications");
        assert!(of_apart > 2000.0, "{of_apart} of 4000");
        let of_alike = alike.effective.expect("40 replications");
        assert!((40.0..160.0).contains(&of_alike), "{of_alike} of 80");
    }

    #[test]
    fn an_interval_on_a_lattice_reaches_the_values_that_the_share_may_be_at() {
        // Whole packets of 6e8 each; 95 % of all values are below 4.99 packets, so that replications are at odds over 4 or 5.
        let packet = 600_000_000;
        let on_lattice = |seed: u64| {
            let mut draws = Stream::derive(seed, 0, "lattice");
            let mut value = 0;
            histogram((0..4000).map(|k| {
                if k % 40 == 0 {
                    value = whole(draws.exponential(1e9)) / packet * packet + packet;
                }
                value
            }))
        };
        let covered = (0..400_u64).filter(|experiment| {
            let each: Vec<Histogram> = (0..10).map(|k| on_lattice(10 * experiment + k)).collect();
            let interval = of(&each, 0.95).interval.expect("ten replications");
            interval.contains(5.0 * to_f64(packet))
        });
        let count = covered.count();
        assert!(count >= 372, "{count} of 400");
    }

    #[test]
    fn a_quantile_of_zero_has_an_interval_above_zero() {
        let found = of(&[histogram([0, 0, 0]), histogram([0, 0, 5])], 0.5);
        let interval = found.interval.expect("two replications");
        assert_eq!((found.value, interval.low), (0.0, 0.0));
    }

    proptest! {
        #[test]
        fn a_place_within_a_step_is_within_its_ends(value in 1u64..1 << 53) {
            let steps = Steps::of(&histogram([value]));
            let (low, high) = ends(steps.counts[0].0);
            let value = to_f64(value);
            prop_assert!(low <= value && (value < high || low == high), "{low} {value} {high}");
        }

        #[test]
        fn leaving_out_is_merging_the_others(
            a in prop::collection::vec(0u64..1000, 1..30), b in prop::collection::vec(0u64..1000, 1..30),
        ) {
            let (a, b) = (histogram(a), histogram(b));
            let mut all = a.clone();
            all.merge(&b);
            prop_assert_eq!(Steps::of(&all).without(&Steps::of(&a)).counts, b.steps());
        }
    }
}
