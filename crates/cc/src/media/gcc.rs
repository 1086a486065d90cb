//! GCC, the congestion control of WebRTC: a filter on the changes of delay between groups of packets, and a bound by losses.
//!
//! Source: draft-ietf-rmcat-gcc-02 sections 5 (pre-filtering, arrival-time filter, over-use detector, rate control) and 6 (loss-based
//! control), table 1, read in full. All of it runs at the sender, as in WebRTC.
//!
//! What the draft leaves open is as WebRTC's classes with the Kalman filter have it: the estimate that is compared with the threshold
//! is the drift over the last groups, up to 60 of them (`OveruseDetector`; the draft compares the drift over one group, which with
//! its own threshold of 6 ms and more would find over-use of a paced stream only when it is past helping); the highest rate of groups is
//! that of the last 60 (`OveruseEstimator`); a burst that arrives together is at most 100 ms long (`InterArrival`); the average of the
//! rates at which over-use was found has a variance, over the average, of 0.4 to 2.5 kbps (`AimdRateControl`), and a decrease never
//! raises the rate; where there are losses, the loss-based estimate starts from the rate in use (`SendSideBandwidthEstimation`), and before
//! there are any it is no bound; outliers of the noise are clipped on both sides (`OveruseEstimator`; the draft's are those above). That estimate is made
//! once a second, as often as section 3 has receivers report, however often feedback comes, and of ten packets at least. Packets leave at 2.5 times the
//! target (WebRTC's pacer): at the target itself, as section 4 has it, those of an encoder that is at it on average would wait longer and longer.
//! Feedback comes every 50 ms, between the frame and the 100 ms of section 3. Where it stays away for a second the rate is halved.
//!
//! Flows that share a bottleneck converge to equal rates slowly: far from convergence, the draft raises every rate by
//! the same factor, which does not change their ratio, and the estimate of that distance follows from rates that vary
//! with the frames. When the queue stays full, the delay does not change, and losses of up to a tenth do not lower the
//! rate: the draft has no remedy for a short DropTail queue that other flows fill.

use super::rate::RateMeter;
use super::{Bounds, MediaControl, MediaFeedback, PacketResult};
use crate::num::real;
use sojourn_units::{ParamError, Span, Time, params};
use std::collections::VecDeque;

params! {
    /// GCC (draft-ietf-rmcat-gcc-02): WebRTC's congestion control, based on the delay gradient and on losses.
    pub struct GccParams {
        /// Packets sent within this time are one group (burst_time).
        burst: Span = "5ms", range "0s".."100ms", source "gcc-02 section 5.2";
        /// State noise variance of the filter, ms^2 (q).
        noise: f64 = "0.001", range "0".."10", source "gcc-02 table 1";
        /// Initial variance of the estimate, ms^2 (e(0)).
        variance: f64 = "0.1", range "0.0001".."10", source "gcc-02 table 1";
        /// Coefficient of the measured noise (chi).
        chi: f64 = "0.01", range "0.001".."0.1", source "gcc-02 table 1 (0.1 to 0.001)";
        /// Initial threshold of the over-use detector, ms (del_var_th(0)).
        threshold: f64 = "12.5", range "1".."600", source "gcc-02 table 1";
        /// Time above the threshold that counts as over-use (overuse_time_th).
        overuse: Span = "10ms", range "0s".."1s", source "gcc-02 table 1",
            acts "over-use lasts about this long";
        /// Speed at which the threshold rises (K_u).
        k_up: f64 = "0.01", range "0".."1", source "gcc-02 table 1";
        /// Speed at which the threshold falls (K_d).
        k_down: f64 = "0.00018", range "0".."1", source "gcc-02 table 1";
        /// Rate after over-use, relative to the received rate (beta).
        beta: f64 = "0.85", range "0.1".."1", source "gcc-02 section 5.5";
        /// Increase per second while the capacity is unknown (eta).
        eta: f64 = "1.08", range "1".."2", source "gcc-02 section 5.5";
    }
    dialects Dialect {
        /// The draft.
        draft as Draft = "draft-ietf-rmcat-gcc-02" {}
    }
}

