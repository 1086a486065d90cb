//! The receiving end of a connection with selective acknowledgement.
//!
//! Sources: RFC 2018 section 4, RFC 2883 (duplicates), RFC 5681 section 4.2 (when to acknowledge), RFC 7323 section 4.3
//! (which timestamp is echoed), RFC 3168 section 6.1.3, RFC 8257 section 3.2 and RFC 9768 section 3.2 (echoes of marks).
//! In dialect linux also quick acknowledgements, one for a segment that ends a piece or lets the window grow, and acknowledgements held
//! together behind a gap.

use super::accecn::{EcnMode, Feedback, MARKS_PER_ACK, OPTION_BYTES, ROOM, answer, asked, tell};
use super::ns3_socket::syn_options;
use super::offered::Offered;
use super::params::{Capable, Machine, ReceiverEcn, SackParams};
use super::ranges::Held;
use super::sender::codepoint;
use crate::report::ReceiverReport;
use crate::tcp::{FIRST_BYTE, TcpParams, TimerWheel};
use sojourn_cc::EcnUse;
use sojourn_sim::{Agent, Ecn, Flags, Host, Kind, Outgoing, Packet, Side, Timers};
use sojourn_units::{Span, Time};

/// Timers, in the order in which those due at one instant fire.
const SYN_ACK: usize = 0;
const DELAYED_ACK: usize = 1;
const COMPRESSED: usize = 2;

/// Bytes of a selective acknowledgement option: two of padding, kind and length, eight for each block.
const SACK_OPTION: u32 = 4;
const SACK_BLOCK: u32 = 8;

/// Bytes of timestamps, with two of padding.
const TIMESTAMPS: u32 = 12;

/// Acknowledgements behind a gap that are not held together (tcp_input.c, TCP_FASTRETRANS_THRESH).
const PROMPT: u32 = 3;
/// Most that are held together (ip-sysctl: tcp_comp_sack_nr).
const COMPRESSED_MOST: u32 = 44;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Listen,
    SynReceived,
    Established,
}

/// The receiving end of a connection. What a segment in order touches comes first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct SackReceiver {
    /// The byte expected next.
    next: u64,
    /// Bytes received in order in the measured part of the run.
    goodput: u64,
    /// Acknowledgements sent in it.
    acks: u64,
    /// The timestamp to echo.
    echo_stamp: Time,
    /// When the segment arrived that carried it.
    echo_arrived: Time,
    /// The last byte acknowledged.
    acknowledged: u64,
    /// Segments in order that are not acknowledged.
    unacked: u32,
    /// Segments that one acknowledgement covers.
    delayed_ack: u32,
    /// Acknowledgements still to be sent without delay.
    quick: u32,
    /// The number of the flow in the network.
    flow: u32,
    /// Bytes of the headers of a segment.
    headers: u32,
    /// How far the connection is open.
    state: State,
    /// ECN was negotiated.
    ecn: bool,
    feedback: Feedback,
    /// Acknowledgements carry counts of marks.
    counts: bool,
    /// Those of Accurate ECN carry its option where there is room.
    option: bool,
    /// Acknowledgements echo a mark.
    echo: bool,
    /// Codepoint of the SYN-ACK, once ECN is agreed to.
    syn_ack_tos: u8,
    /// That of acknowledgements.
    ack_tos: u8,
    delays: bool,
    compresses: bool,
    ack_pushed: bool,
    timestamps: bool,
    /// As ns-3 has it: an acknowledgement carries when it was sent, not when what it echoes arrived (TcpSocketBase::AddOptionTimestamp).
    as_ns3: bool,
    /// The same: a mark has arrived that no acknowledgement has reported, which CWR does not answer (ECN_CE_RCVD).
    fresh: bool,
    /// The highest byte that was marked.
    marked_at: u64,
    /// What was to come next when the segment before arrived; zero before the first one. Only if `as_ns3`.
    prior: u64,
    /// Bytes of the options of SYN beside timestamps, where the transport counts them.
    syn_options: u32,
    /// Bytes of the option of selective acknowledgements without its blocks.
    sack_option: u32,
    dsack: bool,
    held: Held,
    /// The duplicate to report with the next acknowledgement.
    duplicate: Option<(u64, u64)>,
    /// Maximum number of SACK blocks in an acknowledgement.
    sack_blocks: u32,
    /// Acknowledgements behind the gap at `gap_at` so far, and those held together.
    gap_at: u64,
    prompt: u32,
    together: u32,
    quick_acks: u32,
    /// The window that it offers, once the connection is open.
    ack_growth: bool,
    offered: Option<Box<Offered>>,
    mss: u64,
    compressed_ack: Span,
    delayed_ack_timeout: Span,
    timer_wheel: TimerWheel,
    /// Segments and bytes that arrived marked.
    marked: [u64; 2],
    /// Of the former, those that an acknowledgement has reported, and whether the last segment was one.
    told: u64,
    was_marked: bool,
    timers: Timers<3>,
    duplicates: u64,
    knows: EcnMode,
    /// What it has agreed to, and the codepoint of the SYN.
    grant: EcnMode,
    syn_ecn: Ecn,
    /// The round-trip time of the handshake, half of what the receiver knows of the path.
    asked_at: Time,
    rtt: Option<Span>,
    syn_ack_rto: Span,
    max_rto: Span,
}

