//! What a column is: name, unit, meaning, and how it is read from a row.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, PrimitiveBuilder};
use arrow_array::types::{Decimal128Type, UInt32Type, UInt64Type};
use arrow_array::{
    ArrayRef, BooleanArray, Decimal128Array, Float64Array, RecordBatch, StringArray, UInt64Array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use sojourn_sim::histogram::Histogram;
use sojourn_units::Span;

use crate::metrics::{Level, Metric, Subject, of_level};
use crate::outcome::RunOutcome;

/// The kinds of tables in a result directory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// One row per flow.
    Flows,
    /// One row per observed queue.
    Queues,
    /// One row per receiver of a flow to a multicast group.
    Receivers,
    /// One row per transfer of a workload.
    Transfers,
    /// One row per flow of RTP.
    Media,
    /// One row per sample of a time series.
    Series,
    /// One row per run.
    Runs,
}

impl Kind {
    /// Every kind, in the order in which a run's files are written: the one of the run itself last.
    pub const ALL: [Kind; 7] = [
        Kind::Flows,
        Kind::Queues,
        Kind::Receivers,
        Kind::Transfers,
        Kind::Media,
        Kind::Series,
        Kind::Runs,
    ];

    /// Whether a run without rows of this kind has no file of it.
    pub fn is_optional(self) -> bool {
        matches!(
            self,
            Kind::Receivers | Kind::Transfers | Kind::Media | Kind::Series
        )
    }

    /// Whether a run has rows of this kind.
    pub fn is_in(self, run: &RunOutcome) -> bool {
        match self {
            Kind::Transfers => run.flows.iter().any(|flow| !flow.transfers.is_empty()),
            Kind::Media => run.flows.iter().any(|flow| flow.media.is_some()),
            Kind::Receivers => !run.receivers.is_empty(),
            Kind::Series => !run.series.is_empty(),
            Kind::Flows | Kind::Queues | Kind::Runs => true,
        }
    }

    /// The name, of the folder too.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Flows => "flows",
            Kind::Queues => "queues",
            Kind::Receivers => "receivers",
            Kind::Transfers => "transfers",
            Kind::Media => "media",
            Kind::Series => "series",
            Kind::Runs => "runs",
        }
    }

    /// What a row is.
    pub fn doc(self) -> &'static str {
        match self {
            Kind::Flows => "One row per flow, in the order of the scenario.",
            Kind::Queues => "One row per observed queue.",
            Kind::Receivers => {
                "One row per flow to a multicast group and member of it; no file where there are none. The columns of `flows` are \
                 those of what this member got: it is called as `cbr-1 at n5`, what was sent is what was delivered or lost, and \
                 what was dropped are the copies on the way to it that were dropped while it was a member."
            }
            Kind::Transfers => {
                "One row per transfer of a workload that was asked for after the warm-up; no file where there are none."
            }
            Kind::Media => {
                "One row per flow of RTP: what its RTCP reports say, and what its receiver made of the packets; of a flow to a \
                 multicast group the sums over its members, and one more row per member, called as in `receivers`. No file where \
                 there are none."
            }
            Kind::Series => "One row per sample of each recorded time series.",
            Kind::Runs => {
                "One row per run. Metrics of flows are those of all flows in the direction under study together."
            }
        }
    }
}

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
const DIGITS: u8 = 38;

/// A column, as documents show it.
#[derive(Clone, Debug)]
pub struct ColumnInfo {
    /// The name.
    pub name: String,
    /// What it holds.
    pub kind: Type,
    /// The unit; empty where there is none.
    pub unit: &'static str,
    /// What it is.
    pub doc: String,
}

/// What every row begins with.
#[derive(Clone, Copy)]
pub(super) struct Key<'a> {
    pub(super) id: &'a str,
    pub(super) point: u64,
    pub(super) run: &'a RunOutcome,
}

/// The columns of tables with a row per `T`.
pub(super) struct Columns<T>(Vec<Column<T>>);

struct Column<T> {
    info: ColumnInfo,
    read: Read<T>,
}

