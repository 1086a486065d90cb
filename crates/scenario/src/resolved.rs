//! A scenario in which nothing is left to a default: what runs, and what a manifest writes down.
//!
//! [`Scenario`] holds what was said. [`Scenario::resolve`] fills in the rest, once: the run is compiled from the
//! [`Resolved`], and the manifest is written from it.

use sojourn_queue::registry::{self, Prepared};
use sojourn_queue::sizing::SizedLimit;
use sojourn_units::{Buffer, Bytes, Rate, Span, Spec};
use std::sync::Arc;

use crate::dialect::{Conventions, access_rate, encapsulation, prune_time};
use crate::document::Document;
use crate::error::{LabError, Result};
use crate::model::{
    ChainParams, ChangeParams, DumbbellParams, FlowGroup, GroupParams, ImpairmentParams,
    LinkParams, MemberParams, OpportunityParams, ParkingLotParams, PlaceParams, RunParams,
    Scenario, SeriesParams, Topology, TreeKind, Warmup, WireParams,
};
use crate::nominal::{Before, Nominal, before, buffer_of};
use crate::reader::{resolve_flow, with_buffer};

/// A scenario in which nothing is left to a default.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// Name for messages and results.
    pub name: String,
    /// Default dialect of every component; a component's own wins.
    pub dialect: Option<String>,
    /// How long and how often. Its `ties` and `streams` stand in the conventions.
    pub run: RunParams,
    /// What the dialect decides of events, links and random numbers, unless it is given.
    pub conventions: Conventions,
    /// The links and routers, and how hosts are attached.
    pub network: Network,
    /// Flows, in the order of the file.
    pub flows: Vec<Flow>,
    /// Multicast groups, in the order of the file.
    pub groups: Vec<Group>,
    /// Stays in them, in the order of the file.
    pub members: Vec<MemberParams>,
    /// What links do to packets.
    pub impairments: Vec<ImpairmentParams>,
    /// Links that send when they may.
    pub opportunities: Vec<OpportunityParams>,
    /// Timed changes, in the order of time.
    pub changes: Vec<ChangeParams>,
    /// Time series to record.
    pub series: SeriesParams,
}

/// The shape of the network.
#[derive(Clone, Debug)]
pub enum Network {
    /// Two routers, one bottleneck.
    Dumbbell {
        /// The bottleneck, in both directions.
        bottleneck: Pair,
        /// The access link of each host.
        access: Pipe,
        /// Base round trip of flows without one of their own.
        rtt: Span,
        /// Hosts on each side; one pair per flow if none.
        pairs: Option<u64>,
        /// The limit of the bottleneck's queues that was given; it stands in the queues.
        buffer: Option<Buffer>,
    },
    /// Several bottlenecks in a row.
    ParkingLot {
        /// Number of bottlenecks in the row.
        hops: u64,
        /// Each bottleneck, in both directions.
        bottleneck: Pair,
        /// The access link of each host.
        access: Pipe,
        /// Flows that cross all bottlenecks.
        end_to_end: u64,
        /// The limit of the bottlenecks' queues that was given; it stands in the queues.
        buffer: Option<Buffer>,
    },
    /// Nodes in a line.
    Chain {
        /// Number of links in the line.
        hops: u64,
        /// Each link, in both directions.
        link: Pair,
        /// The limit of the queues that was given; it stands in the queues.
        buffer: Option<Buffer>,
    },
    /// Links one by one.
    Graph(Vec<Link>),
}

/// Both directions of a link.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The direction under study.
    pub forward: Pipe,
    /// From right to left.
    pub reverse: Pipe,
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct Pipe {
    /// Rate.
    pub rate: Rate,
    /// One-way propagation delay.
    pub delay: Span,
    /// The queue before it.
    pub queue: Queue,
}

/// A link of a graph.
#[derive(Clone, Debug)]
pub struct Link {
    /// Node at one end.
    pub from: String,
    /// Node at the other end.
    pub to: String,
    /// Its two directions, that from `from` first.
    pub pair: Pair,
    /// The two queues are reported and traced.
    pub observed: bool,
    /// Whether it is a bottleneck; the slowest on the ways of the flows if nothing is said.
    pub bottleneck: Option<bool>,
}

/// A queue, with the limit that the topology sets.
#[derive(Clone, Debug)]
pub struct Queue {
    /// The discipline with its parameters, read and checked: it can be built as often as it is wanted.
    pub discipline: Arc<Prepared>,
    /// Its dialect and parameters as texts, which results name; specifications inside stay as they were written.
    pub params: Arc<registry::Resolved>,
    /// The key of the scenario that names it, for messages.
    pub key: String,
    /// Limits that were given in time or in bandwidth-delay products, and what they became.
    pub sized: Vec<SizedLimit>,
}

