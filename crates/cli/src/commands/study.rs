//! `sojourn study`.

mod dialects;

use super::run::{LIMIT_MEMORY, apply_run_options, apply_sets};
use crate::args::MakeArgs;
use crate::command::Words;
use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::make::{make, make_on_cluster};
use crate::output::{emit, emit_data};
use crate::progress::watched;
use crate::show;
use crate::source::keep;
use clap::Args;
use sojourn_scenario::LabError;
use sojourn_scenario::document::Document;
use sojourn_study::named::find;
use sojourn_study::study::{Shard, Study, Waits};
use sojourn_study::summary::{comparison, write_summary};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Run a study and print its tables.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sojourn study rrul
  sojourn study study.toml --all
  sojourn study rfc7928 --set run.replications=3 --only 5-1-1 --dry-run
  sojourn study rfc7928 --dask tcp://10.0.0.1:8786
  sojourn study codel-drr-bandwidth-mtu --dialects all")]
pub(crate) struct StudyArgs {
    /// Study file (TOML), or the name of a study: one in ./studies/NAME/study.toml, or one that comes with Sojourn.
    pub(crate) study: OsString,
    /// Set a value in every point, such as run.replications=30. Repeat it for more values.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) sets: Vec<String>,
    /// Number of replications [default: those of the study].
    #[arg(long, value_name = "N")]
    pub(crate) replications: Option<String>,
    /// Seed of every random stream [default: that of the study].
    #[arg(long)]
    pub(crate) seed: Option<String>,
    /// Simulated time at the start of a run that no metric includes, or auto [default: that of the study, or auto].
    #[arg(long, value_name = "TIME")]
    pub(crate) warmup: Option<String>,
    /// Add replications until half of each headline interval is at most this share of its mean, such as 2% [default: that of the study, or none].
    #[arg(long, value_name = "SHARE")]
    pub(crate) precision: Option<String>,
    /// Run only this experiment. Repeat it for more experiments.
    #[arg(long, value_name = "EXPERIMENT", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Result directory [default: results/NAME]. Runs that it already holds are not repeated.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Run the study once more in each of these dialects, such as rfc,ns2,linux or all, and say which rankings hold there. The results of
    /// each dialect are in a directory of their own [default: results/NAME-dialects]. It cannot be combined with --shard.
    #[arg(long, value_name = "DIALECTS", conflicts_with = "shard")]
    pub(crate) dialects: Option<String>,
    /// Make only one part of the runs, such as 1/4. Other processes make the other parts.
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<String>,
    /// Have the workers of a Dask cluster make the runs: the address of its scheduler, such as tcp://10.0.0.1:8786, or local for a
    /// cluster on this machine. Needs pip install 'sojourn[dask]'.
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["shard", "dialects"])]
    pub(crate) dask: Option<String>,
    /// Print every table and every note, not only the first table.
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) make: MakeArgs,
}

impl Execute for StudyArgs {
    fn execute(&self, _: Option<&Draw<'_>>) -> Result<(), Failure> {
        study(self)
    }
}

fn study(args: &StudyArgs) -> Result<(), Failure> {
    let shard: Option<Shard> = args
        .shard
        .as_deref()
        .map(|text| {
            text.parse()
                .map_err(|error: LabError| error.in_file("--shard"))
        })
        .transpose()?;
    let (mut study, name, source) = read(args)?;
    study.keep_only(&args.only)?;
    study.check_arguments()?;
    if args.make.dry_run && args.dialects.is_none() {
        return show::needs(&study.needs()?, args.make.format, "");
    }
    let out = match (&args.out, &args.dialects) {
        (Some(out), _) => out.clone(),
        (None, None) => Path::new("results").join(&name),
        (None, Some(_)) => Path::new("results").join(format!("{name}-dialects")),
    };
    let command = command_of(args);
    if let Some(list) = &args.dialects {
        return dialects::run(&dialects::Request {
            study: &study,
            name: &name,
            list,
            out: &out,
            command: &command,
            make: &args.make,
        });
    }
    let made = match &args.dask {
        Some(address) => make_on_cluster(study, &name, &out, command.clone(), &args.make, address)?,
        None => make(
            &study,
            &name,
            Some(&out),
            command.clone(),
            shard,
            &args.make,
            watched,
        )?,
    };
    if let Some(text) = source {
        keep(&out, &text, &command)?;
    }
    if let Some(waits) = made.waits {
        return emit(&waiting(&waits, &out));
    }
    let Some(results) = &made.results else {
        return emit(&format!(
            "This part is done. When all parts are done:\n  if they share this directory: sojourn report {0}\n  if each has its own: sojourn merge {0} OTHERS --out NEW\n",
            sojourn_report::shell_word(&out.to_string_lossy())
        ));
    };
    write_summary(&out)?;
    let comparison = comparison(results);
    if let Some(data) = show::data(&comparison, args.make.format) {
        emit_data(&data)?;
        show::notes_beside(&comparison, args.make.format);
        return Ok(());
    }
    match args.all {
        true => show::whole(&comparison).plain(&show::place_of(&out)).page(),
        false => show::answer(&comparison, &out).emit(),
    }
}

/// The command that repeats it.
fn command_of(args: &StudyArgs) -> String {
    let only = (!args.only.is_empty()).then(|| args.only.join(","));
    Words::new("study")
        .path(Path::new(&args.study))
        .option("--only", only.as_deref())
        .option("--replications", args.replications.as_deref())
        .option("--seed", args.seed.as_deref())
        .option("--warmup", args.warmup.as_deref())
        .option("--precision", args.precision.as_deref())
        .options("--set", &args.sets)
        .option(LIMIT_MEMORY, args.make.limit_memory.as_deref())
        .option("--dialects", args.dialects.as_deref())
        .option_path("--out", args.out.as_deref())
        .text()
}

/// What a part says that cannot go on before the others.
fn waiting(waits: &Waits, out: &Path) -> String {
    let runs = match waits.missing {
        1 => "1 run of another part is".to_owned(),
        missing => format!("{missing} runs of other parts are"),
    };
    format!(
        "This part of round {} is done. The next round follows from all runs of this one; {runs} missing. When the other parts are done:\n  \
         if they share this directory: run the same command again\n  if each has its own: sojourn merge {} OTHERS --out NEW\n",
        waits.round,
        sojourn_report::shell_word(&out.to_string_lossy())
    )
}

/// The study that an argument names, the name of its results, and its text.
fn read(args: &StudyArgs) -> Result<(Study, String, Option<String>), LabError> {
    let mut found = find(&args.study)?;
    let text = found.text();
    apply_options(&mut found.document, args)?;
    Ok((found.study()?, found.name, text))
}

fn apply_options(document: &mut Document, args: &StudyArgs) -> Result<(), LabError> {
    apply_sets(document, &args.sets)?;
    apply_run_options(
        document,
        [
            args.replications.as_deref(),
            args.seed.as_deref(),
            args.warmup.as_deref(),
            args.precision.as_deref(),
        ],
        &args.make,
    )
}
