//! TSW: the time sliding window marker, which measures the rate of each flow and marks packets beyond its profile.
//!
//! Sources: D. D. Clark and W. Fang, "Explicit Allocation of Best-Effort Packet Delivery Service", IEEE/ACM ToN 6(4), 1998, section
//! 3.3 (dialect paper, the default: two colours, IN and OUT, for RIO; read in what cites it, and in ns-2's and J-Sim's
//! implementations of it); W. Fang, N. Seddigh and B. Nandy, RFC 2859, "A Time Sliding Window Three Colour Marker" (dialect
//! rfc2859: green, yellow and red). ns-2.35's TSW2CM and TSW3CM (diffserv/dsPolicy.cc) are the same estimator and the same
//! probabilities with other draws. Sections 1 and 2 of the RFC were read; the formulas of sections 3 and 4 are taken from implementations.
//!
//! The estimator holds an average rate and the time of the last packet; at first these are the committed rate and 0. A packet of s
//! bytes that arrives at t makes the average (average `window` + s) / (t - last + `window`). Above the committed rate C, a packet is
//! marked at random: red with the probability (average - P) / average for the peak rate P, where that is positive, yellow with that of
//! the rest of (average - C) / average, and otherwise green. Without a peak rate what is not green is red. So the green packets
//! of a flow that sends at a constant rate have the rate C, and green and yellow together P.
//! Up to `onset` times C nothing is marked. Each packet above has one draw, from a stream of the marker's own.
//!
//! **Where it is.** A marker is a scheduler with one queue inside, `each`, as it is in ns-2 (an edge router's policy sits in its queue)
//! and in Linux (an action on a qdisc): packets are marked when they enter, and the inner queue sees the mark. So it can be
//! at the ingress, as the queue of an access link, or around the queue that tells colours apart: `tsw each=(rio)`. It marks
//! whatever crosses, needs nothing of the sender or the transport, and keeps one average for each class of `classify`. A parameter of
//! flows could not mark on behalf of an edge that several senders share. It holds nothing back and drops nothing.
//!
//! The mark replaces the codepoint; the ECN field stays. Colours that came with a packet are ignored (color-blind).

use crate::child::Child;
use crate::classify::{Classifier, Classify, Hash};
use crate::entry::{Entry, SpecError, contradiction};
use crate::nesting::NestingContext;
use crate::rates::Rates;
use crate::scheduler::{QueueState, Scheduler, SchedulerCx};
use crate::store::Held;
use sojourn_sim::{Packet, Stream, to_usize as at};
use sojourn_units::{Rate, Span, Spec, Time, params};

params! {
    /// Time sliding window marker: marks packets beyond the profile of their flow.
    pub struct TswParams {
        /// Committed rate of each class: of flow 0, flow 1 and so on. The last rate applies to all others.
        committed: Rates = "1Mbps", source "Clark & Fang 1998: the profile is a contract, without a default";
        /// Peak rate of each class, between yellow and red. With none, there are two colours, green and red.
        peak: Option<Rates> = "none", source "Clark & Fang 1998: IN and OUT";
        /// Length of the window over which the rate is averaged.
        window: Span = "1s", range "1us".."1000s", source "ns-2.35 dsPolicy.cc: winLen 1.0; RFC 2859 leaves it to the operator";
        /// Multiple of the committed rate up to which all packets are green.
        onset: f64 = "1", range "1".."10", source "RFC 2859 section 4; Clark & Fang 1998 as cited: 1.33 with a window of one round trip",
            acts "the rate is just above the committed rate";
        /// Codepoint of green packets (IN).
        green: u32 = "10", range "0".."63", source "RFC 2597: AF11",
            acts "the queue inside tells it from the others";
        /// Codepoint of yellow packets.
        yellow: u32 = "12", range "0".."63", source "RFC 2597: AF12",
            where peak not "none",
            acts "the queue inside tells it from the others";
        /// Codepoint of red packets (OUT).
        red: u32 = "0", range "0".."63", source "RFC 2474: best effort, which rio takes as OUT",
            acts "the queue inside tells it from the others";
        /// Which packets share a profile.
        classify: Classify = "flow", source "Clark & Fang 1998: a profile for each sender";
        /// Discipline of the inner queue: an AQM, or a scheduler with its own queues.
        each: Spec = "rio", source "Clark & Fang 1998";
    }
    dialects Dialect {
        /// Two colours for RIO: Clark and Fang 1998.
        paper as Paper = "tsw-1998" {}
        /// Three colours for Assured Forwarding: RFC 2859.
        rfc2859 as Rfc2859 = "rfc2859" {
            peak = "2Mbps" from "RFC 2859 section 4: above the committed rate; without a default";
            red = "14" from "RFC 2597: AF13";
            each = "wred class=drop_precedence min=30p:20p:10p max=50p:30p:20p" from "RFC 2597 section 4: RED for each drop precedence, the lower the longer";
        }
    }
}

