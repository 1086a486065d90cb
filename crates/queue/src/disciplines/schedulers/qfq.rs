//! QFQ: quick fair queueing, and QFQ+.
//!
//! Sources: Checconi, Rizzo and Valente, "QFQ: Efficient Packet Scheduling with Tight Guarantees", IEEE/ACM ToN 21(3), 2013
//! (dialect paper, the default; read in part, and with Linux 3.0's sch_qfq.c, by its authors, for the order of the steps);
//! Valente, "Reducing the Execution Time of Fair-Queueing Schedulers" (QFQ+), and Linux net/sched/sch_qfq.c since 3.8 (dialect
//! linux).
//!
//! Each flow has a virtual start S and finish F = S + length / weight; the virtual time V grows by what is sent over the sum of
//! all weights. Flows stand in groups by the power of two sigma above greatest length / weight, sorted by S rounded down to a
//! multiple of sigma; a group has the S of its first flow and F = S + 2 sigma. Of the groups with S <= V (eligible) that no group
//! of a higher index with a smaller F blocks (ready), the one of the lowest index is served: all by bit operations.
//! QFQ+ gives timestamps to aggregates of flows of one weight, with a budget of their greatest packets, and serves the
//! aggregate until the budget is used, its flows by DRR.
//!
//! In both: 30 binary places in whole numbers; lists within a slot are last in, first out; 24 is the highest group index.
//! Weights are those of a `tc class` each: by the number of the flow (node, codepoint, bucket). A flow is added to the sum of
//! weights, and to an aggregate, by its first packet, as if its class were made then, and stays.
//!
//! Deviations: a packet longer than `lmax` is sent, and counted as `lmax` in F; Linux moves its class to another aggregate. An AQM that
//! drops at the head: dialect paper counts F with the head as it stands, and charges what is sent; Linux judges the head when it
//! looks at it, and a flow whose AQM drops all it holds leaves its aggregate. There is no limit over all queues; each
//! queue has its own.

use crate::child::{Backlog, Child};
use crate::classify::{Classifier, Classify, Hash};
use crate::entry::{Entry, SpecError};
use crate::nesting::{Each, NestingContext};
use crate::scheduler::{QueueState, Scheduler, SchedulerCx};
use crate::store::Held;
use crate::tc::{Inside, Line};
use crate::weights::Weights;
use sojourn_sim::{Packet, to_usize};
use sojourn_units::{Bytes, Spec, Specs, Time, params};

params! {
    /// Quick fair queueing: each flow gets its share of the link, at a constant cost.
    pub struct QfqParams {
        /// Weight of each class. The last weight applies to all further classes.
        weights: Weights = "1", source "equal shares";
        /// Size of the largest packet.
        lmax: Bytes = "1514B", range "512B".."65536B", source "Linux sch_qfq.c: psched_mtu, MTU and Ethernet header";
        /// Maximum number of flows in an aggregate, a power of two.
        aggregate: u32 = "1", range "1".."8", source "Checconi, Rizzo & Valente 2013: each flow by itself";
        /// Which packets share a queue.
        classify: Classify = "flow", source "as drr";
        /// Number of queues. A hash assigns flows to them. With none, each flow has its own queue.
        buckets: Option<u32> = "none", range "1".."1000000", source "one queue each",
            acts "flows share a queue by their hash";
        /// Discipline of each queue: an AQM, or a scheduler with its own queues, such as fq_codel. A list gives one per
        /// class, from class 0; the last applies to all further classes.
        each: Specs = "droptail limit=1000p", source "as droptail";
    }
    dialects Dialect {
        /// QFQ.
        paper as Paper = "qfq-2013" {}
        /// Linux sch_qfq: QFQ+.
        linux as Linux = "linux-6.1" {
            aggregate = "8" from "Linux sch_qfq.c: QFQ_MAX_AGG_CLASSES";
            each = "droptail limit=1000p" from "Linux sch_qfq.c: pfifo, txqueuelen of an Ethernet device";
        }
    }
}

