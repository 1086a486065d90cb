//! A figure of a peer, and what every kind of row needs to be run.

use sojourn_scenario::document::Document;
use sojourn_scenario::error::{LabError, LabErrorKind};
use sojourn_scenario::model::Scenario;
use sojourn_units::Spec;
use std::collections::BTreeMap;

/// One figure of a peer's run.
#[derive(Clone, PartialEq, Debug)]
pub struct Cell {
    /// Whose: `linux-6.1`, `ns2-2.35`, `ns3-3.44`, or the model `ware-2019`.
    pub peer: String,
    /// Name of the row.
    pub row: String,
    /// The queue, in the peer's dialect.
    pub queue: Spec,
    /// Traffic and link: keys and values.
    pub setup: BTreeMap<String, String>,
    /// What was measured.
    pub metric: String,
    /// The peer's figure; the mean of several runs where there were several.
    pub theirs: f64,
    /// Runs of the peer.
    pub runs: u64,
}

/// Frames of UDP over Ethernet in the Linux rows, without the check sequence.
pub(super) const FRAME: u32 = 1514;

/// The figures of one run.
pub(super) type Figures = BTreeMap<String, f64>;

/// A value of the setup.
pub(super) fn value<'a>(cell: &'a Cell, key: &str) -> Result<&'a str, LabError> {
    cell.setup
        .get(key)
        .map(String::as_str)
        .ok_or_else(|| LabError::new(LabErrorKind::Bug, format!("{}: no {key}", cell.row)))
}

/// A whole number of the setup.
pub(super) fn whole(cell: &Cell, key: &str) -> Result<u64, LabError> {
    value(cell, key)?
        .parse()
        .map_err(|_| LabError::new(LabErrorKind::Bug, format!("{}: {key}: no number", cell.row)))
}

/// A count as a number.
pub(super) fn float(count: u64) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

/// The scenario of a text; messages call it `name`.
pub(super) fn scenario_of(text: &str, name: &str, seed: u64) -> Result<Scenario, LabError> {
    let mut scenario = Scenario::from_document(&Document::parse(text, name)?)?;
    scenario.run.seed = seed;
    Ok(scenario)
}
