//! FQ-PIE: flow queueing with PIE in each queue.
//!
//! Source of the default dialect: draft-tahiliani-tsvwg-fq-pie, section 4, which refers to RFC 8290 for the queues
//! ([`crate::flow_queue`]) and to RFC 8033 for the control law ([`crate::disciplines::aqms::pie`]), with the delay taken by timestamps. A packet that
//! arrives when all queues together are at the limit is dropped and PIE is not asked. The draft gives no defaults for the queues;
//! they are those of RFC 8290. In dialect rfc8033 of PIE the delay stays what it was while a queue is empty, so that the
//! probability of a flow that left with a long wait goes on growing; the draft leaves that open ("may use the queue delay value
//! from the most recently dequeued packet"), and Linux sets it to zero.
//!
//! Differences of dialects from the draft:
//!
//! | | draft | linux | ns3 |
//! |---|---|---|---|
//! | PIE as in | rfc8033 | linux | ns3 |
//! | overload drops | the arriving packet | the arriving packet, and forgets the accumulated probability | half the bytes of the fattest queue, at most `drop_batch` packets |
//! | one queue may hold | the limit | the limit | the limit, then it refuses the arriving packet |
//! | key of the hash | drawn | drawn | fixed (Perturbation 0) |
//!
//! Sources: Linux net/sched/sch_fq_pie.c; ns-3.44 fq-pie-queue-disc.cc. Linux's `memory_limit` is left out: there it is counted, but
//! nothing is dropped for it. Linux updates the queues in portions of 2048; with 1024 queues, all at once, as here. ns-3 starts
//! the timer of a queue when it makes the queue; here all queues are updated together. Not modelled: the hash functions.
//! ns-3's set-associative hash (`ways`) and L4S mode (`l4s`, `ce_threshold`) are off there by default.
//!
//! Draws: those of PIE, of all queues from the stream of the scheduler in the order of arrivals.

use crate::classify::{Classifier, Classify, Hash};
use crate::disciplines::aqms::AnyAqm;
use crate::disciplines::aqms::pie::{self, Pie, PieParams};
use crate::entry::{Entry, SpecError};
use crate::flow_queue::{Dscps, FlowQueue, Rules, Sets, WhenFull, in_name_of, schedule_flow_queue};
use crate::nesting::NestingContext;
use crate::tc::{self, Line};
use sojourn_units::{Bytes, Limit, Packets, Span, params};

