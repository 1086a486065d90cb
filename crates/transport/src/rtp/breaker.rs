//! When a sender of media has to stop: the circuit breakers of RFC 8083.
//!
//! Source: RFC 8083 sections 3 to 5 and 7, read in its last draft (draft-ietf-avtcore-rtp-circuit-breakers-18): no reports (breaker 1,
//! section 4.1), media that does not arrive (2, section 4.2), congestion (3, section 4.3), media of no use (4, section 4.4), for one stream
//! to one receiver. Which equation of TCP is used can be chosen, as section 4.3 lets it; t_RTO = 4 Tr, b = 1. Sizes and rates are those on the wire,
//! headers below RTP included: their ratio is what counts. Reports of ECN do not exist here, and section 7 has none count. Who has ceased does
//! not begin again, and does not try a tenth of its rate first, which section 4.3 allows.
//!
//! What the text leaves open: before a round trip is known, Tr is one second (RFC 6298 section 2) for breaker 2, and breaker 3 waits. A report
//! counts for breaker 2 only if media was sent since the one before it or within the last two frames, so that pauses of voice and of encoders are
//! no failure; they do not cancel the breaker, either. A report without a block about the media is one that says that nothing has
//! arrived, as RFC 3550 section 6.4 has receivers do it; for breaker 1 it counts as heard, like feedback without a report (section 5), because the way
//! back works. The actual rate is that over the intervals whose losses are averaged. Feedback with a report without blocks in front (`reduced_size=false`)
//! counts as feedback without one. For breaker 4 losses alone are looked at: reports have no one-way delay.

use super::report::Told;
use crate::num::{real, whole};
use crate::tfrc;
use sojourn_units::{Span, Time, choice};
use std::collections::VecDeque;

choice! {
    /// Which equation tells what TCP would send (RFC 8083 section 4.3).
    pub enum Equation {
        /// The square root formula of Mathis et al.
        Simple = "simple",
        /// The formula of Padhye et al., with timeouts. It trips earlier.
        Full = "full",
    }
}

/// Waits for a report after which there are none (section 4.1).
const SILENT_WAITS: u64 = 3;

/// Reports with nothing new that give assurance that nothing arrives (k, section 4.2).
const NON_REPORTING: u64 = 5;

/// How far above the rate of TCP media may be sent (section 4.3).
const ABOVE_TCP: f64 = 10.0;

/// Groups of frames over which packets are averaged (s, section 3).
const GROUPS: u64 = 4;

/// Weight of a new round trip (section 3).
const NEW_TRIP: f64 = 0.2;

/// The round trip before one is known, seconds.
const FIRST_TRIP: f64 = 1.0;

/// Why media has stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tripped {
    /// Reports come, and say that nothing arrives.
    MediaTimeout,
    /// No reports come.
    RtcpTimeout,
    /// Far more is sent than TCP would.
    Congestion,
    /// So much is lost that what arrives is of no use.
    MediaUsability,
}

impl Tripped {
    /// Every reason.
    pub const ALL: [Tripped; 4] = [
        Tripped::MediaTimeout,
        Tripped::RtcpTimeout,
        Tripped::Congestion,
        Tripped::MediaUsability,
    ];

    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Tripped::MediaTimeout => "media_timeout",
            Tripped::RtcpTimeout => "rtcp_timeout",
            Tripped::Congestion => "congestion",
            Tripped::MediaUsability => "media_usability",
        }
    }
}

/// What is fixed of a sender's breakers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BreakerConfig {
    /// What tells the rate of TCP.
    pub equation: Equation,
    /// The share of losses from which on media is of no use, and for how long it may be.
    pub unusable: Option<(f64, Span)>,
    /// Frames before the encoder can follow another rate (G).
    pub group: u32,
}

/// The waits of a session, as its sender knows them when a report comes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Waits {
    /// Time between frames of media (Tf).
    pub frame: Span,
    /// Wait without chance between reports of the receiver (Tdr), as the sender computes it.
    pub receiver: Span,
    /// Wait without chance between the sender's own (Td).
    pub own: Span,
    /// Least time between regular reports (T_rr_interval).
    pub between: Span,
}

