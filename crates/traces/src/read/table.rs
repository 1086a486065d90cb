//! Tables of an analysis: columns declared once, with name, unit and meaning; as text, CSV, JSON, Arrow and Parquet.

pub use super::column::{ColumnInfo, Type};
use super::heading;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{ArrowError, Field, Schema};
use serde_json::{Map, Number, Value as Json};
use sojourn_report::{Cell, Column as ShownColumn, Table as ShownTable, csv_cell, text_table};
use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use std::sync::Arc;

/// A value in a table.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// A text; empty where there is none.
    Text(String),
    /// A whole number.
    Integer(Option<u64>),
    /// A number.
    Number(Option<f64>),
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl From<u64> for Value {
    fn from(count: u64) -> Value {
        Value::Integer(Some(count))
    }
}

impl From<Option<u64>> for Value {
    fn from(count: Option<u64>) -> Value {
        Value::Integer(count)
    }
}

impl From<Option<f64>> for Value {
    fn from(number: Option<f64>) -> Value {
        Value::Number(number.filter(|value| value.is_finite()))
    }
}

/// A column of tables with a row per `T`.
pub struct Column<T> {
    /// What it is.
    pub info: ColumnInfo,
    /// How it is read.
    pub read: fn(&T) -> Value,
}

/// A column of text.
pub const fn text<T>(name: &'static str, doc: &'static str, read: fn(&T) -> Value) -> Column<T> {
    column(name, Type::Text, "", doc, read)
}

/// A column of whole numbers.
pub const fn integer<T>(
    name: &'static str,
    unit: &'static str,
    doc: &'static str,
    read: fn(&T) -> Value,
) -> Column<T> {
    column(name, Type::Integer, unit, doc, read)
}

/// A column of numbers.
pub const fn number<T>(
    name: &'static str,
    unit: &'static str,
    doc: &'static str,
    read: fn(&T) -> Value,
) -> Column<T> {
    column(name, Type::Number, unit, doc, read)
}

const fn column<T>(
    name: &'static str,
    kind: Type,
    unit: &'static str,
    doc: &'static str,
    read: fn(&T) -> Value,
) -> Column<T> {
    Column {
        info: ColumnInfo {
            name,
            kind,
            unit,
            doc,
        },
        read,
    }
}

/// What a table is, before it has rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct About {
    /// The name, of files too.
    pub name: &'static str,
    /// The title.
    pub title: &'static str,
    /// What a row is.
    pub doc: &'static str,
}

/// A table.
#[derive(Clone, PartialEq, Debug)]
pub struct TraceTable {
    /// The name, of files too.
    pub name: &'static str,
    /// The title.
    pub title: &'static str,
    /// What a row is.
    pub doc: &'static str,
    /// The columns.
    pub columns: Vec<ColumnInfo>,
    /// The rows, a value per column each.
    pub rows: Vec<Vec<Value>>,
}

impl TraceTable {
    /// A table of rows.
    pub fn new<T>(
        about: About,
        columns: &[Column<T>],
        rows: impl IntoIterator<Item = T>,
    ) -> TraceTable {
        let rows = rows.into_iter().map(|row| {
            let values = columns.iter().map(|column| (column.read)(&row));
            values.collect()
        });
        TraceTable {
            name: about.name,
            title: about.title,
            doc: about.doc,
            columns: columns.iter().map(|column| column.info).collect(),
            rows: rows.collect(),
        }
    }

    /// The value of a column in a row.
    pub fn value(&self, row: usize, column: &str) -> Option<&Value> {
        let place = self.columns.iter().position(|info| info.name == column)?;
        self.rows.get(row)?.get(place)
    }

    /// The table with the columns that `keep` wants.
    #[must_use]
    pub fn with_columns(&self, keep: impl Fn(&ColumnInfo) -> bool) -> TraceTable {
        let kept: Vec<usize> = (0..self.columns.len())
            .filter(|place| keep(&self.columns[*place]))
            .collect();
        TraceTable {
            columns: kept.iter().map(|place| self.columns[*place]).collect(),
            rows: self
                .rows
                .iter()
                .map(|row| kept.iter().map(|place| row[*place].clone()).collect())
                .collect(),
            ..*self
        }
    }

    /// Without columns that have no value, or only zeros, in any row.
    #[must_use]
    pub fn without_empty_columns(&self) -> TraceTable {
        let empty = |value: &Value| match value {
            Value::Text(text) => text.is_empty(),
            Value::Integer(count) => count.unwrap_or(0) == 0,
            Value::Number(number) => number.unwrap_or(0.0) == 0.0,
        };
        let used: Vec<&str> = (0..self.columns.len())
            .filter(|place| !self.rows.iter().all(|row| empty(&row[*place])))
            .map(|place| self.columns[place].name)
            .collect();
        self.with_columns(|info| used.contains(&info.name))
    }

