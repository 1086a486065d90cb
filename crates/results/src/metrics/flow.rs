//! Metrics of flows: what was sent, what arrived, and when.

use sojourn_units::Span;

use super::members;
use super::metric::{
    Entry, Metric, Read, flow, named, of_table, percentile_title, pooled, share_text, sum,
};
use super::range::Range;
use super::terms::{Level, Unit};
use crate::stats::{mean, ratio, to_f64, wide_to_f64};

/// Percentiles of delays, as shares of 1 with their names.
const QUANTILES: [(f64, &str); 4] = [(0.05, "p05"), (0.50, "p50"), (0.95, "p95"), (0.99, "p99")];

/// Rates, and delays of packets.
const DELAYS: &[Entry] = &[
    flow(
        named(
            "goodput_bps_mean",
            "Goodput per flow",
            Unit::BitsPerSecond,
            "Application bits delivered in order for the first time, per second and flow: for several flows, the mean. Data that arrived during the warm-up and waited there for a lost segment counts when it is delivered.",
            "8 × bytes delivered in order for the first time / measured time / flows",
        ),
        |flows, seconds| {
            let seconds = seconds * size(flows);
            ratio(8.0 * sum(flows, |f| f.goodput_bytes), seconds)
        },
    ),
    flow(
        named(
            "throughput_bps_mean",
            "Throughput per flow",
            Unit::BitsPerSecond,
            "Bits on the wire that reached the receiver, per second and flow. Headers and retransmissions are included.",
            "8 × bytes delivered / measured time / flows",
        ),
        |flows, seconds| {
            let seconds = seconds * size(flows);
            ratio(8.0 * sum(flows, |f| f.delivered_bytes), seconds)
        },
    ),
    pooled(flow(
        named(
            "delay_s_mean",
            "One-way delay, mean",
            Unit::Seconds,
            "One-way delay from sender to receiver, of the packets that arrived.",
            "Σ delay / packets delivered, to the picosecond",
        ),
        |flows, _| {
            let sum: f64 = flows.iter().map(|f| wide_to_f64(f.delay_sum)).sum();
            let count: f64 = flows.iter().map(|f| to_f64(f.delay.count())).sum();
            ratio(sum * 1e-12, count)
        },
    )),
    pooled(flow(
        named(
            "delay_s_min",
            "One-way delay, min",
            Unit::Seconds,
            "Shortest one-way delay.",
            "min delay, to the picosecond",
        ),
        |flows, _| {
            let least = flows.iter().filter_map(|f| f.delay_min).min();
            least.map(Span::as_secs_f64)
        },
    )),
    pooled(flow(
        named(
            "delay_s_max",
            "One-way delay, max",
            Unit::Seconds,
            "Longest one-way delay.",
            "max delay, to the picosecond",
        ),
        |flows, _| {
            let arrived = flows.iter().filter(|f| f.delay_min.is_some());
            arrived.map(|f| f.delay_max).max().map(Span::as_secs_f64)
        },
    )),
];

