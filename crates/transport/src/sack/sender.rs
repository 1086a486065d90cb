//! The sending end of a connection with selective acknowledgement.
//!
//! Sources: RFC 9293 section 3.5 (handshake), RFC 6675 section 5 (recovery), RFC 8985 (RACK, tail loss probe), RFC 9937
//! (reduction), RFC 5682 section 3 (F-RTO with SACK), RFC 3522 and RFC 3708 (undo), RFC 6298 section 5 and RFC 6675 section 6 (timer), RFC 3168
//! section 6.1, RFC 5681 section 4.3 (a lost retransmission is one more sign of congestion). The phases and their order are those of Linux 6.1,
//! tcp_fastretrans_alert, which is where the RFCs meet. Deviation: what rule 4 of NextSeg sends counts in flight until it is acknowledged; by RFC 6675,
//! which leaves HighRxt where it is, it is forgotten with the next acknowledgement.

use super::accecn::{Feedback, Marks, Wish, ask, granted};
use super::ns3::{Socket, by_stamps, syn_options};
use super::pacing::Pacer;
use super::params::{
    Capable, Detection, FlightSize, LastResort, Machine, PrrBound, Reduction, Restart, SackParams,
};
use super::pieces::{Pieces, Standing};
use super::prr::Prr;
use super::rack::Rack;
use super::rate::{DeliveryRate, Picked};
use super::scoreboard::{Scoreboard, Segment, Then};
use crate::app::{Feed, Source};
use crate::report::{Gauges, SenderReport};
use crate::tcp::{FIRST_BYTE, InitialWindow, Rto, Share, TcpParams, Unused, Wheel};
use sojourn_cc::{
    Acked, AnyCc, Congestion, CongestionControl, CongestionKind, EcnUse, Expiry, Lost, Phase,
    Sample, Sent, Stage, Start, Traits, Undo, reduce,
};
use sojourn_sim::{Agent, Ecn, Flags, Host, Kind, Outgoing, Packet, Side, Stream, Timers};
use sojourn_units::{Rate, Span, Time};

/// Timers, in the order in which those due at one instant fire.
pub(super) const RETRANSMIT: usize = 0;
const PACE: usize = 1;
const APPLICATION: usize = 2;

/// Granularity of Linux's timestamps (TCP_TS_HZ).
const LINUX_STAMP: Span = Span::from_ms(1);

/// What a sender is made of.
#[derive(Debug)]
pub struct SackConfig<S> {
    /// The number of its flow in the network.
    pub flow: u32,
    /// Its parameters, those of the receiver too.
    pub params: TcpParams,
    /// Those of selective acknowledgement.
    pub sack: SackParams,
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
    Closed,
    SynSent,
    Established,
}

/// For what the retransmission timer is set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pending {
    Nothing,
    Timeout,
    Probe,
    Reordering,
}

/// How far the examination of a timeout has come (RFC 5682 section 3.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Doubt {
    /// None goes on.
    Settled,
    /// The retransmission is to be acknowledged (step 2).
    Resent,
    /// New data has been sent, and the next acknowledgement decides (step 3).
    Probed,
}

/// What an acknowledgement has shown so far.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) now: Time,
    /// Bytes acknowledged cumulatively.
    pub(super) acked: u64,
    /// Something was selectively acknowledged for the first time.
    pub(super) sacked: bool,
    /// A duplicate was reported.
    duplicate: bool,
    /// The duplicate is that of the tail probe.
    probe_duplicate: bool,
    /// Something that was sent twice was acknowledged.
    pub(super) resent_acked: bool,
    /// Something sent once, before the recovery began, was delivered.
    original: bool,
    /// A retransmission was lost.
    resent_lost: bool,
    /// What is missing may only be reordered: the timer waits for that.
    waits: bool,
    pub(super) echo: bool,
    /// When the first and the last were sent of those acknowledged that were sent once, cumulatively and selectively.
    pub(super) acked_sent: Option<(Time, Time)>,
    sacked_sent: Option<(Time, Time)>,
    /// The lowest byte delivered for the first time that was sent once.
    lowest: u64,
    pub(super) picked: Picked,
    /// The timestamp that came back, and the one-way delay it tells.
    pub(super) stamp: Option<Time>,
    pub(super) one_way: Option<Span>,
}

impl Event {
    /// Nothing is shown yet.
    pub(super) fn at(now: Time) -> Event {
        Event {
            now,
            acked: 0,
            sacked: false,
            duplicate: false,
            probe_duplicate: false,
            resent_acked: false,
            original: false,
            resent_lost: false,
            waits: false,
            echo: false,
            acked_sent: None,
            sacked_sent: None,
            lowest: u64::MAX,
            picked: Picked::default(),
            stamp: None,
            one_way: None,
        }
    }
}

/// The sending end of a connection. What every acknowledgement touches comes first.
#[derive(Debug)]
pub struct SackSender<S> {
    /// First byte that is not acknowledged.
    pub(super) una: u64,
    /// Byte to send next.
    pub(super) nxt: u64,
    /// One past the last byte that the application has written; `u64::MAX` without end.
    pub(super) end: u64,
    /// Most bytes outstanding that the receiver allows.
    pub(super) window: u64,
    pub(super) mss: u64,
    /// The least bytes of the window that a segment takes: `mss` where the window counts packets.
    least: u64,
    /// One past the highest byte sent when the phase began.
    pub(super) high: u64,
    headers: u32,
    flow: u32,
    state: State,
    pub(super) phase: Phase,
    pending: Pending,
    /// The window falls by rate reduction.
    pub(super) reducing: bool,
    /// Whether it is still open if a timeout was spurious: nothing lost is sent until then.
    doubt: Doubt,
    /// The next retransmission does not wait for the window.
    forced: bool,
    pub(super) ecn: bool,
    pub(super) cwr_due: bool,
    /// Acknowledgements of new data may go the short way.
    usual: bool,
    /// Segments are spaced though the congestion control asks for no rate.
    paces: bool,
    /// The congestion window holds the sender back (RFC 7661): in the window of data up to `usage_end`, with the most bytes outstanding in it.
    limited: bool,
    usage_end: u64,
    usage: u64,
    /// What of the window is not used, where it decays for that.
    unused: Unused,
    last_sent: Time,
    /// When the next segment may be sent, where the congestion control asks for a rate.
    pub(super) pacer: Pacer,
    /// Segments that leave at once.
    pub(super) pieces: Pieces,
    pub(super) traits: Traits,
    pub(super) board: Scoreboard,
    pub(super) rate: DeliveryRate,
    rack: Rack,
    pub(super) prr: Prr,
    pub(super) min_rtt: Option<Span>,
    pub(super) timers: Timers<3>,
    pub(super) cc: AnyCc,
    pub(super) rto: Rto,
    /// Of the samples that are expected in a round trip.
    share: Share,
    wheel: Wheel,
    bytes_acked: u64,
    /// Blocks of the last acknowledgement that had any, all of them taken in.
    known: [(u64, u64); 3],
    /// Bytes in flight that limited transmit has sent beyond the window.
    beyond: u64,
    /// Acknowledgements in a row that told of something new above a gap (DupAcks of RFC 6675 section 5).
    duplicates: u32,
    /// When the window was last told to fall.
    reduced_at: Time,
    /// Bytes that the acknowledgement at hand has delivered.
    pub(super) just_delivered: u64,
    /// Segments of reordering that are taken for no loss.
    pub(super) dupthresh: u32,
    /// One past the highest byte when the tail probe was sent, 0 for none; it was a retransmission.
    probe_high: u64,
    probe_resent: bool,
    /// What to restore if the reduction was for nothing, the first byte of the recovery, retransmissions not reported as
    /// duplicates (`None` before the first), and when the first was sent.
    undo: Option<Undo>,
    undo_from: Option<u64>,
    undo_resent: Option<u64>,
    resent_at: Option<Time>,
    /// How the receiver tells of marks, and what it has told.
    feedback: Feedback,
    marks: Marks,
    timeout_una: u64,
    /// One past the highest byte sent again in this recovery (HighRxt of RFC 6675), and beyond what there must be an acknowledgement before the
    /// last segment is sent again for want of anything else (RescueRxt).
    pub(super) high_resent: u64,
    rescued: Option<u64>,
    pub(super) options: Options,
    pub(super) cold: Box<Cold<S>>,
}

/// The parameters that are asked later.
#[derive(Debug)]
pub(super) struct Options {
    pub(super) machine: Machine,
    detection: Detection,
    last_resort: LastResort,
    flight: FlightSize,
    reduction: Reduction,
    reduction_for_ecn: bool,
    tail_probe: bool,
    frto: bool,
    undo: bool,
    pub(super) timestamps: bool,
    capable: Capable,
    idle_restart: bool,
    validate_window: bool,
    bound_flight: bool,
    nagle: bool,
    limited_transmit: bool,
    pub(super) dupthresh: u32,
    /// What a probe for a single segment waits beyond two round trips.
    probe_delay: Span,
    /// Least wait of the timers that look for losses.
    least_wait: Span,
    /// Most segments by which reordering raises the count that tells of a loss.
    most_reordering: u32,
    restart: Restart,
    /// The pace without a rate of the congestion control, in percent of a window per round trip: in slow start, and later.
    pacing_ratios: [u32; 2],
    /// Granularity of the timestamps that are echoed.
    stamp_tick: Span,
    /// As in Linux: the loss of a retransmission within a recovery reduces nothing.
    linux: bool,
}

