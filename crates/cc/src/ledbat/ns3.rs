//! LEDBAT as ns-3 has it.
//!
//! Source: tcp-ledbat.cc of ns-3 (the same from 3.37 to 3.40 and in the development tree that was read), for behaviour; windows were
//! compared with those of a build of ns-3.37.
//!
//! Where it is not RFC 6817: delays are whole milliseconds of a clock, from the sending of a segment to that of its acknowledgement; filter
//! and history hold one sample less than their parameter says; the history rolls over by 61 s; slow start goes on while the window is at most the
//! threshold, and again after a timeout; and the window is bounded by what was in flight before the acknowledgement, without ALLOWED_INCREASE.
//! A window that fills the flight can therefore only fall: outside slow start ns-3's LEDBAT does not grow. A fall by more than the window
//! wraps round 32 bits: a delay far above the target opens the window to what is in flight instead of closing it.

use super::LedbatParams;
use crate::num::{millis, real, seconds, whole};
use crate::window::{Window, by_window};
use crate::{Acked, Build, Congestion, CongestionControl, CongestionKind, Sample, Start, Traits};
use sojourn_units::{ParamError, Span, Time};
use std::collections::VecDeque;

/// Seconds after which the history goes on to the next sample (UpdateBaseDelay).
const ROLLOVER_S: u64 = 60;

/// See [`super::Ledbat`]. Delays are milliseconds.
#[derive(Clone, Debug)]
pub(crate) struct Ns3 {
    window: Window,
    /// Most segments of the initial window.
    init_cwnd: u64,
    /// TARGET, milliseconds.
    target: i64,
    /// GAIN.
    gain: f64,
    /// MIN_CWND, segments.
    least: u64,
    slow_start: bool,
    /// Slow start may go on (LEDBAT_CAN_SS).
    can_start: bool,
    base: VecDeque<u64>,
    history: usize,
    /// When the history last went on to the next sample, seconds.
    rolled_s: u64,
    noise: VecDeque<u64>,
    filter: usize,
}

/// AddDelay.
fn add(buffer: &mut VecDeque<u64>, delay: u64, most: usize) {
    let first = buffer.is_empty();
    buffer.push_back(delay);
    if !first && buffer.len() >= most {
        buffer.pop_front();
    }
}

/// A count of milliseconds or bytes with a sign.
fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// The nearest real number of what may be below zero.
fn real_of(count: i64) -> f64 {
    let size = real(count.unsigned_abs());
    if count < 0 { -size } else { size }
}

/// The window as a `uint32_t`: what is below zero wraps round, and only the bytes in flight bound it then.
fn wrapped(window: f64) -> u64 {
    match whole(-window) {
        0 => whole(window),
        below => (1 << 32) - below.min(1 << 32),
    }
}

impl Ns3 {
    /// PktsAcked.
    fn add(&mut self, delay: Span, now: Time) {
        let delay = millis(delay);
        add(&mut self.noise, delay, self.filter);
        let now_s = now.as_ps() / Span::from_secs(1).as_ps();
        if self.base.is_empty() {
            add(&mut self.base, delay, self.history);
        } else if now_s - self.rolled_s > ROLLOVER_S {
            self.rolled_s = now_s;
            add(&mut self.base, delay, self.history);
        } else if let Some(last) = self.base.back_mut() {
            *last = delay.min(*last);
        }
    }

    /// Milliseconds, below zero where the base delay is above the current one; none without samples.
    fn queueing_ms(&self) -> Option<i64> {
        let (current, base) = (self.noise.iter().min()?, self.base.iter().min()?);
        Some(signed(*current) - signed(*base))
    }

    /// The queueing delay.
    fn queueing(&self) -> Span {
        let ms = self.queueing_ms().unwrap_or_default();
        Span::from_ms(u64::try_from(ms).unwrap_or_default())
    }

    /// IncreaseWindow, for `bytes` of whole segments; `in_flight` after the acknowledgement.
    fn increase(&mut self, bytes: u64, in_flight: u64) {
        let queueing_ms = self.queueing_ms();
        let window = &mut self.window;
        let mss = window.mss;
        if window.cwnd <= mss {
            self.can_start = true;
        }
        if self.slow_start && self.can_start && window.cwnd <= window.ssthresh {
            if bytes >= mss {
                window.cwnd += mss;
            }
            return;
        }
        self.can_start = false;
        let Some(queueing) = queueing_ms else {
            // Without timestamps it is NewReno.
            window.cwnd += (mss * mss / window.cwnd).max(1);
            return;
        };
        let offset = real_of(self.target - queueing) * self.gain;
        let count = (offset * real(bytes)).trunc();
        let part = count / (real_of(self.target) * real(window.cwnd));
        let grown = wrapped(real(window.cwnd) + part * real(mss));
        window.cwnd = grown.min(in_flight + bytes).max(self.least * mss);
        if window.cwnd <= window.ssthresh {
            window.ssthresh = window.cwnd - 1;
        }
    }
}

