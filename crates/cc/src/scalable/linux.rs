//! Scalable TCP as Linux has it.
//!
//! Source: tcp_scalable.c of Linux 6.1.192, read for behaviour: one segment more for a window of segments, or for each hundred if that is less.

use super::ScalableParams;
use crate::Build;
use crate::Traits;
use crate::linux::{Ops, State};
use crate::num::{scaled, whole};
use sojourn_units::ParamError;

/// See [`super::Scalable`].
#[derive(Clone, Debug)]
pub(crate) struct Linux {
    /// Acknowledged segments for one of growth.
    per: u64,
    /// Fraction by which a loss reduces the window.
    decrease: f64,
    /// Window up to which the algorithm is Reno, in segments.
    low_window: u64,
}

impl Build for Linux {
    type Params = ScalableParams;

    fn build(params: &ScalableParams) -> Result<Linux, ParamError> {
        Ok(Linux {
            per: whole(libm::round(1.0 / params.growth)).max(1),
            decrease: params.decrease.get(),
            low_window: params.low_window.into(),
        })
    }
}

impl Ops for Linux {
    fn traits(&self) -> Traits {
        Traits::default()
    }

    fn avoid(&mut self, state: &mut State, acked: u64, limited: bool) {
        if let Some(left) = state.rest(acked, limited) {
            let reno = state.cwnd <= self.low_window;
            let per = if reno { u64::MAX } else { self.per };
            state.avoid(per.min(state.cwnd), left);
        }
    }

    fn threshold(&mut self, state: &State) -> u64 {
        if state.cwnd <= self.low_window {
            return state.half();
        }
        (state.cwnd - scaled(state.cwnd, self.decrease)).max(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::Params;

    #[test]
    fn kellys_factors_are_whole_numbers_here() {
        let linux = Linux::build(&ScalableParams::in_dialect("linux").unwrap()).unwrap();
        assert_eq!((linux.per, linux.low_window), (100, 0));
        assert!((8.0 * linux.decrease - 1.0).abs() < 1e-12);
    }
}
