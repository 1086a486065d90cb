//! SCReAM: a window that keeps the queue delay at a target, clocked by feedback, and an encoder rate that keeps the sender's queue short.
//!
//! Source: RFC 8298 sections 4.1.1 (constants, state), 4.1.2 (network congestion control), 4.1.3 (media rate control) and 4.2.2
//! (feedback), read in its last draft (draft-ietf-rmcat-scream-cc-13). Windows of any size rise and fall by the same
//! amount, so flows that share a bottleneck keep their difference until one of them loses a packet.
//!
//! Left open by the text, or different here: there is one stream, and the sender skips no frames and discards no
//! packets. The first rate is the encoder's own. Losses and marks share the round trip in which only the first of them
//! counts. The trend and its memory are computed with each sample, every 50 ms or with the next feedback after them.
//! The rate of losses moves by a twentieth in a round trip. The rate of the media is that of what it adds to what was
//! sent and what waits. Feedback is as frequent as section 4.2.2 requires for the maximum media rate, not for the
//! current rate. If no feedback arrives for a second, rate and window fall. The compensation for competing flows
//! (section 4.1.2.3) is off by default: for a single flow, mean and deviation of its own delay raise the target step by
//! step to the maximum. That section warns of this false positive. The base delay is the minimum of the run, because
//! clocks do not drift here.

use super::rate::RateMeter;
use super::{Bounds, MediaControl, MediaFeedback};
use crate::control::in_order;
use crate::num::{real, whole};
use sojourn_units::{Bytes, ParamError, Span, Time, params};
use std::collections::VecDeque;

params! {
    /// SCReAM (RFC 8298): a self-clocked window for interactive media.
    pub struct ScreamParams {
        /// Target of the queue delay (QDELAY_TARGET_LO).
        target: Span = "100ms", range "5ms".."1s", source "RFC 8298 section 4.1.1.1";
        /// Maximum target, when other flows fill the queue (QDELAY_TARGET_HI).
        target_high: Span = "400ms", range "5ms".."5s", source "RFC 8298 section 4.1.1.1",
            where competing is "true",
            acts "other flows make the queue this long";
        /// Whether the target rises when other flows fill the queue. A single flow then takes its own queue for that of
        /// others.
        competing: bool = "false", source "RFC 8298 section 4.1.2.3, which lets it be turned off";
        /// Segment by which the window grows (MSS).
        mss: Bytes = "1000B", range "100B".."65535B", source "RFC 8298 section 4.1.1.1";
        /// Minimum window, in segments (MIN_CWND).
        min_cwnd: f64 = "3", range "1".."100", source "RFC 8298 section 4.1.1.1 (3000 bytes)";
        /// Gain of the window (GAIN).
        gain: f64 = "1", range "0.01".."10", source "RFC 8298 section 4.1.1.1";
        /// Factor by which a loss multiplies the window (BETA_LOSS).
        beta_loss: f64 = "0.8", range "0.1".."1", source "RFC 8298 section 4.1.1.1";
        /// Factor by which a mark multiplies the window (BETA_ECN).
        beta_ecn: f64 = "0.9", range "0.1".."1", source "RFC 8298 section 4.1.1.1";
        /// Factor by which a loss multiplies the rate (BETA_R).
        beta_rate: f64 = "0.9", range "0.1".."1", source "RFC 8298 section 4.1.1.1";
        /// Limit of the window, relative to the maximum bytes in flight of the last seconds
        /// (MAX_BYTES_IN_FLIGHT_HEAD_ROOM).
        headroom: f64 = "1.1", range "1".."10", source "RFC 8298 section 4.1.1.1; its authors' code has 2";
        /// Time between changes of the rate (RATE_ADJUST_INTERVAL).
        adjust: Span = "200ms", range "10ms".."10s", source "RFC 8298 section 4.1.1.1";
        /// Maximum increase of the rate, in bits per second per second (RAMP_UP_SPEED).
        ramp_up: f64 = "200000", range "1000".."100000000", source "RFC 8298 section 4.1.1.1";
        /// Guard against early congestion (PRE_CONGESTION_GUARD).
        guard: f64 = "0.1", range "0".."1", source "RFC 8298 section 4.1.1.1";
        /// Guard against a queue in the sender (TX_QUEUE_SIZE_FACTOR).
        queue_factor: f64 = "1", range "0".."10", source "RFC 8298 section 4.1.1.1";
        /// Delay in the sender above which the rate is reduced (RTP_QDELAY_TH).
        queue_delay: Span = "20ms", range "0s".."1s", source "RFC 8298 section 4.1.1.1";
        /// Factor of that reduction (TARGET_RATE_SCALE_RTP_QDELAY).
        queue_cut: f64 = "0.95", range "0.1".."1", source "RFC 8298 section 4.1.1.1";
        /// Trend of the queue delay that ends fast increase (QDELAY_TREND_TH).
        trend: f64 = "0.2", range "0.01".."1", source "RFC 8298 section 4.1.1.1";
        /// Time without a trend after which fast increase resumes (T_RESUME_FAST_INCREASE).
        resume: Span = "5s", range "100ms".."60s", source "RFC 8298 section 4.1.1.1";
    }
    dialects Dialect {
        /// RFC 8298.
        rfc as Rfc = "rfc8298" {}
    }
}

