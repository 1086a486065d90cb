//! RED: random early detection, and its variants ARED, RARED, Feng's adaptive RED and NLRED.
//!
//! Sources: Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance" (1993), figure 2, and section 4
//! for bytes (dialect paper, the default); Floyd, Gummadi and Shenker, "Adaptive RED" (2001) for `adaptive`, the automatic
//! settings and dialect ared, which is the paper's RED with all of them; Kim and Lee, "Refined Adaptive RED in TCP/IP
//! Networks" (SICE-ICASE 2006) for `refined`, dialect rared; Floyd, "Recommendation on using the gentle variant of
//! RED" (2000); Feng, Kandlur, Saha and Shin, "A Self-Configuring RED Gateway" (INFOCOM 1999) for `feng`, dialect feng; Zhou,
//! Yeung and Li, "Nonlinear RED" (Computer Networks, 2006) for `nonlinear`, dialect nlred; ns-2.35 queue/red.cc; Linux 6.1
//! include/net/red.h, net/sched/sch_red.c and iproute2's tc/tc_red.c; ns-3.44 red-queue-disc.cc; ns-3.24
//! src/network/utils/red-queue.cc. The figures of Floyd's papers were read in transcriptions and checked against ns-2, whose
//! RED is their author's. Feng's and Zhou's rules were read in ns-2 and ns-3, which cite them, and in Zhou's abstract;
//! Kim's and Lee's in M. Tahiliani's patch of ns-2.35's red.cc (2012), whose author compared the variants in a paper of his own.
//!
//! On each arrival, RED moves an exponential average towards the queue length. Between `min` and `max`, the packet is
//! dropped (or marked) at random, with a probability that grows with the average and with the number of packets since
//! the last drop. Above `max`, every packet is. Adaptive RED also adjusts max_p, the probability at `max`, so that the
//! average stays in the middle.
//!
//! Differences between dialects:
//!
//! | | paper, ared, rared, feng, nlred | ns2 | ns3, ns3_24 | linux |
//! |---|---|---|---|---|
//! | queue and thresholds in | packets | bytes | the unit of `limit` | bytes |
//! | automatic weight | 1 - exp(-1 / C) | 1 - exp(-1 / (10 C rtt)), rtt = max(100 ms, 3 (`link_delay` + 1 / C)) | as paper | 2^-k from `burst`, as `tc` does it |
//! | automatic thresholds | max(5, delay C / 2) packets, 3 `min` | as paper | as paper | `max` = `limit` / 4, `min` = `max` / 3 |
//! | idle time t counts as | t C packets | as many whole ones, and one | as ns2 | `tc`'s table, see below |
//! | drops none when | - | less than 2 (packets or bytes) wait | as ns2 | - |
//! | first packet above `min` | may be dropped | never | never | never |
//! | spacing of drops | p / (1 - count p) | count p < 1: 0, then p / (2 - count p) | as ns2 | one draw per drop, as the paper's figure 17 |
//! | draw | one a packet between the thresholds | one a packet above `min` but the first | one a packet between the thresholds but the first | one a drop |
//! | above the upper threshold | drop or mark, count 0 | p = 1; packets are marked only below `mark_p` | drop (`harddrop`), count goes on | drop or mark, count -1 |
//! | packets of other size (`byte_mode`) | p before spacing times size / `avpkt` | p after spacing, count in packets of `avpkt` | as ns2, with `limit` in bytes | none |
//! | at `limit` | refuses | full at `limit` times `avpkt` bytes before the packet; count 0 | refuses | refuses |
//! | adapts | every `interval` | on the first arrival past `interval` | as ns2 | every 0.5 s |
//!
//! C is the rate of the link, or `bandwidth`, in packets of `avpkt` bytes per second. Automatic settings are made when the
//! queue is first used, and not again when the rate of the link changes.
//!
//! Left open by the papers: the queue is what waits, without the packet in transmission, and is idle when the link finds nothing to
//! send. Inside a scheduler other than prio, tbf and tsw it is idle since its last packet left (not in dialect linux: sch_drr and htb
//! do not tell RED, so that its average stays). Deviations: the power of an idle time is taken at once, not in a loop; an idle time is counted in whole packets exactly,
//! where ns-2 and ns-3 may lose one to rounding; in ns-2 with the queue in bytes more than `limit` packets can wait if they are
//! smaller than `avpkt`, here not; Floyd and Jacobson divide by the size of the largest packet, here that is `avpkt`.
//!
//! Linux: the average is a whole number scaled by 2^k. `tc` computes its table of idle times in ticks of 64 ns, but the
//! kernel looks it up in microseconds, so the average decays 15.6 times slower than intended; this is reproduced. Under
//! a parent such as htb, which never asks an empty queue for a packet, it does not decay at all; use `idle_decay=false`
//! for this. Linux's `nodrop`, ns-2's `cautious_`, `drop_front_`, `drop_rand_` and `ns1_compat_` are not implemented.
//! ns-3's attribute `ARED` is `adaptive=true min=none max=none weight=none`.
//!
//! RARED: every `interval`, while the average is below t = `min` + 0.48 (`max` - `min`), max_p is multiplied by
//! 1 - 0.17 (t - average) / (t - `min`); while it is above u = `max` - 0.48 (`max` - `min`), max_p grows by
//! 0.25 max_p (average - u) / u. Between them it stays. So a small deviation moves max_p a little and a large one more than
//! ARED's constant steps do. The paper says "target" for both ends of its range; that the nearer end is meant is the patch's
//! reading. In dialects ns2 and ns3 `refined` is this rule with their own times and bounds; the releases do not have it.
//!
//! Feng's rule: when the average has come below `min` max_p is divided by `feng_alpha`, when it has come
//! above `max` it is multiplied by `feng_beta`, once for each time. It begins as if the average had been above, as in ns-3 (in
//! ns-2 the beginning is memory that nothing sets), so that the first arrival divides. ns-2 has no parameters of its own for it:
//! with `adaptive_` and `feng_adaptive_` it divides by ARED's `alpha_`, 0.01, and multiplies by its `beta_`, 0.9, which turns the
//! control round: max_p grows a hundredfold each time that the average has come below `min`. `feng=true` in
//! dialect ns2 is both switches and does just that; give 3 and 2 for the paper's. ns-2 ends with a floating point exception
//! once the probability has overflowed, here it stays above 1, as long before.
//!
//! ns3_24 is ns-3's RedQueue of the releases up to 3.24, a queue of the device: the rules are ns-3.44's, without ECN and without
//! any adaptation. What differs is beside RED: it has no device queue of one packet below it. With its limit in bytes it lets
//! in whatever comes while less than `limit` waits, so that a packet may exceed it; here not.
//!
//! SA-RED (Chen, Min and Zhang, "Statistical Adapting RED in Dynamic Networks", 2012) tunes RED by the standard
//! deviation of the queue. Only its abstract is public, so it is not implemented.

