//! ns-3's `RttMeanDeviation` with its default gains, in whole nanoseconds (Jacobson and Karels 1988, appendix A.2).

use sojourn_units::Span;

/// Smoothed round-trip time and its deviation.
#[derive(Clone, Debug)]
pub(super) struct RttEstimator {
    /// Nanoseconds.
    mean: i64,
    deviation: i64,
    initial: i64,
    samples: u64,
}

impl RttEstimator {
    pub(super) fn new(initial: Span) -> Self {
        let initial = nanoseconds(initial);
        RttEstimator {
            mean: initial,
            deviation: 0,
            initial,
            samples: 0,
        }
    }

    pub(super) fn reset(&mut self) {
        (self.mean, self.deviation, self.samples) = (self.initial, 0, 0);
    }

    pub(super) fn sample(&mut self, rtt: Span) {
        let rtt = nanoseconds(rtt);
        if self.samples == 0 {
            self.mean = rtt;
            self.deviation = rtt / 2;
        } else {
            let error = rtt - self.mean;
            self.mean = ((self.mean << 3) + error) >> 3;
            self.deviation = ((self.deviation << 2) + error.abs() - self.deviation) >> 2;
        }
        self.samples += 1;
    }

    /// The mean and four deviations, or `least` if these are less.
    pub(super) fn timeout(&self, least: Span) -> Span {
        span(self.mean).saturating_add(span(self.deviation * 4).max(least))
    }

    /// The mean, once there is a sample.
    pub(super) fn smoothed(&self) -> Option<Span> {
        (self.samples > 0).then(|| span(self.mean))
    }
}

fn nanoseconds(span: Span) -> i64 {
    i64::try_from(span.as_ps() / 1000).unwrap_or(i64::MAX / 16)
}

fn span(ns: i64) -> Span {
    Span::from_ns(u64::try_from(ns).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_move_mean_and_deviation_by_shifts() {
        let mut rtt = RttEstimator::new(Span::from_secs(1));
        let granularity = Span::from_ms(1);
        assert_eq!(rtt.timeout(granularity), Span::from_ms(1001));
        assert_eq!(rtt.smoothed(), None);
        rtt.sample(Span::from_ms(100));
        assert_eq!(rtt.timeout(granularity), Span::from_ms(300));
        rtt.sample(Span::from_ms(108));
        // 101 ms, and 50 + (8 - 50) / 4 ms.
        assert_eq!(rtt.smoothed(), Some(Span::from_ms(101)));
        assert_eq!(
            rtt.timeout(granularity),
            Span::from_ms(101) + Span::from_us(39_500 * 4)
        );
        rtt.reset();
        assert_eq!(rtt.timeout(granularity), Span::from_ms(1001));
    }
}
