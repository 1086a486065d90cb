//! H-TCP as Linux has it.
//!
//! Source: tcp_htcp.c of Linux 6.1.192, read for behaviour. Where it is not the draft: growth is scaled by the round trip (times a tenth of a second over the
//! shortest, a half to ten); alpha is computed when the window has grown by one, not for each acknowledgement; the fall adapts from the second loss on, where
//! the shortest delay is above 10 ms; the longest delay grows by 20 ms at a time and fades by a twentieth per loss; factors are 128ths.

use super::HtcpParams;
use crate::Build;
use crate::Phase;
use crate::linux::{Ops, State, ticks_of};
use crate::num::{millis, real};
use sojourn_units::ParamError;

/// 1.0, and the least and greatest part that a loss leaves.
const ONE: u64 = 128;
const BETA: (u64, u64) = (64, 102);

/// Ticks per second.
const HZ: u64 = 1000;

/// By how much the longest delay grows at most, and the shortest one below which the fall does not adapt.
const STEP: u64 = 20;
const SHORT: u64 = 10;

/// See [`super::Htcp`]. Times are ticks.
#[derive(Clone, Debug)]
pub(crate) struct Linux {
    /// Time after a loss for which it is Reno, milliseconds.
    low_time: u64,
    rtt_scaling: bool,
    adaptive: bool,
    /// Growth, 128ths of a segment per round trip.
    alpha: u64,
    /// What a loss leaves of the window, 128ths.
    beta: u64,
    /// A loss has been seen at a steady rate.
    adapts: bool,
    /// Segments of the acknowledgement at hand.
    acked: u64,
    /// Segments since `since`.
    packets: u64,
    /// When the rate was last taken, milliseconds.
    since: u64,
    /// The shortest round trip, milliseconds.
    least: u64,
    /// The longest round trip, milliseconds.
    most: u64,
    /// When the last loss was, milliseconds.
    last_loss: u64,
    /// What an undo brings back: `last_loss`, `most`, `old_max_rate`.
    before: Option<(u64, u64, u64)>,
    /// Segments per second: the greatest since the last loss, the one before, the last.
    max_rate: u64,
    /// The greatest rate before the last loss, segments per second.
    old_max_rate: u64,
    /// The rate, segments per second.
    rate: u64,
}

impl Linux {
    /// measure_rtt.
    fn measure(&mut self, open: bool, rtt: u64) {
        if self.least > rtt || self.least == 0 {
            self.least = rtt;
        }
        if open {
            self.most = self.most.max(self.least);
            if self.most < rtt && rtt <= self.most + STEP {
                self.most = rtt;
            }
        }
    }

    /// htcp_beta_update.
    fn update_beta(&mut self) {
        let (rate, old) = (5 * self.max_rate, self.old_max_rate);
        self.old_max_rate = self.max_rate;
        if !(4 * old..=6 * old).contains(&rate) {
            self.beta = BETA.0;
            self.adapts = false;
        } else if self.adaptive && self.adapts && self.least > SHORT && self.most > 0 {
            self.beta = (self.least * ONE / self.most).clamp(BETA.0, BETA.1);
        } else {
            self.beta = BETA.0;
            self.adapts = true;
        }
    }

    /// htcp_alpha_update.
    fn update_alpha(&mut self, ticks: u64) {
        let mut factor = 1;
        let late = (ticks - self.last_loss).saturating_sub(self.low_time);
        if late > 0 {
            factor += (10 * late + (late / 2) * (late / 2) / HZ) / HZ;
        }
        if self.rtt_scaling && self.least > 0 {
            let scale = (8 * HZ / (10 * self.least)).clamp(4, 80);
            factor = (factor * 8 / scale).max(1);
        }
        self.alpha = 2 * factor * (ONE - self.beta);
    }
}

impl Build for Linux {
    type Params = HtcpParams;

    fn build(params: &HtcpParams) -> Result<Linux, ParamError> {
        Ok(Linux {
            low_time: millis(params.low_time),
            rtt_scaling: params.rtt_scaling,
            adaptive: params.adaptive,
            alpha: ONE,
            beta: BETA.0,
            adapts: false,
            acked: 1,
            packets: 0,
            since: 0,
            least: 0,
            most: 0,
            last_loss: 0,
            before: None,
            max_rate: 0,
            old_max_rate: 0,
            rate: 0,
        })
    }
}

impl Ops for Linux {
    fn init(&mut self, state: &mut State) {
        self.last_loss = state.ticks();
    }

    fn acked(&mut self, state: &mut State, segments: u64, rtt: Option<u64>, _: &crate::Sample) {
        let now = state.ticks();
        let open = state.phase == Phase::Open;
        if open {
            self.acked = segments;
        }
        if let Some(rtt) = rtt.filter(|&rtt| rtt > 0) {
            self.measure(open, ticks_of(rtt));
        }
        if !matches!(state.phase, Phase::Open | Phase::Disorder) {
            self.packets = 0;
            self.since = now;
            return;
        }
        self.packets += segments;
        let enough = state.cwnd.checked_sub((self.alpha / ONE).max(1));
        let passed = now - self.since;
        if enough.is_some_and(|enough| self.packets >= enough)
            && passed >= self.least
            && self.least > 0
        {
            let rate = self.packets * HZ / passed;
            if (now - self.last_loss) / self.least <= 3 {
                self.max_rate = rate;
                self.rate = rate;
            } else {
                self.rate = (3 * self.rate + rate) / 4;
                self.max_rate = self.max_rate.max(self.rate);
            }
            self.packets = 0;
            self.since = now;
        }
    }

    fn phase(&mut self, state: &mut State, phase: Phase) {
        match phase {
            Phase::Open => {
                if self.before.take().is_some() {
                    self.last_loss = state.ticks();
                }
            }
            Phase::Reducing | Phase::Recovery | Phase::Loss => {
                self.before = Some((self.last_loss, self.most, self.old_max_rate));
                self.last_loss = state.ticks();
            }
            Phase::Disorder => {}
        }
    }

    fn avoid(&mut self, state: &mut State, acked: u64, limited: bool) {
        if !state.avoids(acked, limited) {
            return;
        }
        if state.counted * self.alpha / ONE >= state.cwnd {
            state.cwnd += 1;
            state.counted = 0;
            self.update_alpha(state.ticks());
        } else {
            state.counted += self.acked;
        }
        self.acked = 1;
    }

    fn threshold(&mut self, state: &State) -> u64 {
        self.update_beta();
        self.update_alpha(state.ticks());
        if self.least > 0 && self.most > self.least {
            self.most = self.least + (self.most - self.least) * 95 / 100;
        }
        (state.cwnd * self.beta / ONE).max(2)
    }

    fn undone(&mut self) {
        if let Some((last_loss, most, old_max_rate)) = self.before.take() {
            self.last_loss = last_loss;
            self.most = most;
            self.old_max_rate = old_max_rate;
        }
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("alpha (segments)", real(self.alpha) / real(ONE));
        tell("beta", real(self.beta) / real(ONE));
    }
}
