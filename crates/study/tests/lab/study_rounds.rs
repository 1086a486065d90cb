//! A study whose warm-up and number of replications follow from its runs comes to the same end however it is run.

use std::fs;
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use sojourn_results::design::{Design, Stage};
use sojourn_results::directory::{ResultDir, ResultSet};
use sojourn_run::run;
use sojourn_scenario::{LabErrorKind, Resolved};
use sojourn_study::rerun::rerun;
use sojourn_study::study::{Executed, Options, Shard, Study, execute};
use sojourn_study::summary::comparison;
use sojourn_units::Span;

use crate::study_execute::content;
use crate::support;

/// Flows start within eight seconds, longer than the warm-up of first runs.
const SLOW: &str = "start_spread = \"8s\"\n";
const QUICK: &str = "start_spread = \"1s\"\n";

const PRECISE: &str =
    "precision = \"4%\"\nprecision_of = \"sojourn_s_mean\"\nmax_replications = 12\n";

fn study(run: &str) -> Study {
    support::study(&format!(
        "flows = [\"10*poisson 80kbps size=500B\"]\n[run]\nduration = \"24s\"\nreplications = 4\n{run}\
         [topology]\nrate = \"1Mbps\"\nrtt = \"20ms\"\n\
         [[experiment]]\nname = \"queues\"\n[[experiment.factor]]\nname = \"queue\"\npath = \"topology.queue\"\n\
         values = [\"droptail\", \"codel\"]\ncompare = true\n"
    ))
}

fn options<'a>() -> Options<'a> {
    Options {
        command: "sojourn study study.toml".to_owned(),
        threads: NonZero::new(2),
        ..Options::default()
    }
}

fn made(study: &Study, dir: &Path) -> Executed {
    execute(study, run::run_resolved, Some(dir), options()).expect("executed")
}

fn design(dir: &Path) -> Design {
    let dir = ResultDir::open(dir).expect("results");
    dir.manifest().design.clone().expect("a design")
}

/// The warm-up and the replications of all points, which are to have the same.
fn decided(dir: &Path) -> (Span, u64) {
    let design = design(dir);
    assert!(design.is_done());
    let plans: Vec<_> = [0, 1]
        .map(|point| design.plan(point).expect("a plan"))
        .into();
    assert_eq!(plans[0], plans[1]);
    let results = ResultSet::load(dir).expect("results");
    for point in &results.manifest.points {
        let scenario = point.scenario().expect("a scenario");
        assert_eq!(scenario.run.warmup(), plans[0].warmup);
        assert_eq!(point.replications, plans[0].replications);
    }
    (plans[0].warmup, plans[0].replications)
}

#[test]
fn the_warm_up_is_as_long_as_the_transient_and_no_shorter_than_that_of_first_runs() {
    for (text, longer, runs) in [(QUICK, false, 8), (SLOW, true, 14)] {
        let temp = tempfile::tempdir().expect("a folder");
        let executed = made(&study(text), temp.path());
        assert!(executed.results.is_some());
        // Three first runs of two points are made again where the warm-up is longer.
        assert_eq!(
            (executed.made, executed.found),
            (runs, 0),
            "{:?}",
            design(temp.path())
        );
        let (warmup, replications) = decided(temp.path());
        assert_eq!(replications, 4);
        match longer {
            true => assert!((6.0..=12.0).contains(&warmup.as_secs_f64()), "{warmup}"),
            false => assert_eq!(warmup, Span::from_secs(5)),
        }
        let again = made(&study(text), temp.path());
        assert_eq!((again.made, again.found), (0, 8));
    }
}

#[test]
fn a_warm_up_that_is_given_stays_and_needs_no_design() {
    let temp = tempfile::tempdir().expect("a folder");
    let executed = made(
        &study("start_spread = \"8s\"\nwarmup = \"1s\"\n"),
        temp.path(),
    );
    assert_eq!(executed.made, 8);
    let dir = ResultDir::open(temp.path()).expect("results");
    assert_eq!(dir.manifest().design, None);
}

