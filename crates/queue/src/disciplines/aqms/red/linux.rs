//! Linux's RED: whole numbers, scaled, with the weight and the idle times that `tc` chooses.

use super::common::{Unit, contradiction, forced, signed_float, within_limit};
use super::idle::{Idle, IdleTable};
use super::params::RedParams;
use crate::aqm::{Cx, Meta, Verdict, View, float};
use crate::entry::SpecError;
use sojourn_sim::{DropReason, MarkReason};
use sojourn_units::{Packets, Rate, Span, Time};

/// Linux's RED: whole numbers, scaled.
pub(crate) struct LinuxRed {
    pub(crate) params: RedParams,
    /// Binary logarithm of one over the weight; the average is scaled by two to this power.
    pub(crate) wlog: u32,
    /// Lower threshold, in bytes (CHOKe: packets).
    pub(crate) min: u64,
    /// Upper threshold, in that unit.
    pub(crate) max: u64,
    /// `table` is made.
    pub(super) settled: bool,
    pub(super) table: IdleTable,
    /// Average queue, in that unit times 2^`wlog`.
    pub(crate) average: u64,
    /// Probability at `max`, in units of 2^-32.
    pub(super) max_p: u32,
    /// `max_p` divided by the bytes between the thresholds, in units of 2^-32.
    pub(super) max_p_per_byte: u32,
    /// Packets since the last draw; -1 while the average is below `min`.
    pub(crate) count: i64,
    /// The draw that the next drop waits for: bytes above `min` (CHOKe: packets), summed over packets.
    pub(crate) drawn: u64,
    pub(crate) idle: Idle,
}

impl LinuxRed {
    pub(crate) fn new(params: RedParams) -> Result<LinuxRed, SpecError> {
        let unit = Unit {
            in_bytes: true,
            avpkt: params.avpkt.get(),
        };
        let limit = unit.of("limit", params.limit)?;
        let max = params
            .max
            .map_or(Ok(limit / 4), |max| unit.of("max", max))?;
        let min = params.min.map_or(Ok(max / 3), |min| unit.of("min", min))?;
        if min > max {
            return Err(contradiction(&format!(
                "min, {min} bytes, is above max, {max} bytes"
            )));
        }
        let wlog = match params.weight {
            Some(weight) => whole_log(weight).ok_or_else(|| {
                contradiction(&format!(
                    "weight={weight} is not one of 1/2, 1/4, 1/8 ... that Linux can have; leave it out for the one that tc chooses"
                ))
            })?,
            None => {
                let burst = params
                    .burst
                    .map_or((2 * min + max) / (3 * unit.avpkt), Packets::get);
                tc_wlog(min, burst, unit.avpkt).ok_or_else(|| {
                    contradiction(&format!(
                        "burst, {burst}p, is too small for min, {min} bytes; tc asks for at least {}p",
                        1 + min / unit.avpkt
                    ))
                })?
            }
        };
        if [min, max]
            .iter()
            .any(|threshold| threshold >> (32 - wlog) != 0)
        {
            return Err(contradiction(&format!(
                "max, {max} bytes, times {} (one over the weight) does not fit in 32 bits",
                1_u64 << wlog
            )));
        }
        let max_p = scaled_probability(params.probability);
        let delta = (max - min).max(1);
        Ok(LinuxRed {
            wlog,
            min,
            max,
            settled: false,
            table: IdleTable::default(),
            average: 0,
            max_p,
            max_p_per_byte: low_32(u64::from(max_p) / delta).max(1),
            count: -1,
            drawn: 0,
            idle: Idle::new(params.idle_decay),
            params,
        })
    }

    #[inline]
    pub(super) fn settle(&mut self, link: Rate) {
        if !self.settled {
            self.settled = true;
            let rate = self.params.bandwidth.unwrap_or(link);
            self.table = IdleTable::new(self.wlog, self.params.avpkt.get(), rate);
        }
    }

    /// Brings the average up to date at an arrival that finds `queue`; returns how long the link was idle, if it was.
    #[inline(always)]
    pub(crate) fn arrive(&mut self, queue: u64, view: &View<'_>, now: Time) -> Option<Span> {
        self.settle(view.rate);
        let idle = self.idle.end(now);
        self.average = match idle {
            Some(idle) => self.table.decayed(self.average, idle),
            None => self
                .average
                .wrapping_add(queue)
                .wrapping_sub(self.average >> self.wlog),
        };
        idle
    }

