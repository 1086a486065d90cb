//! FQ-CoDel: flow queueing with CoDel in each queue.
//!
//! Source of the default dialect: RFC 8290 (January 2018), section 4.1 (enqueue), 4.2 (dequeue) and 5.2 (parameters), compared with the
//! text. The lists and the credits are [`crate::flow_queue`], the control law is [`crate::disciplines::aqms::codel`] in the dialect of the same origin.
//! A packet over the limit is accepted first. Then heads of the queue with the most bytes are dropped: half of its
//! packets, at most `drop_batch`. CoDel does not drop a packet when too few bytes are left in all queues together, as
//! RFC 8289, section 4.4, advises. RFC 8290 agrees, because in its section 4.2 a queue may become empty while CoDel
//! handles it.
//!
//! Left open by the RFC: half of an odd number is rounded down, to at least one packet; among queues of equal bytes,
//! the first one seen loses packets; these drops do not change CoDel's state. Credits are used up at zero (section 3;
//! section 4.2 says negative).
//!
//! Differences of dialects from the RFC:
//!
//! | | rfc8290 | linux | ns3 |
//! |---|---|---|---|
//! | CoDel as in | rfc8289 | linux | ns3 |
//! | no drop when so little is left in | all queues | all queues | the queue |
//! | overload drops | half the packets | half the bytes | half the bytes |
//! | and adds their number to CoDel's count | no | yes | no |
//! | memory is limited too | no | yes | no |
//! | one queue may hold | the limit | the limit | the limit, then it refuses the arriving packet |
//! | key of the hash | drawn | drawn | fixed (Perturbation 0) |
//!
//! Sources: Linux net/sched/sch_fq_codel.c and include/net/codel_impl.h; ns-3.44 fq-codel-queue-disc.cc. Not modelled: their hash
//! functions (a collision here falls on other flows). ns-3's set-associative hash (`ways`) and L4S mode (`l4s`), both off there by
//! default, are read off its newer fq-codel-queue-disc.cc and codel-queue-disc.cc. In L4S mode CoDel looks only at the packet that
//! a request finds first: one behind a dropped packet is judged as any other, as there.

use crate::classify::{Classifier, Classify, Hash};
use crate::disciplines::aqms::AnyAqm;
use crate::disciplines::aqms::codel::{self, Codel, CodelParams};
use crate::entry::{self, Entry, SpecError};
use crate::flow_queue::{Dscps, FlowQueue, Rules, Sets, WhenFull, in_name_of, schedule_flow_queue};
use crate::nesting::NestingContext;
use crate::tc::Line;
use sojourn_units::{Bytes, Limit, Packets, Span, params};

