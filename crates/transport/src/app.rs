//! What an application wants sent, and when.

use sojourn_sim::Stream;
use sojourn_units::Time;

/// One write of an application; for a datagram transport, one datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Write {
    /// When the application writes.
    pub at: Time,
    /// Bytes of payload.
    pub bytes: u64,
}

/// A traffic source.
pub trait Source {
    /// True if there is always more to send; then `next` is not asked.
    fn unlimited(&self) -> bool;
    /// The write after the last one returned; `None` when the source is finished.
    fn next(&mut self, rng: &mut Stream) -> Option<Write>;
}
