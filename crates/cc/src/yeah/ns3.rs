//! YeAH as ns-3 has it.
//!
//! Source: ns-3.44, read for behaviour: tcp-yeah.cc. Where it is not the paper: delays are smoothed; the part of the base delay that counts as long is
//! an integer quotient, 1 / 8, so that any queue is long; a fall is a part of what is in flight, and wraps around where that is less than two segments.

use super::{DELTA, FAST, Mode, YeahParams};
use crate::Build;
use crate::Phase;
use crate::ns3::{Delays, Ops, State};
use crate::num::{real, whole};
use crate::scalable::Growth;
use sojourn_units::{ParamError, Span};

/// See [`super::Yeah`].
#[derive(Clone, Debug)]
pub(crate) struct Ns3 {
    /// Segments in queues above which the window is reduced early (Q_max).
    alpha: u64,
    /// Queueing delay that counts as long: the base over this.
    phi: u32,
    /// A retreat takes at most this part off: the window over 2 to this power.
    epsilon: u32,
    /// Round trips in slow mode that indicate a competing Reno flow.
    rho: u32,
    growth: Growth,
    delays: Delays,
    /// The byte whose acknowledgement ends the round.
    round_end: u64,
    /// Segments in queues.
    queue: u64,
    mode: Mode,
}

impl Ns3 {
    fn judge(&mut self, state: &mut State, base: f64, least: f64) {
        let mut cwnd = state.window.segments();
        let waiting = least - base;
        self.queue = whole(real(cwnd) / least * waiting);
        // The quotient of integers: 0 for all but 1.
        let long = f64::from(1 / self.phi.max(1));
        if self.queue > self.alpha || waiting / base > long {
            if self.queue > self.alpha && cwnd > self.mode.reno {
                let less = self.queue.min(cwnd >> self.epsilon);
                cwnd = (cwnd - less).max(self.mode.reno);
                state.set_segments(cwnd);
                state.window.ssthresh = state.window.cwnd;
            }
            self.mode.slow(cwnd);
        } else {
            self.mode.fast();
        }
    }
}

impl Build for Ns3 {
    type Params = YeahParams;

    fn build(params: &YeahParams) -> Result<Ns3, ParamError> {
        Ok(Ns3 {
            alpha: params.alpha.into(),
            phi: params.phi,
            epsilon: params.epsilon,
            rho: params.rho,
            growth: Growth::per(FAST),
            delays: Delays::default(),
            round_end: 0,
            queue: 0,
            mode: Mode::default(),
        })
    }
}

impl Ops for Ns3 {
    fn acked(&mut self, _: &mut State, _: u64, srtt: Span, _: &crate::Sample) {
        self.delays.take(srtt);
    }

    fn phase(&mut self, state: &mut State, phase: Phase) {
        if phase == Phase::Open {
            self.round_end = state.next;
            self.delays.begin();
        }
    }

    fn increase(&mut self, state: &mut State, segments: u64) {
        if state.window.in_slow_start() {
            state.slow_start(segments);
        } else if self.mode.slow_rounds == 0 {
            self.growth.avoid(state, segments);
        } else {
            state.avoid(segments);
        }
        if state.una >= self.round_end {
            if let Some((base, least)) = self.delays.judged() {
                self.judge(state, base, least);
            }
            self.round_end = state.next;
            self.delays.begin();
        }
    }

    fn threshold(&mut self, state: &State, in_flight: u64) -> u64 {
        let mss = state.window.mss;
        let flying = in_flight / mss;
        let half = (flying / 2).max(2);
        let off = if self.mode.slow_rounds < self.rho {
            self.queue.max(flying / DELTA).min(half)
        } else {
            half
        };
        self.mode.fall();
        // A difference of 32 bits: less than two segments in flight leave no threshold at all.
        let left = match in_flight.checked_sub(off * mss) {
            Some(left) => left,
            None => (1 << 32) + in_flight - off * mss,
        };
        left.max(2 * mss)
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("queue (segments)", real(self.queue));
    }
}
