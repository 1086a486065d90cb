//! DualPI2: two coupled queues, for L4S and for Classic traffic.
//!
//! Sources: RFC 9332 (2023), appendix A with the edge cases of A.2, compared with its pseudo-code line by line (dialect rfc9332, the
//! default); Linux 6.17 net/sched/sch_dualpi2.c (dialect linux, read in a later stable release).
//!
//! Packets of ECT(1) and CE go to the L4S queue, others to the Classic queue. A proportional integral controller sets a base probability
//! p' by the longer delay of the two heads; Classic packets are dropped or marked with p'^2, L4S packets marked with k p' or by their own AQM's
//! probability, whichever is larger. Decisions are taken when a packet leaves.
//!
//! Differences between dialects:
//!
//! | | rfc9332 | linux |
//! |---|---|---|
//! | decisions | by recur(): the probabilities of a queue are summed, one is taken off for each mark or drop; nothing is drawn | draws of 32 bits up to p; p'^2 is two draws, the second only after the first |
//! | native AQM | a ramp from `min_th` to `min_th` + `range`, while more than `th_len` packets wait | a step above `min_th` (`range=0s`), whatever the rest decides |
//! | overload | k p' from 1 on: L4S packets are dropped with p'^2, the rest marked with k p'; Classic packets are all dropped, none marked, from p'^2 = 1/k^2 on | k p' above 1: as rfc9332, but L4S packets that are not dropped are all marked; with `drop_overload=false` p' is at most 1/k |
//! | no decision while | - | less than two packets of 1514 bytes are left in both queues |
//! | L4S packets | ECT(1) and CE | with `ect=any` ECT(0) too |
//! | decisions are taken | when a packet leaves | or, with `drop_early`, when it comes; the step always when it leaves |
//! | `th_len` | packets that wait when it leaves, itself included | packets that wait when it comes |
//! | memory | - | is limited too, counted as for FQ-CoDel |
//! | arithmetic | floating point | p' in units of 2^-32, delays in ns, gains in 1/256 |
//!
//! Scheduler: `wrr` is Linux's credit, whose sign chooses the queue when both have packets and which a sent packet moves by its size
//! times the other queue's weight (`c_protection` is that of the Classic queue); `time_shift` sends the L4S head unless the Classic head is
//! older by more than `tshift`. RFC 9332 leaves the scheduler open and recommends a weighted one.
//!
//! A limit in bytes keeps room for a packet of 1514 bytes in dialect rfc9332, whatever comes, so that large packets are not worse off.
//!
//! Left open by the RFC: k p' counts as 1 at most in recur() under overload, where its pseudo-code lets the excess add to later drops,
//! while its text says that the rest is marked; laqm() is given the wait of the packet that leaves, which counts for `th_len`.
//! Not here: appendix B's Curvy RED, Linux's filters, its step in packets and its splitting of large packets. The queues are the
//! algorithm, so that they take no other AQM (`each`).

use crate::disciplines::aqms::step::{Ramp, ramp};
use crate::entry::{self, Entry, SpecError};
use crate::flow_queue::memory_of;
use crate::nesting::NestingContext;
use crate::scheduler::{QueueState, Scheduler, SchedulerCx};
use crate::store::{Held, List, Store};
use crate::tc::Line;
use sojourn_sim::{DropReason, Ecn, MarkReason, Packet};
use sojourn_units::{Bytes, Limit, Packets, Span, Time, choice, params};
use std::collections::VecDeque;

choice! {
    /// Which packets go to the L4S queue.
    pub enum Capable {
        /// ECT(1) and CE.
        L4s = "l4s",
        /// Every ECN-capable packet.
        Any = "any",
    }
}

choice! {
    /// Which queue is served when both have packets.
    pub enum Between {
        /// Weighted round robin by a credit in bytes.
        Wrr = "wrr",
        /// The queue with the older head. The L4S head counts as older by `tshift`.
        TimeShift = "time_shift",
    }
}

