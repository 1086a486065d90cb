//! The sending end of a connection.
//!
//! Sources: RFC 9293 section 3.5 (three-way handshake), RFC 5681 (windows, restart after idle), RFC 6298 section 5 (timer),
//! RFC 3168 sections 6.1.1, 6.1.2 and 6.1.5 (ECN). Deviations are listed in [`crate::tcp`].
//!
//! One segment is timed at a time (RFC 6298 section 3); any retransmission ends the measurement, because what is
//! acknowledged after it may have waited for it. After a timeout everything from the first unacknowledged byte on is
//! sent again as the window opens, except what acknowledgements skip.

use super::params::{InitialWindow, TcpParams};
use super::recovery::{LossRecovery, OnDuplicate, OnNew};
use super::rto::Rto;
use super::timer_wheel::TimerWheel;
use super::unused::Unused;
use crate::app::{Feed, Source};
use crate::report::{Gauges, SenderReport};
use sojourn_cc::{
    Acked, AnyCc, Congestion, CongestionControl, CongestionKind, Expiry, Phase, Sent, Stage, Start,
    reduce,
};
use sojourn_sim::{Agent, Ecn, Flags, Host, Kind, Outgoing, Packet, Stream, Timers};
use sojourn_units::{Span, Time};
use std::collections::VecDeque;

/// Timers, in the order in which those due at one instant fire.
const RETRANSMIT: usize = 0;
const APPLICATION: usize = 1;

/// Sequence number of the first data byte; the SYN has number 0.
pub(crate) const FIRST_BYTE: u64 = 1;

/// What a sender is made of.
#[derive(Debug)]
pub struct TcpConfig<S> {
    /// The number of its flow in the network.
    pub flow: u32,
    /// Its parameters, those of the receiver too.
    pub params: TcpParams,
    /// Its congestion control, not started.
    pub cc: AnyCc,
    /// Where its data comes from.
    pub source: S,
    /// The random stream of the source.
    pub rng: Stream,
    /// When the connection is opened.
    pub start: Time,
    /// From when on the source gives no more data.
    pub stop: Option<Time>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Nothing was sent.
    Closed,
    /// A SYN is unanswered.
    SynSent,
    Established,
}

/// The sending end of a connection. What every acknowledgement touches comes first.
#[derive(Debug)]
#[repr(C)]
pub struct TcpSender<S> {
    /// First byte that is not acknowledged.
    una: u64,
    /// Byte to send next; behind `max` while data is sent again after a timeout.
    nxt: u64,
    /// One past the highest byte sent.
    max: u64,
    /// One past the last byte that the application has written; `u64::MAX` without end.
    end: u64,
    /// Most bytes in flight that the receiver allows.
    window: u64,
    /// The segment that is timed: one past its last byte, 0 if none is.
    timed_end: u64,
    /// When that segment was sent.
    timed_at: Time,
    /// When the last segment left.
    last_sent: Time,
    /// Bytes acknowledged in the measured part of the run.
    bytes_acked: u64,
    /// Payload of a full segment, bytes.
    mss: u64,
    /// What segments in flight take of the window beyond their bytes, where it counts packets.
    padding: u64,
    /// Bytes of the headers of a segment.
    headers: u32,
    /// The number of the flow in the network.
    flow: u32,
    /// How far the connection is open.
    state: State,
    /// ECN was negotiated.
    ecn: bool,
    /// The next new segment carries CWR.
    cwr_due: bool,
    /// The congestion window was what ended the last sending.
    held_by_window: bool,
    /// The window begins anew after silence.
    idle_restart: bool,
    /// It halves for each timeout of silence instead.
    idle_decay: bool,
    /// The window counts packets.
    counts_packets: bool,
    /// A fast retransmit restarts the timer.
    restart_timer: bool,
    /// A window that is not used does not grow.
    validate_window: bool,
    /// Nagle's algorithm holds back what does not fill a segment.
    nagle: bool,
    /// The retransmission timer and the source.
    timers: Timers<2>,
    /// The repair of losses.
    recovery: LossRecovery,
    /// The congestion control.
    cc: AnyCc,
    /// The retransmission timeout.
    rto: Rto,
    /// The granularity of timers.
    timer_wheel: TimerWheel,
    /// What is not needed for every acknowledgement.
    cold: Box<Cold<S>>,
}

/// What is not needed for every acknowledgement.
#[derive(Debug)]
struct Cold<S> {
    feed: Feed<S>,
    initial_window: InitialWindow,
    /// The timeout with which data begins after a lost SYN; without one the handshake is measured all the same.
    lost_syn_rto: Option<Span>,
    start: Time,
    unused: Unused,
    /// One past the highest byte sent when an ECN echo last reduced the window.
    ecn_recover: u64,
    /// The first unacknowledged byte when the timer last fired.
    timeout_una: u64,
    /// One past the last byte of each segment in flight that takes more of the window than its bytes, and how much more.
    small: VecDeque<(u64, u64)>,
    wants_ecn: bool,
    bound_flight: bool,
    /// Retransmissions of the SYN.
    syns_lost: u32,
    report: SenderReport,
}

