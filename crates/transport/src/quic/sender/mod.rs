//! The sending end: loss detection of RFC 9002 section 6 and appendix A, congestion events of section 7 and appendix B.

mod ack;
mod loss;
mod send;
mod timers;

use super::QuicParams;
use super::burst::Burst;
use crate::app::{Feed, Source};
use crate::report::{Gauges, SenderReport};
use sojourn_cc::{AnyCc, CongestionControl, Lost, Phase, Traits, Undo};
use sojourn_sim::{Agent, Flags, Host, Packet, Stream, Timers};
use sojourn_units::{Rate, Span, Time};
use std::collections::{BTreeMap, VecDeque};

/// Timers, in the order in which those due at one instant fire.
const LOSS: usize = 0;
const PACE: usize = 1;
const APPLICATION: usize = 2;

/// What a sender is made of.
#[derive(Debug)]
pub struct QuicConfig<S> {
    /// The number of its flow in the network.
    pub flow: u32,
    /// Its parameters, those of the receiver too.
    pub params: QuicParams,
    /// Its congestion control, not started.
    pub cc: AnyCc,
    /// Where its data comes from.
    pub source: S,
    /// The random stream of the source.
    pub rng: Stream,
    /// When the connection is opened.
    pub start: Time,
    /// From when on the source gives no more data.
    pub stop: Option<Time>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Outstanding,
    Acked,
    /// Its loss belongs to the recovery period of that number.
    Lost(u64),
}

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
struct Flight {
    /// The first byte of the stream in it.
    offset: u64,
    /// Bytes of the stream in it.
    bytes: u64,
    /// When it was sent.
    sent: Time,
    /// What has become of it.
    fate: Fate,
    /// For the sample of the delivery rate, as they were when it was sent (draft-ietf-ccwg-bbr section 4.1.2): bytes delivered.
    delivered: u64,
    /// When the last of these had been delivered.
    delivered_at: Time,
    /// When the packet was sent that began the sample.
    first_sent: Time,
    /// The application held the sender back.
    app_limited: bool,
    /// Bytes in flight, the packet included.
    in_flight: u64,
    /// Bytes lost.
    lost: u64,
}

/// A sender of a QUIC-like flow.
#[derive(Debug)]
pub struct QuicSender<S> {
    /// The number of the flow in the network.
    flow: u32,
    /// The parameters.
    params: QuicParams,
    /// Bytes of the stream in a full packet.
    mss: u64,
    /// Bytes of headers.
    headers: u32,
    /// What the application writes, and when.
    feed: Feed<S>,
    /// The congestion control.
    cc: AnyCc,
    /// What it needs.
    traits: Traits,
    /// When the connection is to be opened.
    start: Time,
    /// When it was opened.
    opened: Option<Time>,
    /// The handshake is complete.
    established: bool,
    /// When the packets of the handshake were sent.
    handshakes: Vec<Time>,
    /// Bytes of the stream that were written; `u64::MAX` without end.
    end: u64,
    /// Bytes of the stream that were sent once.
    next: u64,
    /// Bytes of the stream to send again, by the offset of the first.
    resend: BTreeMap<u64, u64>,
    /// The stream is acknowledged up to this byte.
    delivered_to: u64,
    /// Ranges beyond that are acknowledged: first byte, and one past the last.
    delivered_ranges: BTreeMap<u64, u64>,
    /// Packets from this number on are in `flights`.
    base: u64,
    /// What was sent, by packet number.
    flights: VecDeque<Flight>,
    /// The largest packet number acknowledged (largest_acked_packet).
    largest_acked: Option<u64>,
    /// Bytes in flight (bytes_in_flight).
    in_flight: u64,
    /// Of these, bytes that were in flight when the probe timer last fired, the probe included: all below that number.
    suspect: u64,
    /// That packet number.
    suspect_to: u64,
    /// The last round-trip time (latest_rtt).
    latest: Span,
    /// The smoothed one (smoothed_rtt).
    smoothed: Option<Span>,
    /// Its mean deviation (rttvar).
    variance: Span,
    /// The least one (min_rtt).
    pub(super) least: Option<Span>,
    /// When the first was measured (first_rtt_sample).
    first_sample: Time,
    /// Probe timeouts in a row (pto_count).
    probes: u32,
    /// When the last packet was sent.
    last_sent: Time,
    /// When the recovery period began; packets sent before count for no new one (congestion_recovery_start_time).
    recovery: Option<Time>,
    /// The recovery period goes on.
    recovering: bool,
    /// It began with a mark.
    marked: bool,
    /// Recovery periods so far.
    periods: u64,
    /// What to restore if the last one proves to be needless.
    undo: Option<Undo>,
    /// Packets declared lost in it that are not acknowledged.
    doubtful: u64,
    /// kPacketThreshold as it is now, packets.
    packet_threshold: u64,
    /// kTimeThreshold as it is now, round trips.
    time_threshold: f64,
    /// When persistent congestion was found, until something sent later is acknowledged.
    collapsed: Option<Time>,
    /// Packets that an acknowledgement is the first to cover: bytes, and when they were sent.
    fresh: Vec<(u64, Time)>,
    /// Losses that the congestion control is to hear of, where it uses a model.
    told: Vec<Lost>,
    /// Marked packets that the receiver has reported (ecn_ce_counters).
    marks: u64,
    /// Bytes delivered.
    delivered: u64,
    /// When the last of them were.
    delivered_at: Time,
    /// When the packet was sent that begins the next sample of the delivery rate.
    first_sent: Time,
    /// Bytes lost.
    lost_total: u64,
    /// Bytes delivered up to which samples are limited by the application.
    limited_to: u64,
    /// When the next packet may be sent.
    paced_until: Time,
    /// What was sent at once, where packets are not spaced.
    burst: Burst,
    /// Deadlines.
    timers: Timers<3>,
    /// What it has done.
    report: SenderReport,
}

