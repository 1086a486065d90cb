//! What a flow of RTP counts, readable at any time of a run: what its reports say, beside what its receiver knows.

use super::breaker::Tripped;
use sojourn_units::{Span, Time};

/// Counts of one end of a flow, or of both together, since the end of the warm-up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RtpAccount {
    /// RTCP packets sent.
    pub rtcp_packets: u64,
    /// Their bytes on the wire.
    pub rtcp_bytes: u64,
    /// Sender reports sent.
    pub sender_reports: u64,
    /// Receiver reports about the media that have arrived at its sender.
    pub receiver_reports: u64,
    /// Packets that these say were lost, by the difference of the last and the first.
    pub reported_lost: u64,
    /// Packets that these say were expected.
    pub reported_expected: u64,
    /// Sum of the jitters that these tell, picoseconds.
    pub reported_jitter_sum: u128,
    /// The greatest of them.
    pub reported_jitter_max: Span,
    /// Sum of the round trips that follow from them, picoseconds.
    pub reported_rtt_sum: u128,
    /// How many these are.
    pub reported_rtt_count: u64,
    /// The shortest.
    pub reported_rtt_min: Option<Span>,
    /// The longest.
    pub reported_rtt_max: Span,
    /// Requests for packets sent (generic NACK).
    pub nacks: u64,
    /// Packets that these asked for; one that is asked for twice counts twice.
    pub nacked: u64,
    /// Packets of media sent again.
    pub retransmissions: u64,
    /// Their bytes on the wire.
    pub retransmitted_bytes: u64,
    /// When and why a circuit breaker ended the media; of the whole run.
    pub ceased: Option<(Tripped, Time)>,
}

impl RtpAccount {
    /// The warm-up is over.
    pub(crate) fn start_measuring(&mut self) {
        *self = RtpAccount {
            ceased: self.ceased,
            ..RtpAccount::default()
        };
    }

    /// An RTCP packet of the given bytes on the wire was sent.
    pub(crate) fn rtcp_sent(&mut self, wire: u32) {
        self.rtcp_packets += 1;
        self.rtcp_bytes += u64::from(wire);
    }

    /// A receiver reported this jitter and this round trip.
    pub(crate) fn told(&mut self, jitter: Span, round_trip: Option<Span>) {
        self.receiver_reports += 1;
        self.reported_jitter_sum += u128::from(jitter.as_ps());
        self.reported_jitter_max = self.reported_jitter_max.max(jitter);
        if let Some(trip) = round_trip {
            self.reported_rtt_sum += u128::from(trip.as_ps());
            self.reported_rtt_count += 1;
            self.reported_rtt_min =
                Some(self.reported_rtt_min.map_or(trip, |least| least.min(trip)));
            self.reported_rtt_max = self.reported_rtt_max.max(trip);
        }
    }

    /// Of both ends together: each counts what the other does not.
    #[must_use]
    pub fn with(&self, other: &RtpAccount) -> RtpAccount {
        let least = |a: Option<Span>, b: Option<Span>| match (a, b) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (one, None) | (None, one) => one,
        };
        RtpAccount {
            rtcp_packets: self.rtcp_packets + other.rtcp_packets,
            rtcp_bytes: self.rtcp_bytes + other.rtcp_bytes,
            sender_reports: self.sender_reports + other.sender_reports,
            receiver_reports: self.receiver_reports + other.receiver_reports,
            reported_lost: self.reported_lost + other.reported_lost,
            reported_expected: self.reported_expected + other.reported_expected,
            reported_jitter_sum: self.reported_jitter_sum + other.reported_jitter_sum,
            reported_jitter_max: self.reported_jitter_max.max(other.reported_jitter_max),
            reported_rtt_sum: self.reported_rtt_sum + other.reported_rtt_sum,
            reported_rtt_count: self.reported_rtt_count + other.reported_rtt_count,
            reported_rtt_min: least(self.reported_rtt_min, other.reported_rtt_min),
            reported_rtt_max: self.reported_rtt_max.max(other.reported_rtt_max),
            nacks: self.nacks + other.nacks,
            nacked: self.nacked + other.nacked,
            retransmissions: self.retransmissions + other.retransmissions,
            retransmitted_bytes: self.retransmitted_bytes + other.retransmitted_bytes,
            ceased: self.ceased.or(other.ceased),
        }
    }
}

/// What a sender of RTP knows at one moment, for time series.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct RtpGauges {
    /// Share lost, as the last report says.
    pub fraction_lost: Option<f64>,
    /// Jitter, as the last report says, seconds.
    pub jitter: Option<f64>,
    /// Round trip by the last report, seconds.
    pub round_trip: Option<f64>,
    /// The rate that its congestion control wants, bits per second.
    pub target: Option<f64>,
}
