//! Veno as Linux has it.
//!
//! Source: tcp_veno.c of Linux 6.1.192, read for behaviour. Where it is not the paper: what waits is judged for each acknowledgement, by its own sample of
//! delay, in half segments; in a congested path what is acknowledged with the last segment of a round is forgotten; while anything is missing it is Reno.

use super::VenoParams;
use crate::Build;
use crate::Phase;
use crate::linux::{Delays, Event, NO_DELAY, Ops, State};
use crate::num::real;
use sojourn_units::ParamError;

/// See [`super::Veno`].
#[derive(Clone, Debug)]
pub(crate) struct Linux {
    /// Half segments.
    beta: u64,
    /// Segments in queues, half segments.
    waiting: u64,
    on: bool,
    /// A round in a congested path opens the window.
    opens: bool,
    delays: Delays,
}

impl Linux {
    fn judge(&mut self, state: &mut State, acked: u64) {
        let twice = 2 * state.cwnd;
        self.waiting = twice - twice * self.delays.base / self.delays.least;
        let Some(left) = state.rest(acked, true) else {
            return;
        };
        if self.waiting < self.beta {
            state.avoid(state.cwnd, left);
        } else if state.counted >= state.cwnd {
            state.cwnd += u64::from(self.opens);
            self.opens = !self.opens;
            state.counted = 0;
        } else {
            state.counted += left;
        }
    }
}

impl Build for Linux {
    type Params = VenoParams;

    fn build(params: &VenoParams) -> Result<Linux, ParamError> {
        Ok(Linux {
            beta: 2 * u64::from(params.beta),
            waiting: 0,
            on: true,
            opens: true,
            delays: Delays::default(),
        })
    }
}

impl Ops for Linux {
    fn acked(&mut self, _: &mut State, _: u64, rtt: Option<u64>, _: &crate::Sample) {
        self.delays.take(rtt);
        // A count of 16 bits that is never begun anew.
        self.delays.samples %= 1 << 16;
    }

    fn phase(&mut self, _: &mut State, phase: Phase) {
        self.on = phase == Phase::Open;
        if self.on {
            self.delays.least = NO_DELAY;
        }
    }

    fn event(&mut self, _: &mut State, event: Event) {
        if event == Event::TxStart {
            self.on = true;
            self.opens = true;
            self.delays.base = NO_DELAY;
            self.delays.least = NO_DELAY;
        }
    }

    fn avoid(&mut self, state: &mut State, acked: u64, limited: bool) {
        if !self.on {
            state.reno(acked, limited);
            return;
        }
        if !limited {
            return;
        }
        if self.delays.suffice() {
            self.judge(state, acked);
            state.cwnd = state.cwnd.max(2);
        } else {
            state.reno(acked, limited);
        }
        self.delays.least = NO_DELAY;
    }

    fn threshold(&mut self, state: &State) -> u64 {
        if self.waiting < self.beta {
            (state.cwnd * 4 / 5).max(2)
        } else {
            state.half()
        }
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("waiting (segments)", real(self.waiting) / 2.0);
    }
}