pub(super) enum Read<T> {
    Id,
    KeyInteger(fn(&Key<'_>) -> u64),
    Text(fn(&T) -> &str),
    Flag(fn(&T) -> bool),
    Integer(Box<dyn Fn(&T) -> u64 + Send + Sync>),
    OptionalInteger(fn(&T) -> Option<u64>),
    Wide(fn(&T) -> u128),
    Number(fn(&T) -> f64),
    SmallIntegers(fn(&T) -> Vec<u32>),
    Integers(fn(&T) -> Vec<u64>),
    Wides(fn(&T) -> Vec<u128>),
    Metric(&'static Metric, for<'a> fn(&'a T, Span) -> Subject<'a>),
}

impl<T> Columns<T> {
    /// The keys that every table has.
    pub(super) fn keyed() -> Columns<T> {
        let mut all = Columns(Vec::new());
        all.add(
            "run_id",
            Type::Text,
            "",
            "The run: name of its files.",
            Read::Id,
        );
        all.add(
            "point",
            Type::Integer,
            "1",
            "Number of the point in the manifest, from 0.",
            Read::KeyInteger(|key| key.point),
        );
        all.add(
            "replication",
            Type::Integer,
            "1",
            "Number of the replication, from 0.",
            Read::KeyInteger(|key| key.run.replication),
        );
        all
    }

    pub(super) fn add(
        &mut self,
        name: &str,
        kind: Type,
        unit: &'static str,
        doc: &str,
        read: Read<T>,
    ) {
        self.0.push(Column {
            info: ColumnInfo {
                name: name.to_owned(),
                kind,
                unit,
                doc: doc.to_owned(),
            },
            read,
        });
    }

    pub(super) fn text(&mut self, name: &str, doc: &str, read: fn(&T) -> &str) {
        self.add(name, Type::Text, "", doc, Read::Text(read));
    }

    pub(super) fn flag(&mut self, name: &str, doc: &str, read: fn(&T) -> bool) {
        self.add(name, Type::Flag, "", doc, Read::Flag(read));
    }

    pub(super) fn integer(
        &mut self,
        name: &str,
        unit: &'static str,
        doc: &str,
        read: impl Fn(&T) -> u64 + Send + Sync + 'static,
    ) {
        self.add(
            name,
            Type::Integer,
            unit,
            doc,
            Read::Integer(Box::new(read)),
        );
    }

    pub(super) fn optional(
        &mut self,
        name: &str,
        unit: &'static str,
        doc: &str,
        read: fn(&T) -> Option<u64>,
    ) {
        self.add(
            name,
            Type::OptionalInteger,
            unit,
            doc,
            Read::OptionalInteger(read),
        );
    }

    pub(super) fn wide(&mut self, name: &str, unit: &'static str, doc: &str, read: fn(&T) -> u128) {
        self.add(name, Type::Wide, unit, doc, Read::Wide(read));
    }

    pub(super) fn number(
        &mut self,
        name: &str,
        unit: &'static str,
        doc: &str,
        read: fn(&T) -> f64,
    ) {
        self.add(name, Type::Number, unit, doc, Read::Number(read));
    }

    pub(super) fn integers(
        &mut self,
        name: &str,
        unit: &'static str,
        doc: &str,
        read: fn(&T) -> Vec<u64>,
    ) {
        self.add(name, Type::Integers, unit, doc, Read::Integers(read));
    }

    /// A histogram, as two columns.
    pub(super) fn histogram(
        &mut self,
        name: &str,
        of: &str,
        steps: fn(&T) -> Vec<u32>,
        counts: fn(&T) -> Vec<u64>,
    ) {
        let doc = format!("Steps of the histogram of {of} that are in use; see Histograms.");
        let steps = Read::SmallIntegers(steps);
        self.add(
            &format!("{name}_steps"),
            Type::SmallIntegers,
            "1",
            &doc,
            steps,
        );
        let doc = "Packets in each of these steps.";
        self.integers(&format!("{name}_counts"), "packets", doc, counts);
    }

    /// A column for each metric of a level whose name no column has yet.
    pub(super) fn metrics(
        &mut self,
        level: Level,
        subject: for<'a> fn(&'a T, Span) -> Subject<'a>,
    ) {
        self.metrics_that(level, |_| true, subject);
    }

    pub(super) fn metrics_that(
        &mut self,
        level: Level,
        keep: fn(&Metric) -> bool,
        subject: for<'a> fn(&'a T, Span) -> Subject<'a>,
    ) {
        for metric in of_level(level).filter(|metric| keep(metric)) {
            if self.0.iter().all(|column| column.info.name != metric.name) {
                let (unit, read) = (metric.unit.stored(), Read::Metric(metric, subject));
                self.add(&metric.name, Type::Number, unit, &metric.doc, read);
            }
        }
    }

    pub(super) fn infos(&self) -> Vec<ColumnInfo> {
        self.0.iter().map(|column| column.info.clone()).collect()
    }

    pub(super) fn table(&self, key: Key<'_>, rows: &[T]) -> Result<RecordBatch, ArrowError> {
        let arrays = self.0.iter().map(|column| column.read.array(key, rows));
        let arrays: Result<Vec<ArrayRef>, _> = arrays.collect();
        RecordBatch::try_new(schema_of(self.infos()), arrays?)
    }
}

impl<T> Read<T> {
    fn array(&self, key: Key<'_>, rows: &[T]) -> Result<ArrayRef, ArrowError> {
        let all = rows.iter();
        Ok(match self {
            Read::Id => Arc::new(StringArray::from_iter_values(all.map(|_| key.id))),
            Read::KeyInteger(read) => {
                Arc::new(UInt64Array::from_iter_values(all.map(|_| read(&key))))
            }
            Read::Text(read) => Arc::new(StringArray::from_iter_values(all.map(read))),
            Read::Flag(read) => Arc::new(BooleanArray::from_iter(all.map(|row| Some(read(row))))),
            Read::Integer(read) => Arc::new(UInt64Array::from_iter_values(all.map(read))),
            Read::OptionalInteger(read) => Arc::new(UInt64Array::from_iter(all.map(read))),
            Read::Wide(read) => {
                let values: Result<Vec<i128>, _> = all.map(|row| decimal(read(row))).collect();
                let array = Decimal128Array::from_iter_values(values?);
                Arc::new(array.with_precision_and_scale(DIGITS, 0)?)
            }
            Read::Number(read) => Arc::new(Float64Array::from_iter(
                all.map(|row| Some(read(row)).filter(|value| !value.is_nan())),
            )),
            Read::SmallIntegers(read) => {
                let mut list = ListBuilder::new(PrimitiveBuilder::<UInt32Type>::new());
                for row in all {
                    list.values().append_slice(&read(row));
                    list.append(true);
                }
                Arc::new(list.finish())
            }
            Read::Integers(read) => {
                let mut list = ListBuilder::new(PrimitiveBuilder::<UInt64Type>::new());
                for row in all {
                    list.values().append_slice(&read(row));
                    list.append(true);
                }
                Arc::new(list.finish())
            }
            Read::Wides(read) => {
                let values = PrimitiveBuilder::<Decimal128Type>::new();
                let mut list = ListBuilder::new(values.with_data_type(Type::Wide.arrow()));
                for row in all {
                    for value in read(row) {
                        list.values().append_value(decimal(value)?);
                    }
                    list.append(true);
                }
                Arc::new(list.finish())
            }
            Read::Metric(metric, subject) => {
                let measured = key.run.measured;
                Arc::new(Float64Array::from_iter(
                    all.map(|row| metric.value(&subject(row, measured))),
                ))
            }
        })
    }
}

fn decimal(value: u128) -> Result<i128, ArrowError> {
    const MOST: u128 = 10u128.pow(38) - 1;
    match i128::try_from(value) {
        Ok(number) if value <= MOST => Ok(number),
        _ => Err(ArrowError::InvalidArgumentError(format!(
            "the sum {value} has more than {DIGITS} digits"
        ))),
    }
}

pub(super) fn steps(histogram: &Histogram) -> Vec<u32> {
    histogram
        .steps()
        .into_iter()
        .map(|(step, _)| step)
        .collect()
}

pub(super) fn counts(histogram: &Histogram) -> Vec<u64> {
    histogram
        .steps()
        .into_iter()
        .map(|(_, count)| count)
        .collect()
}

/// The Arrow schema of columns.
pub(super) fn schema_of(columns: Vec<ColumnInfo>) -> Arc<Schema> {
    let fields = columns
        .into_iter()
        .map(|column| Field::new(column.name, column.kind.arrow(), column.kind.nullable()));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}
