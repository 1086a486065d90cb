//! Illinois: growth and fall depend on the queueing delay.
//!
//! Source: Liu, Basar and Srikant 2006; the constants of tcp_illinois.c of Linux 6.1.

use crate::num::{micros, real, whole};
use crate::window::{Round, Window, by_window};
use crate::{Acked, Congestion, CongestionControl, CongestionKind, Sample, Start, Traits};
use sojourn_units::params;

params! {
    /// Illinois: fast where the queue is short, careful where it is long.
    pub struct IllinoisParams {
        /// Most and least segments of growth per round trip.
        alpha_max: f64 = "10", range "1".."1000", source "Liu, Basar & Srikant 2006";
        /// See `alpha_max`.
        alpha_min: f64 = "0.3", range "0.001".."1", source "tcp_illinois.c, ALPHA_MIN (0.1 in the paper)";
        /// Least and most that a loss takes off the window.
        beta_min: f64 = "0.125", range "0.01".."1", source "Liu, Basar & Srikant 2006";
        /// See `beta_min`.
        beta_max: f64 = "0.5", range "0.01".."1", source "Liu, Basar & Srikant 2006";
        /// Window up to which it is Reno, segments.
        win_thresh: u32 = "15", range .."100000", source "tcp_illinois.c, win_thresh";
        /// Round trips with a short queue before growth is greatest again.
        theta: u32 = "5", range "1".."1000", source "tcp_illinois.c, theta";
    }
    dialects {
        /// The paper, with Linux's constants where it leaves them open.
        rfc = "illinois-2006" {}
        /// TcpIllinois of ns-3.
        ns3 = "ns3-3.44" {}
        /// tcp_illinois.c.
        linux = "linux-6.1" {}
    }
}

/// The state of one connection.
#[derive(Clone, Debug)]
pub struct Illinois {
    window: Window,
    alpha_range: (f64, f64),
    beta_range: (f64, f64),
    win_thresh: u64,
    theta: u32,
    round: Round,
    base: u64,
    most: u64,
    sum: u64,
    samples: u64,
    alpha: f64,
    beta: f64,
    /// The queue was not short lately; short rounds since.
    above: bool,
    low_rounds: u32,
}

impl Illinois {
    /// A connection that is not established yet.
    pub fn new(params: &IllinoisParams) -> Illinois {
        Illinois {
            window: Window::new(),
            alpha_range: (params.alpha_min, params.alpha_max),
            beta_range: (params.beta_min, params.beta_max),
            win_thresh: params.win_thresh.into(),
            theta: params.theta,
            round: Round::default(),
            base: u64::MAX,
            most: 0,
            sum: 0,
            samples: 0,
            alpha: params.alpha_max,
            beta: params.beta_min,
            above: false,
            low_rounds: 0,
        }
    }

    /// Microseconds: the longest queueing delay, and the mean of the round.
    fn judge(&mut self, longest: f64, mean: f64) {
        let (alpha_min, alpha_max) = self.alpha_range;
        let (beta_min, beta_max) = self.beta_range;
        // Up to d1 the queue is short.
        let d1 = longest / 100.0;
        if mean <= d1 {
            if self.above {
                self.low_rounds += 1;
                if self.low_rounds >= self.theta {
                    self.low_rounds = 0;
                    self.above = false;
                    self.alpha = alpha_max;
                }
            } else {
                self.alpha = alpha_max;
            }
        } else {
            self.above = true;
            // A hyperbola from alpha_max at d1 to alpha_min at the longest delay.
            let span = longest - d1;
            self.alpha = span * alpha_max / (span + (mean - d1) * (alpha_max / alpha_min - 1.0));
        }
        // A line from d2 to d3.
        let (d2, d3) = (longest / 10.0, longest * 0.8);
        self.beta = if mean <= d2 {
            beta_min
        } else if mean >= d3 || d3 <= d2 {
            beta_max
        } else {
            beta_min + (beta_max - beta_min) * (mean - d2) / (d3 - d2)
        };
    }
}

impl CongestionControl for Illinois {
    by_window!();

    fn on_start(&mut self, start: &Start) {
        self.window.start(start);
    }

    fn traits(&self) -> Traits {
        Traits {
            samples: true,
            ..Traits::default()
        }
    }

    fn on_sample(&mut self, sample: &Sample) {
        if let Some(rtt) = sample.rtt {
            let rtt = micros(rtt);
            self.base = self.base.min(rtt);
            self.most = self.most.max(rtt);
            self.sum += rtt;
            self.samples += 1;
        }
        if self.round.passed(sample) && self.samples > 0 {
            let mean = real(self.sum) / real(self.samples) - real(self.base);
            if self.window.segments() < self.win_thresh {
                self.alpha = 1.0;
                self.beta = self.beta_range.1;
            } else {
                self.judge(real(self.most - self.base), mean);
            }
            self.sum = 0;
            self.samples = 0;
        }
    }

    fn on_ack(&mut self, acked: &Acked) {
        if let Some(bytes) = self.window.admit(acked) {
            let bytes = self.window.slow_start(bytes);
            if bytes > 0 {
                let per = real(self.window.cwnd) / self.alpha;
                self.window.grow(bytes, whole(per));
            }
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        match congestion.kind {
            CongestionKind::Loss | CongestionKind::Ecn => self.window.fall_by(1.0 - self.beta),
            CongestionKind::Timeout(expiry) => {
                let to = whole(real(self.window.cwnd) * (1.0 - self.beta));
                self.window.time_out(to, expiry);
                self.alpha = 1.0;
                self.beta = self.beta_range.1;
                self.above = false;
                self.low_rounds = 0;
            }
        }
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("alpha (segments)", self.alpha);
        tell("beta", self.beta);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_falls_with_delay_and_what_a_loss_costs_rises() {
        let mut cc = Illinois::new(&IllinoisParams::default());
        let mut at = |mean: f64| {
            cc.judge(100_000.0, mean);
            (cc.alpha, cc.beta)
        };
        assert_eq!(at(500.0), (10.0, 0.125));
        let (alpha, beta) = at(45_000.0);
        assert!((0.3..1.0).contains(&alpha) && (beta - 0.3125).abs() < 1e-9);
        let (alpha, beta) = at(100_000.0);
        assert!((alpha - 0.3).abs() < 1e-9 && beta == 0.5);
        // Five rounds with a short queue before growth is greatest again.
        let rounds = (1..10).find(|_| at(100.0).0 == 10.0);
        assert_eq!(rounds, Some(5));
    }
}
