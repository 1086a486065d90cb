//! RIO: random early detection with IN and OUT packets.
//!
//! Sources: Clark and Fang, "Explicit Allocation of Best-Effort Packet Delivery Service", IEEE/ACM ToN 6(4), 1998 (dialect
//! paper, the default; read in what cites it and in ns-2, not itself: its numbers are unchecked); ns-2.35 queue/rio.cc (dialect
//! ns2). Two RED curves over one queue: packets within their sender's profile (IN) are dropped by the average of the IN packets
//! that wait, packets beyond it (OUT) by the average of all packets (RIO-C, `coupled`) or of OUT packets alone (RIO-D).
//!
//! Left open by the paper, and done as in RED of 1993: each curve spaces its drops with its own count; "drop" is a mark
//! if `ecn` is on and the packet is ECN-capable. The average of all moves on every arrival, that of a kind on arrivals
//! of that kind. An average decays by all the time that the link was idle since the average last moved, and the arrival
//! that ends an idle time is no sample.
//!
//! Differences of dialect ns2 from the paper:
//! * Averages move when an IN packet arrives, and only then. Without a marker all packets are OUT, the averages stay 0 and the
//!   queue is a DropTail; so it is in every script that sets no marker.
//! * An idle time counts as many whole packets, and one. The time when the link became idle is one for both averages: that of all
//!   decays unless any packet has left since, that of IN packets unless an IN packet has arrived or left since.
//! * No packet is dropped while fewer than two IN packets (for OUT: packets) wait, nor the first one above the lower threshold;
//!   `wait` spaces drops. A forced drop starts the count of IN anew, that of OUT goes on.
//! * OUT's max_p is one over `linterm_`, 10: nothing reads `out_linterm_` (5), which ns-default.tcl sets.
//!
//! `tag` determines which packets are IN. ns-2's header field, set by its markers, is here the codepoint; its
//! `priority_method_` 1, the flow id, is `tag=flow`. One draw per packet between the thresholds, in order of arrival.
//! Queue and thresholds are in packets; ns-2's `queue_in_bytes_`, gentle curves and `setbit_` are not implemented.

use super::red::{float, signed_float, spaced, within_limit};
use crate::aqm::{Aqm, Cx, Departures, Interest, Meta, Verdict, View, Waiting};
use crate::entry::{self, BuildContext, Entry, SpecError};
use sojourn_sim::{DropReason, MarkReason};
use sojourn_units::{Bytes, Limit, Packets, Rate, Span, Time, choice, params};
use std::collections::VecDeque;

choice! {
    /// Which packets are IN.
    pub enum RioTag {
        /// Packets whose differentiated services codepoint is not 0.
        Dscp = "dscp",
        /// Packets of every flow except flow 0.
        Flow = "flow",
    }
}

params! {
    /// Random early detection that drops packets beyond their sender's profile first.
    pub struct RioParams {
        /// Which packets are IN, within their profile.
        tag: RioTag = "dscp", source "the paper: a bit in the header, set at the edge; RFC 2474 made it the codepoint";
        /// Drop OUT packets by the average of all packets (RIO-C), instead of the average of OUT packets alone (RIO-D).
        coupled: bool = "true", source "Clark & Fang 1998";
        /// Average number of IN packets at which their random drops begin.
        min_in: Packets = "40p", range "1p".., source "Clark & Fang 1998 as cited, unchecked";
        /// Average number of IN packets from which all of them are dropped.
        max_in: Packets = "70p", range "1p".., source "Clark & Fang 1998 as cited, unchecked";
        /// Drop probability of IN packets at `max_in`.
        probability_in: f64 = "0.02", range "0".."1", source "Clark & Fang 1998 as cited, unchecked",
            acts "the average of IN packets is between its thresholds";
        /// Average number of packets at which random drops of OUT packets begin.
        min_out: Packets = "10p", range "1p".., source "Clark & Fang 1998 as cited, unchecked";
        /// Average number of packets from which all OUT packets are dropped.
        max_out: Packets = "30p", range "1p".., source "Clark & Fang 1998 as cited, unchecked";
        /// Drop probability of OUT packets at `max_out`.
        probability_out: f64 = "0.2", range "0".."1", source "Clark & Fang 1998 as cited, unchecked";
        /// Weight of the current queue length in the averages.
        weight: f64 = "0.002", range "0".."1", source "Floyd & Jacobson 1993: w_q 0.002";
        /// Maximum queue length. Arrivals beyond it are dropped.
        limit: Limit = "100p", range "1p".., source "the paper gives none; as red";
        /// Mean packet size, to update the average after idle times.
        avpkt: Bytes = "500B", range "1B".., source "ns-2.35 ns-default.tcl: mean_pktsize_ 500; the paper leaves it open";
        /// Let at least 1/p packets pass between drops.
        wait: bool = "false", source "Floyd & Jacobson 1993";
        /// Mark ECN-capable packets instead of dropping them; dialect paper.
        ecn: bool = "false", source "older than ECN; as red";
    }
    dialects Dialect {
        /// Clark and Fang 1998.
        paper as Paper = "rio-1998" {}
        /// ns-2's Queue/RED/RIO.
        ns2 as Ns2 = "ns2-2.35" {
            min_in = "15p" from "ns-2.35 ns-default.tcl: in_thresh_ 15";
            max_in = "30p" from "ns-2.35 ns-default.tcl: in_maxthresh_ 30";
            probability_in = "0.02" from "ns-2.35 ns-default.tcl: in_linterm_ 50";
            min_out = "5p" from "ns-2.35 ns-default.tcl: out_thresh_ 5";
            max_out = "15p" from "ns-2.35 ns-default.tcl: out_maxthresh_ 15";
            probability_out = "0.1" from "ns-2.35 rio.cc: linterm_ 10, out_linterm_ is not read";
            limit = "50p" from "ns-2.35 ns-default.tcl: Queue set limit_ 50";
            wait = "true" from "ns-2.35 ns-default.tcl: wait_";
        }
    }
}

