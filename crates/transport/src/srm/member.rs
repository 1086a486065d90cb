//! A member of an SRM session: the source, or one that receives and repairs.

use super::SrmParams;
use super::adapt::{Bounds, Interval};
use super::waiting::Waiting;
use crate::app::{Feed, Source};
use crate::report::{ReceiverReport, SenderReport};
use sojourn_sim::{Agent, Flags, Host, Kind, Outgoing, Packet, Side, Stay, Stream, to_usize};
use sojourn_units::{Span, Time};

/// A repair is not repeated for this many distances to who asked (Floyd et al. 1997 section III-B).
const HOLD_DOWN: u64 = 3;
/// Bytes that a session message has for each member: its number, the highest packet, two times (`srm.cc`).
const ENTRY: u32 = 16;
/// Bytes of the number of entries.
const COUNT: u32 = 4;
/// Distances that one session message brings.
const ECHOES: usize = 3;

/// What makes a member.
pub struct SrmConfig<S> {
    /// Number of the flow of the session's source.
    pub flow: u32,
    /// Which member it is: 0 the source, the others in the order of the group.
    pub member: u32,
    /// Members of the session, the source included.
    pub members: u32,
    /// The parameters.
    pub params: SrmParams,
    /// What the source sends.
    pub source: Option<S>,
    /// Random numbers: of the timers, and of the source.
    pub rng: Stream,
    /// As [`SrmConfig::rng`].
    pub source_rng: Stream,
    /// When it belongs to the group.
    pub stays: Vec<Stay>,
    /// When its source falls silent, if it does.
    pub stop: Option<Time>,
}

/// What a member has done and got, from the end of the warm-up on.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct SrmCounts {
    /// Requests that it sent.
    pub requests: u64,
    /// Repairs that it sent.
    pub repairs: u64,
    /// Session messages that it sent.
    pub sessions: u64,
    /// Requests of others for what it missed and had asked for itself already.
    pub duplicate_requests: u64,
    /// Repairs that it had no need of.
    pub duplicate_repairs: u64,
    /// Packets that it missed and got in the end.
    pub recovered: u64,
    /// Packets that it misses now.
    pub missing: u64,
    /// Time from when a packet was missed until it came, summed over recovered ones, picoseconds.
    pub recovery_sum: u128,
    /// The longest of these times.
    pub recovery_max: Span,
    /// These times in round trips to the source, summed.
    pub recovery_round_trips: f64,
}

/// A request timer.
#[derive(Clone, Debug)]
struct Request {
    missed: Time,
    backoffs: u32,
    sent: bool,
    /// A request was sent or heard.
    asked: bool,
    /// Other requests change nothing until then.
    ignore: Time,
}

/// A repair timer.
#[derive(Clone, Debug)]
struct Repair {
    /// When it was set.
    since: Time,
    /// Distance to the member that asked.
    distance: Span,
}

/// What is known of another member.
#[derive(Clone, Copy, Debug, Default)]
struct Peer {
    /// Time that its latest session message took to come here.
    from: Option<Span>,
    /// Time that a message from here took to come there, as it says.
    there: Option<Span>,
}

/// A member of a session.
pub struct SrmMember<S> {
    flow: u32,
    member: u32,
    members: u32,
    params: SrmParams,
    rng: Stream,
    feed: Option<Feed<S>>,
    stays: Vec<Stay>,
    present: bool,
    peers: Vec<Peer>,
    /// The member that the next session message reports first.
    turn: u32,
    /// The next session message.
    session_at: Option<Time>,
    /// The next number to be sent, or the one after the highest that is known of; `None` before anything is.
    next: Option<u64>,
    /// Numbers below this one were sent before it came, and are not asked for.
    first: u64,
    requests: Waiting<Request>,
    repairs: Waiting<Repair>,
    /// Repaired numbers for which requests are ignored until then.
    held: Waiting<()>,
    request_interval: Interval,
    repair_interval: Interval,
    /// Payload of the data that came last.
    payload: u32,
    counts: SrmCounts,
    report: SenderReport,
    received: ReceiverReport,
}

impl<S: Source> SrmMember<S> {
    /// A member that has not joined.
    pub fn new(config: SrmConfig<S>) -> SrmMember<S> {
        let SrmConfig {
            flow,
            member,
            members,
            params,
            source,
            rng,
            source_rng,
            stays,
            stop,
        } = config;
        let interval = |begin, width| Interval::new(begin, width, params.adaptive);
        SrmMember {
            flow,
            member,
            members,
            rng,
            feed: source.map(|source| Feed::new(source, source_rng, stop)),
            stays,
            present: false,
            peers: vec![Peer::default(); to_usize(members)],
            turn: 0,
            session_at: None,
            next: (member == 0 || params.history).then_some(0),
            first: 0,
            requests: Waiting::default(),
            repairs: Waiting::default(),
            held: Waiting::default(),
            request_interval: interval(params.c1, params.c2),
            repair_interval: interval(params.d1, params.d2),
            payload: 0,
            counts: SrmCounts::default(),
            report: SenderReport::default(),
            received: ReceiverReport::default(),
            params,
        }
    }

