//! A workload put together from its ends.

use super::carrier::Carrier;
use super::client::{Client, User};
use super::kind::WorkloadKind;
use super::server::{Server, ServerConfig};
use crate::endpoint::Endpoint;
use crate::entry::Resolved;
use crate::flow::{BuiltFlow, FlowRequest, Transport};
use sojourn_units::ParamError;

/// The flow of a workload whose receiver asks for what is sent.
pub(super) fn asked_for(
    user: User,
    flows: (u32, u32),
    kind: &WorkloadKind,
    resolved: Resolved,
    plan: &Carrier,
    request: &FlowRequest<'_>,
) -> Result<BuiltFlow, ParamError> {
    let server = Server::new(ServerConfig {
        flows,
        plan: plan.clone_for(request)?,
        arrivals: None,
        most: 0,
        rng: request.stream("arrivals"),
        start: request.start,
        stop: None,
    });
    let client = Client::new(flows, plan.clone_for(request)?, Some(user));
    Ok(built(server, client, flows.1, kind, resolved, plan))
}

/// The flow that consists of these ends.
pub(super) fn built(
    server: Server,
    client: Client,
    connections: u32,
    kind: &WorkloadKind,
    resolved: Resolved,
    carrier: &Carrier,
) -> BuiltFlow {
    let mut parts = vec![(kind.name, resolved)];
    parts.extend(carrier.parts.iter().cloned());
    BuiltFlow {
        sender: Endpoint::Server(Box::new(server)),
        receiver: Some(Endpoint::Client(Box::new(client))),
        transport: Transport::Tcp,
        parts,
        ns3_numbers: 0,
        connections,
    }
}
