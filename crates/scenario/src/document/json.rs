//! JSON, read and written.

use super::tree::{Node, Table, Value};
use crate::error::Place;

pub(super) fn from_json(value: &serde_json::Value) -> Option<Node> {
    let value = match value {
        serde_json::Value::Null => return None,
        serde_json::Value::Bool(flag) => Value::Flag(*flag),
        serde_json::Value::String(text) => Value::Text(text.clone()),
        serde_json::Value::Number(number) => number
            .as_i128()
            .map(Value::Integer)
            .or_else(|| number.as_f64().map(Value::Float))?,
        serde_json::Value::Array(values) => {
            Value::List(values.iter().filter_map(from_json).collect())
        }
        serde_json::Value::Object(object) => {
            let mut table = Table::default();
            for (key, value) in object {
                if let Some(node) = from_json(value) {
                    table.insert(key, node);
                }
            }
            Value::Table(table)
        }
    };
    Some(Node {
        value,
        place: Place::Unplaced,
    })
}

pub(super) fn to_json(value: &Value) -> serde_json::Value {
    match value {
        Value::Text(text) | Value::Date(text) => text.as_str().into(),
        Value::Integer(number) => serde_json::Number::from_i128(*number)
            .map_or_else(|| number.to_string().into(), serde_json::Value::Number),
        Value::Float(number) => serde_json::Number::from_f64(*number)
            .map_or_else(|| number.to_string().into(), serde_json::Value::Number),
        Value::Flag(flag) => (*flag).into(),
        Value::List(nodes) => nodes.iter().map(|node| to_json(&node.value)).collect(),
        Value::Table(table) => table
            .entries
            .iter()
            .map(|entry| (entry.key.clone(), to_json(&entry.node.value)))
            .collect(),
    }
}
