//! What a command does with its arguments.

use crate::failure::Failure;
use std::path::{Path, PathBuf};

/// Draws the figures of a result directory as files: takes the directory and the formats (`svg`, `png`, `pdf`), gives the
/// files, or what went wrong.
pub type Draw<'a> = dyn Fn(&Path, &[&str]) -> Result<Vec<PathBuf>, String> + 'a;

/// A command: its arguments, and what it does with them.
pub(crate) trait Execute {
    /// Does it; `draw` draws image files, where something can.
    fn execute(&self, draw: Option<&Draw<'_>>) -> Result<(), Failure>;
}