mod auto;
mod common;
mod float;
mod idle;
mod linux;
mod params;

use self::common::contradiction;
pub(super) use self::common::{forced, signed_float, within_limit};
pub(super) use self::float::{FloatRed, spaced};
pub(super) use self::idle::{Idle, IdleTable};
use self::linux::LINUX_INTERVAL;
pub(super) use self::linux::{LinuxRed, low_32, scaled_probability, tc_wlog, whole_log};
pub use self::params::*;
pub(super) use crate::aqm::float;
use crate::aqm::{Aqm, Cx, Interest, Meta, Verdict, View};
use crate::entry::{BuildContext, Entry, SpecError};
use crate::tc::Line;
use sojourn_units::{Limit, Span, Time};

/// The discipline.
pub struct Red {
    core: Core,
    /// Adapts `max_p` periodically.
    timer: Option<Timer>,
}

enum Core {
    Float(Box<FloatRed>),
    Linux(Box<LinuxRed>),
}

struct Timer {
    /// Time between adaptations.
    interval: Span,
    /// When the next one is due.
    next: Time,
}

impl Entry for Red {
    const NAME: &'static str = "red";
    const TITLE: &'static str = "RED";
    const ABOUT: &'static str = "Random early detection: RED drops arrivals at random, more often the longer the average queue. Each arrival updates the average queue length. Below `min`, no packet is dropped. Between `min` and `max`, packets are dropped (or marked) at random, with a probability that grows with the average. Above `max`, all packets are. With `adaptive` (ARED), max_p, the probability at `max`, follows the load, so that the average stays midway between `min` and `max`; dialect `ared` adds automatic thresholds and weight. With `refined` (RARED, dialect `rared`), the steps of max_p grow with the distance of the average from its target. With `feng`, max_p is multiplied or divided when the average leaves the band. With `nonlinear`, the curve is a square.\n\n\
        Expect an average queue that depends on the load. Under TCP it is between `min` and `max`, where the drop probability matches the load. Bursts pass, because the average is slow. Results depend on the settings more than for any other discipline, and the dialects' defaults have little in common: ns-2 measures bytes and chooses its settings automatically, ns-3 holds 25 packets and assumes a link of 1.5 Mbps, and Linux derives everything from `limit`.";
    type Params = RedParams;

    fn time_constant(params: &RedParams, packet: Span) -> Option<crate::entry::TimeConstant> {
        match params.weight {
            Some(weight) => crate::entry::TimeConstant::of_average(weight, packet),
            None if params.dialect == Dialect::Linux => None,
            // The automatic weight averages over about one second.
            None => Some(crate::entry::TimeConstant::new(
                "moving average of the queue",
                Span::from_ps(1_000_000_000_000),
            )),
        }
    }

    fn build(params: RedParams, _: &BuildContext) -> Result<Self, SpecError> {
        check(&params)?;
        let first = |interval| Timer {
            interval,
            next: Time::ZERO + interval,
        };
        Ok(match params.dialect {
            Dialect::Linux => Red {
                timer: params.adaptive.then(|| first(LINUX_INTERVAL)),
                core: Core::Linux(Box::new(LinuxRed::new(params)?)),
            },
            dialect => Red {
                timer: (params.adaptive
                    && !matches!(dialect, Dialect::Ns2 | Dialect::Ns3 | Dialect::Ns3_24))
                .then(|| first(params.interval)),
                core: Core::Float(Box::new(FloatRed::new(params)?)),
            },
        })
    }

