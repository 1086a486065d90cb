//! Documents that come in as JSON.

use serde_json::Value;
use sojourn_scenario::document::Document;
use sojourn_scenario::{LabError, LabErrorKind};

/// The document of a scenario given as JSON.
pub(crate) fn document(json: &str, name: &str) -> Result<Document, LabError> {
    let value: Value = serde_json::from_str(json)
        .map_err(|error| LabError::new(LabErrorKind::Syntax, error.to_string()).in_file(name))?;
    Document::from_json(&value, name)
}
