//! BBR, version 1: sends at the bottleneck's rate, measured, with a window of two bandwidth-delay products.
//!
//! Sources: Cardwell et al. 2016 (BBR), draft-cardwell-iccrg-bbr-congestion-control-00, and tcp_bbr.c of Linux 6.1 for
//! details that the paper leaves open (rounding of the window, aggregation, recovery, accounting of data held back by
//! pacing); that file was read.
//!
//! Deviations: the initial phase of a cycle is derived from the time at which it begins. Acknowledgements that were
//! delayed count as samples of the round-trip time. Over QUIC, a window of one packet after losses counts as two (RFC
//! 9002 section 7.2). The window in ProbeRTT is two packets in addition to the data in flight when the probe timer last
//! fired, so that losses in a pause of the link do not silence the sender.

mod ns3;
mod policer;

pub(crate) use ns3::Ns3;

use crate::num::{rate, real, whole};
use crate::{
    Acked, Build, Congestion, CongestionControl, CongestionKind, Phase, Sample, Sent, Start,
    Traits, Undo,
};
use policer::{Policer, Told};
use sojourn_units::{ParamError, Rate, Span, Time, params};

params! {
    /// BBRv1: follows a model of the path's rate and round-trip time, and does not react to losses.
    pub struct BbrParams {
        /// Gain of rate and window in startup: 2 / ln 2.
        high_gain: f64 = "2.885", range "1".."10", source "Cardwell et al. 2016 (2 / ln 2)";
        /// Gain of the window after startup.
        cwnd_gain: f64 = "2", range "1".."10", source "Cardwell et al. 2016";
        /// Round trips over which the maximum rate is taken.
        bw_rounds: u32 = "10", range "1".."100", source "Cardwell et al. 2016";
        /// Time over which the minimum round-trip time is taken.
        min_rtt_window: Span = "10s", range "1ms".., source "Cardwell et al. 2016";
        /// Length of a probe for the minimum round-trip time, with a small window.
        probe_rtt: Span = "200ms", range "1ms".., source "Cardwell et al. 2016";
        /// Margin by which the pacing rate is below the estimated rate, because the estimate may be too high.
        margin: f64 = "0.01", range "0".."0.5", source "tcp_bbr.c, bbr_pacing_margin_percent";
    }
    dialects Dialect {
        /// As in Linux, because the paper leaves details open.
        rfc as Rfc = "bbr-v1" {}
        /// TcpBbr of ns-3.
        ns3 as Ns3 = "ns3-3.44" { high_gain = "2.89" from "tcp-bbr.cc, HighGain"; }
        /// tcp_bbr.c.
        linux as Linux = "linux-6.1" {}
    }
}

/// Gains of the rate over one cycle, a round trip each (section 4.3.4.3 of draft-cardwell-iccrg-bbr-congestion-control-00).
const PACING_GAIN_CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// The pipe is full when the rate has not grown by a quarter (bbr_full_bw_thresh) in three rounds (bbr_full_bw_cnt): section 4.3.2.2 of the draft.
const FULL_BW_THRESH: f64 = 1.25;
const FULL_BW_COUNT: u32 = 3;
/// Segments of the least window (BBRMinPipeCwnd, section 4.2.3.3 of the draft).
const MIN_PIPE_CWND: u64 = 4;
/// Longest time of aggregation that the window allows for, and the rounds after which what was seen is half forgotten.
const AGGREGATION: Span = Span::from_ms(100);
const AGGREGATION_ROUNDS: u32 = 5;
/// Rate below which segments leave one by one, bytes per second (bbr_min_tso_rate), and the part of a second that one TSO burst lasts
/// above it (sk_pacing_shift).
const PIECES_FROM: f64 = 150_000.0;
const PIECE: f64 = 1024.0;
/// Bytes of a piece at most.
const PIECE_MOST: u64 = 65_536;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// What of the model is recorded.
struct Model {
    /// Bits per second.
    rate: f64,
    /// Gain of the rate.
    pacing_gain: f64,
    mode: Mode,
    min_rtt: Option<Span>,
}

