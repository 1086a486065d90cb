//! The tables of a capture.

use super::book::{Book, Seen};
use super::paths::{Paths, Way};
use crate::read::analysis::Options;
use crate::read::dialogue::Direction;
use crate::read::event::place;
use crate::read::format::pcap::Interface;
use crate::read::frame::{Key, end_text};
use crate::read::moments::{Counts, rate};
use crate::read::output::distribution::{self, Distribution};
use crate::read::series::{Bin, Subject};
use crate::read::table::{About, Column, TraceTable, integer, number, text};
use crate::{counts_columns, spans_columns};
use sojourn_results::stats::{to_f64, wide_to_f64};
use sojourn_units::{Span, Time};
use std::collections::BTreeMap;

const TRACE: About = About {
    name: "trace",
    title: "Capture",
    doc: "One row: the capture as a whole.",
};
const INTERFACES: About = About {
    name: "interfaces",
    title: "Interfaces",
    doc: "One row per interface.",
};
const CONVERSATIONS: About = About {
    name: "conversations",
    title: "Conversations",
    doc: "One row per direction of a conversation at an interface, in the order of their first packets. Bytes count from the IP header on.",
};
const PATHS: About = About {
    name: "paths",
    title: "Paths",
    doc: "One row per direction of a conversation in two captures. Delays are differences of the captures' clocks.",
};
const SERIES: About = About {
    name: "series",
    title: "Over time",
    doc: "One row per time step with packets of a subject: the trace, or a direction of a conversation.",
};

/// What the capture says beside its packets.
pub(super) struct Whole<'a> {
    pub(super) interfaces: &'a [Interface],
    pub(super) base: u128,
    pub(super) ignored: u64,
    pub(super) skipped: u64,
}

struct TraceRow {
    packets: u64,
    counted: Counts,
    offload: u64,
    tunnelled: u64,
    not_ip: u64,
    damaged: u64,
    unknown_link: u64,
    ignored: u64,
    skipped: u64,
    first: Option<f64>,
    last: Option<f64>,
    span: Span,
    interfaces: u64,
    conversations: u64,
}

struct InterfaceRow {
    name: String,
    interface: Interface,
    seen: Seen,
    span: Span,
}

struct ConversationRow {
    name: String,
    interface: String,
    key: Key,
    way: Direction,
    zero: Time,
    span: Span,
}

struct PathRow {
    name: String,
    way: Way,
}

struct SeriesRow {
    time: Time,
    step: Span,
    subject: &'static str,
    name: String,
    bin: Bin,
    total: Counts,
}

/// Every table, without rows: name and columns for documents.
pub fn documented() -> Vec<TraceTable> {
    vec![
        TraceTable::new(TRACE, &trace_columns(), []),
        TraceTable::new(INTERFACES, &interface_columns(), []),
        TraceTable::new(CONVERSATIONS, &conversation_columns(), []),
        TraceTable::new(PATHS, &path_columns(), []),
        TraceTable::new(SERIES, &series_columns(), []),
    ]
}

pub(super) fn tables(
    book: &mut Book,
    whole: &Whole<'_>,
    paths: Option<&Paths>,
    options: &Options,
) -> Vec<TraceTable> {
    book.interfaces
        .resize_with(whole.interfaces.len(), Seen::default);
    let span = span(book, options);
    let trace = trace_row(book, whole, span);
    let interfaces = interface_rows(book, whole, span);
    let conversations = conversation_rows(book, whole, span);
    let paths = paths.map(path_rows);
    let distributions = distributions(&conversations, paths.as_deref().unwrap_or_default());
    let series = series_rows(book, &conversations, options);
    let mut tables = vec![
        TraceTable::new(TRACE, &trace_columns(), [trace]),
        TraceTable::new(INTERFACES, &interface_columns(), interfaces),
        TraceTable::new(CONVERSATIONS, &conversation_columns(), conversations),
    ];
    if let Some(paths) = paths {
        tables.push(TraceTable::new(PATHS, &path_columns(), paths));
    }
    tables.push(TraceTable::new(SERIES, &series_columns(), series));
    tables.push(distribution::table(distributions));
    tables
}

/// When the first packet that counts passed.
fn first_time(book: &Book) -> Option<Time> {
    let active = book.interfaces.iter().filter_map(|seen| seen.active);
    active.map(|(first, _)| first).min()
}

