//! Linux's PIE, in whole numbers.

use super::params::PieParams;
use crate::aqm::{Cx, Meta, Verdict, View, float};
use sojourn_sim::{DropReason, MarkReason};
use sojourn_units::{Bytes, Packets, Span, Time};

/// Linux's PIE: probabilities in units of 2^-56, times in units of 64 ns.
pub(super) struct LinuxPie {
    pub(super) params: PieParams,
    /// Target delay, in ticks of 64 ns.
    pub(super) target: u64,
    /// Integral gain in sixteenths.
    pub(super) alpha: u64,
    /// Proportional gain in sixteenths.
    pub(super) beta: u64,
    /// Largest probability at which packets are marked, in units of 2^-56.
    pub(super) mark_p: u64,
    /// Bytes of a usual packet.
    pub(super) mtu: u64,
    /// Drop probability, in units of 2^-56.
    pub(super) probability: u64,
    /// Sum of the probability over packets since the last drop, in units of 2^-56.
    pub(super) accumulated: u64,
    /// Queue delay, in ticks.
    pub(super) delay: u64,
    /// Queue delay at the last update, in ticks.
    pub(super) delay_before: u64,
    /// Burst allowance that is left, in ticks.
    pub(super) allowance: u64,
    /// When the last packet left, or the measurement began, in ticks.
    pub(super) since: Option<u64>,
    /// Bytes that left in this measurement.
    pub(super) measured: Option<u64>,
    /// Bytes per 64 ns, scaled by 2^8.
    pub(super) rate: u32,
}

impl LinuxPie {
    pub(super) fn new(params: PieParams) -> LinuxPie {
        LinuxPie {
            target: ticks(params.target),
            alpha: sixteenths(params.alpha).unwrap_or(0),
            beta: sixteenths(params.beta).unwrap_or(0),
            mark_p: params.mark_p.map_or(u64::MAX, scaled_probability),
            mtu: params.avpkt.get(),
            probability: 0,
            accumulated: 0,
            delay: 0,
            delay_before: 0,
            allowance: ticks(params.burst),
            since: None,
            measured: None,
            rate: 0,
            params,
        }
    }

    #[inline(always)]
    pub(super) fn on_enqueue(&mut self, meta: &Meta, view: &View<'_>, cx: &mut Cx<'_>) -> Verdict {
        let packets = Packets::new(view.packets + 1);
        let bytes = Bytes::new(view.bytes + u64::from(meta.size));
        if !self.params.limit.admits(packets, bytes) {
            self.accumulated = 0;
            return Verdict::Drop(DropReason::Overlimit);
        }
        if !self.drops_early(meta, view, cx) {
            return Verdict::Pass;
        }
        if self.params.ecn && self.probability <= self.mark_p && meta.ecn().is_capable() {
            return Verdict::Mark(MarkReason::Early);
        }
        self.accumulated = 0;
        Verdict::Drop(DropReason::Early)
    }

    #[inline(always)]
    pub(super) fn drops_early(&mut self, meta: &Meta, view: &View<'_>, cx: &mut Cx<'_>) -> bool {
        let little = self.delay < self.target / 2 && self.probability < MAX_PROB / 5;
        if self.allowance > 0 || little || view.bytes < 2 * self.mtu {
            return false;
        }
        let size = u64::from(meta.size);
        let p = if self.params.byte_mode && size <= self.mtu {
            size * (self.probability / self.mtu)
        } else {
            self.probability
        };
        self.accumulated = if p == 0 {
            0
        } else {
            self.accumulated.wrapping_add(p)
        };
        if self.accumulated < MAX_PROB / 100 * 85 {
            return false;
        }
        if self.accumulated >= MAX_PROB / 2 * 17 {
            return true;
        }
        let drops = cx.rng.bits() >> 8 < p;
        if drops {
            self.accumulated = 0;
        }
        drops
    }

    #[inline(always)]
    pub(super) fn on_dequeue(&mut self, meta: &Meta, sojourn: Span, view: &View<'_>, now: Time) {
        let arrived = now - sojourn;
        let (now, arrived) = (now.as_ns() >> TICK_LOG, arrived.as_ns() >> TICK_LOG);
        let spent = if self.params.dq_rate_estimator {
            self.measure(meta, view, now)
        } else {
            self.delay = if view.bytes == 0 { 0 } else { now - arrived };
            let since = self.since.replace(now);
            since.map_or(0, |since| now - since)
        };
        self.allowance = self.allowance.saturating_sub(spent);
    }

