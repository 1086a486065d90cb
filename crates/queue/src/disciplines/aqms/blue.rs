//! BLUE: marks with a probability that losses raise and idleness lowers.
//!
//! Sources: Feng, Kandlur, Saha and Shin, "BLUE: A New Class of Active Queue Management Algorithms" (UM CSE-TR-387-99, 1999;
//! "The BLUE active queue management algorithms", IEEE/ACM ToN 10(4), 2002), figure of the algorithm and table of settings (dialect
//! paper; both taken from restatements, the papers themselves were not available, and so is the buffer); Thulasidasan's
//! port to ns-2, blue.cc and its example script, 2001-2002 (dialect ns2), read in a public copy of ns-2.35 that carries
//! it; stock ns-2.35 has no BLUE.
//!
//! One uniform draw per arrival: below the probability, the packet is dropped (or marked). A packet that finds no room
//! raises the probability by `increment`. An idle link lowers it by `decrement`. Each happens at most once per hold
//! time.
//!
//! | | paper | ns2 |
//! |---|---|---|
//! | time of the last change | one, for both directions | one for each direction |
//! | chosen when | draw < p | draw <= p |
//! | packets that may wait | `limit` | `limit` - 1: the packet that makes `limit` is taken out again |
//! | increase | p + `increment` | with `growth=double` 2 p + 2 `increment`: a case of the source falls through |
//! | `threshold` | an arrival after which more wait also raises p | none |
//!
//! Left open by the paper: a link becomes idle when it looks for a packet and finds none. This happens after the last
//! packet of a queue, and when a packet that arrives at an idle link is dropped (as in ns-2; otherwise a probability of
//! 1 would never fall). A queue inside a scheduler other than prio, tbf and tsw is idle since its last packet left. The times of the last change
//! start at 0. ns-2's `dalgorithm`, and `ialgorithm` 1, have no effect in the published code, which calls them with one
//! argument only; it reads `bytes`, `pktsize` and `drop_front_` but does not use them.

use crate::aqm::{Aqm, Cx, Interest, Meta, Verdict, View};
use crate::entry::{BuildContext, Entry, SpecError};
use sojourn_sim::{DropReason, MarkReason};
use sojourn_units::{Bytes, Limit, Packets, Span, Time, choice, params};

choice! {
    /// How the probability grows.
    pub enum Growth {
        /// By `increment`.
        Add = "add",
        /// To twice its value plus twice `increment`; dialect ns2.
        Double = "double",
    }
}

params! {
    /// Drops with a probability that a full queue raises and an idle link lowers.
    pub struct BlueParams {
        /// Maximum queue length. An arrival beyond it is dropped and raises the probability.
        limit: Limit = "100kB", range "1p".., source "Feng et al. 2002: the smallest buffer of the simulations (recalled)";
        /// Queue length above which the probability also grows, to leave room for bursts; dialect paper.
        threshold: Option<Limit> = "none", range "0p".., source "Feng et al. 2002: optional";
        /// Step by which the probability grows.
        increment: f64 = "0.02", range "0".."1", source "Feng et al. 2002: d1 0.0025 or 0.02 (recalled)";
        /// Step by which the probability shrinks.
        decrement: f64 = "0.002", range "0".."1", source "Feng et al. 2002: d2 a tenth of d1 (recalled)";
        /// The probability increases only if its last change was longer ago than this.
        hold_up: Span = "100ms", range "0s".."1000s", source "Feng et al. 2002: freeze_time 10 ms or 100 ms (recalled)";
        /// The probability decreases only if its last change was longer ago than this.
        hold_down: Span = "100ms", range "0s".."1000s", source "Feng et al. 2002: freeze_time 10 ms or 100 ms (recalled)";
        /// How the probability grows.
        growth: Growth = "add", source "Feng et al. 2002";
        /// Mark ECN-capable packets instead of dropping them.
        ecn: bool = "false", source "Feng et al. 2002: marks or drops";
    }
    dialects Dialect {
        /// Feng, Kandlur, Saha and Shin 2002.
        paper as Paper = "blue-2002" {}
        /// The port to ns-2.
        ns2 as Ns2 = "ns2-blue-2002" {
            limit = "50p" from "the port's example script: queue-limit 50, ns-2's default";
            increment = "0.0025" from "the port's example script";
            decrement = "0.00025" from "the port's example script";
        }
    }
}

