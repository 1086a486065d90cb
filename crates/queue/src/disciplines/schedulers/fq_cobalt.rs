//! FQ-COBALT: flow queueing with COBALT in each queue.
//!
//! Source: ns-3.44 fq-cobalt-queue-disc.cc, the only one under this name (CAKE is another scheduler around COBALT). Queues and
//! lists are those of FQ-CoDel ([`crate::flow_queue`]), the control law is [`crate::disciplines::aqms::cobalt`] in
//! dialect ns3. Over the limit, heads of the queue with the most bytes are dropped until half of its bytes are gone, at
//! most `drop_batch`. A single queue that reaches the limit refuses the arriving packet, which raises BLUE's
//! probability; drops of heads do not.
//!
//! Not modelled: ns-3's hash function. Its set-associative hash (`ways`) and its L4S mode (`l4s`) are off there by
//! default. There is no pseudo-code apart from the code, so only the structure is tested, by FQ-CoDel's oracle.
//!
//! Draws: those of COBALT, of all queues from the stream of the scheduler in the order of departures.

use crate::classify::{Classifier, Classify, Hash};
use crate::disciplines::aqms::AnyAqm;
use crate::disciplines::aqms::cobalt::{self, Cobalt, CobaltParams};
use crate::entry::{Entry, SpecError};
use crate::flow_queue::{Dscps, FlowQueue, Rules, Sets, WhenFull, in_name_of, schedule_flow_queue};
use crate::nesting::NestingContext;
use sojourn_units::{Bytes, Limit, Span, params};

params! {
    /// Flow queueing with COBALT: a queue for each flow, sparse flows first, COBALT in each queue.
    pub struct FqCobaltParams {
        /// Acceptable standing sojourn time in each queue.
        target: Span = "5ms", range "1us".."1s", source "ns-3.44 fq-cobalt-queue-disc.cc: Target";
        /// Time until the first signal. Set it to about the largest common round trip time.
        interval: Span = "100ms", range "10us".."4s", source "ns-3.44 fq-cobalt-queue-disc.cc: Interval";
        /// Maximum total length of all queues.
        limit: Limit = "10240p", range "1p".., source "ns-3.44 fq-cobalt-queue-disc.cc: MaxSize";
        /// Bytes that a queue may send per turn.
        quantum: Bytes = "1500B", range "1B".."100MB", source "ns-3.44 fq-cobalt-queue-disc.cc: the MTU of the device";
        /// Number of queues. A hash assigns flows to them. With none, each flow has its own queue.
        buckets: Option<u32> = "1024", range "1".."1000000", source "ns-3.44 fq-cobalt-queue-disc.cc: Flows";
        /// Use a different hash key in every replication.
        perturb: bool = "false", source "ns-3.44 fq-cobalt-queue-disc.cc: Perturbation 0",
            where buckets not "none",
            acts "flows share a queue by their hash";
        /// Queues per set in ns-3's set-associative hash (8 in ns-3). A flow takes the first queue of its set that is
        /// its own or idle. With none, the hash is plain; dialect ns3.
        ways: Option<u32> = "none", range "1".."1000000", source "ns-3.44 fq-cobalt-queue-disc.cc: EnableSetAssociativeHash, off",
            acts "flows share a queue by their hash";
        /// Which packets share a queue.
        classify: Classify = "flow", source "ns-3.44: the 5-tuple";
        /// Mark ECN-capable packets instead of dropping them when a signal is due.
        ecn: bool = "true", source "ns-3.44 fq-cobalt-queue-disc.cc: UseEcn";
        /// BLUE drops ECN-capable packets, too. Otherwise it marks them.
        harddrop: bool = "true", source "ns-3.44 cobalt-queue-disc.cc: BLUE marks nothing",
            where ecn is "true";
        /// Step by which BLUE's probability grows.
        increment: f64 = "0.00390625", range "0".."1", source "ns-3.44 fq-cobalt-queue-disc.cc: Increment 1/256";
        /// Step by which BLUE's probability shrinks.
        decrement: f64 = "0.000244140625", range "0".."1", source "ns-3.44 fq-cobalt-queue-disc.cc: Decrement 1/4096";
        /// Sojourn time above which BLUE's probability also grows.
        blue_threshold: Option<Span> = "400ms", source "ns-3.44 fq-cobalt-queue-disc.cc: BlueThreshold";
        /// Mark every ECN-capable packet that waited longer than this.
        ce_threshold: Option<Span> = "none", source "ns-3.44 fq-cobalt-queue-disc.cc: CeThreshold, never";
        /// L4S mode of ns-3. Packets with ECT(1) or CE are dropped only at the limit, and CoDel does not count them.
        /// `ce_threshold` marks only these packets; dialect ns3.
        l4s: bool = "false", source "ns-3.44 fq-cobalt-queue-disc.cc: UseL4s";
        /// Maximum number of packets to drop when the limit is exceeded.
        drop_batch: u32 = "64", range "1".."1000000", source "ns-3.44 fq-cobalt-queue-disc.cc: DropBatchSize",
            acts "the limit is reached and half of the longest queue is more than this";
    }
    dialects Dialect {
        /// ns-3's FqCobaltQueueDisc.
        ns3 as Ns3 = "ns3-3.44" {}
    }
}

/// The discipline.
pub struct FqCobalt(FlowQueue);

schedule_flow_queue!(FqCobalt);

