//! Scenarios and studies from their text, for every file of claims.

use sojourn_lab::document::Document;
use sojourn_lab::model::Scenario;
use sojourn_lab::study::Study;

/// The study of a text.
pub(crate) fn study(text: &str) -> Study {
    let document = Document::parse(text, "study.toml").expect("TOML");
    Study::from_document(&document).unwrap_or_else(|error| panic!("{error}"))
}

/// The scenario of a text.
pub(crate) fn scenario(text: &str) -> Scenario {
    let document = Document::parse(text, "scenario.toml").expect("TOML");
    Scenario::from_document(&document).unwrap_or_else(|error| panic!("{error}"))
}
