//! What a format of traces is that can be read.

use super::event::Grammar;

/// A format.
pub struct Form {
    /// The name, as options have it.
    pub name: &'static str,
    /// The name, as text has it.
    pub title: &'static str,
    /// How its files may begin.
    pub(super) begins: &'static [&'static [u8]],
    /// Whether a line of text is one of it, by its fields; there are at least three.
    pub(super) has_line: fn(&[&[u8]]) -> bool,
    /// What it holds.
    pub(super) content: Content,
}

/// What a format holds.
pub(super) enum Content {
    /// What happened to each packet at each queue, a line per event.
    Events(fn() -> Box<dyn Grammar>),
    /// What passed one point.
    Capture(Layout),
}

/// How a capture lays out its packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// A header of the file, then records.
    Records,
    /// Blocks of several types.
    Blocks,
}

/// A format in which no line of text occurs.
pub(super) fn no_line(_: &[&[u8]]) -> bool {
    false
}
