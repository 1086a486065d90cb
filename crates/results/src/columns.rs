//! The columns of result files, each declared once: name, unit, meaning, how it is read from an outcome. Schemas, files,
//! Arrow tables and `docs/reference/results.md` come from these lists; [`read_run`] goes the way back.

mod column;
mod exchanges;
mod media;
mod playback;
mod read;
mod reader;

use std::sync::{Arc, LazyLock};

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, Schema};
use sojourn_queue::account::FlowAccount;
use sojourn_sim::{DropReason, MarkReason};
use sojourn_transport::SrmCounts;
use sojourn_units::{Span, Time};

pub use column::{ColumnInfo, Kind, Type};
pub use read::{OptionalTables, read_run, read_series};

use column::{Columns, Key, Read, counts, schema_of, steps};

use super::metrics::{Level, Metric, Subject};
use crate::outcome::{
    FlowOutcome, LOST_ON_THE_WIRE, QueueOutcome, Reception, RunOutcome, SeriesOutcome,
    TransferOutcome,
};

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
    schema_of(columns(kind))
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
        Kind::Flows => FLOWS.table(key, &run.flows),
        Kind::Queues => QUEUES.table(key, &run.queues),
        Kind::Receivers => RECEIVERS.table(key, &run.receivers),
        Kind::Transfers => {
            let rows: Vec<Moved> = run.flows.iter().flat_map(transfers_of).collect();
            TRANSFERS.table(key, &rows)
        }
        Kind::Media => {
            let all = run.flows.iter().chain(&run.receivers);
            let rows: Vec<media::Row> = all.filter_map(media::row_of).collect();
            media::MEDIA.table(key, &rows)
        }
        Kind::Series => {
            let rows: Vec<Sample> = run.series.iter().flat_map(samples).collect();
            SERIES.table(key, &rows)
        }
        Kind::Runs => RUNS.table(key, std::slice::from_ref(run)),
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

fn by_reason(what: &str, happened: &str, reason: &str) -> (String, String) {
    let doc = format!("Packets {happened} with the reason `{reason}`.");
    (format!("{what}_packets_{reason}"), doc)
}

fn per_flow<T>(queue: &QueueOutcome, read: fn(&FlowAccount) -> T) -> Vec<T> {
    queue.per_flow.iter().map(read).collect()
}
