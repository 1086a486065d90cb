//! The sender: ns-2's Agent/TCP, Agent/TCP/Reno and Agent/TCP/Newreno.
//!
//! Packets are numbered from 0 (the SYN); `highest_ack` is the last packet acknowledged, -1 before any. The congestion
//! window is a real number of packets, `inflation` (ns-2's dupwnd_) what duplicates add to it during fast recovery.

use super::rtt::RttEstimator;
use super::{Ns2Params, Ns2Recovery, narrow};
use crate::app::{Source, Write};
use sojourn_sim::{Agent, Ecn, Flags, Host, Kind, Outgoing, Packet, Stream, Timers};
use sojourn_units::{Span, Time};
use std::cmp::Ordering;

/// The sender of a one-way flow.
#[derive(Debug)]
pub struct Ns2Sender<S> {
    flow: u32,
    recovery: Ns2Recovery,
    limited_transmit: bool,
    ecn: bool,
    dupack_threshold: i64,
    /// Congestion window, packets.
    cwnd: f64,
    /// What duplicate acknowledgements have added to the window.
    inflation: i64,
    ssthresh: i64,
    window: i64,
    initial_window: i64,
    /// Next packet to send.
    next: i64,
    /// Highest packet sent; -1 before any.
    max_sent: i64,
    /// Highest packet acknowledged.
    highest_ack: i64,
    /// The acknowledgement that duplicates are compared with.
    last_ack: i64,
    /// Packets that the application has produced, the SYN included.
    produced: i64,
    dupacks: i64,
    /// `max_sent` when the window was last reduced.
    recover: i64,
    last_action: Action,
    first_partial: bool,
    /// The next packet tells the sink that the window was reduced.
    announce_reduction: bool,
    ecn_capable: bool,
    ecn_backed_off: bool,
    rtt: RttEstimator,
    /// The packet being timed and when it was sent.
    timed: Option<(i64, Time)>,
    /// The last packet that was ever timed.
    last_timed: i64,
    timers: Timers<3>,
    header_bytes: u32,
    wire_bytes: u32,
    payload: u64,
    report: Ns2Report,
    source: S,
    stream: Stream,
    pending: Option<Write>,
    start: Time,
    stop: Option<Time>,
    exhausted: bool,
}

/// What the sender has counted since measuring began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ns2Report {
    /// When its source began.
    pub started: Time,
    /// When everything that a finite source wrote was acknowledged.
    pub completed: Option<Time>,
    /// Packets acknowledged cumulatively, the SYN included (ns-2's ack_ + 1).
    pub acked_packets: u64,
    /// Packets sent, the SYN and retransmissions included (ndatapack_).
    pub sent_packets: u64,
    /// Packets sent that had been sent before (nrexmitpack_).
    pub retransmissions: u64,
    /// Timeouts with data outstanding (nrexmit_).
    pub timeouts: u64,
    /// Acknowledgements received (nackpack_).
    pub acks: u64,
    /// Fast retransmissions begun.
    pub fast_recoveries: u64,
    /// Window reductions that marks caused (necnresponses_).
    pub ecn_reductions: u64,
    /// Sum of measured round trips, picoseconds.
    pub rtt_sum: u128,
    /// Measured round trips.
    pub rtt_count: u64,
    /// Shortest measured round trip.
    pub rtt_min: Option<Span>,
    /// Longest measured round trip.
    pub rtt_max: Span,
}

/// The sender's state at one moment, for time series.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ns2Gauges {
    /// Congestion window, packets; fractions count towards its growth.
    pub cwnd: f64,
    /// Slow start threshold, packets.
    pub ssthresh: i64,
    /// Packets sent and not acknowledged.
    pub in_flight: i64,
    /// Smoothed round-trip time.
    pub srtt: Option<Span>,
    /// Retransmission timeout.
    pub rto: Span,
}

/// What the sender did last about its window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Action {
    None,
    DupAcks,
    Exited,
    Timeout,
    Ecn,
}

/// How a reduction changes the congestion window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reduce {
    Half,
    One,
}

