//! Rule `no-warmup`.

use sojourn_units::Span;

use super::about::{About, Stage};
use super::evidence::Evidence;
use super::finding::Finding;

pub(super) const ABOUT: About = About {
    title: "The warm-up is zero",
    reason: "Empty queues and slow starts then count in every mean and percentile. Set `run.warmup`. A study of the \
        start itself, or of short flows, needs no warm-up.",
    source: "",
    remedy: "",
    stage: Stage::Outcome,
    former: &[],
    positive: "",
    negative: "",
};

const TEXT: &str =
    "There is no warm-up: empty queues and slow starts at the beginning are in every measure.";

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let found = evidence
        .at_points(|point| (point.scenario.run.warmup() == Span::ZERO).then(|| TEXT.to_owned()));
    found.map(Finding::note).into_iter().collect()
}