/// Least pacing rate (RATE_PACE_MIN).
const PACE_MIN: f64 = 50_000.0;
/// The round trip before one is known, seconds.
const FIRST_TRIP: f64 = 0.1;
/// Time between samples of the delay's share of its target.
const TREND_STEP: Span = Span::from_ms(50);
/// Number of samples in the trend.
const TREND_LENGTH: usize = 20;
/// Bytes in flight count for so long.
const FLIGHT_WINDOW: Span = Span::from_secs(5);
/// Number of media rates in the median: more than ten seconds of them.
const MEDIAN: usize = 51;

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
    /// The smoothed round trip (s_rtt), seconds.
    round_trip: Option<f64>,
    /// Share of the target, its average and its last samples.
    share: f64,
    shares: VecDeque<f64>,
    sampled: Time,
    trend: f64,
    trend_memory: f64,
    /// Queue delays over the low target.
    norms: VecDeque<f64>,
    /// Share of round trips with losses (loss_event_rate), when the present one began, and whether it had any.
    loss_rate: f64,
    trip_begun: Option<Time>,
    trip_lossy: bool,
    reduced: Option<Time>,
    adjusted: Time,
    /// Bytes sent so far, and those sent and waiting when the rate was adjusted last.
    sent_bytes: f64,
    made: (Time, f64),
    /// The last rates of the encoder, bits per second.
    media: VecDeque<f64>,
    /// The same in order, for their median.
    sorted: Vec<f64>,
    sent: RateMeter,
    acked: RateMeter,
    flights: VecDeque<(Time, f64)>,
}

impl Scream {
    /// One that has heard nothing.
    ///
    /// # Errors
    /// If parameters contradict each other.
    pub fn build(params: &ScreamParams, bounds: Bounds) -> Result<Scream, ParamError> {
        let holds = !params.competing || params.target <= params.target_high;
        in_order(params, holds, "target", "target_high")?;
        let mss = real(params.mss.get());
        let window = Span::from_ms(200);
        Ok(Scream {
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
            round_trip: None,
            share: 0.0,
            shares: VecDeque::from([0.0; TREND_LENGTH]),
            sampled: Time::ZERO,
            trend: 0.0,
            trend_memory: 0.0,
            norms: VecDeque::new(),
            loss_rate: 0.0,
            trip_begun: None,
            trip_lossy: false,
            reduced: None,
            adjusted: Time::ZERO,
            sent_bytes: 0.0,
            made: (Time::ZERO, 0.0),
            media: VecDeque::new(),
            sorted: Vec::new(),
            sent: RateMeter::new(window),
            acked: RateMeter::new(window),
            flights: VecDeque::new(),
            params: params.clone(),
        })
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
        self.shares.push_back(share);
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
    }

