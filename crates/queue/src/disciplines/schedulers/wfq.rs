//! WFQ: weighted fair queueing, the packet approximation of generalized processor sharing, and its self-clocked variant.
//!
//! Sources of the default dialect: A. Demers, S. Keshav and S. Shenker, "Analysis and Simulation of a Fair Queueing Algorithm",
//! SIGCOMM 1989; A. K. Parekh and R. G. Gallager, "A Generalized Processor Sharing Approach to Flow Control in Integrated Services
//! Networks: The Single-Node Case", IEEE/ACM ToN 1(3), 1993; with `clock=self` S. J. Golestani, "A Self-Clocked Fair Queueing Scheme
//! for Broadband Applications", INFOCOM 1994. None of them was available when this was written; the equations are
//! retold in many texts. A packet of L bits that arrives at t in a flow of weight w gets the finish tag max(the flow's
//! last tag, V(t)) + L / w, and the packet with the least tag is sent. With `clock=gps` V grows by rate / (sum of
//! weights) per second, summed over the flows that are backlogged in the fluid system: those whose last tag is above V.
//! With `clock=self` V is the tag of the packet in transmission.
//!
//! Tags are integers of 2^-48 of a bit and are compared after rounding to 2^-20, so that tags that are equal on paper are equal
//! here; of equal ones the queue seen first goes first. Tags and V start at 0 anew when the transmitter finds nothing to send.
//! At the limit the packet that came last is dropped from the queue with the most in it, in the unit of the limit (Demers and
//! others: the source that uses most buffers loses its last packet); the queue's last tag is then where the packet's own began.
//! A packet that the AQM of a queue drops has been served in the fluid system all the same.
//!
//! Dialect `ns2` is ns-2.35's fq.cc: each flow has a queue of its own (`each`) and, past it, one packet at the head of the line.
//! A packet that comes there has the start time max(now, the flow's last finish time); when one is to be sent, that with the least
//! start + (number of flows with a packet there) * size / rate goes, and this is the flow's finish time. Times are doubles in
//! seconds, as there; of equal ones the flow of the least number goes first. The head of the line is not counted by the
//! limit of `each`. It knows no weights and stops at 32 flows; here there may be more.

use crate::child::{Backlog, Child};
use crate::classify::{Classifier, Classify, Hash};
use crate::entry::{Entry, SpecError};
use crate::longest::{Longest, Rank};
use crate::nesting::{Each, NestingContext};
use crate::ordered::Ordered;
use crate::scheduler::{QueueState, Scheduler, SchedulerCx};
use crate::store::{Held, List};
use crate::weights::Weights;
use sojourn_sim::{DropReason, Packet, to_usize as at};
use sojourn_units::{Limit, Rate, Span, Spec, Time, choice, params};

choice! {
    /// What the virtual time follows.
    pub enum WfqClock {
        /// The fluid system: generalized processor sharing.
        Gps = "gps",
        /// The tag of the packet in transmission: self-clocked fair queueing.
        Own = "self",
    }
}

params! {
    /// Weighted fair queueing: packets leave in the order in which an ideal fluid server would finish them.
    pub struct WfqParams {
        /// Source of the virtual time; not in dialect ns2.
        clock: WfqClock = "gps", source "Parekh and Gallager 1993: packet-by-packet GPS";
        /// Weight of each class: of flow 0, flow 1 and so on. The last weight applies to all others; not in dialect
        /// ns2.
        weights: Weights = "1", source "Demers, Keshav and Shenker 1989: equal";
        /// Which packets share a queue.
        classify: Classify = "flow", source "Parekh and Gallager 1993: sessions";
        /// Number of queues. A hash assigns flows to them. With none, each flow has its own queue.
        buckets: Option<u32> = "none", range "1".."1000000", source "the papers: a queue for each",
            acts "flows share a queue by their hash";
        /// Use a different hash key in every replication.
        perturb: bool = "false", source "the papers: no hash",
            where buckets not "none",
            acts "flows share a queue by their hash";
        /// Maximum total length of all queues.
        limit: Option<Limit> = "1000p", range "1p".., source "the same as for other queues; the papers give none";
        /// Discipline of each queue.
        each: Spec = "droptail limit=none", source "the papers: one limit over all queues";
    }
    dialects Dialect {
        /// Demers, Keshav and Shenker; Parekh and Gallager; Golestani.
        paper as Paper = "paper" {}
        /// ns-2's Queue/FQ.
        ns2 as Ns2 = "ns2-2.35" {
            limit = "none" from "ns-2.35 tcl/lib/ns-queue.tcl: FQLink, each flow has its own";
            each = "droptail dialect=ns2 limit=50p" from "ns-2.35 tcl/lib/ns-default.tcl: queueManagement_ DropTail, limit_ 50";
        }
    }
}

