//! Where everything is: routers and links under study, hosts, and the nodes between which flows run.

use sojourn_scenario::LabError;
use sojourn_scenario::model::{Direction, DumbbellParams, PlaceParams};
use sojourn_scenario::resolved::{Flow, Link, Network, Pair, Pipe, Queue, Resolved};
use sojourn_sim::topology::{Graph, Line, Role};
use sojourn_units::Span;

use super::parts::{Place, bad, unknown};

/// The queue of a graph edge.
pub(super) struct EdgeQueue<'a> {
    pub(super) queue: &'a Queue,
    pub(super) observed: bool,
}

/// The graph, and the queue of each of its edges.
pub(super) struct Plan<'a> {
    pub(super) graph: Graph,
    pub(super) queues: Vec<EdgeQueue<'a>>,
}

fn line(pipe: &Pipe) -> Line {
    Line {
        rate: pipe.rate,
        delay: pipe.delay,
    }
}

impl<'a> Plan<'a> {
    /// The routers and links under study.
    ///
    /// # Errors
    /// If a link leads from a node to itself.
    pub(super) fn new(scenario: &'a Resolved) -> Result<Plan<'a>, LabError> {
        let lines = |pair: &Pair| (line(&pair.forward), line(&pair.reverse));
        Ok(match &scenario.network {
            Network::Dumbbell { bottleneck, .. } => {
                let (forward, reverse) = lines(bottleneck);
                Plan::with_bottlenecks(Graph::dumbbell(forward, reverse), bottleneck)
            }
            Network::ParkingLot {
                hops, bottleneck, ..
            } => {
                let (forward, reverse) = lines(bottleneck);
                let hops = usize::try_from(*hops).unwrap_or(usize::MAX);
                let graph = Graph::parking_lot(&vec![forward; hops], &vec![reverse; hops]);
                Plan::with_bottlenecks(graph, bottleneck)
            }
            Network::Chain { hops, link, .. } => {
                let (forward, reverse) = lines(link);
                let mut graph = Graph::default();
                let mut last = graph.add_node("n0");
                for hop in 1..=*hops {
                    let next = graph.add_node(&format!("n{hop}"));
                    graph.add_bottleneck(last, next, forward, reverse);
                    last = next;
                }
                Plan::with_bottlenecks(graph, link)
            }
            Network::Graph(links) => Plan::of_links(scenario, links)?,
        })
    }

    fn of_links(scenario: &Resolved, links: &'a [Link]) -> Result<Plan<'a>, LabError> {
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
            let Pair { forward, reverse } = &link.pair;
            graph.add_edge(from, to, line(forward), Role::Plain);
            graph.add_edge(to, from, line(reverse), Role::Plain);
            for pipe in [forward, reverse] {
                queues.push(EdgeQueue {
                    queue: &pipe.queue,
                    observed: link.observed,
                });
            }
        }
        Ok(Plan { graph, queues })
    }

    fn with_bottlenecks(graph: Graph, pair: &'a Pair) -> Plan<'a> {
        let queue = |role| match role {
            Role::Reverse => &pair.reverse.queue,
            _ => &pair.forward.queue,
        };
        let queues = graph.edges.iter().map(|edge| EdgeQueue {
            queue: queue(edge.role),
            observed: true,
        });
        Plan {
            queues: queues.collect(),
            graph,
        }
    }

    /// Attaches hosts and says where each flow runs.
    pub(super) fn place_flows(&mut self, scenario: &'a Resolved) -> Result<Vec<Place>, LabError> {
        let total: u64 = scenario.flows.iter().map(|g| g.place.count).sum();
        let mut hosts = Hosts::new(total, scenario);
        let mut names = Names::default();
        let mut places = Vec::new();
        for (group, index) in scenario.flows.iter().zip(0..) {
            let label = &group.label;
            let to = group.place.to.as_ref();
            let to_group = scenario.groups.iter().position(|g| Some(&g.name) == to);
            for position in 0..group.place.count {
                let name = names.next(label);
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
        scenario: &'a Resolved,
        group: &Flow,
        index: usize,
        name: &str,
        hosts: &mut Hosts<'a>,
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
            return match &scenario.network {
                Network::Graph(_) | Network::Chain { .. } => Ok(ends),
                _ => Ok(self.attach_pair(ends, name, hosts, place.rtt)),
            };
        }
        match &scenario.network {
            Network::Dumbbell { .. } => Ok(swap(self.pair(name, hosts, place))),
            Network::ParkingLot {
                hops, end_to_end, ..
            } => {
                let turn = hosts.flows_placed;
                hosts.flows_placed += 1;
                let last = u32::try_from(*hops).unwrap_or(u32::MAX);
                let ends = match turn.checked_sub(*end_to_end) {
                    None => (0, last),
                    Some(cross) => {
                        let hop = u32::try_from(cross % hops).unwrap_or(0);
                        (hop, hop + 1)
                    }
                };
                Ok(swap(self.attach_pair(ends, name, hosts, None)))
            }
            Network::Chain { hops, .. } => Ok(swap((0, u32::try_from(*hops).unwrap_or(u32::MAX)))),
            Network::Graph(_) => Err(bad(
                scenario,
                &format!("flows[{index}]"),
                "a flow without from and to",
                "in a graph, name the node of the sender (from) and of the receiver (to)",
            )),
        }
    }

    /// The pair of hosts of a dumbbell whose turn it is. Flows of each direction take turns of their own.
    fn pair(&mut self, name: &str, hosts: &mut Hosts<'a>, place: &PlaceParams) -> (u32, u32) {
        let rtt = place.rtt;
        if rtt.is_none() {
            let reverse = usize::from(hosts.shared && place.direction == Direction::Reverse);
            let turn = hosts.turns[reverse];
            hosts.turns[reverse] = (turn + 1) % hosts.pairs;
            if let Some(ends) = hosts.made.get(turn) {
                return *ends;
            }
        }
        let ends = self.attach_pair((0, 1), name, hosts, rtt);
        if rtt.is_none() {
            hosts.made.push(ends);
        }
        ends
    }

    /// A new host on each of two routers.
    fn attach_pair(
        &mut self,
        routers: (u32, u32),
        name: &str,
        hosts: &mut Hosts<'a>,
        rtt: Option<Span>,
    ) -> (u32, u32) {
        let (line, queue) = hosts.access(rtt);
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
                queue,
                observed: false,
            });
        }
        ends
    }
}

