//! Buffers as people state them: in packets, in bytes, in time, or in bandwidth-delay products.

use crate::convert::widen;
use crate::rate::Rate;
use crate::size::{Bytes, Limit};
use crate::time::{PS_PER_S, Span};

/// The most a queue may hold, as somebody states it. A time and a bandwidth-delay product become bytes at the nominal rate of a link.
///
/// ```
/// use sojourn_units::{Buffer, Bytes, Rate, Span};
///
/// let (rate, round_trip) = (Rate::mbps(10), Span::from_ms(40));
/// let bytes = |text: &str| text.parse::<Buffer>().map(|buffer| buffer.bytes(rate, round_trip));
/// assert_eq!(bytes("50ms"), Ok(Some(Bytes::new(62_500))));
/// assert_eq!(bytes("1bdp"), Ok(Some(Bytes::new(50_000))));
/// assert_eq!(bytes("0.25bdp"), Ok(Some(Bytes::new(12_500))));
/// assert_eq!(bytes("100p"), Ok(None));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Buffer {
    /// Packets or bytes, whatever the link.
    Limit(Limit),
    /// What a link sends in this time.
    Time(Span),
    /// This many bandwidth-delay products.
    Bdp(Bdp),
}

/// A number of bandwidth-delay products, in millionths.
///
/// ```
/// use sojourn_units::{Bdp, Buffer};
///
/// assert_eq!("0.5bdp".parse(), Ok(Buffer::Bdp(Bdp::from_millionths(500_000))));
/// assert_eq!(Bdp::from_millionths(500_000).to_string(), "0.5bdp");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bdp(u64);

impl Bdp {
    /// Millionths in one.
    pub(crate) const ONE: u64 = 1_000_000;

    /// This many millionths.
    pub const fn from_millionths(millionths: u64) -> Bdp {
        Bdp(millionths)
    }

    /// The number in millionths.
    pub const fn as_millionths(self) -> u64 {
        self.0
    }
}

impl Buffer {
    /// Whether it depends on a link: a time does, and a bandwidth-delay product.
    pub const fn depends_on_link(self) -> bool {
        !matches!(self, Buffer::Limit(_))
    }

    /// The bytes that a time or a bandwidth-delay product comes to, rounded to the nearest, halves up; none of packets or bytes.
    /// Only a bandwidth-delay product looks at `round_trip`.
    pub fn bytes(self, rate: Rate, round_trip: Span) -> Option<Bytes> {
        match self {
            Buffer::Limit(_) => None,
            Buffer::Time(time) => Some(sent(rate, time, Bdp::ONE)),
            Buffer::Bdp(Bdp(millionths)) => Some(sent(rate, round_trip, millionths)),
        }
    }
}

/// The bytes that a link of `rate` sends in `millionths` of a `time`, rounded to the nearest, halves up; at most `Bytes::MAX`.
fn sent(rate: Rate, time: Span, millionths: u64) -> Bytes {
    // Bits times picoseconds over a second in a byte.
    let byte = 8 * widen(PS_PER_S);
    let whole = widen(rate.as_bps()) * widen(time.as_ps());
    let one = widen(Bdp::ONE);
    let rounded = match whole.checked_mul(widen(millionths)) {
        Some(scaled) => scaled.saturating_add(byte * one / 2) / (byte * one),
        // So large a product is far above what its last digits change.
        None => (whole / byte).saturating_mul(widen(millionths)) / one,
    };
    u64::try_from(rounded).map_or(Bytes::MAX, Bytes::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Span = Span::ZERO;

    fn bytes(text: &str, rate: Rate, round_trip: Span) -> u64 {
        let buffer: Buffer = text.parse().expect("a buffer");
        buffer
            .bytes(rate, round_trip)
            .expect("it depends on the link")
            .get()
    }

    #[test]
    fn a_buffer_in_time_is_what_the_link_sends_meanwhile() {
        assert_eq!(bytes("50ms", Rate::mbps(10), NONE), 62_500);
        assert_eq!(bytes("1s", Rate::bps(8), NONE), 1);
        assert_eq!(bytes("0ms", Rate::mbps(10), NONE), 0);
    }

    #[test]
    fn a_buffer_in_bdp_is_rate_times_round_trip() {
        let rtt = Span::from_ms(40);
        assert_eq!(bytes("1bdp", Rate::mbps(10), rtt), 50_000);
        assert_eq!(bytes("2 bdp", Rate::mbps(10), rtt), 100_000);
        assert_eq!(bytes("0.5BDP", Rate::mbps(10), rtt), 25_000);
        assert_eq!(
            bytes("1bdp", Rate::mbps(10), rtt),
            bytes("40ms", Rate::mbps(10), NONE)
        );
    }

    #[test]
    fn bytes_are_the_nearest_whole_number_and_halves_go_up() {
        // 12 bits are a byte and a half, 11 a byte and three eighths.
        assert_eq!(bytes("1s", Rate::bps(12), NONE), 2);
        assert_eq!(bytes("1s", Rate::bps(11), NONE), 1);
        assert_eq!(bytes("0.5bdp", Rate::bps(24), Span::from_secs(1)), 2);
        assert_eq!(
            bytes("0.333333bdp", Rate::mbps(1), Span::from_secs(24)),
            999_999
        );
    }

    #[test]
    fn the_largest_values_saturate() {
        assert_eq!(bytes("18446744s", Rate::bps(u64::MAX), NONE), u64::MAX);
        let most = Buffer::Bdp(Bdp::from_millionths(u64::MAX));
        assert_eq!(most.bytes(Rate::bps(u64::MAX), Span::MAX), Some(Bytes::MAX));
    }
}