/// The discipline.
pub struct Wfq {
    rules: Rules,
    weights: Weights,
    limit: Option<Limit>,
    classes: Classifier,
    queues: Vec<Queue>,
    /// Of each queue, dialect ns2 only.
    lines: Vec<Line>,
    /// Not in dialect ns2.
    tags: Tags,
    backlog: Backlog,
    longest: Longest,
    /// Queues that hold packets, by the tag of the first.
    heads: Ordered,
    /// V, in [`ONE_BIT`]ths of a bit.
    virtual_time: u128,
    fluid: Fluid,
    /// Counts the times at which all tags started anew.
    epoch: u32,
    each: Each,
}

/// The tag of each packet that waits, by its slot in the store.
#[derive(Default)]
struct Tags(Vec<u128>);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Rules {
    Gps,
    Own,
    Ns2,
}

/// The flows that are backlogged in the fluid system.
struct Fluid {
    /// By their last tag, or an earlier one: not above the last.
    flows: Ordered,
    /// Weight of all of them together; zero without any.
    weight: u64,
    /// Up to when virtual time has been followed, at which rate.
    until: Time,
    rate: Rate,
}

#[repr(C, align(64))]
struct Queue {
    /// The tag of the packet that came last, within `epoch`.
    last: u128,
    /// Number of the busy period in which `last` counts.
    epoch: u32,
    /// Share of the flow, relative to the others.
    weight: u32,
    /// Its place among the flows that are backlogged in the fluid system of `epoch`, or [`NOWHERE`].
    in_fluid: u32,
    /// Its place among the heads, or [`NOWHERE`].
    in_heads: u32,
    // Last: every packet touches the fields before and the child's first, but only an AQM that judges touches its end.
    child: Child,
}

/// What dialect ns2 has for a queue.
#[derive(Default)]
struct Line {
    /// The class whose line it is.
    class: u64,
    /// The packet at the head of the line.
    packet: List,
    /// Bytes of that packet.
    bytes: u32,
    /// Start time of that packet, in seconds; without one the last finish time.
    start: f64,
    /// Time of transmission of that packet, in seconds.
    service: f64,
}

/// No place.
const NOWHERE: u32 = u32::MAX;

/// At first a day of the calendars of tags is 32 bits: a thousand of them are a little more than two full packets.
const DAY: u32 = 5;

/// Tags count in fractions of a bit.
const ONE_BIT: u32 = 48;
/// They are compared in coarser fractions.
const COMPARED: u32 = 20;

/// A tag as it is compared: rounded, half up.
const fn rounded(tag: u128) -> u128 {
    (tag + (1 << (ONE_BIT - COMPARED - 1))) >> (ONE_BIT - COMPARED)
}