impl Model {
    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("bw (bps)", self.rate);
        tell("pacing_gain", self.pacing_gain);
        let mode = match self.mode {
            Mode::Startup => 0.0,
            Mode::Drain => 1.0,
            Mode::ProbeBw => 2.0,
            Mode::ProbeRtt => 3.0,
        };
        tell("mode", mode);
        let min_rtt = self.min_rtt.unwrap_or_default();
        tell("min_rtt (ms)", min_rtt.as_secs_f64() * 1e3);
    }
}

/// The greatest of the values of the last rounds (Kathleen Nichols' filter: the three best, each later than the one before).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Greatest {
    /// Round and value of each, the greatest first.
    best: [(u64, f64); 3],
}

impl Greatest {
    pub(crate) fn get(&self) -> f64 {
        self.best[0].1
    }

    pub(crate) fn add(&mut self, at: u64, value: f64, window: u64) {
        let new = (at, value);
        let best = &mut self.best;
        if value >= best[0].1 || at - best[2].0 > window {
            *best = [new; 3];
            return;
        }
        if value >= best[1].1 {
            best[1] = new;
            best[2] = new;
        } else if value >= best[2].1 {
            best[2] = new;
        }
        let age = at - best[0].0;
        if age > window {
            *best = [best[1], best[2], new];
            if at - best[0].0 > window {
                *best = [best[1], best[2], new];
            }
        } else if best[1].0 == best[0].0 && age > window / 4 {
            best[1] = new;
            best[2] = new;
        } else if best[2].0 == best[1].0 && age > window / 2 {
            best[2] = new;
        }
    }
}

/// The state of one connection, except for dialect ns3.
#[derive(Clone, Debug)]
pub struct Bbr {
    /// Gain of rate and window in Startup (BBRHighGain).
    high_gain: f64,
    /// Gain of the window after startup.
    cwnd_gain_steady: f64,
    /// Rounds over which the greatest rate counts (BtlBwFilterLen).
    bw_rounds: u64,
    /// How long the shortest round trip counts (RTpropFilterLen).
    min_rtt_window: Span,
    /// How long it is looked for (ProbeRTTDuration).
    probe_rtt: Span,
    /// The part of the rate that the pace leaves free.
    margin: f64,

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
    /// The state (BBR.state).
    mode: Mode,
    /// Gain of the rate now.
    pacing_gain: f64,
    /// Gain of the window now.
    cwnd_gain: f64,

    /// The greatest delivery rate of the last rounds, bytes per second (BBR.BtlBwFilter).
    btl_bw: Greatest,
    /// The shortest round trip (BBR.RTprop).
    rt_prop: Option<Span>,
    /// When it was measured (BBR.rtprop_stamp).
    rt_prop_stamp: Time,
    /// Round trips so far (BBR.round_count).
    round_count: u64,
    /// Delivered bytes at which the round is over (BBR.next_round_delivered).
    next_round_delivered: u64,
    /// This acknowledgement begins a round (BBR.round_start).
    round_start: bool,

    /// The rate that growth is compared with, bytes per second (BBR.full_bw).
    full_bw: f64,
    /// Rounds without growth (BBR.full_bw_count).
    full_bw_count: u32,
    /// The search is over (BBR.filled_pipe).
    filled_pipe: bool,
    /// The phase of the cycle (BBR.cycle_index).
    cycle_index: usize,
    /// When it began (BBR.cycle_stamp).
    cycle_stamp: Time,
    /// When the probe for the round trip may end (BBR.probe_rtt_done_stamp).
    probe_rtt_done_stamp: Option<Time>,
    /// A round has passed in it (BBR.probe_rtt_round_done).
    probe_rtt_round_done: bool,
    /// The window is what is delivered, for the first round of a recovery (BBR.packet_conservation).
    packet_conservation: bool,
    /// The phase of the transport.
    phase: Phase,
    /// The application held the last sample back.
    app_limited: bool,
    /// Sending begins after silence (BBR.idle_restart).
    idle_restart: bool,

