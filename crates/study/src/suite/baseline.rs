//! What changed since an earlier run of a suite, beyond noise.
//!
//! Each criterion of each algorithm is one test: Welch's, or the paired one where both runs have the same seed and pairing helps. All tests of
//! a comparison are one family under Holm's procedure at 1 %, so that of a hundred runs in which nothing changed, about one has an alarm.

use std::path::Path;

use sojourn_results::stats::compare::{difference, difference_apart, holm};
use sojourn_results::stats::{mean, to_f64};
use sojourn_scenario::document::read_text;
use sojourn_scenario::error::{LabError, LabErrorKind, Result};

use super::keys::{Better, Severity};
use super::record::{Outcome, Report};
use super::verdict::Verdict;

/// The probability of even one false alarm in a comparison.
const LEVEL: f64 = 0.01;

/// A change of less than this share of the earlier value does not count, however certain it is.
const LEAST: f64 = 0.01;

/// The reports of an earlier run.
#[derive(Clone, PartialEq, Debug)]
pub struct Baseline {
    reports: Vec<Report>,
}

/// Which way a value went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// The better one.
    Better,
    /// The worse one.
    Worse,
    /// The criterion does not say which is better.
    Other,
}

/// A value that changed beyond noise.
#[derive(Clone, PartialEq, Debug)]
pub struct Changed {
    /// The algorithm.
    pub algorithm: String,
    /// What it is now.
    pub now: Outcome,
    /// What it was.
    pub before: Outcome,
    /// Which way it went.
    pub change: Change,
    /// Probability of such a change by chance, by Holm's procedure.
    pub p_holm: f64,
}

impl Changed {
    /// Whether it makes the command end with status 1: it is worse, and the suite judges it.
    pub fn is_regression(&self) -> bool {
        self.change == Change::Worse && self.now.severity != Severity::Informative.name()
    }
}

impl Baseline {
    /// The baseline in a file that `--json` wrote.
    ///
    /// # Errors
    /// When the file cannot be read, or is none of these.
    pub fn read(path: &Path) -> Result<Baseline> {
        let text =
            read_text(path).map_err(|error| LabError::io(path, "read the baseline", &error))?;
        let wrong = |error: serde_json::Error| {
            LabError::new(
                LabErrorKind::BadValue,
                format!("this is no result of a suite: {error}"),
            )
            .in_file(&path.display().to_string())
            .remedy("name a file that sojourn suite --json wrote")
        };
        let value: serde_json::Value = serde_json::from_str(&text).map_err(wrong)?;
        let reports = match value.is_array() {
            true => serde_json::from_value(value).map_err(wrong)?,
            false => vec![serde_json::from_value(value).map_err(wrong)?],
        };
        Ok(Baseline { reports })
    }

    /// Fails unless the baseline has the same suite in the same form, and every algorithm.
    ///
    /// # Errors
    /// Names what it lacks; `file` is the baseline's.
    pub fn check(
        &self,
        suite: &str,
        quick: bool,
        algorithms: &[super::algorithm::Algorithm],
        file: &Path,
    ) -> Result<()> {
        let fail = |kind, problem: String| {
            LabError::new(kind, problem).in_file(&file.display().to_string())
        };
        for algorithm in algorithms {
            let mut own = self.reports.iter();
            if own.any(|own| {
                own.suite == suite && own.quick == quick && own.algorithm == algorithm.text
            }) {
                continue;
            }
            let form = |quick| if quick { " --quick" } else { "" };
            let has: Vec<String> = self
                .reports
                .iter()
                .map(|own| format!("{}{} of {}", own.suite, form(own.quick), own.algorithm))
                .collect();
            let problem = format!(
                "the baseline has no {suite}{} of {}",
                form(quick),
                algorithm.text
            );
            return Err(fail(LabErrorKind::ForeignResults, problem)
                .allowed("it has", has.join(", "))
                .remedy("make the baseline with the same command and --json"));
        }
        Ok(())
    }

