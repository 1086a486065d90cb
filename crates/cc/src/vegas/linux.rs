//! Vegas as Linux has it.
//!
//! Source: tcp_vegas.c of Linux 6.1.192, read for behaviour. Where it is not the paper: a round trip ends when something is acknowledged that was sent after
//! it began: the first sample of what an acknowledgement lets go, which meets the queue while it is empty, is that of the round before. What waits is
//! the rate of the round at no delay times the delay; the threshold stays at the window; while anything is missing, and for a round with
//! less than three samples, it is Reno.

use super::VegasParams;
use crate::control::in_order;
use crate::linux::{Delays, Event, NO_DELAY, Ops, State};
use crate::num::real;
use crate::{Build, Phase};
use sojourn_units::ParamError;

/// See [`super::Vegas`].
#[derive(Clone, Debug)]
pub(crate) struct Linux {
    /// Segments in queues below which the window grows.
    alpha: u64,
    /// Segments in queues above which the window shrinks.
    beta: u64,
    /// Segments in queues that end slow start.
    gamma: u64,
    on: bool,
    /// The byte whose acknowledgement ends the round.
    round_end: u64,
    delays: Delays,
}

impl Linux {
    fn lower_threshold(state: &mut State) {
        state.ssthresh = state.ssthresh.min(state.cwnd);
    }

    /// Once per round trip.
    fn judge(&self, state: &mut State, acked: u64) {
        let Delays { base, least, .. } = self.delays;
        let waiting = state.cwnd * (least - base) / base;
        if state.in_slow_start() {
            if waiting > self.gamma {
                state.cwnd = state.cwnd.min(state.cwnd * base / least + 1);
                Linux::lower_threshold(state);
            } else {
                state.slow_start(acked);
            }
        } else if waiting > self.beta {
            state.cwnd -= 1;
            Linux::lower_threshold(state);
        } else if waiting < self.alpha {
            state.cwnd += 1;
        }
        state.cwnd = state.cwnd.max(2);
        state.ssthresh = state.current_threshold();
    }
}

impl Build for Linux {
    type Params = VegasParams;

    fn build(params: &VegasParams) -> Result<Linux, ParamError> {
        in_order(params, params.alpha <= params.beta, "alpha", "beta")?;
        Ok(Linux {
            alpha: params.alpha.into(),
            beta: params.beta.into(),
            gamma: params.gamma.into(),
            on: true,
            round_end: 0,
            delays: Delays::default(),
        })
    }
}

impl Ops for Linux {
    fn acked(&mut self, _: &mut State, _: u64, rtt: Option<u64>, _: &crate::Sample) {
        self.delays.take(rtt);
    }

    fn phase(&mut self, state: &mut State, phase: Phase) {
        self.on = phase == Phase::Open;
        if self.on {
            self.round_end = state.next;
            self.delays.begin();
        }
    }

    fn event(&mut self, state: &mut State, event: Event) {
        if event == Event::TxStart {
            self.on = true;
            self.round_end = state.next;
            self.delays = Delays::default();
        }
    }

    fn avoid(&mut self, state: &mut State, acked: u64, limited: bool) {
        if !self.on {
            state.reno(acked, limited);
        } else if state.una > self.round_end {
            self.round_end = state.next;
            if self.delays.suffice() {
                self.judge(state, acked);
            } else {
                state.reno(acked, limited);
            }
            self.delays.begin();
        } else if state.in_slow_start() {
            state.slow_start(acked);
        }
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        if self.delays.base < NO_DELAY {
            tell("base_rtt (ms)", real(self.delays.base) / 1e3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::Socket;
    use crate::window::tests::Pipe;
    use crate::{Acked, Build, CongestionControl, Sample, Start};
    use sojourn_units::{Params, Span, Time};

    fn cc() -> Socket<Linux> {
        Socket::new(Linux::build(&VegasParams::in_dialect("linux").unwrap()).unwrap())
    }

    #[test]
    fn between_alpha_and_beta_segments_wait_in_steady_state() {
        let mut pipe = Pipe::new(cc(), 1000.0, Span::from_ms(40));
        pipe.run(Span::from_secs(20));
        // 40 segments and the one in transmission fill the path.
        let waiting = pipe.mean_window(Span::from_secs(5)) - 41.0;
        assert!((1.0..=5.0).contains(&waiting), "{waiting}");
    }

    /// Acknowledges what is below `una` while `next` is the byte to send next.
    fn acknowledge(cc: &mut Socket<Linux>, una: u64, next: u64, rtt_us: u64) {
        cc.on_sample(&Sample {
            una,
            next,
            rtt: Some(Span::from_us(rtt_us)),
            ..Sample::default()
        });
        cc.on_ack(&Acked {
            now: Time::ZERO,
            bytes: 1000,
            in_flight: next - una,
            rtt: None,
            echo: false,
            limited: true,
            stage: crate::Stage::Open,
        });
    }

    #[test]
    fn the_first_segment_of_a_round_trip_is_sampled_by_the_round_before() {
        // Ten segments, then twenty: the first of them meets an empty queue, the others one of a tenth of the base delay and more.
        let mut cc = cc();
        cc.on_start(&Start {
            mss: 1000,
            initial_window: 10_000,
            ..Start::default()
        });
        for n in 1..=10 {
            acknowledge(&mut cc, n * 1000, 8000 + 2000 * n, 20_000);
        }
        for n in 11..=31 {
            let rtt = if n == 11 { 20_000 } else { 22_000 };
            acknowledge(&mut cc, n * 1000, 8000 + 2000 * n, rtt);
        }
        // 40 segments when the round ended; a tenth of them waited.
        let state = &cc.state;
        assert!(!state.in_slow_start());
        assert_eq!(state.cwnd, state.ssthresh);
        assert_eq!(state.cwnd, 40 * 20_001 / 22_001 + 1);
    }
}
