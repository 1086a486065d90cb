//! TCP-LP: uses what others leave, by one-way delay.
//!
//! Source: Kuzmanovic and Knightly 2003 (early congestion at 15 % of the delay range, which slow start finds out; inference phase); tcp_lp.c of Linux 6.1.
//! Dialects `ns3` and `linux` are in `lp/ns3.rs` and `lp/linux.rs`.

mod linux;
mod ns3;

pub(crate) use self::linux::Linux;
pub(crate) use self::ns3::Ns3;
use crate::num::{micros, real};
use crate::window::{Window, by_window};
use crate::{Acked, Build, Congestion, CongestionControl, CongestionKind, Sample, Start, Traits};
use sojourn_units::{ParamError, Ratio, Span, Time, params};

params! {
    /// TCP-LP: low-priority transport that halves the window at the first sign of delay, and falls to one segment at
    /// the second.
    pub struct LpParams {
        /// Position in the range of delays above which there is congestion (delta).
        threshold: Ratio = "0.15", source "Kuzmanovic & Knightly 2003",
            where dialect is "rfc" because "ns-3 and Linux have 15 % and an eighth built in";
        /// Weight of a new sample of delay (gamma).
        weight: Ratio = "0.125", source "Kuzmanovic & Knightly 2003",
            where dialect is "rfc" because "ns-3 and Linux have 15 % and an eighth built in";
        /// Offset of the receiver's timestamps from the sender's clock, in ms, modulo 2^32. Linux draws it at random
        /// for each pair of hosts (tcp_timestamps=1). From 2^29 on, which is seven of eight pairs, it never detects
        /// congestion.
        clock_offset: u32 = "2147483648", source "secure_seq.c, secure_tcp_ts_off: the middle of its range",
            where dialect is "linux" because "only Linux uses differences of two clocks";
    }
    dialects Dialect {
        /// The paper.
        rfc as Rfc = "lp-2003" {}
        /// TcpLp of ns-3.
        ns3 as Ns3 = "ns3-3.44" {}
        /// tcp_lp.c.
        linux as Linux = "linux-6.1" {}
    }
}

/// Round trips of the inference phase.
const INFERENCE: u64 = 3;

/// The range of delays as ns-3 and Linux keep it, milliseconds: of the greatest ones seen the second counts.
#[derive(Clone, Debug)]
pub(crate) struct Range {
    /// The least delay seen.
    pub(crate) least: u32,
    /// The greatest delay seen.
    pub(crate) most: u32,
    /// The greatest one seen except for `most`.
    reserve: u32,
}

impl Range {
    pub(crate) fn new() -> Range {
        Range {
            least: u32::MAX,
            most: 0,
            reserve: 0,
        }
    }

    pub(crate) fn take(&mut self, delay: u32) {
        self.least = self.least.min(delay);
        if delay > self.most {
            self.most = delay;
            if delay > self.reserve {
                if self.reserve != 0 {
                    self.most = self.reserve;
                }
                self.reserve = delay;
            }
        }
    }

    /// Congestion was seen at this delay: the range is from it to twice as much.
    pub(crate) fn begin(&mut self, least: u32, most: u32) {
        self.least = least;
        self.most = most;
        self.reserve = most;
    }
}

/// The state of one connection.
#[derive(Clone, Debug)]
pub struct Lp {
    window: Window,
    /// Position in the range of delays above which there is congestion (delta).
    threshold: f64,
    /// Weight of a new sample of delay (gamma).
    weight: f64,
    /// Microseconds.
    least: f64,
    /// The greatest delay, microseconds.
    most: f64,
    /// The smoothed delay, microseconds.
    smoothed: Option<f64>,
    srtt: Span,
    /// A loss has shown how long the delay can be; before that there is no threshold.
    calibrated: bool,
    /// Congestion was seen; until then it is not believed to be over.
    inference_until: Option<Time>,
}

impl Build for Lp {
    type Params = LpParams;

