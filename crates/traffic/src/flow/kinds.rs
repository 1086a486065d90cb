//! The kinds of flow that there are.

use super::built::Flow;
use super::kind::{FlowKind, Transport};
use super::tcp::names::tcp_kinds;
use super::{quic, tfrc};
use crate::entry::{CatalogueEntry, wrong};
use crate::sources::bulk::Bulk;
use crate::sources::video::Video;
use crate::{media, registry, srm, udp_rr, workload};
use sojourn_transport::{TcpParams, UdpParams};
use sojourn_units::{ParamError, Params, UnitErrorKind, nearest};

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
    tcp_kinds()
        .map(|kind| kind.flow_kind())
        .chain(udp)
        .chain(OTHERS.iter().map(|flow| (flow.kind)()))
        .chain(workloads)
        .collect()
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
