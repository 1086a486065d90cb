//! PI2: the linear proportional integral controller with a squared output, one queue for Classic and Scalable traffic.
//!
//! Sources: De Schepper, Bondarenko, Tsang and Briscoe, "PI2: A Linearized AQM for both Classic and Scalable TCP" (CoNEXT 2016) (dialect
//! paper, the default); RFC 9332 (2023), appendix A, figures 2 and 6, for the gains and the target of its Classic part (dialect
//! rfc9332), compared with the text. The paper is recalled, not verified in its text. Its gains, target and k agree with the authors'
//! first implementation for Linux, which keeps 2 p' with gains of 10/16 and 100/16 and updates it every 30 ms; the structure agrees
//! with RFC 9332 and with their sch_dualpi2.c.
//!
//! Every `tupdate` the base probability p' moves by alpha (delay - target) + beta (change of the delay); the delay is how long the head
//! of the queue has waited. A Classic packet is dropped or marked with the probability p'^2: where both of two draws are below p'. With
//! `ecn` a Scalable packet (ECT(1) or CE) is marked with the probability k p'. Decisions are taken on arrival.
//!
//! Draws: one a packet that fits; a second for a Classic packet where the first is below p', where RFC 9332 sums p'^2 without
//! draws. Left open: RFC 9332's dropping of
//! capable packets under overload belongs to [`crate::disciplines::schedulers::dualpi2`]; here only `limit` drops them. Without `ecn` every
//! packet is Classic.

use crate::aqm::{Aqm, Cx, Interest, Meta, Verdict, View};
use crate::entry::{BuildContext, Entry, SpecError};
use sojourn_sim::{DropReason, Ecn, MarkReason};
use sojourn_units::{Bytes, Limit, Packets, Span, Time, params};

params! {
    /// PI2: drops with the square of a probability that a linear controller sets by the delay of the queue, and marks Scalable traffic linearly.
    pub struct Pi2Params {
        /// Target delay of the queue.
        target: Span = "20ms", range "1us".."10s", source "De Schepper et al. 2016";
        /// Time between updates of the probability.
        tupdate: Span = "32ms", range "1us".."10s", source "De Schepper et al. 2016: T 32 ms";
        /// Maximum queue length. Arrivals beyond it are dropped.
        limit: Limit = "1000p", range "1p".., source "the paper gives 40,000 packets; sch_pie.c 1000";
        /// Weight of the deviation from the target, per second.
        alpha: f64 = "0.3125", range "0".."1000", source "De Schepper et al. 2016: 5/16, 2.5 times PIE's";
        /// Weight of the change of the delay, per second.
        beta: f64 = "3.125", range "0".."1000", source "De Schepper et al. 2016: 50/16";
        /// Coupling factor: Scalable traffic is marked with this times the base probability.
        coupling: f64 = "2", range "0".."100", source "De Schepper et al. 2016: k 2";
        /// Mark ECN-capable packets instead of dropping them, and mark Scalable packets linearly.
        ecn: bool = "true", source "De Schepper et al. 2016: Scalable traffic needs it";
    }
    dialects Dialect {
        /// De Schepper, Bondarenko, Tsang and Briscoe 2016.
        paper as Paper = "pi2-2016" {}
        /// The controller of RFC 9332, appendix A.
        rfc9332 as Rfc9332 = "rfc9332" {
            target = "15ms" from "RFC 9332, appendix A: target";
            tupdate = "15ms" from "RFC 9332, appendix A: min(target, RTT_max / 3)";
            alpha = "0.15" from "RFC 9332, appendix A: 0.1 Tupdate / RTT_max^2, RTT_max 100 ms";
            beta = "3" from "RFC 9332, appendix A: 0.3 / RTT_max";
        }
    }
}

/// The discipline.
pub struct Pi2 {
    params: Pi2Params,
    /// p', 0 to 1.
    base: f64,
    /// Queue delay at the last update, in seconds.
    delay: f64,
    /// When the next update is due.
    next: Time,
}

impl Entry for Pi2 {
    const NAME: &'static str = "pi2";
    const TITLE: &'static str = "PI2";
    const ABOUT: &'static str = "A proportional integral controller sets a base probability from the queue delay, with constant gains. Classic packets are dropped or marked with its square; Scalable packets (ECT(1)) are marked with twice the base probability. The square makes the control loop linear, so PI2 does not need PIE's table of gains and its other corrections. The two kinds of traffic share the link about equally.\n\n\
        Expect a delay of about `target` for all traffic: in a single queue, Scalable traffic does not get the short delay of `dualpi2`. PI2 settles faster than PIE, because it has no burst allowance and does not start with tiny steps.";
    type Params = Pi2Params;

    fn time_constant(params: &Pi2Params, _: Span) -> Option<crate::entry::TimeConstant> {
        // The square of 0.1 is a probability of 1 %.
        crate::entry::TimeConstant::of_integral(0.1, params.alpha, params.target, params.tupdate)
    }

    fn build(params: Pi2Params, _: &BuildContext) -> Result<Self, SpecError> {
        Ok(Pi2 {
            base: 0.0,
            delay: 0.0,
            next: Time::ZERO + params.tupdate,
            params,
        })
    }
}

impl Aqm for Pi2 {
    fn interest(&self) -> Interest {
        Interest {
            ticks: true,
            ..Interest::in_arrivals_from(0)
        }
    }

