//! COBALT: CoDel and BLUE, alternately.
//!
//! Sources: Linux net/sched/sch_cake.c (cobalt_queue_full, cobalt_queue_empty, cobalt_should_drop, cake_set_rate; read at a
//! release near 6.1) for dialect linux, the default, since CAKE is where COBALT comes from; ns-3's cobalt-queue-disc.cc for dialect ns3.
//! There is no RFC, and no pseudo-code apart from the code.
//!
//! CoDel without its waiting interval, and with a count that decays. Each head of the queue is examined; above
//! `target`, the dropping state is on. A signal is due at `drop_next`. If the state is on, the signal is given (a mark,
//! or else a drop) and count grows; otherwise count shrinks by one for each signal that came due. In parallel, BLUE: a
//! full queue raises a probability, an empty queue lowers it, and heads are dropped with this probability, ECN-capable
//! or not. [`CobaltLaw`] is the law alone; CAKE's queues use it, too.
//!
//! | | linux | ns3 |
//! |---|---|---|
//! | above target | and above four times the time of an `mtu` (for n bulk flows also 2 n times) | no such bound |
//! | probability | whole numbers, 1 is 2^32 | floating point |
//! | raised by | a full queue | and a wait above `blue_threshold` |
//! | 1 / sqrt(count) at first | 0: the first signal comes with the second packet above target | 1 |
//! | a full queue | drops its head (refuses an arrival larger than that) | refuses the arrival |
//! | the last packet of a queue | is marked, and not dropped | no such rule |
//! | least time between changes of the probability | `target` | `target` in the first 4.29 s, then none: the time of the last change has 32 bits of nanoseconds |
//! | draw | 32 bits for each head while the probability is not 0 | one in [0, 1) |
//!
//! 1 / sqrt(count) is a table for counts below 16 and one Newton step beyond, 32 bits, as in both sources. Clocks are whole
//! nanoseconds. CAKE counts the memory of packets against its limit (2304 bytes for a frame of 1514 in the reference runs) and drops the
//! head of its fattest flow; here that is the head. ns-3's L4S mode is not implemented. CAKE derives `target` and
//! `interval` from its rate: at least 1.5 times the time of an MTU, and the interval plus what that adds; below 3.6
//! Mbps give them so. Inside a scheduler that asks no empty queue BLUE's probability is not lowered.

use crate::aqm::{Aqm, Cx, Interest, Meta, Verdict, View, float};
use crate::disciplines::aqms::codel::{check_l4s, is_l4s};
use crate::entry::{self, BuildContext, Entry, SpecError};
use sojourn_sim::{DropReason, MarkReason, Packet, Stream};
use sojourn_units::{Bytes, Limit, Packets, Rate, Span, Time, params, rules};

params! {
    /// CoDel with a decaying count, and BLUE for what does not respond.
    pub struct CobaltParams {
        /// Acceptable standing sojourn time, and the least time between changes of BLUE's probability.
        target: Span = "5ms", range "1us".."1s", source "sch_cake.c: 5 ms for an interval of 100 ms";
        /// Time until the first signal. Set it to about the largest common round trip time.
        interval: Span = "100ms", range "10us".."4s", source "sch_cake.c: interval 100 ms";
        /// Maximum queue length. An arrival beyond it drops the head; in dialect ns3, the arrival is dropped.
        limit: Limit = "4194304B", range "1p".., source "sch_cake.c: at least 4 MiB";
        /// Mark ECN-capable packets instead of dropping them when a signal is due.
        ecn: bool = "true", source "sch_cake.c: always";
        /// BLUE drops ECN-capable packets, too. Otherwise it marks them.
        harddrop: bool = "true", source "sch_cake.c: the lack of ECN in BLUE is deliberate",
            where ecn is "true";
        /// Packet size. A sojourn time below the transmission time of four such packets does not count as above target;
        /// dialect linux.
        mtu: Option<Bytes> = "1514B", range "1B".., source "sch_cake.c: psched_mtu, MTU and Ethernet header";
        /// Step by which BLUE's probability grows.
        increment: f64 = "0.00390625", range "0".."1", source "sch_cake.c: p_inc 1 << 24, 1/256";
        /// Step by which BLUE's probability shrinks.
        decrement: f64 = "0.000244140625", range "0".."1", source "sch_cake.c: p_dec 1 << 20, 1/4096";
        /// Sojourn time above which BLUE's probability also grows; dialect ns3.
        blue_threshold: Option<Span> = "none", source "sch_cake.c has none";
        /// Mark every ECN-capable packet that waited longer than this; dialect ns3.
        ce_threshold: Option<Span> = "none", source "sch_cake.c has none";
        /// L4S mode of ns-3. Packets with ECT(1) or CE are dropped only at the limit, and CoDel does not count them.
        /// `ce_threshold` marks only these packets; dialect ns3.
        l4s: bool = "false", source "ns-3.44 cobalt-queue-disc.cc: UseL4s";
    }
    dialects Dialect {
        /// CAKE's COBALT.
        linux as Linux = "linux-6.1" {}
        /// ns-3's CobaltQueueDisc.
        ns3 as Ns3 = "ns3-3.44" {
            limit = "1500kB" from "cobalt-queue-disc.cc: MaxSize 1500 * 1000 bytes";
            ecn = "false" from "cobalt-queue-disc.cc: UseEcn";
            mtu = "none" from "cobalt-queue-disc.cc";
            blue_threshold = "400ms" from "cobalt-queue-disc.cc: BlueThreshold";
        }
    }
}

