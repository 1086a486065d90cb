//! AVQ: adaptive virtual queue.
//!
//! Sources: Kunniyur and Srikant, "Analysis and Design of an Adaptive Virtual Queue (AVQ) Algorithm for Active Queue Management"
//! (SIGCOMM 2001), the token-bucket pseudo-code (dialect paper, the default; from memory of the text, checked against ns-2's
//! description of it); ns-2.35 queue/vq.cc, by an author of the paper, and ns-default.tcl (dialect ns2; every decision of two runs of ns-2
//! is reproduced).
//!
//! A virtual queue with the same buffer as the real one receives the same packets and is served at a lower rate. A
//! packet that would overflow it is dropped or marked. The virtual rate falls with every arrival and rises with time,
//! so that arrivals settle at `gamma` times the link's rate. There are no random draws.
//!
//! Differences between dialects:
//!
//! | | paper | ns2 |
//! |---|---|---|
//! | virtual rate at the start | the link's | `initial`, 0.8 of the link's |
//! | its bound | before the arrival is taken off | after |
//! | a packet dropped by the virtual queue | moves the virtual rate like any other | does not, nor the clock of its adaptation |
//! | with `ecn` | capable packets are marked, others dropped | capable packets are marked, others pass |
//! | unit | bytes | bytes, or packets |
//! | full | beyond `limit` | beyond `limit` times `avpkt` bytes |
//!
//! Left open by the paper: the first arrival finds the virtual queue empty and starts the clock. ns-2's `drop_front_`
//! and `markfront_` are not implemented. Deviation: ns-2 can hold more than `limit` packets if they are smaller than
//! `avpkt`; Sojourn does not.

use crate::aqm::{Aqm, Cx, Interest, Meta, Verdict, View, float};
use crate::entry::{BuildContext, Entry, SpecError};
use sojourn_sim::{DropReason, MarkReason};
use sojourn_units::{Bytes, Limit, Packets, Rate, Time, params};

params! {
    /// Adaptive virtual queue: drops or marks what would overflow a queue that is served a little slower than the link.
    pub struct AvqParams {
        /// Target arrival rate, as a fraction of the link's rate.
        gamma: f64 = "0.98", range "0".."1", source "Kunniyur & Srikant 2001: desired utilization 0.98";
        /// Speed of the adaptation, per second.
        alpha: f64 = "0.15", range "0".."100", source "Kunniyur & Srikant 2001: 0.15";
        /// Maximum length of the real queue and of the virtual queue.
        limit: Limit = "100p", range "1p".., source "Kunniyur & Srikant 2001: 100 packets in the simulations";
        /// Size of the virtual queue, as a fraction of `limit`.
        buflim: f64 = "1", range "0".."10", source "vq.cc: buflim_ 1; the paper uses the buffer itself";
        /// Initial virtual rate, as a fraction of the link's rate.
        initial: f64 = "1", range "0".."1", source "the paper leaves it open";
        /// Mark ECN-capable packets instead of dropping them.
        ecn: bool = "false", source "ns-default.tcl: markpkts_ false; the paper marks or drops";
        /// Measure the virtual queue in bytes, not in packets.
        queue_in_bytes: bool = "true", source "Kunniyur & Srikant 2001: b bytes";
        /// Mean packet size, to convert packets to bytes.
        avpkt: Bytes = "1000B", range "1B".., source "Kunniyur & Srikant 2001: 1000 bytes; ns-default.tcl: mean_pktsize_ 1000";
    }
    dialects Dialect {
        /// Kunniyur and Srikant 2001.
        paper as Paper = "avq-2001" {}
        /// ns-2's Queue/Vq.
        ns2 as Ns2 = "ns2-2.35" {
            limit = "50p" from "ns-2.35 ns-default.tcl: Queue set limit_ 50";
            initial = "0.8" from "ns-2.35 ns-default.tcl: ecnlim_ 0.8";
        }
    }
}

/// The discipline. Lengths and rates are in bytes, or in packets.
pub struct Avq {
    params: AvqParams,
    ns2: bool,
    /// Bytes of a usual packet.
    avpkt: f64,
    /// Size of the virtual queue, in the unit of `queue`.
    room: f64,
    /// Length of the virtual queue, in packets or, with `queue_in_bytes`, bytes.
    queue: f64,
    /// Its rate, in that unit per second.
    rate: f64,
    /// A packet has arrived.
    started: bool,
    /// When the last packet arrived.
    last: Time,
    /// When the rate was adapted last.
    last_adapted: Time,
}

