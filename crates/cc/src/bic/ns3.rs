//! BIC as ns-3 has it.
//!
//! Source: ns-3.44, read for behaviour: tcp-bic.cc. Where it is not Linux: an acknowledgement counts for one segment in slow start and for the rest in
//! the search; more than the count, not as much as it, opens the window, and the rest is forgotten; a window that shrinks is remembered as the part
//! beta of itself; below the low window half of what is in flight remains.

use super::{BicParams, Search};
use crate::ns3::{Ops, State};
use crate::num::{real, scaled, whole};

/// See [`super::Bic`].
#[derive(Clone, Debug)]
pub(crate) struct Ns3 {
    search: Search,
    beta: f64,
    fast_convergence: bool,
    /// Segments acknowledged towards the next one of growth.
    counted: u64,
}

impl Ns3 {
    pub(crate) fn new(params: &BicParams) -> Ns3 {
        let mut search = Search::new(params);
        // Less than the low window, not as much as it, is low.
        search.set_low(params.low_window.saturating_sub(1));
        Ns3 {
            search,
            beta: params.beta.get(),
            fast_convergence: params.fast_convergence,
            counted: 0,
        }
    }
}

impl Ops for Ns3 {
    fn increase(&mut self, state: &mut State, segments: u64) {
        let mut left = segments;
        if state.window.in_slow_start() {
            state.window.cwnd += state.window.mss;
            left = left.saturating_sub(1);
        }
        if !state.window.in_slow_start() && left > 0 {
            self.counted += left;
            if self.counted > self.search.per(state.window.segments()).max(1) {
                state.window.cwnd += state.window.mss;
                self.counted = 0;
            }
        }
    }

    fn threshold(&mut self, state: &State, in_flight: u64) -> u64 {
        let (cwnd, mss) = (state.window.segments(), state.window.mss);
        let shrinks = self.fast_convergence && cwnd < self.search.last_max;
        self.search.last_max = if shrinks {
            scaled(cwnd, self.beta)
        } else {
            cwnd
        };
        if self.search.is_low(cwnd) {
            (in_flight / 2).max(2 * mss)
        } else {
            whole((real(cwnd) * self.beta).max(2.0) * real(mss))
        }
    }
}
