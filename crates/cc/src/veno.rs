//! Veno: Vegas' estimate of the queue tells random losses from those of congestion.
//!
//! Source: Fu and Liew 2003; tcp_veno.c of Linux 6.1.
//! Dialects `ns3` and `linux` are in `veno/ns3.rs` and `veno/linux.rs`.

mod linux;
mod ns3;

pub(crate) use self::linux::Linux;
pub(crate) use self::ns3::Ns3;
use crate::num::{micros, scaled};
use crate::window::{Round, Window, by_window};
use crate::{Acked, Build, Congestion, CongestionControl, CongestionKind, Sample, Start, Traits};
use sojourn_units::{ParamError, params};

params! {
    /// Veno: reduces the window by a fifth for a loss without a queue, and by half with a queue.
    pub struct VenoParams {
        /// Segments in queues from which the path counts as congested.
        beta: u32 = "3", range .."1000", source "Fu & Liew 2003";
    }
    dialects Dialect {
        /// The paper.
        rfc as Rfc = "veno-2003" {}
        /// TcpVeno of ns-3.
        ns3 as Ns3 = "ns3-3.44" {}
        /// tcp_veno.c.
        linux as Linux = "linux-6.1" {}
    }
}

/// The state of one connection.
#[derive(Clone, Debug)]
pub struct Veno {
    window: Window,
    /// Segments in queues from which the path counts as congested.
    beta: u64,
    round: Round,
    /// The shortest round trip, microseconds and one more.
    base: u64,
    /// The shortest of this round, microseconds and one more.
    least: u64,
    /// Round trips measured in it.
    samples: u32,
    /// Segments in queues in the last round.
    waiting: u64,
}

impl Build for Veno {
    type Params = VenoParams;

    fn build(params: &VenoParams) -> Result<Veno, ParamError> {
        Ok(Veno {
            window: Window::new(),
            beta: params.beta.into(),
            round: Round::default(),
            base: u64::MAX,
            least: u64::MAX,
            samples: 0,
            waiting: 0,
        })
    }
}

impl CongestionControl for Veno {
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
            let rtt = micros(rtt) + 1;
            self.base = self.base.min(rtt);
            self.least = self.least.min(rtt);
            self.samples += 1;
        }
        if self.samples > 2 && self.least != u64::MAX {
            let target = self.window.segments() * self.base / self.least;
            self.waiting = self.window.segments() - target;
        }
        if self.round.passed(sample) {
            self.least = u64::MAX;
            self.samples = 0;
        }
    }

    fn on_ack(&mut self, acked: &Acked) {
        if let Some(bytes) = self.window.admit(acked) {
            let bytes = self.window.slow_start(bytes);
            if bytes > 0 {
                // One segment per round trip; every other one where a queue stands.
                let slower = if self.waiting < self.beta { 1 } else { 2 };
                self.window.grow(bytes, self.window.cwnd * slower);
            }
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let left = if self.waiting < self.beta { 0.8 } else { 0.5 };
        match congestion.kind {
            CongestionKind::Loss | CongestionKind::Ecn => self.window.fall_by(left),
            CongestionKind::Timeout(expiry) => {
                let to = scaled(self.window.cwnd, left);
                self.window.time_out(to, expiry);
            }
        }
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("waiting (segments)", crate::num::real(self.waiting));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::tests::{MSS, Pipe};
    use sojourn_units::Span;

    #[test]
    fn a_loss_without_a_queue_costs_a_fifth_and_with_one_half() {
        for (segments, left) in [(30, 0.8), (80, 0.5)] {
            let mut pipe = Pipe::new(
                Veno::build(&VenoParams::default()).unwrap(),
                1000.0,
                Span::from_ms(40),
            );
            pipe.cc.window.cwnd = segments * MSS;
            pipe.cc.window.ssthresh = segments * MSS;
            pipe.run(Span::from_ms(400));
            let before = pipe.window();
            pipe.congest(CongestionKind::Loss);
            assert!((pipe.window() / before - left).abs() < 0.02, "{segments}");
        }
    }
}
