//! What a command reads must not be what it writes.

use std::path::Path;

use sojourn_results::overwrite::is_same_file;
use sojourn_scenario::{LabError, LabErrorKind};

/// Refuses a file to be written that is the one that the command reads; `option` is how it was given.
///
/// # Errors
/// When both are the same file.
pub(crate) fn keep(input: &Path, option: &str, out: &Path) -> Result<(), LabError> {
    if !is_same_file(input, out) || !input.is_file() {
        return Ok(());
    }
    Err(LabError::new(
        LabErrorKind::Contradiction,
        "this is the file that the command reads, and it would be overwritten",
    )
    .in_file(&format!("{option} {}", out.display()))
    .remedy("name another file"))
}
