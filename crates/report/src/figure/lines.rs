//! Lines through points, with a band.

use serde_json::{Value, json};

use super::plan::{Form, Order, Plan};

pub(super) const FORM: Form = Form {
    layers,
    published: "Hollow and dashed: published values. Filled: reproduced here.",
    outlined: false,
    order: Order::ByX,
    bands: false,
    ..Form::MARKS
};

fn layers(plan: &Plan<'_>) -> Vec<Value> {
    let mut layers = Vec::new();
    layers.extend(plan.band());
    layers.push(json!({
        "mark": { "type": "line", "strokeWidth": 2, "clip": plan.zooms() },
        "encoding": plan.encoding([
            ("y", plan.y(&plan.figure.y.field)),
            ("color", plan.colour()),
            ("strokeDash", plan.dash()),
            ("opacity", plan.opacity()),
        ])
    }));
    // The band says what whiskers would say again.
    let mut points = plan.dots(70, 1.0);
    if let Some(point) = points.last_mut() {
        point["mark"]["size"] = json!(42);
    }
    layers.extend(points);
    layers
}
