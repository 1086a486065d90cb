//! Every metric, declared once: from this list come the columns of result files, the tables of studies, `docs/metrics.md` and
//! `docs/reference/results.md`.
//!
//! A metric is a function of a group: of one queue or several, of one flow or several. Of a group, means and percentiles
//! are those of all its packets together and counts are sums, so that "the four Reno flows" is a subject like "Reno flow 1".
//! The distributions of all replications together are such a group, too: the metrics called `..._pooled`.

mod exchanges;
mod media;
mod metric;
mod playback;
mod range;
mod terms;

use std::sync::LazyLock;

use sojourn_sim::{DropReason, MarkReason};
use sojourn_units::{Span, nearest};

pub use metric::{Measure, Metric, Statistic, of_one_size};
pub use range::Range;
pub use terms::{Level, Subject, Unit};

use metric::{Declared, Read, declared, sum};
use sojourn_traffic::workload::TransferKind;
use sojourn_transport::SrmCounts;

use crate::outcome::{FlowOutcome, LOST_ON_THE_WIRE, QueueOutcome, RunOutcome, TransferOutcome};
use crate::stats::{jain_index, mean, min_share, ratio, to_f64, wide_to_f64};

/// Suffix of metrics over the packets of all replications together.
pub const POOLED: &str = "_pooled";

/// Every metric: queues first, then flows, groups and runs.
pub fn metrics() -> &'static [Metric] {
    static METRICS: LazyLock<Vec<Metric>> = LazyLock::new(|| {
        let mut all = queue_metrics();
        all.extend(flow_metrics());
        all.extend(playback::metrics());
        all.extend(exchanges::metrics());
        all.extend(media::metrics());
        all.extend(group_metrics());
        all.extend(run_metrics());
        all
    });
    &METRICS
}

/// The metrics of one level.
pub fn of_level(level: Level) -> impl Iterator<Item = &'static Metric> {
    metrics().iter().filter(move |metric| metric.level == level)
}

/// A metric by its name, and whether its `_pooled` form is asked for; `level` decides where queues and flows have one of
/// the same name.
pub fn find(name: &str, level: Option<Level>) -> Option<(&'static Metric, bool)> {
    let by_name = |name: &str| {
        let mut found = metrics().iter().filter(|metric| metric.name == name);
        let first = found.clone().next();
        found
            .find(|metric| level.is_some_and(|level| of_kind(level, metric.level)))
            .or(first)
    };
    by_name(name).map(|metric| (metric, false)).or_else(|| {
        let metric = by_name(name.strip_suffix(POOLED)?)?;
        metric.pooled.then_some((metric, true))
    })
}

/// The name nearest to one that does not exist.
pub fn nearest_name(given: &str) -> Option<&'static str> {
    nearest(given, metrics().iter().map(|metric| metric.name.as_str()))
}

fn of_kind(asked: Level, level: Level) -> bool {
    asked == level || (asked == Level::Flow && level == Level::Group)
}

/// Percentiles in tables, as shares of 1 with their names.
const SOJOURN_QUANTILES: [(f64, &str); 5] = [
    (0.05, "p05"),
    (0.50, "p50"),
    (0.95, "p95"),
    (0.99, "p99"),
    (0.999, "p999"),
];
const DELAY_QUANTILES: [(f64, &str); 4] =
    [(0.05, "p05"), (0.50, "p50"), (0.95, "p95"), (0.99, "p99")];

const TRANSFER_QUANTILES: [(f64, &str); 3] = [(0.50, "p50"), (0.95, "p95"), (0.99, "p99")];

