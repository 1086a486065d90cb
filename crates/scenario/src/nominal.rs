//! What limits in time and in bandwidth-delay products are computed with: nominal rates, base round trips, sizes of full packets.
//!
//! The nominal rate of a link is the one that is declared: `[[changes]]` do not count, and a link with `[[opportunities]]` has none. The base
//! round trip is propagation alone, there and back along the flow's routes, as declared, too. Of the flows that cross a link in either
//! direction, with data or with what answers it, the longest counts; all bottlenecks of a builder's topology are of one size, so that all
//! flows that cross any of them count together, and so do the access links.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use sojourn_queue::registry::SpecError;
use sojourn_queue::sizing::{FULL_PACKET, LinkSpeed, SizedLimit, depends_on_link, sized};
use sojourn_sim::routing::Routes;
use sojourn_sim::topology::{Graph, Line, Role};
use sojourn_units::{Buffer, Bytes, Rate, Span, Spec};

use crate::dialect::access_rate;
use crate::model::{Direction, DumbbellParams, FlowGroup, Scenario, Topology};
use crate::reader::resolve_flow;

/// The links that a queue of a scenario stands before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Before {
    /// The bottlenecks of a builder's topology, from left to right.
    Forward,
    /// The bottlenecks of a builder's topology, from right to left.
    Reverse,
    /// The access links.
    Access,
    /// The link of this number, from `from` to `to`.
    Link(usize),
    /// The link of this number, from `to` to `from`.
    LinkBack(usize),
}

/// Computes what a scenario says of its links, once something asks.
pub(crate) struct Nominal<'a> {
    scenario: &'a Scenario,
    network: OnceCell<Crossed>,
}

/// The longest base round trip and the largest packet of flows.
#[derive(Clone, Copy, Default, Debug)]
struct Longest(Option<(Span, Bytes)>);

impl Longest {
    fn add(&mut self, round_trip: Span, packet: Bytes) {
        let (longest, largest) = self.0.unwrap_or_default();
        self.0 = Some((longest.max(round_trip), largest.max(packet)));
    }

    fn join(&mut self, other: Longest) {
        if let Some((round_trip, packet)) = other.0 {
            self.add(round_trip, packet);
        }
    }
}

/// The links of a scenario without those of hosts, and the flows that cross them.
struct Crossed {
    graph: Graph,
    /// Of the flows that cross each edge.
    edges: Vec<Longest>,
    /// Of all flows.
    all: Longest,
}

