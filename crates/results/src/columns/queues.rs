//! The table of queues: a row per observed queue.

use std::collections::BTreeSet;
use std::sync::{LazyLock, Mutex, PoisonError};

use sojourn_queue::account::FlowAccount;
use sojourn_sim::{DropReason, MarkReason};

use super::column::{ArrayPlace, Columns, Read, columns};
use super::kind::Type;
use super::reader::Reader;
use crate::metrics::{Level, Subject};
use crate::outcome::{LOST_ON_THE_WIRE, QueueOutcome};

pub(super) static QUEUES: LazyLock<Columns<QueueOutcome>> = LazyLock::new(|| {
    let mut all = Columns::<QueueOutcome>::keyed();
    counted(&mut all);
    by_reason(&mut all);
    columns! { all;
        wide "sojourn_ps_sum", "ps" at [sojourn_sum] "Sum of the sojourn times of packets that were sent.";
        optional "sojourn_ps_min", "ps" at [sojourn_min] "The shortest of them.";
        integer "sojourn_ps_max", "ps" at [sojourn_max] "The longest of them.";
        histogram "sojourn" at [sojourn] "the sojourn times";
        number "backlog_packets_mean", "packets" at [backlog_mean.0] "Time average of the number of packets in the queue.";
        number "backlog_bytes_mean", "bytes" at [backlog_mean.1] "Time average of the number of bytes in the queue.";
        integer "backlog_packets_max", "packets" at [backlog_max.0] "Largest number of packets in the queue.";
        integer "backlog_bytes_max", "bytes" at [backlog_max.1] "Largest number of bytes in the queue.";
    }
    by_flow(&mut all);
    columns! { all;
        integer "loss_events_count", "1" at [loss_events] "Loss events. All drops within the flows' longest base round trip from an event's first drop belong to it.";
        integer "loss_event_flows_count", "1" at [loss_event_flows] "Flows that lost packets in a loss event, summed over the events. Each connection of a workload counts as a flow.";
        integer "seen_flows_count", "1" at [seen_flows] "Flows in this sense whose packets arrived at the queue.";
    }
    all.metrics(Level::Queue, |queue, measured| {
        Subject::Queues(vec![queue], measured)
    });
    all
});

/// What the queue is, and what it counted.
fn counted(all: &mut Columns<QueueOutcome>) {
    columns! { all;
        text "queue" at [link] "The link direction whose queue it is.";
        flag "bottleneck" at [bottleneck] "Whether it is a bottleneck in the direction under study.";
    }
    all.word(
        "discipline",
        "The discipline.",
        |queue| queue.discipline,
        |queue, name| {
            queue.discipline = interned(name);
            Ok(())
        },
    );
    all.word(
        "dialect",
        "Dialect, with its release.",
        |queue| queue.release,
        |queue, name| {
            queue.release = interned(name);
            Ok(())
        },
    );
    columns! { all;
        integer "rate_bps", "bit/s" at [rate] "Rate of the link at the end of the run.";
        wide "capacity_bits", "bits" at [capacity_bits] "Bits that the link could have carried.";
        integer "received_packets", "packets" at [totals.received] "Packets that arrived at the queue, dropped ones included.";
        integer "received_bytes", "bytes" at [totals.received_bytes] "Their bytes.";
        integer "dropped_before_packets", "packets" at [totals.dropped_before] "Packets dropped on arrival.";
        integer "dropped_after_packets", "packets" at [totals.dropped_after] "Packets dropped later.";
        integer "dropped_bytes", "bytes" at [totals.dropped_bytes] "Bytes dropped, on arrival or later.";
        integer "dequeued_packets", "packets" at [totals.dequeued] "Packets that left the queue for transmission.";
        integer "dequeued_bytes", "bytes" at [totals.dequeued_bytes] "Their bytes.";
        integer "marked_packets", "packets" at [totals.marked] "Packets marked with CE.";
        integer "sent_packets", "packets" at [sent_packets] "Packets whose transmission started.";
        integer "sent_bytes", "bytes" at [sent_bytes] "Their bytes.";
    }
}

