//! CoDel: controlled delay.
//!
//! Source of the default dialect: RFC 8289 (January 2018), pseudo-code of section 5, compared with it line by line. A
//! packet is judged at the head of the queue by its sojourn time. Once the sojourn time has stayed at or above `target`
//! for an `interval`, the packet is dropped and CoDel enters the dropping state. In this state, further drops follow at
//! `interval / sqrt(count)`, until a packet has waited less than `target` or too few bytes are left behind it.
//!
//! The pseudo-code loops over packets inside one call. Here each head of the queue is judged separately
//! ([`CodelVars::judge`]), and the state `after` holds the loop's knowledge of the packet before. The packet behind the
//! drop that entered the dropping state is sent with any sojourn time. The packet behind a later drop schedules the
//! next drop or ends the state.
//!
//! Differences of dialects from the RFC:
//!
//! | | rfc8289 | linux | ns3 | ns2 |
//! |---|---|---|---|---|
//! | clock | exact | ticks of 1.024 us, 32 bits that wrap | the same, compared without wrapping | exact |
//! | no drop when behind the head | bytes <= mtu | bytes <= mtu | bytes < mtu | bytes <= largest packet seen, at least mtu |
//! | interval over | now >= | now > | now > | now >= |
//! | 1 / sqrt(count) | exact | one Newton step, 16 bits | as linux | exact |
//! | count on re-entry | count - lastcount, within 16 intervals | the same | the same, but 1 if the next drop still lay ahead | count - 2, within 8 intervals; above 126 also times 0.9844 |
//! | interval on re-entry | full | full | full | control law, within 8 intervals |
//! | count grows with | a drop | a drop | a drop | a drop after which the state goes on |
//! | next after a mark, from | the due time | the due time | now | no ECN |
//! | an empty queue forgets when the wait came above target | always | only right after a drop | as linux | always |
//!
//! Not in the RFC: `limit` (the RFC leaves the buffer size open) and `ecn` (the RFC drops; with `ecn`, an ECN-capable
//! packet is marked and sent where the pseudo-code drops one, as in Linux). The RFC's constant for the smallest backlog
//! is 512 bytes, with the advice to use the MTU of the interface; here `mtu` is 1500 bytes. In a queue of a scheduler
//! only that queue's bytes are looked at; section 4.4 advises all that wait for the link, which is what
//! [`crate::disciplines::schedulers::fq_codel`] does.

use crate::aqm::{Aqm, Cx, Interest, Meta, Verdict, View};
use crate::entry::{self, BuildContext, Entry, SpecError};
use crate::tc::Line;
use sojourn_sim::{DropReason, Ecn, MarkReason};
use sojourn_units::{Bytes, Limit, Packets, Span, Time, params, rules};

params! {
    /// Controlled delay: drops from the head once packets have waited too long for too long.
    pub struct CodelParams {
        /// Acceptable standing sojourn time.
        target: Span = "5ms", range "1us".."10s", source "RFC 8289 section 4.3";
        /// Time for which the sojourn time must stay at or above the target before a packet is dropped. Set it to about
        /// the largest common round trip time.
        interval: Span = "100ms", range "10us".."100s", source "RFC 8289 section 4.2";
        /// Maximum queue length. Arrivals beyond it are dropped.
        limit: Limit = "1000p", range "1p".., source "Linux sch_codel; RFC 8289 gives none";
        /// Mark ECN-capable packets instead of dropping them.
        ecn: bool = "false", source "Linux sch_codel; RFC 8289 drops";
        /// Do not drop a packet if at most this many bytes remain in the queue behind it (in dialect ns3, fewer).
        mtu: Bytes = "1500B", range "1B".., source "RFC 8289 section 5.3 lists 512 and advises the MTU of the interface; Ethernet's",
            acts "the queue is this short when a packet is due to be dropped";
        /// Mark every ECN-capable packet that waited longer than this; dialects linux and ns3.
        ce_threshold: Option<Span> = "none", source "Linux sch_codel: disabled";
        /// L4S mode of ns-3. Packets with ECT(1) or CE are dropped only at the limit, and CoDel does not count them.
        /// `ce_threshold` marks only these packets; dialect ns3.
        l4s: bool = "false", source "ns-3.44 codel-queue-disc.cc: UseL4s";
    }
    dialects Dialect {
        /// The pseudo-code of RFC 8289.
        rfc8289 as Rfc8289 = "rfc8289" {}
        /// Linux sch_codel.
        linux as Linux = "linux-6.1" {
            mtu = "1514B" from "Linux sch_codel.c: psched_mtu, MTU and Ethernet header";
        }
        /// The authors' CoDel for ns-2 (codel.cc, 2013).
        ns2 as Ns2 = "ns2-codel-2013" {
            limit = "50p" from "ns-2.35 tcl/lib/ns-default.tcl: Queue set limit_ 50";
            mtu = "256B" from "codel.cc: the largest packet seen starts at 256";
        }
        /// ns-3's CoDelQueueDisc.
        ns3 as Ns3 = "ns3-3.44" {
            limit = "1500kB" from "ns-3.44 codel-queue-disc.cc: MaxSize 1500 * 1000 bytes";
            mtu = "1500B" from "ns-3.44 codel-queue-disc.cc: MinBytes 1500";
        }
    }
}

