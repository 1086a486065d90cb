//! Flows by name: which endpoints, with which parameters, a flow specification means.
//!
//! A TCP flow is named by its loss recovery (`reno`, `newreno`, `tahoe`; `tcp` leaves that to its parameters) and sends
//! without end unless it is given `bytes`, `packets` or a `source`. A UDP flow is named by its source.

use crate::endpoint::Endpoint;
use crate::registry::{self, AnySource, CatalogueEntry, Resolved, usable_dialect, wrong};
use crate::sources::bulk::Bulk;
use crate::timed::Timed;
use sojourn_sim::Stream;
use sojourn_transport::ns2::{Ns2Params, Ns2Sender, Ns2Sink};
use sojourn_transport::{UdpParams, UdpSender};
use sojourn_units::{
    Bytes, Packets, ParamError, ParamInfo, ParamValue, Params, Spec, Time, UnitErrorKind, nearest,
};

/// What a flow needs to know of its surroundings when it is built.
#[derive(Clone, Copy, Debug)]
pub struct FlowRequest<'a> {
    /// Index of the flow in the network.
    pub flow: u32,
    /// Stable name of the flow, such as `flow/reno-1`: random streams derive from it.
    pub name: &'a str,
    /// The dialect of the scenario, if it has one; the flow's own wins.
    pub dialect: Option<&'a str>,
    /// Seed of the run.
    pub seed: u64,
    /// Replication of the run.
    pub replication: u64,
    /// When the flow starts.
    pub start: Time,
    /// When its source falls silent, if it does.
    pub stop: Option<Time>,
}

impl FlowRequest<'_> {
    fn stream(&self, purpose: &str) -> Stream {
        let name = format!("{}/{purpose}", self.name);
        Stream::derive(self.seed, self.replication, &name)
    }
}

/// Which protocol carries a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transport {
    /// Datagrams to a passive sink.
    Udp,
    /// TCP, with a receiver that acknowledges.
    Tcp,
}

/// The endpoints of a flow.
pub struct BuiltFlow {
    /// The sender.
    pub sender: Endpoint,
    /// The receiver; `None` for a passive sink.
    pub receiver: Option<Endpoint>,
    /// Which protocol carries it.
    pub transport: Transport,
    /// What runs: each part by name, with its dialect and parameters resolved.
    pub parts: Vec<(&'static str, Resolved)>,
}

/// One kind of flow that specifications may name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowKind {
    /// The name in specifications.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Which protocol carries it.
    pub transport: Transport,
}

/// TCP flows: name, meaning, and the recovery that the name fixes.
const TCP: [(&str, &str, Option<&str>); 4] = [
    (
        "reno",
        "TCP whose fast recovery any new acknowledgement ends.",
        Some("reno"),
    ),
    (
        "newreno",
        "TCP whose fast recovery goes on until all losses are repaired.",
        Some("newreno"),
    ),
    (
        "tahoe",
        "TCP that answers a loss with slow start; only in dialect ns2.",
        Some("tahoe"),
    ),
    ("tcp", "TCP as its parameters say.", None),
];

/// Parameters of a TCP flow that are not the transport's: its data.
const DATA: [&str; 3] = ["bytes", "packets", "source"];

/// Every kind of flow.
pub fn flow_kinds() -> Vec<FlowKind> {
    let tcp = TCP.iter().map(|&(name, doc, _)| FlowKind {
        name,
        doc,
        transport: Transport::Tcp,
    });
    let udp = registry::catalogue()
        .iter()
        .filter(|source| carries_datagrams(source))
        .map(|source| FlowKind {
            name: source.name,
            doc: source.title,
            transport: Transport::Udp,
        });
    tcp.chain(udp).collect()
}

/// A source without writes of its own (bulk) needs a transport that decides when to send.
fn carries_datagrams(source: &CatalogueEntry) -> bool {
    source.name != <Bulk as registry::Entry>::NAME
}

/// Builds the endpoints of the flow called `name` with parameters `args`.
///
/// # Errors
/// If there is no such flow, or a parameter does not exist, is missing or has a value that is not allowed.
pub fn build_flow(
    name: &str,
    args: &[(String, String)],
    request: &FlowRequest<'_>,
) -> Result<BuiltFlow, ParamError> {
    if let Some(&(_, _, recovery)) = TCP.iter().find(|entry| entry.0 == name) {
        return build_tcp(recovery, args, request);
    }
    match registry::find(name).filter(|source| carries_datagrams(source)) {
        Some(source) => build_udp(source, args, request),
        None => Err(unknown(name)),
    }
}

