//! Result directories: the same bytes whatever the threads and however often a study was stopped; whole or absent.

use crate::support::Place;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let one = Place::new();
    one.ok("study small.toml --out out --threads 1");
    let all = one.files("out");
    assert!(all.len() > 40);
    for threads in [2, 4] {
        let place = Place::new();
        place.ok(&format!("study small.toml --out out --threads {threads}"));
        let other = place.files("out");
        for (ours, theirs) in all.iter().zip(&other) {
            assert_eq!(ours.0, theirs.0);
            assert!(ours.1 == theirs.1, "{} with {threads} threads", ours.0);
        }
        assert_eq!(all.len(), other.len());
    }
}

#[test]
fn a_study_that_is_done_is_not_run_again_and_fresh_starts_anew() {
    let place = Place::new();
    let first = place.ok("study small.toml --out out");
    let stamp = |name: &str| {
        std::fs::metadata(place.path(name))
            .unwrap()
            .modified()
            .unwrap()
    };
    let before = stamp("out/runs/p000-r00.parquet");
    assert_eq!(place.ok("study small.toml --out out"), first);
    assert_eq!(stamp("out/runs/p000-r00.parquet"), before);
    sleep(Duration::from_millis(20));
    assert_eq!(place.ok("study small.toml --out out --fresh"), first);
    assert!(stamp("out/runs/p000-r00.parquet") > before);
}

#[test]
fn more_replications_go_on_from_those_that_are_there() {
    let place = Place::new();
    place.ok("run tiny.toml --out out --replications 2");
    let run = place.path("out/runs/p000-r01.parquet");
    let before = std::fs::metadata(&run).unwrap().modified().unwrap();
    place.ok("run tiny.toml --out out --replications 4");
    assert_eq!(std::fs::metadata(&run).unwrap().modified().unwrap(), before);
    assert!(place.path("out/runs/p000-r03.parquet").exists());
}

#[test]
fn a_run_that_is_half_written_is_made_again() {
    let place = Place::new();
    place.ok("study small.toml --out out");
    let whole = place.files("out");
    let broken = place.path("out/flows/p001-r01.parquet");
    let bytes = std::fs::read(&broken).unwrap();
    std::fs::write(&broken, &bytes[..bytes.len() / 2]).unwrap();
    std::fs::remove_file(place.path("out/runs/p002-r00.parquet")).unwrap();
    place.ok("study small.toml --out out");
    assert!(place.files("out") == whole);
}

#[test]
fn another_study_is_kept_out_of_a_result_directory() {
    let place = Place::new();
    place.ok("study small.toml --out out");
    let before = place.files("out");
    let said = place.refused(place.sojourn("study small.toml --out out --set run.seed=5"));
    assert!(said.starts_with("out: "), "{said}");
    assert!(
        said.contains("run.seed") && said.contains("--fresh"),
        "{said}"
    );
    let said = place.refused(place.sojourn("run tiny.toml --out out"));
    assert!(
        said.contains("points") && said.contains("--fresh"),
        "{said}"
    );
    assert!(place.files("out") == before);
    place.ok("study small.toml --out out --set run.seed=5 --fresh");
}

#[test]
fn results_of_another_version_and_other_files_are_left_alone() {
    let place = Place::new();
    place.ok("study small.toml --out out");
    let manifest = place.read("out/manifest.json");
    let other = manifest.replace("\"schema_version\": 1", "\"schema_version\": 7");
    assert_ne!(manifest, other);
    place.write("out/manifest.json", &other);
    let said = place.refused(place.sojourn("study small.toml --out out"));
    assert!(
        said.contains("schema_version 7") && said.contains("--fresh"),
        "{said}"
    );
    std::fs::create_dir(place.path("photos")).unwrap();
    place.write("photos/cat.png", "meow");
    let said = place.refused(place.sojourn("study small.toml --out photos --fresh"));
    assert!(
        said.starts_with("photos: ") && said.contains("cat.png"),
        "{said}"
    );
    assert_eq!(place.read("photos/cat.png"), "meow");
}

