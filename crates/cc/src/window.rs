//! The window that most algorithms share: slow start, growth by a rule of their own, a fall to a threshold.
//!
//! Sources: RFC 5681 sections 3.1, 3.2 and 4.1, RFC 3465 (byte counting), RFC 3522 (undo).

use crate::num::scaled;
use crate::{Acked, Expiry, Sample, Sent, Stage, Start, Undo};

/// The window of one connection, bytes.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    /// The congestion window.
    pub(crate) cwnd: u64,
    /// The slow start threshold; `u64::MAX` while unknown.
    pub(crate) ssthresh: u64,
    /// Payload of a full segment.
    pub(crate) mss: u64,
    /// Bytes acknowledged towards the next segment of growth.
    pub(crate) counted: u64,
    /// The window at the beginning.
    initial: u64,
    /// Most bytes by which one acknowledgement opens the window in slow start.
    limit: u64,
    whole: bool,
    after_timeout: bool,
}

impl Window {
    /// Of a connection that is not established yet.
    pub(crate) fn new() -> Window {
        Window {
            cwnd: 0,
            ssthresh: u64::MAX,
            mss: 1,
            counted: 0,
            initial: 0,
            limit: u64::MAX,
            whole: false,
            after_timeout: false,
        }
    }

    pub(crate) fn start(&mut self, start: &Start) {
        self.mss = start.mss.max(1);
        self.initial = start.initial_window.max(self.mss);
        self.cwnd = self.initial;
        self.limit = match start.slow_start_limit {
            0 => u64::MAX,
            segments => u64::from(segments) * self.mss,
        };
        self.whole = start.whole_segments;
    }

    /// The window at the beginning.
    pub(crate) fn initial(&self) -> u64 {
        self.initial
    }

    /// RFC 5681 section 4.1: the restart window.
    #[inline]
    pub(crate) fn sent(&mut self, sent: &Sent) {
        if sent.after_idle {
            self.cwnd = self.cwnd.min(self.initial);
            self.counted = 0;
        }
    }

    /// The application has not made use of it: see [`crate::CongestionControl::on_decay`].
    pub(crate) fn decay(&mut self, cwnd: u64) {
        self.ssthresh = self.ssthresh.max(three_quarters(self.cwnd, self.mss));
        self.cwnd = cwnd;
    }

    /// True below the threshold.
    #[inline]
    pub(crate) fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// The window is the threshold from now on.
    pub(crate) fn end_slow_start(&mut self) {
        self.ssthresh = self.cwnd;
    }

    /// Segments, rounded down.
    #[inline]
    pub(crate) fn segments(&self) -> u64 {
        self.cwnd / self.mss
    }

    /// The bytes for which the window may grow; ends a recovery.
    #[inline]
    pub(crate) fn admit(&mut self, acked: &Acked) -> Option<u64> {
        match acked.stage {
            Stage::Open => (acked.limited && !acked.echo).then_some(acked.bytes),
            Stage::Recovery => None,
            Stage::Exit { at_most } => {
                self.cwnd = self.ssthresh.min(at_most).max(self.mss);
                self.counted = 0;
                None
            }
        }
    }

    /// Slow start; what is left of `bytes` when it is over.
    pub(crate) fn slow_start(&mut self, bytes: u64) -> u64 {
        if !self.in_slow_start() {
            self.after_timeout = false;
            return bytes;
        }
        // RFC 3465 section 2.3; where nothing bounds slow start, nothing does after a timeout (tcp_slow_start of Linux).
        let limit = if self.after_timeout && self.limit != u64::MAX {
            self.mss
        } else {
            self.limit
        };
        let growth = bytes.min(limit);
        let step = growth.min(self.ssthresh - self.cwnd);
        self.cwnd += step;
        growth - step
    }

    /// One segment more for every `per` bytes acknowledged.
    pub(crate) fn grow(&mut self, bytes: u64, per: u64) {
        let per = per.max(1);
        if self.counted >= per {
            self.counted = 0;
            self.cwnd += self.mss;
        }
        self.counted += bytes;
        if self.counted >= per {
            let steps = self.counted / per;
            self.counted -= steps * per;
            self.cwnd += steps * self.mss;
        }
    }

    /// Window and threshold become `to`, at least `floor` segments.
    pub(crate) fn fall(&mut self, to: u64, floor: u64) {
        self.ssthresh = self.rounded(to, floor);
        self.cwnd = self.ssthresh;
        self.counted = 0;
    }

    /// The same for a part of the window, at least two segments.
    pub(crate) fn fall_by(&mut self, factor: f64) {
        self.fall(scaled(self.cwnd, factor), 2);
    }

