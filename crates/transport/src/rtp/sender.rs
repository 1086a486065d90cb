//! The end of a flow that sends media (RFC 3550 section 5), and reports on it.

use super::RtpParams;
use super::account::{RtpAccount, RtpGauges};
use super::breaker::{Breaker, Waits};
use super::flight::Flight;
use super::incoming::Announced;
use super::kept::Kept;
use super::nack::Nack;
use super::report::{Feedback, MediaHeader, ORIGINAL_BYTES, Report, Rtcp, Told, again};
use super::session::Session;
use super::told::Witness;
use crate::app::{Feed, Source};
use crate::num::{low16, low32, real};
use crate::report::SenderReport;
use sojourn_cc::media::{AnyMedia, MediaControl};
use sojourn_sim::{Agent, Host, Kind, Outgoing, Packet, Stream, Timers};
use sojourn_units::{Rate, Span, Time};
use std::collections::{BTreeMap, VecDeque};

/// Timers, in the order in which those due at one instant fire.
const APPLICATION: usize = 0;
const SEND: usize = 1;
const RTCP: usize = 2;
const STOP: usize = 3;
const SILENCE: usize = 4;

/// Without feedback for so long, all that is in flight is taken for lost.
const SILENT: Span = Span::from_secs(1);

/// What a sender is made of.
#[derive(Debug)]
pub struct RtpConfig<S> {
    /// The number of its flow in the network.
    pub flow: u32,
    /// Its parameters, those of the receiver too.
    pub params: RtpParams,
    /// Where its media comes from.
    pub source: S,
    /// Its congestion control, if it has one.
    pub control: Option<AnyMedia>,
    /// Units of the timestamp in a second, unless the parameters say.
    pub clock_rate: u32,
    /// The random stream of the source.
    pub rng: Stream,
    /// The random stream of its session.
    pub session: Stream,
    /// When it joins.
    pub start: Time,
    /// When its source falls silent and it leaves.
    pub stop: Option<Time>,
    /// It sends to a multicast group; it has to be a member of it to hear the reports.
    pub to_group: bool,
}

/// A packet that waits to be sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    payload: u32,
    header: MediaHeader,
    /// The number that it had when it was sent first.
    original: Option<u64>,
}

/// A sender of media.
#[derive(Debug)]
pub struct RtpSender<S> {
    flow: u32,
    headers: u32,
    payload: u64,
    tos: u8,
    pacing: Option<Rate>,
    rtcp: bool,
    breaker: Option<Breaker>,
    control: Option<AnyMedia>,
    flight: Flight,
    session: Session,
    feed: Feed<S>,
    start: Time,
    stop: Option<Time>,
    waiting: VecDeque<Waiting>,
    /// What was sent and may be asked for, where that is sent again, and how many packets were.
    kept: Option<Kept<Waiting>>,
    again: u64,
    /// When the rate lets the next packet go.
    next_at: Time,
    /// The sequence number of the first packet, and of the next.
    first: u64,
    seq: u64,
    frames: u32,
    /// Time between the last two frames.
    frame_gap: (Time, Span),
    timers: Timers<5>,
    report: SenderReport,
    account: RtpAccount,
    /// What signalling says of its media.
    announced: Announced,
    /// Whether it sends to a group, and the other senders there.
    to_group: bool,
    others: Vec<Announced>,
    /// What receivers say, by the flow of the network in which they do.
    witnesses: BTreeMap<u32, Witness>,
    /// What was said last, by any of them.
    last: Option<Told>,
}

impl<S: Source> RtpSender<S> {
    /// A sender that has not joined.
    ///
    /// # Panics
    /// If the source is unlimited: nothing would ever hold a packet back.
    pub fn new(config: RtpConfig<S>) -> RtpSender<S> {
        assert!(
            !config.source.unlimited(),
            "a source of media has times of its own; an unlimited one is for TCP"
        );
        let params = config.params;
        let mut rng = config.session;
        // ns-2 numbers from 0.
        let first = match params.rtcp_sizes {
            super::Sizes::Rfc => rng.bits() & 0xffff,
            super::Sizes::Ns2 => 0,
        };
        let session = params.session(config.clock_rate, true, rng);
        let (framing, group) = config.source.framing();
        let breaker = params.breaker(group, &session.waits(framing.unwrap_or(Span::ZERO)));
        let announced = Announced::new((config.flow, session.ssrc()), &params, config.clock_rate);
        RtpSender {
            flow: config.flow,
            headers: u32::try_from(params.headers.get()).unwrap_or(u32::MAX),
            payload: params.payload.get(),
            tos: params.tos(),
            pacing: params.pacing,
            rtcp: params.rtcp,
            breaker,
            control: config.control,
            flight: Flight::default(),
            session,
            feed: Feed::new(config.source, config.rng, config.stop),
            start: config.start,
            stop: config.stop,
            waiting: VecDeque::new(),
            kept: (params.nack && params.rtcp).then(|| Kept::new(params.rtx_time)),
            again: 0,
            next_at: Time::ZERO,
            first,
            seq: first,
            frames: 0,
            frame_gap: (Time::ZERO, Span::ZERO),
            timers: Timers::default(),
            report: SenderReport::default(),
            account: RtpAccount::default(),
            announced,
            to_group: config.to_group,
            others: Vec::new(),
            witnesses: BTreeMap::new(),
            last: None,
        }
    }

