//! Samples of the delivery rate.
//!
//! Source: draft-ietf-ccwg-bbr-06 section 4.1 (draft-cheng-iccrg-delivery-rate-estimation-02): the bytes delivered between
//! the sending of a segment and its acknowledgement, over the longer of the time in which they were sent and the time in which they were acknowledged.

use super::scoreboard::{Segment, SendState};
use crate::num::low32;
use sojourn_units::{Span, Time};

/// Counters of one connection.
#[derive(Clone, Debug)]
pub(crate) struct DeliveryRate {
    /// The least bytes for which a segment counts, as in [`super::scoreboard::Scoreboard`].
    least: u64,
    /// Bytes delivered so far, and when the last of them were.
    delivered: u64,
    delivered_at: Time,
    /// When the segment was sent that begins the current sample.
    first_sent: Time,
    /// Samples up to this count of delivered bytes are of a sender that its application held back; 0 if none are.
    limited_until: u64,
}

/// The segment that an acknowledgement samples: the one sent last.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Picked {
    pub(crate) prior_delivered: u64,
    sent: Time,
    /// Its state, if samples are taken.
    pub(crate) send_state: SendState,
    sampled: bool,
    set: bool,
}

impl DeliveryRate {
    pub(crate) fn new(now: Time) -> DeliveryRate {
        DeliveryRate {
            least: 0,
            delivered: 0,
            delivered_at: now,
            first_sent: now,
            limited_until: 0,
        }
    }

    /// The connection is open.
    pub(crate) fn open(&mut self, now: Time) {
        let least = self.least;
        *self = DeliveryRate {
            least,
            ..DeliveryRate::new(now)
        };
    }

    /// Counts each segment for at least `least` bytes.
    pub(crate) fn count_at_least(&mut self, least: u64) {
        self.least = least;
    }

    #[inline]
    pub(crate) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// A segment is sent, again or for the first time; `idle` if nothing was in flight. Returns what is to be noted in it beside the
    /// time: the bytes delivered so far, the lower 32 bits.
    #[inline]
    pub(crate) fn begin(&mut self, idle: bool, now: Time) -> u32 {
        if idle {
            self.first_sent = now;
            self.delivered_at = now;
        }
        low32(self.delivered)
    }

    /// Notes in a segment that it is sent.
    #[inline]
    pub(crate) fn on_send(&mut self, segment: &mut Segment, idle: bool, now: Time) {
        segment.sent = now;
        segment.delivered = self.begin(idle, now);
    }

    /// What there is to note beside it where samples are taken, with the given bytes in flight and lost.
    pub(crate) fn now(&self, in_flight: u64, lost: u64) -> SendState {
        SendState {
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            lost,
            in_flight,
            app_limited: self.limited_until != 0,
        }
    }

    /// A segment is delivered, sent in that state if samples are taken.
    #[inline]
    pub(crate) fn on_delivered(
        &mut self,
        segment: &Segment,
        state: Option<&SendState>,
        picked: &mut Picked,
    ) {
        let prior_delivered = self.delivered_before(segment);
        self.delivered += u64::from(segment.bytes).max(self.least);
        if !picked.set
            || prior_delivered > picked.prior_delivered
            || prior_delivered == picked.prior_delivered && segment.sent >= picked.sent
        {
            picked.set = true;
            picked.prior_delivered = prior_delivered;
            picked.sent = segment.sent;
            if let Some(state) = state {
                picked.send_state = *state;
                picked.sampled = true;
            }
            self.first_sent = segment.sent;
        }
    }

    /// Bytes delivered when a segment was sent.
    #[inline]
    pub(crate) fn delivered_before(&self, segment: &Segment) -> u64 {
        // Fewer than 2^32 bytes are delivered while a segment is in flight.
        let since = low32(self.delivered).wrapping_sub(segment.delivered);
        self.delivered - u64::from(since)
    }

    /// The given bytes are delivered where no samples are taken; those of `last` were sent last; returns the count of bytes
    /// delivered when that was sent.
    #[inline]
    pub(crate) fn on_delivered_in_order(&mut self, last: &Segment, bytes: u64) -> u64 {
        let prior_delivered = self.delivered_before(last);
        self.delivered += bytes;
        self.first_sent = last.sent;
        prior_delivered
    }

    /// All of an acknowledgement is counted: bytes and the interval of the sample, which is not shorter than any round trip.
    #[inline]
    pub(crate) fn finish(
        &mut self,
        picked: &Picked,
        min_rtt: Option<Span>,
        now: Time,
    ) -> (u64, Span) {
        if self.limited_until != 0 && self.delivered > self.limited_until {
            self.limited_until = 0;
        }
        if !picked.sampled {
            return (0, Span::ZERO);
        }
        self.delivered_at = now;
        let sending = picked.sent.saturating_since(picked.send_state.first_sent);
        let acknowledging = now.saturating_since(picked.send_state.delivered_at);
        let interval = sending.max(acknowledging);
        if min_rtt.is_none_or(|least| interval < least) {
            return (0, Span::ZERO);
        }
        (self.delivered - picked.prior_delivered, interval)
    }

