//! Rule `ack-path-congested`.

use sojourn_results::outcome::{QueueOutcome, RunOutcome};
use sojourn_results::stats::{to_f64, wide_to_f64};
use sojourn_sim::DropReason;

use super::about::{About, Stage};
use super::evidence::{Evidence, Remark, Seen, short};
use super::finding::Finding;
use super::traffic::{has_window, is_data, reverse_of, runs_at};

pub(super) const ABOUT: About = About {
    title: "Acknowledgements alone fill the way back from the bottleneck, or are dropped there",
    reason: "The way back then decides how fast flows send, and the queue that the tables show has little to \
        do with it. The rule looks at the other direction of the measured link where no flow sends data in \
        it. It reports a utilization above 90 %, and drops. No source gives a limit: 90 % is Sojourn's \
        choice, since a link that is nearly full makes acknowledgements wait for each other.",
    source: "RFC 3449, *TCP performance implications of network path asymmetry*, 2002, section 3.",
    remedy: "Raise the rate of the way back.\n\n```toml\n[topology]\nrate = \"20Mbps\"\nreverse_rate = \
        \"2Mbps\"\n```",
    stage: Stage::Outcome,
    former: &[],
    positive: r#"
flows = ["4*reno"]
[run]
duration = "6s"
warmup = "2s"
replications = 5
[topology]
rate = "10Mbps"
reverse_rate = "100kbps"
rtt = "40ms"
buffer = "50p"
[[experiment]]
name = "e"
[[experiment.factor]]
name = "level"
path = "topology.queue"
values = ["droptail", "codel"]
compare = true
"#,
    negative: r#"
flows = ["4*reno"]
[run]
duration = "6s"
warmup = "2s"
replications = 5
[topology]
rate = "5Mbps"
reverse_rate = "1Mbps"
rtt = "40ms"
buffer = "50p"
[[experiment]]
name = "e"
[[experiment.factor]]
name = "level"
path = "topology.queue"
values = ["droptail", "codel"]
compare = true
"#,
};

/// Utilization from which on a link is full; Sojourn's choice.
const FULL_LINK: f64 = 0.9;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.at_points(Finding::warning, |point| congested(evidence, point))
}

fn congested(evidence: &Evidence<'_>, point: &Seen<'_>) -> Option<Remark> {
    let link = evidence.bottleneck(point)?;
    let back = reverse_of(point, link)?;
    if !point
        .compiled
        .flows
        .iter()
        .any(|flow| has_window(point, flow))
    {
        return None;
    }
    let runs: Vec<(&RunOutcome, &QueueOutcome)> = runs_at(point, &back.name).collect();
    let data = |(run, queue): &(&RunOutcome, &QueueOutcome)| {
        (0..queue.per_flow.len()).any(|flow| is_data(run, queue, flow))
    };
    if runs.is_empty() || runs.iter().any(data) {
        return None;
    }
    let wire = DropReason::Wire.index();
    let dropped: u64 = runs
        .iter()
        .map(|(_, queue)| {
            let all: u64 = queue.drops_by_reason.iter().sum();
            all - queue.drops_by_reason[wire]
        })
        .sum();
    let sent: u128 = runs
        .iter()
        .map(|(_, queue)| u128::from(queue.sent_bytes) * 8)
        .sum();
    let capacity: u128 = runs.iter().map(|(_, queue)| queue.capacity_bits).sum();
    let load = wide_to_f64(sent) / wide_to_f64(capacity.max(1));
    (dropped > 0 || load > FULL_LINK).then(|| {
        let text = format!(
            "Acknowledgements fill {} to {} %, and {} of them were dropped there: the way back at {} decides how fast flows send.",
            back.name,
            short(load * 100.0),
            short(to_f64(dropped)),
            back.rate
        );
        Remark::new(text).on(&back.name)
    })
}
