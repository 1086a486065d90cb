//! The frame in which algorithms of dialect `ns3` run: what ns-3's socket tells its congestion control, and when.
//!
//! Source: ns-3.44, read for behaviour: tcp-congestion-ops.cc (TcpCongestionOps, TcpNewReno) and the calls of tcp-socket-base.cc (ProcessAck,
//! EnterRecovery, EnterCwr, ReTxTimeout). Windows of single flows were compared with ns-3.44's, acknowledgement by acknowledgement.
//!
//! What all of them have in common, and is no advice of a paper: delays are smoothed round-trip times, not samples; an acknowledgement counts for
//! one segment in slow start and may pass the threshold by it; congestion avoidance adds the square of a segment over the window per acknowledgement,
//! not per segment; most thresholds are parts of what is in flight.

use crate::num::seconds;
use crate::window::Window;
use crate::{
    Acked, Build, Congestion, CongestionControl, CongestionKind, Phase, Sample, Sent, Start,
    Traits, Undo,
};
use sojourn_units::{ParamError, Rate, Span, Time};

/// What ns-3's socket and its algorithm share (TcpSocketState).
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) window: Window,
    /// When this is.
    pub(crate) now: Time,
    /// The first byte that is not acknowledged, and the one to send next.
    pub(crate) una: u64,
    /// The byte to send next.
    pub(crate) next: u64,
    /// The shortest round trip that was measured.
    pub(crate) least_rtt: Span,
    pub(crate) phase: Phase,
}

impl State {
    /// TcpNewReno::SlowStart; the segments that are left.
    pub(crate) fn slow_start(&mut self, segments: u64) -> u64 {
        if segments == 0 {
            return 0;
        }
        self.window.cwnd += self.window.mss;
        segments - 1
    }

    /// TcpNewReno::CongestionAvoidance.
    pub(crate) fn avoid(&mut self, segments: u64) {
        if segments > 0 {
            let mss = self.window.mss;
            self.window.cwnd += (mss * mss / self.window.cwnd).max(1);
        }
    }

    /// TcpNewReno::IncreaseWindow with another congestion avoidance.
    pub(crate) fn increase(&mut self, segments: u64, avoid: impl FnOnce(&mut State, u64)) {
        let mut left = segments;
        if self.window.in_slow_start() {
            left = self.slow_start(left);
        }
        if !self.window.in_slow_start() {
            avoid(self, left);
        }
    }

    /// One segment more for each window that is counted; the window is whole segments then.
    pub(crate) fn grow_by(&mut self, counted: &mut u64) {
        let before = self.window.segments();
        let mut cwnd = before;
        while *counted >= cwnd {
            *counted -= cwnd;
            cwnd += 1;
        }
        if cwnd != before {
            self.set_segments(cwnd);
        }
    }

    /// The window in whole segments.
    pub(crate) fn set_segments(&mut self, segments: u64) {
        self.window.cwnd = segments * self.window.mss;
    }
}

/// An algorithm as ns-3 has it (TcpCongestionOps).
pub(crate) trait Ops: std::fmt::Debug + Send {
    /// PktsAcked: the segments acknowledged, and the smoothed round trip, if there is one.
    fn acked(&mut self, state: &mut State, segments: u64, srtt: Span, sample: &Sample) {
        let _ = (state, segments, srtt, sample);
    }
    /// CongestionStateSet.
    fn phase(&mut self, state: &mut State, phase: Phase) {
        let _ = (state, phase);
    }
    /// IncreaseWindow.
    fn increase(&mut self, state: &mut State, segments: u64);
    /// GetSsThresh.
    fn threshold(&mut self, state: &State, in_flight: u64) -> u64 {
        (in_flight / 2).max(2 * state.window.mss)
    }
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

/// Samples up to which TcpVegas, TcpVeno and TcpYeah do not judge: they may all be of delayed acknowledgements.
const FEW: u32 = 2;

/// What TcpVegas, TcpVeno and TcpYeah keep of delays.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delays {
    /// The shortest.
    base: Option<Span>,
    /// The shortest, and how many, since the last judgement.
    least: Option<Span>,
    /// Samples since the last judgement.
    samples: u32,
}

impl Delays {
    /// PktsAcked.
    pub(crate) fn take(&mut self, srtt: Span) {
        if srtt.is_zero() {
            return;
        }
        self.least = Some(self.least.map_or(srtt, |least| least.min(srtt)));
        self.base = Some(self.base.map_or(srtt, |base| base.min(srtt)));
        self.samples += 1;
    }

