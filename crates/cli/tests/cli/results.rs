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
fn fresh_starts_anew_beside_what_others_keep_in_the_directory() {
    let place = Place::new();
    let first = place.ok("study small.toml --out out");
    std::fs::write(place.path("out/NOTES.md"), "mine").unwrap();
    assert_eq!(place.ok("study small.toml --out out --fresh"), first);
    assert_eq!(place.read("out/NOTES.md"), "mine");
    assert!(place.path("out/manifest.json").exists());
}

#[test]
fn fresh_removes_what_sojourn_wrote_and_leaves_the_files_of_others() {
    let place = Place::new();
    place.ok("study small.toml --out out");
    place.ok("report out --latex");
    let old: Vec<String> = place.files("out").into_iter().map(|file| file.0).collect();
    let others = [
        "NOTES.md",
        "r.tar.gz",
        "timing-mine.json",
        ".mine.part",
        "figures/user.png",
        "tables/mine.csv",
        "latex/mine.tex",
        "runs/mine.parquet",
        "checksums/SHA256SUMS",
    ];
    for name in others {
        place.write(&format!("out/{name}"), name);
    }
    place.ok("run tiny.toml --out out --fresh");
    for name in others {
        assert_eq!(place.read(&format!("out/{name}")), name);
    }
    for name in &old {
        let new = name.contains("/p000-r0") || name == "manifest.json" || name == "source.toml";
        assert_eq!(place.path(&format!("out/{name}")).exists(), new, "{name}");
    }
    place.ok("report out");
    // Results that lost their manifest are replaced, too.
    std::fs::remove_file(place.path("out/NOTES.md")).unwrap();
    std::fs::remove_file(place.path("out/manifest.json")).unwrap();
    let said = place.refused(place.sojourn("run tiny.toml --out out --fresh"));
    assert!(said.contains(".mine.part") && place.path("out/report.html").exists());
}

#[test]
fn fresh_removes_nothing_where_the_manifest_is_of_another_program() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("app/figures")).unwrap();
    let files = ["manifest.json", "report.html", "figures/p.vl.json"];
    for name in files {
        place.write(&format!("app/{name}"), r#"{"name": "app", "id": "p"}"#);
    }
    let before = place.files("app");
    let said = place.refused(place.sojourn("study small.toml --out app --fresh"));
    assert!(
        said.contains("other files, such as \"manifest.json\""),
        "{said}"
    );
    assert!(place.files("app") == before);
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
    let output = place
        .sojourn("study small.toml --out out")
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        said,
        "sojourn: out/flows/p001-r01.parquet: the file was altered after it was written: its checksum is another; its run was \
         made again\n\
         sojourn: out/runs/p002-r00.parquet: the file is missing; its run was made again\n"
    );
    assert!(output.status.success());
    assert!(place.files("out") == whole);
}

#[test]
fn a_manifest_that_was_altered_is_written_again_and_said() {
    let place = Place::new();
    place.ok("study small.toml --out out");
    let whole = place.files("out");
    let manifest = place.path("out/manifest.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    let (before, after) = text.split_once("\"checksum\": \"").unwrap();
    let other = if after.starts_with('0') { '1' } else { '0' };
    std::fs::write(
        &manifest,
        format!("{before}\"checksum\": \"{other}{}", &after[1..]),
    )
    .unwrap();
    let again = || {
        let mut command = place.sojourn("study small.toml --out out");
        String::from_utf8(command.output().unwrap().stderr).unwrap()
    };
    assert_eq!(
        again(),
        "sojourn: out/manifest.json: the file was altered after it was written: its checksum is another; it was written again\n"
    );
    assert!(place.files("out") == whole);
    assert_eq!(again(), "");
}

#[test]
fn transfers_that_go_missing_are_not_counted_as_none() {
    let place = Place::new();
    place.write(
        "fct.toml",
        r#"
        flows = ["workload sizes=(lognormal median=20kB sigma=1.5) load=0.5"]
        [run]
        duration = "3s"
        warmup = "1s"
        replications = 2
        [topology]
        rate = "5Mbps"
        [[experiment]]
        name = "e"
        [[experiment.factor]]
        name = "queue"
        path = "topology.queue"
        values = ["droptail", "codel"]
        "#,
    );
    let first = place.ok("study fct.toml --out out");
    let whole = place.files("out");
    let lost = place.path("out/transfers/p000-r01.parquet");
    std::fs::remove_file(&lost).unwrap();
    let said = place.refused(place.sojourn("report out"));
    assert_eq!(
        said,
        "out/transfers/p000-r01.parquet: the file is missing; repeat this run with: sojourn study fct.toml --out out; the \
         other runs are kept"
    );
    // In a copy, what puts it right is done to the copy.
    std::fs::rename(place.path("out"), place.path("moved")).unwrap();
    let said = place.refused(place.sojourn("report moved"));
    assert!(
        said.contains("sojourn study fct.toml --out moved; "),
        "{said}"
    );
    std::fs::rename(place.path("moved"), place.path("out")).unwrap();
    let output = place.sojourn("study fct.toml --out out").output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), first);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("transfers/p000-r01.parquet: the file is missing; its run was made again"),
        "{said}"
    );
    assert!(place.files("out") == whole);
}