/// The discipline.
pub struct Qfq {
    /// QFQ+, dialect linux.
    plus: bool,
    /// Bytes of the largest packet.
    lmax: u64,
    /// Most classes of an aggregate.
    most_classes: u32,
    weights: Weights,
    classifier: Classifier,
    classes: Vec<Class>,
    aggregates: Vec<Aggregate>,
    /// Aggregates that take more classes, the newest last.
    open: Vec<usize>,
    groups: Vec<Group>,
    /// The set of groups in each state: bit i for group i.
    states: [u32; 4],
    /// The slots of group 0 are 2^`shift` apart in virtual time.
    shift: u32,
    /// Virtual time V, in units of 2^-30 bytes per unit of weight; it wraps round.
    v: u64,
    /// V when groups became eligible last, in the same unit.
    old_v: u64,
    /// Weights of all classes together.
    weight_sum: u64,
    /// One over that sum, in units of 2^-30: what V grows by with each byte.
    per_byte: u64,
    /// The place in `aggregates` of the aggregate in service (QFQ+).
    serving: Option<usize>,
    backlog: Backlog,
    each: Each,
}

#[repr(C)]
struct Class {
    /// The place of its aggregate in `aggregates`.
    aggregate: usize,
    /// Bytes that the class may still send in its turn within the aggregate.
    deficit: i64,
    // Last: every packet touches the fields before and the child's first, but only an AQM that judges touches its end.
    child: Child,
}

struct Aggregate {
    /// Weight of each of its classes.
    weight: u32,
    /// Classes in it, with packets or without.
    classes: u32,
    /// Its place in `groups`.
    group: usize,
    /// One over the weight of all its classes, in units of 2^-30.
    inverse: u64,
    /// The greatest budget, in bytes.
    most: u64,
    /// Budget at the beginning of its service, in bytes.
    initial: u64,
    /// Bytes that it may still send in its service.
    budget: u64,
    /// Start time S, in the unit of V.
    start: u64,
    /// Finish time F, in the unit of V.
    finish: u64,
    active: Active,
}

/// The classes of an aggregate that hold packets, in DRR's order.
#[derive(Clone, Copy, Default)]
struct Active {
    /// Places in `Qfq::classes`, the first one in turn first; valid up to `count`.
    classes: [u32; MOST_CLASSES],
    /// Classes that hold packets.
    count: usize,
}

impl Active {
    fn front(&self) -> Option<usize> {
        let first = self.classes[..self.count].first()?;
        Some(to_usize(*first))
    }

    fn push_back(&mut self, class: usize) {
        self.classes[self.count] = u32::try_from(class).expect("fewer than 2^32 classes");
        self.count += 1;
    }

    fn pop_front(&mut self) {
        self.rotate_left();
        self.count = self.count.saturating_sub(1);
    }

    fn rotate_left(&mut self) {
        if self.count > 1 {
            self.classes[..self.count].rotate_left(1);
        }
    }
}

struct Group {
    /// The start of its first slot, in the unit of V.
    start: u64,
    /// `start` and two slots more, in the unit of V.
    finish: u64,
    /// Slots are 2^`shift` apart in the unit of V.
    shift: u32,
    /// The place of the first slot in `slots`.
    front: usize,
    /// Slots with aggregates, counted from the first one: bit i for slot i.
    full: u32,
    /// Aggregates in each slot, by their places in `aggregates`.
    slots: [Vec<usize>; SLOTS],
}

// States of groups: eligible or ineligible, ready or blocked.
const ER: usize = 0;
const IR: usize = 1;
const EB: usize = 2;
const IB: usize = 3;

/// Bits of the fraction of an inverse weight.
const FRACTION_BITS: u32 = 30;
/// The inverse weight 1.
const ONE: u64 = 1 << FRACTION_BITS;
/// Binary logarithm of the bytes of the largest packet.
const LONGEST_SHIFT: u32 = 16;
/// Number of the last group.
const HIGHEST_INDEX: u32 = 24;
/// Slots of a group.
const SLOTS: usize = 32;
/// The last slot that an aggregate is put into, counted from the first.
const LAST_SLOT: u64 = 30;
/// The most classes of an aggregate.
const MOST_CLASSES: usize = 8;
/// The greatest weight in Linux.
const MOST_WEIGHT: u32 = 1024;

