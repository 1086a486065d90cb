//! NADA: one signal of delay, loss and marks, and a rate that follows it.
//!
//! Source: RFC 8698 sections 4.2 and 4.3 with 5.1 and 5.2, all of it at the sender (section 5.3), read in its last draft
//! (draft-ietf-rmcat-nada-13). Ratios of losses and marks are those of LOGWIN, smoothed with every packet that arrives; delays pass a
//! minimum filter of 15 packets (section 5.1.1), but not where they end the accelerated ramp-up; the mean interval between losses is that
//! of TFRC (RFC 5348 section 5.4), in packets. Encoder and pacer follow the packets that wait in the sender when feedback comes (section
//! 5.2.2).
//!
//! Left open by the text, or different here: the first rate is the encoder's own, not RMIN. A mark ends the accelerated
//! ramp-up like a loss: section 4 has the gradual update where there is any signal, section 4.2 names losses and delay
//! alone. Packets that are lost in a row are one loss in the mean interval, whatever the round trip; that mean is of
//! closed intervals alone, because with the open one, which RFC 5348 lets count, losses would never be long past.
//! Before the first loss there is no interval, so that the first closed one is all that went before. The base delay is
//! the least of the run: clocks do not drift here. DELTA is 100 ms in the ramp-up however often feedback comes. If no
//! feedback arrives for a second, the rate is halved. The signal is bounded by half a second, as in ns3-rmcat, the code
//! of its authors: without, the end of a second of heavy losses (x_diff in equation 7) multiplies the rate by up to
//! seven.

use super::rate::{QueueDelay, RateMeter};
use super::{Bounds, MediaControl, MediaFeedback};
use crate::num::real;
use sojourn_units::{ParamError, Span, Time, params};
use std::collections::VecDeque;

