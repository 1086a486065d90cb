//! The tables of an event trace.

use super::ledger::Ledger;
use super::stats::{FlowStats, LinkStats, NodeStats};
use crate::read::analysis::Options;
use crate::read::event::{Flow, Link, NONE, Names, place};
use crate::read::moments::{Counts, Spans, rate};
use crate::read::output::distribution::{self, Distribution};
use crate::read::series::{Bin, Subject};
use crate::read::table::{About, Column, TraceTable, integer, number, text};
use crate::{counts_columns, spans_columns};
use sojourn_results::stats::{to_f64, wide_to_f64};
use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use sojourn_units::{Rate, Span, Time};
use std::collections::BTreeMap;

const TRACE: About = About {
    name: "trace",
    title: "Trace",
    doc: "One row: the trace as a whole.",
};
const FLOWS: About = About {
    name: "flows",
    title: "Flows",
    doc: "One row per flow and direction, in the order of their first packets.",
};
const LINKS: About = About {
    name: "links",
    title: "Links",
    doc: "One row per link direction, in the order of their first packets.",
};
const NODES: About = About {
    name: "nodes",
    title: "Nodes",
    doc: "One row per node, in the order of their first packets.",
};
const SERIES: About = About {
    name: "series",
    title: "Over time",
    doc: "One row per time step with an event of a subject: the trace, a node, a link or a flow. For a link, `sent` counts transmitted packets and `received` counts packets that arrived at the far end.",
};

struct TraceRow {
    lines: u64,
    events: u64,
    ignored: u64,
    skipped: u64,
    first: Option<Time>,
    last: Option<Time>,
    span: Span,
    nodes: u64,
    links: u64,
    flows: u64,
    sent: Counts,
    received: Counts,
    forwarded: Counts,
    dropped: Counts,
    lost: Counts,
    open: Counts,
}

struct FlowRow {
    name: String,
    flow: Flow,
    stats: FlowStats,
    span: Span,
}

