//! HHF: heavy-hitter filter.
//!
//! Source: Linux net/sched/sch_hhf.c and tc-hhf(8), the only definition; the multi-stage filter is that of Estan and Varghese,
//! "New Directions in Traffic Measurement and Accounting" (SIGCOMM 2002), with shielding (section 3.3.1) and conservative update
//! (3.3.2). Flows that have sent more than `admit_bytes` within `reset_timeout` are heavy: their packets go to a bucket of
//! their own, which has a smaller share of the link and gives way first when the limit is reached.
//!
//! Kept as in Linux: time in whole jiffies, and "past a timeout" is more than it; looking for a flow in its chain of the table
//! removes old ones on the way, but not the last of the chain; a new heavy flow takes the place of the first old one of its
//! chain; the two buckets stand in lists of new and old as in fq_codel, the light one joins the new list, the heavy one the old.
//! The limit may be in bytes here: as many heads are dropped as it takes.
//!
//! Deviations: Linux hashes addresses, ports and protocol with siphash and a random key; here the class of `classify` is hashed
//! by the upper 32 bits of SplitMix64, with key 0 or, with `perturb`, one of the replication. Linux's jiffies begin anywhere,
//! here at time zero. `each` is an addition; in Linux buckets are plain.

use crate::child::{Backlog, Child};
use crate::classify::{Classifier, Classify, Hash, mix};
use crate::entry::{Entry, SpecError};
use crate::nesting::{Each, NestingContext};
use crate::scheduler::{QueueState, Scheduler, SchedulerCx};
use crate::store::Held;
use crate::tc::Line;
use sojourn_sim::DropReason;
use sojourn_units::{Bytes, Limit, Span, Spec, Time, params};
use std::collections::VecDeque;

params! {
    /// Heavy-hitter filter: flows that send much share a bucket with the smaller part of the link.
    pub struct HhfParams {
        /// Maximum queue length. Beyond it, the head of the heavy bucket is dropped.
        limit: Limit = "1000p", range "1p".., source "Linux sch_hhf.c: limit 1000";
        /// Bytes per turn at weight 1.
        quantum: Bytes = "1514B", range "1B".."100MB", source "Linux sch_hhf.c: psched_mtu, MTU and Ethernet header",
            acts "both buckets have packets";
        /// Maximum number of heavy flows to track.
        hh_limit: u32 = "2048", range "0".."1000000", source "Linux sch_hhf.c: twice the 1024 slots",
            acts "a flow is heavy";
        /// Byte counters reset after more than this time.
        reset_timeout: Span = "40ms", range "1us".."1000s", source "Linux sch_hhf.c: HZ / 25",
            acts "a flow is heavy";
        /// A flow is heavy if it sends more bytes than this within `reset_timeout`.
        admit_bytes: Bytes = "131072B", range "1B".."2GB", source "Linux sch_hhf.c: 128 KB",
            acts "a flow is heavy";
        /// A flow that sends nothing for longer than this is no longer heavy.
        evict_timeout: Span = "1s", range "1us".."1000s", source "Linux sch_hhf.c: HZ",
            acts "a flow is heavy";
        /// Factor by which turns of the light bucket are longer than those of the heavy bucket.
        non_hh_weight: u32 = "2", range "1".."1000", source "Linux sch_hhf.c: 2",
            acts "both buckets have packets";
        /// Resolution of the timeouts.
        jiffy: Span = "4ms", range "1us".."1s", source "Linux CONFIG_HZ 250, its default",
            acts "a flow is heavy";
        /// Which packets belong to the same flow.
        classify: Classify = "flow", source "Linux skb_get_hash: addresses, ports, protocol",
            acts "a flow is heavy";
        /// Use a different hash key in every replication.
        perturb: bool = "false", source "Linux: a random key at every start; here one run is like the next",
            acts "a flow is heavy";
        /// Discipline of each of the two buckets.
        each: Spec = "droptail limit=none", source "Linux sch_hhf.c: plain lists";
    }
    dialects Dialect {
        /// Linux sch_hhf.
        linux as Linux = "linux-6.1" {}
    }
}

/// The discipline.
pub struct Hhf {
    limit: Limit,
    /// Bytes that a bucket may send in a turn.
    quantum: i64,
    /// Quanta of the light bucket for one of the heavy bucket.
    non_hh_weight: i64,
    filter: Filter,
    classes: Classifier,
    /// Perturbs the hash.
    key: u64,
    /// The heavy bucket, then the light one.
    buckets: [Bucket; 2],
    /// Buckets that are served first.
    new: VecDeque<usize>,
    /// Buckets in rotation.
    old: VecDeque<usize>,
    backlog: Backlog,
}

