//! One participant of an RTP session: what it knows of the others, when it reports, and what its reports say.
//!
//! Source: RFC 3550 section 6. However packets travel: the caller hands in what arrives and sends what comes out, to one other
//! participant or to a group.

use super::breaker::Waits;
use super::interval::Rules;
use super::members::Members;
use super::reception::Reception;
use super::report::{Block, Report, SenderInfo, Sizes, Told, middle, ntp};
use super::timer::{Census, Due, RtcpTimer};
use crate::num::low32;
use sojourn_sim::Stream;
use sojourn_units::{Span, Time};
use std::collections::BTreeMap;
use std::ops::Bound;

/// What a participant is made of.
#[derive(Debug)]
pub struct SessionConfig {
    /// When it reports.
    pub rules: Rules,
    /// How large its reports are.
    pub sizes: Sizes,
    /// Bytes of headers below RTCP on the wire.
    pub lower: u32,
    /// Bytes of headers below RTCP that count in the average size.
    pub counted: u32,
    /// The average size before the first packet.
    pub first_size: f64,
    /// Units of the timestamp in a second.
    pub clock_rate: u32,
    /// Packets in order after which a source is believed.
    pub probation: u32,
    /// Where its SSRC, the first timestamp and the waits come from.
    pub rng: Stream,
}

/// What a participant does when its time has come.
#[derive(Clone, PartialEq, Debug)]
pub enum Turn {
    /// Nothing yet.
    Wait,
    /// It sends this report, with its bytes on the wire.
    Report(Report, u32),
    /// It sends the feedback that waits, and no report.
    Feedback,
}

impl Turn {
    /// The report, if one is sent.
    pub fn report(self) -> Option<(Report, u32)> {
        match self {
            Turn::Report(report, size) => Some((report, size)),
            Turn::Wait | Turn::Feedback => None,
        }
    }
}

/// A source that is heard.
#[derive(Clone, Debug)]
struct Heard {
    reception: Reception,
    /// The middle of the time in its last sender report, and when that arrived.
    last_report: Option<(u32, Time)>,
    /// Packets have arrived since the last report about it.
    fresh: bool,
}

/// A participant of a session.
#[derive(Clone, Debug)]
pub struct Session {
    ssrc: u32,
    offset: u32,
    clock_rate: u32,
    sizes: Sizes,
    lower: u32,
    counted: u32,
    probation: u32,
    members: Members,
    timer: RtcpTimer,
    heard: BTreeMap<u32, Heard>,
    /// The source that the last report listed last.
    turn: u32,
    rng: Stream,
    packets: u32,
    octets: u32,
    last_media: Option<Time>,
    /// When the last report was sent and the one before it.
    reported: [Option<Time>; 2],
}

impl Session {
    /// A participant that has not joined.
    pub fn new(config: SessionConfig) -> Session {
        let mut rng = config.rng;
        let ssrc = low32(rng.bits());
        let offset = low32(rng.bits());
        Session {
            ssrc,
            offset,
            clock_rate: config.clock_rate,
            sizes: config.sizes,
            lower: config.lower,
            counted: config.counted,
            probation: config.probation,
            members: Members::default(),
            timer: RtcpTimer::new(config.rules, config.first_size),
            heard: BTreeMap::new(),
            turn: 0,
            rng,
            packets: 0,
            octets: 0,
            last_media: None,
            reported: [None; 2],
        }
    }

    /// The identifier of its media (SSRC).
    pub fn ssrc(&self) -> u32 {
        self.ssrc
    }

    /// The others, and it.
    pub fn members(&self) -> &Members {
        &self.members
    }

    /// When [`Session::expire`] is wanted; [`Time::MAX`] for never.
    pub fn next(&self) -> Time {
        self.timer.next()
    }

    /// The waits by which circuit breakers judge, of media with so much time between frames.
    pub(super) fn waits(&self, frame: Span) -> Waits {
        let census = self.census();
        Waits {
            frame,
            receiver: self.timer.of_receiver(census),
            own: self.timer.deterministic(census),
            between: self.timer.between(),
        }
    }

    /// The wait by which reports that stay away are judged.
    pub fn timeout_interval(&self) -> Span {
        self.timer.timeout(self.census())
    }