struct LinkRow {
    name: String,
    from: String,
    to: String,
    stats: LinkStats,
    rate: Option<(f64, &'static str)>,
    utilization: Option<f64>,
    span: Span,
}

struct NodeRow {
    name: String,
    stats: NodeStats,
    span: Span,
}

struct SeriesRow {
    time: Time,
    step: Span,
    subject: &'static str,
    name: String,
    bin: Bin,
    total: [Counts; 4],
}

/// Every table, without rows: name and columns for documents.
pub fn documented() -> Vec<TraceTable> {
    vec![
        TraceTable::new(TRACE, &trace_columns(), []),
        TraceTable::new(FLOWS, &flow_columns(), []),
        TraceTable::new(LINKS, &link_columns(), []),
        TraceTable::new(NODES, &node_columns(), []),
        TraceTable::new(SERIES, &series_columns(), []),
        distribution::table(Vec::new()),
    ]
}

/// The tables of what was read; `read` are lines, ignored lines and skips, as the reader counts them.
pub(super) fn tables(
    ledger: &mut Ledger,
    names: &Names,
    options: &Options,
    read: (u64, u64, u64),
) -> Result<Vec<TraceTable>> {
    let rates = rates(names, options)?;
    let (first, last) = (ledger.span.map(|s| s.0), ledger.span.map(|s| s.1));
    let begin = options.from.or(first).unwrap_or(Time::ZERO);
    let end = options.to.or(last).unwrap_or(begin);
    let span = end.saturating_since(begin);
    let rows = Rows {
        flows: flow_rows(ledger, names, span),
        links: link_rows(ledger, names, &rates, span),
        nodes: node_rows(ledger, names, span),
    };
    let trace = trace_row(ledger, &rows, read, span);
    let distributions = distributions(&rows);
    let series = series_rows(ledger, &rows, begin, options);
    Ok(vec![
        TraceTable::new(TRACE, &trace_columns(), [trace]),
        TraceTable::new(FLOWS, &flow_columns(), rows.flows),
        TraceTable::new(LINKS, &link_columns(), rows.links),
        TraceTable::new(NODES, &node_columns(), rows.nodes),
        TraceTable::new(SERIES, &series_columns(), series),
        distribution::table(distributions),
    ])
}

/// The rows of what the trace names.
struct Rows {
    flows: Vec<FlowRow>,
    links: Vec<LinkRow>,
    nodes: Vec<NodeRow>,
}

fn flow_rows(ledger: &Ledger, names: &Names, span: Span) -> Vec<FlowRow> {
    let flows = names.flows.iter().zip(&ledger.flows);
    flows
        .map(|(flow, stats)| FlowRow {
            name: flow_name(flow),
            flow: flow.clone(),
            stats: stats.clone(),
            span,
        })
        .collect()
}

fn link_rows(
    ledger: &Ledger,
    names: &Names,
    rates: &BTreeMap<u32, Rate>,
    span: Span,
) -> Vec<LinkRow> {
    let node_name = |node: Option<u32>| {
        let name = node.and_then(|node| names.nodes.get(place(node)));
        name.cloned().unwrap_or_default()
    };
    let row = |((link, stats), at): ((&Link, &LinkStats), u32)| {
        let given = rates.get(&at).copied();
        let to = Some(link.to).filter(|to| *to != NONE).or(stats.to);
        LinkRow {
            name: link.name.clone(),
            from: node_name(Some(link.from)),
            to: node_name(to),
            rate: match given {
                Some(rate) => Some((rate.as_bps_f64(), "given")),
                None => found_rate(stats).map(|rate| (rate, "found")),
            },
            utilization: utilization(stats, given, span),
            stats: stats.clone(),
            span,
        }
    };
    let links = names.links.iter().zip(&ledger.links).zip(0..);
    links.map(row).collect()
}

fn node_rows(ledger: &Ledger, names: &Names, span: Span) -> Vec<NodeRow> {
    let nodes = names.nodes.iter().zip(&ledger.nodes);
    nodes
        .map(|(name, stats)| NodeRow {
            name: name.clone(),
            stats: stats.clone(),
            span,
        })
        .collect()
}

/// The trace as a whole.
fn trace_row(
    ledger: &Ledger,
    rows: &Rows,
    (lines, ignored, skipped): (u64, u64, u64),
    span: Span,
) -> TraceRow {
    let all = |count: fn(&FlowStats) -> Counts| sum(rows.flows.iter().map(|row| count(&row.stats)));
    let length = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    TraceRow {
        lines,
        events: ledger.events,
        ignored,
        skipped,
        first: ledger.span.map(|s| s.0),
        last: ledger.span.map(|s| s.1),
        span,
        nodes: length(rows.nodes.len()),
        links: length(rows.links.len()),
        flows: length(rows.flows.len()),
        sent: all(sent),
        received: all(|flow| flow.received),
        forwarded: sum(rows.nodes.iter().map(|node| node.stats.forwarded)),
        dropped: all(|flow| flow.dropped),
        lost: all(|flow| flow.lost),
        open: all(|flow| flow.open),
    }
}

/// The rates that were given, by number of the link.
fn rates(names: &Names, options: &Options) -> Result<BTreeMap<u32, Rate>> {
    let links = names.links_by_name();
    let mut rates = BTreeMap::new();
    for (name, rate) in &options.rates {
        let Some(link) = links.get(name.as_str()) else {
            return Err(LabError::new(
                LabErrorKind::UnknownName,
                format!("the trace has no link {name:?}"),
            )
            .in_file(&format!("--rate {name}={rate}"))
            .nearest(sojourn_units::nearest(name, links.keys().copied()))
            .allowed(
                "links",
                links.keys().copied().collect::<Vec<_>>().join(", "),
            ));
        };
        rates.insert(*link, *rate);
    }
    Ok(rates)
}

/// The rate at which a link sent while packets waited.
fn found_rate(stats: &LinkStats) -> Option<f64> {
    let (bytes, ps) = stats.busy;
    (ps > 0).then(|| 8e12 * to_f64(bytes) / wide_to_f64(ps))
}

/// Share of the link's capacity that carried packets: by the rate that was given, otherwise by the one that was found.
fn utilization(stats: &LinkStats, given: Option<Rate>, span: Span) -> Option<f64> {
    let bits = 8.0 * to_f64(stats.sent.bytes);
    let capacity = match given {
        Some(rate) => {
            wide_to_f64(u128::from(rate.as_bps()) * u128::from(span.as_ps()) / 1_000_000_000_000)
        }
        None => found_rate(stats)? * span.as_secs_f64(),
    };
    // All bits of the packet count that is in transmission at the end; a larger value indicates a wrong rate.
    let beyond = bits - capacity;
    let whole = beyond > 0.0 && beyond <= 8.0 * LARGEST_PACKET;
    (capacity > 0.0).then(|| if whole { 1.0 } else { bits / capacity })
}

/// Bytes of the largest packet of IP.
const LARGEST_PACKET: f64 = 65_535.0;

/// A name that tells flows apart: number, kind and ends.
fn flow_name(flow: &Flow) -> String {
    match flow.id == flow.kind {
        true => format!("{} {} > {}", flow.kind, flow.source, flow.destination),
        false => format!(
            "{} {} {} > {}",
            flow.id, flow.kind, flow.source, flow.destination
        ),
    }
}

fn sent(flow: &FlowStats) -> Counts {
    Counts {
        packets: flow.sent.packets(),
        bytes: flow.sent.bytes(),
    }
}

fn sum(counts: impl Iterator<Item = Counts>) -> Counts {
    let mut all = Counts::default();
    counts.for_each(|count| all.add(count));
    all
}

fn distributions(rows: &Rows) -> Vec<Distribution> {
    let mut all = Vec::new();
    let mut add = |subject, name: &str, quantity, spans: &Spans| {
        all.extend(distribution::of_spans(subject, name, quantity, spans));
    };
    for flow in &rows.flows {
        add("flow", &flow.name, "delay", &flow.stats.delay);
        add("flow", &flow.name, "gap", &flow.stats.gaps);
        add("flow", &flow.name, "rtt", &flow.stats.rtt);
    }
    for link in &rows.links {
        add("link", &link.name, "queueing", &link.stats.queueing);
        add("link", &link.name, "transit", &link.stats.transit);
    }
    for node in &rows.nodes {
        add("node", &node.name, "processing", &node.stats.processing);
    }
    for flow in &rows.flows {
        all.extend(distribution::of_sizes("flow", &flow.name, &flow.stats.sent));
    }
    all
}

fn series_rows(ledger: &mut Ledger, rows: &Rows, begin: Time, options: &Options) -> Vec<SeriesRow> {
    let origin = options.from.map_or(Time::ZERO, |_| begin);
    let mut totals: BTreeMap<Subject, [Counts; 4]> = BTreeMap::new();
    let bins = ledger.series.rows();
    let row = |((subject, number), bin): ((Subject, u64), Bin)| {
        let total = totals.entry(subject).or_default();
        for (sum, count) in
            total
                .iter_mut()
                .zip([bin.sent, bin.received, bin.forwarded, bin.dropped])
        {
            sum.add(count);
        }
        let (kind, name) = match subject {
            Subject::Trace => ("trace", String::new()),
            Subject::Node(at) => ("node", rows.nodes[place(at)].name.clone()),
            Subject::Link(at) => ("link", rows.links[place(at)].name.clone()),
            Subject::Flow(at) => ("flow", rows.flows[place(at)].name.clone()),
        };
        SeriesRow {
            time: origin.saturating_add(options.step.saturating_mul(number)),
            step: options.step,
            subject: kind,
            name,
            bin,
            total: *total,
        }
    };
    bins.into_iter().map(row).collect()
}

fn trace_columns() -> Vec<Column<TraceRow>> {
    let mut all = vec![
        integer("lines", "lines", "Lines read.", |row: &TraceRow| {
            row.lines.into()
        }),
        integer(
            "events",
            "events",
            "Packet events from the start of the analysis.",
            |row| row.events.into(),
        ),
        integer(
            "ignored_lines",
            "lines",
            "Lines that are not events of packets with an address.",
            |row| row.ignored.into(),
        ),
        integer(
            "skipped",
            "1",
            "Unreadable parts that were skipped.",
            |row| row.skipped.into(),
        ),
        number("first_time_s", "s", "Time of the first event.", |row| {
            row.first.map(Time::as_secs_f64).into()
        }),
        number("last_time_s", "s", "Time of the last event.", |row| {
            row.last.map(Time::as_secs_f64).into()
        }),
        number(
            "duration_s",
            "s",
            "Time over which rates are computed: from --from (or the first event) to --to (or the last event).",
            |row| Some(row.span.as_secs_f64()).into(),
        ),
        integer("nodes", "1", "Nodes.", |row| row.nodes.into()),
        integer("links", "1", "Link directions.", |row| row.links.into()),
        integer(
            "flows",
            "1",
            "Flows. Each direction counts separately.",
            |row| row.flows.into(),
        ),
    ];
    all.extend(
        counts_columns!("sent", "Packets that their sources sent.", row: TraceRow => row.sent),
    );
    all.extend(counts_columns!("received", "Packets that arrived at their destination.", row: TraceRow => row.received));
    all.extend(counts_columns!("forwarded", "Packets that nodes on the path forwarded, once per node.", row: TraceRow => row.forwarded));
    all.extend(counts_columns!("dropped", "Dropped.", row: TraceRow => row.dropped));
    all.extend(counts_columns!("lost", "Packets that neither arrived nor were dropped, and had no event for longer than the horizon.", row: TraceRow => row.lost));
    all.extend(counts_columns!("open", "Packets in flight at the end, or gone at a place that is not traced.", row: TraceRow => row.open));
    all
}

fn flow_columns() -> Vec<Column<FlowRow>> {
    let mut all = flow_identity_columns();
    all.extend(flow_fate_columns());
    all.extend(flow_volume_columns());
    all.extend(spans_columns!("delay", "Time from the source's queue to the destination", row: FlowRow => row.stats.delay));
    all.extend(flow_jitter_columns());
    all.extend(spans_columns!("gap", "Time between arrivals", row: FlowRow => row.stats.gaps));
    all.extend(spans_columns!("rtt", "Time from data sent once to the arrival of its acknowledgement", row: FlowRow => row.stats.rtt));
    all
}

/// Which flow it is, and when its packets were sent.
fn flow_identity_columns() -> Vec<Column<FlowRow>> {
    vec![
        text(
            "flow",
            "Name: number, kind, source > destination.",
            |row: &FlowRow| row.name.as_str().into(),
        ),
        text("id", "Number of the flow, or its protocol.", |row| {
            row.flow.id.as_str().into()
        }),
        text("kind", "Type of its packets in the trace.", |row| {
            row.flow.kind.as_str().into()
        }),
        text("source", "Source address.", |row| {
            row.flow.source.as_str().into()
        }),
        text("destination", "Destination address.", |row| {
            row.flow.destination.as_str().into()
        }),
        number(
            "first_time_s",
            "s",
            "Time of the first packet sent.",
            |row| row.stats.active.map(|a| a.0.as_secs_f64()).into(),
        ),
        number(
            "last_time_s",
            "s",
            "Time of the last packet sent, received or dropped.",
            |row| row.stats.active.map(|a| a.1.as_secs_f64()).into(),
        ),
    ]
}

/// What became of the packets.
fn flow_fate_columns() -> Vec<Column<FlowRow>> {
    let mut all = Vec::new();
    all.extend(counts_columns!("sent", "Packets that the source sent, or that were first seen.", row: FlowRow => sent(&row.stats)));
    all.extend(counts_columns!("received", "Packets that arrived at the destination.", row: FlowRow => row.stats.received));
    all.extend(
        counts_columns!("dropped", "Packets that were dropped on the path.", row: FlowRow => row.stats.dropped),
    );
    all.extend(counts_columns!("lost", "Packets that neither arrived nor were dropped, and had no event for longer than the horizon.", row: FlowRow => row.stats.lost));
    all.extend(counts_columns!("open", "Packets in flight at the end, or gone at a place that is not traced.", row: FlowRow => row.stats.open));
    all.extend([
        integer(
            "marked_packets",
            "packets",
            "Packets that arrived with CE.",
            |row: &FlowRow| row.stats.marked.into(),
        ),
        integer(
            "repeated_packets",
            "packets",
            "Packets with data that had already been sent.",
            |row| row.stats.repeated.into(),
        ),
        number(
            "loss_ratio",
            "1",
            "Dropped and lost packets, divided by sent packets.",
            |row| {
                let gone = row.stats.dropped.packets + row.stats.lost.packets;
                let sent = row.stats.sent.packets();
                (sent > 0).then(|| to_f64(gone) / to_f64(sent)).into()
            },
        ),
    ]);
    all
}

/// Sizes of the packets, and the rates at which they were sent and arrived.
fn flow_volume_columns() -> Vec<Column<FlowRow>> {
    vec![
        integer(
            "size_bytes_min",
            "bytes",
            "Smallest size sent.",
            |row: &FlowRow| row.stats.sent.min().into(),
        ),
        number("size_bytes_mean", "bytes", "Mean size sent.", |row| {
            row.stats.sent.mean().into()
        }),
        integer("size_bytes_max", "bytes", "Largest size sent.", |row| {
            row.stats.sent.max().into()
        }),
        number("sent_bps", "bps", "8 × bytes sent / duration.", |row| {
            rate(row.stats.sent.bytes(), row.span).into()
        }),
        number(
            "throughput_bps",
            "bps",
            "8 × bytes received / duration.",
            |row| rate(row.stats.received.bytes, row.span).into(),
        ),
    ]
}

/// How much the delay changed from packet to packet.
fn flow_jitter_columns() -> Vec<Column<FlowRow>> {
    vec![
        number(
            "jitter_s_mean",
            "s",
            "Mean absolute difference of the delays of consecutive packets: Σ |delay(i) − delay(i−1)| / (packets − 1).",
            |row: &FlowRow| row.stats.jitter_mean().into(),
        ),
        number(
            "jitter_rfc3550_s",
            "s",
            "Interarrival jitter of RFC 3550 section 6.4.1 at the end.",
            |row| row.stats.jitter.smoothed().into(),
        ),
        number("jitter_rfc3550_s_max", "s", "Its largest value.", |row| {
            row.stats.jitter.smoothed_max().into()
        }),
    ]
}

fn link_columns() -> Vec<Column<LinkRow>> {
    let mut all = vec![
        text(
            "link",
            "Name of the link: its nodes. For ns-3, the sending node and device.",
            |row: &LinkRow| row.name.as_str().into(),
        ),
        text("from", "Sending node.", |row| row.from.as_str().into()),
        text("to", "Receiving node; empty if no packet arrived.", |row| {
            row.to.as_str().into()
        }),
    ];
    all.extend(counts_columns!("enqueued", "Packets that arrived at the queue, dropped ones included.", row: LinkRow => row.stats.enqueued));
    all.extend(
        counts_columns!("sent", "Packets whose transmission started.", row: LinkRow => row.stats.sent),
    );
    all.extend(counts_columns!("received", "Packets that arrived at the far end.", row: LinkRow => row.stats.received));
    all.extend(counts_columns!("dropped", "Dropped.", row: LinkRow => row.stats.dropped));
    all.extend(counts_columns!("lost", "Packets that were sent and had no event for longer than the horizon.", row: LinkRow => row.stats.lost));
    all.extend([
        integer(
            "backlog_packets_max",
            "packets",
            "Largest number of packets in the queue, including a packet that is dropped on arrival.",
            |row: &LinkRow| row.stats.backlog_max.into(),
        ),
        number(
            "throughput_bps",
            "bps",
            "8 × bytes sent / duration.",
            |row| rate(row.stats.sent.bytes, row.span).into(),
        ),
        number(
            "rate_bps",
            "bps",
            "Rate of the link: as given, or as measured while packets were queued.",
            |row| row.rate.map(|r| r.0).into(),
        ),
        text("rate_source", "`given` or `found`.", |row| {
            row.rate.map_or("", |r| r.1).into()
        }),
        number(
            "utilization_ratio",
            "1",
            "8 × bytes sent / (rate × duration).",
            |row| row.utilization.into(),
        ),
    ]);
    all.extend(spans_columns!("queueing", "Time from arrival at the queue to the start of transmission", row: LinkRow => row.stats.queueing));
    all.extend(spans_columns!("transit", "Time from the start of transmission to the far end", row: LinkRow => row.stats.transit));
    all
}

fn node_columns() -> Vec<Column<NodeRow>> {
    let mut all = vec![text("node", "Name.", |row: &NodeRow| {
        row.name.as_str().into()
    })];
    all.extend(counts_columns!("sent", "Packets whose source is this node.", row: NodeRow => row.stats.sent));
    all.extend(counts_columns!("received", "Packets whose destination is this node.", row: NodeRow => row.stats.received));
    all.extend(counts_columns!("forwarded", "Packets that this node forwarded.", row: NodeRow => row.stats.forwarded));
    all.extend(counts_columns!("dropped", "Packets dropped at a queue of this node.", row: NodeRow => row.stats.dropped));
    all.extend([
        number(
            "sent_bps",
            "bps",
            "8 × bytes sent / duration.",
            |row: &NodeRow| rate(row.stats.sent.bytes, row.span).into(),
        ),
        number(
            "received_bps",
            "bps",
            "8 × bytes received / duration.",
            |row| rate(row.stats.received.bytes, row.span).into(),
        ),
        number(
            "forwarded_bps",
            "bps",
            "8 × bytes forwarded / duration.",
            |row| rate(row.stats.forwarded.bytes, row.span).into(),
        ),
        number(
            "dropped_bps",
            "bps",
            "8 × bytes dropped / duration.",
            |row| rate(row.stats.dropped.bytes, row.span).into(),
        ),
    ]);
    all.extend(spans_columns!("processing", "Time from arrival at the node to arrival at the queue of the next link", row: NodeRow => row.stats.processing));
    all
}

fn series_columns() -> Vec<Column<SeriesRow>> {
    let mut all = vec![
        number("time_s", "s", "Start of the step.", |row: &SeriesRow| {
            Some(row.time.as_secs_f64()).into()
        }),
        text("subject", "`trace`, `node`, `link` or `flow`.", |row| {
            row.subject.into()
        }),
        text("name", "Name of the subject.", |row| {
            row.name.as_str().into()
        }),
    ];
    all.extend(series_step_columns());
    all.extend(counts_columns!("sent_total", "Sent up to the end of the step.", row: SeriesRow => row.total[0]));
    all.extend(counts_columns!("received_total", "Received up to the end of the step.", row: SeriesRow => row.total[1]));
    all.extend(counts_columns!("forwarded_total", "Forwarded up to the end of the step.", row: SeriesRow => row.total[2]));
    all.extend(counts_columns!("dropped_total", "Dropped up to the end of the step.", row: SeriesRow => row.total[3]));
    all.extend(series_progress_columns());
    all
}

/// What happened in the step: packets, bytes and rates.
fn series_step_columns() -> Vec<Column<SeriesRow>> {
    let mut all = Vec::new();
    all.extend(counts_columns!("sent", "Sent in the step.", row: SeriesRow => row.bin.sent));
    all.extend(
        counts_columns!("received", "Received in the step.", row: SeriesRow => row.bin.received),
    );
    all.extend(
        counts_columns!("forwarded", "Forwarded in the step.", row: SeriesRow => row.bin.forwarded),
    );
    all.extend(
        counts_columns!("dropped", "Dropped in the step.", row: SeriesRow => row.bin.dropped),
    );
    all.extend([
        number(
            "sent_bps",
            "bps",
            "8 × bytes sent / step.",
            |row: &SeriesRow| rate(row.bin.sent.bytes, row.step).into(),
        ),
        number("received_bps", "bps", "8 × bytes received / step.", |row| {
            rate(row.bin.received.bytes, row.step).into()
        }),
        number(
            "forwarded_bps",
            "bps",
            "8 × bytes forwarded / step.",
            |row| rate(row.bin.forwarded.bytes, row.step).into(),
        ),
        number("dropped_bps", "bps", "8 × bytes dropped / step.", |row| {
            rate(row.bin.dropped.bytes, row.step).into()
        }),
    ]);
    all
}

/// How long packets took, and how far the numbers of their data went.
fn series_progress_columns() -> Vec<Column<SeriesRow>> {
    fn mean((sum, count): (u128, u64)) -> Option<f64> {
        (count > 0).then(|| wide_to_f64(sum) * 1e-12 / to_f64(count))
    }
    fn known(highest: u64) -> Option<u64> {
        (highest > 0).then(|| highest - 1)
    }
    vec![
        number(
            "delay_s_mean",
            "s",
            "Mean delay of the packets that arrived in the step.",
            |row: &SeriesRow| mean(row.bin.delay).into(),
        ),
        number(
            "queueing_s_mean",
            "s",
            "Mean queueing time of the packets that left the queue in the step.",
            |row| mean(row.bin.queueing).into(),
        ),
        integer(
            "sequence_sent_max",
            "1",
            "Highest sequence number sent in the step.",
            |row| known(row.bin.highest.0).into(),
        ),
        integer(
            "sequence_received_max",
            "1",
            "Highest sequence number that arrived in the step.",
            |row| known(row.bin.highest.1).into(),
        ),
    ]
}
