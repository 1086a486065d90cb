//! `sojourn reference-pages`, for those who work on Sojourn: `make generate` calls it.

use crate::docs::{figures, pages};
use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use clap::Args;
use sojourn_scenario::LabError;
use std::fs;
use std::path::PathBuf;

/// Write the reference pages, generated from the declarations of all parameters.
#[derive(Args, Debug)]
pub(crate) struct ReferenceArgs {
    /// Directory to write to: docs, in the source of Sojourn.
    pub(crate) dir: PathBuf,
}

impl Execute for ReferenceArgs {
    fn execute(&self, _: Option<&Draw<'_>>) -> Result<(), Failure> {
        write(self)
    }
}

fn write(args: &ReferenceArgs) -> Result<(), Failure> {
    for (name, text) in pages().into_iter().chain(figures()?) {
        let path = args.dir.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)
                .map_err(|error| LabError::io(folder, "make the directory", &error))?;
        }
        fs::write(&path, text).map_err(|error| LabError::io(&path, "write the page", &error))?;
    }
    Ok(())
}
