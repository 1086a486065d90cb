//! Studies with one flaw each are named by their rule, and sound studies have no warning.
//!
//! They were written before the rules, except for `flaw-few-events` and `sound-05`, `-10` and `-15`. Where a rule is wrong about one, change the
//! rule, not the study.

use std::path::{Path, PathBuf};

use sojourn_report::{Note, Severity};
use sojourn_run::run;
use sojourn_study::study::{Options, Study, execute};

/// The studies whose names begin so, by name.
fn studies(begin: &str) -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/audited");
    let entries = std::fs::read_dir(dir).expect("the data");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut found: Vec<PathBuf> = paths.filter(|path| name(path).starts_with(begin)).collect();
    found.sort();
    found
}

fn name(path: &Path) -> &str {
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    stem.expect("a name")
}

fn notes(path: &Path) -> Vec<Note> {
    let study = Study::read(path).unwrap_or_else(|error| panic!("{error}"));
    let executed = execute(&study, run::run_resolved, None, Options::default()).expect("executed");
    executed.results.expect("all runs").manifest.notes
}

#[test]
fn a_study_with_a_flaw_is_named_by_the_rule_of_that_flaw() {
    let all = studies("flaw-");
    assert_eq!(all.len(), 10);
    for path in all {
        let rule = name(&path).trim_start_matches("flaw-");
        let notes = notes(&path);
        let told = |note: &Note| note.rule == rule && note.severity > Severity::Note;
        assert!(notes.iter().any(told), "{rule}: {notes:#?}");
    }
}

#[test]
fn a_sound_study_has_neither_error_nor_warning() {
    let all = studies("sound-");
    assert_eq!(all.len(), 15);
    for path in all {
        let mut notes = notes(&path);
        notes.retain(|note| note.severity > Severity::Note);
        assert_eq!(notes, [], "{}", name(&path));
    }
}
