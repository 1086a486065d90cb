//! DCTCP: the window falls by as much as the part of the data that was marked.
//!
//! Sources: RFC 8257 sections 3.3 to 3.5, read line by line as its last draft has them; dialect `linux`: tcp_dctcp.c of Linux 6.1, alpha in 1024ths.
//! Dialect `ns3` is in `dctcp/ns3.rs`.
//!
//! Deviations: selectively acknowledged data counts at once, not when the acknowledgement number passes it (section
//! 3.3, item 1); a mark leaves a window of at least two segments.

mod ns3;

pub(crate) use self::ns3::Ns3;
use crate::num::{real, scaled};
use crate::reno::Halved;
use crate::window::{Window, by_window};
use crate::{
    Acked, Build, Congestion, CongestionControl, CongestionKind, EcnUse, Phase, Sample, Start,
    Traits,
};
use sojourn_units::{ParamError, Ratio, Time, choice, params};

choice! {
    /// Which acknowledgement ends a window of observation, which begins with the byte to send next.
    pub enum Ends {
        /// The first one for data sent in the next window; it counts (RFC 8257 section 3.3, item 4).
        Beyond = "beyond",
        /// The one for all data outstanding at the window's start; the data it delivers counts for the next window
        /// (Linux).
        Before = "before",
    }
}

params! {
    /// DCTCP (RFC 8257): reduces the window in proportion to the fraction of marked bytes, for data centres with queues
    /// that mark early.
    pub struct DctcpParams {
        /// Weight of a new sample of the marked fraction (g).
        g: Ratio = "0.0625", source "RFC 8257 section 4.2 (1/16)";
        /// Initial marked fraction (alpha).
        alpha: Ratio = "1", source "RFC 8257 section 3.3, item 4";
        /// Whether the fraction is kept in 1024ths, so that small fractions are rounded to zero.
        in_1024ths: bool = "false", source "RFC 8257 section 3.3 (a real number)",
            where dialect not "ns3" because "TcpDctcp keeps a real number";
        /// Which acknowledgement ends an observation window.
        ends: Ends = "beyond", source "RFC 8257 section 3.3, item 4",
            where dialect not "ns3" because "TcpDctcp counts acknowledgements by a rule of its own";
        /// Whether a loss halves a window that a mark has just reduced.
        loss_after_mark: bool = "false", source "RFC 3168 section 6.1.2 (once per window of data)",
            where dialect not "ns3" because "TcpDctcp answers losses as marks";
        /// Quantity that a loss halves.
        halved: Halved = "flight", source "RFC 8257 section 3.5, RFC 5681 equation 4",
            where dialect not "ns3" because "TcpDctcp answers losses as marks";
    }
    dialects Dialect {
        /// RFC 8257.
        rfc as Rfc = "rfc8257" {}
        /// TcpDctcp of ns-3.
        ns3 as Ns3 = "ns3-3.44" {}
        /// tcp_dctcp.c.
        linux as Linux = "linux-6.1" {
            in_1024ths = "true" from "tcp_dctcp.c, dctcp_update_alpha";
            ends = "before" from "tcp_dctcp.c, dctcp_update_alpha runs before what is delivered is counted";
            halved = "cwnd" from "tcp_dctcp.c, dctcp_react_to_loss";
            loss_after_mark = "true" from "tcp_dctcp.c, dctcp_state: whenever a recovery begins";
        }
    }
}

const UNIT: u64 = 1024;

/// The state of one connection.
#[derive(Clone, Debug)]
pub struct Dctcp {
    window: Window,
    /// Weight of a new observation (g of RFC 8257 section 4.2).
    g: f64,
    /// The fraction of marked bytes, smoothed (DCTCP.Alpha).
    alpha: f64,
    in_1024ths: bool,
    ends: Ends,
    /// The byte to send next when the window of observation began (DCTCP.WindowEnd).
    window_end: u64,
    /// Bytes acknowledged in it (DCTCP.BytesAcked).
    bytes_acked: u64,
    /// Those of them that were marked (DCTCP.BytesMarked).
    bytes_marked: u64,
    loss_after_mark: bool,
    halved: Halved,
    /// The window falls for a mark.
    reducing: bool,
    /// The window that the transport allows then, bytes.
    allowed: u64,
}

