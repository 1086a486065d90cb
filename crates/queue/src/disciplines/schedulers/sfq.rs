//! SFQ: stochastic fairness queueing.
//!
//! Source of the default dialect: P. E. McKenney, "Stochastic Fairness Queueing", INFOCOM 1990. Conversations are hashed to a
//! fixed number of queues, which are served round robin, a packet at a time; the hash may be perturbed from time to time. Without
//! a free buffer one is stolen from the longest queue. The paper was not available when this was written: its rules
//! were taken from later papers and from the implementations. Open, and done here: the victim is the packet that came
//! last; length is in the unit of the limit; of equally long queues the one seen first loses; the arriving packet does
//! not count when the longest is chosen; with `quantum` a turn lasts until that number of bytes is sent.
//!
//! Differences of dialects from the paper; `linux` follows net/sched/sch_sfq.c, `ns2` follows ns-2.35's sfq.cc:
//!
//! | | paper | linux | ns2 |
//! |---|---|---|---|
//! | an arrival at the limit | joins its queue after the longest queue gave packets up | joins its queue, then the longest queue gives a packet up, perhaps this one | is refused, and before: when its queue holds at least half of the free room, or more than `limit / buckets` packets while fewer places are free than there are buckets |
//! | of equally long queues | the one seen first loses a packet; length is in the unit of `limit` | the one whose length changed last does, and when all hold one packet, the one whose turn is next; length is in packets | none does |
//! | `quantum` | is counted in bytes | is counted in units of 8 bytes, rounded up (kernels from 6.14 on count bytes) | is unknown |
//! | when the hash gets another key, packets that wait | stay | are spread anew | there is no key |
//! | bucket of a conversation | a keyed hash | a keyed hash | ns-2's hash of the sum of the two nodes |
//! | the AQM of a queue that becomes active | goes on | starts anew | goes on |
//!
//! In `linux`, a queue holds at most `depth` packets. Beyond that, the arriving packet is refused, or, with `headdrop`,
//! replaces the first one. When the key changes, queued packets are redistributed queue by queue, in the order in which
//! the queues were first seen (in Linux, in the order of its table). Packets that find no room are dropped.
//!
//! Linux's `redflowlimit` is `each=(red dialect=linux ...)`; as there, the AQM of a queue starts anew when the queue becomes active.
//! Of its marks at the head of the queue nothing is modelled.
//!
//! Random draws: one key (64 bits) per `perturb_period`, from the stream of the queue.

use crate::child::{Backlog, Child};
use crate::classify::{Classifier, Classify, Hash};
use crate::entry::{Entry, SpecError};
use crate::longest::{Longest, Rank};
use crate::nesting::{Each, NestingContext};
use crate::round::Round;
use crate::scheduler::{QueueState, Scheduler, SchedulerCx};
use crate::store::Held;
use crate::tc::Line;
use sojourn_sim::{DropReason, Packet, to_usize as at};
use sojourn_units::{Bytes, Limit, Span, Spec, Time, params, rules};