fn queue_metrics() -> Vec<Metric> {
    let queue = |declared: Declared, read: fn(&[&QueueOutcome], f64) -> Option<f64>| {
        declared.metric(Level::Queue, false, Read::Queues(read))
    };
    let mut all = vec![
        queue(
            declared(
                "utilization_ratio",
                "Utilization",
                Unit::Ratio,
                "Share of the link's capacity that carried packets; changes of rate are taken into account.",
                "8 × bytes whose transmission started / ∫ rate dt, at most 1",
            ),
            |queues, _| {
                let capacity: f64 = queues.iter().map(|q| wide_to_f64(q.capacity_bits)).sum();
                // All bytes of the packet count that is in transmission at the end.
                ratio(8.0 * sum(queues, |q| q.sent_bytes), capacity).map(|share| share.min(1.0))
            },
        ),
        queue(
            declared(
                "throughput_bps_mean",
                "Throughput",
                Unit::BitsPerSecond,
                "Bits on the wire per second, headers included.",
                "8 × bytes whose transmission started / measured time",
            ),
            |queues, seconds| ratio(8.0 * sum(queues, |q| q.sent_bytes), seconds),
        ),
        Metric {
            pooled: true,
            ..queue(
                declared(
                    "sojourn_s_mean",
                    "Sojourn, mean",
                    Unit::Seconds,
                    "Time from being handed to the queue until given up for transmission, of packets that were sent.",
                    "Σ sojourn / packets sent, to the picosecond",
                ),
                |queues, _| {
                    let sum: f64 = queues.iter().map(|q| wide_to_f64(q.sojourn_sum)).sum();
                    let count: f64 = queues.iter().map(|q| to_f64(q.sojourn.count())).sum();
                    ratio(sum * 1e-12, count)
                },
            )
        },
        Metric {
            pooled: true,
            ..queue(
                declared(
                    "sojourn_s_min",
                    "Sojourn, min",
                    Unit::Seconds,
                    "The shortest sojourn time.",
                    "min sojourn, to the picosecond",
                ),
                |queues, _| {
                    let least = queues.iter().filter_map(|q| q.sojourn_min).min();
                    least.map(Span::as_secs_f64)
                },
            )
        },
        Metric {
            pooled: true,
            ..queue(
                declared(
                    "sojourn_s_max",
                    "Sojourn, max",
                    Unit::Seconds,
                    "The longest sojourn time.",
                    "max sojourn, to the picosecond",
                ),
                |queues, _| {
                    let sent = queues.iter().filter(|q| q.sojourn_min.is_some());
                    sent.map(|q| q.sojourn_max).max().map(Span::as_secs_f64)
                },
            )
        },
    ];
    all.extend(SOJOURN_QUANTILES.map(|(q, suffix)| Metric {
        name: format!("sojourn_s_{suffix}"),
        title: format!("Sojourn, {}", percentile_title(suffix)),
        unit: Unit::Seconds,
        range: Range::of(Unit::Seconds),
        level: Level::Queue,
        doc: format!(
            "Sojourn time that {} % of the packets that were sent do not exceed.",
            share_text(suffix)
        ),
        formula: format!("nearest rank {q} of the histogram; error at most 1/64 (1.6 %)"),
        pooled: true,
        read: Read::SojournQuantile(q),
    }));
    all.extend([
        queue(
            declared(
                "backlog_packets_mean",
                "Backlog, mean",
                Unit::Packets,
                "Time average of the packets that wait; the one in transmission does not.",
                "∫ backlog dt / measured time = Σ time in the queue of packets that left it either way / measured time",
            ),
            |queues, _| Some(queues.iter().map(|q| q.backlog_mean.0).sum()),
        ),
        queue(
            declared(
                "backlog_packets_max",
                "Backlog, max",
                Unit::Packets,
                "Most packets that waited at once; of several queues, in the one with the most.",
                "max backlog",
            ),
            |queues, _| queues.iter().map(|q| q.backlog_max.0).max().map(to_f64),
        ),
        queue(
            declared(
                "backlog_bytes_mean",
                "Backlog, mean",
                Unit::Bytes,
                "Time average of the bytes that wait.",
                "∫ backlog dt / measured time, in bytes",
            ),
            |queues, _| Some(queues.iter().map(|q| q.backlog_mean.1).sum()),
        ),
        queue(
            declared(
                "backlog_bytes_max",
                "Backlog, max",
                Unit::Bytes,
                "Most bytes that waited at once; of several queues, in the one with the most.",
                "max backlog, in bytes",
            ),
            |queues, _| queues.iter().map(|q| q.backlog_max.1).max().map(to_f64),
        ),
        queue(
            declared(
                "received_packets",
                "Received",
                Unit::Packets,
                "Packets handed to the queue.",
                "count",
            ),
            |queues, _| Some(sum(queues, |q| q.totals.received)),
        ),
        queue(
            declared(
                "sent_packets",
                "Sent",
                Unit::Packets,
                "Packets whose transmission started.",
                "count",
            ),
            |queues, _| Some(sum(queues, |q| q.sent_packets)),
        ),
        queue(
            declared(
                "dropped_packets",
                "Dropped",
                Unit::Packets,
                "Packets dropped by the queue, on arrival or later.",
                "dropped on arrival + dropped later",
            ),
            |queues, _| Some(sum(queues, |q| q.totals.dropped())),
        ),
        queue(
            declared(
                "drop_rate_pps",
                "Drop rate",
                Unit::PacketsPerSecond,
                "Packets dropped by the queue per second.",
                "packets dropped / measured time",
            ),
            |queues, seconds| ratio(sum(queues, |q| q.totals.dropped()), seconds),
        ),
        queue(
            declared(
                "loss_ratio",
                "Loss",
                Unit::Ratio,
                "Share of the packets handed to the queue that it dropped; where more left the queue than came, because some waited \
                 when the measured time began, of those that left.",
                "packets dropped / max(packets received, packets sent + packets dropped)",
            ),
            |queues, _| ratio(sum(queues, |q| q.totals.dropped()), passed(queues)),
        ),
        queue(
            declared(
                "marked_packets",
                "Marked",
                Unit::Packets,
                "Packets marked with CE by the queue.",
                "count",
            ),
            |queues, _| Some(sum(queues, |q| q.totals.marked)),
        ),
        queue(
            declared(
                "mark_ratio",
                "Marked",
                Unit::Ratio,
                "Share of the packets handed to the queue that it marked; where more left the queue than came, because some waited \
                 when the measured time began, of those that left.",
                "packets marked / max(packets received, packets sent + packets dropped)",
            ),
            |queues, _| ratio(sum(queues, |q| q.totals.marked), passed(queues)),
        ),
        queue(
            declared(
                "loss_events_count",
                "Loss events",
                Unit::Count,
                "Loss events: a drop begins one, and all drops within the longest base round trip of the flows belong to it.",
                "count",
            ),
            |queues, _| Some(sum(queues, |q| q.loss_events)),
        ),
        queue(
            declared(
                "loss_synchronization_ratio",
                "Loss synchronization",
                Unit::Ratio,
                "Global synchronization ratio (RFC 7928 section 2.4): share of the flows that lose packets in a loss event; each connection of a workload is a flow.",
                "Σ flows hit per event / (events × flows that the queue was handed packets of)",
            ),
            |queues, _| {
                let all = sum(queues, |q| q.loss_events * q.seen_flows);
                ratio(sum(queues, |q| q.loss_event_flows), all)
            },
        ),
    ]);
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
        read: Read::Marks(reason),
    }));
    all
}

