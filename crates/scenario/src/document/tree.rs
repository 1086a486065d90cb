//! The values of a document: tables, lists and what stands in them, each with its place.

use crate::error::Place;

/// A table, in the order of the document.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Table {
    pub(super) entries: Vec<Entry>,
}

/// One key of a table and its value.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub place: Place,
    /// The value.
    pub node: Node,
}

/// A value and where it stands.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Where it stands.
    pub place: Place,
}

/// A value of TOML or JSON.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// A text.
    Text(String),
    /// A whole number.
    Integer(i128),
    /// A number.
    Float(f64),
    /// True or false.
    Flag(bool),
    /// A date or time, which nothing here reads.
    Date(String),
    /// A list.
    List(Vec<Node>),
    /// A table.
    Table(Table),
}

impl Table {
    /// The entries, in the order of the document.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry of a key.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// Gives a key a value.
    pub fn insert(&mut self, key: &str, node: Node) {
        match self.entries.iter_mut().find(|entry| entry.key == key) {
            Some(entry) => entry.node = node,
            None => self.entries.push(Entry {
                key: key.to_owned(),
                place: node.place.clone(),
                node,
            }),
        }
    }

    /// Gives a key a value that comes from nowhere in particular.
    pub fn put(&mut self, key: &str, value: impl Into<Value>) {
        self.insert(
            key,
            Node {
                value: value.into(),
                place: Place::Unplaced,
            },
        );
    }
}

impl Node {
    /// The same value, it and all that it holds at one place.
    #[must_use]
    pub fn moved_to(self, place: &Place) -> Node {
        let value = match self.value {
            Value::List(nodes) => {
                let moved = nodes.into_iter().map(|node| node.moved_to(place));
                Value::List(moved.collect())
            }
            Value::Table(table) => {
                let moved = table.entries.into_iter().map(|entry| Entry {
                    key: entry.key,
                    place: place.clone(),
                    node: entry.node.moved_to(place),
                });
                Value::Table(Table {
                    entries: moved.collect(),
                })
            }
            plain => plain,
        };
        Node {
            value,
            place: place.clone(),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}

impl From<Table> for Value {
    fn from(table: Table) -> Value {
        Value::Table(table)
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Value {
        Value::Flag(flag)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Value {
        Value::Integer(i128::from(number))
    }
}

impl From<Vec<Value>> for Value {
    fn from(values: Vec<Value>) -> Value {
        let place = Place::Unplaced;
        Value::List(
            values
                .into_iter()
                .map(|value| Node {
                    value,
                    place: place.clone(),
                })
                .collect(),
        )
    }
}

impl Value {
    /// What it is, for a message: `a table`.
    pub fn what(&self) -> &'static str {
        match self {
            Value::Text(_) => "a text",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a number",
            Value::Flag(_) => "true or false",
            Value::Date(_) => "a date",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }
}

/// A text, number or flag as text; `None` for anything else.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Flag(flag) => Some(flag.to_string()),
        Value::Date(_) | Value::List(_) | Value::Table(_) => None,
    }
}

pub(super) fn is_table(node: &Node) -> bool {
    matches!(node.value, Value::Table(_))
}
