//! From a scenario to a network that can run: hosts are attached, flows placed, queues and endpoints built.

mod flows;
mod groups;
mod links;
mod parts;
mod paths;
mod plan;

pub use self::parts::{Compiled, FlowInfo, GroupInfo, LinkChange, LinkInfo, MemberInfo};

use self::flows::add_flow;
use self::links::{apply_changes, apply_impairments, apply_opportunities};
use self::parts::{Place, bad, narrow};
use self::paths::{Paths, check_connected, graph_bottlenecks};
use self::plan::Plan;

use sojourn_queue::registry::BuildContext;
use sojourn_scenario::Resolved;
use sojourn_scenario::dialect::Conventions;
use sojourn_scenario::error::{LabError, LabErrorKind};
use sojourn_scenario::model::{Rounding, Streams, TieRule};
use sojourn_scenario::resolved::{Network, Queue};
use sojourn_sim::topology::{Graph, Role};
use sojourn_sim::{GroupSpec, ImpairmentSpec, LinkSpec, Mrg32k3a, NetworkSpec, Ties, TxRounding};
use sojourn_traffic::flow::FlowBuilder;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Compiles replication `replication` of a scenario.
///
/// # Errors
/// If a queue or flow cannot be built, or a name refers to nothing.
pub fn compile(scenario: &Resolved, replication: u64) -> Result<Compiled, LabError> {
    let mut plan = Plan::new(scenario)?;
    let places = plan.place_flows(scenario)?;
    let (groups, specs) = groups::compile(scenario, &plan.graph)?;
    check_connected(scenario, &plan.graph, &places)?;
    let flow_nodes = flow_nodes(scenario, &groups, &places);
    let mut compiled = empty(scenario, replication, &plan.graph, (groups, specs));
    let mut numbers = ns3_numbers(scenario)?;
    add_links(
        scenario,
        &plan,
        &flow_nodes,
        numbers.as_mut(),
        &mut compiled,
    )?;
    apply_impairments(scenario, &mut compiled)?;
    apply_opportunities(scenario, replication, &mut compiled)?;
    apply_changes(scenario, &flow_nodes, &mut compiled)?;
    check_labels(scenario, &compiled.links)?;
    let graph = plan.graph;
    if let Some(next) = &mut numbers {
        next.take_nodes(graph.nodes.len());
    }
    let paths = Paths::new(&graph, &places, &compiled.groups);
    if let Network::Graph(links) = &scenario.network {
        let found = graph_bottlenecks(links, &graph, &paths, &places);
        for edge in found.chosen {
            compiled.links[edge].role = Role::Bottleneck;
        }
        compiled.slowest = found.slowest;
    }
    let mut builder = FlowBuilder::default();
    for place in places {
        let sinks = place.sinks(&compiled.groups);
        let path = paths.of(&graph, place.source, &sinks);
        let number = numbers.as_ref().map(|next| next.0);
        let request = (replication, number);
        let taken = add_flow(scenario, request, &place, path, &mut builder, &mut compiled)?;
        if let Some(next) = &mut numbers {
            next.0 += taken;
        }
    }
    // Losses within a round trip are one event, of the longest round trip, so that no flow's answer begins another.
    let longest = compiled.flows.iter().map(|flow| flow.base_rtt).max();
    for link in &mut compiled.network.links {
        link.port.set_loss_window(longest.unwrap_or_default());
    }
    Ok(compiled)
}

/// Refuses a label that is also the name of a link direction, since a metric is of either by its name.
fn check_labels(scenario: &Resolved, links: &[LinkInfo]) -> Result<(), LabError> {
    let observed = links.iter().filter(|link| link.observed);
    let names: BTreeSet<&str> = observed.map(|link| link.name.as_str()).collect();
    let mut labels = scenario.flows.iter().map(|flow| flow.label.as_str());
    if let Some(at) = labels.position(|label| names.contains(label)) {
        let label = &scenario.flows[at].label;
        let problem = format!("{label:?} is also the name of a link direction");
        return Err(LabError::new(LabErrorKind::Contradiction, problem)
            .key(format!("flows[{at}].label"))
            .remedy("give the flows another label"));
    }
    Ok(())
}

/// The source and sink of each flow of the network, by its number.
fn flow_nodes(scenario: &Resolved, groups: &[GroupInfo], places: &[Place]) -> Arc<[(u32, u32)]> {
    let width = |(at, place): (usize, &Place)| {
        let flow = &scenario.flows[place.group];
        groups::session_width(scenario, groups, places, at)
            .unwrap_or_else(|| sojourn_traffic::workload::connections(&flow.kind, &flow.args))
    };
    (places.iter().enumerate())
        .flat_map(|(at, place)| (0..width((at, place))).map(|_| (place.source, place.sink)))
        .collect()
}

