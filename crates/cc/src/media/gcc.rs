//! GCC, the congestion control of WebRTC: a filter on the changes of delay between groups of packets, and a bound by losses.
//!
//! Source: draft-ietf-rmcat-gcc-02 sections 5 (delay-based control: arrival filter, over-use detector, rate control) and 6 (loss-based
//! control), table 1. The values of table 1, the Kalman filter, the states of the rate and the loss-based control (2 %, 10 %, 1.05) were
//! checked against a public copy of these parts of the draft; the rest is from memory of it. All of it runs at the sender, as in WebRTC.

use super::rate::RateMeter;
use super::{Bounds, MediaControl, MediaFeedback, PacketResult};
use crate::num::real;
use sojourn_units::{Span, Time, params};

params! {
    /// GCC (draft-ietf-rmcat-gcc-02): WebRTC's control by the gradient of delay, and by loss.
    pub struct GccParams {
        /// Packets sent within this time are one group (burst_time).
        burst: Span = "5ms", range "0s".."100ms", source "gcc-02 section 5.2";
        /// State noise variance of the filter, ms^2 (q).
        noise: f64 = "0.001", range "0".."10", source "gcc-02 table 1";
        /// Initial variance of the estimate, ms^2 (e(0)).
        variance: f64 = "0.1", range "0.0001".."10", source "gcc-02 table 1";
        /// Coefficient of the measured noise (chi).
        chi: f64 = "0.01", range "0.001".."0.1", source "gcc-02 table 1 (0.1 to 0.001)";
        /// Threshold of the over-use detector at first, ms (del_var_th(0)).
        threshold: f64 = "12.5", range "1".."600", source "gcc-02 table 1";
        /// Time above the threshold that is over-use (overuse_time_th).
        overuse: Span = "10ms", range "0s".."1s", source "gcc-02 table 1";
        /// How fast the threshold rises (K_u).
        k_up: f64 = "0.01", range "0".."1", source "gcc-02 table 1";
        /// How fast it falls (K_d).
        k_down: f64 = "0.00018", range "0".."1", source "gcc-02 table 1";
        /// Rate after over-use over the received rate (beta).
        beta: f64 = "0.85", range "0.1".."1", source "gcc-02 section 5.5";
        /// Increase per second while the capacity is not known (eta).
        eta: f64 = "1.08", range "1".."2", source "gcc-02 section 5.5";
    }
    dialects {
        /// The draft.
        draft = "draft-ietf-rmcat-gcc-02" {}
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

/// Packets sent in one burst: when the first was sent, and the last sent and arrived.
#[derive(Clone, Copy, Debug)]
struct Group {
    first: Time,
    sent: Time,
    arrived: Time,
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
    threshold: f64,
    above_since: Option<Time>,
    last_gradient: f64,
    updated: Option<Time>,
    signal: Use,
    state: State,
    delay_rate: f64,
    loss_rate: f64,
    received: RateMeter,
    /// Mean and deviation of the received rate where it was decreased.
    known: Option<(f64, f64)>,
    adjusted: Option<Time>,
    round_trip: f64,
    /// Packets told of since the loss ratio was looked at, those lost among them, and when that was.
    told: (u64, u64),
    looked: Option<Time>,
}

impl Gcc {
    /// One that has heard nothing.
    pub fn new(params: &GccParams, bounds: Bounds) -> Gcc {
        Gcc {
            bounds,
            group: None,
            before: None,
            gradient: 0.0,
            error: params.variance,
            measured: 1.0,
            threshold: params.threshold,
            above_since: None,
            last_gradient: 0.0,
            updated: None,
            signal: Use::Normal,
            state: State::Increase,
            delay_rate: bounds.start,
            loss_rate: bounds.start,
            received: RateMeter::new(Span::from_ms(500)),
            known: None,
            adjusted: None,
            round_trip: 0.1,
            told: (0, 0),
            looked: None,
            params: params.clone(),
        }
    }

    fn on_packet(&mut self, packet: &PacketResult, arrived: Time) {
        let Some(group) = &mut self.group else {
            self.group = Some(Group {
                first: packet.sent,
                sent: packet.sent,
                arrived,
            });
            return;
        };
        if packet.sent.saturating_since(group.first) <= self.params.burst {
            group.sent = packet.sent;
            group.arrived = group.arrived.max(arrived);
            return;
        }
        let whole = *group;
        self.group = Some(Group {
            first: packet.sent,
            sent: packet.sent,
            arrived,
        });
        if let Some(before) = self.before.replace(whole) {
            let ms = |later: Time, earlier: Time| {
                let ahead = later.saturating_since(earlier).as_secs_f64();
                (ahead - earlier.saturating_since(later).as_secs_f64()) * 1e3
            };
            let sent = ms(whole.sent, before.sent);
            let change = ms(whole.arrived, before.arrived) - sent;
            self.filter(change, sent.max(1.0));
            self.detect(whole.arrived);
        }
    }

    /// The arrival-time filter (section 5.3): a Kalman filter of one state. `gap` is the time between groups, ms.
    fn filter(&mut self, change: f64, gap: f64) {
        let params = &self.params;
        let z = change - self.gradient;
        let frames = 1e3 / gap;
        let alpha = libm::pow(1.0 - params.chi, 30.0 / frames.max(1.0));
        // Outliers count as three deviations.
        let clipped = z.clamp(-3.0 * self.measured.sqrt(), 3.0 * self.measured.sqrt());
        self.measured = (alpha * self.measured + (1.0 - alpha) * clipped * clipped).max(1.0);
        let prior = self.error + params.noise;
        let gain = prior / (self.measured + prior);
        self.gradient += clipped * gain;
        self.error = (1.0 - gain) * prior;
    }

    /// The over-use detector (section 5.4), with its adaptive threshold. The gradient counts as often as groups were seen, up to 60,
    /// in WebRTC; here it stands for the drift over the last 30 groups.
    fn detect(&mut self, now: Time) {
        let offset = self.gradient * 30.0;
        let since = self
            .updated
            .map_or(0.0, |at| now.saturating_since(at).as_secs_f64() * 1e3);
        self.updated = Some(now);
        if offset > self.threshold {
            let begun = *self.above_since.get_or_insert(now);
            let long = now.saturating_since(begun) >= self.params.overuse;
            if long && offset >= self.last_gradient {
                self.signal = Use::Over;
            }
        } else {
            self.above_since = None;
            self.signal = if offset < -self.threshold {
                Use::Under
            } else {
                Use::Normal
            };
        }
        self.last_gradient = offset;
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

    /// The delay-based rate (section 5.5).
    fn control(&mut self, now: Time) {
        self.state = match (self.signal, self.state) {
            (Use::Over, _) => State::Decrease,
            (Use::Under, _) | (Use::Normal, State::Decrease) => State::Hold,
            (Use::Normal, _) => State::Increase,
        };
        let since = self
            .adjusted
            .map_or(0.0, |at| now.saturating_since(at).as_secs_f64())
            .min(1.0);
        self.adjusted = Some(now);
        let Some(received) = self.received.rate(now) else {
            return;
        };
        match self.state {
            State::Hold => {}
            State::Decrease => {
                let rate = self.params.beta * received;
                if rate < self.delay_rate {
                    self.delay_rate = rate;
                }
                let (mean, deviation) = self.known.unwrap_or((received, 0.1 * received));
                let off = (received - mean).abs();
                self.known = Some((
                    mean + 0.05 * (received - mean),
                    deviation + 0.05 * (off - deviation),
                ));
                if off > 3.0 * deviation {
                    self.known = Some((received, 0.1 * received));
                }
                self.signal = Use::Normal;
                self.above_since = None;
            }
            State::Increase => {
                let near = self.known.is_some_and(|(mean, deviation)| {
                    (received - mean).abs() <= 3.0 * deviation.max(0.01 * mean)
                });
                if !near && self.known.is_some_and(|(mean, _)| received > mean) {
                    self.known = None;
                }
                if near {
                    let response = self.round_trip + 0.1;
                    let packet = (self.delay_rate / 30.0).min(1200.0 * 8.0);
                    let add = 0.5 * (since / response).min(1.0) * packet;
                    self.delay_rate += add.max(1000.0 * since);
                } else {
                    self.delay_rate *= libm::pow(self.params.eta, since);
                }
                let most = 1.5 * received;
                self.delay_rate = self.delay_rate.min(most.max(self.bounds.min));
            }
        }
        self.delay_rate = self.delay_rate.clamp(self.bounds.min, self.bounds.max);
    }

    /// The loss-based rate (section 6), once a round trip at most.
    fn losses(&mut self, now: Time) {
        let (told, lost) = self.told;
        let wait = Span::round_from_secs(self.round_trip.max(0.2));
        if told < 10
            || self
                .looked
                .is_some_and(|at| now.saturating_since(at) < wait)
        {
            return;
        }
        self.looked = Some(now);
        self.told = (0, 0);
        let p = real(lost) / real(told);
        if p > 0.10 {
            self.loss_rate *= 1.0 - 0.5 * p;
        } else if p < 0.02 {
            self.loss_rate *= 1.05;
        }
        // It stays within reach of the other.
        self.loss_rate = self
            .loss_rate
            .min(1.5 * self.delay_rate.max(self.bounds.min));
        self.loss_rate = self.loss_rate.clamp(self.bounds.min, self.bounds.max);
    }
}

impl MediaControl for Gcc {
    fn on_feedback(&mut self, feedback: &MediaFeedback<'_>) {
        for packet in feedback.packets {
            self.told.0 += 1;
            match packet.arrived {
                None => self.told.1 += 1,
                Some(at) => {
                    self.received.add(feedback.now, packet.bytes);
                    self.on_packet(packet, at);
                }
            }
        }
        if let Some(trip) = feedback.round_trip {
            self.round_trip += 0.125 * (trip.as_secs_f64() - self.round_trip);
        }
        self.control(feedback.now);
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
