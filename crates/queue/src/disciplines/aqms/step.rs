//! Step and ramp: marking ECN by a threshold, for DCTCP and L4S.
//!
//! Sources: RFC 8257 (2017), section 3.1, and Alizadeh and others, "Data Center TCP (DCTCP)" (SIGCOMM 2010): every arrival that finds
//! the queue above K is marked (dialect rfc8257, the default); RFC 9332 (2023), appendix A: the native AQM of the L4S queue, a ramp over
//! the delay of what leaves (dialect rfc9332); Linux 6.17's sch_dualpi2.c: a step at 1 ms (dialect linux). The RFCs and Linux were
//! read; the paper's K was not: RFC 8257 only says that its section 3.4 suggests K > RTT C / 7, C in packets per second.
//!
//! A step marks every ECN-capable packet above `threshold` or `target`. A ramp marks no packets up to it and all
//! packets from its upper end. In between, the number of marks is the sum of the packets' probabilities, without random
//! draws (RFC 9332's recur()). Packets that are not ECN-capable pass and do not count. Packets are dropped only at
//! `limit`.
//!
//! RFC 9332's ramp with a width of zero would mark at the threshold too; a step here marks above it, as RFC 8257 and Linux have it.
//! With `by=backlog` the length is what waits when a packet arrives, without itself and without the packet in transmission. RFC
//! 9332's Th_len (no mark while only one packet waits) is a parameter of [`crate::disciplines::schedulers::dualpi2`].

use crate::aqm::{Aqm, Cx, Departures, Interest, Meta, Verdict, View, float};
use crate::entry::{self, BuildContext, Entry, SpecError};
use sojourn_sim::{DropReason, MarkReason};
use sojourn_units::{Bytes, Limit, Packets, Span, choice, params};

choice! {
    /// What a threshold is compared with.
    pub enum Measure {
        /// The length of the queue on arrival.
        Backlog = "backlog",
        /// The time that a packet has waited when it leaves.
        Sojourn = "sojourn",
    }
}

params! {
    /// Step or ramp: marks ECN-capable packets above a threshold of length or delay.
    pub struct StepParams {
        /// Quantity that is compared with the threshold.
        by: Measure = "backlog", source "RFC 8257, section 3.1: on arrival, by the instantaneous queue";
        /// Queue length above which packets are marked.
        threshold: Limit = "20p", range "0p".., source "Alizadeh et al. 2010: K 20 packets at 1 Gbps, 65 at 10 Gbps",
            where by is "backlog";
        /// Upper end of a ramp that starts at `threshold`. `none` is a step.
        threshold_max: Option<Limit> = "none", range "0p".., source "RFC 8257: a step",
            where by is "backlog";
        /// Delay above which packets are marked.
        target: Span = "1ms", range "0s".."10s", source "sch_dualpi2.c: step 1 ms",
            where by is "sojourn";
        /// Width of a ramp that starts at `target`. Zero is a step.
        range: Span = "0s", range "0s".."10s", source "sch_dualpi2.c: a step",
            where by is "sojourn";
        /// Maximum queue length. Arrivals beyond it are dropped.
        limit: Limit = "1000p", range "1p".., source "the RFCs leave it open";
    }
    dialects Dialect {
        /// DCTCP's step by the length of the queue.
        rfc8257 as Rfc8257 = "rfc8257" {}
        /// The ramp of the L4S queue.
        rfc9332 as Rfc9332 = "rfc9332" {
            by = "sojourn" from "RFC 9332, appendix A: laqm(qdelay)";
            target = "800us" from "RFC 9332, appendix A: minTh";
            range = "400us" from "RFC 9332, appendix A: range";
        }
        /// The step of Linux's dualpi2.
        linux as Linux = "linux-6.17" {
            by = "sojourn" from "sch_dualpi2.c: do_step_aqm";
        }
    }
}