/// The packets of which a share is lost or marked. What waits when the measured time begins is not received in it, but is sent, dropped or
/// marked in it: where that matters, what left is more than what came.
fn passed(queues: &[&QueueOutcome]) -> f64 {
    let left = sum(queues, |q| q.totals.dequeued + q.totals.dropped());
    sum(queues, |q| q.totals.received).max(left)
}

/// A sum over members of multicast groups; none without one.
fn of_srm(flows: &[&FlowOutcome], read: fn(&SrmCounts) -> f64) -> Option<f64> {
    let mut members = flows
        .iter()
        .filter_map(|flow| flow.reception.as_ref())
        .peekable();
    members.peek()?;
    Some(members.map(|own| read(&own.srm)).sum())
}

fn flow_metrics() -> Vec<Metric> {
    let flow = |declared: Declared, read: fn(&[&FlowOutcome], f64) -> Option<f64>| {
        declared.metric(Level::Flow, false, Read::Flows(read))
    };
    let pooled = |metric: Metric| Metric {
        pooled: true,
        ..metric
    };
    let mut all = vec![
        flow(
            declared(
                "goodput_bps_mean",
                "Goodput per flow",
                Unit::BitsPerSecond,
                "New application bits that the receiver got in order, per second and flow.",
                "8 × bytes delivered in order for the first time / measured time / flows",
            ),
            |flows, seconds| {
                let seconds = seconds * size(flows);
                ratio(8.0 * sum(flows, |f| f.goodput_bytes), seconds)
            },
        ),
        flow(
            declared(
                "throughput_bps_mean",
                "Throughput per flow",
                Unit::BitsPerSecond,
                "Bits on the wire that reached the receiver, headers and repetitions included, per second and flow.",
                "8 × bytes delivered / measured time / flows",
            ),
            |flows, seconds| {
                let seconds = seconds * size(flows);
                ratio(8.0 * sum(flows, |f| f.delivered_bytes), seconds)
            },
        ),
        pooled(flow(
            declared(
                "delay_s_mean",
                "One-way delay, mean",
                Unit::Seconds,
                "Time from sender to receiver of packets that arrived.",
                "Σ delay / packets delivered, to the picosecond",
            ),
            |flows, _| {
                let sum: f64 = flows.iter().map(|f| wide_to_f64(f.delay_sum)).sum();
                let count: f64 = flows.iter().map(|f| to_f64(f.delay.count())).sum();
                ratio(sum * 1e-12, count)
            },
        )),
        pooled(flow(
            declared(
                "delay_s_min",
                "One-way delay, min",
                Unit::Seconds,
                "The shortest one-way delay.",
                "min delay, to the picosecond",
            ),
            |flows, _| {
                let least = flows.iter().filter_map(|f| f.delay_min).min();
                least.map(Span::as_secs_f64)
            },
        )),
        pooled(flow(
            declared(
                "delay_s_max",
                "One-way delay, max",
                Unit::Seconds,
                "The longest one-way delay.",
                "max delay, to the picosecond",
            ),
            |flows, _| {
                let arrived = flows.iter().filter(|f| f.delay_min.is_some());
                arrived.map(|f| f.delay_max).max().map(Span::as_secs_f64)
            },
        )),
    ];
    all.extend(DELAY_QUANTILES.map(|(q, suffix)| Metric {
        name: format!("delay_s_{suffix}"),
        title: format!("One-way delay, {}", percentile_title(suffix)),
        unit: Unit::Seconds,
        range: Range::of(Unit::Seconds),
        level: Level::Flow,
        doc: format!(
            "One-way delay that {} % of the packets that arrived do not exceed.",
            share_text(suffix)
        ),
        formula: format!("nearest rank {q} of the histogram; error at most 1/64 (1.6 %)"),
        pooled: true,
        read: Read::DelayQuantile(q),
    }));
    all.extend([
        pooled(flow(
            declared(
                "passed_delay_s_mean",
                "Delay from the node on, mean",
                Unit::Seconds,
                "Time from the node `delay_from` of a multicast group to the member, of packets that came by that node.",
                "Σ delay from the node on / packets that came by it, to the picosecond",
            ),
            |flows, _| {
                let all = || flows.iter().filter_map(|f| f.reception.as_ref());
                let sum: f64 = all().map(|own| wide_to_f64(own.passed_delay_sum)).sum();
                let count: f64 = all().map(|own| to_f64(own.passed_packets)).sum();
                ratio(sum * 1e-12, count)
            },
        )),
        flow(
            declared(
                "requests_packets",
                "Requests",
                Unit::Packets,
                "Requests for repairs that members of a multicast group sent (SRM).",
                "count",
            ),
            |flows, _| of_srm(flows, |srm| to_f64(srm.requests)),
        ),
        flow(
            declared(
                "repairs_packets",
                "Repairs",
                Unit::Packets,
                "Repairs that members of a multicast group sent (SRM); those of the source are its retransmissions.",
                "count",
            ),
            |flows, _| of_srm(flows, |srm| to_f64(srm.repairs)),
        ),
        flow(
            declared(
                "duplicate_requests_packets",
                "Duplicate requests",
                Unit::Packets,
                "Requests that members heard for what they had asked for themselves (SRM).",
                "count",
            ),
            |flows, _| of_srm(flows, |srm| to_f64(srm.duplicate_requests)),
        ),
        flow(
            declared(
                "duplicate_repairs_packets",
                "Duplicate repairs",
                Unit::Packets,
                "Repairs that members had no need of (SRM).",
                "count",
            ),
            |flows, _| of_srm(flows, |srm| to_f64(srm.duplicate_repairs)),
        ),
        flow(
            declared(
                "recovered_packets",
                "Recovered",
                Unit::Packets,
                "Packets that members missed and got in the end (SRM).",
                "count",
            ),
            |flows, _| of_srm(flows, |srm| to_f64(srm.recovered)),
        ),
        flow(
            declared(
                "missing_packets",
                "Missing",
                Unit::Packets,
                "Packets that members missed when the run ended (SRM).",
                "count",
            ),
            |flows, _| of_srm(flows, |srm| to_f64(srm.missing)),
        ),
        flow(
            declared(
                "recovery_s_mean",
                "Recovery, mean",
                Unit::Seconds,
                "Time from when a member missed a packet until it came (SRM).",
                "Σ time / packets recovered",
            ),
            |flows, _| {
                let sum = of_srm(flows, |srm| wide_to_f64(srm.recovery_sum))?;
                ratio(sum * 1e-12, of_srm(flows, |srm| to_f64(srm.recovered))?)
            },
        ),
        flow(
            declared(
                "recovery_rtts_mean",
                "Recovery in round trips, mean",
                Unit::Index,
                "That time in round trips to the source, as the member knew it (SRM).",
                "Σ (time / round trip) / packets recovered",
            ),
            |flows, _| {
                let sum = of_srm(flows, |srm| srm.recovery_round_trips)?;
                ratio(sum, of_srm(flows, |srm| to_f64(srm.recovered))?)
            },
        ),
        flow(
            declared(
                "replies_delay_s_mean",
                "One-way delay of replies, mean",
                Unit::Seconds,
                "Time from receiver to sender of packets that arrived there, such as acknowledgements.",
                "Σ delay / replies that arrived, to the picosecond",
            ),
            |flows, _| {
                let delays: f64 = flows.iter().map(|f| wide_to_f64(f.replies_delay_sum)).sum();
                ratio(delays * 1e-12, sum(flows, |f| f.replies))
            },
        ),
        flow(
            declared(
                "both_delay_s_mean",
                "One-way delay of packets and replies, mean",
                Unit::Seconds,
                "Time from one end to the other, of packets and replies that arrived, together: what a trace gives that does not \
                 tell data from acknowledgements.",
                "Σ delay either way / packets and replies that arrived, to the picosecond",
            ),
            |flows, _| {
                let delays: f64 = flows
                    .iter()
                    .map(|f| wide_to_f64(f.delay_sum + f.replies_delay_sum))
                    .sum();
                let count = sum(flows, |f| f.delivered_packets + f.replies);
                ratio(delays * 1e-12, count)
            },
        ),
        Metric {
            name: "pdv_s_p99".to_owned(),
            title: "Delay variation, p99".to_owned(),
            unit: Unit::Seconds,
            range: Range::of(Unit::Seconds),
            level: Level::Flow,
            doc: "Packet delay variation (RFC 5481 section 4.2): the delay beyond the flow's shortest that 99 % of its packets \
                  do not exceed; of several flows, the mean of theirs."
                .to_owned(),
            formula: "p99 of delay − min delay".to_owned(),
            pooled: false,
            read: Read::VariationQuantile(0.99),
        },
        flow(
            declared(
                "jitter_s_mean",
                "Jitter",
                Unit::Seconds,
                "Mean difference of the delays of consecutive packets (RFC 3550 section 6.4.1), without its smoothing.",
                "Σ |delay(i) − delay(i−1)| / (packets delivered − 1)",
            ),
            |flows, _| {
                let sum: f64 = flows.iter().map(|f| wide_to_f64(f.jitter_sum)).sum();
                let pairs: f64 =
                    flows.iter().map(|f| to_f64(f.delay.count().saturating_sub(1))).sum();
                ratio(sum * 1e-12, pairs)
            },
        ),
        flow(
            declared(
                "rtt_s_mean",
                "RTT, mean",
                Unit::Seconds,
                "Round trips as the sender measured them.",
                "Σ round trip / measurements",
            ),
            |flows, _| {
                let sum: f64 = flows.iter().map(|f| wide_to_f64(f.rtt.0)).sum();
                ratio(sum * 1e-12, flows.iter().map(|f| to_f64(f.rtt.1)).sum())
            },
        ),
        flow(
            declared(
                "rtt_s_min",
                "RTT, min",
                Unit::Seconds,
                "The shortest round trip that the sender measured.",
                "min round trip",
            ),
            |flows, _| {
                let least = flows.iter().filter_map(|f| f.rtt.2).min();
                least.map(Span::as_secs_f64)
            },
        ),
        flow(
            declared(
                "rtt_s_max",
                "RTT, max",
                Unit::Seconds,
                "The longest round trip that the sender measured.",
                "max round trip",
            ),
            |flows, _| {
                let measured = flows.iter().filter(|f| f.rtt.1 > 0);
                measured.map(|f| f.rtt.3).max().map(Span::as_secs_f64)
            },
        ),
        flow(
            declared(
                "sent_packets",
                "Sent",
                Unit::Packets,
                "Packets that the sender sent.",
                "count",
            ),
            |flows, _| Some(sum(flows, |f| f.sent_packets)),
        ),
        flow(
            declared(
                "delivered_packets",
                "Delivered",
                Unit::Packets,
                "Packets of the sender that arrived.",
                "count",
            ),
            |flows, _| Some(sum(flows, |f| f.delivered_packets)),
        ),
        flow(
            declared(
                "packet_bytes_mean",
                "Packet size, mean",
                Unit::Bytes,
                "Bytes on the wire of a packet of the sender that arrived.",
                "bytes delivered / packets delivered",
            ),
            |flows, _| {
                let packets = sum(flows, |f| f.delivered_packets);
                ratio(sum(flows, |f| f.delivered_bytes), packets)
            },
        ),
        flow(
            declared(
                "dropped_packets",
                "Dropped",
                Unit::Packets,
                "Packets of the sender that were dropped, anywhere.",
                "count",
            ),
            |flows, _| Some(sum(flows, |f| f.dropped_packets)),
        ),
        flow(
            declared(
                "loss_ratio",
                "Loss",
                Unit::Ratio,
                "Share of the packets that the sender sent that were dropped; where more arrived or were dropped than were sent, \
                 because some were on their way when the measured time began or there are several copies, of those.",
                "packets dropped / max(packets sent, packets delivered + packets dropped)",
            ),
            |flows, _| {
                let decided = sum(flows, |f| f.delivered_packets + f.dropped_packets);
                let sent = sum(flows, |f| f.sent_packets);
                ratio(sum(flows, |f| f.dropped_packets), sent.max(decided))
            },
        ),
        flow(
            declared(
                "marked_packets",
                "Marked",
                Unit::Packets,
                "Packets that arrived with CE.",
                "count",
            ),
            |flows, _| Some(sum(flows, |f| f.marked_packets)),
        ),
        flow(
            declared(
                "ce_ratio",
                "CE share",
                Unit::Ratio,
                "Share of the packets of the sender that arrived which carried CE.",
                "packets that arrived with CE / packets delivered",
            ),
            |flows, _| {
                let delivered = sum(flows, |f| f.delivered_packets);
                ratio(sum(flows, |f| f.marked_packets), delivered)
            },
        ),
        flow(
            declared(
                "retransmissions_packets",
                "Retransmissions",
                Unit::Packets,
                "Packets sent again.",
                "count",
            ),
            |flows, _| Some(sum(flows, |f| f.retransmissions)),
        ),
        flow(
            declared(
                "timeouts_count",
                "Timeouts",
                Unit::Count,
                "Expiries of the retransmission timer (RFC 6298).",
                "count",
            ),
            |flows, _| Some(sum(flows, |f| f.timeouts)),
        ),
        flow(
            declared(
                "completion_s",
                "Completion time",
                Unit::LongSeconds,
                "Time from the start of a flow until its last byte was acknowledged; of several flows, the mean over those \
                 that ended.",
                "end − start",
            ),
            |flows, _| {
                let times: Vec<f64> = flows
                    .iter()
                    .filter_map(|f| Some(f.completed?.saturating_since(f.started).as_secs_f64()))
                    .collect();
                mean(&times)
            },
        ),
        flow(
            declared(
                "transfers_count",
                "Transfers",
                Unit::Count,
                "Transfers of a workload, and responses of `udp_rr`, that were asked for after the warm-up and have arrived; of pages, the pages.",
                "count",
            ),
            |flows, _| transfers(flows, |transfer| transfer.completed.is_some()),
        ),
        flow(
            declared(
                "unfinished_count",
                "Unfinished",
                Unit::Count,
                "Transfers of a workload, and responses of `udp_rr`, that were asked for after the warm-up and had not arrived at the \
                 end: the times of those that have are too short a sample where there are many.",
                "count",
            ),
            |flows, _| transfers(flows, |transfer| transfer.completed.is_none()),
        ),
        flow(
            declared(
                "responsiveness_rpm",
                "Responsiveness (RPM)",
                Unit::Index,
                "Round trips per minute (draft-ietf-ippm-responsiveness) of requests whose responses are small, one after the other, \
                 at their mean completion time.",
                "60 s / fct_s_mean",
            ),
            |flows, _| responsiveness_rpm(flows.iter().flat_map(|flow| &flow.transfers)),
        ),
    ]);
    let measures = [
        (
            Measure::Completion,
            "fct_s",
            "FCT",
            Unit::Seconds,
            "Flow completion time, from when a transfer was asked for until its last byte had arrived",
        ),
        (
            Measure::Slowdown,
            "slowdown",
            "Slowdown",
            Unit::Index,
            "Flow completion time over the least possible, which is propagation and the transmission of all bytes with headers \
             at the slowest link of the path",
        ),
        (
            Measure::PageLoad,
            "page_load_s",
            "Page load time",
            Unit::Seconds,
            "Page load time, from the request for the first object until the last object had arrived",
        ),
    ];
    for (measure, name, title, unit, doc) in measures {
        let statistic =
            |suffix: &str, title_of: &str, doc: String, formula: String, statistic| Metric {
                name: format!("{name}_{suffix}"),
                title: format!("{title}, {title_of}"),
                unit,
                range: match measure {
                    Measure::Slowdown => Range::FROM_ONE,
                    _ => Range::of(unit),
                },
                level: Level::Flow,
                doc,
                formula,
                pooled: false,
                read: Read::Transfers(measure, statistic),
            };
        all.push(statistic(
            "mean",
            "mean",
            format!("{doc}: mean."),
            "Σ / transfers".to_owned(),
            Statistic::Mean,
        ));
        for (q, suffix) in TRANSFER_QUANTILES {
            all.push(statistic(
                suffix,
                percentile_title(suffix),
                format!(
                    "{doc}: {} % of the transfers do not exceed it.",
                    share_text(suffix)
                ),
                format!("nearest rank {q}"),
                Statistic::Quantile(q),
            ));
        }
    }
    all
}