    /// When the aggregation of acknowledgements was last counted anew.
    ack_epoch: Time,
    /// Bytes acknowledged since then.
    ack_epoch_acked: u64,
    /// The most bytes beyond the rate, in these rounds and those before.
    extra_acked: [u64; 2],
    /// Rounds since these were exchanged.
    extra_acked_rounds: u32,
    /// When pacing lets the next segment go.
    next_send: Time,
    /// Delivered bytes between which samples say nothing of the rate: those sent while the window was small on purpose.
    quiet: (u64, u64),
    /// Bytes lost so far.
    lost: u64,
    /// Bytes delivered so far.
    delivered: u64,
    /// Evidence for a policer.
    policer: Policer,
}

impl Bbr {
    /// The rate of the path, bytes per second: the greatest measured, or a policer's (bbr_bw).
    fn rate(&self) -> f64 {
        self.policer.rate().unwrap_or_else(|| self.btl_bw.get())
    }

    /// Bytes that fill the path `gain` times at `rate`; the initial window while it is unknown.
    fn bdp(&self, rate: f64, gain: f64) -> u64 {
        match self.rt_prop {
            None => self.initial_window,
            Some(rtt) => {
                let bytes = rate * rtt.as_secs_f64() * gain;
                // Whole segments, rounded up.
                whole(bytes).div_ceil(self.mss) * self.mss
            }
        }
    }

    /// Segments that leave in one piece (section 4.2.2 of the draft; bbr_tso_segs_goal).
    fn piece(&self) -> u64 {
        let least = if self.pacing < PIECES_FROM { 1 } else { 2 };
        (whole(self.pacing / PIECE).min(PIECE_MOST) / self.mss).max(least)
    }

    /// What of `in_flight` will be in the network when pacing lets the next segment go (bbr_packets_in_net_at_edt).
    fn in_network(&self, in_flight: u64, now: Time) -> u64 {
        let wait = self.next_send.saturating_since(now).as_secs_f64();
        let segments = whole(self.rate() * wait) / self.mss;
        let mut later = in_flight;
        if self.pacing_gain > 1.0 {
            later += self.piece() * self.mss;
        }
        later.saturating_sub(segments * self.mss)
    }

    fn inflight(&self, gain: f64) -> u64 {
        self.with_room(self.bdp(self.btl_bw.get(), gain))
    }

    /// `bytes` with room for segments that leave in one burst: three pieces, an even number, two segments more while probing.
    fn with_room(&self, bytes: u64) -> u64 {
        let mut segments = bytes / self.mss + 3 * self.piece();
        segments += segments % 2;
        if self.mode == Mode::ProbeBw && self.cycle_index == 0 {
            segments += 2;
        }
        segments * self.mss
    }

    /// Sections 4.1.1.3 and 4.1.1.5 of the draft: a round is over when what was sent after its beginning is delivered; the filter takes samples that the
    /// application did not hold back, and greater ones.
    fn update_bw(&mut self, sample: &Sample) {
        self.round_start = false;
        if sample.sampled == 0 {
            return;
        }
        if sample.prior_delivered >= self.next_round_delivered {
            self.next_round_delivered = sample.delivered;
            self.round_count += 1;
            self.round_start = true;
            self.packet_conservation = false;
        }
        self.app_limited = sample.app_limited || self.is_quiet(sample);
        self.look_for_policer(sample.now, sample.newly_lost > 0, sample.delivered);
        if let Some(bw) = sample.rate()
            && (!self.app_limited || bw >= self.btl_bw.get())
        {
            self.btl_bw.add(self.round_count, bw, self.bw_rounds);
        }
    }

