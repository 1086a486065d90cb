//! From a scenario to a network, a run and its results: studies, replications, statistics, result files.

pub mod attributes;
pub mod auditor;
pub mod bench;
pub mod catalogue;
pub mod compile;
pub mod document;
mod elsewhere;
pub mod error;
pub mod expect;
pub mod limits;
pub mod model;
pub mod oneline;
pub mod opportunities;
pub mod outcome;
pub mod reference;
pub mod replay;
pub mod results;
pub mod run;
pub mod scenario;
pub mod schema;
pub mod series;
pub mod starter;
pub mod stats;
pub mod study;
pub mod summary;
pub mod trace;
pub mod traces;
pub mod validate;
pub mod vectors;

pub use error::{LabError, LabErrorKind};
