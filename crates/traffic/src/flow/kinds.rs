//! The kinds of flow that there are.

use super::built::{BuiltFlow, Flow};
use super::kind::{FlowKind, Transport};
use super::request::FlowRequest;
use super::tcp::names::tcp_kinds;
use super::{quic, tfrc};
use crate::endpoint::Endpoint;
use crate::entry::{CatalogueEntry, wrong};
use crate::foreign::{self, ForeignFlow};
use crate::sources::bulk::Bulk;
use crate::sources::video::Video;
use crate::{media, registry, srm, udp_rr, workload};
use sojourn_cc::BuildError;
use sojourn_transport::{TcpParams, UdpParams};
use sojourn_units::{
    ParamError, Params, RegisterError, UnitErrorKind, Values, check_what, nearest, usable_dialect,
};

/// Flows that are neither TCP nor plain datagrams nor workloads: one file each, one line here.
pub(super) const OTHERS: [Flow; 5] = [udp_rr::FLOW, tfrc::FLOW, quic::FLOW, media::FLOW, srm::FLOW];

/// Every kind of flow.
pub fn flow_kinds() -> Vec<FlowKind> {
    let udp = registry::catalogue()
        .iter()
        .filter(|source| carries_datagrams(source))
        .map(|source| FlowKind {
            name: source.name,
            aliases: &[],
            doc: first_sentence(source.about),
            transport: Transport::Udp,
            params: vec![(source.name, source.params), ("udp", UdpParams::TABLE)],
            dialects: source.dialects.iter().collect(),
        });
    let workloads = workload::KINDS.iter().map(|kind| FlowKind {
        name: kind.name,
        aliases: &[],
        doc: kind.doc,
        transport: Transport::Tcp,
        params: vec![(kind.name, kind.params)],
        dialects: TcpParams::DIALECTS.iter().collect(),
    });
    let foreign = foreign::all().into_iter().map(|flow| FlowKind {
        name: flow.name,
        aliases: &[],
        doc: flow.doc,
        transport: Transport::Tcp,
        params: vec![(flow.name, flow.params)],
        dialects: flow.dialects.iter().collect(),
    });
    tcp_kinds()
        .map(|kind| kind.flow_kind())
        .chain(udp)
        .chain(OTHERS.iter().map(|flow| (flow.kind)()))
        .chain(workloads)
        .chain(foreign)
        .collect()
}

/// Registers a kind of flow whose ends others wrote. The same declaration under the same name is no mistake.
///
/// # Errors
/// If specifications cannot name it, another kind of flow or source has its name, or its declaration does not hold together.
pub fn register_flow(flow: ForeignFlow) -> Result<(), RegisterError> {
    let given = || flow.name.to_owned();
    check_what(flow.name).map_err(|problem| RegisterError::Name {
        given: given(),
        problem,
    })?;
    Values::check(flow.params, flow.dialects).map_err(|problem| RegisterError::Declaration {
        given: given(),
        problem,
    })?;
    let known = flow_kinds();
    let is_known = known.iter().any(|kind| kind.is_called(flow.name));
    if (is_known && foreign::find(flow.name).is_none()) || registry::find(flow.name).is_some() {
        return Err(foreign::taken(flow.name));
    }
    foreign::put(flow)
}

/// Builds a flow whose ends others wrote.
pub(super) fn build_foreign(
    flow: &ForeignFlow,
    args: &[(String, String)],
    request: &FlowRequest<'_>,
) -> Result<BuiltFlow, ParamError> {
    let request = FlowRequest {
        dialect: usable_dialect(request.dialect, flow.dialects),
        ..*request
    };
    let ends = (flow.build)(args, &request)?;
    Ok(BuiltFlow {
        sender: Endpoint::Foreign(ends.sender),
        receiver: ends.receiver.map(Endpoint::Foreign),
        transport: Transport::Tcp,
        parts: vec![(flow.name, ends.resolved)],
        ns3_numbers: 0,
        connections: 1,
    })
}

/// The first sentence of a description.
fn first_sentence(about: &'static str) -> &'static str {
    let line = about.lines().next().unwrap_or(about);
    line.split_inclusive(". ").next().unwrap_or(line).trim_end()
}

/// Whether a source can be a flow of datagrams. One without writes of its own (bulk) needs a transport that decides when to send. One
/// whose writes are frames (video) needs a transport that divides them.
pub(super) fn carries_datagrams(source: &CatalogueEntry) -> bool {
    ![
        <Bulk as registry::Entry>::NAME,
        <Video as registry::Entry>::NAME,
    ]
    .contains(&source.name)
}

/// The error of a flow that does not exist.
pub(super) fn unknown(name: &str) -> ParamError {
    if let Err(BuildError::Foreign { given, problem }) = sojourn_cc::registry::required(name) {
        let kind = UnitErrorKind::UnknownChoice;
        return wrong("flow", kind, &given, "a kind of flow", problem);
    }
    let kinds = flow_kinds();
    let names = || kinds.iter().map(|kind| kind.name);
    let list: Vec<&str> = names().collect();
    let list = list.join(", ");
    let remedy = match nearest(name, names()) {
        Some(near) => format!("did you mean {near:?}? (flows: {list})"),
        None => format!("choose one of {list}"),
    };
    wrong(
        "flow",
        UnitErrorKind::UnknownChoice,
        name,
        "a kind of flow",
        remedy,
    )
}
