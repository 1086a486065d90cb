//! A text is a packet delivery trace whose gaps are a schedule that a scenario takes, or an error that says a line or what is missing.
//!
//! `cargo +nightly fuzz run opportunities fuzz/corpus/opportunities fuzz/seeds/opportunities`

#![no_main]

use libfuzzer_sys::fuzz_target;
use sojourn_scenario::document::Document;
use sojourn_scenario::model::Scenario;
use sojourn_scenario::opportunities::gaps_of_file;

fuzz_target!(|text: &str| {
    match gaps_of_file(text) {
        Ok(gaps) => {
            let text = format!(
                "flows = [\"reno\"]\n[[opportunities]]\nlink = \"left-right\"\ngaps = \"{gaps}\"\n"
            );
            let read = Document::parse(&text, "t.toml").and_then(|d| Scenario::from_document(&d));
            assert!(read.is_ok(), "{read:?}");
        }
        Err(problem) => assert!(!problem.is_empty()),
    }
});