/// Flows of one kind.
#[derive(Clone, PartialEq, Debug)]
pub struct Flow {
    /// What runs: `reno`, `cbr`...
    pub kind: String,
    /// Every parameter of the kind, as text.
    pub args: Vec<(String, String)>,
    /// Name of the flows in results.
    pub label: String,
    /// Where and when.
    pub place: PlaceParams,
}

/// A multicast group.
#[derive(Clone, PartialEq, Debug)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Kind of multicast tree.
    pub tree: Tree,
    /// Node from which delays to the members are measured, in addition to those from the source.
    pub delay_from: Option<String>,
    /// Every parameter, those that its tree does not use, too.
    params: GroupParams,
}

/// How packets reach the members of a group.
#[derive(Clone, PartialEq, Debug)]
pub enum Tree {
    /// One tree for all sources.
    Shared {
        /// The node at its root.
        rendezvous_point: String,
        /// Bytes that packets have more on their way to the root.
        encapsulation: Bytes,
        /// When every source gets a tree of its own instead, if ever.
        switch: Option<Span>,
    },
    /// A tree for each source.
    Source,
    /// Packets are flooded, and nodes without members prune themselves.
    Dense {
        /// How long a pruned link carries nothing.
        prune_time: Span,
        /// After how long a graft that is not acknowledged is sent again.
        graft_retry: Span,
        /// Bytes of a prune, graft or acknowledgement.
        message: Bytes,
    },
    /// The link directions that make it.
    Static(Vec<String>),
}

impl Scenario {
    /// The scenario with everything filled in that depends on other values: rates, delays and queues of the other
    /// direction, conventions of the dialect, and every parameter of every queue and flow.
    ///
    /// # Errors
    /// If there is no such discipline, or a parameter of it is wrong: with the key of the queue.
    pub fn resolve(&self) -> Result<Resolved> {
        let dialect = self.dialect.as_deref();
        let conventions = Conventions::of(self);
        let run = RunParams {
            ties: Some(conventions.ties),
            streams: Some(conventions.streams),
            warmup: Warmup::Of(self.run.warmup()),
            precision: None,
            precision_of: None,
            max_duration: None,
            max_replications: None,
            ..self.run.clone()
        };
        let flows = self.flows.iter().map(|flow| {
            let to_group = |group: &GroupParams| Some(&group.name) == flow.place.to.as_ref();
            Flow::of(flow, dialect, self.groups.iter().any(to_group))
        });
        let groups = self.groups.iter().map(|group| Group::of(group, dialect));
        Ok(Resolved {
            name: self.name.clone(),
            dialect: self.dialect.clone(),
            run,
            conventions,
            network: self.network()?,
            flows: flows.collect(),
            groups: groups.collect(),
            members: self.members.clone(),
            impairments: self.impairments.clone(),
            opportunities: self.opportunities.clone(),
            changes: self.resolved_changes()?,
            series: self.series.clone(),
        })
    }

    /// Timed changes; their queues with every parameter.
    fn resolved_changes(&self) -> Result<Vec<ChangeParams>> {
        let nominal = &Nominal::of(self);
        let of = |(change, at): (&ChangeParams, usize)| {
            let place = before(&self.topology, &change.link);
            let buffer = buffer_of(&self.topology, place);
            let full = |spec: &Spec| {
                let key = format!("changes[{at}].queue");
                let queue = self.resolve_queue((nominal, place), spec, buffer, key)?;
                Ok(queue.discipline.spec())
            };
            Ok(ChangeParams {
                queue: change.queue.as_ref().map(full).transpose()?,
                ..change.clone()
            })
        };
        self.changes.iter().zip(0..).map(of).collect()
    }

    fn network(&self) -> Result<Network> {
        let nominal = &Nominal::of(self);
        Ok(match &self.topology {
            Topology::Dumbbell(params) => {
                let (bottleneck, access) = params.delays();
                let rates = (params.rate, params.reverse_rate.unwrap_or(params.rate));
                let queues = (&params.queue, params.reverse_queue.as_ref());
                Network::Dumbbell {
                    bottleneck: self.pair(nominal, (rates, bottleneck), queues, params.buffer)?,
                    access: Pipe {
                        rate: access_rate(params.access_rate, params.rate),
                        delay: access,
                        queue: self.access_queue(nominal, &params.access_queue)?,
                    },
                    rtt: DumbbellParams::round_trip(bottleneck, access).unwrap_or(params.rtt),
                    pairs: params.pairs,
                    buffer: params.buffer,
                }
            }
            Topology::ParkingLot(params) => {
                let queues = (&params.queue, params.reverse_queue.as_ref());
                let rates = (params.rate, params.rate);
                Network::ParkingLot {
                    hops: params.hops,
                    bottleneck: self.pair(nominal, (rates, params.delay), queues, params.buffer)?,
                    access: Pipe {
                        rate: access_rate(params.access_rate, params.rate),
                        delay: params.access_delay,
                        queue: self.access_queue(nominal, &params.access_queue)?,
                    },
                    end_to_end: params.end_to_end,
                    buffer: params.buffer,
                }
            }
            Topology::Chain(params) => {
                let queues = (&params.queue, params.reverse_queue.as_ref());
                let rates = (params.rate, params.rate);
                Network::Chain {
                    hops: params.hops,
                    link: self.pair(nominal, (rates, params.delay), queues, params.buffer)?,
                    buffer: params.buffer,
                }
            }
            Topology::Graph(links) => {
                let links = links
                    .iter()
                    .zip(0..)
                    .map(|(link, at)| self.link(nominal, link, at));
                Network::Graph(links.collect::<Result<_>>()?)
            }
        })
    }