    /// What it has done and got.
    pub fn counts(&self) -> SrmCounts {
        SrmCounts {
            missing: u64::try_from(self.requests.len()).unwrap_or(u64::MAX),
            ..self.counts
        }
    }

    /// What the source has done.
    pub fn sender_report(&self) -> Option<SenderReport> {
        self.feed.as_ref().map(|_| self.report)
    }

    /// What a receiver has got.
    pub fn receiver_report(&self) -> ReceiverReport {
        self.received
    }

    /// The estimated distance to a member.
    pub fn distance(&self, member: u32) -> Span {
        let peer = self
            .peers
            .get(to_usize(member))
            .copied()
            .unwrap_or_default();
        match (peer.from, peer.there) {
            (Some(from), Some(there)) => (from + there) / 2,
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => self.params.distance,
        }
    }

    fn size(&self) -> f64 {
        f64::from(self.members)
    }

    /// A time drawn from an interval, in distances.
    fn draw(&mut self, begin: f64, width: f64, distance: Span) -> Span {
        let factor = begin + width * self.rng.uniform();
        Span::round_from_secs(factor * distance.as_secs_f64())
    }

    /// Sends to the group: not data, which has a flow of its own.
    fn tell<H: Host>(&self, packet: Outgoing, side: Option<Side>, host: &mut H) {
        let flow = match self.member {
            0 => self.flow + self.members,
            member => self.flow + member,
        };
        match side {
            None => host.send(flow, packet),
            Some(side) => host.send_with(flow, packet, side),
        }
    }

    fn overhead(&self) -> u32 {
        narrow(self.params.headers.get() + self.params.header.get())
    }

