//! Values over time; those of states hold until they change.

use super::plan::Form;

pub(super) const FORM: Form = Form {
    layers: |plan| plan.curves(1.2),
    interpolation: |figure| match figure.steps {
        true => "step-after",
        false => "linear",
    },
    stacked: true,
    cursor: true,
    ..Form::CURVES
};