fn by_reason(all: &mut Columns<QueueOutcome>) {
    for reason in DropReason::of_links() {
        let name = format!("drops_packets_{}", reason.name());
        let doc = match reason {
            DropReason::Wire => LOST_ON_THE_WIRE.to_owned(),
            reason => format!("Packets dropped with the reason `{}`.", reason.name()),
        };
        let drops = ArrayPlace {
            get: |queue: &QueueOutcome| &queue.drops_by_reason,
            change: |queue| &mut queue.drops_by_reason,
        };
        all.element(&name, "packets", &doc, reason.index(), drops);
    }
    for reason in MarkReason::ALL {
        let name = format!("marks_packets_{}", reason.name());
        let doc = format!("Packets marked with the reason `{}`.", reason.name());
        let marks = ArrayPlace {
            get: |queue: &QueueOutcome| &queue.marks_by_reason,
            change: |queue| &mut queue.marks_by_reason,
        };
        all.element(&name, "packets", &doc, reason.index(), marks);
    }
}

/// A count of each flow.
struct Count {
    name: &'static str,
    unit: &'static str,
    doc: &'static str,
    get: fn(&FlowAccount) -> u64,
    put: fn(&mut FlowAccount, u64),
}

/// A line of the table below.
macro_rules! count {
    ($name:literal, $unit:literal at [$field:ident] $doc:literal) => {
        Count {
            name: $name,
            unit: $unit,
            doc: $doc,
            get: |flow| flow.$field,
            put: |flow, value| flow.$field = value,
        }
    };
}

const BY_FLOW: [Count; 5] = [
    count!("flow_received_packets", "packets" at [received] "Packets that arrived at the queue, by flow, in the order of `flows`. The list may be shorter than the number of flows."),
    count!("flow_dropped_packets", "packets" at [dropped] "Packets dropped, by flow."),
    count!("flow_marked_packets", "packets" at [marked] "Packets marked, by flow."),
    count!("flow_dequeued_packets", "packets" at [dequeued] "Packets that left the queue for transmission, by flow."),
    count!("flow_dequeued_bytes", "bytes" at [dequeued_bytes] "Their bytes, by flow."),
];

fn by_flow(all: &mut Columns<QueueOutcome>) {
    for count in BY_FLOW {
        let read = Read::Integers(Box::new(move |queue: &QueueOutcome| {
            queue.per_flow.iter().map(count.get).collect()
        }));
        let put = Box::new(move |queue: &mut QueueOutcome, table: &Reader<'_>, row| {
            put_by_flow(queue, table.integers(count.name, row)?, count.put)
        });
        all.add(
            count.name,
            Type::Integers,
            count.unit,
            count.doc,
            read,
            Some(put),
        );
    }
    all.add(
        "flow_sojourn_ps_sum",
        Type::Wides,
        "ps",
        "Sum of their sojourn times, by flow.",
        Read::Wides(|queue| queue.per_flow.iter().map(|flow| flow.sojourn_sum).collect()),
        Some(Box::new(|queue, table, row| {
            let sums = table.wides("flow_sojourn_ps_sum", row)?;
            put_by_flow(queue, sums, |flow, sum| flow.sojourn_sum = sum)
        })),
    );
}

/// Puts a list by flow into the accounts, which the first list makes.
fn put_by_flow<V>(
    queue: &mut QueueOutcome,
    values: Vec<V>,
    put: fn(&mut FlowAccount, V),
) -> Result<(), String> {
    let flows = &mut queue.per_flow;
    if flows.is_empty() {
        flows.resize(values.len(), FlowAccount::default());
    }
    if flows.len() != values.len() {
        return Err("the lists by flow have different lengths".to_owned());
    }
    for (flow, value) in flows.iter_mut().zip(values) {
        put(flow, value);
    }
    Ok(())
}

/// A text that lives as long as the program: names of disciplines and dialects; there are few.
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
