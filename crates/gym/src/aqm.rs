//! An AQM that a learning environment drives, or a policy that was learned in one.
//!
//! Source: none; it is what an agent needs. Once per `interval` it closes its counts into an observation, and takes an action from -1 to 1:
//! from outside ([`Aqm::steer`]), from the policy of a file, or the constant `action`. With `act=probability` an arriving packet is dropped or
//! marked with the probability `max_probability` ((action + 1) / 2)^2; the square leaves room for the small probabilities that TCP needs, as
//! that of PI2 (De Schepper et al. 2016). With `act=delay` it is dropped or marked where its delay, the backlog with it over the rate of the
//! link, is above `max_delay` (action + 1) / 2. Packets are judged on arrival. Draws: one a packet that fits, where the probability is above
//! zero. An interval is closed one picosecond before it ends, so that a run that stops at its end finds it closed; the action that follows
//! is in force from the end on, whoever decides.

use crate::num::{real, share, single};
use crate::policy::{Policy, PolicyFile, Scratch};
use sojourn_queue::BuildContext;
use sojourn_queue::aqm::{Aqm, Cx, Interest, Meta, Verdict, View};
use sojourn_queue::entry::{Entry, SpecError, TimeConstant};
use sojourn_sim::{DropReason, MarkReason};
use sojourn_units::{Bytes, Limit, Packets, Ratio, Span, Time, choice, params};
use std::sync::Arc;

/// The name in specifications.
pub const AQM: &str = "gym:aqm";

choice! {
    /// What an action sets.
    pub enum AqmAct {
        /// The probability with which an arriving packet is dropped or marked.
        Probability = "probability",
        /// The delay above which an arriving packet is dropped or marked.
        Delay = "delay",
    }
}

params! {
    /// An AQM whose drop probability or delay threshold is decided once per interval: by an agent in a learning environment, or by a policy that was learned.
    pub struct GymAqmParams {
        /// Time between two decisions.
        interval: Span = "10ms", range "10us".."10s", source "RFC 8033's update every 15 ms, rounded down";
        /// Maximum queue length. Arrivals beyond it are dropped.
        limit: Limit = "1000p", range "1p".., source "sch_pie.c 1000";
        /// What an action sets.
        act: AqmAct = "probability", source "as PIE and PI2";
        /// Drop probability at the action 1.
        max_probability: Ratio = "25%", range "0".."1", source "RFC 8033 section 5.1: PIE's own limit for marks is 10 %", where act is "probability";
        /// Delay threshold at the action 1.
        max_delay: Span = "100ms", range "1us".."10s", source "five times PI2's target", where act is "delay";
        /// Mark ECN-capable packets instead of dropping them.
        ecn: bool = "false", source "as CoDel in Linux";
        /// The action before the first decision, and the only one where nobody decides.
        action: f64 = "-1", range "-1".."1", source "drops nothing (with act=delay: everything that has to wait)";
        /// File of the policy that decides, in JSON, or none.
        policy: PolicyFile = "none", source "none: an environment decides";
    }
}

/// Numbers in an observation of the AQM.
pub const AQM_OBSERVATION: [&str; 8] = [
    "queue_delay",
    "queue_delay_change",
    "backlog",
    "utilization",
    "load",
    "dropped_share",
    "marked_share",
    "action",
];

/// Delays in an observation are in units of this many seconds: the target of PI2 (20 ms).
pub const DELAY_UNIT: f64 = 0.02;

/// How long before its end an interval is closed.
const BEFORE: Span = Span::from_ps(1);

/// What an observation is bounded to, below and above.
pub const BOUND: f64 = 10.0;

/// An observation, bounded and in single precision.
pub(crate) fn bounded<const N: usize>(values: [f64; N]) -> [f32; N] {
    values.map(|value| {
        let value = if value.is_nan() { 0.0 } else { value };
        single(value.clamp(-BOUND, BOUND))
    })
}

/// What an interval was like.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct AqmInterval {
    /// How long the head of the queue had waited at the end, seconds.
    pub queue_delay: f64,
    /// The same at its beginning.
    pub queue_delay_before: f64,
    /// Bytes that waited at the end.
    pub backlog: f64,
    /// Bytes that arrived.
    pub arrived: f64,
    /// Bytes that left for transmission.
    pub departed: f64,
    /// Packets that arrived.
    pub arrived_packets: f64,
    /// Of them, those that were dropped, for whatever reason.
    pub dropped_packets: f64,
    /// And those that were marked.
    pub marked_packets: f64,
    /// Bytes that the link could have sent.
    pub capacity: f64,
    /// The action that was in force.
    pub action: f64,
}

