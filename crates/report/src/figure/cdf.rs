//! Cumulative distributions, as steps.

use super::plan::{Form, Order};

pub(super) const FORM: Form = Form {
    layers: |plan| plan.curves(1.8),
    order: Order::ByXThenY,
    interpolation: |_| "step-after",
    share: true,
    cursor: true,
    ..Form::CURVES
};
