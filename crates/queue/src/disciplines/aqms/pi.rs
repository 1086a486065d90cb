//! PI: the proportional integral controller of Hollot and others.
//!
//! Sources: Hollot, Misra, Towsley and Gong, "On Designing Improved Controllers for AQM Routers Supporting TCP Flows" (INFOCOM
//! 2001) (dialect paper, the default; the difference equation as ns-2 and public descriptions of it have it, the paper
//! itself was not available: a, b, 160 Hz and a reference of 200 packets agree in them); ns-2.35 queue/pi.cc and
//! ns-default.tcl (dialect ns2).
//!
//! Every `tupdate` the probability of dropping moves to p + a (q - q_ref) - b (q before - q_ref), within 0 and 1; packets are dropped
//! at random on arrival.
//!
//! Differences between dialects: the paper drops where the draw is below p, ns-2 up to p; ns-2 samples at 170 Hz, aims
//! at 50 packets, is full at `limit` times `avpkt` bytes with `queue_in_bytes`, and can weigh p by the size of a packet
//! (`byte_mode`). One draw a packet that fits, none for one that `limit` refuses. The queue is what waits, without the
//! packet in transmission. Deviation: with `queue_in_bytes`, ns-2 can hold more than `limit` packets if they are
//! smaller than `avpkt`; Sojourn does not.

use crate::aqm::{Aqm, Cx, Interest, Meta, Verdict, View, float};
use crate::entry::{BuildContext, Entry, SpecError};
use sojourn_sim::{DropReason, MarkReason};
use sojourn_units::{Bytes, Limit, Packets, Span, Time, params};

params! {
    /// Proportional integral controller: drops at random on arrival, so that the length of the queue approaches a reference.
    pub struct PiParams {
        /// Weight of the queue's deviation from `qref`, per packet.
        a: f64 = "0.00001822", range "0".."1", source "Hollot et al. 2001: a 1.822e-5";
        /// Weight of the deviation at the previous update, per packet.
        b: f64 = "0.00001816", range "0".."1", source "Hollot et al. 2001: b 1.816e-5";
        /// Target queue length.
        qref: Packets = "200p", range "0p".., source "Hollot et al. 2001: 200 packets in the simulations";
        /// Time between updates.
        tupdate: Span = "6250us", range "1us".."10s", source "Hollot et al. 2001: 160 Hz",
            acts "the queue is away from `qref`";
        /// Maximum queue length. Arrivals beyond it are dropped.
        limit: Limit = "800p", range "1p".., source "Hollot et al. 2001: a buffer of 800 packets in the simulations";
        /// Mark ECN-capable packets instead of dropping them.
        ecn: bool = "false", source "pi.cc: setbit_ false; the paper says mark or drop",
            acts "a packet is to be dropped at random";
        /// Measure the queue in bytes, converted to packets of `avpkt`.
        queue_in_bytes: bool = "false", source "pi.cc: queue_in_bytes_ false; the paper counts packets";
        /// Make the drop probability of a packet proportional to its size.
        byte_mode: bool = "false", source "pi.cc: bytes_ false";
        /// Mean packet size.
        avpkt: Bytes = "500B", range "1B".., source "Hollot et al. 2001: 500 bytes; ns-default.tcl: mean_pktsize_ 500",
            where queue_in_bytes is "true" or byte_mode is "true";
    }
    dialects Dialect {
        /// Hollot, Misra, Towsley and Gong 2001.
        paper as Paper = "pi-2001" {}
        /// ns-2's Queue/PI.
        ns2 as Ns2 = "ns2-2.35" {
            qref = "50p" from "ns-2.35 ns-default.tcl: qref_ 50";
            tupdate = "5882.352941us" from "ns-2.35 ns-default.tcl: w_ 170";
            limit = "50p" from "ns-2.35 ns-default.tcl: Queue set limit_ 50";
        }
    }
}

/// The discipline.
pub struct Pi {
    params: PiParams,
    ns2: bool,
    /// Reference length of the queue, in packets.
    qref: f64,
    /// Probability that a packet is dropped or marked, 0 to 1.
    probability: f64,
    /// Length of the queue at the last update, in packets.
    before: f64,
    /// When the next update is due.
    next: Time,
}

impl Entry for Pi {
    const NAME: &'static str = "pi";
    const TITLE: &'static str = "PI";
    const ABOUT: &'static str = "Proportional integral controller, the predecessor of PIE. At a fixed frequency it compares the queue length with `qref` and with the length one update before, and adjusts the probability with which arrivals are dropped or marked.\n\n\
        Expect the queue at `qref` under any load once the controller has settled. This takes many seconds: the published gains were designed for a link of 15 Mbps, 3750 packets per second. On slower links, most drops happen at the limit.";
    type Params = PiParams;

    fn build(params: PiParams, _: &BuildContext) -> Result<Self, SpecError> {
        Ok(Pi {
            ns2: params.dialect == Dialect::Ns2,
            qref: float(params.qref.get()),
            probability: 0.0,
            before: 0.0,
            next: Time::ZERO + params.tupdate,
            params,
        })
    }
}

impl Aqm for Pi {
    fn interest(&self) -> Interest {
        Interest {
            ticks: true,
            ..Interest::in_arrivals_from(0)
        }
    }

