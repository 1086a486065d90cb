//! Round-trip times, and the timer that they set: for loss by time, or for a probe.
//!
//! Sources: RFC 9002 section 5 and appendix A.7 (round-trip times), section 6.2 and appendices A.8 and A.9 (timer).

use super::{Fate, LOSS, QuicSender};
use crate::app::Source;
use sojourn_cc::{CongestionControl, Sample};
use sojourn_sim::Host;
use sojourn_units::{Span, Time};

impl<S: Source> QuicSender<S> {
    pub(super) fn srtt(&self) -> Span {
        self.smoothed.unwrap_or(self.params.initial_rtt)
    }

    /// The probe timeout without its back-off (section 6.2.1).
    pub(super) fn probe_timeout(&self) -> Span {
        let spread = self.variance.saturating_mul(4).max(self.params.granularity);
        let base = self.srtt() + spread;
        match self.established {
            true => base + self.params.max_ack_delay,
            false => base,
        }
    }

    /// A round-trip time (section 5; appendix A.7, UpdateRtt).
    pub(super) fn measure(&mut self, latest: Span, ack_delay: Span, now: Time) {
        self.latest = latest;
        self.report.record_rtt(latest);
        let Some(smoothed) = self.smoothed else {
            self.least = Some(latest);
            self.smoothed = Some(latest);
            self.variance = latest / 2;
            self.first_sample = now;
            return;
        };
        let least = self.least.map_or(latest, |least| least.min(latest));
        self.least = Some(least);
        let delay = ack_delay.min(self.params.max_ack_delay);
        let adjusted = match latest >= least + delay {
            true => latest - delay,
            false => latest,
        };
        let apart = match smoothed > adjusted {
            true => smoothed - adjusted,
            false => adjusted - smoothed,
        };
        self.variance = (self.variance * 3 + apart) / 4;
        self.smoothed = Some((smoothed * 7 + adjusted) / 8);
    }

    /// The earliest time at which a packet below the largest acknowledged is lost.
    fn loss_time(&self) -> Option<Time> {
        let largest = self.largest_acked?;
        let wait = self.loss_delay();
        let below = usize::try_from(largest.checked_sub(self.base)?).ok()?;
        // Packets are in the order in which they were sent.
        let mut before = self.flights.iter().take(below);
        let first = before.find(|flight| flight.fate == Fate::Outstanding)?;
        Some(first.sent + wait)
    }

    pub(super) fn loss_delay(&self) -> Span {
        let rtt = self.latest.max(self.srtt());
        Span::round_from_secs(rtt.as_secs_f64() * self.time_threshold).max(self.params.granularity)
    }

    pub(super) fn set_timer<H: Host>(&mut self, host: &mut H) {
        if !self.established {
            return;
        }
        if let Some(at) = self.loss_time() {
            self.timers.set(LOSS, at.max(host.now()), host);
        } else if self.in_flight > 0 {
            let wait = self
                .probe_timeout()
                .saturating_mul(1 << self.probes.min(20));
            let at = self.last_sent.saturating_add(wait).max(host.now());
            self.timers.set(LOSS, at, host);
        } else {
            self.timers.clear(LOSS);
        }
    }

    pub(super) fn on_timer<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        if !self.established {
            self.probes += 1;
            self.report.handshake_retransmissions += 1;
            self.send_handshake(host);
            return;
        }
        if self.loss_time().is_some_and(|at| at <= now) {
            let before = self.lost_total;
            self.detect(now);
            if self.traits.model && self.lost_total > before {
                let sample = Sample {
                    newly_lost: self.lost_total - before,
                    ..self.sample_of(now)
                };
                self.cc.on_model(&sample);
            }
            self.send(host);
            return;
        }
        if self.in_flight == 0 {
            return;
        }
        // Nothing is lost by that: a packet asks for an acknowledgement (section 6.2.4).
        self.probes += 1;
        self.report.timeouts += 1;
        let probe = self.pick().or_else(|| {
            let oldest = self.flights.iter().find(|f| f.fate == Fate::Outstanding)?;
            Some((oldest.offset, oldest.bytes, true))
        });
        if let Some((offset, bytes, retransmission)) = probe {
            self.transmit(offset, bytes, retransmission, host);
        }
        self.suspect = self.in_flight;
        self.suspect_to = self.base + u64::try_from(self.flights.len()).unwrap_or(u64::MAX);
        self.set_timer(host);
    }
}
