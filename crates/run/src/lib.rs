//! From a scenario to a network, a run and its outcome.

mod batches;
pub mod bench;
pub mod compile;
pub mod needs;
mod network;
pub mod run;
pub mod series;