params! {
    /// Stochastic fairness queueing: conversations hashed to queues that take turns.
    pub struct SfqParams {
        /// Maximum total length of all queues.
        limit: Limit = "1000p", range "1p".., source "the same as for other queues; the paper gives none";
        /// Bytes that a queue may send per turn. With none, one packet per turn.
        quantum: Option<Bytes> = "none", range "1B".."100MB", source "the paper: round robin by packets";
        /// Which packets share a queue.
        classify: Classify = "source_destination", source "the paper: source and destination address";
        /// Number of queues. A hash assigns flows to them. With none, each flow has its own queue.
        buckets: Option<u32> = "1024", range "1".."1000000", source "Linux sch_sfq.c; the paper asks for several times the number of conversations",
            acts "flows share a queue by their hash";
        /// Use a different hash key in every replication.
        perturb: bool = "true", source "the paper: the hash is perturbed",
            where buckets not "none",
            acts "flows share a queue by their hash";
        /// Time between changes of the hash key within a run.
        perturb_period: Option<Span> = "none", range "1ms".., source "Linux sch_sfq.c: 0, never; the paper leaves it open";
        /// Packets that a queue may hold; dialect linux.
        depth: Option<u32> = "none", range "1".."1000000", source "the paper: one limit over all queues";
        /// Maximum number of queues with packets at a time; dialect linux.
        flows: Option<u32> = "none", range "1".."1000000", source "the paper: any",
            acts "this number of queues have packets";
        /// Drop the packet at the head of a queue instead of the last one; not in dialect ns2.
        headdrop: bool = "false", source "Linux sch_sfq.c: off";
        /// Discipline of each queue.
        each: Spec = "droptail limit=none", source "the paper: one limit over all queues";
    }
    dialects Dialect {
        /// McKenney.
        paper as Paper = "paper" {}
        /// Linux sch_sfq.
        linux as Linux = "linux-6.1" {
            limit = "127p" from "Linux sch_sfq.c: SFQ_MAX_DEPTH";
            quantum = "1514B" from "Linux sch_sfq.c: psched_mtu, MTU and Ethernet header";
            classify = "flow" from "Linux sch_sfq.c: skb_get_hash";
            depth = "127" from "Linux sch_sfq.c: SFQ_MAX_DEPTH";
            flows = "128" from "Linux sch_sfq.c: SFQ_DEFAULT_FLOWS";
        }
        /// ns-2's Queue/SFQ.
        ns2 as Ns2 = "ns2-2.35" {
            limit = "40p" from "ns-2.35 sfq.cc: maxqueue_ 40";
            buckets = "16" from "ns-2.35 sfq.cc: buckets_ 16";
            perturb = "false" from "ns-2.35 sfq.cc: no key";
        }
    }
}

rules! {
    /// Where dialects leave the paper.
    struct Rules of Dialect {
        /// What becomes of a packet that finds no room.
        when_full: WhenFull, "an arrival at the limit" {
            Paper = WhenFull::Steals, "joins its queue after the longest queue gave packets up";
            Linux = WhenFull::StealsAfter, "joins its queue, then the longest queue gives a packet up, perhaps this one";
            Ns2 = WhenFull::Refuses, "is refused, and before: when its queue holds at least half of the free room, or more than `limit / buckets` packets while fewer places are free than there are buckets";
        }
        /// Of equally long queues the one whose length changed last loses; the paper's is the one seen first.
        changed_last: bool, "of equally long queues" {
            Paper = false, "the one seen first loses a packet; length is in the unit of `limit`";
            Linux = true, "the one whose length changed last does, and when all hold one packet, the one whose turn is next; length is in packets";
            Ns2 = false, "none does";
        }
        /// Bytes of the unit in which allotments are counted.
        unit: u64, "`quantum`" {
            Paper = 1, "is counted in bytes";
            Linux = 8, "is counted in units of 8 bytes, rounded up (kernels from 6.14 on count bytes)";
            Ns2 = 1, "is unknown";
        }
        /// Packets that wait go to other queues when the hash gets another key.
        spreads_anew: bool, "when the hash gets another key, packets that wait" {
            Paper = false, "stay";
            Linux = true, "are spread anew";
            Ns2 = false, "there is no key";
        }
        /// The bucket follows from the sum of the two nodes.
        hashes_sum: bool, "bucket of a conversation" {
            Paper = false, "a keyed hash";
            Linux = false, "a keyed hash";
            Ns2 = true, "ns-2's hash of the sum of the two nodes";
        }
        /// The AQM of a queue starts anew when the queue becomes active.
        aqm_anew: bool, "the AQM of a queue that becomes active" {
            Paper = false, "goes on";
            Linux = true, "starts anew";
            Ns2 = false, "goes on";
        }
    }
}

/// What becomes of a packet that finds no room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum WhenFull {
    Steals,
    StealsAfter,
    Refuses,
}