impl Build for Ns3 {
    type Params = LedbatParams;

    fn build(params: &LedbatParams) -> Result<Ns3, ParamError> {
        let size = |count: u32| usize::try_from(count).unwrap_or(usize::MAX);
        Ok(Ns3 {
            window: Window::new(),
            init_cwnd: params.init_cwnd.into(),
            target: signed(millis(params.target)),
            gain: params.gain,
            least: params.min_cwnd.into(),
            slow_start: params.slow_start,
            can_start: true,
            base: VecDeque::new(),
            history: size(params.base_history),
            rolled_s: 0,
            noise: VecDeque::new(),
            filter: size(params.current_filter),
        })
    }
}

impl CongestionControl for Ns3 {
    by_window!();

    fn on_start(&mut self, start: &Start) {
        let initial_window = start.initial_window.min(self.init_cwnd * start.mss);
        self.window.start(&Start {
            initial_window,
            ..*start
        });
        if !self.slow_start {
            self.window.ssthresh = self.window.cwnd;
        }
    }

    fn traits(&self) -> Traits {
        Traits {
            samples: true,
            timestamps: true,
            raises: Some("ns-3 bounds no threshold that GetSsThresh answers with"),
            ..Traits::default()
        }
    }

    fn on_sample(&mut self, sample: &Sample) {
        // PktsAcked, which repeated acknowledgements call for one segment.
        let segments = sample.told.map(u64::from);
        if let Some(delay) = sample.one_way
            && segments.unwrap_or(sample.acked) > 0
        {
            self.add(delay, sample.now);
        }
    }

    fn on_ack(&mut self, acked: &Acked) {
        if let Some(bytes) = self.window.admit(acked) {
            self.increase(bytes, acked.in_flight);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        // GetSsThresh is that of ns-3's NewReno.
        let half = congestion.in_flight / 2;
        match congestion.kind {
            CongestionKind::Loss | CongestionKind::Ecn => self.window.fall(half, self.least),
            CongestionKind::Timeout(expiry) => self.window.time_out(half, expiry),
        }
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("queueing_delay (ms)", seconds(self.queueing()) * 1e3);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::tests::{MSS, Pipe};
    use sojourn_units::Params;

    fn ns3(settings: &[(&str, &str)]) -> LedbatParams {
        let mut params = LedbatParams::in_dialect("ns3").unwrap();
        for (name, value) in settings {
            params.set(name, value).unwrap();
        }
        params
    }

    #[test]
    fn outside_slow_start_the_window_does_not_grow() {
        let params = ns3(&[("slow_start", "false")]);
        let mut pipe = Pipe::new(Ns3::build(&params).unwrap(), 1000.0, Span::from_ms(40));
        let before = pipe.window();
        pipe.run(Span::from_secs(20));
        assert_eq!(pipe.window(), before);
    }

    #[test]
    fn it_falls_until_the_queue_is_below_the_target_and_stays_there() {
        let params = ns3(&[("slow_start", "false"), ("target", "20ms")]);
        let mut pipe = Pipe::new(Ns3::build(&params).unwrap(), 1000.0, Span::from_ms(40));
        pipe.cc.window.cwnd = 100 * MSS;
        pipe.run(Span::from_secs(5));
        let queue = seconds(pipe.queue()) * 1e3;
        assert!(queue < 20.0, "{queue}");
        let window = pipe.window();
        pipe.run(Span::from_secs(20));
        assert!(window < 65.0 && pipe.window() == window, "{window}");
    }

    #[test]
    fn filter_and_history_hold_one_sample_less_than_told() {
        let mut kept = Ns3::build(&ns3(&[])).unwrap();
        for (second, ms) in [(0, 10), (61, 30), (122, 40), (123, 35), (124, 50)] {
            let now = Time::ZERO + Span::from_secs(second);
            kept.add(Span::from_ms(ms), now);
        }
        assert_eq!(kept.noise, [40, 35, 50]);
        assert_eq!(kept.base, [10, 30, 35]);
        assert_eq!(kept.queueing_ms(), Some(25));
    }

    #[test]
    fn a_window_below_zero_wraps_and_is_bounded_by_what_is_in_flight() {
        let mut ledbat = Ns3::build(&ns3(&[("slow_start", "false")])).unwrap();
        ledbat.noise.push_back(4100);
        ledbat.base.push_back(100);
        ledbat.window.mss = MSS;
        ledbat.window.cwnd = 5 * MSS;
        ledbat.window.ssthresh = 5 * MSS - 1;
        // Queueing of 4 s, 3.9 s above the target: 39 * 2 / 5 segments less.
        ledbat.increase(2 * MSS, 11 * MSS);
        assert_eq!(ledbat.window.cwnd, 13 * MSS);
        // The next fall is by 39 * 2 / 13 segments.
        ledbat.increase(2 * MSS, 11 * MSS);
        assert_eq!(ledbat.window.cwnd, 7 * MSS);
    }
}
