//! Bars from zero, grouped by series, with whiskers.

use serde_json::{Value, json};

use super::plan::{Form, Plan, Symbol};

pub(super) const FORM: Form = Form {
    layers,
    symbol: Symbol::Square,
    side_by_side: true,
    from_zero: true,
    log_y: false,
    ..Form::MARKS
};

fn layers(plan: &Plan<'_>) -> Vec<Value> {
    let mut layers = vec![json!({
        "mark": { "type": "bar", "strokeWidth": 1.5, "cornerRadius": 0 },
        "encoding": plan.encoding([
            ("y", plan.y(&plan.figure.y.field)),
            ("color", plan.colour()),
            ("stroke", plan.colour()),
            ("fillOpacity", plan.fill_opacity(0.85)),
            ("strokeWidth", plan.outline()),
            ("opacity", plan.opacity()),
            ("tooltip", plan.tooltip()),
        ])
    })];
    // In front of a bar of its colour, a whisker has the colour of the text.
    layers.extend(plan.whiskers(&json!({ "value": plan.theme.ink().strong })));
    layers
}
