//! The connection: ns-3.24's `TcpSocketBase` with `TcpTahoe`, one state machine for both ends.

use super::rtt::RttEstimator;
use super::rx::RxBuffer;
use super::{Ns3Params, Ns3Recovery};
use crate::app::{Feed, Source};
use crate::report::{Gauges, ReceiverReport, SenderReport};
use sojourn_sim::{Agent, Flags, Host, Kind, Outgoing, Packet, Side, Stream, Timers};
use sojourn_units::{Bytes, Span, Time};
use std::cmp::Ordering;
use std::collections::VecDeque;

/// States in the order in which ns-3 compares them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum State {
    Closed,
    Listen,
    SynSent,
    SynReceived,
    Established,
    CloseWait,
    LastAck,
    FinWait1,
    FinWait2,
    Closing,
    TimeWait,
}

/// Flags of the header, as on the wire.
const FIN: u8 = 1;
const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;

/// Timers, in the order in which those due at one instant fire.
const START: usize = 0;
const WRITE: usize = 1;
const STOP: usize = 2;
const SEND: usize = 3;
const RETRANSMIT: usize = 4;
const DELAYED_ACK: usize = 5;
const PERSIST: usize = 6;
const LAST_ACK: usize = 7;
const TIME_WAIT: usize = 8;

/// What is sent in answer to something leaves one step of the clock later.
const STEP: Span = Span::from_ns(1);
/// Bounds of timeouts that are doubled.
const LONGEST_RTO: Span = Span::from_secs(60);
const LONGEST_PERSIST: Span = Span::from_secs(60);
/// Windows are scaled by at most 2^14 (RFC 1323 section 2.3).
const MOST_SCALE: u32 = 14;
/// Headers of IP and TCP, the timestamp option, and what window scaling adds to that.
const IP_TCP: u64 = 40;
const TIMESTAMP: u64 = 12;
const SCALE_OPTION: u64 = 4;
/// Pieces in which ns-3's BulkSendApplication writes.
const BULK_PIECE: u64 = 512;

/// A change of the sender's state, as ns-3 traces it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ns3Change {
    /// Congestion window, bytes.
    Cwnd(u64, u64),
    /// Slow start threshold, bytes.
    Ssthresh(u64, u64),
    /// Retransmission timeout.
    Rto(Span, Span),
    /// A segment arrived; its header's window field.
    Received(u64),
    /// A segment was handed to the device; its header's flags, payload and window field.
    Sent(u8, u64, u64),
}

/// The header of a segment.
#[derive(Clone, Copy, Debug)]
struct Header {
    seq: u64,
    ack: u64,
    flags: u8,
    window: u64,
    payload: u64,
    /// Scale of the window, on a SYN that has the option.
    scale: Option<u32>,
    /// Timestamp and its echo, milliseconds.
    timestamps: Option<(u64, u64)>,
}

impl Header {
    fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// In the words that travel beside a packet.
    fn words(&self) -> [u64; 2] {
        let scale = self.scale.map_or(0, |scale| u64::from(scale) + 1);
        let stamped = u64::from(self.timestamps.is_some());
        [
            u64::from(self.flags) | scale << 8 | stamped << 16 | self.window << 32,
            self.payload,
        ]
    }

    fn read(packet: &Packet, side: &Side) -> Header {
        let [word, payload] = side.words;
        let byte = |shift: u32| u8::try_from(word >> shift & 255).unwrap_or(0);
        Header {
            seq: packet.seq,
            ack: packet.ack,
            flags: byte(0),
            window: word >> 32,
            payload,
            scale: u32::from(byte(8)).checked_sub(1),
            timestamps: (byte(16) == 1).then_some(side.timestamps),
        }
    }
}

/// A segment whose round trip may be measured.
#[derive(Clone, Copy, Debug)]
struct Timed {
    seq: u64,
    bytes: u64,
    sent: Time,
    again: bool,
}

/// What the retransmission timer does when it fires.
#[derive(Clone, Copy, Debug)]
enum OnTimeout {
    Data,
    Empty(u8),
}

/// One end of a connection.
#[derive(Debug)]
struct Socket {
    flow: u32,
    state: State,
    segment: u64,
    initial_window: u64,
    initial_ssthresh: u64,
    max_window: u64,
    send_buffer: u64,
    delayed_ack: u32,
    delayed_ack_timeout: Span,
    dupack_threshold: u32,
    rto_min: Span,
    granularity: Span,
    connect_timeout: Span,
    connect_tries: u32,
    segment_lifetime: Span,
    nagle: bool,
    link_header: u64,
    recovery: Ns3Recovery,

    cwnd: u64,
    ssthresh: u64,
    /// The send buffer: its first byte, and how many it holds.
    head: u64,
    held: u64,
    next: u64,
    /// One past the highest byte sent.
    highest: u64,
    dupacks: u32,
    rto: Span,
    rtt: RttEstimator,
    history: VecDeque<Timed>,
    on_timeout: OnTimeout,
    tries_left: u32,
    persist_timeout: Span,
    /// The peer's window, scaled, and what its last changes were seen with.
    peer_window: u64,
    peer_seq: u64,
    peer_ack: u64,
    /// Shift of our window field, and of the peer's.
    own_scale: u32,
    peer_scale: u32,
    scaling: bool,
    timestamps: bool,
    echo: u64,
    rx: RxBuffer,
    unacked: u32,
    close_on_empty: bool,
    shutdown_send: bool,
    connected: bool,
    /// It has a place in the node's table of connections.
    bound: bool,

