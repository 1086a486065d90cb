//! How far intervals are drawn. The vertical axis follows the values: an interval that reaches far beyond them, or beyond what is
//! possible, is cut, and an arrow marks the cut end. The row keeps its true ends for the pointer and for the data.

use serde_json::{Map, Value, json};

use super::rows::{Row, drawable, number, span};
use crate::summary::{Figure, Scale};

/// The ends of an interval as it is drawn.
pub(super) const LOW: &str = "_low";
pub(super) const HIGH: &str = "_high";
/// Where the arrow of an end stands that is cut.
pub(super) const UNDER: &str = "_under";
pub(super) const OVER: &str = "_over";

/// The margin around the values, as shares of their span.
const MARGIN: (f64, f64) = (0.25, 1.0);
/// Values that are closer together than this share of the greatest have the margin of values this far apart.
const CLOSE: f64 = 0.1;

/// The part of the vertical axis on which intervals are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Extent {
    least: f64,
    greatest: f64,
}

/// An interval as it is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Drawn {
    low: f64,
    high: f64,
    under: bool,
    over: bool,
}

impl Extent {
    /// That of a figure whose intervals may be cut, and whose axis starts at zero or not; `None` without intervals.
    pub(super) fn of(figure: &Figure, from_zero: bool) -> Option<Self> {
        figure.y_low.as_ref()?;
        let is_log = figure.y.scale == Scale::Log;
        let to = |value: f64| if is_log { libm::log(value) } else { value };
        let (mut low, mut high) = span(figure, &[&figure.y.field], false)?;
        for line in &figure.reference {
            if !is_log || line.y > 0.0 {
                (low, high) = (low.min(line.y), high.max(line.y));
            }
        }
        if !is_log && from_zero {
            low = low.min(0.0);
        }
        let (low, high) = (to(low), to(high));
        // On a logarithmic axis a factor, elsewhere a share of the values.
        let least = if is_log { 1.0 } else { CLOSE * high.abs() };
        let apart = (high - low).max(least);
        if apart <= 0.0 {
            return None;
        }
        let rows = figure
            .rows
            .iter()
            .filter(|row| drawable(figure, row, false));
        let halves = rows.filter_map(|row| {
            let (y, (_, top)) = (number(row, &figure.y.field)?, ends(figure, row)?);
            Some(to(top) - to(y))
        });
        let mut halves: Vec<f64> = halves.filter(|half| half.is_finite()).collect();
        halves.sort_by(f64::total_cmp);
        let usual = halves.get(halves.len() / 2).copied().unwrap_or(0.0);
        let margin = usual.clamp(MARGIN.0 * apart, MARGIN.1 * apart);
        let from = |value: f64| if is_log { libm::exp(value) } else { value };
        Some(Self {
            least: from(low - margin),
            greatest: from(high + margin),
        })
    }

    /// The interval of a row as it is drawn; `None` without one.
    pub(super) fn drawn(self, figure: &Figure, row: &Row) -> Option<Drawn> {
        let (low, high) = ends(figure, row)?;
        let cut = row.get("cut").and_then(Value::as_str).unwrap_or_default();
        Some(Drawn {
            low: low.max(self.least),
            high: high.min(self.greatest),
            under: low < self.least || matches!(cut, "low" | "both"),
            over: high > self.greatest || matches!(cut, "high" | "both"),
        })
    }

    /// How many intervals reach beyond the axis.
    pub(super) fn beyond(self, figure: &Figure) -> usize {
        let rows = figure
            .rows
            .iter()
            .filter(|row| drawable(figure, row, false));
        let ends = rows.filter_map(|row| ends(figure, row));
        ends.filter(|(low, high)| *low < self.least || *high > self.greatest)
            .count()
    }
}

impl Drawn {
    pub(super) fn is_cut(self) -> bool {
        self.under || self.over
    }

    /// Adds what is drawn to a row.
    pub(super) fn put(self, out: &mut Map<String, Value>) {
        out.insert(LOW.into(), json!(self.low));
        out.insert(HIGH.into(), json!(self.high));
        if self.under {
            out.insert(UNDER.into(), json!(self.low));
        }
        if self.over {
            out.insert(OVER.into(), json!(self.high));
        }
    }
}

