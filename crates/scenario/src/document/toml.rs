//! TOML, read with the line of every value and written.

use super::tree::{Entry, Node, Table, Value, is_table};
use crate::error::Place;

/// The value that a text is in TOML, if it is one and nothing else.
pub(super) fn literal(text: &str, place: &Place) -> Option<Value> {
    let parsed = format!("value = {text}\n");
    let parsed = toml_edit::Document::parse(parsed.as_str()).ok()?;
    let table = parsed.as_table();
    if table.len() != 1 {
        return None;
    }
    let lines = Lines {
        starts: Vec::new(),
        fixed: Some(place.clone()),
    };
    match lines.item(table.get("value")?, place).value {
        Value::Date(_) => None,
        value => Some(value),
    }
}

/// Where the lines of a text begin.
pub(super) struct Lines {
    starts: Vec<usize>,
    /// The one place of everything, for a text that has no lines of its own.
    fixed: Option<Place>,
}

impl Lines {
    pub(super) fn of(text: &str) -> Lines {
        let ends = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        Lines {
            starts: ends.map(|(at, _)| at + 1).collect(),
            fixed: None,
        }
    }

    pub(super) fn place(&self, at: usize) -> Place {
        match &self.fixed {
            Some(place) => place.clone(),
            None => Place::Line(1 + self.starts.partition_point(|&start| start <= at)),
        }
    }

    fn at(&self, span: Option<std::ops::Range<usize>>, otherwise: &Place) -> Place {
        span.map_or_else(|| otherwise.clone(), |span| self.place(span.start))
    }

    pub(super) fn table(&self, table: &toml_edit::Table, place: &Place) -> Table {
        let entries = table.iter().map(|(name, item)| {
            let key = self.at(table.key(name).and_then(toml_edit::Key::span), place);
            self.entry(name, key, item)
        });
        Table {
            entries: entries.collect(),
        }
    }

    fn entry(&self, name: &str, place: Place, item: &toml_edit::Item) -> Entry {
        Entry {
            key: name.to_owned(),
            node: self.item(item, &place),
            place,
        }
    }

    fn item(&self, item: &toml_edit::Item, otherwise: &Place) -> Node {
        let place = self.at(item.span(), otherwise);
        let value = match item {
            toml_edit::Item::None => Value::Table(Table::default()),
            toml_edit::Item::Value(value) => return self.value(value, otherwise),
            toml_edit::Item::Table(table) => Value::Table(self.table(table, &place)),
            toml_edit::Item::ArrayOfTables(tables) => {
                let nodes = tables.iter().map(|table| {
                    let place = self.at(table.span(), otherwise);
                    Node {
                        value: Value::Table(self.table(table, &place)),
                        place,
                    }
                });
                Value::List(nodes.collect())
            }
        };
        Node { value, place }
    }

    fn value(&self, value: &toml_edit::Value, otherwise: &Place) -> Node {
        let place = self.at(value.span(), otherwise);
        let value = match value {
            toml_edit::Value::String(text) => Value::Text(text.value().clone()),
            toml_edit::Value::Integer(number) => Value::Integer(i128::from(*number.value())),
            toml_edit::Value::Float(number) => Value::Float(*number.value()),
            toml_edit::Value::Boolean(flag) => Value::Flag(*flag.value()),
            toml_edit::Value::Datetime(date) => Value::Date(date.value().to_string()),
            toml_edit::Value::Array(values) => Value::List(
                values
                    .iter()
                    .map(|value| self.value(value, &place))
                    .collect(),
            ),
            toml_edit::Value::InlineTable(table) => {
                let entries = table.iter().map(|(name, value)| {
                    let key = self.at(table.key(name).and_then(toml_edit::Key::span), &place);
                    Entry {
                        key: name.to_owned(),
                        node: self.value(value, &key),
                        place: key,
                    }
                });
                Value::Table(Table {
                    entries: entries.collect(),
                })
            }
        };
        Node { value, place }
    }
}

pub(super) fn to_toml_table(table: &Table) -> toml_edit::Table {
    let mut written = toml_edit::Table::new();
    for entry in &table.entries {
        let item = match &entry.node.value {
            Value::Table(inner) => toml_edit::Item::Table(to_toml_table(inner)),
            Value::List(nodes) if !nodes.is_empty() && nodes.iter().all(is_table) => {
                let tables = nodes.iter().filter_map(|node| match &node.value {
                    Value::Table(inner) => Some(to_toml_table(inner)),
                    _ => None,
                });
                toml_edit::Item::ArrayOfTables(tables.collect())
            }
            value => toml_edit::Item::Value(to_toml_value(value)),
        };
        written.insert(&entry.key, item);
    }
    written
}

fn to_toml_value(value: &Value) -> toml_edit::Value {
    match value {
        Value::Text(text) => text.as_str().into(),
        Value::Date(text) => text
            .parse::<toml_edit::Datetime>()
            .map_or_else(|_| text.as_str().into(), Into::into),
        // TOML's integers end at 63 bits; every parameter also reads a number written as text.
        Value::Integer(number) => {
            i64::try_from(*number).map_or_else(|_| number.to_string().into(), Into::into)
        }
        Value::Float(number) => (*number).into(),
        Value::Flag(flag) => (*flag).into(),
        Value::List(nodes) => nodes
            .iter()
            .map(|node| to_toml_value(&node.value))
            .collect::<toml_edit::Array>()
            .into(),
        Value::Table(table) => {
            let mut inline = toml_edit::InlineTable::new();
            for entry in &table.entries {
                inline.insert(&entry.key, to_toml_value(&entry.node.value));
            }
            inline.into()
        }
    }
}
