//! Long curves, thinned to what can be seen: of each column of pixels the least and the greatest value.

use std::collections::BTreeMap;

use super::rows::{Row, number};
use crate::summary::{Figure, label_of};

/// Columns of pixels of all lines of a figure together, and of one line.
const COLUMNS: usize = 2400;
const OF_ONE: (usize, usize) = (100, 560);

/// The rows of a figure that can be seen, in the order given, which is by x.
pub(super) fn visible<'a>(figure: &Figure, rows: Vec<&'a Row>) -> Vec<&'a Row> {
    let line_of = |row: &Row| {
        let series = figure.series.as_ref().map(|series| &series.field);
        let panel = figure.facet.as_ref().map(|panel| &panel.field);
        let label = |field: Option<&String>| row.get(field?).and_then(label_of);
        let level = figure.slider.as_ref().map(|slider| &slider.field);
        (
            label(series),
            label(panel),
            label(level),
            row.contains_key("published"),
        )
    };
    let mut lines: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (place, row) in rows.iter().enumerate() {
        lines.entry(line_of(row)).or_default().push(place);
    }
    let columns = (COLUMNS / lines.len().max(1)).clamp(OF_ONE.0, OF_ONE.1);
    if lines.values().all(|line| line.len() <= 2 * columns) {
        return rows;
    }
    let mut kept: Vec<usize> = Vec::new();
    for line in lines.values() {
        let size = line.len().div_ceil(columns);
        for column in line.chunks(size) {
            let y = |place: &&usize| number(rows[**place], &figure.y.field).unwrap_or(0.0);
            let by_y = |a: &&usize, b: &&usize| y(a).total_cmp(&y(b));
            kept.extend(column.iter().min_by(by_y));
            kept.extend(column.iter().max_by(by_y));
        }
        // A line ends where it ended.
        kept.extend(line.last());
    }
    kept.sort_unstable();
    kept.dedup();
    kept.into_iter().map(|place| rows[place]).collect()
}

#[cfg(test)]
mod tests {
    use super::super::vega_lite;
    use super::*;
    use crate::palette::Theme;
    use serde_json::{Value, json};

    #[test]
    fn a_long_time_figure_is_small_keeps_every_extreme_and_has_no_hidden_points() {
        let rows: Vec<Value> = (0..8_u32)
            .flat_map(|line| {
                (0..20_000_u32).map(move |at| {
                    let y = if at == 12_345 { 99 } else { at % 7 };
                    json!({"x": f64::from(at) / 100.0, "y": y, "queue": format!("q{line}")})
                })
            })
            .collect();
        let figure: Figure = serde_json::from_value(json!({
            "id": "f", "title": "F", "kind": "time", "series": {"field": "queue"},
            "x": {"field": "x", "title": "Time", "scale": "time"}, "y": {"field": "y", "title": "Y"},
            "rows": rows
        }))
        .unwrap();
        let spec = vega_lite(&figure, Theme::Light);
        assert!(
            spec.to_string().len() < 300_000,
            "{}",
            spec.to_string().len()
        );
        let drawn = spec["data"]["values"].as_array().unwrap();
        assert_eq!(drawn.iter().filter(|row| row["y"] == 99).count(), 8);
        let layers = spec["layer"].as_array().unwrap();
        assert!(layers.iter().all(|layer| layer["mark"]["type"] != "point"));
    }
}
