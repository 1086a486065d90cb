//! The sender: ns-2's Agent/TCP, Agent/TCP/Reno and Agent/TCP/Newreno; what Agent/TCP/Sack1 adds is in `selective`, what
//! Agent/TCP/Vegas and Agent/TCP/Fack have in the place of all that in `vegas` and `fack`.
//!
//! Packets are numbered from 0 (the SYN); `highest_ack` is the last packet acknowledged, -1 before any. The congestion
//! window is a real number of packets, `inflation` (ns-2's dupwnd_) what duplicates add to it during fast recovery.

mod fack;
mod selective;
mod vegas;

use super::fack::Fack;
use super::num::{integer, real, truncated};
use super::rtt::RttEstimator;
use super::selective::Selective;
use super::vegas::Vegas;
use super::{Ns2Params, Ns2Recovery, narrow};
use crate::app::{Feed, Source};
use crate::report::{Gauges, SenderReport};
use sojourn_cc::Phase;
use sojourn_sim::{Agent, Ecn, Flags, Host, Kind, Outgoing, Packet, Stream, Timers};
use sojourn_units::{Span, Time};
use std::cmp::Ordering;

/// The sender of a one-way flow.
#[derive(Debug)]
pub struct Ns2Sender<S> {
    /// The number of the flow in the network.
    flow: u32,
    recovery: Ns2Recovery,
    limited_transmit: bool,
    ecn: bool,
    /// Duplicates that announce a loss (numdupacks_).
    dupack_threshold: i64,
    /// Congestion window, packets.
    cwnd: f64,
    /// What duplicate acknowledgements have added to the window.
    inflation: i64,
    /// The threshold, packets (ssthresh_).
    ssthresh: i64,
    /// The receiver's window, packets (window_).
    window: i64,
    /// The window after the first acknowledgement, packets.
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
    /// Duplicates in a row (dupacks_).
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
    /// Bytes of the header of a packet.
    header_bytes: u32,
    /// Bytes of a packet on the wire.
    wire_bytes: u32,
    /// Bytes of data in a packet.
    payload: u64,
    report: SenderReport,
    counts: Ns2Counts,
    feed: Feed<S>,
    start: Time,
    /// The source writes no more.
    exhausted: bool,
    selective: Selective,
    vegas: Vegas,
    fack: Fack,
}