params! {
    /// DualPI2: a short queue for L4S and a Classic queue, coupled so that their flows get about equal rates.
    pub struct DualPi2Params {
        /// Target delay of the Classic queue.
        target: Span = "15ms", range "1us".."4s", source "RFC 9332, appendix A: target";
        /// Time between updates of the base probability.
        tupdate: Span = "15ms", range "1us".."10s", source "RFC 9332, appendix A: min(target, RTT_max / 3)";
        /// Maximum total length of both queues. Arrivals beyond it are dropped.
        limit: Limit = "10000p", range "1p".., source "sch_dualpi2.c; RFC 9332: 250 ms at the link's largest rate";
        /// Weight of the deviation from the target, per second.
        alpha: f64 = "0.15", range "0".."1000", source "RFC 9332, appendix A: 0.1 Tupdate / RTT_max^2, RTT_max 100 ms";
        /// Weight of the change of the delay, per second.
        beta: f64 = "3", range "0".."1000", source "RFC 9332, appendix A: 0.3 / RTT_max";
        /// Coupling factor: L4S packets are marked with this times the base probability.
        coupling: u32 = "2", range "1".."255", source "RFC 9332, appendix A: k 2";
        /// Delay in the L4S queue up to which the native AQM marks no packets.
        min_th: Span = "800us", range "0s".."4s", source "RFC 9332, appendix A: minTh",
            acts "the delay in the L4S queue is about this long";
        /// Width of the ramp above `min_th`; zero for a step.
        range: Span = "400us", range "0s".."4s", source "RFC 9332, appendix A: range",
            acts "the delay in the L4S queue is about this long";
        /// The native AQM marks no packets while at most this number of packets are in the L4S queue. In dialect linux:
        /// while an arriving packet finds fewer there.
        th_len: u64 = "1", range "0".., source "RFC 9332, A.2: Th_len 1 packet";
        /// Which queue is served when both have packets.
        schedule: Between = "wrr", source "RFC 9332, A.2: a weighted scheduler is recommended";
        /// Weight of the Classic queue in percent.
        c_protection: u32 = "10", range "0".."100", source "sch_dualpi2.c: 10; RFC 9332, A.2: a small one, such as 1/16",
            where schedule is "wrr";
        /// Time by which the L4S head counts as older.
        tshift: Span = "50ms", range "0s".."10s", source "RFC 9332, A.2: for the public Internet",
            where schedule is "time_shift";
        /// Drop L4S packets under overload instead of letting the queue fill; dialect linux.
        drop_overload: bool = "true", source "RFC 9332, A.2";
        /// Apply the base probability when a packet arrives instead of when it leaves; dialect linux.
        drop_early: bool = "false", source "RFC 9332, appendix A: at dequeue";
        /// Which packets go to the L4S queue. `any` needs dialect linux.
        ect: Capable = "l4s", source "RFC 9331 section 5.1: ECT(1) and CE";
        /// Maximum memory of queued packets, as Linux's allocator counts it; dialect linux. With none: 3028 bytes for
        /// each packet of the limit.
        memory_limit: Option<Bytes> = "none", range "1kB".., source "RFC 9332 gives none; sch_dualpi2.c: get_memory_limit";
    }
    dialects Dialect {
        /// RFC 9332.
        rfc9332 as Rfc9332 = "rfc9332" {}
        /// Linux sch_dualpi2.
        linux as Linux = "linux-6.17" {
            tupdate = "16ms" from "sch_dualpi2.c: 16 ms";
            alpha = "0.16015625" from "sch_dualpi2.c: 41/256";
            beta = "3.19921875" from "sch_dualpi2.c: 819/256";
            min_th = "1ms" from "sch_dualpi2.c: step_thresh 1 ms";
            range = "0s" from "sch_dualpi2.c: a step";
            th_len = "0" from "sch_dualpi2.c: min_qlen_step 0";
        }
    }
}

/// The discipline.
pub struct DualPi2 {
    params: DualPi2Params,
    /// Integral and proportional gain in dialect linux: per 64 ns, in units of 2^-32.
    gains: Option<(i64, i64)>,
    /// The L4S queue.
    l4s: List,
    /// The Classic queue.
    classic: List,
    /// Bytes in both queues.
    bytes: u64,
    /// Bytes in the L4S queue.
    l4s_bytes: u64,
    /// Whether the step applies, for each packet of the L4S queue; dialect linux.
    steps: VecDeque<bool>,
    /// Kernel memory of the packets that wait, in bytes; dialect linux.
    memory: u64,
    /// The most of it, in bytes.
    memory_limit: u64,
    /// p', 0 to 1.
    base: f64,
    /// p' in units of 2^-32; dialect linux.
    base_linux: u32,
    /// Queue delay at the last update.
    delay: Span,
    /// Probability by the L4S queue's own AQM, as of its last packet.
    native: f64,
    /// Credit of the scheduler `wrr`, in hundredths of a byte: its sign chooses the queue.
    credit: i64,
    /// When the next update is due.
    next: Time,
    /// Spreads marks of the L4S queue.
    l4s_sum: Ramp,
    /// Spreads drops and marks of the Classic queue.
    classic_sum: Ramp,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Passes,
    Marked,
    Dropped,
}

