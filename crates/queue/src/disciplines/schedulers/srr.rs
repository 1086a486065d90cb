//! SRR: smoothed round robin.
//!
//! Source of the default dialect: G. Chuanxiong, "SRR: An O(1) Time-Complexity Packet Scheduler for Flows in Multi-Service
//! Packet Networks", SIGCOMM 2001 (IEEE/ACM ToN 12(6), 2004), read through a review that restates its definitions
//! (P. Southerington, "The Smoothed Round-Robin Scheduler", 2005) and through its author's code in ns-2; the paper's own
//! wording is unchecked. The weight matrix has a row for each backlogged queue and a column for each bit of the greatest
//! weight among them. The weight spread sequence of order 1 is (1), that of order k is the one of order k - 1, then k, then the
//! one of order k - 1 again: its term i is one more than the number of times that 2 divides i. With k columns, the term v
//! stands for the column of value 2^(k - v). Terms are read in a circle; for each, the queues of its column are visited in turn:
//! a queue gets a quantum, sends while its head packet is not larger than its deficit, and keeps what is left. A queue that
//! empties leaves the matrix and loses its deficit.
//!
//! When columns come or go, the number of the next term is scaled with the length of the sequence, rounded up, as in ns-2.
//! What the paper leaves open is done as in [`drr`](super::drr): the turn goes on from one request of the transmitter to the
//! next, a queue is found empty when its last packet is taken, and of the longest queue the packet that came last is
//! dropped when the limit over all is reached; a queue emptied so stays in the matrix until its turn. A queue that becomes
//! backlogged joins the end of its columns.
//!
//! Where `ns2` (ns-2.35, srr.cc and wss.h) leaves that: the queue that ends an idle time is visited in its column of the
//! highest value before the first term is read. A queue that becomes backlogged joins the column that is being visited just
//! before the queue in turn. A queue leaves the matrix when the transmission of its last packet has ended, and until then
//! the packet counts for its limit. Each queue has a limit in packets; `blimit_`, one over all, is not in effect (its code is
//! commented out). Flows are in queue 0 until `setqueue` says otherwise, so that SRR is a FIFO in a script that does not;
//! ns-2 aborts where a flow has a number from 100 on, here it is in queue 0. Weights are `setrate` over `granularity_`.
//!
//! With an AQM that drops at the head, the deficit is compared with the head packet and charged with the packet that is
//! sent.

use crate::child::{Backlog, Child};
use crate::classify::{Classifier, Classify, Hash};
use crate::entry::{Entry, SpecError};
use crate::longest::{Longest, Rank};
use crate::nesting::{Each, NestingContext};
use crate::scheduler::{QueueState, Scheduler, SchedulerCx};
use crate::store::Held;
use crate::weights::Weights;
use sojourn_sim::{DropReason, Packet, to_usize as at};
use sojourn_units::{
    Bytes, Kind, Limit, Packets, ParamValue, Spec, Specs, UnitError, UnitErrorKind, params,
};

params! {
    /// Smoothed round robin: queues are visited in proportion to their weights, as evenly spread as their bits allow.
    pub struct SrrParams {
        /// Bytes that a queue may send per visit, on average.
        quantum: Bytes = "1500B", range "1B".."100MB", source "the paper: the largest packet, for O(1) work",
            acts "several queues have packets";
        /// Weight of each queue. The last weight applies to all further queues.
        weights: Weights = "1", source "the paper: the rate reserved for a flow over the granularity; equal here";
        /// Queue of each flow: `own` gives each class its own queue; a list such as `0:1:1` assigns flows 0, 1 and 2,
        /// and all others to queue 0.
        assign: Assign = "own", source "the paper: a queue for each flow";
        /// Which packets share a queue.
        classify: Classify = "flow", source "the paper: a queue for each flow",
            where assign is "own";
        /// Number of queues. A hash assigns flows to them. With none, each flow has its own queue.
        buckets: Option<u32> = "none", range "1".."1000000", source "the paper: a queue for each flow",
            where assign is "own",
            acts "flows share a queue by their hash";
        /// Maximum total length of all queues.
        limit: Option<Limit> = "1000p", range "1p".., source "the same as for other queues; the paper gives none";
        /// Maximum length of each queue. In dialect ns2, it includes the packet in transmission.
        queue_limit: Option<Packets> = "none", range "1p".., source "the paper gives none";
        /// Discipline of each queue: an AQM, or, with limit=none, a scheduler with its own queues, such as fq_codel. A
        /// list gives one per queue, from queue 0; the last applies to all further queues.
        each: Specs = "droptail limit=none", source "the paper: one limit over all queues";
    }
    dialects Dialect {
        /// Guo.
        paper as Paper = "paper" {}
        /// ns-2's Queue/SRR.
        ns2 as Ns2 = "ns2-2.35" {
            quantum = "1000B" from "ns-2.35 tcl/lib/ns-default.tcl: Queue/SRR set mtu_ 1000";
            assign = "0" from "ns-2.35 srr.cc: every flow is in queue 0 until setqueue";
            limit = "none" from "ns-2.35 srr.cc: the code for blimit_ is commented out";
            queue_limit = "50p" from "ns-2.35 srr.cc: limit_ of Queue for each queue, 50 in ns-default.tcl";
        }
    }
}

