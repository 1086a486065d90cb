//! Studies whose runs other processes make: what `sojourn.dask` is made of.

use crate::errors;
use crate::results::{Asked, Results, read_study, warn};
use crate::supervise::supervise;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use sojourn_cli::{Drive, Request};
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_study::study::{Arrival, Dispatch, Options, Task as Work};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A study whose runs are made elsewhere: which, and what becomes of them.
#[pyclass(frozen, module = "sojourn._core")]
pub(crate) struct Plan {
    dispatch: Arc<Mutex<Option<Dispatch>>>,
    /// What the command stops with.
    stop: Option<&'static AtomicBool>,
    say: Option<fn(&str)>,
}

impl Plan {
    /// Does something with the study, with the GIL released.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Dispatch) -> Result<T, LabError> + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| {
            let mut dispatch = self.dispatch.lock().unwrap_or_else(PoisonError::into_inner);
            dispatch.as_mut().map(work)
        });
        match done {
            Some(done) => done.map_err(|error| errors::lab(py, &error)),
            None => Err(PyRuntimeError::new_err("the study has ended")),
        }
    }
}

#[pymethods]
impl Plan {
    /// The name of the study.
    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |dispatch| Ok(dispatch.name().to_owned()))
    }

    /// Runs that one process may make at a time.
    #[getter]
    fn at_a_time(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |dispatch| Ok(dispatch.at_a_time()))
    }

    /// Whether no run is to be made any more: the user stopped the command, or a run failed for a reason of the user's.
    #[getter]
    fn stopped(&self, py: Python<'_>) -> PyResult<bool> {
        let told = self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
        Ok(told || self.with(py, |dispatch| Ok(dispatch.has_failed()))?)
    }

    /// Runs that are there, and runs that are wanted.
    #[getter]
    fn counts(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        self.with(py, |dispatch| {
            let progress = dispatch.progress();
            Ok((progress.done, progress.total))
        })
    }

    /// The runs of this round that are not there: point and replication.
    fn jobs(&self, py: Python<'_>) -> PyResult<Vec<(u64, u64)>> {
        self.with(py, |dispatch| Ok(dispatch.jobs()))
    }

    /// What messages call a point.
    fn point_name(&self, py: Python<'_>, point: u64) -> PyResult<String> {
        self.with(py, |dispatch| dispatch.point_name(point))
    }

    /// All that another process needs to make the runs of a point.
    fn task(&self, py: Python<'_>, point: u64) -> PyResult<String> {
        self.with(py, |dispatch| dispatch.task(point))
    }

    /// Takes note of how many runs are made at a time.
    fn set_threads(&self, py: Python<'_>, threads: usize) -> PyResult<()> {
        self.with(py, |dispatch| {
            dispatch.set_threads(threads);
            Ok(())
        })
    }

    /// Takes the bytes of a run and the seconds that it took: whether it was still wanted.
    fn accept(&self, py: Python<'_>, data: PyBackedBytes, wall_s: f64) -> PyResult<bool> {
        let wall = Duration::try_from_secs_f64(wall_s).unwrap_or_default();
        let arrival = self.with(py, |dispatch| dispatch.accept(&data, wall))?;
        Ok(arrival == Arrival::Taken)
    }

    /// Takes note of a run that failed: by a `bug` of Sojourn, or `lost` with its workers; both leave the other runs. Any other
    /// kind is the user's to put right and ends the study.
    fn fail(
        &self,
        py: Python<'_>,
        point: u64,
        replication: u64,
        message: String,
        kind: &str,
    ) -> PyResult<()> {
        let error = |kind| LabError::new(kind, message);
        let run = (point, replication);
        self.with(py, |dispatch| {
            match kind {
                "bug" => dispatch.fail(run, error(LabErrorKind::Bug)),
                "lost" => dispatch.lose(run, error(LabErrorKind::Io)),
                _ => dispatch.fail(run, error(LabErrorKind::BadValue)),
            }
            Ok(())
        })
    }

    /// Goes on to the next round, once no run of this one is left: whether there is one.
    fn go_on(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, Dispatch::go_on)
    }

    /// Says something to the user, where the command runs.
    fn say(&self, text: &str) {
        if let Some(say) = self.say {
            say(text);
        }
    }

    /// Ends the study: its results.
    fn results(&self, py: Python<'_>) -> PyResult<Results> {
        let ended = py.detach(|| {
            let mut dispatch = self.dispatch.lock().unwrap_or_else(PoisonError::into_inner);
            dispatch.take().map(Dispatch::end)
        });
        let Some(executed) = ended else {
            return Err(PyRuntimeError::new_err("the study has ended"));
        };
        let executed = executed.map_err(|error| errors::lab(py, &error))?;
        for damage in &executed.repaired {
            warn(py, damage)?;
        }
        let failure = executed.failures.into_iter().next();
        match (executed.results, failure) {
            (Some(set), None) => Ok(Results::new(set)),
            (_, Some(failure)) => Err(errors::lab(py, &failure.error)),
            (None, None) => {
                let error = LabError::new(LabErrorKind::Bug, "runs are missing");
                Err(errors::lab(py, &error))
            }
        }
    }
}

