//! The flow `dash`: a viewer of a video that is fetched segment by segment.

use super::assemble::asked_for;
use super::carrier::{carrier, resolved};
use super::client::{Asks, Life, User};
use super::kind::WorkloadKind;
use super::player::{Ladder, Player, PlayerConfig, PlayerControl};
use crate::flow::{BuiltFlow, FlowRequest};
use sojourn_units::{Bytes, ParamError, Params, Span, Spec, Time, params};

params! {
    /// A viewer of a video that is fetched over HTTP segment by segment, each in the quality that the link seems to carry (DASH).
    pub struct DashParams {
        /// What carries the segments: a TCP flow with its parameters, or `quic` with its own.
        tcp: Spec = "cubic", source "Sojourn's choice";
        /// The rates of the qualities, ascending, with colons between.
        ladder: Ladder = "300kbps:750kbps:1.2Mbps:1.85Mbps:2.85Mbps:4.3Mbps", source "the ladder of Mao et al. 2017 (Pensieve) section 5.1, from memory";
        /// Media in one segment.
        segment: Span = "4s", range "100ms".."1min", source "Mao et al. 2017 section 5.1, from memory";
        /// Standard deviation of the size of segments of one quality, as a part of its mean.
        variation: f64 = "0", range "0".."1", source "constant bit rate";
        /// How the quality is chosen.
        control: PlayerControl = "buffer", source "Sojourn's choice";
        /// Media that is held at most.
        buffer: Span = "60s", range "100ms".."1h", source "Mao et al. 2017 section 5.1, from memory";
        /// With control=buffer: media up to which the lowest quality is asked for.
        reservoir: Span = "10s", range "0s".."1h", source "Sojourn's choice for a buffer of 60 s; Huang et al. 2014 have 90 of 240 s";
        /// Media that must be there before the picture moves, at the start and after a stall.
        resume: Span = "4s", range "1ms".."1h", source "one segment";
        /// Bytes of a request, one packet, without headers.
        request: Bytes = "350B", range "1B".."1400B", source "IEEE 802.16m-08/004r5 section 10 (HTTP request)";
        /// Segments of the video; none goes on until the flow stops.
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