/// The time that rates are taken over: between the limits that the options set, or the packets that count.
fn span(book: &Book, options: &Options) -> Span {
    let zero = book.zero.unwrap_or(Time::ZERO);
    let at = |time: Time| zero.saturating_add(time.since(Time::ZERO));
    let begin = options
        .from
        .map(at)
        .or_else(|| first_time(book))
        .unwrap_or(zero);
    let end = options.to.map(at).or(book.last).unwrap_or(begin);
    end.saturating_since(begin)
}

fn trace_row(book: &Book, whole: &Whole<'_>, span: Span) -> TraceRow {
    let length = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    let absolute = |time: Time| time.as_secs_f64() + wide_to_f64(whole.base);
    TraceRow {
        packets: book.packets,
        counted: book.counted,
        offload: book.offload,
        tunnelled: book.tunnelled,
        not_ip: book.not_ip,
        damaged: book.damaged,
        unknown_link: book.unknown_link,
        ignored: whole.ignored,
        skipped: whole.skipped,
        first: first_time(book).map(absolute),
        last: book.last.map(absolute),
        span,
        interfaces: length(whole.interfaces.len()),
        conversations: length(book.directions.len()),
    }
}

fn interface_rows(book: &Book, whole: &Whole<'_>, span: Span) -> Vec<InterfaceRow> {
    let interfaces = book.interfaces.iter().zip(whole.interfaces).zip(0..);
    interfaces
        .map(|((seen, interface), number)| InterfaceRow {
            name: interface_name(whole.interfaces, number),
            interface: interface.clone(),
            seen: seen.clone(),
            span,
        })
        .collect()
}

/// The conversations; their names begin with the interface where there are several.
fn conversation_rows(book: &Book, whole: &Whole<'_>, span: Span) -> Vec<ConversationRow> {
    let zero = book.zero.unwrap_or(Time::ZERO);
    let row = |(interface, key, way): &(u32, Key, Direction)| {
        let interface = interface_name(whole.interfaces, *interface);
        let mut name = key.name();
        if whole.interfaces.len() > 1 {
            name = format!("{interface}: {name}");
        }
        ConversationRow {
            name,
            interface,
            key: *key,
            way: way.clone(),
            zero,
            span,
        }
    };
    book.directions.iter().map(row).collect()
}

fn path_rows(paths: &Paths) -> Vec<PathRow> {
    let ways = paths.ways.iter();
    ways.map(|way| PathRow {
        name: way.key.name(),
        way: way.clone(),
    })
    .collect()
}

fn distributions(conversations: &[ConversationRow], paths: &[PathRow]) -> Vec<Distribution> {
    let mut all = Vec::new();
    for row in conversations {
        let of =
            |quantity, spans| distribution::of_spans("conversation", &row.name, quantity, spans);
        all.extend(of("gap", &row.way.gaps));
        all.extend(of("rtt", &row.way.rtt));
        all.extend(distribution::of_sizes(
            "conversation",
            &row.name,
            &row.way.packets,
        ));
    }
    for row in paths {
        let delays = &row.way.delays[row.way.first()];
        all.extend(distribution::of_spans("path", &row.name, "delay", delays));
    }
    all
}

fn series_rows(
    book: &mut Book,
    conversations: &[ConversationRow],
    options: &Options,
) -> Vec<SeriesRow> {
    let origin = options.from.unwrap_or(Time::ZERO);
    let mut totals: BTreeMap<Subject, Counts> = BTreeMap::new();
    let rows = book
        .series
        .as_mut()
        .map(|series| series.rows())
        .unwrap_or_default();
    let row = |((subject, step), bin): ((Subject, u64), Bin)| {
        let total = totals.entry(subject).or_default();
        total.add(bin.sent);
        let (kind, name) = match subject {
            Subject::Flow(at) => ("conversation", conversations[place(at)].name.clone()),
            _ => ("trace", String::new()),
        };
        SeriesRow {
            time: origin.saturating_add(options.step.saturating_mul(step)),
            step: options.step,
            subject: kind,
            name,
            bin,
            total: *total,
        }
    };
    rows.into_iter().map(row).collect()
}

fn trace_columns() -> Vec<Column<TraceRow>> {
    let mut all = trace_packet_columns();
    all.extend(trace_time_columns());
    all.extend([
        integer("interfaces", "1", "Interfaces.", |row: &TraceRow| {
            row.interfaces.into()
        }),
        integer(
            "conversations",
            "1",
            "Conversations. Each direction counts separately.",
            |row| row.conversations.into(),
        ),
    ]);
    all
}