    #[inline(always)]
    fn on_enqueue(&mut self, meta: &Meta, view: &View<'_>, cx: &mut Cx<'_>) -> Verdict {
        if self.is_full(meta, view) {
            return Verdict::Drop(DropReason::Overlimit);
        }
        let mut p = self.probability;
        if self.params.byte_mode {
            p = (p * f64::from(meta.size) / float(self.params.avpkt.get())).min(1.0);
        }
        let draw = cx.rng.uniform();
        if draw > p || (draw >= p && !self.ns2) {
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

    fn on_tick(&mut self, view: &View<'_>, _: &mut Cx<'_>) {
        self.next = self.next.saturating_add(self.params.tupdate);
        let queue = if self.params.queue_in_bytes {
            float(view.bytes) / float(self.params.avpkt.get())
        } else {
            float(view.packets)
        };
        let p = self.params.a * (queue - self.qref) - self.params.b * (self.before - self.qref)
            + self.probability;
        self.probability = p.clamp(0.0, 1.0);
        self.before = queue;
    }

    fn state_names(&self) -> &'static [&'static str] {
        &["drop_probability"]
    }

    fn state(&self, out: &mut Vec<f64>) {
        out.push(self.probability);
    }
}

impl Pi {
    fn is_full(&self, meta: &Meta, view: &View<'_>) -> bool {
        let packets = Packets::new(view.packets + 1);
        let bytes = Bytes::new(view.bytes + u64::from(meta.size));
        let by_bytes = match self.params.limit {
            Limit::Packets(limit) if self.ns2 && self.params.queue_in_bytes => {
                view.bytes >= limit.get().saturating_mul(self.params.avpkt.get())
            }
            _ => false,
        };
        by_bytes || !self.params.limit.admits(packets, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::Waiting;
    use crate::testing::built;
    use sojourn_sim::Stream;
    use sojourn_units::Rate;

    struct Bench {
        pi: Pi,
        rng: Stream,
    }

    impl Bench {
        fn new(spec: &str) -> Bench {
            Bench {
                pi: built(spec).expect("a PI"),
                rng: Stream::derive(1, 0, "pi"),
            }
        }

        fn update(&mut self, packets: u64) -> f64 {
            let now = self.pi.next;
            let rng = &mut self.rng;
            self.pi.on_tick(&view(packets), &mut Cx { now, rng });
            self.pi.probability
        }

        fn offer(&mut self, packets: u64, size: u32, tos: u8) -> Verdict {
            let meta = Meta { size, flow: 0, tos };
            let (now, rng) = (Time::ZERO, &mut self.rng);
            self.pi
                .on_enqueue(&meta, &view(packets), &mut Cx { now, rng })
        }
    }

    fn view(packets: u64) -> View<'static> {
        View {
            packets,
            bytes: 500 * packets,
            rate: Rate::mbps(15),
            last_departure: Time::ZERO,
            asked: false,
            waiting: Waiting::Nothing,
        }
    }

    #[test]
    fn the_probability_follows_the_difference_equation() {
        let mut bench = Bench::new("");
        assert!(bench.update(200) > 0.0);
        let (a, b) = (1.822e-5, 1.816e-5);
        // From an empty queue to 300: a 100 + b 200 above the first step to 200.
        let first = b * 200.0;
        assert!((bench.pi.probability - first).abs() < 1e-15);
        assert!((bench.update(300) - (first + a * 100.0)).abs() < 1e-15);
        assert!((bench.update(300) - (first + a * 200.0 - b * 100.0)).abs() < 1e-15);
    }

    #[test]
    fn the_probability_rests_where_the_queue_is_at_its_reference() {
        let mut bench = Bench::new("");
        bench.update(400);
        bench.update(200);
        let p = bench.update(200);
        assert!(p > 0.0);
        assert_eq!(bench.update(200).to_bits(), p.to_bits());
    }

    #[test]
    fn the_probability_stays_within_zero_and_one() {
        let mut bench = Bench::new("a=1 b=0");
        assert_eq!(bench.update(800).to_bits(), 1.0_f64.to_bits());
        assert_eq!(bench.update(0).to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn packets_are_dropped_or_marked_with_the_probability() {
        let mut bench = Bench::new("a=0.1 b=0 ecn=true dialect=ns2 limit=1000p byte_mode=true");
        bench.update(53);
        let mut rate = |size, tos, verdict| {
            let hits = (0..20_000).filter(|_| bench.offer(10, size, tos) == verdict);
            f64::from(u32::try_from(hits.count()).expect("few")) / 20_000.0
        };
        assert!((rate(500, 0, Verdict::Drop(DropReason::Early)) - 0.3).abs() < 0.015);
        assert!((rate(250, 2, Verdict::Mark(MarkReason::Early)) - 0.15).abs() < 0.015);
        assert!((rate(2000, 0, Verdict::Drop(DropReason::Early)) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn ns2_is_full_in_bytes_before_the_packet() {
        let mut bench = Bench::new("dialect=ns2 queue_in_bytes=true limit=50p");
        let full = Verdict::Drop(DropReason::Overlimit);
        assert_eq!(bench.offer(49, 1500, 0), Verdict::Pass);
        assert_eq!(bench.offer(50, 40, 0), full);
    }
}