impl<S: Source> TcpSender<S> {
    /// A sender that has not begun.
    pub fn new(config: TcpConfig<S>) -> TcpSender<S> {
        let TcpConfig {
            flow,
            params,
            cc,
            source,
            rng,
            start,
            stop,
        } = config;
        let feed = Feed::new(source, rng, stop);
        TcpSender {
            una: 0,
            nxt: 0,
            max: 0,
            end: if feed.unlimited() {
                u64::MAX
            } else {
                FIRST_BYTE
            },
            window: params.window.map_or(u64::MAX, |window| window.get()),
            timed_end: 0,
            timed_at: Time::ZERO,
            last_sent: Time::ZERO,
            bytes_acked: 0,
            recovery: LossRecovery::new(&params),
            validate_window: params.validate_window || cc.traits().validates,
            cc,
            timers: Timers::default(),
            rto: Rto::new(&params),
            timer_wheel: TimerWheel::new(params.jiffy),
            mss: params.mss.get(),
            padding: 0,
            headers: u32::try_from(params.headers.get()).unwrap_or(u32::MAX),
            flow,
            state: State::Closed,
            ecn: false,
            cwr_due: false,
            held_by_window: false,
            idle_restart: params.idle_restart && !params.idle_decay,
            idle_decay: params.idle_restart && params.idle_decay,
            counts_packets: params.count_packets,
            restart_timer: params.restart_timer,
            nagle: params.nagle,
            cold: Box::new(Cold {
                feed,
                initial_window: params.initial_windows(),
                lost_syn_rto: params.lost_syn_rto,
                start,
                unused: Unused::new(&params),
                ecn_recover: 0,
                timeout_una: u64::MAX,
                small: VecDeque::new(),
                bound_flight: params.bound_flight,
                wants_ecn: params.ecn,
                syns_lost: 0,
                report: SenderReport::default(),
            }),
        }
    }

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
            cwnd_bytes: self.cc.cwnd(),
            ssthresh_bytes: (ssthresh != u64::MAX).then_some(ssthresh),
            in_flight_bytes: self.nxt - self.una,
            srtt: self.rto.srtt(),
            rto: self.rto.timeout(),
        }
    }

    /// What it is doing about losses.
    pub fn phase(&self) -> Phase {
        match self.recovery.phase(self.una) {
            Phase::Open | Phase::Disorder if self.una < self.cold.ecn_recover => Phase::Reducing,
            phase => phase,
        }
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

    /// Bytes in flight as the congestion control hears of them (FlightSize).
    #[inline]
    fn in_flight(&self) -> u64 {
        self.nxt - self.una + self.padding
    }

    /// The least bytes of the window that a segment takes: a full one where the window counts packets.
    #[inline]
    fn least(&self) -> u64 {
        match self.counts_packets {
            true => self.mss,
            false => 0,
        }
    }

    /// The next segment has left.
    #[inline]
    fn advance(&mut self, bytes: u64) {
        self.nxt += bytes;
        let more = self.least().saturating_sub(bytes);
        if more > 0 {
            self.padding += more;
            self.cold.small.push_back((self.nxt, more));
        }
    }

    /// What the segments up to the first unacknowledged byte took of the window beyond their bytes.
    fn take_padding(&mut self) -> u64 {
        let before = self.padding;
        while let Some(&(end, more)) = self.cold.small.front()
            && end <= self.una
        {
            self.cold.small.pop_front();
            self.padding -= more;
        }
        before - self.padding
    }

    #[inline]
    fn arm_retransmit<H: Host>(&mut self, host: &mut H) {
        let at = self.timer_wheel.expiry(host.now(), self.rto.timeout());
        self.timers.set(RETRANSMIT, at, host);
    }

    // Connection.

    fn open<H: Host>(&mut self, host: &mut H) {
        self.state = State::SynSent;
        self.cold.report.started = Some(host.now());
        self.timed_at = host.now();
        self.send_syn(host);
    }

    fn send_syn<H: Host>(&mut self, host: &mut H) {
        let mut flags = Flags::SYN;
        if self.cold.wants_ecn {
            flags = flags.with(Flags::ECE).with(Flags::CWR);
        }
        if self.cold.syns_lost > 0 {
            flags = flags.with(Flags::RETRANSMIT);
        }
        host.send(
            self.flow,
            Outgoing {
                size: self.headers,
                kind: Kind::Segment,
                flags,
                ..Outgoing::default()
            },
        );
        self.arm_retransmit(host);
    }

    fn establish<H: Host>(&mut self, syn_ack: &Packet, host: &mut H) {
        let now = host.now();
        self.state = State::Established;
        self.una = FIRST_BYTE;
        self.nxt = FIRST_BYTE;
        self.max = FIRST_BYTE;
        self.last_sent = now;
        self.cold.unused.begin(now);
        self.timers.clear(RETRANSMIT);
        let initial_window = self.cold.initial_window.after(self.cold.syns_lost);
        if self.cold.syns_lost > 0 && self.cold.lost_syn_rto.is_some() {
            self.rto.restart_after_lost_syn(self.cold.lost_syn_rto);
        } else {
            self.sample(now.since(self.timed_at));
        }
        self.ecn =
            self.cold.wants_ecn && syn_ack.flags.has(Flags::ECE) && !syn_ack.flags.has(Flags::CWR);
        self.cc.on_start(&Start {
            now,
            mss: self.mss,
            initial_window,
            ..Start::default()
        });
        self.send_bare_ack(host);
        self.check_completion(now);
        self.send_allowed(host);
    }

    /// The third packet of the handshake.
    fn send_bare_ack<H: Host>(&self, host: &mut H) {
        host.send(
            self.flow,
            Outgoing {
                size: self.headers,
                seq: self.nxt,
                ack: FIRST_BYTE,
                kind: Kind::Ack,
                ..Outgoing::default()
            },
        );
    }

    // Application.

    /// Takes the writes that are due, and the end of an unlimited source.
    fn on_application<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        if self.state == State::Closed {
            self.open(host);
        }
        let (end, wake) = self
            .cold
            .feed
            .collect(now, self.end, self.max.max(FIRST_BYTE));
        self.end = end;
        if let Some(at) = wake {
            self.timers.set(APPLICATION, at, host);
        }
        if self.state == State::Established {
            self.check_completion(now);
            self.send_allowed(host);
        }
    }

    /// The application writes more than its source announced.
    pub fn write<H: Host>(&mut self, bytes: u64, host: &mut H) {
        self.end = self.end.saturating_add(bytes);
        if self.state == State::Established {
            self.send_allowed(host);
        }
    }

    /// Whether all that was written has been acknowledged.
    pub fn is_idle(&self) -> bool {
        self.state == State::Established && self.una == self.end && self.source_has_ended()
    }

    fn check_completion(&mut self, now: Time) {
        if self.una == self.end && self.source_has_ended() && self.cold.report.completed.is_none() {
            self.cold.report.completed = Some(now);
        }
    }

    fn source_has_ended(&self) -> bool {
        self.end != u64::MAX && self.cold.feed.due().is_none()
    }

    // Sending.

    /// Sends what window and application allow.
    #[inline]
    fn send_allowed<H: Host>(&mut self, host: &mut H) {
        match self.idle_decay {
            true => self.send_decayed(host),
            false => self.send_by_window(host),
        }
    }

    /// The same where a window decays that is not used.
    fn send_decayed<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        if self.max == self.una && self.end > self.nxt {
            let silence = (now, now.since(self.last_sent));
            let (timeout, window) = (self.rto.timeout(), self.cc.cwnd());
            if let Some(window) = self.cold.unused.after_silence(silence, timeout, window) {
                self.cc.on_decay(window);
            }
        }
        let before = self.max;
        self.send_by_window(host);
        if self.max > before || self.held_by_window {
            self.note_unused(now);
        }
    }

    /// What was sent does or does not use the window up (tcp_cwnd_validate).
    fn note_unused(&mut self, now: Time) {
        let in_flight = self.in_flight();
        if self.limited(in_flight) {
            self.cold.unused.begin(now);
            return;
        }
        let open = self.recovery.phase(self.una) == Phase::Open && self.nxt == self.end;
        let (times, window) = ((now, self.rto.timeout()), self.cc.cwnd());
        if let Some(window) = self.cold.unused.after_use(times, in_flight, window, open) {
            self.cc.on_decay(window);
        }
    }

    #[inline]
    fn send_by_window<H: Host>(&mut self, host: &mut H) {
        let mut cwnd = self.recovery.window(self.cc.cwnd());
        loop {
            let segment = self.mss.min(self.end - self.nxt);
            if segment == 0 {
                self.held_by_window = false;
                return;
            }
            let in_flight = self.in_flight();
            let counted = in_flight + segment.max(self.least());
            if counted > cwnd || self.nxt - self.una + segment > self.window {
                self.held_by_window = counted > cwnd;
                return;
            }
            if self.nagle && segment < self.mss && in_flight > 0 && !self.source_has_ended() {
                self.held_by_window = false;
                return;
            }
            self.transmit(self.nxt, segment, host);
            self.advance(segment);
            if in_flight == 0 {
                // The first segment after idle time may have restarted the window.
                cwnd = self.recovery.window(self.cc.cwnd());
            }
        }
    }

    /// One new segment beyond the congestion window (RFC 3042).
    fn limited_transmit<H: Host>(&mut self, beyond: u64, host: &mut H) {
        let segment = self.mss.min(self.end - self.nxt);
        let fits = self.in_flight() + segment.max(self.least()) <= self.cc.cwnd() + beyond
            && self.nxt - self.una + segment <= self.window;
        if segment > 0 && self.nxt == self.max && fits {
            self.transmit(self.nxt, segment, host);
            self.advance(segment);
            self.recovery.on_limited_transmit(segment);
        }
    }

    /// The first unacknowledged segment again.
    fn retransmit_first<H: Host>(&mut self, host: &mut H) {
        let segment = self.mss.min(self.max - self.una);
        self.transmit(self.una, segment, host);
    }

    #[inline]
    fn transmit<H: Host>(&mut self, seq: u64, bytes: u64, host: &mut H) {
        let now = host.now();
        let new = seq >= self.max;
        let mut flags = Flags::NONE;
        let mut ecn = Ecn::NotEct;
        if new {
            if self.timed_end == 0 {
                self.timed_end = seq + bytes;
                self.timed_at = now;
            }
            if self.ecn {
                ecn = Ecn::Ect0;
                if self.cwr_due {
                    self.cwr_due = false;
                    flags = Flags::CWR;
                }
            }
        } else {
            flags = Flags::RETRANSMIT;
            self.timed_end = 0;
            self.cold.report.retransmissions += 1;
        }
        self.max = self.max.max(seq + bytes);
        let in_flight = (self.nxt.max(seq + bytes)) - self.una;
        let after_idle = self.idle_restart
            && in_flight == bytes
            && now.since(self.last_sent) > self.rto.timeout();
        self.last_sent = now;
        self.cc.on_sent(&Sent {
            now,
            bytes,
            in_flight,
            retransmission: !new,
            after_idle,
            app_limited: false,
        });
        if self.timers.deadline(RETRANSMIT).is_none() {
            self.arm_retransmit(host);
        }
        host.send(
            self.flow,
            Outgoing {
                size: self.headers + narrow(bytes),
                seq,
                ack: FIRST_BYTE,
                kind: Kind::Segment,
                tos: ecn.bits(),
                flags,
            },
        );
    }

    // Acknowledgements.

    fn sample(&mut self, rtt: Span) {
        self.rto.sample(rtt, self.una, self.nxt);
        self.cold.report.record_rtt(rtt);
    }

    #[inline]
    fn on_new_ack<H: Host>(&mut self, ack: u64, echo: bool, host: &mut H) {
        let now = host.now();
        let flight_before = self.in_flight();
        let mut bytes = ack - self.una;
        self.una = ack;
        self.nxt = self.nxt.max(ack);
        self.bytes_acked += bytes;
        if self.padding > 0 {
            bytes += self.take_padding();
        }
        let mut rtt = None;
        if self.timed_end != 0 && ack >= self.timed_end {
            self.timed_end = 0;
            let measured = now.since(self.timed_at);
            self.sample(measured);
            rtt = Some(measured);
        }
        let in_flight = self.in_flight();
        let means = self.recovery.on_new(ack, bytes, in_flight);
        let (stage, restart_timer) = match means {
            OnNew::Open => (Stage::Open, true),
            OnNew::Full(stage) => (stage, true),
            OnNew::Partial { restart_timer } => (Stage::Recovery, restart_timer),
        };
        self.cc.on_ack(&Acked {
            now,
            bytes,
            in_flight,
            rtt,
            echo,
            limited: self.limited(flight_before),
            stage,
        });
        if self.una == self.max {
            self.timers.clear(RETRANSMIT);
            if self.una == self.end {
                self.check_completion(now);
            }
        } else if restart_timer {
            self.arm_retransmit(host);
        }
        if stage == Stage::Recovery {
            self.retransmit_first(host);
        }
        self.send_allowed(host);
    }

    /// Whether the congestion window has held the sender back: it ended the last sending or, in slow start, less than
    /// twice the flight fits it (RFC 7661 section 4.1 asks for half).
    #[inline]
    fn limited(&self, flight: u64) -> bool {
        !self.validate_window
            || self.held_by_window
            || (self.cc.cwnd() < self.cc.ssthresh() && self.cc.cwnd() < 2 * flight)
    }

    fn on_duplicate_ack<H: Host>(&mut self, host: &mut H) {
        match self.recovery.on_duplicate(self.una, self.cc.cwnd()) {
            OnDuplicate::Nothing => {}
            OnDuplicate::LimitedTransmit { beyond } => self.limited_transmit(beyond, host),
            OnDuplicate::Retransmit => self.fast_retransmit(host),
            OnDuplicate::Send => self.send_allowed(host),
        }
    }

    fn fast_retransmit<H: Host>(&mut self, host: &mut H) {
        // A loss from a window that an echo has already reduced does not reduce it again (RFC 3168 section 6.1.2).
        if self.una >= self.cold.ecn_recover {
            self.congested(CongestionKind::Loss, host.now());
        }
        self.recovery.enter(self.max);
        self.cold.report.fast_recoveries += 1;
        if self.restart_timer {
            self.arm_retransmit(host);
        }
        self.retransmit_first(host);
        self.send_allowed(host);
    }

    /// Tells the congestion control, and the receiver with the next new segment (RFC 3168 section 6.1.2).
    fn congested(&mut self, kind: CongestionKind, now: Time) {
        let congestion = Congestion {
            now,
            kind,
            in_flight: self.recovery.outstanding(self.in_flight()),
            mss: self.mss,
        };
        match self.cold.bound_flight {
            true => reduce(&mut self.cc, &congestion),
            false => self.cc.on_congestion(&congestion),
        }
        self.cwr_due = self.ecn;
    }

    /// An acknowledgement up to `ack` carries an ECN echo: the first of a window of data reduces it.
    fn on_echo(&mut self, ack: u64, now: Time) {
        if ack > self.cold.ecn_recover && ack > self.recovery.recover() && !self.recovery.active() {
            self.congested(CongestionKind::Ecn, now);
            self.cold.ecn_recover = self.max;
            self.cold.report.ecn_reductions += 1;
        }
    }

    // Timer.

    fn on_timeout<H: Host>(&mut self, host: &mut H) {
        self.rto.back_off();
        if self.state == State::SynSent {
            self.cold.syns_lost += 1;
            self.cold.report.handshake_retransmissions += 1;
            if self.cold.lost_syn_rto.is_none() {
                self.timed_at = host.now();
            }
            self.send_syn(host);
            return;
        }
        self.cold.report.timeouts += 1;
        let again = self.cold.timeout_una == self.una;
        self.cold.timeout_una = self.una;
        let expiry = Expiry { again, kept: 0 };
        self.congested(CongestionKind::Timeout(expiry), host.now());
        self.recovery.on_timeout(self.max);
        self.timed_end = 0;
        self.nxt = self.una;
        self.padding = 0;
        self.cold.small.clear();
        self.arm_retransmit(host);
        self.send_allowed(host);
    }
}

