//! How long the transmitter of a link takes for a packet.

use crate::ns3_time;
use crate::opportunities::{Opportunities, Transmitter};
use sojourn_units::{Rate, Span, Time};

/// How the serialization time of a packet is brought to whole picoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TxRounding {
    /// The remainder below a picosecond is carried to the next packet and cleared when the link goes idle.
    #[default]
    Carry,
    /// Each serialization time is cut to whole nanoseconds.
    TruncateNs,
    /// Each serialization time is the nearest whole number of nanoseconds: the clock of ns-3 (see [`crate::ns3_time::nearest`]).
    NearestNs,
    /// As ns-3.24 does it: seconds in double precision, cut to whole nanoseconds (see [`crate::ns3_time`]).
    DoubleNs,
}

/// Bits per picosecond-second: 8 bits per byte, 10^12 ps per second.
pub(super) const BIT_PICOSECONDS_PER_BYTE: u64 = 8_000_000_000_000;

/// Serialization times of one rate, or of a schedule.
#[derive(Debug)]
pub(super) struct Serializer {
    /// Picoseconds per byte when that is a whole number and nothing is to be rounded, else 0.
    pub(super) whole: u64,
    pub(super) remainder: u64,
    pub(super) rate: u64,
    pub(super) rounding: TxRounding,
    /// Bytes that are transmitted beside those of a packet.
    pub(super) header: u32,
    /// In place of the rate.
    pub(super) schedule: Option<Box<Transmitter>>,
}

impl Serializer {
    pub(super) fn new(
        rate: Rate,
        rounding: TxRounding,
        header: u32,
        schedule: Option<Opportunities>,
    ) -> Self {
        let mut serializer = Serializer {
            rate: 0,
            whole: 0,
            remainder: 0,
            rounding,
            header,
            schedule: schedule.map(|plan| Box::new(Transmitter::new(plan))),
        };
        serializer.set_rate(rate);
        serializer
    }

    pub(super) fn set_rate(&mut self, rate: Rate) {
        let bps = rate.as_bps();
        assert!(bps > 0, "a link needs a rate above zero");
        self.rate = bps;
        self.remainder = 0;
        let exact = BIT_PICOSECONDS_PER_BYTE.is_multiple_of(bps) && self.schedule.is_none();
        self.whole = if exact && self.rounding == TxRounding::Carry && self.header == 0 {
            BIT_PICOSECONDS_PER_BYTE / bps
        } else {
            0
        };
    }

    /// How long a packet of `bytes` takes that starts at `start`.
    #[inline]
    pub(super) fn span(&mut self, bytes: u32, start: Time) -> Span {
        if self.whole != 0 {
            return Span::from_ps(u64::from(bytes) * self.whole);
        }
        self.rounded(bytes, start)
    }

    /// As [`Serializer::span`]. The caller passes `whole`, so that the serializer itself is read only if that is 0.
    #[inline(always)]
    pub(super) fn next_span(&mut self, per_byte: u64, bytes: u32, start: Time) -> Span {
        match per_byte {
            0 => self.span(bytes, start),
            per_byte => Span::from_ps(u64::from(bytes) * per_byte),
        }
    }

    /// The span after the transmitter was idle, be it for no time at all.
    #[cold]
    #[inline(never)]
    pub(super) fn first_span(&mut self, bytes: u32, start: Time) -> Span {
        self.clear();
        self.span(bytes, start)
    }

    #[inline(never)]
    pub(super) fn rounded(&mut self, bytes: u32, start: Time) -> Span {
        let bytes = bytes.saturating_add(self.header);
        if let Some(schedule) = &mut self.schedule {
            return schedule.sent(bytes, start).since(start);
        }
        match self.rounding {
            TxRounding::Carry => {
                // A packet of 2^20 bytes still fits: 8.4e18 < 1.8e19.
                let work = u64::from(bytes) * BIT_PICOSECONDS_PER_BYTE + self.remainder;
                self.remainder = work % self.rate;
                Span::from_ps(work / self.rate)
            }
            TxRounding::TruncateNs => {
                let work = u64::from(bytes) * BIT_PICOSECONDS_PER_BYTE;
                Span::from_ns(work / self.rate / 1000)
            }
            TxRounding::NearestNs => ns3_time::nearest(8 * u64::from(bytes), self.rate),
            TxRounding::DoubleNs => ns3_time::transmission(bytes, self.rate),
        }
    }

    #[inline]
    pub(super) fn clear(&mut self) {
        self.remainder = 0;
        if let Some(schedule) = &mut self.schedule {
            schedule.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_rates_carry_their_remainder() {
        let mut serializer = Serializer::new(Rate::bps(3), TxRounding::Carry, 0, None);
        let total: u64 = (0..3).map(|_| serializer.span(1, Time::ZERO).as_ps()).sum();
        assert_eq!(total, BIT_PICOSECONDS_PER_BYTE);
    }

    #[test]
    fn the_clock_of_ns3_takes_the_nearest_nanosecond() {
        // ns-3.44: 1030 bytes at 7 Mbps take 1177142.857 ns, and arrive after 1177143.
        let mut serializer = Serializer::new(Rate::mbps(7), TxRounding::NearestNs, 2, None);
        assert_eq!(serializer.span(1028, Time::ZERO), Span::from_ns(1_177_143));
    }

    #[test]
    fn what_the_link_adds_is_transmitted_and_nothing_else() {
        for rounding in [
            TxRounding::Carry,
            TxRounding::TruncateNs,
            TxRounding::NearestNs,
        ] {
            let mut serializer = Serializer::new(Rate::mbps(8), rounding, 2, None);
            assert_eq!(serializer.whole, 0);
            assert_eq!(serializer.span(1500, Time::ZERO), Span::from_us(1502));
        }
    }

    #[test]
    fn ns3_rounding_cuts_to_nanoseconds() {
        let mut serializer = Serializer::new(Rate::mbps(3), TxRounding::TruncateNs, 0, None);
        // 1500 B at 3 Mbps is 4 ms; 1000 B is 2.666666666... ms.
        assert_eq!(serializer.span(1500, Time::ZERO), Span::from_ms(4));
        assert_eq!(serializer.span(1000, Time::ZERO), Span::from_ns(2_666_666));
    }
}
