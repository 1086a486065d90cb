//! Copa: aims at the rate at which `1 / delta` segments wait, whatever the path.
//!
//! Source: Arun and Balakrishnan 2018 (NSDI), sections 2 and 2.2. In competition with flows that fill buffers, delta is
//! halved or doubled as Reno's window would be (section 2.2). The test for a nearly empty queue has a tolerance of one
//! packet of the flow, because with delayed acknowledgements packets travel in pairs and the second waits for the
//! first. Several Copa flows can still take each other for buffer-filling flows and stay in competitive mode.

use crate::num::{rate, real, seconds, whole};
use crate::window::{Round, Window};
use crate::{
    Acked, Build, Congestion, CongestionControl, CongestionKind, Sample, Sent, Start, Traits, Undo,
};
use sojourn_units::{ParamError, Rate, Span, Time, params};
use std::collections::VecDeque;

params! {
    /// Copa: paced at a target rate that is inversely proportional to the queueing delay.
    pub struct CopaParams {
        /// Weight of delay against rate (delta). About 1 / delta segments are queued.
        delta: f64 = "0.5", range "0.001".."10", source "Arun & Balakrishnan 2018 section 2";
        /// Whether it enters competitive mode if the queue never empties.
        competitive: bool = "true", source "Arun & Balakrishnan 2018 section 2.2";
        /// Time over which the minimum delay is taken.
        min_rtt_window: Span = "10s", range "1ms".., source "Arun & Balakrishnan 2018 section 2";
    }
    dialects Dialect {
        /// The paper.
        rfc as Rfc = "copa-2018" {}
    }
}

/// The state of one connection.
#[derive(Clone, Debug)]
pub struct Copa {
    window: Window,
    /// Delta where nobody competes: 1 / delta segments wait.
    default_delta: f64,
    /// Delta now.
    delta: f64,
    competitive: bool,
    min_rtt_window: Span,
    /// Round-trip times of half a smoothed one, and of the window of the least; each in order of time, least first.
    standing: Least,
    least: Least,
    srtt: Span,
    slow_start: bool,
    /// Segments by which the window moves per 1 / delta segments acknowledged.
    velocity: f64,
    direction: Option<bool>,
    /// Round trips for which the direction has been the same.
    same: u32,
    /// The window when the round began, bytes.
    at_round: u64,
    round: Round,
    /// A part of a byte that growth has left.
    rest: f64,
    /// The queue was nearly empty at that time.
    empty_at: Time,
    most: Least,
    lost: bool,
}

/// The least value of a span of time.
#[derive(Clone, Debug, Default)]
struct Least {
    values: VecDeque<(Time, Span)>,
}

impl Least {
    fn add(&mut self, now: Time, value: Span, window: Span) {
        while self.values.back().is_some_and(|&(_, last)| last >= value) {
            self.values.pop_back();
        }
        self.values.push_back((now, value));
        while self
            .values
            .front()
            .is_some_and(|&(at, _)| at.saturating_add(window) < now)
        {
            self.values.pop_front();
        }
    }

    fn get(&self) -> Option<Span> {
        self.values.front().map(|&(_, value)| value)
    }
}

impl Copa {
    /// Standing and least round-trip time.
    fn delays(&self) -> Option<(f64, f64)> {
        Some((seconds(self.standing.get()?), seconds(self.least.get()?)))
    }

    /// Once per round trip: velocity, and delta in competition.
    fn on_round(&mut self, sample: &Sample) {
        let cwnd = self.window.cwnd;
        let up = cwnd > self.at_round;
        if self.direction == Some(up) {
            self.same += 1;
            // It doubles once the direction has held for three round trips.
            if self.same >= 3 {
                self.velocity = (self.velocity * 2.0).min(real(cwnd) / real(self.window.mss));
            }
        } else {
            self.velocity = 1.0;
            self.same = 0;
        }
        self.direction = Some(up);
        self.at_round = cwnd;
        if self.competitive && !self.srtt.is_zero() {
            let five = self.srtt * 5;
            if sample.now.saturating_since(self.empty_at) > five {
                // 1 / delta grows by one per round trip and halves with a loss.
                let inverse = 1.0 / self.delta;
                let next = if self.lost {
                    inverse / 2.0
                } else {
                    inverse + 1.0
                };
                self.delta = (1.0 / next).min(self.default_delta);
            } else {
                self.delta = self.default_delta;
            }
        }
        self.lost = false;
    }
}

impl Build for Copa {
    type Params = CopaParams;

