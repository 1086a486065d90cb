//! H-TCP: growth depends on the time since the last loss, the fall on how much the delay varies.
//!
//! Sources: draft-leith-tcp-htcp-06 sections 3 and 5 for the growth. The draft does not change the reduction after a
//! loss and refers to the authors' papers (Shorten and Leith 2004), in which it adapts. The adaptation, and its
//! compensation in the growth, follow tcp_htcp.c of Linux 6.1, which has a quarter of the square of time where the
//! draft has a half. Dialects `ns3` and `linux` are in `htcp/ns3.rs` and `htcp/linux.rs`.

mod linux;
mod ns3;

pub(crate) use self::linux::Linux;
pub(crate) use self::ns3::Ns3;
use crate::num::{real, seconds, whole};
use crate::window::{Round, Window, by_window};
use crate::{Acked, Build, Congestion, CongestionControl, CongestionKind, Sample, Start, Traits};
use sojourn_units::{ParamError, Span, Time, params};

params! {
    /// H-TCP: the window grows faster the more time has passed since the last loss.
    pub struct HtcpParams {
        /// Time after a loss in which the algorithm is Reno (Delta_L).
        low_time: Span = "1s", range .."100s", source "draft-leith-tcp-htcp-06 section 3 (at least 1 s)";
        /// Whether growth is scaled by the round trip divided by 100 ms: after `low_time`, or always in dialect linux
        /// (use_rtt_scaling).
        rtt_scaling: bool = "false", source "draft-leith-tcp-htcp-06 section 5 (optional)",
            where dialect not "ns3" because "tcp-htcp.cc has no such scaling";
        /// Whether the reduction after a loss adapts to the measured delays.
        adaptive: bool = "true", source "Shorten and Leith 2004, tcp_htcp.c; draft-leith-tcp-htcp-06 keeps the reduction at a half";
    }
    dialects Dialect {
        /// The draft.
        rfc as Rfc = "htcp-06" {}
        /// TcpHtcp of ns-3.
        ns3 as Ns3 = "ns3-3.44" {}
        /// tcp_htcp.c.
        linux as Linux = "linux-6.1" {
            rtt_scaling = "true" from "tcp_htcp.c, use_rtt_scaling";
        }
    }
}

/// Round trip for which the growth is made, seconds (section 5).
const RTT_REF: f64 = 0.1;

/// The state of one connection.
#[derive(Clone, Debug)]
pub struct Htcp {
    window: Window,
    low_time: Span,
    rtt_scaling: bool,
    adaptive: bool,
    last_loss: Time,
    last: Option<Span>,
    least: Option<Span>,
    most: Span,
    /// Factor by which a loss multiplies the window.
    beta: f64,
    /// Bytes per second, of the round now and when the last loss came.
    round: Round,
    round_at: Time,
    /// Bytes acknowledged in the round.
    bytes: u64,
    /// The rate of the last round, bytes per second.
    rate: f64,
    /// That when the last loss came, bytes per second.
    old_rate: f64,
}

impl Htcp {
    /// Segments per round trip (sections 3 and 5).
    fn alpha(&self, now: Time) -> f64 {
        let since = now.saturating_since(self.last_loss);
        let late = since.saturating_sub(self.low_time);
        let d = seconds(late);
        let scale = match self.last {
            Some(rtt) if self.rtt_scaling => seconds(rtt) / RTT_REF,
            _ => 1.0,
        };
        let alpha = if late.is_zero() {
            1.0
        } else {
            scale * (1.0 + 10.0 * d + d * d / 2.0)
        };
        (2.0 * (1.0 - self.beta) * alpha).max(1.0)
    }

    fn adapt(&mut self) {
        let steady = (self.rate - self.old_rate).abs() <= 0.2 * self.old_rate;
        self.old_rate = self.rate;
        self.beta = match self.least {
            Some(least) if self.adaptive && steady && !self.most.is_zero() => {
                (seconds(least) / seconds(self.most)).clamp(0.5, 0.8)
            }
            _ => 0.5,
        };
        self.most = Span::ZERO;
    }
}

