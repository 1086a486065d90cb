//! BBR, version 3: the model of BBR with bounds learnt from losses, and probes for bandwidth that are spaced in time.
//!
//! Source: draft-ietf-ccwg-bbr-06, sections 2 (constants) and 5, read function by function; the samples it uses (its section 4) are the
//! transport's.
//!
//! Deviations: ECN is not used. The random parts of the wait between two probes come from the count of delivered bytes. The send quantum
//! is two segments and the offload budget three of them, in QUIC too (sections 5.5.8, 5.6.3): segments leave one by
//! one. Segments found lost at the same time count as one of the six ranges that end Startup (section 5.3.1.3).
//! Persistent congestion in QUIC is handled like a timeout in TCP. The state that a spurious recovery gives back is saved once per recovery, as
//! the text of section 5.5.11.1 has it; the pseudocode saves it anew after a probe has ended.

use crate::bbr::Greatest;
use crate::num::{rate, real, whole};
use crate::{
    Acked, Build, Congestion, CongestionControl, CongestionKind, Lost, Phase, Sample, Sent, Start,
    Traits, Undo,
};
use sojourn_units::{ParamError, Rate, Span, Time, params};

params! {
    /// BBRv3: as BBRv1, but keeps the data in flight below the level at which losses began.
    pub struct Bbr3Params {
        /// Gain of the pacing rate in startup.
        startup_gain: f64 = "2.77", range "1".."10", source "draft-ietf-ccwg-bbr section 2.5, BBR.StartupPacingGain";
        /// Gain of the window.
        cwnd_gain: f64 = "2", range "1".."10", source "draft-ietf-ccwg-bbr section 2.6, BBR.DefaultCwndGain";
        /// Loss ratio of a window above which too much data is in flight.
        loss_threshold: f64 = "0.02", range "0.0001".."1", source "draft-ietf-ccwg-bbr section 2.8, BBR.LossThresh";
        /// Factor by which a bound shrinks after a round with losses.
        beta: f64 = "0.7", range "0.1".."1", source "draft-ietf-ccwg-bbr section 2.8, BBR.Beta";
        /// Headroom below the bound that is left to other flows.
        headroom: f64 = "0.15", range "0".."0.9", source "draft-ietf-ccwg-bbr section 2.8, BBR.Headroom";
        /// Margin by which the pacing rate is below the estimated rate, because the estimate may be too high.
        margin: f64 = "0.01", range "0".."0.5", source "draft-ietf-ccwg-bbr section 2.5, BBR.PacingMarginPercent";
        /// Time over which the minimum round-trip time is taken.
        min_rtt_window: Span = "10s", range "1ms".., source "draft-ietf-ccwg-bbr section 2.16.1, BBR.MinRTTFilterLen";
        /// Time between probes for the minimum round-trip time.
        probe_rtt_interval: Span = "5s", range "1ms".., source "draft-ietf-ccwg-bbr section 2.16.2, BBR.ProbeRTTInterval";
        /// Length of such a probe.
        probe_rtt: Span = "200ms", range "1ms".., source "draft-ietf-ccwg-bbr section 2.16.2, BBR.ProbeRTTDuration";
    }
    dialects Dialect {
        /// The draft.
        rfc as Rfc = "bbr-v3" {}
    }
}

/// Gains that are no parameters: draining, going down, up; the window while probing up and looking for the delay.
const DRAIN_GAIN: f64 = 0.5;
const DOWN_GAIN: f64 = 0.9;
const UP_GAIN: f64 = 1.25;
const UP_CWND_GAIN: f64 = 2.25;
const PROBE_RTT_CWND_GAIN: f64 = 0.5;
/// A probe ends after three rounds without a quarter of growth, the search with six losses in a round above the threshold, too.
const GROWTH: f64 = 1.25;
const FLAT_ROUNDS: u32 = 3;
const STARTUP_LOSSES: u32 = 6;
/// Rounds after which draining is given up.
const DRAIN_ROUNDS: u64 = 3;
/// Segments of the least window, and of the offload budget.
const LEAST: u64 = 4;
const BUDGET: u64 = 6;
/// Rounds over which aggregation counts, in Startup and later.
const EXTRA_ROUNDS: [u64; 2] = [1, 10];
/// Most rounds between two probes, as Reno's would be in a window of that size.
const MOST_ROUNDS: u64 = 63;
/// Least wait between two probes.
const WAIT: Span = Span::from_secs(2);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl Mode {
    /// One of the states of ProbeBW.
    fn is_cycle(self) -> bool {
        matches!(self, Mode::Down | Mode::Cruise | Mode::Refill | Mode::Up)
    }
}

/// What acknowledgements say about a probe for bandwidth (BBR.ack_phase).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Told {
    Nothing,
    Refilling,
    Starting,
    Feedback,
    Stopping,
}

/// What a spurious recovery gives back (section 5.5.11).
#[derive(Clone, Copy, Debug)]
struct Before {
    /// When it was saved.
    at: Option<Time>,
    /// The state that losses ended: the search or a probe.
    mode: Option<Mode>,
    bw_short: f64,
    inflight_short: u64,
    inflight_long: u64,
}

