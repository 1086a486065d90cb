//! Hybla as ns-3 has it.
//!
//! Source: ns-3.44, read for behaviour: tcp-hybla.cc. Where it is not the paper: how many times longer the round trip is than the reference is found
//! only while the smoothed round trip is the shortest one, that is, at first; slow start opens the window once per acknowledgement, not per segment.

use super::HyblaParams;
use crate::Build;
use crate::ns3::{Ops, State};
use crate::num::{millis, real, whole};
use sojourn_units::{ParamError, Span};

/// Greatest window, bytes: ns-3 keeps it in 32 bits.
const MOST_CWND: u64 = (1 << 32) - 1;

/// See [`super::Hybla`].
#[derive(Clone, Debug)]
pub(crate) struct Ns3 {
    rtt0: Span,
    /// How many times longer the round trip is than the reference.
    rho: f64,
    /// Segments of growth that do not make one.
    rest: f64,
}

impl Build for Ns3 {
    type Params = HyblaParams;

    fn build(params: &HyblaParams) -> Result<Ns3, ParamError> {
        Ok(Ns3 {
            rtt0: params.rtt0,
            rho: 1.0,
            rest: 0.0,
        })
    }
}

impl Ops for Ns3 {
    fn acked(&mut self, state: &mut State, _: u64, srtt: Span, _: &crate::Sample) {
        if srtt == state.least_rtt {
            self.rho = (real(millis(srtt)) / real(millis(self.rtt0))).max(1.0);
        }
    }

    fn increase(&mut self, state: &mut State, segments: u64) {
        let mut left = segments;
        if state.window.in_slow_start() && left > 0 {
            let step = (libm::pow(2.0, self.rho) - 1.0) * real(state.window.mss);
            let opened = state.window.cwnd.saturating_add(whole(step)).min(MOST_CWND);
            state.window.cwnd = opened.min(state.window.ssthresh);
            left -= 1;
        }
        if state.window.in_slow_start() {
            return;
        }
        for _ in 0..left {
            self.rest += self.rho * self.rho / real(state.window.segments());
        }
        if self.rest >= 1.0 {
            let steps = whole(self.rest);
            self.rest -= real(steps);
            state.window.cwnd += steps * state.window.mss;
        }
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("rho", self.rho);
    }
}