    /// What signalling says of its media.
    pub fn announced(&self) -> Announced {
        self.announced
    }

    /// Signalling tells it of another sender to its group.
    pub fn introduce(&mut self, source: Announced) {
        self.others.push(source);
    }

    /// What it has done; the round trips are those of the reports.
    pub fn report(&self) -> SenderReport {
        self.report
    }

    /// What it has counted, and what all receivers say.
    pub fn account(&self) -> RtpAccount {
        let all = self.witnesses.values().map(Witness::account);
        all.fold(self.account, |sum, one| sum.with(&one))
    }

    /// What the receiver says that reports in flow number `flow`; nothing if it has said nothing.
    pub fn account_of(&self, flow: u32) -> RtpAccount {
        let witness = self.witnesses.get(&flow);
        witness.map(Witness::account).unwrap_or_default()
    }

    /// Until when media was available: `now`, or the last frame of a source that has ended or pauses.
    pub fn media_until(&self, now: Time) -> Time {
        let (last, gap) = self.frame_gap;
        let goes_on = |next: Time| next.saturating_since(last) <= gap.saturating_mul(2);
        let pauses = self.frames > 0 && !self.feed.due().is_some_and(goes_on);
        match pauses && self.account.ceased.is_none() {
            true => last.min(now),
            false => now,
        }
    }

    /// What it knows now.
    pub fn gauges(&self) -> RtpGauges {
        RtpGauges {
            fraction_lost: self.last.map(|told| f64::from(told.fraction) / 256.0),
            jitter: self
                .last
                .map(|told| self.session.span(told.jitter).as_secs_f64()),
            round_trip: self
                .last
                .and_then(|told| told.round_trip)
                .map(Span::as_secs_f64),
            target: self.control.as_ref().map(MediaControl::target),
        }
    }

    /// Where its media comes from.
    pub fn source(&self) -> &S {
        self.feed.source()
    }

    /// Its participant.
    pub fn session(&self) -> &Session {
        &self.session
    }

    fn packets(&self) -> u64 {
        self.seq - self.first
    }