/// The discipline.
pub struct Blue {
    params: BlueParams,
    ns2: bool,
    /// Probability that a packet is dropped or marked, 0 to 1.
    probability: f64,
    /// When the probability was raised last; in dialect paper any change counts.
    raised: Time,
    /// When it was lowered last; in dialect paper any change counts.
    lowered: Time,
    /// The link found the queue empty since the last packet was admitted.
    idle: bool,
}

impl Entry for Blue {
    const NAME: &'static str = "blue";
    const TITLE: &'static str = "BLUE";
    const ABOUT: &'static str = "BLUE drops (or marks) arriving packets with one probability. A packet that finds the queue full raises the probability, and an idle link lowers it, each at most once per hold time. The queue length has no effect unless you set `threshold`.\n\n\
        Expect the probability to approach the excess share of the load and to stay near it. Under a slowly changing load, the queue rarely becomes full or empty. BLUE is slow by design: with steps of 0.02 per 100 ms, it takes two and a half seconds to meet a load of twice the rate.";
    type Params = BlueParams;

    fn time_constant(params: &BlueParams, _: Span) -> Option<crate::entry::TimeConstant> {
        Some(crate::entry::TimeConstant::new("hold_up", params.hold_up))
    }

    fn build(params: BlueParams, _: &BuildContext) -> Result<Self, SpecError> {
        let ns2 = params.dialect == Dialect::Ns2;
        check(&params, ns2)?;
        Ok(Blue {
            params,
            ns2,
            probability: 0.0,
            raised: Time::ZERO,
            lowered: Time::ZERO,
            idle: true,
        })
    }
}

impl Aqm for Blue {
    fn interest(&self) -> Interest {
        Interest {
            empty: true,
            ..Interest::in_arrivals_from(0)
        }
    }

    #[inline(always)]
    fn on_enqueue(&mut self, meta: &Meta, view: &View<'_>, cx: &mut Cx<'_>) -> Verdict {
        if !self.idle
            && let Some(since) = view.idle_unasked()
        {
            self.on_empty(since);
        }
        let verdict = self.judge(meta, view, cx);
        if !matches!(verdict, Verdict::Drop(_)) {
            self.idle = false;
        } else if self.idle {
            self.lower(cx.now);
        }
        verdict
    }

    #[inline]
    fn on_empty(&mut self, now: Time) {
        self.idle = true;
        self.lower(now);
    }

    fn state_names(&self) -> &'static [&'static str] {
        &["drop_probability"]
    }

    fn state(&self, out: &mut Vec<f64>) {
        out.push(self.probability);
    }
}

impl Blue {
    #[inline(always)]
    fn judge(&mut self, meta: &Meta, view: &View<'_>, cx: &mut Cx<'_>) -> Verdict {
        let draw = cx.rng.uniform();
        let chosen = if self.ns2 {
            draw <= self.probability
        } else {
            draw < self.probability
        };
        let marked = chosen && self.params.ecn && meta.ecn().is_capable();
        if chosen && !marked {
            return Verdict::Drop(DropReason::Early);
        }
        let unused = u64::from(self.ns2);
        if !admits(self.params.limit, meta, view, unused) {
            self.raise(cx.now);
            return Verdict::Drop(DropReason::Overlimit);
        }
        if let Some(threshold) = self.params.threshold
            && !admits(threshold, meta, view, 0)
        {
            self.raise(cx.now);
        }
        if marked {
            Verdict::Mark(MarkReason::Early)
        } else {
            Verdict::Pass
        }
    }

    #[cold]
    fn raise(&mut self, now: Time) {
        if now.since(self.raised) <= self.params.hold_up {
            return;
        }
        self.raised = now;
        if !self.ns2 {
            self.lowered = now;
        }
        let step = self.params.increment;
        let from = match self.params.growth {
            Growth::Add => self.probability,
            Growth::Double => 2.0 * self.probability + step,
        };
        self.probability = (from + step).min(1.0);
    }

    #[inline]
    fn lower(&mut self, now: Time) {
        if now.since(self.lowered) <= self.params.hold_down {
            return;
        }
        self.lowered = now;
        if !self.ns2 {
            self.raised = now;
        }
        self.probability = (self.probability - self.params.decrement).max(0.0);
    }
}

