//! The frame in which algorithms of dialect `linux` run: what Linux's TCP tells a module of congestion control, and when.
//!
//! Source: Linux 6.1.192, read for behaviour: include/net/tcp.h (tcp_congestion_ops), tcp_cong.c, and the calls of tcp_input.c (tcp_ack,
//! tcp_fastretrans_alert, tcp_enter_loss, tcp_end_cwnd_reduction) and tcp_output.c (tcp_event_data_sent, tcp_cwnd_restart). The windows of single flows
//! were compared with that kernel's, change by change.
//!
//! What all of them have in common, and is no advice of a paper: windows are whole segments, times ticks of a clock of a millisecond (HZ=1000), numbers
//! integers; samples of the round trip are microseconds, of an acknowledgement's last segment; what an acknowledgement delivers opens the window in
//! slow start one for one, after a timeout, too.

use crate::num::{micros, millis};
use crate::{
    Acked, Build, Congestion, CongestionControl, CongestionKind, Phase, Sample, Sent, Stage, Start,
    Traits, Undo,
};
use sojourn_units::{ParamError, Rate, Span, Time};

/// A delay that no sample undercuts, microseconds.
pub(crate) const NO_DELAY: u64 = 0x7fff_ffff;

/// What Linux's socket and a module share (tcp_sock). Windows are segments.
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// The window, segments.
    pub(crate) cwnd: u64,
    /// `u64::MAX` while unknown.
    pub(crate) ssthresh: u64,
    /// Segments acknowledged towards the next one of growth (snd_cwnd_cnt).
    pub(crate) counted: u64,
    /// Payload of a full segment, bytes.
    pub(crate) mss: u64,
    /// The window at the beginning, segments.
    initial: u64,
    /// When this is.
    pub(crate) now: Time,
    /// The first byte that is not acknowledged, and the one to send next.
    pub(crate) una: u64,
    /// The byte to send next.
    pub(crate) next: u64,
    /// The smoothed round trip.
    pub(crate) srtt: Span,
    pub(crate) phase: Phase,
}

impl State {
    /// The clock (tcp_jiffies32).
    pub(crate) fn ticks(&self) -> u64 {
        millis(self.now.saturating_since(Time::ZERO))
    }

    pub(crate) fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// tcp_slow_start; the segments that are left.
    pub(crate) fn slow_start(&mut self, acked: u64) -> u64 {
        let cwnd = (self.cwnd + acked).min(self.ssthresh);
        let left = acked - (cwnd - self.cwnd);
        self.cwnd = cwnd;
        left
    }

    /// tcp_cong_avoid_ai: one segment more for every `per` acknowledged.
    pub(crate) fn avoid(&mut self, per: u64, acked: u64) {
        let per = per.max(1);
        if self.counted >= per {
            self.counted = 0;
            self.cwnd += 1;
        }
        self.counted += acked;
        if self.counted >= per {
            self.cwnd += self.counted / per;
            self.counted %= per;
        }
    }

    /// What is left of `acked` for congestion avoidance after slow start; nothing where the window is not what holds the sender back.
    pub(crate) fn rest(&mut self, acked: u64, limited: bool) -> Option<u64> {
        if limited && self.in_slow_start() {
            let left = self.slow_start(acked);
            return (left > 0).then_some(left);
        }
        limited.then_some(acked)
    }

    /// As [`Self::rest`], of modules that forget what is left: whether this is congestion avoidance.
    pub(crate) fn avoids(&mut self, acked: u64, limited: bool) -> bool {
        if limited && self.in_slow_start() {
            self.slow_start(acked);
            return false;
        }
        limited
    }

    /// tcp_reno_cong_avoid.
    pub(crate) fn reno(&mut self, acked: u64, limited: bool) {
        if let Some(left) = self.rest(acked, limited) {
            self.avoid(self.cwnd, left);
        }
    }

    /// tcp_reno_ssthresh.
    pub(crate) fn half(&self) -> u64 {
        (self.cwnd / 2).max(2)
    }

