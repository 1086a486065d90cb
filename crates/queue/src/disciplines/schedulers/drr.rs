//! DRR: deficit round robin.
//!
//! Source of the default dialect: M. Shreedhar and G. Varghese, "Efficient Fair Queueing using Deficit Round Robin",
//! SIGCOMM 1995 (IEEE/ACM ToN 4(3), 1996), the enqueueing and dequeueing modules of section 3. Queues that hold packets
//! stand in the active list. The first of them gets a quantum, sends while its head packet is not larger than its deficit,
//! and goes to the end of the list with what is left; a queue that empties leaves the list and loses its deficit.
//!
//! The paper ignores the transmission time of packets. Here a turn continues from one request of the transmitter to the
//! next, and a queue counts as empty when its last packet is taken. Left open by the paper: the last packet of the
//! longest queue is dropped (McKenney's buffer stealing, which the paper cites), length is in the unit of the limit,
//! and among equally long queues the first one seen loses a packet. A queue emptied by such drops stays in the list
//! until its turn.
//!
//! Differences of dialects from the paper; `ns2` follows ns-2.35's drr.cc, `linux` follows net/sched/sch_drr.c:
//!
//! | | paper | ns2 | linux |
//! |---|---|---|---|
//! | an arrival at the limit | joins its queue after others were dropped, by `drop` | joins its queue, then heads of the longest queue are dropped, perhaps itself | knows the limit of its own queue alone |
//! | of equally long queues | the one seen first loses a packet | the next in the round does | none does |
//! | the quantum of a queue, and its AQM | comes when its turn begins; judges the head when it is sent | as paper; a queue that drops empty leaves the list, but keeps its turn | comes when it becomes active, and when it goes to the end of the list; judges the head when it is looked at |
//! | bucket of a flow | a keyed hash | ns-2's hash of the number of the source node | a keyed hash |
//!
//! In `ns2`, a queue that becomes empty by drops misses a quantum when it returns, because it kept its turn. In
//! `linux`, if an AQM drops all packets of a queue, the kernel warns and sends nothing; here the queue leaves the list.
//!
//! With an AQM that drops at the head (dialects paper and ns2), the deficit is compared with the head packet and
//! charged with the packet that is sent. It can then fall below zero, which later quanta compensate.

use crate::child::{Backlog, Child};
use crate::classify::{Classifier, Classify, Hash};
use crate::entry::{self, Entry, SpecError};
use crate::longest::{Longest, Rank};
use crate::nesting::{Each, NestingContext};
use crate::round::Round;
use crate::scheduler::{QueueState, Scheduler, SchedulerCx};
use crate::store::Held;
use crate::tc::{Inside, Line};
use sojourn_sim::{DropReason, Packet, to_usize as at};
use sojourn_units::{Bytes, Limit, Spec, Specs, choice, params, rules};

choice! {
    /// What is dropped when the limit over all queues is reached.
    pub enum DrrDrop {
        /// The packet at the head of the longest queue.
        LongestHead = "longest_head",
        /// The packet at the tail of the longest queue.
        LongestTail = "longest_tail",
        /// The packet that arrives.
        Arriving = "arriving",
    }
}

params! {
    /// Deficit round robin: queues take turns, each sends a quantum of bytes in its turn.
    pub struct DrrParams {
        /// Bytes that a queue may send per turn, on average.
        quantum: Bytes = "1500B", range "1B".."100MB", source "the paper, section 3: at least the largest packet, for O(1) work";
        /// Which packets share a queue.
        classify: Classify = "flow", source "the paper, section 2: a flow is the unit of fairness";
        /// Number of queues. A hash assigns flows to them. With none, each flow has its own queue.
        buckets: Option<u32> = "none", range "1".."1000000", source "the paper, section 4: analysis without collisions",
            acts "flows share a queue by their hash";
        /// Use a different hash key in every replication, so that no two flows collide in all of them.
        perturb: bool = "false", source "the paper: one hash function",
            where buckets not "none",
            acts "flows share a queue by their hash";
        /// Maximum total length of all queues.
        limit: Option<Limit> = "1000p", range "1p".., source "the same as for other queues; the paper gives none";
        /// Which packet is dropped when the limit is reached.
        drop: DrrDrop = "longest_tail", source "the paper, section 3: buffer stealing as in McKenney 1990",
            where limit not "none";
        /// Discipline of each queue: an AQM, or a scheduler with its own queues, such as sfq. A list gives one per
        /// class, from class 0; the last applies to all further classes.
        each: Specs = "droptail limit=none", source "the paper: one limit over all queues";
    }
    dialects Dialect {
        /// Shreedhar and Varghese.
        paper as Paper = "paper" {}
        /// ns-2's Queue/DRR.
        ns2 as Ns2 = "ns2-2.35" {
            quantum = "250B" from "ns-2.35 tcl/lib/ns-default.tcl: Queue/DRR set quantum_ 250";
            classify = "source" from "ns-2.35 drr.cc: hash of the source address";
            buckets = "10" from "ns-2.35 tcl/lib/ns-default.tcl: Queue/DRR set buckets_ 10";
            limit = "25kB" from "ns-2.35 tcl/lib/ns-default.tcl: Queue/DRR set blimit_ 25000";
            drop = "longest_head" from "ns-2.35 drr.cc";
        }
        /// Linux sch_drr, a class for each flow.
        linux as Linux = "linux-6.1" {
            quantum = "1514B" from "Linux sch_drr.c: psched_mtu, MTU and Ethernet header";
            limit = "none" from "Linux sch_drr.c: each class has its own qdisc";
            drop = "arriving" from "Linux sch_drr.c";
            each = "droptail limit=1000p" from "Linux sch_drr.c: pfifo, txqueuelen of an Ethernet device";
        }
    }
}