    /// Criteria of these reports that the baseline lacks, then those of the baseline that they lack: a renamed criterion is among both.
    pub fn unmatched(&self, reports: &[Report]) -> (Vec<String>, Vec<String>) {
        let lacking = |of: &[Report], other: &[Report]| -> Vec<String> {
            let mut all = Vec::new();
            for report in of {
                let Some(beside) = other.iter().find(|own| own.is_of_same(report)) else {
                    continue;
                };
                let has = |one: &&Outcome| {
                    let mut results = beside.results.iter();
                    !results.any(|own| own.asks_as(one))
                };
                let missing = report.results.iter().filter(has);
                all.extend(missing.map(|one| one.criterion.clone()));
            }
            all.dedup();
            all
        };
        (
            lacking(reports, &self.reports),
            lacking(&self.reports, reports),
        )
    }

    /// What changed between the baseline and these reports, beyond noise; in the order of the reports.
    pub fn changes(&self, reports: &[Report]) -> Vec<Changed> {
        let mut pairs: Vec<(&Report, &Outcome, &Outcome, f64)> = Vec::new();
        for report in reports {
            let Some(before) = self.reports.iter().find(|own| own.is_of_same(report)) else {
                continue;
            };
            for now in &report.results {
                let mut all = before.results.iter();
                let was = all.find(|was| was.asks_as(now));
                if let Some(was) = was
                    && let Some(p) = p(now, was, report.seed == before.seed)
                {
                    pairs.push((report, now, was, p));
                }
            }
        }
        let ps: Vec<f64> = pairs.iter().map(|pair| pair.3).collect();
        let changed = pairs.into_iter().zip(holm(&ps));
        let changed = changed.filter_map(|((report, now, was, _), p_holm)| {
            let change = direction(now, was)?;
            (p_holm < LEVEL).then(|| Changed {
                algorithm: report.algorithm.clone(),
                now: now.clone(),
                before: was.clone(),
                change,
                p_holm,
            })
        });
        changed.collect()
    }
}

/// Which way a value went; `None` where it went nowhere to speak of.
fn direction(now: &Outcome, was: &Outcome) -> Option<Change> {
    let (value, before) = match (now.value, was.value) {
        (Some(value), Some(before)) => (value, before),
        (None, None) => return None,
        // A value that is gone is worse where it fails, such as a transfer that never ends.
        _ if now.verdict == Verdict::Fail || was.verdict == Verdict::Pass => {
            return Some(Change::Worse);
        }
        _ if was.verdict == Verdict::Fail || now.verdict == Verdict::Pass => {
            return Some(Change::Better);
        }
        _ => return Some(Change::Other),
    };
    if (value - before).abs() <= LEAST * before.abs() {
        return None;
    }
    let rose = value > before;
    let better = now.better.as_deref().and_then(|word| word.parse().ok());
    Some(match better {
        Some(Better::Higher) if rose => Change::Better,
        Some(Better::Lower) if !rose => Change::Better,
        Some(_) => Change::Worse,
        None => Change::Other,
    })
}

/// The probability of such a difference by chance; `None` where there is nothing to compare.
fn p(now: &Outcome, was: &Outcome, same_seed: bool) -> Option<f64> {
    let (a, b) = (&now.samples, &was.samples);
    if now.value.is_some() != was.value.is_some() {
        return of_two_groups(a.len(), b.len(), same_seed);
    }
    // Every replication moved by the same amount, under the same streams: no chance is in it.
    if same_seed && moved_alike(a, b) {
        return Some(0.0);
    }
    let found = match same_seed {
        true => difference(a, b),
        false => difference_apart(a, b),
    }?;
    if found.p.is_some() {
        return found.p;
    }
    let (first, second) = (constant(a)?, constant(b)?);
    if first.0 == second.0 {
        return Some(1.0);
    }
    of_two_groups(first.1, second.1, same_seed)
}

