//! Police: a policer, which meters what arrives with token buckets and drops or marks what exceeds them.
//!
//! Sources: S. Shenker and J. Wroclawski, RFC 2215 (1997), section 3.6 (dialect rfc2215, the default: one bucket, two colours, as in
//! Linux's `tc police`); J. Heinanen and R. Guerin, RFC 2697 (1999), sections 2 and 3 (single rate, three colours); the same, RFC 2698
//! (1999), sections 2 and 3 (two rates, three colours); O. Aboul-Magd and S. Rabie, RFC 4115 (2005) (two rates, where excess traffic
//! takes nothing from committed traffic; the rules were read in descriptions of the RFC, not in its text).
//!
//! A bucket is full at first. A packet of B bytes has the colour of the first line that holds:
//!
//! | dialect | green | yellow | how the buckets fill |
//! |---|---|---|---|
//! | rfc2215 | C has B: take B | | C at `rate` |
//! | rfc2697 | C has B: take B | E has B: take B | C at `rate`; E with what C cannot hold |
//! | rfc2698 | C and P have B: take B from both | P has B: take B | C at `rate`, P at `peakrate` |
//! | rfc4115 | C has B: take B | E has B: take B | C at `rate`, E at `excess_rate` |
//!
//! Every other packet is red and takes nothing. The meter is colour-blind: it ignores colours that came with a packet.
//!
//! Deviations: the RFCs count a token for each byte, and add one at a time. Here tokens are counted exactly, in bits times picoseconds over a
//! second, so that nothing is lost between two packets. RFC 2697 and RFC 2698 say in section 3 that a meter may be built in another way.
//! The RFCs count the bytes of IP packets; here they are the bytes that the queue counts. The colour is not
//! written into the packet; `tsw` does that.
//!
//! It holds nothing back: what is not dropped enters the inner queue when it arrives. A marked packet that exceeds takes no tokens, so
//! with `red=mark` more than the rate may pass.

use crate::child::Child;
use crate::entry::{Entry, SpecError, contradiction};
use crate::nesting::NestingContext;
use crate::scheduler::{QueueState, Scheduler, SchedulerCx};
use crate::store::Held;
use sojourn_sim::{DropReason, MarkReason};
use sojourn_units::{Bytes, Rate, Spec, Time, choice, params};

choice! {
    /// What happens to red packets.
    pub enum Red {
        /// They are dropped.
        Drop = "drop",
        /// They are marked with CE. Packets that are not ECN-capable are dropped.
        Mark = "mark",
    }
}

choice! {
    /// What happens to yellow packets.
    pub enum Yellow {
        /// They enter the queue inside as green ones do.
        Pass = "pass",
        /// They are marked with CE. Packets that are not ECN-capable are dropped.
        Mark = "mark",
        /// They are dropped.
        Drop = "drop",
    }
}

params! {
    /// Policer: drops or marks what exceeds a rate and a burst.
    pub struct PoliceParams {
        /// Rate at which tokens arrive: the committed information rate, CIR.
        rate: Rate = "1Mbps", range "8bps".., source "RFC 2697 section 2: CIR, without a default; tc requires one",
            acts "a packet that is not green has another fate than a green one, as in all dialects but `rfc2698` with `yellow=pass`";
        /// Depth of the bucket: the committed burst size, CBS. A larger packet is never green.
        burst: Bytes = "15140B", range "1B".."4GB", source "RFC 2697 section 2: CBS, at least the largest packet; ten full Ethernet frames",
            acts "a packet that is not green has another fate than a green one, as in all dialects but `rfc2698` with `yellow=pass`";
        /// Depth of the second bucket: the excess burst size, EBS.
        excess_burst: Bytes = "15140B", range "0B".."4GB", source "RFC 2697 section 2: EBS, without a default; ten full Ethernet frames",
            where dialect is "rfc2697" or dialect is "rfc4115" because "the other dialects have no excess bucket";
        /// Rate at which tokens arrive in the second bucket: the excess information rate, EIR.
        excess_rate: Rate = "1Mbps", range "8bps".., source "RFC 4115: EIR, without a default",
            where dialect is "rfc4115" because "only RFC 4115 has an excess rate";
        /// Peak information rate, PIR. Packets above it are red.
        peakrate: Rate = "2Mbps", range "8bps".., source "RFC 2698 section 2: PIR, at least CIR; without a default",
            where dialect is "rfc2698" because "only RFC 2698 has a peak rate";
        /// Depth of the bucket of the peak rate: the peak burst size, PBS. A larger packet is always red.
        peak_burst: Bytes = "15140B", range "1B".."4GB", source "RFC 2698 section 2: PBS, at least the largest packet; ten full Ethernet frames",
            where dialect is "rfc2698" because "only RFC 2698 has a peak rate";
        /// What happens to packets that exceed all that is allowed.
        red: Red = "drop", source "RFC 2697, service example: red packets are discarded";
        /// What happens to packets that exceed the committed rate and burst, and not the second bucket.
        yellow: Yellow = "pass", source "RFC 2697, service example: yellow packets are forwarded as best effort",
            where dialect not "rfc2215" because "with one bucket a packet is green or red";
        /// Discipline of the inner queue: an AQM, or a scheduler with its own queues.
        each: Spec = "droptail", source "a policer adds nothing to the queue of the link";
    }
    dialects Dialect {
        /// One bucket: RFC 2215, as in `tc police`.
        rfc2215 as Rfc2215 = "rfc2215" {}
        /// Single rate, three colours: RFC 2697.
        rfc2697 as Rfc2697 = "rfc2697" {}
        /// Two rates, three colours: RFC 2698.
        rfc2698 as Rfc2698 = "rfc2698" {}
        /// Two rates, excess apart from committed: RFC 4115.
        rfc4115 as Rfc4115 = "rfc4115" {}
    }
}