impl Entry<NestingContext> for Qfq {
    const NAME: &'static str = "qfq";
    const TITLE: &'static str = "QFQ";
    const FAIR: bool = true;
    const TAKES_SCHEDULERS: bool = true;
    const ABOUT: &'static str = "Quick fair queueing: weighted fair queueing at a constant cost per packet. Each flow has a queue and a weight. Its share of the link is as accurate as under the best schedulers with timestamps (WF2Q+), at a cost that does not grow with the number of flows. Dialect `linux` is QFQ+, which serves aggregates of up to eight flows of equal weight, each flow in turn. Each queue can have its own AQM, as in `qfq weights=4:1 each=(codel)`, or a scheduler with queues, as in `qfq weights=4:1 classify=dscp each=(fq_codel)`.\n\n\
        Expect throughput in the ratio of the weights, within a few packets at any time. A flow of small weight waits less for bursts of others than under `drr` or `wrr`.";
    type Params = QfqParams;

    fn build(params: QfqParams, cx: &NestingContext) -> Result<Self, SpecError> {
        let each = Each::ready(&params.each, Qfq::NAME, cx)?;
        let plus = params.dialect == Dialect::Linux;
        let wrong = |text: String| {
            Err(SpecError::Contradiction {
                discipline: Qfq::NAME.to_owned(),
                text,
            })
        };
        if !params.aggregate.is_power_of_two() {
            return wrong(format!(
                "aggregate={} is no power of two; give 1, 2, 4 or 8",
                params.aggregate
            ));
        }
        if !plus && params.aggregate != 1 {
            return wrong(
                "aggregate is for dialect linux; leave it out or choose that dialect".to_owned(),
            );
        }
        if params.weights.greatest() > MOST_WEIGHT {
            return wrong(format!(
                "the weight {} is above the greatest that there is a group for, {MOST_WEIGHT}",
                params.weights.greatest()
            ));
        }
        let shift = FRACTION_BITS + LONGEST_SHIFT + params.aggregate.ilog2() - HIGHEST_INDEX;
        let groups = (0..=HIGHEST_INDEX).map(|index| Group {
            start: 0,
            finish: 0,
            shift: shift + index,
            front: 0,
            full: 0,
            slots: std::array::from_fn(|_| Vec::new()),
        });
        Ok(Qfq {
            plus,
            lmax: params.lmax.get(),
            most_classes: params.aggregate,
            weights: params.weights,
            classifier: Classifier::new(params.classify, params.buckets, Hash::Keyed(0), cx),
            classes: Vec::new(),
            aggregates: Vec::new(),
            open: Vec::new(),
            groups: groups.collect(),
            states: [0; 4],
            shift,
            v: 0,
            old_v: 0,
            weight_sum: 0,
            per_byte: 0,
            serving: None,
            backlog: Backlog::default(),
            each,
        })
    }

    fn inside(params: &QfqParams) -> Vec<&Spec> {
        params.each.all()
    }

    fn tc_with(params: &QfqParams, inside: Inside<'_>) -> Option<Line> {
        let class = |class: Option<u32>| {
            let weight = match class {
                Some(class) => params.weights.of(class - 1).to_string(),
                None => format!("WEIGHT (of {})", params.weights),
            };
            format!("qfq maxpkt {} weight {weight}", params.lmax.get())
        };
        Some(Line::with_handle("qfq").with_hashed(params.buckets, class, &params.each, inside))
    }
}

