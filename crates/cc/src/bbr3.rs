//! BBR, version 3: the model of BBR with bounds learnt from losses, and probes for bandwidth that are spaced in time.
//!
//! Source: draft-ietf-ccwg-bbr (version 3 of the algorithm), sections 4.3 to 4.6 and the constants of its section 2.
//!
//! Deviations: ECN is not used. The random part of the wait between two probes comes from the count of delivered bytes. Samples of
//! acknowledgements that were delayed count. What the draft calls offload budget is two segments.

use crate::bbr::Greatest;
use crate::num::{rate, real, whole};
use crate::{
    Acked, Congestion, CongestionControl, CongestionKind, Phase, Sample, Sent, Start, Traits, Undo,
};
use sojourn_units::{Rate, Span, Time, params};

params! {
    /// BBRv3: as BBR, but what is in flight stays below where losses began.
    pub struct Bbr3Params {
        /// Gain of the rate while the bandwidth is searched.
        startup_gain: f64 = "2.77", range "1".."10", source "draft-ietf-ccwg-bbr section 2.4, BBR.StartupPacingGain";
        /// Gain of the window.
        cwnd_gain: f64 = "2", range "1".."10", source "draft-ietf-ccwg-bbr section 2.4, BBR.DefaultCwndGain";
        /// Part of a window whose loss says that too much is in flight.
        loss_threshold: f64 = "0.02", range "0.0001".."1", source "draft-ietf-ccwg-bbr section 2.5, BBR.LossThresh";
        /// What is left of a bound after a round with losses.
        beta: f64 = "0.7", range "0.1".."1", source "draft-ietf-ccwg-bbr section 2.5, BBR.Beta";
        /// What is left free below the bound for others.
        headroom: f64 = "0.15", range "0".."0.9", source "draft-ietf-ccwg-bbr section 2.5, BBR.Headroom";
        /// What is left of the rate for what the estimate is too high.
        margin: f64 = "0.01", range "0".."0.5", source "draft-ietf-ccwg-bbr section 2.3, BBR.PacingMarginPercent";
        /// How long the shortest round-trip time counts.
        min_rtt_window: Span = "10s", range "1ms".., source "draft-ietf-ccwg-bbr section 2.6, BBR.MinRTTFilterLen";
        /// How often it is looked for.
        probe_rtt_interval: Span = "5s", range "1ms".., source "draft-ietf-ccwg-bbr section 2.6, BBR.ProbeRTTInterval";
        /// For how long.
        probe_rtt: Span = "200ms", range "1ms".., source "draft-ietf-ccwg-bbr section 2.6, BBR.ProbeRTTDuration";
    }
    dialects {
        /// The draft.
        rfc = "bbr-v3" {}
    }
}

/// Gains that are no parameters: draining, going down, up; the window while probing up and looking for the delay.
const DRAIN_GAIN: f64 = 0.5;
const DOWN_GAIN: f64 = 0.9;
const UP_GAIN: f64 = 1.25;
const UP_CWND_GAIN: f64 = 2.25;
const PROBE_RTT_CWND_GAIN: f64 = 0.5;
/// The search ends after three rounds without a quarter of growth, or with six losses in a round above the threshold.
const GROWTH: f64 = 1.25;
const FLAT_ROUNDS: u32 = 3;
const STARTUP_LOSSES: u32 = 6;
/// Segments of the least window.
const LEAST: u64 = 4;
/// Cycles over which the greatest rate counts; rounds over which aggregation does.
const BW_CYCLES: u64 = 2;
const EXTRA_ROUNDS: u64 = 10;
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

/// The state of one connection.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    startup_gain: f64,
    cwnd_gain: f64,
    loss_threshold: f64,
    beta: f64,
    headroom: f64,
    margin: f64,
    min_rtt_window: Span,
    probe_rtt_interval: Span,
    probe_rtt: Span,

    mss: u64,
    initial_window: u64,
    cwnd: u64,
    prior_cwnd: u64,
    pacing: f64,
    mode: Mode,
    phase: Phase,

    /// Bytes per second: the greatest, by probe cycle, and a bound that lasts until the next probe.
    max_bw: Greatest,
    cycle: u64,
    bw_short: f64,
    bw_latest: f64,
    /// Bounds of what is in flight: where losses began, and until the next probe.
    inflight_long: u64,
    inflight_short: u64,
    inflight_latest: u64,

    round: u64,
    round_end: u64,
    round_began: bool,
    loss_in_round: bool,
    losses: u32,

    full_bw: f64,
    flat: u32,
    full: bool,

    probe_wait: Span,
    cycle_at: Time,
    rounds_since_probe: u64,
    /// Samples are of a probe.
    probing: bool,
    up_rounds: u32,
    up_acked: u64,
    up_per: u64,

    min_rtt: Option<Span>,
    min_rtt_at: Time,
    probe_rtt_least: Option<Span>,
    probe_rtt_at: Time,
    probe_until: Option<Time>,
    probe_round: bool,

    epoch: Time,
    epoch_acked: u64,
    extra: Greatest,
    app_limited: bool,
}

