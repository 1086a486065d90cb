//! What an interval is worth.

use crate::aqm::AqmInterval;
use crate::control::ControlInterval;
use sojourn_units::choice;

/// The least utilization that a logarithm is taken of.
const LEAST: f64 = 0.01;

/// The reward of an AQM: `throughput ln(utilization) - delay ln(1 + queue delay / reference) - loss (share of packets dropped)`.
///
/// Source: Winstein and Balakrishnan, "TCP ex Machina" (SIGCOMM 2013), section 3.3: log(throughput) - delta log(delay); the delay is that
/// of a path whose other delays are `reference` together. Utilization is at least 0.01 and at most 1 here.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AqmReward {
    /// Weight of the throughput.
    pub throughput: f64,
    /// Weight of the delay.
    pub delay: f64,
    /// Weight of the losses.
    pub loss: f64,
    /// A queue of this delay, in seconds, doubles the delay of a path.
    pub reference: f64,
}

impl Default for AqmReward {
    fn default() -> AqmReward {
        AqmReward {
            throughput: 1.0,
            delay: 1.0,
            loss: 0.0,
            reference: 0.02,
        }
    }
}

impl AqmReward {
    pub(crate) fn of(&self, interval: &AqmInterval) -> f64 {
        let used = interval.utilization().clamp(LEAST, 1.0);
        let delay = 1.0 + interval.queue_delay / self.reference.max(1e-9);
        self.throughput * libm::log(used)
            - self.delay * libm::log(delay)
            - self.loss * interval.dropped_share()
    }
}

choice! {
    /// How the reward of a controller is computed.
    pub enum ControlForm {
        /// `throughput ln(delivery rate / rate of the path) - delay ln(rtt / shortest rtt) - loss (share lost)`.
        Power = "power",
        /// `(throughput (packets per second) - delay (rtt in seconds) - loss (share lost)) / 1000`.
        Linear = "linear",
    }
}

/// The reward of a controller.
///
/// Sources: power: Winstein and Balakrishnan 2013, section 3.3, with the share of the path's rate for the throughput, at least 0.01; linear: Jay, Rotman,
/// Godfrey, Schapira and Tamar, "A Deep Reinforcement Learning Perspective on Internet Congestion Control" (Aurora, ICML 2019),
/// section 3.1: weights 10, 1000 and 2000.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ControlReward {
    /// Which of the two.
    pub form: ControlForm,
    /// Weight of the throughput.
    pub throughput: f64,
    /// Weight of the delay.
    pub delay: f64,
    /// Weight of the losses.
    pub loss: f64,
}

impl ControlReward {
    /// With the weights of its source.
    pub fn new(form: ControlForm) -> ControlReward {
        let (throughput, delay, loss) = match form {
            ControlForm::Power => (1.0, 1.0, 1.0),
            ControlForm::Linear => (10.0, 1000.0, 2000.0),
        };
        ControlReward {
            form,
            throughput,
            delay,
            loss,
        }
    }

    /// On a path that sends `path` bits per second.
    pub(crate) fn of(&self, interval: &ControlInterval, path: f64) -> f64 {
        let lost = self.loss * interval.lost_share();
        match self.form {
            ControlForm::Power => {
                let used = (interval.delivery_rate / path.max(1.0)).max(LEAST);
                self.throughput * libm::log(used)
                    - self.delay * libm::log(interval.rtt_ratio())
                    - lost
            }
            ControlForm::Linear => {
                let packets = interval.delivery_rate / (8.0 * interval.mss.max(1.0));
                (self.throughput * packets - self.delay * interval.rtt - lost) / 1000.0
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_aqm_is_paid_for_use_and_pays_for_delay_and_loss() {
        let reward = AqmReward {
            loss: 0.5,
            ..AqmReward::default()
        };
        let mut interval = AqmInterval {
            capacity: 1000.0,
            departed: 1000.0,
            arrived_packets: 10.0,
            ..AqmInterval::default()
        };
        assert!(reward.of(&interval).abs() < 1e-12);
        interval.queue_delay = 0.02;
        assert!((reward.of(&interval) + libm::log(2.0)).abs() < 1e-12);
        interval.dropped_packets = 5.0;
        assert!((reward.of(&interval) + libm::log(2.0) + 0.25).abs() < 1e-12);
        interval.departed = 0.0;
        assert!((reward.of(&interval) + libm::log(200.0) + 0.25).abs() < 1e-9);
    }

    #[test]
    fn the_linear_reward_is_auroras() {
        let interval = ControlInterval {
            delivery_rate: 800_000.0,
            rtt: 0.1,
            min_rtt: 0.05,
            mss: 1000.0,
            delivered: 90.0,
            lost: 10.0,
            ..ControlInterval::default()
        };
        let linear = ControlReward::new(ControlForm::Linear);
        assert!((linear.of(&interval, 0.0) - 0.7).abs() < 1e-9);
        let power = ControlReward::new(ControlForm::Power);
        let expected = libm::log(0.5) - libm::log(2.0) - 0.1;
        assert!((power.of(&interval, 1_600_000.0) - expected).abs() < 1e-9);
    }
}
