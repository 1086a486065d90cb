//! The flow `tfrc`: a source and the two ends of TFRC.

use super::arguments::{check_keys, own_dialect, pairs_of};
use super::built::{BuiltFlow, Flow};
use super::data::{DATA, data};
use super::kind::{FlowKind, Transport};
use super::request::{FlowRequest, effective_dialect};
use crate::endpoint::Endpoint;
use crate::entry::Resolved;
use crate::timed::Timed;
use sojourn_transport::{TfrcConfig, TfrcParams, TfrcReceiver, TfrcSender};
use sojourn_units::{ParamError, Params};

const TFRC: &str = "tfrc";

/// The kind of flow.
pub(super) const FLOW: Flow = Flow {
    name: TFRC,
    kind: || FlowKind {
        name: TFRC,
        aliases: &[],
        doc: TfrcParams::DOC,
        transport: Transport::Tcp,
        params: vec![(TFRC, TfrcParams::TABLE)],
        dialects: TfrcParams::DIALECTS.iter().collect(),
    },
    build,
};

fn build(args: &[(String, String)], request: &FlowRequest<'_>) -> Result<BuiltFlow, ParamError> {
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