    fn link(&self, nominal: &Nominal<'_>, link: &LinkParams, at: usize) -> Result<Link> {
        let pipe = |rate, spec: &Spec, key: &str, before: Before| {
            let key = format!("links[{at}].{key}");
            Ok(Pipe {
                rate,
                delay: link.delay,
                queue: self.resolve_queue((nominal, before), spec, None, key)?,
            })
        };
        let back = link.reverse_queue.as_ref().unwrap_or(&link.queue);
        Ok(Link {
            from: link.from.clone(),
            to: link.to.clone(),
            pair: Pair {
                forward: pipe(link.rate, &link.queue, "queue", Before::Link(at))?,
                reverse: pipe(
                    link.reverse_rate.unwrap_or(link.rate),
                    back,
                    "reverse_queue",
                    Before::LinkBack(at),
                )?,
            },
            observed: link.observed,
            bottleneck: link.bottleneck,
        })
    }

    /// Both directions of a builder's bottleneck.
    fn pair(
        &self,
        nominal: &Nominal<'_>,
        (rates, delay): ((Rate, Rate), Span),
        (queue, reverse): (&Spec, Option<&Spec>),
        buffer: Option<Buffer>,
    ) -> Result<Pair> {
        let pipe = |rate, spec: &Spec, key: &str, before: Before| {
            let key = format!("topology.{key}");
            Ok(Pipe {
                rate,
                delay,
                queue: self.resolve_queue((nominal, before), spec, buffer, key)?,
            })
        };
        let back = reverse.unwrap_or(queue);
        Ok(Pair {
            forward: pipe(rates.0, queue, "queue", Before::Forward)?,
            reverse: pipe(rates.1, back, "reverse_queue", Before::Reverse)?,
        })
    }

    fn access_queue(&self, nominal: &Nominal<'_>, spec: &Spec) -> Result<Queue> {
        let key = "topology.access_queue".to_owned();
        self.resolve_queue((nominal, Before::Access), spec, None, key)
    }

    fn resolve_queue(
        &self,
        (nominal, before): (&Nominal<'_>, Before),
        spec: &Spec,
        buffer: Option<Buffer>,
        key: String,
    ) -> Result<Queue> {
        let given = with_buffer(spec, buffer);
        let dialect = self.dialect.as_deref();
        let at =
            |error: registry::SpecError| LabError::from_queue(&error).in_file(&self.name).key(&key);
        let (given, sized) = nominal.sized(&given, before).map_err(at)?;
        let discipline = registry::prepare(&given, dialect).map_err(at)?;
        Ok(Queue {
            params: Arc::new(discipline.resolved()),
            discipline: Arc::new(discipline),
            key,
            sized,
        })
    }
}

impl Flow {
    fn of(group: &FlowGroup, dialect: Option<&str>, to_group: bool) -> Flow {
        Flow {
            kind: group.kind.clone(),
            args: resolve_flow(&group.kind, &group.args, dialect, to_group),
            label: group
                .place
                .label
                .clone()
                .unwrap_or_else(|| group.kind.clone()),
            place: group.place.clone(),
        }
    }