/// Timer of the source's writes; at one instant the application comes before the retransmission.
const WRITE: usize = 0;
/// Timer of the source's end.
const STOP: usize = 1;
/// Retransmission timer.
const RETRANSMIT: usize = 2;

/// A source without end; far beyond what a run can send.
const ENDLESS: i64 = 1 << 60;

impl<S: Source> Ns2Sender<S> {
    /// A sender of `flow` whose source begins at `start` and ends at `stop`. The writes of `source` carry times of the run.
    /// `stream` gives the source its draws and the clock its phase.
    pub fn new(
        flow: u32,
        params: &Ns2Params,
        source: S,
        mut stream: Stream,
        start: Time,
        stop: Option<Time>,
    ) -> Self {
        let phase = params
            .tick_phase
            .unwrap_or_else(|| Span::from_ps(stream.below(params.tick.as_ps())));
        let window = integer(params.window.get());
        Ns2Sender {
            flow,
            recovery: params.recovery,
            limited_transmit: params.limited_transmit,
            ecn: params.ecn,
            dupack_threshold: i64::from(params.dupacks),
            cwnd: 1.0,
            inflation: 0,
            ssthresh: window,
            window,
            initial_window: integer(params.initial_window.get()),
            next: 0,
            max_sent: -1,
            highest_ack: -1,
            last_ack: -1,
            produced: 0,
            dupacks: 0,
            recover: 0,
            last_action: Action::None,
            first_partial: false,
            announce_reduction: false,
            ecn_capable: false,
            ecn_backed_off: false,
            rtt: RttEstimator::new(params, phase),
            timed: None,
            last_timed: -1,
            timers: Timers::default(),
            header_bytes: narrow(params.headers),
            wire_bytes: narrow(params.headers + params.payload),
            payload: params.payload.get(),
            report: Ns2Report {
                started: start,
                ..Ns2Report::default()
            },
            source,
            stream,
            pending: None,
            start,
            stop,
            exhausted: false,
        }
    }

    /// What was counted since measuring began.
    pub fn report(&self) -> Ns2Report {
        self.report
    }

    /// The state of the moment.
    pub fn gauges(&self) -> Ns2Gauges {
        Ns2Gauges {
            cwnd: self.cwnd,
            ssthresh: self.ssthresh,
            in_flight: self.max_sent - self.highest_ack,
            srtt: self.rtt.smoothed(),
            rto: self.rtt.rto(),
        }
    }

    /// Bytes of data in one packet.
    pub fn payload(&self) -> u64 {
        self.payload
    }

    /// What the sender may have outstanding, whole packets.
    #[inline]
    fn send_window(&self) -> i64 {
        (truncated(self.cwnd) + self.inflation).min(self.window)
    }

    fn send_all<H: Host>(&mut self, most: u32, host: &mut H) {
        let mut sent = 0;
        while sent < most
            && self.next <= self.highest_ack + self.send_window()
            && self.next < self.produced
        {
            self.output(self.next, host);
            self.next += 1;
            sent += 1;
        }
    }

    /// Limited transmit: one new packet for an early duplicate.
    fn send_one<H: Host>(&mut self, host: &mut H) {
        let allowed = real(self.highest_ack) + self.cwnd + real(self.dupacks);
        if self.next <= self.highest_ack + self.window
            && self.next < self.produced
            && real(self.next) <= allowed
        {
            self.output(self.next, host);
            self.next += 1;
        }
    }

