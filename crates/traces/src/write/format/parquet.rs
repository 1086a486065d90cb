//! A Parquet table with a row per event.

use crate::read::table::{About, Column, ColumnInfo, TraceTable, Value, integer, text};
use crate::write::scene::{Scene, item};
use crate::write::sink::{Form, Sink};
use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::Compression;
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use sojourn_sim::packet::{Ecn, Flags, Kind};
use sojourn_sim::trace::{Event, Record};
use sojourn_transport::sack::has_ae;
use std::io::{Error, Result, Write};

pub(crate) const FORM: Form = Form {
    name: "parquet",
    about: "",
    is_analysed: false,
    open: |scene, out| Ok(Box::new(Rows::new(scene, out)?)),
};

const ABOUT: About = About {
    name: "packets",
    title: "Packets",
    doc: "One row per event of a packet at a link, in the order of time.",
};
/// Rows of a group, held in memory together.
const GROUP: usize = 1 << 15;

/// An event with the names of what it happened to.
struct Row {
    record: Record,
    /// The bit AE of TCP, which packets have no flag for.
    ae: bool,
    link: String,
    from: String,
    to: String,
    flow: String,
}

/// Writes events in groups of rows.
pub(super) struct Rows<'a> {
    scene: Scene,
    rows: Vec<Row>,
    writer: Option<ArrowWriter<&'a mut (dyn Write + Send)>>,
}

impl<'a> Rows<'a> {
    pub(super) fn new(scene: Scene, out: &'a mut (dyn Write + Send)) -> Result<Rows<'a>> {
        let empty = TraceTable::new(ABOUT, &declared(), []);
        let schema = empty.batch().map_err(Error::other)?.schema();
        let properties = WriterProperties::builder()
            .set_created_by(format!("sojourn {}", env!("CARGO_PKG_VERSION")))
            .set_compression(Compression::UNCOMPRESSED)
            .build();
        let writer = ArrowWriter::try_new(out, schema, Some(properties)).map_err(io)?;
        Ok(Rows {
            scene,
            rows: Vec::new(),
            writer: Some(writer),
        })
    }

    fn flush(&mut self) -> Result<()> {
        let table = TraceTable::new(ABOUT, &declared(), self.rows.drain(..));
        let batch = table.batch().map_err(Error::other)?;
        match &mut self.writer {
            Some(writer) => writer
                .write(&batch)
                .and_then(|()| writer.flush())
                .map_err(io),
            None => Ok(()),
        }
    }
}

impl Sink for Rows<'_> {
    fn record(&mut self, record: &Record) -> Result<()> {
        let link = item(&self.scene.links, record.link);
        let node = |at: Option<u32>| {
            let name = at.and_then(|at| item(&self.scene.nodes, at));
            name.cloned().unwrap_or_default()
        };
        let flow = item(&self.scene.flows, record.packet.flow);
        let counts_marks = flow.is_some_and(|flow| flow.counts_marks);
        self.rows.push(Row {
            record: *record,
            ae: counts_marks && record.side.is_some_and(|side| has_ae(&side)),
            link: link.map_or_else(String::new, |link| link.name.clone()),
            from: node(link.map(|link| link.ends.0)),
            to: node(link.map(|link| link.ends.1)),
            flow: flow.map_or_else(String::new, |flow| flow.name.clone()),
        });
        match self.rows.len() >= GROUP {
            true => self.flush(),
            false => Ok(()),
        }
    }

    fn finish(&mut self) -> Result<()> {
        self.flush()?;
        match self.writer.take() {
            Some(writer) => writer.into_inner().map_err(io)?.flush(),
            None => Ok(()),
        }
    }
}

fn io(error: ParquetError) -> Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<Error>() {
            Ok(error) => *error,
            Err(other) => Error::other(other),
        },
        other => Error::other(other),
    }
}

/// The columns, for documents.
pub fn columns() -> Vec<ColumnInfo> {
    declared().into_iter().map(|column| column.info).collect()
}

fn declared() -> Vec<Column<Row>> {
    let mut all = what_and_where();
    all.extend(whose());
    all.extend(contents());
    all
}

