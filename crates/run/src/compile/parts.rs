//! What compiling makes: a network, what a run needs to know of it, and what flows have before they are built.

use std::sync::Arc;

use sojourn_queue::registry::{self, BuildContext, SpecError};
use sojourn_queue::{CatalogueEntry, QueuePort};
use sojourn_results::asked::{Has, Names};
use sojourn_results::metrics::Need;
use sojourn_scenario::Resolved;
use sojourn_scenario::error::{LabError, LabErrorKind};
use sojourn_sim::topology::Role;
use sojourn_sim::{LinkState, NetworkSpec, Opportunities, Stay};
use sojourn_traffic::Endpoint;
use sojourn_traffic::media::RTP;
use sojourn_traffic::udp_rr::UDP_RR;
use sojourn_traffic::workload;
use sojourn_units::{Rate, Span, Time};

/// A network and what a run needs to know of it.
pub struct Compiled {
    /// The network, to be built.
    pub network: NetworkSpec<QueuePort, Endpoint>,
    /// Link directions, in the order of their index.
    pub links: Vec<LinkInfo>,
    /// Flows, in the order of their index.
    pub flows: Vec<FlowInfo>,
    /// Multicast groups, in the order of their index.
    pub groups: Vec<GroupInfo>,
    /// Timed changes, in the order of time.
    pub changes: Vec<LinkChange>,
    /// Of a graph, the link directions that may be its bottleneck: those that say so, or else every one that is as slow as the slowest on the
    /// way of a flow. Empty for the other topologies, which have theirs by their shape.
    pub slowest: Vec<usize>,
}

impl Compiled {
    /// What metrics can be of in it.
    pub fn names(&self) -> Names {
        let mut names = Names::default();
        let observed = self.links.iter().filter(|link| link.observed);
        names.links = observed.map(|link| link.name.clone()).collect();
        for flow in &self.flows {
            names.add(&flow.label, &flow.name);
            let has = flow.has();
            if !names.has.contains(&has) {
                names.has.push(has);
            }
        }
        for flow in &self.flows {
            let group = flow.group.and_then(|group| self.groups.get(group));
            for member in group.iter().flat_map(|group| &group.members) {
                names.receivers.extend(
                    [&flow.label, &flow.name].map(|name| format!("{name} at {}", member.node)),
                );
            }
        }
        names
    }

    /// The longest time by which a lazy link's events may reach a tracer late: propagation, whatever the timed changes make
    /// of it, and jitter.
    pub fn lag(&self) -> Span {
        let planned = self.changes.iter().filter_map(|change| change.delay);
        let delays = self.links.iter().map(|link| link.delay).chain(planned);
        let jitter = self
            .network
            .links
            .iter()
            .map(|link| link.impairments.jitter);
        delays.max().unwrap_or(Span::ZERO) + jitter.max().unwrap_or(Span::ZERO)
    }
}

/// A timed change of a link direction.
#[derive(Clone, Debug)]
pub struct LinkChange {
    /// When.
    pub at: Time,
    /// The index of the link direction.
    pub link: usize,
    /// Its new rate.
    pub rate: Option<Rate>,
    /// Its new propagation.
    pub delay: Option<Span>,
    /// Its new queue.
    pub queue: Option<Arc<NewQueue>>,
    /// Whether it is up or down.
    pub state: Option<LinkState>,
}

/// A queue that takes the place of another during a run.
#[derive(Debug)]
pub struct NewQueue {
    pub(super) discipline: registry::Prepared,
    pub(super) context: BuildContext,
}

impl NewQueue {
    /// The queue, which changes of the same entry build anew each time.
    ///
    /// # Errors
    /// If it cannot be built.
    pub fn build(&self) -> Result<QueuePort, SpecError> {
        self.discipline.build(&self.context)
    }
}

/// A link direction.
#[derive(Clone, Debug)]
pub struct LinkInfo {
    /// Bytes that it adds to each packet while it transmits it; its queue counts packets without them.
    pub link_header: u32,
    /// Name in results, such as `left-right`.
    pub name: String,
    /// What it is for.
    pub role: Role,
    /// Its queue is reported.
    pub observed: bool,
    /// Rate at the start; the mean where it sends at opportunities.
    pub rate: Rate,
    /// When it may send, in place of the rate.
    pub opportunities: Option<Opportunities>,
    /// Propagation delay at the start.
    pub delay: Span,
    /// The discipline.
    pub discipline: &'static CatalogueEntry,
    /// Its parameters, resolved.
    pub resolved: Arc<registry::Resolved>,
}