impl SackReceiver {
    /// A receiver that waits for a SYN, for a sender that uses ECN so.
    pub fn new(params: &TcpParams, sack: &SackParams, ecn_use: EcnUse) -> SackReceiver {
        let capable = |least| match sack.receiver_ecn {
            ReceiverEcn::Same if sack.capable >= least => codepoint(ecn_use).bits(),
            _ => 0,
        };
        SackReceiver {
            next: FIRST_BYTE,
            goodput: 0,
            acks: 0,
            echo_stamp: Time::ZERO,
            echo_arrived: Time::ZERO,
            acknowledged: FIRST_BYTE,
            unacked: 0,
            delayed_ack: params.delayed_ack,
            quick: sack.quick_acks,
            flow: 0,
            headers: u32::try_from(params.headers.get()).unwrap_or(u32::MAX),
            state: State::Listen,
            ecn: false,
            feedback: match sack.receiver_ecn {
                ReceiverEcn::Classic => Feedback::Echo,
                ReceiverEcn::Same | ReceiverEcn::None => Feedback::of(ecn_use),
            },
            counts: false,
            option: sack.accurate_ecn_option,
            echo: false,
            syn_ack_tos: capable(Capable::Handshake),
            ack_tos: capable(Capable::All),
            delays: false,
            compresses: false,
            ack_pushed: sack.ack_pushed,
            timestamps: sack.timestamps,
            as_ns3: sack.machine() == Machine::Ns3,
            fresh: false,
            marked_at: 0,
            prior: 0,
            syn_options: syn_options(sack.machine(), sack.timestamps),
            // ns-3 pads the options as a whole (tcp-header.cc): beside timestamps, 10 bytes of 12, the first two of this one take no more room.
            sack_option: match sack.machine() == Machine::Ns3 && sack.timestamps {
                true => 0,
                false => SACK_OPTION,
            },
            dsack: sack.dsack,
            held: Held::new(sack.machine() == Machine::Ns3),
            duplicate: None,
            sack_blocks: sack.sack_blocks,
            gap_at: 0,
            prompt: 0,
            together: 0,
            quick_acks: sack.quick_acks,
            ack_growth: sack.ack_growth,
            offered: None,
            mss: params.mss.get(),
            compressed_ack: sack.compressed_ack,
            delayed_ack_timeout: params.delayed_ack_timeout,
            timer_wheel: TimerWheel::new(params.jiffy),
            marked: [0; 2],
            told: 0,
            was_marked: false,
            timers: Timers::default(),
            duplicates: 0,
            knows: match (sack.receiver_ecn, params.ecn || ecn_use != EcnUse::Classic) {
                (ReceiverEcn::None, _) => EcnMode::Off,
                (ReceiverEcn::Same, _) if sack.accurate_ecn => EcnMode::Accurate,
                (_, wanted) if wanted || sack.accurate_ecn => EcnMode::Classic,
                _ => EcnMode::Off,
            },
            grant: EcnMode::Off,
            syn_ecn: Ecn::NotEct,
            asked_at: Time::ZERO,
            rtt: None,
            syn_ack_rto: params.initial_rto,
            max_rto: params.max_rto,
        }
    }

    /// What it has got.
    pub fn report(&self) -> ReceiverReport {
        ReceiverReport {
            goodput_bytes: self.goodput,
            duplicates: self.duplicates,
            acks: self.acks,
        }
    }

    /// Bytes that wait behind a gap.
    pub fn held_bytes(&self) -> u64 {
        self.held.bytes()
    }