/// The discipline.
pub struct Sfq {
    dialect: Dialect,
    /// Bytes (or units of 8) in a turn; `None` for a packet a turn.
    quantum: Option<i64>,
    limit: Limit,
    /// Packets in a queue at most.
    depth: u64,
    /// Queues at most.
    flows: usize,
    /// Drops take the head of a queue.
    headdrop: bool,
    classes: Classifier,
    /// Number of buckets.
    buckets: u64,
    queues: Vec<Queue>,
    /// Queues that hold packets, the one whose turn it is first.
    round: Round,
    backlog: Backlog,
    longest: Longest,
    /// Changes of lengths so far.
    changes: u64,
    /// Time between changes of the key.
    period: Option<Span>,
    /// When the key changes next.
    perturb_at: Time,
    each: Each,
    /// Queues have an AQM whose state is reset when they empty.
    managed: bool,
}

#[repr(C, align(64))]
struct Queue {
    /// What it may still send in its turn, in bytes; in dialect linux in units of 8 bytes.
    allotment: i64,
    /// It stands in the round.
    listed: bool,
    /// Number of the change that gave it its length.
    changed: u64,
    // Last: every packet touches the fields before and the child's first, but only an AQM that judges touches its end.
    child: Child,
}

impl Entry<NestingContext> for Sfq {
    const NAME: &'static str = "sfq";
    const TITLE: &'static str = "SFQ";
    const FAIR: bool = true;
    const ABOUT: &'static str = "Stochastic fairness queueing: flows are hashed to queues that take turns. A hash assigns conversations to queues, and the queues take turns. When there is no room left, the longest queue loses a packet.\n\n\
        Expect nearly equal shares in packets (in bytes with `quantum`) for backlogged flows in different buckets, and half a share for two flows in the same bucket, until the hash key changes. Turns in packets, as in the paper, give flows of small packets, such as acknowledgements and calls, a small share of the bytes; give `quantum`, or take dialect linux, which turns in bytes. In dialect ns2, long queues lose no packets to others: with more buckets than places, the queue is nearly always short.";
    type Params = SfqParams;

    fn build(params: SfqParams, cx: &NestingContext) -> Result<Self, SpecError> {
        let (dialect, rules) = (params.dialect, Rules::of(params.dialect));
        check(&params, dialect)?;
        let hash = match rules.hashes_sum {
            true => Hash::Ns2Sum,
            false if params.perturb => Hash::Keyed(cx.stream("hash").bits()),
            false => Hash::Keyed(0),
        };
        Ok(Sfq {
            dialect,
            quantum: params
                .quantum
                .map(|quantum| scaled(quantum.get(), rules.unit)),
            limit: params.limit,
            depth: params.depth.map_or(u64::MAX, u64::from),
            flows: params
                .flows
                .map_or(usize::MAX, |n| usize::try_from(n).unwrap_or(usize::MAX)),
            headdrop: params.headdrop,
            classes: Classifier::new(params.classify, params.buckets, hash, cx),
            buckets: params.buckets.map_or(1, u64::from),
            queues: Vec::new(),
            round: Round::default(),
            backlog: Backlog::default(),
            longest: match rules.changed_last {
                true => Longest::by_tie(),
                false => Longest::default(),
            },
            changes: 0,
            period: params.perturb_period,
            perturb_at: params
                .perturb_period
                .map_or(Time::ZERO, |period| Time::ZERO + period),
            managed: rules.aqm_anew && params.each.name != "droptail",
            each: Each::aqm(&params.each, cx)?,
        })
    }

    fn inside(params: &SfqParams) -> Vec<&Spec> {
        vec![&params.each]
    }

    fn tc(params: &SfqParams) -> Option<Line> {
        let line = Line::root("sfq").packets("limit", Some(params.limit));
        let line = match params.quantum {
            Some(quantum) => line.option("quantum", quantum.get()),
            None => line,
        };
        let period = params
            .perturb_period
            .map_or(0, |period| period.as_ps() / 1_000_000_000_000);
        let line = line
            .option("perturb", period)
            .option("divisor", params.buckets.unwrap_or(1024));
        let line = match (params.flows, params.depth) {
            (Some(flows), Some(depth)) => line.option("flows", flows).option("depth", depth),
            (Some(flows), None) => line.option("flows", flows),
            (None, Some(depth)) => line.option("depth", depth),
            (None, None) => line,
        };
        Some(line.word_if(params.headdrop, "headdrop"))
    }
}

