//! Westwood+ as ns-3 has it.
//!
//! Source: ns-3.44, read for behaviour: tcp-westwood-plus.cc. Where it is not Linux: the rate is taken a smoothed round trip after the first
//! acknowledgement that follows the last time; repeated acknowledgements count a segment each, and that which ends a recovery counts all that
//! it covers once more; one filter (Tustin's, 0.9) in whole bits per second; no bandwidth is in the fall but the filtered one.

use super::WestwoodParams;
use crate::Build;
use crate::ns3::{Ops, State};
use crate::num::{real, seconds, whole};
use sojourn_units::{ParamError, Span, Time};

/// See [`super::Westwood`].
#[derive(Clone, Debug)]
pub(crate) struct Ns3 {
    /// Weight of the old estimate in each filter.
    filter: f64,
    /// Bits per second: filtered, and the last sample.
    rate: u64,
    /// The last sample of the rate, bits per second.
    sample: u64,
    /// Segments since the rate was taken last.
    segments: u64,
    /// When it is to be taken, and over what.
    due: Option<(Time, Span)>,
}

impl Ns3 {
    /// EstimateBW, if its time has come.
    fn estimate(&mut self, now: Time, mss: u64) {
        let Some((_, over)) = self.due.filter(|&(at, _)| at <= now) else {
            return;
        };
        let sample = whole(real(self.segments * mss) * 8.0 / seconds(over));
        let both = whole(real(sample + self.sample) * 0.5);
        self.rate = whole(real(self.rate) * self.filter) + whole(real(both) * (1.0 - self.filter));
        self.sample = sample;
        self.segments = 0;
        self.due = None;
    }
}

impl Build for Ns3 {
    type Params = WestwoodParams;

    fn build(params: &WestwoodParams) -> Result<Ns3, ParamError> {
        Ok(Ns3 {
            filter: params.filter.get(),
            rate: 0,
            sample: 0,
            segments: 0,
            due: None,
        })
    }
}

impl Ops for Ns3 {
    fn acked(&mut self, state: &mut State, segments: u64, srtt: Span, _: &crate::Sample) {
        if srtt.is_zero() {
            return;
        }
        self.estimate(state.now, state.window.mss);
        self.segments += segments;
        if self.due.is_none() {
            self.due = Some((state.now + srtt, srtt));
        }
    }

    fn increase(&mut self, state: &mut State, segments: u64) {
        state.increase(segments, State::avoid);
    }

    fn threshold(&mut self, state: &State, _: u64) -> u64 {
        self.estimate(state.now, state.window.mss);
        let needed = whole(real(self.rate) * seconds(state.least_rtt) / 8.0);
        needed.max(2 * state.window.mss)
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("rate (Mbps)", real(self.rate) / 1e6);
    }
}
