//! PIE: proportional integral controller enhanced.
//!
//! Sources: RFC 8033 (2017), appendix A, with the enhancements of section 5 and appendix B as parameters (dialect rfc8033, the
//! default); RFC 8034 (2017), appendix A, DOCSIS-PIE (dialect rfc8034); Linux 6.1 net/sched/sch_pie.c and include/net/pie.h;
//! ns-3.44 pie-queue-disc.cc. Both RFCs' pseudo-code and constants were compared line by line with the texts.
//!
//! Every `tupdate`, the drop probability changes with the deviation of the queue delay from `target` and with the
//! change of the delay. Packets are dropped at random on arrival.
//!
//! Differences between dialects:
//!
//! | | rfc8033 | rfc8034 | linux | ns3 |
//! |---|---|---|---|---|
//! | delay | wait of the last packet that left; with `dq_rate_estimator` the backlog over the measured rate | backlog over the link's rate | as rfc8033, zero once the queue is empty | as linux |
//! | gains are scaled by the probability | 1/2048 below 10^-6 to 1/2 below 0.1 | and to 2 below 1, 8 below 10, 32 above | as rfc8033, from 1/2048 below 10^-6 in shifts | as rfc8033 |
//! | probability decays by | 0.98 while the delay is zero (with `dq_rate_estimator`: below half of `target`) | 0.98 while below 5 ms | 1/64 while zero | 0.98 while zero |
//! | and grows by 0.02 | - | above 200 ms | above 250 ms | - |
//! | probability is at most | 1 | 0.85 * 1024 / 64 | 2^64 / (2^56 - 1) | 1 |
//! | burst allowance | `burst` from the start and whenever calm | `burst` from the first drop, once a third of `limit` is full; anew after 1 s of calm | `burst` from the start and whenever calm with a probability of zero; spent by the time between departures | `burst` from the first arrival, anew after 1.5 s of calm; the probability is zero meanwhile |
//! | no drop while | delay before below half of `target` and p below 0.2, or at most 2 `avpkt` bytes wait | as rfc8033 | as rfc8033 with the delay of now, or less than 2 `avpkt` bytes wait | as rfc8033, or at most 2 packets wait if `limit` is in packets |
//! | dropped if | draw < p | draw <= p | draw < p | draw <= p |
//! | `mark_p` | marks below it | as rfc8033 | marks up to it | as rfc8033 |
//! | first update | at `tupdate` | at `tupdate` | at 0.5 s | at `tupdate` |
//!
//! Draws: one for each packet whose fate is random: none while it is protected, and with `derandomize` none while the accumulated
//! probability is below 0.85 or from 8.5 on. In dialect rfc8033 the delay by timestamps stays what it was while the link is idle, as
//! the pseudo-code has it. The optional turning on and off of RFC 8033, section 5.3, and ns-3's ActiveThreshold are not
//! implemented: PIE is always on, and appendix B's measurement starts once the queue is long enough instead of when PIE
//! is turned on. RFC 8033's section 5.2 and appendix B differ in the estimate of the rate; this follows the appendix.
//! Its enque() sets the accumulated probability to zero below an `else` without braces: by the indentation after a drop
//! only, as Linux does, and so it is done here, so that from 8.5 on every capable packet is marked until one is
//! dropped. RFC 8034 estimates the delay from the state of two token buckets (peak and sustained rate); on a link of
//! one rate that is the backlog over this rate. DOCSIS has no ECN (section 4.7); with `ecn` dialect rfc8034 marks what
//! it would drop, since its probability is beyond 0.1 before it begins.
//!
//! Linux keeps probabilities as whole numbers of 2^-56 and times in units of 64 ns; both are kept here. Nothing there bounds the
//! probability at 1. `tupdate` is used as given, while Linux rounds it up to whole jiffies.

mod linux;
mod params;

use self::linux::{DQ_THRESHOLD, LinuxPie, MAX_PROB, TICK_S, sixteenths};
pub use self::params::*;
use crate::aqm::{Aqm, Cx, Departures, Interest, Meta, Verdict, View, float};
use crate::disciplines::aqms::codel::{check_l4s, is_l4s};
use crate::entry::{self, BuildContext, Entry, SpecError};
use crate::tc::{self, Line};
use sojourn_sim::{DropReason, MarkReason};
use sojourn_units::{Bytes, Limit, Packets, Span, Time};

