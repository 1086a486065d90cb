//! DRR++: deficit round robin with latency-critical flows.
//!
//! Source: M. H. MacGregor and W. Shi, "Deficits for Bursty Latency-critical Flows: DRR++", ICON 2000. Only its
//! abstract was available: DRR++ serves latency-critical flows before the others and holds each to its contract by the
//! deficit of DRR, so that bursts are allowed for, where DRR+ (Shreedhar and Varghese) polices with a timer and demands
//! smooth arrivals. No pseudo-code was found in public. This implementation follows the schedulers based on it: Linux's
//! sch_cake.c calls its flow isolation DRR++, and RFC 8290's lists of new and old queues are the same
//! ([`crate::flow_queue`]). No test compares it with the paper.
//!
//! * A flow that becomes active has credits of one quantum. A latency-critical one joins the queues that are served first, any
//!   other one the end of the round.
//! * A queue sends while it has credits, and may overdraw them by part of a packet. Without credits it gets a quantum and goes to
//!   the end of the round, latency-critical or not: so it pays for a burst above its contract with its next turns.
//! * A latency-critical queue that empties stays in the round until its turn, so that it gets no new credits by pausing.
//! * With every flow latency-critical (`critical=all`) this is FQ-CoDel without CoDel.
//!
//! Not from the paper: the DSCP of the packet that makes a queue active decides whether the flow is latency-critical;
//! over the limit, heads of the queue with the most bytes are dropped, one at a time.

use crate::classify::{Classifier, Classify, Hash};
use crate::entry::{Entry, SpecError};
use crate::flow_queue::{Dscps, FlowQueue, Rules, WhenFull, schedule_flow_queue};
use crate::nesting::NestingContext;
use sojourn_units::{Bytes, Kind, Limit, ParamValue, Spec, UnitError, UnitErrorKind, params};
use std::sync::Arc;

/// Which packets are of latency-critical flows: `all`, or those of the DSCPs in a list such as `46:44`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Critical {
    /// Every one.
    All,
    /// Those of these codepoints.
    Of(Vec<u8>),
}

impl ParamValue for Critical {
    fn kind() -> Kind {
        Kind::Text
    }

    fn parse_text(text: &str) -> Result<Critical, UnitError> {
        if text == "all" {
            return Ok(Critical::All);
        }
        let read = |part: &str| part.parse().ok().filter(|dscp| *dscp < 64);
        let dscps: Option<Vec<u8>> = text.split(':').map(read).collect();
        dscps.map(Critical::Of).ok_or_else(|| {
            UnitError::new(
                UnitErrorKind::Malformed,
                text,
                "a list of DSCPs",
                "write whole numbers from 0 to 63 with colons between, such as 46:44, or all",
            )
        })
    }

    fn to_text(&self) -> String {
        match self {
            Critical::All => "all".to_owned(),
            Critical::Of(dscps) => {
                let texts: Vec<String> = dscps.iter().map(u8::to_string).collect();
                texts.join(":")
            }
        }
    }
}

params! {
    /// Deficit round robin that serves latency-critical flows first, as far as their deficits allow.
    pub struct DrrppParams {
        /// Bytes that a queue may send per turn, on average.
        quantum: Bytes = "1500B", range "1B".."100MB", source "as DRR: at least the largest packet";
        /// DSCPs of latency-critical packets, separated by colons, or all.
        critical: Critical = "46", source "RFC 3246: expedited forwarding; the paper has contracts";
        /// Which packets share a queue.
        classify: Classify = "flow", source "as DRR";
        /// Number of queues. A hash assigns flows to them. With none, each flow has its own queue.
        buckets: Option<u32> = "none", range "1".."1000000", source "as DRR",
            acts "flows share a queue by their hash";
        /// Use a different hash key in every replication.
        perturb: bool = "false", source "as DRR";
        /// Maximum total length of all queues.
        limit: Limit = "1000p", range "1p".., source "the same as for other queues";
        /// Discipline of each queue.
        each: Spec = "droptail limit=none", source "as DRR: one limit over all queues";
    }
    dialects Dialect {
        /// Our reading of MacGregor and Shi.
        paper as Paper = "paper" {}
    }
}

/// The discipline.
pub struct Drrpp(FlowQueue);

schedule_flow_queue!(Drrpp);

impl Entry<NestingContext> for Drrpp {
    const NAME: &'static str = "drrpp";
    const TITLE: &'static str = "DRR++";
    const FAIR: bool = true;
    const ABOUT: &'static str = "Deficit round robin with latency-critical flows. Each flow has a queue; queues take turns of a `quantum` of bytes. A latency-critical flow that becomes active is served before the round. Once it has used up its quantum, it takes turns like the others.\n\n\
        Expect almost no delay for latency-critical flows that send less than a quantum per round, bursts included, and equal throughput for backlogged flows. Only the abstract of the paper was available. This is an interpretation based on the schedulers that descend from it (FQ-CoDel, CAKE), and there is no reference implementation to test it against.";
    type Params = DrrppParams;