/// Delays of replies, round trips, and counts.
const COUNTS: &[Entry] = &[
        flow(
            named(
                "replies_delay_s_mean",
                "One-way delay of replies, mean",
                Unit::Seconds,
                "One-way delay from receiver to sender, of packets that arrived there, such as acknowledgements.",
                "Σ delay / replies that arrived, to the picosecond",
            ),
            |flows, _| {
                let delays: f64 = flows.iter().map(|f| wide_to_f64(f.replies_delay_sum)).sum();
                ratio(delays * 1e-12, sum(flows, |f| f.replies))
            },
        ),
        flow(
            named(
                "both_delay_s_mean",
                "One-way delay of packets and replies, mean",
                Unit::Seconds,
                "One-way delay of data packets and replies together, of those that arrived. Traces that do not distinguish data from acknowledgements give this value.",
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
        named(
            "pdv_s_p99",
            "Delay variation, p99",
            Unit::Seconds,
            "Packet delay variation (RFC 5481 section 4.2): delay minus the flow's shortest delay, not exceeded by 99 % of its packets. For several flows, the mean over the flows.",
            "p99 of delay − min delay",
        )
        .entry(Level::Flow, Read::VariationQuantile(0.99)),
        flow(
            named(
                "jitter_s_mean",
                "Jitter",
                Unit::Seconds,
                "Mean absolute difference of the delays of consecutive packets, as in RFC 3550 section 6.4.1 but without its smoothing.",
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
            named(
                "rtt_s_mean",
                "RTT, mean",
                Unit::Seconds,
                "Round trip time, as the sender measured it.",
                "Σ round trip / measurements",
            ),
            |flows, _| {
                let sum: f64 = flows.iter().map(|f| wide_to_f64(f.rtt.0)).sum();
                ratio(sum * 1e-12, flows.iter().map(|f| to_f64(f.rtt.1)).sum())
            },
        ),
        flow(
            named(
                "rtt_s_min",
                "RTT, min",
                Unit::Seconds,
                "Shortest round trip time that the sender measured.",
                "min round trip",
            ),
            |flows, _| {
                let least = flows.iter().filter_map(|f| f.rtt.2).min();
                least.map(Span::as_secs_f64)
            },
        ),
        flow(
            named(
                "rtt_s_max",
                "RTT, max",
                Unit::Seconds,
                "Longest round trip time that the sender measured.",
                "max round trip",
            ),
            |flows, _| {
                let measured = flows.iter().filter(|f| f.rtt.1 > 0);
                measured.map(|f| f.rtt.3).max().map(Span::as_secs_f64)
            },
        ),
        flow(
            named(
                "sent_packets",
                "Sent",
                Unit::Packets,
                "Packets that the sender sent.",
                "count",
            ),
            |flows, _| Some(sum(flows, |f| f.sent_packets)),
        ),
        flow(
            named(
                "delivered_packets",
                "Delivered",
                Unit::Packets,
                "Packets of the sender that arrived at the receiver.",
                "count",
            ),
            |flows, _| Some(sum(flows, |f| f.delivered_packets)),
        ),
        flow(
            named(
                "packet_bytes_mean",
                "Packet size, mean",
                Unit::Bytes,
                "Mean size on the wire of the sender's packets that arrived.",
                "bytes delivered / packets delivered",
            ),
            |flows, _| {
                let packets = sum(flows, |f| f.delivered_packets);
                ratio(sum(flows, |f| f.delivered_bytes), packets)
            },
        ),
        flow(
            named(
                "dropped_packets",
                "Dropped",
                Unit::Packets,
                "Packets of the sender that were dropped anywhere on the path.",
                "count",
            ),
            |flows, _| Some(sum(flows, |f| f.dropped_packets)),
        ),
        flow(
            named(
                "loss_ratio",
                "Loss",
                Unit::Ratio,
                "Share of the sent packets that were dropped. If more packets arrived or were dropped than were sent, the share is of those. This happens when packets were in flight as the measured time began, or when packets are duplicated.",
                "packets dropped / max(packets sent, packets delivered + packets dropped)",
            ),
            |flows, _| {
                let decided = sum(flows, |f| f.delivered_packets + f.dropped_packets);
                let sent = sum(flows, |f| f.sent_packets);
                ratio(sum(flows, |f| f.dropped_packets), sent.max(decided))
            },
        ),
        flow(
            named(
                "marked_packets",
                "Marked",
                Unit::Packets,
                "Packets that arrived with the CE codepoint.",
                "count",
            ),
            |flows, _| Some(sum(flows, |f| f.marked_packets)),
        ),
        flow(
            named(
                "ce_ratio",
                "CE share",
                Unit::Ratio,
                "Share of the arrived packets that carried CE.",
                "packets that arrived with CE / packets delivered",
            ),
            |flows, _| {
                let delivered = sum(flows, |f| f.delivered_packets);
                ratio(sum(flows, |f| f.marked_packets), delivered)
            },
        ),
        flow(
            named(
                "retransmissions_packets",
                "Retransmissions",
                Unit::Packets,
                "Packets that the sender retransmitted.",
                "count",
            ),
            |flows, _| Some(sum(flows, |f| f.retransmissions)),
        ),
        flow(
            named(
                "timeouts_count",
                "Timeouts",
                Unit::Count,
                "Expiries of the retransmission timer (RFC 6298).",
                "count",
            ),
            |flows, _| Some(sum(flows, |f| f.timeouts)),
        ),
        flow(
            named(
                "completion_s",
                "Completion time",
                Unit::LongSeconds,
                "Time from the start of a flow until its last byte was acknowledged. For several flows, the mean over the flows that completed.",
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
];

/// All of them, and those of the members of multicast groups, which have their place among them.
pub(super) fn metrics() -> Vec<Metric> {
    let mut all: Vec<Metric> = of_table(DELAYS).collect();
    all.extend(QUANTILES.map(|(q, suffix)| percentile(q, suffix)));
    all.extend(
        of_table(members::TABLE).map(|metric| match metric.is_of_receivers() {
            true => metric.only_of("members of multicast groups"),
            false => metric,
        }),
    );
    all.extend(of_table(COUNTS));
    all
}

/// A percentile of one-way delays, by its share of 1 and its name.
pub(super) fn percentile(q: f64, suffix: &str) -> Metric {
    Metric {
        name: format!("delay_s_{suffix}"),
        title: format!("One-way delay, {}", percentile_title(suffix)),
        unit: Unit::Seconds,
        range: Range::of(Unit::Seconds),
        level: Level::Flow,
        doc: format!(
            "One-way delay that {} % of the packets that arrived do not exceed. For several flows, of all their packets together.",
            share_text(suffix)
        ),
        formula: format!("nearest rank {q} of the histogram; error at most 1/64 (1.6 %)"),
        pooled: true,
        flows: None,
        read: Read::DelayQuantile(q),
    }
}

/// How many there are.
fn size<T>(items: &[T]) -> f64 {
    to_f64(u64::try_from(items.len()).unwrap_or(u64::MAX))
}