rules! {
    /// Where dialects leave the RFC.
    struct Rules of Dialect {
        /// How times are read and compared.
        clock: Clock, "clock" {
            Rfc8289 = Clock::Picoseconds, "exact";
            Linux = Clock::WrappingTicks, "ticks of 1.024 us, 32 bits that wrap";
            Ns3 = Clock::PlainTicks, "the same, compared without wrapping";
            Ns2 = Clock::Picoseconds, "exact";
        }
        /// What behind the head is too little to drop from.
        little: Little, "no drop when behind the head" {
            Rfc8289 = Little::AtMostMtu, "bytes <= mtu";
            Linux = Little::AtMostMtu, "bytes <= mtu";
            Ns3 = Little::BelowMtu, "bytes < mtu";
            Ns2 = Little::AtMostLargest, "bytes <= largest packet seen, at least mtu";
        }
        /// An interval is over at its last instant, not only after it.
        over_at_end: bool, "interval over" {
            Rfc8289 = true, "now >=";
            Linux = false, "now >";
            Ns3 = false, "now >";
            Ns2 = true, "now >=";
        }
        /// How the control law computes.
        inverse_sqrt: InverseSqrt, "1 / sqrt(count)" {
            Rfc8289 = InverseSqrt::Exact, "exact";
            Linux = InverseSqrt::Newton, "one Newton step, 16 bits";
            Ns3 = InverseSqrt::Newton, "as linux";
            Ns2 = InverseSqrt::Exact, "exact";
        }
        /// The count with which a dropping state begins soon after another.
        reentry: Reentry, "count on re-entry" {
            Rfc8289 = Reentry::SinceLast, "count - lastcount, within 16 intervals";
            Linux = Reentry::SinceLast, "the same";
            Ns3 = Reentry::SinceLast, "the same, but 1 if the next drop still lay ahead";
            Ns2 = Reentry::TwoLess, "count - 2, within 8 intervals; above 126 also times 0.9844";
        }
        /// The wait before a dropping state that begins soon after another follows the control law.
        short_interval: bool, "interval on re-entry" {
            Rfc8289 = false, "full";
            Linux = false, "full";
            Ns3 = false, "full";
            Ns2 = true, "control law, within 8 intervals";
        }
        /// The count grows once the packet behind a drop keeps the state.
        grows_when_kept: bool, "count grows with" {
            Rfc8289 = false, "a drop";
            Linux = false, "a drop";
            Ns3 = false, "a drop";
            Ns2 = true, "a drop after which the state goes on";
        }
        /// The next signal after a mark is due a spacing from the mark, not from when that was due.
        marks_from_now: bool, "next after a mark, from" {
            Rfc8289 = false, "the due time";
            Linux = false, "the due time";
            Ns3 = true, "now";
            Ns2 = false, "no ECN";
        }
        /// A queue that is found empty forgets when the wait came above the target, whatever went before.
        empty_forgets: bool, "an empty queue forgets when the wait came above target" {
            Rfc8289 = true, "always";
            Linux = false, "only right after a drop";
            Ns3 = false, "as linux";
            Ns2 = true, "always";
        }
    }
}

/// What is too little to drop from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Little {
    AtMostMtu,
    BelowMtu,
    /// The largest packet so far counts as the MTU if it is larger.
    AtMostLargest,
}

/// How the inverse of the root of the count is had.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum InverseSqrt {
    Exact,
    /// In fractions of 16 bits, one step of Newton's method for each change of the count.
    Newton,
}

/// The count with which a dropping state begins soon after another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reentry {
    /// What the last state added to its count.
    SinceLast,
    /// Two less than the last state's count, and less than that above [`NS2_DECAY_ABOVE`].
    TwoLess,
}

/// The discipline.
pub struct Codel {
    limit: Limit,
    vars: CodelVars,
}

impl Codel {
    /// Lets `ce_threshold` mark only packets whose traffic class, masked, is `selector`.
    #[must_use]
    pub fn marking(mut self, selector: u8, mask: u8) -> Codel {
        self.vars.ce_class = (mask, selector);
        self
    }
}

impl Entry for Codel {
    const NAME: &'static str = "codel";
    const TITLE: &'static str = "CoDel";
    const ABOUT: &'static str = "Controlled delay: CoDel drops at the head of the queue while packets wait too long. It measures each packet's sojourn time when the packet reaches the head of the queue. A sojourn time that stays at or above `target` for an `interval` means a standing queue. CoDel then drops (or marks) packets at the head, at a rate that grows with the square root of their number, until the standing queue is gone.\n\n\
        Expect a delay near `target` under long TCP flows in one direction. With TCP in both directions, acknowledgements arrive in bursts behind data, and the mean delay may be several times `target` (`sojourn docs compare-queues`). Bursts shorter than `interval` pass without drops. Under an unresponsive overload, the queue grows for seconds, because the control law is slow by design.";
    type Params = CodelParams;

    fn time_constant(params: &CodelParams, _: Span) -> Option<entry::TimeConstant> {
        Some(entry::TimeConstant::new("interval", params.interval))
    }

    fn build(params: CodelParams, _: &BuildContext) -> Result<Self, SpecError> {
        Ok(Codel {
            limit: params.limit,
            vars: CodelVars::new(&params)?,
        })
    }

    fn tc(params: &CodelParams) -> Option<Line> {
        let line = Line::root("codel")
            .packets("limit", Some(params.limit))
            .time("target", params.target)
            .time("interval", params.interval);
        let line = match params.ce_threshold {
            Some(threshold) => line.time("ce_threshold", threshold),
            None => line,
        };
        Some(line.word(if params.ecn { "ecn" } else { "noecn" }))
    }
}

impl Aqm for Codel {
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
    fn on_enqueue(&mut self, meta: &Meta, view: &View<'_>, _: &mut Cx<'_>) -> Verdict {
        let (packets, bytes) = (view.packets + 1, view.bytes + u64::from(meta.size));
        if self.limit.admits(Packets::new(packets), Bytes::new(bytes)) {
            Verdict::Pass
        } else {
            Verdict::Drop(DropReason::Overlimit)
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
        self.vars.judge(meta, sojourn, view.bytes, cx.now)
    }

    #[inline]
    fn on_empty(&mut self, _: Time) {
        self.vars.on_empty();
    }

    #[inline]
    fn on_evicted(&mut self, packets: u32) {
        self.vars.on_evicted(packets);
    }

    fn state_names(&self) -> &'static [&'static str] {
        CodelVars::STATE_NAMES
    }

    fn state(&self, out: &mut Vec<f64>) {
        self.vars.state(out);
    }
}

/// A packet of the low-latency service: ECT(1), or CE that may have been it.
pub(crate) fn is_l4s(meta: &Meta) -> bool {
    matches!(meta.ecn(), Ecn::Ect1 | Ecn::Ce)
}

/// Whether ns-3's L4S mode may be on, which the dialect has or not: what is wrong if not.
pub(crate) fn check_l4s(
    l4s: bool,
    known: bool,
    ce_threshold: Option<Span>,
) -> Result<(), &'static str> {
    match (l4s, known, ce_threshold) {
        (false, ..) | (true, true, Some(_)) => Ok(()),
        (true, true, None) => Err("l4s=true needs ce_threshold; give one, such as 1ms"),
        (true, ..) => Err("l4s=true needs dialect ns3; leave it out or choose that one"),
    }
}

