//! Vegas: the window is held where a few segments of it wait in queues.
//!
//! Sources: Brakmo and Peterson 1995 (the rule; alpha, beta, gamma in segments; slow start doubles the window in every second round
//! trip and holds it in between, section III.C), judged once
//! per round trip, from the shortest round-trip time of the round and of all. A round trip ends when all data
//! outstanding at its start is acknowledged, and its last sample counts. The queued data is the window minus the window
//! that the round's rate needs without queueing delay. The threshold stays one segment below the window. Dialects `ns3`
//! and `linux` are in `vegas/ns3.rs` and `vegas/linux.rs`.

mod linux;
mod ns3;

pub(crate) use self::linux::Linux;
pub(crate) use self::ns3::Ns3;
use crate::control::in_order;
use crate::num::{micros, real};
use crate::window::{Window, by_window};
use crate::{
    Acked, Build, Congestion, CongestionControl, CongestionKind, Phase, Sample, Start, Traits,
};
use sojourn_units::{ParamError, Time, params};

params! {
    /// Vegas: detects congestion by delay, and keeps between `alpha` and `beta` segments in queues.
    pub struct VegasParams {
        /// Segments in queues below which the window grows.
        alpha: u32 = "1", range .."10000", source "Brakmo & Peterson 1995";
        /// Segments in queues above which the window shrinks.
        beta: u32 = "3", range .."10000", source "Brakmo & Peterson 1995",
            acts "this number of segments are queued";
        /// Segments in queues that end slow start.
        gamma: u32 = "1", range .."10000", source "Brakmo & Peterson 1995";
    }
    dialects Dialect {
        /// The paper.
        rfc as Rfc = "vegas-1995" {}
        /// tcp-vegas.cc.
        ns3 as Ns3 = "ns3-3.44" {
            alpha = "2" from "tcp-vegas.cc, Alpha";
            beta = "4" from "tcp-vegas.cc, Beta";
        }
        /// tcp_vegas.c.
        linux as Linux = "linux-6.1" {
            alpha = "2" from "tcp_vegas.c, alpha";
            beta = "4" from "tcp_vegas.c, beta";
        }
    }
}

/// Samples below which a round is not judged: they may all be of delayed acknowledgements.
const FEW: u32 = 2;

/// The state of one connection.
#[derive(Clone, Debug)]
pub struct Vegas {
    window: Window,
    /// Segments in queues below which the window grows.
    alpha: u64,
    /// Segments in queues above which the window shrinks.
    beta: u64,
    /// Segments in queues that end slow start.
    gamma: u64,
    /// Nothing is missing: delay is what counts.
    open: bool,
    /// In slow start: the window is held for this round trip, so that what it holds is seen.
    held: bool,
    /// What is acknowledged, the byte to send next, and what it was when the round began.
    una: u64,
    /// The byte to send next.
    next: u64,
    /// The byte whose acknowledgement ends the round.
    round_end: u64,
    /// Microseconds; of all, and of the round.
    base: u64,
    /// The shortest of this round, microseconds and one more.
    least: u64,
    /// Round trips measured in it.
    samples: u32,
}

impl Vegas {
    fn reno(&mut self, bytes: u64) {
        let bytes = self.slow_start(bytes);
        if bytes > 0 {
            self.window.grow(bytes, self.window.cwnd);
        }
    }

    /// Once per round trip.
    fn judge(&mut self, bytes: u64) {
        let mss = self.window.mss;
        let cwnd = self.window.segments();
        let target = cwnd * self.base / self.least.max(1);
        let waiting = cwnd - target;
        if waiting > self.gamma && self.window.in_slow_start() {
            self.window.cwnd = cwnd.min(target + 1) * mss;
            self.lower_threshold();
        } else if self.window.in_slow_start() {
            self.slow_start(bytes);
        } else if waiting > self.beta {
            self.window.cwnd -= mss;
            self.lower_threshold();
        } else if waiting < self.alpha {
            self.window.cwnd += mss;
        }
        self.window.cwnd = self.window.cwnd.max(2 * mss);
        self.window.ssthresh = self.window.ssthresh.max(self.window.cwnd / 4 * 3);
    }

    /// Slow start, unless the window is held; what is left of the bytes when it has ended.
    fn slow_start(&mut self, bytes: u64) -> u64 {
        match self.held && self.window.in_slow_start() {
            true => 0,
            false => self.window.slow_start(bytes),
        }
    }

    fn lower_threshold(&mut self) {
        let below = self.window.cwnd.saturating_sub(self.window.mss);
        let least = 2 * self.window.mss;
        self.window.ssthresh = self.window.ssthresh.min(below.max(least)).max(least);
    }

    /// Whether a round trip has passed; another begins.
    fn passed(&mut self) -> bool {
        let passed = self.una >= self.round_end;
        if passed {
            self.round_end = self.next;
        }
        passed
    }
}

impl Build for Vegas {
    type Params = VegasParams;

    fn build(params: &VegasParams) -> Result<Vegas, ParamError> {
        in_order(params, params.alpha <= params.beta, "alpha", "beta")?;
        Ok(Vegas {
            window: Window::new(),
            alpha: params.alpha.into(),
            beta: params.beta.into(),
            gamma: params.gamma.into(),
            open: true,
            held: false,
            una: 0,
            next: 0,
            round_end: 0,
            base: u64::MAX,
            least: u64::MAX,
            samples: 0,
        })
    }
}

impl CongestionControl for Vegas {
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

    fn on_phase(&mut self, phase: Phase, _now: Time) {
        self.open = phase == Phase::Open;
        self.held = false;
        if self.open {
            self.round_end = self.next;
            self.least = u64::MAX;
            self.samples = 0;
        }
    }

    fn on_sample(&mut self, sample: &Sample) {
        if let Some(rtt) = sample.rtt {
            let rtt = micros(rtt) + 1;
            self.base = self.base.min(rtt);
            self.least = self.least.min(rtt);
            self.samples += 1;
        }
        self.una = sample.una;
        self.next = sample.next;
    }

    fn on_ack(&mut self, acked: &Acked) {
        let Some(bytes) = self.window.admit(acked) else {
            return;
        };
        if !self.open {
            self.reno(bytes);
        } else if self.passed() {
            if self.samples <= FEW || self.least == u64::MAX {
                self.reno(bytes);
            } else {
                self.judge(bytes);
            }
            self.least = u64::MAX;
            self.samples = 0;
            self.held = !self.held;
        } else if self.window.in_slow_start() {
            self.slow_start(bytes);
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
        if self.base < u64::MAX {
            tell("base_rtt (ms)", real(self.base) / 1e3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::tests::Pipe;
    use sojourn_units::Span;

    #[test]
    fn between_alpha_and_beta_segments_wait_in_steady_state() {
        let cc = Vegas::build(&VegasParams::default()).unwrap();
        let mut pipe = Pipe::new(cc, 1000.0, Span::from_ms(40));
        pipe.run(Span::from_secs(20));
        // 40 segments and the one in transmission fill the path.
        let waiting = pipe.mean_window(Span::from_secs(5)) - 41.0;
        assert!((0.0..=4.0).contains(&waiting), "{waiting}");
    }

    #[test]
    fn slow_start_ends_by_delay_within_a_doubling() {
        let mut pipe = Pipe::new(
            Vegas::build(&VegasParams::default()).unwrap(),
            1000.0,
            Span::from_ms(40),
        );
        pipe.run(Span::from_secs(2));
        assert!(!pipe.cc.window.in_slow_start());
        assert!(pipe.window() < 160.0, "{}", pipe.window());
    }
}