/// The state of one connection.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    /// Gain of the rate in Startup (BBR.StartupPacingGain).
    startup_gain: f64,
    /// Gain of the window (BBR.DefaultCwndGain).
    cwnd_gain: f64,
    /// Part of a window whose loss says that too much is in flight (BBR.LossThresh).
    loss_threshold: f64,
    /// What is left of a bound after a round with losses (BBR.Beta).
    beta: f64,
    /// What is left free below the bound for others (BBR.Headroom).
    headroom: f64,
    /// The part of the rate that the pace leaves free (BBR.PacingMarginPercent).
    margin: f64,
    min_rtt_window: Span,
    probe_rtt_interval: Span,
    probe_rtt: Span,

    /// Payload of a full segment, bytes.
    mss: u64,
    /// The window at the beginning, bytes.
    initial_window: u64,
    /// The window, bytes.
    cwnd: u64,
    /// The last window that was good, bytes (BBR.prior_cwnd).
    prior_cwnd: u64,
    /// The pace, bytes per second (BBR.pacing_rate).
    pacing: f64,
    mode: Mode,
    phase: Phase,

    /// Bytes per second: the greatest of the last probe cycle and of this, a bound that lasts until the next probe, and what both allow.
    max_bw: [f64; 2],
    /// The bound until the next probe, bytes per second (BBR.bw_shortterm).
    bw_short: f64,
    /// The greatest rate of this round, bytes per second (BBR.bw_latest).
    bw_latest: f64,
    /// What is used, bytes per second (BBR.bw).
    bw: f64,
    /// Bounds of what is in flight: where losses began, and until the next probe.
    inflight_long: u64,
    /// The bound until the next probe, bytes (BBR.inflight_shortterm).
    inflight_short: u64,
    /// The most delivered in a round trip, bytes (BBR.inflight_latest).
    inflight_latest: u64,

    /// Bytes delivered so far.
    delivered: u64,
    /// Round trips so far (BBR.round_count).
    round: u64,
    /// Delivered bytes at which the round is over (BBR.next_round_delivered).
    round_end: u64,
    round_began: bool,
    /// The same for rounds that begin with a loss.
    loss_round_end: u64,
    loss_round_began: bool,
    loss_in_round: bool,
    /// Losses in this round.
    losses: u32,
    /// The window was used up in this round, and in the last.
    used_up: [bool; 2],

    /// The rate that growth is compared with, bytes per second (BBR.full_bw).
    full_bw: f64,
    /// Rounds without growth (BBR.full_bw_count).
    flat: u32,
    full_now: bool,
    full: bool,
    /// The round in which Drain began.
    drain_round: u64,

    told: Told,
    probe_wait: Span,
    cycle_at: Time,
    /// Rounds since the last probe (BBR.rounds_since_bw_probe).
    rounds_since_probe: u64,
    /// Samples are of a probe.
    probing: bool,
    too_high: bool,
    precautionary: bool,
    /// Rounds of this probe (BBR.bw_probe_up_rounds).
    up_rounds: u32,
    /// Bytes acknowledged towards the next growth of the bound (BBR.bw_probe_up_acks).
    up_acked: u64,
    /// Bytes acknowledged for one segment of it (BBR.probe_up_cnt).
    up_per: u64,

    min_rtt: Option<Span>,
    min_rtt_at: Time,
    probe_rtt_least: Option<Span>,
    probe_rtt_at: Time,
    probe_until: Option<Time>,
    probe_round: bool,
    /// Segments sent between these counts of delivered bytes are of a small window, not of the path.
    quiet: (u64, u64),

    /// When the aggregation of acknowledgements was last counted anew.
    epoch: Time,
    /// Bytes acknowledged since then.
    epoch_acked: u64,
    extra: Greatest,
    idle_restart: bool,
    undo: Before,
}

impl Bbr3 {
    fn max_bw(&self) -> f64 {
        self.max_bw[0].max(self.max_bw[1])
    }

    fn bdp(&self, bw: f64, gain: f64) -> u64 {
        match self.min_rtt {
            None => self.initial_window,
            Some(rtt) => whole(bw * rtt.as_secs_f64() * gain),
        }
    }

    /// QuantizationBudget.
    fn with_budget(&self, bytes: u64) -> u64 {
        let up = if self.mode == Mode::Up { 2 } else { 0 };
        bytes.max(BUDGET * self.mss).max(LEAST * self.mss) + up * self.mss
    }

    fn inflight(&self, bw: f64, gain: f64) -> u64 {
        self.with_budget(self.bdp(bw, gain))
    }

    /// TargetInflight.
    fn target(&self) -> u64 {
        self.bdp(self.bw, 1.0).min(self.cwnd)
    }

