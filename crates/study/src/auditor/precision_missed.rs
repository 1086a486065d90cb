//! Rule `precision-missed`.

use sojourn_results::design::{MOST_ALLOWED, OF_REPLICATIONS};

use super::about::{About, Stage};
use super::evidence::Evidence;
use super::finding::Finding;

pub(super) const ABOUT: About = About {
    title: "The intervals are wider than `run.precision` asks for, with the most replications that are allowed",
    reason: "The table shows what was reached. Raise `run.max_replications`, or `run.max_duration`, or ask \
        for less. The error of a mean falls with the root of the number of replications: half of it takes \
        four times as many. A percentile is known to half a step of its histogram, up to 1.6 % of the value, \
        however many there are.",
    source: "Law and Kelton, *Simulation Modeling and Analysis*, third edition, 2000, section 9.4.1 \
        (obtaining a specified precision).",
    remedy: "```toml\n[run]\nprecision = \"5%\"\nmax_replications = 200\n```",
    stage: Stage::Outcome,
    former: &[],
    positive: r#"
flows = ["4*reno dialect=ns2 window=100p"]
[run]
duration = "8s"
warmup = "2s"
replications = 2
precision = "0.1%"
max_replications = 4
max_duration = "8s"
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