    /// What the source has written by now becomes packets.
    fn on_application<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        while let Some(at) = self.feed.due() {
            if at > now {
                self.timers.set(APPLICATION, at, host);
                break;
            }
            let (key, level) = (self.feed.source().key(), self.feed.source().level());
            let bytes = self.feed.take().unwrap_or_default();
            if self.allowed(now) {
                self.packetize(at, bytes, (key, level));
            }
        }
        self.send(host);
    }

    /// Whether no circuit breaker forbids media.
    fn allowed(&mut self, now: Time) -> bool {
        let Some(breaker) = &mut self.breaker else {
            return true;
        };
        breaker.on_send(now, self.start, self.session.timeout_interval());
        self.account.ceased = breaker.tripped();
        self.account.ceased.is_none()
    }

    fn packetize(&mut self, at: Time, bytes: u64, (key, level): (bool, u8)) {
        self.frame_gap = (at, at.saturating_since(self.frame_gap.0));
        let timestamp = self.session.timestamp(at);
        let mut left = bytes;
        loop {
            let part = left.min(self.payload);
            let first = left == bytes;
            left -= part;
            self.waiting.push_back(Waiting {
                payload: u32::try_from(part).unwrap_or(u32::MAX),
                header: MediaHeader {
                    timestamp,
                    first,
                    last: left == 0,
                    key,
                    level,
                    frame: self.frames,
                },
                original: None,
            });
            if left == 0 {
                break;
            }
        }
        self.frames = self.frames.wrapping_add(1);
    }

    /// Sends what waits, as fast as it may.
    fn send<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        while let Some(packet) = self.waiting.front().copied() {
            if self.next_at > now {
                self.timers.set(SEND, self.next_at, host);
                return;
            }
            let size = self.size_of(&packet);
            if !self.room(size) {
                // Feedback makes some, or its absence.
                return;
            }
            self.waiting.pop_front();
            if let Some(original) = packet.original {
                self.send_again(&packet, original, host);
                continue;
            }
            let out = Outgoing {
                size,
                seq: self.seq,
                ack: packet.header.word(),
                kind: Kind::Datagram,
                tos: self.tos,
                ..Outgoing::default()
            };
            host.send(self.flow, out);
            self.report.started.get_or_insert(now);
            self.report.bytes_acked += u64::from(packet.payload);
            self.session.sent_media(now, packet.payload);
            if let Some(kept) = &mut self.kept {
                let original = Some(self.seq);
                kept.sent(self.seq, Waiting { original, ..packet }, now);
            }
            if let Some(control) = &mut self.control {
                self.flight.sent(self.seq, u64::from(size), now);
                control.on_sent(now, u64::from(size), self.flight.bytes());
            }
            self.seq += 1;
            if let Some(breaker) = &mut self.breaker {
                breaker.sent(now, packet.header.frame, u64::from(size));
            }
            self.pace(u64::from(size), host);
        }
        if self.feed.due().is_none() && self.packets() > 0 {
            self.report.completed.get_or_insert(now);
            self.leave(host);
        }
    }

    /// Bytes on the wire of a packet that waits.
    fn size_of(&self, packet: &Waiting) -> u32 {
        let original = packet.original.map_or(0, |_| ORIGINAL_BYTES);
        self.headers.saturating_add(packet.payload + original)
    }

    /// Sends a packet once more, in a stream of its own (RFC 4588 section 4).
    fn send_again<H: Host>(&mut self, packet: &Waiting, original: u64, host: &mut H) {
        let size = self.size_of(packet);
        let out = Outgoing {
            size,
            seq: self.again,
            ack: packet.header.word(),
            kind: Kind::Datagram,
            tos: self.tos,
            ..Outgoing::default()
        };
        host.send_with(self.flow, out, again(original));
        self.again += 1;
        self.report.retransmissions += 1;
        self.account.retransmissions += 1;
        self.account.retransmitted_bytes += u64::from(size);
        self.pace(u64::from(size), host);
    }

    /// What is asked for and still kept goes before all that waits, unless it waits already.
    fn on_nack<H: Host>(&mut self, nack: &Nack, host: &mut H) {
        let now = host.now();
        let Some(kept) = self.kept.as_mut().filter(|_| self.account.ceased.is_none()) else {
            return;
        };
        let ahead = self.waiting.iter().take_while(|one| one.original.is_some());
        let mut place = ahead.clone().count();
        let ahead: Vec<Option<u64>> = ahead.map(|one| one.original).collect();
        for low in nack.packets() {
            if let Some(packet) = kept.of(low, self.seq, now)
                && !ahead.contains(&packet.original)
            {
                self.waiting.insert(place, packet);
                place += 1;
            }
        }
        self.send(host);
    }

    /// Whether the window has room for a packet.
    fn room(&self, size: u32) -> bool {
        let window = self.control.as_ref().and_then(MediaControl::window);
        let with = self.flight.bytes() + u64::from(size);
        window.is_none_or(|window| with <= window || self.flight.bytes() == 0)
    }

    /// When the next packet may go after one of the given bytes.
    fn pace<H: Host>(&mut self, bytes: u64, host: &mut H) {
        let now = host.now();
        if let Some(control) = &self.control {
            let seconds = real(bytes) * 8.0 / control.pacing().max(1.0);
            self.next_at = now.saturating_add(Span::round_from_secs(seconds));
            if self.timers.deadline(SILENCE).is_none() {
                self.timers.set(SILENCE, now.saturating_add(SILENT), host);
            }
        } else if let Some(rate) = self.pacing {
            self.next_at = now.saturating_add(rate.serialization(bytes));
        }
    }

    /// Bytes on the wire of what waits.
    fn waiting_bytes(&self) -> u64 {
        let sizes = self.waiting.iter();
        sizes.map(|packet| u64::from(self.size_of(packet))).sum()
    }

    fn on_feedback<H: Host>(&mut self, feedback: &Feedback, host: &mut H) {
        let now = host.now();
        let waiting = self.waiting_bytes();
        let Some(control) = &mut self.control else {
            return;
        };
        let told = self.flight.told(feedback, self.seq, now, waiting);
        control.on_feedback(&told);
        if let Some(trip) = told.round_trip {
            self.report.record_rtt(trip);
        }
        self.follow(host);
    }

    /// The encoder learns the rate, and what may go goes.
    fn follow<H: Host>(&mut self, host: &mut H) {
        if let Some(control) = &self.control {
            let payload = real(self.payload);
            let share = payload / (payload + f64::from(self.headers));
            let rate = control.target() * share;
            self.feed.source_mut().adapt(rate, host.now());
        }
        self.send(host);
    }

    fn on_silence<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        let Some(since) = self.flight.silent_since() else {
            return;
        };
        if now.saturating_since(since) < SILENT {
            self.timers.set(SILENCE, since.saturating_add(SILENT), host);
            return;
        }
        self.flight.give_up(now);
        if let Some(control) = &mut self.control {
            control.on_silence(now);
        }
        self.report.timeouts += 1;
        self.follow(host);
    }

    fn leave<H: Host>(&mut self, host: &mut H) {
        if self.rtcp && !self.session.is_leaving() {
            let bye = self.session.leave(host.now());
            self.send_rtcp(bye, host);
        }
    }

    /// Sends a report, if there is one, and sets the timer for the next.
    fn send_rtcp<H: Host>(&mut self, report: Option<(Report, u32)>, host: &mut H) {
        if let Some((report, size)) = report {
            self.account.sender_reports += u64::from(report.sender.is_some());
            self.account.rtcp_sent(size);
            host.send_with(self.flow, rtcp_packet(size), Rtcp::Report(report).side());
        }
        let next = self.session.next();
        if next < Time::MAX {
            self.timers.set(RTCP, next, host);
        } else {
            self.timers.clear(RTCP);
        }
    }

    fn on_report<H: Host>(&mut self, report: &Report, packet: &Packet, host: &mut H) {
        let now = host.now();
        let told = self.session.on_report(report, packet.size, now);
        if report.bye {
            // The wait has become shorter.
            self.send_rtcp(None, host);
        }
        let waits = self.waits();
        if let Some(breaker) = &mut self.breaker
            && !report.bye
        {
            breaker.on_report(now, told.as_ref(), &waits);
        }
        if let Some(told) = told {
            self.on_told(told, report.ssrc, packet.flow);
        }
    }

    /// The waits by which its circuit breakers judge. Media without a rhythm has the time since the frame before (RFC 8083 section 3, Tf).
    fn waits(&self) -> Waits {
        let (framing, _) = self.feed.source().framing();
        self.session.waits(framing.unwrap_or(self.frame_gap.1))
    }

    fn on_told(&mut self, told: Told, ssrc: u32, flow: u32) {
        let jitter = self.session.span(told.jitter);
        if let Some(trip) = told.round_trip {
            self.report.record_rtt(trip);
        }
        // Of a group, nobody knows who heard the first packet.
        let first = (0, low32(self.first).wrapping_sub(1));
        let first = Some(first).filter(|_| !self.to_group);
        let witness = self.witnesses.entry(flow).or_default();
        witness.tells(ssrc, told, jitter, first);
        self.last = Some(told);
    }

    /// Media of another sender to the group.
    fn on_media(&mut self, packet: &Packet, now: Time) {
        let other = self.others.iter().find(|other| other.flow == packet.flow);
        if let Some(other) = other {
            let timestamp = MediaHeader::of(packet.ack).timestamp;
            self.session
                .on_media(other.ssrc, low16(packet.seq), timestamp, now);
        }
    }
}

