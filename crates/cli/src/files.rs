//! `sojourn init`, `sojourn schema` and `sojourn docs`: files that follow from the declarations of all parameters.

use crate::args::{DocsArgs, InitArgs, SchemaArgs, SchemaWhat};
use crate::docs::{figures, pages};
use crate::failure::Failure;
use crate::output::{emit, emit_data};
use sojourn_scenario::schema::schema as schema_of;
use sojourn_scenario::{LabError, LabErrorKind, schema};
use sojourn_study::{starter, study};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

pub(crate) fn init(args: &InitArgs) -> Result<(), Failure> {
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
            "there is such a file, and it stays as it is",
        )
        .in_file(&path.display().to_string())
        .remedy(format!("name another, such as sojourn init {free}")),
        _ => LabError::io(path, "write the study", &error),
    })?;
    if let Err(error) = file.write_all(starter::study().as_bytes()) {
        // Half a file is of no use; if it cannot be removed, the first error is the one to tell.
        let _ = fs::remove_file(path);
        return Err(LabError::io(path, "write the study", &error).into());
    }
    let name = path.to_string_lossy();
    let shown = sojourn_report::shell_word(&name);
    emit(&format!(
        "Wrote {}. Run it with: sojourn study {shown}\n",
        path.display()
    ))
}

pub(crate) fn schema(args: &SchemaArgs) -> Result<(), Failure> {
    let sections = match args.what {
        SchemaWhat::Scenario => Vec::new(),
        SchemaWhat::Study => schema::study_sections(&study::tables()),
    };
    emit_data(&format!("{:#}\n", schema_of(&sections)))
}

pub(crate) fn docs(args: &DocsArgs) -> Result<(), Failure> {
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
