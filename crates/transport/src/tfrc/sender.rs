//! The sender of TFRC (RFC 5348 section 4).

use super::TfrcParams;
use super::equation::rate;
use crate::app::{Feed, Source};
use crate::report::{Gauges, SenderReport};
use sojourn_sim::{Agent, Ecn, Host, Kind, Outgoing, Packet, Stream, Timers};
use sojourn_units::{Rate, Span, Time};
use std::collections::VecDeque;

/// Timers, in the order in which those due at one instant fire.
const NO_FEEDBACK: usize = 0;
const SEND: usize = 1;
const APPLICATION: usize = 2;

/// The nofeedback timer before the first report (section 4.2).
const FIRST_WAIT: Span = Span::from_secs(2);

/// Least bytes of the initial window beside two packets (section 4.2: min(4 s, max(2 s, 4380))).
const INITIAL_BYTES: f64 = 4380.0;

/// What a sender is made of.
#[derive(Debug)]
pub struct TfrcConfig<S> {
    /// The number of its flow in the network.
    pub flow: u32,
    /// Its parameters, those of the receiver too.
    pub params: TfrcParams,
    /// Where its data comes from.
    pub source: S,
    /// The random stream of the source.
    pub rng: Stream,
    /// When it begins.
    pub start: Time,
    /// From when on the source gives no more data.
    pub stop: Option<Time>,
}

/// A sender of TFRC. Rates are bytes of payload per second.
#[derive(Debug)]
pub struct TfrcSender<S> {
    flow: u32,
    segment: u64,
    headers: u32,
    oscillation: bool,
    filter: f64,
    longest_gap: f64,
    ecn: bool,
    feed: Feed<S>,
    /// Bytes that wait to be sent; without end.
    waiting: Option<u64>,
    start: Time,
    sent: u64,
    acked: u64,
    /// The allowed rate, and that of the spacing.
    allowed: f64,
    spaced: f64,
    /// The rate of the equation, 0 while there was no loss.
    equation: f64,
    p: f64,
    rtt: Option<f64>,
    /// Mean of the square roots of round-trip times, and the last of these, seconds.
    root: f64,
    sample: f64,
    doubled: Time,
    /// Rates that the receiver reported in the last two round trips, with the times; infinite at first.
    received: VecDeque<(f64, Time)>,
    /// When the last packet went, or should have gone, and when the next one may.
    nominal: Time,
    next_at: Time,
    /// Times at which the rate, not the application, held the sender back, thinned.
    held_back: VecDeque<Time>,
    /// Nothing was sent since the nofeedback timer was set.
    idle: bool,
    timers: Timers<3>,
    report: SenderReport,
}

impl<S: Source> TfrcSender<S> {
    /// A sender that has not begun.
    pub fn new(config: TfrcConfig<S>) -> TfrcSender<S> {
        let feed = Feed::new(config.source, config.rng, config.stop);
        let params = config.params;
        TfrcSender {
            flow: config.flow,
            segment: params.segment.get(),
            headers: u32::try_from(params.headers.get()).unwrap_or(u32::MAX),
            oscillation: params.oscillation,
            filter: params.rtt_filter,
            longest_gap: params.longest_gap.as_secs_f64(),
            ecn: params.ecn,
            waiting: (!feed.unlimited()).then_some(0),
            feed,
            start: config.start,
            sent: 0,
            acked: 0,
            allowed: real(params.segment.get()),
            spaced: real(params.segment.get()),
            equation: 0.0,
            p: 0.0,
            rtt: None,
            root: 0.0,
            sample: 0.0,
            doubled: Time::ZERO,
            received: VecDeque::from([(f64::INFINITY, config.start)]),
            nominal: Time::ZERO,
            next_at: Time::ZERO,
            held_back: VecDeque::new(),
            idle: true,
            timers: Timers::default(),
            report: SenderReport::default(),
        }
    }

    /// What it has done.
    pub fn report(&self) -> SenderReport {
        self.report
    }

    /// Its allowed rate, bytes of payload per second.
    pub fn allowed_rate(&self) -> f64 {
        self.allowed
    }

    /// The loss event rate that was reported last.
    pub fn loss_event_rate(&self) -> f64 {
        self.p
    }

    /// The smoothed round-trip time, seconds.
    pub fn round_trip(&self) -> Option<f64> {
        self.rtt
    }