/// The discipline.
pub struct Police {
    meter: Meter,
    red: Red,
    yellow: Yellow,
    child: Child,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Colour {
    Green,
    Yellow,
    Red,
}

/// Gives every packet its colour.
struct Meter {
    dialect: Dialect,
    committed: Bucket,
    /// The bucket P or E. That of a dialect without one holds nothing.
    second: Bucket,
    /// When tokens were counted last.
    checked: Time,
}

struct Bucket {
    /// Bits per second.
    rate: u64,
    /// Bits times 10^12.
    depth: u128,
    /// What is in it, in the unit of `depth`.
    tokens: u128,
}

/// Picoseconds per second and bits per byte: a byte in the unit of buckets.
const BYTE: u128 = 8_000_000_000_000;

impl Bucket {
    /// A full one.
    fn new(rate: u64, depth: Bytes) -> Bucket {
        let depth = u128::from(depth.get()) * BYTE;
        Bucket {
            rate,
            depth,
            tokens: depth,
        }
    }

    /// Adds tokens; returns those that it cannot hold.
    fn add(&mut self, tokens: u128) -> u128 {
        let all = self.tokens + tokens;
        self.tokens = all.min(self.depth);
        all - self.tokens
    }

    /// The tokens that arrive in a time.
    fn arriving(&self, elapsed_ps: u64) -> u128 {
        u128::from(elapsed_ps) * u128::from(self.rate)
    }

    fn has(&self, tokens: u128) -> bool {
        self.tokens >= tokens
    }

    /// In bytes, for the state series.
    #[allow(
        clippy::as_conversions,
        clippy::cast_precision_loss,
        reason = "a reading, never compared"
    )]
    fn bytes(&self) -> f64 {
        self.tokens as f64 / BYTE as f64
    }
}

impl Meter {
    fn new(params: &PoliceParams) -> Meter {
        let second = match params.dialect {
            Dialect::Rfc2215 => Bucket::new(0, Bytes::new(0)),
            Dialect::Rfc2697 => Bucket::new(0, params.excess_burst),
            Dialect::Rfc2698 => Bucket::new(params.peakrate.as_bps(), params.peak_burst),
            Dialect::Rfc4115 => Bucket::new(params.excess_rate.as_bps(), params.excess_burst),
        };
        Meter {
            dialect: params.dialect,
            committed: Bucket::new(params.rate.as_bps(), params.burst),
            second,
            checked: Time::ZERO,
        }
    }

    /// Counts the tokens that have arrived by `now`. It does not matter how often this is done.
    fn fill(&mut self, now: Time) {
        if now <= self.checked {
            return;
        }
        let elapsed = now.since(self.checked).as_ps();
        let over = self.committed.add(self.committed.arriving(elapsed));
        let more = match self.dialect {
            Dialect::Rfc2697 => over,
            _ => self.second.arriving(elapsed),
        };
        self.second.add(more);
        self.checked = now;
    }

