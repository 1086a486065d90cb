//! CHOKe: choose and keep for responsive flows, choose and kill for unresponsive ones.
//!
//! Sources: Pan, Prabhakar and Psounis, "CHOKe, A Stateless Active Queue Management Scheme for Approximating Fair Bandwidth
//! Allocation" (INFOCOM 2000), flow chart and settings of the simulations (dialect paper; the chart as the commit message of Linux's
//! sch_choke restates it, the settings recalled, the paper was not available); Linux 6.1 net/sched/sch_choke.c,
//! include/net/red.h and iproute2's tc/q_choke.c (dialect linux).
//!
//! RED with a preceding step: when the average is above `min`, an arriving packet is compared with a random packet in
//! the queue. If both belong to the same flow, both are dropped. RED decides about all other packets. Average,
//! probability and spacing of drops are those of `red` in the dialect of the same name, with the queue in packets.
//!
//! | | paper | linux |
//! |---|---|---|
//! | average | floating point, decays while the link is idle | whole number scaled by 2^k, decays by `tc`'s table |
//! | compared | above `min` | above `min` |
//! | every packet dropped | at `max` and above | above `max` |
//! | first packet above `min` that is not matched | may be dropped | never |
//! | weight, thresholds | given | k from `burst`, `max` = `limit` / 4, `min` = `max` / 3 unless given |
//!
//! Draws: first a position among the waiting packets (`Stream::below`), if any wait; then RED's own. Deviation from
//! Linux: Linux's array keeps the holes of dropped packets, so it draws up to three times and then takes the head; here
//! every packet in the queue is equally likely. A match drops both packets whether or not they are ECN-capable. The
//! number of a flow identifies it, in both directions. A shaper such as htb never asks an empty queue for a packet, so
//! Linux's average does not decay under such a shaper; use `idle_decay=false` for this. The paper's variants that draw
//! more packets, and Linux's filters, are not implemented.

use super::red::{self, FloatRed, LinuxRed, RedParams, signed_float};
use crate::aqm::{Aqm, Cx, Interest, Meta, Verdict, View, Waiting};
use crate::entry::{self, BuildContext, Entry, SpecError};
use crate::tc::Line;
use sojourn_sim::{DropReason, MarkReason};
use sojourn_units::{Bytes, Limit, Packets, Rate, Span, Time, params};

params! {
    /// RED that first compares each packet with a waiting one, and drops both if they are of one flow.
    pub struct ChokeParams {
        /// Average queue length above which packets are compared and random drops begin. In dialect linux, `none` means
        /// `max` / 3.
        min: Option<Packets> = "100p", range "1p".., source "Pan, Prabhakar & Psounis 2000: 100 in the simulations (recalled)";
        /// Average queue length from which every packet is dropped. In dialect linux, `none` means `limit` / 4.
        max: Option<Packets> = "200p", range "1p".., source "Pan, Prabhakar & Psounis 2000: twice min (recalled)";
        /// Maximum queue length. Arrivals beyond it are dropped.
        limit: Limit = "300p", range "1p".., source "Pan, Prabhakar & Psounis 2000: 300 in the simulations (recalled)";
        /// RED's drop probability at `max`.
        probability: f64 = "0.02", range "0".."1", source "Floyd & Jacobson 1993: max_p 1/50";
        /// Weight of the current queue length in the average. In dialect linux, `none` means that it follows from
        /// `burst`.
        weight: Option<f64> = "0.002", range "0".."1", source "Floyd & Jacobson 1993: w_q 0.002";
        /// Mean packet size, to update the average after idle times.
        avpkt: Bytes = "1000B", range "1B".., source "Pan, Prabhakar & Psounis 2000: packets of 1 kB in the simulations (recalled)";
        /// Size of a burst, in packets, that passes while the average is below `min`. It determines the weight; dialect
        /// linux.
        burst: Option<Packets> = "none", range "1p".., source "only tc has it",
            where weight is "none";
        /// Mark ECN-capable packets where RED would drop them.
        ecn: bool = "false", source "Linux sch_choke; the paper drops";
        /// With `ecn`, drop all packets above `max`, including ECN-capable ones.
        harddrop: bool = "false", source "Linux sch_choke: TC_RED_HARDDROP",
            where ecn is "true";
        /// Rate for updating the average after idle times. `none` is the rate of the link.
        bandwidth: Option<Rate> = "none", range "1bps".., source "the rate of the link";
        /// Let the average decay while the link is idle.
        idle_decay: bool = "true", source "Floyd & Jacobson 1993, figure 2";
    }
    dialects Dialect {
        /// Pan, Prabhakar and Psounis 2000.
        paper as Paper = "choke-2000" {}
        /// Linux sch_choke as `tc` sets it up.
        linux as Linux = "linux-6.1" {
            min = "none" from "iproute2 q_choke.c: max / 3";
            max = "none" from "iproute2 q_choke.c: limit / 4";
            limit = "1000p" from "the device's txqueuelen; tc has no default";
            weight = "none" from "iproute2 q_choke.c: from burst";
        }
    }
}

