//! Documents that come in as JSON.

use sojourn_scenario::document::{Document, Node, Table, Value};
use sojourn_scenario::error::Place;
use sojourn_scenario::model::Scenario;
use sojourn_scenario::{LabError, LabErrorKind};

/// The document of a scenario given as JSON.
pub(crate) fn document(json: &str, name: &str) -> Result<Document, LabError> {
    let value: serde_json::Value = serde_json::from_str(json)
        .map_err(|error| LabError::new(LabErrorKind::Syntax, error.to_string()).in_file(name))?;
    Document::from_json(&value, name)
}

/// Sets the value at a path. Messages name `argument`.
pub(crate) fn set_at(
    document: &mut Document,
    path: &str,
    node: Node,
    argument: &str,
) -> Result<(), LabError> {
    let place = Place::Argument {
        text: argument.into(),
        path: path.trim().into(),
    };
    document.set_node(path, placed(node, &place))
}

/// The value with everything in it at one place.
fn placed(node: Node, place: &Place) -> Node {
    let value = match node.value {
        Value::List(items) => {
            Value::List(items.into_iter().map(|item| placed(item, place)).collect())
        }
        Value::Table(table) => {
            let mut moved = Table::default();
            for entry in table.entries() {
                moved.insert(&entry.key, placed(entry.node.clone(), place));
            }
            Value::Table(moved)
        }
        plain => plain,
    };
    Node {
        value,
        place: place.clone(),
    }
}

/// Reads a scenario for its errors. One without flows may still get them.
pub(crate) fn check_readable(document: &Document) -> Result<(), LabError> {
    match Scenario::from_document(document) {
        Err(error) if error.kind() == LabErrorKind::MissingKey => match document.get("flows")? {
            None => Ok(()),
            Some(_) => Err(error),
        },
        read => read.map(drop),
    }
}
