//! Box plots of what has percentiles, over a factor.

use sojourn_scenario::error::Result;

use super::form::Form;
use super::over_factor;
use super::request::Request;

pub(super) const FORM: Form = Form {
    check,
    draw: |wanted, spec| Ok(over_factor::in_boxes(wanted, spec)),
};

/// What has percentiles.
const DISTRIBUTIONS: [&str; 4] = ["sojourn_s", "delay_s", "fct_s", "page_load_s"];

fn check(request: &mut Request<'_>) -> Result<()> {
    let usual = || "sojourn_s".to_owned();
    let y = request.spec.y.get_or_insert_with(usual).clone();
    request.one_of("distribution", &y, DISTRIBUTIONS.into_iter())?;
    let metric = format!("{y}_p50");
    request.suits(&metric)?;
    request.metric("of", &Some(metric))?;
    request.over_factor()
}