    fn on_syn<H: Host>(&mut self, syn: &Packet, host: &mut H) {
        // ns-3 goes on echoing the first SYN: the second one is below what is expected next (ProcessOptionTimestamp).
        let echoes = match self.as_ns3 {
            true => self.state == State::Listen,
            false => self.state != State::Established,
        };
        if echoes {
            self.echo_stamp = syn.created;
            self.echo_arrived = host.now();
        }
        match self.state {
            State::Listen => {
                self.state = State::SynReceived;
                self.asked_at = host.now();
                self.negotiate(syn, host);
                self.send_syn_ack(Flags::NONE, host);
            }
            State::SynReceived => self.send_syn_ack(Flags::RETRANSMIT, host),
            State::Established => self.acknowledge(host),
        }
    }

    /// The most that both ends know (RFC 9768 section 3.1.2, Table 2).
    fn negotiate<H: Host>(&mut self, syn: &Packet, host: &H) {
        let mode = match self.knows {
            EcnMode::Accurate => asked(syn.flags, host.side(syn).as_ref()),
            _ if syn.flags.has(Flags::ECE.with(Flags::CWR)) => EcnMode::Classic,
            _ => EcnMode::Off,
        };
        self.grant = mode.min(self.knows);
        self.syn_ecn = syn.ecn();
        self.ecn = self.grant != EcnMode::Off;
        if self.grant == EcnMode::Accurate {
            self.feedback = Feedback::Accurate;
        }
        if !self.ecn {
            (self.syn_ack_tos, self.ack_tos) = (0, 0);
        }
        self.counts = self.ecn && matches!(self.feedback, Feedback::Counted | Feedback::Accurate);
    }

    fn send_syn_ack<H: Host>(&mut self, more: Flags, host: &mut H) {
        let (grants, side) = answer(self.grant, self.syn_ecn);
        let flags = Flags::SYN.with(more).with(grants);
        let out = Outgoing {
            size: self.headers + self.syn_options,
            ack: FIRST_BYTE,
            kind: Kind::Segment,
            tos: self.syn_ack_tos,
            flags,
            ..Outgoing::default()
        };
        let value = match self.as_ns3 {
            true => host.now(),
            false => self.echo_arrived,
        };
        let stamps = (value.as_ps(), self.echo_stamp.as_ps());
        let timestamps = self.timestamps.then_some(stamps);
        match (side, timestamps) {
            (Some(side), stamps) => host.send_with(
                self.flow,
                out,
                Side {
                    timestamps: stamps.unwrap_or(side.timestamps),
                    ..side
                },
            ),
            (None, Some(stamps)) => host.send_stamped(self.flow, out, stamps),
            (None, None) => host.send(self.flow, out),
        }
        let at = self.timer_wheel.expiry(host.now(), self.syn_ack_rto);
        self.timers.set(SYN_ACK, at, host);
    }

    #[inline]
    fn acknowledge<H: Host>(&mut self, host: &mut H) {
        self.unacked = 0;
        self.quick = self.quick.saturating_sub(1);
        if self.delays {
            self.delays = false;
            self.timers.clear(DELAYED_ACK);
        }
        if self.compresses {
            self.compresses = false;
            self.together = 0;
            self.timers.clear(COMPRESSED);
        }
        self.acks += 1;
        self.acknowledged = self.next;
        self.fresh = false;
        let mut out = Outgoing {
            size: self.headers,
            seq: FIRST_BYTE,
            ack: self.next,
            kind: Kind::Ack,
            tos: self.ack_tos,
            flags: if self.echo { Flags::ECE } else { Flags::NONE },
        };
        let gap = !self.held.is_empty() || self.duplicate.is_some();
        let counts = self.counts;
        if !self.timestamps && !gap && !counts {
            host.send(self.flow, out);
            return;
        }
        let value = match self.as_ns3 {
            true => host.now(),
            false => self.echo_arrived,
        };
        let timestamps = (value.as_ps(), self.echo_stamp.as_ps());
        if self.timestamps && !gap && !counts {
            host.send_stamped(self.flow, out, timestamps);
            return;
        }
        let mut side = Side::default();
        if self.timestamps {
            side.timestamps = timestamps;
        }
        if gap {
            out.size += self.fill_blocks(&mut side);
        }
        if counts {
            self.tell_marks(&mut out, &mut side);
        }
        host.send_with(self.flow, out, side);
    }