/// Hosts of a builder's topology.
struct Hosts<'a> {
    /// Pairs that flows take in turn.
    pairs: usize,
    /// Pairs are numbered, since flows share them.
    shared: bool,
    made: Vec<(u32, u32)>,
    /// Whose turn it is among the pairs: of flows forward, and of those in reverse.
    turns: [usize; 2],
    attached: u64,
    flows_placed: u64,
    /// The access link of each; none in a topology whose flows run between its own nodes.
    access: Option<&'a Pipe>,
    /// One-way propagation of the bottleneck between them.
    bottleneck: Span,
}

impl<'a> Hosts<'a> {
    fn new(flows: u64, scenario: &'a Resolved) -> Hosts<'a> {
        let (pairs, access, between) = match &scenario.network {
            Network::Dumbbell {
                bottleneck,
                access,
                pairs,
                ..
            } => (*pairs, Some(access), bottleneck.forward.delay),
            Network::ParkingLot {
                bottleneck, access, ..
            } => (None, Some(access), bottleneck.forward.delay),
            Network::Chain { .. } | Network::Graph(_) => (None, None, Span::ZERO),
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
            access,
            bottleneck: between,
        }
    }

    /// The access link of a host, and its queue. A flow that wants a base round trip of its own gets the delay for it.
    fn access(&self, rtt: Option<Span>) -> (Line, &'a Queue) {
        let access = self.access.expect("these topologies have hosts");
        let own = |rtt: Span| DumbbellParams::access_delay_for(rtt, self.bottleneck);
        let delay = rtt.map_or(access.delay, own);
        let line = Line {
            rate: access.rate,
            delay,
        };
        (line, &access.queue)
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
