//! Whether other implementations do the same: conformance vectors, and arrivals replayed into a queue.

pub mod compare;
pub mod replay;
pub mod vectors;