    fn tc(params: &RedParams) -> Option<Line> {
        let bytes = |line: Line, name: &str, value: Option<Limit>| match value {
            Some(Limit::Bytes(bytes)) => line.option(name, bytes.get()),
            Some(Limit::Packets(packets)) => line.option(name, packets.get() * params.avpkt.get()),
            None => line,
        };
        let line = bytes(Line::root("red"), "limit", Some(params.limit));
        let line = bytes(line, "min", params.min);
        let line = bytes(line, "max", params.max).option("avpkt", params.avpkt.get());
        let line = match (params.burst, params.weight) {
            (Some(burst), _) => line.option("burst", burst.get()),
            (None, Some(weight)) => line.note(&format!("weight={weight}: tc takes it from burst")),
            (None, None) => line,
        };
        let line = match params.bandwidth {
            Some(bandwidth) => line.rate("bandwidth", bandwidth),
            None => line,
        };
        Some(
            line.option("probability", params.probability)
                .word_if(params.ecn, "ecn")
                .word_if(params.harddrop, "harddrop")
                .word_if(params.adaptive, "adaptive"),
        )
    }
}

impl Aqm for Red {
    fn interest(&self) -> Interest {
        Interest {
            empty: true,
            ticks: self.timer.is_some(),
            ..Interest::in_arrivals_from(0)
        }
    }

    #[inline(always)]
    fn on_enqueue(&mut self, meta: &Meta, view: &View<'_>, cx: &mut Cx<'_>) -> Verdict {
        match &mut self.core {
            Core::Float(red) => red.on_enqueue(meta, view, cx),
            Core::Linux(red) => red.on_enqueue(meta, view, cx),
        }
    }

    #[inline]
    fn on_empty(&mut self, now: Time) {
        match &mut self.core {
            Core::Float(red) => red.idle.begin(now),
            Core::Linux(red) => red.idle.begin(now),
        }
    }

    #[inline]
    fn next_tick(&self) -> Option<Time> {
        self.timer.as_ref().map(|timer| timer.next)
    }

    fn on_tick(&mut self, view: &View<'_>, cx: &mut Cx<'_>) {
        if let Some(timer) = &mut self.timer {
            timer.next = timer.next.saturating_add(timer.interval);
        }
        match &mut self.core {
            Core::Float(red) => {
                red.settle(view.rate);
                red.adapt_to_band();
            }
            Core::Linux(red) => {
                red.settle(view.rate);
                red.adapt(cx.now);
            }
        }
    }

    fn state_names(&self) -> &'static [&'static str] {
        let bytes = match &self.core {
            Core::Float(red) => red.unit.in_bytes,
            Core::Linux(_) => true,
        };
        if bytes {
            &[
                "average_bytes",
                "drop_probability",
                "max_probability",
                "count_packets",
            ]
        } else {
            &[
                "average_packets",
                "drop_probability",
                "max_probability",
                "count_packets",
            ]
        }
    }

    fn state(&self, out: &mut Vec<f64>) {
        out.extend(match &self.core {
            Core::Float(red) => [
                red.average,
                red.probability,
                red.max_p,
                signed_float(red.count),
            ],
            Core::Linux(red) => red.state(),
        });
    }
}