    /// The colour of a packet that arrives now; takes its tokens.
    fn colour_of(&mut self, size: u32, now: Time) -> Colour {
        self.fill(now);
        let tokens = u128::from(size) * BYTE;
        let committed = self.committed.has(tokens);
        let second = self.second.has(tokens);
        match self.dialect {
            Dialect::Rfc2698 if !second => Colour::Red,
            Dialect::Rfc2698 => {
                self.second.tokens -= tokens;
                match committed {
                    true => self.green(tokens),
                    false => Colour::Yellow,
                }
            }
            _ if committed => self.green(tokens),
            Dialect::Rfc2215 => Colour::Red,
            Dialect::Rfc2697 | Dialect::Rfc4115 if second => {
                self.second.tokens -= tokens;
                Colour::Yellow
            }
            Dialect::Rfc2697 | Dialect::Rfc4115 => Colour::Red,
        }
    }

    fn green(&mut self, tokens: u128) -> Colour {
        self.committed.tokens -= tokens;
        Colour::Green
    }
}

impl Entry<NestingContext> for Police {
    const NAME: &'static str = "police";
    const ALIASES: &'static [&'static str] = &["policer"];
    const TITLE: &'static str = "Policer";
    const TAKES_SCHEDULERS: bool = true;
    const ABOUT: &'static str = "Policer: drops what exceeds `rate` and `burst`, and delays nothing. It is put around a queue. Tokens arrive at `rate`, and the bucket holds up to `burst` of them. A packet that finds tokens for all its bytes takes them and enters the queue inside at once. Any other packet is dropped with the reason `policed`. With `red=mark` it is marked with CE instead, if it is ECN-capable. A shaper (`tbf`) delays such packets; a policer does not.\n\n\
        Three dialects have a second bucket and a third colour, yellow, between green and red; `yellow` says what happens to such packets. `rfc2697` has one rate and two bursts: the second bucket, of `excess_burst`, gets the tokens that the first cannot hold. `rfc2698` has a second bucket for `peakrate`, and every packet that passes takes tokens from it, green ones too. In `rfc4115` the second bucket, at `excess_rate`, serves only packets that the first one refuses, so excess traffic takes nothing from committed traffic.\n\n\
        Expect at most `rate` times T plus `burst` bytes of green packets in any time T. Expect heavy losses of a sender that fills a pipe by its measured rate, once the bucket is empty: the policer gives no delay as a warning. Loss-based TCP gets less than `rate` if `burst` is below its bandwidth-delay product. `police rate=10Mbps burst=100kB` polices a whole link. `drr each=(police rate=2Mbps)` polices each flow. For colours in the codepoint see `tsw`.";
    type Params = PoliceParams;

    fn build(params: PoliceParams, cx: &NestingContext) -> Result<Self, SpecError> {
        if params.dialect == Dialect::Rfc2698 && params.peakrate < params.rate {
            return Err(contradiction(
                Police::NAME,
                format!(
                    "peakrate={} is below rate={}; raise it (RFC 2698 section 2)",
                    params.peakrate, params.rate
                ),
            ));
        }
        Ok(Police {
            meter: Meter::new(&params),
            red: params.red,
            yellow: params.yellow,
            child: cx.inner(&params.each).child(cx)?.asked(),
        })
    }

    fn inside(params: &PoliceParams) -> Vec<&Spec> {
        vec![&params.each]
    }
}

impl Scheduler for Police {
    fn enqueue(&mut self, packet: Held, cx: &mut SchedulerCx) {
        let passes = match (
            self.meter.colour_of(packet.size, cx.now),
            self.yellow,
            self.red,
        ) {
            (Colour::Green, ..) | (Colour::Yellow, Yellow::Pass, _) => true,
            (Colour::Yellow, Yellow::Mark, _) | (Colour::Red, _, Red::Mark) => {
                cx.mark(&packet, MarkReason::Policed)
            }
            (Colour::Yellow, Yellow::Drop, _) | (Colour::Red, _, Red::Drop) => false,
        };
        match passes {
            true => {
                self.child.enqueue(packet, cx);
            }
            false => cx.drop(packet, DropReason::Policed),
        }
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
        self.meter.fill(cx.now);
        self.child.catch_up(cx);
    }

    fn backlog(&self) -> (u64, u64) {
        (self.child.packets(), self.child.bytes())
    }

    fn queues(&self, show: &mut dyn FnMut(QueueState<'_>)) {
        show(QueueState::of(0, &self.child, None));
    }

    fn state_names(&self) -> &'static [&'static str] {
        &["tokens_bytes", "second_tokens_bytes"]
    }

