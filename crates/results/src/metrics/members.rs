//! Metrics of members of multicast groups.

use super::metric::{Entry, flow, named, pooled};
use super::terms::Unit;
use crate::outcome::FlowOutcome;
use crate::stats::{ratio, to_f64, wide_to_f64};
use sojourn_transport::SrmCounts;

/// All of them.
pub(super) const TABLE: &[Entry] = &[
    pooled(flow(
        named(
            "passed_delay_s_mean",
            "Delay from the node on, mean",
            Unit::Seconds,
            "One-way delay from the multicast group's node `delay_from` to the member, of packets that passed that node.",
            "Σ delay from the node / packets that passed it, to the picosecond",
        ),
        |flows, _| {
            let all = || flows.iter().filter_map(|f| f.reception.as_ref());
            let sum: f64 = all().map(|own| wide_to_f64(own.passed_delay_sum)).sum();
            let count: f64 = all().map(|own| to_f64(own.passed_packets)).sum();
            ratio(sum * 1e-12, count)
        },
    )),
    flow(
        named(
            "requests_packets",
            "Requests",
            Unit::Packets,
            "Repair requests that members of a multicast group sent (SRM).",
            "count",
        ),
        |flows, _| of_srm(flows, |srm| to_f64(srm.requests)),
    ),
    flow(
        named(
            "repairs_packets",
            "Repairs",
            Unit::Packets,
            "Repairs that members of a multicast group sent (SRM). Repairs from the source count as its retransmissions.",
            "count",
        ),
        |flows, _| of_srm(flows, |srm| to_f64(srm.repairs)),
    ),
    flow(
        named(
            "duplicate_requests_packets",
            "Duplicate requests",
            Unit::Packets,
            "Requests that members received for packets that they had already requested themselves (SRM).",
            "count",
        ),
        |flows, _| of_srm(flows, |srm| to_f64(srm.duplicate_requests)),
    ),
    flow(
        named(
            "duplicate_repairs_packets",
            "Duplicate repairs",
            Unit::Packets,
            "Repairs of packets that the member already had (SRM).",
            "count",
        ),
        |flows, _| of_srm(flows, |srm| to_f64(srm.duplicate_repairs)),
    ),
    flow(
        named(
            "recovered_packets",
            "Recovered",
            Unit::Packets,
            "Packets that members missed at first and received later (SRM).",
            "count",
        ),
        |flows, _| of_srm(flows, |srm| to_f64(srm.recovered)),
    ),
    flow(
        named(
            "missing_packets",
            "Missing",
            Unit::Packets,
            "Packets that members were still missing when the run ended (SRM).",
            "count",
        ),
        |flows, _| of_srm(flows, |srm| to_f64(srm.missing)),
    ),
    flow(
        named(
            "recovery_s_mean",
            "Recovery, mean",
            Unit::Seconds,
            "Time from when a member detected a missing packet until it received the packet (SRM).",
            "Σ time / packets recovered",
        ),
        |flows, _| {
            let sum = of_srm(flows, |srm| wide_to_f64(srm.recovery_sum))?;
            ratio(sum * 1e-12, of_srm(flows, |srm| to_f64(srm.recovered))?)
        },
    ),
    flow(
        named(
            "recovery_rtts_mean",
            "Recovery in round trips, mean",
            Unit::Index,
            "The recovery time in round trips to the source, as the member estimates them (SRM).",
            "Σ (time / round trip) / packets recovered",
        ),
        |flows, _| {
            let sum = of_srm(flows, |srm| srm.recovery_round_trips)?;
            ratio(sum, of_srm(flows, |srm| to_f64(srm.recovered))?)
        },
    ),
];

/// A sum over members of multicast groups; none without one.
fn of_srm(flows: &[&FlowOutcome], read: fn(&SrmCounts) -> f64) -> Option<f64> {
    let mut members = flows
        .iter()
        .filter_map(|flow| flow.reception.as_ref())
        .peekable();
    members.peek()?;
    Some(members.map(|own| read(&own.srm)).sum())
}
