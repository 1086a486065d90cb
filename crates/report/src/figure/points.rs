//! Points with whiskers, side by side on a category axis.

use serde_json::Value;

use super::plan::{Form, Plan};

pub(super) const FORM: Form = Form {
    layers,
    side_by_side: true,
    ..Form::MARKS
};

fn layers(plan: &Plan<'_>) -> Vec<Value> {
    let mut layers = plan.whiskers(&plan.colour());
    layers.extend(plan.dots(70, 1.0));
    layers
}
