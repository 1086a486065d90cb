//! What RED in floating point sets by itself: weight, thresholds and bounds when it is first used, and `max_p` as the load
//! changes (ARED, RARED, Feng).

use super::float::{FloatRed, Rules, Side};
use crate::aqm::float;
use sojourn_units::{Rate, Time};

impl FloatRed {
    /// Makes the automatic settings for a link of this rate.
    #[inline]
    pub(super) fn settle(&mut self, link: Rate) {
        if !self.settled {
            self.settle_now(link);
        }
    }

    #[cold]
    pub(super) fn settle_now(&mut self, link: Rate) {
        self.settled = true;
        let params = &self.params;
        let rate = params.bandwidth.unwrap_or(link);
        self.rate = rate.as_bps();
        // Packets per second.
        let capacity = rate.as_bps_f64() / (8.0 * float(self.unit.avpkt));
        if params.weight.is_none() {
            let packets = if self.rules == Rules::Ns2 {
                let rtt = 3.0 * (params.link_delay.as_secs_f64() + 1.0 / capacity);
                10.0 * rtt.max(NS2_LEAST_RTT_S) * capacity
            } else {
                capacity
            };
            self.weight = 1.0 - libm::exp(-1.0 / packets);
        }
        if params.min.is_none() {
            let target = params.target_delay.as_secs_f64() * capacity;
            self.min = LEAST_MIN_PACKETS.max(target / 2.0) * self.unit.packet();
        }
        if params.max.is_none() {
            self.max = 3.0 * self.min;
        }
        self.bottom = params.bottom.unwrap_or_else(|| {
            let packet_bits = match self.rules {
                Rules::Ns3 => 8.0 * float(self.unit.avpkt),
                Rules::Ns2 | Rules::Paper => 8000.0,
            };
            (packet_bits / (USUAL_RTT_S * rate.as_bps_f64())).min(USUAL_BOTTOM)
        });
        self.ceiling = if params.gentle {
            2.0 * self.max
        } else {
            self.max
        };
        // ns-2 and ns-3 keep this line when `max_p` adapts.
        self.gentle = ((1.0 - self.max_p) / self.max, 2.0 * self.max_p - 1.0);
    }

    /// ns-2 and ns-3 adapt on the first arrival after an interval.
    #[inline]
    pub(super) fn adapt_on_arrival(&mut self, now: Time) {
        if self.params.adaptive && now.since(self.last_adapted) > self.params.interval {
            let before = self.max_p;
            self.adapt_to_band();
            if self.max_p.to_bits() != before.to_bits() {
                self.last_adapted = now;
            }
        }
    }

    /// Feng's rule: changes `max_p` once each time that the average leaves the band between the thresholds.
    pub(super) fn adapt_by_side(&mut self) {
        if self.min < self.average && self.average < self.max {
            self.side = Side::Between;
        } else if self.average < self.min && self.side != Side::Below {
            self.side = Side::Below;
            self.max_p /= self.params.feng_alpha;
        } else if self.average > self.max && self.side != Side::Above {
            self.side = Side::Above;
            self.max_p *= self.params.feng_beta;
        }
    }

    /// Moves `max_p` so that the average returns to the middle fifth between the thresholds, in RARED to the middle
    /// twenty-fifth.
    pub(super) fn adapt_to_band(&mut self) {
        let refined = self.params.refined;
        let margin = if refined { 0.48 } else { 0.4 } * (self.max - self.min);
        let (low, high) = (self.min + margin, self.max - margin);
        // The papers' pseudo-code lets it move at the bounds themselves, ns-2 and ns-3 do not.
        let paper = self.rules == Rules::Paper;
        let (top, bottom) = (self.params.top, self.bottom);
        let may_shrink = self.max_p > bottom || (paper && self.max_p >= bottom);
        let may_grow = self.max_p < top || (paper && self.max_p <= top);
        if self.average < low && may_shrink {
            self.max_p *= match refined {
                true => 1.0 - 0.17 * (low - self.average) / (low - self.min),
                false => self.params.beta,
            };
        } else if self.average > high && may_grow {
            self.max_p += match refined {
                true => 0.25 * self.max_p * (self.average - high) / high,
                false => self.params.alpha.min(0.25 * self.max_p),
            };
        }
    }
}

/// Round-trip time that the automatic settings suppose.
const USUAL_RTT_S: f64 = 0.1;
const NS2_LEAST_RTT_S: f64 = 0.1;
const USUAL_BOTTOM: f64 = 0.01;
const LEAST_MIN_PACKETS: f64 = 5.0;
