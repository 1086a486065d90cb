//! `sojourn.replay`: the same reader and the same queue as the command's, the decisions as a table.

use crate::errors;
use crate::supervise::supervise;
use crate::table::Table;
use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt64Array};
use arrow_schema::ArrowError;
use pyo3::prelude::*;
use sojourn_conform::replay::{Arrival, Decision, read_arrivals};
use sojourn_queue::registry;
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_units::{Rate, Spec, Time};
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::sync::Arc;

/// Picoseconds of a nanosecond; times are rounded down to nanoseconds.
const PS_PER_NS: u64 = 1000;

/// Feeds arrivals to a queue: those of the file `path`, or else those of `text`, both CSV as the command reads it.
#[pyfunction]
#[pyo3(signature = (path, text, *, queue, rate, dialect, seed))]
pub(crate) fn replay(
    py: Python<'_>,
    path: Option<PathBuf>,
    text: &str,
    queue: &str,
    rate: &str,
    dialect: Option<&str>,
    seed: u64,
) -> PyResult<Table> {
    let [text, queue, rate] = [text, queue, rate].map(str::to_owned);
    let dialect = dialect.map(str::to_owned);
    let decide = move || {
        let queue: Spec = queue
            .parse()
            .map_err(|error| bad("queue", &queue, &registry::advised(error)))?;
        let parsed: Rate = rate.parse().map_err(|error| bad("rate", &rate, &error))?;
        if parsed.as_bps() == 0 {
            return Err(bad("rate", &rate, &"a link needs a rate above zero"));
        }
        let arrivals = match &path {
            Some(path) => {
                let file = File::open(path)
                    .map_err(|error| LabError::io(path, "read the arrivals", &error))?;
                read_arrivals(BufReader::new(file), &path.display().to_string())?
            }
            None => read_arrivals(text.as_bytes(), "arrivals")?,
        };
        let dialect = dialect.as_deref();
        let decisions = sojourn_conform::replay::replay(&arrivals, &queue, parsed, dialect, seed)?;
        table(&arrivals, &decisions)
            .map_err(|error| LabError::new(LabErrorKind::Bug, error.to_string()))
    };
    supervise(py, None, move |_| decide())?
        .map(Table::new)
        .map_err(|error| errors::lab(py, &error))
}

fn bad(key: &str, given: &str, problem: &impl ToString) -> LabError {
    LabError::new(LabErrorKind::BadValue, problem.to_string()).in_file(&format!("{key}={given:?}"))
}

/// One row per arrival, with the columns that the command prints.
fn table(arrivals: &[Arrival], decisions: &[Decision]) -> Result<RecordBatch, ArrowError> {
    let ns = |time: Time| time.as_ps() / PS_PER_NS;
    let rows = || arrivals.iter().zip(decisions);
    let count = u64::try_from(arrivals.len()).unwrap_or(u64::MAX);
    let columns: [(&str, ArrayRef); 8] = [
        ("index", Arc::new(UInt64Array::from_iter_values(0..count))),
        (
            "time_ns",
            Arc::new(UInt64Array::from_iter_values(
                rows().map(|(a, _)| ns(a.time)),
            )),
        ),
        (
            "bytes",
            Arc::new(UInt64Array::from_iter_values(
                rows().map(|(a, _)| u64::from(a.bytes)),
            )),
        ),
        (
            "flow",
            Arc::new(UInt64Array::from_iter_values(rows().map(|(a, _)| a.flow))),
        ),
        (
            "verdict",
            Arc::new(StringArray::from_iter_values(
                rows().map(|(_, d)| verdict(d)),
            )),
        ),
        (
            "reason",
            Arc::new(StringArray::from_iter_values(rows().map(|(_, d)| d.reason))),
        ),
        (
            "departure_ns",
            Arc::new(
                rows()
                    .map(|(_, d)| d.departure.map(ns))
                    .collect::<UInt64Array>(),
            ),
        ),
        (
            "sojourn_ns",
            Arc::new(
                rows()
                    .map(|(a, d)| d.departure.map(|at| at.since(a.time).as_ps() / PS_PER_NS))
                    .collect::<UInt64Array>(),
            ),
        ),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| {
        (
            name,
            column,
            name.starts_with("departure") || name.starts_with("sojourn"),
        )
    }))
}

fn verdict(decision: &Decision) -> &'static str {
    match decision.departure {
        None => "dropped",
        Some(_) if decision.marked => "marked",
        Some(_) => "sent",
    }
}
