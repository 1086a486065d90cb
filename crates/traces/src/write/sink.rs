//! What a format of written traces is, and what it does with an event.

use std::io::Write;

use sojourn_sim::trace::Record;

use super::scene::Scene;

/// A format in which events are written.
pub struct Form {
    /// The name, as options have it.
    pub name: &'static str,
    /// What there is to know of it, in a few words; empty where the name says all.
    pub about: &'static str,
    /// Whether `sojourn trace analyse` reads it.
    pub is_analysed: bool,
    /// Begins to write what happens in a scene.
    pub(super) open: for<'a> fn(Scene, Out<'a>) -> std::io::Result<Box<dyn Sink + 'a>>,
}

/// Where a trace goes.
pub(super) type Out<'a> = &'a mut (dyn Write + Send);

/// Takes events in the order of time.
pub(super) trait Sink {
    /// Writes what the format has of an event.
    fn record(&mut self, record: &Record) -> std::io::Result<()>;
    /// Writes what belongs at the end.
    fn finish(&mut self) -> std::io::Result<()>;
}