    /// It will say BYE, but not yet.
    pub fn is_on_its_way_out(&self) -> bool {
        self.timer.is_leaving() && self.timer.next() < Time::MAX
    }

    /// If it were to leave now, its BYE would have to wait.
    pub fn would_wait(&self) -> bool {
        !self.timer.is_leaving() && RtcpTimer::waits(self.farewell_of())
    }

    /// Those that a BYE would have to wait for, itself included. Who has never sent anything says nothing.
    fn farewell_of(&self) -> u64 {
        match self.is_silent() {
            true => 1,
            false => self.members.count(),
        }
    }

    fn is_silent(&self) -> bool {
        self.packets == 0 && self.reported[0].is_none()
    }

    /// It has said BYE or is about to.
    pub fn is_leaving(&self) -> bool {
        self.timer.is_leaving()
    }

    /// A time on the clock of the timestamps, whose zero is its own.
    pub fn timestamp(&self, at: Time) -> u32 {
        self.ticks(at).wrapping_add(self.offset)
    }

    fn ticks(&self, at: Time) -> u32 {
        let ticks = u128::from(at.as_ps()) * u128::from(self.clock_rate) / 1_000_000_000_000;
        low32(u64::try_from(ticks & u128::from(u64::MAX)).unwrap_or(0))
    }

    /// A number of units of the timestamp as a time.
    pub fn span(&self, ticks: u32) -> Span {
        let ps = u128::from(ticks) * 1_000_000_000_000 / u128::from(self.clock_rate.max(1));
        Span::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }

    /// It has sent media since the report before the last one (section 6.3.8).
    fn we_sent(&self) -> bool {
        match (self.last_media, self.reported[1]) {
            (Some(media), Some(before)) => media >= before,
            (media, None) => media.is_some(),
            (None, _) => false,
        }
    }

    fn census(&self) -> Census {
        self.members.census(self.we_sent())
    }

    /// It joins.
    pub fn join(&mut self, now: Time) {
        let census = self.census();
        self.timer.join(now, census, &mut self.rng);
    }

    /// It has sent a packet of media with the given bytes of payload.
    pub fn sent_media(&mut self, now: Time, payload: u32) {
        self.packets = self.packets.wrapping_add(1);
        self.octets = self.octets.wrapping_add(payload);
        self.last_media = Some(now);
    }

    /// A packet of media of `ssrc` has arrived; says whether its source is believed.
    pub fn on_media(&mut self, ssrc: u32, seq: u16, timestamp: u32, now: Time) -> bool {
        let arrival = self.ticks(now);
        let probation = self.probation;
        let heard = self.heard.entry(ssrc).or_insert_with(|| Heard {
            reception: Reception::new(probation),
            last_report: None,
            fresh: false,
        });
        let valid = heard.reception.on_packet(seq, timestamp, arrival);
        heard.fresh |= valid;
        if valid && !self.timer.is_leaving() {
            self.members.sent(ssrc, now);
        }
        valid
    }

    /// What is known of the packets of `ssrc`.
    pub fn reception(&self, ssrc: u32) -> Option<&Reception> {
        self.heard.get(&ssrc).map(|heard| &heard.reception)
    }

    /// A report has arrived, in a packet of `wire` bytes; what it says of this participant's media.
    pub fn on_report(&mut self, report: &Report, wire: u32, now: Time) -> Option<Told> {
        let size = f64::from(wire - self.lower.min(wire) + self.counted);
        if report.bye {
            self.timer.bye_heard(size);
            if self.members.left(report.ssrc) {
                self.timer.fewer(now, self.members.count());
            }
            return None;
        }
        self.timer.heard(size);
        if !self.timer.is_leaving() {
            self.members.heard(report.ssrc, now);
        }
        if let Some(sender) = report.sender
            && let Some(heard) = self.heard.get_mut(&report.ssrc)
        {
            heard.last_report = Some((middle(sender.ntp), now));
        }
        let block = report.blocks.iter().find(|block| block.ssrc == self.ssrc)?;
        Some(Told {
            fraction: block.fraction,
            lost: block.lost,
            highest: block.highest,
            jitter: block.jitter,
            round_trip: round_trip(block, now),
        })
    }