impl Scheduler for Qfq {
    fn enqueue(&mut self, packet: Held, cx: &mut SchedulerCx) {
        let class = self.class_of(cx.store.packet(&packet));
        let size = u64::from(packet.size);
        let was_empty = self.classes[class].child.is_empty();
        if !self
            .backlog
            .enqueue(&mut self.classes[class].child, packet, cx)
            || !was_empty
        {
            return;
        }
        let index = self.classes[class].aggregate;
        self.classes[class].deficit = signed(self.lmax);
        let aggregate = &mut self.aggregates[index];
        aggregate.active.push_back(class);
        if aggregate.active.count > 1 || self.serving == Some(index) {
            return;
        }
        let budget = if self.plus {
            aggregate.most
        } else {
            size.min(self.lmax)
        };
        (aggregate.initial, aggregate.budget) = (budget, budget);
        let start = self.start_of(index);
        let aggregate = &mut self.aggregates[index];
        aggregate.start = start;
        aggregate.finish = start.wrapping_add(budget.wrapping_mul(aggregate.inverse));
        if self.plus && self.serving.is_none() {
            self.serving = Some(index);
            (self.v, self.old_v) = (start, start);
        } else {
            self.schedule(index);
        }
    }

    fn dequeue(&mut self, cx: &mut SchedulerCx) -> Option<Held> {
        if self.plus {
            self.dequeue_plus(cx)
        } else {
            self.dequeue_single(cx)
        }
    }

    /// When no packet is left, QFQ+ ends the service of the aggregate that sent the last one.
    fn on_empty(&mut self, _: Time) {
        if let Some(index) = self.serving.take() {
            self.charge(index);
        }
    }

    fn catch_up(&mut self, cx: &mut SchedulerCx) {
        for class in &mut self.classes {
            class.child.catch_up(cx);
        }
    }

    fn backlog(&self) -> (u64, u64) {
        self.backlog.counts()
    }

    fn queues(&self, show: &mut dyn FnMut(QueueState<'_>)) {
        for (class, number) in self.classes.iter().zip(0..) {
            show(QueueState::of(
                number,
                &class.child,
                self.plus.then_some(class.deficit),
            ));
        }
    }

    fn state_names(&self) -> &'static [&'static str] {
        &["queues", "active_queues", "ready_groups", "waiting_groups"]
    }

    fn state(&self, out: &mut Vec<f64>) {
        let count = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
        let active = self.classes.iter().filter(|class| !class.child.is_empty());
        let waiting = self.states[IR] | self.states[EB] | self.states[IB];
        out.extend([
            count(self.classes.len()),
            count(active.count()),
            f64::from(self.states[ER].count_ones()),
            f64::from(waiting.count_ones()),
        ]);
    }
}

impl Qfq {
    /// QFQ: one packet of the first flow of the first group that is eligible and ready.
    fn dequeue_single(&mut self, cx: &mut SchedulerCx) -> Option<Held> {
        loop {
            let group = lowest(self.states[ER])?;
            let index = self.first_of(group);
            let class = self.aggregates[index].active.front()?;
            let sent = self.backlog.dequeue(&mut self.classes[class].child, cx);
            self.advance(sent.as_ref());
            let next = self.backlog.head_size(&mut self.classes[class].child, cx);
            let (shift, rounded) = (self.groups[group].shift, self.groups[group].start);
            let aggregate = &mut self.aggregates[index];
            aggregate.start = aggregate.finish;
            let mut moved = true;
            if let Some(next) = next {
                let length = u64::from(next)
                    .min(self.lmax)
                    .wrapping_mul(aggregate.inverse);
                aggregate.finish = aggregate.start.wrapping_add(length);
                moved = round_down(aggregate.start, shift) != rounded;
            } else {
                aggregate.active.count = 0;
            }
            if moved {
                let old_finish = self.groups[group].finish;
                self.groups[group].remove_first();
                if next.is_some() {
                    self.insert(group, index);
                }
                self.settle(group, old_finish);
            }
            self.make_eligible();
            if sent.is_some() {
                return sent;
            }
        }
    }

    /// QFQ+: the next packet of the aggregate in service, or of the one that follows it.
    fn dequeue_plus(&mut self, cx: &mut SchedulerCx) -> Option<Held> {
        // An aggregate that was just chosen sends whatever its budget.
        let mut chosen = false;
        loop {
            let index = self.serving?;
            match self.next_size(index, cx) {
                Some(size) if chosen || self.aggregates[index].budget >= size => {
                    return self.send(index, size, cx);
                }
                Some(_) => {
                    self.charge(index);
                    let aggregate = &mut self.aggregates[index];
                    aggregate.start = aggregate.finish;
                    let length = aggregate.most.wrapping_mul(aggregate.inverse);
                    aggregate.finish = aggregate.start.wrapping_add(length);
                    self.schedule(index);
                }
                None => {
                    self.charge(index);
                    if self.backlog.packets == 0 {
                        self.serving = None;
                        return None;
                    }
                }
            }
            self.serving = self.choose();
            chosen = true;
        }
    }

