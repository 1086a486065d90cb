//! WRR: weighted round robin by packets.
//!
//! Sources: the definition in textbooks (dialect plain, the default): queues take turns, each sends up to its weight in packets
//! in a turn. Katevenis, Sidiropoulos and Courcoubetis, "Weighted round-robin cell multiplexing in a general-purpose ATM switch
//! chip", IEEE JSAC 9(8), 1991, for the interleaved order (dialect interleaved; read in what cites it): in a cycle of rounds each
//! queue sends one packet a round, as many rounds as its weight.
//!
//! Left open by the sources: a queue that becomes active joins the end of the round; a queue that becomes empty loses
//! the rest of its turn (plain). Interleaved, a queue that empties and returns within the cycle sends no more than its
//! weight in all; when no queue may send any more, the next cycle begins with the queues in the order in which they
//! used up theirs.
//!
//! The class of a packet, and so its weight, is the number of its flow (node, codepoint, bucket): `weights=4:2:1` gives flow 0
//! four packets. There is no limit over all queues; each queue has its own.

use crate::child::{Backlog, Child};
use crate::classify::{Classifier, Classify, Hash};
use crate::entry::{Entry, SpecError};
use crate::nesting::{Each, NestingContext, refuse_surplus};
use crate::scheduler::{QueueState, Scheduler, SchedulerCx};
use crate::store::Held;
use crate::weights::Weights;
use sojourn_sim::{Packet, to_usize};
use sojourn_units::{Spec, Specs, params};
use std::collections::VecDeque;

params! {
    /// Weighted round robin: queues take turns, each sends its weight in packets.
    pub struct WrrParams {
        /// Packets that each class may send per turn or per cycle. The last number applies to all further classes.
        weights: Weights = "1", source "round robin";
        /// Send one packet per turn, with as many turns per cycle as the weight.
        interleaved: bool = "false", source "the plain definition";
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
        /// A turn is the weight.
        plain as Plain = "plain" {}
        /// A turn is one packet.
        interleaved as Interleaved = "interleaved-1991" { interleaved = "true" from "Katevenis, Sidiropoulos & Courcoubetis 1991"; }
    }
}

/// The discipline.
pub struct Wrr {
    weights: Weights,
    interleaved: bool,
    classes: Classifier,
    queues: Vec<Queue>,
    /// Queues that hold packets and may send in this cycle, the one in its turn first.
    round: VecDeque<usize>,
    /// Those that hold packets and have sent all they may in this cycle (interleaved).
    next: VecDeque<usize>,
    /// Number of the cycle (interleaved).
    cycle: u64,
    backlog: Backlog,
    each: Each,
}

#[repr(C)]
struct Queue {
    /// Packets that it may send in a cycle.
    weight: u32,
    /// Packets sent in its turn (plain) or in `cycle` (interleaved).
    sent: u32,
    /// The cycle in which `sent` counts (interleaved).
    cycle: u64,
    /// It stands in `round` or `next`.
    listed: bool,
    // Last: every packet touches the fields before and the child's first, but only an AQM that judges touches its end.
    child: Child,
}

impl Entry<NestingContext> for Wrr {
    const NAME: &'static str = "wrr";
    const TITLE: &'static str = "WRR";
    const FAIR: bool = true;
    const TAKES_SCHEDULERS: bool = true;
    const ABOUT: &'static str = "Weighted round robin: flows take turns, each of as many packets as its weight. Each flow has a queue. Queues take turns, and the weight of a queue is its number of packets per turn. With `interleaved`, a turn is one packet, and the weight is the number of turns per cycle. Each queue can have its own AQM, as in `wrr weights=4:1 each=(codel)`, or a scheduler with queues, as in `wrr weights=4:1 classify=dscp each=(fq_codel)`.\n\n\
        Expect backlogged flows to share the link in packets in the ratio of their weights. A flow with packets three times as large gets three times the throughput; `drr` avoids this. A flow may have to wait for the whole turns of all others.";
    type Params = WrrParams;

    fn build(params: WrrParams, cx: &NestingContext) -> Result<Self, SpecError> {
        if let Some(buckets) = params.buckets {
            refuse_surplus(&params.each, Wrr::NAME, to_usize(buckets))?;
        }
        Ok(Wrr {
            weights: params.weights,
            interleaved: params.interleaved,
            classes: Classifier::new(params.classify, params.buckets, Hash::Keyed(0), cx),
            queues: Vec::new(),
            round: VecDeque::new(),
            next: VecDeque::new(),
            cycle: 0,
            backlog: Backlog::default(),
            each: Each::ready(&params.each, Wrr::NAME, cx)?,
        })
    }

    fn inside(params: &WrrParams) -> Vec<&Spec> {
        params.each.all()
    }
}

impl Scheduler for Wrr {
    fn enqueue(&mut self, packet: Held, cx: &mut SchedulerCx) {
        let index = self.queue_of(cx.store.packet(&packet));
        let kept = self
            .backlog
            .enqueue(&mut self.queues[index].child, packet, cx);
        let (cycle, interleaved) = (self.cycle, self.interleaved);
        let queue = &mut self.queues[index];
        if !kept || queue.listed {
            return;
        }
        queue.listed = true;
        if !interleaved || queue.cycle != cycle {
            (queue.sent, queue.cycle) = (0, cycle);
        }
        if queue.sent < queue.weight {
            self.round.push_back(index);
        } else {
            self.next.push_back(index);
        }
    }