/// What is not needed for every acknowledgement.
#[derive(Debug)]
pub(super) struct Cold<S> {
    feed: Feed<S>,
    initial_window: InitialWindow,
    /// The timeout with which data begins after a lost SYN; without one the handshake is measured all the same.
    lost_syn_rto: Option<Span>,
    abc_limit: u32,
    start: Time,
    opened: Time,
    wish: Wish,
    /// Retransmissions of the SYN.
    syns_lost: u32,
    pub(super) report: SenderReport,
    pub(super) socket: Socket,
}

impl<S: Source> SackSender<S> {
    /// A sender that has not begun.
    pub fn new(config: SackConfig<S>) -> SackSender<S> {
        let SackConfig {
            flow,
            params,
            sack,
            cc,
            source,
            rng,
            start,
            stop,
        } = config;
        let feed = Feed::new(source, rng, stop);
        let mut traits = cc.traits();
        // What is spaced is looked at as each segment leaves.
        traits.unsampled &= !sack.pacing;
        let linux = sack.reduction == Reduction::PrrLinux;
        let mss = params.mss.get();
        SackSender {
            una: 0,
            nxt: 0,
            end: if feed.unlimited() {
                u64::MAX
            } else {
                FIRST_BYTE
            },
            window: params.window.map_or(u64::MAX, |window| window.get()),
            mss,
            least: if params.count_packets { mss } else { 0 },
            high: 0,
            headers: u32::try_from(params.headers.get()).unwrap_or(u32::MAX),
            flow,
            state: State::Closed,
            phase: Phase::Open,
            pending: Pending::Nothing,
            reducing: false,
            doubt: Doubt::Settled,
            forced: false,
            ecn: false,
            cwr_due: false,
            usual: !traits.model && sack.machine == Machine::Linux,
            paces: sack.pacing && !traits.paces,
            limited: false,
            usage_end: 0,
            usage: 0,
            unused: Unused::new(&params),
            last_sent: Time::ZERO,
            pacer: Pacer::new(sack.send_unit),
            pieces: Pieces::new(sack.send_unit),
            traits,
            board: Scoreboard::new(),
            rate: DeliveryRate::new(Time::ZERO),
            rack: Rack::new(&sack),
            prr: Prr::new(1, mss, sack.prr_bound),
            min_rtt: None,
            timers: Timers::default(),
            cc,
            rto: Rto::new(&params),
            share: Share::of(1),
            wheel: Wheel::new(params.jiffy),
            bytes_acked: 0,
            known: [(0, 0); 3],
            beyond: 0,
            duplicates: 0,
            reduced_at: Time::ZERO,
            just_delivered: 0,
            dupthresh: params.dupthresh,
            probe_high: 0,
            probe_resent: false,
            undo: None,
            undo_from: None,
            undo_resent: None,
            resent_at: None,
            feedback: Feedback::of(traits.ecn),
            marks: Marks::default(),
            timeout_una: u64::MAX,
            high_resent: 0,
            rescued: None,
            options: Options {
                machine: sack.machine,
                detection: sack.detection,
                last_resort: sack.last_resort,
                flight: sack.flight,
                reduction: sack.reduction,
                reduction_for_ecn: sack.reduction_for_ecn,
                tail_probe: sack.tail_probe,
                frto: sack.frto,
                undo: sack.undo,
                timestamps: sack.timestamps,
                capable: sack.capable,
                idle_restart: params.idle_restart,
                validate_window: params.validate_window || traits.validates,
                bound_flight: params.bound_flight,
                nagle: params.nagle,
                limited_transmit: params.limited_transmit,
                dupthresh: params.dupthresh,
                probe_delay: sack.probe_delay.unwrap_or(if linux {
                    params.min_rto
                } else {
                    params.delayed_ack_timeout
                }),
                least_wait: sack.least_wait,
                most_reordering: sack.most_reordering,
                restart: sack.restart,
                pacing_ratios: [sack.pacing_ss_ratio, sack.pacing_ca_ratio],
                stamp_tick: if linux { LINUX_STAMP } else { Span::from_ps(1) },
                linux,
            },
            cold: Box::new(Cold {
                feed,
                initial_window: params.initial_windows(),
                lost_syn_rto: params.lost_syn_rto,
                abc_limit: sack.abc_limit,
                start,
                opened: Time::ZERO,
                wish: match params.ecn || traits.ecn != EcnUse::Classic {
                    _ if sack.accurate_ecn => Wish::Accurate,
                    true => Wish::Classic,
                    false => Wish::Nothing,
                },
                syns_lost: 0,
                report: SenderReport::default(),
                socket: Socket::default(),
            }),
        }
        .counting_segments(sack.whole_segments, sack.prr_bound)
    }

    fn counting_segments(mut self, whole: bool, bound: PrrBound) -> Self {
        if self.is_ns3() {
            self.board.keep_retransmissions();
        }
        if self.traits.model {
            self.board.tell_losses();
        }
        self.board.count_at_least(self.least);
        self.rate.count_at_least(self.least);
        // The unit in which reductions count, until they need it.
        self.prr = Prr::new(if whole { self.mss } else { 1 }, self.mss, bound);
        self
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

    // Connection.

    fn open<H: Host>(&mut self, host: &mut H) {
        self.state = State::SynSent;
        self.cold.report.started = Some(host.now());
        self.cold.opened = host.now();
        self.send_syn(host);
    }

    fn send_syn<H: Host>(&mut self, host: &mut H) {
        let (asks, side) = ask(self.cold.wish);
        let mut flags = Flags::SYN.with(asks);
        if self.cold.syns_lost > 0 {
            flags = flags.with(Flags::RETRANSMIT);
        }
        let out = Outgoing {
            size: self.headers + syn_options(self.options.machine, self.options.timestamps),
            kind: Kind::Segment,
            tos: match self.cold.wish {
                Wish::Nothing => 0,
                _ => self.ecn_beside_data(Capable::Handshake).bits(),
            },
            flags,
            ..Outgoing::default()
        };
        match side {
            Some(side) => host.send_with(self.flow, out, side),
            None => host.send(self.flow, out),
        }
        self.pending = Pending::Timeout;
        let at = self.wheel.expiry(host.now(), self.rto.timeout());
        self.timers.set(RETRANSMIT, at, host);
    }

    fn establish<H: Host>(&mut self, syn_ack: &Packet, host: &mut H) {
        let now = host.now();
        self.state = State::Established;
        self.una = FIRST_BYTE;
        self.nxt = FIRST_BYTE;
        self.high = FIRST_BYTE;
        self.last_sent = now;
        self.unused.begin(now);
        self.rate.open(now);
        self.disarm();
        if self.answers_the_first_syn(syn_ack, host) {
            // It was late, not lost (tcp_try_undo_spurious_syn).
            self.cold.syns_lost = 0;
        }
        let initial_window = self.cold.initial_window.after(self.cold.syns_lost);
        match self.measure_handshake(syn_ack, host) {
            Some(rtt) => {
                self.min_rtt = Some(rtt);
                self.rto.sample(rtt, self.una, self.nxt);
                self.cold.report.record_rtt(rtt);
            }
            None => self.rto.restart_after_lost_syn(self.cold.lost_syn_rto),
        }
        self.take_grant(syn_ack, host);
        self.cold.socket.initial_window = initial_window;
        self.cc.on_start(&Start {
            now,
            mss: self.mss,
            initial_window,
            slow_start_limit: self.cold.abc_limit,
            whole_segments: self.whole_segments(),
            rtt: self.min_rtt,
        });
        self.send_bare_ack(host);
        self.check_completion(now);
        self.send(host);
    }

    /// The timestamp that came back is that of the first SYN.
    fn answers_the_first_syn<H: Host>(&self, syn_ack: &Packet, host: &H) -> bool {
        let stamps = self.stamps(host.side(syn_ack));
        !self.is_ns3() && stamps.is_some_and(|(_, echo)| echo == self.cold.opened)
    }

    /// The round-trip time of the handshake. That of a SYN that was sent again is known only by the timestamp that came back (RFC 7323 section 4.1); section 5.7 of
    /// RFC 6298 is for handshakes that have measured nothing (its appendix A; tcp_init_metrics).
    fn measure_handshake<H: Host>(&self, syn_ack: &Packet, host: &H) -> Option<Span> {
        let now = host.now();
        if self.cold.syns_lost > 0 {
            return match (self.stamps(host.side(syn_ack)), self.is_ns3()) {
                (Some((_, echo)), true) => Some(by_stamps(echo, now)),
                (Some((_, echo)), false) => self.since_stamp(now, echo),
                // The history of what was sent does not know that the SYN was sent again (UpdateRttHistory).
                (None, true) => Some(now.since(self.cold.opened)),
                (None, false) => None,
            };
        }
        Some(match self.is_ns3() && self.options.timestamps {
            true => by_stamps(self.cold.opened, now),
            false => now.since(self.cold.opened),
        })
    }

    /// What of ECN the server has agreed to.
    fn take_grant<H: Host>(&mut self, syn_ack: &Packet, host: &H) {
        let flags = syn_ack.flags;
        let grant = match self.cold.wish {
            Wish::Accurate => granted(flags, host.side(syn_ack).as_ref()),
            wish if flags.has(Flags::ECE) && !flags.has(Flags::CWR) => wish,
            _ => Wish::Nothing,
        };
        let falls_back = self.cold.wish == Wish::Accurate && grant == Wish::Classic;
        // An algorithm that needs each mark does without ECN where it would not hear of them (RFC 9331 section 4.1).
        self.ecn = grant != Wish::Nothing && !(falls_back && self.traits.ecn == EcnUse::Scalable);
        if grant == Wish::Accurate {
            self.feedback = Feedback::Accurate;
        }
    }

    /// Whether the sender has to say that its window falls; the receiver counts otherwise.
    pub(super) fn owes_cwr(&self) -> bool {
        self.ecn && self.feedback != Feedback::Accurate
    }

    fn whole_segments(&self) -> bool {
        self.prr.unit() == self.mss && self.mss > 1
    }

    /// The third packet of the handshake.
    fn send_bare_ack<H: Host>(&self, host: &mut H) {
        let out = Outgoing {
            size: self.headers,
            seq: self.nxt,
            ack: FIRST_BYTE,
            kind: Kind::Ack,
            tos: match self.ecn {
                true => self.ecn_beside_data(Capable::All).bits(),
                false => 0,
            },
            ..Outgoing::default()
        };
        host.send(self.flow, out);
    }

    /// The codepoint of what is no new data, and is ECN-capable from `least` on.
    fn ecn_beside_data(&self, least: Capable) -> Ecn {
        match self.options.capable >= least {
            true => codepoint(self.traits.ecn),
            false => Ecn::NotEct,
        }
    }

    // Application.

    fn on_application<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        if self.state == State::Closed {
            self.open(host);
        }
        while let Some(at) = self.cold.feed.due() {
            if at > now {
                self.timers.set(APPLICATION, at, host);
                break;
            }
            self.end += self.cold.feed.take().unwrap_or_default();
        }
        if self.cold.feed.unlimited() {
            let stop = self.cold.feed.stop();
            if stop <= now {
                self.end = self.nxt.max(FIRST_BYTE);
            } else if stop < Time::MAX {
                self.timers.set(APPLICATION, stop, host);
            }
        }
        if self.state == State::Established {
            self.check_completion(now);
            self.send(host);
        }
    }

