//! When a sender of media has to stop: the circuit breakers of RFC 8083.
//!
//! Source: RFC 8083 section 4: no reports (breaker 1), media that does not arrive (2), congestion (3, section 4.3). The text of the RFC
//! was at hand in part: that section's rule of an order of magnitude above TCP is the RFC's, the numbers of reports (MEDIA_TIMEOUT,
//! CB_INTERVAL), the equation of TCP with b = 1 and the mean over CB_INTERVAL are as an implementation of the RFC in a public copy of
//! WebRTC has them. The three waits without a report are from memory; they are those of RFC 3550 section 6.2 for timeouts, of five
//! seconds at least, also where reports may be sent more often. Only reports count, not feedback without one. Frames are not grouped
//! (G = 1). Left out: a least number of packets below which losses are no sign of congestion, and media usability (4), which is the
//! application's to judge.

use super::session::Told;
use crate::num::{real, whole};
use sojourn_units::{Span, Time};
use std::collections::VecDeque;

/// Waits for a report after which there are none (breaker 1).
const SILENT_WAITS: u64 = 3;

/// Reports that have to say that nothing arrives, at least (breaker 2).
const SILENT_REPORTS: u64 = 5;

/// How far above the rate of TCP media may be sent (section 4.3).
const ABOVE_TCP: f64 = 10.0;

/// The round trip before one is known (RFC 6298 section 2).
const FIRST_TRIP: Span = Span::from_secs(1);

/// Why media has stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tripped {
    /// Reports come, and say that nothing arrives.
    MediaTimeout,
    /// No reports come.
    RtcpTimeout,
    /// Far more is sent than TCP would.
    Congestion,
}

impl Tripped {
    /// Every reason.
    pub const ALL: [Tripped; 3] = [
        Tripped::MediaTimeout,
        Tripped::RtcpTimeout,
        Tripped::Congestion,
    ];

    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Tripped::MediaTimeout => "media_timeout",
            Tripped::RtcpTimeout => "rtcp_timeout",
            Tripped::Congestion => "congestion",
        }
    }
}

/// What a sender watches.
#[derive(Clone, Debug, Default)]
pub struct Breaker {
    highest: Option<u32>,
    stalled: u64,
    /// When the last report came, and the packets sent until then.
    last: Option<Time>,
    packets: u64,
    trip: Option<Span>,
    /// The last reports: when each came, the share that it said was lost, and the packets and bytes sent until then.
    losses: VecDeque<(Time, f64, u64, u64)>,
    tripped: Option<(Tripped, Time)>,
}

/// What a sender has sent and how its session stands when a report comes.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Packets of media so far.
    pub packets: u64,
    /// Bytes of them, headers included.
    pub bytes: u64,
    /// Time between frames of media.
    pub frame: Span,
    /// Wait without chance between reports of the receiver (Tdr), as the sender computes it.
    pub interval: Span,
    /// Wait without chance between the sender's own (Td).
    pub own: Span,
}

impl Breaker {
    /// Why and when it stopped, if it did.
    pub fn tripped(&self) -> Option<(Tripped, Time)> {
        self.tripped
    }

    /// Reports without anything new after which nothing arrives (MEDIA_TIMEOUT): five waits, or as many as five frames or round trips
    /// last.
    fn silent_reports(sent: &Sent, round_trip: Span) -> u64 {
        let wait = sent.interval.as_secs_f64();
        let trip = round_trip.as_secs_f64();
        if wait <= 0.0 {
            return SILENT_REPORTS;
        }
        let longest = sent.frame.as_secs_f64().max(trip).max(wait);
        whole((real(SILENT_REPORTS) * longest / wait).ceil()).max(SILENT_REPORTS)
    }

    /// Reports over which losses are judged (CB_INTERVAL).
    fn reports(sent: &Sent, round_trip: Span) -> u64 {
        let frame = 10.0 * sent.frame.as_secs_f64();
        let trip = 10.0 * round_trip.as_secs_f64();
        let wait = 3.0 * sent.interval.as_secs_f64();
        if wait <= 0.0 {
            return SILENT_WAITS;
        }
        let own = 3.0 * sent.own.as_secs_f64();
        let length = frame.max(trip).max(wait).min(own.max(15.0));
        whole((3.0 * length / wait).ceil()).max(1)
    }

    /// A report has come, and says this of the media; nothing, if none has arrived since the one before it.
    pub fn on_report(&mut self, now: Time, told: Option<&Told>, sent: Sent) {
        let some_sent = sent.packets > self.packets;
        self.last = Some(now);
        self.packets = sent.packets;
        // A report that tells of no media tells of no round trip either.
        self.trip = told.and_then(|told| told.round_trip).or(self.trip);
        let trip = self.trip.unwrap_or(FIRST_TRIP);
        let highest = told.map(|told| told.highest);
        if highest.is_some() && highest != self.highest {
            self.stalled = 0;
        } else if some_sent {
            self.stalled += 1;
        }
        self.highest = highest.or(self.highest);
        if self.stalled >= Breaker::silent_reports(&sent, trip) {
            self.trip(Tripped::MediaTimeout, now);
        } else if told.is_some_and(|told| self.is_congested(now, told, &sent, trip)) {
            self.trip(Tripped::Congestion, now);
        }
    }

