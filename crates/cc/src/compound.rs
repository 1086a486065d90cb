//! Compound TCP: Reno's window and beside it one that grows while the delay says that the path is idle.
//!
//! Sources: draft-sridharan-tcpm-ctcp-02 sections 3, 5 and 6; Tan, Song, Zhang and Sridharan 2006.
//!
//! Deviations: the delay window grows by a power of the whole window, as in the paper. With a power of itself, as
//! printed in the draft, it would never start to grow. The delay of a round is its minimum round trip, not the smoothed
//! one.

use crate::control::in_order;
use crate::num::{micros, real, whole};
use crate::window::{Round, Window};
use crate::{
    Acked, Build, Congestion, CongestionControl, CongestionKind, Sample, Sent, Stage, Start,
    Traits, Undo,
};
use sojourn_units::{ParamError, Rate, params};

params! {
    /// Compound TCP: the window is the sum of a loss-based and a delay-based window.
    pub struct CompoundParams {
        /// Growth of the delay-based window per round trip: alpha times the window to the power k.
        alpha: f64 = "0.125", range "0.001".."10", source "draft-sridharan-tcpm-ctcp-02 section 3";
        /// Fraction by which a loss reduces the sum.
        beta: f64 = "0.5", range "0.01".."1", source "draft-sridharan-tcpm-ctcp-02 section 3";
        /// See `alpha`.
        k: f64 = "0.75", range "0.1".."1", source "draft-sridharan-tcpm-ctcp-02 section 3";
        /// Number of queued segments from which the delay-based window shrinks. With `gamma_tuning`, its initial value.
        gamma: u32 = "30", range "1".."10000", source "draft-sridharan-tcpm-ctcp-02 section 5";
        /// Whether gamma follows the number of segments that Reno's part alone would have in queues before a loss.
        gamma_tuning: bool = "true", source "draft-sridharan-tcpm-ctcp-02 section 5";
        /// Minimum of the tuned gamma.
        gamma_low: u32 = "5", range "1".."10000", source "draft-sridharan-tcpm-ctcp-02 section 5",
            where gamma_tuning is "true",
            acts "the tuned gamma would be less";
        /// Maximum of the tuned gamma.
        gamma_high: u32 = "30", range "1".."10000", source "draft-sridharan-tcpm-ctcp-02 section 5",
            where gamma_tuning is "true",
            acts "the tuned gamma would be more";
        /// Weight of the newest loss in the average that gives the tuned gamma (lambda).
        gamma_weight: f64 = "0.2", range "0.001".."1", source "Sojourn's choice; the draft has no value",
            where gamma_tuning is "true",
            acts "there is a loss";
        /// Speed at which the delay-based window shrinks, in segments per queued segment.
        zeta: f64 = "1", range "0.001".."100", source "draft-sridharan-tcpm-ctcp-02 section 3 (eta)",
            acts "there is a delay-based window and gamma segments are queued";
        /// Window from which there is a delay-based window, in segments.
        low_window: u32 = "38", range .."100000", source "draft-sridharan-tcpm-ctcp-02 section 2 (as HighSpeed TCP)";
    }
    dialects Dialect {
        /// The paper and the draft.
        rfc as Rfc = "ctcp-02" {}
    }
}

/// The state of one connection.
#[derive(Clone, Debug)]
pub struct Compound {
    /// Reno's part.
    window: Window,
    /// The other part, segments.
    delay_window: f64,
    /// Growth of the delay window: alpha times the window to the power k per round trip, segments.
    alpha: f64,
    /// Fraction by which a loss reduces the sum.
    beta: f64,
    /// See `alpha`.
    k: f64,
    /// Segments in queues from which on the delay window shrinks.
    gamma: f64,
    /// Weight of a loss, least and greatest gamma.
    tuning: Option<(f64, f64, f64)>,
    /// What Reno's part had in queues in the last round (diff_reno).
    reno_waits: Option<f64>,
    /// Speed at which the delay-based window shrinks, in segments per queued segment.
    zeta: f64,
    /// Window from which there is a delay-based window, in segments.
    low_window: u64,
    /// Losses are being repaired: round trips measured then say little, and are not asked (section 6).
    recovering: bool,
    round: Round,
    /// The shortest round trip, microseconds.
    base: u64,
    /// The shortest of this round, microseconds.
    least: u64,
}

impl Compound {
    fn sum(&self) -> u64 {
        self.window.cwnd + whole(self.delay_window) * self.window.mss
    }

    /// Once per round trip.
    fn judge(&mut self) {
        if self.least == u64::MAX || self.window.in_slow_start() {
            return;
        }
        let mss = real(self.window.mss);
        let part = 1.0 - real(self.base) / real(self.least.max(1));
        self.reno_waits = Some(real(self.window.cwnd) / mss * part);
        let segments = real(self.sum()) / mss;
        if segments < real(self.low_window) {
            return;
        }
        let waiting = segments * part;
        if waiting < self.gamma {
            // Reno's segment per round trip is part of the growth.
            self.delay_window += (self.alpha * libm::pow(segments, self.k) - 1.0).max(0.0);
        } else {
            self.delay_window = (self.delay_window - self.zeta * waiting).max(0.0);
        }
    }

    /// What a loss says of gamma (section 5): three quarters of what Reno's part had in queues are a part of the buffer that is its own.
    fn tune(&mut self) {
        let Some((weight, low, high)) = self.tuning else {
            return;
        };
        if let Some(waits) = self.reno_waits.take() {
            let tuned = self.gamma * (1.0 - weight) + weight * 0.75 * waits;
            self.gamma = tuned.max(low).min(high);
        }
    }
}

impl Build for Compound {
    type Params = CompoundParams;

