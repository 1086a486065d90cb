//! Runs a study on all cores, into a directory or into memory.
//!
//! Runs are independent of each other and of the thread they run on, so results are the same bits whatever the number of
//! threads. Runs that a directory holds are not made again.

use std::collections::BTreeSet;
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant, SystemTime};

use serde::Serialize;
use sojourn_results::design::{Design, Plan};
use sojourn_results::directory::{ResultDir, ResultSet, Run, TIMING_FILE, Taking};
use sojourn_results::hold::{Hold, host};
use sojourn_results::manifest::Manifest;
use sojourn_results::outcome::RunOutcome;
use sojourn_results::{Damage, RunState};
use sojourn_run::needs::Needs;
use sojourn_run::run::guarded;
use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use sojourn_scenario::model::{Scenario, Warmup};
use sojourn_scenario::resolved::Resolved;

use super::{Point, Study, rounds};
use crate::auditor;

/// How a study is run.
#[derive(Default)]
pub struct Options<'a> {
    /// The command that repeats it, for the manifest.
    pub command: String,
    /// Results that the directory holds are removed.
    pub fresh: bool,
    /// Runs at a time; one per core unless given.
    pub threads: Option<NonZero<usize>>,
    /// Which part of the runs to make, where several processes share them.
    pub shard: Option<Shard>,
    /// Others are kept out of the directory until [`Executed::hold`] is dropped, for more to be written into it.
    pub hold: bool,
    /// Receives news of every run that ended, on the calling thread.
    pub progress: Option<&'a mut dyn FnMut(&Progress)>,
    /// Once true, no run is begun any more; the study ends as interrupted. A runner that looks at the same flag ends the runs
    /// under way.
    pub cancel: Option<&'a AtomicBool>,
}

/// One part of several: every `of`-th run, from the `number`-th on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    /// From 1.
    number: u64,
    of: u64,
}

/// How far a study is.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// Runs that are there, those found in the directory included.
    pub done: u64,
    /// Runs that are wanted.
    pub total: u64,
    /// Of those that are there, runs found in the directory.
    pub found: u64,
    /// The run that ended last: point and replication; `None` before the first.
    pub last: Option<(u64, u64)>,
}

/// What came of a study.
#[derive(Debug)]
pub struct Executed {
    /// The results; `None` if runs are missing: other shards' or failed ones.
    pub results: Option<ResultSet>,
    /// Runs that were made.
    pub made: u64,
    /// Runs that were found in the directory.
    pub found: u64,
    /// What had happened to files of the directory that were made again.
    pub repaired: Vec<Damage>,
    /// Keeps others out of the directory, if [`Options::hold`] asks for it.
    pub hold: Option<Arc<Hold>>,
    /// Runs of the directory that are [not wanted](ResultDir::beyond), and are in no result.
    pub beyond: u64,
    /// Runs that failed by a bug of Sojourn, or that no worker could make; the others are whole.
    pub failures: Vec<Failure>,
    /// What the next round has to wait for, where other parts of the study have not made all runs of this one.
    pub waits: Option<Waits>,
}

/// Runs of other parts, without which there is no next round.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Waits {
    /// Number of the round, from 1.
    pub round: u64,
    /// Runs of it that are missing.
    pub missing: u64,
}

/// A run that failed by a bug of Sojourn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The point.
    pub point: u64,
    /// The replication.
    pub replication: u64,
    /// What went wrong, with everything that repeats it.
    pub error: LabError,
}

impl Shard {
    /// Part `number`, from 1, of `of` parts; `None` if there is no such part.
    pub fn new(number: u64, of: u64) -> Option<Shard> {
        (number >= 1 && number <= of).then_some(Shard { number, of })
    }

    fn has(self, index: u64) -> bool {
        index % self.of == self.number - 1
    }
}

impl std::str::FromStr for Shard {
    type Err = LabError;

    fn from_str(text: &str) -> Result<Shard> {
        let parsed = text.split_once('/').and_then(|(number, of)| {
            Shard::new(number.trim().parse().ok()?, of.trim().parse().ok()?)
        });
        parsed.ok_or_else(|| {
            LabError::new(
                LabErrorKind::BadValue,
                format!("{text:?} is not a part of a study"),
            )
            .remedy("write the part's number and the number of parts, such as 1/4")
        })
    }
}

