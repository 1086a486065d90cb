//! What is sent, and when: retransmissions first, then new data, as far as window, pacing and application allow.
//!
//! Sources: RFC 6675 section 5 step C and section 4 (NextSeg), RFC 3042 (limited transmit), RFC 3168 section 6.1 (codepoints).

use super::SackSender;
use super::state::{FrtoState, PACE, Pending};
use crate::app::Source;
use crate::sack::bursts::BurstContext;
use crate::sack::params::{Capable, Detection, LastResort};
use crate::tcp::FIRST_BYTE;
use sojourn_cc::{CongestionControl, EcnUse, Phase, Sent};
use sojourn_sim::{Ecn, Flags, Host, Kind, Outgoing};
use sojourn_units::Time;

/// What came of an attempt to send one segment.
enum Step {
    /// A segment was sent again.
    Resent,
    /// New data was sent.
    New,
    /// Nothing more is sent now; whether the congestion window is the reason.
    Stop { by_window: bool },
}

impl<S: Source> SackSender<S> {
    /// Sends what window, pacing and application allow: what is lost first, then new data. True if the latter was sent.
    pub(in crate::sack) fn send<H: Host>(&mut self, host: &mut H) -> bool {
        let now = host.now();
        let mut sent_new = false;
        let mut sent_any = false;
        if self.unused.is_on() && self.nxt == self.una {
            self.restart_after_idle(now);
        }
        self.bursts.begin();
        let held = loop {
            match self.step(now, host) {
                Step::Resent => sent_any = true,
                Step::New => {
                    sent_new = true;
                    sent_any = true;
                }
                Step::Stop { by_window } => break by_window,
            }
        };
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

    /// Sends one segment if that is allowed: what is lost first (rule 1 of NextSeg, RFC 6675 section 4).
    #[inline]
    fn step<H: Host>(&mut self, now: Time, host: &mut H) -> Step {
        if self.bursts.is_between()
            && let Some(until) = self.pacer.holds(now)
            && (self.paces || self.cc.pacing_rate().is_some())
        {
            self.timers.set(PACE, until, host);
            // What waits for its turn is held back by the window as far as growth is concerned.
            let by_window = self.board.pipe() + self.mss > self.cwnd();
            return Step::Stop { by_window };
        }
        let pipe = self.board.pipe();
        let window = self.cwnd();
        if self.board.lost() > 0
            && self.frto == FrtoState::Idle
            && let Some(id) = self.next_lost()
        {
            let bytes = u64::from(self.board.get(id).bytes);
            // Step C of RFC 6675 section 5: one more segment goes out while pipe leaves room for it. The first of a recovery does not wait for that (step 4.3).
            if pipe + bytes.max(self.least) > window && !self.forced {
                return Step::Stop { by_window: true };
            }
            self.forced = false;
            self.retransmit(id, host);
            self.note_next(id);
            return Step::Resent;
        }
        // Step 2 of RFC 5682 section 3.1 waits for the acknowledgement of the retransmission: nothing else leaves until then.
        if self.frto == FrtoState::Retransmitted && !self.options.linux {
            return Step::Stop { by_window: false };
        }
        self.step_new(now, pipe, window, host)
    }

    /// Sends one segment of new data (rule 2 of NextSeg), or where there is none what is not known to be lost.
    #[inline]
    fn step_new<H: Host>(&mut self, now: Time, pipe: u64, window: u64, host: &mut H) -> Step {
        let bytes = self.mss.min(self.end - self.nxt);
        if bytes == 0 {
            if pipe < window {
                self.rate.limit(pipe);
            }
            return match self.resend_unknown(pipe, window, host) {
                true => Step::Resent,
                false => Step::Stop { by_window: false },
            };
        }
        let outstanding = self.nxt - self.una;
        // Without limited transmit, what was selectively acknowledged still fills the window until a loss is known.
        let counted = if self.phase == Phase::Disorder && !self.options.limited_transmit {
            self.board.outstanding()
        } else {
            pipe
        };
        if counted + bytes.max(self.least) > window {
            return Step::Stop { by_window: true };
        }
        if outstanding + bytes > self.window {
            return match !self.is_ns3() && self.resend_unknown(pipe, window, host) {
                true => Step::Resent,
                false => Step::Stop { by_window: false },
            };
        }
        if self.options.nagle && bytes < self.mss && outstanding > 0 && !self.source_has_ended() {
            return Step::Stop { by_window: false };
        }
        let Some(push) = self.join_burst(now, window, window - counted) else {
            return Step::Stop { by_window: true };
        };
        self.transmit(bytes, push, host);
        Step::New
    }

    /// The next segment goes on with the burst at hand, or begins one; whether it is the last of several. `None`: a burst had better wait
    /// for more of the `window` to become free than the `room` there is.
    #[inline]
    fn join_burst(&mut self, now: Time, window: u64, room: u64) -> Option<bool> {
        if !self.bursts.on() {
            return Some(false);
        }
        if self.bursts.is_between() && !self.start_burst(now, window, room) {
            return None;
        }
        Some(self.bursts.step())
    }

    #[inline(never)]
    fn start_burst(&mut self, now: Time, window: u64, room: u64) -> bool {
        let paced = self.pace();
        let srtt = self.rto.srtt();
        let context = BurstContext {
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
        self.bursts.start(&context)
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
            false => self.board.next_in_gap(self.high_rxt.max(self.una)),
        };
        if let Some(id) = next {
            self.retransmit(id, host);
            self.note_next(id);
            return true;
        }
        if self.options.last_resort != LastResort::Rescue
            || self.rescue_rxt.is_some_and(|until| self.una <= until)
        {
            return false;
        }
        let Some(id) = self.board.last_missing() else {
            return false;
        };
        let high_rxt = self.high_rxt;
        self.rescue_rxt = Some(self.high);
        self.retransmit(id, host);
        self.high_rxt = high_rxt;
        true
    }

    /// New data.
    #[inline]
    pub(in crate::sack) fn transmit<H: Host>(&mut self, bytes: u64, push: bool, host: &mut H) {
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
            let state = self.rate.now(self.board.pipe(), self.board.lost_total());
            self.board.push_send_state(state);
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
        let kind = match push || (self.bursts.on() && self.nxt == self.end) {
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
    pub(in crate::sack) fn retransmit<H: Host>(&mut self, id: u32, host: &mut H) {
        let now = host.now();
        let first = self.board.front().map(|segment| segment.seq);
        let empty = self.network_is_empty();
        let segment = self.board.get_mut(id);
        self.rate.on_send(segment, empty, now);
        let (seq, bytes) = (segment.seq, u64::from(segment.bytes));
        let in_flight = self.board.pipe() + bytes.max(self.least);
        let state = self.rate.now(in_flight, self.board.lost_total());
        if let Some(known) = self.board.send_state_mut(id) {
            *known = state;
        }
        self.board.retransmit(id);
        self.high_rxt = self.high_rxt.max(seq + bytes);
        // Section 5 step 4.3 of RFC 6675: no rescue before the first one has arrived.
        self.rescue_rxt.get_or_insert(seq + bytes);
        self.cold.report.retransmissions += 1;
        if self.first_retransmission.is_none() {
            self.first_retransmission = Some(now);
        }
        self.undo_retransmissions = Some(self.undo_retransmissions.unwrap_or(0) + 1);
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
        self.bursts.begin();
        self.put(seq, bytes, ecn, (Kind::Segment, Flags::RETRANSMIT), host);
    }

    #[inline]
    fn account<H: Host>(
        &mut self,
        bytes: u64,
        retransmission: bool,
        after_idle: bool,
        host: &mut H,
    ) {
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
            retransmission,
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

    /// There is new data, and the receiver's window has room for it.
    pub(super) fn may_send_new(&self) -> bool {
        let bytes = self.mss.min(self.end - self.nxt);
        bytes > 0 && self.nxt - self.una + bytes <= self.window
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
