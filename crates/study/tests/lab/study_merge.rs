//! Parts that were made in directories of their own are, merged, the directory of one process.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use sojourn_run::run;
use sojourn_scenario::LabErrorKind;
use sojourn_study::merge::{Merged, merge};
use sojourn_study::study::{Options, Shard, Study, execute};

use crate::study_execute::content;
use crate::support;

fn study(run: &str) -> Study {
    support::study(&format!(
        "flows = [\"10*poisson 80kbps size=500B\"]\n[run]\n{run}[topology]\nrate = \"1Mbps\"\nrtt = \"20ms\"\n\
         [[experiment]]\nname = \"queues\"\n[[experiment.factor]]\nname = \"queue\"\npath = \"topology.queue\"\n\
         values = [\"droptail\", \"codel\"]\ncompare = true\n"
    ))
}

const FIXED: &str = "duration = \"2s\"\nwarmup = \"500ms\"\nreplications = 4\n";

fn make(study: &Study, dir: &Path, shard: Option<Shard>) {
    let options = Options {
        command: "sojourn study study.toml".to_owned(),
        shard,
        ..Options::default()
    };
    execute(study, run::run_resolved, Some(dir), options).expect("executed");
}

/// Three parts of a study, each in its directory.
fn parts(study: &Study, root: &Path) -> Vec<PathBuf> {
    let part = |number: u64| {
        let dir = root.join(number.to_string());
        make(study, &dir, Shard::new(number, 3));
        dir
    };
    (1..=3).map(part).collect()
}

fn results(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = content(dir);
    files.retain(|(name, _)| name != "summary.json");
    for (name, bytes) in &mut files {
        // The command names the directory.
        if name == "manifest.json" {
            let mut manifest: serde_json::Value = serde_json::from_slice(bytes).expect("JSON");
            let keys = manifest.as_object_mut().expect("an object");
            keys.retain(|key, _| !["command", "checksum"].contains(&key.as_str()));
            *bytes = manifest.to_string().into_bytes();
        }
    }
    files
}

fn refused(dirs: &[PathBuf], out: &Path) -> String {
    let error = merge(dirs, out, false, &GO).expect_err("refused");
    assert_ne!(error.kind(), LabErrorKind::Bug, "{error}");
    let beside = fs::read_dir(out.parent().expect("a folder")).expect("a folder");
    let left = beside.map(|entry| entry.expect("an entry").file_name());
    assert!(
        left.into_iter()
            .all(|name| !name.to_string_lossy().starts_with('.'))
    );
    assert!(!out.exists());
    error.to_string()
}

static GO: AtomicBool = AtomicBool::new(false);

#[test]
fn a_merge_that_is_interrupted_or_in_a_part_leaves_nothing() {
    let temp = tempfile::tempdir().expect("a folder");
    let (study, root) = (study(FIXED), temp.path());
    let dirs = parts(&study, root);
    let before: Vec<_> = dirs.iter().map(|dir| content(dir)).collect();
    let stopped = merge(&dirs, &root.join("out"), false, &AtomicBool::new(true));
    assert!(stopped.is_err_and(|error| error.kind() == LabErrorKind::Interrupted));
    for place in ["1/new", "2/deep/er", "3"] {
        let error = merge(&dirs, &root.join(place), false, &GO).expect_err("refused");
        assert_eq!(error.kind(), LabErrorKind::Contradiction, "{error}");
    }
    assert!(dirs.iter().map(|dir| content(dir)).eq(before));
    assert_eq!(fs::read_dir(root).expect("a folder").count(), dirs.len());
}

#[test]
fn merged_parts_are_the_directory_of_one_process_and_stay_as_they_are() {
    let temp = tempfile::tempdir().expect("a folder");
    let (study, root) = (study(FIXED), temp.path());
    let dirs = parts(&study, root);
    let before: Vec<_> = dirs.iter().map(|dir| content(dir)).collect();
    make(&study, &root.join("whole"), None);
    let out = root.join("merged");
    let merged = merge(&dirs, &out, false, &GO).expect("merged");
    let expected = Merged {
        runs: 8,
        common: 0,
        missing: 0,
        goes_on: false,
        command: format!("sojourn study study.toml --out {}", out.display()),
    };
    assert_eq!(merged, expected);
    assert!(results(&out) == results(&root.join("whole")));
    assert!(dirs.iter().map(|dir| content(dir)).eq(before));
    // What several hold is taken once.
    let both = [root.join("whole"), dirs[0].clone()];
    let twice = merge(&both, &root.join("twice"), false, &GO).expect("merged");
    assert_eq!((twice.runs, twice.common), (8, 3));
    assert!(results(&root.join("twice")) == results(&root.join("whole")));
}

#[test]
fn a_merge_without_a_part_has_to_be_asked_for_and_goes_on_with_the_runs_that_are_missing() {
    let temp = tempfile::tempdir().expect("a folder");
    let (study, root) = (study(FIXED), temp.path());
    let dirs = parts(&study, root);
    let out = root.join("merged");
    let error = refused(&dirs[..2], &out);
    assert!(
        error.contains("of 8 runs, the directories hold 6"),
        "{error}"
    );
    let merged = merge(&dirs[..2], &out, true, &GO).expect("merged");
    assert_eq!((merged.runs, merged.missing), (6, 2));
    make(&study, &out, None);
    make(&study, &root.join("whole"), None);
    assert!(results(&out) == results(&root.join("whole")));
}