    fn build(params: &LpParams) -> Result<Lp, ParamError> {
        Ok(Lp {
            window: Window::new(),
            threshold: params.threshold.get(),
            weight: params.weight.get(),
            least: f64::INFINITY,
            most: 0.0,
            smoothed: None,
            srtt: Span::ZERO,
            calibrated: false,
            inference_until: None,
        })
    }
}

impl CongestionControl for Lp {
    by_window!();

    fn on_start(&mut self, start: &Start) {
        self.window.start(start);
    }

    fn traits(&self) -> Traits {
        Traits {
            samples: true,
            timestamps: true,
            ..Traits::default()
        }
    }

    fn on_sample(&mut self, sample: &Sample) {
        self.srtt = sample.srtt.unwrap_or(self.srtt);
        if let Some(delay) = sample.one_way {
            let delay = real(micros(delay));
            self.least = self.least.min(delay);
            self.most = self.most.max(delay);
            let old = self.smoothed.unwrap_or(delay);
            self.smoothed = Some(old + self.weight * (delay - old));
        }
    }

    fn on_ack(&mut self, acked: &Acked) {
        let Some(bytes) = self.window.admit(acked) else {
            return;
        };
        let limit = self.least + self.threshold * (self.most - self.least);
        let congested = self
            .smoothed
            .is_some_and(|delay| self.calibrated && delay > limit);
        let inferring = self.inference_until.is_some_and(|until| acked.now < until);
        if !congested {
            if !inferring {
                self.inference_until = None;
                let bytes = self.window.slow_start(bytes);
                if bytes > 0 {
                    self.window.grow(bytes, self.window.cwnd);
                }
            }
            return;
        }
        match self.inference_until {
            // It goes on after the first answer: one segment.
            Some(_) if !inferring => {
                self.window.cwnd = self.window.mss;
                self.window.ssthresh = self.window.ssthresh.min(2 * self.window.mss);
                self.inference_until = Some(acked.now.saturating_add(self.srtt * INFERENCE));
            }
            Some(_) => {}
            None => {
                self.window.fall(self.window.cwnd / 2, 1);
                self.inference_until = Some(acked.now.saturating_add(self.srtt * INFERENCE));
            }
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.calibrated = true;
        match congestion.kind {
            CongestionKind::Loss | CongestionKind::Ecn => self.window.fall_by(0.5),
            CongestionKind::Timeout(expiry) => {
                self.window.time_out(self.window.cwnd / 2, expiry);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::tests::MSS;
    use sojourn_units::Span;

    fn cc() -> Lp {
        let mut cc = Lp::build(&LpParams::default()).unwrap();
        cc.on_start(&Start {
            mss: MSS,
            initial_window: 40 * MSS,
            ..Start::default()
        });
        cc.calibrated = true;
        cc
    }

    fn step(cc: &mut Lp, ms: u64, delay_ms: u64) {
        let now = Time::ZERO + Span::from_ms(ms);
        cc.on_sample(&Sample {
            now,
            one_way: Some(Span::from_ms(delay_ms)),
            srtt: Some(Span::from_ms(100)),
            ..Sample::default()
        });
        cc.on_ack(&Acked {
            now,
            bytes: 0,
            in_flight: 0,
            rtt: None,
            echo: false,
            limited: true,
            stage: crate::Stage::Open,
        });
    }

    #[test]
    fn delay_halves_the_window_and_lasting_delay_leaves_one_segment() {
        let mut cc = cc();
        step(&mut cc, 0, 20);
        for ms in 1..30 {
            step(&mut cc, ms, 60);
        }
        assert_eq!(cc.cwnd(), 20 * MSS, "once in the inference phase");
        step(&mut cc, 400, 60);
        assert_eq!(cc.cwnd(), MSS);
    }

    #[test]
    fn a_delay_in_the_lowest_part_of_the_range_does_not_count() {
        let mut cc = cc();
        step(&mut cc, 0, 20);
        cc.most = 120_000.0;
        for ms in 1..30 {
            step(&mut cc, ms, 33);
        }
        assert_eq!(cc.cwnd(), 40 * MSS);
    }
}
