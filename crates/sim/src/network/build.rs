//! How a network is built from its description.

use super::core::{Again, Core, Seat};
use super::flow::{Flow, Way};
use super::frame::Frame;
use super::groups::{self, BEYOND, FRESH, Groups};
use super::host::Cx;
use super::quiet::Quiet;
use super::rank::rank;
use super::{
    BuildError, Census, Component, FlowCounts, FlowSpec, Key, LinkSpec, MAX_HOPS, Network,
    NetworkSpec,
};
use crate::agent::Agent;
use crate::fel::{AutoList, EventList};
use crate::impair::Impairments;
use crate::link::{Link, LinkShape, Ties};
use crate::ns2_time;
use crate::packet::NONE;
use crate::port::FastPort;
use crate::routing::Routes;
use crate::slab::{Slab, to_usize};
use crate::trace::Tracer;
use sojourn_units::Time;

impl<P: FastPort, A: Agent, T: Tracer> Network<P, A, T> {
    /// Builds the network and lets every endpoint start.
    ///
    /// # Errors
    /// If a flow has no path, a path is too long, or two components share a name.
    pub fn build(spec: NetworkSpec<P, A>, tracer: T) -> Result<Self, BuildError> {
        Self::build_with(spec, tracer, true)
    }

    /// As [`Network::build`], for flows whose receivers never answer: no way back is asked for.
    ///
    /// # Errors
    /// As [`Network::build`].
    pub fn build_one_way(spec: NetworkSpec<P, A>, tracer: T) -> Result<Self, BuildError> {
        Self::build_with(spec, tracer, false)
    }

    fn build_with(
        mut spec: NetworkSpec<P, A>,
        tracer: T,
        way_back: bool,
    ) -> Result<Self, BuildError> {
        let plan = Plan::of(&spec);
        plan.check_paths(&spec, way_back)?;
        let quiet = plan.quiet(&spec, T::ON);
        let (mut components, link_ids, agent_ids) = rank(
            spec.links
                .iter()
                .map(|l| (l.name.as_str(), plan.departs(l), plan.plain(l))),
            spec.agents.iter().map(|a| a.name.as_str()),
            !spec.groups.is_empty(),
        )?;
        let is_groups = |component: &Component| matches!(component, Component::Groups);
        let groups_id = components.iter().position(is_groups);
        let groups = Groups::new(
            std::mem::take(&mut spec.groups),
            plan.first_group,
            &plan.ends,
            &spec.flows,
            groups_id.map_or(NONE, groups::count),
        );
        groups.check(&plan.routes, &spec.nodes)?;
        name_quiet(&mut components, &quiet, &link_ids);
        let seats = plan.seats(&spec, &quiet, &agent_ids);
        let frame = Frame {
            traced: (Key::default(), 0),
            tracer,
            flows: plan.flows(&spec.flows),
            groups,
            slab: Slab::default(),
            census: Census::default(),
            ahead: 0,
            launched: 0,
            ns2_clock: ns2_time::Clock::default(),
        };
        let link_names = spec.links.iter().map(|l| l.name.clone()).collect();
        let core = Core {
            key: Key::default(),
            horizon: Time::ZERO,
            due: Vec::with_capacity(spec.links.len()),
            fel: AutoList::with_components(components.len()),
            again: Again::default(),
            on_ns2_clock: spec.ties == Ties::Ns2Clock,
            links: plan.links(&mut spec, &quiet, &link_ids, T::ON),
            seats,
            routes: plan.routes,
            frame,
        };
        let mut network = Network {
            core,
            agents: spec.agents.into_iter().map(|a| a.agent).collect(),
            components,
            quiet,
            link_names,
            flow_names: spec.flows.into_iter().map(|f| f.name).collect(),
            node_names: spec.nodes,
            link_ends: plan.ends,
            measuring_from: Time::ZERO,
            finished: false,
        };
        network.start();
        Ok(network)
    }

    /// Every endpoint starts.
    fn start(&mut self) {
        self.core.change_groups();
        for (agent, i) in self.agents.iter_mut().zip(0..) {
            agent.on_start(&mut Cx {
                core: &mut self.core,
                agent: i,
            });
        }
        for i in 0..self.quiet.outlets.len() {
            self.go_on(self.quiet.outlets[i].1);
        }
        if !self.core.frame.groups.is_empty() {
            self.core.list_groups();
        }
        self.core.tell_flows();
    }
}

