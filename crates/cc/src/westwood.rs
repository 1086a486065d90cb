//! Westwood+: after a loss the window becomes what the measured rate needs.
//!
//! Sources: Mascolo et al. 2001 (the idea), Grieco and Mascolo 2004 (the rate per round trip, filtered), tcp_westwood.c of Linux
//! 6.1 for the filter: two low-pass filters of 7/8 in a row, over at least 50 ms.
//! Dialects `ns3` and `linux` are in `westwood/ns3.rs` and `westwood/linux.rs`.

mod linux;
mod ns3;

pub(crate) use self::linux::Linux;
pub(crate) use self::ns3::Ns3;
use crate::num::{real, seconds, whole};
use crate::window::{Window, by_window};
use crate::{Acked, Build, Congestion, CongestionControl, CongestionKind, Sample, Start, Traits};
use sojourn_units::{ParamError, Ratio, Span, Time, params};

params! {
    /// Westwood+: Reno whose window falls to the bandwidth times the minimum round-trip time.
    pub struct WestwoodParams {
        /// Weight of the old estimate in each filter.
        filter: Ratio = "0.875", source "tcp_westwood.c, westwood_do_filter (7/8)",
            where dialect not "linux" because "tcp_westwood.c has 7/8 built in";
        /// Minimum time over which the rate is measured.
        least_interval: Span = "50ms", range "1us".."10s", source "tcp_westwood.c, TCP_WESTWOOD_RTT_MIN",
            where dialect not "ns3" because "tcp-westwood-plus.cc takes the rate over a round trip",
            acts "round trips are shorter than this";
    }
    dialects Dialect {
        /// Westwood+ as in Linux.
        rfc as Rfc = "westwood-2004" {}
        /// TcpWestwoodPlus of ns-3.
        ns3 as Ns3 = "ns3-3.44" {
            filter = "0.9" from "tcp-westwood-plus.cc, ALPHA";
        }
        /// tcp_westwood.c.
        linux as Linux = "linux-6.1" {}
    }
}

/// The state of one connection.
#[derive(Clone, Debug)]
pub struct Westwood {
    window: Window,
    /// Weight of the old estimate in each filter.
    filter: f64,
    least_interval: Span,
    /// Bytes per second: filtered once, and twice.
    once: Option<f64>,
    /// The rate, filtered twice, bytes per second.
    rate: f64,
    least_rtt: Option<Span>,
    rtt: Span,
    since: Time,
    /// Bytes acknowledged since the rate was last taken.
    bytes: u64,
}

impl Westwood {
    fn needed(&self) -> u64 {
        whole(self.rate * self.least_rtt.map_or(0.0, seconds))
    }
}

impl Build for Westwood {
    type Params = WestwoodParams;

    fn build(params: &WestwoodParams) -> Result<Westwood, ParamError> {
        Ok(Westwood {
            window: Window::new(),
            filter: params.filter.get(),
            least_interval: params.least_interval,
            once: None,
            rate: 0.0,
            least_rtt: None,
            rtt: Span::ZERO,
            since: Time::ZERO,
            bytes: 0,
        })
    }
}

impl CongestionControl for Westwood {
    by_window!();

    fn on_start(&mut self, start: &Start) {
        self.window.start(start);
        self.since = start.now;
    }

    fn traits(&self) -> Traits {
        Traits {
            samples: true,
            raises: Some("after a timeout the threshold is what the path was measured to need"),
            ..Traits::default()
        }
    }

    fn on_sample(&mut self, sample: &Sample) {
        if let Some(rtt) = sample.rtt {
            self.rtt = rtt;
            self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        self.bytes += sample.newly_delivered;
        let elapsed = sample.now.saturating_since(self.since);
        if !self.rtt.is_zero() && elapsed > self.rtt.max(self.least_interval) {
            let now = real(self.bytes) / seconds(elapsed);
            let keep = self.filter;
            match self.once {
                None => {
                    self.once = Some(now);
                    self.rate = now;
                }
                Some(once) => {
                    let once = keep * once + (1.0 - keep) * now;
                    self.once = Some(once);
                    self.rate = keep * self.rate + (1.0 - keep) * once;
                }
            }
            self.bytes = 0;
            self.since = sample.now;
        }
    }

    fn on_ack(&mut self, acked: &Acked) {
        if let Some(bytes) = self.window.admit(acked) {
            let bytes = self.window.slow_start(bytes);
            if bytes > 0 {
                self.window.grow(bytes, self.window.cwnd);
            }
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let to = self.needed();
        match congestion.kind {
            // A window that is less than what the path needs is no reason to raise it.
            CongestionKind::Loss | CongestionKind::Ecn => {
                self.window.fall(to.min(self.window.cwnd), 2);
            }
            CongestionKind::Timeout(expiry) => self.window.time_out(to, expiry),
        }
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("bw (bps)", self.rate * 8.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::tests::{MSS, Pipe};

    #[test]
    fn a_loss_leaves_what_fills_the_path_without_a_queue() {
        let cc = Westwood::build(&WestwoodParams::default()).unwrap();
        let mut pipe = Pipe::new(cc, 1000.0, Span::from_ms(100));
        pipe.cc.window.ssthresh = 120 * MSS;
        pipe.run(Span::from_secs(10));
        pipe.congest(CongestionKind::Loss);
        // 1000 segments per second times 101 ms.
        assert!((pipe.window() - 101.0).abs() < 4.0, "{}", pipe.window());
    }
}