impl Dctcp {
    fn half(&self, congestion: &Congestion) -> u64 {
        match self.halved {
            Halved::Flight => congestion.in_flight / 2,
            Halved::Cwnd => self.window.cwnd / 2,
        }
    }

    /// RFC 8257 section 3.3, items 5 to 8.
    fn update(&mut self) {
        if self.in_1024ths {
            let old = scaled(UNIT, self.alpha);
            // What is too small to fall further vanishes.
            let step = scaled(old, self.g);
            let mut alpha = old - if step == 0 { old } else { step };
            if self.bytes_marked > 0 {
                let part = scaled(UNIT, self.g) * self.bytes_marked / self.bytes_acked.max(1);
                alpha = (alpha + part).min(UNIT);
            }
            self.alpha = real(alpha) / real(UNIT);
        } else if self.bytes_acked > 0 {
            // RFC 8257 section 3.3, items 5 and 6: M is the marked part, and DCTCP.Alpha follows it by g.
            let m = real(self.bytes_marked) / real(self.bytes_acked);
            self.alpha = self.alpha * (1.0 - self.g) + self.g * m.min(1.0);
        }
        self.bytes_acked = 0;
        self.bytes_marked = 0;
    }
}

impl Build for Dctcp {
    type Params = DctcpParams;

    fn build(params: &DctcpParams) -> Result<Dctcp, ParamError> {
        Ok(Dctcp {
            window: Window::new(),
            g: params.g.get(),
            alpha: params.alpha.get(),
            in_1024ths: params.in_1024ths,
            ends: params.ends,
            window_end: 0,
            bytes_acked: 0,
            bytes_marked: 0,
            loss_after_mark: params.loss_after_mark,
            halved: params.halved,
            reducing: false,
            allowed: 0,
        })
    }
}

impl CongestionControl for Dctcp {
    by_window!();

    fn on_start(&mut self, start: &Start) {
        self.window.start(start);
    }

    fn traits(&self) -> Traits {
        Traits {
            ecn: EcnUse::PerSegment,
            samples: true,
            ..Traits::default()
        }
    }

