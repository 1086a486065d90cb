//! Rule `same-replications`.

use super::about::{About, Stage};
use super::evidence::Evidence;
use super::finding::Finding;

pub(super) const ABOUT: About = About {
    title: "All replications gave the same bits",
    reason: "Nothing in them was random: flows have a fixed `start`, and neither sources nor queues draw random \
        numbers. Ten such runs are one observation, so tables say \"deterministic\" and give no interval. Leave \
        out `start`, so that flows start at random times, or set `run.deterministic = true`, which makes one \
        run.",
    source: "",
    remedy: "",
    stage: Stage::Outcome,
    former: &[],
    positive: "",
    negative: "",
};

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let found = evidence.at_points(|point| {
        let same = !point.info.deterministic && evidence.results.is_exact(point.info);
        same.then(|| {
            format!(
                "All {} replications came out the same, which makes them one: there is no interval to tell. Leave out start \
                 of the flows for random starts, or say deterministic = true to run once.",
                point.runs.len()
            )
        })
    });
    found.map(Finding::warning).into_iter().collect()
}
