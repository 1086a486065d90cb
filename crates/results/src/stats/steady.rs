//! Whether the measured part of a run is steady: its halves agree, and it holds enough cycles.
//!
//! - [`halves`]: the mean of the first half against that of the second, paired over replications (Law, Simulation Modeling and
//!   Analysis, 5th edition, section 10.2.1). Replications are independent, so the test holds although the values within a
//!   series are correlated. It is two-sided at 1 %: a table tests each of its points and metrics, and at 5 % one steady point in
//!   20 would be called not steady. L. Schruben, H. Singh and L. Tierney, "Optimal Tests for Initialization Bias in Simulation
//!   Output", Operations Research 31(6), 1983, discuss such tests.
//! - [`cycles`]: a sawtooth of a congestion control that is cut in its middle biases each mean. Of a window of at least five
//!   cycles, a part of one is at most a fifth.

use super::distributions::t_beyond;
use super::moments::{mean, size, to_f64, variance};

/// The significance level of the difference of halves.
pub const LEVEL: f64 = 0.01;

/// The change from half to half, over the first, below which it does not matter, significant or not: it is in the fourth
/// digit of a table.
pub const NEGLIGIBLE: f64 = 1e-3;

/// Cycles that a measured window holds at least.
pub const CYCLES: f64 = 5.0;

/// The halves of a measured window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Halves {
    /// Mean over replications of the first half.
    pub first: f64,
    /// Mean over replications of the second half.
    pub second: f64,
    /// Probability of a difference at least as large in a steady window.
    pub p: f64,
}

impl Halves {
    /// The second less the first, over the first. Infinite after zero.
    pub fn change(&self) -> f64 {
        match self.second == self.first {
            true => 0.0,
            false => (self.second - self.first) / self.first.abs(),
        }
    }

    /// Whether they differ by more than chance, and by more than is negligible.
    pub fn differ(&self) -> bool {
        self.p < LEVEL && self.change().abs() > NEGLIGIBLE
    }
}

/// The halves of series of batch means after the warm-up, one per replication. The middle batch of an odd number is left out, as
/// are batches without a value (NaN). `None` of fewer than two replications with values in both halves.
///
/// Replications whose differences are equal to the last bit have no chance in them: any difference is significant (p = 0).
pub fn halves(series: &[Vec<f64>]) -> Option<Halves> {
    let each: Vec<(f64, f64)> = series
        .iter()
        .filter_map(|values| {
            let half = values.len() / 2;
            Some((
                known(&values[..half])?,
                known(&values[values.len() - half..])?,
            ))
        })
        .collect();
    let (first, second): (Vec<f64>, Vec<f64>) = each.iter().copied().unzip();
    let changes: Vec<f64> = each.iter().map(|(first, second)| second - first).collect();
    let (change, variance, n) = (mean(&changes)?, variance(&changes)?, size(&changes));
    let p = match (change == 0.0, variance > 0.0) {
        (true, _) => 1.0,
        (false, false) => 0.0,
        (false, true) => t_beyond(change / (variance / n).sqrt(), n - 1.0),
    };
    Some(Halves {
        first: mean(&first)?,
        second: mean(&second)?,
        p,
    })
}

/// The mean of the values that are there.
fn known(values: &[f64]) -> Option<f64> {
    let values: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    mean(&values)
}

/// The mean number of window reductions of long flows of one group, over flows and replications, if it is below [`CYCLES`]. Below one, there is no cycle to be
/// seen: the flows are limited by something else, or still grow, which the halves show.
pub fn cycles(reductions: &[u64]) -> Option<f64> {
    let counts: Vec<f64> = reductions.iter().copied().map(to_f64).collect();
    mean(&counts).filter(|mean| (1.0..CYCLES).contains(mean))
}

/// Why a result is not steady.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Reason {
    /// MSER-5 found no end of the transient in the first half of the run.
    Transient,
    /// The halves of the measured window differ.
    Halves(Halves),
    /// Long flows reduced their windows this often in the measured window, in the mean.
    Cycles(f64),
}

impl Reason {
    /// The reason that the halves of a window give, if any.
    pub fn of_halves(series: &[Vec<f64>]) -> Option<Reason> {
        halves(series).filter(Halves::differ).map(Reason::Halves)
    }

    /// The reason that counts of window reductions give, if any.
    pub fn of_cycles(reductions: &[u64]) -> Option<Reason> {
        cycles(reductions).map(Reason::Cycles)
    }
}

