//! Long work beside the interpreter: it runs with the GIL released, progress is told, and Ctrl-C stops it.

use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// How often the interpreter is asked for a signal.
const PATIENCE: Duration = Duration::from_millis(50);

/// What the work may do while it runs.
pub(crate) struct Control<'a> {
    /// True once it should stop.
    pub(crate) cancel: &'a AtomicBool,
    told: Sender<(u64, u64)>,
}

impl Control<'_> {
    /// Tells that `done` of `total` runs are finished.
    pub(crate) fn progress(&self, done: u64, total: u64) {
        // Nobody listens any more only when the work is being stopped.
        let _ = self.told.send((done, total));
    }
}

/// Runs `work` on a thread of its own. `progress(done, total)` is called on this one, as are handlers of signals; what
/// they raise stops the work and is raised here.
///
/// # Errors
/// What a handler of a signal or `progress` raised.
///
/// # Panics
/// If the work does.
pub(crate) fn supervise<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Control<'_>) -> T + Send,
) -> PyResult<T> {
    let cancel = AtomicBool::new(false);
    let (told, news) = channel();
    let control = Control {
        cancel: &cancel,
        told,
    };
    thread::scope(|scope| {
        // The sender goes with the work, so that its end is the end of the news.
        let worker = scope.spawn(move || {
            let control = control;
            work(&control)
        });
        let mut raised = None;
        loop {
            let heard = py.detach(|| news.recv_timeout(PATIENCE));
            if heard == Err(RecvTimeoutError::Disconnected) {
                break;
            }
            if raised.is_some() {
                continue;
            }
            let attended = py.check_signals().and_then(|()| match (progress, heard) {
                (Some(progress), Ok(counts)) => progress.call1(counts).map(drop),
                _ => Ok(()),
            });
            if let Err(error) = attended {
                cancel.store(true, Ordering::Relaxed);
                raised = Some(error);
            }
        }
        let result = py.detach(|| worker.join());
        match (raised, result) {
            (_, Err(panic)) => std::panic::resume_unwind(panic),
            (Some(error), Ok(_)) => Err(error),
            (None, Ok(value)) => Ok(value),
        }
    })
}