/// The discipline.
pub struct Choke {
    core: Core,
    ecn: bool,
}

enum Core {
    Paper(Box<FloatRed>),
    Linux(Box<LinuxRed>),
}

impl Entry for Choke {
    const NAME: &'static str = "choke";
    const TITLE: &'static str = "CHOKe";
    const ABOUT: &'static str = "Choose and keep: CHOKe drops an arriving packet together with a random one of the same flow, before RED. While the average queue is above `min`, each arriving packet is compared with a randomly chosen packet in the queue. If both belong to the same flow, both are dropped. A flow that fills the queue often matches itself. There is no per-flow state.\n\n\
        Expect an unresponsive flow to lose many of the packets that exceed its share, and to get less of the link the more it sends. Flows do not get equal shares. A single flow matches itself with every packet: the queue then stays at `min`, and packets are lost in pairs.";
    type Params = ChokeParams;

    fn time_constant(params: &ChokeParams, packet: Span) -> Option<entry::TimeConstant> {
        entry::TimeConstant::of_average(params.weight?, packet)
    }

    fn build(params: ChokeParams, _: &BuildContext) -> Result<Self, SpecError> {
        let linux = params.dialect == Dialect::Linux;
        check(&params, linux)?;
        let ecn = params.ecn;
        let red = red_params(&params, linux)?;
        let renamed = |error| match error {
            SpecError::Contradiction { text, .. } => contradiction(&text),
            other => other,
        };
        let core = if linux {
            // In packets: a usual packet counts one; idle times need its size in bytes.
            let mut core = LinuxRed::new(red).map_err(renamed)?;
            core.params.avpkt = params.avpkt;
            Core::Linux(Box::new(core))
        } else {
            Core::Paper(Box::new(FloatRed::new(red).map_err(renamed)?))
        };
        Ok(Choke { core, ecn })
    }

    fn tc(params: &ChokeParams) -> Option<Line> {
        let line = Line::root("choke").packets("limit", Some(params.limit));
        let threshold = |line: Line, name: &str, value: Option<Packets>| match value {
            Some(packets) => line.option(name, packets.get()),
            None => line,
        };
        let line = threshold(line, "min", params.min);
        let line = threshold(line, "max", params.max);
        let line = threshold(
            line.option("avpkt", params.avpkt.get()),
            "burst",
            params.burst,
        );
        let line = line.option("bandwidth", "10mbit").note(
            "bandwidth, which tc requires: the rate of the device; it counts for idle times alone",
        );
        let line = match params.weight {
            Some(weight) => line.note(&format!("weight={weight}: tc takes it from burst")),
            None => line,
        };
        Some(
            line.option("probability", params.probability)
                .word_if(params.ecn, "ecn"),
        )
    }
}

/// RED's settings behind CHOKe's.
fn red_params(params: &ChokeParams, linux: bool) -> Result<RedParams, SpecError> {
    let mut red = RedParams::of(match linux {
        true => red::Dialect::Linux,
        false => red::Dialect::Paper,
    });
    red.min = params.min.map(Limit::Packets);
    red.max = params.max.map(Limit::Packets);
    red.limit = params.limit;
    red.probability = params.probability;
    red.weight = params.weight;
    red.avpkt = if linux { Bytes::new(1) } else { params.avpkt };
    red.burst = params.burst;
    red.ecn = params.ecn;
    red.harddrop = params.harddrop;
    red.bandwidth = params.bandwidth;
    red.idle_decay = params.idle_decay;
    Ok(red)
}

impl Aqm for Choke {
    fn interest(&self) -> Interest {
        Interest {
            empty: true,
            ..Interest::in_arrivals_from(0)
        }
    }

    #[inline(never)]
    fn on_enqueue(&mut self, meta: &Meta, view: &View<'_>, cx: &mut Cx<'_>) -> Verdict {
        match &mut self.core {
            Core::Paper(red) => judge_as_paper(red, meta, view, cx),
            Core::Linux(red) => {
                let ecn = self.ecn && meta.ecn().is_capable();
                let idle = red.arrive(view.packets, view, cx.now);
                let verdict = judge_as_linux(red, ecn, meta, view, cx);
                if idle.is_some() && matches!(verdict, Verdict::Drop(_)) {
                    red.idle.begin(cx.now);
                }
                verdict
            }
        }
    }