impl<'a> Nominal<'a> {
    pub(crate) fn of(scenario: &'a Scenario) -> Nominal<'a> {
        Nominal {
            scenario,
            network: OnceCell::new(),
        }
    }

    /// The specification with bytes or packets in place of limits that depend on the link, and what was replaced.
    ///
    /// # Errors
    /// If what they need is not known.
    pub(crate) fn sized(
        &self,
        spec: &Spec,
        before: Before,
    ) -> Result<(Spec, Vec<SizedLimit>), SpecError> {
        match depends_on_link(spec) {
            true => sized(spec, self.scenario.dialect.as_deref(), &self.link(before)),
            false => Ok((spec.clone(), Vec::new())),
        }
    }

    /// What is known of the links before which a queue stands.
    fn link(&self, before: Before) -> LinkSpeed {
        let crossed = self.network.get_or_init(|| Crossed::of(self.scenario));
        let numbers = crossed.numbers(before);
        let mut longest = Longest::default();
        for number in &numbers {
            longest.join(crossed.edges[*number]);
        }
        if before == Before::Access {
            longest = crossed.all;
        }
        let scheduled = numbers.iter().any(|number| {
            let name = crossed.graph.edge_name(&crossed.graph.edges[*number]);
            self.scenario
                .opportunities
                .iter()
                .any(|schedule| schedule.link == name)
        });
        let rate = match before {
            Before::Access => access_rate_of(&self.scenario.topology),
            _ => numbers
                .first()
                .map(|number| crossed.graph.edges[*number].rate),
        };
        LinkSpeed {
            rate: rate.filter(|_| !scheduled),
            round_trip: longest.0.map(|(round_trip, _)| round_trip),
            packet: longest.0.map_or(FULL_PACKET, |(_, packet)| packet),
        }
    }
}

/// The links that a queue stands before whose link direction has this name; those without one of their own are access links.
pub(crate) fn before(topology: &Topology, name: &str) -> Before {
    let graph = graph_of(topology);
    let mut edges = graph.edges.iter();
    match edges.position(|edge| graph.edge_name(edge) == name) {
        Some(number) if number % 2 == 0 => Before::Link(number / 2),
        Some(number) => Before::LinkBack(number / 2),
        None => Before::Access,
    }
}

/// The limit that a topology sets for the queues that stand there.
pub(crate) fn buffer_of(topology: &Topology, before: Before) -> Option<Buffer> {
    match topology {
        _ if before == Before::Access => None,
        Topology::Dumbbell(params) => params.buffer,
        Topology::ParkingLot(params) => params.buffer,
        Topology::Chain(params) => params.buffer,
        Topology::Graph(_) => None,
    }
}

fn access_rate_of(topology: &Topology) -> Option<Rate> {
    match topology {
        Topology::Dumbbell(params) => Some(access_rate(params.access_rate, params.rate)),
        Topology::ParkingLot(params) => Some(access_rate(params.access_rate, params.rate)),
        Topology::Chain(_) | Topology::Graph(_) => None,
    }
}

impl Crossed {
    fn of(scenario: &Scenario) -> Crossed {
        let graph = graph_of(&scenario.topology);
        let mut crossed = Crossed {
            edges: vec![Longest::default(); graph.edges.len()],
            graph,
            all: Longest::default(),
        };
        let trips = trips(scenario, &crossed.graph);
        let links: Vec<(u32, u32)> = crossed.graph.edges.iter().map(|e| (e.from, e.to)).collect();
        let mut ends: Vec<u32> = trips
            .iter()
            .flat_map(|trip| [trip.ends.0, trip.ends.1])
            .collect();
        ends.sort_unstable();
        ends.dedup();
        let routes = Routes::shortest(crossed.graph.nodes.len(), &links, &ends);
        for trip in trips {
            let (from, to) = trip.ends;
            let there = routes.path(from, to, &links).unwrap_or_default();
            let back = routes.path(to, from, &links).unwrap_or_default();
            let both = there.into_iter().chain(back);
            let both: Vec<usize> = both.filter_map(|link| usize::try_from(link).ok()).collect();
            let delays = both.iter().map(|edge| crossed.graph.edges[*edge].delay);
            let round_trip = delays.fold(trip.access, Span::saturating_add);
            for edge in both {
                crossed.edges[edge].add(round_trip, trip.packet);
            }
            crossed.all.add(round_trip, trip.packet);
        }
        crossed
    }

    /// The edges before which a queue stands.
    fn numbers(&self, before: Before) -> Vec<usize> {
        let of_role = |role: Role| {
            let edges = self.graph.edges.iter().enumerate();
            edges
                .filter(|(_, edge)| edge.role == role)
                .map(|(number, _)| number)
                .collect()
        };
        match before {
            Before::Forward => of_role(Role::Bottleneck),
            Before::Reverse => of_role(Role::Reverse),
            Before::Access => Vec::new(),
            Before::Link(link) => vec![2 * link],
            Before::LinkBack(link) => vec![2 * link + 1],
        }
    }
}

/// The links of a topology without those of hosts. Each link of a graph has its two edges one after the other.
fn graph_of(topology: &Topology) -> Graph {
    let row = |hops: u64, forward: Line, reverse: Line| {
        let hops = usize::try_from(hops).unwrap_or(usize::MAX);
        (vec![forward; hops], vec![reverse; hops])
    };
    match topology {
        Topology::Dumbbell(params) => {
            let (delay, _) = params.delays();
            let line = |rate| Line { rate, delay };
            let reverse = params.reverse_rate.unwrap_or(params.rate);
            Graph::dumbbell(line(params.rate), line(reverse))
        }
        Topology::ParkingLot(params) => {
            let (rate, delay) = (params.rate, params.delay);
            let (forward, reverse) = row(params.hops, Line { rate, delay }, Line { rate, delay });
            Graph::parking_lot(&forward, &reverse)
        }
        Topology::Chain(params) => {
            let (rate, delay) = (params.rate, params.delay);
            let mut graph = Graph::default();
            let mut last = graph.add_node("n0");
            for hop in 1..=params.hops {
                let next = graph.add_node(&format!("n{hop}"));
                graph.add_bottleneck(last, next, Line { rate, delay }, Line { rate, delay });
                last = next;
            }
            graph
        }
        Topology::Graph(links) => {
            let mut graph = Graph::default();
            for link in links {
                let (from, to) = (graph.add_node(&link.from), graph.add_node(&link.to));
                let line = |rate| Line {
                    rate,
                    delay: link.delay,
                };
                let back = link.reverse_rate.unwrap_or(link.rate);
                graph.add_edge(from, to, line(link.rate), Role::Plain);
                graph.add_edge(to, from, line(back), Role::Plain);
            }
            graph
        }
    }
}

/// Between which nodes of the graph flows run, how long the way over access links is, both ways, and what a full packet is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Trip {
    ends: (u32, u32),
    access: Span,
    packet: Bytes,
}