/// What the detector says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Use {
    Normal,
    Over,
    Under,
}

/// What the rate does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Hold,
    Increase,
    Decrease,
}

/// Groups over which the drift is compared with the threshold; the shortest distance counts.
const GROUPS: usize = 60;

/// Time between reports on losses.
const REPORTS: Span = Span::from_secs(1);

/// The longest burst whose packets are one group because they arrive together.
const BURST: Span = Span::from_ms(100);

/// Least and greatest variance of the rates at which over-use was found, over their mean, bits per second.
const VARIANCE: (f64, f64) = (400.0, 2500.0);

/// Packets sent in one burst: when the first was sent and arrived, and the last.
#[derive(Clone, Copy, Debug)]
struct Group {
    first: Time,
    begun: Time,
    sent: Time,
    arrived: Time,
}

/// Milliseconds from `earlier` to `later`; negative if `later` comes first.
fn ms(later: Time, earlier: Time) -> f64 {
    let ahead = later.saturating_since(earlier).as_secs_f64();
    (ahead - earlier.saturating_since(later).as_secs_f64()) * 1e3
}

/// The algorithm.
#[derive(Clone, Debug)]
pub struct Gcc {
    params: GccParams,
    bounds: Bounds,
    group: Option<Group>,
    before: Option<Group>,
    /// The estimated gradient m, its variance e, and the variance of the measurements, ms.
    gradient: f64,
    error: f64,
    measured: f64,
    /// Times between the last groups, ms, and how many there were, up to [`GROUPS`].
    gaps: VecDeque<f64>,
    threshold: f64,
    /// For how long the drift has been above the threshold, ms, and for how many groups.
    above: Option<(f64, u32)>,
    last_gradient: f64,
    updated: Option<Time>,
    signal: Use,
    state: State,
    delay_rate: f64,
    loss_rate: f64,
    received: RateMeter,
    /// The last arrival.
    newest: Time,
    /// Mean of the received rates where over-use was found, and their variance over it.
    known: Option<(f64, f64)>,
    adjusted: Option<Time>,
    round_trip: f64,
    /// Packets reported since the loss ratio was looked at, those lost among them, and when that was.
    told: (u64, u64),
    looked: Option<Time>,
}

impl Gcc {
    /// One that has heard nothing.
    ///
    /// # Errors
    /// If parameters contradict each other.
    pub fn build(params: &GccParams, bounds: Bounds) -> Result<Gcc, ParamError> {
        Ok(Gcc {
            bounds,
            group: None,
            before: None,
            gradient: 0.0,
            error: params.variance,
            measured: 1.0,
            threshold: params.threshold,
            gaps: VecDeque::new(),
            above: None,
            last_gradient: 0.0,
            updated: None,
            signal: Use::Normal,
            state: State::Increase,
            delay_rate: bounds.start,
            // No bound before the first losses.
            loss_rate: bounds.max,
            received: RateMeter::new(Span::from_ms(500)),
            newest: Time::ZERO,
            known: None,
            adjusted: None,
            round_trip: 0.1,
            told: (0, 0),
            looked: None,
            params: params.clone(),
        })
    }

    /// A packet has arrived; says whether it was found that the path is over-used.
    fn on_packet(&mut self, packet: &PacketResult, arrived: Time) -> bool {
        let begin = Group {
            first: packet.sent,
            begun: arrived,
            sent: packet.sent,
            arrived,
        };
        let Some(group) = &mut self.group else {
            self.group = Some(begin);
            return false;
        };
        // Pre-filtering (section 5.2): what is sent in a burst, or arrives in one, is a group.
        let burst = self.params.burst;
        let between = arrived.saturating_since(group.arrived);
        let together = between < burst
            && ms(arrived, group.arrived) < ms(packet.sent, group.sent)
            && arrived.saturating_since(group.begun) < BURST;
        if packet.sent.saturating_since(group.first) <= burst || together {
            group.sent = packet.sent;
            group.arrived = group.arrived.max(arrived);
            return false;
        }
        let whole = *group;
        self.group = Some(begin);
        if let Some(before) = self.before.replace(whole) {
            let sent = ms(whole.sent, before.sent);
            let change = ms(whole.arrived, before.arrived) - sent;
            self.filter(change, sent);
            self.detect(whole.arrived, sent);
            return self.signal == Use::Over;
        }
        false
    }

