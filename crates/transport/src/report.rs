//! What endpoints have counted, readable at any time of a run.

use sojourn_units::{Span, Time};

/// What a sender has done. `started` and `completed` are of the whole run, everything else counts from the end of the
/// warm-up on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SenderReport {
    /// When it sent its first packet.
    pub started: Option<Time>,
    /// When the last byte of a source that ends was acknowledged; for UDP, when its last datagram was sent.
    pub completed: Option<Time>,
    /// Payload bytes acknowledged for the first time; for UDP, sent.
    pub bytes_acked: u64,
    /// Data segments that carried bytes sent before.
    pub retransmissions: u64,
    /// Retransmission timer expiries with data in flight.
    pub timeouts: u64,
    /// SYNs sent after the first.
    pub handshake_retransmissions: u64,
    /// Sum of round-trip time samples, picoseconds.
    pub rtt_sum_ps: u128,
    /// Round-trip time samples.
    pub rtt_count: u64,
    /// Shortest sample.
    pub rtt_min: Option<Span>,
    /// Longest sample.
    pub rtt_max: Option<Span>,
    /// Fast retransmits that began a fast recovery.
    pub fast_recoveries: u64,
    /// Window reductions for an ECN echo.
    pub ecn_reductions: u64,
    /// Reductions that were taken back since nothing was lost (RFC 3522, RFC 3708, RFC 5682, RFC 9002).
    pub undone: u64,
}

impl SenderReport {
    /// The warm-up is over: counts begin anew.
    pub(crate) fn start_measuring(&mut self) {
        *self = SenderReport {
            started: self.started,
            completed: self.completed,
            ..SenderReport::default()
        };
    }

    /// Of this sender and another together.
    #[must_use]
    pub fn with(&self, other: &SenderReport) -> SenderReport {
        fn of<T: Copy>(a: Option<T>, b: Option<T>, choose: fn(T, T) -> T) -> Option<T> {
            match (a, b) {
                (Some(a), Some(b)) => Some(choose(a, b)),
                (one, None) | (None, one) => one,
            }
        }
        SenderReport {
            started: of(self.started, other.started, Time::min),
            completed: of(self.completed, other.completed, Time::max),
            bytes_acked: self.bytes_acked + other.bytes_acked,
            retransmissions: self.retransmissions + other.retransmissions,
            timeouts: self.timeouts + other.timeouts,
            handshake_retransmissions: self.handshake_retransmissions
                + other.handshake_retransmissions,
            rtt_sum_ps: self.rtt_sum_ps + other.rtt_sum_ps,
            rtt_count: self.rtt_count + other.rtt_count,
            rtt_min: of(self.rtt_min, other.rtt_min, Span::min),
            rtt_max: of(self.rtt_max, other.rtt_max, Span::max),
            fast_recoveries: self.fast_recoveries + other.fast_recoveries,
            ecn_reductions: self.ecn_reductions + other.ecn_reductions,
            undone: self.undone + other.undone,
        }
    }

    #[inline]
    pub(crate) fn record_rtt(&mut self, rtt: Span) {
        self.rtt_sum_ps += u128::from(rtt.as_ps());
        self.rtt_count += 1;
        self.rtt_min = Some(self.rtt_min.map_or(rtt, |least| least.min(rtt)));
        self.rtt_max = Some(self.rtt_max.map_or(rtt, |most| most.max(rtt)));
    }
}

/// What a receiver has got since the end of the warm-up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReceiverReport {
    /// Payload bytes handed to the application in order.
    pub goodput_bytes: u64,
    /// Data segments that brought nothing new.
    pub duplicates: u64,
    /// Acknowledgements sent.
    pub acks: u64,
}

impl ReceiverReport {
    /// Of this receiver and another together.
    #[must_use]
    pub fn with(&self, other: &ReceiverReport) -> ReceiverReport {
        ReceiverReport {
            goodput_bytes: self.goodput_bytes + other.goodput_bytes,
            duplicates: self.duplicates + other.duplicates,
            acks: self.acks + other.acks,
        }
    }
}

/// The state of a sender at one moment, for time series.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gauges {
    /// Congestion window, bytes; without what fast recovery adds to it.
    pub cwnd_bytes: u64,
    /// Slow start threshold, bytes; `None` while unknown.
    pub ssthresh_bytes: Option<u64>,
    /// Bytes sent and not acknowledged (FlightSize of RFC 5681).
    pub in_flight_bytes: u64,
    /// Smoothed round-trip time; `None` before the first sample.
    pub srtt: Option<Span>,
    /// Retransmission timeout, back-off included.
    pub rto: Span,
}
