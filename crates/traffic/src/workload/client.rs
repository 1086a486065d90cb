//! The receiving end of a workload: one endpoint with many connections, and the user who asks for pages, if there is one.

use super::end::{End, Plan};
use super::player::{Playback, Player};
use super::sizes::{Counts, Sizes};
use super::slots::{Alarms, SlotHost};
use super::transfer::{Transfer, TransferKind};
use sojourn_sim::{Agent, Host, Kind, Outgoing, Packet, Side, Stream, to_usize};
use sojourn_transport::ReceiverReport;
use sojourn_units::{Span, Time, choice};
use std::collections::VecDeque;

/// How long the user waits for an answer before the request is sent again, at first and at most (RFC 6298 sections 2.1 and 2.5).
const FIRST_WAIT: Span = Span::from_secs(1);
const LONGEST_WAIT: Span = Span::from_secs(60);

choice! {
    /// Lifetime of a connection.
    pub enum Life {
        /// One response.
        Request = "request",
        /// One page.
        Page = "page",
        /// As long as the flow.
        Session = "session",
    }
}

/// What has arrived of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Progress {
    pub(super) bytes: u64,
    pub(super) last: Time,
}

struct Slot {
    end: Option<End>,
    number: u64,
    /// Goodput when it was last looked at.
    seen: u64,
    request: Option<Request>,
    requests: u64,
}

/// A request without a whole answer.
#[derive(Clone, Copy, Debug)]
struct Request {
    bytes: u64,
    left: u64,
    asked: Time,
    wait: Span,
    /// Nothing has come of it yet.
    unanswered: bool,
}

/// A user who asks for pages: a first object, then others over all connections, then a pause.
pub(super) struct User {
    pub(super) asks: Asks,
    pub(super) request_bytes: u32,
    pub(super) life: Life,
    /// Whether pages are reported, beside the responses that they consist of.
    pub(super) pages: bool,
    pub(super) left: u64,
    pub(super) rng: Stream,
    pub(super) start: Time,
    pub(super) stop: Time,
}

/// What a user asks for, and when.
pub(super) enum Asks {
    /// Pages of objects of random sizes, with pauses.
    Pages {
        first: Sizes,
        objects: Counts,
        others: Sizes,
        /// Mean of the pauses, and whether they are exponential.
        think: Span,
        random: bool,
    },
    /// Segments of a video, each of which is a page of one object.
    Segments(Box<Player>),
}

impl User {
    /// The sizes of the objects of the page that is asked for now, the first one apart.
    fn page(&mut self, now: Time) -> (u64, VecDeque<u64>) {
        let rng = &mut self.rng;
        match &mut self.asks {
            // All sizes are drawn now: what the network does then changes nothing of what is asked for.
            Asks::Pages {
                first,
                objects,
                others,
                ..
            } => {
                let first = first.draw(rng);
                let count = objects.draw(rng);
                (first, (0..count).map(|_| others.draw(rng)).collect())
            }
            Asks::Segments(player) => (player.ask(now, rng), VecDeque::new()),
        }
    }

    /// The pause after a page of `bytes` that is complete now.
    fn pause(&mut self, bytes: u64, now: Time) -> Span {
        match &mut self.asks {
            Asks::Pages {
                think,
                random: true,
                ..
            } => Span::round_from_secs(self.rng.exponential(think.as_secs_f64())),
            Asks::Pages { think, .. } => *think,
            Asks::Segments(player) => player.arrived(now, bytes),
        }
    }

    fn player(&mut self) -> Option<&mut Player> {
        match &mut self.asks {
            Asks::Pages { .. } => None,
            Asks::Segments(player) => Some(player),
        }
    }
}

/// The page that is on its way.
#[derive(Debug, Default)]
struct Page {
    asked: Time,
    bytes: u64,
    /// Sizes of objects that were not asked for yet.
    rest: VecDeque<u64>,
    /// Objects that are on their way.
    outstanding: u64,
}

/// The receiving end of a workload.
pub struct Client {
    first: u32,
    plan: Plan,
    slots: Vec<Slot>,
    user: Option<User>,
    page: Page,
    /// Number of the connection made last.
    last_number: u64,
    alarms: Alarms,
    /// By number of the connection, from 1, where the sender decides what is sent.
    pub(super) progress: Vec<Progress>,
    pub(super) transfers: Vec<Transfer>,
    done: ReceiverReport,
}