    /// Sends the data that is due.
    fn pump<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        while let Some(bytes) = self.take_due(now) {
            let seq = self.next.unwrap_or(0);
            self.next = Some(seq + 1);
            self.payload = narrow(bytes);
            self.report.started.get_or_insert(now);
            self.report.bytes_acked += bytes;
            let packet = Outgoing {
                size: narrow(self.params.headers.get()).saturating_add(self.payload),
                seq,
                kind: Kind::Datagram,
                ..Outgoing::default()
            };
            host.send(self.flow, packet);
        }
        let ended = self.feed.as_ref().is_some_and(|feed| feed.due().is_none());
        if ended && self.report.started.is_some() {
            self.report.completed.get_or_insert(now);
        }
    }

    /// The bytes that the source writes next, if they are due.
    fn take_due(&mut self, now: Time) -> Option<u64> {
        let feed = self.feed.as_mut()?;
        feed.due().filter(|at| *at <= now)?;
        feed.take()
    }

    /// Sends a session message, and says when the next follows.
    fn session<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        let mut side = Side::default();
        let mut echoes = 0;
        for step in 0..self.members {
            let peer = (self.turn + step) % self.members;
            if let Some(from) = self.peers[to_usize(peer)].from
                && echoes < ECHOES
            {
                side.sack[echoes] = (u64::from(peer) + 1, from.as_ps());
                echoes += 1;
                if echoes == ECHOES {
                    self.turn = (peer + 1) % self.members;
                }
            }
        }
        side.words[0] = self.next.unwrap_or(0);
        let entries = 1 + self.peers.iter().filter(|peer| peer.from.is_some()).count();
        let entries = u32::try_from(entries).unwrap_or(u32::MAX);
        let packet = Outgoing {
            size: self.overhead() + COUNT + ENTRY * entries,
            kind: Kind::Ack,
            ..Outgoing::default()
        };
        self.counts.sessions += 1;
        self.tell(packet, Some(side), host);
        self.session_at = Some(now + self.session_gap());
    }

    fn session_gap(&mut self) -> Span {
        let share = 0.9 + 0.2 * self.rng.uniform();
        Span::round_from_secs(self.params.session.as_secs_f64() * share)
    }

    /// Every number below `end` has been sent.
    fn learn(&mut self, end: u64, now: Time) {
        if self.member == 0 {
            return;
        }
        let Some(next) = self.next else {
            // What came before the first that it hears of is not its own.
            self.first = end;
            self.next = Some(end);
            return;
        };
        for number in next..end {
            self.miss(number, now);
        }
        self.next = Some(next.max(end));
    }

    fn miss(&mut self, number: u64, now: Time) {
        self.request_interval
            .adapt(Bounds::of_requests(self.size()));
        let request = Request {
            missed: now,
            backoffs: 0,
            sent: false,
            asked: false,
            ignore: now,
        };
        let wait = self.request_wait(&request);
        self.requests.set(number, now + wait, request);
    }

    /// The time of a request timer.
    fn request_wait(&mut self, request: &Request) -> Span {
        let distance = self.distance(0);
        let (begin, width) = (self.request_interval.begin, self.request_interval.width);
        let wait = self.draw(begin, width, distance) * (1_u64 << request.backoffs);
        // A distance of zero must not make it ask without end at one instant.
        wait.max(Span::from_ps(1))
    }

    /// Doubles the time of a request; others change nothing until half of it has passed.
    fn back_off(&mut self, number: u64, mut request: Request, now: Time) {
        request.backoffs = (request.backoffs + 1).min(self.params.backoffs);
        if !request.asked {
            request.asked = true;
            let trip = 2.0 * self.distance(0).as_secs_f64();
            if trip > 0.0 {
                let waited = now.since(request.missed).as_secs_f64();
                self.request_interval.delay(waited / trip);
            }
        }
        let wait = self.request_wait(&request);
        request.ignore = now + wait / 2;
        self.requests.set(number, now + wait, request);
    }

    fn request<H: Host>(&mut self, number: u64, mut request: Request, host: &mut H) {
        let now = host.now();
        let packet = Outgoing {
            size: self.overhead(),
            seq: number,
            ack: self.distance(0).as_ps(),
            kind: Kind::Ack,
            flags: Flags::RETRANSMIT,
            ..Outgoing::default()
        };
        self.counts.requests += 1;
        self.tell(packet, None, host);
        if !request.asked {
            self.request_interval.sent(Bounds::of_requests(self.size()));
        }
        request.sent = true;
        self.back_off(number, request, now);
    }

    /// Another member asks for a number.
    fn hear_request(&mut self, number: u64, from: u32, distance: Span, now: Time) {
        self.learn(number + 1, now);
        if let Some(mut request) = self.requests.get(number).cloned() {
            if request.sent {
                self.counts.duplicate_requests += 1;
                let own = self.distance(0).as_secs_f64();
                self.request_interval
                    .other_sent(own, distance.as_secs_f64());
            }
            if request.asked {
                self.request_interval.duplicate();
            }
            if now >= request.ignore {
                self.requests.remove(number);
                request.ignore = now;
                self.back_off(number, request, now);
            }
            return;
        }
        let has = self.next.is_some_and(|next| number < next) && number >= self.first;
        let idle = self.repairs.get(number).is_none() && self.held.get(number).is_none();
        if has && idle {
            self.repair_interval.adapt(Bounds::of_repairs(self.size()));
            let distance = self.distance(from);
            let (begin, width) = (self.repair_interval.begin, self.repair_interval.width);
            let wait = self.draw(begin, width, distance);
            let repair = Repair {
                since: now,
                distance,
            };
            self.repairs.set(number, now + wait, repair);
        }
    }

    /// Sends a repair.
    fn repair<H: Host>(&mut self, number: u64, repair: &Repair, host: &mut H) {
        let now = host.now();
        let payload = self
            .params
            .repair
            .map_or(self.payload, |bytes| narrow(bytes.get()));
        let packet = Outgoing {
            size: self.overhead().saturating_add(payload),
            seq: number,
            ack: repair.distance.as_ps(),
            kind: Kind::Segment,
            flags: Flags::RETRANSMIT,
            ..Outgoing::default()
        };
        self.counts.repairs += 1;
        self.report.retransmissions += 1;
        self.tell(packet, None, host);
        self.repair_interval.sent(Bounds::of_repairs(self.size()));
        self.repaired(repair, now);
        self.hold(number, repair.distance, now);
    }

    fn repaired(&mut self, repair: &Repair, now: Time) {
        let trip = 2.0 * repair.distance.as_secs_f64();
        if trip > 0.0 {
            let waited = now.since(repair.since).as_secs_f64();
            self.repair_interval.delay(waited / trip);
        }
    }

    fn hold(&mut self, number: u64, distance: Span, now: Time) {
        self.held.set(number, now + distance * HOLD_DOWN, ());
    }

    /// Data has come, at first or as a repair.
    fn take(&mut self, packet: &Packet, is_repair: bool, now: Time) {
        let number = packet.seq;
        let is_new = self.next.is_none_or(|next| number >= next);
        let payload = packet
            .size
            .saturating_sub(narrow(self.params.headers.get()));
        if !is_repair {
            self.payload = payload;
        }
        if is_new && self.member != 0 {
            self.learn(number, now);
            self.next = Some(number + 1);
        }
        let missed = self.requests.remove(number);
        if is_new || missed.is_some() {
            self.received.goodput_bytes += u64::from(self.payload);
        }
        if is_repair {
            if let Some(repair) = self.repairs.remove(number) {
                self.repaired(&repair, now);
                self.hold(number, repair.distance, now);
            } else if missed.is_none() && !is_new {
                if self.held.get(number).is_some() {
                    let own = self.distance(0).as_secs_f64();
                    let other = Span::from_ps(packet.ack).as_secs_f64();
                    self.repair_interval.other_sent(own, other);
                    self.repair_interval.duplicate();
                }
                self.counts.duplicate_repairs += 1;
                self.received.duplicates += 1;
            }
        }
        if let Some(request) = missed {
            let took = now.since(request.missed);
            let distance = self.distance(0);
            self.counts.recovered += 1;
            self.counts.recovery_sum += u128::from(took.as_ps());
            self.counts.recovery_max = self.counts.recovery_max.max(took);
            if distance > Span::ZERO {
                let trips = took.as_secs_f64() / (2.0 * distance.as_secs_f64());
                self.counts.recovery_round_trips += trips;
            }
            if is_repair {
                self.hold(number, distance, now);
            }
        }
    }

    /// A session message of another member.
    fn hear_session(&mut self, packet: &Packet, from: u32, side: &Side, now: Time) {
        let own = u64::from(self.member) + 1;
        if let Some(peer) = self.peers.get_mut(to_usize(from)) {
            peer.from = Some(now.since(packet.created));
            if let Some((_, took)) = side.sack.iter().find(|(about, _)| *about == own) {
                peer.there = Some(Span::from_ps(*took));
            }
        }
        if side.words[0] > 0 {
            self.learn(side.words[0], now);
        }
    }

    /// Joins or leaves, if it is time.
    fn come_and_go(&mut self, now: Time) {
        let here = |stay: &Stay| stay.from <= now && now < stay.until;
        let present = self.stays.iter().any(here);
        if present && !self.present {
            self.session_at = Some(now + self.session_gap());
        } else if !present && self.present {
            self.session_at = None;
            self.requests.clear();
            self.repairs.clear();
            self.next = (self.member == 0 || self.params.history).then(|| self.next.unwrap_or(0));
        }
        self.present = present;
    }

    /// When it has to be woken.
    fn next_time(&self, now: Time) -> Option<Time> {
        let turns = self.stays.iter().flat_map(|stay| [stay.from, stay.until]);
        let turns = turns.filter(|at| *at > now && *at < Time::MAX);
        let timers = [
            self.feed.as_ref().and_then(Feed::due),
            self.session_at,
            self.requests.next(),
            self.repairs.next(),
        ];
        timers.into_iter().flatten().chain(turns).min()
    }

    fn relist<H: Host>(&self, host: &mut H) {
        let now = host.now();
        if let Some(at) = self.next_time(now) {
            let at = at.max(now);
            let armed = host.armed(at);
            host.wake(at, armed);
        }
    }
}

