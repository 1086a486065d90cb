//! Studies run whole or say why not, and give the same bits however they are run.

use std::fs;
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use sojourn_results::Kind;
use sojourn_results::outcome::RunOutcome;
use sojourn_run::run;
use sojourn_scenario::LabErrorKind;
use sojourn_scenario::Resolved;
use sojourn_scenario::error::LabError;
use sojourn_study::study::{Options, Progress, Shard, Study, execute};

use crate::support;

const STUDY: &str = r#"
flows = ["2*reno dialect=ns2", "cbr 300kbps"]
[run]
duration = "2s"
warmup = "500ms"
replications = 3
[topology]
buffer = "20p"
[[experiment]]
name = "grid"
[[experiment.factor]]
name = "rate"
path = "topology.rate"
unit = "Mbps"
values = ["1Mbps", "2Mbps"]
[[experiment.factor]]
name = "queue"
path = "topology.queue"
values = ["droptail", "codel"]
compare = true
"#;

fn study() -> Study {
    support::study(STUDY)
}

fn threads(count: usize) -> Options<'static> {
    Options {
        command: "sojourn study study.toml".to_owned(),
        threads: NonZero::new(count),
        ..Options::default()
    }
}

/// Files of a result directory with their content, except for the one with wall times.
pub(crate) fn content(folder: &Path) -> Vec<(String, Vec<u8>)> {
    fn add(root: &Path, folder: &Path, files: &mut Vec<(String, Vec<u8>)>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                add(root, &path, files);
            } else {
                let name = path
                    .strip_prefix(root)
                    .expect("below")
                    .display()
                    .to_string();
                files.push((name, fs::read(&path).expect("a file")));
            }
        }
    }
    let mut files = Vec::new();
    add(folder, folder, &mut files);
    files.retain(|(name, _)| !name.starts_with("timing"));
    files.sort();
    files
}

#[test]
fn results_are_the_same_bits_at_one_two_and_four_threads() {
    let one = tempfile::tempdir().expect("a folder");
    execute(&study(), run::run_resolved, Some(one.path()), threads(1)).expect("executed");
    let expected = content(one.path());
    assert_eq!(expected.len(), 1 + 12 * 5);
    for count in [2, 4] {
        let many = tempfile::tempdir().expect("a folder");
        execute(
            &study(),
            run::run_resolved,
            Some(many.path()),
            threads(count),
        )
        .expect("executed");
        assert!(content(many.path()) == expected, "{count} threads");
    }
    let memory = execute(&study(), run::run_resolved, None, threads(2)).expect("executed");
    let stored = sojourn_results::ResultSet::load(one.path()).expect("results");
    let mut runs = memory.results.expect("all runs").runs;
    assert_eq!(runs.len(), stored.runs.len());
    for (made, read) in runs.iter_mut().zip(&stored.runs) {
        // A directory reads these when they are asked for.
        let batches = std::mem::take(&mut made.outcome.batches);
        let (point, replication) = (read.point, read.outcome.replication);
        assert_eq!(
            batches,
            stored.batches(point, replication).expect("batches")
        );
        assert!(*made == *read, "point {point}, replication {replication}");
    }
}

#[test]
fn the_same_replication_of_every_queue_has_the_same_starts() {
    let executed = execute(&study(), run::run_resolved, None, threads(2)).expect("executed");
    let results = executed.results.expect("all runs");
    let starts = |point: u64| -> Vec<Vec<u64>> {
        let runs = results.of_point(point);
        runs.map(|run| run.flows.iter().map(|flow| flow.started.as_ps()).collect())
            .collect()
    };
    assert_eq!(starts(0), starts(1));
    assert_ne!(starts(0)[0], starts(0)[1]);
}