impl Entry<NestingContext> for DualPi2 {
    const NAME: &'static str = "dualpi2";
    const TITLE: &'static str = "DualPI2";
    const MARKS: bool = true;
    const ABOUT: &'static str = "DualPI2 is the coupled dual queue of L4S. ECT(1) and CE packets have their own queue, which is nearly always served first and marks packets above about a millisecond of delay. All other packets go to a Classic queue, whose delay PI2 keeps at `target`. L4S packets are also marked with twice the square root of the Classic drop probability, so that a scalable flow and a Classic flow get about equal rates.\n\n\
        Expect delays below a millisecond or two for scalable congestion control (Prague), and `target` for Reno and CUBIC on the same link. Bursty arrivals are marked too often and leave the link partly idle. At rates so low that a packet takes a millisecond, raise the native threshold. An unresponsive L4S flow gets drops only once the base probability is 1/2.";
    type Params = DualPi2Params;

    fn time_constant(params: &DualPi2Params, _: Span) -> Option<entry::TimeConstant> {
        // The square of 0.1 is a probability of 1 %.
        entry::TimeConstant::of_integral(0.1, params.alpha, params.target, params.tupdate)
    }

    fn build(params: DualPi2Params, _: &NestingContext) -> Result<Self, SpecError> {
        let linux = params.dialect == Dialect::Linux;
        if !linux && !params.drop_overload {
            return Err(contradiction(
                "drop_overload=false, which only dialect linux has; leave it out or choose dialect linux",
            ));
        }
        if !linux
            && (params.drop_early || params.ect != Capable::L4s || params.memory_limit.is_some())
        {
            return Err(contradiction(
                "drop_early, ect=any or memory_limit, which only dialect linux has; leave it out or choose dialect linux",
            ));
        }
        let mut gains = None;
        if linux {
            if !params.range.is_zero() {
                return Err(contradiction(
                    "range is not zero, but dialect linux has only a step; leave range out or choose dialect rfc9332",
                ));
            }
            let scaled = (linux_gain(params.alpha), linux_gain(params.beta));
            let (Some(alpha), Some(beta)) = scaled else {
                return Err(contradiction(
                    "alpha or beta is not a whole number of 1/256, as Linux has it (0.16015625 is 41/256)",
                ));
            };
            gains = Some((alpha, beta));
        }
        let mut queue = DualPi2 {
            gains,
            l4s: List::default(),
            classic: List::default(),
            bytes: 0,
            l4s_bytes: 0,
            steps: VecDeque::new(),
            memory: 0,
            memory_limit: match (params.memory_limit, params.limit) {
                (Some(limit), _) => limit.get(),
                (None, Limit::Packets(limit)) if linux => {
                    limit.get().saturating_mul(2 * MTU.unsigned_abs())
                }
                _ => u64::MAX,
            },
            base: 0.0,
            base_linux: 0,
            delay: Span::ZERO,
            native: 0.0,
            credit: 0,
            next: Time::ZERO + params.tupdate,
            l4s_sum: Ramp::default(),
            classic_sum: Ramp::default(),
            params,
        };
        queue.reset_credit();
        Ok(queue)
    }

    fn tc(params: &DualPi2Params) -> Option<Line> {
        let line = Line::root("dualpi2")
            .packets("limit", Some(params.limit))
            .time("target", params.target)
            .time("tupdate", params.tupdate)
            .option("alpha", params.alpha)
            .option("beta", params.beta)
            .option("coupling_factor", params.coupling)
            .time("step_thresh", params.min_th)
            .option("min_qlen_step", params.th_len)
            .word(if params.drop_overload {
                "drop_on_overload"
            } else {
                "overflow"
            })
            .word(if params.drop_early {
                "drop_enqueue"
            } else {
                "drop_dequeue"
            })
            .word(match params.ect {
                Capable::L4s => "l4s_ect",
                Capable::Any => "any_ect",
            })
            .option("classic_protection", format!("{}%", params.c_protection));
        Some(match params.memory_limit {
            Some(limit) => line.option("memlimit", limit.get()),
            None => line,
        })
    }
}