    timers: Timers<9>,
    report: SenderReport,
    received: ReceiverReport,
    last_active: Option<Time>,
    changes: Option<Vec<(Time, Ns3Change)>>,
}

impl Socket {
    fn new(flow: u32, params: &Ns3Params) -> Socket {
        let bytes = |bytes: Bytes| bytes.get();
        let cwnd = params.initial_window.get() * bytes(params.segment);
        Socket {
            flow,
            state: State::Closed,
            segment: bytes(params.segment),
            initial_window: cwnd,
            initial_ssthresh: bytes(params.initial_ssthresh),
            max_window: bytes(params.max_window),
            send_buffer: bytes(params.send_buffer),
            delayed_ack: params.delayed_ack,
            delayed_ack_timeout: params.delayed_ack_timeout,
            dupack_threshold: params.dupacks,
            rto_min: params.rto_min,
            granularity: params.clock_granularity,
            connect_timeout: params.connect_timeout,
            connect_tries: params.connect_tries,
            segment_lifetime: params.segment_lifetime,
            nagle: params.nagle,
            link_header: bytes(params.link_header),
            recovery: params.recovery,
            cwnd,
            ssthresh: bytes(params.initial_ssthresh),
            head: 0,
            held: 0,
            next: 0,
            highest: 0,
            dupacks: 0,
            rto: Span::ZERO,
            rtt: RttEstimator::new(params.rtt_initial),
            history: VecDeque::new(),
            on_timeout: OnTimeout::Data,
            tries_left: params.connect_tries,
            persist_timeout: params.persist_timeout,
            peer_window: 0,
            peer_seq: 0,
            peer_ack: 0,
            own_scale: 0,
            peer_scale: 0,
            scaling: params.window_scaling,
            timestamps: params.timestamps,
            echo: 0,
            rx: RxBuffer::new(bytes(params.receive_buffer)),
            unacked: 0,
            close_on_empty: false,
            shutdown_send: false,
            connected: false,
            bound: true,
            timers: Timers::default(),
            report: SenderReport::default(),
            received: ReceiverReport::default(),
            last_active: None,
            changes: None,
        }
    }

    fn note(&mut self, now: Time, change: Ns3Change) {
        if let Some(changes) = &mut self.changes {
            changes.push((now, change));
        }
    }

    fn set_cwnd(&mut self, cwnd: u64, now: Time) {
        if cwnd != self.cwnd {
            self.note(now, Ns3Change::Cwnd(self.cwnd, cwnd));
            self.cwnd = cwnd;
        }
    }

    fn set_ssthresh(&mut self, ssthresh: u64, now: Time) {
        if ssthresh != self.ssthresh {
            self.note(now, Ns3Change::Ssthresh(self.ssthresh, ssthresh));
            self.ssthresh = ssthresh;
        }
    }

    fn set_rto(&mut self, rto: Span, now: Time) {
        if rto != self.rto {
            self.note(now, Ns3Change::Rto(self.rto, rto));
            self.rto = rto;
        }
    }

    /// RFC 6298 section 2, rules 2.3 and 2.4.
    fn renew_rto(&mut self, now: Time) {
        let rto = self.rtt.timeout(self.granularity).max(self.rto_min);
        self.set_rto(rto, now);
    }

    fn is_set(&self, timer: usize) -> bool {
        self.timers.deadline(timer).is_some()
    }

    fn arm<H: Host>(&mut self, timer: usize, after: Span, host: &mut H) {
        let at = host.now().saturating_add(after);
        self.timers.set(timer, at, host);
    }

    /// Bytes of the send buffer from `seq` on.
    fn held_from(&self, seq: u64) -> u64 {
        (self.head + self.held).saturating_sub(seq)
    }

    fn in_flight(&self) -> u64 {
        self.next.saturating_sub(self.head)
    }

    fn available_window(&self) -> u64 {
        self.cwnd
            .min(self.peer_window)
            .saturating_sub(self.in_flight())
    }

    /// The window field: room of the receive buffer, in which the segment being answered still lies.
    fn window_field(&self) -> u64 {
        let room = self.rx.most().saturating_sub(self.rx.held());
        (room >> self.own_scale).min(self.max_window)
    }

    // Sending.

    fn connect<H: Host>(&mut self, host: &mut H) {
        self.cwnd = self.initial_window;
        self.ssthresh = self.initial_ssthresh;
        self.rtt.reset();
        self.tries_left = self.connect_tries;
        self.send_empty(SYN, host);
        self.state = State::SynSent;
    }