/// A frame that was sent.
#[derive(Clone, Copy, Debug)]
struct Frame {
    number: u32,
    packets: u64,
    bytes: u64,
}

/// What one report said about the time since the one before it.
#[derive(Clone, Copy, Debug)]
struct Interval {
    /// When that time began, and the bytes sent until then.
    begun: Time,
    bytes: u64,
    /// When the report came, and the share of losses in it.
    ended: Time,
    lost: f64,
}

/// What a sender watches.
#[derive(Clone, Debug)]
pub struct Breaker {
    config: BreakerConfig,
    /// When anything came from the receiver last.
    heard: Option<Time>,
    /// Packets and bytes sent, and when the last was.
    packets: u64,
    bytes: u64,
    sent: Time,
    /// The frames of the last four groups.
    frames: VecDeque<Frame>,
    /// The smoothed round trip (Tr), seconds.
    trip: Option<f64>,
    /// Packets that had been sent at the last report.
    reported: u64,
    /// The highest number of any report, the reports since that reported none higher, and how many of these trip (MEDIA_TIMEOUT).
    highest: Option<u32>,
    stalled: u64,
    media_timeout: Option<u64>,
    /// When the last block came, and the packets and bytes sent until then.
    block: Option<(Time, u64, u64)>,
    intervals: VecDeque<Interval>,
    /// Intervals over which losses are judged (CB_INTERVAL).
    needed: u64,
    /// Since when the media is of no use.
    useless: Option<Time>,
    tripped: Option<(Tripped, Time)>,
}

/// MEDIA_TIMEOUT (section 4.2): reports without anything new after which nothing arrives; of `trip` seconds.
fn media_timeout(waits: &Waits, trip: f64) -> u64 {
    let wait = waits.receiver.as_secs_f64();
    if wait <= 0.0 {
        return NON_REPORTING;
    }
    let longest = waits.frame.as_secs_f64().max(trip).max(wait);
    ceil(real(NON_REPORTING) * longest / wait)
}

/// CB_INTERVAL (section 4.3): reports over which losses are judged.
fn intervals(waits: &Waits, group: u32, trip: f64) -> u64 {
    let wait = waits.receiver.max(waits.between).as_secs_f64();
    if wait <= 0.0 {
        return 1;
    }
    let frames = 10.0 * f64::from(group) * waits.frame.as_secs_f64();
    let length = frames.max(10.0 * trip).max(3.0 * wait);
    let length = length.min(longest(waits));
    ceil(length / wait).max(1)
}

/// The longest time over which losses are judged, seconds.
fn longest(waits: &Waits) -> f64 {
    (3.0 * waits.own.as_secs_f64()).max(15.0)
}

/// The whole number that is not below; what is above one by no more than rounding of the division before is that one.
fn ceil(number: f64) -> u64 {
    whole((number - 1e-9).ceil())
}

impl Breaker {
    /// One of a sender that joins.
    pub fn new(config: BreakerConfig, waits: &Waits) -> Breaker {
        Breaker {
            needed: intervals(waits, config.group, FIRST_TRIP),
            config,
            heard: None,
            packets: 0,
            bytes: 0,
            sent: Time::ZERO,
            frames: VecDeque::new(),
            trip: None,
            reported: 0,
            highest: None,
            stalled: 0,
            media_timeout: None,
            block: None,
            intervals: VecDeque::new(),
            useless: None,
            tripped: None,
        }
    }

    /// Why and when it stopped, if it did.
    pub fn tripped(&self) -> Option<(Tripped, Time)> {
        self.tripped
    }

    /// Media is about to be sent, in a session where silence is judged by `interval`, by a sender that began at `begun` (section 4.1).
    pub fn on_send(&mut self, now: Time, begun: Time, interval: Span) {
        let heard = self.heard.unwrap_or(begun);
        if now.saturating_since(heard) >= interval.saturating_mul(SILENT_WAITS) {
            self.trip(Tripped::RtcpTimeout, now);
        }
    }