/// The units that `bytes` take, rounded up.
fn scaled(bytes: u64, unit: u64) -> i64 {
    i64::try_from(bytes.div_ceil(unit)).unwrap_or(i64::MAX)
}

/// What a dialect lacks.
fn check(params: &SfqParams, dialect: Dialect) -> Result<(), SpecError> {
    let refuse = |text: String| {
        Err(SpecError::Contradiction {
            discipline: Sfq::NAME.to_owned(),
            text,
        })
    };
    let in_bytes = matches!(params.limit, Limit::Bytes(_));
    if in_bytes && dialect != Dialect::Paper {
        return refuse(format!(
            "limit={}, but dialect {} counts packets; write such as 127p or choose another dialect",
            params.limit, params.dialect
        ));
    }
    if (params.depth.is_some() || params.flows.is_some()) && dialect != Dialect::Linux {
        return refuse(
            "depth and flows need dialect linux; leave them out or choose that one".to_owned(),
        );
    }
    if dialect != Dialect::Ns2 {
        return Ok(());
    }
    if params.buckets.is_none() {
        return refuse(
            "buckets=none, but dialect ns2 has a number of them; write such as 16".to_owned(),
        );
    }
    if params.quantum.is_some() || params.headdrop {
        return refuse(
            "quantum and headdrop need another dialect than ns2; leave them out or choose one"
                .to_owned(),
        );
    }
    if params.perturb || params.perturb_period.is_some() {
        return refuse(
            "the hash of dialect ns2 has no key to perturb; leave it out or choose another dialect"
                .to_owned(),
        );
    }
    Ok(())
}

impl Scheduler for Sfq {
    fn enqueue(&mut self, packet: Held, cx: &mut SchedulerCx) {
        self.perturb(cx);
        let index = self.queue_of(cx.store.packet(&packet));
        let held = self.queues[at(index)].child.packets();
        if !self.admits(held, packet.size, cx) {
            self.queues[at(index)].child.refuse(packet, cx);
            return;
        }
        if held >= self.depth {
            self.replace(index, packet, cx);
            return;
        }
        self.insert(index, packet, cx);
        if self.rules().when_full == WhenFull::StealsAfter && !self.within_limit() {
            self.drop_longest(cx);
        }
    }

    fn dequeue(&mut self, cx: &mut SchedulerCx) -> Option<Held> {
        self.perturb(cx);
        loop {
            let index = self.round.front()?;
            let queue = &mut self.queues[at(index)];
            if let Some(quantum) = self.quantum
                && queue.allotment <= 0
            {
                queue.allotment += quantum;
                self.round.rotate();
                continue;
            }
            let sent = self.with_child(index, |child| child.dequeue(cx));
            let unit = self.rules().unit;
            let queue = &mut self.queues[at(index)];
            if queue.child.is_empty() {
                queue.listed = false;
                self.round.retire();
                self.longest.forget(index);
            } else if self.quantum.is_none() {
                self.round.rotate();
            } else if let Some(packet) = &sent {
                queue.allotment -= scaled(u64::from(packet.size), unit);
            }
            if sent.is_some() {
                return sent;
            }
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
            show(QueueState::of(
                number,
                &queue.child,
                self.quantum.map(|_| queue.allotment),
            ));
        }
    }

    fn state_names(&self) -> &'static [&'static str] {
        &["queues", "active_queues", "longest_queue_packets"]
    }

    fn state(&self, out: &mut Vec<f64>) {
        let count = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
        let longest = self.queues.iter().map(|q| q.child.packets()).max();
        out.extend([
            count(self.queues.len()),
            count(self.round.len()),
            f64::from(u32::try_from(longest.unwrap_or(0)).unwrap_or(u32::MAX)),
        ]);
    }
}

impl Sfq {
    #[inline(always)]
    fn rules(&self) -> Rules {
        Rules::of(self.dialect)
    }