    /// The arrival-time filter (section 5.3): a Kalman filter of one state. `gap` is the time between groups, ms.
    fn filter(&mut self, change: f64, gap: f64) {
        self.gaps.push_back(gap);
        while self.gaps.len() > GROUPS {
            self.gaps.pop_front();
        }
        let shortest = self.gaps.iter().copied().fold(f64::INFINITY, f64::min);
        let params = &self.params;
        let prior = self.error + params.noise;
        let z = change - self.gradient;
        // 30 over the groups of a second.
        let alpha = libm::pow(1.0 - params.chi, 30.0 * shortest.max(0.1) / 1e3);
        // Of the noise alone, outliers count as three deviations.
        let most = 3.0 * self.measured.sqrt();
        let clipped = z.clamp(-most, most);
        self.measured = (alpha * self.measured + (1.0 - alpha) * clipped * clipped).max(1.0);
        let gain = prior / (self.measured + prior);
        self.gradient += z * gain;
        self.error = (1.0 - gain) * prior;
    }

    /// The over-use detector (section 5.4), with its adaptive threshold, at a group that was sent `gap` ms after the one before it.
    fn detect(&mut self, now: Time, gap: f64) {
        let groups = real(u64::try_from(self.gaps.len()).unwrap_or(0));
        let offset = self.gradient * groups;
        let since = self
            .updated
            .map_or(0.0, |at| now.saturating_since(at).as_secs_f64() * 1e3);
        self.updated = Some(now);
        self.signal = Use::Normal;
        if offset > self.threshold {
            // Since half of the time from the group before.
            let (time, count) = self
                .above
                .map_or((gap / 2.0, 1), |(time, count)| (time + gap, count + 1));
            self.above = Some((time, count));
            let long = time >= self.params.overuse.as_secs_f64() * 1e3 && count > 1;
            if long && self.gradient >= self.last_gradient {
                self.above = Some((0.0, 0));
                self.signal = Use::Over;
            }
        } else {
            self.above = None;
            if offset < -self.threshold {
                self.signal = Use::Under;
            }
        }
        self.last_gradient = self.gradient;
        let size = offset.abs();
        if size - self.threshold <= 15.0 {
            let k = if size < self.threshold {
                self.params.k_down
            } else {
                self.params.k_up
            };
            self.threshold += since.min(100.0) * k * (size - self.threshold);
            self.threshold = self.threshold.clamp(6.0, 600.0);
        }
    }

    /// Bits of a packet, of an encoder with 30 frames in a second (section 5.5).
    fn packet_bits(&self) -> f64 {
        let frame = self.delay_rate / 30.0;
        frame / (frame / (1200.0 * 8.0)).ceil().max(1.0)
    }

    /// The delay-based rate (section 5.5), after feedback in which over-use was found, or else as the last group says.
    fn control(&mut self, now: Time, over: bool) {
        let signal = match (over, self.signal) {
            (true, _) => Use::Over,
            // That was reported before.
            (false, Use::Over) => Use::Normal,
            (false, signal) => signal,
        };
        self.state = match (signal, self.state) {
            (Use::Over, _) => State::Decrease,
            (Use::Under, _) | (Use::Normal, State::Decrease) => State::Hold,
            (Use::Normal, _) => State::Increase,
        };
        let since = self
            .adjusted
            .map_or(0.0, |at| now.saturating_since(at).as_secs_f64())
            .min(1.0);
        self.adjusted = Some(now);
        let Some(received) = self.received.rate(self.newest) else {
            return;
        };
        // Three standard deviations about the mean are close to convergence.
        let reach = |(mean, variance): (f64, f64)| 3.0 * (variance * mean).sqrt();
        match self.state {
            State::Hold => {}
            State::Decrease => {
                self.delay_rate = self.delay_rate.min(self.params.beta * received);
                let known = self
                    .known
                    .filter(|known| (received - known.0).abs() <= reach(*known));
                let (mean, variance) = known.unwrap_or((received, VARIANCE.0));
                let mean = mean + 0.05 * (received - mean);
                let off = received - mean;
                let variance = 0.95 * variance + 0.05 * off * off / mean.max(1.0);
                self.known = Some((mean, variance.clamp(VARIANCE.0, VARIANCE.1)));
            }
            State::Increase => {
                let close = |known: (f64, f64)| (received - known.0).abs() <= reach(known);
                if self.known.is_some_and(close) {
                    let response = self.round_trip + 0.1;
                    let alpha = 0.5 * (since / response).min(1.0);
                    self.delay_rate += (alpha * self.packet_bits()).max(1000.0);
                } else {
                    // Above it, the link is another.
                    self.known = self.known.filter(|known| received < known.0);
                    self.delay_rate *= libm::pow(self.params.eta, since);
                }
                let most = 1.5 * received;
                self.delay_rate = self.delay_rate.min(most.max(self.bounds.min));
            }
        }
        self.delay_rate = self.delay_rate.clamp(self.bounds.min, self.bounds.max);
    }

