//! The dumbbell of the ns-2 reference runs: nodes 0 and 1 are the routers, 2 and 3 source and sink of the first flow, 4 and 5
//! of the second, and so on. Links 0 and 1 are the bottleneck, forward and back.

use sojourn_queue::registry::build_port;
use sojourn_queue::{BuildContext, QueuePort};
use sojourn_sim::trace::Tracer;
use sojourn_sim::{
    AgentSpec, FlowSpec, ImpairmentSpec, LinkSpec, Loss, LossAt, Network, NetworkSpec, Ties,
    TxRounding,
};
use sojourn_traffic::{BuiltFlow, Endpoint, FlowRequest, build_flow};
use sojourn_units::{Rate, Span, Spec, Time};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A row of ns-2's figures, by column.
pub(crate) type Row = BTreeMap<String, String>;

pub(crate) fn number(row: &Row, column: &str) -> f64 {
    let text = &row[column];
    text.parse()
        .unwrap_or_else(|error| panic!("{column}: {text:?}: {error}"))
}

pub(crate) fn count(row: &Row, column: &str) -> u64 {
    let text = &row[column];
    text.parse()
        .unwrap_or_else(|error| panic!("{column}: {text:?}: {error}"))
}

/// One flow: its specification and when it starts.
pub(crate) struct Flow {
    pub(crate) spec: String,
    pub(crate) start: Span,
}

pub(crate) struct Dumbbell {
    pub(crate) rate: Rate,
    pub(crate) delay: Span,
    pub(crate) access_rate: Rate,
    pub(crate) access_delay: Span,
    /// The queue under test, dialect ns2.
    pub(crate) queue: String,
    pub(crate) flows: Vec<Flow>,
    /// Numbers of packets lost before the bottleneck's queue.
    pub(crate) losses: Vec<u64>,
    pub(crate) eager: bool,
    pub(crate) seed: u64,
}

impl Dumbbell {
    /// Source and sink node of each flow.
    fn flow_ends(&self) -> Vec<(u32, u32)> {
        (1..)
            .map(|i| (2 * i, 2 * i + 1))
            .take(self.flows.len())
            .collect()
    }

    /// Nodes at both ends of each link.
    pub(crate) fn link_ends(&self) -> Vec<(u32, u32)> {
        let mut pairs = vec![(0, 1), (1, 0)];
        for (source, sink) in self.flow_ends() {
            pairs.extend([(source, 0), (0, source), (1, sink), (sink, 1)]);
        }
        pairs
    }

    pub(crate) fn build<T: Tracer>(&self, tracer: T) -> Network<QueuePort, Endpoint, T> {
        let nodes: Vec<String> = (0..2 + 2 * self.flows.len())
            .map(|n| format!("n{n}"))
            .collect();
        let ends = self.flow_ends();
        let links = self
            .link_ends()
            .into_iter()
            .map(|(from, to)| {
                let core = from < 2 && to < 2;
                let name = format!("link/{from}-{to}");
                let under_test = (from, to) == (0, 1);
                let queue = if under_test {
                    &self.queue
                } else {
                    "droptail limit=1000p"
                };
                let cx = BuildContext {
                    dialect: Some("ns2".to_owned()),
                    flow_nodes: Arc::from(ends.clone()),
                    ..BuildContext::plain(self.seed, &name)
                };
                let spec: Spec = queue.parse().unwrap();
                let impairments = if under_test && !self.losses.is_empty() {
                    ImpairmentSpec {
                        loss: Loss::List(self.losses.clone()),
                        loss_at: LossAt::Queue,
                        ..ImpairmentSpec::default()
                    }
                } else {
                    ImpairmentSpec::default()
                };
                LinkSpec {
                    name,
                    from,
                    to,
                    rate: if core { self.rate } else { self.access_rate },
                    delay: if core { self.delay } else { self.access_delay },
                    rounding: TxRounding::Carry,
                    device_queue: 0,
                    header: 0,
                    opportunities: None,
                    impairments,
                    port: build_port(&spec, &cx).unwrap(),
                }
            })
            .collect();
        let mut agents = Vec::new();
        let mut flows = Vec::new();
        for ((flow, &(source, sink)), index) in self.flows.iter().zip(&ends).zip(0..) {
            let name = format!("flow/{}", index + 1);
            let spec: Spec = flow.spec.parse().unwrap();
            let request = FlowRequest {
                flow: index,
                name: &name,
                dialect: Some("ns2"),
                seed: self.seed,
                replication: 0,
                start: Time::ZERO + flow.start,
                stop: None,
                ns3_number: None,
                capacity: Rate::mbps(10),
                shares: 1,
            };
            let BuiltFlow {
                sender, receiver, ..
            } = build_flow(&spec.name, &spec.pairs(), &request).unwrap();
            let mut add = |role: &str, node, agent| {
                agents.push(AgentSpec {
                    name: format!("{name}/{role}"),
                    node,
                    agent,
                });
                u32::try_from(agents.len() - 1).unwrap()
            };
            let sender = add("sender", source, sender);
            let receiver = receiver.map(|agent| add("receiver", sink, agent));
            flows.push(FlowSpec {
                name,
                dscp: 0,
                source,
                sink,
                sender,
                receiver,
            });
        }
        let spec = NetworkSpec {
            nodes,
            links,
            agents,
            flows,
            groups: Vec::new(),
            ties: Ties::Ns2Clock,
            eager: self.eager,
            seed: self.seed,
            replication: 0,
        };
        Network::build(spec, tracer).unwrap()
    }
}