    /// Its state: the window is the allowed rate times the round-trip time.
    pub fn gauges(&self) -> Gauges {
        let rtt = self.rtt.unwrap_or(0.0);
        Gauges {
            cwnd_bytes: whole(self.allowed * rtt),
            ssthresh_bytes: None,
            in_flight_bytes: (self.sent - self.acked) * self.segment,
            srtt: self.rtt.map(Span::round_from_secs),
            rto: self.wait(),
        }
    }

    /// Its allowed rate in bits: at which it spaces its packets.
    pub fn pacing_rate(&self) -> Rate {
        Rate::bps(whole(8.0 * self.allowed))
    }

    fn s(&self) -> f64 {
        real(self.segment)
    }

    fn least_rate(&self) -> f64 {
        self.s() / self.longest_gap
    }

    fn initial_rate(&self) -> f64 {
        let window = (4.0 * self.s()).min((2.0 * self.s()).max(INITIAL_BYTES));
        self.rtt.map_or(self.s(), |rtt| window / rtt)
    }

    /// The nofeedback timer (section 4.3 step 3).
    fn wait(&self) -> Span {
        match self.rtt {
            Some(rtt) => Span::round_from_secs((4.0 * rtt).max(2.0 * self.s() / self.allowed)),
            None => FIRST_WAIT,
        }
    }

    fn data_ready(&self, now: Time) -> Option<u64> {
        match self.waiting {
            Some(0) => None,
            Some(bytes) => Some(bytes.min(self.segment)),
            None => (self.feed.stop() > now).then_some(self.segment),
        }
    }