impl Scheduler for DualPi2 {
    fn enqueue(&mut self, packet: Held, cx: &mut SchedulerCx) {
        self.tick(&cx.store, cx.now);
        let packets = Packets::new(self.backlog().0 + 1);
        let bytes = self.bytes + u64::from(packet.size);
        let room = match self.gains {
            None => bytes.max(self.bytes + MTU.unsigned_abs()),
            Some(_) => bytes,
        };
        let memory = self.memory + memory_of(packet.size);
        if !self.params.limit.admits(packets, Bytes::new(room)) || memory > self.memory_limit {
            cx.drop(packet, DropReason::Overlimit);
            return;
        }
        let ecn = cx.store.packet(&packet).ecn();
        let to_l4s = match ecn {
            Ecn::Ect1 | Ecn::Ce => true,
            Ecn::Ect0 => self.params.ect == Capable::Any,
            Ecn::NotEct => false,
        };
        if self.params.drop_early {
            match self.roll(ecn, to_l4s, cx) {
                Fate::Passes => {}
                Fate::Marked => {
                    cx.mark(&packet, MarkReason::Early);
                }
                Fate::Dropped => {
                    cx.drop(packet, DropReason::Early);
                    return;
                }
            }
        }
        (self.bytes, self.memory) = (bytes, memory);
        if to_l4s {
            self.l4s_bytes += u64::from(packet.size);
            if self.gains.is_some() {
                self.steps.push_back(self.l4s.len() >= self.params.th_len);
            }
            cx.store.push_back(&mut self.l4s, packet);
        } else {
            cx.store.push_back(&mut self.classic, packet);
        }
    }

    fn dequeue(&mut self, cx: &mut SchedulerCx) -> Option<Held> {
        self.tick(&cx.store, cx.now);
        loop {
            let both = !self.l4s.is_empty() && !self.classic.is_empty();
            let from_l4s = self.chooses_l4s(&cx.store);
            let taken = if from_l4s {
                cx.store.pop_front(&mut self.l4s)
            } else {
                cx.store.pop_front(&mut self.classic)
            };
            let Some(packet) = taken else {
                self.reset_credit();
                return None;
            };
            self.bytes -= u64::from(packet.size);
            self.memory -= memory_of(packet.size);
            if from_l4s {
                self.l4s_bytes -= u64::from(packet.size);
            }
            let fate = match (self.gains.is_some(), from_l4s) {
                (false, true) => self.judge_l4s(cx.store.packet(&packet), cx.now),
                (false, false) => self.judge_classic(cx.store.packet(&packet)),
                (true, _) => self.judge_as_linux(&packet, from_l4s, cx),
            };
            match fate {
                Fate::Passes => {}
                Fate::Marked => {
                    cx.mark(&packet, MarkReason::Early);
                }
                Fate::Dropped => {
                    cx.drop(packet, DropReason::Early);
                    continue;
                }
            }
            if both {
                let (classic, size) = (i64::from(self.params.c_protection), i64::from(packet.size));
                self.credit += size * if from_l4s { classic } else { classic - 100 };
            }
            return Some(packet);
        }
    }

    fn on_empty(&mut self, _: Time) {
        self.reset_credit();
    }

    fn catch_up(&mut self, cx: &mut SchedulerCx) {
        self.tick(&cx.store, cx.now);
    }

    fn backlog(&self) -> (u64, u64) {
        (self.l4s.len() + self.classic.len(), self.bytes)
    }

    fn queues(&self, show: &mut dyn FnMut(QueueState<'_>)) {
        let classic_bytes = self.bytes - self.l4s_bytes;
        let queues = [(&self.l4s, self.l4s_bytes), (&self.classic, classic_bytes)];
        for ((queue, bytes), number) in queues.into_iter().zip(0..) {
            show(QueueState {
                number,
                packets: queue.len(),
                bytes,
                deficit: None,
                inside: &(),
            });
        }
    }

    fn state_names(&self) -> &'static [&'static str] {
        &[
            "base_probability",
            "queue_delay_s",
            "l4s_packets",
            "classic_packets",
            "classic_probability",
            "coupled_probability",
            "l4s_probability",
        ]
    }

    fn state(&self, out: &mut Vec<f64>) {
        let base = if self.gains.is_some() {
            f64::from(self.base_linux) / f64::from(u32::MAX)
        } else {
            self.base
        };
        let coupled = (f64::from(self.params.coupling) * base).min(1.0);
        let count = |queue: &List| u32::try_from(queue.len()).map_or(f64::INFINITY, f64::from);
        out.extend([
            base,
            self.delay.as_secs_f64(),
            count(&self.l4s),
            count(&self.classic),
            base * base,
            coupled,
            self.native.max(coupled),
        ]);
    }
}

