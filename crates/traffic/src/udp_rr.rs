//! The flow `udp_rr`: requests and responses over UDP.

use crate::endpoint::Endpoint;
use crate::entry::Resolved;
use crate::flow::{
    BuiltFlow, Flow, FlowKind, FlowRequest, Transport, check_keys, pairs_of, udp_params,
};
use crate::workload::{Transfer, TransferKind};
use sojourn_transport::{UdpParams, UdpRequester, UdpResponder, UdpRrConfig, UdpRrParams};
use sojourn_units::{ParamError, Params};

/// The name of these flows.
pub const UDP_RR: &str = "udp_rr";

/// The kind of flow.
pub(crate) const FLOW: Flow = Flow {
    name: UDP_RR,
    kind: || FlowKind {
        name: UDP_RR,
        aliases: &[],
        doc: UdpRrParams::DOC,
        transport: Transport::Tcp,
        params: vec![("udp", UdpParams::TABLE), (UDP_RR, UdpRrParams::TABLE)],
        dialects: UdpParams::DIALECTS.iter().collect(),
    },
    build,
};

/// Builds the side that asks, which is the sender of the flow, and the one that answers.
fn build(args: &[(String, String)], request: &FlowRequest<'_>) -> Result<BuiltFlow, ParamError> {
    check_keys(args, &[UdpParams::TABLE, UdpRrParams::TABLE], &[])?;
    // One that the flow names has to exist; one of the scenario may be another part's.
    let udp: UdpParams = match args.iter().find(|(key, _)| key == "dialect") {
        Some((_, own)) => sojourn_units::build(Some(own), &pairs_of(args, UdpParams::TABLE))?,
        None => udp_params(args, request.dialect)?,
    };
    let params: UdpRrParams = sojourn_units::build(None, &pairs_of(args, UdpRrParams::TABLE))?;
    let parts = vec![("udp", Resolved::of(&udp)), (UDP_RR, Resolved::of(&params))];
    let responder = UdpResponder::new(&params, udp.headers, udp.ecn.codepoint());
    let requester = UdpRequester::new(&UdpRrConfig {
        flow: request.flow,
        params,
        headers: udp.headers,
        ecn: udp.ecn.codepoint(),
        start: request.start,
        stop: request.stop,
    });
    Ok(BuiltFlow {
        sender: Endpoint::UdpRequester(Box::new(requester)),
        receiver: Some(Endpoint::UdpResponder(responder)),
        transport: Transport::Tcp,
        parts,
        ns3_numbers: 0,
        connections: 1,
    })
}

/// The exchanges of a requester as transfers, in the order in which they were begun; `response` is the payload of one.
pub(crate) fn transfers(requester: &UdpRequester, response: u64) -> Vec<Transfer> {
    let exchanges = requester.exchanges().iter();
    exchanges
        .map(|exchange| Transfer {
            kind: TransferKind::Response,
            bytes: response,
            asked: exchange.asked,
            completed: exchange.answered,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::build_flow;
    use sojourn_units::{Rate, Spec, Time};

    fn build(spec: &str, dialect: Option<&str>) -> Result<BuiltFlow, String> {
        let spec: Spec = spec.parse().unwrap();
        let request = FlowRequest {
            flow: 0,
            name: "flow/test-1",
            dialect,
            seed: 1,
            replication: 0,
            start: Time::ZERO,
            stop: None,
            ns3_number: None,
            capacity: Rate::mbps(10),
            shares: 1,
        };
        build_flow(&spec.name, &spec.pairs(), &request).map_err(|error| error.to_string())
    }

    #[test]
    fn its_headers_are_those_of_udp_in_the_dialect() {
        for (spec, dialect, headers) in [
            ("udp_rr", None, "28B"),
            ("udp_rr", Some("ns2"), "0B"),
            ("udp_rr", Some("paper"), "28B"),
            ("udp_rr dialect=ns3_24", Some("ns2"), "30B"),
            ("udp_rr headers=48B", Some("ns2"), "48B"),
        ] {
            let built = build(spec, dialect).unwrap();
            let pairs = &built.parts[0].1.pairs;
            let given = pairs.iter().find(|(key, _)| *key == "headers").unwrap();
            assert_eq!(given.1, headers, "{spec} {dialect:?}");
        }
    }

    #[test]
    fn what_it_cannot_be_is_refused_with_the_remedy() {
        for (spec, wanted) in [
            ("udp_rr intervall=1s", "did you mean \"interval\"?"),
            ("udp_rr request=0B", "out of range"),
            ("udp_rr dialect=ns4", "dialect"),
            ("udp_rr bytes=1MB", "unknown parameter"),
            ("udp_r", "did you mean \"udp_rr\"?"),
        ] {
            let error = build(spec, None).err().unwrap();
            assert!(error.contains(wanted), "{spec}: {error}");
        }
    }
}