    /// The application writes more than its source told of.
    pub fn write<H: Host>(&mut self, bytes: u64, host: &mut H) {
        self.end = self.end.saturating_add(bytes);
        if self.state == State::Established {
            self.send(host);
        }
    }

    /// The receiver allows so many bytes from its acknowledgement `ack` on.
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

    // Sending.

    /// Sends what window, pacing and application allow: what is lost first, then new data. True if the latter was sent.
    pub(super) fn send<H: Host>(&mut self, host: &mut H) -> bool {
        let now = host.now();
        let mut sent_new = false;
        let mut held = false;
        let mut sent_any = false;
        if self.unused.is_on() && self.nxt == self.una {
            self.restart_after_idle(now);
        }
        self.pieces.begin();
        loop {
            if self.pieces.is_between()
                && let Some(until) = self.pacer.holds(now)
                && (self.paces || self.cc.pacing_rate().is_some())
            {
                self.timers.set(PACE, until, host);
                // What waits for its turn is held back by the window as far as growth is concerned.
                held = self.board.pipe() + self.mss > self.cwnd();
                break;
            }
            let pipe = self.board.pipe();
            let window = self.cwnd();
            if self.board.lost() > 0
                && self.doubt == Doubt::Settled
                && let Some(id) = self.next_lost()
            {
                let bytes = u64::from(self.board.get(id).bytes);
                if pipe + bytes.max(self.least) > window && !self.forced {
                    held = true;
                    break;
                }
                self.forced = false;
                self.retransmit(id, host);
                self.note_next(id);
                sent_any = true;
                continue;
            }
            if self.doubt == Doubt::Resent && !self.options.linux {
                break;
            }
            let bytes = self.mss.min(self.end - self.nxt);
            if bytes == 0 {
                if pipe < window {
                    self.rate.limit(pipe);
                }
                if self.resend_unknown(pipe, window, host) {
                    sent_any = true;
                    continue;
                }
                break;
            }
            let outstanding = self.nxt - self.una;
            // Without limited transmit, what was selectively acknowledged still fills the window until a loss is known.
            let counted = if self.phase == Phase::Disorder && !self.options.limited_transmit {
                self.board.outstanding()
            } else {
                pipe
            };
            if counted + bytes.max(self.least) > window {
                held = true;
                break;
            }
            if outstanding + bytes > self.window {
                if !self.is_ns3() && self.resend_unknown(pipe, window, host) {
                    sent_any = true;
                    continue;
                }
                break;
            }
            if self.options.nagle && bytes < self.mss && outstanding > 0 && !self.source_has_ended()
            {
                break;
            }
            let Some(push) = self.piece(now, window, window - counted) else {
                held = true;
                break;
            };
            self.transmit(bytes, push, host);
            sent_new = true;
            sent_any = true;
        }
        self.forced = false;
        if sent_any || held {
            self.note_usage(held);
            if self.unused.is_on() {
                self.note_unused(now);
            }
        }
        if sent_new {
            self.schedule_probe(false, host);
        }
        sent_new
    }

    /// The next segment goes on with the piece at hand, or begins one; whether it is the last of several. `None`: a piece had better wait
    /// for more of the `window` to become free than the `room` there is.
    #[inline]
    fn piece(&mut self, now: Time, window: u64, room: u64) -> Option<bool> {
        if !self.pieces.on() {
            return Some(false);
        }
        if self.pieces.is_between() && !self.start_piece(now, window, room) {
            return None;
        }
        Some(self.pieces.step())
    }

    #[inline(never)]
    fn start_piece(&mut self, now: Time, window: u64, room: u64) -> bool {
        let paced = self.pace();
        let srtt = self.rto.srtt();
        let standing = Standing {
            now,
            mss: self.mss,
            window,
            room,
            unsent: self.end - self.nxt,
            rate: paced.unwrap_or_else(|| self.rate_of_window(window, srtt)),
            paced: paced.is_some(),
            min_rtt: self.min_rtt,
            last_sent: self.last_sent,
            oldest_sent: self.board.front().map(|segment| segment.sent),
            srtt,
            repairs: matches!(self.phase, Phase::Recovery | Phase::Loss),
        };
        self.pieces.start(&standing)
    }

    /// The rate at which segments are spaced, if they are.
    #[inline]
    fn pace(&self) -> Option<Rate> {
        let rate = match self.cc.pacing_rate() {
            None if self.paces => Some(self.rate_of_window(self.cwnd(), self.rto.srtt())),
            rate => rate,
        };
        rate.filter(|rate| !rate.is_zero())
    }

    /// What a window sends per second, and a fifth more; twice as much where it still doubles (tcp_input.c, tcp_update_pacing_rate).
    fn rate_of_window(&self, window: u64, srtt: Option<Span>) -> Rate {
        let Some(srtt) = srtt.filter(|srtt| !srtt.is_zero()) else {
            return Rate::bps(0);
        };
        let [start, later] = self.options.pacing_ratios;
        let part = if window < self.cc.ssthresh() / 2 {
            start
        } else {
            later
        };
        let bits = u128::from(window.max(self.nxt - self.una)) * 8 * u128::from(part) / 100;
        let per_second = bits * 1_000_000_000_000 / u128::from(srtt.as_ps());
        Rate::bps(u64::try_from(per_second).unwrap_or(u64::MAX))
    }

    /// Sends again what is not known to be lost, where the window would allow a segment and there is none (RFC 6675
    /// section 4, rules 3 and 4 of NextSeg). True if something was sent.
    fn resend_unknown<H: Host>(&mut self, pipe: u64, window: u64, host: &mut H) -> bool {
        if self.phase != Phase::Recovery
            || self.options.detection != Detection::Count
            || self.options.last_resort == LastResort::Off
            || pipe + self.mss > window
        {
            return false;
        }
        let next = match self.is_ns3() {
            true => self.board.next_unknown(),
            false => self.board.next_in_gap(self.high_resent.max(self.una)),
        };
        if let Some(id) = next {
            self.retransmit(id, host);
            self.note_next(id);
            return true;
        }
        if self.options.last_resort != LastResort::Rescue
            || self.rescued.is_some_and(|until| self.una <= until)
        {
            return false;
        }
        let Some(id) = self.board.last_missing() else {
            return false;
        };
        let high_resent = self.high_resent;
        self.rescued = Some(self.high);
        self.retransmit(id, host);
        self.high_resent = high_resent;
        true
    }

