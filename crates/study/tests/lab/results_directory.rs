//! Result directories: what is written reads back, what is half-written does not count, what is not theirs is left alone.

use std::fs;
use std::path::Path;

use sojourn_results::directory::{MANIFEST_FILE, ResultDir, ResultSet, Taking, tables_arrow};
use sojourn_results::outcome::SeriesOutcome;
use sojourn_results::{Kind, Manifest, RunState, outcome_batches};
use sojourn_run::run;
use sojourn_scenario::LabErrorKind;
use sojourn_study::study::Study;
use sojourn_units::{Span, Time};

use crate::support;

const STUDY: &str = r#"
flows = ["2*reno dialect=ns2", "cbr 300kbps"]
[run]
duration = "3s"
warmup = "500ms"
replications = 2
[topology]
rate = "2Mbps"
buffer = "20p"
[series]
record = "backlog, sojourn, throughput, cwnd"
step = "200ms"
[[experiment]]
name = "queues"
[[experiment.factor]]
name = "queue"
path = "topology.queue"
values = ["droptail", "codel"]
compare = true
"#;

fn study() -> Study {
    support::study(STUDY)
}

fn manifest() -> Manifest {
    study()
        .manifest("sojourn study study.toml")
        .expect("a manifest")
}

fn create(path: &Path) -> ResultDir {
    ResultDir::create(path, manifest(), Taking::default()).expect("a result directory")
}

/// Every file below a folder, by path, with its content.
fn content(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => files.extend(content(&path)),
            false => files.push((path.display().to_string(), fs::read(&path).expect("a file"))),
        }
    }
    files.sort();
    files
}

#[test]
fn a_run_reads_back_as_it_was_to_the_last_bit() {
    let temp = tempfile::tempdir().expect("a folder");
    let dir = create(&temp.path().join("out"));
    for (point, number) in study().points.iter().zip(0..) {
        let outcome = run::run(&point.scenario().expect("a scenario"), 1).expect("a run");
        dir.write_run(number, &outcome).expect("written");
        let mut read = dir.read_run(number, 1).expect("read");
        read.series = dir.read_series(number, 1).expect("series");
        read.batches = dir.read_batches(number, 1).expect("batches");
        assert!(!outcome.batches.is_empty());
        assert!(outcome.queues.iter().any(|queue| queue.sojourn.count() > 0));
        assert!(!outcome.series.is_empty());
        // NaN, where a series has no sample, is not equal to itself; its text is.
        assert_eq!(format!("{read:?}"), format!("{outcome:?}"));
    }
}