/// What the packets were, and what was no packet or could not be read.
fn trace_packet_columns() -> Vec<Column<TraceRow>> {
    vec![
        integer(
            "packets",
            "packets",
            "Packets in the capture.",
            |row: &TraceRow| row.packets.into(),
        ),
        integer("ip_packets", "packets", "IP packets among these.", |row| {
            row.counted.packets.into()
        }),
        integer(
            "ip_bytes",
            "bytes",
            "Their bytes, from the IP header on.",
            |row| row.counted.bytes.into(),
        ),
        integer(
            "offload_packets",
            "packets",
            "IP packets whose header has length 0, as segmentation offload leaves it. Their size is that of the frame.",
            |row| row.offload.into(),
        ),
        integer(
            "tunnelled_packets",
            "packets",
            "IP packets inside an IP packet. The inner packet is analysed, or the outer one with --tunnels outer.",
            |row| row.tunnelled.into(),
        ),
        integer(
            "other_packets",
            "packets",
            "Packets other than IP, such as ARP.",
            |row| row.not_ip.into(),
        ),
        integer(
            "damaged_packets",
            "packets",
            "Packets whose headers are cut off or contradict themselves.",
            |row| row.damaged.into(),
        ),
        integer(
            "unknown_link_packets",
            "packets",
            "Packets of an unknown link type.",
            |row| row.unknown_link.into(),
        ),
        integer(
            "ignored_blocks",
            "1",
            "Blocks of the file that are not packets, such as names.",
            |row| row.ignored.into(),
        ),
        integer(
            "skipped",
            "1",
            "Unreadable parts that were skipped.",
            |row| row.skipped.into(),
        ),
    ]
}

/// When, for how long, and how much in that time.
fn trace_time_columns() -> Vec<Column<TraceRow>> {
    vec![
        number(
            "first_time_s",
            "s",
            "Time of the first packet, as in the capture.",
            |row: &TraceRow| row.first.into(),
        ),
        number("last_time_s", "s", "Time of the last packet.", |row| {
            row.last.into()
        }),
        number(
            "duration_s",
            "s",
            "Time over which rates are computed: from --from (or the first packet) to --to (or the last packet).",
            |row| Some(row.span.as_secs_f64()).into(),
        ),
        number(
            "throughput_bps",
            "bps",
            "8 × bytes of IP / duration.",
            |row| rate(row.counted.bytes, row.span).into(),
        ),
    ]
}

fn interface_columns() -> Vec<Column<InterfaceRow>> {
    vec![
        text("interface", "Name, or number.", |row: &InterfaceRow| {
            row.name.as_str().into()
        }),
        integer(
            "link_type",
            "1",
            "Link type of the packets: the LINKTYPE number of the registry.",
            |row| u64::try_from(row.interface.link_type).ok().into(),
        ),
        integer("packets", "packets", "Packets.", |row| {
            row.seen.packets.packets().into()
        }),
        integer(
            "bytes",
            "bytes",
            "Bytes on the wire, with the headers of the link.",
            |row| row.seen.packets.bytes().into(),
        ),
        integer(
            "dropped_packets",
            "packets",
            "Packets lost at the interface, according to the file.",
            |row| row.interface.dropped.unwrap_or(row.seen.dropped).into(),
        ),
        number("throughput_bps", "bps", "8 × bytes / duration.", |row| {
            rate(row.seen.packets.bytes(), row.span).into()
        }),
        number(
            "rate_bps",
            "bps",
            "Rate of the interface, according to the file.",
            |row| row.interface.speed.map(to_f64).into(),
        ),
        number("utilization_ratio", "1", "Throughput / rate.", |row| {
            let capacity = row.interface.speed.map(to_f64).filter(|speed| *speed > 0.0);
            let used = rate(row.seen.packets.bytes(), row.span);
            used.zip(capacity)
                .map(|(used, capacity)| used / capacity)
                .into()
        }),
    ]
}

fn conversation_columns() -> Vec<Column<ConversationRow>> {
    let mut all = conversation_identity_columns();
    all.extend(conversation_volume_columns());
    all.extend(conversation_tcp_columns());
    all.extend(spans_columns!("gap", "Time between packets", row: ConversationRow => row.way.gaps));
    all.extend(spans_columns!("rtt", "Time from data seen once to its acknowledgement", row: ConversationRow => row.way.rtt));
    all
}