/// Which queue each flow belongs to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Assign {
    /// Each class has a queue of its own.
    Own,
    /// The number of the queue of each flow; flows beyond belong to queue 0.
    Listed(Vec<u32>),
}

/// Queues that an assignment may name: ns-2's MAXQUEUE.
const MOST_QUEUES: u32 = 100;

/// Columns in dialect ns2: ns-2's MAXWSSORDER.
const NS2_ORDER: u32 = 16;

/// Columns that the greatest weight may have.
const MOST_COLUMNS: usize = 20;

impl ParamValue for Assign {
    fn kind() -> Kind {
        Kind::Text
    }

    fn parse_text(text: &str) -> Result<Assign, UnitError> {
        if text == "own" {
            return Ok(Assign::Own);
        }
        let read = |part: &str| part.parse().ok().filter(|queue| *queue < MOST_QUEUES);
        let queues: Option<Vec<u32>> = text.split(':').map(read).collect();
        queues.map(Assign::Listed).ok_or_else(|| {
            UnitError::new(
                UnitErrorKind::Malformed,
                text,
                "an assignment of flows to queues",
                "write own, or the queue of each flow from 0 to 99 with colons between, such as 0:1:1",
            )
        })
    }

    fn to_text(&self) -> String {
        match self {
            Assign::Own => "own".to_owned(),
            Assign::Listed(queues) => {
                let texts: Vec<String> = queues.iter().map(u32::to_string).collect();
                texts.join(":")
            }
        }
    }
}

/// The discipline.
pub struct Srr {
    /// Dialect ns2.
    ns2: bool,
    /// Bytes that a queue may send in a visit.
    quantum: i64,
    weights: Weights,
    limit: Option<Limit>,
    /// Most packets of a queue; dialect ns2.
    queue_limit: u64,
    classes: Classifier,
    assign: Assign,
    /// The queue of each number in `assign`, or [`NONE`] while it has had no packet.
    assigned: Vec<u32>,
    queues: Vec<Queue>,
    /// The elements of the weight matrix that are 1, and whether the queue stands there.
    nodes: Vec<Node>,
    columns: [Column; MOST_COLUMNS],
    /// Columns in use: the bits of the greatest weight in the matrix.
    order: usize,
    /// The column that is being visited, from 0 for the least value; [`MOST_COLUMNS`] for none.
    visited: usize,
    /// The element in turn; [`NONE`] at the end of the column.
    at: u32,
    /// Number of the term of the sequence that is read next, from 1.
    term: u32,
    /// Dialect ns2: the queue of the packet in transmission, or [`NONE`].
    sending: u32,
    backlog: Backlog,
    /// Elements visited and terms read.
    steps: u64,
    longest: Longest,
    each: Each,
}

#[repr(C)]
struct Queue {
    /// Bytes that it may still send in its turn.
    deficit: i64,
    /// It got the quantum of its turn.
    in_turn: bool,
    /// It stands in the matrix.
    listed: bool,
    /// Each bit that is 1 puts the queue into the column of that bit.
    weight: u32,
    /// Its element in the column of the least value; the others follow.
    first_node: u32,
    // Last: every packet touches the fields before and the child's first, but only an AQM that judges touches its end.
    child: Child,
}

struct Node {
    /// The place of the queue in `queues`.
    queue: u32,
    /// The element before it in its column, or [`NONE`].
    previous: u32,
    /// The element after it in its column, or [`NONE`].
    next: u32,
}

#[derive(Clone, Copy)]
struct Column {
    /// The first element, or [`NONE`].
    head: u32,
    /// The last element, or [`NONE`].
    tail: u32,
}

/// No queue, no element.
const NONE: u32 = u32::MAX;

