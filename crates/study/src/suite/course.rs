//! What a criterion of a time series reads, for a figure of it.

use sojourn_results::directory::ResultSet;
use sojourn_scenario::error::Result;
use sojourn_units::Span;

use super::measure::added;
use super::places::{Quantity, Question};
use super::read::Case;
use crate::figure::quantity::{is_of, of_total, title_and_unit};
use crate::figure::thinned::extremes;
use crate::measured::Measured;

/// Series that a figure can tell apart.
const LINES: usize = 4;
/// Points of a line: a figure has no more columns.
const POINTS: usize = 300;

/// The time series of the tested algorithm in the first replication, over the whole run.
#[derive(Clone, PartialEq, Debug)]
pub struct Course {
    /// Case and criterion.
    pub criterion: String,
    /// What the series is: `Throughput`.
    pub title: String,
    /// Unit of the values.
    pub unit: String,
    /// The level that the criterion looks for.
    pub level: Option<f64>,
    /// Where the window of the criterion begins and ends, in seconds; no end where it is that of the run.
    pub window: (f64, Option<f64>),
    /// The first few series.
    pub lines: Vec<Line>,
    /// Series that there are.
    pub all: usize,
}

/// A time series.
#[derive(Clone, PartialEq, Debug)]
pub struct Line {
    /// What it is of.
    pub of: String,
    /// Times in seconds and values. Of a long series, the least and the greatest of every few samples.
    pub points: Vec<(f64, f64)>,
}

impl Course {
    /// The series of a question in the results of the tested algorithm; `None` for a metric, or where nothing was recorded.
    pub(super) fn of(
        case: &Case,
        question: &Question<'_>,
        results: &ResultSet,
    ) -> Result<Option<Course>> {
        let Quantity::Series {
            quantity,
            level,
            from,
        } = &question.quantity
        else {
            return Ok(None);
        };
        let Some(point) = results.manifest.points.first() else {
            return Ok(None);
        };
        let Some(run) = results.of_point(point.point).next() else {
            return Ok(None);
        };
        let Some(experiment) = results.manifest.experiments.first() else {
            return Ok(None);
        };
        let measured = Measured::of(results, experiment);
        let about = &question.criterion.about;
        let own = of_total(quantity).unwrap_or(quantity);
        let (title, unit) = title_and_unit(quantity);
        let recorded = results.series(point.point, run.replication)?;
        let asked = recorded.into_iter().filter(|series| {
            series.quantity == own && is_of(series, about.of.as_deref(), Some(run), &measured)
        });
        let mut lines: Vec<Line> = asked
            .map(|series| {
                let times = (0_u64..)
                    .map(|index| series.first.as_secs_f64() + (series.step * index).as_secs_f64());
                let points = times.zip(series.values.iter().copied());
                Line {
                    of: series.of.clone(),
                    points: points.filter(|(_, value)| value.is_finite()).collect(),
                }
            })
            .collect();
        if own != quantity {
            let all: Vec<Vec<(f64, f64)>> = lines.into_iter().map(|line| line.points).collect();
            lines = vec![Line {
                of: String::new(),
                points: added(&all),
            }];
        }
        lines.retain(|line| !line.points.is_empty());
        let all = lines.len();
        lines.truncate(LINES);
        for line in &mut lines {
            if line.points.len() > POINTS {
                line.points = extremes(&line.points, (2 * line.points.len()).div_ceil(POINTS));
            }
            for (_, value) in &mut line.points {
                *value = unit.show(*value);
            }
        }
        Ok((all > 0).then(|| Course {
            criterion: format!("{}/{}", case.about.name, about.name),
            title,
            unit: unit.shown().to_owned(),
            level: level.map(|level| unit.show(level)),
            window: (from.as_secs_f64(), about.to.map(Span::as_secs_f64)),
            lines,
            all,
        }))
    }
}