#[repr(C)]
struct Bucket {
    /// Bytes that it may still send in its turn.
    deficit: i64,
    /// It stands in a list.
    listed: bool,
    // Last: every packet touches the fields before and the child's first, but only an AQM that judges touches its end.
    child: Child,
}

const HEAVY: usize = 0;
const LIGHT: usize = 1;

/// Which flows are heavy. Times are in jiffies.
struct Filter {
    /// The unit of its times.
    jiffy: Span,
    /// Jiffies after which the counters are cleared.
    reset_after: u64,
    /// Jiffies after which a silent flow stops being heavy.
    evict_after: u64,
    /// Bytes that make a flow heavy.
    admit_bytes: u64,
    /// Heavy flows at most.
    hh_limit: usize,
    /// Bytes, in four arrays by independent hashes.
    counters: Box<[[u64; SLOTS]; 4]>,
    /// When the counters were cleared last, in jiffies.
    reset_at: u64,
    /// Heavy flows, in chains by the lower ten bits of their hash.
    table: Vec<Vec<HeavyFlow>>,
    /// Heavy flows in `table`.
    known: usize,
}

struct HeavyFlow {
    /// The flow's hash.
    hash: u32,
    /// When its last packet arrived, in jiffies.
    hit: u64,
}

/// Counters of each of the four arrays, and chains of the table.
const SLOTS: usize = 1024;

impl Entry<NestingContext> for Hhf {
    const NAME: &'static str = "hhf";
    const TITLE: &'static str = "HHF";
    const ABOUT: &'static str = "Heavy-hitter filter: separates the flows that send most from all others. A small counting filter finds the flows that send more than `admit_bytes` within `reset_timeout`. Their packets wait in one bucket, all others in a second one. The second bucket has `non_hh_weight` times the share of the first, has priority after it was empty, and loses packets only if there are no packets of heavy flows to drop.\n\n\
        Expect short flows to pass a queue full of bulk transfers almost without delay. With the defaults, a flow is heavy from 25 Mbps. On slower links no flow is ever heavy, and HHF is a FIFO that drops its head: set `admit_bytes` for your link.";
    type Params = HhfParams;

    fn build(params: HhfParams, cx: &NestingContext) -> Result<Self, SpecError> {
        let each = Each::aqm(&params.each, cx)?;
        let buckets = [HEAVY, LIGHT].map(|number| Bucket {
            child: each.queue(number),
            deficit: 0,
            listed: false,
        });
        let jiffies = |span: Span| span.as_ps().div_ceil(params.jiffy.as_ps());
        let key = if params.perturb {
            cx.stream("hash").bits()
        } else {
            0
        };
        Ok(Hhf {
            limit: params.limit,
            quantum: i64::try_from(params.quantum.get()).unwrap_or(i64::MAX),
            non_hh_weight: i64::from(params.non_hh_weight),
            filter: Filter {
                jiffy: params.jiffy,
                reset_after: jiffies(params.reset_timeout),
                evict_after: jiffies(params.evict_timeout),
                admit_bytes: params.admit_bytes.get(),
                hh_limit: usize::try_from(params.hh_limit).unwrap_or(usize::MAX),
                counters: Box::new([[0; SLOTS]; 4]),
                reset_at: 0,
                table: (0..SLOTS).map(|_| Vec::new()).collect(),
                known: 0,
            },
            classes: Classifier::new(params.classify, None, Hash::Number, cx),
            key,
            buckets,
            new: VecDeque::new(),
            old: VecDeque::new(),
            backlog: Backlog::default(),
        })
    }

    fn inside(params: &HhfParams) -> Vec<&Spec> {
        vec![&params.each]
    }

    fn tc(params: &HhfParams) -> Option<Line> {
        Some(
            Line::root("hhf")
                .packets("limit", Some(params.limit))
                .option("quantum", params.quantum.get())
                .option("hh_limit", params.hh_limit)
                .time("reset_timeout", params.reset_timeout)
                .option("admit_bytes", params.admit_bytes.get())
                .time("evict_timeout", params.evict_timeout)
                .option("non_hh_weight", params.non_hh_weight),
        )
    }
}