impl Entry<NestingContext> for Wfq {
    const NAME: &'static str = "wfq";
    const ALIASES: &'static [&'static str] = &["fair_queueing"];
    const TITLE: &'static str = "WFQ";
    const FAIR: bool = true;
    const ABOUT: &'static str = "Weighted fair queueing: flows share the link in proportion to their weights. Each flow has a queue and a weight. WFQ follows, in virtual time, a fluid server that serves all backlogged flows at once in proportion to their weights. Packets leave in the order in which that server would finish them. With `clock=self`, virtual time is the tag of the packet in transmission, which is simpler and slightly less fair.\n\n\
        Expect throughput in proportion to the weights. Each packet leaves at most one packet transmission later than from the fluid server. `weights=4:2:1` gives flows 0 and 1 the weights 4 and 2, and all others 1.";
    type Params = WfqParams;

    fn build(params: WfqParams, cx: &NestingContext) -> Result<Self, SpecError> {
        let each = Each::aqm(&params.each, cx)?;
        let ns2 = params.dialect == Dialect::Ns2;
        if ns2 && (params.weights.greatest() > 1 || params.clock == WfqClock::Own) {
            return Err(SpecError::Contradiction {
                discipline: Wfq::NAME.to_owned(),
                text: "weights and clock=self need another dialect than ns2; leave them out or choose one".to_owned(),
            });
        }
        if ns2 && params.limit.is_some() {
            return Err(SpecError::Contradiction {
                discipline: Wfq::NAME.to_owned(),
                text: "limit is that of each queue in dialect ns2; write such as each=(droptail dialect=ns2 limit=50p)".to_owned(),
            });
        }
        let rules = match params.clock {
            _ if ns2 => Rules::Ns2,
            WfqClock::Gps => Rules::Gps,
            WfqClock::Own => Rules::Own,
        };
        let key = match params.perturb {
            true => cx.stream("hash").bits(),
            false => 0,
        };
        Ok(Wfq {
            rules,
            weights: params.weights,
            limit: params.limit,
            classes: Classifier::new(params.classify, params.buckets, Hash::Keyed(key), cx),
            queues: Vec::new(),
            lines: Vec::new(),
            tags: Tags::default(),
            backlog: Backlog::default(),
            longest: Longest::default(),
            heads: Ordered::with_days_of(DAY + COMPARED),
            virtual_time: 0,
            fluid: Fluid {
                flows: Ordered::with_days_of(DAY + ONE_BIT),
                weight: 0,
                until: Time::ZERO,
                rate: Rate::bps(0),
            },
            epoch: 0,
            each,
        })
    }

    fn inside(params: &WfqParams) -> Vec<&Spec> {
        vec![&params.each]
    }
}

impl Scheduler for Wfq {
    fn enqueue(&mut self, packet: Held, cx: &mut SchedulerCx) {
        let index = self.queue_of(cx.store.packet(&packet));
        if self.rules == Rules::Ns2 {
            let child = &mut self.queues[at(index)].child;
            self.backlog.enqueue(child, packet, cx);
            self.step_up(index, cx);
            return;
        }
        self.enqueue_paper(index, packet, cx);
    }

    fn dequeue(&mut self, cx: &mut SchedulerCx) -> Option<Held> {
        match self.rules {
            Rules::Ns2 => self.dequeue_ns2(cx),
            Rules::Gps | Rules::Own => self.dequeue_paper(cx),
        }
    }

    fn on_empty(&mut self, now: Time) {
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            // No queue may take an epoch of long ago for this one.
            self.queues.iter_mut().for_each(|queue| queue.start_in(0));
        }
        self.virtual_time = 0;
        self.fluid.flows.clear();
        self.fluid.weight = 0;
        self.fluid.until = now;
    }

    fn catch_up(&mut self, cx: &mut SchedulerCx) {
        if self.rules == Rules::Gps {
            self.follow(cx);
        }
        for queue in &mut self.queues {
            queue.child.catch_up(cx);
        }
    }

    fn backlog(&self) -> (u64, u64) {
        self.backlog.counts()
    }

    fn queues(&self, show: &mut dyn FnMut(QueueState<'_>)) {
        for (queue, number) in self.queues.iter().zip(0..) {
            let mut state = QueueState::of(number, &queue.child, None);
            if let Some(line) = self.lines.get(at(number)) {
                state.packets += line.packet.len();
                state.bytes += u64::from(line.bytes);
            }
            show(state);
        }
    }

    fn state_names(&self) -> &'static [&'static str] {
        &["queues", "active_queues", "virtual_time_bits"]
    }

    fn state(&self, out: &mut Vec<f64>) {
        let count = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
        let in_line = |index: &usize| {
            self.lines
                .get(*index)
                .is_some_and(|line| !line.packet.is_empty())
        };
        let active = |index: &usize| in_line(index) || !self.queues[*index].child.is_empty();
        let whole_bits = u32::try_from(self.virtual_time >> ONE_BIT).unwrap_or(u32::MAX);
        out.extend([
            count(self.queues.len()),
            count((0..self.queues.len()).filter(active).count()),
            f64::from(whole_bits),
        ]);
    }
}

