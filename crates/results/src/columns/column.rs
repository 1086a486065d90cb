//! What a column is: name, unit, meaning, how it is taken from a row, and how it is put back into one.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, PrimitiveBuilder};
use arrow_array::types::{Decimal128Type, UInt32Type, UInt64Type};
use arrow_array::{
    ArrayRef, BooleanArray, Decimal128Array, Float64Array, RecordBatch, StringArray, UInt64Array,
};
use arrow_schema::{ArrowError, Field, Schema};
use sojourn_sim::histogram::Histogram;
use sojourn_units::{Rate, Span, Time};

use super::kind::{DIGITS, Type};
use super::reader::Reader;
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
    /// One row per count in equal parts of a run.
    Batches,
    /// One row per run.
    Runs,
}

impl Kind {
    /// Every kind, in the order in which a run's files are written: the one of the run itself last.
    pub const ALL: [Kind; 8] = [
        Kind::Flows,
        Kind::Queues,
        Kind::Receivers,
        Kind::Transfers,
        Kind::Media,
        Kind::Series,
        Kind::Batches,
        Kind::Runs,
    ];

    /// Whether a run without rows of this kind has no file of it.
    pub fn is_optional(self) -> bool {
        matches!(
            self,
            Kind::Receivers | Kind::Transfers | Kind::Media | Kind::Series | Kind::Batches
        )
    }

    /// Whether a run has rows of this kind.
    pub fn is_in(self, run: &RunOutcome) -> bool {
        match self {
            Kind::Transfers => run.flows.iter().any(|flow| !flow.transfers.is_empty()),
            Kind::Media => run.flows.iter().any(|flow| flow.media.is_some()),
            Kind::Receivers => !run.receivers.is_empty(),
            Kind::Series => !run.series.is_empty(),
            Kind::Batches => !run.batches.is_empty(),
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
            Kind::Batches => "batches",
            Kind::Runs => "runs",
        }
    }

    /// What a row is.
    pub fn doc(self) -> &'static str {
        match self {
            Kind::Flows => "One row per flow, in the order of the scenario.",
            Kind::Queues => "One row per observed queue.",
            Kind::Receivers => {
                "One row per member of a multicast group and flow to the group. There is no file if there are none. The columns of `flows` describe what this member received. The row's name has the form `cbr-1 at n5`. Sent packets are those that were delivered or lost; dropped packets are copies on the way to this member that were dropped while it was a member."
            }
            Kind::Transfers => {
                "One row per transfer of a workload that was requested after the warm-up. There is no file if there are none."
            }
            Kind::Media => {
                "One row per RTP flow, with the contents of its RTCP reports and the fate of the packets at its receiver. A flow to a multicast group has a row of sums over its members, and one more row per member, with the names in `receivers`. There is no file if there are no RTP flows."
            }
            Kind::Series => "One row per sample of each recorded time series.",
            Kind::Batches => {
                "One row per count that decides on the warm-up, with its value in each batch: at most 1,000 equal parts of the run, warm-up included. The counts are those of the queues under study (the first 16), and the goodput of the flows in the direction under study together."
            }
            Kind::Runs => {
                "One row per run. Metrics of flows are those of all flows in the direction under study together."
            }
        }
    }
}

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
    /// Puts a value of a table back into a row; none where it follows from others.
    put: Option<Put<T>>,
}

