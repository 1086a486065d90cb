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