    /// Sends the packet of this size that is next in an aggregate.
    fn send(&mut self, index: usize, size: u64, cx: &mut SchedulerCx) -> Option<Held> {
        let class = self.aggregates[index].active.front()?;
        let sent = self.backlog.dequeue(&mut self.classes[class].child, cx);
        self.rotate(index, class, size, cx);
        let aggregate = &mut self.aggregates[index];
        aggregate.budget = aggregate.budget.saturating_sub(size);
        self.advance(sent.as_ref());
        sent
    }

    /// Size of the next packet of an aggregate; classes whose AQM drops all they hold leave it.
    fn next_size(&mut self, index: usize, cx: &mut SchedulerCx) -> Option<u64> {
        while let Some(class) = self.aggregates[index].active.front() {
            let size = self.with_child(class, |child| child.peek(cx).map(u64::from));
            if size.is_some() {
                return size;
            }
            self.aggregates[index].active.pop_front();
        }
        None
    }

    /// DRR within an aggregate, after a packet of `class`.
    fn rotate(&mut self, index: usize, class: usize, size: u64, cx: &mut SchedulerCx) {
        let next = self.with_child(class, |child| child.peek(cx).map(i64::from));
        let state = &mut self.classes[class];
        state.deficit -= signed(size);
        let active = &mut self.aggregates[index].active;
        match next {
            None => {
                active.pop_front();
            }
            Some(next) if state.deficit < next => {
                state.deficit += signed(self.lmax);
                active.rotate_left();
            }
            Some(_) => {}
        }
    }

    /// Ends the service of an aggregate: F by what it has sent, and a new budget.
    fn charge(&mut self, index: usize) {
        let aggregate = &mut self.aggregates[index];
        let used = aggregate.most.min(aggregate.initial - aggregate.budget);
        aggregate.finish = aggregate
            .start
            .wrapping_add(used.wrapping_mul(aggregate.inverse));
        (aggregate.initial, aggregate.budget) = (aggregate.most, aggregate.most);
    }

    /// The aggregate that is served next.
    fn choose(&mut self) -> Option<usize> {
        self.make_eligible();
        let group = lowest(self.states[ER])?;
        let old_finish = self.groups[group].finish;
        let index = self.first_of(group);
        self.groups[group].remove_first();
        self.settle(group, old_finish);
        Some(index)
    }

    /// The first member of a group that has one.
    fn first_of(&self, group: usize) -> usize {
        let group = &self.groups[group];
        *group.slots[group.front]
            .last()
            .expect("a ready group has a member in its first slot")
    }

    /// V grows by a packet that was sent.
    fn advance(&mut self, sent: Option<&Held>) {
        let size = sent.map_or(0, |packet| u64::from(packet.size));
        self.v = self.v.wrapping_add(size.wrapping_mul(self.per_byte));
    }

    /// A start for an aggregate that becomes active: its old F if that is still to come, else V; but where that would upset the
    /// order of blocked groups, the F of the first group that would block it.
    fn start_of(&self, index: usize) -> u64 {
        let aggregate = &self.aggregates[index];
        let shift = self.groups[aggregate.group].shift;
        let rounded = round_down(aggregate.finish, shift);
        let limit = round_down(self.v, shift).wrapping_add(1 << shift);
        if after(aggregate.finish, self.v) && !after(rounded, limit) {
            return aggregate.finish;
        }
        if let Some(next) = lowest(from(self.states[ER], aggregate.group)) {
            let finish = self.groups[next].finish;
            if after(rounded, finish) {
                return if after(limit, finish) { finish } else { limit };
            }
        }
        self.v
    }