    fn output<H: Host>(&mut self, number: i64, host: &mut H) {
        let syn = number == 0;
        let again = number <= self.max_sent;
        self.report.sent_packets += 1;
        if syn && self.max_sent == -1 {
            self.produced += 1;
        }
        let nothing_outstanding = self.highest_ack == self.max_sent;
        let mut flags = Flags::NONE;
        if syn {
            flags = flags.with(Flags::SYN);
            if self.ecn {
                flags = flags.with(Flags::ECE);
            }
        }
        if again {
            flags = flags.with(Flags::RETRANSMIT);
        }
        if self.announce_reduction {
            flags = flags.with(Flags::CWR);
            self.announce_reduction = false;
        }
        let ecn = if self.ecn && !syn {
            Ecn::Ect0
        } else {
            Ecn::NotEct
        };
        let packet = Outgoing {
            size: if syn {
                self.header_bytes
            } else {
                self.wire_bytes
            },
            seq: u64::try_from(number).unwrap_or(0),
            ack: 0,
            kind: Kind::Segment,
            tos: ecn.bits(),
            flags,
        };
        host.send(self.flow, packet);
        if again {
            self.report.retransmissions += 1;
        } else {
            self.max_sent = number;
            if self.timed.is_none() && number > self.last_timed {
                self.timed = Some((number, host.now()));
                self.last_timed = number;
            }
        }
        if nothing_outstanding || self.timers.deadline(RETRANSMIT).is_none() {
            self.set_timer(host);
        }
    }

    fn set_timer<H: Host>(&mut self, host: &mut H) {
        let at = host.now().saturating_add(self.rtt.rto());
        self.timers.set(RETRANSMIT, at, host);
    }

    /// Restarts the timer and gives up the running measurement.
    fn restart_timer<H: Host>(&mut self, back_off: bool, host: &mut H) {
        if back_off {
            self.rtt.back_off();
        }
        self.set_timer(host);
        self.timed = None;
    }

    /// An acknowledgement of everything up to packet `acked` arrives.
    fn receive<H: Host>(&mut self, acked: i64, flags: Flags, host: &mut H) {
        self.report.acks += 1;
        let echo = flags.has(Flags::ECE);
        if echo && self.ecn {
            self.on_echo(acked);
        }
        match acked.cmp(&self.last_ack) {
            Ordering::Greater => self.on_new_ack(acked, flags, host),
            Ordering::Equal => self.on_duplicate(host),
            Ordering::Less => {}
        }
        // In fast recovery ns-2's NewReno sends at most two packets per acknowledgement.
        let recovering = self.dupacks >= self.dupack_threshold;
        match self.recovery {
            Ns2Recovery::Tahoe => self.send_all(u32::MAX, host),
            _ if self.dupacks == 0 => self.send_all(u32::MAX, host),
            Ns2Recovery::Reno if recovering => self.send_all(u32::MAX, host),
            Ns2Recovery::NewReno if recovering => self.send_all(2, host),
            Ns2Recovery::Reno | Ns2Recovery::NewReno => {}
        }
    }

    fn on_new_ack<H: Host>(&mut self, acked: i64, flags: Flags, host: &mut H) {
        let in_recovery = self.last_action == Action::DupAcks;
        match self.recovery {
            Ns2Recovery::Tahoe => {}
            Ns2Recovery::Reno => {
                if in_recovery {
                    self.last_action = Action::Exited;
                }
                self.inflation = 0;
            }
            Ns2Recovery::NewReno => {
                if in_recovery && acked < self.recover {
                    self.on_partial_ack(acked, host);
                    return;
                }
                if self.inflation > 0 {
                    self.inflation = 0;
                    if in_recovery {
                        self.last_action = Action::Exited;
                    }
                }
                self.first_partial = false;
            }
        }
        self.on_full_ack(acked, flags, host);
    }

    fn on_full_ack<H: Host>(&mut self, acked: i64, flags: Flags, host: &mut H) {
        let echo = flags.has(Flags::ECE);
        self.dupacks = 0;
        self.last_ack = acked;
        self.advance(acked);
        if let Some((number, sent)) = self.timed
            && acked >= number
        {
            if !(self.ecn_capable && self.ecn_backed_off && echo) {
                self.rtt.end_back_off();
            }
            self.timed = None;
            let now = host.now();
            self.rtt.sample(sent, now);
            self.measured(now.since(sent));
        }
        // After `advance` something is always to come (next > acked), so the timer always restarts.
        self.set_timer(host);
        if !self.ecn_capable || !echo {
            self.open_window();
        }
        if self.ecn_capable && !echo {
            self.ecn_backed_off = false;
        }
        if !self.ecn_capable && echo && !flags.has(Flags::CWR) {
            self.ecn_capable = true;
        }
        if acked == 0 {
            self.cwnd = real(self.initial_window);
        }
        self.note_completion(host.now());
    }