/// The discipline.
pub struct Rio {
    core: Box<Core>,
}

struct Core {
    params: RioParams,
    /// Dialect ns2.
    ns2: bool,
    /// Judges IN packets.
    inside: Curve,
    /// Judges OUT packets.
    outside: Curve,
    /// Average of the IN packets that wait.
    average_in: Average,
    /// Average of the OUT packets that wait.
    average_out: Average,
    /// Average of all packets that wait.
    average_all: Average,
    /// IN packets that wait.
    waiting_in: u64,
    /// Packets that wait.
    waiting: u64,
    /// Packets that have left the ring, if it is one, as of the last arrival.
    left: u64,
    /// For each IN packet that waits in the ring, head first: packets admitted before it.
    numbers_in: VecDeque<u64>,
    /// The first of `numbers_in`; `u64::MAX` if it is empty.
    next_in: u64,
    /// When the link found nothing to send; `None` while it is busy.
    idle_since: Option<Time>,
    /// All idle time that is over.
    idle: Span,
}

/// RED for one kind of packets.
struct Curve {
    /// Average at which random drops begin, in packets.
    low: f64,
    /// Average from which every packet is dropped, in packets.
    high: f64,
    /// `high` - `low`.
    width: f64,
    /// Probability at `high`.
    max_p: f64,
    /// Packets since the last drop; -1 while the average is below `low` (paper).
    count: i64,
    /// The average was above `low` at the last arrival (ns-2).
    above: bool,
    /// Probability by the average alone, before drops are spaced.
    probability: f64,
}

/// A moving average.
#[derive(Default)]
struct Average {
    /// In packets.
    value: f64,
    /// Idle time of the link that is accounted for.
    idle: Span,
    /// When the link became idle (ns-2).
    idle_since: Option<Time>,
}

impl Entry for Rio {
    const NAME: &'static str = "rio";
    const TITLE: &'static str = "RIO";
    const ABOUT: &'static str = "Random early detection with IN and OUT packets. Senders have a profile. A marker at the edge tags packets within the profile as IN, and the others as OUT. RIO applies two REDs to one queue: the average number of queued IN packets determines the drops of IN packets; the average of all queued packets determines the drops of OUT packets, with lower thresholds and a higher probability. With `coupled=false` (RIO-D), OUT packets are dropped by their own average.\n\n\
        Expect only OUT packets to be dropped as long as the IN packets fit the link. Without tags, RIO is a RED with the thresholds of OUT packets; in dialect `ns2` it is then a DropTail, because its averages move only when IN packets arrive.";
    type Params = RioParams;

    fn time_constant(params: &RioParams, packet: Span) -> Option<entry::TimeConstant> {
        entry::TimeConstant::of_average(params.weight, packet)
    }