/// The discipline.
pub struct Pie {
    core: Core,
    /// Time between updates.
    tupdate: Span,
    /// When the next update is due.
    next: Time,
    /// `on_dequeue` acts: in every dialect but rfc8034.
    departures: bool,
    /// Wait from which low-latency packets are marked, in ns-3's L4S mode.
    l4s: Option<Span>,
}

enum Core {
    Float(Box<FloatPie>),
    Linux(Box<LinuxPie>),
}

impl Entry for Pie {
    const NAME: &'static str = "pie";
    const TITLE: &'static str = "PIE";
    const ABOUT: &'static str = "Proportional integral controller enhanced: PIE keeps the queue delay near a target by random drops on arrival. Every `tupdate`, PIE compares the queue delay with `target` and with the previous delay, and adjusts the drop probability, in small steps while the probability is small. Packets are dropped (or marked) at random on arrival. At the start of congestion, a `burst` passes without drops.\n\n\
        Expect the delay to oscillate around `target` under long TCP flows in one direction, and to exceed it with TCP in both (`sojourn docs compare-queues`). The start is slow: after an idle time, the queue may stay far above the target until the probability has grown. Under an unresponsive overload, the probability settles at the excess share. DOCSIS cable modems use dialect `rfc8034`. ns-3's default limit is 25 packets, so on fast links the buffer overflows before PIE drops.";
    type Params = PieParams;

    fn time_constant(params: &PieParams, _: Span) -> Option<entry::TimeConstant> {
        // The factor is scaled by an eighth where the probability is between 1 and 10 % (RFC 8033 section 4.2); this is until it has changed by 1 %.
        entry::TimeConstant::of_integral(0.08, params.alpha, params.target, params.tupdate)
    }

    fn build(params: PieParams, _: &BuildContext) -> Result<Self, SpecError> {
        check(&params)?;
        check_l4s(
            params.l4s,
            params.dialect == Dialect::Ns3,
            params.ce_threshold,
        )
        .map_err(contradiction)?;
        if params.ce_threshold.is_some() && !params.l4s {
            return Err(contradiction(
                "ce_threshold needs l4s=true; leave it out or add that",
            ));
        }
        let l4s = params.ce_threshold.filter(|_| params.l4s);
        let tupdate = params.tupdate;
        let (linux, docsis) = (
            params.dialect == Dialect::Linux,
            params.dialect == Dialect::Rfc8034,
        );
        let first = if linux { LINUX_FIRST } else { tupdate };
        Ok(Pie {
            core: if linux {
                Core::Linux(Box::new(LinuxPie::new(params)))
            } else {
                Core::Float(Box::new(FloatPie::new(params)))
            },
            tupdate,
            next: Time::ZERO + first,
            departures: !docsis,
            l4s,
        })
    }

    fn tc(params: &PieParams) -> Option<Line> {
        Some(
            tc::gains(
                Line::root("pie").packets("limit", Some(params.limit)),
                params.alpha,
                params.beta,
            )
            .time("target", params.target)
            .time("tupdate", params.tupdate)
            .word(if params.byte_mode {
                "bytemode"
            } else {
                "nobytemode"
            })
            .word(if params.ecn { "ecn" } else { "noecn" })
            .word(if params.dq_rate_estimator {
                "dq_rate_estimator"
            } else {
                "no_dq_rate_estimator"
            }),
        )
    }
}

impl Aqm for Pie {
    fn interest(&self) -> Interest {
        Interest {
            departures: Departures::judged_if(self.departures),
            ticks: true,
            ..Interest::in_arrivals_from(0)
        }
    }

    #[inline(always)]
    fn on_enqueue(&mut self, meta: &Meta, view: &View<'_>, cx: &mut Cx<'_>) -> Verdict {
        match &mut self.core {
            Core::Float(pie) => pie.on_enqueue(meta, view, cx),
            Core::Linux(pie) => pie.on_enqueue(meta, view, cx),
        }
    }

    #[inline(always)]
    fn on_dequeue(
        &mut self,
        meta: &Meta,
        sojourn: Span,
        view: &View<'_>,
        cx: &mut Cx<'_>,
    ) -> Verdict {
        if let Some(threshold) = self.l4s
            && is_l4s(meta)
        {
            return match sojourn > threshold {
                true => Verdict::Mark(MarkReason::Threshold),
                false => Verdict::Pass,
            };
        }
        match &mut self.core {
            Core::Float(pie) => pie.on_dequeue(meta, sojourn, view, cx.now),
            Core::Linux(pie) => pie.on_dequeue(meta, sojourn, view, cx.now),
        }
        Verdict::Pass
    }

    #[inline]
    fn next_tick(&self) -> Option<Time> {
        Some(self.next)
    }

