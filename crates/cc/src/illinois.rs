//! Illinois: growth and fall depend on the queueing delay.
//!
//! Source: Liu, Basar and Srikant 2006; the constants of tcp_illinois.c of Linux 6.1.
//! Dialects `ns3` and `linux` are in `illinois/ns3.rs` and `illinois/linux.rs`.

mod linux;
mod ns3;

pub(crate) use self::linux::Linux;
pub(crate) use self::ns3::Ns3;
use crate::control::in_order;
use crate::num::{micros, real, whole};
use crate::window::{Round, Window, by_window};
use crate::{Acked, Build, Congestion, CongestionControl, CongestionKind, Sample, Start, Traits};
use sojourn_units::{ParamError, params};

params! {
    /// Illinois: grows fast while the queue is short, and slowly while it is long.
    pub struct IllinoisParams {
        /// Maximum and minimum growth per round trip, in segments.
        alpha_max: f64 = "10", range "1".."1000", source "Liu, Basar & Srikant 2006";
        /// See `alpha_max`.
        alpha_min: f64 = "0.3", range "0.001".."1", source "tcp_illinois.c, ALPHA_MIN (0.1 in the paper)";
        /// Minimum and maximum fraction by which a loss reduces the window.
        beta_min: f64 = "0.125", range "0.01".."1", source "Liu, Basar & Srikant 2006";
        /// See `beta_min`.
        beta_max: f64 = "0.5", range "0.01".."1", source "Liu, Basar & Srikant 2006";
        /// Window up to which the algorithm is Reno, in segments.
        win_thresh: u32 = "15", range .."100000", source "tcp_illinois.c, win_thresh",
            acts "the window falls to this; dialect ns3 compares it with bytes";
        /// Number of round trips with a short queue before growth is at its maximum again.
        theta: u32 = "5", range "1".."1000", source "tcp_illinois.c, theta",
            acts "a long queue becomes short again";
    }
    dialects Dialect {
        /// The paper, with Linux's constants where it leaves them open.
        rfc as Rfc = "illinois-2006" {}
        /// TcpIllinois of ns-3.
        ns3 as Ns3 = "ns3-3.44" {}
        /// tcp_illinois.c.
        linux as Linux = "linux-6.1" {}
    }
}

/// How growth and fall depend on delay; delays in any unit.
#[derive(Clone, Debug)]
pub(crate) struct Law {
    /// Least and most growth, segments per round trip.
    pub(crate) alpha_range: (f64, f64),
    /// Minimum and maximum fraction by which a loss reduces the window.
    pub(crate) beta_range: (f64, f64),
    /// Segments of growth per round trip.
    pub(crate) alpha: f64,
    /// What a loss takes off.
    pub(crate) beta: f64,
}

impl Law {
    pub(crate) fn new(params: &IllinoisParams) -> Law {
        Law {
            alpha_range: (params.alpha_min, params.alpha_max),
            beta_range: (params.beta_min, params.beta_max),
            alpha: params.alpha_max,
            beta: params.beta_min,
        }
    }

    /// Reno's.
    pub(crate) fn rest(&mut self) {
        self.alpha = 1.0;
        self.beta = self.beta_range.1;
    }

    /// A hyperbola, from the most at a hundredth of the longest delay to the least at the longest.
    pub(crate) fn set_alpha(&mut self, longest: f64, mean: f64) {
        let (least, most) = self.alpha_range;
        let d1 = longest / 100.0;
        let span = longest - d1;
        self.alpha = span * most / (span + (mean - d1) * (most / least - 1.0));
    }

    /// A line, from the least at a tenth of the longest delay to the most at eight tenths.
    pub(crate) fn set_beta(&mut self, longest: f64, mean: f64) {
        let (least, most) = self.beta_range;
        let (d2, d3) = (longest / 10.0, longest * 0.8);
        self.beta = if mean <= d2 {
            least
        } else if mean >= d3 || d3 <= d2 {
            most
        } else {
            least + (most - least) * (mean - d2) / (d3 - d2)
        };
    }

    pub(crate) fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("alpha (segments)", self.alpha);
        tell("beta", self.beta);
    }
}

/// The state of one connection.
#[derive(Clone, Debug)]
pub struct Illinois {
    window: Window,
    law: Law,
    /// Window up to which the algorithm is Reno, in segments.
    win_thresh: u64,
    /// Number of round trips with a short queue before growth is at its maximum again.
    theta: u32,
    round: Round,
    /// The shortest round trip, microseconds.
    base: u64,
    /// The longest round trip, microseconds.
    most: u64,
    /// The sum of the round trips of this round, microseconds.
    sum: u64,
    /// How many they are.
    samples: u64,
    /// The queue was not short lately; short rounds since.
    above: bool,
    /// Rounds with a short queue so far.
    low_rounds: u32,
}

impl Illinois {
    /// Microseconds: the longest queueing delay, and the mean of the round.
    fn judge(&mut self, longest: f64, mean: f64) {
        // Up to here the queue is short.
        if mean <= longest / 100.0 {
            if self.above {
                self.low_rounds += 1;
                if self.low_rounds >= self.theta {
                    self.low_rounds = 0;
                    self.above = false;
                    self.law.alpha = self.law.alpha_range.1;
                }
            } else {
                self.law.alpha = self.law.alpha_range.1;
            }
        } else {
            self.above = true;
            self.law.set_alpha(longest, mean);
        }
        self.law.set_beta(longest, mean);
    }
}

impl Build for Illinois {
    type Params = IllinoisParams;

    fn build(params: &IllinoisParams) -> Result<Illinois, ParamError> {
        let holds = params.beta_min <= params.beta_max;
        in_order(params, holds, "beta_min", "beta_max")?;
        Ok(Illinois {
            window: Window::new(),
            law: Law::new(params),
            win_thresh: params.win_thresh.into(),
            theta: params.theta,
            round: Round::default(),
            base: u64::MAX,
            most: 0,
            sum: 0,
            samples: 0,
            above: false,
            low_rounds: 0,
        })
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
                self.law.rest();
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
                let per = real(self.window.cwnd) / self.law.alpha;
                self.window.grow(bytes, whole(per));
            }
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        match congestion.kind {
            CongestionKind::Loss | CongestionKind::Ecn => self.window.fall_by(1.0 - self.law.beta),
            CongestionKind::Timeout(expiry) => {
                let to = whole(real(self.window.cwnd) * (1.0 - self.law.beta));
                self.window.time_out(to, expiry);
                self.law.rest();
                self.above = false;
                self.low_rounds = 0;
            }
        }
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        self.law.series(tell);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_falls_with_delay_and_what_a_loss_costs_rises() {
        let mut cc = Illinois::build(&IllinoisParams::default()).unwrap();
        let mut at = |mean: f64| {
            cc.judge(100_000.0, mean);
            (cc.law.alpha, cc.law.beta)
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