    #[inline(always)]
    pub(super) fn on_enqueue(&mut self, meta: &Meta, view: &View<'_>, cx: &mut Cx<'_>) -> Verdict {
        let idle = self.arrive(view.bytes, view, cx.now);
        let verdict = self.judge(meta, cx);
        let verdict = within_limit(verdict, self.params.limit, meta, view);
        if idle.is_some() && matches!(verdict, Verdict::Drop(_)) {
            self.idle.begin(cx.now);
        }
        verdict
    }

    pub(super) fn judge(&mut self, meta: &Meta, cx: &mut Cx<'_>) -> Verdict {
        let (min, max) = (self.min << self.wlog, self.max << self.wlog);
        if self.average < min {
            self.count = -1;
            return Verdict::Pass;
        }
        if self.average >= max {
            self.count = -1;
            return forced(&self.params, meta);
        }
        self.count += 1;
        if self.count == 0 {
            self.drawn = self.draw(cx);
            return Verdict::Pass;
        }
        let above = (self.average - min) >> self.wlog;
        if above.saturating_mul(self.count.unsigned_abs()) < self.drawn {
            return Verdict::Pass;
        }
        self.count = 0;
        self.drawn = self.draw(cx);
        if self.params.ecn && meta.ecn().is_capable() {
            Verdict::Mark(MarkReason::Early)
        } else {
            Verdict::Drop(DropReason::Early)
        }
    }

    /// Bytes above `min`, summed over packets, after which the next is dropped.
    pub(crate) fn draw(&self, cx: &mut Cx<'_>) -> u64 {
        (cx.rng.bits() >> 32) / u64::from(self.max_p_per_byte)
    }

    pub(super) fn adapt(&mut self, now: Time) {
        // A packet that left after the adaptation was due may be counted before it: the queue was not idle then.
        let average = match self.idle.since {
            Some(since) => self
                .table
                .decayed(self.average, now.saturating_since(since)),
            None => self.average,
        } >> self.wlog;
        let delta = (self.max - self.min).max(1);
        let fifth = delta / 5;
        if average > self.min + 3 * fifth && self.max_p <= 50 * LINUX_PERCENT {
            self.max_p += LINUX_PERCENT.min(self.max_p / 4);
        } else if average < self.min + 2 * fifth && self.max_p >= LINUX_PERCENT {
            self.max_p = self.max_p / 10 * 9;
        }
        self.max_p_per_byte = low_32((u64::from(self.max_p) + delta / 2) / delta).max(1);
    }

    pub(crate) fn state(&self) -> [f64; 4] {
        let average = float(self.average) / float(1 << self.wlog);
        let max_p = f64::from(self.max_p) / ONE_32;
        let (min, max) = (float(self.min), float(self.max));
        let probability = if average < min {
            0.0
        } else if average < max {
            max_p * (average - min) / (max - min)
        } else {
            1.0
        };
        [average, probability, max_p, signed_float(self.count)]
    }
}

/// k for a weight of 2^-k, if it is one.
pub(crate) fn whole_log(weight: f64) -> Option<u32> {
    (1..32).find(|log| (weight * float(1 << log)).to_bits() == 1.0_f64.to_bits())
}

/// The k that `tc` chooses so that a burst from an empty queue leaves the average below `min`.
pub(crate) fn tc_wlog(min: u64, burst: u64, avpkt: u64) -> Option<u32> {
    let needed = float(burst) + 1.0 - float(min) / float(avpkt);
    if needed < 1.0 {
        return None;
    }
    (1..32).find(|log| {
        let weight = 1.0 / float(1 << log);
        needed <= (1.0 - libm::pow(1.0 - weight, float(burst))) / weight
    })
}

/// HZ / 2 jiffies.
pub(super) const LINUX_INTERVAL: Span = Span::from_ms(500);
/// A hundredth in units of 2^-32.
pub(super) const LINUX_PERCENT: u32 = 42_949_673;
pub(super) const ONE_32: f64 = 4_294_967_296.0;

#[allow(clippy::as_conversions, reason = "the value is below 2^32")]
pub(crate) const fn low_32(n: u64) -> u32 {
    n as u32
}

#[allow(
    clippy::as_conversions,
    reason = "not negative; 1 becomes the largest value"
)]
pub(crate) fn scaled_probability(p: f64) -> u32 {
    (p * ONE_32) as u32
}