    fn build(params: DrrppParams, cx: &NestingContext) -> Result<Self, SpecError> {
        // Faults of the nested specification show now, not when the first packet comes.
        let each = Arc::clone(cx.inner(&params.each));
        each.aqm(cx)?;
        let key = match params.perturb {
            true => cx.stream("hash").bits(),
            false => 0,
        };
        let classes = Classifier::new(params.classify, params.buckets, Hash::Keyed(key), cx);
        let rules = Rules {
            quantum: u32::try_from(params.quantum.get()).unwrap_or(u32::MAX),
            limit: params.limit,
            memory: None,
            when_full: WhenFull::HalfThePackets(1),
            counts_all: false,
            sets: None,
            favoured: match params.critical {
                Critical::All => Dscps::ALL,
                Critical::Of(dscps) => Dscps::of(dscps),
            },
        };
        let cx = cx.clone();
        let make = move || {
            each.aqm(&cx)
                .expect("what was built once can be built again")
        };
        Ok(Drrpp(FlowQueue::new(rules, classes, Box::new(make))))
    }

    fn inside(params: &DrrppParams) -> Vec<&Spec> {
        vec![&params.each]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use sojourn_sim::DropReason;

    type Bench = crate::testing::Bench<Drrpp>;

    impl Bench {
        /// Packets of a flow arrive, with a DSCP.
        fn burst(&mut self, flow: u32, dscp: u8, sizes: &[u32]) {
            for size in sizes {
                self.offer_with(flow, *size, |packet| packet.tos = dscp << 2);
            }
        }
    }

    #[test]
    fn a_critical_flow_goes_first_and_a_common_one_to_the_end() {
        let mut bench = Bench::new("quantum=1000B");
        bench.burst(0, 0, &[1000; 4]);
        bench.burst(1, 0, &[1000; 4]);
        bench.burst(2, 46, &[100]);
        bench.burst(3, 0, &[100]);
        assert_eq!(bench.send(6), [2, 0, 1, 3, 0, 1]);
    }

    #[test]
    fn a_burst_within_the_quantum_goes_through_at_once_and_one_above_it_takes_turns() {
        let mut bench = Bench::new("quantum=1000B");
        bench.burst(0, 0, &[1000; 5]);
        bench.burst(1, 46, &[250; 10]);
        assert_eq!(bench.send(10), [1, 1, 1, 1, 0, 1, 1, 1, 1, 0]);
    }

    #[test]
    fn a_critical_flow_that_pauses_gets_no_new_credits_before_its_turn() {
        let mut bench = Bench::new("quantum=1000B");
        bench.burst(0, 0, &[1000; 5]);
        bench.burst(1, 46, &[900]);
        assert_eq!(bench.send(2), [1, 0]);
        // It has 100 left, which one packet may overdraw, and is in the round, behind flow 0's next turn.
        bench.burst(1, 46, &[900, 900]);
        assert_eq!(bench.send(4), [1, 0, 1, 0]);
    }

    #[test]
    fn backlogged_flows_share_equally_critical_or_not() {
        let mut bench = Bench::new("quantum=1500B limit=10000p");
        bench.burst(0, 0, &[1500; 200]);
        bench.burst(1, 46, &[100; 3000]);
        let sent = bench.send(1600);
        let bytes = [(0, 1500), (1, 100)]
            .map(|(flow, size)| sent.iter().filter(|f| **f == flow).count() * size);
        assert!(bytes[0].abs_diff(bytes[1]) <= 3000, "{bytes:?}");
    }

    #[test]
    fn over_the_limit_the_fattest_queue_loses_its_head() {
        let mut bench = Bench::new("limit=5p");
        bench.burst(0, 0, &[1000; 4]);
        bench.burst(1, 0, &[100; 2]);
        let dropped: Vec<_> = bench
            .drops
            .iter()
            .map(|(held, reason)| (bench.store.packet(held).uid, *reason))
            .collect();
        assert_eq!(dropped, [(0, DropReason::Evicted)]);
    }

    #[test]
    fn a_list_of_codepoints_reads_back_and_others_are_refused() {
        for text in ["all", "46", "46:44:0"] {
            assert_eq!(Critical::parse_text(text).expect("a list").to_text(), text);
        }
        for text in ["", "64", "46,44", "-1", "ALL"] {
            let error = Critical::parse_text(text).expect_err(text).to_string();
            assert!(error.contains("such as 46:44"), "{error}");
        }
    }
}