/// What [`Aqm::state`] reports of it, in the order of its fields.
const STATE: &[&str] = &[
    "queue_delay_s",
    "queue_delay_before_s",
    "backlog_bytes",
    "arrived_bytes",
    "departed_bytes",
    "arrived_packets",
    "dropped_packets",
    "marked_packets",
    "capacity_bytes",
    "action",
];

impl AqmInterval {
    /// The interval that [`Aqm::state`] of this AQM has reported.
    pub fn of_state(state: &[f64]) -> Option<AqmInterval> {
        let &[
            queue_delay,
            queue_delay_before,
            backlog,
            arrived,
            departed,
            arrived_packets,
            dropped_packets,
            marked_packets,
            capacity,
            action,
        ] = state
        else {
            return None;
        };
        Some(AqmInterval {
            queue_delay,
            queue_delay_before,
            backlog,
            arrived,
            departed,
            arrived_packets,
            dropped_packets,
            marked_packets,
            capacity,
            action,
        })
    }

    fn state(&self) -> [f64; 10] {
        [
            self.queue_delay,
            self.queue_delay_before,
            self.backlog,
            self.arrived,
            self.departed,
            self.arrived_packets,
            self.dropped_packets,
            self.marked_packets,
            self.capacity,
            self.action,
        ]
    }

    /// The part of the link's capacity that was used: a little above 1 where a packet began at the very end.
    pub fn utilization(&self) -> f64 {
        share(self.departed, self.capacity)
    }

    /// The part of the packets that was dropped.
    pub fn dropped_share(&self) -> f64 {
        share(self.dropped_packets, self.arrived_packets)
    }

    /// What an agent sees, in the order of [`AQM_OBSERVATION`].
    pub fn observation(&self, interval: Span) -> [f32; AQM_OBSERVATION.len()] {
        let change = self.queue_delay - self.queue_delay_before;
        // The backlog as a time at the rate of the link.
        let standing = share(self.backlog, self.capacity) * interval.as_secs_f64();
        bounded([
            self.queue_delay / DELAY_UNIT,
            change / DELAY_UNIT,
            standing / DELAY_UNIT,
            self.utilization(),
            share(self.arrived, self.capacity),
            self.dropped_share(),
            share(self.marked_packets, self.arrived_packets),
            self.action,
        ])
    }
}

/// The discipline.
pub struct GymAqm {
    params: GymAqmParams,
    policy: Option<Arc<Policy>>,
    scratch: Scratch,
    /// When the interval under way is closed.
    next: Time,
    /// The action in force, -1 to 1.
    action: f64,
    /// The decision of the policy that is in force from a time on.
    decided: Option<(Time, f64)>,
    /// What it means: a probability, or bytes that may wait per bit per second.
    probability: f64,
    delay: Span,
    /// Counts of the interval under way.
    arrived: u64,
    admitted: u64,
    arrived_packets: u64,
    dropped_packets: u64,
    marked_packets: u64,
    /// The last interval that ended.
    seen: AqmInterval,
}

impl Entry for GymAqm {
    const NAME: &'static str = AQM;
    const TITLE: &'static str = "Learned AQM";
    const ABOUT: &'static str = "Drops or marks arriving packets with a probability, or above a delay, that is decided once per `interval`: by an agent in `sojourn.gym.AqmEnv`, or by the policy of the file `policy`. Without either, `action` stays in force.";
    type Params = GymAqmParams;

    fn time_constant(params: &GymAqmParams, _: Span) -> Option<TimeConstant> {
        Some(TimeConstant::new("interval", params.interval))
    }

    fn build(params: GymAqmParams, _: &BuildContext) -> Result<Self, SpecError> {
        let policy = params.policy.policy();
        if let Some(problem) = misfit(policy.as_deref(), AQM, AQM_OBSERVATION.len()) {
            return Err(SpecError::Contradiction {
                discipline: AQM.to_owned(),
                text: problem,
            });
        }
        let mut aqm = GymAqm {
            policy,
            scratch: Scratch::default(),
            next: (Time::ZERO + params.interval).saturating_sub(BEFORE),
            action: -1.0,
            decided: None,
            probability: 0.0,
            delay: Span::ZERO,
            arrived: 0,
            admitted: 0,
            arrived_packets: 0,
            dropped_packets: 0,
            marked_packets: 0,
            seen: AqmInterval::default(),
            params,
        };
        aqm.act(aqm.params.action);
        Ok(aqm)
    }
}