impl DualPi2 {
    fn reset_credit(&mut self) {
        self.credit = MTU * (2 * i64::from(self.params.c_protection) - 100);
    }

    fn chooses_l4s(&self, store: &Store) -> bool {
        let (Some(l4s), Some(classic)) = (store.front(&self.l4s), store.front(&self.classic))
        else {
            return !self.l4s.is_empty();
        };
        match self.params.schedule {
            Between::Wrr => self.credit <= 0,
            Between::TimeShift => l4s.arrived() <= classic.arrived() + self.params.tshift,
        }
    }

    fn judge_l4s(&mut self, packet: &Packet, now: Time) -> Fate {
        let coupled = f64::from(self.params.coupling) * self.base;
        if coupled < 1.0 {
            let waited = self.l4s.len();
            let native = if waited >= self.params.th_len {
                let low = self.params.min_th;
                let high = low + self.params.range;
                native(now.since(packet.arrived()), low, high)
            } else {
                0.0
            };
            self.native = native;
            return marked(self.l4s_sum.recurs(native.max(coupled)));
        }
        if self.l4s_sum.recurs(self.base * self.base) {
            return Fate::Dropped;
        }
        // At most 1: the excess would be spent on later drops.
        marked(self.l4s_sum.recurs(coupled.min(1.0)))
    }

    fn judge_classic(&mut self, packet: &Packet) -> Fate {
        let p = self.base * self.base;
        if !self.classic_sum.recurs(p) {
            return Fate::Passes;
        }
        let k = f64::from(self.params.coupling);
        if packet.ecn() == Ecn::NotEct || p >= (1.0 / (k * k)).min(1.0) {
            Fate::Dropped
        } else {
            Fate::Marked
        }
    }

    fn judge_as_linux(&mut self, packet: &Held, from_l4s: bool, cx: &mut SchedulerCx) -> Fate {
        let packet = cx.store.packet(packet);
        let (ecn, waited) = (packet.ecn(), cx.now.since(packet.arrived()).as_ns());
        let fate = match self.params.drop_early {
            true => Fate::Passes,
            false => self.roll(ecn, from_l4s, cx),
        };
        let applies = from_l4s && self.steps.pop_front() == Some(true);
        let beyond = applies && waited > self.params.min_th.as_ns();
        if from_l4s {
            self.native = f64::from(u8::from(beyond));
        }
        if fate == Fate::Passes && beyond {
            // One that was marked when it came stays so.
            marked(ecn != Ecn::Ce || !self.params.drop_early)
        } else {
            fate
        }
    }

    /// What the base probability makes of a packet in dialect linux.
    fn roll(&self, ecn: Ecn, l4s: bool, cx: &mut SchedulerCx) -> Fate {
        if self.bytes < 2 * MTU.unsigned_abs() {
            Fate::Passes
        } else if l4s {
            self.roll_l4s(cx)
        } else {
            self.roll_classic(ecn, cx)
        }
    }

    fn roll_l4s(&self, cx: &mut SchedulerCx) -> Fate {
        let p = self.base_linux;
        let coupled = u64::from(p) * u64::from(self.params.coupling);
        match u32::try_from(coupled) {
            Ok(coupled) => marked(rolls(coupled, cx)),
            Err(_) if self.params.drop_overload && rolls(p, cx) && rolls(p, cx) => Fate::Dropped,
            Err(_) => Fate::Marked,
        }
    }

    fn roll_classic(&self, ecn: Ecn, cx: &mut SchedulerCx) -> Fate {
        let p = self.base_linux;
        if !(rolls(p, cx) && rolls(p, cx)) {
            return Fate::Passes;
        }
        let overload = p.checked_mul(self.params.coupling).is_none();
        if overload || ecn == Ecn::NotEct {
            Fate::Dropped
        } else {
            Fate::Marked
        }
    }

    /// Makes the updates that are due by `now`.
    fn tick(&mut self, store: &Store, now: Time) {
        while self.next <= now {
            let age = |queue: &List| {
                store
                    .front(queue)
                    .map_or(Span::ZERO, |head| self.next.since(head.arrived()))
            };
            let delay = age(&self.classic).max(age(&self.l4s));
            match self.gains {
                None => self.update(delay),
                Some(gains) => self.update_as_linux(delay, gains),
            }
            self.next = self.next.saturating_add(self.params.tupdate);
        }
    }

