//! The sending end of a connection with selective acknowledgement.
//!
//! What it does is in files of their own: `config` what it is made of, `handshake` the connection, `send` what leaves, `usage` how much of the window is
//! used, `ack` the order in which an acknowledgement is worked off, `delivery` what it shows, `recovery` the phases of loss recovery, `frto` spurious
//! timeouts, `state` what these share, `undo` needless reductions, `timers` the retransmission timer and the tail loss probe.
//!
//! Sources: RFC 9293 section 3.5 (handshake), RFC 6675 section 5 (recovery), RFC 8985 (RACK, tail loss probe), RFC 9937
//! (reduction), RFC 5682 section 3 (F-RTO with SACK), RFC 3522 and RFC 3708 (undo), RFC 6298 section 5 and RFC 6675 section 6 (timer), RFC 3168
//! section 6.1, RFC 5681 section 4.3 (a lost retransmission is one more sign of congestion). The phases and their order are those of Linux 6.1,
//! tcp_fastretrans_alert, which is where the RFCs meet. Deviation: what rule 4 of NextSeg sends counts in flight until it is acknowledged; by RFC 6675,
//! which leaves HighRxt where it is, it is forgotten with the next acknowledgement.

mod ack;
mod config;
mod delivery;
mod frto;
mod handshake;
mod recovery;
mod send;
mod state;
mod timers;
mod undo;
mod usage;

use super::accecn::{Feedback, Marks};
use super::bursts::Bursts;
use super::pacing::Pacer;
use super::prr::Prr;
use super::rack::Rack;
use super::rate::DeliveryRate;
use super::scoreboard::Scoreboard;
use crate::app::Source;
use crate::report::{Gauges, SenderReport};
use crate::tcp::{FIRST_BYTE, Rto, SampleWeight, TimerWheel, Unused};
use sojourn_cc::{AnyCc, CongestionControl, Phase, Traits};
use sojourn_sim::{Agent, Flags, Host, Packet, Timers};
use sojourn_units::{Span, Time};
use state::{APPLICATION, Cold, FrtoState, Options, PACE, TailProbe, UndoState, WindowUsage};

pub use config::SackConfig;
pub(super) use handshake::codepoint;
pub(super) use state::{Event, Pending, RETRANSMIT};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Closed,
    SynSent,
    Established,
}

/// The sending end of a connection. What every acknowledgement touches comes first.
#[derive(Debug)]
pub struct SackSender<S> {
    /// First byte that is not acknowledged (SND.UNA).
    pub(super) una: u64,
    /// Byte to send next (SND.NXT).
    pub(super) nxt: u64,
    /// One past the last byte that the application has written; `u64::MAX` without end.
    pub(super) end: u64,
    /// Most bytes outstanding that the receiver allows (SND.WND).
    pub(super) window: u64,
    /// Bytes of a full segment.
    pub(super) mss: u64,
    /// The least bytes of the window that a segment takes: `mss` where the window counts packets.
    least: u64,
    /// One past the highest byte sent when the phase began (RecoveryPoint of RFC 6675, recover of RFC 6582 and RFC 5682).
    pub(super) high: u64,
    /// Bytes of the headers of a segment.
    headers: u32,
    /// The number of the flow in the network.
    flow: u32,
    /// How far the connection is open.
    state: State,
    /// What is done about losses.
    pub(super) phase: Phase,
    /// For what the retransmission timer is set.
    pending: Pending,
    /// The window falls by rate reduction.
    pub(super) reducing: bool,
    /// Whether F-RTO still examines the last timeout: retransmissions are held meanwhile.
    frto: FrtoState,
    /// The next retransmission does not wait for the window.
    forced: bool,
    /// ECN was negotiated.
    pub(super) ecn: bool,
    /// The next new segment carries CWR.
    pub(super) cwr_due: bool,
    /// Acknowledgements of new data may take the fast path.
    fast_path: bool,
    /// Segments are spaced though the congestion control asks for no rate.
    paces: bool,
    /// How much of the congestion window was used lately.
    usage: WindowUsage,
    /// How the window decays while it is not used.
    unused: Unused,
    /// When the last segment left.
    last_sent: Time,
    /// When the next segment may be sent, where the congestion control asks for a rate.
    pub(super) pacer: Pacer,
    /// How many segments leave at once.
    pub(super) bursts: Bursts,
    /// What the congestion control needs.
    pub(super) traits: Traits,
    /// The segments in flight.
    pub(super) board: Scoreboard,
    /// The rate of delivery, and the bytes delivered.
    pub(super) rate: DeliveryRate,
    /// What RACK knows: the segment delivered that was sent last.
    rack: Rack,
    /// How the window falls while it is reduced.
    pub(super) prr: Prr,
    /// The least round-trip time so far.
    pub(super) min_rtt: Option<Span>,
    /// Deadlines, by the numbers in `timers`.
    pub(super) timers: Timers<3>,
    /// The congestion control.
    pub(super) cc: AnyCc,
    /// The retransmission timeout.
    pub(super) rto: Rto,
    /// How much one sample of the round-trip time counts.
    sample_weight: SampleWeight,
    /// The granularity of timers.
    timer_wheel: TimerWheel,
    /// Bytes acknowledged in the measured part of the run.
    bytes_acked: u64,
    /// Blocks of the last acknowledgement that had any, all of them taken in: first byte, and one past the last.
    known_blocks: [(u64, u64); 3],
    /// Bytes in flight that limited transmit has sent beyond the window.
    beyond: u64,
    /// Acknowledgements in a row that reported something new above a gap (DupAcks of RFC 6675 section 5).
    dup_acks: u32,
    /// When the window was last told to fall.
    reduced_at: Time,
    /// Bytes that the acknowledgement at hand has delivered (DeliveredData of RFC 9937).
    pub(super) just_delivered: u64,
    /// Segments of reordering that are taken for no loss (DupThresh of RFC 6675, which reordering raises).
    pub(super) dupthresh: u32,
    /// The tail loss probe that is not acknowledged.
    tail_probe: Option<TailProbe>,
    /// What is restored if the reduction was needless.
    undo: UndoState,
    /// Retransmissions that were not reported as duplicates, in segments; `None` before the first.
    undo_retransmissions: Option<u64>,
    /// When the first retransmission left.
    first_retransmission: Option<Time>,
    /// How the receiver reports marks.
    feedback: Feedback,
    /// The counts of marks that it has told.
    marks: Marks,
    /// The first byte not acknowledged when the retransmission timer last fired; `u64::MAX` before.
    timeout_una: u64,
    /// One past the highest byte sent again in this recovery (HighRxt of RFC 6675).
    pub(super) high_rxt: u64,
    /// An acknowledgement beyond this byte has to come before the last segment is sent again for want of anything else (RescueRxt of RFC 6675).
    rescue_rxt: Option<u64>,
    /// The parameters that are asked later.
    pub(super) options: Options,
    /// What is not needed for every acknowledgement.
    pub(super) cold: Box<Cold<S>>,
}