/// Links that need few events are components of their own kind.
fn name_quiet(components: &mut [Component], quiet: &Quiet, link_ids: &[u32]) {
    for (link, _) in &quiet.outlets {
        components[to_usize(link_ids[to_usize(*link)])] = Component::Outlet(*link);
    }
    for (link, id) in (0..).zip(link_ids) {
        if quiet.feeding(link).feeds {
            components[to_usize(*id)] = Component::Feeder(link);
        }
    }
}

/// What the description says of the network as a whole.
struct Plan {
    /// Links are eager.
    eager: bool,
    /// Nodes at the head and the far end of each link.
    ends: Vec<(u32, u32)>,
    /// The destination from which on there are groups in place of nodes.
    first_group: u32,
    /// The ways to the nodes at which flows begin and end, and to groups.
    routes: Routes,
}

impl Plan {
    /// Finds the ways through the network.
    fn of<P, A>(spec: &NetworkSpec<P, A>) -> Plan {
        let ends: Vec<(u32, u32)> = spec.links.iter().map(|l| (l.from, l.to)).collect();
        let nodes = spec.nodes.len();
        let first_group = groups::count(nodes);
        let to_nodes = spec.flows.iter().filter(|flow| flow.sink < first_group);
        let mut endpoints: Vec<u32> = spec.flows.iter().map(|f| f.source).collect();
        endpoints.extend(to_nodes.map(|f| f.sink));
        let routes = if spec.groups.is_empty() {
            Routes::shortest(nodes, &ends, &endpoints)
        } else {
            let (points, aliases) = Groups::destinations(&spec.groups);
            endpoints.extend(points);
            Routes::with_aliases(nodes, &ends, &endpoints, &aliases)
        };
        Plan {
            eager: spec.eager || spec.ties == Ties::Ns2Clock,
            ends,
            first_group,
            routes,
        }
    }

    /// Every flow to a node has a path there, and a path back where there is to be one.
    fn check_paths<P, A>(
        &self,
        spec: &NetworkSpec<P, A>,
        way_back: bool,
    ) -> Result<(), BuildError> {
        let to_node = |flow: &&FlowSpec| flow.sink < self.first_group;
        for flow in spec.flows.iter().filter(to_node) {
            let ways = [(flow.source, flow.sink), (flow.sink, flow.source)];
            for (from, to) in ways.into_iter().take(1 + usize::from(way_back)) {
                let node_name = |i: u32| spec.nodes.get(to_usize(i)).cloned().unwrap_or_default();
                match self.routes.path_length(from, to, &self.ends) {
                    None => {
                        return Err(BuildError::Unreachable {
                            flow: flow.name.clone(),
                            from: node_name(from),
                            to: node_name(to),
                        });
                    }
                    Some(links) if links > usize::from(MAX_HOPS) => {
                        return Err(BuildError::TooFar {
                            flow: flow.name.clone(),
                            links,
                        });
                    }
                    Some(_) => {}
                }
            }
        }
        Ok(())
    }

    /// The departures of a link are events in their own right.
    fn departs<P: FastPort>(&self, link: &LinkSpec<P>) -> bool {
        self.eager
            || link.impairments.reorder
            || link.port.caps().shapes
            || link.impairments.outages.is_some()
    }

    /// The link is lazy, without impairments and device queue.
    fn bare<P: FastPort>(&self, link: &LinkSpec<P>) -> bool {
        !self.eager && link.device_queue == 0 && link.impairments.is_none()
    }

    /// Its one event is the next arrival at its far end.
    fn plain<P: FastPort>(&self, link: &LinkSpec<P>) -> bool {
        self.bare(link) && !self.departs(link)
    }

    /// Which links need few events or none.
    fn quiet<P: FastPort, A>(&self, spec: &NetworkSpec<P, A>, traced: bool) -> Quiet {
        // What is traced happens in its time, and so does what is sent to groups.
        if traced || !spec.groups.is_empty() {
            return Quiet::default();
        }
        let seats: Vec<u32> = spec.agents.iter().map(|a| a.node).collect();
        let link = |number: u32| &spec.links[to_usize(number)];
        let shaper = |number: u32| self.bare(link(number)) && link(number).port.caps().shapes;
        let plain = |number: u32| self.plain(link(number));
        let lets_through =
            |number: u32| spec.ties == Ties::DeparturesFirst && link(number).port.caps().bypass;
        Quiet::of(
            &spec.flows,
            &seats,
            &self.routes,
            &self.ends,
            plain,
            shaper,
            lets_through,
        )
    }

