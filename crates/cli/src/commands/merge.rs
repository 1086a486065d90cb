//! `sojourn merge`.

use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::interrupt;
use crate::output::emit;
use clap::Args;
use sojourn_report::shell_word;
use sojourn_study::merge::{Merged, merge as put};
use std::path::{Path, PathBuf};

/// Put the parts of a study that --shard made in directories of their own into one.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sojourn merge parts/1 parts/2 parts/3 parts/4 --out results/rrul")]
pub(crate) struct MergeArgs {
    /// Result directories of one study. They are not changed.
    #[arg(required = true)]
    pub(crate) dirs: Vec<PathBuf>,
    /// New directory for all runs.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Put together what is there, although runs are missing.
    #[arg(long)]
    pub(crate) partial: bool,
}

impl Execute for MergeArgs {
    fn execute(&self, _: Option<&Draw<'_>>) -> Result<(), Failure> {
        let merged = put(&self.dirs, &self.out, self.partial, interrupt::flag())?;
        emit(&text(&merged, self.dirs.len(), &self.out))
    }
}

fn text(merged: &Merged, dirs: usize, out: &Path) -> String {
    let count = |number: u64, what: &str| match number {
        1 => format!("1 {what}"),
        number => format!("{number} {what}s"),
    };
    let dirs = match dirs {
        1 => "1 directory".to_owned(),
        dirs => format!("{dirs} directories"),
    };
    let common = match merged.common {
        0 => String::new(),
        common => format!("; {common} of them in several, with the same bits"),
    };
    let next = match (merged.missing, merged.goes_on) {
        (0, false) => format!(
            "Report:  sojourn report {}",
            shell_word(&out.to_string_lossy())
        ),
        (0, true) => format!(
            "The next round follows from these runs. Go on with: {}",
            merged.command
        ),
        (missing, _) => {
            let are = if missing == 1 { "is" } else { "are" };
            format!(
                "{} {are} missing. Make them with: {}",
                count(missing, "run"),
                merged.command
            )
        }
    };
    format!(
        "Results: {} ({} of {dirs}{common})\n{next}\n",
        out.display(),
        count(merged.runs, "run")
    )
}