params! {
    /// Flow queueing with PIE: a queue for each flow, sparse flows first, PIE in each queue.
    pub struct FqPieParams {
        /// Target delay of each queue.
        target: Span = "15ms", range "1us".."10s", source "the draft, section 4: as RFC 8033";
        /// Time between updates of the probabilities.
        tupdate: Span = "15ms", range "1us".."10s", source "the draft, section 4.1: as RFC 8033";
        /// Maximum total length of all queues.
        limit: Limit = "10240p", range "1p".., source "RFC 8290 section 5.2.3; the draft gives none";
        /// Bytes that a queue may send per turn.
        quantum: Bytes = "1514B", range "1B".."100MB", source "RFC 8290 section 5.2.4; the draft gives none";
        /// Number of queues. A hash assigns flows to them. With none, each flow has its own queue.
        buckets: Option<u32> = "1024", range "1".."1000000", source "RFC 8290 section 5.2.5; the draft gives none";
        /// Use a different hash key in every replication.
        perturb: bool = "true", source "RFC 8290 section 4.1",
            where buckets not "none",
            acts "flows share a queue by their hash";
        /// Queues per set in ns-3's set-associative hash (8 in ns-3). A flow takes the first queue of its set that is
        /// its own or idle. With none, the hash is plain; dialect ns3.
        ways: Option<u32> = "none", range "1".."1000000", source "ns-3.44 fq-pie-queue-disc.cc: EnableSetAssociativeHash, off",
            acts "flows share a queue by their hash";
        /// Which packets share a queue.
        classify: Classify = "flow", source "the draft, section 4.1: the 5-tuple";
        /// Weight of the deviation from the target, per second.
        alpha: f64 = "0.125", range "0".."1000", source "RFC 8033, appendix A";
        /// Weight of the change of the delay, per second.
        beta: f64 = "1.25", range "0".."1000", source "RFC 8033, appendix A";
        /// Time at the start of congestion in which no packet is dropped.
        burst: Span = "150ms", range "0s".."1000s", source "RFC 8033, section 4.4: MAX_BURST";
        /// Mean packet size.
        avpkt: Bytes = "1024B", range "1B".., source "RFC 8034, A.1.2: MEAN_PKTSIZE; RFC 8033 names it without a value",
            acts "about two packets of this size are queued, or the probability depends on sizes";
        /// Mark ECN-capable packets instead of dropping them.
        ecn: bool = "false", source "the draft, section 4.3: optional";
        /// With `ecn`, drop packets instead of marking them at this probability and above. `none` never does.
        mark_p: Option<f64> = "0.1", range "0".."1", source "RFC 8033, section 5.1: mark_ecnth",
            where ecn is "true",
            acts "the probability is above this";
        /// Make the drop probability of a packet proportional to its size.
        byte_mode: bool = "false", source "RFC 8033, appendix B mentions it";
        /// Estimate the delay from the backlog and the departure rate instead of from timestamps.
        dq_rate_estimator: bool = "false", source "the draft, section 4.1: should not be used";
        /// Accumulate the probability from packet to packet.
        derandomize: bool = "false", source "RFC 8033, section 5.4: optional";
        /// Limit the growth per update to 0.02 while the probability is at least 0.1.
        cap: bool = "false", source "RFC 8033, section 5.5: optional";
        /// With `l4s`, mark packets with ECT(1) or CE that waited longer than this; dialect ns3.
        ce_threshold: Option<Span> = "none", source "ns-3.44 fq-pie-queue-disc.cc: CeThreshold, never";
        /// L4S mode of ns-3. Packets with ECT(1) or CE are dropped only at the limit and are not counted;
        /// `ce_threshold` marks them; dialect ns3.
        l4s: bool = "false", source "ns-3.44 fq-pie-queue-disc.cc: UseL4s";
        /// Maximum number of packets to drop when the limit is exceeded.
        drop_batch: u32 = "64", range "1".."1000000", source "ns-3.44 fq-pie-queue-disc.cc: DropBatchSize",
            where dialect is "ns3" because "other dialects drop the arriving packet",
            acts "the limit is reached and half of the longest queue is more than this";
    }
    dialects Dialect {
        /// The algorithm as draft-tahiliani-tsvwg-fq-pie describes it.
        draft as Draft = "draft-tahiliani-tsvwg-fq-pie" {}
        /// Linux sch_fq_pie.
        linux as Linux = "linux-6.1" {
            avpkt = "1514B" from "Linux pie.h: psched_mtu, 1500 bytes and 14 of Ethernet";
            derandomize = "true" from "Linux sch_pie.c: pie_drop_early";
            cap = "true" from "Linux sch_pie.c: pie_calculate_probability";
        }
        /// ns-3's FqPieQueueDisc.
        ns3 as Ns3 = "ns3-3.44" {
            quantum = "1500B" from "ns-3.44 fq-pie-queue-disc.cc: the MTU of the device";
            perturb = "false" from "ns-3.44 fq-pie-queue-disc.cc: Perturbation 0";
            ecn = "true" from "ns-3.44 fq-pie-queue-disc.cc: UseEcn";
            avpkt = "1000B" from "ns-3.44 fq-pie-queue-disc.cc: MeanPktSize";
            cap = "true" from "ns-3.44 fq-pie-queue-disc.cc: UseCapDropAdjustment";
        }
    }
}

/// The discipline.
pub struct FqPie(FlowQueue);

