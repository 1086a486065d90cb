//! FRED: flow (or fair) random early drop.
//!
//! Source: Lin and Morris, "Dynamics of Random Early Detection" (SIGCOMM 1997). The paper was not available: its
//! pseudo-code is taken from three implementations that follow it line by line and agree (J-Sim's FRED.java, which
//! names its blocks A, B and C; a port of ns-2's to ns-3; a module for Linux), its settings from a textbook that lists
//! them. Where only one of the three differs, the others are followed: a flow beyond twice the average share is one
//! with more than that.
//!
//! RED over one queue, with a count of each flow's queued packets and of its strikes. A flow may have `min_q` packets,
//! or the average flow's share if that is more, before it meets RED's random drops. A flow that has `min` packets, or
//! more than twice the average share while the average queue is at `max` or above, loses the arriving packet and is
//! given a strike; with two strikes it may not have more than the average share. From `max` on every arrival is
//! dropped; with `two_packets` only of flows that have two packets, the paper's "two-packet-buffer" for many flows.
//! The state of a flow is deleted when its last packet leaves.
//!
//! The average is updated when a packet is accepted, with the queue before it, and when a packet leaves, with the queue
//! behind it. An arrival at an empty queue lets the average decay by the time since the last packet left the queue, in
//! packets of `avpkt`. The average share is the average queue over the number of flows with packets, at least 1, as of
//! the last time that the average moved.
//!
//! Left open by the paper, and decided here: the queue is what waits, without the packet in transmission; a decay
//! starts the time anew; the average moves before the departing packet is taken off its flow's count; `limit` comes
//! last, and what it refuses changes nothing. Nothing is marked: none of the three does. The number of a flow
//! identifies it, in both directions. Packets that a scheduler takes out past the queue's own end are found at the next
//! arrival, and the flows counted anew.
//!
//! Draws: one for each packet that meets the random drops.

use super::red::{signed_float, spaced};
use crate::aqm::{Aqm, Cx, Departures, Interest, Meta, Verdict, View, float};
use crate::entry::{BuildContext, Entry, SpecError};
use sojourn_sim::{DropReason, to_usize as at};
use sojourn_units::{Bytes, Limit, Packets, Span, Time, params};

params! {
    /// Random early detection that looks at what each flow has in the queue.
    pub struct FredParams {
        /// Average queue length at which random drops begin, and the most that one flow may have in the queue. `none`
        /// is a quarter of `limit`.
        min: Option<Packets> = "none", range "1p".., source "Lin & Morris 1997 as cited: min_th, a quarter of the buffer, or a round trip if that is less";
        /// Average queue length from which every packet is dropped. `none` is twice `min`.
        max: Option<Packets> = "none", range "1p".., source "Lin & Morris 1997 as cited: max_th, twice min_th";
        /// Packets that a flow may have in the queue without random drops.
        min_q: Packets = "2p", range "0p".., source "Lin & Morris 1997 as cited: min_q, 2 for small buffers and 4 for large ones";
        /// Drop probability at `max`.
        probability: f64 = "0.02", range "0".."1", source "Lin & Morris 1997 as cited: max_p";
        /// Weight of the current queue length in the average.
        weight: f64 = "0.002", range "0".."1", source "Lin & Morris 1997 as cited: w_q";
        /// Maximum queue length. Arrivals beyond it are dropped.
        limit: Limit = "100p", range "1p".., source "the same as for red";
        /// Allow two packets per flow when the average is at `max` or above.
        two_packets: bool = "false", source "Lin & Morris 1997: for many flows";
        /// Mean packet size, for idle times and for the thresholds of a limit in bytes.
        avpkt: Bytes = "1000B", range "1B".., source "J-Sim's FRED.java and the port to ns-3: mean packet size";
    }
    dialects Dialect {
        /// Lin and Morris 1997.
        paper as Paper = "fred-1997" {}
    }
}

