//! Runs a study and shows what came of it: what `sojourn run`, `sojourn dumbbell` and `sojourn study` share.

use crate::Failure;
use crate::args::MakeArgs;
use crate::interrupt;
use indicatif::{ProgressBar, ProgressStyle};
use sojourn_lab::model::Scenario;
use sojourn_lab::outcome::RunOutcome;
use sojourn_lab::results::ResultSet;
use sojourn_lab::study::{Executed, Options, Progress, Shard, Study, execute};
use sojourn_lab::{LabError, LabErrorKind};
use std::path::Path;

/// Runs `study` with `runner`, into `out` if there is one. `None` if other parts of it are still to be run.
pub(crate) fn make(
    study: &Study,
    out: Option<&Path>,
    command: String,
    shard: Option<Shard>,
    args: &MakeArgs,
    runner: impl Fn(&Scenario, u64) -> Result<RunOutcome, LabError> + Sync,
) -> Result<Option<ResultSet>, Failure> {
    if out.is_none() && args.fresh {
        return Err(LabError::new(
            LabErrorKind::Contradiction,
            "there is no directory to start anew in",
        )
        .in_file("--fresh")
        .remedy("add --out DIR, or leave --fresh out")
        .into());
    }
    let bar = ProgressBar::new(0).with_style(style());
    let mut progress = |progress: &Progress| {
        bar.set_length(progress.total);
        bar.set_position(progress.done);
    };
    let options = Options {
        command,
        fresh: args.fresh,
        threads: args.threads,
        shard,
        progress: Some(&mut progress),
        cancel: Some(interrupt::flag()),
    };
    interrupt::keeps_in(out);
    let executed = execute(study, runner, out, options);
    bar.finish_and_clear();
    let Executed {
        results,
        failures,
        beyond,
        ..
    } = executed?;
    if let (1.., Some(out)) = (beyond, out) {
        eprintln!(
            "sojourn: {} holds {beyond} runs of more replications, too, which are in no result; --fresh removes them",
            out.display()
        );
    }
    let mut failures = failures.into_iter();
    let Some(last) = failures.next_back() else {
        return Ok(results);
    };
    for failure in failures {
        eprintln!("sojourn: {}", failure.error);
    }
    Err(last.error.into())
}

/// A bar on a terminal; nothing elsewhere.
fn style() -> ProgressStyle {
    ProgressStyle::with_template("{bar:40} {pos}/{len} runs, {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
}
