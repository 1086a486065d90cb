//! `sojourn.check`: the properties of an algorithm, as the command asks them.

use crate::errors;
use crate::supervise::supervise;
use pyo3::prelude::*;
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_study::check::{self, Checked, Request, json};
use sojourn_study::suite::Kind;

/// What came of the properties of a queue or congestion control: as JSON, and as the command prints it. Progress is the number of
/// properties asked, and of all.
#[pyfunction]
#[pyo3(signature = (algorithm, *, kind, skip, progress))]
pub(crate) fn check_properties(
    py: Python<'_>,
    algorithm: String,
    kind: Option<String>,
    skip: Vec<String>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(String, String)> {
    let kind = kind.map(|text| kind_of(&text)).transpose();
    let kind = kind.map_err(|error| errors::lab(py, &error))?;
    let checked = supervise(py, progress.as_ref(), move |control| {
        let request = Request {
            given: &algorithm,
            kind,
            skip: &skip,
            cancel: &control.cancel,
        };
        let asked = check::check(&request)?;
        let (kind, mut text) = (asked.kind(), format!("{}\n\n", asked.title()));
        let count = u64::try_from(check::claims(kind).len()).unwrap_or(u64::MAX);
        let mut all: Vec<Checked> = Vec::new();
        for (checked, done) in asked.zip(1..) {
            let checked = checked?;
            control.progress(done, count);
            text.push_str(&checked.text(None));
            all.push(checked);
        }
        Ok((json(kind.name(), &algorithm, &all), text))
    })?;
    checked.map_err(|error: LabError| errors::lab(py, &error))
}

fn kind_of(text: &str) -> Result<Kind, LabError> {
    let found = Kind::ALL.iter().find(|kind| kind.name() == text);
    found.copied().ok_or_else(|| {
        let problem = format!("{text:?} is no kind of algorithm");
        LabError::new(LabErrorKind::BadValue, problem)
            .in_file(&format!("kind={text:?}"))
            .allowed("kinds", "queue, cc")
    })
}