/// Runs every point of a study in all its replications with `runner`, and returns the results. With a directory, each run
/// is written as soon as it ends, and runs that are there are not made again.
///
/// # Errors
/// When the study asks for more than its limits allow. When the directory is not fit, cannot be written, or `runner` fails for a reason of the user's: then no further run is
/// begun. When it was cancelled. A run that panics does not end the study: [`Executed::failures`] has it.
pub fn execute<R>(
    study: &Study,
    runner: R,
    dir: Option<&Path>,
    options: Options<'_>,
) -> Result<Executed>
where
    R: Fn(&Resolved, u64) -> Result<RunOutcome> + Sync,
{
    let runner = |_, scenario: &Resolved, replication| runner(scenario, replication);
    execute_points(study, runner, dir, options)
}

/// As [`execute`]; the runner gets the number of the point, too.
pub(crate) fn execute_points<R>(
    study: &Study,
    runner: R,
    dir: Option<&Path>,
    mut options: Options<'_>,
) -> Result<Executed>
where
    R: Fn(u64, &Resolved, u64) -> Result<RunOutcome> + Sync,
{
    let needs = study.needs()?;
    let at_a_time = needs.at_a_time(&study.limits, dir.is_some());
    let mut campaign = Campaign::begin(study, &needs, dir, &options)?;
    loop {
        campaign.make(study, &runner, at_a_time, &mut options)?;
        if !campaign.go_on()? {
            return campaign.end(&study.notes);
        }
    }
}

/// A study under way: its rounds, its directory and what was done so far, whoever makes the runs.
pub(super) struct Campaign {
    clock: Clock,
    pub(super) manifest: Manifest,
    pub(super) dir: Option<ResultDir>,
    pub(super) session: Session,
    /// What was decided is not decided again.
    decides: bool,
    waits: Option<Waits>,
    shard: Option<Shard>,
    hold: bool,
}

impl Campaign {
    /// Begins with the first round, or the round that a directory is in.
    ///
    /// # Errors
    /// When the study asks for more than its limits allow, or the directory is not fit.
    pub(super) fn begin(
        study: &Study,
        needs: &Needs,
        path: Option<&Path>,
        options: &Options<'_>,
    ) -> Result<Campaign> {
        let clock = Clock::start();
        needs.check(&study.limits, path.is_some())?;
        let decides = study.design.is_none();
        let (manifest, dir) = begin(study, decides, path, options)?;
        Ok(Campaign {
            clock,
            manifest,
            dir,
            session: Session::default(),
            decides,
            waits: None,
            shard: options.shard,
            hold: options.hold,
        })
    }

    /// Makes the runs of the round that are not there.
    fn make<R>(
        &mut self,
        study: &Study,
        runner: &R,
        at_a_time: usize,
        options: &mut Options<'_>,
    ) -> Result<()>
    where
        R: Fn(u64, &Resolved, u64) -> Result<RunOutcome> + Sync,
    {
        let dir = self.dir.as_ref();
        let how = (at_a_time, options);
        self.session.make(study, &self.manifest, runner, dir, how)
    }

    /// Goes on to the next round: whether there is one.
    ///
    /// # Errors
    /// When runs of this round cannot be read, or the manifest cannot be written.
    pub(super) fn go_on(&mut self) -> Result<bool> {
        let session = &self.session;
        let done = self.manifest.design.as_ref().is_none_or(Design::is_done);
        let ended = session.stopped || session.of_user.is_some() || !session.failures.is_empty();
        if ended || done || !self.decides {
            return Ok(false);
        }
        let waits = self.session.go_on(&mut self.manifest, self.dir.as_mut())?;
        self.waits = waits;
        Ok(self.waits.is_none())
    }

