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

/// What both use, by the names of RFC 9406 section 4.3. Times are microseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Segments below which HyStart does not look (hystart_low_window of tcp_cubic.c).
    pub(crate) low_window: u64,
    /// Number of delay samples in a round before it is evaluated (N_RTT_SAMPLE).
    pub(crate) n_rtt_sample: u32,
    /// Minimum rise of the delay that ends slow start (MIN_RTT_THRESH).
    pub(crate) min_rtt_thresh: u64,
    /// Maximum rise that is required (MAX_RTT_THRESH).
    pub(crate) max_rtt_thresh: u64,
    /// Divisor of the delay that gives the required rise between these bounds (MIN_RTT_DIVISOR).
    pub(crate) min_rtt_divisor: u64,
    /// Acknowledgements closer than this form a train (hystart_ack_delta_us of tcp_cubic.c).
    pub(crate) train_gap: u64,
    /// Number of rounds of conservative slow start (CSS_ROUNDS).
    pub(crate) css_rounds: u32,
    /// How much slower the window grows in it (CSS_GROWTH_DIVISOR).
    pub(crate) css_growth_divisor: u64,
}

impl Rules {
    /// RttThresh of RFC 9406 section 4.2: the delay over MIN_RTT_DIVISOR, within MIN_RTT_THRESH and MAX_RTT_THRESH.
    fn rtt_thresh(&self, delay: u64) -> u64 {
        // Whichever is greater of the bounds, neither is passed from the other side.
        (delay / self.min_rtt_divisor)
            .max(self.min_rtt_thresh)
            .min(self.max_rtt_thresh.max(self.min_rtt_thresh))
    }
}

/// HyStart as in Linux.
#[derive(Clone, Debug)]
pub(crate) struct HyStart {
    rules: Rules,
    /// The round ends when more than this byte is acknowledged; at first, with any.
    end: u64,
    /// When the round began, and the last acknowledgement of its train came; microseconds.
    round_start: u64,
    /// When the last acknowledgement of its train came, microseconds.
    last_ack: u64,
    /// The least delay of the round, microseconds.
    least: u64,
    /// Samples in it.
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
        if self.samples < self.rules.n_rtt_sample {
            self.samples += 1;
        } else {
            self.found |= self.least > least + self.rules.rtt_thresh(least);
        }
        self.found
    }
}

fn now_us(now: Time) -> u64 {
    now.as_ps() / 1_000_000
}

/// HyStart++ (RFC 9406). Delays are microseconds, `u64::MAX` where there is none (infinity in section 4.2).
#[derive(Clone, Debug)]
pub(crate) struct HyStartPlus {
    rules: Rules,
    /// The round ends when more than this byte is acknowledged (windowEnd).
    window_end: u64,
    /// Samples in this round (rttSampleCount).
    rtt_sample_count: u32,
    /// The least delay of this round (currentRoundMinRTT).
    current_round_min_rtt: u64,
    /// That of the last one (lastRoundMinRTT).
    last_round_min_rtt: u64,
    /// That of the round in which conservative slow start began (cssBaselineMinRtt).
    css_baseline_min_rtt: u64,
    /// Rounds of conservative slow start that are over.
    css_rounds: u32,
    /// In conservative slow start (CSS).
    in_css: bool,
    done: bool,
}

impl HyStartPlus {
    pub(crate) fn new(rules: Rules) -> HyStartPlus {
        HyStartPlus {
            rules,
            window_end: 0,
            rtt_sample_count: 0,
            current_round_min_rtt: u64::MAX,
            last_round_min_rtt: u64::MAX,
            css_baseline_min_rtt: u64::MAX,
            css_rounds: 0,
            in_css: false,
            done: false,
        }
    }

    /// By how much less than in slow start the window grows now (RFC 9406 section 4.2: in CSS by CSS_GROWTH_DIVISOR).
    pub(crate) fn divisor(&self) -> u64 {
        match self.in_css {
            true => self.rules.css_growth_divisor,
            false => 1,
        }
    }

    /// An acknowledgement in slow start (RFC 9406 section 4.2). True if slow start is to end.
    pub(crate) fn on_sample(&mut self, sample: &Sample) -> bool {
        if self.done {
            return false;
        }
        let mut ends = false;
        if sample.una > self.window_end {
            // RFC 9406 section 4.2: CSS lasts CSS_ROUNDS rounds, then congestion avoidance begins.
            if self.in_css {
                self.css_rounds += 1;
                ends = self.css_rounds >= self.rules.css_rounds;
            }
            // RFC 9406 section 4.2: a round begins, and remembers the least delay of the last one.
            self.window_end = sample.next;
            self.last_round_min_rtt = self.current_round_min_rtt;
            self.current_round_min_rtt = u64::MAX;
            self.rtt_sample_count = 0;
        }
        if let Some(rtt) = sample.rtt {
            self.current_round_min_rtt = self.current_round_min_rtt.min(micros(rtt));
            self.rtt_sample_count += 1;
        }
        let (current, last) = (self.current_round_min_rtt, self.last_round_min_rtt);
        let judged = self.rtt_sample_count >= self.rules.n_rtt_sample;
        if judged && current != u64::MAX && last != u64::MAX {
            if !self.in_css {
                // RFC 9406 section 4.2: a delay that has risen by RttThresh since the last round begins CSS.
                if current >= last.saturating_add(self.rules.rtt_thresh(last)) {
                    self.in_css = true;
                    self.css_rounds = 0;
                    self.css_baseline_min_rtt = current;
                }
            } else if current < self.css_baseline_min_rtt {
                // RFC 9406 section 4.2: it was jitter, slow start goes on.
                self.in_css = false;
                self.css_baseline_min_rtt = u64::MAX;
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
            n_rtt_sample: 4,
            ..rules()
        };
        let steep = Rules {
            min_rtt_thresh: 8_000,
            ..rules()
        };
        let coarse = Rules {
            min_rtt_divisor: 4,
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
            css_growth_divisor: 2,
            css_rounds: 1,
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