params! {
    /// Flow queueing with CoDel: a queue for each flow, sparse flows first, CoDel in each queue.
    pub struct FqCodelParams {
        /// Acceptable standing sojourn time in each queue.
        target: Span = "5ms", range "1us".."10s", source "RFC 8290 section 5.2.2";
        /// Time for which the sojourn time must stay at or above the target before a packet is dropped.
        interval: Span = "100ms", range "10us".."100s", source "RFC 8290 section 5.2.1";
        /// Maximum total length of all queues.
        limit: Limit = "10240p", range "1p".., source "RFC 8290 section 5.2.3";
        /// Bytes that a queue may send per turn.
        quantum: Bytes = "1514B", range "1B".."100MB", source "RFC 8290 section 5.2.4: the MTU and the Ethernet header";
        /// Number of queues. A hash assigns flows to them. With none, each flow has its own queue.
        buckets: Option<u32> = "1024", range "1".."1000000", source "RFC 8290 section 5.2.5";
        /// Use a different hash key in every replication.
        perturb: bool = "true", source "RFC 8290 section 4.1: salted by a random value at initialisation",
            where buckets not "none",
            acts "flows share a queue by their hash";
        /// Queues per set in ns-3's set-associative hash (8 in ns-3). A flow takes the first queue of its set that is
        /// its own or idle. With none, the hash is plain; dialect ns3.
        ways: Option<u32> = "none", range "1".."1000000", source "ns-3.44 fq-codel-queue-disc.cc: EnableSetAssociativeHash, off",
            acts "flows share a queue by their hash";
        /// Which packets share a queue.
        classify: Classify = "flow", source "RFC 8290 section 4.1: the 5-tuple";
        /// Mark ECN-capable packets instead of dropping them.
        ecn: bool = "true", source "RFC 8290 section 5.2.6";
        /// Mark every ECN-capable packet that waited longer than this; dialects linux and ns3.
        ce_threshold: Option<Span> = "none", source "RFC 8290 section 5.2.7: disabled by default";
        /// `ce_threshold` marks only packets whose masked traffic class (DSCP and ECN) has this value; dialect linux.
        ce_threshold_selector: u32 = "0", range "0".."255", source "Linux codel.h: codel_params_init";
        /// The mask for `ce_threshold_selector`: 3 for the ECN bits; dialect linux.
        ce_threshold_mask: u32 = "0", range "0".."255", source "Linux codel.h: codel_params_init, every packet";
        /// L4S mode of ns-3. Packets with ECT(1) or CE are dropped only at the limit, and CoDel does not count them.
        /// `ce_threshold` marks only these packets; dialect ns3.
        l4s: bool = "false", source "ns-3.44 fq-codel-queue-disc.cc: UseL4s";
        /// Maximum number of packets to drop when the limit is exceeded.
        drop_batch: u32 = "64", range "1".."1000000", source "RFC 8290 section 4.1: up to 64",
            acts "the limit is reached and half of the longest queue is more than this";
        /// Maximum memory of queued packets, as Linux's allocator counts it; dialect linux.
        memory_limit: Option<Bytes> = "none", range "1kB".., source "RFC 8290 gives none",
            acts "the queued packets take this much memory";
        /// CoDel drops no packet if at most this many bytes remain (in dialect ns3, fewer).
        mtu: Bytes = "1500B", range "1B".., source "RFC 8289 section 5.3 lists 512 and advises the MTU of the interface; Ethernet's",
            acts "the queue is this short when a packet is due to be dropped";
    }
    dialects Dialect {
        /// The algorithm as RFC 8290 describes it.
        rfc8290 as Rfc8290 = "rfc8290" {}
        /// Linux sch_fq_codel.
        linux as Linux = "linux-6.1" {
            memory_limit = "32MiB" from "Linux sch_fq_codel.c: 32 << 20";
            mtu = "1514B" from "Linux sch_fq_codel.c: psched_mtu, MTU and Ethernet header";
        }
        /// ns-3's FqCoDelQueueDisc.
        ns3 as Ns3 = "ns3-3.44" {
            quantum = "1500B" from "ns-3.44 fq-codel-queue-disc.cc: the MTU of the device";
            perturb = "false" from "ns-3.44 fq-codel-queue-disc.cc: Perturbation 0";
        }
    }
}

/// The discipline.
pub struct FqCodel(FlowQueue);

schedule_flow_queue!(FqCodel);

impl Entry<NestingContext> for FqCodel {
    const NAME: &'static str = "fq_codel";
    const TITLE: &'static str = "FQ-CoDel";
    const FAIR: bool = true;
    const ABOUT: &'static str = "Flow queueing with CoDel: new flows go first, and CoDel manages each flow's queue. Each flow has a queue with its own CoDel. Queues take turns of a `quantum` of bytes. A flow whose queue was empty goes before backlogged flows. When all queues together exceed the limit, the queue with the most bytes loses half of its packets.\n\n\
        Expect equal throughput for backlogged flows and almost no delay for flows that send less than their share. The delay of long TCP flows is near `target` in each queue; only unresponsive flows have long queues. With ECN, packets of an unresponsive flow are marked, not dropped, until the limit is reached.";
    type Params = FqCodelParams;

    fn time_constant(params: &FqCodelParams, _: Span) -> Option<entry::TimeConstant> {
        Some(entry::TimeConstant::new("interval", params.interval))
    }