    /// What came of it.
    ///
    /// # Errors
    /// When a run failed for a reason of the user's, when it was stopped, and when results cannot be written or read.
    pub(super) fn end(mut self, notes: &[String]) -> Result<Executed> {
        let written = self
            .clock
            .write(self.dir.as_ref(), self.shard, &self.session);
        if let Some(error) = self.session.of_user.take() {
            // The first error is the one to tell.
            if let Some(dir) = self.dir {
                dir.abandon();
            }
            return Err(error);
        }
        written?;
        if self.session.stopped {
            return Err(interrupted(&self.session.progress, self.dir.as_ref()));
        }
        let beyond = self.dir.as_ref().map_or(Ok(0), ResultDir::beyond)?;
        let held = self.dir.as_mut().and_then(ResultDir::release);
        let results = match self.waits {
            None => gather(self.dir, &self.manifest, self.session.kept)?,
            Some(_) => None,
        };
        let results = match results {
            Some(results) => Some(audited(results, notes)?),
            None => None,
        };
        Ok(Executed {
            results,
            made: self.session.made_count,
            found: self.session.progress.found,
            repaired: self.session.repaired,
            hold: held.filter(|_| self.hold),
            beyond,
            failures: self.session.failures,
            waits: self.waits,
        })
    }
}

/// The manifest of the first round, or of the round that a directory is in, and the directory.
fn begin(
    study: &Study,
    decides: bool,
    path: Option<&Path>,
    options: &Options<'_>,
) -> Result<(Manifest, Option<ResultDir>)> {
    let mut manifest = study.manifest(&options.command)?;
    if decides && let Some(design) = rounds::first(study, &manifest)? {
        manifest = manifest.in_round(design);
    }
    let taking = Taking {
        fresh: options.fresh,
        part: options.shard.map(|shard| (shard.number, shard.of)),
    };
    match path {
        Some(path) => {
            let dir = ResultDir::create(path, manifest, taking)?;
            Ok((dir.manifest().clone(), Some(dir)))
        }
        None => Ok((manifest, None)),
    }
}

/// What this process has done so far, over all rounds.
#[derive(Default)]
pub(super) struct Session {
    /// Runs that were made, and how many that is: some are made again in a later round.
    made: BTreeSet<(u64, u64)>,
    made_count: u64,
    /// The most threads of a round, of all processes.
    pub(super) threads: usize,
    timings: Vec<RunTiming>,
    pub(super) repaired: Vec<Damage>,
    pub(super) failures: Vec<Failure>,
    /// Outcomes, where there is no directory.
    pub(super) kept: Vec<Run>,
    pub(super) progress: Progress,
    /// The error of a run that the user can put right.
    pub(super) of_user: Option<LabError>,
    /// It was stopped before its end.
    pub(super) stopped: bool,
}