    /// A packet of frame number `frame` was sent, of `bytes` bytes.
    pub fn sent(&mut self, now: Time, frame: u32, bytes: u64) {
        self.sent = now;
        self.packets += 1;
        self.bytes += bytes;
        if let Some(last) = self.frames.back_mut()
            && last.number == frame
        {
            last.packets += 1;
            last.bytes += bytes;
            return;
        }
        if length(&self.frames) >= GROUPS * u64::from(self.config.group.max(1)) {
            self.frames.pop_front();
        }
        self.frames.push_back(Frame {
            number: frame,
            packets: 1,
            bytes,
        });
    }

    /// Feedback without a report has come.
    pub fn on_feedback(&mut self, now: Time) {
        self.heard = Some(now);
    }

    /// A report has come, and says this of the media; nothing, if none has arrived since the one before it.
    pub fn on_report(&mut self, now: Time, told: Option<&Told>, waits: &Waits) {
        self.heard = Some(now);
        if let Some(new) = told.and_then(|told| told.round_trip) {
            let new = new.as_secs_f64();
            let smoothed = |old| (1.0 - NEW_TRIP) * old + NEW_TRIP * new;
            self.trip = Some(self.trip.map_or(new, smoothed));
        }
        if self.arrives_not(now, told, waits) {
            self.trip(Tripped::MediaTimeout, now);
        }
        if let Some(told) = told {
            if self.is_congested(now, told, waits) {
                self.trip(Tripped::Congestion, now);
            }
            if self.is_useless(now, told) {
                self.trip(Tripped::MediaUsability, now);
            }
        }
        let trip = self.trip.unwrap_or(FIRST_TRIP);
        self.needed = intervals(waits, self.config.group, trip);
    }

    /// Whether MEDIA_TIMEOUT reports in a row have said that nothing arrives (section 4.2).
    fn arrives_not(&mut self, now: Time, told: Option<&Told>, waits: &Waits) -> bool {
        let trip = self.trip.unwrap_or(FIRST_TRIP);
        let timeout = media_timeout(waits, trip);
        let goes_on = now.saturating_since(self.sent) <= waits.frame.saturating_mul(2);
        let some_sent = self.packets > self.reported || (self.packets > 0 && goes_on);
        self.reported = self.packets;
        let higher = |told: &Told| self.highest.is_none_or(|highest| told.highest > highest);
        if let Some(told) = told.filter(|told| higher(told)) {
            self.highest = Some(told.highest);
            self.stalled = 0;
            self.media_timeout = Some(timeout);
            return false;
        }
        if some_sent {
            self.stalled += 1;
        }
        // Reconsidered: it becomes longer, never shorter.
        let timeout = self.media_timeout.map_or(timeout, |old| old.max(timeout));
        self.media_timeout = Some(timeout);
        self.stalled >= timeout
    }

