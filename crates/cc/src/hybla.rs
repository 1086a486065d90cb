//! Hybla: grows as a connection with a short round trip would.
//!
//! Source: Caini and Firrincieli 2004, with the bandwidth estimate of Hoe 1996 ("Improving the start-up behavior of a congestion control scheme
//! for TCP") that it asks for. In slow start, each acknowledgement releases 2^rho segments: 65 536 of them over 400 ms,
//! long before the sender learns of a loss. The estimate limits this: the first threshold is the rate at which the
//! segments of the initial window arrive, times the minimum round trip. Until it is known, the window grows as in Reno.
//!
//! Deviation: the estimate uses all of the initial window, not three acknowledgements; segments are not paced. A
//! connection that starts while the queue is full takes the queueing delay for propagation delay, as any end host must,
//! until it measures a shorter round trip.
//!
//! Dialects `ns3` and `linux` are in `hybla/ns3.rs` and `hybla/linux.rs`.

mod linux;
mod ns3;

pub(crate) use self::linux::Linux;
pub(crate) use self::ns3::Ns3;
use crate::num::{real, seconds, whole};
use crate::window::{Window, by_window};
use crate::{Acked, Build, Congestion, CongestionControl, CongestionKind, Sample, Start, Traits};
use sojourn_units::{ParamError, Span, Time, params};

params! {
    /// Hybla: the window's growth scales with the square of the round trip divided by a reference, for long paths.
    pub struct HyblaParams {
        /// Reference round-trip time.
        rtt0: Span = "25ms", range "1ms".."10s", source "Caini & Firrincieli 2004";
    }
    dialects Dialect {
        /// The paper.
        rfc as Rfc = "hybla-2004" {}
        /// TcpHybla of ns-3.
        ns3 as Ns3 = "ns3-3.44" { rtt0 = "50ms" from "tcp-hybla.cc, RRTT"; }
        /// tcp_hybla.c.
        linux as Linux = "linux-6.1" {}
    }
}

/// Most times longer that counts: windows stay finite.
const MOST: f64 = 40.0;

/// The state of one connection.
#[derive(Clone, Debug)]
pub struct Hybla {
    window: Window,
    /// The reference, seconds.
    rtt0: f64,
    /// How many times longer, at least 1.
    rho: f64,
    /// A part of a byte that growth has left.
    rest: f64,
    /// When the first acknowledgement came, and what was delivered then.
    first: Option<(Time, u64)>,
}

impl Hybla {
    /// The first threshold (Hoe 1996): how fast the initial window came through, times the shortest round trip.
    fn estimate(&mut self, sample: &Sample) {
        let (Some((at, delivered)), Some(rtt)) = (self.first, sample.min_rtt) else {
            self.first = Some((sample.now, sample.delivered));
            return;
        };
        let time = seconds(sample.now.saturating_since(at));
        if sample.delivered < self.window.initial() || time <= 0.0 {
            return;
        }
        let rate = real(sample.delivered.saturating_sub(delivered)) / time;
        self.window.ssthresh = whole(rate * seconds(rtt)).max(2 * self.window.mss);
    }
}

impl Build for Hybla {
    type Params = HyblaParams;

    fn build(params: &HyblaParams) -> Result<Hybla, ParamError> {
        Ok(Hybla {
            window: Window::new(),
            rtt0: seconds(params.rtt0),
            rho: 1.0,
            rest: 0.0,
            first: None,
        })
    }
}

impl CongestionControl for Hybla {
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
        if let Some(rtt) = sample.min_rtt {
            self.rho = (seconds(rtt) / self.rtt0).clamp(1.0, MOST);
        }
        if self.window.ssthresh == u64::MAX {
            self.estimate(sample);
        }
    }

    fn on_ack(&mut self, acked: &Acked) {
        let Some(bytes) = self.window.admit(acked) else {
            return;
        };
        let (bytes, mss) = (real(bytes), real(self.window.mss));
        let slow = self.window.in_slow_start();
        let growth = if slow && self.window.ssthresh == u64::MAX {
            // As Reno, until the estimate is there.
            bytes
        } else if slow {
            (libm::pow(2.0, self.rho.min(16.0)) - 1.0) * bytes
        } else {
            self.rho * self.rho * bytes * mss / real(self.window.cwnd)
        };
        let next = real(self.window.cwnd) + self.rest + growth;
        self.window.cwnd = whole(next);
        self.rest = next - real(self.window.cwnd);
        if slow {
            self.window.cwnd = self.window.cwnd.min(self.window.ssthresh);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        match congestion.kind {
            CongestionKind::Loss | CongestionKind::Ecn => self.window.fall_by(0.5),
            CongestionKind::Timeout(expiry) => {
                self.window.time_out(self.window.cwnd / 2, expiry);
            }
        }
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("rho", self.rho);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::tests::{MSS, Pipe};

    #[test]
    fn the_first_slow_start_ends_at_what_the_path_holds() {
        // 1000 segments per second.
        for ms in [40, 100, 400] {
            let cc = Hybla::build(&HyblaParams::default()).unwrap();
            let mut pipe = Pipe::new(cc, 1000.0, Span::from_ms(ms));
            pipe.run(Span::from_ms(3 * ms));
            let threshold = real(pipe.cc.window.ssthresh) / real(MSS);
            assert!(
                (threshold / real(ms) - 1.0).abs() < 0.15,
                "{ms} ms: {threshold}"
            );
            let rho = real(ms) / 25.0;
            let most = real(ms) + 4.0 * rho * rho;
            assert!(pipe.window() < most, "{ms} ms: {}", pipe.window());
        }
    }

    #[test]
    fn the_rate_grows_as_fast_whatever_the_round_trip() {
        // Reno at 25 ms gains 40 segments per second, which is a rate of 40 / 25 ms more.
        for ms in [50, 100, 200] {
            let cc = Hybla::build(&HyblaParams::default()).unwrap();
            let mut pipe = Pipe::new(cc, 1e6, Span::from_ms(ms));
            pipe.cc.window.ssthresh = 0;
            pipe.cc.window.cwnd = 100 * MSS;
            pipe.run(Span::from_secs(1));
            let before = pipe.window();
            pipe.run(Span::from_secs(4));
            let per_second = (pipe.window() - before) / 4.0;
            let expected = 40.0 * real(ms) / 25.0;
            // The window is as many times larger as the round trip is longer.
            assert!((per_second / expected - 1.0).abs() < 0.1, "{per_second}");
        }
    }
}
