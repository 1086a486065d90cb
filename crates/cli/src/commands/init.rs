//! `sojourn init`.

use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::output::{emit, emit_data};
use clap::Args;
use sojourn_scenario::schema::SCHEMA_NAME;
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_study::starter::{self, Kit};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Write a commented study file to start from, and the JSON Schema with which editors complete it; or a folder for an algorithm of yours.
///
/// A folder has the algorithm, a comparison with one of Sojourn's, and tests.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sojourn init
  sojourn init mine.toml && sojourn study mine.toml
  sojourn init --queue-python steep
  sojourn init --rust my-algorithms --sojourn ../sojourn")]
pub(crate) struct InitArgs {
    /// File to write, or - for standard output.
    #[arg(default_value = "study.toml")]
    pub(crate) file: PathBuf,
    /// Write a folder with a queue as a class of Python, a study that compares it with CoDel, and tests.
    #[arg(long, value_name = "NAME", group = "kit", conflicts_with = "file")]
    pub(crate) queue_python: Option<String>,
    /// Write a folder with a congestion control as a class of Python, a study that compares it with CUBIC, and tests.
    #[arg(long, value_name = "NAME", group = "kit", conflicts_with = "file")]
    pub(crate) cc_python: Option<String>,
    /// Write a crate with a queue and a congestion control in Rust, a command that has them, and tests.
    #[arg(long, value_name = "NAME", group = "kit", conflicts_with = "file")]
    pub(crate) rust: Option<String>,
    /// Directory of Sojourn's sources, on which the crate of --rust depends.
    #[arg(long, value_name = "DIR", requires = "rust")]
    pub(crate) sojourn: Option<PathBuf>,
}

impl Execute for InitArgs {
    fn execute(&self, _: Option<&Draw<'_>>) -> Result<(), Failure> {
        let kits = [
            (Kit::QueuePython, &self.queue_python),
            (Kit::ControlPython, &self.cc_python),
            (Kit::Rust, &self.rust),
        ];
        let asked = kits
            .into_iter()
            .find_map(|(kit, name)| Some((kit, name.as_ref()?)));
        match asked {
            Some((kit, name)) => begin(kit, name, self.sojourn.as_deref()),
            None => init(self),
        }
    }
}

/// The folder of the crate `sojourn` in a checkout.
fn library(checkout: Option<&Path>) -> Result<String, LabError> {
    let example =
        "add --sojourn DIR with the directory of Sojourn's sources, in which crates/sojourn is";
    let Some(checkout) = checkout else {
        let problem = "a crate needs the sources of Sojourn: no registry has them";
        return Err(LabError::new(LabErrorKind::Contradiction, problem)
            .in_file("--rust")
            .remedy(example));
    };
    let place = format!("--sojourn {}", checkout.display());
    let folder = checkout.join("crates").join("sojourn");
    let found = folder.join("Cargo.toml").is_file();
    match folder.canonicalize() {
        Ok(folder) if found => Ok(folder.display().to_string()),
        _ => Err(LabError::new(
            LabErrorKind::BadValue,
            "there is no crates/sojourn in this directory",
        )
        .in_file(&place)
        .remedy(example)),
    }
}

/// Writes the folder of an algorithm: all of it, or nothing.
fn begin(kit: Kit, name: &str, checkout: Option<&Path>) -> Result<(), Failure> {
    // Names first: a bad one is wrong whatever else is given.
    kit.check(name)?;
    let folder = Path::new(name);
    if folder.symlink_metadata().is_ok() {
        let problem = "this folder already exists, and nothing in it is overwritten";
        return Err(LabError::new(LabErrorKind::Contradiction, problem)
            .in_file(name)
            .remedy(format!(
                "choose another name, such as sojourn init {} {name}_2",
                kit.option()
            ))
            .into());
    }
    let sojourn = match kit {
        Kit::Rust => library(checkout)?,
        Kit::QueuePython | Kit::ControlPython => String::new(),
    };
    let files = kit.files(name, &sojourn)?;
    let failed = |error: std::io::Error| LabError::io(folder, "write the folder", &error);
    // Beside its place, so that a name is all that it gets in the end.
    let made = tempfile::Builder::new()
        .prefix(".sojourn-init-")
        .tempdir_in(".")
        .map_err(failed)?;
    let inside = made.path().join(name);
    for (place, text) in &files {
        let path = inside.join(place);
        let parent = path.parent().unwrap_or(&inside);
        fs::create_dir_all(parent)
            .and_then(|()| fs::write(&path, text))
            .map_err(failed)?;
    }
    fs::rename(&inside, folder).map_err(failed)?;
    let mut text = format!("Wrote the folder {name}:\n");
    for (place, _) in &files {
        text.push_str(&format!("  {place}\n"));
    }
    text.push_str("\nNext:\n");
    for line in kit.next(name)? {
        text.push_str(&format!("  {line}\n"));
    }
    emit(&text)
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