    /// Sends what is due.
    fn send<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        while let Some(bytes) = self.data_ready(now) {
            if self.next_at > now {
                self.hold_back(now);
                self.timers.set(SEND, self.next_at, host);
                return;
            }
            if let Some(waiting) = &mut self.waiting {
                *waiting -= bytes;
            }
            let out = Outgoing {
                size: self
                    .headers
                    .saturating_add(u32::try_from(bytes).unwrap_or(u32::MAX)),
                seq: self.sent,
                ack: self.rtt.map_or(0, |rtt| Span::round_from_secs(rtt).as_ps()),
                kind: Kind::Segment,
                tos: match self.ecn {
                    true => Ecn::Ect0.bits(),
                    false => Ecn::NotEct.bits(),
                },
                ..Outgoing::default()
            };
            host.send(self.flow, out);
            self.report.started.get_or_insert(now);
            self.report.bytes_acked += bytes;
            self.sent += 1;
            self.idle = false;
            // What was not used is lost (section 4.6 leaves room for less than a packet; here timers are exact).
            self.nominal = self.next_at.max(now);
            self.retime();
        }
        if self.waiting == Some(0) && self.feed.due().is_none() && self.sent > 0 {
            self.report.completed.get_or_insert(now);
        }
    }

    /// The next packet goes as the rate of now says.
    fn retime(&mut self) {
        if self.sent > 0 {
            let gap = Span::round_from_secs(self.s() / self.spaced);
            self.next_at = self.nominal.saturating_add(gap);
        }
    }

    fn hold_back(&mut self, now: Time) {
        let least = Span::round_from_secs(self.rtt.unwrap_or(0.0) / 4.0);
        if self
            .held_back
            .back()
            .is_none_or(|last| now >= *last + least)
        {
            self.held_back.push_back(now);
        }
    }

    fn on_application<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        if self.report.started.is_none() {
            let wait = self.wait();
            self.timers.set(NO_FEEDBACK, now.saturating_add(wait), host);
        }
        while let Some(at) = self.feed.due() {
            if at > now {
                self.timers.set(APPLICATION, at, host);
                break;
            }
            let bytes = self.feed.take().unwrap_or_default();
            if let Some(waiting) = &mut self.waiting {
                *waiting += bytes;
            }
        }
        self.send(host);
    }

    /// Whether the application, not the rate, held the sender back in all of the round trip before a packet that is reported, which was sent
    /// then (section 8.2.1).
    fn data_limited(&mut self, sent: Time) -> bool {
        let trip = Span::round_from_secs(self.rtt.unwrap_or(0.0));
        let from = sent.saturating_sub(trip);
        while self.held_back.front().is_some_and(|at| *at <= from) {
            self.held_back.pop_front();
        }
        self.held_back.front().is_none_or(|at| *at > sent)
    }

    fn most_received(&self) -> f64 {
        self.received
            .iter()
            .map(|(rate, _)| *rate)
            .fold(0.0, f64::max)
    }

    /// Keeps the greatest reported rate alone (section 4.3).
    fn maximize(&mut self, rate: f64, now: Time) {
        self.received.push_back((rate, now));
        self.received.retain(|(rate, _)| rate.is_finite());
        let most = self.most_received();
        self.received.clear();
        self.received.push_back((most, now));
    }

    /// Feedback (section 4.3).
    fn on_feedback<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        let now = host.now();
        let Some(side) = host.side(packet) else {
            return;
        };
        let sent = Time::from_ps(side.timestamps.1);
        let held = Span::from_ps(side.timestamps.0);
        let sample = now.saturating_since(sent).saturating_sub(held);
        let (reported, p) = (f64::from_bits(side.words[0]), f64::from_bits(side.words[1]));
        self.acked = self.acked.max(packet.ack.min(self.sent));
        self.report.record_rtt(sample);
        let sample = sample.as_secs_f64().max(1e-9);
        let first = self.rtt.is_none();
        let rtt = match self.rtt {
            Some(rtt) => self.filter * rtt + (1.0 - self.filter) * sample,
            None => sample,
        };
        self.rtt = Some(rtt);
        self.root = match first {
            true => sample.sqrt(),
            false => self.filter * self.root + (1.0 - self.filter) * sample.sqrt(),
        };
        let limited = self.data_limited(sent);
        let worse = p > self.p;
        if worse {
            self.report.fast_recoveries += 1;
        }
        self.p = p;
        if first {
            // What the first report tells is no bound (section 4.2).
            self.allowed = self.initial_rate();
            self.doubled = now;
        } else {
            let limit = if limited {
                let mut rate = reported;
                if worse {
                    for (rate, _) in &mut self.received {
                        *rate /= 2.0;
                    }
                    rate *= 0.85;
                }
                self.maximize(rate, now);
                self.most_received() * if worse { 1.0 } else { 2.0 }
            } else {
                self.received.push_back((reported, now));
                let kept = Span::round_from_secs(2.0 * rtt);
                self.received
                    .retain(|(_, at)| now.saturating_since(*at) <= kept);
                2.0 * self.most_received()
            };
            self.update(limit, now);
        }
        self.sample = sample;
        self.space();
        let wait = self.wait();
        self.timers.set(NO_FEEDBACK, now.saturating_add(wait), host);
        self.idle = true;
        self.send(host);
    }

    /// The allowed rate (section 4.3 step 4).
    fn update(&mut self, limit: f64, now: Time) {
        let rtt = self.rtt.unwrap_or(1.0);
        if self.p > 0.0 {
            self.equation = rate(self.s(), rtt, self.p);
            self.allowed = self.equation.min(limit).max(self.least_rate());
        } else if now.saturating_since(self.doubled).as_secs_f64() >= rtt {
            self.allowed = (2.0 * self.allowed).min(limit).max(self.initial_rate());
            self.doubled = now;
        }
    }

    /// The spacing (section 4.5), by the last round trip.
    fn space(&mut self) {
        let factor = match self.oscillation && self.sample > 0.0 {
            true => self.root / self.sample.sqrt(),
            false => 1.0,
        };
        let least = match self.rtt {
            Some(rtt) if self.p <= 0.0 => self.s() / rtt,
            _ => self.least_rate(),
        };
        self.spaced = (self.allowed * factor).max(least.min(self.allowed));
        self.retime();
    }

    /// The nofeedback timer has fired (section 4.4).
    fn on_silence<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        let before = self.allowed;
        self.report.timeouts += 1;
        let halved = (self.allowed / 2.0).max(self.least_rate());
        let received = self.most_received();
        let recover = self.initial_rate();
        match self.rtt {
            None if self.idle => {}
            None => self.allowed = halved,
            Some(_) => {
                let small = match self.p > 0.0 {
                    true => received < recover,
                    false => self.allowed < 2.0 * recover,
                };
                if self.idle && small {
                    // The rate is small, and nothing was sent that could have been answered.
                } else if self.p > 0.0 {
                    let limit = match self.equation > 2.0 * received {
                        true => received,
                        false => self.equation / 2.0,
                    };
                    let limit = limit.max(self.least_rate());
                    self.received.clear();
                    self.received.push_back((limit / 2.0, now));
                    self.update(limit, now);
                } else {
                    self.allowed = halved;
                }
            }
        }
        assert!(
            self.allowed <= before.max(self.least_rate()),
            "silence raises the rate from {before} to {} bytes per second",
            self.allowed
        );
        self.space();
        self.idle = true;
        let wait = self.wait();
        self.timers.set(NO_FEEDBACK, now.saturating_add(wait), host);
        self.send(host);
    }
}