/// Whether the queue may stand at `limit`, less `unused` packets, with the arriving packet.
#[inline]
fn admits(limit: Limit, meta: &Meta, view: &View<'_>, unused: u64) -> bool {
    let packets = Packets::new(view.packets + 1 + unused);
    let bytes = Bytes::new(view.bytes + u64::from(meta.size));
    limit.admits(packets, bytes)
}

fn check(params: &BlueParams, ns2: bool) -> Result<(), SpecError> {
    let text = if ns2 && matches!(params.limit, Limit::Bytes(_)) {
        "limit is in bytes, but dialect ns2 counts packets; write packets, or choose another dialect"
    } else if ns2 && params.threshold.is_some() {
        "dialect ns2 has no threshold; leave it out or choose another dialect"
    } else if !ns2 && params.growth != Growth::Add {
        "dialect paper has no growth=double; leave it out or choose another dialect"
    } else {
        return Ok(());
    };
    Err(SpecError::Contradiction {
        discipline: Blue::NAME.to_owned(),
        text: text.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::Waiting;
    use crate::testing::{built, stored};
    use sojourn_sim::Stream;
    use sojourn_units::Rate;

    const FULL: Verdict = Verdict::Drop(DropReason::Overlimit);
    const EARLY: Verdict = Verdict::Drop(DropReason::Early);

    struct Bench {
        blue: Blue,
        rng: Stream,
    }

    impl Bench {
        fn new(spec: &str) -> Bench {
            Bench {
                blue: built(spec).unwrap_or_else(|error| panic!("{spec}: {error}")),
                rng: Stream::derive(1, 0, "blue"),
            }
        }

        fn offer_to(&mut self, view: View<'_>, now: Time, tos: u8) -> Verdict {
            let meta = Meta {
                size: 1000,
                flow: 0,
                tos,
            };
            let rng = &mut self.rng;
            self.blue.on_enqueue(&meta, &view, &mut Cx { now, rng })
        }

        fn offer(&mut self, ms: u64, packets: u64, tos: u8) -> Verdict {
            self.offer_to(view(packets, Waiting::Nothing), at(ms), tos)
        }

        /// A link of 1000 packets a second under `arrivals` a second; returns the share of the random drops in
        /// the second half.
        fn run(&mut self, arrivals: u64, seconds: u64) -> f64 {
            let (mut waiting, mut served) = (0_u64, 0);
            let (mut early, mut late) = (0_u32, 0_u32);
            for n in 0..arrivals * seconds {
                let now = Time::ZERO + Span::from_us(n * 1_000_000 / arrivals);
                while served < now.as_ps() / 1_000_000_000 {
                    served += 1;
                    if waiting > 0 {
                        waiting -= 1;
                    } else {
                        self.blue.on_empty(at(served));
                    }
                }
                let verdict = self.offer_to(view(waiting, Waiting::Nothing), now, 0);
                if verdict == Verdict::Pass {
                    waiting += 1;
                }
                if n > arrivals * seconds / 2 {
                    late += 1;
                    early += u32::from(verdict == EARLY);
                }
            }
            f64::from(early) / f64::from(late)
        }
    }

    fn view(packets: u64, waiting: Waiting<'_>) -> View<'_> {
        View {
            packets,
            bytes: 1000 * packets,
            rate: Rate::mbps(8),
            last_departure: at(5000),
            asked: false,
            waiting,
        }
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    #[test]
    fn the_probability_converges_to_the_drop_rate_that_the_load_needs() {
        for dialect in ["paper", "ns2"] {
            for (arrivals, needed) in [(1250, 0.2), (2000, 0.5), (4000, 0.75)] {
                let mut bench = Bench::new(&format!(
                    "dialect={dialect} limit=100p increment=0.005 decrement=0.0005"
                ));
                let early = bench.run(arrivals, 120);
                assert!((early - needed).abs() < 0.02, "{dialect}: {early} {needed}");
                let p = bench.blue.probability;
                assert!((p - needed).abs() < 0.05, "{dialect}: {p} {needed}");
            }
        }
    }

    #[test]
    fn a_load_that_fits_is_not_dropped() {
        let mut bench = Bench::new("");
        assert_eq!(bench.run(900, 20).to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn changes_are_more_than_a_hold_time_apart_in_both_directions_together() {
        let mut bench = Bench::new("limit=5p");
        assert_eq!(bench.offer(100, 5, 0), FULL);
        assert_eq!(bench.blue.probability.to_bits(), 0.0_f64.to_bits());
        assert_eq!(bench.offer(101, 5, 0), FULL);
        let raised = bench.blue.probability;
        assert!((raised - 0.02).abs() < 1e-12);
        bench.blue.on_empty(at(201));
        assert_eq!(bench.blue.probability.to_bits(), raised.to_bits());
        bench.blue.on_empty(at(202));
        assert!((bench.blue.probability - 0.018).abs() < 1e-12);
    }

    #[test]
    fn ns2_holds_each_direction_by_itself() {
        let mut bench = Bench::new("dialect=ns2 limit=5p increment=0.02 decrement=0.01");
        assert_eq!(bench.offer(101, 4, 0), FULL);
        bench.blue.on_empty(at(102));
        assert!((bench.blue.probability - 0.01).abs() < 1e-12);
    }

    #[test]
    fn ns2_holds_one_packet_less_than_its_limit() {
        for (dialect, waiting, verdict) in [
            ("paper", 4, Verdict::Pass),
            ("paper", 5, FULL),
            ("ns2", 3, Verdict::Pass),
            ("ns2", 4, FULL),
        ] {
            let mut bench = Bench::new(&format!("dialect={dialect} limit=5p"));
            assert_eq!(bench.offer(1, waiting, 0), verdict, "{dialect}");
        }
    }

    #[test]
    fn ns2_doubles_and_adds_twice() {
        let mut bench = Bench::new("dialect=ns2 limit=5p growth=double increment=0.1 decrement=0");
        bench.offer(101, 4, 0);
        assert!((bench.blue.probability - 0.2).abs() < 1e-12);
        bench.blue.raise(at(300));
        assert!((bench.blue.probability - 0.6).abs() < 1e-12);
        bench.blue.raise(at(500));
        assert_eq!(bench.blue.probability.to_bits(), 1.0_f64.to_bits());
    }

    #[test]
    fn a_queue_above_the_threshold_raises_the_probability_and_loses_nothing() {
        let mut bench = Bench::new("threshold=10p");
        assert_eq!(bench.offer(200, 9, 0), Verdict::Pass);
        assert_eq!(bench.blue.probability.to_bits(), 0.0_f64.to_bits());
        assert_eq!(bench.offer(201, 10, 0), Verdict::Pass);
        assert!((bench.blue.probability - 0.02).abs() < 1e-12);
    }

    #[test]
    fn drops_at_an_idle_link_lower_the_probability() {
        let mut bench = Bench::new("");
        bench.blue.probability = 1.0;
        bench.blue.on_empty(at(1000));
        let sent = (1001..).find(|ms| bench.offer(*ms, 0, 0) == Verdict::Pass);
        // One step of 0.002 in 101 ms: 20 steps leave 0.96.
        assert!(sent.is_some_and(|ms| ms < 4000), "{sent:?}");
    }

    #[test]
    fn inside_a_scheduler_a_queue_is_idle_since_its_last_packet_left() {
        let (store, queue) = stored([]);
        let mut bench = Bench::new("");
        bench.blue.probability = 0.5;
        bench.blue.idle = false;
        bench.offer_to(view(0, Waiting::Queue(&store, &queue)), at(6000), 0);
        assert_eq!(bench.blue.lowered, at(5000));
        assert!((bench.blue.probability - 0.498).abs() < 1e-12);
    }

    #[test]
    fn capable_packets_are_marked_and_not_dropped() {
        let mut bench = Bench::new("ecn=true");
        bench.blue.probability = 0.5;
        let verdicts: Vec<_> = (0..100).map(|ms| bench.offer(ms, 1, 2)).collect();
        assert!(verdicts.contains(&Verdict::Mark(MarkReason::Early)));
        assert!(!verdicts.contains(&EARLY));
        assert!((0..100).any(|ms| bench.offer(ms, 1, 0) == EARLY));
    }

    #[test]
    fn what_a_dialect_lacks_is_refused() {
        for spec in [
            "dialect=ns2 limit=10kB",
            "dialect=ns2 threshold=10p",
            "growth=double",
        ] {
            assert!(
                matches!(built::<Blue>(spec), Err(SpecError::Contradiction { .. })),
                "{spec}"
            );
        }
    }
}