impl Entry for Avq {
    const NAME: &'static str = "avq";
    const ALIASES: &'static [&'static str] = &["vq"];
    const TITLE: &'static str = "AVQ";
    const ABOUT: &'static str = "Adaptive virtual queue: AVQ drops what would overflow a queue that is slightly slower than the link. Arrivals also enter a virtual queue of the same size that is served more slowly than the link. Packets that would overflow it are dropped or marked, long before the real queue is full. The virtual rate adapts so that arrivals settle at `gamma` times the link's rate.\n\n\
        Expect a nearly empty queue and a link utilization of 98 %: AVQ controls the rate, not the queue. If sources do not respond, the virtual rate falls to zero, and every arrival that finds the virtual buffer full is dropped.";
    type Params = AvqParams;

    fn build(params: AvqParams, _: &BuildContext) -> Result<Self, SpecError> {
        let avpkt = float(params.avpkt.get());
        let limit = match (params.limit, params.queue_in_bytes) {
            (Limit::Packets(n), true) => float(n.get()) * avpkt,
            (Limit::Packets(n), false) => float(n.get()),
            (Limit::Bytes(n), true) => float(n.get()),
            (Limit::Bytes(n), false) => float(n.get()) / avpkt,
        };
        Ok(Avq {
            ns2: params.dialect == Dialect::Ns2,
            avpkt,
            room: params.buflim * limit,
            queue: 0.0,
            rate: 0.0,
            started: false,
            last: Time::ZERO,
            last_adapted: Time::ZERO,
            params,
        })
    }
}

impl Aqm for Avq {
    fn interest(&self) -> Interest {
        Interest::in_arrivals_from(0)
    }

    #[inline(always)]
    fn on_enqueue(&mut self, meta: &Meta, view: &View<'_>, cx: &mut Cx<'_>) -> Verdict {
        let capacity = self.capacity(view.rate);
        if !self.started {
            self.started = true;
            self.rate = capacity * self.params.initial;
            (self.last, self.last_adapted) = (cx.now, cx.now);
        }
        let size = if self.params.queue_in_bytes {
            f64::from(meta.size)
        } else {
            1.0
        };
        let gap = cx.now.since(self.last).as_secs_f64();
        self.last = cx.now;
        self.queue = (self.queue - self.rate * gap).max(0.0);
        let congested = self.queue + size > self.room;
        if !congested {
            self.queue += size;
        }
        let marks = congested && self.params.ecn && meta.ecn().is_capable();
        let drops = congested && !marks && !(self.ns2 && self.params.ecn);
        self.adapt(size, capacity, drops, cx.now);
        if drops {
            Verdict::Drop(DropReason::Early)
        } else if self.is_full(meta, view) {
            Verdict::Drop(DropReason::Overlimit)
        } else if marks {
            Verdict::Mark(MarkReason::Early)
        } else {
            Verdict::Pass
        }
    }

    fn state_names(&self) -> &'static [&'static str] {
        &["virtual_queue_bytes", "virtual_rate_bps"]
    }

    fn state(&self, out: &mut Vec<f64>) {
        let unit = if self.params.queue_in_bytes {
            1.0
        } else {
            self.avpkt
        };
        out.extend([self.queue * unit, self.rate * unit * 8.0]);
    }
}

impl Avq {
    /// The link's rate per second.
    #[inline(always)]
    fn capacity(&self, rate: Rate) -> f64 {
        if self.params.queue_in_bytes {
            rate.as_bps_f64() / 8.0
        } else {
            rate.as_bps_f64() / (8.0 * self.avpkt)
        }
    }

    #[inline(always)]
    fn adapt(&mut self, size: f64, capacity: f64, dropped: bool, now: Time) {
        if self.ns2 && dropped {
            return;
        }
        let gap = now.since(self.last_adapted).as_secs_f64();
        self.last_adapted = now;
        let alpha = self.params.alpha;
        let grown = self.rate + alpha * self.params.gamma * capacity * gap;
        self.rate = if self.ns2 {
            (grown - alpha * size).min(capacity)
        } else {
            grown.min(capacity) - alpha * size
        }
        .max(0.0);
    }