    fn update(&mut self, delay: Span) {
        let (now, before) = (delay.as_secs_f64(), self.delay.as_secs_f64());
        let target = self.params.target.as_secs_f64();
        let step = self.params.alpha * (now - target) + self.params.beta * (now - before);
        self.base = (self.base + step).clamp(0.0, 1.0);
        self.delay = delay;
    }

    fn update_as_linux(&mut self, delay: Span, (alpha, beta): (i64, i64)) {
        let ns = |span: Span| span.as_ns().cast_signed();
        let toward = (ns(delay) - ns(self.params.target)).wrapping_mul(alpha);
        let delta = toward.wrapping_add((ns(delay) - ns(self.delay)).wrapping_mul(beta));
        self.delay = delay;
        let old = self.base_linux;
        let step = low_32(delta.unsigned_abs() >> GRANULARITY_LOG);
        let new = if delta > 0 {
            let sum = old.wrapping_add(step);
            if sum < old { u32::MAX } else { sum }
        } else {
            let difference = old.wrapping_sub(step);
            if difference > old { 0 } else { difference }
        };
        self.base_linux = if self.params.drop_overload {
            new
        } else {
            new.min(u32::MAX / self.params.coupling)
        };
    }
}

fn marked(marks: bool) -> Fate {
    if marks { Fate::Marked } else { Fate::Passes }
}

/// RFC 9332's laqm(); a step if both ends are equal.
fn native(waited: Span, low: Span, high: Span) -> f64 {
    ramp(waited.as_ps(), low.as_ps(), high.as_ps())
}

/// Linux's draw of 32 bits.
fn rolls(p: u32, cx: &mut SchedulerCx) -> bool {
    cx.rng.bits() >> 32 <= u64::from(p)
}

/// A gain in 1/256, scaled as Linux does it, if it is a whole number of them.
fn linux_gain(gain: f64) -> Option<i64> {
    let parts = (0..256_000_u32).find(|n| (f64::from(*n) / 256.0).to_bits() == gain.to_bits())?;
    let scaled = ((u64::from(parts) * u64::from(u32::MAX)) >> 2) / 1_000_000_000;
    i64::try_from(scaled).ok()
}

/// psched_mtu of Linux: 1500 bytes and 14 of Ethernet.
const MTU: i64 = 1514;
/// Linux's gains are per 2^6 ns.
const GRANULARITY_LOG: u32 = 6;

#[allow(clippy::as_conversions, reason = "cut as Linux's u32 does")]
const fn low_32(n: u64) -> u32 {
    n as u32
}

