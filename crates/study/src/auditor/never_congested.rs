//! *The bottleneck never dropped or marked a packet, and fewer than one packet waited on average.* No queue had anything to manage, so
//! all queues look alike. Add flows, lower the rate of the bottleneck, or raise the receive windows.

use sojourn_results::outcome::QueueOutcome;

use super::evidence::{Evidence, Seen};
use super::finding::Finding;

/// Mean backlog below which a bottleneck is none, packets.
const SOME_BACKLOG: f64 = 1.0;
const TEXT: &str = "The bottleneck never dropped or marked a packet, and fewer than one waited on average: every queue would \
    do the same here.";

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let found = evidence.at_points(|point| is_never_congested(point).then(|| TEXT.to_owned()));
    found.map(Finding::warning).into_iter().collect()
}

fn is_never_congested(point: &Seen<'_>) -> bool {
    let mut queues = point
        .runs
        .iter()
        .flat_map(|run| &run.queues)
        .filter(|queue| queue.bottleneck)
        .peekable();
    queues.peek().is_some() && queues.all(is_idle)
}

fn is_idle(queue: &QueueOutcome) -> bool {
    queue.totals.dropped() == 0 && queue.totals.marked == 0 && queue.backlog_mean.0 < SOME_BACKLOG
}
