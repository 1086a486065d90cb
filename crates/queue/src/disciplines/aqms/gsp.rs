//! GSP: global synchronization protection.
//!
//! Source: draft-lauten-aqm-gsp-03 (May 2016), sections 4.1 (basic) and 4.2 (adaptive), compared with its pseudo-code
//! line by line. The paper behind it was not available: Lautenschlaeger and Francini, "Global Synchronization
//! Protection for Bandwidth Sharing TCP Flows in High-Speed Links" (HPSR 2015).
//!
//! A tail-drop queue that drops one packet when it is longer than `threshold`, and then none for an `interval`, about two round
//! trips, so that the reaction to the first is seen before a second flow is hit. The adaptive form shortens the interval when
//! the queue is above the threshold for longer than below it: at every arrival a sum grows by `alpha` times the time above and
//! shrinks by the time below since the last arrival, between 0 and `max_time`, and the interval is divided by 1 + sum / `tau`.
//! After an arrival without room the time below is not counted until an arrival has found the queue empty and then one above the
//! threshold. Marking instead of dropping is in the draft (section 2).
//!
//! Left open by the draft, and decided here: the queue is what waits, without the arrival; times above and below are
//! exact, as every arrival and departure is seen; below includes the threshold itself; the interval is computed before
//! the arrival is judged. Not implemented: the rule of section 4.4 that a packet which finds the queue empty restarts
//! the timeout, and section 5's variant that measures delay.

use crate::aqm::{Aqm, Cx, Departures, Interest, Meta, Verdict, View};
use crate::entry::{BuildContext, Entry, SpecError};
use sojourn_sim::{DropReason, MarkReason};
use sojourn_units::{Bytes, Limit, Packets, Span, Time, params};

params! {
    /// Drops one packet when the queue is above a threshold, then none for an interval.
    pub struct GspParams {
        /// Queue length above which a packet is dropped.
        threshold: Limit = "50p", range "0p".., source "draft-lauten-aqm-gsp-03, section 4.1: such as half the buffer";
        /// Maximum queue length. Arrivals beyond it are dropped.
        limit: Limit = "100p", range "1p".., source "twice the threshold, as draft-lauten-aqm-gsp-03, section 4.1, suggests";
        /// Time after a drop without another drop. With `adaptive`, the longest such time.
        interval: Span = "200ms", range "1us".."1000s", source "draft-lauten-aqm-gsp-03, section 4.1: such as two round trips, here of 100 ms";
        /// Shorten the interval while the queue stays above the threshold.
        adaptive: bool = "true", source "draft-lauten-aqm-gsp-03, section 4.2";
        /// Time constant of the adaptation.
        tau: Span = "1s", range "1us".."1000s", source "draft-lauten-aqm-gsp-03, section 4.2: such as five intervals",
            where adaptive is "true";
        /// Weight of the time above the threshold relative to the time below it.
        alpha: f64 = "2", range "0".."1000", source "draft-lauten-aqm-gsp-03, section 4.2: twice the duration",
            where adaptive is "true";
        /// Maximum sum of the times.
        max_time: Span = "5min", range "0s".."1000s", source "draft-lauten-aqm-gsp-03, section 4.2: several minutes",
            where adaptive is "true",
            acts "the sum of the times reaches this";
        /// Mark an ECN-capable packet instead of dropping it.
        ecn: bool = "false", source "draft-lauten-aqm-gsp-03, section 2: drops, or marks";
    }
    dialects Dialect {
        /// The draft's adaptive GSP.
        draft as Draft = "gsp-draft-03" {}
        /// GSP with a fixed interval.
        basic as Basic = "gsp-2015" {
            adaptive = "false" from "draft-lauten-aqm-gsp-03, section 4.1: the basic algorithm";
        }
    }
}

/// The discipline.
pub struct Gsp {
    params: GspParams,
    /// Whether the queue is above the threshold, and what that has led to.
    phase: Phase,
    /// When the last packet arrived or left.
    since: Time,
    /// Time above the threshold since the last arrival, in picoseconds.
    above: u64,
    /// Time below the threshold since the last arrival, in picoseconds.
    below: u64,
    /// Time above minus time below, weighted, in picoseconds.
    sum: f64,
    /// When the timeout ends.
    timeout: Time,
}

/// Whether the time below the threshold counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Clear,
    /// There was no room for a packet, and none has found the queue empty since.
    Overflowed,
    /// One has, and none has found it above the threshold since.
    Drained,
}