/// The discipline.
pub struct Fred {
    params: FredParams,
    /// Lower threshold of the average, in packets or bytes as `limit`.
    min: f64,
    /// Upper threshold of the average, in the same unit.
    max: f64,
    /// Average queue, in packets or bytes as the thresholds.
    average: f64,
    /// Flows over which the average is shared: those with packets when it moved last, at least 1.
    sharers: f64,
    /// RED's probability as of the last packet that met it.
    probability: f64,
    /// Packets since the last random drop, while the average is between the thresholds; -1 below them.
    count: i64,
    /// When the last packet left the queue, or the average decayed.
    idle_since: Time,
    flows: Flows,
    /// Packets of all flows.
    waiting: u64,
}

/// The flows by their number, which are dense: one without packets has neither packets nor strikes.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
struct Flows {
    /// The number of the first in `known`: one of many queues may see a single flow of thousands.
    first: u32,
    /// By number, from `first` on.
    known: Vec<Flow>,
    /// Flows with packets.
    active: u32,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct Flow {
    /// Packets that wait.
    packets: u32,
    /// How often it was found to take more than its share.
    strikes: u32,
}

impl Flows {
    #[inline]
    fn get(&self, flow: u32) -> Flow {
        let index = at(flow.wrapping_sub(self.first));
        self.known.get(index).copied().unwrap_or_default()
    }

    /// A flow that has packets.
    #[inline]
    fn active_mut(&mut self, flow: u32) -> Option<&mut Flow> {
        let index = at(flow.wrapping_sub(self.first));
        self.known.get_mut(index).filter(|flow| flow.packets > 0)
    }

    /// A packet of the flow is let in.
    #[inline]
    fn enter(&mut self, flow: u32) {
        let index = at(flow.wrapping_sub(self.first));
        if index >= self.known.len() {
            self.make_known(flow);
        }
        let known = &mut self.known[at(flow - self.first)];
        self.active += u32::from(known.packets == 0);
        known.packets += 1;
    }

    #[cold]
    #[inline(never)]
    fn make_known(&mut self, flow: u32) {
        if self.known.is_empty() {
            self.first = flow;
        }
        let before = self.first.saturating_sub(flow);
        self.first -= before;
        let fresh = std::iter::repeat_n(Flow::default(), at(before));
        self.known.splice(..0, fresh);
        let least = at(flow - self.first) + 1;
        self.known
            .resize(self.known.len().max(least), Flow::default());
    }

    /// A packet of the flow left. With its last one the flow is forgotten.
    #[inline]
    fn leave(&mut self, flow: u32) -> bool {
        let Some(known) = self.active_mut(flow) else {
            return false;
        };
        known.packets -= 1;
        if known.packets == 0 {
            *known = Flow::default();
            self.active -= 1;
        }
        true
    }
}

impl Entry for Fred {
    const NAME: &'static str = "fred";
    const TITLE: &'static str = "FRED";
    const ABOUT: &'static str = "Flow random early drop, a RED that counts each flow's packets in the queue. A flow with a packet or two always gets in. A flow with more than its share gets RED's random drops. A flow that keeps exceeding its share gets strikes, after which it may not have more than the share of an average flow.\n\n\
        Expect fragile flows (slow ones with long round trips) to get the share that they would lose under RED, and an unresponsive flow to get about as much of the link as the others. The average queue stays between `min` and `max`. At `max` and above, every packet is dropped, unless `two_packets` allows two packets per flow.";
    type Params = FredParams;

    fn build(params: FredParams, _: &BuildContext) -> Result<Self, SpecError> {
        let limit = match params.limit {
            Limit::Packets(packets) => float(packets.get()),
            Limit::Bytes(bytes) => float(bytes.get()) / float(params.avpkt.get()),
        };
        let min = params.min.map_or(limit / 4.0, |min| float(min.get()));
        let max = params.max.map_or(2.0 * min, |max| float(max.get()));
        if min >= max {
            return Err(SpecError::Contradiction {
                discipline: Self::NAME.to_owned(),
                text: "min is not below max; exchange them, or give both".to_owned(),
            });
        }
        Ok(Fred {
            min,
            max,
            average: 0.0,
            sharers: 1.0,
            probability: 0.0,
            count: -1,
            idle_since: Time::ZERO,
            flows: Flows::default(),
            waiting: 0,
            params,
        })
    }
}

impl Aqm for Fred {
    fn interest(&self) -> Interest {
        Interest {
            departures: Departures::Judged,
            ..Interest::in_arrivals_from(0)
        }
    }

