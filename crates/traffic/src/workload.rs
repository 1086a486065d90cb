//! Flows that come and go: transfers of finite size that arrive at random, requests with responses, pages of many objects.
//!
//! A workload is one flow of the scenario and many of the network: it has `connections` places, each a flow of its own to every
//! queue on the path, and each transfer opens a new connection, of TCP or QUIC, in a place that is free, the one that has been free for the
//! longest. When all places are taken, transfers wait for one, first come first served, and that wait is part of their completion
//! time. Everything is made before the run; connections that come and go in it allocate, the packets of a connection do not. A
//! packet carries the number of its connection, so that what is left over from an earlier one in the same place is ignored.
//!
//! Data runs from the sender of the flow to its receiver. Where the receiver asks for it (`request_response`, `web`, `dash`), the request
//! is one packet from the receiver to the sender, sent again after a second, then two, until something comes of it; the first
//! request of a connection opens it, from the side of the sender: data then begins to arrive two round trips after the request, as
//! if the receiver had opened it and asked on its third packet.
//!
//! A flow completion time runs from when a transfer is asked for until its last byte has arrived, in order, at the receiver. The
//! ideal time, by which the slowdown divides it, is that of the propagation and of the transmission of all its bytes, headers
//! included, at the slowest link of the path; of a response, the propagation of the request is added. It knows no handshake and
//! no window, so the slowdown of a short transfer over an idle path is well above 1.

pub mod arrivals;
mod client;
mod end;
pub mod player;
mod points;
mod server;
pub mod sizes;
mod slots;

#[cfg(test)]
mod runs;

pub use client::Client;
pub use server::{OpenConnections, Server};

use crate::endpoint::Endpoint;
use crate::flow::{BuiltFlow, CC, FlowRequest, Transport, check_keys};
use crate::num::{real, whole};
use crate::others::QUIC;
use crate::registry::{Resolved, wrong};
use crate::udp_rr;
use arrivals::{Arrivals, Offered};
use client::{Asks, User};
use end::Plan;
use player::{Ladder, Playback, Player, PlayerConfig, PlayerControl};
use server::ServerConfig;
use sizes::{Counts, Sizes, spec_of};
use sojourn_units::{
    Bytes, ParamError, ParamInfo, Params, Rate, Ratio, Span, Spec, SpecValue, Time, UnitErrorKind,
    choice, params,
};

choice! {
    /// How long a connection lasts.
    pub enum Life {
        /// One response.
        Request = "request",
        /// One page.
        Page = "page",
        /// As long as the flow.
        Session = "session",
    }
}

params! {
    /// Flows of finite size, over TCP or QUIC, that arrive one after the other, each over a connection of its own.
    pub struct WorkloadParams {
        /// What carries them: a TCP flow with its parameters, or `quic` with its own.
        tcp: Spec = "cubic", source "Sojourn's choice";
        /// How large they are: a distribution; none if the arrivals say it.
        sizes: Option<Spec> = "none", source "required unless arrivals are a trace";
        /// When they arrive.
        arrivals: Spec = "poisson", source "Sojourn's choice";
        /// Offered load: what all flows of the entry offer together, payload only, as a share of the rate of the slowest link.
        load: Option<Ratio> = "none", source "either this or interval";
        /// Mean time between arrivals of one flow of the entry.
        interval: Option<Span> = "none", range "1ns".., source "either this or load";
        /// Most connections that are open at once; transfers beyond wait.
        connections: u64 = "64", range "1".."4096", source "Sojourn's choice";
        /// Transfers after which no more arrive; none goes on until the flow stops.
        transfers: Option<u64> = "none", range "1".., source "Sojourn's choice";
    }
}

params! {
    /// A user who sends a request, waits for the response, thinks, and sends the next.
    pub struct RequestResponseParams {
        /// What carries the responses: a TCP flow with its parameters, or `quic` with its own.
        tcp: Spec = "cubic", source "Sojourn's choice";
        /// How large responses are: a distribution.
        sizes: Spec = "(exponential mean=20kB)", source "Sojourn's choice";
        /// Bytes of a request, one packet, without headers.
        request: Bytes = "350B", range "1B".."1400B", source "IEEE 802.16m-08/004r5 section 10 (HTTP request)";
        /// Mean time between a response and the next request.
        think: Span = "1s", range "0s".."1h", source "Sojourn's choice";
        /// Whether that time is exponential; otherwise it is always the same.
        random_think: bool = "true", source "Sojourn's choice";
        /// How long a connection lasts.
        life: Life = "session", source "RFC 9112 section 9.3 (persistent connections)";
        /// Requests after which the user is gone; none goes on until the flow stops.
        requests: Option<u64> = "none", range "1".., source "Sojourn's choice";
    }
}

