//! A cloud of points, and closed curves around parts of it.

use serde_json::{Value, json};

use super::plan::{Form, Moves, OUTLINE, Plan, STEP};

pub(super) const FORM: Form = Form {
    layers,
    outlines: true,
    moves: Moves::XAndY,
    ..Form::MARKS
};

fn layers(plan: &Plan<'_>) -> Vec<Value> {
    let mut layers = plan.whiskers(&plan.colour());
    let mut dots = plan.dots(36, 0.6);
    if let Some(outlines) = outlines(plan) {
        layers.push(outlines);
        for layer in &mut dots {
            layer["transform"] = json!([{ "filter": format!("!isValid(datum.{OUTLINE})") }]);
        }
    }
    layers.extend(dots);
    layers
}

/// Closed curves, filled a little. They come with the rows, so that each stands in the panel of its own.
fn outlines(plan: &Plan<'_>) -> Option<Value> {
    if plan.figure.outlines.is_empty() {
        return None;
    }
    Some(json!({
        "transform": [{ "filter": format!("isValid(datum.{OUTLINE})") }],
        "mark": {
            "type": "line", "interpolate": "linear-closed", "strokeWidth": 1.6, "strokeJoin": "round",
            "fillOpacity": 0.12, "clip": true
        },
        "encoding": plan.encoding([
            ("y", plan.y(&plan.figure.y.field)),
            ("color", plan.colour()),
            ("fill", plan.colour()),
            ("detail", json!({ "field": OUTLINE, "type": "nominal" })),
            ("order", json!({ "field": STEP, "type": "quantitative" })),
            ("opacity", plan.opacity()),
        ])
    }))
}
