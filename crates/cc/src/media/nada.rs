//! NADA: one signal of delay, loss and marks, and a rate that follows it.
//!
//! Source: RFC 8698 sections 4.2 and 4.3, all of it at the sender (section 5.3). The text of the RFC was not at hand: equations and
//! values are those of ns3-rmcat, the code of its authors, whose values are those of figure 3. Ratios of losses and marks are those of
//! LOGWIN, smoothed by ALPHA per feedback; delays pass a minimum filter of 15 packets (section 5.1.1), but not where they end the
//! accelerated ramp-up; the mean interval between losses is that of TFRC (RFC 5348 section 5.4), in packets, and when losses are long
//! past their delay counts in full again over one such interval, as in ns3-rmcat. Marks count with DMARK = 2 ms, which ns3-rmcat leaves
//! out. The video buffer of section 5.2 that shapes the rate is left out.

use super::rate::{QueueDelay, RateMeter};
use super::{Bounds, MediaControl, MediaFeedback};
use crate::num::real;
use sojourn_units::{Span, Time, params};
use std::collections::VecDeque;

params! {
    /// NADA (RFC 8698): the rate follows one signal of queue delay, losses and marks.
    pub struct NadaParams {
        /// Weight of the flow among others (PRIO).
        prio: f64 = "1", range "0.1".."10", source "RFC 8698 figure 3";
        /// Reference congestion signal (XREF).
        xref: Span = "10ms", range "1ms".."1s", source "RFC 8698 figure 3";
        /// Scaling of the gradual update (KAPPA).
        kappa: f64 = "0.5", range "0.01".."10", source "RFC 8698 figure 3";
        /// Weight of the change of the signal (ETA).
        eta: f64 = "2", range "0".."20", source "RFC 8698 figure 3";
        /// Upper bound of the round trip in the gradual update (TAU).
        tau: Span = "500ms", range "10ms".."10s", source "RFC 8698 figure 3";
        /// Bound of the self-inflicted delay in accelerated ramp-up (QBOUND).
        qbound: Span = "50ms", range "1ms".."1s", source "RFC 8698 figure 3";
        /// Queue delay from which on the ramp-up is not accelerated (QEPS).
        qeps: Span = "10ms", range "1ms".."1s", source "RFC 8698 figure 3";
        /// Bound of the filtering delay (DFILT).
        dfilt: Span = "120ms", range "0s".."1s", source "RFC 8698 figure 3";
        /// Most increase in accelerated ramp-up (GAMMA_MAX).
        gamma_max: f64 = "0.5", range "0.01".."2", source "RFC 8698 figure 3";
        /// Window of observation (LOGWIN).
        logwin: Span = "500ms", range "100ms".."10s", source "RFC 8698 figure 3";
        /// Queue delay from which on it counts less once losses are seen (QTH).
        qth: Span = "50ms", range "1ms".."1s", source "RFC 8698 figure 3";
        /// How fast it counts less beyond (LAMBDA).
        lambda: f64 = "0.5", range "0".."10", source "RFC 8698 figure 3";
        /// Delay that a loss ratio of `plrref` stands for (DLOSS).
        dloss: Span = "10ms", range "0s".."1s", source "RFC 8698 figure 3";
        /// Reference loss ratio (PLRREF).
        plrref: f64 = "0.01", range "0.0001".."1", source "RFC 8698 figure 3";
        /// Delay that a mark ratio of `pmrref` stands for (DMARK).
        dmark: Span = "2ms", range "0s".."1s", source "RFC 8698 figure 3";
        /// Reference mark ratio (PMRREF).
        pmrref: f64 = "0.01", range "0.0001".."1", source "RFC 8698 figure 3";
        /// Most that the signal may be (XMAX).
        xmax: Span = "500ms", range "10ms".."10s", source "ns3-rmcat";
        /// Weight of a new loss or mark ratio (ALPHA).
        alpha: f64 = "0.1", range "0.001".."1", source "RFC 8698 figure 3";
        /// Mean intervals between losses for which these count as recent (MULTILOSS).
        multiloss: f64 = "7", range "1".."100", source "RFC 8698 figure 3";
        /// Room of the pacing rate above the reference rate.
        headroom: f64 = "1.5", range "1".."10", source "so that frames of varying size leave without waiting; the RFC shapes by a rate buffer";
    }
    dialects {
        /// RFC 8698.
        rfc = "rfc8698" {}
    }
}