    #[inline]
    fn on_empty(&mut self, now: Time) {
        match &mut self.core {
            Core::Paper(red) => red.idle.begin(now),
            Core::Linux(red) => red.idle.begin(now),
        }
    }

    fn state_names(&self) -> &'static [&'static str] {
        &["average_packets", "drop_probability", "count_packets"]
    }

    fn state(&self, out: &mut Vec<f64>) {
        out.extend(match &self.core {
            Core::Paper(red) => [red.average, red.probability, signed_float(red.count)],
            Core::Linux(red) => {
                let [average, probability, _, count] = red.state();
                [average, probability, count]
            }
        });
    }
}

fn judge_as_paper(red: &mut FloatRed, meta: &Meta, view: &View<'_>, cx: &mut Cx<'_>) -> Verdict {
    let (_, idle) = red.arrive(view, cx.now);
    let verdict = if red.average <= red.min {
        red.count = -1;
        red.probability = 0.0;
        red.within_limit(Verdict::Pass, meta, view)
    } else if let Some(both) = matched(meta, view.packets, view.waiting, cx) {
        both
    } else if red.average >= red.max {
        red.count = 0;
        red.probability = 1.0;
        red.within_limit(red.forced(meta), meta, view)
    } else {
        let verdict = match red.draws_as_paper(meta, cx) {
            true => red.early(meta),
            false => Verdict::Pass,
        };
        red.within_limit(verdict, meta, view)
    };
    if idle.is_some() && matches!(verdict, Verdict::Drop(_)) {
        red.idle.begin(cx.now);
    }
    verdict
}

fn judge_as_linux(
    red: &mut LinuxRed,
    ecn: bool,
    meta: &Meta,
    view: &View<'_>,
    cx: &mut Cx<'_>,
) -> Verdict {
    let (min, max) = (red.min << red.wlog, red.max << red.wlog);
    let mut verdict = Verdict::Pass;
    if red.average <= min {
        red.count = -1;
    } else if let Some(both) = matched(meta, view.packets, view.waiting, cx) {
        return both;
    } else if red.average > max {
        red.count = -1;
        verdict = red::forced(&red.params, meta);
    } else {
        red.count += 1;
        let above = (red.average - min) >> red.wlog;
        if red.count == 0 {
            red.drawn = red.draw(cx);
        } else if above.saturating_mul(red.count.unsigned_abs()) >= red.drawn {
            red.count = 0;
            red.drawn = red.draw(cx);
            verdict = if ecn {
                Verdict::Mark(MarkReason::Early)
            } else {
                Verdict::Drop(DropReason::Early)
            };
        }
    }
    red::within_limit(verdict, red.params.limit, meta, view)
}

/// Both packets, if one that waits, drawn at random, is of the same flow.
#[inline(always)]
fn matched(meta: &Meta, packets: u64, waiting: Waiting<'_>, cx: &mut Cx<'_>) -> Option<Verdict> {
    if packets == 0 {
        return None;
    }
    let position = cx.rng.below(packets);
    let other = waiting.peek(position)?;
    let matches = other.flow == meta.flow;
    // No queue holds 2^32 packets.
    let position = u32::try_from(position).ok().filter(|_| matches)?;
    Some(Verdict::DropBoth(position, DropReason::FlowMatch))
}

fn check(params: &ChokeParams, linux: bool) -> Result<(), SpecError> {
    let automatic = params.min.is_none() || params.max.is_none() || params.weight.is_none();
    let text = if !linux && automatic {
        "min, max and weight are automatic in dialect linux alone; give them, or choose dialect linux"
    } else if !linux && params.burst.is_some() {
        "dialect paper has no burst; give weight"
    } else if linux && matches!(params.limit, Limit::Bytes(_)) {
        "limit is in bytes, but dialect linux counts packets; write packets"
    } else if matches!((params.min, params.max), (Some(min), Some(max)) if min >= max) {
        "min is not below max; exchange them"
    } else {
        return Ok(());
    };
    Err(contradiction(text))
}

