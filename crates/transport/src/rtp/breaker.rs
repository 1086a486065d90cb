//! When a sender of media has to stop: the circuit breakers of RFC 8083.
//!
//! Source: RFC 8083 section 4: media timeout (4.1), RTCP timeout (4.2), congestion (4.3). The factor of ten is in the RFC's text; the
//! numbers of reports that have to agree (MEDIA_TIMEOUT, CB_INTERVAL) and the equation of TCP were checked against an implementation
//! of the RFC in a public copy of WebRTC. The three waits of the RTCP timeout are from memory; they are those of RFC 3550 section 6.2
//! for timeouts, of five seconds at least, also where reports may be sent more often. Frames are not grouped (G = 1). Left out: media
//! usability (4.4), which is the application's to judge.

use super::session::Told;
use crate::num::{real, whole};
use sojourn_units::{Span, Time};

/// Waits for a report after which there are none (section 4.2).
const SILENT_WAITS: u64 = 3;

/// Reports that have to say that nothing arrives, at least (section 4.1).
const SILENT_REPORTS: u64 = 5;

/// How far above the rate of TCP media may be sent (section 4.3).
const ABOVE_TCP: f64 = 10.0;

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
    congested: u64,
    /// When the last report came, and the media sent until then.
    last: Option<Time>,
    packets: u64,
    bytes: u64,
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
    /// Wait between reports without chance.
    pub interval: Span,
}

impl Breaker {
    /// Why and when it stopped, if it did.
    pub fn tripped(&self) -> Option<(Tripped, Time)> {
        self.tripped
    }

    /// Reports without anything new after which nothing arrives (MEDIA_TIMEOUT): five waits, or as many as five frames or round trips
    /// last.
    fn silent_reports(sent: &Sent, round_trip: Option<Span>) -> u64 {
        let wait = sent.interval.as_secs_f64();
        let trip = round_trip.map_or(0.0, Span::as_secs_f64);
        if wait <= 0.0 {
            return SILENT_REPORTS;
        }
        let longest = sent.frame.as_secs_f64().max(trip).max(wait);
        whole((real(SILENT_REPORTS) * longest / wait).ceil()).max(SILENT_REPORTS)
    }

    /// Reports of congestion that have to agree (CB_INTERVAL).
    fn reports(sent: &Sent, round_trip: Option<Span>) -> u64 {
        let frame = 10.0 * sent.frame.as_secs_f64();
        let trip = 10.0 * round_trip.map_or(0.0, Span::as_secs_f64);
        let wait = 3.0 * sent.interval.as_secs_f64();
        if wait <= 0.0 {
            return SILENT_WAITS;
        }
        let length = frame.max(trip).max(wait).min(wait.max(15.0));
        whole((3.0 * length / wait).ceil()).max(1)
    }

    /// A report has come, and says this of the media; nothing, if none has arrived since the one before it.
    pub fn on_report(&mut self, now: Time, told: Option<&Told>, sent: Sent) {
        let since = now.saturating_since(self.last.unwrap_or(Time::ZERO));
        let first = self.last.is_none();
        let packets = sent.packets - self.packets;
        let bytes = sent.bytes - self.bytes;
        self.last = Some(now);
        self.packets = sent.packets;
        self.bytes = sent.bytes;
        let trip = told.and_then(|told| told.round_trip);
        let needed = Breaker::reports(&sent, trip);
        let highest = told.map(|told| told.highest);
        let still = packets > 0 && (highest.is_none() || highest == self.highest);
        self.stalled = if still { self.stalled + 1 } else { 0 };
        self.highest = highest.or(self.highest);
        let p = told.map_or(0.0, |told| f64::from(told.fraction) / 256.0);
        let rtt = trip.map_or(0.0, Span::as_secs_f64);
        let seconds = since.as_secs_f64();
        let above = if first || p <= 0.0 || rtt <= 0.0 || seconds <= 0.0 || packets == 0 {
            false
        } else {
            let size = real(bytes) / real(packets);
            let tcp = size / (rtt * (2.0 * p / 3.0).sqrt());
            real(bytes) / seconds > ABOVE_TCP * tcp
        };
        self.congested = if above { self.congested + 1 } else { 0 };
        if self.stalled >= Breaker::silent_reports(&sent, trip) {
            self.trip(Tripped::MediaTimeout, now);
        } else if self.congested >= needed {
            self.trip(Tripped::Congestion, now);
        }
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
}
