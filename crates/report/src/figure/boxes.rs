//! Box plots: a box from `q1` to `q3`, a tick at `y`, and lines on to `y_low` and `y_high`.

use serde_json::{Value, json};

use super::plan::{Form, Plan, Symbol};

pub(super) const FORM: Form = Form {
    layers,
    symbol: Symbol::Square,
    side_by_side: true,
    spans: true,
    quartiles: true,
    ..Form::MARKS
};

fn layers(plan: &Plan<'_>) -> Vec<Value> {
    let Some((low, high)) = plan.ends() else {
        return Vec::new();
    };
    let (q1, q3) = ("q1", "q3");
    let median = plan.figure.y.field.as_str();
    let whisker = |end: &str, edge: &str| {
        json!({
            "mark": { "type": "rule", "strokeWidth": 1.4 },
            "encoding": plan.encoding([
                ("y", plan.y(end)),
                ("y2", json!({ "field": edge })),
                ("stroke", plan.colour()),
                ("opacity", plan.opacity()),
            ])
        })
    };
    vec![
        json!({
            "mark": { "type": "bar", "strokeWidth": 1.5 },
            "encoding": plan.encoding([
                ("y", plan.y(q1)),
                ("y2", json!({ "field": q3 })),
                ("color", plan.colour()),
                ("stroke", plan.colour()),
                ("fillOpacity", plan.fill_opacity(0.35)),
                ("strokeWidth", plan.outline()),
                ("opacity", plan.opacity()),
                ("tooltip", plan.tooltip()),
            ])
        }),
        whisker(low, q1),
        whisker(q3, high),
        json!({
            "transform": [{ "filter": format!("isValid(datum.{median})") }],
            "mark": { "type": "bar", "strokeWidth": 3, "fillOpacity": 0 },
            "encoding": plan.encoding([
                ("y", plan.y(median)),
                ("y2", json!({ "field": median })),
                ("stroke", plan.colour()),
                ("opacity", plan.opacity()),
                ("tooltip", plan.tooltip()),
            ])
        }),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::vega_lite;
    use super::*;
    use crate::palette::Theme;
    use crate::summary::Figure;

    #[test]
    fn a_box_has_its_quartiles_its_median_and_lines_to_both_ends() {
        let figure: Figure = serde_json::from_value(json!({
            "id": "f", "title": "F", "kind": "boxes",
            "x": {"field": "x", "title": "X", "scale": "category"}, "y": {"field": "y", "title": "Y"},
            "y_low": "low", "y_high": "high",
            "rows": [{"x": "CoDel", "low": 1.0, "q1": 4.0, "y": 5.0, "q3": 7.0, "high": 20.0}]
        }))
        .unwrap();
        let spec = vega_lite(&figure, Theme::Light);
        assert_eq!(spec["data"]["values"][0]["q1"], 4.0);
        let layers = spec["layer"].as_array().unwrap().iter();
        let ends: Vec<_> = layers
            .map(|layer| {
                (
                    &layer["encoding"]["y"]["field"],
                    &layer["encoding"]["y2"]["field"],
                )
            })
            .collect();
        let expected = [("q1", "q3"), ("low", "q1"), ("q3", "high"), ("y", "y")];
        assert_eq!(ends.len(), expected.len());
        for (end, (from, to)) in ends.iter().zip(expected) {
            assert_eq!((end.0, end.1), (&json!(from), &json!(to)));
        }
    }
}
