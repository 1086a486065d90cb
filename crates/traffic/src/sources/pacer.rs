//! Exact spacing of packets at a rate.

use sojourn_units::{Rate, Span};

/// Bits of a byte times picoseconds of a second.
const BIT_PICOSECONDS: u128 = 8_000_000_000_000;

/// Gaps between packets of one size at one rate: the n-th packet comes floor(n * size * 8 / rate) after the first, to the
/// picosecond, however large n.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pacer {
    whole: u64,
    /// What remains of a gap below a picosecond, in units of 1 / `rate` of one.
    part: u64,
    rate: u64,
    carried: u64,
}

impl Pacer {
    /// Packets of `size` bytes at `rate`, which is not zero.
    pub(super) fn at_rate(size: u64, rate: Rate) -> Pacer {
        let bps = u128::from(rate.as_bps().max(1));
        let work = u128::from(size) * BIT_PICOSECONDS;
        Pacer {
            whole: u64::try_from(work / bps).unwrap_or(u64::MAX),
            part: u64::try_from(work % bps).unwrap_or(0),
            rate: rate.as_bps().max(1),
            carried: 0,
        }
    }

    /// Packets at a fixed interval.
    pub(super) fn every(interval: Span) -> Pacer {
        Pacer {
            whole: interval.as_ps(),
            part: 0,
            rate: 1,
            carried: 0,
        }
    }

    /// The gap, rounded down to whole picoseconds.
    pub(super) fn interval(&self) -> Span {
        Span::from_ps(self.whole)
    }

    /// The gap between packets of `size` bytes as ns-2's traffic generators compute it, in seconds: `(size << 3) / rate` in double precision.
    #[allow(
        clippy::as_conversions,
        reason = "bits of a packet and rates lie far below 2^53"
    )]
    pub(super) fn ns2_seconds(&self, size: u64) -> f64 {
        match self.rate {
            // A fixed interval, or a bit per second.
            1 => self.interval().as_secs_f64(),
            rate => (8 * size) as f64 / rate as f64,
        }
    }

    /// The gap to the next packet.
    #[inline]
    pub(super) fn gap(&mut self) -> Span {
        let left = self.rate - self.carried;
        if self.part < left {
            self.carried += self.part;
            Span::from_ps(self.whole)
        } else {
            self.carried = self.part - left;
            Span::from_ps(self.whole + 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nth_gap_ends_where_the_formula_says() {
        for (size, bps) in [(1500_u64, 7_u64), (1000, 3_000_000), (64, 999_999_937)] {
            let mut pacer = Pacer::at_rate(size, Rate::bps(bps));
            let mut at = 0;
            for n in 1..=10_000_u64 {
                at += pacer.gap().as_ps();
                let exact = u128::from(n) * u128::from(size) * BIT_PICOSECONDS / u128::from(bps);
                assert_eq!(u128::from(at), exact);
            }
        }
    }
}