    /// The application writes; false if the buffer has no room or the connection is not open, and the bytes are lost.
    fn write<H: Host>(&mut self, bytes: u64, host: &mut H) -> bool {
        let open = matches!(
            self.state,
            State::Established | State::SynSent | State::CloseWait
        );
        if !open || bytes > self.send_buffer.saturating_sub(self.held) || self.shutdown_send {
            return false;
        }
        self.held += bytes;
        if self.state != State::SynSent && !self.is_set(SEND) {
            self.arm(SEND, STEP, host);
        }
        true
    }

    /// The application closes: at once if everything has been sent, else with the last segment.
    fn close<H: Host>(&mut self, host: &mut H) {
        if self.rx.held() > 0 {
            self.send_reset(host);
        } else if self.held_from(self.next) > 0 {
            self.close_on_empty = true;
        } else {
            match self.state {
                State::SynReceived | State::Established => {
                    self.send_empty(FIN, host);
                    self.state = State::FinWait1;
                }
                State::CloseWait => {
                    self.send_empty(FIN | ACK, host);
                    self.state = State::LastAck;
                }
                State::SynSent | State::Closing => {
                    self.send_reset(host);
                    self.end();
                }
                State::Listen | State::LastAck => self.end(),
                State::Closed | State::FinWait1 | State::FinWait2 | State::TimeWait => {}
            }
        }
    }

    /// The connection is gone.
    fn end(&mut self) {
        self.state = State::Closed;
        self.bound = false;
        self.cancel_timers();
    }

    fn cancel_timers(&mut self) {
        for timer in [RETRANSMIT, PERSIST, DELAYED_ACK, LAST_ACK, TIME_WAIT, SEND] {
            self.timers.clear(timer);
        }
    }

    fn send_reset<H: Host>(&mut self, host: &mut H) {
        self.send_empty(RST, host);
        self.bound = false;
        self.cancel_timers();
    }

    fn transmit<H: Host>(&mut self, seq: u64, flags: u8, payload: u64, again: bool, host: &mut H) {
        let now = host.now();
        let syn = flags & SYN != 0;
        let scale = (self.scaling && syn).then(|| self.offer_scale());
        let header = Header {
            seq,
            ack: self.rx.next(),
            flags,
            window: self.window_field(),
            payload,
            scale,
            timestamps: self.timestamps.then(|| (milliseconds(now), self.echo)),
        };
        // Options fill whole words of four bytes: 10 of the timestamp and 3 of the scale make 16, either alone 12 and 4.
        let options = if self.timestamps { TIMESTAMP } else { 0 }
            + if scale.is_some() { SCALE_OPTION } else { 0 };
        let size = IP_TCP + options + self.link_header + payload;
        let mut marks = Flags::NONE;
        for (flag, mark) in [(SYN, Flags::SYN), (FIN, Flags::FIN)] {
            if flags & flag != 0 {
                marks = marks.with(mark);
            }
        }
        if again {
            marks = marks.with(Flags::RETRANSMIT);
        }
        let packet = Outgoing {
            size: u32::try_from(size).unwrap_or(u32::MAX),
            seq,
            ack: header.ack,
            kind: if payload > 0 || syn {
                Kind::Segment
            } else {
                Kind::Ack
            },
            tos: 0,
            flags: marks,
        };
        let side = Side {
            timestamps: header.timestamps.unwrap_or_default(),
            words: header.words(),
            ..Side::default()
        };
        self.note(now, Ns3Change::Sent(flags, payload, header.window));
        host.send_with(self.flow, packet, side);
    }

    /// The shift with which the receive buffer fits the window field.
    fn offer_scale(&mut self) -> u32 {
        let (mut room, mut scale) = (self.rx.most(), 0);
        while room > self.max_window {
            room >>= 1;
            scale += 1;
        }
        self.own_scale = scale.min(MOST_SCALE);
        self.own_scale
    }

    fn send_empty<H: Host>(&mut self, flags: u8, host: &mut H) {
        if !self.bound {
            return;
        }
        let now = host.now();
        let (mut flags, mut seq) = (flags, self.next);
        if flags & FIN != 0 {
            flags |= ACK;
        } else if matches!(
            self.state,
            State::FinWait1 | State::LastAck | State::Closing
        ) {
            seq += 1;
        }
        // The scale that goes with the SYN shifts its own window already.
        self.renew_rto(now);
        let (syn, fin) = (flags & SYN != 0, flags & FIN != 0);
        if syn {
            if self.tries_left == 0 {
                self.rtt.reset();
                self.end();
                return;
            }
            let doublings = self.connect_tries - self.tries_left;
            self.set_rto(self.connect_timeout.saturating_mul(1 << doublings), now);
            self.tries_left -= 1;
        }
        let again = syn && self.tries_left + 1 < self.connect_tries;
        self.report.handshake_retransmissions += u64::from(again);
        self.transmit(seq, flags, 0, again, host);
        if flags & ACK != 0 {
            self.received.acks += u64::from(flags == ACK);
            self.timers.clear(DELAYED_ACK);
            self.unacked = 0;
        }
        if !self.is_set(RETRANSMIT) && (syn || fin) {
            self.on_timeout = OnTimeout::Empty(flags);
            self.arm(RETRANSMIT, self.rto, host);
        }
    }

