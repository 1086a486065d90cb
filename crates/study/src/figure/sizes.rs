//! Flow completion times or slowdowns by the size of the flow, with intervals.

use std::collections::BTreeMap;

use serde_json::Value;
use sojourn_report::{Axis, Figure, Kind, Scale, Series};
use sojourn_results::size_statistics::statistics;
use sojourn_results::specs::FigureSpec;
use sojourn_scenario::error::Result;

use super::form::Form;
use super::frame::{SERIES, axis, frame, numbers, points, remark_cut, row_of};
use super::request::Request;
use crate::summary::transfers;
use crate::summary::wanted::Wanted;

pub(super) const FORM: Form = Form {
    check,
    draw: |wanted, spec| Ok(over_sizes(wanted, spec)),
};

fn check(request: &mut Request<'_>) -> Result<()> {
    let usual = || "slowdown_p99".to_owned();
    let y = request.spec.y.get_or_insert_with(usual).clone();
    request.one_of("statistic by size", &y, statistics())?;
    request.of_one_point()?;
    request.transfers(false)
}

/// A statistic of transfers over their sizes.
fn over_sizes(wanted: &Wanted<'_>, spec: &FigureSpec) -> Option<Figure> {
    let name = spec.y.as_deref()?;
    let (title, unit) = transfers::title_of(name);
    let x = Axis {
        order: transfers::bin_names(),
        ..axis("x", "Size", "", Scale::Category)
    };
    let y = axis("y", title, unit.shown(), numbers(spec.y_scale));
    let mut figure = frame(wanted, spec, Kind::Points, x, y);
    let mut by_label = false;
    let mut cut = 0;
    for point in points(wanted, spec) {
        let rows = transfers::over_sizes(wanted, point, name, spec.of.as_deref());
        let several = rows.iter().any(|(label, ..)| *label != rows[0].0);
        for (label, values, is_cut) in rows {
            cut += usize::from(is_cut);
            let mut row = row_of(wanted, spec, point);
            if several || figure.series.is_none() {
                by_label = true;
                let own = match row.get(SERIES).and_then(Value::as_str) {
                    Some(own) => format!("{own}, {label}"),
                    None => label,
                };
                row.insert(SERIES.to_owned(), own.into());
            }
            if values.contains_key("low") {
                figure.y_low = Some("low".to_owned());
                figure.y_high = Some("high".to_owned());
            }
            row.extend(values);
            figure.rows.push(row);
        }
    }
    remark_cut(&mut figure, cut, "interval");
    if by_label {
        let title = figure
            .series
            .as_ref()
            .map_or("Flows", |series| series.title.as_str());
        figure.series = Some(Series {
            field: SERIES.to_owned(),
            title: title.to_owned(),
            order: Vec::new(),
            dashed: BTreeMap::new(),
        });
    }
    Some(figure)
}
