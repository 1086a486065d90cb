//! Long work beside the interpreter: it runs with the GIL released, progress is reported, and Ctrl-C stops it.

use crate::{errors, plugin};
use pyo3::prelude::*;
use sojourn_scenario::LabError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// How often the interpreter is asked for a signal.
const PATIENCE: Duration = Duration::from_millis(50);

/// How many of these rounds the work has to stop before it is left alone: less than a second.
const LAST_ROUNDS: u32 = 15;

/// After how many of these rounds classes of Python are interrupted again, which may have caught the exception.
const ASK_AGAIN: u32 = 4;

/// What the work may do while it runs.
pub(crate) struct Control {
    /// True once it should stop.
    pub(crate) cancel: Arc<AtomicBool>,
    told: Sender<(u64, u64)>,
}

impl Control {
    /// Tells that `done` of `total` runs are finished.
    pub(crate) fn progress(&self, done: u64, total: u64) {
        // Nobody listens any more only when the work is being stopped.
        let _ = self.told.send((done, total));
    }
}

/// Runs `work` on a thread of its own. `progress(done, total)` is called on this one, as are handlers of signals; what
/// they raise stops the work and is raised here. Runs stop at once; work that does not, such as reading a file that blocks, ends in
/// the background.
///
/// # Errors
/// What a handler of a signal or `progress` raised, and what a class of Python made impossible where nothing else can fail.
///
/// # Panics
/// If the work does.
pub(crate) fn supervise<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Control) -> T + Send + 'static,
) -> PyResult<T> {
    let cancel = Arc::new(AtomicBool::new(false));
    let (told, mut news) = channel();
    let control = Control {
        cancel: Arc::clone(&cancel),
        told,
    };
    // The sender ends with the work, so that its end is the end of the news.
    let worker = thread::spawn(move || {
        let control = control;
        work(&control)
    });
    let mut stopping: Option<(PyErr, u32)> = None;
    loop {
        let news = &mut news;
        let heard = py.detach(move || news.recv_timeout(PATIENCE));
        if heard == Err(RecvTimeoutError::Disconnected) {
            break;
        }
        if let Some((_, rounds)) = &mut stopping {
            // A class of Python that runs on: its loop ends by an exception.
            if *rounds % ASK_AGAIN == 0 {
                plugin::interrupt(py);
            }
            *rounds += 1;
            if *rounds >= LAST_ROUNDS {
                break;
            }
            continue;
        }
        let attended = py.check_signals().and_then(|()| match (progress, heard) {
            (Some(progress), Ok(counts)) => progress.call1(counts).map(drop),
            _ => Ok(()),
        });
        if let Err(error) = attended {
            cancel.store(true, Ordering::Relaxed);
            stopping = Some((error, 0));
        }
    }
    if let Some((error, _)) = stopping {
        return Err(error);
    }
    match py.detach(|| worker.join()) {
        Ok(value) => Ok(value),
        // A class of Python ends what cannot fail by unwinding with an error of the user's.
        Err(panic) => match panic.downcast::<LabError>() {
            Ok(error) => Err(errors::lab(py, &error)),
            Err(panic) => std::panic::resume_unwind(panic),
        },
    }
}