/// Why a policy cannot drive a component with observations of `inputs` numbers.
pub(crate) fn misfit(policy: Option<&Policy>, component: &str, inputs: usize) -> Option<String> {
    let policy = policy?;
    if policy.component() != component {
        let (given, other) = (policy.component(), component);
        return Some(format!("policy: it was made for {given}, not for {other}"));
    }
    (policy.inputs() != inputs).then(|| {
        let given = policy.inputs();
        format!("policy: it takes {given} numbers, but an observation has {inputs}")
    })
}

impl GymAqm {
    fn act(&mut self, action: f64) {
        self.action = action.clamp(-1.0, 1.0);
        let part = 0.5 * (self.action + 1.0);
        self.probability = self.params.max_probability.get() * part * part;
        self.delay = Span::round_from_secs(self.params.max_delay.as_secs_f64() * part);
    }

    /// Whether the action has this packet dropped or marked.
    #[inline]
    fn chooses(&self, meta: &Meta, view: &View<'_>, cx: &mut Cx<'_>) -> bool {
        match self.params.act {
            AqmAct::Probability => self.probability > 0.0 && cx.rng.uniform() < self.probability,
            AqmAct::Delay => {
                let ahead = view.bytes + u64::from(meta.size);
                view.packets > 0 && view.rate.serialization(ahead) > self.delay
            }
        }
    }

    fn close(&mut self, view: &View<'_>, now: Time) {
        let left = real(view.bytes);
        let seconds = self.params.interval.as_secs_f64();
        self.seen = AqmInterval {
            queue_delay: view.waiting.head_age(now).as_secs_f64(),
            queue_delay_before: self.seen.queue_delay,
            backlog: left,
            arrived: real(self.arrived),
            departed: self.seen.backlog + real(self.admitted) - left,
            arrived_packets: real(self.arrived_packets),
            dropped_packets: real(self.dropped_packets),
            marked_packets: real(self.marked_packets),
            capacity: view.rate.as_bps_f64() * seconds / 8.0,
            action: self.action,
        };
        self.arrived = 0;
        self.admitted = 0;
        self.arrived_packets = 0;
        self.dropped_packets = 0;
        self.marked_packets = 0;
    }
}

impl Aqm for GymAqm {
    fn interest(&self) -> Interest {
        Interest {
            ticks: true,
            ..Interest::in_arrivals_from(0)
        }
    }

    fn on_enqueue(&mut self, meta: &Meta, view: &View<'_>, cx: &mut Cx<'_>) -> Verdict {
        if let Some((from, action)) = self.decided
            && cx.now >= from
        {
            self.decided = None;
            self.act(action);
        }
        let size = u64::from(meta.size);
        self.arrived += size;
        self.arrived_packets += 1;
        let (packets, bytes) = (view.packets + 1, view.bytes + size);
        let limit = self.params.limit;
        if !limit.admits(Packets::new(packets), Bytes::new(bytes)) {
            self.dropped_packets += 1;
            return Verdict::Drop(DropReason::Overlimit);
        }
        if !self.chooses(meta, view, cx) {
            self.admitted += size;
            return Verdict::Pass;
        }
        if self.params.ecn && meta.ecn().is_capable() {
            self.admitted += size;
            self.marked_packets += 1;
            return Verdict::Mark(MarkReason::Early);
        }
        self.dropped_packets += 1;
        Verdict::Drop(DropReason::Early)
    }

    #[inline]
    fn next_tick(&self) -> Option<Time> {
        Some(self.next)
    }

    fn on_tick(&mut self, view: &View<'_>, cx: &mut Cx<'_>) {
        self.next = self.next.saturating_add(self.params.interval);
        // Nothing has arrived since it was to be in force.
        if let Some((_, action)) = self.decided.take() {
            self.act(action);
        }
        self.close(view, cx.now);
        if let Some(policy) = &self.policy {
            let observation = self.seen.observation(self.params.interval);
            let action = policy.act_in(&observation, &mut self.scratch);
            self.decided = Some((cx.now + BEFORE, action));
        }
    }