/// The discipline.
pub struct Step {
    limit: Limit,
    by: By,
    /// Up to this it marks nothing. In packets, bytes or picoseconds, as `by` says.
    low: u64,
    /// From this on it marks everything, in the unit of `low`. A step has `low` and `high` equal.
    high: u64,
    ramp: Ramp,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum By {
    Packets,
    Bytes,
    Sojourn,
}

impl Entry for Step {
    const NAME: &'static str = "step";
    const ALIASES: &'static [&'static str] = &["ramp"];
    const TITLE: &'static str = "Step marking";
    const MARKS: bool = true;
    const ABOUT: &'static str = "Marks ECN-capable packets above a threshold: all of them (a step), or a share that grows up to an upper end (a ramp). The threshold is a queue length on arrival, as DCTCP's K, or a delay when the packet leaves, as in the L4S queue. Other packets are never marked, and packets are dropped only when the queue is full.\n\n\
        Expect a queue near the threshold under DCTCP or another scalable congestion control, and a queue that fills up to `limit` under all other traffic.";
    type Params = StepParams;

    fn build(params: StepParams, _: &BuildContext) -> Result<Self, SpecError> {
        let (by, low, high) = match params.by {
            Measure::Sojourn => {
                let low = params.target;
                (By::Sojourn, low.as_ps(), (low + params.range).as_ps())
            }
            Measure::Backlog => {
                let low = params.threshold;
                let high = params.threshold_max.unwrap_or(low);
                let by = match (low, high) {
                    (Limit::Packets(_), Limit::Packets(_)) => By::Packets,
                    (Limit::Bytes(_), Limit::Bytes(_)) => By::Bytes,
                    _ => {
                        return Err(contradiction(
                            "threshold and threshold_max are in different units; give both in packets or both in bytes",
                        ));
                    }
                };
                (by, low.get(), high.get())
            }
        };
        if low > high {
            return Err(contradiction(
                "threshold_max is below threshold; exchange them",
            ));
        }
        Ok(Step {
            limit: params.limit,
            by,
            low,
            high,
            ramp: Ramp::default(),
        })
    }
}

impl Aqm for Step {
    fn interest(&self) -> Interest {
        Interest {
            departures: Departures::judged_if(self.by == By::Sojourn),
            ..Interest::in_arrivals_from(0)
        }
    }

    #[inline(always)]
    fn on_enqueue(&mut self, meta: &Meta, view: &View<'_>, _: &mut Cx<'_>) -> Verdict {
        let packets = Packets::new(view.packets + 1);
        let bytes = Bytes::new(view.bytes + u64::from(meta.size));
        if !self.limit.admits(packets, bytes) {
            return Verdict::Drop(DropReason::Overlimit);
        }
        match self.by {
            By::Packets => self.judge(meta, view.packets),
            By::Bytes => self.judge(meta, view.bytes),
            By::Sojourn => Verdict::Pass,
        }
    }

    #[inline(always)]
    fn on_dequeue(&mut self, meta: &Meta, sojourn: Span, _: &View<'_>, _: &mut Cx<'_>) -> Verdict {
        match self.by {
            By::Sojourn => self.judge(meta, sojourn.as_ps()),
            By::Packets | By::Bytes => Verdict::Pass,
        }
    }

    fn state_names(&self) -> &'static [&'static str] {
        &["mark_probability"]
    }

    fn state(&self, out: &mut Vec<f64>) {
        out.push(self.ramp.probability);
    }
}

impl Step {
    #[inline]
    fn judge(&mut self, meta: &Meta, measure: u64) -> Verdict {
        if !meta.ecn().is_capable() {
            return Verdict::Pass;
        }
        if self.low == self.high {
            self.ramp.probability = f64::from(u8::from(measure > self.low));
            if measure <= self.low {
                return Verdict::Pass;
            }
            return Verdict::Mark(MarkReason::Threshold);
        }
        if self.ramp.recurs(ramp(measure, self.low, self.high)) {
            Verdict::Mark(MarkReason::Threshold)
        } else {
            Verdict::Pass
        }
    }
}

/// RFC 9332's recur(): true as often as the probabilities sum to.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Ramp {
    /// Probability of a mark at the last packet, 0 to 1.
    pub(crate) probability: f64,
    /// Sum of the probabilities since the last mark, 0 to 1.
    sum: f64,
}

