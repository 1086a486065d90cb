//! Traffic sources, and flows made of a source and the endpoints of a transport.

pub mod endpoint;
mod entry;
pub mod flow;
pub mod foreign;
pub mod media;
mod num;
mod points;
mod register;
pub mod registry;
pub mod sources;
pub mod srm;
pub mod timed;
pub mod udp_rr;
pub mod workload;

pub use endpoint::Endpoint;
pub use flow::{
    BuiltFlow, FlowBuilder, FlowKind, FlowRequest, Transport, build_flow, flow_kinds, register_flow,
};
pub use registry::{AnySource, CatalogueEntry, Entry, build_source, catalogue};