    fn as_given(&self) -> FlowGroup {
        FlowGroup {
            kind: self.kind.clone(),
            args: self.args.clone(),
            place: PlaceParams {
                label: Some(self.label.clone()),
                ..self.place.clone()
            },
        }
    }
}

impl Group {
    fn of(group: &GroupParams, dialect: Option<&str>) -> Group {
        let mut params = group.clone();
        let tree = match group.tree {
            TreeKind::Source => Tree::Source,
            TreeKind::Shared => {
                let encapsulation = encapsulation(group, dialect);
                params.encapsulation = Some(encapsulation);
                Tree::Shared {
                    rendezvous_point: group.rendezvous_point.clone().unwrap_or_default(),
                    encapsulation,
                    switch: group.switch,
                }
            }
            TreeKind::Dense => {
                let prune_time = prune_time(group, dialect);
                params.prune_time = Some(prune_time);
                Tree::Dense {
                    prune_time,
                    graft_retry: group.graft_retry,
                    message: group.message,
                }
            }
            TreeKind::Static => {
                let names = group.links.iter().flat_map(|links| links.split(','));
                Tree::Static(names.map(|name| name.trim().to_owned()).collect())
            }
        };
        Group {
            name: group.name.clone(),
            tree,
            delay_from: group.delay_from.clone(),
            params,
        }
    }
}

impl Resolved {
    /// The same as a scenario in which everything is given.
    pub fn as_given(&self) -> Scenario {
        let conventions = &self.conventions;
        Scenario {
            name: self.name.clone(),
            dialect: self.dialect.clone(),
            run: self.run.clone(),
            topology: self.network.as_given(),
            wire: WireParams {
                tx_rounding: Some(conventions.tx_rounding),
                device_queue: Some(conventions.device_queue),
                link_header: Some(conventions.link_header),
            },
            flows: self.flows.iter().map(Flow::as_given).collect(),
            groups: self
                .groups
                .iter()
                .map(|group| group.params.clone())
                .collect(),
            members: self.members.clone(),
            impairments: self.impairments.clone(),
            opportunities: self.opportunities.clone(),
            changes: self.changes.clone(),
            series: self.series.clone(),
        }
    }

    /// Queues with limits that were given in time or in bandwidth-delay products.
    pub fn sized_queues(&self) -> Vec<&Queue> {
        let mut queues = self.network.queues();
        queues.retain(|queue| !queue.sized.is_empty());
        queues
    }

    /// The scenario as a document: every parameter of every table and queue stands there with its value, so that a later
    /// version with other defaults runs the same.
    pub fn to_document(&self) -> Document {
        self.as_given().to_document_as_given()
    }
}

impl Network {
    /// Its queues, each direction of a link once.
    fn queues(&self) -> Vec<&Queue> {
        fn both(pair: &Pair) -> [&Queue; 2] {
            [&pair.forward.queue, &pair.reverse.queue]
        }
        match self {
            Network::Dumbbell {
                bottleneck, access, ..
            }
            | Network::ParkingLot {
                bottleneck, access, ..
            } => both(bottleneck)
                .into_iter()
                .chain([&access.queue])
                .collect(),
            Network::Chain { link, .. } => both(link).to_vec(),
            Network::Graph(links) => links.iter().flat_map(|link| both(&link.pair)).collect(),
        }
    }

    fn as_given(&self) -> Topology {
        match self {
            Network::Dumbbell {
                bottleneck: Pair { forward, reverse },
                access,
                rtt,
                pairs,
                buffer,
            } => Topology::Dumbbell(DumbbellParams {
                rate: forward.rate,
                reverse_rate: Some(reverse.rate),
                rtt: *rtt,
                bottleneck_delay: Some(forward.delay),
                access_delay: Some(access.delay),
                access_rate: Some(access.rate),
                buffer: *buffer,
                queue: forward.queue.discipline.spec(),
                reverse_queue: Some(reverse.queue.discipline.spec()),
                access_queue: access.queue.discipline.spec(),
                pairs: *pairs,
            }),
            Network::ParkingLot {
                hops,
                bottleneck: Pair { forward, reverse },
                access,
                end_to_end,
                buffer,
            } => Topology::ParkingLot(ParkingLotParams {
                hops: *hops,
                rate: forward.rate,
                delay: forward.delay,
                access_rate: Some(access.rate),
                access_delay: access.delay,
                buffer: *buffer,
                queue: forward.queue.discipline.spec(),
                reverse_queue: Some(reverse.queue.discipline.spec()),
                access_queue: access.queue.discipline.spec(),
                end_to_end: *end_to_end,
            }),
            Network::Chain {
                hops,
                link: Pair { forward, reverse },
                buffer,
            } => Topology::Chain(ChainParams {
                hops: *hops,
                rate: forward.rate,
                delay: forward.delay,
                buffer: *buffer,
                queue: forward.queue.discipline.spec(),
                reverse_queue: Some(reverse.queue.discipline.spec()),
            }),
            Network::Graph(links) => Topology::Graph(links.iter().map(Link::as_given).collect()),
        }
    }
}

impl Link {
    fn as_given(&self) -> LinkParams {
        let Pair { forward, reverse } = &self.pair;
        LinkParams {
            from: self.from.clone(),
            to: self.to.clone(),
            rate: forward.rate,
            reverse_rate: Some(reverse.rate),
            delay: forward.delay,
            queue: forward.queue.discipline.spec(),
            reverse_queue: Some(reverse.queue.discipline.spec()),
            observed: self.observed,
            bottleneck: self.bottleneck,
        }
    }
}
