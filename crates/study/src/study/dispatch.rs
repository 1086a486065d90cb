//! A study whose runs are made by other processes, on this machine or others.
//!
//! This process reads the study, says which runs are to be made, takes their bytes in any order, and is the only one that
//! writes. Rounds, directory and results are those of [`execute`](super::execute()). Whoever makes the runs needs no file:
//! a [task](Dispatch::task) is a point as the manifest has it. A run follows from its point alone, so it does not matter
//! who makes it, when, or how often.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sojourn_results::manifest::{PointInfo, VERSION};
use sojourn_results::parcel::{Parcel, pack, unpack};
use sojourn_results::record::identity_of;
use sojourn_results::{Run, SCHEMA_VERSION};
use sojourn_run::run::{guarded, run_unless};
use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use sojourn_scenario::resolved::Resolved;
use sojourn_scenario::{folders, look_in};

use super::Study;
use super::execute::{Campaign, Clock, Executed, Failure, Options, Progress, is_of_user};
use crate::bundle::commit;

/// Receives news of every run that ended.
pub type Teller = Box<dyn FnMut(&Progress) + Send>;

/// A study whose runs are made elsewhere.
pub struct Dispatch {
    study: Study,
    campaign: Campaign,
    /// Runs of this round that are to be made, in order.
    jobs: Vec<(u64, u64)>,
    /// Those of them that are not there.
    left: BTreeSet<(u64, u64)>,
    at_a_time: usize,
    tell: Teller,
    /// When the first task was asked for.
    asked: Option<Instant>,
    working: Duration,
}

/// What a task is made of.
#[derive(Serialize, Deserialize)]
struct Order {
    sojourn: String,
    commit: Option<String>,
    schema_version: u64,
    /// Where the study and its scenarios were read: classes of modules may lie beside them.
    #[serde(default)]
    folders: Vec<PathBuf>,
    point: PointInfo,
}

/// What came of bytes that arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrival {
    /// The run is there now.
    Taken,
    /// The run was there before, or is not wanted in this round: nothing happened.
    NotWanted,
}

impl Dispatch {
    /// Begins a study, or goes on where a directory is.
    ///
    /// # Errors
    /// As [`execute`](super::execute()).
    pub fn begin(
        study: Study,
        path: Option<&Path>,
        options: &Options<'_>,
        tell: Teller,
    ) -> Result<Dispatch> {
        let needs = study.needs()?;
        let campaign = Campaign::begin(&study, &needs, path, options)?;
        let mut dispatch = Dispatch {
            // Results are kept here, so that all memory of another process is for runs.
            at_a_time: needs.at_a_time(&study.limits, true),
            study,
            campaign,
            jobs: Vec::new(),
            left: BTreeSet::new(),
            tell,
            asked: None,
            working: Duration::ZERO,
        };
        dispatch.look();
        Ok(dispatch)
    }

    /// Finds out which runs of the round are there.
    fn look(&mut self) {
        let Campaign {
            manifest,
            dir,
            session,
            ..
        } = &mut self.campaign;
        let (jobs, progress, repaired) = session.jobs(manifest, None, dir.as_ref());
        session.repaired.extend(repaired);
        session.progress = progress;
        self.left = jobs.iter().copied().collect();
        self.jobs = jobs;
        (self.tell)(&session.progress);
    }

    /// How long it is from the first time that somebody asked for work to the last run that arrived.
    pub fn working(&self) -> Duration {
        self.working
    }

    /// The name of the study.
    pub fn name(&self) -> &str {
        &self.study.name
    }

    /// The runs of this round that are not there, in order: point and replication.
    pub fn jobs(&self) -> Vec<(u64, u64)> {
        let left = |run: &&(u64, u64)| self.left.contains(*run);
        self.jobs.iter().filter(left).copied().collect()
    }

    /// How far the study is.
    pub fn progress(&self) -> &Progress {
        &self.campaign.session.progress
    }

    /// Runs that one process may make at a time without exceeding the limit of memory.
    pub fn at_a_time(&self) -> usize {
        self.at_a_time
    }

    /// Takes note of how many runs are made at a time in all processes.
    pub fn set_threads(&mut self, threads: usize) {
        let session = &mut self.campaign.session;
        session.threads = session.threads.max(threads);
    }

    fn point(&self, number: u64) -> Result<&PointInfo> {
        let points = &self.campaign.manifest.points;
        let found = usize::try_from(number).ok().and_then(|n| points.get(n));
        found.ok_or_else(|| LabError::new(LabErrorKind::Bug, format!("there is no point {number}")))
    }

    /// What messages call a point.
    ///
    /// # Errors
    /// When there is no such point.
    pub fn point_name(&self, number: u64) -> Result<String> {
        self.point(number).map(PointInfo::name)
    }

    /// All that another process needs to make the runs of a point, as text.
    ///
    /// # Errors
    /// When there is no such point.
    pub fn task(&mut self, number: u64) -> Result<String> {
        self.asked.get_or_insert_with(Clock::now);
        let order = Order {
            sojourn: VERSION.to_owned(),
            commit: commit().map(str::to_owned),
            schema_version: SCHEMA_VERSION,
            folders: folders(),
            point: self.point(number)?.clone(),
        };
        serde_json::to_string(&order).map_err(|error| {
            LabError::new(
                LabErrorKind::Bug,
                format!("cannot be put into JSON: {error}"),
            )
        })
    }

