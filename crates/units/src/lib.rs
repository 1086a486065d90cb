//! Typed time, rate, size and limit, parsed from text with units and printed; declared parameters.
//!
//! A number in Sojourn has a type: a moment is a [`Time`], a length of time a [`Span`], a bit rate a [`Rate`], a size
//! [`Bytes`] or [`Packets`], the most a queue holds a [`Limit`], as people state it a [`Buffer`], a probability a [`Ratio`]. From a user a number comes with
//! its unit, and goes back with it:
//!
//! ```
//! use sojourn_units::{Rate, Span};
//!
//! let rate: Rate = "1.5 Mbps".parse()?;
//! assert_eq!(rate.serialization(1500), "8ms".parse::<Span>()?);
//! assert_eq!((rate * 2).to_string(), "3Mbps");
//! # Ok::<(), sojourn_units::UnitError>(())
//! ```
//!
//! An algorithm's parameters are declared once, with [`params!`] and [`choice!`]; a user names an algorithm and sets them with
//! a [`Spec`], and [`build`] makes the one from the other.
//!
//! This crate uses no clock, no file and no thread, and knows nothing of queues or networks.

pub mod buffer;
mod convert;
pub mod error;
mod head;
pub mod param;
pub mod property;
pub mod rate;
pub mod register;
pub mod rules;
pub mod size;
pub mod spec;
mod text;
pub mod time;

pub use buffer::{Bdp, Buffer};
pub use error::{UnitError, UnitErrorKind, nearest};
pub use head::{head_markdown, head_of, head_title, start_of};
pub use param::{
    Condition, DialectInfo, Kind, KindOf, Need, PAPER, ParamError, ParamInfo, ParamValue, Params,
    Values, build, check_declaration, usable_dialect,
};
pub use rate::Rate;
pub use register::{Register, RegisterError};
pub use rules::{RulesRow, check_rules_table, rules_table};
pub use size::{Bytes, Limit, Packets, Ratio};
pub use spec::{FlowSpec, Spec, SpecError, SpecValue, Specs, check_what};
pub use time::{Span, Time};