    fn on_sample(&mut self, sample: &Sample) {
        let over = match self.ends {
            Ends::Beyond => sample.una > self.window_end,
            Ends::Before => sample.una >= self.window_end,
        };
        if self.ends != Ends::Before {
            self.bytes_acked += sample.newly_delivered;
            self.bytes_marked += sample.marked;
        }
        if over {
            self.update();
            self.window_end = sample.next;
        }
        if self.ends == Ends::Before {
            self.bytes_acked += sample.newly_delivered;
            self.bytes_marked += sample.marked;
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
        match congestion.kind {
            CongestionKind::Ecn => {
                // RFC 8257 section 3.3, item 9: cwnd becomes cwnd * (1 - DCTCP.Alpha / 2).
                let mut cut = scaled(self.window.cwnd, self.alpha / 2.0);
                if self.in_1024ths {
                    // What is cut is rounded, not what is left.
                    cut -= cut % self.window.mss;
                }
                self.window.fall(self.window.cwnd - cut, 2);
            }
            // A loss is answered as by Reno (RFC 8257 section 3.5, RFC 5681 equation 4).
            CongestionKind::Loss => self.window.fall(self.half(congestion), 2),
            CongestionKind::Timeout(expiry) => {
                self.window.time_out(self.half(congestion), expiry);
            }
        }
    }

    fn on_window(&mut self, cwnd: u64) {
        self.allowed = cwnd;
    }

    fn on_phase(&mut self, phase: Phase, _now: Time) {
        if self.loss_after_mark && self.reducing && phase == Phase::Recovery {
            self.window.fall(self.allowed / 2, 2);
        }
        self.reducing = phase == Phase::Reducing;
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("alpha", self.alpha);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::tests::Pipe;
    use sojourn_units::{Params, Span};

    #[test]
    fn alpha_settles_where_growth_and_marks_balance() {
        // Alizadeh et al. 2011: at a marking threshold K, alpha = sqrt(2 / (C RTT + K)) in segments; here 100 + 20.
        let mut pipe = Pipe::new(
            Dctcp::build(&DctcpParams::default()).unwrap(),
            10_000.0,
            Span::from_ms(10),
        );
        pipe.mark_above = Some(Span::from_ms(2));
        pipe.run(Span::from_secs(5));
        let mut sum = 0.0;
        for _ in 0..400 {
            pipe.run(Span::from_ms(7));
            sum += pipe.cc.alpha;
        }
        let alpha = sum / 400.0;
        let expected = (2.0f64 / 120.0).sqrt();
        assert!((alpha / expected - 1.0).abs() < 0.2, "{alpha} {expected}");
        let window = pipe.mean_window(Span::from_secs(2));
        assert!((110.0..130.0).contains(&window), "{window}");
    }

    #[test]
    fn each_dialect_ends_a_window_of_observation_where_its_source_does() {
        // A window of one segment, and a marked one after it: the fraction of the first window, and the bytes counted for the next.
        for (dialect, alpha, left) in [("rfc", 0.5, 0), ("linux", 0.0, 2000)] {
            let mut params = DctcpParams::in_dialect(dialect).unwrap();
            params.set("alpha", "0").unwrap();
            params.set("g", "1").unwrap();
            let mut dctcp = Dctcp::build(&params).unwrap();
            dctcp.window_end = 1000;
            for (una, marked) in [(1000, 0), (2000, 1000)] {
                dctcp.on_sample(&Sample {
                    una,
                    next: 5000,
                    newly_delivered: 1000,
                    marked,
                    ..Sample::default()
                });
            }
            assert_eq!((dctcp.alpha, dctcp.bytes_acked), (alpha, left), "{dialect}");
        }
    }

    #[test]
    fn a_loss_halves_what_is_in_flight_as_it_does_for_reno() {
        for (dialect, left) in [("rfc", 5), ("linux", 8)] {
            for kind in [
                CongestionKind::Loss,
                CongestionKind::Timeout(crate::Expiry::default()),
            ] {
                let mut dctcp = Dctcp::build(&DctcpParams::in_dialect(dialect).unwrap()).unwrap();
                dctcp.on_start(&Start {
                    mss: 1000,
                    initial_window: 16_000,
                    whole_segments: true,
                    ..Start::default()
                });
                dctcp.on_congestion(&Congestion {
                    now: Time::ZERO,
                    kind,
                    in_flight: 10_000,
                    mss: 1000,
                });
                assert_eq!(dctcp.ssthresh(), left * 1000, "{dialect}");
            }
        }
    }

    #[test]
    fn in_1024ths_a_small_fraction_vanishes() {
        let mut params = DctcpParams::in_dialect("linux").unwrap();
        params.set("alpha", "0.02").unwrap();
        let mut dctcp = Dctcp::build(&params).unwrap();
        dctcp.bytes_acked = 1000;
        dctcp.update();
        assert_eq!(dctcp.alpha, 19.0 / 1024.0);
        for _ in 0..5 {
            dctcp.update();
        }
        assert_eq!(dctcp.alpha, 0.0);
    }

    #[test]
    fn a_loss_halves_a_window_that_falls_for_a_mark_only_in_linux() {
        for (dialect, segments) in [("rfc", 12), ("linux", 7)] {
            let mut dctcp = Dctcp::build(&DctcpParams::in_dialect(dialect).unwrap()).unwrap();
            let start = Start {
                mss: 1000,
                initial_window: 16_000,
                whole_segments: true,
                ..Start::default()
            };
            dctcp.on_start(&start);
            dctcp.alpha = 0.5;
            dctcp.on_congestion(&Congestion {
                now: Time::ZERO,
                kind: CongestionKind::Ecn,
                in_flight: 16_000,
                mss: 1000,
            });
            dctcp.on_phase(Phase::Reducing, Time::ZERO);
            assert_eq!(dctcp.ssthresh(), 12_000, "a quarter for half of the marks");
            // The transport has come down from 16 segments to 15.
            dctcp.on_window(15_000);
            dctcp.on_phase(Phase::Recovery, Time::ZERO);
            assert_eq!(dctcp.ssthresh(), segments * 1000, "{dialect}");
            // What was lost before the recovery ends is of the same window.
            dctcp.on_phase(Phase::Recovery, Time::ZERO);
            assert_eq!(dctcp.ssthresh(), segments * 1000, "{dialect}");
        }
    }
}
