//! Floating bars from `y_low` to `y_high` with a tick at `y`.

use serde_json::{Value, json};

use super::plan::{Form, Plan, Symbol};

pub(super) const FORM: Form = Form {
    layers,
    symbol: Symbol::Square,
    side_by_side: true,
    from_zero: true,
    spans: true,
    ..Form::MARKS
};

fn layers(plan: &Plan<'_>) -> Vec<Value> {
    let (Some(low), Some(high)) = (&plan.figure.y_low, &plan.figure.y_high) else {
        return Vec::new();
    };
    // A bar without height is a line as wide as the bar below it, whatever the width of the page.
    vec![
        json!({
            "mark": { "type": "bar", "strokeWidth": 1.5 },
            "encoding": plan.encoding([
                ("y", plan.y(low)),
                ("y2", json!({ "field": high })),
                ("color", plan.colour()),
                ("stroke", plan.colour()),
                ("fillOpacity", plan.fill_opacity(0.35)),
                ("strokeWidth", plan.outline()),
                ("opacity", plan.opacity()),
                ("tooltip", plan.tooltip()),
            ])
        }),
        json!({
            "transform": [{ "filter": format!("isValid(datum.{})", plan.figure.y.field) }],
            "mark": { "type": "bar", "strokeWidth": 3, "fillOpacity": 0 },
            "encoding": plan.encoding([
                ("y", plan.y(&plan.figure.y.field)),
                ("y2", json!({ "field": plan.figure.y.field })),
                ("stroke", plan.colour()),
                ("opacity", plan.opacity()),
                ("tooltip", plan.tooltip()),
            ])
        }),
    ]
}
