//! Flows by name: which endpoints, with which parameters, a flow specification means.
//!
//! A TCP flow is named by its loss recovery (`reno`, `newreno`, `sack`, `tahoe`), by its congestion control (whose losses are
//! repaired by selective acknowledgement unless `recovery` says otherwise), or plainly `tcp`, which leaves both to its parameters. It
//! sends without end unless it is given `bytes`, `packets` or a `source`. Its parameters are those of the transport and of the
//! congestion control. In dialect ns2 it is ns-2's one-way agent, in dialect ns3_24 ns-3.24's socket. A UDP flow is named by its
//! source. A workload ([`crate::workload`]) is flows of TCP or QUIC that come and go.

use crate::endpoint::Endpoint;
use crate::others;
use crate::registry::{self, AnySource, CatalogueEntry, Resolved, usable_dialect, wrong};
use crate::sources::bulk::Bulk;
use crate::sources::video::Video;
use crate::timed::Timed;
use crate::workload;
use sojourn_cc::ledbat_plus::{LedbatPlus, LedbatPlusParams};
use sojourn_cc::{AnyCc, CongestionControl, EcnUse, registry as cc};
use sojourn_sim::Stream;
use sojourn_transport::app::Source;
use sojourn_transport::ns2::{Ns2Params, Ns2Sender, Ns2Sink};
use sojourn_transport::ns3::{Ns3Params, Ns3Receiver, Ns3Sender, PacketSink};
use sojourn_transport::sack::{Machine, ReceiverEcn};
use sojourn_transport::tcp::Recovery;
use sojourn_transport::tcp::TcpConfig;
use sojourn_transport::{
    RledbatParams, RledbatReceiver, RledbatSender, SackConfig, SackParams, SackReceiver,
    SackSender, TcpParams, TcpReceiver, TcpSender, UdpParams, UdpSender,
};
use sojourn_units::{
    Bytes, DialectInfo, Packets, ParamError, ParamInfo, ParamValue, Params, Rate, Span, Spec,
    SpecValue, Time, UnitErrorKind, nearest,
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
    /// The first free number where random variables are numbered as in ns-3.
    pub ns3_number: Option<u64>,
    /// Rate of the slowest link of its path.
    pub capacity: Rate,
    /// Flows of the same entry, which share the load that it offers.
    pub shares: u64,
}

impl FlowRequest<'_> {
    pub(crate) fn stream(&self, purpose: &str) -> Stream {
        let name = format!("{}/{purpose}", self.name);
        Stream::derive(self.seed, self.replication, &name)
    }

    /// Numbers the random variables of a source, if they are to be; says how many numbers it takes. The first replication is
    /// ns-3's first run.
    fn number(&self, source: &mut AnySource) -> u64 {
        let run = self.replication + 1;
        self.ns3_number
            .map_or(0, |first| source.number_streams(self.seed, run, first))
    }
}

/// Which protocol carries a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transport {
    /// Datagrams to a passive sink.
    Udp,
    /// TCP, or another with a receiver that answers.
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
    /// Numbers of random variables that it has taken, where these are numbered as in ns-3.
    pub ns3_numbers: u64,
    /// Flows of the network that it is, from the one asked for on.
    pub connections: u32,
}

/// One kind of flow that specifications may name.
#[derive(Clone, Debug)]
pub struct FlowKind {
    /// The name in specifications.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// What it is.
    pub doc: &'static str,
    /// Which protocol carries it.
    pub transport: Transport,
    /// The parameters that it takes, by part: those of the transport, and of the congestion control or source.
    pub params: Vec<(&'static str, &'static [ParamInfo])>,
    /// Its dialects, the default one first.
    pub dialects: Vec<&'static DialectInfo>,
}

impl FlowKind {
    /// Whether that is its name, or one of the others for it.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
}

/// What the name of a TCP flow fixes.
struct TcpKind {
    name: &'static str,
    aliases: &'static [&'static str],
    doc: &'static str,
    recovery: Option<&'static str>,
    congestion_control: Option<&'static str>,
}

const NAMED_TCP: [TcpKind; 5] = [
    TcpKind {
        name: "reno",
        aliases: &[],
        doc: "TCP Reno: any new acknowledgement ends fast recovery.",
        recovery: Some("reno"),
        congestion_control: Some("reno"),
    },
    TcpKind {
        name: "newreno",
        aliases: &[],
        doc: "TCP NewReno: fast recovery goes on until everything in flight at its start has arrived.",
        recovery: Some("newreno"),
        congestion_control: Some("reno"),
    },
    TcpKind {
        name: SACK,
        aliases: &[],
        doc: "TCP with selective acknowledgement and Reno's window.",
        recovery: Some(SACK),
        congestion_control: Some("reno"),
    },
    TcpKind {
        name: TAHOE,
        aliases: &[],
        doc: "TCP Tahoe: a loss is answered with slow start. Only in dialects ns2 and ns3_24.",
        recovery: Some("tahoe"),
        congestion_control: None,
    },
    TcpKind {
        name: "tcp",
        aliases: &[],
        doc: "TCP as its parameters `recovery` and `cc` say.",
        recovery: None,
        congestion_control: None,
    },
];

/// The recovery that only the agents of ns-2 and ns-3.24 have.
const TAHOE: &str = "tahoe";

/// The congestion control that is an agent of its own in ns-2.
const VEGAS: &str = "vegas";

/// The recovery by selective acknowledgement.
const SACK: &str = "sack";

/// The part of a flow whose receiver bounds it by LEDBAT.
const RLEDBAT: &str = "rledbat";

/// Parameters of a TCP flow that are not the transport's: its data.
pub(crate) const DATA: [&str; 3] = ["bytes", "packets", SOURCE];

/// That of these which is a specification.
pub(crate) const SOURCE: &str = "source";

/// The parameter of a plain TCP flow that names its congestion control.
pub(crate) const CC: &str = "cc";

/// TCP flows by name: those above, and every congestion control that is not among them.
fn tcp_kinds() -> impl Iterator<Item = TcpKind> {
    let others = sojourn_cc::ALGORITHMS
        .iter()
        .filter(|algorithm| NAMED_TCP.iter().all(|kind| kind.name != algorithm.name))
        .map(|algorithm| TcpKind {
            name: algorithm.name,
            aliases: algorithm.aliases,
            doc: algorithm.doc,
            recovery: None,
            congestion_control: Some(algorithm.name),
        });
    NAMED_TCP.into_iter().chain(others)
}