impl Client {
    pub(super) fn new(flows: (u32, u32), plan: Plan, user: Option<User>) -> Client {
        let (first, connections) = flows;
        let slot = || Slot {
            end: None,
            number: 0,
            seen: 0,
            request: None,
            requests: 0,
        };
        Client {
            first,
            plan,
            slots: std::iter::repeat_with(slot)
                .take(to_usize(connections))
                .collect(),
            user,
            page: Page::default(),
            last_number: 0,
            alarms: Alarms::new(2 * connections + 1),
            progress: Vec::new(),
            transfers: Vec::new(),
            done: ReceiverReport::default(),
        }
    }

    /// What it has got, over all connections.
    pub fn report(&self) -> ReceiverReport {
        let live = self
            .slots
            .iter()
            .filter_map(|slot| slot.end.as_ref()?.receiver_report());
        live.fold(self.done, |sum, report| sum.with(&report))
    }

    /// Transfers that were asked for and have not arrived.
    pub(super) fn unfinished(&self) -> impl Iterator<Item = Transfer> {
        let responses = self.slots.iter().filter_map(|slot| {
            let request = slot.request?;
            Some(Transfer {
                kind: TransferKind::Response,
                bytes: request.bytes,
                asked: request.asked,
                completed: None,
            })
        });
        let tells = self.user.as_ref().is_some_and(|user| user.pages);
        let page = (tells && self.page.outstanding > 0).then_some(Transfer {
            kind: TransferKind::Page,
            bytes: self.page.bytes,
            asked: self.page.asked,
            completed: None,
        });
        responses.chain(page)
    }

    /// What the viewer of a video got until `now`; `None` where there is none.
    pub(super) fn playback(&self, now: Time) -> Option<Playback> {
        match &self.user.as_ref()?.asks {
            Asks::Pages { .. } => None,
            Asks::Segments(player) => Some(player.playback(now)),
        }
    }

    /// Places for connections. Each has a timer for the connection and one for its request. The timer of the user comes after all.
    fn connections(&self) -> u32 {
        u32::try_from(self.slots.len()).unwrap_or(u32::MAX)
    }

    /// A place gets a receiver for a new connection.
    fn listen(&mut self, slot: u32, number: u64) {
        self.alarms.clear(slot);
        let end = Some(self.plan.receiver());
        let place = &mut self.slots[to_usize(slot)];
        let old = std::mem::replace(&mut place.end, end);
        place.number = number;
        place.seen = 0;
        place.requests = 0;
        if let Some(report) = old.and_then(|end| end.receiver_report()) {
            self.done = self.done.with(&report);
        }
    }

