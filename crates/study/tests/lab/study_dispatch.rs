//! Runs that other processes make come to the same directory, in whatever order they arrive and however often.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use sojourn_results::ResultSet;
use sojourn_results::manifest::VERSION;
use sojourn_run::run;
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_study::study::{Arrival, Dispatch, Executed, Options, Study, Task, execute};

use crate::study_execute::content;
use crate::support;

const FIXED: &str = "warmup = \"500ms\"\nreplications = 3\n";
const IN_ROUNDS: &str = "replications = 4\nstart_spread = \"8s\"\nprecision = \"4%\"\n\
     precision_of = \"sojourn_s_mean\"\nmax_replications = 12\n";

fn study(run: &str, duration: &str) -> Study {
    support::study(&format!(
        "flows = [\"10*poisson 80kbps size=500B\"]\n[run]\nduration = \"{duration}\"\n{run}\
         [topology]\nrate = \"1Mbps\"\nrtt = \"20ms\"\n[series]\nrecord = \"backlog\"\n\
         [[experiment]]\nname = \"queues\"\n[[experiment.factor]]\nname = \"queue\"\npath = \"topology.queue\"\n\
         values = [\"droptail\", \"codel\"]\ncompare = true\n"
    ))
}

fn options<'a>() -> Options<'a> {
    Options {
        command: "sojourn study study.toml".to_owned(),
        ..Options::default()
    }
}

fn begun(study: &Study, dir: Option<&Path>) -> Dispatch {
    Dispatch::begin(study.clone(), dir, &options(), Box::new(|_| ())).expect("begun")
}

/// What a worker makes of a run.
fn bytes(dispatch: &mut Dispatch, (point, replication): (u64, u64)) -> Vec<u8> {
    let task = Task::read(&dispatch.task(point).expect("a task")).expect("a task");
    task.run(replication, &AtomicBool::new(false))
        .expect("a run")
}

fn accept(dispatch: &mut Dispatch, bytes: &[u8]) -> Arrival {
    dispatch
        .accept(bytes, Duration::from_millis(1))
        .expect("accepted")
}

/// Has the runs of every round arrive from the last to the first, each twice.
fn backwards(mut dispatch: Dispatch) -> Executed {
    let mut late: Option<Vec<u8>> = None;
    loop {
        for run in dispatch.jobs().into_iter().rev() {
            let bytes = bytes(&mut dispatch, run);
            assert_eq!(accept(&mut dispatch, &bytes), Arrival::Taken);
            assert_eq!(accept(&mut dispatch, &bytes), Arrival::NotWanted);
            late.get_or_insert(bytes);
        }
        if !dispatch.go_on().expect("gone on") {
            return dispatch.end().expect("ended");
        }
        // What was on its way since the first round, which is made again or there.
        if let Some(bytes) = &late {
            assert_eq!(accept(&mut dispatch, bytes), Arrival::NotWanted);
        }
    }
}

#[test]
fn runs_that_arrive_backwards_and_twice_are_the_same_directory() {
    for (text, duration) in [(FIXED, "2s"), (IN_ROUNDS, "24s")] {
        let study = study(text, duration);
        let here = tempfile::tempdir().expect("a folder");
        let executed = execute(&study, run::run_resolved, Some(here.path()), options());
        let made = executed.expect("executed").made;
        let there = tempfile::tempdir().expect("a folder");
        let dispatched = backwards(begun(&study, Some(there.path())));
        assert_eq!((dispatched.made, dispatched.found), (made, 0));
        assert!(content(there.path()) == content(here.path()), "{text}");

        let results = ResultSet::load(here.path()).expect("results");
        let memory = backwards(begun(&study, None)).results.expect("all runs");
        assert_eq!(memory.manifest, results.manifest);
        let pairs = memory.runs.iter().zip(&results.runs);
        assert!(pairs.clone().count() == results.runs.len());
        assert!(
            pairs
                .clone()
                .all(|(one, other)| one.outcome.is_as(&other.outcome))
        );
        let series = |set: &ResultSet| set.series(1, 2).expect("series");
        assert!(!series(&memory).is_empty() && series(&memory) == series(&results));
    }
}

#[test]
fn a_study_that_was_left_goes_on_with_the_runs_that_are_missing() {
    let study = study(FIXED, "2s");
    let temp = tempfile::tempdir().expect("a folder");
    let mut dispatch = begun(&study, Some(temp.path()));
    let all = dispatch.jobs();
    let first = bytes(&mut dispatch, all[3]);
    accept(&mut dispatch, &first);
    let error = dispatch.end().expect_err("runs are left");
    assert_eq!(error.kind(), LabErrorKind::Interrupted);
    assert!(error.to_string().contains("1 of 6 runs done"), "{error}");
    let dispatch = begun(&study, Some(temp.path()));
    let left: Vec<(u64, u64)> = all.iter().copied().filter(|run| *run != all[3]).collect();
    assert_eq!(dispatch.jobs(), left);
    assert_eq!(backwards(dispatch).made, 5);
}

#[test]
fn a_run_that_nobody_could_make_leaves_the_others_whole() {
    let study = study(FIXED, "2s");
    let temp = tempfile::tempdir().expect("a folder");
    let mut dispatch = begun(&study, Some(temp.path()));
    let lost = dispatch.jobs()[2];
    dispatch.lose(lost, LabError::new(LabErrorKind::Io, "its workers died"));
    let executed = backwards(dispatch);
    assert!(executed.results.is_none());
    let failed: Vec<_> = executed
        .failures
        .iter()
        .map(|own| (own.point, own.replication))
        .collect();
    assert_eq!(failed, [lost]);
    assert_eq!(executed.made, 5);
}

#[test]
fn a_task_of_another_version_is_refused_with_both_versions() {
    let mut dispatch = begun(&study(FIXED, "2s"), None);
    let task = dispatch.task(0).expect("a task");
    let other = task.replacen(&format!("{VERSION:?}"), "\"0.0.1\"", 1);
    assert_ne!(task, other);
    let Err(error) = Task::read(&other) else {
        panic!("it is read");
    };
    let both = format!("is Sojourn 0.0.1, this is Sojourn {VERSION}");
    assert!(error.to_string().contains(&both), "{error}");
}

#[test]
fn bytes_that_are_not_those_of_a_run_are_refused_and_nothing_is_written() {
    let study = study(FIXED, "2s");
    let temp = tempfile::tempdir().expect("a folder");
    let mut dispatch = begun(&study, Some(temp.path()));
    let run = dispatch.jobs()[0];
    let good = bytes(&mut dispatch, run);
    drop(dispatch);
    let mut altered = good.clone();
    let last = altered.len() - 20;
    altered[last] ^= 1;
    let foreign = b"something else altogether".to_vec();
    for bad in [
        altered,
        good[..good.len() / 2].to_vec(),
        good[..5].to_vec(),
        foreign,
    ] {
        let mut dispatch = begun(&study, Some(temp.path()));
        let refused = dispatch.accept(&bad, Duration::ZERO);
        assert_eq!(
            refused.expect_err("bad").kind(),
            LabErrorKind::ForeignResults
        );
        assert!(dispatch.has_failed());
        assert!(dispatch.jobs().contains(&run));
        assert!(dispatch.end().is_err());
        assert!(!temp.path().join("runs").join("p000-r00.parquet").exists());
    }
}
