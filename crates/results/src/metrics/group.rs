//! Metrics of the flows of a group, compared with each other.

use super::metric::{Entry, Read, group, named, sum};
use super::range::Range;
use super::terms::{Level, Unit};
use crate::outcome::FlowOutcome;
use crate::stats::{jain_index, min_share, ratio, to_f64};

/// All of them.
pub(super) const TABLE: &[Entry] = &[
        group(
            named(
                "goodput_bps_sum",
                "Goodput",
                Unit::BitsPerSecond,
                "Goodput of all flows of the group together.",
                "8 × Σ bytes delivered in order for the first time / measured time",
            ),
            |flows, seconds| ratio(8.0 * sum(flows, |f| f.goodput_bytes), seconds),
        ),
        named(
            "goodput_byteps_active",
            "Goodput until the end",
            Unit::BytesPerSecond,
            "Goodput of all flows of the group together, over the time until nothing happened any more in the run \
             (`active_s`): what a program of ns-3 prints that divides by the time at which the simulator stopped.",
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
                "New application bytes that the receivers got in order, of all flows of the group together.",
                "Σ bytes delivered in order for the first time",
            ),
            |flows, _| Some(sum(flows, |f| f.goodput_bytes)),
        ),
        group(
            named(
                "throughput_bps_sum",
                "Throughput",
                Unit::BitsPerSecond,
                "Throughput of all flows of the group together.",
                "8 × Σ bytes delivered / measured time",
            ),
            |flows, seconds| ratio(8.0 * sum(flows, |f| f.delivered_bytes), seconds),
        ),
        group(
            named(
                "delivered_pps_sum",
                "Delivered per second",
                Unit::PacketsPerSecond,
                "Packets that arrived per second, of all flows of the group together.",
                "Σ packets delivered / measured time",
            ),
            |flows, seconds| ratio(sum(flows, |f| f.delivered_packets), seconds),
        ),
        group(
            named(
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
            named(
                "min_share_ratio",
                "Least share",
                Unit::Ratio,
                "Least goodput of a flow over the mean: 1 where all are equal, 0 where one starves.",
                "min x / mean x",
            ),
            |flows, _| min_share(&goodputs(flows)),
        ),
];

fn goodputs(flows: &[&FlowOutcome]) -> Vec<f64> {
    flows
        .iter()
        .map(|flow| to_f64(flow.goodput_bytes))
        .collect()
}
