//! What is to be shown of an experiment, and the numbers of it.

use std::collections::BTreeSet;

use serde::Serialize;
use sojourn_report::{Cell, Estimate as Shown};
use sojourn_results::asked::{Asked, JoinedNames, Names};
use sojourn_results::directory::ResultSet;
use sojourn_results::manifest::{ExperimentInfo, PointInfo};
use sojourn_results::metrics::Unit;
use sojourn_results::stats::{Estimate, mean, paired_difference};

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
    /// Replications that have a value.
    pub n: u64,
    /// Nothing is random in it: one run, or replications that are all the same.
    pub deterministic: bool,
    /// The link directions that a metric of queues is of; empty for other metrics.
    pub links: Vec<String>,
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
            half_width: estimate.half_width,
            n: estimate.n,
            deterministic: estimate.deterministic,
            links: Vec::new(),
        }
    }

    /// The same, of link directions.
    pub(crate) fn at(self, links: Vec<String>) -> Record {
        Record { links, ..self }
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

    /// The mean of a metric over the replications of a point, with its interval.
    pub(crate) fn estimate(&self, point: &PointInfo, asked: &Asked) -> Option<Estimate> {
        if asked.pooled {
            let runs: Vec<_> = self.results.of_point(point.point).collect();
            let n = u64::try_from(runs.len()).unwrap_or(u64::MAX);
            return Some(Estimate {
                deterministic: self.is_exact(point),
                ..Estimate::exact(asked.value_pooled(&runs)?, n)
            });
        }
        let values: Vec<f64> = self.values(point, asked).into_iter().flatten().collect();
        let estimate = self.of_values(point, &values)?;
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
        let estimate = Estimate::of(values)?;
        Some(match self.is_exact(point) {
            true => Estimate::exact(estimate.mean, estimate.n),
            false => estimate,
        })
    }

    /// Whether nothing is random at a point.
    pub(crate) fn is_exact(&self, point: &PointInfo) -> bool {
        self.exact.contains(&point.point)
    }

    /// The mean difference of a metric between two points, replication by replication.
    pub(crate) fn difference(
        &self,
        a: &PointInfo,
        b: &PointInfo,
        asked: &Asked,
    ) -> Option<Estimate> {
        let (first, second) = (self.values(a, asked), self.values(b, asked));
        let difference = paired_difference(&first, &second)?;
        match self.is_exact(a) && self.is_exact(b) {
            true => Some(Estimate::exact(difference.mean, difference.n)),
            false => {
                let sizes = [&first, &second].map(|values| {
                    let values: Vec<f64> = values.iter().copied().flatten().collect();
                    mean(&values).unwrap_or(0.0).abs()
                });
                let resolution = asked.metric.resolution() * (sizes[0] + sizes[1]);
                Some(difference.at_least(resolution))
            }
        }
    }

    /// A cell with an estimate, in the unit that is shown.
    pub(crate) fn cell(&self, estimate: Option<Estimate>, asked: &Asked) -> Cell {
        shown(estimate, asked.unit())
    }
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
        let half = estimate.half_width?;
        let (low, high) = (estimate.mean - half, estimate.mean + half);
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
            half_width: estimate.half_width.map(|half| unit.show(half)),
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
                prop_assert!(estimate.half_width.is_none());
                return Ok(());
            };
            let half = estimate.half_width.unwrap();
            let whole = (estimate.mean - half, estimate.mean + half);
            prop_assert!(band.low >= least && band.high <= greatest);
            prop_assert!(band.low <= estimate.mean && estimate.mean <= band.high);
            prop_assert_eq!(band.low == whole.0 || band.low == least, true);
            prop_assert_eq!(band.high == whole.1 || band.high == greatest, true);
            prop_assert_eq!(band.is_cut(), (band.low, band.high) != whole);
        }
    }
}
