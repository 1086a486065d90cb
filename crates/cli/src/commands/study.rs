//! `sojourn study`.

use super::run::{LIMIT_MEMORY, apply_sets, stoppable};
use crate::args::Format;
use crate::args::MakeArgs;
use crate::command::Words;
use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::make::make;
use crate::output::emit;
use crate::show;
use clap::Args;
use sojourn_scenario::document::{Document, refuse_results};
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_study::study::{Shard, Study};
use sojourn_study::summary::write_summary;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Run a study: its points, its replications, its tables.
#[derive(Args, Debug)]
pub(crate) struct StudyArgs {
    /// A study by name, as in ./studies/NAME/study.toml or one that Sojourn brings along, or a file in TOML.
    pub(crate) study: OsString,
    /// Replace a value in every point, such as run.replications=30; may be repeated.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) sets: Vec<String>,
    /// Run these experiments only.
    #[arg(long, value_name = "EXPERIMENT", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Directory of the results; results/NAME unless given. Runs that it holds are not made again.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Make one part of the runs only, such as 1/4, beside other processes that make the others.
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<String>,
    #[command(flatten)]
    pub(crate) make: MakeArgs,
}

impl Execute for StudyArgs {
    fn execute(&self, _: Option<&Draw<'_>>) -> Result<(), Failure> {
        study(self)
    }
}

/// A study that Sojourn brings along.
struct BuiltIn {
    name: &'static str,
    /// Its files, by name: `study.toml` and what that reads.
    files: &'static [(&'static str, &'static str)],
}

impl BuiltIn {
    fn file(&self, name: &str) -> Option<&'static str> {
        let file = self.files.iter().find(|(known, _)| *known == name);
        file.map(|(_, text)| *text)
    }
}

/// The folders of `studies/`, as `build.rs` found them.
const BUILT_IN: &[BuiltIn] = &include!(concat!(env!("OUT_DIR"), "/studies.rs"));

fn study(args: &StudyArgs) -> Result<(), Failure> {
    let (mut study, name) = read(args)?;
    study.keep_only(&args.only)?;
    study.check_arguments()?;
    if args.make.dry_run {
        return emit(&study.needs()?.to_string());
    }
    let out = match &args.out {
        Some(out) => out.clone(),
        None => Path::new("results").join(&name),
    };
    let shard: Option<Shard> = args
        .shard
        .as_deref()
        .map(|text| {
            text.parse()
                .map_err(|error: LabError| error.in_file("--shard"))
        })
        .transpose()?;
    let only = (!args.only.is_empty()).then(|| args.only.join(","));
    let command = Words::new("study")
        .path(Path::new(&args.study))
        .option("--only", only.as_deref())
        .options("--set", &args.sets)
        .option(LIMIT_MEMORY, args.make.limit_memory.as_deref())
        .option_path("--out", args.out.as_deref())
        .text();
    let made = make(&study, Some(&out), command, shard, &args.make, stoppable)?;
    let Some(results) = &made.results else {
        return emit(&format!(
            "This part is done. When all are: sojourn report {}\n",
            sojourn_report::shell_word(&out.to_string_lossy())
        ));
    };
    write_summary(&out)?;
    show::results(results, args.make.format)?;
    match args.make.format {
        Format::Table => emit(&format!(
            "\nResults: {}\nReport:  sojourn report {}\n",
            out.display(),
            sojourn_report::shell_word(&out.to_string_lossy())
        )),
        Format::Json | Format::Csv => Ok(()),
    }
}

/// The study that an argument names, and the name of its results.
fn read(args: &StudyArgs) -> Result<(Study, String), LabError> {
    let given = &*args.study.to_string_lossy();
    let named = Path::new("studies").join(given).join("study.toml");
    let plain = !given.contains(['/', '\\']) && !given.ends_with(".toml");
    if plain && !named.exists() {
        let found = BUILT_IN.iter().find(|built_in| built_in.name == given);
        if let Some(built_in) = found {
            let text = built_in.file("study.toml").unwrap_or_default();
            let mut document = Document::parse(text, &format!("{given}/study.toml"))?;
            apply_options(&mut document, args)?;
            let study = Study::from_document_and_files(&document, &|name: &Path| {
                let name = name.file_name().and_then(|name| name.to_str());
                let text = name.and_then(|name| built_in.file(name));
                text.map(str::to_owned)
                    .ok_or_else(|| std::io::ErrorKind::NotFound.into())
            })?;
            return Ok((study, given.to_owned()));
        }
        if !Path::new(given).exists() {
            return Err(unknown(given));
        }
    }
    let mut path = match plain && named.exists() {
        true => named,
        false => PathBuf::from(&args.study),
    };
    if path.is_dir() {
        if let Some(error) = refuse_results(&path).filter(|_| !path.join("study.toml").exists()) {
            return Err(error);
        }
        path.push("study.toml");
    }
    let mut document = Document::read(&path)?;
    apply_options(&mut document, args)?;
    let study = Study::from_document(&document)?;
    Ok((study, name_of(&path)))
}

fn apply_options(document: &mut Document, args: &StudyArgs) -> Result<(), LabError> {
    apply_sets(document, &args.sets)?;
    match &args.make.limit_memory {
        Some(memory) => {
            document.set_argument("limits.memory", memory, &format!("{LIMIT_MEMORY} {memory}"))
        }
        None => Ok(()),
    }
}

/// What the results of a file are called: the folder of a `study.toml`, or else the file itself.
fn name_of(path: &Path) -> String {
    let named = match path.file_name().is_some_and(|name| name == "study.toml") {
        true => path.parent().and_then(Path::file_name),
        false => path.file_stem(),
    };
    named.or(path.file_stem()).map_or_else(
        || "study".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

fn unknown(given: &str) -> LabError {
    let mut names: Vec<String> = BUILT_IN.iter().map(|study| study.name.to_owned()).collect();
    let folders = std::fs::read_dir("studies").into_iter().flatten().flatten();
    let here = folders.filter(|folder| folder.path().join("study.toml").exists());
    names.extend(here.map(|folder| folder.file_name().to_string_lossy().into_owned()));
    names.sort();
    names.dedup();
    LabError::new(
        LabErrorKind::UnknownName,
        format!("there is no study {given:?}"),
    )
    .nearest(sojourn_units::nearest(
        given,
        names.iter().map(String::as_str),
    ))
    .allowed("studies", names.join(", "))
    .remedy("or name a file, such as study.toml")
}