    /// Whether an arriving packet may join its queue, which holds `held` packets; room may be made for it.
    #[inline]
    fn admits(&mut self, held: u64, size: u32, cx: &mut SchedulerCx) -> bool {
        match self.rules().when_full {
            WhenFull::Steals => self.make_room(u64::from(size), cx),
            WhenFull::StealsAfter => held > 0 || self.round.len() < self.flows,
            WhenFull::Refuses => {
                let Limit::Packets(limit) = self.limit else {
                    return false;
                };
                let left = limit.get().saturating_sub(self.backlog.packets);
                let fair_share = limit.get() / self.buckets;
                held < left / 2 && (left >= self.buckets || held <= fair_share)
            }
        }
    }

    /// Takes packets from the longest queue until the limit admits one more of `size` bytes; false if it never does.
    #[inline]
    fn make_room(&mut self, size: u64, cx: &mut SchedulerCx) -> bool {
        while !self.backlog.has_room(self.limit, size) {
            if !Backlog::default().has_room(self.limit, size) {
                return false;
            }
            self.drop_longest(cx);
        }
        true
    }

    #[inline]
    fn within_limit(&self) -> bool {
        self.backlog.keeps(self.limit)
    }

    /// A packet joins its queue, unless the AQM drops it.
    #[inline]
    fn insert(&mut self, index: u32, packet: Held, cx: &mut SchedulerCx) {
        if !self.queues[at(index)].listed && self.managed {
            self.queues[at(index)].child = self.each.queue(at(index));
        }
        if !self.with_child(index, |child| child.enqueue(packet, cx)) {
            return;
        }
        let quantum = self.quantum.unwrap_or(0);
        let queue = &mut self.queues[at(index)];
        if !queue.listed {
            queue.listed = true;
            queue.allotment = quantum;
            self.round.join(index);
        }
        if self.rules().when_full != WhenFull::Refuses {
            let rank = rank(&self.queues[at(index)], index, self.limit, self.rules());
            self.longest.raise(index, rank);
        }
    }

    /// Dialect linux: the queue is full.
    #[cold]
    fn replace(&mut self, index: u32, packet: Held, cx: &mut SchedulerCx) {
        if !self.headdrop {
            self.queues[at(index)].child.refuse(packet, cx);
            return;
        }
        let changed = self.queues[at(index)].changed;
        self.with_child(index, |child| {
            child.evict_head(cx);
            child.enqueue(packet, cx)
        });
        self.queues[at(index)].changed = changed;
    }

    #[inline(never)]
    fn drop_longest(&mut self, cx: &mut SchedulerCx) {
        let (queues, limit, rules) = (&self.queues, self.limit, self.rules());
        let mut index = self
            .longest
            .top(|index| rank(&queues[at(index)], index, limit, rules));
        if rules.changed_last
            && queues[at(index)].child.packets() == 1
            && let Some(front) = self.round.front()
        {
            index = front;
        }
        let head = self.headdrop;
        self.with_child(index, |child| match head {
            true => child.drop_head(DropReason::Evicted, cx),
            false => child.drop_tail(DropReason::Evicted, cx),
        });
        let queue = &mut self.queues[at(index)];
        if queue.child.is_empty() {
            queue.listed = false;
            self.round.leave(index);
        }
    }

    /// Gives the hash another key when it is time.
    #[inline]
    fn perturb(&mut self, cx: &mut SchedulerCx) {
        let Some(period) = self.period else { return };
        while self.perturb_at <= cx.now {
            self.perturb_at += period;
            self.classes.rekey(cx.rng.bits());
            if self.rules().spreads_anew {
                self.spread_anew(cx);
            }
        }
    }

