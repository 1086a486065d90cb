//! The packet: one cache line that moves through rings by value.
//!
//! A packet is neither `Copy` nor `Clone`. Only the frame makes one ([`crate::network`]: send, replicate)
//! and only the frame consumes one (deliver, drop), so that packets conserve by construction and the
//! side data that a packet refers to is released exactly once.

use sojourn_units::Time;

/// The "no entry" value of the 32-bit indices in this crate.
pub const NONE: u32 = u32::MAX;

/// The ECN field of the IP header (RFC 3168 section 5, RFC 8311).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Ecn {
    /// Not ECN-capable (00).
    #[default]
    NotEct = 0,
    /// ECN-capable, codepoint 01: L4S senders (RFC 9331).
    Ect1 = 1,
    /// ECN-capable, codepoint 10: classic senders (RFC 3168).
    Ect0 = 2,
    /// Congestion experienced (11).
    Ce = 3,
}

impl Ecn {
    /// The codepoint of the two low bits of `bits`.
    #[inline]
    pub const fn from_bits(bits: u8) -> Ecn {
        match bits & 3 {
            0 => Ecn::NotEct,
            1 => Ecn::Ect1,
            2 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }

    /// The two bits of the codepoint.
    #[inline]
    pub const fn bits(self) -> u8 {
        match self {
            Ecn::NotEct => 0,
            Ecn::Ect1 => 1,
            Ecn::Ect0 => 2,
            Ecn::Ce => 3,
        }
    }

    /// True for ECT(0), ECT(1) and CE: a queue may mark instead of drop.
    #[inline]
    pub const fn is_capable(self) -> bool {
        !matches!(self, Ecn::NotEct)
    }
}

/// What the packet is, for endpoints and for traces.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Kind {
    /// A datagram of an unreliable source.
    #[default]
    Datagram,
    /// A transport segment that carries data (or takes part in the handshake, see [`Flags`]).
    Segment,
    /// A segment with data that the receiver should pass on at once (PSH, RFC 9293 section 3.9.1).
    Pushed,
    /// A transport acknowledgement without data.
    Ack,
    /// A datagram that carries no data of its own but reports on others (RTCP).
    Control,
}

/// Transport flags of a packet; a set of bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Flags(u8);

impl Flags {
    /// No flag.
    pub const NONE: Flags = Flags(0);
    /// Opens a connection.
    pub const SYN: Flags = Flags(1);
    /// The sender has no more data.
    pub const FIN: Flags = Flags(2);
    /// ECN echo (RFC 3168 section 6.1).
    pub const ECE: Flags = Flags(4);
    /// Congestion window reduced (RFC 3168 section 6.1).
    pub const CWR: Flags = Flags(8);
    /// Sent before: a retransmission.
    pub const RETRANSMIT: Flags = Flags(16);
    /// Travels from the receiver of its flow to the sender.
    pub const REVERSE: Flags = Flags(32);
    /// The wire lost it; it is counted when it would have arrived.
    pub(crate) const LOST: Flags = Flags(64);
    /// The wire doubled it; the copy is made when it arrives.
    pub(crate) const DOUBLED: Flags = Flags(128);

    /// True if every bit of `other` is set.
    #[inline]
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// The union of both sets.
    #[inline]
    #[must_use]
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// This set without the bits of `other`.
    #[inline]
    #[must_use]
    pub const fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }
}

/// One packet: 64 bytes, in a cache line of its own.
#[derive(Debug)]
#[repr(align(64))]
pub struct Packet {
    /// While waiting: when it was handed to the queue. In flight: when its last bit arrives at the far end.
    pub(crate) at: Time,
    /// In flight: the start of its transmission, the birth of its arrival event.
    pub(crate) launched: Time,
    /// When its source sent it.
    pub created: Time,
    /// Sequence number: first byte (byte-counting transports) or packet number.
    pub seq: u64,
    /// Cumulative acknowledgement: next byte or packet expected.
    pub ack: u64,
    /// The flow it belongs to.
    pub flow: u32,
    /// The node it is addressed to.
    pub dst: u32,
    /// Index of its side data, or [`NONE`].
    pub side: u32,
    /// Number of the packet in this run, in order of creation, modulo 2^32.
    pub uid: u32,
    /// Bytes on the wire, all headers that the scenario counts included.
    pub size: u32,
    /// What it is.
    pub kind: Kind,
    /// DSCP (upper six bits) and ECN (lower two), as in the IP header.
    pub tos: u8,
    /// Transport flags.
    pub flags: Flags,
    /// Links it may still cross; a packet that reaches zero is dropped.
    pub(crate) hops_left: u8,
}