    /// NewReno: more was lost. Deflates the window by what was acknowledged and sends the next hole at once.
    fn on_partial_ack<H: Host>(&mut self, acked: i64, host: &mut H) {
        if !self.first_partial {
            self.first_partial = true;
            self.set_timer(host);
        }
        let deflate = acked - self.last_ack;
        if self.inflation > deflate {
            self.inflation -= deflate - 1;
        } else {
            self.cwnd -= real(deflate - self.inflation);
            // Not zero: it tells that recovery goes on.
            self.inflation = 1;
        }
        if self.cwnd < 1.0 {
            self.cwnd = 1.0;
        }
        self.last_ack = acked;
        self.advance(acked);
        if let Some((number, _)) = self.timed
            && acked >= number
        {
            self.timed = None;
            self.rtt.end_back_off();
        }
        self.output(acked + 1, host);
    }

    /// Everything up to `acked` has arrived.
    fn advance(&mut self, acked: i64) {
        self.report.acked_packets += u64::try_from(acked - self.highest_ack).unwrap_or(0);
        self.highest_ack = acked;
        self.next = self.next.max(acked + 1);
    }

    fn open_window(&mut self) {
        if self.cwnd < real(self.ssthresh) {
            self.cwnd += 1.0;
        } else {
            self.cwnd += 1.0 / self.cwnd;
        }
    }

    fn on_duplicate<H: Host>(&mut self, host: &mut H) {
        self.dupacks += 1;
        match self.dupacks.cmp(&self.dupack_threshold) {
            Ordering::Equal => self.fast_retransmit(host),
            Ordering::Greater => {
                let inflates = self.recovery != Ns2Recovery::Tahoe;
                if inflates && self.last_action == Action::DupAcks {
                    self.inflation += 1;
                }
            }
            Ordering::Less => {
                if self.limited_transmit {
                    self.send_one(host);
                }
            }
        }
    }

    fn fast_retransmit<H: Host>(&mut self, host: &mut H) {
        let fresh = self.highest_ack > self.recover || self.highest_ack == 0;
        let again = self.recovery == Ns2Recovery::Reno && self.last_action == Action::DupAcks;
        let tahoe = self.recovery == Ns2Recovery::Tahoe;
        if fresh || again {
            self.recover = self.max_sent;
            self.reduce(if tahoe { Reduce::One } else { Reduce::Half }, true);
        } else if self.ecn && self.last_action == Action::Ecn {
            // A mark has reduced the threshold for this window already.
            if tahoe {
                self.reduce(Reduce::One, false);
            }
        } else {
            // Duplicates of packets that were sent before the last reduction do not reduce again (bugFix_).
            return;
        }
        self.last_action = Action::DupAcks;
        self.report.fast_recoveries += 1;
        self.restart_timer(false, host);
        if tahoe {
            self.next = self.highest_ack + 1;
        } else {
            self.output(self.last_ack + 1, host);
            self.inflation = self.dupack_threshold;
        }
    }

    fn reduce(&mut self, how: Reduce, threshold: bool) {
        let half = (self.cwnd + real(self.inflation)).min(real(self.window)) / 2.0;
        if threshold {
            self.ssthresh = truncated(half);
        }
        self.cwnd = match how {
            Reduce::Half => half,
            Reduce::One => 1.0,
        };
        self.ssthresh = self.ssthresh.max(2);
        self.announce_reduction = true;
    }

    fn on_echo(&mut self, acked: i64) {
        if acked <= self.recover && self.last_action != Action::Timeout {
            return;
        }
        self.recover = self.max_sent;
        self.last_action = Action::Ecn;
        if self.cwnd <= 1.0 {
            if self.ecn_backed_off {
                self.rtt.back_off();
            } else {
                self.ecn_backed_off = true;
            }
        } else {
            self.ecn_backed_off = false;
        }
        self.reduce(Reduce::Half, true);
        self.report.ecn_reductions += 1;
    }

