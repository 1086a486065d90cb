//! The value of a criterion, from the results of its settings.

use sojourn_results::directory::ResultSet;
use sojourn_results::outcome::SeriesOutcome;
use sojourn_results::stats::{Estimate, mean};
use sojourn_scenario::error::Result;
use sojourn_units::Span;

use super::keys::{Good, Statistic};
use super::places::{Quantity, Question};
use crate::figure::quantity::{is_of, of_total};
use crate::summary::wanted::Wanted;

/// What is known of a criterion.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Value {
    /// `None` if no replication has a value.
    pub(super) estimate: Option<Estimate>,
    /// The value in each replication; `None` where it has none.
    pub(super) samples: Vec<Option<f64>>,
    /// Whether nothing is random in it.
    pub(super) exact: bool,
}

impl Value {
    /// The value of a question in the results of its settings, which `of` gives; none unless the tested algorithm has some.
    pub(super) fn of<'a>(
        question: &Question<'_>,
        of: &dyn Fn(usize) -> Option<&'a ResultSet>,
    ) -> Result<Option<Value>> {
        let settings = question.settings;
        let value = |number: Option<usize>| {
            let results = number.and_then(of);
            results.map(|results| one(question, results)).transpose()
        };
        let Some(tested) = value(Some(settings.tested))? else {
            return Ok(None);
        };
        let alone = value(settings.harm)?;
        let good = question.criterion.about.good;
        // A harm is compared with a harm.
        let harmed = |value: Value| match &alone {
            Some(alone) => value.with(alone, f64::NEG_INFINITY, |with, alone| {
                harm(with, alone, good)
            }),
            None => value,
        };
        let divided = |a: f64, b: f64| (b != 0.0).then(|| a / b);
        Ok(Some(match (value(settings.over)?, value(settings.less)?) {
            (Some(over), _) => tested.with(&over, 0.0, divided),
            (None, Some(less)) => {
                let difference = |a: f64, b: f64| Some(a - b);
                harmed(tested).with(&harmed(less), f64::NEG_INFINITY, difference)
            }
            (None, None) => harmed(tested),
        }))
    }

    /// Both, replication by replication, with the least value that may come of it.
    fn with(self, other: &Value, least: f64, both: impl Fn(f64, f64) -> Option<f64>) -> Value {
        let pairs = self.samples.iter().zip(&other.samples);
        let samples: Vec<Option<f64>> = pairs.map(|(a, b)| both((*a)?, (*b)?)).collect();
        let exact = self.exact && other.exact;
        Value {
            estimate: estimate(&samples, (least, f64::INFINITY), exact),
            samples,
            exact,
        }
    }

    /// Replications without a value.
    pub(super) fn missing(&self) -> usize {
        self.samples.iter().filter(|value| value.is_none()).count()
    }
}

/// The harm to a flow that has the value `with` in company and `alone` by itself (Ware et al. 2019, HotNets, section 4): the share of its
/// goodput that it loses, or the share of its delay that the company adds. Below zero if it gains.
fn harm(with: f64, alone: f64, good: Good) -> Option<f64> {
    match good {
        Good::More => (alone != 0.0).then(|| (alone - with) / alone),
        Good::Less => (with != 0.0).then(|| (with - alone) / with),
    }
}

fn estimate(samples: &[Option<f64>], bounds: (f64, f64), exact: bool) -> Option<Estimate> {
    let values: Vec<f64> = samples.iter().copied().flatten().collect();
    let found = Estimate::within(&values, bounds)?;
    Some(match exact {
        true => Estimate::exact(found.mean, found.n),
        false => found,
    })
}

/// The value in the results of one setting, which is a study of one point.
fn one(question: &Question<'_>, results: &ResultSet) -> Result<Value> {
    let none = Value {
        estimate: None,
        samples: Vec::new(),
        exact: false,
    };
    let Some(experiment) = results.manifest.experiments.first() else {
        return Ok(none);
    };
    let wanted = Wanted::of(results, experiment);
    let Some(point) = wanted.points().into_iter().next() else {
        return Ok(none);
    };
    let exact = wanted.is_exact(point);
    match &question.quantity {
        Quantity::Metric(asked) => {
            // What the bottleneck is, is known by now.
            let asked = wanted.parse(&asked.text(), None);
            let Some(asked) = asked else {
                return Ok(none);
            };
            Ok(Value {
                estimate: wanted.estimate(point, &asked),
                samples: wanted.values(point, &asked),
                exact,
            })
        }
        Quantity::Series {
            quantity,
            level,
            from,
        } => {
            let each = results.of_point(point.point);
            let each: Result<Vec<Option<f64>>> = each
                .map(|run| {
                    let all = results.series(point.point, run.replication)?;
                    let own = of_total(quantity).unwrap_or(quantity);
                    let of = question.criterion.about.of.as_deref();
                    let asked = all.into_iter().filter(|series| {
                        series.quantity == own && is_of(series, of, Some(run), &wanted.measured)
                    });
                    let sum = own != quantity;
                    Ok(taken(
                        &asked.collect::<Vec<_>>(),
                        sum,
                        question,
                        (*level, *from),
                    ))
                })
                .collect();
            let samples = each?;
            Ok(Value {
                estimate: estimate(&samples, (f64::NEG_INFINITY, f64::INFINITY), exact),
                samples,
                exact,
            })
        }
    }
}