    fn on_tick(&mut self, view: &View<'_>, _: &mut Cx<'_>) {
        self.next = self.next.saturating_add(self.tupdate);
        match &mut self.core {
            Core::Float(pie) => pie.update(view),
            Core::Linux(pie) => pie.update(view),
        }
    }

    #[inline]
    fn on_evicted(&mut self, _: u32) {
        // What Linux's fq_pie does with the queue of a packet that it refuses.
        if let Core::Linux(pie) = &mut self.core {
            pie.accumulated = 0;
        }
    }

    fn state_names(&self) -> &'static [&'static str] {
        &[
            "drop_probability",
            "queue_delay_s",
            "burst_allowance_s",
            "accumulated_probability",
        ]
    }

    fn state(&self, out: &mut Vec<f64>) {
        out.extend(match &self.core {
            Core::Float(pie) => [
                pie.probability,
                pie.delay,
                pie.allowance.as_secs_f64(),
                pie.accumulated,
            ],
            Core::Linux(pie) => [
                float(pie.probability) / float(MAX_PROB),
                float(pie.delay) * TICK_S,
                float(pie.allowance) * TICK_S,
                float(pie.accumulated) / float(MAX_PROB),
            ],
        });
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rules {
    Rfc8033,
    Rfc8034,
    Ns3,
}

/// Whether there was congestion lately, where the burst allowance depends on it (RFC 8034, ns-3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// None.
    Inactive,
    /// RFC 8034: there is a queue, but nothing was dropped. Both: the calm after congestion.
    Quiescent,
    Active,
}

/// The RFCs' and ns-3's PIE: in floating point.
struct FloatPie {
    rules: Rules,
    params: PieParams,
    /// Target delay, in seconds.
    target: f64,
    /// Drop probability, 0 to 1.
    probability: f64,
    /// Sum of the probability over packets since the last drop.
    accumulated: f64,
    /// Queue delay, in seconds.
    delay: f64,
    /// Queue delay at the last update, in seconds.
    delay_before: f64,
    /// Burst allowance that is left.
    allowance: Span,
    /// Whether PIE is active.
    phase: Phase,
    /// How long the queue has been calm.
    calm: Span,
    /// Departure rate.
    rate: RateEstimator,
}

/// Measures how fast the queue departs, a threshold of bytes at a time.
#[derive(Clone, Copy, Debug)]
struct RateEstimator {
    /// When the measurement began; `None` outside one.
    since: Option<Time>,
    /// Bytes that left since then.
    bytes: u64,
    /// RFC 8033: seconds per threshold of bytes; ns-3: bytes per second. Zero before the first measurement.
    average: f64,
}

impl FloatPie {
    fn new(params: PieParams) -> FloatPie {
        let rules = match params.dialect {
            Dialect::Rfc8034 => Rules::Rfc8034,
            Dialect::Ns3 => Rules::Ns3,
            Dialect::Rfc8033 | Dialect::Linux => Rules::Rfc8033,
        };
        FloatPie {
            rules,
            target: params.target.as_secs_f64(),
            probability: 0.0,
            accumulated: 0.0,
            delay: 0.0,
            delay_before: 0.0,
            allowance: if rules == Rules::Rfc8033 {
                params.burst
            } else {
                Span::ZERO
            },
            phase: Phase::Inactive,
            calm: Span::ZERO,
            rate: RateEstimator {
                since: None,
                bytes: 0,
                average: 0.0,
            },
            params,
        }
    }

    #[inline(always)]
    fn on_enqueue(&mut self, meta: &Meta, view: &View<'_>, cx: &mut Cx<'_>) -> Verdict {
        let packets = Packets::new(view.packets + 1);
        let bytes = Bytes::new(view.bytes + u64::from(meta.size));
        if !self.params.limit.admits(packets, bytes) {
            self.accumulated = 0.0;
            return Verdict::Drop(DropReason::Overlimit);
        }
        let spared = self.params.l4s && is_l4s(meta);
        if spared || !self.drops_early(meta, view, cx) {
            return Verdict::Pass;
        }
        let marks = self
            .params
            .mark_p
            .is_none_or(|bound| self.probability < bound);
        if self.params.ecn && marks && meta.ecn().is_capable() {
            return Verdict::Mark(MarkReason::Early);
        }
        self.accumulated = 0.0;
        Verdict::Drop(DropReason::Early)
    }

