//! What a column holds, in documents and in Arrow.

use std::sync::Arc;

use arrow_schema::{DataType, Field};

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Type {
    /// A text.
    Text,
    /// True or false.
    Flag,
    /// A whole number.
    Integer,
    /// A whole number, or null.
    OptionalInteger,
    /// A whole number of up to 38 digits.
    Wide,
    /// A number, or null.
    Number,
    /// A list of whole numbers below 2^32.
    SmallIntegers,
    /// A list of whole numbers.
    Integers,
    /// A list of whole numbers of up to 38 digits.
    Wides,
}

impl Type {
    /// The type in Arrow.
    pub fn arrow(self) -> DataType {
        let list = |item: Type| DataType::List(Arc::new(Field::new_list_field(item.arrow(), true)));
        match self {
            Type::Text => DataType::Utf8,
            Type::Flag => DataType::Boolean,
            Type::Integer | Type::OptionalInteger => DataType::UInt64,
            Type::Wide => DataType::Decimal128(DIGITS, 0),
            Type::Number => DataType::Float64,
            Type::SmallIntegers => {
                DataType::List(Arc::new(Field::new_list_field(DataType::UInt32, true)))
            }
            Type::Integers => list(Type::Integer),
            Type::Wides => list(Type::Wide),
        }
    }

    /// The type in documents.
    pub fn name(self) -> &'static str {
        match self {
            Type::Text => "text",
            Type::Flag => "bool",
            Type::Integer | Type::OptionalInteger => "uint64",
            Type::Wide => "decimal(38, 0)",
            Type::Number => "double",
            Type::SmallIntegers => "list<uint32>",
            Type::Integers => "list<uint64>",
            Type::Wides => "list<decimal(38, 0)>",
        }
    }

    pub(super) fn nullable(self) -> bool {
        matches!(self, Type::Number | Type::OptionalInteger)
    }
}

/// Decimal digits of a wide integer: the most that Arrow's 128-bit decimal has.
pub(super) const DIGITS: u8 = 38;
