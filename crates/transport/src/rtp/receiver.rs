//! The end of a flow that gets media, and reports on it.

use super::RtpParams;
use super::account::RtpAccount;
use super::incoming::{Announced, Incoming};
use super::nack::{Nack, Wanted};
use super::picture::{Answers, Pictures};
use super::playout::PlayoutCounts;
use super::recorder::Recorder;
use super::report::{MediaHeader, PICTURE_LOSS_BYTES, Report, Rtcp, original};
use super::sender::rtcp_packet;
use super::session::{Session, Turn};
use crate::num::low16;
use crate::report::ReceiverReport;
use sojourn_sim::{Agent, Host, Packet, Stream, Timers};
use sojourn_units::{Span, Time};

const FEEDBACK: usize = 0;
const RTCP: usize = 1;
const STOP: usize = 2;

/// A receiver of media.
#[derive(Clone, Debug)]
pub struct RtpReceiver {
    flow: u32,
    rtcp: bool,
    interval: Option<Span>,
    reduced_size: bool,
    /// Which key frames it wants, where it asks for them.
    pictures: Option<Pictures>,
    /// How long what it asks for takes to come.
    answers: Answers,
    /// What it misses, where it asks for that.
    wanted: Option<Wanted>,
    session: Session,
    recorder: Recorder,
    media: Incoming,
    start: Time,
    stop: Option<Time>,
    timers: Timers<3>,
    acks: u64,
    account: RtpAccount,
}

impl RtpReceiver {
    /// A receiver of flow number `flow` that has got nothing of the source `peer`; it joins at `start` and leaves at `stop`.
    pub fn new(
        (flow, peer): (u32, u32),
        params: &RtpParams,
        clock_rate: u32,
        session: Stream,
        (start, stop): (Time, Option<Time>),
    ) -> RtpReceiver {
        RtpReceiver {
            flow,
            rtcp: params.rtcp,
            interval: params.feedback,
            reduced_size: params.reduced_size,
            pictures: (params.picture_loss.unwrap_or(false) && params.rtcp).then(Pictures::default),
            answers: Answers::default(),
            wanted: (params.nack && params.rtcp).then(|| Wanted::new(params.nack_again)),
            session: params.session(clock_rate, false, session),
            recorder: Recorder::default(),
            media: Incoming::new(Announced::new((flow, peer), params, clock_rate)),
            start,
            stop,
            timers: Timers::default(),
            acks: 0,
            account: RtpAccount::default(),
        }
    }

    /// What it has got.
    pub fn report(&self) -> ReceiverReport {
        ReceiverReport {
            acks: self.acks,
            ..self.media.report()
        }
    }

    /// What it has counted.
    pub fn account(&self) -> RtpAccount {
        self.account
    }

    /// What its application made of what it has got, where media was available until `until`.
    pub fn played(&self, until: Time) -> PlayoutCounts {
        let until = self.stop.map_or(until, |stop| stop.min(until));
        self.media.played(until)
    }

    /// The time from the making of media until it is played, now.
    pub fn playout_delay(&self) -> Span {
        self.media.playout().delay()
    }

    /// It asks for a key frame when a picture is lost.
    pub fn asks_for_key_frames(&self) -> bool {
        self.pictures.is_some()
    }

    /// Its participant.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// A packet that is sent again, and had been number `seq`: what reports say is of first transmissions (RFC 4588 section 6.2).
    pub(super) fn on_again(&mut self, packet: &Packet, seq: u64, now: Time) {
        if self.media.take(packet, Some(seq), now).is_some()
            && let Some(wanted) = &mut self.wanted
        {
            if let Some((span, only)) = wanted.answered(seq, now) {
                self.answers.took(span, only);
            }
            wanted.on_packet(seq, self.media.playout().due());
        }
    }

