//! Prague: scalable congestion control for L4S, paced, that depends little on the round-trip time.
//!
//! Sources: RFC 9331 section 4 (what is required), draft-briscoe-iccrg-prague-congestion-control-04 section 2 (alpha, growth,
//! round-trip independence, pacing; an early text of it was read line by line); udp_prague (prague_cc.cpp), read for what that leaves open: the
//! window falls once per virtual round trip, and grows in its square.
//!
//! Deviations: there is no fallback to classic ECN if a queue seems to use it; round-trip independence applies from the
//! start of a connection, not after some round trips.

use crate::num::{rate, real, scaled, seconds, whole};
use crate::window::{Round, Window};
use crate::{
    Acked, Build, Congestion, CongestionControl, CongestionKind, EcnUse, Phase, Sample, Sent,
    Stage, Start, Traits, Undo,
};
use sojourn_units::{ParamError, Rate, Ratio, Span, Time, params};

params! {
    /// Prague (RFC 9331): L4S congestion control that reacts to the fraction of marked bytes, with ECT(1), accurate ECN
    /// feedback and pacing.
    pub struct PragueParams {
        /// Weight of a new sample of the marked fraction.
        g: Ratio = "0.0625", source "draft-briscoe-iccrg-prague-congestion-control-04 section 2.4.2 (1/16)";
        /// Reference round-trip time. Shorter round trips count as this.
        reference_rtt: Span = "25ms", range .."1s", source "draft-briscoe-iccrg-prague-congestion-control-04 section 2.4.4",
            acts "round trips are shorter than this";
        /// Marked fraction that the first mark sets.
        alpha: Ratio = "1", source "draft-briscoe-iccrg-prague-congestion-control-04 section 2.4.2";
    }
    dialects Dialect {
        /// RFC 9331 and the draft.
        rfc as Rfc = "prague-04" {}
    }
}

/// The state of one connection.
#[derive(Clone, Debug)]
pub struct Prague {
    window: Window,
    /// Weight of a new observation.
    g: f64,
    /// Round-trip time as which shorter ones count, seconds.
    reference: f64,
    /// The fraction of marked bytes, smoothed.
    alpha: f64,
    /// What the first mark makes of it.
    first_alpha: f64,
    /// A mark was seen.
    seen: bool,
    round: Round,
    /// Bytes delivered since alpha was updated.
    delivered: u64,
    /// Those of them that were marked.
    marked: u64,
    /// The smoothed round-trip time, seconds; 0 before the first.
    srtt: f64,
    /// A part of a byte that growth has left.
    rest: f64,
    /// Round trips since alpha was updated.
    age: f64,
    /// When the window last fell for a mark.
    fell_at: Option<Time>,
    /// It still falls.
    falling: bool,
}

impl Prague {
    /// Real round trips in a virtual one (draft-briscoe-iccrg-prague-congestion-control-04 section 2.4.4).
    fn stretch(&self) -> f64 {
        if self.srtt <= 0.0 {
            1.0
        } else {
            (self.reference / self.srtt).max(1.0)
        }
    }

    /// The window falls by half of alpha for a mark, once in a virtual round trip (draft-briscoe-iccrg-prague-congestion-control-04 section 2.4.2); true if it does.
    fn fall_for_a_mark(&mut self, now: Time) -> bool {
        let wait = self.srtt * self.stretch();
        let fell = self.fell_at;
        if fell.is_some_and(|at| seconds(now.saturating_since(at)) < wait) {
            return false;
        }
        self.fell_at = Some(now);
        let cut = scaled(self.window.cwnd, self.alpha / 2.0);
        self.window.fall(self.window.cwnd - cut, 2);
        true
    }

    /// One segment per virtual round trip's window: slower by the square where round trips are short. Marked bytes do not count; that the window has
    /// just fallen does not matter.
    fn grow(&mut self, bytes: u64) {
        let stretch = self.stretch();
        let mss = real(self.window.mss);
        let growth = real(bytes) * mss / real(self.window.cwnd) / (stretch * stretch);
        let next = real(self.window.cwnd) + self.rest + growth;
        self.window.cwnd = whole(next);
        self.rest = next - real(self.window.cwnd);
    }
}

impl Build for Prague {
    type Params = PragueParams;

    fn build(params: &PragueParams) -> Result<Prague, ParamError> {
        Ok(Prague {
            window: Window::new(),
            g: params.g.get(),
            reference: seconds(params.reference_rtt),
            alpha: 0.0,
            first_alpha: params.alpha.get(),
            seen: false,
            round: Round::default(),
            delivered: 0,
            marked: 0,
            srtt: 0.0,
            rest: 0.0,
            age: 0.0,
            fell_at: None,
            falling: false,
        })
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

    fn on_decay(&mut self, cwnd: u64) {
        self.window.decay(cwnd);
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
            self.alpha = self.first_alpha;
        }
        let repairs = sample.phase >= Phase::Recovery;
        if sample.limited && !repairs && !self.window.in_slow_start() {
            self.grow(sample.newly_delivered.saturating_sub(sample.marked));
        }
        if self.round.passed(sample) {
            self.age += 1.0;
            if self.age >= self.stretch() {
                // draft-briscoe-iccrg-prague-congestion-control-04 section 2.4.2: alpha follows the marked part by g, once per virtual round trip.
                if self.delivered > 0 {
                    let fraction = (real(self.marked) / real(self.delivered)).min(1.0);
                    self.alpha += self.g * (fraction - self.alpha);
                }
                self.age = 0.0;
                self.delivered = 0;
                self.marked = 0;
            }
        }
        if sample.marked > 0 && !repairs {
            // The transport reports marks once per round trip of its own; two of them may have to pass.
            self.fall_for_a_mark(sample.now);
        }
    }

