//! TCP-LP as Linux has it.
//!
//! Source: tcp_lp.c of Linux 6.1.192, read for behaviour. Delays are differences of timestamps in whole milliseconds, modulo 2^32; the receiver's clock
//! rate is estimated from them, and a rate that is estimated at more than 1000 Hz makes its part of the difference vanish (an integer quotient);
//! congestion is judged from the first sample on, and the range of delays begins anew with each time it is seen; the threshold of slow start stays.
//!
//! The smoothed delay is kept eightfold in 32 bits. What the receiver's clock is ahead of the sender's counts as delay, and Linux adds a random number of
//! 32 bits to its clock for each pair of hosts: from 2^29 ms on the smoothed delay is always below the least one, so that no congestion is
//! seen and this is Reno (`clock_offset`).
//!
//! Deviation: an acknowledgement's timestamp is when that arrived which it echoes, not when it was sent.

use super::{LpParams, Range};
use crate::linux::{Ops, State};
use crate::num::millis;
use crate::{Build, Traits};
use sojourn_units::{ParamError, Time};

/// Ticks per second of a clock for timestamps (TCP_TS_HZ, LP_RESOL).
const HZ: u32 = 1000;

/// Round trips of the inference phase.
const INFERENCE: u32 = 3;

/// The last figure of a clock of milliseconds with 32 bits.
fn stamp(time: Time) -> u32 {
    let ticks = millis(time.saturating_since(Time::ZERO)) % (1 << 32);
    u32::try_from(ticks).unwrap_or(0)
}

/// See [`super::Lp`]. Delays and times in milliseconds.
#[derive(Clone, Debug)]
pub(crate) struct Linux {
    /// What the receiver's timestamps are ahead, milliseconds modulo 2^32.
    clock_offset: u32,
    /// The receiver's clock, Hz; the last timestamps of both.
    remote_hz: u32,
    /// The last timestamp of the receiver, milliseconds.
    remote: u32,
    /// The last timestamp that it echoed, milliseconds.
    local: u32,
    /// Eight times the smoothed delay.
    smoothed: u32,
    range: Range,
    /// When the window fell last, milliseconds.
    last_drop: u32,
    /// The time of inference, milliseconds.
    inference: u32,
    inferring: bool,
}

impl Linux {
    /// tcp_lp_remote_hz_estimator.
    fn estimate(&mut self, value: u32, echo: u32) {
        if self.remote != 0 && self.local != 0 && value != self.remote && echo != self.local {
            let passed = value.wrapping_sub(self.remote);
            let now = HZ.wrapping_mul(passed) / echo.wrapping_sub(self.local);
            let old = i64::from(self.remote_hz) << 6;
            let new = if old > 0 {
                old + i64::from(now) - (old >> 6)
            } else {
                i64::from(now) << 6
            };
            self.remote_hz = u32::try_from(new >> 6).unwrap_or(0);
        }
        self.remote = value;
        self.local = echo;
    }

    /// tcp_lp_owd_calculator.
    fn delay(&mut self, value: u32, echo: u32) -> Option<u32> {
        self.estimate(value, echo);
        let ticks = HZ.checked_div(self.remote_hz)?;
        let delay = value.wrapping_mul(ticks).wrapping_sub(echo);
        (delay > 0).then_some(delay)
    }

    /// tcp_lp_rtt_sample.
    fn sample(&mut self, delay: u32) {
        self.range.take(delay);
        self.smoothed = if self.smoothed == 0 {
            delay << 3
        } else {
            let error = delay.wrapping_sub(self.smoothed >> 3);
            self.smoothed.wrapping_add(error)
        };
    }

    /// The smoothed delay is in the lowest part of the range.
    fn is_low(&self) -> bool {
        let Range { least, most, .. } = self.range;
        let part = 15u32.wrapping_mul(most.wrapping_sub(least)) / 100;
        self.smoothed >> 3 < least.wrapping_add(part)
    }
}

impl Build for Linux {
    type Params = LpParams;

    fn build(params: &LpParams) -> Result<Linux, ParamError> {
        Ok(Linux {
            clock_offset: params.clock_offset,
            remote_hz: 0,
            remote: 0,
            local: 0,
            smoothed: 0,
            range: Range::new(),
            last_drop: 0,
            inference: 0,
            inferring: false,
        })
    }
}

impl Ops for Linux {
    fn traits(&self) -> Traits {
        Traits {
            samples: true,
            timestamps: true,
            ..Traits::default()
        }
    }

    fn acked(&mut self, state: &mut State, _: u64, rtt: Option<u64>, sample: &crate::Sample) {
        let now = stamp(state.now);
        let (Some(sent), Some(delay)) = (sample.stamp, sample.one_way) else {
            return;
        };
        let arrived = stamp(sent.saturating_add(delay)).wrapping_add(self.clock_offset);
        let echo = stamp(sent);
        if rtt.is_some_and(|rtt| rtt > 0)
            && let Some(delay) = self.delay(arrived, echo)
        {
            self.sample(delay);
        }
        if now > echo {
            self.inference = INFERENCE * (now - echo);
        }
        self.inferring = self.last_drop != 0 && now.wrapping_sub(self.last_drop) < self.inference;
        if self.is_low() {
            return;
        }
        self.range.begin(self.smoothed >> 3, self.smoothed >> 2);
        state.cwnd = if self.inferring {
            1
        } else {
            (state.cwnd / 2).max(1)
        };
        self.last_drop = now;
    }

    fn avoid(&mut self, state: &mut State, acked: u64, limited: bool) {
        if !self.inferring {
            state.reno(acked, limited);
        }
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("remote_hz (Hz)", f64::from(self.remote_hz));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::Socket;
    use crate::window::tests::MSS;
    use crate::{CongestionControl, Sample, Start};
    use sojourn_units::{Params, Span};

    /// The window after a delay that has risen from 20 to 60 ms for half a second.
    fn after_delay(clock_offset: u32) -> u64 {
        let params = LpParams {
            clock_offset,
            ..LpParams::in_dialect("linux").unwrap()
        };
        let mut cc = Socket::new(Linux::build(&params).unwrap());
        cc.on_start(&Start {
            mss: MSS,
            initial_window: 40 * MSS,
            ..Start::default()
        });
        for ms in 0..1000 {
            let delay = if ms < 500 { 20 } else { 60 };
            cc.on_sample(&Sample {
                now: Time::ZERO + Span::from_ms(1080 + ms),
                stamp: Some(Time::ZERO + Span::from_ms(1000 + ms)),
                one_way: Some(Span::from_ms(delay)),
                rtt: Some(Span::from_ms(80)),
                ..Sample::default()
            });
        }
        cc.cwnd() / MSS
    }

    #[test]
    fn clocks_that_are_far_apart_hide_the_delay() {
        assert!(after_delay(0) < 20);
        assert_eq!(after_delay(1 << 31), 40);
        assert_eq!(after_delay(1 << 29), 40);
    }
}