    /// Keeps the strongest sign in a window of data that the congestion window was used up (RFC 7661; tcp_cwnd_validate).
    #[inline]
    fn note_usage(&mut self, held: bool) {
        let outstanding = self.board.outstanding();
        if self.una >= self.usage_end || held || (!self.limited && outstanding > self.usage) {
            self.limited = held;
            self.usage = outstanding;
            self.usage_end = self.nxt;
        }
    }

    /// Something is to be sent after silence (tcp_slow_start_after_idle_check).
    fn restart_after_idle(&mut self, now: Time) {
        if self.end <= self.nxt || self.traits.model {
            return;
        }
        let silence = (now, now.since(self.last_sent));
        let (timeout, window) = (self.rto.timeout(), self.cc.cwnd());
        if let Some(window) = self.unused.after_silence(silence, timeout, window) {
            self.cc.on_decay(window);
        }
    }

    /// What was sent does or does not use the window up (tcp_cwnd_validate).
    fn note_unused(&mut self, now: Time) {
        if self.traits.model {
            return;
        }
        if self.is_limited() {
            self.unused.begin(now);
            return;
        }
        let open = self.phase == Phase::Open && self.nxt == self.end;
        let (outstanding, window) = (self.board.outstanding(), self.cc.cwnd());
        let times = (now, self.rto.timeout());
        if let Some(window) = self.unused.after_use(times, outstanding, window, open) {
            self.cc.on_decay(window);
        }
    }

    /// Whether the window is what holds the sender back.
    #[inline]
    pub(super) fn is_limited(&self) -> bool {
        !self.options.validate_window
            || self.limited
            || (self.cc.cwnd() < self.cc.ssthresh() && self.cc.cwnd() < 2 * self.usage)
    }

    /// New data.
    #[inline]
    pub(super) fn transmit<H: Host>(&mut self, bytes: u64, push: bool, host: &mut H) {
        let now = host.now();
        let idle = self.nxt == self.una;
        let after_idle = idle
            && self.options.idle_restart
            && !self.unused.is_on()
            && now.since(self.last_sent) > self.rto.timeout();
        let mut flags = Flags::NONE;
        let mut ecn = Ecn::NotEct;
        if self.ecn {
            ecn = match self.traits.ecn {
                EcnUse::Scalable => Ecn::Ect1,
                EcnUse::Classic | EcnUse::PerSegment => Ecn::Ect0,
            };
            if self.cwr_due {
                self.cwr_due = false;
                flags = Flags::CWR;
            }
        }
        let seq = self.nxt;
        let delivered = self.rate.begin(self.network_is_empty(), now);
        self.board.push(seq, short(bytes), now, delivered);
        if self.traits.samples {
            let then = self.rate.now(self.board.pipe(), self.board.lost_total());
            self.board.push_then(then);
        }
        self.nxt += bytes;
        if self.is_ns3() {
            self.note_new(seq, flags.has(Flags::CWR));
        }
        // What the window alone would not have let go (RFC 3042).
        if self.phase == Phase::Disorder && self.nxt - self.una > self.cc.cwnd() {
            self.beyond += bytes;
        }
        self.account(bytes, false, after_idle, host);
        if idle || self.pending == Pending::Nothing {
            self.arm_timeout(host);
        }
        let kind = match push || (self.pieces.on() && self.nxt == self.end) {
            true => Kind::Pushed,
            false => Kind::Segment,
        };
        self.put(seq, bytes, ecn, (kind, flags), host);
    }

    /// Whether samples of the delivery rate begin anew with what is sent now: nothing is in flight (draft-cheng-iccrg-delivery-rate-estimation-00 section
    /// 3.2), in Linux not even what is lost (tcp_rate_skb_sent).
    #[inline]
    fn network_is_empty(&self) -> bool {
        match self.options.linux {
            true => self.nxt == self.una,
            false => self.board.pipe() == 0,
        }
    }

    /// A segment again.
    pub(super) fn retransmit<H: Host>(&mut self, id: u32, host: &mut H) {
        let now = host.now();
        let first = self.board.front().map(|segment| segment.seq);
        let empty = self.network_is_empty();
        let segment = self.board.get_mut(id);
        self.rate.on_send(segment, empty, now);
        let (seq, bytes) = (segment.seq, u64::from(segment.bytes));
        let in_flight = self.board.pipe() + bytes.max(self.least);
        let state = self.rate.now(in_flight, self.board.lost_total());
        if let Some(then) = self.board.then_mut(id) {
            *then = state;
        }
        self.board.retransmit(id);
        self.high_resent = self.high_resent.max(seq + bytes);
        // Section 5 step 4.3 of RFC 6675: no rescue before the first one has arrived.
        self.rescued.get_or_insert(seq + bytes);
        self.cold.report.retransmissions += 1;
        if self.resent_at.is_none() {
            self.resent_at = Some(now);
        }
        self.undo_resent = Some(self.undo_resent.unwrap_or(0) + 1);
        self.account(bytes, true, false, host);
        let arms = if self.is_ns3() {
            self.pending == Pending::Nothing
        } else {
            first == Some(seq) && self.pending != Pending::Reordering
        };
        if arms {
            self.arm_timeout(host);
        }
        // A retransmission is not ECN-capable (RFC 3168 section 6.1.5), unless the algorithm counts every mark or the host does not ask.
        let ecn = match self.traits.ecn {
            EcnUse::Scalable if self.ecn => Ecn::Ect1,
            EcnUse::PerSegment if self.ecn => self.ecn_beside_data(Capable::All),
            _ => Ecn::NotEct,
        };
        self.pieces.begin();
        let again = (Kind::Segment, Flags::RETRANSMIT);
        self.put(seq, bytes, ecn, again, host);
    }

    #[inline]
    fn account<H: Host>(&mut self, bytes: u64, again: bool, after_idle: bool, host: &mut H) {
        let now = host.now();
        self.last_sent = now;
        let counted = bytes.max(self.least);
        if self.reducing {
            self.prr.on_sent(counted);
        }
        if self.traits.unsampled && !after_idle {
            return;
        }
        self.cc.on_sent(&Sent {
            now,
            bytes: counted,
            in_flight: self.board.pipe(),
            retransmission: again,
            after_idle,
            app_limited: self.rate.is_limited(),
        });
        if let Some(rate) = self.pace() {
            match self.is_ns3() {
                true => self.pace_as_ns3(bytes, rate, now),
                false => self.pacer.on_sent(now, bytes, rate),
            }
        }
    }

    #[inline]
    fn put<H: Host>(
        &mut self,
        seq: u64,
        bytes: u64,
        ecn: Ecn,
        (kind, flags): (Kind, Flags),
        host: &mut H,
    ) {
        let out = Outgoing {
            size: self.headers + narrow(bytes),
            seq,
            ack: FIRST_BYTE,
            kind,
            tos: ecn.bits(),
            flags,
        };
        host.send(self.flow, out);
    }

    // Timer.

    pub(super) fn arm<H: Host>(&mut self, pending: Pending, wait: Span, host: &mut H) {
        self.pending = pending;
        let at = self.wheel.expiry(host.now(), wait);
        self.timers.set(RETRANSMIT, at, host);
    }

    pub(super) fn disarm(&mut self) {
        self.pending = Pending::Nothing;
        self.timers.clear(RETRANSMIT);
    }

    /// The retransmission timer: from now on, or from the first segment on where another wait went before.
    fn arm_timeout<H: Host>(&mut self, host: &mut H) {
        if self.nxt == self.una {
            self.disarm();
            return;
        }
        let rto = self.rto.timeout();
        let wait = match self.pending {
            Pending::Probe | Pending::Reordering => self.until_timeout(host.now()),
            Pending::Nothing | Pending::Timeout => rto,
        };
        self.arm(Pending::Timeout, wait, host);
    }

    /// What is left of the timeout of the first segment.
    fn until_timeout(&self, now: Time) -> Span {
        let rto = self.rto.timeout();
        self.board.front().map_or(rto, |first| {
            let left = first.sent.saturating_add(rto).checked_since(now);
            left.unwrap_or_default().max(Span::from_us(1))
        })
    }

    /// A probe instead of the timeout, where the last segments may be lost unseen (RFC 8985 section 7.2). An acknowledgement restarts the timeout that bounds
    /// it, what is sent does not.
    #[inline]
    fn schedule_probe<H: Host>(&mut self, restarted: bool, host: &mut H) -> bool {
        if !self.options.tail_probe
            || self.nxt == self.una
            || !matches!(self.phase, Phase::Open | Phase::Reducing)
            || self.board.sacked() > 0
        {
            return false;
        }
        let Some(srtt) = self.rto.srtt() else {
            return false;
        };
        let mut wait = 2 * srtt;
        wait += if self.board.len() == 1 {
            self.options.probe_delay
        } else {
            self.options.least_wait
        };
        let timeout = match restarted {
            true => self.rto.timeout(),
            false => self.until_timeout(host.now()),
        };
        self.arm(Pending::Probe, wait.min(timeout), host);
        true
    }