    /// tcp_current_ssthresh: three quarters of the window are known to be possible.
    pub(crate) fn current_threshold(&self) -> u64 {
        if matches!(self.phase, Phase::Reducing | Phase::Recovery) {
            self.ssthresh
        } else {
            self.ssthresh.max(self.cwnd / 2 + self.cwnd / 4)
        }
    }
}

/// Clock ticks of a time in microseconds, rounded up (usecs_to_jiffies).
pub(crate) fn ticks_of(microseconds: u64) -> u64 {
    microseconds.div_ceil(1000)
}

/// What happens to the window beside its growth (tcp_ca_event).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// Something is sent while nothing is in flight, or after it was for so long that the window is cut.
    TxStart,
    /// A reduction is over, and the window has become the threshold.
    CompleteCwr,
    /// The retransmission timer has fired, and the threshold was set.
    Loss,
}

/// An algorithm as Linux has it (tcp_congestion_ops).
pub(crate) trait Ops: std::fmt::Debug + Send {
    /// init.
    fn init(&mut self, state: &mut State) {
        let _ = state;
    }
    /// pkts_acked: segments acknowledged cumulatively, and the round trip in microseconds, if one was sampled.
    fn acked(&mut self, state: &mut State, segments: u64, rtt: Option<u64>, sample: &Sample) {
        let _ = (state, segments, rtt, sample);
    }
    /// in_ack_event.
    fn heard(&mut self, state: &mut State) {
        let _ = state;
    }
    /// set_state.
    fn phase(&mut self, state: &mut State, phase: Phase) {
        let _ = (state, phase);
    }
    /// cwnd_event.
    fn event(&mut self, state: &mut State, event: Event) {
        let _ = (state, event);
    }
    /// cong_avoid: `acked` segments were delivered; whether the window was what held the sender back.
    fn avoid(&mut self, state: &mut State, acked: u64, limited: bool) {
        state.reno(acked, limited);
    }
    /// ssthresh.
    fn threshold(&mut self, state: &State) -> u64 {
        state.half()
    }
    /// undo_cwnd, beside taking the window back.
    fn undone(&mut self) {}
    /// What it asks of the transport.
    fn traits(&self) -> Traits {
        Traits {
            samples: true,
            ..Traits::default()
        }
    }
    /// See [`CongestionControl::series`].
    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        let _ = tell;
    }
}

/// What Vegas, Veno and YeAH keep of delays: the shortest of all and the shortest since they looked last, microseconds and one more, so that none is 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delays {
    /// The shortest of all.
    pub(crate) base: u64,
    /// The shortest since the module looked last.
    pub(crate) least: u64,
    /// Samples since then.
    pub(crate) samples: u64,
}

impl Default for Delays {
    fn default() -> Delays {
        Delays {
            base: NO_DELAY,
            least: NO_DELAY,
            samples: 0,
        }
    }
}

impl Delays {
    /// pkts_acked.
    pub(crate) fn take(&mut self, rtt: Option<u64>) {
        if let Some(rtt) = rtt {
            self.base = self.base.min(rtt + 1);
            self.least = self.least.min(rtt + 1);
            self.samples += 1;
        }
    }

    /// A round trip begins.
    pub(crate) fn begin(&mut self) {
        self.least = NO_DELAY;
        self.samples = 0;
    }

    /// Fewer may all be of delayed acknowledgements.
    pub(crate) fn suffice(&self) -> bool {
        self.samples > 2
    }
}

/// An algorithm in its frame.
#[derive(Clone, Debug)]
pub(crate) struct Socket<O> {
    pub(crate) state: State,
    pub(crate) ops: O,
    /// A reduction has begun whose end the algorithm is to hear of.
    falling: bool,
}

impl<O: Ops> Socket<O> {
    /// A connection that is not established yet.
    pub(crate) fn new(ops: O) -> Socket<O> {
        Socket {
            state: State {
                cwnd: 0,
                ssthresh: u64::MAX,
                counted: 0,
                mss: 1,
                initial: 1,
                now: Time::ZERO,
                una: 0,
                next: 0,
                srtt: Span::ZERO,
                phase: Phase::Open,
            },
            ops,
            falling: false,
        }
    }

    fn complete(&mut self) {
        if self.falling {
            self.falling = false;
            self.ops.event(&mut self.state, Event::CompleteCwr);
        }
    }
}

