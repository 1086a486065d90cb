//! The flow `dash`: a viewer of a video that is fetched segment by segment.

use super::assemble::asked_for;
use super::carrier::{carrier, resolved};
use super::client::{Asks, Life, User};
use super::kind::WorkloadKind;
use super::player::{Ladder, Player, PlayerConfig, PlayerControl};
use crate::flow::{BuiltFlow, FlowRequest};
use sojourn_units::{Bytes, ParamError, Params, Span, Spec, Time, params};

params! {
    /// A viewer of adaptive video over HTTP (DASH), which fetches each segment in the quality that the link seems to
    /// support.
    pub struct DashParams {
        /// Transport of the segments: a kind of TCP flow with its parameters, or `quic` with its parameters.
        tcp: Spec = "cubic", source "Sojourn's choice";
        /// Bit rates of the qualities, ascending, separated by colons.
        ladder: Ladder = "300kbps:750kbps:1.2Mbps:1.85Mbps:2.85Mbps:4.3Mbps", source "the ladder of Mao et al. 2017 (Pensieve) section 5.1, from memory";
        /// Playing time of one segment.
        segment: Span = "4s", range "100ms".."1min", source "Mao et al. 2017 section 5.1, from memory";
        /// Standard deviation of segment sizes of one quality, as a fraction of their mean.
        variation: f64 = "0", range "0".."1", source "constant bit rate";
        /// Algorithm that chooses the quality.
        control: PlayerControl = "buffer", source "Sojourn's choice";
        /// Maximum playing time in the buffer.
        buffer: Span = "60s", range "100ms".."1h", source "Mao et al. 2017 section 5.1, from memory";
        /// With control=buffer, playing time in the buffer up to which the lowest quality is requested.
        reservoir: Span = "10s", range "0s".."1h", source "Sojourn's choice for a buffer of 60 s; Huang et al. 2014 have 90 of 240 s";
        /// Playing time that must be in the buffer before playback starts, at the beginning and after a stall.
        resume: Span = "4s", range "1ms".."1h", source "one segment";
        /// Size of a request, without headers. A request is one packet.
        request: Bytes = "350B", range "1B".."1400B", source "IEEE 802.16m-08/004r5 section 10 (HTTP request)";
        /// Number of segments of the video. With none, until the flow stops.
        segments: Option<u64> = "none", range "1".., source "Sojourn's choice";
    }
}

/// The kind.
pub(super) const KIND: WorkloadKind = WorkloadKind {
    name: "dash",
    doc: DashParams::DOC,
    params: DashParams::TABLE,
    places: (1, 1),
    expected: |_, _| Ok(0.0),
    build,
};

fn build(
    kind: &WorkloadKind,
    args: &[(String, String)],
    request: &FlowRequest<'_>,
    flows: (u32, u32),
) -> Result<BuiltFlow, ParamError> {
    let params: DashParams = sojourn_units::build(None, args)?;
    let (carrier, tcp) = carrier(&params.tcp, request)?;
    let player = Player::new(PlayerConfig {
        ladder: params.ladder.clone(),
        control: params.control,
        segment: params.segment,
        variation: params.variation,
        buffer: params.buffer,
        reservoir: params.reservoir,
        resume: params.resume,
    })?;
    let user = User {
        asks: Asks::Segments(Box::new(player)),
        request_bytes: carrier.request_bytes(params.request),
        life: Life::Session,
        pages: false,
        left: params.segments.unwrap_or(u64::MAX),
        rng: request.stream("user"),
        start: request.start,
        stop: request.stop.unwrap_or(Time::MAX),
    };
    let resolved = resolved(&params, &tcp);
    asked_for(user, flows, kind, resolved, &carrier, request)
}
