//! What several algorithms measure: bits in a sliding window of time, and the least of recent values.

use crate::num::real;
use sojourn_units::{Span, Time};
use std::collections::VecDeque;

/// Bits per second over a window of time.
#[derive(Clone, Debug)]
pub(super) struct RateMeter {
    window: Span,
    /// When the first packet of all came, or the first after a window without any.
    begun: Option<Time>,
    packets: VecDeque<(Time, u64)>,
    bytes: u64,
}

impl RateMeter {
    pub(super) fn new(window: Span) -> RateMeter {
        RateMeter {
            window,
            begun: None,
            packets: VecDeque::new(),
            bytes: 0,
        }
    }

    pub(super) fn add(&mut self, at: Time, bytes: u64) {
        let last = self.packets.back().map(|packet| packet.0);
        if last.is_none_or(|last| at.saturating_since(last) >= self.window) {
            self.begun = Some(at);
            self.packets.clear();
            self.bytes = 0;
        }
        self.packets.push_back((at, bytes));
        self.bytes += bytes;
    }

    /// The rate of the window that ends with `now`; none until half a window has passed since the first packet.
    pub(super) fn rate(&mut self, now: Time) -> Option<f64> {
        while let Some((at, bytes)) = self.packets.front().copied() {
            // What came a window ago belongs to the one before.
            if now.saturating_since(at) < self.window {
                break;
            }
            self.bytes -= bytes;
            self.packets.pop_front();
        }
        let begun = self.begun?;
        let age = now.saturating_since(begun);
        if age < self.window / 2 || self.packets.is_empty() {
            return None;
        }
        if age >= self.window {
            return Some(real(self.bytes) * 8.0 / self.window.as_secs_f64());
        }
        // The first packets arrived in a time whose length is unknown.
        let first = self.packets.iter().take_while(|packet| packet.0 <= begun);
        let first: u64 = first.map(|packet| packet.1).sum();
        Some(real(self.bytes - first) * 8.0 / age.as_secs_f64())
    }
}

/// The one-way delays beyond the least that was ever seen, and the least of the last few (a filter against jitter).
#[derive(Clone, Debug)]
pub(super) struct QueueDelay {
    base: Option<f64>,
    taps: usize,
    recent: VecDeque<f64>,
}

impl QueueDelay {
    pub(super) fn new(taps: usize) -> QueueDelay {
        QueueDelay {
            base: None,
            taps,
            recent: VecDeque::new(),
        }
    }

    /// Adds a packet's `delay`; returns the filtered delay of the queue. Both in seconds.
    pub(super) fn add(&mut self, delay: f64) -> f64 {
        let base = self.base.map_or(delay, |base| base.min(delay));
        self.base = Some(base);
        self.recent.push_back(delay);
        while self.recent.len() > self.taps {
            self.recent.pop_front();
        }
        self.recent.iter().copied().fold(f64::INFINITY, f64::min) - base
    }

    /// The unfiltered queueing delay of a packet with this `delay`, seconds.
    pub(super) fn beyond(&self, delay: f64) -> f64 {
        delay - self.base.unwrap_or(delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_what_came_however_it_is_bunched() {
        // 1 Mbps: 125 bytes in a millisecond, reported every few milliseconds, in windows of 200 and 500 ms.
        for window in [200, 500] {
            for every in [1, 10, 50, 100] {
                let mut meter = RateMeter::new(Span::from_ms(window));
                for ms in (0..5000).step_by(every) {
                    let now = Time::ZERO + Span::from_ms(u64::try_from(ms).unwrap());
                    meter.add(now, 125 * u64::try_from(every).unwrap());
                    if let Some(rate) = meter.rate(now) {
                        assert!((rate / 1e6 - 1.0).abs() < 1e-9, "{window} {every} {rate}");
                    }
                }
            }
        }
    }

    #[test]
    fn after_a_pause_the_rate_is_that_of_what_comes_then() {
        let mut meter = RateMeter::new(Span::from_ms(500));
        for ms in (0..1000_u64).chain(9000..10_000) {
            let now = Time::ZERO + Span::from_ms(ms);
            meter.add(now, 125);
            let rate = meter.rate(now);
            let known = ms % 9000 >= 250;
            assert_eq!(rate.is_some(), known, "{ms}");
            assert!(rate.is_none_or(|rate| (rate / 1e6 - 1.0).abs() < 1e-9));
        }
        assert_eq!(meter.rate(Time::ZERO + Span::from_secs(20)), None);
    }
}
