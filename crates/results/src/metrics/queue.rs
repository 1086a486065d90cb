//! Metrics of queues.

use sojourn_sim::{DropReason, MarkReason};
use sojourn_units::Span;

use super::metric::{
    Entry, Metric, Read, named, of_table, percentile_title, pooled, queue, share_text, sum,
};
use super::range::Range;
use super::terms::{Level, Unit};
use crate::outcome::{LOST_ON_THE_WIRE, QueueOutcome};
use crate::stats::{ratio, to_f64, wide_to_f64};

/// Percentiles of sojourn times, as shares of 1 with their names.
const QUANTILES: [(f64, &str); 5] = [
    (0.05, "p05"),
    (0.50, "p50"),
    (0.95, "p95"),
    (0.99, "p99"),
    (0.999, "p999"),
];

/// What the link carried, and how long packets waited.
const TIMES: &[Entry] = &[
    queue(
        named(
            "utilization_ratio",
            "Utilization",
            Unit::Ratio,
            "Share of the link's capacity that carried packets. The capacity follows changes of the link's rate.",
            "8 × bytes whose transmission started / ∫ rate dt, at most 1",
        ),
        |queues, _| {
            let capacity: f64 = queues.iter().map(|q| wide_to_f64(q.capacity_bits)).sum();
            // All bytes of the packet count that is in transmission at the end.
            ratio(8.0 * sum(queues, |q| q.sent_bytes), capacity).map(|share| share.min(1.0))
        },
    ),
    queue(
        named(
            "throughput_bps_mean",
            "Throughput",
            Unit::BitsPerSecond,
            "Bits on the wire per second, headers included.",
            "8 × bytes whose transmission started / measured time",
        ),
        |queues, seconds| ratio(8.0 * sum(queues, |q| q.sent_bytes), seconds),
    ),
    pooled(queue(
        named(
            "sojourn_s_mean",
            "Sojourn, mean",
            Unit::Seconds,
            "Time from a packet's arrival at the queue to the start of its transmission. Dropped packets are excluded.",
            "Σ sojourn / packets sent, to the picosecond",
        ),
        |queues, _| {
            let sum: f64 = queues.iter().map(|q| wide_to_f64(q.sojourn_sum)).sum();
            let count: f64 = queues.iter().map(|q| to_f64(q.sojourn.count())).sum();
            ratio(sum * 1e-12, count)
        },
    )),
    pooled(queue(
        named(
            "sojourn_s_min",
            "Sojourn, min",
            Unit::Seconds,
            "Shortest sojourn time.",
            "min sojourn, to the picosecond",
        ),
        |queues, _| {
            let least = queues.iter().filter_map(|q| q.sojourn_min).min();
            least.map(Span::as_secs_f64)
        },
    )),
    pooled(queue(
        named(
            "sojourn_s_max",
            "Sojourn, max",
            Unit::Seconds,
            "Longest sojourn time.",
            "max sojourn, to the picosecond",
        ),
        |queues, _| {
            let sent = queues.iter().filter(|q| q.sojourn_min.is_some());
            sent.map(|q| q.sojourn_max).max().map(Span::as_secs_f64)
        },
    )),
];