impl std::fmt::Display for Reason {
    /// One short sentence, without its capital and its period.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Reason::Transient => f.write_str("the run ends before it has settled"),
            Reason::Halves(halves) => {
                let change = halves.change();
                let side = if change < 0.0 { "below" } else { "above" };
                match change.is_finite() {
                    true => {
                        let percent = 100.0 * change.abs();
                        let places = if percent < 10.0 { 1 } else { 0 };
                        write!(
                            f,
                            "the second half of the window is {percent:.places$} % {side} the first"
                        )
                    }
                    false => write!(f, "the second half of the window is {side} the first"),
                }
            }
            Reason::Cycles(count) => {
                let places = if count.fract() == 0.0 { 0 } else { 1 };
                write!(
                    f,
                    "{count:.places$} window reductions within the measured time; {CYCLES} are needed"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_sim::Stream;

    fn noise(seed: u64, replications: usize, batches: usize, rise: f64) -> Vec<Vec<f64>> {
        let mut draws = Stream::derive(seed, 0, "halves");
        let mut one = || {
            let values = (0..batches).map(|k| match k < batches / 2 {
                true => 10.0 + draws.normal(),
                false => 10.0 + rise + draws.normal(),
            });
            values.collect()
        };
        (0..replications).map(|_| one()).collect()
    }

    #[test]
    fn halves_of_noise_differ_in_one_of_a_hundred() {
        let differ =
            (0..2000).filter(|seed| Reason::of_halves(&noise(*seed, 5, 40, 0.0)).is_some());
        // 20 expected, with a standard deviation of 4.4.
        let count = differ.count();
        assert!((7..=35).contains(&count), "{count} of 2000");
    }

    #[test]
    fn a_rise_of_the_second_half_is_named_with_its_size() {
        let reason = Reason::of_halves(&noise(3, 5, 400, 2.0)).expect("a rise of a fifth");
        assert_eq!(
            reason.to_string(),
            "the second half of the window is 19 % above the first"
        );
        let fall = Reason::of_halves(&noise(3, 5, 400, -0.5)).expect("a fall");
        assert_eq!(
            fall.to_string(),
            "the second half of the window is 5.5 % below the first"
        );
    }

    #[test]
    fn the_p_of_halves_is_that_of_the_paired_test() {
        // Student's sleepers (Biometrika 6, 1908) as halves: R 4, t.test(paired = TRUE), p = 0.002833.
        let first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let series: Vec<Vec<f64>> = first
            .iter()
            .zip(second)
            .map(|(a, b)| vec![*a, 99.0, b])
            .collect();
        let found = halves(&series).expect("ten replications");
        assert!((found.p - 0.002_833).abs() < 5e-7, "{}", found.p);
        assert!((found.first - 0.75).abs() < 1e-12 && (found.second - 2.33).abs() < 1e-12);
    }

    #[test]
    fn equal_halves_are_steady_and_equal_replications_have_no_chance() {
        assert_eq!(Reason::of_halves(&[vec![1.0; 8], vec![1.0; 8]]), None);
        let rise = vec![1.0, 1.0, 2.0, 2.0];
        let found = halves(&[rise.clone(), rise.clone()]).expect("two replications");
        assert_eq!((found.p, found.differ()), (0.0, true));
        assert_eq!(halves(&[rise]), None);
        assert_eq!(halves(&[vec![f64::NAN, 1.0], vec![1.0, 2.0]]), None);
        // Significant, and nothing that a table shows.
        let small = vec![1.0, 1.0005];
        assert_eq!(Reason::of_halves(&[small.clone(), small]), None);
    }

    #[test]
    fn a_window_shorter_than_five_cycles_is_not_steady() {
        assert_eq!(cycles(&[12, 5, 0]), None);
        assert_eq!(cycles(&[5, 5]), None);
        assert_eq!(cycles(&[]), None);
        assert_eq!(cycles(&[0, 1, 0]), None);
        let reason = Reason::of_cycles(&[1, 3, 4, 3]).expect("fewer than three cycles");
        assert_eq!(
            reason.to_string(),
            "2.8 window reductions within the measured time; 5 are needed"
        );
        let once = Reason::of_cycles(&[1]).expect("one reduction").to_string();
        assert_eq!(
            once,
            "1 window reductions within the measured time; 5 are needed"
        );
    }
}
