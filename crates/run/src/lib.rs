//! From a scenario to a network, a run and its outcome.

mod batches;
pub mod bench;
pub mod compile;
pub mod host;
pub mod live;
pub mod needs;
mod network;
pub mod picture;
#[cfg(feature = "testing")]
pub mod properties;
pub mod run;
pub mod series;
