//! ns-2's lines, times rounded to the microsecond as ns-2 rounds them.

use crate::write::scene::{Scene, Transport, item};
use crate::write::sink::{Form, Out, Sink};
use sojourn_sim::packet::Kind;
use sojourn_sim::trace::Record;
use sojourn_sim::trace_ns2::{exact_line, line};

pub(crate) const FORM: Form = Form {
    name: "ns2",
    about: "times in microseconds, as ns-2 writes them",
    is_analysed: true,
    open: |scene, out| Ok(Lines::open(scene, out, false)),
};

/// Writes a line per event.
pub(super) struct Lines<'a> {
    scene: Scene,
    exact: bool,
    out: Out<'a>,
}

impl<'a> Lines<'a> {
    /// Lines with times to the microsecond, or exact ones.
    pub(super) fn open(scene: Scene, out: Out<'a>, exact: bool) -> Box<dyn Sink + 'a> {
        Box::new(Lines { scene, exact, out })
    }
}

impl Sink for Lines<'_> {
    fn record(&mut self, record: &Record) -> std::io::Result<()> {
        match text(&self.scene, record, self.exact) {
            Some(text) => writeln!(self.out, "{text}"),
            None => Ok(()),
        }
    }

    fn finish(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

/// The line of an event without its end, with its time to the microsecond or exact; none for what ns-2 does not trace.
pub(super) fn text(scene: &Scene, record: &Record, exact: bool) -> Option<String> {
    let link = item(&scene.links, record.link)?;
    let flow = item(&scene.flows, record.packet.flow)?;
    let mut record = *record;
    if flow.transport == Transport::Tcp && record.packet.kind == Kind::Ack {
        // As ns-2's name the last packet that arrived in order, these name the last byte.
        record.packet.seq = record.packet.ack.saturating_sub(1);
    }
    match exact {
        true => exact_line(&record, link.ends, &flow.label),
        false => line(&record, link.ends, &flow.label),
    }
}
