//! Prague: scalable congestion control for L4S, paced, that depends little on the round-trip time.
//!
//! Sources: RFC 9331 section 4 (what is required), draft-briscoe-iccrg-prague-congestion-control-04 section 2 (alpha, growth,
//! round-trip independence, pacing).
//!
//! Deviation: no fallback to classic ECN where a queue seems to have it.

use crate::num::{rate, real, scaled, seconds, whole};
use crate::window::{Round, Window};
use crate::{
    Acked, Congestion, CongestionControl, CongestionKind, EcnUse, Sample, Sent, Start, Traits, Undo,
};
use sojourn_units::{Rate, Ratio, Span, params};

params! {
    /// Prague (RFC 9331): reacts to the fraction of marked bytes; ECT(1), accurate feedback, pacing.
    pub struct PragueParams {
        /// Weight of a new observation of the marked fraction.
        g: Ratio = "0.0625", source "draft-briscoe-iccrg-prague-congestion-control-04 section 2.4.2 (1/16)";
        /// Round-trip time as which shorter ones count.
        reference_rtt: Span = "25ms", range .."1s", source "draft-briscoe-iccrg-prague-congestion-control-04 section 2.4.4";
        /// Fraction assumed at first.
        alpha: Ratio = "0", source "draft-briscoe-iccrg-prague-congestion-control-04 section 2.4.2; the first mark sets it to 1";
    }
    dialects {
        /// RFC 9331 and the draft.
        rfc = "prague-04" {}
    }
}

/// The state of one connection.
#[derive(Clone, Debug)]
pub struct Prague {
    window: Window,
    g: f64,
    reference: f64,
    alpha: f64,
    seen: bool,
    round: Round,
    delivered: u64,
    marked: u64,
    srtt: f64,
    rest: f64,
    /// Bytes delivered since alpha was updated, in units of the virtual round trip.
    age: f64,
}

impl Prague {
    /// A connection that is not established yet.
    pub fn new(params: &PragueParams) -> Prague {
        Prague {
            window: Window::new(),
            g: params.g.get(),
            reference: seconds(params.reference_rtt),
            alpha: params.alpha.get(),
            seen: false,
            round: Round::default(),
            delivered: 0,
            marked: 0,
            srtt: 0.0,
            rest: 0.0,
            age: 0.0,
        }
    }

    /// Real round trips in a virtual one.
    fn stretch(&self) -> f64 {
        if self.srtt <= 0.0 {
            1.0
        } else {
            (self.reference / self.srtt).max(1.0)
        }
    }
}

impl CongestionControl for Prague {
    fn on_start(&mut self, start: &Start) {
        self.window.start(start);
        self.srtt = start.rtt.map_or(0.0, seconds);
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.window.sent(sent);
    }

    fn traits(&self) -> Traits {
        Traits {
            ecn: EcnUse::Scalable,
            samples: true,
            paces: true,
            ..Traits::default()
        }
    }

    fn on_sample(&mut self, sample: &Sample) {
        if let Some(srtt) = sample.srtt {
            self.srtt = seconds(srtt);
        }
        self.delivered += sample.newly_delivered;
        self.marked += sample.marked;
        if sample.marked > 0 && !self.seen {
            self.seen = true;
            self.alpha = 1.0;
        }
        if self.round.passed(sample) {
            self.age += 1.0;
            if self.age >= self.stretch() {
                // Once per virtual round trip.
                if self.delivered > 0 {
                    let fraction = (real(self.marked) / real(self.delivered)).min(1.0);
                    self.alpha += self.g * (fraction - self.alpha);
                }
                self.age = 0.0;
                self.delivered = 0;
                self.marked = 0;
            }
        }
    }

    fn on_ack(&mut self, acked: &Acked) {
        let Some(bytes) = self.window.admit(acked) else {
            return;
        };
        let bytes = self.window.slow_start(bytes);
        if bytes > 0 {
            // One segment per virtual round trip's window: slower by the square where round trips are short.
            let stretch = self.stretch();
            let mss = real(self.window.mss);
            let growth = real(bytes) * mss / real(self.window.cwnd) / (stretch * stretch);
            let next = real(self.window.cwnd) + self.rest + growth;
            self.window.cwnd = whole(next);
            self.rest = next - real(self.window.cwnd);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        match congestion.kind {
            CongestionKind::Ecn => {
                let part = self.alpha / 2.0 / self.stretch();
                let cut = scaled(self.window.cwnd, part);
                self.window.fall(self.window.cwnd - cut, 2);
            }
            CongestionKind::Loss => self.window.fall_by(0.5),
            CongestionKind::Timeout(expiry) => {
                self.window.time_out(self.window.cwnd / 2, expiry);
            }
        }
    }

    fn cwnd(&self) -> u64 {
        self.window.cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.window.ssthresh
    }

    fn pacing_rate(&self) -> Option<Rate> {
        if self.srtt <= 0.0 {
            return None;
        }
        // Twice the window per round trip in the first half of slow start, a little more than the window later.
        let gain = if self.window.cwnd < self.window.ssthresh / 2 {
            2.0
        } else {
            1.2
        };
        Some(rate(gain * real(self.window.cwnd) / self.srtt))
    }

    fn on_undo(&mut self, undo: &Undo) {
        self.window.undo(undo);
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("alpha", self.alpha);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::tests::Pipe;

    #[test]
    fn alpha_follows_the_marked_fraction_and_the_window_stays_at_the_threshold() {
        let cc = Prague::new(&PragueParams::default());
        let mut pipe = Pipe::new(cc, 10_000.0, Span::from_ms(30));
        pipe.mark_above = Some(Span::from_ms(1));
        pipe.run(Span::from_secs(10));
        let window = pipe.mean_window(Span::from_secs(3));
        // 301 segments fill the path, ten more wait at the threshold.
        assert!((295.0..325.0).contains(&window), "{window}");
        assert!(pipe.cc.alpha < 0.3, "{}", pipe.cc.alpha);
    }

    #[test]
    fn short_round_trips_count_as_the_reference() {
        let mut cc = Prague::new(&PragueParams::default());
        for (ms, stretch) in [(5, 5.0), (25, 1.0), (100, 1.0)] {
            cc.srtt = seconds(Span::from_ms(ms));
            assert!((cc.stretch() - stretch).abs() < 1e-9);
        }
    }
}
