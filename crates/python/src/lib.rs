//! Python bindings of Sojourn: conversion only.
//!
//! The module is `sojourn._core`; the package `sojourn` in `python/` wraps it, and `_core.pyi` there is its type. Scenarios
//! come in as JSON, tables go out as Arrow, and everything between is done by the crates below.

#![allow(
    clippy::needless_pass_by_value,
    reason = "PyO3 extracts the arguments of a Python call by value"
)]

mod dispatch;
mod document;
mod errors;
mod gym;
mod plugin;
mod properties;
mod replay;
mod results;
mod supervise;
mod table;
mod traces;

use document::{check_readable, document, set_at};
use pyo3::prelude::*;
use serde_json::{Value, json};
use sojourn_scenario::document::Document;
use sojourn_scenario::model::Scenario;
use sojourn_scenario::schema::study_sections;
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_study::lookup::{Family, Item, family, find};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

#[pymodule]
mod _core {
    #[pymodule_export]
    use super::dispatch::{Plan, Stop, Task, plan};
    #[pymodule_export]
    use super::gym::{GymFleet, GymPolicy};
    #[pymodule_export]
    use super::plugin::{Packet, Random, work};
    #[pymodule_export]
    use super::properties::check_properties;
    #[pymodule_export]
    use super::replay::replay;
    #[pymodule_export]
    use super::results::{Results, read, rerun, run, study};
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    use super::traces::trace_analyse;
    #[pymodule_export]
    use super::{
        check, draw, listing, main, nearest, read_toml, resolve, schema, set_values, sheets, show,
        to_toml,
    };

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::plugin::set();
        super::plugin::set_loaders();
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        // Whoever measures time wants to know.
        let profile = if cfg!(debug_assertions) {
            "debug"
        } else {
            "release"
        };
        module.add("PROFILE", profile)
    }
}

/// Runs the command `sojourn` with these arguments, the program's name first, and returns its exit status.
/// `images(directory, formats, width)` draws the figures of a result directory and returns the files. `cluster(plan, address,
/// workers)` has a Dask cluster make the runs of a study.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>, images: Py<PyAny>, cluster: Py<PyAny>) -> u8 {
    sojourn_cli::set_cluster(dispatch::drive(cluster));
    sojourn_cli::set_hints(plugin::hints);
    let draw = |directory: &Path, formats: &[&str], width: Option<f64>| {
        Python::attach(|py| {
            let drawn = images.call1(py, (directory, formats.to_vec(), width));
            drawn
                .and_then(|files| files.extract::<Vec<PathBuf>>(py))
                .map_err(|error| error.value(py).to_string())
        })
    };
    py.detach(|| sojourn_cli::main_with_images(arguments, &draw))
}

/// The tables of the report of a result directory as the sheets of a spreadsheet, in JSON.
#[pyfunction]
fn sheets(py: Python<'_>, directory: PathBuf) -> PyResult<String> {
    let summary = sojourn_report::load(&directory).map_err(|error| {
        let error = LabError::new(LabErrorKind::Io, error.to_string());
        errors::lab(py, &error)
    })?;
    let sheets = json!({
        "title": summary.title,
        "version": summary.version,
        "command": summary.command,
        "sheets": sojourn_report::sheets(&summary),
    });
    Ok(sheets.to_string())
}

/// The scenario with the values at these paths replaced, all as JSON. The result is a scenario that can be read.
#[pyfunction]
fn set_values(
    py: Python<'_>,
    json: &str,
    name: &str,
    values: Vec<(String, String)>,
) -> PyResult<String> {
    let replaced = || {
        let mut document = document(json, name)?;
        for (path, value) in &values {
            let wrapped = self::document(&format!("{{\"value\": {value}}}"), name)?;
            let node = wrapped.get("value")?.map(|value| value.node().clone());
            if let Some(node) = node {
                let argument = format!("with_({path:?}, {value})");
                set_at(&mut document, path, node, &argument)?;
            }
        }
        check_readable(&document)?;
        Ok(document.to_json().to_string())
    };
    replaced().map_err(|error| errors::lab(py, &error))
}