/// What can be read off a packet, without the packet: for traces and accounts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Label {
    /// Number of the packet.
    pub uid: u32,
    /// Flow of the packet.
    pub flow: u32,
    /// Bytes on the wire.
    pub size: u32,
    /// Sequence number.
    pub seq: u64,
    /// Cumulative acknowledgement.
    pub ack: u64,
    /// What the packet is.
    pub kind: Kind,
    /// DSCP and ECN.
    pub tos: u8,
    /// Transport flags.
    pub flags: Flags,
    /// When its source sent it.
    pub created: Time,
}

impl Packet {
    /// What can be read off the packet.
    #[inline]
    pub fn label(&self) -> Label {
        Label {
            uid: self.uid,
            flow: self.flow,
            size: self.size,
            seq: self.seq,
            ack: self.ack,
            kind: self.kind,
            tos: self.tos,
            flags: self.flags,
            created: self.created,
        }
    }

    /// The ECN codepoint.
    #[inline]
    pub const fn ecn(&self) -> Ecn {
        Ecn::from_bits(self.tos)
    }

    /// The differentiated services codepoint (RFC 2474).
    #[inline]
    pub const fn dscp(&self) -> u8 {
        self.tos >> 2
    }

    /// When it was handed to the queue in which it waits.
    #[inline]
    pub const fn arrived(&self) -> Time {
        self.at
    }

    /// In flight: when its transmission began, and when its last bit arrives at the far end.
    #[inline]
    pub const fn flight(&self) -> (Time, Time) {
        (self.launched, self.at)
    }

    /// Stamps the arrival at a queue.
    #[inline]
    pub const fn stamp(&mut self, now: Time) {
        self.at = now;
    }

    /// Sets CE if the packet is ECN-capable; says whether it is marked now.
    #[inline]
    pub const fn mark(&mut self) -> bool {
        let capable = self.ecn().is_capable();
        if capable {
            self.tos |= 3;
        }
        capable
    }

    /// A packet with the given fields and nothing else set, for tests of queues without a network.
    pub fn test(size: u32, flow: u32, uid: u32) -> Packet {
        Packet {
            at: Time::ZERO,
            launched: Time::ZERO,
            created: Time::ZERO,
            seq: u64::from(uid),
            ack: 0,
            flow,
            dst: 0,
            side: NONE,
            uid,
            size,
            kind: Kind::Datagram,
            tos: 0,
            flags: Flags::NONE,
            hops_left: u8::MAX,
        }
    }

    /// Counts one more hop. The queue that gets the packet stamps it.
    #[inline(always)]
    pub fn hop(&mut self) {
        self.hops_left -= 1;
    }

    /// A second packet with the same content; the caller accounts for it and shares its side data.
    pub fn replicate(&self) -> Packet {
        Packet {
            at: self.at,
            launched: self.launched,
            created: self.created,
            seq: self.seq,
            ack: self.ack,
            flow: self.flow,
            dst: self.dst,
            side: self.side,
            uid: self.uid,
            size: self.size,
            kind: self.kind,
            tos: self.tos,
            flags: self.flags,
            hops_left: self.hops_left,
        }
    }
}

/// What an endpoint asks the frame to send: a packet before it exists.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outgoing {
    /// Bytes on the wire.
    pub size: u32,
    /// Sequence number.
    pub seq: u64,
    /// Cumulative acknowledgement.
    pub ack: u64,
    /// What it is.
    pub kind: Kind,
    /// DSCP and ECN.
    pub tos: u8,
    /// Transport flags; [`Flags::REVERSE`] is set by the frame.
    pub flags: Flags,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_fills_one_cache_line() {
        assert_eq!((size_of::<Packet>(), align_of::<Packet>()), (64, 64));
    }

    #[test]
    fn only_capable_packets_are_marked() {
        for bits in 0..4 {
            let mut packet = Packet::test(100, 0, 0);
            packet.tos = bits;
            assert_eq!(packet.mark(), bits != 0);
            assert_eq!(packet.ecn(), if bits == 0 { Ecn::NotEct } else { Ecn::Ce });
        }
    }

    #[test]
    fn flags_are_sets() {
        let flags = Flags::SYN.with(Flags::ECE);
        assert!(flags.has(Flags::SYN) && flags.has(Flags::ECE) && !flags.has(Flags::FIN));
        assert_eq!(flags.without(Flags::SYN), Flags::ECE);
    }
}
