//! Ctrl-C: the first ends a study cleanly, the second at once.

use crate::Failure;
use sojourn_lab::{LabError, LabErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

static STOP: AtomicBool = AtomicBool::new(false);

/// Exit status of a process that an interrupt ended.
const INTERRUPTED: i32 = 130;

/// A file that is being written, and is of no use in part.
static PARTIAL: Mutex<Option<PathBuf>> = Mutex::new(None);

fn partial() -> MutexGuard<'static, Option<PathBuf>> {
    PARTIAL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has Ctrl-C remove this file and end the process at once, until [`keep`].
pub(crate) fn remove(path: &Path) -> Result<(), Failure> {
    flag()?;
    *partial() = Some(path.to_owned());
    Ok(())
}

/// The file is whole, or gone.
pub(crate) fn keep() {
    *partial() = None;
}

/// The flag that Ctrl-C raises from now on.
pub(crate) fn flag() -> Result<&'static AtomicBool, Failure> {
    STOP.store(false, Ordering::Relaxed);
    let handler = || {
        if let Some(path) = partial().take() {
            // If it cannot be removed, there is nobody left to tell but this.
            match std::fs::remove_file(&path) {
                Ok(()) => eprintln!("sojourn: stopped; the trace is not written"),
                Err(error) => eprintln!("sojourn: stopped; {} is left: {error}", path.display()),
            }
            std::process::exit(INTERRUPTED);
        }
        if STOP.swap(true, Ordering::Relaxed) {
            // Files are written under temporary names and renamed, so nothing half-written is left under its own.
            std::process::exit(INTERRUPTED);
        }
        eprintln!("sojourn: stopping after the runs under way; once more stops at once");
    };
    match ctrlc::set_handler(handler) {
        // A process that calls the command twice has its handler already.
        Ok(()) | Err(ctrlc::Error::MultipleHandlers) => Ok(&STOP),
        Err(error) => Err(LabError::new(
            LabErrorKind::Io,
            format!("cannot listen for interrupts: {error}"),
        )
        .into()),
    }
}
