//! What only links need that have impairments or go down.

use crate::impair::{Impairments, LinkState};
use crate::packet::Packet;
use sojourn_units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A packet in flight on a link that lets packets overtake.
#[derive(Debug)]
pub(super) struct Overtaking {
    pub(super) at: Time,
    pub(super) launched: Time,
    pub(super) number: u64,
    pub(super) packet: Packet,
}

impl Overtaking {
    pub(super) fn order(&self) -> (Time, Time, u64) {
        (self.at, self.launched, self.number)
    }
}
impl PartialEq for Overtaking {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}
impl Eq for Overtaking {}
impl PartialOrd for Overtaking {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Overtaking {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.order().cmp(&other.order())
    }
}

/// What only impaired links need.
#[derive(Debug)]
pub(super) struct Impaired {
    pub(super) state: Impairments,
    /// In flight, when packets may overtake; otherwise the ring holds them.
    pub(super) air: BinaryHeap<Reverse<Overtaking>>,
    pub(super) launched: u64,
    /// Packets that got lost since measuring began.
    pub(super) lost: u64,
    pub(super) link: LinkState,
    /// Down, and packets wait: whether the transmitter was idle, and otherwise when it is done with what it has begun.
    pub(super) stopped: Option<Stopped>,
    /// The link came up, and its transmitter has neither begun a packet since nor found the queue empty.
    pub(super) resumes: bool,
}

/// What the transmitter was about when the link went down.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stopped {
    pub(super) was_idle: bool,
    pub(super) until: Time,
    pub(super) begun: Time,
}