    #[inline(always)]
    fn on_enqueue(&mut self, meta: &Meta, view: &View<'_>, cx: &mut Cx<'_>) -> Verdict {
        let packets = Packets::new(view.packets + 1);
        let bytes = Bytes::new(view.bytes + u64::from(meta.size));
        if !self.params.limit.admits(packets, bytes) {
            return Verdict::Drop(DropReason::Overlimit);
        }
        let scalable = self.params.ecn && matches!(meta.ecn(), Ecn::Ect1 | Ecn::Ce);
        let chosen = if scalable {
            cx.rng.uniform() < self.params.coupling * self.base
        } else {
            cx.rng.uniform() < self.base && cx.rng.uniform() < self.base
        };
        if !chosen {
            Verdict::Pass
        } else if self.params.ecn && meta.ecn().is_capable() {
            Verdict::Mark(MarkReason::Early)
        } else {
            Verdict::Drop(DropReason::Early)
        }
    }

    #[inline]
    fn next_tick(&self) -> Option<Time> {
        Some(self.next)
    }

    fn on_tick(&mut self, view: &View<'_>, cx: &mut Cx<'_>) {
        self.next = self.next.saturating_add(self.params.tupdate);
        let delay = view.waiting.head_age(cx.now).as_secs_f64();
        let target = self.params.target.as_secs_f64();
        self.base += self.params.alpha * (delay - target) + self.params.beta * (delay - self.delay);
        self.base = self.base.clamp(0.0, 1.0);
        self.delay = delay;
    }

    fn state_names(&self) -> &'static [&'static str] {
        &["base_probability", "queue_delay_s"]
    }

    fn state(&self, out: &mut Vec<f64>) {
        out.extend([self.base, self.delay]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::Waiting;
    use crate::testing::built;
    use sojourn_sim::{Packet, Ring, Stream};
    use sojourn_units::Rate;

    struct Bench {
        pi2: Pi2,
        rng: Stream,
    }

    impl Bench {
        fn new(spec: &str) -> Bench {
            Bench {
                pi2: built(spec).expect("a PI2"),
                rng: Stream::derive(1, 0, "pi2"),
            }
        }

        /// An update that finds a head which has waited so long.
        fn update(&mut self, age: Span) -> f64 {
            let now = self.pi2.next;
            let mut ring = Ring::new();
            if !age.is_zero() {
                let mut packet = Packet::test(1000, 0, 0);
                packet.stamp(now - age);
                ring.push(packet);
            }
            let view = view(Waiting::Ring(&ring));
            let rng = &mut self.rng;
            self.pi2.on_tick(&view, &mut Cx { now, rng });
            let _ = ring.withdraw();
            self.pi2.base
        }

        /// The part of the packets that meets with `verdict` at this base probability.
        fn rate(&mut self, base: f64, tos: u8, verdict: Verdict) -> f64 {
            self.pi2.base = base;
            let meta = Meta {
                size: 1000,
                flow: 0,
                tos,
            };
            let hits = (0..50_000).filter(|_| {
                let (now, rng) = (Time::ZERO, &mut self.rng);
                let view = view(Waiting::Nothing);
                self.pi2.on_enqueue(&meta, &view, &mut Cx { now, rng }) == verdict
            });
            f64::from(u32::try_from(hits.count()).expect("few")) / 50_000.0
        }
    }

    fn view(waiting: Waiting<'_>) -> View<'_> {
        View {
            packets: 1,
            bytes: 1000,
            rate: Rate::mbps(8),
            last_departure: Time::ZERO,
            asked: false,
            waiting,
        }
    }

    const MARK: Verdict = Verdict::Mark(MarkReason::Early);
    const DROP: Verdict = Verdict::Drop(DropReason::Early);

    #[test]
    fn the_base_probability_follows_the_delay_of_the_head() {
        let mut bench = Bench::new("");
        let first = bench.update(Span::from_ms(30));
        assert!((first - (0.3125 * 0.01 + 3.125 * 0.03)).abs() < 1e-12);
        let second = bench.update(Span::from_ms(30));
        assert!((second - (first + 0.3125 * 0.01)).abs() < 1e-12);
        // An empty queue has no delay.
        let third = bench.update(Span::ZERO);
        assert!((third - (second - 0.3125 * 0.02 - 3.125 * 0.03)).abs() < 1e-12);
    }

    #[test]
    fn classic_packets_meet_the_square_and_scalable_ones_twice_the_base() {
        let mut bench = Bench::new("");
        assert!((bench.rate(0.4, 0, DROP) - 0.16).abs() < 0.01);
        assert!((bench.rate(0.4, 2, MARK) - 0.16).abs() < 0.01);
        assert!((bench.rate(0.4, 1, MARK) - 0.8).abs() < 0.01);
        assert!((bench.rate(0.4, 3, MARK) - 0.8).abs() < 0.01);
        assert!((bench.rate(0.6, 1, MARK) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn without_ecn_every_packet_is_classic() {
        let mut bench = Bench::new("ecn=false");
        for tos in 0..4 {
            assert!((bench.rate(0.4, tos, DROP) - 0.16).abs() < 0.01, "{tos}");
        }
    }

    #[test]
    fn the_gains_of_the_rfc_follow_from_its_longest_round_trip() {
        let (update, rtt) = (0.015, 0.1);
        let bench = Bench::new("dialect=rfc9332");
        assert!((bench.pi2.params.alpha - 0.1 * update / (rtt * rtt)).abs() < 1e-9);
        assert!((bench.pi2.params.beta - 0.3 / rtt).abs() < 1e-9);
    }
}
