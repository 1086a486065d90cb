//! Runs of a search on several threads. What comes back is in the order of the jobs, so that nothing depends on the threads.

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use sojourn_results::asked::Asked;
use sojourn_results::outcome::RunOutcome;
use sojourn_run::needs::Needs;
use sojourn_run::run::guarded;
use sojourn_scenario::error::Result;
use sojourn_scenario::model::LimitParams;
use sojourn_scenario::resolved::Resolved;

use crate::study::Progress;

/// Who makes the runs.
pub struct Hands<'a, R> {
    /// Makes one run.
    pub runner: R,
    /// Runs at a time; one per core unless given.
    pub threads: Option<NonZero<usize>>,
    /// Once true, no run is begun any more.
    pub cancel: &'a AtomicBool,
    /// Receives news of every run that ended, on the calling thread.
    pub progress: &'a mut dyn FnMut(&Progress),
}

/// What runs at a place.
pub(super) struct Built {
    pub(super) resolved: Resolved,
    pub(super) asked: Asked,
    pub(super) needs: Needs,
    pub(super) limits: LimitParams,
}

/// A run to make: of what, and its replication.
pub(super) type Job = (Arc<Built>, u64);

/// What came of a job: the value, none where the run has none; no result where it was not begun.
pub(super) type Ended = Option<Result<Option<f64>>>;

/// Makes runs. `done` is called for each that ended.
pub(super) fn make<R>(
    runner: &R,
    (threads, cancel): (Option<NonZero<usize>>, &AtomicBool),
    jobs: &[Job],
    mut done: impl FnMut(),
) -> Vec<Ended>
where
    R: Fn(&Resolved, u64) -> Result<RunOutcome> + Sync,
{
    let cores = || std::thread::available_parallelism().ok();
    let threads = threads.or_else(cores).map_or(1, NonZero::get);
    let fit = (jobs.iter()).map(|(built, _)| built.needs.at_a_time(&built.limits, true));
    let threads = threads.min(jobs.len()).min(fit.min().unwrap_or(1));
    let next = AtomicUsize::new(0);
    let take = |sender: &mpsc::Sender<(usize, Result<Option<f64>>)>| loop {
        let job = next.fetch_add(1, Ordering::Relaxed);
        let Some((built, replication)) = jobs.get(job) else {
            return;
        };
        if cancel.load(Ordering::Relaxed) {
            return;
        }
        // Only a receiver that is gone refuses, and it outlives the threads.
        let _ = sender.send((job, run(runner, built, *replication)));
    };
    let mut ended: Vec<Ended> = jobs.iter().map(|_| None).collect();
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for _ in 0..threads {
            let sender = sender.clone();
            let take = &take;
            scope.spawn(move || take(&sender));
        }
        drop(sender);
        for (job, result) in receiver {
            ended[job] = Some(result);
            done();
        }
    });
    ended
}

fn run<R>(runner: &R, built: &Built, replication: u64) -> Result<Option<f64>>
where
    R: Fn(&Resolved, u64) -> Result<RunOutcome> + Sync,
{
    let run = || runner(&built.resolved, replication);
    let outcome = guarded(&built.resolved, replication, run)?;
    Ok(built
        .asked
        .value(&outcome)
        .filter(|value| value.is_finite()))
}