impl Wfq {
    #[inline(always)]
    fn enqueue_paper(&mut self, index: u32, packet: Held, cx: &mut SchedulerCx) {
        if self.rules == Rules::Gps && self.has_room(u64::from(packet.size)) {
            let (queue, fluid) = (&self.queues[at(index)], &self.fluid);
            if queue.epoch == self.epoch && fluid.keeps(queue, self.virtual_time, cx) {
                let finish = queue.last + queue.share(packet.size);
                return self.keep(index, packet, finish, cx);
            }
        }
        self.enqueue_anew(index, packet, cx);
    }

    /// Where virtual time has to be known, or room to be made.
    #[inline(never)]
    fn enqueue_anew(&mut self, index: u32, packet: Held, cx: &mut SchedulerCx) {
        if self.rules == Rules::Gps {
            self.follow(cx);
        }
        if !self.make_room(u64::from(packet.size), cx) {
            cx.drop(packet, DropReason::Overlimit);
            return;
        }
        let queue = &mut self.queues[at(index)];
        queue.renew(self.epoch);
        let finish = queue.last.max(self.virtual_time) + queue.share(packet.size);
        self.keep(index, packet, finish, cx);
    }

    /// A packet goes into its queue, with this tag.
    #[inline(always)]
    fn keep(&mut self, index: u32, packet: Held, finish: u128, cx: &mut SchedulerCx) {
        let queue = &mut self.queues[at(index)];
        self.tags.set(&packet, finish);
        let head = queue.child.head_slot();
        let kept = self.backlog.enqueue(&mut queue.child, packet, cx);
        if queue.child.head_slot() != head {
            queue.replace(index, &self.tags, &mut self.heads, &mut self.longest);
        }
        if !kept {
            return;
        }
        if self.limit.is_some() {
            self.longest.raise(index, rank(queue, index, self.limit));
        }
        // A tag that has grown is put right when virtual time has come to what it was.
        match queue.in_fluid {
            NOWHERE => self.set_last(index, finish),
            _ => queue.last = finish,
        }
    }

    #[inline(always)]
    fn dequeue_paper(&mut self, cx: &mut SchedulerCx) -> Option<Held> {
        // What is sent has its tag; virtual time has to be followed here only where it changes its speed.
        if self.rules == Rules::Gps && self.fluid.rate != cx.rate {
            self.follow(cx);
        }
        let (_, index) = self.heads.first()?;
        self.send(index, cx).or_else(|| self.send_another(cx))
    }

    /// The AQMs have dropped whatever the first queue held.
    #[inline(never)]
    fn send_another(&mut self, cx: &mut SchedulerCx) -> Option<Held> {
        loop {
            let (_, index) = self.heads.first()?;
            let sent = self.send(index, cx);
            if sent.is_some() {
                return sent;
            }
        }
    }

    /// The next packet of a queue that holds some.
    #[inline(always)]
    fn send(&mut self, index: u32, cx: &mut SchedulerCx) -> Option<Held> {
        let queue = &mut self.queues[at(index)];
        let packet = self.backlog.dequeue(&mut queue.child, cx);
        queue.place(index, &self.tags, &mut self.heads, &mut self.longest);
        let packet = packet?;
        if self.rules == Rules::Own {
            self.virtual_time = self.tags.of(packet.slot());
        }
        Some(packet)
    }

    fn dequeue_ns2(&mut self, cx: &mut SchedulerCx) -> Option<Held> {
        let waiting = |line: &&Line| !line.packet.is_empty();
        let active = self.lines.iter().filter(waiting).count();
        let active = f64::from(u32::try_from(active).unwrap_or(u32::MAX));
        let finish = |line: &Line| line.start + line.service * active;
        let lines = self.lines.iter().zip(0..);
        let (_, index) = lines
            .filter(|(line, _)| waiting(line))
            .min_by(|(a, _), (b, _)| finish(a).total_cmp(&finish(b)).then(a.class.cmp(&b.class)))?;
        let line = &mut self.lines[at(index)];
        line.start += line.service * active;
        let packet = cx.store.pop_front(&mut line.packet)?;
        line.bytes = 0;
        self.backlog.packets -= 1;
        self.backlog.bytes -= u64::from(packet.size);
        self.step_up(index, cx);
        Some(packet)
    }