    /// Sends a segment from `seq` on; says how much it carries.
    fn send_data<H: Host>(&mut self, seq: u64, most: u64, host: &mut H) -> u64 {
        let now = host.now();
        let bytes = most.min(self.held_from(seq));
        let mut flags = 0;
        if self.connected {
            flags = ACK;
            self.timers.clear(DELAYED_ACK);
            self.unacked = 0;
        }
        if self.close_on_empty && self.held_from(seq + bytes) == 0 {
            flags |= FIN;
            self.state = match self.state {
                State::Established => State::FinWait1,
                State::CloseWait => State::LastAck,
                other => other,
            };
        }
        if !self.is_set(RETRANSMIT) {
            self.set_rto((self.rto + self.rto).min(LONGEST_RTO), now);
            self.on_timeout = OnTimeout::Data;
            self.arm(RETRANSMIT, self.rto, host);
        }
        let again = seq < self.highest;
        self.report.retransmissions += u64::from(again);
        self.transmit(seq, flags, bytes, again, host);
        if seq == self.head {
            let timed = self
                .history
                .iter_mut()
                .find(|timed| seq >= timed.seq && seq < timed.seq + timed.bytes);
            if let Some(timed) = timed {
                timed.again = true;
                timed.bytes = seq + bytes - timed.seq;
            }
        } else {
            self.history.push_back(Timed {
                seq,
                bytes,
                sent: now,
                again: false,
            });
        }
        self.highest = self.highest.max(seq + bytes);
        bytes
    }

    fn send_pending<H: Host>(&mut self, host: &mut H) {
        if self.held == 0 || !self.bound {
            return;
        }
        loop {
            let left = self.held_from(self.next);
            let window = self.available_window();
            let silly = window < self.segment && left > window;
            let nagle = self.nagle && self.in_flight() > 0 && left < self.segment;
            if left == 0 || silly || nagle {
                return;
            }
            let bytes = self.send_data(self.next, window.min(self.segment), host);
            self.next += bytes;
        }
    }

    fn on_retransmit_timer<H: Host>(&mut self, host: &mut H) {
        match self.on_timeout {
            OnTimeout::Empty(flags) => self.send_empty(flags, host),
            OnTimeout::Data => self.on_data_timeout(host),
        }
    }

    fn on_data_timeout<H: Host>(&mut self, host: &mut H) {
        let nothing_out = self.state <= State::Established && self.head >= self.highest;
        if matches!(self.state, State::Closed | State::TimeWait) || nothing_out {
            return;
        }
        self.report.timeouts += 1;
        self.restart_from_head(host);
    }

    /// Tahoe: halves the threshold, and goes back to the first byte that is not acknowledged, with one segment.
    fn restart_from_head<H: Host>(&mut self, host: &mut H) {
        match self.recovery {
            Ns3Recovery::Tahoe => {
                let now = host.now();
                self.set_ssthresh((self.cwnd / 2).max(2 * self.segment), now);
                self.set_cwnd(self.segment, now);
                self.next = self.head;
                self.resend(host);
            }
        }
    }

    fn resend<H: Host>(&mut self, host: &mut H) {
        if self.state == State::SynSent {
            if self.tries_left > 0 {
                self.send_empty(SYN, host);
            }
            return;
        }
        if self.held == 0 {
            if matches!(self.state, State::FinWait1 | State::Closing) {
                self.send_empty(FIN, host);
            }
            return;
        }
        let bytes = self.send_data(self.head, self.segment, host);
        self.next = self.next.max(self.head + bytes);
    }

    fn on_persist_timer<H: Host>(&mut self, host: &mut H) {
        self.persist_timeout = self.persist_timeout.saturating_mul(2).min(LONGEST_PERSIST);
        let bytes = self.held_from(self.next).min(1);
        self.transmit(self.next, 0, bytes, false, host);
        self.arm(PERSIST, self.persist_timeout, host);
    }

    // Receiving.

    fn on_segment<H: Host>(&mut self, header: &Header, host: &mut H) {
        let now = host.now();
        self.note(now, Ns3Change::Received(header.window));
        self.read_options(header, now);
        if header.has(ACK) {
            self.measure(header, now);
        }
        if header.payload > 0 && self.is_out_of_range(header) {
            self.received.duplicates += 1;
            if self.state == State::Established && !header.has(RST) {
                self.send_empty(ACK, host);
            }
            return;
        }
        if self.peer_window == 0 && header.window != 0 {
            self.timers.clear(PERSIST);
        }
        if header.has(ACK) {
            self.update_peer_window(header);
        }
        match self.state {
            State::Established => self.in_established(header, host),
            State::Listen => self.in_listen(header, host),
            State::SynSent => self.in_syn_sent(header, host),
            State::SynReceived => self.in_syn_received(header, host),
            State::FinWait1 | State::FinWait2 | State::CloseWait => self.in_wait(header, host),
            State::Closing => self.in_closing(header, host),
            State::LastAck => self.in_last_ack(header, host),
            State::Closed | State::TimeWait => {}
        }
    }