    /// Puts an aggregate into its group.
    fn schedule(&mut self, index: usize) {
        let (number, start) = (self.aggregates[index].group, self.aggregates[index].start);
        let group = &mut self.groups[number];
        let rounded = round_down(start, group.shift);
        if group.full == 0 || after(group.start, start) {
            if group.full != 0 {
                let back = group.start.wrapping_sub(rounded) >> group.shift;
                group.rotate(back);
                self.states[IR] &= !(1 << number);
                self.states[IB] &= !(1 << number);
            } else if self.states[ER] == 0 && after(rounded, self.v) && self.serving.is_none() {
                (self.v, self.old_v) = (rounded, rounded);
            }
            self.place(number, rounded);
        }
        self.insert(number, index);
    }

    /// Puts an aggregate into the slot of its S, at most the last but one: then its timestamps move back.
    fn insert(&mut self, number: usize, index: usize) {
        let (group, aggregate) = (&mut self.groups[number], &mut self.aggregates[index]);
        let rounded = round_down(aggregate.start, group.shift);
        let mut slot = rounded.wrapping_sub(group.start) >> group.shift;
        if slot > LAST_SLOT {
            let back = (slot - LAST_SLOT) << group.shift;
            aggregate.start = aggregate.start.wrapping_sub(back);
            aggregate.finish = aggregate.finish.wrapping_sub(back);
            slot = LAST_SLOT;
        }
        let slot = small(slot);
        group.slots[(group.front + slot) % SLOTS].push(index);
        group.full |= 1 << slot;
    }

    /// New timestamps and a new state for a group.
    fn place(&mut self, number: usize, rounded: u64) {
        let group = &mut self.groups[number];
        group.start = rounded;
        group.finish = rounded.wrapping_add(2 << group.shift);
        let (start, finish) = (group.start, group.finish);
        let next = lowest(from(self.states[ER], number));
        let blocked = next.is_some_and(|next| after(finish, self.groups[next].finish));
        let state = match (after(start, self.v), blocked) {
            (false, false) => ER,
            (true, false) => IR,
            (false, true) => EB,
            (true, true) => IB,
        };
        self.states[state] |= 1 << number;
    }

    /// A ready group has lost its first member, or moved it: the group goes where it belongs, and frees those it blocked.
    fn settle(&mut self, number: usize, old_finish: u64) {
        let group = &mut self.groups[number];
        if !group.skip_empty_slots() {
            self.states[ER] &= !(1 << number);
        } else {
            let shift = group.shift;
            let first = self.first_of(number);
            let rounded = round_down(self.aggregates[first].start, shift);
            if rounded == self.groups[number].start {
                return;
            }
            self.states[ER] &= !(1 << number);
            self.place(number, rounded);
        }
        let next = lowest(from(self.states[ER], number + 1));
        if next.is_none_or(|next| after(self.groups[next].finish, old_finish)) {
            let below = (1_u32 << number) - 1;
            self.shift_states(below, EB, ER);
            self.shift_states(below, IB, IR);
        }
    }

    /// V has grown, or nothing is ready: groups become eligible.
    fn make_eligible(&mut self) {
        if let Some(first) = lowest(self.states[IR] | self.states[IB]) {
            let start = self.groups[first].start;
            if self.states[ER] == 0 && after(start, self.v) {
                self.v = start;
            }
            let flipped = (self.v ^ self.old_v) >> self.shift;
            if flipped != 0 {
                // All groups up to the highest bit that has changed have passed a multiple of their sigma.
                let bits = u64::BITS - flipped.leading_zeros();
                let mask = if bits > 31 { u32::MAX } else { (1 << bits) - 1 };
                self.shift_states(mask, IR, ER);
                self.shift_states(mask, IB, EB);
            }
        }
        self.old_v = self.v;
    }

    fn shift_states(&mut self, mask: u32, source: usize, target: usize) {
        self.states[target] |= self.states[source] & mask;
        self.states[source] &= !mask;
    }