    /// Dialect linux: packets that wait go to the queues of another hash.
    #[cold]
    fn spread_anew(&mut self, cx: &mut SchedulerCx) {
        let mut waiting = Vec::new();
        for index in 0..u32::try_from(self.queues.len()).unwrap_or(u32::MAX) {
            while let Some(packet) = self.with_child(index, |c| c.take_head(&mut cx.store)) {
                waiting.push(packet);
            }
            self.queues[at(index)].listed = false;
        }
        self.round.clear();
        for packet in waiting {
            let index = self.queue_of(cx.store.packet(&packet));
            let held = self.queues[at(index)].child.packets();
            if held < self.depth && (held > 0 || self.round.len() < self.flows) {
                self.insert(index, packet, cx);
            } else {
                cx.drop(packet, DropReason::Evicted);
            }
        }
    }

    /// Runs `work` on a child queue and keeps the totals.
    #[inline]
    fn with_child<R>(&mut self, index: u32, work: impl FnOnce(&mut Child) -> R) -> R {
        let queue = &mut self.queues[at(index)];
        let packets = queue.child.packets();
        let result = self.backlog.keep(&mut queue.child, work);
        if queue.child.packets() != packets {
            self.changes += 1;
            queue.changed = self.changes;
        }
        result
    }

    /// The queue of a packet, made on its first one.
    #[inline]
    fn queue_of(&mut self, packet: &Packet) -> u32 {
        let index = self.classes.queue_of(packet);
        if at(index) == self.queues.len() {
            self.queues.push(Queue {
                child: self.each.queue(at(index)),
                allotment: 0,
                listed: false,
                changed: 0,
            });
        }
        index
    }
}

