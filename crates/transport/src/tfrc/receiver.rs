//! The receiver of TFRC (RFC 5348 section 6): it counts losses and reports once per round trip.

use super::TfrcParams;
use super::equation::loss_rate_of;
use super::history::LossHistory;
use crate::report::ReceiverReport;
use sojourn_sim::{Agent, Ecn, Host, Kind, Outgoing, Packet, Side, Timers};
use sojourn_units::{Span, Time};
use std::collections::VecDeque;

const FEEDBACK: usize = 0;

/// Times of reports that are kept: enough for a round trip in which each packet is a loss event.
const KEPT: usize = 16;

/// A receiver of TFRC.
#[derive(Clone, Debug)]
pub struct TfrcReceiver {
    headers: u32,
    segment: f64,
    flow: u32,
    history: LossHistory,
    /// The packet that arrived last: when it was sent, and when it arrived; none before the first.
    last: Option<(Time, Time)>,
    /// The round-trip time that the sender told last.
    rtt: Span,
    /// Packets arrived since the last report, and bytes since the beginning.
    fresh: u64,
    bytes: u64,
    /// When reports were made, and the bytes that had arrived by then; the first entry is the first arrival.
    reports: VecDeque<(Time, u64)>,
    /// The round-trip time that the sender had told at the last of them.
    covers: Span,
    /// The timer has fired, and nothing had arrived to be reported.
    owed: bool,
    /// The rate that was reported last.
    rate: f64,
    /// The interval before the first loss event is set.
    seeded: bool,
    highest: u64,
    timers: Timers<1>,
    report: ReceiverReport,
}

impl TfrcReceiver {
    /// A receiver that has got nothing.
    pub fn new(params: &TfrcParams) -> TfrcReceiver {
        TfrcReceiver {
            headers: u32::try_from(params.headers.get()).unwrap_or(u32::MAX),
            segment: real(params.segment.get()),
            flow: 0,
            history: LossHistory::new(params.dupthresh, params.discounting),
            last: None,
            rtt: Span::ZERO,
            fresh: 0,
            bytes: 0,
            reports: VecDeque::new(),
            covers: Span::ZERO,
            owed: false,
            rate: 0.0,
            seeded: false,
            highest: 0,
            timers: Timers::default(),
            report: ReceiverReport::default(),
        }
    }

    /// What it has got.
    pub fn report(&self) -> ReceiverReport {
        self.report
    }

    /// The loss event rate.
    pub fn loss_event_rate(&self) -> f64 {
        self.history.loss_event_rate()
    }

    /// Bytes per second since the last report that is a round trip ago, so that a report ahead of its time covers a whole one, too (section
    /// 6.2 step 2). Zero while no round-trip time is known.
    fn measured_rate(&self, now: Time) -> f64 {
        let covers = if self.covers > Span::ZERO {
            self.covers
        } else {
            self.rtt
        };
        let long_ago = |report: &&(Time, u64)| now.saturating_since(report.0) >= covers;
        let mut reports = self.reports.iter().rev();
        let from = reports.find(long_ago).or(self.reports.front());
        let Some((at, bytes)) = from.filter(|_| covers > Span::ZERO) else {
            return 0.0;
        };
        let seconds = now.saturating_since(*at).max(covers).as_secs_f64();
        real(self.bytes - bytes) / seconds
    }

    /// Sets the interval before the first loss event to that which would have led to half of the rate before it (section 6.3.1).
    fn seed(&mut self, now: Time) {
        let seconds = self.rtt.as_secs_f64();
        let Some(first) = self.history.last_event().filter(|_| seconds > 0.0) else {
            return;
        };
        self.seeded = true;
        // Half a packet in a round trip at least, and just that if nothing arrived before the loss.
        let least = self.segment / 2.0 / seconds;
        let target = match first {
            0 => least,
            _ => self.rate.max(self.measured_rate(now)).max(least),
        };
        let p = loss_rate_of(self.segment, seconds, target);
        self.history.set_first_interval(1.0 / p);
    }

    fn send_report<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        let Some((sent, arrived)) = self.last else {
            return;
        };
        self.rate = self.measured_rate(now);
        let side = Side {
            timestamps: (now.since(arrived).as_ps(), sent.as_ps()),
            words: [self.rate.to_bits(), self.loss_event_rate().to_bits()],
            ..Side::default()
        };
        let out = Outgoing {
            size: self.headers,
            ack: self.highest + 1,
            kind: Kind::Ack,
            ..Outgoing::default()
        };
        host.send_with(self.flow, out, side);
        self.report.acks += 1;
        self.fresh = 0;
        self.owed = false;
        self.reports.push_back((now, self.bytes));
        if self.reports.len() > KEPT {
            self.reports.pop_front();
        }
        self.covers = self.rtt;
        self.arm(host);
    }

    fn arm<H: Host>(&mut self, host: &mut H) {
        if self.rtt > Span::ZERO {
            let at = host.now().saturating_add(self.rtt);
            self.timers.set(FEEDBACK, at, host);
        }
    }
}

impl Agent for TfrcReceiver {
    fn on_start<H: Host>(&mut self, _host: &mut H) {}