    fn read_options(&mut self, header: &Header, now: Time) {
        if header.has(SYN) && self.scaling {
            self.scaling = header.scale.is_some();
            if let Some(scale) = header.scale {
                self.peer_scale = scale.min(MOST_SCALE);
                self.set_ssthresh(self.ssthresh << self.own_scale, now);
            }
        }
        self.timestamps = header.timestamps.is_some();
        if let Some((stamp, _)) = header.timestamps {
            self.echo = stamp;
        }
    }

    /// A round-trip sample, if the oldest segment in the history is acknowledged and was sent once.
    fn measure(&mut self, header: &Header, now: Time) {
        let mut sample = Span::ZERO;
        if let Some(oldest) = self.history.front()
            && !oldest.again
            && header.ack >= oldest.seq + oldest.bytes
        {
            sample = match header.timestamps {
                Some((_, echo)) => Span::from_ms(milliseconds(now).saturating_sub(echo)),
                None => now.since(oldest.sent),
            };
        }
        while self
            .history
            .front()
            .is_some_and(|timed| timed.seq + timed.bytes <= header.ack)
        {
            self.history.pop_front();
        }
        if sample > Span::ZERO {
            self.rtt.sample(sample);
            self.renew_rto(now);
            self.report.record_rtt(sample);
        }
    }

    fn is_out_of_range(&self, header: &Header) -> bool {
        match self.state {
            State::Listen | State::SynSent | State::SynReceived => false,
            State::LastAck | State::Closing | State::CloseWait => header.seq != self.rx.next(),
            _ => header.seq + header.payload < self.rx.next() || self.rx.end() <= header.seq,
        }
    }

    fn update_peer_window(&mut self, header: &Header) {
        let window = header.window << self.peer_scale;
        if self.state < State::Established {
            self.peer_window = window;
            return;
        }
        let mut update = header.ack == self.peer_ack && window > self.peer_window;
        if header.ack > self.peer_ack {
            self.peer_ack = header.ack;
            update = true;
        }
        if header.seq > self.peer_seq {
            self.peer_seq = header.seq;
            update = true;
        }
        if update {
            self.peer_window = window;
        }
    }

    fn in_established<H: Host>(&mut self, header: &Header, host: &mut H) {
        match header.flags {
            ACK => self.on_ack(header, host),
            SYN | SYN_ACK => {}
            FIN | FIN_ACK => self.on_peer_close(header, host),
            0 => {
                self.on_data(header, host);
                if self.rx.finished() {
                    self.on_peer_close(header, host);
                }
            }
            flags => self.give_up(flags, host),
        }
    }

    /// A reset, or flags that cannot be.
    fn give_up<H: Host>(&mut self, flags: u8, host: &mut H) {
        if flags != RST {
            self.send_reset(host);
        }
        self.end();
    }

    fn on_ack<H: Host>(&mut self, header: &Header, host: &mut H) {
        if header.has(ACK) {
            match header.ack.cmp(&self.head) {
                Ordering::Less => {}
                Ordering::Equal => {
                    if header.ack < self.next && header.payload == 0 {
                        self.dupacks += 1;
                        if self.dupacks == self.dupack_threshold {
                            self.report.fast_recoveries += 1;
                            self.restart_from_head(host);
                        }
                    }
                }
                Ordering::Greater => {
                    self.on_new_ack(header.ack, host);
                    self.dupacks = 0;
                }
            }
        }
        if header.payload > 0 {
            self.on_data(header, host);
        }
    }

    fn on_new_ack<H: Host>(&mut self, ack: u64, host: &mut H) {
        let now = host.now();
        let growth = if self.cwnd < self.ssthresh {
            self.segment
        } else {
            // Cut to whole bytes, at least one.
            (self.segment * self.segment / self.cwnd).max(1)
        };
        self.set_cwnd(self.cwnd + growth, now);
        if self.state != State::SynReceived {
            self.renew_rto(now);
            self.on_timeout = OnTimeout::Data;
            self.arm(RETRANSMIT, self.rto, host);
        }
        if self.peer_window == 0 && !self.is_set(PERSIST) {
            self.timers.clear(RETRANSMIT);
            self.arm(PERSIST, self.persist_timeout, host);
        }
        let bytes = (ack - self.head).min(self.held);
        self.held -= bytes;
        self.report.bytes_acked += bytes;
        self.head = ack;
        self.next = self.next.max(ack);
        if self.held == 0 && !matches!(self.state, State::FinWait1 | State::Closing) {
            self.timers.clear(RETRANSMIT);
        }
        if !self.is_set(SEND) {
            self.arm(SEND, STEP, host);
        }
    }

    fn in_listen<H: Host>(&mut self, header: &Header, host: &mut H) {
        if header.flags != SYN {
            return;
        }
        self.state = State::SynReceived;
        self.tries_left = self.connect_tries;
        self.rx.set_next(header.seq + 1);
        self.send_empty(SYN_ACK, host);
    }

    fn in_syn_sent<H: Host>(&mut self, header: &Header, host: &mut H) {
        match header.flags {
            ACK => {}
            SYN_ACK if self.next + 1 == header.ack => {
                self.establish();
                self.rx.set_next(header.seq + 1);
                self.send_empty(ACK, host);
                self.send_pending(host);
                self.unacked = self.delayed_ack;
            }
            flags => self.give_up(flags, host),
        }
    }