    #[inline(always)]
    fn on_enqueue(&mut self, meta: &Meta, view: &View<'_>, cx: &mut Cx<'_>) -> Verdict {
        if self.waiting != view.packets {
            self.count_anew(view);
        }
        if view.packets == 0 {
            self.decay(view, cx.now);
        }
        let verdict = self.judge(meta.flow, cx);
        if matches!(verdict, Verdict::Drop(_)) {
            return verdict;
        }
        let packets = Packets::new(view.packets + 1);
        let bytes = Bytes::new(view.bytes + u64::from(meta.size));
        if !self.params.limit.admits(packets, bytes) {
            return Verdict::Drop(DropReason::Overlimit);
        }
        self.waiting += 1;
        self.flows.enter(meta.flow);
        if view.packets == 0 {
            self.divide();
        } else {
            self.sample(view.packets);
        }
        verdict
    }

    #[inline]
    fn on_dequeue(&mut self, meta: &Meta, _: Span, view: &View<'_>, cx: &mut Cx<'_>) -> Verdict {
        self.sample(view.packets);
        if view.packets == 0 {
            self.idle_since = cx.now;
        }
        self.waiting -= u64::from(self.flows.leave(meta.flow));
        Verdict::Pass
    }

    fn state_names(&self) -> &'static [&'static str] {
        &[
            "average_packets",
            "average_share_packets",
            "drop_probability",
            "active_flows",
        ]
    }

    fn state(&self, out: &mut Vec<f64>) {
        out.extend([
            self.average,
            self.share(),
            self.probability,
            f64::from(self.flows.active),
        ]);
    }
}

impl Fred {
    #[inline(always)]
    fn judge(&mut self, flow: u32, cx: &mut Cx<'_>) -> Verdict {
        let known = self.flows.get(flow);
        let has = f64::from(known.packets);
        let share = self.share();
        let beyond = self.average >= self.max;
        let most = if beyond { 2.0 } else { self.min };
        let greedy =
            has >= most || (beyond && has > 2.0 * share) || (has >= share && known.strikes > 1);
        if greedy {
            if let Some(flow) = self.flows.active_mut(flow) {
                flow.strikes = flow.strikes.saturating_add(1);
            }
            return Verdict::Drop(DropReason::Forced);
        }
        if self.average < self.min {
            self.count = -1;
            self.probability = 0.0;
            Verdict::Pass
        } else if !beyond {
            self.count += 1;
            self.probability =
                self.params.probability * (self.average - self.min) / (self.max - self.min);
            self.draw(has, share, cx)
        } else {
            self.count = 0;
            self.probability = 1.0;
            match self.params.two_packets {
                true => Verdict::Pass,
                false => Verdict::Drop(DropReason::Forced),
            }
        }
    }

    /// RED's random drop.
    fn draw(&mut self, has: f64, share: f64, cx: &mut Cx<'_>) -> Verdict {
        if has < share.max(float(self.params.min_q.get())) {
            return Verdict::Pass;
        }
        let p = spaced(self.probability, signed_float(self.count), false);
        if cx.rng.uniform() >= p {
            return Verdict::Pass;
        }
        self.count = 0;
        Verdict::Drop(DropReason::Early)
    }

    #[inline]
    fn sample(&mut self, packets: u64) {
        let weight = self.params.weight;
        self.average = (1.0 - weight) * self.average + weight * float(packets);
        self.divide();
    }

    /// An arrival that finds nothing.
    #[inline(never)]
    fn decay(&mut self, view: &View<'_>, now: Time) {
        let bits = 8.0 * float(self.params.avpkt.get());
        let missed = now.since(self.idle_since).as_secs_f64() * view.rate.as_bps_f64() / bits;
        self.average *= libm::pow(1.0 - self.params.weight, missed);
        self.idle_since = now;
        self.divide();
    }

    fn divide(&mut self) {
        self.sharers = f64::from(self.flows.active.max(1));
    }

    /// Of the average, a flow's part.
    #[inline]
    fn share(&self) -> f64 {
        (self.average / self.sharers).max(1.0)
    }

