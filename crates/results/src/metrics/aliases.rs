//! Other names of metrics: what the field, a short form or the heading of a table calls them.

/// Other names, in lower case, and the metric that each stands for.
const ALIASES: &[(&[&str], &str)] = &[
    (
        &["goodput", "goodput_bps", "goodput_mbps"],
        "goodput_bps_sum",
    ),
    (
        &["throughput", "throughput_bps", "throughput_mbps"],
        "throughput_bps_sum",
    ),
    (
        &["utilization", "utilisation", "link_utilization"],
        "utilization_ratio",
    ),
    (
        &[
            "sojourn",
            "sojourn_time",
            "queue_delay",
            "queueing_delay",
            "queuing_delay",
        ],
        "sojourn_s_mean",
    ),
    (&["p05", "p5"], "sojourn_s_p05"),
    (&["p50", "median", "sojourn_median"], "sojourn_s_p50"),
    (&["p95"], "sojourn_s_p95"),
    (&["p99"], "sojourn_s_p99"),
    (&["p999", "p99.9"], "sojourn_s_p999"),
    (
        &["backlog", "queue_length", "queue_size", "qlen"],
        "backlog_packets_mean",
    ),
    (&["loss", "loss_rate", "drop_ratio"], "loss_ratio"),
    (&["drops", "dropped"], "dropped_packets"),
    (&["drop_rate"], "drop_rate_pps"),
    (&["marks", "marked", "ecn_marks"], "marked_packets"),
    (&["delay", "one_way_delay", "owd"], "delay_s_mean"),
    (&["rtt", "round_trip", "srtt"], "rtt_s_mean"),
    (&["jitter"], "jitter_s_mean"),
    (&["pdv", "delay_variation"], "pdv_s_p99"),
    (
        &["fairness", "jain", "jain_fairness", "fairness_index"],
        "jain_index",
    ),
    (
        &["retransmissions", "retransmits", "retransmission_count"],
        "retransmissions_packets",
    ),
    (&["timeouts", "rto_count"], "timeouts_count"),
    (&["fct", "flow_completion_time"], "fct_s_mean"),
    (&["completion", "completion_time"], "completion_s"),
    (&["slowdown"], "slowdown_mean"),
    (&["plt", "page_load", "page_load_time"], "page_load_s_mean"),
    (&["rpm", "responsiveness"], "responsiveness_rpm"),
    (&["stalls", "rebuffering"], "stalls_count"),
];

/// Time series that are asked for as if they were metrics.
const SERIES: &[&str] = &[
    "cwnd",
    "ssthresh",
    "window",
    "pacing",
    "pacing_rate",
    "inflight",
];

/// The metric that is also called `given`.
pub(super) fn canonical(given: &str) -> Option<&'static str> {
    let given = given.to_lowercase().replace('-', "_");
    let found = ALIASES
        .iter()
        .find(|(names, _)| names.contains(&given.as_str()));
    found.map(|(_, metric)| *metric)
}

/// The other names of a metric.
pub(super) fn of(metric: &str) -> &'static [&'static str] {
    let found = ALIASES.iter().find(|(_, name)| *name == metric);
    found.map_or(&[], |(names, _)| names)
}

/// Whether `given` is something that changes over time, which no single number stands for.
pub(super) fn is_series(given: &str) -> bool {
    SERIES.contains(&given.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::super::metrics;
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_alias_is_of_a_metric_and_of_one_only() {
        let mut seen = BTreeSet::new();
        for (names, of) in ALIASES {
            assert!(metrics().iter().any(|metric| metric.name == *of), "{of}");
            for name in *names {
                assert!(seen.insert(*name), "{name} is an alias twice");
                assert!(
                    metrics().iter().all(|metric| metric.name != *name),
                    "{name}"
                );
                assert_eq!(canonical(name), Some(*of));
            }
        }
    }
}
