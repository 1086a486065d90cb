//! The columns of result files, each declared once: name, unit, meaning, how it is read from an outcome. Schemas, files,
//! Arrow tables and `docs/reference/results.md` come from these lists; [`read_run`] goes the way back.

mod exchanges;
mod playback;

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use arrow_array::builder::{ListBuilder, PrimitiveBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Float64Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Decimal128Array, Float64Array, RecordBatch, StringArray,
    UInt64Array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use sojourn_queue::account::{FlowAccount, Totals};
use sojourn_sim::histogram::Histogram;
use sojourn_sim::{Census, DropReason, MarkReason};
use sojourn_units::{Rate, Span, Time};

mod media;

use super::metrics::{Level, Metric, Subject, of_level};
use crate::outcome::{
    FlowOutcome, QueueOutcome, Reception, RunOutcome, SeriesOutcome, TransferOutcome,
};
use sojourn_traffic::workload::TransferKind;
use sojourn_transport::SrmCounts;

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

    fn nullable(self) -> bool {
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

/// The columns of a kind, in order.
pub fn columns(kind: Kind) -> Vec<ColumnInfo> {
    match kind {
        Kind::Flows => FLOWS.infos(),
        Kind::Queues => QUEUES.infos(),
        Kind::Receivers => RECEIVERS.infos(),
        Kind::Transfers => TRANSFERS.infos(),
        Kind::Media => media::MEDIA.infos(),
        Kind::Series => SERIES.infos(),
        Kind::Runs => RUNS.infos(),
    }
}

/// The Arrow schema of a kind.
pub fn schema(kind: Kind) -> Arc<Schema> {
    let fields = columns(kind)
        .into_iter()
        .map(|column| Field::new(column.name, column.kind.arrow(), column.kind.nullable()));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// The name of a run in files: point and replication.
pub fn run_id(point: u64, replication: u64) -> String {
    format!("p{point:03}-r{replication:02}")
}

/// The table of one kind of a run.
///
/// # Errors
/// When a sum has more than 38 digits.
pub fn batch(kind: Kind, point: u64, run: &RunOutcome) -> Result<RecordBatch, ArrowError> {
    let id = run_id(point, run.replication);
    let key = Key {
        id: &id,
        point,
        run,
    };
    match kind {
        Kind::Flows => FLOWS.table(kind, key, &run.flows),
        Kind::Queues => QUEUES.table(kind, key, &run.queues),
        Kind::Receivers => RECEIVERS.table(kind, key, &run.receivers),
        Kind::Transfers => {
            let rows: Vec<Moved> = run.flows.iter().flat_map(transfers_of).collect();
            TRANSFERS.table(kind, key, &rows)
        }
        Kind::Media => {
            let all = run.flows.iter().chain(&run.receivers);
            let rows: Vec<media::Row> = all.filter_map(media::row_of).collect();
            media::MEDIA.table(kind, key, &rows)
        }
        Kind::Series => {
            let rows: Vec<Sample> = run.series.iter().flat_map(samples).collect();
            SERIES.table(kind, key, &rows)
        }
        Kind::Runs => RUNS.table(kind, key, std::slice::from_ref(run)),
    }
}

/// The tables of runs that are in memory, one per kind; all belong to point 0.
///
/// # Errors
/// When a sum has more than 38 digits.
pub fn outcome_batches(runs: &[RunOutcome]) -> Result<Vec<(Kind, RecordBatch)>, ArrowError> {
    let of_kind = |kind: Kind| {
        let batches: Result<Vec<_>, _> = runs.iter().map(|run| batch(kind, 0, run)).collect();
        let whole = arrow_select::concat::concat_batches(&schema(kind), &batches?)?;
        Ok((kind, whole))
    };
    Kind::ALL.into_iter().map(of_kind).collect()
}

/// What every row begins with.
#[derive(Clone, Copy)]
struct Key<'a> {
    id: &'a str,
    point: u64,
    run: &'a RunOutcome,
}

/// The columns of tables with a row per `T`.
struct Columns<T>(Vec<Column<T>>);

struct Column<T> {
    info: ColumnInfo,
    read: Read<T>,
}

enum Read<T> {
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
    fn keyed() -> Columns<T> {
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

    fn add(&mut self, name: &str, kind: Type, unit: &'static str, doc: &str, read: Read<T>) {
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

    fn text(&mut self, name: &str, doc: &str, read: fn(&T) -> &str) {
        self.add(name, Type::Text, "", doc, Read::Text(read));
    }

    fn flag(&mut self, name: &str, doc: &str, read: fn(&T) -> bool) {
        self.add(name, Type::Flag, "", doc, Read::Flag(read));
    }

    fn integer(
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

    fn optional(&mut self, name: &str, unit: &'static str, doc: &str, read: fn(&T) -> Option<u64>) {
        self.add(
            name,
            Type::OptionalInteger,
            unit,
            doc,
            Read::OptionalInteger(read),
        );
    }

    fn wide(&mut self, name: &str, unit: &'static str, doc: &str, read: fn(&T) -> u128) {
        self.add(name, Type::Wide, unit, doc, Read::Wide(read));
    }

    fn number(&mut self, name: &str, unit: &'static str, doc: &str, read: fn(&T) -> f64) {
        self.add(name, Type::Number, unit, doc, Read::Number(read));
    }

    fn integers(&mut self, name: &str, unit: &'static str, doc: &str, read: fn(&T) -> Vec<u64>) {
        self.add(name, Type::Integers, unit, doc, Read::Integers(read));
    }

    /// A histogram, as two columns.
    fn histogram(
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
    fn metrics(&mut self, level: Level, subject: for<'a> fn(&'a T, Span) -> Subject<'a>) {
        self.metrics_that(level, |_| true, subject);
    }

    fn metrics_that(
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

    fn infos(&self) -> Vec<ColumnInfo> {
        self.0.iter().map(|column| column.info.clone()).collect()
    }

    fn table(&self, kind: Kind, key: Key<'_>, rows: &[T]) -> Result<RecordBatch, ArrowError> {
        let arrays = self.0.iter().map(|column| column.read.array(key, rows));
        let arrays: Result<Vec<ArrayRef>, _> = arrays.collect();
        RecordBatch::try_new(schema(kind), arrays?)
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

static FLOWS: LazyLock<Columns<FlowOutcome>> = LazyLock::new(|| {
    let mut all = flow_columns();
    flow_metrics(&mut all, |metric| !metric.is_of_receivers());
    all
});

static RECEIVERS: LazyLock<Columns<FlowOutcome>> = LazyLock::new(|| {
    let mut all = flow_columns();
    all.text("of_flow", "The flow to the group.", |flow| {
        reception(flow).map_or("", |own| &own.flow)
    });
    all.text("receiver", "The node of the member.", |flow| {
        reception(flow).map_or("", |own| &own.receiver)
    });
    all.integer(
        "member_ps",
        "ps",
        "How long it belonged to the group within the measured time.",
        |flow| reception(flow).map_or(0, |own| own.member.as_ps()),
    );
    all.integer(
        "passed_packets",
        "packets",
        "Packets that came by the node `delay_from` of the group.",
        |flow| reception(flow).map_or(0, |own| own.passed_packets),
    );
    all.wide(
        "passed_delay_ps_sum",
        "ps",
        "Sum of their delays from there on.",
        |flow| reception(flow).map_or(0, |own| own.passed_delay_sum),
    );
    all.histogram(
        "passed_delay",
        "these delays",
        |flow| reception(flow).map_or_else(Vec::new, |own| steps(&own.passed_delay)),
        |flow| reception(flow).map_or_else(Vec::new, |own| counts(&own.passed_delay)),
    );
    srm_columns(&mut all);
    flow_metrics(&mut all, |_| true);
    all
});

/// What a receiver of an SRM session did.
fn srm_columns(all: &mut Columns<FlowOutcome>) {
    type Count = fn(&SrmCounts) -> u64;
    let counts: [(&str, &str, Count); 7] = [
        ("requests_packets", "Requests that it sent (SRM).", |srm| {
            srm.requests
        }),
        ("repairs_packets", "Repairs that it sent (SRM).", |srm| {
            srm.repairs
        }),
        (
            "sessions_packets",
            "Session messages that it sent (SRM).",
            |srm| srm.sessions,
        ),
        (
            "duplicate_requests_packets",
            "Requests of others for what it had asked for itself (SRM).",
            |srm| srm.duplicate_requests,
        ),
        (
            "duplicate_repairs_packets",
            "Repairs that it had no need of (SRM).",
            |srm| srm.duplicate_repairs,
        ),
        (
            "recovered_packets",
            "Packets that it missed and got in the end (SRM).",
            |srm| srm.recovered,
        ),
        (
            "missing_packets",
            "Packets that it missed when the run ended (SRM).",
            |srm| srm.missing,
        ),
    ];
    for (name, doc, read) in counts {
        all.integer(name, "packets", doc, move |flow| read(&srm(flow)));
    }
    all.wide(
        "recovery_ps_sum",
        "ps",
        "Sum of the times from when packets were missed until they came (SRM).",
        |flow| srm(flow).recovery_sum,
    );
    all.integer(
        "recovery_ps_max",
        "ps",
        "The longest of these times.",
        |flow| srm(flow).recovery_max.as_ps(),
    );
    all.number(
        "recovery_rtts_sum",
        "1",
        "Sum of these times in round trips to the source, as the member knew it.",
        |flow| srm(flow).recovery_round_trips,
    );
}

fn srm(flow: &FlowOutcome) -> SrmCounts {
    reception(flow).map(|own| own.srm).unwrap_or_default()
}

fn reception(flow: &FlowOutcome) -> Option<&Reception> {
    flow.reception.as_ref()
}

/// The columns that flows and receivers have.
fn flow_columns() -> Columns<FlowOutcome> {
    let mut all = Columns::<FlowOutcome>::keyed();
    all.text("flow", "Name of the flow.", |flow| &flow.name);
    all.text("label", "Name of its group.", |flow| &flow.label);
    all.text("kind", "What runs.", |flow| &flow.kind);
    all.text("dialect", "Its dialect in full.", |flow| &flow.release);
    all.flag(
        "forward",
        "Whether it runs in the direction under study.",
        |flow| flow.forward,
    );
    all.integer(
        "base_rtt_ps",
        "ps",
        "Base round trip: propagation only.",
        |flow| flow.base_rtt.as_ps(),
    );
    all.integer(
        "sent_packets",
        "packets",
        "Packets that the sender sent.",
        |flow| flow.sent_packets,
    );
    all.integer("sent_bytes", "bytes", "Their bytes on the wire.", |flow| {
        flow.sent_bytes
    });
    all.integer(
        "delivered_packets",
        "packets",
        "Packets of the sender that arrived.",
        |flow| flow.delivered_packets,
    );
    all.integer(
        "delivered_bytes",
        "bytes",
        "Their bytes on the wire.",
        |flow| flow.delivered_bytes,
    );
    all.integer(
        "dropped_packets",
        "packets",
        "Packets of the sender that were dropped, anywhere.",
        |flow| flow.dropped_packets,
    );
    all.integer(
        "marked_packets",
        "packets",
        "Packets that arrived with CE.",
        |flow| flow.marked_packets,
    );
    all.integer(
        "goodput_bytes",
        "bytes",
        "New application bytes that the receiver got in order.",
        |flow| flow.goodput_bytes,
    );
    all.integer(
        "retransmissions_packets",
        "packets",
        "Packets sent again.",
        |flow| flow.retransmissions,
    );
    all.integer(
        "timeouts_count",
        "1",
        "Expiries of the retransmission timer.",
        |flow| flow.timeouts,
    );
    all.integer(
        "started_ps",
        "ps",
        "When it started, in simulated time.",
        |flow| flow.started.as_ps(),
    );
    all.optional(
        "completed_ps",
        "ps",
        "When its last byte was acknowledged; null if it has no end or did not reach it.",
        |flow| flow.completed.map(Time::as_ps),
    );
    all.optional(
        "last_active_ps",
        "ps",
        "When something happened last to one of its endpoints; null where these do not keep it.",
        |flow| flow.last_active.map(Time::as_ps),
    );
    playback::declare(&mut all);
    exchanges::declare(&mut all);
    all.wide(
        "delay_ps_sum",
        "ps",
        "Sum of the one-way delays of packets that arrived.",
        |flow| flow.delay_sum,
    );
    all.optional("delay_ps_min", "ps", "The shortest of them.", |flow| {
        flow.delay_min.map(Span::as_ps)
    });
    all.integer("delay_ps_max", "ps", "The longest of them.", |flow| {
        flow.delay_max.as_ps()
    });
    all.histogram(
        "delay",
        "the delays",
        |flow| steps(&flow.delay),
        |flow| counts(&flow.delay),
    );
    all.integer(
        "replies_packets",
        "packets",
        "Packets of the receiver that arrived at the sender, such as acknowledgements.",
        |flow| flow.replies,
    );
    all.wide(
        "replies_delay_ps_sum",
        "ps",
        "Sum of their one-way delays.",
        |flow| flow.replies_delay_sum,
    );
    all.wide(
        "jitter_ps_sum",
        "ps",
        "Sum of the differences of the delays of consecutive packets.",
        |flow| flow.jitter_sum,
    );
    all.wide(
        "rtt_ps_sum",
        "ps",
        "Sum of the round trips that the sender measured.",
        |flow| flow.rtt.0,
    );
    all.integer("rtt_count", "1", "How many it measured.", |flow| flow.rtt.1);
    all.optional("rtt_ps_min", "ps", "The shortest of them.", |flow| {
        flow.rtt.2.map(Span::as_ps)
    });
    all.integer("rtt_ps_max", "ps", "The longest of them.", |flow| {
        flow.rtt.3.as_ps()
    });
    all
}

fn flow_metrics(all: &mut Columns<FlowOutcome>, keep: fn(&Metric) -> bool) {
    all.metrics_that(Level::Flow, keep, |flow, measured| {
        Subject::Flows(vec![flow], measured, measured)
    });
}

static QUEUES: LazyLock<Columns<QueueOutcome>> = LazyLock::new(|| {
    let mut all = Columns::<QueueOutcome>::keyed();
    all.text("queue", "The link direction whose queue it is.", |queue| {
        &queue.link
    });
    all.flag(
        "bottleneck",
        "Whether it is a bottleneck in the direction under study.",
        |queue| queue.bottleneck,
    );
    all.text("discipline", "The discipline.", |queue| queue.discipline);
    all.text("dialect", "Its dialect in full.", |queue| queue.release);
    all.integer(
        "rate_bps",
        "bit/s",
        "Rate of the link at the end of the run.",
        |queue| queue.rate.as_bps(),
    );
    all.wide(
        "capacity_bits",
        "bits",
        "Bits that the link could have carried.",
        |queue| queue.capacity_bits,
    );
    all.integer(
        "received_packets",
        "packets",
        "Packets handed to the queue.",
        |queue| queue.totals.received,
    );
    all.integer("received_bytes", "bytes", "Their bytes.", |queue| {
        queue.totals.received_bytes
    });
    all.integer(
        "dropped_before_packets",
        "packets",
        "Packets dropped on arrival.",
        |queue| queue.totals.dropped_before,
    );
    all.integer(
        "dropped_after_packets",
        "packets",
        "Packets dropped later.",
        |queue| queue.totals.dropped_after,
    );
    all.integer(
        "dropped_bytes",
        "bytes",
        "Bytes dropped, on arrival or later.",
        |queue| queue.totals.dropped_bytes,
    );
    all.integer(
        "dequeued_packets",
        "packets",
        "Packets given up for transmission.",
        |queue| queue.totals.dequeued,
    );
    all.integer("dequeued_bytes", "bytes", "Their bytes.", |queue| {
        queue.totals.dequeued_bytes
    });
    all.integer(
        "marked_packets",
        "packets",
        "Packets marked with CE.",
        |queue| queue.totals.marked,
    );
    all.integer(
        "sent_packets",
        "packets",
        "Packets whose transmission started.",
        |queue| queue.sent_packets,
    );
    all.integer("sent_bytes", "bytes", "Their bytes.", |queue| {
        queue.sent_bytes
    });
    for reason in DropReason::of_links() {
        let (name, mut doc) = by_reason("drops", "dropped", reason.name());
        if reason == DropReason::Wire {
            doc = LOST_ON_THE_WIRE.to_owned();
        }
        all.integer(&name, "packets", &doc, move |queue: &QueueOutcome| {
            queue.drops_by_reason[reason.index()]
        });
    }
    for reason in MarkReason::ALL {
        let (name, doc) = by_reason("marks", "marked", reason.name());
        all.integer(&name, "packets", &doc, move |queue: &QueueOutcome| {
            queue.marks_by_reason[reason.index()]
        });
    }
    all.wide(
        "sojourn_ps_sum",
        "ps",
        "Sum of the sojourn times of packets that were sent.",
        |queue| queue.sojourn_sum,
    );
    all.optional("sojourn_ps_min", "ps", "The shortest of them.", |queue| {
        queue.sojourn_min.map(Span::as_ps)
    });
    all.integer("sojourn_ps_max", "ps", "The longest of them.", |queue| {
        queue.sojourn_max.as_ps()
    });
    all.histogram(
        "sojourn",
        "the sojourn times",
        |queue| steps(&queue.sojourn),
        |queue| counts(&queue.sojourn),
    );
    all.number(
        "backlog_packets_mean",
        "packets",
        "Time average of the packets that wait.",
        |queue| queue.backlog_mean.0,
    );
    all.number(
        "backlog_bytes_mean",
        "bytes",
        "Time average of the bytes that wait.",
        |queue| queue.backlog_mean.1,
    );
    all.integer(
        "backlog_packets_max",
        "packets",
        "Most packets that waited at once.",
        |queue| queue.backlog_max.0,
    );
    all.integer(
        "backlog_bytes_max",
        "bytes",
        "Most bytes that waited at once.",
        |queue| queue.backlog_max.1,
    );
    all.integers(
        "flow_received_packets",
        "packets",
        "Packets handed to the queue, by flow in the order of `flows`; may end early.",
        |queue| per_flow(queue, |flow| flow.received),
    );
    all.integers(
        "flow_dropped_packets",
        "packets",
        "Packets dropped, by flow.",
        |queue| per_flow(queue, |flow| flow.dropped),
    );
    all.integers(
        "flow_marked_packets",
        "packets",
        "Packets marked, by flow.",
        |queue| per_flow(queue, |flow| flow.marked),
    );
    all.integers(
        "flow_dequeued_packets",
        "packets",
        "Packets given up for transmission, by flow.",
        |queue| per_flow(queue, |flow| flow.dequeued),
    );
    all.integers(
        "flow_dequeued_bytes",
        "bytes",
        "Their bytes, by flow.",
        |queue| per_flow(queue, |flow| flow.dequeued_bytes),
    );
    all.add(
        "flow_sojourn_ps_sum",
        Type::Wides,
        "ps",
        "Sum of their sojourn times, by flow.",
        Read::Wides(|queue| per_flow(queue, |flow| flow.sojourn_sum)),
    );
    all.integer(
        "loss_events_count",
        "1",
        "Loss events: drops within the longest base round trip of the flows from the first are one.",
        |queue| queue.loss_events,
    );
    all.integer(
        "loss_event_flows_count",
        "1",
        "Flows that lost packets in an event, summed over the events; each connection of a workload is a flow.",
        |queue| queue.loss_event_flows,
    );
    all.integer(
        "seen_flows_count",
        "1",
        "Such flows that the queue was handed packets of.",
        |queue| queue.seen_flows,
    );
    all.metrics(Level::Queue, |queue, measured| {
        Subject::Queues(vec![queue], measured)
    });
    all
});

static RUNS: LazyLock<Columns<RunOutcome>> = LazyLock::new(|| {
    let mut all = Columns::<RunOutcome>::keyed();
    all.integer(
        "measured_ps",
        "ps",
        "Length of the measured part of the run.",
        |run| run.measured.as_ps(),
    );
    all.integer(
        "created_packets",
        "packets",
        "Packets made by endpoints.",
        |run| run.census.created,
    );
    all.integer(
        "replicated_packets",
        "packets",
        "Packets made by duplication, and where the ways of a group's packets part.",
        |run| run.census.replicated,
    );
    all.integer(
        "delivered_packets",
        "packets",
        "Packets handed to an endpoint.",
        |run| run.census.delivered,
    );
    all.integer(
        "dropped_packets",
        "packets",
        "Packets dropped, anywhere.",
        |run| run.census.dropped,
    );
    all.integer(
        "left_packets",
        "packets",
        "Packets in queues and on wires when the run ended.",
        |run| run.census.left,
    );
    all.integer(
        "hops_packets",
        "packets",
        "Packets that arrived at the far end of a link, once per link.",
        |run| run.census.hops,
    );
    all.integer(
        "events_count",
        "1",
        "Events of links and endpoints, also those put off without a place in the event list.",
        |run| run.census.events,
    );
    all.metrics(Level::Run, |run, _| Subject::Run(run));
    all.metrics(Level::Group, |run, measured| {
        let forward = run.flows.iter().filter(|flow| flow.forward);
        Subject::Flows(forward.collect(), measured, run.active())
    });
    all
});

static TRANSFERS: LazyLock<Columns<Moved>> = LazyLock::new(|| {
    let mut all = Columns::<Moved>::keyed();
    all.text("flow", "Name of the flow of the scenario.", |row| &row.flow);
    all.text("label", "Name of its group.", |row| &row.label);
    all.text(
        "transfer",
        "What was transferred: `flow` of a workload, `response`, or `page` with all its objects.",
        |row| row.transfer.kind.name(),
    );
    all.integer("size_bytes", "bytes", "Payload.", |row| row.transfer.bytes);
    all.integer(
        "asked_ps",
        "ps",
        "When it was asked for, in simulated time.",
        |row| row.transfer.asked.as_ps(),
    );
    all.optional(
        "completed_ps",
        "ps",
        "When its last byte had arrived at the receiver; null if it had not at the end of the run.",
        |row| row.transfer.completed.map(Time::as_ps),
    );
    all.optional(
        "ideal_ps",
        "ps",
        "The least time that it could have taken: propagation, and transmission of all its bytes with headers at the slowest link \
         of the path; null of a page.",
        |row| row.transfer.ideal.map(Span::as_ps),
    );
    all.number(
        "fct_s",
        "s",
        "Flow completion time: from when it was asked for until its last byte had arrived; null if it had not.",
        |row| row.transfer.took().map_or(f64::NAN, Span::as_secs_f64),
    );
    all.number(
        "slowdown",
        "1",
        "Flow completion time over the least time; null where there is none.",
        |row| row.transfer.slowdown().unwrap_or(f64::NAN),
    );
    all
});

/// One transfer, with the flow that it is of.
struct Moved {
    flow: Arc<str>,
    label: Arc<str>,
    transfer: TransferOutcome,
}

fn transfers_of(flow: &FlowOutcome) -> impl Iterator<Item = Moved> {
    let (name, label): (Arc<str>, Arc<str>) =
        (flow.name.as_str().into(), flow.label.as_str().into());
    flow.transfers.iter().map(move |transfer| Moved {
        flow: Arc::clone(&name),
        label: Arc::clone(&label),
        transfer: transfer.clone(),
    })
}

static SERIES: LazyLock<Columns<Sample>> = LazyLock::new(|| {
    let mut all = Columns::<Sample>::keyed();
    all.text(
        "of",
        "The link direction or flow that it is of.",
        |sample| &sample.of,
    );
    all.text("quantity", "What was sampled, with its unit.", |sample| {
        &sample.quantity
    });
    all.number("time_s", "s", "When, in simulated time.", |sample| {
        sample.time.as_secs_f64()
    });
    all.number(
        "value",
        "",
        "The sample; null where there is none.",
        |sample| sample.value,
    );
    all.integer(
        "first_ps",
        "ps",
        "Time of the first sample of the series.",
        |sample| sample.first.as_ps(),
    );
    all.integer("step_ps", "ps", "Time between samples.", |sample| {
        sample.step.as_ps()
    });
    all
});

/// One sample of a time series.
struct Sample {
    of: Arc<str>,
    quantity: Arc<str>,
    time: Time,
    value: f64,
    first: Time,
    step: Span,
}

fn samples(series: &SeriesOutcome) -> impl Iterator<Item = Sample> {
    let (of, quantity): (Arc<str>, Arc<str>) =
        (series.of.as_str().into(), series.quantity.as_str().into());
    series
        .values
        .iter()
        .zip(0u64..)
        .map(move |(value, index)| Sample {
            of: Arc::clone(&of),
            quantity: Arc::clone(&quantity),
            time: series.first + series.step * index,
            value: *value,
            first: series.first,
            step: series.step,
        })
}

/// What a link's own losses are.
pub(super) const LOST_ON_THE_WIRE: &str = "Packets that the link's impairments lost, on the wire or before the queue; no other count of the queue has them.";

fn by_reason(what: &str, happened: &str, reason: &str) -> (String, String) {
    let doc = format!("Packets {happened} with the reason `{reason}`.");
    (format!("{what}_packets_{reason}"), doc)
}

fn steps(histogram: &Histogram) -> Vec<u32> {
    histogram
        .steps()
        .into_iter()
        .map(|(step, _)| step)
        .collect()
}

fn counts(histogram: &Histogram) -> Vec<u64> {
    histogram
        .steps()
        .into_iter()
        .map(|(_, count)| count)
        .collect()
}

fn per_flow<T>(queue: &QueueOutcome, read: fn(&FlowAccount) -> T) -> Vec<T> {
    queue.per_flow.iter().map(read).collect()
}

/// The tables that not every run has.
#[derive(Clone, Debug, Default)]
pub struct OptionalTables {
    /// [`Kind::Receivers`].
    pub receivers: Option<RecordBatch>,
    /// [`Kind::Transfers`].
    pub transfers: Option<RecordBatch>,
    /// [`Kind::Media`].
    pub media: Option<RecordBatch>,
}

/// The outcome that the tables of a run were made from, without its time series.
///
/// # Errors
/// Says which column is missing, or not what it should be.
pub fn read_run(
    runs: &RecordBatch,
    flows: &RecordBatch,
    queues: &RecordBatch,
    optional: &OptionalTables,
) -> Result<RunOutcome, String> {
    let run = Reader(runs);
    if runs.num_rows() != 1 {
        return Err(format!("{} rows where one is wanted", runs.num_rows()));
    }
    let mut flows = each(flows, read_flow)?;
    let OptionalTables {
        receivers,
        transfers,
        media,
    } = optional;
    for (name, transfer) in transfers
        .as_ref()
        .map_or(Ok(Vec::new()), |table| each(table, read_transfer))?
    {
        let Some(flow) = flows.iter_mut().find(|flow| flow.name == name) else {
            return Err(format!("there is no flow {name:?} for a transfer"));
        };
        flow.transfers.push(transfer);
    }
    let mut receivers = receivers
        .as_ref()
        .map_or(Ok(Vec::new()), |table| each(table, read_receiver))?;
    for (name, media) in media
        .as_ref()
        .map_or(Ok(Vec::new()), |table| each(table, media::read))?
    {
        let mut all = flows.iter_mut().chain(&mut receivers);
        let Some(flow) = all.find(|flow| flow.name == name) else {
            return Err(format!("there is no flow {name:?} for its media"));
        };
        flow.media = Some(media);
    }
    Ok(RunOutcome {
        replication: run.integer("replication", 0)?,
        measured: Span::from_ps(run.integer("measured_ps", 0)?),
        census: Census {
            created: run.integer("created_packets", 0)?,
            replicated: run.integer("replicated_packets", 0)?,
            delivered: run.integer("delivered_packets", 0)?,
            dropped: run.integer("dropped_packets", 0)?,
            left: run.integer("left_packets", 0)?,
            hops: run.integer("hops_packets", 0)?,
            events: run.integer("events_count", 0)?,
        },
        queues: each(queues, read_queue)?,
        flows,
        receivers,
        series: Vec::new(),
    })
}

/// The time series that a table was made from.
///
/// # Errors
/// Says which column is missing, or not what it should be.
pub fn read_series(table: &RecordBatch) -> Result<Vec<SeriesOutcome>, String> {
    let reader = Reader(table);
    let mut all: Vec<SeriesOutcome> = Vec::new();
    let mut last = f64::INFINITY;
    for row in 0..table.num_rows() {
        let (of, quantity) = (reader.text("of", row)?, reader.text("quantity", row)?);
        let time = reader.number("time_s", row)?.unwrap_or(f64::NAN);
        let value = reader.number("value", row)?.unwrap_or(f64::NAN);
        match all.last_mut() {
            Some(series) if series.of == of && series.quantity == quantity && time > last => {
                series.values.push(value);
            }
            _ => all.push(SeriesOutcome {
                of,
                quantity,
                first: Time::from_ps(reader.integer("first_ps", row)?),
                step: Span::from_ps(reader.integer("step_ps", row)?),
                values: vec![value],
            }),
        }
        last = time;
    }
    Ok(all)
}

fn each<T>(
    table: &RecordBatch,
    read: fn(&Reader<'_>, usize) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let reader = Reader(table);
    (0..table.num_rows())
        .map(|row| read(&reader, row))
        .collect()
}

fn read_flow(reader: &Reader<'_>, row: usize) -> Result<FlowOutcome, String> {
    let integer = |name| reader.integer(name, row);
    let span = |name| integer(name).map(Span::from_ps);
    let optional = |name| reader.optional(name, row);
    Ok(FlowOutcome {
        name: reader.text("flow", row)?,
        label: reader.text("label", row)?,
        kind: reader.text("kind", row)?,
        release: reader.text("dialect", row)?,
        forward: reader.flag("forward", row)?,
        base_rtt: span("base_rtt_ps")?,
        sent_packets: integer("sent_packets")?,
        sent_bytes: integer("sent_bytes")?,
        delivered_packets: integer("delivered_packets")?,
        delivered_bytes: integer("delivered_bytes")?,
        dropped_packets: integer("dropped_packets")?,
        marked_packets: integer("marked_packets")?,
        goodput_bytes: integer("goodput_bytes")?,
        delay: reader.histogram("delay_steps", "delay_counts", row)?,
        delay_sum: reader.wide("delay_ps_sum", row)?,
        delay_min: optional("delay_ps_min")?.map(Span::from_ps),
        delay_max: span("delay_ps_max")?,
        replies: integer("replies_packets")?,
        replies_delay_sum: reader.wide("replies_delay_ps_sum", row)?,
        jitter_sum: reader.wide("jitter_ps_sum", row)?,
        retransmissions: integer("retransmissions_packets")?,
        timeouts: integer("timeouts_count")?,
        rtt: (
            reader.wide("rtt_ps_sum", row)?,
            integer("rtt_count")?,
            optional("rtt_ps_min")?.map(Span::from_ps),
            span("rtt_ps_max")?,
        ),
        started: Time::from_ps(integer("started_ps")?),
        completed: optional("completed_ps")?.map(Time::from_ps),
        transfers: Vec::new(),
        exchanges: exchanges::read(reader, row)?,
        playback: playback::read(reader, row)?,
        media: None,
        last_active: optional("last_active_ps")?.map(Time::from_ps),
        reception: None,
    })
}

fn read_receiver(reader: &Reader<'_>, row: usize) -> Result<FlowOutcome, String> {
    let reception = Reception {
        flow: reader.text("of_flow", row)?,
        receiver: reader.text("receiver", row)?,
        member: Span::from_ps(reader.integer("member_ps", row)?),
        passed_packets: reader.integer("passed_packets", row)?,
        passed_delay_sum: reader.wide("passed_delay_ps_sum", row)?,
        passed_delay: reader.histogram("passed_delay_steps", "passed_delay_counts", row)?,
        srm: SrmCounts {
            requests: reader.integer("requests_packets", row)?,
            repairs: reader.integer("repairs_packets", row)?,
            sessions: reader.integer("sessions_packets", row)?,
            duplicate_requests: reader.integer("duplicate_requests_packets", row)?,
            duplicate_repairs: reader.integer("duplicate_repairs_packets", row)?,
            recovered: reader.integer("recovered_packets", row)?,
            missing: reader.integer("missing_packets", row)?,
            recovery_sum: reader.wide("recovery_ps_sum", row)?,
            recovery_max: Span::from_ps(reader.integer("recovery_ps_max", row)?),
            recovery_round_trips: reader.number("recovery_rtts_sum", row)?.unwrap_or(0.0),
        },
    };
    Ok(FlowOutcome {
        reception: Some(reception),
        ..read_flow(reader, row)?
    })
}

/// A transfer, with the name of its flow.
fn read_transfer(reader: &Reader<'_>, row: usize) -> Result<(String, TransferOutcome), String> {
    let kind = reader.text("transfer", row)?;
    let Some(kind) = TransferKind::ALL
        .into_iter()
        .find(|known| known.name() == kind)
    else {
        return Err(format!("{kind:?} is no kind of transfer"));
    };
    let transfer = TransferOutcome {
        kind,
        bytes: reader.integer("size_bytes", row)?,
        asked: Time::from_ps(reader.integer("asked_ps", row)?),
        completed: reader.optional("completed_ps", row)?.map(Time::from_ps),
        ideal: reader.optional("ideal_ps", row)?.map(Span::from_ps),
    };
    Ok((reader.text("flow", row)?, transfer))
}

fn read_queue(reader: &Reader<'_>, row: usize) -> Result<QueueOutcome, String> {
    let integer = |name: &str| reader.integer(name, row);
    let by_reason = |prefix: &str, name: &str| integer(&format!("{prefix}_packets_{name}"));
    let mut drops_by_reason = [0; DropReason::ALL.len()];
    for reason in DropReason::of_links() {
        drops_by_reason[reason.index()] = by_reason("drops", reason.name())?;
    }
    let mut marks_by_reason = [0; MarkReason::ALL.len()];
    for reason in MarkReason::ALL {
        marks_by_reason[reason.index()] = by_reason("marks", reason.name())?;
    }
    let average = |name| {
        reader
            .number(name, row)
            .map(|value| value.unwrap_or(f64::NAN))
    };
    Ok(QueueOutcome {
        link: reader.text("queue", row)?,
        bottleneck: reader.flag("bottleneck", row)?,
        discipline: interned(&reader.text("discipline", row)?),
        release: interned(&reader.text("dialect", row)?),
        rate: Rate::bps(integer("rate_bps")?),
        totals: Totals {
            received: integer("received_packets")?,
            received_bytes: integer("received_bytes")?,
            dropped_before: integer("dropped_before_packets")?,
            dropped_after: integer("dropped_after_packets")?,
            dropped_bytes: integer("dropped_bytes")?,
            dequeued: integer("dequeued_packets")?,
            dequeued_bytes: integer("dequeued_bytes")?,
            marked: integer("marked_packets")?,
        },
        sent_bytes: integer("sent_bytes")?,
        sent_packets: integer("sent_packets")?,
        capacity_bits: reader.wide("capacity_bits", row)?,
        drops_by_reason,
        marks_by_reason,
        sojourn: reader.histogram("sojourn_steps", "sojourn_counts", row)?,
        sojourn_sum: reader.wide("sojourn_ps_sum", row)?,
        sojourn_min: reader.optional("sojourn_ps_min", row)?.map(Span::from_ps),
        sojourn_max: Span::from_ps(integer("sojourn_ps_max")?),
        backlog_mean: (
            average("backlog_packets_mean")?,
            average("backlog_bytes_mean")?,
        ),
        backlog_max: (
            integer("backlog_packets_max")?,
            integer("backlog_bytes_max")?,
        ),
        per_flow: read_per_flow(reader, row)?,
        loss_events: integer("loss_events_count")?,
        loss_event_flows: integer("loss_event_flows_count")?,
        seen_flows: integer("seen_flows_count")?,
    })
}

fn read_per_flow(reader: &Reader<'_>, row: usize) -> Result<Vec<FlowAccount>, String> {
    let list = |name| reader.integers(name, row);
    let received = list("flow_received_packets")?;
    let mut flows = vec![FlowAccount::default(); received.len()];
    let dropped = list("flow_dropped_packets")?;
    let marked = list("flow_marked_packets")?;
    let dequeued = list("flow_dequeued_packets")?;
    let bytes = list("flow_dequeued_bytes")?;
    let sums = reader.wides("flow_sojourn_ps_sum", row)?;
    let lengths = [
        dropped.len(),
        marked.len(),
        dequeued.len(),
        bytes.len(),
        sums.len(),
    ];
    if lengths.iter().any(|length| *length != flows.len()) {
        return Err("the lists by flow have different lengths".to_owned());
    }
    for (flow, index) in flows.iter_mut().zip(0..) {
        *flow = FlowAccount {
            received: received[index],
            dropped: dropped[index],
            marked: marked[index],
            dequeued: dequeued[index],
            dequeued_bytes: bytes[index],
            sojourn_sum: sums[index],
        };
    }
    Ok(flows)
}

/// Reads a table by the names of its columns.
struct Reader<'a>(&'a RecordBatch);

impl Reader<'_> {
    fn array(&self, name: &str, kind: Type, row: usize) -> Result<&ArrayRef, String> {
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

    fn text(&self, name: &str, row: usize) -> Result<String, String> {
        let array = self.array(name, Type::Text, row)?;
        Ok(array.as_string::<i32>().value(row).to_owned())
    }

    fn flag(&self, name: &str, row: usize) -> Result<bool, String> {
        Ok(self.array(name, Type::Flag, row)?.as_boolean().value(row))
    }

    fn integer(&self, name: &str, row: usize) -> Result<u64, String> {
        let array = self.array(name, Type::Integer, row)?;
        Ok(array.as_primitive::<UInt64Type>().value(row))
    }

    fn optional(&self, name: &str, row: usize) -> Result<Option<u64>, String> {
        let array = self.array(name, Type::OptionalInteger, row)?;
        let present = array.is_valid(row);
        Ok(present.then(|| array.as_primitive::<UInt64Type>().value(row)))
    }

    fn number(&self, name: &str, row: usize) -> Result<Option<f64>, String> {
        let array = self.array(name, Type::Number, row)?;
        let present = array.is_valid(row);
        Ok(present.then(|| array.as_primitive::<Float64Type>().value(row)))
    }

    fn wide(&self, name: &str, row: usize) -> Result<u128, String> {
        let array = self.array(name, Type::Wide, row)?;
        unsigned(name, array.as_primitive::<Decimal128Type>().value(row))
    }

    fn integers(&self, name: &str, row: usize) -> Result<Vec<u64>, String> {
        let array = self.array(name, Type::Integers, row)?;
        let values = array.as_list::<i32>().value(row);
        Ok(values.as_primitive::<UInt64Type>().values().to_vec())
    }

    fn wides(&self, name: &str, row: usize) -> Result<Vec<u128>, String> {
        let array = self.array(name, Type::Wides, row)?;
        let values = array.as_list::<i32>().value(row);
        let values = values.as_primitive::<Decimal128Type>();
        values
            .values()
            .iter()
            .map(|value| unsigned(name, *value))
            .collect()
    }

    fn histogram(&self, steps: &str, counts: &str, row: usize) -> Result<Histogram, String> {
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

/// A text that lives as long as the program: names of disciplines and dialects, of which there are few.
fn interned(text: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    match names.get(text) {
        Some(name) => name,
        None => {
            let name: &'static str = Box::leak(text.to_owned().into_boxed_str());
            names.insert(name);
            name
        }
    }
}
