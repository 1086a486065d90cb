//! Illinois as ns-3 has it.
//!
//! Source: ns-3.44, read for behaviour: tcp-illinois.cc. Where it is not Linux: delays are smoothed and compared in whole milliseconds; the window below
//! which it is Reno is compared with bytes, so that it is never Reno; rounds with a short queue are counted from the first one on; windows are
//! whole segments, the fall a part of what is in flight.

use super::{IllinoisParams, Law};
use crate::Build;
use crate::Phase;
use crate::control::in_order;
use crate::ns3::{Ops, State};
use crate::num::{millis, real, whole};
use sojourn_units::{ParamError, Span};

/// See [`super::Illinois`].
#[derive(Clone, Debug)]
pub(crate) struct Ns3 {
    law: Law,
    /// Window up to which it is Reno, compared with bytes.
    win_thresh: u64,
    /// Number of round trips with a short queue before growth is at its maximum again.
    theta: u32,
    base: Option<Span>,
    most: Span,
    sum: Span,
    /// Round trips measured in this round.
    samples: u64,
    /// The byte whose acknowledgement ends the round.
    round_end: u64,
    above: bool,
    /// Rounds with a short queue so far.
    low_rounds: u32,
    /// Segments acknowledged towards the next one of growth.
    counted: u64,
}

impl Ns3 {
    /// RecalcParam.
    fn judge(&mut self, cwnd: u64) {
        if cwnd < self.win_thresh {
            self.law.rest();
        } else if let Some(base) = self.base
            && self.samples > 0
        {
            let longest = real(millis(self.most.saturating_sub(base)));
            let mean = real(millis((self.sum / self.samples).saturating_sub(base)));
            self.law.set_beta(longest, mean);
            if mean > longest / 100.0 {
                self.above = true;
                self.law.set_alpha(longest, mean);
                return;
            }
            self.low_rounds += 1;
            let settled = self.low_rounds >= self.theta;
            if settled || !self.above {
                self.law.alpha = self.law.alpha_range.1;
            }
            if settled {
                self.low_rounds = 0;
                self.above = false;
            }
        }
    }

    fn begin_round(&mut self, next: u64) {
        self.round_end = next;
        self.samples = 0;
        self.sum = Span::ZERO;
    }
}

impl Build for Ns3 {
    type Params = IllinoisParams;

    fn build(params: &IllinoisParams) -> Result<Ns3, ParamError> {
        let holds = params.beta_min <= params.beta_max;
        in_order(params, holds, "beta_min", "beta_max")?;
        let mut law = Law::new(params);
        law.beta = law.beta_range.1;
        Ok(Ns3 {
            law,
            win_thresh: params.win_thresh.into(),
            theta: params.theta,
            base: None,
            most: Span::ZERO,
            sum: Span::ZERO,
            samples: 0,
            round_end: 0,
            above: false,
            low_rounds: 0,
            counted: 0,
        })
    }
}

impl Ops for Ns3 {
    fn acked(&mut self, _: &mut State, _: u64, srtt: Span, _: &crate::Sample) {
        if srtt.is_zero() {
            return;
        }
        self.base = Some(self.base.map_or(srtt, |base| base.min(srtt)));
        self.most = self.most.max(srtt);
        self.samples += 1;
        self.sum += srtt;
    }

    fn phase(&mut self, state: &mut State, phase: Phase) {
        if phase == Phase::Loss {
            self.law.rest();
            self.low_rounds = 0;
            self.above = false;
            self.begin_round(state.next);
        }
    }

    fn increase(&mut self, state: &mut State, segments: u64) {
        if state.una >= self.round_end {
            self.judge(state.window.cwnd);
            self.begin_round(state.next);
        }
        if state.window.in_slow_start() {
            state.slow_start(segments);
            return;
        }
        self.counted = whole(real(self.counted) + real(segments) * self.law.alpha);
        state.grow_by(&mut self.counted);
    }

    fn threshold(&mut self, state: &State, in_flight: u64) -> u64 {
        let mss = state.window.mss;
        whole(((1.0 - self.law.beta) * real(in_flight / mss)).max(2.0)) * mss
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        self.law.series(tell);
    }
}
