//! Keeps the file that was run with its results.

use sojourn_results::directory::{SOURCE_FILE, write_whole};
use sojourn_scenario::LabError;
use std::path::Path;

/// Writes the text of what ran into the result directory `out`, and below it the command that ran it.
pub(crate) fn keep(out: &Path, text: &str, command: &str) -> Result<(), LabError> {
    let command = command.replace(char::is_control, " ");
    let text = format!("{}\n\n# Run with: {command}\n", text.trim_end());
    write_whole(&out.join(SOURCE_FILE), text.as_bytes())
}
