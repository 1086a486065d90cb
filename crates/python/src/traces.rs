//! `sojourn.trace_analyse`: the same tables as the command's.

use crate::errors;
use crate::supervise::supervise;
use crate::table::Table;
use pyo3::prelude::*;
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_traces::read::given::Given;
use std::path::PathBuf;

/// Tables by name, how many lines or packets were skipped, and remarks.
type Analysed = (Vec<(&'static str, Table)>, u64, Vec<String>);

/// The tables of a trace by name, how much was skipped, and remarks. Texts are those of the command's options.
#[pyfunction]
#[pyo3(signature = (path, *, format, lenient, step, start, stop, rates, horizon, receiver, tunnels))]
#[allow(clippy::too_many_arguments, reason = "one per option")]
pub(crate) fn trace_analyse(
    py: Python<'_>,
    path: PathBuf,
    format: Option<String>,
    lenient: bool,
    step: String,
    start: Option<String>,
    stop: Option<String>,
    rates: Vec<String>,
    horizon: String,
    receiver: Option<PathBuf>,
    tunnels: String,
) -> PyResult<Analysed> {
    let called = |name: &str| match name {
        "from" => "start=".to_owned(),
        "to" => "stop=".to_owned(),
        "trace-format" => "format=".to_owned(),
        "rate" => "rates=".to_owned(),
        other => format!("{other}="),
    };
    let analyse = move || {
        let given = Given {
            format: format.as_deref(),
            lenient,
            step: Some(&step),
            from: start.as_deref(),
            to: stop.as_deref(),
            rates: &rates,
            horizon: Some(&horizon),
            receiver: receiver.as_deref(),
            tunnels: Some(&tunnels),
        };
        let analysis = sojourn_traces::read::analyse(&path, &given.options(called)?)?;
        let mut tables = Vec::new();
        for table in &analysis.tables {
            let batch = table
                .batch()
                .map_err(|error| LabError::new(LabErrorKind::Bug, error.to_string()))?;
            tables.push((table.name, batch));
        }
        let skipped = analysis.skipped.iter().map(|skipped| skipped.count).sum();
        Ok((tables, skipped, analysis.remarks))
    };
    let (tables, skipped, remarks) = supervise(py, None, move |_| analyse())?
        .map_err(|error: LabError| errors::lab(py, &error))?;
    let tables = tables.into_iter();
    Ok((
        tables
            .map(|(name, batch)| (name, Table::new(batch)))
            .collect(),
        skipped,
        remarks,
    ))
}
