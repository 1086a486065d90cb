//! What a transport with selective acknowledgement tells beyond windows and losses: samples of delay and delivery rate, its
//! phases, and what an algorithm asks of it.
//!
//! Sources: draft-ietf-ccwg-bbr section 4.1 (delivery rate samples), RFC 8257 section 3 (marks), RFC 3522 and 5682 (undo).

use sojourn_units::{Rate, Span, Time};

/// What an algorithm wants of ECN.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EcnUse {
    /// Classic: one echo per window of data, if the scenario turns ECN on (RFC 3168).
    #[default]
    Classic,
    /// The receiver echoes the state of each segment; senders use ECT(0) (RFC 8257).
    PerSegment,
    /// The receiver counts marked bytes (RFC 9768); senders use ECT(1) (RFC 9331).
    Scalable,
}

/// What an algorithm asks of the transport.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traits {
    /// Its use of ECN; anything but classic turns ECN on.
    pub ecn: EcnUse,
    /// It sets the window itself in every phase, from [`crate::CongestionControl::on_model`]: no proportional rate reduction.
    pub model: bool,
    /// It sets the pace itself, as soon as it knows enough.
    pub paces: bool,
    /// It needs samples, so the transport must have selective acknowledgement.
    pub samples: bool,
    /// It measures one-way delay, so the transport must have timestamps.
    pub timestamps: bool,
    /// It uses acknowledgements and losses alone and never paces: the transport need not take samples for it.
    pub unsampled: bool,
    /// Its window does not grow while the application or the peer holds the sender back, whatever `validate_window` of the transport says.
    pub validates: bool,
    /// It uses samples of the delivery rate as ns-3 takes them, from one acknowledgement to the next, and by bytes lost as ns-3 counts them, where the
    /// transport works as ns-3 does.
    pub keeps_samples: bool,
    /// Why a reduction may leave a threshold above the window before; `None` where that would be a mistake.
    pub raises: Option<&'static str>,
}

/// What the transport is doing about losses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Phase {
    /// Nothing is missing.
    #[default]
    Open,
    /// Something was received out of order; it may be a loss.
    Disorder,
    /// The window is being reduced for an ECN echo.
    Reducing,
    /// Losses are being repaired.
    Recovery,
    /// The retransmission timer has fired.
    Loss,
}

/// What one acknowledgement has measured. Sizes are payload bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sample {
    /// When.
    pub now: Time,
    /// The first byte that is not acknowledged.
    pub una: u64,
    /// The byte to send next.
    pub next: u64,
    /// Bytes acknowledged cumulatively for the first time.
    pub acked: u64,
    /// Bytes delivered for the first time: acknowledged or selectively acknowledged.
    pub newly_delivered: u64,
    /// Of them, those that arrived marked with congestion experienced, as far as the receiver tells.
    pub marked: u64,
    /// The segments for which the acknowledgement counts, if that is not what was delivered (PktsAcked of ns-3).
    pub told: Option<u32>,
    /// The round-trip time of the segment sent last among those delivered, if none of them was sent twice.
    pub rtt: Option<Span>,
    /// The shortest round-trip time of the connection so far.
    pub min_rtt: Option<Span>,
    /// The smoothed round-trip time.
    pub srtt: Option<Span>,
    /// The delay from sender to receiver, where timestamps tell it.
    pub one_way: Option<Span>,
    /// When that was sent which the acknowledgement answers to, where it echoes a timestamp.
    pub stamp: Option<Time>,
    /// Bytes delivered since the connection began.
    pub delivered: u64,
    /// The same when the sampled segment was sent.
    pub prior_delivered: u64,
    /// Bytes delivered in `interval`; zero if there is no sample of the rate. This and what was true when the sampled segment
    /// was sent is measured for algorithms that [ask for samples](Traits::samples).
    pub sampled: u64,
    /// The longer of the times in which those were sent and acknowledged.
    pub interval: Span,
    /// The application was what held the sender back in that time.
    pub app_limited: bool,
    /// Bytes in flight before this acknowledgement, and after it.
    pub in_flight_before: u64,
    /// See `in_flight_before`.
    pub in_flight: u64,
    /// Bytes in flight when the sampled segment was sent, itself included.
    pub tx_in_flight: u64,
    /// Bytes lost since the sampled segment was sent.
    pub lost_since: u64,
    /// Bytes that this acknowledgement shows to be lost; zero before losses are looked for.
    pub newly_lost: u64,
    /// What the transport is doing.
    pub phase: Phase,
    /// The window is what holds the sender back.
    pub limited: bool,
}

impl Sample {
    /// The delivery rate in bytes per second, if it was sampled.
    pub fn rate(&self) -> Option<f64> {
        let seconds = self.interval.as_secs_f64();
        (self.sampled > 0 && seconds > 0.0).then(|| crate::num::real(self.sampled) / seconds)
    }

    /// The same as a rate.
    pub fn bit_rate(&self) -> Option<Rate> {
        self.rate().map(crate::num::rate)
    }
}

/// A segment is lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lost {
    /// When that is known.
    pub now: Time,
    /// Its payload, bytes.
    pub bytes: u64,
    /// Bytes in flight when it was sent, itself included.
    pub tx_in_flight: u64,
    /// Bytes lost since it was sent, itself included.
    pub lost_since: u64,
    /// The application held the sender back when it was sent.
    pub app_limited: bool,
    /// Bytes delivered since the connection began.
    pub delivered: u64,
}

/// A reduction is taken back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Undo {
    /// When.
    pub now: Time,
    /// The window before the reduction.
    pub cwnd: u64,
    /// The slow start threshold before it.
    pub ssthresh: u64,
}
