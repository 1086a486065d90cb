//! YeAH as Linux has it.
//!
//! Source: tcp_yeah.c of Linux 6.1.192, read for behaviour. Where it is not the paper: delays are Vegas' of Linux, and a round trip is judged with at least three
//! of them; what waits is a whole number of segments; a loss takes that off, at least an eighth of the window, at most half.

use super::{DELTA, FAST, Mode, YeahParams};
use crate::Build;
use crate::Phase;
use crate::linux::{Delays, Event, Ops, State};
use crate::num::real;
use sojourn_units::ParamError;

/// See [`super::Yeah`].
#[derive(Clone, Debug)]
pub(crate) struct Linux {
    /// Segments in queues above which the window is reduced early (Q_max).
    alpha: u64,
    /// Queueing delay that counts as long: the base over this.
    phi: u64,
    /// A retreat takes at most this part off: the window over 2 to this power.
    epsilon: u32,
    /// Round trips in slow mode that indicate a competing Reno flow.
    rho: u32,
    /// The byte whose acknowledgement ends the round.
    round_end: u64,
    delays: Delays,
    /// Segments in queues.
    queue: u64,
    mode: Mode,
}

impl Linux {
    fn judge(&mut self, state: &mut State) {
        let Delays { base, least, .. } = self.delays;
        self.queue = state.cwnd * (least - base) / least;
        if self.queue > self.alpha || least - base > base / self.phi {
            if self.queue > self.alpha && state.cwnd > self.mode.reno {
                let less = self.queue.min(state.cwnd >> self.epsilon);
                state.cwnd = (state.cwnd - less).max(self.mode.reno);
                state.ssthresh = state.cwnd;
            }
            self.mode.slow(state.cwnd);
        } else {
            self.mode.fast();
        }
    }

    fn grow(&self, state: &mut State, acked: u64) {
        if let Some(left) = state.rest(acked, true) {
            let fast = self.mode.slow_rounds == 0;
            let most = if fast { FAST } else { u64::MAX };
            state.avoid(state.cwnd.min(most), left);
        }
    }
}

impl Build for Linux {
    type Params = YeahParams;

    fn build(params: &YeahParams) -> Result<Linux, ParamError> {
        Ok(Linux {
            alpha: params.alpha.into(),
            phi: params.phi.into(),
            epsilon: params.epsilon,
            rho: params.rho,
            round_end: 0,
            delays: Delays::default(),
            queue: 0,
            mode: Mode::default(),
        })
    }
}

impl Ops for Linux {
    fn acked(&mut self, _: &mut State, _: u64, rtt: Option<u64>, _: &crate::Sample) {
        self.delays.take(rtt);
    }

    fn phase(&mut self, state: &mut State, phase: Phase) {
        if phase == Phase::Open {
            self.round_end = state.next;
            self.delays.begin();
        }
    }

    fn event(&mut self, state: &mut State, event: Event) {
        if event == Event::TxStart {
            self.round_end = state.next;
            self.delays = Delays::default();
        }
    }

    fn avoid(&mut self, state: &mut State, acked: u64, limited: bool) {
        if !limited {
            return;
        }
        self.grow(state, acked);
        if state.una > self.round_end {
            if self.delays.suffice() {
                self.judge(state);
            }
            self.round_end = state.next;
            self.delays.begin();
        }
    }

    fn threshold(&mut self, state: &State) -> u64 {
        let less = if self.mode.slow_rounds < self.rho {
            self.queue.min(state.half()).max(state.cwnd / DELTA)
        } else {
            state.half()
        };
        self.mode.fall();
        state.cwnd.saturating_sub(less).max(2)
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("queue (segments)", real(self.queue));
    }
}
