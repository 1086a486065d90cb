//! The flow `request_response`: a user who asks for one thing after the other.

use super::assemble::asked_for;
use super::carrier::{carrier, resolved};
use super::client::{Asks, Life, User};
use super::kind::{WorkloadKind, most};
use super::sizes::{Counts, Sizes};
use crate::flow::{BuiltFlow, FlowRequest};
use sojourn_units::{Bytes, ParamError, Params, Span, Spec, Time, params};

params! {
    /// A user who sends a request, waits for the response, waits for a think time, and sends the next request.
    pub struct RequestResponseParams {
        /// Transport of the responses: a kind of TCP flow with its parameters, or `quic` with its parameters.
        tcp: Spec = "cubic", source "Sojourn's choice";
        /// Distribution of the response sizes.
        sizes: Spec = "(exponential mean=20kB)", source "Sojourn's choice";
        /// Size of a request, without headers. A request is one packet.
        request: Bytes = "350B", range "1B".."1400B", source "IEEE 802.16m-08/004r5 section 10 (HTTP request)";
        /// Mean time between a response and the next request.
        think: Span = "1s", range "0s".."1h", source "Sojourn's choice";
        /// Whether this time is exponentially distributed. Otherwise it is constant.
        random_think: bool = "true", source "Sojourn's choice";
        /// Lifetime of a connection.
        life: Life = "session", source "RFC 9112 section 9.3 (persistent connections)";
        /// Number of requests of the user. With none, until the flow stops.
        requests: Option<u64> = "none", range "1".., source "Sojourn's choice";
    }
}

/// The kind.
pub(super) const KIND: WorkloadKind = WorkloadKind {
    name: "request_response",
    doc: RequestResponseParams::DOC,
    params: RequestResponseParams::TABLE,
    places: (1, 1),
    expected: |args, around| {
        let params: RequestResponseParams = sojourn_units::build(None, args)?;
        Ok(around.asked(params.think).min(most(params.requests)))
    },
    build,
};

fn build(
    kind: &WorkloadKind,
    args: &[(String, String)],
    request: &FlowRequest<'_>,
    flows: (u32, u32),
) -> Result<BuiltFlow, ParamError> {
    let params: RequestResponseParams = sojourn_units::build(None, args)?;
    let (carrier, tcp) = carrier(&params.tcp, request)?;
    let user = User {
        asks: Asks::Pages {
            first: Sizes::of("sizes", &params.sizes)?,
            objects: Counts::Fixed(0),
            others: Sizes::Fixed(1),
            think: params.think,
            random: params.random_think,
        },
        request_bytes: carrier.request_bytes(params.request),
        life: params.life,
        pages: false,
        left: params.requests.unwrap_or(u64::MAX),
        rng: request.stream("user"),
        start: request.start,
        stop: request.stop.unwrap_or(Time::MAX),
    };
    let resolved = resolved(&params, &tcp);
    asked_for(user, flows, kind, resolved, &carrier, request)
}