/// The discipline.
pub struct Cobalt {
    limit: Limit,
    /// Bytes of a full packet, dialect linux.
    mtu: Option<Bytes>,
    /// At this rate of the link, a wait up to this many nanoseconds is never above target.
    least: (Rate, u64),
    law: CobaltLaw,
    vars: CobaltVars,
}

impl Entry for Cobalt {
    const NAME: &'static str = "cobalt";
    const TITLE: &'static str = "COBALT";
    const ABOUT: &'static str = "The AQM of CAKE's queues, a combination of CoDel and BLUE. While packets wait longer than `target`, CoDel signals congestion at an increasing rate, by marks or by drops from the head. When the delay is below `target` again, the rate decays gradually. BLUE drops with a probability that only a full queue raises and only an empty queue lowers.\n\n\
        Expect CoDel's behaviour under TCP, with a faster return to the right rate of signals. Under an unresponsive load, CoDel's drop rate grows for seconds, and BLUE takes over once the buffer overflows.";
    type Params = CobaltParams;

    fn time_constant(params: &CobaltParams, _: Span) -> Option<entry::TimeConstant> {
        Some(entry::TimeConstant::new("interval", params.interval))
    }

    fn build(params: CobaltParams, _: &BuildContext) -> Result<Self, SpecError> {
        let law = CobaltLaw::new(&params)?;
        Ok(Cobalt {
            limit: params.limit,
            mtu: params.mtu,
            least: (Rate::bps(0), 0),
            vars: law.start(),
            law,
        })
    }
}

impl Aqm for Cobalt {
    fn interest(&self) -> Interest {
        Interest {
            arrivals_from: match self.limit {
                Limit::Packets(limit) => limit.get(),
                Limit::Bytes(_) => 0,
            },
            ticks: false,
            ..Interest::EVERYTHING
        }
    }

    #[inline(always)]
    fn on_enqueue(&mut self, meta: &Meta, view: &View<'_>, cx: &mut Cx<'_>) -> Verdict {
        let (packets, bytes) = (view.packets + 1, view.bytes + u64::from(meta.size));
        if self.limit.admits(Packets::new(packets), Bytes::new(bytes)) {
            return Verdict::Pass;
        }
        self.law.on_full(&mut self.vars, at(cx.now));
        // CAKE makes room at the head; one packet is enough unless it is smaller than the new one.
        let room = view.waiting.peek(0).filter(|_| self.law.rules().drops_head);
        match room.and_then(|head| bytes.checked_sub(u64::from(head.size))) {
            Some(left)
                if self
                    .limit
                    .admits(Packets::new(packets - 1), Bytes::new(left)) =>
            {
                Verdict::DropOther(0, DropReason::Evicted)
            }
            _ => Verdict::Drop(DropReason::Overlimit),
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
        if self.least.0 != view.rate {
            self.least = (view.rate, four_times(self.mtu, view.rate));
        }
        let least = self.least.1;
        let spared = view.packets == 0 && self.law.rules().spares_last;
        let vars = &mut self.vars;
        self.law
            .judge(vars, meta, sojourn, least, spared, cx.now, cx.rng)
    }

    #[inline]
    fn on_empty(&mut self, now: Time) {
        self.law.on_empty(&mut self.vars, at(now));
    }

    fn state_names(&self) -> &'static [&'static str] {
        CobaltLaw::STATE_NAMES
    }

