//! What a network is built from, and why it may not be.

use crate::group::GroupSpec;
use crate::impair::ImpairmentSpec;
use crate::link::{Ties, TxRounding};
use crate::opportunities::Opportunities;
use sojourn_units::{Rate, Span};

/// One direction of a link, as a scenario describes it.
#[derive(Clone, Debug)]
pub struct LinkSpec<P> {
    /// Stable name, such as `link/left-right`: streams and rank derive from it.
    pub name: String,
    /// Index of the node at the head.
    pub from: u32,
    /// Index of the node at the far end.
    pub to: u32,
    /// Rate of serialization.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Span,
    /// Rounding of serialization times.
    pub rounding: TxRounding,
    /// Packets that the device takes from the discipline ahead of their transmission.
    pub device_queue: u32,
    /// Bytes that the link adds to each packet while it transmits it: what queues count does not have them.
    pub header: u32,
    /// When it may send, in place of the rate; not on the clock of ns-2. The queue still computes with the rate.
    pub opportunities: Option<Opportunities>,
    /// What the wire does to packets.
    pub impairments: ImpairmentSpec,
    /// The queue.
    pub port: P,
}

/// An endpoint and where it sits.
#[derive(Clone, Debug)]
pub struct AgentSpec<A> {
    /// Stable name, such as `flow/reno-1/sender`.
    pub name: String,
    /// Index of its node.
    pub node: u32,
    /// The endpoint.
    pub agent: A,
}

/// A flow: who sends and who receives.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// Stable name, such as `flow/reno-1`.
    pub name: String,
    /// Differentiated services codepoint of its packets, both ways: 0 to 63.
    pub dscp: u8,
    /// Node of the sender.
    pub source: u32,
    /// Node of the receiver; or a group, as the number of nodes and its index.
    pub sink: u32,
    /// Index of the sending agent.
    pub sender: u32,
    /// Index of the receiving agent; `None` for a passive sink, where packets are only counted, and for a group.
    pub receiver: Option<u32>,
}

/// A whole network, ready to be built.
#[derive(Clone, Debug)]
pub struct NetworkSpec<P, A> {
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// Link directions.
    pub links: Vec<LinkSpec<P>>,
    /// Endpoints.
    pub agents: Vec<AgentSpec<A>>,
    /// Flows.
    pub flows: Vec<FlowSpec>,
    /// Groups that flows may be sent to.
    pub groups: Vec<GroupSpec>,
    /// Order of events at one instant.
    pub ties: Ties,
    /// True runs every link in eager mode: slower, the same result.
    pub eager: bool,
    /// Seed of the run.
    pub seed: u64,
    /// Replication of the run.
    pub replication: u64,
}

/// Why a network cannot be built.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BuildError {
    /// No path leads from a flow's source to its sink, or back.
    Unreachable {
        /// The flow.
        flow: String,
        /// Name of the node from which no path leads.
        from: String,
        /// Name of the node that cannot be reached.
        to: String,
    },
    /// A path is longer than a packet may travel.
    TooFar {
        /// The flow.
        flow: String,
        /// Links on its path.
        links: usize,
    },
    /// The links of a static tree lead to a node by two ways.
    NotATree {
        /// The group.
        group: String,
        /// Name of the node.
        node: String,
    },
    /// Two components have one name.
    Duplicate {
        /// The name.
        name: String,
    },
}

impl std::fmt::Display for BuildError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BuildError::Unreachable { flow, from, to } => write!(
                f,
                "{flow}: no path leads from node \"{from}\" to node \"{to}\"; connect them with a link"
            ),
            BuildError::TooFar { flow, links } => write!(
                f,
                "{flow}: its path has {links} links, a packet may cross at most {MAX_HOPS}"
            ),
            BuildError::NotATree { group, node } => write!(
                f,
                "{group}: its links lead to node \"{node}\" by two ways; leave one out"
            ),
            BuildError::Duplicate { name } => {
                write!(f, "two components are called \"{name}\"; names must differ")
            }
        }
    }
}

impl std::error::Error for BuildError {}

/// Links that a packet may cross.
pub const MAX_HOPS: u8 = 254;
