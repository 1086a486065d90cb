//! Figures that say nothing: a page leaves them out and says why.

use super::rows::number;
use crate::kind::Kind;
use crate::number::cell;
use crate::summary::{Cell, Figure};

/// Why a figure says nothing, in words; `None` if it says something.
pub(crate) fn says_nothing(figure: &Figure) -> Option<String> {
    if !figure.outlines.is_empty() {
        return None;
    }
    let axis = match figure.kind {
        // The share of what is below a value says something where there are several values.
        Kind::Cdf => &figure.x,
        Kind::Scatter | Kind::Range => return None,
        _ => &figure.y,
    };
    let mut values = figure
        .rows
        .iter()
        .filter_map(|row| number(row, &axis.field));
    let first = values.next()?;
    let others: Vec<f64> = values.collect();
    #[allow(clippy::float_cmp, reason = "the same value, not one that is near it")]
    let differs = |value: &f64| *value != first;
    if others.iter().any(differs) {
        return None;
    }
    let unit = axis
        .unit
        .as_deref()
        .map_or_else(String::new, |unit| format!(" {unit}"));
    let shown = match first.fract() == 0.0 {
        true => format!("{first:.0}"),
        false => serde_json::Number::from_f64(first)
            .map_or_else(String::new, |value| cell(&Cell::Number(value)).joined()),
    };
    let value = format!("{shown}{unit}");
    Some(match others.is_empty() {
        true => format!("its only value is {value}"),
        false => format!("every value is {value}"),
    })
}

impl Figure {
    /// Whether it says nothing: each of its values is the same.
    pub fn is_idle(&self) -> bool {
        says_nothing(self).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn figure(kind: &str, rows: &Value) -> Figure {
        serde_json::from_value(json!({
            "id": "f", "title": "F", "kind": kind,
            "x": {"field": "x", "title": "X"}, "y": {"field": "y", "title": "Y", "unit": "%"}, "rows": rows
        }))
        .unwrap()
    }

    #[test]
    fn an_idle_or_single_valued_figure_says_why_it_says_nothing() {
        let idle = json!([{"x": 1, "y": 0}, {"x": 2, "y": 0.0}]);
        for kind in ["bars", "points", "lines", "time"] {
            let why = says_nothing(&figure(kind, &idle));
            assert_eq!(why.as_deref(), Some("every value is 0 %"), "{kind}");
            let one = json!([{"x": 1, "y": 12.5}]);
            let why = says_nothing(&figure(kind, &one));
            assert_eq!(why.as_deref(), Some("its only value is 12.5 %"), "{kind}");
            let some = json!([{"x": 1, "y": 0}, {"x": 2, "y": 1}]);
            assert_eq!(says_nothing(&figure(kind, &some)), None, "{kind}");
        }
        assert_eq!(says_nothing(&figure("cdf", &idle)), None);
    }
}