    fn pacing_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => self.startup_gain,
            Mode::Drain => DRAIN_GAIN,
            Mode::Down => DOWN_GAIN,
            Mode::Up => UP_GAIN,
            Mode::Cruise | Mode::Refill | Mode::ProbeRtt => 1.0,
        }
    }

    fn window_gain(&self) -> f64 {
        match self.mode {
            Mode::Up => UP_CWND_GAIN,
            Mode::ProbeRtt => PROBE_RTT_CWND_GAIN,
            _ => self.cwnd_gain,
        }
    }

    /// The window was used up in this round or the last (C.is_cwnd_limited).
    fn is_cwnd_limited(&self) -> bool {
        self.used_up[0] || self.used_up[1]
    }

    fn is_app_limited(&self, sample: &Sample) -> bool {
        sample.app_limited || (self.quiet.0..=self.quiet.1).contains(&sample.prior_delivered)
    }

    fn start_round(&mut self) {
        self.round_end = self.delivered;
    }

    // What acknowledgements and losses tell (section 5.5).

    fn update_latest(&mut self, sample: &Sample) {
        self.loss_round_began = false;
        self.bw_latest = self.bw_latest.max(sample.rate().unwrap_or(0.0));
        self.inflight_latest = self.inflight_latest.max(delivered_since(sample));
        if sample.prior_delivered >= self.loss_round_end {
            self.loss_round_end = sample.delivered;
            self.loss_round_began = true;
        }
    }

    fn advance_latest(&mut self, sample: &Sample) {
        if self.loss_round_began {
            self.bw_latest = sample.rate().unwrap_or(0.0);
            self.inflight_latest = delivered_since(sample);
        }
    }

    fn update_round(&mut self, sample: &Sample) {
        self.round_began = sample.prior_delivered >= self.round_end;
        if self.round_began {
            self.start_round();
            self.round += 1;
            self.rounds_since_probe += 1;
            self.used_up = [false, self.used_up[0]];
        }
    }

    fn update_congestion(&mut self, sample: &Sample) {
        self.update_round(sample);
        if let Some(bw) = sample.rate()
            && (bw >= self.max_bw() || !self.is_app_limited(sample))
        {
            self.max_bw[1] = self.max_bw[1].max(bw);
        }
        if self.loss_round_began {
            self.adapt_lower();
            self.loss_in_round = false;
        }
    }

    fn reset_congestion(&mut self) {
        self.loss_in_round = false;
        self.bw_latest = 0.0;
        self.inflight_latest = 0;
    }

    /// AdvanceMaxBwFilter: what was measured in this cycle becomes that of the last.
    fn advance_max_bw(&mut self) {
        if self.max_bw[1] > 0.0 {
            self.max_bw = [self.max_bw[1], 0.0];
        }
    }

    fn update_aggregation(&mut self, sample: &Sample) {
        let elapsed = sample.now.saturating_since(self.epoch).as_secs_f64();
        let mut expected = whole(self.bw * elapsed);
        if self.epoch_acked <= expected {
            self.epoch = sample.now;
            self.epoch_acked = 0;
            expected = 0;
        }
        self.epoch_acked += sample.newly_delivered;
        let extra = self.epoch_acked.saturating_sub(expected).min(self.cwnd);
        let rounds = EXTRA_ROUNDS[usize::from(self.full)];
        self.extra.add(self.round, real(extra), rounds);
    }

    /// Section 5.5.10.3: the bounds until the next probe, once per round with losses.
    fn adapt_lower(&mut self) {
        let probing = matches!(self.mode, Mode::Startup | Mode::Refill | Mode::Up);
        if self.loss_in_round && !probing {
            if self.bw_short == f64::INFINITY {
                self.bw_short = self.max_bw();
            }
            if self.inflight_short == u64::MAX {
                self.inflight_short = self.cwnd;
            }
            self.bw_short = self.bw_latest.max(self.beta * self.bw_short);
            let left = whole(self.beta * real(self.inflight_short));
            self.inflight_short = self.inflight_latest.max(left);
        }
    }

    fn forget_lower(&mut self) {
        self.bw_short = f64::INFINITY;
        self.inflight_short = u64::MAX;
    }

    /// IsInflightTooHigh.
    fn is_too_high(&self, lost: u64, in_flight: u64) -> bool {
        real(lost) > real(in_flight) * self.loss_threshold
    }

    /// HandleInflightTooHigh: the bound where losses begin.
    fn bound_by_loss(&mut self, now: Time, in_flight: u64, app_limited: bool) {
        self.too_high = true;
        self.probing = false;
        if !app_limited {
            let left = whole(self.beta * real(self.target()));
            self.inflight_long = in_flight.max(left);
        }
        if self.mode == Mode::Up {
            self.undo.mode = Some(Mode::Up);
            self.start_down(now);
        }
    }

    /// InflightAtLoss: what was in flight when losses passed the threshold, perhaps within this packet.
    fn in_flight_at_loss(&self, lost: &Lost) -> u64 {
        let before = real(lost.tx_in_flight.saturating_sub(lost.bytes));
        let lost_before = real(lost.lost_since.saturating_sub(lost.bytes));
        let part = (self.loss_threshold * before - lost_before) / (1.0 - self.loss_threshold);
        whole((before + part).max(0.0))
    }

    /// SaveStateUponLoss, once per episode of losses, as the text of section 5.5.11.1 has it. Its pseudocode saves anew at the next loss of the
    /// same instant, as the end of a probe forgets the first, and then no probe could begin again.
    fn save_state(&mut self, now: Time) {
        self.save_cwnd();
        if self.undo.at == Some(now) {
            return;
        }
        self.undo = Before {
            at: Some(now),
            mode: None,
            bw_short: self.bw_short,
            inflight_short: self.inflight_short,
            inflight_long: self.inflight_long,
        };
    }

    fn save_cwnd(&mut self) {
        self.prior_cwnd = if self.phase < Phase::Recovery && self.mode != Mode::ProbeRtt {
            self.cwnd
        } else {
            self.prior_cwnd.max(self.cwnd)
        };
    }

    fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    // The search (section 5.3.1) and draining (5.3.2).

    fn reset_full(&mut self) {
        self.full_bw = 0.0;
        self.flat = 0;
        self.full_now = false;
    }

    fn check_full(&mut self, sample: &Sample) {
        if self.full_now || !self.round_began || self.is_app_limited(sample) {
            return;
        }
        let bw = sample.rate().unwrap_or(0.0);
        if bw >= self.full_bw * GROWTH {
            self.reset_full();
            self.full_bw = bw;
            return;
        }
        self.flat += 1;
        self.full_now = self.flat >= FLAT_ROUNDS;
        self.full |= self.full_now;
    }

    fn check_startup(&mut self, sample: &Sample) {
        if self.mode != Mode::Startup {
            return;
        }
        // A round that began with a loss is over: the recovery has lasted for a round.
        if self.phase == Phase::Recovery
            && self.loss_round_began
            && self.losses >= STARTUP_LOSSES
            && self.is_too_high(sample.lost_since, sample.tx_in_flight)
        {
            self.undo.mode = Some(Mode::Startup);
            self.full = true;
            self.inflight_long = self.bdp(self.bw, 1.0).max(self.inflight_latest);
        }
        if self.full {
            self.mode = Mode::Drain;
            self.drain_round = self.round;
        }
    }

    fn check_drain(&mut self, sample: &Sample) {
        if self.mode == Mode::Drain
            && (sample.in_flight <= self.inflight(self.bw, 1.0)
                || self.round > self.drain_round + DRAIN_ROUNDS)
        {
            self.start_down(sample.now);
        }
    }

    // The cycle of probes (section 5.3.3).

    fn start_down(&mut self, now: Time) {
        self.reset_congestion();
        self.up_per = u64::MAX;
        // Between two and three seconds, none or one of the rounds gone by, by the count of delivered bytes.
        let drawn = self.delivered.wrapping_mul(6_364_136_223_846_793_005) >> 43;
        self.rounds_since_probe = drawn & 1;
        self.probe_wait = WAIT + Span::from_secs(1) * ((drawn >> 1) & 0xf_ffff) / 0x10_0000;
        self.cycle_at = now;
        self.told = Told::Stopping;
        self.start_round();
        self.mode = Mode::Down;
    }

    fn start_refill(&mut self) {
        self.forget_lower();
        self.up_rounds = 0;
        self.up_acked = 0;
        self.precautionary = false;
        self.told = Told::Refilling;
        self.start_round();
        self.mode = Mode::Refill;
    }

    fn start_up(&mut self, sample: &Sample) {
        self.told = Told::Starting;
        self.start_round();
        self.reset_full();
        self.full_bw = sample.rate().unwrap_or(0.0);
        self.mode = Mode::Up;
        self.raise_slope();
    }

    fn time_to_probe(&self, now: Time) -> bool {
        now > self.cycle_at.saturating_add(self.probe_wait)
            || self.rounds_since_probe >= (self.target() / self.mss).min(MOST_ROUNDS)
    }

    fn time_to_go_down(&mut self, sample: &Sample) -> bool {
        if self.too_high && sample.in_flight >= self.inflight_long {
            self.precautionary = true;
            return true;
        }
        if self.is_cwnd_limited() && self.cwnd >= self.inflight_long {
            // The bound is what holds it: no word about the path.
            self.reset_full();
            self.full_bw = sample.rate().unwrap_or(0.0);
            return false;
        }
        self.full_now
    }

    fn with_headroom(&self) -> u64 {
        if self.inflight_long == u64::MAX {
            return u64::MAX;
        }
        let free = whole(self.headroom * real(self.inflight_long)).max(self.mss);
        self.inflight_long
            .saturating_sub(free)
            .max(LEAST * self.mss)
    }

    fn raise_slope(&mut self) {
        let growth = 1u64 << self.up_rounds;
        self.up_rounds = (self.up_rounds + 1).min(30);
        self.up_per = (self.cwnd / growth).max(self.mss);
    }

    /// ProbeInflightLongtermUpward: slow start of the bound, twice as fast in each round.
    fn raise_bound(&mut self, sample: &Sample) {
        if !self.is_cwnd_limited() || self.cwnd < self.inflight_long {
            return;
        }
        self.up_acked += sample.newly_delivered;
        if self.up_acked >= self.up_per {
            let steps = self.up_acked / self.up_per;
            self.up_acked -= steps * self.up_per;
            self.inflight_long = self.inflight_long.saturating_add(steps * self.mss);
        }
        if self.round_began {
            self.raise_slope();
        }
    }

    /// AdaptLongTermModel; true if it has changed the state.
    fn adapt_upper(&mut self, sample: &Sample) -> bool {
        if self.told == Told::Starting && self.round_began {
            self.told = Told::Feedback;
        }
        if self.told == Told::Stopping && self.round_began {
            self.probing = false;
            self.told = Told::Nothing;
            if self.mode.is_cycle() {
                if !self.is_app_limited(sample) {
                    self.advance_max_bw();
                }
                if self.precautionary && !self.too_high {
                    self.start_refill();
                    return true;
                }
            }
        }
        if !self.is_too_high(sample.lost_since, sample.tx_in_flight)
            && self.inflight_long != u64::MAX
        {
            self.inflight_long = self.inflight_long.max(sample.tx_in_flight);
            if self.mode == Mode::Up {
                self.raise_bound(sample);
            }
        }
        false
    }

    fn advance_cycle(&mut self, sample: &Sample) {
        if !self.full || self.adapt_upper(sample) {
            return;
        }
        match self.mode {
            Mode::Down | Mode::Cruise if self.time_to_probe(sample.now) => self.start_refill(),
            Mode::Down => {
                if sample.in_flight <= self.with_headroom()
                    && sample.in_flight <= self.inflight(self.max_bw(), 1.0)
                {
                    self.mode = Mode::Cruise;
                }
            }
            Mode::Refill => {
                if self.round_began {
                    self.probing = true;
                    self.start_up(sample);
                }
            }
            Mode::Up => {
                if self.time_to_go_down(sample) {
                    // No loss so far.
                    self.too_high = false;
                    self.start_down(sample.now);
                }
            }
            Mode::Cruise | Mode::Startup | Mode::Drain | Mode::ProbeRtt => {}
        }
    }

    // Round-trip time (section 5.3.4).

    fn update_min_rtt(&mut self, sample: &Sample) {
        let now = sample.now;
        let due = now > self.probe_rtt_at.saturating_add(self.probe_rtt_interval);
        if let Some(rtt) = sample.rtt
            && (due || self.probe_rtt_least.is_none_or(|least| rtt < least))
        {
            self.probe_rtt_least = Some(rtt);
            self.probe_rtt_at = now;
        }
        let expired = now > self.min_rtt_at.saturating_add(self.min_rtt_window);
        if let Some(least) = self.probe_rtt_least
            && (expired || self.min_rtt.is_none_or(|known| least < known))
        {
            self.min_rtt = Some(least);
            self.min_rtt_at = self.probe_rtt_at;
        }
        if due && self.mode != Mode::ProbeRtt && !self.idle_restart {
            self.save_cwnd();
            self.mode = Mode::ProbeRtt;
            self.probe_until = None;
            self.told = Told::Stopping;
            self.start_round();
            self.quiet.0 = sample.delivered;
        }
        if self.mode == Mode::ProbeRtt {
            self.look_for_delay(sample);
        }
        self.idle_restart = false;
    }

    /// HandleProbeRTT.
    fn look_for_delay(&mut self, sample: &Sample) {
        self.quiet.1 = sample.delivered + sample.in_flight;
        if self.probe_until.is_some() {
            self.probe_round |= self.round_began;
            if self.probe_round {
                self.check_probe_rtt(sample.now);
            }
        } else if sample.in_flight <= self.probe_window() {
            self.probe_until = Some(sample.now.saturating_add(self.probe_rtt));
            self.probe_round = false;
            self.start_round();
        }
    }

    /// CheckProbeRTTDone, ExitProbeRTT.
    fn check_probe_rtt(&mut self, now: Time) {
        if self.probe_until.is_none_or(|until| now <= until) {
            return;
        }
        self.probe_rtt_at = now;
        self.restore_cwnd();
        self.forget_lower();
        if self.full {
            self.start_down(now);
            self.mode = Mode::Cruise;
        } else {
            self.mode = Mode::Startup;
        }
    }

    fn probe_window(&self) -> u64 {
        self.bdp(self.bw, PROBE_RTT_CWND_GAIN).max(LEAST * self.mss)
    }

    // What follows from it (section 5.6).

    fn set_pacing(&mut self, gain: f64) {
        let target = gain * self.bw * (1.0 - self.margin);
        if target > 0.0 && (self.full || target > self.pacing) {
            self.pacing = target;
        }
    }

    fn set_cwnd(&mut self, sample: &Sample) {
        let wanted = self.bdp(self.bw, self.window_gain()) + whole(self.extra.get());
        let most = self.with_budget(wanted);
        if self.full {
            self.cwnd = (self.cwnd + sample.newly_delivered).min(most);
        } else if self.cwnd < most || sample.delivered < self.initial_window {
            self.cwnd += sample.newly_delivered;
        }
        self.cwnd = self.cwnd.max(LEAST * self.mss);
        if self.mode == Mode::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_window());
        }
        let bound = match self.mode {
            Mode::Startup | Mode::Drain => u64::MAX,
            Mode::ProbeRtt | Mode::Cruise => self.with_headroom(),
            Mode::Down | Mode::Refill | Mode::Up => self.inflight_long,
        };
        let bound = bound.min(self.inflight_short).max(LEAST * self.mss);
        self.cwnd = self.cwnd.min(bound);
    }
}

