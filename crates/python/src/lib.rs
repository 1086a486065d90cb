//! Python bindings of Sojourn: conversion only.
//!
//! The module is `sojourn._core`; the package `sojourn` in `python/` wraps it, and `_core.pyi` there is its type. Scenarios
//! come in as JSON, tables go out as Arrow, and everything between is done by the crates below.

#![allow(
    clippy::needless_pass_by_value,
    reason = "PyO3 extracts the arguments of a Python call by value"
)]

mod document;
mod errors;
mod replay;
mod results;
mod supervise;
mod table;
mod traces;

use document::document;
use pyo3::prelude::*;
use serde_json::Value;
use sojourn_scenario::document::Document;
use sojourn_scenario::model::Scenario;
use sojourn_scenario::schema::study_sections;
use sojourn_study::lookup::{FAMILIES, Family, find};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

#[pymodule]
mod _core {
    #[pymodule_export]
    use super::replay::replay;
    #[pymodule_export]
    use super::results::{Results, read, rerun, run, study};
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    use super::traces::trace_analyse;
    #[pymodule_export]
    use super::{catalogue, main, read_toml, resolve, schema, set_value, show, to_toml};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
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
/// `images(directory, formats)` draws the figures of a result directory and returns the files.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>, images: Py<PyAny>) -> u8 {
    let draw = |directory: &Path, formats: &[&str]| {
        Python::attach(|py| {
            let drawn = images.call1(py, (directory, formats.to_vec()));
            drawn
                .and_then(|files| files.extract::<Vec<PathBuf>>(py))
                .map_err(|error| error.value(py).to_string())
        })
    };
    py.detach(|| sojourn_cli::main_with_images(arguments, &draw))
}

/// The scenario with the value at `path` replaced, all as JSON.
#[pyfunction]
fn set_value(py: Python<'_>, json: &str, name: &str, path: &str, value: &str) -> PyResult<String> {
    let replaced = || {
        let mut document = document(json, name)?;
        let wrapped = self::document(&format!("{{\"value\": {value}}}"), name)?;
        let node = wrapped.get("value")?.map(|value| value.node().clone());
        if let Some(node) = node {
            document.set_node(path, node)?;
        }
        Ok(document.to_json().to_string())
    };
    replaced().map_err(|error| errors::lab(py, &error))
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

/// Everything that a scenario or study can name, as JSON, family after family.
#[pyfunction]
fn catalogue() -> String {
    let items = FAMILIES.iter().flat_map(Family::items);
    let all: Vec<Value> = items.map(|item| item.to_json()).collect();
    Value::from(all).to_string()
}

/// One of them by name, as JSON: what `sojourn show NAME --format json` prints.
#[pyfunction]
fn show(py: Python<'_>, name: &str) -> PyResult<String> {
    let item = find(name).map_err(|error| errors::lab(py, &error))?;
    Ok(item.to_json().to_string())
}
