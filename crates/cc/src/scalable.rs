//! Scalable TCP: grows by a fixed part of what is acknowledged, and recovers as fast from any window.
//!
//! Source: Kelly 2003.
//! Dialects `ns3` and `linux` are in `scalable/ns3.rs` and `scalable/linux.rs`.

mod linux;
mod ns3;

pub(crate) use self::linux::Linux;
pub(crate) use self::ns3::{Growth, Ns3};
use crate::num::{real, whole};
use crate::window::{Window, by_window};
use crate::{Acked, Build, Congestion, CongestionControl, CongestionKind, Start};
use sojourn_units::{ParamError, Ratio, params};

params! {
    /// Scalable TCP: grows by a hundredth of a segment per acknowledgement, and shrinks by an eighth at a loss.
    pub struct ScalableParams {
        /// Growth per acknowledged segment, in segments.
        growth: f64 = "0.01", range "0.0001".."1", source "Kelly 2003 (a)",
            acts "the window is above 1 / `growth` segments";
        /// Fraction by which a loss reduces the window.
        decrease: Ratio = "0.125", source "Kelly 2003 (b)";
        /// Window up to which the algorithm is Reno, in segments.
        low_window: u32 = "16", range .."100000", source "Kelly 2003 (lwnd)",
            where dialect not "ns3" because "tcp-scalable.cc has no such bound",
            acts "the window falls to this";
    }
    dialects Dialect {
        /// The paper.
        rfc as Rfc = "scalable-2003" {}
        /// TcpScalable of ns-3.
        ns3 as Ns3 = "ns3-3.44" {
            growth = "0.02" from "tcp-scalable.cc, AIFactor 50";
            low_window = "0" from "tcp-scalable.cc: the lesser of window and factor";
        }
        /// tcp_scalable.c.
        linux as Linux = "linux-6.1" {
            low_window = "0" from "tcp_scalable.c: the lesser of window and TCP_SCALABLE_AI_CNT, 100";
        }
    }
}

/// The state of one connection.
#[derive(Clone, Debug)]
pub struct Scalable {
    window: Window,
    /// Segments of growth per segment acknowledged (a).
    growth: f64,
    /// What a loss takes off the window (b).
    decrease: f64,
    /// Window up to which it is Reno (lwnd), segments.
    low_window: u64,
}

impl Scalable {
    fn is_reno(&self) -> bool {
        self.window.segments() <= self.low_window
    }
}

impl Build for Scalable {
    type Params = ScalableParams;

    fn build(params: &ScalableParams) -> Result<Scalable, ParamError> {
        Ok(Scalable {
            window: Window::new(),
            growth: params.growth,
            decrease: params.decrease.get(),
            low_window: params.low_window.into(),
        })
    }
}

impl CongestionControl for Scalable {
    by_window!();

    fn on_start(&mut self, start: &Start) {
        self.window.start(start);
    }

    fn on_ack(&mut self, acked: &Acked) {
        if let Some(bytes) = self.window.admit(acked) {
            let bytes = self.window.slow_start(bytes);
            if bytes > 0 {
                let per = whole(real(self.window.mss) / self.growth);
                let per = if self.is_reno() {
                    self.window.cwnd
                } else {
                    per.min(self.window.cwnd)
                };
                self.window.grow(bytes, per);
            }
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let left = if self.is_reno() {
            0.5
        } else {
            1.0 - self.decrease
        };
        match congestion.kind {
            CongestionKind::Loss | CongestionKind::Ecn => self.window.fall_by(left),
            CongestionKind::Timeout(expiry) => {
                self.window
                    .time_out(whole(real(self.window.cwnd) * left), expiry);
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
    fn recovery_takes_the_same_round_trips_at_any_window() {
        // ln(1 / 0.875) / ln(1.01) = 13.4.
        for window in [200, 2000] {
            let cc = Scalable::build(&ScalableParams::default()).unwrap();
            let mut pipe = Pipe::new(cc, 1e6, Span::from_ms(100));
            pipe.cc.window.cwnd = window * MSS;
            pipe.congest(CongestionKind::Loss);
            let rounds = (1..100).find(|_| {
                pipe.run(Span::from_us(100_100));
                pipe.cc.window.cwnd >= window * MSS
            });
            let rounds = rounds.unwrap();
            assert!((13..=16).contains(&rounds), "{rounds}");
        }
    }
}
