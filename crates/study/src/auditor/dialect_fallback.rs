//! Rule `dialect-fallback`.

use super::about::{About, Stage};
use super::evidence::Evidence;
use super::finding::Finding;

pub(super) const ABOUT: About = About {
    title: "The scenario's dialect is `paper`, and a component has no dialect of that name",
    reason: "The component runs in its default dialect, which the note names. To choose another, set its own \
        `dialect`.",
    source: "",
    remedy: "",
    stage: Stage::Outcome,
    former: &[],
    positive: "",
    negative: "",
};

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let texts = evidence.fallbacks.iter().cloned();
    texts.map(Finding::that_says_all).collect()
}