/// Round trips per minute: 60 s over the mean completion time.
fn responsiveness_rpm<'a>(transfers: impl Iterator<Item = &'a TransferOutcome>) -> Option<f64> {
    let times: Vec<f64> = transfers
        .filter_map(|transfer| Measure::Completion.of(transfer))
        .collect();
    mean(&times)
        .filter(|seconds| *seconds > 0.0)
        .map(|seconds| 60.0 / seconds)
}

fn transfers(flows: &[&FlowOutcome], counted: fn(&TransferOutcome) -> bool) -> Option<f64> {
    let mut all = flows.iter().flat_map(|flow| &flow.transfers).peekable();
    all.peek()?;
    let pages = flows
        .iter()
        .flat_map(|flow| &flow.transfers)
        .any(|transfer| transfer.kind == TransferKind::Page);
    let of_kind = all.filter(|transfer| (transfer.kind == TransferKind::Page) == pages);
    let count = of_kind.filter(|transfer| counted(transfer)).count();
    u64::try_from(count).ok().map(to_f64)
}

fn group_metrics() -> Vec<Metric> {
    let group = |declared: Declared, read: fn(&[&FlowOutcome], f64) -> Option<f64>| {
        declared.metric(Level::Group, false, Read::Flows(read))
    };
    vec![
        group(
            declared(
                "goodput_bps_sum",
                "Goodput",
                Unit::BitsPerSecond,
                "Goodput of all flows of the group together.",
                "8 × Σ bytes delivered in order for the first time / measured time",
            ),
            |flows, seconds| ratio(8.0 * sum(flows, |f| f.goodput_bytes), seconds),
        ),
        declared(
            "goodput_byteps_active",
            "Goodput until the end",
            Unit::BytesPerSecond,
            "Goodput of all flows of the group together, over the time until nothing happened any more in the run \
             (`active_s`): what a program of ns-3 prints that divides by the time at which the simulator stopped.",
            "Σ bytes delivered in order for the first time / time of the last event",
        )
        .metric(
            Level::Group,
            false,
            Read::FlowsWhileActive(|flows, seconds| {
                ratio(sum(flows, |f| f.goodput_bytes), seconds)
            }),
        ),
        group(
            declared(
                "goodput_bytes_sum",
                "Goodput",
                Unit::Bytes,
                "New application bytes that the receivers got in order, of all flows of the group together.",
                "Σ bytes delivered in order for the first time",
            ),
            |flows, _| Some(sum(flows, |f| f.goodput_bytes)),
        ),
        group(
            declared(
                "throughput_bps_sum",
                "Throughput",
                Unit::BitsPerSecond,
                "Throughput of all flows of the group together.",
                "8 × Σ bytes delivered / measured time",
            ),
            |flows, seconds| ratio(8.0 * sum(flows, |f| f.delivered_bytes), seconds),
        ),
        group(
            declared(
                "delivered_pps_sum",
                "Delivered per second",
                Unit::PacketsPerSecond,
                "Packets that arrived per second, of all flows of the group together.",
                "Σ packets delivered / measured time",
            ),
            |flows, seconds| ratio(sum(flows, |f| f.delivered_packets), seconds),
        ),
        group(
            declared(
                "jain_index",
                "Jain index",
                Unit::Index,
                "Jain's fairness index of the goodputs: 1 where all are equal, 1/n where one flow has all.",
                "(Σ x)² / (n Σ x²)",
            )
            .within(Range::Fairness),
            |flows, _| jain_index(&goodputs(flows)),
        ),
        group(
            declared(
                "min_share_ratio",
                "Least share",
                Unit::Ratio,
                "Least goodput of a flow over the mean: 1 where all are equal, 0 where one starves.",
                "min x / mean x",
            ),
            |flows, _| min_share(&goodputs(flows)),
        ),
    ]
}

