//! Leaving slow start before it overflows the path.
//!
//! Sources: HyStart (Ha and Rhee 2011) as Linux 6.1 has it: acknowledgement trains and delay; HyStart++ (RFC 9406 sections 4.2 and 4.3), for the
//! first slow start only.
//! Deviations: the bytes of an acknowledgement that count in slow start have the transport's bound, not that of eight segments where segments are not
//! spaced (RFC 9406 section 4.3, L). HyStart's allowance for segments that leave a host in one piece is its greatest, a millisecond.

use crate::Sample;
use crate::num::micros;
use sojourn_units::Time;

/// The time that a train may be longer than the delay, microseconds.
const TRAIN_SLACK: u64 = 1_000;

/// What both use; times in microseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Segments below which HyStart does not look.
    pub(crate) low_window: u64,
    /// Samples of delay in a round before it is judged.
    pub(crate) samples: u32,
    /// Bounds of the rise in delay that ends slow start, and the part of the delay that it is between them.
    pub(crate) least_rise: u64,
    pub(crate) most_rise: u64,
    pub(crate) rise_divisor: u64,
    /// Acknowledgements closer than this form a train.
    pub(crate) train_gap: u64,
    /// Rounds of conservative slow start, and how much slower it is.
    pub(crate) slow_rounds: u32,
    pub(crate) slower: u64,
}

impl Rules {
    fn rise(&self, delay: u64) -> u64 {
        // Whichever is greater of the bounds, neither is passed from the other side.
        (delay / self.rise_divisor)
            .max(self.least_rise)
            .min(self.most_rise.max(self.least_rise))
    }
}

/// HyStart as in Linux.
#[derive(Clone, Debug)]
pub(crate) struct HyStart {
    rules: Rules,
    /// The round ends when more than this byte is acknowledged; at first, with any.
    end: u64,
    round_start: u64,
    last_ack: u64,
    least: u64,
    samples: u32,
    found: bool,
}

impl HyStart {
    /// A new connection.
    pub(crate) fn new(rules: Rules) -> HyStart {
        HyStart {
            rules,
            end: 0,
            round_start: 0,
            last_ack: 0,
            least: 0,
            samples: 0,
            found: false,
        }
    }

    /// Slow start after a timeout.
    pub(crate) fn restart(&mut self) {
        *self = HyStart::new(self.rules);
    }

    fn round(&mut self, sample: &Sample) {
        self.round_start = now_us(sample.now);
        self.last_ack = self.round_start;
        self.end = sample.next;
        self.least = u64::MAX;
        self.samples = 0;
    }

    /// A delay was measured in slow start with a window of `segments`; `least` is the shortest ever. All in
    /// microseconds. True if slow start is to end.
    pub(crate) fn on_delay(
        &mut self,
        sample: &Sample,
        segments: u64,
        delay: u64,
        least: u64,
    ) -> bool {
        if self.found {
            return false;
        }
        if sample.una > self.end {
            self.round(sample);
        }
        if segments < self.rules.low_window {
            return false;
        }
        let now = now_us(sample.now);
        if now - self.last_ack <= self.rules.train_gap {
            self.last_ack = now;
            self.found |= now - self.round_start > (least + TRAIN_SLACK) / 2;
        }
        self.least = self.least.min(delay);
        if self.samples < self.rules.samples {
            self.samples += 1;
        } else {
            self.found |= self.least > least + self.rules.rise(least);
        }
        self.found
    }
}

fn now_us(now: Time) -> u64 {
    now.as_ps() / 1_000_000
}

/// HyStart++.
#[derive(Clone, Debug)]
pub(crate) struct HyStartPlus {
    rules: Rules,
    end: u64,
    samples: u32,
    current: u64,
    last: u64,
    /// The least delay of the round in which conservative slow start began.
    baseline: u64,
    slow_rounds: u32,
    slow: bool,
    done: bool,
}

impl HyStartPlus {
    pub(crate) fn new(rules: Rules) -> HyStartPlus {
        HyStartPlus {
            rules,
            end: 0,
            samples: 0,
            current: u64::MAX,
            last: u64::MAX,
            baseline: u64::MAX,
            slow_rounds: 0,
            slow: false,
            done: false,
        }
    }

    /// By how much less than in slow start the window grows now.
    pub(crate) fn divisor(&self) -> u64 {
        if self.slow { self.rules.slower } else { 1 }
    }

