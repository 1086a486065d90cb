//! `sojourn rerun`.

use crate::args::threads;
use crate::command::Words;
use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{self, emit};
use crate::progress::{Line, watched};
use clap::Args;
use sojourn_study::bundle::open;
use sojourn_study::rerun::{rerun as again, warnings};
use sojourn_study::study::{Options, Progress};
use std::num::NonZero;
use std::path::PathBuf;

/// Repeat the runs of a result directory or bundle and check that the results are the same, to the bit.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sojourn rerun results/rrul
  sojourn rerun artifact.tar.gz
  sojourn rerun results/rrul --out again --threads 2")]
pub(crate) struct RerunArgs {
    /// Result directory, or a bundle: the archive or its folder. The manifest describes all runs.
    pub(crate) dir: PathBuf,
    /// Keep the new results in this directory. Runs that it already holds are not repeated.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Number of parallel runs [default: one per core]. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<NonZero<usize>>,
}

impl Execute for RerunArgs {
    fn execute(&self, _: Option<&Draw<'_>>) -> Result<(), Failure> {
        rerun(self)
    }
}

fn rerun(args: &RerunArgs) -> Result<(), Failure> {
    let opened = open(&args.dir)?;
    for warning in warnings(opened.dir()).map_err(|error| opened.named(error))? {
        output::warn(&warning);
    }
    let line = Line::new("rerun");
    let mut progress = |news: &Progress| line.show(news);
    let command = Words::new("rerun")
        .path(&args.dir)
        .option_path("--out", args.out.as_deref())
        .text();
    let options = Options {
        command,
        threads: args.threads,
        progress: Some(&mut progress),
        cancel: Some(interrupt::flag()),
        ..Options::default()
    };
    interrupt::keeps_in(args.out.as_deref());
    let compared = again(opened.dir(), watched, args.out.as_deref(), options);
    line.end();
    let mut compared = compared.map_err(|error| opened.named(error))?;
    compared.named(opened.dir(), &args.dir);
    emit(&(compared.lines(&args.dir).join("\n") + "\n"))?;
    match compared.is_same() {
        true => Ok(()),
        false => Err(Failure::Differs),
    }
}
