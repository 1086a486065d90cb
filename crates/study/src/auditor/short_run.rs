//! Rule `short-run`.

use sojourn_units::Span;

use super::about::{About, Stage};
use super::evidence::{Evidence, Seen};
use super::finding::Finding;

pub(super) const ABOUT: About = About {
    title: "The measured time is less than 20 base round trips, or the warm-up is less than 5",
    reason: "A congestion control changes its rate once per round trip, and its sawtooth takes many. A mean over a \
        few round trips describes the start of the flows. Make `run.duration` longer, or the round trip shorter.",
    source: "",
    remedy: "",
    stage: Stage::Outcome,
    former: &[],
    positive: "",
    negative: "",
};

/// Base round trips that should be measured, and that should be left out before.
const ROUND_TRIPS: u64 = 20;
const WARMUP_ROUND_TRIPS: u64 = 5;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let short = evidence.at_points(|point| {
        let run = &point.scenario.run;
        let measured = run.duration.saturating_sub(run.warmup());
        let longest = longest(point);
        (measured < longest.saturating_mul(ROUND_TRIPS)).then(|| {
            format!(
                "{measured} are measured, with base round trips of up to {longest}: fewer than {ROUND_TRIPS} of them."
            )
        })
    });
    let early = evidence.at_points(|point| {
        let warmup = point.scenario.run.warmup();
        let longest = longest(point);
        let early = warmup > Span::ZERO && warmup < longest.saturating_mul(WARMUP_ROUND_TRIPS);
        early.then(|| {
            format!(
                "The warm-up of {warmup} is less than {WARMUP_ROUND_TRIPS} base round trips of {longest}."
            )
        })
    });
    [short, early]
        .into_iter()
        .flatten()
        .map(Finding::warning)
        .collect()
}

/// The longest base round trip of a point.
fn longest(point: &Seen<'_>) -> Span {
    let flows = point.runs.iter().flat_map(|run| &run.flows);
    flows.map(|flow| flow.base_rtt).max().unwrap_or(Span::ZERO)
}
