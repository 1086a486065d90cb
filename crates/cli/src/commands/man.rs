//! `sojourn man`.

use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::output::{emit, emit_data};
use crate::whole;
use clap::Args;
use sojourn_scenario::LabError;
use std::path::PathBuf;

/// Write the manual pages, for man.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sojourn man | man -l -
  sojourn man ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Directory to write sojourn.1 and a page for each command to. Without it, sojourn.1 goes to standard output.
    pub(crate) dir: Option<PathBuf>,
}

impl Execute for ManArgs {
    fn execute(&self, _: Option<&Draw<'_>>) -> Result<(), Failure> {
        let Some(dir) = &self.dir else {
            let mut page = Vec::new();
            clap_mangen::Man::new(whole::command()).render(&mut page)?;
            return emit_data(&String::from_utf8_lossy(&page));
        };
        std::fs::create_dir_all(dir)
            .map_err(|error| LabError::io(dir, "make the directory", &error))?;
        clap_mangen::generate_to(whole::command(), dir)
            .map_err(|error| LabError::io(dir, "write the manual pages", &error))?;
        emit(&format!("Wrote the manual pages to {}\n", dir.display()))
    }
}