/// The probability that two runs, of `first` and `second` replications, have one outcome each by chance, where all replications have one of two;
/// `None` where one has fewer than two.
fn of_two_groups(first: usize, second: usize, same_seed: bool) -> Option<f64> {
    let (first, second) = (u64::try_from(first).ok()?, u64::try_from(second).ok()?);
    if first.min(second) < 2 {
        return None;
    }
    // The same streams gave the same each time, and now they give another: no chance is in it.
    if same_seed {
        return Some(0.0);
    }
    // Of all ways to deal these outcomes out to two runs, the two in which each run has one of them alone.
    let ways = (1..=second).fold(1.0, |ways, taken| {
        ways * to_f64(first + taken) / to_f64(taken)
    });
    Some((2.0 / ways).min(1.0))
}

/// Whether all replications, two at least, differ by one and the same amount other than zero.
fn moved_alike(a: &[Option<f64>], b: &[Option<f64>]) -> bool {
    let both = a.iter().zip(b);
    let moves: Option<Vec<f64>> = both.map(|(a, b)| Some((*a)? - (*b)?)).collect();
    let Some([first, rest @ ..]) = moves.as_deref() else {
        return false;
    };
    // The difference of two numbers has the error of both.
    let alike = |own: &f64| (own - first).abs() <= 1e-9 * first.abs();
    a.len() == b.len() && *first != 0.0 && !rest.is_empty() && rest.iter().all(alike)
}