    /// The shortest one is to be found anew.
    pub(crate) fn forget(&mut self) {
        self.least = None;
    }

    /// They are to be counted anew, too.
    pub(crate) fn begin(&mut self) {
        self.least = None;
        self.samples = 0;
    }

    /// The shortest of all and the shortest since the last judgement, seconds.
    pub(crate) fn shortest(&self) -> Option<(f64, f64)> {
        Some((seconds(self.base?), seconds(self.least?)))
    }

    /// The same, if there are enough samples to judge by.
    pub(crate) fn judged(&self) -> Option<(f64, f64)> {
        self.shortest().filter(|_| self.samples > FEW)
    }

    /// Whether there are enough samples.
    pub(crate) fn suffice(&self) -> bool {
        self.samples > FEW
    }
}

/// The growth of TcpLinuxReno: segments count, not acknowledgements, and slow start stops at the threshold.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BySegment {
    /// Segments acknowledged towards the next one of growth.
    counted: u64,
}

impl BySegment {
    /// IncreaseWindow.
    pub(crate) fn increase(&mut self, state: &mut State, segments: u64) {
        let window = &mut state.window;
        if window.in_slow_start() {
            window.cwnd = (window.cwnd + segments * window.mss).min(window.ssthresh);
            return;
        }
        let per = window.segments().max(1);
        if self.counted >= per {
            self.counted = 0;
            window.cwnd += window.mss;
        }
        self.counted += segments;
        if self.counted >= per {
            window.cwnd += self.counted / per * window.mss;
            self.counted %= per;
        }
    }
}

/// An algorithm in its frame.
#[derive(Clone, Debug)]
pub(crate) struct Socket<O> {
    state: State,
    ops: O,
}

impl<O: Ops> Socket<O> {
    /// A connection that is not established yet.
    pub(crate) fn new(ops: O) -> Socket<O> {
        Socket {
            state: State {
                window: Window::new(),
                now: Time::ZERO,
                una: 0,
                next: 0,
                least_rtt: Span::ZERO,
                phase: Phase::Open,
            },
            ops,
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
        self.state.window.start(start);
        self.state.now = start.now;
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.state.window.sent(sent);
    }

    fn traits(&self) -> Traits {
        Traits {
            raises: Some("ns-3 bounds no threshold that GetSsThresh answers with"),
            ..self.ops.traits()
        }
    }

    fn on_sample(&mut self, sample: &Sample) {
        self.state.now = sample.now;
        self.state.una = sample.una;
        self.state.next = sample.next;
        self.state.least_rtt = sample.min_rtt.unwrap_or(self.state.least_rtt);
        let srtt = sample.srtt.unwrap_or(Span::ZERO);
        let segments = match sample.told {
            Some(segments) => segments.into(),
            None => sample.newly_delivered / self.state.window.mss,
        };
        self.ops.acked(&mut self.state, segments, srtt, sample);
    }

    fn on_ack(&mut self, acked: &Acked) {
        self.state.now = acked.now;
        if let Some(bytes) = self.state.window.admit(acked) {
            let segments = bytes / self.state.window.mss;
            self.ops.increase(&mut self.state, segments);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.state.now = congestion.now;
        let to = self.ops.threshold(&self.state, congestion.in_flight);
        match congestion.kind {
            CongestionKind::Loss | CongestionKind::Ecn => {
                self.state.window.ssthresh = to;
                self.state.window.cwnd = to;
            }
            CongestionKind::Timeout(expiry) => {
                self.state.window.time_out(to, expiry);
                // The frame's floor of two segments is not ns-3's.
                if !expiry.again {
                    self.state.window.ssthresh = to;
                }
            }
        }
    }

    fn on_window(&mut self, cwnd: u64) {
        self.state.window.cwnd = cwnd;
    }

    fn on_next(&mut self, next: u64) {
        self.state.next = next;
    }

    /// ns-3 reports neither a reduction for a mark nor its end.
    fn on_phase(&mut self, phase: Phase, now: Time) {
        let before = std::mem::replace(&mut self.state.phase, phase);
        self.state.now = now;
        if phase != Phase::Reducing && !(before == Phase::Reducing && phase == Phase::Open) {
            self.ops.phase(&mut self.state, phase);
        }
    }

    fn cwnd(&self) -> u64 {
        self.state.window.cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.state.window.ssthresh
    }

    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    fn on_undo(&mut self, undo: &Undo) {
        self.state.window.undo(undo);
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        self.ops.series(tell);
    }
}