    /// Dialect ns2: the first packet of a queue goes to the head of the line if none is there.
    fn step_up(&mut self, index: u32, cx: &mut SchedulerCx) {
        if !self.lines[at(index)].packet.is_empty() {
            return;
        }
        let child = &mut self.queues[at(index)].child;
        let Some(packet) = self.backlog.dequeue(child, cx) else {
            return;
        };
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(packet.size);
        let line = &mut self.lines[at(index)];
        line.start = line.start.max(cx.now.as_secs_f64());
        line.service = f64::from(packet.size) * (8.0 / cx.rate.as_bps_f64());
        line.bytes = packet.size;
        cx.store.push_back(&mut line.packet, packet);
    }

    /// True if there is room for `size` bytes.
    #[inline(always)]
    fn has_room(&self, size: u64) -> bool {
        self.limit
            .is_none_or(|limit| self.backlog.has_room(limit, size))
    }

    /// Frees room for `size` bytes; false if the limit never has it.
    fn make_room(&mut self, size: u64, cx: &mut SchedulerCx) -> bool {
        let Some(limit) = self.limit else {
            return true;
        };
        while !self.backlog.has_room(limit, size) {
            if !Backlog::default().has_room(limit, size) {
                return false;
            }
            self.drop_longest(cx);
        }
        true
    }

    /// Virtual time has been followed up to now.
    #[inline(never)]
    fn drop_longest(&mut self, cx: &mut SchedulerCx) {
        let (queues, limit) = (&self.queues, self.limit);
        let index = self
            .longest
            .top(|index| rank(&queues[at(index)], index, limit));
        let queue = &mut self.queues[at(index)];
        let (head, last) = (queue.child.head_slot(), queue.child.tail_slot());
        let bytes = queue.child.bytes();
        self.backlog.keep(&mut queue.child, |child| {
            child.drop_tail(DropReason::Evicted, cx)
        });
        if queue.child.head_slot() != head {
            queue.replace(index, &self.tags, &mut self.heads, &mut self.longest);
        }
        if let Some(slot) = last {
            // Where the packet's tag began at virtual time, the queue's last tag before it lay below and counts for as little.
            let dropped = u32::try_from(bytes - queue.child.bytes()).unwrap_or(u32::MAX);
            let before = self.tags.of(slot) - queue.share(dropped);
            self.set_last(index, before);
        }
    }

    /// Brings virtual time up to now, with the fluid system.
    #[inline(always)]
    fn follow(&mut self, cx: &SchedulerCx) {
        let rate = std::mem::replace(&mut self.fluid.rate, cx.rate);
        let rate = if rate.is_zero() { cx.rate } else { rate };
        let elapsed = cx
            .now
            .since(std::mem::replace(&mut self.fluid.until, cx.now));
        if self.fluid.weight == 0 || elapsed == Span::ZERO {
            return;
        }
        let service = served(rate, elapsed);
        let passed = quotient(service, self.fluid.weight);
        let next = self.fluid.flows.first();
        match next.is_some_and(|(tag, _)| passed < tag - self.virtual_time) {
            true => self.virtual_time += passed,
            false => self.serve_fluid(service),
        }
    }

    /// Virtual time comes to the tag of a flow, and goes on from there.
    #[inline(never)]
    fn serve_fluid(&mut self, mut service: u128) {
        while let Some((tag, index)) = self.fluid.flows.first() {
            let (ahead, passed) = (
                tag - self.virtual_time,
                quotient(service, self.fluid.weight),
            );
            if passed < ahead {
                self.virtual_time += passed;
                return;
            }
            service -= ahead * u128::from(self.fluid.weight);
            self.virtual_time = tag;
            let queue = &mut self.queues[at(index)];
            if queue.last > tag {
                self.fluid.flows.change(queue.in_fluid, queue.last);
            } else {
                self.fluid.leave(queue);
            }
        }
    }

    /// The last tag of a queue becomes `last`, and with it the queue is in the fluid system or not.
    fn set_last(&mut self, index: u32, last: u128) {
        let queue = &mut self.queues[at(index)];
        queue.renew(self.epoch);
        queue.last = last;
        if self.rules != Rules::Gps {
            return;
        }
        let flows = &mut self.fluid.flows;
        match (queue.in_fluid, last > self.virtual_time) {
            (NOWHERE, true) => {
                queue.in_fluid = flows.enter(index, last);
                self.fluid.weight += u64::from(queue.weight);
            }
            (NOWHERE, false) => {}
            (place, true) => {
                if last < flows.key(place) {
                    flows.change(place, last);
                }
            }
            (_, false) => self.fluid.leave(queue),
        }
    }

