//! What `sojourn bench` measures of reading traces: lines of a run, in memory, parsed and analysed.

use crate::read::format::Format;
use crate::read::input::Input;
use crate::read::{Options, events};
use crate::write::{TraceError, TraceFormat, run_written};
use sojourn_results::stats::to_f64;
use sojourn_scenario::document::Document;
use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use sojourn_scenario::model::Scenario;
use std::io::Cursor;

/// The name of the case.
pub const NAME: &str = "trace-ns2";
/// What it measures.
pub const ABOUT: &str = "reading and analysing an ns-2 trace of 16 TCP flows";
/// Demanded: lines per second of CPU time.
pub const LEAST: f64 = 1e6;

const SCENARIO: &str = "dialect = \"ns2\"\n[run]\nduration = \"20s\"\nwarmup = \"0s\"\n[topology]\nrate = \"20Mbps\"\nrtt = \"44ms\"\n\
    queue = \"droptail limit=100p\"\n[[flows]]\nspec = \"16*newreno\"\n";

/// The lines.
///
/// # Errors
/// If the run fails: a fault of the case.
pub fn lines() -> Result<Vec<u8>> {
    let document = Document::parse(SCENARIO, NAME)?;
    let scenario = Scenario::from_document(&document)?;
    let mut lines = Vec::new();
    let written = run_written(&scenario, 0, TraceFormat::Ns2, &[], &mut lines);
    match written {
        Ok(_) => Ok(lines),
        Err(TraceError::Run(error)) => Err(error),
        Err(TraceError::Write(error)) => Err(LabError::new(LabErrorKind::Bug, error.to_string())),
    }
}

/// Reads lines and analyses them; gives how many they were.
///
/// # Errors
/// If they cannot be read: a fault of the case.
pub fn read(lines: Vec<u8>) -> Result<u64> {
    let input = Input::new(Cursor::new(lines), NAME, false)?;
    let analysis = events::analyse(input, Format::Ns2, &Options::default())?;
    let count = analysis
        .table("trace")
        .and_then(|table| table.value(0, "lines"));
    match count {
        Some(crate::read::table::Value::Integer(Some(count))) => Ok(*count),
        _ => Err(LabError::new(
            LabErrorKind::Bug,
            "the analysis counts no lines",
        )),
    }
}

/// Lines per second.
pub fn speed(lines: u64, seconds: f64) -> f64 {
    to_f64(lines) / seconds
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_case_has_lines_enough_to_be_measured() {
        let lines = super::lines().unwrap();
        assert!(super::read(lines).unwrap() > 300_000);
    }
}