    fn on_timer<H: Host>(&mut self, host: &mut H) {
        if self.state == State::SynSent {
            self.rto.back_off();
            self.cold.syns_lost += 1;
            self.cold.report.handshake_retransmissions += 1;
            self.send_syn(host);
            return;
        }
        let pending = std::mem::replace(&mut self.pending, Pending::Nothing);
        if self.nxt == self.una {
            return;
        }
        match pending {
            Pending::Probe => self.probe(host),
            Pending::Reordering => self.on_reordering_timer(host),
            Pending::Timeout | Pending::Nothing if self.is_ns3() => self.time_out_ns3(host),
            Pending::Timeout | Pending::Nothing => self.on_timeout(host),
        }
    }

    /// New data if there is some, else the last segment again (RFC 8985 section 7.3).
    fn probe<H: Host>(&mut self, host: &mut H) {
        self.pending = Pending::Probe;
        if self.probe_high == 0 {
            let bytes = self.mss.min(self.end - self.nxt);
            if bytes > 0 && self.nxt - self.una + bytes <= self.window {
                self.probe_resent = false;
                self.pieces.single();
                self.transmit(bytes, false, host);
                self.probe_high = self.nxt;
            } else if let Some(last) = self.board.last()
                && !self.board.get(last).is_sacked()
            {
                self.probe_resent = true;
                self.probe_high = self.nxt;
                self.retransmit(last, host);
            }
        }
        // From the first segment on.
        self.pending = Pending::Probe;
        self.arm_timeout(host);
    }

