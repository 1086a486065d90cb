//! The macros that make enums of the lists of disciplines. Each enum dispatches statically.

pub(crate) mod aqms;
pub(crate) mod schedulers;