    /// After so long without a trend, fast increase resumes (section 4.1.2.7).
    fn resume(&mut self, now: Time) {
        let since = self.calm_since.map(|at| now.saturating_since(at));
        if since.is_some_and(|since| since >= self.params.resume) {
            self.fast = true;
        }
    }

    /// The share of round trips with losses, at the end of one.
    fn count_losses(&mut self, now: Time, lost: bool) {
        self.trip_lossy |= lost;
        let begun = *self.trip_begun.get_or_insert(now);
        let trip = Span::round_from_secs(self.round_trip.unwrap_or(FIRST_TRIP));
        if now.saturating_since(begun) >= trip {
            let lossy = if self.trip_lossy { 1.0 } else { 0.0 };
            self.loss_rate += 0.05 * (lossy - self.loss_rate);
            self.trip_begun = Some(now);
            self.trip_lossy = false;
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

    /// So much was in flight: the most of the last seconds.
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

    /// The window after an acknowledgement (section 4.1.2.2): what is acknowledged, what is left in flight, both in bytes, and at most `most`
    /// in the last seconds.
    fn grow(&mut self, acked: f64, in_flight: f64, most: f64) {
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
        self.cwnd = self.cwnd.min(most * self.params.headroom).max(self.least());
    }

    /// The rate of the encoder (section 4.1.3).
    fn adjust_rate(&mut self, now: Time, waiting: f64) {
        if now.saturating_since(self.adjusted) < self.params.adjust {
            return;
        }
        self.adjusted = now;
        let media = self.media(now, waiting);
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
        let most = current.max(media) * (2.0 - self.trend_memory);
        self.rate = self.rate.min(most).clamp(self.bounds.min, self.bounds.max);
    }

    /// The rate of the encoder since the last adjustment (rate_media) or the median of its last ones, if that is more.
    fn media(&mut self, now: Time, waiting: f64) -> f64 {
        let made = self.sent_bytes + waiting;
        let (then, before) = std::mem::replace(&mut self.made, (now, made));
        let seconds = now.saturating_since(then).as_secs_f64();
        if then == Time::ZERO || seconds <= 0.0 {
            return 0.0;
        }
        let rate = (made - before).max(0.0) * 8.0 / seconds;
        self.media.push_back(rate);
        if self.media.len() > MEDIAN {
            self.media.pop_front();
        }
        self.sorted.clear();
        self.sorted.extend(&self.media);
        self.sorted.sort_unstable_by(f64::total_cmp);
        let median = self.sorted.get(self.sorted.len() / 2);
        let median = median.copied().unwrap_or(0.0);
        rate.max(median)
    }

    /// Losses or marks, at most once per round trip: says whether it is the first (section 4.1.2.1).
    fn reduce(&mut self, now: Time, window: f64, rate: f64) -> bool {
        let trip = Span::round_from_secs(self.round_trip.unwrap_or(FIRST_TRIP));
        if self
            .reduced
            .is_some_and(|at| now.saturating_since(at) < trip)
        {
            return false;
        }
        self.reduced = Some(now);
        self.fast = false;
        self.last_max = self.rate.max(1.0);
        self.cwnd = (self.cwnd * window).max(self.least());
        self.rate = (self.rate * rate).max(self.bounds.min);
        self.adjusted = now;
        true
    }
}

impl MediaControl for Scream {
    /// As often as the greatest rate wants (section 4.2.2).
    fn feedback_every(&self) -> Span {
        let per_second = (self.bounds.max / 10_000.0).clamp(2.5, 50.0);
        Span::round_from_secs(1.0 / per_second)
    }

    fn on_feedback(&mut self, feedback: &MediaFeedback<'_>) {
        let now = feedback.now;
        if let Some(trip) = feedback.round_trip {
            let trip = trip.as_secs_f64();
            // RFC 6298 section 2.
            let smoothed = |old: f64| old + 0.125 * (trip - old);
            self.round_trip = Some(self.round_trip.map_or(trip, smoothed));
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
        self.count_losses(now, lost);
        self.sample(now);
        // What was in flight until this feedback.
        let left = real(feedback.in_flight);
        let most = self.most_in_flight(now, left + bytes);
        let event = if lost {
            self.reduce(now, self.params.beta_loss, self.params.beta_rate)
        } else {
            marked && self.reduce(now, self.params.beta_ecn, self.params.beta_ecn)
        };
        if !event {
            self.grow(bytes, left, most);
        }
        self.adjust_target();
        if !event {
            self.resume(now);
        }
        self.adjust_rate(now, real(feedback.waiting));
    }

    fn on_silence(&mut self, now: Time) {
        self.reduce(now, 0.5, 0.5);
        self.cwnd = self.least();
    }

    fn on_sent(&mut self, now: Time, bytes: u64, _in_flight: u64) {
        self.sent.add(now, bytes);
        self.sent_bytes += real(bytes);
    }

    fn target(&self) -> f64 {
        self.rate
    }

    fn pacing(&self) -> f64 {
        let trip = self.round_trip.unwrap_or(FIRST_TRIP);
        (self.cwnd * 8.0 / trip).max(PACE_MIN)
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

#[cfg(test)]
mod tests {
    use super::super::PacketResult;
    use super::*;

    const BOUNDS: Bounds = Bounds {
        min: 150e3,
        start: 300e3,
        max: 1.5e6,
    };

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// Feedback at `now` on packets of 1000 bytes, sent 100 ms before, that took 50 ms and `more` (ms), or were lost.
    fn tell(scream: &mut Scream, now: u64, more: &[Option<u64>], in_flight: u64, waiting: u64) {
        let packet = |more: &Option<u64>| PacketResult {
            bytes: 1000,
            sent: at(now - 100),
            arrived: more.map(|more| at(now - 50 + more)),
            marked: false,
        };
        let packets: Vec<_> = more.iter().map(packet).collect();
        scream.on_feedback(&MediaFeedback {
            now: at(now),
            packets: &packets,
            round_trip: Some(Span::from_ms(100)),
            in_flight,
            waiting,
        });
    }

    fn scream() -> Scream {
        Scream::build(&ScreamParams::default(), BOUNDS).unwrap()
    }

    #[test]
    fn the_least_window_is_3000_bytes_of_segments_of_1000() {
        let scream = scream();
        assert_eq!((scream.cwnd, scream.mss), (3000.0, 1000.0));
        // A segment more where the queue is below its target.
        assert_eq!(scream.window(), Some(4000));
    }

    #[test]
    fn feedback_is_as_often_as_the_greatest_rate_of_the_media_wants() {
        let every = |max: f64| {
            let bounds = Bounds { max, ..BOUNDS };
            Scream::build(&ScreamParams::default(), bounds)
                .unwrap()
                .feedback_every()
        };
        // 1 / min(50, max(2.5, rate / 10000)) (section 4.2.2).
        assert_eq!(every(1.5e6), Span::from_ms(20));
        assert_eq!(every(200e3), Span::from_ms(50));
        assert_eq!(every(10e3), Span::from_ms(400));
    }

    #[test]
    fn the_first_round_trip_is_taken_as_it_is_and_later_ones_by_an_eighth() {
        let mut scream = scream();
        let mut tell = |now: u64, trip: u64| {
            scream.on_feedback(&MediaFeedback {
                now: at(now),
                packets: &[],
                round_trip: Some(Span::from_ms(trip)),
                in_flight: 0,
                waiting: 0,
            });
            // 3000 bytes in a round trip.
            24_000.0 / scream.pacing()
        };
        assert!((tell(1000, 300) - 0.3).abs() < 1e-9);
        assert!((tell(1050, 380) - 0.31).abs() < 1e-9);
    }

    #[test]
    fn the_window_grows_when_what_is_left_in_flight_fills_two_thirds_of_it() {
        // 1000 bytes acknowledged: 1.5 * 1333 + 1000 is less than 3000 and 1.5 * 1334 + 1000 more.
        for (in_flight, grown) in [(1333, 3000.0), (1334, 4000.0)] {
            let mut scream = scream();
            tell(&mut scream, 1000, &[Some(0)], in_flight, 0);
            assert_eq!(scream.cwnd, grown, "{in_flight}");
        }
        // Beyond fast increase by GAIN * off target * acknowledged * MSS / window, if 1.25 of what is left and it fill it.
        for (in_flight, grown) in [(1600, 3000.0), (1601, 3000.0 + 1000.0 * 1000.0 / 3000.0)] {
            let mut scream = scream();
            scream.fast = false;
            // That it was used within five seconds is no bound.
            scream.flights.push_back((at(900), 10_000.0));
            tell(&mut scream, 1000, &[Some(0)], in_flight, 0);
            assert_eq!(scream.cwnd, grown, "{in_flight}");
        }
    }

    #[test]
    fn a_loss_within_a_round_trip_of_another_is_an_acknowledgement_like_any_other() {
        let mut scream = scream();
        scream.cwnd = 10_000.0;
        tell(&mut scream, 1000, &[None, Some(0)], 9000, 0);
        assert_eq!(scream.cwnd, 8000.0);
        let rate = scream.rate;
        tell(&mut scream, 1050, &[None, Some(0)], 9000, 0);
        // Two packets of 1000 bytes over the window of eight, and the rate is not cut again.
        assert_eq!(scream.cwnd, 8000.0 + 2000.0 * 1000.0 / 8000.0);
        assert!(scream.rate >= rate);
        tell(&mut scream, 1100, &[None, Some(0)], 9000, 0);
        assert_eq!(scream.cwnd, 0.8 * 8250.0);
    }

    #[test]
    fn the_trend_is_that_of_samples_as_they_are() {
        let mut scream = scream();
        tell(&mut scream, 1000, &[Some(0)], 0, 0);
        for now in (1050..1200).step_by(50) {
            tell(&mut scream, now, &[Some((now - 1000) / 5)], 0, 0);
        }
        // Shares of the target of 0.1, 0.2, 0.3 after seventeen of none, 0.03 on average: squares and products of neighbours.
        let squares = 17.0 * 0.0009 + 0.0049 + 0.0289 + 0.0729;
        let products = 16.0 * 0.0009 - 0.0021 + 0.0119 + 0.0459;
        let average = 0.1 * (0.1 * 0.81 + 0.2 * 0.9 + 0.3);
        let trend = products / squares * average;
        assert!(
            (scream.trend / trend - 1.0).abs() < 1e-9,
            "{} {trend}",
            scream.trend
        );
    }

    #[test]
    fn an_encoder_that_makes_next_to_nothing_for_a_while_keeps_the_target_that_its_median_rate_allows()
     {
        // 300 kbps for six seconds, 1500 bytes in 40 ms, then 20 kbps for two.
        let mut scream = scream();
        for now in (1000..9000).step_by(40) {
            let bytes = if now < 7000 { 1500 } else { 100 };
            scream.on_sent(at(now), bytes, 0);
            let packet = PacketResult {
                bytes,
                sent: at(now - 100),
                arrived: Some(at(now - 50)),
                marked: false,
            };
            scream.on_feedback(&MediaFeedback {
                now: at(now),
                packets: &[packet],
                round_trip: Some(Span::from_ms(100)),
                in_flight: 2000,
                waiting: 0,
            });
        }
        assert!(scream.target() > 290e3, "{}", scream.target());
    }

    #[test]
    fn the_rate_of_losses_is_a_share_of_round_trips() {
        let mut scream = scream();
        // A loss in every feedback of the first of ten round trips of 100 ms, each with five of them: one of ten, not five of fifty.
        for n in 0..50 {
            let lost = if n < 5 { None } else { Some(0) };
            tell(&mut scream, 1000 + 20 * n, &[lost, Some(0)], 0, 0);
        }
        let expected = 0.05 * libm::pow(0.95, 8.0);
        assert!(
            (scream.loss_rate / expected - 1.0).abs() < 1e-9,
            "{} {expected}",
            scream.loss_rate
        );
    }
}
