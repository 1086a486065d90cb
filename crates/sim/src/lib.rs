//! The event core: clock, event list, packets, links, nodes, routing, random streams, traces.
//!
//! This crate knows no algorithm: queues come in through [`port::Port`], endpoints through [`agent::Agent`].
//! It uses no clock, no thread, no file and no global.

pub mod agent;
pub mod fel;
pub mod group;
pub mod histogram;
pub mod impair;
mod key;
mod link;
pub mod mrg32k3a;
pub mod network;
mod ns2_time;
pub mod ns3_time;
pub mod opportunities;
pub mod packet;
pub mod port;
pub mod ring;
pub mod rng;
pub mod routing;
pub mod slab;
#[cfg(feature = "testing")]
pub mod testing;
pub mod topology;
pub mod trace;
pub mod trace_ns2;

pub use agent::{Agent, Host, Launch, Timers};
pub use group::{DenseSpec, GroupSpec, MemberSpec, Stay, TreeSpec};
pub use impair::{ImpairmentSpec, LinkState, Loss, LossAt, Outage};
pub use key::Key;
pub use link::{Ties, TxRounding};
pub use mrg32k3a::Mrg32k3a;
pub use network::{
    AgentSpec, BuildError, Census, DelayCounts, FlowCounts, FlowSpec, LinkSpec, Network,
    NetworkSpec, ReceiverCounts,
};
pub use opportunities::{Opportunities, ScheduleError};
pub use packet::{Ecn, Flags, Kind, Label, Outgoing, Packet};
pub use port::{Caps, DropReason, FastPort, MarkReason, Port, PortSink, Successor};
pub use ring::Ring;
pub use rng::Stream;
pub use slab::{Side, to_usize};
