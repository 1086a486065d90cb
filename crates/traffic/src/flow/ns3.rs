//! TCP flows that are ns-3.24's sockets.

use super::arguments::{check_keys, pairs_of};
use super::built::BuiltFlow;
use super::data::{DATA, data};
use super::kind::Transport;
use super::request::FlowRequest;
use crate::endpoint::Endpoint;
use crate::entry::{Resolved, usable_dialect};
use crate::timed::Timed;
use sojourn_transport::ns3::{Ns3Params, Ns3Receiver, Ns3Sender};
use sojourn_units::{ParamError, Params};

/// The release of ns-3 whose endpoints are machines of their own.
pub(super) const NS3_24: &str = "ns3-3.24";

pub(super) fn is_of_ns3_24(dialect: &str) -> bool {
    let mut dialects = Ns3Params::DIALECTS.iter();
    dialects.any(|info| info.name == dialect || info.release == dialect)
}

pub(super) fn build_ns3(
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
