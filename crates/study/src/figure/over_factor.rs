//! A metric over the levels of a factor.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sojourn_report::{Axis, Figure, Kind, Scale};
use sojourn_results::asked::Asked;
use sojourn_results::manifest::{FactorInfo, PointInfo};
use sojourn_results::metrics::Unit;
use sojourn_results::specs::{AxisScale, FigureSpec};
use sojourn_scenario::error::Result;

use super::frame::{
    Row, axis, count_cut, factor, flag_cut, frame, number, numbers, points, remark_cut, row_of,
};
use super::request::Request;
use crate::summary::wanted::{Band, Wanted};

/// A metric, that of the sojourn time where the study does not say.
pub(super) fn check(request: &mut Request<'_>) -> Result<()> {
    let usual = || "sojourn_s_mean".to_owned();
    request.spec.y.get_or_insert_with(usual);
    request.metric("y", &request.spec.y)?;
    request.over_factor()
}

/// The metrics of a figure.
struct Metrics {
    y: Option<Asked>,
    low: Option<Asked>,
    high: Option<Asked>,
}

impl Metrics {
    fn of(wanted: &Wanted<'_>, spec: &FigureSpec) -> Metrics {
        let parse = |text: &Option<String>| wanted.parse(text.as_deref()?, spec.of.as_deref());
        Metrics {
            y: parse(&spec.y),
            low: parse(&spec.y_low),
            high: parse(&spec.y_high),
        }
    }

    fn shown(&self) -> Option<&Asked> {
        self.y.as_ref().or(self.high.as_ref())
    }
}

/// The metric on the y axis as a figure of a kind, with intervals.
pub(super) fn with_intervals(wanted: &Wanted<'_>, spec: &FigureSpec, kind: Kind) -> Option<Figure> {
    let metrics = Metrics::of(wanted, spec);
    let shown = metrics.shown()?;
    let mut figure = empty(wanted, spec, kind, &shown.title(), shown.unit());
    let mut cut = 0;
    for point in points(wanted, spec) {
        let Some(estimate) = metrics.y.as_ref().and_then(|y| wanted.estimate(point, y)) else {
            continue;
        };
        let band = wanted.band(point, shown, &estimate);
        cut += count_cut(&figure, band);
        let mut row = row(
            (wanted, spec, point),
            Some(estimate.mean),
            ends(band),
            shown.unit(),
        );
        flag_cut(&mut row, band);
        figure.rows.push(row);
    }
    remark_cut(&mut figure, cut, "interval");
    Some(finished(figure, wanted, spec, &metrics))
}

/// From the metric at one end to that at the other, with a mark at a third.
pub(super) fn from_end_to_end(wanted: &Wanted<'_>, spec: &FigureSpec) -> Option<Figure> {
    let metrics = Metrics::of(wanted, spec);
    let unit = metrics.shown()?.unit();
    let mut figure = empty(wanted, spec, Kind::Range, &spec.title, unit);
    for point in points(wanted, spec) {
        let of = |asked: &Option<Asked>| Some(wanted.estimate(point, asked.as_ref()?)?.mean);
        let ends = (of(&metrics.low), of(&metrics.high));
        if ends.0.is_some() && ends.1.is_some() {
            let row = row((wanted, spec, point), of(&metrics.y), ends, unit);
            figure.rows.push(row);
        }
    }
    Some(finished(figure, wanted, spec, &metrics))
}

/// From the 5th to the 95th percentile, with a box between the quartiles and a mark at the median.
pub(super) fn in_boxes(wanted: &Wanted<'_>, spec: &FigureSpec) -> Option<Figure> {
    let quantity = spec.y.as_deref()?;
    let asked = |share: &str| wanted.parse(&format!("{quantity}_{share}"), spec.of.as_deref());
    let all = [
        asked("p05")?,
        asked("p25")?,
        asked("p50")?,
        asked("p75")?,
        asked("p95")?,
    ];
    let unit = all[2].unit();
    let title = all[2].title().replace(", median", "");
    let mut figure = empty(wanted, spec, Kind::Boxes, &title, unit);
    for point in points(wanted, spec) {
        let of = |asked: &Asked| Some(wanted.estimate(point, asked)?.mean);
        let shares: Option<Vec<f64>> = all.iter().map(of).collect();
        let Some([low, q1, y, q3, high]) = shares.as_deref() else {
            continue;
        };
        let ends = (Some(*low), Some(*high));
        let mut row = row((wanted, spec, point), Some(*y), ends, unit);
        row.insert("q1".to_owned(), number(Some(*q1), unit));
        row.insert("q3".to_owned(), number(Some(*q3), unit));
        figure.rows.push(row);
    }
    Some(figure)
}

