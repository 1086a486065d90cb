//! Metrics of media: what RTCP reports say beside the true loss, jitter and round trip, and what people would say.

use super::metric::{Entry, flow, named};
use super::range::Range;
use super::terms::Unit;
use crate::outcome::{FlowOutcome, MediaOutcome};
use crate::stats::{mean, ratio, to_f64, wide_to_f64};
use sojourn_transport::rtp::emodel::mean_opinion_score;

fn all_of<'a>(flows: &'a [&FlowOutcome]) -> impl Iterator<Item = &'a MediaOutcome> {
    flows.iter().filter_map(|flow| flow.media.as_ref())
}

/// A sum over the media of flows; `None` if none of them is of RTP.
fn sum(flows: &[&FlowOutcome], read: fn(&MediaOutcome) -> f64) -> Option<f64> {
    let mut all = all_of(flows).peekable();
    all.peek()?;
    Some(all.map(read).sum())
}

/// One sum over another.
fn share(
    flows: &[&FlowOutcome],
    of: fn(&MediaOutcome) -> f64,
    whole: fn(&MediaOutcome) -> f64,
) -> Option<f64> {
    ratio(sum(flows, of)?, sum(flows, whole)?)
}

fn frames(flows: &[&FlowOutcome], read: fn(&MediaOutcome) -> f64) -> Option<f64> {
    let mut video = all_of(flows).filter(|media| media.frames).peekable();
    video.peek()?;
    Some(video.map(read).sum())
}

/// What reports say.
pub(super) const REPORTED: &[Entry] = &[
    flow(
        named(
            "reported_loss_ratio",
            "Reported loss",
            Unit::Ratio,
            "Share of the media packets that RTCP receiver reports count as lost (RFC 3550 section 6.4.1). `loss_ratio` is the true share.",
            "Σ packets reported lost / Σ packets reported expected",
        ),
        |flows, _| {
            share(
                flows,
                |media| to_f64(media.reported.reported_lost),
                |media| to_f64(media.reported.reported_expected),
            )
        },
    ),
    flow(
        named(
            "reported_jitter_s_mean",
            "Reported jitter",
            Unit::Seconds,
            "Interarrival jitter in RTCP receiver reports (RFC 3550 appendix A.8), mean over the reports.",
            "Σ jitter / reports",
        ),
        |flows, _| {
            share(
                flows,
                |media| wide_to_f64(media.reported.reported_jitter_sum) * 1e-12,
                |media| to_f64(media.reported.receiver_reports),
            )
        },
    ),
    flow(
        named(
            "reported_rtt_s_mean",
            "Reported RTT",
            Unit::Seconds,
            "Round trip time computed from RTCP reports: arrival time minus LSR minus DLSR (RFC 3550 section 6.4.1), mean over the reports.",
            "Σ round trip / reports that give one",
        ),
        |flows, _| {
            share(
                flows,
                |media| wide_to_f64(media.reported.reported_rtt_sum) * 1e-12,
                |media| to_f64(media.reported.reported_rtt_count),
            )
        },
    ),
    flow(
        named(
            "rtcp_bps_mean",
            "RTCP",
            Unit::BitsPerSecond,
            "Bits on the wire per second that RTCP takes, both ends together.",
            "8 × bytes of RTCP / measured time",
        ),
        |flows, seconds| {
            let bits = sum(flows, |media| 8.0 * to_f64(media.reported.rtcp_bytes))?;
            ratio(bits, seconds)
        },
    ),
];

