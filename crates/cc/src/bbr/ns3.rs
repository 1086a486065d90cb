//! BBR as ns-3 has it.
//!
//! Source: ns-3.44, read for behaviour: tcp-bbr.cc, windowed-filter.h, and where tcp-socket-base.cc calls it. Where it is not Linux:
//! - rates are whole bits per second; the filter begins with the rate of the initial window, and the pace has no margin until a greater rate is known;
//! - the pipe is the product of rate and delay and three segments, not rounded, and two segments more while probing;
//! - the aggregation of acknowledgements begins anew with 4096 bytes, a limit that Linux has in segments;
//! - what is lost is the change of the bytes that are marked as lost, whichever way it goes;
//! - the window after a recovery is the slow start threshold: what fills the pipe when the search ended.
//!
//! Deviation: the cycle begins in a phase that is drawn from the time, not from stream 4 of ns-3's random numbers, from which all flows draw the same.

use super::{BbrParams, CYCLE, FLAT_ROUNDS, GROWTH, LEAST, Mode, Model, drawn};
use crate::num::{millis, real, seconds, whole};
use crate::{
    Acked, Build, Congestion, CongestionControl, CongestionKind, Phase, Sample, Sent, Start, Traits,
};
use sojourn_units::{ParamError, Rate, Span, Time};

/// Bytes acknowledged after which aggregation is counted anew (AckEpochAckedResetThresh).
const EPOCH_BYTES: u64 = 4096;
/// Round trips after which what was seen of aggregation is half forgotten.
const AGGREGATION_ROUNDS: u32 = 5;
/// Greatest threshold, and window: ns-3 keeps them in 32 bits.
const MOST: u64 = (1 << 32) - 1;

/// The greatest rate of the last rounds (WindowedFilter).
#[derive(Clone, Copy, Debug, Default)]
struct Filter {
    /// Round and bits per second, the best first.
    best: [(u64, u64); 3],
    /// What it began with, which any rate replaces.
    zero: u64,
}

impl Filter {
    fn of(zero: u64) -> Filter {
        Filter {
            best: [(0, zero); 3],
            zero,
        }
    }

    fn get(&self) -> u64 {
        self.best[0].1
    }

    fn add(&mut self, round: u64, rate: u64, window: u64) {
        let new = (round, rate);
        let best = &mut self.best;
        if best[0].1 == self.zero || rate >= best[0].1 || round - best[2].0 > window {
            *best = [new; 3];
            return;
        }
        if rate >= best[1].1 {
            best[1] = new;
            best[2] = new;
        } else if rate >= best[2].1 {
            best[2] = new;
        }
        if round - best[0].0 > window {
            *best = [best[1], best[2], new];
            if round - best[0].0 > window {
                *best = [best[1], best[2], best[2]];
            }
        } else if best[1].1 == best[0].1 && round - best[1].0 > window / 4 {
            best[1] = new;
            best[2] = new;
        } else if best[2].1 == best[1].1 && round - best[2].0 > window / 2 {
            best[2] = new;
        }
    }
}

/// See [`super::Bbr`].
#[derive(Clone, Debug)]
pub(crate) struct Ns3 {
    high_gain: f64,
    cwnd_gain_steady: f64,
    rounds: u64,
    min_rtt_window: Span,
    probe_rtt: Span,
    margin: f64,

    mss: u64,
    initial_window: u64,
    cwnd: u64,
    ssthresh: u64,
    prior_cwnd: u64,
    /// Bits per second.
    pacing: u64,
    bw: Filter,
    mode: Mode,
    pacing_gain: f64,
    cwnd_gain: f64,
    min_rtt: Option<Span>,
    min_rtt_at: Time,
    expired: bool,
    /// The last round trip that was measured.
    last_rtt: Option<Span>,
    round: u64,
    round_end: u64,
    round_began: bool,
    full_bw: u64,
    flat: u32,
    full: bool,
    cycle: usize,
    cycle_at: Time,
    probe_until: Option<Time>,
    probe_round: bool,
    conserve: bool,
    phase: Phase,
    /// A small window has held it back once.
    app_limited: bool,
    idle_restart: bool,
    epoch: Time,
    epoch_acked: u64,
    extra: [u64; 2],
    extra_index: usize,
    extra_rounds: u32,
}

