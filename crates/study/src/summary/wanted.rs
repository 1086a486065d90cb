//! What is to be shown of an experiment, and the numbers of it.

use std::collections::BTreeSet;

use serde::Serialize;
use sojourn_report::{Cell, Estimate as Shown};
use sojourn_results::asked::{Asked, JoinedNames, Names};
use sojourn_results::directory::ResultSet;
use sojourn_results::manifest::{ExperimentInfo, PointInfo};
use sojourn_results::metrics::Unit;
use sojourn_results::outcome::RunOutcome;
use sojourn_results::stats::compare::{Difference, difference, difference_apart};
use sojourn_results::stats::interval::{self, Interval};
use sojourn_results::stats::jackknife::{self, LeftOut};
use sojourn_results::stats::{Estimate, Few, mean, whole};

use super::rows::Rows;

use crate::measured::Measured;

/// One number: a metric at a point, in the unit of storage.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Record {
    /// The experiment.
    pub experiment: String,
    /// The levels of its factors, in their order.
    pub levels: Vec<(String, String)>,
    /// The metric: `goodput_bps_sum of reno`.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Its value: the mean over replications.
    pub value: f64,
    /// Half the width of the 95 % interval; `None` where there is none.
    pub half_width: Option<f64>,
    /// Ends of that interval.
    pub low: Option<f64>,
    /// The upper one.
    pub high: Option<f64>,
    /// Replications that have a value.
    pub n: u64,
    /// Nothing is random in it: one run, or replications that are all the same.
    pub deterministic: bool,
    /// The link directions that a metric of queues is of; empty for other metrics.
    pub links: Vec<String>,
    /// Of a difference: how it was tested.
    pub test: Option<Tested>,
}

/// How a difference was tested.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Tested {
    /// Correlation of the replications of both; `None` of fewer than three, or where one of them does not vary.
    pub correlation: Option<f64>,
    /// Whether the interval is of the differences within pairs of replications; else it is Welch's.
    pub paired: bool,
    /// Probability of such a difference by chance, adjusted for all comparisons of the experiment by Holm's procedure.
    pub p_holm: Option<f64>,
    /// Whether it is more than chance at 5 %, so adjusted.
    pub differs: bool,
}

impl Tested {
    /// The test: `paired` or `welch`.
    pub fn name(&self) -> &'static str {
        if self.paired { "paired" } else { "welch" }
    }
}

impl Record {
    /// A metric at some levels, of no link.
    pub(crate) fn of(
        wanted: &Wanted<'_>,
        levels: Vec<(String, String)>,
        metric: String,
        unit: Unit,
        estimate: &Estimate,
    ) -> Record {
        Record {
            experiment: wanted.experiment.name.clone(),
            levels,
            metric,
            unit: unit.stored().to_owned(),
            value: estimate.mean,
            half_width: estimate.half_width(),
            low: estimate.interval.map(|interval| interval.low),
            high: estimate.interval.map(|interval| interval.high),
            n: estimate.n,
            deterministic: estimate.deterministic,
            test: None,
            links: Vec::new(),
        }
    }

    /// The same, of link directions.
    pub(crate) fn at(self, links: Vec<String>) -> Record {
        Record { links, ..self }
    }

    /// The same, with how it was tested.
    pub(crate) fn tested(self, test: Option<Tested>) -> Record {
        Record { test, ..self }
    }
}

/// What is to be shown of an experiment.
pub(crate) struct Wanted<'a> {
    pub(crate) results: &'a ResultSet,
    pub(crate) experiment: &'a ExperimentInfo,
    pub(crate) names: Names,
    /// The points in which nothing is random, by number.
    pub(crate) exact: BTreeSet<u64>,
    /// What the metrics of the bottleneck are of.
    pub(crate) measured: Measured,
}

