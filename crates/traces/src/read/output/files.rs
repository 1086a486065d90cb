//! The files of an analysis: every table as CSV and Parquet, and the report.

use super::report::summary;
use crate::read::analysis::Analysis;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use sojourn_results::directory::{write_json, write_whole};
use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// Folder of the tables with all their rows; the report's own, which may be cut, are in `tables`.
const FOLDER: &str = "data";

/// Finds out whether the files of an analysis can be written to a directory, before a trace is read that may take long. Nothing is
/// made: the nearest directory that exists is tried with an empty file.
///
/// # Errors
/// When it is no directory, or nothing can be written in it.
pub fn check_place(dir: &Path) -> Result<()> {
    let folder = dir.join(FOLDER);
    let exists = folder.ancestors().find(|path| path.exists());
    // A path of one part lies where the command runs.
    let place = exists.unwrap_or(Path::new("."));
    if !place.is_dir() {
        let error = std::io::ErrorKind::NotADirectory.into();
        return Err(LabError::io(&folder, "make the directory", &error));
    }
    let trial = place.join(format!(".sojourn-{}", std::process::id()));
    fs::File::create(&trial)
        .and_then(|_| fs::remove_file(&trial))
        .map_err(|error| LabError::io(dir, "write in the directory", &error))
}

/// Writes `data/NAME.csv` and `data/NAME.parquet` of every table, `summary.json`, the figures and `report.html`; gives the report.
///
/// # Errors
/// When a file cannot be written; files are whole or absent.
pub fn write(dir: &Path, analysis: &Analysis, command: &str, title: &str) -> Result<PathBuf> {
    let folder = dir.join(FOLDER);
    fs::create_dir_all(&folder)
        .map_err(|error| LabError::io(&folder, "make the directory", &error))?;
    for table in &analysis.tables {
        let path = |suffix: &str| folder.join(format!("{}.{suffix}", table.name));
        write_whole(&path("csv"), table.csv()?.as_bytes())?;
        let batch = table.batch().map_err(|error| bug(&error))?;
        let bytes = parquet(&batch).map_err(|error| bug(&error))?;
        write_whole(&path("parquet"), &bytes)?;
    }
    let summary = summary(analysis, command, title);
    write_json(&dir.join(sojourn_report::SUMMARY_FILE), &summary)?;
    let rendered = sojourn_report::render(dir).map_err(|error| {
        LabError::new(LabErrorKind::Io, error.to_string()).in_file(&dir.display().to_string())
    })?;
    Ok(rendered.report)
}

fn parquet(
    batch: &arrow_array::RecordBatch,
) -> std::result::Result<Vec<u8>, parquet::errors::ParquetError> {
    let properties = WriterProperties::builder()
        .set_created_by(format!("sojourn {}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::UNCOMPRESSED)
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties))?;
    writer.write(batch)?;
    writer.into_inner()
}

fn bug(error: &dyn std::fmt::Display) -> LabError {
    LabError::new(LabErrorKind::Bug, error.to_string())
}
