//! Rule `few-replications`.

use super::about::{About, Stage};
use super::evidence::Evidence;
use super::finding::Finding;

pub(super) const ABOUT: About = About {
    title: "There are fewer than 5 replications",
    reason: "With two values, the half width of a 95 % interval is 9 standard deviations; with five it is 1.24, with \
        ten 0.72. Raise `run.replications`. Runs that are already in the directory are kept.",
    source: "",
    remedy: "",
    stage: Stage::Outcome,
    former: &[],
    positive: "",
    negative: "",
};

/// Replications from which on nothing is said.
const ENOUGH: u64 = 5;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let found = evidence.at_points(|point| {
        if point.info.deterministic || point.info.replications >= ENOUGH {
            return None;
        }
        let count = match point.info.replications {
            1 => "One replication gives no interval at all".to_owned(),
            n => format!("{n} replications give wide intervals"),
        };
        Some(format!("{count}; {ENOUGH} or more are advised."))
    });
    found.map(Finding::warning).into_iter().collect()
}