    fn on_packet<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        let now = host.now();
        self.flow = packet.flow;
        let first = self.last.is_none();
        let told = Span::from_ps(packet.ack);
        let knew = self.rtt > Span::ZERO;
        if told > Span::ZERO {
            self.rtt = told;
        }
        let payload = u64::from(packet.size.saturating_sub(self.headers));
        let before = self.loss_event_rate();
        let (new, mut began) = self.history.on_packet(packet.seq, now, self.rtt);
        if !new {
            self.report.duplicates += 1;
            return;
        }
        if packet.ecn() == Ecn::Ce {
            began |= self.history.on_mark(packet.seq, now, self.rtt);
        }
        self.report.goodput_bytes += payload;
        if first {
            self.reports.push_back((now, 0));
        }
        self.bytes += payload;
        self.fresh += 1;
        self.highest = self.highest.max(packet.seq);
        self.last = Some((packet.created, now));
        if !self.seeded && self.history.has_loss() {
            self.seed(now);
        }
        // Without a round-trip time there is no timer: every packet is reported (section 6.3).
        let due = self.rtt == Span::ZERO || self.owed;
        if due || (began && self.loss_event_rate() > before) {
            self.send_report(host);
        } else if !knew {
            self.arm(host);
        }
    }

    fn on_wake<H: Host>(&mut self, host: &mut H) {
        while self.timers.due(host.now()).is_some() {
            if self.fresh > 0 {
                self.send_report(host);
            } else {
                // The next packet is reported when it comes (section 6.1 step 4).
                self.owed = true;
                self.arm(host);
            }
        }
        self.timers.relist(host);
    }

    fn start_measuring(&mut self, _now: Time) {
        self.report = ReceiverReport::default();
    }
}

#[allow(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "bytes of a round trip are far below 2^53"
)]
fn real(bytes: u64) -> f64 {
    bytes as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tfrc::wire::Wire;

    const RTT: Span = Span::from_ms(100);

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// A receiver, and packets of 1460 bytes that arrive.
    struct Line {
        wire: Wire,
        receiver: TfrcReceiver,
    }

    impl Line {
        fn new() -> Line {
            Line {
                wire: Wire::default(),
                receiver: TfrcReceiver::new(&TfrcParams::default()),
            }
        }

        /// Time goes on until `ms`, and packet `seq` arrives, in which the sender tells this round-trip time.
        fn arrive(&mut self, ms: u64, seq: u64, rtt: Span) {
            while let Some(wake) = self.wire.wake.filter(|wake| *wake <= at(ms)) {
                self.wire.wake = None;
                self.wire.now = wake;
                self.receiver.on_wake(&mut self.wire);
            }
            self.wire.now = at(ms);
            let mut packet = Packet::test(1500, 0, 0);
            packet.seq = seq;
            packet.ack = rtt.as_ps();
            packet.created = at(ms.saturating_sub(50));
            self.receiver.on_packet(&packet, &mut self.wire);
        }

        /// When reports were made, milliseconds, and the rates that they tell, bytes per second.
        fn reports(&self) -> Vec<(u64, f64)> {
            let reports = self.wire.sent.iter();
            reports
                .map(|(now, side)| (now.as_ps() / 1_000_000_000, f64::from_bits(side.words[0])))
                .collect()
        }
    }

    #[test]
    fn every_packet_is_reported_while_no_round_trip_time_is_known() {
        let mut line = Line::new();
        for seq in 0..3 {
            line.arrive(10 * seq, seq, Span::ZERO);
        }
        assert_eq!(line.reports(), [(0, 0.0), (10, 0.0), (20, 0.0)]);
        // Then the timer runs.
        for seq in 3..20 {
            line.arrive(10 * seq, seq, RTT);
        }
        let times: Vec<u64> = line.reports().iter().map(|report| report.0).collect();
        assert_eq!(times, [0, 10, 20, 130]);
    }

    #[test]
    fn after_a_timer_that_found_nothing_the_next_packet_is_reported_at_once() {
        let mut line = Line::new();
        line.arrive(0, 0, Span::ZERO);
        line.arrive(100, 1, RTT);
        line.arrive(450, 2, RTT);
        let times: Vec<u64> = line.reports().iter().map(|report| report.0).collect();
        // The timer fires at 200 with a packet to report, then at 300 and 400 with none.
        assert_eq!(times, [0, 200, 450]);
    }

    #[test]
    fn a_report_of_a_loss_ahead_of_its_time_tells_the_rate_of_a_whole_round_trip() {
        let mut line = Line::new();
        line.arrive(0, 0, Span::ZERO);
        // A packet in ten milliseconds; the one of 210 is lost, which three after it tell.
        for seq in 1..=24 {
            if seq != 21 {
                line.arrive(10 * seq, seq, RTT);
            }
        }
        let reports = line.reports();
        // Reports at 110 and 210, and at 240 of the loss: since 110, with thirteen packets of 1460 bytes.
        let (when, rate) = reports[reports.len() - 1];
        assert_eq!(when, 240);
        assert!((rate - 13.0 * 1460.0 / 0.13).abs() < 1e-6, "{rate}");
    }

    #[test]
    fn if_the_first_packet_is_lost_the_rate_is_half_a_packet_in_a_round_trip() {
        let mut line = Line::new();
        for seq in 1..=3 {
            line.arrive(10 * seq, seq, if seq == 1 { Span::ZERO } else { RTT });
        }
        let p = line.receiver.loss_event_rate();
        let rate = crate::tfrc::rate(1460.0, 0.1, p);
        assert!((rate / 7300.0 - 1.0).abs() < 1e-6, "{rate}");
    }

    #[test]
    fn a_loss_before_a_round_trip_time_is_known_has_its_interval_when_one_is() {
        let mut line = Line::new();
        for seq in [0, 2, 3, 4] {
            line.arrive(10 * seq, seq, Span::ZERO);
        }
        assert_eq!(line.receiver.loss_event_rate(), 0.25);
        line.arrive(50, 5, RTT);
        // Five packets in the round trip at most: nothing of the rate of the equation with p = 1/4.
        let rate = crate::tfrc::rate(1460.0, 0.1, line.receiver.loss_event_rate());
        assert!((rate / (5.0 * 14_600.0) - 1.0).abs() < 1e-6, "{rate}");
    }
}
