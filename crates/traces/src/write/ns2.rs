//! ns-2's lines.

use super::scene::{Scene, Transport, item};
use super::sink::{Sink, TraceFormat};
use sojourn_sim::packet::Kind;
use sojourn_sim::trace::Record;
use sojourn_sim::trace_ns2::{exact_line, line};
use std::io::Write;

/// Writes a line per event.
pub(super) struct Lines<'a> {
    scene: Scene,
    exact: bool,
    out: &'a mut (dyn Write + Send),
}

impl<'a> Lines<'a> {
    pub(super) fn new(
        scene: Scene,
        format: TraceFormat,
        out: &'a mut (dyn Write + Send),
    ) -> Lines<'a> {
        let exact = format == TraceFormat::Ns2Exact;
        Lines { scene, exact, out }
    }
}

impl Sink for Lines<'_> {
    fn record(&mut self, record: &Record) -> std::io::Result<()> {
        let (Some(link), Some(flow)) = (
            item(&self.scene.links, record.link),
            item(&self.scene.flows, record.packet.flow),
        ) else {
            return Ok(());
        };
        let mut record = *record;
        if flow.transport == Transport::Tcp && record.packet.kind == Kind::Ack {
            // As ns-2's name the last packet that arrived in order, these name the last byte.
            record.packet.seq = record.packet.ack.saturating_sub(1);
        }
        let text = match self.exact {
            true => exact_line(&record, link.ends, &flow.label),
            false => line(&record, link.ends, &flow.label),
        };
        match text {
            Some(text) => writeln!(self.out, "{text}"),
            None => Ok(()),
        }
    }

    fn finish(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}
