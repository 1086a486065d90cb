//! `sojourn bundle`.

use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::output::emit;
use clap::Args;
use sojourn_report::shell_word;
use sojourn_results::directory::hold_for_report;
use sojourn_results::overwrite::refuse_foreign;
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_study::bundle::{Bundling, SUFFIX, bundle as put};
use sojourn_study::summary::write_summary;
use std::path::{Path, PathBuf};

/// Put results into one archive that others can check: what ran, seeds, checksums, tables, figures and report.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sojourn bundle results/rrul
  sojourn bundle results/rrul --out artifact.tar.gz --with-runs
  sojourn rerun artifact.tar.gz")]
pub(crate) struct BundleArgs {
    /// Result directory.
    pub(crate) dir: PathBuf,
    /// Archive to write [default: the name of the directory with .tar.gz].
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Also put the Parquet tables of every run into it. Without them, a rerun compares checksums.
    #[arg(long)]
    pub(crate) with_runs: bool,
    /// Replace a file of that name.
    #[arg(long)]
    pub(crate) force: bool,
}

impl Execute for BundleArgs {
    fn execute(&self, _: Option<&Draw<'_>>) -> Result<(), Failure> {
        bundle(self)
    }
}

fn bundle(args: &BundleArgs) -> Result<(), Failure> {
    let out = match &args.out {
        Some(out) => out.clone(),
        None => default_out(&args.dir)?,
    };
    let options = Bundling {
        force: args.force,
        results: args.with_runs,
    };
    // Before the report is written, which the directory may not have yet.
    refuse_foreign(&out, |_| false, args.force)?;
    sojourn_results::ResultDir::open(&args.dir)?;
    let _hold = hold_for_report(&args.dir)?;
    write_summary(&args.dir)?;
    sojourn_report::render(&args.dir)
        .map_err(|error| LabError::new(LabErrorKind::Io, error.to_string()))?;
    let made = put(&args.dir, &out, options)?;
    let name = out.to_string_lossy();
    let info = &made.info;
    emit(&format!(
        "Bundle: {name} ({} files, {}; {} runs, {} tables)\nCheck:  sojourn rerun {}\n",
        made.files,
        sojourn_units::Bytes::new(made.bytes),
        info.runs,
        info.tables,
        shell_word(&name)
    ))
}

/// An archive in the directory where the command runs, called as the result directory is.
fn default_out(dir: &Path) -> Result<PathBuf, LabError> {
    let whole = dir
        .canonicalize()
        .map_err(|error| LabError::io(dir, "find the directory", &error))?;
    let name = whole.file_name().unwrap_or_else(|| "results".as_ref());
    let mut name = name.to_owned();
    name.push(".");
    name.push(SUFFIX);
    Ok(PathBuf::from(name))
}
