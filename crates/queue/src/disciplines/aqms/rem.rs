//! REM: random exponential marking.
//!
//! Sources: Athuraliya, Li, Low and Yin, "REM: Active Queue Management" (IEEE Network, May 2001) (dialect paper, the default; the
//! equations as ns-2's authors, who are the paper's, have them, the paper itself was not available); ns-2.35
//! queue/rem.cc and ns-default.tcl (dialect ns2).
//!
//! Every `tupdate` a price rises by gamma (x - c + alpha (q - q_ref)), with x the packets that arrived in that time and c those that the
//! link can send; it is never negative. An arrival is dropped or marked with the probability 1 - phi^-price.
//!
//! Differences between dialects:
//!
//! | | paper | ns2 |
//! |---|---|---|
//! | dropped | on arrival, where the draw is below the probability | on arrival, up to it |
//! | with `ecn` | capable packets are marked on arrival, others dropped | capable packets are marked when they leave, others pass: only `limit` drops |
//! | full | beyond `limit` | at `limit`, the arriving packet counted (in bytes with `queue_in_bytes`) |
//! | weight of the new rate | 1 | `weight` |
//!
//! One draw a packet: on arrival if it fits, in ns-2 with `ecn` when it leaves. Deviation: ns-2 also draws when it finds its queue empty,
//! which only moves its generator.

use crate::aqm::{Aqm, Cx, Departures, Interest, Meta, Verdict, View, float};
use crate::entry::{BuildContext, Entry, SpecError};
use sojourn_sim::{DropReason, MarkReason};
use sojourn_units::{Bytes, Limit, Packets, Span, Time, params};

params! {
    /// Random exponential marking: drops at random on arrival, by a price that rises while demand exceeds capacity.
    pub struct RemParams {
        /// Step of the price, per packet.
        gamma: f64 = "0.001", range "0".."1", source "Athuraliya et al. 2001";
        /// Weight of the queue relative to the excess rate.
        alpha: f64 = "0.1", range "0".."10", source "Athuraliya et al. 2001; rem.cc has it in the code";
        /// Base of the exponential.
        phi: f64 = "1.001", range "1".."10", source "Athuraliya et al. 2001";
        /// Target queue length.
        qref: Packets = "20p", range "0p".., source "Athuraliya et al. 2001; ns-default.tcl: pbo_ 20";
        /// Time between updates of the price.
        tupdate: Span = "2ms", range "1us".."10s", source "ns-default.tcl: pupdtime_ 0.002";
        /// Maximum queue length. Arrivals beyond it are dropped.
        limit: Limit = "100p", range "1p".., source "the paper leaves it open";
        /// Mark ECN-capable packets instead of dropping them.
        ecn: bool = "false", source "ns-default.tcl: markpkts_ false; the paper marks";
        /// Weight of the newest arrivals in their average.
        weight: f64 = "1", range "0".."1", source "ns-default.tcl: inw_ 1";
        /// Measure queue and arrivals in bytes, converted to packets of `avpkt`, and scale a packet's probability by
        /// its size.
        queue_in_bytes: bool = "false", source "ns-default.tcl: qib_ false";
        /// Mean packet size.
        avpkt: Bytes = "1000B", range "1B".., source "ns-default.tcl: mean_pktsize_ 1000";
    }
    dialects Dialect {
        /// Athuraliya, Li, Low and Yin 2001.
        paper as Paper = "rem-2001" {}
        /// ns-2's Queue/REM.
        ns2 as Ns2 = "ns2-2.35" {
            limit = "50p" from "ns-2.35 ns-default.tcl: Queue set limit_ 50";
        }
    }
}

/// The discipline.
pub struct Rem {
    params: RemParams,
    ns2: bool,
    /// Reference length of the queue.
    qref: f64,
    /// Bytes of a usual packet.
    avpkt: f64,
    /// Packets or bytes since the last update.
    arrived: u64,
    /// Average arrivals per update, in packets.
    average: f64,
    /// Price of the link, without a unit: a packet passes with probability `phi`^-price.
    price: f64,
    /// Probability that a packet is dropped or marked, 0 to 1.
    probability: f64,
    /// When the next update is due.
    next: Time,
}

