//! `sojourn init`.

use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::output::{emit, emit_data};
use clap::Args;
use sojourn_scenario::schema::SCHEMA_NAME;
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_study::starter;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Write a commented study file to start from, and the JSON Schema with which editors complete it.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sojourn init
  sojourn init mine.toml && sojourn study mine.toml")]
pub(crate) struct InitArgs {
    /// File to write, or - for standard output.
    #[arg(default_value = "study.toml")]
    pub(crate) file: PathBuf,
}

impl Execute for InitArgs {
    fn execute(&self, _: Option<&Draw<'_>>) -> Result<(), Failure> {
        init(self)
    }
}

fn init(args: &InitArgs) -> Result<(), Failure> {
    let path = args.file.as_path();
    if path == Path::new("-") {
        return emit_data(starter::study());
    }
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    let free = if path.ends_with("mine.toml") {
        "other.toml"
    } else {
        "mine.toml"
    };
    let mut file = file.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => LabError::new(
            LabErrorKind::Contradiction,
            "this file already exists and is not overwritten",
        )
        .in_file(&path.display().to_string())
        .remedy(format!("name another file, such as sojourn init {free}")),
        _ => LabError::io(path, "write the study", &error),
    })?;
    if let Err(error) = file.write_all(starter::study().as_bytes()) {
        // Half a file is of no use; if it cannot be removed, the first error is the one to tell.
        let _ = fs::remove_file(path);
        return Err(LabError::io(path, "write the study", &error).into());
    }
    let schema = write_schema(path)?;
    let name = path.to_string_lossy();
    let shown = sojourn_report::shell_word(&name);
    emit(&format!(
        "Wrote {}. Run it with: sojourn study {shown}\n{schema}",
        path.display()
    ))
}

/// Writes the schema beside the study, for editors, and says so. A file of that name that is no schema of ours stays as it is.
fn write_schema(study: &Path) -> Result<String, LabError> {
    let path = study.with_file_name(starter::SCHEMA_FILE);
    let text = starter::schema_text();
    let ours = |found: &str| found.contains(SCHEMA_NAME);
    match fs::read_to_string(&path) {
        Ok(found) if found == text || !ours(&found) => return Ok(String::new()),
        _ => {}
    }
    fs::write(&path, text).map_err(|error| LabError::io(&path, "write the schema", &error))?;
    Ok(format!(
        "Wrote {}, with which editors complete and check it.\n",
        path.display()
    ))
}