/// The place of a queue among the longest.
fn rank(queue: &Queue, index: u32, limit: Limit, rules: Rules) -> Rank {
    Rank {
        length: match limit {
            Limit::Packets(_) => queue.child.packets(),
            Limit::Bytes(_) => queue.child.bytes(),
        },
        tie: match rules.changed_last {
            true => Rank::LAST - queue.changed,
            false => u64::from(index),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::built_scheduler;

    type Bench = crate::testing::Bench<Sfq>;

    #[test]
    fn the_table_in_the_head_is_that_of_the_rules() {
        let checked = sojourn_units::check_rules_table(include_str!("sfq.rs"), Rules::TABLE);
        assert!(checked.is_ok(), "{}", checked.unwrap_err());
    }

    #[test]
    fn the_paper_sends_a_packet_of_each_queue_in_turn() {
        let mut bench = Bench::new("");
        for size in [100, 1500, 100] {
            bench.offer(0, size);
            bench.offer(1, 700);
        }
        bench.offer(2, 1500);
        assert_eq!(bench.send(8), [0, 1, 2, 0, 1, 0, 1]);
    }

    #[test]
    fn linux_sends_until_the_allotment_is_used_up() {
        let mut bench = Bench::new("dialect=linux quantum=1514B");
        for _ in 0..6 {
            bench.offer(0, 1000);
            bench.offer(1, 1514);
        }
        // Units of 8 bytes: 190 a turn. Flow 0 is charged 125 a packet and is overdrawn after the second: -60, then 130 - 250.
        assert_eq!(bench.send(9), [0, 0, 1, 0, 0, 1, 0, 1, 0]);
    }

    #[test]
    fn without_a_free_buffer_the_longest_queue_loses_its_last_packet() {
        let mut bench = Bench::new("limit=4p");
        (0..3).for_each(|_| bench.offer(0, 100));
        bench.offer(1, 1500);
        bench.offer(2, 100);
        assert_eq!(bench.lost(), [2]);
        let mut bench = Bench::new("limit=4p headdrop=true");
        (0..3).for_each(|_| bench.offer(0, 100));
        bench.offer(1, 1500);
        bench.offer(2, 100);
        assert_eq!(bench.lost(), [0]);
    }

    #[test]
    fn linux_lets_the_arriving_packet_in_before_it_drops() {
        let mut bench = Bench::new("dialect=linux limit=4p");
        (0..3).for_each(|_| bench.offer(0, 100));
        bench.offer(1, 100);
        bench.offer(0, 100);
        assert_eq!(bench.lost(), [4]);
        // Both queues have two then: flow 1's became so last.
        bench.send(1);
        bench.offer(1, 100);
        bench.offer(2, 100);
        assert_eq!(bench.lost(), [5]);
    }

    #[test]
    fn linux_drops_the_packet_that_is_next_when_no_queue_has_two() {
        let mut bench = Bench::new("dialect=linux limit=3p");
        (0..4).for_each(|flow| bench.offer(flow, 100));
        assert_eq!(bench.lost(), [0]);
        assert_eq!(bench.send(4), [1, 2, 3]);
    }

    #[test]
    fn linux_bounds_the_depth_of_a_queue_and_the_number_of_queues() {
        let mut bench = Bench::new("dialect=linux limit=100p depth=3 flows=2");
        (0..4).for_each(|_| bench.offer(0, 100));
        (1..4).for_each(|flow| bench.offer(flow, 100));
        assert_eq!(bench.lost(), [3, 5, 6]);
        let mut bench = Bench::new("dialect=linux limit=100p depth=3 headdrop=true");
        (0..5).for_each(|_| bench.offer(0, 100));
        assert_eq!(bench.lost(), [0, 1]);
    }

    #[test]
    fn ns2_refuses_a_queue_that_holds_half_of_the_free_room_or_more_than_its_share() {
        let mut bench = Bench::new("dialect=ns2 limit=12p buckets=4");
        // Held 0..3 of 12 - held free: half of 9 is 4, of 8 is 4.
        (0..6).for_each(|_| bench.offer(1, 100));
        assert_eq!(bench.lost(), [4, 5]);
        (0..6).for_each(|_| bench.offer(2, 100));
        // Of 8 places half, then of 7 and of 6 three, and 3 are held: no more.
        assert_eq!(bench.lost(), [9, 10, 11]);
        // 5 free: two; 4 free: one.
        (0..3).for_each(|_| bench.offer(3, 100));
        assert_eq!(bench.lost(), [14]);
    }

    #[test]
    fn ns2_tells_pairs_of_nodes_apart_by_their_sum() {
        let mut bench = Bench::between("dialect=ns2", &[(1, 4), (2, 3), (2, 4)]);
        for _ in 0..3 {
            (0..3).for_each(|flow| bench.offer(flow, 100));
        }
        assert_eq!(bench.send(6), [0, 2, 1, 2, 0, 2]);
    }

    #[test]
    fn another_key_spreads_arrivals_anew_and_in_dialect_linux_what_waits_too() {
        for (dialect, moved) in [("paper", false), ("linux", true)] {
            let spec = format!("dialect={dialect} limit=120p buckets=16 perturb_period=1s");
            let mut bench = Bench::new(&spec);
            (0..40).for_each(|flow| bench.offer(flow, 100));
            let members = |bench: &Bench| -> Vec<Vec<u32>> {
                let queues = bench.queue.queues.iter();
                queues
                    .map(|q| q.child.iter(&bench.store).map(|p| p.flow).collect())
                    .collect()
            };
            let before = members(&bench);
            bench.now += Span::from_secs(1);
            bench.offer(40, 100);
            let kept = members(&bench)
                .iter()
                .zip(&before)
                .all(|(now, then)| now.starts_with(then));
            assert_eq!(kept, !moved, "{dialect}");
            let total: usize = members(&bench).iter().map(Vec::len).sum();
            assert_eq!((total, bench.drops.len()), (41, 0), "{dialect}");
        }
    }

    #[test]
    fn what_a_dialect_lacks_is_refused() {
        for (spec, says) in [
            ("depth=5", "depth and flows need dialect linux"),
            ("dialect=linux limit=9kB", "dialect linux counts packets"),
            ("dialect=ns2 limit=9kB", "dialect ns2 counts packets"),
            ("dialect=ns2 buckets=none", "write such as 16"),
            ("dialect=ns2 headdrop=true", "need another dialect than ns2"),
            ("dialect=ns2 perturb=true", "has no key to perturb"),
        ] {
            let built = built_scheduler::<Sfq>(spec);
            let error = built.err().expect("a contradiction").to_string();
            assert!(error.contains(says), "{spec}: {error}");
        }
    }
}
