//! The two ways of a flow.

use super::counts::FlowCounts;
use crate::packet::{Flags, Packet};

/// A flow: the way of its sender's packets, and the way back.
pub(super) struct Flow {
    pub(super) ways: [Way; 2],
}

/// One direction of a flow.
#[repr(C, align(64))]
pub(super) struct Way {
    pub(super) counts: FlowCounts,
    /// The node that its packets are addressed to.
    pub(super) node: u32,
    /// The agent that gets them, [`NONE`] for a passive sink.
    pub(super) receiver: u32,
    /// As [`Seat::tos`].
    pub(super) tos: u8,
}

/// Which of the ways of its flow a packet takes.
#[inline]
pub(super) fn direction(packet: &Packet) -> usize {
    usize::from(packet.flags.has(Flags::REVERSE))
}