impl Entry<NestingContext> for Srr {
    const NAME: &'static str = "srr";
    const TITLE: &'static str = "SRR";
    const FAIR: bool = true;
    const TAKES_SCHEDULERS: bool = true;
    const ABOUT: &'static str = "Smoothed round robin: weighted turns, spread evenly by a fixed sequence. Each flow has a queue and a weight. The bits of the weights form a matrix, and a fixed sequence determines the next column to visit, so that the visits of a queue are spread over the round. In each visit, a queue sends a `quantum` of bytes; a remainder too small for the next packet is kept. The work per packet depends neither on the number of flows nor on the weights.\n\n\
        Expect throughput in proportion to the weights and, for a flow of large weight, a much steadier service than under weighted DRR. With equal weights, SRR is DRR. `weights=4:2:1` gives flows 0 and 1 the weights 4 and 2, and all others 1.\n\n\
        In dialect ns2, all flows share one queue unless you set `assign`, as in a script that never calls `setqueue`. Such a script compares a FIFO.";
    type Params = SrrParams;

    fn build(params: SrrParams, cx: &NestingContext) -> Result<Self, SpecError> {
        let each = Each::ready(&params.each, Srr::NAME, cx)?;
        each.keeps_its_own(Srr::NAME, params.limit.is_some(), "give limit=none")?;
        let ns2 = params.dialect == Dialect::Ns2;
        if ns2 && params.weights.greatest() >> NS2_ORDER > 0 {
            return Err(SpecError::Contradiction {
                discipline: Srr::NAME.to_owned(),
                text: format!(
                    "weights={}, but the sequence of dialect ns2 has order {NS2_ORDER}; give weights below {}",
                    params.weights,
                    1_u32 << NS2_ORDER
                ),
            });
        }
        let assigned = match &params.assign {
            Assign::Own => 0,
            Assign::Listed(_) => MOST_QUEUES,
        };
        Ok(Srr {
            ns2,
            quantum: i64::try_from(params.quantum.get()).unwrap_or(i64::MAX),
            weights: params.weights,
            limit: params.limit,
            queue_limit: params.queue_limit.map_or(u64::MAX, Packets::get),
            classes: Classifier::new(params.classify, params.buckets, Hash::Keyed(0), cx),
            assign: params.assign,
            assigned: vec![NONE; at(assigned)],
            queues: Vec::new(),
            nodes: Vec::new(),
            columns: [Column {
                head: NONE,
                tail: NONE,
            }; MOST_COLUMNS],
            order: 0,
            visited: MOST_COLUMNS,
            at: NONE,
            term: 1,
            sending: NONE,
            backlog: Backlog::default(),
            steps: 0,
            longest: Longest::default(),
            each,
        })
    }

    fn inside(params: &SrrParams) -> Vec<&Spec> {
        params.each.all()
    }
}

impl Scheduler for Srr {
    fn enqueue(&mut self, packet: Held, cx: &mut SchedulerCx) {
        let index = self.queue_of(cx.store.packet(&packet));
        let held = self.queues[at(index)].child.packets() + u64::from(self.sending == index);
        if held >= self.queue_limit || !self.make_room(u64::from(packet.size), cx) {
            cx.drop(packet, DropReason::Overlimit);
            return;
        }
        let kept = self
            .backlog
            .enqueue(&mut self.queues[at(index)].child, packet, cx);
        if kept && !self.queues[at(index)].listed {
            self.join(index);
        }
        if self.limit.is_some() {
            let rank = rank(&self.queues[at(index)], index, self.limit);
            self.longest.raise(index, rank);
        }
    }

    fn dequeue(&mut self, cx: &mut SchedulerCx) -> Option<Held> {
        self.end_transmission();
        while self.order > 0 {
            self.steps += 1;
            if self.at == NONE {
                self.read_term();
                continue;
            }
            let node = &self.nodes[at(self.at)];
            let (index, next) = (node.queue, node.next);
            let queue = &mut self.queues[at(index)];
            let Some(size) = self.backlog.head_size(&mut queue.child, cx) else {
                self.leave(index);
                continue;
            };
            let size = i64::from(size);
            if !queue.in_turn {
                queue.in_turn = true;
                queue.deficit += self.quantum;
            }
            if size > queue.deficit {
                queue.in_turn = false;
                self.at = next;
                continue;
            }
            let sent = self.backlog.dequeue(&mut self.queues[at(index)].child, cx);
            let queue = &mut self.queues[at(index)];
            let Some(packet) = sent else {
                self.leave(index);
                continue;
            };
            queue.deficit -= i64::from(packet.size);
            if self.ns2 {
                self.sending = index;
            } else if queue.child.is_empty() {
                self.leave(index);
            }
            return Some(packet);
        }
        None
    }

