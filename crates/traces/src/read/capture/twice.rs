//! Frames that a capture has twice: where it was taken at several interfaces of one machine, at a bridge, or at a port that mirrors both
//! directions of another.

use crate::read::event::place;
use crate::read::frame::Packet;
use sojourn_units::{Span, Time};

/// Packets that are remembered, in places by their identity.
const REMEMBERED: u32 = 1 << 12;
/// Copies of a frame are no further apart than this, of a packet with an identification of its own: below the time in which
/// identifications come round, above the time that it spends in a machine.
const NUMBERED: Span = Span::from_ms(50);
/// Of a segment of TCP without one, that might have been sent again: below the least timeouts.
const NOT_NUMBERED: Span = Span::from_ms(1);
/// Less than one packet in this many may be something else: a network doubles packets, too.
const SHARE: u64 = 100;

/// The packets of late, and how many of them were there already.
pub(super) struct Twice {
    slots: Vec<Option<(u64, u32, Time)>>,
    copies: u64,
}

impl Twice {
    pub(super) fn new() -> Twice {
        Twice {
            slots: vec![None; place(REMEMBERED)],
            copies: 0,
        }
    }

    /// A packet passes an interface.
    pub(super) fn record(&mut self, time: Time, interface: u32, packet: &Packet) {
        let carries = packet.tcp.is_some_and(|tcp| tcp.carries() > 0);
        let longest = match (packet.numbered, carries) {
            (true, _) => NUMBERED,
            (false, true) => NOT_NUMBERED,
            // It may be equal to others: nothing is known.
            (false, false) => return,
        };
        let slot = u32::try_from(packet.identity % u64::from(REMEMBERED)).unwrap_or(0);
        let Some(slot) = self.slots.get_mut(place(slot)) else {
            return;
        };
        if let Some((identity, at, before)) = *slot
            && identity == packet.identity
            && at == interface
            && time.saturating_since(before) <= longest
        {
            self.copies += 1;
            return;
        }
        *slot = Some((packet.identity, interface, time));
    }

    /// What has to be known of a capture with this number of packets of IP.
    pub(super) fn remark(&self, file: &str, packets: u64) -> Option<String> {
        (self.copies > 0 && self.copies.saturating_mul(SHARE) >= packets).then(|| {
            format!(
                "{file}: {} of {packets} IP packets are copies of others: frames were captured twice, as at several interfaces of a machine, a bridge \
                 or a mirrored port; copies of data count as retransmissions, copies of acknowledgements as duplicates; capture at one interface, or remove \
                 them with `editcap -d`",
                self.copies
            )
        })
    }
}
