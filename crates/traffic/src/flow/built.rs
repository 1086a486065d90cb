//! A flow that is built, and what builds one.

use super::kind::{FlowKind, Transport};
use super::request::FlowRequest;
use crate::endpoint::Endpoint;
use crate::entry::Resolved;
use sojourn_units::ParamError;

/// The endpoints of a flow.
pub struct BuiltFlow {
    /// The sender.
    pub sender: Endpoint,
    /// The receiver; `None` for a passive sink.
    pub receiver: Option<Endpoint>,
    /// Which protocol carries it.
    pub transport: Transport,
    /// What runs: each part by name, with its dialect and parameters resolved.
    pub parts: Vec<(&'static str, Resolved)>,
    /// Numbers of random variables that it has taken, where these are numbered as in ns-3.
    pub ns3_numbers: u64,
    /// Flows of the network that it is, from the one asked for on.
    pub connections: u32,
}

/// Builds a flow from its arguments.
pub(crate) type Build = fn(&[(String, String)], &FlowRequest<'_>) -> Result<BuiltFlow, ParamError>;

/// A kind of flow that is neither TCP nor plain datagrams, as its file declares it.
pub(crate) struct Flow {
    /// The name in specifications.
    pub(crate) name: &'static str,
    /// What it is.
    pub(crate) kind: fn() -> FlowKind,
    /// What builds it.
    pub(crate) build: Build,
}