impl Entry for Rem {
    const NAME: &'static str = "rem";
    const TITLE: &'static str = "REM";
    const ABOUT: &'static str = "Random exponential marking: REM drops at random, by a price that rises while demand exceeds the rate. A price rises while arrivals exceed the link's rate or the queue exceeds `qref` packets, and falls otherwise. Arrivals are dropped or marked with a probability that approaches 1 exponentially with the price, so that the marks along a path signal the sum of its prices.\n\n\
        Expect a short queue and a full link for any number of flows, once the price has settled: the price, not the queue, represents the congestion. The published step is small: on slow links the price takes tens of seconds to settle, and until then packets are dropped at `limit`.";
    type Params = RemParams;

    fn build(params: RemParams, _: &BuildContext) -> Result<Self, SpecError> {
        Ok(Rem {
            ns2: params.dialect == Dialect::Ns2,
            qref: float(params.qref.get()),
            avpkt: float(params.avpkt.get()),
            arrived: 0,
            average: 0.0,
            price: 0.0,
            probability: 0.0,
            next: Time::ZERO + params.tupdate,
            params,
        })
    }
}

impl Aqm for Rem {
    fn interest(&self) -> Interest {
        Interest {
            departures: Departures::judged_if(self.ns2 && self.params.ecn),
            ticks: true,
            ..Interest::in_arrivals_from(0)
        }
    }

    #[inline(always)]
    fn on_enqueue(&mut self, meta: &Meta, view: &View<'_>, cx: &mut Cx<'_>) -> Verdict {
        self.arrived += if self.params.queue_in_bytes {
            u64::from(meta.size)
        } else {
            1
        };
        if self.is_full(meta, view) {
            return Verdict::Drop(DropReason::Overlimit);
        }
        if (self.ns2 && self.params.ecn) || !self.is_chosen(meta, cx) {
            Verdict::Pass
        } else if self.params.ecn && meta.ecn().is_capable() {
            Verdict::Mark(MarkReason::Early)
        } else {
            Verdict::Drop(DropReason::Early)
        }
    }

    #[inline(always)]
    fn on_dequeue(&mut self, meta: &Meta, _: Span, _: &View<'_>, cx: &mut Cx<'_>) -> Verdict {
        let marks = self.ns2 && self.params.ecn && self.is_chosen(meta, cx);
        if marks && meta.ecn().is_capable() {
            Verdict::Mark(MarkReason::Early)
        } else {
            Verdict::Pass
        }
    }

    #[inline]
    fn next_tick(&self) -> Option<Time> {
        Some(self.next)
    }

    fn on_tick(&mut self, view: &View<'_>, _: &mut Cx<'_>) {
        self.next = self.next.saturating_add(self.params.tupdate);
        let (arrived, queue) = if self.params.queue_in_bytes {
            (
                float(self.arrived) / self.avpkt,
                float(view.bytes) / self.avpkt,
            )
        } else {
            (float(self.arrived), float(view.packets))
        };
        let weight = self.params.weight;
        self.average = (1.0 - weight) * self.average + weight * arrived;
        let per_second = view.rate.as_bps_f64() / (8.0 * self.avpkt);
        let capacity = self.params.tupdate.as_secs_f64() * per_second;
        let mismatch = self.average + self.params.alpha * (queue - self.qref) - capacity;
        self.price = (self.price + self.params.gamma * mismatch).max(0.0);
        self.probability = 1.0 - libm::pow(self.params.phi, -self.price);
        self.arrived = 0;
    }

    fn state_names(&self) -> &'static [&'static str] {
        &["price", "drop_probability"]
    }

    fn state(&self, out: &mut Vec<f64>) {
        out.extend([self.price, self.probability]);
    }
}

impl Rem {
    #[inline]
    fn is_chosen(&self, meta: &Meta, cx: &mut Cx<'_>) -> bool {
        let p = if self.params.queue_in_bytes {
            self.probability * f64::from(meta.size) / self.avpkt
        } else {
            self.probability
        };
        let draw = cx.rng.uniform();
        draw < p || (self.ns2 && draw <= p)
    }

