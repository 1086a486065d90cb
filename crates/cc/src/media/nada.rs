//! NADA: one signal of delay, loss and marks, and a rate that follows it.
//!
//! Source: RFC 8698 sections 4.2 and 4.3, all of it at the sender (section 5.3); values of figure 3 as the ns3-rmcat code has them.
//! Written from the equations as that code and the literature give them; the text of the RFC was not at hand. The loss ratio is
//! smoothed by ALPHA per feedback; delays pass a minimum filter of 15 packets (section 5.1.1); marks count with DMARK = 2 ms.

use super::rate::{QueueDelay, RateMeter};
use super::{Bounds, MediaControl, MediaFeedback};
use crate::num::real;
use sojourn_units::{Span, Time, params};

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
    /// When packets were lost last, and the mean time between losses.
    last_loss: Option<Time>,
    loss_gap: Option<f64>,
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
            last_loss: None,
            loss_gap: None,
            last_trouble: None,
            updated: None,
            round_trip: 0.0,
            params: params.clone(),
        }
    }

    /// Losses were seen within a few of their mean intervals.
    fn lossy(&self, now: Time) -> bool {
        let gap = self.loss_gap.unwrap_or(0.0);
        let kept = (self.params.multiloss * gap).max(self.params.logwin.as_secs_f64());
        self.last_loss
            .is_some_and(|at| now.saturating_since(at).as_secs_f64() <= kept)
    }

    /// The signal (equations 1 and 2), seconds.
    fn signal(&self, queue: f64, now: Time) -> f64 {
        let params = &self.params;
        let qth = params.qth.as_secs_f64();
        let warped = if self.lossy(now) && queue >= qth {
            qth * libm::exp(-params.lambda * (queue - qth) / qth)
        } else {
            queue
        };
        let square = |ratio: f64, reference: f64| (ratio / reference) * (ratio / reference);
        let lost = params.dloss.as_secs_f64() * square(self.loss, params.plrref);
        let marked = params.dmark.as_secs_f64() * square(self.marks, params.pmrref);
        (warped + lost + marked).min(params.xmax.as_secs_f64())
    }

    fn note_loss(&mut self, now: Time) {
        if let Some(last) = self.last_loss {
            let gap = now.saturating_since(last).as_secs_f64();
            let mean = self.loss_gap.unwrap_or(gap);
            self.loss_gap = Some(mean + 0.25 * (gap - mean));
        }
        self.last_loss = Some(now);
        self.last_trouble = Some(now);
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
        let (mut lost, mut marked, mut queue) = (0u32, 0u32, None);
        for packet in feedback.packets {
            match packet.arrived {
                None => lost += 1,
                Some(at) => {
                    marked += u32::from(packet.marked);
                    let took = at.saturating_since(packet.sent).as_secs_f64();
                    queue = Some(self.delay.add(took));
                    self.received.add(now, packet.bytes);
                }
            }
        }
        let Some(queue) = queue else {
            if lost > 0 {
                self.on_silence(now);
            }
            return;
        };
        let count = real(u64::try_from(feedback.packets.len()).unwrap_or(1));
        let alpha = self.params.alpha;
        self.loss += alpha * (f64::from(lost) / count - self.loss);
        self.marks += alpha * (f64::from(marked) / count - self.marks);
        if lost > 0 {
            self.note_loss(now);
        }
        if queue > self.params.qeps.as_secs_f64() || marked > 0 {
            self.last_trouble = Some(now);
        }
        if let Some(trip) = feedback.round_trip {
            self.round_trip = trip.as_secs_f64();
        }
        let signal = self.signal(queue, now);
        let since = self
            .updated
            .map_or(0.1, |at| now.saturating_since(at).as_secs_f64());
        self.updated = Some(now);
        let calm = self
            .last_trouble
            .is_none_or(|at| now.saturating_since(at) > self.params.logwin);
        match (calm, self.received.rate(now)) {
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
