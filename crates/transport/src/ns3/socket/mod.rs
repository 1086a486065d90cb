//! The connection: ns-3.24's `TcpSocketBase` with `TcpTahoe`, one state machine for both ends.
//!
//! By file: `send` what it sends, `receive` what it makes of a segment, `states` how a connection opens and closes, `ends` the applications above.

mod ends;
mod receive;
mod send;
mod states;

pub use ends::{Ns3Receiver, Ns3Sender};

use super::rtt::RttEstimator;
use super::rx::RxBuffer;
use super::{Ns3Params, Ns3Recovery};
use crate::report::{Gauges, ReceiverReport, SenderReport};
use sojourn_sim::{Host, Packet, Side, Timers};
use sojourn_units::{Bytes, Span, Time};
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
    /// The first byte.
    seq: u64,
    /// The byte expected next.
    ack: u64,
    flags: u8,
    /// The window field.
    window: u64,
    /// Bytes of data.
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
    /// The first byte.
    seq: u64,
    /// Bytes of data.
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
    /// The number of the flow in the network.
    flow: u32,
    /// TcpStates_t.
    state: State,
    /// Payload of a full segment (SegmentSize), bytes.
    segment: u64,
    /// The window to begin with, bytes.
    initial_window: u64,
    /// The threshold to begin with, bytes.
    initial_ssthresh: u64,
    /// The greatest window that it advertises, bytes.
    max_window: u64,
    /// Bytes that the send buffer takes (SndBufSize).
    send_buffer: u64,
    /// Segments that one acknowledgement covers (DelAckCount).
    delayed_ack: u32,
    /// How long an acknowledgement is delayed (DelAckTimeout).
    delayed_ack_timeout: Span,
    /// Duplicates that indicate a loss (ReTxThreshold).
    dupack_threshold: u32,
    /// Minimum retransmission timeout (MinRto).
    rto_min: Span,
    /// The least that is added to the smoothed round trip (ClockGranularity).
    granularity: Span,
    /// Timeout of the SYN (ConnTimeout).
    connect_timeout: Span,
    /// Attempts to connect (ConnCount).
    connect_tries: u32,
    /// The time for which TIME_WAIT lasts twice (MaxSegLifetime).
    segment_lifetime: Span,
    /// Nagle's algorithm is on.
    nagle: bool,
    /// Bytes of the header of a link.
    link_header: u64,
    /// What it does about losses.
    recovery: Ns3Recovery,

    /// The window, bytes.
    cwnd: u64,
    /// The threshold, bytes.
    ssthresh: u64,
    /// The first byte of the send buffer.
    head: u64,
    /// The bytes that the send buffer holds.
    held: u64,
    /// The byte to send next (m_nextTxSequence).
    next: u64,
    /// One past the highest byte sent.
    highest: u64,
    /// Duplicates in a row (m_dupAckCount).
    dupacks: u32,
    /// The retransmission timeout.
    rto: Span,
    rtt: RttEstimator,
    history: VecDeque<Timed>,
    on_timeout: OnTimeout,
    /// Attempts to connect that are left.
    tries_left: u32,
    persist_timeout: Span,
    /// The peer's window, scaled, bytes.
    peer_window: u64,
    /// The sequence number with which it last changed.
    peer_seq: u64,
    /// The acknowledgement with which it last changed.
    peer_ack: u64,
    /// Shift of our window field.
    own_scale: u32,
    /// Shift of the peer's window field.
    peer_scale: u32,
    scaling: bool,
    timestamps: bool,
    /// The timestamp to echo, milliseconds.
    echo: u64,
    rx: RxBuffer,
    /// Segments that are not acknowledged (m_delAckCount).
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

#[cfg(test)]
mod tests;
