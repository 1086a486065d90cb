//! The sending end of a workload: one endpoint with many connections.

use super::arrivals::Arrivals;
use super::end::{End, Plan};
use super::slots::{Alarms, SlotHost};
use crate::sources::AnySource;
use crate::sources::bulk::Bulk;
use crate::timed::Timed;
use sojourn_sim::{Agent, Host, Kind, Packet, Stream, to_usize};
use sojourn_transport::SenderReport;
use sojourn_units::{Span, Time};
use std::collections::VecDeque;

/// A transfer that was asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Asked {
    pub(super) at: Time,
    pub(super) bytes: u64,
}

/// One place for a connection.
struct Slot {
    end: Option<End>,
    /// Number of the connection that is or was here last, from 1; 0 for none.
    number: u64,
    /// Requests of this connection so far.
    requests: u64,
}

/// The sending end of a workload.
pub struct Server {
    first: u32,
    plan: Plan,
    slots: Vec<Slot>,
    /// Places without a connection; the one that has been free for the longest comes first.
    free: VecDeque<u32>,
    /// Transfers that wait for a place: number and bytes.
    waiting: VecDeque<(u64, u64)>,
    arrivals: Option<Arrivals>,
    /// When the next transfer arrives, and its bytes.
    next: Option<(Time, u64)>,
    left: u64,
    rng: Stream,
    /// Where the random numbers of the connections begin.
    seed: u64,
    start: Time,
    stop: Time,
    alarms: Alarms,
    pub(super) asked: Vec<Asked>,
    /// Reports of connections that are over.
    done: SenderReport,
}

/// The connections of a workload that are open at one moment, together.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct OpenConnections {
    /// How many there are.
    pub number: u64,
    /// Sum of their congestion windows, bytes.
    pub cwnd_bytes: u64,
    /// Sum of what they have in flight, bytes.
    pub in_flight_bytes: u64,
    /// Mean of the smoothed round-trip times of those that have one.
    pub srtt: Option<Span>,
}

/// What a sending end is made of.
pub(super) struct ServerConfig {
    /// The number of its first flow in the network, and how many there are.
    pub(super) flows: (u32, u32),
    pub(super) plan: Plan,
    /// When transfers arrive, where the sender decides it; otherwise the receiver asks for them.
    pub(super) arrivals: Option<Arrivals>,
    /// Most transfers.
    pub(super) most: u64,
    pub(super) rng: Stream,
    pub(super) start: Time,
    pub(super) stop: Option<Time>,
}

impl Server {
    /// The connections that are open now.
    pub fn open_connections(&self) -> OpenConnections {
        let ends = self.slots.iter().filter_map(|slot| slot.end.as_ref());
        let mut open = OpenConnections::default();
        let (mut sum, mut timed) = (Span::ZERO, 0);
        for gauges in ends.filter_map(End::gauges) {
            open.number += 1;
            open.cwnd_bytes = open.cwnd_bytes.saturating_add(gauges.cwnd_bytes);
            open.in_flight_bytes += gauges.in_flight_bytes;
            if let Some(srtt) = gauges.srtt {
                sum = sum.saturating_add(srtt);
                timed += 1;
            }
        }
        open.srtt = (timed > 0).then(|| sum / timed);
        open
    }

    pub(super) fn new(config: ServerConfig) -> Server {
        let (first, connections) = config.flows;
        let slot = || Slot {
            end: None,
            number: 0,
            requests: 0,
        };
        Server {
            first,
            plan: config.plan,
            slots: std::iter::repeat_with(slot)
                .take(to_usize(connections))
                .collect(),
            free: (0..connections).collect(),
            waiting: VecDeque::new(),
            arrivals: config.arrivals,
            next: None,
            left: config.most,
            seed: config.rng.clone().bits(),
            rng: config.rng,
            start: config.start,
            stop: config.stop.unwrap_or(Time::MAX),
            alarms: Alarms::new(connections + 1),
            asked: Vec::new(),
            done: SenderReport::default(),
        }
    }

    /// The timer of arrivals comes after those of the connections.
    fn own_timer(&self) -> u32 {
        u32::try_from(self.slots.len()).unwrap_or(u32::MAX)
    }

    /// What it has done, over all connections.
    pub fn report(&self) -> SenderReport {
        let live = self
            .slots
            .iter()
            .filter_map(|slot| slot.end.as_ref()?.sender_report());
        let mut sum = live.fold(self.done, |sum, report| sum.with(&report));
        sum.completed = None;
        sum
    }