/// Bytes delivered since the sampled segment was sent (RS.delivered).
fn delivered_since(sample: &Sample) -> u64 {
    sample.delivered.saturating_sub(sample.prior_delivered)
}

impl Build for Bbr3 {
    type Params = Bbr3Params;

    fn build(params: &Bbr3Params) -> Result<Bbr3, ParamError> {
        Ok(Bbr3 {
            startup_gain: params.startup_gain,
            cwnd_gain: params.cwnd_gain,
            loss_threshold: params.loss_threshold,
            beta: params.beta,
            headroom: params.headroom,
            margin: params.margin,
            min_rtt_window: params.min_rtt_window,
            probe_rtt_interval: params.probe_rtt_interval,
            probe_rtt: params.probe_rtt,
            mss: 1,
            initial_window: 0,
            cwnd: 0,
            prior_cwnd: 0,
            pacing: 0.0,
            mode: Mode::Startup,
            phase: Phase::Open,
            max_bw: [0.0; 2],
            bw_short: f64::INFINITY,
            bw_latest: 0.0,
            bw: 0.0,
            inflight_long: u64::MAX,
            inflight_short: u64::MAX,
            inflight_latest: 0,
            delivered: 0,
            round: 0,
            round_end: 0,
            round_began: false,
            loss_round_end: 0,
            loss_round_began: false,
            loss_in_round: false,
            losses: 0,
            used_up: [false; 2],
            full_bw: 0.0,
            flat: 0,
            full_now: false,
            full: false,
            drain_round: 0,
            told: Told::Nothing,
            probe_wait: WAIT,
            cycle_at: Time::ZERO,
            rounds_since_probe: 0,
            probing: false,
            too_high: false,
            precautionary: false,
            up_rounds: 0,
            up_acked: 0,
            up_per: u64::MAX,
            min_rtt: None,
            min_rtt_at: Time::ZERO,
            probe_rtt_least: None,
            probe_rtt_at: Time::ZERO,
            probe_until: None,
            probe_round: false,
            quiet: (u64::MAX, 0),
            epoch: Time::ZERO,
            epoch_acked: 0,
            extra: Greatest::default(),
            idle_restart: false,
            undo: Before {
                at: None,
                mode: None,
                bw_short: 0.0,
                inflight_short: 0,
                inflight_long: 0,
            },
        })
    }
}

