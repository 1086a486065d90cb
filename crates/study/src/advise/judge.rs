//! From the results of a panel to a recommendation.

use sojourn_results::directory::ResultSet;
use sojourn_results::manifest::{ExperimentInfo, PointInfo};
use sojourn_results::stats::compare::{LEVEL, difference, holm};
use sojourn_results::stats::{Estimate, mean};
use sojourn_scenario::error::{LabError, LabErrorKind, Result};

use super::plan::Plan;
use super::text::FACTOR;
use super::uses::Use;
use crate::summary::wanted::Wanted;

/// Points within which two settings count as equally good, so that the simpler one is recommended.
pub const TIE: f64 = 2.0;

/// What is recommended, and why.
#[derive(Clone, PartialEq, Debug)]
pub struct Advice {
    /// The settings, in the order of the panel.
    pub settings: Vec<Judged>,
    /// The one that is recommended.
    pub recommended: usize,
    /// The one that loses least in its worst use, whether simple or not.
    pub best: usize,
    /// The one that is there today: the first of the panel.
    pub today: usize,
    /// Settings that differ from the recommended one in no use by more than chance.
    pub alike: Vec<usize>,
    /// How many differences were tested together.
    pub tests: usize,
}

/// A setting and what it gives.
#[derive(Clone, PartialEq, Debug)]
pub struct Judged {
    /// Its name.
    pub label: String,
    /// How much there is to set up.
    pub effort: u32,
    /// Per use of the request, in its order.
    pub uses: Vec<Measured>,
    /// The use in which it loses most, by its place, and the points that it loses there.
    pub worst: (usize, f64),
}

/// What a setting gives in a use.
#[derive(Clone, PartialEq, Debug)]
pub struct Measured {
    /// The use.
    pub of: Use,
    /// The value of each replication, in the unit in which it is shown.
    pub samples: Vec<Option<f64>>,
    /// Their mean with its interval; `None` where no replication has a value.
    pub value: Option<Estimate>,
    /// Mean points, from 0 to 100.
    pub points: f64,
    /// The best mean points of the panel less these.
    pub lost: f64,
    /// Against the recommended setting; `None` for that one itself, and where nothing could be compared.
    pub versus: Option<Versus>,
}

/// A difference from the recommended setting.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Versus {
    /// This setting less the recommended one, in the unit in which the value is shown.
    pub difference: f64,
    /// Its 95 % interval, alone.
    pub interval: Option<(f64, f64)>,
    /// Whether it is of pairs of replications; else it is Welch's.
    pub paired: bool,
    /// Probability of such a difference by chance, by Holm's procedure over all differences.
    pub p_holm: Option<f64>,
    /// Whether it is more than chance.
    pub differs: bool,
}

impl Advice {
    /// The recommended setting.
    pub fn recommended(&self) -> &Judged {
        &self.settings[self.recommended]
    }
}

impl Judged {
    /// What it gives in the use in which it loses most.
    pub fn worst_use(&self) -> Option<&Measured> {
        self.uses.get(self.worst.0)
    }
}

/// What the results of the study say.
///
/// # Errors
/// When the results are not those of the study.
pub fn advice(plan: &Plan, results: &ResultSet) -> Result<Advice> {
    let experiment = results.manifest.experiments.first();
    let experiment = experiment
        .ok_or_else(|| LabError::new(LabErrorKind::Bug, "results without an experiment"))?;
    Ok(advice_of(plan, results, experiment))
}

fn advice_of(plan: &Plan, results: &ResultSet, experiment: &ExperimentInfo) -> Advice {
    let wanted = Wanted::of(results, experiment);
    let points = wanted.points();
    let point = |label: &str| -> Option<&PointInfo> {
        let mut points = points.iter().copied();
        points.find(|point| point.levels.get(FACTOR).is_some_and(|own| own == label))
    };
    let uses = &plan.request.uses;
    let measured = plan.measured().as_secs_f64();
    let mut settings: Vec<Judged> = Vec::new();
    let mut metrics: Vec<Vec<Vec<Vec<Option<f64>>>>> = Vec::new();
    for setting in &plan.panel {
        let own = point(&setting.label);
        let each: Vec<Vec<Vec<Option<f64>>>> = uses
            .iter()
            .map(|one| by_replication(&wanted, own, &one.metrics(uses)))
            .collect();
        let values = uses.iter().zip(&each).map(|(one, replications)| {
            let samples = replications
                .iter()
                .map(|metrics| one.value(metrics, &plan.request.link, measured));
            measured_of(*one, samples.collect())
        });
        settings.push(Judged {
            label: setting.label.clone(),
            effort: setting.effort,
            uses: values.collect(),
            worst: (0, 0.0),
        });
        metrics.push(each);
    }
    for index in 0..uses.len() {
        score(&mut settings, index, &metrics);
    }
    decide(settings)
}