/// Plans a study; the arguments are those of `study`.
#[pyfunction]
#[pyo3(signature = (given, overrides, *, only, out, fresh))]
pub(crate) fn plan(
    py: Python<'_>,
    given: OsString,
    overrides: Vec<(String, String, String)>,
    only: Vec<String>,
    out: Option<PathBuf>,
    fresh: bool,
) -> PyResult<Plan> {
    let asked = Asked {
        given,
        overrides,
        only,
    };
    let begin = move |_: &_| {
        let options = Options {
            command: asked.command(),
            fresh,
            ..Options::default()
        };
        let study = read_study(&asked)?;
        Dispatch::begin(study, out.as_deref(), &options, Box::new(|_| ()))
    };
    let dispatch = supervise(py, None, begin)?.map_err(|error| errors::lab(py, &error))?;
    Ok(Plan {
        dispatch: Arc::new(Mutex::new(Some(dispatch))),
        stop: None,
        say: None,
    })
}

/// What drives a cluster for the command: `cluster(plan, address, workers)` of Python.
pub(crate) fn drive(cluster: Py<PyAny>) -> Box<Drive> {
    Box::new(move |request: Request| {
        Python::attach(|py| {
            let plan = Plan {
                dispatch: request.dispatch,
                stop: Some(request.stop),
                say: Some(request.say),
            };
            let driven = cluster.call1(py, (plan, request.address, request.workers));
            driven
                .map(drop)
                .map_err(|error| error.value(py).to_string())
        })
    })
}

/// Ends runs under way, in a process that makes runs for another one.
#[pyclass(frozen, module = "sojourn._core")]
pub(crate) struct Stop {
    stop: Arc<AtomicBool>,
}

#[pymethods]
impl Stop {
    #[new]
    fn new() -> Stop {
        Stop {
            stop: Arc::default(),
        }
    }

    /// Ends them.
    fn set(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// A point of a study, in a process that makes runs for another one.
#[pyclass(frozen, module = "sojourn._core")]
pub(crate) struct Task {
    work: Work,
}

#[pymethods]
impl Task {
    /// Reads what `Plan.task` wrote.
    #[new]
    fn new(py: Python<'_>, text: &str) -> PyResult<Task> {
        let work = py.detach(|| Work::read(text));
        work.map(|work| Task { work })
            .map_err(|error| errors::lab(py, &error))
    }

    /// Makes a run: its bytes. `stop` ends it.
    fn run<'py>(
        &self,
        py: Python<'py>,
        replication: u64,
        stop: &Stop,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let made = py.detach(|| self.work.run(replication, &stop.stop));
        made.map(|bytes| PyBytes::new(py, &bytes))
            .map_err(|error| errors::lab(py, &error))
    }
}
