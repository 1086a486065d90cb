//! Floating bars from `y_low` to `y_high`, with a tick at y.

use sojourn_scenario::error::{LabErrorKind, Result};

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
    let ends = spec.y_low.as_deref().zip(spec.y_high.as_deref());
    if ends.is_some_and(|(low, high)| is_turned(low, high)) {
        let problem = "y_low is never below y_high";
        return Err(request
            .table
            .error_on("y_low", LabErrorKind::Contradiction, problem)
            .remedy("exchange y_low and y_high"));
    }
    request.over_factor()
}

/// Ends of the names of metrics of one distribution, from the least to the greatest.
const SHARES: [&str; 10] = [
    "min", "p05", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "max",
];

/// Whether two metrics are of one distribution and the first is the greater one.
fn is_turned(low: &str, high: &str) -> bool {
    let place = |metric: &str| {
        let (name, of) = metric.split_once(" of ").unwrap_or((metric, ""));
        let (quantity, share) = name.trim().rsplit_once('_')?;
        let place = SHARES.iter().position(|known| *known == share)?;
        Some((quantity.to_owned(), of.trim().to_owned(), place))
    };
    match (place(low), place(high)) {
        (Some((one, of, low)), Some((other, to, high))) => one == other && of == to && low > high,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greater_percentile_is_no_lower_end() {
        for (low, high, turned) in [
            ("sojourn_s_p95", "sojourn_s_min", true),
            ("sojourn_s_p05", "sojourn_s_p95", false),
            ("sojourn_s_p95 of a", "sojourn_s_p05 of b", false),
            ("delay_s_p95 of a", "delay_s_p50 of a", true),
            ("delay_s_p95", "sojourn_s_p05", false),
            ("loss_ratio", "loss_ratio", false),
        ] {
            assert_eq!(is_turned(low, high), turned, "{low} {high}");
        }
    }
}
