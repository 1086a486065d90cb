//! H-TCP as ns-3 has it.
//!
//! Source: ns-3.44, read for behaviour: tcp-htcp.cc. Where it is not the draft: alpha is added in bytes, not segments, per acknowledgement; the fall adapts
//! when the rate since the last loss is higher than before it, by less than a factor of two; the first loss is counted from time zero.

use super::HtcpParams;
use crate::Build;
use crate::Phase;
use crate::ns3::{Ops, State};
use crate::num::{real, scaled, seconds, whole};
use sojourn_units::{ParamError, Span, Time};

/// What a loss leaves otherwise (DefaultBackoff).
const BACKOFF: f64 = 0.5;

/// See [`super::Htcp`].
#[derive(Clone, Debug)]
pub(crate) struct Ns3 {
    low_time: Span,
    adaptive: bool,
    /// Growth, segments per round trip.
    alpha: f64,
    /// Factor by which a loss multiplies the window.
    beta: f64,
    last_loss: Time,
    least: Option<Span>,
    most: Span,
    /// Bytes per second since the last loss, and before it; bytes.
    rate: u64,
    /// The rate before the last loss, bytes per second.
    old_rate: u64,
    /// Bytes acknowledged since the last loss.
    sent: u64,
}

impl Ns3 {
    fn update_alpha(&mut self, now: Time) {
        let since = now.saturating_since(self.last_loss);
        let alpha = if since <= self.low_time {
            1.0
        } else {
            let late = seconds(since.saturating_sub(self.low_time));
            1.0 + 10.0 * late + 0.25 * (late * late)
        };
        self.alpha = (2.0 * (1.0 - self.beta) * alpha).max(1.0);
    }

    fn update_beta(&mut self) {
        self.beta = BACKOFF;
        if self.adaptive
            && self.rate > self.old_rate
            && self.old_rate > 0
            && (self.rate - self.old_rate) / self.old_rate == 0
            && let Some(least) = self.least
        {
            self.beta = real(least.as_ns()) / real(self.most.as_ns());
        }
    }
}

impl Build for Ns3 {
    type Params = HtcpParams;

    fn build(params: &HtcpParams) -> Result<Ns3, ParamError> {
        Ok(Ns3 {
            low_time: params.low_time,
            adaptive: params.adaptive,
            alpha: 0.0,
            beta: 0.0,
            last_loss: Time::ZERO,
            least: None,
            most: Span::ZERO,
            rate: 0,
            old_rate: 0,
            sent: 0,
        })
    }
}

impl Ops for Ns3 {
    fn acked(&mut self, state: &mut State, segments: u64, srtt: Span, _: &crate::Sample) {
        if state.phase == Phase::Open {
            self.sent += segments * state.window.mss;
        }
        let elapsed = seconds(state.now.saturating_since(self.last_loss));
        self.rate = whole(real(self.sent) / elapsed);
        self.update_alpha(state.now);
        self.least = Some(self.least.map_or(srtt, |least| least.min(srtt)));
        self.most = self.most.max(srtt);
    }

    fn increase(&mut self, state: &mut State, segments: u64) {
        let alpha = self.alpha;
        state.increase(segments, |state, segments| {
            if segments > 0 {
                let (mss, cwnd) = (real(state.window.mss), real(state.window.cwnd));
                state.window.cwnd += whole(((mss * mss + cwnd * alpha) / cwnd).max(1.0));
            }
        });
    }

    fn threshold(&mut self, state: &State, in_flight: u64) -> u64 {
        self.last_loss = state.now;
        self.update_beta();
        self.update_alpha(state.now);
        self.least = None;
        self.most = Span::ZERO;
        self.old_rate = self.rate;
        self.rate = 0;
        self.sent = 0;
        scaled(in_flight, self.beta).max(2 * state.window.mss)
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("alpha (bytes)", self.alpha);
        tell("beta", self.beta);
    }
}