    fn look_for_policer(&mut self, now: Time, losses: bool, delivered: u64) {
        let over = self.policer.look(&Told {
            now,
            losses,
            round_began: self.round_start,
            app_limited: self.app_limited,
            delivered,
            lost: self.lost,
            cruising: self.mode == Mode::ProbeBw,
        });
        if over {
            self.enter_probe_bw(now);
        }
    }

    /// The sampled segment was sent while the delay was looked for with a small window.
    fn is_quiet(&self, sample: &Sample) -> bool {
        (self.quiet.0..=self.quiet.1).contains(&sample.prior_delivered)
    }

    /// What acknowledgements bring in bursts, beyond the rate.
    fn update_aggregation(&mut self, sample: &Sample) {
        if sample.newly_delivered == 0 || sample.sampled == 0 {
            return;
        }
        if self.round_start {
            self.extra_acked_rounds += 1;
            if self.extra_acked_rounds >= AGGREGATION_ROUNDS {
                self.extra_acked_rounds = 0;
                self.extra_acked = [0, self.extra_acked[0]];
            }
        }
        let elapsed = sample.now.saturating_since(self.ack_epoch).as_secs_f64();
        let mut expected = whole(self.rate() * elapsed) / self.mss * self.mss;
        if self.ack_epoch_acked <= expected {
            self.ack_epoch = sample.now;
            self.ack_epoch_acked = 0;
            expected = 0;
        }
        self.ack_epoch_acked += sample.newly_delivered;
        let extra = self.ack_epoch_acked.saturating_sub(expected).min(self.cwnd);
        self.extra_acked[0] = self.extra_acked[0].max(extra);
    }

    /// The gain of the phase; a policer is not probed.
    fn cycle_gain(&self) -> f64 {
        match self.policer.rate() {
            Some(_) => 1.0,
            None => PACING_GAIN_CYCLE[self.cycle_index],
        }
    }

    /// Section 4.3.4.3 of the draft (BBRIsNextCyclePhase): a phase lasts a round trip; probing goes on until something fills the pipe, draining ends early.
    fn advance_cycle(&mut self, sample: &Sample) {
        let full_length = self
            .rt_prop
            .is_some_and(|rtt| sample.now.saturating_since(self.cycle_stamp) > rtt);
        let gain = self.cycle_gain();
        let in_network = self.in_network(sample.in_flight_before, sample.now);
        let next = if gain > 1.0 {
            full_length && (sample.newly_lost > 0 || in_network >= self.inflight(gain))
        } else if gain < 1.0 {
            full_length || in_network <= self.inflight(1.0)
        } else {
            full_length
        };
        if next {
            self.cycle_index = (self.cycle_index + 1) % PACING_GAIN_CYCLE.len();
            self.cycle_stamp = sample.now;
        }
    }

    /// Section 4.3.2.2 of the draft (BBRCheckFullPipe).
    fn check_full(&mut self, sample: &Sample) {
        if self.filled_pipe || !self.round_start || sample.app_limited || self.is_quiet(sample) {
            return;
        }
        if self.btl_bw.get() >= self.full_bw * FULL_BW_THRESH {
            self.full_bw = self.btl_bw.get();
            self.full_bw_count = 0;
            return;
        }
        self.full_bw_count += 1;
        self.filled_pipe = self.full_bw_count >= FULL_BW_COUNT;
    }

