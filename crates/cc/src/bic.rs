//! BIC: after a loss the window searches between where it was and where it fell, in halving steps.
//!
//! Source: Xu, Harfoush and Rhee 2004, in the form of tcp_bic.c of Linux 6.1 (steps divided by 4, a smooth part of 20).
//! Dialects `ns3` and `linux` are in `bic/ns3.rs` and `bic/linux.rs`.

mod linux;
mod ns3;

pub(crate) use self::linux::Linux;
pub(crate) use self::ns3::Ns3;
use crate::window::{Window, by_window};
use crate::{Acked, Build, Congestion, CongestionControl, CongestionKind, Start};
use sojourn_units::{ParamError, Ratio, params};

params! {
    /// BIC: searches the window before the last loss by bisection (binary increase congestion control).
    pub struct BicParams {
        /// Window up to which the algorithm is Reno, in segments.
        low_window: u32 = "14", range .."100000", source "Xu, Harfoush & Rhee 2004; tcp_bic.c";
        /// Maximum growth per round trip, in segments (S_max).
        max_increment: u32 = "16", range "1".."100000", source "tcp_bic.c (32 in the paper)",
            acts "the window before the loss is more than four times this above the current one, or three times this below";
        /// Factor by which a loss multiplies the window.
        beta: Ratio = "0.7998046875", source "tcp_bic.c, 819/1024 (0.875 in the paper)";
        /// Whether a flow whose window has shrunk releases more bandwidth to others (fast convergence).
        fast_convergence: bool = "true", source "Xu, Harfoush & Rhee 2004";
        /// Number of round trips for the last segment below the old window.
        smooth_part: u32 = "20", range "1".."1000", source "tcp_bic.c";
    }
    dialects Dialect {
        /// As in Linux.
        rfc as Rfc = "bic-2004" {}
        /// TcpBic of ns-3.
        ns3 as Ns3 = "ns3-3.44" {
            smooth_part = "5" from "tcp-bic.cc, SmoothPart";
            beta = "0.8" from "tcp-bic.cc, Beta";
        }
        /// tcp_bic.c.
        linux as Linux = "linux-6.1" {}
    }
}

/// By what the distance is divided.
const STEP: u64 = 4;

/// The binary search, in segments.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    /// Window up to which the algorithm is Reno, in segments.
    low_window: u64,
    /// Most growth per round trip (S_max), segments.
    max_increment: u64,
    /// Round trips in which the last segment below the old window is gained.
    smooth_part: u64,
    /// The window before the last reduction, segments.
    pub(crate) last_max: u64,
}

impl Search {
    pub(crate) fn new(params: &BicParams) -> Search {
        Search {
            low_window: params.low_window.into(),
            max_increment: params.max_increment.into(),
            smooth_part: params.smooth_part.into(),
            last_max: 0,
        }
    }

    /// Windows up to `low_window` segments are too small for it.
    pub(crate) fn set_low(&mut self, low_window: u32) {
        self.low_window = low_window.into();
    }

    /// Whether a window is too small for it.
    pub(crate) fn is_low(&self, cwnd: u64) -> bool {
        cwnd <= self.low_window
    }

    /// Acknowledged segments for one of growth.
    pub(crate) fn per(&self, cwnd: u64) -> u64 {
        if self.is_low(cwnd) {
            return cwnd;
        }
        let per = if cwnd < self.last_max {
            let step = (self.last_max - cwnd) / STEP;
            if step > self.max_increment {
                cwnd / self.max_increment
            } else if step <= 1 {
                cwnd * self.smooth_part / STEP
            } else {
                cwnd / step
            }
        } else if cwnd < self.last_max + STEP {
            cwnd * self.smooth_part / STEP
        } else if cwnd < self.last_max + self.max_increment * (STEP - 1) {
            cwnd * (STEP - 1) / (cwnd - self.last_max)
        } else {
            cwnd / self.max_increment
        };
        if self.last_max == 0 { per.min(20) } else { per }
    }
}

/// The state of one connection.
#[derive(Clone, Debug)]
pub struct Bic {
    window: Window,
    search: Search,
    /// Factor by which a loss multiplies the window.
    beta: f64,
    fast_convergence: bool,
}

impl Build for Bic {
    type Params = BicParams;

    fn build(params: &BicParams) -> Result<Bic, ParamError> {
        Ok(Bic {
            window: Window::new(),
            search: Search::new(params),
            beta: params.beta.get(),
            fast_convergence: params.fast_convergence,
        })
    }
}

impl CongestionControl for Bic {
    by_window!();

    fn on_start(&mut self, start: &Start) {
        self.window.start(start);
    }

    fn on_ack(&mut self, acked: &Acked) {
        if let Some(bytes) = self.window.admit(acked) {
            let bytes = self.window.slow_start(bytes);
            if bytes > 0 {
                let per = self.search.per(self.window.segments()).max(1);
                self.window.grow(bytes, per * self.window.mss);
            }
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let cwnd = self.window.segments();
        let shrinks = self.fast_convergence && cwnd < self.search.last_max;
        self.search.last_max = if shrinks {
            crate::num::scaled(cwnd, (1.0 + self.beta) / 2.0)
        } else {
            cwnd
        };
        let left = if self.search.is_low(cwnd) {
            0.5
        } else {
            self.beta
        };
        match congestion.kind {
            CongestionKind::Loss | CongestionKind::Ecn => self.window.fall_by(left),
            CongestionKind::Timeout(expiry) => {
                let to = crate::num::scaled(self.window.cwnd, left);
                self.window.time_out(to, expiry);
                self.search.last_max = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::tests::{MSS, Pipe};
    use sojourn_units::Span;

    #[test]
    fn growth_is_linear_far_from_the_old_window_and_slow_near_it() {
        let cc = Bic::build(&BicParams::default()).unwrap();
        let mut pipe = Pipe::new(cc, 1e6, Span::from_ms(100));
        pipe.cc.window.cwnd = 1000 * MSS;
        pipe.congest(CongestionKind::Loss);
        assert_eq!(pipe.cc.search.last_max, 1000);
        let growth = |pipe: &mut Pipe<Bic>| {
            let before = pipe.window();
            pipe.run(Span::from_ms(102));
            pipe.window() - before
        };
        let first = growth(&mut pipe);
        assert!((14.0..=19.0).contains(&first), "{first}");
        pipe.cc.window.cwnd = 980 * MSS;
        let near = growth(&mut pipe);
        assert!((4.0..=6.0).contains(&near), "{near}");
        pipe.cc.window.cwnd = 998 * MSS;
        assert!(growth(&mut pipe) <= 1.0);
    }
}
