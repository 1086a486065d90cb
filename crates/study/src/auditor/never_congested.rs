//! Rule `never-congested`.

use sojourn_results::outcome::QueueOutcome;

use super::about::{About, Stage};
use super::evidence::{Evidence, Seen};
use super::finding::Finding;

pub(super) const ABOUT: About = About {
    title: "The bottleneck never dropped or marked a packet, and fewer than one packet waited on average",
    reason: "No queue had anything to manage, so all queues look alike. Add flows, lower the rate of the bottleneck, \
        or raise the receive windows.",
    source: "",
    remedy: "",
    stage: Stage::Outcome,
    former: &[],
    positive: "",
    negative: "",
};

/// Mean backlog below which a bottleneck is none, packets.
const SOME_BACKLOG: f64 = 1.0;
const TEXT: &str = "The bottleneck never dropped or marked a packet, and fewer than one waited on average: every queue would \
    do the same here.";

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let found = evidence.at_points(|point| never_congested(evidence, point));
    found.map(Finding::warning).into_iter().collect()
}

fn never_congested(evidence: &Evidence<'_>, point: &Seen<'_>) -> Option<String> {
    let measured = evidence.measured(point);
    let all = || point.runs.iter().flat_map(|run| &run.queues);
    let mut queues = all().filter(|queue| measured.is(queue)).peekable();
    let name = queues.peek()?.link.clone();
    // Where another link is the bottleneck, the rule on that says so.
    if !queues.all(is_idle) || evidence.other_bottleneck(point).is_some() {
        return None;
    }
    let other = all().find(|queue| !is_idle(queue));
    Some(match (other, measured.found()) {
        (Some(other), _) => format!(
            "{name} never dropped or marked a packet, and fewer than one waited on average. Packets waited at {0}, whose queue decides the \
             results: show its metrics, such as sojourn_s_p95 of {0}.",
            other.link
        ),
        (None, Some(found)) => TEXT.replace("The bottleneck", found),
        (None, None) => TEXT.to_owned(),
    })
}

fn is_idle(queue: &QueueOutcome) -> bool {
    queue.totals.dropped() == 0 && queue.totals.marked == 0 && queue.backlog_mean.0 < SOME_BACKLOG
}
