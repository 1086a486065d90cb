//! Runs a study and shows what came of it: what `sojourn run`, `sojourn dumbbell` and `sojourn study` share.

use crate::args::MakeArgs;
use crate::cluster;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{complain, say};
use crate::progress::Line;
use crate::terminal;
use sojourn_results::outcome::RunOutcome;
use sojourn_results::{Hold, ResultSet};
use sojourn_scenario::resolved::Resolved;
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_study::study::{Dispatch, Executed, Options, Progress, Shard, Study, Waits, execute};
use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

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
    check_fresh(out, args)?;
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
    told(line, executed, out)
}

/// As [`make`], but the Dask cluster at `address` makes the runs; `local` is one that is started here.
pub(crate) fn make_on_cluster(
    study: Study,
    name: &str,
    out: &Path,
    command: String,
    args: &MakeArgs,
    address: &str,
) -> Result<Made, Failure> {
    if address != LOCAL && args.threads.is_some() {
        let problem = format!("--threads has no effect on a cluster that runs already, {address}");
        return Err(LabError::new(LabErrorKind::Contradiction, problem)
            .in_file("--threads")
            .remedy("remove it: the workers of the cluster say how many runs they make at a time")
            .into());
    }
    cluster::check()?;
    let line = Line::new(name);
    let options = Options {
        command,
        fresh: args.fresh,
        hold: true,
        ..Options::default()
    };
    interrupt::keeps_in(Some(out));
    let dispatch = Dispatch::begin(study, Some(out), &options, Box::new(line.teller()))?;
    let workers = args.threads.map(NonZero::get);
    let (mut dispatch, driven) = cluster::drive(address, workers, dispatch)?;
    if let Err(error) = driven
        && !interrupt::flag().load(Ordering::Relaxed)
    {
        // The error of a run says more, if there is one.
        dispatch.give_up(error);
    }
    told(line, dispatch.end(), Some(out))
}

/// What stands for a cluster that is started here.
const LOCAL: &str = "local";

/// Refuses `--fresh` without a directory that it could empty.
pub(crate) fn check_fresh(out: Option<&Path>, args: &MakeArgs) -> Result<(), LabError> {
    match out.is_none() && args.fresh {
        true => Err(LabError::new(
            LabErrorKind::Contradiction,
            "--fresh needs a result directory",
        )
        .in_file("--fresh")
        .remedy("add --out DIR, or remove --fresh")),
        false => Ok(()),
    }
}

/// Says what came of it beside the results.
fn told(
    line: Line,
    executed: Result<Executed, LabError>,
    out: Option<&Path>,
) -> Result<Made, Failure> {
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
