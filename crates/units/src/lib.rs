//! Typed time, rate, size and limit, parsed from text with units and printed; declared parameters.
//!
//! A number in Sojourn has a type: a moment is a [`Time`], a length of time a [`Span`], a bit rate a [`Rate`], a size
//! [`Bytes`] or [`Packets`], the most a queue holds a [`Limit`], a probability a [`Ratio`].

mod convert;
pub mod error;
pub mod rate;
pub mod size;
pub mod spec;
mod text;
pub mod time;

pub use error::{UnitError, UnitErrorKind, nearest};
pub use rate::Rate;
pub use size::{Bytes, Limit, Packets, Ratio};
pub use spec::{FlowSpec, Spec, SpecError, SpecValue};
pub use time::{Span, Time};