fn contradiction(text: &str) -> SpecError {
    entry::contradiction(DualPi2::NAME, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::built_scheduler;

    type Bench = crate::testing::Bench<DualPi2>;

    /// What happened in a call: the packet, drops and marks.
    struct Happened {
        sent: Option<Packet>,
        drops: usize,
        marks: usize,
    }

    impl Bench {
        fn arrive(&mut self, tos: u8) -> usize {
            self.offer_with(0, 1000, |packet| packet.tos = tos);
            self.drops.drain(..).count()
        }

        fn happened(&mut self) -> Happened {
            let sent = self.take();
            Happened {
                sent,
                drops: self.drops.drain(..).count(),
                marks: self.marks.drain(..).count(),
            }
        }
    }

    #[test]
    fn both_queues_backlogged_share_by_the_weights() {
        for dialect in ["rfc9332", "linux"] {
            let mut bench =
                Bench::new(&format!("dialect={dialect} tupdate=10s min_th=4s range=0s"));
            for _ in 0..2000 {
                bench.arrive(0);
                bench.arrive(1);
            }
            let sent: Vec<u8> = (0..2000)
                .map(|_| bench.happened().sent.expect("a packet").tos)
                .collect();
            let classic = sent.iter().filter(|tos| **tos == 0).count();
            assert!((190..=210).contains(&classic), "{dialect}: {classic}");
            assert_eq!(sent[0], 1, "{dialect}: L4S goes first");
        }
    }

    #[test]
    fn the_time_shift_sends_the_l4s_head_unless_the_other_is_much_older() {
        let mut bench = Bench::new("schedule=time_shift tshift=50ms tupdate=10s");
        bench.arrive(0);
        bench.now += Span::from_ms(50);
        bench.arrive(1);
        assert_eq!(bench.happened().sent.map(|packet| packet.tos), Some(1));
        bench.now += Span::from_ps(1);
        bench.arrive(1);
        assert_eq!(bench.happened().sent.map(|packet| packet.tos), Some(0));
    }

    #[test]
    fn the_base_probability_follows_the_classic_delay() {
        let mut bench = Bench::new("");
        bench.arrive(0);
        bench.now += Span::from_ms(30);
        bench.queue.tick(&bench.store, bench.now);
        // At 15 ms and at 30 ms.
        let expected = 3.0 * 0.015 + (0.15 * 0.015 + 3.0 * 0.015);
        assert!((bench.queue.base - expected).abs() < 1e-12);
    }

    #[test]
    fn the_base_probability_follows_the_l4s_delay_where_it_is_the_longer_one() {
        let mut bench = Bench::new("");
        bench.arrive(1);
        bench.now += Span::from_ms(5);
        bench.arrive(0);
        bench.now += Span::from_ms(25);
        bench.queue.tick(&bench.store, bench.now);
        // At 15 ms and at 30 ms; the Classic head came 5 ms later.
        let expected = 3.0 * 0.015 + (0.15 * 0.015 + 3.0 * 0.015);
        assert!((bench.queue.base - expected).abs() < 1e-12);
    }

    #[test]
    fn l4s_traffic_that_does_not_respond_is_dropped_from_without_classic_traffic() {
        let mut bench = Bench::new("limit=1000p");
        let mut dropped = 0;
        // Twice what the link takes, ten seconds long.
        for _ in 0..10_000 {
            bench.arrive(1);
            bench.arrive(1);
            bench.now += Span::from_ms(1);
            dropped += bench.happened().drops;
        }
        assert!(dropped > 4000, "{dropped}");
        assert!(bench.queue.backlog().0 < 100);
    }

    #[test]
    fn a_limit_in_bytes_keeps_room_for_a_large_packet() {
        let mut bench = Bench::new("limit=3kB");
        // 1000 bytes each, and 1514 free before each.
        assert_eq!([0, 0, 0].map(|tos| bench.arrive(tos)), [0, 0, 1]);
        assert_eq!(bench.queue.backlog(), (2, 2000));
    }

    #[test]
    fn a_ramp_of_no_width_marks_at_its_threshold_too() {
        let low = Span::from_ms(1);
        assert_eq!(native(low, low, low).to_bits(), 1.0_f64.to_bits());
        assert_eq!(
            native(low - Span::from_ps(1), low, low).to_bits(),
            0.0_f64.to_bits()
        );
    }

    #[test]
    fn the_time_shift_is_that_of_the_rfc() {
        assert_eq!(DualPi2Params::default().tshift, Span::from_ms(50));
    }

    #[test]
    fn the_state_has_what_follows_from_the_base_probability() {
        for dialect in ["rfc9332", "linux"] {
            let mut bench = Bench::new(&format!("dialect={dialect} min_th=1ms th_len=1"));
            // A native mark needs another packet: behind this one, or before it in dialect linux. They stay beyond ramp and step.
            (0..3).for_each(|_| {
                bench.arrive(1);
            });
            bench.queue.base = 0.125;
            bench.queue.base_linux = u32::MAX / 8;
            bench.now += Span::from_ms(5);
            assert_eq!(bench.send_numbers(2).len(), 2, "{dialect}");
            let state = bench.state();
            let names = bench.queue.state_names();
            let of = |name: &str| {
                let place = names.iter().position(|own| *own == name);
                state[place.expect("a name")]
            };
            assert!((of("base_probability") - 0.125).abs() < 1e-9, "{dialect}");
            let classic = of("classic_probability");
            assert!((classic - 0.125 * 0.125).abs() < 1e-9, "{dialect}");
            assert!((of("coupled_probability") - 0.25).abs() < 1e-9, "{dialect}");
            assert!((of("l4s_probability") - 1.0).abs() < 1e-9, "{dialect}");
        }
    }

    #[test]
    fn linux_moves_the_base_probability_nearly_as_its_gains_say() {
        let mut bench = Bench::new("dialect=linux");
        bench.arrive(1);
        bench.now += Span::from_ms(16);
        bench.queue.tick(&bench.store, bench.now);
        let mut state = Vec::new();
        bench.queue.state(&mut state);
        // The gains are cut: 44 and 878 of 2^-32 per 64 ns.
        let expected = 41.0 / 256.0 * 0.001 + 819.0 / 256.0 * 0.016;
        assert!((state[0] / expected - 1.0).abs() < 0.01, "{}", state[0]);
        assert!((state[1] - 0.016).abs() < 1e-12);
    }

    #[test]
    fn classic_packets_meet_the_square_and_l4s_packets_twice_the_base() {
        for dialect in ["rfc9332", "linux"] {
            let mut bench =
                Bench::new(&format!("dialect={dialect} tupdate=10s min_th=4s range=0s"));
            bench.queue.base = 0.3;
            bench.queue.base_linux = u32::MAX / 10 * 3;
            let mut marks = |tos: u8| {
                for _ in 0..5010 {
                    bench.arrive(tos);
                }
                let marks: usize = (0..5000).map(|_| bench.happened().marks).sum();
                while bench.happened().sent.is_some() {}
                marks
            };
            let (l4s, classic) = (marks(1), marks(2));
            assert!((2850..=3150).contains(&l4s), "{dialect}: {l4s}");
            assert!((380..=520).contains(&classic), "{dialect}: {classic}");
        }
    }

    #[test]
    fn the_native_aqm_marks_by_delay() {
        for (dialect, none, all) in [("rfc9332", 800, 1200), ("linux", 1000, 1001)] {
            let marks = |us: u64| {
                let mut bench = Bench::new(&format!("dialect={dialect} tupdate=10s"));
                for _ in 0..101 {
                    bench.arrive(1);
                }
                bench.now += Span::from_us(us);
                (0..100).map(|_| bench.happened().marks).sum::<usize>()
            };
            assert_eq!(marks(none), 0, "{dialect}");
            // The sum of the ramp must exceed one first.
            assert!(marks(all) >= 99, "{dialect}: {}", marks(all));
        }
    }

    #[test]
    fn overload_drops_capable_packets() {
        for dialect in ["rfc9332", "linux"] {
            for tos in [1, 2] {
                let mut bench = Bench::new(&format!("dialect={dialect} tupdate=10s"));
                bench.queue.base = 0.8;
                bench.queue.base_linux = u32::MAX / 10 * 8;
                for _ in 0..2000 {
                    bench.arrive(tos);
                }
                let mut drops = 0;
                loop {
                    let happened = bench.happened();
                    drops += happened.drops;
                    if happened.sent.is_none() {
                        break;
                    }
                }
                assert!((1180..=1380).contains(&drops), "{dialect} {tos}: {drops}");
            }
        }
    }

    #[test]
    fn linux_without_drops_on_overload_only_marks_l4s() {
        let mut bench = Bench::new("dialect=linux drop_overload=false tupdate=1ms");
        for _ in 0..200 {
            bench.arrive(1);
        }
        bench.now += Span::from_secs(3);
        let first = bench.happened();
        assert_eq!((first.drops, first.marks), (0, 1));
        assert_eq!(bench.queue.base_linux, u32::MAX / 2);
    }

    #[test]
    fn linux_decides_early_on_request_and_limits_memory() {
        let mut bench = Bench::new("dialect=linux drop_early=true tupdate=10s");
        bench.queue.base_linux = u32::MAX;
        // Less than two packets of 1514 bytes wait before the fifth.
        let dropped: Vec<usize> = (0..6).map(|_| bench.arrive(0)).collect();
        assert_eq!(dropped, [0, 0, 0, 0, 1, 1]);
        let mut bench = Bench::new("dialect=linux memory_limit=6kB ect=any");
        let dropped: Vec<usize> = (0..3).map(|_| bench.arrive(2)).collect();
        // A packet of 1000 bytes takes 2304.
        assert_eq!(dropped, [0, 0, 1]);
        assert_eq!(bench.queue.l4s.len(), 2);
    }

    #[test]
    fn the_limit_counts_both_queues() {
        let mut bench = Bench::new("limit=3p");
        assert_eq!(bench.arrive(0) + bench.arrive(1) + bench.arrive(2), 0);
        assert_eq!(bench.arrive(1), 1);
        assert_eq!(bench.queue.backlog(), (3, 3000));
    }

    #[test]
    fn what_a_dialect_has_not_is_an_error() {
        for (spec, expected) in [
            ("drop_overload=false", "only dialect linux"),
            ("drop_early=true", "only dialect linux"),
            ("ect=any", "only dialect linux"),
            ("dialect=linux range=1ms", "only a step"),
            ("dialect=linux alpha=0.16", "1/256"),
        ] {
            let error = built_scheduler::<DualPi2>(spec)
                .err()
                .expect("an error")
                .to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