    fn on_empty(&mut self, _: sojourn_units::Time) {
        self.end_transmission();
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
        &["queues", "columns", "next_term", "longest_queue_bytes"]
    }

    fn state(&self, out: &mut Vec<f64>) {
        let count = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
        let longest = self.queues.iter().map(|q| q.child.bytes()).max();
        out.extend([
            count(self.queues.len()),
            count(self.order),
            f64::from(self.term),
            f64::from(u32::try_from(longest.unwrap_or(0)).unwrap_or(u32::MAX)),
        ]);
    }
}

impl Srr {
    /// The weight spread sequence: which column the next term stands for.
    fn read_term(&mut self) {
        let value = at(self.term.trailing_zeros()) + 1;
        self.visited = self.order - value;
        self.at = self.columns[self.visited].head;
        self.term = match self.term {
            last if last == last_term(self.order) => 1,
            term => term + 1,
        };
    }

    /// Dialect ns2: the packet taken last has been sent.
    fn end_transmission(&mut self) {
        let index = std::mem::replace(&mut self.sending, NONE);
        if index != NONE && self.queues[at(index)].child.is_empty() {
            self.leave(index);
        }
    }

    /// A queue that has become backlogged enters the matrix.
    fn join(&mut self, index: u32) {
        let queue = &mut self.queues[at(index)];
        queue.listed = true;
        queue.in_turn = false;
        queue.deficit = 0;
        let (weight, mut node) = (queue.weight, queue.first_node);
        let order = bits(weight);
        let first = self.order == 0;
        if order > self.order {
            if !first {
                self.term <<= order - self.order;
            }
            self.order = order;
        }
        for column in 0..order {
            if weight >> column & 1 == 0 {
                continue;
            }
            let before = match self.at {
                turn if self.ns2 && self.visited == column => turn,
                _ => NONE,
            };
            self.link(node, column, before);
            if self.ns2 && first && column == order - 1 {
                self.visited = column;
                self.at = node;
            }
            node += 1;
        }
    }

    /// An empty queue leaves the matrix.
    fn leave(&mut self, index: u32) {
        let queue = &mut self.queues[at(index)];
        if !queue.listed {
            return;
        }
        queue.listed = false;
        queue.in_turn = false;
        queue.deficit = 0;
        let (weight, mut node) = (queue.weight, queue.first_node);
        for column in 0..bits(weight) {
            if weight >> column & 1 == 1 {
                self.unlink(node, column);
                node += 1;
            }
        }
        let old = self.order;
        while self.order > 0 && self.columns[self.order - 1].head == NONE {
            self.order -= 1;
        }
        if self.order == 0 {
            self.term = 1;
        } else if self.order < old {
            self.term = self.term.div_ceil(1 << (old - self.order));
            if self.term > last_term(self.order) {
                self.term = 1;
            }
        }
        if self.visited >= self.order {
            self.visited = MOST_COLUMNS;
            self.at = NONE;
        }
    }

    /// Puts an element into its column, before another or at the end.
    fn link(&mut self, node: u32, column: usize, before: u32) {
        let ends = &mut self.columns[column];
        let previous = match before {
            NONE => std::mem::replace(&mut ends.tail, node),
            before => std::mem::replace(&mut self.nodes[at(before)].previous, node),
        };
        match previous {
            NONE => ends.head = node,
            previous => self.nodes[at(previous)].next = node,
        }
        let element = &mut self.nodes[at(node)];
        element.previous = previous;
        element.next = before;
        // The end of the column, where the visit stands, is now this element.
        if before == NONE && self.visited == column && self.at == NONE {
            self.at = node;
        }
    }

    fn unlink(&mut self, node: u32, column: usize) {
        let element = &self.nodes[at(node)];
        let (previous, next) = (element.previous, element.next);
        if self.at == node {
            self.at = next;
        }
        match previous {
            NONE => self.columns[column].head = next,
            previous => self.nodes[at(previous)].next = next,
        }
        match next {
            NONE => self.columns[column].tail = previous,
            next => self.nodes[at(next)].previous = previous,
        }
    }

    /// Frees room for `size` bytes; false if the arriving packet is to be dropped instead.
    #[inline]
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

