//! What an endpoint sees of the network.

use super::core::Core;
use super::spec::MAX_HOPS;
use crate::agent::Host;
use crate::fel::EventList;
use crate::link::LinkSink;
use crate::ns2_time;
use crate::packet::{Flags, NONE, Outgoing, Packet};
use crate::port::FastPort;
use crate::slab::{Side, to_usize};
use crate::trace::{Event, Tracer};
use sojourn_units::Time;

/// What an endpoint sees of the network.
pub(super) struct Cx<'a, P, T> {
    pub(super) core: &'a mut Core<P, T>,
    pub(super) agent: u32,
}

impl<P: FastPort, T: Tracer> Cx<'_, P, T> {
    #[inline(always)]
    fn emit(&mut self, flow: u32, out: Outgoing, side: u32) {
        let core = &mut *self.core;
        let now = core.key.time;
        let seat = &mut core.seats[to_usize(self.agent)];
        let (dst, reverse, next, tos) = if seat.flow == flow {
            seat.sent.0 += 1;
            seat.sent.1 += u64::from(out.size);
            (seat.peer, seat.answers, seat.exit, seat.tos)
        } else {
            core.address(self.agent, flow, out.size)
        };
        let flags = if reverse {
            out.flags.with(Flags::REVERSE)
        } else {
            out.flags
        };
        let uid = core.frame.census.next_uid();
        let packet = |at, launched, hops_left| Packet {
            at,
            launched,
            created: now,
            seq: out.seq,
            ack: out.ack,
            flow,
            dst,
            side,
            uid,
            size: out.size,
            kind: out.kind,
            tos: out.tos | tos,
            flags,
            hops_left,
        };
        if let Some(link) = core.links.get_mut(to_usize(next))
            && let Some((start, arrival)) = link.enter(out.size, flow, now, core.horizon)
        {
            let listed = link.is_listed();
            let packet = link.ring.send(packet(arrival, start, MAX_HOPS - 1));
            if T::ON {
                core.frame.at_key(core.key, link.index);
                core.frame.event(Event::Enqueue, packet);
                core.frame.event(Event::Dequeue, packet);
            }
            if listed {
            } else if !link.feeds {
                core.fel.set(link.id, arrival.as_ps(), start.as_ps());
            } else if link.needs_event() {
                core.due.push(next);
            }
        } else {
            core.forward_new(packet(now, now, MAX_HOPS), next);
        }
    }
}

impl<P: FastPort, T: Tracer> Host for Cx<'_, P, T> {
    #[inline]
    fn now(&self) -> Time {
        self.core.key.time
    }

    fn seconds(&self) -> f64 {
        let key = &self.core.key;
        match self.core.on_ns2_clock {
            true => ns2_time::seconds(key.time, key.birth),
            false => key.time.as_secs_f64(),
        }
    }

    #[inline(always)]
    fn send(&mut self, flow: u32, packet: Outgoing) {
        self.emit(flow, packet, NONE);
    }

    fn send_with(&mut self, flow: u32, packet: Outgoing, side: Side) {
        let index = self.core.frame.slab.insert(side);
        self.emit(flow, packet, index);
    }

    fn send_stamped(&mut self, flow: u32, packet: Outgoing, timestamps: (u64, u64)) {
        let index = self.core.frame.slab.insert_timestamps(timestamps);
        self.emit(flow, packet, index);
    }

    #[inline(always)]
    fn side(&self, packet: &Packet) -> Option<Side> {
        self.core.frame.slab.get(packet.side)
    }

    #[inline]
    fn armed(&mut self, at: Time) -> Time {
        self.core.birth(at)
    }

    fn armed_in(&mut self, at: Time, seconds: f64) -> (Time, Time) {
        let core = &mut *self.core;
        if core.on_ns2_clock {
            let now = ns2_time::seconds(core.key.time, core.key.birth);
            return core.frame.ns2_clock.event(now + seconds);
        }
        (at, core.birth(at))
    }

    #[inline]
    fn wake(&mut self, at: Time, armed: Time) {
        let core = &mut *self.core;
        let seat = &mut core.seats[to_usize(self.agent)];
        seat.wakes = at;
        seat.armed = armed;
        if seat.outlet == NONE {
            core.fel.set(seat.id, at.as_ps(), armed.as_ps());
        }
    }
}