    /// The loss-based rate (section 6).
    fn losses(&mut self, now: Time) {
        let (told, lost) = self.told;
        if told < 10
            || self
                .looked
                .is_some_and(|at| now.saturating_since(at) < REPORTS)
        {
            return;
        }
        self.looked = Some(now);
        self.told = (0, 0);
        let p = real(lost) / real(told);
        if p < 0.02 {
            self.loss_rate *= 1.05;
        } else {
            // Losses are those of the rate that was sent.
            self.loss_rate = self.loss_rate.min(self.delay_rate);
        }
        if p > 0.10 {
            self.loss_rate *= 1.0 - 0.5 * p;
        }
        self.loss_rate = self.loss_rate.clamp(self.bounds.min, self.bounds.max);
    }
}

impl MediaControl for Gcc {
    fn on_feedback(&mut self, feedback: &MediaFeedback<'_>) {
        let mut over = false;
        for (place, packet) in (1..).zip(feedback.packets) {
            self.told.0 += 1;
            match packet.arrived {
                None => self.told.1 += 1,
                Some(at) => {
                    self.newest = self.newest.max(at);
                    self.received.add(self.newest, packet.bytes);
                    // What comes out of order tells nothing of the queue (section 5.1).
                    let later = feedback.packets.get(place..).unwrap_or_default();
                    let overtaken = later.iter().any(|p| p.arrived.is_some_and(|t| t < at));
                    if !overtaken {
                        over |= self.on_packet(packet, at);
                    }
                }
            }
        }
        if let Some(trip) = feedback.round_trip {
            self.round_trip += 0.125 * (trip.as_secs_f64() - self.round_trip);
        }
        self.control(feedback.now, over);
        self.losses(feedback.now);
    }

    fn on_silence(&mut self, _now: Time) {
        self.delay_rate = (self.delay_rate / 2.0).max(self.bounds.min);
        self.loss_rate = self.loss_rate.min(self.delay_rate);
    }

    fn target(&self) -> f64 {
        self.delay_rate.min(self.loss_rate)
    }

