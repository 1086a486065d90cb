//! The end of a flow that gets media, and reports on it.

use super::RtpParams;
use super::account::RtpAccount;
use super::playout::{PlayoutBuffer, PlayoutCounts};
use super::recorder::Recorder;
use super::report::{MediaHeader, PICTURE_LOSS_BYTES, Report, Rtcp};
use super::sender::rtcp_packet;
use super::session::Session;
use crate::num::low16;
use crate::report::ReceiverReport;
use sojourn_sim::{Agent, Host, Packet, Stream, Timers};
use sojourn_units::{Span, Time};

const FEEDBACK: usize = 0;
const RTCP: usize = 1;
const STOP: usize = 2;

/// Packets before the newest whose duplicates are known.
const REMEMBERED: u64 = 128;

/// A receiver of media.
#[derive(Clone, Debug)]
pub struct RtpReceiver {
    flow: u32,
    /// The SSRC of the media, known from signalling.
    peer: u32,
    headers: u32,
    rtcp: bool,
    interval: Option<Span>,
    reduced_size: bool,
    picture_loss: bool,
    session: Session,
    recorder: Recorder,
    playout: PlayoutBuffer,
    start: Time,
    stop: Option<Time>,
    /// The number of the newest packet, and which of those before it have arrived.
    newest: Option<u64>,
    arrived: u128,
    timers: Timers<3>,
    report: ReceiverReport,
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
            peer,
            headers: u32::try_from(params.headers.get()).unwrap_or(u32::MAX),
            rtcp: params.rtcp,
            interval: params.feedback,
            reduced_size: params.reduced_size,
            picture_loss: params.picture_loss && params.rtcp,
            session: params.session(clock_rate, false, session),
            recorder: Recorder::default(),
            playout: PlayoutBuffer::new(
                params.playout,
                params.playout_hold,
                params.clock_rate.unwrap_or(clock_rate),
            ),
            start,
            stop,
            newest: None,
            arrived: 0,
            timers: Timers::default(),
            report: ReceiverReport::default(),
            account: RtpAccount::default(),
        }
    }

    /// What it has got.
    pub fn report(&self) -> ReceiverReport {
        self.report
    }

    /// What it has counted.
    pub fn account(&self) -> RtpAccount {
        self.account
    }

    /// What its application made of what it has got until `now`.
    pub fn played(&self, now: Time) -> PlayoutCounts {
        let until = self.stop.map_or(now, |stop| stop.min(now));
        self.playout.counts(until)
    }

    /// The time from the making of media until it is played, now.
    pub fn playout_delay(&self) -> Span {
        self.playout.delay()
    }

    /// Its participant.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Whether a packet is new, and whether one before it is missing that was not before.
    fn note(&mut self, seq: u64) -> (bool, bool) {
        let Some(newest) = self.newest else {
            self.newest = Some(seq);
            self.arrived = 1;
            return (true, false);
        };
        if seq > newest {
            let ahead = seq - newest;
            self.arrived = match u32::try_from(ahead) {
                Ok(ahead) if ahead < 128 => self.arrived << ahead | 1,
                _ => 1,
            };
            self.newest = Some(seq);
            return (true, ahead > 1);
        }
        let back = newest - seq;
        if back >= REMEMBERED {
            return (true, false);
        }
        let bit = 1u128 << back;
        let new = self.arrived & bit == 0;
        self.arrived |= bit;
        (new, false)
    }

    fn on_media<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        let now = host.now();
        let header = MediaHeader::of(packet.ack);
        self.session
            .on_media(self.peer, low16(packet.seq), header.timestamp, now);
        let (new, gap) = self.note(packet.seq);
        if !new {
            self.report.duplicates += 1;
            return;
        }
        self.report.goodput_bytes += u64::from(packet.size.saturating_sub(self.headers));
        self.playout
            .on_packet(packet.seq, header, packet.created, now);
        // Asked for again until the picture is whole: the request, or the key frame, may be lost.
        let missing = gap || !self.playout.is_intact();
        if missing && self.picture_loss && self.session.early() {
            let size = self.session.small(PICTURE_LOSS_BYTES);
            self.send_small(&Rtcp::PictureLoss, size, host);
            self.arm(host);
        }
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

    fn send_feedback<H: Host>(&mut self, host: &mut H) {
        while let Some(feedback) = self.recorder.report(host.now()) {
            let ahead = match self.reduced_size {
                true => 0,
                false => Report::EMPTY_BYTES,
            };
            let size = self.session.small(feedback.size() + ahead);
            self.send_small(&Rtcp::Feedback(feedback), size, host);
        }
        self.timers.clear(FEEDBACK);
    }

    fn send_small<H: Host>(&mut self, packet: &Rtcp, size: u32, host: &mut H) {
        self.account.rtcp_sent(size);
        self.report.acks += 1;
        host.send_with(self.flow, rtcp_packet(size), packet.side());
    }

    fn send_rtcp<H: Host>(&mut self, report: Option<(Report, u32)>, host: &mut H) {
        if let Some((report, size)) = report {
            self.send_small(&Rtcp::Report(report), size, host);
        }
        self.arm(host);
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
        match host.side(packet).and_then(Rtcp::of) {
            None => self.on_media(packet, host),
            Some(Rtcp::Report(report)) => {
                self.session.on_report(&report, packet.size, host.now());
                if report.bye {
                    self.arm(host);
                }
            }
            Some(Rtcp::Feedback(_) | Rtcp::PictureLoss) => {}
        }
    }

    fn on_wake<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        while let Some(timer) = self.timers.due(now) {
            match timer {
                FEEDBACK => self.send_feedback(host),
                RTCP => {
                    let report = self.session.expire(now);
                    self.send_rtcp(report, host);
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
        self.report = ReceiverReport::default();
        self.account.start_measuring();
        self.playout.start_measuring(now);
    }
}