    fn state(&self, out: &mut Vec<f64>) {
        self.law.state(&self.vars, out);
    }
}

/// Four times the nanoseconds that `mtu` takes at this rate.
#[cold]
fn four_times(mtu: Option<Bytes>, rate: Rate) -> u64 {
    let mtu_ns = mtu.map_or(0, |mtu| {
        let bits = u128::from(mtu.get()) * 8 * NS_PER_S;
        u64::try_from(bits / u128::from(rate.as_bps())).unwrap_or(u64::MAX)
    });
    mtu_ns.saturating_mul(4)
}

rules! {
    /// Where dialects differ.
    struct Rules of Dialect {
        /// A wait below four times the time of an MTU is not above the target.
        mtu_bound: bool, "above target" {
            Linux = true, "and above four times the time of an `mtu` (for n bulk flows also 2 n times)";
            Ns3 = false, "no such bound";
        }
        /// BLUE's probability is a whole number of 2^-32.
        whole: bool, "probability" {
            Linux = true, "whole numbers, 1 is 2^32";
            Ns3 = false, "floating point";
        }
        /// Long waits raise BLUE's probability, too.
        raised_by_waits: bool, "raised by" {
            Linux = false, "a full queue";
            Ns3 = true, "and a wait above `blue_threshold`";
        }
        /// 2^32 / sqrt(count) before the first signal.
        first_root: u32, "1 / sqrt(count) at first" {
            Linux = 0, "0: the first signal comes with the second packet above target";
            Ns3 = u32::MAX, "1";
        }
        /// A full queue makes room at its head.
        drops_head: bool, "a full queue" {
            Linux = true, "drops its head (refuses an arrival larger than that)";
            Ns3 = false, "refuses the arrival";
        }
        /// The last packet of a queue is not dropped.
        spares_last: bool, "the last packet of a queue" {
            Linux = true, "is marked, and not dropped";
            Ns3 = false, "no such rule";
        }
        /// The time of the last change of the probability has 32 bits.
        short_stamp: bool, "least time between changes of the probability" {
            Linux = false, "`target`";
            Ns3 = true, "`target` in the first 4.29 s, then none: the time of the last change has 32 bits of nanoseconds";
        }
        /// What is compared with the probability has 32 bits.
        draws_bits: bool, "draw" {
            Linux = true, "32 bits for each head while the probability is not 0";
            Ns3 = false, "one in [0, 1)";
        }
    }
}

/// The law without a queue: it judges each head of a queue, and learns of overflows and of an empty queue. Times in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct CobaltLaw {
    dialect: Dialect,
    /// Acceptable wait, in nanoseconds.
    target: u64,
    /// Time above target before signals begin, in nanoseconds.
    interval: u64,
    ecn: bool,
    harddrop: bool,
    /// Wait above which BLUE raises its probability, in nanoseconds; dialect ns3.
    blue_threshold: Option<u64>,
    /// Wait above which capable packets are marked, in nanoseconds.
    ce_threshold: Option<u64>,
    /// ns-3's L4S mode.
    l4s: bool,
    /// Probability 1 as the dialect counts it: 2^32 - 1, or 1.
    top: f64,
    /// What an overflow adds to the probability.
    increment: f64,
    /// What an empty queue takes off it.
    decrement: f64,
}

/// What the law remembers of one queue, what each judgement asks for first.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CobaltVars {
    /// When the next signal is due, in nanoseconds; with count 0, when it would be if the state were entered now.
    drop_next: u64,
    /// BLUE's probability, in units of 1 / `top`.
    probability: f64,
    /// Signals are spaced by `interval` / sqrt(`count`); 0 for no signals.
    count: u32,
    /// In the dropping state.
    dropping: bool,
    /// 2^32 / sqrt(count).
    root: u32,
    /// When the probability changed last, in nanoseconds.
    changed: u64,
}

impl CobaltVars {
    /// Bytes that a judgement touches in which nothing is due.
    pub const OFTEN: usize = std::mem::offset_of!(CobaltVars, root);

    /// Nothing is left of what happened: a queue that is empty can be forgotten.
    #[inline]
    pub fn rests(&self, now: u64) -> bool {
        self.probability <= 0.0 && self.count == 0 && now >= self.drop_next
    }
}

