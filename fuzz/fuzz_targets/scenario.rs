//! A text is a scenario that survives being written and read again, or an error that names the file.
//!
//! `cargo +nightly fuzz run scenario fuzz/corpus/scenario fuzz/seeds/scenario`

#![no_main]

use libfuzzer_sys::fuzz_target;
use sojourn_run::compile::compile;
use sojourn_run::needs::Needs;
use sojourn_scenario::document::Document;
use sojourn_scenario::model::{LimitParams, Scenario};
use sojourn_scenario::resolved::Resolved;

/// Scenarios of more flows are read, but not compiled: that is slow, and finds nothing.
const MOST_FLOWS: u64 = 100;

fuzz_target!(|text: &str| {
    let read = Document::parse(text, "t.toml").and_then(|d| Scenario::from_document(&d));
    let scenario = match read {
        Ok(scenario) => scenario,
        Err(error) => {
            assert!(error.to_string().starts_with("t.toml"), "{error}");
            return;
        }
    };
    let written = scenario.to_document_as_given().to_toml();
    let again = Document::parse(&written, "t.toml").and_then(|d| Scenario::from_document(&d));
    assert_eq!(again.as_ref(), Ok(&scenario));
    // Defaults may contradict what is given.
    let Ok(resolved) = scenario.resolve() else {
        return;
    };
    let again = Scenario::from_document(&resolved.to_document()).and_then(|s| s.resolve());
    let text = |resolved: Resolved| resolved.to_document().to_toml();
    assert_eq!(again.map(text), Ok(text(resolved.clone())));
    // What is counted neither wraps nor panics.
    let allowed = Needs::of_allowed(&scenario, &LimitParams::default()).is_ok();
    let flows: u64 = scenario.flows.iter().map(|group| group.place.count).sum();
    if allowed && flows <= MOST_FLOWS {
        // An error is fine: names of nodes and links may lead nowhere.
        let _ = compile(&resolved, 0);
    }
});