impl Ns3 {
    /// InFlight.
    fn pipe(&self, gain: f64) -> u64 {
        let Some(rtt) = self.min_rtt else {
            return self.initial_window;
        };
        let product = seconds(rtt) * real(self.bw.get()) / 8.0;
        let mut room = 3 * self.mss;
        if self.mode == Mode::ProbeBw && self.cycle == 0 {
            room += 2 * self.mss;
        }
        whole(gain * product + real(room))
    }

    fn set_pacing(&mut self, gain: f64) {
        let rate = whole(gain * real(self.bw.get()));
        let rate = whole(real(rate) * (1.0 - self.margin));
        if self.full || rate > self.pacing {
            self.pacing = rate;
        }
    }

    fn save_cwnd(&mut self) {
        self.prior_cwnd = match self.phase != Phase::Recovery && self.mode != Mode::ProbeRtt {
            true => self.cwnd,
            false => self.prior_cwnd.max(self.cwnd),
        };
    }

    fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    fn end_probe(&mut self, now: Time) {
        if self.probe_round && self.probe_until.is_some_and(|until| now > until) {
            self.min_rtt_at = now;
            self.restore_cwnd();
            match self.full {
                true => self.enter_probe_bw(now),
                false => self.enter(Mode::Startup),
            }
        }
    }

    fn enter(&mut self, mode: Mode) {
        self.mode = mode;
        (self.pacing_gain, self.cwnd_gain) = match mode {
            Mode::Startup => (self.high_gain, self.high_gain),
            Mode::Drain => (1.0 / self.high_gain, self.high_gain),
            Mode::ProbeBw => (CYCLE[self.cycle], self.cwnd_gain_steady),
            Mode::ProbeRtt => (1.0, 1.0),
        };
    }

    fn enter_probe_bw(&mut self, now: Time) {
        // The six phases that ns-3 draws from: that which probes, and the last five.
        self.cycle = match drawn(now) % 6 {
            0 => 0,
            other => other + 2,
        };
        self.cycle_at = now;
        self.enter(Mode::ProbeBw);
    }

    fn update_bw(&mut self, sample: &Sample) {
        if sample.sampled == 0 || sample.interval.is_zero() {
            return;
        }
        self.round_began = sample.prior_delivered >= self.round_end;
        if self.round_began {
            self.round_end = sample.delivered;
            self.round += 1;
            self.conserve = false;
        }
        let rate = whole(real(sample.sampled) * 8.0 / seconds(sample.interval));
        if rate >= self.bw.get() || !sample.app_limited {
            self.bw.add(self.round, rate, self.rounds);
        }
    }

    fn update_aggregation(&mut self, sample: &Sample) {
        if sample.newly_delivered == 0 || sample.sampled == 0 {
            return;
        }
        if self.round_began {
            self.extra_rounds = (self.extra_rounds + 1).min(31);
            if self.extra_rounds >= AGGREGATION_ROUNDS {
                self.extra_rounds = 0;
                self.extra_index = 1 - self.extra_index;
                self.extra[self.extra_index] = 0;
            }
        }
        // Whole seconds.
        let elapsed = whole(sample.now.as_secs_f64() - self.epoch.as_secs_f64());
        let mut expected = self.bw.get() * elapsed / 8;
        if self.epoch_acked <= expected || self.epoch_acked + sample.newly_delivered >= EPOCH_BYTES
        {
            self.epoch_acked = 0;
            self.epoch = sample.now;
            expected = 0;
        }
        self.epoch_acked += sample.newly_delivered;
        let extra = self.epoch_acked.saturating_sub(expected).min(self.cwnd);
        let most = &mut self.extra[self.extra_index];
        *most = (*most).max(extra);
    }

    fn check_cycle(&mut self, sample: &Sample) {
        if self.mode != Mode::ProbeBw {
            return;
        }
        let passed = sample.now.saturating_since(self.cycle_at);
        let full_length = self.min_rtt.is_some_and(|rtt| passed > rtt);
        let gain = self.pacing_gain;
        let in_flight = sample.in_flight_before;
        let next = if gain > 1.0 {
            full_length && (sample.newly_lost > 0 || in_flight >= self.pipe(gain))
        } else if gain < 1.0 {
            full_length || in_flight <= self.pipe(1.0)
        } else {
            full_length
        };
        if next {
            self.cycle = (self.cycle + 1) % CYCLE.len();
            self.cycle_at = sample.now;
            self.pacing_gain = CYCLE[self.cycle];
        }
    }

