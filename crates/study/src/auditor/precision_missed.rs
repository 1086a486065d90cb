//! Rule `precision-missed`.

use sojourn_results::design::{MOST_ALLOWED, OF_REPLICATIONS};

use super::about::{About, Stage};
use super::evidence::Evidence;
use super::finding::Finding;

pub(super) const ABOUT: About = About {
    title: "The intervals are wider than `run.precision` asks for, with the most replications that are allowed",
    reason: "The table shows what was reached. Raise `run.max_replications`, or `run.max_duration`, or ask for less. \
        The error of a mean falls with the root of the number of replications: half of it takes four times as \
        many. A percentile is known to a step of its histogram, 1.6 % of the value, however many there are.",
    source: "",
    remedy: "",
    stage: Stage::Outcome,
    former: &[],
    positive: "",
    negative: "",
};

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let design = evidence.results.manifest.design.as_ref();
    let groups = design.into_iter().flat_map(|design| &design.groups);
    let missed = groups.filter_map(|group| {
        let reason = group.reasons.last()?.strip_prefix(OF_REPLICATIONS)?;
        reason.contains(MOST_ALLOWED).then_some(reason)
    });
    let first = missed.take(1);
    first
        .map(|reason| {
            Finding::warning(format!(
                "The precision was not reached: {reason} Raise run.max_replications."
            ))
        })
        .collect()
}
