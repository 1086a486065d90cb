//! The two ends of a connection: a socket under an application, and one that reads.

use super::{BULK_PIECE, Header, Ns3Change, START, STOP, Socket, State, WRITE};
use crate::app::{Feed, Source};
use crate::ns3::Ns3Params;
use crate::report::{Gauges, ReceiverReport, SenderReport};
use sojourn_sim::{Agent, Host, Packet, Stream};
use sojourn_units::Time;

/// The end that connects and sends: a socket under an application.
#[derive(Debug)]
pub struct Ns3Sender<S> {
    pub(super) socket: Socket,
    feed: Feed<S>,
    start: Time,
    /// Written by the application, and waiting for room in the send buffer.
    waiting: u64,
    /// The source writes no more.
    exhausted: bool,
}

impl<S: Source> Ns3Sender<S> {
    /// A sender of `flow` whose application connects at `start` and closes the connection at `stop`, if one is given. The
    /// writes of `source` carry times of the run and take their draws from `rng`. A write for which the send buffer has no
    /// room is lost, unless the source [keeps](Source::keeps) it.
    pub fn new(
        flow: u32,
        params: &Ns3Params,
        source: S,
        rng: Stream,
        start: Time,
        stop: Option<Time>,
    ) -> Self {
        Ns3Sender {
            socket: Socket::new(flow, params),
            feed: Feed::new(source, rng, stop),
            start,
            waiting: 0,
            exhausted: false,
        }
    }

    /// What it has done.
    pub fn report(&self) -> &SenderReport {
        &self.socket.report
    }

    /// The state of the moment.
    pub fn gauges(&self) -> Gauges {
        self.socket.gauges()
    }

    /// Where its data comes from.
    pub fn source(&self) -> &S {
        self.feed.source()
    }

    /// When a packet arrived or a timer fired last.
    pub fn last_active(&self) -> Option<Time> {
        self.socket.last_active
    }

    /// From now on changes of its state are kept.
    pub fn keep_changes(&mut self) {
        self.socket.changes = Some(Vec::new());
    }

    /// The changes kept, in the order of time.
    pub fn changes(&self) -> &[(Time, Ns3Change)] {
        self.socket.changes.as_deref().unwrap_or(&[])
    }

    fn on_write<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        while let Some(due) = self.feed.due() {
            if due > now {
                self.socket.timers.set(WRITE, due, host);
                return;
            }
            let Some(bytes) = self.feed.take() else {
                break;
            };
            if self.feed.source().keeps() {
                self.waiting += bytes;
                self.fill(host);
            } else {
                self.socket.write(bytes, host);
            }
        }
        self.exhausted = true;
    }

    /// Hands to the socket what waits, or data without end, as long as it has room.
    fn fill<H: Host>(&mut self, host: &mut H) {
        if !self.socket.connected {
            return;
        }
        if self.feed.unlimited() && !self.exhausted {
            while self.socket.write(BULK_PIECE, host) {}
            return;
        }
        while self.waiting > 0 {
            let piece = self.waiting.min(BULK_PIECE);
            if !self.socket.write(piece, host) {
                return;
            }
            self.waiting -= piece;
        }
    }

    fn after_event<H: Host>(&mut self, host: &mut H) {
        self.fill(host);
        let done = self.exhausted && self.waiting == 0 && self.socket.held == 0;
        if done && self.socket.report.completed.is_none() && self.socket.report.bytes_acked > 0 {
            self.socket.report.completed = Some(host.now());
        }
    }
}

impl<S: Source> Agent for Ns3Sender<S> {
    fn on_start<H: Host>(&mut self, host: &mut H) {
        let socket = &mut self.socket;
        socket.timers.set(START, self.start, host);
        if let Some(due) = self.feed.due() {
            socket.timers.set(WRITE, due.max(self.start), host);
        }
        if self.feed.stop() < Time::MAX {
            socket.timers.set(STOP, self.feed.stop(), host);
        }
    }

    fn on_packet<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        if let Some(side) = host.side(packet) {
            let header = Header::read(packet, &side);
            if self.socket.bound {
                self.socket.last_active = Some(host.now());
                self.socket.on_segment(&header, host);
                self.after_event(host);
            }
        }
    }

    fn on_wake<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        while let Some(timer) = self.socket.timers.due(now) {
            self.socket.last_active = Some(now);
            match timer {
                START => {
                    self.socket.report.started = Some(now);
                    self.socket.connect(host);
                }
                WRITE => self.on_write(host),
                STOP => {
                    self.exhausted = true;
                    self.waiting = 0;
                    self.socket.timers.clear(WRITE);
                    self.socket.close(host);
                }
                timer => self.socket.on_timer(timer, host),
            }
        }
        self.after_event(host);
        self.socket.timers.relist(host);
    }

    fn start_measuring(&mut self, _: Time) {
        self.socket.report.start_measuring();
    }
}

/// The end that listens: a `PacketSink`, which reads everything at once and closes when its peer does.
#[derive(Debug)]
pub struct Ns3Receiver {
    pub(super) socket: Socket,
}

impl Ns3Receiver {
    /// A receiver of `flow`.
    pub fn new(flow: u32, params: &Ns3Params) -> Self {
        let mut socket = Socket::new(flow, params);
        socket.state = State::Listen;
        // The sink gives up sending when it begins to listen.
        socket.shutdown_send = true;
        socket.close_on_empty = true;
        Ns3Receiver { socket }
    }

    /// What it has got.
    pub fn report(&self) -> &ReceiverReport {
        &self.socket.received
    }

    /// When a packet arrived or a timer fired last.
    pub fn last_active(&self) -> Option<Time> {
        self.socket.last_active
    }
}

impl Agent for Ns3Receiver {
    fn on_start<H: Host>(&mut self, _: &mut H) {}

    fn on_packet<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        if let Some(side) = host.side(packet) {
            let header = Header::read(packet, &side);
            if self.socket.bound {
                self.socket.last_active = Some(host.now());
                self.socket.on_segment(&header, host);
            }
        }
    }

    fn on_wake<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        while let Some(timer) = self.socket.timers.due(now) {
            self.socket.last_active = Some(now);
            self.socket.on_timer(timer, host);
        }
        self.socket.timers.relist(host);
    }

    fn start_measuring(&mut self, _: Time) {
        self.socket.received = ReceiverReport::default();
    }
}