impl<S: Source> SackSender<S> {
    /// The number of its flow in the network.
    pub fn set_flow(&mut self, flow: u32) {
        self.flow = flow;
    }

    /// What it has done.
    pub fn report(&self) -> SenderReport {
        SenderReport {
            bytes_acked: self.bytes_acked,
            ..self.cold.report
        }
    }

    /// Its state at this moment.
    pub fn gauges(&self) -> Gauges {
        let ssthresh = self.cc.ssthresh();
        Gauges {
            cwnd_bytes: self.cwnd(),
            ssthresh_bytes: (ssthresh != u64::MAX).then_some(ssthresh),
            in_flight_bytes: self.board.pipe(),
            srtt: self.rto.srtt(),
            rto: self.rto.timeout(),
        }
    }

    /// What it is doing about losses.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Its congestion control.
    pub fn congestion_control(&self) -> &AnyCc {
        &self.cc
    }

    /// The same, for whoever steers it between two moments of a run.
    pub fn congestion_control_mut(&mut self) -> &mut AnyCc {
        &mut self.cc
    }

    /// Where its data comes from.
    pub fn source(&self) -> &S {
        self.cold.feed.source()
    }

    /// Whether both ends agreed to use ECN.
    pub fn uses_ecn(&self) -> bool {
        self.ecn
    }

    /// What may be in flight now.
    #[inline]
    fn cwnd(&self) -> u64 {
        if self.traits.model {
            return self.cc.cwnd();
        }
        match self.phase {
            Phase::Reducing | Phase::Recovery if self.reducing => self.prr.window(),
            _ => self.cc.cwnd(),
        }
    }

    fn on_application<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        if self.state == State::Closed {
            self.open(host);
        }
        let (end, wake) = self
            .cold
            .feed
            .collect(now, self.end, self.nxt.max(FIRST_BYTE));
        self.end = end;
        if let Some(at) = wake {
            self.timers.set(APPLICATION, at, host);
        }
        if self.state == State::Established {
            self.check_completion(now);
            self.send(host);
        }
    }

    /// The application writes more than its source announced.
    pub fn write<H: Host>(&mut self, bytes: u64, host: &mut H) {
        self.end = self.end.saturating_add(bytes);
        if self.state == State::Established {
            self.send(host);
        }
    }

    /// The receiver allows `bytes` bytes from its acknowledgement `ack` on.
    pub fn set_window(&mut self, ack: u64, bytes: u64) {
        if ack >= self.una {
            self.window = bytes;
        }
    }

    /// Whether all that was written has been acknowledged.
    pub fn is_idle(&self) -> bool {
        self.state == State::Established && self.una == self.end && self.source_has_ended()
    }

    pub(super) fn check_completion(&mut self, now: Time) {
        if self.una == self.end && self.source_has_ended() && self.cold.report.completed.is_none() {
            self.cold.report.completed = Some(now);
        }
    }

    fn source_has_ended(&self) -> bool {
        self.end != u64::MAX && self.cold.feed.due().is_none()
    }
}

impl<S: Source> Agent for SackSender<S> {
    fn on_start<H: Host>(&mut self, host: &mut H) {
        let start = self.cold.start;
        self.timers.set(APPLICATION, start, host);
    }

    #[inline]
    fn on_packet<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        if self.state != State::Established || packet.flags.has(Flags::SYN) {
            if packet.flags.has(Flags::SYN) && packet.ack == FIRST_BYTE {
                match self.state {
                    State::Closed => {}
                    State::SynSent => self.establish(packet, host),
                    State::Established => self.send_bare_ack(host),
                }
            }
            return;
        }
        self.on_acknowledgement(packet, host);
    }

    fn on_wake<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        while let Some(timer) = self.timers.due(now) {
            match timer {
                RETRANSMIT => self.on_timer(host),
                PACE => {
                    self.send(host);
                }
                _ => self.on_application(host),
            }
        }
        self.timers.relist(host);
    }

    fn start_measuring(&mut self, _now: Time) {
        self.bytes_acked = 0;
        self.cold.report.start_measuring();
    }
}