params! {
    /// A user who loads pages: a first object, then those embedded in it over parallel connections, then a time to read.
    pub struct WebParams {
        /// What carries the objects: a TCP flow with its parameters, or `quic` with its own.
        tcp: Spec = "cubic", source "Sojourn's choice";
        /// How large the first object of a page is: a distribution.
        first: Spec = "(lognormal median=4316B sigma=1.37 min=100B max=2MB)", source "IEEE 802.16m-08/004r5 section 10 (HTTP, main object)";
        /// How many objects follow it: a distribution of numbers.
        objects: Spec = "(geometric mean=5.64)", source "IEEE 802.16m-08/004r5 section 10 (mean; there a truncated Pareto distribution)";
        /// How large these are: a distribution.
        sizes: Spec = "(lognormal median=478B sigma=2.36 min=50B max=2MB)", source "IEEE 802.16m-08/004r5 section 10 (HTTP, embedded object)";
        /// Parallel connections.
        connections: u64 = "6", range "1".."256", source "what browsers open to one host over HTTP/1.1";
        /// Bytes of a request, one packet, without headers.
        request: Bytes = "350B", range "1B".."1400B", source "IEEE 802.16m-08/004r5 section 10 (HTTP request)";
        /// Mean time between a page and the next.
        think: Span = "30s", range "0s".."1h", source "IEEE 802.16m-08/004r5 section 10 (HTTP, reading time)";
        /// Whether that time is exponential; otherwise it is always the same.
        random_think: bool = "true", source "IEEE 802.16m-08/004r5 section 10 (HTTP, reading time)";
        /// How long a connection lasts.
        life: Life = "page", source "Sojourn's choice";
        /// Pages after which the user is gone; none goes on until the flow stops.
        pages: Option<u64> = "none", range "1".., source "Sojourn's choice";
    }
}

params! {
    /// A viewer of a video that is fetched over HTTP segment by segment, each in the quality that the link seems to carry (DASH).
    pub struct DashParams {
        /// What carries the segments: a TCP flow with its parameters, or `quic` with its own.
        tcp: Spec = "cubic", source "Sojourn's choice";
        /// The rates of the qualities, ascending, with colons between.
        ladder: Ladder = "300kbps:750kbps:1.2Mbps:1.85Mbps:2.85Mbps:4.3Mbps", source "the ladder of Mao et al. 2017 (Pensieve) section 5.1, from memory";
        /// Media in one segment.
        segment: Span = "4s", range "100ms".."1min", source "Mao et al. 2017 section 5.1, from memory";
        /// Standard deviation of the size of segments of one quality, as a part of its mean.
        variation: f64 = "0", range "0".."1", source "constant bit rate";
        /// How the quality is chosen.
        control: PlayerControl = "buffer", source "Sojourn's choice";
        /// Media that is held at most.
        buffer: Span = "60s", range "100ms".."1h", source "Mao et al. 2017 section 5.1, from memory";
        /// With control=buffer: media up to which the lowest quality is asked for.
        reservoir: Span = "10s", range "0s".."1h", source "Sojourn's choice for a buffer of 60 s; Huang et al. 2014 have 90 of 240 s";
        /// Media that must be there before the picture moves, at the start and after a stall.
        resume: Span = "4s", range "1ms".."1h", source "one segment";
        /// Bytes of a request, one packet, without headers.
        request: Bytes = "350B", range "1B".."1400B", source "IEEE 802.16m-08/004r5 section 10 (HTTP request)";
        /// Segments of the video; none goes on until the flow stops.
        segments: Option<u64> = "none", range "1".., source "Sojourn's choice";
    }
}

/// What was transferred.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum TransferKind {
    /// A transfer of a workload.
    Flow,
    /// A response.
    Response,
    /// A page, from the request for its first object to the end of its last one.
    Page,
}

impl TransferKind {
    /// Every kind.
    pub const ALL: [TransferKind; 3] = [
        TransferKind::Flow,
        TransferKind::Response,
        TransferKind::Page,
    ];

    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            TransferKind::Flow => "flow",
            TransferKind::Response => "response",
            TransferKind::Page => "page",
        }
    }
}

/// One transfer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transfer {
    /// What it was.
    pub kind: TransferKind,
    /// Payload bytes.
    pub bytes: u64,
    /// When it was asked for.
    pub asked: Time,
    /// When its last byte had arrived.
    pub completed: Option<Time>,
}

