//! Flows in scenarios: their kinds, the parameters of each, and what they resolve to.

use sojourn_cc::registry as congestion;
use sojourn_traffic::flow::{self, BuiltFlow, FlowRequest, Transport};
use sojourn_traffic::foreign;
use sojourn_traffic::media::{self, RTP};
use sojourn_traffic::registry as sources;
use sojourn_traffic::srm::SRM;
use sojourn_traffic::udp_rr::UDP_RR;
use sojourn_traffic::workload;
use sojourn_transport::ns2::Ns2Params;
use sojourn_transport::ns3::Ns3Params;
use sojourn_transport::{
    QuicParams, RledbatParams, RtpParams, SackParams, SrmParams, TcpParams, TfrcParams, UdpParams,
    UdpRrParams,
};
use sojourn_units::{
    DialectInfo, ParamError, ParamInfo, Params, Rate, Spec, SpecValue, Time, nearest,
};

use crate::elsewhere::elsewhere;
use crate::error::{LabError, LabErrorKind, Result};

/// A part of a flow that has parameters of its own.
#[derive(Clone, Copy, Debug)]
pub struct FlowPart {
    /// What it is called.
    pub title: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Its parameters.
    pub params: &'static [ParamInfo],
    /// Its dialects, the default one first.
    pub dialects: &'static [DialectInfo],
    /// Parameters that the name of the flow sets, whatever the dialect: name, value and why.
    pub implied: &'static [flow::Implied],
}

impl FlowPart {
    /// The default of a parameter in a dialect, or what the name of the flow sets, and its source.
    pub fn default_of(
        &self,
        info: &ParamInfo,
        dialect: Option<&DialectInfo>,
    ) -> (&'static str, &'static str) {
        let implied = self.implied.iter().find(|(name, ..)| *name == info.name);
        match (implied, dialect) {
            (Some((_, value, why)), _) => (value, why),
            (None, Some(dialect)) => dialect.default_of(info),
            (None, None) => (info.default, info.source),
        }
    }
}

/// A kind of flow, with everything that its entry in a scenario can set.
#[derive(Clone, Debug)]
pub struct FlowKindInfo {
    /// The name in scenario files.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// What it is.
    pub doc: &'static str,
    /// The parts that take parameters.
    pub parts: Vec<FlowPart>,
    /// Keys beside the parameters: name and meaning.
    pub more: &'static [(&'static str, &'static str)],
}

/// What a TCP flow sends, one of the first; and the congestion control of one whose name leaves it open.
const DATA_AND_CC: [(&str, &str); DATA + 1] = [
    (
        "bytes",
        "Bytes to send, such as 10MB. The default is no end.",
    ),
    (
        "packets",
        "Full packets to send, such as 100p, in place of `bytes`.",
    ),
    (
        "source",
        "Source that writes the data, such as (cbr rate=1Mbps), in place of a transfer of bytes.",
    ),
    ("cc", "Congestion control, such as reno."),
];

/// What a flow of RTP sends.
const MEDIA: [(&str, &str); 1] = [(
    "source",
    "Source of the media, such as (voice codec=g729), (video rate=1Mbps) or (cbr rate=1Mbps). The default is voice.",
)];

/// How many of these are the data.
const DATA: usize = 3;

/// Every kind of flow.
pub fn flow_kinds() -> Vec<FlowKindInfo> {
    let info = |kind: &flow::FlowKind| FlowKindInfo {
        name: kind.name,
        aliases: kind.aliases,
        doc: kind.doc,
        parts: kind
            .params
            .iter()
            .map(|&(name, params)| FlowPart {
                implied: match name {
                    "tcp" => flow::implied(kind.name),
                    "ns-2 tcp" => flow::implied_in_ns2(kind.name),
                    _ => &[],
                },
                ..part(name, params)
            })
            .collect(),
        more: match (kind.transport, kind.name) {
            (_, name) if workload::find(name).is_some() || name == UDP_RR => &[],
            (_, name) if foreign::find(name).is_some() => &[],
            (Transport::Tcp, "tcp" | "quic") => &DATA_AND_CC,
            (Transport::Tcp, "rtp") => &MEDIA,
            (Transport::Tcp, _) => &DATA_AND_CC[..DATA],
            (Transport::Udp, _) => &[],
        },
    };
    flow::flow_kinds().iter().map(info).collect()
}

