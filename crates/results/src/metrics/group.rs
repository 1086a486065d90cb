//! Metrics of the flows of a group, compared with each other.

use super::metric::{Entry, Read, group, named, sum};
use super::range::Range;
use super::terms::{Level, Unit};
use crate::outcome::FlowOutcome;
use crate::stats::{jain_index, min_share, ratio, to_f64};
use sojourn_units::Span;

/// All of them.
pub(super) const TABLE: &[Entry] = &[
        group(
            named(
                "goodput_bps_sum",
                "Goodput",
                Unit::BitsPerSecond,
                "Total goodput of the group's flows. Data that arrived during the warm-up and waited there for a lost segment counts when it is delivered, so a short run can show more than its link carries; `throughput_bps_sum` counts packets when they arrive.",
                "8 × Σ bytes delivered in order for the first time / measured time",
            ),
            |flows, seconds| ratio(8.0 * sum(flows, |f| f.goodput_bytes), seconds),
        ),
        named(
            "goodput_byteps_active",
            "Goodput until the end",
            Unit::BytesPerSecond,
            "Total goodput of the group's flows, divided by the time of the last event in the run (`active_s`). An ns-3 program that divides by the time at which the simulator stopped prints this value.",
            "Σ bytes delivered in order for the first time / time of the last event",
        )
        .entry(
            Level::Group,
            Read::FlowsWhileActive(|flows, seconds| {
                ratio(sum(flows, |f| f.goodput_bytes), seconds)
            }),
        ),
        group(
            named(
                "goodput_bytes_sum",
                "Goodput",
                Unit::Bytes,
                "Application bytes of the group's flows that were delivered in order for the first time.",
                "Σ bytes delivered in order for the first time",
            ),
            |flows, _| Some(sum(flows, |f| f.goodput_bytes)),
        ),
        group(
            named(
                "throughput_bps_sum",
                "Throughput",
                Unit::BitsPerSecond,
                "Total throughput of the group's flows.",
                "8 × Σ bytes delivered / measured time",
            ),
            |flows, seconds| ratio(8.0 * sum(flows, |f| f.delivered_bytes), seconds),
        ),
        group(
            named(
                "delivered_pps_sum",
                "Delivered per second",
                Unit::PacketsPerSecond,
                "Packets of the group's flows that arrived, per second.",
                "Σ packets delivered / measured time",
            ),
            |flows, seconds| ratio(sum(flows, |f| f.delivered_packets), seconds),
        ),
        group(
            named(
                "jain_index",
                "Jain index",
                Unit::Index,
                "Jain's fairness index of the goodputs: 1 if all are equal, 1/n if one flow gets everything.",
                "(Σ x)² / (n Σ x²)",
            )
            .within(Range::Fairness),
            |flows, _| jain_index(&goodputs(flows)),
        ),
        group(
            named(
                "min_share_ratio",
                "Least share",
                Unit::Ratio,
                "Smallest goodput of any flow, divided by the mean: 1 if all are equal, 0 if a flow starves.",
                "min x / mean x",
            ),
            |flows, _| min_share(&goodputs(flows)),
        ),
        group(
            named(
                "completion_s_max",
                "Completion time of the last",
                Unit::LongSeconds,
                "Time from the start of a flow until its last byte was acknowledged, of the slowest of the group's flows that ended: of transfers that start together, when all are done.",
                "max (end − start)",
            ),
            |flows, _| {
                let times = flows
                    .iter()
                    .filter_map(|f| Some(f.completed?.saturating_since(f.started)));
                times.max().map(Span::as_secs_f64)
            },
        ),
        group(
            named(
                "completed_count",
                "Completed",
                Unit::Count,
                "Flows of the group that ended within the run. The others are in no completion time.",
                "count",
            ),
            |flows, _| {
                let ended = flows.iter().filter(|f| f.completed.is_some());
                u64::try_from(ended.count()).ok().map(to_f64)
            },
        ),
];

fn goodputs(flows: &[&FlowOutcome]) -> Vec<f64> {
    flows
        .iter()
        .map(|flow| to_f64(flow.goodput_bytes))
        .collect()
}