    fn is_full(&self, meta: &Meta, view: &View<'_>) -> bool {
        let bytes = view.bytes + u64::from(meta.size);
        let by_bytes = match self.params.limit {
            Limit::Packets(n) if self.ns2 && self.params.queue_in_bytes => {
                bytes > n.get().saturating_mul(self.params.avpkt.get())
            }
            _ => false,
        };
        let packets = Packets::new(view.packets + 1);
        by_bytes || !self.params.limit.admits(packets, Bytes::new(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::Waiting;
    use crate::testing::built;
    use sojourn_sim::Stream;
    use sojourn_units::Span;

    struct Bench {
        avq: Avq,
        rng: Stream,
        now: Time,
    }

    impl Bench {
        fn new(spec: &str) -> Bench {
            Bench {
                avq: built(spec).expect("an AVQ"),
                rng: Stream::derive(1, 0, "avq"),
                now: Time::ZERO,
            }
        }

        /// A packet arrives at a link of 1000 packets a second so long after the one before.
        fn offer(&mut self, gap: Span, tos: u8) -> Verdict {
            self.now += gap;
            let meta = Meta {
                size: 1000,
                flow: 0,
                tos,
            };
            let view = View {
                packets: 1,
                bytes: 1000,
                rate: Rate::mbps(8),
                last_departure: Time::ZERO,
                asked: false,
                waiting: Waiting::Nothing,
            };
            let (now, rng) = (self.now, &mut self.rng);
            self.avq.on_enqueue(&meta, &view, &mut Cx { now, rng })
        }

        fn lost(&mut self, gap: Span, arrivals: u32, tos: u8) -> u32 {
            let verdicts = (0..arrivals).map(|_| self.offer(gap, tos));
            u32::try_from(verdicts.filter(|v| *v != Verdict::Pass).count()).expect("few")
        }
    }

    #[test]
    fn nothing_is_lost_below_the_desired_utilization() {
        for dialect in ["paper", "ns2"] {
            let mut bench = Bench::new(&format!("dialect={dialect} limit=20p initial=1"));
            // 0.95 of the rate for 100 s.
            assert_eq!(
                bench.lost(Span::from_ps(1_052_631_579), 95_000, 0),
                0,
                "{dialect}"
            );
        }
    }

    #[test]
    fn the_virtual_rate_follows_the_pseudo_code() {
        let mut bench = Bench::new("");
        bench.offer(Span::ZERO, 0);
        assert!((bench.avq.rate - (1e6 - 150.0)).abs() < 1e-6);
        bench.offer(Span::from_us(500), 0);
        // 0.15 * 0.98 * 10^6 bytes/s * 0.5 ms = 73.5.
        assert!((bench.avq.rate - (1e6 - 150.0 + 73.5 - 150.0)).abs() < 1e-6);
        let expected = 1000.0 - (1e6 - 150.0) * 0.0005 + 1000.0;
        assert!((bench.avq.queue - expected).abs() < 1e-6);
    }

    #[test]
    fn the_accepted_rate_of_unresponsive_sources_in_ns2_is_the_desired_one() {
        let mut bench = Bench::new("dialect=ns2 limit=20p");
        bench.lost(Span::from_us(500), 400_000, 0);
        // Only accepted packets move the virtual rate, so that it rests where they come at 0.98 of the link's.
        let sent = 200_000 - bench.lost(Span::from_us(500), 200_000, 0);
        let share = f64::from(sent) / 100_000.0;
        assert!((share - 0.98).abs() < 0.01, "{share}");
    }

    #[test]
    fn the_paper_marks_capable_packets_and_drops_others_where_ns2_lets_them_pass() {
        let found = |spec: &str, tos| {
            let mut bench = Bench::new(spec);
            (0..200)
                .map(|_| bench.offer(Span::ZERO, tos))
                .find(|v| *v != Verdict::Pass)
        };
        let (mark, drop) = (
            Some(Verdict::Mark(MarkReason::Early)),
            Some(Verdict::Drop(DropReason::Early)),
        );
        assert_eq!(found("ecn=true", 2), mark);
        assert_eq!(found("ecn=true", 0), drop);
        assert_eq!(found("ecn=false", 2), drop);
        assert_eq!(found("dialect=ns2 ecn=true", 2), mark);
        assert_eq!(found("dialect=ns2 ecn=true", 0), None);
    }

    #[test]
    fn the_virtual_queue_may_count_packets() {
        for unit in [true, false] {
            let mut bench = Bench::new(&format!("limit=10p queue_in_bytes={unit}"));
            assert_eq!(bench.lost(Span::ZERO, 10, 0), 0);
            assert_eq!(bench.lost(Span::ZERO, 1, 0), 1);
            let mut state = Vec::new();
            bench.avq.state(&mut state);
            assert!((state[0] - 10_000.0).abs() < 1e-9);
        }
    }
}
