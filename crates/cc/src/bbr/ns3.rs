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

use super::{
    BbrParams, FULL_BW_COUNT, FULL_BW_THRESH, MIN_PIPE_CWND, Mode, Model, PACING_GAIN_CYCLE, drawn,
};
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
    /// Gain of rate and window in Startup (BBRHighGain).
    high_gain: f64,
    /// Gain of the window after startup.
    cwnd_gain_steady: f64,
    /// Rounds over which the greatest rate counts.
    rounds: u64,
    min_rtt_window: Span,
    probe_rtt: Span,
    /// The part of the rate that the pace leaves free.
    margin: f64,

    /// Payload of a full segment, bytes.
    mss: u64,
    /// The window at the beginning, bytes.
    initial_window: u64,
    /// The window, bytes.
    cwnd: u64,
    /// The threshold, bytes.
    ssthresh: u64,
    /// The last window that was good, bytes (BBR.prior_cwnd).
    prior_cwnd: u64,
    /// Bits per second.
    pacing: u64,
    btl_bw: Filter,
    mode: Mode,
    /// Gain of the rate now.
    pacing_gain: f64,
    /// Gain of the window now.
    cwnd_gain: f64,
    rt_prop: Option<Span>,
    rt_prop_stamp: Time,
    expired: bool,
    /// The last round trip that was measured.
    last_rtt: Option<Span>,
    /// Round trips so far.
    round_count: u64,
    /// Delivered bytes at which the round is over (BBR.next_round_delivered).
    next_round_delivered: u64,
    round_start: bool,
    /// The rate that growth is compared with, bits per second.
    full_bw: u64,
    /// Rounds without growth.
    full_bw_count: u32,
    filled_pipe: bool,
    cycle_index: usize,
    cycle_stamp: Time,
    probe_rtt_done_stamp: Option<Time>,
    probe_rtt_round_done: bool,
    packet_conservation: bool,
    phase: Phase,
    /// A small window has held it back once.
    app_limited: bool,
    idle_restart: bool,
    ack_epoch: Time,
    /// Bytes acknowledged since then.
    ack_epoch_acked: u64,
    /// The most bytes beyond the rate, in these rounds and those before.
    extra_acked: [u64; 2],
    extra_acked_index: usize,
    /// Rounds since these were exchanged.
    extra_acked_rounds: u32,
}

impl Ns3 {
    /// InFlight.
    fn pipe(&self, gain: f64) -> u64 {
        let Some(rtt) = self.rt_prop else {
            return self.initial_window;
        };
        let product = seconds(rtt) * real(self.btl_bw.get()) / 8.0;
        let mut room = 3 * self.mss;
        if self.mode == Mode::ProbeBw && self.cycle_index == 0 {
            room += 2 * self.mss;
        }
        whole(gain * product + real(room))
    }