impl Bbr3 {
    /// A connection that is not established yet.
    pub fn new(params: &Bbr3Params) -> Bbr3 {
        Bbr3 {
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
            max_bw: Greatest::default(),
            cycle: 0,
            bw_short: f64::INFINITY,
            bw_latest: 0.0,
            inflight_long: u64::MAX,
            inflight_short: u64::MAX,
            inflight_latest: 0,
            round: 0,
            round_end: 0,
            round_began: false,
            loss_in_round: false,
            losses: 0,
            full_bw: 0.0,
            flat: 0,
            full: false,
            probe_wait: WAIT,
            cycle_at: Time::ZERO,
            rounds_since_probe: 0,
            probing: false,
            up_rounds: 0,
            up_acked: 0,
            up_per: u64::MAX,
            min_rtt: None,
            min_rtt_at: Time::ZERO,
            probe_rtt_least: None,
            probe_rtt_at: Time::ZERO,
            probe_until: None,
            probe_round: false,
            epoch: Time::ZERO,
            epoch_acked: 0,
            extra: Greatest::default(),
            app_limited: false,
        }
    }

    fn bw(&self) -> f64 {
        self.max_bw.get().min(self.bw_short)
    }

    fn bdp(&self, bw: f64, gain: f64) -> u64 {
        match self.min_rtt {
            None => self.initial_window,
            Some(rtt) => whole(bw * rtt.as_secs_f64() * gain),
        }
    }