impl CobaltLaw {
    /// The names of what [`CobaltLaw::state`] reports.
    pub const STATE_NAMES: &'static [&'static str] =
        &["count", "dropping", "drop_next_s", "drop_probability"];

    /// The law with these parameters.
    ///
    /// # Errors
    /// If the dialect lacks a threshold that is asked for.
    pub fn new(params: &CobaltParams) -> Result<CobaltLaw, SpecError> {
        let (dialect, rules) = (params.dialect, Rules::of(params.dialect));
        if !rules.raised_by_waits && params.blue_threshold.is_some() {
            return Err(contradiction(
                "dialect linux has no blue_threshold; leave it out or choose dialect ns3",
            ));
        }
        if params.ce_threshold.is_some() && (dialect == Dialect::Linux || !params.ecn) {
            return Err(contradiction("ce_threshold needs dialect ns3 and ecn=true"));
        }
        check_l4s(params.l4s, dialect == Dialect::Ns3, params.ce_threshold)
            .map_err(contradiction)?;
        if !rules.mtu_bound && params.mtu.is_some() {
            return Err(contradiction(
                "dialect ns3 has no mtu; leave it out or choose dialect linux",
            ));
        }
        let whole = |p: f64| match rules.whole {
            true => (p * ONE_32).floor(),
            false => p,
        };
        Ok(CobaltLaw {
            dialect,
            target: ns(params.target),
            interval: ns(params.interval),
            ecn: params.ecn,
            harddrop: params.harddrop,
            blue_threshold: params.blue_threshold.map(ns),
            ce_threshold: params.ce_threshold.map(ns),
            l4s: params.l4s,
            top: match rules.whole {
                true => ONE_32 - 1.0,
                false => 1.0,
            },
            increment: whole(params.increment),
            decrement: whole(params.decrement),
        })
    }

    /// Linux's law as CAKE sets it for a tin: with a target and an interval of its own.
    pub fn of_cake(target: Span, interval: Span) -> CobaltLaw {
        let params = CobaltParams {
            target,
            interval,
            ..CobaltParams::of(Dialect::Linux)
        };
        CobaltLaw::new(&params).expect("the defaults do not contradict each other")
    }

    #[inline(always)]
    fn rules(&self) -> Rules {
        Rules::of(self.dialect)
    }

    /// What is remembered of an empty queue.
    pub fn start(&self) -> CobaltVars {
        CobaltVars {
            dropping: false,
            count: 0,
            root: self.rules().first_root,
            drop_next: 0,
            probability: 0.0,
            changed: 0,
        }
    }

    /// Judges the head of the queue; a wait up to `least` nanoseconds is never above target. A packet that is `spared` may be marked and is
    /// not dropped, though the law goes on as if it were. Draws once while BLUE's probability is not 0.
    #[allow(
        clippy::too_many_arguments,
        reason = "a queue, its head and the present"
    )]
    #[inline(always)]
    pub fn judge(
        &self,
        vars: &mut CobaltVars,
        meta: &Meta,
        sojourn: Span,
        least: u64,
        spared: bool,
        now: Time,
        rng: &mut Stream,
    ) -> Verdict {
        let (now, waited) = (at(now), ns(sojourn));
        if self.l4s && is_l4s(meta) {
            return match self.ce_threshold {
                Some(threshold) if waited > threshold => Verdict::Mark(MarkReason::Threshold),
                _ => Verdict::Pass,
            };
        }
        let capable = self.ecn && meta.ecn().is_capable();
        let above = waited > self.target && waited > least;
        let (mut verdict, late) = self.signal(vars, above, capable, now);
        if let Some(threshold) = self.ce_threshold
            && verdict == Verdict::Pass
            && !self.l4s
            && capable
            && waited > threshold
        {
            verdict = Verdict::Mark(MarkReason::Threshold);
        }
        if self
            .blue_threshold
            .is_some_and(|threshold| waited > threshold)
        {
            self.raise(vars, now);
        }
        let signal = verdict;
        if self.draws(vars, rng) && !matches!(verdict, Verdict::Drop(_)) {
            verdict = if capable && !self.harddrop {
                Verdict::Mark(MarkReason::Early)
            } else {
                Verdict::Drop(DropReason::Early)
            };
        }
        self.settle(vars, verdict, late, now);
        match verdict {
            Verdict::Drop(_) if spared => undropped(signal),
            _ => verdict,
        }
    }

    /// As [`CobaltLaw::judge`], of a law [of CAKE](CobaltLaw::of_cake): it has no thresholds, and BLUE drops whatever it may.
    #[allow(
        clippy::too_many_arguments,
        reason = "a queue, its head and the present"
    )]
    #[inline(always)]
    pub fn judge_in_cake(
        &self,
        vars: &mut CobaltVars,
        head: &Packet,
        sojourn: Span,
        least: u64,
        spared: bool,
        now: u64,
        rng: &mut Stream,
    ) -> Verdict {
        let waited = ns(sojourn);
        let above = waited > self.target && waited > least;
        // CoDel's part leaves the probability alone.
        let drops = vars.probability > 0.0 && float(rng.bits() >> 32) < vars.probability;
        let due = vars.count > 0 && now >= vars.drop_next;
        if due || drops {
            let capable = Meta::of(head).ecn().is_capable();
            return self.intervene(vars, above, capable, drops, spared, now);
        }
        let late = self.turn(vars, above, now);
        self.settle(vars, Verdict::Pass, late, now);
        Verdict::Pass
    }

    /// The rest of a judgement in which a signal is due, or BLUE drops.
    #[inline(never)]
    fn intervene(
        &self,
        vars: &mut CobaltVars,
        above: bool,
        capable: bool,
        drops: bool,
        spared: bool,
        now: u64,
    ) -> Verdict {
        let (signal, late) = self.signal(vars, above, capable, now);
        let verdict = match (drops, signal) {
            (true, Verdict::Pass | Verdict::Mark(_)) => Verdict::Drop(DropReason::Early),
            _ => signal,
        };
        self.settle(vars, verdict, late, now);
        match verdict {
            Verdict::Drop(_) if spared => undropped(signal),
            _ => verdict,
        }
    }

    /// CoDel's part of a judgement, and whether the time of the next signal is past.
    #[inline(always)]
    fn signal(
        &self,
        vars: &mut CobaltVars,
        above: bool,
        capable: bool,
        now: u64,
    ) -> (Verdict, bool) {
        let due = vars.count > 0 && now >= vars.drop_next;
        let late = self.turn(vars, above, now);
        if !due {
            return (Verdict::Pass, late);
        }
        if !above {
            while vars.count > 0 && now >= vars.drop_next {
                self.less(vars);
            }
            return (Verdict::Pass, now > vars.drop_next);
        }
        vars.count = vars.count.saturating_add(1);
        self.step(vars);
        let signal = match capable {
            true => Verdict::Mark(MarkReason::TargetExceeded),
            false => Verdict::Drop(DropReason::TargetExceeded),
        };
        (signal, now > vars.drop_next)
    }

    /// Turns the dropping state on or off; returns whether the time of the next signal was past before.
    #[inline(always)]
    fn turn(&self, vars: &mut CobaltVars, above: bool, now: u64) -> bool {
        let late = now > vars.drop_next;
        if above {
            if !vars.dropping {
                vars.drop_next = now.saturating_add(self.spacing(vars));
            }
            vars.count = vars.count.max(1);
        }
        vars.dropping = above;
        late
    }

    /// What a judgement leaves behind.
    #[inline(always)]
    fn settle(&self, vars: &mut CobaltVars, verdict: Verdict, late: bool, now: u64) {
        if vars.count == 0 {
            vars.drop_next = now.saturating_add(self.interval);
        } else if late && !matches!(verdict, Verdict::Drop(_)) {
            vars.drop_next = now;
        }
    }

    /// A packet was dropped because the queue is full.
    #[cold]
    pub fn on_full(&self, vars: &mut CobaltVars, now: u64) {
        self.raise(vars, now);
        vars.dropping = true;
        vars.drop_next = now;
        vars.count = vars.count.max(1);
    }

    /// The transmitter asked and the queue was empty.
    #[inline]
    pub fn on_empty(&self, vars: &mut CobaltVars, now: u64) {
        if vars.probability > 0.0 && now - vars.changed > self.target {
            vars.probability = (vars.probability - self.decrement).max(0.0);
            vars.changed = self.stamp(now);
        }
        vars.dropping = false;
        if vars.count > 0 && now >= vars.drop_next {
            self.less(vars);
        }
    }

    /// The values of [`CobaltLaw::STATE_NAMES`].
    pub fn state(&self, vars: &CobaltVars, out: &mut Vec<f64>) {
        let one = if self.rules().whole { ONE_32 } else { 1.0 };
        out.extend([
            f64::from(vars.count),
            f64::from(u8::from(vars.dropping)),
            Span::from_ns(vars.drop_next).as_secs_f64(),
            vars.probability / one,
        ]);
    }

    /// A signal that came due and was not needed.
    fn less(&self, vars: &mut CobaltVars) {
        vars.count -= 1;
        self.step(vars);
    }

    fn step(&self, vars: &mut CobaltVars) {
        vars.root = root(vars.root, vars.count);
        vars.drop_next = vars.drop_next.saturating_add(self.spacing(vars));
    }

    /// interval / sqrt(count), of the low 32 bits of the interval.
    fn spacing(&self, vars: &CobaltVars) -> u64 {
        ((self.interval & u64::from(u32::MAX)) * u64::from(vars.root)) >> 32
    }

    /// When BLUE's probability changed, as it is remembered: ns-3 keeps 32 bits of the nanoseconds.
    fn stamp(&self, now: u64) -> u64 {
        match self.rules().short_stamp {
            true => now & u64::from(u32::MAX),
            false => now,
        }
    }

    fn raise(&self, vars: &mut CobaltVars, now: u64) {
        if now - vars.changed > self.target {
            vars.probability = (vars.probability + self.increment).min(self.top);
            vars.changed = self.stamp(now);
        }
    }

    #[inline(always)]
    fn draws(&self, vars: &CobaltVars, rng: &mut Stream) -> bool {
        vars.probability > 0.0
            && match self.rules().draws_bits {
                true => float(rng.bits() >> 32) < vars.probability,
                false => rng.uniform() < vars.probability,
            }
    }
}

