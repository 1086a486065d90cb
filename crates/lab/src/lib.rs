//! From a scenario to a network, a run and its results: studies, replications, statistics, result files.

pub mod model;
pub mod outcome;
