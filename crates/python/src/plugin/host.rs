//! Where the runs of classes of Python are made, and how they are stopped.
//!
//! One interpreter is one core. The first of several runs at a time is made here, in a thread that is attached to the
//! interpreter for the whole run; the others are made by other processes. What runs where does not show in results.

use super::class::codes;
use super::loader::{all_importable, named_in};
use super::workers;
use pyo3::prelude::*;
use sojourn_results::outcome::RunOutcome;
use sojourn_run::host::{Host, set_host};
use sojourn_run::run::Watch;
use sojourn_scenario::{LabError, Resolved};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// Held by the run that this process makes.
static SEAT: Mutex<()> = Mutex::new(());

/// The threads that make runs here, as Python numbers them.
static THREADS: Mutex<Vec<u64>> = Mutex::new(Vec::new());

fn threads() -> MutexGuard<'static, Vec<u64>> {
    THREADS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes this process the host of its classes.
pub(crate) fn set() {
    set_host(Box::new(Interpreter));
}

struct Interpreter;

impl Host for Interpreter {
    fn hosts(&self, scenario: &Resolved) -> bool {
        !named_in(scenario).is_empty()
    }

    fn code(&self, scenario: &Resolved) -> Vec<(String, String)> {
        codes(&named_in(scenario))
    }

    fn run(
        &self,
        (scenario, replication): (&Resolved, u64),
        watch: Watch<'_>,
        here: &mut dyn FnMut() -> Result<RunOutcome, LabError>,
    ) -> Result<RunOutcome, LabError> {
        let seat = match SEAT.try_lock() {
            Ok(seat) => Some(seat),
            Err(TryLockError::Poisoned(seat)) => Some(seat.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        };
        let classes = named_in(scenario);
        let _seat = match seat {
            Some(seat) => seat,
            None if all_importable(&classes) => {
                return workers::make((scenario, replication), &classes, watch.stop);
            }
            // Only this process has the class.
            None => SEAT.lock().unwrap_or_else(PoisonError::into_inner),
        };
        here()
    }

    fn around(&self, work: &mut dyn FnMut()) {
        Python::attach(|py| {
            let own = thread_number(py);
            let _noted = own.map(Noted::new);
            work();
        });
    }

    fn breathe(&self) {
        // Whoever waits for the interpreter gets it now: the main thread, which looks for signals.
        Python::attach(|py| py.detach(|| ()));
    }
}

/// A thread that makes a run, until it is dropped.
struct Noted(u64);

impl Noted {
    fn new(thread: u64) -> Noted {
        threads().push(thread);
        Noted(thread)
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        let mut threads = threads();
        if let Some(at) = threads.iter().position(|own| *own == self.0) {
            threads.swap_remove(at);
        }
    }
}

fn thread_number(py: Python<'_>) -> Option<u64> {
    let threading = py.import("threading").ok()?;
    threading.call_method0("get_ident").ok()?.extract().ok()
}

/// Has the classes that run here raise `KeyboardInterrupt`, wherever they are.
pub(crate) fn interrupt(py: Python<'_>) {
    let running = threads().clone();
    if running.is_empty() {
        return;
    }
    // Where that is not possible, the run goes on in the background.
    let _ = py
        .import("sojourn.plugin")
        .and_then(|plugin| plugin.call_method1("_interrupt", (running,)));
}
