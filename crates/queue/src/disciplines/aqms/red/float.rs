//! RED in floating point: the papers', ns-2's and ns-3's.

use super::common::{Unit, contradiction, forced, signed_float, within_limit};
use super::idle::Idle;
use super::params::{Dialect, RedParams};
use crate::aqm::{Cx, Meta, Verdict, View, float};
use crate::entry::SpecError;
use sojourn_sim::{DropReason, MarkReason};
use sojourn_units::{Limit, Span, Time};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rules {
    Paper,
    Ns2,
    Ns3,
}

/// The papers', ns-2's and ns-3's RED: in floating point.
pub(crate) struct FloatRed {
    pub(super) rules: Rules,
    pub(super) params: RedParams,
    pub(super) unit: Unit,
    /// A packet's probability is proportional to its size.
    pub(super) byte_mode: bool,
    /// The automatic settings are made.
    pub(super) settled: bool,
    /// Lower threshold, in the unit of the queue; NaN while it is automatic and not settled.
    pub(crate) min: f64,
    /// Upper threshold, in the unit of the queue; NaN likewise.
    pub(crate) max: f64,
    /// Weight of the queue in its average; NaN likewise.
    pub(super) weight: f64,
    /// Average from which every packet is dropped: `max`, or twice that with gentle.
    pub(super) ceiling: f64,
    /// Probability below which `max_p` is not lowered.
    pub(super) bottom: f64,
    /// Rate for idle times, in bits per second.
    pub(super) rate: u64,
    /// Slope and offset above `max`: p = gentle.0 * average + gentle.1 (ns-2, ns-3).
    pub(super) gentle: (f64, f64),
    /// Average queue, in the unit of the queue.
    pub(crate) average: f64,
    /// Probability at `max`.
    pub(super) max_p: f64,
    /// Probability by the average alone, before drops are spaced.
    pub(crate) probability: f64,
    /// Packets since the last drop; -1 while the average is below `min` (paper).
    pub(crate) count: i64,
    /// Bytes since the last drop (ns-2, ns-3).
    pub(super) count_bytes: u64,
    /// The average was above `min` at the arrival before (ns-2, ns-3).
    pub(super) above: bool,
    pub(crate) idle: Idle,
    /// When `max_p` was adapted last (ns-2, ns-3).
    pub(super) last_adapted: Time,
    /// Where the average was at the last arrival (Feng).
    pub(super) side: Side,
}

/// Where the average is, as Feng's rule remembers it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Below,
    Between,
    Above,
}

impl FloatRed {
    pub(crate) fn new(params: RedParams) -> Result<FloatRed, SpecError> {
        let rules = match params.dialect {
            Dialect::Ns2 => Rules::Ns2,
            Dialect::Ns3 | Dialect::Ns3_24 => Rules::Ns3,
            Dialect::Paper
            | Dialect::Ared
            | Dialect::Rared
            | Dialect::Feng
            | Dialect::Nlred
            | Dialect::Linux => Rules::Paper,
        };
        let limit_in_bytes = matches!(params.limit, Limit::Bytes(_));
        if rules == Rules::Ns3 && !limit_in_bytes && (params.queue_in_bytes || params.byte_mode) {
            return Err(contradiction(&format!(
                "in dialect {} the unit of limit decides; give limit in bytes instead of queue_in_bytes or byte_mode",
                params.dialect
            )));
        }
        let by_limit = rules == Rules::Ns3 && limit_in_bytes;
        let unit = Unit {
            in_bytes: params.queue_in_bytes || by_limit,
            avpkt: params.avpkt.get(),
        };
        let length = |key, limit: Option<Limit>| {
            limit.map_or(Ok(f64::NAN), |limit| unit.of(key, limit).map(float))
        };
        if rules == Rules::Ns2 {
            unit.of("limit", params.limit)?;
        }
        Ok(FloatRed {
            rules,
            unit,
            byte_mode: params.byte_mode || by_limit,
            settled: false,
            min: length("min", params.min)?,
            max: length("max", params.max)?,
            weight: params.weight.unwrap_or(f64::NAN),
            ceiling: f64::NAN,
            bottom: f64::NAN,
            rate: 1,
            gentle: (0.0, 0.0),
            average: 0.0,
            max_p: params.probability,
            probability: 0.0,
            count: if rules == Rules::Paper { -1 } else { 0 },
            count_bytes: 0,
            above: false,
            idle: Idle::new(params.idle_decay),
            last_adapted: Time::ZERO,
            side: Side::Above,
            params,
        })
    }

