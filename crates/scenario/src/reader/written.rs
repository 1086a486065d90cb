//! A scenario written as a document.

use sojourn_units::{Kind, ParamInfo, Params};

use super::SCHEMA_VERSION;
use super::kinds::flow_kinds;
use crate::document::{Document, Table, Value};
use crate::model::{Scenario, Topology};

impl Scenario {
    /// The scenario as a document, with queues and optional values as they were given.
    pub fn to_document_as_given(&self) -> Document {
        let mut root = Table::default();
        root.put("schema_version", SCHEMA_VERSION);
        root.put("name", self.name.as_str());
        if let Some(dialect) = &self.dialect {
            root.put("dialect", dialect.as_str());
        }
        root.put("run", written(&self.run, None));
        match &self.topology {
            Topology::Dumbbell(params) => root.put("topology", written(params, Some("dumbbell"))),
            Topology::ParkingLot(params) => {
                root.put("topology", written(params, Some("parking_lot")));
            }
            Topology::Chain(params) => root.put("topology", written(params, Some("chain"))),
            Topology::Graph(links) => {
                let mut kind = Table::default();
                kind.put("kind", "graph");
                root.put("topology", kind);
                root.put("links", list(links, |link| written(link, None)));
            }
        }
        root.put("wire", written(&self.wire, None));
        let kinds = flow_kinds();
        root.put(
            "flows",
            list(&self.flows, |flow| {
                let mut table = written(&flow.place, Some(&flow.kind));
                let kind = kinds.iter().find(|kind| kind.name == flow.kind);
                for (key, text) in &flow.args {
                    let part = kind.into_iter().flat_map(|kind| &kind.parts);
                    let info = part
                        .flat_map(|part| part.params)
                        .find(|info| info.name == key);
                    table.put(key, argument(info, text));
                }
                table
            }),
        );
        if !self.groups.is_empty() {
            root.put("groups", list(&self.groups, |group| written(group, None)));
            root.put(
                "members",
                list(&self.members, |member| written(member, None)),
            );
        }
        if !self.impairments.is_empty() {
            root.put(
                "impairments",
                list(&self.impairments, |impairment| written(impairment, None)),
            );
        }
        if !self.opportunities.is_empty() {
            root.put(
                "opportunities",
                list(&self.opportunities, |schedule| written(schedule, None)),
            );
        }
        if !self.changes.is_empty() {
            root.put(
                "changes",
                list(&self.changes, |change| written(change, None)),
            );
        }
        root.put("series", written(&self.series, None));
        Document::from(root)
    }
}

fn list<T>(items: &[T], table: impl Fn(&T) -> Table) -> Value {
    Value::from(
        items
            .iter()
            .map(|item| Value::from(table(item)))
            .collect::<Vec<_>>(),
    )
}

/// A table of parameters with their values; those that are `none` are left out.
fn written<P: Params>(params: &P, kind: Option<&str>) -> Table {
    let mut table = Table::default();
    if let Some(kind) = kind {
        table.put("kind", kind);
    }
    for (info, (key, text)) in P::TABLE.iter().zip(params.pairs()) {
        if let Some(value) = native(&info.kind(), text) {
            table.put(key, value);
        }
    }
    table
}

/// An argument as TOML has it, where that reads back to the same text.
fn argument(info: Option<&ParamInfo>, text: &str) -> Value {
    let value = info.and_then(|info| native(&info.kind(), text.to_owned()));
    match value {
        Some(Value::Integer(number)) if number.to_string() == text => Value::Integer(number),
        Some(Value::Float(number)) if number.to_string() == text => Value::Float(number),
        Some(Value::Flag(flag)) if flag.to_string() == text => Value::Flag(flag),
        _ => Value::Text(text.to_owned()),
    }
}

/// A value as TOML has it: whole numbers, numbers and flags as such, the rest as text; `None` for an optional value that
/// is not given.
fn native(kind: &Kind, text: String) -> Option<Value> {
    match kind {
        Kind::Optional(_) if text == "none" => None,
        Kind::Optional(inner) => native(inner, text),
        Kind::Integer => Some(match text.parse() {
            Ok(number) => Value::Integer(number),
            Err(_) => Value::Text(text),
        }),
        Kind::Number => Some(match text.parse() {
            Ok(number) => Value::Float(number),
            Err(_) => Value::Text(text),
        }),
        Kind::Flag => Some(Value::Flag(text == "true")),
        _ => Some(Value::Text(text)),
    }
}