impl Ramp {
    #[inline]
    pub(crate) fn recurs(&mut self, probability: f64) -> bool {
        self.probability = probability;
        self.sum += probability;
        let recurs = self.sum > 1.0;
        if recurs {
            self.sum -= 1.0;
        }
        recurs
    }
}

/// 0 up to `low`, 1 from `high` on, linear between.
#[inline]
pub(crate) fn ramp(measure: u64, low: u64, high: u64) -> f64 {
    if measure >= high {
        1.0
    } else if measure > low {
        float(measure - low) / float(high - low)
    } else {
        0.0
    }
}

fn contradiction(text: &str) -> SpecError {
    entry::contradiction(Step::NAME, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::Waiting;
    use crate::testing::built;
    use sojourn_sim::Stream;
    use sojourn_units::{Rate, Time};

    const MARK: Verdict = Verdict::Mark(MarkReason::Threshold);

    fn ask(step: &mut Step, packets: u64, sojourn: Span, tos: u8) -> [Verdict; 2] {
        let view = View {
            packets,
            bytes: 1000 * packets,
            rate: Rate::mbps(8),
            last_departure: Time::ZERO,
            asked: false,
            waiting: Waiting::Nothing,
        };
        let meta = Meta {
            size: 1000,
            flow: 0,
            tos,
        };
        let mut rng = Stream::derive(1, 0, "step");
        let (now, rng) = (Time::ZERO, &mut rng);
        let mut cx = Cx { now, rng };
        [
            step.on_enqueue(&meta, &view, &mut cx),
            step.on_dequeue(&meta, sojourn, &view, &mut cx),
        ]
    }

    #[test]
    fn a_step_marks_above_the_threshold_and_not_at_it() {
        let mut dctcp = built("").expect("a step");
        assert_eq!(ask(&mut dctcp, 20, Span::from_secs(1), 2)[0], Verdict::Pass);
        assert_eq!(ask(&mut dctcp, 21, Span::ZERO, 2)[0], MARK);
        let mut bytes = built("threshold=20500B").expect("a step");
        assert_eq!(ask(&mut bytes, 20, Span::ZERO, 2)[0], Verdict::Pass);
        assert_eq!(ask(&mut bytes, 21, Span::ZERO, 2)[0], MARK);
        let mut linux = built("dialect=linux").expect("a step");
        assert_eq!(
            ask(&mut linux, 900, Span::from_ms(1), 1),
            [Verdict::Pass; 2]
        );
        assert_eq!(
            ask(&mut linux, 0, Span::from_ps(1_000_000_001), 1),
            [Verdict::Pass, MARK]
        );
    }

    #[test]
    fn packets_that_are_not_capable_pass_and_only_the_limit_drops() {
        let mut step = built("limit=100p").expect("a step");
        assert_eq!(
            ask(&mut step, 99, Span::from_secs(1), 0),
            [Verdict::Pass; 2]
        );
        let full = Verdict::Drop(DropReason::Overlimit);
        assert_eq!(ask(&mut step, 100, Span::ZERO, 2)[0], full);
    }

    #[test]
    fn a_ramp_marks_as_often_as_its_probabilities_sum_to() {
        let mut step = built("dialect=rfc9332").expect("a ramp");
        let mut marks = |us: u64, count: u64| {
            (0..count)
                .filter(|_| ask(&mut step, 0, Span::from_us(us), 1)[1] == MARK)
                .count()
        };
        assert_eq!(marks(800, 1000), 0);
        // Half way up: every second one, as soon as the sum exceeds one.
        assert_eq!(marks(1000, 1001), 500);
        assert_eq!(marks(900, 4000), 1000);
        assert_eq!(marks(1200, 1000), 1000);
    }

    #[test]
    fn a_ramp_by_length_has_both_ends_in_one_unit() {
        let mut step = built("threshold=10p threshold_max=20p").expect("a ramp");
        let marks = (0..1000).filter(|_| ask(&mut step, 15, Span::ZERO, 2)[0] == MARK);
        assert_eq!(marks.count(), 499);
        for (spec, expected) in [
            ("threshold=10p threshold_max=20kB", "different units"),
            ("threshold=10p threshold_max=9p", "exchange"),
        ] {
            let error = built::<Step>(spec).err().expect("an error").to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
