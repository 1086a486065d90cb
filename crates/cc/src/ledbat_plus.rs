//! LEDBAT++: LEDBAT by round-trip time, with multiplicative decrease and pauses in which the base delay shows.
//!
//! Source: draft-irtf-iccrg-ledbat-plus-plus-01 sections 4.1 to 4.5.

use crate::delays::Delays;
use crate::num::{real, seconds, whole};
use crate::window::{Round, Window, by_window};
use crate::{Acked, Build, Congestion, CongestionControl, CongestionKind, Sample, Start, Traits};
use sojourn_units::{ParamError, Span, Time, params};

params! {
    /// LEDBAT++: background transport whose flows share fairly with each other.
    pub struct LedbatPlusParams {
        /// Target queueing delay.
        target: Span = "60ms", range "1ms".."1s", source "draft-irtf-iccrg-ledbat-plus-plus-01 section 4.5";
        /// Weight of the excess delay in the decrease.
        constant: f64 = "1", range "0.01".."10", source "draft-irtf-iccrg-ledbat-plus-plus-01 section 4.3";
        /// Number of minutes over which minimum round trips are kept for the base delay (BASE_HISTORY).
        base_history: u32 = "10", range "1".."1000", source "RFC 6817 section 2.5, which LEDBAT++ extends",
            acts "the connection lasts longer than this and the minimum delay changes";
        /// Number of samples whose minimum is the current delay (CURRENT_FILTER).
        current_filter: u32 = "4", range "1".."1000", source "draft-irtf-iccrg-ledbat-plus-plus-01 section 4.5";
        /// Time between two pauses, as a multiple of their length.
        spacing: u32 = "9", range "1".."1000", source "draft-irtf-iccrg-ledbat-plus-plus-01 section 4.4";
    }
    dialects Dialect {
        /// The draft.
        rfc as Rfc = "ledbat-plus-plus-01" {}
    }
}

/// Segments during a pause, and round trips that it lasts.
const PAUSED: u64 = 2;
const PAUSE_ROUNDS: u32 = 2;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    SlowStart,
    Steady,
    /// Round trips left before the first pause.
    Before(u32),
    Pause(u32),
    /// Back to the window before the pause.
    Return,
}

/// The state of one connection.
#[derive(Clone, Debug)]
pub struct LedbatPlus {
    window: Window,
    /// Target of the queueing delay, seconds.
    target: f64,
    /// Weight of excess delay in the decrease (Constant).
    constant: f64,
    /// Times the length of a slowdown between two of them.
    spacing: u64,
    mode: Mode,
    round: Round,
    passed: bool,
    delays: Delays,
    pause_began: Time,
    next_pause: Option<Time>,
    /// A part of a byte that growth has left.
    rest: f64,
}

impl LedbatPlus {
    fn queueing(&self) -> f64 {
        self.delays.queueing().map_or(0.0, seconds)
    }

    /// Smaller for short round trips (section 4.2).
    fn gain(&self) -> f64 {
        let base = self.delays.base().map_or(self.target, seconds).max(1e-6);
        1.0 / (2.0 * self.target / base).ceil().clamp(1.0, 16.0)
    }

    fn set_window(&mut self, bytes: f64) {
        let next = (bytes + self.rest).max(real(PAUSED * self.window.mss));
        self.window.cwnd = whole(next);
        self.rest = next - real(self.window.cwnd);
    }

    /// What a round trip brings: pauses.
    fn on_round(&mut self, now: Time) {
        match self.mode {
            Mode::Before(0) => self.pause(now),
            Mode::Before(rounds) => self.mode = Mode::Before(rounds - 1),
            Mode::Steady if self.next_pause.is_some_and(|at| now >= at) => self.pause(now),
            Mode::Pause(0) => self.mode = Mode::Return,
            Mode::Pause(rounds) => self.mode = Mode::Pause(rounds - 1),
            Mode::Steady | Mode::SlowStart | Mode::Return => {}
        }
    }

    fn pause(&mut self, now: Time) {
        self.window.ssthresh = self.window.cwnd;
        self.window.cwnd = PAUSED * self.window.mss;
        self.pause_began = now;
        self.mode = Mode::Pause(PAUSE_ROUNDS);
    }
}

impl Build for LedbatPlus {
    type Params = LedbatPlusParams;

    fn build(params: &LedbatPlusParams) -> Result<LedbatPlus, ParamError> {
        Ok(LedbatPlus {
            window: Window::new(),
            target: seconds(params.target),
            constant: params.constant,
            spacing: params.spacing.into(),
            mode: Mode::SlowStart,
            round: Round::default(),
            passed: false,
            delays: Delays::new(params.base_history, params.current_filter),
            pause_began: Time::ZERO,
            next_pause: None,
            rest: 0.0,
        })
    }
}

impl CongestionControl for LedbatPlus {
    by_window!();

    fn on_start(&mut self, start: &Start) {
        let initial_window = start.initial_window.min(PAUSED * start.mss);
        self.window.start(&Start {
            initial_window,
            ..*start
        });
    }

