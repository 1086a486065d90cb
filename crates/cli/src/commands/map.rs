//! `sojourn map`.

use super::run::{apply_run_options, apply_sets};
use crate::args::{ForceArgs, Format, MakeArgs};
use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::inputs;
use crate::make::make;
use crate::output::{emit, emit_data};
use crate::progress::watched;
use clap::{Args, ValueEnum};
use sojourn_results::directory::{is_pipe_or_device, write_whole};
use sojourn_results::overwrite::{has_text, refuse_foreign};
use sojourn_study::map::{Axis, Map, Request};
use sojourn_study::named::find;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Draw where each level of a compared factor wins, over one or two quantities.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sojourn map study.toml --x rate=1..1000Mbps:log --y rtt=5..300ms:log --out map.svg
  sojourn map study.toml --x rate=1..100Mbps:log --metric goodput_bps_sum --better higher")]
pub(crate) struct MapArgs {
    /// Study file (TOML), or the name of a study. One of its factors has compare = true.
    pub(crate) study: OsString,
    /// Quantity from left to right: rate, rtt, buffer, delay, flows or a path, its range, and :log for a logarithmic scale.
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
    #[command(flatten)]
    pub(crate) make: MakeArgs,
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

fn map(args: &MapArgs) -> Result<(), Failure> {
    let mut found = find(&args.study)?;
    if let Some(out) = &args.out {
        inputs::keep(Path::new(&args.study), "--out", out)?;
        let force = args.force.force;
        refuse_foreign(out, |picture| has_text(picture, PICTURE_MARK), force)?;
        if let Some(table) = table_of(out) {
            refuse_foreign(&table, |table| has_text(table, TABLE_MARK), force)?;
        }
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
    apply_run_options(
        &mut found.document,
        [replications, seed, None, None],
        &args.make,
    )?;
    let study = found.study()?;
    let mut map = Map::of(&study, request)?;
    while let Some(round) = map.next(&study)? {
        if args.make.dry_run {
            let first = "The first grid; what is refined follows from what it shows.\n";
            return emit(&format!("{first}{}", round.needs()?));
        }
        let name = format!("{}, map", found.name);
        let made = make(
            &round,
            &name,
            None,
            String::new(),
            None,
            &args.make,
            watched,
        )?;
        if let Some(results) = &made.results {
            map.take(results);
        }
    }
    if let Some(out) = &args.out {
        write_whole(out, map.svg().as_bytes())?;
        if let Some(table) = table_of(out) {
            write_whole(&table, map.csv().as_bytes())?;
        }
    }
    match args.make.format {
        Format::Csv => emit_data(&map.csv()),
        Format::Json => emit_data(&map.json()),
        Format::Table => {
            let mut text = map.text();
            if let Some(out) = &args.out {
                let table = table_of(out).map(|table| format!(" and {}", table.display()));
                let table = table.unwrap_or_default();
                text.push_str(&format!("\nWrote {}{table}\n", out.display()));
            }
            emit(&text)
        }
    }
}
