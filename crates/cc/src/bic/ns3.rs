//! BIC as ns-3 has it.
//!
//! Source: ns-3.44, read for behaviour: tcp-bic.cc. Where it is not Linux: an acknowledgement counts for one segment in slow start and for the rest in
//! the search; more than the count, not as much as it, opens the window, and the rest is forgotten; a window that shrinks is remembered as the part
//! beta of itself; below the low window half of what is in flight remains.

use super::{BicParams, Search};
use crate::Build;
use crate::ns3::{Ops, State};
use crate::num::{real, scaled, whole};
use sojourn_units::ParamError;

/// See [`super::Bic`].
#[derive(Clone, Debug)]
pub(crate) struct Ns3 {
    search: Search,
    /// Factor by which a loss multiplies the window.
    beta: f64,
    fast_convergence: bool,
    /// Segments acknowledged towards the next one of growth (m_cWndCnt). ns-3's `uint32_t` wraps.
    counted: u32,
}

impl Build for Ns3 {
    type Params = BicParams;

    fn build(params: &BicParams) -> Result<Ns3, ParamError> {
        let mut search = Search::new(params);
        // Less than the low window, not as much as it, is low.
        search.set_low(params.low_window.saturating_sub(1));
        Ok(Ns3 {
            search,
            beta: params.beta.get(),
            fast_convergence: params.fast_convergence,
            counted: 0,
        })
    }
}

impl Ops for Ns3 {
    fn increase(&mut self, state: &mut State, segments: u64) {
        // An acknowledgement that ends a recovery from a timeout exactly brings no segment. Slow start takes one from it all the same, and the
        // count wraps.
        let mut left = u32::try_from(segments).unwrap_or(u32::MAX);
        if state.window.in_slow_start() {
            state.window.cwnd += state.window.mss;
            left = left.wrapping_sub(1);
        }
        if !state.window.in_slow_start() && left > 0 {
            self.counted = self.counted.wrapping_add(left);
            let per = self.search.per(state.window.segments()).max(1);
            if u64::from(self.counted) > per {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::Window;
    use crate::window::tests::MSS;
    use sojourn_units::{Span, Time};

    fn state(cwnd: u64, ssthresh: u64) -> State {
        let mut window = Window::new();
        window.mss = MSS;
        window.cwnd = cwnd * MSS;
        window.ssthresh = ssthresh * MSS;
        State {
            window,
            now: Time::ZERO,
            una: 0,
            next: 0,
            least_rtt: Span::ZERO,
            phase: crate::Phase::Open,
        }
    }

    #[test]
    fn no_segment_at_the_end_of_slow_start_counts_as_all_of_32_bits() {
        let mut bic = Ns3::build(&BicParams::default()).unwrap();
        let mut state = state(9, 10);
        bic.increase(&mut state, 0);
        assert_eq!(state.window.cwnd, 11 * MSS, "one by each rule");
        assert_eq!(bic.counted, 0);
        let mut bic = Ns3::build(&BicParams::default()).unwrap();
        bic.counted = 3;
        let mut state = self::state(9, 10);
        bic.increase(&mut state, 0);
        assert_eq!(state.window.cwnd, 10 * MSS, "the count wraps to one less");
        assert_eq!(bic.counted, 2);
    }

    #[test]
    fn slow_start_short_of_the_threshold_leaves_the_count_alone() {
        let mut bic = Ns3::build(&BicParams::default()).unwrap();
        let mut state = state(8, 10);
        bic.increase(&mut state, 0);
        assert_eq!((state.window.cwnd, bic.counted), (9 * MSS, 0));
    }
}
