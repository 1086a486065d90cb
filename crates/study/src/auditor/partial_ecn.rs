//! Rule `partial-ecn`.

use super::about::{About, Stage};
use super::evidence::{Compared, Evidence, Remark, Seen};
use super::finding::Finding;
use super::traffic::{has_window, is_capable, is_data, listed, numbered};

pub(super) const ABOUT: About = About {
    title: "Some flows use ECN and others do not, at a queue that marks; or only some of the queues under \
        comparison mark",
    reason: "A mark costs a flow no packet and no retransmission, a drop does. Flows that share a marking queue \
        are then treated differently, and their shares say nothing of the queue. The rule looks at flows \
        with a congestion control that pass a queue with marks. It notes where some queues under comparison \
        marked and others dropped: such a comparison is of marking against dropping. It is silent where no \
        flow uses ECN, and where no queue marked.",
    source: "RFC 3168, section 5 (a mark in place of a drop); RFC 8087, section 3.4 (coexistence of ECN and \
        non-ECN flows); RFC 7928, section 4.5 (tests with and without ECN).",
    remedy: "Set `ecn` in all flows alike.\n\n```toml\nflows = [\"4*cubic ecn=true\"]\n```",
    stage: Stage::Outcome,
    former: &["one-ecn"],
    positive: r#"
flows = ["2*reno ecn=true", "2*reno"]
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
values = ["codel ecn=true", "pie ecn=true"]
compare = true
"#,
    negative: r#"
flows = ["4*reno ecn=true"]
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
values = ["codel ecn=true", "pie ecn=true"]
compare = true
"#,
};

/// Flows that a message lists.
const LISTED: usize = 3;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut found = evidence.at_points(Finding::warning, |point| mixed_flows(evidence, point));
    let mut mixed = evidence.comparisons.iter();
    found.extend(mixed.find_map(|compared| only_some_mark(evidence, compared)));
    found
}

fn mixed_flows(evidence: &Evidence<'_>, point: &Seen<'_>) -> Option<Remark> {
    let link = evidence.bottleneck(point)?;
    let passes = |flow: usize| {
        super::traffic::runs_at(point, &link.name).any(|(run, queue)| is_data(run, queue, flow))
    };
    if marks(evidence, point) == 0 {
        return None;
    }
    let flows = numbered(point).filter(|(at, flow)| has_window(point, flow) && passes(*at));
    let (with, without): (Vec<_>, Vec<_>) = flows.partition(|(_, flow)| is_capable(point, flow));
    if with.is_empty() || without.is_empty() {
        return None;
    }
    let names = |flows: &[(usize, &sojourn_run::compile::FlowInfo)]| -> Vec<String> {
        flows.iter().map(|(_, flow)| flow.name.clone()).collect()
    };
    let (with, without) = (names(&with), names(&without));
    let text = format!(
        "{} marks, {} use ECN, and {} do not: marks cost the first nothing where the others lose packets.",
        link.name,
        listed(&with, LISTED),
        listed(&without, LISTED)
    );
    Some(Remark::new(text).on(&link.name).of(without))
}

/// Packets that the measured queues marked, in all runs.
fn marks(evidence: &Evidence<'_>, point: &Seen<'_>) -> u64 {
    let measured = evidence.measured(point);
    let queues = point.runs.iter().flat_map(|run| &run.queues);
    let queues = queues.filter(|queue| measured.is(queue));
    queues.map(|queue| queue.totals.marked).sum()
}

fn only_some_mark(evidence: &Evidence<'_>, compared: &Compared<'_>) -> Option<Finding> {
    let points = &compared.points;
    let uses = |point: &Seen<'_>| {
        let mut flows = point.compiled.flows.iter();
        flows.any(|flow| has_window(point, flow) && is_capable(point, flow))
    };
    let acts = |point: &Seen<'_>| {
        let measured = evidence.measured(point);
        let mut queues = point.runs.iter().flat_map(|run| &run.queues);
        queues.any(|queue| measured.is(queue) && queue.totals.dropped() + queue.totals.marked > 0)
    };
    let labels = |marking: bool| -> Vec<String> {
        let own = points.iter().filter(|(_, point)| {
            uses(point) && acts(point) && (marks(evidence, point) > 0) == marking
        });
        own.map(|(label, _)| label.clone()).collect()
    };
    let (marking, dropping) = (labels(true), labels(false));
    if marking.is_empty() || dropping.is_empty() {
        return None;
    }
    let place = match compared.place.as_str() {
        "" => String::new(),
        place => format!(" ({place})"),
    };
    Some(
        Finding::note(format!(
            "Flows use ECN, and of the queues under comparison only some mark: {} mark, {} drop{place}.",
            listed(&marking, 6),
            listed(&dropping, 6)
        ))
        .at(points.iter().map(|(_, point)| point.info.name())),
    )
}