impl<S: Source> Agent for TfrcSender<S> {
    fn on_start<H: Host>(&mut self, host: &mut H) {
        let start = self.start;
        self.next_at = start;
        self.timers.set(APPLICATION, start, host);
    }

    fn on_packet<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        self.on_feedback(packet, host);
    }

    fn on_wake<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        while let Some(timer) = self.timers.due(now) {
            match timer {
                NO_FEEDBACK => self.on_silence(host),
                SEND => self.send(host),
                _ => self.on_application(host),
            }
        }
        self.timers.relist(host);
    }

    fn start_measuring(&mut self, _now: Time) {
        self.report.start_measuring();
    }
}

#[allow(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "bytes of a packet are far below 2^53"
)]
fn real(bytes: u64) -> f64 {
    bytes as f64
}

#[allow(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a window in bytes, clamped to what is exact"
)]
fn whole(bytes: f64) -> u64 {
    bytes.clamp(0.0, 9e15) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::tests::Script;
    use crate::tfrc::wire::Wire;
    use sojourn_sim::Side;

    /// A sender that begins at a time, and reports of its packets after 100 ms.
    struct Line {
        wire: Wire,
        sender: TfrcSender<Script>,
    }

    impl Line {
        fn new(start: Time, source: Script) -> Line {
            let mut sender = TfrcSender::new(TfrcConfig {
                flow: 0,
                params: TfrcParams::default(),
                source,
                rng: Stream::derive(1, 0, "tfrc"),
                start,
                stop: None,
            });
            let mut wire = Wire::default();
            sender.on_start(&mut wire);
            Line { wire, sender }
        }

        fn run(&mut self, until: Time) {
            while let Some(wake) = self.wire.wake.filter(|wake| *wake <= until) {
                self.wire.wake = None;
                self.wire.now = wake;
                self.sender.on_wake(&mut self.wire);
            }
            self.wire.now = until;
        }

        /// A report of a rate and a loss event rate, on a packet that was sent 100 ms before.
        fn report(&mut self, now: Time, rate: f64, p: f64) {
            self.run(now);
            self.wire.side = Some(Side {
                timestamps: (0, now.saturating_sub(Span::from_ms(100)).as_ps()),
                words: [rate.to_bits(), p.to_bits()],
                ..Side::default()
            });
            self.sender
                .on_packet(&Packet::test(40, 0, 0), &mut self.wire);
        }
    }

    #[test]
    fn what_is_received_is_no_bound_in_the_first_two_round_trips_whenever_a_flow_begins() {
        for start in [0, 10_000] {
            let at = |ms: u64| Time::ZERO + Span::from_ms(start + ms);
            let mut line = Line::new(at(0), Script::Unlimited);
            let initial = 4380.0 / 0.1;
            line.report(at(100), 0.0, 0.0);
            assert!((line.sender.allowed / initial - 1.0).abs() < 1e-9);
            // A packet in a round trip is reported, and the rate doubles nevertheless.
            line.report(at(200), 14_600.0, 0.0);
            assert!(
                (line.sender.allowed / (2.0 * initial) - 1.0).abs() < 1e-9,
                "{start}"
            );
            // Beyond two round trips it is twice what was reported, but not less than at first.
            line.report(at(301), 30_000.0, 0.0);
            assert!(
                (line.sender.allowed / 60_000.0 - 1.0).abs() < 1e-9,
                "{start}"
            );
        }
    }

    #[test]
    fn a_sender_with_data_without_end_is_not_limited_by_it_when_a_loss_is_told_early() {
        let at = |ms: u64| Time::ZERO + Span::from_ms(ms);
        let mut line = Line::new(at(0), Script::Unlimited);
        line.report(at(100), 0.0, 0.0);
        for ms in [200, 300, 400] {
            line.report(at(ms), 400_000.0, 0.001);
        }
        // Five milliseconds later, of a new loss event: what was received is not halved.
        line.report(at(405), 400_000.0, 0.002);
        assert_eq!(line.sender.most_received(), 400_000.0);
    }
}