type Put<T> = Box<dyn Fn(&mut T, &Reader<'_>, usize) -> Result<(), String> + Send + Sync>;

/// Where in a row the value of a column stands: how it is taken from there, and put there.
pub(super) struct Place<T, V> {
    pub(super) get: fn(&T) -> V,
    pub(super) put: fn(&mut T, V),
}

/// Where a text stands.
pub(super) struct TextPlace<T> {
    pub(super) get: fn(&T) -> &str,
    pub(super) put: fn(&mut T, String),
}

/// Where a histogram stands.
pub(super) struct HistogramPlace<T> {
    pub(super) get: fn(&T) -> Option<&Histogram>,
    pub(super) put: fn(&mut T, Histogram),
}

/// Where an array stands.
pub(super) struct ArrayPlace<T> {
    pub(super) get: fn(&T) -> &[u64],
    pub(super) change: fn(&mut T) -> &mut [u64],
}

/// What a whole number of a table stands for.
pub(super) trait Whole {
    fn to_whole(&self) -> u64;
    fn of_whole(number: u64) -> Self;
}

impl Whole for u64 {
    fn to_whole(&self) -> u64 {
        *self
    }
    fn of_whole(number: u64) -> u64 {
        number
    }
}

impl Whole for Span {
    fn to_whole(&self) -> u64 {
        self.as_ps()
    }
    fn of_whole(number: u64) -> Span {
        Span::from_ps(number)
    }
}

impl Whole for Time {
    fn to_whole(&self) -> u64 {
        self.as_ps()
    }
    fn of_whole(number: u64) -> Time {
        Time::from_ps(number)
    }
}

impl Whole for Rate {
    fn to_whole(&self) -> u64 {
        self.as_bps()
    }
    fn of_whole(number: u64) -> Rate {
        Rate::bps(number)
    }
}

/// Adds columns, one a line: what it holds, its name, its unit, where its value stands in a row, and what it is. The value stands `at`
/// a place of every row; `of` a record that a row may have, with zero where it has none; or it is `some` value of such a record, and
/// null where there is none.
macro_rules! columns {
    ($all:expr; $($kind:ident $name:literal $(, $unit:literal)? $how:ident [$($path:tt)+] $doc:literal;)*) => {
        $($all.$kind($name, concat!($($unit)?), $doc, $crate::columns::column::place!($kind $how $($path)+));)*
    };
}
pub(super) use columns;

macro_rules! place {
    (text at $($path:tt)+) => {
        $crate::columns::column::TextPlace { get: |row| &row.$($path)+, put: |row, text| row.$($path)+ = text.into() }
    };
    (text of $record:ident . $($path:tt)+) => {
        $crate::columns::column::TextPlace {
            get: |row| row.$record.as_ref().map_or("", |own| &own.$($path)+),
            put: |row, text| row.$record.get_or_insert_default().$($path)+ = text,
        }
    };
    (histogram at $($path:tt)+) => {
        $crate::columns::column::HistogramPlace {
            get: |row| Some(&row.$($path)+),
            put: |row, histogram| row.$($path)+ = histogram,
        }
    };
    (histogram of $record:ident . $($path:tt)+) => {
        $crate::columns::column::HistogramPlace {
            get: |row| row.$record.as_ref().map(|own| &own.$($path)+),
            put: |row, histogram| row.$record.get_or_insert_default().$($path)+ = histogram,
        }
    };
    ($kind:ident at $($path:tt)+) => {
        $crate::columns::column::Place { get: |row| row.$($path)+, put: |row, value| row.$($path)+ = value }
    };
    ($kind:ident of $record:ident . $($path:tt)+) => {
        $crate::columns::column::Place {
            get: |row| row.$record.as_ref().map(|own| own.$($path)+).unwrap_or_default(),
            put: |row, value| row.$record.get_or_insert_default().$($path)+ = value,
        }
    };
    ($kind:ident some $record:ident . $($path:tt)+) => {
        $crate::columns::column::Place {
            get: |row| row.$record.as_ref().map(|own| own.$($path)+),
            put: |row, value| {
                if let Some(value) = value {
                    row.$record.get_or_insert_default().$($path)+ = value;
                }
            },
        }
    };
}
pub(super) use place;

/// Takes a value from a row.
type Taken<T, V> = Box<dyn Fn(&T) -> V + Send + Sync>;

pub(super) enum Read<T> {
    Id,
    KeyInteger(fn(&Key<'_>) -> u64),
    Text(fn(&T) -> &str),
    Flag(fn(&T) -> bool),
    Integer(Taken<T, u64>),
    OptionalInteger(Taken<T, Option<u64>>),
    Wide(fn(&T) -> u128),
    Number(fn(&T) -> f64),
    SmallIntegers(Taken<T, Vec<u32>>),
    Integers(Taken<T, Vec<u64>>),
    Wides(fn(&T) -> Vec<u128>),
    Metric(&'static Metric, for<'a> fn(&'a T, Span) -> Subject<'a>),
}

impl<T: 'static> Columns<T> {
    /// The keys that every table has.
    pub(super) fn keyed() -> Columns<T> {
        let mut all = Columns(Vec::new());
        let id = "The run; also the name of its files.";
        all.add("run_id", Type::Text, "", id, Read::Id, None);
        let key = |name, doc, read| (name, doc, Read::KeyInteger(read));
        for (name, doc, read) in [
            key(
                "point",
                "Number of the point in the manifest, from 0.",
                |key| key.point,
            ),
            key("replication", "Number of the replication, from 0.", |key| {
                key.run.replication
            }),
        ] {
            all.add(name, Type::Integer, "1", doc, read, None);
        }
        all
    }

    /// A column of any type.
    pub(super) fn add(
        &mut self,
        name: &str,
        kind: Type,
        unit: &'static str,
        doc: &str,
        read: Read<T>,
        put: Option<Put<T>>,
    ) {
        self.0.push(Column {
            info: ColumnInfo {
                name: name.to_owned(),
                kind,
                unit,
                doc: doc.to_owned(),
            },
            read,
            put,
        });
    }

    pub(super) fn text(
        &mut self,
        name: &'static str,
        unit: &'static str,
        doc: &str,
        TextPlace { get, put: set }: TextPlace<T>,
    ) {
        let put: Put<T> = Box::new(move |row, table, index| {
            set(row, table.text(name, index)?);
            Ok(())
        });
        self.add(name, Type::Text, unit, doc, Read::Text(get), Some(put));
    }

    /// A text that has to be one of some.
    pub(super) fn word(
        &mut self,
        name: &'static str,
        doc: &str,
        get: fn(&T) -> &str,
        put: fn(&mut T, &str) -> Result<(), String>,
    ) {
        let put: Put<T> = Box::new(move |row, table, index| put(row, &table.text(name, index)?));
        self.add(name, Type::Text, "", doc, Read::Text(get), Some(put));
    }

    pub(super) fn flag(
        &mut self,
        name: &'static str,
        unit: &'static str,
        doc: &str,
        Place { get, put: set }: Place<T, bool>,
    ) {
        let put: Put<T> = Box::new(move |row, table, index| {
            set(row, table.flag(name, index)?);
            Ok(())
        });
        self.add(name, Type::Flag, unit, doc, Read::Flag(get), Some(put));
    }

    pub(super) fn integer<V: Whole + 'static>(
        &mut self,
        name: &'static str,
        unit: &'static str,
        doc: &str,
        Place { get, put: set }: Place<T, V>,
    ) {
        let read = Read::Integer(Box::new(move |row| get(row).to_whole()));
        let put: Put<T> = Box::new(move |row, table, index| {
            set(row, V::of_whole(table.integer(name, index)?));
            Ok(())
        });
        self.add(name, Type::Integer, unit, doc, read, Some(put));
    }

    /// An element of an array.
    pub(super) fn element(
        &mut self,
        name: &str,
        unit: &'static str,
        doc: &str,
        index: usize,
        ArrayPlace { get, change }: ArrayPlace<T>,
    ) {
        let own = name.to_owned();
        let read = Read::Integer(Box::new(move |row| get(row)[index]));
        let put: Put<T> = Box::new(move |row, table, at| {
            change(row)[index] = table.integer(&own, at)?;
            Ok(())
        });
        self.add(name, Type::Integer, unit, doc, read, Some(put));
    }

    pub(super) fn optional<V: Whole + 'static>(
        &mut self,
        name: &'static str,
        unit: &'static str,
        doc: &str,
        Place { get, put: set }: Place<T, Option<V>>,
    ) {
        let read = move |row: &T| get(row).map(|value| value.to_whole());
        let put: Put<T> = Box::new(move |row, table, index| {
            set(row, table.optional(name, index)?.map(V::of_whole));
            Ok(())
        });
        let read = Read::OptionalInteger(Box::new(read));
        self.add(name, Type::OptionalInteger, unit, doc, read, Some(put));
    }

    pub(super) fn wide(
        &mut self,
        name: &'static str,
        unit: &'static str,
        doc: &str,
        Place { get, put: set }: Place<T, u128>,
    ) {
        let put: Put<T> = Box::new(move |row, table, index| {
            set(row, table.wide(name, index)?);
            Ok(())
        });
        self.add(name, Type::Wide, unit, doc, Read::Wide(get), Some(put));
    }

    /// A number; not a number where it is null.
    pub(super) fn number(
        &mut self,
        name: &'static str,
        unit: &'static str,
        doc: &str,
        Place { get, put: set }: Place<T, f64>,
    ) {
        let put: Put<T> = Box::new(move |row, table, index| {
            set(row, table.number(name, index)?.unwrap_or(f64::NAN));
            Ok(())
        });
        self.add(name, Type::Number, unit, doc, Read::Number(get), Some(put));
    }

    /// A number that follows from other columns.
    pub(super) fn follows(
        &mut self,
        name: &str,
        unit: &'static str,
        doc: &str,
        get: fn(&T) -> f64,
    ) {
        self.add(name, Type::Number, unit, doc, Read::Number(get), None);
    }

    /// A histogram, as two columns.
    pub(super) fn histogram(
        &mut self,
        name: &'static str,
        _: &'static str,
        of: &str,
        HistogramPlace { get, put: set }: HistogramPlace<T>,
    ) {
        let doc = format!("Steps of the histogram of {of} that are in use; see Histograms.");
        let (steps, counts) = (format!("{name}_steps"), format!("{name}_counts"));
        let read = Read::SmallIntegers(Box::new(move |row| {
            let steps = get(row).map(Histogram::steps);
            steps.into_iter().flatten().map(|(step, _)| step).collect()
        }));
        let names = (steps.clone(), counts.clone());
        let put: Put<T> = Box::new(move |row, table, index| {
            set(row, table.histogram(&names.0, &names.1, index)?);
            Ok(())
        });
        self.add(&steps, Type::SmallIntegers, "1", &doc, read, Some(put));
        let doc = "Packets in each of these steps.";
        let read = Read::Integers(Box::new(move |row| {
            let steps = get(row).map(Histogram::steps);
            steps
                .into_iter()
                .flatten()
                .map(|(_, count)| count)
                .collect()
        }));
        self.add(&counts, Type::Integers, "packets", doc, read, None);
    }

    /// The rows of a table.
    ///
    /// # Errors
    /// Says which column is missing, or not what it should be.
    pub(super) fn rows(&self, table: &RecordBatch) -> Result<Vec<T>, String>
    where
        T: Default,
    {
        let reader = Reader(table);
        let row = |index: usize| {
            let mut row = T::default();
            for put in self.0.iter().filter_map(|column| column.put.as_ref()) {
                put(&mut row, &reader, index)?;
            }
            Ok(row)
        };
        (0..table.num_rows()).map(row).collect()
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
                self.add(&metric.name, Type::Number, unit, &metric.doc, read, None);
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

/// The Arrow schema of columns.
pub(super) fn schema_of(columns: Vec<ColumnInfo>) -> Arc<Schema> {
    let fields = columns
        .into_iter()
        .map(|column| Field::new(column.name, column.kind.arrow(), column.kind.nullable()));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}
