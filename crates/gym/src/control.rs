//! A congestion control that a learning environment drives, or a policy that was learned in one.
//!
//! Source: none; it is what an agent needs. Once per `interval` of simulated time it closes its counts into an observation, and takes an
//! action from -1 to 1: from outside ([`CongestionControl::steer`]), from the policy of a file, or the constant `action`. The congestion
//! window (`act=window`) or the pacing rate (`act=rate`) is multiplied by 2^action, as the window of Orca is by 2^a (Abbasloo, Yen and Chao,
//! "Classic Meets Modern: A Pragmatic Learning-Based Congestion Control for the Internet", SIGCOMM 2020, section 4.1). With `act=rate` the
//! window is twice what the rate sends in a smoothed round trip. Losses change neither, except that a retransmission timeout leaves one
//! segment, from which the next actions go on. A decision of a policy is taken when something happens to the connection at or after the end
//! of the interval: an acknowledgement, a segment sent, a timeout.

use crate::aqm::{bounded, misfit};
use crate::num::{rate, real, share, whole};
use crate::policy::{Policy, PolicyFile, Scratch};
use sojourn_cc::{
    Acked, Build, Congestion, CongestionControl, CongestionKind, Sample, Sent, Start, Traits,
};
use sojourn_units::{ParamError, Rate, Span, Time, choice, params};
use std::sync::Arc;

/// The name in specifications.
pub const CONTROL: &str = "gym:control";

choice! {
    /// What an action changes.
    pub enum ControlAct {
        /// The congestion window.
        Window = "window",
        /// The pacing rate.
        Rate = "rate",
    }
}

params! {
    /// A congestion control whose window or pacing rate is decided once per interval: by an agent in a learning environment, or by a policy that was learned.
    pub struct GymControlParams {
        /// Time between two decisions. Intervals begin at multiples of it.
        interval: Span = "40ms", range "1ms".."10s", source "the round trip of the default scenario; Aurora decides once per round trip";
        /// What an action changes.
        act: ControlAct = "window", source "Abbasloo et al. 2020 (Orca)";
        /// Largest window, in segments.
        max_window: u64 = "1000", range "4".."1000000", source "1.5 MB, 300 Mbps at a round trip of 40 ms; an agent that tries things out overflows every queue beyond";
        /// The action before the first decision, and the only one where nobody decides. 0 keeps the initial window.
        action: f64 = "0", range "-1".."1", source "changes nothing";
        /// File of the policy that decides, in JSON, or none.
        policy: PolicyFile = "none", source "none: an environment decides";
    }
}

/// Numbers in an observation of the controller.
pub const CONTROL_OBSERVATION: [&str; 10] = [
    "rtt_ratio",
    "rtt_change",
    "send_ratio",
    "lost_share",
    "marked_share",
    "in_flight",
    "window",
    "delivery_rate",
    "segments",
    "interval",
];

/// What an interval was like.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ControlInterval {
    /// Bits per second delivered.
    pub delivery_rate: f64,
    /// Mean round-trip time, seconds; that of the interval before where none was measured.
    pub rtt: f64,
    /// The same of the interval before.
    pub rtt_before: f64,
    /// The shortest round-trip time so far, seconds; 0 before the first.
    pub min_rtt: f64,
    /// Payload bytes sent, delivered, lost and delivered with a mark.
    pub sent: f64,
    /// See `sent`.
    pub delivered: f64,
    /// See `sent`.
    pub lost: f64,
    /// See `sent`.
    pub marked: f64,
    /// Bytes in flight at the end.
    pub in_flight: f64,
    /// The window at the end, bytes.
    pub cwnd: f64,
    /// Payload of a full segment, bytes; 0 before the connection is established.
    pub mss: f64,
    /// The highest delivery rate of an interval so far, bits per second.
    pub max_rate: f64,
}

/// What [`CongestionControl::series`] reports of it, in the order of its fields.
const SERIES: [&str; 12] = [
    "gym_delivery_rate (bps)",
    "gym_rtt (s)",
    "gym_rtt_before (s)",
    "gym_min_rtt (s)",
    "gym_sent (bytes)",
    "gym_delivered (bytes)",
    "gym_lost (bytes)",
    "gym_marked (bytes)",
    "gym_in_flight (bytes)",
    "gym_cwnd (bytes)",
    "gym_mss (bytes)",
    "gym_max_rate (bps)",
];