/// What receivers made of the packets.
pub(super) const PLAYED: &[Entry] = &[
        flow(
            named(
                "playout_delay_s_mean",
                "Playout delay",
                Unit::Seconds,
                "Time from the creation of a media packet until it is played: the network delay plus the time in the playout buffer.",
                "Σ delay / packets played in time",
            ),
            |flows, _| {
                share(
                    flows,
                    |media| wide_to_f64(media.played.delay_sum) * 1e-12,
                    |media| to_f64(media.played.played),
                )
            },
        ),
        flow(
            named(
                "playout_loss_ratio",
                "Lost or late",
                Unit::Ratio,
                "Share of the media packets that were lost or arrived after their playout time.",
                "Σ packets lost or late / Σ packets expected",
            ),
            |flows, _| {
                share(
                    flows,
                    |media| to_f64(media.played.lost + media.played.late),
                    |media| to_f64(media.played.expected),
                )
            },
        ),
        flow(
            named(
                "late_ratio",
                "Late",
                Unit::Ratio,
                "Share of the media packets that arrived after their playout time.",
                "Σ packets late / Σ packets expected",
            ),
            |flows, _| {
                share(
                    flows,
                    |media| to_f64(media.played.late),
                    |media| to_f64(media.played.expected),
                )
            },
        ),
        flow(
            named(
                "rtx_ratio",
                "Sent again",
                Unit::Ratio,
                "Media packets that the sender retransmitted at the receiver's request (RFC 4585 section 6.2.1, RFC 4588), divided by the packets that should have arrived.",
                "Σ packets sent again / Σ packets expected",
            )
            // A packet can be sent again more than once.
            .within(Range::NOT_NEGATIVE),
            |flows, _| {
                share(
                    flows,
                    |media| to_f64(media.reported.retransmissions),
                    |media| to_f64(media.played.expected),
                )
            },
        ),
        flow(
            named(
                "repaired_ratio",
                "Repaired",
                Unit::Ratio,
                "Share of the media packets that were lost at first and whose retransmission arrived before their playout time.",
                "Σ packets repaired / Σ packets expected",
            ),
            |flows, _| {
                share(
                    flows,
                    |media| to_f64(media.played.repaired),
                    |media| to_f64(media.played.expected),
                )
            },
        ),
        flow(
            named(
                "r_factor",
                "R",
                Unit::Index,
                "Transmission rating of voice by the E-model (ITU-T G.107). It is computed from the playout delay, the lost and late packets, their burstiness, and the codec: 93.2 without impairment, poor below 60. For several flows, the mean.",
                "Ro − Is − Id − Ie,eff",
            )
            .within(Range::Between(f64::NEG_INFINITY, 100.0)),
            |flows, _| {
                mean(
                    &all_of(flows)
                        .filter_map(MediaOutcome::rating)
                        .collect::<Vec<_>>(),
                )
            },
        ),
        flow(
            named(
                "mos",
                "MOS",
                Unit::Index,
                "Mean opinion score of voice that corresponds to `r_factor` (ITU-T G.107 annex B): 4.41 without impairment, 1 at worst. For several flows, the mean.",
                "1 + 0.035 R + R (R − 60) (100 − R) 7e-6",
            )
            .within(Range::Between(1.0, 4.5)),
            |flows, _| {
                let scores = all_of(flows).filter_map(MediaOutcome::rating);
                mean(&scores.map(mean_opinion_score).collect::<Vec<_>>())
            },
        ),
        flow(
            named(
                "frames_lost_ratio",
                "Frames lost",
                Unit::Ratio,
                "Share of the video frames that could not be shown, because one of their packets or a frame that they depend on was missing.",
                "Σ frames lost / Σ frames",
            ),
            |flows, _| {
                let lost = frames(flows, |media| to_f64(media.played.frames_lost))?;
                let shown = frames(flows, |media| to_f64(media.played.frames_shown))?;
                ratio(lost, lost + shown)
            },
        ),
        flow(
            named(
                "freezes_count",
                "Freezes",
                Unit::Count,
                "Freezes of the picture. The picture freezes when it stays for at least three times the mean time between pictures, and at least 150 ms longer than that mean, while there are frames to show.",
                "count",
            ),
            |flows, _| frames(flows, |media| to_f64(media.played.freezes)),
        ),
        flow(
            named(
                "frozen_ratio",
                "Frozen",
                Unit::Ratio,
                "Share of the time in which the picture is frozen. For several flows or receivers, the mean.",
                "Σ length of freezes / (measured time × receivers)",
            ),
            |flows, seconds| {
                let frozen = frames(flows, |media| media.played.frozen.as_secs_f64())?;
                let receivers = frames(flows, |media| to_f64(media.receivers))?;
                ratio(frozen, seconds * receivers)
            },
        ),
        flow(
            named(
                "level_switches_count",
                "Level switches",
                Unit::Count,
                "Of video with a ladder: pictures whose quality level differs from that of the picture before.",
                "count",
            ),
            |flows, _| frames(flows, |media| to_f64(media.played.switches)),
        ),
];
