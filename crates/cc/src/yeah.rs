//! YeAH: Scalable TCP while the queue is short, Reno and a voluntary retreat where it is long.
//!
//! Source: Baiocchi, Castellani and Vacirca 2007; the constants of tcp_yeah.c of Linux 6.1.
//! Dialects `ns3` and `linux` are in `yeah/ns3.rs` and `yeah/linux.rs`.

mod linux;
mod ns3;

pub(crate) use self::linux::Linux;
pub(crate) use self::ns3::Ns3;
use crate::num::{micros, real};
use crate::window::{Round, Window, by_window};
use crate::{Acked, Build, Congestion, CongestionControl, CongestionKind, Sample, Start, Traits};
use sojourn_units::{ParamError, params};

params! {
    /// YeAH: switches between a fast and a slow mode by the estimated queue.
    pub struct YeahParams {
        /// Segments in queues above which the window is reduced early (Q_max).
        alpha: u32 = "80", range "1".."100000", source "Baiocchi et al. 2007; tcp_yeah.c, TCP_YEAH_ALPHA",
            acts "this number of segments are queued";
        /// Divisor of the base delay that gives the queueing delay that counts as long (phi).
        phi: u32 = "8", range "1".."1000", source "tcp_yeah.c, TCP_YEAH_PHY",
            acts "the queueing delay is about that part; in dialect ns3, only 1 differs from the other values (a quotient of integers)";
        /// Divisor of the window that gives the maximum early reduction (gamma + 1).
        epsilon: u32 = "1", range .."20", source "tcp_yeah.c, TCP_YEAH_EPSILON: a power of two",
            acts "more than `alpha` segments are queued";
        /// Number of round trips in slow mode that indicate competing Reno flows (rho).
        rho: u32 = "16", range "1".."1000", source "tcp_yeah.c, TCP_YEAH_RHO",
            acts "the queue is long for about this number of round trips";
    }
    dialects Dialect {
        /// The paper, with Linux's constants.
        rfc as Rfc = "yeah-2007" {}
        /// TcpYeah of ns-3.
        ns3 as Ns3 = "ns3-3.44" {}
        /// tcp_yeah.c.
        linux as Linux = "linux-6.1" {}
    }
}

/// Segments of growth per segment acknowledged in fast mode (Scalable TCP).
const FAST: u64 = 100;
/// Least and most that a loss takes off: window over 8, and half.
const DELTA: u64 = 8;
/// Rounds in fast mode after which Reno's estimate is forgotten.
const ZETA: u32 = 50;

/// Fast or slow, round by round, and what Reno would have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mode {
    /// Rounds in slow mode without a break.
    pub(crate) slow_rounds: u32,
    /// Round trips in fast mode.
    fast_rounds: u32,
    /// What Reno's window would be, segments.
    pub(crate) reno: u64,
}

impl Default for Mode {
    fn default() -> Mode {
        Mode {
            slow_rounds: 0,
            fast_rounds: 0,
            reno: 2,
        }
    }
}

impl Mode {
    /// A round with a long queue, at a window of `cwnd` segments.
    pub(crate) fn slow(&mut self, cwnd: u64) {
        self.reno = if self.reno <= 2 {
            (cwnd / 2).max(2)
        } else {
            self.reno + 1
        };
        self.slow_rounds += 1;
    }

    /// A round with a short one.
    pub(crate) fn fast(&mut self) {
        self.fast_rounds += 1;
        if self.fast_rounds > ZETA {
            self.reno = 2;
            self.fast_rounds = 0;
        }
        self.slow_rounds = 0;
    }

    /// A loss.
    pub(crate) fn fall(&mut self) {
        self.fast_rounds = 0;
        self.reno = (self.reno / 2).max(2);
    }
}

/// The state of one connection.
#[derive(Clone, Debug)]
pub struct Yeah {
    window: Window,
    /// Segments in queues above which the window is reduced early (Q_max).
    alpha: u64,
    /// Queueing delay that counts as long: the base over this.
    phi: u64,
    /// A retreat takes at most this part off: the window over 2 to this power.
    epsilon: u32,
    /// Round trips in slow mode that indicate a competing Reno flow.
    rho: u32,
    round: Round,
    /// The shortest round trip, microseconds.
    base: u64,
    /// The shortest of this round, microseconds.
    least: u64,
    /// Segments in queues.
    queue: u64,
    mode: Mode,
}

impl Yeah {
    fn judge(&mut self) {
        if self.least == u64::MAX {
            return;
        }
        let cwnd = self.window.segments();
        let waiting = self.least - self.base;
        self.queue = waiting * cwnd / self.least.max(1);
        if self.queue > self.alpha || waiting > self.base / self.phi {
            if self.queue > self.alpha && cwnd > self.mode.reno {
                // Precautionary decongestion.
                let less = self.queue.min(cwnd >> self.epsilon);
                let next = (cwnd - less).max(self.mode.reno).max(2);
                self.window.cwnd = next * self.window.mss;
                self.window.ssthresh = self.window.ssthresh.min(self.window.cwnd);
            }
            self.mode.slow(cwnd);
        } else {
            self.mode.fast();
        }
    }
}

impl Build for Yeah {
    type Params = YeahParams;

    fn build(params: &YeahParams) -> Result<Yeah, ParamError> {
        Ok(Yeah {
            window: Window::new(),
            alpha: params.alpha.into(),
            phi: params.phi.into(),
            epsilon: params.epsilon,
            rho: params.rho,
            round: Round::default(),
            base: u64::MAX,
            least: u64::MAX,
            queue: 0,
            mode: Mode::default(),
        })
    }
}

impl CongestionControl for Yeah {
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
            self.least = self.least.min(rtt);
        }
        if self.round.passed(sample) {
            self.judge();
            self.least = u64::MAX;
        }
    }

    fn on_ack(&mut self, acked: &Acked) {
        if let Some(bytes) = self.window.admit(acked) {
            let bytes = self.window.slow_start(bytes);
            if bytes > 0 {
                let per = if self.mode.slow_rounds == 0 {
                    self.window.cwnd.min(FAST * self.window.mss)
                } else {
                    self.window.cwnd
                };
                self.window.grow(bytes, per);
            }
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let cwnd = self.window.segments();
        let off = if self.mode.slow_rounds < self.rho {
            self.queue.min(cwnd / 2).max(cwnd / DELTA).max(2)
        } else {
            (cwnd / 2).max(2)
        };
        let to = cwnd.saturating_sub(off).max(2) * self.window.mss;
        self.mode.fall();
        match congestion.kind {
            CongestionKind::Loss | CongestionKind::Ecn => self.window.fall(to, 2),
            CongestionKind::Timeout(expiry) => self.window.time_out(to, expiry),
        }
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("queue (segments)", real(self.queue));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::tests::{MSS, Pipe};
    use sojourn_units::{Params, Span};

    #[test]
    fn more_than_alpha_segments_in_the_queue_are_taken_back() {
        let mut params = YeahParams::default();
        params.set("alpha", "20").unwrap();
        let mut pipe = Pipe::new(Yeah::build(&params).unwrap(), 1000.0, Span::from_ms(100));
        pipe.cc.window.cwnd = 80 * MSS;
        pipe.cc.window.ssthresh = 0;
        pipe.run(Span::from_secs(2));
        let mut most = 0.0f64;
        for _ in 0..600 {
            pipe.run(Span::from_ms(50));
            most = most.max(pipe.window() - 101.0);
        }
        // Up to alpha, and what a round trip of growth adds before it is seen.
        assert!((8.0..40.0).contains(&most), "{most}");
    }
}