#[test]
fn finished_runs_are_not_made_again() {
    let temp = tempfile::tempdir().expect("a folder");
    let runs = AtomicU64::new(0);
    let counting = |scenario: &Resolved, replication: u64| {
        runs.fetch_add(1, Ordering::Relaxed);
        run::run_resolved(scenario, replication)
    };
    let first = execute(&study(), counting, Some(temp.path()), threads(2)).expect("executed");
    assert_eq!((first.made, first.found), (12, 0));
    let expected = content(temp.path());
    let removed = temp.path().join("runs/p002-r01.parquet");
    fs::remove_file(&removed).expect("removed");
    let again = execute(&study(), counting, Some(temp.path()), threads(2)).expect("executed");
    assert_eq!((again.made, again.found), (1, 11));
    assert_eq!(runs.load(Ordering::Relaxed), 13);
    assert!(content(temp.path()) == expected);
    let fresh = Options {
        fresh: true,
        ..threads(2)
    };
    let anew = execute(&study(), counting, Some(temp.path()), fresh).expect("executed");
    assert_eq!((anew.made, anew.found), (12, 0));
    assert!(content(temp.path()) == expected);
}

#[test]
fn shards_together_are_the_whole() {
    let whole = tempfile::tempdir().expect("a folder");
    execute(&study(), run::run_resolved, Some(whole.path()), threads(2)).expect("executed");
    let parts = tempfile::tempdir().expect("a folder");
    for number in 1..=3 {
        let options = Options {
            shard: Shard::new(number, 3),
            ..threads(1)
        };
        let part =
            execute(&study(), run::run_resolved, Some(parts.path()), options).expect("executed");
        assert_eq!(part.made, 4);
        assert_eq!(part.results.is_some(), number == 3);
    }
    assert!(content(parts.path()) == content(whole.path()));
    assert!("0/3".parse::<Shard>().is_err());
    assert!("4/3".parse::<Shard>().is_err());
}

