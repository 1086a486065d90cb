//! Errors of Sojourn as exceptions of `sojourn.errors`: one class per kind.

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sojourn_report::ReportError;
use sojourn_scenario::{LabError, LabErrorKind};

/// The class of a kind, or `None` for the interrupt, which is Python's own.
fn class_of(kind: LabErrorKind) -> Option<&'static str> {
    Some(match kind {
        LabErrorKind::Syntax => "FileSyntaxError",
        LabErrorKind::UnknownKey => "UnknownKeyError",
        LabErrorKind::MissingKey => "MissingKeyError",
        LabErrorKind::Contradiction => "ContradictionError",
        LabErrorKind::WrongType => "WrongTypeError",
        LabErrorKind::BadValue => "BadValueError",
        LabErrorKind::UnknownName => "UnknownNameError",
        LabErrorKind::Unreachable => "UnreachableError",
        LabErrorKind::Io => "ResultsIOError",
        LabErrorKind::ForeignResults => "ForeignResultsError",
        LabErrorKind::Plugin => "PluginError",
        LabErrorKind::Bug => "RunFailedError",
        LabErrorKind::Interrupted => return None,
        _ => "SojournError",
    })
}

/// The exception for an error.
pub(crate) fn lab(py: Python<'_>, error: &LabError) -> PyErr {
    let message = error.to_string();
    let Some(class) = class_of(error.kind()) else {
        return PyKeyboardInterrupt::new_err(message);
    };
    exception(py, class, &message, |place| {
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        place.set_item("file", text(error.file()))?;
        place.set_item("line", error.line())?;
        place.set_item("key", text(error.path()))?;
        place.set_item("nearest", error.meant())
    })
}

/// The exception for a report that could not be written or read.
pub(crate) fn report(py: Python<'_>, error: &ReportError) -> PyErr {
    let message = sojourn_scenario::printable(&error.to_string()).into_owned();
    exception(py, "ResultsIOError", &message, |_| Ok(()))
}

/// An argument of Python that a function cannot use.
pub(crate) fn bad_value(py: Python<'_>, message: &str) -> PyErr {
    exception(py, "BadValueError", message, |_| Ok(()))
}

fn exception(
    py: Python<'_>,
    class: &str,
    message: &str,
    place: impl FnOnce(&Bound<'_, PyDict>) -> PyResult<()>,
) -> PyErr {
    let make = || {
        let class = py.import("sojourn.errors")?.getattr(class)?;
        let keywords = PyDict::new(py);
        place(&keywords)?;
        class.call((message,), Some(&keywords))
    };
    make().map_or_else(|error| error, PyErr::from_value)
}