    /// Section 4.3.3 of the draft (BBRCheckDrain): what Startup has queued leaves first.
    fn check_drain(&mut self, sample: &Sample) {
        if self.mode == Mode::Startup && self.filled_pipe {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain
            && self.in_network(sample.in_flight, sample.now) <= self.inflight(1.0)
        {
            self.enter_probe_bw(sample.now);
        }
    }

    /// A cycle begins in any phase but the one that empties the queue.
    fn enter_probe_bw(&mut self, now: Time) {
        self.mode = Mode::ProbeBw;
        self.cycle_index = match drawn(now) % (PACING_GAIN_CYCLE.len() - 1) {
            0 => 0,
            other => other + 1,
        };
        self.cycle_stamp = now;
    }

    /// Sections 4.1.2.3 and 4.3.5 of the draft: the shortest round trip of the last ten seconds, and a small window where it is older (BBRCheckProbeRTT).
    fn update_min_rtt(&mut self, sample: &Sample) {
        let now = sample.now;
        let expired = now > self.rt_prop_stamp.saturating_add(self.min_rtt_window);
        if let Some(rtt) = sample.rtt
            && (expired || self.rt_prop.is_none_or(|least| rtt <= least))
        {
            self.rt_prop = Some(rtt);
            self.rt_prop_stamp = now;
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd();
            self.probe_rtt_done_stamp = None;
            self.quiet = (sample.delivered, sample.delivered);
        }
        if self.mode == Mode::ProbeRtt {
            self.quiet.1 = sample.delivered + sample.in_flight;
            match self.probe_rtt_done_stamp {
                None if sample.in_flight <= MIN_PIPE_CWND * self.mss => {
                    self.probe_rtt_done_stamp = Some(now.saturating_add(self.probe_rtt));
                    self.probe_rtt_round_done = false;
                    self.next_round_delivered = sample.delivered;
                }
                None => {}
                Some(until) => {
                    self.probe_rtt_round_done |= self.round_start;
                    if self.probe_rtt_round_done && now > until {
                        self.rt_prop_stamp = now;
                        self.cwnd = self.cwnd.max(self.prior_cwnd);
                        if self.filled_pipe {
                            self.enter_probe_bw(now);
                        } else {
                            self.mode = Mode::Startup;
                        }
                    }
                }
            }
        }
        if sample.newly_delivered > 0 {
            self.idle_restart = false;
        }
    }

    /// Section 4.2.3.4 of the draft (BBRSaveCwnd).
    fn save_cwnd(&mut self) {
        self.prior_cwnd = if self.phase < Phase::Recovery && self.mode != Mode::ProbeRtt {
            self.cwnd
        } else {
            self.prior_cwnd.max(self.cwnd)
        };
    }

    /// Sections 4.3.2 to 4.3.5 of the draft: the gains of each state.
    fn set_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (self.high_gain, self.high_gain),
            Mode::Drain => (1.0 / self.high_gain, self.high_gain),
            Mode::ProbeBw => (self.cycle_gain(), self.cwnd_gain_steady),
            Mode::ProbeRtt => (1.0, 1.0),
        };
    }

    /// Section 4.2.1 of the draft (BBRSetPacingRate): below the known rate only once the pipe is full.
    fn set_pacing(&mut self) {
        let bw = self.rate();
        if bw == 0.0 {
            return;
        }
        let rate = bw * self.pacing_gain * (1.0 - self.margin);
        if self.filled_pipe || rate > self.pacing {
            self.pacing = rate;
        }
    }

    /// Section 4.2.3.6 of the draft (BBRSetCwnd), with what aggregation needs (bbr_ack_aggregation_cwnd).
    fn set_cwnd(&mut self, sample: &Sample) {
        let acked = sample.newly_delivered;
        if acked > 0 && !self.recover(sample) {
            let mut target = self.bdp(self.rate(), self.cwnd_gain);
            if self.filled_pipe {
                let most = whole(self.rate() * AGGREGATION.as_secs_f64());
                let extra = self.extra_acked[0].max(self.extra_acked[1]).min(most);
                target += extra / self.mss * self.mss;
            }
            let target = self.with_room(target);
            if self.filled_pipe {
                self.cwnd = (self.cwnd + acked).min(target);
            } else if self.cwnd < target || sample.delivered < self.initial_window {
                self.cwnd += acked;
            }
            // Not in the first round of a recovery (section 4.2.3.3 of the draft).
            self.cwnd = self.cwnd.max(MIN_PIPE_CWND * self.mss);
        }
        if self.mode == Mode::ProbeRtt {
            self.cwnd = self.cwnd.min(MIN_PIPE_CWND * self.mss);
        }
    }

    /// While losses are repaired the window is what is delivered, for a round trip; true if that is all.
    fn recover(&mut self, sample: &Sample) -> bool {
        if sample.newly_lost > 0 {
            self.cwnd = self.cwnd.saturating_sub(sample.newly_lost).max(self.mss);
        }
        let before = self.phase;
        self.phase = sample.phase;
        if self.phase == Phase::Recovery && before != Phase::Recovery {
            self.packet_conservation = true;
            self.next_round_delivered = sample.delivered;
            // Section 4.2.3.4 of the draft and Linux count packets: one that is short counts as one.
            self.cwnd = sample.in_flight + sample.newly_delivered.max(self.mss);
        } else if before >= Phase::Recovery && self.phase < Phase::Recovery {
            self.cwnd = self.cwnd.max(self.prior_cwnd);
            self.packet_conservation = false;
        }
        if self.packet_conservation {
            self.cwnd = self.cwnd.max(sample.in_flight + sample.newly_delivered);
        }
        self.packet_conservation
    }
}

