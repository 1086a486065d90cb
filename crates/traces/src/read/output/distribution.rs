//! Distributions as rows, and the columns that many tables have of many times or counts.

use crate::read::moments::{Sizes, Spans};
use crate::read::table::{About, Column, TraceTable, integer, number, text};
use sojourn_results::stats::to_f64;
use sojourn_sim::histogram::middle;
use sojourn_units::Span;

const ABOUT: About = About {
    name: "distributions",
    title: "Distributions",
    doc: "One row per non-empty histogram step of a distribution. Times are exact to within a step of the histogram (1/64 of the value). Sizes are exact below 65 536 bytes.",
};

/// A step of a distribution.
#[derive(Clone, PartialEq, Debug)]
pub struct Distribution {
    subject: &'static str,
    name: String,
    quantity: &'static str,
    value: f64,
    unit: &'static str,
    count: u64,
    share: f64,
    cumulative: f64,
}

/// The table of distributions.
pub fn table(rows: Vec<Distribution>) -> TraceTable {
    let columns: [Column<Distribution>; 8] = [
        text(
            "subject",
            "Kind of subject: `flow`, `link`, `node`, `conversation` or `path`.",
            |row: &Distribution| row.subject.into(),
        ),
        text("name", "Name of the subject.", |row| {
            row.name.as_str().into()
        }),
        text(
            "quantity",
            "The quantity: `delay`, `gap`, `rtt`, `queueing`, `transit`, `processing` or `size`.",
            |row| row.quantity.into(),
        ),
        number("value", "", "Value at the middle of the step.", |row| {
            Some(row.value).into()
        }),
        text("unit", "Its unit.", |row| row.unit.into()),
        integer("count", "1", "How many.", |row| row.count.into()),
        number("share", "1", "Share of all values.", |row| {
            Some(row.share).into()
        }),
        number(
            "cumulative",
            "1",
            "Share of the values in this step and all steps below.",
            |row| Some(row.cumulative).into(),
        ),
    ];
    TraceTable::new(ABOUT, &columns, rows)
}

/// The steps of many times.
pub fn of_spans(
    subject: &'static str,
    name: &str,
    quantity: &'static str,
    spans: &Spans,
) -> Vec<Distribution> {
    let steps = spans.histogram().steps();
    let seconds = |step: u32| Span::from_ps(middle(step)).as_secs_f64();
    let steps = steps
        .into_iter()
        .map(|(step, count)| (seconds(step), count));
    rows(subject, name, quantity, "s", spans.count(), steps)
}

/// The steps of many sizes.
pub fn of_sizes(subject: &'static str, name: &str, sizes: &Sizes) -> Vec<Distribution> {
    let counts = sizes.counts();
    let steps = counts
        .into_iter()
        .map(|(size, count)| (f64::from(size), count));
    rows(subject, name, "size", "bytes", sizes.packets(), steps)
}

fn rows(
    subject: &'static str,
    name: &str,
    quantity: &'static str,
    unit: &'static str,
    all: u64,
    steps: impl Iterator<Item = (f64, u64)>,
) -> Vec<Distribution> {
    let mut below = 0;
    let row = |(value, count): (f64, u64)| {
        below += count;
        Distribution {
            subject,
            name: name.to_owned(),
            quantity,
            value,
            unit,
            count,
            share: to_f64(count) / to_f64(all),
            cumulative: to_f64(below) / to_f64(all),
        }
    };
    steps.map(row).collect()
}

/// Columns of [`Counts`](crate::read::moments::Counts): packets and bytes.
#[doc(hidden)]
#[macro_export]
macro_rules! counts_columns {
    ($name:literal, $doc:literal, $row:ident : $Row:ty => $counts:expr) => {{
        use $crate::read::table::integer;
        [
            integer(
                concat!($name, "_packets"),
                "packets",
                $doc,
                |$row: &$Row| $counts.packets.into(),
            ),
            integer(
                concat!($name, "_bytes"),
                "bytes",
                concat!("Bytes of `", $name, "_packets`."),
                |$row: &$Row| $counts.bytes.into(),
            ),
        ]
    }};
}

/// Columns of [`Spans`]: mean, deviation, extremes, quantiles.
#[doc(hidden)]
#[macro_export]
macro_rules! spans_columns {
    ($name:literal, $what:literal, $row:ident : $Row:ty => $spans:expr) => {{
        use $crate::read::table::{integer, number};
        [
            integer(
                concat!($name, "_count"),
                "1",
                concat!($what, ", number of values."),
                |$row: &$Row| $spans.count().into(),
            ),
            number(
                concat!($name, "_s_mean"),
                "s",
                concat!($what, ", mean."),
                |$row: &$Row| $spans.mean().into(),
            ),
            number(
                concat!($name, "_s_sd"),
                "s",
                concat!($what, ", sample standard deviation."),
                |$row: &$Row| $spans.deviation().into(),
            ),
            number(
                concat!($name, "_s_min"),
                "s",
                concat!($what, ", minimum."),
                |$row: &$Row| $spans.min().into(),
            ),
            number(
                concat!($name, "_s_p05"),
                "s",
                concat!($what, ", 5th percentile."),
                |$row: &$Row| $spans.quantile(0.05).into(),
            ),
            number(
                concat!($name, "_s_p50"),
                "s",
                concat!($what, ", median."),
                |$row: &$Row| $spans.quantile(0.50).into(),
            ),
            number(
                concat!($name, "_s_p95"),
                "s",
                concat!($what, ", 95th percentile."),
                |$row: &$Row| $spans.quantile(0.95).into(),
            ),
            number(
                concat!($name, "_s_p99"),
                "s",
                concat!($what, ", 99th percentile."),
                |$row: &$Row| $spans.quantile(0.99).into(),
            ),
            number(
                concat!($name, "_s_max"),
                "s",
                concat!($what, ", maximum."),
                |$row: &$Row| $spans.max().into(),
            ),
        ]
    }};
}