#[test]
fn whole_in_parts_and_after_kills_the_bits_are_the_same() {
    for text in [SLOW.to_owned(), format!("{SLOW}{PRECISE}")] {
        let study = study(&text);
        let whole = tempfile::tempdir().expect("a folder");
        let executed = made(&study, whole.path());
        let expected = content(whole.path());
        let wanted = decided(whole.path());
        let memory = execute(&study, run::run_resolved, None, options()).expect("executed");
        let (memory, results) = (memory.results.expect("all"), executed.results.expect("all"));
        assert!(
            memory
                .runs
                .iter()
                .zip(&results.runs)
                .all(|(a, b)| a.point == b.point && a.outcome.is_as(&b.outcome))
        );
        assert_eq!(memory.manifest, results.manifest);

        let parts = tempfile::tempdir().expect("a folder");
        assert!(in_parts(&study, parts.path()) > 1, "rounds");
        assert_eq!(decided(parts.path()), wanted);
        assert!(content(parts.path()) == expected, "in parts: {text}");

        let killed = tempfile::tempdir().expect("a folder");
        assert!(with_kills(&study, killed.path()) > 3, "kills");
        assert!(content(killed.path()) == expected, "after kills: {text}");

        let again = rerun(killed.path(), run::run_resolved, None, options()).expect("made again");
        assert!(again.is_same() && again.absent == 0, "{again:?}");
    }
}

/// Runs three parts in turn until all is done; how often.
fn in_parts(study: &Study, dir: &Path) -> u32 {
    for turn in 1..20 {
        let mut waits = 0;
        for number in 1..=3 {
            let options = Options {
                shard: Shard::new(number, 3),
                threads: NonZero::new(1),
                ..options()
            };
            let part = execute(study, run::run_resolved, Some(dir), options).expect("executed");
            if part.results.is_some() {
                return turn;
            }
            // The last round has nothing to wait for.
            waits += u32::from(part.waits.is_some_and(|waits| waits.missing > 0));
        }
        assert!(waits > 0 || turn > 1);
    }
    panic!("no end");
}

/// Stops a study after every few runs until it is done; how often.
fn with_kills(study: &Study, dir: &Path) -> u32 {
    for kills in 0..40 {
        let (stop, count) = (AtomicBool::new(false), AtomicU64::new(0));
        let counting = |scenario: &Resolved, replication: u64| {
            if count.fetch_add(1, Ordering::Relaxed) == 2 {
                stop.store(true, Ordering::Relaxed);
            }
            run::run_unless(scenario, replication, &stop)
        };
        let options = Options {
            cancel: Some(&stop),
            ..options()
        };
        match execute(study, counting, Some(dir), options) {
            Ok(executed) => {
                assert!(executed.results.is_some());
                return kills;
            }
            Err(error) => assert_eq!(error.kind(), LabErrorKind::Interrupted, "{error}"),
        }
    }
    panic!("no end");
}

#[test]
fn replications_are_added_until_intervals_are_narrow_or_there_are_enough() {
    let temp = tempfile::tempdir().expect("a folder");
    let study = |precision: &str| {
        study(&format!(
            "{QUICK}precision = \"{precision}\"\nprecision_of = \"sojourn_s_mean\"\nmax_replications = 12\n"
        ))
    };
    // Four replications are too few to stop at, however narrow their interval is.
    made(&study("90%"), temp.path());
    assert_eq!(decided(temp.path()).1, 8);
    // The same directory, more precise: what is there is kept.
    let more = made(&study("0.2%"), temp.path());
    assert_eq!((more.made, more.found), (8, 16));
    assert_eq!(decided(temp.path()).1, 12);
    let group = &design(temp.path()).groups[0];
    assert_eq!(group.stage, Stage::Done);
    let reason = group.reasons.last().expect("a reason");
    assert!(reason.contains("the most allowed"), "{reason}");
    // The table and the auditor say so.
    let results = ResultSet::load(temp.path()).expect("results");
    let rules = results.manifest.notes.iter().map(|note| note.rule.as_str());
    assert!(rules.clone().any(|rule| rule == "precision-missed"));
    let text = comparison(&results).text(None);
    assert!(
        text.contains("Precision: with 12 replications, the most allowed"),
        "{text}"
    );
}