/// The part of a flow that a table of parameters belongs to.
pub(super) fn part(name: &'static str, params: &'static [ParamInfo]) -> FlowPart {
    fn declared<P: Params>(title: &'static str) -> FlowPart {
        FlowPart {
            title,
            doc: P::DOC,
            params: P::TABLE,
            dialects: P::DIALECTS,
            implied: &[],
        }
    }
    if let Some(entry) = sources::find(name) {
        return FlowPart {
            title: entry.title,
            doc: entry.about,
            params,
            dialects: entry.dialects,
            implied: &[],
        };
    }
    if let Some(algorithm) = congestion::find(name) {
        return FlowPart {
            title: "Congestion control",
            doc: algorithm.doc,
            params,
            dialects: algorithm.dialects,
            implied: &[],
        };
    }
    if let Some(kind) = workload::find(name) {
        return FlowPart {
            title: "Workload",
            doc: kind.doc,
            params,
            dialects: &[],
            implied: &[],
        };
    }
    if let Some(flow) = foreign::find(name) {
        return FlowPart {
            title: flow.name,
            doc: flow.doc,
            params,
            dialects: flow.dialects,
            implied: &[],
        };
    }
    match name {
        "tcp" => declared::<TcpParams>("TCP"),
        "sack" => declared::<SackParams>("Selective acknowledgement"),
        "udp" => declared::<UdpParams>("UDP"),
        UDP_RR => declared::<UdpRrParams>("UDP request and response"),
        "tfrc" => declared::<TfrcParams>("TFRC"),
        "quic" => declared::<QuicParams>("QUIC"),
        RTP => declared::<RtpParams>("RTP"),
        SRM => declared::<SrmParams>("SRM"),
        "rledbat" => declared::<RledbatParams>("rLEDBAT"),
        "ns-3.24 tcp" => declared::<Ns3Params>("TCP in dialect ns3_24"),
        _ => FlowPart {
            params,
            ..declared::<Ns2Params>("TCP in dialect ns2")
        },
    }
}

/// Whether there is a kind of flow of that name.
///
/// # Errors
/// When there is none; the error names the nearest, or where to look.
pub fn known_flow_kind(name: &str) -> Result<()> {
    // A class of a module is in the list once it was asked for.
    let control = name.contains(':').then(|| congestion::required(name));
    let kinds = flow::flow_kinds();
    if kinds.iter().any(|kind| kind.is_called(name)) || sources::find(name).is_some() {
        return Ok(());
    }
    let names = || kinds.iter().map(|kind| kind.name);
    let error = LabError::new(
        LabErrorKind::UnknownName,
        format!("unknown kind of flow {name:?}"),
    );
    if let Some(place) = elsewhere(name) {
        return Err(error.remedy(place));
    }
    if let Some(Err(congestion::BuildError::Foreign { problem, .. })) = control {
        return Err(error.remedy(problem));
    }
    if sojourn_queue::registry::find(name).is_some() {
        return Err(error.remedy(format!(
            "it is a queue: write topology.queue = \"{name}\", or --queue {name}"
        )));
    }
    // As people write them: "tcp cubic" and "tcp-cubic" are cubic.
    let plain = name
        .strip_prefix("tcp")
        .map_or(name, |rest| rest.trim_start_matches(['-', '_', '/']));
    Err(error
        .nearest(nearest(name, names()).or_else(|| nearest(plain, names())))
        .remedy("see sojourn list flows"))
}

/// Whether a flow of that kind can be sent to a multicast group: it hears nothing back, or hears all members.
pub(super) fn may_be_to_group(name: &str) -> bool {
    if [SRM, RTP].contains(&name) {
        return true;
    }
    let kinds = flow::flow_kinds();
    let kind = kinds.iter().find(|kind| kind.is_called(name));
    kind.is_some_and(|kind| kind.transport == Transport::Udp)
}

