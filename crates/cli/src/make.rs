//! Runs a study and shows what came of it: what `sojourn run`, `sojourn dumbbell` and `sojourn study` share.

use crate::args::MakeArgs;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{complain, say};
use crate::progress::Line;
use crate::terminal;
use sojourn_results::outcome::RunOutcome;
use sojourn_results::{Hold, ResultSet};
use sojourn_scenario::resolved::Resolved;
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_study::study::{Executed, Options, Progress, Shard, Study, Waits, execute};
use std::path::Path;
use std::sync::Arc;

/// What came of a study.
pub(crate) struct Made {
    /// The results; `None` if other parts are still to be run.
    pub(crate) results: Option<ResultSet>,
    /// What the next round has to wait for.
    pub(crate) waits: Option<Waits>,
    /// Keeps others out of the directory until all of it is written.
    _hold: Option<Arc<Hold>>,
}

/// Runs `study`, which the progress line calls `name`, with `runner`, into `out` if there is one.
pub(crate) fn make(
    study: &Study,
    name: &str,
    out: Option<&Path>,
    command: String,
    shard: Option<Shard>,
    args: &MakeArgs,
    runner: impl Fn(&Resolved, u64) -> Result<RunOutcome, LabError> + Sync,
) -> Result<Made, Failure> {
    if out.is_none() && args.fresh {
        return Err(LabError::new(
            LabErrorKind::Contradiction,
            "--fresh needs a result directory",
        )
        .in_file("--fresh")
        .remedy("add --out DIR, or remove --fresh")
        .into());
    }
    let line = Line::new(name);
    let mut progress = |news: &Progress| line.show(news);
    let options = Options {
        command,
        fresh: args.fresh,
        threads: args.threads,
        shard,
        hold: true,
        progress: Some(&mut progress),
        cancel: Some(interrupt::flag()),
    };
    interrupt::keeps_in(out);
    let executed = execute(study, runner, out, options);
    let (made, took) = line.end();
    if terminal::is_verbose() && made > 0 {
        let seconds = took.as_secs_f64();
        let runs = if made == 1 { "run" } else { "runs" };
        say(&format!("made {made} {runs} in {seconds:.1} s"));
    }
    let Executed {
        results,
        failures,
        beyond,
        repaired,
        hold,
        waits,
        ..
    } = executed?;
    for damage in repaired {
        complain(&damage.to_string());
    }
    if let (1.., Some(out)) = (beyond, out) {
        say(&format!(
            "{} also holds {beyond} runs of replications that this study does not ask for. They are in no result. --fresh removes every run and starts again",
            out.display()
        ));
    }
    let mut failures = failures.into_iter();
    let Some(last) = failures.next_back() else {
        return Ok(Made {
            results,
            waits,
            _hold: hold,
        });
    };
    for failure in failures {
        complain(&failure.error.to_string());
    }
    Err(last.error.into())
}
