//! What a report writes for a paper: options of `sojourn report`.

use crate::execute::Draw;
use clap::Args;
use sojourn_report::write_latex;
use sojourn_scenario::{LabError, LabErrorKind};
use std::path::Path;

/// What to write for a paper.
#[derive(Args, Debug)]
pub(crate) struct PaperArgs {
    /// Width of the image files: ieee (3.5in, one column), acm (3.33in, one column), or a length in in, cm, mm or pt. Text is set at 8 pt.
    /// Needs --images.
    #[arg(long, value_name = "WIDTH", value_parser = width, requires = "images")]
    width: Option<Width>,
    /// Also write the tables as LaTeX, and a macro for each number. PREFIX begins the names of the macros.
    #[arg(long, value_name = "PREFIX", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    latex: Option<String>,
    /// Also write all tables into one spreadsheet, tables.xlsx. Needs the Python package.
    #[arg(long)]
    xlsx: bool,
}

impl PaperArgs {
    /// The width of figures, in inches.
    pub(crate) fn inches(&self) -> Option<f64> {
        self.width.as_ref().map(|width| width.0)
    }
}

/// A width in inches.
#[derive(Clone, Debug, PartialEq)]
struct Width(f64);

/// Columns of journals by name, in inches.
const COLUMNS: [(&str, f64); 2] = [("ieee", 3.5), ("acm", 3.33)];
/// Units of length, in inches. A point is that of PDF.
const UNITS: [(&str, f64); 4] = [
    ("in", 1.0),
    ("cm", 1.0 / 2.54),
    ("mm", 1.0 / 25.4),
    ("pt", 1.0 / 72.0),
];
/// Figures are at least as wide as their axes, and at most as wide as a poster.
const WIDTHS: std::ops::RangeInclusive<f64> = 2.0..=40.0;

fn width(text: &str) -> Result<Width, String> {
    const ALLOWED: &str = "write ieee, acm, or a length such as 3.5in, 88mm, 8.8cm or 252pt";
    if let Some((_, inches)) = COLUMNS.iter().find(|(name, _)| *name == text) {
        return Ok(Width(*inches));
    }
    let length = UNITS
        .iter()
        .find_map(|(unit, inches)| Some((text.strip_suffix(unit)?, inches)))
        .and_then(|(number, inches)| Some(number.trim().parse::<f64>().ok()? * inches));
    match length {
        None => Err(ALLOWED.to_owned()),
        Some(inches) if WIDTHS.contains(&inches) => Ok(Width(inches)),
        Some(_) => Err("allowed are 2in to 40in".to_owned()),
    }
}

/// Writes what was asked for, and says where it is, a line each.
pub(crate) fn write(
    args: &PaperArgs,
    dir: &Path,
    draw: Option<&Draw<'_>>,
) -> Result<String, LabError> {
    let failed =
        |error: sojourn_report::ReportError| LabError::new(LabErrorKind::Io, error.to_string());
    let mut text = String::new();
    if let Some(prefix) = &args.latex {
        let written = write_latex(dir, prefix).map_err(failed)?;
        let tables = match written.tables.len() {
            1 => "1 table".to_owned(),
            count => format!("{count} tables"),
        };
        text.push_str(&format!(
            "LaTeX:   {} ({tables})\n",
            written.numbers.display()
        ));
        if !written.wide.is_empty() {
            let names = written.wide.iter().filter_map(|path| path.file_name());
            let names: Vec<_> = names.map(|name| name.to_string_lossy()).collect();
            let names = names.join(", ");
            text.push_str(&format!(
                "         wider than a column, see the head of the file: {names}\n"
            ));
        }
    }
    if let (true, Some(draw)) = (args.xlsx, draw) {
        let files = draw(dir, &["xlsx"], None);
        let files = files.map_err(|text| LabError::new(LabErrorKind::Io, text))?;
        for file in files {
            text.push_str(&format!("XLSX:    {}\n", file.display()));
        }
    }
    Ok(text)
}

/// Refuses what cannot be written, before anything is.
pub(crate) fn check(args: &PaperArgs, draw: Option<&Draw<'_>>) -> Result<(), LabError> {
    if let Some(prefix) = &args.latex {
        check_prefix(prefix)?;
    }
    match args.xlsx && draw.is_none() {
        false => Ok(()),
        true => Err(LabError::new(
            LabErrorKind::BadValue,
            "this binary cannot write spreadsheets",
        )
        .in_file("--xlsx")
        .remedy("use the command of the Python package, or read tables/*.csv of the report")),
    }
}

/// LaTeX allows only letters in the names of macros.
fn check_prefix(prefix: &str) -> Result<(), LabError> {
    match prefix.chars().all(|c| c.is_ascii_alphabetic()) {
        true => Ok(()),
        false => Err(LabError::new(
            LabErrorKind::BadValue,
            format!("{prefix:?} cannot begin the name of a macro"),
        )
        .in_file("--latex")
        .remedy("use letters from a to z, such as --latex=Rrul")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_width_is_a_column_or_a_length() {
        for (text, points) in [
            ("ieee", 252.0),
            ("acm", 239.76),
            ("88.9mm", 252.0),
            ("8.89 cm", 252.0),
            ("252pt", 252.0),
        ] {
            let inches = width(text).unwrap_or(Width(0.0)).0;
            assert!((inches * 72.0 - points).abs() < 1e-9, "{text}: {inches}");
        }
        for text in ["wide", "88", "-3in", "1in", "nanin", "infin", "50in"] {
            width(text).expect_err(text);
        }
    }
}