/// The state machine without a queue: it judges each head of a queue.
#[derive(Clone, Debug)]
pub struct CodelVars {
    /// The unit of all times here: picoseconds, or ticks of 1024 ns in dialects linux and ns3.
    clock: Clock,
    /// Acceptable sojourn time, in units of `clock`.
    target: u64,
    /// Time above target before drops begin, in units of `clock`.
    interval: u64,
    /// Bytes: with no more behind it a head is never dropped.
    mtu: u64,
    /// Sojourn time beyond which capable packets are marked, in units of `clock`; `None` for never.
    ce_threshold: Option<u64>,
    /// ns-3's L4S mode: `ce_threshold` acts on low-latency packets only.
    l4s: bool,
    /// `ce_threshold` acts on packets whose traffic class, masked by the first, is the second.
    ce_class: (u8, u8),
    /// Capable packets are marked instead of dropped.
    ecn: bool,
    dialect: Dialect,
    /// When the sojourn time will have been above target for an interval, in units of `clock`; `None` while it is below.
    first_above: Option<u64>,
    /// When the next packet is dropped, in units of `clock`; out of the dropping state, when it would have been.
    drop_next: u64,
    /// Drops since the dropping state was entered, carried over from the last time when that was recent.
    count: u32,
    /// `count` when the state was entered last.
    lastcount: u32,
    /// 1 / sqrt(count) in units of 2^-16, dialects linux and ns3.
    inverse_sqrt: u16,
    /// In the dropping state.
    dropping: bool,
    /// What became of the head before.
    after: After,
}

/// What became of the packet before, within one request of the transmitter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum After {
    /// It was sent, or there was none.
    Sent,
    /// It was dropped, and that entered the dropping state.
    EnteringDrop,
    /// It was dropped in the dropping state.
    LaterDrop,
}

/// Intervals within which a new dropping state goes on from the last one.
const RECENT_INTERVALS: u64 = 16;
/// The same in dialect ns2.
const NS2_RECENT_INTERVALS: u64 = 8;
/// Above it, dialect ns2 shrinks the count by a factor.
const NS2_DECAY_ABOVE: u32 = 126;
/// Largest 16-bit fraction: 1 / sqrt(1).
const ONE: u16 = u16::MAX;