/// A network of these nodes and groups, still without links and flows.
fn empty(
    scenario: &Resolved,
    replication: u64,
    graph: &Graph,
    (groups, specs): (Vec<GroupInfo>, Vec<GroupSpec>),
) -> Compiled {
    Compiled {
        network: NetworkSpec {
            nodes: graph.nodes.clone(),
            links: Vec::with_capacity(graph.edges.len()),
            agents: Vec::new(),
            flows: Vec::new(),
            groups: specs,
            ties: match scenario.conventions.ties {
                TieRule::Birth => Ties::Birth,
                TieRule::Ns2Clock => Ties::Ns2Clock,
                TieRule::DeparturesFirst => Ties::DeparturesFirst,
            },
            eager: scenario.run.eager,
            seed: scenario.run.seed,
            replication,
        },
        links: Vec::with_capacity(graph.edges.len()),
        flows: Vec::new(),
        groups,
        changes: Vec::new(),
        slowest: Vec::new(),
    }
}

/// Adds the links of the plan, each with its queue.
fn add_links(
    scenario: &Resolved,
    plan: &Plan<'_>,
    flow_nodes: &Arc<[(u32, u32)]>,
    mut numbers: Option<&mut Ns3Numbers>,
    compiled: &mut Compiled,
) -> Result<(), LabError> {
    let Conventions {
        tx_rounding,
        device_queue,
        link_header,
        ..
    } = scenario.conventions;
    let rounding = match tx_rounding {
        Rounding::Carry => TxRounding::Carry,
        Rounding::TruncateNs => TxRounding::TruncateNs,
        Rounding::NearestNs => TxRounding::NearestNs,
        Rounding::DoubleNs => TxRounding::DoubleNs,
    };
    for (edge, planned) in plan.graph.edges.iter().zip(&plan.queues) {
        let name = plan.graph.edge_name(edge);
        let queue = planned.queue;
        let cx = BuildContext {
            seed: compiled.network.seed,
            replication: compiled.network.replication,
            name: format!("link/{name}/queue"),
            dialect: scenario.dialect.clone(),
            flow_nodes: Arc::clone(flow_nodes),
            per_flow: planned.observed,
            ns3_number: numbers.as_mut().and_then(|next| next.of_queue(queue)),
        };
        let port = queue.discipline.build(&cx).map_err(|error| {
            LabError::from_queue(&error)
                .in_file(&scenario.name)
                .key(&queue.key)
        })?;
        compiled.network.links.push(LinkSpec {
            name: format!("link/{name}"),
            from: edge.from,
            to: edge.to,
            rate: edge.rate,
            delay: edge.delay,
            rounding,
            device_queue: narrow(device_queue),
            header: narrow(link_header),
            opportunities: None,
            impairments: ImpairmentSpec::default(),
            port,
        });
        compiled.links.push(LinkInfo {
            name,
            link_header: narrow(link_header),
            role: edge.role,
            observed: planned.observed,
            rate: edge.rate,
            opportunities: None,
            delay: edge.delay,
            discipline: queue.discipline.entry(),
            resolved: Arc::clone(&queue.params),
        });
    }
    Ok(())
}

/// Where random numbers are those of ns-3.24, the first number of a random variable.
fn ns3_numbers(scenario: &Resolved) -> Result<Option<Ns3Numbers>, LabError> {
    if scenario.conventions.streams != Streams::Ns3 {
        return Ok(None);
    }
    if !Mrg32k3a::SEEDS.contains(&scenario.run.seed) {
        return Err(bad(
            scenario,
            "run.seed",
            &format!("{} is not a valid seed of MRG32k3a", scenario.run.seed),
            "set run.seed to a number from 1 to 4294944442, or run.streams = \"names\"",
        ));
    }
    Ok(Some(Ns3Numbers(0)))
}

/// The next free number of a random variable, as ns-3.24 numbers them: device queues in the order of the links, what each node
/// has of its own, applications in the order of the flows.
#[derive(Clone, Copy)]
struct Ns3Numbers(u64);

impl Ns3Numbers {
    /// Random variables of the Internet stack of a node: they draw nothing in what is simulated here.
    const OF_NODE: u64 = 8;

    /// The number for a queue; of ns-3.24's device queues RED alone has a random variable.
    fn of_queue(&mut self, queue: &Queue) -> Option<u64> {
        let draws = queue.discipline.entry().name == "red";
        let number = draws.then_some(self.0);
        self.0 += u64::from(draws);
        number
    }

    fn take_nodes(&mut self, nodes: usize) {
        self.0 += Ns3Numbers::OF_NODE * u64::try_from(nodes).unwrap_or(u64::MAX);
    }
}
