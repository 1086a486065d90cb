//! Runs on other machines. What drives a cluster is a library of Python, so the package of Python has to be there.

use crate::interrupt;
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_study::study::Dispatch;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};

/// A study whose runs a cluster makes.
pub struct Request {
    /// `local`, or the address of a scheduler, such as `tcp://10.0.0.1:8786`.
    pub address: String,
    /// Number of workers of a cluster that is started here; one per core unless given.
    pub workers: Option<usize>,
    /// The study.
    pub dispatch: Arc<Mutex<Option<Dispatch>>>,
    /// Once true, no run is to be made any more.
    pub stop: &'static AtomicBool,
    /// Says something on standard error.
    pub say: fn(&str),
}

/// Has a cluster make the runs of a study; gives what went wrong.
pub type Drive = dyn Fn(Request) -> Result<(), String> + Send + Sync;

static DRIVE: OnceLock<Box<Drive>> = OnceLock::new();

/// Sets what drives clusters, for the rest of the process.
pub fn set_cluster(drive: Box<Drive>) {
    // A second one is the same.
    let _ = DRIVE.set(drive);
}

/// Has the cluster at `address` make the runs of a study, and gives the study back.
///
/// # Errors
/// When there is nothing that drives a cluster, or the cluster cannot be used. An error of a run is in the study.
pub(crate) fn drive(
    address: &str,
    workers: Option<usize>,
    dispatch: Dispatch,
) -> Result<(Dispatch, Result<(), LabError>), LabError> {
    let Some(drive) = DRIVE.get() else {
        return Err(absent());
    };
    let shared = Arc::new(Mutex::new(Some(dispatch)));
    let driven = drive(Request {
        address: address.to_owned(),
        workers,
        dispatch: Arc::clone(&shared),
        stop: interrupt::flag(),
        say: crate::output::say,
    });
    let mut shared = shared
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let Some(dispatch) = shared.take() else {
        return Err(LabError::new(
            LabErrorKind::Bug,
            "the study was taken by its cluster",
        ));
    };
    let driven = driven.map_err(|problem| LabError::new(LabErrorKind::Io, problem));
    Ok((dispatch, driven))
}

/// Refuses a cluster where nothing drives one.
pub(crate) fn check() -> Result<(), LabError> {
    DRIVE.get().map(drop).ok_or_else(absent)
}

fn absent() -> LabError {
    LabError::new(
        LabErrorKind::Contradiction,
        "this program cannot use Dask: it comes without Python",
    )
    .in_file("--dask")
    .remedy("use the command of the Python package (pip install 'sojourn[dask]'), or --shard I/N and sojourn merge")
}