fn empty(wanted: &Wanted<'_>, spec: &FigureSpec, kind: Kind, title: &str, unit: Unit) -> Figure {
    let x = match factor(wanted, spec.x.as_ref()) {
        Some(factor) => x_axis(factor, spec.x_scale),
        None => axis("x", "", "", Scale::Category),
    };
    let y = axis("y", title, unit.shown(), numbers(spec.y_scale));
    let mut figure = frame(wanted, spec, kind, x, y);
    figure.y_low = Some("low".to_owned());
    figure.y_high = Some("high".to_owned());
    figure
}

fn x_axis(factor: &FactorInfo, scale: AxisScale) -> Axis {
    let unit = factor.unit.as_deref().unwrap_or_default();
    match scale {
        AxisScale::Category => Axis {
            order: factor.labels.clone(),
            ..axis("x", &factor.title, unit, Scale::Category)
        },
        scale => axis("x", &factor.title, unit, numbers(scale)),
    }
}

fn ends(band: Option<Band>) -> (Option<f64>, Option<f64>) {
    (band.map(|band| band.low), band.map(|band| band.high))
}

/// Where a point stands on the x axis.
fn place(wanted: &Wanted<'_>, spec: &FigureSpec, levels: &BTreeMap<String, String>) -> Value {
    let text = factor(wanted, spec.x.as_ref())
        .and_then(|factor| levels.get(&factor.name))
        .cloned()
        .unwrap_or_default();
    match (spec.x_scale, text.parse::<f64>()) {
        (AxisScale::Category, _) | (_, Err(_)) => text.into(),
        (_, Ok(number)) => json!(number),
    }
}

fn row(
    (wanted, spec, point): (&Wanted<'_>, &FigureSpec, &PointInfo),
    y: Option<f64>,
    (low, high): (Option<f64>, Option<f64>),
    unit: Unit,
) -> Row {
    let mut row = row_of(wanted, spec, point);
    row.insert("x".to_owned(), place(wanted, spec, &point.levels));
    row.insert("y".to_owned(), number(y, unit));
    row.insert("low".to_owned(), number(low, unit));
    row.insert("high".to_owned(), number(high, unit));
    row
}

/// The figure with its published values, and without fields that no row has a value in.
fn finished(
    mut figure: Figure,
    wanted: &Wanted<'_>,
    spec: &FigureSpec,
    metrics: &Metrics,
) -> Figure {
    if spec.published {
        figure.rows.extend(published(wanted, spec, metrics));
    }
    let whiskers = figure
        .rows
        .iter()
        .any(|row| row.get("low").is_some_and(|v| !v.is_null()));
    if !whiskers {
        figure.y_low = None;
        figure.y_high = None;
        for row in &mut figure.rows {
            row.remove("low");
            row.remove("high");
        }
    }
    figure
}

/// Published values of the metrics of a figure, one row per set of levels.
fn published(wanted: &Wanted<'_>, spec: &FigureSpec, metrics: &Metrics) -> Vec<Row> {
    let asked = [&metrics.y, &metrics.low, &metrics.high];
    let mut rows: Vec<Row> = Vec::new();
    for point in points(wanted, spec) {
        let mut found: [Option<f64>; 3] = [None; 3];
        for (index, asked) in asked.iter().enumerate() {
            let Some(asked) = asked else { continue };
            for published in &wanted.results.manifest.published {
                let same = wanted
                    .parse(&published.metric, None)
                    .is_some_and(|other| other.text() == asked.text());
                if !same || !published.is_at(&wanted.experiment.name, &point.levels) {
                    continue;
                }
                found[index] = found[index].or(published.value);
                // A range of the metric itself: its ends, where the figure has no metrics for them.
                found[1] = found[1].or(published.low);
                found[2] = found[2].or(published.high);
            }
        }
        let [y, low, high] = found;
        let unit = asked
            .iter()
            .find_map(|asked| asked.as_ref())
            .map(|asked| asked.unit());
        let Some(unit) = unit.filter(|_| y.is_some() || (low.is_some() && high.is_some())) else {
            continue;
        };
        let mut row = row((wanted, spec, point), y, (low, high), unit);
        row.insert("published".to_owned(), true.into());
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    rows
}

/// The published value of a metric at a point.
pub(super) fn published_value(
    wanted: &Wanted<'_>,
    point: &PointInfo,
    asked: &Asked,
) -> Option<f64> {
    let mut all = wanted.results.manifest.published.iter();
    all.find_map(|published| {
        let other = wanted.parse(&published.metric, None)?;
        let fits =
            other.text() == asked.text() && published.is_at(&wanted.experiment.name, &point.levels);
        published.value.filter(|_| fits)
    })
}
