//! Illinois as Linux has it.
//!
//! Source: tcp_illinois.c of Linux 6.1.192, read for behaviour. Where it is not the paper: alpha is kept in 128ths, beta in 64ths; a round trip ends with an
//! acknowledgement of something sent after it began; a loss is answered by half the window until delays have been judged.

use super::IllinoisParams;
use crate::Build;
use crate::Phase;
use crate::control::in_order;
use crate::linux::{NO_DELAY, Ops, State};
use crate::num::{real, whole};
use sojourn_units::ParamError;

/// 1.0 in alpha and beta.
const ALPHA: u64 = 128;
const BETA: u64 = 64;

/// See [`super::Illinois`]. Delays are microseconds.
#[derive(Clone, Debug)]
pub(crate) struct Linux {
    /// Least and most.
    alphas: (u64, u64),
    /// Least and most that a loss takes off the window, 64ths.
    betas: (u64, u64),
    /// Window up to which the algorithm is Reno, in segments.
    win_thresh: u64,
    /// Number of round trips with a short queue before growth is at its maximum again.
    theta: u64,
    /// Growth, 128ths of a segment per round trip.
    alpha: u64,
    /// What a loss takes off the window, 64ths.
    beta: u64,
    /// The shortest round trip, microseconds.
    base: u64,
    /// The longest round trip, microseconds.
    most: u64,
    /// The sum of the round trips of this round, microseconds.
    sum: u64,
    /// How many they are.
    samples: u64,
    /// The byte whose acknowledgement ends the round.
    round_end: u64,
    /// Segments of the acknowledgement at hand.
    acked: u64,
    /// The queue was not short lately; short rounds since.
    above: bool,
    /// Rounds with a short queue so far.
    low_rounds: u64,
}

impl Linux {
    fn begin_round(&mut self, state: &State) {
        self.round_end = state.next;
        self.samples = 0;
        self.sum = 0;
    }

    fn rest(&mut self) {
        self.alpha = ALPHA;
        self.beta = self.betas.1;
    }

    /// The longest delay of queues, and the mean of the round.
    fn alpha(&mut self, longest: u64, mean: u64) -> u64 {
        let (least, most) = self.alphas;
        let short = longest / 100;
        if mean <= short {
            if self.above {
                self.low_rounds += 1;
                if self.low_rounds < self.theta {
                    return self.alpha;
                }
                self.low_rounds = 0;
                self.above = false;
            }
            return most;
        }
        self.above = true;
        let (span, over) = (longest - short, mean - short);
        span * most / (span + over * most.saturating_sub(least) / least)
    }

    fn beta(&self, longest: u64, mean: u64) -> u64 {
        let (least, most) = self.betas;
        let (low, high) = (longest / 10, 8 * longest / 10);
        if mean <= low {
            least
        } else if mean >= high || high <= low {
            most
        } else {
            // One quotient of both products: the line from (low, least) to (high, most).
            (least * (high - mean) + most * (mean - low)) / (high - low)
        }
    }

    fn judge(&mut self, state: &State) {
        if state.cwnd < self.win_thresh {
            self.rest();
        } else if let Some(mean) = self.sum.checked_div(self.samples) {
            let longest = self.most - self.base;
            let mean = mean - self.base;
            self.alpha = self.alpha(longest, mean);
            self.beta = self.beta(longest, mean);
        }
        self.begin_round(state);
    }

    /// The greatest delay with which alpha is computed without overflow.
    fn most_rtt(&self) -> u64 {
        u64::from(u32::MAX) / self.alphas.1
    }
}

impl Build for Linux {
    type Params = IllinoisParams;

    fn build(params: &IllinoisParams) -> Result<Linux, ParamError> {
        let holds = params.beta_min <= params.beta_max;
        in_order(params, holds, "beta_min", "beta_max")?;
        let scaled = |value: f64, one: u64| whole(value * real(one)).max(1);
        let alphas = (
            scaled(params.alpha_min, ALPHA),
            scaled(params.alpha_max, ALPHA),
        );
        let betas = (scaled(params.beta_min, BETA), scaled(params.beta_max, BETA));
        Ok(Linux {
            alphas,
            betas,
            win_thresh: params.win_thresh.into(),
            theta: params.theta.into(),
            alpha: alphas.1,
            beta: betas.1,
            base: NO_DELAY,
            most: 0,
            sum: 0,
            samples: 0,
            round_end: 0,
            acked: 0,
            above: false,
            low_rounds: 0,
        })
    }
}

impl Ops for Linux {
    fn init(&mut self, state: &mut State) {
        self.begin_round(state);
    }

    fn acked(&mut self, _: &mut State, segments: u64, rtt: Option<u64>, _: &crate::Sample) {
        self.acked = segments;
        if let Some(rtt) = rtt {
            let rtt = rtt.min(self.most_rtt());
            self.base = self.base.min(rtt);
            self.most = self.most.max(rtt);
            self.samples += 1;
            self.sum += rtt;
        }
    }

    fn phase(&mut self, state: &mut State, phase: Phase) {
        if phase == Phase::Loss {
            self.rest();
            self.low_rounds = 0;
            self.above = false;
            self.begin_round(state);
        }
    }

    fn avoid(&mut self, state: &mut State, acked: u64, limited: bool) {
        if state.una > self.round_end {
            self.judge(state);
        }
        if !state.avoids(acked, limited) {
            return;
        }
        state.counted += self.acked;
        self.acked = 1;
        let growth = state.counted * self.alpha / ALPHA;
        if growth >= state.cwnd {
            state.cwnd += growth / state.cwnd;
            state.counted = 0;
        }
    }

    fn threshold(&mut self, state: &State) -> u64 {
        (state.cwnd - state.cwnd * self.beta / BETA).max(2)
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("alpha (segments)", real(self.alpha) / real(ALPHA));
        tell("beta", real(self.beta) / real(BETA));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::Params;

    #[test]
    fn alpha_and_beta_are_the_papers_in_128ths_and_64ths() {
        let params = IllinoisParams::in_dialect("linux").unwrap();
        let mut linux = Linux::build(&params).unwrap();
        assert_eq!((linux.alphas, linux.betas), ((38, 1280), (8, 32)));
        assert_eq!(
            (linux.alpha(100_000, 500), linux.beta(100_000, 500)),
            (1280, 8)
        );
        assert_eq!(
            (linux.alpha(100_000, 100_000), linux.beta(100_000, 45_000)),
            (38, 20)
        );
        // Five rounds with a short queue before growth is greatest again.
        linux.alpha = 38;
        let rounds = (1..10).find(|_| linux.alpha(100_000, 100) == 1280);
        assert_eq!(rounds, Some(5));
    }
}