/// A kind of workload that specifications may name.
#[derive(Clone, Copy, Debug)]
pub struct WorkloadKind {
    /// The name.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Its parameters.
    pub params: &'static [ParamInfo],
}

const WORKLOAD: &str = "workload";
const REQUEST_RESPONSE: &str = "request_response";
const WEB: &str = "web";
const DASH: &str = "dash";

/// Every kind of workload.
pub const KINDS: [WorkloadKind; 4] = [
    WorkloadKind {
        name: WORKLOAD,
        doc: WorkloadParams::DOC,
        params: WorkloadParams::TABLE,
    },
    WorkloadKind {
        name: REQUEST_RESPONSE,
        doc: RequestResponseParams::DOC,
        params: RequestResponseParams::TABLE,
    },
    WorkloadKind {
        name: WEB,
        doc: WebParams::DOC,
        params: WebParams::TABLE,
    },
    WorkloadKind {
        name: DASH,
        doc: DashParams::DOC,
        params: DashParams::TABLE,
    },
];

/// The kind of workload of that name.
pub fn find(name: &str) -> Option<&'static WorkloadKind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// How many flows of the network a flow of this kind is: the connections of a workload, otherwise one. What cannot be read is
/// an error when the flow is built.
pub fn connections(kind: &str, args: &[(String, String)]) -> u32 {
    let given = args.iter().find(|(key, _)| key == "connections");
    let given = given.and_then(|(_, text)| text.parse::<u32>().ok());
    match kind {
        WORKLOAD => given.unwrap_or(64).clamp(1, 4096),
        WEB => given.unwrap_or(6).clamp(1, 256),
        _ => 1,
    }
}

/// How many transfers one flow of this kind makes within `within`, at most, on average. The arrivals of `workload` do not depend on the
/// network: its slowest link and the flows that share the load say how many there are. Users wait a round trip and a time to think for
/// each request. Zero for other kinds, and for what cannot be read: that error appears when the flow is built.
pub fn expected_transfers(
    kind: &str,
    args: &[(String, String)],
    (capacity, shares): (Rate, u64),
    round_trip: Span,
    within: Span,
) -> u64 {
    let most = |limit: Option<u64>| limit.map_or(f64::INFINITY, real);
    let asked = |think: Span| within.as_secs_f64() / (think + round_trip).as_secs_f64();
    let expected = match kind {
        WORKLOAD => sojourn_units::build(None, args).and_then(|params: WorkloadParams| {
            let arrivals = arrivals_of(&params, capacity, shares)?;
            Ok(arrivals.expected(within).min(most(params.transfers)))
        }),
        REQUEST_RESPONSE => sojourn_units::build(None, args)
            .map(|params: RequestResponseParams| asked(params.think).min(most(params.requests))),
        WEB => sojourn_units::build(None, args).and_then(|params: WebParams| {
            let objects = Counts::of("objects", &params.objects)?;
            // The page itself is counted, too.
            Ok(asked(params.think).min(most(params.pages)) * (objects.mean() + 2.0))
        }),
        _ => Ok(0.0),
    };
    whole(expected.unwrap_or(0.0))
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
    let width = connections(kind.name, args);
    let flows = (request.flow, width);
    match kind.name {
        WORKLOAD => {
            let params: WorkloadParams = sojourn_units::build(None, args)?;
            let arrivals = arrivals_of(&params, request.capacity, request.shares)?;
            let (plan, tcp) = carrier(&params.tcp, request)?;
            let server = Server::new(ServerConfig {
                flows,
                plan: plan.clone_for(request)?,
                arrivals: Some(arrivals),
                most: params.transfers.unwrap_or(u64::MAX),
                rng: request.stream("arrivals"),
                start: request.start,
                stop: request.stop,
            });
            let resolved = resolved(&params, &tcp);
            Ok(built(
                server,
                Client::new(flows, plan.clone_for(request)?, None),
                width,
                kind,
                resolved,
                &plan,
            ))
        }
        REQUEST_RESPONSE => {
            let params: RequestResponseParams = sojourn_units::build(None, args)?;
            let (plan, tcp) = carrier(&params.tcp, request)?;
            let user = User {
                asks: Asks::Pages {
                    first: Sizes::of("sizes", &params.sizes)?,
                    objects: Counts::Fixed(0),
                    others: Sizes::Fixed(1),
                    think: params.think,
                    random: params.random_think,
                },
                request_bytes: plan.headers().saturating_add(narrow(params.request.get())),
                life: params.life,
                pages: false,
                left: params.requests.unwrap_or(u64::MAX),
                rng: request.stream("user"),
                start: request.start,
                stop: request.stop.unwrap_or(Time::MAX),
            };
            let resolved = resolved(&params, &tcp);
            asked_for(user, flows, kind, resolved, &plan, request)
        }
        DASH => {
            let params: DashParams = sojourn_units::build(None, args)?;
            let (plan, tcp) = carrier(&params.tcp, request)?;
            let player = Player::new(PlayerConfig {
                ladder: params.ladder.clone(),
                control: params.control,
                segment: params.segment,
                variation: params.variation,
                buffer: params.buffer,
                reservoir: params.reservoir,
                resume: params.resume,
            })?;
            let user = User {
                asks: Asks::Segments(Box::new(player)),
                request_bytes: plan.headers().saturating_add(narrow(params.request.get())),
                life: Life::Session,
                pages: false,
                left: params.segments.unwrap_or(u64::MAX),
                rng: request.stream("user"),
                start: request.start,
                stop: request.stop.unwrap_or(Time::MAX),
            };
            let resolved = resolved(&params, &tcp);
            asked_for(user, flows, kind, resolved, &plan, request)
        }
        _ => {
            let params: WebParams = sojourn_units::build(None, args)?;
            let (plan, tcp) = carrier(&params.tcp, request)?;
            let user = User {
                asks: Asks::Pages {
                    first: Sizes::of("first", &params.first)?,
                    objects: Counts::of("objects", &params.objects)?,
                    others: Sizes::of("sizes", &params.sizes)?,
                    think: params.think,
                    random: params.random_think,
                },
                request_bytes: plan.headers().saturating_add(narrow(params.request.get())),
                life: params.life,
                pages: true,
                left: params.pages.unwrap_or(u64::MAX),
                rng: request.stream("user"),
                start: request.start,
                stop: request.stop.unwrap_or(Time::MAX),
            };
            let resolved = resolved(&params, &tcp);
            asked_for(user, flows, kind, resolved, &plan, request)
        }
    }
}

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

