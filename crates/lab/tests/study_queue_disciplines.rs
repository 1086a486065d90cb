//! The study of all disciplines has them all.

use sojourn_queue::{DisciplineKind, registry};

#[test]
fn the_study_of_all_disciplines_has_every_one() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../studies/queue-disciplines/study.toml"
    );
    let text = std::fs::read_to_string(path).expect("the study");
    let (aqms, schedulers) = text
        .split_once("name = \"schedulers\"")
        .expect("two experiments");
    for entry in registry::catalogue() {
        let part = match entry.kind {
            DisciplineKind::Aqm => aqms,
            DisciplineKind::Scheduler => schedulers,
        };
        let label = format!("    \"{}\",", entry.name);
        assert!(
            part.lines().any(|line| line == label),
            "{} is missing",
            entry.name
        );
    }
}
