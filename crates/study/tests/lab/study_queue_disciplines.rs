//! The study of all disciplines has them all, and each runs wherever a queue can stand.

use sojourn_queue::{DisciplineKind, registry};
use sojourn_scenario::document::Document;
use sojourn_scenario::model::Scenario;
use sojourn_scenario::reader::with_buffer;
use sojourn_units::{Buffer, Limit, Packets, Spec};

#[test]
fn every_discipline_runs_at_a_bottleneck_whose_buffer_is_given() {
    for entry in registry::catalogue() {
        let text = format!(
            "name = {:?}\nflows = [\"2*reno\", \"cbr 1Mbps\"]\n[run]\nduration = \"2s\"\nwarmup = \"0s\"\n\
             [topology]\nrate = \"5Mbps\"\nbuffer = \"20p\"\nqueue = {:?}\n",
            entry.name, entry.name
        );
        let document = Document::parse(&text, entry.name).expect("TOML");
        let scenario = Scenario::from_document(&document).unwrap_or_else(|e| panic!("{e}"));
        let outcome = sojourn_run::run::run(&scenario, 0).unwrap_or_else(|e| panic!("{e}"));
        let queue = outcome.queues.iter().find(|q| q.bottleneck);
        let sent = queue.map_or(0, |queue| queue.sent_packets);
        assert!(sent > 100, "{}: {sent} packets sent", entry.name);
    }
}

#[test]
fn a_buffer_goes_to_the_queues_of_a_scheduler_without_a_limit_of_its_own() {
    let with = |text: &str| {
        let spec: Spec = text.parse().expect("a spec");
        with_buffer(&spec, Some(Buffer::Limit(Limit::Packets(Packets::new(20))))).to_string()
    };
    assert_eq!(with("codel"), "codel limit=20p");
    assert_eq!(with("drr"), "drr limit=20p");
    assert_eq!(with("prio"), "prio each=(droptail limit=20p)");
    assert_eq!(with("prio each=(codel)"), "prio each=(codel limit=20p)");
    assert_eq!(with("wrr each=(red limit=9p)"), "wrr each=(red limit=9p)");
    assert_eq!(
        with("prio each=(red limit=9p),(wrr),(codel)"),
        "prio each=(red limit=9p),(wrr each=(droptail limit=20p)),(codel limit=20p)"
    );
}

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
