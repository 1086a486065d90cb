//! Python bindings of Sojourn: conversion only.
//!
//! The module is `sojourn._core`; the package `sojourn` in `python/` wraps it, and `_core.pyi` there is its type. Scenarios
//! come in as JSON, tables go out as Arrow, and everything between is done by `sojourn-lab`.

mod errors;
mod supervise;
mod table;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::Value;
use sojourn_lab::LabError;
use sojourn_lab::catalogue::{Entry, entries, find};
use sojourn_lab::document::Document;
use sojourn_lab::model::Scenario;
use std::path::Path;

#[pymodule]
mod _core {
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    use super::{catalogue, main, read_toml, resolve, set_value, show, to_toml};

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
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<String>) -> u8 {
    py.detach(|| sojourn_cli::main_from_args(arguments))
}

/// The document of a scenario given as JSON.
fn document(json: &str, name: &str) -> Result<Document, LabError> {
    let value: Value = serde_json::from_str(json).map_err(|error| {
        LabError::new(sojourn_lab::LabErrorKind::Syntax, error.to_string()).in_file(name)
    })?;
    Document::from_json(&value, name)
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
        .map(|scenario| scenario.to_document().to_json().to_string())
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
fn read_toml(py: Python<'_>, path: &str) -> PyResult<String> {
    Document::read(Path::new(path))
        .map(|document| document.to_json().to_string())
        .map_err(|error| errors::lab(py, &error))
}

/// Every algorithm that a scenario can name: family, name, title and dialects of each.
#[pyfunction]
fn catalogue(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let all: Vec<_> = entries()
        .iter()
        .map(|entry| describe(py, entry))
        .collect::<PyResult<_>>()?;
    PyList::new(py, all)
}

/// One algorithm: what it does, its dialects, its parameters with unit, default, range and source.
#[pyfunction]
fn show<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
    let entry = find(name).map_err(|error| errors::lab(py, &error))?;
    describe(py, &entry)
}

fn describe<'py>(py: Python<'py>, entry: &Entry) -> PyResult<Bound<'py, PyDict>> {
    let dialects: Vec<_> = entry
        .dialects
        .iter()
        .map(|dialect| {
            let dict = PyDict::new(py);
            dict.set_item("name", dialect.name)?;
            dict.set_item("release", dialect.release)?;
            dict.set_item("doc", dialect.doc)?;
            Ok(dict)
        })
        .collect::<PyResult<_>>()?;
    let params: Vec<_> = entry
        .params
        .iter()
        .map(|info| {
            let defaults = PyDict::new(py);
            for dialect in entry.dialects {
                defaults.set_item(dialect.name, dialect.default_of(info).0)?;
            }
            let dict = PyDict::new(py);
            dict.set_item("name", info.name)?;
            dict.set_item("doc", info.doc)?;
            dict.set_item("unit", (info.kind)().unit_text())?;
            dict.set_item("default", info.default)?;
            dict.set_item("defaults", defaults)?;
            dict.set_item("range", info.range_text())?;
            dict.set_item("source", info.source)?;
            Ok(dict)
        })
        .collect::<PyResult<_>>()?;
    let dict = PyDict::new(py);
    dict.set_item("family", entry.family.name())?;
    dict.set_item("name", entry.name)?;
    dict.set_item("title", entry.title)?;
    dict.set_item("aliases", entry.aliases)?;
    dict.set_item("about", entry.about)?;
    dict.set_item("dialects", dialects)?;
    dict.set_item("parameters", params)?;
    Ok(dict)
}
