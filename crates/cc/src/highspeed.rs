//! HighSpeed TCP: growth and fall depend on the window, so that large ones are reached at loss rates that exist.
//!
//! Source: RFC 3649 sections 5 and 7, the formulas instead of the table. Deviation: above `high_window`, a loss reduces
//! the window by the same fraction as at `high_window`, while the line of section 7 goes on (0.09 at 94 717 segments,
//! nothing at half a million). Dialects `ns3` and `linux` are in `highspeed/ns3.rs` and `highspeed/linux.rs`.

mod linux;
mod ns3;

pub(crate) use self::linux::Linux;
pub(crate) use self::ns3::Ns3;
use crate::control::in_order;
use crate::num::{real, whole};
use crate::window::{Window, by_window};
use crate::{Acked, Build, Congestion, CongestionControl, CongestionKind, Start};
use sojourn_units::{ParamError, Ratio, params};

params! {
    /// HighSpeed TCP (RFC 3649): Reno up to 38 segments, with faster growth and smaller reductions above.
    pub struct HighspeedParams {
        /// Window up to which the algorithm is Reno, in segments (Low_Window).
        low_window: u32 = "38", range "1".."100000", source "RFC 3649 section 5",
            where dialect is "rfc" because "ns-3 and Linux have the table of RFC 3649 built in";
        /// Window reached at the loss rate `high_p`, segments (High_Window).
        high_window: u32 = "83000", range "2".., source "RFC 3649 section 5",
            where dialect is "rfc" because "ns-3 and Linux have the table of RFC 3649 built in",
            acts "the window is above `low_window`";
        /// Loss rate at which the window is `high_window` (High_P).
        high_p: f64 = "0.0000001", range "0.000000000001".."0.1", source "RFC 3649 section 5 (10^-7)",
            where dialect is "rfc" because "ns-3 and Linux have the table of RFC 3649 built in",
            acts "the window is above `low_window`";
        /// Fraction by which a loss reduces a window of `high_window` (High_Decrease).
        high_decrease: Ratio = "0.1", source "RFC 3649 section 5",
            where dialect is "rfc" because "ns-3 and Linux have the table of RFC 3649 built in",
            acts "the window is above `low_window`";
    }
    dialects Dialect {
        /// RFC 3649.
        rfc as Rfc = "rfc3649" {}
        /// TcpHighSpeed of ns-3.
        ns3 as Ns3 = "ns3-3.44" {}
        /// tcp_highspeed.c.
        linux as Linux = "linux-6.1" {}
    }
}

/// The state of one connection.
#[derive(Clone, Debug)]
pub struct Highspeed {
    window: Window,
    /// Window up to which it is Reno (Low_Window), segments.
    low: f64,
    /// Window reached at `high_p` (High_Window), segments.
    high: f64,
    /// The loss rate at which Reno has `low` (Low_P).
    low_p: f64,
    /// Loss rate at which the window is `high_window` (High_P).
    high_p: f64,
    /// What a loss takes off a window of `high` (High_Decrease).
    high_decrease: f64,
}

impl Highspeed {
    /// Where a window lies between both, in logarithms.
    fn place(&self, window: f64) -> f64 {
        (libm::log(window) - libm::log(self.low)) / (libm::log(self.high) - libm::log(self.low))
    }

    /// b(w): the part that a loss takes off.
    fn decrease(&self, window: f64) -> f64 {
        if window <= self.low {
            return 0.5;
        }
        (0.5 + (self.high_decrease - 0.5) * self.place(window)).max(self.high_decrease)
    }

    /// a(w): segments per round trip.
    fn increase(&self, window: f64) -> f64 {
        if window <= self.low {
            return 1.0;
        }
        let ratio = libm::log(self.high_p) - libm::log(self.low_p);
        let p = libm::exp(libm::log(self.low_p) + self.place(window) * ratio);
        let b = self.decrease(window);
        (window * window * p * 2.0 * b / (2.0 - b)).max(1.0)
    }
}

impl Build for Highspeed {
    type Params = HighspeedParams;

    fn build(params: &HighspeedParams) -> Result<Highspeed, ParamError> {
        let holds = params.low_window <= params.high_window;
        in_order(params, holds, "low_window", "high_window")?;
        let low = f64::from(params.low_window);
        Ok(Highspeed {
            window: Window::new(),
            low,
            high: f64::from(params.high_window).max(low + 1.0),
            // Reno's law, w = 1.2 / sqrt(p): 10^-3 for 38 segments.
            low_p: 1.44 / (low * low),
            high_p: params.high_p,
            high_decrease: params.high_decrease.get(),
        })
    }
}

impl CongestionControl for Highspeed {
    by_window!();

    fn on_start(&mut self, start: &Start) {
        self.window.start(start);
    }

    fn on_ack(&mut self, acked: &Acked) {
        if let Some(bytes) = self.window.admit(acked) {
            let bytes = self.window.slow_start(bytes);
            if bytes > 0 {
                let cwnd = real(self.window.cwnd);
                let steps = self.increase(cwnd / real(self.window.mss));
                self.window.grow(bytes, whole(cwnd / steps));
            }
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let window = real(self.window.cwnd);
        let left = 1.0 - self.decrease(window / real(self.window.mss));
        match congestion.kind {
            CongestionKind::Loss | CongestionKind::Ecn => self.window.fall_by(left),
            CongestionKind::Timeout(expiry) => {
                self.window.time_out(whole(window * left), expiry);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_and_fall_are_those_of_the_table_of_the_rfc() {
        let cc = Highspeed::build(&HighspeedParams::default()).unwrap();
        // RFC 3649 appendix B: w, a(w), b(w).
        for (window, a, b) in [
            (38.0, 1.0, 0.50),
            (118.0, 2.0, 0.44),
            (1058.0, 8.0, 0.33),
            (10661.0, 30.0, 0.21),
            (53677.0, 62.0, 0.12),
            (75401.0, 69.0, 0.10),
        ] {
            let (ours_a, ours_b) = (cc.increase(window), cc.decrease(window));
            // It is computed with p(w) rounded to 1 / (12.8 w^1.2), and whole parts are shown.
            let off = if window > 38.0 { ours_a - a } else { 0.0 };
            assert!((0.0..0.03 * a).contains(&off), "{window}: {ours_a}");
            assert!((ours_b - b).abs() < 0.006, "{window}: {ours_b}");
        }
    }
}