    /// One number, -1 to 1.
    fn steer(&mut self, action: &[f64]) {
        if let Some(action) = action.first() {
            self.decided = None;
            self.act(*action);
        }
    }

    fn state_names(&self) -> &'static [&'static str] {
        STATE
    }

    fn state(&self, out: &mut Vec<f64>) {
        out.extend(self.seen.state());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_queue::aqm::Waiting;
    use sojourn_sim::Stream;
    use sojourn_units::{Rate, check_declaration};

    fn aqm(pairs: &[(&str, &str)]) -> GymAqm {
        let pairs: Vec<(String, String)> = pairs
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect();
        let params = sojourn_units::build(None, &pairs).unwrap();
        GymAqm::build(params, &BuildContext::plain(1, "aqm")).unwrap()
    }

    fn view(packets: u64) -> View<'static> {
        View {
            packets,
            bytes: packets * 1000,
            rate: Rate::mbps(8),
            last_departure: Time::ZERO,
            asked: false,
            waiting: Waiting::Nothing,
        }
    }

    fn judged(aqm: &mut GymAqm, waiting: u64, tos: u8, rng: &mut Stream) -> Verdict {
        let meta = Meta {
            size: 1000,
            flow: 0,
            tos,
        };
        let now = Time::ZERO;
        aqm.on_enqueue(&meta, &view(waiting), &mut Cx { now, rng })
    }

    #[test]
    fn the_declaration_holds_together() {
        assert_eq!(check_declaration::<GymAqmParams>(), Ok(()));
    }

    #[test]
    fn an_action_is_the_root_of_a_part_of_the_highest_probability() {
        let mut aqm = aqm(&[("max_probability", "40%")]);
        let mut rng = Stream::derive(1, 0, "aqm");
        let mut rate = |aqm: &mut GymAqm, action: f64| {
            aqm.steer(&[action]);
            let drops = (0..20_000)
                .filter(|_| judged(aqm, 1, 0, &mut rng) == Verdict::Drop(DropReason::Early));
            real(u64::try_from(drops.count()).unwrap()) / 20_000.0
        };
        assert!(rate(&mut aqm, -1.0).abs() < 1e-12);
        assert!((rate(&mut aqm, 0.0) - 0.1).abs() < 0.01);
        assert!((rate(&mut aqm, 1.0) - 0.4).abs() < 0.015);
        assert!((rate(&mut aqm, 7.0) - 0.4).abs() < 0.015, "bounded");
    }

    #[test]
    fn with_a_delay_packets_are_marked_that_would_wait_longer() {
        let mut aqm = aqm(&[("act", "delay"), ("max_delay", "20ms"), ("ecn", "true")]);
        let mut rng = Stream::derive(1, 0, "aqm");
        aqm.steer(&[0.0]);
        // 1 ms a packet, 10 ms allowed.
        assert_eq!(judged(&mut aqm, 9, 2, &mut rng), Verdict::Pass);
        assert_eq!(
            judged(&mut aqm, 10, 2, &mut rng),
            Verdict::Mark(MarkReason::Early)
        );
        assert_eq!(
            judged(&mut aqm, 10, 0, &mut rng),
            Verdict::Drop(DropReason::Early)
        );
    }

    #[test]
    fn an_interval_counts_what_arrived_was_dropped_and_left() {
        let mut aqm = aqm(&[("limit", "2p")]);
        let mut rng = Stream::derive(1, 0, "aqm");
        for waiting in [0, 1, 2] {
            judged(&mut aqm, waiting, 0, &mut rng);
        }
        // One of the two that were admitted has left.
        let (now, rng) = (aqm.next, &mut rng);
        aqm.on_tick(&view(1), &mut Cx { now, rng });
        let mut state = Vec::new();
        aqm.state(&mut state);
        let seen = AqmInterval::of_state(&state).unwrap();
        assert_eq!(
            (seen.arrived, seen.departed, seen.backlog),
            (3000.0, 1000.0, 1000.0)
        );
        assert_eq!((seen.arrived_packets, seen.dropped_packets), (3.0, 1.0));
        // 10 ms at 8 Mbps are 10 kB.
        let observation = seen.observation(aqm.params.interval);
        assert!((f64::from(observation[3]) - 0.1).abs() < 1e-6);
        assert!((f64::from(observation[4]) - 0.3).abs() < 1e-6);
        assert!((f64::from(observation[5]) - 1.0 / 3.0).abs() < 1e-6);
    }
}
