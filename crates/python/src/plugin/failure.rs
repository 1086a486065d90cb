//! What ends a run that a class of Python makes impossible.
//!
//! The traits of queues and controls have no errors: what is ours cannot fail. The run is unwound with the error as the payload,
//! which the boundary of the run hands on as it is.

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_units::Time;

/// Ends the run with an error of the user's.
pub(super) fn end(error: LabError) -> ! {
    // Not by `panic_any`: this is no bug, and its hook would say so.
    std::panic::resume_unwind(Box::new(error))
}

/// A method of a class, and when it was called.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// The class: `my_module:Mine`.
    pub(super) class: &'static str,
    pub(super) method: &'static str,
    pub(super) now: Time,
}

impl Place {
    fn at(&self) -> String {
        format!("at simulated time {}", self.now.since(Time::ZERO))
    }

    /// The error of a method that raised an exception.
    pub(super) fn raised(&self, py: Python<'_>, raised: &PyErr) -> LabError {
        if raised.is_instance_of::<PyKeyboardInterrupt>(py) {
            let problem = format!("interrupted {}", self.at());
            return LabError::new(LabErrorKind::Interrupted, problem);
        }
        LabError::new(
            LabErrorKind::Plugin,
            format!(
                "{}: {} raised an exception {}\n{}",
                self.class,
                self.method,
                self.at(),
                traceback(py, raised)
            ),
        )
    }

    /// The error of a method that answered what is not allowed.
    pub(super) fn answered(&self, answer: &Bound<'_, PyAny>, allowed: &str) -> LabError {
        self.wrong(&format!("returned {}", shown(answer)), allowed)
    }

    /// The error of a method that did something which is not allowed.
    pub(super) fn wrong(&self, did: &str, allowed: &str) -> LabError {
        let problem = format!("{}: {} {did} {}", self.class, self.method, self.at());
        LabError::new(LabErrorKind::Plugin, problem).remedy(format!("allowed: {allowed}"))
    }
}

/// An exception as Python prints it.
pub(super) fn traceback(py: Python<'_>, raised: &PyErr) -> String {
    let text = || {
        let plugin = py.import("sojourn.plugin")?;
        // A value does not have its traceback before Python 3.12, unless it is given it.
        let value = raised.clone_ref(py).into_value(py);
        let text = plugin.call_method1("_traceback", (value,))?;
        text.extract::<String>()
    };
    text().unwrap_or_else(|_| raised.to_string())
}

/// An object as Python writes it, not too long.
pub(super) fn shown(object: &Bound<'_, PyAny>) -> String {
    const MOST: usize = 80;
    let text = object.repr().map(|text| text.to_string());
    let text = text.unwrap_or_else(|_| "an object that cannot be shown".to_owned());
    match text.char_indices().nth(MOST) {
        Some((cut, _)) => format!("{}...", &text[..cut]),
        None => text,
    }
}
