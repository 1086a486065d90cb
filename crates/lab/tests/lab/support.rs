//! Scenarios and studies from their text, for every file of claims.

use sojourn_lab::LabError;
use sojourn_lab::document::Document;
use sojourn_lab::model::Scenario;
use sojourn_lab::study::Study;
use sojourn_lab::traces::format::{Family, choose};
use sojourn_lab::traces::input::Input;
use sojourn_lab::traces::{Analysis, Options, capture, events};
use std::io::{Cursor, Read};

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
    String::from_utf8(bytes(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// What is in a compressed file of `tests/data`.
pub(crate) fn bytes(name: &str) -> Vec<u8> {
    let path = format!("{}/../../tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
    let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(file)
        .read_to_end(&mut bytes)
        .unwrap_or_else(|error| panic!("{path}: {error}"));
    bytes
}

/// What a trace says, which errors call `name`.
pub(crate) fn analyse(bytes: &[u8], name: &str, options: &Options) -> Result<Analysis, LabError> {
    let input = Input::new(Cursor::new(bytes.to_vec()), name, options.lenient)?;
    let format = choose(&input, options.format)?;
    match format.family() {
        Family::Events => events::analyse(input, format, options),
        Family::Capture => capture::analyse(input, format, None, options),
    }
}
