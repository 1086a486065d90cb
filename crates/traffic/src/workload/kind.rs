//! What a kind of workload is.

use crate::flow::{BuiltFlow, FlowRequest};
use sojourn_units::{ParamError, ParamInfo, Rate, Span};

/// A kind of workload that specifications may name.
#[derive(Clone, Copy, Debug)]
pub struct WorkloadKind {
    /// The name.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Its parameters.
    pub params: &'static [ParamInfo],
    /// Places for connections: their number unless `connections` gives it, and the most.
    pub(super) places: (u32, u32),
    /// The expected number of transfers.
    pub(super) expected: Expected,
    /// What builds the flow. The keys of the arguments have been checked.
    pub(super) build: Build,
}

/// Where a workload runs and for how long, as far as the number of its transfers depends on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surroundings {
    /// Rate of the slowest link of the path.
    pub(super) capacity: Rate,
    /// Flows of the same entry, which share the load that it offers.
    pub(super) shares: u64,
    /// Round trip of the path.
    pub(super) round_trip: Span,
    /// How long the flow lasts.
    pub(super) within: Span,
}

impl Surroundings {
    /// How many times a user asks, at most, who thinks for that long after each answer.
    pub(super) fn asked(&self, think: Span) -> f64 {
        self.within.as_secs_f64() / (think + self.round_trip).as_secs_f64()
    }
}

/// How many transfers a flow with these arguments makes, at most, on average.
pub(super) type Expected = fn(&[(String, String)], &Surroundings) -> Result<f64, ParamError>;

/// Builds a workload from its arguments; the two numbers are its first flow in the network, and how many there are.
pub(super) type Build = fn(
    &WorkloadKind,
    &[(String, String)],
    &FlowRequest<'_>,
    (u32, u32),
) -> Result<BuiltFlow, ParamError>;

/// A limit as a number to compare with.
pub(super) fn most(limit: Option<u64>) -> f64 {
    limit.map_or(f64::INFINITY, crate::num::real)
}