impl CongestionControl for Bbr3 {
    fn on_start(&mut self, start: &Start) {
        self.mss = start.mss.max(1);
        self.initial_window = start.initial_window.max(self.mss);
        self.cwnd = self.initial_window;
        self.min_rtt = start.rtt;
        self.min_rtt_at = start.now;
        self.probe_rtt_least = start.rtt;
        self.probe_rtt_at = start.now;
        self.epoch = start.now;
        let rtt = start.rtt.unwrap_or(Span::from_ms(1)).as_secs_f64();
        self.pacing = real(self.cwnd) / rtt.max(1e-6) * self.startup_gain;
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.used_up[0] |= sent.in_flight + self.mss > self.cwnd;
        // Section 5.4.1: after the application was silent.
        if sent.in_flight == sent.bytes && sent.app_limited {
            self.idle_restart = true;
            self.epoch = sent.now;
            if self.mode.is_cycle() {
                self.set_pacing(1.0);
            } else if self.mode == Mode::ProbeRtt {
                self.check_probe_rtt(sent.now);
            }
        }
    }

    fn on_ack(&mut self, _acked: &Acked) {}

    fn period(&self) -> Option<(&'static str, Span)> {
        Some(("probe for the shortest round trip", self.probe_rtt_interval))
    }

    fn traits(&self) -> Traits {
        Traits {
            model: true,
            samples: true,
            paces: true,
            ..Traits::default()
        }
    }

    fn on_lost(&mut self, lost: &Lost) {
        if !self.loss_in_round {
            self.loss_round_end = lost.delivered;
            match self.phase < Phase::Recovery {
                true => self.save_state(lost.now),
                false => self.save_cwnd(),
            }
        }
        self.loss_in_round = true;
        if self.probing && self.is_too_high(lost.lost_since, lost.tx_in_flight) {
            let in_flight = self.in_flight_at_loss(lost);
            self.bound_by_loss(lost.now, in_flight, lost.app_limited);
        }
    }

    fn on_model(&mut self, sample: &Sample) {
        self.losses += u32::from(sample.newly_lost > 0);
        if sample.newly_delivered == 0 {
            return;
        }
        self.delivered = sample.delivered;
        self.update_latest(sample);
        self.update_congestion(sample);
        self.update_aggregation(sample);
        self.check_full(sample);
        self.check_startup(sample);
        self.check_drain(sample);
        self.advance_cycle(sample);
        self.update_min_rtt(sample);
        self.advance_latest(sample);
        if self.loss_round_began {
            self.losses = 0;
        }
        self.bw = self.max_bw().min(self.bw_short);
        self.set_pacing(self.pacing_gain());
        self.set_cwnd(sample);
    }

