//! Metrics of requests and responses over UDP: how many there were, and how many were lost. Their round trips are transfers.

use super::metric::{Entry, Measure, Statistic, flow, group, named};
use super::terms::Unit;
use crate::outcome::FlowOutcome;
use crate::stats::{ratio, to_f64};
use sojourn_transport::ExchangeCounts;

/// All of them.
pub(super) const TABLE: &[Entry] = &[
    flow(
        named(
            "exchanges_count",
            "Exchanges",
            Unit::Count,
            "Of `udp_rr`: requests sent.",
            "count",
        ),
        |flows, _| sum(flows, |exchanges| exchanges.sent),
    ),
    flow(
        named(
            "exchanges_lost_count",
            "Exchanges lost",
            Unit::Count,
            "Of `udp_rr`: requests that no answer reached before the timeout.",
            "count",
        ),
        |flows, _| sum(flows, |exchanges| exchanges.lost),
    ),
    flow(
        named(
            "exchange_loss_ratio",
            "Exchange loss",
            Unit::Ratio,
            "Of `udp_rr`: share of the requests without an answer before the timeout. Requests whose timeout had not passed when the run ended are left out.",
            "exchanges lost / exchanges due",
        ),
        |flows, _| {
            let lost = sum(flows, |exchanges| exchanges.lost)?;
            ratio(lost, sum(flows, |exchanges| exchanges.due)?)
        },
    ),
    flow(
        named(
            "exchanges_per_second",
            "Exchanges per second",
            Unit::Index,
            "Of `udp_rr`: exchanges completed per second (transactions in netperf). For several flows, the sum.",
            "exchanges answered / measured time",
        ),
        |flows, seconds| ratio(sum(flows, |exchanges| exchanges.answered)?, seconds),
    ),
];

/// Latencies, over the exchanges of all flows together. The result files have them as transfers.
pub(super) const LATENCIES: &[Entry] = &[
    group(
        named(
            "latency_s_mean",
            "Latency, mean",
            Unit::Seconds,
            "Of `udp_rr`: round trip from a request to its answer, as ping prints it. Mean over the exchanges that were answered.",
            "Σ round trip / exchanges answered",
        ),
        |flows, _| latency(flows, Statistic::Mean),
    ),
    group(
        named(
            "latency_s_p50",
            "Latency, median",
            Unit::Seconds,
            "Of `udp_rr`: round trip from a request to its answer that 50 % of the exchanges do not exceed.",
            "nearest rank 0.5",
        ),
        |flows, _| latency(flows, Statistic::Quantile(0.5)),
    ),
    group(
        named(
            "latency_s_p95",
            "Latency, p95",
            Unit::Seconds,
            "Of `udp_rr`: round trip from a request to its answer that 95 % of the exchanges do not exceed.",
            "nearest rank 0.95",
        ),
        |flows, _| latency(flows, Statistic::Quantile(0.95)),
    ),
    group(
        named(
            "latency_s_p99",
            "Latency, p99",
            Unit::Seconds,
            "Of `udp_rr`: round trip from a request to its answer that 99 % of the exchanges do not exceed.",
            "nearest rank 0.99",
        ),
        |flows, _| latency(flows, Statistic::Quantile(0.99)),
    ),
];

/// A statistic of the round trips of requests; transfers of workloads are left out.
fn latency(flows: &[&FlowOutcome], statistic: Statistic) -> Option<f64> {
    let probes = flows.iter().filter(|flow| flow.exchanges.is_some());
    let transfers = probes.flat_map(|flow| &flow.transfers);
    statistic.of(transfers
        .filter_map(|transfer| Measure::Completion.of(transfer))
        .collect())
}

/// `None` where there are no exchanges.
fn sum(flows: &[&FlowOutcome], value: fn(&ExchangeCounts) -> u64) -> Option<f64> {
    let all = flows.iter().filter_map(|flow| flow.exchanges);
    let values: Vec<u64> = all.map(|exchanges| value(&exchanges)).collect();
    (!values.is_empty()).then(|| to_f64(values.iter().sum()))
}
