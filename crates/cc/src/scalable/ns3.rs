//! Scalable TCP as ns-3 has it.
//!
//! Source: ns-3.44, read for behaviour: tcp-scalable.cc. Where it is not Linux: the rest of a count that opens the window is forgotten; windows are
//! whole segments; the fall is a part of what is in flight.

use super::ScalableParams;
use crate::Build;
use crate::ns3::{Ops, State};
use crate::num::{real, whole};
use sojourn_units::ParamError;

/// The rule of growth: one segment for a fixed number of segments, or for a window, if that is less.
#[derive(Clone, Debug)]
pub(crate) struct Growth {
    /// Segments (AIFactor).
    per: u64,
    /// Segments acknowledged towards the next one of growth.
    counted: u64,
}

impl Growth {
    pub(crate) fn per(per: u64) -> Growth {
        Growth { per, counted: 0 }
    }

    /// CongestionAvoidance.
    pub(crate) fn avoid(&mut self, state: &mut State, segments: u64) {
        let before = state.window.segments();
        let per = before.min(self.per).max(1);
        let mut cwnd = before;
        if self.counted >= per {
            self.counted = 0;
            cwnd += 1;
        }
        self.counted += segments;
        if self.counted >= per {
            cwnd += self.counted / per;
            self.counted = 0;
        }
        if cwnd != before {
            state.set_segments(cwnd);
        }
    }
}

/// See [`super::Scalable`].
#[derive(Clone, Debug)]
pub(crate) struct Ns3 {
    growth: Growth,
    /// Fraction by which a loss reduces the window.
    decrease: f64,
}

impl Build for Ns3 {
    type Params = ScalableParams;

    fn build(params: &ScalableParams) -> Result<Ns3, ParamError> {
        Ok(Ns3 {
            growth: Growth::per(whole(1.0 / params.growth)),
            decrease: params.decrease.get(),
        })
    }
}

impl Ops for Ns3 {
    fn increase(&mut self, state: &mut State, segments: u64) {
        state.increase(segments, |state, left| self.growth.avoid(state, left));
    }

    fn threshold(&mut self, state: &State, in_flight: u64) -> u64 {
        let mss = state.window.mss;
        whole((real(in_flight / mss) * (1.0 - self.decrease)).max(2.0)) * mss
    }
}
