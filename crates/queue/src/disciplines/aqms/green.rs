//! GREEN: drops by the formula of TCP's throughput.
//!
//! Source: Feng, Kapadia and Thulasidasan, "GREEN: Proactive Queue Management over a Best-Effort Network" (GLOBECOM 2002), formula
//! and text as recalled and restated; the paper was not available. Its constant is that of Mathis, Semke, Mahdavi and
//! Ott, "The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm" (1997).
//!
//! A TCP flow in steady state gets MSS c / (RTT sqrt(p)). To give each of N active flows its share of a link of rate L,
//! a packet is dropped with p = (N MSS c / (L RTT))^2, for any queue length.
//!
//! Left open by the paper, and decided here: MSS is the size of the arriving packet, with its headers; p is at most 1;
//! a flow is active while a packet of it has arrived in the last `window`, the arriving one included. Deviation: the
//! paper has each flow's round-trip time carried in the IP header; here `rtt` is one for all. One uniform draw for
//! every arrival. The number of a flow identifies it, in both directions. The authors published no code, and no other
//! simulator is known to implement it.

use crate::aqm::{Aqm, Cx, Interest, Meta, Verdict, View};
use crate::entry::{BuildContext, Entry, SpecError};
use sojourn_sim::{DropReason, MarkReason, to_usize as at};
use sojourn_units::{Bytes, Limit, Packets, Span, Time, params};
use std::collections::VecDeque;

params! {
    /// Drops with the probability at which TCP flows share the link, from their number and round-trip time.
    pub struct GreenParams {
        /// Maximum queue length. Arrivals beyond it are dropped.
        limit: Limit = "1000p", range "1p".., source "the paper's is not known here; Linux pfifo's";
        /// Round-trip time to assume for all flows.
        rtt: Span = "100ms", range "1us".."1000s", source "the paper has each flow's own; a usual one";
        /// Constant of the throughput formula.
        constant: f64 = "1.22", range "0".."10", source "Mathis et al. 1997: sqrt(3/2), every packet acknowledged, periodic losses";
        /// Time for which a flow counts as active after each of its packets.
        window: Span = "1s", range "1us".."1000s", source "Feng, Kapadia & Thulasidasan 2002 leave it to the router";
        /// Mark ECN-capable packets instead of dropping them.
        ecn: bool = "false", source "Feng, Kapadia & Thulasidasan 2002: drop, or mark";
    }
    dialects Dialect {
        /// Feng, Kapadia and Thulasidasan 2002.
        paper as Paper = "green-2002" {}
    }
}

/// The discipline.
pub struct Green {
    params: GreenParams,
    /// The active flows.
    active: Active,
    /// Probability as of the last arrival, 0 to 1.
    probability: f64,
}

/// Flows that sent a packet within the window.
#[derive(Default)]
struct Active {
    /// When a packet of each flow came last; [`Time::MAX`] for one that is not active.
    last: Vec<Time>,
    /// Active flows.
    count: u32,
    /// When each active flow is to be looked after, one entry for each: a window after a packet of it, not always the last. In order of
    /// that packet's time.
    checks: VecDeque<(Time, u32)>,
}

impl Entry for Green {
    const NAME: &'static str = "green";
    const TITLE: &'static str = "GREEN";
    const ABOUT: &'static str = "GREEN drops each arriving packet with the probability at which TCP's throughput formula gives every active flow its share of the link. The probability grows with the square of the number of flows and of the packet size, and falls with the square of the rate and the round-trip time. It does not depend on the queue.\n\n\
        Expect an almost empty queue if TCP follows the formula with the given `rtt`. Longer round trips get too many drops, shorter ones too few. Unresponsive flows are not limited.";
    type Params = GreenParams;

    fn build(params: GreenParams, _: &BuildContext) -> Result<Self, SpecError> {
        Ok(Green {
            params,
            active: Active::default(),
            probability: 0.0,
        })
    }
}

impl Aqm for Green {
    fn interest(&self) -> Interest {
        Interest::in_arrivals_from(0)
    }

    #[inline(always)]
    fn on_enqueue(&mut self, meta: &Meta, view: &View<'_>, cx: &mut Cx<'_>) -> Verdict {
        let flows = self.active.see(meta.flow, cx.now, self.params.window);
        let bits = f64::from(8 * meta.size);
        let capacity = view.rate.as_bps_f64() * self.params.rtt.as_secs_f64();
        let root = flows * bits * self.params.constant / capacity;
        self.probability = (root * root).min(1.0);
        let chosen = cx.rng.uniform() < self.probability;
        let marked = chosen && self.params.ecn && meta.ecn().is_capable();
        if chosen && !marked {
            return Verdict::Drop(DropReason::Early);
        }
        let packets = Packets::new(view.packets + 1);
        let bytes = Bytes::new(view.bytes + u64::from(meta.size));
        if !self.params.limit.admits(packets, bytes) {
            Verdict::Drop(DropReason::Overlimit)
        } else if marked {
            Verdict::Mark(MarkReason::Early)
        } else {
            Verdict::Pass
        }
    }