    /// Whether the blocks of the last CB_INTERVAL report losses with which TCP would send far less (section 4.3).
    fn is_congested(&mut self, now: Time, told: &Told, waits: &Waits) -> bool {
        let last = self.block.replace((now, self.packets, self.bytes));
        let Some((begun, packets, bytes)) = last else {
            return false;
        };
        let seldom = waits.receiver.as_secs_f64().max(self.trip.unwrap_or(0.0));
        let since = now.saturating_since(begun).as_secs_f64();
        if real(self.packets - packets) * seldom < since {
            // Too few packets for their losses to mean much.
            return false;
        }
        self.intervals.push_back(Interval {
            begun,
            bytes,
            ended: now,
            lost: f64::from(told.fraction) / 256.0,
        });
        // The next one may ask for more, except for none longer ago than twice the longest time: waits vary.
        let old = Span::round_from_secs(2.0 * longest(waits));
        while length(&self.intervals) > self.needed
            && let Some(first) = self.intervals.front()
            && now.saturating_since(first.ended) > old
        {
            self.intervals.pop_front();
        }
        let needed = usize::try_from(self.needed).unwrap_or(usize::MAX);
        let (Some(skip), Some(trip)) = (self.intervals.len().checked_sub(needed), self.trip) else {
            return false;
        };
        let Some(oldest) = self.intervals.get(skip) else {
            return false;
        };
        let (mut lost, mut all) = (0.0, 0.0);
        for interval in self.intervals.iter().skip(skip) {
            let took = interval.ended.saturating_since(interval.begun);
            lost += interval.lost * took.as_secs_f64();
            all += took.as_secs_f64();
        }
        let seconds = now.saturating_since(oldest.begun).as_secs_f64();
        if lost <= 0.0 || seconds <= 0.0 || trip <= 0.0 {
            return false;
        }
        let rate = real(self.bytes - oldest.bytes) / seconds;
        rate > ABOVE_TCP * self.tcp(trip, lost / all)
    }

    /// Bytes per second that TCP would send.
    fn tcp(&self, trip: f64, lost: f64) -> f64 {
        let packets: u64 = self.frames.iter().map(|frame| frame.packets).sum();
        let bytes: u64 = self.frames.iter().map(|frame| frame.bytes).sum();
        let size = real(bytes) / real(packets.max(1));
        match self.config.equation {
            Equation::Simple => size / (trip * (2.0 * lost / 3.0).sqrt()),
            Equation::Full => tfrc::rate(size, trip, lost),
        }
    }

    /// Whether more has been lost for a while than media stands (section 4.4).
    fn is_useless(&mut self, now: Time, told: &Told) -> bool {
        let Some((bound, time)) = self.config.unusable else {
            return false;
        };
        if f64::from(told.fraction) / 256.0 < bound {
            self.useless = None;
            return false;
        }
        let since = *self.useless.get_or_insert(now);
        now.saturating_since(since) >= time
    }

    fn trip(&mut self, why: Tripped, now: Time) {
        self.tripped.get_or_insert((why, now));
    }
}

