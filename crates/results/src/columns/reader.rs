//! Reads a table by the names of its columns.

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use sojourn_sim::histogram::Histogram;

use super::kind::Type;

/// Reads a table by the names of its columns.
pub(super) struct Reader<'a>(pub(super) &'a RecordBatch);

impl Reader<'_> {
    pub(super) fn array(&self, name: &str, kind: Type, row: usize) -> Result<&ArrayRef, String> {
        let array = self
            .0
            .column_by_name(name)
            .ok_or_else(|| format!("the column {name} is missing"))?;
        if array.data_type() != &kind.arrow() {
            let found = array.data_type();
            return Err(format!("the column {name} is {found}, not {}", kind.name()));
        }
        if row >= array.len() || (array.is_null(row) && !kind.nullable()) {
            return Err(format!("the column {name} has no value in row {row}"));
        }
        Ok(array)
    }

    pub(super) fn text(&self, name: &str, row: usize) -> Result<String, String> {
        let array = self.array(name, Type::Text, row)?;
        Ok(array.as_string::<i32>().value(row).to_owned())
    }

    pub(super) fn flag(&self, name: &str, row: usize) -> Result<bool, String> {
        Ok(self.array(name, Type::Flag, row)?.as_boolean().value(row))
    }

    pub(super) fn integer(&self, name: &str, row: usize) -> Result<u64, String> {
        let array = self.array(name, Type::Integer, row)?;
        Ok(array.as_primitive::<UInt64Type>().value(row))
    }

    /// Nothing, too, where the column is not there: directories of earlier releases have fewer.
    pub(super) fn optional(&self, name: &str, row: usize) -> Result<Option<u64>, String> {
        if self.0.column_by_name(name).is_none() {
            return Ok(None);
        }
        let array = self.array(name, Type::OptionalInteger, row)?;
        let present = array.is_valid(row);
        Ok(present.then(|| array.as_primitive::<UInt64Type>().value(row)))
    }

    pub(super) fn number(&self, name: &str, row: usize) -> Result<Option<f64>, String> {
        let array = self.array(name, Type::Number, row)?;
        let present = array.is_valid(row);
        Ok(present.then(|| array.as_primitive::<Float64Type>().value(row)))
    }

    pub(super) fn wide(&self, name: &str, row: usize) -> Result<u128, String> {
        let array = self.array(name, Type::Wide, row)?;
        unsigned(name, array.as_primitive::<Decimal128Type>().value(row))
    }

    pub(super) fn integers(&self, name: &str, row: usize) -> Result<Vec<u64>, String> {
        let array = self.array(name, Type::Integers, row)?;
        let values = array.as_list::<i32>().value(row);
        Ok(values.as_primitive::<UInt64Type>().values().to_vec())
    }

    pub(super) fn wides(&self, name: &str, row: usize) -> Result<Vec<u128>, String> {
        let array = self.array(name, Type::Wides, row)?;
        let values = array.as_list::<i32>().value(row);
        let values = values.as_primitive::<Decimal128Type>();
        values
            .values()
            .iter()
            .map(|value| unsigned(name, *value))
            .collect()
    }

    pub(super) fn histogram(
        &self,
        steps: &str,
        counts: &str,
        row: usize,
    ) -> Result<Histogram, String> {
        let array = self.array(steps, Type::SmallIntegers, row)?;
        let values = array.as_list::<i32>().value(row);
        let values = values.as_primitive::<UInt32Type>().values().to_vec();
        let numbers = self.integers(counts, row)?;
        if values.len() != numbers.len() {
            return Err(format!("{steps} and {counts} have different lengths"));
        }
        // 64 octaves of 32 steps, and the value zero.
        if values.iter().any(|step| *step > 64 * 32) {
            return Err(format!("{steps} has a step beyond the last"));
        }
        Ok(Histogram::from_steps(values.into_iter().zip(numbers)))
    }
}

fn unsigned(name: &str, value: i128) -> Result<u128, String> {
    u128::try_from(value).map_err(|_| format!("the column {name} has a negative sum"))
}
