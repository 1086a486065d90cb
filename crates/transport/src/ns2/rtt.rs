//! The retransmission timer's value: integer arithmetic in clock ticks (Jacobson and Karels 1988, as ns-2 has it).

use super::Ns2Params;
use sojourn_units::{Span, Time};

/// Smoothed round-trip time, its deviation, and the timeout that follows from them.
#[derive(Clone, Debug)]
pub(super) struct RttEstimator {
    tick: Span,
    /// Phase of the tick clock: how long before the start of the run it ticked last.
    phase: Span,
    /// Ticks times 8; 0 before the first sample and after a long back-off.
    srtt: u64,
    /// Ticks times 4.
    rttvar: u64,
    /// The timeout before the minimum and the back-off apply.
    timeout: Span,
    backoff: u64,
    min: Span,
    max: Span,
}

impl RttEstimator {
    pub(super) fn new(params: &Ns2Params, phase: Span) -> Self {
        RttEstimator {
            tick: params.tick,
            phase,
            srtt: 0,
            // Nothing reads the initial deviation: the first sample sets it.
            rttvar: 0,
            timeout: params.rto_initial,
            backoff: 1,
            min: params.rto_min,
            max: params.rto_max,
        }
    }

    /// Takes in the round trip of a packet sent at `sent` and acknowledged at `now`: the ticks that passed on the clock.
    pub(super) fn sample(&mut self, sent: Time, now: Time) {
        let tick = self.tick.as_ps();
        let offset = (sent.as_ps() + self.phase.as_ps()) % tick;
        let measured = ((now.since(sent).as_ps() + offset) / tick).max(1);
        if self.srtt == 0 {
            self.srtt = measured << 3;
            self.rttvar = measured << 1;
        } else {
            let mean = self.srtt >> 3;
            self.srtt = (self.srtt + measured - mean).max(1);
            let error = measured.abs_diff(mean);
            self.rttvar = (self.rttvar - (self.rttvar >> 2) + error).max(1);
        }
        self.timeout = self.tick * (((self.rttvar << 3) + self.srtt) >> 3);
    }

    /// The timeout: the minimum applies before the back-off.
    pub(super) fn rto(&self) -> Span {
        self.timeout
            .max(self.min)
            .saturating_mul(self.backoff)
            .min(self.max)
            .max(self.tick * 2)
    }

    /// Doubles the timeout; beyond eightfold the estimate is given up and the next sample starts afresh.
    pub(super) fn back_off(&mut self) {
        if self.backoff < 64 || self.rto() < self.max {
            self.backoff = self.backoff.saturating_mul(2);
        }
        if self.backoff > 8 {
            self.rttvar += self.srtt >> 3;
            self.srtt = 0;
        }
    }

    /// A timed packet was acknowledged: the back-off ends.
    pub(super) fn end_back_off(&mut self) {
        self.backoff = 1;
    }

    /// The smoothed round-trip time, once there is one.
    pub(super) fn smoothed(&self) -> Option<Span> {
        (self.srtt > 0).then(|| self.tick * self.srtt / 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimator(phase_ms: u64) -> RttEstimator {
        RttEstimator::new(&Ns2Params::default(), Span::from_ms(phase_ms))
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    #[test]
    fn a_round_trip_counts_the_ticks_that_passed() {
        // 25 ms from 4 ms after a tick see ticks at 10 and 20 ms; from 6 ms after one, a third at 30 ms.
        for (phase, ticks) in [(4, 2), (6, 3)] {
            let mut rtt = estimator(phase);
            rtt.sample(at(100), at(125));
            assert_eq!(rtt.smoothed(), Some(Span::from_ms(10 * ticks)));
        }
        let mut rtt = estimator(0);
        rtt.sample(at(100), at(101));
        assert_eq!(rtt.smoothed(), Some(Span::from_ms(10)), "at least one tick");
    }

    #[test]
    fn the_timeout_is_the_mean_and_four_deviations_with_the_minimum_before_the_back_off() {
        let mut rtt = estimator(0);
        assert_eq!(rtt.rto(), Span::from_secs(3));
        rtt.sample(at(0), at(100));
        // 10 ticks and a deviation of 5: 10 + 4 * 5.
        assert_eq!(rtt.rto(), Span::from_ms(300));
        for _ in 0..50 {
            rtt.sample(at(0), at(100));
        }
        rtt.back_off();
        assert_eq!(rtt.rto(), Span::from_ms(400), "200 ms doubled");
        rtt.end_back_off();
        assert_eq!(rtt.rto(), Span::from_ms(200));
    }

    #[test]
    fn backing_off_ends_at_the_maximum_and_forgets_the_estimate_beyond_eightfold() {
        let mut rtt = estimator(0);
        rtt.sample(at(0), at(100));
        for _ in 0..3 {
            rtt.back_off();
        }
        assert_eq!(
            (rtt.rto(), rtt.smoothed().is_some()),
            (Span::from_ms(2400), true)
        );
        rtt.back_off();
        assert_eq!(rtt.smoothed(), None);
        for _ in 0..20 {
            rtt.back_off();
        }
        assert_eq!(rtt.rto(), Span::from_secs(60));
    }
}
