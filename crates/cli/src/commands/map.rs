//! `sojourn map`.

use super::run::{apply_run_options, apply_sets};
use crate::args::{ForceArgs, Format, MakeArgs, threads};
use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::inputs;
use crate::make::make;
use crate::output::{Text, emit_data};
use crate::progress::watched;
use crate::show::{self, needs};
use clap::{Args, ValueEnum};
use sojourn_results::ResultSet;
use sojourn_results::directory::{is_pipe_or_device, write_whole};
use sojourn_results::overwrite::{has_text, refuse_foreign};
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_study::map::{Axis, Map, Request};
use sojourn_study::named::find;
use sojourn_study::study::Study;
use std::ffi::OsString;
use std::num::NonZero;
use std::path::{Path, PathBuf};

/// Draw where each level of a compared factor wins, over one or two quantities. A map keeps no runs: repeat it to draw it again.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sojourn map study.toml --x rate=1..1000Mbps:log --y rtt=5..300ms:log --out map.svg
  sojourn map study.toml --x rate=1..100Mbps:log --metric goodput_bps_sum --better higher")]
pub(crate) struct MapArgs {
    /// Study file (TOML), or the name of a study. One of its factors has compare = true.
    pub(crate) study: OsString,
    /// Quantity from left to right: rate, rtt, buffer, delay, access_rate, flows, duration or a path; its range; and :log for a logarithmic
    /// scale.
    #[arg(long, value_name = "NAME=LOW..HIGH[:log]")]
    pub(crate) x: String,
    /// Quantity from below. Without it, the crossovers along x are found.
    #[arg(long, value_name = "NAME=LOW..HIGH[:log]")]
    pub(crate) y: Option<String>,
    /// Metric that is compared [default: the first of the experiment's first table, or sojourn_s_p95].
    #[arg(long)]
    pub(crate) metric: Option<String>,
    /// Whether a lower or a higher value wins [default: by the metric; delay and loss lower, goodput and fairness higher].
    #[arg(long, value_enum)]
    pub(crate) better: Option<Better>,
    /// Experiment that is mapped [default: the first that compares something]. Its other factors stay at their first level.
    #[arg(long, value_name = "NAME")]
    pub(crate) experiment: Option<String>,
    /// Cells of the first grid along each axis.
    #[arg(long, value_name = "N", default_value = "4")]
    pub(crate) cells: u32,
    /// How often cells at a border are split into four, or the intervals of a crossover into two [default: 2, or 6 without --y].
    #[arg(long, value_name = "N")]
    pub(crate) depth: Option<u32>,
    /// Set a value in every point, such as run.duration=20s. Repeat it for more values.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) sets: Vec<String>,
    /// Number of replications [default: those of the study].
    #[arg(long, value_name = "N")]
    pub(crate) replications: Option<String>,
    /// Seed of every random stream [default: that of the study].
    #[arg(long)]
    pub(crate) seed: Option<String>,
    /// Write the picture to this file, and its places to the file of the same name that ends with .csv.
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) force: ForceArgs,
    /// Number of parallel runs [default: one per core]. The map does not depend on it.
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<NonZero<usize>>,
    /// Memory limit for the current runs and all results, by an estimate [default: 4GB]. Larger maps are refused.
    #[arg(long, value_name = "SIZE")]
    pub(crate) limit_memory: Option<String>,
    /// Print what the first grid needs, without running anything.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Output format of the map.
    #[arg(long, value_enum, default_value = "table")]
    pub(crate) format: Format,
}

/// Which value wins.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Better {
    /// The lowest.
    Lower,
    /// The highest.
    Higher,
}

/// What only a picture of this command has.
const PICTURE_MARK: &str = "class=\"sojourn-map\"";
/// What the head of its table has.
const TABLE_MARK: &str = ",winner,";

impl Execute for MapArgs {
    fn execute(&self, _: Option<&Draw<'_>>) -> Result<(), Failure> {
        map(self)
    }
}

/// The table next to a picture; none next to a pipe or a device.
fn table_of(picture: &Path) -> Option<PathBuf> {
    (!is_pipe_or_device(picture)).then(|| picture.with_extension("csv"))
}