    fn build(params: RioParams, _: &BuildContext) -> Result<Self, SpecError> {
        let ns2 = params.dialect == Dialect::Ns2;
        for (what, given) in [("coupled=false", !params.coupled), ("ecn=true", params.ecn)] {
            if ns2 && given {
                return Err(contradiction(format!(
                    "dialect ns2 has no {what}; leave it out or choose another dialect"
                )));
            }
        }
        for (low, high, kind) in [
            (params.min_in, params.max_in, "in"),
            (params.min_out, params.max_out, "out"),
        ] {
            if low >= high {
                return Err(contradiction(format!(
                    "min_{kind}, {low}, is not below max_{kind}, {high}; exchange or change them"
                )));
            }
        }
        let curve = |low: Packets, high: Packets, max_p| Curve {
            low: float(low.get()),
            high: float(high.get()),
            width: float(high.get()) - float(low.get()),
            max_p,
            count: if ns2 { 0 } else { -1 },
            above: false,
            probability: 0.0,
        };
        let core = Core {
            ns2,
            inside: curve(params.min_in, params.max_in, params.probability_in),
            outside: curve(params.min_out, params.max_out, params.probability_out),
            average_in: Average::idle(),
            average_out: Average::idle(),
            average_all: Average::idle(),
            waiting_in: 0,
            waiting: 0,
            left: 0,
            numbers_in: VecDeque::new(),
            next_in: u64::MAX,
            idle_since: Some(Time::ZERO),
            idle: Span::ZERO,
            params,
        };
        Ok(Rio {
            core: Box::new(core),
        })
    }
}

impl Aqm for Rio {
    fn interest(&self) -> Interest {
        Interest {
            departures: Departures::Counted,
            empty: true,
            ..Interest::in_arrivals_from(0)
        }
    }

    #[inline(always)]
    fn on_enqueue(&mut self, meta: &Meta, view: &View<'_>, cx: &mut Cx<'_>) -> Verdict {
        self.core.judge(meta, view, cx)
    }

    fn on_dequeue(&mut self, meta: &Meta, _: Span, view: &View<'_>, _: &mut Cx<'_>) -> Verdict {
        self.core.departed(meta, view);
        Verdict::Pass
    }

    fn on_empty(&mut self, now: Time) {
        let core = &mut self.core;
        core.remove_departed(0);
        core.idle_since = Some(now);
        core.average_in.idle_since = Some(now);
        core.average_all.idle_since = Some(now);
    }

    fn state_names(&self) -> &'static [&'static str] {
        &[
            "average_in_packets",
            "average_out_packets",
            "average_packets",
            "drop_probability_in",
            "drop_probability_out",
            "count_in_packets",
            "count_out_packets",
        ]
    }

    fn state(&self, out: &mut Vec<f64>) {
        out.extend([
            self.core.average_in.value,
            self.core.average_out.value,
            self.core.average_all.value,
            self.core.inside.probability,
            self.core.outside.probability,
            signed_float(self.core.inside.count),
            signed_float(self.core.outside.count),
        ]);
    }
}

impl Core {
    #[inline(always)]
    fn judge(&mut self, meta: &Meta, view: &View<'_>, cx: &mut Cx<'_>) -> Verdict {
        let inside = self.is_in(meta);
        let in_ring = !matches!(view.waiting, Waiting::Queue(..));
        match in_ring {
            true => self.remove_departed(view.packets),
            false => self.recount(view),
        }
        let verdict = if self.ns2 {
            self.judge_as_ns2(inside, meta, view, cx)
        } else {
            self.judge_as_paper(inside, meta, view, cx)
        };
        if !matches!(verdict, Verdict::Drop(_)) {
            self.enter(inside, in_ring);
        }
        verdict
    }

    /// Counts out the packets that have left the ring: `packets` still wait.
    #[inline(always)]
    fn remove_departed(&mut self, packets: u64) {
        if self.waiting <= packets {
            return;
        }
        self.left += self.waiting - packets;
        self.waiting = packets;
        self.average_all.idle_since = None;
        if self.next_in < self.left {
            self.remove_departed_in();
        }
    }

    /// Counts out the IN packets that have left the ring.
    #[inline(never)]
    fn remove_departed_in(&mut self) {
        self.average_in.idle_since = None;
        while self.numbers_in.front().is_some_and(|n| *n < self.left) {
            self.numbers_in.pop_front();
            self.waiting_in = self.waiting_in.saturating_sub(1);
        }
        self.next_in = self.numbers_in.front().copied().unwrap_or(u64::MAX);
    }

