//! The retransmission timeout. Source: RFC 6298 sections 2, 4 and 5, RFC 7323 appendix G; for [`RtoSpread::Peak`] the behaviour of Linux 6.1 (tcp_rtt_estimator).
//!
//! Arithmetic is in whole picoseconds; each division by 4 or 8 rounds down.
//!
//! A back-off lasts until a segment that was sent once is measured (the end of section 5, and Karn's algorithm, section 3), as in Linux 6.1 and in BSD without
//! timestamps. Acknowledgements of what was sent again do not end it: a path on which every segment has to be sent twice may be slower than the timer.
//!
//! Deviation: after a lost SYN the timeout is three seconds, also where it was longer to begin with (section 5.7 asks for that where it was shorter).

use super::params::{RtoFloor, RtoSpread, TcpParams};
use sojourn_units::Span;

/// The estimator and the timeout with its back-off.
#[derive(Clone, Debug)]
pub(crate) struct Rto {
    /// Zero before the first sample.
    srtt: Span,
    rttvar: Span,
    rto: Span,
    min: Span,
    max: Span,
    granularity: Span,
    floor: RtoFloor,
    peak: Option<Box<Peak>>,
}

/// The greatest deviation of a round trip; spans are four times the mean deviation.
#[derive(Clone, Debug)]
struct Peak {
    /// What is added to the smoothed round-trip time.
    spread: Span,
    /// The greatest in the round trip at hand, never below the least spread.
    greatest: Span,
    /// The round trip is over when more is acknowledged than this byte.
    until: u64,
}

impl Peak {
    /// The deviation after a sample.
    fn deviation(rttvar: Span, srtt: Span, rtt: Span) -> Span {
        match rtt.checked_sub(srtt) {
            Some(longer) => rttvar - rttvar / 4 + longer / 4,
            None => {
                let shorter = srtt - rtt;
                match shorter.checked_sub(rttvar) {
                    Some(more) => rttvar + more / 32,
                    None => rttvar - (rttvar - shorter) / 4,
                }
            }
        }
    }

    fn take(&mut self, rttvar: Span, least: Span, una: u64, nxt: u64) {
        self.greatest = self.greatest.max(4 * rttvar);
        self.spread = self.spread.max(self.greatest);
        if una > self.until {
            self.spread -= self.spread.saturating_sub(self.greatest) / 4;
            self.until = nxt;
            self.greatest = least;
        }
    }
}

/// The weight of one of several samples in a round trip. A part is found by a product: the number of samples changes seldom, and a division by it takes long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampleWeight {
    expected: u64,
    /// 2^64 over that, rounded up; 0 for one part.
    inverse: u64,
}

impl SampleWeight {
    pub(crate) fn of(expected: u64) -> SampleWeight {
        SampleWeight {
            expected,
            inverse: match expected {
                0 | 1 => 0,
                more => u64::MAX / more + 1,
            },
        }
    }

    /// The same for another number, found anew only where it is another.
    #[inline]
    pub(crate) fn follow(&mut self, expected: u64) -> SampleWeight {
        if self.expected != expected {
            *self = SampleWeight::of(expected);
        }
        *self
    }

    /// The part of a span, rounded down.
    #[inline]
    fn of_span(self, span: Span) -> Span {
        let ps = span.as_ps();
        if self.inverse == 0 {
            span
        } else if (ps >> 44) == 0 && (self.expected >> 16) == 0 {
            // The inverse is too large by less than one, and so the product by less than what the quotient may lack to the next.
            let product = u128::from(ps) * u128::from(self.inverse);
            Span::from_ps(u64::try_from(product >> 64).unwrap_or(u64::MAX))
        } else {
            span / self.expected
        }
    }
}

impl Rto {
    pub(crate) fn new(params: &TcpParams) -> Rto {
        Rto {
            srtt: Span::ZERO,
            rttvar: Span::ZERO,
            rto: params.initial_rto.min(params.max_rto),
            min: params.min_rto.min(params.max_rto),
            max: params.max_rto,
            granularity: params.granularity,
            floor: params.rto_floor,
            peak: (params.rto_spread == RtoSpread::Peak).then(|| {
                Box::new(Peak {
                    spread: Span::ZERO,
                    greatest: Span::ZERO,
                    until: 0,
                })
            }),
        }
    }

    /// The timeout to arm the timer with.
    #[inline]
    pub(crate) fn timeout(&self) -> Span {
        self.rto
    }