    #[inline(always)]
    fn drops_early(&mut self, meta: &Meta, view: &View<'_>, cx: &mut Cx<'_>) -> bool {
        match self.rules {
            Rules::Rfc8033 => {
                if self.is_calm() {
                    self.allowance = self.params.burst;
                }
                let protected = !self.allowance.is_zero();
                // Appendix B asks for the draw first, appendix A for the allowance.
                if protected && !self.params.derandomize {
                    return false;
                }
                self.draws_drop(meta, view, cx) && !protected
            }
            Rules::Rfc8034 => {
                if !self.allowance.is_zero() {
                    return false;
                }
                if self.phase == Phase::Inactive {
                    if !is_third_full(self.params.limit, view) {
                        if self.probability == 0.0 {
                            self.accumulated = 0.0;
                        }
                        return false;
                    }
                    self.phase = Phase::Quiescent;
                }
                let drops = self.draws_drop(meta, view, cx);
                if drops && self.phase == Phase::Quiescent {
                    self.phase = Phase::Active;
                    self.allowance = self.params.burst;
                }
                drops
            }
            Rules::Ns3 => {
                if !self.allowance.is_zero() {
                    return false;
                }
                if self.phase == Phase::Inactive {
                    self.phase = Phase::Active;
                    self.allowance = self.params.burst;
                }
                self.draws_drop(meta, view, cx)
            }
        }
    }

    /// No probability, and both delays below half of the target.
    fn is_calm(&self) -> bool {
        let half = self.target / 2.0;
        self.probability == 0.0 && self.delay < half && self.delay_before < half
    }

    #[inline(always)]
    fn draws_drop(&mut self, meta: &Meta, view: &View<'_>, cx: &mut Cx<'_>) -> bool {
        let docsis = self.rules == Rules::Rfc8034;
        let mut p = self.probability;
        if self.params.byte_mode || self.by_bytes() {
            p = p * f64::from(meta.size) / float(self.params.avpkt.get());
        }
        if self.params.byte_mode {
            p = p.min(PROB_LOW);
        }
        // RFC 8034 accumulates before it looks whether the packet is protected, RFC 8033 and ns-3 after.
        if docsis {
            self.accumulate(p);
        }
        if self.is_protected(view) {
            return false;
        }
        if !docsis {
            self.accumulate(if self.rules == Rules::Ns3 {
                self.probability
            } else {
                p
            });
        }
        let drops = if self.params.derandomize && self.accumulated < PROB_LOW {
            false
        } else if self.params.derandomize && self.accumulated >= PROB_HIGH {
            true
        } else if self.rules == Rules::Rfc8033 {
            cx.rng.uniform() < p
        } else {
            cx.rng.uniform() <= p
        };
        // A packet that is only marked counts as dropped where the pseudo-code says so.
        let forgets = match self.rules {
            Rules::Rfc8033 => self.accumulated < PROB_HIGH,
            Rules::Rfc8034 => true,
            Rules::Ns3 => false,
        };
        if drops && forgets {
            self.accumulated = 0.0;
        }
        drops
    }

    #[inline(always)]
    fn accumulate(&mut self, p: f64) {
        if self.params.derandomize {
            if self.probability == 0.0 {
                self.accumulated = 0.0;
            }
            self.accumulated += p;
        }
    }

    /// Too little congestion for a drop.
    #[inline(always)]
    fn is_protected(&self, view: &View<'_>) -> bool {
        let few = if self.rules == Rules::Ns3 && !self.by_bytes() {
            view.packets <= 2
        } else {
            view.bytes <= 2 * self.params.avpkt.get()
        };
        few || (self.delay_before < 0.5 * self.target && self.probability < 0.2)
    }

    /// In ns-3 the unit of the limit decides.
    fn by_bytes(&self) -> bool {
        self.rules == Rules::Ns3 && matches!(self.params.limit, Limit::Bytes(_))
    }

    #[inline(always)]
    fn on_dequeue(&mut self, meta: &Meta, sojourn: Span, view: &View<'_>, now: Time) {
        match (self.params.dq_rate_estimator, self.rules) {
            (true, Rules::Ns3) => self.rate.measure_as_ns3(meta, view, now),
            (true, _) => self.rate.measure(meta, view, now),
            (false, Rules::Ns3) if view.bytes == 0 => self.delay = 0.0,
            (false, _) => self.delay = sojourn.as_secs_f64(),
        }
    }