    /// Room for two segments that leave in one piece, at both ends and on the way.
    fn inflight(&self, bw: f64, gain: f64) -> u64 {
        let up = if self.mode == Mode::Up { 2 } else { 0 };
        let pieces = self.bdp(bw, gain).max(6 * self.mss);
        pieces.max(LEAST * self.mss) + up * self.mss
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

    /// Section 4.5: what the acknowledgement says of rate, rounds and losses.
    fn update_model(&mut self, sample: &Sample) {
        self.round_began = false;
        if sample.newly_lost > 0 {
            self.loss_in_round = true;
            self.losses += 1;
        }
        if sample.sampled > 0 && sample.prior_delivered >= self.round_end {
            self.round_end = sample.delivered;
            self.round += 1;
            self.rounds_since_probe += 1;
            self.round_began = true;
        }
        if let Some(bw) = sample.rate() {
            self.bw_latest = self.bw_latest.max(bw);
            self.inflight_latest = self.inflight_latest.max(sample.sampled);
            if bw >= self.max_bw.get() || !sample.app_limited {
                self.max_bw.add(self.cycle, bw, BW_CYCLES);
            }
        }
        self.app_limited = sample.app_limited;
        self.update_aggregation(sample);
    }

    fn update_aggregation(&mut self, sample: &Sample) {
        let elapsed = sample.now.saturating_since(self.epoch).as_secs_f64();
        let mut expected = whole(self.bw() * elapsed);
        if self.epoch_acked <= expected {
            self.epoch = sample.now;
            self.epoch_acked = 0;
            expected = 0;
        }
        self.epoch_acked += sample.newly_delivered;
        let extra = self.epoch_acked.saturating_sub(expected).min(self.cwnd);
        self.extra.add(self.round, real(extra), EXTRA_ROUNDS);
    }

    /// Section 4.5.10.3: the bounds until the next probe, once per round with losses.
    fn adapt_lower(&mut self) {
        let probing = matches!(self.mode, Mode::Startup | Mode::Refill | Mode::Up);
        if self.loss_in_round && !probing {
            if self.bw_short == f64::INFINITY {
                self.bw_short = self.max_bw.get();
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

    fn too_high(&self, sample: &Sample) -> bool {
        let most = real(sample.tx_in_flight) * self.loss_threshold;
        sample.newly_lost > 0 && real(sample.lost_since) > most
    }

    /// Section 4.5.10.2: the bound where losses begin.
    fn adapt_upper(&mut self, sample: &Sample) {
        if self.too_high(sample) {
            if self.probing {
                self.probing = false;
                let target = self.bdp(self.bw(), 1.0).min(self.cwnd);
                let left = whole(self.beta * real(target));
                self.inflight_long = sample.tx_in_flight.max(left);
                if self.mode == Mode::Up {
                    self.start_down(sample.now, sample.delivered);
                }
            }
            return;
        }
        if self.inflight_long == u64::MAX {
            return;
        }
        self.inflight_long = self.inflight_long.max(sample.tx_in_flight);
        if self.mode == Mode::Up && sample.limited {
            // Slow start of the bound: twice as fast in each round.
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
    }

    fn raise_slope(&mut self) {
        let growth = 1u64 << self.up_rounds.min(30);
        self.up_rounds += 1;
        self.up_per = (self.cwnd / growth).max(self.mss);
    }

    // Cycle.

    fn start_down(&mut self, now: Time, delivered: u64) {
        self.mode = Mode::Down;
        self.probing = false;
        self.cycle += 1;
        self.cycle_at = now;
        self.rounds_since_probe = 0;
        // Between two and three seconds, by the count of delivered bytes.
        let part = delivered.wrapping_mul(6_364_136_223_846_793_005) >> 44;
        self.probe_wait = WAIT + Span::from_us(part & 0xf_ffff);
    }

    fn time_to_probe(&self, now: Time) -> bool {
        let window = (self.bdp(self.bw(), 1.0) / self.mss).max(1);
        now.saturating_since(self.cycle_at) >= self.probe_wait
            || self.rounds_since_probe >= window.min(MOST_ROUNDS)
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

    fn advance(&mut self, sample: &Sample) {
        match self.mode {
            Mode::Startup => {
                self.check_startup(sample);
                if self.full {
                    self.mode = Mode::Drain;
                }
            }
            Mode::Drain => {
                if sample.in_flight <= self.inflight(self.bw(), 1.0) {
                    self.start_down(sample.now, sample.delivered);
                }
            }
            Mode::Down => {
                if self.time_to_probe(sample.now) {
                    self.start_refill(sample);
                } else if sample.in_flight <= self.with_headroom()
                    && sample.in_flight <= self.inflight(self.max_bw.get(), 1.0)
                {
                    self.mode = Mode::Cruise;
                }
            }
            Mode::Cruise => {
                if self.time_to_probe(sample.now) {
                    self.start_refill(sample);
                }
            }
            Mode::Refill => {
                if self.round_began {
                    self.mode = Mode::Up;
                    self.probing = true;
                    self.cycle_at = sample.now;
                    self.full_bw = self.bw_latest;
                    self.flat = 0;
                    self.raise_slope();
                }
            }
            Mode::Up => {
                let long_enough = self
                    .min_rtt
                    .is_some_and(|rtt| sample.now.saturating_since(self.cycle_at) > rtt);
                if long_enough
                    && sample.in_flight_before > self.inflight(self.max_bw.get(), UP_GAIN)
                {
                    self.start_down(sample.now, sample.delivered);
                }
            }
            Mode::ProbeRtt => {}
        }
    }

    fn start_refill(&mut self, sample: &Sample) {
        self.forget_lower();
        self.mode = Mode::Refill;
        self.up_rounds = 0;
        self.up_acked = 0;
        self.round_end = sample.delivered;
    }

    fn check_startup(&mut self, sample: &Sample) {
        if self.full || !self.round_began || sample.app_limited {
            return;
        }
        // Section 4.3.1.3: many losses in a round.
        if self.phase == Phase::Recovery
            && self.losses >= STARTUP_LOSSES
            && self.too_high_rate(sample)
        {
            self.full = true;
            self.inflight_long = self.bdp(self.max_bw.get(), 1.0).max(self.inflight_latest);
            return;
        }
        if self.max_bw.get() >= self.full_bw * GROWTH {
            self.full_bw = self.max_bw.get();
            self.flat = 0;
            return;
        }
        self.flat += 1;
        self.full = self.flat >= FLAT_ROUNDS;
    }

    fn too_high_rate(&self, sample: &Sample) -> bool {
        real(sample.lost_since) > real(sample.tx_in_flight) * self.loss_threshold
    }

    // Round-trip time.

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
        if due && self.mode != Mode::ProbeRtt && self.full {
            self.mode = Mode::ProbeRtt;
            self.prior_cwnd = self.prior_cwnd.max(self.cwnd);
            self.probe_until = None;
        }
        if self.mode != Mode::ProbeRtt {
            return;
        }
        match self.probe_until {
            None if sample.in_flight <= self.probe_window() => {
                self.probe_until = Some(now.saturating_add(self.probe_rtt));
                self.probe_round = false;
                self.round_end = sample.delivered;
            }
            None => {}
            Some(until) => {
                self.probe_round |= self.round_began;
                if self.probe_round && now > until {
                    self.probe_rtt_at = now;
                    self.cwnd = self.cwnd.max(self.prior_cwnd);
                    self.prior_cwnd = 0;
                    self.forget_lower();
                    self.start_down(now, sample.delivered);
                    self.mode = Mode::Cruise;
                }
            }
        }
    }

    fn probe_window(&self) -> u64 {
        self.bdp(self.bw(), PROBE_RTT_CWND_GAIN)
            .max(LEAST * self.mss)
    }

    // What follows from it.

    fn set_pacing(&mut self) {
        let target = self.pacing_gain() * self.bw() * (1.0 - self.margin);
        if target > 0.0 && (self.full || target > self.pacing) {
            self.pacing = target;
        }
    }

    fn set_cwnd(&mut self, sample: &Sample) {
        let most = self.inflight(self.bw(), self.window_gain()) + whole(self.extra.get());
        if self.full {
            self.cwnd = (self.cwnd + sample.newly_delivered).min(most);
        } else if self.cwnd < most || sample.delivered < 2 * self.initial_window {
            self.cwnd += sample.newly_delivered;
        }
        // Section 4.6.4.7: the bounds.
        let mut bound = match self.mode {
            Mode::Startup | Mode::Drain => u64::MAX,
            Mode::ProbeRtt | Mode::Cruise => self.with_headroom(),
            Mode::Down | Mode::Refill | Mode::Up => self.inflight_long,
        };
        bound = bound.min(self.inflight_short);
        if self.mode == Mode::ProbeRtt {
            bound = bound.min(self.probe_window());
        }
        self.cwnd = self.cwnd.min(bound).max(LEAST * self.mss);
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
        self.cycle_at = start.now;
        let rtt = start.rtt.unwrap_or(Span::from_ms(1)).as_secs_f64();
        self.pacing = real(self.cwnd) / rtt.max(1e-6) * self.startup_gain;
    }

    fn on_sent(&mut self, sent: &Sent) {
        if sent.in_flight == sent.bytes && self.app_limited {
            self.epoch = sent.now;
            self.epoch_acked = 0;
        }
    }

    fn on_ack(&mut self, _acked: &Acked) {}

    fn traits(&self) -> Traits {
        Traits {
            model: true,
            samples: true,
            paces: true,
            ..Traits::default()
        }
    }

    fn on_model(&mut self, sample: &Sample) {
        if self.phase == Phase::Loss && sample.phase < Phase::Recovery {
            self.cwnd = self.cwnd.max(self.prior_cwnd);
            self.prior_cwnd = 0;
        }
        self.phase = sample.phase;
        self.update_model(sample);
        self.adapt_upper(sample);
        if self.round_began {
            self.adapt_lower();
        }
        self.advance(sample);
        if self.round_began {
            self.loss_in_round = false;
            self.losses = 0;
            self.bw_latest = sample.rate().unwrap_or(0.0);
            self.inflight_latest = sample.sampled;
        }
        self.update_min_rtt(sample);
        self.set_pacing();
        self.set_cwnd(sample);
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        if let CongestionKind::Timeout(expiry) = congestion.kind {
            self.prior_cwnd = self.prior_cwnd.max(self.cwnd);
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

    fn on_undo(&mut self, _undo: &Undo) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        self.forget_lower();
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("bw (bps)", self.bw() * 8.0);
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::tests::MSS;

    fn cc() -> Bbr3 {
        let mut cc = Bbr3::new(&Bbr3Params::default());
        cc.on_start(&Start {
            mss: MSS,
            initial_window: 10 * MSS,
            rtt: Some(Span::from_ms(50)),
            ..Start::default()
        });
        cc.full = true;
        cc.max_bw.add(0, 1e6, BW_CYCLES);
        cc
    }

    #[test]
    fn losses_above_the_threshold_bound_what_is_in_flight_and_end_the_probe() {
        let mut cc = cc();
        cc.mode = Mode::Up;
        cc.probing = true;
        let mut sample = Sample {
            tx_in_flight: 100 * MSS,
            lost_since: 2 * MSS,
            newly_lost: MSS,
            ..Sample::default()
        };
        cc.adapt_upper(&sample);
        assert_eq!((cc.mode, cc.inflight_long), (Mode::Up, u64::MAX), "2 %");
        sample.lost_since = 3 * MSS;
        cc.adapt_upper(&sample);
        assert_eq!((cc.mode, cc.inflight_long), (Mode::Down, 100 * MSS));
        assert_eq!(cc.with_headroom(), 85 * MSS);
    }

    #[test]
    fn a_round_with_losses_takes_three_tenths_off_the_lower_bounds() {
        let mut cc = cc();
        cc.mode = Mode::Cruise;
        cc.cwnd = 100 * MSS;
        cc.loss_in_round = true;
        cc.adapt_lower();
        assert!((cc.bw() - 0.7e6).abs() < 1.0);
        assert_eq!(cc.inflight_short, 70 * MSS);
        cc.start_refill(&Sample::default());
        assert!((cc.bw() - 1e6).abs() < 1.0);
    }

    #[test]
    fn probes_are_two_to_three_seconds_apart() {
        let mut cc = cc();
        for delivered in (0..100).map(|n| n * 12_345_678) {
            cc.start_down(Time::ZERO, delivered);
            assert!(cc.probe_wait >= WAIT && cc.probe_wait < WAIT + Span::from_ms(1100));
        }
    }
}