/// The one value that all replications have, and how many there are; `None` of fewer than two, or of others.
fn constant(samples: &[Option<f64>]) -> Option<(f64, usize)> {
    let values: Vec<f64> = samples.iter().copied().flatten().collect();
    let first = *values.first()?;
    let same = values.len() > 1 && values.iter().all(|value| *value == first);
    same.then(|| (mean(&values).unwrap_or(first), values.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(criterion: &str, samples: &[f64], better: &str) -> Outcome {
        Outcome {
            criterion: criterion.to_owned(),
            case: "a case".to_owned(),
            title: "a value".to_owned(),
            severity: "should".to_owned(),
            verdict: Verdict::Pass,
            metric: "sojourn_s_mean".to_owned(),
            unit: "ms".to_owned(),
            value: mean(samples),
            low: None,
            high: None,
            n: 3,
            threshold: None,
            at_least: None,
            at_most: None,
            better: Some(better.to_owned()),
            source: "a test".to_owned(),
            ours: None,
            note: None,
            marks: Vec::new(),
            samples: samples.iter().copied().map(Some).collect(),
            command: "sojourn suite x".to_owned(),
        }
    }

    fn report(seed: u64, results: Vec<Outcome>) -> Report {
        Report {
            suite: "x".to_owned(),
            title: "X".to_owned(),
            kind: "queue".to_owned(),
            algorithm: "codel".to_owned(),
            quick: false,
            seed,
            sojourn: "0".to_owned(),
            results,
        }
    }

    fn changes(before: Vec<Outcome>, now: Vec<Outcome>, seeds: (u64, u64)) -> Vec<Changed> {
        let baseline = Baseline {
            reports: vec![report(seeds.0, before)],
        };
        baseline.changes(&[report(seeds.1, now)])
    }

    /// Numbers that look random: multiples of the golden ratio, folded into -0.5 to 0.5.
    fn noise(run: u32, at: u32) -> f64 {
        let x = f64::from(run) * 0.618_033_988_75 * 7.0 + f64::from(at) * 0.754_877_666;
        x.fract() - 0.5
    }

    #[test]
    fn a_planted_change_is_named_with_its_direction() {
        let before = vec![
            outcome("a/delay", &[10.0, 10.2, 9.9, 10.1], "lower"),
            outcome("a/rate", &[5.0, 5.1, 4.9, 5.0], "higher"),
        ];
        let now = vec![
            outcome("a/delay", &[14.0, 14.1, 13.9, 14.2], "lower"),
            outcome("a/rate", &[5.0, 5.05, 4.95, 5.0], "higher"),
        ];
        let found = changes(before.clone(), now.clone(), (1, 2));
        let [one] = found.as_slice() else {
            panic!("one change: {found:?}");
        };
        assert_eq!(one.now.criterion, "a/delay");
        assert_eq!(one.change, Change::Worse);
        assert!(one.is_regression());
        let back = changes(now, before, (1, 2));
        assert_eq!(back[0].change, Change::Better);
        assert!(!back[0].is_regression());
    }

    #[test]
    fn runs_with_other_seeds_in_which_nothing_changed_turn_nothing() {
        let run = |number: u32| -> Vec<Outcome> {
            let of = |criterion: u32| {
                let samples: Vec<f64> = (0..6)
                    .map(|at| 10.0 + noise(number, criterion * 6 + at))
                    .collect();
                outcome(&format!("a/{criterion}"), &samples, "lower")
            };
            (0..20).map(of).collect()
        };
        let alarms: usize = (1..=20)
            .map(|number| changes(run(0), run(number), (0, u64::from(number))).len())
            .sum();
        assert!(alarms <= 1, "{alarms}");
    }

    #[test]
    fn what_is_the_same_to_the_bit_is_no_change_and_what_was_constant_is_one() {
        let same = vec![outcome("a/x", &[3.0, 3.0, 3.0], "lower")];
        assert_eq!(changes(same.clone(), same.clone(), (1, 1)), []);
        let other = vec![outcome("a/x", &[4.0, 4.0, 4.0], "lower")];
        assert_eq!(changes(same.clone(), other.clone(), (1, 1)).len(), 1);
        // With other seeds, three equal values may be chance.
        assert_eq!(changes(same, other, (1, 2)).len(), 0);
    }

    #[test]
    fn a_value_that_is_gone_is_a_change_and_worse_where_it_fails() {
        let before = vec![outcome("a/end", &[3.0, 3.1, 3.2], "lower")];
        let mut gone = before.clone();
        gone[0].value = None;
        gone[0].samples = vec![None; 3];
        gone[0].verdict = Verdict::Fail;
        let found = changes(before.clone(), gone.clone(), (1, 1));
        assert!(found.len() == 1 && found[0].is_regression(), "{found:?}");
        let back = changes(gone.clone(), before.clone(), (1, 1));
        assert_eq!(back[0].change, Change::Better);
        // With other seeds, three of each may be chance.
        assert_eq!(changes(before, gone, (1, 2)), []);
    }

    #[test]
    fn a_criterion_that_one_of_them_lacks_is_named() {
        let baseline = Baseline {
            reports: vec![report(1, vec![outcome("a/delay", &[1.0, 2.0], "lower")])],
        };
        let now = report(1, vec![outcome("a/wait", &[1.0, 2.0], "lower")]);
        let (new, gone) = baseline.unmatched(&[now]);
        assert_eq!((new, gone), (vec!["a/wait".into()], vec!["a/delay".into()]));
    }

    #[test]
    fn a_shift_that_is_the_same_in_every_replication_is_a_change() {
        let before = vec![outcome("a/x", &[95.56, 97.71, 97.72], "lower")];
        let now = vec![outcome("a/x", &[129.56, 131.71, 131.72], "lower")];
        let found = changes(before, now, (1, 1));
        assert!(found.len() == 1 && found[0].is_regression(), "{found:?}");
    }

    #[test]
    fn a_change_below_a_percent_does_not_count() {
        let before = vec![outcome("a/x", &[100.0, 100.0, 100.0], "lower")];
        let now = vec![outcome("a/x", &[100.5, 100.5, 100.5], "lower")];
        assert_eq!(changes(before, now, (1, 1)), []);
    }
}