impl Entry for Gsp {
    const NAME: &'static str = "gsp";
    const TITLE: &'static str = "GSP";
    const ABOUT: &'static str = "Global synchronization protection, a tail-drop queue with a threshold. The first packet that arrives above the threshold is dropped. Then no packet is dropped for an interval of about two round trips, in which one flow halves its window and the others do not. While the queue stays above the threshold, the interval shrinks, so that the drop rate adapts to the load.\n\n\
        Expect a queue that oscillates around `threshold`, with one loss per oscillation under a few TCP flows. An unresponsive load fills the buffer until the interval has shrunk enough; the interval is at least `interval` / (1 + `max_time` / `tau`).";
    type Params = GspParams;

    fn time_constant(params: &GspParams, _: Span) -> Option<crate::entry::TimeConstant> {
        Some(crate::entry::TimeConstant::new("tau", params.tau))
    }

    fn build(params: GspParams, _: &BuildContext) -> Result<Self, SpecError> {
        Ok(Gsp {
            params,
            phase: Phase::Clear,
            since: Time::ZERO,
            above: 0,
            below: 0,
            sum: 0.0,
            timeout: Time::ZERO,
        })
    }
}

impl Aqm for Gsp {
    fn interest(&self) -> Interest {
        Interest {
            departures: Departures::Judged,
            ..Interest::in_arrivals_from(0)
        }
    }

    #[inline(always)]
    fn on_enqueue(&mut self, meta: &Meta, view: &View<'_>, cx: &mut Cx<'_>) -> Verdict {
        self.pass_time(view.packets, view.bytes, cx.now);
        let (packets, bytes) = (view.packets + 1, view.bytes + u64::from(meta.size));
        let limit = self.params.limit;
        let fits = limit.admits(Packets::new(packets), Bytes::new(bytes));
        self.watch(fits, view);
        let below = match self.phase {
            Phase::Clear => float(self.below),
            Phase::Overflowed | Phase::Drained => 0.0,
        };
        let drift = self.params.alpha * float(self.above) - below;
        self.sum = (self.sum + drift).clamp(0.0, float(self.params.max_time.as_ps()));
        (self.above, self.below) = (0, 0);
        let mut verdict = Verdict::Pass;
        if self.is_above(view.packets, view.bytes) && cx.now > self.timeout {
            self.timeout = cx.now.saturating_add(self.interval());
            if !(self.params.ecn && meta.ecn().is_capable()) {
                return Verdict::Drop(DropReason::Forced);
            }
            verdict = Verdict::Mark(MarkReason::Threshold);
        }
        if fits {
            verdict
        } else {
            Verdict::Drop(DropReason::Overlimit)
        }
    }

    #[inline(always)]
    fn on_dequeue(&mut self, meta: &Meta, _: Span, view: &View<'_>, cx: &mut Cx<'_>) -> Verdict {
        let with_head = view.bytes + u64::from(meta.size);
        self.pass_time(view.packets + 1, with_head, cx.now);
        Verdict::Pass
    }

    fn state_names(&self) -> &'static [&'static str] {
        &["interval_s", "sum_s"]
    }

    fn state(&self, out: &mut Vec<f64>) {
        out.extend([self.interval().as_secs_f64(), self.sum / PS_PER_S]);
    }
}

impl Gsp {
    #[inline(always)]
    fn is_above(&self, packets: u64, bytes: u64) -> bool {
        let threshold = self.params.threshold;
        !threshold.admits(Packets::new(packets), Bytes::new(bytes))
    }

    /// The queue had this length until now.
    #[inline(always)]
    fn pass_time(&mut self, packets: u64, bytes: u64, now: Time) {
        let stretch = now.since(self.since).as_ps();
        self.since = now;
        if self.is_above(packets, bytes) {
            self.above = self.above.saturating_add(stretch);
        } else {
            self.below = self.below.saturating_add(stretch);
        }
    }

    /// What an arrival finds, and whether there is room for it.
    #[inline(always)]
    fn watch(&mut self, fits: bool, view: &View<'_>) {
        if !fits {
            self.phase = Phase::Overflowed;
        }
        if self.phase == Phase::Overflowed && view.packets == 0 {
            self.phase = Phase::Drained;
        }
        if self.phase == Phase::Drained && self.is_above(view.packets, view.bytes) {
            self.phase = Phase::Clear;
        }
    }

    fn interval(&self) -> Span {
        if !self.params.adaptive {
            return self.params.interval;
        }
        let shrunk = 1.0 + self.sum / float(self.params.tau.as_ps());
        Span::from_ps(whole(float(self.params.interval.as_ps()) / shrunk))
    }
}

const PS_PER_S: f64 = 1e12;

#[allow(
    clippy::as_conversions,
    reason = "a time within hours, to the picosecond"
)]
const fn float(ps: u64) -> f64 {
    ps as f64
}

