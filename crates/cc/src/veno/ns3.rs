//! Veno as ns-3 has it.
//!
//! Source: ns-3.44, read for behaviour: tcp-veno.cc. Where it is not the paper: what waits is judged at every acknowledgement, from the smoothed delay
//! since the last one, which leaves fewer samples than the rule asks for. The window therefore grows as NewReno's, and only the fall is Veno's.

use super::VenoParams;
use crate::Phase;
use crate::ns3::{Ops, State};
use crate::num::{real, scaled, seconds, whole};
use sojourn_units::Span;

/// Samples up to which the rule is not followed.
const FEW: u32 = 2;

/// See [`super::Veno`].
#[derive(Clone, Debug)]
pub(crate) struct Ns3 {
    beta: u64,
    base: Option<Span>,
    least: Option<Span>,
    samples: u32,
    on: bool,
    /// Segments in queues.
    waiting: u64,
    /// The next acknowledgement in turn grows, where every other one does.
    turn: bool,
}

impl Ns3 {
    pub(crate) fn new(params: &VenoParams) -> Ns3 {
        Ns3 {
            beta: params.beta.into(),
            base: None,
            least: None,
            samples: 0,
            on: true,
            waiting: 0,
            turn: true,
        }
    }
}

impl Ops for Ns3 {
    fn acked(&mut self, _: &mut State, _: u64, srtt: Span, _: &crate::Sample) {
        if srtt.is_zero() {
            return;
        }
        self.least = Some(self.least.map_or(srtt, |least| least.min(srtt)));
        self.base = Some(self.base.map_or(srtt, |base| base.min(srtt)));
        self.samples += 1;
    }

    fn phase(&mut self, _: &mut State, phase: Phase) {
        self.on = phase == Phase::Open;
        if self.on {
            self.least = None;
        }
    }

    fn increase(&mut self, state: &mut State, segments: u64) {
        let cwnd = state.window.segments();
        let part = match (self.base, self.least) {
            (Some(base), Some(least)) => seconds(base) / seconds(least),
            _ => 0.0,
        };
        self.waiting = cwnd.saturating_sub(whole(real(cwnd) * part));
        if !self.on {
            state.increase(segments, State::avoid);
            return;
        }
        if self.samples <= FEW {
            state.increase(segments, State::avoid);
        } else if state.window.in_slow_start() {
            state.slow_start(segments);
        } else if self.waiting < self.beta {
            state.avoid(segments);
        } else {
            if self.turn {
                state.avoid(segments);
            }
            self.turn = !self.turn;
        }
        self.samples = 0;
        self.least = None;
    }

    fn threshold(&mut self, state: &State, in_flight: u64) -> u64 {
        let to = if self.waiting < self.beta {
            scaled(in_flight, 4.0 / 5.0)
        } else {
            in_flight / 2
        };
        to.max(2 * state.window.mss)
    }
}
