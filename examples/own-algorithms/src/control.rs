//! Gentle: a segment more per round trip, and a fixed part less after a loss.

use sojourn::control::{
    Acked, Build, Congestion, CongestionControl, CongestionKind, Sent, Stage, Start,
};
use sojourn::units::{ParamError, Rate};

sojourn::params! {
    /// Additive increase, multiplicative decrease by a part of your choice.
    pub struct GentleParams {
        /// What a loss leaves of the window, percent.
        keep: u64 = "70", range "10".."95", source "CUBIC's factor";
    }
}

/// The state of one connection, bytes.
#[derive(Clone, Debug)]
pub struct Gentle {
    keep: u64,
    mss: u64,
    cwnd: u64,
    ssthresh: u64,
    /// Acknowledged towards the next segment.
    counted: u64,
}

impl Build for Gentle {
    type Params = GentleParams;

    fn build(params: &GentleParams) -> Result<Gentle, ParamError> {
        Ok(Gentle {
            keep: params.keep,
            mss: 1,
            cwnd: 1,
            ssthresh: u64::MAX,
            counted: 0,
        })
    }
}

impl CongestionControl for Gentle {
    fn on_start(&mut self, start: &Start) {
        self.mss = start.mss;
        self.cwnd = start.initial_window.max(start.mss);
    }

    fn on_sent(&mut self, _: &Sent) {}

    fn on_ack(&mut self, acked: &Acked) {
        match acked.stage {
            Stage::Open if !acked.limited || acked.echo => {}
            Stage::Open if self.cwnd < self.ssthresh => {
                self.cwnd += acked.bytes.min(2 * self.mss);
            }
            Stage::Open => {
                self.counted += acked.bytes;
                if self.counted >= self.cwnd {
                    self.counted -= self.cwnd;
                    self.cwnd += self.mss;
                }
            }
            Stage::Recovery => {}
            Stage::Exit { at_most } => {
                self.cwnd = self.ssthresh.min(at_most).max(self.mss);
                self.counted = 0;
            }
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let kept = congestion.in_flight * self.keep / 100;
        self.counted = 0;
        self.ssthresh = kept.max(2 * congestion.mss);
        self.cwnd = match congestion.kind {
            CongestionKind::Timeout(expiry) => expiry.kept + congestion.mss,
            CongestionKind::Loss | CongestionKind::Ecn => self.ssthresh,
        };
    }

    fn cwnd(&self) -> u64 {
        self.cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    fn pacing_rate(&self) -> Option<Rate> {
        None
    }
}
