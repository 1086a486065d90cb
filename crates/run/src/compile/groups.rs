//! Multicast groups of a scenario, as the network wants them.

use sojourn_queue::QueuePort;
use sojourn_scenario::error::{LabError, LabErrorKind};
use sojourn_scenario::model::MemberParams;
use sojourn_scenario::resolved::{Flow, Resolved, Tree};
use sojourn_sim::topology::Graph;
use sojourn_sim::{AgentSpec, DenseSpec, GroupSpec, MemberSpec, NetworkSpec, Stay, TreeSpec};
use sojourn_traffic::media::{self, RTP};
use sojourn_traffic::srm::{self, SRM};
use sojourn_traffic::workload;
use sojourn_traffic::{BuiltFlow, Endpoint, FlowBuilder, FlowRequest};
use sojourn_units::{Bytes, ParamError, ParamValue, Spec, SpecValue, Time};

use super::parts::{Compiled, FlowInfo, GroupInfo, MemberInfo, Place, unknown};

/// The groups of a scenario.
pub(super) fn compile(
    scenario: &Resolved,
    graph: &Graph,
) -> Result<(Vec<GroupInfo>, Vec<GroupSpec>), LabError> {
    let (mut infos, mut specs) = (Vec::new(), Vec::new());
    for (given, position) in scenario.groups.iter().zip(0..) {
        let node = |name: &str, key: &str| {
            graph.node(name).ok_or_else(|| {
                let key = format!("groups[{position}].{key}");
                let names = graph.nodes.iter().map(String::as_str);
                unknown(scenario, &key, "node", name, names)
            })
        };
        let members = members(scenario, graph, &given.name)?;
        let stable = format!("group/{}", given.name);
        let delay_from = given.delay_from.as_deref();
        let spec = GroupSpec {
            tree: tree(scenario, graph, &given.tree, position)?,
            members: members
                .iter()
                .map(|member| MemberSpec {
                    name: format!("{stable}/{}", member.node),
                    node: member.index,
                    agent: None,
                    stays: member.stays.clone(),
                })
                .collect(),
            waypoint: delay_from
                .map(|name| node(name, "delay_from"))
                .transpose()?,
            name: stable,
        };
        infos.push(GroupInfo {
            name: given.name.clone(),
            members,
            delay_from: spec.waypoint.is_some(),
        });
        specs.push(spec);
    }
    Ok((infos, specs))
}

/// The tree of a group.
fn tree(
    scenario: &Resolved,
    graph: &Graph,
    tree: &Tree,
    position: usize,
) -> Result<TreeSpec, LabError> {
    let bytes = |bytes: Bytes| u32::try_from(bytes.get()).unwrap_or(u32::MAX);
    Ok(match tree {
        Tree::Source => TreeSpec::Source,
        Tree::Shared {
            rendezvous_point,
            encapsulation,
            switch,
        } => {
            let name = rendezvous_point.as_str();
            let rendezvous_point = graph.node(name).ok_or_else(|| {
                let key = format!("groups[{position}].rendezvous_point");
                let names = graph.nodes.iter().map(String::as_str);
                unknown(scenario, &key, "node", name, names)
            })?;
            TreeSpec::Shared {
                rendezvous_point,
                encapsulation: bytes(*encapsulation),
                switch: switch.map(|at| Time::ZERO + at),
            }
        }
        Tree::Dense {
            prune_time,
            graft_retry,
            message,
        } => TreeSpec::Dense(DenseSpec {
            prune_time: *prune_time,
            graft_retry: *graft_retry,
            message: bytes(*message),
        }),
        Tree::Static(names) => {
            let mut links = Vec::new();
            for name in names {
                let edge = |edge| graph.edge_name(edge) == *name;
                let link = graph.edges.iter().position(edge).ok_or_else(|| {
                    let key = format!("groups[{position}].links");
                    let names: Vec<String> = graph
                        .edges
                        .iter()
                        .map(|edge| graph.edge_name(edge))
                        .collect();
                    let names = names.iter().map(String::as_str);
                    unknown(scenario, &key, "link direction", name, names)
                })?;
                links.push(u32::try_from(link).expect("fewer than 2^32 links"));
            }
            TreeSpec::Static(links)
        }
    })
}

