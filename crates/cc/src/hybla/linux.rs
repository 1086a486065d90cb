//! Hybla as Linux has it.
//!
//! Source: tcp_hybla.c of Linux 6.1.192, read for behaviour. Where it is not the paper: rho, in eighths, is that of the smoothed round trip, computed anew
//! when that has a new least value; a connection begins with rho segments, rounded down, not with its initial window; growth counts
//! acknowledgements, not segments; while anything is missing it is Reno, and falls are Reno's.

use super::HyblaParams;
use crate::Build;
use crate::Phase;
use crate::linux::{Ops, State};
use crate::num::{micros, real};
use sojourn_units::{ParamError, Span};

/// 128 * 2^(n/8), as the kernel's table has it.
const POWERS: [u64; 8] = [128, 139, 152, 165, 181, 197, 215, 234];

/// Greatest whole part of rho in slow start, and the greatest window.
const MOST_RHO: u64 = 16;
const MOST_CWND: u64 = 65_535;

/// See [`super::Hybla`].
#[derive(Clone, Debug)]
pub(crate) struct Linux {
    /// Microseconds.
    rtt0: u64,
    on: bool,
    /// Eighths.
    rho: u64,
    least: Span,
    /// 128ths of a segment of growth.
    cents: u64,
}

impl Linux {
    fn update(&mut self, srtt: Span) {
        self.rho = (micros(srtt * 8) / self.rtt0).max(8);
        self.least = srtt;
    }
}

impl Build for Linux {
    type Params = HyblaParams;

    fn build(params: &HyblaParams) -> Result<Linux, ParamError> {
        Ok(Linux {
            rtt0: micros(params.rtt0).max(1),
            on: true,
            rho: 8,
            least: Span::ZERO,
            cents: 0,
        })
    }
}

impl Ops for Linux {
    fn init(&mut self, state: &mut State) {
        self.update(state.srtt);
        state.cwnd = self.rho / 8;
    }

    fn phase(&mut self, _: &mut State, phase: Phase) {
        self.on = phase == Phase::Open;
    }

    fn avoid(&mut self, state: &mut State, acked: u64, limited: bool) {
        if state.srtt < self.least {
            self.update(state.srtt);
        }
        if !limited {
            return;
        }
        if !self.on {
            state.reno(acked, limited);
            return;
        }
        let slow_start = state.in_slow_start();
        let increment = if slow_start {
            let power = POWERS[usize::try_from(self.rho % 8).unwrap_or(0)];
            (power << (self.rho / 8).min(MOST_RHO)) - 128
        } else {
            let increment = 2 * self.rho * self.rho / state.cwnd;
            if increment < 128 {
                state.counted += 1;
            }
            increment
        };
        state.cwnd += increment / 128;
        self.cents += increment % 128;
        if self.cents >= 128 {
            state.cwnd += 1;
            self.cents -= 128;
            state.counted = 0;
        }
        if increment == 0 && state.counted >= state.cwnd {
            state.cwnd += 1;
            state.counted = 0;
        }
        if slow_start {
            state.cwnd = state.cwnd.min(state.ssthresh);
        }
        state.cwnd = state.cwnd.min(MOST_CWND);
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("rho", real(self.rho) / 8.0);
    }
}
