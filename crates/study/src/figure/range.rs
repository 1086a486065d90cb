//! Floating bars from `y_low` to `y_high`, with a tick at y.

use sojourn_scenario::error::Result;

use super::form::Form;
use super::over_factor;
use super::request::Request;

pub(super) const FORM: Form = Form {
    check,
    draw: |wanted, spec| Ok(over_factor::from_end_to_end(wanted, spec)),
};

fn check(request: &mut Request<'_>) -> Result<()> {
    let remedy = "name the metrics at both ends, such as y_low = \"sojourn_s_p05\", y_high = \"sojourn_s_p95\"";
    let spec = &request.spec;
    request.required("y_low", &spec.y_low, remedy)?;
    request.required("y_high", &spec.y_high, remedy)?;
    request.metric("y", &spec.y)?;
    request.metric("y_low", &spec.y_low)?;
    request.metric("y_high", &spec.y_high)?;
    request.over_factor()
}