    /// The judged packet is about to wait.
    #[inline(always)]
    fn enter(&mut self, inside: bool, in_ring: bool) {
        if inside {
            self.enter_in(in_ring);
        }
        self.waiting += 1;
    }

    #[inline(never)]
    fn enter_in(&mut self, in_ring: bool) {
        self.waiting_in += 1;
        if in_ring {
            let number = self.left + self.waiting;
            self.next_in = self.next_in.min(number);
            self.numbers_in.push_back(number);
        }
    }

    fn departed(&mut self, meta: &Meta, view: &View<'_>) {
        self.average_all.idle_since = None;
        if self.is_in(meta) {
            self.average_in.idle_since = None;
            self.waiting_in = self.waiting_in.saturating_sub(1);
        }
        self.waiting = view.packets;
    }

    fn is_in(&self, meta: &Meta) -> bool {
        match self.params.tag {
            RioTag::Dscp => meta.dscp() != 0,
            RioTag::Flow => meta.flow != 0,
        }
    }

    /// A scheduler may drop packets past the AQM: then they are counted anew.
    #[inline(never)]
    fn recount(&mut self, view: &View<'_>) {
        if self.waiting != view.packets {
            let waiting = (0..view.packets).filter_map(|place| view.waiting.peek(place));
            let inside = waiting.filter(|meta| self.is_in(meta)).count();
            self.waiting_in = u64::try_from(inside).unwrap_or(u64::MAX);
            self.waiting = view.packets;
        }
    }

    #[inline(always)]
    fn judge_as_paper(
        &mut self,
        inside: bool,
        meta: &Meta,
        view: &View<'_>,
        cx: &mut Cx<'_>,
    ) -> Verdict {
        let ended = self.idle_since.take().or_else(|| view.idle_unasked());
        if let Some(since) = ended {
            self.idle += cx.now.since(since);
        }
        let (idle, weight) = (self.idle, self.params.weight);
        let moving = |average: &mut Average, queue: u64| {
            if average.idle != idle {
                average.decay(idle, &self.params, view.rate);
            }
            if ended.is_none() {
                average.value = (1.0 - weight) * average.value + weight * float(queue);
            }
        };
        if inside {
            moving(&mut self.average_in, self.waiting_in);
        } else {
            moving(&mut self.average_out, view.packets - self.waiting_in);
        }
        moving(&mut self.average_all, view.packets);
        let (curve, average) = if inside {
            (&mut self.inside, self.average_in.value)
        } else if self.params.coupled {
            (&mut self.outside, self.average_all.value)
        } else {
            (&mut self.outside, self.average_out.value)
        };
        let capable = self.params.ecn && meta.ecn().is_capable();
        let mut verdict = Verdict::Pass;
        if average < curve.low {
            curve.probability = 0.0;
            curve.count = -1;
        } else if average < curve.high {
            curve.count += 1;
            if cx.rng.uniform() < curve.spaced(average, self.params.wait) {
                curve.count = 0;
                verdict = if capable {
                    Verdict::Mark(MarkReason::Early)
                } else {
                    Verdict::Drop(DropReason::Early)
                };
            }
        } else {
            curve.probability = 1.0;
            curve.count = 0;
            verdict = if capable {
                Verdict::Mark(MarkReason::Threshold)
            } else {
                Verdict::Drop(DropReason::Forced)
            };
        }
        let verdict = within_limit(verdict, self.params.limit, meta, view);
        if ended.is_some() && matches!(verdict, Verdict::Drop(_)) {
            self.idle_since = Some(cx.now);
        }
        verdict
    }

