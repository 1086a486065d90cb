//! BIC as Linux has it.
//!
//! Source: tcp_bic.c of Linux 6.1.192, read for behaviour. Where it is not the paper: what one segment of growth costs is computed anew for a new window or
//! after 1/32 s, and divided by the segments per acknowledgement that are usual while nothing is missing, taken for two at first.

use super::{BicParams, Search};
use crate::Build;
use crate::Phase;
use crate::linux::{Ops, State};
use crate::num::{real, whole};
use sojourn_units::ParamError;

/// Scales of the fall and of the segments per acknowledgement.
const SCALE: u64 = 1024;
const PART: u64 = 16;

/// Ticks after which the cost is computed anew.
const STALE: u64 = 1000 / 32;

/// See [`super::Bic`].
#[derive(Clone, Debug)]
pub(crate) struct Linux {
    search: Search,
    /// 1024ths.
    beta: u64,
    fast_convergence: bool,
    /// Acknowledged segments for one of growth.
    per: u64,
    /// The window when the growth was last computed, segments.
    last_cwnd: u64,
    /// When that was, milliseconds.
    last_time: u64,
    /// Segments per acknowledgement, 16ths.
    delayed: u64,
}

impl Linux {
    fn reset(&mut self) {
        self.per = 0;
        self.search.last_max = 0;
        self.last_cwnd = 0;
        self.last_time = 0;
        self.delayed = 2 * PART;
    }

    fn update(&mut self, cwnd: u64, ticks: u64) {
        if self.last_cwnd == cwnd && ticks - self.last_time <= STALE {
            return;
        }
        self.last_cwnd = cwnd;
        self.last_time = ticks;
        self.per = self.search.per(cwnd);
        if !self.search.is_low(cwnd) {
            self.per = (self.per * PART / self.delayed).max(1);
        }
    }
}

impl Build for Linux {
    type Params = BicParams;

    fn build(params: &BicParams) -> Result<Linux, ParamError> {
        Ok(Linux {
            search: Search::new(params),
            beta: whole(params.beta.get() * real(SCALE)),
            fast_convergence: params.fast_convergence,
            per: 0,
            last_cwnd: 0,
            last_time: 0,
            delayed: 2 * PART,
        })
    }
}

impl Ops for Linux {
    fn acked(&mut self, state: &mut State, segments: u64, _: Option<u64>, _: &crate::Sample) {
        if state.phase == Phase::Open {
            self.delayed = self.delayed + segments - self.delayed / PART;
        }
    }

    fn phase(&mut self, _: &mut State, phase: Phase) {
        if phase == Phase::Loss {
            self.reset();
        }
    }

    fn avoid(&mut self, state: &mut State, acked: u64, limited: bool) {
        if let Some(left) = state.rest(acked, limited) {
            self.update(state.cwnd, state.ticks());
            state.avoid(self.per, left);
        }
    }

    fn threshold(&mut self, state: &State) -> u64 {
        let cwnd = state.cwnd;
        self.search.last_max = if cwnd < self.search.last_max && self.fast_convergence {
            cwnd * (SCALE + self.beta) / (2 * SCALE)
        } else {
            cwnd
        };
        if self.search.is_low(cwnd) {
            state.half()
        } else {
            (cwnd * self.beta / SCALE).max(2)
        }
    }
}
