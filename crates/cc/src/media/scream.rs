//! SCReAM: a window that keeps the queue delay at a target, clocked by feedback, and an encoder rate that keeps the sender's queue short.
//!
//! Source: RFC 8298 sections 4.1.2 (network congestion control) and 4.1.3 (media rate control), read in the source of the draft that
//! updates it (rfc8298bis), whose parts from the RFC are unchanged; the trend of the queue delay and the constants are those of
//! section 4.1.1. Left out: several streams, frame skipping, and the median of the encoder's rate in the bound of the target, for which the
//! rate sent stands. Windows rise and fall by the same amount whatever their size, so flows that share a bottleneck keep the difference
//! that they have until one of them loses a packet. The compensation for competing flows is off unless
//! wanted: alone in a queue, mean and deviation of its own delay raise the target step by step up to the greatest, the false positive
//! that section 4.1.2.3 warns of. The base delay is the least of the run: clocks do not drift here.

use super::rate::RateMeter;
use super::{Bounds, MediaControl, MediaFeedback};
use crate::num::{real, whole};
use sojourn_units::{Bytes, Span, Time, params};
use std::collections::VecDeque;

params! {
    /// SCReAM (RFC 8298): a self-clocked window for interactive media.
    pub struct ScreamParams {
        /// Target of the queue delay (QDELAY_TARGET_LO).
        target: Span = "100ms", range "5ms".."1s", source "RFC 8298 section 4.1.1.1";
        /// Greatest target, where others fill the queue (QDELAY_TARGET_HI).
        target_high: Span = "400ms", range "5ms".."5s", source "RFC 8298 section 4.1.1.1",
            where competing is "true";
        /// Whether the target rises where others fill the queue; a flow alone then takes its own queue for that of others.
        competing: bool = "false", source "RFC 8298 section 4.1.2.3, which lets it be turned off";
        /// Segment by which the window grows (MSS).
        mss: Bytes = "1240B", range "100B".."65535B", source "1200 of payload and 40 of headers";
        /// Least window, segments (MIN_CWND).
        min_cwnd: f64 = "2", range "1".."100", source "RFC 8298 section 4.1.1.1";
        /// Gain of the window (GAIN).
        gain: f64 = "1", range "0.01".."10", source "RFC 8298 section 4.1.1.1";
        /// Window after a loss over the one before (BETA_LOSS).
        beta_loss: f64 = "0.8", range "0.1".."1", source "RFC 8298 section 4.1.1.1";
        /// Window after a mark over the one before (BETA_ECN).
        beta_ecn: f64 = "0.9", range "0.1".."1", source "RFC 8298 section 4.1.1.1";
        /// Rate after a loss over the one before (BETA_R).
        beta_rate: f64 = "0.9", range "0.1".."1", source "RFC 8298 section 4.1.1.1";
        /// How far the window may exceed the bytes in flight of the last seconds (MAX_BYTES_IN_FLIGHT_HEAD_ROOM).
        headroom: f64 = "1.1", range "1".."10", source "RFC 8298 section 4.1.1.1; its authors' code has 2";
        /// Time between changes of the rate (RATE_ADJUST_INTERVAL).
        adjust: Span = "200ms", range "10ms".."10s", source "RFC 8298 section 4.1.1.1";
        /// Most increase of the rate, bits per second in a second (RAMP_UP_SPEED).
        ramp_up: f64 = "200000", range "1000".."100000000", source "RFC 8298 section 4.1.1.1";
        /// Guard against early congestion (PRE_CONGESTION_GUARD).
        guard: f64 = "0.1", range "0".."1", source "RFC 8298 section 4.1.1.1";
        /// Guard against a queue in the sender (TX_QUEUE_SIZE_FACTOR).
        queue_factor: f64 = "1", range "0".."10", source "RFC 8298 section 4.1.1.1";
        /// Delay in the sender from which on the rate is cut (RTP_QDELAY_TH).
        queue_delay: Span = "20ms", range "0s".."1s", source "RFC 8298 section 4.1.1.1";
        /// The cut (TARGET_RATE_SCALE_RTP_QDELAY).
        queue_cut: f64 = "0.95", range "0.1".."1", source "RFC 8298 section 4.1.1.1";
        /// Trend of the queue delay that ends fast increase (QDELAY_TREND_TH).
        trend: f64 = "0.2", range "0.01".."1", source "RFC 8298 section 4.1.1.1";
        /// Time without a trend after which fast increase resumes (T_RESUME_FAST_INCREASE).
        resume: Span = "5s", range "100ms".."60s", source "RFC 8298 section 4.1.1.1";
    }
    dialects {
        /// RFC 8298.
        rfc = "rfc8298" {}
    }
}

/// Least pacing rate (RATE_PACE_MIN).
const PACE_MIN: f64 = 50_000.0;
/// Time between samples of the delay's share of its target.
const TREND_STEP: Span = Span::from_ms(50);
/// Samples of which the trend is taken.
const TREND_LENGTH: usize = 20;
/// Bytes in flight count for so long.
const FLIGHT_WINDOW: Span = Span::from_secs(5);