impl<S: Source> Agent for SrmMember<S> {
    fn on_start<H: Host>(&mut self, host: &mut H) {
        self.on_wake(host);
    }

    fn on_packet<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        let now = host.now();
        let from = match packet.flow.checked_sub(self.flow) {
            Some(source) if source == self.members => 0,
            Some(from) if from < self.members => from,
            _ => return,
        };
        self.come_and_go(now);
        while self.held.due(now).is_some() {}
        match packet.kind {
            Kind::Datagram => self.take(packet, false, now),
            Kind::Segment | Kind::Pushed => self.take(packet, true, now),
            Kind::Ack if packet.flags.has(Flags::RETRANSMIT) => {
                self.hear_request(packet.seq, from, Span::from_ps(packet.ack), now);
            }
            Kind::Ack => {
                if let Some(side) = host.side(packet) {
                    self.hear_session(packet, from, &side, now);
                }
            }
            Kind::Control => {}
        }
        self.relist(host);
    }

    fn on_wake<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        self.come_and_go(now);
        while self.held.due(now).is_some() {}
        self.pump(host);
        if self.session_at.is_some_and(|at| at <= now) {
            self.session(host);
        }
        while let Some((number, request)) = self.requests.due(now) {
            self.request(number, request, host);
        }
        while let Some((number, repair)) = self.repairs.due(now) {
            self.repair(number, &repair, host);
        }
        self.relist(host);
    }

    fn start_measuring(&mut self, _now: Time) {
        self.counts = SrmCounts::default();
        self.report.start_measuring();
        self.received = ReceiverReport::default();
    }
}

/// Sizes on the wire have 32 bits.
fn narrow(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