impl<'a> Wanted<'a> {
    pub(crate) fn of(results: &'a ResultSet, experiment: &'a ExperimentInfo) -> Wanted<'a> {
        let mut names = JoinedNames::default();
        let mut exact = BTreeSet::new();
        for point in results.manifest.points_of(&experiment.name) {
            if let Some(run) = results.of_point(point.point).next() {
                names.join(Names::of_outcome(run));
            }
            if results.is_exact(point) {
                exact.insert(point.point);
            }
        }
        let measured = Measured::of(results, experiment);
        let found = measured.found().map(|link| vec![link.to_owned()]);
        Wanted {
            results,
            experiment,
            names: Names {
                measured: found,
                ..names.into_names()
            },
            exact,
            measured,
        }
    }

    pub(crate) fn points(&self) -> Vec<&'a PointInfo> {
        self.results
            .manifest
            .points
            .iter()
            .filter(|p| p.experiment == self.experiment.name)
            .collect()
    }

    /// The levels of a point, in the order of the factors.
    pub(crate) fn levels(&self, point: &PointInfo) -> Vec<(String, String)> {
        let factors = self.experiment.factors.iter();
        factors
            .filter_map(|factor| {
                Some((factor.name.clone(), point.levels.get(&factor.name)?.clone()))
            })
            .collect()
    }

    /// A metric that a study asks for; it was checked when the study was read.
    pub(crate) fn parse(&self, text: &str, of: Option<&str>) -> Option<Asked> {
        Asked::parse(text, of, &self.names).ok()
    }

    /// Every metric that the tables of the experiment show.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        let tables = self.results.manifest.tables.iter();
        let mut all: Vec<Asked> = Vec::new();
        for table in tables.filter(|table| table.experiment == self.experiment.name) {
            for text in &table.metrics {
                let asked = self.parse(text, table.of.as_deref());
                let new = |asked: &Asked| all.iter().all(|other| other.text() != asked.text());
                if let Some(asked) = asked.filter(new) {
                    all.push(asked);
                }
            }
        }
        match all.is_empty() {
            true if self.is_one_comparison() => self.default_metrics(),
            true => self.brief_metrics(),
            false => all,
        }
    }

    /// Whether the experiment has no factor but one under comparison, so that its points fit side by side.
    pub(crate) fn is_one_comparison(&self) -> bool {
        match self.experiment.factors.as_slice() {
            [] => true,
            [factor] => factor.compare,
            _ => false,
        }
    }

    /// What is shown of each of many points where a study does not say.
    pub(crate) fn brief_metrics(&self) -> Vec<Asked> {
        self.parse_all(&self.rows().brief())
    }

    /// What the usual tables show.
    pub(crate) fn rows(&self) -> Rows<'a> {
        Rows::of(self.results, self.points(), &self.measured)
    }

    fn parse_all(&self, texts: &[String]) -> Vec<Asked> {
        let texts = texts.iter();
        texts.filter_map(|text| self.parse(text, None)).collect()
    }

    /// What is shown of a comparison where a study does not say.
    pub(crate) fn default_metrics(&self) -> Vec<Asked> {
        self.parse_all(&self.rows().side_by_side())
    }

    /// The labels of the flows in the direction under study, of the first run.
    pub(crate) fn forward_labels(&self) -> Vec<&'a String> {
        let first = self.points().first().map(|point| point.point);
        let run = first.and_then(|point| self.results.of_point(point).next());
        let flows = run.into_iter().flat_map(|run| &run.flows);
        let mut labels: Vec<&String> = Vec::new();
        for flow in flows.filter(|flow| flow.forward) {
            if !labels.contains(&&flow.label) {
                labels.push(&flow.label);
            }
        }
        labels
    }

    /// The value of a metric in each replication of a point.
    pub(crate) fn values(&self, point: &PointInfo, asked: &Asked) -> Vec<Option<f64>> {
        self.results
            .of_point(point.point)
            .map(|run| asked.value(run))
            .collect()
    }

    /// The mean of a metric over the replications of a point, or its percentile over all of them together, with its interval.
    pub(crate) fn estimate(&self, point: &PointInfo, asked: &Asked) -> Option<Estimate> {
        let runs: Vec<&RunOutcome> = self.results.of_point(point.point).collect();
        if asked.pooled || asked.is_percentile() {
            return self.together(point, asked, &runs);
        }
        let values: Vec<Option<f64>> = runs.iter().map(|run| asked.value(run)).collect();
        let all: Vec<f64> = values.iter().copied().flatten().collect();
        let bounds = asked.bounds(runs.first().copied());
        let estimate = Estimate::within(&all, bounds)?;
        if self.is_exact(point) {
            return Some(Estimate::exact(estimate.mean, estimate.n));
        }
        let estimate =
            counted(asked, &runs, &values, bounds).map_or(estimate, |counted| Estimate {
                interval: counted.interval.filter(|_| !estimate.equal),
                few: counted.few,
                ..estimate
            });
        Some(estimate.at_least(asked.metric.resolution() * estimate.mean.abs()))
    }

    /// A metric over all replications of a point together. A percentile and a mean have an interval.
    fn together(&self, point: &PointInfo, asked: &Asked, runs: &[&RunOutcome]) -> Option<Estimate> {
        let runs: Vec<&RunOutcome> = runs
            .iter()
            .copied()
            .filter(|run| asked.value(run).is_some())
            .collect();
        let n = u64::try_from(runs.len()).unwrap_or(u64::MAX);
        let whole = Estimate::exact(asked.value_pooled(&runs)?, n);
        if self.is_exact(point) {
            return Some(whole);
        }
        let first = asked.value(runs.first()?);
        let equal = n > 1 && runs.iter().all(|run| asked.value(run) == first);
        let quantile = asked.quantile(&runs);
        let interval = match quantile.filter(|_| runs.len() > 1) {
            // Picoseconds, around the same center.
            Some(quantile) => quantile
                .interval
                .filter(|_| quantile.value > 0.0)
                .map(|interval| Interval {
                    low: whole.mean * (interval.low / quantile.value),
                    high: whole.mean * (interval.high / quantile.value),
                }),
            None => {
                let spread = asked.is_percentile() || asked.metric.is_mean();
                let left_out = Some(&runs).filter(|runs| spread && runs.len() > 1);
                left_out
                    .and_then(|runs| jackknife::interval(&leave_one_out(asked, runs)?, whole.mean))
            }
        };
        let few = match quantile {
            Some(quantile) => quantile.few().then_some(Few::Beyond),
            None => asked.few_transfers(&runs),
        };
        let estimate = Estimate {
            interval,
            deterministic: false,
            equal: equal && interval.is_none(),
            few: few.filter(|_| interval.is_some()),
            ..whole
        };
        Some(estimate.at_least(asked.metric.resolution() * estimate.mean.abs()))
    }

    /// The interval of a metric at a point, as a figure draws it.
    pub(crate) fn band(
        &self,
        point: &PointInfo,
        asked: &Asked,
        estimate: &Estimate,
    ) -> Option<Band> {
        let run = self.results.of_point(point.point).next();
        Band::of(estimate, asked.bounds(run))
    }

    /// The mean of the values that the replications of a point have, with its interval; without one where nothing is random.
    pub(crate) fn of_values(&self, point: &PointInfo, values: &[f64]) -> Option<Estimate> {
        let estimate = Estimate::within(values, (0.0, f64::INFINITY))?;
        Some(match self.is_exact(point) {
            true => Estimate::exact(estimate.mean, estimate.n),
            false => estimate,
        })
    }

    /// Whether nothing is random at a point.
    pub(crate) fn is_exact(&self, point: &PointInfo) -> bool {
        self.exact.contains(&point.point)
    }

    /// What stands for each replication in a comparison: the value, or the part that the replication has in what all have together.
    fn sample(&self, point: &PointInfo, asked: &Asked) -> Vec<Option<f64>> {
        if !asked.is_percentile() {
            return self.values(point, asked);
        }
        let runs: Vec<&RunOutcome> = self.results.of_point(point.point).collect();
        let has: Vec<bool> = runs.iter().map(|run| asked.value(run).is_some()).collect();
        let with = runs.iter().zip(&has).filter(|(_, has)| **has);
        let with: Vec<&RunOutcome> = with.map(|(run, _)| *run).collect();
        let Some(left_out) = leave_one_out(asked, &with) else {
            return Vec::new();
        };
        let mut parts = jackknife::parts(&left_out).into_iter().map(Some);
        if with.len() > jackknife::GROUPS {
            // The groups of two points are of the same replications.
            return parts.collect();
        }
        let each = has.iter().map(|has| has.then(|| parts.next()).flatten());
        each.map(Option::flatten).collect()
    }

    /// What two points differ by in a metric.
    pub(crate) fn difference(
        &self,
        a: &PointInfo,
        b: &PointInfo,
        asked: &Asked,
    ) -> Option<Compared> {
        let (a, b) = (self.level(a, asked)?, self.level(b, asked)?);
        difference_of(asked, &a, &b, true)
    }

    /// What comparisons need of a metric at a point. It takes all histograms of the point, so that who compares a point more than once keeps it.
    pub(crate) fn level(&self, point: &PointInfo, asked: &Asked) -> Option<Level> {
        let estimate = self.estimate(point, asked)?;
        let runs: Vec<&RunOutcome> = self.results.of_point(point.point).collect();
        let quantile = asked.quantile(&runs);
        let reach = quantile.map(|quantile| {
            let interval = estimate.interval.filter(|_| quantile.lattice);
            interval.map_or((0.0, 0.0), |own| {
                (estimate.mean - own.low, own.high - estimate.mean)
            })
        });
        Some(Level {
            estimate,
            exact: self.is_exact(point),
            sample: self.sample(point, asked),
            reach,
        })
    }

    /// A cell with an estimate, in the unit that is shown.
    pub(crate) fn cell(&self, estimate: Option<Estimate>, asked: &Asked) -> Cell {
        shown(estimate, asked.unit())
    }
}

