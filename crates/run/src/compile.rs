//! From a scenario to a network that can run: hosts are attached, flows placed, queues and endpoints built.

mod groups;
mod parts;

pub use self::parts::{Compiled, FlowInfo, GroupInfo, LinkChange, LinkInfo, MemberInfo};

use self::parts::{Place, bad, unknown};
use sojourn_scenario::dialect::{Conventions, access_rate};

use sojourn_queue::CatalogueEntry;
use sojourn_queue::registry::{self, BuildContext, Resolved};
use sojourn_scenario::error::{LabError, LabErrorKind};
use sojourn_scenario::model::{
    Direction, FlowGroup, ImpairmentParams, LinkState as LinkPower, LossPlace, PlaceParams,
    Rounding, Scenario, Streams, TieRule, Topology, WhileDown,
};
use sojourn_scenario::opportunities;
use sojourn_scenario::reader::with_buffer;
use sojourn_sim::routing::Routes;
use sojourn_sim::topology::{Graph, Line, Role};
use sojourn_sim::{
    AgentSpec, FlowSpec, ImpairmentSpec, LinkSpec, LinkState, Loss, LossAt, Mrg32k3a, NetworkSpec,
    Outage, Stream, Ties, TxRounding,
};
use sojourn_traffic::Endpoint;
use sojourn_traffic::flow::{FlowBuilder, FlowRequest};
use sojourn_traffic::media::RTP;
use sojourn_units::{Limit, Rate, Span, Spec, Time};
use std::sync::Arc;