#[test]
fn rounds_of_parts_in_directories_of_their_own_come_to_the_same_decisions() {
    let study = study("duration = \"24s\"\nreplications = 4\nstart_spread = \"8s\"\n");
    let temp = tempfile::tempdir().expect("a folder");
    let root = temp.path();
    make(&study, &root.join("whole"), None);
    let dirs = parts(&study, root);
    let first = merge(&dirs, &root.join("first"), false, &GO).expect("merged");
    assert_eq!((first.missing, first.goes_on), (0, true));
    make(&study, &root.join("first"), None);
    assert!(results(&root.join("first")) == results(&root.join("whole")));
    // Of runs of an earlier round, those that the later one wants no more are left out.
    let mut all = dirs;
    all.push(root.join("first"));
    merge(&all, &root.join("again"), false, &GO).expect("merged");
    assert!(results(&root.join("again")) == results(&root.join("whole")));
}

#[test]
fn runs_that_differ_or_were_altered_are_refused_and_nothing_is_left() {
    let temp = tempfile::tempdir().expect("a folder");
    let (study, root) = (study(FIXED), temp.path());
    let dirs = parts(&study, root);
    make(&study, &root.join("whole"), None);
    let out = root.join("merged");
    let record = root.join("whole/checksums/p000-r00.json");
    let text = fs::read_to_string(&record).expect("a record");
    let at = text.find("parquet\": \"").expect("a checksum") + 11;
    let digit = if &text[at..=at] == "0" { "1" } else { "0" };
    let other = format!("{}{digit}{}", &text[..at], &text[at + 1..]);
    fs::write(&record, other).expect("written");
    let error = refused(&[dirs[0].clone(), root.join("whole")], &out);
    assert!(
        error.contains("run p000-r00 is not the same as in"),
        "{error}"
    );
    fs::write(root.join("1/flows/p000-r00.parquet"), "something").expect("written");
    let error = refused(&dirs, &out);
    assert!(error.contains("altered"), "{error}");
    assert!(error.contains("repeat the command of this part"), "{error}");
}

#[test]
fn a_manifest_with_more_replications_than_there_can_be_is_refused() {
    let temp = tempfile::tempdir().expect("a folder");
    let root = temp.path();
    let dirs = parts(&study(FIXED), root);
    let file = dirs[0].join("manifest.json");
    let text = fs::read_to_string(&file).expect("a manifest");
    let many = text.replacen(
        "\"replications\": 4",
        "\"replications\": 1000000000000000",
        1,
    );
    assert_ne!(many, text);
    fs::write(&file, many).expect("written");
    let error = refused(&dirs, &root.join("merged"));
    assert!(error.contains("at most 1000000 are possible"), "{error}");
}

#[cfg(unix)]
#[test]
fn what_is_no_regular_file_in_a_part_is_refused() {
    use std::os::unix::fs::symlink;
    let temp = tempfile::tempdir().expect("a folder");
    let root = temp.path();
    let dirs = parts(&study(FIXED), root);
    let out = root.join("merged");
    let held = |name: &str| {
        let file = dirs[0].join(name);
        let kept = root.join("kept");
        fs::rename(&file, &kept).expect("moved");
        symlink("/dev/zero", &file).expect("a link");
        let error = refused(&dirs, &out);
        assert!(error.contains("pipe or device"), "{name}: {error}");
        fs::remove_file(&file).expect("removed");
        fs::rename(&kept, &file).expect("moved back");
    };
    for name in [
        "manifest.json",
        "checksums/p000-r00.json",
        "flows/p000-r00.parquet",
    ] {
        held(name);
    }
    let secret = root.join("secret");
    fs::write(&secret, "mine").expect("written");
    let source = dirs[0].join("source.toml");
    let _ = fs::remove_file(&source);
    symlink(&secret, &source).expect("a link");
    let error = refused(&dirs, &out);
    assert!(error.contains("this is a symbolic link"), "{error}");
    fs::remove_file(&source).expect("removed");
    symlink(root.join("elsewhere"), &out).expect("a link");
    let error = merge(&dirs, &out, false, &GO)
        .expect_err("refused")
        .to_string();
    assert!(error.contains("this is a symbolic link"), "{error}");
}

#[test]
fn other_settings_seeds_numbers_and_places_are_refused() {
    let temp = tempfile::tempdir().expect("a folder");
    let root = temp.path();
    let dirs = parts(&study(FIXED), root);
    let out = root.join("merged");
    let others = [
        (
            "seed",
            format!("{FIXED}seed = 7\n"),
            "run.seed is 7 there and 1 here",
        ),
        ("rate", FIXED.replace("2s", "3s"), "run.duration"),
        (
            "more",
            FIXED.replace("= 4", "= 5"),
            "5 replications are wanted there and 4 in",
        ),
    ];
    for (name, text, said) in others {
        make(&study(&text), &root.join(name), Shard::new(2, 3));
        let error = refused(&[dirs[0].clone(), root.join(name)], &out);
        assert!(error.contains(said), "{error}");
    }
    assert!(refused(&[root.join("absent")], &out).contains("absent"));
    let taken = merge(&dirs, &dirs[0], false, &GO)
        .expect_err("taken")
        .to_string();
    assert!(
        taken.contains("there is something in this directory"),
        "{taken}"
    );
}