/// Refuses what a dialect lacks, and thresholds that contradict each other.
fn check(params: &RedParams) -> Result<(), SpecError> {
    let dialect = params.dialect;
    let (linux, ns2, old) = (
        dialect == Dialect::Linux,
        dialect == Dialect::Ns2,
        dialect == Dialect::Ns3_24,
    );
    let lacking: &[(&str, bool)] = &[
        ("gentle=true", linux && params.gentle),
        ("wait=true", linux && params.wait),
        ("byte_mode=true", linux && params.byte_mode),
        ("queue_in_bytes=false", linux && !params.queue_in_bytes),
        ("harddrop=true", ns2 && params.harddrop),
        ("mark_p", !ns2 && params.mark_p.is_some()),
        ("link_delay", !ns2 && !params.link_delay.is_zero()),
        ("burst", !linux && params.burst.is_some()),
        ("feng=true", (linux || old) && params.feng),
        ("nonlinear=true", (linux || ns2 || old) && params.nonlinear),
        ("adaptive=true", old && params.adaptive),
        ("refined=true", (linux || old) && params.refined),
        ("ecn=true", old && params.ecn),
    ];
    if let Some((what, _)) = lacking.iter().find(|(_, given)| *given) {
        return Err(contradiction(&format!(
            "dialect {dialect} has no {what}; leave it out or choose another dialect"
        )));
    }
    if params.feng && params.adaptive {
        return Err(contradiction(
            "feng and adaptive both move max_p; set one of them",
        ));
    }
    if linux {
        return Ok(());
    }
    if params.min.is_none() && params.max.is_some() {
        return Err(contradiction(
            "max is given, but min is automatic; give both, or max=none",
        ));
    }
    let comparable = match (params.min, params.max) {
        (Some(Limit::Packets(min)), Some(Limit::Packets(max))) => min <= max,
        (Some(Limit::Bytes(min)), Some(Limit::Bytes(max))) => min <= max,
        _ => true,
    };
    if !comparable {
        return Err(contradiction("min is above max; exchange them"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::Waiting;
    use crate::store::{List, Store};
    use crate::testing::{built, view};
    use sojourn_sim::{DropReason, MarkReason, Stream};
    use sojourn_units::{Params, Rate};

    const SENT: Verdict = Verdict::Pass;
    const EARLY: Verdict = Verdict::Drop(DropReason::Early);
    const FORCED: Verdict = Verdict::Drop(DropReason::Forced);
    const FULL: Verdict = Verdict::Drop(DropReason::Overlimit);
    const SIZE: u32 = 1000;

    /// A RED that is handed packets while its queue has a length of the test's choice.
    struct Bench {
        red: Red,
        rng: Stream,
        rate: Rate,
    }

    impl Bench {
        fn new(spec: &str) -> Bench {
            let red = built(spec).unwrap_or_else(|error| panic!("{spec}: {error}"));
            Bench {
                red,
                rng: Stream::derive(1, 0, "red"),
                rate: Rate::mbps(10),
            }
        }

        fn offer(&mut self, now: Time, packets: u64, size: u32, tos: u8) -> Verdict {
            let view = View {
                rate: self.rate,
                ..view(packets)
            };
            let meta = Meta { size, flow: 0, tos };
            let rng = &mut self.rng;
            self.red.on_enqueue(&meta, &view, &mut Cx { now, rng })
        }

        /// Verdicts on `arrivals` arrivals, a millisecond apart, at a queue that stays as long.
        fn hold(&mut self, packets: u64, arrivals: u64) -> Vec<Verdict> {
            (0..arrivals)
                .map(|ms| self.offer(at(ms), packets, SIZE, 0))
                .collect()
        }

        fn state(&self) -> Vec<f64> {
            let mut state = Vec::new();
            self.red.state(&mut state);
            state
        }

        fn average(&self) -> f64 {
            self.state()[0]
        }

        fn count(&self) -> f64 {
            self.state()[3]
        }

        fn max_p(&self) -> f64 {
            self.state()[2]
        }

        fn tick(&mut self, now: Time) {
            let view = View {
                rate: self.rate,
                ..view(0)
            };
            let rng = &mut self.rng;
            self.red.on_tick(&view, &mut Cx { now, rng });
        }
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// An average that is the queue itself.
    fn direct(spec: &str) -> Bench {
        let mut bench = Bench::new(&format!("weight=1 limit=1000p {spec}"));
        bench.red.on_empty(at(0));
        bench.offer(at(0), 0, SIZE, 0);
        bench
    }

    /// The part of the packets that is dropped at a queue that stays as long.
    fn drop_rate(spec: &str, packets: u64) -> f64 {
        let verdicts = direct(spec).hold(packets, 200_000);
        let drops = verdicts.iter().filter(|v| **v != SENT).count();
        f64::from(u32::try_from(drops).expect("few")) / 200_000.0
    }

    fn close(ours: f64, expected: f64, within: f64, what: &str) {
        assert!(
            (ours / expected - 1.0).abs() < within,
            "{what}: {ours}, expected {expected}"
        );
    }

    #[test]
    fn the_state_has_the_packets_since_the_last_drop() {
        let mut bench = direct("dialect=paper min=5p max=15p gentle=false");
        // Below min there is none that would be counted.
        assert_eq!(bench.count(), -1.0);
        let verdicts = bench.hold(10, 1000);
        let since = verdicts.iter().rev().take_while(|v| **v == SENT).count();
        assert!(since < 1000);
        assert_eq!(bench.count(), float(u64::try_from(since).expect("few")));
    }

    #[test]
    fn nothing_is_dropped_below_min_and_everything_from_max_on() {
        for dialect in ["paper", "ns2", "ns3"] {
            let spec = format!(
                "dialect={dialect} min=5p max=15p gentle=false {}",
                if dialect == "ns2" {
                    "mark_p=none avpkt=1000B"
                } else {
                    ""
                }
            );
            assert!(
                direct(&spec).hold(4, 1000).iter().all(|v| *v == SENT),
                "{dialect}"
            );
            assert!(
                direct(&spec).hold(15, 1000).iter().all(|v| *v == FORCED),
                "{dialect}"
            );
            let between = direct(&spec).hold(10, 1000);
            assert!(
                between.contains(&EARLY) && between.contains(&SENT),
                "{dialect}"
            );
        }
    }

    #[test]
    fn gaps_between_drops_are_uniform_up_to_one_over_p() {
        // p_b = 0.02 (10 - 5) / (15 - 5) = 1/100: gaps of 1 to 99 packets, one less than the paper's text says, since its
        // figure has count at 1 for the first packet after a drop.
        let verdicts = direct("min=5p max=15p").hold(10, 500_000);
        let drops: Vec<usize> = (0..verdicts.len())
            .filter(|i| verdicts[*i] != SENT)
            .collect();
        let gaps: Vec<usize> = drops.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(
            (gaps.iter().min(), gaps.iter().max()),
            (Some(&1), Some(&99))
        );
        for third in 0..3 {
            let inside = |gap: &&usize| (**gap - 1) / 33 == third;
            let part = float(u64::try_from(gaps.iter().filter(inside).count()).expect("few"))
                / float(u64::try_from(gaps.len()).expect("few"));
            assert!((part - 1.0 / 3.0).abs() < 0.02, "third {third}: {part}");
        }
    }

    #[test]
    fn the_drop_rate_is_that_of_the_closed_forms() {
        // Gaps are uniform on 1..1/p - 1, of mean 1 / 2p; with wait on 1/p..2/p - 1, of mean 1.5/p - 0.5.
        for (packets, p) in [(6, 0.01), (7, 0.02), (10, 0.05)] {
            let base = "min=5p max=15p probability=0.1";
            close(drop_rate(base, packets), 2.0 * p, 0.02, "paper");
            let wait = drop_rate(&format!("{base} wait=true"), packets);
            close(wait, 2.0 * p / (3.0 - p), 0.02, "wait");
        }
        // Gentle: p = 0.1 + 0.9 (20 - 15) / 15 = 0.4, the first packet with 0.4 / 0.6, the second for certain.
        close(
            drop_rate("min=5p max=15p probability=0.1 gentle=true", 20),
            3.0 / 4.0,
            0.02,
            "gentle",
        );
        // Linux: one draw R below 1 / (p per byte), the drop when count times the bytes above min reach it.
        let linux = "dialect=linux weight=0.5 min=5kB max=15kB limit=1MB probability=0.1";
        let mut bench = Bench::new(linux);
        bench.idle_over();
        bench.hold(10, 100);
        let verdicts = bench.hold(10, 200_000);
        let drops = verdicts.iter().filter(|v| **v != SENT).count();
        close(
            f64::from(u32::try_from(drops).expect("few")) / 200_000.0,
            2.0 * 0.05 / 1.05,
            0.02,
            "linux",
        );
    }

    impl Bench {
        /// The link becomes busy.
        fn idle_over(&mut self) {
            self.offer(at(0), 0, SIZE, 0);
        }
    }

    #[test]
    fn an_overload_settles_where_the_drop_rate_is_the_excess() {
        // A link of one packet a millisecond, offered 1.1 at random: 1 - 1 / 1.1 is dropped, which is twice
        // p = 0.1 (average - 50) / 100.
        let needed: f64 = 1.0 - 1.0 / 1.1;
        let expected = 50.0 + 1000.0 * needed / 2.0;
        let mut bench = Bench::new("min=50p max=150p probability=0.1 weight=0.002 limit=1000p");
        let mut rng = Stream::derive(7, 0, "arrivals");
        let (mut queue, mut area, mut arrived, mut dropped) = (0_u64, 0.0, 0.0, 0.0);
        bench.idle_over();
        for ms in 0..400_000 {
            for _ in 0..20 {
                if rng.chance(1.1 / 20.0) {
                    arrived += 1.0;
                    if bench.offer(at(ms), queue, SIZE, 0) == SENT {
                        queue += 1;
                    } else {
                        dropped += 1.0;
                    }
                }
            }
            queue = queue.saturating_sub(1);
            area += bench.average();
        }
        close(dropped / arrived, needed, 0.03, "drop rate");
        close(area / 400_000.0, expected, 0.03, "average");
    }

    #[test]
    fn the_average_decays_with_the_packets_that_an_idle_link_would_have_sent() {
        // 10 Mbps are 2.5 packets of 500 bytes a millisecond.
        for (dialect, packets) in [("paper", 25.0), ("ns3", 26.0), ("ns2", 26.0)] {
            let ns2 = if dialect == "ns2" {
                "queue_in_bytes=false"
            } else {
                "bandwidth=10Mbps"
            };
            let mut bench = Bench::new(&format!(
                "dialect={dialect} min=5p max=15p weight=0.002 limit=100p {ns2}"
            ));
            bench.idle_over();
            bench.hold(4, 1000);
            let before = bench.average();
            bench.red.on_empty(at(1000));
            bench.offer(at(1010), 0, SIZE, 0);
            close(
                bench.average(),
                before * libm::pow(0.998, packets),
                1e-12,
                dialect,
            );
        }
    }

    #[test]
    fn inside_a_scheduler_a_queue_is_idle_since_its_last_packet_left() {
        let average = |spec: &str| {
            let mut bench = Bench::new(spec);
            bench.idle_over();
            bench.hold(4, 1000);
            let before = bench.average();
            let view = View {
                rate: bench.rate,
                last_departure: at(1000),
                asked: false,
                waiting: Waiting::Queue(&Store::default(), &List::default()),
                ..view(0)
            };
            let (meta, now) = (
                Meta {
                    size: SIZE,
                    flow: 0,
                    tos: 0,
                },
                at(1010),
            );
            let rng = &mut bench.rng;
            bench.red.on_enqueue(&meta, &view, &mut Cx { now, rng });
            bench.average() / before
        };
        close(
            average("weight=0.002"),
            libm::pow(0.998, 25.0),
            1e-12,
            "paper",
        );
        close(average("dialect=linux weight=0.5"), 0.5, 1e-3, "linux");
    }

    #[test]
    fn without_idle_decay_an_idle_time_is_one_arrival() {
        let mut bench = Bench::new("idle_decay=false");
        bench.hold(4, 1000);
        let before = bench.average();
        bench.red.on_empty(at(1000));
        bench.offer(at(100_000), 0, SIZE, 0);
        close(bench.average(), before * 0.998, 1e-12, "average");
    }

    #[test]
    fn a_drop_at_an_idle_link_does_not_count_the_idle_time_twice() {
        let mut bench = Bench::new("min=1p max=2p weight=0.5");
        bench.idle_over();
        bench.hold(100, 100);
        bench.red.on_empty(at(100));
        let ms_of_packet = 0.4;
        assert_eq!(bench.offer(at(101), 0, SIZE, 0), FORCED);
        let first = bench.average();
        assert_eq!(bench.offer(at(102), 0, SIZE, 0), FORCED);
        close(
            bench.average(),
            first * libm::pow(0.5, 1.0 / ms_of_packet),
            1e-12,
            "average",
        );
    }

    #[test]
    fn ns2_sets_itself_as_red_cc_does() {
        // 10 Mbps: 2500 packets of 500 bytes a second; 5 ms of that are 12.5, half of it more than 5 packets.
        let mut bench = Bench::new("dialect=ns2");
        bench.idle_over();
        let Core::Float(red) = &bench.red.core else {
            panic!("of floats")
        };
        assert_eq!((red.min, red.max), (6.25 * 500.0, 18.75 * 500.0));
        close(red.weight, 1.0 - libm::exp(-1.0 / 2500.0), 1e-9, "weight");
        close(red.bottom, 80_000.0 / 1e7, 1e-12, "bottom");
        // A slow, long link: 5 packets, and three times the delay.
        let mut bench = Bench::new("dialect=ns2 link_delay=100ms");
        bench.rate = Rate::mbps(1);
        bench.idle_over();
        let Core::Float(red) = &bench.red.core else {
            panic!("of floats")
        };
        assert_eq!((red.min, red.max), (2500.0, 7500.0));
        let rtt = 3.0 * (0.1 + 1.0 / 250.0);
        close(
            red.weight,
            1.0 - libm::exp(-1.0 / (10.0 * rtt * 250.0)),
            1e-9,
            "weight",
        );
    }

    #[test]
    fn ared_sets_itself_as_its_paper_says() {
        let mut bench = Bench::new("dialect=ared");
        bench.rate = Rate::mbps(100);
        bench.idle_over();
        let Core::Float(red) = &bench.red.core else {
            panic!("of floats")
        };
        assert_eq!((red.min, red.max), (62.5, 187.5));
        close(red.weight, 1.0 - libm::exp(-1.0 / 25_000.0), 1e-9, "weight");
    }

    #[test]
    fn ared_moves_max_p_by_its_rule_every_interval() {
        let mut bench = direct("min=5p max=15p probability=0.02 adaptive=true");
        assert_eq!(bench.red.next_tick(), Some(at(500)));
        // 12 is above 5 + 0.6 10: a quarter more, then 0.01 more.
        bench.hold(12, 1);
        for (ms, expected) in [
            (500, 0.025),
            (1000, 0.03125),
            (1500, 0.0390625),
            (2000, 0.048828125),
            (2500, 0.058828125),
        ] {
            bench.tick(at(ms));
            close(bench.max_p(), expected, 1e-12, "up");
        }
        bench.hold(10, 1);
        bench.tick(at(3000));
        close(bench.max_p(), 0.058828125, 1e-12, "within the band");
        bench.hold(8, 1);
        bench.tick(at(3500));
        close(bench.max_p(), 0.9 * 0.058828125, 1e-12, "down");
        for n in 0..100 {
            bench.tick(at(4000 + 500 * n));
        }
        assert!(
            bench.max_p() < 0.01 && bench.max_p() >= 0.009,
            "{}",
            bench.max_p()
        );
    }

    #[test]
    fn rared_moves_max_p_by_the_distance_from_the_target() {
        // Between 9.8 and 10.2 it stays.
        for (packets, factor) in [
            (14, 1.0 + 0.25 * (14.0 - 10.2) / 10.2),
            (11, 1.0 + 0.25 * (11.0 - 10.2) / 10.2),
            (10, 1.0),
            (9, 1.0 - 0.17 * (9.8 - 9.0) / 4.8),
            (6, 1.0 - 0.17 * (9.8 - 6.0) / 4.8),
            // At `min`, the whole 0.17.
            (5, 0.83),
        ] {
            for spec in ["dialect=rared", "adaptive=true refined=true"] {
                let mut bench = direct(&format!("{spec} min=5p max=15p probability=0.1"));
                bench.hold(packets, 1);
                bench.tick(at(500));
                close(bench.max_p(), 0.1 * factor, 1e-12, spec);
            }
        }
    }

    #[test]
    fn ns2_and_ns3_adapt_on_the_first_arrival_past_the_interval() {
        for dialect in ["ns2", "ns3"] {
            let mut bench = direct(&format!(
                "dialect={dialect} queue_in_bytes=false byte_mode=false min=5p max=15p probability=0.1 adaptive=true"
            ));
            assert_eq!(bench.red.next_tick(), None);
            bench.offer(at(500), 12, SIZE, 0);
            close(bench.max_p(), 0.1, 1e-12, dialect);
            bench.offer(at(501), 12, SIZE, 0);
            close(bench.max_p(), 0.11, 1e-12, dialect);
            bench.offer(at(1001), 12, SIZE, 0);
            close(bench.max_p(), 0.11, 1e-12, dialect);
        }
    }

    #[test]
    fn feng_moves_max_p_once_for_each_time_that_the_average_leaves_the_band() {
        let seen = |spec: &str| -> Vec<f64> {
            let mut bench = Bench::new(&format!("weight=1 limit=1000p min=5p max=15p {spec}"));
            bench.idle_over();
            (1..)
                .zip([0, 10, 20, 20, 10, 20, 3, 2, 20])
                .map(|(ms, packets)| {
                    bench.offer(at(ms), packets, SIZE, 0);
                    bench.max_p()
                })
                .collect()
        };
        for (ours, thirds) in seen("dialect=feng probability=0.3").iter().zip([
            1.0,
            1.0,
            2.0,
            2.0,
            2.0,
            4.0,
            4.0 / 3.0,
            4.0 / 3.0,
            8.0 / 3.0,
        ]) {
            close(*ours, 0.1 * thirds, 1e-12, "feng");
        }
        // ns-2 divides by 0.01 below and multiplies by 0.9 above.
        let ns2 = "dialect=ns2 feng=true queue_in_bytes=false byte_mode=false probability=0.1";
        let ours = seen(ns2);
        close(ours[0], 10.0, 1e-12, "ns2 below");
        close(ours[2], 9.0, 1e-12, "ns2 above");
    }

    #[test]
    fn the_curve_of_nlred_is_a_square_above_the_line_from_two_thirds_on() {
        let p = |dialect: &str, packets| {
            let mut bench = direct(&format!("dialect={dialect} min=1p max=31p probability=0.1"));
            bench.offer(at(1), packets, SIZE, 0);
            bench.state()[1]
        };
        for (packets, expected) in [(11, 0.1 / 6.0), (21, 0.1 / 1.5), (30, 0.15 * 841.0 / 900.0)] {
            close(p("nlred", packets), expected, 1e-12, "nlred");
        }
        assert!(p("nlred", 20) < p("paper", 20) && p("nlred", 22) > p("paper", 22));
    }

    #[test]
    fn linux_adapts_in_whole_numbers() {
        let mut bench = Bench::new(
            "dialect=linux weight=0.5 min=5kB max=15kB limit=1MB probability=0.1 adaptive=true",
        );
        bench.idle_over();
        bench.hold(12, 100);
        bench.tick(at(500));
        close(bench.max_p(), 0.11, 1e-6, "up");
        bench.hold(7, 100);
        bench.tick(at(1000));
        close(bench.max_p(), 0.099, 1e-6, "down");
    }

    #[test]
    fn capable_packets_are_marked_in_both_regions_unless_dropped_hard() {
        let marked = Verdict::Mark(MarkReason::Early);
        let above = Verdict::Mark(MarkReason::Threshold);
        for (spec, on_max) in [
            ("dialect=paper ecn=true", above),
            ("dialect=paper ecn=true harddrop=true", FORCED),
            ("dialect=ns3 ecn=true gentle=false", FORCED),
            ("dialect=ns3 ecn=true gentle=false harddrop=false", above),
        ] {
            let mut bench = direct(&format!("{spec} min=5p max=15p"));
            bench.offer(at(1), 10, SIZE, 2);
            let between: Vec<_> = (2..2000)
                .map(|ms| bench.offer(at(ms), 10, SIZE, 2))
                .collect();
            assert!(
                between.contains(&marked) && !between.contains(&EARLY),
                "{spec}"
            );
            assert_eq!(bench.offer(at(3000), 20, SIZE, 2), on_max, "{spec}");
            assert_eq!(bench.offer(at(3001), 20, SIZE, 0), FORCED, "{spec}");
        }
    }

    #[test]
    fn ns2_drops_capable_packets_from_mark_p_on() {
        let base = "dialect=ns2 queue_in_bytes=false byte_mode=false wait=false min=5p max=15p probability=0.2 ecn=true";
        for (packets, mark_p, marks) in [
            (9, "0.1", true),
            (10, "0.1", false),
            (10, "none", true),
            (40, "2", true),
        ] {
            let mut bench = direct(&format!("{base} mark_p={mark_p}"));
            let verdicts: Vec<_> = (1..2000)
                .map(|ms| bench.offer(at(ms), packets, SIZE, 2))
                .collect();
            assert_eq!(
                verdicts.contains(&Verdict::Mark(MarkReason::Early)),
                marks,
                "{packets} {mark_p}"
            );
            assert_eq!(verdicts.contains(&EARLY), !marks, "{packets} {mark_p}");
        }
    }

    #[test]
    fn the_first_packet_above_min_is_dropped_by_the_paper_alone() {
        for (dialect, dropped) in [("paper", true), ("ns2", false), ("ns3", false)] {
            let spec = format!(
                "dialect={dialect} queue_in_bytes=false byte_mode=false gentle=true min=5p max=6p probability=1"
            );
            let mut bench = direct(&spec);
            // p = 1 - a little.
            let first = bench.offer(at(1), 11, SIZE, 0);
            let second = bench.offer(at(2), 11, SIZE, 0);
            assert_eq!((first == EARLY, second), (dropped, EARLY), "{dialect}");
        }
    }

    #[test]
    fn ns2_drops_none_while_less_than_two_packets_wait() {
        for (dialect, verdict) in [("paper", FORCED), ("ns2", SENT), ("ns3", SENT)] {
            let ns2 = if dialect == "ns2" {
                "mark_p=none queue_in_bytes=false byte_mode=false"
            } else {
                ""
            };
            let mut bench = Bench::new(&format!(
                "dialect={dialect} weight=0.01 limit=1000p min=5p max=15p {ns2}"
            ));
            bench.idle_over();
            bench.hold(500, 1000);
            assert_eq!(bench.offer(at(1001), 1, SIZE, 0), verdict, "{dialect}");
        }
    }

    #[test]
    fn ns2_in_bytes_is_full_at_limit_usual_packets_before_the_arrival() {
        // 10 packets of 1000 bytes are 20 usual ones.
        for (waiting, verdict) in [(9, SENT), (10, FULL)] {
            let mut bench = Bench::new("dialect=ns2 limit=20p min=1000p max=2000p");
            assert_eq!(bench.offer(at(1), waiting, SIZE, 0), verdict);
        }
        for (waiting, verdict) in [(9, SENT), (10, FULL)] {
            let mut bench = Bench::new("limit=10p min=1000p max=2000p");
            assert_eq!(bench.offer(at(1), waiting, SIZE, 0), verdict);
        }
    }

    #[test]
    fn in_byte_mode_small_packets_are_dropped_in_proportion() {
        let rate = |size| {
            let mut bench = direct("min=5p max=15p avpkt=1000B byte_mode=true probability=0.1");
            let drops = (0..200_000)
                .filter(|ms| bench.offer(at(*ms), 10, size, 0) != SENT)
                .count();
            f64::from(u32::try_from(drops).expect("few")) / 200_000.0
        };
        close(rate(1000), 0.1, 0.02, "1000 B");
        close(rate(100), 0.01, 0.05, "100 B");
    }

    #[test]
    fn tc_chooses_the_weight_that_its_manual_and_runs_show() {
        // `tc -s qdisc` of the reference runs: min 12500b max 37500b, ewma 3 and Scell_log 14.
        let mut bench = Bench::new("dialect=linux limit=125000B min=12500B max=37500B avpkt=1500B");
        bench.idle_over();
        let Core::Linux(red) = &bench.red.core else {
            panic!("Linux")
        };
        assert_eq!((red.wlog, red.table.cell_log), (3, 14));
        // The example of tc-red(8): burst 55.
        let mut bench =
            Bench::new("dialect=linux limit=400kB min=30kB max=90kB avpkt=1000B burst=55p");
        bench.idle_over();
        let Core::Linux(red) = &bench.red.core else {
            panic!("Linux")
        };
        assert_eq!(red.wlog, 5);
        // Weight 2^-10 with packets of 1000 bytes: Scell_log 20.
        let mut bench =
            Bench::new("dialect=linux limit=500kB min=30kB max=90kB weight=0.0009765625");
        bench.idle_over();
        let Core::Linux(red) = &bench.red.core else {
            panic!("Linux")
        };
        assert_eq!((red.wlog, red.table.cell_log), (10, 20));
    }

    #[test]
    fn linux_derives_thresholds_from_the_limit_as_tc() {
        let bench = Bench::new("dialect=linux limit=100p avpkt=1200B");
        let Core::Linux(red) = &bench.red.core else {
            panic!("Linux")
        };
        assert_eq!((red.min, red.max), (10_000, 30_000));
    }

    #[test]
    fn linux_counts_idle_ticks_as_microseconds() {
        let mut bench = Bench::new("dialect=linux limit=125000B min=12500B max=37500B avpkt=1500B");
        bench.idle_over();
        bench.hold(30, 1000);
        let before = bench.average();
        bench.red.on_empty(at(1000));
        bench.offer(at(1100), 0, SIZE, 0);
        // 100 ms in cells of 16.384 ms: cell 6, 6 * 16384 * -ln(7/8) / 18750 ticks = 0.7: no shift, a linear loss of 6 cells.
        close(bench.average(), before / 2.0, 1e-3, "100 ms");
        bench.red.on_empty(at(2000));
        let before = bench.average();
        bench.offer(at(2500), 0, SIZE, 0);
        // Cell 30: 3.5, three halvings. In 500 ms the link sends 416 packets, after which nothing would be left.
        close(bench.average(), before / 8.0, 1e-3, "500 ms");
    }

    #[test]
    fn what_a_dialect_lacks_is_refused() {
        let refuse = |spec: &str| match built::<Red>(spec) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("{spec} is taken"),
        };
        assert_eq!(
            refuse("dialect=linux gentle=true"),
            "red: dialect linux has no gentle=true; leave it out or choose another dialect"
        );
        assert_eq!(
            refuse("mark_p=0.1"),
            "red: dialect paper has no mark_p; leave it out or choose another dialect"
        );
        assert_eq!(refuse("min=20p"), "red: min is above max; exchange them");
        assert_eq!(
            refuse("min=none"),
            "red: max is given, but min is automatic; give both, or max=none"
        );
        assert_eq!(
            refuse("max=30kB"),
            "red: max is in bytes, but the queue is measured in packets; write packets, or queue_in_bytes=true"
        );
        assert!(
            refuse("dialect=linux weight=0.002")
                .starts_with("red: weight=0.002 is not one of 1/2,")
        );
        assert!(
            refuse("dialect=linux min=90kB max=95kB burst=5p")
                .ends_with("tc asks for at least 91p")
        );
        for what in ["ecn", "adaptive", "feng", "nonlinear"] {
            assert!(
                refuse(&format!("dialect=ns3_24 {what}=true"))
                    .starts_with(&format!("red: dialect ns3_24 has no {what}=true"))
            );
        }
        assert!(refuse("feng=true adaptive=true").starts_with("red: feng and adaptive both"));
        assert!(
            refuse("dialect=ns3 byte_mode=true")
                .starts_with("red: in dialect ns3 the unit of limit decides")
        );
    }

    #[test]
    fn every_dialect_builds_from_its_defaults_and_judges() {
        for dialect in RedParams::DIALECTS {
            let mut bench = Bench::new(&format!("dialect={}", dialect.name));
            let verdicts = bench.hold(60, 20_000);
            assert!(verdicts.iter().any(|v| *v != SENT), "{}", dialect.name);
            assert_eq!(bench.state().len(), bench.red.state_names().len());
        }
    }
}