/// Checks a scenario that a builder made, given as JSON. `arguments` are paths, and the keywords that set them as a message shows
/// them.
#[pyfunction]
fn check(py: Python<'_>, json: &str, name: &str, arguments: Vec<(String, String)>) -> PyResult<()> {
    let checked = || {
        let mut document = document(json, name)?;
        for (path, text) in &arguments {
            let node = document.get(path)?.map(|value| value.node().clone());
            if let Some(node) = node {
                set_at(&mut document, path, node, text)?;
            }
        }
        check_readable(&document)
    };
    checked().map_err(|error| errors::lab(py, &error))
}

/// The name of `names` that `given` probably means, by the rule of every message.
#[pyfunction]
fn nearest(given: &str, names: Vec<String>) -> Option<String> {
    sojourn_units::nearest(given, names.iter().map(String::as_str)).map(str::to_owned)
}

/// The scenario with every parameter and its value, as JSON.
#[pyfunction]
fn resolve(py: Python<'_>, json: &str, name: &str) -> PyResult<String> {
    document(json, name)
        .and_then(|document| Scenario::from_document(&document))
        .and_then(|scenario| scenario.resolve())
        .map(|full| full.to_document().to_json().to_string())
        .map_err(|error| errors::lab(py, &error))
}

/// The picture of its topology, as SVG.
#[pyfunction]
fn draw(py: Python<'_>, json: &str, name: &str) -> PyResult<String> {
    document(json, name)
        .and_then(|document| Scenario::from_document(&document))
        .and_then(|scenario| sojourn_study::topology::of_scenario(&scenario))
        .map(|topology| sojourn_report::topology::topology_svg(&topology))
        .map_err(|error| errors::lab(py, &error))
}

/// The scenario as TOML.
#[pyfunction]
fn to_toml(py: Python<'_>, json: &str, name: &str) -> PyResult<String> {
    document(json, name)
        .map(|document| document.to_toml())
        .map_err(|error| errors::lab(py, &error))
}

/// The scenario of a TOML file, as JSON.
#[pyfunction]
fn read_toml(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    Document::read(&path)
        .map(|document| document.to_json().to_string())
        .map_err(|error| errors::lab(py, &error))
}

/// The JSON Schema of scenario and study files: what `sojourn schema` prints.
#[pyfunction]
fn schema() -> String {
    let sections = study_sections(&sojourn_study::study::tables());
    sojourn_scenario::schema::schema(&sections).to_string()
}

/// The entries of one family, as JSON: the columns and the rows of `sojourn list FAMILY`, with the aliases as a list.
#[pyfunction]
fn listing(py: Python<'_>, name: &str) -> PyResult<String> {
    let family = family(name).map_err(|error| errors::lab(py, &error))?;
    let columns = ["name", "aliases"].into_iter().chain(facts(family));
    let columns: Vec<&str> = columns.chain(["what"]).collect();
    let rows: Vec<Value> = family
        .items()
        .iter()
        .map(|item| row(family, item))
        .collect();
    Ok(json!({"columns": columns, "rows": rows}).to_string())
}

/// The columns of a family beside those that every family has.
fn facts(family: &Family) -> impl Iterator<Item = &'static str> {
    let columns = family.columns.iter().copied();
    columns.filter(|column| *column != "aliases")
}

fn row(family: &Family, item: &Item) -> Value {
    let mut row = vec![json!(item.name), json!(item.aliases)];
    for column in facts(family) {
        let fact = item.fact(column);
        // Numbers are numbers to a program.
        let number = fact.parse::<u64>();
        row.push(number.map_or_else(|_| json!(fact), |number| json!(number)));
    }
    row.push(json!(item.first_sentence()));
    Value::from(row)
}

/// One of them by name, as JSON: what `sojourn show NAME --format json` prints.
#[pyfunction]
fn show(py: Python<'_>, name: &str) -> PyResult<String> {
    let item = find(name).map_err(|error| errors::lab(py, &error))?;
    Ok(item.to_json().to_string())
}