    fn on_timeout<H: Host>(&mut self, host: &mut H) {
        self.inflation = 0;
        self.dupacks = 0;
        self.recover = self.max_sent;
        self.cwnd = self.cwnd.max(1.0);
        if self.highest_ack == -1 {
            // The SYN was lost: start with one packet (RFC 5681 section 3.1).
            self.initial_window = 1;
        }
        if self.highest_ack == self.max_sent {
            // Idle for a whole timeout: slow start again, the threshold stays.
            self.reduce(Reduce::One, false);
            self.restart_timer(false, host);
        } else {
            if self.last_action == Action::Ecn {
                self.reduce(Reduce::One, false);
            } else {
                self.report.timeouts += 1;
                self.reduce(Reduce::One, true);
            }
            self.restart_timer(true, host);
        }
        self.next = self.highest_ack + 1;
        self.last_action = Action::Timeout;
        self.send_all(u32::MAX, host);
    }

    /// The application's turn: everything that it has written by now is there to send.
    fn on_write<H: Host>(&mut self, host: &mut H) {
        if self.exhausted {
            return;
        }
        if self.source.unlimited() {
            self.produced += ENDLESS;
            self.exhausted = true;
            self.send_all(u32::MAX, host);
            return;
        }
        let now = host.now();
        loop {
            let write = match self.pending.take() {
                Some(write) => Some(write),
                None => self.source.next(&mut self.stream),
            };
            match write {
                None => {
                    self.exhausted = true;
                    break;
                }
                Some(write) if write.at > now => {
                    self.timers.set(WRITE, write.at, host);
                    self.pending = Some(write);
                    break;
                }
                Some(write) => {
                    self.produced += integer(write.bytes.div_ceil(self.payload));
                    self.send_all(u32::MAX, host);
                }
            }
        }
    }

    fn on_stop(&mut self, now: Time) {
        self.exhausted = true;
        self.pending = None;
        self.timers.clear(WRITE);
        self.produced = self.max_sent;
        self.note_completion(now);
    }

    fn note_completion(&mut self, now: Time) {
        let done = self.exhausted && self.highest_ack >= 0 && self.highest_ack >= self.produced - 1;
        if done && self.report.completed.is_none() {
            self.report.completed = Some(now);
        }
    }

    fn measured(&mut self, rtt: Span) {
        let report = &mut self.report;
        report.rtt_sum += u128::from(rtt.as_ps());
        report.rtt_count += 1;
        report.rtt_min = Some(report.rtt_min.map_or(rtt, |least| least.min(rtt)));
        report.rtt_max = report.rtt_max.max(rtt);
    }
}

impl<S: Source> Agent for Ns2Sender<S> {
    fn on_start<H: Host>(&mut self, host: &mut H) {
        self.timers.set(WRITE, self.start, host);
        if let Some(stop) = self.stop {
            self.timers.set(STOP, stop, host);
        }
    }

    fn on_packet<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        self.receive(integer(packet.ack) - 1, packet.flags, host);
    }

    fn on_wake<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        while let Some(timer) = self.timers.due(now) {
            match timer {
                WRITE => self.on_write(host),
                STOP => self.on_stop(now),
                _ => self.on_timeout(host),
            }
        }
        self.timers.relist(host);
    }

    fn start_measuring(&mut self, _: Time) {
        self.report = Ns2Report {
            started: self.report.started,
            completed: self.report.completed,
            ..Ns2Report::default()
        };
    }
}

/// The whole packets in a real number of them, as a C cast to int cuts it.
#[allow(
    clippy::as_conversions,
    reason = "windows are far below 2^63; the fraction is to be cut"
)]
#[inline]
fn truncated(packets: f64) -> i64 {
    packets as i64
}

/// A packet count as a real number.
#[allow(clippy::as_conversions, reason = "counts are exact far below 2^53")]
#[inline]
fn real(packets: i64) -> f64 {
    packets as f64
}

/// A count with a sign, for the arithmetic of windows.
#[inline]
fn integer(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX / 4)
}