    /// Where the endpoints sit, and what each has to do with flows.
    fn seats<P, A>(&self, spec: &NetworkSpec<P, A>, quiet: &Quiet, agent_ids: &[u32]) -> Vec<Seat> {
        let mut outlets = vec![NONE; spec.agents.len()];
        for (link, agent) in &quiet.outlets {
            outlets[to_usize(*agent)] = *link;
        }
        // Of each endpoint: its flow, the other end of it, and whether it answers there.
        let mut ends_of: Vec<Option<(u32, u32, bool)>> = vec![None; spec.agents.len()];
        let mut count_of = vec![0_u32; spec.agents.len()];
        for (flow, number) in spec.flows.iter().zip(0..) {
            let receiver = flow.receiver.map(|agent| (agent, flow.source, true));
            let sender = (flow.sender, address(flow, self.first_group), false);
            for (agent, peer, answers) in receiver.into_iter().chain([sender]) {
                ends_of[to_usize(agent)] = Some((number, peer, answers));
                count_of[to_usize(agent)] += 1;
            }
        }
        let seat = |i: usize| {
            let only = ends_of[i].filter(|_| count_of[i] == 1);
            let (flow, peer, answers) = only.unwrap_or((NONE, NONE, false));
            let own = spec.flows.get(to_usize(flow));
            let node = spec.agents[i].node;
            Seat {
                wakes: Time::MAX,
                armed: Time::ZERO,
                sent: (0, 0),
                flow,
                peer,
                exit: only.map_or(NONE, |_| self.routes.next(node, peer)),
                id: agent_ids[i],
                node,
                outlet: outlets[i],
                answers,
                tos: own.map_or(0, |flow| flow.dscp << 2),
            }
        };
        (0..spec.agents.len()).map(seat).collect()
    }

    /// The flows, nothing counted yet.
    fn flows(&self, flows: &[FlowSpec]) -> Vec<Flow> {
        let flow = |f: &FlowSpec| {
            let way = |node, receiver| Way {
                counts: FlowCounts::default(),
                node,
                receiver,
                tos: f.dscp << 2,
            };
            Flow {
                ways: [
                    way(address(f, self.first_group), f.receiver.unwrap_or(NONE)),
                    way(f.source, f.sender),
                ],
            }
        };
        flows.iter().map(flow).collect()
    }

    /// Makes the links, which takes them out of the description.
    fn links<P: FastPort, A>(
        &self,
        spec: &mut NetworkSpec<P, A>,
        quiet: &Quiet,
        link_ids: &[u32],
        traced: bool,
    ) -> Vec<Link<P>> {
        let links = std::mem::take(&mut spec.links);
        let mut sources = vec![NONE; links.len()];
        for (link, agent) in &quiet.outlets {
            sources[to_usize(*link)] = *agent;
        }
        let foresight = !traced && spec.ties == Ties::DeparturesFirst;
        let mut made = Vec::with_capacity(links.len());
        for ((link, &id), (source, index)) in links
            .into_iter()
            .zip(link_ids)
            .zip(sources.into_iter().zip(0..))
        {
            let feeding = quiet.feeding(index);
            let shape = LinkShape {
                id,
                index,
                silent: quiet.silent.binary_search(&index).is_ok(),
                feeds: feeding.feeds,
                fed: feeding.fed,
                calm: feeding.calm,
                // A calm link has no events that could be spared, and a source waits for what its link has in flight.
                precomputes: foresight && source == NONE && !feeding.calm,
                answers: feeding.answers,
                source,
                onward: quiet.onward(index),
                to: link.to,
                exits: self.routes.exits(link.to),
                rate: link.rate,
                delay: link.delay,
                rounding: link.rounding,
                ties: spec.ties,
                eager: self.eager || link.impairments.reorder,
                device_queue: link.device_queue,
                header: link.header,
                opportunities: link.opportunities,
            };
            let impairments = (!link.impairments.is_none()).then(|| {
                Impairments::new(link.impairments, spec.seed, spec.replication, &link.name)
            });
            made.push(Link::new(shape, link.port, impairments));
        }
        made
    }
}

/// What packets of a flow carry as their destination.
fn address(flow: &FlowSpec, first_group: u32) -> u32 {
    match flow.sink < first_group {
        true => flow.sink,
        false => BEYOND | FRESH,
    }
}
