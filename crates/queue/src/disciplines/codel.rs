//! CoDel: controlled delay.
//!
//! Source of the default dialect: RFC 8289 (January 2018), pseudo-code of section 5. A packet is judged at the head of
//! the queue by how long it waited. Once the wait has stayed at or above `target` for an `interval`, the packet is
//! dropped and the dropping state entered; in it further drops follow at `interval / sqrt(count)`, until a packet has
//! waited less than `target` or too little is left behind it.
//!
//! The pseudo-code loops over packets inside one call. Here each head of the queue is judged by itself
//! ([`CodelVars::judge`]), and what the loop knew of the packet before is the state `after`: the packet behind the drop
//! that entered the dropping state goes out whatever it waited, the packet behind a later drop schedules the next drop or
//! ends the state.
//!
//! Where dialects leave the RFC:
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
//!
//! Not in the RFC: `limit` (it leaves the buffer's end open) and `ecn` (it says drop; with `ecn` a capable packet is marked
//! and sent where the pseudo-code drops one, as Linux does). Its constant for the smallest backlog is 512 bytes with the
//! advice to use the MTU of the interface; `mtu` is 1500 bytes here.

use crate::aqm::{Aqm, Cx, Meta, Verdict, View};
use crate::registry::{BuildContext, Entry, SpecError};
use sojourn_sim::{DropReason, MarkReason};
use sojourn_units::{Bytes, Limit, Packets, Span, Time, params};

params! {
    /// Controlled delay: drops from the head once packets have waited too long for too long.
    pub struct CodelParams {
        /// Standing sojourn time that is acceptable.
        target: Span = "5ms", range "1us".."10s", source "RFC 8289 section 4.3";
        /// Time for which the sojourn time must stay at or above the target before a packet is dropped; about the largest
        /// usual round trip.
        interval: Span = "100ms", range "10us".."100s", source "RFC 8289 section 4.2";
        /// What may wait at most; an arrival beyond it is dropped.
        limit: Limit = "1000p", range "1p".., source "Linux sch_codel; RFC 8289 gives none";
        /// Mark ECN-capable packets instead of dropping them.
        ecn: bool = "false", source "Linux sch_codel; RFC 8289 drops";
        /// No packet is dropped when so much or less is left behind it (in dialect ns3: less).
        mtu: Bytes = "1500B", range "1B".., source "RFC 8289 section 5.3 lists 512 and advises the MTU of the interface; Ethernet's";
        /// Mark every ECN-capable packet that waited longer than this; dialects linux and ns3.
        ce_threshold: Option<Span> = "none", source "Linux sch_codel: disabled";
    }
    dialects {
        /// The pseudo-code of RFC 8289.
        rfc8289 = "rfc8289" {}
        /// Linux sch_codel.
        linux = "linux-6.1" {
            mtu = "1514B" from "Linux sch_codel.c: psched_mtu, MTU and Ethernet header";
        }
        /// The authors' CoDel for ns-2 (codel.cc, 2013).
        ns2 = "ns2-codel-2013" {
            limit = "50p" from "ns-2.35 tcl/lib/ns-default.tcl: Queue set limit_ 50";
            mtu = "256B" from "codel.cc: the largest packet seen starts at 256";
        }
        /// ns-3's CoDelQueueDisc.
        ns3 = "ns3-3.44" {
            limit = "1500kB" from "ns-3.44 codel-queue-disc.cc: MaxSize 1500 * 1000 bytes";
            mtu = "1500B" from "ns-3.44 codel-queue-disc.cc: MinBytes 1500";
        }
    }
}

/// The discipline.
pub struct Codel {
    limit: Limit,
    vars: CodelVars,
}

impl Entry for Codel {
    const NAME: &'static str = "codel";
    const TITLE: &'static str = "CoDel";
    const ABOUT: &'static str = "Controlled delay. Each packet carries the time at which it arrived; at the head of the \
        queue CoDel looks at how long it waited. A wait that stays at or above `target` for an `interval` means a standing \
        queue, and CoDel drops (or marks) head packets at a rate that grows with the square root of their number until the \
        queue is gone.\n\n\
        Expect a queue near `target` under long TCP flows, bursts shorter than `interval` unharmed, and a queue that grows \
        for seconds under an overload that does not respond: the control law is slow by design.";
    type Params = CodelParams;