    #[inline(never)]
    fn drop_longest(&mut self, cx: &mut SchedulerCx) {
        let (queues, limit) = (&self.queues, self.limit);
        let index = self
            .longest
            .top(|index| rank(&queues[at(index)], index, limit));
        let dropped = self.with_child(index, |child| child.drop_tail(DropReason::Evicted, cx));
        assert!(
            dropped,
            "the longest queue of a full scheduler holds a packet"
        );
    }

    /// Runs `work` on a child queue and keeps the totals.
    #[inline]
    fn with_child<R>(&mut self, index: u32, work: impl FnOnce(&mut Child) -> R) -> R {
        self.backlog.keep(&mut self.queues[at(index)].child, work)
    }

    /// The queue of a packet, made on its first one.
    #[inline]
    fn queue_of(&mut self, packet: &Packet) -> u32 {
        if let Assign::Listed(queues) = &self.assign {
            let number = queues.get(at(packet.flow)).copied().unwrap_or(0);
            return match self.assigned[at(number)] {
                NONE => {
                    let index = self.add_queue(number);
                    self.assigned[at(number)] = index;
                    index
                }
                index => index,
            };
        }
        let index = self.classes.queue_of(packet);
        if at(index) == self.queues.len() {
            let class = self.classes.class_of(packet);
            let bucket = self.classes.bucket_of(class) & u64::from(u32::MAX);
            self.add_queue(u32::try_from(bucket).unwrap_or(NONE));
        }
        index
    }

    /// A new queue with the weight that belongs to its number.
    #[cold]
    fn add_queue(&mut self, number: u32) -> u32 {
        let index = counted(self.queues.len());
        let weight = self.weights.of(number);
        self.queues.push(Queue {
            child: self.each.queue_of(at(number), self.queues.len()),
            deficit: 0,
            in_turn: false,
            listed: false,
            weight,
            first_node: counted(self.nodes.len()),
        });
        self.nodes.extend((0..weight.count_ones()).map(|_| Node {
            queue: index,
            previous: NONE,
            next: NONE,
        }));
        index
    }
}

/// Columns that a weight needs.
fn bits(weight: u32) -> usize {
    at(u32::BITS - weight.leading_zeros())
}