fn unknown(name: &str) -> ParamError {
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

fn build_udp(
    source: &'static CatalogueEntry,
    args: &[(String, String)],
    request: &FlowRequest<'_>,
) -> Result<BuiltFlow, ParamError> {
    let known = [source.params, UdpParams::TABLE];
    check_keys(args, &known, &[])?;
    let own = pairs_of(args, source.params);
    let dialect = effective_dialect(args, request);
    let params = udp_params(args, dialect)?;
    let built = registry::build_source(&spec(source.name, &own), dialect)?;
    let resolved = (source.resolve)(dialect, &own)?;
    let sender = UdpSender::new(
        request.flow,
        &params,
        Timed::new(built, request.start),
        request.stream("source"),
        request.stop,
    );
    Ok(BuiltFlow {
        sender: Endpoint::Udp(sender),
        receiver: None,
        transport: Transport::Udp,
        parts: vec![(source.name, resolved), ("udp", Resolved::of(&params))],
    })
}

/// UDP has no dialects of its own account: one that it lacks is the source's business.
fn udp_params(args: &[(String, String)], dialect: Option<&str>) -> Result<UdpParams, ParamError> {
    let known = |d: &&str| {
        UdpParams::DIALECTS
            .iter()
            .any(|info| info.name == *d || info.release == *d)
    };
    sojourn_units::build(dialect.filter(known), &pairs_of(args, UdpParams::TABLE))
}

fn build_tcp(
    recovery: Option<&str>,
    args: &[(String, String)],
    request: &FlowRequest<'_>,
) -> Result<BuiltFlow, ParamError> {
    let dialect = effective_dialect(args, request);
    let mut args = args.to_vec();
    if let Some(recovery) = recovery {
        if let Some((_, given)) = args.iter().find(|(key, _)| key == "recovery") {
            return Err(wrong(
                "recovery",
                UnitErrorKind::UnknownChoice,
                given,
                "open: the name of the flow fixes it",
                "leave it out, or name the flow tcp",
            ));
        }
        args.push(("recovery".to_owned(), recovery.to_owned()));
    }
    build_ns2(&args, dialect, request)
}

fn build_ns2(
    args: &[(String, String)],
    dialect: Option<&str>,
    request: &FlowRequest<'_>,
) -> Result<BuiltFlow, ParamError> {
    check_keys(args, &[Ns2Params::TABLE], &DATA)?;
    let own = pairs_of(args, Ns2Params::TABLE);
    let params: Ns2Params = sojourn_units::build(usable_dialect::<Ns2Params>(dialect), &own)?;
    let (source, data) = data(args, dialect, params.payload)?;
    let phase = params.tick_phase.unwrap_or_else(|| {
        let tick = params.tick.as_ps();
        sojourn_units::Span::from_ps(request.stream("clock").below(tick))
    });
    let sender = Ns2Sender::new(
        request.flow,
        &params,
        Timed::new(source, request.start),
        request.stream("source"),
        phase,
        request.start,
        request.stop,
    );
    Ok(BuiltFlow {
        sender: Endpoint::Ns2(sender),
        receiver: Some(Endpoint::Ns2Sink(Ns2Sink::new(request.flow, &params))),
        transport: Transport::Tcp,
        parts: vec![("tcp", Resolved::of(&params)), data],
    })
}

/// What a TCP flow sends: `source`, or a bulk transfer of `bytes`, `packets` or without end.
fn data(
    args: &[(String, String)],
    dialect: Option<&str>,
    payload: Bytes,
) -> Result<(AnySource, (&'static str, Resolved)), ParamError> {
    let given: Vec<&(String, String)> = args
        .iter()
        .filter(|(key, _)| DATA.contains(&key.as_str()))
        .collect();
    if let [first, second, ..] = given.as_slice() {
        return Err(wrong(
            &second.0,
            UnitErrorKind::UnknownChoice,
            &second.1,
            &format!("allowed beside {}", first.0),
            "keep one of them",
        ));
    }
    let spec = match given.first() {
        None => Spec::new("bulk"),
        Some((key, text)) if key == "source" => {
            Spec::parse_text(text).map_err(|error| ParamError::BadValue {
                key: key.clone(),
                error,
            })?
        }
        Some((key, text)) if key == "packets" => {
            let packets = Packets::parse_text(text).map_err(|error| ParamError::BadValue {
                key: key.clone(),
                error,
            })?;
            let bytes = payload.get().saturating_mul(packets.get());
            spec(
                "bulk",
                &[("bytes".to_owned(), Bytes::new(bytes).to_string())],
            )
        }
        Some(pair) => spec("bulk", &[(*pair).clone()]),
    };
    let source = registry::build_source(&spec, dialect)?;
    let entry = registry::find(&spec.name).map(|entry| {
        let resolved = (entry.resolve)(dialect, &spec.pairs());
        resolved.map(|resolved| (entry.name, resolved))
    });
    match entry {
        Some(resolved) => Ok((source, resolved?)),
        None => unreachable!("the source was built"),
    }
}

fn spec(name: &str, pairs: &[(String, String)]) -> Spec {
    let mut spec = Spec::new(name);
    for (key, text) in pairs {
        let value = sojourn_units::SpecValue::Text(text.clone());
        spec.args.push((key.clone(), value));
    }
    spec
}

/// The flow's own dialect, or else the scenario's.
fn effective_dialect<'a>(
    args: &'a [(String, String)],
    request: &FlowRequest<'a>,
) -> Option<&'a str> {
    args.iter()
        .find(|(key, _)| key == "dialect")
        .map(|(_, name)| name.as_str())
        .or(request.dialect)
}

/// The arguments that one part of a flow declares.
fn pairs_of(args: &[(String, String)], table: &[ParamInfo]) -> Vec<(String, String)> {
    args.iter()
        .filter(|(key, _)| table.iter().any(|info| info.name == key))
        .cloned()
        .collect()
}

/// Refuses what no part of a flow declares, and what is given twice.
fn check_keys(
    args: &[(String, String)],
    tables: &[&'static [ParamInfo]],
    more: &[&'static str],
) -> Result<(), ParamError> {
    let allowed: Vec<&'static str> = tables
        .iter()
        .flat_map(|table| table.iter().map(|info| info.name))
        .chain(more.iter().copied())
        .collect();
    for (index, (key, text)) in args.iter().enumerate() {
        if key != "dialect" && !allowed.contains(&key.as_str()) {
            return Err(ParamError::UnknownKey {
                key: key.clone(),
                given: text.clone(),
                nearest: nearest(key, allowed.iter().copied()),
                allowed,
            });
        }
        if let Some((_, first)) = args[..index].iter().find(|(earlier, _)| earlier == key) {
            return Err(ParamError::Repeated {
                key: key.clone(),
                first: first.clone(),
                second: text.clone(),
            });
        }
    }
    Ok(())
}