/// What the statistic of a criterion is of some time series of a run: of their sum, or of all their samples. A time is that at which the last
/// of them gets there.
fn taken(
    series: &[SeriesOutcome],
    sum: bool,
    question: &Question<'_>,
    (level, from): (Option<f64>, Span),
) -> Option<f64> {
    let about = &question.criterion.about;
    let within = |series: &SeriesOutcome| -> Vec<(f64, f64)> {
        let times =
            (0_u64..).map(|index| series.first.as_secs_f64() + (series.step * index).as_secs_f64());
        let all = times.zip(series.values.iter().copied());
        let start = from.as_secs_f64();
        let end = about.to.map_or(f64::INFINITY, Span::as_secs_f64);
        all.filter(|(time, value)| *time >= start && *time <= end && value.is_finite())
            .map(|(time, value)| (time - start, value))
            .collect()
    };
    let mut all: Vec<Vec<(f64, f64)>> = series.iter().map(within).collect();
    if sum {
        all = vec![added(&all)];
    }
    let values: Vec<f64> = all.iter().flatten().map(|(_, value)| *value).collect();
    if values.is_empty() {
        return None;
    }
    let reached = |reaches: &dyn Fn(f64) -> bool| {
        let first = |samples: &Vec<(f64, f64)>| {
            let mut samples = samples.iter();
            samples
                .find(|(_, value)| reaches(*value))
                .map(|(time, _)| *time)
        };
        let times: Option<Vec<f64>> = all.iter().map(first).collect();
        times?.into_iter().reduce(f64::max)
    };
    match about.statistic {
        Statistic::Mean => mean(&values),
        Statistic::Median => quantile(values, 0.5),
        Statistic::P95 => quantile(values, 0.95),
        Statistic::P99 => quantile(values, 0.99),
        Statistic::Min => values.into_iter().reduce(f64::min),
        Statistic::Max => values.into_iter().reduce(f64::max),
        Statistic::Last => {
            let lasts: Vec<f64> = all
                .iter()
                .filter_map(|samples| samples.last().map(|(_, value)| *value))
                .collect();
            mean(&lasts)
        }
        Statistic::TimeToRise => reached(&|value| level.is_some_and(|level| value >= level)),
        Statistic::TimeToFall => reached(&|value| level.is_some_and(|level| value <= level)),
        Statistic::ShareAbove => {
            let above = |value: &f64| match level.is_some_and(|level| *value >= level) {
                true => 1.0,
                false => 0.0,
            };
            mean(&values.iter().map(above).collect::<Vec<f64>>())
        }
    }
}

/// The samples of several series at the same times, added.
pub(super) fn added(all: &[Vec<(f64, f64)>]) -> Vec<(f64, f64)> {
    let mut sums: std::collections::BTreeMap<u64, (f64, f64)> = std::collections::BTreeMap::new();
    for (time, value) in all.iter().flatten() {
        let sum = sums.entry(time.to_bits()).or_insert((*time, 0.0));
        sum.1 += value;
    }
    let mut samples: Vec<(f64, f64)> = sums.into_values().collect();
    samples.sort_by(|one, other| one.0.total_cmp(&other.0));
    samples
}

/// The sample below which at least the share `q` of all lies.
fn quantile(mut values: Vec<f64>, q: f64) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let size = u32::try_from(values.len()).ok()?;
    let rank = (q * f64::from(size)).ceil() - 1.0;
    let mut ranks = (0_u32..).map(f64::from);
    let index = ranks.position(|own| own >= rank)?;
    values.get(index).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harm_is_the_share_of_what_a_flow_has_alone_or_of_what_company_adds() {
        assert_eq!(harm(4.0, 10.0, Good::More), Some(0.6));
        assert_eq!(harm(12.0, 10.0, Good::More), Some(-0.2));
        assert_eq!(harm(1.0, 0.0, Good::More), None);
        assert_eq!(harm(80.0, 20.0, Good::Less), Some(0.75));
        assert_eq!(harm(0.0, 20.0, Good::Less), None);
    }

    #[test]
    fn a_quantile_is_a_sample() {
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(quantile(values.clone(), 0.95), Some(95.0));
        assert_eq!(quantile(values, 0.5), Some(50.0));
        assert_eq!(quantile(vec![7.0], 0.99), Some(7.0));
        assert_eq!(quantile(Vec::new(), 0.5), None);
    }

    #[test]
    fn series_are_added_sample_by_sample() {
        let all = [vec![(0.0, 1.0), (0.5, 2.0)], vec![(0.5, 3.0), (1.0, 4.0)]];
        assert_eq!(added(&all), [(0.0, 1.0), (0.5, 5.0), (1.0, 4.0)]);
    }
}