/// The discipline.
pub struct Tsw {
    committed: Rates,
    peak: Option<Rates>,
    window_s: f64,
    onset: f64,
    /// Codepoints of green, yellow and red.
    codepoints: [u8; 3],
    classes: Classifier,
    meters: Vec<Meter>,
    rng: Stream,
    child: Child,
}

/// The estimator of a class.
struct Meter {
    /// Bytes per second.
    committed: f64,
    /// Bytes per second.
    peak: f64,
    /// Bytes per second.
    average: f64,
    last: Time,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Colour {
    Green,
    Yellow,
    Red,
}

impl Entry<NestingContext> for Tsw {
    const NAME: &'static str = "tsw";
    const ALIASES: &'static [&'static str] = &["tswtcm"];
    const TITLE: &'static str = "TSW marker";
    const TAKES_SCHEDULERS: bool = true;
    const ABOUT: &'static str = "Time sliding window marker: marks packets beyond the profile of their sender. It is put around a queue, or is the queue of an access link. It measures the rate of each flow over about a `window`. While the rate is at most `committed`, all packets are marked green (IN). Above it, packets are marked red (OUT) at random, and the green ones keep the committed rate. With `peak`, packets between the two rates are yellow. The mark is the codepoint that `rio` and `wred` read.\n\n\
        Expect no delay and no drops from the marker itself, only from the queue inside. `tsw committed=4Mbps:1Mbps` gives flow 0 a profile of 4 Mbps, and each other flow 1 Mbps, with `rio` behind it. `tsw dialect=rfc2859` marks three drop precedences of Assured Forwarding, with `wred` behind it. On the queue of an access link, write `tsw committed=4Mbps each=(droptail)`, and `rio` at the bottleneck.";
    type Params = TswParams;

    fn build(params: TswParams, cx: &NestingContext) -> Result<Self, SpecError> {
        if let Some(peak) = &params.peak {
            let most = params.committed.count().max(peak.count());
            let wrong = (0..most).find(|class| peak.of(*class) < params.committed.of(*class));
            if let Some(class) = wrong {
                return Err(contradiction(
                    Tsw::NAME,
                    format!(
                        "peak={peak} is below committed={} for class {class}; raise it, or leave it out",
                        params.committed
                    ),
                ));
            }
        }
        let codepoint = |value: u32| u8::try_from(value).unwrap_or(u8::MAX);
        Ok(Tsw {
            window_s: params.window.as_secs_f64(),
            onset: params.onset,
            codepoints: [params.green, params.yellow, params.red].map(codepoint),
            classes: Classifier::new(params.classify, None, Hash::Number, cx),
            meters: Vec::new(),
            rng: cx.stream("marker"),
            child: cx.inner(&params.each).child(cx)?.asked(),
            committed: params.committed,
            peak: params.peak,
        })
    }

    fn inside(params: &TswParams) -> Vec<&Spec> {
        vec![&params.each]
    }
}

impl Scheduler for Tsw {
    fn enqueue(&mut self, packet: Held, cx: &mut SchedulerCx) {
        let arriving = cx.store.packet_mut(&packet);
        let colour = self.colour_of(arriving, cx.now);
        let codepoint = self.codepoints[match colour {
            Colour::Green => 0,
            Colour::Yellow => 1,
            Colour::Red => 2,
        }];
        arriving.tos = arriving.tos & 3 | codepoint << 2;
        self.child.enqueue(packet, cx);
    }