impl Scheduler for Hhf {
    fn enqueue(&mut self, packet: Held, cx: &mut SchedulerCx) {
        let hash = upper_half(mix(
            self.classes.class_of(cx.store.packet(&packet)) ^ self.key
        ));
        let heavy = self.filter.is_heavy(hash, u64::from(packet.size), cx.now);
        let index = if heavy { HEAVY } else { LIGHT };
        let share = self.share(index);
        let kept = self
            .backlog
            .enqueue(&mut self.buckets[index].child, packet, cx);
        let bucket = &mut self.buckets[index];
        if kept && !bucket.listed {
            bucket.listed = true;
            bucket.deficit = share;
            match index {
                HEAVY => self.old.push_back(index),
                _ => self.new.push_back(index),
            }
        }
        while !self.backlog.keeps(self.limit) {
            let victim = usize::from(self.buckets[HEAVY].child.is_empty());
            self.with_child(victim, |child| child.drop_head(DropReason::Evicted, cx));
        }
    }

    fn dequeue(&mut self, cx: &mut SchedulerCx) -> Option<Held> {
        loop {
            let from_new = !self.new.is_empty();
            let index = *self.new.front().or_else(|| self.old.front())?;
            if self.buckets[index].deficit <= 0 {
                self.buckets[index].deficit += self.share(index);
                self.unlist(from_new);
                self.old.push_back(index);
                continue;
            }
            if let Some(packet) = self.backlog.dequeue(&mut self.buckets[index].child, cx) {
                self.buckets[index].deficit -= i64::from(packet.size);
                return Some(packet);
            }
            self.unlist(from_new);
            // The light bucket has to let the heavy one go first before it is new again.
            if from_new && !self.old.is_empty() {
                self.old.push_back(index);
            } else {
                self.buckets[index].listed = false;
            }
        }
    }

    /// Asked in vain, Linux takes both buckets from their lists.
    fn on_empty(&mut self, _: Time) {
        self.new.clear();
        self.old.clear();
        for bucket in &mut self.buckets {
            bucket.listed = false;
        }
    }

    fn catch_up(&mut self, cx: &mut SchedulerCx) {
        for bucket in &mut self.buckets {
            bucket.child.catch_up(cx);
        }
    }

    fn backlog(&self) -> (u64, u64) {
        self.backlog.counts()
    }

    fn queues(&self, show: &mut dyn FnMut(QueueState<'_>)) {
        for (bucket, number) in self.buckets.iter().zip(0..) {
            show(QueueState::of(number, &bucket.child, Some(bucket.deficit)));
        }
    }

    fn state_names(&self) -> &'static [&'static str] {
        &["heavy_flows", "heavy_packets", "light_packets"]
    }

    fn state(&self, out: &mut Vec<f64>) {
        let count = |n: u64| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
        out.extend([
            count(u64::try_from(self.filter.known).unwrap_or(u64::MAX)),
            count(self.buckets[HEAVY].child.packets()),
            count(self.buckets[LIGHT].child.packets()),
        ]);
    }
}

impl Hhf {
    fn share(&self, index: usize) -> i64 {
        match index {
            HEAVY => self.quantum,
            _ => self.quantum.saturating_mul(self.non_hh_weight),
        }
    }

    fn unlist(&mut self, from_new: bool) {
        if from_new {
            self.new.pop_front();
        } else {
            self.old.pop_front();
        }
    }

    /// Runs `work` on a bucket and keeps the totals.
    fn with_child<R>(&mut self, index: usize, work: impl FnOnce(&mut Child) -> R) -> R {
        self.backlog.keep(&mut self.buckets[index].child, work)
    }
}

impl Filter {
    /// Counts a packet, and says whether it goes to the heavy bucket.
    fn is_heavy(&mut self, hash: u32, size: u64, now: Time) -> bool {
        let now = now.as_ps() / self.jiffy.as_ps();
        if self.reset_at + self.reset_after < now {
            *self.counters = [[0; SLOTS]; 4];
            self.reset_at = now;
        }
        let evict_after = self.evict_after;
        let is_old = |flow: &HeavyFlow| flow.hit + evict_after < now;
        let [first, second, third] = [hash, hash >> 10, hash >> 20].map(slot);
        let chain = &mut self.table[first];
        let mut place = 0;
        while place < chain.len() {
            if is_old(&chain[place]) {
                if place + 1 == chain.len() {
                    break;
                }
                chain.remove(place);
                self.known -= 1;
            } else if chain[place].hash == hash {
                chain[place].hit = now;
                return true;
            } else {
                place += 1;
            }
        }
        let fourth = first ^ second ^ third ^ slot(hash >> 30);
        let places = [first, second, third, fourth];
        let sums = self.counters.iter().zip(places).map(|(c, at)| c[at] + size);
        let least = sums.min().unwrap_or(0);
        if least > self.admit_bytes {
            let flow = HeavyFlow { hash, hit: now };
            if let Some(old) = chain.iter_mut().find(|flow| is_old(flow)) {
                *old = flow;
                return true;
            }
            if self.known >= self.hh_limit {
                return false;
            }
            chain.push(flow);
            self.known += 1;
            return true;
        }
        for (counters, at) in self.counters.iter_mut().zip(places) {
            counters[at] = counters[at].max(least);
        }
        false
    }
}