/// What the processes of these commands, begun at the same time, end with: status and standard error.
#[cfg(unix)]
fn at_once(place: &Place, commands: &[String]) -> Vec<(Option<i32>, String)> {
    let children: Vec<_> = commands.iter().map(|words| started(place, words)).collect();
    children
        .into_iter()
        .map(|child| {
            let output = child.wait_with_output().unwrap();
            (
                output.status.code(),
                String::from_utf8(output.stderr).unwrap(),
            )
        })
        .collect()
}

#[cfg(unix)]
#[test]
fn of_two_studies_at_once_in_a_directory_one_runs_and_the_other_says_why_not() {
    let place = Place::new();
    // Long enough that the second has begun before the first ends.
    let study = "study small.toml --set run.duration=3000s --threads 1 --out out".to_owned();
    for _ in 0..3 {
        let _ = std::fs::remove_dir_all(place.path("out"));
        let mut ends = at_once(&place, &[study.clone(), study.clone()]);
        ends.sort();
        assert_eq!(ends[0], (Some(0), String::new()));
        let (status, said) = &ends[1];
        assert_eq!(*status, Some(2), "{said}");
        assert!(
            said.starts_with(
                "sojourn: out: another process is writing to this directory: process "
            ),
            "{said}"
        );
        assert!(
            said.contains(" since 2") && said.contains("wait until it ends"),
            "{said}"
        );
        place.ok("report out");
    }
}

#[cfg(unix)]
#[test]
fn parts_of_a_study_run_at_once_in_one_directory() {
    let place = Place::new();
    let part = |number| format!("study small.toml --threads 1 --out parts --shard {number}/4");
    let parts: Vec<String> = (1..=4).map(part).collect();
    for end in at_once(&place, &parts) {
        assert_eq!(end, (Some(0), String::new()));
    }
    place.ok("study small.toml --out whole");
    place.ok("report parts");
    place.ok("report whole");
    let mut files = place.files("parts");
    files.retain(|(name, _)| !name.starts_with("timing"));
    // The command of a study names its directory, in the manifest and in the summary.
    let data = |mut files: Vec<(String, Vec<u8>)>| {
        files.retain(|(name, _)| name.ends_with(".parquet") || name.starts_with("checksums"));
        files
    };
    assert!(data(files.clone()) == data(place.files("whole")));
    let names = |files: &[(String, Vec<u8>)]| -> Vec<String> {
        files.iter().map(|(name, _)| name.clone()).collect()
    };
    assert_eq!(names(&files), names(&place.files("whole")));
}