    fn dequeue(&mut self, cx: &mut SchedulerCx) -> Option<Held> {
        self.child.dequeue(cx)
    }

    fn shapes(&self) -> bool {
        self.child.shapes()
    }

    fn ready_at(&mut self, now: Time) -> Time {
        self.child.ready_at(now)
    }

    fn on_empty(&mut self, now: Time) {
        self.child.on_empty(now);
    }

    fn catch_up(&mut self, cx: &mut SchedulerCx) {
        self.child.catch_up(cx);
    }

    fn backlog(&self) -> (u64, u64) {
        (self.child.packets(), self.child.bytes())
    }

    fn queues(&self, show: &mut dyn FnMut(QueueState<'_>)) {
        show(QueueState::of(0, &self.child, None));
    }

    fn state_names(&self) -> &'static [&'static str] {
        &["profiles", "profiles_exceeded", "first_rate_bps"]
    }

    fn state(&self, out: &mut Vec<f64>) {
        let count = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
        let exceeded = self
            .meters
            .iter()
            .filter(|meter| meter.average > meter.committed);
        let first = self.meters.first().map_or(0.0, |meter| 8.0 * meter.average);
        out.extend([count(self.meters.len()), count(exceeded.count()), first]);
    }
}

impl Tsw {
    fn colour_of(&mut self, packet: &Packet, now: Time) -> Colour {
        let index = at(self.classes.queue_of(packet));
        if index == self.meters.len() {
            self.add_meter(packet);
        }
        let meter = &mut self.meters[index];
        meter.arrive(packet.size, now, self.window_s);
        if meter.average <= meter.committed * self.onset {
            return Colour::Green;
        }
        meter.colour_at(self.rng.uniform())
    }

    #[cold]
    fn add_meter(&mut self, packet: &Packet) {
        let class = u32::try_from(self.classes.class_of(packet)).unwrap_or(u32::MAX);
        let bytes = |rate: Rate| rate.as_bps_f64() / 8.0;
        let committed = bytes(self.committed.of(class));
        self.meters.push(Meter {
            committed,
            // Without one, nothing is between the two.
            peak: self
                .peak
                .as_ref()
                .map_or(committed, |peak| bytes(peak.of(class))),
            average: committed,
            last: Time::ZERO,
        });
    }
}

impl Meter {
    fn arrive(&mut self, size: u32, now: Time, window_s: f64) {
        let bytes = self.average * window_s + f64::from(size);
        self.average = bytes / (now.since(self.last).as_secs_f64() + window_s);
        self.last = now;
    }