    fn build(params: CodelParams, _: &BuildContext) -> Result<Self, SpecError> {
        Ok(Codel {
            limit: params.limit,
            vars: CodelVars::new(&params)?,
        })
    }
}

impl Aqm for Codel {
    #[inline]
    fn on_enqueue(&mut self, meta: &Meta, view: &View<'_>, _: &mut Cx<'_>) -> Verdict {
        let (packets, bytes) = (view.packets + 1, view.bytes + u64::from(meta.size));
        if self.limit.admits(Packets::new(packets), Bytes::new(bytes)) {
            Verdict::Pass
        } else {
            Verdict::Drop(DropReason::Overlimit)
        }
    }

    #[inline]
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

    fn state_names(&self) -> &'static [&'static str] {
        CodelVars::STATE_NAMES
    }

    fn state(&self, out: &mut Vec<f64>) {
        self.vars.state(out);
    }
}

/// The state machine without a queue: it is told of each head of a queue and says what becomes of it.
#[derive(Clone, Debug)]
pub struct CodelVars {
    clock: Clock,
    target: u64,
    interval: u64,
    mtu: u64,
    /// Beyond this sojourn time every capable packet is marked; `None` for never.
    ce_threshold: Option<u64>,
    ecn: bool,
    rules: Rules,
    /// When the sojourn time will have been above target for an interval; `None` while it is below.
    first_above: Option<u64>,
    /// When the next packet is dropped, in the dropping state; out of it, when it would have been.
    drop_next: u64,
    /// Drops since the dropping state was entered, carried over from the last time when that was recent.
    count: u32,
    /// `count` when the state was entered last.
    lastcount: u32,
    /// 1 / sqrt(count) in units of 2^-16, dialects linux and ns3.
    inverse_sqrt: u16,
    dropping: bool,
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

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rules {
    Rfc8289,
    Linux,
    Ns2,
    Ns3,
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
    pub const STATE_NAMES: &'static [&'static str] =
        &["count", "lastcount", "dropping", "drop_next_s"];

    /// The state of an empty queue.
    ///
    /// # Errors
    /// If the dialect has no ECN or no threshold, and one is asked for.
    pub fn new(params: &CodelParams) -> Result<CodelVars, SpecError> {
        let (rules, clock) = match params.dialect {
            "linux" => (Rules::Linux, Clock::WrappingTicks),
            "ns2" => (Rules::Ns2, Clock::Picoseconds),
            "ns3" => (Rules::Ns3, Clock::PlainTicks),
            _ => (Rules::Rfc8289, Clock::Picoseconds),
        };
        if params.ecn && rules == Rules::Ns2 {
            return Err(contradiction(
                "ecn=true, but dialect ns2 has no ECN; leave it out or choose another dialect",
            ));
        }
        if params.ce_threshold.is_some() && !matches!(rules, Rules::Linux | Rules::Ns3) {
            return Err(contradiction(
                "ce_threshold needs dialect linux or ns3; leave it out or choose one of them",
            ));
        }
        if params.ce_threshold.is_some() && !params.ecn && rules == Rules::Ns3 {
            return Err(contradiction("ce_threshold needs ecn=true in dialect ns3"));
        }
        Ok(CodelVars {
            clock,
            target: clock.length(params.target),
            interval: clock.length(params.interval),
            mtu: params.mtu.get(),
            ce_threshold: params.ce_threshold.map(|span| clock.length(span)),
            ecn: params.ecn,
            rules,
            // codel.cc starts with a time below zero, so the first packet above target may be dropped at once.
            first_above: (rules == Rules::Ns2).then_some(0),
            drop_next: 0,
            count: 0,
            lastcount: 0,
            inverse_sqrt: 0,
            dropping: false,
            after: After::Sent,
        })
    }