/// What is left of a signal that must not drop.
fn undropped(signal: Verdict) -> Verdict {
    match signal {
        Verdict::Drop(_) => Verdict::Pass,
        signal => signal,
    }
}

/// 2^32 / sqrt(count) for counts below 16, each by four Newton steps from the one before it.
const ROOTS: [u32; 16] = roots();

#[allow(
    clippy::as_conversions,
    reason = "16 counts; no other conversion is const"
)]
const fn roots() -> [u32; 16] {
    let mut roots = [u32::MAX; 16];
    let mut x = u32::MAX;
    let mut count = 1;
    while count < 16 {
        x = newton_step(
            newton_step(newton_step(newton_step(x, count), count), count),
            count,
        );
        roots[count as usize] = x;
        count += 1;
    }
    roots
}

fn root(before: u32, count: u32) -> u32 {
    let table = usize::try_from(count)
        .ok()
        .and_then(|count| ROOTS.get(count));
    table.copied().unwrap_or_else(|| newton_step(before, count))
}

/// One step from x towards 2^32 / sqrt(count): x / 2 (3 - count x^2).
#[allow(
    clippy::as_conversions,
    reason = "32-bit arithmetic that wraps as in the source"
)]
const fn newton_step(x: u32, count: u32) -> u32 {
    let square = (x as u64 * x as u64) >> 32;
    let value = (3_u64 << 32).wrapping_sub((count as u64).wrapping_mul(square)) >> 2;
    (value.wrapping_mul(x as u64) >> 31) as u32
}