    /// The colour for a draw from 0 to 1.
    fn colour_at(&self, draw: f64) -> Colour {
        if draw < (self.average - self.peak) / self.average {
            Colour::Red
        } else if draw < (self.average - self.committed) / self.average {
            Colour::Yellow
        } else {
            Colour::Green
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::built_scheduler;

    type Bench = crate::testing::Bench<Tsw>;

    impl Bench {
        /// A flow sends packets of 1000 bytes at even gaps: how many of `count` have each codepoint.
        fn marks(&mut self, flow: u32, gap: Span, count: u32) -> Vec<(u8, u32)> {
            let mut found = std::collections::BTreeMap::new();
            for _ in 0..count {
                self.now += gap;
                self.offer(flow, 1000);
                let packet = self.take().expect("what has come");
                *found.entry(packet.tos >> 2).or_insert(0) += 1;
            }
            found.into_iter().collect()
        }

        fn averages(&self) -> Vec<f64> {
            self.queue
                .meters
                .iter()
                .map(|meter| 8.0 * meter.average)
                .collect()
        }
    }

    #[test]
    fn the_average_follows_the_recurrence_in_closed_form() {
        // With packets of s bytes every d, the average is s / d + (C - s / d) (w / (d + w))^n after n of them.
        let mut bench = Bench::new("committed=1Mbps window=100ms each=(droptail)");
        bench.marks(0, Span::from_ms(2), 60);
        let expected = 4e6 + (1e6 - 4e6) * libm::pow(100.0 / 102.0, 60.0);
        let ours = bench.averages()[0];
        assert!((ours / expected - 1.0).abs() < 1e-12, "{ours} {expected}");
    }

    #[test]
    fn within_the_profile_everything_is_green() {
        // 1 Mbps is 8 ms a packet; nothing is drawn.
        let mut bench = Bench::new("committed=1Mbps each=(droptail)");
        assert_eq!(bench.marks(0, Span::from_ms(8), 5000), [(10, 5000)]);
    }

    #[test]
    fn green_packets_keep_the_committed_rate_whatever_is_sent() {
        // 1.25, 2 and 8 Mbps against 1 Mbps: the part C / rate is green, once the average has settled.
        for (us, part) in [(6400, 0.8), (4000, 0.5), (1000, 0.125)] {
            let mut bench = Bench::new("committed=1Mbps window=50ms each=(droptail)");
            bench.marks(0, Span::from_us(us), 1000);
            let marks = bench.marks(0, Span::from_us(us), 50_000);
            assert_eq!(marks.iter().map(|mark| mark.0).collect::<Vec<_>>(), [0, 10]);
            let green = f64::from(marks[1].1) / 50_000.0;
            assert!((green - part).abs() < 0.01, "{us}: {green}");
        }
    }

    #[test]
    fn three_colours_have_the_rates_of_rfc_2859() {
        // 8 Mbps against 2 and 5: a quarter green, 3/8 yellow, 3/8 red.
        let text = "dialect=rfc2859 committed=2Mbps peak=5Mbps window=50ms each=(droptail)";
        let mut bench = Bench::new(text);
        bench.marks(0, Span::from_ms(1), 1000);
        let marks = bench.marks(0, Span::from_ms(1), 50_000);
        for ((codepoint, count), (expected, part)) in
            marks.iter().zip([(10, 0.25), (12, 0.375), (14, 0.375)])
        {
            assert_eq!(*codepoint, expected);
            assert!(
                (f64::from(*count) / 50_000.0 - part).abs() < 0.01,
                "{marks:?}"
            );
        }
        // Between the two rates nothing is red: 4 Mbps.
        let marks = bench.marks(0, Span::from_ms(2), 10_000);
        assert!(
            marks.iter().all(|mark| mark.0 != 14) || marks[2].1 < 20,
            "{marks:?}"
        );
    }

    #[test]
    fn each_flow_has_its_own_profile() {
        let mut bench = Bench::new("committed=4Mbps:1Mbps window=50ms each=(droptail)");
        let mut green = [0, 0];
        for _ in 0..20_000 {
            bench.now += Span::from_ms(2);
            for (flow, green) in (0..).zip(&mut green) {
                bench.offer(flow, 1000);
                *green += u32::from(bench.take().expect("what has come").tos >> 2 == 10);
            }
        }
        // Both send 4 Mbps.
        assert_eq!(green[0], 20_000);
        assert!((4800..5300).contains(&green[1]), "{green:?}");
    }

    #[test]
    fn up_to_the_onset_everything_is_green() {
        for (onset, all) in [("1.33", true), ("1.2", false)] {
            let mut bench = Bench::new(&format!("committed=1Mbps onset={onset} each=(droptail)"));
            // 1.25 Mbps.
            let marks = bench.marks(0, Span::from_us(6400), 5000);
            assert_eq!(marks == [(10, 5000)], all, "{onset}: {marks:?}");
        }
    }

    #[test]
    fn the_mark_leaves_the_ecn_field_and_the_queue_inside_reads_it() {
        let mut bench = Bench::new("committed=1bps window=1ms each=(prio by=precedence bands=8)");
        bench.offer_with(0, 1000, |packet| packet.tos = 46 << 2 | 2);
        assert_eq!(bench.take().expect("one").tos, 2);
    }

    #[test]
    fn a_peak_below_the_committed_rate_is_refused() {
        let error = built_scheduler::<Tsw>("committed=1Mbps:3Mbps peak=2Mbps").err();
        assert_eq!(
            error.expect("a contradiction").to_string(),
            "tsw: peak=2Mbps is below committed=1Mbps:3Mbps for class 1; raise it, or leave it out"
        );
    }
}