    fn on_reordering_timer<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        let before = self.board.lost_total();
        self.pending = Pending::Reordering;
        // No acknowledgement has delivered anything.
        self.just_delivered = 0;
        self.look_for_losses(now, host);
        let newly_lost = self.board.lost_total() - before;
        if newly_lost > 0 {
            let falls = match self.phase {
                Phase::Recovery => self.answer_lost_retransmission(now),
                Phase::Loss => false,
                _ => {
                    self.enter_recovery(false, now);
                    true
                }
            };
            if falls && self.reducing {
                let pipe = self.board.pipe();
                match self.options.linux {
                    // tcp_rack_reo_timeout counts a segment as delivered.
                    true => self.prr.on_ack(self.mss, pipe, self.cc.ssthresh(), false),
                    false => self.prr.on_timer(pipe),
                }
            }
            let sample = Sample {
                newly_lost,
                ..self.sample_of(now)
            };
            if self.traits.model {
                self.tell_losses(now);
                self.cc.on_model(&sample);
            }
            self.send(host);
        }
        if self.pending == Pending::Reordering && self.timers.deadline(RETRANSMIT).is_none() {
            self.arm_timeout(host);
        }
    }

    /// A sample that has measured nothing.
    pub(super) fn sample_of(&self, now: Time) -> Sample {
        Sample {
            now,
            una: self.una,
            next: self.nxt,
            min_rtt: self.min_rtt,
            srtt: self.rto.srtt(),
            delivered: self.rate.delivered(),
            in_flight_before: self.board.pipe(),
            in_flight: self.board.pipe(),
            phase: self.phase,
            limited: self.is_limited(),
            ..Sample::default()
        }
    }

    fn on_timeout<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        self.cold.report.timeouts += 1;
        let repeated = self.phase == Phase::Loss && self.timeout_una == self.una;
        // A window that is reduced already is not reduced again (RFC 3168 section 6.1.2), unless what is lost is a retransmission (RFC 5681 section 4.3).
        let resent =
            !self.options.linux && self.board.front().is_some_and(Segment::was_retransmitted);
        let again = repeated
            || matches!(self.phase, Phase::Reducing | Phase::Recovery)
                && self.una < self.high
                && !resent;
        self.timeout_una = self.una;
        // Step 1 of RFC 5682 section 3.1: again for the same segment only if the examination has not come further.
        let examined = self.options.linux || self.doubt == Doubt::Resent;
        let doubtful = self.options.frto && (!self.is_repairing() || repeated && examined);
        let outstanding = self.board.pipe();
        // RFC 8985 section 6.3: what was sent a moment ago may still arrive.
        let window = self.rack_window();
        let recent =
            |rack: &Rack, segment: &Segment| rack.remaining(segment, window, now).is_some();
        for (place, id) in self.board.ids().enumerate() {
            let spare = place > 0
                && self.options.detection == Detection::Rack
                && recent(&self.rack, self.board.get(id));
            if !spare {
                self.board.lose(id);
            }
        }
        if !again {
            self.begin_undo(now, true);
        }
        self.rto.back_off();
        let expiry = Expiry {
            again,
            kept: self.board.pipe(),
        };
        self.congest(CongestionKind::Timeout(expiry), outstanding, now);
        self.unused.begin(now);
        self.cwr_due = self.owes_cwr();
        self.reducing = false;
        self.high = self.nxt;
        self.probe_high = 0;
        self.doubt = Doubt::Settled;
        self.set_phase(Phase::Loss, now);
        self.tell_losses(now);
        self.pacer.release(now);
        self.forced = true;
        if let Some(first) = self.board.front().map(|first| first.seq) {
            let id = self.board.at(first);
            self.forced = false;
            if !self.board.get(id).is_sacked() {
                self.retransmit(id, host);
            }
        }
        if doubtful {
            self.doubt = Doubt::Resent;
        }
        self.arm(Pending::Timeout, self.rto.timeout(), host);
        self.send(host);
    }

    fn is_repairing(&self) -> bool {
        matches!(self.phase, Phase::Recovery | Phase::Loss)
    }

    // Acknowledgements.

    pub(super) fn set_phase(&mut self, phase: Phase, now: Time) {
        if self.phase != phase {
            if self.phase == Phase::Recovery {
                self.rack.on_recovered();
            }
            self.phase = phase;
            if phase != Phase::Disorder {
                self.beyond = 0;
            }
            if phase == Phase::Open || phase == Phase::Disorder {
                self.reducing = false;
                self.doubt = Doubt::Settled;
            }
            self.cc.on_phase(phase, now);
        }
    }

    fn on_acknowledgement<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        let ack = packet.ack;
        if ack > self.nxt {
            return;
        }
        if self.phase == Phase::Open
            && ack > self.una
            && self.board.is_untouched()
            && self.probe_high == 0
            && !self.ecn
            && self.usual
            && host.side(packet).is_none_or(|side| side.sack[0].1 == 0)
            && self.board.front().is_some_and(|first| first.end() <= ack)
        {
            let stamps = match self.traits.unsampled {
                true => None,
                false => self.stamps(host.side(packet)),
            };
            return self.advance(ack, stamps, host);
        }
        match self.is_ns3() {
            true => self.receive_ack(packet, host),
            false => self.take_in(packet, host),
        }
    }

    /// An acknowledgement that may show anything.
    #[inline(never)]
    fn take_in<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        let (now, ack) = (host.now(), packet.ack);
        let side = host.side(packet);
        let outstanding_before = self.board.outstanding();
        let pipe_before = self.board.pipe();
        let delivered_before = self.rate.delivered();
        let lost_before = self.board.lost_total();
        let highest_before = self.board.highest().max(self.una);
        let mut event = Event::at(now);
        if let Some(side) = &side {
            self.take_side(side, ack, &mut event);
        }
        if ack > self.una {
            self.take_cumulative(ack, &mut event);
            // The rest is part of the flight now.
            let more = (self.nxt - self.una).saturating_sub(self.cc.cwnd());
            self.beyond = self.beyond.min(more);
        } else if outstanding_before == 0 {
            return;
        }
        if event.lowest < highest_before {
            self.note_reordering(event.lowest);
        }
        let rtt = self.measure(&event);
        let delivered = self.rate.delivered() - delivered_before;
        self.just_delivered = delivered;
        let marked = self.take_marks(packet, side.as_ref(), delivered);
        event.echo = marked > 0 || (self.owes_cwr() && packet.flags.has(Flags::ECE));
        let (sampled, interval) = self.rate.finish(&event.picked, self.min_rtt, now);
        let limited = self.is_limited();
        let mut sample = Sample {
            told: None,
            now,
            una: self.una,
            next: self.nxt,
            acked: outstanding_before - self.board.outstanding(),
            newly_delivered: delivered,
            marked,
            rtt,
            min_rtt: self.min_rtt,
            srtt: self.rto.srtt(),
            one_way: event.one_way,
            stamp: event.stamp,
            delivered: self.rate.delivered(),
            prior_delivered: event.picked.prior_delivered,
            sampled,
            interval,
            app_limited: event.picked.then.app_limited,
            in_flight_before: pipe_before,
            in_flight: self.board.pipe(),
            tx_in_flight: event.picked.then.in_flight,
            lost_since: self.board.lost_total()
                - event.picked.then.lost.min(self.board.lost_total()),
            newly_lost: 0,
            phase: self.phase,
            limited,
        };
        self.cc.on_sample(&sample);
        if event.acked > 0 || delivered > 0 {
            self.rack
                .adapt(event.picked.prior_delivered, self.rate.delivered());
        }
        if self.probe_high != 0 {
            self.judge_probe(ack, &event);
        }
        let restarts = event.acked > 0 || self.restarts_by_sack(&event);
        if self.una == self.nxt && event.acked > 0 {
            self.disarm();
            if self.una == self.end {
                self.check_completion(now);
            }
        }
        // An acknowledgement that neither advances nor tells of anything counts as dubious too.
        if event.acked == 0
            || event.sacked
            || event.duplicate
            || event.echo
            || self.phase != Phase::Open
        {
            self.alert(&mut event, host);
        }
        if restarts && self.una != self.nxt && !event.waits && !self.schedule_probe(true, host) {
            if self.options.restart != Restart::Sacked {
                self.pending = Pending::Timeout;
            }
            self.arm_timeout(host);
        }
        sample.newly_lost = self.board.lost_total() - lost_before;
        sample.lost_since =
            self.board.lost_total() - event.picked.then.lost.min(self.board.lost_total());
        sample.in_flight = self.board.pipe();
        sample.phase = self.phase;
        self.control(&sample, limited);
        self.send(host);
    }

    /// The usual acknowledgement: new data, nothing is or was missing. Does what [`SackSender::on_acknowledgement`] would, without asking for the rest.
    #[inline]
    fn advance<H: Host>(&mut self, ack: u64, stamps: Option<(Time, Time)>, host: &mut H) {
        let now = host.now();
        let pipe_before = self.board.pipe();
        let outstanding_before = self.board.outstanding();
        let delivered_before = self.rate.delivered();
        self.bytes_acked += ack - self.una;
        self.una = ack;
        let mut picked = Picked::default();
        let Some(first) = self.board.front().map(|first| first.sent) else {
            return;
        };
        let mut last = Segment::default();
        let mut bytes = 0;
        while let Some(segment) = self.board.pop_acked(ack) {
            if self.traits.samples {
                let then = self.board.pop_then();
                self.rate.on_delivered(&segment, then.as_ref(), &mut picked);
            }
            bytes += u64::from(segment.bytes).max(self.least);
            last = segment;
        }
        if !self.traits.samples {
            picked.prior_delivered = self.rate.on_delivered_in_order(&last, bytes);
        }
        let (smoothed, rtt) = (now.saturating_since(first), now.saturating_since(last.sent));
        self.rack.on_delivered_in_order(&last, rtt);
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        let share = self.share.follow(self.expected_samples());
        self.rto.sample_of(share, smoothed, self.una, self.nxt);
        self.cold.report.record_rtt(smoothed);
        let delivered = self.rate.delivered() - delivered_before;
        self.just_delivered = delivered;
        let (sampled, interval) = self.rate.finish(&picked, self.min_rtt, now);
        let limited = self.is_limited();
        if !self.traits.unsampled {
            let lost = self.board.lost_total();
            self.cc.on_sample(&Sample {
                told: None,
                now,
                una: self.una,
                next: self.nxt,
                acked: outstanding_before - self.board.outstanding(),
                newly_delivered: delivered,
                marked: 0,
                rtt: Some(rtt),
                min_rtt: self.min_rtt,
                srtt: self.rto.srtt(),
                one_way: stamps.and_then(|(value, echo)| value.checked_since(echo)),
                stamp: stamps.map(|(_, echo)| echo),
                delivered: self.rate.delivered(),
                prior_delivered: picked.prior_delivered,
                sampled,
                interval,
                app_limited: picked.then.app_limited,
                in_flight_before: pipe_before,
                in_flight: self.board.pipe(),
                tx_in_flight: picked.then.in_flight,
                lost_since: lost - picked.then.lost.min(lost),
                newly_lost: 0,
                phase: self.phase,
                limited,
            });
        }
        self.rack
            .adapt(picked.prior_delivered, self.rate.delivered());
        let probes = self.options.tail_probe && self.una != self.nxt;
        if self.una == self.nxt {
            self.disarm();
            if self.una == self.end {
                self.check_completion(now);
            }
        } else if probes {
            // The timer is set once, after what is sent now.
            self.pending = Pending::Probe;
        } else {
            self.pending = Pending::Timeout;
            self.arm_timeout(host);
        }
        self.cc.on_ack(&Acked {
            now,
            bytes: delivered,
            in_flight: self.board.pipe(),
            rtt: Some(rtt),
            echo: false,
            limited,
            stage: Stage::Open,
        });
        if !self.send(host) && probes {
            self.schedule_probe(true, host);
        }
    }

    #[inline]
    fn stamps(&self, side: Option<Side>) -> Option<(Time, Time)> {
        let (value, echo) = side.filter(|_| self.options.timestamps)?.timestamps;
        Some((Time::from_ps(value), Time::from_ps(echo)))
    }

    /// What was lost, where the congestion control goes by a model.
    fn tell_losses(&mut self, now: Time) {
        for (then, bytes, lost) in self.board.take_told() {
            self.cc.on_lost(&Lost {
                now,
                bytes,
                tx_in_flight: then.in_flight,
                lost_since: lost - then.lost,
                app_limited: then.app_limited,
                delivered: self.rate.delivered(),
            });
        }
    }

    /// Adapts the window, or what may be sent while it falls.
    #[inline]
    fn control(&mut self, sample: &Sample, limited: bool) {
        if self.traits.model {
            self.tell_losses(sample.now);
            self.cc.on_model(sample);
        } else if self.reducing {
            let progress = sample.acked > 0 && sample.newly_lost == 0;
            self.prr.on_ack(
                sample.newly_delivered,
                sample.in_flight,
                self.cc.ssthresh(),
                progress,
            );
        } else if !matches!(self.phase, Phase::Recovery | Phase::Reducing)
            && (sample.acked > 0
                || (self.dupthresh > self.options.dupthresh && sample.newly_delivered > 0))
        {
            self.cc.on_ack(&Acked {
                now: sample.now,
                bytes: sample.newly_delivered,
                in_flight: sample.in_flight,
                rtt: sample.rtt,
                echo: false,
                limited,
                stage: Stage::Open,
            });
        }
    }

    /// Blocks, timestamps.
    pub(super) fn take_side(&mut self, side: &Side, ack: u64, event: &mut Event) {
        if self.options.timestamps {
            let (value, echo) = side.timestamps;
            let (value, echo) = (Time::from_ps(value), Time::from_ps(echo));
            event.stamp = Some(echo);
            event.one_way = value.checked_since(echo);
        }
        let [first, second, _] = side.sack;
        if first.1 == 0 {
            return;
        }
        // RFC 2883 section 4: below the acknowledgement, or within the second block.
        let duplicate =
            first.1 <= ack || (second.1 != 0 && first.0 >= second.0 && first.1 <= second.1);
        if duplicate {
            event.duplicate = true;
            event.probe_duplicate =
                self.probe_high != 0 && self.probe_resent && first.1 == self.probe_high;
            if !event.probe_duplicate {
                self.rack.on_duplicate();
            }
            if let (Some(from), Some(resent)) = (self.undo_from, &mut self.undo_resent)
                && first.1 > from
            {
                *resent = resent.saturating_sub(1);
            }
        }
        let una = self.una.max(ack);
        let known = self.known;
        for (index, &(from, to)) in side.sack.iter().enumerate() {
            if to > una && to <= self.nxt && !(duplicate && index == 0) {
                self.take_block(from.max(self.una), to, &known, event);
            }
        }
        self.known = side.sack;
    }

    /// What is new in a block.
    fn take_block(&mut self, from: u64, to: u64, known: &[(u64, u64); 3], event: &mut Event) {
        let mut at = from;
        while at < to {
            if let Some(block) = known.iter().find(|block| block.0 <= at && at < block.1) {
                at = block.1;
                continue;
            }
            let next_known = known.iter().filter(|block| block.0 > at).map(|b| b.0).min();
            let until = next_known.unwrap_or(to).min(to);
            let mut id = self.board.at(at);
            while let Some(segment) = self.board.try_get(id)
                && segment.end() <= until
            {
                if let Some(before) = self.board.sack(id) {
                    let then = self.board.then(id).copied();
                    self.deliver(&before, then.as_ref(), false, event);
                }
                id = id.wrapping_add(1);
            }
            at = until;
        }
    }

    /// A segment is delivered for the first time.
    #[inline]
    fn deliver(
        &mut self,
        segment: &Segment,
        then: Option<&Then>,
        cumulatively: bool,
        event: &mut Event,
    ) {
        if self.traits.keeps_samples
            && let Some(then) = then
        {
            let prior = self.rate.delivered_before(segment);
            let sampler = &mut self.cold.socket.sampler;
            sampler.on_delivered(segment, prior, then, event.now);
        }
        self.rate.on_delivered(segment, then, &mut event.picked);
        // A selective acknowledgement echoes the last segment in order (RFC 7323 section 4.3) and so tells nothing of this one.
        let echo = event.stamp.filter(|_| cumulatively && !self.options.linux);
        self.rack
            .on_delivered(segment, echo, self.min_rtt, event.now);
        if !cumulatively {
            event.sacked = true;
        }
        if segment.was_retransmitted() {
            return;
        }
        event.lowest = event.lowest.min(segment.seq);
        event.original |= segment.end() <= self.high;
        let times = if cumulatively {
            &mut event.acked_sent
        } else {
            &mut event.sacked_sent
        };
        let (first, last) = times.unwrap_or((segment.sent, segment.sent));
        *times = Some((first.min(segment.sent), last.max(segment.sent)));
    }

    #[inline]
    pub(super) fn take_cumulative(&mut self, ack: u64, event: &mut Event) {
        event.acked = ack - self.una;
        self.una = ack;
        self.bytes_acked += event.acked;
        while let Some(segment) = self.board.pop_acked(ack) {
            let then = self.board.pop_then();
            event.resent_acked |= segment.was_retransmitted();
            if !segment.is_sacked() {
                self.deliver(&segment, then.as_ref(), true, event);
            }
        }
    }

    /// The round-trip time that the acknowledgement measures (RFC 6298 section 3, RFC 7323 section 4.1): the timer goes by
    /// the first segment, the congestion control by the last.
    #[inline]
    fn measure(&mut self, event: &Event) -> Option<Span> {
        let now = event.now;
        let (mut first, mut last) = match event.acked_sent {
            Some((first, last)) if !event.resent_acked => (Some(first), Some(last)),
            _ => (None, None),
        };
        if let Some((sacked_first, sacked_last)) = event.sacked_sent {
            first = first.or(Some(sacked_first));
            last = Some(sacked_last);
        }
        let (smoothed, rtt) = if first.is_none() && event.acked > 0 {
            let rtt = self.since_stamp(now, event.stamp?)?;
            (rtt, rtt)
        } else {
            (now.checked_since(first?)?, now.checked_since(last?)?)
        };
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        let share = self.share.follow(self.expected_samples());
        self.rto.sample_of(share, smoothed, self.una, self.nxt);
        self.cold.report.record_rtt(smoothed);
        Some(rtt)
    }

    /// Samples of the round-trip time that a window gives, where timestamps make one of each acknowledgement (RFC 7323 appendix G); where they do not, what RFC 6298
    /// section 3 calls an open question is left open.
    #[inline]
    fn expected_samples(&self) -> u64 {
        match self.options.timestamps && !self.options.linux {
            true => (self.nxt - self.una).div_ceil(2 * self.mss).max(1),
            false => 1,
        }
    }

    /// The round-trip time that an echoed timestamp tells, to its granularity.
    fn since_stamp(&self, now: Time, stamp: Time) -> Option<Span> {
        let tick = self.options.stamp_tick;
        let ticks = |at: Time| at.as_ps() / tick.as_ps();
        let passed = ticks(now).checked_sub(ticks(stamp))?;
        Some(tick.saturating_mul(passed.max(1)))
    }

    /// Whether a selective acknowledgement alone restarts the timer (RFC 6675 section 6): of what was sent before the first segment was sent last, so that the timer does
    /// not go on and on while that segment is missing (tcp_clean_rtx_queue).
    fn restarts_by_sack(&self, event: &Event) -> bool {
        self.options.restart != Restart::Acked
            && event
                .sacked_sent
                .zip(self.board.front())
                .is_some_and(|((sacked, _), front)| sacked < front.sent)
    }

    /// Bytes of those just delivered that arrived marked.
    #[inline]
    pub(super) fn take_marks(
        &mut self,
        packet: &Packet,
        side: Option<&Side>,
        delivered: u64,
    ) -> u64 {
        if !self.ecn {
            return 0;
        }
        match self.feedback {
            Feedback::Echo => 0,
            Feedback::PerSegment if packet.flags.has(Flags::ECE) => delivered,
            Feedback::PerSegment => 0,
            Feedback::Counted => {
                let before = self.marks.bytes;
                let counted = side.map_or(before, |side| side.words[1]);
                self.marks.bytes = before.max(counted);
                counted.saturating_sub(before)
            }
            Feedback::Accurate => {
                let overtaken = packet.ack < self.una;
                let sizes = (delivered, self.mss);
                self.marks.take(packet.flags, side, sizes, overtaken)
            }
        }
    }

    /// What was sent once has arrived after what was sent later (RFC 8985 section 6.2 step 3).
    fn note_reordering(&mut self, lowest: u64) {
        let distance = self.board.highest().saturating_sub(lowest);
        let most = u64::from(self.options.most_reordering);
        let segments = distance.div_ceil(self.mss).min(most);
        self.dupthresh = self
            .dupthresh
            .max(u32::try_from(segments).unwrap_or(u32::MAX));
        self.rack.on_reordering();
    }

    // Losses.

    /// Whether the tail probe has repaired a loss: that is answered as a loss is (RFC 8985 section 7.4).
    fn judge_probe(&mut self, ack: u64, event: &Event) {
        if ack < self.probe_high {
            return;
        }
        if !self.probe_resent || event.probe_duplicate {
            self.probe_high = 0;
        } else if ack > self.probe_high {
            self.probe_high = 0;
            if matches!(self.phase, Phase::Open | Phase::Disorder) {
                self.undo = None;
                self.undo_from = None;
                self.reduce(CongestionKind::Loss, event.now);
                self.finish_reduction(event.now);
            }
        } else if event.acked == 0 && !event.sacked {
            self.probe_high = 0;
        }
    }

    /// Looks for losses by the chosen rule; true if the timer waits for what may only be reordered.
    fn look_for_losses<H: Host>(&mut self, now: Time, host: &mut H) -> bool {
        match self.options.detection {
            Detection::Count => self.board.lose_by_count(self.dupthresh, self.mss, true),
            Detection::Rack => {
                let window = self.rack_window();
                if let Some(wait) = self.rack.detect(&mut self.board, window, now) {
                    self.arm(Pending::Reordering, wait + self.options.least_wait, host);
                    return true;
                }
            }
        }
        false
    }

    fn rack_window(&self) -> Span {
        self.rack.window(
            self.is_repairing(),
            self.board.sacked_segments() >= self.dupthresh,
            self.min_rtt,
            self.rto.srtt(),
        )
    }

    fn identify<H: Host>(&mut self, event: &mut Event, host: &mut H) {
        if self.board.len() == 0 {
            return;
        }
        let resent = self.board.retransmitted();
        let looks = match self.options.detection {
            Detection::Count => event.sacked,
            Detection::Rack => self.rack.advanced(),
        };
        event.waits = looks && self.look_for_losses(event.now, host);
        event.resent_lost = self.board.retransmitted() < resent;
        if self.options.detection == Detection::Count && !self.is_repairing() {
            self.count_duplicate(event);
        }
    }

    /// So many acknowledgements tell of a loss, however short the segments are that they tell of (RFC 6675 section 5 step 1).
    fn count_duplicate(&mut self, event: &Event) {
        if event.acked > 0 {
            self.duplicates = 0;
        }
        self.duplicates += u32::from(event.sacked);
        if event.sacked
            && self.duplicates >= self.dupthresh
            && self.board.lost() == 0
            && let Some(first) = self.board.front().map(|first| first.seq)
        {
            let id = self.board.at(first);
            self.board.lose(id);
        }
    }

    /// Within a recovery, a retransmission that was sent since the window was last told to fall is lost: that is one more sign of congestion (RFC 5681 section 4.3,
    /// RFC 8985 section 9.3), and everything that is in flight now belongs to it. True if the window falls.
    fn answer_lost_retransmission(&mut self, now: Time) -> bool {
        let again = self.board.take_lost_again();
        if self.options.linux
            || self.traits.model
            || again.is_none_or(|sent| sent < self.reduced_at)
        {
            return false;
        }
        self.undo = None;
        self.reduce(CongestionKind::Loss, now);
        self.forced = true;
        true
    }

    /// The phases (tcp_fastretrans_alert).
    fn alert<H: Host>(&mut self, event: &mut Event, host: &mut H) {
        let now = event.now;
        if event.echo {
            // The network says itself that it is congested.
            self.undo = None;
        }
        if self.phase == Phase::Open {
            self.resent_at = None;
        } else if self.una >= self.high {
            match self.phase {
                // CWR is to reach the receiver before the next reduction.
                Phase::Reducing if self.una > self.high => self.finish_reduction(now),
                Phase::Recovery => {
                    self.try_undo(self.may_undo(event), now);
                    self.finish_reduction(now);
                }
                _ => {}
            }
        }
        match self.phase {
            Phase::Recovery => {
                if event.acked > 0 && self.try_undo_partial(event) {
                    return;
                }
                if self.undone_by_duplicates() {
                    self.try_undo(true, now);
                    self.finish_reduction(now);
                    self.keep_open(now);
                }
                self.identify(event, host);
                if self.phase == Phase::Recovery {
                    self.answer_lost_retransmission(now);
                } else if self.board.lost() > 0 {
                    self.enter_recovery(event.echo, now);
                }
            }
            Phase::Loss => {
                self.in_loss(event);
                self.identify(event, host);
                if self.phase == Phase::Open || event.resent_lost {
                    self.in_order(event, host);
                }
            }
            _ => self.in_order(event, host),
        }
    }

    fn in_order<H: Host>(&mut self, event: &mut Event, host: &mut H) {
        let now = event.now;
        if matches!(self.phase, Phase::Open | Phase::Disorder) && self.undone_by_duplicates() {
            self.try_undo(true, now);
        }
        self.identify(event, host);
        if self.board.lost() > 0 {
            self.enter_recovery(event.echo, now);
            return;
        }
        if !self.any_resent() {
            self.resent_at = None;
        }
        if event.echo && self.phase < Phase::Reducing {
            self.undo = None;
            self.undo_from = None;
            self.reduce(CongestionKind::Ecn, now);
            self.cold.report.ecn_reductions += 1;
            self.set_phase(Phase::Reducing, now);
        }
        if self.phase != Phase::Reducing {
            self.keep_open(now);
        }
    }

    fn any_resent(&self) -> bool {
        self.board.retransmitted() > 0 || self.board.front().is_some_and(Segment::was_retransmitted)
    }

    fn keep_open(&mut self, now: Time) {
        let missing = self.board.sacked() > 0 || self.board.lost() > 0 || self.any_resent();
        let phase = if missing {
            Phase::Disorder
        } else {
            Phase::Open
        };
        if self.phase != phase {
            self.high = self.nxt;
            self.set_phase(phase, now);
        }
    }

    /// Tells the congestion control, with so many bytes in flight.
    fn congest(&mut self, kind: CongestionKind, in_flight: u64, now: Time) {
        let congestion = Congestion {
            now,
            kind,
            in_flight,
            mss: self.mss,
        };
        match self.options.bound_flight {
            true => reduce(&mut self.cc, &congestion),
            false => self.cc.on_congestion(&congestion),
        }
    }

    /// The window is to fall; recovery may or may not follow.
    fn reduce(&mut self, kind: CongestionKind, now: Time) {
        let before = match self.options.reduction {
            // ns-3's RecoverFS is the pipe, too.
            Reduction::Prr if self.options.flight == FlightSize::Pipe => self.board.pipe(),
            Reduction::PrrLinux => self.cwnd(),
            // RecoverFS of RFC 9937 section 6.1: with what the acknowledgement at hand has delivered.
            Reduction::Prr | Reduction::Halt => {
                self.board.pipe() + self.board.lost() + self.just_delivered
            }
        };
        let flight = match self.options.flight {
            // RFC 5681 section 3.2 step 2: not what limited transmit has added.
            FlightSize::Outstanding => self.board.outstanding().saturating_sub(self.beyond),
            FlightSize::Pipe => self.board.pipe(),
        };
        self.congest(kind, flight.max(self.mss), now);
        self.reduced_at = now;
        self.high = self.nxt;
        self.probe_high = 0;
        self.cwr_due = self.owes_cwr();
        self.reducing = !self.traits.model
            && self.options.reduction != Reduction::Halt
            && (kind == CongestionKind::Loss || self.options.reduction_for_ecn);
        self.prr = self.prr.again(before);
    }

    /// The window is what it was to fall to.
    fn finish_reduction(&mut self, now: Time) {
        if !self.traits.model && (self.phase == Phase::Reducing || self.undo_from.is_some()) {
            self.cc.on_ack(&Acked {
                now,
                bytes: 0,
                in_flight: self.board.pipe(),
                rtt: None,
                echo: false,
                limited: true,
                stage: Stage::Exit { at_most: u64::MAX },
            });
        }
        self.reducing = false;
        self.unused.begin(now);
        self.set_phase(Phase::Open, now);
    }

    fn enter_recovery(&mut self, echo: bool, now: Time) {
        if self.phase == Phase::Reducing {
            // The window is falling already.
            let window = self.cwnd();
            self.cc.on_window(window);
            self.undo = None;
            self.undo_from = Some(self.una);
            self.reducing |= !self.traits.model && self.options.reduction != Reduction::Halt;
        } else {
            self.begin_undo(now, !echo);
            // Retransmissions of an earlier recovery that are still under way are no reordering when they arrive
            // (tcp_retrans_stamp_cleanup).
            if !self.any_resent() {
                self.resent_at = None;
            }
            self.reduce(CongestionKind::Loss, now);
        }
        self.cold.report.fast_recoveries += 1;
        // What was lost before has been answered to.
        self.board.take_lost_again();
        self.high_resent = self.una;
        self.rescued = None;
        self.forced = true;
        self.set_phase(Phase::Recovery, now);
    }

    /// Loss after a timeout (RFC 5682 section 3.1; tcp_process_loss).
    fn in_loss(&mut self, event: &mut Event) {
        let now = event.now;
        let recovered = self.una >= self.high;
        if event.acked > 0 && self.may_undo(event) {
            self.try_undo(true, now);
            self.board.unlose();
            self.set_phase(Phase::Open, now);
            return;
        }
        if self.doubt != Doubt::Settled {
            let spurious = match self.options.linux {
                true => self.examine_as_linux(event, recovered),
                false => self.examine(event, recovered),
            };
            if spurious {
                self.try_undo(true, now);
                self.board.unlose();
                self.set_phase(Phase::Open, now);
                return;
            }
        }
        if recovered {
            self.try_undo(self.may_undo(event), now);
            self.set_phase(Phase::Open, now);
        }
    }

    /// What an acknowledgement after a timeout says of it (RFC 5682 section 3.1, steps 2 and 3); true if it was spurious.
    fn examine(&mut self, event: &Event, recovered: bool) -> bool {
        if self.doubt == Doubt::Resent {
            if event.acked == 0 {
                // What duplicates tell is noted, and the retransmission waited for.
                return false;
            }
            self.high = self.nxt;
            self.doubt = if !recovered && self.may_send_new() {
                Doubt::Probed
            } else {
                Doubt::Settled
            };
            return false;
        }
        if event.acked == 0 && !event.sacked && !event.duplicate {
            return false;
        }
        self.doubt = Doubt::Settled;
        let beyond = self.una.max(self.board.highest()) > self.high;
        event.original && !beyond && self.options.undo && self.undo.is_some()
    }

    /// The same where whatever was not sent again and arrives will do, even with the retransmission (tcp_process_loss).
    fn examine_as_linux(&mut self, event: &Event, recovered: bool) -> bool {
        if event.original && self.options.undo && self.undo.is_some() {
            return true;
        }
        if self.nxt > self.high {
            if event.sacked || event.acked == 0 {
                self.doubt = Doubt::Settled;
            }
        } else if event.acked > 0 && !recovered {
            self.high = self.nxt;
            // New data goes out in place of retransmissions.
            if !self.may_send_new() {
                self.doubt = Doubt::Settled;
            }
        } else if event.acked == 0 {
            self.doubt = Doubt::Settled;
        }
        false
    }

    /// There is new data, and the receiver's window has room for it.
    fn may_send_new(&self) -> bool {
        let bytes = self.mss.min(self.end - self.nxt);
        bytes > 0 && self.nxt - self.una + bytes <= self.window
    }

    // Undo.

    fn begin_undo(&mut self, now: Time, allowed: bool) {
        self.undo_from = Some(self.una);
        self.undo_resent =
            (self.board.retransmitted() > 0).then(|| self.board.retransmitted() / self.mss);
        self.undo = (allowed && self.options.undo).then(|| Undo {
            now,
            cwnd: self.cwnd(),
            ssthresh: self.cc.ssthresh(),
        });
    }

    /// The acknowledgement answers to a segment that was sent before the first retransmission (RFC 3522).
    fn is_early(&self, event: &Event) -> bool {
        match (event.stamp, self.resent_at) {
            (Some(stamp), Some(resent)) => stamp < resent,
            _ => false,
        }
    }

    /// Every retransmission was reported as a duplicate (RFC 3708).
    fn undone_by_duplicates(&self) -> bool {
        self.undo_from.is_some() && self.undo_resent == Some(0)
    }

    fn may_undo(&self, event: &Event) -> bool {
        self.undo_from.is_some() && (self.undone_by_duplicates() || self.is_early(event))
    }

    fn try_undo(&mut self, allowed: bool, now: Time) {
        if !allowed || !self.options.undo {
            return;
        }
        if let Some(undo) = self.undo.take() {
            self.cc.on_undo(&Undo { now, ..undo });
        }
        self.undo_from = None;
        self.reducing = false;
    }

    /// A partial acknowledgement of what was sent before the first retransmission; true if nothing else is to be done.
    fn try_undo_partial(&mut self, event: &Event) -> bool {
        if self.undo_from.is_none() || !self.is_early(event) || !self.options.undo {
            return false;
        }
        self.rack.on_reordering();
        if self.board.retransmitted() > 0 {
            return true;
        }
        self.try_undo(true, event.now);
        self.board.unlose();
        self.finish_reduction(event.now);
        self.keep_open(event.now);
        true
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

/// How an algorithm that needs ECN makes packets capable.
pub(super) fn codepoint(ecn: EcnUse) -> Ecn {
    match ecn {
        EcnUse::Classic => Ecn::NotEct,
        EcnUse::PerSegment => Ecn::Ect0,
        EcnUse::Scalable => Ecn::Ect1,
    }
}

/// In-flight bytes and packet sizes fit 32 bits.
#[inline]
fn narrow(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// A segment's payload has at most 65 495 bytes.
#[inline]
fn short(bytes: u64) -> u16 {
    u16::try_from(bytes).unwrap_or(u16::MAX)
}