impl Session {
    /// Makes the runs of a round that are not there.
    fn make<R>(
        &mut self,
        study: &Study,
        manifest: &Manifest,
        runner: &R,
        dir: Option<&ResultDir>,
        (at_a_time, options): (usize, &mut Options<'_>),
    ) -> Result<()>
    where
        R: Fn(u64, &Resolved, u64) -> Result<RunOutcome> + Sync,
    {
        let (jobs, mut progress, repaired) = self.jobs(manifest, options.shard, dir);
        self.repaired.extend(repaired);
        let mut tell = |progress: &Progress| {
            if let Some(tell) = &mut options.progress {
                tell(progress);
            }
        };
        tell(&progress);
        let work = Work {
            points: &study.points,
            design: manifest.design.as_ref(),
            dir,
            runner,
            jobs: &jobs,
            next: AtomicUsize::new(0),
            stop: AtomicUsize::new(usize::MAX),
            cancel: options.cancel,
            kept: Mutex::new(std::mem::take(&mut self.kept)),
        };
        let threads = threads(options.threads).min(jobs.len()).min(at_a_time);
        let mut ended = work.run_all(threads, |job| {
            progress.done += 1;
            progress.last = Some(jobs[job]);
            tell(&progress);
        });
        let kept = work.kept.into_inner();
        self.kept = kept.unwrap_or_else(PoisonError::into_inner);
        self.threads = self.threads.max(threads);
        self.timings.extend(timings(&jobs, &ended));
        for end in ended.iter().filter(|end| end.result.is_ok()) {
            self.made.insert(jobs[end.job]);
            self.made_count += 1;
        }
        let of_user = |end: &End| matches!(&end.result, Err(error) if is_of_user(error));
        if let Some(position) = ended.iter().position(of_user) {
            self.of_user = ended.swap_remove(position).result.err();
            return Ok(());
        }
        let interrupt = |end: &End| matches!(&end.result, Err(error) if error.kind() == LabErrorKind::Interrupted);
        let cancelled = options
            .cancel
            .is_some_and(|cancel| cancel.load(Ordering::Relaxed));
        self.stopped = ended.iter().any(interrupt) || (cancelled && progress.done < progress.total);
        self.failures.extend(failures(&jobs, ended));
        self.progress = progress;
        Ok(())
    }

    /// Takes note of a run that was made elsewhere.
    pub(super) fn note(&mut self, (point, replication): (u64, u64), wall: Duration) {
        self.made.insert((point, replication));
        self.made_count += 1;
        self.timings.push(RunTiming {
            point,
            replication,
            wall_s: wall.as_secs_f64(),
        });
        self.progress.done += 1;
        self.progress.last = Some((point, replication));
    }

    /// The runs that are still to be made, how far that is, and what had happened to files that are made again.
    pub(super) fn jobs(
        &self,
        manifest: &Manifest,
        shard: Option<Shard>,
        dir: Option<&ResultDir>,
    ) -> (Vec<(u64, u64)>, Progress, Vec<Damage>) {
        let mine = |manifest: &Manifest| -> Vec<(u64, u64)> {
            let mine = |index: &(u64, _)| shard.is_none_or(|shard| shard.has(index.0));
            let wanted = (0u64..).zip(manifest.runs()).filter(mine);
            wanted.map(|(_, run)| run).collect()
        };
        let wanted = mine(manifest);
        let damage = dir.and_then(ResultDir::damage);
        let mut repaired: Vec<Damage> = damage.cloned().into_iter().collect();
        repaired.extend(
            dir.map(ResultDir::changed_code)
                .unwrap_or_default()
                .to_vec(),
        );
        // What was found at the beginning is reported once.
        if self.made_count > 0 || !self.repaired.is_empty() {
            repaired.clear();
        }
        let kept: BTreeSet<(u64, u64)> = (self.kept.iter())
            .map(|run| (run.point, run.outcome.replication))
            .collect();
        let mut lacks = |run: &(u64, u64)| {
            let state = dir.map(|dir| dir.state(run.0, run.1));
            let lacks = state != Some(RunState::Whole) && !kept.contains(run);
            if let Some(RunState::Damaged(damage)) = state {
                repaired.push(damage);
            }
            lacks
        };
        let jobs: Vec<(u64, u64)> = wanted.iter().copied().filter(|run| lacks(run)).collect();
        let own = |run: &&(u64, u64)| self.made.contains(*run) && !jobs.contains(*run);
        let own = u64::try_from(wanted.iter().filter(own).count()).unwrap_or(u64::MAX);
        let done = length(&wanted) - length(&jobs);
        // First runs are followed by all that are asked for.
        let total = match manifest.design.as_ref().is_none_or(Design::is_done) {
            true => length(&wanted),
            false => length(&wanted).max(length(&mine(&manifest.as_asked()))),
        };
        let progress = Progress {
            done,
            total,
            found: done - own,
            last: None,
        };
        (jobs, progress, repaired)
    }

    /// Goes on to the next round; what it waits for, if there are runs to wait for.
    fn go_on(
        &mut self,
        manifest: &mut Manifest,
        dir: Option<&mut ResultDir>,
    ) -> Result<Option<Waits>> {
        let Some(design) = manifest.design.clone() else {
            return Ok(None);
        };
        match dir {
            Some(dir) => {
                let missing = dir.missing();
                if !missing.is_empty() && !dir.catch_up()? {
                    let missing = length(&missing);
                    let round = design.round + 1;
                    return Ok(Some(Waits { round, missing }));
                }
                if dir.manifest().design.as_ref() == Some(&design) {
                    let batches = |point, run| dir.read_batches(point, run);
                    let results = || ResultSet::of(dir.clone());
                    match rounds::next(&design, manifest, &batches, &results) {
                        Ok(next) => dir.go_on_to(next)?,
                        // Others may have gone on, and be making some of these runs again.
                        Err(error) => match dir.catch_up()? {
                            true => {}
                            false => return Err(error),
                        },
                    }
                }
                *manifest = dir.manifest().clone();
            }
            None => {
                let kept = ResultSet::new(manifest.clone(), std::mem::take(&mut self.kept));
                let next = {
                    let batches = |point, run| kept.batches(point, run);
                    let results = || Ok(kept.clone());
                    rounds::next(&design, manifest, &batches, &results)?
                };
                self.kept = kept.runs;
                let lengths = |design: &Design, point| {
                    let plan = design.plan(point);
                    plan.map(|plan| (plan.warmup, plan.duration))
                };
                self.kept
                    .retain(|run| lengths(&design, run.point) == lengths(&next, run.point));
                *manifest = manifest.in_round(next);
            }
        }
        Ok(None)
    }
}

/// How long each run took that ended well.
fn timings(jobs: &[(u64, u64)], ended: &[End]) -> Vec<RunTiming> {
    let ended = ended.iter().filter(|end| end.result.is_ok());
    let timing = |end: &End| RunTiming {
        point: jobs[end.job].0,
        replication: jobs[end.job].1,
        wall_s: end.wall.as_secs_f64(),
    };
    ended.map(timing).collect()
}

/// The runs that failed.
fn failures(jobs: &[(u64, u64)], ended: Vec<End>) -> Vec<Failure> {
    let failure = |end: End| {
        let (point, replication) = jobs[end.job];
        end.result.err().map(|error| Failure {
            point,
            replication,
            error,
        })
    };
    ended.into_iter().filter_map(failure).collect()
}

/// Whether the user can put right what made a run fail.
pub(super) fn is_of_user(error: &LabError) -> bool {
    !matches!(error.kind(), LabErrorKind::Bug | LabErrorKind::Interrupted)
}

/// The error of a study that was stopped: what is kept of it, and how to go on.
fn interrupted(progress: &Progress, dir: Option<&ResultDir>) -> LabError {
    let (done, total) = (progress.done, progress.total);
    let (kept, remedy) = match dir {
        Some(dir) => (
            format!("{done} runs are kept in {}", dir.path().display()),
            "repeat the command to continue",
        ),
        None => (
            "nothing is kept".to_owned(),
            "use --out DIR to keep finished runs, so that the same command can continue",
        ),
    };
    let problem = format!("interrupted with {done} of {total} runs done; {kept}");
    LabError::new(LabErrorKind::Interrupted, problem).remedy(remedy)
}

/// The results, if every run is there.
fn gather(
    dir: Option<ResultDir>,
    manifest: &Manifest,
    kept: Vec<Run>,
) -> Result<Option<ResultSet>> {
    match dir {
        Some(dir) if dir.missing().is_empty() => ResultSet::of(dir).map(Some),
        Some(_) => Ok(None),
        None if length(&kept) == u64::try_from(manifest.runs().count()).unwrap_or(u64::MAX) => {
            Ok(Some(ResultSet::new(manifest.clone(), kept)))
        }
        None => Ok(None),
    }
}

/// Adds the auditor's notes, in the directory, too.
fn audited(mut results: ResultSet, notes: &[String]) -> Result<ResultSet> {
    let found = auditor::audit(&results, notes);
    results.set_notes(found)?;
    Ok(results)
}

/// What the threads share.
struct Work<'a, R> {
    points: &'a [Point],
    /// The numbers of the round, where the points leave them open.
    design: Option<&'a Design>,
    dir: Option<&'a ResultDir>,
    runner: &'a R,
    jobs: &'a [(u64, u64)],
    next: AtomicUsize,
    /// The first job that failed for a reason of the user's: none behind it is begun.
    stop: AtomicUsize,
    cancel: Option<&'a AtomicBool>,
    /// Outcomes, where there is no directory.
    kept: Mutex<Vec<Run>>,
}

