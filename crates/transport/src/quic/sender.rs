//! The sending end: loss detection of RFC 9002 section 6 and appendix A, congestion events of section 7 and appendix B.

use super::burst::Burst;
use super::{QuicParams, Reordering};
use crate::app::{Feed, Source};
use crate::report::{Gauges, SenderReport};
use sojourn_cc::{
    Acked, AnyCc, Congestion, CongestionControl, CongestionKind, EcnUse, Expiry, Lost, Phase,
    Sample, Sent, Stage, Start, Traits, Undo, reduce,
};
use sojourn_sim::{
    Agent, Ecn, Flags, Host, Kind, Outgoing, Packet, Side, Stream, Timers, to_usize,
};
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
    offset: u64,
    bytes: u64,
    sent: Time,
    fate: Fate,
    /// For the sample of the delivery rate, as they were when it was sent (draft-ietf-ccwg-bbr section 4.1.2).
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    app_limited: bool,
    in_flight: u64,
    lost: u64,
}

/// A sender of a QUIC-like flow.
#[derive(Debug)]
pub struct QuicSender<S> {
    flow: u32,
    params: QuicParams,
    mss: u64,
    headers: u32,
    feed: Feed<S>,
    cc: AnyCc,
    traits: Traits,
    start: Time,
    opened: Option<Time>,
    established: bool,
    /// When the packets of the handshake were sent.
    handshakes: Vec<Time>,
    /// Bytes of the stream that were written, and sent once; bytes to send again, by offset.
    end: u64,
    next: u64,
    again: BTreeMap<u64, u64>,
    /// Ranges of the stream that are acknowledged.
    delivered_to: u64,
    delivered_ranges: BTreeMap<u64, u64>,
    /// Packets from number `base` on.
    base: u64,
    flights: VecDeque<Flight>,
    largest_acked: Option<u64>,
    in_flight: u64,
    /// Of these, bytes that were in flight when the probe timer last fired, the probe included: all below that number.
    suspect: u64,
    suspect_to: u64,
    latest: Span,
    smoothed: Option<Span>,
    variance: Span,
    pub(super) least: Option<Span>,
    first_sample: Time,
    probes: u32,
    last_sent: Time,
    /// When the recovery period began; packets sent before count for no new one.
    recovery: Option<Time>,
    recovering: bool,
    /// It began with a mark.
    marked: bool,
    /// Recovery periods so far, what to restore if the last one proves to be for nothing, and the packets declared lost in it that are not
    /// acknowledged.
    periods: u64,
    undo: Option<Undo>,
    doubtful: u64,
    /// kPacketThreshold and kTimeThreshold as they are now.
    packet_threshold: u64,
    time_threshold: f64,
    /// When persistent congestion was found, until something sent later is acknowledged.
    collapsed: Option<Time>,
    /// Packets that an acknowledgement is the first to cover: bytes, and when they were sent.
    fresh: Vec<(u64, Time)>,
    /// Losses that the congestion control is to be told of, where it goes by a model.
    told: Vec<Lost>,
    marks: u64,
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    lost_total: u64,
    /// Bytes delivered up to which samples are limited by the application.
    limited_to: u64,
    paced_until: Time,
    /// What was sent at once, where packets are not spaced.
    burst: Burst,
    timers: Timers<3>,
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
            again: BTreeMap::new(),
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

    /// The application writes more than its source told of.
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

    fn srtt(&self) -> Span {
        self.smoothed.unwrap_or(self.params.initial_rtt)
    }

    /// The probe timeout without its back-off (section 6.2.1).
    fn probe_timeout(&self) -> Span {
        let spread = self.variance.saturating_mul(4).max(self.params.granularity);
        let base = self.srtt() + spread;
        match self.established {
            true => base + self.params.max_ack_delay,
            false => base,
        }
    }

