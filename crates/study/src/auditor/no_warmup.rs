//! Rule `no-warmup`.

use sojourn_units::Span;

use super::about::{About, Stage};
use super::evidence::{Evidence, Remark};
use super::finding::Finding;

pub(super) const ABOUT: About = About {
    title: "The warm-up is zero",
    reason: "Empty queues and slow starts then count in every mean and percentile.",
    source: "Law and Kelton, *Simulation Modeling and Analysis*, third edition, 2000, section 9.5.1 (the \
        problem of the initial transient).",
    remedy: "```toml\n[run]\nwarmup = \"10s\"\n```\n\nWith `warmup = \"auto\"`, the series of each point decide.",
    stage: Stage::Scenario,
    former: &[],
    positive: r#"
flows = ["4*reno dialect=ns2 window=100p"]
[run]
duration = "8s"
warmup = "0s"
replications = 5
[topology]
rate = "2Mbps"
rtt = "40ms"
buffer = "20p"
[[experiment]]
name = "e"
[[experiment.factor]]
name = "level"
path = "topology.queue"
values = ["droptail", "codel"]
compare = true
"#,
    negative: r#"
flows = ["4*reno dialect=ns2 window=100p"]
[run]
duration = "8s"
warmup = "2s"
replications = 5
[topology]
rate = "2Mbps"
rtt = "40ms"
buffer = "20p"
[[experiment]]
name = "e"
[[experiment.factor]]
name = "level"
path = "topology.queue"
values = ["droptail", "codel"]
compare = true
"#,
};

const TEXT: &str =
    "There is no warm-up: empty queues and slow starts at the beginning are in every measure.";

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.at_points(Finding::note, |point| {
        (point.scenario.run.warmup() == Span::ZERO).then(|| Remark::new(TEXT))
    })
}