    fn on_media<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        let now = host.now();
        let header = MediaHeader::of(packet.ack);
        let peer = self.media.source().ssrc;
        self.session
            .on_media(peer, low16(packet.seq), header.timestamp, now);
        let Some(gap) = self.media.take(packet, None, now) else {
            return;
        };
        let repaired = self.wanted.as_ref().map(|_| self.media.playout().due());
        let intact = self.media.playout().is_intact();
        if let Some(pictures) = &mut self.pictures {
            pictures.on_packet(header, (intact, gap), repaired, now, &mut self.answers);
        }
        self.ask_for_picture(false, host);
        if let Some(wanted) = &mut self.wanted {
            wanted.on_packet(packet.seq, self.media.playout().due());
        }
        self.ask(false, host);
        if let Some(interval) = self.interval {
            let full = self
                .recorder
                .on_packet(packet.seq, packet.ecn().bits(), now);
            if full {
                self.send_feedback(host);
            } else if self.timers.deadline(FEEDBACK).is_none() {
                self.timers
                    .set(FEEDBACK, now.saturating_add(interval), host);
            }
        }
    }

    /// Asks for a key frame if the picture is lost, until it is whole: the request, or the key frame, may be lost. Where packets come
    /// again, the picture is not lost before they would be too late. A request goes early, or in the time of a report.
    fn ask_for_picture<H: Host>(&mut self, in_turn: bool, host: &mut H) {
        let now = host.now();
        let Some(pictures) = &mut self.pictures else {
            return;
        };
        if pictures.due(now, &self.answers) && (in_turn || self.session.early()) {
            pictures.ask(now);
            self.send_early(&Rtcp::PictureLoss, PICTURE_LOSS_BYTES, host);
            self.arm(host);
        }
    }

    /// Asks for what is missing, if it may now, or a report is due: then a request goes along (RFC 4585 section 3.5.2), or alone (3.5.3).
    fn ask<H: Host>(&mut self, in_turn: bool, host: &mut H) {
        let now = host.now();
        let Some(wanted) = &mut self.wanted else {
            return;
        };
        let missing = wanted.due(now, self.answers.wait());
        if missing.is_empty() || !(in_turn || self.session.early()) {
            return;
        }
        let (nack, count) = Nack::of(&missing);
        wanted.asked(&missing[..count], now);
        self.account.nacks += 1;
        self.account.nacked += count_of(count);
        self.send_early(&Rtcp::Nack(nack), nack.size(), host);
        self.arm(host);
    }

    fn send_feedback<H: Host>(&mut self, host: &mut H) {
        while let Some(feedback) = self.recorder.report(host.now()) {
            self.send_early(&Rtcp::Feedback(feedback), feedback.size(), host);
        }
        self.timers.clear(FEEDBACK);
    }

    /// Sends feedback of `bytes` bytes, with a report in front unless it may go without.
    fn send_early<H: Host>(&mut self, packet: &Rtcp, bytes: u32, host: &mut H) {
        let size = self.session.small(bytes, self.reduced_size);
        self.send_small(packet, size, host);
    }

    fn send_small<H: Host>(&mut self, packet: &Rtcp, size: u32, host: &mut H) {
        self.account.rtcp_sent(size);
        self.acks += 1;
        host.send_with(self.flow, rtcp_packet(size), packet.side());
    }

    fn send_rtcp<H: Host>(&mut self, report: Option<(Report, u32)>, host: &mut H) {
        if let Some((report, size)) = report {
            let stays = !report.bye;
            self.send_small(&Rtcp::Report(report), size, host);
            if stays {
                self.ask_in_turn(host);
            }
        }
        self.arm(host);
    }

    /// Sends what waits for the time of the next report.
    fn ask_in_turn<H: Host>(&mut self, host: &mut H) {
        self.ask_for_picture(true, host);
        self.ask(true, host);
    }

    fn arm<H: Host>(&mut self, host: &mut H) {
        let next = self.session.next();
        if next < Time::MAX {
            self.timers.set(RTCP, next, host);
        } else {
            self.timers.clear(RTCP);
        }
    }
}

fn count_of(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

impl Agent for RtpReceiver {
    fn on_start<H: Host>(&mut self, host: &mut H) {
        if self.rtcp {
            self.session.join(self.start);
            self.arm(host);
        }
        if let Some(stop) = self.stop {
            self.timers.set(STOP, stop, host);
        }
    }

    fn on_packet<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        let side = host.side(packet);
        if let Some(seq) = side.as_ref().and_then(original) {
            self.on_again(packet, seq, host.now());
            return;
        }
        match side.and_then(|side| Rtcp::of(&side)) {
            None => self.on_media(packet, host),
            Some(Rtcp::Report(report)) => {
                self.session.on_report(&report, packet.size, host.now());
                if report.bye {
                    self.arm(host);
                }
            }
            Some(Rtcp::Feedback(_) | Rtcp::PictureLoss | Rtcp::Nack(_)) => {}
        }
    }

    fn on_wake<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        while let Some(timer) = self.timers.due(now) {
            match timer {
                FEEDBACK => self.send_feedback(host),
                RTCP => {
                    let turn = self.session.expire(now);
                    let alone = turn == Turn::Feedback;
                    self.send_rtcp(turn.report(), host);
                    if alone {
                        self.ask_in_turn(host);
                    }
                }
                _ if self.rtcp && !self.session.is_leaving() => {
                    let bye = self.session.leave(now);
                    self.send_rtcp(bye, host);
                }
                _ => {}
            }
        }
        self.timers.relist(host);
    }

    fn start_measuring(&mut self, now: Time) {
        self.acks = 0;
        self.account.start_measuring();
        self.media.start_measuring(now);
    }
}
