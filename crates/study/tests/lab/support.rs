//! Scenarios and studies from their text, for every file of claims.

use sojourn_results::outcome::RunOutcome;
use sojourn_results::stats::to_f64;
use sojourn_scenario::LabError;
use sojourn_scenario::document::Document;
use sojourn_scenario::model::Scenario;
use sojourn_study::study::{Point, Study};
use sojourn_traces::read::format::{Family, choose};
use sojourn_traces::read::input::Input;
use sojourn_traces::read::{Analysis, Options, capture, events};
use std::io::{Cursor, Read};

/// The study of a text.
pub(crate) fn study(text: &str) -> Study {
    let document = Document::parse(text, "study.toml").expect("TOML");
    Study::from_document(&document).unwrap_or_else(|error| panic!("{error}"))
}

/// A study that comes with the command.
pub(crate) fn shipped(name: &str) -> Study {
    let path = format!(
        "{}/../../studies/{name}/study.toml",
        env!("CARGO_MANIFEST_DIR")
    );
    Study::read(path.as_ref()).expect("the study")
}

/// The point of an experiment that has these levels of its factors.
pub(crate) fn point<'a>(study: &'a Study, experiment: &str, levels: &[(&str, &str)]) -> &'a Point {
    let has = |point: &&Point| {
        let same = |(factor, label): &(&str, &str)| point.levels[*factor] == *label;
        point.experiment == experiment && levels.iter().all(same)
    };
    let found: Vec<&Point> = study.points.iter().filter(has).collect();
    assert_eq!(found.len(), 1, "{experiment} {levels:?}");
    found[0]
}

/// Goodput of the flows with this label together, Mbps.
pub(crate) fn goodput_mbps(outcome: &RunOutcome, label: &str) -> f64 {
    let flows = outcome.flows.iter().filter(|flow| flow.label == label);
    let bytes: u64 = flows.map(|flow| flow.goodput_bytes).sum();
    to_f64(bytes) * 8e-6 / outcome.measured.as_secs_f64()
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
