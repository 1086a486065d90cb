//! What a congestion control is, and what happens to a connection that it learns of.

use crate::sample::{Lost, Phase, Sample, Traits, Undo};
use sojourn_units::{ParamError, Params, Rate, Span, Time};

/// A congestion control algorithm of one connection.
pub trait CongestionControl: std::fmt::Debug + Send {
    /// The connection is established and may send data from now on.
    fn on_start(&mut self, start: &Start);
    /// A data segment was sent.
    fn on_sent(&mut self, sent: &Sent);
    /// New data was acknowledged.
    fn on_ack(&mut self, acked: &Acked);
    /// The network is congested. The transport reports loss and an ECN echo once per window of data, by [`reduce`](crate::reduce).
    fn on_congestion(&mut self, congestion: &Congestion);
    /// Bytes that may be in flight (the congestion window); at least one segment once started.
    fn cwnd(&self) -> u64;
    /// The window at which slow start ends (RFC 5681 section 3.1), `u64::MAX` while unknown.
    fn ssthresh(&self) -> u64;
    /// The rate at which segments are to be spaced; `None` leaves sending to the acknowledgements' clock.
    fn pacing_rate(&self) -> Option<Rate>;

    /// What it asks of the transport; the same through the life of a connection.
    fn traits(&self) -> Traits {
        Traits::default()
    }
    /// How often it does what a run has to contain, and what that is; `None` of an algorithm whose period follows from the path.
    fn period(&self) -> Option<(&'static str, Span)> {
        None
    }
    /// What an acknowledgement has measured, before the transport looks for losses and before [`Self::on_ack`]. Only
    /// transports with selective acknowledgement tell.
    fn on_sample(&mut self, sample: &Sample) {
        let _ = sample;
    }
    /// The same acknowledgement, after losses were looked for: where an algorithm that controls the window by a model sets
    /// it ([`Traits::model`]). Other algorithms are not told.
    fn on_model(&mut self, sample: &Sample) {
        let _ = sample;
    }
    /// A segment is lost: told after [`Self::on_sample`] and [`Self::on_phase`], before [`Self::on_model`], of each in the order in which they were
    /// found. Algorithms that do not control the window by a model are not told.
    fn on_lost(&mut self, lost: &Lost) {
        let _ = lost;
    }
    /// While the transport reduces the window itself: the window that it allows now. Told by transports whose algorithms share one window with
    /// them (ns-3), and when losses are found while the window falls for a mark.
    fn on_window(&mut self, cwnd: u64) {
        let _ = cwnd;
    }
    /// The byte to send next, where that is not one past the highest that was sent: told before what it may matter to by transports that go back for what is sent
    /// again (ns-3).
    fn on_next(&mut self, next: u64) {
        let _ = next;
    }
    /// The application has not made use of the window, which becomes `cwnd`. The threshold becomes at least three quarters of what the window was: so much is
    /// known to be possible (RFC 2861 section 3; tcp_cwnd_restart and tcp_cwnd_application_limited of Linux). Told by transports in dialect linux, not of
    /// algorithms that control the window by a model.
    fn on_decay(&mut self, cwnd: u64) {
        let _ = cwnd;
    }
    /// The transport's phase changes.
    fn on_phase(&mut self, phase: Phase, now: Time) {
        let _ = (phase, now);
    }
    /// The last reduction answered to a loss that was none (RFC 3522, RFC 5682, RFC 3708).
    fn on_undo(&mut self, undo: &Undo) {
        let _ = undo;
    }
    /// Where the random numbers of this connection begin: a number of its own for each connection of each run, told before
    /// [`Self::on_start`] by what builds the connection. Only algorithms from outside this crate receive it; those inside draw nothing.
    fn seed(&mut self, seed: u64) {
        let _ = seed;
    }
    /// An action from outside at `now`, between two moments of the run: what a learning environment has decided. What its numbers mean is the
    /// algorithm's own; most take none.
    fn steer(&mut self, now: Time, action: &[f64]) {
        let _ = (now, action);
    }
    /// Its state as numbers, each with the name and the unit of a time series: `name (unit)`.
    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        let _ = tell;
    }
}

/// What is made from parameters.
pub trait Build: Sized {
    /// Its parameters.
    type Params;