/// A metric at a point, for comparisons.
pub(crate) struct Level {
    estimate: Estimate,
    /// Nothing is random.
    exact: bool,
    /// What stands for each replication.
    sample: Vec<Option<f64>>,
    /// How far the interval of a percentile reaches down and up where its values lie on a lattice, on which what one replication has in
    /// all says too little; zero where they do not. `None` of other metrics.
    reach: Option<(f64, f64)>,
}

/// What two levels differ by in a metric. Replications of the same number are `pairs` where they have the same random streams.
pub(crate) fn difference_of(asked: &Asked, a: &Level, b: &Level, pairs: bool) -> Option<Compared> {
    let (first, second) = (&a.estimate, &b.estimate);
    if a.exact && b.exact {
        let n = first.n.min(second.n);
        return Some(Compared {
            estimate: Estimate::exact(first.mean - second.mean, n),
            difference: None,
        });
    }
    let (shown_a, shown_b) = (first.mean, second.mean);
    let difference = match pairs {
        true => difference(&a.sample, &b.sample),
        false => difference_apart(&a.sample, &b.sample),
    }?;
    let resolution = asked.metric.resolution() * (shown_a.abs() + shown_b.abs());
    // Of percentiles, the mean of the parts is within their steps: the interval is moved to what is shown.
    let by = match asked.is_percentile() {
        true => shown_a - shown_b - difference.mean,
        false => 0.0,
    };
    let wide = a.reach.zip(b.reach);
    let n = difference.counts.0.min(difference.counts.1);
    let estimate = Estimate {
        mean: difference.mean + by,
        interval: difference
            .interval
            .map(|interval| Interval {
                low: interval.low + by,
                high: interval.high + by,
            })
            .map(|interval| match wide {
                // What the ends of both intervals leave open (G. Y. Zou and A. Donner, "Construction of Confidence Limits about Effect
                // Measures", Statistics in Medicine 27(10), 2008).
                Some((of_a, of_b)) => interval.reaching(
                    shown_a - shown_b - (of_a.0 * of_a.0 + of_b.1 * of_b.1).sqrt(),
                    shown_a - shown_b + (of_a.1 * of_a.1 + of_b.0 * of_b.0).sqrt(),
                ),
                None => interval,
            }),
        n,
        deterministic: false,
        equal: n > 1 && difference.interval.is_none(),
        few: None,
    };
    let alike = estimate.equal && estimate.mean != 0.0;
    Some(Compared {
        estimate: estimate.at_least(resolution),
        difference: Some(match alike {
            true => difference.of_signs(),
            false => difference,
        }),
    })
}