    fn on_phase(&mut self, phase: Phase, now: Time) {
        let repaired = self.phase >= Phase::Recovery;
        if phase == Phase::Recovery && !repaired {
            self.save_state(now);
        }
        if repaired && phase < Phase::Recovery {
            self.restore_cwnd();
        }
        self.phase = phase;
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        if let CongestionKind::Timeout(expiry) = congestion.kind {
            self.save_state(congestion.now);
            self.phase = Phase::Loss;
            self.cwnd = expiry.kept + congestion.mss;
        }
    }

    #[inline]
    fn cwnd(&self) -> u64 {
        self.cwnd
    }

    fn ssthresh(&self) -> u64 {
        u64::MAX
    }

    fn pacing_rate(&self) -> Option<Rate> {
        (self.pacing > 0.0).then(|| rate(self.pacing))
    }

    /// Section 5.5.11.2.
    fn on_undo(&mut self, _undo: &Undo) {
        self.restore_cwnd();
        self.loss_in_round = false;
        self.reset_full();
        self.bw_short = self.bw_short.max(self.undo.bw_short);
        self.inflight_short = self.inflight_short.max(self.undo.inflight_short);
        self.inflight_long = self.inflight_long.max(self.undo.inflight_long);
        match self.undo.mode.take() {
            Some(Mode::Startup) if self.mode != Mode::Startup => {
                self.full = false;
                if self.mode != Mode::ProbeRtt {
                    self.mode = Mode::Startup;
                }
            }
            Some(Mode::Up) if self.mode != Mode::Up && self.mode != Mode::ProbeRtt => {
                self.start_refill();
            }
            _ => {}
        }
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("bw (bps)", self.bw * 8.0);
        tell("pacing_gain", self.pacing_gain());
        let mode = match self.mode {
            Mode::Startup => 0.0,
            Mode::Drain => 1.0,
            Mode::Down => 2.0,
            Mode::Cruise => 3.0,
            Mode::Refill => 4.0,
            Mode::Up => 5.0,
            Mode::ProbeRtt => 6.0,
        };
        tell("mode", mode);
        tell(
            "min_rtt (ms)",
            self.min_rtt.unwrap_or_default().as_secs_f64() * 1e3,
        );
        // No bound is no number.
        let bound = |bytes: u64| match bytes {
            u64::MAX => f64::NAN,
            bytes => real(bytes),
        };
        let bw_short = match self.bw_short.is_finite() {
            true => self.bw_short * 8.0,
            false => f64::NAN,
        };
        tell("max_bw (bps)", self.max_bw() * 8.0);
        tell("bw_shortterm (bps)", bw_short);
        tell("inflight_longterm (bytes)", bound(self.inflight_long));
        tell("inflight_shortterm (bytes)", bound(self.inflight_short));
        tell("extra_acked (bytes)", self.extra.get());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::tests::MSS;

    /// The path is known: a megabyte per second, 50 ms.
    fn cc() -> Bbr3 {
        let mut cc = Bbr3::build(&Bbr3Params::default()).unwrap();
        cc.on_start(&Start {
            mss: MSS,
            initial_window: 10 * MSS,
            rtt: Some(Span::from_ms(50)),
            ..Start::default()
        });
        cc.full = true;
        cc.max_bw = [1e6; 2];
        cc.bw = 1e6;
        cc
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// The end of a round with that rate, bytes per second.
    fn round(cc: &mut Bbr3, rate: f64) -> Sample {
        cc.round_began = true;
        Sample {
            sampled: whole(rate / 20.0),
            interval: Span::from_ms(50),
            newly_delivered: MSS,
            ..Sample::default()
        }
    }

    fn lost(in_flight: u64, since: u64) -> Lost {
        Lost {
            now: Time::ZERO,
            bytes: MSS,
            tx_in_flight: in_flight * MSS,
            lost_since: since * MSS,
            app_limited: false,
            delivered: 0,
        }
    }

    #[test]
    fn losses_above_the_threshold_bound_what_is_in_flight_and_end_the_probe() {
        let mut cc = cc();
        cc.mode = Mode::Up;
        cc.probing = true;
        cc.on_lost(&lost(100, 2));
        assert_eq!((cc.mode, cc.inflight_long), (Mode::Up, u64::MAX), "2 %");
        cc.on_lost(&lost(100, 3));
        // Two of 99 were lost before: at 98.98 it was 2 %.
        let bound = 99.0 + (0.02 * 99.0 - 2.0) / 0.98;
        assert_eq!(cc.mode, Mode::Down);
        assert_eq!(cc.inflight_long, whole(bound * real(MSS)));
        assert!(cc.too_high && !cc.probing);
    }

    #[test]
    fn the_bound_is_what_was_in_flight_when_the_lost_segment_was_sent() {
        // Section 5.5.10.2: not when the one was sent whose arrival reveals the loss.
        let mut cc = cc();
        cc.mode = Mode::Up;
        cc.probing = true;
        cc.on_lost(&lost(50, 10));
        assert!(cc.inflight_long > 40 * MSS && cc.inflight_long < 50 * MSS);
        cc.on_model(&Sample {
            newly_delivered: MSS,
            newly_lost: MSS,
            tx_in_flight: 5 * MSS,
            lost_since: 10 * MSS,
            ..Sample::default()
        });
        assert!(cc.inflight_long > 40 * MSS, "{}", cc.inflight_long);
    }

    #[test]
    fn an_application_that_holds_back_sets_no_bound() {
        let mut cc = cc();
        cc.mode = Mode::Up;
        cc.probing = true;
        cc.on_lost(&Lost {
            app_limited: true,
            ..lost(50, 10)
        });
        assert_eq!((cc.mode, cc.inflight_long), (Mode::Down, u64::MAX));
    }

    #[test]
    fn a_round_with_losses_takes_three_tenths_off_the_lower_bounds() {
        let mut cc = cc();
        cc.mode = Mode::Cruise;
        cc.cwnd = 100 * MSS;
        cc.loss_in_round = true;
        cc.adapt_lower();
        assert!((cc.bw_short - 0.7e6).abs() < 1.0);
        assert_eq!(cc.inflight_short, 70 * MSS);
        cc.start_refill();
        assert_eq!((cc.bw_short, cc.inflight_short), (f64::INFINITY, u64::MAX));
    }

    #[test]
    fn the_round_of_a_loss_begins_with_it() {
        // Section 5.5.10.3: the bounds fall a round after the first loss, not where the round trip at hand happens to end.
        let mut cc = cc();
        cc.mode = Mode::Cruise;
        cc.cwnd = 100 * MSS;
        cc.inflight_latest = 0;
        let sample = |prior_delivered| Sample {
            now: at(100),
            delivered: 200 * MSS,
            prior_delivered,
            newly_delivered: MSS,
            ..Sample::default()
        };
        cc.loss_round_end = 300 * MSS;
        cc.on_lost(&Lost {
            delivered: 150 * MSS,
            ..lost(50, 1)
        });
        cc.on_model(&sample(149 * MSS));
        assert!(cc.round_began && cc.inflight_short == u64::MAX);
        cc.on_model(&sample(150 * MSS));
        // Three tenths off the window, which has grown by a segment.
        assert_eq!(cc.inflight_short, 101 * MSS * 7 / 10);
    }

    #[test]
    fn probes_are_two_to_three_seconds_apart() {
        let mut cc = cc();
        let mut rounds = [0, 0];
        for delivered in (0..100).map(|n| n * 12_345_678) {
            cc.delivered = delivered;
            cc.start_down(Time::ZERO);
            assert!(cc.probe_wait >= WAIT && cc.probe_wait < WAIT + Span::from_secs(1));
            rounds[usize::from(cc.rounds_since_probe == 1)] += 1;
        }
        assert!(rounds[0] + rounds[1] == 100 && rounds[0].min(rounds[1]) > 25);
    }

    #[test]
    fn a_small_window_makes_probes_as_frequent_as_those_of_reno() {
        // TargetInflight is the least of bdp (50 segments) and window.
        let mut cc = cc();
        cc.start_down(Time::ZERO);
        cc.rounds_since_probe = 20;
        cc.cwnd = 21 * MSS;
        assert!(!cc.time_to_probe(Time::ZERO));
        cc.cwnd = 20 * MSS;
        assert!(cc.time_to_probe(Time::ZERO));
    }

    #[test]
    fn a_probe_goes_on_while_the_rate_grows_and_ends_after_three_rounds_without_growth() {
        // Section 5.3.3.7, which knows no bound of the time spent probing.
        let mut cc = cc();
        let sample = round(&mut cc, 1e6);
        cc.start_up(&sample);
        for rate in [1.3e6, 1.7e6, 2.2e6, 2.3e6, 2.3e6] {
            let sample = Sample {
                in_flight: 500 * MSS,
                in_flight_before: 500 * MSS,
                now: at(10_000),
                ..round(&mut cc, rate)
            };
            cc.check_full(&sample);
            cc.advance_cycle(&sample);
            assert_eq!(cc.mode, Mode::Up, "{rate}");
        }
        let sample = round(&mut cc, 2.3e6);
        cc.check_full(&sample);
        cc.advance_cycle(&sample);
        assert_eq!(cc.mode, Mode::Down);
    }

    #[test]
    fn after_a_probe_that_went_too_high_the_next_stops_at_the_bound_and_another_follows() {
        // Section 5.3.3.6.
        let mut cc = cc();
        cc.too_high = true;
        cc.inflight_long = 60 * MSS;
        let sample = round(&mut cc, 1e6);
        cc.start_up(&sample);
        let sample = Sample {
            in_flight: 60 * MSS,
            ..round(&mut cc, 1e6)
        };
        cc.round_began = false;
        cc.advance_cycle(&sample);
        assert_eq!(
            (cc.mode, cc.precautionary, cc.too_high),
            (Mode::Down, true, false)
        );
        let sample = round(&mut cc, 1e6);
        cc.advance_cycle(&sample);
        assert_eq!((cc.mode, cc.precautionary), (Mode::Refill, false));
    }

    #[test]
    fn the_greatest_rate_is_forgotten_two_cycles_later_unless_the_application_holds_back() {
        let mut cc = cc();
        cc.max_bw = [0.0, 9e5];
        for (app_limited, rate, expected) in [
            (true, 5e5, 9e5),
            (false, 5e5, 9e5),
            (true, 5e5, 9e5),
            (false, 5e5, 5e5),
        ] {
            cc.start_down(Time::ZERO);
            let sample = Sample {
                app_limited,
                ..round(&mut cc, rate)
            };
            cc.max_bw[1] = cc.max_bw[1].max(rate);
            cc.adapt_upper(&sample);
            cc.max_bw[1] = cc.max_bw[1].max(rate);
            assert_eq!(cc.max_bw(), expected);
        }
    }

    #[test]
    fn draining_is_given_up_after_three_rounds() {
        let mut cc = cc();
        cc.mode = Mode::Drain;
        let sample = Sample {
            in_flight: 1000 * MSS,
            ..Sample::default()
        };
        for (round, mode) in [(3, Mode::Drain), (4, Mode::Down)] {
            cc.round = round;
            cc.check_drain(&sample);
            assert_eq!(cc.mode, mode);
        }
    }

    #[test]
    fn the_delay_is_looked_for_in_the_search_too_and_the_search_goes_on() {
        let mut cc = cc();
        cc.full = false;
        let mut sample = Sample {
            now: at(5001),
            rtt: Some(Span::from_ms(60)),
            in_flight: 10 * MSS,
            newly_delivered: MSS,
            ..Sample::default()
        };
        cc.update_min_rtt(&sample);
        assert_eq!((cc.mode, cc.probe_until), (Mode::ProbeRtt, Some(at(5201))));
        sample.now = at(5202);
        cc.round_began = true;
        cc.update_min_rtt(&sample);
        assert_eq!(cc.mode, Mode::Startup);
    }

    #[test]
    fn samples_of_the_small_window_are_those_of_an_application_that_holds_back() {
        let mut cc = cc();
        let sample = |delivered, prior_delivered| Sample {
            now: at(5001),
            delivered,
            prior_delivered,
            in_flight: 10 * MSS,
            newly_delivered: MSS,
            ..Sample::default()
        };
        cc.update_min_rtt(&sample(100 * MSS, 50 * MSS));
        for (prior, limited) in [(99, false), (100, true), (110, true), (111, false)] {
            let sample = sample(200 * MSS, prior * MSS);
            assert_eq!(cc.is_app_limited(&sample), limited, "{prior}");
        }
    }

    #[test]
    fn after_a_silence_the_delay_need_not_be_looked_for() {
        let mut cc = cc();
        cc.mode = Mode::Down;
        cc.on_sent(&Sent {
            now: at(9000),
            bytes: MSS,
            in_flight: MSS,
            retransmission: false,
            after_idle: false,
            app_limited: true,
        });
        assert!((cc.pacing - 0.99e6).abs() < 1.0, "{}", cc.pacing);
        cc.update_min_rtt(&Sample {
            now: at(9050),
            rtt: Some(Span::from_ms(60)),
            newly_delivered: MSS,
            ..Sample::default()
        });
        assert_eq!(cc.mode, Mode::Down);
    }

    #[test]
    fn losses_that_were_none_bring_back_window_bounds_and_search() {
        let mut cc = cc();
        cc.full = false;
        cc.cwnd = 80 * MSS;
        cc.on_phase(Phase::Recovery, Time::ZERO);
        cc.undo.mode = Some(Mode::Startup);
        (cc.full, cc.mode, cc.inflight_long) = (true, Mode::Drain, 30 * MSS);
        cc.cwnd = 30 * MSS;
        cc.on_undo(&Undo {
            now: Time::ZERO,
            cwnd: 0,
            ssthresh: 0,
        });
        assert_eq!((cc.mode, cc.full), (Mode::Startup, false));
        assert_eq!((cc.cwnd, cc.inflight_long), (80 * MSS, u64::MAX));
    }

    #[test]
    fn a_probe_that_spurious_losses_ended_begins_again() {
        // A transport reports the losses, then the recovery that they begin, then further losses of it.
        for timeout in [false, true] {
            let mut cc = cc();
            (cc.mode, cc.probing, cc.cwnd) = (Mode::Up, true, 80 * MSS);
            cc.on_lost(&lost(50, 10));
            assert_eq!(cc.mode, Mode::Down);
            assert!(cc.inflight_long < u64::MAX);
            cc.on_lost(&lost(50, 11));
            if timeout {
                cc.on_congestion(&Congestion {
                    now: Time::ZERO,
                    kind: CongestionKind::Timeout(crate::Expiry::default()),
                    in_flight: 0,
                    mss: MSS,
                });
            } else {
                cc.on_phase(Phase::Recovery, Time::ZERO);
                cc.loss_in_round = false;
                cc.on_lost(&Lost {
                    now: at(100),
                    ..lost(50, 12)
                });
            }
            cc.on_undo(&Undo {
                now: Time::ZERO,
                cwnd: 0,
                ssthresh: 0,
            });
            assert_eq!((cc.mode, cc.inflight_long), (Mode::Refill, u64::MAX));
        }
    }

    #[test]
    fn an_episode_of_losses_forgets_the_probe_that_an_earlier_one_ended() {
        let mut cc = cc();
        (cc.mode, cc.probing) = (Mode::Up, true);
        cc.on_lost(&lost(50, 10));
        cc.on_phase(Phase::Recovery, Time::ZERO);
        cc.on_phase(Phase::Open, at(100));
        cc.on_lost(&Lost {
            now: at(200),
            ..lost(50, 1)
        });
        cc.on_undo(&Undo {
            now: at(300),
            cwnd: 0,
            ssthresh: 0,
        });
        assert_eq!(cc.mode, Mode::Down);
    }

    #[test]
    fn the_series_tell_bounds_only_while_there_are_any() {
        let mut cc = cc();
        let told = |cc: &Bbr3| {
            let mut found = std::collections::BTreeMap::new();
            cc.series(&mut |name, value| {
                found.insert(name, value);
            });
            [
                "max_bw (bps)",
                "bw_shortterm (bps)",
                "inflight_longterm (bytes)",
                "inflight_shortterm (bytes)",
            ]
            .map(|name| found[name])
        };
        let free = told(&cc);
        assert_eq!(free[0], 8e6);
        assert!(free[1..].iter().all(|value| value.is_nan()));
        (cc.bw_short, cc.inflight_long, cc.inflight_short) = (5e5, 30_000, 20_000);
        assert_eq!(told(&cc), [8e6, 4e6, 30_000.0, 20_000.0]);
    }

    #[test]
    fn a_recovery_ends_with_the_window_before_it() {
        for phase in [Phase::Recovery, Phase::Loss] {
            let mut cc = cc();
            cc.cwnd = 80 * MSS;
            if phase == Phase::Loss {
                cc.on_congestion(&Congestion {
                    now: Time::ZERO,
                    kind: CongestionKind::Timeout(crate::Expiry::default()),
                    in_flight: 0,
                    mss: MSS,
                });
                assert_eq!(cc.cwnd, MSS);
            }
            cc.on_phase(phase, Time::ZERO);
            cc.cwnd = 20 * MSS;
            cc.on_phase(Phase::Open, Time::ZERO);
            assert_eq!(cc.cwnd, 80 * MSS);
        }
    }

    #[test]
    fn aggregation_counts_within_the_budget() {
        let mut cc = cc();
        cc.full = false;
        cc.min_rtt = Some(Span::from_ms(1));
        cc.extra.add(0, real(3 * MSS), 10);
        cc.mode = Mode::Cruise;
        cc.cwnd = 100 * MSS;
        cc.full = true;
        cc.set_cwnd(&Sample::default());
        // Twice a segment, and three: less than the six of the budget.
        assert_eq!(cc.cwnd, 6 * MSS);
    }
}