impl ControlInterval {
    /// The interval that [`CongestionControl::series`] of this control tells; `None` of another one.
    pub fn of(cc: &impl CongestionControl) -> Option<ControlInterval> {
        let mut values = [0.0; SERIES.len()];
        let mut told = 0;
        cc.series(&mut |name, value| {
            if SERIES.get(told) == Some(&name) {
                values[told] = value;
                told += 1;
            }
        });
        let [
            delivery_rate,
            rtt,
            rtt_before,
            min_rtt,
            sent,
            delivered,
            lost,
            marked,
            in_flight,
            cwnd,
            mss,
            max_rate,
        ] = values;
        (told == SERIES.len()).then_some(ControlInterval {
            delivery_rate,
            rtt,
            rtt_before,
            min_rtt,
            sent,
            delivered,
            lost,
            marked,
            in_flight,
            cwnd,
            mss,
            max_rate,
        })
    }

    fn values(&self) -> [f64; 12] {
        [
            self.delivery_rate,
            self.rtt,
            self.rtt_before,
            self.min_rtt,
            self.sent,
            self.delivered,
            self.lost,
            self.marked,
            self.in_flight,
            self.cwnd,
            self.mss,
            self.max_rate,
        ]
    }

    /// The connection is established.
    pub fn is_established(&self) -> bool {
        self.mss > 0.0
    }

    /// The part of what was delivered or lost that was lost.
    pub fn lost_share(&self) -> f64 {
        share(self.lost, self.lost + self.delivered)
    }

    /// The mean round trip over the shortest one; 1 before there is one.
    pub fn rtt_ratio(&self) -> f64 {
        if self.min_rtt > 0.0 && self.rtt > 0.0 {
            self.rtt / self.min_rtt
        } else {
            1.0
        }
    }

    /// What an agent sees, in the order of [`CONTROL_OBSERVATION`].
    pub fn observation(&self, interval: Span) -> [f32; CONTROL_OBSERVATION.len()] {
        // Bytes that the path holds at the highest rate seen.
        let path = self.max_rate / 8.0 * self.min_rtt;
        let segments = share(self.cwnd, self.mss);
        bounded([
            self.rtt_ratio() - 1.0,
            share(self.rtt - self.rtt_before, self.min_rtt),
            share(self.sent, self.delivered) - 1.0,
            self.lost_share(),
            share(self.marked, self.delivered),
            share(self.in_flight, self.cwnd),
            share(self.cwnd, path),
            share(self.delivery_rate, self.max_rate),
            libm::log2(segments.max(1.0)) / 10.0,
            share(interval.as_secs_f64(), self.min_rtt),
        ])
    }
}

/// The state of one connection.
#[derive(Clone, Debug)]
pub struct GymControl {
    interval: Span,
    act: ControlAct,
    max_window: u64,
    constant: f64,
    policy: Option<Arc<Policy>>,
    scratch: Scratch,
    /// Somebody decides from outside.
    driven: bool,
    /// What was decided from outside and has no effect yet.
    pending: Option<f64>,
    started: bool,
    mss: u64,
    /// Bytes, as a number that small steps change.
    cwnd: f64,
    /// Bytes per second; 0 where it does not pace.
    pace: f64,
    /// When the interval under way began, and when it ends.
    began: Time,
    next: Time,
    /// Counts of the interval under way.
    sent: u64,
    delivered: u64,
    lost: u64,
    marked: u64,
    rtt_sum: f64,
    rtt_count: u64,
    /// The shortest and the smoothed round trip.
    min_rtt: Option<Span>,
    srtt: Option<Span>,
    in_flight: u64,
    /// The last interval that ended.
    seen: ControlInterval,
}

impl Build for GymControl {
    type Params = GymControlParams;

    fn build(params: &GymControlParams) -> Result<Self, ParamError> {
        let policy = params.policy.policy();
        if let Some(problem) = misfit(policy.as_deref(), CONTROL, CONTROL_OBSERVATION.len()) {
            return Err(ParamError::OutOfRange {
                key: "policy".to_owned(),
                given: sojourn_units::ParamValue::to_text(&params.policy),
                allowed: format!("one that fits ({problem})"),
            });
        }
        Ok(GymControl {
            interval: params.interval,
            act: params.act,
            max_window: params.max_window,
            constant: params.action,
            policy,
            scratch: Scratch::default(),
            driven: false,
            pending: None,
            started: false,
            mss: 1,
            cwnd: 0.0,
            pace: 0.0,
            began: Time::ZERO,
            next: Time::MAX,
            sent: 0,
            delivered: 0,
            lost: 0,
            marked: 0,
            rtt_sum: 0.0,
            rtt_count: 0,
            min_rtt: None,
            srtt: None,
            in_flight: 0,
            seen: ControlInterval::default(),
        })
    }
}