/// The members of a group: one per node, with all its stays in order.
fn members(scenario: &Resolved, graph: &Graph, group: &str) -> Result<Vec<MemberInfo>, LabError> {
    let mut members: Vec<MemberInfo> = Vec::new();
    for (given, position) in scenario.members.iter().zip(0..) {
        if given.group != group {
            continue;
        }
        let index = graph.node(&given.node).ok_or_else(|| {
            let key = format!("members[{position}].node");
            let names = graph.nodes.iter().map(String::as_str);
            unknown(scenario, &key, "node", &given.node, names)
        })?;
        let stay = stay(given);
        match members.iter_mut().find(|member| member.index == index) {
            Some(member) => {
                member.stays.push(stay);
                member.stays.sort_by_key(|stay| stay.from);
            }
            None => members.push(MemberInfo {
                node: given.node.clone(),
                index,
                stays: vec![stay],
            }),
        }
    }
    Ok(members)
}

fn stay(member: &MemberParams) -> Stay {
    Stay {
        from: Time::ZERO + member.join,
        until: member.leave.map_or(Time::MAX, |leave| Time::ZERO + leave),
    }
}

/// Whether flows of that kind to a group make participants of its members.
pub(super) fn has_session(kind: &str) -> bool {
    [SRM, RTP].contains(&kind)
}

/// The flow that has made participants of the members of a group, for further flows of the kind that have one session together.
pub(super) fn first_of_session(kind: &str, compiled: &Compiled, group: usize) -> Option<usize> {
    let mut flows = compiled.flows.iter();
    flows.position(|flow| kind == RTP && flow.kind == RTP && flow.group == Some(group))
}

/// Flows of the network that the flow at a place becomes: one of its own, and those in which members of its group send; `None` if these
/// are no participants.
pub(super) fn session_width(
    scenario: &Resolved,
    groups: &[GroupInfo],
    places: &[Place],
    at: usize,
) -> Option<u32> {
    let kind = |place: &Place| scenario.flows[place.group].kind.as_str();
    let place = places.get(at)?;
    let group = place.to_group?;
    let members = groups.get(group)?.members.len();
    let is_of_session = |other: &Place| other.to_group == Some(group) && kind(other) == kind(place);
    let width = match kind(place) {
        // The data and the messages of the source, and those of each member.
        SRM => 2 + members,
        RTP if places.iter().take(at).any(is_of_session) => 1,
        RTP => 1 + members,
        _ => return None,
    };
    u32::try_from(width).ok()
}

/// The arguments of a flow whose packets are without what links add to them, where that is something: headers are given as they are on
/// the wire. Those of a workload stand in the specification of its transport.
fn without_link_header(
    (kind, args): (&str, &[(String, String)]),
    built: &BuiltFlow,
    link_header: u32,
) -> Option<Vec<(String, String)>> {
    if link_header == 0 {
        return None;
    }
    let mut pairs = built.parts.iter().flat_map(|(_, part)| &part.pairs);
    let (_, headers) = pairs.find(|(key, _)| *key == "headers")?;
    let headers = headers.parse::<Bytes>().ok()?.get();
    let left = Bytes::new(headers.saturating_sub(link_header.into()));
    if workload::find(kind).is_none() {
        return Some(with(args, "headers", left.to_string()));
    }
    let mut workload = built.parts.iter().flat_map(|(_, part)| &part.pairs);
    let (_, tcp) = workload.find(|(key, _)| *key == "tcp")?;
    let mut tcp = Spec::parse_text(tcp).ok()?;
    tcp.args.retain(|(key, _)| key != "headers");
    tcp = tcp.with("headers", SpecValue::Text(left.to_string()));
    Some(with(args, "tcp", format!("({tcp})")))
}

/// The arguments with another value of a key.
fn with(args: &[(String, String)], key: &str, value: String) -> Vec<(String, String)> {
    let others = args.iter().filter(|(other, _)| other != key).cloned();
    others.chain([(key.to_owned(), value)]).collect()
}

/// The endpoints of a flow: of a session over a group, those of its members too. Links add `link_header` bytes to its packets.
pub(super) fn build(
    flow: &Flow,
    compiled: &Compiled,
    place: &Place,
    request: &FlowRequest<'_>,
    (builder, link_header): (&mut FlowBuilder, u32),
) -> Result<(BuiltFlow, Vec<Endpoint>), ParamError> {
    let mut build = |args: &[(String, String)]| {
        let Some(to) = place.to_group.filter(|_| has_session(&flow.kind)) else {
            let built = builder.build(&flow.kind, args, request);
            return built.map(|built| (built, Vec::new()));
        };
        let members = compiled.groups[to].members.iter();
        let stays: Vec<Vec<Stay>> = match first_of_session(&flow.kind, compiled, to) {
            Some(_) => Vec::new(),
            None => members.map(|one| one.stays.clone()).collect(),
        };
        match flow.kind.as_str() {
            SRM => srm::build(args, request, &stays),
            _ => media::build_group(args, request, &stays),
        }
    };
    let built = build(&flow.args)?;
    match without_link_header((&flow.kind, &flow.args), &built.0, link_header) {
        Some(args) => build(&args),
        None => Ok(built),
    }
}