    /// One departure for the estimate of the rate; says how long a measurement took that ended.
    pub(super) fn measure(&mut self, meta: &Meta, view: &View<'_>, now: u64) -> u64 {
        if view.bytes >= DQ_THRESHOLD && self.measured.is_none() {
            self.since = Some(now);
            self.measured = Some(0);
        }
        let Some(measured) = self.measured else {
            return 0;
        };
        let measured = measured + u64::from(meta.size);
        self.measured = Some(measured);
        let took = low_32(now - self.since.unwrap_or(now));
        if measured < DQ_THRESHOLD || took == 0 {
            return 0;
        }
        let rate = low_32(measured << RATE_LOG) / took;
        self.rate = if self.rate == 0 {
            rate
        } else {
            self.rate - (self.rate >> 3) + (rate >> 3)
        };
        if view.bytes < DQ_THRESHOLD {
            self.measured = None;
        } else {
            self.measured = Some(0);
            self.since = Some(now);
        }
        u64::from(took)
    }

    pub(super) fn update(&mut self, view: &View<'_>) {
        let estimates = self.params.dq_rate_estimator;
        let (delay, before) = if estimates {
            self.delay_before = self.delay;
            let backlog = low_32(view.bytes << RATE_LOG);
            (
                backlog.checked_div(self.rate).map_or(0, u64::from),
                self.delay,
            )
        } else {
            (self.delay, self.delay_before)
        };
        let mut may_decay = delay != 0 || view.bytes == 0;
        let unit = MAX_PROB / TICKS_PER_S;
        let (mut alpha, mut beta) = ((self.alpha * unit) >> 4, (self.beta * unit) >> 4);
        if self.probability < MAX_PROB / 10 {
            alpha >>= 1;
            beta >>= 1;
            let mut power = 100;
            while power <= 1_000_000 && self.probability < MAX_PROB / power {
                alpha >>= 2;
                beta >>= 2;
                power *= 10;
            }
        }
        let toward = alpha.wrapping_mul(delay.wrapping_sub(self.target));
        let change = beta.wrapping_mul(delay.wrapping_sub(before));
        let mut delta = toward.wrapping_add(change).cast_signed();
        if delta > TWO_PERCENT && self.probability >= MAX_PROB / 10 {
            delta = (MAX_PROB / 100 * 2).cast_signed();
        }
        if delay > ticks(Span::from_ms(250)) {
            delta += TWO_PERCENT;
        }
        let old = self.probability;
        self.probability = old.wrapping_add_signed(delta);
        if delta > 0 {
            if self.probability < old {
                self.probability = MAX_PROB;
                may_decay = false;
            }
        } else if self.probability > old {
            self.probability = 0;
        }
        if delay == 0 && before == 0 && may_decay {
            self.probability -= self.probability / 64;
        }
        self.delay = delay;
        let half = self.target / 2;
        let known = !estimates || self.rate > 0;
        if delay < half && self.delay_before < half && self.probability == 0 && known {
            self.allowance = ticks(self.params.burst);
            self.since = None;
            self.accumulated = 0;
            self.measured = None;
            self.rate = 0;
        }
        if !estimates {
            self.delay_before = delay;
        }
    }
}

/// Bytes that are counted in one measurement of the rate.
pub(super) const DQ_THRESHOLD: u64 = 1 << 14;
/// Linux's probability of 1.
pub(super) const MAX_PROB: u64 = u64::MAX >> 8;
pub(super) const TWO_PERCENT: i64 = (MAX_PROB / 50).cast_signed();
/// Linux's clock ticks every 2^6 ns.
pub(super) const TICK_LOG: u32 = 6;
pub(super) const TICK_S: f64 = 64e-9;
pub(super) const TICKS_PER_S: u64 = 1_000_000_000 >> TICK_LOG;
pub(super) const RATE_LOG: u32 = 8;

pub(super) fn ticks(span: Span) -> u64 {
    span.as_ns() >> TICK_LOG
}

/// A whole number of sixteenths, at most 32, if it is one.
pub(super) fn sixteenths(gain: f64) -> Option<u64> {
    (0..=32).find(|n| (float(*n) / 16.0).to_bits() == gain.to_bits())
}

#[allow(clippy::as_conversions, reason = "cut as Linux's u32 does")]
pub(super) const fn low_32(n: u64) -> u32 {
    n as u32
}

#[allow(
    clippy::as_conversions,
    reason = "between 0 and 1, cut to whole units of 2^-56"
)]
pub(super) fn scaled_probability(p: f64) -> u64 {
    (p * float(MAX_PROB)) as u64
}
