//! RED's parameters.

use sojourn_units::{Bytes, Limit, Packets, Rate, Span, params};

params! {
    /// Random early detection: drops at random as the average queue grows between two thresholds.
    pub struct RedParams {
        /// Average queue length at which random drops begin. `none` sets it automatically.
        min: Option<Limit> = "5p", range "1p".., source "Floyd & Jacobson 1993: min_th 5 in the simulations";
        /// Average queue length at which the drop probability is `probability`. `none` sets it automatically.
        max: Option<Limit> = "15p", range "1p".., source "Floyd & Jacobson 1993: max_th 15 in the simulations, at least twice min_th",
            acts "the average comes near this";
        /// Maximum queue length. Arrivals beyond it are dropped.
        limit: Limit = "100p", range "1p".., source "the paper gives none";
        /// Drop probability at `max`. With `adaptive`, its initial value.
        probability: f64 = "0.02", range "0".."1", source "Floyd & Jacobson 1993: max_p 1/50";
        /// Weight of the current queue length in the average. `none` sets it automatically.
        weight: Option<f64> = "0.002", range "0".."1", source "Floyd & Jacobson 1993: w_q 0.002";
        /// Mean packet size, for idle times, for automatic settings, and to convert packets to bytes.
        avpkt: Bytes = "500B", range "1B".., source "ns-2.35 ns-default.tcl: mean_pktsize_ 500; the paper leaves it open";
        /// Let the probability grow from `max` to 1 at twice `max`, instead of jumping to 1 at `max`.
        gentle: bool = "false", source "Floyd & Jacobson 1993";
        /// Measure the queue in bytes instead of packets.
        queue_in_bytes: bool = "false", source "Floyd & Jacobson 1993, figure 2";
        /// Make the drop probability of a packet proportional to its size.
        byte_mode: bool = "false", source "Floyd & Jacobson 1993, figure 2";
        /// Let at least 1/p packets pass between drops; dialects other than linux.
        wait: bool = "false", source "Floyd & Jacobson 1993, figure 2";
        /// Mark ECN-capable packets instead of dropping them.
        ecn: bool = "false", source "Linux sch_red; the paper marks where the transport understands marks";
        /// With `ecn`, drop all packets above the upper threshold, including ECN-capable ones; dialects other than ns2.
        harddrop: bool = "false", source "Floyd & Jacobson 1993, figure 2: marks",
            where ecn is "true",
            acts "the average is above the upper threshold";
        /// With `ecn`, drop packets instead of marking them at this probability and above. With `none`, above the upper
        /// threshold; dialect ns2.
        mark_p: Option<f64> = "none", range "0".., source "only red.cc has it";
        /// Adapt max_p so that the average stays between `min` and `max` (ARED).
        adaptive: bool = "false", source "Floyd & Jacobson 1993";
        /// Time between adaptations.
        interval: Span = "500ms", range "1ms".."1000s", source "Floyd, Gummadi & Shenker 2001",
            where adaptive is "true",
            where dialect not "linux" because "sch_red.c adapts by constants";
        /// Take steps of max_p in proportion to the distance of the average from its target range, which is narrower
        /// (RARED).
        refined: bool = "false", source "Floyd, Gummadi & Shenker 2001",
            where adaptive is "true",
            where dialect not "linux" because "sch_red.c adapts by constants";
        /// Step by which max_p grows, or a quarter of max_p if that is less.
        alpha: f64 = "0.01", range "0".."1", source "Floyd, Gummadi & Shenker 2001",
            where adaptive is "true",
            where refined is "false" because "its steps follow from the average",
            where dialect not "linux" because "sch_red.c adapts by constants";
        /// Factor by which max_p shrinks.
        beta: f64 = "0.9", range "0".."1", source "Floyd, Gummadi & Shenker 2001",
            where adaptive is "true",
            where refined is "false" because "its steps follow from the average",
            where dialect not "linux" because "sch_red.c adapts by constants";
        /// Upper bound above which max_p does not grow.
        top: f64 = "0.5", range "0".."1", source "Floyd, Gummadi & Shenker 2001",
            where adaptive is "true",
            where dialect not "linux" because "sch_red.c adapts by constants",
            acts "the adaptive probability reaches this";
        /// Lower bound below which max_p does not shrink. With `none`: 0.01, or one packet of the window that fills the
        /// link at 100 ms if that is less.
        bottom: Option<f64> = "0.01", range "0".."1", source "Floyd, Gummadi & Shenker 2001",
            where adaptive is "true",
            where dialect not "linux" because "sch_red.c adapts by constants",
            acts "the adaptive probability reaches this";
        /// Divide and multiply max_p when the average crosses `min` and `max` (Feng's adaptive RED).
        feng: bool = "false", source "Floyd & Jacobson 1993";
        /// With `feng`, divisor of max_p when the average falls below `min`.
        feng_alpha: f64 = "3", range "0.000001".."1000", source "Feng, Kandlur, Saha & Shin 1999: alpha 3",
            where feng is "true";
        /// With `feng`, factor of max_p when the average rises above `max`.
        feng_beta: f64 = "2", range "0.000001".."1000", source "Feng, Kandlur, Saha & Shin 1999: beta 2",
            where feng is "true",
            acts "the average rises above the upper threshold";
        /// Use a quadratic curve between the thresholds (NLRED): 1.5 times max_p times the square of the relative
        /// position between `min` and `max`.
        nonlinear: bool = "false", source "Floyd & Jacobson 1993";
        /// Target delay for automatic thresholds.
        target_delay: Span = "5ms", range "1us".."10s", source "Floyd, Gummadi & Shenker 2001",
            where min is "none",
            where dialect not "linux" because "the thresholds of tc follow from limit";
        /// Rate for idle times and automatic settings. `none` is the rate of the link.
        bandwidth: Option<Rate> = "none", range "1bps".., source "the rate of the link",
            acts "the link is idle, or settings are automatic";
        /// Propagation delay of the link, for the automatic weight; dialect ns2.
        link_delay: Span = "0s", range "0s".."1000s", source "below 33 ms it changes nothing";
        /// Size of a burst, in packets, that passes while the average is below `min`. It determines the weight. With
        /// `none`: (2 `min` + `max`) / (3 `avpkt`); dialect linux.
        burst: Option<Packets> = "none", range "1p".., source "only tc has it",
            where weight is "none";
        /// Let the average decay while the link is idle.
        idle_decay: bool = "true", source "Floyd & Jacobson 1993, figure 2";
    }
    dialects Dialect {
        /// Floyd and Jacobson 1993.
        paper as Paper = "red-1993" {}
        /// Adaptive RED: Floyd, Gummadi and Shenker 2001, with the automatic settings and gentle.
        ared as Ared = "ared-2001" {
            min = "none" from "Floyd, Gummadi & Shenker 2001, section on min_th and max_th";
            max = "none" from "Floyd, Gummadi & Shenker 2001: 3 min_th";
            weight = "none" from "Floyd, Gummadi & Shenker 2001: 1 - exp(-1 / C)";
            gentle = "true" from "Floyd, Gummadi & Shenker 2001";
            adaptive = "true" from "Floyd, Gummadi & Shenker 2001";
        }
        /// Refined adaptive RED (RARED, Re-ARED): Kim and Lee 2006, with ARED's automatic settings and gentle.
        rared as Rared = "rared-2006" {
            min = "none" from "Floyd, Gummadi & Shenker 2001, section on min_th and max_th";
            max = "none" from "Floyd, Gummadi & Shenker 2001: 3 min_th";
            weight = "none" from "Floyd, Gummadi & Shenker 2001: 1 - exp(-1 / C)";
            gentle = "true" from "Floyd, Gummadi & Shenker 2001";
            adaptive = "true" from "Kim & Lee 2006: ARED with other steps";
            refined = "true" from "Kim & Lee 2006";
        }
        /// Feng's adaptive RED: Feng, Kandlur, Saha and Shin 1999.
        feng as Feng = "feng-1999" { feng = "true" from "Feng, Kandlur, Saha & Shin 1999"; }
        /// Nonlinear RED: Zhou, Yeung and Li 2006.
        nlred as Nlred = "nlred-2006" { nonlinear = "true" from "Zhou, Yeung & Li 2006"; }
        /// ns-2's RED with its automatic settings.
        ns2 as Ns2 = "ns2-2.35" {
            min = "none" from "ns-2.35 ns-default.tcl: thresh_ 0";
            max = "none" from "ns-2.35 ns-default.tcl: maxthresh_ 0";
            limit = "50p" from "ns-2.35 ns-default.tcl: Queue set limit_ 50";
            probability = "0.1" from "ns-2.35 ns-default.tcl: linterm_ 10";
            weight = "none" from "ns-2.35 ns-default.tcl: q_weight_ -1";
            gentle = "true" from "ns-2.35 ns-default.tcl: gentle_";
            queue_in_bytes = "true" from "ns-2.35 ns-default.tcl: queue_in_bytes_";
            byte_mode = "true" from "ns-2.35 ns-default.tcl: bytes_";
            wait = "true" from "ns-2.35 ns-default.tcl: wait_";
            mark_p = "0.1" from "ns-2.35 ns-default.tcl: use_mark_p_, mark_p_ 0.1";
            bottom = "none" from "ns-2.35 ns-default.tcl: bottom_ 0";
            feng_alpha = "0.01" from "ns-2.35 red.cc: divides by alpha_, 0.01 in ns-default.tcl";
            feng_beta = "0.9" from "ns-2.35 red.cc: multiplies by beta_, 0.9 in ns-default.tcl";
        }
        /// Linux sch_red as `tc` sets it up.
        linux as Linux = "linux-6.1" {
            min = "none" from "iproute2 q_red.c: max / 3";
            max = "none" from "iproute2 q_red.c: limit / 4";
            limit = "400kB" from "the example in tc-red(8); tc has no default";
            weight = "none" from "iproute2 q_red.c: from burst";
            avpkt = "1000B" from "the example in tc-red(8); tc has no default";
            queue_in_bytes = "true" from "sch_red.c: backlog in bytes";
            bandwidth = "10Mbps" from "iproute2 q_red.c: 10Mbit";
        }
        /// ns-3's RedQueueDisc.
        ns3 as Ns3 = "ns3-3.44" {
            limit = "25p" from "ns-3.44 red-queue-disc.cc: MaxSize 25p";
            gentle = "true" from "ns-3.44 red-queue-disc.cc: Gentle";
            wait = "true" from "ns-3.44 red-queue-disc.cc: Wait";
            harddrop = "true" from "ns-3.44 red-queue-disc.cc: UseHardDrop";
            bottom = "none" from "ns-3.44 red-queue-disc.cc: Bottom 0";
            bandwidth = "1.5Mbps" from "ns-3.44 red-queue-disc.cc: LinkBandwidth, whatever the link";
        }
        /// ns-3's RedQueue, the device queue of the releases up to 3.24.
        ns3_24 as Ns3_24 = "ns3-3.24" {
            limit = "25p" from "ns-3.24 red-queue.cc: QueueLimit 25";
            gentle = "true" from "ns-3.24 red-queue.cc: Gentle";
            wait = "true" from "ns-3.24 red-queue.cc: Wait";
            bandwidth = "1.5Mbps" from "ns-3.24 red-queue.cc: LinkBandwidth, whatever the link";
        }
    }
}