/// The algorithm.
#[derive(Clone, Debug)]
pub struct Scream {
    params: ScreamParams,
    bounds: Bounds,
    mss: f64,
    cwnd: f64,
    rate: f64,
    /// The rate when congestion was seen last (target_bitrate_last_max).
    last_max: f64,
    fast: bool,
    calm_since: Option<Time>,
    base: Option<f64>,
    qdelay: f64,
    wanted_delay: f64,
    round_trip: f64,
    /// Share of the target, its average and its last samples.
    share: f64,
    shares: VecDeque<f64>,
    sampled: Time,
    trend: f64,
    trend_memory: f64,
    /// Queue delays over the low target.
    norms: VecDeque<f64>,
    loss_rate: f64,
    reduced: Option<Time>,
    adjusted: Time,
    sent: RateMeter,
    acked: RateMeter,
    flights: VecDeque<(Time, f64)>,
}

impl Scream {
    /// One that has heard nothing.
    pub fn new(params: &ScreamParams, bounds: Bounds) -> Scream {
        let mss = real(params.mss.get());
        let window = Span::from_ms(200);
        Scream {
            bounds,
            mss,
            cwnd: params.min_cwnd * mss,
            rate: bounds.start,
            last_max: 1.0,
            fast: true,
            calm_since: None,
            base: None,
            qdelay: 0.0,
            wanted_delay: params.target.as_secs_f64(),
            round_trip: 0.1,
            share: 0.0,
            shares: VecDeque::new(),
            sampled: Time::ZERO,
            trend: 0.0,
            trend_memory: 0.0,
            norms: VecDeque::new(),
            loss_rate: 0.0,
            reduced: None,
            adjusted: Time::ZERO,
            sent: RateMeter::new(window),
            acked: RateMeter::new(window),
            flights: VecDeque::new(),
            params: params.clone(),
        }
    }

    fn least(&self) -> f64 {
        self.params.min_cwnd * self.mss
    }

    /// The trend of the queue delay: its average share of the target, times how much samples follow each other (section 4.1.1.2).
    fn sample(&mut self, now: Time) {
        let share = self.qdelay / self.wanted_delay;
        self.share = 0.9 * self.share + 0.1 * share;
        if now.saturating_since(self.sampled) < TREND_STEP {
            return;
        }
        self.sampled = now;
        self.shares.push_back(self.share);
        while self.shares.len() > TREND_LENGTH {
            self.shares.pop_front();
        }
        let count = real(u64::try_from(self.shares.len()).unwrap_or(1));
        let mean = self.shares.iter().sum::<f64>() / count;
        let (mut product, mut square) = (0.0, 0.0);
        let pairs = self.shares.iter().zip(self.shares.iter().skip(1));
        for (first, second) in pairs {
            product += (first - mean) * (second - mean);
        }
        for value in &self.shares {
            square += (value - mean) * (value - mean);
        }
        let follows = if square > 0.0 { product / square } else { 0.0 };
        self.trend = (follows * self.share).clamp(0.0, 1.0);
        self.trend_memory = (0.99 * self.trend_memory).max(self.trend);
        let calm = self.trend < self.params.trend;
        if !calm {
            self.calm_since = None;
        } else if self.calm_since.is_none() {
            self.calm_since = Some(now);
        }
        let since = self.calm_since.map(|at| now.saturating_since(at));
        if since.is_some_and(|since| since >= self.params.resume) {
            self.fast = true;
        }
    }

    /// Where others fill the queue, the target rises (section 4.1.2.3).
    fn adjust_target(&mut self) {
        if !self.params.competing {
            return;
        }
        let low = self.params.target.as_secs_f64();
        self.norms.push_back(self.qdelay / low);
        while self.norms.len() > 200 {
            self.norms.pop_front();
        }
        let all = real(u64::try_from(self.norms.len()).unwrap_or(1));
        let mean = self.norms.iter().sum::<f64>() / all;
        let variance = self
            .norms
            .iter()
            .map(|norm| (norm - mean) * (norm - mean))
            .sum::<f64>()
            / all;
        let last = self.norms.len().min(50);
        let average = self.norms.iter().rev().take(last).sum::<f64>()
            / real(u64::try_from(last).unwrap_or(1));
        let wanted = (average + variance.sqrt()) * low;
        self.wanted_delay = if self.loss_rate > 0.002 {
            1.5 * wanted
        } else if variance < 0.2 {
            wanted
        } else if wanted < low {
            (self.wanted_delay * 0.5).max(wanted)
        } else {
            self.wanted_delay * 0.9
        };
        self.wanted_delay = self
            .wanted_delay
            .clamp(low, self.params.target_high.as_secs_f64());
    }