#[allow(clippy::as_conversions, reason = "ten bits")]
const fn slot(part: u32) -> usize {
    (part & 1023) as usize
}

#[allow(clippy::as_conversions, reason = "the upper half has 32 bits")]
const fn upper_half(word: u64) -> u32 {
    (word >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    type Bench = crate::testing::Bench<Hhf>;

    impl Bench {
        /// Packets in the heavy bucket and in the light one.
        fn waiting(&self) -> [u64; 2] {
            [HEAVY, LIGHT].map(|index| self.queue.buckets[index].child.packets())
        }
    }

    #[test]
    fn a_flow_is_heavy_beyond_the_bytes_that_admit_it() {
        let mut bench = Bench::new("admit_bytes=10kB");
        for _ in 0..14 {
            bench.offer(0, 1000);
        }
        bench.offer(1, 1000);
        assert_eq!(bench.waiting(), [4, 11]);
    }

    #[test]
    fn counters_and_heavy_flows_are_forgotten_after_their_timeouts() {
        let heavy_after = |spec: &str, first: u32, ms: u64| {
            let mut bench = Bench::new(spec);
            bench.offer(0, first);
            bench.now = Time::ZERO + Span::from_ms(ms);
            bench.offer(0, 1000);
            bench.waiting()[HEAVY] == u64::from(first > 1500) + 1
        };
        assert!(heavy_after("admit_bytes=1500B", 1000, 43));
        assert!(!heavy_after("admit_bytes=1500B", 1000, 44));
        assert!(heavy_after("admit_bytes=1500B", 1600, 1003));
        assert!(!heavy_after("admit_bytes=1500B", 1600, 1004));
    }

    #[test]
    fn heavy_flows_get_the_smaller_share_and_give_way_first() {
        let mut bench = Bench::new("admit_bytes=1B quantum=1000B limit=100p");
        for _ in 0..60 {
            bench.offer(0, 1000);
        }
        bench.queue.filter.admit_bytes = u64::MAX;
        for _ in 0..60 {
            bench.offer(1, 1000);
        }
        assert_eq!((bench.waiting(), bench.drops.len()), ([40, 60], 20));
        let sent = bench.send(30);
        assert_eq!(sent.iter().filter(|flow| **flow == 0).count(), 10);
        assert_eq!(&sent[..2], [1, 1]);
    }

    #[test]
    fn the_table_admits_no_more_flows_than_its_limit() {
        let mut bench = Bench::new("admit_bytes=1B hh_limit=3");
        for flow in 0..10 {
            bench.offer(flow, 1000);
        }
        assert_eq!(bench.waiting(), [3, 7]);
        // After a second all three are old, and give their places only to flows of their own chains.
        bench.now = Time::ZERO + Span::from_secs(2);
        bench.offer(5, 1000);
        assert_eq!(bench.waiting(), [3, 8]);
        bench.offer(0, 1000);
        assert_eq!(bench.waiting(), [4, 8]);
    }

    #[test]
    fn a_light_flow_is_heavy_only_if_all_its_counters_are_large() {
        let mut bench = Bench::new("admit_bytes=1500B");
        let filter = &mut bench.queue.filter;
        let at = Time::ZERO;
        // Hashes that share counters pairwise: in the first array, in the second, and so on.
        assert!(!filter.is_heavy(0x1, 1000, at));
        assert!(!filter.is_heavy(0x400, 1000, at));
        // Shares its first counter with one and its second with the other, the third with both, not the fourth.
        assert!(!filter.is_heavy(0x401, 1000, at));
        assert!(filter.is_heavy(0x1, 1000, at));
    }
}