impl TcpKind {
    /// Whether ns-2's agent can be this flow.
    fn is_ns2s(&self) -> bool {
        self.recovery.is_some() || self.congestion_control.is_none() || self.name == VEGAS
    }

    /// Refuses what only selective acknowledgement has, where the name of the flow fixes that losses are repaired without.
    fn refuse_selective(
        &self,
        args: &[(String, String)],
        own: &[&[ParamInfo]],
    ) -> Result<(), ParamError> {
        if self.may_be_selective() {
            return Ok(());
        }
        let selective = |(key, _): &&(String, String)| is_selective(key, own);
        match args.iter().find(selective) {
            Some((key, given)) => Err(ParamError::NoEffect {
                key: key.clone(),
                given: given.clone(),
                beside: format!(
                    "{}, which repairs losses without selective acknowledgement",
                    self.name
                ),
                remedy: "leave it out, or name the flow sack".to_owned(),
            }),
            None => Ok(()),
        }
    }

    /// Whether selective acknowledgement can repair its losses.
    fn may_be_selective(&self) -> bool {
        self.recovery.is_none_or(|recovery| recovery == SACK)
    }

    fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    /// Whether ns-3.24's socket can be this flow.
    fn is_ns3s(&self) -> bool {
        self.name == TAHOE
    }

    fn flow_kind(&self) -> FlowKind {
        let mut dialects: Vec<&'static DialectInfo> = Vec::new();
        let mut params: Vec<(&'static str, &'static [ParamInfo])> = Vec::new();
        if self.name != TAHOE {
            dialects.extend(TcpParams::DIALECTS);
            params.push(("tcp", TcpParams::TABLE));
            if self.may_be_selective() {
                params.push((SACK, SackParams::TABLE));
                params.push((RLEDBAT, RledbatParams::TABLE));
            }
            if let Ok(algorithm) = cc::find(self.congestion_control.unwrap_or(DEFAULT_CC)) {
                params.push((algorithm.name, algorithm.params));
            }
        }
        if self.is_ns2s() {
            dialects.extend(Ns2Params::DIALECTS);
            params.push(("ns-2 tcp", Ns2Params::TABLE));
        }
        if self.is_ns3s() {
            dialects.extend(Ns3Params::DIALECTS);
            params.push(("ns-3.24 tcp", Ns3Params::TABLE));
        }
        FlowKind {
            name: self.name,
            aliases: self.aliases,
            doc: self.doc,
            transport: Transport::Tcp,
            params,
            dialects,
        }
    }
}

/// A parameter of TCP that the name of a flow sets: its name, value and why.
pub type Implied = (&'static str, &'static str, &'static str);

const NAMED: &str = "the name of the flow";
const SELECTIVE: Implied = (
    "recovery",
    SACK,
    "RFC 6675; what was written for it expects it",
);
const MARKS: Implied = ("ecn", "true", "it lives by marks");

/// What the name of a flow sets in its transport, whatever the dialect.
pub fn implied(name: &str) -> &'static [Implied] {
    let Some(kind) = tcp_kinds().find(|kind| kind.is_called(name)) else {
        return &[];
    };
    match (kind.recovery, kind.congestion_control) {
        (Some("reno"), _) => &[("recovery", "reno", NAMED)],
        (Some("newreno"), _) => &[("recovery", "newreno", NAMED)],
        (Some(_), _) => &[("recovery", SACK, NAMED)],
        (None, None) => &[],
        (None, Some(control)) if needs_marks(control) => &[SELECTIVE, MARKS],
        (None, Some(_)) => &[SELECTIVE],
    }
}

/// What the name of a flow sets in ns-2's agent.
pub fn implied_in_ns2(name: &str) -> &'static [Implied] {
    match tcp_kinds().find(|kind| kind.is_called(name)) {
        Some(kind) if kind.name == VEGAS => &[
            ("recovery", VEGAS, NAMED),
            ("headers", "0B", "tcp-vegas.cc, output: none are added"),
        ],
        Some(kind) => match kind.recovery {
            Some("newreno") => &[("recovery", "newreno", NAMED)],
            Some(SACK) => &[("recovery", SACK, NAMED)],
            Some(TAHOE) => &[("recovery", TAHOE, NAMED)],
            _ => &[],
        },
        None => &[],
    }
}

/// Whether a congestion control asks for ECN by itself.
fn needs_marks(control: &str) -> bool {
    cc::prepare(control, None, &[]).is_ok_and(|new| new().traits().ecn != EcnUse::Classic)
}

/// The congestion control of a plain TCP flow.
const DEFAULT_CC: &str = "reno";

