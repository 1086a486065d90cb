//! Ctrl-C: the first ends a study cleanly, the second at once.

use crate::Failure;
use sojourn_lab::{LabError, LabErrorKind};
use std::sync::atomic::{AtomicBool, Ordering};

static STOP: AtomicBool = AtomicBool::new(false);

/// Exit status of a process that an interrupt ended.
const INTERRUPTED: i32 = 130;

/// The flag that Ctrl-C raises from now on.
pub(crate) fn flag() -> Result<&'static AtomicBool, Failure> {
    STOP.store(false, Ordering::Relaxed);
    let handler = || {
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