fn contradiction(text: &str) -> SpecError {
    entry::contradiction(Choke::NAME, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::built;
    use sojourn_sim::{Packet, Ring, Stream};
    use sojourn_units::Span;

    struct Bench {
        choke: Choke,
        rng: Stream,
        ring: Ring,
    }

    fn waiting(flows: u32, packets: u32) -> Ring {
        let mut ring = Ring::new();
        (0..packets).for_each(|uid| ring.push(Packet::test(1000, uid % flows.max(1), uid)));
        ring
    }

    impl Bench {
        /// A queue of `packets` packets of each flow in turn, with an average that has come to its length.
        fn new(spec: &str, flows: u32, packets: u32) -> Bench {
            let mut bench = Bench {
                choke: built::<Choke>(spec).unwrap_or_else(|error| panic!("{spec}: {error}")),
                rng: Stream::derive(1, 0, "choke"),
                ring: waiting(flows, packets),
            };
            for ms in 0..10_000 {
                bench.offer(ms, 1000, 0);
            }
            bench
        }

        fn offer(&mut self, ms: u64, flow: u32, tos: u8) -> Verdict {
            let packets = self.ring.waiting();
            let view = View {
                packets,
                bytes: 1000 * packets,
                rate: Rate::mbps(8),
                last_departure: Time::ZERO,
                asked: false,
                waiting: Waiting::Ring(&self.ring),
            };
            let meta = Meta {
                size: 1000,
                flow,
                tos,
            };
            let (now, rng) = (Time::ZERO + Span::from_ms(ms), &mut self.rng);
            self.choke.on_enqueue(&meta, &view, &mut Cx { now, rng })
        }
    }

    const PAPER: &str = "min=10p max=30p";
    const LINUX: &str = "dialect=linux min=10p max=30p weight=0.125";

    #[test]
    fn a_flow_alone_in_the_queue_meets_itself_with_every_packet_above_min() {
        for spec in [PAPER, LINUX] {
            let mut bench = Bench::new(spec, 1, 20);
            for ms in 10_000..10_100 {
                let verdict = bench.offer(ms, 0, 2);
                assert!(
                    matches!(verdict, Verdict::DropBoth(position, DropReason::FlowMatch) if position < 20),
                    "{spec}: {verdict:?}"
                );
            }
        }
    }

    #[test]
    fn a_flow_is_matched_as_often_as_it_is_in_the_queue() {
        for spec in [PAPER, LINUX] {
            let mut bench = Bench::new(spec, 4, 20);
            let matches = (0..20_000)
                .filter(|n| matches!(bench.offer(10_000 + n, 3, 0), Verdict::DropBoth(..)))
                .count();
            assert!((4700..5300).contains(&matches), "{spec}: {matches}");
        }
    }

    #[test]
    fn none_is_matched_at_min_and_below() {
        for spec in [PAPER, LINUX] {
            let mut bench = Bench::new(spec, 1, 10);
            assert!(
                (0..100).all(|ms| bench.offer(10_000 + ms, 0, 0) == Verdict::Pass),
                "{spec}"
            );
        }
    }

    #[test]
    fn above_max_what_is_not_matched_is_dropped_or_marked() {
        for spec in [PAPER, LINUX] {
            let mut bench = Bench::new(spec, 1, 40);
            assert_eq!(
                bench.offer(10_000, 7, 2),
                Verdict::Drop(DropReason::Forced),
                "{spec}"
            );
            let mut bench = Bench::new(&format!("{spec} ecn=true"), 1, 40);
            assert_eq!(
                bench.offer(10_000, 7, 2),
                Verdict::Mark(MarkReason::Threshold),
                "{spec}"
            );
            assert_eq!(
                bench.offer(10_001, 7, 0),
                Verdict::Drop(DropReason::Forced),
                "{spec}"
            );
            let mut bench = Bench::new(&format!("{spec} ecn=true harddrop=true"), 1, 40);
            assert_eq!(
                bench.offer(10_000, 7, 2),
                Verdict::Drop(DropReason::Forced),
                "{spec}"
            );
        }
    }

    #[test]
    fn tc_chooses_weight_and_thresholds() {
        let choke = built::<Choke>("dialect=linux limit=83p").expect("built");
        let Core::Linux(red) = &choke.core else {
            panic!("Linux")
        };
        assert_eq!((red.min, red.max), (6, 20));
        // Burst 10: five packets above min, which 1/4 would not let through in ten.
        assert_eq!(red.wlog, 3);
    }

    #[test]
    fn what_a_dialect_lacks_is_refused() {
        for spec in [
            "min=none",
            "burst=3p weight=none",
            "dialect=linux limit=10kB",
            "min=30p max=20p",
        ] {
            match built::<Choke>(spec) {
                Err(SpecError::Contradiction { discipline, .. }) => assert_eq!(discipline, "choke"),
                _ => panic!("{spec}"),
            }
        }
    }
}