/// The metrics of a use in each replication of a point.
fn by_replication(
    wanted: &Wanted<'_>,
    point: Option<&PointInfo>,
    metrics: &[&str],
) -> Vec<Vec<Option<f64>>> {
    let Some(point) = point else {
        return Vec::new();
    };
    let columns: Vec<Vec<Option<f64>>> = metrics
        .iter()
        .map(|metric| match wanted.parse(metric, None) {
            Some(asked) => wanted.values(point, &asked),
            None => Vec::new(),
        })
        .collect();
    let rows = columns.iter().map(Vec::len).max().unwrap_or(0);
    (0..rows)
        .map(|row| {
            let cells = columns.iter();
            cells
                .map(|column| column.get(row).copied().flatten())
                .collect()
        })
        .collect()
}

fn measured_of(of: Use, samples: Vec<Option<f64>>) -> Measured {
    let values: Vec<f64> = samples.iter().copied().flatten().collect();
    Measured {
        of,
        value: Estimate::within(&values, (0.0, f64::INFINITY)),
        samples,
        points: 0.0,
        lost: 0.0,
        versus: None,
    }
}

/// Gives the settings their points in a use.
fn score(settings: &mut [Judged], index: usize, metrics: &[Vec<Vec<Vec<Option<f64>>>>]) {
    let means = settings.iter();
    let means = means.filter_map(|own| own.uses[index].value.as_ref().map(|value| value.mean));
    let best = means.fold(f64::INFINITY, f64::min);
    for (own, metrics) in settings.iter_mut().zip(metrics) {
        let one = &mut own.uses[index];
        let each = one.samples.iter().zip(&metrics[index]);
        let points: Vec<f64> = each
            .filter_map(|(value, metrics)| Some(one.of.points((*value)?, metrics, best)))
            .collect();
        one.points = mean(&points).unwrap_or(0.0);
    }
    let most = settings.iter().map(|own| own.uses[index].points);
    let most = most.fold(0.0, f64::max);
    for own in settings {
        let one = &mut own.uses[index];
        one.lost = most - one.points;
    }
}

/// Chooses among settings that have their points.
fn decide(mut settings: Vec<Judged>) -> Advice {
    for own in &mut settings {
        let each = own.uses.iter().map(|one| one.lost).enumerate();
        own.worst = each.fold((0, f64::NEG_INFINITY), |worst, one| {
            if one.1 > worst.1 { one } else { worst }
        });
    }
    let worst = |at: &usize| settings[*at].worst.1;
    let best = (0..settings.len())
        .min_by(|a, b| worst(a).total_cmp(&worst(b)))
        .unwrap_or(0);
    let recommended = (0..settings.len())
        .filter(|at| worst(at) <= worst(&best) + TIE)
        .min_by(|a, b| {
            let simpler = settings[*a].effort.cmp(&settings[*b].effort);
            simpler.then_with(|| worst(a).total_cmp(&worst(b)))
        })
        .unwrap_or(best);
    let tests = compare(&mut settings, recommended);
    let alike = settings.iter().enumerate().filter(|(at, own)| {
        let differs = |one: &Measured| one.versus.is_some_and(|versus| versus.differs);
        let all = own.uses.iter().all(|one| one.versus.is_some());
        *at != recommended && all && !own.uses.iter().any(differs)
    });
    Advice {
        alike: alike.map(|(at, _)| at).collect(),
        settings,
        recommended,
        best,
        today: 0,
        tests,
    }
}