    fn traits(&self) -> Traits {
        Traits {
            samples: true,
            ..Traits::default()
        }
    }

    fn on_sample(&mut self, sample: &Sample) {
        if let Some(rtt) = sample.rtt {
            self.delays.add(rtt, sample.now);
        }
        if self.round.passed(sample) {
            self.passed = true;
            self.on_round(sample.now);
        }
    }

    fn on_ack(&mut self, acked: &Acked) {
        let Some(bytes) = self.window.admit(acked) else {
            return;
        };
        let bytes = real(bytes);
        let window = real(self.window.cwnd);
        let mss = real(self.window.mss);
        match self.mode {
            Mode::Pause(_) => self.window.cwnd = PAUSED * self.window.mss,
            Mode::SlowStart | Mode::Return => {
                self.set_window(window + bytes * self.gain());
                let first = self.mode == Mode::SlowStart;
                // The first one ends by delay too (section 4.1).
                let late = first && self.queueing() > 0.75 * self.target;
                if self.window.cwnd >= self.window.ssthresh || late {
                    self.window.cwnd = self.window.cwnd.min(self.window.ssthresh);
                    if first {
                        self.mode = Mode::Before(PAUSE_ROUNDS);
                    } else {
                        let took = acked.now.saturating_since(self.pause_began);
                        self.next_pause = Some(acked.now.saturating_add(took * self.spacing));
                        self.mode = Mode::Steady;
                    }
                }
            }
            Mode::Before(_) | Mode::Steady => {
                let gain = self.gain();
                let excess = self.queueing() / self.target;
                let per_round = if excess <= 1.0 {
                    gain * mss
                } else {
                    // Section 4.3: at most half the window per round trip.
                    (gain * mss - self.constant * window * (excess - 1.0)).max(-window / 2.0)
                };
                self.set_window(window + per_round * bytes / window);
            }
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        match congestion.kind {
            CongestionKind::Loss | CongestionKind::Ecn => {
                self.window.fall_by(0.5);
                if self.mode == Mode::SlowStart {
                    self.mode = Mode::Before(PAUSE_ROUNDS);
                }
            }
            CongestionKind::Timeout(expiry) => {
                self.window.time_out(self.window.cwnd / 2, expiry);
                self.mode = Mode::Return;
                self.pause_began = congestion.now;
            }
        }
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("queueing_delay (ms)", self.queueing() * 1e3);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::tests::{MSS, Pipe};

    #[test]
    fn the_standing_queue_is_the_target_between_pauses() {
        let cc = LedbatPlus::build(&LedbatPlusParams::default()).unwrap();
        let mut pipe = Pipe::new(cc, 1000.0, Span::from_ms(100));
        pipe.run(Span::from_secs(60));
        let mut queues = Vec::new();
        let mut paused = 0;
        for _ in 0..2000 {
            pipe.run(Span::from_ms(20));
            queues.push(seconds(pipe.queue()) * 1e3);
            paused += u32::from(pipe.cc.cwnd() == PAUSED * MSS);
        }
        queues.sort_by(f64::total_cmp);
        let upper = queues[1800];
        assert!((50.0..70.0).contains(&upper), "{upper}");
        assert!((20..400).contains(&paused), "{paused}");
    }

    /// Section 4.5: a single acknowledgement that was held back is no queue.
    #[test]
    fn the_queueing_delay_is_that_of_the_least_of_four_samples() {
        let mut cc = LedbatPlus::build(&LedbatPlusParams::default()).unwrap();
        for ms in [40, 200, 50, 200] {
            cc.delays.add(Span::from_ms(ms), Time::ZERO);
        }
        assert_eq!(cc.queueing(), 0.0);
        cc.delays.add(Span::from_ms(200), Time::ZERO);
        assert!((cc.queueing() - 0.01).abs() < 1e-12);
    }

    /// A pause beside traffic that keeps its queue shows that queue, and not the base.
    #[test]
    fn a_pause_keeps_the_base_delay() {
        let mut cc = LedbatPlus::build(&LedbatPlusParams::default()).unwrap();
        cc.delays.add(Span::from_ms(40), Time::ZERO);
        cc.pause(Time::ZERO + Span::from_secs(1));
        cc.delays
            .add(Span::from_ms(100), Time::ZERO + Span::from_secs(1));
        assert_eq!(cc.delays.base(), Some(Span::from_ms(40)));
    }

    #[test]
    fn the_gain_is_smaller_where_the_round_trip_is_short() {
        let mut cc = LedbatPlus::build(&LedbatPlusParams::default()).unwrap();
        for (ms, gain) in [(120, 1.0), (60, 0.5), (40, 1.0 / 3.0), (1, 1.0 / 16.0)] {
            cc.delays.add(Span::from_ms(ms), Time::ZERO);
            assert!((cc.gain() - gain).abs() < 1e-9, "{ms}");
        }
    }
}