/// A flow.
#[derive(Clone, Debug)]
pub struct FlowInfo {
    /// Bytes of its headers on the wire that the links add; its packets, and the `headers` of its parts, are without them.
    pub link_header: u32,
    /// Unique name in results, such as `reno-1`.
    pub name: String,
    /// Name of the group.
    pub label: String,
    /// What runs.
    pub kind: String,
    /// Its dialect in full.
    pub release: String,
    /// What runs, part by part, with parameters resolved.
    pub parts: Vec<(&'static str, sojourn_traffic::registry::Resolved)>,
    /// In the direction under study.
    pub forward: bool,
    /// Index of the sending agent.
    pub sender: usize,
    /// Index of the receiving agent.
    pub receiver: Option<usize>,
    /// Indices of the agents of its group's members, where they have some.
    pub members: Vec<usize>,
    /// Node of the sender.
    pub source: u32,
    /// Node of the receiver; of a flow to a group as the network has it.
    pub sink: u32,
    /// Index of the multicast group that it is sent to.
    pub group: Option<usize>,
    /// Base round trip: propagation over its path, both ways; of a flow to a group, over the longest.
    pub base_rtt: Span,
    /// When it starts.
    pub start: Time,
    /// Its flows in the network: one, the connections of a workload, or those of the members of its group, too.
    pub network: std::ops::Range<usize>,
    /// Those of them that carry what it is about: all but the reports of a group's members on media.
    pub own: std::ops::Range<usize>,
    /// Rate of the slowest link of its path at the start.
    pub slowest: Rate,
    /// It stops at a given time.
    pub stops: bool,
}

impl FlowInfo {
    /// Whether it is known never to end as one transfer does: it has many, or no size.
    fn is_endless(&self) -> bool {
        let bulk = self.parts.iter().find(|(own, _)| *own == "bulk");
        let endless = bulk.is_some_and(|(_, resolved)| {
            let sizes = resolved.pairs.iter();
            let mut sizes = sizes.filter(|(key, _)| ["bytes", "packets"].contains(key));
            !self.stops && sizes.all(|(_, value)| value == "none")
        });
        endless || workload::find(&self.kind).is_some() || self.kind == UDP_RR || self.kind == RTP
    }

    /// What it has that some metrics need.
    fn has(&self) -> Has {
        let part = |name: &str| self.parts.iter().any(|(own, _)| *own == name);
        let mut needs = Vec::new();
        if let Some(kind) = workload::find(&self.kind) {
            needs.push(Need::Transfers);
            match kind.name {
                "web" => needs.push(Need::Pages),
                "dash" => needs.push(Need::Playback),
                _ => {}
            }
        }
        if self.kind == UDP_RR {
            needs.extend([Need::Transfers, Need::Exchanges]);
        }
        if self.kind == RTP {
            needs.push(Need::Media);
            let sources = [("voice", Need::Voice), ("video", Need::Video)];
            needs.extend(
                sources
                    .into_iter()
                    .filter(|(name, _)| part(name))
                    .map(|(_, need)| need),
            );
        }
        if !self.is_endless() {
            needs.push(Need::End);
        }
        Has {
            label: self.label.clone(),
            forward: self.forward,
            needs,
            bare: sojourn_traffic::registry::find(&self.kind).map(|source| source.name),
        }
    }
}

/// A multicast group.
#[derive(Clone, Debug)]
pub struct GroupInfo {
    /// Its name.
    pub name: String,
    /// Its members, in the order in which the network counts them.
    pub members: Vec<MemberInfo>,
    /// Delays are measured from a node of the network on, too.
    pub delay_from: bool,
}

/// A member of a multicast group.
#[derive(Clone, Debug)]
pub struct MemberInfo {
    /// Name of its node.
    pub node: String,
    /// Index of its node.
    pub index: u32,
    /// When it belongs to the group.
    pub stays: Vec<Stay>,
}

impl MemberInfo {
    /// How long it belongs to the group between two times.
    pub fn present(&self, from: Time, until: Time) -> Span {
        let stays = self.stays.iter();
        stays
            .map(|stay| stay.until.min(until).saturating_since(stay.from.max(from)))
            .sum()
    }
}

/// A flow that has its nodes.
pub(super) struct Place {
    pub(super) group: usize,
    pub(super) name: String,
    pub(super) label: String,
    pub(super) forward: bool,
    pub(super) source: u32,
    pub(super) sink: u32,
    /// Index of the multicast group that it is sent to.
    pub(super) to_group: Option<usize>,
    /// Position within its group, for staggered starts.
    pub(super) position: u64,
}

impl Place {
    /// Nodes of its receivers.
    pub(super) fn sinks(&self, groups: &[GroupInfo]) -> Vec<u32> {
        match self.to_group.and_then(|group| groups.get(group)) {
            Some(group) => group.members.iter().map(|member| member.index).collect(),
            None => vec![self.sink],
        }
    }
}

/// A value that cannot be.
pub(super) fn bad(scenario: &Resolved, key: &str, problem: &str, remedy: &str) -> LabError {
    LabError::new(LabErrorKind::BadValue, problem)
        .in_file(&scenario.name)
        .key(key)
        .remedy(remedy)
}

/// A name that refers to nothing.
pub(super) fn unknown<'a>(
    scenario: &Resolved,
    key: &str,
    what: &str,
    given: &str,
    names: impl Iterator<Item = &'a str>,
) -> LabError {
    let names: Vec<&str> = names.collect();
    LabError::new(
        LabErrorKind::UnknownName,
        format!("unknown {what} {given:?}"),
    )
    .in_file(&scenario.name)
    .key(key)
    .nearest(sojourn_units::nearest(given, names.iter().copied()))
    .allowed(&format!("{what}s"), names.join(", "))
}

/// A number of a scenario as the network has it.
pub(super) fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