    fn is_full(&self, meta: &Meta, view: &View<'_>) -> bool {
        let (packets, bytes) = (view.packets + 1, view.bytes + u64::from(meta.size));
        let limit = self.params.limit;
        let at_limit = self.ns2
            && match limit {
                Limit::Packets(n) if self.params.queue_in_bytes => {
                    bytes >= n.get().saturating_mul(self.params.avpkt.get())
                }
                Limit::Packets(n) => packets >= n.get(),
                Limit::Bytes(n) => bytes >= n.get(),
            };
        at_limit || !limit.admits(Packets::new(packets), Bytes::new(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::testing::{built, view};
    use sojourn_sim::Stream;

    struct Bench {
        rem: Rem,
        rng: Stream,
    }

    impl Bench {
        fn new(spec: &str) -> Bench {
            Bench {
                rem: built(spec).expect("a REM"),
                rng: Stream::derive(1, 0, "rem"),
            }
        }

        fn update(&mut self, packets: u64) -> f64 {
            let now = self.rem.next;
            let rng = &mut self.rng;
            self.rem.on_tick(&view(packets), &mut Cx { now, rng });
            self.rem.price
        }

        fn offer(&mut self, packets: u64, tos: u8) -> Verdict {
            let meta = Meta {
                size: 1000,
                flow: 0,
                tos,
            };
            let (now, rng) = (Time::ZERO, &mut self.rng);
            self.rem
                .on_enqueue(&meta, &view(packets), &mut Cx { now, rng })
        }

        fn send(&mut self, tos: u8) -> Verdict {
            let meta = Meta {
                size: 1000,
                flow: 0,
                tos,
            };
            let (now, rng) = (Time::ZERO, &mut self.rng);
            self.rem
                .on_dequeue(&meta, Span::ZERO, &view(1), &mut Cx { now, rng })
        }
    }

    #[test]
    fn the_price_rises_by_excess_rate_and_excess_queue() {
        let mut bench = Bench::new("");
        for _ in 0..5 {
            bench.offer(0, 0);
        }
        // 5 - 2 packets more than the link sends, and 0.1 (50 - 20).
        assert!((bench.update(50) - 0.006).abs() < 1e-12);
        // Nothing arrived: -2 + 0.1 (30 - 20).
        assert!((bench.update(30) - 0.005).abs() < 1e-12);
    }

    #[test]
    fn the_price_is_never_negative() {
        let mut bench = Bench::new("");
        assert_eq!(bench.update(0).to_bits(), 0.0_f64.to_bits());
        assert_eq!(bench.rem.probability.to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn the_probability_is_exponential_in_the_price() {
        let mut bench = Bench::new("phi=2 gamma=1 alpha=0 limit=1000p");
        for _ in 0..4 {
            bench.offer(0, 0);
        }
        bench.update(0);
        assert!((bench.rem.price - 2.0).abs() < 1e-12);
        assert!((bench.rem.probability - 0.75).abs() < 1e-12);
        let drops = (0..20_000).filter(|_| bench.offer(9, 0) == Verdict::Drop(DropReason::Early));
        let rate = f64::from(u32::try_from(drops.count()).expect("few")) / 20_000.0;
        assert!((rate - 0.75).abs() < 0.015, "{rate}");
    }

    #[test]
    fn ns2_marks_what_leaves_and_drops_nothing_else_with_ecn() {
        let mut bench = Bench::new("dialect=ns2 ecn=true");
        bench.rem.probability = 1.0;
        assert_eq!(bench.offer(5, 0), Verdict::Pass);
        assert_eq!(bench.send(0), Verdict::Pass);
        assert_eq!(bench.send(2), Verdict::Mark(MarkReason::Early));
        let mut paper = Bench::new("ecn=true");
        paper.rem.probability = 1.0;
        assert_eq!(paper.offer(5, 2), Verdict::Mark(MarkReason::Early));
        assert_eq!(paper.offer(5, 0), Verdict::Drop(DropReason::Early));
    }

    #[test]
    fn ns2_holds_one_packet_less_than_its_limit() {
        let full = Verdict::Drop(DropReason::Overlimit);
        let at_limit = |spec: &str, packets| Bench::new(spec).offer(packets, 0);
        assert_eq!(at_limit("dialect=ns2 limit=25p", 24), full);
        assert_eq!(at_limit("dialect=ns2 limit=25p", 23), Verdict::Pass);
        assert_eq!(at_limit("limit=25p", 24), Verdict::Pass);
        assert_eq!(at_limit("limit=25p", 25), full);
    }
}