    fn on_ack(&mut self, acked: &Acked) {
        if self.falling && matches!(acked.stage, Stage::Exit { .. }) {
            // What it has grown by in the meantime stays.
            self.falling = false;
            return;
        }
        if let Some(bytes) = self.window.admit(acked) {
            self.window.slow_start(bytes);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        match congestion.kind {
            CongestionKind::Ecn => {
                if !self.fall_for_a_mark(congestion.now) {
                    // It has fallen already.
                    self.window.ssthresh = self.window.cwnd;
                }
                self.falling = true;
            }
            // RFC 9331 section 4.3: a loss is answered as Reno answers it.
            CongestionKind::Loss => {
                self.falling = false;
                self.window.fall_by(0.5);
            }
            CongestionKind::Timeout(expiry) => {
                self.falling = false;
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
        // Twice the window per round trip in the first half of slow start, the window later.
        let gain = if self.window.cwnd < self.window.ssthresh / 2 {
            2.0
        } else {
            1.0
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
    use crate::window::tests::{MSS, Pipe};

    /// A window of ten segments in congestion avoidance, round trips of `ms` milliseconds.
    fn avoiding(ms: u64) -> Prague {
        let mut cc = Prague::build(&PragueParams::default()).unwrap();
        cc.on_start(&Start {
            mss: MSS,
            initial_window: 10 * MSS,
            rtt: Some(Span::from_ms(ms)),
            ..Start::default()
        });
        cc.window.ssthresh = 10 * MSS;
        cc
    }

    fn mark(cc: &mut Prague, ms: u64) -> u64 {
        cc.on_congestion(&Congestion {
            now: Time::ZERO + Span::from_ms(ms),
            kind: CongestionKind::Ecn,
            in_flight: cc.cwnd(),
            mss: MSS,
        });
        cc.cwnd()
    }

    #[test]
    fn marked_bytes_open_no_window_and_others_do_while_it_falls() {
        // "Additive increase and ECN feedback": cwnd += (acked_sacked - ece_delta) / cwnd, in CWR too.
        let mut cc = avoiding(25);
        (cc.alpha, cc.g, cc.seen) = (0.0, 0.0, true);
        let sample = |marked| Sample {
            newly_delivered: 10 * MSS,
            marked,
            limited: true,
            phase: Phase::Reducing,
            ..Sample::default()
        };
        cc.on_sample(&sample(10 * MSS));
        assert_eq!(cc.cwnd(), 10 * MSS);
        mark(&mut cc, 0);
        cc.on_sample(&sample(5 * MSS));
        assert_eq!(cc.cwnd(), 10 * MSS + MSS / 2);
        // The end of the fall takes nothing of that back.
        cc.on_ack(&Acked {
            now: Time::ZERO,
            bytes: 0,
            in_flight: 0,
            rtt: None,
            echo: false,
            limited: true,
            stage: Stage::Exit { at_most: u64::MAX },
        });
        assert_eq!(cc.cwnd(), 10 * MSS + MSS / 2);
    }

    #[test]
    fn the_window_falls_once_in_a_virtual_round_trip() {
        let mut cc = avoiding(5);
        (cc.alpha, cc.seen) = (0.5, true);
        assert_eq!(mark(&mut cc, 100), 7500);
        for (ms, window) in [(105, 7500), (124, 7500), (125, 5625)] {
            assert_eq!(mark(&mut cc, ms), window, "{ms} ms");
        }
        // Whatever the transport is doing about a mark that did not count.
        assert_eq!(mark(&mut cc, 140), 5625);
        cc.round = Round { end: u64::MAX };
        cc.on_sample(&Sample {
            now: Time::ZERO + Span::from_ms(150),
            newly_delivered: MSS,
            marked: MSS,
            phase: Phase::Reducing,
            ..Sample::default()
        });
        assert!((4200..4400).contains(&cc.cwnd()), "{}", cc.cwnd());
    }

    #[test]
    fn packets_are_spaced_by_the_window_in_a_round_trip() {
        let mut cc = avoiding(25);
        assert_eq!(cc.pacing_rate(), Some(Rate::bps(8 * 10 * MSS * 40)));
        cc.window.ssthresh = 21 * MSS;
        assert_eq!(cc.pacing_rate(), Some(Rate::bps(16 * 10 * MSS * 40)));
    }

    #[test]
    fn alpha_follows_the_marked_fraction_and_the_window_stays_at_the_threshold() {
        let cc = Prague::build(&PragueParams::default()).unwrap();
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
        let mut cc = Prague::build(&PragueParams::default()).unwrap();
        for (ms, stretch) in [(5, 5.0), (25, 1.0), (100, 1.0)] {
            cc.srtt = seconds(Span::from_ms(ms));
            assert!((cc.stretch() - stretch).abs() < 1e-9);
        }
    }
}
