//! Vegas as ns-3 has it.
//!
//! Source: ns-3.44, read for behaviour: tcp-vegas.cc. Where it is not Linux: delays are smoothed round trips, those of repeated acknowledgements, too; a
//! round trip ends when all is acknowledged that was outstanding when it began; what waits is the window less what the rate of the round needs at no
//! delay; a loss leaves the threshold of before, or a segment less than the window, whichever is less.

use super::VegasParams;
use crate::Build;
use crate::Phase;
use crate::control::in_order;
use crate::ns3::{Delays, Ops, State};
use crate::num::{real, whole};
use sojourn_units::{ParamError, Span};

/// See [`super::Vegas`].
#[derive(Clone, Debug)]
pub(crate) struct Ns3 {
    /// Segments in queues below which the window grows.
    alpha: u64,
    /// Segments in queues above which the window shrinks.
    beta: u64,
    /// Segments in queues that end slow start.
    gamma: u64,
    delays: Delays,
    /// The byte whose acknowledgement ends the round.
    round_end: u64,
    on: bool,
}

impl Ns3 {
    fn below(state: &State) -> u64 {
        let window = &state.window;
        let below = window.cwnd.saturating_sub(window.mss);
        window.ssthresh.min(below).max(2 * window.mss)
    }

    fn judge(&mut self, state: &mut State, segments: u64, part: f64) {
        let cwnd = state.window.segments();
        let target = whole(real(cwnd) * part);
        let waiting = cwnd.saturating_sub(target);
        if state.window.in_slow_start() {
            if waiting > self.gamma {
                state.set_segments(cwnd.min(target + 1));
                state.window.ssthresh = Ns3::below(state);
            } else {
                state.slow_start(segments);
            }
        } else if waiting > self.beta {
            state.set_segments(cwnd - 1);
            state.window.ssthresh = Ns3::below(state);
        } else if waiting < self.alpha {
            state.set_segments(cwnd + 1);
        }
        let most = 3 * state.window.cwnd / 4;
        state.window.ssthresh = state.window.ssthresh.max(most);
    }
}

impl Build for Ns3 {
    type Params = VegasParams;

    fn build(params: &VegasParams) -> Result<Ns3, ParamError> {
        in_order(params, params.alpha <= params.beta, "alpha", "beta")?;
        Ok(Ns3 {
            alpha: params.alpha.into(),
            beta: params.beta.into(),
            gamma: params.gamma.into(),
            delays: Delays::default(),
            round_end: 0,
            on: true,
        })
    }
}

impl Ops for Ns3 {
    fn acked(&mut self, _: &mut State, _: u64, srtt: Span, _: &crate::Sample) {
        self.delays.take(srtt);
    }

    fn phase(&mut self, state: &mut State, phase: Phase) {
        self.on = phase == Phase::Open;
        if self.on {
            self.round_end = state.next;
            self.delays.begin();
        }
    }

    fn increase(&mut self, state: &mut State, segments: u64) {
        if !self.on {
            state.increase(segments, State::avoid);
        } else if state.una >= self.round_end {
            self.round_end = state.next;
            match self.delays.judged() {
                Some((base, least)) => self.judge(state, segments, base / least),
                None => state.increase(segments, State::avoid),
            }
            self.delays.begin();
        } else if state.window.in_slow_start() {
            state.slow_start(segments);
        }
    }

    fn threshold(&mut self, state: &State, _: u64) -> u64 {
        Ns3::below(state)
    }
}