impl CodelVars {
    /// The names of what [`CodelVars::state`] reports.
    pub const STATE_NAMES: &'static [&'static str] = &[
        "count",
        "lastcount",
        "dropping",
        "drop_next_s",
        "first_above_s",
    ];

    /// The state of an empty queue.
    ///
    /// # Errors
    /// If the dialect has no ECN or no threshold, and one is asked for.
    pub fn new(params: &CodelParams) -> Result<CodelVars, SpecError> {
        let dialect = params.dialect;
        let clock = Rules::of(dialect).clock;
        if params.ecn && dialect == Dialect::Ns2 {
            return Err(contradiction(
                "ecn=true, but dialect ns2 has no ECN; leave it out or choose another dialect",
            ));
        }
        if params.ce_threshold.is_some() && !matches!(dialect, Dialect::Linux | Dialect::Ns3) {
            return Err(contradiction(
                "ce_threshold needs dialect linux or ns3; leave it out or choose one of them",
            ));
        }
        if params.ce_threshold.is_some() && !params.ecn && dialect == Dialect::Ns3 {
            return Err(contradiction("ce_threshold needs ecn=true in dialect ns3"));
        }
        if params.target > params.interval {
            return Err(contradiction(&format!(
                "target={} is above interval={}, so that no queue stands for long before packets are dropped; write a target of 5 to \
                 10 % of the interval, as RFC 8289 advises",
                params.target, params.interval
            )));
        }
        check_l4s(params.l4s, dialect == Dialect::Ns3, params.ce_threshold)
            .map_err(contradiction)?;
        Ok(CodelVars {
            clock,
            target: clock.length(params.target),
            interval: clock.length(params.interval),
            mtu: params.mtu.get(),
            ce_threshold: params.ce_threshold.map(|span| clock.length(span)),
            l4s: params.l4s,
            ce_class: (0, 0),
            ecn: params.ecn,
            dialect,
            // codel.cc starts with a time below zero, so the first packet above target may be dropped at once.
            first_above: (dialect == Dialect::Ns2).then_some(0),
            drop_next: 0,
            count: 0,
            lastcount: 0,
            inverse_sqrt: 0,
            dropping: false,
            after: After::Sent,
        })
    }

    #[inline(always)]
    fn rules(&self) -> Rules {
        Rules::of(self.dialect)
    }

    /// Judges the head of the queue: `sojourn` is how long it waited, `behind` the bytes that wait behind it.
    #[inline]
    pub fn judge(&mut self, meta: &Meta, sojourn: Span, behind: u64, now: Time) -> Verdict {
        let now_ticks = self.clock.at(now);
        let waited = self.clock.waited(now, sojourn);
        // ns-3 asks only of the packet that a request finds first.
        if self.l4s && self.after == After::Sent && is_l4s(meta) {
            return match self.ce_threshold {
                Some(threshold) if self.clock.before(threshold, waited) => {
                    Verdict::Mark(MarkReason::Threshold)
                }
                _ => Verdict::Pass,
            };
        }
        if self.rules().little == Little::AtMostLargest {
            self.mtu = self.mtu.max(u64::from(meta.size));
        }
        let may_drop = self.above_for_interval(waited, behind, now_ticks);
        let verdict = if !may_drop && !self.dropping && self.after == After::Sent {
            Verdict::Pass
        } else {
            self.control(may_drop, meta, now_ticks)
        };
        match self.ce_threshold {
            Some(threshold)
                if verdict == Verdict::Pass
                    && !self.l4s
                    && meta.tos & self.ce_class.0 == self.ce_class.1
                    && self.clock.before(threshold, waited)
                    && meta.ecn().is_capable() =>
            {
                Verdict::Mark(MarkReason::Threshold)
            }
            _ => verdict,
        }
    }

    /// The transmitter asked and the queue was empty.
    #[inline]
    pub fn on_empty(&mut self) {
        let asked_first = self.after == After::Sent;
        if self.rules().empty_forgets || !asked_first {
            self.first_above = None;
        }
        self.dropping = false;
        self.after = After::Sent;
    }

    /// Others dropped this number of packets of the queue: Linux's fq_codel adds them to the count.
    #[inline]
    pub fn on_evicted(&mut self, packets: u32) {
        if self.dialect == Dialect::Linux {
            self.count = self.count.wrapping_add(packets);
        }
    }

    /// The values of [`CodelVars::STATE_NAMES`].
    pub fn state(&self, out: &mut Vec<f64>) {
        out.extend([
            f64::from(self.count),
            f64::from(self.lastcount),
            f64::from(u8::from(self.dropping)),
            self.clock.as_secs(self.drop_next),
            self.first_above.map_or(0.0, |at| self.clock.as_secs(at)),
        ]);
    }

    /// The RFC's dodequeue(): whether the sojourn time has been above target for an interval.
    #[inline]
    fn above_for_interval(&mut self, waited: u64, behind: u64, now: u64) -> bool {
        let little = match self.rules().little {
            Little::BelowMtu => behind < self.mtu,
            Little::AtMostMtu | Little::AtMostLargest => behind <= self.mtu,
        };
        if little || self.clock.before(waited, self.target) {
            self.first_above = None;
            return false;
        }
        let Some(end) = self.first_above else {
            let wait = if self.rules().short_interval && self.count > 1 && self.recent(now) {
                self.spacing()
            } else {
                self.interval
            };
            self.first_above =
                Some(self.clock.add(now, wait)).filter(|end| !self.clock.is_unset(*end));
            return false;
        };
        match self.rules().over_at_end {
            true => now >= end,
            false => self.clock.before(end, now),
        }
    }

    /// The RFC's dequeue(), for one packet of its loop.
    fn control(&mut self, may_drop: bool, meta: &Meta, now: u64) -> Verdict {
        match std::mem::replace(&mut self.after, After::Sent) {
            // The dropping state was entered just now: this packet goes out.
            After::EnteringDrop => return Verdict::Pass,
            After::LaterDrop if may_drop => {
                if self.rules().grows_when_kept {
                    self.count += 1;
                }
                self.drop_next = self.clock.add(self.drop_next, self.spacing());
            }
            After::LaterDrop | After::Sent => {}
        }
        if !may_drop {
            self.dropping = false;
            return Verdict::Pass;
        }
        let markable = self.ecn && meta.ecn().is_capable();
        if !self.dropping {
            self.enter(now);
            if markable {
                return Verdict::Mark(MarkReason::TargetExceeded);
            }
            self.after = After::EnteringDrop;
            return Verdict::Drop(DropReason::TargetExceeded);
        }
        if self.clock.before(now, self.drop_next) {
            return Verdict::Pass;
        }
        if !self.rules().grows_when_kept {
            self.count = self.count.wrapping_add(1);
            self.inverse_sqrt = newton_step(self.inverse_sqrt, self.count);
        }
        if markable {
            let from = if self.rules().marks_from_now {
                now
            } else {
                self.drop_next
            };
            self.drop_next = self.clock.add(from, self.spacing());
            return Verdict::Mark(MarkReason::TargetExceeded);
        }
        self.after = After::LaterDrop;
        Verdict::Drop(DropReason::TargetExceeded)
    }

    /// Enters the dropping state, at the rate that controlled the queue the last time if that is not long ago.
    fn enter(&mut self, now: u64) {
        self.dropping = true;
        let recent = self.recent(now);
        match self.rules().reentry {
            Reentry::TwoLess => {
                self.count = match self.count {
                    n if n > NS2_DECAY_ABOVE + 2 && recent => decayed(n),
                    n if n > 2 && recent => n - 2,
                    _ => 1,
                };
            }
            Reentry::SinceLast => {
                let delta = self.count.wrapping_sub(self.lastcount);
                if delta > 1 && recent {
                    self.count = delta;
                    self.inverse_sqrt = newton_step(self.inverse_sqrt, delta);
                } else {
                    self.count = 1;
                    self.inverse_sqrt = ONE;
                }
            }
        }
        self.lastcount = self.count;
        self.drop_next = self.clock.add(now, self.spacing());
    }

    /// Whether the last dropping state is not long ago.
    fn recent(&self, now: u64) -> bool {
        let intervals = match self.rules().reentry {
            Reentry::TwoLess => NS2_RECENT_INTERVALS,
            Reentry::SinceLast => RECENT_INTERVALS,
        };
        self.clock
            .within(now, self.drop_next, self.interval, intervals)
    }

    /// interval / sqrt(count), in units of the clock.
    fn spacing(&self) -> u64 {
        match self.rules().inverse_sqrt {
            InverseSqrt::Exact => divided_by_sqrt(self.interval, self.count),
            // The kernel's reciprocal_scale: the high half of a product with a 32-bit fraction.
            InverseSqrt::Newton => (self.interval * (u64::from(self.inverse_sqrt) << 16)) >> 32,
        }
    }
}

/// How a dialect tells the time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Clock {
    /// Exact.
    Picoseconds,
    /// Linux: nanoseconds >> 10 in 32 bits; a is before b when the signed difference is negative.
    WrappingTicks,
    /// ns-3: the same ticks, compared as they are; they differ from Linux's when a difference is below zero.
    PlainTicks,
}

/// 2^10 nanoseconds.
const TICK_PS: u64 = 1_024_000;

impl Clock {
    #[inline]
    fn at(self, time: Time) -> u64 {
        self.of_picoseconds(time.as_ps())
    }

    #[inline]
    fn length(self, span: Span) -> u64 {
        self.of_picoseconds(span.as_ps())
    }

    #[inline]
    fn of_picoseconds(self, ps: u64) -> u64 {
        match self {
            Clock::Picoseconds => ps,
            Clock::WrappingTicks | Clock::PlainTicks => wrap(ps / TICK_PS),
        }
    }

    /// The sojourn time: Linux takes the difference of two ticks, ns-3 the tick of the difference.
    #[inline]
    fn waited(self, now: Time, sojourn: Span) -> u64 {
        match self {
            Clock::Picoseconds | Clock::PlainTicks => self.length(sojourn),
            Clock::WrappingTicks => {
                let arrived = now.saturating_sub(sojourn);
                wrap(self.at(now).wrapping_sub(self.at(arrived)))
            }
        }
    }

    #[inline]
    fn before(self, a: u64, b: u64) -> bool {
        match self {
            Clock::Picoseconds | Clock::PlainTicks => a < b,
            Clock::WrappingTicks => is_negative(wrap(a.wrapping_sub(b))),
        }
    }

