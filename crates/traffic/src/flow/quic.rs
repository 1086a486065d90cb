//! The flow `quic`: a source and the two ends of a QUIC-like transport.

pub(super) mod plan;

use self::plan::{QUIC, plan_quic};
use super::built::{BuiltFlow, Flow};
use super::data::{DATA, data};
use super::kind::{FlowKind, Transport};
use super::request::{FlowRequest, effective_dialect};
use crate::endpoint::Endpoint;
use crate::timed::Timed;
use sojourn_transport::QuicParams;
use sojourn_units::{ParamError, Params};

/// The kind of flow.
pub(super) const FLOW: Flow = Flow {
    name: QUIC,
    kind: || FlowKind {
        name: QUIC,
        aliases: &[],
        doc: QuicParams::DOC,
        transport: Transport::Tcp,
        params: vec![(QUIC, QuicParams::TABLE)],
        dialects: QuicParams::DIALECTS.iter().collect(),
    },
    build,
};

fn build(args: &[(String, String)], request: &FlowRequest<'_>) -> Result<BuiltFlow, ParamError> {
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
