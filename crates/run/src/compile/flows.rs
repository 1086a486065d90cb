//! Flows: their endpoints, and what a run needs to know of them.

use sojourn_queue::QueuePort;
use sojourn_scenario::LabError;
use sojourn_scenario::resolved::{Flow, Resolved};
use sojourn_sim::{AgentSpec, FlowSpec, NetworkSpec, Stream};
use sojourn_traffic::Endpoint;
use sojourn_traffic::flow::{BuiltFlow, FlowBuilder, FlowRequest};
use sojourn_traffic::media::RTP;
use sojourn_units::{ParamError, Rate, Span, Time};

use super::groups;
use super::parts::{Compiled, FlowInfo, Place, narrow};

/// Adds a flow of a replication, with the number of its first random variable; says how many of these it takes.
pub(super) fn add_flow(
    scenario: &Resolved,
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
    let link_header = narrow(scenario.conventions.link_header);
    let built = groups::build(group, compiled, place, &request, (builder, link_header));
    let (built, endpoints) = built.map_err(|error| refused(scenario, place, &error))?;
    let session = place.to_group.filter(|_| groups::has_session(&group.kind));
    let members = members(scenario, compiled, (place, &group.kind), &built, endpoints)?;
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
    let names = (stable.as_str(), built.connections);
    add_connections(network, names, place, dscp, (sender, receiver), &members);
    let flows = first..network.flows.len();
    let media = session.is_some() && group.kind == RTP;
    let own = first..if media { first + 1 } else { flows.end };
    let release = built.parts.first().map_or("", |(_, part)| part.release);
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
        stops: group.place.stop.is_some(),
    });
    Ok(built.ns3_numbers)
}

/// The agents of the members of a flow's group, where they take part: those of an earlier flow of the same session, or new ones.
fn members(
    scenario: &Resolved,
    compiled: &mut Compiled,
    (place, kind): (&Place, &str),
    built: &BuiltFlow,
    endpoints: Vec<Endpoint>,
) -> Result<Vec<usize>, LabError> {
    let Some(to) = place.to_group.filter(|_| groups::has_session(kind)) else {
        return Ok(Vec::new());
    };
    let Some(first) = groups::first_of_session(kind, compiled, to) else {
        return groups::seat_session(scenario, compiled, to, place, endpoints);
    };
    groups::agree(scenario, compiled, &compiled.flows[first], (built, place))?;
    Ok(compiled.flows[first].members.clone())
}

/// The error for a parameter of a flow, with its key.
fn refused(scenario: &Resolved, place: &Place, error: &ParamError) -> LabError {
    let key = match error.key() {
        "flow" => format!("flows[{}]", place.group),
        key => format!("flows[{}].{key}", place.group),
    };
    LabError::from_param(error).in_file(&scenario.name).key(key)
}

/// Adds the flows of the network that one of the scenario becomes: the first one its sender's, the others each from a member of
/// its group.
fn add_connections(
    network: &mut NetworkSpec<QueuePort, Endpoint>,
    (stable, connections): (&str, u32),
    place: &Place,
    dscp: u8,
    (sender, receiver): (usize, Option<usize>),
    members: &[usize],
) {
    for connection in 1..=connections {
        let member = usize::try_from(connection)
            .ok()
            .and_then(|connection| members.get(connection.checked_sub(2)?).copied());
        let name = match connections {
            1 => stable.to_owned(),
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
}

/// When a flow starts: as given, at zero in a deterministic run, or at random within the spread.
fn start_of(
    scenario: &Resolved,
    group: &Flow,
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