    /// The handshake is over: the SYN has used up a number.
    fn establish(&mut self) {
        self.state = State::Established;
        self.connected = true;
        self.timers.clear(RETRANSMIT);
        self.next += 1;
        self.highest = self.next;
        self.head = self.next;
    }

    fn in_syn_received<H: Host>(&mut self, header: &Header, host: &mut H) {
        match header.flags {
            0 | ACK if header.flags == 0 || self.next + 1 == header.ack => {
                self.establish();
                // The first segment is acknowledged at once.
                self.unacked = self.delayed_ack;
                self.on_ack(header, host);
            }
            SYN => {
                self.rx.set_next(header.seq + 1);
                self.send_empty(SYN_ACK, host);
            }
            FIN_ACK => {
                if header.seq == self.rx.next() {
                    self.establish();
                    self.state = State::SynReceived;
                    self.on_peer_close(header, host);
                }
            }
            flags => self.give_up(flags, host),
        }
    }

    fn in_wait<H: Host>(&mut self, header: &Header, host: &mut H) {
        match header.flags {
            flags if header.payload > 0 && flags != ACK => self.on_data(header, host),
            ACK => {
                self.on_ack(header, host);
                let acks_fin = self.held == 0 && header.ack == self.highest + 1;
                if self.state == State::FinWait1 && acks_fin {
                    self.state = State::FinWait2;
                }
            }
            FIN | FIN_ACK => {
                if header.has(ACK) {
                    self.on_ack(header, host);
                }
                self.rx.set_fin(header.seq);
            }
            SYN | SYN_ACK => return,
            flags => {
                self.give_up(flags, host);
                return;
            }
        }
        if matches!(self.state, State::FinWait1 | State::FinWait2) && self.rx.finished() {
            if self.state == State::FinWait2 {
                self.wait(host);
            } else {
                self.state = State::Closing;
                if self.held == 0 && header.ack == self.highest + 1 {
                    self.wait(host);
                }
            }
            self.send_empty(ACK, host);
            self.read();
        }
    }

    fn in_closing<H: Host>(&mut self, header: &Header, host: &mut H) {
        match header.flags {
            ACK => {
                if header.seq == self.rx.next() {
                    self.wait(host);
                }
            }
            FIN | FIN_ACK => {
                self.send_empty(ACK, host);
                self.end();
            }
            flags => self.give_up(flags, host),
        }
    }

    fn in_last_ack<H: Host>(&mut self, header: &Header, host: &mut H) {
        match header.flags {
            0 => self.on_data(header, host),
            ACK => {
                if header.seq == self.rx.next() {
                    self.end();
                }
            }
            FIN => self.send_empty(FIN_ACK, host),
            FIN_ACK | RST => self.end(),
            flags => self.give_up(flags, host),
        }
    }

    /// Waits for segments that may still be under way.
    fn wait<H: Host>(&mut self, host: &mut H) {
        self.state = State::TimeWait;
        self.cancel_timers();
        self.arm(TIME_WAIT, self.segment_lifetime.saturating_mul(2), host);
    }

    fn on_data<H: Host>(&mut self, header: &Header, host: &mut H) {
        let expected = self.rx.next();
        if !self.rx.add(header.seq, header.payload) {
            self.received.duplicates += 1;
            self.send_empty(ACK, host);
            return;
        }
        if self.rx.has_gap() || self.rx.next() > expected + header.payload {
            self.send_empty(ACK, host);
        } else {
            self.unacked += 1;
            if self.unacked >= self.delayed_ack {
                self.send_empty(ACK, host);
            } else if !self.is_set(DELAYED_ACK) {
                self.arm(DELAYED_ACK, self.delayed_ack_timeout, host);
            }
        }
        if expected < self.rx.next() {
            self.read();
            if self.rx.finished() && !header.has(FIN) {
                self.peer_has_closed(host);
            }
        }
    }

    /// The application takes what is in order.
    fn read(&mut self) {
        self.received.goodput_bytes += self.rx.read();
    }

    fn on_peer_close<H: Host>(&mut self, header: &Header, host: &mut H) {
        if header.seq < self.rx.next() || header.seq > self.rx.end() {
            return;
        }
        self.rx.set_fin(header.seq + header.payload);
        if header.payload > 0 {
            self.on_data(header, host);
        }
        if !self.rx.finished() {
            return;
        }
        if self.state == State::FinWait1 {
            self.state = State::Closing;
            return;
        }
        self.peer_has_closed(host);
    }

    fn peer_has_closed<H: Host>(&mut self, host: &mut H) {
        self.state = State::CloseWait;
        if self.shutdown_send {
            self.close(host);
        } else {
            self.send_empty(ACK, host);
        }
        if self.state == State::LastAck {
            let after = self.rtt.timeout(self.granularity);
            self.arm(LAST_ACK, after, host);
        }
    }

    fn on_timer<H: Host>(&mut self, timer: usize, host: &mut H) {
        match timer {
            SEND => self.send_pending(host),
            RETRANSMIT => self.on_retransmit_timer(host),
            DELAYED_ACK => {
                self.unacked = 0;
                self.send_empty(ACK, host);
            }
            PERSIST => self.on_persist_timer(host),
            LAST_ACK if self.state == State::LastAck => self.end(),
            TIME_WAIT => self.end(),
            _ => {}
        }
    }