    fn build(params: FqCodelParams, cx: &NestingContext) -> Result<Self, SpecError> {
        let linux = params.dialect == Dialect::Linux;
        if params.memory_limit.is_some() && !linux {
            return Err(contradiction(
                "memory_limit needs dialect linux; leave it out or choose that one",
            ));
        }
        let class = (params.ce_threshold_selector, params.ce_threshold_mask);
        if class != (0, 0) && !(linux && params.ce_threshold.is_some()) {
            return Err(contradiction(
                "ce_threshold_selector and ce_threshold_mask need dialect linux and ce_threshold; leave them out or give those",
            ));
        }
        let (selector, mask) = (octet(class.0), octet(class.1));
        if selector & !mask != 0 {
            return Err(contradiction(
                "ce_threshold_selector has bits that ce_threshold_mask lacks; no packet would be marked",
            ));
        }
        let codel = codel_params(&params);
        // Contradictions show now, not when the first packet comes.
        Codel::build(codel.clone(), cx).map_err(in_name_of(Self::NAME))?;
        let key = match params.perturb {
            true => cx.stream("hash").bits(),
            false => 0,
        };
        let classes = Classifier::new(params.classify, params.buckets, Hash::Keyed(key), cx);
        let sets = Sets::of(params.ways, params.buckets, params.dialect == Dialect::Ns3)
            .map_err(contradiction)?;
        let rules = Rules {
            quantum: u32::try_from(params.quantum.get()).unwrap_or(u32::MAX),
            limit: params.limit,
            memory: params.memory_limit.map(Bytes::get),
            when_full: match params.dialect {
                Dialect::Rfc8290 => WhenFull::HalfThePackets(params.drop_batch),
                Dialect::Linux | Dialect::Ns3 => WhenFull::HalfTheBytes(params.drop_batch),
            },
            counts_all: params.dialect != Dialect::Ns3,
            sets,
            favoured: Dscps::ALL,
        };
        let cx = cx.clone();
        let make = move || {
            let codel = Codel::build(codel.clone(), &cx);
            let codel = codel.expect("what was built once can be built again");
            AnyAqm::Codel(codel.marking(selector, mask))
        };
        Ok(FqCodel(FlowQueue::new(rules, classes, Box::new(make))))
    }

    fn tc(params: &FqCodelParams) -> Option<Line> {
        let line = Line::root("fq_codel")
            .packets("limit", Some(params.limit))
            .option("flows", params.buckets.unwrap_or(1024))
            .option("quantum", params.quantum.get())
            .time("target", params.target)
            .time("interval", params.interval)
            .option("drop_batch", params.drop_batch);
        let line = match params.memory_limit {
            Some(memory) => line.option("memory_limit", memory.get()),
            None => line,
        };
        let line = match params.ce_threshold {
            Some(threshold) => {
                let line = line.time("ce_threshold", threshold);
                match (params.ce_threshold_selector, params.ce_threshold_mask) {
                    (_, 0) => line,
                    (selector, mask) => {
                        line.option("ce_threshold_selector", format!("{selector:#x}/{mask:#x}"))
                    }
                }
            }
            None => line,
        };
        Some(line.word(if params.ecn { "ecn" } else { "noecn" }))
    }
}

/// What CoDel is built with in each queue.
fn codel_params(params: &FqCodelParams) -> CodelParams {
    let (dialect, limit) = match params.dialect {
        Dialect::Linux => (codel::Dialect::Linux, None),
        Dialect::Ns3 => (codel::Dialect::Ns3, Some(params.limit)),
        Dialect::Rfc8290 => (codel::Dialect::Rfc8289, None),
    };
    let own = CodelParams::of(dialect);
    CodelParams {
        target: params.target,
        interval: params.interval,
        limit: limit.unwrap_or(Limit::Packets(Packets::new(u64::MAX))),
        ecn: params.ecn,
        mtu: params.mtu,
        ce_threshold: params.ce_threshold,
        l4s: params.l4s,
        ..own
    }
}

fn octet(value: u32) -> u8 {
    u8::try_from(value).unwrap_or(u8::MAX)
}

