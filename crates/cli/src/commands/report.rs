//! `sojourn report`.

use std::path::{Path, PathBuf};

use sojourn_report::play::PLAY_FILE;
use sojourn_results::ResultSet;
use sojourn_results::directory::{MANIFEST_FILE, hold_for_report, write_json, write_whole};
use sojourn_results::overwrite::refuse_foreign_report;
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_study::summary::{SUMMARY_FILE, overlay, write_summary};
use sojourn_traces::play::{self, USUAL_SPAN, Window};
use sojourn_units::{Span, Time};

use crate::args::{ForceArgs, Format};
use crate::command::Words;
use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::labels::labels;
use crate::output::{self, Text, emit, emit_data, paragraph};
use crate::paper::{self, PaperArgs};
use crate::show;
use clap::{Args, ValueEnum};

/// Write a report of a result directory: tables, figures and one HTML file. Lay several directories of one study over each other. A
/// directory with a nam trace gets an animation, too.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sojourn report results/rrul
  sojourn report results/rrul results/rrul-2 --out both
  sojourn report results/rrul --images svg,png
  sojourn report results/rrul --latex --xlsx --images pdf --width ieee
  sojourn report results/rrul --format csv > rrul.csv")]
pub(crate) struct ReportArgs {
    /// Result directory. Name several of the same study to compare them in one report.
    #[arg(required = true, value_name = "DIR")]
    pub(crate) dirs: Vec<PathBuf>,
    /// Directory of the report of several directories [default: both names, beside the first].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Also write the figures as image files: svg, png, pdf, separated by commas. Needs the Python package.
    #[arg(long, value_name = "FORMATS", value_delimiter = ',')]
    pub(crate) images: Vec<ImageFormat>,
    #[command(flatten)]
    pub(crate) paper: PaperArgs,
    #[command(flatten)]
    pub(crate) force: ForceArgs,
    /// Print the tables, too, in this format. Without it, only the files that were written are named.
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
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
    let files = Files {
        draw,
        formats: &formats,
        paper: &args.paper,
        spreadsheet,
        force: args.force.force,
    };
    match (args.dirs.as_slice(), &args.out) {
        ([dir], None) => of_one(dir, args.format, &files),
        ([_], Some(_)) => Err(LabError::new(
            LabErrorKind::Contradiction,
            "--out is for a report of several directories: that of one stands in it",
        )
        .remedy("leave out --out, or name another directory")
        .into()),
        (dirs, out) => of_several(dirs, out.as_deref(), args.format, &files),
    }
}

/// What is written beside a report.
struct Files<'a> {
    /// Draws the image files, if any are wanted.
    draw: Option<&'a Draw<'a>>,
    formats: &'a [&'a str],
    paper: &'a PaperArgs,
    spreadsheet: Option<&'a Draw<'a>>,
    /// Files of others are replaced.
    force: bool,
}

/// The report of one directory stands in it.
fn of_one(dir: &Path, format: Option<Format>, files: &Files<'_>) -> Result<(), Failure> {
    let results = ResultSet::load(dir)?;
    let _hold = hold_for_report(dir)?;
    write_summary(dir)?;
    animate(dir, &results)?;
    let written = files.write(dir)?;
    let Some(format) = format else {
        return emit(written.trim_start());
    };
    show::results(&results, format, None)?;
    match format {
        Format::Table => emit(&written),
        Format::Csv | Format::Json => Ok(()),
    }
}

/// Prepares the animation of the report where the directory has a nam trace: from the end of the warm-up on.
fn animate(dir: &Path, results: &ResultSet) -> Result<(), LabError> {
    let refused = |error: std::io::Error| LabError::io(dir, "read the directory", &error);
    let mut traces = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(refused)? {
        let path = entry.map_err(refused)?.path();
        if path.extension().is_some_and(|suffix| suffix == "nam") {
            traces.push(path);
        }
    }
    traces.sort();
    let target = dir.join(PLAY_FILE);
    let Some(trace) = traces.first() else {
        // An animation whose trace is gone.
        return remove(&target);
    };
    let warmup = match results.manifest.points.first() {
        Some(point) => point.scenario()?.run.warmup(),
        None => Span::default(),
    };
    let window = Window {
        from: Some(Time::ZERO + warmup),
        span: USUAL_SPAN,
    };
    let play = match play::read(trace, window) {
        Ok(play) => play,
        Err(error) => {
            output::warn(&format!("the report has no animation: {error}"));
            return remove(&target);
        }
    };
    let text = serde_json::to_string(&play)
        .map_err(|error| LabError::new(LabErrorKind::Bug, error.to_string()))?;
    write_whole(&target, text.as_bytes())
}

/// Removes an animation, if there is one.
fn remove(file: &Path) -> Result<(), LabError> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(LabError::io(file, "remove the file", &error))
        }
        _ => Ok(()),
    }
}

/// The report of several directories has one of its own.
fn of_several(
    dirs: &[PathBuf],
    out: Option<&Path>,
    format: Option<Format>,
    files: &Files<'_>,
) -> Result<(), Failure> {
    let labels = labels(dirs)?;
    let out = match out {
        Some(out) => out.to_path_buf(),
        None => {
            let joined = labels.join("-and-").replace(['/', '\\'], "-");
            dirs[0].with_file_name(joined)
        }
    };
    if out.join(MANIFEST_FILE).exists() {
        return Err(LabError::new(
            LabErrorKind::ForeignResults,
            "this directory has results of its own",
        )
        .in_file(&out.display().to_string())
        .remedy("name another one with --out")
        .into());
    }
    refuse_foreign_report(&out, files.force)?;
    let loaded: Result<Vec<(String, ResultSet)>, LabError> = labels
        .into_iter()
        .zip(dirs)
        .map(|(label, dir)| Ok((label, ResultSet::load(dir)?)))
        .collect();
    let mut command = Words::new("report");
    for dir in dirs {
        command = command.path(dir);
    }
    let command = command.option_path("--out", Some(&out)).text();
    let overlaid = overlay(&loaded?, &command)?;
    std::fs::create_dir_all(&out).map_err(|error| {
        LabError::new(LabErrorKind::Io, error.to_string()).in_file(&out.display().to_string())
    })?;
    write_json(&out.join(SUMMARY_FILE), &overlaid.summary)?;
    let written = files.write(&out)?;
    if let Some((format, data)) = format.and_then(|format| {
        let data = show::data(&overlaid.comparison, format)?;
        Some((format, data))
    }) {
        emit_data(&data)?;
        show::notes_beside(&overlaid.comparison, format);
        return Ok(());
    }
    let mut text = Text::default();
    for difference in &overlaid.summary.differences {
        text = text.plain(&paragraph(&format!("differs: {difference}"), "  "));
    }
    if !overlaid.summary.differences.is_empty() {
        text = text.plain("\n");
    }
    text.emit()?;
    match format {
        None => emit(written.trim_start()),
        Some(_) => show::whole(&overlaid.comparison).plain(&written).emit(),
    }
}

impl Files<'_> {
    /// Writes the files of a report beside its summary, and says where they are.
    fn write(&self, dir: &Path) -> Result<String, Failure> {
        let rendered = sojourn_report::render(dir)
            .map_err(|error| LabError::new(LabErrorKind::Io, error.to_string()))?;
        let images = match self.draw {
            Some(draw) => draw(dir, self.formats, self.paper.inches())
                .map_err(|text| LabError::new(LabErrorKind::Io, text))?,
            None => Vec::new(),
        };
        let written = paper::write(self.paper, dir, self.spreadsheet)?;
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
        Ok(text)
    }
}