/// The interval and the remark of a mean of rare events, such as drops; `None` where the metric is of none, where there are none, or
/// where they are many.
fn counted(
    asked: &Asked,
    runs: &[&RunOutcome],
    values: &[Option<f64>],
    (_, greatest): (f64, f64),
) -> Option<Counted> {
    let events = runs.iter().map(|run| asked.events(run));
    let pairs = events
        .zip(values)
        .filter_map(|(events, value)| Some((events?, (*value)?)));
    let pairs: Vec<(f64, f64)> = pairs.collect();
    let events: Vec<u64> = pairs.iter().map(|(events, _)| whole(*events)).collect();
    let all: u64 = events.iter().sum();
    if all > RARE.saturating_mul(u64::try_from(events.len()).unwrap_or(u64::MAX)) {
        return None;
    }
    // Where nothing happened, the trials are not known from the value: they are as many as where something did.
    let known = pairs.iter().filter(|(_, value)| *value > 0.0);
    let known: Vec<f64> = known.map(|(events, value)| events / value).collect();
    let usual = mean(&known)?;
    let of = |(events, value): &(f64, f64)| if *value > 0.0 { events / value } else { usual };
    let trials: Vec<f64> = pairs.iter().map(of).collect();
    Some(Counted {
        interval: interval::count(&events, &trials, greatest),
        few: interval::few(&events).then_some(Few::Events),
    })
}

/// Events per replication, on average, from which their number is a value like any other. A controller that drops at regular times
/// has less spread than independent events, which the interval of rare ones assumes.
const RARE: u64 = 10;