    /// An algorithm for a connection that is not established yet.
    ///
    /// # Errors
    /// If parameters contradict each other.
    fn build(params: &Self::Params) -> Result<Self, ParamError>;
}

/// Refuses `low` above `high` (where not `holds`): the error is about the one that is not the dialect's default.
pub(crate) fn in_order<P: Params>(
    params: &P,
    holds: bool,
    low: &str,
    high: &str,
) -> Result<(), ParamError> {
    if holds {
        return Ok(());
    }
    let defaults = P::in_dialect(params.dialect())?;
    let value = |key| params.get(key).unwrap_or_default();
    let (key, allowed) = match params.get(high) == defaults.get(high) {
        true => (low, format!("at most {high}, {}", value(high))),
        false => (high, format!("at least {low}, {}", value(low))),
    };
    Err(ParamError::OutOfRange {
        key: key.to_owned(),
        given: value(key),
        allowed,
    })
}

/// A connection is established.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Start {
    /// When.
    pub now: Time,
    /// Payload bytes of a full segment (SMSS of RFC 5681).
    pub mss: u64,
    /// The window to begin with (RFC 5681 section 3.1, RFC 6928), bytes.
    pub initial_window: u64,
    /// Segments by which one acknowledgement opens the window at most in slow start (L of RFC 3465 section 2.2); 0 for no
    /// bound. Algorithms with a parameter of their own for it use that.
    pub slow_start_limit: u32,
    /// Windows are whole segments.
    pub whole_segments: bool,
    /// The round-trip time of the handshake.
    pub rtt: Option<Span>,
}

/// A data segment was sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sent {
    /// When.
    pub now: Time,
    /// Its payload.
    pub bytes: u64,
    /// Bytes in flight, this segment included.
    pub in_flight: u64,
    /// It carries data that was sent before.
    pub retransmission: bool,
    /// The first segment after the connection was idle for longer than its retransmission timeout, when the transport
    /// restarts such connections (RFC 5681 section 4.1).
    pub after_idle: bool,
    /// The application held the sender back before, as far as samples of the delivery rate are concerned.
    pub app_limited: bool,
}

/// What the transport does while an acknowledgement of new data arrives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Sends new data, or resends after a timeout.
    Open,
    /// Repairs losses by fast recovery, and goes on doing so.
    Recovery,
    /// Has just repaired them: the window becomes the slow start threshold, and at most `at_most` bytes
    /// (RFC 5681 section 3.2 step 6, RFC 6582 section 3.2 step 3).
    Exit {
        /// Bytes; `u64::MAX` where the transport sets no bound.
        at_most: u64,
    },
}

/// New data was acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Acked {
    /// When.
    pub now: Time,
    /// Bytes acknowledged for the first time.
    pub bytes: u64,
    /// Bytes still in flight (FlightSize of RFC 5681).
    pub in_flight: u64,
    /// The round-trip time that this acknowledgement measured, if it did.
    pub rtt: Option<Span>,
    /// It carries an ECN echo: the window does not grow on it (RFC 3168 section 6.1.2).
    pub echo: bool,
    /// The window was what held the sender back, not its application or its peer; always true where the transport does
    /// not validate the window (RFC 7661 section 4).
    pub limited: bool,
    /// What the transport is doing.
    pub stage: Stage,
}

/// How congestion shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CongestionKind {
    /// Duplicate acknowledgements indicate a loss.
    Loss,
    /// The receiver echoes a mark (RFC 3168).
    Ecn,
    /// The retransmission timer has fired.
    Timeout(Expiry),
}

/// The retransmission timer has fired.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Expiry {
    /// For a segment that the timer has resent before: the threshold stays (RFC 5681 section 3.1).
    pub again: bool,
    /// Bytes that are still in flight because they were sent a moment ago (RFC 8985 section 6.3); the loss window is one segment beside them.
    pub kept: u64,
}

/// The network is congested.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Congestion {
    /// When that is known.
    pub now: Time,
    /// How it shows.
    pub kind: CongestionKind,
    /// Bytes in flight, without those that limited transmit added (FlightSize of RFC 5681, see its section 3.2 step 2).
    pub in_flight: u64,
    /// Payload bytes of a full segment.
    pub mss: u64,
}