    /// Transfers that have no connection yet because all are in use.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The next transfer of the arrival process, `from` the last one.
    fn draw(&mut self, from: Time, now: Time) {
        self.next = None;
        if self.left == 0 {
            return;
        }
        let Some((gap, bytes)) = self.arrivals.as_mut().and_then(|a| a.next(&mut self.rng)) else {
            return;
        };
        let at = from.saturating_add(gap);
        if at < self.stop {
            self.next = Some((at, bytes));
            self.alarms.set(self.own_timer(), at, now);
        }
    }

    /// Takes the transfers that arrive now.
    fn arrive<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        while let Some((at, bytes)) = self.next.filter(|(at, _)| *at <= now) {
            self.left -= 1;
            self.asked.push(Asked { at, bytes });
            let number = u64::try_from(self.asked.len()).unwrap_or(u64::MAX);
            self.waiting.push_back((number, bytes));
            self.draw(at, now);
        }
        self.begin_waiting(host);
    }

    fn begin_waiting<H: Host>(&mut self, host: &mut H) {
        while let (Some(&slot), false) = (self.free.front(), self.waiting.is_empty()) {
            let Some((number, bytes)) = self.waiting.pop_front() else {
                return;
            };
            self.free.pop_front();
            self.open(slot, number, bytes, host);
        }
    }

    /// A new connection in a place, which sends `bytes`.
    fn open<H: Host>(&mut self, slot: u32, number: u64, bytes: u64, host: &mut H) {
        self.close(slot);
        let now = host.now();
        let source = Timed::new(AnySource::Bulk(Bulk::of(bytes)), now);
        // A transfer draws nothing, but its congestion control may.
        let rng = Stream::derive(
            self.seed.wrapping_add(u64::from(slot)),
            number,
            "connection",
        );
        let mut end = self.plan.sender(self.first + slot, source, rng, now);
        let place = &mut self.slots[to_usize(slot)];
        place.number = number;
        place.requests = 1;
        let mut inner = SlotHost::new(host, self.first + slot, number, false);
        end.on_start(&mut inner);
        let woken = inner.woken;
        place.end = Some(end);
        self.note(slot, woken);
    }

    fn note(&mut self, slot: u32, woken: Option<(Time, Time)>) {
        if let Some((at, armed)) = woken {
            self.alarms.set(slot, at, armed);
        }
    }

    /// The connection of a place is over.
    fn close(&mut self, slot: u32) {
        if let Some(end) = self.slots[to_usize(slot)].end.take() {
            self.alarms.clear(slot);
            if let Some(report) = end.sender_report() {
                self.done = self.done.with(&report);
            }
        }
    }

    /// Lets the connection of a place do something.
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
        let mut inner = SlotHost::new(host, self.first + slot, place.number, false);
        act(end, &mut inner);
        let woken = inner.woken;
        let over = self.arrivals.is_some() && end.is_idle();
        self.note(slot, woken);
        if over {
            self.close(slot);
            self.free.push_back(slot);
            self.begin_waiting(host);
        }
    }

    /// The receiver asks for a transfer over connection `number`, as its `request`th.
    fn on_request<H: Host>(
        &mut self,
        slot: u32,
        number: u64,
        request: u64,
        bytes: u64,
        host: &mut H,
    ) {
        let place = &mut self.slots[to_usize(slot)];
        if number > place.number {
            self.open(slot, number, bytes, host);
        } else if number == place.number && request == place.requests + 1 {
            place.requests = request;
            self.with(slot, host, |end, inner| end.write(bytes, inner));
        }
        // Anything else was asked for before.
    }

    /// Fires what is due.
    fn run<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        while let Some(timer) = self.alarms.due(now) {
            if timer == self.own_timer() {
                self.arrive(host);
            } else {
                self.with(timer, host, |end, inner| end.on_wake(inner));
            }
        }
        self.alarms.list(host);
    }
}

impl Agent for Server {
    fn on_start<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        self.draw(self.start, now);
        self.run(host);
    }

    fn on_packet<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        let slot = packet.flow - self.first;
        if packet.kind == Kind::Datagram {
            let bytes = host.side(packet).map_or(0, |side| side.words[0]);
            self.on_request(slot, packet.seq, packet.ack, bytes, host);
        } else if packet.seq == self.slots[to_usize(slot)].number {
            self.with(slot, host, |end, inner| end.on_packet(packet, inner));
        }
        self.run(host);
    }

    fn on_wake<H: Host>(&mut self, host: &mut H) {
        self.alarms.fired();
        self.run(host);
    }

    fn start_measuring(&mut self, now: Time) {
        self.done = SenderReport {
            started: self.done.started,
            ..SenderReport::default()
        };
        for end in self.slots.iter_mut().filter_map(|slot| slot.end.as_mut()) {
            end.start_measuring(now);
        }
    }
}
