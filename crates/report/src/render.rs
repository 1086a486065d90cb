//! Writes the files of a report.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::ReportError;
use crate::figure::vega_lite_with;
use crate::html;
use crate::load::load;
use crate::palette::{Palette, Theme};
use crate::play::{PLAY_FILE, Play};
use crate::table::{csv_table, markdown_table};

/// The files that [`render`] wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// `report.html`.
    pub report: PathBuf,
    /// `figures/<id>.vl.json` and `figures/<id>.dark.vl.json` of each figure, in the order of the report.
    pub figures: Vec<PathBuf>,
    /// `tables/<id>.csv` and `tables/<id>.md` of each table, in the order of the report.
    pub tables: Vec<PathBuf>,
}

/// Reads `summary.json` in the result directory `dir`, and `animation.json` if there is one, and writes the report beside them.
///
/// # Errors
///
/// Those of [`load`](crate::load), before anything is written; [`ReportError::Write`] if a file cannot be
/// written. A file is whole or as it was before; `report.html` is written last.
pub fn render(dir: &Path) -> Result<Rendered, ReportError> {
    let summary = load(dir)?;
    let play = load_play(dir)?;
    let palette = Palette::of_summary(&summary);
    let mut figures = Vec::new();
    for figure in summary.figures() {
        for (theme, suffix) in [(Theme::Light, "vl.json"), (Theme::Dark, "dark.vl.json")] {
            let path = dir.join("figures").join(format!("{}.{suffix}", figure.id));
            let spec = vega_lite_with(figure, &palette, theme);
            write_whole(&path, format!("{spec:#}\n"))?;
            figures.push(path);
        }
    }
    let mut tables = Vec::new();
    for table in summary.tables() {
        for (suffix, text) in [("csv", csv_table(table)), ("md", markdown_table(table))] {
            let path = dir.join("tables").join(format!("{}.{suffix}", table.id));
            write_whole(&path, &text)?;
            tables.push(path);
        }
    }
    let report = dir.join("report.html");
    write_whole(&report, html::page(&summary, &palette, play.as_ref()))?;
    Ok(Rendered {
        report,
        figures,
        tables,
    })
}

/// The animation in the result directory, if there is one.
fn load_play(dir: &Path) -> Result<Option<Play>, ReportError> {
    let path = dir.join(PLAY_FILE);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(source) if source.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(ReportError::Read { path, source }),
    };
    let play = serde_json::from_str(&text).map_err(|error| ReportError::Syntax {
        line: error.line(),
        column: error.column(),
        problem: error.to_string(),
        path,
    })?;
    Ok(Some(play))
}

/// Writes beside the target and renames, so that no reader ever sees half a file. The name is that of what `sojourn-results`
/// writes, which removes what a process left that was killed.
pub(crate) fn write_whole(path: &Path, text: impl AsRef<[u8]>) -> Result<(), ReportError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let partial = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
    let written = path
        .parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::write(&partial, text))
        .and_then(|()| fs::rename(&partial, path));
    written.map_err(|source| {
        // What is half written is of no use; if it cannot be removed either, the first error is the one to tell.
        let _ = fs::remove_file(&partial);
        ReportError::Write {
            path: path.to_path_buf(),
            source,
        }
    })
}