    fn pacing(&self) -> f64 {
        // WebRTC's pacer: 2.5 times the target.
        2.5 * self.target()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gcc() -> Gcc {
        let bounds = Bounds {
            min: 150e3,
            start: 1e6,
            max: 5e6,
        };
        Gcc::build(&GccParams::default(), bounds).unwrap()
    }

    #[test]
    fn an_outlier_counts_in_full_in_the_estimate_and_as_three_deviations_in_the_noise() {
        let mut gcc = gcc();
        gcc.filter(100.0, 33.0);
        // k = 0.101 / 1.101 with a variance of 1, which is the least; 3 deviations are 3 ms.
        let alpha = libm::pow(0.99, 0.99);
        let noise = alpha + (1.0 - alpha) * 9.0;
        assert!((gcc.measured - noise).abs() < 1e-9, "{}", gcc.measured);
        let gain = 0.101 / (noise + 0.101);
        assert!(
            (gcc.gradient - 100.0 * gain).abs() < 1e-9,
            "{}",
            gcc.gradient
        );
    }

    #[test]
    fn the_noise_is_weighed_by_the_shortest_time_between_groups() {
        let mut gcc = gcc();
        gcc.filter(0.0, 8.0);
        gcc.filter(3.0, 100.0);
        // z is 3 ms, its square is below nine variances.
        let alpha = libm::pow(0.99, 0.24);
        assert!((gcc.measured - (alpha + (1.0 - alpha) * 9.0)).abs() < 1e-9);
    }

    #[test]
    fn what_an_outage_held_back_is_one_group_and_no_over_use() {
        let mut gcc = gcc();
        let at = |us| Time::ZERO + Span::from_us(us);
        let packet = |n: u64, arrived: u64| PacketResult {
            bytes: 1200,
            sent: at(10_000 * n),
            arrived: Some(at(arrived)),
            marked: false,
        };
        for n in 0..100 {
            assert!(!gcc.on_packet(&packet(n, 10_000 * n + 50_000), at(10_000 * n + 50_000)));
        }
        // Nothing for 90 ms, then all of it within 1 ms.
        let end = 1_000_000 + 140_000;
        for n in 100..109 {
            let arrived = end + 100 * (n - 100);
            assert!(!gcc.on_packet(&packet(n, arrived), at(arrived)));
        }
        let group = gcc.group.unwrap();
        assert_eq!((group.first, group.sent), (at(1_000_000), at(1_080_000)));
    }

    #[test]
    fn a_packet_that_others_have_overtaken_does_not_count_in_the_filter() {
        // A packet in ten milliseconds; the sixth comes 25 ms late, after the two that follow it.
        let told = |late: bool| {
            let mut gcc = gcc();
            let at = |ms| Time::ZERO + Span::from_ms(ms);
            gcc.looked = Some(at(200));
            let packet = |n: u64| PacketResult {
                bytes: 1200,
                sent: at(10 * n),
                arrived: Some(at(10 * n + 50 + if n == 6 { 25 } else { 0 })),
                marked: false,
            };
            let all: Vec<_> = (0..12).map(packet).collect();
            let packets: Vec<_> = match late {
                true => all,
                false => all.into_iter().filter(|p| p.sent != at(60)).collect(),
            };
            gcc.on_feedback(&MediaFeedback {
                now: at(300),
                packets: &packets,
                round_trip: None,
                in_flight: 0,
                waiting: 0,
            });
            (gcc.gradient, gcc.measured, gcc.told.0)
        };
        let (with, without) = (told(true), told(false));
        assert_eq!((with.0, with.1), (without.0, without.1));
        assert_eq!((with.2, without.2), (12, 11));
    }

    #[test]
    fn losses_of_more_than_a_tenth_lower_the_rate_in_use_once_a_second() {
        let mut gcc = gcc();
        // Nothing was lost for a minute: the other estimate has long been above the rate in use.
        gcc.delay_rate = 1e6;
        gcc.loss_rate = 5e6;
        let mut rates = Vec::new();
        for ms in (0..3000).step_by(50) {
            gcc.told.0 += 10;
            gcc.told.1 += 2;
            gcc.losses(Time::ZERO + Span::from_ms(ms));
            rates.push(gcc.target());
        }
        rates.dedup();
        assert_eq!(rates, [0.9e6, 0.9 * 0.9e6, 0.9 * (0.9 * 0.9e6)]);
        // Up to a tenth holds, less than a fiftieth raises.
        for (lost, factor) in [(6, 1.0), (1, 1.05)] {
            let before = gcc.loss_rate;
            gcc.told = (100, lost);
            gcc.looked = None;
            gcc.losses(Time::ZERO);
            assert!((gcc.loss_rate / before - factor).abs() < 1e-12);
        }
    }

    #[test]
    fn near_convergence_the_rate_rises_by_half_a_packet_in_a_response_time() {
        let mut gcc = gcc();
        // 33.3 kbit of a frame go in four packets.
        assert!((gcc.packet_bits() - 1e6 / 30.0 / 4.0).abs() < 1e-6);
        gcc.delay_rate = 150e3;
        assert!((gcc.packet_bits() - 5000.0).abs() < 1e-6);
    }
}