#[test]
fn report_wants_a_result_directory_with_all_runs() {
    let place = Place::new();
    let said = place.refused(place.sojourn("report nowhere"));
    assert!(said.starts_with("nowhere"), "{said}");
    place.ok("study small.toml --out out");
    std::fs::remove_file(place.path("out/runs/p003-r01.parquet")).unwrap();
    let said = place.refused(place.sojourn("report out"));
    assert!(
        said.contains("p003-r01") && said.contains("sojourn study small.toml --out out"),
        "{said}"
    );
}

/// The command with these words, while it runs.
#[cfg(unix)]
fn started(place: &Place, words: &str) -> std::process::Child {
    Command::new(env!("CARGO_BIN_EXE_sojourn"))
        .current_dir(place.path(""))
        .args(words.split(' '))
        .stderr(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Sends an interrupt as Ctrl-C does.
#[cfg(unix)]
fn interrupt(process: u32) {
    let status = Command::new("kill")
        .args(["-INT", &process.to_string()])
        .status();
    assert!(status.unwrap().success());
}

#[cfg(unix)]
#[test]
fn an_interrupted_trace_leaves_nothing() {
    let place = Place::new();
    let words = "run tiny.toml --set run.duration=20000s --trace ns2 run.tr";
    let mut child = started(&place, words);
    let partial = place.path("run.tr.partial");
    while std::fs::metadata(&partial).map_or(0, |file| file.len()) == 0 {
        sleep(Duration::from_millis(1));
        assert!(child.try_wait().unwrap().is_none(), "it ended before");
    }
    interrupt(child.id());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, "sojourn: stopped; the trace is not written\n");
    assert!(!partial.exists());
    assert!(!place.path("run.tr").exists());
}

#[cfg(unix)]
#[test]
fn an_interrupted_study_keeps_its_runs_and_goes_on_to_the_same_bytes() {
    let place = Place::new();
    // Long enough that it cannot end before the interrupt comes.
    let study = "study small.toml --set run.duration=60s --threads 1 --set run.replications=5";
    let mut child = started(&place, &format!("{study} --out out"));
    let first = place.path("out/runs/p000-r00.parquet");
    while !first.exists() {
        sleep(Duration::from_millis(1));
        assert!(
            child.try_wait().unwrap().is_none(),
            "ended before it was interrupted"
        );
    }
    interrupt(child.id());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(
        said.contains("the same command goes on from there"),
        "{said}"
    );
    assert!(output.stdout.is_empty());
    let kept = place.files("out");
    assert!(!place.path("out/runs/p005-r04.parquet").exists());
    assert!(!kept.iter().any(|file| file.0.contains("partial")));
    let stamp = || std::fs::metadata(&first).unwrap().modified().unwrap();
    let before = stamp();
    let resumed = place.ok(&format!("{study} --out out"));
    assert_eq!(stamp(), before, "a finished run was made again");
    let other = Place::new();
    let whole = other.ok(&format!("{study} --out out"));
    assert_eq!(resumed, whole);
    assert!(place.files("out") == other.files("out"));
}

#[test]
fn a_directory_that_cannot_be_written_is_said_at_once() {
    let place = Place::new();
    place.write("file", "");
    let said = place.refused(place.sojourn("run tiny.toml --out file/out"));
    assert!(said.starts_with("file/out"), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_leaves_nothing_half_written() {
    let place = Place::new();
    let said =
        place.refused(place.sojourn("run tiny.toml --set dialect=ns2 --trace ns2 /dev/full"));
    assert!(
        said.starts_with("/dev/full: cannot write the trace: "),
        "{said}"
    );
    assert!(
        said.ends_with("; make room on the disk, or choose another place"),
        "{said}"
    );
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_sojourn"))
        .arg("list")
        .stdout(full)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.starts_with("sojourn: standard output: cannot write: "),
        "{said}"
    );
}