    fn state(&self, out: &mut Vec<f64>) {
        out.extend([self.meter.committed.bytes(), self.meter.second.bytes()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::built_scheduler;
    use proptest::prelude::*;
    use sojourn_sim::Stream;
    use sojourn_units::Span;

    type Bench = crate::testing::Bench<Police>;

    /// ECT(0).
    const CAPABLE: u8 = 2;

    impl Bench {
        /// Packets of these sizes arrive at once: which of them are sent (G), sent with CE (C) and dropped (-).
        fn fates(&mut self, tos: u8, sizes: &[u32]) -> String {
            let fate = |bench: &mut Bench, size: u32| {
                bench.offer_with(0, size, |packet| packet.tos = tos);
                match bench.take() {
                    Some(packet) if packet.tos & 3 == 3 => 'C',
                    Some(_) => 'G',
                    None => '-',
                }
            };
            sizes.iter().map(|size| fate(self, *size)).collect()
        }

        fn colours(&mut self, sizes: &[u32]) -> Vec<Colour> {
            let now = self.now;
            let meter = &mut self.queue.meter;
            sizes
                .iter()
                .map(|size| meter.colour_of(*size, now))
                .collect()
        }

        fn later(&mut self, ms: u64) {
            self.now += Span::from_ms(ms);
        }
    }

    use Colour::{Green as G, Red as R, Yellow as Y};

    #[test]
    fn a_burst_passes_at_once_and_then_the_rate() {
        // A packet of 1000 bytes takes the tokens of 8 ms.
        let mut bench = Bench::new("rate=1Mbps burst=3000B");
        assert_eq!(bench.fates(0, &[1000; 5]), "GGG--");
        assert_eq!(bench.dropped(), [(3, "policed"), (4, "policed")]);
        bench.later(8);
        assert_eq!(bench.fates(0, &[1000; 2]), "G-");
        bench.later(1000);
        assert_eq!(bench.fates(0, &[1000; 4]), "GGG-");
    }

    #[test]
    fn tokens_are_counted_to_the_picosecond() {
        let mut bench = Bench::new("rate=9bps burst=2B");
        assert_eq!(bench.fates(0, &[2]), "G");
        // 8 bits at 9 bps are 8/9 s.
        bench.now = Time::from_ps(888_888_888_888);
        assert_eq!(bench.fates(0, &[1]), "-");
        bench.now = Time::from_ps(888_888_888_889);
        assert_eq!(bench.fates(0, &[1]), "G");
        assert_eq!(bench.queue.meter.committed.tokens, 1);
    }

    #[test]
    fn a_dropped_packet_takes_no_tokens() {
        let mut bench = Bench::new("rate=1Mbps burst=1500B");
        assert_eq!(bench.fates(0, &[1000, 1000, 500]), "G-G");
    }

    #[test]
    fn exceeding_packets_are_marked_if_they_are_capable_and_dropped_if_not() {
        let mut bench = Bench::new("rate=1Mbps burst=1000B red=mark");
        assert_eq!(bench.fates(CAPABLE, &[1000; 3]), "GCC");
        assert_eq!(bench.fates(0, &[1000; 2]), "--");
        assert!(
            bench
                .marks
                .iter()
                .all(|(_, reason)| *reason == MarkReason::Policed)
        );
        assert_eq!((bench.marks.len(), bench.drops.len()), (2, 2));
    }

    #[test]
    fn the_excess_bucket_of_rfc_2697_gets_what_the_first_cannot_hold() {
        let mut bench = Bench::new("dialect=rfc2697 rate=1Mbps burst=2000B excess_burst=1000B");
        assert_eq!(bench.colours(&[1500, 1200, 600]), [G, R, Y]);
        // 500 and 400 bytes are left. 12 ms are 1500 bytes: they fill the first bucket, and nothing is over.
        bench.later(12);
        assert_eq!(bench.colours(&[2000, 400, 1]), [G, Y, R]);
        // 20 ms are 2500 bytes: 2000 and 500.
        bench.later(20);
        assert_eq!(bench.colours(&[2000, 500, 1]), [G, Y, R]);
    }

    #[test]
    fn a_green_packet_of_rfc_2698_takes_from_both_buckets_and_a_yellow_one_from_the_peak() {
        let mut bench =
            Bench::new("dialect=rfc2698 rate=8kbps burst=1500B peakrate=16kbps peak_burst=3000B");
        assert_eq!(bench.colours(&[1200, 1000, 900, 300]), [G, Y, R, G]);
        // 500 and 0 bytes are left. A second brings 2000 and 1000.
        bench.later(1000);
        assert_eq!(bench.colours(&[1001, 1000, 500, 499, 1]), [Y, G, R, Y, R]);
    }

    #[test]
    fn excess_traffic_of_rfc_4115_takes_nothing_from_committed_traffic() {
        let mut bench = Bench::new(
            "dialect=rfc4115 rate=8kbps burst=1500B excess_rate=16kbps excess_burst=3000B",
        );
        assert_eq!(
            bench.colours(&[1200, 1000, 900, 300, 1100, 1]),
            [G, Y, Y, G, Y, R]
        );
        bench.later(1000);
        assert_eq!(bench.colours(&[1000, 2000, 1]), [G, Y, R]);
    }

    #[test]
    fn yellow_and_red_packets_have_their_own_fates() {
        let two = "dialect=rfc2697 burst=1000B excess_burst=1000B";
        for (fates, expected) in [
            ("", "GG-"),
            ("yellow=mark", "GC-"),
            ("yellow=drop", "G--"),
            ("yellow=mark red=mark", "GCC"),
        ] {
            let mut bench = Bench::new(&format!("{two} {fates}"));
            assert_eq!(bench.fates(CAPABLE, &[1000; 3]), expected, "{fates}");
        }
    }

    #[test]
    fn the_state_is_as_of_now() {
        let mut bench = Bench::new(
            "dialect=rfc4115 rate=1Mbps burst=3000B excess_rate=4Mbps excess_burst=2000B",
        );
        bench.colours(&[2000, 2000]);
        let mut at = |us: u64| {
            bench.now = Time::ZERO + Span::from_us(us);
            bench.call(|queue, cx| queue.catch_up(cx));
            bench.state()
        };
        assert_eq!(at(0), [1000.0, 0.0]);
        assert_eq!(at(1000), [1125.0, 500.0]);
        assert_eq!(at(100_000), [3000.0, 2000.0]);
    }

    #[test]
    fn a_peak_rate_below_the_rate_is_refused() {
        let error = built_scheduler::<Police>("dialect=rfc2698 rate=3Mbps peakrate=2Mbps");
        assert_eq!(
            error.err().expect("refused").to_string(),
            "police: peakrate=2Mbps is below rate=3Mbps; raise it (RFC 2698 section 2)"
        );
    }

    /// The most tokens, in bits times 10^12, by which any run of packets exceeds what `rate` gives from its first to its last.
    #[derive(Default)]
    struct Excess {
        level: u128,
        last: Time,
        worst: u128,
    }

    impl Excess {
        fn count(&mut self, size: u32, now: Time, rate: u64) {
            let drained = u128::from(now.since(self.last).as_ps()) * u128::from(rate);
            self.level = self.level.saturating_sub(drained) + u128::from(size) * BYTE;
            self.last = now;
            self.worst = self.worst.max(self.level);
        }
    }

    proptest! {
        /// In any time T at most CIR T + CBS bytes are green. Green and yellow together: CIR T + CBS + EBS (RFC 2697), PIR T + PBS
        /// (RFC 2698), (CIR + EIR) T + CBS + EBS (RFC 4115).
        #[test]
        fn what_passes_in_any_window_is_at_most_rates_and_bursts(
            seed in any::<u64>(),
            dialect in 0_usize..4,
            kbps in 100_u64..20_000,
            more in 0_u64..20_000,
            bursts in (1500_u64..20_000, 0_u64..20_000),
        ) {
            let (cir, second) = (kbps * 1000, (kbps + more) * 1000);
            let (burst, other) = (bursts.0, bursts.1.max(1));
            let cases = [
                (String::new(), cir, burst),
                (format!("dialect=rfc2697 excess_burst={other}B"), cir, burst + other),
                (
                    format!("dialect=rfc2698 peakrate={second}bps peak_burst={other}B"),
                    second,
                    other,
                ),
                (
                    format!("dialect=rfc4115 excess_rate={second}bps excess_burst={other}B"),
                    cir + second,
                    burst + other,
                ),
            ];
            let (text, rate, depth) = &cases[dialect];
            let mut bench = Bench::new(&format!("{text} rate={kbps}kbps burst={burst}B"));
            let mut rng = Stream::derive(seed, 0, "arrivals");
            let (mut green, mut both) = (Excess::default(), Excess::default());
            for _ in 0..500 {
                bench.now += Span::from_us(rng.below(3000));
                let size = 40 + u32::try_from(rng.below(1461)).expect("small");
                let colour = bench.colours(&[size])[0];
                if colour == G {
                    green.count(size, bench.now, cir);
                }
                if colour != R {
                    both.count(size, bench.now, *rate);
                }
            }
            prop_assert!(green.worst <= u128::from(burst) * BYTE);
            prop_assert!(both.worst <= u128::from(*depth) * BYTE);
        }

        /// The meter is not stricter than its profile: what conforms to rate and burst is green, whatever its pattern.
        #[test]
        fn arrivals_that_conform_lose_nothing(
            seed in any::<u64>(),
            dialect in 0_usize..4,
            kbps in 100_u64..20_000,
            burst in 1500_u64..20_000,
        ) {
            let text = ["rfc2215", "rfc2697", "rfc2698", "rfc4115"][dialect];
            let peak = match text {
                "rfc2698" => format!("peakrate={kbps}kbps peak_burst={burst}B"),
                _ => String::new(),
            };
            let mut bench = Bench::new(&format!(
                "dialect={text} rate={kbps}kbps burst={burst}B {peak}"
            ));
            let mut rng = Stream::derive(seed, 0, "arrivals");
            let rate = u128::from(kbps) * 1000;
            // A bucket by the definition: when it is full, in place of what is in it.
            let mut full = Time::ZERO;
            for _ in 0..500 {
                let size = 40 + u32::try_from(rng.below(1461)).expect("small");
                let cost = (u128::from(size) * BYTE).div_ceil(rate);
                let cost = Span::from_ps(u64::try_from(cost).expect("short"));
                let depth = u64::try_from(u128::from(burst) * BYTE / rate).expect("short");
                let earliest = (full + cost).as_ps().saturating_sub(depth);
                bench.now = bench.now.max(Time::from_ps(earliest)) + Span::from_us(rng.below(2) * rng.below(2000));
                prop_assert_eq!(bench.colours(&[size]), [G]);
                full = full.max(bench.now) + cost;
            }
        }

        /// How often tokens are counted changes nothing.
        #[test]
        fn readings_between_packets_leave_the_colours(
            seed in any::<u64>(),
            dialect in 0_usize..4,
            bps in 8_u64..5_000_000,
        ) {
            let text = ["rfc2215", "rfc2697", "rfc2698", "rfc4115"][dialect];
            let peak = if text == "rfc2698" { "peakrate=9Mbps" } else { "" };
            let text = format!("dialect={text} rate={bps}bps burst=3000B {peak}");
            let (mut read, mut unread) = (Bench::new(&text), Bench::new(&text));
            let mut rng = Stream::derive(seed, 0, "arrivals");
            for _ in 0..300 {
                for _ in 0..rng.below(4) {
                    read.now += Span::from_ps(rng.below(3_000_000_000));
                    read.call(|queue, cx| queue.catch_up(cx));
                }
                unread.now = read.now;
                let size = 40 + u32::try_from(rng.below(1461)).expect("small");
                prop_assert_eq!(read.colours(&[size]), unread.colours(&[size]));
                prop_assert_eq!(read.queue.meter.committed.tokens, unread.queue.meter.committed.tokens);
                prop_assert_eq!(read.queue.meter.second.tokens, unread.queue.meter.second.tokens);
            }
        }

        /// RFC 2697 without an excess burst and RFC 4115 without an excess burst are RFC 2215; so is RFC 2698 with one profile twice.
        #[test]
        fn degenerate_dialects_have_the_colours_of_one_bucket(seed in any::<u64>(), kbps in 10_u64..5000) {
            let own = format!("rate={kbps}kbps burst=4000B");
            let mut one = Bench::new(&own);
            let mut same = [
                format!("dialect=rfc2697 excess_burst=0B {own}"),
                format!("dialect=rfc4115 excess_burst=0B {own}"),
                format!("dialect=rfc2698 peakrate={kbps}kbps peak_burst=4000B {own}"),
            ]
            .map(|text| Bench::new(&text));
            let mut rng = Stream::derive(seed, 0, "arrivals");
            for _ in 0..300 {
                one.now += Span::from_us(rng.below(4000));
                let size = 40 + u32::try_from(rng.below(1461)).expect("small");
                let expected = one.colours(&[size]);
                for bench in &mut same {
                    bench.now = one.now;
                    prop_assert_eq!(&bench.colours(&[size]), &expected);
                }
            }
        }
    }
}