impl GymControl {
    /// Ends the interval at `at`.
    fn close(&mut self, at: Time) {
        let before = self.seen;
        let time = at.saturating_since(self.began);
        let delivery_rate = rate(self.delivered, time);
        let rtt = match self.rtt_count {
            0 => before.rtt,
            count => self.rtt_sum / real(count),
        };
        self.seen = ControlInterval {
            delivery_rate,
            rtt,
            rtt_before: if before.rtt > 0.0 { before.rtt } else { rtt },
            min_rtt: self.min_rtt.map_or(0.0, Span::as_secs_f64),
            sent: real(self.sent),
            delivered: real(self.delivered),
            lost: real(self.lost),
            marked: real(self.marked),
            in_flight: real(self.in_flight),
            cwnd: self.cwnd,
            mss: if self.started { real(self.mss) } else { 0.0 },
            max_rate: before.max_rate.max(delivery_rate),
        };
        self.began = at;
        self.sent = 0;
        self.delivered = 0;
        self.lost = 0;
        self.marked = 0;
        self.rtt_sum = 0.0;
        self.rtt_count = 0;
    }

    /// Ends the intervals that are over by `now` and decides, where nobody does from outside.
    #[inline]
    fn decide(&mut self, now: Time) {
        if let Some(action) = self.pending.take() {
            self.change(action);
        }
        while self.next <= now && !self.driven {
            let at = self.next;
            self.next = at.saturating_add(self.interval);
            self.close(at);
            let action = match &self.policy {
                None => self.constant,
                Some(policy) => {
                    policy.act_in(&self.seen.observation(self.interval), &mut self.scratch)
                }
            };
            self.change(action);
        }
    }

    fn change(&mut self, action: f64) {
        if !self.started {
            return;
        }
        let factor = libm::exp2(action.clamp(-1.0, 1.0));
        let mss = real(self.mss);
        let most = real(self.max_window) * mss;
        match self.act {
            ControlAct::Window => self.cwnd = (self.cwnd * factor).clamp(2.0 * mss, most),
            ControlAct::Rate => {
                let rtt = self.rtt();
                self.pace = (self.pace * factor).clamp(2.0 * mss / rtt, most / rtt);
                self.cwnd = (2.0 * self.pace * rtt).clamp(4.0 * mss, 2.0 * most);
            }
        }
    }

    /// A round trip in seconds, for rates that have to be windows and the other way round.
    fn rtt(&self) -> f64 {
        self.srtt.map_or(0.1, Span::as_secs_f64).max(1e-6)
    }
}

impl CongestionControl for GymControl {
    fn on_start(&mut self, start: &Start) {
        self.started = true;
        self.mss = start.mss.max(1);
        self.cwnd = real(start.initial_window.max(self.mss));
        self.min_rtt = start.rtt;
        self.srtt = start.rtt;
        self.began = start.now;
        let interval = self.interval.as_ps();
        let over = start.now.as_ps() / interval + 1;
        self.next = Time::from_ps(interval.saturating_mul(over));
        if self.act == ControlAct::Rate {
            self.pace = self.cwnd / self.rtt();
            self.cwnd *= 2.0;
        }
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.decide(sent.now);
        self.sent += sent.bytes;
        self.in_flight = sent.in_flight;
    }

    fn on_ack(&mut self, _acked: &Acked) {}

    fn on_sample(&mut self, sample: &Sample) {
        self.decide(sample.now);
        self.delivered += sample.newly_delivered;
        self.marked += sample.marked;
        self.min_rtt = sample.min_rtt.or(self.min_rtt);
        self.srtt = sample.srtt.or(self.srtt);
        if let Some(rtt) = sample.rtt {
            self.rtt_sum += rtt.as_secs_f64();
            self.rtt_count += 1;
        }
    }

    fn on_model(&mut self, sample: &Sample) {
        self.decide(sample.now);
        self.lost += sample.newly_lost;
        self.in_flight = sample.in_flight;
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.decide(congestion.now);
        if let CongestionKind::Timeout(expiry) = congestion.kind {
            self.lost += congestion.in_flight;
            self.cwnd = real(expiry.kept + congestion.mss);
            if self.act == ControlAct::Rate {
                self.pace = self.cwnd / self.rtt();
            }
        }
    }

    fn cwnd(&self) -> u64 {
        whole(self.cwnd)
    }

    fn ssthresh(&self) -> u64 {
        u64::MAX
    }

    fn pacing_rate(&self) -> Option<Rate> {
        (self.pace > 0.0).then(|| Rate::bps(whole(self.pace * 8.0)))
    }