#[test]
fn the_deficit_of_each_queue_of_a_scheduler_is_recorded_on_request() {
    let text = STUDY
        .replace("throughput, cwnd", "queues")
        .replace(r#""codel"]"#, r#""drr quantum=700B"]"#);
    let study = support::study(&text);
    let temp = tempfile::tempdir().expect("a folder");
    let dir = ResultDir::create(
        temp.path(),
        study.manifest("sojourn study").expect("a manifest"),
        Taking::default(),
    );
    let dir = dir.expect("a result directory");
    let inner = |number: u64, quantity: &str| {
        let point = &study.points[usize::try_from(number).expect("small")];
        let outcome = run::run(&point.scenario().expect("a scenario"), 0).expect("a run");
        dir.write_run(number, &outcome).expect("written");
        let mut series = dir.read_series(number, 0).expect("series");
        series.retain(|series| series.quantity == quantity && series.of.starts_with("left-right"));
        series
    };
    assert!(inner(0, "queue_deficit_bytes").is_empty());
    let deficits = inner(1, "queue_deficit_bytes");
    let names: Vec<&str> = deficits.iter().map(|series| series.of.as_str()).collect();
    assert_eq!(
        names,
        [
            "left-right/queue-0",
            "left-right/queue-1",
            "left-right/queue-2"
        ]
    );
    let seen: Vec<f64> = deficits.iter().flat_map(|s| s.values.clone()).collect();
    assert!(seen.iter().any(|deficit| *deficit > 0.0));
    // Below a quantum and the largest packet.
    assert!(
        seen.iter()
            .all(|deficit| deficit.is_nan() || *deficit < 700.0 + 1500.0)
    );
    let packets = inner(1, "queue_packets");
    let whole = inner(1, "backlog_packets");
    // A queue is recorded from when its first packet came.
    let at = |series: &SeriesOutcome, time: Time| {
        let since = time.as_ps().checked_sub(series.first.as_ps());
        let sample = since.map(|ps| usize::try_from(ps / series.step.as_ps()).expect("small"));
        sample.map_or(0.0, |sample| series.values[sample])
    };
    for (sample, total) in (0..).zip(&whole[0].values) {
        let time = whole[0].first + Span::from_ps(sample * whole[0].step.as_ps());
        let parts: f64 = packets.iter().map(|s| at(s, time)).sum();
        assert!((parts - total).abs() < 0.5, "{parts} {total}");
    }
}

#[test]
fn a_run_without_its_last_file_or_with_half_a_file_is_not_there() {
    let temp = tempfile::tempdir().expect("a folder");
    let dir = create(temp.path());
    let outcome = run::run(&study().points[0].scenario().expect("a scenario"), 0).expect("a run");
    assert!(!dir.has_run(0, 0));
    dir.write_run(0, &outcome).expect("written");
    assert!(dir.has_run(0, 0));
    let flows = dir.file(Kind::Flows, 0, 0);
    let whole = fs::read(&flows).expect("a file");
    fs::write(&flows, &whole[..whole.len() / 2]).expect("cut short");
    assert!(!dir.has_run(0, 0));
    let error = dir.read_run(0, 0).expect_err("half a file").to_string();
    assert!(error.contains("p000-r00.parquet"), "{error}");
    fs::write(&flows, &whole).expect("mended");
    fs::remove_file(dir.file(Kind::Runs, 0, 0)).expect("removed");
    assert!(!dir.has_run(0, 0));
}

/// The problem of a run that something happened to, and the name of the file.
fn damage(dir: &ResultDir, point: u64, replication: u64) -> (String, String) {
    match dir.state(point, replication) {
        RunState::Damaged(damage) => {
            let name = damage.file.strip_prefix(dir.path()).expect("in it");
            (name.display().to_string(), damage.problem)
        }
        state => panic!("{state:?}"),
    }
}

#[test]
fn a_missing_file_of_any_kind_is_found_by_its_name() {
    let text = STUDY.replace(
        "\"cbr 300kbps\"",
        "\"workload sizes=(fixed bytes=20kB) load=0.3\"",
    );
    let study = support::study(&text);
    let temp = tempfile::tempdir().expect("a folder");
    let manifest = study.manifest("sojourn study").expect("a manifest");
    let dir = ResultDir::create(temp.path(), manifest, Taking::default()).expect("a directory");
    let outcome = run::run(&study.points[0].scenario().unwrap(), 0).expect("a run");
    dir.write_run(0, &outcome).expect("written");
    for name in ["flows", "queues", "transfers", "series", "batches", "runs"] {
        let file = temp.path().join(name).join("p000-r00.parquet");
        let bytes = fs::read(&file).expect("a file");
        fs::remove_file(&file).expect("removed");
        let name = format!("{name}/p000-r00.parquet");
        assert_eq!(damage(&dir, 0, 0), (name, "the file is missing".to_owned()));
        let series = dir.read_series(0, 0).map(|_| ());
        let batches = dir.read_batches(0, 0).map(|_| ());
        let error = dir.read_run(0, 0).map(|_| ()).and(series).and(batches);
        let error = error.expect_err("a file is missing").to_string();
        assert!(error.contains(&file.display().to_string()), "{error}");
        assert!(
            error.contains("repeat this run with: sojourn study"),
            "{error}"
        );
        fs::write(&file, bytes).expect("put back");
    }
    assert_eq!(dir.state(0, 0), RunState::Whole);
}

#[test]
fn no_flipped_bit_is_taken_for_what_was_written() {
    let temp = tempfile::tempdir().expect("a folder");
    let dir = create(temp.path());
    let outcome = run::run(&study().points[0].scenario().unwrap(), 0).expect("a run");
    dir.write_run(0, &outcome).expect("written");
    let record = "checksums/p000-r00.json";
    for name in ["queues/p000-r00.parquet", "runs/p000-r00.parquet", record] {
        let file = temp.path().join(name);
        let bytes = fs::read(&file).expect("a file");
        for step in 0..30 {
            let mut flipped = bytes.clone();
            flipped[step * bytes.len() / 30] ^= 1 << (step % 8);
            fs::write(&file, &flipped).expect("written");
            // A blank that became another blank changes nothing.
            assert!(name == record || !dir.has_run(0, 0), "{name}, {step}");
            assert!(
                name == record || dir.read_run(0, 0).is_err(),
                "{name}, {step}"
            );
            if let Ok(read) = dir.read_run(0, 0) {
                assert_eq!(
                    format!("{:?}", read.queues),
                    format!("{:?}", outcome.queues)
                );
            }
        }
        fs::write(&file, bytes).expect("put back");
    }
    assert!(dir.has_run(0, 0));
}

#[test]
fn runs_of_another_scenario_do_not_count_when_the_manifest_is_lost() {
    let temp = tempfile::tempdir().expect("a folder");
    let dir = create(temp.path());
    let outcome = run::run(&study().points[0].scenario().unwrap(), 0).expect("a run");
    dir.write_run(0, &outcome).expect("written");
    drop(dir);
    fs::write(temp.path().join("summary.json"), "{}").expect("written");
    let lost = || fs::remove_file(temp.path().join(MANIFEST_FILE)).expect("removed");
    lost();
    let other = support::study(&STUDY.replace("2Mbps", "4Mbps"));
    let other = other.manifest("").expect("a manifest");
    let dir = ResultDir::create(temp.path(), other, Taking::default()).expect("a directory");
    assert_eq!(dir.state(0, 0), RunState::Absent);
    drop(dir);
    lost();
    let renamed = support::study(&format!("name = \"other\"\n{STUDY}"));
    let renamed = renamed.manifest("").expect("a manifest");
    let dir = ResultDir::create(temp.path(), renamed, Taking::default()).expect("a directory");
    assert_eq!(dir.state(0, 0), RunState::Whole);
}

#[test]
fn a_manifest_that_was_altered_is_not_read_and_the_study_writes_it_again() {
    let temp = tempfile::tempdir().expect("a folder");
    create(temp.path());
    let path = temp.path().join(MANIFEST_FILE);
    let text = fs::read_to_string(&path).expect("a manifest");
    let altered = text.replacen("\"queue\": \"CoDel\"", "\"queue\": \"CoDem\"", 1);
    assert_ne!(altered, text);
    fs::write(&path, &altered).expect("written");
    let error = ResultSet::load(temp.path())
        .expect_err("altered")
        .to_string();
    assert!(error.starts_with(&path.display().to_string()), "{error}");
    assert!(error.contains("altered"), "{error}");
    fs::write(&path, text.replacen("\"title\": \"", "\"title\": \"Q", 1)).expect("written");
    assert!(ResultDir::open(temp.path()).is_err());
    create(temp.path());
    assert_eq!(fs::read_to_string(&path).expect("a manifest"), text);
}

#[test]
fn a_directory_that_is_written_into_is_refused_with_the_process_that_does() {
    let temp = tempfile::tempdir().expect("a folder");
    let dir = create(temp.path());
    let before = content(temp.path());
    for fresh in [false, true] {
        let taking = Taking { fresh, part: None };
        let error = ResultDir::create(temp.path(), manifest(), taking).expect_err("in use");
        assert_eq!(error.kind(), LabErrorKind::Io);
        let process = format!("process {}", std::process::id());
        let text = error.to_string();
        assert!(
            text.contains(&process) && text.contains("--shard"),
            "{text}"
        );
    }
    assert!(content(temp.path()) == before);
    drop(dir);
    create(temp.path());
}

#[test]
fn parts_write_side_by_side_and_fresh_is_refused_beside_others() {
    let temp = tempfile::tempdir().expect("a folder");
    let part = |number, fresh| {
        let taking = Taking {
            fresh,
            part: Some((number, 3)),
        };
        ResultDir::create(temp.path(), manifest(), taking)
    };
    let first = part(1, true).expect("nobody else");
    let outcome = run::run(&study().points[0].scenario().unwrap(), 0).expect("a run");
    first.write_run(0, &outcome).expect("written");
    let leftover = temp.path().join("runs/.p000-r01.parquet.elsewhere.7.part");
    fs::write(&leftover, "being written").expect("written");
    let second = part(2, false).expect("beside the first");
    let error = part(3, true).expect_err("others write").to_string();
    assert!(error.contains("remove --fresh"), "{error}");
    let error = part(2, false).expect_err("twice").to_string();
    assert!(error.contains("(part 2/3)"), "{error}");
    assert!(second.has_run(0, 0));
    assert!(leftover.exists(), "another part may be writing it");
    drop((first, second));
    assert!(create(temp.path()).has_run(0, 0));
    assert!(!leftover.exists());
}

#[test]
fn results_with_runs_missing_are_not_read_as_whole() {
    let temp = tempfile::tempdir().expect("a folder");
    let dir = create(temp.path());
    let outcome = run::run(&study().points[0].scenario().expect("a scenario"), 0).expect("a run");
    dir.write_run(0, &outcome).expect("written");
    let error = ResultSet::load(temp.path()).expect_err("three runs are missing");
    assert_eq!(
        error.to_string(),
        format!(
            "{}: 3 of 4 runs are missing; the first one is p000-r01; finish it with: sojourn study study.toml --out {0} (or merge it, if it is a part: sojourn merge)",
            temp.path().display()
        )
    );
}

#[test]
fn a_directory_of_something_else_is_left_as_it_is() {
    let temp = tempfile::tempdir().expect("a folder");
    fs::write(temp.path().join("thesis.tex"), "years of work").expect("written");
    for fresh in [false, true] {
        let taking = Taking { fresh, part: None };
        let error = ResultDir::create(temp.path(), manifest(), taking).expect_err("not results");
        assert_eq!(error.kind(), LabErrorKind::ForeignResults);
        assert!(error.to_string().contains("thesis.tex"), "{error}");
    }
    assert_eq!(content(temp.path()).len(), 1);
}

#[test]
fn results_of_another_study_are_refused_and_only_fresh_replaces_them() {
    let temp = tempfile::tempdir().expect("a folder");
    let dir = create(temp.path());
    let outcome = run::run(&study().points[0].scenario().expect("a scenario"), 0).expect("a run");
    dir.write_run(0, &outcome).expect("written");
    drop(dir);
    let before = content(temp.path());
    let other = STUDY.replace("2Mbps", "4Mbps");
    let other = support::study(&other).manifest("").expect("a manifest");
    let error = ResultDir::create(temp.path(), other.clone(), Taking::default())
        .expect_err("another study")
        .to_string();
    assert!(
        error.contains("topology.rate is \"2Mbps\" there and \"4Mbps\" here"),
        "{error}"
    );
    assert!(error.contains("--fresh"), "{error}");
    assert_eq!(content(temp.path()), before);
    let fresh = Taking {
        fresh: true,
        part: None,
    };
    let dir = ResultDir::create(temp.path(), other, fresh).expect("replaced");
    assert!(!dir.has_run(0, 0));
}

#[test]
fn results_of_another_version_are_refused() {
    let temp = tempfile::tempdir().expect("a folder");
    create(temp.path());
    let path = temp.path().join(MANIFEST_FILE);
    let text = fs::read_to_string(&path).expect("a manifest");
    let ours = format!("\"sojourn\": \"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(text.contains(&ours));
    fs::write(&path, text.replace(&ours, "\"sojourn\": \"0.0.1\"")).expect("written");
    let error = ResultDir::create(temp.path(), manifest(), Taking::default())
        .expect_err("another version")
        .to_string();
    assert!(
        error.contains("Sojourn 0.0.1 wrote these results"),
        "{error}"
    );
    fs::write(
        &path,
        text.replace("\"schema_version\": 2", "\"schema_version\": 99"),
    )
    .expect("written");
    let error = ResultDir::open(temp.path())
        .expect_err("another form")
        .to_string();
    assert!(error.contains("schema_version 99"), "{error}");
}

#[test]
fn the_same_study_with_more_replications_keeps_its_runs() {
    let temp = tempfile::tempdir().expect("a folder");
    let dir = create(temp.path());
    let outcome = run::run(&study().points[0].scenario().expect("a scenario"), 0).expect("a run");
    dir.write_run(0, &outcome).expect("written");
    drop(dir);
    let more = STUDY.replace("replications = 2", "replications = 3");
    let more = support::study(&more).manifest("").expect("a manifest");
    let dir = ResultDir::create(temp.path(), more, Taking::default()).expect("the same study");
    assert!(dir.has_run(0, 0));
    assert_eq!(dir.missing().len(), 5);
}

#[test]
fn runs_of_more_replications_than_there_are_now_are_counted() {
    let temp = tempfile::tempdir().expect("a folder");
    let dir = create(temp.path());
    for replication in 0..2 {
        let outcome = run::run(
            &study().points[0].scenario().expect("a scenario"),
            replication,
        )
        .expect("a run");
        dir.write_run(0, &outcome).expect("written");
    }
    assert_eq!(dir.beyond().expect("readable"), 0);
    drop(dir);
    let fewer = STUDY.replace("replications = 2", "replications = 1");
    let fewer = support::study(&fewer).manifest("").expect("a manifest");
    let dir = ResultDir::create(temp.path(), fewer, Taking::default()).expect("the same study");
    assert_eq!(dir.beyond().expect("readable"), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_that_another_part_is_writing_is_not_counted_as_one_too_many() {
    let temp = tempfile::tempdir().expect("a folder");
    let dir = create(temp.path());
    let scenario = study().points[0].scenario().expect("a scenario");
    let outcome = run::run(&scenario, 0).expect("a run");
    dir.write_run(0, &outcome).expect("written");
    let folder = temp.path().join("runs");
    let mut files = fs::read_dir(&folder).expect("readable");
    let whole = files.next().expect("a run").expect("readable").path();
    fs::copy(&whole, temporary(&whole)).expect("copied");
    assert_eq!(dir.beyond().expect("readable"), 0);
}

/// The name under which this process writes a file before it renames it.
#[cfg(target_os = "linux")]
fn temporary(path: &Path) -> std::path::PathBuf {
    let name = path.file_name().expect("a name").to_string_lossy();
    let host = fs::read_to_string("/proc/sys/kernel/hostname").expect("a name");
    let process = std::process::id();
    path.with_file_name(format!(".{name}.{}.{process}.part", host.trim()))
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_no_run_and_says_so() {
    let temp = tempfile::tempdir().expect("a folder");
    let dir = create(temp.path());
    let outcome = run::run(&study().points[0].scenario().expect("a scenario"), 0).expect("a run");
    for kind in Kind::ALL.into_iter().filter(|kind| kind.is_in(&outcome)) {
        let path = dir.file(kind, 0, 0);
        std::os::unix::fs::symlink("/dev/full", temporary(&path)).expect("a link");
        let error = dir.write_run(0, &outcome).expect_err("a full disk");
        assert_eq!(error.kind(), LabErrorKind::Io);
        let text = error.to_string();
        assert!(text.starts_with(&path.display().to_string()), "{text}");
        assert!(text.contains("make room on the disk"), "{text}");
        assert!(!path.exists());
        assert!(!dir.has_run(0, 0));
        assert!(!dir.file(Kind::Flows, 0, 0).exists(), "half a run stays");
    }
    dir.write_run(0, &outcome).expect("room again");
    assert!(dir.has_run(0, 0));
}

#[test]
fn a_path_that_is_a_file_cannot_be_a_directory() {
    let temp = tempfile::tempdir().expect("a folder");
    let path = temp.path().join("out");
    fs::write(&path, "").expect("written");
    let error = ResultDir::create(&path, manifest(), Taking::default()).expect_err("a file");
    assert_eq!((error.kind(), error.exit_status()), (LabErrorKind::Io, 2));
}

#[test]
fn leftovers_of_an_interrupted_writer_are_removed() {
    let temp = tempfile::tempdir().expect("a folder");
    let dir = create(temp.path());
    let leftovers = [
        "runs/.p000-r00.parquet.1.part",
        ".manifest.json.1.part",
        "tables/.delay.csv.1.part",
    ];
    fs::create_dir(temp.path().join("tables")).expect("made");
    for leftover in leftovers {
        fs::write(temp.path().join(leftover), "half").expect("written");
    }
    drop(dir);
    create(temp.path());
    for leftover in leftovers {
        assert!(!temp.path().join(leftover).exists(), "{leftover}");
    }
}

#[test]
fn tables_over_all_runs_have_the_levels_of_factors() {
    let temp = tempfile::tempdir().expect("a folder");
    let dir = create(temp.path());
    for (point, number) in study().points.iter().zip(0..) {
        for replication in 0..2 {
            let outcome =
                run::run(&point.scenario().expect("a scenario"), replication).expect("a run");
            dir.write_run(number, &outcome).expect("written");
        }
    }
    let tables = tables_arrow(temp.path()).expect("tables");
    let rows = |kind| {
        let (_, table) = tables
            .iter()
            .find(|(other, _)| *other == kind)
            .expect("a table");
        (table.num_rows(), table.schema())
    };
    assert_eq!(rows(Kind::Runs).0, 4);
    assert_eq!(rows(Kind::Flows).0, 4 * 3);
    assert_eq!(rows(Kind::Queues).0, 4 * 2);
    for kind in Kind::ALL {
        assert!(rows(kind).1.field_with_name("factor_queue").is_ok());
        // There is no group, no workload and no media.
        let absent = [Kind::Receivers, Kind::Transfers, Kind::Media].contains(&kind);
        assert_eq!(rows(kind).0 > 0, !absent);
    }
    let outcome = run::run(&study().points[0].scenario().expect("a scenario"), 0).expect("a run");
    let batches = outcome_batches(&[outcome.clone(), outcome]).expect("tables");
    assert_eq!(
        batches.iter().map(|(_, table)| table.num_rows()).max(),
        Some(2 * 15 * 15)
    );
}
