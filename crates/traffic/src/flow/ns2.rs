//! TCP flows that are ns-2's one-way agents.

use super::arguments::{check_keys, pairs_of};
use super::built::BuiltFlow;
use super::data::{DATA, data};
use super::kind::Transport;
use super::request::FlowRequest;
use super::tcp::names::VEGAS;
use crate::endpoint::Endpoint;
use crate::entry::{Resolved, usable_dialect};
use crate::timed::Timed;
use sojourn_transport::ns2::{Ns2Params, Ns2Recovery, Ns2Sender, Ns2Sink};
use sojourn_units::{ParamError, Params, Span};

pub(super) fn build_ns2(
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
    if params.recovery == Ns2Recovery::Vegas && params.alpha > params.beta {
        let given = own.iter().any(|(key, _)| key == "beta");
        let (key, value, allowed) = match given {
            true => (
                "beta",
                params.beta,
                format!("at least alpha, {}", params.alpha),
            ),
            false => (
                "alpha",
                params.alpha,
                format!("at most beta, {}", params.beta),
            ),
        };
        return Err(ParamError::OutOfRange {
            key: key.to_owned(),
            given: value.to_string(),
            allowed,
        });
    }
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