/// How many there are.
fn length<T>(all: &VecDeque<T>) -> u64 {
    u64::try_from(all.len()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: BreakerConfig = BreakerConfig {
        equation: Equation::Simple,
        unusable: None,
        group: 1,
    };

    /// Voice under RFC 3550, five seconds between reports.
    const SELDOM: Waits = Waits {
        frame: Span::from_ms(20),
        receiver: Span::from_secs(5),
        own: Span::from_secs(5),
        between: Span::ZERO,
    };

    /// Video under AVPF at 1.5 Mbps, 17 ms between reports.
    const OFTEN: Waits = Waits {
        frame: Span::from_ms(33),
        receiver: Span::from_ms(17),
        own: Span::from_ms(17),
        between: Span::ZERO,
    };

    fn told(fraction: u8, highest: u32) -> Told {
        Told {
            fraction,
            lost: 0,
            highest,
            jitter: 0,
            round_trip: Some(Span::from_ms(100)),
        }
    }

    fn at(secs: u64) -> Time {
        Time::ZERO + Span::from_secs(secs)
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// A given number of packets of 1000 bytes was sent just before `now`, a frame each.
    fn send(breaker: &mut Breaker, now: Time, packets: u32) {
        let sent = u32::try_from(breaker.packets).unwrap();
        for n in 0..packets {
            breaker.sent(now, sent + n, 1000);
        }
    }

    #[test]
    fn the_timeout_of_media_is_five_of_the_longest_of_frame_round_trip_and_wait() {
        let is = |frame, trip, receiver| {
            let waits = Waits {
                frame: Span::from_ms(frame),
                receiver: Span::from_ms(receiver),
                ..SELDOM
            };
            media_timeout(&waits, trip)
        };
        assert_eq!(is(20, 0.1, 5000), 5);
        // 5 * 100 / 17 = 29.4, 5 * 33 / 17 = 9.7, 5 * 20 / 17 = 5.9.
        assert_eq!(is(33, 0.1, 17), 30);
        assert_eq!(is(33, 0.01, 17), 10);
        assert_eq!(is(20, 0.01, 17), 6);
        // A frame in twelve seconds: 5 * 12 / 5.
        assert_eq!(is(12_000, 0.1, 5000), 12);
        // A quotient without a remainder is not rounded up: 5 * 0.3 / 0.1.
        assert_eq!(is(20, 0.3, 100), 15);
    }

    #[test]
    fn losses_are_judged_over_ten_groups_of_frames_ten_round_trips_or_three_waits_and_no_longer_than_the_bound()
     {
        let is = |frame, group, trip, receiver, own| {
            let waits = Waits {
                frame: Span::from_ms(frame),
                receiver: Span::from_ms(receiver),
                own: Span::from_ms(own),
                between: Span::ZERO,
            };
            intervals(&waits, group, trip)
        };
        // ceil(3 * 15 / 15).
        assert_eq!(is(20, 1, 0.1, 5000, 5000), 3);
        // ceil(3 * 1 / 0.051) = 59: ten round trips; ten groups of six frames of 33 ms are 1.98 s: ceil(116.5).
        assert_eq!(is(33, 1, 0.1, 17, 17), 59);
        assert_eq!(is(33, 6, 0.1, 17, 17), 117);
        // Groups of 60 frames: 19.8 s, and 15 count, or three waits of the sender's own if these are longer: ceil(3 * 15 / 3), ceil(3 * 18 / 3).
        assert_eq!(is(33, 60, 0.1, 1000, 1000), 15);
        assert_eq!(is(33, 60, 0.1, 1000, 6000), 18);
        // Waits that are longer than the bound: ceil(3 * min(24, 15) / 24).
        assert_eq!(is(20, 1, 0.1, 8000, 1000), 2);
    }

    #[test]
    fn the_least_time_between_reports_counts_for_losses_and_not_for_the_timeout_of_media() {
        let waits = Waits {
            between: Span::from_secs(1),
            ..OFTEN
        };
        // ceil(3 * min(max(0.33, 1, 3), 15) / 3).
        assert_eq!(intervals(&waits, 1, 0.1), 3);
        assert_eq!(media_timeout(&waits, 0.1), 30);
    }

    #[test]
    fn the_round_trip_is_smoothed_by_a_fifth() {
        let mut breaker = Breaker::new(CONFIG, &SELDOM);
        for (n, trip) in [(1, 100), (2, 200), (3, 100)] {
            let told = Told {
                round_trip: Some(Span::from_ms(trip)),
                ..told(0, n)
            };
            breaker.on_report(at(5 * u64::from(n)), Some(&told), &SELDOM);
        }
        // 100, 120, 116 ms.
        assert!((breaker.trip.unwrap() - 0.116).abs() < 1e-12);
    }

    #[test]
    fn media_far_above_tcp_for_three_intervals_stops_and_not_for_two() {
        // 51/256 lost and 100 ms: 1000 / (0.1 * sqrt(0.1328)) = 27 440 B/s, tenfold 274 kB/s; 1372 packets in five seconds.
        for (per_report, stops) in [(1360, false), (1380, true)] {
            let mut breaker = Breaker::new(CONFIG, &SELDOM);
            for n in 1..=4 {
                assert_eq!(breaker.tripped(), None);
                let now = at(5 * u64::from(n));
                send(&mut breaker, now, per_report);
                breaker.on_report(now, Some(&told(51, n)), &SELDOM);
            }
            // Of four blocks the first ends no interval.
            let tripped = stops.then_some((Tripped::Congestion, at(20)));
            assert_eq!(breaker.tripped(), tripped);
        }
    }

    #[test]
    fn the_full_equation_trips_earlier_than_the_simple_one() {
        // With timeouts TCP sends 1000 / (0.03644 + 0.4 * 3 * sqrt(0.0747) * 0.1992 * 2.270) = 5402 B/s: 271 packets in five seconds.
        for (per_report, stops) in [(265, false), (275, true)] {
            let config = BreakerConfig {
                equation: Equation::Full,
                ..CONFIG
            };
            let mut breaker = Breaker::new(config, &SELDOM);
            for n in 1..=4 {
                let now = at(5 * u64::from(n));
                send(&mut breaker, now, per_report);
                breaker.on_report(now, Some(&told(51, n)), &SELDOM);
            }
            assert_eq!(breaker.tripped().is_some(), stops, "{per_report}");
        }
    }

    #[test]
    fn losses_are_weighed_by_the_time_that_their_reports_span() {
        // Half is lost in one second of eleven, a quarter of nothing else: 128/256/11, where the mean of three would be a sixth.
        // TCP: 1000 / (0.1 * sqrt(2 / 66)) = 57.4 kB/s; with a sixth, 30.0 kB/s.
        for (per_second, stops) in [(560, false), (590, true)] {
            let mut breaker = Breaker::new(CONFIG, &SELDOM);
            let mut last = 0;
            for (n, (when, fraction)) in (1..).zip([(5, 0), (10, 0), (11, 128), (16, 0)]) {
                let now = at(when);
                send(
                    &mut breaker,
                    now,
                    per_second * u32::try_from(when - last).unwrap(),
                );
                breaker.on_report(now, Some(&told(fraction, n)), &SELDOM);
                last = when;
            }
            assert_eq!(breaker.tripped().is_some(), stops, "{per_second}");
        }
    }

    #[test]
    fn the_size_of_packets_is_that_of_the_last_four_groups_of_frames() {
        let config = BreakerConfig { group: 2, ..CONFIG };
        let mut breaker = Breaker::new(config, &OFTEN);
        // Frames of two packets, 100 and 200 bytes the first two, 300 and 500 the next eight.
        for frame in 0..10 {
            let (one, other) = if frame < 2 { (100, 200) } else { (300, 500) };
            breaker.sent(ms(33), frame, one);
            breaker.sent(ms(33), frame, other);
        }
        let expected = 400.0 / (0.1 * (0.02f64 / 3.0).sqrt());
        assert!((breaker.tcp(0.1, 0.01) - expected).abs() < 1e-6);
    }

    #[test]
    fn fewer_packets_than_one_in_a_wait_or_a_round_trip_are_no_congestion() {
        // Half is lost of a packet in five seconds, or of fewer; a path of ten seconds has TCP at nearly nothing.
        for (packets, slow) in [(1, false), (0, true)] {
            let mut breaker = Breaker::new(CONFIG, &SELDOM);
            for n in 1..=8 {
                let now = at(5 * u64::from(n));
                let told = Told {
                    round_trip: Some(Span::from_ms(1)),
                    ..told(128, n)
                };
                send(&mut breaker, now, packets);
                breaker.on_report(now, Some(&told), &SELDOM);
            }
            assert_eq!(breaker.intervals.is_empty(), slow);
        }
        // Under AVPF the round trip is the longer one: 100 ms, in which six reports come.
        for (packets, enough) in [(1, true), (0, false)] {
            let mut breaker = Breaker::new(CONFIG, &OFTEN);
            for n in 1..=20 {
                let now = ms(17 * u64::from(n));
                send(&mut breaker, now, packets);
                breaker.on_report(now, Some(&told(128, n)), &OFTEN);
            }
            assert_eq!(!breaker.intervals.is_empty(), enough);
        }
    }

    #[test]
    fn silence_of_three_waits_stops_and_feedback_without_a_report_is_no_silence() {
        let wait = Span::from_secs(5);
        let mut breaker = Breaker::new(CONFIG, &SELDOM);
        breaker.on_send(ms(14_999), at(0), wait);
        assert_eq!(breaker.tripped(), None);
        breaker.on_send(at(15), at(0), wait);
        assert_eq!(breaker.tripped(), Some((Tripped::RtcpTimeout, at(15))));
        let mut breaker = Breaker::new(CONFIG, &SELDOM);
        breaker.on_feedback(at(10));
        breaker.on_send(at(24), at(0), wait);
        assert_eq!(breaker.tripped(), None);
        breaker.on_send(at(25), at(0), wait);
        assert_eq!(breaker.tripped(), Some((Tripped::RtcpTimeout, at(25))));
    }

    #[test]
    fn media_that_never_arrives_stops_at_the_fifth_report_that_says_so() {
        let mut breaker = Breaker::new(CONFIG, &SELDOM);
        for n in 1..=6 {
            assert_eq!(breaker.tripped(), None);
            send(&mut breaker, at(5 * n), 10);
            breaker.on_report(at(5 * n), Some(&told(0, 7)), &SELDOM);
        }
        // The first report, and five that say the same.
        assert_eq!(breaker.tripped(), Some((Tripped::MediaTimeout, at(30))));
    }

    #[test]
    fn media_that_never_arrives_stops_also_where_reports_come_more_often_than_frames() {
        let mut breaker = Breaker::new(CONFIG, &OFTEN);
        for n in 1..=31 {
            assert_eq!(breaker.tripped(), None);
            send(&mut breaker, ms(17 * n), u32::from(n % 2 == 0));
            let told = (n == 1).then(|| told(0, 7));
            breaker.on_report(ms(17 * n), told.as_ref(), &OFTEN);
        }
        // Five round trips of 100 ms are 30 reports, whether a frame came before them or is about to come.
        assert_eq!(
            breaker.tripped(),
            Some((Tripped::MediaTimeout, ms(17 * 31)))
        );
    }

    #[test]
    fn reports_about_a_pause_say_nothing() {
        let mut breaker = Breaker::new(CONFIG, &OFTEN);
        send(&mut breaker, ms(17), 10);
        breaker.on_report(ms(17), Some(&told(0, 7)), &OFTEN);
        for n in 2..1000 {
            breaker.on_report(ms(17 * n), None, &OFTEN);
        }
        assert_eq!(breaker.tripped(), None);
        // Those of the two frames after the last packet counted: at 34, 51, 68 ms; it has arrived since.
        assert_eq!(breaker.stalled, 3);
        breaker.on_report(ms(17_000), Some(&told(0, 17)), &OFTEN);
        assert_eq!(breaker.stalled, 0);
    }

    #[test]
    fn the_timeout_of_media_becomes_longer_when_reports_come_more_often_and_never_shorter() {
        let mut breaker = Breaker::new(CONFIG, &SELDOM);
        let mut report = |secs: u64, told: Option<Told>, waits: &Waits| {
            send(&mut breaker, at(secs), 10);
            breaker.on_report(at(secs), told.as_ref(), waits);
            breaker.media_timeout.unwrap()
        };
        assert_eq!(report(5, Some(told(0, 7)), &SELDOM), 5);
        assert_eq!(report(10, None, &OFTEN), 30);
        assert_eq!(report(15, None, &SELDOM), 30);
        // What arrives ends it, and another begins.
        assert_eq!(report(20, Some(told(0, 8)), &SELDOM), 5);
    }

    #[test]
    fn media_of_no_use_stops_after_its_time_and_a_report_of_use_begins_it_anew() {
        let config = BreakerConfig {
            unusable: Some((0.2, Span::from_secs(10))),
            ..CONFIG
        };
        let mut breaker = Breaker::new(config, &SELDOM);
        // 52/256 is more than a fifth, 51/256 is not.
        for (n, fraction) in (1..).zip([52, 52, 51, 52, 52, 52]) {
            assert_eq!(breaker.tripped(), None, "{n}");
            breaker.on_report(at(5 * u64::from(n)), Some(&told(fraction, n)), &SELDOM);
        }
        assert_eq!(breaker.tripped(), Some((Tripped::MediaUsability, at(30))));
    }
}