fn contradiction(text: &str) -> SpecError {
    entry::contradiction(FqCodel::NAME, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::built_scheduler;
    use sojourn_sim::DropReason;

    type Bench = crate::testing::Bench<FqCodel>;

    #[test]
    fn a_new_queue_goes_before_the_old_ones_and_is_old_when_its_quantum_is_used_up() {
        let mut bench = Bench::new("quantum=1000B");
        for uid in 0..3 {
            bench.offer(uid % 2, 1000);
        }
        assert_eq!(bench.send_numbers(1), [0]);
        bench.offer(2, 100);
        // Flow 0 has used its quantum up; flows 1 and 2 are new still.
        assert_eq!(bench.send_numbers(2), [1, 3]);
        bench.offer(3, 100);
        assert_eq!(bench.send_numbers(5), [4, 2]);
        assert_eq!(bench.state(), [4.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn an_emptied_new_queue_stays_listed_as_old_until_its_turn() {
        let mut bench = Bench::new("quantum=1000B");
        bench.offer(0, 100);
        bench.offer(1, 1000);
        bench.offer(1, 1000);
        assert_eq!(bench.send_numbers(2), [0, 1]);
        assert_eq!(bench.state()[1..3], [1.0, 1.0]);
        bench.offer(0, 100);
        // As an old queue it waits for flow 1, which is before it and has credits again.
        assert_eq!(bench.send_numbers(2), [3, 2]);
    }

    #[test]
    fn dialects_take_half_the_packets_or_half_the_bytes_of_the_fattest() {
        for (dialect, expected) in [("rfc8290", 3), ("linux", 1), ("ns3", 1)] {
            let mut bench = Bench::new(&format!("dialect={dialect} limit=7p"));
            bench.offer(0, 1500);
            (0..5).for_each(|_| bench.offer(0, 100));
            bench.offer(1, 1500);
            assert_eq!(bench.lost(), [0_u32; 0], "{dialect}");
            // Flow 0 has 2000 bytes in six packets, flow 1 has 1600 in two.
            bench.offer(1, 100);
            let first: Vec<u32> = (0..expected).collect();
            assert_eq!(bench.lost(), first, "{dialect}");
        }
    }

    #[test]
    fn a_batch_ends_at_its_bound() {
        for dialect in ["rfc8290", "linux", "ns3"] {
            let mut bench = Bench::new(&format!("dialect={dialect} limit=40p drop_batch=4"));
            (0..42).for_each(|uid| bench.offer(uid % 2, 1000));
            assert_eq!(bench.lost(), [0, 2, 4, 6], "{dialect}");
        }
    }

    #[test]
    fn a_lone_queue_at_the_limit_loses_its_head_but_refuses_in_dialect_ns3() {
        for (dialect, first) in [("rfc8290", 0), ("linux", 0), ("ns3", 10)] {
            let mut bench = Bench::new(&format!("dialect={dialect} limit=10p"));
            (0..11).for_each(|_| bench.offer(0, 1000));
            assert_eq!(bench.lost().first(), Some(&first), "{dialect}");
        }
    }

    #[test]
    fn linux_limits_memory_and_frees_what_leaves() {
        // 2304 bytes a packet.
        let mut bench = Bench::new("dialect=linux memory_limit=23040B");
        (0..10).for_each(|uid| bench.offer(uid % 2, 1514));
        assert_eq!(bench.lost(), [0_u32; 0]);
        bench.offer(0, 1514);
        assert_eq!(bench.lost(), [0, 2, 4]);
        assert_eq!(bench.send_numbers(20).len(), 8);
        (0..10).for_each(|uid| bench.offer(uid % 2, 1514));
        assert_eq!(bench.lost(), [0_u32; 0]);
    }

    #[test]
    fn linux_allocates_a_power_of_two() {
        use crate::flow_queue::memory_of;
        assert_eq!(
            [1514, 54, 1664, 1665].map(memory_of),
            [2304, 768, 2304, 4352]
        );
    }

    /// Packets that CoDel drops of a flow with one packet at a time, which waits 10 ms while another flow has many.
    fn dropped_of_a_short_queue(dialect: &str) -> usize {
        let mut bench = Bench::new(&format!("dialect={dialect} ecn=false limit=100000p"));
        (0..3000).for_each(|_| bench.offer(1, 1500));
        let mut dropped = 0;
        for _ in 0..100 {
            bench.offer(0, 100);
            bench.now += Span::from_ms(10);
            while bench.store.packets().any(|packet| packet.flow == 0) {
                bench.send_numbers(1);
                for (held, reason) in bench.drops.drain(..) {
                    let flow = bench.store.release(held).flow;
                    dropped += usize::from(flow == 0 && reason == DropReason::TargetExceeded);
                }
            }
        }
        dropped
    }

    #[test]
    fn a_short_queue_is_spared_only_when_all_queues_are_short_but_always_in_ns3() {
        let dropped = ["rfc8290", "linux", "ns3"].map(dropped_of_a_short_queue);
        assert!(dropped[0] > 0 && dropped[1] > 0, "{dropped:?}");
        assert_eq!(dropped[2], 0);
    }

    #[test]
    fn what_a_dialect_lacks_is_refused() {
        let refuse = |spec: &str| {
            let built = built_scheduler::<FqCodel>(spec);
            built.err().expect("a contradiction").to_string()
        };
        assert_eq!(
            refuse("memory_limit=1MB"),
            "fq_codel: memory_limit needs dialect linux; leave it out or choose that one"
        );
        assert_eq!(
            refuse("ce_threshold=1ms"),
            "fq_codel: ce_threshold needs dialect linux or ns3; leave it out or choose one of them"
        );
    }

    /// ns-3's rule, over all queues at once.
    #[derive(Default)]
    struct PlainSets {
        queue_of_place: std::collections::BTreeMap<u64, u32>,
        tags: std::collections::BTreeMap<u64, u64>,
    }

    impl PlainSets {
        fn find(&mut self, hash: u64, buckets: u64, ways: u64, listed: &[bool]) -> u32 {
            let first = hash % buckets / ways * ways;
            let fits = |place: &u64| match self.queue_of_place.get(place) {
                None => true,
                Some(&queue) => {
                    self.tags.get(place) == Some(&hash)
                        || !listed[usize::try_from(queue).expect("small")]
                }
            };
            let place = (first..first + ways).find(fits).unwrap_or(first);
            self.tags.insert(place, hash);
            let next = u32::try_from(self.queue_of_place.len()).expect("small");
            *self.queue_of_place.entry(place).or_insert(next)
        }
    }

    #[test]
    fn a_set_gives_the_queues_that_a_plain_search_finds() {
        use crate::classify::mix;
        let mut bench = Bench::new("dialect=ns3 buckets=16 ways=4 quantum=1000B");
        let mut plain = PlainSets::default();
        let mut rng = sojourn_sim::Stream::derive(1, 0, "sets");
        let mut apart = 0;
        for _ in 0..5000 {
            if rng.below(20) < 11 {
                let flow = u32::try_from(rng.below(40)).expect("small");
                let before: Vec<u64> = bench.queue.0.lengths();
                let listed = bench.queue.0.listed();
                let queue = plain.find(mix(u64::from(flow)), 16, 4, &listed);
                bench.offer(flow, 1000);
                let after = bench.queue.0.lengths();
                let grown =
                    (0..after.len()).find(|i| before.get(*i).copied().unwrap_or(0) < after[*i]);
                assert_eq!(grown, usize::try_from(queue).ok());
                apart += usize::from(mix(u64::from(flow)) % 16 / 4 * 4 != u64::from(queue));
            } else {
                bench.take();
            }
        }
        assert!(apart > 100);
    }

    #[test]
    fn flows_that_would_collide_have_queues_of_their_own_in_a_set() {
        // Six flows in one set of eight queues, whatever the hash.
        let shares = |spec: &str| {
            let mut bench = Bench::new(spec);
            for uid in 0..60 {
                bench.offer(uid % 6, 1000);
            }
            bench.queue.0.lengths().len()
        };
        assert_eq!(shares("dialect=ns3 buckets=8 ways=8"), 6);
        assert!(shares("dialect=ns3 buckets=8") < 6);
    }

    #[test]
    fn the_l4s_mode_marks_its_own_packets_by_the_threshold_alone() {
        let sent = |tos: u8| {
            let mut bench = Bench::new("dialect=ns3 l4s=true ce_threshold=1ms buckets=none");
            for _ in 0..400 {
                bench.offer_with(0, 1000, |packet| packet.tos = tos);
            }
            let mut tos = Vec::new();
            while let Some(packet) = bench.take() {
                tos.push(packet.tos);
                bench.now += Span::from_us(800);
            }
            (tos, bench.drops.len())
        };
        // Packets 0 and 1 wait less than a millisecond.
        let (l4s, dropped) = sent(1);
        assert_eq!((&l4s[..2], dropped), (&[1, 1][..], 0));
        assert!(l4s[2..].iter().all(|tos| *tos == 3));
        // Classic packets know only the control law.
        let (classic, dropped) = sent(2);
        assert_eq!((&classic[..100], dropped), (&[2; 100][..], 0));
        let marked = classic.iter().filter(|tos| **tos == 3).count();
        assert!((1..50).contains(&marked), "{marked}");
    }

    #[test]
    fn linux_marks_by_the_threshold_whom_the_selector_names() {
        let marked = |tos: u8| {
            let spec = "dialect=linux ce_threshold=1ms ce_threshold_selector=1 ce_threshold_mask=3 buckets=none";
            let mut bench = Bench::new(spec);
            (0..20).for_each(|_| bench.offer_with(0, 1000, |packet| packet.tos = tos));
            bench.now += Span::from_ms(2);
            while bench.take().is_some() {}
            bench.marks.len()
        };
        assert_eq!([0, 1, 2, 0xb9].map(marked), [0, 20, 0, 20]);
    }
}