schedule_flow_queue!(FqPie);

impl Entry<NestingContext> for FqPie {
    const NAME: &'static str = "fq_pie";
    const TITLE: &'static str = "FQ-PIE";
    const FAIR: bool = true;
    const ABOUT: &'static str = "Flow queueing with PIE: new flows go first, and PIE manages each flow's queue. Each flow has a queue with its own PIE. Queues take turns of a `quantum` of bytes. A flow whose queue was empty goes before backlogged flows.\n\n\
        Expect equal throughput for backlogged flows and almost no delay for flows that send less than their share. The delay of long TCP flows oscillates around `target` in each queue. An unresponsive flow loses only its own excess packets.";
    type Params = FqPieParams;

    fn time_constant(params: &FqPieParams, _: Span) -> Option<crate::entry::TimeConstant> {
        // The factor is scaled by an eighth where the probability is between 1 and 10 % (RFC 8033 section 4.2); this is until it has changed by 1 %.
        crate::entry::TimeConstant::of_integral(0.08, params.alpha, params.target, params.tupdate)
    }

    fn build(params: FqPieParams, cx: &NestingContext) -> Result<Self, SpecError> {
        let pie = pie_params(&params);
        // Contradictions show now, not when the first packet comes.
        Pie::build(pie.clone(), cx).map_err(in_name_of(Self::NAME))?;
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
            when_full: match params.dialect {
                Dialect::Ns3 => WhenFull::HalfTheBytes(params.drop_batch),
                Dialect::Draft | Dialect::Linux => WhenFull::Refuse,
            },
            counts_all: false,
            sets,
            favoured: Dscps::ALL,
        };
        let cx = cx.clone();
        let make = move || {
            let pie = Pie::build(pie.clone(), &cx);
            AnyAqm::Pie(pie.expect("what was built once can be built again"))
        };
        Ok(FqPie(FlowQueue::new(rules, classes, Box::new(make))))
    }

    fn tc(params: &FqPieParams) -> Option<Line> {
        let line = Line::root("fq_pie")
            .packets("limit", Some(params.limit))
            .option("flows", params.buckets.unwrap_or(1024))
            .time("target", params.target)
            .time("tupdate", params.tupdate);
        Some(
            tc::gains(line, params.alpha, params.beta)
                .option("quantum", params.quantum.get())
                .word(if params.ecn { "ecn" } else { "noecn" })
                .word(if params.byte_mode {
                    "bytemode"
                } else {
                    "nobytemode"
                })
                .word(if params.dq_rate_estimator {
                    "dq_rate_estimator"
                } else {
                    "no_dq_rate_estimator"
                }),
        )
    }
}

