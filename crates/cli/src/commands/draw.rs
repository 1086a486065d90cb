//! `sojourn draw`.

use super::run::apply_sets;
use crate::args::ForceArgs;
use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::inputs;
use crate::output::{emit, emit_data, say};
use clap::Args;
use sojourn_report::topology::{Topology, topology_svg};
use sojourn_results::directory::write_whole;
use sojourn_results::overwrite::{has_text, refuse_foreign};
use sojourn_run::needs::Needs;
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_study::named::{Found, find};
use sojourn_study::topology;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// Draw the topology of a scenario or a study as SVG.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sojourn draw scenario.toml > topology.svg
  sojourn draw red-droptail-ten-nodes --out topology.svg
  sojourn draw study.toml --experiment bandwidth --set topology.rate=2Mbps
  sojourn draw study.toml --experiment all --out pictures")]
pub(crate) struct DrawArgs {
    /// Scenario or study file (TOML), or the name of a study. Of a study, its base scenario is drawn.
    pub(crate) file: OsString,
    /// Set a value, such as topology.rate=2Mbps or flows.reno.count=8. Repeat it for more values.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) sets: Vec<String>,
    /// Draw this experiment of a study; values that differ between its points are listed. all: every experiment, into the
    /// directory --out.
    #[arg(long, value_name = "NAME")]
    pub(crate) experiment: Option<String>,
    /// Write the picture to this file instead of standard output; several pictures into this directory.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) force: ForceArgs,
}

/// What only a picture of this command has.
const PICTURE_MARK: &str = "class=\"sojourn-topology\"";

/// Stands for every experiment.
const ALL: &str = "all";

impl Execute for DrawArgs {
    fn execute(&self, _: Option<&Draw<'_>>) -> Result<(), Failure> {
        draw(self)
    }
}

fn draw(args: &DrawArgs) -> Result<(), Failure> {
    let mut found = find(&args.file)?;
    if let Some(out) = &args.out {
        inputs::keep(Path::new(&args.file), "--out", out)?;
    }
    apply_sets(&mut found.document, &args.sets)?;
    let pictures = match &args.experiment {
        None => vec![(found.name.clone(), base(&found)?)],
        Some(experiment) => of_experiments(&found, experiment)?,
    };
    match (&args.out, pictures.as_slice()) {
        (None, [(_, topology)]) => emit_data(&topology_svg(topology)),
        (Some(out), [(_, topology)]) if !out.is_dir() => {
            write_all(args, &[(out.clone(), topology)])
        }
        (Some(out), _) => {
            let files = pictures.iter();
            let files = files.map(|(name, topology)| (out.join(format!("{name}.svg")), topology));
            let files: Vec<(PathBuf, &Topology)> = files.collect();
            fs::create_dir_all(out)
                .map_err(|error| LabError::io(out, "make the directory", &error))?;
            write_all(args, &files)
        }
        (None, _) => Err(LabError::new(
            LabErrorKind::MissingKey,
            format!("there are {} pictures", pictures.len()),
        )
        .in_file("--out")
        .remedy("name a directory: --out DIR")
        .into()),
    }
}

/// The scenario of the file without its experiments; where it needs them to be whole, the first.
fn base(found: &Found) -> Result<Topology, LabError> {
    let document = &found.document;
    let reading = match found.reading() {
        Ok(reading) => reading,
        Err(error) => {
            let first = first_experiment(found)?;
            return first.ok_or(error);
        }
    };
    for note in &reading.notes {
        say(&format!("note: {note}"));
    }
    let needs = Needs::of_allowed(&reading.scenario, &reading.limits);
    needs.map_err(|error| document.locate(error))?;
    let mut topology =
        topology::of_scenario(&reading.scenario).map_err(|error| document.locate(error))?;
    topology.title = reading.title.unwrap_or(reading.scenario.name);
    Ok(topology)
}

/// The picture of the first experiment; none if there is none.
fn first_experiment(found: &Found) -> Result<Option<Topology>, LabError> {
    if !found.document.root().has("experiment") {
        return Ok(None);
    }
    let study = found.study()?;
    let Some(first) = study.experiments.first() else {
        return Ok(None);
    };
    let points = study.points().iter();
    let points = points.filter(|point| point.experiment == first.name);
    Ok(topology::of_points(&first.title, points)?
        .into_iter()
        .next())
}

/// The pictures of one experiment, or of all, with the names of their files.
fn of_experiments(found: &Found, wanted: &str) -> Result<Vec<(String, Topology)>, LabError> {
    let mut study = found.study()?;
    let has_one = study.experiments.iter().any(|e| e.name == wanted);
    if has_one || wanted != ALL {
        let keep = study.keep_only(&[wanted.to_owned()]);
        keep.map_err(|error| error.in_file("--experiment"))?;
    }
    study.check_arguments()?;
    let mut all = Vec::new();
    for experiment in &study.experiments {
        let points = study.points().iter();
        let points = points.filter(|point| point.experiment == experiment.name);
        let pictures = topology::of_points(&experiment.title, points)?;
        let several = pictures.len() > 1;
        for (topology, number) in pictures.into_iter().zip(1..) {
            let name = match (experiment.name.is_empty(), several) {
                (true, _) => found.name.clone(),
                (false, false) => experiment.name.clone(),
                (false, true) => format!("{}-{number}", experiment.name),
            };
            all.push((name, topology));
        }
    }
    Ok(all)
}

/// Writes the pictures, if all can be written.
fn write_all(args: &DrawArgs, files: &[(PathBuf, &Topology)]) -> Result<(), Failure> {
    for (path, _) in files {
        let ours = |picture: &[u8]| has_text(picture, PICTURE_MARK);
        refuse_foreign(path, ours, args.force.force)?;
    }
    for (path, topology) in files {
        write_whole(path, topology_svg(topology).as_bytes())?;
        emit(&format!("Wrote {}\n", path.display()))?;
    }
    Ok(())
}