    /// Whether the reports of the last CB_INTERVAL tell of losses with which TCP would send far less.
    fn is_congested(&mut self, now: Time, told: &Told, sent: &Sent, trip: Span) -> bool {
        let lost = f64::from(told.fraction) / 256.0;
        self.losses.push_back((now, lost, sent.packets, sent.bytes));
        let reports = Breaker::reports(sent, trip);
        let needed = usize::try_from(reports).unwrap_or(usize::MAX);
        while self.losses.len() > needed.saturating_add(1) {
            self.losses.pop_front();
        }
        let Some((begun, _, packets, bytes)) = self.losses.front().copied() else {
            return false;
        };
        let packets = real(sent.packets - packets);
        let bytes = real(sent.bytes - bytes);
        let seconds = now.saturating_since(begun).as_secs_f64();
        let lost: f64 = self.losses.iter().skip(1).map(|report| report.1).sum();
        let lost = lost / real(reports);
        let enough = self.losses.len() > needed && self.trip.is_some();
        if !enough || lost <= 0.0 || seconds <= 0.0 || packets <= 0.0 {
            return false;
        }
        let tcp = bytes / packets / (trip.as_secs_f64() * (2.0 * lost / 3.0).sqrt());
        bytes / seconds > ABOVE_TCP * tcp
    }

    /// Media is about to be sent, in a session where silence is judged by `interval`, by a sender that began at `begun`.
    pub fn on_send(&mut self, now: Time, begun: Time, interval: Span) {
        let heard = self.last.unwrap_or(begun);
        if now.saturating_since(heard) > interval.saturating_mul(SILENT_WAITS) {
            self.trip(Tripped::RtcpTimeout, now);
        }
    }

    fn trip(&mut self, why: Tripped, now: Time) {
        self.tripped.get_or_insert((why, now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(fraction: u8, highest: u32) -> Told {
        Told {
            fraction,
            lost: 0,
            highest,
            jitter: 0,
            round_trip: Some(Span::from_ms(100)),
        }
    }

    fn sent(packets: u64) -> Sent {
        Sent {
            packets,
            bytes: 1000 * packets,
            frame: Span::from_ms(20),
            interval: Span::from_secs(5),
            own: Span::from_secs(5),
        }
    }

    fn at(secs: u64) -> Time {
        Time::ZERO + Span::from_secs(secs)
    }

    #[test]
    fn media_far_above_tcp_for_three_reports_stops_and_not_for_two() {
        // 20 % of loss and 100 ms: TCP would send 27 kB/s.
        for (per_report, stops) in [(1000, false), (2000, true)] {
            let mut breaker = Breaker::default();
            for n in 1..=4_u32 {
                let n64 = u64::from(n);
                assert_eq!(breaker.tripped(), None);
                breaker.on_report(at(5 * n64), Some(&told(51, n)), sent(per_report * n64));
            }
            let tripped = stops.then_some((Tripped::Congestion, at(20)));
            assert_eq!(breaker.tripped(), tripped);
        }
    }

    #[test]
    fn silence_of_three_waits_or_media_that_never_arrives_stops() {
        let mut breaker = Breaker::default();
        breaker.on_send(at(15), at(0), Span::from_secs(5));
        assert_eq!(breaker.tripped(), None);
        breaker.on_send(at(16), at(0), Span::from_secs(5));
        assert_eq!(breaker.tripped(), Some((Tripped::RtcpTimeout, at(16))));
        let mut breaker = Breaker::default();
        for n in 1..=6 {
            assert_eq!(breaker.tripped(), None);
            breaker.on_report(at(5 * n), Some(&told(0, 7)), sent(10 * n));
        }
        // The first report, and five that say the same.
        assert_eq!(breaker.tripped(), Some((Tripped::MediaTimeout, at(30))));
    }

    /// Reports 17 ms apart, as AVPF has them at 1.5 Mbps.
    fn often(packets: u64) -> Sent {
        Sent {
            interval: Span::from_ms(17),
            own: Span::from_ms(17),
            frame: Span::from_ms(33),
            ..sent(packets)
        }
    }

    #[test]
    fn media_that_never_arrives_stops_also_where_reports_come_more_often_than_frames() {
        let mut breaker = Breaker::default();
        let now = |n: u64| Time::ZERO + Span::from_ms(17 * n);
        for n in 1..200 {
            breaker.on_report(now(n), Some(&told(0, 7)), often(n / 2));
        }
        // Five round trips of 100 ms are 30 reports, every second of which came after a frame.
        let tripped = Some((Tripped::MediaTimeout, now(60)));
        assert_eq!(breaker.tripped(), tripped);
    }

    #[test]
    fn media_that_goes_on_after_a_pause_is_given_five_round_trips_to_arrive() {
        let mut breaker = Breaker::default();
        let now = |n: u64| Time::ZERO + Span::from_ms(17 * n);
        breaker.on_report(now(1), Some(&told(0, 7)), often(10));
        // No media has arrived: reports say nothing of it.
        for n in 2..31 {
            breaker.on_report(now(n), None, often(10 + n));
            assert_eq!(breaker.tripped(), None, "{n}");
        }
        breaker.on_report(now(31), None, often(41));
        let tripped = Some((Tripped::MediaTimeout, now(31)));
        assert_eq!(breaker.tripped(), tripped);
    }

    #[test]
    fn losses_are_judged_by_their_mean_over_the_interval() {
        let mut breaker = Breaker::default();
        for (n, fraction) in (1..=4_u32).zip([0, 153, 0, 0]) {
            let n64 = u64::from(n);
            assert_eq!(breaker.tripped(), None);
            breaker.on_report(at(5 * n64), Some(&told(fraction, n)), sent(2000 * n64));
        }
        assert_eq!(breaker.tripped(), Some((Tripped::Congestion, at(20))));
    }
}
