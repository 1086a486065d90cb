//! Flows in scenarios: their kinds, the parameters of each, and what they resolve to.

use sojourn_traffic::flow::{self, BuiltFlow, FlowRequest, Transport};
use sojourn_traffic::registry as sources;
use sojourn_transport::ns2::Ns2Params;
use sojourn_transport::{TcpParams, UdpParams};
use sojourn_units::{DialectInfo, ParamError, ParamInfo, Params, Spec, SpecValue, Time, nearest};

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
}

/// A kind of flow, with everything that its entry in a scenario can set.
#[derive(Clone, Debug)]
pub struct FlowKindInfo {
    /// The name in scenario files.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// The parts that take parameters.
    pub parts: Vec<FlowPart>,
    /// Keys beside the parameters: name and meaning.
    pub more: &'static [(&'static str, &'static str)],
}

/// What a TCP flow sends, one of these.
const DATA: &[(&str, &str)] = &[
    (
        "bytes",
        "Bytes to send, such as 10MB; without end unless given.",
    ),
    (
        "packets",
        "Full packets to send, such as 100p, instead of bytes.",
    ),
    (
        "source",
        "What writes, such as (cbr rate=1Mbps), instead of a transfer of bytes.",
    ),
];

/// Every kind of flow.
pub fn flow_kinds() -> Vec<FlowKindInfo> {
    fn part<P: Params>(title: &'static str) -> FlowPart {
        FlowPart {
            title,
            doc: P::DOC,
            params: P::TABLE,
            dialects: P::DIALECTS,
        }
    }
    let info = |kind: &flow::FlowKind| {
        let (parts, more) = match kind.transport {
            Transport::Tcp => {
                let rfc = part::<TcpParams>("TCP");
                let ns2 = part::<Ns2Params>("TCP in dialect ns2");
                (vec![rfc, ns2], DATA)
            }
            Transport::Udp => {
                let source = sources::find(kind.name).map(|entry| FlowPart {
                    title: entry.title,
                    doc: entry.about,
                    params: entry.params,
                    dialects: entry.dialects,
                });
                let parts = source.into_iter().chain([part::<UdpParams>("UDP")]);
                (parts.collect(), [].as_slice())
            }
        };
        FlowKindInfo {
            name: kind.name,
            doc: kind.doc,
            parts,
            more,
        }
    };
    flow::flow_kinds().iter().map(info).collect()
}

/// Whether there is a kind of flow of that name.
///
/// # Errors
/// When there is none; the error names the nearest and all others.
pub fn known_flow_kind(name: &str) -> Result<()> {
    let kinds = flow::flow_kinds();
    if kinds.iter().any(|kind| kind.name == name) || sources::find(name).is_some() {
        return Ok(());
    }
    let names = || kinds.iter().map(|kind| kind.name);
    let error = LabError::new(
        LabErrorKind::UnknownName,
        format!("unknown kind of flow {name:?}"),
    );
    Err(error
        .nearest(nearest(name, names()))
        .allowed("kinds", names().collect::<Vec<_>>().join(", ")))
}

/// Builds the endpoints of a flow, to see whether its parameters allow it.
pub(super) fn try_flow(
    kind: &str,
    args: &[(String, String)],
    dialect: Option<&str>,
) -> Result<BuiltFlow, ParamError> {
    let request = FlowRequest {
        flow: 0,
        name: "flow/check",
        dialect,
        seed: 0,
        replication: 0,
        start: Time::ZERO,
        stop: None,
    };
    flow::build_flow(kind, args, &request)
}

/// The arguments of a flow with every parameter and its value; as given where these would mean something else.
pub(super) fn resolve_flow(
    kind: &str,
    args: &[(String, String)],
    dialect: Option<&str>,
) -> Vec<(String, String)> {
    let Ok(built) = try_flow(kind, args, dialect) else {
        return args.to_vec();
    };
    let mut full: Vec<(String, String)> = Vec::new();
    if let Some((_, first)) = built.parts.first()
        && first.release != "default"
    {
        full.push(("dialect".to_owned(), first.release.to_owned()));
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
        for (key, text) in &part.pairs {
            let fixed = *key == "recovery" && kind != "tcp";
            if !fixed && !full.iter().any(|(other, _)| other == key) {
                full.push(((*key).to_owned(), text.clone()));
            }
        }
    }
    match try_flow(kind, &full, dialect) {
        Ok(again) if again.parts == built.parts => full,
        _ => args.to_vec(),
    }
}