    /// An acknowledgement in slow start (RFC 9406 section 4.2). True if slow start is to end.
    pub(crate) fn on_sample(&mut self, sample: &Sample) -> bool {
        if self.done {
            return false;
        }
        let mut ends = false;
        if sample.una > self.end {
            // A round is over.
            if self.slow {
                self.slow_rounds += 1;
                ends = self.slow_rounds >= self.rules.slow_rounds;
            }
            self.end = sample.next;
            self.last = self.current;
            self.current = u64::MAX;
            self.samples = 0;
        }
        if let Some(rtt) = sample.rtt {
            self.current = self.current.min(micros(rtt));
            self.samples += 1;
        }
        if self.samples >= self.rules.samples && self.current != u64::MAX && self.last != u64::MAX {
            if !self.slow {
                if self.current >= self.last.saturating_add(self.rules.rise(self.last)) {
                    self.slow = true;
                    self.slow_rounds = 0;
                    self.baseline = self.current;
                }
            } else if self.current < self.baseline {
                // It was jitter: slow start goes on.
                self.slow = false;
                self.baseline = u64::MAX;
            }
        }
        self.done = ends;
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cubic::CubicParams;
    use sojourn_units::Span;

    fn rules() -> Rules {
        CubicParams::default().rules()
    }

    fn sample(us: u64, una: u64, next: u64, rtt_us: u64) -> Sample {
        Sample {
            now: Time::ZERO + Span::from_us(us),
            una,
            next,
            rtt: Some(Span::from_us(rtt_us)),
            ..Sample::default()
        }
    }

    #[test]
    fn a_train_longer_than_half_the_delay_ends_slow_start() {
        let mut hystart = HyStart::new(rules());
        let found = (0..30).find(|n| {
            let us = 100_000 + 1000 * n;
            hystart.on_delay(&sample(us, 1, 100, 40_000), 20, 40_000, 40_000)
        });
        // More than (40 + 1) / 2 ms after the round began.
        assert_eq!(found, Some(21));
    }

    #[test]
    fn the_first_round_begins_with_a_window_of_sixteen_segments() {
        // Acknowledgements 5 ms apart, delays of 46 ms: from the seventh on the window is large enough, and eight more are waited for.
        let mut hystart = HyStart::new(rules());
        let found = (0..30).find(|n| {
            let us = 100_000 + 5000 * n;
            hystart.on_delay(&sample(us, 1 + n, 100, 46_000), 10 + n, 46_000, 40_000)
        });
        assert_eq!(found, Some(14));
    }

    #[test]
    fn a_delay_that_has_risen_by_an_eighth_ends_slow_start_after_eight_samples() {
        let mut hystart = HyStart::new(rules());
        let found = (0..30).find(|n| {
            let us = 100_000 + 5000 * n;
            hystart.on_delay(&sample(us, 1, 100, 46_000), 20, 46_000, 40_000)
        });
        assert_eq!(found, Some(8));
        hystart.restart();
        assert!(!hystart.on_delay(&sample(0, 1, 100, 46_000), 15, 46_000, 40_000));
    }

    #[test]
    fn conservative_slow_start_lasts_five_rounds_or_until_the_delay_falls() {
        let run = |delays: &[u64]| {
            let mut plus = HyStartPlus::new(rules());
            let mut slow = Vec::new();
            for (round, &delay) in (0u64..).zip(delays) {
                for n in 0..10 {
                    let una = 1 + round * 100 + n;
                    if plus.on_sample(&sample(0, una, 101 + round * 100 - 1, delay)) {
                        return (slow, true);
                    }
                }
                slow.push(plus.divisor() == 4);
            }
            (slow, false)
        };
        let (slow, ended) = run(&[40_000, 46_000, 46_000, 46_000, 46_000, 46_000, 46_000]);
        assert_eq!(slow, [false, true, true, true, true, true]);
        assert!(ended);
        let (slow, ended) = run(&[40_000, 46_000, 41_000, 41_000]);
        assert_eq!((slow, ended), (vec![false, true, false, false], false));
    }

    #[test]
    fn each_parameter_moves_what_it_names() {
        let found = |rules: Rules, delay| {
            let mut hystart = HyStart::new(rules);
            (0..40).find(|n| {
                let us = 100_000 + 5000 * n;
                hystart.on_delay(&sample(us, 1, 100, delay), 20, delay, 40_000)
            })
        };
        let few = Rules {
            samples: 4,
            ..rules()
        };
        let steep = Rules {
            least_rise: 8_000,
            ..rules()
        };
        let coarse = Rules {
            rise_divisor: 4,
            ..rules()
        };
        let high = Rules {
            low_window: 21,
            ..rules()
        };
        assert_eq!(
            (found(rules(), 46_000), found(few, 46_000)),
            (Some(8), Some(4))
        );
        for rules in [steep, coarse, high] {
            assert_eq!(found(rules, 46_000), None, "{rules:?}");
        }
        let loose = Rules {
            train_gap: 6_000,
            ..rules()
        };
        assert_eq!(found(loose, 40_000), Some(5));
        let mut plus = HyStartPlus::new(Rules {
            slower: 2,
            slow_rounds: 1,
            ..rules()
        });
        let mut seen = Vec::new();
        for (round, delay) in (0_u64..).zip([40_000, 46_000, 46_000]) {
            let ended = (0..10)
                .any(|n| plus.on_sample(&sample(0, 1 + round * 100 + n, 100 + round * 100, delay)));
            seen.push((plus.divisor(), ended));
        }
        assert_eq!(seen, [(1, false), (2, false), (2, true)]);
    }
}
