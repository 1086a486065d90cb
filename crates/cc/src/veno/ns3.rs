//! Veno as ns-3 has it.
//!
//! Source: ns-3.44, read for behaviour: tcp-veno.cc. Where it is not the paper: what waits is judged at every acknowledgement, from the smoothed delay
//! since the last one, which leaves fewer samples than the rule asks for. The window therefore grows as NewReno's, and only the fall is Veno's.

use super::VenoParams;
use crate::Build;
use crate::Phase;
use crate::ns3::{Delays, Ops, State};
use crate::num::{real, scaled, whole};
use sojourn_units::{ParamError, Span};

/// See [`super::Veno`].
#[derive(Clone, Debug)]
pub(crate) struct Ns3 {
    /// Segments in queues from which the path counts as congested.
    beta: u64,
    delays: Delays,
    on: bool,
    /// Segments in queues.
    waiting: u64,
    /// The next acknowledgement in turn grows, where every other one does.
    turn: bool,
}

impl Build for Ns3 {
    type Params = VenoParams;

    fn build(params: &VenoParams) -> Result<Ns3, ParamError> {
        Ok(Ns3 {
            beta: params.beta.into(),
            delays: Delays::default(),
            on: true,
            waiting: 0,
            turn: true,
        })
    }
}

impl Ops for Ns3 {
    fn acked(&mut self, _: &mut State, _: u64, srtt: Span, _: &crate::Sample) {
        self.delays.take(srtt);
    }

    fn phase(&mut self, _: &mut State, phase: Phase) {
        self.on = phase == Phase::Open;
        if self.on {
            self.delays.forget();
        }
    }

    fn increase(&mut self, state: &mut State, segments: u64) {
        let cwnd = state.window.segments();
        // Without a delay since the last acknowledgement, all of the window counts as waiting.
        let part = self
            .delays
            .shortest()
            .map_or(0.0, |(base, least)| base / least);
        self.waiting = cwnd.saturating_sub(whole(real(cwnd) * part));
        if !self.on {
            state.increase(segments, State::avoid);
            return;
        }
        if !self.delays.suffice() {
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
        self.delays.begin();
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