fn asked_for(
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

fn built(
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

/// What carries a workload.
struct Carrier {
    spec: Spec,
    parts: Vec<(&'static str, Resolved)>,
    headers: u32,
}

impl Carrier {
    fn headers(&self) -> u32 {
        self.headers
    }

    /// Each end has a plan of its own.
    fn clone_for(&self, request: &FlowRequest<'_>) -> Result<Plan, ParamError> {
        Plan::of(&self.spec, request.dialect)
    }
}

/// What a specification names to carry a workload, and that specification with every parameter.
fn carrier(spec: &Spec, request: &FlowRequest<'_>) -> Result<(Carrier, Spec), ParamError> {
    let plan = Plan::of(spec, request.dialect)?;
    let mut full = Spec::new(spec.name.clone());
    let text = |text: &str| SpecValue::Text(text.to_owned());
    let mut put = |key: &str, value: SpecValue| {
        if full.args.iter().all(|(other, _)| other != key) {
            full.args.push((key.to_owned(), value));
        }
    };
    if let Some((_, first)) = plan.parts().first() {
        put("dialect", text(first.release));
    }
    for (name, part) in plan.parts() {
        let controls = sojourn_cc::registry::find(name).is_ok();
        if spec.name == QUIC && controls {
            // Its parameters are its own, in its parentheses.
            let pairs = part.pairs.iter();
            let control = Spec {
                name: (*name).to_owned(),
                args: pairs
                    .map(|(key, own)| ((*key).to_owned(), text(own)))
                    .collect(),
            };
            put(CC, control.into());
            continue;
        }
        if spec.name == "tcp" && controls {
            put(CC, text(name));
        }
        for (key, own) in &part.pairs {
            if *key != "recovery" || spec.name == "tcp" {
                put(key, text(own));
            }
        }
    }
    // A release that not every part knows is left to the parameters that it stands for.
    let known = Plan::of(&full, request.dialect);
    if known.is_ok_and(|again| again.parts() != plan.parts()) {
        full = spec.clone();
    }
    let carrier = Carrier {
        spec: spec.clone(),
        headers: plan.headers(),
        parts: plan.parts().to_vec(),
    };
    Ok((carrier, full))
}

/// The parameters of a workload, with those of what carries it.
fn resolved(params: &impl Params, tcp: &Spec) -> Resolved {
    let mut resolved = Resolved::of(params);
    for (key, text) in &mut resolved.pairs {
        if *key == "tcp" {
            *text = format!("({tcp})");
        }
    }
    resolved
}

/// A specification among the parameters of a workload, or the source of a flow of RTP, which names a file, with what that holds as text:
/// the lab reads it into them before a flow is built.
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

pub(crate) use points::of_lines as points_of_lines;

fn narrow(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