    /// Judges the head of the queue: `sojourn` is how long it waited, `behind` the bytes that wait behind it.
    #[inline]
    pub fn judge(&mut self, meta: &Meta, sojourn: Span, behind: u64, now: Time) -> Verdict {
        let now_ticks = self.clock.at(now);
        let waited = self.clock.waited(now, sojourn);
        if self.rules == Rules::Ns2 {
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
        self.first_above = None;
        self.dropping = false;
        self.after = After::Sent;
    }

    /// The values of [`CodelVars::STATE_NAMES`].
    pub fn state(&self, out: &mut Vec<f64>) {
        out.extend([
            f64::from(self.count),
            f64::from(self.lastcount),
            f64::from(u8::from(self.dropping)),
            self.clock.as_secs(self.drop_next),
        ]);
    }

    /// The RFC's dodequeue(): whether the sojourn time has been above target for an interval.
    #[inline]
    fn above_for_interval(&mut self, waited: u64, behind: u64, now: u64) -> bool {
        let little = match self.rules {
            Rules::Ns3 => behind < self.mtu,
            _ => behind <= self.mtu,
        };
        if little || self.clock.before(waited, self.target) {
            self.first_above = None;
            return false;
        }
        let Some(end) = self.first_above else {
            let wait = if self.rules == Rules::Ns2 && self.count > 1 && self.recent(now) {
                self.spacing()
            } else {
                self.interval
            };
            self.first_above =
                Some(self.clock.add(now, wait)).filter(|end| !self.clock.is_unset(*end));
            return false;
        };
        match self.rules {
            Rules::Rfc8289 | Rules::Ns2 => now >= end,
            Rules::Linux | Rules::Ns3 => self.clock.before(end, now),
        }
    }

    /// The RFC's dequeue(), for one packet of its loop.
    fn control(&mut self, may_drop: bool, meta: &Meta, now: u64) -> Verdict {
        match std::mem::replace(&mut self.after, After::Sent) {
            // The dropping state was entered just now: this packet goes out.
            After::EnteringDrop => return Verdict::Pass,
            After::LaterDrop if may_drop => {
                if self.rules == Rules::Ns2 {
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
        if self.rules != Rules::Ns2 {
            self.count = self.count.wrapping_add(1);
            self.inverse_sqrt = newton_step(self.inverse_sqrt, self.count);
        }
        if markable {
            let from = if self.rules == Rules::Ns3 {
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
        if self.rules == Rules::Ns2 {
            self.count = match self.count {
                n if n > NS2_DECAY_ABOVE + 2 && recent => decayed(n),
                n if n > 2 && recent => n - 2,
                _ => 1,
            };
        } else {
            let delta = self.count.wrapping_sub(self.lastcount);
            if delta > 1 && recent {
                self.count = delta;
                self.inverse_sqrt = newton_step(self.inverse_sqrt, delta);
            } else {
                self.count = 1;
                self.inverse_sqrt = ONE;
            }
        }
        self.lastcount = self.count;
        self.drop_next = self.clock.add(now, self.spacing());
    }

    /// Whether the last dropping state is not long ago.
    fn recent(&self, now: u64) -> bool {
        let intervals = match self.rules {
            Rules::Ns2 => NS2_RECENT_INTERVALS,
            _ => RECENT_INTERVALS,
        };
        self.clock
            .within(now, self.drop_next, self.interval, intervals)
    }

    /// interval / sqrt(count), in units of the clock.
    fn spacing(&self) -> u64 {
        match self.clock {
            Clock::Picoseconds => divided_by_sqrt(self.interval, self.count),
            // The kernel's reciprocal_scale: the high half of a product with a 32-bit fraction.
            Clock::WrappingTicks | Clock::PlainTicks => {
                (self.interval * (u64::from(self.inverse_sqrt) << 16)) >> 32
            }
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

/// One step of Newton's method towards 1 / sqrt(count): x' = x / 2 * (3 - count * x^2), in 32-bit fractions of which 16
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
    SpecError::Contradiction {
        discipline: Codel::NAME.to_owned(),
        text: text.to_owned(),
    }
}