/// Builds the endpoints of a flow, to see whether its parameters allow it.
pub(super) fn try_flow(
    kind: &str,
    args: &[(String, String)],
    dialect: Option<&str>,
    to_group: bool,
) -> Result<BuiltFlow, ParamError> {
    let request = FlowRequest {
        flow: 0,
        name: "flow/check",
        dialect,
        seed: 0,
        replication: 0,
        start: Time::ZERO,
        stop: None,
        ns3_number: None,
        capacity: Rate::mbps(10),
        shares: 1,
    };
    match to_group && kind == RTP {
        // What members have in common may differ from what one receiver has.
        true => media::build_group(args, &request, &[]).map(|(built, _)| built),
        false => flow::build_flow(kind, args, &request),
    }
}

/// The parts of a flow to one node or to a multicast group, such as TCP, its control and its source, with what each resolves to.
///
/// # Errors
/// When a part lacks the dialect, or a parameter is not one of theirs.
pub fn flow_parts(
    kind: &str,
    args: &[(String, String)],
    dialect: Option<&str>,
    to_group: bool,
) -> Result<Vec<(&'static str, sources::Resolved)>, ParamError> {
    try_flow(kind, args, dialect, to_group).map(|built| built.parts)
}

/// The arguments of a flow, to one node or to a multicast group, with every parameter and its value; as given where these would mean
/// something else.
pub(crate) fn resolve_flow(
    kind: &str,
    args: &[(String, String)],
    dialect: Option<&str>,
    to_group: bool,
) -> Vec<(String, String)> {
    let Ok(built) = try_flow(kind, args, dialect, to_group) else {
        return args.to_vec();
    };
    let release = built.parts.first().map(|(_, first)| first.release);
    // Not every part knows a release by which another goes: the first that means the same is taken.
    let own = args.iter().find(|(key, _)| key == "dialect");
    let candidates = [release, own.map(|(_, name)| name.as_str()), None];
    candidates
        .into_iter()
        .map(|name| full_args(kind, &built, name))
        .find(|full| {
            let again = try_flow(kind, full, dialect, to_group);
            again.is_ok_and(|again| again.parts == built.parts)
        })
        .unwrap_or_else(|| args.to_vec())
}

/// Every argument of a flow that was built, in a dialect.
fn full_args(kind: &str, built: &BuiltFlow, dialect: Option<&str>) -> Vec<(String, String)> {
    let mut full: Vec<(String, String)> = Vec::new();
    if workload::find(kind).is_some() {
        // Its TCP stands among its parameters.
        let own = built
            .parts
            .first()
            .into_iter()
            .flat_map(|(_, part)| &part.pairs);
        return own
            .map(|(key, text)| ((*key).to_owned(), text.clone()))
            .collect();
    }
    if let Some(name) = dialect.filter(|name| *name != "default") {
        full.push(("dialect".to_owned(), name.to_owned()));
    }
    for (name, part) in &built.parts {
        if built.transport == Transport::Tcp && sources::find(name).is_some() {
            let mut spec = Spec::new(*name);
            let own = (part.release != "default").then_some(("dialect", part.release));
            let pairs = part.pairs.iter().map(|(key, text)| (*key, text.as_str()));
            for (key, text) in own.into_iter().chain(pairs) {
                let text = SpecValue::Text(text.to_owned());
                spec.args.push((key.to_owned(), text));
            }
            full.push(("source".to_owned(), format!("({spec})")));
            continue;
        }
        if kind == "quic" && congestion::find(name).is_some() {
            let mut spec = Spec::new(*name);
            for (key, text) in &part.pairs {
                let text = SpecValue::Text(text.clone());
                spec.args.push(((*key).to_owned(), text));
            }
            full.push(("cc".to_owned(), format!("({spec})")));
            continue;
        }
        if kind == "tcp" && congestion::find(name).is_some() {
            full.push(("cc".to_owned(), (*name).to_owned()));
        }
        for (key, text) in &part.pairs {
            let fixed = *key == "recovery" && kind != "tcp";
            if !fixed && !full.iter().any(|(other, _)| other == key) {
                full.push(((*key).to_owned(), text.clone()));
            }
        }
    }
    full
}