/// How many packets waited, and what became of them.
const COUNTS: &[Entry] = &[
    queue(
        named(
            "backlog_packets_mean",
            "Backlog, mean",
            Unit::Packets,
            "Time average of the number of packets in the queue. The packet in transmission is not counted.",
            "∫ backlog dt / measured time = Σ time in the queue of packets that left it either way / measured time",
        ),
        |queues, _| Some(queues.iter().map(|q| q.backlog_mean.0).sum()),
    ),
    queue(
        named(
            "backlog_packets_max",
            "Backlog, max",
            Unit::Packets,
            "Largest number of packets in the queue. For several queues, the largest in any one of them.",
            "max backlog",
        ),
        |queues, _| queues.iter().map(|q| q.backlog_max.0).max().map(to_f64),
    ),
    queue(
        named(
            "backlog_bytes_mean",
            "Backlog, mean",
            Unit::Bytes,
            "Time average of the number of bytes in the queue.",
            "∫ backlog dt / measured time, in bytes",
        ),
        |queues, _| Some(queues.iter().map(|q| q.backlog_mean.1).sum()),
    ),
    queue(
        named(
            "backlog_bytes_max",
            "Backlog, max",
            Unit::Bytes,
            "Largest number of bytes in the queue. For several queues, the largest in any one of them.",
            "max backlog, in bytes",
        ),
        |queues, _| queues.iter().map(|q| q.backlog_max.1).max().map(to_f64),
    ),
    queue(
        named(
            "received_packets",
            "Received",
            Unit::Packets,
            "Packets that arrived at the queue, dropped ones included.",
            "count",
        ),
        |queues, _| Some(sum(queues, |q| q.totals.received)),
    ),
    queue(
        named(
            "sent_packets",
            "Sent",
            Unit::Packets,
            "Packets whose transmission started.",
            "count",
        ),
        |queues, _| Some(sum(queues, |q| q.sent_packets)),
    ),
    queue(
        named(
            "dropped_packets",
            "Dropped",
            Unit::Packets,
            "Packets that the queue dropped, on arrival or later.",
            "dropped on arrival + dropped later",
        ),
        |queues, _| Some(sum(queues, |q| q.totals.dropped())),
    ),
    queue(
        named(
            "drop_rate_pps",
            "Drop rate",
            Unit::PacketsPerSecond,
            "Packets that the queue dropped, per second.",
            "packets dropped / measured time",
        ),
        |queues, seconds| ratio(sum(queues, |q| q.totals.dropped()), seconds),
    ),
    queue(
        named(
            "loss_ratio",
            "Loss",
            Unit::Ratio,
            "Share of the arriving packets that the queue dropped. If more packets left than arrived, because some were already waiting when the measured time began, the share is of those that left.",
            "packets dropped / max(packets received, packets sent + packets dropped)",
        ),
        |queues, _| ratio(sum(queues, |q| q.totals.dropped()), passed(queues)),
    ),
    queue(
        named(
            "marked_packets",
            "Marked",
            Unit::Packets,
            "Packets that the queue marked with CE.",
            "count",
        ),
        |queues, _| Some(sum(queues, |q| q.totals.marked)),
    ),
    queue(
        named(
            "mark_ratio",
            "Marked",
            Unit::Ratio,
            "Share of the arriving packets that the queue marked. If more packets left than arrived, because some were already waiting when the measured time began, the share is of those that left.",
            "packets marked / max(packets received, packets sent + packets dropped)",
        ),
        |queues, _| ratio(sum(queues, |q| q.totals.marked), passed(queues)),
    ),
    queue(
        named(
            "loss_events_count",
            "Loss events",
            Unit::Count,
            "Number of loss events. A drop begins an event, and all drops within the flows' longest base round trip belong to it.",
            "count",
        ),
        |queues, _| Some(sum(queues, |q| q.loss_events)),
    ),
    queue(
        named(
            "loss_synchronization_ratio",
            "Loss synchronization",
            Unit::Ratio,
            "Global synchronization ratio (RFC 7928 section 2.4): the share of the flows that lose packets in a loss event. Each connection of a workload counts as a flow.",
            "Σ flows hit per event / (events × flows whose packets arrived at the queue)",
        ),
        |queues, _| {
            let all = sum(queues, |q| q.loss_events * q.seen_flows);
            ratio(sum(queues, |q| q.loss_event_flows), all)
        },
    ),
];

/// All of them.
pub(super) fn metrics() -> Vec<Metric> {
    let mut all: Vec<Metric> = of_table(TIMES).collect();
    all.extend(QUANTILES.map(|(q, suffix)| percentile(q, suffix)));
    all.extend(of_table(COUNTS));
    by_reason(&mut all);
    all
}

/// A percentile of sojourn times, by its share of 1 and its name.
pub(super) fn percentile(q: f64, suffix: &str) -> Metric {
    Metric {
        name: format!("sojourn_s_{suffix}"),
        title: format!("Sojourn, {}", percentile_title(suffix)),
        unit: Unit::Seconds,
        range: Range::of(Unit::Seconds),
        level: Level::Queue,
        doc: format!(
            "Sojourn time that {} % of the transmitted packets do not exceed.",
            share_text(suffix)
        ),
        formula: format!("nearest rank {q} of the histogram; error at most 1/64 (1.6 %)"),
        pooled: true,
        flows: None,
        read: Read::SojournQuantile(q),
    }
}

/// Counts of drops and marks, reason by reason.
fn by_reason(all: &mut Vec<Metric>) {
    all.extend(DropReason::of_links().map(|reason| Metric {
        name: format!("drops_packets_{}", reason.name()),
        title: format!("Drops, {}", reason.name().replace('_', " ")),
        unit: Unit::Packets,
        range: Range::of(Unit::Packets),
        level: Level::Queue,
        doc: match reason {
            DropReason::Wire => LOST_ON_THE_WIRE.to_owned(),
            other => format!("Packets dropped with the reason `{}`.", other.name()),
        },
        formula: "count".to_owned(),
        pooled: false,
        flows: None,
        read: Read::Drops(reason),
    }));
    all.extend(MarkReason::ALL.map(|reason| Metric {
        name: format!("marks_packets_{}", reason.name()),
        title: format!("Marks, {}", reason.name().replace('_', " ")),
        unit: Unit::Packets,
        range: Range::of(Unit::Packets),
        level: Level::Queue,
        doc: format!("Packets marked with the reason `{}`.", reason.name()),
        formula: "count".to_owned(),
        pooled: false,
        flows: None,
        read: Read::Marks(reason),
    }));
}

/// The packets that a share of losses or marks is taken of. What waits when the measured time begins is not received in it, but is sent, dropped or
/// marked in it: where that matters, what left is more than what came.
fn passed(queues: &[&QueueOutcome]) -> f64 {
    let left = sum(queues, |q| q.totals.dequeued + q.totals.dropped());
    sum(queues, |q| q.totals.received).max(left)
}
