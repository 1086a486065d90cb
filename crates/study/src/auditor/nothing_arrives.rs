//! *Every packet of a flow was dropped.* A limit below the size of one packet lets no packet through. A filter, a shaper or priorities
//! can starve a flow as well. Raise the limit (`topology.buffer`), or the share of the flow.

use super::evidence::Evidence;
use super::finding::Finding;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let found = evidence.at_points(|point| {
        // What a group receives is counted by receiver, and one that joins late misses what came before.
        let flow = point.runs.iter().flat_map(|run| &run.flows).find(|flow| {
            flow.reception.is_none()
                && flow.delivered_packets == 0
                && flow.sent_packets > 0
                && flow.dropped_packets == flow.sent_packets
        })?;
        Some(format!("Everything that {} sent was dropped.", flow.name))
    });
    found.map(Finding::warning).into_iter().collect()
}