    #[inline]
    fn add(self, a: u64, b: u64) -> u64 {
        match self {
            Clock::Picoseconds => a.saturating_add(b),
            Clock::WrappingTicks | Clock::PlainTicks => wrap(a + b),
        }
    }

    /// Whether `now - earlier` is below `intervals * interval`; a negative difference is, save in ns-3, whose difference
    /// has no sign.
    fn within(self, now: u64, earlier: u64, interval: u64, intervals: u64) -> bool {
        match self {
            Clock::Picoseconds => now.saturating_sub(earlier) < interval.saturating_mul(intervals),
            Clock::WrappingTicks | Clock::PlainTicks => {
                self.before(wrap(now.wrapping_sub(earlier)), wrap(interval * intervals))
            }
        }
    }

    /// Whether a time is the one that Linux and ns-3 read as "not set".
    #[inline]
    fn is_unset(self, time: u64) -> bool {
        self != Clock::Picoseconds && time == 0
    }

    fn as_secs(self, time: u64) -> f64 {
        match self {
            Clock::Picoseconds => Time::from_ps(time).as_secs_f64(),
            Clock::WrappingTicks | Clock::PlainTicks => Time::from_ps(time * TICK_PS).as_secs_f64(),
        }
    }
}

/// The low 32 bits.
#[inline]
const fn wrap(value: u64) -> u64 {
    value & 0xffff_ffff
}

/// Whether 32 bits are a negative number in two's complement.
#[inline]
const fn is_negative(bits: u64) -> bool {
    bits & 0x8000_0000 != 0
}

/// One step of Newton's method towards 1 / sqrt(count): x' = x / 2 * (3 - count * x^2), in 32-bit fractions. The upper 16
/// bits are kept. Overflow wraps as in the kernel.
fn newton_step(inverse_sqrt: u16, count: u32) -> u16 {
    let x = u64::from(inverse_sqrt) << 16;
    let square = (x * x) >> 32;
    let rest = (3_u64 << 32).wrapping_sub(u64::from(count).wrapping_mul(square)) >> 2;
    low_16(rest.wrapping_mul(x) >> (32 - 2 + 1 + 16))
}

#[allow(
    clippy::as_conversions,
    reason = "the low 16 bits are what the kernel keeps"
)]
const fn low_16(value: u64) -> u16 {
    value as u16
}

/// interval / sqrt(count), rounded to a whole picosecond.
#[allow(
    clippy::as_conversions,
    reason = "an interval is far below 2^53 ps, and the quotient is not negative and not larger"
)]
fn divided_by_sqrt(interval: u64, count: u32) -> u64 {
    (interval as f64 / f64::from(count).sqrt()).round_ties_even() as u64
}

/// codel.cc for large counts: 0.9844 times what the count was, cut to a whole number.
#[allow(clippy::as_conversions, reason = "not negative, and less than a u32")]
fn decayed(count: u32) -> u32 {
    (0.9844 * f64::from(count)) as u32
}