    /// The loss window; the threshold becomes `to`, unless the same segment has timed out before.
    pub(crate) fn time_out(&mut self, to: u64, expiry: Expiry) {
        if !expiry.again {
            self.ssthresh = self.rounded(to, 2);
        }
        self.cwnd = expiry.kept + self.mss;
        self.counted = 0;
        self.after_timeout = true;
    }

    pub(crate) fn undo(&mut self, undo: &Undo) {
        self.cwnd = self.cwnd.max(undo.cwnd);
        self.ssthresh = self.ssthresh.max(undo.ssthresh);
        self.after_timeout = false;
    }

    fn rounded(&self, to: u64, floor: u64) -> u64 {
        let to = if self.whole { to - to % self.mss } else { to };
        to.max(floor * self.mss)
    }
}

/// Tells when a round trip has passed: when what was sent at the beginning of one is acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Round {
    /// The byte whose acknowledgement ends the round.
    pub(crate) end: u64,
}

impl Round {
    /// True once per round trip.
    #[inline]
    pub(crate) fn passed(&mut self, sample: &Sample) -> bool {
        let passed = sample.una >= self.end;
        if passed {
            self.end = sample.next;
        }
        passed
    }
}

/// Three quarters of a window in whole segments, a half and a quarter each rounded down (tcp_current_ssthresh).
pub(crate) fn three_quarters(cwnd: u64, mss: u64) -> u64 {
    let segments = cwnd / mss;
    (segments / 2 + segments / 4) * mss
}

/// What algorithms do alike whose state holds a [`Window`] called `window`.
macro_rules! by_window {
    () => {
        #[inline]
        fn on_sent(&mut self, sent: &crate::Sent) {
            self.window.sent(sent);
        }

        fn on_decay(&mut self, cwnd: u64) {
            self.window.decay(cwnd);
        }

        #[inline]
        fn cwnd(&self) -> u64 {
            self.window.cwnd
        }

        #[inline]
        fn ssthresh(&self) -> u64 {
            self.window.ssthresh
        }

        fn pacing_rate(&self) -> Option<sojourn_units::Rate> {
            None
        }

        fn on_undo(&mut self, undo: &crate::Undo) {
            self.window.undo(undo);
        }
    };
}
pub(crate) use by_window;