    /// As a table of a report: at most `rows` rows, a footnote says of how many.
    pub fn shown(&self, rows: usize) -> ShownTable {
        let columns = self.columns.iter().map(|info| {
            let (unit, _) = heading::unit(info);
            ShownColumn {
                key: info.name.to_owned(),
                title: heading::title(info),
                unit: unit.map(str::to_owned),
                align: None,
            }
        });
        let cell = |(info, value): (&ColumnInfo, &Value)| match value {
            Value::Text(text) if text.is_empty() => Cell::Empty,
            Value::Text(text) => Cell::Text(text.clone()),
            Value::Integer(count) => count.map_or(Cell::Empty, |count| Cell::Number(count.into())),
            Value::Number(value) => value
                .and_then(|value| Number::from_f64(value * heading::unit(info).1))
                .map_or(Cell::Empty, Cell::Number),
        };
        let mut footnotes = Vec::new();
        if self.rows.len() > rows {
            footnotes.push(format!("The first {rows} of {} rows.", self.rows.len()));
        }
        ShownTable {
            id: self.name.to_owned(),
            title: self.title.to_owned(),
            caption: self.doc.to_owned(),
            columns: columns.collect(),
            rows: self
                .rows
                .iter()
                .take(rows)
                .map(|row| self.columns.iter().zip(row).map(cell).collect())
                .collect(),
            footnotes,
        }
    }

    /// As aligned text, in the units that readers see.
    pub fn text(&self, rows: usize) -> String {
        text_table(&self.shown(rows))
    }

    /// As CSV, with full precision.
    ///
    /// # Errors
    /// Never of this kind of writer.
    pub fn csv(&self) -> Result<String> {
        let failed = |problem: &dyn std::fmt::Display| {
            LabError::new(LabErrorKind::Bug, format!("a table as CSV: {problem}"))
        };
        let mut writer = csv::Writer::from_writer(Vec::new());
        let header = self.columns.iter().map(|info| info.name);
        writer
            .write_record(header)
            .map_err(|error| failed(&error))?;
        for row in &self.rows {
            let fields = row.iter().map(|value| match value {
                Value::Text(text) => csv_cell(text).into_owned(),
                Value::Integer(count) => count.map_or_else(String::new, |count| count.to_string()),
                Value::Number(value) => value.map_or_else(String::new, |value| value.to_string()),
            });
            writer
                .write_record(fields)
                .map_err(|error| failed(&error))?;
        }
        let bytes = writer.into_inner().map_err(|error| failed(&error))?;
        String::from_utf8(bytes).map_err(|error| failed(&error))
    }

    /// As JSON: a list of objects.
    pub fn json(&self) -> Json {
        let object = |row: &Vec<Value>| {
            let pairs = self.columns.iter().zip(row).map(|(info, value)| {
                let value = match value {
                    Value::Text(text) => Json::from(text.as_str()),
                    Value::Integer(count) => Json::from(*count),
                    Value::Number(value) => Json::from(*value),
                };
                (info.name.to_owned(), value)
            });
            Json::Object(pairs.collect::<Map<_, _>>())
        };
        self.rows.iter().map(object).collect()
    }

    /// As an Arrow table.
    ///
    /// # Errors
    /// If a row has not a value per column: a fault of the declaration.
    pub fn batch(&self) -> Result<RecordBatch, ArrowError> {
        let fields: Vec<Field> = self
            .columns
            .iter()
            .map(|info| Field::new(info.name, info.kind.arrow(), info.kind != Type::Text))
            .collect();
        let arrays =
            self.columns
                .iter()
                .enumerate()
                .map(|(place, info)| -> ArrayRef {
                    let values = self.rows.iter().map(|row| row.get(place));
                    match info.kind {
                        Type::Text => Arc::new(StringArray::from_iter_values(values.map(
                            |value| match value {
                                Some(Value::Text(text)) => text.as_str(),
                                _ => "",
                            },
                        ))),
                        Type::Integer => Arc::new(
                            values
                                .map(|value| match value {
                                    Some(Value::Integer(count)) => *count,
                                    _ => None,
                                })
                                .collect::<UInt64Array>(),
                        ),
                        Type::Number => Arc::new(
                            values
                                .map(|value| match value {
                                    Some(Value::Number(number)) => *number,
                                    _ => None,
                                })
                                .collect::<Float64Array>(),
                        ),
                    }
                });
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Row(&'static str, u64, Option<f64>);

    const COLUMNS: [Column<Row>; 3] = [
        text("link", "The link.", |row| row.0.into()),
        integer("packets", "packets", "How many.", |row| row.1.into()),
        number("delay_s_mean", "s", "How long.", |row| row.2.into()),
    ];
    const ABOUT: About = About {
        name: "links",
        title: "Links",
        doc: "One row per link.",
    };

    fn table() -> TraceTable {
        TraceTable::new(
            ABOUT,
            &COLUMNS,
            [Row("0-1", 3, Some(0.25)), Row("1,0", 0, None)],
        )
    }

    #[test]
    fn every_form_has_the_same_values() {
        let table = table();
        assert_eq!(
            table.csv().unwrap(),
            "link,packets,delay_s_mean\n0-1,3,0.25\n\"1,0\",0,\n"
        );
        assert_eq!(table.json()[0]["delay_s_mean"], 0.25);
        assert!(table.json()[1]["delay_s_mean"].is_null());
        let batch = table.batch().unwrap();
        assert_eq!((batch.num_rows(), batch.num_columns()), (2, 3));
        assert_eq!(batch.column(2).null_count(), 1);
        assert!(table.text(10).contains("250"), "{}", table.text(10));
        assert!(table.text(1).contains("first 1 of 2 rows"));
    }

    #[test]
    fn columns_without_a_value_are_left_out() {
        let empty = TraceTable::new(ABOUT, &COLUMNS, [Row("0-1", 3, None)]).without_empty_columns();
        let names: Vec<&str> = empty.columns.iter().map(|info| info.name).collect();
        assert_eq!(names, ["link", "packets"]);
    }
}
