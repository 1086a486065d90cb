//! Samples of the delivery rate as ns-3 takes them.
//!
//! Source: ns-3.44, read for behaviour: tcp-rate-ops.cc (TcpRateLinux). Where it is not Linux: a sample is kept from one acknowledgement to the next. One whose
//! segments were sent when no more had been delivered than before the segment that is sampled leaves the times of the sample as they are and adds to its bytes: of two
//! segments that left together the second one's acknowledgement tells a rate that is too high.

use super::scoreboard::{Segment, SendState};
use sojourn_units::{Span, Time};

/// The sample (TcpRateSample).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sampler {
    prior_delivered: u64,
    /// When that had been delivered, unless the sample is void.
    prior_time: Option<Time>,
    acknowledging: Span,
    sending: Span,
    app_limited: bool,
    /// When the sampled segment was sent: what is sent from now on begins its sample there.
    first_sent: Option<Time>,
}

impl Sampler {
    /// SkbDelivered: a segment that was sent in that state, when the given bytes had been delivered.
    pub(super) fn on_delivered(
        &mut self,
        segment: &Segment,
        prior: u64,
        state: &SendState,
        now: Time,
    ) {
        if self.prior_delivered != 0 && prior <= self.prior_delivered {
            return;
        }
        self.prior_delivered = prior;
        self.prior_time = Some(state.delivered_at);
        self.acknowledging = now.saturating_since(state.delivered_at);
        self.sending = segment.sent.saturating_since(state.first_sent);
        self.app_limited = state.app_limited;
        self.first_sent = Some(segment.sent);
    }

    /// GenerateSample, with the given bytes delivered: bytes and the interval of the sample, zero where it is shorter than the least round trip.
    pub(super) fn finish(&mut self, delivered: u64, min_rtt: Option<Span>) -> (u64, Span) {
        if self.prior_time.is_none() {
            return (0, Span::ZERO);
        }
        let bytes = delivered.saturating_sub(self.prior_delivered);
        let interval = self.sending.max(self.acknowledging);
        if min_rtt.is_none_or(|least| interval < least) {
            self.prior_time = None;
            return (bytes, Span::ZERO);
        }
        (bytes, interval)
    }

    /// Bytes that had been delivered when the sampled segment was sent, whether its application held the sender back then, and when it was sent.
    pub(super) fn sampled(&self) -> (u64, bool, Option<Time>) {
        (self.prior_delivered, self.app_limited, self.first_sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    #[test]
    fn what_left_when_no_more_was_delivered_adds_to_the_sample_before() {
        let state = SendState {
            delivered_at: at(10),
            first_sent: at(10),
            ..SendState::default()
        };
        let mut sampler = Sampler::default();
        let mut segment = Segment::new(0, 1000);
        segment.sent = at(20);
        sampler.on_delivered(&segment, 5000, &state, at(60));
        let least = Some(Span::from_ms(40));
        assert_eq!(sampler.finish(8000, least), (3000, Span::from_ms(50)));
        // The second of two that left together, 20 ms later.
        sampler.on_delivered(&segment, 5000, &state, at(80));
        assert_eq!(sampler.finish(9000, least), (4000, Span::from_ms(50)));
    }

    #[test]
    fn a_sample_shorter_than_a_round_trip_is_void_until_the_next_segment_is_sampled() {
        let mut sampler = Sampler::default();
        let state = SendState {
            delivered_at: at(10),
            first_sent: at(10),
            ..SendState::default()
        };
        let mut segment = Segment::new(0, 1000);
        segment.sent = at(20);
        sampler.on_delivered(&segment, 5000, &state, at(30));
        let least = Some(Span::from_ms(40));
        assert_eq!(sampler.finish(6000, least), (1000, Span::ZERO));
        assert_eq!(sampler.finish(7000, least), (0, Span::ZERO));
    }
}