    /// Brings the average up to date at an arrival; returns the queue, and how long the link was idle, if it was.
    #[inline(always)]
    pub(crate) fn arrive(&mut self, view: &View<'_>, now: Time) -> (u64, Option<Span>) {
        self.settle(view.rate);
        let queue = self.unit.measure(view);
        let counts = self.idle.counts;
        let unasked = || view.idle_unasked().filter(|_| counts);
        let idle = self.idle.end(now);
        let idle = idle.or_else(|| Some(now.since(unasked()?)));
        self.average = self.averaged(queue, idle);
        if self.params.feng {
            self.adapt_by_side();
        }
        (queue, idle)
    }

    #[inline(always)]
    pub(super) fn on_enqueue(&mut self, meta: &Meta, view: &View<'_>, cx: &mut Cx<'_>) -> Verdict {
        let (queue, idle) = self.arrive(view, cx.now);
        let verdict = match self.rules {
            Rules::Paper => self.judge_as_paper(meta, view, cx),
            Rules::Ns2 | Rules::Ns3 => self.judge_as_simulator(*meta, queue, *view, cx.reborrow()),
        };
        if idle.is_some() && matches!(verdict, Verdict::Drop(_)) {
            // The link stays idle, and the average is up to date.
            self.idle.begin(cx.now);
        }
        verdict
    }

