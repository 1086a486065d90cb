//! A network of one end, which keeps what is sent.

use sojourn_sim::{Host, Outgoing, Packet, Side};
use sojourn_units::Time;

#[derive(Default)]
pub(super) struct Wire {
    pub(super) now: Time,
    /// What was sent beside packets, and when.
    pub(super) sent: Vec<(Time, Side)>,
    /// What the packet has beside it that arrives next.
    pub(super) side: Option<Side>,
    pub(super) wake: Option<Time>,
}

impl Host for Wire {
    fn now(&self) -> Time {
        self.now
    }
    fn send(&mut self, flow: u32, packet: Outgoing) {
        self.send_with(flow, packet, Side::default());
    }
    fn send_with(&mut self, _flow: u32, _packet: Outgoing, side: Side) {
        self.sent.push((self.now, side));
    }
    fn side(&self, _packet: &Packet) -> Option<Side> {
        self.side
    }
    fn wake(&mut self, at: Time, _armed: Time) {
        self.wake = Some(at);
    }
}