    #[inline(never)]
    fn judge_as_ns2(
        &mut self,
        inside: bool,
        meta: &Meta,
        view: &View<'_>,
        Cx { now, rng }: &mut Cx<'_>,
    ) -> Verdict {
        if inside {
            let packet_ps_bps = 8 * u128::from(self.params.avpkt.get()) * PS_PER_S;
            let rate = u128::from(view.rate.as_bps());
            let weight = self.params.weight;
            let estimate = |average: &mut Average, queue: u64| {
                let idle = average.idle_since.take().map_or(0, |since| {
                    u128::from(now.since(since).as_ps()) * rate / packet_ps_bps
                });
                let packets = float(u64::try_from(idle).unwrap_or(u64::MAX).saturating_add(1));
                average.value =
                    libm::pow(1.0 - weight, packets) * average.value + weight * float(queue);
            };
            estimate(&mut self.average_all, view.packets);
            estimate(&mut self.average_in, self.waiting_in);
        }
        let (curve, average, present) = if inside {
            (&mut self.inside, self.average_in.value, self.waiting_in)
        } else {
            (&mut self.outside, self.average_all.value, view.packets)
        };
        curve.count += 1;
        let mut verdict = Verdict::Pass;
        if average >= curve.low && present > 1 {
            if average >= curve.high {
                verdict = Verdict::Drop(DropReason::Forced);
            } else if !curve.above {
                curve.count = 1;
                curve.above = true;
            } else if rng.uniform() <= curve.spaced(average, self.params.wait) {
                curve.count = 0;
                verdict = Verdict::Drop(DropReason::Early);
            }
        } else {
            curve.probability = 0.0;
            curve.above = false;
        }
        if within_limit(Verdict::Pass, self.params.limit, meta, view) != Verdict::Pass
            && verdict != Verdict::Drop(DropReason::Forced)
        {
            verdict = Verdict::Drop(DropReason::Overlimit);
        }
        if inside && matches!(verdict, Verdict::Drop(reason) if reason != DropReason::Early) {
            curve.count = 0;
        }
        verdict
    }
}

impl Curve {
    /// The probability for this packet, below the upper threshold.
    #[inline(always)]
    fn spaced(&mut self, average: f64, wait: bool) -> f64 {
        self.probability = self.max_p * ((average - self.low) / self.width);
        spaced(self.probability, signed_float(self.count), wait)
    }
}

impl Average {
    /// Of a queue that has been empty from the beginning.
    fn idle() -> Average {
        Average {
            idle_since: Some(Time::ZERO),
            ..Average::default()
        }
    }

    /// The link has been idle for `idle` in all.
    #[cold]
    #[inline(never)]
    fn decay(&mut self, idle: Span, params: &RioParams, rate: Rate) {
        let unseen = idle.saturating_sub(self.idle);
        self.idle = idle;
        if !unseen.is_zero() {
            let packet_s = 8.0 * float(params.avpkt.get()) / rate.as_bps_f64();
            self.value *= libm::pow(1.0 - params.weight, unseen.as_secs_f64() / packet_s);
        }
    }
}

const PS_PER_S: u128 = 1_000_000_000_000;