/// Compiles replication `replication` of a scenario.
///
/// # Errors
/// If a queue or flow cannot be built, or a name refers to nothing.
pub fn compile(scenario: &Scenario, replication: u64) -> Result<Compiled, LabError> {
    let mut plan = Plan::new(scenario)?;
    let places = plan.place_flows(scenario)?;
    let graph = plan.graph;
    let (groups, group_specs) = groups::compile(scenario, &graph)?;
    check_connected(scenario, &graph, &places)?;
    let width = |(at, place): (usize, &Place)| {
        let group = &scenario.flows[place.group];
        groups::session_width(scenario, &groups, &places, at)
            .unwrap_or_else(|| sojourn_traffic::workload::connections(&group.kind, &group.args))
    };
    let flow_nodes: Arc<[(u32, u32)]> = (places.iter().enumerate())
        .flat_map(|(at, place)| (0..width((at, place))).map(|_| (place.source, place.sink)))
        .collect();
    let conventions = Conventions::of(scenario);
    let link_header = narrow(conventions.link_header);
    let rounding = match conventions.tx_rounding {
        Rounding::Carry => TxRounding::Carry,
        Rounding::TruncateNs => TxRounding::TruncateNs,
        Rounding::NearestNs => TxRounding::NearestNs,
        Rounding::DoubleNs => TxRounding::DoubleNs,
    };
    let mut compiled = Compiled {
        network: NetworkSpec {
            nodes: graph.nodes.clone(),
            links: Vec::with_capacity(graph.edges.len()),
            agents: Vec::new(),
            flows: Vec::with_capacity(places.len()),
            groups: group_specs,
            ties: match conventions.ties {
                TieRule::Birth => Ties::Birth,
                TieRule::Ns2Clock => Ties::Ns2Clock,
                TieRule::DeparturesFirst => Ties::DeparturesFirst,
            },
            eager: scenario.run.eager,
            seed: scenario.run.seed,
            replication,
        },
        links: Vec::with_capacity(graph.edges.len()),
        flows: Vec::with_capacity(places.len()),
        groups,
        changes: Vec::new(),
    };
    let mut numbers = (conventions.streams == Streams::Ns3).then_some(Ns3Numbers(0));
    if numbers.is_some() && !Mrg32k3a::SEEDS.contains(&scenario.run.seed) {
        return Err(bad(
            scenario,
            "run.seed",
            &format!("{} is no seed of MRG32k3a", scenario.run.seed),
            "write a number from 1 to 4294944442, or streams = \"names\"",
        ));
    }
    // Access links are many and their queues alike.
    let mut last: Option<(&Spec, &CatalogueEntry, Arc<Resolved>)> = None;
    for (edge, queue) in graph.edges.iter().zip(&plan.queues) {
        let name = graph.edge_name(edge);
        let cx = BuildContext {
            seed: scenario.run.seed,
            replication,
            name: format!("link/{name}/queue"),
            dialect: scenario.dialect.clone(),
            flow_nodes: Arc::clone(&flow_nodes),
            per_flow: queue.observed,
            ns3_number: numbers.as_mut().and_then(|next| next.of_queue(&queue.spec)),
        };
        let at = |error: registry::SpecError| {
            LabError::from_queue(&error)
                .in_file(&scenario.name)
                .key(&queue.key)
        };
        let (entry, resolved) = match &last {
            Some((spec, entry, resolved)) if **spec == queue.spec => (*entry, Arc::clone(resolved)),
            _ => {
                let dialect = scenario.dialect.as_deref();
                let (entry, resolved) = registry::resolve(&queue.spec, dialect).map_err(at)?;
                let resolved = Arc::new(resolved);
                last = Some((&queue.spec, entry, Arc::clone(&resolved)));
                (entry, resolved)
            }
        };
        let port = registry::build_port(&queue.spec, &cx).map_err(at)?;
        compiled.network.links.push(LinkSpec {
            name: format!("link/{name}"),
            from: edge.from,
            to: edge.to,
            rate: edge.rate,
            delay: edge.delay,
            rounding,
            device_queue: narrow(conventions.device_queue),
            header: link_header,
            opportunities: None,
            impairments: ImpairmentSpec::default(),
            port,
        });
        compiled.links.push(LinkInfo {
            name,
            link_header,
            role: edge.role,
            observed: queue.observed,
            rate: edge.rate,
            opportunities: None,
            delay: edge.delay,
            discipline: entry,
            resolved,
        });
    }
    apply_impairments(scenario, &mut compiled)?;
    apply_opportunities(scenario, replication, &mut compiled)?;
    apply_changes(scenario, &mut compiled)?;
    if let Some(next) = &mut numbers {
        next.take_nodes(graph.nodes.len());
    }
    let paths = Paths::new(&graph, &places, &compiled.groups);
    if let Topology::Graph(links) = &scenario.topology {
        for edge in graph_bottlenecks(links, &graph, &paths, &places) {
            compiled.links[edge].role = Role::Bottleneck;
        }
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

/// Links run both ways, so a graph is connected or falls into pieces. A flow between two pieces is said first.
fn check_connected(scenario: &Scenario, graph: &Graph, places: &[Place]) -> Result<(), LabError> {
    let Topology::Graph(links) = &scenario.topology else {
        return Ok(());
    };
    let pieces = pieces(graph);
    let piece = |node: u32| usize::try_from(node).ok().and_then(|node| pieces.get(node));
    let unreachable = |key: String, problem: String, remedy: &str| {
        LabError::new(LabErrorKind::Unreachable, problem)
            .in_file(&scenario.name)
            .key(key)
            .remedy(remedy)
    };
    let name = |node: u32| {
        let node = usize::try_from(node)
            .ok()
            .and_then(|node| graph.nodes.get(node));
        node.map_or("", String::as_str)
    };
    // Where a group's members are is looked at below: everywhere.
    let to_node = places.iter().filter(|place| place.to_group.is_none());
    if let Some(place) = to_node
        .into_iter()
        .find(|place| piece(place.source) != piece(place.sink))
    {
        return Err(unreachable(
            format!("flows[{}].to", place.group),
            format!(
                "no path leads from node {:?} to node {:?}",
                name(place.source),
                name(place.sink)
            ),
            "connect them with a link",
        ));
    }
    let apart = |link: &sojourn_scenario::model::LinkParams| {
        graph
            .node(&link.from)
            .is_some_and(|node| piece(node) != piece(0))
    };
    match links.iter().zip(0..).find(|(link, _)| apart(link)) {
        Some((link, index)) => Err(unreachable(
            format!("links[{index}]"),
            format!(
                "the graph is in pieces: nothing connects {:?} with {:?}",
                link.from,
                name(0)
            ),
            "add a link between the two, or leave this one out",
        )),
        None => Ok(()),
    }
}

/// The piece of a graph that each node lies in, by the lowest node in it.
fn pieces(graph: &Graph) -> Vec<u32> {
    let mut pieces: Vec<u32> = (0u32..).take(graph.nodes.len()).collect();
    loop {
        let mut changed = false;
        for edge in &graph.edges {
            let ends = [edge.from, edge.to].map(|node| usize::try_from(node).unwrap_or(usize::MAX));
            let lowest = pieces[ends[0]].min(pieces[ends[1]]);
            for end in ends {
                changed |= pieces[end] != lowest;
                pieces[end] = lowest;
            }
        }
        if !changed {
            return pieces;
        }
    }
}

/// The edges of a graph that are bottlenecks: those of links that say so; where none does, the slowest on the ways of flows to a node
/// in the direction under study, on each way the first of several, of each link one direction; not one whose link says that it is none, or is not observed.
fn graph_bottlenecks(
    links: &[sojourn_scenario::model::LinkParams],
    graph: &Graph,
    paths: &Paths,
    places: &[Place],
) -> Vec<usize> {
    // Each link has its two edges one after the other, the one from `from` first.
    let link_of = |edge: usize| links.get(edge / 2);
    let told: Vec<usize> = (0..graph.edges.len())
        .filter(|edge| edge % 2 == 0 && link_of(*edge).is_some_and(|l| l.bottleneck == Some(true)))
        .collect();
    if !told.is_empty() {
        return told;
    }
    let ways = places
        .iter()
        .filter(|place| place.forward && place.to_group.is_none())
        .filter_map(|place| {
            let way = paths.edges(place.source, place.sink);
            let may = |edge: &usize| {
                link_of(*edge).is_some_and(|link| link.observed && link.bottleneck.is_none())
            };
            // The first of the slowest.
            way.into_iter()
                .filter(may)
                .min_by_key(|edge| graph.edges[*edge].rate)
        });
    let mut found: Vec<usize> = Vec::new();
    for edge in ways {
        // Of a link's two directions the one that a flow crosses first, in the order of the flows.
        if !found.contains(&edge) && !found.contains(&(edge ^ 1)) {
            found.push(edge);
        }
    }
    let slowest = found.iter().map(|edge| graph.edges[*edge].rate).min();
    found.retain(|edge| Some(graph.edges[*edge].rate) == slowest);
    found
}

/// The next free number of a random variable, as ns-3.24 numbers them: device queues in the order of the links, what each node
/// has of its own, applications in the order of the flows.
#[derive(Clone, Copy)]
struct Ns3Numbers(u64);

impl Ns3Numbers {
    /// Random variables of the Internet stack of a node: they draw nothing in what is simulated here.
    const OF_NODE: u64 = 8;

    /// The number for a queue; of ns-3.24's device queues RED alone has a random variable.
    fn of_queue(&mut self, spec: &Spec) -> Option<u64> {
        let draws = registry::find(&spec.name).is_ok_and(|entry| entry.name == "red");
        let number = draws.then_some(self.0);
        self.0 += u64::from(draws);
        number
    }

    fn take_nodes(&mut self, nodes: usize) {
        self.0 += Ns3Numbers::OF_NODE * u64::try_from(nodes).unwrap_or(u64::MAX);
    }
}

/// The queue of a graph edge.
struct EdgeQueue {
    spec: Spec,
    observed: bool,
    /// The key of the scenario that names it, for messages.
    key: String,
}

struct Plan {
    graph: Graph,
    queues: Vec<EdgeQueue>,
}

impl Plan {
    /// The routers and links under study.
    fn new(scenario: &Scenario) -> Result<Plan, LabError> {
        match &scenario.topology {
            Topology::Dumbbell(d) => {
                let (bottleneck, _) = d.delays();
                let line = |rate| Line {
                    rate,
                    delay: bottleneck,
                };
                let reverse = d.reverse_rate.unwrap_or(d.rate);
                let graph = Graph::dumbbell(line(d.rate), line(reverse));
                Ok(Plan::with_bottlenecks(
                    graph,
                    &d.queue,
                    d.reverse_queue.as_ref(),
                    d.buffer,
                ))
            }
            Topology::ParkingLot(p) => {
                let line = Line {
                    rate: p.rate,
                    delay: p.delay,
                };
                let lines = vec![line; usize::try_from(p.hops).unwrap_or(usize::MAX)];
                let graph = Graph::parking_lot(&lines, &lines);
                Ok(Plan::with_bottlenecks(
                    graph,
                    &p.queue,
                    p.reverse_queue.as_ref(),
                    p.buffer,
                ))
            }
            Topology::Chain(c) => {
                let line = Line {
                    rate: c.rate,
                    delay: c.delay,
                };
                let mut graph = Graph::default();
                let mut last = graph.add_node("n0");
                for hop in 1..=c.hops {
                    let next = graph.add_node(&format!("n{hop}"));
                    graph.add_bottleneck(last, next, line, line);
                    last = next;
                }
                Ok(Plan::with_bottlenecks(
                    graph,
                    &c.queue,
                    c.reverse_queue.as_ref(),
                    c.buffer,
                ))
            }
            Topology::Graph(links) => {
                let mut graph = Graph::default();
                let mut queues = Vec::new();
                for (link, i) in links.iter().zip(0..) {
                    let from = graph.add_node(&link.from);
                    let to = graph.add_node(&link.to);
                    if from == to {
                        return Err(bad(
                            scenario,
                            &format!("links[{i}]"),
                            &format!("a link from \"{}\" to itself", link.from),
                            "name two different nodes",
                        ));
                    }
                    let line = |rate| Line {
                        rate,
                        delay: link.delay,
                    };
                    graph.add_edge(from, to, line(link.rate), Role::Plain);
                    let reverse = link.reverse_rate.unwrap_or(link.rate);
                    graph.add_edge(to, from, line(reverse), Role::Plain);
                    let reverse = link.reverse_queue.as_ref().unwrap_or(&link.queue);
                    for (spec, key) in [(&link.queue, "queue"), (reverse, "reverse_queue")] {
                        queues.push(EdgeQueue {
                            spec: spec.clone(),
                            observed: link.observed,
                            key: format!("links[{i}].{key}"),
                        });
                    }
                }
                Ok(Plan { graph, queues })
            }
        }
    }

    fn with_bottlenecks(
        graph: Graph,
        queue: &Spec,
        reverse: Option<&Spec>,
        buffer: Option<Limit>,
    ) -> Plan {
        let forward = with_buffer(queue, buffer);
        let reverse = with_buffer(reverse.unwrap_or(queue), buffer);
        let queues = graph
            .edges
            .iter()
            .map(|edge| match edge.role {
                Role::Reverse => EdgeQueue {
                    spec: reverse.clone(),
                    observed: true,
                    key: "topology.reverse_queue".to_owned(),
                },
                _ => EdgeQueue {
                    spec: forward.clone(),
                    observed: true,
                    key: "topology.queue".to_owned(),
                },
            })
            .collect();
        Plan { graph, queues }
    }

    /// Attaches hosts and says where each flow runs.
    fn place_flows(&mut self, scenario: &Scenario) -> Result<Vec<Place>, LabError> {
        let total: u64 = scenario.flows.iter().map(|g| g.place.count).sum();
        let mut hosts = Hosts::new(total, scenario);
        let mut names = Names::default();
        let mut places = Vec::new();
        for (group, index) in scenario.flows.iter().zip(0..) {
            let label = group
                .place
                .label
                .clone()
                .unwrap_or_else(|| group.kind.clone());
            let to = group.place.to.as_ref();
            let to_group = scenario.groups.iter().position(|g| Some(&g.name) == to);
            for position in 0..group.place.count {
                let name = names.next(&label);
                let (source, sink) = self.ends(scenario, group, index, &name, &mut hosts)?;
                places.push(Place {
                    group: index,
                    name,
                    label: label.clone(),
                    forward: group.place.direction == Direction::Forward,
                    source,
                    sink,
                    to_group,
                    position,
                });
            }
        }
        Ok(places)
    }

    /// The nodes between which a flow runs, from its sender to its receiver.
    fn ends(
        &mut self,
        scenario: &Scenario,
        group: &FlowGroup,
        index: usize,
        name: &str,
        hosts: &mut Hosts,
    ) -> Result<(u32, u32), LabError> {
        let place = &group.place;
        let swap = |(a, b): (u32, u32)| match place.direction {
            Direction::Forward => (a, b),
            Direction::Reverse => (b, a),
        };
        if let (Some(from), Some(to)) = (&place.from, &place.to) {
            let node = |given: &String, key: &str| {
                self.graph.node(given).ok_or_else(|| {
                    unknown(
                        scenario,
                        &format!("flows[{index}].{key}"),
                        "node",
                        given,
                        self.graph.nodes.iter().map(String::as_str),
                    )
                })
            };
            if let Some(group) = scenario.groups.iter().position(|group| group.name == *to) {
                // Groups follow the nodes, all of which the links have named.
                let sink = self.graph.nodes.len() + group;
                let sink = u32::try_from(sink).expect("fewer than 2^32 nodes");
                return Ok((node(from, "from")?, sink));
            }
            let ends = (node(from, "from")?, node(to, "to")?);
            return match &scenario.topology {
                Topology::Graph(_) | Topology::Chain(_) => Ok(ends),
                _ => Ok(self.attach_pair(scenario, ends, name, hosts, place.rtt)),
            };
        }
        match &scenario.topology {
            Topology::Dumbbell(_) => Ok(swap(self.pair(scenario, name, hosts, place))),
            Topology::ParkingLot(p) => {
                let turn = hosts.flows_placed;
                hosts.flows_placed += 1;
                let last = u32::try_from(p.hops).unwrap_or(u32::MAX);
                let ends = match turn.checked_sub(p.end_to_end) {
                    None => (0, last),
                    Some(cross) => {
                        let hop = u32::try_from(cross % p.hops).unwrap_or(0);
                        (hop, hop + 1)
                    }
                };
                Ok(swap(self.attach_pair(scenario, ends, name, hosts, None)))
            }
            Topology::Chain(c) => Ok(swap((0, u32::try_from(c.hops).unwrap_or(u32::MAX)))),
            Topology::Graph(_) => Err(bad(
                scenario,
                &format!("flows[{index}]"),
                "a flow without from and to",
                "in a graph, name the node of the sender (from) and of the receiver (to)",
            )),
        }
    }

    /// The pair of hosts of a dumbbell whose turn it is. Flows of each direction take turns of their own.
    fn pair(
        &mut self,
        scenario: &Scenario,
        name: &str,
        hosts: &mut Hosts,
        place: &PlaceParams,
    ) -> (u32, u32) {
        let rtt = place.rtt;
        if rtt.is_none() {
            let reverse = usize::from(hosts.shared && place.direction == Direction::Reverse);
            let turn = hosts.turns[reverse];
            hosts.turns[reverse] = (turn + 1) % hosts.pairs;
            if let Some(ends) = hosts.made.get(turn) {
                return *ends;
            }
        }
        let ends = self.attach_pair(scenario, (0, 1), name, hosts, rtt);
        if rtt.is_none() {
            hosts.made.push(ends);
        }
        ends
    }

    /// A new host on each of two routers.
    fn attach_pair(
        &mut self,
        scenario: &Scenario,
        routers: (u32, u32),
        name: &str,
        hosts: &mut Hosts,
        rtt: Option<Span>,
    ) -> (u32, u32) {
        let line = hosts.access(scenario, rtt);
        hosts.attached += 1;
        let (source, sink) = match hosts.shared {
            true => (
                format!("src-{}", hosts.attached),
                format!("dst-{}", hosts.attached),
            ),
            false => (format!("{name}-src"), format!("{name}-dst")),
        };
        let ends = (
            self.graph.attach(routers.0, &source, line, line),
            self.graph.attach(routers.1, &sink, line, line),
        );
        while self.queues.len() < self.graph.edges.len() {
            self.queues.push(EdgeQueue {
                spec: hosts.queue.clone(),
                observed: false,
                key: "topology.access_queue".to_owned(),
            });
        }
        ends
    }
}

/// Hosts of a builder's topology.
struct Hosts {
    /// Pairs that flows take in turn.
    pairs: usize,
    /// Pairs are numbered, since flows share them.
    shared: bool,
    made: Vec<(u32, u32)>,
    /// Whose turn it is among the pairs: of flows forward, and of those in reverse.
    turns: [usize; 2],
    attached: u64,
    flows_placed: u64,
    queue: Spec,
}

impl Hosts {
    fn new(flows: u64, scenario: &Scenario) -> Hosts {
        let (pairs, queue) = match &scenario.topology {
            Topology::Dumbbell(d) => (d.pairs, d.access_queue.clone()),
            Topology::ParkingLot(p) => (None, p.access_queue.clone()),
            Topology::Chain(_) | Topology::Graph(_) => (None, Spec::new("droptail")),
        };
        Hosts {
            pairs: usize::try_from(pairs.unwrap_or(flows))
                .unwrap_or(usize::MAX)
                .max(1),
            shared: pairs.is_some(),
            made: Vec::new(),
            turns: [0; 2],
            attached: 0,
            flows_placed: 0,
            queue,
        }
    }

    /// The access link of a host whose flow wants the given base round trip.
    fn access(&self, scenario: &Scenario, rtt: Option<Span>) -> Line {
        match &scenario.topology {
            Topology::Dumbbell(d) => {
                let (bottleneck, access) = d.delays();
                let delay = rtt.map_or(access, |rtt| (rtt / 2).saturating_sub(bottleneck) / 2);
                Line {
                    rate: access_rate(d.access_rate, d.rate),
                    delay,
                }
            }
            Topology::ParkingLot(p) => Line {
                rate: access_rate(p.access_rate, p.rate),
                delay: p.access_delay,
            },
            Topology::Chain(_) | Topology::Graph(_) => unreachable!("these have no hosts"),
        }
    }
}

/// Numbers flows of one label.
#[derive(Default)]
struct Names(std::collections::BTreeMap<String, u64>);

impl Names {
    fn next(&mut self, label: &str) -> String {
        let count = self.0.entry(label.to_owned()).or_default();
        *count += 1;
        format!("{label}-{count}")
    }
}

fn link_index(
    scenario: &Scenario,
    compiled: &Compiled,
    key: &str,
    name: &str,
) -> Result<usize, LabError> {
    compiled
        .links
        .iter()
        .position(|link| link.name == name)
        .ok_or_else(|| {
            unknown(
                scenario,
                key,
                "link direction",
                name,
                compiled.links.iter().map(|link| link.name.as_str()),
            )
        })
}

fn apply_impairments(scenario: &Scenario, compiled: &mut Compiled) -> Result<(), LabError> {
    for (given, i) in scenario.impairments.iter().zip(0..) {
        let key = format!("impairments[{i}].link");
        let link = link_index(scenario, compiled, &key, &given.link)?;
        compiled.network.links[link].impairments = impairment(scenario, given, i)?;
    }
    Ok(())
}

fn impairment(
    scenario: &Scenario,
    given: &ImpairmentParams,
    index: usize,
) -> Result<ImpairmentSpec, LabError> {
    let loss = if let Some(list) = &given.loss_list {
        let mut numbers = Vec::new();
        for text in list.split(',') {
            numbers.push(text.trim().parse::<u64>().map_err(|_| {
                bad(
                    scenario,
                    &format!("impairments[{index}].loss_list"),
                    &format!("\"{text}\" is not a packet number"),
                    "write whole numbers from 0, separated by commas, such as \"20,22,24\"",
                )
            })?);
        }
        numbers.sort_unstable();
        numbers.dedup();
        Loss::List(numbers)
    } else if given.to_bad.get() > 0.0 {
        Loss::GilbertElliott {
            to_bad: given.to_bad.get(),
            to_good: given.to_good.get(),
            loss_good: given.loss.get(),
            loss_bad: given.loss_bad.get(),
        }
    } else if given.loss.get() > 0.0 {
        Loss::Bernoulli(given.loss.get())
    } else {
        Loss::None
    };
    Ok(ImpairmentSpec {
        loss,
        loss_at: match given.loss_at {
            LossPlace::Wire => LossAt::Wire,
            LossPlace::Queue => LossAt::Queue,
        },
        duplicate: given.duplicate.get(),
        jitter: given.jitter,
        reorder: given.reorder,
        bleach: given.bleach.get(),
        mark: given.mark.get(),
        outages: None,
    })
}

/// Gives links their schedules, and the mean rate of those.
fn apply_opportunities(
    scenario: &Scenario,
    replication: u64,
    compiled: &mut Compiled,
) -> Result<(), LabError> {
    for (given, i) in scenario.opportunities.iter().zip(0..) {
        let key = |key: &str| format!("opportunities[{i}].{key}");
        let link = link_index(scenario, compiled, &key("link"), &given.link)?;
        if compiled.network.ties == Ties::Ns2Clock {
            return Err(bad(
                scenario,
                &key("link"),
                "the clock of ns-2 has no links that send at opportunities",
                "leave out dialect = \"ns2\", or set run.ties = \"departures_first\"",
            ));
        }
        let name = format!("link/{}/opportunities", given.link);
        let mut stream = Stream::derive(scenario.run.seed, replication, &name);
        let schedule = opportunities::schedule(given, given.random_offset.then_some(&mut stream))
            .map_err(|(wrong, problem)| {
            bad(scenario, &key(wrong), &problem, "see [[opportunities]]")
        })?;
        let (spec, info) = (&mut compiled.network.links[link], &mut compiled.links[link]);
        spec.rate = schedule.rate();
        info.rate = spec.rate;
        info.opportunities = Some(schedule.clone());
        spec.opportunities = Some(schedule);
    }
    Ok(())
}

fn apply_changes(scenario: &Scenario, compiled: &mut Compiled) -> Result<(), LabError> {
    for (change, i) in scenario.changes.iter().zip(0..) {
        let key = format!("changes[{i}].link");
        let link = link_index(scenario, compiled, &key, &change.link)?;
        if change.rate.is_some() && compiled.links[link].opportunities.is_some() {
            return Err(bad(
                scenario,
                &format!("changes[{i}].rate"),
                &format!(
                    "{} sends at the opportunities of its schedule, not at a rate",
                    change.link
                ),
                "change its delay only, or leave out its [[opportunities]]",
            ));
        }
        let (at, every) = (Time::ZERO + change.at, change.every);
        let end = Time::ZERO + scenario.run.duration;
        let times = std::iter::successors(Some(at), |at| at.checked_add(every?));
        let due = times.take_while(|at| *at < end);
        if change.at.is_zero() {
            // Before the packets that agents send when they start.
            let (spec, info) = (&mut compiled.network.links[link], &mut compiled.links[link]);
            spec.rate = change.rate.unwrap_or(spec.rate);
            spec.delay = change.delay.unwrap_or(spec.delay);
            (info.rate, info.delay) = (spec.rate, spec.delay);
        }
        let state = change.state.map(|state| match (state, change.while_down) {
            (LinkPower::Up, _) => LinkState::Up,
            (LinkPower::Down, WhileDown::Wait) => LinkState::Down(Outage::Wait),
            (LinkPower::Down, WhileDown::Lose) => LinkState::Down(Outage::Lose),
        });
        if let Some(state) = state {
            let outages = &mut compiled.network.links[link].impairments.outages;
            let first = outages.get_or_insert_default();
            if change.at.is_zero() {
                *first = state;
            }
        }
        let later = due.filter(|at| *at > Time::ZERO);
        let later = later.map(|at| LinkChange {
            at,
            link,
            rate: change.rate,
            delay: change.delay,
            state,
        });
        compiled.changes.extend(later);
    }
    compiled
        .changes
        .sort_by_key(|change| (change.at, change.link));
    for pair in compiled.changes.windows(2) {
        if let [one, other] = pair
            && (one.at, one.link) == (other.at, other.link)
            && (one.rate.is_some() && other.rate.is_some()
                || one.delay.is_some() && other.delay.is_some()
                || one.state.is_some() && other.state.is_some())
        {
            let at = one.at.since(Time::ZERO);
            let link = &compiled.links[one.link].name;
            let problem = format!("{link} changes twice at {at}");
            return Err(LabError::new(LabErrorKind::Contradiction, problem)
                .key("changes")
                .remedy("let the two change at different times"));
        }
    }
    Ok(())
}

/// Adds a flow of a replication, with the number of its first random variable; says how many of these it takes.
fn add_flow(
    scenario: &Scenario,
    (replication, ns3_number): (u64, Option<u64>),
    place: &Place,
    (base_rtt, slowest): (Span, Rate),
    builder: &mut FlowBuilder,
    compiled: &mut Compiled,
) -> Result<u64, LabError> {
    let group = &scenario.flows[place.group];
    let stable = format!("flow/{}", place.name);
    let start = start_of(scenario, group, place, replication, &stable);
    let first = compiled.network.flows.len();
    let request = FlowRequest {
        flow: u32::try_from(first).expect("fewer than 2^32 flows"),
        name: &stable,
        dialect: scenario.dialect.as_deref(),
        seed: scenario.run.seed,
        replication,
        start,
        stop: group.place.stop.map(|stop| Time::ZERO + stop),
        ns3_number,
        capacity: slowest,
        shares: group.place.count,
    };
    let link_header = narrow(Conventions::of(scenario).link_header);
    let (built, endpoints) =
        groups::build(group, compiled, place, &request, (builder, link_header)).map_err(
            |error| {
                let key = match error.key() {
                    "flow" => format!("flows[{}]", place.group),
                    key => format!("flows[{}].{key}", place.group),
                };
                LabError::from_param(&error)
                    .in_file(&scenario.name)
                    .key(key)
            },
        )?;
    let session = place.to_group.filter(|_| groups::has_session(&group.kind));
    let joins = session.and_then(|to| groups::first_of_session(&group.kind, compiled, to));
    let members = match (session, joins) {
        (None, _) => Vec::new(),
        (Some(_), Some(first)) => {
            groups::agree(scenario, compiled, &compiled.flows[first], (&built, place))?;
            compiled.flows[first].members.clone()
        }
        (Some(to), None) => groups::seat_session(scenario, compiled, to, place, endpoints)?,
    };
    let network = &mut compiled.network;
    let mut add = |name: String, node: u32, agent: Endpoint| {
        network.agents.push(AgentSpec { name, node, agent });
        network.agents.len() - 1
    };
    let sender = add(format!("{stable}/sender"), place.source, built.sender);
    // A group's members are passive.
    let receiver = built
        .receiver
        .filter(|_| place.to_group.is_none())
        .map(|agent| add(format!("{stable}/receiver"), place.sink, agent));
    if let Some(to) = session {
        groups::seat_source(network, to, place, sender, start);
        groups::introduce(network, to, sender);
    }
    let dscp = u8::try_from(group.place.dscp).unwrap_or_default();
    for connection in 1..=built.connections {
        let member = usize::try_from(connection)
            .ok()
            .and_then(|connection| members.get(connection.checked_sub(2)?).copied());
        let name = match built.connections {
            1 => stable.clone(),
            _ => format!("{stable}/connection-{connection}"),
        };
        network.flows.push(FlowSpec {
            name,
            dscp,
            source: member.map_or(place.source, |member| network.agents[member].node),
            sink: place.sink,
            sender: u32::try_from(member.unwrap_or(sender)).expect("fewer than 2^32 agents"),
            receiver: receiver.map(|r| u32::try_from(r).expect("fewer than 2^32 agents")),
        });
    }
    let flows = first..network.flows.len();
    let own = match session.filter(|_| group.kind == RTP) {
        Some(_) => first..first + 1,
        None => flows.clone(),
    };
    let release = built
        .parts
        .first()
        .map_or("", |(_, resolved)| resolved.release);
    compiled.flows.push(FlowInfo {
        link_header,
        name: place.name.clone(),
        label: place.label.clone(),
        kind: group.kind.clone(),
        release: release.to_owned(),
        parts: built.parts,
        forward: place.forward,
        sender,
        receiver,
        members,
        source: place.source,
        sink: place.sink,
        group: place.to_group,
        base_rtt,
        start,
        network: flows,
        own,
        slowest,
    });
    Ok(built.ns3_numbers)
}

/// When a flow starts: as given, at zero in a deterministic run, or at random within the spread.
fn start_of(
    scenario: &Scenario,
    group: &FlowGroup,
    place: &Place,
    replication: u64,
    stable: &str,
) -> Time {
    if let Some(start) = group.place.start {
        return Time::ZERO + start + group.place.stagger * place.position;
    }
    if scenario.run.deterministic {
        return Time::ZERO + group.place.stagger * place.position;
    }
    let spread = scenario.run.start_spread.as_ps();
    let mut stream = Stream::derive(scenario.run.seed, replication, &format!("{stable}/start"));
    Time::from_ps(stream.below(spread.saturating_add(1)))
}

/// The routes of every flow, to tell base round trips.
struct Paths {
    links: Vec<(u32, u32)>,
    routes: Routes,
}

impl Paths {
    /// The edges on the shortest path between two nodes, in order.
    fn edges(&self, from: u32, to: u32) -> Vec<usize> {
        let path = self.routes.path(from, to, &self.links);
        path.into_iter()
            .flatten()
            .filter_map(|link| usize::try_from(link).ok())
            .collect()
    }

    fn new(graph: &Graph, places: &[Place], groups: &[GroupInfo]) -> Paths {
        let links: Vec<(u32, u32)> = graph.edges.iter().map(|e| (e.from, e.to)).collect();
        let mut ends: Vec<u32> = places.iter().map(|place| place.source).collect();
        ends.extend(places.iter().flat_map(|place| place.sinks(groups)));
        let routes = Routes::shortest(graph.nodes.len(), &links, &ends);
        Paths { links, routes }
    }

    /// Propagation from the sender to the receiver and back, over shortest paths, and the rate of the slowest link on the way
    /// there; zero, and without bound, if there is none. Of several receivers, the longest and the slowest.
    fn of(&self, graph: &Graph, source: u32, sinks: &[u32]) -> (Span, Rate) {
        let edges = |from, to| {
            let path = self.edges(from, to).into_iter();
            path.filter_map(|link| graph.edges.get(link))
        };
        let there = sinks.iter().flat_map(|sink| edges(source, *sink));
        let slowest = there.map(|edge| edge.rate).min();
        let both = sinks.iter().map(|sink| {
            let both = edges(source, *sink).chain(edges(*sink, source));
            both.map(|edge| edge.delay).sum()
        });
        (
            both.max().unwrap_or(Span::ZERO),
            slowest.unwrap_or(Rate::bps(u64::MAX)),
        )
    }
}

/// A number of a scenario as the network has it.
fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
