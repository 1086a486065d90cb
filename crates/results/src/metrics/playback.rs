//! Metrics of adaptive streaming: what its viewers got.

use super::metric::{Entry, flow, named};
use super::terms::Unit;
use crate::outcome::FlowOutcome;
use crate::stats::{mean, ratio, to_f64};
use sojourn_traffic::workload::player::Playback;
use sojourn_units::Span;

/// All of them.
pub(super) const TABLE: &[Entry] = &[
    flow(
        named(
            "startup_s",
            "Startup",
            Unit::LongSeconds,
            "Of adaptive streaming: time from the first request until playback started. For several flows, the mean over those that started.",
            "first picture − first request",
        ),
        |flows, _| {
            let startups: Vec<f64> = of(flows)
                .filter_map(|playback| playback.startup.map(Span::as_secs_f64))
                .collect();
            mean(&startups)
        },
    ),
    flow(
        named(
            "stalls_count",
            "Stalls",
            Unit::Count,
            "Of adaptive streaming: number of times that playback stopped because the buffer was empty.",
            "count",
        ),
        |flows, _| sum(flows, |playback| to_f64(playback.stalls)),
    ),
    flow(
        named(
            "stalled_ratio",
            "Stalled",
            Unit::Ratio,
            "Of adaptive streaming: share of the time after startup in which playback was stalled.",
            "time frozen / (time frozen + time played)",
        ),
        |flows, _| {
            let stalled = sum(flows, |playback| playback.stalled.as_secs_f64())?;
            let played = sum(flows, |playback| playback.played.as_secs_f64())?;
            ratio(stalled, stalled + played)
        },
    ),
    flow(
        named(
            "quality_bps_mean",
            "Quality, mean",
            Unit::BitsPerSecond,
            "Of adaptive streaming: mean bit rate of the requested segments.",
            "Σ rate of quality / segments",
        ),
        |flows, _| {
            let rates = sum(flows, |playback| to_f64(playback.rates_sum))?;
            ratio(rates, sum(flows, |playback| to_f64(playback.segments))?)
        },
    ),
    flow(
        named(
            "quality_switches_count",
            "Quality switches",
            Unit::Count,
            "Of adaptive streaming: segments whose quality differs from that of the segment before.",
            "count",
        ),
        |flows, _| sum(flows, |playback| to_f64(playback.switches)),
    ),
];

fn of<'a>(flows: &'a [&FlowOutcome]) -> impl Iterator<Item = Playback> + 'a {
    flows.iter().filter_map(|flow| flow.playback)
}

/// `None` where there is no adaptive streaming.
fn sum(flows: &[&FlowOutcome], value: fn(&Playback) -> f64) -> Option<f64> {
    let values: Vec<f64> = of(flows).map(|playback| value(&playback)).collect();
    (!values.is_empty()).then(|| values.iter().sum())
}