    /// The queue of a packet, made on its first one.
    #[inline]
    fn queue_of(&mut self, packet: &Packet) -> u32 {
        let index = self.classes.queue_of(packet);
        if at(index) == self.queues.len() {
            self.add_queue(packet);
        }
        index
    }

    #[cold]
    fn add_queue(&mut self, packet: &Packet) {
        let class = self.classes.bucket_of(self.classes.class_of(packet));
        let number = u32::try_from(class).unwrap_or(u32::MAX);
        self.queues.push(Queue {
            child: self.each.queue(self.queues.len()),
            weight: self.weights.of(number),
            last: 0,
            epoch: self.epoch,
            in_fluid: NOWHERE,
            in_heads: NOWHERE,
        });
        if self.rules == Rules::Ns2 {
            self.lines.push(Line {
                class,
                ..Line::default()
            });
        }
    }
}

impl Fluid {
    /// The queue is backlogged in the fluid system and would still be so if that had served no other since virtual time was
    /// followed last. Its next tag then follows from its last one, whatever virtual time is.
    #[inline(always)]
    fn keeps(&self, queue: &Queue, virtual_time: u128, cx: &SchedulerCx) -> bool {
        if queue.in_fluid == NOWHERE || self.rate != cx.rate {
            return false;
        }
        let elapsed = cx.now.since(self.until);
        let served = u128::from(cx.rate.as_bps()) * u128::from(elapsed.as_ps());
        let ahead = u64::try_from((queue.last - virtual_time) >> ONE_BIT).unwrap_or(u64::MAX);
        served < u128::from(ahead) * u128::from(PS_PER_S)
    }

    /// A queue leaves the fluid system.
    #[inline]
    fn leave(&mut self, queue: &mut Queue) {
        self.flows
            .leave(std::mem::replace(&mut queue.in_fluid, NOWHERE));
        self.weight -= u64::from(queue.weight);
    }
}

impl Tags {
    #[inline(always)]
    fn set(&mut self, packet: &Held, tag: u128) {
        match self.0.get_mut(at(packet.slot())) {
            Some(own) => *own = tag,
            None => self.grow(packet, tag),
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, packet: &Held, tag: u128) {
        self.0.resize(at(packet.slot()) + 1, tag);
    }

    #[inline(always)]
    fn of(&self, slot: u32) -> u128 {
        self.0[at(slot)]
    }
}

impl Queue {
    /// What a packet of these bytes adds to the tag.
    #[inline(always)]
    fn share(&self, size: u32) -> u128 {
        let bits = u128::from(size) << (ONE_BIT + 3);
        match self.weight {
            1 => bits,
            weight => bits / u128::from(weight),
        }
    }

    /// Its first packet is another one, or there is none: it gets another place among the heads. Of equal tags the queue seen
    /// first goes first.
    #[inline(always)]
    fn place(&mut self, index: u32, tags: &Tags, heads: &mut Ordered, longest: &mut Longest) {
        match self.child.head_slot() {
            Some(slot) => {
                let tag = rounded(tags.of(slot));
                match self.in_heads {
                    NOWHERE => self.in_heads = heads.enter(index, tag),
                    place => heads.change(place, tag),
                }
            }
            None => {
                heads.leave(std::mem::replace(&mut self.in_heads, NOWHERE));
                longest.forget(index);
            }
        }
    }

    /// As [`Queue::place`], where that is rare.
    #[inline(never)]
    fn replace(&mut self, index: u32, tags: &Tags, heads: &mut Ordered, longest: &mut Longest) {
        self.place(index, tags, heads, longest);
    }

    /// Its tags start anew if those of all have since.
    #[inline(always)]
    fn renew(&mut self, epoch: u32) {
        if self.epoch != epoch {
            self.start_in(epoch);
        }
    }

