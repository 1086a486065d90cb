//! Rule `not-steady`.

use super::about::{About, Stage};
use super::evidence::{Evidence, places};
use super::finding::Finding;
use crate::steady::unsteady;

pub(super) const ABOUT: About = About {
    title: "The runs are not steady: the halves of the measured time differ, long flows reduced their windows fewer \
        than five times in it, or no end of the transient was found",
    reason: "Replications repeat the same bias: their intervals may be narrow and far from the long-run value. A slow \
        congestion control on a long path is the usual cause, since the sawtooth of Reno lasts (BDP + buffer) / \
        2 round trips. The halves of all points and metrics are tested together (paired t over replications, \
        Holm's procedure at 5 %); a change below 1 % is not reported, and neither are scenarios that change by \
        themselves. Make `run.duration` longer, or let `run.precision` make it longer; with `run.warmup = \
        \"auto\"` the warm-up follows.",
    source: "",
    remedy: "",
    stage: Stage::Outcome,
    former: &[],
    positive: "",
    negative: "",
};

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let all = unsteady(evidence.results);
    let Some(first) = all.first() else {
        return Vec::new();
    };
    let places = places(&first.point.name(), all.len(), evidence.points.len());
    vec![Finding::warning(format!(
        "Not steady: {}{places}. Make run.duration (--duration) longer.",
        first.text
    ))]
}