    fn check_full(&mut self, sample: &Sample) {
        if self.full || !self.round_began || sample.app_limited {
            return;
        }
        if real(self.bw.get()) >= real(self.full_bw) * GROWTH {
            self.full_bw = self.bw.get();
            self.flat = 0;
            return;
        }
        self.flat += 1;
        self.full = self.flat >= FLAT_ROUNDS;
    }

    fn check_drain(&mut self, sample: &Sample) {
        if self.mode == Mode::Startup && self.full {
            self.enter(Mode::Drain);
            self.ssthresh = self.pipe(1.0);
        }
        if self.mode == Mode::Drain && sample.in_flight <= self.pipe(1.0) {
            self.enter_probe_bw(sample.now);
        }
    }

    /// UpdateRTprop: the last round trip counts again with each acknowledgement.
    fn update_min_rtt(&mut self, now: Time) {
        self.expired = now > self.min_rtt_at.saturating_add(self.min_rtt_window);
        if let Some(rtt) = self.last_rtt
            && (self.expired || self.min_rtt.is_none_or(|least| rtt <= least))
        {
            self.min_rtt = Some(rtt);
            self.min_rtt_at = now;
        }
    }

    fn check_probe_rtt(&mut self, sample: &Sample) {
        if self.mode != Mode::ProbeRtt && self.expired && !self.idle_restart {
            self.enter(Mode::ProbeRtt);
            self.save_cwnd();
            self.probe_until = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.app_limited = true;
            if self.probe_until.is_some() {
                self.probe_round |= self.round_began;
                self.end_probe(sample.now);
            } else if sample.in_flight <= LEAST * self.mss {
                self.probe_until = Some(sample.now.saturating_add(self.probe_rtt));
                self.probe_round = false;
                self.round_end = sample.delivered;
            }
        }
        if sample.sampled > 0 {
            self.idle_restart = false;
        }
    }

    fn set_cwnd(&mut self, sample: &Sample) {
        let acked = sample.newly_delivered;
        if acked > 0 && !self.recover(sample) {
            let target = self.pipe(self.cwnd_gain) + self.aggregated();
            if self.full {
                self.cwnd = (self.cwnd + acked).min(target);
            } else if self.cwnd < target || sample.delivered < self.initial_window {
                self.cwnd += acked;
            }
            self.cwnd = self.cwnd.max(LEAST * self.mss);
        }
        if self.mode == Mode::ProbeRtt {
            self.cwnd = self.cwnd.min(LEAST * self.mss);
        }
    }

    /// AckAggregationCwnd: at most a tenth of a second.
    fn aggregated(&self) -> u64 {
        match self.full {
            true => self.extra[0].max(self.extra[1]).min(self.bw.get() / 80),
            false => 0,
        }
    }

    /// ModulateCwndForRecovery: true if the window is that.
    fn recover(&mut self, sample: &Sample) -> bool {
        if self.phase != Phase::Recovery {
            return false;
        }
        if sample.newly_lost > 0 {
            self.cwnd = self.cwnd.saturating_sub(sample.newly_lost).max(self.mss);
        }
        if self.conserve {
            self.cwnd = self.cwnd.max(sample.in_flight + sample.newly_delivered);
        }
        self.conserve
    }
}

impl Build for Ns3 {
    type Params = BbrParams;

    fn build(params: &BbrParams) -> Result<Ns3, ParamError> {
        Ok(Ns3 {
            high_gain: params.high_gain,
            cwnd_gain_steady: params.cwnd_gain,
            rounds: params.bw_rounds.into(),
            min_rtt_window: params.min_rtt_window,
            probe_rtt: params.probe_rtt,
            margin: params.margin,
            mss: 1,
            initial_window: 0,
            cwnd: 0,
            ssthresh: MOST,
            prior_cwnd: 0,
            pacing: 0,
            bw: Filter::default(),
            mode: Mode::Startup,
            pacing_gain: params.high_gain,
            cwnd_gain: params.high_gain,
            min_rtt: None,
            min_rtt_at: Time::ZERO,
            expired: false,
            last_rtt: None,
            round: 0,
            round_end: 0,
            round_began: false,
            full_bw: 0,
            flat: 0,
            full: false,
            cycle: 0,
            cycle_at: Time::ZERO,
            probe_until: None,
            probe_round: false,
            conserve: false,
            phase: Phase::Open,
            app_limited: false,
            idle_restart: false,
            epoch: Time::ZERO,
            epoch_acked: 0,
            extra: [0; 2],
            extra_index: 0,
            extra_rounds: 0,
        })
    }
}

