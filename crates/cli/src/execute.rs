//! What a command does with its arguments.

use crate::failure::Failure;
use std::path::{Path, PathBuf};

/// Draws the figures of a result directory as files: takes the directory, the formats (`svg`, `png`, `pdf`; `xlsx` for all
/// tables in one file) and the width in inches, if
/// it is not that of the report; gives the files, or what went wrong.
pub type Draw<'a> = dyn Fn(&Path, &[&str], Option<f64>) -> Result<Vec<PathBuf>, String> + 'a;

/// A command: its arguments, and what it does with them.
pub(crate) trait Execute {
    /// Does it; `draw` draws image files, where something can.
    fn execute(&self, draw: Option<&Draw<'_>>) -> Result<(), Failure>;
}