/// An RTCP packet of the given bytes on the wire.
pub(super) fn rtcp_packet(size: u32) -> Outgoing {
    Outgoing {
        size,
        kind: Kind::Control,
        ..Outgoing::default()
    }
}

impl<S: Source> Agent for RtpSender<S> {
    fn on_start<H: Host>(&mut self, host: &mut H) {
        self.next_at = self.start;
        if self.rtcp {
            self.session.join(self.start);
            self.send_rtcp(None, host);
        }
        if let Some(at) = self.feed.due() {
            self.timers.set(APPLICATION, at, host);
        }
        if let Some(stop) = self.stop {
            self.timers.set(STOP, stop, host);
        }
    }

    fn on_packet<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        let rtcp = host.side(packet).and_then(|side| Rtcp::of(&side));
        if let (Some(_), Some(breaker)) = (&rtcp, &mut self.breaker) {
            breaker.on_feedback(host.now());
        }
        match rtcp {
            Some(Rtcp::Report(report)) => self.on_report(&report, packet, host),
            Some(Rtcp::PictureLoss) => self.feed.source_mut().refresh(),
            Some(Rtcp::Feedback(feedback)) => self.on_feedback(&feedback, host),
            Some(Rtcp::Nack(nack)) => self.on_nack(&nack, host),
            None => self.on_media(packet, host.now()),
        }
    }

    fn on_wake<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        while let Some(timer) = self.timers.due(now) {
            match timer {
                APPLICATION => self.on_application(host),
                SEND => self.send(host),
                RTCP => {
                    let report = self.session.expire(now).report();
                    self.send_rtcp(report, host);
                }
                STOP => self.leave(host),
                _ => self.on_silence(host),
            }
        }
        self.timers.relist(host);
    }

    fn start_measuring(&mut self, _now: Time) {
        self.report.start_measuring();
        self.account.start_measuring();
        for witness in self.witnesses.values_mut() {
            witness.start_measuring();
        }
    }
}