impl Build for Htcp {
    type Params = HtcpParams;

    fn build(params: &HtcpParams) -> Result<Htcp, ParamError> {
        Ok(Htcp {
            window: Window::new(),
            low_time: params.low_time,
            rtt_scaling: params.rtt_scaling,
            adaptive: params.adaptive,
            last_loss: Time::ZERO,
            last: None,
            least: None,
            most: Span::ZERO,
            beta: 0.5,
            round: Round::default(),
            round_at: Time::ZERO,
            bytes: 0,
            rate: 0.0,
            old_rate: 0.0,
        })
    }
}

impl CongestionControl for Htcp {
    by_window!();

    fn on_start(&mut self, start: &Start) {
        self.window.start(start);
        self.last_loss = start.now;
        self.round_at = start.now;
    }

    fn traits(&self) -> Traits {
        Traits {
            samples: true,
            ..Traits::default()
        }
    }

    fn on_sample(&mut self, sample: &Sample) {
        if let Some(rtt) = sample.rtt {
            self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
            self.most = self.most.max(rtt);
            self.last = Some(rtt);
        }
        self.bytes += sample.newly_delivered;
        if self.round.passed(sample) {
            let elapsed = seconds(sample.now.saturating_since(self.round_at));
            if elapsed > 0.0 {
                self.rate = real(self.bytes) / elapsed;
            }
            self.round_at = sample.now;
            self.bytes = 0;
        }
    }

    fn on_ack(&mut self, acked: &Acked) {
        if let Some(bytes) = self.window.admit(acked) {
            let bytes = self.window.slow_start(bytes);
            if bytes > 0 {
                let per = real(self.window.cwnd) / self.alpha(acked.now);
                self.window.grow(bytes, whole(per));
            }
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.adapt();
        self.last_loss = congestion.now;
        match congestion.kind {
            CongestionKind::Loss | CongestionKind::Ecn => self.window.fall_by(self.beta),
            CongestionKind::Timeout(expiry) => {
                let to = whole(real(self.window.cwnd) * self.beta);
                self.window.time_out(to, expiry);
            }
        }
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("beta", self.beta);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_that_of_reno_for_a_second_and_then_quadratic() {
        let mut htcp = Htcp::build(&HtcpParams::default()).unwrap();
        htcp.last_loss = Time::ZERO;
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        assert_eq!(htcp.alpha(at(900)), 1.0);
        assert_eq!(htcp.alpha(at(3000)), 1.0 + 20.0 + 2.0);
        htcp.beta = 0.8;
        assert!((htcp.alpha(at(3000)) - 0.4 * 23.0).abs() < 1e-9);
    }

    #[test]
    fn growth_scales_with_the_round_trip_where_asked_for() {
        let mut htcp = Htcp::build(&HtcpParams {
            rtt_scaling: true,
            ..HtcpParams::default()
        })
        .unwrap();
        htcp.last = Some(Span::from_ms(200));
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        assert_eq!(htcp.alpha(at(900)), 1.0);
        assert!((htcp.alpha(at(3000)) - 46.0).abs() < 1e-9);
    }

    #[test]
    fn the_fall_leaves_what_empties_the_queue() {
        let mut htcp = Htcp::build(&HtcpParams::default()).unwrap();
        htcp.least = Some(Span::from_ms(70));
        htcp.most = Span::from_ms(100);
        htcp.rate = 100.0;
        htcp.old_rate = 100.0;
        htcp.adapt();
        assert!((htcp.beta - 0.7).abs() < 1e-9);
        htcp.rate = 200.0;
        htcp.most = Span::from_ms(100);
        htcp.adapt();
        assert_eq!(htcp.beta, 0.5, "the rate has changed too much");
    }
}
