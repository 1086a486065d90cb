//! A host for tests: it keeps what an endpoint does, and a test plays the network.

use sojourn_sim::{Agent, Flags, Host, Outgoing, Packet, Side};
use sojourn_units::{Span, Time};

/// Keeps every packet sent and the event that is listed.
#[derive(Debug, Default)]
pub(crate) struct Bench {
    pub(crate) now: Time,
    pub(crate) sent: Vec<Outgoing>,
    pub(crate) wake: Option<Time>,
}

impl Host for Bench {
    fn now(&self) -> Time {
        self.now
    }

    fn send(&mut self, _flow: u32, packet: Outgoing) {
        self.sent.push(packet);
    }

    fn send_with(&mut self, _flow: u32, packet: Outgoing, _side: Side) {
        self.sent.push(packet);
    }

    fn side(&self, _packet: &Packet) -> Option<Side> {
        None
    }

    fn wake(&mut self, at: Time, _armed: Time) {
        self.wake = Some(at);
    }
}

impl Bench {
    /// Packets sent since the last call.
    pub(crate) fn take(&mut self) -> Vec<Outgoing> {
        std::mem::take(&mut self.sent)
    }

    /// Lets time pass, and the endpoint's events happen.
    pub(crate) fn pass<A: Agent>(&mut self, span: Span, agent: &mut A) {
        let until = self.now + span;
        while let Some(at) = self.wake.filter(|&at| at <= until) {
            self.wake = None;
            self.now = at;
            agent.on_wake(self);
        }
        self.now = until;
    }

    /// Hands a packet to the endpoint.
    pub(crate) fn give<A: Agent>(&mut self, out: Outgoing, agent: &mut A) {
        agent.on_packet(&packet(out), self);
    }

    /// Hands it an acknowledgement.
    pub(crate) fn ack<A: Agent>(&mut self, ack: u64, agent: &mut A) {
        self.ack_with(ack, Flags::NONE, agent);
    }

    /// Hands it an acknowledgement with flags.
    pub(crate) fn ack_with<A: Agent>(&mut self, ack: u64, flags: Flags, agent: &mut A) {
        let out = Outgoing {
            ack,
            flags,
            size: 40,
            ..Outgoing::default()
        };
        self.give(out, agent);
    }
}

/// The packet that would arrive.
pub(crate) fn packet(out: Outgoing) -> Packet {
    let mut packet = Packet::test(out.size, 0, 0);
    packet.seq = out.seq;
    packet.ack = out.ack;
    packet.kind = out.kind;
    packet.tos = out.tos;
    packet.flags = out.flags;
    packet
}
