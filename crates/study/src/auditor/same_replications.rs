//! Rule `same-replications`.

use super::about::{About, Stage};
use super::evidence::{Evidence, Remark};
use super::finding::Finding;

pub(super) const ABOUT: About = About {
    title: "All replications gave the same bits",
    reason: "Nothing in them was random: flows have a fixed `start`, and neither sources nor queues draw random \
        numbers. Ten such runs are one observation, so tables say \"deterministic\" and give no interval.",
    source: "Law and Kelton, *Simulation Modeling and Analysis*, third edition, 2000, section 9.4 \
        (independent replications).",
    remedy: "Leave out `start`, so that flows start at random times, or say that nothing is \
        random.\n\n```toml\n[run]\ndeterministic = true\n```",
    stage: Stage::Outcome,
    former: &[],
    positive: r#"
flows = ["reno dialect=rfc9293 start=0s"]
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
    evidence.at_points(Finding::warning, |point| {
        let same = !point.info.deterministic && evidence.results.is_exact(point.info);
        same.then(|| {
            Remark::new(format!(
                "All {} replications came out the same, which makes them one: there is no interval to tell. Leave out start \
                 of the flows for random starts, or say deterministic = true to run once.",
                point.runs.len()
            ))
        })
    })
}