/// Checks that a further sender of an RTP session computes with what the first flow to the group has.
pub(super) fn agree(
    scenario: &Resolved,
    compiled: &Compiled,
    first: &FlowInfo,
    (built, place): (&BuiltFlow, &Place),
) -> Result<(), LabError> {
    let rate = |sender: &Endpoint| sender.announced().map(|source| source.clock_rate);
    let rates = [&compiled.network.agents[first.sender].agent, &built.sender].map(rate);
    if let [Some(theirs), Some(ours)] = rates
        && theirs != ours
    {
        let problem = format!(
            "all RTP flows to a group are one session, but the timestamps of {} have {theirs} units per second, not {ours}",
            first.name
        );
        return Err(LabError::new(LabErrorKind::Contradiction, problem)
            .in_file(&scenario.name)
            .key(format!("flows[{}].clock_rate", place.group))
            .remedy("set clock_rate to the same value, or send media of another format to a separate group"));
    }
    let of = |parts: &[(&'static str, sojourn_traffic::registry::Resolved)], key: &str| {
        let own = parts.iter().find(|(name, _)| *name == RTP);
        let mut pairs = own.into_iter().flat_map(|(_, part)| &part.pairs);
        pairs
            .find(|(name, _)| *name == key)
            .map_or_else(String::new, |(_, text)| text.clone())
    };
    for key in media::OF_SESSION {
        let (theirs, ours) = (of(&first.parts, key), of(&built.parts, key));
        if theirs != ours {
            let problem = format!(
                "all RTP flows to a group are one session, but {} has {key} = {theirs:?}, not {ours:?}",
                first.name
            );
            return Err(LabError::new(LabErrorKind::Contradiction, problem)
                .in_file(&scenario.name)
                .key(format!("flows[{}].{key}", place.group))
                .remedy("set the same value in both, or send to a separate group"));
        }
    }
    Ok(())
}

/// Tells the participants of an RTP session of a sender that has come, and it of the senders before it.
pub(super) fn introduce(
    network: &mut NetworkSpec<QueuePort, Endpoint>,
    group: usize,
    sender: usize,
) {
    let Some(news) = network.agents[sender].agent.announced() else {
        return;
    };
    let seats = network.groups[group].members.iter();
    let agents: Vec<usize> = seats
        .filter_map(|member| usize::try_from(member.agent?).ok())
        .filter(|agent| *agent != sender)
        .collect();
    for agent in agents {
        let other = network.agents[agent].agent.announced();
        network.agents[agent].agent.introduce(news);
        if let Some(other) = other {
            network.agents[sender].agent.introduce(other);
        }
    }
}

/// Gives the members of a group the endpoints of a session; says which agents they are.
pub(super) fn seat_session(
    scenario: &Resolved,
    compiled: &mut Compiled,
    group: usize,
    place: &Place,
    endpoints: Vec<Endpoint>,
) -> Result<Vec<usize>, LabError> {
    let members = &mut compiled.network.groups[group].members;
    if members.iter().any(|member| member.agent.is_some()) {
        let problem = format!(
            "the group {:?} already has a session of its own",
            compiled.groups[group].name
        );
        return Err(LabError::new(LabErrorKind::Contradiction, problem)
            .in_file(&scenario.name)
            .key(format!("flows[{}].to", place.group))
            .remedy("send this flow to a separate group"));
    }
    let mut agents = Vec::with_capacity(endpoints.len());
    for (agent, (member, info)) in endpoints
        .into_iter()
        .zip(members.iter_mut().zip(&compiled.groups[group].members))
    {
        let index = compiled.network.agents.len();
        compiled.network.agents.push(AgentSpec {
            name: format!("flow/{}/member-{}", place.name, info.node),
            node: info.index,
            agent,
        });
        member.agent = u32::try_from(index).ok();
        agents.push(index);
    }
    Ok(agents)
}

/// Makes the source of a session a member of its group, behind all others.
pub(super) fn seat_source(
    network: &mut NetworkSpec<QueuePort, Endpoint>,
    group: usize,
    place: &Place,
    sender: usize,
    start: Time,
) {
    network.groups[group].members.push(MemberSpec {
        name: format!("flow/{}/source", place.name),
        node: place.source,
        agent: u32::try_from(sender).ok(),
        stays: vec![Stay {
            from: start,
            until: Time::MAX,
        }],
    });
}