    fn gauges(&self) -> Gauges {
        Gauges {
            cwnd_bytes: self.cwnd,
            ssthresh_bytes: Some(self.ssthresh),
            in_flight_bytes: self.highest.saturating_sub(self.head),
            srtt: self.rtt.smoothed(),
            rto: self.rto,
        }
    }
}

const SYN_ACK: u8 = SYN | ACK;
const FIN_ACK: u8 = FIN | ACK;

/// The clock of the timestamp option.
fn milliseconds(now: Time) -> u64 {
    now.as_ps() / 1_000_000_000
}

/// The end that connects and sends: a socket under an application.
#[derive(Debug)]
pub struct Ns3Sender<S> {
    socket: Socket,
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
    socket: Socket,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::tests::Script;
    use std::collections::BTreeMap;

    /// What an endpoint does at one event.
    #[derive(Default)]
    struct End {
        now: Time,
        sent: Vec<(Outgoing, Side)>,
        wake: Option<Time>,
        arrived: Option<Side>,
    }

    impl Host for End {
        fn now(&self) -> Time {
            self.now
        }
        fn send(&mut self, _: u32, packet: Outgoing) {
            self.sent.push((packet, Side::default()));
        }
        fn send_with(&mut self, _: u32, packet: Outgoing, side: Side) {
            self.sent.push((packet, side));
        }
        fn side(&self, _: &Packet) -> Option<Side> {
            self.arrived
        }
        fn wake(&mut self, at: Time, _: Time) {
            self.wake = Some(at);
        }
    }

    /// A connection over a wire of 50 ms each way that loses what it is told to.
    struct Wire {
        sender: Ns3Sender<Script>,
        receiver: Ns3Receiver,
        hosts: [End; 2],
        /// Packets under way: by arrival and number, to whom.
        air: BTreeMap<(Time, usize), (usize, Outgoing, Side)>,
        sent: Vec<(Time, usize, Outgoing)>,
        loses: fn(usize, &Outgoing) -> bool,
    }

    const DELAY: Span = Span::from_ms(50);

    impl Wire {
        fn new(params: &Ns3Params, source: Script, stop: Option<Time>) -> Wire {
            let rng = Stream::derive(0, 0, "test");
            Wire {
                sender: Ns3Sender::new(0, params, source, rng, Time::ZERO, stop),
                receiver: Ns3Receiver::new(0, params),
                hosts: Default::default(),
                air: BTreeMap::new(),
                sent: Vec::new(),
                loses: |_, _| false,
            }
        }

        fn collect(&mut self, from: usize, now: Time) {
            for (packet, side) in std::mem::take(&mut self.hosts[from].sent) {
                let number = self.sent.len();
                self.sent.push((now, from, packet));
                if !(self.loses)(number, &packet) {
                    let to = 1 - from;
                    self.air.insert((now + DELAY, number), (to, packet, side));
                }
            }
        }

        fn run(&mut self, until: Time) {
            self.sender.on_start(&mut self.hosts[0]);
            self.collect(0, Time::ZERO);
            loop {
                let arrival = self.air.keys().next().copied();
                let wakes = [self.hosts[0].wake, self.hosts[1].wake];
                let next = arrival
                    .map(|key| key.0)
                    .into_iter()
                    .chain(wakes.into_iter().flatten())
                    .min();
                let Some(now) = next.filter(|now| *now <= until) else {
                    return;
                };
                if let Some(key) = arrival.filter(|key| key.0 == now) {
                    let Some((to, out, side)) = self.air.remove(&key) else {
                        return;
                    };
                    self.hosts[to].now = now;
                    self.hosts[to].arrived = Some(side);
                    let packet = crate::tcp::double::packet(out);
                    match to {
                        0 => self.sender.on_packet(&packet, &mut self.hosts[0]),
                        _ => self.receiver.on_packet(&packet, &mut self.hosts[1]),
                    }
                    self.collect(to, now);
                    continue;
                }
                for (index, wake) in wakes.into_iter().enumerate() {
                    if wake == Some(now) {
                        self.hosts[index].now = now;
                        self.hosts[index].wake = None;
                        match index {
                            0 => self.sender.on_wake(&mut self.hosts[0]),
                            _ => self.receiver.on_wake(&mut self.hosts[1]),
                        }
                        self.collect(index, now);
                    }
                }
            }
        }
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn writes(count: u64, every_ms: u64) -> Script {
        let writes: Vec<(Time, u64)> = (1..=count).map(|n| (at(n * every_ms), 512)).collect();
        Script::writes(&writes)
    }

