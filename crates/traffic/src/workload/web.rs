//! The flow `web`: a user who loads pages of many objects.

use super::assemble::asked_for;
use super::carrier::{carrier, resolved};
use super::client::{Asks, Life, User};
use super::kind::{WorkloadKind, most};
use super::sizes::{Counts, Sizes};
use crate::flow::{BuiltFlow, FlowRequest};
use sojourn_units::{Bytes, ParamError, Params, Span, Spec, Time, params};

params! {
    /// A user who loads web pages: a first object, then the embedded objects over parallel connections, then a reading
    /// time.
    pub struct WebParams {
        /// Transport of the objects: a kind of TCP flow with its parameters, or `quic` with its parameters.
        tcp: Spec = "cubic", source "Sojourn's choice";
        /// Distribution of the size of a page's first object.
        first: Spec = "(lognormal median=4316B sigma=1.37 min=100B max=2MB)", source "IEEE 802.16m-08/004r5 section 10 (HTTP, main object)";
        /// Distribution of the number of embedded objects.
        objects: Spec = "(geometric mean=5.64)", source "IEEE 802.16m-08/004r5 section 10 (mean; there a truncated Pareto distribution)";
        /// Distribution of the sizes of embedded objects.
        sizes: Spec = "(lognormal median=478B sigma=2.36 min=50B max=2MB)", source "IEEE 802.16m-08/004r5 section 10 (HTTP, embedded object)";
        /// Number of parallel connections.
        connections: u64 = "6", range "1".."256", source "what browsers open to one host over HTTP/1.1";
        /// Size of a request, without headers. A request is one packet.
        request: Bytes = "350B", range "1B".."1400B", source "IEEE 802.16m-08/004r5 section 10 (HTTP request)";
        /// Mean time between a page and the next.
        think: Span = "30s", range "0s".."1h", source "IEEE 802.16m-08/004r5 section 10 (HTTP, reading time)";
        /// Whether this time is exponentially distributed. Otherwise it is constant.
        random_think: bool = "true", source "IEEE 802.16m-08/004r5 section 10 (HTTP, reading time)";
        /// Lifetime of a connection.
        life: Life = "page", source "Sojourn's choice";
        /// Number of pages that the user loads. With none, until the flow stops.
        pages: Option<u64> = "none", range "1".., source "Sojourn's choice";
    }
}

/// The kind.
pub(super) const KIND: WorkloadKind = WorkloadKind {
    name: "web",
    doc: WebParams::DOC,
    params: WebParams::TABLE,
    places: (6, 256),
    expected: |args, around| {
        let params: WebParams = sojourn_units::build(None, args)?;
        let objects = Counts::of("objects", &params.objects)?;
        // A page has a first object before these, and counts itself.
        Ok(around.asked(params.think).min(most(params.pages)) * (objects.mean() + 2.0))
    },
    build,
};

fn build(
    kind: &WorkloadKind,
    args: &[(String, String)],
    request: &FlowRequest<'_>,
    flows: (u32, u32),
) -> Result<BuiltFlow, ParamError> {
    let params: WebParams = sojourn_units::build(None, args)?;
    let (carrier, tcp) = carrier(&params.tcp, request)?;
    let user = User {
        asks: Asks::Pages {
            first: Sizes::of("first", &params.first)?,
            objects: Counts::of("objects", &params.objects)?,
            others: Sizes::of("sizes", &params.sizes)?,
            think: params.think,
            random: params.random_think,
        },
        request_bytes: carrier.request_bytes(params.request),
        life: params.life,
        pages: true,
        left: params.pages.unwrap_or(u64::MAX),
        rng: request.stream("user"),
        start: request.start,
        stop: request.stop.unwrap_or(Time::MAX),
    };
    let resolved = resolved(&params, &tcp);
    asked_for(user, flows, kind, resolved, &carrier, request)
}
