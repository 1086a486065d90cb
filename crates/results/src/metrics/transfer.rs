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

/// What is measured of transfers: the beginning of its names and of its headings, its unit, and what it is.
const MEASURES: [(Measure, &str, &str, Unit, &str); 3] = [
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
    let mut all: Vec<Metric> = of_table(COUNTS).collect();
    for (measure, name, title, unit, doc) in MEASURES {
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
            format!("{doc}: mean over the transfers."),
            "Σ / transfers".to_owned(),
            Statistic::Mean,
        ));
        for (q, suffix) in QUANTILES {
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