fn run_metrics() -> Vec<Metric> {
    let run = |declared: Declared, read: fn(&RunOutcome) -> f64| {
        declared.metric(Level::Run, false, Read::Run(read))
    };
    vec![
        run(
            declared(
                "measured_s",
                "Measured time",
                Unit::LongSeconds,
                "Simulated time behind the warm-up.",
                "duration − warm-up",
            ),
            |run| run.measured.as_secs_f64(),
        ),
        run(
            declared(
                "active_s",
                "Time of the last event",
                Unit::LongSeconds,
                "Simulated time at which something happened to an endpoint for the last time; the measured time where no \
                 endpoint keeps that (all but those of dialect ns3_24).",
                "max over endpoints of the time of their last packet or timer",
            ),
            |run| run.active().as_secs_f64(),
        ),
        run(
            declared(
                "created_packets",
                "Created",
                Unit::Packets,
                "Packets made in the whole run, warm-up included.",
                "count",
            ),
            |run| to_f64(run.census.created),
        ),
        run(
            declared(
                "hops_packets",
                "Packet-hops",
                Unit::Packets,
                "Packets that arrived at the far end of a link, once per link, in the whole run.",
                "count",
            ),
            |run| to_f64(run.census.hops),
        ),
    ]
}

fn goodputs(flows: &[&FlowOutcome]) -> Vec<f64> {
    flows
        .iter()
        .map(|flow| to_f64(flow.goodput_bytes))
        .collect()
}