/// How a job ended.
struct End {
    job: usize,
    result: Result<()>,
    wall: Duration,
}

impl<R: Fn(u64, &Resolved, u64) -> Result<RunOutcome> + Sync> Work<'_, R> {
    /// Makes the runs in a number of threads, and calls `done` for each that ended well. Returns how they ended, in their order.
    fn run_all(&self, threads: usize, mut done: impl FnMut(usize)) -> Vec<End> {
        let mut ended = Vec::with_capacity(self.jobs.len());
        std::thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            for _ in 0..threads {
                let sender = sender.clone();
                scope.spawn(move || self.take(&sender));
            }
            drop(sender);
            for end in receiver {
                if end.result.is_ok() {
                    done(end.job);
                }
                ended.push(end);
            }
        });
        ended.sort_by_key(|end| end.job);
        ended
    }

    /// Does jobs in turn until there are none.
    fn take(&self, ends: &mpsc::Sender<End>) {
        // The replications of a point follow each other, so its scenario is resolved once for all that this thread makes.
        let mut last: Option<(u64, Resolved)> = None;
        loop {
            let job = self.next.fetch_add(1, Ordering::Relaxed);
            let cancelled = self
                .cancel
                .is_some_and(|cancel| cancel.load(Ordering::Relaxed));
            if job >= self.jobs.len() || cancelled || job > self.stop.load(Ordering::Relaxed) {
                return;
            }
            let begun = Clock::now();
            let result = self.run(self.jobs[job], &mut last);
            if let Err(error) = &result
                && is_of_user(error)
            {
                self.stop.fetch_min(job, Ordering::Relaxed);
            }
            let end = End {
                job,
                result,
                wall: begun.elapsed(),
            };
            // Only a receiver that is gone refuses, and it outlives the threads.
            let _ = ends.send(end);
        }
    }

    fn run(
        &self,
        (number, replication): (u64, u64),
        last: &mut Option<(u64, Resolved)>,
    ) -> Result<()> {
        let Some(point) = usize::try_from(number)
            .ok()
            .and_then(|n| self.points.get(n))
        else {
            return Ok(());
        };
        if last.as_ref().is_none_or(|(of, _)| *of != number) {
            let scenario = point.scenario()?;
            let resolved = match self.design.and_then(|design| design.plan(number)) {
                Some(plan) => planned(&scenario, plan).resolve()?,
                None => scenario.resolve()?,
            };
            *last = Some((number, resolved));
        }
        let Some((_, scenario)) = last else {
            return Ok(());
        };
        let run = || (self.runner)(number, scenario, replication);
        let outcome = guarded(scenario, replication, run)?;
        match self.dir {
            Some(dir) => dir.write_run(number, &outcome),
            None => {
                let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.push(Run {
                    point: number,
                    outcome,
                });
                Ok(())
            }
        }
    }
}