/// Which conversation it is, where it was captured, and when.
fn conversation_identity_columns() -> Vec<Column<ConversationRow>> {
    vec![
        text(
            "conversation",
            "Name: protocol, source > destination.",
            |row: &ConversationRow| row.name.as_str().into(),
        ),
        text("interface", "Interface that captured it.", |row| {
            row.interface.as_str().into()
        }),
        text("protocol", "Protocol of IP.", |row| {
            row.key.protocol_name().as_str().into()
        }),
        text("source", "Source address and port.", |row| {
            end_text(row.key.source).as_str().into()
        }),
        text("destination", "Destination address and port.", |row| {
            end_text(row.key.destination).as_str().into()
        }),
        number(
            "first_time_s",
            "s",
            "Time of the first packet, counted from the first packet of the capture.",
            |row| {
                row.way
                    .active
                    .map(|a| a.0.saturating_since(row.zero).as_secs_f64())
                    .into()
            },
        ),
        number(
            "last_time_s",
            "s",
            "Time of the last packet, counted from the first packet of the capture.",
            |row| {
                row.way
                    .active
                    .map(|a| a.1.saturating_since(row.zero).as_secs_f64())
                    .into()
            },
        ),
    ]
}

/// Packets and bytes, their sizes and rates, and how many carry the mark of congestion.
fn conversation_volume_columns() -> Vec<Column<ConversationRow>> {
    vec![
        integer("packets", "packets", "Packets.", |row: &ConversationRow| {
            row.way.packets.packets().into()
        }),
        integer(
            "bytes",
            "bytes",
            "Their bytes, from the IP header on.",
            |row| row.way.packets.bytes().into(),
        ),
        integer("size_bytes_min", "bytes", "Smallest size.", |row| {
            row.way.packets.min().into()
        }),
        number("size_bytes_mean", "bytes", "Mean size.", |row| {
            row.way.packets.mean().into()
        }),
        integer("size_bytes_max", "bytes", "Largest size.", |row| {
            row.way.packets.max().into()
        }),
        integer(
            "payload_bytes",
            "bytes",
            "Bytes of TCP payload, retransmissions included.",
            |row| row.way.payload.into(),
        ),
        number(
            "rate_bps",
            "bps",
            "8 × bytes / duration of the capture.",
            |row| rate(row.way.packets.bytes(), row.span).into(),
        ),
        number(
            "active_bps",
            "bps",
            "8 × bytes / time from its first packet to its last.",
            |row| {
                row.way
                    .active
                    .and_then(|a| rate(row.way.packets.bytes(), a.1.saturating_since(a.0)))
                    .into()
            },
        ),
        integer("marked_packets", "packets", "Packets with CE.", |row| {
            row.way.marked.into()
        }),
    ]
}

/// What TCP's segments say: repetitions, resets, and the times of the handshake.
fn conversation_tcp_columns() -> Vec<Column<ConversationRow>> {
    fn since(later: Option<Time>, earlier: Option<Time>) -> Option<f64> {
        Some(later?.saturating_since(earlier?).as_secs_f64())
    }
    vec![
        integer(
            "retransmitted_packets",
            "packets",
            "Segments with data that the capture had already seen.",
            |row: &ConversationRow| row.way.retransmitted.into(),
        ),
        integer(
            "filled_packets",
            "packets",
            "Segments with new data below the highest sequence number: reordered, or lost before the capture.",
            |row| row.way.filled.into(),
        ),
        integer(
            "duplicate_acks",
            "packets",
            "Acknowledgements that repeat the previous one, with the same window, while data is unacknowledged (RFC 5681 section 2).",
            |row| row.way.duplicates.into(),
        ),
        integer(
            "resets",
            "packets",
            "Segments that reset the connection.",
            |row| row.way.resets.into(),
        ),
        number(
            "handshake_s",
            "s",
            "Time from the first SYN to the third segment of the handshake.",
            |row| since(row.way.handshake.2, row.way.handshake.0).into(),
        ),
        number(
            "handshake_answer_s",
            "s",
            "Time from the first SYN to its answer.",
            |row| since(row.way.handshake.1, row.way.handshake.0).into(),
        ),
        number(
            "handshake_confirm_s",
            "s",
            "Time from the answer to the third segment.",
            |row| since(row.way.handshake.2, row.way.handshake.1).into(),
        ),
    ]
}