params! {
    /// NADA (RFC 8698): the rate follows a single signal that combines queue delay, losses and marks.
    pub struct NadaParams {
        /// Weight of the flow relative to others (PRIO).
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
        /// Queue delay from which the ramp-up is not accelerated (QEPS).
        qeps: Span = "10ms", range "1ms".."1s", source "RFC 8698 figure 3";
        /// Bound of the filtering delay (DFILT).
        dfilt: Span = "120ms", range "0s".."1s", source "RFC 8698 figure 3";
        /// Maximum increase in accelerated ramp-up (GAMMA_MAX).
        gamma_max: f64 = "0.5", range "0.01".."2", source "RFC 8698 figure 3",
            acts "accelerated ramp-up reaches it";
        /// Window of observation (LOGWIN).
        logwin: Span = "500ms", range "100ms".."10s", source "RFC 8698 figure 3";
        /// Queue delay above which additional delay counts less, once there are losses (QTH).
        qth: Span = "50ms", range "1ms".."1s", source "RFC 8698 figure 3";
        /// Speed at which delay above `qth` loses weight (LAMBDA).
        lambda: f64 = "0.5", range "0".."10", source "RFC 8698 figure 3";
        /// Delay equivalent of a loss ratio of `plrref` (DLOSS).
        dloss: Span = "10ms", range "0s".."1s", source "RFC 8698 figure 3";
        /// Reference loss ratio (PLRREF).
        plrref: f64 = "0.01", range "0.0001".."1", source "RFC 8698 figure 3";
        /// Delay equivalent of a mark ratio of `pmrref` (DMARK).
        dmark: Span = "2ms", range "0s".."1s", source "RFC 8698 figure 3";
        /// Reference mark ratio (PMRREF).
        pmrref: f64 = "0.01", range "0.0001".."1", source "RFC 8698 figure 3";
        /// Maximum of the signal (XMAX).
        xmax: Span = "500ms", range "10ms".."10s", source "ns3-rmcat; RFC 8698 has none but the 3.2767 s of section 5.3";
        /// Weight of a new loss or mark ratio (ALPHA).
        alpha: f64 = "0.1", range "0.001".."1", source "RFC 8698 figure 3";
        /// Number of mean loss intervals for which losses count as recent (MULTILOSS).
        multiloss: f64 = "7", range "1".."100", source "RFC 8698 figure 3",
            acts "the intervals between losses are about this long";
        /// Share of the sender's backlog that the encoder compensates for per frame (BETA_V).
        beta_v: f64 = "0.1", range "0".."10", source "RFC 8698 figure 3";
        /// Share of the sender's backlog that the pacer compensates for per frame (BETA_S).
        beta_s: f64 = "0.1", range "0".."10", source "RFC 8698 figure 3";
        /// Frames per second, to convert the sender's backlog to a rate (FPS).
        fps: f64 = "30", range "1".."240", source "RFC 8698 figure 3";
        /// Pacing rate, relative to the sending rate of section 5.2.2. Above 1, frames of varying size wait less.
        headroom: f64 = "1", range "1".."10", source "RFC 8698 section 5.2";
    }
    dialects Dialect {
        /// RFC 8698.
        rfc as Rfc = "rfc8698" {}
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
    /// The signal before (x_prev), seconds.
    before: f64,
    delay: QueueDelay,
    received: RateMeter,
    loss: f64,
    marks: f64,
    /// The packets of the last LOGWIN, by the clock of arrivals: when each came or was missed, whether it was lost, and whether it was marked.
    recent: VecDeque<(Time, bool, bool)>,
    /// How many of them were lost, and how many marked.
    lost: u64,
    marked: u64,
    /// Packets lost since the last arrival: the next one reports them.
    missing: u64,
    /// Packets since the last loss, and between those before it, the last first; none before the first loss.
    intervals: VecDeque<f64>,
    /// The last packet reported on was lost.
    gap: bool,
    /// A packet was lost ever.
    lossy: bool,
    /// The last arrival.
    newest: Time,
    /// When the queue was longer than QEPS or a packet was lost last.
    last_trouble: Option<Time>,
    updated: Option<Time>,
    round_trip: f64,
    /// Bytes that waited in the sender when feedback came last (buffer_len).
    waiting: f64,
}

impl Nada {
    /// One that has heard nothing.
    ///
    /// # Errors
    /// If parameters contradict each other.
    pub fn build(params: &NadaParams, bounds: Bounds) -> Result<Nada, ParamError> {
        Ok(Nada {
            bounds,
            rate: bounds.start,
            before: 0.0,
            delay: QueueDelay::new(15),
            received: RateMeter::new(params.logwin),
            loss: 0.0,
            marks: 0.0,
            recent: VecDeque::new(),
            lost: 0,
            marked: 0,
            missing: 0,
            intervals: VecDeque::from([0.0]),
            gap: false,
            lossy: false,
            newest: Time::ZERO,
            last_trouble: None,
            updated: None,
            round_trip: 0.0,
            waiting: 0.0,
            params: params.clone(),
        })
    }

    /// How much of the delay counts as if losses were no concern: 0 where some were seen within a few of their mean intervals, 1 where
    /// they are long past.
    fn unwarped(&self) -> f64 {
        if !self.lossy {
            return 1.0;
        }
        // The mean of closed intervals: with the open one in it, which is a sixth of it at least, no loss would ever be long past.
        let closed = self.intervals.iter().skip(1).zip(WEIGHTS);
        let sum: f64 = closed
            .clone()
            .map(|(packets, weight)| packets * weight)
            .sum();
        let mean = (sum / closed.map(|(_, weight)| weight).sum::<f64>()).max(1.0);
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

    /// A packet was lost, or not: it belongs to the open interval.
    fn note(&mut self, lost: bool) {
        if lost && !self.gap {
            // Packets that are lost in a row are one loss.
            self.intervals.push_front(0.0);
            self.intervals.truncate(WEIGHTS.len() + 1);
            self.lossy = true;
        }
        if let Some(since) = self.intervals.front_mut() {
            *since += 1.0;
        }
        self.gap = lost;
    }

    /// A packet has arrived, marked or not, and those missing before it are lost: smooths the ratios of LOGWIN (section 5.1.2, equation 10).
    fn ratios(&mut self, marked: bool) {
        let now = self.newest;
        let missing = std::mem::take(&mut self.missing);
        self.lost += missing;
        self.marked += u64::from(marked);
        for _ in 0..missing {
            self.recent.push_back((now, true, false));
        }
        self.recent.push_back((now, false, marked));
        while let Some((at, lost, marked)) = self.recent.front().copied()
            && now.saturating_since(at) >= self.params.logwin
        {
            self.lost -= u64::from(lost);
            self.marked -= u64::from(marked);
            self.recent.pop_front();
        }
        let all = real(u64::try_from(self.recent.len()).unwrap_or(1));
        let alpha = self.params.alpha;
        self.loss += alpha * (real(self.lost) / all - self.loss);
        self.marks += alpha * (real(self.marked) / all - self.marks);
    }

    /// By how much encoder and pacer differ from the reference rate while bytes wait (section 5.2.2, equations 11 and 12).
    fn shaping(&self, beta: f64) -> f64 {
        (0.05 * self.rate).min(beta * 8.0 * self.waiting * self.params.fps)
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
        let change = signal - self.before;
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
        self.waiting = real(feedback.waiting);
        let mut queue = None;
        for packet in feedback.packets {
            self.note(packet.arrived.is_none());
            let Some(at) = packet.arrived else {
                self.missing += 1;
                continue;
            };
            self.newest = self.newest.max(at);
            let took = at.saturating_since(packet.sent).as_secs_f64();
            queue = Some(self.delay.add(took));
            // A difference of delays of just QEPS is one, rounded or not.
            let late = self.delay.beyond(took) + 1e-9 >= self.params.qeps.as_secs_f64();
            if self.missing > 0 || packet.marked || late {
                self.last_trouble = Some(self.newest);
            }
            self.ratios(packet.marked);
            self.received.add(self.newest, packet.bytes);
        }
        let Some(queue) = queue else {
            if self.missing > 0 {
                self.on_silence(now);
            }
            return;
        };
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
            .is_none_or(|at| self.newest.saturating_since(at) >= self.params.logwin);
        match (calm, self.received.rate(self.newest)) {
            (true, Some(received)) => self.ramp_up(received),
            (true, None) => {}
            (false, _) => self.update(signal, since),
        }
        self.before = signal;
        self.rate = self.rate.clamp(self.bounds.min, self.bounds.max);
    }

    fn on_silence(&mut self, now: Time) {
        self.last_trouble = Some(now);
        self.rate = (self.rate / 2.0).max(self.bounds.min);
    }

    /// The target of the encoder (equation 13).
    fn target(&self) -> f64 {
        (self.rate - self.shaping(self.params.beta_v)).max(self.bounds.min)
    }

    /// The sending rate (equation 14).
    fn pacing(&self) -> f64 {
        let rate = (self.rate + self.shaping(self.params.beta_s)).min(self.bounds.max);
        rate * self.params.headroom
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
        let mut nada = Nada::build(&NadaParams::default(), BOUNDS).unwrap();
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
    fn one_delay_sample_of_qeps_ends_the_accelerated_ramp_up() {
        // 800 kbps arrive: with gamma = 50 / 320 the rate is 925 kbps.
        let calm = run(20, |_| Some(0)).rate;
        assert!((calm / 925e3 - 1.0).abs() < 1e-6, "{calm}");
        let almost = run(20, |n| Some(if n % 20 == 10 { 9 } else { 0 })).rate;
        assert_eq!(almost, calm);
        // Every twentieth packet is 10 ms late, which the minimum of fifteen does not show: updated gradually, it rises from below.
        let late = run(20, |n| Some(if n % 20 == 10 { 10 } else { 0 })).rate;
        assert!(late < 800e3, "{late}");
    }

    /// p_loss of section 5.1.2 when one of ten packets has been lost, the sixth: it is smoothed with every packet that arrives.
    const ONE_OF_TEN: f64 = 0.1 * (0.729 / 7.0 + 0.81 / 8.0 + 0.9 / 9.0 + 1.0 / 10.0);

    #[test]
    fn the_ratio_of_losses_is_smoothed_with_every_packet_that_arrives() {
        let nada = run(1, |n| (n != 5).then_some(0));
        assert!((nada.loss / ONE_OF_TEN - 1.0).abs() < 1e-9, "{}", nada.loss);
    }

    #[test]
    fn the_ratio_of_losses_is_that_of_the_last_logwin() {
        // One packet in ten milliseconds, every tenth lost: of the last fifty packets always five.
        let nada = run(40, |n| (n % 10 != 5).then_some(0));
        assert!((nada.loss / 0.1 - 1.0).abs() < 0.01, "{}", nada.loss);
        // Half a second without any: forty-five receptions more halve it 45 times by a tenth, while the ratio falls to none.
        let after = run(50, |n| (n >= 400 || n % 10 != 5).then_some(0));
        assert!(after.loss < 0.001, "{}", after.loss);
    }

    #[test]
    fn the_first_signal_is_a_change_from_none() {
        let nada = run(1, |n| (n != 5).then_some(0));
        let signal = 0.01 * (ONE_OF_TEN / 0.01) * (ONE_OF_TEN / 0.01);
        // Equations 5 to 7 with x_prev = 0: XREF * RMAX / r_ref = 50 ms.
        let step = 0.5 * (0.1 / 0.5) * ((signal - 0.05) / 0.5) + 0.5 * 2.0 * signal / 0.5;
        let rate = 300e3 * (1.0 - step);
        assert!(
            (nada.rate / rate - 1.0).abs() < 1e-9,
            "{} {rate}",
            nada.rate
        );
    }

    #[test]
    fn the_time_since_the_last_feedback_counts_in_full() {
        let mut nada = run(1, |n| (n != 5).then_some(0));
        let (rate, signal) = (nada.rate, nada.before);
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        // 800 ms later a packet that is 10 ms late: the window has nothing but it, and p_loss falls by a tenth.
        nada.on_feedback(&MediaFeedback {
            now: at(1000),
            packets: &[PacketResult {
                bytes: 1000,
                sent: at(800),
                arrived: Some(at(860)),
                marked: false,
            }],
            round_trip: None,
            in_flight: 0,
            waiting: 0,
        });
        let next = signal * 0.81;
        let reference = 0.01 * 1.5e6 / rate;
        let step = 0.5 * (0.8 / 0.5) * ((next - reference) / 0.5) + (next - signal) / 0.5;
        let expected = rate * (1.0 - step);
        assert!(
            (nada.rate / expected - 1.0).abs() < 1e-9,
            "{} {expected}",
            nada.rate
        );
    }

    #[test]
    fn the_encoder_gets_less_and_the_pacer_more_while_packets_wait() {
        // The example of section 5.2.2: 2000 bytes are 48 kbps; of 300 kbps no more than 5 %.
        let with = |rate: f64, waiting: u64| {
            let mut nada = Nada::build(&NadaParams::default(), BOUNDS).unwrap();
            nada.rate = rate;
            nada.waiting = real(waiting);
            (nada.target(), nada.pacing())
        };
        assert_eq!(with(1e6, 0), (1e6, 1e6));
        let near = |(target, pacing): (f64, f64), wanted: (f64, f64)| {
            assert!((target - wanted.0).abs() < 1e-6 && (pacing - wanted.1).abs() < 1e-6);
        };
        near(with(1e6, 2000), (952e3, 1048e3));
        near(with(300e3, 2000), (285e3, 315e3));
        // Within the bounds.
        near(with(150e3, 2000), (150e3, 157.5e3));
        near(with(1.5e6, 2000), (1452e3, 1.5e6));
    }

    #[test]
    fn delay_counts_in_full_when_losses_are_eight_of_their_intervals_past() {
        // A loss in ten packets, up to the hundredth.
        let until = |rounds| run(rounds, |n| (n % 10 != 9 || n >= 100).then_some(0));
        // An interval has its lost packet in it (RFC 5348 section 5.3); the weights are those of eight intervals, the last still open.
        assert_eq!(
            until(10).intervals,
            [1.0].into_iter().chain([10.0; 8]).collect::<Vec<_>>()
        );
        // Of ten packets each: 61 packets with the last loss are six of them, 71 seven and a tenth, 81 more than eight.
        assert_eq!(until(16).unwarped(), 0.0);
        assert!((until(17).unwarped() - 0.1).abs() < 1e-9);
        assert_eq!(until(18).unwarped(), 1.0);
        assert_eq!(run(10, |_| Some(0)).unwarped(), 1.0);
    }
}