/// A number that a time decides (the finalizer of SplitMix64), for a phase that has to differ from flow to flow.
fn drawn(now: Time) -> usize {
    let mut x = now.as_ps().wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    usize::try_from((x ^ (x >> 31)) >> 33).unwrap_or_default()
}

impl Build for Bbr {
    type Params = BbrParams;

    fn build(params: &BbrParams) -> Result<Bbr, ParamError> {
        Ok(Bbr {
            high_gain: params.high_gain,
            cwnd_gain_steady: params.cwnd_gain,
            bw_rounds: params.bw_rounds.into(),
            min_rtt_window: params.min_rtt_window,
            probe_rtt: params.probe_rtt,
            margin: params.margin,
            mss: 1,
            initial_window: 0,
            cwnd: 0,
            prior_cwnd: 0,
            pacing: 0.0,
            mode: Mode::Startup,
            pacing_gain: params.high_gain,
            cwnd_gain: params.high_gain,
            btl_bw: Greatest::default(),
            rt_prop: None,
            rt_prop_stamp: Time::ZERO,
            round_count: 0,
            next_round_delivered: 0,
            round_start: false,
            full_bw: 0.0,
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
            extra_acked_rounds: 0,
            next_send: Time::ZERO,
            quiet: (u64::MAX, 0),
            lost: 0,
            delivered: 0,
            policer: Policer::default(),
        })
    }
}

impl CongestionControl for Bbr {
    fn on_start(&mut self, start: &Start) {
        self.mss = start.mss.max(1);
        self.initial_window = start.initial_window.max(self.mss);
        self.cwnd = self.initial_window;
        self.rt_prop = start.rtt;
        self.rt_prop_stamp = start.now;
        self.ack_epoch = start.now;
        self.cycle_stamp = start.now;
        let rtt = start.rtt.unwrap_or(Span::from_ms(1)).as_secs_f64();
        self.pacing = real(self.cwnd) / rtt.max(1e-6) * self.high_gain * (1.0 - self.margin);
    }

    fn on_sent(&mut self, sent: &Sent) {
        // Section 4.3.4.4 of the draft asks for the state of the connection, not for that of the last sample: what was sent before a pause is not marked.
        if sent.in_flight == sent.bytes && sent.app_limited {
            self.idle_restart = true;
            self.ack_epoch = sent.now;
            self.ack_epoch_acked = 0;
            if self.mode == Mode::ProbeBw {
                self.pacing = self.rate() * (1.0 - self.margin);
            }
        }
        if self.pacing > 0.0 {
            let gap = rate(self.pacing).serialization(sent.bytes);
            self.next_send = self.next_send.max(sent.now).saturating_add(gap);
        }
    }

    fn on_ack(&mut self, _acked: &Acked) {}

    fn period(&self) -> Option<(&'static str, Span)> {
        Some(("probe for the shortest round trip", self.min_rtt_window))
    }