fn path_columns() -> Vec<Column<PathRow>> {
    let mut all = vec![
        text(
            "path",
            "Name: protocol, source > destination.",
            |row: &PathRow| row.name.as_str().into(),
        ),
        text(
            "from",
            "Capture that its packets pass first: `first` or `second`.",
            |row| ["first", "second"][row.way.first()].into(),
        ),
    ];
    all.extend(counts_columns!("sent", "Packets in the capture that they pass first.", row: PathRow => row.way.seen[row.way.first()]));
    all.extend(counts_columns!("received", "Packets in the other capture.", row: PathRow => row.way.seen[1 - row.way.first()]));
    all.extend(counts_columns!("lost", "Packets that are missing in the other capture, although it had started when they passed, and has packets after the longest delay of the path.", row: PathRow => row.way.alone[row.way.first()]));
    all.extend(counts_columns!("open", "Packets that are missing in the other capture, which may have started too late or ended too early for them.", row: PathRow => row.way.open[row.way.first()]));
    all.extend([
        integer(
            "unsent_packets",
            "packets",
            "Packets that are only in the other capture.",
            |row: &PathRow| {
                let side = 1 - row.way.first();
                (row.way.alone[side].packets + row.way.open[side].packets).into()
            },
        ),
        integer(
            "untold_packets",
            "packets",
            "Packets in both captures without a delay, because other packets are identical and some of those did not arrive.",
            |row| row.way.untold.iter().sum::<u64>().into(),
        ),
        integer(
            "reversed_packets",
            "packets",
            "Packets that passed the captures in reverse order, according to their clocks.",
            |row| row.way.delays[1 - row.way.first()].count().into(),
        ),
        number("loss_ratio", "1", "Lost packets, divided by sent packets without the open ones.", |row| {
            let side = row.way.first();
            let decided = row.way.seen[side].packets - row.way.open[side].packets;
            (decided > 0)
                .then(|| to_f64(row.way.alone[side].packets) / to_f64(decided))
                .into()
        }),
    ]);
    all.extend(spans_columns!("delay", "Time from one capture to the other", row: PathRow => row.way.delays[row.way.first()]));
    all.extend([
        number(
            "jitter_s_mean",
            "s",
            "Mean absolute difference of the delays of consecutive packets.",
            |row: &PathRow| row.way.jitter.mean().into(),
        ),
        number(
            "jitter_rfc3550_s",
            "s",
            "Interarrival jitter of RFC 3550 section 6.4.1 at the end.",
            |row| row.way.jitter.smoothed().into(),
        ),
        number("jitter_rfc3550_s_max", "s", "Its largest value.", |row| {
            row.way.jitter.smoothed_max().into()
        }),
    ]);
    all
}

fn series_columns() -> Vec<Column<SeriesRow>> {
    let mut all = vec![
        number(
            "time_s",
            "s",
            "Start of the step, counted from the first packet; in a simulated capture, simulated time.",
            |row: &SeriesRow| Some(row.time.as_secs_f64()).into(),
        ),
        text("subject", "`trace` or `conversation`.", |row| {
            row.subject.into()
        }),
        text("name", "Name of the subject.", |row| {
            row.name.as_str().into()
        }),
    ];
    all.extend(counts_columns!("sent", "Passed in the step.", row: SeriesRow => row.bin.sent));
    all.extend([number(
        "sent_bps",
        "bps",
        "8 × bytes / step.",
        |row: &SeriesRow| rate(row.bin.sent.bytes, row.step).into(),
    )]);
    all.extend(counts_columns!("sent_total", "Passed up to the end of the step.", row: SeriesRow => row.total));
    all.extend([
        number(
            "retransmitted_pps",
            "pps",
            "Segments with data that the capture had already seen / step.",
            |row: &SeriesRow| per_second(row.bin.errors.retransmitted, row.step).into(),
        ),
        number(
            "duplicate_acks_pps",
            "pps",
            "Acknowledgements that repeat the previous one / step.",
            |row| per_second(row.bin.errors.duplicates, row.step).into(),
        ),
        number(
            "filled_pps",
            "pps",
            "Segments with new data below the highest sequence number / step.",
            |row| per_second(row.bin.errors.filled, row.step).into(),
        ),
        number("errors_pps", "pps", "Sum of the three rates.", |row| {
            per_second(row.bin.errors.sum(), row.step).into()
        }),
    ]);
    all
}

/// How often per second something was counted in a step.
fn per_second(count: u64, step: Span) -> Option<f64> {
    let seconds = step.as_secs_f64();
    (seconds > 0.0).then(|| to_f64(count) / seconds)
}

/// The name of an interface: its own, or its number.
fn interface_name(interfaces: &[Interface], number: u32) -> String {
    let name = interfaces
        .get(place(number))
        .map_or("", |interface| interface.name.as_str());
    match name {
        "" => number.to_string(),
        name => name.to_owned(),
    }
}