#[allow(
    clippy::as_conversions,
    reason = "a time within hours, not negative, cut"
)]
const fn whole(ps: f64) -> u64 {
    ps as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::Waiting;
    use crate::testing::built;
    use sojourn_sim::Stream;
    use sojourn_units::Rate;

    const FORCED: Verdict = Verdict::Drop(DropReason::Forced);
    const FULL: Verdict = Verdict::Drop(DropReason::Overlimit);

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn offer(gsp: &mut Gsp, ms: u64, packets: u64, tos: u8) -> Verdict {
        let view = View {
            packets,
            bytes: 1000 * packets,
            rate: Rate::mbps(8),
            last_departure: Time::ZERO,
            asked: false,
            waiting: Waiting::Nothing,
        };
        let mut rng = Stream::derive(1, 0, "gsp");
        let cx = &mut Cx {
            now: at(ms),
            rng: &mut rng,
        };
        let meta = Meta {
            size: 1000,
            flow: 0,
            tos,
        };
        gsp.on_enqueue(&meta, &view, cx)
    }

    fn drops(gsp: &mut Gsp, times: std::ops::Range<u64>, packets: u64) -> Vec<u64> {
        times
            .filter(|ms| offer(gsp, *ms, packets, 0) == FORCED)
            .collect()
    }

    #[test]
    fn gsp_drops_nothing_at_the_threshold_and_below() {
        assert!(
            drops(
                &mut built::<Gsp>("threshold=10p").expect("consistent"),
                1..5000,
                10
            )
            .is_empty()
        );
    }

    #[test]
    fn basic_drops_are_an_interval_apart() {
        let found = drops(
            &mut built::<Gsp>("dialect=basic threshold=10p").expect("consistent"),
            1..1000,
            11,
        );
        assert_eq!(found, [1, 202, 403, 604, 805]);
    }

    #[test]
    fn adaptive_drops_come_closer_while_the_queue_stays_above() {
        let mut gsp = built::<Gsp>("threshold=10p").expect("consistent");
        let found = drops(&mut gsp, 1..1001, 11);
        // After 1 ms the sum is 2 ms, after 0.201 s it is 0.402 s: intervals of 199.6 ms and 142.7 ms.
        assert_eq!(found[..3], [1, 201, 344]);
        assert!((gsp.interval().as_secs_f64() - 0.2 / 3.0).abs() < 1e-3);
        drops(&mut gsp, 1001..2001, 10);
        assert!((gsp.interval().as_secs_f64() - 0.1).abs() < 1e-3);
        drops(&mut gsp, 2001..9000, 10);
        assert_eq!(gsp.interval(), Span::from_ms(200));
    }

    #[test]
    fn after_an_overflow_the_time_below_does_not_count_until_an_arrival_finds_the_queue_above_anew()
    {
        let mut gsp = built::<Gsp>("threshold=10p limit=20p").expect("consistent");
        drops(&mut gsp, 1..1001, 11);
        assert_eq!(offer(&mut gsp, 1001, 20, 0), FULL);
        let sum = gsp.sum;
        drops(&mut gsp, 1002..2000, 5);
        assert!(gsp.sum >= sum);
        offer(&mut gsp, 2000, 0, 0);
        assert_eq!(gsp.phase, Phase::Drained);
        offer(&mut gsp, 2001, 10, 0);
        assert_eq!(gsp.phase, Phase::Drained);
        offer(&mut gsp, 2002, 11, 0);
        assert_eq!(gsp.phase, Phase::Clear);
    }

    #[test]
    fn a_packet_dropped_at_the_threshold_that_had_no_room_is_an_overflow() {
        let mut gsp = built::<Gsp>("threshold=10p limit=20p").expect("consistent");
        assert_eq!(offer(&mut gsp, 1, 20, 0), FORCED);
        assert_eq!(gsp.phase, Phase::Overflowed);
    }

    #[test]
    fn the_sum_may_reach_several_minutes() {
        let mut gsp = built::<Gsp>("threshold=10p").expect("consistent");
        drops(&mut gsp, 1..60_001, 11);
        assert!((gsp.sum / PS_PER_S - 120.0).abs() < 0.1);
    }

    #[test]
    fn capable_packets_are_marked() {
        let mut gsp = built::<Gsp>("threshold=10p ecn=true").expect("consistent");
        assert_eq!(
            offer(&mut gsp, 1, 11, 2),
            Verdict::Mark(MarkReason::Threshold)
        );
        assert_eq!(offer(&mut gsp, 2, 11, 2), Verdict::Pass);
        assert_eq!(offer(&mut gsp, 300, 11, 0), FORCED);
    }
}
