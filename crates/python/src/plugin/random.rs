//! The random stream of a queue or connection, as a class sees it.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sojourn_sim::Stream;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A random stream. `random()` is uniform in [0, 1).
#[pyclass(frozen, module = "sojourn.plugin")]
pub(crate) struct Random {
    stream: Mutex<Stream>,
}

impl Random {
    /// One that draws from `stream`.
    pub(super) fn new(stream: Stream) -> Random {
        Random {
            stream: Mutex::new(stream),
        }
    }

    /// One without draws of its own: it is lent a stream for each call.
    pub(super) fn lent() -> Random {
        Random::new(Stream::derive(0, 0, "plugin"))
    }

    /// Exchanges its stream for another one.
    pub(super) fn swap(&self, stream: &mut Stream) {
        std::mem::swap(&mut *self.stream(), stream);
    }

    fn stream(&self) -> MutexGuard<'_, Stream> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Random {
    /// Uniform in [0, 1).
    fn __call__(&self) -> f64 {
        self.stream().uniform()
    }

    /// A whole number from 0 to n - 1, each as likely.
    fn below(&self, n: u64) -> PyResult<u64> {
        match n {
            0 => Err(PyValueError::new_err("below: a number above 0 is wanted")),
            _ => Ok(self.stream().below(n)),
        }
    }

    /// Exponential, with this mean.
    fn exponential(&self, mean: f64) -> f64 {
        self.stream().exponential(mean)
    }

    /// Standard normal: mean 0, standard deviation 1.
    fn normal(&self) -> f64 {
        self.stream().normal()
    }
}