    fn send_handshake<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        let out = Outgoing {
            size: u32::try_from(self.params.handshake_size.get()).unwrap_or(u32::MAX),
            kind: Kind::Segment,
            seq: u64::try_from(self.handshakes.len()).unwrap_or(u64::MAX),
            flags: match self.handshakes.is_empty() {
                true => Flags::SYN,
                false => Flags::SYN.with(Flags::RETRANSMIT),
            },
            ..Outgoing::default()
        };
        self.handshakes.push(now);
        host.send(self.flow, out);
        let wait = self
            .probe_timeout()
            .saturating_mul(1 << self.probes.min(20));
        self.timers.set(LOSS, now.saturating_add(wait), host);
    }

    /// The handshake is answered: the packet of it with number `ack`. So many of those before it, `seq`, have not arrived.
    fn establish<H: Host>(&mut self, answer: &Packet, host: &mut H) {
        let now = host.now();
        self.established = true;
        self.probes = 0;
        self.timers.clear(LOSS);
        self.delivered_at = now;
        self.first_sent = now;
        let number = to_usize(u32::try_from(answer.ack).unwrap_or(u32::MAX));
        let (sent, before) = match self.handshakes.get(..=number) {
            Some([before @ .., sent]) => (*sent, before.last().copied()),
            _ => (now, None),
        };
        self.measure(now.since(sent), Span::ZERO, now);
        self.cc.on_start(&Start {
            now,
            mss: self.mss,
            initial_window: u64::from(self.params.initial_window) * self.mss,
            slow_start_limit: 0,
            whole_segments: false,
            rtt: self.least,
        });
        // A lost packet of the handshake is a loss like any other (appendices A.10 and B.8).
        let late = before.filter(|sent| *sent + self.loss_delay() <= now);
        if let Some(lost) = late.filter(|_| answer.seq > 0) {
            self.congested(lost, CongestionKind::Loss, now);
            // No late acknowledgement can show that it was none. What is sent from now on is sent after the recovery began.
            self.undo = None;
            self.recovery = Some(sent);
        }
        self.send(host);
    }

    /// A round-trip time (section 5; appendix A.7, UpdateRtt).
    fn measure(&mut self, latest: Span, ack_delay: Span, now: Time) {
        self.latest = latest;
        self.report.record_rtt(latest);
        let Some(smoothed) = self.smoothed else {
            self.least = Some(latest);
            self.smoothed = Some(latest);
            self.variance = latest / 2;
            self.first_sample = now;
            return;
        };
        let least = self.least.map_or(latest, |least| least.min(latest));
        self.least = Some(least);
        let delay = ack_delay.min(self.params.max_ack_delay);
        let adjusted = match latest >= least + delay {
            true => latest - delay,
            false => latest,
        };
        let apart = match smoothed > adjusted {
            true => smoothed - adjusted,
            false => adjusted - smoothed,
        };
        self.variance = (self.variance * 3 + apart) / 4;
        self.smoothed = Some((smoothed * 7 + adjusted) / 8);
    }

    // Sending.

    fn on_application<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        if self.opened.is_none() {
            self.opened = Some(now);
            self.report.started = Some(now);
            self.send_handshake(host);
        }
        while let Some(at) = self.feed.due() {
            if at > now {
                self.timers.set(APPLICATION, at, host);
                break;
            }
            self.end = self
                .end
                .saturating_add(self.feed.take().unwrap_or_default());
        }
        if self.feed.unlimited() {
            let stop = self.feed.stop();
            if stop <= now {
                self.end = self.next;
            } else if stop < Time::MAX {
                self.timers.set(APPLICATION, stop, host);
            }
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

    /// What to send next: what was lost, or what is new.
    fn pick(&mut self) -> Option<(u64, u64, bool)> {
        while let Some((&offset, &bytes)) = self.again.first_key_value() {
            // Something of it may have arrived after all.
            self.again.pop_first();
            let known = self.delivered_ranges.range(..=offset).next_back();
            let known = known.map_or(0, |(_, to)| *to).max(self.delivered_to);
            let (from, to) = (offset.max(known), offset + bytes);
            if from >= to {
                continue;
            }
            let taken = (to - from).min(self.mss);
            if from + taken < to {
                self.again.insert(from + taken, to - from - taken);
            }
            return Some((from, taken, true));
        }
        let bytes = self.mss.min(self.end - self.next);
        (bytes > 0).then(|| {
            let offset = self.next;
            self.next += bytes;
            (offset, bytes, false)
        })
    }

    /// The window would hold the sender back without the pacer, which is no want of data (section 7.8), where so many bytes are in flight.
    fn is_limited(&self, in_flight: u64) -> bool {
        let used = in_flight + self.mss;
        let cwnd = self.window();
        used > cwnd
            || used.saturating_add(self.end - self.next) > cwnd
            || used.saturating_add(self.again.values().sum()) > cwnd
    }

    fn has_data(&self) -> bool {
        !self.again.is_empty() || self.next < self.end
    }

    /// Sends what window and pacing allow.
    fn send<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        loop {
            if !self.has_data() {
                if self.in_flight < self.window() {
                    self.limited_to = (self.delivered + self.in_flight).max(1);
                }
                break;
            }
            if self.in_flight + self.mss > self.window() {
                break;
            }
            if self.paced_until > now {
                self.timers.set(PACE, self.paced_until, host);
                break;
            }
            if let Some(until) = self.burst.holds(now) {
                self.timers.set(PACE, until, host);
                break;
            }
            let Some((offset, bytes, again)) = self.pick() else {
                break;
            };
            self.transmit(offset, bytes, again, host);
        }
        self.set_timer(host);
    }

    fn transmit<H: Host>(&mut self, offset: u64, bytes: u64, again: bool, host: &mut H) {
        let now = host.now();
        let number = self.base + u64::try_from(self.flights.len()).unwrap_or(u64::MAX);
        if self.in_flight == 0 {
            self.first_sent = now;
            self.delivered_at = now;
        }
        self.in_flight += bytes;
        self.flights.push_back(Flight {
            offset,
            bytes,
            sent: now,
            fate: Fate::Outstanding,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            app_limited: self.limited_to > 0,
            in_flight: self.in_flight,
            lost: self.lost_total,
        });
        self.last_sent = now;
        if again {
            self.report.retransmissions += 1;
        }
        self.cc.on_sent(&Sent {
            now,
            bytes,
            in_flight: self.in_flight,
            retransmission: again,
            after_idle: false,
            app_limited: self.limited_to > 0,
        });
        self.space(bytes, now);
        let ecn = match (self.traits.ecn, self.params.ecn) {
            (EcnUse::Scalable, _) => Ecn::Ect1,
            (EcnUse::PerSegment, _) | (EcnUse::Classic, true) => Ecn::Ect0,
            (EcnUse::Classic, false) => Ecn::NotEct,
        };
        let out = Outgoing {
            size: self
                .headers
                .saturating_add(u32::try_from(bytes).unwrap_or(u32::MAX)),
            seq: number,
            kind: Kind::Segment,
            tos: ecn.bits(),
            flags: match again {
                true => Flags::RETRANSMIT,
                false => Flags::NONE,
            },
            ..Outgoing::default()
        };
        let side = Side {
            words: [offset, bytes],
            ..Side::default()
        };
        host.send_with(self.flow, out, side);
    }

    /// When the next packet may go: by the rate of the congestion control, or by a quarter more than the window in a round trip,
    /// after a burst of the initial window (section 7.7). Without either, bursts alone are limited.
    fn space(&mut self, bytes: u64, now: Time) {
        let (rate, burst) = match self.rate_of_control() {
            Some(rate) => (rate, Span::ZERO),
            None => match self.rate_of_window() {
                Some(rate) => {
                    // Half a packet less than a burst is what is left when its last one goes, however times are rounded.
                    let credit = u64::from(self.params.initial_window) * self.mss - self.mss / 2;
                    (rate, rate.serialization(credit))
                }
                None => {
                    let part = (bytes, self.mss);
                    self.burst.on_sent(part, self.gap(), now);
                    return;
                }
            },
        };
        // What was not used is kept, up to a burst.
        let least = Time::from_ps(now.as_ps().saturating_sub(burst.as_ps()));
        self.paced_until = self
            .paced_until
            .max(least)
            .saturating_add(rate.serialization(bytes));
    }

    /// What a packet takes on average, where a window takes a round trip.
    fn gap(&self) -> Span {
        let packets = (self.window() / self.mss).max(1);
        self.srtt() / packets
    }

    fn rate_of_control(&self) -> Option<Rate> {
        self.cc.pacing_rate().filter(|rate| !rate.is_zero())
    }

    fn rate_of_window(&self) -> Option<Rate> {
        if !self.params.pacing || self.smoothed.is_none() {
            return None;
        }
        let rtt = u128::from(self.srtt().as_ps().max(1));
        let bits = u128::from(self.window()) * 10 * 1_000_000_000_000 / rtt;
        Some(Rate::bps(u64::try_from(bits).unwrap_or(u64::MAX).max(1)))
    }

    // Timers (appendix A.8).

    /// The earliest time at which a packet below the largest acknowledged is lost.
    fn loss_time(&self) -> Option<Time> {
        let largest = self.largest_acked?;
        let wait = self.loss_delay();
        let below = usize::try_from(largest.checked_sub(self.base)?).ok()?;
        // Packets are in the order in which they were sent.
        let mut before = self.flights.iter().take(below);
        let first = before.find(|flight| flight.fate == Fate::Outstanding)?;
        Some(first.sent + wait)
    }

    fn loss_delay(&self) -> Span {
        let rtt = self.latest.max(self.srtt());
        Span::round_from_secs(rtt.as_secs_f64() * self.time_threshold).max(self.params.granularity)
    }

    fn set_timer<H: Host>(&mut self, host: &mut H) {
        if !self.established {
            return;
        }
        if let Some(at) = self.loss_time() {
            self.timers.set(LOSS, at.max(host.now()), host);
        } else if self.in_flight > 0 {
            let wait = self
                .probe_timeout()
                .saturating_mul(1 << self.probes.min(20));
            let at = self.last_sent.saturating_add(wait).max(host.now());
            self.timers.set(LOSS, at, host);
        } else {
            self.timers.clear(LOSS);
        }
    }

    fn on_timer<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        if !self.established {
            self.probes += 1;
            self.report.handshake_retransmissions += 1;
            self.send_handshake(host);
            return;
        }
        if self.loss_time().is_some_and(|at| at <= now) {
            let before = self.lost_total;
            self.detect(now);
            if self.traits.model && self.lost_total > before {
                let sample = Sample {
                    newly_lost: self.lost_total - before,
                    ..self.sample_of(now)
                };
                self.cc.on_model(&sample);
            }
            self.send(host);
            return;
        }
        if self.in_flight == 0 {
            return;
        }
        // Nothing is lost by that: a packet asks for an acknowledgement (section 6.2.4).
        self.probes += 1;
        self.report.timeouts += 1;
        let probe = self.pick().or_else(|| {
            let oldest = self.flights.iter().find(|f| f.fate == Fate::Outstanding)?;
            Some((oldest.offset, oldest.bytes, true))
        });
        if let Some((offset, bytes, again)) = probe {
            self.transmit(offset, bytes, again, host);
        }
        self.suspect = self.in_flight;
        self.suspect_to = self.base + u64::try_from(self.flights.len()).unwrap_or(u64::MAX);
        self.set_timer(host);
    }

    // Acknowledgements (appendix A.7).

    fn on_acknowledgement<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        let now = host.now();
        let Some(side) = host.side(packet) else {
            return;
        };
        let sent = self.base + u64::try_from(self.flights.len()).unwrap_or(u64::MAX);
        if packet.ack == 0 || packet.ack > sent {
            return;
        }
        let largest = packet.ack - 1;
        let before = self.in_flight;
        let lost_before = self.lost_total;
        let limited = self.is_limited(before);
        let largest_before = self.largest_acked;
        self.largest_acked = Some(
            self.largest_acked
                .map_or(largest, |known| known.max(largest)),
        );
        let mut newly = 0u64;
        let mut newest: Option<Flight> = None;
        let mut measured: Option<Span> = None;
        let mut stamp: Option<Time> = None;
        let mut fresh = std::mem::take(&mut self.fresh);
        fresh.clear();
        for (from, to) in side.sack.into_iter().chain([side.timestamps]) {
            for number in from.max(self.base)..to.min(sent) {
                let index = to_usize(u32::try_from(number - self.base).unwrap_or(u32::MAX));
                let Some(flight) = self.flights.get_mut(index) else {
                    break;
                };
                if flight.fate == Fate::Acked {
                    continue;
                }
                let fate = std::mem::replace(&mut flight.fate, Fate::Acked);
                let was_out = fate == Fate::Outstanding;
                let flight = *flight;
                if let Fate::Lost(period) = fate {
                    let distance = largest_before.map_or(0, |known| known.saturating_sub(number));
                    self.on_spurious_loss(period, distance, now.since(flight.sent));
                }
                // What was declared lost is tracked no more: it measures nothing and opens no window (appendix A.10).
                if was_out {
                    self.in_flight -= flight.bytes;
                    if number < self.suspect_to {
                        self.suspect -= flight.bytes;
                    }
                    fresh.push((flight.bytes, flight.sent));
                    if number == largest {
                        let delay = Span::from_ps(side.words[0]);
                        measured = Some(now.since(flight.sent));
                        stamp = Some(flight.sent);
                        self.measure(now.since(flight.sent), delay, now);
                    }
                }
                let new = self.deliver(flight.offset, flight.offset + flight.bytes);
                newly += new;
                if newest.is_none_or(|known| flight.sent >= known.sent) {
                    newest = Some(flight);
                }
            }
        }
        let Some(newest) = newest else {
            self.fresh = fresh;
            return;
        };
        let news = !fresh.is_empty();
        self.forget(largest, now);
        self.delivered += newly;
        self.delivered_at = now;
        self.first_sent = newest.sent;
        if self.limited_to > 0 && self.delivered > self.limited_to {
            self.limited_to = 0;
        }
        let marked = match news {
            true => side.words[1].saturating_sub(self.marks),
            false => 0,
        };
        self.marks += marked;
        let apart = newest.sent.saturating_since(newest.first_sent);
        let mut sample = Sample {
            acked: newly,
            newly_delivered: newly,
            marked: match self.traits.ecn {
                EcnUse::Classic => 0,
                _ => (marked * self.mss).min(newly),
            },
            rtt: measured,
            one_way: stamp.and_then(|sent| one_way(packet, sent, side.words[0])),
            stamp,
            prior_delivered: newest.delivered,
            sampled: self.delivered.saturating_sub(newest.delivered),
            interval: apart.max(now.saturating_since(newest.delivered_at)),
            app_limited: newest.app_limited,
            in_flight_before: before,
            tx_in_flight: newest.in_flight,
            limited,
            ..self.sample_of(now)
        };
        if self.least.is_some_and(|least| sample.interval < least) {
            // Faster than light: no sample (draft-ietf-ccwg-bbr section 4.1.2.3).
            sample.sampled = 0;
        }
        self.cc.on_sample(&sample);
        if news {
            self.probes = 0;
            if self.burst.owes(now) {
                let packets = u64::try_from(fresh.len()).unwrap_or(u64::MAX);
                self.burst.on_acked(packets, self.gap(), now);
            }
        }
        self.take_back(now);
        if marked > 0 {
            // The network says itself that it is congested.
            self.undo = None;
            self.congested(newest.sent, CongestionKind::Ecn, now);
        }
        self.detect(now);
        if self.recovering && self.recovery.is_some_and(|began| newest.sent > began) {
            self.recovering = false;
            self.cc.on_phase(Phase::Open, now);
        }
        if self.collapsed.is_some_and(|at| newest.sent > at) {
            self.collapsed = None;
            self.cc.on_phase(self.phase(), now);
        }
        sample.newly_lost = self.lost_total - lost_before;
        sample.lost_since = self.lost_total.saturating_sub(newest.lost);
        sample.in_flight = self.in_flight;
        sample.phase = self.phase();
        if self.traits.model {
            self.cc.on_model(&sample);
        } else {
            // Packet by packet (appendix B.5), those that were sent before the recovery period for nothing. What is in flight after a packet
            // has those in it that come after it: LEDBAT bounds its window by that.
            let mut left: u64 = fresh.iter().map(|(bytes, _)| bytes).sum();
            for &(bytes, sent) in &fresh {
                left -= bytes;
                if self.recovery.is_none_or(|began| sent > began) {
                    self.cc.on_ack(&Acked {
                        now,
                        bytes,
                        in_flight: self.in_flight + left,
                        rtt: measured.take(),
                        echo: false,
                        limited,
                        stage: Stage::Open,
                    });
                }
            }
        }
        self.fresh = fresh;
        self.check_completion(now);
        self.send(host);
    }

    fn sample_of(&self, now: Time) -> Sample {
        Sample {
            now,
            una: self.delivered_to,
            next: self.next,
            min_rtt: self.least,
            srtt: self.smoothed,
            delivered: self.delivered,
            in_flight_before: self.in_flight,
            in_flight: self.in_flight,
            phase: self.phase(),
            limited: true,
            ..Sample::default()
        }
    }

    /// Bytes of the stream are acknowledged; how many of them for the first time.
    fn deliver(&mut self, from: u64, to: u64) -> u64 {
        let from = from.max(self.delivered_to);
        if from >= to {
            return 0;
        }
        let mut new = to - from;
        let (mut first, mut last) = (from, to);
        while let Some((&low, &high)) = self.delivered_ranges.range(..=last).next_back() {
            if high < first {
                break;
            }
            new = new.saturating_sub(high.min(to).saturating_sub(low.max(from)));
            first = first.min(low);
            last = last.max(high);
            self.delivered_ranges.remove(&low);
        }
        if first <= self.delivered_to {
            self.delivered_to = last;
        } else {
            self.delivered_ranges.insert(first, last);
        }
        self.report.bytes_acked += new;
        new
    }

    /// Packets that need not be remembered any more: nothing below the `largest` acknowledged that has arrived or is lost, but what is lost for
    /// two probe timeouts where a late acknowledgement would tell something.
    fn forget(&mut self, largest: u64, now: Time) {
        let remembers = self.params.undo || self.params.reordering == Reordering::Adaptive;
        let late = self.probe_timeout().saturating_mul(2);
        while self.base < largest
            && let Some(first) = self.flights.front()
        {
            let waits = match first.fate {
                Fate::Outstanding => true,
                Fate::Acked => false,
                Fate::Lost(_) => remembers && first.sent.saturating_add(late) > now,
            };
            if waits {
                break;
            }
            self.flights.pop_front();
            self.base += 1;
        }
    }

    /// A packet that was declared lost in that recovery period is acknowledged so long after it was sent; the largest packet acknowledged before was so
    /// many packets above it (section 6.1: implementations can detect that and increase the thresholds).
    fn on_spurious_loss(&mut self, period: u64, distance: u64, took: Span) {
        if period == self.periods {
            self.doubtful = self.doubtful.saturating_sub(1);
        }
        if self.params.reordering == Reordering::Fixed {
            return;
        }
        self.packet_threshold = self.packet_threshold.max(distance + 1);
        let rtt = self.latest.max(self.srtt());
        let needed = took.as_secs_f64() / rtt.max(self.params.granularity).as_secs_f64();
        let mut margin = self.time_threshold - 1.0;
        while 1.0 + margin < needed && margin < 1.0 {
            margin = (2.0 * margin).clamp(0.125, 1.0);
        }
        self.time_threshold = 1.0 + margin;
    }

    /// Every packet whose loss the reduction answered to has arrived: it was for nothing, and what is lost from now on is answered again.
    fn take_back(&mut self, now: Time) {
        if self.doubtful > 0 {
            return;
        }
        if let Some(undo) = self.undo.take() {
            self.recovery = None;
            self.recovering = false;
            self.cc.on_undo(&Undo { now, ..undo });
            self.cc.on_phase(self.phase(), now);
        }
    }

    /// Packets that are lost by now (appendix A.10, DetectAndRemoveLostPackets).
    fn detect(&mut self, now: Time) {
        let Some(largest) = self.largest_acked else {
            return;
        };
        let wait = self.loss_delay();
        let threshold = self.packet_threshold;
        let mut losses = [0; 2];
        let mut newest: Option<Time> = None;
        let mut span: Option<(Time, Time)> = None;
        let mut persistent = false;
        let duration = {
            let spread = self.variance.saturating_mul(4).max(self.params.granularity);
            let whole = self.srtt() + spread + self.params.max_ack_delay;
            whole.saturating_mul(u64::from(self.params.persistent))
        };
        for (index, flight) in self.flights.iter_mut().enumerate() {
            let number = self.base + u64::try_from(index).unwrap_or(u64::MAX);
            if number >= largest {
                break;
            }
            match flight.fate {
                // Nothing between two lost packets may have been acknowledged (section 7.6.2).
                Fate::Acked => span = None,
                Fate::Lost(_) => {}
                Fate::Outstanding => {
                    let late = flight.sent + wait <= now;
                    if !late && largest - number < threshold {
                        continue;
                    }
                    // What was sent since the last recovery period began is answered by a new one.
                    let begins = self.recovery.is_none_or(|began| flight.sent > began);
                    flight.fate = Fate::Lost(self.periods + u64::from(begins));
                    losses[usize::from(begins)] += 1;
                    self.in_flight -= flight.bytes;
                    if number < self.suspect_to {
                        self.suspect -= flight.bytes;
                    }
                    self.lost_total += flight.bytes;
                    if self.traits.model {
                        self.told.push(Lost {
                            now,
                            bytes: flight.bytes,
                            tx_in_flight: flight.in_flight,
                            lost_since: self.lost_total - flight.lost,
                            app_limited: flight.app_limited,
                            delivered: self.delivered,
                        });
                    }
                    let known = self.again.get(&flight.offset).copied().unwrap_or(0);
                    self.again.insert(flight.offset, flight.bytes.max(known));
                    newest = Some(newest.map_or(flight.sent, |known| known.max(flight.sent)));
                    if flight.sent > self.first_sample {
                        let from = span.map_or(flight.sent, |span| span.0);
                        span = Some((from, flight.sent));
                        persistent |= flight.sent.since(from) > duration;
                    }
                }
            }
        }
        let Some(newest) = newest else {
            return;
        };
        self.congested(newest, CongestionKind::Loss, now);
        self.doubtful = match losses {
            [late, 0] => self.doubtful + late,
            [_, new] => new,
        };
        if persistent {
            self.undo = None;
            // The window falls to two packets (kMinimumWindow), the threshold stays where the loss has put it (appendix B.8).
            let least = Expiry {
                again: true,
                kept: self.mss,
            };
            let congestion = Congestion {
                now,
                kind: CongestionKind::Timeout(least),
                in_flight: self.in_flight,
                mss: self.mss,
            };
            reduce(&mut self.cc, &congestion);
            self.recovery = None;
            self.recovering = false;
            self.collapsed = Some(now);
            self.cc.on_phase(Phase::Loss, now);
            // Section 5.2: the path may have become another.
            self.least = Some(self.latest);
        }
        for lost in self.told.drain(..) {
            self.cc.on_lost(&lost);
        }
    }

    /// A congestion event, unless the packet was sent before the last one (appendix B.6).
    fn congested(&mut self, sent: Time, kind: CongestionKind, now: Time) {
        if self.recovery.is_some_and(|began| sent <= began) {
            return;
        }
        self.recovery = Some(now);
        self.recovering = true;
        self.marked = kind == CongestionKind::Ecn;
        self.periods += 1;
        self.doubtful = 0;
        self.undo = (self.params.undo && !self.marked).then(|| Undo {
            now,
            cwnd: self.cc.cwnd(),
            ssthresh: self.cc.ssthresh(),
        });
        match kind {
            CongestionKind::Ecn => self.report.ecn_reductions += 1,
            _ => self.report.fast_recoveries += 1,
        }
        // The window falls from what it is (appendix B.6), not from what is in flight.
        let whole = match self.traits.model {
            true => self.in_flight.max(self.mss),
            false => self.cc.cwnd(),
        };
        let congestion = Congestion {
            now,
            kind,
            in_flight: whole,
            mss: self.mss,
        };
        reduce(&mut self.cc, &congestion);
        self.cc.on_phase(self.phase(), now);
        if !self.traits.model {
            self.cc.on_ack(&Acked {
                now,
                bytes: 0,
                in_flight: self.in_flight,
                rtt: None,
                echo: false,
                limited: true,
                stage: Stage::Exit { at_most: u64::MAX },
            });
        }
    }
}

/// The delay from sender to receiver of the largest packet that an acknowledgement covers (draft-huitema-quic-ts-08 section 2.6). The
/// TIMESTAMP frame says when the acknowledgement was sent. The Ack Delay comes off: the draft leaves it in.
fn one_way(acknowledgement: &Packet, sent: Time, ack_delay: u64) -> Option<Span> {
    let trip = acknowledgement.created.checked_since(sent)?;
    trip.checked_sub(Span::from_ps(ack_delay))
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
