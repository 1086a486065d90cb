//! The receiver of TFRC (RFC 5348 section 6): it counts losses and reports once per round trip.

use super::TfrcParams;
use super::equation::loss_rate_of;
use super::history::LossHistory;
use crate::report::ReceiverReport;
use sojourn_sim::{Agent, Ecn, Host, Kind, Outgoing, Packet, Side, Timers};
use sojourn_units::{Span, Time};

const FEEDBACK: usize = 0;

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
    /// Packets arrived since the last report, their bytes, and when that was.
    fresh: u64,
    bytes: u64,
    reported: Time,
    /// Bytes and length of the interval before it.
    rate: f64,
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
            reported: Time::ZERO,
            rate: 0.0,
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

    /// Bytes per second since the last report, or over a round trip if that is longer (section 6.2).
    fn measured_rate(&self, now: Time) -> f64 {
        let since = now
            .saturating_since(self.reported)
            .max(self.rtt)
            .as_secs_f64();
        match since > 0.0 {
            true => real(self.bytes) / since,
            false => 0.0,
        }
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
        self.bytes = 0;
        self.reported = now;
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
        let had_loss = self.history.has_loss();
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
        self.bytes += payload;
        self.fresh += 1;
        self.highest = self.highest.max(packet.seq);
        self.last = Some((packet.created, now));
        if began && !had_loss {
            // Section 6.3.1: the interval that would have led to the rate at which packets have arrived.
            let seconds = self.rtt.as_secs_f64();
            let target = self
                .rate
                .max(self.measured_rate(now))
                .max(self.segment / 64.0);
            if seconds > 0.0 {
                let p = loss_rate_of(self.segment, seconds, target);
                self.history.set_first_interval(1.0 / p);
            }
        }
        if first || (began && self.loss_event_rate() > before) {
            self.send_report(host);
        } else if !knew && self.rtt > Span::ZERO {
            self.arm(host);
        }
    }

    fn on_wake<H: Host>(&mut self, host: &mut H) {
        while self.timers.due(host.now()).is_some() {
            match self.fresh {
                0 => self.arm(host),
                _ => self.send_report(host),
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