#[test]
fn runs_that_have_not_settled_are_made_longer_or_said_not_to_be_steady() {
    // Half of the flows start within the first half, so that a run of 24 s has no steady part.
    let slow = "start_spread = \"22s\"\n";
    let temp = tempfile::tempdir().expect("a folder");
    made(&study(slow), temp.path());
    let group = &design(temp.path()).groups[0];
    let said = group.unsettled.as_deref().unwrap_or_default();
    assert!(said.contains("in runs of 24s"), "{group:?}");
    assert_eq!(decided(temp.path()).0, Span::from_secs(5));
    let longer = tempfile::tempdir().expect("a folder");
    made(
        &study(&format!("{slow}precision = \"50%\"\n")),
        longer.path(),
    );
    let group = &design(longer.path()).groups[0];
    assert!(
        group.doublings > 0 && group.unsettled.is_none(),
        "{group:?}"
    );
    assert!(decided(longer.path()).0 >= Span::from_secs(15));
}

#[test]
fn runs_with_too_few_cycles_of_a_congestion_control_are_made_longer_or_said_not_to_be_steady() {
    // A sawtooth lasts about 67 round trips of 60 ms.
    let in_memory = |flow: &str, more: &str| {
        let text = format!(
            "flows = [\"{flow}\"]\n[run]\nduration = \"20s\"\nreplications = 3\n{more}[topology]\nrate = \"20Mbps\"\n\
             rtt = \"40ms\"\nbuffer = \"1bdp\"\n"
        );
        let study = support::study(&text);
        let executed = execute(&study, run::run_resolved, None, options()).expect("executed");
        executed.results.expect("all runs")
    };
    let reductions = |results: &ResultSet| {
        let flows = results.runs.iter().flat_map(|run| &run.outcome.flows);
        flows.map(|flow| flow.reductions).collect::<Vec<_>>()
    };
    let told = |results: &ResultSet| {
        let notes = &results.manifest.notes;
        let mut own = notes.iter().filter(|note| note.rule == "not-steady");
        own.any(|note| note.text.contains("5 are needed"))
    };
    let short = in_memory("reno", "");
    let counts = reductions(&short);
    assert!(
        counts
            .iter()
            .all(|count| count.is_some_and(|count| (1..5).contains(&count))),
        "{counts:?}"
    );
    assert!(told(&short), "{:?}", short.manifest.notes);
    let longer = in_memory("reno", "precision = \"50%\"\n");
    let design = longer.manifest.design.as_ref().expect("a design");
    assert!(design.groups[0].doublings > 0, "{design:?}");
    assert!(!told(&longer), "{:?}", longer.manifest.notes);
    // What follows a model of the path has no such cycle.
    let bbr = in_memory("bbr", "");
    assert_eq!(reductions(&bbr), [None, None, None]);
    assert!(!told(&bbr), "{:?}", bbr.manifest.notes);
}

#[test]
fn a_directory_of_other_settings_is_refused_in_any_round() {
    let temp = tempfile::tempdir().expect("a folder");
    made(&study(SLOW), temp.path());
    let before = content(temp.path());
    for (text, part) in [
        (
            "start_spread = \"7s\"\n",
            "run.start_spread is \"8s\" there and \"7s\" here",
        ),
        (
            "start_spread = \"8s\"\nwarmup = \"5s\"\n",
            "run.warmup is \"auto\" there",
        ),
    ] {
        let error = execute(
            &study(text),
            run::run_resolved,
            Some(temp.path()),
            options(),
        );
        let error = error.expect_err("another study").to_string();
        assert!(error.contains(part), "{error}");
    }
    assert!(content(temp.path()) == before);
    assert!(fs::read_dir(temp.path()).is_ok());
}