rules! {
    /// Where dialects leave the paper.
    struct Rules of Dialect {
        /// A packet joins its queue before the limit is looked at.
        lets_in_first: bool, "an arrival at the limit" {
            Paper = false, "joins its queue after others were dropped, by `drop`";
            Ns2 = true, "joins its queue, then heads of the longest queue are dropped, perhaps itself";
            Linux = false, "knows the limit of its own queue alone";
        }
        /// Of equally long queues the one that became active first is taken, not the one seen first.
        next_in_round: bool, "of equally long queues" {
            Paper = false, "the one seen first loses a packet";
            Ns2 = true, "the next in the round does";
            Linux = false, "none does";
        }
        /// How the queues are served.
        service: Service, "the quantum of a queue, and its AQM" {
            Paper = Service::QuantumInTurn, "comes when its turn begins; judges the head when it is sent";
            Ns2 = Service::QuantumInTurn, "as paper; a queue that drops empty leaves the list, but keeps its turn";
            Linux = Service::QuantumAhead, "comes when it becomes active, and when it goes to the end of the list; judges the head when it is looked at";
        }
        /// The bucket of a flow follows from the number of its source node alone.
        hashes_node: bool, "bucket of a flow" {
            Paper = false, "a keyed hash";
            Ns2 = true, "ns-2's hash of the number of the source node";
            Linux = false, "a keyed hash";
        }
    }
}

/// How the queues are served.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Service {
    /// The head is judged by its AQM when it is sent.
    QuantumInTurn,
    /// The head is judged by its AQM when it is looked at.
    QuantumAhead,
}

/// The discipline.
pub struct Drr {
    dialect: Dialect,
    /// Bytes that a queue gets in each turn.
    quantum: i64,
    limit: Option<Limit>,
    drop: DrrDrop,
    classes: Classifier,
    queues: Vec<Queue>,
    active: Round,
    backlog: Backlog,
    /// Orders turns: the stamp of a queue grows whenever it goes to the end of the list.
    stamp: u64,
    longest: Longest,
    each: Each,
}

#[repr(C, align(64))]
struct Queue {
    /// Bytes that it may still send in its turn.
    deficit: i64,
    /// It got the quantum of its turn.
    in_turn: bool,
    /// It stands in the active list.
    listed: bool,
    /// Number of the turn that it takes, in the order of turns.
    stamp: u64,
    // Last: every packet touches the fields before and the child's first, but only an AQM that judges touches its end.
    child: Child,
}

impl Entry<NestingContext> for Drr {
    const NAME: &'static str = "drr";
    const TITLE: &'static str = "DRR";
    const FAIR: bool = true;
    const TAKES_SCHEDULERS: bool = true;
    const ABOUT: &'static str = "Deficit round robin: flows take turns, each of a quantum of bytes. Each flow has a queue. Queues take turns and send a `quantum` of bytes per turn; a remainder too small for the next packet is kept for the next turn. When all queues together reach the limit, the longest queue loses a packet.\n\n\
        Expect equal throughput for all backlogged flows with any packet sizes, within one quantum and the largest packet, and a short wait for flows that send less than their share. Each queue can have its own AQM, as in `drr each=(codel)`, or a scheduler with queues, as in `drr limit=none classify=dscp each=(sfq)`. In the second case, use the limits of the inner queues, or `drop=arriving`.";
    type Params = DrrParams;