#[test]
fn a_run_that_panics_is_reported_and_the_others_are_whole() {
    let temp = tempfile::tempdir().expect("a folder");
    let third = study().points[2].scenario().expect("a scenario");
    let third = third.resolve().expect("resolved").as_given();
    let failing = |scenario: &Resolved, replication: u64| {
        assert!(
            !(replication == 1 && scenario.as_given() == third),
            "backlog is negative at 1.25s"
        );
        run::run_resolved(scenario, replication)
    };
    let executed = execute(&study(), failing, Some(temp.path()), threads(2)).expect("executed");
    assert!(executed.results.is_none());
    assert_eq!((executed.made, executed.failures.len()), (11, 1));
    let failure = &executed.failures[0];
    assert_eq!((failure.point, failure.replication), (2, 1));
    let text = failure.error.to_string();
    for part in [
        "replication 1",
        "scenario \"study\"",
        "seed 1",
        "backlog is negative at 1.25s",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(failure.error.exit_status(), 101);
    let mended =
        execute(&study(), run::run_resolved, Some(temp.path()), threads(2)).expect("executed");
    assert_eq!((mended.made, mended.found), (1, 11));
    assert!(mended.results.is_some());
}

#[test]
fn the_first_run_that_cannot_be_made_ends_the_study_whatever_the_threads() {
    let failing = |_: &Resolved, replication: u64| -> Result<RunOutcome, LabError> {
        let text = format!("replication {replication} cannot be reached");
        Err(LabError::new(LabErrorKind::Unreachable, text))
    };
    for count in [1, 4] {
        let temp = tempfile::tempdir().expect("a folder");
        let path = temp.path().join("out");
        let error = execute(&study(), failing, Some(&path), threads(count)).expect_err("no run");
        assert_eq!(error.to_string(), "replication 0 cannot be reached");
        assert!(!path.exists(), "nothing is written");
    }
}

#[test]
fn a_failing_part_leaves_the_runs_of_the_others() {
    let temp = tempfile::tempdir().expect("a folder");
    let path = temp.path().join("out");
    let part = |number| Options {
        shard: Shard::new(number, 3),
        ..threads(1)
    };
    for number in [2, 3] {
        execute(&study(), run::run_resolved, Some(&path), part(number)).expect("executed");
    }
    let before = content(&path);
    let failing = |_: &Resolved, _: u64| -> Result<RunOutcome, LabError> {
        Err(LabError::new(LabErrorKind::Io, "no space left on device"))
    };
    for shard in [Shard::new(1, 3), None] {
        let options = Options {
            shard,
            ..threads(1)
        };
        let error = execute(&study(), failing, Some(&path), options).expect_err("no run");
        assert_eq!(error.to_string(), "no space left on device");
        assert!(content(&path) == before);
    }
    let last = execute(&study(), run::run_resolved, Some(&path), part(1)).expect("executed");
    assert!(last.results.is_some());
}

#[test]
fn a_failing_study_leaves_a_directory_that_it_did_not_make() {
    let temp = tempfile::tempdir().expect("a folder");
    let failing = |_: &Resolved, _: u64| -> Result<RunOutcome, LabError> {
        Err(LabError::new(LabErrorKind::Io, "no space left on device"))
    };
    execute(&study(), failing, Some(temp.path()), threads(1)).expect_err("no run");
    assert_eq!(fs::read_dir(temp.path()).expect("a folder").count(), 0);
}

#[test]
fn what_happened_to_a_run_is_told_and_it_is_made_again() {
    let temp = tempfile::tempdir().expect("a folder");
    execute(&study(), run::run_resolved, Some(temp.path()), threads(2)).expect("executed");
    let expected = content(temp.path());
    let file = temp.path().join("queues/p001-r02.parquet");
    let mut bytes = fs::read(&file).expect("a file");
    bytes[100] ^= 4;
    fs::write(&file, bytes).expect("altered");
    let again =
        execute(&study(), run::run_resolved, Some(temp.path()), threads(2)).expect("executed");
    assert_eq!((again.made, again.found), (1, 11));
    assert_eq!(again.repaired.len(), 1);
    assert_eq!(again.repaired[0].file, file);
    assert!(content(temp.path()) == expected);
}

#[test]
fn an_interrupted_study_keeps_its_runs_and_goes_on_later() {
    let temp = tempfile::tempdir().expect("a folder");
    let cancel = AtomicBool::new(false);
    let mut seen: Vec<Progress> = Vec::new();
    let mut stop = |progress: &Progress| {
        seen.push(progress.clone());
        cancel.store(progress.done >= 3, Ordering::Relaxed);
    };
    let options = Options {
        progress: Some(&mut stop),
        cancel: Some(&cancel),
        ..threads(1)
    };
    let error =
        execute(&study(), run::run_resolved, Some(temp.path()), options).expect_err("interrupted");
    assert_eq!(
        (error.kind(), error.exit_status()),
        (LabErrorKind::Interrupted, 130)
    );
    let done = seen.last().expect("progress").done;
    assert!((3..12).contains(&done), "{done}");
    let kept = fs::read_dir(temp.path().join(Kind::Runs.name()))
        .expect("a folder")
        .count();
    assert_eq!(u64::try_from(kept), Ok(done));
    let rest =
        execute(&study(), run::run_resolved, Some(temp.path()), threads(2)).expect("executed");
    assert_eq!((rest.found, rest.made), (done, 12 - done));
}

#[test]
fn an_unwritable_directory_is_an_error_before_any_run() {
    let temp = tempfile::tempdir().expect("a folder");
    let file = temp.path().join("file");
    fs::write(&file, "").expect("written");
    let never =
        |_: &Resolved, _: u64| -> Result<RunOutcome, LabError> { panic!("a run was begun") };
    let below = file.join("out");
    let error = execute(&study(), never, Some(&below), threads(1)).expect_err("no directory");
    assert_eq!((error.kind(), error.exit_status()), (LabErrorKind::Io, 2));
}
