//! Rule `nothing-arrives`.

use sojourn_results::outcome::{FlowOutcome, RunOutcome};

use super::about::{About, Stage};
use super::evidence::{Evidence, Remark};
use super::finding::Finding;

pub(super) const ABOUT: About = About {
    title: "Every packet of a flow was dropped, in some replication",
    reason: "A limit below the size of one packet lets no packet through. A filter, a shaper or priorities can \
        starve a flow as well, and so can a loss at its start that it waits for.",
    source: "RFC 7567, section 2 (lock-out: a few flows keep others out of a queue).",
    remedy: "Raise the limit, the share of the flow, or the duration.\n\n```toml\n[topology]\nbuffer = \
        \"100p\"\n```",
    stage: Stage::Outcome,
    former: &[],
    positive: r#"
flows = ["2*cbr 500kbps"]
[run]
duration = "3s"
warmup = "1s"
replications = 5
[topology]
rate = "2Mbps"
rtt = "40ms"
buffer = "39B"
[[experiment]]
name = "e"
[[experiment.factor]]
name = "level"
path = "topology.queue"
values = ["droptail"]
compare = true
"#,
    negative: r#"
flows = ["2*cbr 500kbps"]
[run]
duration = "3s"
warmup = "1s"
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
values = ["droptail"]
compare = true
"#,
};

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.at_points(Finding::warning, |point| {
        let mut flows = point.runs.iter().flat_map(|run| &run.flows);
        let name = &flows.find(|flow| lost_everything(flow))?.name;
        let lost = |run: &&&RunOutcome| {
            let mut flows = run.flows.iter();
            flows.any(|flow| flow.name == *name && lost_everything(flow))
        };
        let runs = point.runs.iter().filter(lost).count();
        let all = point.runs.len();
        let some = match runs == all {
            true => String::new(),
            false => format!(" in {runs} of {all} replications"),
        };
        let text = format!("Everything that {name} sent was dropped{some}.");
        Some(Remark::new(text).of([name.clone()]))
    })
}

fn lost_everything(flow: &FlowOutcome) -> bool {
    // What a group receives is counted by receiver, and one that joins late misses what came before.
    flow.reception.is_none()
        && flow.delivered_packets == 0
        && flow.sent_packets > 0
        && flow.dropped_packets == flow.sent_packets
}