    /// The smoothed round-trip time, if a sample was taken.
    pub(crate) fn srtt(&self) -> Option<Span> {
        (!self.srtt.is_zero()).then_some(self.srtt)
    }

    /// Takes a sample, of a segment that was sent once (Karn's algorithm, section 3). It ends the back-off. `una` and `nxt` are the first byte that is not
    /// acknowledged, and the next to send.
    pub(crate) fn sample(&mut self, rtt: Span, una: u64, nxt: u64) {
        self.sample_of(SampleWeight::of(1), rtt, una, nxt);
    }

    /// The same for one of the samples that are expected in a round trip, so that the history does not shorten (RFC 7323 section 4.2 and appendix G).
    pub(crate) fn sample_of(&mut self, weight: SampleWeight, rtt: Span, una: u64, nxt: u64) {
        if self.srtt.is_zero() {
            // RFC 6298 section 2.2: the first sample is the mean, half of it the deviation.
            self.srtt = rtt;
            self.rttvar = rtt / 2;
            if let Some(peak) = &mut self.peak {
                peak.spread = (4 * self.rttvar).max(self.min);
                peak.greatest = peak.spread;
                peak.until = nxt;
            }
        } else if let Some(peak) = &mut self.peak {
            self.rttvar = Peak::deviation(self.rttvar, self.srtt, rtt);
            self.srtt = self.srtt - self.srtt / 8 + rtt / 8;
            peak.take(self.rttvar, self.min, una, nxt);
        } else {
            // Section 2.3: an eighth of the mean and a quarter of the deviation are new, the deviation first.
            let error = Span::from_ps(self.srtt.as_ps().abs_diff(rtt.as_ps()));
            self.rttvar = self.rttvar - weight.of_span(self.rttvar / 4) + weight.of_span(error / 4);
            self.srtt = self.srtt - weight.of_span(self.srtt / 8) + weight.of_span(rtt / 8);
        }
        self.end_back_off();
    }

    /// A sample in whole nanoseconds, as ns-3 has it (rtt-estimator.cc, IntegerUpdate).
    pub(crate) fn sample_as_ns3(&mut self, rtt: Span) {
        if self.srtt.is_zero() {
            self.srtt = rtt;
            self.rttvar = rtt / 2;
        } else {
            let (srtt, var, rtt) = (self.srtt.as_ns(), self.rttvar.as_ns(), rtt.as_ns());
            self.srtt = Span::from_ns((7 * srtt + rtt) / 8);
            self.rttvar = Span::from_ns((3 * var + srtt.abs_diff(rtt)) / 4);
        }
        self.end_back_off();
    }

    /// The timeout is again what the samples say.
    pub(crate) fn end_back_off(&mut self) {
        let spread = match &self.peak {
            Some(peak) => peak.spread,
            None => 4 * self.rttvar,
        };
        // Sections 2.3 to 2.5: the mean and four deviations, at least the granularity, between the bounds.
        let spread = spread.max(self.granularity);
        let rto = match self.floor {
            RtoFloor::Whole => (self.srtt + spread).max(self.min),
            RtoFloor::Variance => self.srtt + spread.max(self.min),
        };
        self.rto = rto.min(self.max);
    }

    /// The timer has fired: the timeout doubles (section 5.5).
    pub(crate) fn back_off(&mut self) {
        self.rto = self.rto.saturating_mul(2).min(self.max);
    }