    fn with<H: Host>(
        &mut self,
        slot: u32,
        host: &mut H,
        act: impl FnOnce(&mut End, &mut SlotHost<'_, H>),
    ) {
        let place = &mut self.slots[to_usize(slot)];
        let Some(end) = &mut place.end else {
            return;
        };
        let mut inner = SlotHost::new(host, self.first + slot, place.number, true);
        act(end, &mut inner);
        if let Some((at, armed)) = inner.woken {
            self.alarms.set(slot, at, armed);
        }
        let goodput = end
            .receiver_report()
            .map_or(0, |report| report.goodput_bytes);
        let new = goodput - place.seen;
        place.seen = goodput;
        if new > 0 {
            self.on_progress(slot, new, host);
        }
    }

    fn on_progress<H: Host>(&mut self, slot: u32, new: u64, host: &mut H) {
        let now = host.now();
        let number = self.slots[to_usize(slot)].number;
        if self.user.is_none() {
            let index = usize::try_from(number)
                .unwrap_or(usize::MAX)
                .saturating_sub(1);
            if self.progress.len() <= index {
                self.progress.resize(index + 1, Progress::default());
            }
            let progress = &mut self.progress[index];
            progress.bytes += new;
            progress.last = now;
            return;
        }
        let place = &mut self.slots[to_usize(slot)];
        let Some(request) = &mut place.request else {
            return;
        };
        request.unanswered = false;
        request.left = request.left.saturating_sub(new);
        if request.left > 0 {
            return;
        }
        let transfer = Transfer {
            kind: TransferKind::Response,
            bytes: request.bytes,
            asked: request.asked,
            completed: Some(now),
        };
        place.request = None;
        self.transfers.push(transfer);
        self.page.outstanding -= 1;
        self.ask_for_the_rest(slot, host);
    }

    /// The next objects of the page go to the connections that are free, this one first; or the page is complete.
    fn ask_for_the_rest<H: Host>(&mut self, slot: u32, host: &mut H) {
        let others = (0..self.connections()).filter(|other| *other != slot);
        for slot in std::iter::once(slot).chain(others) {
            if self.slots[to_usize(slot)].request.is_some() {
                continue;
            }
            let Some(bytes) = self.page.rest.pop_front() else {
                break;
            };
            self.ask(slot, bytes, host);
        }
        if self.page.outstanding == 0 {
            self.finish_page(host.now());
        }
    }

    fn finish_page(&mut self, now: Time) {
        let Some(user) = &mut self.user else {
            return;
        };
        if user.pages {
            self.transfers.push(Transfer {
                kind: TransferKind::Page,
                bytes: self.page.bytes,
                asked: self.page.asked,
                completed: Some(now),
            });
        }
        let pause = user.pause(self.page.bytes, now);
        self.plan_page(now.saturating_add(pause), now);
    }

    /// The user asks for the next page at `at`.
    fn plan_page(&mut self, at: Time, now: Time) {
        let timer = 2 * self.connections();
        let Some(user) = &mut self.user else {
            return;
        };
        if user.left > 0 && at < user.stop {
            self.alarms.set(timer, at, now);
        } else if let Some(player) = user.player() {
            player.is_last();
        }
    }

    fn begin_page<H: Host>(&mut self, host: &mut H) {
        let Some(user) = &mut self.user else {
            return;
        };
        user.left -= 1;
        let (first, rest) = user.page(host.now());
        let ends = user.life == Life::Page;
        self.page = Page {
            asked: host.now(),
            bytes: first + rest.iter().sum::<u64>(),
            rest,
            outstanding: 0,
        };
        if ends {
            for slot in 0..self.connections() {
                self.slots[to_usize(slot)].requests = 0;
            }
        }
        self.ask(0, first, host);
    }

    /// Asks for `bytes` over the connection of a place, or over a new one there.
    fn ask<H: Host>(&mut self, slot: u32, bytes: u64, host: &mut H) {
        let each = self
            .user
            .as_ref()
            .is_none_or(|user| user.life == Life::Request);
        if each || self.slots[to_usize(slot)].requests == 0 {
            self.last_number += 1;
            self.listen(slot, self.last_number);
        }
        let place = &mut self.slots[to_usize(slot)];
        place.requests += 1;
        place.request = Some(Request {
            bytes,
            left: bytes,
            asked: host.now(),
            wait: FIRST_WAIT,
            unanswered: true,
        });
        self.page.outstanding += 1;
        self.send_request(slot, host);
    }

    fn send_request<H: Host>(&mut self, slot: u32, host: &mut H) {
        let now = host.now();
        let timer = self.connections() + slot;
        let place = &mut self.slots[to_usize(slot)];
        let (Some(request), Some(user)) = (&mut place.request, &self.user) else {
            return;
        };
        let out = Outgoing {
            size: user.request_bytes,
            seq: place.number,
            ack: place.requests,
            kind: Kind::Datagram,
            ..Outgoing::default()
        };
        let side = Side {
            words: [request.bytes, 0],
            ..Side::default()
        };
        host.send_with(self.first + slot, out, side);
        self.alarms
            .set(timer, now.saturating_add(request.wait), now);
        request.wait = request.wait.saturating_mul(2).min(LONGEST_WAIT);
    }

    fn run<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        let connections = self.connections();
        while let Some(timer) = self.alarms.due(now) {
            if timer < connections {
                self.with(timer, host, |end, inner| end.on_wake(inner));
            } else if timer < 2 * connections {
                let slot = timer - connections;
                let request = self.slots[to_usize(slot)].request;
                if request.is_some_and(|request| request.unanswered) {
                    self.send_request(slot, host);
                }
            } else {
                self.begin_page(host);
            }
        }
        self.alarms.list(host);
    }
}

impl Agent for Client {
    fn on_start<H: Host>(&mut self, host: &mut H) {
        let start = self.user.as_ref().map(|user| user.start);
        if let Some(start) = start {
            self.plan_page(start, host.now());
        }
        self.run(host);
    }

    fn on_packet<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        let slot = packet.flow - self.first;
        let number = packet.ack;
        if self.user.is_none() && number > self.slots[to_usize(slot)].number {
            self.listen(slot, number);
        }
        let place = &mut self.slots[to_usize(slot)];
        if number == place.number {
            if let Some(request) = &mut place.request
                && place.requests == 1
            {
                // The connection that it asked for is there.
                request.unanswered = false;
            }
            self.with(slot, host, |end, inner| end.on_packet(packet, inner));
        }
        self.run(host);
    }

    fn on_wake<H: Host>(&mut self, host: &mut H) {
        self.alarms.fired();
        self.run(host);
    }

    fn start_measuring(&mut self, now: Time) {
        self.done = ReceiverReport::default();
        if let Some(player) = self.user.as_mut().and_then(User::player) {
            player.start_measuring(now);
        }
        for slot in &mut self.slots {
            if let Some(end) = &mut slot.end {
                end.start_measuring(now);
                slot.seen = 0;
            }
        }
    }
}