#[cfg(unix)]
#[test]
fn a_killed_study_leaves_no_lock_and_what_it_left_is_removed() {
    let place = Place::new();
    let study = "study small.toml --set run.duration=60s --threads 1 --out out";
    let mut child = started(&place, study);
    while !place.path("out/checksums/p000-r00.json").exists() {
        sleep(Duration::from_millis(1));
        assert!(child.try_wait().unwrap().is_none(), "it ended before");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(place.path("out/.lock").exists());
    for part in [
        ".manifest.json.host.7.part",
        "runs/.p000-r01.parquet.host.7.part",
    ] {
        place.write(&format!("out/{part}"), "half");
    }
    place.ok(study);
    for (name, _) in place.files("out") {
        assert!(
            !name.contains(".lock") && !name.ends_with(".part"),
            "{name}"
        );
    }
}

#[test]
fn a_rerun_gives_the_same_bits_or_names_the_first_file_that_differs() {
    let place = Place::new();
    place.ok("study small.toml --out out --set series.record=backlog --set series.step=1s");
    let before = place.files("out");
    assert_eq!(
        place.ok("rerun out"),
        "same bits: 90 of 90 tables (18 runs, as in out)\n"
    );
    assert_eq!(
        place.ok("rerun out --out again --threads 2"),
        "same bits: 90 of 90 tables (18 runs, as in out)\n"
    );
    assert!(place.files("out") == before);
    let runs = |mut files: Vec<(String, Vec<u8>)>| {
        files.retain(|(name, _)| name.contains('/'));
        files
    };
    assert!(runs(place.files("again")) == runs(before));
    place.ok("report again");
    for file in ["out/queues/p001-r02.parquet", "out/series/p003-r00.parquet"] {
        let mut bytes = std::fs::read(place.path(file)).unwrap();
        bytes[77] ^= 1;
        std::fs::write(place.path(file), bytes).unwrap();
    }
    std::fs::remove_file(place.path("out/checksums/p005-r02.json")).unwrap();
    for more in ["", " --out again"] {
        let output = place.sojourn(&format!("rerun out{more}")).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(
            String::from_utf8(output.stdout).unwrap(),
            "out/queues/p001-r02.parquet: other bits; 2 of 85 tables differ, this is the first\n\
             1 run of this study is not in out and not compared\n"
        );
    }
    let said = place.refused(place.sojourn("rerun out --out ./out"));
    assert!(said.contains("compared with"), "{said}");
}

#[test]
fn a_limit_in_bdp_or_time_is_told_in_bytes_and_packets_and_reruns_to_the_same_bits() {
    let place = Place::new();
    let set = "--set topology.buffer=1bdp";
    let said = place.ok(&format!("run tiny.toml {set} --out out"));
    let note =
        "Limits: 1bdp is 12500B (8 packets of 1500B) at 5Mbps and a base round trip of 20ms.";
    assert!(said.contains(note), "{said}");
    let manifest =
        String::from_utf8(std::fs::read(place.path("out/manifest.json")).unwrap()).unwrap();
    for part in [
        "\"asked\": \"1bdp\"",
        "\"became\": \"12500B\"",
        "\"buffer\": \"1bdp\"",
    ] {
        assert!(manifest.contains(part), "{part}: {manifest}");
    }
    assert_eq!(
        place.ok("rerun out --out again"),
        "same bits: 12 of 12 tables (3 runs, as in out)\n"
    );
    assert!(place.ok("report again").contains("again"));
    let again =
        String::from_utf8(std::fs::read(place.path("again/summary.json")).unwrap()).unwrap();
    assert!(again.contains("1bdp is 12500B"), "{again}");
    let said = place.ok("dumbbell --buffer 50ms --queue codel --queue drr --flow reno --duration 2s --replications 2");
    let note = "Limits: 50ms is 62500B (41 packets of 1500B) at 10Mbps.";
    assert!(said.contains(note), "{said}");
}

#[test]
fn results_given_for_a_scenario_or_a_study_are_told_to_be_rerun() {
    let place = Place::new();
    place.ok("run tiny.toml --out out");
    for line in [
        "study out/manifest.json",
        "study out",
        "run out",
        "run out/manifest.json",
    ] {
        let said = place.refused(place.sojourn(line));
        assert!(
            said.ends_with(": these are results, and no scenario or study; run them again with: sojourn rerun out"),
            "{said}"
        );
    }
    let said = place.refused(place.sojourn("rerun nowhere"));
    assert!(
        said.starts_with("nowhere: this is not a result directory: it has no manifest.json"),
        "{said}"
    );
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
    let other = manifest.replace("\"schema_version\": 2", "\"schema_version\": 7");
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
    std::fs::remove_file(place.path("out/checksums/p003-r01.json")).unwrap();
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
    assert!(
        said.starts_with("sojourn: interrupted at simulated time ")
            && said.ends_with("; no trace was written\n"),
        "{said}"
    );
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
    assert!(said.contains("repeat the command to continue"), "{said}");
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

#[test]
fn a_report_of_two_directories_names_what_differs_first_and_has_a_level_more() {
    let place = Place::new();
    place.ok("study small.toml --out a");
    place.ok("study small.toml --out b --set run.seed=7");
    let text = place.ok("report a b --out both --format table");
    assert!(text.starts_with("differs: run seed: "), "{text}");
    assert!(text.contains(" in a, 7 in b\n"), "{text}");
    assert!(text.contains("  Results  "), "{text}");
    let page = place.read("both/report.html");
    assert!(page.contains("Differences in settings") && page.contains("7 in b</li>"));
    // The directories stay as they were, and numbers say whose they are.
    assert!(!place.read("a/summary.json").contains("7 in b"));
    let csv = place.ok("report a b --out both --format csv");
    let head = csv.lines().next().unwrap();
    assert!(head.starts_with("experiment,results,"), "{head}");
    for (label, dir) in [("a", "a"), ("b", "b")] {
        let alone = place.ok(&format!("report {dir} --format csv"));
        let line = alone.lines().nth(1).unwrap();
        let (experiment, rest) = line.split_once(',').unwrap();
        let marked = format!("{experiment},{label},{rest}");
        assert!(csv.lines().any(|line| line == marked), "{marked}");
    }
}

#[test]
fn directories_that_do_not_fit_together_are_refused_with_the_reason() {
    let place = Place::new();
    place.ok("study small.toml --out a");
    place.ok("run tiny.toml --out tiny");
    for (line, parts) in [
        ("report a tiny", ["different studies", "the same study"]),
        ("report a a", ["named twice", "each once"]),
        ("report a --out b", ["--out", "leave out --out"]),
        ("report a b", ["b", "manifest.json"]),
    ] {
        let error = place.refused(place.sojourn(line));
        for part in parts {
            assert!(error.contains(part), "{line}: {error}");
        }
    }
    place.ok("study small.toml --out c --set run.seed=7");
    let error = place.refused(place.sojourn("report a c --out tiny"));
    assert!(error.contains("results of its own"), "{error}");
}