    /// The class of a packet, made on its first one.
    fn class_of(&mut self, packet: &Packet) -> usize {
        let index = usize::try_from(self.classifier.queue_of(packet)).unwrap_or(usize::MAX);
        if index == self.classes.len() {
            let number = self.classifier.bucket_of(self.classifier.class_of(packet));
            let weight = self.weights.of(u32::try_from(number).unwrap_or(u32::MAX));
            let aggregate = self.join_aggregate(weight);
            self.classes.push(Class {
                child: self
                    .each
                    .queue_of(usize::try_from(number).unwrap_or(usize::MAX), index),
                aggregate,
                deficit: 0,
            });
        }
        index
    }

    /// An aggregate of this weight with one class more.
    fn join_aggregate(&mut self, weight: u32) -> usize {
        let fits = |index: &&usize| self.aggregates[**index].weight == weight;
        let index = match self.open.iter().rev().find(fits) {
            Some(&index) => index,
            None => {
                self.aggregates.push(Aggregate {
                    weight,
                    classes: 0,
                    group: 0,
                    inverse: 0,
                    most: 0,
                    initial: 0,
                    budget: 0,
                    start: 0,
                    finish: 0,
                    active: Active::default(),
                });
                self.open.push(self.aggregates.len() - 1);
                self.aggregates.len() - 1
            }
        };
        let aggregate = &mut self.aggregates[index];
        aggregate.classes += 1;
        aggregate.most = u64::from(aggregate.classes) * self.lmax;
        aggregate.inverse = ONE / u64::from(aggregate.classes * weight);
        if aggregate.classes == 1 {
            let sigma = aggregate.most * aggregate.inverse;
            let above = sigma.div_ceil(1 << self.shift).next_power_of_two().ilog2();
            aggregate.group = small(u64::from(above.min(HIGHEST_INDEX)));
        }
        if aggregate.classes == self.most_classes {
            self.open.retain(|open| *open != index);
        }
        self.weight_sum += u64::from(weight);
        self.per_byte = ONE / self.weight_sum;
        index
    }

    /// Runs `work` on a child queue and keeps the totals.
    fn with_child<R>(&mut self, class: usize, work: impl FnOnce(&mut Child) -> R) -> R {
        self.backlog.keep(&mut self.classes[class].child, work)
    }
}

impl Group {
    fn remove_first(&mut self) {
        let slot = &mut self.slots[self.front];
        slot.pop();
        if slot.is_empty() {
            self.full &= !1;
        }
    }

    /// Moves to the first slot that is not empty; false if there is none.
    fn skip_empty_slots(&mut self) -> bool {
        if self.full == 0 {
            return false;
        }
        let empty = self.full.trailing_zeros();
        self.front = (self.front + small(u64::from(empty))) % SLOTS;
        self.full >>= empty;
        true
    }

    /// Makes room for slots before the first.
    fn rotate(&mut self, back: u64) {
        let back = small(back.min(LAST_SLOT));
        self.full <<= back;
        self.front = (self.front + SLOTS - back) % SLOTS;
    }
}

/// The lowest group of a set.
fn lowest(set: u32) -> Option<usize> {
    (set != 0).then(|| small(u64::from(set.trailing_zeros())))
}

/// The groups of a set from this one on.
fn from(set: u32, group: usize) -> u32 {
    set & u32::MAX
        .checked_shl(u32::try_from(group).unwrap_or(u32::BITS))
        .unwrap_or(0)
}

/// Whether virtual time `a` is after `b`, also when one has wrapped round.
fn after(a: u64, b: u64) -> bool {
    a != b && a.wrapping_sub(b) < 1 << 63
}