/// Compares every setting with the recommended one in every use, as one family of tests. Says how many there were.
fn compare(settings: &mut [Judged], recommended: usize) -> usize {
    let reference: Vec<Vec<Option<f64>>> = settings[recommended]
        .uses
        .iter()
        .map(|one| one.samples.clone())
        .collect();
    for (at, own) in settings.iter_mut().enumerate() {
        if at == recommended {
            continue;
        }
        for (one, reference) in own.uses.iter_mut().zip(&reference) {
            one.versus = difference(&one.samples, reference).map(|found| {
                // Without an error nothing was tested: all pairs differ by the same, or by nothing.
                let p = match found.p {
                    None if found.mean != 0.0 => found.of_signs().p,
                    p => p,
                };
                Versus {
                    difference: found.mean,
                    interval: found.interval.map(|interval| (interval.low, interval.high)),
                    paired: found.paired,
                    p_holm: p,
                    differs: false,
                }
            });
        }
    }
    let mut family: Vec<&mut Versus> = settings
        .iter_mut()
        .flat_map(|own| &mut own.uses)
        .filter_map(|one| one.versus.as_mut())
        .collect();
    let ps: Vec<f64> = family
        .iter()
        .map(|versus| versus.p_holm.unwrap_or(f64::NAN))
        .collect();
    for (versus, p) in family.iter_mut().zip(holm(&ps)) {
        versus.p_holm = (!p.is_nan()).then_some(p);
        versus.differs = versus.p_holm.is_some_and(|p| p < LEVEL);
    }
    ps.iter().filter(|p| !p.is_nan()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A setting with these values of a use, which are its points.
    fn setting(label: &str, effort: u32, uses: &[(Use, [f64; 5])]) -> Judged {
        let each = uses.iter().map(|(of, values)| {
            measured_of(*of, values.iter().map(|value| Some(*value)).collect())
        });
        Judged {
            label: label.to_owned(),
            effort,
            uses: each.collect(),
            worst: (0, 0.0),
        }
    }

    fn decided(mut settings: Vec<Judged>) -> Advice {
        let uses = settings[0].uses.len();
        let empty = vec![vec![vec![Vec::new(); 5]; uses]; settings.len()];
        for index in 0..uses {
            score(&mut settings, index, &empty);
        }
        decide(settings)
    }

    const fn around(value: f64) -> [f64; 5] {
        [value, value + 0.1, value - 0.1, value + 0.2, value - 0.2]
    }

    #[test]
    fn the_setting_whose_worst_use_loses_least_is_recommended() {
        let advice = decided(vec![
            setting(
                "today",
                0,
                &[(Use::Bulk, around(96.0)), (Use::Voice, around(40.0))],
            ),
            setting(
                "slow",
                1,
                &[(Use::Bulk, around(70.0)), (Use::Voice, around(92.0))],
            ),
            setting(
                "good",
                2,
                &[(Use::Bulk, around(90.0)), (Use::Voice, around(91.0))],
            ),
        ]);
        assert_eq!(advice.recommended().label, "good");
        assert_eq!(advice.settings[0].worst.0, 1);
        assert!((advice.settings[2].worst.1 - 6.0).abs() < 1e-9);
    }

    #[test]
    fn of_settings_that_are_nearly_as_good_the_simplest_is_recommended() {
        let advice = decided(vec![
            setting(
                "simple",
                1,
                &[(Use::Bulk, around(88.5)), (Use::Voice, around(90.0))],
            ),
            setting(
                "best",
                2,
                &[(Use::Bulk, around(90.0)), (Use::Voice, around(90.0))],
            ),
        ]);
        assert_eq!((advice.recommended, advice.best), (0, 1));
    }

    #[test]
    fn of_settings_that_differ_in_a_number_alone_the_better_one_is_recommended() {
        let advice = decided(vec![
            setting("95", 1, &[(Use::Bulk, around(89.0))]),
            setting("90", 1, &[(Use::Bulk, around(90.0))]),
        ]);
        assert_eq!(advice.recommended, 1);
    }

    #[test]
    fn what_differs_by_chance_alone_is_called_alike() {
        let noisy = [80.0, 95.0, 85.0, 99.0, 90.0];
        let advice = decided(vec![
            setting("one", 1, &[(Use::Bulk, [82.0, 93.0, 88.0, 96.0, 91.0])]),
            setting("other", 1, &[(Use::Bulk, noisy)]),
            setting("worse", 1, &[(Use::Bulk, around(40.0))]),
        ]);
        assert_eq!(advice.tests, 2);
        assert_eq!(advice.alike, [1 - advice.recommended]);
        let worse = advice.settings[2].uses[0].versus.expect("compared");
        assert!(worse.differs && worse.difference < -40.0, "{worse:?}");
    }

    #[test]
    fn a_shorter_page_load_time_has_more_points() {
        let advice = decided(vec![
            setting("slow", 1, &[(Use::Web, around(6.0))]),
            setting("fast", 2, &[(Use::Web, around(1.5))]),
        ]);
        assert_eq!(advice.recommended, 1);
        let points = advice.settings[0].uses[0].points;
        assert!((points - 25.0).abs() < 0.2, "{points}");
    }
}
