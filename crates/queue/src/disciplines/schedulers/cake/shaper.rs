//! When the shaper lets packets go, and how long they are on the link that it stands for.

use sojourn_units::choice;

choice! {
    /// Framing of packets by the link layer.
    pub enum CakeFraming {
        /// Nothing.
        Noatm = "noatm",
        /// Cells of 53 bytes, 48 of them payload.
        Atm = "atm",
        /// One extra byte for every 64 bytes or part of them.
        Ptm = "ptm",
    }
}

/// When packets may be sent.
pub(super) struct Shaper {
    /// There is a rate.
    pub(super) shapes: bool,
    /// Time per byte at that rate.
    pub(super) pace: Pace,
    /// When the next packet may be sent, in nanoseconds.
    pub(super) next: i64,
    /// Drops never move `next` beyond this, in nanoseconds.
    pub(super) failsafe: i64,
}

/// What the link that the shaper stands for makes of packets.
pub(super) struct LinkLayer {
    /// Bytes added to each packet.
    pub(super) overhead: u32,
    /// Bytes of the smallest packet on the link.
    pub(super) mpu: u32,
    /// How bytes are packed into cells.
    pub(super) framing: CakeFraming,
}

/// Nanoseconds for bytes, as a product and a shift.
#[derive(Clone, Copy, Default)]
pub(super) struct Pace {
    /// Nanoseconds per byte, times 2^`shift`.
    pub(super) ns: u64,
    /// Binary logarithm of the scale of `ns`.
    pub(super) shift: u32,
}

impl Pace {
    /// The least rate, in bytes per second.
    pub(super) const LEAST: u64 = 64;

    /// Of a rate in bytes per second, 0 for no limit.
    pub(super) fn new(rate: u64) -> Pace {
        if rate == 0 {
            return Pace::default();
        }
        let mut pace = Pace {
            ns: (1_000_000_000 << 34) / rate.max(Pace::LEAST),
            shift: 34,
        };
        while pace.ns >> 34 > 0 {
            pace.ns >>= 1;
            pace.shift -= 1;
        }
        pace
    }

    pub(super) fn span(self, bytes: u32) -> i64 {
        i64::try_from((u64::from(bytes) * self.ns) >> self.shift).unwrap_or(i64::MAX)
    }
}

impl Shaper {
    /// The first packet comes to an empty queue.
    pub(super) fn begin(&mut self, now: i64) {
        if self.next < now {
            self.next = now;
            self.failsafe = now;
        }
    }

    /// Moves the times of the shaper on by a packet of a tin that has a pace and a time of its own; returns the latter.
    #[inline]
    pub(super) fn advance(
        &mut self,
        next: i64,
        pace: Pace,
        length: u32,
        now: i64,
        dropped: bool,
    ) -> i64 {
        if !self.shapes {
            return next;
        }
        let (own, global) = (pace.span(length), self.pace.span(length));
        self.next += global;
        if !dropped {
            self.failsafe += global + (global >> 1);
        }
        match next < now {
            true => next + own,
            false => next.max(now + own),
        }
    }
}

impl LinkLayer {
    /// The size of a packet on the link.
    #[inline]
    pub(super) fn adjusted(&self, size: u32) -> u32 {
        let length = (size + self.overhead).max(self.mpu);
        match self.framing {
            CakeFraming::Noatm => length,
            _ => self.framed(length),
        }
    }

    #[inline(never)]
    pub(super) fn framed(&self, length: u32) -> u32 {
        match self.framing {
            CakeFraming::Noatm => length,
            CakeFraming::Atm => length.div_ceil(48) * 53,
            CakeFraming::Ptm => length + length.div_ceil(64),
        }
    }
}