/// The true ends of the interval of a row.
fn ends(figure: &Figure, row: &Row) -> Option<(f64, f64)> {
    let low = number(row, figure.y_low.as_ref()?)?;
    Some((low, number(row, figure.y_high.as_ref()?)?))
}

#[cfg(test)]
mod tests {
    use super::super::{intervals_beyond, vega_lite};
    use super::*;
    use crate::palette::Theme;

    const KINDS: [&str; 6] = ["bars", "points", "lines", "cdf", "time", "scatter"];

    fn figure(kind: &str, scale: &str, rows: &Value) -> Figure {
        serde_json::from_value(json!({
            "id": "f", "title": "F", "kind": kind,
            "x": {"field": "x", "title": "X"}, "y": {"field": "y", "title": "Y", "scale": scale},
            "y_low": "low", "y_high": "high", "rows": rows
        }))
        .unwrap()
    }

    fn rows(spec: &Value) -> Vec<Value> {
        spec["data"]["values"].as_array().unwrap().clone()
    }

    #[test]
    fn a_wild_interval_does_not_set_the_scale_of_any_kind() {
        let values = json!([
            {"x": 1, "y": 40.0, "low": 38.0, "high": 42.0},
            {"x": 2, "y": 60.0, "low": 55.0, "high": 65.0},
            {"x": 3, "y": 50.0, "low": -950.0, "high": 1050.0}
        ]);
        for kind in KINDS {
            let figure = figure(kind, "linear", &values);
            let rows = rows(&vega_lite(&figure, Theme::Light));
            for row in &rows {
                let (low, high) = (row[LOW].as_f64().unwrap(), row[HIGH].as_f64().unwrap());
                assert!(low >= -60.0 && high <= 120.0, "{kind}: {row}");
            }
            assert_eq!(intervals_beyond(&figure), 1, "{kind}");
            // The true ends are there for the pointer, and an arrow for each cut end.
            assert_eq!(rows[2]["low"], -950.0, "{kind}");
            assert_eq!(rows[2][OVER], rows[2][HIGH], "{kind}");
            assert_eq!(rows[2][UNDER], rows[2][LOW], "{kind}");
            assert_eq!(rows[0].get(OVER), None, "{kind}");
        }
    }

    #[test]
    fn what_is_cut_at_a_possible_value_has_an_arrow_and_what_is_not_cut_has_none() {
        let values = json!([
            {"x": 1, "y": 40.0, "low": 0.0, "high": 42.0, "cut": "low"},
            {"x": 2, "y": 60.0, "low": 55.0, "high": 65.0}
        ]);
        for kind in KINDS {
            let spec = vega_lite(&figure(kind, "linear", &values), Theme::Light);
            let row = &rows(&spec)[0];
            assert_eq!((row[UNDER].is_f64(), row.get(OVER)), (true, None), "{kind}");
            assert_eq!(row[UNDER], row[LOW], "{kind}");
            assert!(spec.to_string().contains("triangle-down"), "{kind}");
            let whole = json!([values[1]]);
            let spec = vega_lite(&figure(kind, "linear", &whole), Theme::Light);
            assert!(!spec.to_string().contains(LOW), "{kind}: {spec}");
        }
    }

    #[test]
    fn an_interval_that_reaches_zero_is_cut_on_a_logarithmic_axis() {
        let values = json!([
            {"x": 1, "y": 2.0, "low": -0.5, "high": 4.5},
            {"x": 2, "y": 20.0, "low": 10.0, "high": 30.0}
        ]);
        let figure = figure("points", "log", &values);
        let row = rows(&vega_lite(&figure, Theme::Light))[0].clone();
        assert!(row[LOW].as_f64().unwrap() > 0.0, "{row}");
        assert_eq!(row[UNDER], row[LOW]);
        assert_eq!(row.get(OVER), None);
    }

    #[test]
    fn values_that_are_all_the_same_keep_a_scale() {
        let values = json!([{"x": 1, "y": 0.0, "low": -3.0, "high": 3.0}]);
        let spec = vega_lite(&figure("points", "linear", &values), Theme::Light);
        assert_eq!(rows(&spec)[0]["high"], 3.0);
    }
}
