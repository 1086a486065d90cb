//! ns-2's lines, times to the picosecond.

use super::ns2::Lines;
use crate::write::sink::Form;

pub(crate) const FORM: Form = Form {
    name: "ns2-exact",
    about: "in picoseconds",
    is_analysed: true,
    open: |scene, out| Ok(Lines::open(scene, out, true)),
};