    fn traits(&self) -> Traits {
        Traits {
            model: true,
            samples: true,
            paces: true,
            ..Traits::default()
        }
    }

    fn on_model(&mut self, sample: &Sample) {
        self.lost += sample.newly_lost;
        self.delivered = sample.delivered;
        self.update_bw(sample);
        self.update_aggregation(sample);
        if self.mode == Mode::ProbeBw {
            self.advance_cycle(sample);
        }
        self.check_full(sample);
        self.check_drain(sample);
        self.update_min_rtt(sample);
        self.set_gains();
        self.set_pacing();
        self.set_cwnd(sample);
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.save_cwnd();
        if let CongestionKind::Timeout(expiry) = congestion.kind {
            self.full_bw = 0.0;
            self.round_start = true;
            self.phase = Phase::Loss;
            self.cwnd = expiry.kept + congestion.mss;
            self.lost += congestion.in_flight;
            self.look_for_policer(congestion.now, true, self.delivered);
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
        self.full_bw = 0.0;
        self.full_bw_count = 0;
        self.policer.forget();
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        let told = Model {
            rate: self.rate() * 8.0,
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
    use crate::window::tests::{MSS, Pipe};

    #[test]
    fn the_model_finds_the_rate_of_the_bottleneck() {
        let mut pipe = Pipe::new(
            Bbr::build(&BbrParams::default()).unwrap(),
            1000.0,
            Span::from_ms(40),
        );
        pipe.run(Span::from_secs(4));
        let bw = pipe.cc.btl_bw.get() / real(MSS);
        assert!((bw - 1000.0).abs() < 30.0, "{bw}");
        assert!(pipe.cc.filled_pipe);
    }

    fn started() -> Bbr {
        let mut bbr = Bbr::build(&BbrParams::default()).unwrap();
        bbr.on_start(&Start {
            mss: MSS,
            initial_window: 10 * MSS,
            rtt: Some(Span::from_ms(40)),
            ..Start::default()
        });
        bbr
    }

    fn after_startup(rate: f64) -> Bbr {
        let mut bbr = started();
        bbr.filled_pipe = true;
        bbr.mode = Mode::ProbeBw;
        bbr.pacing = rate;
        bbr.btl_bw.add(0, rate, 10);
        bbr
    }

    #[test]
    fn a_piece_has_no_more_than_64_kib() {
        for (rate, piece) in [(1e5, 1), (1e6, 2), (10e6, 9), (1e9, 65_536 / MSS)] {
            assert_eq!(after_startup(rate).piece(), piece, "{rate}");
        }
    }

    #[test]
    fn the_first_round_of_a_recovery_may_leave_less_than_four_segments() {
        let mut bbr = after_startup(1e6);
        bbr.set_cwnd(&Sample {
            newly_delivered: MSS,
            in_flight: MSS,
            phase: Phase::Recovery,
            ..Sample::default()
        });
        assert_eq!(bbr.cwnd(), 2 * MSS);
        bbr.packet_conservation = false;
        bbr.set_cwnd(&Sample {
            newly_delivered: MSS,
            in_flight: MSS,
            phase: Phase::Recovery,
            ..Sample::default()
        });
        assert_eq!(bbr.cwnd(), 4 * MSS);
    }

    #[test]
    fn a_recovery_that_begins_with_a_short_packet_leaves_room_for_a_segment() {
        let mut bbr = after_startup(1e6);
        bbr.set_cwnd(&Sample {
            newly_delivered: 1,
            in_flight: 0,
            phase: Phase::Recovery,
            ..Sample::default()
        });
        assert_eq!(bbr.cwnd(), MSS);
    }

    #[test]
    fn after_a_pause_of_the_application_it_sends_at_the_rate_of_the_path() {
        let mut bbr = after_startup(1e6);
        bbr.pacing = 1.25e6;
        let mut sent = Sent {
            now: Time::ZERO,
            bytes: MSS,
            in_flight: MSS,
            retransmission: false,
            after_idle: false,
            app_limited: false,
        };
        bbr.on_sent(&sent);
        assert!(!bbr.idle_restart);
        sent.app_limited = true;
        bbr.on_sent(&sent);
        assert!(bbr.idle_restart && bbr.pacing == 0.99e6);
    }

    #[test]
    fn the_gain_cycle_has_eight_phases_of_a_round_trip() {
        let mut bbr = started();
        bbr.filled_pipe = true;
        bbr.btl_bw.add(0, 1e6, 10);
        bbr.enter_probe_bw(Time::ZERO);
        assert_ne!(PACING_GAIN_CYCLE[bbr.cycle_index], 0.75);
        bbr.cycle_index = 2;
        let mut gains = Vec::new();
        for n in 1..=16u64 {
            let at = Time::ZERO + Span::from_ms(41) * n;
            bbr.advance_cycle(&Sample {
                now: at,
                in_flight_before: 60 * MSS,
                ..Sample::default()
            });
            gains.push(PACING_GAIN_CYCLE[bbr.cycle_index]);
        }
        let cruise = [1.0; 5];
        let cycle = [&cruise[..], &[1.25, 0.75, 1.0]].concat();
        assert_eq!(gains, [&cycle[..], &cycle[..]].concat());
    }

    #[test]
    fn the_search_ends_after_three_rounds_without_growth() {
        let mut bbr = Bbr::build(&BbrParams::default()).unwrap();
        bbr.btl_bw.add(0, 1e6, 10);
        let ended = (1..10).find(|_| {
            bbr.round_start = true;
            bbr.check_full(&Sample::default());
            bbr.filled_pipe
        });
        assert_eq!(ended, Some(4));
    }

    #[test]
    fn the_delay_is_looked_for_with_four_segments_every_ten_seconds() {
        let mut pipe = Pipe::new(
            Bbr::build(&BbrParams::default()).unwrap(),
            1000.0,
            Span::from_ms(40),
        );
        let mut small = 0;
        for _ in 0..3000 {
            pipe.run(Span::from_ms(10));
            small += u32::from(pipe.cc.cwnd() == MIN_PIPE_CWND * MSS);
        }
        // Two or three in 30 s, each of 200 ms and up to three round trips.
        assert!((40..=100).contains(&small), "{small}");
    }

    #[test]
    fn a_cycle_begins_in_any_phase_but_the_one_that_empties_the_queue() {
        let mut bbr = Bbr::build(&BbrParams::default()).unwrap();
        let mut seen = [0; PACING_GAIN_CYCLE.len()];
        for n in 0..700 {
            bbr.enter_probe_bw(Time::ZERO + Span::from_us(n));
            seen[bbr.cycle_index] += 1;
        }
        assert!(
            seen[1] == 0 && seen.iter().filter(|&&n| n > 70).count() == 7,
            "{seen:?}"
        );
    }

    #[test]
    fn samples_of_a_small_window_do_not_lower_the_rate() {
        let mut pipe = Pipe::new(
            Bbr::build(&BbrParams::default()).unwrap(),
            1000.0,
            Span::from_ms(40),
        );
        let mut least = f64::INFINITY;
        pipe.run(Span::from_secs(5));
        for _ in 0..2000 {
            pipe.run(Span::from_ms(10));
            least = least.min(pipe.cc.btl_bw.get() / real(MSS));
        }
        assert!(least > 950.0, "{least}");
    }

    #[test]
    fn the_greatest_value_is_forgotten_after_its_window() {
        let mut filter = Greatest::default();
        for (round, value) in [(1, 5.0), (2, 9.0), (3, 4.0), (8, 3.0)] {
            filter.add(round, value, 10);
        }
        assert_eq!(filter.get(), 9.0);
        filter.add(13, 2.0, 10);
        assert!(filter.get() < 9.0 && filter.get() >= 3.0, "{filter:?}");
    }
}