/// Weights of the intervals between losses, the last first (RFC 5348 section 5.4).
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// The algorithm.
#[derive(Clone, Debug)]
pub struct Nada {
    params: NadaParams,
    bounds: Bounds,
    rate: f64,
    /// The signal, seconds, and the one before it.
    before: Option<f64>,
    delay: QueueDelay,
    received: RateMeter,
    loss: f64,
    marks: f64,
    /// Of the feedback of the last LOGWIN: when it came, and the packets that it told of, those lost and those marked.
    recent: VecDeque<(Time, u64, u64, u64)>,
    /// Packets since the last loss, and between those before it, the last first; none before the first loss.
    intervals: VecDeque<f64>,
    /// The last packet that was told of was lost.
    gap: bool,
    /// A packet was lost ever.
    lossy: bool,
    /// The last arrival.
    newest: Time,
    /// When the queue was longer than QEPS or a packet was lost last.
    last_trouble: Option<Time>,
    updated: Option<Time>,
    round_trip: f64,
}

impl Nada {
    /// One that has heard nothing.
    pub fn new(params: &NadaParams, bounds: Bounds) -> Nada {
        Nada {
            bounds,
            rate: bounds.start,
            before: None,
            delay: QueueDelay::new(15),
            received: RateMeter::new(params.logwin),
            loss: 0.0,
            marks: 0.0,
            recent: VecDeque::new(),
            intervals: VecDeque::from([0.0]),
            gap: false,
            lossy: false,
            newest: Time::ZERO,
            last_trouble: None,
            updated: None,
            round_trip: 0.0,
            params: params.clone(),
        }
    }

    /// How much of the delay counts as if losses were no concern: 0 where some were seen within a few of their mean intervals, 1 where
    /// they are long past.
    fn unwarped(&self) -> f64 {
        if !self.lossy {
            return 1.0;
        }
        let weighed = |skip: usize| {
            let past = self.intervals.iter().skip(skip).zip(WEIGHTS);
            let past = past.take(self.intervals.len() - 1);
            let sum: f64 = past.clone().map(|(packets, weight)| packets * weight).sum();
            sum / past.map(|(_, weight)| weight).sum::<f64>()
        };
        let mean = weighed(0).max(weighed(1)).max(1.0);
        let since = self.intervals.front().copied().unwrap_or(0.0);
        (since / mean - self.params.multiloss).clamp(0.0, 1.0)
    }

    /// The signal (equations 1 and 2), seconds.
    fn signal(&self, queue: f64) -> f64 {
        let params = &self.params;
        let qth = params.qth.as_secs_f64();
        let warped = match queue >= qth {
            true => qth * libm::exp(-params.lambda * (queue - qth) / qth),
            false => queue,
        };
        let share = self.unwarped();
        let delay = share * queue + (1.0 - share) * warped;
        let square = |ratio: f64, reference: f64| (ratio / reference) * (ratio / reference);
        let lost = params.dloss.as_secs_f64() * square(self.loss, params.plrref);
        let marked = params.dmark.as_secs_f64() * square(self.marks, params.pmrref);
        (delay + lost + marked).min(params.xmax.as_secs_f64())
    }

    /// A packet was lost, or not.
    fn note(&mut self, lost: bool) {
        if !lost {
            if let Some(since) = self.intervals.front_mut() {
                *since += 1.0;
            }
        } else if !self.gap {
            // Packets that are lost in a row are one loss.
            self.intervals.push_front(0.0);
            self.intervals.truncate(WEIGHTS.len() + 1);
            self.lossy = true;
        }
        self.gap = lost;
    }

    /// Smooths the ratios of losses and marks of the last LOGWIN.
    fn ratios(&mut self, now: Time, told: (u64, u64, u64)) {
        self.recent.push_back((now, told.0, told.1, told.2));
        while let Some((at, ..)) = self.recent.front()
            && now.saturating_since(*at) >= self.params.logwin
        {
            self.recent.pop_front();
        }
        let sum = |of: fn(&(Time, u64, u64, u64)) -> u64| real(self.recent.iter().map(of).sum());
        let all = sum(|told| told.1).max(1.0);
        let (lost, marked) = (sum(|told| told.2) / all, sum(|told| told.3) / all);
        self.loss += self.params.alpha * (lost - self.loss);
        self.marks += self.params.alpha * (marked - self.marks);
    }

    /// Accelerated ramp-up (section 4.3, equations 3 and 4).
    fn ramp_up(&mut self, received: f64) {
        let params = &self.params;
        // DELTA, the interval of feedback, is that of the flow; 100 ms in the RFC.
        let wait = self.round_trip + 0.1 + params.dfilt.as_secs_f64();
        let gamma = params.gamma_max.min(params.qbound.as_secs_f64() / wait);
        self.rate = self.rate.max((1.0 + gamma) * received);
    }

    /// Gradual update (section 4.3, equations 5 to 7).
    fn update(&mut self, signal: f64, since: f64) {
        let params = &self.params;
        let tau = params.tau.as_secs_f64();
        let reference = params.prio * params.xref.as_secs_f64() * self.bounds.max / self.rate;
        let offset = signal - reference;
        let change = signal - self.before.unwrap_or(signal);
        let step = params.kappa * (since / tau) * (offset / tau)
            + params.kappa * params.eta * (change / tau);
        self.rate -= step * self.rate;
    }
}

