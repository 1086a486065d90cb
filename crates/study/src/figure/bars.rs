//! Bars from zero, with intervals.

use sojourn_report::{Axis, Figure, Kind, Scale};
use sojourn_results::asked::Asked;
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
    over_factor::check(request)?;
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
    Ok(())
}

fn draw(wanted: &Wanted<'_>, spec: &FigureSpec) -> Result<Option<Figure>> {
    Ok(match spec.y.as_deref() {
        Some(GOODPUT_BY_LABEL) => goodput_by_label(wanted, spec),
        _ => over_factor::with_intervals(wanted, spec, Kind::Bars),
    })
}

/// Goodput of each group of flows, with a bar per point.
fn goodput_by_label(wanted: &Wanted<'_>, spec: &FigureSpec) -> Option<Figure> {
    let labels = wanted.forward_labels();
    let asked: Vec<(String, Asked)> = labels
        .iter()
        .filter_map(|label| {
            let asked = wanted.parse(&format!("goodput_bps_sum of {label}"), None)?;
            Some(((*label).clone(), asked))
        })
        .collect();
    let unit = asked.first()?.1.unit();
    let x = Axis {
        order: asked.iter().map(|(label, _)| label.clone()).collect(),
        ..axis("x", "Flows", "", Scale::Category)
    };
    let y = axis("y", "Goodput", unit.shown(), Scale::Linear);
    let mut figure = frame(wanted, spec, Kind::Bars, x, y);
    let mut cut = 0;
    for point in points(wanted, spec) {
        for (label, asked) in &asked {
            let Some(estimate) = wanted.estimate(point, asked) else {
                continue;
            };
            let mut row = row_of(wanted, spec, point);
            row.insert("x".to_owned(), label.as_str().into());
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
