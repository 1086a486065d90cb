//! What a rate control of media is, and what it learns of.

use sojourn_units::{Span, Time};

/// What became of one packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketResult {
    /// Its bytes on the wire.
    pub bytes: u64,
    /// When it was sent.
    pub sent: Time,
    /// When it arrived; none if it was lost.
    pub arrived: Option<Time>,
    /// It was marked on its way.
    pub marked: bool,
}

/// Feedback, as it arrives.
#[derive(Clone, Copy, Debug)]
pub struct MediaFeedback<'a> {
    /// When.
    pub now: Time,
    /// Packets that it reports, in the order in which they were sent.
    pub packets: &'a [PacketResult],
    /// Round trip of the newest of these, less the time for which the receiver kept it.
    pub round_trip: Option<Span>,
    /// Bytes sent and not yet reported on.
    pub in_flight: u64,
    /// Bytes that wait in the sender.
    pub waiting: u64,
}

/// An algorithm.
pub trait MediaControl {
    /// Feedback has arrived.
    fn on_feedback(&mut self, feedback: &MediaFeedback<'_>);

    /// Feedback has not come for so long that all in flight is taken for lost.
    fn on_silence(&mut self, now: Time);

    /// A packet of `bytes` was sent; `in_flight` includes it.
    fn on_sent(&mut self, now: Time, bytes: u64, in_flight: u64) {
        let _ = (now, bytes, in_flight);
    }

    /// The rate that the encoder should have.
    fn target(&self) -> f64;

    /// The rate at which packets may leave.
    fn pacing(&self) -> f64;

    /// Bytes that may be in flight, if that is limited.
    fn window(&self) -> Option<u64> {
        None
    }

    /// How often it wants feedback.
    fn feedback_every(&self) -> Span {
        Span::from_ms(50)
    }
}

/// The bounds of a media rate, and where it starts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bounds {
    /// Least rate.
    pub min: f64,
    /// Rate at the start.
    pub start: f64,
    /// Greatest rate.
    pub max: f64,
}
