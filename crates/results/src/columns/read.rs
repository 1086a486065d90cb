//! From tables back to the outcome that they were made from.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use arrow_array::RecordBatch;
use sojourn_queue::account::{FlowAccount, Totals};
use sojourn_sim::{Census, DropReason, MarkReason};
use sojourn_traffic::workload::TransferKind;
use sojourn_transport::SrmCounts;
use sojourn_units::{Rate, Span, Time};

use super::reader::Reader;
use super::{exchanges, media, playback};
use crate::outcome::{
    FlowOutcome, QueueOutcome, Reception, RunOutcome, SeriesOutcome, TransferOutcome,
};

/// The tables that not every run has.
#[derive(Clone, Debug, Default)]
pub struct OptionalTables {
    /// [`Kind::Receivers`](super::Kind::Receivers).
    pub receivers: Option<RecordBatch>,
    /// [`Kind::Transfers`](super::Kind::Transfers).
    pub transfers: Option<RecordBatch>,
    /// [`Kind::Media`](super::Kind::Media).
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
