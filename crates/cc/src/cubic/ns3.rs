//! CUBIC as ns-3 has it: whole segments, real seconds, and a HyStart with thresholds of its own.
//!
//! Source: ns-3.44, read for behaviour: tcp-cubic.cc (IncreaseWindow, Update, PktsAcked, HystartUpdate, GetSsThresh, CubicReset).
//!
//! Where it is not Linux: growth is computed at each acknowledgement; delays are smoothed round-trip times; slow start ends when
//! they are above twice the least one (Linux: above 9/8), or by a train of acknowledgements, 2 ms apart at most, longer than the least round trip
//! (Linux: longer than half of it); slow start goes past the threshold by what an acknowledgement brings; the parts of segments
//! that a reduction leaves are cut off.

use crate::Sample;
use crate::hystart::Rules;
use crate::num::{real, whole};
use sojourn_units::{Span, Time};

/// Delays right after a recovery are not those of the path (CubicDelta).
const SETTLE: Span = Span::from_ms(10);
/// Acknowledged segments for one of growth at most before the first loss, at least always (CntClamp, Update).
const CLAMP: u64 = 20;
const LEAST_COUNT: u64 = 2;

/// What is kept beside window and parameters; windows in segments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ns3 {
    /// Segments acknowledged towards the next one of growth.
    counted: u64,
    last_max: u64,
    origin: u64,
    /// Seconds from the beginning of the epoch to its origin.
    k: f64,
    epoch: Option<Time>,
    least: Option<Span>,
    /// Segments acknowledged towards the next one of Reno's window, and that.
    acked: u64,
    reno: u64,
    train: Train,
}

/// What HyStart watches in a round.
#[derive(Clone, Copy, Debug, Default)]
struct Train {
    found: bool,
    began: Time,
    last: Time,
    end: u64,
    least: Option<Span>,
    samples: u32,
    una: u64,
    next: u64,
}

impl Train {
    fn begin(&mut self, now: Time) {
        self.began = now;
        self.last = now;
        self.end = self.next;
        self.least = None;
        self.samples = 0;
    }
}

/// What of the parameters the curve needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) c: f64,
    pub(super) beta: f64,
    pub(super) friendly: bool,
    pub(super) fast_convergence: bool,
}

impl Ns3 {
    /// The connection is established.
    pub(super) fn start(&mut self, now: Time) {
        self.train.begin(now);
    }

    /// PktsAcked; true if slow start is to end.
    pub(super) fn on_sample(&mut self, sample: &Sample, watches: bool, rules: &Rules) -> bool {
        self.train.una = sample.una;
        self.train.next = sample.next;
        let Some(delay) = sample.srtt else {
            return false;
        };
        if let Some(epoch) = self.epoch
            && sample.now.saturating_since(epoch) < SETTLE
        {
            return false;
        }
        let least = self.least.map_or(delay, |least| least.min(delay));
        self.least = Some(least);
        watches && self.watch(sample.now, delay, least, rules)
    }

    /// HystartUpdate.
    fn watch(&mut self, now: Time, delay: Span, least: Span, rules: &Rules) -> bool {
        let train = &mut self.train;
        if train.found {
            return false;
        }
        if now.saturating_since(train.last) <= Span::from_us(rules.train_gap) {
            train.last = now;
            train.found |= now.saturating_since(train.began) > least;
        }
        if train.samples < rules.samples {
            train.least = Some(train.least.map_or(delay, |seen| seen.min(delay)));
            train.samples += 1;
        } else {
            let rise = (least / rules.rise_divisor)
                .max(Span::from_us(rules.least_rise))
                .min(Span::from_us(rules.most_rise.max(rules.least_rise)));
            train.found |= train.least.is_some_and(|seen| seen > least + rise);
        }
        train.found
    }

    /// An acknowledgement in slow start: a new round of HyStart begins with what was not sent when the last one began.
    pub(super) fn in_slow_start(&mut self, now: Time) {
        if self.train.una > self.train.end {
            self.train.begin(now);
        }
    }

    /// IncreaseWindow in congestion avoidance; true if the window of `cwnd` segments is to grow by one.
    pub(super) fn avoid(&mut self, acked: u64, cwnd: u64, now: Time, shape: &Shape) -> bool {
        self.counted += acked;
        let count = self.update(acked, cwnd, now, shape);
        if self.counted >= count {
            self.counted -= count;
            return true;
        }
        false
    }

    /// Update: acknowledged segments for one of growth.
    fn update(&mut self, acked: u64, cwnd: u64, now: Time, shape: &Shape) -> u64 {
        self.acked += acked;
        let epoch = *self.epoch.get_or_insert_with(|| {
            self.acked = acked;
            self.reno = cwnd;
            if self.last_max <= cwnd {
                self.k = 0.0;
                self.origin = cwnd;
            } else {
                self.k = libm::pow(real(self.last_max - cwnd) / shape.c, 1.0 / 3.0);
                self.origin = self.last_max;
            }
            now
        });
        let elapsed = now.saturating_since(epoch) + self.least.unwrap_or_default();
        let seconds = elapsed.as_secs_f64();
        let away = (seconds - self.k).abs();
        let delta = whole(shape.c * away * away * away);
        let target = if seconds < self.k {
            self.origin.saturating_sub(delta)
        } else {
            self.origin + delta
        };
        let mut count = if target > cwnd {
            cwnd / (target - cwnd)
        } else {
            100 * cwnd
        };
        if self.last_max == 0 {
            count = count.min(CLAMP);
        }
        if shape.friendly {
            // 8 (1 + beta) / (3 (1 - beta)), over 8: acknowledged windows per segment of Reno's growth.
            let scale = whole(
                8.0 * (1024.0 + shape.beta * 1024.0)
                    / 3.0
                    / (1024.0 - shape.beta * 1024.0).max(1.0),
            );
            let window = (cwnd * scale) >> 3;
            while window > 0 && self.acked > window {
                self.acked -= window;
                self.reno += 1;
            }
            if self.reno > cwnd {
                count = count.min(cwnd / (self.reno - cwnd));
            }
        }
        count.max(LEAST_COUNT)
    }

    /// GetSsThresh: what a reduction leaves of a window of `cwnd` segments.
    pub(super) fn reduce(&mut self, cwnd: u64, factor: f64, shape: &Shape) -> u64 {
        self.last_max = if shape.fast_convergence && cwnd < self.last_max {
            whole(real(cwnd) * (1.0 + shape.beta) / 2.0)
        } else {
            cwnd
        };
        self.epoch = None;
        whole(real(cwnd) * factor).max(2)
    }

    /// CubicReset and HystartReset, after a timeout. Linux forgets the window before the loss too; ns-3 keeps it.
    pub(super) fn reset(&mut self, now: Time) {
        self.origin = 0;
        self.k = 0.0;
        self.acked = 0;
        self.reno = 0;
        self.least = None;
        self.train.found = false;
        self.train.begin(now);
    }
}
