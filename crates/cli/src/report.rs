//! `sojourn report`.

use std::path::{Path, PathBuf};

use sojourn_results::ResultSet;
use sojourn_results::directory::hold_for_report;
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_study::summary::write_summary;

use crate::args::{Format, ReportArgs};
use crate::failure::Failure;
use crate::output::emit;
use crate::show;

/// Draws the figures of a result directory as files: takes the directory and the formats (`svg`, `png`, `pdf`), gives the
/// files, or what went wrong.
pub type Draw<'a> = dyn Fn(&Path, &[&str]) -> Result<Vec<PathBuf>, String> + 'a;

pub(crate) fn report(args: &ReportArgs, draw: Option<&Draw<'_>>) -> Result<(), Failure> {
    let mut formats = Vec::new();
    for format in args.images.iter().map(|format| format.name()) {
        if !formats.contains(&format) {
            formats.push(format);
        }
    }
    let draw = match (formats.is_empty(), draw) {
        (true, _) => None,
        (false, Some(draw)) => Some(draw),
        (false, None) => {
            return Err(LabError::new(
                LabErrorKind::BadValue,
                "this binary cannot draw image files",
            )
            .in_file(&format!("--images {}", formats.join(",")))
            .remedy("the command of the Python package can: pip install . in the source of Sojourn, then run its sojourn")
            .into());
        }
    };
    let results = ResultSet::load(&args.dir)?;
    let _hold = hold_for_report(&args.dir)?;
    write_summary(&args.dir)?;
    let rendered = sojourn_report::render(&args.dir)
        .map_err(|error| LabError::new(LabErrorKind::Io, error.to_string()))?;
    let images = match draw {
        Some(draw) => {
            draw(&args.dir, &formats).map_err(|text| LabError::new(LabErrorKind::Io, text))?
        }
        None => Vec::new(),
    };
    show::results(&results, args.format)?;
    if args.format != Format::Table {
        return Ok(());
    }
    let mut text = format!("\nReport:  {}\n", rendered.report.display());
    if let Some(folder) = rendered.figures.first().and_then(|figure| figure.parent()) {
        let drawn = match images.len() {
            0 => String::new(),
            count => format!(", {count} images"),
        };
        text.push_str(&format!(
            "Figures: {} (Vega-Lite{drawn})\n",
            folder.display()
        ));
    }
    if let Some(folder) = rendered.tables.first().and_then(|table| table.parent()) {
        text.push_str(&format!("Tables:  {} (CSV, Markdown)\n", folder.display()));
    }
    emit(&text)
}