    fn set_pacing(&mut self, gain: f64) {
        let rate = whole(gain * real(self.btl_bw.get()));
        let rate = whole(real(rate) * (1.0 - self.margin));
        if self.filled_pipe || rate > self.pacing {
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
        if self.probe_rtt_round_done && self.probe_rtt_done_stamp.is_some_and(|until| now > until) {
            self.rt_prop_stamp = now;
            self.restore_cwnd();
            match self.filled_pipe {
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
            Mode::ProbeBw => (PACING_GAIN_CYCLE[self.cycle_index], self.cwnd_gain_steady),
            Mode::ProbeRtt => (1.0, 1.0),
        };
    }

    fn enter_probe_bw(&mut self, now: Time) {
        // The six phases that ns-3 draws from: that which probes, and the last five.
        self.cycle_index = match drawn(now) % 6 {
            0 => 0,
            other => other + 2,
        };
        self.cycle_stamp = now;
        self.enter(Mode::ProbeBw);
    }

    fn update_bw(&mut self, sample: &Sample) {
        if sample.sampled == 0 || sample.interval.is_zero() {
            return;
        }
        self.round_start = sample.prior_delivered >= self.next_round_delivered;
        if self.round_start {
            self.next_round_delivered = sample.delivered;
            self.round_count += 1;
            self.packet_conservation = false;
        }
        let rate = whole(real(sample.sampled) * 8.0 / seconds(sample.interval));
        if rate >= self.btl_bw.get() || !sample.app_limited {
            self.btl_bw.add(self.round_count, rate, self.rounds);
        }
    }

    fn update_aggregation(&mut self, sample: &Sample) {
        if sample.newly_delivered == 0 || sample.sampled == 0 {
            return;
        }
        if self.round_start {
            self.extra_acked_rounds = (self.extra_acked_rounds + 1).min(31);
            if self.extra_acked_rounds >= AGGREGATION_ROUNDS {
                self.extra_acked_rounds = 0;
                self.extra_acked_index = 1 - self.extra_acked_index;
                self.extra_acked[self.extra_acked_index] = 0;
            }
        }
        // Whole seconds.
        let elapsed = whole(sample.now.as_secs_f64() - self.ack_epoch.as_secs_f64());
        let mut expected = self.btl_bw.get() * elapsed / 8;
        if self.ack_epoch_acked <= expected
            || self.ack_epoch_acked + sample.newly_delivered >= EPOCH_BYTES
        {
            self.ack_epoch_acked = 0;
            self.ack_epoch = sample.now;
            expected = 0;
        }
        self.ack_epoch_acked += sample.newly_delivered;
        let extra = self.ack_epoch_acked.saturating_sub(expected).min(self.cwnd);
        let most = &mut self.extra_acked[self.extra_acked_index];
        *most = (*most).max(extra);
    }

    fn check_cycle(&mut self, sample: &Sample) {
        if self.mode != Mode::ProbeBw {
            return;
        }
        let passed = sample.now.saturating_since(self.cycle_stamp);
        let full_length = self.rt_prop.is_some_and(|rtt| passed > rtt);
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
            self.cycle_index = (self.cycle_index + 1) % PACING_GAIN_CYCLE.len();
            self.cycle_stamp = sample.now;
            self.pacing_gain = PACING_GAIN_CYCLE[self.cycle_index];
        }
    }

    fn check_full(&mut self, sample: &Sample) {
        if self.filled_pipe || !self.round_start || sample.app_limited {
            return;
        }
        if real(self.btl_bw.get()) >= real(self.full_bw) * FULL_BW_THRESH {
            self.full_bw = self.btl_bw.get();
            self.full_bw_count = 0;
            return;
        }
        self.full_bw_count += 1;
        self.filled_pipe = self.full_bw_count >= FULL_BW_COUNT;
    }

    fn check_drain(&mut self, sample: &Sample) {
        if self.mode == Mode::Startup && self.filled_pipe {
            self.enter(Mode::Drain);
            self.ssthresh = self.pipe(1.0);
        }
        if self.mode == Mode::Drain && sample.in_flight <= self.pipe(1.0) {
            self.enter_probe_bw(sample.now);
        }
    }

    /// UpdateRTprop: the last round trip counts again with each acknowledgement.
    fn update_min_rtt(&mut self, now: Time) {
        self.expired = now > self.rt_prop_stamp.saturating_add(self.min_rtt_window);
        if let Some(rtt) = self.last_rtt
            && (self.expired || self.rt_prop.is_none_or(|least| rtt <= least))
        {
            self.rt_prop = Some(rtt);
            self.rt_prop_stamp = now;
        }
    }

    fn check_probe_rtt(&mut self, sample: &Sample) {
        if self.mode != Mode::ProbeRtt && self.expired && !self.idle_restart {
            self.enter(Mode::ProbeRtt);
            self.save_cwnd();
            self.probe_rtt_done_stamp = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.app_limited = true;
            if self.probe_rtt_done_stamp.is_some() {
                self.probe_rtt_round_done |= self.round_start;
                self.end_probe(sample.now);
            } else if sample.in_flight <= MIN_PIPE_CWND * self.mss {
                self.probe_rtt_done_stamp = Some(sample.now.saturating_add(self.probe_rtt));
                self.probe_rtt_round_done = false;
                self.next_round_delivered = sample.delivered;
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
            if self.filled_pipe {
                self.cwnd = (self.cwnd + acked).min(target);
            } else if self.cwnd < target || sample.delivered < self.initial_window {
                self.cwnd += acked;
            }
            self.cwnd = self.cwnd.max(MIN_PIPE_CWND * self.mss);
        }
        if self.mode == Mode::ProbeRtt {
            self.cwnd = self.cwnd.min(MIN_PIPE_CWND * self.mss);
        }
    }

    /// AckAggregationCwnd: at most a tenth of a second.
    fn aggregated(&self) -> u64 {
        match self.filled_pipe {
            true => self.extra_acked[0]
                .max(self.extra_acked[1])
                .min(self.btl_bw.get() / 80),
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
        if self.packet_conservation {
            self.cwnd = self.cwnd.max(sample.in_flight + sample.newly_delivered);
        }
        self.packet_conservation
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
            btl_bw: Filter::default(),
            mode: Mode::Startup,
            pacing_gain: params.high_gain,
            cwnd_gain: params.high_gain,
            rt_prop: None,
            rt_prop_stamp: Time::ZERO,
            expired: false,
            last_rtt: None,
            round_count: 0,
            next_round_delivered: 0,
            round_start: false,
            full_bw: 0,
            full_bw_count: 0,
            filled_pipe: false,
            cycle_index: 0,
            cycle_stamp: Time::ZERO,
            probe_rtt_done_stamp: None,
            probe_rtt_round_done: false,
            packet_conservation: false,
            phase: Phase::Open,
            app_limited: false,
            idle_restart: false,
            ack_epoch: Time::ZERO,
            ack_epoch_acked: 0,
            extra_acked: [0; 2],
            extra_acked_index: 0,
            extra_acked_rounds: 0,
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
        self.rt_prop = start.rtt;
        self.last_rtt = start.rtt;
        self.rt_prop_stamp = start.now;
        self.ack_epoch = start.now;
        let ms = start.rtt.map_or(1, millis).max(1);
        let nominal = whole(real(self.cwnd * 8) / seconds(Span::from_ms(ms)));
        self.pacing = whole(self.pacing_gain * real(nominal));
        self.btl_bw = Filter::of(nominal);
    }

    /// CwndEvent of the first segment after nothing was in flight.
    fn on_sent(&mut self, sent: &Sent) {
        if sent.in_flight != sent.bytes || !self.app_limited {
            return;
        }
        self.idle_restart = true;
        self.ack_epoch = sent.now;
        self.ack_epoch_acked = 0;
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
                self.packet_conservation = true;
            }
            (Phase::Recovery, Phase::Open) => {
                self.packet_conservation = false;
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
                self.round_start = true;
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
            rate: real(self.btl_bw.get()),
            pacing_gain: self.pacing_gain,
            mode: self.mode,
            min_rtt: self.rt_prop,
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
        assert_eq!(bbr.btl_bw.get(), 14_480 * 8 * 20);
        assert_eq!(bbr.pacing, whole(2.885 * real(14_480 * 8 * 20)));
    }
}