fn contradiction(text: &str) -> SpecError {
    entry::contradiction(Codel::NAME, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::Waiting;
    use proptest::prelude::*;
    use sojourn_sim::Stream;
    use sojourn_units::{Params, Rate, build};
    use std::collections::VecDeque;

    const TARGET: Span = Span::from_ms(5);
    const ABOVE: Span = Span::from_ms(50);
    const BELOW: Span = Span::from_ms(1);
    /// Bytes behind the head that no dialect calls little.
    const PLENTY: u64 = 100_000;
    const SENT: Verdict = Verdict::Pass;
    const DROPPED: Verdict = Verdict::Drop(DropReason::TargetExceeded);
    const MARKED: Verdict = Verdict::Mark(MarkReason::TargetExceeded);

    fn vars(spec: &[(&str, &str)]) -> CodelVars {
        let pairs: Vec<(String, String)> = spec
            .iter()
            .map(|(k, v)| (k.to_string(), v.to_string()))
            .collect();
        CodelVars::new(&build(None, &pairs).expect("parameters")).expect("consistent")
    }

    fn meta(size: u32, tos: u8) -> Meta {
        Meta { size, flow: 0, tos }
    }

    /// Milliseconds after a time at which millisecond and tick begin together.
    fn at(ms: u64) -> Time {
        Time::from_ps(TICK_PS * 1_000_000_000) + Span::from_ms(ms)
    }

    /// Judges a head of 1000 bytes that is not ECN-capable and has plenty behind it.
    fn judge(vars: &mut CodelVars, now: Time, sojourn: Span) -> Verdict {
        vars.judge(&meta(1000, 0), sojourn, PLENTY, now)
    }

    /// Keeps the sojourn time above target with a head every millisecond, and says when packets were dropped.
    fn drops(vars: &mut CodelVars, from_ms: u64, to_ms: u64) -> Vec<u64> {
        let mut drops = Vec::new();
        for ms in from_ms..to_ms {
            while judge(vars, at(ms), ABOVE) == DROPPED {
                drops.push(ms);
            }
        }
        drops
    }

    #[test]
    fn the_table_in_the_head_is_that_of_the_rules() {
        let checked = sojourn_units::check_rules_table(include_str!("codel.rs"), Rules::TABLE);
        assert!(checked.is_ok(), "{}", checked.unwrap_err());
    }

    #[test]
    fn codel_drops_nothing_below_target() {
        for dialect in CodelParams::DIALECTS {
            let mut vars = vars(&[("dialect", dialect.name)]);
            let below = TARGET - Span::from_us(10);
            assert!(
                (0..2000).all(|ms| judge(&mut vars, at(ms), below) == SENT),
                "{}",
                dialect.name
            );
        }
    }

    #[test]
    fn codel_drops_nothing_while_little_is_left_behind_the_head() {
        let mut vars = vars(&[]);
        for ms in 0..2000 {
            assert_eq!(vars.judge(&meta(1000, 0), ABOVE, 1500, at(ms)), SENT);
        }
    }

    #[test]
    fn the_first_drop_comes_when_an_interval_above_target_is_over() {
        let mut vars = vars(&[]);
        assert_eq!(judge(&mut vars, at(10), TARGET), SENT);
        assert_eq!(judge(&mut vars, at(110) - Span::from_ps(1), TARGET), SENT);
        assert_eq!(judge(&mut vars, at(110), TARGET), DROPPED);
    }

    #[test]
    fn one_wait_below_target_starts_the_interval_anew() {
        let mut vars = vars(&[]);
        assert_eq!(drops(&mut vars, 0, 99), []);
        assert_eq!(judge(&mut vars, at(99), BELOW), SENT);
        assert_eq!(drops(&mut vars, 100, 200), []);
        assert_eq!(drops(&mut vars, 200, 201), [200]);
    }

    #[test]
    fn the_packet_behind_the_drop_that_enters_the_dropping_state_is_sent() {
        let mut vars = vars(&[]);
        judge(&mut vars, at(0), ABOVE);
        // So late that a drop would be due many times over.
        assert_eq!(judge(&mut vars, at(5000), ABOVE), DROPPED);
        assert_eq!(judge(&mut vars, at(5000), ABOVE), SENT);
        assert_eq!(vars.drop_next, at(5100).as_ps());
    }

    #[test]
    fn drops_follow_at_an_interval_over_the_root_of_their_number() {
        let mut vars = vars(&[]);
        // 100, then + 100, + 70.7, + 57.7, + 50, + 44.7 ms, each at the next head.
        assert_eq!(drops(&mut vars, 0, 430), [100, 200, 271, 329, 379, 424]);
        assert_eq!(vars.count, 6);
    }

    #[test]
    fn drops_that_are_overdue_are_made_at_once() {
        let mut vars = vars(&[]);
        drops(&mut vars, 0, 101);
        // Due at 200, 270.7, 328.4, 378.4 and 423.2 ms.
        assert_eq!(drops(&mut vars, 400, 401), [400; 4]);
        assert_eq!(vars.count, 5);
    }

    #[test]
    fn a_wait_below_target_ends_the_dropping_state() {
        let mut vars = vars(&[]);
        drops(&mut vars, 0, 150);
        assert_eq!(judge(&mut vars, at(250), BELOW), SENT);
        assert!(!vars.dropping);
    }

    #[test]
    fn an_empty_queue_ends_the_dropping_state_and_the_interval() {
        let mut vars = vars(&[]);
        drops(&mut vars, 0, 150);
        vars.on_empty();
        assert!(!vars.dropping);
        assert_eq!(drops(&mut vars, 150, 250), []);
    }

    #[test]
    fn a_dropping_state_soon_after_the_last_goes_on_at_its_rate() {
        let mut vars = vars(&[]);
        drops(&mut vars, 0, 430);
        judge(&mut vars, at(430), BELOW);
        drops(&mut vars, 431, 532);
        // 6 drops, 1 at the start.
        assert_eq!((vars.count, vars.lastcount), (5, 5));
    }

    #[test]
    fn a_dropping_state_long_after_the_last_starts_at_one() {
        let mut vars = vars(&[]);
        drops(&mut vars, 0, 430);
        let last = vars.drop_next;
        judge(&mut vars, at(430), BELOW);
        // 16 intervals after the time of the next drop, to the picosecond.
        let enter = Time::from_ps(last) + Span::from_ms(1600);
        for (enter, count) in [(enter - Span::from_ps(1), 5), (enter, 1)] {
            let mut vars = vars.clone();
            judge(&mut vars, enter - Span::from_ms(100), ABOVE);
            assert_eq!(judge(&mut vars, enter, ABOVE), DROPPED);
            assert_eq!(vars.count, count);
        }
    }

    #[test]
    fn with_ecn_capable_packets_are_marked_where_others_are_dropped() {
        let mut vars = vars(&[("ecn", "true")]);
        let capable = meta(1000, 2);
        for ms in 0..100 {
            assert_eq!(vars.judge(&capable, ABOVE, PLENTY, at(ms)), SENT);
        }
        assert_eq!(vars.judge(&capable, ABOVE, PLENTY, at(100)), MARKED);
        assert_eq!(vars.judge(&capable, ABOVE, PLENTY, at(199)), SENT);
        assert_eq!(vars.judge(&capable, ABOVE, PLENTY, at(200)), MARKED);
        // The next one is due at 270.7 ms, wherever this one came.
        assert_eq!(vars.judge(&capable, ABOVE, PLENTY, at(270)), SENT);
        assert_eq!(judge(&mut vars, at(271), ABOVE), DROPPED);
    }

    #[test]
    fn a_full_queue_refuses_in_the_unit_of_its_limit() {
        for (dialect, packets, bytes, admitted) in [
            ("rfc8289", 999, 0, true),
            ("rfc8289", 1000, 0, false),
            ("linux", 999, 9_000_000, true),
            ("linux", 1000, 0, false),
            ("ns2", 49, 9_000_000, true),
            ("ns2", 50, 0, false),
            ("ns3", 9000, 1_499_000, true),
            ("ns3", 0, 1_499_001, false),
        ] {
            let params = CodelParams::in_dialect(dialect).expect("a dialect");
            let mut codel =
                Codel::build(params, &BuildContext::plain(1, "queue/test")).expect("consistent");
            let view = View {
                packets,
                bytes,
                rate: Rate::mbps(10),
                last_departure: Time::ZERO,
                asked: false,
                waiting: Waiting::Nothing,
            };
            let cx = &mut Cx {
                now: at(0),
                rng: &mut Stream::derive(1, 0, "test"),
            };
            let verdict = codel.on_enqueue(&meta(1000, 0), &view, cx);
            let expected = if admitted {
                SENT
            } else {
                Verdict::Drop(DropReason::Overlimit)
            };
            assert_eq!(
                verdict, expected,
                "{dialect} with {packets} packets, {bytes} bytes"
            );
        }
    }

    /// How many heads, one a millisecond, are sent before the first drop.
    fn first_drop(spec: &[(&str, &str)], sojourn: Span, behind: u64) -> Option<u64> {
        let mut vars = vars(spec);
        (0..1000).find(|ms| vars.judge(&meta(1000, 0), sojourn, behind, at(*ms)) == DROPPED)
    }

    #[test]
    fn linux_and_ns3_wait_until_the_interval_is_over_where_the_rfc_drops_at_its_end() {
        // 100,000 ticks, so that the end of the interval falls on a tick.
        let interval = ("interval", "102.4ms");
        for (dialect, at_end) in [
            ("rfc8289", DROPPED),
            ("ns2", DROPPED),
            ("linux", SENT),
            ("ns3", SENT),
        ] {
            let mut vars = vars(&[("dialect", dialect), interval]);
            vars.on_empty();
            judge(&mut vars, at(0) + Span::from_us(1024), ABOVE);
            let end = at(0) + Span::from_us(1024) + Span::from_us(102_400);
            assert_eq!(judge(&mut vars, end, ABOVE), at_end, "{dialect}");
            if at_end == SENT {
                assert_eq!(
                    judge(&mut vars, end + Span::from_ns(1024), ABOVE),
                    DROPPED,
                    "{dialect}"
                );
            }
        }
    }

    #[test]
    fn linux_measures_the_wait_in_ticks_where_the_rfc_is_exact() {
        // 5 ms are 4882 whole ticks, 4.999168 ms.
        let wait = Span::from_ns(4_999_500);
        assert_eq!(first_drop(&[], wait, PLENTY), None);
        for dialect in ["linux", "ns3"] {
            assert_eq!(
                first_drop(&[("dialect", dialect)], wait, PLENTY),
                Some(101),
                "{dialect}"
            );
        }
    }

    #[test]
    fn linux_compares_the_ticks_of_two_times_where_ns3_takes_the_tick_of_their_difference() {
        let wait = Span::from_ns(4_999_000);
        // The packet came just before the end of a tick: the difference is one tick more than the wait holds.
        let now = |n: u64| at(0) + Span::from_us(1024 * n) + Span::from_ns(4_999_000 - 1);
        for (dialect, dropped) in [("linux", true), ("ns3", false)] {
            let mut vars = vars(&[("dialect", dialect)]);
            let any = (10..1000).any(|n| judge(&mut vars, now(n), wait) == DROPPED);
            assert_eq!(any, dropped, "{dialect}");
        }
    }

    #[test]
    fn dialects_differ_in_what_is_too_little_to_drop_from() {
        for (dialect, behind, drops) in [
            ("rfc8289", 1500, false),
            ("rfc8289", 1501, true),
            ("linux", 1514, false),
            ("linux", 1515, true),
            ("ns3", 1499, false),
            ("ns3", 1500, true),
            // The largest packet seen has 1000 bytes.
            ("ns2", 1000, false),
            ("ns2", 1001, true),
        ] {
            let first = first_drop(&[("dialect", dialect)], ABOVE, behind);
            assert_eq!(
                first.is_some(),
                drops,
                "{dialect} with {behind} bytes behind the head"
            );
        }
    }

    #[test]
    fn linux_approaches_the_root_by_newton_where_the_rfc_takes_it() {
        // The second drop comes 1 / 2 (3 - 2) = 0.5 of an interval after the first of the state, not 0.707.
        for (dialect, third) in [("rfc8289", 271), ("linux", 251), ("ns3", 251)] {
            let mut vars = vars(&[("dialect", dialect)]);
            let found = drops(&mut vars, 0, 300);
            assert_eq!(found.get(2), Some(&third), "{dialect}: {found:?}");
        }
    }

    #[test]
    fn newton_steps_come_within_half_a_percent_of_the_root() {
        let mut x = ONE;
        for count in 2..=1000_u32 {
            x = newton_step(x, count);
            if count > 10 {
                let exact = 65536.0 / f64::from(count).sqrt();
                assert!(
                    (f64::from(x) / exact - 1.0).abs() < 5e-3,
                    "{count}: {x} for {exact}"
                );
            }
        }
    }

    #[test]
    fn linux_decides_alike_when_its_clock_wraps() {
        let lap = Span::from_ps(TICK_PS << 32);
        let run = |offset: Span| {
            let mut vars = vars(&[("dialect", "linux")]);
            let verdict = |ms| {
                judge(
                    &mut vars,
                    at(ms) + offset,
                    if ms % 700 < 600 { ABOVE } else { BELOW },
                )
            };
            (0..4000).map(verdict).collect::<Vec<_>>()
        };
        // The second run crosses the wrap.
        assert_eq!(
            run(Span::ZERO),
            run(lap - Span::from_ps(TICK_PS * 1_002_000_000))
        );
    }

    #[test]
    fn ns3_counts_from_now_after_a_mark_where_others_count_from_the_due_time() {
        for (dialect, next) in [
            ("rfc8289", 200 + 70),
            ("linux", 200 + 48),
            ("ns3", 230 + 48),
        ] {
            let mut vars = vars(&[("dialect", dialect), ("ecn", "true")]);
            let mut judge = |ms| vars.judge(&meta(1000, 2), ABOVE, PLENTY, at(ms));
            assert_eq!((judge(0), judge(101)), (SENT, MARKED));
            // The next mark is due at 201 ms, the packet comes at 230 ms.
            assert_eq!(judge(230), MARKED);
            let marked = (231..400).find(|ms| judge(*ms) == MARKED).expect("a mark");
            assert!((next..next + 5).contains(&marked), "{dialect}: {marked}");
        }
    }

    #[test]
    fn ns3_forgets_the_rate_when_the_next_drop_still_lay_ahead() {
        for (dialect, count) in [("rfc8289", 6), ("linux", 6), ("ns3", 1)] {
            let mut vars = vars(&[("dialect", dialect), ("interval", "100ms")]);
            drops(&mut vars, 0, 420);
            vars.count = 7;
            vars.lastcount = 1;
            judge(&mut vars, at(420), BELOW);
            // The state is entered again before the time of the next drop.
            vars.drop_next = vars.clock.at(at(600));
            drops(&mut vars, 430, 532);
            assert_eq!(vars.count, count, "{dialect}");
        }
    }

    #[test]
    fn ns2_resumes_at_two_less_where_the_rfc_takes_the_drops_of_the_last_state() {
        let enter = |dialect, count, lastcount, after_ms: u64| {
            let mut vars = vars(&[("dialect", dialect)]);
            vars.on_empty();
            (vars.count, vars.lastcount, vars.drop_next) = (count, lastcount, at(1000).as_ps());
            vars.first_above = Some(0);
            assert_eq!(judge(&mut vars, at(1000 + after_ms), ABOVE), DROPPED);
            vars.count
        };
        assert_eq!(
            (enter("rfc8289", 20, 15, 10), enter("ns2", 20, 15, 10)),
            (5, 18)
        );
        // Within 8 intervals, not 16.
        assert_eq!(
            (enter("rfc8289", 20, 15, 900), enter("ns2", 20, 15, 900)),
            (5, 1)
        );
        // A count above 126 also decays: 0.9844 times 200.
        assert_eq!(
            (enter("ns2", 128, 0, 10), enter("ns2", 200, 0, 10)),
            (126, 196)
        );
    }

    #[test]
    fn ns2_enters_sooner_when_the_last_state_is_recent() {
        for (dialect, wait) in [("rfc8289", Span::from_ms(100)), ("ns2", Span::from_ms(50))] {
            let mut vars = vars(&[("dialect", dialect)]);
            vars.on_empty();
            (vars.count, vars.drop_next) = (4, at(1000).as_ps());
            judge(&mut vars, at(1000), ABOVE);
            assert_eq!(
                vars.first_above,
                Some((at(1000) + wait).as_ps()),
                "{dialect}"
            );
        }
    }

    #[test]
    fn what_a_dialect_lacks_is_refused() {
        let refuse = |pairs: &[(&str, &str)]| {
            let pairs: Vec<_> = pairs
                .iter()
                .map(|(k, v)| (k.to_string(), v.to_string()))
                .collect();
            let params: CodelParams = build(None, &pairs).expect("parameters");
            CodelVars::new(&params)
                .expect_err("a contradiction")
                .to_string()
        };
        assert_eq!(
            refuse(&[("dialect", "ns2"), ("ecn", "true")]),
            "codel: ecn=true, but dialect ns2 has no ECN; leave it out or choose another dialect"
        );
        assert_eq!(
            refuse(&[("ce_threshold", "1ms")]),
            "codel: ce_threshold needs dialect linux or ns3; leave it out or choose one of them"
        );
        assert_eq!(
            refuse(&[("dialect", "ns3"), ("ce_threshold", "1ms")]),
            "codel: ce_threshold needs ecn=true in dialect ns3"
        );
    }

    #[test]
    fn the_threshold_marks_capable_packets_above_it_and_drops_none() {
        let mut vars = vars(&[("dialect", "linux"), ("ce_threshold", "1.024ms")]);
        let mut judge = |tos, us| vars.judge(&meta(1000, tos), Span::from_us(us), PLENTY, at(100));
        assert_eq!(judge(1, 1024), SENT);
        assert_eq!(judge(1, 1030), Verdict::Mark(MarkReason::Threshold));
        assert_eq!(judge(0, 1030), SENT);
    }

    /// CoDel as the sources write it, looping over packets in one call.
    struct Loop {
        vars: CodelVars,
        queue: VecDeque<(Time, u32)>,
        bytes: u64,
    }

    impl Loop {
        /// Positions of the packets dropped by one request at `now`, counted from the head.
        fn dequeue(&mut self, now: Time) -> usize {
            let ticks = self.vars.clock.at(now);
            let ns2 = self.vars.dialect == Dialect::Ns2;
            let mut dropped = 0;
            let kernel = matches!(self.vars.dialect, Dialect::Linux | Dialect::Ns3);
            if self.queue.is_empty() && kernel {
                // Both return before they look at the time of a packet.
                self.vars.dropping = false;
                return 0;
            }
            let mut ok = self.dodequeue(now);
            if self.vars.dropping {
                self.vars.dropping = ok;
                while self.vars.dropping && !self.vars.clock.before(ticks, self.vars.drop_next) {
                    dropped += 1;
                    if !ns2 {
                        self.step();
                    }
                    ok = self.dodequeue(now);
                    if ok {
                        if ns2 {
                            self.vars.count += 1;
                        }
                        self.vars.drop_next = self
                            .vars
                            .clock
                            .add(self.vars.drop_next, self.vars.spacing());
                    } else {
                        self.vars.dropping = false;
                    }
                }
            } else if ok {
                dropped += 1;
                self.dodequeue(now);
                self.vars.enter(ticks);
            }
            dropped
        }

        fn step(&mut self) {
            self.vars.count += 1;
            self.vars.inverse_sqrt = newton_step(self.vars.inverse_sqrt, self.vars.count);
        }

        fn dodequeue(&mut self, now: Time) -> bool {
            let Some((arrived, size)) = self.queue.pop_front() else {
                self.vars.first_above = None;
                return false;
            };
            self.bytes -= u64::from(size);
            if self.vars.dialect == Dialect::Ns2 {
                self.vars.mtu = self.vars.mtu.max(u64::from(size));
            }
            let waited = self.vars.clock.waited(now, now.since(arrived));
            self.vars
                .above_for_interval(waited, self.bytes, self.vars.clock.at(now))
        }
    }

    proptest! {
        /// The loop of the sources, cut into judgements of one packet each, drops the same packets.
        #[test]
        fn judging_packet_by_packet_equals_the_loop(
            dialect in 0_usize..4,
            seed in 0_u64..1000,
            load in 1_u64..40,
        ) {
            let dialect = CodelParams::DIALECTS[dialect].name;
            let vars = vars(&[("dialect", dialect), ("target", "2ms"), ("interval", "20ms")]);
            let mut reference = Loop { vars: vars.clone(), queue: VecDeque::new(), bytes: 0 };
            let mut single = Loop { vars, queue: VecDeque::new(), bytes: 0 };
            let mut rng = Stream::derive(seed, 0, "codel");
            let mut now = Time::ZERO;
            for _ in 0..3000 {
                now += Span::from_us(rng.below(1000));
                let burst = if now.as_ps() / 400_000_000_000 % 3 == 2 { 0 } else { rng.below(load) / 8 };
                for _ in 0..burst {
                    let size = 40 + u32::try_from(rng.below(1461)).expect("small");
                    for model in [&mut reference, &mut single] {
                        model.queue.push_back((now, size));
                        model.bytes += u64::from(size);
                    }
                }
                let expected = reference.dequeue(now);
                let mut dropped = 0;
                loop {
                    let Some((arrived, size)) = single.queue.pop_front() else {
                        single.vars.on_empty();
                        break;
                    };
                    single.bytes -= u64::from(size);
                    let (head, behind) = (meta(size, 0), single.bytes);
                    if single.vars.judge(&head, now.since(arrived), behind, now) == SENT {
                        break;
                    }
                    dropped += 1;
                }
                prop_assert_eq!(dropped, expected, "{} at {:?}", dialect, now);
                prop_assert_eq!(single.vars.count, reference.vars.count);
                prop_assert_eq!(single.vars.drop_next, reference.vars.drop_next);
            }
        }
    }
}
