//! A line with a band.

use sojourn_report::Kind;

use super::form::Form;
use super::over_factor;

pub(super) const FORM: Form = Form {
    check: over_factor::check,
    draw: |wanted, spec| Ok(over_factor::with_intervals(wanted, spec, Kind::Lines)),
};