impl<O: Ops + Build> Build for Socket<O> {
    type Params = O::Params;

    fn build(params: &O::Params) -> Result<Socket<O>, ParamError> {
        Ok(Socket::new(O::build(params)?))
    }
}

impl<O: Ops> CongestionControl for Socket<O> {
    fn on_start(&mut self, start: &Start) {
        let state = &mut self.state;
        state.mss = start.mss.max(1);
        state.initial = (start.initial_window / state.mss).max(1);
        state.cwnd = state.initial;
        state.now = start.now;
        state.srtt = start.rtt.unwrap_or(Span::ZERO);
        self.ops.init(state);
    }

    fn on_sent(&mut self, sent: &Sent) {
        let state = &mut self.state;
        state.now = sent.now;
        if sent.after_idle {
            state.ssthresh = state.current_threshold();
            state.cwnd = state.cwnd.min(state.initial);
        }
        if sent.after_idle || sent.in_flight == sent.bytes {
            self.ops.event(state, Event::TxStart);
        }
    }

    fn on_decay(&mut self, cwnd: u64) {
        let state = &mut self.state;
        state.ssthresh = state.current_threshold();
        state.cwnd = (cwnd / state.mss).max(1);
    }

    fn traits(&self) -> Traits {
        Traits {
            raises: Some("Linux bounds no threshold that a module answers with"),
            ..self.ops.traits()
        }
    }

    fn on_sample(&mut self, sample: &Sample) {
        let state = &mut self.state;
        state.now = sample.now;
        state.una = sample.una;
        state.next = sample.next;
        state.srtt = sample.srtt.unwrap_or(state.srtt);
        let segments = sample.acked.div_ceil(state.mss);
        self.ops
            .acked(state, segments, sample.rtt.map(micros), sample);
        self.ops.heard(state);
    }