    fn build(params: &CopaParams) -> Result<Copa, ParamError> {
        Ok(Copa {
            window: Window::new(),
            default_delta: params.delta,
            delta: params.delta,
            competitive: params.competitive,
            min_rtt_window: params.min_rtt_window,
            standing: Least::default(),
            least: Least::default(),
            srtt: Span::ZERO,
            slow_start: true,
            velocity: 1.0,
            direction: None,
            same: 0,
            at_round: 0,
            round: Round::default(),
            rest: 0.0,
            empty_at: Time::ZERO,
            most: Least::default(),
            lost: false,
        })
    }
}

impl CongestionControl for Copa {
    fn on_start(&mut self, start: &Start) {
        self.window.start(start);
        self.at_round = self.window.cwnd;
        self.empty_at = start.now;
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.window.sent(sent);
    }

    fn on_decay(&mut self, cwnd: u64) {
        self.window.decay(cwnd);
    }

    fn traits(&self) -> Traits {
        Traits {
            samples: true,
            paces: true,
            ..Traits::default()
        }
    }

    fn on_sample(&mut self, sample: &Sample) {
        self.srtt = sample.srtt.unwrap_or(self.srtt);
        if let Some(rtt) = sample.rtt {
            self.standing.add(sample.now, rtt, self.srtt / 2);
            self.least.add(sample.now, rtt, self.min_rtt_window);
            // The greatest of the last four round trips, as the least of its complement.
            let complement = Span::from_ps(u64::MAX / 2).saturating_sub(rtt);
            self.most.add(sample.now, complement, self.srtt * 4);
            if let (Some((standing, least)), Some(most)) = (self.delays(), self.most.get()) {
                let most = seconds(Span::from_ps(u64::MAX / 2).saturating_sub(most));
                let packet = standing * real(self.window.mss) / real(self.window.cwnd.max(1));
                if standing - least < (0.1 * (most - least)).max(packet) {
                    self.empty_at = sample.now;
                }
            }
        }
        if self.round.passed(sample) {
            self.on_round(sample);
        }
    }

    fn on_ack(&mut self, acked: &Acked) {
        let Some(bytes) = self.window.admit(acked) else {
            return;
        };
        let Some((standing, least)) = self.delays() else {
            return;
        };
        let mss = real(self.window.mss);
        let segments = real(self.window.cwnd) / mss;
        let current = segments / standing.max(1e-9);
        let queueing = standing - least;
        let below = queueing <= 0.0 || current <= 1.0 / (self.delta * queueing);
        if self.slow_start {
            if below {
                self.window.cwnd += bytes;
                return;
            }
            self.slow_start = false;
            self.at_round = self.window.cwnd;
        }
        if self.direction.is_some_and(|up| up != below) && self.velocity > 1.0 {
            self.velocity = 1.0;
            self.same = 0;
        }
        let step = self.velocity * real(bytes) / (self.delta * segments);
        let change = if below { step } else { -step };
        let next = (real(self.window.cwnd) + self.rest + change).max(2.0 * mss);
        self.window.cwnd = whole(next);
        self.rest = next - real(self.window.cwnd);
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.lost = true;
        match congestion.kind {
            // A loss alone says nothing; in competition it halves 1 / delta.
            CongestionKind::Loss | CongestionKind::Ecn => {
                self.slow_start = false;
                let to = if self.delta < self.default_delta {
                    self.window.cwnd / 2
                } else {
                    self.window.cwnd
                };
                self.window.fall(to, 2);
            }
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
        // Twice the window per standing round trip.
        let (standing, _) = self.delays()?;
        Some(rate(2.0 * real(self.window.cwnd) / standing.max(1e-9)))
    }

    fn on_undo(&mut self, undo: &Undo) {
        self.window.undo(undo);
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("delta", self.delta);
        tell("velocity", self.velocity);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::tests::Pipe;
    use sojourn_units::Params;

    #[test]
    fn alone_it_does_not_turn_to_competition() {
        let mut pipe = Pipe::new(
            Copa::build(&CopaParams::default()).unwrap(),
            1000.0,
            Span::from_ms(50),
        );
        pipe.run(Span::from_secs(30));
        let mean = pipe.mean_window(Span::from_secs(10)) - 51.0;
        assert!((0.0..6.0).contains(&mean), "{mean}");
    }

    #[test]
    fn about_one_over_delta_segments_wait() {
        for (delta, waiting) in [("0.5", 2.0), ("0.1", 10.0)] {
            let mut params = CopaParams::default();
            params.set("delta", delta).unwrap();
            params.set("competitive", "false").unwrap();
            let mut pipe = Pipe::new(Copa::build(&params).unwrap(), 1000.0, Span::from_ms(50));
            pipe.run(Span::from_secs(20));
            let mean = pipe.mean_window(Span::from_secs(10)) - 51.0;
            // It swings around the target by about as much.
            assert!((mean - waiting).abs() < waiting + 1.0, "{delta}: {mean}");
        }
    }
}
