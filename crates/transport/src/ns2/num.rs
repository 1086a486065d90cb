//! Packet counts, as real numbers and with a sign: the arithmetic of windows.

/// The whole packets in a real number of them, as a C cast to int cuts it.
#[allow(
    clippy::as_conversions,
    reason = "windows are far below 2^63; the fraction is to be cut"
)]
#[inline]
pub(super) fn truncated(packets: f64) -> i64 {
    packets as i64
}

/// A packet count as a real number.
#[allow(clippy::as_conversions, reason = "counts are exact far below 2^53")]
#[inline]
pub(super) fn real(packets: i64) -> f64 {
    packets as f64
}

/// A count with a sign, for the arithmetic of windows.
#[inline]
pub(super) fn integer(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX / 4)
}