/// A scenario with the numbers of a round.
fn planned(scenario: &Scenario, plan: Plan) -> Scenario {
    let mut planned = scenario.clone();
    planned.run.warmup = Warmup::Of(plan.warmup);
    planned.run.duration = plan.duration;
    planned
}

fn threads(given: Option<NonZero<usize>>) -> usize {
    given
        .or_else(|| std::thread::available_parallelism().ok())
        .map_or(1, NonZero::get)
}

fn length<T>(items: &[T]) -> u64 {
    u64::try_from(items.len()).unwrap_or(u64::MAX)
}

/// Wall time, which nothing but [`TIMING_FILE`] ever shows.
pub(super) struct Clock {
    begun: Instant,
    since_1970: Duration,
}

#[derive(Serialize)]
struct RunTiming {
    point: u64,
    replication: u64,
    wall_s: f64,
}

impl Clock {
    #[allow(
        clippy::disallowed_methods,
        reason = "how long a run took is not part of its result"
    )]
    pub(super) fn now() -> Instant {
        Instant::now()
    }

    #[allow(
        clippy::disallowed_methods,
        reason = "when a study ran is not part of its result"
    )]
    fn start() -> Clock {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Clock {
            begun: Clock::now(),
            since_1970: since.unwrap_or_default(),
        }
    }

    /// Adds what this process did to what others did before.
    fn write(
        &self,
        dir: Option<&ResultDir>,
        shard: Option<Shard>,
        session: &Session,
    ) -> Result<()> {
        let Some(dir) = dir else {
            return Ok(());
        };
        let name = match shard {
            None => TIMING_FILE.to_owned(),
            Some(shard) => format!("timing-{}of{}.json", shard.number, shard.of),
        };
        let earlier = std::fs::read_to_string(dir.path().join(&name)).ok();
        let earlier: Option<serde_json::Value> =
            earlier.and_then(|text| serde_json::from_str(&text).ok());
        let mut sessions = match earlier {
            Some(serde_json::Value::Array(sessions)) => sessions,
            _ => Vec::new(),
        };
        sessions.push(serde_json::json!({
            "started_unix_s": self.since_1970.as_secs(),
            "wall_s": self.begun.elapsed().as_secs_f64(),
            "host": host(),
            "threads": session.threads,
            "runs": session.timings,
        }));
        dir.write_json(&name, &sessions)
    }
}