    fn build(params: DrrParams, cx: &NestingContext) -> Result<Self, SpecError> {
        let each = Each::ready(&params.each, Drr::NAME, cx)?;
        let drops = params.limit.is_some() && params.drop != DrrDrop::Arriving;
        each.keeps_its_own(Drr::NAME, drops, "give limit=none or drop=arriving")?;
        let (dialect, rules) = (params.dialect, Rules::of(params.dialect));
        if rules.lets_in_first && params.drop != DrrDrop::LongestHead {
            return Err(contradiction(format!(
                "drop={}, but dialect ns2 drops the head of the longest queue; leave it out or choose another dialect",
                params.drop
            )));
        }
        if rules.hashes_node && params.perturb {
            return Err(contradiction(
                "perturb=true, but the hash of dialect ns2 has no key; leave it out or choose another dialect".to_owned(),
            ));
        }
        let hash = match rules.hashes_node {
            true => Hash::Ns2,
            false if params.perturb => Hash::Keyed(cx.stream("hash").bits()),
            false => Hash::Keyed(0),
        };
        Ok(Drr {
            dialect,
            quantum: signed(params.quantum.get()),
            limit: params.limit,
            drop: params.drop,
            classes: Classifier::new(params.classify, params.buckets, hash, cx),
            queues: Vec::new(),
            active: Round::default(),
            backlog: Backlog::default(),
            stamp: 0,
            longest: match rules.next_in_round {
                true => Longest::by_tie(),
                false => Longest::default(),
            },
            each,
        })
    }

    fn inside(params: &DrrParams) -> Vec<&Spec> {
        params.each.all()
    }

    fn tc_with(params: &DrrParams, inside: Inside<'_>) -> Option<Line> {
        let class = |_: Option<u32>| format!("drr quantum {}", params.quantum.get());
        Some(Line::with_handle("drr").with_hashed(params.buckets, class, &params.each, inside))
    }
}

impl Scheduler for Drr {
    fn enqueue(&mut self, packet: Held, cx: &mut SchedulerCx) {
        let index = self.queue_of(cx.store.packet(&packet));
        if !self.rules().lets_in_first && !self.make_room(u64::from(packet.size), cx) {
            cx.drop(packet, DropReason::Overlimit);
            return;
        }
        let (quantum, ahead) = (self.quantum, self.rules().service == Service::QuantumAhead);
        let queue = &mut self.queues[at(index)];
        let packets = queue.child.packets();
        if self.backlog.enqueue(&mut queue.child, packet, cx) {
            if ahead && packets == 0 {
                queue.deficit = quantum;
            }
            if !queue.listed {
                if !ahead {
                    queue.deficit = 0;
                }
                queue.listed = true;
                self.stamp += 1;
                queue.stamp = self.stamp;
                self.active.join(index);
            }
        }
        if self.limit.is_some() && self.drop != DrrDrop::Arriving {
            let rank = rank(queue, index, self.limit, Rules::of(self.dialect));
            self.longest.raise(index, rank);
        }
        if self.rules().lets_in_first {
            self.keep_limit(cx);
        }
    }

    fn dequeue(&mut self, cx: &mut SchedulerCx) -> Option<Held> {
        match self.rules().service {
            Service::QuantumAhead => self.dequeue_ahead(cx),
            Service::QuantumInTurn => self.dequeue_in_turn(cx),
        }
    }

    fn catch_up(&mut self, cx: &mut SchedulerCx) {
        for queue in &mut self.queues {
            queue.child.catch_up(cx);
        }
    }

    fn backlog(&self) -> (u64, u64) {
        self.backlog.counts()
    }

    fn queues(&self, show: &mut dyn FnMut(QueueState<'_>)) {
        for (queue, number) in self.queues.iter().zip(0..) {
            show(QueueState::of(number, &queue.child, Some(queue.deficit)));
        }
    }

    fn state_names(&self) -> &'static [&'static str] {
        &["queues", "active_queues", "longest_queue_bytes"]
    }

    fn state(&self, out: &mut Vec<f64>) {
        let count = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
        let active = self.queues.iter().filter(|q| !q.child.is_empty());
        let longest = self
            .queues
            .iter()
            .map(|q| q.child.bytes())
            .max()
            .unwrap_or(0);
        out.extend([
            count(self.queues.len()),
            count(active.count()),
            f64::from(u32::try_from(longest).unwrap_or(u32::MAX)),
        ]);
    }
}

