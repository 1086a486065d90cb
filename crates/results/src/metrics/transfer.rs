//! Metrics of transfers: of the flows of workloads, of responses, of pages.

use super::metric::{
    Entry, Measure, Metric, Read, Statistic, flow, named, of_table, percentile_title, share_text,
};
use super::range::Range;
use super::terms::{Level, Unit};
use crate::outcome::{FlowOutcome, TransferOutcome};
use crate::stats::{mean, to_f64};
use sojourn_traffic::workload::TransferKind;

/// Percentiles, as shares of 1 with their names.
const QUANTILES: [(f64, &str); 3] = [(0.50, "p50"), (0.95, "p95"), (0.99, "p99")];

/// How many there are, and how soon small ones are answered.
const COUNTS: &[Entry] = &[
    flow(
        named(
            "transfers_count",
            "Transfers",
            Unit::Count,
            "Transfers of a workload, or responses of `udp_rr`, that were requested after the warm-up and completed. For web pages, the number of pages.",
            "count",
        ),
        |flows, _| transfers(flows, |transfer| transfer.completed.is_some()),
    ),
    flow(
        named(
            "unfinished_count",
            "Unfinished",
            Unit::Count,
            "Transfers of a workload, or responses of `udp_rr`, that were requested after the warm-up and were not complete when the run ended. They are excluded from the completion times; if there are many, those times are biased low.",
            "count",
        ),
        |flows, _| transfers(flows, |transfer| transfer.completed.is_none()),
    ),
    flow(
        named(
            "responsiveness_rpm",
            "Responsiveness (RPM)",
            Unit::Index,
            "Round trips per minute (draft-ietf-ippm-responsiveness). It is computed from the mean completion time of requests with small responses that are sent one after the other.",
            "60 s / fct_s_mean",
        ),
        |flows, _| responsiveness_rpm(flows.iter().flat_map(|flow| &flow.transfers)),
    ),
];

type Measured = (Measure, &'static str, &'static str, Unit, &'static str);

/// What is measured of transfers: the beginning of its names and of its headings, its unit, and what it is.
const MEASURES: [Measured; 3] = [
    (
        Measure::Completion,
        "fct_s",
        "FCT",
        Unit::Seconds,
        "Flow completion time, from the request of a transfer until its last byte arrived",
    ),
    (
        Measure::Slowdown,
        "slowdown",
        "Slowdown",
        Unit::Index,
        "Flow completion time divided by the least possible one, which is propagation plus the transmission of all bytes with headers at the slowest link of the path",
    ),
    (
        Measure::PageLoad,
        "page_load_s",
        "Page load time",
        Unit::Seconds,
        "Page load time, from the request for the first object until the last object arrived",
    ),
];

/// All of them.
pub(super) fn metrics() -> Vec<Metric> {
    let counts = of_table(COUNTS).map(|metric| metric.only_of(WITH_TRANSFERS));
    let mut all: Vec<Metric> = counts.collect();
    for measured in MEASURES {
        all.push(mean_of(measured));
        all.extend(QUANTILES.map(|(q, suffix)| percentile_of(measured, q, suffix)));
    }
    all
}

/// A percentile of everything that is measured, by its share of 1 and its name.
pub(super) fn percentiles(q: f64, suffix: &str) -> impl Iterator<Item = Metric> {
    MEASURES
        .map(|measured| percentile_of(measured, q, suffix))
        .into_iter()
}

fn mean_of((measure, name, title, unit, doc): Measured) -> Metric {
    Metric {
        name: format!("{name}_mean"),
        title: format!("{title}, mean"),
        unit,
        range: range_of(measure, unit),
        level: Level::Flow,
        doc: format!("{doc}: mean over the transfers."),
        formula: "Σ / transfers".to_owned(),
        pooled: false,
        flows: Some(flows_of(measure)),
        read: Read::Transfers(measure, Statistic::Mean),
    }
}

fn percentile_of((measure, name, title, unit, doc): Measured, q: f64, suffix: &str) -> Metric {
    Metric {
        name: format!("{name}_{suffix}"),
        title: format!("{title}, {}", percentile_title(suffix)),
        unit,
        range: range_of(measure, unit),
        level: Level::Flow,
        doc: format!(
            "{doc}: {} % of the transfers do not exceed it.",
            share_text(suffix)
        ),
        formula: format!("nearest rank {q}"),
        pooled: false,
        flows: Some(flows_of(measure)),
        read: Read::Transfers(measure, Statistic::Quantile(q)),
    }
}

/// The flows that have transfers.
const WITH_TRANSFERS: &str = "workloads (such as workload, web and request_response) and udp_rr";

fn flows_of(measure: Measure) -> &'static str {
    match measure {
        Measure::PageLoad => "web",
        Measure::Completion | Measure::Slowdown => WITH_TRANSFERS,
    }
}

fn range_of(measure: Measure, unit: Unit) -> Range {
    match measure {
        Measure::Slowdown => Range::FROM_ONE,
        _ => Range::of(unit),
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::{Span, Time};

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
}
