//! *The scenario's dialect is `paper`, and a component has none of that name.* It runs in its default dialect, which the note names. Choose
//! one for it with its own `dialect`.

use super::evidence::Evidence;
use super::finding::Finding;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let texts = evidence.fallbacks.iter().cloned();
    texts.map(Finding::that_says_all).collect()
}