/// Every kind of flow.
pub fn flow_kinds() -> Vec<FlowKind> {
    let udp = registry::catalogue()
        .iter()
        .filter(|source| carries_datagrams(source))
        .map(|source| FlowKind {
            name: source.name,
            aliases: &[],
            doc: source.title,
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
        .chain(others::flow_kinds())
        .chain(workloads)
        .collect()
}

/// A source without writes of its own (bulk) needs a transport that decides when to send, and one whose writes are frames (video)
/// one that divides them.
fn carries_datagrams(source: &CatalogueEntry) -> bool {
    ![
        <Bulk as registry::Entry>::NAME,
        <Video as registry::Entry>::NAME,
    ]
    .contains(&source.name)
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
    FlowBuilder::default().build(name, args, request)
}

/// Builds one flow after the other. The parameters of TCP flows that are alike are read once, and not for each of thousands.
#[derive(Default)]
pub struct FlowBuilder {
    tcp: Option<KnownTcp>,
}

/// A TCP flow whose parameters have been read, and what was given for it.
struct KnownTcp {
    name: &'static str,
    given: Vec<(String, String)>,
    dialect: Option<String>,
    /// What was given, with what the name adds to it.
    args: Vec<(String, String)>,
    plan: TcpPlan,
}

impl KnownTcp {
    fn is(&self, kind: &TcpKind, given: &[(String, String)], dialect: Option<&str>) -> bool {
        self.name == kind.name && self.given == given && self.dialect.as_deref() == dialect
    }
}

impl FlowBuilder {
    /// As [`build_flow`].
    ///
    /// # Errors
    /// As [`build_flow`].
    pub fn build(
        &mut self,
        name: &str,
        args: &[(String, String)],
        request: &FlowRequest<'_>,
    ) -> Result<BuiltFlow, ParamError> {
        if let Some(kind) = tcp_kinds().find(|kind| kind.is_called(name)) {
            return build_tcp(&kind, args, request, &mut self.tcp);
        }
        if let Some(build) = others::find(name) {
            return build(args, request);
        }
        if let Some(kind) = workload::find(name) {
            return workload::build(kind, args, request);
        }
        match registry::find(name).filter(|source| carries_datagrams(source)) {
            Some(source) => build_udp(source, args, request),
            None => Err(unknown(name)),
        }
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
    let mut built = registry::build_source(&spec(source.name, &own), dialect)?;
    let resolved = (source.resolve)(dialect, &own)?;
    let ns3_numbers = request.number(&mut built);
    // ns-3's applications send to one of its sinks, which is an endpoint of its own.
    let receiver = (resolved.release == NS3_24).then(|| {
        let headers = u32::try_from(params.headers.get()).unwrap_or(u32::MAX);
        Endpoint::PacketSink(PacketSink::new(headers))
    });
    let sender = UdpSender::new(
        request.flow,
        &params,
        Timed::new(built, request.start),
        request.stream("source"),
        request.stop,
    );
    Ok(BuiltFlow {
        sender: Endpoint::Udp(sender),
        receiver,
        transport: Transport::Udp,
        parts: vec![(source.name, resolved), ("udp", Resolved::of(&params))],
        ns3_numbers,
        connections: 1,
    })
}

/// UDP has no dialects of its own account: one that it lacks is the source's business.
pub(crate) fn udp_params(
    args: &[(String, String)],
    dialect: Option<&str>,
) -> Result<UdpParams, ParamError> {
    let known = |d: &&str| {
        UdpParams::DIALECTS
            .iter()
            .any(|info| info.name == *d || info.release == *d)
    };
    sojourn_units::build(dialect.filter(known), &pairs_of(args, UdpParams::TABLE))
}

fn build_tcp(
    kind: &TcpKind,
    given: &[(String, String)],
    request: &FlowRequest<'_>,
    known: &mut Option<KnownTcp>,
) -> Result<BuiltFlow, ParamError> {
    let dialect = effective_dialect(given, request);
    if let Some(known) = known
        && known.is(kind, given, dialect)
    {
        return from_plan(known, request);
    }
    let mut args = given.to_vec();
    if let Some(recovery) = kind.recovery {
        if let Some((_, given)) = args.iter().find(|(key, _)| key == "recovery") {
            return Err(fixed_by_name("recovery", given));
        }
        args.push(("recovery".to_owned(), recovery.to_owned()));
    }
    let ns2 = dialect.is_some_and(|d| {
        let info = Ns2Params::DIALECTS.iter();
        info.clone().any(|info| info.name == d || info.release == d)
    });
    if kind.name == TAHOE || ns2 {
        kind.refuse_selective(&args, &[Ns2Params::TABLE, Ns3Params::TABLE])?;
    }
    if kind.is_ns3s() && dialect.is_some_and(is_of_ns3_24) {
        return build_ns3(&args, dialect, request);
    }
    if kind.name == TAHOE {
        // ns-2's is the default.
        return build_ns2(&args, dialect, request);
    }
    if ns2 && kind.is_ns2s() {
        refuse_in_ns2(&args)?;
        if kind.name == VEGAS {
            if let Some((_, given)) = args.iter().find(|(key, _)| key == "recovery") {
                return Err(fixed_by_name("recovery", given));
            }
            args.push(("recovery".to_owned(), VEGAS.to_owned()));
        }
        return build_ns2(&args, dialect, request);
    }
    let plan = plan(kind, &mut args, &DATA, dialect)?;
    let read = KnownTcp {
        name: kind.name,
        given: given.to_vec(),
        dialect: dialect.map(str::to_owned),
        args,
        plan,
    };
    from_plan(known.insert(read), request)
}

fn from_plan(known: &KnownTcp, request: &FlowRequest<'_>) -> Result<BuiltFlow, ParamError> {
    let plan = &known.plan;
    let dialect = known.dialect.as_deref();
    let (mut source, data) = data(&known.args, dialect, plan.params.mss)?;
    let ns3_numbers = request.number(&mut source);
    let mut parts = plan.parts.clone();
    parts.push(data);
    Ok(BuiltFlow {
        sender: plan.sender(
            request.flow,
            Timed::new(source, request.start),
            request.stream("source"),
            request.start,
            request.stop,
        ),
        receiver: Some(plan.receiver()),
        transport: Transport::Tcp,
        ns3_numbers,
        connections: 1,
        parts,
    })
}

/// A TCP flow whose parameters have been read: its endpoints can be made as often as they are wanted.
pub(crate) struct TcpPlan {
    params: TcpParams,
    sack: Option<SackParams>,
    rledbat: Option<RledbatParams>,
    ecn: EcnUse,
    control: cc::Maker,
    parts: Vec<(&'static str, Resolved)>,
}

impl TcpPlan {
    /// The parts, but for the data: each by name, with its dialect and parameters resolved.
    pub(crate) fn parts(&self) -> &[(&'static str, Resolved)] {
        &self.parts
    }

    /// Bytes of headers on the wire.
    pub(crate) fn headers(&self) -> u32 {
        u32::try_from(self.params.headers.get()).unwrap_or(u32::MAX)
    }

    pub(crate) fn sender(
        &self,
        flow: u32,
        source: Timed,
        rng: Stream,
        start: Time,
        stop: Option<Time>,
    ) -> Endpoint {
        let (params, cc) = (self.params.clone(), (self.control)());
        match &self.sack {
            Some(sack) => {
                let sender = SackSender::new(SackConfig {
                    flow,
                    params,
                    sack: sack.clone(),
                    cc,
                    source,
                    rng,
                    start,
                    stop,
                });
                match self.rledbat {
                    Some(_) => Endpoint::Rledbat(Box::new(RledbatSender::new(sender))),
                    None => Endpoint::Sack(Box::new(sender)),
                }
            }
            None => Endpoint::Tcp(TcpSender::new(TcpConfig {
                flow,
                params,
                cc,
                source,
                rng,
                start,
                stop,
            })),
        }
    }

    pub(crate) fn receiver(&self) -> Endpoint {
        match &self.sack {
            Some(sack) => {
                let receiver = SackReceiver::new(&self.params, sack, self.ecn);
                match &self.rledbat {
                    Some(rledbat) => {
                        let params = LedbatPlusParams {
                            target: rledbat.rledbat_target,
                            ..LedbatPlusParams::default()
                        };
                        let control = AnyCc::LedbatPlus(Box::new(LedbatPlus::new(&params)));
                        let mss = self.params.mss.get();
                        let receiver = RledbatReceiver::new(receiver, control, mss, self.headers());
                        Endpoint::RledbatReceiver(Box::new(receiver))
                    }
                    None => Endpoint::SackReceiver(Box::new(receiver)),
                }
            }
            None => Endpoint::TcpReceiver(TcpReceiver::new(&self.params)),
        }
    }
}

/// The plan of the TCP flow called `name`, for a workload that says itself what is sent.
///
/// # Errors
/// If there is no such flow, or a parameter does not exist or has a value that is not allowed.
pub(crate) fn plan_tcp(
    name: &str,
    args: &[(String, String)],
    dialect: Option<&str>,
) -> Result<TcpPlan, ParamError> {
    let kinds = || tcp_kinds().filter(|kind| kind.name != TAHOE);
    let Some(kind) = kinds().find(|kind| kind.is_called(name)) else {
        let names = || kinds().map(|kind| kind.name);
        let list: Vec<&str> = names().collect();
        let remedy = match nearest(name, names()) {
            Some(near) => format!("did you mean {near:?}? (there are: {})", list.join(", ")),
            None => format!("choose one of {}", list.join(", ")),
        };
        return Err(wrong(
            "tcp",
            UnitErrorKind::UnknownChoice,
            name,
            "a TCP flow, or quic",
            remedy,
        ));
    };
    let own = args.iter().find(|(key, _)| key == "dialect");
    let dialect = own.map(|(_, name)| name.as_str()).or(dialect);
    let mut args = args.to_vec();
    if let Some(recovery) = kind.recovery {
        if let Some((_, given)) = args.iter().find(|(key, _)| key == "recovery") {
            return Err(fixed_by_name("recovery", given));
        }
        args.push(("recovery".to_owned(), recovery.to_owned()));
    }
    plan(&kind, &mut args, &[], dialect)
}

/// Checks that ECN was not turned off for a congestion control that lives by marks.
pub(crate) fn refuse_without_marks(
    args: &[(String, String)],
    control: &str,
) -> Result<(), ParamError> {
    match args
        .iter()
        .any(|(key, text)| key == "ecn" && text == "false")
    {
        true => Err(wrong(
            "ecn",
            UnitErrorKind::UnknownChoice,
            "false",
            &format!("allowed with {control}, which lives by marks"),
            "leave it out, or take another congestion control",
        )),
        false => Ok(()),
    }
}

/// The plan of a TCP flow; `more` are the arguments that are not the transport's.
fn plan(
    kind: &TcpKind,
    args: &mut Vec<(String, String)>,
    more: &[&'static str],
    dialect: Option<&str>,
) -> Result<TcpPlan, ParamError> {
    let cc_spec = congestion_control(kind, args)?;
    let algorithm = cc::find(&cc_spec.name).map_err(|error| unknown_control(&error))?;
    if kind.recovery.is_none()
        && algorithm.name != DEFAULT_CC
        && args.iter().all(|(key, _)| key != "recovery")
    {
        args.push(("recovery".to_owned(), SACK.to_owned()));
    }
    let selective: [&[ParamInfo]; 2] = match kind.may_be_selective() {
        true => [SackParams::TABLE, RledbatParams::TABLE],
        false => [&[], &[]],
    };
    let [sack, rledbat] = selective;
    kind.refuse_selective(args, &[TcpParams::TABLE, algorithm.params])?;
    check_keys(
        args,
        &[TcpParams::TABLE, sack, rledbat, algorithm.params],
        more,
    )?;
    if args
        .iter()
        .any(|(key, text)| key == "ecn" && text == "accurate")
    {
        return Err(wrong(
            "ecn",
            UnitErrorKind::UnknownChoice,
            "accurate",
            "true or false",
            "write accurate_ecn=true, which TCP with selective acknowledgement has",
        ));
    }
    let mut params: TcpParams = sojourn_units::build(
        usable_dialect::<TcpParams>(dialect),
        &pairs_of(args, TcpParams::TABLE),
    )?;
    params.check()?;
    refuse_unselective(args, params.recovery, dialect)?;
    let mut cc_pairs = cc_spec.pairs();
    cc_pairs.extend(pairs_of(args, algorithm.params));
    let known = |d: &&str| *d != "paper" || algorithm.dialects.iter().any(|info| info.name == *d);
    let cc_dialect = dialect.map(short_name).filter(known);
    let cc_resolved =
        Resolved::of_tables(algorithm.params, algorithm.dialects, cc_dialect, &cc_pairs);
    let in_cc = |error| match error {
        cc::BuildError::Param { error, .. } => error,
        cc::BuildError::Unknown { given, .. } => unknown(&given),
    };
    let of_spec = |key: &str| cc_spec.args.iter().any(|(own, _)| own == key);
    let within = |error: ParamError| match of_spec(error.key()) {
        true => error.within(CC),
        false => error,
    };
    let control = cc::prepare(algorithm.name, cc_dialect, &cc_pairs)
        .map_err(in_cc)
        .map_err(within)?;
    let traits = control().traits();
    if traits.ecn != EcnUse::Classic {
        refuse_without_marks(args, algorithm.name)?;
        params.ecn = true;
    }
    let rledbat: RledbatParams = sojourn_units::build(None, &pairs_of(args, RledbatParams::TABLE))?;
    if rledbat.rledbat
        && args
            .iter()
            .any(|(key, text)| key == "accurate_ecn" && text == "true")
    {
        return Err(wrong(
            "accurate_ecn",
            UnitErrorKind::UnknownChoice,
            "true",
            "allowed with rledbat=true, whose acknowledgements carry a window in its place",
            "leave one of them out",
        ));
    }
    if rledbat.rledbat && traits.ecn == EcnUse::Scalable {
        return Err(wrong(
            "rledbat",
            UnitErrorKind::UnknownChoice,
            "true",
            &format!("allowed with {}, which counts marks", algorithm.name),
            "leave it out, or take another congestion control",
        ));
    }
    let mut parts = Vec::new();
    let sack = if params.recovery == Recovery::Sack {
        let mut sack: SackParams = sojourn_units::build(
            usable_dialect::<SackParams>(dialect),
            &pairs_of(args, SackParams::TABLE),
        )?;
        sack.timestamps |= traits.timestamps;
        check_marks(args, &sack, traits.ecn, algorithm.name)?;
        if traits.paces {
            refuse_unpaced(args, algorithm.name)?;
            sack.pacing = true;
        }
        params.ecn |= sack.accurate_ecn;
        parts.push((SACK, Resolved::of(&sack)));
        Some(sack)
    } else if rledbat.rledbat {
        return Err(wrong(
            "rledbat",
            UnitErrorKind::UnknownChoice,
            "true",
            &format!("allowed with recovery={}", params.recovery.name()),
            "write recovery=sack, or name the flow sack",
        ));
    } else if traits.samples {
        return Err(wrong(
            "recovery",
            UnitErrorKind::UnknownChoice,
            params.recovery.name(),
            &format!(
                "what {} can work with: it needs selective acknowledgement",
                algorithm.name
            ),
            "leave it out, or write recovery=sack",
        ));
    } else {
        None
    };
    parts.insert(0, ("tcp", Resolved::of(&params)));
    if rledbat.rledbat {
        parts.push((RLEDBAT, Resolved::of(&rledbat)));
    }
    parts.push((algorithm.name, cc_resolved));
    Ok(TcpPlan {
        params,
        sack,
        rledbat: rledbat.rledbat.then_some(rledbat),
        ecn: traits.ecn,
        control,
        parts,
    })
}

/// Refuses what only selective acknowledgement has, where losses are repaired without: a value that is not the default would have no
/// effect.
fn refuse_unselective(
    args: &[(String, String)],
    recovery: Recovery,
    dialect: Option<&str>,
) -> Result<(), ParamError> {
    if recovery == Recovery::Sack {
        return Ok(());
    }
    let dialect = usable_dialect::<SackParams>(dialect);
    let of_tcp = |key: &str| TcpParams::TABLE.iter().any(|info| info.name == key);
    let mut pairs = pairs_of(args, SackParams::TABLE);
    pairs.retain(|(key, _)| !of_tcp(key));
    let given: SackParams = sojourn_units::build(dialect, &pairs)?;
    let defaults: SackParams = sojourn_units::build(dialect, &[])?;
    let differs = |(key, _): &&(String, String)| given.get(key) != defaults.get(key);
    match pairs.iter().find(differs) {
        Some((key, text)) => Err(ParamError::NoEffect {
            key: key.clone(),
            given: text.clone(),
            beside: format!("recovery={}", recovery.name()),
            remedy: "leave it out, write recovery=sack, or name the flow sack".to_owned(),
        }),
        None => Ok(()),
    }
}

/// Whether a key is of selective acknowledgement, and not of a table that has one of that name, too.
fn is_selective(key: &str, own: &[&[ParamInfo]]) -> bool {
    let is_of = |table: &[ParamInfo]| table.iter().any(|info| info.name == key);
    !own.iter().any(|table| is_of(table))
        && (is_of(SackParams::TABLE) || is_of(RledbatParams::TABLE))
}

/// Refuses options of selective acknowledgement that ns-2's agent lacks.
fn refuse_in_ns2(args: &[(String, String)]) -> Result<(), ParamError> {
    let selective = |(key, _): &&(String, String)| is_selective(key, &[Ns2Params::TABLE]);
    match args.iter().find(selective) {
        Some((key, given)) => Err(ParamError::NoEffect {
            key: key.clone(),
            given: given.clone(),
            beside: "dialect=ns2, whose TCP is ns-2's agent".to_owned(),
            remedy: "leave it out, or give the flow another dialect, such as dialect=rfc9293"
                .to_owned(),
        }),
        None => Ok(()),
    }
}

/// Checks that what a flow wants of Accurate ECN can be had together.
fn check_marks(
    args: &[(String, String)],
    sack: &SackParams,
    ecn: EcnUse,
    control: &str,
) -> Result<(), ParamError> {
    let refuse = |key: &str, given: &str, allowed: &str, remedy: &str| {
        Err(wrong(
            key,
            UnitErrorKind::UnknownChoice,
            given,
            allowed,
            remedy,
        ))
    };
    if sack.accurate_ecn && sack.machine == Machine::Ns3 {
        return refuse(
            "accurate_ecn",
            "true",
            "allowed with machine=ns3, which has none",
            "leave it out, or take another dialect",
        );
    }
    if sack.accurate_ecn
        && args
            .iter()
            .any(|(key, text)| key == "ecn" && text == "false")
    {
        return refuse(
            "ecn",
            "false",
            "allowed with accurate_ecn=true, which turns it on",
            "leave one of them out",
        );
    }
    if !sack.accurate_ecn && sack.receiver_ecn == ReceiverEcn::Classic && ecn == EcnUse::Scalable {
        return refuse(
            "receiver_ecn",
            "classic",
            &format!("allowed with {control} alone, which has to ask for more to find that out"),
            "write accurate_ecn=true beside it",
        );
    }
    Ok(())
}

/// Checks that pacing was not turned off for a congestion control that sets the pace itself.
fn refuse_unpaced(args: &[(String, String)], control: &str) -> Result<(), ParamError> {
    match args
        .iter()
        .any(|(key, text)| key == "pacing" && text == "false")
    {
        true => Err(wrong(
            "pacing",
            UnitErrorKind::UnknownChoice,
            "false",
            &format!("allowed with {control}, which sets the pace itself"),
            "leave it out, or take another congestion control",
        )),
        false => Ok(()),
    }
}

/// The error of a congestion control that does not exist.
pub(crate) fn unknown_control(error: &cc::BuildError) -> ParamError {
    let (given, nearest) = match error {
        cc::BuildError::Unknown { given, nearest } => (given.as_str(), *nearest),
        cc::BuildError::Param { algorithm, .. } => (*algorithm, None),
    };
    let names: Vec<&str> = sojourn_cc::ALGORITHMS.iter().map(|a| a.name).collect();
    let remedy = match nearest {
        Some(near) => format!("did you mean {near:?}? (there are: {})", names.join(", ")),
        None => format!("choose one of {}", names.join(", ")),
    };
    wrong(
        CC,
        UnitErrorKind::UnknownChoice,
        given,
        "a congestion control",
        remedy,
    )
}

/// The name by which congestion controls know a dialect of the transport: releases differ (`rfc9293`, `rfc5681`).
fn short_name(dialect: &str) -> &str {
    let mut dialects = TcpParams::DIALECTS.iter();
    dialects
        .find(|info| info.release == dialect)
        .map_or(dialect, |info| info.name)
}

/// The congestion control that the name of the flow fixes, or that `cc` gives, which is taken out of the arguments.
fn congestion_control(
    kind: &TcpKind,
    args: &mut Vec<(String, String)>,
) -> Result<Spec, ParamError> {
    let given = args.iter().position(|(key, _)| key == CC);
    match (kind.congestion_control, given) {
        (Some(_), Some(index)) => Err(fixed_by_name(CC, &args[index].1)),
        (Some(name), None) => Ok(Spec::new(name)),
        (None, None) => Ok(Spec::new(DEFAULT_CC)),
        (None, Some(index)) => {
            let (_, text) = args.remove(index);
            Spec::parse_text(&text).map_err(|error| ParamError::BadValue {
                key: CC.to_owned(),
                error,
            })
        }
    }
}

fn fixed_by_name(key: &str, given: &str) -> ParamError {
    wrong(
        key,
        UnitErrorKind::UnknownChoice,
        given,
        "open to choice: the name of the flow fixes it",
        "leave it out, or name the flow tcp",
    )
}

fn build_ns2(
    args: &[(String, String)],
    dialect: Option<&str>,
    request: &FlowRequest<'_>,
) -> Result<BuiltFlow, ParamError> {
    check_keys(args, &[Ns2Params::TABLE], &DATA)?;
    let mut own = pairs_of(args, Ns2Params::TABLE);
    let is = |key: &str, text: &str| own.iter().any(|(k, given)| k == key && given == text);
    if is("recovery", VEGAS) && !is("headers", "0B") {
        if let Some((key, given)) = own.iter().find(|(key, _)| key == "headers") {
            return Err(ParamError::NoEffect {
                key: key.clone(),
                given: given.clone(),
                beside: "recovery=vegas, whose packets have none in ns-2".to_owned(),
                remedy: "leave it out".to_owned(),
            });
        }
        own.push(("headers".to_owned(), "0B".to_owned()));
    }
    let params: Ns2Params = sojourn_units::build(usable_dialect::<Ns2Params>(dialect), &own)?;
    let (source, data) = data(args, dialect, params.payload)?;
    let phase = params.tick_phase.unwrap_or_else(|| {
        let tick = params.tick.as_ps();
        Span::from_ps(request.stream("clock").below(tick))
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
        sender: Endpoint::Ns2(Box::new(sender)),
        receiver: Some(Endpoint::Ns2Sink(Ns2Sink::new(request.flow, &params))),
        transport: Transport::Tcp,
        parts: vec![("tcp", Resolved::of(&params)), data],
        ns3_numbers: 0,
        connections: 1,
    })
}

/// The release of ns-3 whose endpoints are machines of their own.
const NS3_24: &str = "ns3-3.24";

fn is_of_ns3_24(dialect: &str) -> bool {
    let mut dialects = Ns3Params::DIALECTS.iter();
    dialects.any(|info| info.name == dialect || info.release == dialect)
}

fn build_ns3(
    args: &[(String, String)],
    dialect: Option<&str>,
    request: &FlowRequest<'_>,
) -> Result<BuiltFlow, ParamError> {
    check_keys(args, &[Ns3Params::TABLE], &DATA)?;
    let own = pairs_of(args, Ns3Params::TABLE);
    let params: Ns3Params = sojourn_units::build(usable_dialect::<Ns3Params>(dialect), &own)?;
    let (mut source, data) = data(args, dialect, params.segment)?;
    let ns3_numbers = request.number(&mut source);
    let sender = Ns3Sender::new(
        request.flow,
        &params,
        Timed::new(source, request.start),
        request.stream("source"),
        request.start,
        request.stop,
    );
    let receiver = Ns3Receiver::new(request.flow, &params);
    Ok(BuiltFlow {
        sender: Endpoint::Ns3(Box::new(sender)),
        receiver: Some(Endpoint::Ns3Receiver(Box::new(receiver))),
        transport: Transport::Tcp,
        parts: vec![("tcp", Resolved::of(&params)), data],
        ns3_numbers,
        connections: 1,
    })
}

/// What a TCP flow sends: `source`, or a bulk transfer of `bytes`, `packets` or without end.
pub(crate) fn data(
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
        Some((key, text)) if key == SOURCE => {
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
    let Some(entry) = registry::find(&spec.name) else {
        return Err(registry::unknown(&spec.name));
    };
    // The dialect is the transport's; a source follows it where it has one of that name.
    let known = |d: &&str| {
        let mut dialects = entry.dialects.iter();
        dialects.any(|info| info.name == *d || info.release == *d)
    };
    let dialect = dialect.filter(known);
    let built = registry::build_source(&spec, dialect).and_then(|source| {
        let resolved = (entry.resolve)(dialect, &spec.pairs())?;
        Ok((source, (entry.name, resolved)))
    });
    built.map_err(|error| match given.first() {
        Some((key, _)) if key == SOURCE => error.within(SOURCE),
        _ => error,
    })
}

fn spec(name: &str, pairs: &[(String, String)]) -> Spec {
    let mut spec = Spec::new(name);
    for (key, text) in pairs {
        let value = SpecValue::Text(text.clone());
        spec.args.push((key.clone(), value));
    }
    spec
}

/// The flow's own dialect, or else the scenario's.
pub(crate) fn effective_dialect<'a>(
    args: &'a [(String, String)],
    request: &FlowRequest<'a>,
) -> Option<&'a str> {
    args.iter()
        .find(|(key, _)| key == "dialect")
        .map(|(_, name)| name.as_str())
        .or(request.dialect)
}

/// The arguments that one part of a flow declares.
pub(crate) fn pairs_of(args: &[(String, String)], table: &[ParamInfo]) -> Vec<(String, String)> {
    args.iter()
        .filter(|(key, _)| table.iter().any(|info| info.name == key))
        .cloned()
        .collect()
}

/// Refuses what no part of a flow declares, and what is given twice.
pub(crate) fn check_keys(
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

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> FlowRequest<'static> {
        FlowRequest {
            flow: 0,
            name: "flow/test-1",
            dialect: None,
            seed: 1,
            replication: 0,
            start: Time::ZERO,
            stop: None,
            ns3_number: None,
            capacity: Rate::mbps(10),
            shares: 1,
        }
    }

    fn build(spec: &str, dialect: Option<&str>) -> Result<BuiltFlow, String> {
        let spec: Spec = spec.parse().unwrap();
        let request = FlowRequest {
            dialect,
            ..request()
        };
        build_flow(&spec.name, &spec.pairs(), &request).map_err(|error| error.to_string())
    }

    #[test]
    fn a_builder_reads_anew_what_differs_from_the_flow_before() {
        let mut builder = FlowBuilder::default();
        let mut read = Vec::new();
        for (spec, dialect) in [
            ("sack", None),
            ("sack", None),
            ("sack window=64kB", None),
            ("newreno window=64kB", None),
            ("sack window=64kB", None),
            ("sack window=64kB", Some("linux")),
            ("sack window=64kB dialect=ns3", Some("linux")),
            ("sack window=64kB bytes=10kB dialect=ns3", Some("linux")),
            ("sack", Some("ns2")),
            ("cbr rate=1Mbps", None),
            ("sack window=64kB", None),
        ] {
            let alone = build(spec, dialect).unwrap();
            let spec: Spec = spec.parse().unwrap();
            let request = FlowRequest {
                dialect,
                ..request()
            };
            let built = builder.build(&spec.name, &spec.pairs(), &request).unwrap();
            assert_eq!(built.parts, alone.parts, "{spec} in {dialect:?}");
            read.push(built.parts);
        }
        assert_eq!(read[0], read[1]);
        assert!((1..7).all(|at| read[at] != read[at + 1]));
    }

    fn refused(spec: &str, dialect: Option<&str>) -> String {
        build(spec, dialect).err().unwrap()
    }

    #[test]
    fn the_name_and_the_dialect_decide_what_a_flow_is() {
        let kind = |spec, dialect| {
            let built = build(spec, dialect).unwrap();
            let sender = match built.sender {
                Endpoint::Udp(_) => "udp",
                Endpoint::Tcp(_) => "tcp",
                Endpoint::Sack(_) => "sack",
                Endpoint::Ns2(_) => "ns2",
                Endpoint::Ns3(_) => "ns3",
                _ => "receiver",
            };
            let parts: Vec<_> = built
                .parts
                .iter()
                .map(|(name, r)| (*name, r.release))
                .collect();
            (sender, built.receiver.is_some(), parts)
        };
        assert_eq!(
            kind("reno", None),
            (
                "tcp",
                true,
                vec![("tcp", "rfc9293"), ("reno", "rfc5681"), ("bulk", "exact")]
            )
        );
        assert_eq!(
            kind("newreno bytes=10MB", Some("linux")),
            (
                "tcp",
                true,
                vec![
                    ("tcp", "linux-6.1"),
                    ("reno", "linux-6.1"),
                    ("bulk", "linux-6.1")
                ]
            )
        );
        assert_eq!(
            kind("reno packets=10p", Some("ns2")),
            ("ns2", true, vec![("tcp", "ns2-2.35"), ("bulk", "ns2-2.35")])
        );
        assert_eq!(
            kind("vegas alpha=2", Some("ns2")),
            ("ns2", true, vec![("tcp", "ns2-2.35"), ("bulk", "ns2-2.35")])
        );
        assert_eq!(kind("vegas", Some("rfc")).0, "sack");
        assert_eq!(kind("reno dialect=rfc9293", None), kind("reno", None));
        assert_eq!(
            kind("tahoe", None),
            ("ns2", true, vec![("tcp", "ns2-2.35"), ("bulk", "exact")])
        );
        assert_eq!(
            kind("tahoe source=(on_off size=100B)", Some("ns3-3.24")),
            (
                "ns3",
                true,
                vec![("tcp", "ns3-3.24"), ("on_off", "ns3-3.24")]
            )
        );
        assert_eq!(
            kind("tcp cc=(reno counting=acks) source=(cbr rate=1Mbps)", None).2[2],
            ("cbr", "exact")
        );
        assert_eq!(
            kind("cbr rate=2Mbps headers=0B", None),
            ("udp", false, vec![("cbr", "exact"), ("udp", "rfc768")])
        );
        assert_eq!(
            kind("pareto rate=2Mbps", Some("ns2")).2,
            vec![("pareto", "ns2-2.35"), ("udp", "ns2-2.35")]
        );
    }

    #[test]
    fn selective_acknowledgement_is_the_default_of_every_algorithm_but_reno() {
        let is_selective = |spec: &str| {
            let built = build(spec, None).unwrap();
            let names: Vec<_> = built.parts.iter().map(|(name, _)| *name).collect();
            assert_eq!(
                names.contains(&"sack"),
                matches!(built.sender, Endpoint::Sack(_))
            );
            matches!(built.sender, Endpoint::Sack(_))
        };
        for spec in [
            "cubic",
            "sack",
            "bbr",
            "tcp cc=cubic",
            "tcp recovery=sack",
            "cubic tail_probe=false",
        ] {
            assert!(is_selective(spec), "{spec}");
        }
        for spec in [
            "reno",
            "newreno",
            "tcp",
            "cubic recovery=newreno",
            "tcp cc=scalable recovery=reno",
        ] {
            assert!(!is_selective(spec), "{spec}");
        }
        let error = refused("bbr recovery=newreno", None);
        assert!(
            error.contains("it needs selective acknowledgement"),
            "{error}"
        );
        let error = refused("newreno tail_probe=false", None);
        assert!(error.contains("tail_probe"), "{error}");
    }

    #[test]
    fn no_parameter_belongs_to_two_parts_of_a_flow() {
        for kind in flow_kinds() {
            let tables = kind.params.iter().filter(|(part, _)| *part != "ns-2 tcp");
            let mut names: Vec<&str> = tables
                .flat_map(|(_, table)| table.iter().map(|info| info.name))
                .collect();
            names.sort_unstable();
            assert!(
                names.windows(2).all(|pair| pair[0] != pair[1]),
                "{}: {names:?}",
                kind.name
            );
        }
    }

    #[test]
    fn what_runs_is_resolved_in_full() {
        let parts = build("reno counting=acks mss=1000B packets=3p", None)
            .unwrap()
            .parts;
        let value = |part: usize, key: &str| {
            let pairs = &parts[part].1.pairs;
            pairs
                .iter()
                .find(|(name, _)| *name == key)
                .map(|(_, v)| v.clone())
        };
        assert_eq!(value(0, "mss").as_deref(), Some("1kB"));
        assert_eq!(value(0, "recovery").as_deref(), Some("reno"));
        assert_eq!(value(1, "counting").as_deref(), Some("acks"));
        assert_eq!(value(1, "halved").as_deref(), Some("flight"));
        assert_eq!(value(2, "bytes").as_deref(), Some("3kB"));
    }

    #[test]
    fn a_flow_that_cannot_be_is_refused_with_the_remedy() {
        let error = refused("cbrr rate=1Mbps", None);
        assert!(error.contains("did you mean \"cbr\"?"), "{error}");
        let error = refused("bulk", None);
        assert!(error.contains("is not a kind of flow"), "{error}");
        let error = refused("reno mms=1000B", None);
        assert!(error.contains("did you mean \"mss\"?"), "{error}");
        let error = refused("reno recovery=newreno", None);
        assert!(error.contains("the name of the flow fixes it"), "{error}");
        let error = refused("tahoe", Some("linux"));
        assert!(error.contains("ns2 (ns2-2.35)"), "{error}");
        let error = refused("reno bytes=1MB packets=3p", None);
        assert!(error.contains("keep one of them"), "{error}");
        let error = refused("tcp cc=renno", None);
        assert!(error.contains("did you mean \"reno\"?"), "{error}");
        let error = refused("reno source=(cbr)", None);
        assert!(error.contains("rate=2Mbps"), "{error}");
        let error = refused("cbr rate=1Mbps size=0B", None);
        assert!(error.contains("out of range"), "{error}");
    }

    #[test]
    fn vegas_of_ns2_has_no_headers_and_refuses_what_it_does_not_know() {
        for spec in ["vegas dialect=ns2", "tcp recovery=vegas dialect=ns2"] {
            assert_eq!(value(spec, "tcp", "headers"), "0B", "{spec}");
            assert_eq!(value(spec, "tcp", "recovery"), "vegas", "{spec}");
        }
        for (spec, key) in [
            ("vegas headers=40B", "headers"),
            ("vegas ecn=true", "ecn"),
            ("vegas limited_transmit=false", "limited_transmit"),
            ("vegas recovery=reno", "the name of the flow fixes it"),
            ("reno alpha=2", "recovery=vegas"),
            ("reno headers=0B", "recovery=vegas"),
        ] {
            let error = refused(spec, Some("ns2"));
            assert!(error.contains(key), "{spec}: {error}");
        }
    }

    #[test]
    fn every_kind_of_flow_is_listed_with_its_parameters() {
        let kinds = flow_kinds();
        let names: Vec<&str> = kinds.iter().map(|kind| kind.name).collect();
        for name in [
            "reno",
            "newreno",
            "tahoe",
            "tcp",
            "cbr",
            "poisson",
            "exponential",
            "pareto",
            "udp_rr",
        ] {
            assert!(names.contains(&name), "{name}");
        }
        for kind in &kinds {
            assert!(
                !kind.params.is_empty() && !kind.dialects.is_empty(),
                "{}",
                kind.name
            );
        }
    }

    /// The value of a parameter in a part of a flow.
    fn value(spec: &str, part: &str, key: &str) -> String {
        let built = build(spec, None).unwrap();
        let (_, resolved) = built.parts.iter().find(|(name, _)| *name == part).unwrap();
        let mut pairs = resolved.pairs.iter();
        pairs.find(|(name, _)| *name == key).unwrap().1.clone()
    }

    #[test]
    fn accurate_ecn_turns_ecn_on_and_is_refused_where_it_cannot_be() {
        for spec in ["sack accurate_ecn=true", "cubic accurate_ecn=true ecn=true"] {
            assert_eq!(value(spec, "tcp", "ecn"), "true");
        }
        assert_eq!(value("sack", "tcp", "ecn"), "false");
        for (spec, remedy) in [
            ("sack accurate_ecn=true ecn=false", "leave one of them out"),
            ("sack accurate_ecn=true machine=ns3", "another dialect"),
            (
                "sack accurate_ecn=true rledbat=true",
                "leave one of them out",
            ),
            ("prague receiver_ecn=classic", "accurate_ecn=true"),
            ("sack ecn=accurate", "accurate_ecn=true"),
            ("tcp accurate_ecn=true", "recovery=sack"),
            ("tcp pacing=true", "recovery=sack"),
            ("tcp tail_probe=false", "recovery=sack"),
        ] {
            let error = refused(spec, None);
            assert!(error.contains(remedy), "{spec}: {error}");
        }
        assert!(build("prague accurate_ecn=true receiver_ecn=classic", None).is_ok());
    }

    #[test]
    fn an_option_of_selective_acknowledgement_is_refused_with_the_flow_that_has_it() {
        for (spec, dialect, remedy) in [
            ("reno accurate_ecn=true", None, "name the flow sack"),
            ("newreno tail_probe=false", None, "name the flow sack"),
            ("reno accurate_ecn=false", None, "name the flow sack"),
            ("reno rledbat=true", None, "name the flow sack"),
            ("sack accurate_ecn=true", Some("ns2"), "dialect=rfc9293"),
            ("tahoe pacing=true", Some("ns3_24"), "name the flow sack"),
        ] {
            let error = refused(spec, dialect);
            assert!(error.contains("has no effect with"), "{spec}: {error}");
            assert!(error.contains(remedy), "{spec}: {error}");
        }
        let error = refused("reno frobnicate=1", None);
        assert!(error.contains("unknown parameter"), "{error}");
    }

    #[test]
    fn only_a_control_that_leaves_the_pace_open_takes_no_pacing() {
        assert_eq!(value("cubic", SACK, "pacing"), "false");
        assert_eq!(value("cubic pacing=true", SACK, "pacing"), "true");
        for control in ["bbr", "bbr3", "copa", "prague"] {
            assert_eq!(value(control, SACK, "pacing"), "true");
            let error = refused(&format!("{control} pacing=false"), None);
            assert!(error.contains("sets the pace itself"), "{error}");
        }
    }

    #[test]
    fn other_names_of_a_congestion_control_are_the_same_flow() {
        for (other, name) in [
            ("bbrv1", "bbr"),
            ("hs", "highspeed"),
            ("tcp_lp", "lp"),
            ("ledbat++", "ledbat_plus"),
            ("westwood+", "westwood"),
        ] {
            for (given, called) in [
                (other.to_owned(), name.to_owned()),
                (format!("tcp cc={other}"), format!("tcp cc={name}")),
            ] {
                let [one, two] = [given, called].map(|spec| build(&spec, None).unwrap().parts);
                assert_eq!(format!("{one:?}"), format!("{two:?}"));
            }
        }
    }
}