    fn tell_marks(&mut self, out: &mut Outgoing, side: &mut Side) {
        if self.feedback != Feedback::Accurate {
            side.words = [0, self.marked[1]];
            return;
        }
        // What is in the headers already: of the options, timestamps.
        let taken = out.size - self.headers + if self.timestamps { TIMESTAMPS } else { 0 };
        let option = self.option && taken + OPTION_BYTES <= ROOM;
        out.flags = tell(self.marked, option, side);
        if option {
            out.size += OPTION_BYTES;
        }
        self.told = self.marked[0];
    }

    /// Puts the blocks in; the bytes that the option takes.
    fn fill_blocks(&mut self, side: &mut Side) -> u32 {
        let most = side.sack.len().min(sojourn_sim::to_usize(self.sack_blocks));
        let told = self.duplicate.take().into_iter();
        let told = told.chain(self.held.blocks().iter().copied()).take(most);
        let mut size = self.sack_option;
        for (slot, block) in side.sack.iter_mut().zip(told) {
            *slot = block;
            size += SACK_BLOCK;
        }
        size
    }

    #[inline]
    fn on_data<H: Host>(&mut self, first: u64, end: u64, host: &mut H) {
        if end <= self.next {
            self.on_duplicate(first, end, host);
        } else if first > self.next {
            if self.held.insert(first, end) {
                self.acknowledge_gap(host);
            } else {
                self.on_duplicate(first, end, host);
            }
        } else {
            let before = self.next;
            let gap = !self.held.is_empty();
            self.next = if gap { self.held.release(end) } else { end };
            self.goodput += self.next - before;
            self.unacked += 1;
            if gap && !self.held.is_empty() && self.unacked < self.delayed_ack {
                self.acknowledge_gap(host);
            } else if gap || self.unacked >= self.delayed_ack || self.quick > 0 {
                self.acknowledge(host);
            } else if !self.delays {
                let at = self
                    .timer_wheel
                    .expiry(host.now(), self.delayed_ack_timeout);
                self.timers.set(DELAYED_ACK, at, host);
                self.delays = true;
            }
        }
    }

    fn on_duplicate<H: Host>(&mut self, first: u64, end: u64, host: &mut H) {
        self.duplicates += 1;
        self.quick = self.quick_acks;
        if self.dsack {
            self.duplicate = Some((first, end));
        }
        self.acknowledge(host);
    }

    /// Data behind a gap has arrived: at once, or together with more of it.
    fn acknowledge_gap<H: Host>(&mut self, host: &mut H) {
        if self.compressed_ack.is_zero() || self.quick > 0 {
            self.acknowledge(host);
            return;
        }
        if self.gap_at != self.next {
            self.gap_at = self.next;
            self.prompt = 0;
        }
        if self.prompt < PROMPT {
            self.prompt += 1;
            self.acknowledge(host);
            return;
        }
        self.together += 1;
        if self.together >= COMPRESSED_MOST {
            self.acknowledge(host);
        } else if !self.compresses {
            self.compresses = true;
            let part = self.rtt.map_or(self.compressed_ack, |rtt| rtt / 20);
            let at = host.now().saturating_add(part.min(self.compressed_ack));
            self.timers.set(COMPRESSED, at, host);
        }
    }

    /// What the window makes of a segment that was sent at `sent`.
    #[inline]
    fn open_window(&mut self, bytes: u64, sent: Time, now: Time) {
        let Some(offered) = &mut self.offered else {
            return;
        };
        if offered.is_restart(now) {
            self.quick = self.quick_acks;
        }
        if offered.on_segment(bytes, sent, now) {
            self.quick |= 1;
        }
    }