    /// The average after an arrival that finds `queue`, and found the link idle for so long.
    #[inline(always)]
    pub(super) fn averaged(&self, queue: u64, idle: Option<Span>) -> f64 {
        match idle {
            None => (1.0 - self.weight) * self.average + self.weight * float(queue),
            Some(idle) => self.averaged_after(queue, idle),
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn averaged_after(&self, queue: u64, idle: Span) -> f64 {
        let keep = 1.0 - self.weight;
        match self.rules {
            Rules::Paper => {
                let packet_s = 8.0 * float(self.unit.avpkt) / float(self.rate);
                libm::pow(keep, idle.as_secs_f64() / packet_s) * self.average
            }
            Rules::Ns2 | Rules::Ns3 => {
                let packets = self.whole_packets(idle).saturating_add(1);
                libm::pow(keep, float(packets)) * self.average + self.weight * float(queue)
            }
        }
    }

    /// Packets of usual size that the link sends in so long.
    pub(super) fn whole_packets(&self, span: Span) -> u64 {
        let bits = u128::from(span.as_ps()) * u128::from(self.rate);
        let packet = 8 * u128::from(self.unit.avpkt) * PS_PER_S;
        u64::try_from(bits / packet).unwrap_or(u64::MAX)
    }

    #[inline(always)]
    pub(super) fn judge_as_paper(
        &mut self,
        meta: &Meta,
        view: &View<'_>,
        cx: &mut Cx<'_>,
    ) -> Verdict {
        let mut verdict = Verdict::Pass;
        self.probability = 0.0;
        if self.average < self.min {
            self.count = -1;
        } else if self.average < self.ceiling {
            if self.draws_as_paper(meta, cx) {
                verdict = self.early(meta);
            }
        } else {
            self.probability = 1.0;
            self.count = 0;
            verdict = self.forced(meta);
        }
        self.within_limit(verdict, meta, view)
    }

    /// The paper's random decision, between the thresholds.
    #[inline(always)]
    pub(crate) fn draws_as_paper(&mut self, meta: &Meta, cx: &mut Cx<'_>) -> bool {
        self.count += 1;
        let p = self.line();
        self.probability = p;
        let p = if self.byte_mode {
            p * f64::from(meta.size) / float(self.unit.avpkt)
        } else {
            p
        };
        let drops = cx.rng.uniform() < spaced(p, signed_float(self.count), self.params.wait);
        if drops {
            self.count = 0;
        }
        drops
    }

    /// Takes copies, so that on the paper's path the arguments stay in registers.
    #[inline(never)]
    pub(super) fn judge_as_simulator(
        &mut self,
        meta: Meta,
        queue: u64,
        view: View<'_>,
        mut cx: Cx<'_>,
    ) -> Verdict {
        self.adapt_on_arrival(cx.now);
        match self.rules {
            Rules::Ns2 => self.judge_as_ns2(&meta, queue, &view, &mut cx),
            _ => self.judge_as_ns3(&meta, queue, &view, &mut cx),
        }
    }

    pub(super) fn judge_as_ns2(
        &mut self,
        meta: &Meta,
        queue: u64,
        view: &View<'_>,
        cx: &mut Cx<'_>,
    ) -> Verdict {
        self.count += 1;
        self.count_bytes += u64::from(meta.size);
        let mut verdict = Verdict::Pass;
        if self.average >= self.min && queue > 1 {
            if self.params.mark_p.is_none() && self.average >= self.ceiling {
                self.forget();
                verdict = Verdict::Drop(DropReason::Forced);
            } else if !self.above {
                self.begin_above(meta);
            } else if self.drops_early(meta, cx) {
                verdict = match self.params.mark_p {
                    Some(limit) if self.probability >= limit => Verdict::Drop(DropReason::Early),
                    _ => self.early(meta),
                };
            }
        } else {
            self.above = false;
        }
        if self.is_full(queue, meta, view) {
            self.forget();
            if verdict != Verdict::Drop(DropReason::Forced) {
                verdict = Verdict::Drop(DropReason::Overlimit);
            }
        }
        verdict
    }

    pub(super) fn judge_as_ns3(
        &mut self,
        meta: &Meta,
        queue: u64,
        view: &View<'_>,
        cx: &mut Cx<'_>,
    ) -> Verdict {
        self.count += 1;
        self.count_bytes += u64::from(meta.size);
        let mut verdict = Verdict::Pass;
        if self.average >= self.min && queue > 1 {
            if self.average >= self.ceiling {
                verdict = self.forced(meta);
            } else if !self.above {
                self.begin_above(meta);
            } else if self.drops_early(meta, cx) {
                verdict = self.early(meta);
            }
        } else {
            self.above = false;
        }
        self.within_limit(verdict, meta, view)
    }

    /// The first arrival with the average above `min`.
    pub(super) fn begin_above(&mut self, meta: &Meta) {
        self.count = 1;
        self.count_bytes = u64::from(meta.size);
        self.above = true;
    }

    pub(super) fn forget(&mut self) {
        self.count = 0;
        self.count_bytes = 0;
    }

    /// ns-2's and ns-3's random decision.
    pub(super) fn drops_early(&mut self, meta: &Meta, cx: &mut Cx<'_>) -> bool {
        self.probability = if self.average < self.max || self.params.gentle {
            self.line()
        } else {
            1.0
        };
        let avpkt = self.unit.avpkt;
        let count = if self.byte_mode {
            float(self.count_bytes / avpkt)
        } else {
            signed_float(self.count)
        };
        let mut p = spaced(self.probability, count, self.params.wait);
        if self.byte_mode && p < 1.0 {
            p = (p * f64::from(meta.size) / float(avpkt)).min(1.0);
        }
        let drops = cx.rng.uniform() <= p;
        if drops {
            self.forget();
        }
        drops
    }

    /// The probability by the average alone.
    #[inline(always)]
    pub(super) fn line(&self) -> f64 {
        let (average, max_p) = (self.average, self.max_p);
        let p = if average < self.max {
            let way = (average - self.min) / (self.max - self.min);
            max_p
                * if self.params.nonlinear {
                    1.5 * way * way
                } else {
                    way
                }
        } else if self.rules == Rules::Paper {
            max_p + (1.0 - max_p) * ((average - self.max) / self.max)
        } else {
            self.gentle.0 * average + self.gentle.1
        };
        p.min(1.0)
    }

    #[inline(always)]
    pub(crate) fn early(&self, meta: &Meta) -> Verdict {
        if self.params.ecn && meta.ecn().is_capable() {
            Verdict::Mark(MarkReason::Early)
        } else {
            Verdict::Drop(DropReason::Early)
        }
    }

    pub(crate) fn forced(&self, meta: &Meta) -> Verdict {
        forced(&self.params, meta)
    }

    #[inline(always)]
    pub(crate) fn within_limit(&self, verdict: Verdict, meta: &Meta, view: &View<'_>) -> Verdict {
        within_limit(verdict, self.params.limit, meta, view)
    }

    /// Whether ns-2 has no room for another packet: it looks at the queue before the arrival.
    pub(super) fn is_full(&self, queue: u64, meta: &Meta, view: &View<'_>) -> bool {
        match self.params.limit {
            Limit::Packets(limit) if self.unit.in_bytes => {
                queue >= limit.get().saturating_mul(self.unit.avpkt) || view.packets >= limit.get()
            }
            Limit::Packets(limit) => queue >= limit.get(),
            Limit::Bytes(limit) => queue + u64::from(meta.size) > limit.get(),
        }
    }
}

/// Spaces drops: a probability per packet that grows with the packets since the last one, so that the gaps between drops are
/// uniform instead of geometric.
#[inline(always)]
pub(crate) fn spaced(p: f64, count: f64, wait: bool) -> f64 {
    let due = count * p;
    if wait {
        if due < 1.0 {
            0.0
        } else if due < 2.0 {
            (p / (2.0 - due)).min(1.0)
        } else {
            1.0
        }
    } else if due < 1.0 {
        (p / (1.0 - due)).min(1.0)
    } else {
        1.0
    }
}

const PS_PER_S: u128 = 1_000_000_000_000;