impl<S: Source> Agent for TcpSender<S> {
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
                    // Our acknowledgement of it was lost, or both ends resent.
                    State::Established => self.send_bare_ack(host),
                }
            }
            return;
        }
        let ack = packet.ack;
        let echo = self.ecn && packet.flags.has(Flags::ECE);
        if echo {
            self.on_echo(ack, host.now());
        }
        if ack > self.una {
            self.on_new_ack(ack, echo, host);
        } else if ack == self.una && self.max > self.una {
            self.on_duplicate_ack(host);
        }
    }

    fn on_wake<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        while let Some(timer) = self.timers.due(now) {
            if timer == RETRANSMIT {
                self.on_timeout(host);
            } else {
                self.on_application(host);
            }
        }
        self.timers.relist(host);
    }

    fn start_measuring(&mut self, _now: Time) {
        self.bytes_acked = 0;
        self.cold.report.start_measuring();
    }
}

/// A segment's payload has at most 65 495 bytes.
#[inline]
fn narrow(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::tests::Script;
    use crate::tcp::double::Bench;
    use sojourn_cc::registry;
    use sojourn_units::Params;

    const MSS: u64 = 1460;

    fn closed(pairs: &[(&str, &str)], source: Script) -> (TcpSender<Script>, Bench) {
        let mut params = TcpParams::default();
        for (key, value) in pairs {
            params.set(key, value).unwrap();
        }
        let mut sender = TcpSender::new(TcpConfig {
            flow: 0,
            params,
            cc: registry::build("reno", None, &[]).unwrap(),
            source,
            rng: Stream::derive(0, 0, "test"),
            start: Time::ZERO,
            stop: None,
        });
        let mut bench = Bench::default();
        sender.on_start(&mut bench);
        bench.pass(Span::ZERO, &mut sender);
        (sender, bench)
    }

    /// A connection established after 100 ms.
    fn open(pairs: &[(&str, &str)], source: Script) -> (TcpSender<Script>, Bench) {
        let (mut sender, mut bench) = closed(pairs, source);
        bench.pass(Span::from_ms(100), &mut sender);
        bench.take();
        bench.ack_with(1, Flags::SYN.with(Flags::ECE), &mut sender);
        (sender, bench)
    }

    /// Numbers of the data segments sent since the last call, from 0.
    fn segments(bench: &mut Bench) -> Vec<u64> {
        let sent = bench.take();
        let data = sent.iter().filter(|out| out.size > 40);
        data.map(|out| (out.seq - FIRST_BYTE) / MSS).collect()
    }

    /// The acknowledgement that expects segment `n`.
    fn upto(n: u64) -> u64 {
        FIRST_BYTE + n * MSS
    }

    #[test]
    fn the_hot_state_stays_small() {
        assert!(
            size_of::<TcpSender<Script>>() <= 512,
            "{}",
            size_of::<TcpSender<Script>>()
        );
    }

    #[test]
    fn the_handshake_comes_before_data() {
        let (mut sender, mut bench) = closed(&[], Script::Unlimited);
        let syn = bench.take();
        assert_eq!((syn.len(), syn[0].flags, syn[0].size), (1, Flags::SYN, 40));
        bench.ack(1, &mut sender);
        assert!(
            bench.take().is_empty(),
            "an answer without SYN opens nothing"
        );
        bench.ack_with(1, Flags::SYN, &mut sender);
        let sent = bench.take();
        assert_eq!((sent[0].kind, sent[0].size), (Kind::Ack, 40));
        assert_eq!(sent.len(), 11);
        bench.ack_with(1, Flags::SYN, &mut sender);
        assert_eq!(
            bench.take().len(),
            1,
            "the answer again is acknowledged again"
        );
    }

    #[test]
    fn one_lost_syn_leaves_the_initial_window_and_the_limit_costs_it() {
        // RFC 6928 section 2; RFC 5681 section 3.1; no limit.
        for (limit, lost, sent) in [
            ("2", 1, 10),
            ("2", 2, 1),
            ("1", 1, 1),
            ("3", 2, 10),
            ("none", 5, 10),
        ] {
            let (mut sender, mut bench) = closed(&[("syn_losses", limit)], Script::Unlimited);
            for n in 0..lost {
                bench.pass(Span::from_secs(1 << n), &mut sender);
            }
            bench.take();
            bench.ack_with(1, Flags::SYN, &mut sender);
            assert_eq!(segments(&mut bench).len(), sent, "{limit} {lost}");
        }
    }

    #[test]
    fn a_lost_syn_is_sent_again_with_back_off_and_the_second_costs_the_initial_window() {
        let (mut sender, mut bench) = closed(&[], Script::Unlimited);
        bench.pass(Span::from_ms(2999), &mut sender);
        assert_eq!(bench.take().len(), 2);
        bench.pass(Span::from_ms(1), &mut sender);
        assert_eq!(bench.take().len(), 1);
        bench.ack_with(1, Flags::SYN, &mut sender);
        assert_eq!(segments(&mut bench), [0]);
        assert_eq!(sender.gauges().rto, Span::from_secs(3));
        assert_eq!(sender.gauges().srtt, None, "a SYN sent twice is not timed");
        assert_eq!(sender.report().handshake_retransmissions, 2);
        assert_eq!(sender.report().timeouts, 0);
    }

    #[test]
    fn slow_start_sends_two_segments_per_acknowledgement() {
        let (mut sender, mut bench) = open(&[("initial_window", "2")], Script::Unlimited);
        assert_eq!(segments(&mut bench), [0, 1]);
        bench.ack(upto(1), &mut sender);
        assert_eq!(segments(&mut bench), [2, 3]);
        bench.ack(upto(2), &mut sender);
        assert_eq!(segments(&mut bench), [4, 5]);
    }

    #[test]
    fn duplicates_send_new_segments_then_the_lost_one_once() {
        let (mut sender, mut bench) = open(&[], Script::Unlimited);
        assert_eq!(segments(&mut bench).len(), 10);
        bench.ack(upto(0), &mut sender);
        assert_eq!(segments(&mut bench), [10]);
        bench.ack(upto(0), &mut sender);
        assert_eq!(segments(&mut bench), [11]);
        bench.ack(upto(0), &mut sender);
        assert_eq!(segments(&mut bench), [0]);
        // Half of the flight of 10 without the two segments of limited transmit.
        assert_eq!(sender.gauges().ssthresh_bytes, Some(5 * MSS));
        // 12 in flight, the window is 5 + 3 + one for each duplicate: the fifth more lets one go.
        for _ in 0..4 {
            bench.ack(upto(0), &mut sender);
        }
        assert_eq!(segments(&mut bench), []);
        bench.ack(upto(0), &mut sender);
        assert_eq!(segments(&mut bench), [12]);
        // The full acknowledgement: min(ssthresh, flight + 1) = 2 segments.
        bench.ack(upto(12), &mut sender);
        assert_eq!(sender.gauges().cwnd_bytes, 2 * MSS);
        assert_eq!(segments(&mut bench), [13]);
        let report = sender.report();
        assert_eq!((report.retransmissions, report.fast_recoveries), (1, 1));
    }

    #[test]
    fn a_fast_retransmit_restarts_the_timer_if_it_is_to() {
        for (restart, timeouts) in [("true", 0), ("false", 1)] {
            let (mut sender, mut bench) = open(&[("restart_timer", restart)], Script::Unlimited);
            bench.pass(Span::from_ms(900), &mut sender);
            for _ in 0..3 {
                bench.ack(upto(0), &mut sender);
            }
            bench.pass(Span::from_ms(200), &mut sender);
            assert_eq!(sender.report().timeouts, timeouts, "{restart}");
        }
    }

    #[test]
    fn a_partial_acknowledgement_resends_the_next_hole_in_newreno_only() {
        for (recovery, resent) in [("newreno", vec![3]), ("reno", vec![])] {
            let (mut sender, mut bench) = open(&[("recovery", recovery)], Script::Unlimited);
            for _ in 0..3 {
                bench.ack(upto(0), &mut sender);
            }
            bench.take();
            bench.ack(upto(3), &mut sender);
            assert_eq!(segments(&mut bench), resent, "{recovery}");
        }
    }

    #[test]
    fn a_timeout_resends_from_the_first_unacknowledged_byte_and_doubles_the_timer() {
        let (mut sender, mut bench) = open(&[], Script::Unlimited);
        bench.take();
        bench.pass(Span::from_ms(999), &mut sender);
        assert_eq!(segments(&mut bench), []);
        bench.pass(Span::from_ms(1), &mut sender);
        assert_eq!(segments(&mut bench), [0]);
        let gauges = sender.gauges();
        assert_eq!(gauges.cwnd_bytes, MSS);
        assert_eq!(gauges.ssthresh_bytes, Some(5 * MSS));
        bench.pass(Span::from_ms(1999), &mut sender);
        assert_eq!(segments(&mut bench), []);
        bench.pass(Span::from_ms(1), &mut sender);
        assert_eq!(segments(&mut bench), [0]);
        assert_eq!(
            sender.gauges().ssthresh_bytes,
            Some(5 * MSS),
            "held the second time"
        );
        // What was received in between is skipped.
        bench.ack(upto(4), &mut sender);
        assert_eq!(segments(&mut bench), [4, 5]);
        assert_eq!(sender.report().timeouts, 2);
    }

    #[test]
    fn back_off_lasts_until_a_segment_that_was_sent_once_is_acknowledged() {
        let (mut sender, mut bench) = open(&[("initial_window", "1")], Script::Unlimited);
        bench.pass(Span::from_secs(1), &mut sender);
        assert_eq!(sender.gauges().rto, Span::from_secs(2));
        bench.ack(upto(1), &mut sender);
        assert_eq!(sender.gauges().rto, Span::from_secs(2), "Karn");
        let samples = sender.report().rtt_count;
        bench.pass(Span::from_ms(100), &mut sender);
        bench.ack(upto(2), &mut sender);
        assert_eq!(sender.gauges().rto, Span::from_secs(1));
        assert_eq!(sender.report().rtt_count, samples + 1);
    }

    #[test]
    fn a_segment_lost_again_after_a_timeout_is_found_by_duplicates_and_the_timer_comes_back() {
        for (guard, resent) in [("ack_heuristic", vec![4]), ("careful", vec![])] {
            let pairs = [("initial_window", "20"), ("guard", guard)];
            let (mut sender, mut bench) = open(&pairs, Script::Unlimited);
            bench.pass(Span::from_secs(1), &mut sender);
            (1..=4).for_each(|n| bench.ack(upto(n), &mut sender));
            bench.take();
            // Segment 4 is lost a second time, 5 to 7 arrive.
            (0..3).for_each(|_| bench.ack(upto(4), &mut sender));
            assert_eq!(segments(&mut bench).first(), resent.first(), "{guard}");
            assert_eq!(sender.report().timeouts, 1);
            if resent.is_empty() {
                bench.pass(Span::from_secs(2), &mut sender);
                assert_eq!(sender.report().timeouts, 2);
                assert_eq!(sender.gauges().rto, Span::from_secs(4));
                continue;
            }
            bench.ack(upto(20), &mut sender);
            assert_eq!(segments(&mut bench)[0], 20, "new data");
            assert_eq!(sender.gauges().rto, Span::from_secs(2), "Karn");
            bench.pass(Span::from_ms(100), &mut sender);
            bench.ack(upto(21), &mut sender);
            assert_eq!(sender.gauges().rto, Span::from_secs(1));
        }
    }

    #[test]
    fn one_segment_is_timed_at_a_time() {
        let (mut sender, mut bench) = open(&[], Script::Unlimited);
        bench.pass(Span::from_ms(50), &mut sender);
        bench.ack(upto(1), &mut sender);
        bench.ack(upto(2), &mut sender);
        let report = sender.report();
        // The handshake and the first segment; the next one timed is sent now.
        assert_eq!(report.rtt_count, 2);
        assert_eq!(report.rtt_sum_ps, u128::from(Span::from_ms(150).as_ps()));
        assert_eq!(report.rtt_min, Some(Span::from_ms(50)));
    }

    #[test]
    fn the_receivers_window_caps_the_flight() {
        let (mut sender, mut bench) = open(&[("window", "4kB")], Script::Unlimited);
        assert_eq!(segments(&mut bench), [0, 1]);
        bench.ack(upto(2), &mut sender);
        assert_eq!(segments(&mut bench), [2, 3]);
    }

    #[test]
    fn an_echo_halves_the_window_once_per_round_trip_and_is_answered_with_cwr() {
        let (mut sender, mut bench) = open(&[("ecn", "true")], Script::Unlimited);
        assert!(sender.uses_ecn());
        let first = bench.take();
        assert!(first[1..].iter().all(|out| out.tos == Ecn::Ect0.bits()));
        assert_eq!(first[0].tos, 0, "the bare acknowledgement is not capable");
        for n in 1..=10 {
            bench.ack_with(upto(n), Flags::ECE, &mut sender);
        }
        assert_eq!(sender.gauges().cwnd_bytes, 5 * MSS);
        let next = bench.take();
        let cwr: Vec<_> = next
            .iter()
            .filter(|out| out.flags.has(Flags::CWR))
            .collect();
        assert_eq!((cwr.len(), cwr[0].seq), (1, upto(10)));
        assert_eq!(sender.report().ecn_reductions, 1);
        bench.ack_with(upto(11), Flags::ECE, &mut sender);
        assert_eq!(sender.report().ecn_reductions, 2);
    }

    #[test]
    fn a_loss_in_a_window_that_an_echo_has_reduced_does_not_reduce_it_again() {
        let (mut sender, mut bench) = open(&[("ecn", "true")], Script::Unlimited);
        bench.ack_with(upto(1), Flags::ECE, &mut sender);
        bench.take();
        let ssthresh = sender.gauges().ssthresh_bytes;
        for _ in 0..3 {
            bench.ack_with(upto(1), Flags::ECE, &mut sender);
        }
        let sent = bench.take();
        let again: Vec<_> = sent.iter().filter(|out| out.seq == upto(1)).collect();
        assert_eq!(again.len(), 1);
        assert_eq!(again[0].tos, 0, "a retransmission is not capable");
        assert_eq!(sender.gauges().ssthresh_bytes, ssthresh);
    }

    #[test]
    fn ecn_is_used_only_if_both_want_it() {
        let (sender, _) = open(&[("ecn", "false")], Script::Unlimited);
        assert!(!sender.uses_ecn());
        let (mut sender, mut bench) = closed(&[("ecn", "true")], Script::Unlimited);
        let syn = bench.take();
        assert!(syn[0].flags.has(Flags::ECE.with(Flags::CWR)));
        bench.ack_with(1, Flags::SYN, &mut sender);
        assert!(!sender.uses_ecn());
        assert!(bench.take().iter().all(|out| out.tos == 0));
    }

    #[test]
    fn an_idle_connection_restarts_unless_told_otherwise() {
        let late = Time::ZERO + Span::from_secs(5);
        for (restart, burst) in [("true", 2), ("false", 8)] {
            let script = Script::writes(&[(Time::ZERO, 6 * MSS), (late, 50 * MSS)]);
            let pairs = [("initial_window", "2"), ("idle_restart", restart)];
            let (mut sender, mut bench) = open(&pairs, script);
            for n in 1..=6 {
                bench.ack(upto(n), &mut sender);
            }
            assert_eq!(segments(&mut bench), [0, 1, 2, 3, 4, 5]);
            bench.pass(Span::from_secs(5), &mut sender);
            assert_eq!(segments(&mut bench).len(), burst, "{restart}");
        }
    }

    #[test]
    fn the_window_does_not_grow_unvalidated_while_the_application_holds_back() {
        for (validate, cwnd) in [("true", 10), ("false", 13)] {
            let writes: Vec<_> = (0..3)
                .map(|i| (Time::ZERO + Span::from_ms(200 * (i + 1)), MSS))
                .collect();
            let (mut sender, mut bench) =
                open(&[("validate_window", validate)], Script::writes(&writes));
            for n in 1..=3 {
                bench.pass(Span::from_ms(200), &mut sender);
                bench.ack(upto(n), &mut sender);
            }
            assert_eq!(sender.gauges().cwnd_bytes, cwnd * MSS, "{validate}");
        }
    }

    #[test]
    fn a_window_of_packets_is_full_with_ten_of_a_hundred_bytes() {
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        let writes: Vec<_> = (0..40).map(|n| (at(200 + n), 100)).collect();
        for (counted, sent) in [("true", 10), ("false", 40)] {
            let (mut sender, mut bench) =
                open(&[("count_packets", counted)], Script::writes(&writes));
            bench.take();
            bench.pass(Span::from_ms(150), &mut sender);
            assert_eq!(bench.take().len(), sent, "{counted}");
            // Two of them make room for two, and slow start for one more; what waits is joined: three thousand bytes are three segments.
            bench.ack(FIRST_BYTE + 200, &mut sender);
            let sizes: Vec<_> = bench.take().iter().map(|out| out.size).collect();
            let joined = if counted == "true" {
                vec![1500, 1500, 120]
            } else {
                vec![]
            };
            assert_eq!(sizes, joined, "{counted}");
            bench.ack(FIRST_BYTE + 1000, &mut sender);
            let flight = if counted == "true" { 3 * MSS } else { 3000 };
            assert_eq!(sender.in_flight(), flight, "{counted}");
        }
    }

    #[test]
    fn nagle_holds_a_small_segment_back_while_data_is_in_flight() {
        for (nagle, sizes) in [("true", vec![140]), ("false", vec![140, 140])] {
            let at = |ms| Time::ZERO + Span::from_ms(ms);
            let script = Script::writes(&[(at(150), 100), (at(160), 100), (at(900), 100)]);
            let (mut sender, mut bench) = open(&[("nagle", nagle)], script);
            bench.take();
            bench.pass(Span::from_ms(100), &mut sender);
            let sent: Vec<_> = bench.take().iter().map(|out| out.size).collect();
            assert_eq!(sent, sizes, "{nagle}");
            bench.ack(FIRST_BYTE + 100, &mut sender);
            assert_eq!(bench.take().len(), 2 - sizes.len(), "{nagle}");
        }
    }

    #[test]
    fn a_source_that_stops_completes_with_its_last_acknowledgement() {
        let (mut sender, mut bench) = open(&[], Script::bytes(3 * MSS));
        bench.pass(Span::from_ms(80), &mut sender);
        bench.ack(upto(2), &mut sender);
        assert_eq!(sender.report().completed, None);
        bench.ack(upto(3), &mut sender);
        assert_eq!(sender.report().started, Some(Time::ZERO));
        assert_eq!(sender.report().completed, Some(bench.now));
        bench.take();
        bench.pass(Span::from_secs(1000), &mut sender);
        assert!(bench.take().is_empty(), "no timer is left");
    }

    #[test]
    fn measuring_begins_without_what_was_before() {
        let (mut sender, mut bench) = open(&[], Script::Unlimited);
        bench.ack(upto(2), &mut sender);
        sender.start_measuring(bench.now);
        bench.ack(upto(11), &mut sender);
        let report = sender.report();
        assert_eq!((report.bytes_acked, report.rtt_count), (9 * MSS, 1));
        assert_eq!(report.started, Some(Time::ZERO));
    }
}