impl Entry<NestingContext> for FqCobalt {
    const NAME: &'static str = "fq_cobalt";
    const TITLE: &'static str = "FQ-COBALT";
    const FAIR: bool = true;
    const ABOUT: &'static str = "Flow queueing with COBALT: new flows go first, and COBALT manages each flow's queue. Each flow has a queue with its own COBALT, a combination of CoDel and BLUE. Queues take turns of a `quantum` of bytes. A flow whose queue was empty goes before backlogged flows.\n\n\
        Expect the behaviour of FQ-CoDel under TCP. BLUE limits an unresponsive flow once its packets wait longer than `blue_threshold`, while FQ-CoDel lets its queue grow to the limit. The algorithm comes from ns-3 and has no public pseudo-code, so only its parts are tested against reference implementations.";
    type Params = FqCobaltParams;

    fn time_constant(params: &FqCobaltParams, _: Span) -> Option<crate::entry::TimeConstant> {
        Some(crate::entry::TimeConstant::new("interval", params.interval))
    }

    fn build(params: FqCobaltParams, cx: &NestingContext) -> Result<Self, SpecError> {
        let own = CobaltParams::of(cobalt::Dialect::Ns3);
        let cobalt = CobaltParams {
            target: params.target,
            interval: params.interval,
            limit: params.limit,
            ecn: params.ecn,
            harddrop: params.harddrop,
            increment: params.increment,
            decrement: params.decrement,
            blue_threshold: params.blue_threshold,
            ce_threshold: params.ce_threshold,
            l4s: params.l4s,
            ..own
        };
        // Contradictions show now, not when the first packet comes.
        Cobalt::build(cobalt.clone(), cx).map_err(in_name_of(Self::NAME))?;
        let key = match params.perturb {
            true => cx.stream("hash").bits(),
            false => 0,
        };
        let classes = Classifier::new(params.classify, params.buckets, Hash::Keyed(key), cx);
        let sets = Sets::of(params.ways, params.buckets, params.dialect == Dialect::Ns3).map_err(
            |text| SpecError::Contradiction {
                discipline: Self::NAME.to_owned(),
                text: text.to_owned(),
            },
        )?;
        let rules = Rules {
            quantum: u32::try_from(params.quantum.get()).unwrap_or(u32::MAX),
            limit: params.limit,
            memory: None,
            when_full: WhenFull::HalfTheBytes(params.drop_batch),
            counts_all: false,
            sets,
            favoured: Dscps::ALL,
        };
        let cx = cx.clone();
        let make = move || {
            let cobalt = Cobalt::build(cobalt.clone(), &cx);
            AnyAqm::Cobalt(cobalt.expect("what was built once can be built again"))
        };
        Ok(FqCobalt(FlowQueue::new(rules, classes, Box::new(make))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::{Scheduler, SchedulerCx};
    use crate::testing::built_scheduler;
    use sojourn_sim::{DropReason, Packet, Stream};
    use sojourn_units::{Rate, Time};

    /// Packets that leave, by flow, and that are lost, by flow and reason, if `per_ms` packets of 1000 bytes of each flow arrive and
    /// one is sent each millisecond, for `ms` milliseconds.
    fn run(spec: &str, per_ms: [u32; 2], ms: u64) -> ([u32; 2], Vec<(u32, DropReason)>) {
        let mut queue = built_scheduler::<FqCobalt>(spec).expect("consistent");
        let mut cx = SchedulerCx::new(Rate::mbps(8), Stream::derive(1, 0, "test"));
        let mut uid = 0;
        let mut sent = [0; 2];
        for ms in 0..ms {
            let now = Time::ZERO + Span::from_ms(ms);
            cx.now = now;
            for (count, flow) in per_ms.into_iter().zip(0..) {
                for _ in 0..count {
                    let mut packet = Packet::test(1000, flow, uid);
                    packet.stamp(now);
                    uid += 1;
                    let packet = cx.store.hold(packet);
                    queue.enqueue(packet, &mut cx);
                }
            }
            if let Some(packet) = queue.dequeue(&mut cx) {
                let flow = cx.store.release(packet).flow;
                sent[usize::try_from(flow).expect("small")] += 1;
            }
        }
        let flow_of = |held| cx.store.packet(held).flow;
        let lost = cx
            .drops
            .iter()
            .map(|(held, reason)| (flow_of(held), *reason))
            .collect();
        (sent, lost)
    }

    #[test]
    fn backlogged_flows_share_equally_while_blue_is_silent() {
        let (sent, _) = run("blue_threshold=none", [1, 3], 2000);
        assert!(sent[0].abs_diff(sent[1]) <= 2, "{sent:?}");
    }

    #[test]
    fn two_queues_at_the_limit_lose_half_of_the_fattest_and_a_single_one_refuses() {
        let (_, lost) = run("limit=9p", [5, 5], 1);
        assert_eq!(lost, [(0, DropReason::Evicted); 3]);
        let (_, lost) = run("limit=9p", [11, 0], 1);
        assert_eq!(lost, [(0, DropReason::Overlimit); 2]);
    }

    #[test]
    fn blue_brings_an_unresponsive_flow_down_sooner_than_codel_alone() {
        let drops = |spec| run(spec, [0, 3], 8000).1.len();
        let (with, without) = (drops(""), drops("blue_threshold=none"));
        assert!(with > without + without / 10, "{with} {without}");
    }
}