    fn state_names(&self) -> &'static [&'static str] {
        &["drop_probability", "active_flows"]
    }

    fn state(&self, out: &mut Vec<f64>) {
        out.extend([self.probability, self.active.count()]);
    }
}

impl Active {
    /// Notes a packet of a flow; returns how many flows are active.
    fn see(&mut self, flow: u32, now: Time, window: Span) -> f64 {
        match self.last.get_mut(at(flow)) {
            Some(last) if *last != Time::MAX => *last = now,
            _ => self.begin(flow, now),
        }
        while let Some(&(seen, flow)) = self.checks.front() {
            if now.since(seen) <= window {
                break;
            }
            self.checks.pop_front();
            let last = self.last[at(flow)];
            if now.since(last) <= window {
                self.look_after(last, flow);
            } else {
                self.last[at(flow)] = Time::MAX;
                self.count -= 1;
            }
        }
        self.count()
    }

    /// A flow becomes active.
    #[cold]
    fn begin(&mut self, flow: u32, now: Time) {
        if at(flow) >= self.last.len() {
            self.last.resize(at(flow) + 1, Time::MAX);
        }
        self.last[at(flow)] = now;
        self.count += 1;
        self.checks.push_back((now, flow));
    }

    /// Puts a flow where it is looked after in order of time.
    fn look_after(&mut self, last: Time, flow: u32) {
        let place = self.checks.partition_point(|&(seen, _)| seen <= last);
        self.checks.insert(place, (last, flow));
    }

    fn count(&self) -> f64 {
        f64::from(self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::Waiting;
    use crate::testing::built;
    use sojourn_sim::Stream;
    use sojourn_units::Rate;
    use std::collections::BTreeMap;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn offer(green: &mut Green, rng: &mut Stream, ms: u64, flow: u32, tos: u8) -> Verdict {
        let view = View {
            packets: 1,
            bytes: 1000,
            rate: Rate::mbps(10),
            last_departure: Time::ZERO,
            asked: false,
            waiting: Waiting::Nothing,
        };
        let meta = Meta {
            size: 1000,
            flow,
            tos,
        };
        green.on_enqueue(&meta, &view, &mut Cx { now: at(ms), rng })
    }

    #[test]
    fn the_probability_is_the_square_of_the_formula() {
        let mut green = built::<Green>("rtt=50ms").expect("consistent");
        let mut rng = Stream::derive(1, 0, "green");
        for flow in 0..5 {
            offer(&mut green, &mut rng, 1, flow, 0);
        }
        let root: f64 = 5.0 * 8000.0 * 1.22 / (1e7 * 0.05);
        assert!((green.probability - root * root).abs() < 1e-12);
        let drops = (0..100_000)
            .filter(|_| offer(&mut green, &mut rng, 1, 0, 0) != Verdict::Pass)
            .count();
        let share = f64::from(u32::try_from(drops).expect("few")) / 100_000.0;
        assert!((share / green.probability - 1.0).abs() < 0.1, "{share}");
    }

    #[test]
    fn a_flow_is_active_for_a_window_after_its_last_packet() {
        let mut active = Active::default();
        let window = Span::from_ms(100);
        let mut see = |ms, flow| active.see(flow, at(ms), window);
        let seen = [
            (0, 1),
            (50, 2),
            (90, 1),
            (150, 3),
            (151, 3),
            (190, 3),
            (191, 3),
        ];
        let counts = seen.map(|(ms, flow)| see(ms, flow).to_bits());
        let expected = [1.0, 2.0, 2.0, 3.0, 2.0, 2.0, 1.0].map(f64::to_bits);
        assert_eq!(counts, expected);
    }

    #[test]
    fn counting_by_checks_equals_counting_all() {
        let mut active = Active::default();
        let mut all: BTreeMap<u32, Time> = BTreeMap::new();
        let mut rng = Stream::derive(2, 0, "green");
        let (mut now, window) = (Time::ZERO, Span::from_ms(20));
        for _ in 0..20_000 {
            now += Span::from_us(rng.below(2000));
            let flow = u32::try_from(rng.below(40)).expect("small");
            all.insert(flow, now);
            let count = all
                .values()
                .filter(|last| now.since(**last) <= window)
                .count();
            let expected = f64::from(u32::try_from(count).expect("few"));
            assert_eq!(active.see(flow, now, window).to_bits(), expected.to_bits());
        }
    }

    #[test]
    fn capable_packets_are_marked() {
        let mut green = built::<Green>("rtt=1ms ecn=true").expect("consistent");
        let mut rng = Stream::derive(1, 0, "green");
        let verdict = |green: &mut Green, rng: &mut Stream, tos| offer(green, rng, 1, 0, tos);
        assert_eq!(
            verdict(&mut green, &mut rng, 0),
            verdict(&mut green, &mut rng, 0)
        );
        let verdicts: Vec<_> = (0..100).map(|_| verdict(&mut green, &mut rng, 2)).collect();
        assert!(verdicts.contains(&Verdict::Mark(MarkReason::Early)));
        assert!(!verdicts.contains(&Verdict::Drop(DropReason::Early)));
    }
}
