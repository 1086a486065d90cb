//! How much of a run to leave out: the marginal standard error rule on batch means, MSER-5.
//!
//! Sources: K. P. White, "An Effective Truncation Heuristic for Bias Reduction in Simulation Output", Simulation 69(6), 1997;
//! K. P. White, M. J. Cobb and S. C. Spratt, "A Comparison of Five Steady-State Truncation Heuristics for Simulation", WSC 2000;
//! S. Hoad, S. Robinson and R. Davies, "Automating Warm-up Length Estimation", JORS 61(9), 2010, who found it the best of 44 rules.
//!
//! The series is cut into batches of five values. Of the batch means Y(1) to Y(n), the rule leaves out the first d, where d minimises
//! the square of the marginal standard error of what remains: the sum of (Y(j) - mean)² over j > d, divided by (n - d)². A least value
//! in the second half says that the series is too short to tell: it has not settled, or its end alone looks calm.

use super::moments::{mean, to_f64};

/// Values in a batch.
pub const BATCH: usize = 5;

/// What MSER-5 says of a series.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transient {
    /// The first values to leave out, a multiple of [`BATCH`].
    Cut(usize),
    /// The least is in the second half: the series is too short, or has not settled.
    TooLong,
}

/// The first values of a series to leave out. A series of fewer than ten batches is too short.
pub fn mser5(series: &[f64]) -> Transient {
    let batches: Vec<f64> = series.chunks_exact(BATCH).filter_map(mean).collect();
    let n = batches.len();
    if n < LEAST_BATCHES {
        return Transient::TooLong;
    }
    // From the end, so that each error follows from the last: Welford's update.
    let mut least: Option<(f64, usize)> = None;
    let (mut center, mut squares) = (0.0, 0.0);
    for (count, value) in (1u64..).zip(batches.iter().rev()) {
        let count_f = to_f64(count);
        let from = value - center;
        center += from / count_f;
        squares += from * (value - center);
        let kept = usize::try_from(count).unwrap_or(usize::MAX);
        // The error of the last few is small by chance: White leaves out the last five.
        if kept < LEAST_KEPT {
            continue;
        }
        let error = squares / (count_f * count_f);
        // Of equal errors the earlier cut wins: a constant series needs none.
        if least.is_none_or(|(best, _)| error <= best) {
            least = Some((error, n - kept));
        }
    }
    match least {
        Some((_, cut)) if cut <= n / 2 => Transient::Cut(cut * BATCH),
        _ => Transient::TooLong,
    }
}

/// Batches without which there is no answer.
const LEAST_BATCHES: usize = 10;

/// Batches that remain at least.
const LEAST_KEPT: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sojourn_sim::Stream;

    /// First-order autoregressive noise: each value is `rho` of the last and a uniform draw of variance 1.
    fn noise(seed: u64, rho: f64, count: usize) -> Vec<f64> {
        let mut draws = Stream::derive(seed, 0, "noise");
        let mut last = 0.0;
        (0..count)
            .map(|_| {
                last = rho * last + (draws.uniform() - 0.5) * 12.0f64.sqrt();
                last
            })
            .collect()
    }

    /// The rule by its formula, in the plainest way.
    fn by_formula(series: &[f64]) -> Transient {
        let batches: Vec<f64> = series.chunks_exact(BATCH).filter_map(mean).collect();
        let n = batches.len();
        let error = |cut: usize| {
            let rest = &batches[cut..];
            let center = mean(rest).unwrap();
            let squares: f64 = rest.iter().map(|y| (y - center) * (y - center)).sum();
            squares / to_f64(u64::try_from(rest.len() * rest.len()).unwrap())
        };
        let cuts = 0..=(n - LEAST_KEPT);
        let best = cuts.min_by(|a, b| error(*a).total_cmp(&error(*b))).unwrap();
        match best <= n / 2 {
            true => Transient::Cut(best * BATCH),
            false => Transient::TooLong,
        }
    }

    #[test]
    fn a_step_is_cut_where_it_ends() {
        let mut series: Vec<f64> = (0u32..1000).map(|k| f64::from(k % 2)).collect();
        for value in &mut series[..100] {
            *value += 20.0;
        }
        assert_eq!(mser5(&series), Transient::Cut(100));
    }

    #[test]
    fn a_decay_is_cut_where_it_drowns_in_the_noise() {
        // 30 exp(-k / 40): below the noise's own deviation of one after 136 values.
        for seed in 0..20 {
            let mut series = noise(seed, 0.0, 2000);
            for (k, value) in (0u32..).zip(&mut series) {
                *value += 30.0 * libm::exp(-f64::from(k) / 40.0);
            }
            let Transient::Cut(cut) = mser5(&series) else {
                panic!("seed {seed}: not settled")
            };
            assert!((100..300).contains(&cut), "seed {seed}: {cut}");
        }
    }

    #[test]
    fn a_series_that_still_rises_has_not_settled() {
        let series: Vec<f64> = (0u32..1000).map(f64::from).collect();
        assert_eq!(mser5(&series), Transient::TooLong);
    }

    #[test]
    fn a_constant_series_needs_no_cut() {
        assert_eq!(mser5(&[3.0; 200]), Transient::Cut(0));
    }

    #[test]
    fn few_values_say_nothing() {
        assert_eq!(mser5(&[1.0; 49]), Transient::TooLong);
    }

    proptest! {
        #[test]
        fn the_rule_is_its_formula(seed in any::<u64>(), rho in 0.0f64..0.9, start in -30.0f64..30.0, count in 50usize..600) {
            let mut series = noise(seed, rho, count);
            for (k, value) in (0u32..).zip(&mut series) {
                *value += start * libm::exp(-f64::from(k) / 50.0);
            }
            prop_assert_eq!(mser5(&series), by_formula(&series));
        }
    }
}