fn event(row: &Row) -> (&'static str, &'static str) {
    match row.record.event {
        Event::Enqueue => ("enqueue", ""),
        Event::Dequeue => ("dequeue", ""),
        Event::Receive => ("receive", ""),
        Event::Drop(reason) => ("drop", reason.name()),
        Event::Mark(reason) => ("mark", reason.name()),
    }
}

fn flags(row: &Row) -> Value {
    let has = |flag| row.record.packet.flags.has(flag);
    let names = [
        (has(Flags::SYN), "SYN"),
        (has(Flags::FIN), "FIN"),
        (has(Flags::ECE), "ECE"),
        (has(Flags::CWR), "CWR"),
        (row.ae, "AE"),
        (has(Flags::RETRANSMIT), "RETRANSMIT"),
    ];
    let set = names.iter().filter(|(set, _)| *set);
    Value::Text(set.map(|(_, name)| *name).collect::<Vec<_>>().join(","))
}

/// What happened, when and where.
fn what_and_where() -> Vec<Column<Row>> {
    vec![
        integer(
            "time_ps",
            "ps",
            "Simulated time of the event.",
            |row: &Row| row.record.key.time.as_ps().into(),
        ),
        text(
            "event",
            "`enqueue`: it arrived at the queue; `dequeue`: its transmission starts; `receive`: its last bit arrived; `drop`; `mark`.",
            |row| event(row).0.into(),
        ),
        text(
            "reason",
            "Reason of a drop or mark; empty otherwise.",
            |row| event(row).1.into(),
        ),
        text("link", "Link direction.", |row| row.link.as_str().into()),
        text("from", "Sending node.", |row| row.from.as_str().into()),
        text("to", "Receiving node.", |row| row.to.as_str().into()),
        text("flow", "Flow.", |row| row.flow.as_str().into()),
    ]
}

/// Which packet it happened to.
fn whose() -> Vec<Column<Row>> {
    vec![
        integer(
            "connection",
            "1",
            "Number of the connection, from 0. In a workload, a flow has several.",
            |row| u64::from(row.record.packet.flow).into(),
        ),
        text(
            "direction",
            "`forward` from the flow's sender, `reverse` to it.",
            |row| match row.record.packet.flags.has(Flags::REVERSE) {
                true => "reverse".into(),
                false => "forward".into(),
            },
        ),
        text(
            "kind",
            "`datagram`, `segment`, `ack`, or `control` of RTCP.",
            |row| match row.record.packet.kind {
                Kind::Datagram => "datagram".into(),
                Kind::Segment | Kind::Pushed => "segment".into(),
                Kind::Ack => "ack".into(),
                Kind::Control => "control".into(),
            },
        ),
    ]
}

/// What the packet has in it.
fn contents() -> Vec<Column<Row>> {
    vec![
        integer("size_bytes", "bytes", "Bytes on the wire.", |row| {
            u64::from(row.record.packet.size).into()
        }),
        integer(
            "sequence",
            "1",
            "Sequence number: first byte, or number of the packet.",
            |row| row.record.packet.seq.into(),
        ),
        integer(
            "acknowledgement",
            "1",
            "Next byte or packet expected.",
            |row| row.record.packet.ack.into(),
        ),
        integer("uid", "1", "Number of the packet.", |row| {
            u64::from(row.record.packet.uid).into()
        }),
        integer("dscp", "1", "Differentiated services codepoint.", |row| {
            u64::from(row.record.packet.tos >> 2).into()
        }),
        text(
            "ecn",
            "`not-ect`, `ect1`, `ect0` or `ce`.",
            |row| match Ecn::from_bits(row.record.packet.tos) {
                Ecn::NotEct => "not-ect".into(),
                Ecn::Ect1 => "ect1".into(),
                Ecn::Ect0 => "ect0".into(),
                Ecn::Ce => "ce".into(),
            },
        ),
        text(
            "flags",
            "Flags among SYN, FIN, ECE, CWR, AE (RFC 9768) and RETRANSMIT, separated by commas.",
            flags,
        ),
        integer(
            "created_ps",
            "ps",
            "Simulated time at which its source sent it.",
            |row| row.record.packet.created.as_ps().into(),
        ),
    ]
}