    fn update(&mut self, view: &View<'_>) {
        let delay = match self.rules {
            Rules::Rfc8034 => 8.0 * float(view.bytes) / view.rate.as_bps_f64(),
            Rules::Rfc8033 if self.params.dq_rate_estimator => {
                float(view.bytes) * self.rate.average / DQ_THRESHOLD_F64
            }
            Rules::Ns3 if self.params.dq_rate_estimator => {
                if self.rate.average > 0.0 {
                    float(view.bytes) / self.rate.average
                } else {
                    0.0
                }
            }
            Rules::Rfc8033 | Rules::Ns3 => self.delay,
        };
        self.delay = delay;
        let before = self.delay_before;
        match self.rules {
            Rules::Rfc8033 => {
                self.probability += self.step();
                let calm = if self.params.dq_rate_estimator {
                    delay < self.target / 2.0 && before < self.target / 2.0
                } else {
                    delay == 0.0 && before == 0.0
                };
                if calm {
                    self.probability *= 0.98;
                }
                self.probability = self.probability.clamp(0.0, 1.0);
                self.allowance = self.allowance.saturating_sub(self.params.tupdate);
            }
            Rules::Rfc8034 => self.update_as_docsis(),
            Rules::Ns3 => self.update_as_ns3(),
        }
        self.delay_before = delay;
    }

    fn update_as_docsis(&mut self) {
        let (delay, before) = (self.delay, self.delay_before);
        if self.allowance.is_zero() {
            self.probability += self.step();
            if delay < LATENCY_LOW_S && before < LATENCY_LOW_S {
                self.probability *= 0.98;
            } else if delay > LATENCY_HIGH_S {
                self.probability += 0.02;
            }
            let most = PROB_LOW * float(self.params.avpkt.get()) / MIN_PKTSIZE;
            self.probability = self.probability.clamp(0.0, most);
        } else {
            self.probability = 0.0;
            self.allowance = self.allowance.saturating_sub(self.params.tupdate);
        }
        let quiet = self.is_calm() && self.allowance.is_zero();
        match self.phase {
            Phase::Active if quiet => {
                self.phase = Phase::Quiescent;
                self.calm = Span::ZERO;
            }
            Phase::Quiescent if quiet => {
                self.calm = self.calm.saturating_add(self.params.tupdate);
                if self.calm > DOCSIS_RESET {
                    self.phase = Phase::Inactive;
                    self.calm = Span::ZERO;
                }
            }
            Phase::Quiescent => self.calm = Span::ZERO,
            Phase::Active | Phase::Inactive => {}
        }
    }

    fn update_as_ns3(&mut self) {
        let step = if self.allowance.is_zero() {
            self.step()
        } else {
            self.probability = 0.0;
            0.0
        };
        let mut p = step + self.probability;
        if self.delay == 0.0 && self.delay_before == 0.0 {
            p *= 0.98;
        }
        self.probability = p.clamp(0.0, 1.0);
        self.allowance = self.allowance.saturating_sub(self.params.tupdate);
        let calm = self.is_calm();
        if calm && (!self.params.dq_rate_estimator || self.rate.average > 0.0) {
            self.rate.average = 0.0;
        }
        match self.phase {
            Phase::Active if calm && self.allowance.is_zero() => {
                self.phase = Phase::Quiescent;
                self.calm = Span::ZERO;
            }
            Phase::Quiescent if calm && self.allowance.is_zero() => {
                self.calm = self.calm.saturating_add(self.params.tupdate);
                // It counts updates, more than the whole ones in the time.
                if self.calm / self.params.tupdate > NS3_RESET / self.params.tupdate {
                    self.phase = Phase::Inactive;
                    self.calm = Span::ZERO;
                }
            }
            Phase::Quiescent => self.calm = Span::ZERO,
            Phase::Active | Phase::Inactive => {}
        }
    }

    /// By how much the probability moves.
    fn step(&self) -> f64 {
        let change = self.params.alpha * (self.delay - self.target)
            + self.params.beta * (self.delay - self.delay_before);
        let docsis = self.rules == Rules::Rfc8034;
        let divisor = match self.probability {
            p if p < 0.000_001 => 2048.0,
            p if p < 0.000_01 => 512.0,
            p if p < 0.000_1 => 128.0,
            p if p < 0.001 => 32.0,
            p if p < 0.01 => 8.0,
            p if p < 0.1 => 2.0,
            _ if !docsis => 1.0,
            p if p < 1.0 => 0.5,
            p if p < 10.0 => 0.125,
            _ => 0.031_25,
        };
        let scaled = change / divisor;
        if self.params.cap && self.probability >= 0.1 && scaled > 0.02 {
            0.02
        } else {
            scaled
        }
    }
}