    #[test]
    fn a_connection_opens_delivers_and_waits_twice_120_s_when_it_is_closed() {
        let mut wire = Wire::new(&Ns3Params::default(), writes(10, 300), Some(at(10_000)));
        wire.run(at(1_000_000));
        assert_eq!(wire.receiver.report().goodput_bytes, 5120);
        assert_eq!(wire.sender.report().bytes_acked, 5120);
        let sizes: Vec<u32> = wire
            .sent
            .iter()
            .take(4)
            .map(|(_, _, out)| out.size)
            .collect();
        assert_eq!(
            sizes,
            [58, 58, 54, 566],
            "SYN, its answer, an acknowledgement, data"
        );
        // FIN at 10 s, the peer's FIN after a round trip, then 240 s.
        assert_eq!(wire.sender.last_active(), Some(at(10_100 + 240_000)));
        assert_eq!(wire.receiver.last_active(), Some(at(10_150)));
    }

    #[test]
    fn the_first_segment_is_acknowledged_at_once_and_then_every_second_one_or_after_200_ms() {
        let mut wire = Wire::new(&Ns3Params::default(), writes(3, 300), None);
        wire.run(at(5000));
        let acks: Vec<(Time, u64)> = wire
            .sent
            .iter()
            .filter(|(_, from, out)| *from == 1 && !out.flags.has(Flags::SYN))
            .map(|(time, _, out)| (*time, out.ack))
            .collect();
        let ns = Span::from_ns(1);
        assert_eq!(
            acks,
            [
                (at(350) + ns, 513),
                (at(850) + ns, 1025),
                (at(1150) + ns, 1537)
            ]
        );
    }

    #[test]
    fn three_duplicates_send_tahoe_back_to_the_hole_with_one_segment() {
        let mut wire = Wire::new(&Ns3Params::default(), Script::Unlimited, None);
        wire.sender.keep_changes();
        // A segment in the middle of slow start, the first time that it is sent.
        wire.loses = |_, out| out.seq == 8041 && !out.flags.has(Flags::RETRANSMIT);
        wire.run(at(3000));
        let ssthresh = wire
            .sender
            .changes()
            .iter()
            .filter_map(|(_, change)| match change {
                Ns3Change::Ssthresh(old, new) => Some((*old, *new)),
                _ => None,
            });
        let ssthresh: Vec<_> = ssthresh.collect();
        // The scale of 2 that goes with the SYN shifts the threshold, too.
        assert_eq!(ssthresh[0], (65535, 262_140));
        assert_eq!(ssthresh.len(), 2, "{ssthresh:?}");
        let falls = wire
            .sender
            .changes()
            .iter()
            .filter(|(_, change)| matches!(change, Ns3Change::Cwnd(_, 536)))
            .count();
        assert_eq!((falls, wire.sender.report().timeouts), (1, 0));
        assert_eq!(wire.sender.report().fast_recoveries, 1);
        assert!(wire.receiver.report().goodput_bytes > 30_000);
    }

    #[test]
    fn timeouts_double_up_to_a_minute_and_a_lost_syn_is_tried_six_times() {
        let mut wire = Wire::new(&Ns3Params::default(), writes(1, 1000), None);
        wire.loses = |_, out| out.size > 60;
        wire.run(at(200_000));
        let times: Vec<u64> = wire
            .sent
            .iter()
            .filter(|(_, _, out)| out.size > 60)
            .map(|(time, _, _)| time.as_ps() / 1_000_000_000)
            .collect();
        // Sending without a timer doubles the 1.001 s of an estimate of 1 s and a clock of 1 ms.
        assert_eq!(
            times,
            [1000, 3002, 7006, 15_014, 31_030, 63_062, 123_062, 183_062]
        );
        let mut wire = Wire::new(&Ns3Params::default(), writes(1, 1000), None);
        wire.loses = |_, _| true;
        wire.run(at(1_000_000));
        let times: Vec<u64> = wire
            .sent
            .iter()
            .map(|(time, _, _)| time.as_ps() / 1_000_000_000_000)
            .collect();
        assert_eq!(times, [0, 3, 9, 21, 45, 93]);
    }

    #[test]
    fn a_lost_fin_is_sent_again() {
        let mut wire = Wire::new(&Ns3Params::default(), writes(2, 300), Some(at(2000)));
        wire.loses = |number, out| out.flags.has(Flags::FIN) && number < 11;
        wire.run(at(1_000_000));
        assert_eq!(wire.receiver.report().goodput_bytes, 1024);
        let fins = wire
            .sent
            .iter()
            .filter(|(_, from, out)| *from == 0 && out.flags.has(Flags::FIN));
        assert!(fins.count() > 1);
        assert!(wire.sender.last_active() > Some(at(242_000)));
    }

    #[test]
    fn a_write_without_room_is_lost_and_the_window_field_has_its_bound() {
        let params = Ns3Params {
            send_buffer: Bytes::new(1024),
            max_window: Bytes::new(32_000),
            ..Ns3Params::default()
        };
        let at_once: Vec<(Time, u64)> = (0..5).map(|_| (at(10), 512)).collect();
        let mut wire = Wire::new(&params, Script::writes(&at_once), None);
        wire.run(at(5000));
        assert_eq!(wire.receiver.report().goodput_bytes, 1024);
        // 131072 bytes fit 32000 when shifted by 3.
        assert_eq!(wire.receiver.socket.own_scale, 3);
        assert_eq!(wire.sender.socket.peer_window, 131_072);
    }
}