/// What ns-2's own agent counts, since measuring began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ns2Counts {
    /// Packets acknowledged cumulatively, the SYN included (ns-2's ack_ + 1).
    pub acked: u64,
    /// Packets sent, the SYN and retransmissions included (ndatapack_).
    pub sent: u64,
    /// Packets sent that had been sent before (nrexmitpack_).
    pub sent_again: u64,
    /// Timeouts with data outstanding (nrexmit_).
    pub timeouts: u64,
    /// Acknowledgements received (nackpack_).
    pub acks: u64,
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
    /// A sender of `flow` whose source begins at `start` and, if one is given, ends at `stop`. The writes of `source` carry
    /// times of the run and take their draws from `rng`; `phase` is how long before time zero the clock ticked last.
    pub fn new(
        flow: u32,
        params: &Ns2Params,
        source: S,
        rng: Stream,
        phase: Span,
        start: Time,
        stop: Option<Time>,
    ) -> Self {
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
            report: SenderReport::default(),
            counts: Ns2Counts::default(),
            feed: Feed::new(source, rng, stop),
            start,
            exhausted: false,
            selective: Selective::new(),
            vegas: Vegas::new(params),
            fack: Fack::new(),
        }
    }

    /// The number of its flow in the network.
    pub fn set_flow(&mut self, flow: u32) {
        self.flow = flow;
    }

    /// What it has done, in the terms of every sender.
    pub fn report(&self) -> &SenderReport {
        &self.report
    }

    /// What it has done, in the terms of ns-2.
    pub fn counts(&self) -> &Ns2Counts {
        &self.counts
    }

    /// The congestion window in packets; fractions count towards its growth.
    pub fn cwnd(&self) -> f64 {
        self.cwnd
    }

    /// The state of the moment.
    pub fn gauges(&self) -> Gauges {
        let bytes = |packets: i64| self.payload * u64::try_from(packets).unwrap_or(0);
        Gauges {
            cwnd_bytes: u64::try_from(truncated(self.cwnd * real(integer(self.payload))))
                .unwrap_or(0),
            ssthresh_bytes: Some(bytes(self.ssthresh)),
            in_flight_bytes: bytes(self.max_sent - self.highest_ack),
            srtt: self.rtt.smoothed(),
            rto: self.rtt.rto(),
        }
    }

    /// What it is doing about losses.
    pub fn phase(&self) -> Phase {
        let repairs = self.highest_ack < self.recover;
        match self.last_action {
            Action::DupAcks if repairs => Phase::Recovery,
            Action::Timeout if repairs => Phase::Loss,
            Action::Ecn if repairs => Phase::Reducing,
            _ if self.dupacks > 0 => Phase::Disorder,
            _ => Phase::Open,
        }
    }

    /// Where its data comes from.
    pub fn source(&self) -> &S {
        self.feed.source()
    }

    /// What the sender may have outstanding, whole packets.
    #[inline]
    fn send_window(&self) -> i64 {
        (truncated(self.cwnd) + self.inflation).min(self.window)
    }

    /// Sends what the window allows, at most `most` packets.
    fn send_all<H: Host>(&mut self, most: u32, host: &mut H) {
        match self.recovery {
            Ns2Recovery::Sack => return self.send_selectively(host),
            Ns2Recovery::Fack => return self.send_forward(host),
            _ => {}
        }
        if self.next == 0 {
            self.vegas.begin(host.seconds());
        }
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
        if self.recovery == Ns2Recovery::Vegas {
            return self.output_vegas(number, host);
        }
        let syn = number == 0;
        let again = number <= self.max_sent;
        self.counts.sent += 1;
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
            self.counts.sent_again += 1;
            self.report.retransmissions += u64::from(!syn);
            self.report.handshake_retransmissions += u64::from(syn);
        } else {
            self.note_new(number, host.now());
        }
        if nothing_outstanding || !self.timer_is_set() {
            self.set_timer(host);
        }
    }

    /// Packet `number` has been sent for the first time.
    fn note_new(&mut self, number: i64, now: Time) {
        self.max_sent = number;
        if self.timed.is_none() && number > self.last_timed {
            self.timed = Some((number, now));
            self.last_timed = number;
        }
        self.report.started.get_or_insert(now);
    }

    /// Whether the retransmission timer runs.
    fn timer_is_set(&self) -> bool {
        self.timers.deadline(RETRANSMIT).is_some()
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
            Ns2Recovery::Sack | Ns2Recovery::Vegas | Ns2Recovery::Fack => {}
        }
    }

    fn on_new_ack<H: Host>(&mut self, acked: i64, flags: Flags, host: &mut H) {
        let in_recovery = self.last_action == Action::DupAcks;
        match self.recovery {
            Ns2Recovery::Tahoe | Ns2Recovery::Sack => {}
            Ns2Recovery::Vegas | Ns2Recovery::Fack => {}
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
        self.take_new_ack(acked, flags, host);
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

    /// Takes note of an acknowledgement of new packets: round-trip time and timer.
    fn take_new_ack<H: Host>(&mut self, acked: i64, flags: Flags, host: &mut H) {
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
            self.report.record_rtt(now.since(sent));
        }
        // After `advance` something is always to come (next > acked), so the timer always restarts.
        self.set_timer(host);
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
        self.end_timing(acked);
        self.output(acked + 1, host);
    }

    /// The back-off ends with the packet that is timed, which gives no sample here.
    fn end_timing(&mut self, acked: i64) {
        if self.timed.is_some_and(|(number, _)| acked >= number) {
            self.timed = None;
            self.rtt.end_back_off();
        }
    }

    /// Everything up to `acked` has arrived.
    fn advance(&mut self, acked: i64) {
        let packets = u64::try_from(acked - self.highest_ack).unwrap_or(0);
        let syn = u64::from(self.highest_ack == -1 && self.recovery != Ns2Recovery::Vegas);
        self.counts.acked += packets;
        self.report.bytes_acked += (packets - syn) * self.payload;
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
                let inflates = matches!(self.recovery, Ns2Recovery::Reno | Ns2Recovery::NewReno);
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
        match self.recovery {
            Ns2Recovery::Tahoe => self.next = self.highest_ack + 1,
            Ns2Recovery::Reno | Ns2Recovery::NewReno => {
                self.output(self.last_ack + 1, host);
                self.inflation = self.dupack_threshold;
            }
            Ns2Recovery::Sack => {
                self.begin_selective_recovery();
                self.output(self.last_ack + 1, host);
            }
            Ns2Recovery::Vegas | Ns2Recovery::Fack => {}
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
        match self.recovery {
            Ns2Recovery::Vegas => return self.on_vegas_timeout(host),
            Ns2Recovery::Fack => return self.on_fack_timeout(host),
            _ => {}
        }
        self.inflation = 0;
        if self.recovery != Ns2Recovery::Tahoe {
            // ns-2's Tahoe goes on counting the duplicates of before.
            self.dupacks = 0;
        }
        if self.recovery == Ns2Recovery::Sack {
            self.last_ack = self.last_ack.max(self.highest_ack);
            self.selective.on_timeout();
        }
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
                self.counts.timeouts += 1;
                self.report.timeouts += u64::from(self.highest_ack >= 0);
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
        if self.feed.unlimited() {
            self.produced += ENDLESS;
            self.exhausted = true;
            self.send_all(u32::MAX, host);
            return;
        }
        let now = host.now();
        while let Some(due) = self.feed.due() {
            if due > now {
                self.timers.set(WRITE, due, host);
                return;
            }
            let Some(bytes) = self.feed.take() else {
                break;
            };
            self.produced += integer(bytes.div_ceil(self.payload));
            self.send_all(u32::MAX, host);
        }
        self.exhausted = true;
    }

    /// The source ends: what was not sent yet is not sent any more (ns-2's FTP stop).
    fn on_stop(&mut self, now: Time) {
        self.exhausted = true;
        self.timers.clear(WRITE);
        self.produced = self.produced.min(self.max_sent);
        self.note_completion(now);
    }

    fn note_completion(&mut self, now: Time) {
        let done = self.exhausted && self.highest_ack >= 0 && self.highest_ack >= self.produced - 1;
        if done && self.report.completed.is_none() {
            self.report.completed = Some(now);
        }
    }
}

impl<S: Source> Agent for Ns2Sender<S> {
    fn on_start<H: Host>(&mut self, host: &mut H) {
        self.timers.set(WRITE, self.start, host);
        if self.feed.stop() < Time::MAX {
            self.timers.set(STOP, self.feed.stop(), host);
        }
    }

    fn on_packet<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        let acked = integer(packet.ack) - 1;
        self.counts.acks += 1;
        if self.ecn && packet.flags.has(Flags::ECE) {
            self.on_echo(acked);
        }
        match self.recovery {
            Ns2Recovery::Sack | Ns2Recovery::Fack => {}
            Ns2Recovery::Vegas => return self.receive_vegas(acked, packet.flags, host),
            _ => return self.receive(acked, packet.flags, host),
        }
        let side = host.side(packet).unwrap_or_default();
        let told = side.sack.into_iter().filter(|&block| block != (0, 0));
        let packets = told.map(|(first, end)| (integer(first), integer(end)));
        if self.recovery == Ns2Recovery::Fack {
            let (packets, sent) = (Vec::from_iter(packets), Time::from_ps(side.timestamps.1));
            return self.receive_fack(acked, &packets, sent, packet.flags, host);
        }
        self.receive_selective(acked, packets, packet.flags, host);
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
        self.report.start_measuring();
        self.counts = Ns2Counts::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::tests::Script;
    use crate::tcp::double::Bench;
    use sojourn_units::check_declaration;

    fn started(recovery: Ns2Recovery, packets: u64) -> (Ns2Sender<Script>, Bench) {
        let params = Ns2Params {
            recovery,
            window: sojourn_units::Packets::new(1000),
            ..Ns2Params::default()
        };
        let rng = Stream::derive(0, 0, "test");
        let source = Script::bytes(packets * 1000);
        let mut sender = Ns2Sender::new(0, &params, source, rng, Span::ZERO, Time::ZERO, None);
        let mut bench = Bench::default();
        sender.on_start(&mut bench);
        bench.pass(Span::ZERO, &mut sender);
        (sender, bench)
    }

    fn numbers(bench: &mut Bench) -> Vec<u64> {
        bench.take().iter().map(|packet| packet.seq).collect()
    }

    /// Acknowledges everything up to packet `last`, each packet by itself, `ms` after the last time.
    fn ack_up_to(last: u64, sender: &mut Ns2Sender<Script>, bench: &mut Bench) {
        bench.pass(Span::from_ms(50), sender);
        let from = u64::try_from(sender.highest_ack + 1).unwrap();
        for number in from..=last {
            bench.ack(number + 1, sender);
        }
    }

    #[test]
    fn the_declaration_holds_together() {
        assert_eq!(check_declaration::<Ns2Params>(), Ok(()));
    }

    #[test]
    fn the_syn_goes_alone_and_two_packets_follow_its_acknowledgement() {
        let (mut sender, mut bench) = started(Ns2Recovery::Reno, 10);
        let syn = bench.take();
        assert_eq!((syn.len(), syn[0].seq, syn[0].size), (1, 0, 40));
        ack_up_to(0, &mut sender, &mut bench);
        let data = bench.take();
        assert_eq!((data.len(), data[1].seq, data[1].size), (2, 2, 1040));
    }

    #[test]
    fn slow_start_sends_two_packets_for_each_acknowledgement() {
        let (mut sender, mut bench) = started(Ns2Recovery::Reno, 100);
        ack_up_to(0, &mut sender, &mut bench);
        bench.take();
        ack_up_to(2, &mut sender, &mut bench);
        assert_eq!(numbers(&mut bench), [3, 4, 5, 6]);
        assert_eq!(sender.cwnd(), 4.0);
    }

    #[test]
    fn early_duplicates_send_one_packet_each_and_the_third_the_lost_one() {
        let (mut sender, mut bench) = started(Ns2Recovery::Reno, 100);
        for last in [0, 2, 6] {
            ack_up_to(last, &mut sender, &mut bench);
        }
        assert_eq!(
            (sender.cwnd(), numbers(&mut bench).last()),
            (8.0, Some(&14))
        );
        let mut after = |bench: &mut Bench| {
            bench.ack(7, &mut sender);
            (numbers(bench), sender.cwnd(), sender.send_window())
        };
        assert_eq!(after(&mut bench), (vec![15], 8.0, 8));
        assert_eq!(after(&mut bench), (vec![16], 8.0, 8));
        assert_eq!(
            after(&mut bench),
            (vec![7], 4.0, 7),
            "half, and three for the duplicates"
        );
        assert_eq!(after(&mut bench), (vec![], 4.0, 8));
    }

    #[test]
    fn a_partial_acknowledgement_sends_the_next_hole_in_newreno_and_ends_recovery_in_reno() {
        for (recovery, sent, dupacks) in [
            (Ns2Recovery::Reno, vec![], 0),
            (Ns2Recovery::NewReno, vec![9], 3),
        ] {
            let (mut sender, mut bench) = started(recovery, 100);
            for last in [0, 2, 6] {
                ack_up_to(last, &mut sender, &mut bench);
            }
            for _ in 0..3 {
                bench.ack(7, &mut sender);
            }
            bench.take();
            bench.ack(9, &mut sender);
            assert_eq!((numbers(&mut bench), sender.dupacks), (sent, dupacks));
        }
    }

    #[test]
    fn a_lost_syn_is_sent_again_after_three_seconds_and_shrinks_the_first_window() {
        let (mut sender, mut bench) = started(Ns2Recovery::Reno, 10);
        bench.take();
        bench.pass(Span::from_ms(2999), &mut sender);
        assert_eq!(numbers(&mut bench), []);
        bench.pass(Span::from_ms(1), &mut sender);
        let again = bench.take();
        assert_eq!((again.len(), again[0].seq), (1, 0));
        assert!(again[0].flags.has(Flags::CWR), "any reduction is announced");
        ack_up_to(0, &mut sender, &mut bench);
        assert_eq!(numbers(&mut bench), [1]);
        let (counts, report) = (sender.counts(), sender.report());
        assert_eq!((counts.timeouts, counts.sent_again), (1, 1));
        assert_eq!((report.timeouts, report.handshake_retransmissions), (0, 1));
    }

    #[test]
    fn a_finite_transfer_completes_with_its_last_acknowledgement() {
        let (mut sender, mut bench) = started(Ns2Recovery::NewReno, 4);
        for last in [0, 2, 3] {
            ack_up_to(last, &mut sender, &mut bench);
            assert_eq!(sender.report().completed, None);
        }
        ack_up_to(4, &mut sender, &mut bench);
        assert_eq!(sender.report().completed, Some(bench.now));
        assert_eq!(sender.report().bytes_acked, 4000);
        assert_eq!(sender.counts().sent, 5);
    }

    #[test]
    fn marks_halve_the_window_once_per_window_of_data() {
        let params = Ns2Params {
            ecn: true,
            window: sojourn_units::Packets::new(1000),
            ..Ns2Params::default()
        };
        let rng = Stream::derive(0, 0, "test");
        let source = Script::bytes(100_000);
        let mut sender = Ns2Sender::new(0, &params, source, rng, Span::ZERO, Time::ZERO, None);
        let mut bench = Bench::default();
        sender.on_start(&mut bench);
        bench.pass(Span::ZERO, &mut sender);
        assert!(
            bench.take()[0].flags.has(Flags::ECE),
            "the SYN asks for ECN"
        );
        bench.ack_with(1, Flags::ECE, &mut sender);
        for last in [2, 6] {
            ack_up_to(last, &mut sender, &mut bench);
        }
        assert_eq!(sender.cwnd(), 8.0);
        assert!(
            bench
                .take()
                .iter()
                .all(|packet| packet.tos == Ecn::Ect0.bits())
        );
        bench.ack_with(8, Flags::ECE, &mut sender);
        bench.ack_with(9, Flags::ECE, &mut sender);
        assert_eq!((sender.cwnd(), sender.report().ecn_reductions), (4.0, 1));
    }
}
