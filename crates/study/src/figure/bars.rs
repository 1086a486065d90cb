//! Bars from zero, with intervals.

use sojourn_report::{Axis, Figure, Kind, Scale};
use sojourn_results::asked::Asked;
use sojourn_results::metrics::Level;
use sojourn_results::specs::{AxisScale, FigureSpec};
use sojourn_scenario::error::{LabErrorKind, Result};

use super::form::Form;
use super::frame::{axis, count_cut, flag_cut, frame, number, points, remark_cut, row_of};
use super::over_factor;
use super::request::Request;
use crate::summary::wanted::Wanted;

pub(super) const FORM: Form = Form { check, draw };

/// The y of the usual bars: the goodput of each group of flows, which are the x axis.
pub(crate) const GOODPUT_BY_LABEL: &str = "goodput by label";

fn check(request: &mut Request<'_>) -> Result<()> {
    // The report would refuse it, but only when the runs are done.
    if request.spec.y_scale == AxisScale::Log {
        return Err(request
            .table
            .error_on(
                "y_scale",
                LabErrorKind::Contradiction,
                "bars start at zero, but a logarithmic axis has no zero",
            )
            .remedy("use kind = \"points\", or a linear y axis"));
    }
    let parse = |text: &str| Asked::parse(text, request.spec.of.as_deref(), request.names);
    let y = request.spec.y.clone().unwrap_or_default();
    match parse(&y).is_err() && y.contains(SEPARATOR) {
        true => check_groups(request, &y),
        false => over_factor::check(request),
    }
}

/// Fails unless y names one metric of several, which are the groups of bars, and the factors are told apart by colours and panels.
fn check_groups(request: &Request<'_>, y: &str) -> Result<()> {
    if request.spec.x.is_some() {
        let problem = "each metric of y is a group of bars on the x axis";
        return Err(request
            .table
            .error_on("x", LabErrorKind::Contradiction, problem)
            .remedy("leave x out and give the factor as series, or name one metric as y"));
    }
    let mut first: Option<Asked> = None;
    for part in parts(y) {
        request.metric("y", &Some(part.to_owned()))?;
        let Ok(asked) = Asked::parse(part, request.spec.of.as_deref(), request.names) else {
            continue;
        };
        match &first {
            Some(first) if first.name() != asked.name() => {
                let problem = format!(
                    "bars share one y axis, but {} and {} are different metrics",
                    first.name(),
                    asked.name()
                );
                return Err(request
                    .table
                    .error_on("y", LabErrorKind::Contradiction, problem)
                    .remedy("name one metric of several flows or queues, or draw two figures"));
            }
            _ => first = Some(asked),
        }
    }
    request.of_one_point()
}

fn draw(wanted: &Wanted<'_>, spec: &FigureSpec) -> Result<Option<Figure>> {
    let of = spec.of.as_deref();
    Ok(match spec.y.as_deref() {
        Some(GOODPUT_BY_LABEL) => groups(wanted, spec, &goodput_by_label(wanted), Some("Goodput")),
        Some(y) if wanted.parse(y, of).is_none() => {
            let asked = parts(y).filter_map(|part| wanted.parse(part, of));
            let named: Vec<_> = asked
                .map(|asked| (asked.of.word().to_owned(), asked))
                .collect();
            groups(wanted, spec, &named, None)
        }
        _ => over_factor::with_intervals(wanted, spec, Kind::Bars),
    })
}

/// What separates the metrics of y.
const SEPARATOR: char = ',';

fn parts(y: &str) -> impl Iterator<Item = &str> {
    y.split(SEPARATOR).map(str::trim)
}

/// Goodput of each group of flows.
fn goodput_by_label(wanted: &Wanted<'_>) -> Vec<(String, Asked)> {
    let labels = wanted.forward_labels();
    let asked = labels.iter().filter_map(|label| {
        let asked = wanted.parse(&format!("goodput_bps_sum of {label}"), None)?;
        Some(((*label).clone(), asked))
    });
    asked.collect()
}

/// A group of bars for each metric, with a bar per point. Without a title, the y axis has that of the metric.
fn groups(
    wanted: &Wanted<'_>,
    spec: &FigureSpec,
    asked: &[(String, Asked)],
    title: Option<&str>,
) -> Option<Figure> {
    let first = &asked.first()?.1;
    let unit = first.unit();
    let of = match first.metric.level {
        Level::Queue => "Queues",
        _ => "Flows",
    };
    let x = Axis {
        order: asked.iter().map(|(label, _)| label.clone()).collect(),
        ..axis("x", of, "", Scale::Category)
    };
    let title = title.unwrap_or(&first.metric.title);
    let y = axis("y", title, unit.shown(), Scale::Linear);
    let mut figure = frame(wanted, spec, Kind::Bars, x, y);
    let mut cut = 0;
    for point in points(wanted, spec) {
        for (label, asked) in asked {
            let mut row = row_of(wanted, spec, point);
            row.insert("x".to_owned(), label.as_str().into());
            if spec.published
                && let Some(value) = over_factor::published_value(wanted, point, asked)
            {
                let mut row = row.clone();
                row.insert("y".to_owned(), number(Some(value), unit));
                row.insert("published".to_owned(), true.into());
                figure.rows.push(row);
            }
            let Some(estimate) = wanted.estimate(point, asked) else {
                continue;
            };
            row.insert("y".to_owned(), number(Some(estimate.mean), unit));
            let band = wanted.band(point, asked, &estimate);
            cut += count_cut(&figure, band);
            flag_cut(&mut row, band);
            if let Some(band) = band {
                row.insert("low".to_owned(), number(Some(band.low), unit));
                row.insert("high".to_owned(), number(Some(band.high), unit));
                figure.y_low = Some("low".to_owned());
                figure.y_high = Some("high".to_owned());
            }
            figure.rows.push(row);
        }
    }
    remark_cut(&mut figure, cut, "interval");
    Some(figure)
}