const NS_PER_S: u128 = 1_000_000_000;
const ONE_32: f64 = 4_294_967_296.0;

fn ns(span: Span) -> u64 {
    span.as_ps() / 1000
}

fn at(time: Time) -> u64 {
    time.as_ps() / 1000
}

fn contradiction(text: &str) -> SpecError {
    entry::contradiction(Cobalt::NAME, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{built, meta};

    const DROPPED: Verdict = Verdict::Drop(DropReason::TargetExceeded);
    const MARKED: Verdict = Verdict::Mark(MarkReason::TargetExceeded);
    const ABOVE: Span = Span::from_ms(6);
    const BELOW: Span = Span::from_ms(5);

    fn cobalt(spec: &str) -> Cobalt {
        built(spec).unwrap_or_else(|error| panic!("{spec}: {error}"))
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn judge(cobalt: &mut Cobalt, now: Time, sojourn: Span, tos: u8) -> Verdict {
        let mut rng = Stream::derive(now.as_ps(), 0, "cobalt");
        judge_among(cobalt, now, sojourn, tos, (0, false), &mut rng)
    }

    fn judge_among(
        cobalt: &mut Cobalt,
        now: Time,
        sojourn: Span,
        tos: u8,
        (least, spared): (u64, bool),
        rng: &mut Stream,
    ) -> Verdict {
        let (law, vars) = (&cobalt.law, &mut cobalt.vars);
        law.judge(vars, &meta(0, tos), sojourn, least, spared, now, rng)
    }

    /// When heads that come every millisecond and waited so long are dropped.
    fn drops(cobalt: &mut Cobalt, times: std::ops::Range<u64>, sojourn: Span) -> Vec<u64> {
        times
            .filter(|now| judge(cobalt, ms(*now), sojourn, 0) == DROPPED)
            .collect()
    }

    #[test]
    fn the_table_in_the_head_is_that_of_the_rules() {
        let checked = sojourn_units::check_rules_table(include_str!("cobalt.rs"), Rules::TABLE);
        assert!(checked.is_ok(), "{}", checked.unwrap_err());
    }

    #[test]
    fn cobalt_drops_nothing_at_target_and_below() {
        for dialect in ["linux", "ns3"] {
            let mut cobalt = cobalt(&format!("dialect={dialect}"));
            assert!(drops(&mut cobalt, 0..5000, BELOW).is_empty(), "{dialect}");
        }
    }

    #[test]
    fn signals_come_at_intervals_over_the_root_of_their_number() {
        let mut cobalt = cobalt("dialect=ns3");
        judge(&mut cobalt, ms(0), BELOW, 0);
        let found = drops(&mut cobalt, 1..400, ABOVE);
        // 100 ms after the state was entered, then 100 / sqrt(2), 100 / sqrt(3) ... after each other.
        assert_eq!(found[..4], [101, 172, 230, 280]);
    }

    #[test]
    fn linux_gives_its_very_first_signal_at_once() {
        let mut cobalt = cobalt("");
        judge(&mut cobalt, ms(0), BELOW, 0);
        assert_eq!(drops(&mut cobalt, 1..60, ABOVE)[0], 2);
    }

    #[test]
    fn count_decays_below_target_and_is_not_forgotten() {
        let mut cobalt = cobalt("dialect=ns3");
        drops(&mut cobalt, 0..1000, ABOVE);
        let before = cobalt.vars.count;
        assert!(before > 10);
        drops(&mut cobalt, 1000..1100, BELOW);
        assert!(
            cobalt.vars.count < before && cobalt.vars.count > 5,
            "{}",
            cobalt.vars.count
        );
        drops(&mut cobalt, 1100..4000, BELOW);
        assert_eq!(cobalt.vars.count, 0);
    }

    #[test]
    fn capable_packets_are_marked_by_codel_and_dropped_by_blue() {
        let mut cobalt = cobalt("dialect=ns3 ecn=true");
        judge(&mut cobalt, ms(0), BELOW, 2);
        let marked = (1..200).find(|now| judge(&mut cobalt, ms(*now), ABOVE, 2) == MARKED);
        assert_eq!(marked, Some(101));
        cobalt.vars.probability = 1.0;
        assert_eq!(
            judge(&mut cobalt, ms(300), BELOW, 2),
            Verdict::Drop(DropReason::Early)
        );
        cobalt.law.harddrop = false;
        assert_eq!(
            judge(&mut cobalt, ms(301), BELOW, 2),
            Verdict::Mark(MarkReason::Early)
        );
    }

    #[test]
    fn blue_moves_once_in_a_target() {
        for (dialect, one) in [("linux", ONE_32), ("ns3", 1.0)] {
            let mut cobalt = cobalt(&format!("dialect={dialect}"));
            for now in 100..111 {
                cobalt.law.on_full(&mut cobalt.vars, at(ms(now)));
            }
            // At 100, 106 ms.
            assert!(
                (cobalt.vars.probability / one - 2.0 / 256.0).abs() < 1e-12,
                "{dialect}"
            );
            cobalt.on_empty(ms(111));
            cobalt.on_empty(ms(112));
            assert!(
                (cobalt.vars.probability / one - 31.0 / 4096.0).abs() < 1e-12,
                "{dialect}"
            );
        }
    }

    #[test]
    fn ns3_forgets_when_blue_changed_after_32_bits_of_nanoseconds() {
        for (dialect, from_ms, changes) in [
            ("ns3", 1000, 1.0),
            ("ns3", 4400, 10.0),
            ("linux", 4400, 1.0),
        ] {
            let mut cobalt = cobalt(&format!("dialect={dialect}"));
            cobalt.vars.probability = cobalt.law.top / 2.0;
            cobalt.vars.changed = cobalt.law.stamp(from_ms * 1_000_000);
            // Ten looks at an empty queue, a millisecond apart.
            for n in 1..=10 {
                cobalt.on_empty(ms(from_ms + n));
            }
            let lowered = (cobalt.law.top / 2.0 - cobalt.vars.probability) / cobalt.law.decrement;
            assert_eq!(lowered.round(), changes, "{dialect} {from_ms}");
        }
    }

    #[test]
    fn ns3_raises_blue_for_a_long_wait_too() {
        let mut cobalt = cobalt("dialect=ns3");
        judge(&mut cobalt, ms(1000), Span::from_ms(401), 0);
        assert!(cobalt.vars.probability > 0.0);
    }

    #[test]
    fn a_wait_of_four_mtus_is_not_above_target() {
        let mut cobalt = cobalt("");
        let mut rng = Stream::derive(1, 0, "cobalt");
        for now in 0..1000 {
            let verdict = judge_among(&mut cobalt, ms(now), ABOVE, 0, (ns(ABOVE), false), &mut rng);
            assert_eq!(verdict, Verdict::Pass);
        }
    }

    #[test]
    fn the_last_packet_is_spared_and_the_law_goes_on() {
        let run = |spared: bool| {
            let mut cobalt = cobalt("");
            let mut rng = Stream::derive(1, 0, "cobalt");
            let verdicts: Vec<_> = (0..1000)
                .map(|now| judge_among(&mut cobalt, ms(now), ABOVE, 0, (0, spared), &mut rng))
                .collect();
            (verdicts.contains(&DROPPED), cobalt.vars.count)
        };
        let (dropped, count) = run(false);
        assert!(dropped);
        assert_eq!(run(true), (false, count));
    }

    #[test]
    fn linux_makes_room_at_the_head_and_ns3_refuses() {
        use crate::aqm::Waiting;
        use crate::testing::stored;
        use sojourn_sim::Packet;
        use sojourn_units::Rate;
        let (store, queue) = stored([Packet::test(1000, 0, 0), Packet::test(500, 0, 1)]);
        let verdict = |dialect: &str, limit: &str, size| {
            let mut cobalt = cobalt(&format!("dialect={dialect} limit={limit}"));
            let view = View {
                packets: 2,
                bytes: 1500,
                rate: Rate::mbps(8),
                last_departure: Time::ZERO,
                asked: false,
                waiting: Waiting::Queue(&store, &queue),
            };
            let (mut rng, flow, tos) = (Stream::derive(1, 0, "cobalt"), 0, 0);
            let cx = &mut Cx {
                now: ms(1),
                rng: &mut rng,
            };
            cobalt.on_enqueue(&Meta { size, flow, tos }, &view, cx)
        };
        let full = Verdict::Drop(DropReason::Overlimit);
        let head = Verdict::DropOther(0, DropReason::Evicted);
        assert_eq!(verdict("linux", "2p", 100), head);
        assert_eq!(verdict("linux", "1500B", 1000), head);
        assert_eq!(verdict("linux", "1500B", 1001), full);
        assert_eq!(verdict("ns3", "2p", 100), full);
        assert_eq!(verdict("linux", "3p", 100), Verdict::Pass);
    }

    #[test]
    fn roots_are_near_the_roots() {
        let mut x = ROOTS[15];
        for count in 1..3000_u32 {
            x = root(x, count);
            let exact = ONE_32 / f64::from(count).sqrt();
            assert!(
                (f64::from(x) / exact - 1.0).abs() < 2e-3,
                "{count}: {x} for {exact}"
            );
        }
    }

    #[test]
    fn what_a_dialect_lacks_is_refused() {
        for spec in [
            "blue_threshold=1s",
            "ce_threshold=1ms",
            "dialect=ns3 ce_threshold=1ms",
            "dialect=ns3 mtu=1500B",
        ] {
            assert!(
                matches!(built::<Cobalt>(spec), Err(SpecError::Contradiction { .. })),
                "{spec}"
            );
        }
    }
}
