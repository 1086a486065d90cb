//! Flows that are neither TCP nor plain datagrams: TFRC, a QUIC-like one, media over RTP (`media`), and SRM.

use crate::endpoint::Endpoint;
use crate::flow::{
    BuiltFlow, CC, DATA, FlowKind, FlowRequest, Transport, check_keys, data, effective_dialect,
    pairs_of, refuse_without_marks, unknown_control,
};
use crate::media;
use crate::registry::Resolved;
use crate::srm;
use crate::timed::Timed;
use sojourn_cc::{CongestionControl, EcnUse, registry as cc};
use sojourn_transport::{
    QuicConfig, QuicParams, QuicReceiver, QuicSender, TfrcConfig, TfrcParams, TfrcReceiver,
    TfrcSender,
};
use sojourn_units::{ParamError, ParamValue, Params, Spec};

const TFRC: &str = "tfrc";
const QUIC: &str = "quic";

/// The congestion control of a QUIC-like flow (RFC 9002 section 7).
const DEFAULT_CC: &str = "reno";

/// Builds a flow from its arguments.
type Build = fn(&[(String, String)], &FlowRequest<'_>) -> Result<BuiltFlow, ParamError>;

/// The kinds of these flows.
pub(crate) fn flow_kinds() -> [FlowKind; 4] {
    [
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

fn build_quic(
    args: &[(String, String)],
    request: &FlowRequest<'_>,
) -> Result<BuiltFlow, ParamError> {
    let mut keys = DATA.to_vec();
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
    let control = cc::build(algorithm.name, None, &spec.pairs()).map_err(|error| match error {
        cc::BuildError::Param { error, .. } => error.within(CC),
        unknown @ cc::BuildError::Unknown { .. } => unknown_control(&unknown),
    })?;
    if control.traits().ecn != EcnUse::Classic {
        refuse_without_marks(args, algorithm.name)?;
        params.ecn = true;
    }
    let resolved = Resolved::of_tables(algorithm.params, algorithm.dialects, None, &spec.pairs());
    let (source, data) = data(args, effective_dialect(args, request), params.mss)?;
    let receiver = QuicReceiver::new(&params);
    let quic = Resolved::of(&params);
    let sender = QuicSender::new(QuicConfig {
        flow: request.flow,
        params,
        cc: control,
        source: Timed::new(source, request.start),
        rng: request.stream("source"),
        start: request.start,
        stop: request.stop,
    });
    Ok(BuiltFlow {
        sender: Endpoint::Quic(Box::new(sender)),
        receiver: Some(Endpoint::QuicReceiver(Box::new(receiver))),
        transport: Transport::Tcp,
        parts: vec![(QUIC, quic), (algorithm.name, resolved), data],
        ns3_numbers: 0,
        connections: 1,
    })
}