    /// Strikes stay with the flows that still have packets.
    #[cold]
    fn count_anew(&mut self, view: &View<'_>) {
        let before = std::mem::take(&mut self.flows);
        for packet in (0..view.packets).filter_map(|position| view.waiting.peek(position)) {
            self.flows.enter(packet.flow);
            if let Some(flow) = self.flows.active_mut(packet.flow) {
                flow.strikes = before.get(packet.flow).strikes;
            }
        }
        self.waiting = view.packets;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::Waiting;
    use crate::store::{List, Store};
    use crate::testing::{built, meta, stored, view};
    use sojourn_sim::{Packet, Stream};

    const EARLY: Verdict = Verdict::Drop(DropReason::Early);
    const FORCED: Verdict = Verdict::Drop(DropReason::Forced);

    /// A FRED at this average, with these packets of each flow, in their order.
    struct Bench {
        fred: Fred,
        rng: Stream,
        store: Store,
        queue: List,
    }

    impl Bench {
        fn new(spec: &str, average: f64, packets: &[u64]) -> Bench {
            let flows = (0..).zip(packets);
            let each =
                flows.flat_map(|(flow, n)| (0..*n).map(move |_| Packet::test(1000, flow, 0)));
            let (store, queue) = stored(each);
            let mut fred = built::<Fred>(spec).unwrap_or_else(|error| panic!("{spec}: {error}"));
            fred.average = average;
            fred.count_anew(&View {
                waiting: Waiting::Queue(&store, &queue),
                ..view(queue.len())
            });
            fred.divide();
            Bench {
                fred,
                rng: Stream::derive(1, 0, "fred"),
                store,
                queue,
            }
        }

        /// What becomes of a packet; what it changed in the counts is taken back.
        fn judge(&mut self, flow: u32) -> Verdict {
            let cx = &mut Cx {
                now: Time::ZERO,
                rng: &mut self.rng,
            };
            self.fred.judge(flow, cx)
        }

        fn rate(&mut self, flow: u32, what: Verdict) -> f64 {
            let hits = (0..50_000)
                .filter(|_| {
                    self.fred.count = 0;
                    self.judge(flow) == what
                })
                .count();
            f64::from(u32::try_from(hits).expect("few")) / 50_000.0
        }
    }

    #[test]
    fn the_thresholds_are_a_quarter_and_half_of_the_buffer() {
        for (spec, min, max) in [
            ("", 25.0, 50.0),
            ("limit=200p", 50.0, 100.0),
            ("limit=40kB", 10.0, 20.0),
            ("min=5p", 5.0, 10.0),
            ("min=5p max=8p", 5.0, 8.0),
        ] {
            let fred = built::<Fred>(spec).expect("a FRED");
            assert_eq!((fred.min, fred.max), (min, max), "{spec}");
        }
        let error = built::<Fred>("min=60p max=50p").err().expect("an error");
        assert!(error.to_string().contains("below max"));
    }

    #[test]
    fn only_flows_with_their_share_meet_random_drops() {
        // Half way, shares of 37.5 / 4: p is 0.01 / (1 - 0.01).
        let mut bench = Bench::new("", 37.5, &[1, 9, 10, 17]);
        assert_eq!(bench.rate(0, EARLY), 0.0);
        assert_eq!(bench.rate(1, EARLY), 0.0);
        let rate = bench.rate(2, EARLY);
        assert!((rate - 0.0101).abs() < 0.002, "{rate}");
        assert!(bench.rate(3, EARLY) > 0.005);
    }

    #[test]
    fn min_q_packets_are_let_in_where_shares_are_small() {
        // Sixty flows: the share is 1 at least, min_q is 2.
        let mut bench = Bench::new("probability=1", 45.0, &[1; 60]);
        assert_eq!(bench.rate(0, Verdict::Pass), 1.0);
        let mut bench = Bench::new("probability=1 min_q=1p", 45.0, &[1; 60]);
        assert!(bench.rate(0, EARLY) > 0.5);
    }

    #[test]
    fn a_flow_with_min_packets_loses_and_is_given_a_strike() {
        let mut bench = Bench::new("", 10.0, &[24, 25]);
        assert_eq!(bench.judge(0), Verdict::Pass);
        assert_eq!(bench.judge(1), FORCED);
        assert_eq!(bench.fred.flows.get(1).strikes, 1);
    }

    #[test]
    fn with_two_strikes_a_flow_is_held_to_the_average_share() {
        // A share of 5.
        let mut bench = Bench::new("", 10.0, &[5, 4]);
        for flow in [0, 1] {
            bench.fred.flows.active_mut(flow).expect("a flow").strikes = 1;
            assert_eq!(bench.judge(flow), Verdict::Pass, "{flow}");
            bench.fred.flows.active_mut(flow).expect("a flow").strikes = 2;
        }
        assert_eq!(bench.judge(0), FORCED);
        assert_eq!(bench.judge(1), Verdict::Pass);
    }

    #[test]
    fn beyond_max_everything_is_dropped_or_what_has_two_packets() {
        let mut bench = Bench::new("", 50.0, &[1, 2]);
        assert_eq!([0, 1, 2].map(|flow| bench.judge(flow)), [FORCED; 3]);
        // Only the flow with two packets is to blame.
        assert_eq!(
            [0, 1].map(|flow| bench.fred.flows.get(flow).strikes),
            [0, 1]
        );
        let mut bench = Bench::new("two_packets=true", 50.0, &[1, 2]);
        let verdicts = [0, 1, 2].map(|flow| bench.judge(flow));
        assert_eq!(verdicts, [Verdict::Pass, FORCED, Verdict::Pass]);
    }

    #[test]
    fn the_average_moves_with_arrivals_and_departures_and_decays_when_nothing_waits() {
        let mut bench = Bench::new("weight=0.5", 8.0, &[4]);
        let mut rng = Stream::derive(1, 0, "fred");
        let view = View {
            waiting: Waiting::Queue(&bench.store, &bench.queue),
            ..view(4)
        };
        let cx = &mut Cx {
            now: Time::ZERO,
            rng: &mut rng,
        };
        assert_eq!(bench.fred.on_enqueue(&meta(1, 0), &view, cx), Verdict::Pass);
        assert_eq!((bench.fred.average, bench.fred.share()), (6.0, 3.0));
        let empty = View { packets: 0, ..view };
        bench.fred.on_dequeue(&meta(1, 0), Span::ZERO, &empty, cx);
        assert_eq!(bench.fred.average, 3.0);
        assert_eq!(bench.fred.flows.active, 1);
        // Two packets of 1 ms later.
        bench.fred.decay(&empty, Time::ZERO + Span::from_ms(2));
        assert_eq!(bench.fred.average, 0.75);
    }

    #[test]
    fn flows_are_known_in_whatever_order_their_numbers_come() {
        let mut flows = Flows::default();
        for flow in [7, 3, 9, 3] {
            flows.enter(flow);
        }
        let packets = [2, 3, 4, 7, 8, 9, 10].map(|flow| flows.get(flow).packets);
        assert_eq!(packets, [0, 2, 0, 1, 0, 1, 0]);
        assert_eq!((flows.active, flows.known.len()), (3, 7));
        assert!(flows.leave(9) && !flows.leave(9) && !flows.leave(2));
        assert_eq!(flows.active, 2);
    }

    #[test]
    fn a_flow_is_forgotten_with_its_last_packet_and_counted_anew_after_an_eviction() {
        let mut bench = Bench::new("", 10.0, &[2, 1]);
        bench.fred.flows.active_mut(0).expect("a flow").strikes = 3;
        // The scheduler took the two packets of flow 0 from the head.
        for _ in 0..2 {
            let held = bench.store.pop_front(&mut bench.queue).expect("a packet");
            let _ = bench.store.release(held);
        }
        let mut rng = Stream::derive(1, 0, "fred");
        let view = View {
            waiting: Waiting::Queue(&bench.store, &bench.queue),
            ..view(1)
        };
        let cx = &mut Cx {
            now: Time::ZERO,
            rng: &mut rng,
        };
        assert_eq!(bench.fred.on_enqueue(&meta(0, 0), &view, cx), Verdict::Pass);
        let fresh = Flow {
            packets: 1,
            strikes: 0,
        };
        assert_eq!(
            [0, 1, 2].map(|flow| bench.fred.flows.get(flow)),
            [fresh, fresh, Flow::default()]
        );
        assert_eq!(bench.fred.flows.active, 2);
    }
}