    fn on_ecn<H: Host>(&mut self, packet: &Packet, bytes: u64, host: &mut H) {
        let marked = packet.ecn() == Ecn::Ce;
        // The sender's window has fallen, perhaps to a segment (tcp_input.c, tcp_ecn_accept_cwr).
        let at_once = packet.flags.has(Flags::CWR) && self.quick_acks > 1;
        match self.feedback {
            Feedback::Echo if self.as_ns3 => {
                // TcpSocketBase::ForwardUp, then DoForwardUp.
                if marked && packet.seq > self.marked_at {
                    self.marked_at = packet.seq;
                    (self.echo, self.fresh) = (true, true);
                }
                if packet.flags.has(Flags::CWR) && !self.fresh {
                    self.echo = false;
                }
            }
            Feedback::Echo => {
                if packet.flags.has(Flags::CWR) {
                    self.echo = false;
                }
                // RFC 3168 section 6.1.5: not that of a duplicate.
                if marked && packet.seq + bytes > self.next {
                    if !self.echo {
                        // An echo is not delayed: the sender's window may be small.
                        if self.quick_acks > 1 {
                            self.quick = self.quick.max(2);
                        }
                    }
                    self.echo = true;
                }
            }
            Feedback::PerSegment if self.as_ns3 => self.on_mark_as_ns3(marked, host),
            Feedback::PerSegment => {
                if marked != self.echo {
                    // What was received before the change is acknowledged with the state it had.
                    if self.unacked > 0 {
                        self.acknowledge(host);
                    }
                    self.echo = marked;
                    // And the segment that changed it at once.
                    self.quick = self.quick.max(1);
                }
            }
            Feedback::Counted | Feedback::Accurate => {
                if marked {
                    self.marked[0] += 1;
                    self.marked[1] += u64::from(packet.size.saturating_sub(self.headers));
                }
                if self.feedback == Feedback::Accurate {
                    // RFC 9768 section 3.2.2.5.1: at the first of several marks, and so often that the counter does not pass its sender by.
                    let due = self.marked[0] - self.told >= MARKS_PER_ACK;
                    if marked && (due || !self.was_marked) {
                        self.quick = self.quick.max(1);
                    }
                    self.was_marked = marked;
                }
            }
        }
        if at_once {
            self.quick = self.quick.max(1);
        }
    }

    /// A segment that is marked, or is not (ns-3.44, read for behaviour: tcp-dctcp.cc, CeState0to1 and CeState1to0). At a change, an acknowledgement that
    /// is held back goes with the state of before, but with the number of one segment earlier: a mark whose segment was the first of two
    /// arrives by an acknowledgement of nothing, which the sender does not take for an echo.
    fn on_mark_as_ns3<H: Host>(&mut self, marked: bool, host: &mut H) {
        if marked != self.echo && self.unacked > 0 && self.prior > 0 {
            let next = std::mem::replace(&mut self.next, self.prior);
            self.acknowledge(host);
            self.next = next;
        }
        self.prior = self.next;
        self.echo = marked;
    }
}

impl Agent for SackReceiver {
    fn on_start<H: Host>(&mut self, _host: &mut H) {}

    #[inline]
    fn on_packet<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        if packet.flags.has(Flags::SYN) {
            self.flow = packet.flow;
            self.on_syn(packet, host);
            return;
        }
        if self.state != State::Established {
            if self.state == State::Listen {
                return;
            }
            self.state = State::Established;
            let rtt = host.now().since(self.asked_at);
            self.rtt = Some(rtt);
            if self.ack_growth {
                let offered = Offered::new(self.mss, host.now(), rtt, self.next);
                self.offered = Some(Box::new(offered));
            }
            self.timers.clear(SYN_ACK);
        }
        let bytes = u64::from(packet.size.saturating_sub(self.headers));
        if bytes == 0 {
            return;
        }
        if self.ecn {
            self.on_ecn(packet, bytes, host);
        }
        // RFC 7323 section 4.3: not that of a duplicate which is older than what is echoed. ns-3 takes none from duplicates
        // (TcpSocketBase::ProcessOptionTimestamp).
        let takes = match self.as_ns3 {
            true => packet.seq == self.next,
            false => packet.created >= self.echo_stamp,
        };
        if packet.seq <= self.acknowledged && takes {
            self.echo_stamp = packet.created;
            self.echo_arrived = host.now();
        }
        self.open_window(bytes, packet.created, host.now());
        self.on_data(packet.seq, packet.seq + bytes, host);
        if let Some(offered) = &mut self.offered {
            offered.on_read(self.next, host.now());
        }
        if packet.kind == Kind::Pushed
            && self.ack_pushed
            && self.unacked > 0
            && self.held.is_empty()
        {
            self.acknowledge(host);
        }
    }

    fn on_wake<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        while let Some(timer) = self.timers.due(now) {
            match timer {
                DELAYED_ACK => {
                    self.delays = false;
                    self.acknowledge(host);
                }
                COMPRESSED => {
                    self.compresses = false;
                    self.together = 0;
                    self.acknowledge(host);
                }
                _ => {
                    self.syn_ack_rto = self.syn_ack_rto.saturating_mul(2).min(self.max_rto);
                    self.send_syn_ack(Flags::RETRANSMIT, host);
                }
            }
        }
        self.timers.relist(host);
    }

    fn start_measuring(&mut self, _now: Time) {
        self.goodput = 0;
        self.duplicates = 0;
        self.acks = 0;
    }
}
