//! What is said of the transfers of each size.

use crate::metrics::{Measure, Statistic, Unit};

/// What is said of the transfers of a bin: name in records, heading, unit.
pub const SIZE_STATISTICS: [(&str, &str, Unit, Measure, Statistic); 7] = [
    (
        "fct_s_mean",
        "FCT, mean",
        Unit::Seconds,
        Measure::Completion,
        Statistic::Mean,
    ),
    (
        "fct_s_p50",
        "FCT, median",
        Unit::Seconds,
        Measure::Completion,
        Statistic::Quantile(0.5),
    ),
    (
        "fct_s_p95",
        "FCT, p95",
        Unit::Seconds,
        Measure::Completion,
        Statistic::Quantile(0.95),
    ),
    (
        "fct_s_p99",
        "FCT, p99",
        Unit::Seconds,
        Measure::Completion,
        Statistic::Quantile(0.99),
    ),
    (
        "slowdown_mean",
        "Slowdown, mean",
        Unit::Index,
        Measure::Slowdown,
        Statistic::Mean,
    ),
    (
        "slowdown_p50",
        "Slowdown, median",
        Unit::Index,
        Measure::Slowdown,
        Statistic::Quantile(0.5),
    ),
    (
        "slowdown_p99",
        "Slowdown, p99",
        Unit::Index,
        Measure::Slowdown,
        Statistic::Quantile(0.99),
    ),
];

/// The names of the statistics that a figure over sizes can show.
pub fn statistics() -> impl Iterator<Item = &'static str> + Clone {
    SIZE_STATISTICS.iter().map(|column| column.0)
}