    fn build(params: &CompoundParams) -> Result<Compound, ParamError> {
        let holds = !params.gamma_tuning || params.gamma_low <= params.gamma_high;
        in_order(params, holds, "gamma_low", "gamma_high")?;
        Ok(Compound {
            window: Window::new(),
            delay_window: 0.0,
            alpha: params.alpha,
            beta: params.beta,
            k: params.k,
            gamma: f64::from(params.gamma),
            tuning: params.gamma_tuning.then(|| {
                let bounds = [params.gamma_low, params.gamma_high].map(f64::from);
                (params.gamma_weight, bounds[0], bounds[1])
            }),
            reno_waits: None,
            zeta: params.zeta,
            low_window: params.low_window.into(),
            recovering: false,
            round: Round::default(),
            base: u64::MAX,
            least: u64::MAX,
        })
    }
}

impl CongestionControl for Compound {
    fn on_start(&mut self, start: &Start) {
        self.window.start(start);
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.window.sent(sent);
        if sent.after_idle {
            self.delay_window = 0.0;
        }
    }

    fn on_decay(&mut self, cwnd: u64) {
        self.window.decay(cwnd);
    }

    fn traits(&self) -> Traits {
        Traits {
            samples: true,
            ..Traits::default()
        }
    }

    fn on_sample(&mut self, sample: &Sample) {
        if let Some(rtt) = sample.rtt.filter(|_| !self.recovering) {
            let rtt = micros(rtt);
            self.base = self.base.min(rtt);
            self.least = self.least.min(rtt);
        }
        if self.round.passed(sample) {
            if !self.recovering {
                self.judge();
            }
            self.least = u64::MAX;
        }
    }

    fn on_ack(&mut self, acked: &Acked) {
        self.recovering = acked.stage == Stage::Recovery;
        if let Stage::Exit { .. } = acked.stage {
            let delay_window = self.delay_window;
            self.window.admit(acked);
            self.delay_window = delay_window;
            return;
        }
        if let Some(bytes) = self.window.admit(acked) {
            let bytes = self.window.slow_start(bytes);
            if bytes > 0 {
                let sum = self.sum();
                self.window.grow(bytes, sum);
            }
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let mss = real(self.window.mss);
        match congestion.kind {
            CongestionKind::Loss | CongestionKind::Ecn => {
                self.recovering = congestion.kind == CongestionKind::Loss;
                self.tune();
                let left = real(self.sum()) / mss * (1.0 - self.beta);
                self.window.fall_by(0.5);
                self.delay_window = (left - real(self.window.cwnd) / mss).max(0.0);
            }
            CongestionKind::Timeout(expiry) => {
                self.window.time_out(self.sum() / 2, expiry);
                self.delay_window = 0.0;
                // The path may be another one (section 3).
                self.base = u64::MAX;
                self.reno_waits = None;
            }
        }
    }

    fn cwnd(&self) -> u64 {
        self.sum()
    }

    fn ssthresh(&self) -> u64 {
        let part = whole(self.delay_window) * self.window.mss;
        self.window.ssthresh.saturating_add(part)
    }

    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    fn on_undo(&mut self, undo: &Undo) {
        let part = whole(self.delay_window) * self.window.mss;
        self.window.undo(&Undo {
            cwnd: undo.cwnd.saturating_sub(part),
            ssthresh: undo.ssthresh.saturating_sub(part),
            ..*undo
        });
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("delay_window (segments)", self.delay_window);
        tell("gamma (segments)", self.gamma);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::tests::{MSS, Pipe};
    use sojourn_units::Span;

    #[test]
    fn without_a_queue_the_sum_grows_by_the_power_of_the_window() {
        let cc = Compound::build(&CompoundParams::default()).unwrap();
        let mut pipe = Pipe::new(cc, 1e6, Span::from_ms(100));
        pipe.cc.window.cwnd = 100 * MSS;
        pipe.cc.window.ssthresh = 0;
        pipe.run(Span::from_ms(210));
        let before = pipe.window();
        pipe.run(Span::from_ms(1010));
        // 0.125 * 100^0.75 = 4.0 per round trip, a little more as the window grows.
        let growth = pipe.window() - before;
        assert!((38.0..58.0).contains(&growth), "{growth}");
    }

    #[test]
    fn with_gamma_segments_in_the_queue_the_delay_window_stops() {
        let cc = Compound::build(&CompoundParams::default()).unwrap();
        let mut pipe = Pipe::new(cc, 1000.0, Span::from_ms(100));
        pipe.cc.window.cwnd = 60 * MSS;
        pipe.cc.window.ssthresh = 0;
        pipe.run(Span::from_secs(4));
        let early = pipe.cc.delay_window;
        pipe.run(Span::from_secs(30));
        assert!(pipe.window() - 101.0 > 30.0, "{}", pipe.window());
        assert!(early > 5.0 && pipe.cc.delay_window < 1.0, "{early}");
    }

    #[test]
    fn gamma_follows_what_reno_has_in_queues_between_its_bounds() {
        let mut cc = Compound::build(&CompoundParams::default()).unwrap();
        cc.reno_waits = Some(20.0);
        cc.tune();
        assert!((cc.gamma - (30.0 * 0.8 + 0.2 * 15.0)).abs() < 1e-9);
        // A second loss before a round has passed says nothing.
        let before = cc.gamma;
        cc.tune();
        assert_eq!(cc.gamma, before);
        for _ in 0..50 {
            cc.reno_waits = Some(1.0);
            cc.tune();
        }
        assert_eq!(cc.gamma, 5.0);
        let params = CompoundParams {
            gamma_tuning: false,
            ..CompoundParams::default()
        };
        let mut fixed = Compound::build(&params).unwrap();
        fixed.reno_waits = Some(1.0);
        fixed.tune();
        assert_eq!(fixed.gamma, 30.0);
    }
}