    /// Its time has come.
    pub fn expire(&mut self, now: Time) -> Turn {
        let patience = self.timer.patience(self.census());
        if self.members.expire(now, patience) {
            self.timer.fewer(now, self.members.count());
        }
        let census = self.census();
        match self.timer.expire(now, census, &mut self.rng) {
            Due::Later => Turn::Wait,
            Due::Bye => {
                let (bye, size) = self.bye();
                Turn::Report(bye, size)
            }
            Due::Feedback => Turn::Feedback,
            Due::Report => {
                let report = self.report(now);
                let size = self.sizes.of(&report);
                self.reported = [Some(now), self.reported[0]];
                let counted = f64::from(size + self.counted);
                self.timer.reported(now, counted, census, &mut self.rng);
                Turn::Report(report, size + self.lower)
            }
        }
    }

    /// Feedback of the given bytes above the headers below: its bytes on the wire. It counts in the average size. In front goes a report without
    /// blocks and a name (RFC 4585 section 3.1), unless it may go without: not before a whole report has (RFC 5506 section 4).
    pub fn small(&mut self, size: u32, reduced: bool) -> u32 {
        let size = match reduced && self.reported[0].is_some() {
            true => size,
            false => size + self.sizes.of(&Report::default()),
        };
        self.timer.count(f64::from(size + self.counted));
        size + self.lower
    }

    /// Feedback that cannot wait may go now (RFC 4585).
    pub fn early(&mut self) -> bool {
        self.timer.early()
    }

    /// It leaves: BYE, if it is said at once; else [`Session::expire`] will.
    pub fn leave(&mut self, now: Time) -> Option<(Report, u32)> {
        let (bye, _) = self.bye();
        let size = f64::from(self.sizes.of(&bye) + self.counted);
        let members = self.farewell_of();
        match self.timer.leave(now, size, members, &mut self.rng) {
            Due::Bye if !self.is_silent() => Some(self.bye()),
            _ => None,
        }
    }

    fn bye(&self) -> (Report, u32) {
        let bye = Report {
            ssrc: self.ssrc,
            bye: true,
            ..Report::default()
        };
        let size = self.sizes.of(&bye) + self.lower;
        (bye, size)
    }

    fn report(&mut self, now: Time) -> Report {
        let sender = self.we_sent().then(|| SenderInfo {
            ntp: ntp(now),
            timestamp: self.timestamp(now),
            packets: self.packets,
            octets: self.octets,
        });
        Report {
            ssrc: self.ssrc,
            blocks: self.blocks(Report::most_blocks(sender.is_some()), now),
            sender,
            bye: false,
        }
    }

    /// What is said of at most the given number of sources; those beyond the ones in the last report come first.
    fn blocks(&mut self, most: usize, now: Time) -> Vec<Block> {
        let fresh = |range| {
            let heard = self.heard.range(range);
            heard
                .filter(|(_, heard)| heard.fresh)
                .map(|(ssrc, _)| *ssrc)
        };
        let beyond = (Bound::Excluded(self.turn), Bound::Unbounded);
        let before = (Bound::Unbounded, Bound::Included(self.turn));
        let told: Vec<u32> = fresh(beyond).chain(fresh(before)).take(most).collect();
        self.turn = told.last().copied().unwrap_or(self.turn);
        let blocks = told.into_iter().filter_map(|ssrc| {
            let heard = self.heard.get_mut(&ssrc)?;
            heard.fresh = false;
            let since = heard.last_report.map_or((0, 0), |(lsr, at)| {
                (lsr, middle(ntp(Time::ZERO + now.saturating_since(at))))
            });
            Some(heard.reception.block(ssrc, since))
        });
        blocks.collect()
    }
}

/// The round trip that a block gives (section 6.4.1): now, less the time of the report that it answers, less the delay before it
/// did. None if it answers none, and none below the grain of the clock.
fn round_trip(block: &Block, now: Time) -> Option<Span> {
    if block.lsr == 0 {
        return None;
    }
    let units = middle(ntp(now))
        .wrapping_sub(block.lsr)
        .wrapping_sub(block.dlsr);
    let units = u64::try_from(units.cast_signed()).ok()?;
    let ps = u128::from(units) * 1_000_000_000_000 / 65_536;
    u64::try_from(ps).ok().map(Span::from_ps)
}
