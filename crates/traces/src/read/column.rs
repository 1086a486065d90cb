//! What a column of a trace table is.

use arrow_schema::DataType;

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Type {
    /// Text.
    Text,
    /// A whole number, or null.
    Integer,
    /// A number, or null.
    Number,
}

impl Type {
    /// The name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Type::Text => "text",
            Type::Integer => "uint64",
            Type::Number => "double",
        }
    }

    pub(super) fn arrow(self) -> DataType {
        match self {
            Type::Text => DataType::Utf8,
            Type::Integer => DataType::UInt64,
            Type::Number => DataType::Float64,
        }
    }
}

/// A column, as documents show it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ColumnInfo {
    /// The name: noun, unit, statistic.
    pub name: &'static str,
    /// What it holds.
    pub kind: Type,
    /// The unit; empty where there is none.
    pub unit: &'static str,
    /// What it is.
    pub doc: &'static str,
}