#[cfg(test)]
impl Window {
    /// Whether a fall counts whole segments.
    pub(crate) fn whole_segments(&mut self, whole: bool) {
        self.whole = whole;
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use sojourn_units::{Span, Time};

    fn window(limit: u32) -> Window {
        let mut window = Window::new();
        window.start(&Start {
            mss: 1000,
            initial_window: 4000,
            slow_start_limit: limit,
            ..Start::default()
        });
        window
    }

    #[test]
    fn slow_start_stops_at_the_threshold_and_returns_what_is_left() {
        let mut window = window(0);
        window.ssthresh = 6000;
        assert_eq!(window.slow_start(5000), 3000);
        assert_eq!((window.cwnd, window.slow_start(10)), (6000, 10));
    }

    #[test]
    fn byte_counting_bounds_slow_start_and_more_so_after_a_timeout() {
        let mut window = window(2);
        window.slow_start(3000);
        assert_eq!(window.cwnd, 6000);
        window.time_out(20_000, Expiry::default());
        window.slow_start(3000);
        assert_eq!((window.cwnd, window.ssthresh), (2000, 20_000));
    }

    #[test]
    fn without_a_bound_slow_start_has_none_after_a_timeout_either() {
        let mut window = window(0);
        window.time_out(20_000, Expiry::default());
        window.slow_start(3000);
        assert_eq!(window.cwnd, 4000);
    }

    #[test]
    fn what_a_timeout_leaves_in_flight_has_its_place_in_the_window() {
        let mut window = window(0);
        let kept = |kept, again| Expiry { again, kept };
        window.time_out(20_000, kept(7000, false));
        assert_eq!((window.cwnd, window.ssthresh), (8000, 20_000));
        window.fall_by(0.5);
        window.time_out(2000, kept(0, true));
        assert_eq!((window.cwnd, window.ssthresh), (1000, 4000));
    }

    #[test]
    fn growth_adds_whole_segments_and_keeps_the_rest() {
        let mut window = window(0);
        window.grow(2500, 1000);
        assert_eq!((window.cwnd, window.counted), (6000, 500));
    }

    #[test]
    fn a_fall_is_at_least_to_the_floor_and_counts_whole_segments_where_the_transport_does() {
        let mut window = window(0);
        window.fall(100, 2);
        assert_eq!(window.cwnd, 2000);
        window.whole = true;
        window.fall(4999, 2);
        assert_eq!(window.cwnd, 4000);
    }

    /// A path for tests of the laws of algorithms: a bottleneck of fixed rate, a base round trip, one flow, no losses unless a test makes them. Each
    /// step acknowledges one segment.
    pub(crate) struct Pipe<C> {
        pub(crate) cc: C,
        pub(crate) now: Time,
        /// Segments per second, and the base round trip.
        pub(crate) rate: f64,
        pub(crate) base: Span,
        una: u64,
        /// When each segment in flight is acknowledged, and its round trip.
        flying: std::collections::VecDeque<(Time, Span)>,
        free_at: Time,
        delivered: u64,
        /// Marks what waits longer.
        pub(crate) mark_above: Option<Span>,
        marked_until: u64,
    }

    pub(crate) const MSS: u64 = 1000;

    impl<C: crate::CongestionControl> Pipe<C> {
        pub(crate) fn new(mut cc: C, rate: f64, base: Span) -> Pipe<C> {
            cc.on_start(&Start {
                mss: MSS,
                initial_window: 10 * MSS,
                rtt: Some(base),
                whole_segments: false,
                ..Start::default()
            });
            Pipe {
                cc,
                now: Time::ZERO + Span::from_secs(1),
                rate,
                base,
                una: 1,
                flying: std::collections::VecDeque::new(),
                free_at: Time::ZERO,
                delivered: 0,
                mark_above: None,
                marked_until: 0,
            }
        }

        fn fill(&mut self) {
            let window = self.cc.cwnd() / MSS;
            while u64::try_from(self.flying.len()).unwrap() < window.max(1) {
                let start = self.free_at.max(self.now);
                let end = start + Span::round_from_secs(1.0 / self.rate);
                self.free_at = end;
                let back = end + self.base;
                self.flying.push_back((back, back - self.now));
            }
        }

        /// The wait that a segment sent now would have.
        pub(crate) fn queue(&self) -> Span {
            self.free_at.saturating_since(self.now)
        }

        /// Windows in flight, segments.
        pub(crate) fn window(&self) -> f64 {
            crate::num::real(self.cc.cwnd()) / crate::num::real(MSS)
        }

        /// Lets so much time pass.
        pub(crate) fn run(&mut self, span: Span) {
            let until = self.now + span;
            self.fill();
            while let Some(&(at, rtt)) = self.flying.front()
                && at <= until
            {
                self.flying.pop_front();
                self.now = at;
                self.una += MSS;
                self.delivered += MSS;
                let in_flight = u64::try_from(self.flying.len()).unwrap() * MSS;
                let marked = self
                    .mark_above
                    .is_some_and(|above| rtt.saturating_sub(self.base) > above);
                let sample = Sample {
                    now: at,
                    una: self.una,
                    next: self.una + in_flight,
                    acked: MSS,
                    newly_delivered: MSS,
                    marked: if marked { MSS } else { 0 },
                    rtt: Some(rtt),
                    min_rtt: Some(self.base),
                    srtt: Some(rtt),
                    one_way: Some(rtt),
                    delivered: self.delivered,
                    prior_delivered: self.delivered.saturating_sub(in_flight + MSS),
                    sampled: in_flight + MSS,
                    interval: rtt,
                    in_flight_before: in_flight + MSS,
                    in_flight,
                    tx_in_flight: in_flight + MSS,
                    limited: true,
                    ..Sample::default()
                };
                self.cc.on_sample(&sample);
                if marked && self.una > self.marked_until {
                    self.marked_until = self.una + in_flight;
                    self.congest(crate::CongestionKind::Ecn);
                } else if self.cc.traits().model {
                    self.cc.on_model(&sample);
                } else {
                    self.cc.on_ack(&Acked {
                        now: at,
                        bytes: MSS,
                        in_flight,
                        rtt: Some(rtt),
                        echo: false,
                        limited: true,
                        stage: Stage::Open,
                    });
                }
                self.fill();
            }
            self.now = until;
        }

        pub(crate) fn congest(&mut self, kind: crate::CongestionKind) {
            let in_flight = u64::try_from(self.flying.len()).unwrap() * MSS;
            self.cc.on_congestion(&crate::Congestion {
                now: self.now,
                kind,
                in_flight,
                mss: MSS,
            });
        }

        /// The mean of the window over a time.
        pub(crate) fn mean_window(&mut self, span: Span) -> f64 {
            let mut sum = 0.0;
            for _ in 0..200 {
                self.run(span / 200);
                sum += self.window();
            }
            sum / 200.0
        }
    }
}
