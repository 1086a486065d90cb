//! `sojourn report`.

use std::path::PathBuf;

use sojourn_results::ResultSet;
use sojourn_results::directory::hold_for_report;
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_study::summary::write_summary;

use crate::args::Format;
use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::output::emit;
use crate::paper::{self, PaperArgs};
use crate::show;
use clap::{Args, ValueEnum};

/// Write a report of a result directory: tables, figures and one HTML file.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sojourn report results/rrul
  sojourn report results/rrul --images svg,png
  sojourn report results/rrul --latex --xlsx --images pdf --width ieee
  sojourn report results/rrul --format csv > rrul.csv")]
pub(crate) struct ReportArgs {
    /// Result directory.
    pub(crate) dir: PathBuf,
    /// Also write the figures as image files: svg, png, pdf, separated by commas. Needs the Python package.
    #[arg(long, value_name = "FORMATS", value_delimiter = ',')]
    pub(crate) images: Vec<ImageFormat>,
    #[command(flatten)]
    pub(crate) paper: PaperArgs,
    /// Output format of the tables.
    #[arg(long, value_enum, default_value = "table")]
    pub(crate) format: Format,
}

/// What figures can be drawn as.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ImageFormat {
    /// Scalable Vector Graphics.
    Svg,
    /// Portable Network Graphics.
    Png,
    /// Portable Document Format.
    Pdf,
}

impl ImageFormat {
    /// The name, which is also the suffix of files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            ImageFormat::Svg => "svg",
            ImageFormat::Png => "png",
            ImageFormat::Pdf => "pdf",
        }
    }
}

impl Execute for ReportArgs {
    fn execute(&self, draw: Option<&Draw<'_>>) -> Result<(), Failure> {
        report(self, draw)
    }
}

fn report(args: &ReportArgs, draw: Option<&Draw<'_>>) -> Result<(), Failure> {
    paper::check(&args.paper, draw)?;
    let spreadsheet = draw;
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
            .remedy("use the command of the Python package: run pip install . in Sojourn's source, then its sojourn")
            .into());
        }
    };
    let results = ResultSet::load(&args.dir)?;
    let _hold = hold_for_report(&args.dir)?;
    write_summary(&args.dir)?;
    let rendered = sojourn_report::render(&args.dir)
        .map_err(|error| LabError::new(LabErrorKind::Io, error.to_string()))?;
    let images = match draw {
        Some(draw) => draw(&args.dir, &formats, args.paper.inches())
            .map_err(|text| LabError::new(LabErrorKind::Io, text))?,
        None => Vec::new(),
    };
    let written = paper::write(&args.paper, &args.dir, spreadsheet)?;
    show::results(&results, args.format, None)?;
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
    text.push_str(&written);
    emit(&text)
}