/// Number of the last term of the sequence of an order.
fn last_term(order: usize) -> u32 {
    (1 << order) - 1
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

fn counted(length: usize) -> u32 {
    u32::try_from(length).expect("fewer than 2^32 queues")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::built_scheduler;

    use sojourn_units::Time;

    type Bench = crate::testing::Bench<Srr>;

    /// The weight spread sequence by its recursion.
    fn spread(order: usize) -> Vec<usize> {
        match order {
            0 => Vec::new(),
            k => [spread(k - 1), vec![k], spread(k - 1)].concat(),
        }
    }

    #[test]
    fn the_example_of_the_source_is_served_in_its_order() {
        let mut bench = Bench::new("quantum=1000B weights=5:2:2:3:1 limit=none");
        for _ in 0..40 {
            for flow in 0..5 {
                bench.offer(flow, 1000);
            }
        }
        let round = [0, 1, 2, 3, 0, 0, 3, 4, 0, 1, 2, 3, 0];
        assert_eq!(bench.send(39), [round, round, round].concat());
    }

    #[test]
    fn service_order_equals_the_weight_spread_sequence() {
        // A flow for each column: the order of service is the sequence itself.
        for order in 1..=10_usize {
            let weights: Vec<String> = (1..=order)
                .map(|v| (1 << (order - v)).to_string())
                .collect();
            let mut bench = Bench::new(&format!(
                "quantum=100B weights={} limit=none",
                weights.join(":")
            ));
            for flow in 0..counted(order) {
                (0..600).for_each(|_| bench.offer(flow, 100));
            }
            let length = (1 << order) - 1;
            let expected: Vec<u32> = spread(order).iter().map(|v| counted(v - 1)).collect();
            let sent = bench.send(length.min(600));
            assert_eq!(sent, expected[..length.min(600)], "order {order}");
        }
    }

    #[test]
    fn work_per_packet_does_not_grow_with_the_number_of_flows() {
        let steps_per_packet = |flows: u32, weights: &str| {
            let mut bench = Bench::new(&format!("quantum=1500B weights={weights} limit=none"));
            for _ in 0..3 {
                (0..flows).for_each(|flow| bench.offer(flow, 1500));
            }
            let sent = bench.send(at(2 * flows)).len();
            let steps = bench.queue.steps;
            steps * 1000 / u64::try_from(sent).expect("some")
        };
        for weights in ["1", "1000:1", "7:100:3:65535:12:1"] {
            for flows in [10, 100, 1000, 10_000, 100_000] {
                let steps = steps_per_packet(flows, weights);
                // One visit that sends, one that finds the deficit used up, and at most a term or two on top.
                assert!(
                    steps <= 4000,
                    "{flows} flows, {weights}: {steps} steps per 1000 packets"
                );
            }
        }
    }

    #[test]
    fn a_round_gives_each_flow_its_weight_in_bytes_whatever_its_packet_sizes() {
        let weights = [9_u64, 4, 7, 1, 16];
        let mut bench = Bench::new("quantum=1500B weights=9:4:7:1:16 limit=none");
        for flow in 0..5 {
            (0..4000).for_each(|_| bench.offer(flow, 200 + 300 * flow));
        }
        let mut sent = [0_u64; 5];
        for _ in 0..5000 {
            let packet = bench.take().expect("backlogged");
            sent[at(packet.flow)] += u64::from(packet.size);
        }
        let shares: Vec<u64> = sent
            .iter()
            .zip(weights)
            .map(|(bytes, w)| bytes / w)
            .collect();
        let (least, most) = (shares.iter().min(), shares.iter().max());
        assert!(
            most.expect("flows") - least.expect("flows") < 2 * 1500 + 1500,
            "{shares:?}"
        );
    }

    #[test]
    fn the_place_in_the_sequence_scales_with_the_columns() {
        let mut bench = Bench::new("quantum=100B weights=3:5:1 limit=none");
        (0..20).for_each(|_| bench.offer(0, 100));
        // Terms 1 and 2 of order 2 are read, so that 3 is next.
        assert_eq!(
            (bench.send(2).len(), bench.queue.term, bench.queue.order),
            (2, 3, 2)
        );
        bench.offer(1, 100);
        assert_eq!((bench.queue.term, bench.queue.order), (6, 3));
        // Flow 0 ends its turn in the column of value 1, where flow 1 is next; with it the third column goes.
        assert_eq!(bench.send(1), [1]);
        assert_eq!((bench.queue.term, bench.queue.order), (3, 2));
    }

    #[test]
    fn ns2_is_a_fifo_until_flows_are_assigned_to_queues() {
        let mut bench = Bench::new("dialect=ns2");
        for flow in [3, 1, 2, 1, 99, 100, 5] {
            bench.offer(flow, 500);
        }
        assert_eq!(bench.send(9), [3, 1, 2, 1, 99, 100, 5]);
        let mut bench = Bench::new("dialect=ns2 assign=0:1 weights=1:2 quantum=500B");
        for flow in [0, 0, 0, 1, 1, 1, 1, 7] {
            bench.offer(flow, 500);
        }
        // The first to come is visited first; the second column makes the next term the second of 1, 2, 1.
        assert_eq!(bench.send(9), [0, 0, 1, 1, 0, 1, 1, 7]);
    }

    #[test]
    fn ns2_counts_the_packet_in_transmission_for_the_limit_of_its_queue() {
        let mut bench = Bench::new("dialect=ns2 queue_limit=2p");
        bench.offer(0, 1000);
        assert_eq!(bench.send(1), [0]);
        bench.offer(0, 1000);
        bench.offer(0, 1000);
        assert_eq!(bench.dropped(), [(2, "overlimit")]);
        bench.queue.on_empty(Time::ZERO);
        bench.offer(0, 1000);
        assert_eq!(bench.dropped(), []);
    }

    #[test]
    fn the_longest_queue_gives_up_its_last_packet() {
        let mut bench = Bench::new("limit=4p");
        for flow in [0, 0, 0, 1, 1] {
            bench.offer(flow, 1000);
        }
        assert_eq!(bench.dropped(), [(2, "evicted")]);
        bench.offer(0, 40_000);
        assert_eq!(bench.queue.backlog().0, 4);
    }

    #[test]
    fn assignments_read_back_and_faults_are_named() {
        for text in ["own", "0", "0:1:99"] {
            assert_eq!(Assign::parse_text(text).expect("one").to_text(), text);
        }
        for text in ["", "none", "100", "0,1", "-1"] {
            let error = Assign::parse_text(text).expect_err(text).to_string();
            assert!(error.contains("such as 0:1:1"), "{error}");
        }
        let error = built_scheduler::<Srr>("dialect=ns2 weights=65536")
            .err()
            .expect("too great")
            .to_string();
        assert!(error.contains("give weights below 65536"), "{error}");
    }
}