impl MediaControl for Nada {
    /// DELTA (RFC 8698 figure 3).
    fn feedback_every(&self) -> Span {
        Span::from_ms(100)
    }

    fn on_feedback(&mut self, feedback: &MediaFeedback<'_>) {
        let now = feedback.now;
        let (mut lost, mut marked, mut queue, mut longest) = (0u64, 0u64, None, 0.0);
        for packet in feedback.packets {
            self.note(packet.arrived.is_none());
            match packet.arrived {
                None => lost += 1,
                Some(at) => {
                    marked += u64::from(packet.marked);
                    let took = at.saturating_since(packet.sent).as_secs_f64();
                    queue = Some(self.delay.add(took));
                    longest = self.delay.beyond(took).max(longest);
                    self.newest = self.newest.max(at);
                    self.received.add(self.newest, packet.bytes);
                }
            }
        }
        let all = u64::try_from(feedback.packets.len()).unwrap_or(1);
        if lost > 0 || marked > 0 || longest > self.params.qeps.as_secs_f64() {
            self.last_trouble = Some(now);
        }
        let Some(queue) = queue else {
            if lost > 0 {
                self.on_silence(now);
            }
            return;
        };
        self.ratios(now, (all, lost, marked));
        if let Some(trip) = feedback.round_trip {
            self.round_trip = trip.as_secs_f64();
        }
        let signal = self.signal(queue);
        let since = self
            .updated
            .map_or(0.1, |at| now.saturating_since(at).as_secs_f64());
        self.updated = Some(now);
        let calm = self
            .last_trouble
            .is_none_or(|at| now.saturating_since(at) > self.params.logwin);
        match (calm, self.received.rate(self.newest)) {
            (true, Some(received)) => self.ramp_up(received),
            (true, None) => {}
            (false, _) => self.update(signal, since.min(self.params.tau.as_secs_f64())),
        }
        self.before = Some(signal);
        self.rate = self.rate.clamp(self.bounds.min, self.bounds.max);
    }

    fn on_silence(&mut self, now: Time) {
        self.last_trouble = Some(now);
        self.rate = (self.rate / 2.0).max(self.bounds.min);
    }

    fn target(&self) -> f64 {
        self.rate
    }

    fn pacing(&self) -> f64 {
        self.rate * self.params.headroom
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

    /// Feedback every 100 ms on ten packets of 1000 bytes, which take 50 ms and so much more, or are lost.
    fn run(rounds: u64, more: fn(u64) -> Option<u64>) -> Nada {
        let mut nada = Nada::new(&NadaParams::default(), BOUNDS);
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        for round in 0..rounds {
            let packet = |n: u64| {
                let sent = 100 * round + 10 * n;
                PacketResult {
                    bytes: 1000,
                    sent: at(sent),
                    arrived: more(10 * round + n).map(|more| at(sent + 50 + more)),
                    marked: false,
                }
            };
            let packets: Vec<_> = (0..10).map(packet).collect();
            nada.on_feedback(&MediaFeedback {
                now: at(100 * round + 200),
                packets: &packets,
                round_trip: Some(Span::from_ms(100)),
                in_flight: 0,
                waiting: 0,
            });
        }
        nada
    }

    #[test]
    fn one_delay_sample_above_qeps_ends_the_accelerated_ramp_up() {
        // 800 kbps arrive: with gamma = 50 / 320 the rate is 925 kbps.
        let calm = run(20, |_| Some(0)).target();
        assert!((calm / 925e3 - 1.0).abs() < 1e-6, "{calm}");
        // Every twentieth packet is 30 ms late, which the minimum of fifteen does not show: updated gradually, it rises from below.
        let late = run(20, |n| Some(if n % 20 == 10 { 30 } else { 0 })).target();
        assert!(late < 800e3, "{late}");
    }

    #[test]
    fn the_loss_ratio_is_that_of_the_last_logwin() {
        // Two of a hundred, in one feedback of ten.
        let nada = run(10, |n| (n < 98).then_some(0));
        assert_eq!(nada.recent.len(), 5);
        // Of the last fifty packets, two.
        assert!((nada.loss - 0.1 * 0.04).abs() < 1e-12, "{}", nada.loss);
    }

    #[test]
    fn delay_counts_in_full_when_losses_are_eight_of_their_intervals_past() {
        // A loss in ten packets, up to the hundredth.
        let until = |rounds| run(rounds, |n| (n % 10 != 9 || n >= 100).then_some(0));
        // Nine packets arrive between losses; the weights are those of eight intervals, the last still open.
        assert_eq!(
            until(10).intervals,
            [0.0; 1].into_iter().chain([9.0; 8]).collect::<Vec<_>>()
        );
        assert_eq!(until(16).unwarped(), 0.0);
        let within = until(17).unwarped();
        assert!((0.0..1.0).contains(&within), "{within}");
        assert_eq!(run(10, |_| Some(0)).unwarped(), 1.0);
    }
}
