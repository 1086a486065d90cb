//! The flow `workload`: transfers that arrive by themselves.

use super::arrivals::{Arrivals, Offered};
use super::assemble::built;
use super::carrier::{carrier, resolved};
use super::client::Client;
use super::kind::{WorkloadKind, most};
use super::server::{Server, ServerConfig};
use super::sizes::Sizes;
use crate::flow::{BuiltFlow, FlowRequest};
use sojourn_units::{ParamError, Params, Rate, Ratio, Span, Spec, params};

params! {
    /// Flows of finite size over TCP or QUIC that arrive one after the other, each over its own connection.
    pub struct WorkloadParams {
        /// Transport of the flows: a kind of TCP flow with its parameters, or `quic` with its parameters.
        tcp: Spec = "cubic", source "Sojourn's choice";
        /// Distribution of the flow sizes. Use none if the arrivals contain the sizes.
        sizes: Option<Spec> = "none", source "required unless arrivals are a trace";
        /// Arrival process of the flows.
        arrivals: Spec = "poisson", source "Sojourn's choice";
        /// Offered load of all flows of the entry together, payload only, as a share of the slowest link's rate.
        load: Option<Ratio> = "none", source "either this or interval";
        /// Mean time between arrivals of one flow of the entry.
        interval: Option<Span> = "none", range "1ns".., source "either this or load";
        /// Maximum number of open connections. Further transfers wait.
        connections: u64 = "64", range "1".."4096", source "Sojourn's choice";
        /// Number of transfers. With none, until the flow stops.
        transfers: Option<u64> = "none", range "1".., source "Sojourn's choice";
    }
}

/// The kind.
pub(super) const KIND: WorkloadKind = WorkloadKind {
    name: "workload",
    doc: WorkloadParams::DOC,
    params: WorkloadParams::TABLE,
    places: (64, 4096),
    // The arrivals do not depend on the network.
    expected: |args, around| {
        let params: WorkloadParams = sojourn_units::build(None, args)?;
        let arrivals = arrivals_of(&params, around.capacity, around.shares)?;
        Ok(arrivals.expected(around.within).min(most(params.transfers)))
    },
    build,
};

fn build(
    kind: &WorkloadKind,
    args: &[(String, String)],
    request: &FlowRequest<'_>,
    flows: (u32, u32),
) -> Result<BuiltFlow, ParamError> {
    let params: WorkloadParams = sojourn_units::build(None, args)?;
    let arrivals = arrivals_of(&params, request.capacity, request.shares)?;
    let (carrier, tcp) = carrier(&params.tcp, request)?;
    let server = Server::new(ServerConfig {
        flows,
        plan: carrier.clone_for(request)?,
        arrivals: Some(arrivals),
        most: params.transfers.unwrap_or(u64::MAX),
        rng: request.stream("arrivals"),
        start: request.start,
        stop: request.stop,
    });
    let client = Client::new(flows, carrier.clone_for(request)?, None);
    let resolved = resolved(&params, &tcp);
    Ok(built(server, client, flows.1, kind, resolved, &carrier))
}

/// When transfers arrive, at a path of this capacity, where that many flows offer the load together.
fn arrivals_of(
    params: &WorkloadParams,
    capacity: Rate,
    shares: u64,
) -> Result<Arrivals, ParamError> {
    let sizes = params.sizes.as_ref().map(|spec| Sizes::of("sizes", spec));
    let offered = Offered {
        interval: params.interval,
        load: params.load.map(Ratio::get),
        capacity,
        shares,
    };
    Arrivals::of(&params.arrivals, sizes.transpose()?, &offered)
}