/// Refuses a name of a picture that is not one of an SVG file, and files of others under that name and next to it.
fn check_out(args: &MapArgs, out: &Path) -> Result<(), LabError> {
    let ends = out.extension().map(std::ffi::OsStr::to_ascii_lowercase);
    if ends.is_none_or(|ends| ends != "svg") && !is_pipe_or_device(out) {
        let problem = "a map is written as SVG, into a file whose name ends with .svg";
        let name = match out.file_stem().and_then(std::ffi::OsStr::to_str) {
            None | Some("-" | "" | ".svg") => "map",
            Some(name) => name,
        };
        return Err(LabError::new(LabErrorKind::BadValue, problem)
            .in_file(&format!("--out {}", out.display()))
            .remedy(format!("write --out {name}.svg")));
    }
    inputs::keep(Path::new(&args.study), "--out", out)?;
    let force = args.force.force;
    refuse_foreign(out, |picture| has_text(picture, PICTURE_MARK), force)?;
    match table_of(out) {
        Some(table) => refuse_foreign(&table, |table| has_text(table, TABLE_MARK), force),
        None => Ok(()),
    }
}

/// How runs are made.
fn made_as(args: &MapArgs) -> MakeArgs {
    MakeArgs {
        threads: args.threads,
        fresh: false,
        limit_memory: args.limit_memory.clone(),
        dry_run: args.dry_run,
        format: args.format,
    }
}

fn map(args: &MapArgs) -> Result<(), Failure> {
    let mut found = find(&args.study)?;
    if let Some(out) = &args.out {
        check_out(args, out)?;
    }
    let y = args.y.as_deref().map(|text| Axis::read("--y", text));
    let depth = if y.is_some() { 2 } else { 6 };
    let request = Request {
        x: Axis::read("--x", &args.x)?,
        y: y.transpose()?,
        metric: args.metric.clone(),
        lower: args.better.map(|better| better == Better::Lower),
        experiment: args.experiment.clone(),
        cells: args.cells,
        depth: args.depth.unwrap_or(depth),
    };
    apply_sets(&mut found.document, &args.sets)?;
    let (replications, seed) = (args.replications.as_deref(), args.seed.as_deref());
    let make = made_as(args);
    apply_run_options(&mut found.document, [replications, seed, None, None], &make)?;
    let study = found.study()?;
    let mut map = Map::of(&study, request)?;
    while let Some(round) = map.next(&study)? {
        if args.dry_run {
            let first = "The first grid; what is refined follows from what it shows.\n";
            return needs(&round.needs()?, args.format, first);
        }
        let results = drawn(&round, &format!("{}, map", found.name), &make)?;
        map.take(&results);
    }
    if let Some(out) = &args.out {
        write_whole(out, map.svg().as_bytes())?;
        if let Some(table) = table_of(out) {
            write_whole(&table, map.csv().as_bytes())?;
        }
    }
    match args.format {
        Format::Csv => {
            emit_data(&map.csv())?;
            show::warnings(Text::default(), map.notes().iter()).emit_beside();
        }
        Format::Json => emit_data(&map.json())?,
        Format::Table => shown(args, &map)?,
    }
    Ok(())
}

/// The map in a terminal, what the auditor warns of, and where the files are.
fn shown(args: &MapArgs, map: &Map) -> Result<(), Failure> {
    let mut text = show::warnings(Text::default().plain(&map.text()), map.notes().iter());
    if let Some(out) = &args.out {
        let table = table_of(out).map(|table| format!(" and {}", table.display()));
        let table = table.unwrap_or_default();
        text = text.plain(&format!("\nWrote {}{table}\n", out.display()));
    }
    text.emit()
}

/// Runs the places of a round. All of them are in memory: an interrupt leaves nothing.
fn drawn(round: &Study, name: &str, make_args: &MakeArgs) -> Result<ResultSet, Failure> {
    let made = make(round, name, None, String::new(), None, make_args, watched);
    let made = made.map_err(|failure| match failure {
        Failure::Lab(error) if error.kind() == LabErrorKind::Interrupted => {
            let again = "a map keeps no runs: repeat the command, with fewer --cells or --depth for a quicker map";
            Failure::Lab(error.remedy(again))
        }
        other => other,
    })?;
    made.results
        .ok_or_else(|| LabError::new(LabErrorKind::Bug, "a map has runs that were not made").into())
}
