//! Writes the tables of a report in the form that a paper takes.

use std::path::{Path, PathBuf};

use crate::error::ReportError;
use crate::latex::latex;
use crate::load::load;
use crate::render::write_whole;

/// The folder that [`write_latex`] writes into.
pub const LATEX_FOLDER: &str = "latex";
/// The file of macros in [`LATEX_FOLDER`].
pub const NUMBERS_FILE: &str = "numbers.tex";
/// The file of all tables as a spreadsheet.
pub const SPREADSHEET_FILE: &str = "tables.xlsx";

/// The files that [`write_latex`] wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenLatex {
    /// `latex/table-<id>.tex` of each table, in the order of the report.
    pub tables: Vec<PathBuf>,
    /// Those that are wider than a column of a paper with two; their heads say how to set them.
    pub wide: Vec<PathBuf>,
    /// [`NUMBERS_FILE`].
    pub numbers: PathBuf,
}

/// Reads `summary.json` in the result directory `dir` and writes each table as LaTeX, and a macro for each of their cells, whose names
/// begin with `prefix`.
///
/// # Errors
///
/// As [`render`](crate::render).
pub fn write_latex(dir: &Path, prefix: &str) -> Result<WrittenLatex, ReportError> {
    let latex = latex(&load(dir)?, prefix);
    let folder = dir.join(LATEX_FOLDER);
    let (mut tables, mut wide) = (Vec::new(), Vec::new());
    for (id, text) in &latex.tables {
        let path = folder.join(format!("table-{id}.tex"));
        write_whole(&path, text)?;
        if latex.wide.contains(id) {
            wide.push(path.clone());
        }
        tables.push(path);
    }
    let numbers = folder.join(NUMBERS_FILE);
    write_whole(&numbers, &latex.numbers)?;
    Ok(WrittenLatex {
        tables,
        wide,
        numbers,
    })
}