    /// Takes the bytes of a run, which took `wall` to make.
    ///
    /// # Errors
    /// When they are not of a run of this version, or cannot be written. The study then ends with this error.
    pub fn accept(&mut self, bytes: &[u8], wall: Duration) -> Result<Arrival> {
        let accepted = self.accept_parcel(bytes, wall);
        if let Err(error) = &accepted {
            self.campaign.session.of_user.get_or_insert(error.clone());
        }
        accepted
    }

    fn accept_parcel(&mut self, bytes: &[u8], wall: Duration) -> Result<Arrival> {
        let parcel = unpack(bytes)?;
        if parcel.version != VERSION {
            return Err(other_version(
                "the process that made a run",
                &parcel.version,
            ));
        }
        let run = (parcel.point, parcel.replication);
        if !self.left.contains(&run) || parcel.of != identity_of(self.point(parcel.point)?)? {
            return Ok(Arrival::NotWanted);
        }
        self.keep(parcel)?;
        self.left.remove(&run);
        let session = &mut self.campaign.session;
        session.note(run, wall);
        self.working = self.asked.map_or(Duration::ZERO, |asked| asked.elapsed());
        (self.tell)(&session.progress);
        Ok(Arrival::Taken)
    }

    fn keep(&mut self, parcel: Parcel) -> Result<()> {
        let (point, replication) = (parcel.point, parcel.replication);
        match &self.campaign.dir {
            Some(dir) => dir.write_files(point, replication, parcel.into_files().map(Ok)),
            None => {
                let outcome = parcel.into_outcome()?;
                self.campaign.session.kept.push(Run { point, outcome });
                Ok(())
            }
        }
    }

    /// Takes note of a run that failed: of a bug, which leaves the others, or of a mistake, which ends the study.
    pub fn fail(&mut self, run: (u64, u64), error: LabError) {
        if is_of_user(&error) {
            self.left.remove(&run);
            self.campaign.session.of_user.get_or_insert(error);
        } else {
            self.lose(run, error);
        }
    }

    /// Takes note of a run that nobody could make; the others go on.
    pub fn lose(&mut self, (point, replication): (u64, u64), error: LabError) {
        self.left.remove(&(point, replication));
        self.campaign.session.failures.push(Failure {
            point,
            replication,
            error,
        });
    }

    /// Ends the study with an error, unless a run has failed with one.
    pub fn give_up(&mut self, error: LabError) {
        self.campaign.session.of_user.get_or_insert(error);
    }

    /// Whether a run failed for a reason of the user's, so that no other is to be made.
    pub fn has_failed(&self) -> bool {
        self.campaign.session.of_user.is_some()
    }

    /// Goes on to the next round, once no run of this one is left: whether there is one.
    ///
    /// # Errors
    /// When the runs of this round cannot be read.
    pub fn go_on(&mut self) -> Result<bool> {
        if !self.left.is_empty() || !self.campaign.go_on()? {
            return Ok(false);
        }
        self.look();
        Ok(true)
    }

    /// What came of it.
    ///
    /// # Errors
    /// As [`execute`](super::execute()); when runs are left, it was interrupted.
    pub fn end(mut self) -> Result<Executed> {
        self.campaign.session.stopped |= !self.left.is_empty();
        self.campaign
            .session
            .failures
            .sort_by_key(|failure| (failure.point, failure.replication));
        self.campaign.end(&self.study.notes)
    }
}

/// A point of a study, in a process that makes runs for another one.
pub struct Task {
    point: PointInfo,
    scenario: Resolved,
}

impl Task {
    /// Reads the text of a [task](Dispatch::task).
    ///
    /// # Errors
    /// When another version wrote it, or it is none.
    pub fn read(text: &str) -> Result<Task> {
        let wrong = |error: &dyn std::fmt::Display| {
            LabError::new(
                LabErrorKind::ForeignResults,
                format!("this is not the task of a study: {error}"),
            )
        };
        let order: serde_json::Value = serde_json::from_str(text).map_err(|error| wrong(&error))?;
        let said = |key: &str| order.get(key).and_then(serde_json::Value::as_str);
        let theirs = said("sojourn").unwrap_or("of an unknown version");
        if theirs != VERSION {
            return Err(other_version("the process that asks for runs", theirs));
        }
        if let (Some(theirs), Some(ours)) = (said("commit"), commit())
            && theirs != ours
        {
            let [theirs, ours] =
                [theirs, ours].map(|commit| format!("{VERSION} of commit {commit}"));
            return Err(versions_differ(
                "the process that asks for runs",
                &theirs,
                &ours,
            ));
        }
        let order: Order = serde_json::from_value(order).map_err(|error| wrong(&error))?;
        look_in(&order.folders);
        Ok(Task {
            scenario: order.point.scenario()?.resolve()?,
            point: order.point,
        })
    }

    /// Makes a run, and gives its bytes; it ends within a fraction of a second once `stop` is true.
    ///
    /// # Errors
    /// When the run fails, by a bug too, and when it was stopped.
    pub fn run(&self, replication: u64, stop: &AtomicBool) -> Result<Vec<u8>> {
        let run = || run_unless(&self.scenario, replication, stop);
        pack(&self.point, &guarded(&self.scenario, replication, run)?)
    }
}

fn other_version(who: &str, theirs: &str) -> LabError {
    versions_differ(who, theirs, VERSION)
}

fn versions_differ(who: &str, theirs: &str, ours: &str) -> LabError {
    let problem = format!("{who} is Sojourn {theirs}, this is Sojourn {ours}: the bits can differ");
    LabError::new(LabErrorKind::ForeignResults, problem)
        .remedy("install the same version on every machine")
}