fn size<T>(items: &[T]) -> f64 {
    to_f64(u64::try_from(items.len()).unwrap_or(u64::MAX))
}

fn percentile_title(suffix: &str) -> &str {
    match suffix {
        "p05" => "p5",
        "p50" => "median",
        "p999" => "p99.9",
        other => other,
    }
}

fn share_text(suffix: &str) -> &str {
    match suffix {
        "p05" => "5",
        "p50" => "50",
        "p999" => "99.9",
        other => other.trim_start_matches('p'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::Time;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_within_a_level_and_documented() {
        let mut seen = BTreeSet::new();
        for metric in metrics() {
            assert!(seen.insert((metric.level, &metric.name)), "{}", metric.name);
            assert!(metric.doc.ends_with('.'), "{}", metric.name);
            assert!(!metric.formula.is_empty(), "{}", metric.name);
        }
    }

    /// A transfer of a workload that took this long, or has not arrived.
    fn transfer(took_ms: Option<u64>) -> TransferOutcome {
        TransferOutcome {
            kind: TransferKind::Response,
            bytes: 1,
            asked: Time::ZERO,
            completed: took_ms.map(|ms| Time::ZERO + Span::from_ms(ms)),
            ideal: None,
        }
    }

    #[test]
    fn round_trips_per_minute_are_a_minute_over_the_mean_of_those_that_arrived() {
        let of = |transfers: Vec<TransferOutcome>| responsiveness_rpm(transfers.iter());
        let rpm = of(vec![transfer(Some(40)), transfer(Some(60)), transfer(None)]);
        assert!(
            rpm.is_some_and(|rpm| (rpm - 1200.0).abs() < 1e-9),
            "{rpm:?}"
        );
        assert_eq!(of(vec![transfer(None)]), None);
    }

    #[test]
    fn a_name_is_found_at_the_level_asked_for() {
        let level = |level| find("loss_ratio", Some(level)).map(|(metric, _)| metric.level);
        assert_eq!(level(Level::Queue), Some(Level::Queue));
        assert_eq!(level(Level::Flow), Some(Level::Flow));
        assert!(find("sojourn_s_p99_pooled", None).is_some_and(|(_, pooled)| pooled));
        assert!(find("dropped_packets_pooled", None).is_none());
        assert_eq!(nearest_name("sojurn_s_p99"), Some("sojourn_s_p99"));
    }

    #[test]
    fn shown_units_and_names_agree() {
        let shown = |name| {
            let (metric, _) = find(name, None).expect(name);
            (
                metric.shown_name(),
                metric.unit.shown(),
                metric.unit.show(0.5),
            )
        };
        assert_eq!(
            shown("sojourn_s_p99"),
            ("sojourn_ms_p99".to_owned(), "ms", 500.0)
        );
        assert_eq!(shown("loss_ratio"), ("loss_percent".to_owned(), "%", 50.0));
        assert_eq!(
            shown("goodput_bps_sum"),
            ("goodput_mbps_sum".to_owned(), "Mbps", 0.5e-6)
        );
    }

    #[test]
    fn units_of_publications_become_ours() {
        assert_eq!(Unit::Seconds.factor("ms"), Some(1e-3));
        assert_eq!(Unit::BitsPerSecond.factor("B/s"), Some(8.0));
        assert_eq!(Unit::Ratio.factor("%"), Some(0.01));
        assert_eq!(Unit::Seconds.factor("Mbps"), None);
    }
}