impl Drr {
    fn dequeue_in_turn(&mut self, cx: &mut SchedulerCx) -> Option<Held> {
        loop {
            let index = self.active.front()?;
            let queue = &mut self.queues[at(index)];
            if !queue.in_turn {
                queue.in_turn = true;
                queue.deficit += self.quantum;
            }
            let Some(size) = self.backlog.head_size(&mut queue.child, cx) else {
                queue.lose_turn();
                self.active.retire();
                continue;
            };
            if i64::from(size) > queue.deficit {
                queue.in_turn = false;
                self.stamp += 1;
                queue.stamp = self.stamp;
                self.active.rotate();
                continue;
            }
            let sent = self.backlog.dequeue(&mut queue.child, cx);
            if let Some(packet) = &sent {
                queue.deficit -= i64::from(packet.size);
            }
            if queue.child.is_empty() {
                queue.lose_turn();
                self.active.retire();
                self.longest.forget(index);
            }
            if sent.is_some() {
                return sent;
            }
        }
    }

    fn dequeue_ahead(&mut self, cx: &mut SchedulerCx) -> Option<Held> {
        loop {
            let index = self.active.front()?;
            let size = self.with_child(index, |child| child.peek(cx).map(i64::from));
            let queue = &mut self.queues[at(index)];
            let Some(size) = size else {
                queue.lose_turn();
                self.active.retire();
                continue;
            };
            if size > queue.deficit {
                queue.deficit += self.quantum;
                self.active.rotate();
                continue;
            }
            queue.deficit -= size;
            let sent = self.backlog.dequeue(&mut self.queues[at(index)].child, cx);
            let queue = &mut self.queues[at(index)];
            if queue.child.is_empty() {
                queue.lose_turn();
                self.active.retire();
            }
            return sent;
        }
    }

    /// Frees room for `size` bytes; false if the arriving packet is to be dropped instead.
    #[inline]
    fn make_room(&mut self, size: u64, cx: &mut SchedulerCx) -> bool {
        let Some(limit) = self.limit else {
            return true;
        };
        while !self.backlog.has_room(limit, size) {
            let never = !Backlog::default().has_room(limit, size);
            if never || self.drop == DrrDrop::Arriving {
                return false;
            }
            self.drop_longest(cx);
        }
        true
    }

    /// Dialect ns2: drops until the limit is kept.
    fn keep_limit(&mut self, cx: &mut SchedulerCx) {
        let Some(limit) = self.limit else { return };
        while !self.backlog.keeps(limit) {
            let index = self.drop_longest(cx);
            let queue = &mut self.queues[at(index)];
            if queue.child.is_empty() && queue.listed {
                queue.listed = false;
                self.active.leave(index);
            }
        }
    }

    #[inline(never)]
    fn drop_longest(&mut self, cx: &mut SchedulerCx) -> u32 {
        let (queues, limit, rules) = (&self.queues, self.limit, self.rules());
        let index = self
            .longest
            .top(|index| rank(&queues[at(index)], index, limit, rules));
        let reason = DropReason::Evicted;
        let tail = self.drop == DrrDrop::LongestTail;
        let dropped = self.with_child(index, |child| match tail {
            true => child.drop_tail(reason, cx),
            false => child.drop_head(reason, cx),
        });
        assert!(
            dropped,
            "the longest queue of a full scheduler holds a packet"
        );
        index
    }

    #[inline(always)]
    fn rules(&self) -> Rules {
        Rules::of(self.dialect)
    }

    /// Runs `work` on a child queue and keeps the totals.
    #[inline]
    fn with_child<R>(&mut self, index: u32, work: impl FnOnce(&mut Child) -> R) -> R {
        self.backlog.keep(&mut self.queues[at(index)].child, work)
    }

    /// The queue of a packet, made on its first one.
    #[inline]
    fn queue_of(&mut self, packet: &Packet) -> u32 {
        let index = self.classes.queue_of(packet);
        if at(index) == self.queues.len() {
            let class = self.classes.bucket_of(self.classes.class_of(packet));
            self.add_queue(usize::try_from(class).unwrap_or(usize::MAX));
        }
        index
    }

    #[cold]
    fn add_queue(&mut self, class: usize) {
        self.queues.push(Queue {
            child: self.each.queue_of(class, self.queues.len()),
            deficit: 0,
            in_turn: false,
            listed: false,
            stamp: 0,
        });
    }
}

impl Queue {
    /// An empty queue that leaves the active list leaves its turn.
    #[inline]
    fn lose_turn(&mut self) {
        self.deficit = 0;
        self.in_turn = false;
        self.listed = false;
    }
}

