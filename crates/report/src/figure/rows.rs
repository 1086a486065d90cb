//! What stands in the rows of a figure, and which of them its axes have a place for.

use serde_json::Value;

use crate::palette::is_published;
use crate::summary::{Figure, Scale, label_of};

pub(super) const PUBLISHED: &str = "published";
pub(super) const REPRODUCED: &str = "reproduced";

/// A row in the form that the summary gives it.
pub(super) type Row = std::collections::BTreeMap<String, Value>;

pub(super) fn flagged(row: &Row) -> bool {
    row.get("published").and_then(Value::as_bool) == Some(true)
}

pub(super) fn source_of(figure: &Figure, row: &Row) -> &'static str {
    let by_name = || {
        let series = figure.series.as_ref()?;
        label_of(row.get(&series.field)?)
    };
    if flagged(row) || by_name().is_some_and(|label| is_published(&label)) {
        PUBLISHED
    } else {
        REPRODUCED
    }
}

/// Whether a row has a place on its axes; marks that span a range need both ends.
pub(super) fn drawable(figure: &Figure, row: &Row, spans: bool) -> bool {
    positive_if_log(figure.x.scale, &[&figure.x.field], row)
        && positive_if_log(figure.y.scale, &mark_fields(figure, spans), row)
}

/// The fields on the vertical axis without which a row cannot be drawn.
pub(super) fn mark_fields(figure: &Figure, spans: bool) -> Vec<&str> {
    match spans {
        true => y_fields(figure),
        false => vec![&figure.y.field],
    }
}

/// The number in a field of a row.
pub(super) fn number(row: &Row, field: &str) -> Option<f64> {
    row.get(field)?.as_f64()
}

fn positive_if_log(scale: Scale, fields: &[&str], row: &Row) -> bool {
    let mut values = fields
        .iter()
        .filter_map(|field| row.get(*field).and_then(Value::as_f64));
    scale != Scale::Log || values.all(|value| value > 0.0)
}

/// The fields that lie on the vertical axis.
pub(super) fn y_fields(figure: &Figure) -> Vec<&str> {
    [
        Some(&figure.y.field),
        figure.y_low.as_ref(),
        figure.y_high.as_ref(),
    ]
    .into_iter()
    .flatten()
    .map(String::as_str)
    .collect()
}

/// The least and the greatest drawn value of some fields.
pub(super) fn span(figure: &Figure, fields: &[&str], spans: bool) -> Option<(f64, f64)> {
    let values = figure
        .rows
        .iter()
        .filter(|row| drawable(figure, row, spans))
        .flat_map(|row| {
            fields
                .iter()
                .filter_map(|field| row.get(*field).and_then(Value::as_f64))
        });
    values.fold(None, |span, value| match span {
        None => Some((value, value)),
        Some((low, high)) => Some((value.min(low), value.max(high))),
    })
}

/// Whether every value is a whole number.
pub(super) fn is_whole(figure: &Figure) -> bool {
    let rows = figure.rows.iter();
    let values = rows.filter_map(|row| row.get(&figure.y.field)?.as_f64());
    values.map(f64::fract).all(|fraction| fraction == 0.0)
}