    /// What is sent from now on begins its sample then.
    pub(crate) fn begin_samples_at(&mut self, first_sent: Time) {
        self.first_sent = first_sent;
    }

    /// The application has held the sender back, and not all of that time is over.
    #[inline]
    pub(crate) fn is_limited(&self) -> bool {
        self.limited_until != 0
    }

    /// The application has nothing more to send while `in_flight` bytes are.
    #[inline]
    pub(crate) fn limit(&mut self, in_flight: u64) {
        self.limited_until = (self.delivered + in_flight).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    #[test]
    fn the_rate_is_what_was_delivered_over_the_time_it_took() {
        let mut rate = DeliveryRate::new(Time::ZERO);
        let mut segments = Vec::new();
        for n in 0..4 {
            let mut segment = Segment::new(n * 1000, 1000);
            rate.on_send(&mut segment, n == 0, at(10));
            segments.push((segment, rate.now(0, 0)));
        }
        // One each 10 ms after a round trip of 100 ms.
        for ((segment, state), ms) in segments.iter().zip([110, 120, 130, 140]) {
            let mut picked = Picked::default();
            rate.on_delivered(segment, Some(state), &mut picked);
            let (bytes, interval) = rate.finish(&picked, Some(Span::from_ms(100)), at(ms));
            assert_eq!(bytes, rate.delivered());
            assert_eq!(interval, Span::from_ms(ms - 10));
        }
        // A segment sent at 140 ms, 130 ms after the one sampled last: itself and nothing else in that time.
        let mut segment = Segment::new(4000, 1000);
        rate.on_send(&mut segment, false, at(140));
        let state = rate.now(0, 0);
        let mut picked = Picked::default();
        rate.on_delivered(&segment, Some(&state), &mut picked);
        let sample = rate.finish(&picked, Some(Span::from_ms(100)), at(250));
        assert_eq!(sample, (1000, Span::from_ms(130)));
    }

    #[test]
    fn of_segments_sent_at_once_the_last_is_sampled() {
        // IsNewestPacket: by their numbers where the times are the same.
        let mut rate = DeliveryRate::new(Time::ZERO);
        let segments = [0u64, 1].map(|n| {
            let mut segment = Segment::new(n * 1000, 1000);
            rate.on_send(&mut segment, n == 0, at(10));
            (segment, rate.now((n + 1) * 1000, 0))
        });
        let mut picked = Picked::default();
        for (segment, state) in &segments {
            rate.on_delivered(segment, Some(state), &mut picked);
        }
        assert_eq!(picked.send_state.in_flight, 2000);
    }

    #[test]
    fn bytes_delivered_are_known_beyond_32_bits_of_them() {
        let mut rate = DeliveryRate::new(Time::ZERO);
        rate.delivered = (1 << 32) - 500;
        let mut segments = [Segment::new(0, 1000), Segment::new(1000, 1000)];
        for segment in &mut segments {
            rate.on_send(segment, false, at(1));
        }
        for segment in &segments {
            let mut picked = Picked::default();
            rate.on_delivered(segment, None, &mut picked);
            assert_eq!(picked.prior_delivered, (1 << 32) - 500);
        }
        assert_eq!(rate.delivered(), (1 << 32) + 1500);
    }

    #[test]
    fn an_interval_shorter_than_any_round_trip_is_no_sample() {
        let mut rate = DeliveryRate::new(Time::ZERO);
        let mut segment = Segment::new(0, 1000);
        rate.on_send(&mut segment, true, at(10));
        let state = rate.now(0, 0);
        let mut picked = Picked::default();
        rate.on_delivered(&segment, Some(&state), &mut picked);
        assert_eq!(
            rate.finish(&picked, Some(Span::from_ms(100)), at(20)),
            (0, Span::ZERO)
        );
    }

    #[test]
    fn samples_of_an_idle_application_are_marked_until_what_was_in_flight_is_delivered() {
        let mut rate = DeliveryRate::new(Time::ZERO);
        rate.limit(1000);
        for expected in [true, true, false] {
            let mut segment = Segment::new(0, 1000);
            rate.on_send(&mut segment, false, at(1));
            let state = rate.now(0, 0);
            assert_eq!(state.app_limited, expected);
            let mut picked = Picked::default();
            rate.on_delivered(&segment, Some(&state), &mut picked);
            rate.finish(&picked, None, at(2));
        }
    }
}
