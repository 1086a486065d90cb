//! Flows that are neither TCP nor plain datagrams: requests and responses over UDP (`udp_rr`), TFRC, a QUIC-like one, media over RTP
//! (`media`), and SRM.

use crate::endpoint::Endpoint;
use crate::flow::{
    BuiltFlow, CC, DATA, FlowKind, FlowRequest, Transport, check_keys, data, effective_dialect,
    pairs_of, refuse_without_marks, unknown_control,
};
use crate::media;
use crate::registry::Resolved;
use crate::srm;
use crate::timed::Timed;
use crate::udp_rr;
use sojourn_cc::{CongestionControl, EcnUse, registry as cc};
use sojourn_sim::Stream;
use sojourn_transport::{
    QuicConfig, QuicParams, QuicReceiver, QuicSender, TfrcConfig, TfrcParams, TfrcReceiver,
    TfrcSender,
};
use sojourn_units::{ParamError, ParamValue, Params, Spec, Time};

const TFRC: &str = "tfrc";
pub(crate) const QUIC: &str = "quic";

/// The congestion control of a QUIC-like flow (RFC 9002 section 7).
const DEFAULT_CC: &str = "reno";

/// Builds a flow from its arguments.
type Build = fn(&[(String, String)], &FlowRequest<'_>) -> Result<BuiltFlow, ParamError>;

/// The kinds of these flows.
pub(crate) fn flow_kinds() -> [FlowKind; 5] {
    [
        udp_rr::flow_kind(),
        FlowKind {
            name: TFRC,
            aliases: &[],
            doc: TfrcParams::DOC,
            transport: Transport::Tcp,
            params: vec![(TFRC, TfrcParams::TABLE)],
            dialects: TfrcParams::DIALECTS.iter().collect(),
        },
        FlowKind {
            name: QUIC,
            aliases: &[],
            doc: QuicParams::DOC,
            transport: Transport::Tcp,
            params: vec![(QUIC, QuicParams::TABLE)],
            dialects: QuicParams::DIALECTS.iter().collect(),
        },
        media::flow_kind(),
        srm::flow_kind(),
    ]
}

/// What builds the flow of that name.
pub(crate) fn find(name: &str) -> Option<Build> {
    match name {
        udp_rr::UDP_RR => Some(udp_rr::build),
        TFRC => Some(build_tfrc),
        QUIC => Some(build_quic),
        media::RTP => Some(media::build),
        srm::SRM => Some(srm::build_source),
        _ => None,
    }
}

/// A dialect that the transport lacks is that of its source or congestion control, unless it is the flow's own.
fn own_dialect<P: Params>(args: &[(String, String)]) -> Option<&str> {
    let own = args.iter().find(|(key, _)| key == "dialect")?;
    let known = |name: &str| {
        let mut dialects = P::DIALECTS.iter();
        dialects.any(|info| info.name == name || info.release == name)
    };
    Some(own.1.as_str()).filter(|name| known(name) || *name != "paper")
}

fn build_tfrc(
    args: &[(String, String)],
    request: &FlowRequest<'_>,
) -> Result<BuiltFlow, ParamError> {
    check_keys(args, &[TfrcParams::TABLE], &DATA)?;
    let own = pairs_of(args, TfrcParams::TABLE);
    let params: TfrcParams = sojourn_units::build(own_dialect::<TfrcParams>(args), &own)?;
    let (source, data) = data(args, effective_dialect(args, request), params.segment)?;
    let sender = TfrcSender::new(TfrcConfig {
        flow: request.flow,
        params: params.clone(),
        source: Timed::new(source, request.start),
        rng: request.stream("source"),
        start: request.start,
        stop: request.stop,
    });
    Ok(BuiltFlow {
        sender: Endpoint::Tfrc(Box::new(sender)),
        receiver: Some(Endpoint::TfrcReceiver(Box::new(TfrcReceiver::new(&params)))),
        transport: Transport::Tcp,
        parts: vec![(TFRC, Resolved::of(&params)), data],
        ns3_numbers: 0,
        connections: 1,
    })
}

/// A QUIC-like flow whose parameters have been read: its endpoints can be made as often as they are wanted.
pub(crate) struct QuicPlan {
    params: QuicParams,
    control: cc::Maker,
    parts: Vec<(&'static str, Resolved)>,
}

impl QuicPlan {
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
    ) -> QuicSender<Timed> {
        QuicSender::new(QuicConfig {
            flow,
            params: self.params.clone(),
            cc: (self.control)(),
            source,
            rng,
            start,
            stop,
        })
    }

    pub(crate) fn receiver(&self) -> QuicReceiver {
        QuicReceiver::new(&self.params)
    }
}

/// The plan of a QUIC-like flow; `more` are the arguments that are its data.
///
/// # Errors
/// If a parameter does not exist or has a value that is not allowed.
pub(crate) fn plan_quic(
    args: &[(String, String)],
    more: &[&'static str],
) -> Result<QuicPlan, ParamError> {
    let mut keys = more.to_vec();
    keys.push(CC);
    check_keys(args, &[QuicParams::TABLE], &keys)?;
    let own = pairs_of(args, QuicParams::TABLE);
    let mut params: QuicParams = sojourn_units::build(own_dialect::<QuicParams>(args), &own)?;
    let spec = match args.iter().find(|(key, _)| key == CC) {
        None => Spec::new(DEFAULT_CC),
        Some((_, text)) => Spec::parse_text(text).map_err(|error| ParamError::BadValue {
            key: CC.to_owned(),
            error,
        })?,
    };
    let algorithm = cc::find(&spec.name).map_err(|error| unknown_control(&error))?;
    let control =
        cc::prepare(algorithm.name, None, &spec.pairs()).map_err(|error| match error {
            cc::BuildError::Param { error, .. } => error.within(CC),
            unknown @ cc::BuildError::Unknown { .. } => unknown_control(&unknown),
        })?;
    if control().traits().ecn != EcnUse::Classic {
        refuse_without_marks(args, algorithm.name)?;
        params.ecn = true;
    }
    let resolved = Resolved::of_tables(algorithm.params, algorithm.dialects, None, &spec.pairs());
    let parts = vec![(QUIC, Resolved::of(&params)), (algorithm.name, resolved)];
    Ok(QuicPlan {
        params,
        control,
        parts,
    })
}

fn build_quic(
    args: &[(String, String)],
    request: &FlowRequest<'_>,
) -> Result<BuiltFlow, ParamError> {
    let plan = plan_quic(args, &DATA)?;
    let (source, data) = data(args, effective_dialect(args, request), plan.params.mss)?;
    let sender = plan.sender(
        request.flow,
        Timed::new(source, request.start),
        request.stream("source"),
        request.start,
        request.stop,
    );
    let receiver = plan.receiver();
    let mut parts = plan.parts;
    parts.push(data);
    Ok(BuiltFlow {
        sender: Endpoint::Quic(Box::new(sender)),
        receiver: Some(Endpoint::QuicReceiver(Box::new(receiver))),
        transport: Transport::Tcp,
        parts,
        ns3_numbers: 0,
        connections: 1,
    })
}