/// The place of a queue among the longest.
fn rank(queue: &Queue, index: u32, limit: Option<Limit>, rules: Rules) -> Rank {
    Rank {
        length: match limit {
            Some(Limit::Packets(_)) => queue.child.packets(),
            Some(Limit::Bytes(_)) | None => queue.child.bytes(),
        },
        tie: match rules.next_in_round {
            true => queue.stamp,
            false => u64::from(index),
        },
    }
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn contradiction(text: String) -> SpecError {
    entry::contradiction(Drr::NAME, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::BuildContext;
    use crate::testing::{built_scheduler, built_with};
    use proptest::prelude::*;
    use sojourn_sim::{Flags, Stream};
    use sojourn_units::{Params, Spec, build};
    use std::collections::VecDeque;

    type Bench = crate::testing::Bench<Drr>;

    #[test]
    fn the_table_in_the_head_is_that_of_the_rules() {
        let checked = sojourn_units::check_rules_table(include_str!("drr.rs"), Rules::TABLE);
        assert!(checked.is_ok(), "{}", checked.unwrap_err());
    }

    #[test]
    fn a_queue_sends_a_quantum_in_its_turn_and_keeps_the_rest() {
        let mut bench = Bench::new("quantum=1000B");
        for _ in 0..6 {
            bench.offer(0, 400);
            bench.offer(1, 700);
        }
        // Flow 0 has 1000, then 200 + 1000; flow 1 has 1000, 300 + 1000, 600 + 1000.
        assert_eq!(bench.send(9), [0, 0, 1, 0, 0, 0, 1, 0, 1]);
        assert_eq!(bench.send(9), [1, 1, 1]);
    }

    #[test]
    fn classes_share_by_bytes_whatever_schedules_inside_them() {
        for dialect in ["paper", "linux"] {
            for each in ["fq_codel", "sfq", "prio by=flow bands=2"] {
                let mut bench = Bench::new(&format!(
                    "dialect={dialect} limit=none classify=dscp quantum=1500B each=({each})"
                ));
                for flow in 0..6 {
                    for _ in 0..60 {
                        // One flow of class 0, and two that share class 8 with three others.
                        let tos = if flow == 0 { 0 } else { 32 };
                        bench.offer_with(flow, 200 + 100 * flow, |packet| packet.tos = tos);
                    }
                }
                let (mut first, mut other) = (0, 0);
                while first + other < 20_000 {
                    let packet = bench.take().expect("both classes are backlogged");
                    match packet.tos {
                        0 => first += packet.size,
                        _ => other += packet.size,
                    }
                }
                // By no more than a quantum and the largest packet.
                assert!(
                    first.abs_diff(other) <= 2200,
                    "{dialect} {each}: {first} {other}"
                );
            }
        }
    }

    #[test]
    fn a_queue_that_empties_loses_its_deficit() {
        let mut bench = Bench::new("quantum=1000B");
        bench.offer(0, 100);
        assert_eq!(bench.send(2), [0]);
        for _ in 0..2 {
            bench.offer(0, 1000);
            bench.offer(1, 1000);
        }
        // With the 900 bytes left from before flow 0 would send twice.
        assert_eq!(bench.send(4), [0, 1, 0, 1]);
    }

    #[test]
    fn a_quantum_below_the_packet_size_takes_several_rounds() {
        let mut bench = Bench::new("quantum=100B");
        bench.offer(0, 1000);
        bench.offer(1, 500);
        bench.offer(1, 500);
        assert_eq!(bench.send(3), [1, 0, 1]);
    }

    #[test]
    fn a_full_scheduler_drops_from_the_longest_queue() {
        for (drop, expected) in [
            ("longest_tail", (2, "evicted")),
            ("longest_head", (0, "evicted")),
            ("arriving", (4, "overlimit")),
        ] {
            let mut bench = Bench::new(&format!("limit=4p drop={drop}"));
            for flow in [0, 0, 0, 1, 1] {
                bench.offer(flow, 1000);
            }
            assert_eq!(bench.dropped(), [expected], "{drop}");
            assert_eq!(bench.queue.backlog(), (4, 4000));
        }
    }

    #[test]
    fn the_longest_queue_is_the_one_with_most_bytes_when_the_limit_is_in_bytes() {
        let mut bench = Bench::new("limit=3000B");
        for (flow, size) in [(0, 100), (0, 100), (0, 100), (1, 1500), (2, 1400)] {
            bench.offer(flow, size);
        }
        assert_eq!(bench.dropped(), [(3, "evicted")]);
    }

    #[test]
    fn a_packet_above_the_whole_limit_pushes_nothing_out() {
        let mut bench = Bench::new("limit=1000B");
        bench.offer(0, 900);
        bench.offer(1, 1100);
        assert_eq!(bench.dropped(), [(1, "overlimit")]);
    }

    #[test]
    fn ns2_lets_the_arrival_in_first_so_that_it_may_be_the_victim() {
        let mut bench = Bench::new("dialect=ns2 classify=flow buckets=none limit=2000B");
        bench.offer(0, 500);
        bench.offer(1, 1600);
        assert_eq!(bench.dropped(), [(1, "evicted")]);
    }

    #[test]
    fn ns2_takes_the_next_in_the_round_of_equally_long_queues_where_the_paper_takes_the_first_seen()
    {
        for (dialect, victim) in [
            ("ns2 classify=flow buckets=none", 1),
            ("paper drop=longest_head", 0),
        ] {
            let mut bench = Bench::new(&format!("dialect={dialect} quantum=500B limit=4kB"));
            for flow in [0, 0, 1, 1] {
                bench.offer(flow, 1000);
            }
            // Two quanta for flow 0, whose turn ends; it gets another packet and is last in the round.
            assert_eq!(bench.send(1), [0]);
            bench.offer(0, 1000);
            assert_eq!(bench.send(1), [1]);
            bench.offer(1, 1000);
            bench.dropped();
            bench.offer(2, 10);
            let flows: Vec<u32> = bench
                .drops
                .iter()
                .map(|d| bench.store.packet(&d.0).flow)
                .collect();
            // After flow 1 has sent it is still in its turn.
            assert_eq!(flows, [victim], "{dialect}");
        }
    }

    #[test]
    fn ns2_takes_a_turn_from_a_queue_that_drops_emptied_during_it() {
        let spec = "dialect=ns2 classify=flow buckets=none quantum=1000B limit=4000B";
        let mut bench = Bench::new(spec);
        bench.offer(0, 500);
        bench.offer(0, 2000);
        assert_eq!(bench.send(1), [0]);
        // Flow 0 is in its turn when its other packet is pushed out.
        for flow in [1, 2, 1] {
            bench.offer(flow, 900);
        }
        assert_eq!(bench.dropped(), [(1, "evicted")]);
        bench.offer(0, 400);
        assert_eq!(bench.send(5), [1, 2, 1, 0]);
        // Without that it sends on its first visit.
        let mut fresh = Bench::new(spec);
        for (flow, size) in [(1, 900), (2, 900), (1, 900), (0, 400)] {
            fresh.offer(flow, size);
        }
        assert_eq!(fresh.send(5), [1, 2, 0, 1]);
    }

    #[test]
    fn linux_starts_a_queue_with_a_quantum_and_limits_each_by_itself() {
        let mut bench = Bench::new("dialect=linux quantum=1000B each=(droptail limit=2p)");
        for flow in [0, 0, 0, 1] {
            bench.offer(flow, 600);
        }
        assert_eq!(bench.dropped(), [(2, "overlimit")]);
        assert_eq!(bench.send(4), [0, 1, 0]);
    }

    #[test]
    fn linux_keeps_the_deficit_of_a_queue_that_empties_only_until_it_returns() {
        let mut bench = Bench::new("dialect=linux quantum=1000B");
        bench.offer(0, 100);
        assert_eq!(bench.send(1), [0]);
        for _ in 0..2 {
            bench.offer(0, 700);
            bench.offer(1, 700);
        }
        assert_eq!(bench.send(4), [0, 1, 0, 1]);
    }

    #[test]
    fn packets_share_a_queue_by_flow_source_or_both_ends() {
        // Two flows from node 5, to nodes 7 and 8, and one from node 6.
        let nodes = [(5, 7), (5, 8), (6, 7)];
        for (classify, queues) in [("flow", 3), ("source", 2), ("source_destination", 3)] {
            let mut bench = Bench::between(&format!("classify={classify}"), &nodes);
            for flow in [0, 1, 2] {
                bench.offer(flow, 1000);
            }
            assert_eq!(bench.queue.queues.len(), queues, "{classify}");
            // A packet on the way back comes from the other end.
            let mut back = Packet::test(40, 0, 9);
            back.flags = Flags::REVERSE;
            bench.call(|drr, cx| {
                let back = cx.store.hold(back);
                drr.enqueue(back, cx);
            });
            assert_eq!(bench.queue.queues.len(), queues + 1, "{classify}");
        }
    }

    #[test]
    fn buckets_are_fewer_than_flows_and_all_used() {
        let mut bench = Bench::new("buckets=8");
        for flow in 0..1000 {
            bench.offer(flow, 100);
        }
        assert_eq!(bench.queue.queues.len(), 8);
        let least = bench.queue.queues.iter().map(|q| q.child.packets()).min();
        assert!(least > Some(80), "{least:?}");
    }

    #[test]
    fn perturbation_changes_which_flows_collide() {
        let colliding = |spec: &str, replication| {
            let spec: Spec = format!("drr buckets=16 {spec}").parse().expect("a spec");
            let params: DrrParams = build(None, &spec.pairs()).expect("parameters");
            let cx = BuildContext {
                replication,
                ..BuildContext::plain(1, "queue/test")
            };
            let mut classes = built_with::<Drr>(params, cx).expect("consistent").classes;
            (0..64)
                .map(|flow| classes.queue_of(&Packet::test(100, flow, 0)))
                .collect::<Vec<_>>()
        };
        assert_eq!(colliding("", 0), colliding("", 1));
        assert_ne!(colliding("perturb=true", 0), colliding("perturb=true", 1));
    }

    #[test]
    fn faults_of_the_inner_specification_show_when_the_queue_is_built() {
        let error = |spec: &str| {
            built_scheduler::<Drr>(spec)
                .err()
                .expect("an error")
                .to_string()
        };
        assert!(
            error("each=(codl)")
                .starts_with("unknown queue discipline \"codl\", did you mean \"codel\"?")
        );
        assert_eq!(
            error("each=(sfq)"),
            "drr: each=(sfq) keeps queues of its own, and the limit of drr cannot drop the longest of them; give limit=none or drop=arriving"
        );
        assert_eq!(
            error("limit=none each=(tbf)"),
            "drr: each=(tbf) holds packets back, and drr does not wait for them; put drr inside it, or use prio"
        );
        assert!(
            error("each=(codel target=0s)").starts_with("codel: target: \"0s\" is out of range")
        );
        assert!(
            error("dialect=ns2 drop=arriving").starts_with("drr: drop=arriving, but dialect ns2")
        );
    }

    /// DRR as the sources write it, by scans.
    struct Plain {
        rules: Dialect,
        quantum: i64,
        limit: u64,
        tail: bool,
        flows: Vec<PlainFlow>,
        round: VecDeque<usize>,
    }

    #[derive(Default)]
    struct PlainFlow {
        queue: VecDeque<(u32, u32)>,
        deficit: i64,
        turn: bool,
    }

    impl PlainFlow {
        fn bytes(&self) -> u64 {
            self.queue.iter().map(|(_, size)| u64::from(*size)).sum()
        }
    }

    impl Plain {
        fn total(&self) -> u64 {
            self.flows.iter().map(PlainFlow::bytes).sum()
        }

        /// The packets that are dropped when `uid` arrives.
        fn enqueue(&mut self, flow: usize, uid: u32, size: u32) -> Vec<u32> {
            let mut dropped = Vec::new();
            let paper = self.rules == Dialect::Paper;
            while paper && self.total() + u64::from(size) > self.limit {
                let most = self.flows.iter().map(PlainFlow::bytes).max().unwrap_or(0);
                let victim = self
                    .flows
                    .iter()
                    .position(|f| f.bytes() == most)
                    .expect("a flow");
                let queue = &mut self.flows[victim].queue;
                let packet = if self.tail {
                    queue.pop_back()
                } else {
                    queue.pop_front()
                };
                dropped.push(packet.expect("a packet").0);
            }
            let was_empty = self.flows[flow].queue.is_empty();
            self.flows[flow].queue.push_back((uid, size));
            if !self.round.contains(&flow) {
                self.flows[flow].deficit = 0;
                self.round.push_back(flow);
            }
            if self.rules == Dialect::Linux && was_empty {
                self.flows[flow].deficit = self.quantum;
            }
            while self.rules == Dialect::Ns2 && self.total() > self.limit {
                let most = self
                    .round
                    .iter()
                    .map(|f| self.flows[*f].bytes())
                    .max()
                    .expect("a flow");
                let place = self
                    .round
                    .iter()
                    .position(|f| self.flows[*f].bytes() == most)
                    .expect("a flow");
                let victim = self.round[place];
                dropped.push(self.flows[victim].queue.pop_front().expect("a packet").0);
                if self.flows[victim].queue.is_empty() {
                    self.round.remove(place);
                }
            }
            dropped
        }

        fn dequeue(&mut self) -> Option<u32> {
            loop {
                let index = *self.round.front()?;
                let linux = self.rules == Dialect::Linux;
                let flow = &mut self.flows[index];
                if !linux && !flow.turn {
                    flow.deficit += self.quantum;
                    flow.turn = true;
                }
                let Some(&(uid, size)) = flow.queue.front() else {
                    (flow.deficit, flow.turn) = (0, false);
                    self.round.pop_front();
                    continue;
                };
                if i64::from(size) <= flow.deficit {
                    flow.deficit -= i64::from(size);
                    flow.queue.pop_front();
                    if flow.queue.is_empty() {
                        (flow.deficit, flow.turn) = (0, false);
                        self.round.pop_front();
                    }
                    return Some(uid);
                }
                flow.turn = false;
                if linux {
                    flow.deficit += self.quantum;
                }
                self.round.rotate_left(1);
            }
        }
    }

    proptest! {
        /// Shreedhar and Varghese, section 4: flows that are backlogged from the start never differ by as much as a
        /// quantum and the largest packet.
        #[test]
        fn backlogged_flows_stay_within_a_quantum_and_a_packet_of_their_share(
            dialect in prop::sample::select(vec!["paper", "ns2", "linux"]),
            quantum in 1_u32..4000,
            flows in 2_u32..8,
            seed in 0_u64..1000,
        ) {
            let spec = format!(
                "dialect={dialect} quantum={quantum}B classify=flow buckets=none limit=none each=(droptail limit=none)"
            );
            let mut bench = Bench::new(&spec);
            let mut rng = Stream::derive(seed, 0, "sizes");
            let largest = 1500;
            let mut size = || 1 + u32::try_from(rng.below(u64::from(largest))).expect("small");
            for flow in 0..flows {
                for _ in 0..3 {
                    bench.offer(flow, size());
                }
            }
            let mut sent = vec![0_u64; flows as usize];
            for _ in 0..500 {
                let packet = bench.take().expect("backlogged");
                sent[packet.flow as usize] += u64::from(packet.size);
                bench.offer(packet.flow, size());
                let (least, most) = (sent.iter().min(), sent.iter().max());
                let lead = most.expect("flows") - least.expect("flows");
                prop_assert!(lead < u64::from(quantum + largest), "{lead}");
            }
        }

        #[test]
        fn linked_lists_and_heap_equal_plain_scans(
            dialect in prop::sample::select(vec!["paper", "ns2", "linux"]),
            tail in any::<bool>(),
            quantum in 50_u32..2000,
            seed in 0_u64..1000,
        ) {
            let flows = 12;
            let rules = match dialect {
                "paper" => Dialect::Paper,
                "ns2" => Dialect::Ns2,
                _ => Dialect::Linux,
            };
            let limit = if rules == Dialect::Linux { "none" } else { "8000B" };
            let drop = match rules {
                Dialect::Paper if tail => "drop=longest_tail",
                Dialect::Paper => "drop=longest_head",
                _ => "",
            };
            let spec = format!(
                "dialect={dialect} quantum={quantum}B classify=flow buckets=none limit={limit} {drop} each=(droptail limit=none)"
            );
            let mut bench = Bench::new(&spec);
            let mut plain = Plain {
                rules,
                quantum: i64::from(quantum),
                limit: 8000,
                tail,
                flows: Vec::new(),
                round: VecDeque::new(),
            };
            let mut rng = Stream::derive(seed, 0, "drr");
            // Flows are numbered in the order in which they are seen.
            let mut number = vec![usize::MAX; flows];
            for _ in 0..2000 {
                if rng.below(20) < 11 {
                    let flow = rng.below(flows as u64);
                    // Few sizes, so that queues are often equally long.
                    let size = 100 * (1 + u32::try_from(rng.below(8)).expect("small"));
                    let seen = &mut number[usize::try_from(flow).expect("small")];
                    if *seen == usize::MAX {
                        *seen = plain.flows.len();
                        plain.flows.push(PlainFlow::default());
                    }
                    let expected = plain.enqueue(*seen, bench.uid, size);
                    bench.offer(u32::try_from(flow).expect("small"), size);
                    let dropped = bench.lost();
                    prop_assert_eq!(dropped, expected);
                } else {
                    let sent = bench.take().map(|p| p.uid);
                    prop_assert_eq!(sent, plain.dequeue());
                }
                let (_, bytes) = bench.queue.backlog();
                prop_assert_eq!(bytes, plain.total());
            }
        }
    }

    #[test]
    fn an_aqm_in_each_queue_drops_for_its_queue_alone() {
        let mut bench = Bench::new("each=(droptail limit=2p)");
        for flow in [0, 0, 0, 1] {
            bench.offer(flow, 1000);
        }
        assert_eq!(bench.dropped(), [(2, "overlimit")]);
        assert_eq!(bench.send(4), [0, 1, 0]);
        assert_eq!(bench.queue.backlog(), (0, 0));
    }

    #[test]
    fn dialects_are_named_in_full() {
        let releases: Vec<&str> = DrrParams::DIALECTS.iter().map(|d| d.release).collect();
        assert_eq!(releases, ["paper", "ns2-2.35", "linux-6.1"]);
        assert_eq!(
            DrrParams::in_dialect("ns2").expect("a dialect").quantum,
            Bytes::new(250)
        );
    }
}
