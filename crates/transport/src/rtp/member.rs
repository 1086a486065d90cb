//! A member of a multicast group that gets the media of a session, and reports on it to the group (RFC 3550 sections 6.2 and 6.3).
//!
//! It joins the session when it joins the group, and says BYE when it leaves. In a session of more than 50, where a BYE waits (section
//! 6.3.7), it belongs to the group until it has said it, and counts the BYEs of others; the media that still come are not played.
//! Coming back, it is a participant with another SSRC that knows nobody, and a BYE that still waited is not said.

use super::RtpParams;
use super::account::RtpAccount;
use super::incoming::{Announced, Incoming};
use super::playout::PlayoutCounts;
use super::report::{MediaHeader, Report, Rtcp};
use super::sender::rtcp_packet;
use super::session::Session;
use crate::num::low16;
use crate::report::ReceiverReport;
use sojourn_sim::{Agent, Host, Packet, Stay, Stream, Timers};
use sojourn_units::{Span, Time};

const TURN: usize = 0;
const RTCP: usize = 1;

/// A member of the group of a session.
#[derive(Clone, Debug)]
pub struct RtpMember {
    /// The flow of the network in which it reports.
    flow: u32,
    rtcp: bool,
    params: RtpParams,
    clock_rate: u32,
    sources: Vec<Incoming>,
    /// When it belongs to the group, with the random numbers of each time.
    stays: Vec<(Stay, Stream)>,
    session: Option<Session>,
    present: bool,
    left: Time,
    timers: Timers<2>,
    acks: u64,
    account: RtpAccount,
}

impl RtpMember {
    /// A member that has not joined, and reports in flow number `flow`; `clock_rate` is that of the session's format.
    pub fn new(
        flow: u32,
        params: &RtpParams,
        clock_rate: u32,
        stays: Vec<(Stay, Stream)>,
    ) -> RtpMember {
        RtpMember {
            flow,
            rtcp: params.rtcp,
            // Of a group, only who sends may report more often (section 6.2).
            params: RtpParams {
                reduced_minimum: false,
                ..params.clone()
            },
            clock_rate,
            sources: Vec::new(),
            stays,
            session: None,
            present: false,
            left: Time::ZERO,
            timers: Timers::default(),
            acks: 0,
            account: RtpAccount::default(),
        }
    }

    /// When it reports.
    #[cfg(test)]
    pub(super) fn rules(&self) -> super::Rules {
        self.params.rules()
    }

    /// The number of the flow in which it reports.
    pub fn flow(&self) -> u32 {
        self.flow
    }

    /// Signalling tells it of a source.
    pub fn introduce(&mut self, source: Announced) {
        self.sources.push(Incoming::absent(source));
    }

    /// What it has got of all sources.
    pub fn report(&self) -> ReceiverReport {
        let all = self.sources.iter().map(Incoming::report);
        let sum = all.fold(ReceiverReport::default(), |sum, one| sum.with(&one));
        ReceiverReport {
            acks: self.acks,
            ..sum
        }
    }

    /// What it has got of the source in flow number `flow`.
    pub fn report_of(&self, flow: u32) -> Option<ReceiverReport> {
        self.source(flow).map(Incoming::report)
    }

    /// The RTCP that it has sent.
    pub fn account(&self) -> RtpAccount {
        self.account
    }

    /// What its application made of the media in flow number `flow`, which was there until `until`.
    pub fn played(&self, flow: u32, until: Time) -> Option<PlayoutCounts> {
        let until = match self.present {
            true => until,
            false => until.min(self.left),
        };
        self.source(flow).map(|source| source.played(until))
    }

    /// The time from the making of the media in flow number `flow` until it is played, now.
    pub fn playout_delay(&self, flow: u32) -> Option<Span> {
        self.source(flow).map(|source| source.playout().delay())
    }

    /// Its participant; none before it first joins.
    pub fn session(&self) -> Option<&Session> {
        self.session.as_ref()
    }

    fn source(&self, flow: u32) -> Option<&Incoming> {
        let mut sources = self.sources.iter();
        sources.find(|source| source.source().flow == flow)
    }

    /// Joins or leaves, if it is time.
    fn come_and_go<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        let here = |(stay, _): &&(Stay, Stream)| stay.from <= now && now < stay.until;
        let stay = self.stays.iter().find(here);
        match (stay, self.present) {
            (Some((_, rng)), false) => {
                let mut session = self.params.session(self.clock_rate, false, rng.clone());
                if self.rtcp {
                    session.join(now);
                }
                self.session = Some(session);
                self.present = true;
            }
            (None, true) => {
                self.present = false;
                self.left = now;
                for source in &mut self.sources {
                    source.leave(now);
                }
                if self.rtcp
                    && let Some(session) = &mut self.session
                {
                    let bye = session.leave(now);
                    self.send_rtcp(bye, host);
                }
            }
            _ => {}
        }
        self.arm(host);
        let turns = self
            .stays
            .iter()
            .flat_map(|(stay, _)| [stay.from, stay.until]);
        if let Some(next) = turns.filter(|at| *at > now && *at < Time::MAX).min() {
            self.timers.set(TURN, next, host);
        }
    }

    fn send_rtcp<H: Host>(&mut self, report: Option<(Report, u32)>, host: &mut H) {
        if let Some((report, size)) = report {
            self.account.rtcp_sent(size);
            self.acks += 1;
            host.send_with(self.flow, rtcp_packet(size), Rtcp::Report(report).side());
        }
    }

    fn arm<H: Host>(&mut self, host: &mut H) {
        let next = self.session.as_ref().map_or(Time::MAX, Session::next);
        if next < Time::MAX {
            self.timers.set(RTCP, next, host);
        } else {
            self.timers.clear(RTCP);
        }
    }
}

impl Agent for RtpMember {
    fn on_start<H: Host>(&mut self, host: &mut H) {
        self.come_and_go(host);
    }

    fn on_packet<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        let present = self.present;
        let hears = |session: &&mut Session| present || session.is_on_its_way_out();
        let Some(session) = self.session.as_mut().filter(hears) else {
            return;
        };
        let now = host.now();
        match host.side(packet).and_then(|side| Rtcp::of(&side)) {
            None if !present => {}
            None => {
                let mut sources = self.sources.iter_mut();
                let own = |source: &&mut Incoming| source.source().flow == packet.flow;
                if let Some(source) = sources.find(own) {
                    let timestamp = MediaHeader::of(packet.ack).timestamp;
                    session.on_media(source.source().ssrc, low16(packet.seq), timestamp, now);
                    source.take(packet, None, now);
                }
            }
            Some(Rtcp::Report(report)) => {
                session.on_report(&report, packet.size, now);
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
            if timer == TURN {
                self.come_and_go(host);
            } else if let Some(session) = &mut self.session {
                let report = session.expire(now).report();
                self.send_rtcp(report, host);
                self.arm(host);
            }
        }
        self.timers.relist(host);
    }

    fn lingers(&self, now: Time) -> Option<Time> {
        let session = self.session.as_ref().filter(|_| self.rtcp)?;
        // The group is left after the member's own event of the instant, which is when it begins to leave, or says BYE or goes
        // on waiting.
        let event = match self.present {
            true => session.would_wait().then_some(now),
            false => session.is_on_its_way_out().then(|| session.next()),
        };
        event.map(|at| at.saturating_add(Span::from_ps(1)))
    }

    fn start_measuring(&mut self, now: Time) {
        self.acks = 0;
        self.account.start_measuring();
        for source in &mut self.sources {
            source.start_measuring(now);
        }
    }
}
