//! Scenarios and studies from their text, for every file of claims.

use sojourn_lab::document::Document;
use sojourn_lab::model::Scenario;
use sojourn_lab::study::Study;
use std::io::Read;

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

/// The text of a compressed file of `tests/data`.
pub(crate) fn data(name: &str) -> String {
    let path = format!("{}/../../tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
    let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut text = String::new();
    flate2::read::GzDecoder::new(file)
        .read_to_string(&mut text)
        .unwrap_or_else(|error| panic!("{path}: {error}"));
    text
}
