//! Prints what came of runs: tables, and what the auditor has to say.

use crate::args::Format;
use crate::failure::Failure;
use crate::output::{emit, emit_data};
use sojourn_results::ResultSet;
use sojourn_study::summary::comparison;

/// Prints results in the format asked for.
pub(crate) fn results(results: &ResultSet, format: Format) -> Result<(), Failure> {
    match format {
        Format::Table => emit(&text(results, format)),
        Format::Csv | Format::Json => emit_data(&text(results, format)),
    }
}

/// Results in the format asked for.
pub(crate) fn text(results: &ResultSet, format: Format) -> String {
    let comparison = comparison(results);
    let text = match format {
        Format::Table => comparison.text(),
        Format::Csv => comparison.csv(),
        Format::Json => comparison.json(),
    };
    text.trim_end_matches('\n').to_owned() + "\n"
}
