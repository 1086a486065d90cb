//! What several algorithms measure: bits in a sliding window of time, and the least of recent values.

use crate::num::real;
use sojourn_units::{Span, Time};
use std::collections::VecDeque;

/// Bits per second over a window of time.
#[derive(Clone, Debug)]
pub(super) struct RateMeter {
    window: Span,
    packets: VecDeque<(Time, u64)>,
    bytes: u64,
}

impl RateMeter {
    pub(super) fn new(window: Span) -> RateMeter {
        RateMeter {
            window,
            packets: VecDeque::new(),
            bytes: 0,
        }
    }

    pub(super) fn add(&mut self, at: Time, bytes: u64) {
        self.packets.push_back((at, bytes));
        self.bytes += bytes;
    }

    /// The rate at `now`; none until half a window has passed since the first packet.
    pub(super) fn rate(&mut self, now: Time) -> Option<f64> {
        while let Some((at, bytes)) = self.packets.front().copied() {
            if now.saturating_since(at) <= self.window {
                break;
            }
            self.bytes -= bytes;
            self.packets.pop_front();
        }
        let first = self.packets.front()?.0;
        let covered = now.saturating_since(first);
        if covered < self.window / 2 {
            return None;
        }
        Some(real(self.bytes) * 8.0 / self.window.min(covered).as_secs_f64())
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

    /// A packet took so many seconds; says the filtered delay of the queue, seconds.
    pub(super) fn add(&mut self, delay: f64) -> f64 {
        let base = self.base.map_or(delay, |base| base.min(delay));
        self.base = Some(base);
        self.recent.push_back(delay);
        while self.recent.len() > self.taps {
            self.recent.pop_front();
        }
        self.recent.iter().copied().fold(f64::INFINITY, f64::min) - base
    }
}
