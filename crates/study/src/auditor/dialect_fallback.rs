//! Rule `dialect-fallback`.

use super::about::{About, Stage};
use super::evidence::Evidence;
use super::finding::Finding;

pub(super) const ABOUT: About = About {
    title: "The scenario's dialect is `paper`, and a component has no dialect of that name",
    reason: "The component runs in its default dialect, which the note names. To choose another, set its own \
        `dialect`.",
    source: "docs/reference/scenario.md, key `dialect`; the pages of the components list their dialects.",
    remedy: "Name the dialect of the component.\n\n```toml\nflows = [\"cubic dialect=linux\"]\n```",
    stage: Stage::Scenario,
    former: &[],
    positive: r#"
dialect = "paper"
flows = ["2*cubic"]
[run]
duration = "3s"
warmup = "1s"
replications = 5
[topology]
rate = "2Mbps"
rtt = "40ms"
buffer = "20p"
"#,
    negative: r#"
flows = ["2*cubic"]
[run]
duration = "3s"
warmup = "1s"
replications = 5
[topology]
rate = "2Mbps"
rtt = "40ms"
buffer = "20p"
"#,
};

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let texts = evidence.fallbacks.iter().cloned();
    texts.map(Finding::that_says_all).collect()
}