impl<S: Source> QuicSender<S> {
    /// A sender that has not begun.
    pub fn new(config: QuicConfig<S>) -> QuicSender<S> {
        let feed = Feed::new(config.source, config.rng, config.stop);
        let traits = config.cc.traits();
        let params = config.params;
        QuicSender {
            flow: config.flow,
            mss: params.mss.get(),
            headers: u32::try_from(params.headers.get()).unwrap_or(u32::MAX),
            end: if feed.unlimited() { u64::MAX } else { 0 },
            feed,
            cc: config.cc,
            traits,
            start: config.start,
            opened: None,
            established: false,
            handshakes: Vec::new(),
            next: 0,
            resend: BTreeMap::new(),
            delivered_to: 0,
            delivered_ranges: BTreeMap::new(),
            base: 0,
            flights: VecDeque::new(),
            largest_acked: None,
            in_flight: 0,
            suspect: 0,
            suspect_to: 0,
            latest: Span::ZERO,
            smoothed: None,
            variance: params.initial_rtt / 2,
            least: None,
            first_sample: Time::ZERO,
            probes: 0,
            last_sent: Time::ZERO,
            recovery: None,
            recovering: false,
            marked: false,
            periods: 0,
            undo: None,
            doubtful: 0,
            packet_threshold: u64::from(params.packet_threshold),
            time_threshold: params.time_threshold,
            collapsed: None,
            fresh: Vec::new(),
            told: Vec::new(),
            marks: 0,
            delivered: 0,
            delivered_at: Time::ZERO,
            first_sent: Time::ZERO,
            lost_total: 0,
            limited_to: 0,
            paced_until: Time::ZERO,
            burst: Burst::new(params.initial_window),
            timers: Timers::default(),
            report: SenderReport::default(),
            params,
        }
    }

    /// What it has done.
    pub fn report(&self) -> SenderReport {
        self.report
    }

    /// Its state at this moment. `rto` is the probe timeout.
    pub fn gauges(&self) -> Gauges {
        let ssthresh = self.cc.ssthresh();
        Gauges {
            cwnd_bytes: self.window(),
            ssthresh_bytes: (ssthresh != u64::MAX).then_some(ssthresh),
            in_flight_bytes: self.in_flight,
            srtt: self.smoothed,
            rto: self
                .probe_timeout()
                .saturating_mul(1 << self.probes.min(20)),
        }
    }

    /// Its congestion control.
    pub fn congestion_control(&self) -> &AnyCc {
        &self.cc
    }

    /// The same, for whoever steers it between two moments of a run.
    pub fn congestion_control_mut(&mut self) -> &mut AnyCc {
        &mut self.cc
    }

    /// The rate at which it spaces its packets; `None` where it does not.
    pub fn pacing_rate(&self) -> Option<Rate> {
        self.rate_of_control().or_else(|| self.rate_of_window())
    }

    /// Whether losses are being repaired.
    pub fn phase(&self) -> Phase {
        match (self.collapsed, self.recovering) {
            (Some(_), _) => Phase::Loss,
            (None, true) if self.marked => Phase::Reducing,
            (None, true) => Phase::Recovery,
            (None, false) => Phase::Open,
        }
    }

    /// The application writes more than its source announced.
    pub fn write<H: Host>(&mut self, bytes: u64, host: &mut H) {
        self.end = self.end.saturating_add(bytes);
        if self.established {
            self.send(host);
        }
    }

    /// Whether all that was written has been acknowledged.
    pub fn is_idle(&self) -> bool {
        self.established && self.delivered_to == self.end && self.feed.due().is_none()
    }

    /// The congestion window, at least two packets (section 7.2); when an acknowledgement has ended the back-off of the probe timer, two packets beside
    /// what was in flight when it fired. Zero before the connection is established.
    fn window(&self) -> u64 {
        let least = match (self.established, self.probes) {
            (false, _) => 0,
            (true, 0) => 2 * self.mss + self.suspect,
            (true, _) => 2 * self.mss,
        };
        self.cc.cwnd().max(least)
    }

    fn on_application<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        if self.opened.is_none() {
            self.opened = Some(now);
            self.report.started = Some(now);
            self.send_handshake(host);
        }
        let (end, wake) = self.feed.collect(now, self.end, self.next);
        self.end = end;
        if let Some(at) = wake {
            self.timers.set(APPLICATION, at, host);
        }
        if self.established {
            self.check_completion(now);
            self.send(host);
        }
    }

    fn check_completion(&mut self, now: Time) {
        let ended = self.end != u64::MAX && self.feed.due().is_none();
        if ended && self.delivered_to == self.end && self.report.completed.is_none() {
            self.report.completed = Some(now);
        }
    }
}

impl<S: Source> Agent for QuicSender<S> {
    fn on_start<H: Host>(&mut self, host: &mut H) {
        let start = self.start;
        self.timers.set(APPLICATION, start, host);
    }

    fn on_packet<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        if packet.flags.has(Flags::SYN) {
            if !self.established && self.opened.is_some() {
                self.establish(packet, host);
            }
        } else if self.established {
            self.on_acknowledgement(packet, host);
        }
    }

    fn on_wake<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        while let Some(timer) = self.timers.due(now) {
            match timer {
                LOSS => self.on_timer(host),
                PACE => self.send(host),
                _ => self.on_application(host),
            }
        }
        self.timers.relist(host);
    }

    fn start_measuring(&mut self, _now: Time) {
        self.report.start_measuring();
    }
}