    fn most_in_flight(&mut self, now: Time, in_flight: f64) -> f64 {
        self.flights.push_back((now, in_flight));
        while let Some((at, _)) = self.flights.front() {
            if now.saturating_since(*at) <= FLIGHT_WINDOW {
                break;
            }
            self.flights.pop_front();
        }
        self.flights
            .iter()
            .map(|flight| flight.1)
            .fold(0.0, f64::max)
    }

    fn grow(&mut self, acked: f64, in_flight: f64, now: Time) {
        if self.fast {
            if self.trend >= self.params.trend {
                self.fast = false;
                self.last_max = self.rate;
            } else {
                if in_flight * 1.5 + acked > self.cwnd {
                    self.cwnd += acked;
                }
                return;
            }
        }
        let off = (self.wanted_delay - self.qdelay) / self.wanted_delay;
        let mut change = self.params.gain * off * acked * self.mss / self.cwnd;
        if off > 0.0 && in_flight * 1.25 + acked <= self.cwnd {
            change = 0.0;
        }
        self.cwnd += change;
        let most = self.most_in_flight(now, in_flight);
        self.cwnd = self.cwnd.min(most * self.params.headroom).max(self.least());
    }

    /// The rate of the encoder (section 4.1.3).
    fn adjust_rate(&mut self, now: Time, waiting: f64) {
        if now.saturating_since(self.adjusted) < self.params.adjust {
            return;
        }
        self.adjusted = now;
        let sent = self.sent.rate(now).unwrap_or(self.rate);
        let acked = self.acked.rate(now).unwrap_or(sent);
        let current = sent.max(acked).max(1.0);
        let seconds = self.params.adjust.as_secs_f64();
        let ramp = self.params.ramp_up.min(self.rate / 2.0);
        let scale = (self.rate - self.last_max) / self.last_max * 4.0;
        let scale = (scale * scale).clamp(0.2, 1.0);
        if self.fast {
            self.rate += ramp * seconds * scale;
        } else {
            let mut change = current * (1.0 - self.params.guard * self.trend)
                - self.params.queue_factor * waiting * 8.0;
            if change > 0.0 {
                change = (change * scale).min(ramp * seconds);
            }
            self.rate += change;
            if waiting * 8.0 / current > self.params.queue_delay.as_secs_f64() {
                self.rate *= self.params.queue_cut;
            }
        }
        let most = current.max(sent) * (2.0 - self.trend_memory);
        self.rate = self.rate.min(most).clamp(self.bounds.min, self.bounds.max);
    }

    /// Losses or marks, at most once per round trip.
    fn reduce(&mut self, now: Time, window: f64, rate: f64) {
        let trip = Span::round_from_secs(self.round_trip);
        if self
            .reduced
            .is_some_and(|at| now.saturating_since(at) < trip)
        {
            return;
        }
        self.reduced = Some(now);
        self.fast = false;
        self.last_max = self.rate.max(1.0);
        self.cwnd = (self.cwnd * window).max(self.least());
        self.rate = (self.rate * rate).max(self.bounds.min);
        self.adjusted = now;
    }
}

impl MediaControl for Scream {
    fn on_feedback(&mut self, feedback: &MediaFeedback<'_>) {
        let now = feedback.now;
        if let Some(trip) = feedback.round_trip {
            let trip = trip.as_secs_f64();
            self.round_trip += 0.125 * (trip - self.round_trip);
        }
        let (mut bytes, mut lost, mut marked) = (0.0, false, false);
        for packet in feedback.packets {
            bytes += real(packet.bytes);
            match packet.arrived {
                None => lost = true,
                Some(at) => {
                    let took = at.saturating_since(packet.sent).as_secs_f64();
                    let base = self.base.map_or(took, |base| base.min(took));
                    self.base = Some(base);
                    self.qdelay = took - base;
                    self.acked.add(now, packet.bytes);
                }
            }
            marked |= packet.marked;
        }
        self.loss_rate += 0.05 * (if lost { 1.0 } else { 0.0 } - self.loss_rate);
        self.sample(now);
        self.adjust_target();
        if lost {
            self.reduce(now, self.params.beta_loss, self.params.beta_rate);
        } else if marked {
            self.reduce(now, self.params.beta_ecn, self.params.beta_ecn);
        } else {
            // What was in flight before this feedback decides whether the window was used.
            self.grow(bytes, real(feedback.in_flight) + bytes, now);
        }
        self.adjust_rate(now, real(feedback.waiting));
    }

    fn on_silence(&mut self, now: Time) {
        self.reduce(now, 0.5, 0.5);
        self.cwnd = self.least();
    }

    fn on_sent(&mut self, now: Time, bytes: u64, _in_flight: u64) {
        self.sent.add(now, bytes);
    }

    fn target(&self) -> f64 {
        self.rate
    }

    fn pacing(&self) -> f64 {
        (self.cwnd * 8.0 / self.round_trip).max(PACE_MIN)
    }

    fn window(&self) -> Option<u64> {
        let slack = if self.qdelay <= self.wanted_delay {
            self.mss
        } else {
            0.0
        };
        Some(whole(self.cwnd + slack))
    }
}
