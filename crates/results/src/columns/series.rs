//! The table of time series: a row per sample.

use std::sync::{Arc, LazyLock};

use arrow_array::RecordBatch;
use sojourn_units::{Span, Time};

use super::column::{Columns, columns};
use super::reader::Reader;
use crate::outcome::SeriesOutcome;

pub(super) static SERIES: LazyLock<Columns<Sample>> = LazyLock::new(|| {
    let mut all = Columns::<Sample>::keyed();
    columns! { all;
        text "of" at [of] "The link direction or flow that was sampled.";
        text "quantity" at [quantity] "The sampled quantity, with its unit.";
    }
    all.follows("time_s", "s", "Simulated time of the sample.", |sample| {
        sample.time.as_secs_f64()
    });
    columns! { all;
        number "value" at [value] "The sampled value; null if there was none.";
        integer "first_ps", "ps" at [first] "Time of the first sample of the series.";
        integer "step_ps", "ps" at [step] "Time between samples.";
    }
    all
});

/// One sample of a time series.
pub(super) struct Sample {
    of: Arc<str>,
    quantity: Arc<str>,
    time: Time,
    value: f64,
    first: Time,
    step: Span,
}

/// The samples of a series.
pub(super) fn samples(series: &SeriesOutcome) -> impl Iterator<Item = Sample> {
    let (of, quantity): (Arc<str>, Arc<str>) =
        (series.of.as_str().into(), series.quantity.as_str().into());
    series
        .values
        .iter()
        .zip(0u64..)
        .map(move |(value, index)| Sample {
            of: Arc::clone(&of),
            quantity: Arc::clone(&quantity),
            time: series.first + series.step * index,
            value: *value,
            first: series.first,
            step: series.step,
        })
}

/// The time series that a table was made from.
///
/// # Errors
/// Says which column is missing, or not what it should be.
pub fn read_series(table: &RecordBatch) -> Result<Vec<SeriesOutcome>, String> {
    let reader = Reader(table);
    let mut all: Vec<SeriesOutcome> = Vec::new();
    let mut last = f64::INFINITY;
    for row in 0..table.num_rows() {
        let (of, quantity) = (reader.text("of", row)?, reader.text("quantity", row)?);
        let time = reader.number("time_s", row)?.unwrap_or(f64::NAN);
        let value = reader.number("value", row)?.unwrap_or(f64::NAN);
        match all.last_mut() {
            Some(series) if series.of == of && series.quantity == quantity && time > last => {
                series.values.push(value);
            }
            _ => all.push(SeriesOutcome {
                of,
                quantity,
                first: Time::from_ps(reader.integer("first_ps", row)?),
                step: Span::from_ps(reader.integer("step_ps", row)?),
                values: vec![value],
            }),
        }
        last = time;
    }
    Ok(all)
}