    fn traits(&self) -> Traits {
        Traits {
            model: true,
            samples: true,
            paces: self.act == ControlAct::Rate,
            ..Traits::default()
        }
    }

    fn period(&self) -> Option<(&'static str, Span)> {
        Some(("interval", self.interval))
    }

    /// Without a number the interval ends at `now`; with one, that is the action for the next interval, which has its effect when
    /// something happens to the connection, as a decision of a policy does. The control then decides nothing itself any more.
    fn steer(&mut self, now: Time, action: &[f64]) {
        self.driven = true;
        // An interval in which the connection heard of nothing.
        if let Some(action) = self.pending.take() {
            self.change(action);
        }
        match action.first() {
            None => self.close(now),
            Some(action) => self.pending = Some(*action),
        }
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        for (name, value) in SERIES.into_iter().zip(self.seen.values()) {
            tell(name, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::check_declaration;

    fn control(pairs: &[(&str, &str)]) -> GymControl {
        let pairs: Vec<(String, String)> = pairs
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect();
        let params = sojourn_units::build(None, &pairs).unwrap();
        let mut control = GymControl::build(&params).unwrap();
        control.on_start(&Start {
            now: at(105),
            mss: 1000,
            initial_window: 10_000,
            rtt: Some(Span::from_ms(40)),
            ..Start::default()
        });
        control
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn acked(control: &mut GymControl, ms: u64, bytes: u64, rtt: u64) {
        let sample = Sample {
            now: at(ms),
            newly_delivered: bytes,
            rtt: Some(Span::from_ms(rtt)),
            min_rtt: Some(Span::from_ms(40)),
            srtt: Some(Span::from_ms(rtt)),
            in_flight: 5000,
            ..Sample::default()
        };
        control.on_sample(&sample);
        control.on_model(&sample);
    }

    #[test]
    fn the_declaration_holds_together() {
        assert_eq!(check_declaration::<GymControlParams>(), Ok(()));
    }

    #[test]
    fn an_action_multiplies_the_window_by_a_power_of_two() {
        let mut control = control(&[("max_window", "40")]);
        control.steer(at(120), &[1.0]);
        assert_eq!(control.cwnd(), 10_000, "nothing has happened since");
        acked(&mut control, 121, 1000, 40);
        assert_eq!(control.cwnd(), 20_000);
        control.steer(at(160), &[-0.5]);
        acked(&mut control, 161, 1000, 40);
        assert_eq!(control.cwnd(), 14_142);
        for ms in [200, 240, 280] {
            control.steer(at(ms), &[1.0]);
        }
        acked(&mut control, 290, 1000, 40);
        assert_eq!(control.cwnd(), 40_000, "the largest window");
    }

    #[test]
    fn an_action_multiplies_the_pace_and_the_window_is_two_round_trips_of_it() {
        let mut control = control(&[("act", "rate")]);
        assert_eq!(control.pacing_rate(), Some(Rate::bps(2_000_000)));
        control.steer(at(120), &[1.0]);
        acked(&mut control, 121, 1000, 40);
        assert_eq!(control.pacing_rate(), Some(Rate::bps(4_000_000)));
        assert_eq!(control.cwnd(), 40_000);
    }

    #[test]
    fn a_constant_action_is_taken_at_every_multiple_of_the_interval() {
        let mut control = control(&[("action", "0.5")]);
        acked(&mut control, 119, 1000, 60);
        assert_eq!(control.cwnd(), 10_000);
        acked(&mut control, 121, 2000, 80);
        assert_eq!(control.cwnd(), 14_142);
        let seen = ControlInterval::of(&control).unwrap();
        // From 105 ms to 120 ms.
        assert!((seen.delivery_rate - 8000.0 / 0.015).abs() < 1e-6);
        assert!((seen.rtt_ratio() - 1.5).abs() < 1e-9);
        // Two intervals end silently.
        acked(&mut control, 200, 1000, 80);
        assert_eq!(control.cwnd(), 28_284);
    }

    #[test]
    fn a_timeout_leaves_one_segment() {
        let mut control = control(&[]);
        control.on_congestion(&Congestion {
            now: at(110),
            kind: CongestionKind::Timeout(sojourn_cc::Expiry::default()),
            in_flight: 10_000,
            mss: 1000,
        });
        assert_eq!(control.cwnd(), 1000);
        control.steer(at(120), &[]);
        let seen = ControlInterval::of(&control).unwrap();
        assert!((seen.lost_share() - 1.0).abs() < 1e-12);
    }
}