    /// Data begins after a SYN was lost, and the handshake has measured nothing: the timeout is `rto` (section 5.7), if there is such a rule.
    pub(crate) fn restart_after_lost_syn(&mut self, rto: Option<Span>) {
        if let Some(rto) = rto {
            self.rto = rto.max(self.min).min(self.max);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::Params;

    fn rto(pairs: &[(&str, &str)]) -> Rto {
        let mut params = TcpParams::default();
        for (key, value) in pairs {
            params.set(key, value).unwrap();
        }
        Rto::new(&params)
    }

    fn ms(ms: u64) -> Span {
        Span::from_ms(ms)
    }

    #[test]
    fn the_first_sample_gives_three_times_itself() {
        let mut rto = rto(&[("min_rto", "0s")]);
        assert_eq!((rto.timeout(), rto.srtt()), (ms(1000), None));
        rto.sample(ms(80), 1, 1);
        assert_eq!((rto.timeout(), rto.srtt()), (ms(240), Some(ms(80))));
    }

    #[test]
    fn later_samples_are_weighed_by_an_eighth_and_a_quarter() {
        let mut rto = rto(&[("min_rto", "0s")]);
        rto.sample(ms(80), 1, 1);
        rto.sample(ms(160), 1, 1);
        // rttvar = 3/4 40 + 1/4 80 = 50, srtt = 7/8 80 + 1/8 160 = 90.
        assert_eq!((rto.timeout(), rto.srtt()), (ms(290), Some(ms(90))));
    }

    #[test]
    fn a_share_by_a_product_is_that_by_a_division() {
        let mut rng = sojourn_sim::Stream::derive(1, 0, "share");
        for _ in 0..20_000 {
            let (few, long) = (rng.below(18), 1 + rng.below(46));
            let expected = 1 + rng.below(1 << few);
            let weight = SampleWeight::of(1).follow(expected);
            let any = rng.below(1 << long);
            for ps in [
                any,
                any / expected * expected,
                (any / expected * expected).saturating_sub(1),
            ] {
                let span = Span::from_ps(ps);
                assert_eq!(weight.of_span(span), span / expected, "{ps} / {expected}");
            }
        }
    }

    #[test]
    fn ten_samples_of_a_round_trip_weigh_about_what_one_does() {
        let after = |times, expected| {
            let mut rto = rto(&[("min_rto", "0s")]);
            rto.sample(ms(80), 1, 1);
            (0..times).for_each(|_| rto.sample_of(SampleWeight::of(expected), ms(160), 1, 1));
            rto.srtt().unwrap()
        };
        assert_eq!(after(1, 1), ms(90));
        let many = after(10, 10);
        assert!(many > ms(89) && many < ms(90), "{many}");
    }

    #[test]
    fn the_minimum_bounds_the_timeout_or_its_spread() {
        let mut whole = rto(&[("min_rto", "200ms")]);
        let mut spread = rto(&[("min_rto", "200ms"), ("rto_floor", "variance")]);
        for _ in 0..100 {
            whole.sample(ms(40), 1, 1);
            spread.sample(ms(40), 1, 1);
        }
        assert_eq!(whole.timeout(), ms(200));
        // Rounding down leaves the smoothed time a few picoseconds short.
        assert!(ms(240) - spread.timeout() < Span::from_ns(1));
    }

    #[test]
    fn the_granularity_is_the_least_spread() {
        let mut rto = rto(&[("min_rto", "0s"), ("granularity", "100ms")]);
        rto.sample(ms(8), 1, 1);
        assert_eq!(rto.timeout(), ms(108));
    }

    #[test]
    fn back_off_doubles_to_the_maximum_and_a_sample_ends_it() {
        let mut rto = rto(&[("max_rto", "3s")]);
        rto.back_off();
        assert_eq!(rto.timeout(), ms(2000));
        rto.back_off();
        assert_eq!(rto.timeout(), ms(3000));
        rto.sample(ms(100), 1, 1);
        assert_eq!(rto.timeout(), ms(1000));
    }

    /// Linux 6.1's figures worked out by hand from the rules in its comments.
    #[test]
    fn the_peak_of_a_round_trip_rises_at_once_and_falls_by_a_quarter_per_round_trip() {
        let mut rto = rto(&[
            ("min_rto", "200ms"),
            ("rto_floor", "variance"),
            ("rto_spread", "peak"),
        ]);
        rto.sample(ms(400), 1, 10);
        // 400 + 4 * 200.
        assert_eq!(rto.timeout(), ms(1200));
        // No deviation: 4 * 150, but the round trip is not over.
        rto.sample(ms(400), 5, 20);
        assert_eq!(rto.timeout(), ms(1200));
        // Over; the peak of it was 800 all the same. From here on the peak is 200.
        rto.sample(ms(400), 11, 30);
        assert_eq!(rto.timeout(), ms(1200));
        // The greatest of this round trip is 4 * 84.375: the spread comes down by a quarter of what it lies above.
        rto.sample(ms(400), 15, 40);
        rto.sample(ms(400), 31, 50);
        assert_eq!(rto.timeout(), Span::from_us(1_084_375));
    }

    #[test]
    fn a_shorter_sample_raises_the_deviation_an_eighth_as_fast() {
        let deviation = |rttvar, rtt| Peak::deviation(ms(rttvar), ms(500), ms(rtt));
        // 3/4 40 + 1/4 200 upwards; 40 + (200 - 40) / 32 downwards.
        assert_eq!(deviation(40, 700), ms(80));
        assert_eq!(deviation(40, 300), ms(45));
        // Within the deviation both shrink alike.
        assert_eq!(deviation(40, 480), ms(35));
        assert_eq!(deviation(40, 520), ms(35));
    }
}
