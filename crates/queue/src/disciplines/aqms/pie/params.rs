//! PIE's parameters.

use sojourn_units::{Bytes, Limit, Span, params};

params! {
    /// Proportional integral controller enhanced: drops at random on arrival, so that the delay of the queue approaches a target.
    pub struct PieParams {
        /// Target delay of the queue.
        target: Span = "15ms", range "1us".."10s", source "RFC 8033, section 4.2: QDELAY_REF";
        /// Time between updates of the probability.
        tupdate: Span = "15ms", range "1us".."10s", source "RFC 8033, section 4.2: T_UPDATE";
        /// Maximum queue length. Arrivals beyond it are dropped.
        limit: Limit = "1000p", range "1p".., source "sch_pie.c; RFC 8033 leaves it open";
        /// Weight of the deviation from the target, per second.
        alpha: f64 = "0.125", range "0".."1000", source "RFC 8033, appendix A: alpha 1/8";
        /// Weight of the change of the delay, per second.
        beta: f64 = "1.25", range "0".."1000", source "RFC 8033, appendix A: beta 1 + 1/4";
        /// Time at the start of congestion in which no packet is dropped.
        burst: Span = "150ms", range "0s".."1000s", source "RFC 8033, section 4.4: MAX_BURST",
            acts "packets would be dropped within this time";
        /// Mean packet size.
        avpkt: Bytes = "1024B", range "1B".., source "RFC 8034, A.1.2: MEAN_PKTSIZE; RFC 8033 names it without a value",
            acts "about two packets of this size are queued, or the probability depends on sizes";
        /// Mark ECN-capable packets instead of dropping them.
        ecn: bool = "false", source "RFC 8033, section 5.1: optional";
        /// With `ecn`, drop packets instead of marking them at this probability and above. `none` never does.
        mark_p: Option<f64> = "0.1", range "0".."1", source "RFC 8033, section 5.1: mark_ecnth",
            where ecn is "true",
            acts "the probability is above this";
        /// Make the drop probability of a packet proportional to its size, and at most 0.85.
        byte_mode: bool = "false", source "RFC 8033, appendix B: a possibility, with a bound left open; RFC 8034, A.3: PROB_LOW";
        /// Estimate the delay from the backlog and the departure rate instead of from timestamps.
        dq_rate_estimator: bool = "false", source "RFC 8033, section 5.2: optional";
        /// Accumulate the probability from packet to packet, so that drops are spaced evenly.
        derandomize: bool = "false", source "RFC 8033, section 5.4: optional";
        /// Limit the growth per update to 0.02 while the probability is at least 0.1.
        cap: bool = "false", source "RFC 8033, section 5.5: optional",
            acts "the probability is above 0.1";
        /// With `l4s`, mark packets with ECT(1) or CE that waited longer than this; dialect ns3.
        ce_threshold: Option<Span> = "none", source "ns-3.44 pie-queue-disc.cc: CeThreshold, never";
        /// L4S mode of ns-3. Packets with ECT(1) or CE are dropped only at the limit and are not counted;
        /// `ce_threshold` marks them; dialect ns3.
        l4s: bool = "false", source "ns-3.44 pie-queue-disc.cc: UseL4s";
    }
    dialects Dialect {
        /// RFC 8033, basic PIE.
        rfc8033 as Rfc8033 = "rfc8033" {}
        /// RFC 8034: PIE of DOCSIS cable modems.
        rfc8034 as Rfc8034 = "rfc8034" {
            target = "10ms" from "RFC 8034, section 4.1";
            tupdate = "16ms" from "RFC 8034, A.1.2: INTERVAL";
            limit = "125kB" from "DOCSIS 3.1, C.1.2.17: 100 ms, here at 10 Mbps; RFC 8034 leaves it to the operator";
            alpha = "0.25" from "RFC 8034, A.1.2: A";
            beta = "2.5" from "RFC 8034, A.1.2: B";
            burst = "142ms" from "RFC 8034, A.1.2: MAX_BURST";
            mark_p = "none" from "RFC 8034, section 4.7: no ECN";
            byte_mode = "true" from "RFC 8034, section 4.6";
            derandomize = "true" from "RFC 8034, A.3: PROB_LOW, PROB_HIGH";
            cap = "true" from "RFC 8034, A.2";
        }
        /// Linux sch_pie.
        linux as Linux = "linux-6.1" {
            avpkt = "1514B" from "sch_pie.c: psched_mtu, 1500 bytes and 14 of Ethernet";
            derandomize = "true" from "sch_pie.c";
            cap = "true" from "sch_pie.c";
        }
        /// ns-3's PieQueueDisc.
        ns3 as Ns3 = "ns3-3.44" {
            limit = "25p" from "ns-3.44 pie-queue-disc.cc: MaxSize";
            avpkt = "1000B" from "ns-3.44 pie-queue-disc.cc: MeanPktSize";
            cap = "true" from "ns-3.44 pie-queue-disc.cc: UseCapDropAdjustment";
        }
    }
}