impl RateEstimator {
    fn measure(&mut self, meta: &Meta, view: &View<'_>, now: Time) {
        if let Some(since) = self.since {
            self.bytes += u64::from(meta.size);
            if self.bytes >= DQ_THRESHOLD {
                let took = now.since(since).as_secs_f64();
                self.average = if self.average == 0.0 {
                    took
                } else {
                    took * DQ_WEIGHT + self.average * (1.0 - DQ_WEIGHT)
                };
                self.since = None;
            }
        }
        if view.bytes >= DQ_THRESHOLD && self.since.is_none() {
            self.since = Some(now);
            self.bytes = 0;
        }
    }

    fn measure_as_ns3(&mut self, meta: &Meta, view: &View<'_>, now: Time) {
        if view.bytes >= DQ_THRESHOLD && self.since.is_none() {
            self.since = Some(now);
            self.bytes = 0;
        }
        let Some(since) = self.since else {
            return;
        };
        self.bytes += u64::from(meta.size);
        if self.bytes >= DQ_THRESHOLD {
            let took = now.since(since);
            if !took.is_zero() {
                let rate = float(self.bytes) / took.as_secs_f64();
                self.average = if self.average == 0.0 {
                    rate
                } else {
                    0.5 * self.average + 0.5 * rate
                };
            }
            self.since = (view.bytes > DQ_THRESHOLD).then_some(now);
            self.bytes = 0;
        }
    }
}

const DQ_THRESHOLD_F64: f64 = 16_384.0;
/// RFC 8033, appendix B: `DQ_THRESHOLD` / 2^16.
const DQ_WEIGHT: f64 = 0.25;
const PROB_LOW: f64 = 0.85;
const PROB_HIGH: f64 = 8.5;
const LATENCY_LOW_S: f64 = 0.005;
const LATENCY_HIGH_S: f64 = 0.2;
const MIN_PKTSIZE: f64 = 64.0;
/// RFC 8034: BURST_RESET_TIMEOUT.
const DOCSIS_RESET: Span = Span::from_secs(1);
/// ns-3: BURST_RESET_TIMEOUT.
const NS3_RESET: Span = Span::from_ms(1500);
/// HZ / 2 jiffies.
const LINUX_FIRST: Span = Span::from_ms(500);
/// Whether a third of the limit waits.
fn is_third_full(limit: Limit, view: &View<'_>) -> bool {
    let waits = match limit {
        Limit::Packets(_) => view.packets,
        Limit::Bytes(_) => view.bytes,
    };
    waits.saturating_mul(3) >= limit.get()
}

/// Refuses what a dialect lacks.
fn check(params: &PieParams) -> Result<(), SpecError> {
    let dialect = params.dialect;
    let (linux, ns3, docsis) = (
        dialect == Dialect::Linux,
        dialect == Dialect::Ns3,
        dialect == Dialect::Rfc8034,
    );
    let lacking: &[(&str, bool)] = &[
        ("derandomize=false", linux && !params.derandomize),
        ("cap=false", linux && !params.cap),
        (
            "dq_rate_estimator=true (it knows the rate)",
            docsis && params.dq_rate_estimator,
        ),
        (
            "byte_mode=true (give limit in bytes instead)",
            ns3 && params.byte_mode,
        ),
    ];
    if let Some((what, _)) = lacking.iter().find(|(_, given)| *given) {
        return Err(contradiction(&format!(
            "dialect {dialect} has no {what}; leave it out or choose another dialect"
        )));
    }
    if linux {
        for (name, gain) in [("alpha", params.alpha), ("beta", params.beta)] {
            if sixteenths(gain).is_none() {
                return Err(contradiction(&format!(
                    "{name}={gain} is not one of 0, 1/16, 2/16 ... 2 that Linux can have (tc counts in sixteenths)"
                )));
            }
        }
    }
    Ok(())
}

