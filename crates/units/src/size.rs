//! Bytes, packets, the limit of a queue in one or the other, and fractions.

use core::iter::Sum;
use core::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

/// The operations that a count of things has.
macro_rules! count {
    ($name:ident, $what:literal) => {
        impl $name {
            /// None.
            pub const ZERO: $name = $name(0);
            /// The most there can be.
            pub const MAX: $name = $name(u64::MAX);

            #[doc = concat!("A number of ", $what, ".")]
            #[inline]
            pub const fn new(count: u64) -> $name {
                $name(count)
            }

            /// The number.
            #[inline]
            pub const fn get(self) -> u64 {
                self.0
            }

            /// Whether there are none.
            #[inline]
            pub const fn is_zero(self) -> bool {
                self.0 == 0
            }

            /// The sum, at most `MAX`.
            #[inline]
            pub const fn saturating_add(self, other: $name) -> $name {
                $name(self.0.saturating_add(other.0))
            }

            /// The difference, zero when `other` is more.
            #[inline]
            pub const fn saturating_sub(self, other: $name) -> $name {
                $name(self.0.saturating_sub(other.0))
            }

            /// The sum, `None` beyond `MAX`.
            #[inline]
            pub const fn checked_add(self, other: $name) -> Option<$name> {
                match self.0.checked_add(other.0) {
                    Some(count) => Some($name(count)),
                    None => None,
                }
            }

            /// The difference, `None` when `other` is more.
            #[inline]
            pub const fn checked_sub(self, other: $name) -> Option<$name> {
                match self.0.checked_sub(other.0) {
                    Some(count) => Some($name(count)),
                    None => None,
                }
            }
        }

        impl Add for $name {
            type Output = $name;
            #[inline]
            fn add(self, other: $name) -> $name {
                $name(self.0 + other.0)
            }
        }

        impl Sub for $name {
            type Output = $name;
            #[inline]
            fn sub(self, other: $name) -> $name {
                $name(self.0 - other.0)
            }
        }

        impl AddAssign for $name {
            #[inline]
            fn add_assign(&mut self, other: $name) {
                self.0 += other.0;
            }
        }

        impl SubAssign for $name {
            #[inline]
            fn sub_assign(&mut self, other: $name) {
                self.0 -= other.0;
            }
        }

        impl Mul<u64> for $name {
            type Output = $name;
            #[inline]
            fn mul(self, times: u64) -> $name {
                $name(self.0 * times)
            }
        }

        impl Mul<$name> for u64 {
            type Output = $name;
            #[inline]
            fn mul(self, count: $name) -> $name {
                count * self
            }
        }

        /// One of n equal parts, rounded down.
        impl Div<u64> for $name {
            type Output = $name;
            #[inline]
            fn div(self, parts: u64) -> $name {
                $name(self.0 / parts)
            }
        }

        impl Sum for $name {
            fn sum<I: Iterator<Item = $name>>(counts: I) -> $name {
                counts.fold($name::ZERO, Add::add)
            }
        }
    };
}

/// A number of bytes.
///
/// ```
/// use sojourn_units::Bytes;
///
/// assert_eq!("64kB".parse(), Ok(Bytes::new(64_000)));
/// assert_eq!("64KiB".parse(), Ok(Bytes::new(65_536)));
/// assert_eq!(Bytes::new(1500).to_string(), "1500B");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

/// A number of packets.
///
/// ```
/// use sojourn_units::Packets;
///
/// assert_eq!("50 packets".parse(), Ok(Packets::new(50)));
/// assert_eq!(Packets::new(50).to_string(), "50p");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Packets(u64);

count!(Bytes, "bytes");
count!(Packets, "packets");

/// The most a queue may hold, in packets or in bytes: never in a bare number that could be either.
///
/// ```
/// use sojourn_units::{Bytes, Limit, Packets};
///
/// assert_eq!("100p".parse(), Ok(Limit::Packets(Packets::new(100))));
/// assert_eq!("64kB".parse(), Ok(Limit::Bytes(Bytes::new(64_000))));
/// assert!("100".parse::<Limit>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// At most this number of packets, whatever their sizes.
    Packets(Packets),
    /// At most this number of bytes, in any number of packets.
    Bytes(Bytes),
}

impl Limit {
    /// Whether a backlog of `packets` and `bytes` is within the limit.
    #[inline]
    pub const fn admits(self, packets: Packets, bytes: Bytes) -> bool {
        match self {
            Limit::Packets(most) => packets.0 <= most.0,
            Limit::Bytes(most) => bytes.0 <= most.0,
        }
    }

    /// The number, in whichever unit.
    #[inline]
    pub const fn get(self) -> u64 {
        match self {
            Limit::Packets(most) => most.0,
            Limit::Bytes(most) => most.0,
        }
    }
}

/// A probability or a fraction: a number from 0 to 1.
///
/// ```
/// use sojourn_units::Ratio;
///
/// assert_eq!("10%".parse::<Ratio>(), "0.1".parse::<Ratio>());
/// assert_eq!(Ratio::new(1.5), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Ratio(f64);

impl Ratio {
    /// Never, or nothing of it.
    pub const ZERO: Ratio = Ratio(0.0);
    /// Always, or all of it.
    pub const ONE: Ratio = Ratio(1.0);

    /// The fraction, `None` outside 0 to 1.
    #[inline]
    pub const fn new(value: f64) -> Option<Ratio> {
        // Adding zero turns -0.0 into 0.0, so that equal fractions print alike.
        if value >= 0.0 && value <= 1.0 {
            Some(Ratio(value + 0.0))
        } else {
            None
        }
    }

    /// The number, from 0 to 1.
    #[inline]
    pub const fn get(self) -> f64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_do_the_usual_arithmetic() {
        let mut held = Bytes::new(1500);
        held += Bytes::new(40);
        held -= Bytes::new(540);
        assert_eq!(held, Bytes::new(1000));
        assert_eq!(2 * held / 3, Bytes::new(666));
        assert_eq!([held, held].into_iter().sum::<Bytes>(), Bytes::new(2000));
        assert_eq!(
            Packets::new(5) - Packets::new(2) + Packets::new(1),
            Packets::new(4)
        );
    }

    #[test]
    fn counts_saturate_or_say_none_at_their_ends() {
        let one = Packets::new(1);
        assert_eq!(Packets::ZERO.saturating_sub(one), Packets::ZERO);
        assert_eq!(Packets::ZERO.checked_sub(one), None);
        assert_eq!(Packets::MAX.saturating_add(one), Packets::MAX);
        assert_eq!(Packets::MAX.checked_add(one), None);
    }

    #[test]
    fn a_limit_looks_at_its_own_unit_only() {
        let packets = Limit::Packets(Packets::new(2));
        assert!(packets.admits(Packets::new(2), Bytes::MAX));
        assert!(!packets.admits(Packets::new(3), Bytes::ZERO));
        let bytes = Limit::Bytes(Bytes::new(3000));
        assert!(bytes.admits(Packets::MAX, Bytes::new(3000)));
        assert!(!bytes.admits(Packets::ZERO, Bytes::new(3001)));
    }

    #[test]
    fn a_ratio_lies_between_zero_and_one() {
        assert_eq!(Ratio::new(0.25).map(Ratio::get), Some(0.25));
        assert_eq!(Ratio::new(1.0), Some(Ratio::ONE));
        assert_eq!(Ratio::new(-0.1), None);
        assert_eq!(Ratio::new(f64::NAN), None);
        assert!(Ratio::new(-0.0).is_some_and(|zero| zero.get().is_sign_positive()));
    }
}