impl CongestionControl for Ns3 {
    /// CongestionStateSet when the connection is open, and InitPacingRate.
    fn on_start(&mut self, start: &Start) {
        self.mss = start.mss.max(1);
        self.initial_window = start.initial_window.max(self.mss);
        self.cwnd = self.initial_window;
        self.prior_cwnd = self.cwnd;
        self.min_rtt = start.rtt;
        self.last_rtt = start.rtt;
        self.min_rtt_at = start.now;
        self.epoch = start.now;
        let ms = start.rtt.map_or(1, millis).max(1);
        let nominal = whole(real(self.cwnd * 8) / seconds(Span::from_ms(ms)));
        self.pacing = whole(self.pacing_gain * real(nominal));
        self.bw = Filter::of(nominal);
    }

    /// CwndEvent of the first segment after nothing was in flight.
    fn on_sent(&mut self, sent: &Sent) {
        if sent.in_flight != sent.bytes || !self.app_limited {
            return;
        }
        self.idle_restart = true;
        self.epoch = sent.now;
        self.epoch_acked = 0;
        match self.mode {
            Mode::ProbeBw => self.set_pacing(1.0),
            Mode::ProbeRtt => self.end_probe(sent.now),
            Mode::Startup | Mode::Drain => {}
        }
    }

    fn on_ack(&mut self, _acked: &Acked) {}

    fn traits(&self) -> Traits {
        Traits {
            model: true,
            samples: true,
            paces: true,
            keeps_samples: true,
            raises: Some(
                "a recovery of TcpBbr begins with what is in flight and a segment (CongestionStateSet)",
            ),
            ..Traits::default()
        }
    }

    /// CongestionStateSet and the socket's ExitRecovery.
    fn on_phase(&mut self, phase: Phase, _: Time) {
        match (self.phase, phase) {
            (_, Phase::Recovery) => {
                self.save_cwnd();
                self.conserve = true;
            }
            (Phase::Recovery, Phase::Open) => {
                self.conserve = false;
                self.cwnd = self.ssthresh;
            }
            _ => {}
        }
        self.phase = phase;
    }

    /// CongControl.
    fn on_model(&mut self, sample: &Sample) {
        self.last_rtt = sample.rtt.or(self.last_rtt);
        self.update_bw(sample);
        self.update_aggregation(sample);
        self.check_cycle(sample);
        self.check_full(sample);
        self.check_drain(sample);
        self.update_min_rtt(sample.now);
        self.check_probe_rtt(sample);
        self.set_pacing(self.pacing_gain);
        self.set_cwnd(sample);
    }

    /// GetSsThresh, and what the socket and CongestionStateSet do with the window.
    fn on_congestion(&mut self, congestion: &Congestion) {
        match congestion.kind {
            CongestionKind::Loss => {
                self.cwnd = congestion.in_flight + self.mss;
                self.save_cwnd();
            }
            CongestionKind::Ecn => self.save_cwnd(),
            CongestionKind::Timeout(_) => {
                self.save_cwnd();
                self.round_began = true;
                self.cwnd = congestion.mss;
            }
        }
    }

    #[inline]
    fn cwnd(&self) -> u64 {
        self.cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    fn pacing_rate(&self) -> Option<Rate> {
        (self.pacing > 0).then(|| Rate::bps(self.pacing))
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        let told = Model {
            rate: real(self.bw.get()),
            pacing_gain: self.pacing_gain,
            mode: self.mode,
            min_rtt: self.min_rtt,
        };
        told.series(tell);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_rate_replaces_what_the_filter_began_with_and_the_greatest_lasts_its_window() {
        let mut filter = Filter::of(900);
        filter.add(1, 500, 10);
        assert_eq!(filter.get(), 500);
        filter.add(2, 800, 10);
        filter.add(5, 600, 10);
        filter.add(12, 300, 10);
        assert_eq!(filter.get(), 800);
        filter.add(13, 200, 10);
        assert_eq!(filter.get(), 600);
    }

    #[test]
    fn the_first_pace_is_that_of_the_initial_window_without_a_margin() {
        let mut bbr = Ns3::build(&BbrParams::default()).unwrap();
        bbr.on_start(&Start {
            mss: 1448,
            initial_window: 14_480,
            rtt: Some(Span::from_ms(50)),
            ..Start::default()
        });
        assert_eq!(bbr.bw.get(), 14_480 * 8 * 20);
        assert_eq!(bbr.pacing, whole(2.885 * real(14_480 * 8 * 20)));
    }
}