fn contradiction(text: String) -> SpecError {
    entry::contradiction(Rio::NAME, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{built, meta, view};
    use sojourn_sim::Stream;
    use sojourn_units::Rate;

    const EARLY: Verdict = Verdict::Drop(DropReason::Early);
    const FORCED: Verdict = Verdict::Drop(DropReason::Forced);

    struct Bench {
        rio: Rio,
        rng: Stream,
        ms: u64,
    }

    impl Bench {
        fn new(spec: &str) -> Bench {
            let mut bench = Bench {
                rio: built(spec).unwrap_or_else(|error| panic!("{spec}: {error}")),
                rng: Stream::derive(1, 0, "rio"),
                ms: 0,
            };
            bench.offer(IN, 0, 0);
            bench.offer(0, 0, 0);
            bench.rio.core.average_all.idle_since = None;
            bench.rio.core.average_in.idle_since = None;
            bench
        }

        /// A packet finds `packets` waiting, `inside` of them IN.
        fn offer(&mut self, tos: u8, packets: u64, inside: u64) -> Verdict {
            self.ms += 1;
            (self.rio.core.waiting, self.rio.core.waiting_in) = (packets, inside);
            let view = View {
                rate: Rate::mbps(10),
                ..view(packets)
            };
            let (meta, now) = (meta(0, tos), Time::ZERO + Span::from_ms(self.ms));
            let rng = &mut self.rng;
            self.rio.on_enqueue(&meta, &view, &mut Cx { now, rng })
        }

        fn averages(&self) -> Vec<f64> {
            let mut state = Vec::new();
            self.rio.state(&mut state);
            state.truncate(3);
            state
        }
    }

    const IN: u8 = 10 << 2;
    const DIRECT: &str = "weight=1 limit=1000p";

    #[test]
    fn each_kind_is_judged_by_its_own_average() {
        for (coupled, outside) in [(true, FORCED), (false, Verdict::Pass)] {
            let mut bench = Bench::new(&format!("{DIRECT} coupled={coupled}"));
            // 35 wait, 30 of them IN: IN is below 40, all are above 30, OUT alone are 5.
            assert_eq!(bench.offer(IN, 35, 30), Verdict::Pass);
            assert_eq!(bench.offer(0, 35, 30), outside);
            assert_eq!(bench.averages(), [30.0, 5.0, 35.0]);
            assert_eq!(bench.offer(IN, 75, 70), FORCED);
        }
    }

    #[test]
    fn ns2_moves_no_average_on_out_arrivals() {
        let mut bench = Bench::new("dialect=ns2 weight=1 limit=1000p wait=false");
        for _ in 0..100 {
            assert_eq!(bench.offer(0, 100, 0), Verdict::Pass);
        }
        assert_eq!(bench.averages(), [0.0, 0.0, 0.0]);
        // An IN packet moves the average of all, and OUT packets are dropped by it, even when the queue has become short.
        assert_eq!(bench.offer(IN, 100, 3), Verdict::Pass);
        assert_eq!(bench.averages(), [3.0, 0.0, 100.0]);
        assert_eq!(bench.offer(0, 2, 0), FORCED);
        assert_eq!(bench.offer(0, 1, 0), Verdict::Pass);
    }

    #[test]
    fn in_packets_that_have_left_a_ring_are_missed_at_the_next_arrival() {
        let mut rio: Rio = built("weight=0 limit=100000p").expect("built");
        let (mut rng, mut ring) = (Stream::derive(1, 0, "ring"), VecDeque::new());
        for step in 0..10_000 {
            for _ in 0..rng.below(3) {
                ring.pop_front();
            }
            let (inside, now) = (rng.below(3) == 0, Time::ZERO + Span::from_us(step));
            let packets = u64::try_from(ring.len()).expect("few");
            let (meta, rng) = (meta(0, if inside { IN } else { 0 }), &mut rng);
            let verdict = rio.on_enqueue(&meta, &view(packets), &mut Cx { now, rng });
            assert_eq!(verdict, Verdict::Pass);
            ring.push_back(inside);
            let expected = ring.iter().filter(|inside| **inside).count();
            assert_eq!(rio.core.waiting_in, u64::try_from(expected).expect("few"));
        }
    }

    #[test]
    fn drops_between_the_thresholds_follow_the_closed_form() {
        // p = 0.02 (55 - 40) / 30 for IN; gaps are uniform, of mean 1 / 2p.
        let mut bench = Bench::new(DIRECT);
        let drops = (0..200_000)
            .filter(|_| bench.offer(IN, 60, 55) == EARLY)
            .count();
        let rate = float(u64::try_from(drops).expect("few")) / 200_000.0;
        assert!((rate / 0.02 - 1.0).abs() < 0.03, "{rate}");
    }

    #[test]
    fn an_idle_time_decays_both_averages_each_when_it_moves_next() {
        let mut bench = Bench::new("limit=1000p avpkt=1250B");
        (
            bench.rio.core.average_in.value,
            bench.rio.core.average_all.value,
        ) = (20.0, 40.0);
        bench.rio.on_empty(Time::ZERO + Span::from_ms(2));
        bench.ms = 101;
        // 100 packet times idle.
        bench.offer(0, 0, 0);
        let decay = libm::pow(0.998, 100.0);
        let near = |ours: f64, expected: f64| (ours - expected).abs() < 1e-12;
        let averages = bench.averages();
        assert!(
            near(averages[2], 40.0 * decay) && near(averages[0], 20.0),
            "{averages:?}"
        );
        bench.offer(IN, 1, 0);
        let averages = bench.averages();
        assert!(near(averages[0], 0.998 * 20.0 * decay), "{averages:?}");
    }

    #[test]
    fn capable_packets_are_marked_by_both_curves() {
        let mut bench = Bench::new(&format!("{DIRECT} ecn=true"));
        let threshold = Verdict::Mark(MarkReason::Threshold);
        assert_eq!(bench.offer(2, 35, 0), threshold);
        assert_eq!(bench.offer(IN | 1, 75, 75), threshold);
        assert_eq!(bench.offer(IN, 75, 75), FORCED);
    }

    #[test]
    fn what_a_dialect_lacks_is_refused() {
        let refuse = |spec: &str| built::<Rio>(spec).err().expect("an error").to_string();
        for what in ["coupled=false", "ecn=true"] {
            assert_eq!(
                refuse(&format!("dialect=ns2 {what}")),
                format!("rio: dialect ns2 has no {what}; leave it out or choose another dialect")
            );
        }
        assert_eq!(
            refuse("min_out=30p"),
            "rio: min_out, 30p, is not below max_out, 30p; exchange or change them"
        );
    }
}
