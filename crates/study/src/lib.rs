//! Studies: scenarios with factors, carried out, audited, summarized, and compared with what was published.

pub mod advise;
pub mod auditor;
pub mod board;
pub mod bundle;
pub mod check;
pub mod dialects;
pub mod expect;
mod factors;
mod figure;
pub mod lookup;
pub mod map;
mod measured;
pub mod merge;
pub mod named;
mod range;
pub mod rerun;
pub mod starter;
mod steady;
pub mod study;
pub mod suite;
pub mod summary;
pub mod topology;
pub mod validate;
pub mod worst;