    fn dequeue(&mut self, cx: &mut SchedulerCx) -> Option<Held> {
        loop {
            let Some(&index) = self.round.front() else {
                if self.next.is_empty() {
                    return None;
                }
                self.cycle += 1;
                std::mem::swap(&mut self.round, &mut self.next);
                continue;
            };
            let sent = self.backlog.dequeue(&mut self.queues[index].child, cx);
            let (cycle, interleaved) = (self.cycle, self.interleaved);
            let queue = &mut self.queues[index];
            if queue.cycle != cycle {
                (queue.sent, queue.cycle) = (0, cycle);
            }
            queue.sent += u32::from(sent.is_some());
            let (empty, used_up) = (queue.child.is_empty(), queue.sent >= queue.weight);
            queue.listed = !empty;
            if empty {
                self.round.pop_front();
            } else if !interleaved && used_up {
                queue.sent = 0;
                self.round.rotate_left(1);
            } else if interleaved {
                self.round.pop_front();
                if used_up {
                    self.next.push_back(index);
                } else {
                    self.round.push_back(index);
                }
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
            show(QueueState::of(number, &queue.child, None));
        }
    }

    fn state_names(&self) -> &'static [&'static str] {
        &["queues", "active_queues"]
    }

    fn state(&self, out: &mut Vec<f64>) {
        let count = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
        let active = self.queues.iter().filter(|q| !q.child.is_empty());
        out.extend([count(self.queues.len()), count(active.count())]);
    }
}

impl Wrr {
    /// The queue of a packet, made on its first one.
    fn queue_of(&mut self, packet: &Packet) -> usize {
        let index = usize::try_from(self.classes.queue_of(packet)).unwrap_or(usize::MAX);
        if index == self.queues.len() {
            let class = self.classes.bucket_of(self.classes.class_of(packet));
            let number = usize::try_from(class).unwrap_or(usize::MAX);
            self.queues.push(Queue {
                child: self.each.queue_of(number, index),
                weight: self.weights.of(u32::try_from(class).unwrap_or(u32::MAX)),
                sent: 0,
                cycle: 0,
                listed: false,
            });
        }
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Bench = crate::testing::Bench<Wrr>;

    #[test]
    fn a_turn_is_the_weight_or_one_packet_interleaved() {
        for (dialect, order) in [
            ("plain", [0, 0, 0, 1, 1, 2, 0, 0, 0, 1, 1, 2]),
            ("interleaved", [0, 1, 2, 0, 1, 0, 2, 1, 0, 1, 0, 0]),
        ] {
            let mut bench = Bench::new(&format!("dialect={dialect} weights=3:2:1"));
            for _ in 0..9 {
                for flow in 0..3 {
                    bench.offer(flow, 1000);
                }
            }
            assert_eq!(bench.send(12), order, "{dialect}");
        }
    }

    #[test]
    fn sizes_do_not_matter() {
        let mut bench = Bench::new("");
        for _ in 0..3 {
            bench.offer(0, 1500);
            bench.offer(1, 40);
        }
        assert_eq!(bench.send(6), [0, 1, 0, 1, 0, 1]);
        assert_eq!(bench.queue.backlog(), (0, 0));
    }

    #[test]
    fn a_queue_that_returns_within_a_cycle_sends_no_more_than_its_weight() {
        let mut bench = Bench::new("dialect=interleaved weights=2:3");
        for flow in [0, 0, 1, 1, 1, 1] {
            bench.offer(flow, 1000);
        }
        assert_eq!(bench.send(4), [0, 1, 0, 1]);
        bench.offer(0, 1000);
        // Flow 0 has sent two; flow 1 may send one more in this cycle.
        assert_eq!(bench.send(4), [1, 0, 1]);
    }

    #[test]
    fn a_plain_turn_is_lost_with_the_last_packet() {
        let mut bench = Bench::new("weights=3");
        for flow in [0, 0, 1, 1, 1] {
            bench.offer(flow, 1000);
        }
        assert_eq!(bench.send(2), [0, 0]);
        bench.offer(0, 1000);
        assert_eq!(bench.send(4), [1, 1, 1, 0]);
    }

    #[test]
    fn backlogged_flows_share_in_the_ratio_of_their_weights() {
        for dialect in ["plain", "interleaved"] {
            let mut bench = Bench::new(&format!("dialect={dialect} weights=5:3:1"));
            for flow in 0..4 {
                bench.offer(flow, 1000);
                bench.offer(flow, 1000);
            }
            let mut sent = [0_u32; 4];
            for _ in 0..10_000 {
                let flow = bench.send(1)[0];
                sent[usize::try_from(flow).expect("small")] += 1;
                bench.offer(flow, 1000);
            }
            assert_eq!(sent, [5000, 3000, 1000, 1000], "{dialect}");
        }
    }
}
