//! Rule `few-replications`.

use super::about::{About, Stage};
use super::evidence::{Evidence, Remark};
use super::finding::Finding;

pub(super) const ABOUT: About = About {
    title: "There are fewer than 5 replications",
    reason: "With two values, the half width of a 95 % interval is 9 standard deviations; with five it is \
        1.24, with ten 0.72. No source gives a least number. Five is Sojourn's choice: from there on, one \
        more replication makes an interval less than a sixth narrower.",
    source: "Student, \"The probable error of a mean\", *Biometrika* 6(1), 1908; Law and Kelton, *Simulation \
        Modeling and Analysis*, third edition, 2000, section 9.4.1 (the interval of a mean over \
        replications).",
    remedy: "Runs that are already in the directory are kept.\n\n```toml\n[run]\nreplications = 10\n```",
    stage: Stage::Scenario,
    former: &[],
    positive: r#"
flows = ["4*reno dialect=ns2 window=100p"]
[run]
duration = "8s"
warmup = "2s"
replications = 2
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

/// Replications from which on nothing is said; Sojourn's choice.
const ENOUGH: u64 = 5;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.at_points(Finding::warning, |point| {
        if point.info.deterministic || point.info.replications >= ENOUGH {
            return None;
        }
        let count = match point.info.replications {
            1 => "One replication gives no interval at all".to_owned(),
            n => format!("{n} replications give wide intervals"),
        };
        Some(Remark::new(format!(
            "{count}; {ENOUGH} or more are advised."
        )))
    })
}