    fn on_ack(&mut self, acked: &Acked) {
        let state = &mut self.state;
        state.now = acked.now;
        match acked.stage {
            Stage::Open => {
                let segments = acked.bytes.div_ceil(state.mss);
                self.ops
                    .avoid(state, segments, acked.limited && !acked.echo);
            }
            Stage::Recovery => {}
            Stage::Exit { at_most } => {
                state.cwnd = state.ssthresh.min(at_most / state.mss).max(1);
                self.complete();
            }
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let state = &mut self.state;
        state.now = congestion.now;
        state.counted = match congestion.kind {
            CongestionKind::Loss | CongestionKind::Ecn => {
                state.ssthresh = self.ops.threshold(state);
                state.cwnd = state.ssthresh;
                self.falling = true;
                0
            }
            CongestionKind::Timeout(expiry) => {
                self.falling = false;
                if !expiry.again {
                    state.ssthresh = self.ops.threshold(state);
                    self.ops.event(state, Event::Loss);
                }
                state.cwnd = expiry.kept.div_ceil(state.mss) + 1;
                if state.phase == Phase::Loss {
                    self.ops.phase(state, Phase::Loss);
                }
                0
            }
        };
    }

    fn on_window(&mut self, cwnd: u64) {
        self.state.cwnd = (cwnd / self.state.mss).max(1);
    }

    fn on_phase(&mut self, phase: Phase, now: Time) {
        let before = std::mem::replace(&mut self.state.phase, phase);
        self.state.now = now;
        self.ops.phase(&mut self.state, phase);
        // The end of a reduction that was taken back.
        if phase == Phase::Open && matches!(before, Phase::Reducing | Phase::Recovery) {
            self.complete();
        }
    }

    fn cwnd(&self) -> u64 {
        self.state.cwnd * self.state.mss
    }

    fn ssthresh(&self) -> u64 {
        self.state.ssthresh.saturating_mul(self.state.mss)
    }

    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    fn on_undo(&mut self, undo: &Undo) {
        let state = &mut self.state;
        state.cwnd = state.cwnd.max(undo.cwnd / state.mss);
        state.ssthresh = match undo.ssthresh {
            u64::MAX => u64::MAX,
            bytes => state.ssthresh.max(bytes / state.mss),
        };
        self.ops.undone();
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        self.ops.series(tell);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Expiry;

    const MSS: u64 = 1448;

    /// Keeps what it hears.
    #[derive(Clone, Debug, Default)]
    struct Ear {
        heard: Vec<String>,
    }

    impl Ops for Ear {
        fn phase(&mut self, _: &mut State, phase: Phase) {
            self.heard.push(format!("{phase:?}"));
        }
        fn event(&mut self, _: &mut State, event: Event) {
            self.heard.push(format!("{event:?}"));
        }
        fn threshold(&mut self, state: &State) -> u64 {
            self.heard.push("threshold".to_owned());
            state.half()
        }
    }

    fn socket(segments: u64) -> Socket<Ear> {
        let mut socket = Socket::new(Ear::default());
        socket.on_start(&Start {
            mss: MSS,
            initial_window: segments * MSS,
            ..Start::default()
        });
        socket
    }

    fn congest(socket: &mut Socket<Ear>, kind: CongestionKind) {
        socket.on_congestion(&Congestion {
            now: Time::ZERO,
            kind,
            in_flight: 5 * MSS,
            mss: MSS,
        });
    }

    fn acked(socket: &mut Socket<Ear>, segments: u64, stage: Stage) {
        socket.on_ack(&Acked {
            now: Time::ZERO,
            bytes: segments * MSS,
            in_flight: 0,
            rtt: None,
            echo: false,
            limited: true,
            stage,
        });
    }

    #[test]
    fn a_module_hears_of_a_loss_and_its_end_as_linux_tells_of_them() {
        let mut socket = socket(20);
        congest(&mut socket, CongestionKind::Loss);
        socket.on_phase(Phase::Recovery, Time::ZERO);
        acked(&mut socket, 0, Stage::Exit { at_most: u64::MAX });
        socket.on_phase(Phase::Open, Time::ZERO);
        let heard = ["threshold", "Recovery", "CompleteCwr", "Open"];
        assert_eq!(socket.ops.heard, heard);
        assert_eq!((socket.cwnd(), socket.ssthresh()), (10 * MSS, 10 * MSS));
    }

    #[test]
    fn the_end_of_a_reduction_that_was_taken_back_is_told_too() {
        let mut socket = socket(20);
        congest(&mut socket, CongestionKind::Loss);
        socket.on_phase(Phase::Recovery, Time::ZERO);
        socket.on_undo(&Undo {
            now: Time::ZERO,
            cwnd: 20 * MSS,
            ssthresh: u64::MAX,
        });
        socket.on_phase(Phase::Open, Time::ZERO);
        assert_eq!(socket.ops.heard.last().unwrap(), "CompleteCwr");
        assert_eq!((socket.cwnd(), socket.ssthresh()), (20 * MSS, u64::MAX));
    }

    #[test]
    fn a_timeout_of_the_same_segment_leaves_the_threshold_and_is_a_phase_again() {
        let mut socket = socket(20);
        let expiry = |again| CongestionKind::Timeout(Expiry { again, kept: 0 });
        congest(&mut socket, expiry(false));
        socket.on_phase(Phase::Loss, Time::ZERO);
        congest(&mut socket, expiry(true));
        assert_eq!(socket.ops.heard, ["threshold", "Loss", "Loss", "Loss"]);
        assert_eq!((socket.cwnd(), socket.ssthresh()), (MSS, 10 * MSS));
        // Slow start after it has no bound, and stops at the threshold: one segment is left over, which does not make one of ten.
        acked(&mut socket, 10, Stage::Open);
        assert_eq!((socket.cwnd(), socket.state.counted), (10 * MSS, 1));
    }

    #[test]
    fn what_is_sent_into_an_empty_network_is_a_start() {
        let mut socket = socket(10);
        let mut send = |in_flight: u64| {
            socket.on_sent(&Sent {
                now: Time::ZERO,
                bytes: MSS,
                in_flight: in_flight * MSS,
                retransmission: false,
                after_idle: false,
                app_limited: false,
            });
        };
        send(1);
        send(2);
        assert_eq!(socket.ops.heard, ["TxStart"]);
    }
}
