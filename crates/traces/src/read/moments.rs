//! What is kept of many values: count, sums, extremes and a histogram. Sums are integers, so that they are exact and do not depend on
//! the order.

use sojourn_results::stats::{to_f64, wide_to_f64};
use sojourn_sim::histogram::Histogram;
use sojourn_units::{Span, Time};
use std::collections::BTreeMap;

/// Picoseconds to seconds.
const PS: f64 = 1e-12;

/// Many times: delays, gaps, round trips.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Spans {
    count: u64,
    sum: u128,
    squares: u128,
    least: Option<Span>,
    most: Span,
    histogram: Histogram,
}

impl Spans {
    /// Counts one.
    #[inline]
    pub fn record(&mut self, span: Span) {
        let ps = u128::from(span.as_ps());
        self.count += 1;
        self.sum += ps;
        // Of two hours a hundred thousand times: beyond that the standard deviation is a lower bound.
        self.squares = self.squares.saturating_add(ps * ps);
        self.least = Some(self.least.map_or(span, |least| least.min(span)));
        self.most = self.most.max(span);
        self.histogram.record(span.as_ps());
    }

    /// How many.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their sum in picoseconds.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The least, in seconds.
    pub fn min(&self) -> Option<f64> {
        self.least.map(Span::as_secs_f64)
    }

    /// The greatest, in seconds.
    pub fn max(&self) -> Option<f64> {
        self.least.map(|_| self.most.as_secs_f64())
    }

    /// The greatest; nothing of none.
    pub fn most(&self) -> Span {
        self.most
    }

    /// The mean, in seconds.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| wide_to_f64(self.sum) * PS / to_f64(self.count))
    }

    /// The sample standard deviation, in seconds; none of fewer than two.
    pub fn deviation(&self) -> Option<f64> {
        if self.count < 2 {
            return None;
        }
        let count = to_f64(self.count);
        let mean = wide_to_f64(self.sum) / count;
        let variance = (wide_to_f64(self.squares) / count - mean * mean).max(0.0);
        Some((variance * count / (count - 1.0)).sqrt() * PS)
    }

    /// The value that a share of all does not exceed, in seconds.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let least = self.least?;
        let ps = self
            .histogram
            .quantile_within(share, least.as_ps(), self.most.as_ps())?;
        Some(to_f64(ps) * PS)
    }

    /// The distribution: steps of [`Histogram`] with their counts.
    pub fn histogram(&self) -> &Histogram {
        &self.histogram
    }
}

/// Many sizes, in bytes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sizes {
    /// The size seen last and how often in a row, not yet among the others.
    last: (u32, u64),
    counts: BTreeMap<u32, u64>,
    packets: u64,
    bytes: u64,
}

impl Sizes {
    /// From this size on, sizes are kept by their leading bit, so that their number is bounded.
    const EXACT: u32 = 1 << 16;

    /// Counts one.
    #[inline]
    pub fn record(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
        if self.last.0 == bytes {
            self.last.1 += 1;
        } else {
            self.settle();
            self.last = (bytes, 1);
        }
    }

    #[cold]
    fn settle(&mut self) {
        let (size, count) = self.last;
        if count > 0 {
            *self.counts.entry(Sizes::place(size)).or_default() += count;
        }
    }

    fn place(size: u32) -> u32 {
        match size < Sizes::EXACT {
            true => size,
            false => 1 << size.ilog2(),
        }
    }

    /// How many.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Their sum.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Their mean.
    pub fn mean(&self) -> Option<f64> {
        (self.packets > 0).then(|| to_f64(self.bytes) / to_f64(self.packets))
    }

    /// The sizes in ascending order, with how often each was seen.
    pub fn counts(&self) -> BTreeMap<u32, u64> {
        let mut whole = self.clone();
        whole.settle();
        whole.counts
    }

    /// The least.
    pub fn min(&self) -> Option<u64> {
        self.counts()
            .first_key_value()
            .map(|(size, _)| u64::from(*size))
    }

    /// The greatest.
    pub fn max(&self) -> Option<u64> {
        self.counts()
            .last_key_value()
            .map(|(size, _)| u64::from(*size))
    }
}