struct Counted {
    interval: Option<Interval>,
    few: Option<Few>,
}

/// A percentile of all replications, and with each of them left out in turn; of many, with each of [`jackknife::GROUPS`] groups.
fn leave_one_out(asked: &Asked, runs: &[&RunOutcome]) -> Option<LeftOut> {
    let all = asked.value_smooth(runs)?;
    let without = jackknife::groups(runs.len()).map(|group| {
        let rest = runs.iter().enumerate();
        let rest = rest.filter(|(index, _)| !group.contains(index));
        let rest: Vec<&RunOutcome> = rest.map(|(_, run)| *run).collect();
        asked.value_smooth(&rest)
    });
    let without: Option<Vec<f64>> = without.collect();
    without.map(|without| LeftOut { all, without })
}

/// A difference with what was tested.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Compared {
    pub(crate) estimate: Estimate,
    /// `None` where nothing is random.
    pub(crate) difference: Option<Difference>,
}

/// An interval as a figure draws it: no farther than the values that the quantity can have.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Band {
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// The interval reaches farther down.
    under: bool,
    /// The interval reaches farther up.
    over: bool,
}

impl Band {
    /// The band of an estimate between the least and the greatest value that there can be; `None` without an interval.
    pub(crate) fn of(estimate: &Estimate, (least, greatest): (f64, f64)) -> Option<Band> {
        let Interval { low, high } = estimate.interval?;
        let drawn = (low.max(least), high.min(greatest));
        // A band has its mean in it, whatever the range says.
        let (low_drawn, high_drawn) = (drawn.0.min(estimate.mean), drawn.1.max(estimate.mean));
        Some(Band {
            low: low_drawn,
            high: high_drawn,
            under: low_drawn > low,
            over: high_drawn < high,
        })
    }

    /// Whether the interval reaches farther.
    pub(crate) fn is_cut(&self) -> bool {
        self.under || self.over
    }

    /// What a row of a figure says of the ends that are cut.
    pub(crate) fn cut(&self) -> Option<&'static str> {
        match (self.under, self.over) {
            (true, true) => Some("both"),
            (true, false) => Some("low"),
            (false, true) => Some("high"),
            (false, false) => None,
        }
    }
}

/// A cell with an estimate, in the unit that is shown.
pub(crate) fn shown(estimate: Option<Estimate>, unit: Unit) -> Cell {
    estimate.map_or(Cell::Empty, |estimate| {
        Cell::Estimate(Shown {
            value: unit.show(estimate.mean),
            half_width: estimate.half_width().map(|half| unit.show(half)),
            low: estimate.interval.map(|interval| unit.show(interval.low)),
            high: estimate.interval.map(|interval| unit.show(interval.high)),
            note: estimate.few.map(|few| few.text().to_owned()),
            n: Some(estimate.n),
            deterministic: estimate.deterministic.then_some(true),
            equal: estimate.equal.then_some(true),
            ..Shown::default()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sojourn_results::metrics::{Subject, metrics};
    use sojourn_units::Span;

    proptest! {
        #[test]
        fn a_band_of_any_metric_lies_in_its_range_and_keeps_the_mean(
            number in 0..metrics().len(),
            shares in proptest::collection::vec(0.0f64..1.0, 2..6),
        ) {
            let nobody = Subject::Flows(Vec::new(), Span::ZERO, Span::ZERO);
            let (least, greatest) = metrics()[number].range.bounds(&nobody);
            // Values all over the range.
            let value = |share: &f64| match (least.is_finite(), greatest.is_finite()) {
                (true, true) => least + share * (greatest - least),
                (true, false) => least + share / (1.0 - share),
                (false, _) => greatest - share / (1.0 - share),
            };
            let values: Vec<f64> = shares.iter().map(value).collect();
            let estimate = Estimate::of(&values).unwrap();
            let Some(band) = Band::of(&estimate, (least, greatest)) else {
                prop_assert!(estimate.interval.is_none());
                return Ok(());
            };
            let interval = estimate.interval.unwrap();
            let whole = (interval.low, interval.high);
            prop_assert!(band.low >= least && band.high <= greatest);
            prop_assert!(band.low <= estimate.mean && estimate.mean <= band.high);
            prop_assert_eq!(band.low == whole.0 || band.low == least, true);
            prop_assert_eq!(band.high == whole.1 || band.high == greatest, true);
            prop_assert_eq!(band.is_cut(), (band.low, band.high) != whole);
        }
    }
}