fn round_down(time: u64, shift: u32) -> u64 {
    time & !((1 << shift) - 1)
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn small(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::built_scheduler;
    use proptest::prelude::*;
    use sojourn_sim::Stream;

    type Bench = crate::testing::Bench<Qfq>;

    #[test]
    fn backlogged_flows_share_in_the_ratio_of_their_weights() {
        for dialect in ["paper", "linux"] {
            let mut bench = Bench::new(&format!("dialect={dialect} weights=8:4:2:1"));
            let mut sent = [0_u32; 5];
            for flow in 0..5 {
                bench.offer(flow, 1500);
                bench.offer(flow, 1500);
            }
            for _ in 0..16_000 {
                let flow = bench.take().expect("backlogged").flow;
                sent[usize::try_from(flow).expect("small")] += 1;
                bench.offer(flow, 1500);
            }
            for (count, expected) in sent.iter().zip([8000, 4000, 2000, 1000, 1000]) {
                assert!(count.abs_diff(expected) <= 16, "{dialect}: {sent:?}");
            }
        }
    }

    #[test]
    fn aggregates_hold_flows_of_one_weight_up_to_their_most() {
        let mut bench = Bench::new("dialect=linux weights=2:1 aggregate=4");
        for flow in 0..10 {
            bench.offer(flow, 1000);
        }
        let sizes: Vec<(u32, u32)> = bench
            .queue
            .aggregates
            .iter()
            .map(|a| (a.weight, a.classes))
            .collect();
        assert_eq!(sizes, [(2, 1), (1, 4), (1, 4), (1, 1)]);
        assert_eq!(bench.queue.weight_sum, 11);
    }

    #[test]
    fn packets_longer_than_lmax_keep_no_other_flow_from_sending() {
        for dialect in ["paper", "linux"] {
            let mut bench = Bench::new(&format!("dialect={dialect} lmax=1000B"));
            let mut sent = [0_u64; 2];
            for flow in [0, 1, 0, 1] {
                bench.offer(flow, 1000 + 8000 * flow);
            }
            for _ in 0..10_000 {
                let packet = bench.take().expect("backlogged");
                sent[usize::try_from(packet.flow).expect("small")] += u64::from(packet.size);
                bench.offer(packet.flow, packet.size);
            }
            assert!(sent[0] > 0 && sent[1] > 0, "{dialect}: {sent:?}");
        }
    }

    #[test]
    fn faults_name_the_remedy() {
        let error = |spec: &str| {
            built_scheduler::<Qfq>(spec)
                .err()
                .expect("an error")
                .to_string()
        };
        assert!(error("aggregate=8").starts_with("qfq: aggregate is for dialect linux"));
        assert!(error("dialect=linux aggregate=3").ends_with("give 1, 2, 4 or 8"));
        assert!(error("weights=2000").starts_with("qfq: the weight 2000 is above"));
        assert!(error("each=(tbf)").starts_with("qfq: each=(tbf) holds packets back"));
    }

    proptest! {
        /// The worst-case fair index of QFQ is below 3 sigma w + 2 L, and sigma w below 2 L; a budget takes the place of L in QFQ+.
        #[test]
        fn a_backlogged_flow_is_never_far_behind_its_share(
            plus in any::<bool>(),
            weights in prop::collection::vec(1_u32..200, 2..12),
            seed in 0_u64..1000,
        ) {
            let texts: Vec<String> = weights.iter().map(u32::to_string).collect();
            let dialect = if plus { "linux" } else { "paper" };
            let mut bench = Bench::new(&format!("dialect={dialect} weights={}", texts.join(":")));
            let mut rng = Stream::derive(seed, 0, "sizes");
            let mut size = || 40 + u32::try_from(rng.below(1461)).expect("small");
            let flows = u32::try_from(weights.len()).expect("few");
            for flow in 0..flows {
                bench.offer(flow, size());
                bench.offer(flow, size());
            }
            let total: f64 = weights.iter().map(|w| f64::from(*w)).sum();
            let mut got = vec![0.0; weights.len()];
            let mut whole = 0.0;
            for _ in 0..2000 {
                let packet = bench.take().expect("backlogged");
                got[usize::try_from(packet.flow).expect("small")] += f64::from(packet.size);
                whole += f64::from(packet.size);
                bench.offer(packet.flow, size());
                for (weight, got) in weights.iter().zip(&got) {
                    let lag = whole * f64::from(*weight) / total - got;
                    let bound = if plus { 64.0 } else { 8.0 } * 1514.0;
                    prop_assert!(lag < bound, "{lag} of weight {weight}");
                }
            }
        }
    }
}
