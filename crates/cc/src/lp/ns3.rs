//! TCP-LP as ns-3 has it.
//!
//! Source: ns-3.44, read for behaviour: tcp-lp.cc. Where it is not the paper: delays are differences of timestamps in whole milliseconds, in either direction;
//! congestion is judged from the first sample on, and the range of delays begins anew with each time it is seen; the threshold of slow start
//! stays, so that a window cut to one segment doubles again.

use super::{LpParams, Range};
use crate::Build;
use crate::Traits;
use crate::ns3::{Ops, State};
use crate::num::millis;
use sojourn_units::{ParamError, Span, Time};

/// Round trips of the inference phase.
const INFERENCE: u64 = 3;

/// See [`super::Lp`]. Delays in milliseconds.
#[derive(Clone, Debug)]
pub(crate) struct Ns3 {
    /// Eight times the smoothed delay.
    smoothed: u32,
    range: Range,
    last_drop: Option<Time>,
    inferring: bool,
    inference: Span,
    /// When that was sent whose timestamp came back last, in whole milliseconds.
    echoed: Option<u64>,
}

impl Ns3 {
    /// RttSample.
    fn sample(&mut self, delay: u32) {
        self.range.take(delay);
        self.smoothed = if self.smoothed == 0 {
            delay << 3
        } else {
            self.smoothed + delay - (self.smoothed >> 3)
        };
    }
}

impl Build for Ns3 {
    type Params = LpParams;

    fn build(_: &LpParams) -> Result<Ns3, ParamError> {
        Ok(Ns3 {
            smoothed: 0,
            range: Range::new(),
            last_drop: None,
            inferring: false,
            inference: Span::ZERO,
            echoed: None,
        })
    }
}

impl Ops for Ns3 {
    fn traits(&self) -> Traits {
        Traits {
            samples: true,
            timestamps: true,
            ..Traits::default()
        }
    }

    fn acked(&mut self, state: &mut State, _: u64, srtt: Span, sample: &crate::Sample) {
        if !srtt.is_zero()
            && let Some(delay) = sample.one_way.map(millis).filter(|&delay| delay > 0)
            && let Ok(delay) = u32::try_from(delay)
        {
            self.sample(delay);
        }
        let now = state.now.saturating_since(Time::ZERO);
        if let Some(rtt) = sample.rtt {
            self.echoed = Some(millis(now).saturating_sub(millis(rtt)));
        }
        if let Some(echoed) = self.echoed
            && millis(now) > echoed
        {
            self.inference = now.saturating_sub(Span::from_ms(echoed)) * INFERENCE;
        }
        self.inferring = self
            .last_drop
            .is_some_and(|drop| state.now.saturating_since(drop) < self.inference);
        let Range { least, most, .. } = self.range;
        let part = u64::from(most.saturating_sub(least)) * 15 / 100;
        if u64::from(self.smoothed >> 3) <= u64::from(least) + part {
            return;
        }
        self.range.begin(self.smoothed >> 3, self.smoothed >> 2);
        let mss = state.window.mss;
        state.window.cwnd = if self.inferring {
            mss
        } else {
            (state.window.cwnd / 2).max(mss)
        };
        self.last_drop = Some(state.now);
    }

    fn increase(&mut self, state: &mut State, segments: u64) {
        let inferring = self.inferring;
        state.increase(segments, |state, left| {
            if !inferring {
                state.avoid(left);
            }
        });
    }
}