    /// Its tags start anew. From the fluid system all have been taken out.
    fn start_in(&mut self, epoch: u32) {
        self.epoch = epoch;
        self.last = 0;
        self.in_fluid = NOWHERE;
    }
}

const PS_PER_S: u64 = 1_000_000_000_000;

/// A quotient whose dividend fits 64 bits as a rule, where division is much faster.
#[inline]
fn quotient(dividend: u128, divisor: u64) -> u128 {
    match u64::try_from(dividend) {
        Ok(dividend) => u128::from(dividend / divisor),
        Err(_) => dividend / u128::from(divisor),
    }
}

/// What a link carries in some time, in [`ONE_BIT`]ths of a bit, rounded down.
#[inline]
fn served(rate: Rate, time: Span) -> u128 {
    let product = u128::from(rate.as_bps()) * u128::from(time.as_ps());
    match u64::try_from(product) {
        Ok(short) => served_shortly(short),
        Err(_) => served_long(product),
    }
}

#[cold]
fn served_long(product: u128) -> u128 {
    let second = u128::from(PS_PER_S);
    ((product / second) << ONE_BIT) + ((product % second) << ONE_BIT) / second
}

/// The same where the product of rate and picoseconds fits 64 bits, without a long division.
#[inline]
fn served_shortly(product: u64) -> u128 {
    // 10^12 without its twelve factors 2, by which there are fewer binary places: a rest of 28 bits has room for these.
    const DIVISOR: u64 = 244_140_625;
    const PLACES: u32 = ONE_BIT - 12;
    let (whole, rest) = (product / DIVISOR, product % DIVISOR);
    (u128::from(whole) << PLACES) + u128::from((rest << PLACES) / DIVISOR)
}

/// The place of a queue among the longest.
fn rank(queue: &Queue, index: u32, limit: Option<Limit>) -> Rank {
    Rank {
        length: match limit {
            Some(Limit::Packets(_)) => queue.child.packets(),
            Some(Limit::Bytes(_)) | None => queue.child.bytes(),
        },
        tie: u64::from(index),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::built_scheduler;

    #[test]
    fn what_a_link_carries_is_the_same_in_short_and_long_division() {
        let mut rng = sojourn_sim::Stream::derive(1, 0, "served");
        for _ in 0..10_000 {
            let rate = rng.below(1 << 36);
            for ps in [
                rng.below(1 << 40),
                rng.below(1 << 19),
                u64::MAX / rate.max(1),
                u64::MAX / rate.max(1) + 1,
            ] {
                let product = u128::from(rate) * u128::from(ps);
                let expected = (product << ONE_BIT) / u128::from(PS_PER_S);
                assert_eq!(served(Rate::bps(rate), Span::from_ps(ps)), expected);
            }
        }
        for short in [0, 1, 999, 1000, u64::MAX - 1, u64::MAX] {
            let expected = (u128::from(short) << ONE_BIT) / u128::from(PS_PER_S);
            assert_eq!(served_shortly(short), expected, "{short}");
        }
    }

    #[test]
    fn a_queue_of_an_epoch_of_long_ago_starts_anew() {
        let mut bench = Bench::new("");
        bench.offer(0, 1000);
        assert_eq!(bench.send(1), [0]);
        // The first epoch comes again.
        bench.queue.epoch = u32::MAX;
        bench.queue.on_empty(bench.now);
        bench.offer(0, 1000);
        bench.offer(1, 1500);
        // Had flow 0 kept its tag of 8000, it would go last.
        assert_eq!(bench.send(2), [0, 1]);
    }

    use sojourn_units::Span;

    type Bench = crate::testing::Bench<Wfq>;

    #[test]
    fn a_queue_goes_by_the_packet_that_is_left_when_an_arrival_costs_its_head() {
        let mut heads_lost = 0;
        for seed in 0..20 {
            let mut bench = Bench::new("each=(choke min=1p max=50p weight=1)");
            bench.rng = sojourn_sim::Stream::derive(seed, 0, "test");
            // Tags of 8000 and 16000, and 12000 between them.
            bench.offer(0, 1000);
            bench.offer(0, 1000);
            bench.offer(1, 1500);
            // It is dropped with one of those that wait.
            bench.offer(0, 1000);
            let lost = bench.lost();
            assert_eq!(lost.len(), 2, "{lost:?}");
            let head_lost = lost.contains(&0);
            heads_lost += u32::from(head_lost);
            let expected = if head_lost { [1, 0] } else { [0, 1] };
            assert_eq!(bench.send(2), expected, "{lost:?}");
        }
        assert!((1..20).contains(&heads_lost), "{heads_lost}");
    }

    #[test]
    fn shares_follow_the_weights_in_bytes() {
        for clock in ["gps", "self"] {
            let mut bench = Bench::new(&format!("clock={clock} weights=3:1 limit=none"));
            for _ in 0..300 {
                bench.offer(0, 500);
                bench.offer(1, 1000);
                bench.offer(2, 250);
            }
            let sent = bench.send(250);
            let bytes = [(0, 500), (1, 1000), (2, 250)]
                .map(|(flow, size)| sent.iter().filter(|f| **f == flow).count() * size);
            assert!(
                bytes[0].abs_diff(3 * bytes[1]) <= 3000,
                "{clock}: {bytes:?}"
            );
            assert!(bytes[1].abs_diff(bytes[2]) <= 1000, "{clock}: {bytes:?}");
        }
    }

    #[test]
    fn a_flow_that_was_away_saves_nothing_up_with_either_clock() {
        for (clock, order) in [("gps", [0, 1, 0, 1]), ("self", [0, 1, 0, 1])] {
            let mut bench = Bench::new(&format!("clock={clock}"));
            (0..6).for_each(|_| bench.offer(0, 1000));
            // A millisecond each: the fluid server, too, has served three of flow 0 alone.
            for _ in 0..3 {
                bench.send(1);
                bench.now += Span::from_ms(1);
            }
            (0..3).for_each(|_| bench.offer(1, 1000));
            assert_eq!(bench.send(4), order, "{clock}");
        }
    }

    #[test]
    fn the_self_clocked_variant_may_be_late_where_the_fluid_server_is_followed() {
        // The packet in transmission has the tag 8000, and the fluid server has done none of it yet.
        for (clock, order) in [("gps", [2, 1]), ("self", [1, 2])] {
            let mut bench = Bench::new(&format!("clock={clock}"));
            bench.offer(0, 1000);
            bench.offer(1, 1000);
            assert_eq!(bench.send(1), [0]);
            bench.offer(2, 300);
            assert_eq!(bench.send(2), order, "{clock}");
        }
    }

    #[test]
    fn the_longest_queue_loses_its_last_packet_and_its_tag() {
        let mut bench = Bench::new("limit=4p");
        (0..3).for_each(|_| bench.offer(0, 1000));
        bench.offer(1, 1000);
        bench.offer(1, 1000);
        assert_eq!(bench.lost(), [2]);
        assert_eq!(bench.send(1), [0]);
        // Were the tag of packet 2 kept, this one would go after both of flow 1.
        bench.offer(0, 990);
        assert_eq!(bench.send(4), [1, 0, 1, 0]);
    }

    #[test]
    fn ns2_chooses_by_the_number_of_flows_that_have_a_packet_at_the_head_of_the_line() {
        let mut bench = Bench::new("dialect=ns2");
        for size in [1000, 1000, 1000] {
            bench.offer(0, size);
            bench.offer(1, size / 2);
        }
        // Finish times in units of 1 ms: flow 0 at 2, 4, 6, flow 1 at 1, 2 (a tie with flow 0, which is first), 3.
        assert_eq!(bench.send(6), [1, 0, 1, 1, 0, 0]);
    }

    #[test]
    fn ns2_holds_one_packet_per_flow_beside_the_limit() {
        let mut bench = Bench::new("dialect=ns2 each=(droptail dialect=ns2 limit=4p)");
        (0..6).for_each(|_| bench.offer(0, 1000));
        assert_eq!(bench.lost(), [4, 5]);
        assert_eq!(bench.send(9).len(), 4);
    }

    #[test]
    fn what_dialect_ns2_lacks_is_refused() {
        for (spec, says) in [
            ("weights=2:1", "weights and clock=self need another dialect"),
            ("clock=self", "weights and clock=self need another dialect"),
            ("limit=10p", "limit is that of each queue in dialect ns2"),
        ] {
            let built = built_scheduler::<Wfq>(&format!("dialect=ns2 {spec}"));
            let error = built.err().expect("a contradiction").to_string();
            assert!(error.contains(says), "{spec}: {error}");
        }
    }
}
