//! Westwood+ as Linux has it.
//!
//! Source: tcp_westwood.c of Linux 6.1.192, read for behaviour. Where it is not the paper: the rate is in whole bytes per millisecond, the round trip in whole
//! milliseconds, rounded up; while losses are repaired the window is half of what it was, and what the rate needs at the least delay only
//! afterwards; growth is Reno's.

use super::WestwoodParams;
use crate::Build;
use crate::linux::{Event, Ops, State, ticks_of};
use crate::num::{millis, real};
use sojourn_units::ParamError;

/// The round trip before there is a sample, ticks.
const UNKNOWN: u64 = 20_000;

/// See [`super::Westwood`]. Times are ticks.
#[derive(Clone, Debug)]
pub(crate) struct Linux {
    /// Least time over which the rate is taken, milliseconds.
    least_interval: u64,
    /// Bytes per tick: filtered once, and twice.
    once: u64,
    /// The rate, filtered twice, bytes per tick.
    rate: u64,
    /// When the rate was last taken, milliseconds.
    since: u64,
    /// Bytes acknowledged since then.
    bytes: u64,
    /// Up to here acknowledgements are counted; none before the first one.
    counted_to: Option<u64>,
    /// Bytes counted for repeated acknowledgements.
    repeated: u64,
    /// The last round trip, milliseconds.
    rtt: u64,
    /// The shortest round trip, milliseconds.
    least_rtt: u64,
    forget_least: bool,
}

impl Linux {
    /// westwood_update_window.
    fn update(&mut self, ticks: u64) {
        let passed = ticks - self.since;
        if self.rtt == 0 || passed <= self.rtt.max(self.least_interval) {
            return;
        }
        let now = self.bytes / passed;
        if self.once == 0 && self.rate == 0 {
            self.once = now;
            self.rate = now;
        } else {
            self.once = (7 * self.once + now) / 8;
            self.rate = (7 * self.rate + self.once) / 8;
        }
        self.bytes = 0;
        self.since = ticks;
    }

    /// westwood_acked_count: what a repeated acknowledgement has counted for does not count again. Linux asks for it on its slow path only, which an
    /// acknowledgement takes that fills a gap, because the receiver's window changes by it.
    fn count(&mut self, advance: u64, mss: u64) -> u64 {
        if advance == 0 {
            self.repeated += mss;
            return mss;
        }
        if advance <= mss {
            return advance;
        }
        match self.repeated.checked_sub(advance) {
            Some(left) => {
                self.repeated = left;
                mss
            }
            None => advance - std::mem::take(&mut self.repeated),
        }
    }

    /// tcp_westwood_bw_rttmin.
    fn needed(&self, mss: u64) -> u64 {
        (self.rate * self.least_rtt / mss).max(2)
    }
}

impl Build for Linux {
    type Params = WestwoodParams;

    fn build(params: &WestwoodParams) -> Result<Linux, ParamError> {
        Ok(Linux {
            least_interval: millis(params.least_interval),
            once: 0,
            rate: 0,
            since: 0,
            bytes: 0,
            counted_to: None,
            repeated: 0,
            rtt: UNKNOWN,
            least_rtt: UNKNOWN,
            forget_least: true,
        })
    }
}

impl Ops for Linux {
    fn init(&mut self, state: &mut State) {
        self.since = state.ticks();
    }

    fn acked(&mut self, _: &mut State, _: u64, rtt: Option<u64>, _: &crate::Sample) {
        if let Some(rtt) = rtt.filter(|&rtt| rtt > 0) {
            self.rtt = ticks_of(rtt);
        }
    }

    fn heard(&mut self, state: &mut State) {
        let counted_to = self.counted_to.replace(state.una).unwrap_or(state.una);
        self.update(state.ticks());
        let advance = state.una - counted_to;
        self.bytes += self.count(advance, state.mss);
        self.least_rtt = match std::mem::take(&mut self.forget_least) {
            true => self.rtt,
            false => self.rtt.min(self.least_rtt),
        };
    }

    fn event(&mut self, state: &mut State, event: Event) {
        match event {
            Event::CompleteCwr => {
                state.ssthresh = self.needed(state.mss);
                state.cwnd = state.ssthresh;
            }
            Event::Loss => {
                state.ssthresh = self.needed(state.mss);
                self.forget_least = true;
            }
            Event::TxStart => {}
        }
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("bw (bps)", real(self.rate) * 8e3);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_repeated_acknowledgements_have_counted_for_does_not_count_again() {
        let mut linux = Linux::build(&WestwoodParams::default()).unwrap();
        // Nine segments arrive after a gap, then the one that was missing.
        assert_eq!((0..9).map(|_| linux.count(0, 1448)).sum::<u64>(), 9 * 1448);
        assert_eq!(linux.count(10 * 1448, 1448), 1448);
        assert_eq!(linux.count(2 * 1448, 1448), 2 * 1448);
        assert_eq!(linux.count(0, 1448) + linux.count(0, 1448), 2 * 1448);
        assert_eq!(linux.count(1448, 1448), 1448);
        assert_eq!(linux.count(2 * 1448, 1448), 1448);
        assert_eq!(linux.repeated, 0);
    }
}