fn contradiction(text: &str) -> SpecError {
    entry::contradiction(Pie::NAME, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::testing::{built, view};
    use sojourn_sim::Stream;

    const SENT: Verdict = Verdict::Pass;
    const EARLY: Verdict = Verdict::Drop(DropReason::Early);
    const MARK: Verdict = Verdict::Mark(MarkReason::Early);
    const SIZE: u32 = 1000;
    const DIALECTS: [&str; 4] = ["rfc8033", "rfc8034", "linux", "ns3"];

    /// A PIE whose queue has a length and a delay of the test's choice.
    struct Bench {
        pie: Pie,
        rng: Stream,
    }

    impl Bench {
        fn new(spec: &str) -> Bench {
            Bench {
                pie: built(spec).unwrap_or_else(|error| panic!("{spec}: {error}")),
                rng: Stream::derive(1, 0, "pie"),
            }
        }

        fn offer(&mut self, now: Time, packets: u64, tos: u8) -> Verdict {
            let meta = Meta {
                size: SIZE,
                flow: 0,
                tos,
            };
            let rng = &mut self.rng;
            self.pie
                .on_enqueue(&meta, &view(packets), &mut Cx { now, rng })
        }

        fn send(&mut self, now: Time, sojourn: Span, packets: u64) {
            let meta = Meta {
                size: SIZE,
                flow: 0,
                tos: 0,
            };
            let rng = &mut self.rng;
            let view = view(packets);
            self.pie
                .on_dequeue(&meta, sojourn, &view, &mut Cx { now, rng });
        }

        /// A packet arrives and one leaves each millisecond; the queue stays as long, and its delay with it (1 ms a packet).
        fn hold(&mut self, packets: u64, from_ms: u64, ms: u64, tos: u8) -> Vec<Verdict> {
            (from_ms..from_ms + ms)
                .map(|ms| {
                    let now = at(ms);
                    while let Some(tick) = self.pie.next_tick().filter(|tick| *tick <= now) {
                        let rng = &mut self.rng;
                        self.pie.on_tick(&view(packets), &mut Cx { now: tick, rng });
                    }
                    self.send(now, Span::from_ms(packets), packets);
                    self.offer(now, packets, tos)
                })
                .collect()
        }

        fn probability(&self) -> f64 {
            let mut state = Vec::new();
            self.pie.state(&mut state);
            state[0]
        }
    }

    /// After a long idle time, at an update (of Linux: 5 ms before one).
    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_secs(1005) + Span::from_ms(ms)
    }

    #[test]
    fn nothing_is_dropped_at_or_below_the_target() {
        for dialect in DIALECTS {
            let mut bench = Bench::new(&format!("dialect={dialect} limit=1000p target=15ms"));
            let verdicts = bench.hold(15, 0, 10_000, 0);
            assert!(verdicts.iter().all(|v| *v == SENT), "{dialect}");
        }
    }

    #[test]
    fn a_standing_queue_above_the_target_is_dropped_from_ever_more() {
        for dialect in DIALECTS {
            let mut bench = Bench::new(&format!("dialect={dialect} limit=100p"));
            let early = bench.hold(40, 0, 2000, 0);
            let late = bench.hold(40, 2000, 4000, 0);
            let drops = |verdicts: &[Verdict]| verdicts.iter().filter(|v| **v == EARLY).count();
            assert!(
                drops(&late) > 2 * drops(&early),
                "{dialect}: {} then {}",
                drops(&early),
                drops(&late)
            );
            assert!(bench.probability() > 0.1, "{dialect}");
        }
    }

    #[test]
    fn the_burst_allowance_lets_a_burst_pass() {
        // Whatever the delay: 150 ms are ten updates.
        for dialect in ["rfc8033", "linux", "ns3"] {
            let mut bench = Bench::new(&format!("dialect={dialect} limit=1000p alpha=2 beta=2"));
            assert_eq!(bench.hold(0, 0, 1, 0), [SENT]);
            let verdicts = bench.hold(900, 1, 1000, 0);
            let passed = verdicts.iter().position(|v| *v != SENT);
            assert!(
                passed.is_some_and(|ms| (149..200).contains(&ms)),
                "{dialect}: {passed:?}"
            );
        }
    }

    #[test]
    fn the_first_update_moves_the_probability_by_a_2048th() {
        let mut bench = Bench::new("limit=1000p");
        bench.hold(115, 0, 16, 0);
        // alpha (115 - 15) ms + beta (115 - 0) ms
        let expected = (0.125 * 0.1 + 1.25 * 0.115) / 2048.0;
        assert!((bench.probability() / expected - 1.0).abs() < 1e-9);
    }

    #[test]
    fn linux_moves_its_probability_as_the_rfc_does() {
        let mut linux = Bench::new("dialect=linux");
        linux.hold(115, 0, 6, 0);
        let expected = (0.125 * 0.1 + 1.25 * 0.115) / 2048.0;
        let ratio = linux.probability() / expected;
        assert!((ratio - 1.0).abs() < 1e-3, "{ratio}");
    }

    #[test]
    fn the_cap_limits_the_growth_to_two_percent() {
        let growth = |spec: &str| {
            let mut bench = Bench::new(spec);
            let mut largest = 0.0_f64;
            let mut last = 0.0;
            for update in 0..400 {
                bench.hold(100, update * 15, 15, 0);
                let p = bench.probability();
                if last > 0.1 && p < 0.9 {
                    largest = largest.max(p - last);
                }
                last = p;
            }
            largest
        };
        let steep = "limit=1000p alpha=2 beta=2";
        assert!(growth(steep) > 0.1);
        assert!((growth(&format!("{steep} cap=true")) - 0.02).abs() < 1e-9);
        let linux = growth(&format!("dialect=linux {steep}"));
        assert!((linux - 0.02).abs() < 1e-9, "{linux}");
    }

    #[test]
    fn capable_packets_are_marked_below_mark_p_and_dropped_above() {
        for dialect in DIALECTS {
            let mut bench =
                Bench::new(&format!("dialect={dialect} limit=100p ecn=true mark_p=0.1"));
            let mut bounded = true;
            for ms in 0..8000 {
                let verdict = bench.hold(40, ms, 1, 2)[0];
                let p = bench.probability();
                bounded &= (verdict != MARK || p <= 0.1) && (verdict != EARLY || p >= 0.1);
            }
            assert!(bounded, "{dialect}");
            let unbound = format!("dialect={dialect} limit=100p ecn=true mark_p=none");
            let verdicts = Bench::new(&unbound).hold(40, 0, 8000, 2);
            assert!(verdicts.contains(&MARK), "{dialect}");
            assert!(!verdicts.contains(&EARLY), "{dialect}");
        }
    }

    #[test]
    fn de_randomised_drops_are_never_next_to_each_other() {
        // The accumulated probability must reach 0.85 first: at p = 0.1 nine packets.
        let gaps = |spec: &str| {
            let mut bench = Bench::new(&format!("limit=1000p {spec}"));
            let Core::Float(pie) = &mut bench.pie.core else {
                panic!("a float PIE");
            };
            pie.probability = 0.1;
            pie.delay_before = 1.0;
            pie.allowance = Span::ZERO;
            let drops: Vec<usize> = (0..20_000)
                .map(|_| bench.offer(at(1), 50, 0))
                .enumerate()
                .filter(|(_, verdict)| *verdict == EARLY)
                .map(|(index, _)| index)
                .collect();
            let gaps = drops.windows(2).map(|pair| pair[1] - pair[0]);
            (gaps.clone().min(), gaps.max())
        };
        assert_eq!(gaps("derandomize=true").0, Some(9));
        assert!(gaps("derandomize=true").1 <= Some(86));
        assert_eq!(gaps("derandomize=false").0, Some(1));
    }

    #[test]
    fn the_estimated_rate_gives_the_delay_of_the_backlog() {
        for dialect in ["rfc8033", "linux", "ns3"] {
            let mut bench = Bench::new(&format!(
                "dialect={dialect} limit=1000p dq_rate_estimator=true"
            ));
            bench.hold(100, 0, 600, 0);
            let mut state = Vec::new();
            bench.pie.state(&mut state);
            // 100 packets of 1 ms; a measurement counts the packet at its beginning only where it starts before it.
            assert!((state[1] - 0.1).abs() < 0.007, "{dialect}: {}", state[1]);
        }
    }

    #[test]
    fn docsis_sleeps_until_a_third_of_the_buffer_is_used() {
        let drops = |limit: &str| {
            let mut bench = Bench::new(&format!("dialect=rfc8034 limit={limit}"));
            bench.hold(40, 0, 6000, 0).contains(&EARLY)
        };
        assert!(drops("120p") && drops("120kB"));
        assert!(!drops("121p") && !drops("121kB"));
    }

    #[test]
    fn the_delay_by_timestamps_ends_with_the_queue_except_in_the_rfc() {
        for (dialect, expected) in [("rfc8033", 0.02), ("linux", 0.0), ("ns3", 0.0)] {
            let mut bench = Bench::new(&format!("dialect={dialect}"));
            bench.send(at(20), Span::from_ms(20), 0);
            let mut state = Vec::new();
            bench.pie.state(&mut state);
            assert_eq!(state[1].to_bits(), f64::to_bits(expected), "{dialect}");
        }
    }

    #[test]
    fn what_a_dialect_has_not_is_an_error() {
        for (spec, expected) in [
            ("dialect=linux derandomize=false", "derandomize=false"),
            ("dialect=linux alpha=0.13", "sixteenths"),
            ("dialect=rfc8034 dq_rate_estimator=true", "knows the rate"),
            ("dialect=ns3 byte_mode=true", "limit in bytes"),
        ] {
            let error = built::<Pie>(spec).err().expect("an error").to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