/// The trips of all flows, each once.
fn trips(scenario: &Scenario, graph: &Graph) -> BTreeSet<Trip> {
    let mut trips = BTreeSet::new();
    // Flows of a parking lot without ends of their own take its hops in turn.
    let mut turn = 0;
    for flow in &scenario.flows {
        let place = &flow.place;
        let swap = |(a, b): (u32, u32)| match place.direction {
            Direction::Forward => (a, b),
            Direction::Reverse => (b, a),
        };
        let to_group = scenario
            .groups
            .iter()
            .find(|group| Some(&group.name) == place.to.as_ref());
        let ends: Vec<(u32, u32)> = match (&place.from, &place.to, &scenario.topology) {
            (Some(from), Some(to), _) => {
                let members = scenario.members.iter();
                let members = members.filter(|stay| to_group.is_some_and(|g| g.name == stay.group));
                let sinks = members.map(|stay| &stay.node);
                let sinks: Vec<&String> = sinks.chain(to_group.is_none().then_some(to)).collect();
                let sinks = sinks.into_iter().filter_map(|sink| graph.node(sink));
                let from = graph.node(from);
                sinks.filter_map(|sink| Some((from?, sink))).collect()
            }
            (_, _, Topology::Dumbbell(_)) => vec![swap((0, 1))],
            (_, _, Topology::ParkingLot(params)) => {
                let turns = turn..turn + place.count;
                turn += place.count;
                let ends = turns.map(|turn| match turn.checked_sub(params.end_to_end) {
                    None => (0, params.hops),
                    Some(cross) => (cross % params.hops, cross % params.hops + 1),
                });
                let node = |hop: u64| u32::try_from(hop).unwrap_or(u32::MAX);
                ends.map(|(a, b)| swap((node(a), node(b)))).collect()
            }
            (_, _, Topology::Chain(params)) => {
                vec![swap((0, u32::try_from(params.hops).unwrap_or(u32::MAX)))]
            }
            (_, _, Topology::Graph(_)) => Vec::new(),
        };
        let packet = full_packet(flow, scenario.dialect.as_deref(), to_group.is_some());
        let access = access_of(&scenario.topology, place.rtt);
        trips.extend(ends.into_iter().map(|ends| Trip {
            ends,
            access,
            packet,
        }));
    }
    trips
}

/// Propagation over the access links of a flow, both ways at both ends.
fn access_of(topology: &Topology, own: Option<Span>) -> Span {
    let one = match topology {
        Topology::Dumbbell(params) => {
            let (bottleneck, access) = params.delays();
            own.map_or(access, |rtt| {
                DumbbellParams::access_delay_for(rtt, bottleneck)
            })
        }
        Topology::ParkingLot(params) => params.access_delay,
        Topology::Chain(_) | Topology::Graph(_) => Span::ZERO,
    };
    one.checked_mul(4).unwrap_or(Span::MAX)
}

/// The size of a full packet of a flow, with its headers; that of Ethernet where its parameters do not say it.
fn full_packet(flow: &FlowGroup, dialect: Option<&str>, to_group: bool) -> Bytes {
    let args = resolve_flow(&flow.kind, &flow.args, dialect, to_group);
    let bytes = |wanted: &str| -> Option<Bytes> {
        let (_, text) = args.iter().find(|(key, _)| key == wanted)?;
        text.parse().ok()
    };
    let mut payloads = ["mss", "segment", "payload", "size"].into_iter();
    match payloads.find_map(bytes) {
        Some(payload) => payload.saturating_add(bytes("headers").unwrap_or_default()),
        None => FULL_PACKET,
    }
}
