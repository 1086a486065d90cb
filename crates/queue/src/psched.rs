//! Linux's arithmetic of rates: what a number of bytes costs in whole nanoseconds.

use sojourn_units::{Rate, Time};

/// Nanoseconds per byte as a product and a shift (psched_ratecfg_precompute and psched_l2t_ns, net/sched/sch_generic.c and
/// include/net/sch_generic.h of Linux 6.1), without overhead or link layer.
#[derive(Clone, Copy, Debug)]
pub struct PschedRate {
    /// Nanoseconds per byte, times 2^`shift`.
    multiplier: u64,
    /// Binary logarithm of the scale of `multiplier`.
    shift: u32,
}

impl PschedRate {
    /// The costs at `rate`, which the kernel keeps in whole bytes per second.
    ///
    /// # Panics
    /// If the rate is below a byte per second.
    pub fn new(rate: Rate) -> PschedRate {
        let bytes_per_second = rate.as_bps() / 8;
        assert!(bytes_per_second > 0, "a rate of at least 8 bps");
        let mut factor = 1_000_000_000_u64;
        let mut shift = 0;
        loop {
            let multiplier = (factor / bytes_per_second) & u64::from(u32::MAX);
            if multiplier >> 31 > 0 || factor >> 63 > 0 {
                return PschedRate { multiplier, shift };
            }
            factor <<= 1;
            shift += 1;
        }
    }

    /// What `bytes` cost, in nanoseconds, rounded down.
    #[inline]
    pub fn nanoseconds(&self, bytes: u32) -> i64 {
        let product = u64::from(bytes) * self.multiplier;
        i64::try_from(product >> self.shift).unwrap_or(i64::MAX)
    }
}

/// The kernel's clock: whole nanoseconds.
#[inline]
pub fn ktime(now: Time) -> i64 {
    i64::try_from(now.as_ps() / 1000).expect("below 2^63 ns")
}

/// The time that the kernel's clock shows as `ns`.
#[inline]
pub fn time_of(ns: i64) -> Time {
    Time::from_ps(u64::try_from(ns).unwrap_or(0).saturating_mul(1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_whole_nanoseconds_rounded_down() {
        for (rate, bytes, ns) in [
            (Rate::mbps(10), 1514, 1_211_200),
            (Rate::mbps(8), 1500, 1_500_000),
            (Rate::bps(7_300_000), 1514, 1_659_178),
            (Rate::gbps(40), 1514, 302),
            (Rate::bps(8), 1, 1_000_000_000),
        ] {
            assert_eq!(PschedRate::new(rate).nanoseconds(bytes), ns, "{rate}");
        }
    }
}