/// What PIE is built with in each queue.
fn pie_params(params: &FqPieParams) -> PieParams {
    let (dialect, limit) = match params.dialect {
        Dialect::Linux => (pie::Dialect::Linux, None),
        Dialect::Ns3 => (pie::Dialect::Ns3, Some(params.limit)),
        Dialect::Draft => (pie::Dialect::Rfc8033, None),
    };
    let own = PieParams::of(dialect);
    PieParams {
        target: params.target,
        tupdate: params.tupdate,
        limit: limit.unwrap_or(Limit::Packets(Packets::new(u64::MAX))),
        alpha: params.alpha,
        beta: params.beta,
        burst: params.burst,
        avpkt: params.avpkt,
        ecn: params.ecn,
        mark_p: params.mark_p,
        byte_mode: params.byte_mode,
        dq_rate_estimator: params.dq_rate_estimator,
        derandomize: params.derandomize,
        ce_threshold: params.ce_threshold,
        l4s: params.l4s,
        cap: params.cap,
        ..own
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::{Scheduler, SchedulerCx};
    use crate::testing::built_scheduler;
    use sojourn_sim::{DropReason, Packet, Stream};
    use sojourn_units::{Rate, Time};

    /// Packets that each of `arrivals` (time in milliseconds, flow) loses, with its reason, if one packet of 1000 bytes is sent
    /// each millisecond.
    fn losses(spec: &str, arrivals: impl Iterator<Item = (u64, u32)>) -> Vec<(u32, DropReason)> {
        let mut queue = built_scheduler::<FqPie>(spec).expect("consistent");
        let mut cx = SchedulerCx::new(Rate::mbps(8), Stream::derive(1, 0, "test"));
        let mut asked = 0;
        for (uid, (ms, flow)) in (0..).zip(arrivals) {
            let mut packet = Packet::test(1000, flow, uid);
            packet.stamp(Time::ZERO + Span::from_ms(ms));
            let mut arriving = Some(packet);
            while arriving.is_some() {
                let due = asked < ms;
                asked += u64::from(due);
                cx.now = Time::ZERO + Span::from_ms(if due { asked } else { ms });
                if due {
                    queue.dequeue(&mut cx);
                } else if let Some(packet) = arriving.take() {
                    let packet = cx.store.hold(packet);
                    queue.enqueue(packet, &mut cx);
                }
            }
        }
        let flow_of = |held| cx.store.packet(held).flow;
        cx.drops
            .iter()
            .map(|(held, reason)| (flow_of(held), *reason))
            .collect()
    }

    #[test]
    fn the_flow_that_overloads_loses_its_excess_and_the_other_nothing() {
        for dialect in ["draft", "linux", "ns3"] {
            let spec = format!("dialect={dialect}");
            // Flow 0 sends two packets each millisecond, flow 1 one each twenty.
            let arrivals = (0..20_000).flat_map(|ms| {
                let sparse = (ms % 20 == 0).then_some((ms, 1));
                [(ms, 0), (ms, 0)].into_iter().chain(sparse)
            });
            let lost = losses(&spec, arrivals);
            assert!(lost.iter().all(|(flow, _)| *flow == 0), "{dialect}");
            assert!(
                (15_000..22_000).contains(&lost.len()),
                "{dialect}: {}",
                lost.len()
            );
        }
    }

    #[test]
    fn a_full_queue_refuses_the_arriving_packet_but_halves_the_fattest_in_dialect_ns3() {
        for (dialect, expected) in [
            ("draft", vec![(1, DropReason::Overlimit)]),
            ("linux", vec![(1, DropReason::Overlimit)]),
            ("ns3", vec![(0, DropReason::Evicted); 5]),
        ] {
            let spec = format!("dialect={dialect} limit=10p");
            let arrivals = (0..11).map(|i| (0, u32::from(i == 10)));
            assert_eq!(losses(&spec, arrivals), expected, "{dialect}");
        }
    }

    #[test]
    fn what_pie_lacks_is_said_in_the_name_of_fq_pie() {
        let built = built_scheduler::<FqPie>("dialect=linux cap=false");
        let error = built.err().expect("a contradiction").to_string();
        assert!(
            error.starts_with("fq_pie: dialect linux has no cap=false"),
            "{error}"
        );
    }

    #[test]
    fn the_l4s_mode_spares_its_packets_and_marks_them_by_the_threshold() {
        let run = |tos: u8| {
            let mut bench = crate::testing::Bench::<FqPie>::new(
                "dialect=ns3 l4s=true ce_threshold=1ms buckets=none",
            );
            let mut marked = 0;
            for _ in 0..4000 {
                (0..2).for_each(|_| bench.offer_with(0, 1000, |packet| packet.tos = tos));
                bench.now += Span::from_ms(1);
                marked += usize::from(bench.take().is_some_and(|packet| packet.tos & 3 == 3));
            }
            (bench.drops.len(), marked)
        };
        let (dropped, marked) = run(1);
        assert_eq!(dropped, 0);
        // All but the first, which waits no longer than the threshold.
        assert!(marked >= 3998, "{marked}");
        assert!(run(0).0 > 100);
    }
}
