//! Flows that come and go: transfers of finite size that arrive at random, requests with responses, pages of many objects.
//!
//! A workload is one flow of the scenario and many of the network. It has `connections` places, each a flow of its own to every
//! queue on the path. Each transfer opens a new connection, of TCP or QUIC, in a free place: the one that has been free for the
//! longest. When all places are taken, transfers wait for one, first come first served. That wait is part of their completion
//! time. The places are made before the run. A connection allocates when it is opened, its packets do not. A packet carries the
//! number of its connection, so that the endpoints ignore what is left over from an earlier one in the same place.
//!
//! Data runs from the sender of the flow to its receiver. Where the receiver asks for it (`request_response`, `web`, `dash`), the
//! request is one packet from the receiver to the sender. It is sent again after a second, then two, until something comes of it.
//! The first request of a connection opens it, from the side of the sender. Data then begins to arrive two round trips after the
//! request, as if the receiver had opened the connection and asked on its third packet.
//!
//! A flow completion time runs from when a transfer is asked for until its last byte has arrived, in order, at the receiver. The
//! slowdown divides it by the ideal time: propagation, and transmission of all bytes with their headers at the slowest link of the
//! path. For a response, the propagation of the request is added. The ideal time has no handshake and no window, so the slowdown of
//! a short transfer over an idle path is well above 1.

pub mod arrivals;
mod arriving;
mod assemble;
mod carrier;
mod client;
mod dash;
mod end;
mod kind;
pub mod player;
mod request_response;
mod server;
pub mod sizes;
mod slots;
mod transfer;
mod web;

#[cfg(test)]
mod runs;

pub use self::arriving::WorkloadParams;
pub use self::client::{Client, Life};
pub use self::dash::DashParams;
pub use self::kind::WorkloadKind;
pub use self::request_response::RequestResponseParams;
pub use self::server::{OpenConnections, Server};
pub use self::transfer::{Transfer, TransferKind};
pub use self::web::WebParams;

use self::kind::Surroundings;
use self::player::Playback;
use self::sizes::spec_of;
use crate::endpoint::Endpoint;
use crate::entry::wrong;
use crate::flow::{BuiltFlow, FlowRequest, check_keys};
use crate::num::whole;
use crate::udp_rr;
use sojourn_units::{ParamError, Rate, Span, Spec, SpecValue, Time, UnitErrorKind};

/// Every kind of workload: one file each, one line here.
pub const KINDS: [WorkloadKind; 4] = [
    arriving::KIND,
    request_response::KIND,
    web::KIND,
    dash::KIND,
];

/// The kind of workload of that name.
pub fn find(name: &str) -> Option<&'static WorkloadKind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// How many flows of the network a flow of this kind is: the connections of a workload, otherwise one. A value that cannot be read
/// is an error when the flow is built.
pub fn connections(kind: &str, args: &[(String, String)]) -> u32 {
    let given = args.iter().find(|(key, _)| key == "connections");
    let given = given.and_then(|(_, text)| text.parse::<u32>().ok());
    let (usual, most) = find(kind).map_or((1, 1), |kind| kind.places);
    given.unwrap_or(usual).clamp(1, most)
}

/// How many transfers one flow of this kind makes within `within`, at most, on average. The number of arrivals of `workload` follows
/// from the capacity of the slowest link and the flows that share the load. Users wait a round trip and a time to think for each
/// request. Zero for other kinds, and for parameters that cannot be read: that error appears when the flow is built.
pub fn expected_transfers(
    kind: &str,
    args: &[(String, String)],
    (capacity, shares): (Rate, u64),
    round_trip: Span,
    within: Span,
) -> u64 {
    let around = Surroundings {
        capacity,
        shares,
        round_trip,
        within,
    };
    let expected = find(kind).map(|kind| (kind.expected)(args, &around));
    whole(expected.and_then(Result::ok).unwrap_or(0.0))
}

/// The transfers of a workload, or the responses of `udp_rr`, in the order in which they were asked for; none of other flows.
pub fn transfers(sender: &Endpoint, receiver: Option<&Endpoint>) -> Vec<Transfer> {
    if let (Some(requester), Some(Endpoint::UdpResponder(responder))) =
        (sender.requester(), receiver)
    {
        return udp_rr::transfers(requester, responder.payload());
    }
    let (Endpoint::Server(server), Some(Endpoint::Client(client))) = (sender, receiver) else {
        return Vec::new();
    };
    let mut all: Vec<Transfer> = client.transfers.clone();
    all.extend(client.unfinished());
    for (asked, index) in server.asked.iter().zip(0usize..) {
        let got = client.progress.get(index).copied().unwrap_or_default();
        all.push(Transfer {
            kind: TransferKind::Flow,
            bytes: asked.bytes,
            asked: asked.at,
            completed: (got.bytes >= asked.bytes).then_some(got.last),
        });
    }
    all.sort_by_key(|transfer| (transfer.asked, transfer.kind, transfer.completed.is_none()));
    all
}

/// What the viewer of a video got until `now`; `None` of other flows.
pub fn playback(receiver: Option<&Endpoint>, now: Time) -> Option<Playback> {
    match receiver {
        Some(Endpoint::Client(client)) => client.playback(now),
        _ => None,
    }
}

/// Builds the endpoints of a workload.
///
/// # Errors
/// If a parameter does not exist, is missing or has a value that is not allowed.
pub(crate) fn build(
    kind: &WorkloadKind,
    args: &[(String, String)],
    request: &FlowRequest<'_>,
) -> Result<BuiltFlow, ParamError> {
    check_keys(args, &[kind.params], &[])?;
    if let Some((_, given)) = args.iter().find(|(key, _)| key == "dialect") {
        return Err(wrong(
            "dialect",
            UnitErrorKind::UnknownChoice,
            given,
            "a parameter of a workload",
            "write it among those of what carries it, such as tcp=(cubic dialect=linux)",
        ));
    }
    let flows = (request.flow, connections(kind.name, args));
    (kind.build)(kind, args, request, flows)
}

/// Puts the text of a file into the specification that names it: one among the parameters of a workload, or the source of a flow of
/// RTP. This happens before a flow is built, which reads no file.
///
/// # Errors
/// With the problem of a file that does not hold what it should.
pub fn inline(key: &str, spec: &Spec, text: &str) -> Result<Spec, String> {
    let points = match key {
        "arrivals" => arrivals::points_of_file(text)?,
        "source" => crate::sources::video::points_of_file(text)?,
        _ => sizes::points_of_file(text)?,
    };
    let mut spec = spec.clone();
    spec.args.retain(|(key, _)| key != "file");
    spec.args
        .push(("points".to_owned(), SpecValue::Text(points)));
    Ok(spec)
}

/// The file that a parameter of a flow names, if it is a specification that does.
pub fn file_of(text: &str) -> Option<(Spec, String)> {
    let spec = spec_of("", text).ok()?;
    match spec.get("file") {
        Some(SpecValue::Text(file)) if !file.is_empty() => Some((spec.clone(), file.clone())),
        _ => None,
    }
}