/// Packets and their bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Packets.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Counts {
    /// Counts one packet.
    #[inline]
    pub fn record(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }

    /// Adds others.
    pub fn add(&mut self, other: Counts) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}

/// Jitter in two ways: the mean difference of consecutive delays, and the smoothed estimate of RFC 3550 section 6.4.1.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Jitter {
    last: Option<i128>,
    differences: u128,
    pairs: u64,
    /// J of RFC 3550, picoseconds.
    smooth: f64,
    smooth_max: f64,
}

impl Jitter {
    /// A packet arrived with this transit time in picoseconds, clocks of both ends as they are. Without `counted`, only the next
    /// difference knows of it.
    #[inline]
    pub fn record(&mut self, transit: i128, counted: bool) {
        if let Some(last) = self.last
            && counted
        {
            let difference = last.abs_diff(transit);
            self.differences += difference;
            self.pairs += 1;
            self.smooth += (wide_to_f64(difference) - self.smooth) / 16.0;
            self.smooth_max = self.smooth_max.max(self.smooth);
        }
        self.last = Some(transit);
    }

    /// Sum of the differences, in picoseconds, and their number.
    pub fn differences(&self) -> (u128, u64) {
        (self.differences, self.pairs)
    }

    /// Mean difference of consecutive delays, in seconds.
    pub fn mean(&self) -> Option<f64> {
        (self.pairs > 0).then(|| wide_to_f64(self.differences) * PS / to_f64(self.pairs))
    }

    /// The smoothed estimate at the end, in seconds.
    pub fn smoothed(&self) -> Option<f64> {
        (self.pairs > 0).then_some(self.smooth * PS)
    }

    /// The greatest that the smoothed estimate was, in seconds.
    pub fn smoothed_max(&self) -> Option<f64> {
        (self.pairs > 0).then_some(self.smooth_max * PS)
    }
}

/// Bits per second of bytes in a time; `None` if the time is zero.
pub fn rate(bytes: u64, time: Span) -> Option<f64> {
    let seconds = time.as_secs_f64();
    (seconds > 0.0).then(|| 8.0 * to_f64(bytes) / seconds)
}

/// The time between two instants in picoseconds, in whichever order they are.
pub fn signed(later: Time, earlier: Time) -> i128 {
    i128::from(later.as_ps()) - i128::from(earlier.as_ps())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_values() {
        let mut spans = Spans::default();
        assert_eq!((spans.mean(), spans.min(), spans.max()), (None, None, None));
        for ms in [1, 2, 3, 4] {
            spans.record(Span::from_ms(ms));
        }
        assert_eq!(spans.mean(), Some(0.0025));
        assert_eq!((spans.min(), spans.max()), (Some(0.001), Some(0.004)));
        let deviation = spans.deviation().unwrap();
        assert!((deviation - 0.001_290_994_448_735_805_6).abs() < 1e-15);
    }

    #[test]
    fn sizes_are_exact_and_bounded() {
        let mut sizes = Sizes::default();
        for bytes in [40, 1500, 1500, 40, 100_000, 70_000] {
            sizes.record(bytes);
        }
        assert_eq!((sizes.min(), sizes.max()), (Some(40), Some(65_536)));
        let counts: Vec<(u32, u64)> = sizes.counts().into_iter().collect();
        assert_eq!(counts, [(40, 2), (1500, 2), (65_536, 2)]);
        assert_eq!(sizes.bytes(), 40 + 1500 + 1500 + 40 + 170_000);
    }

    #[test]
    fn jitter_follows_rfc_3550() {
        // J(i) = J(i-1) + (|D(i-1,i)| - J(i-1)) / 16, section 6.4.1.
        let mut jitter = Jitter::default();
        for transit in [10, 26, 26] {
            jitter.record(transit, true);
        }
        assert_eq!(jitter.differences(), (16, 2));
        assert_eq!(jitter.smoothed(), Some((1.0 - 1.0 / 16.0) * 1e-12));
        assert_eq!(jitter.smoothed_max(), Some(1e-12));
    }
}
