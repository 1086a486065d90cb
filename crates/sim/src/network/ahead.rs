//! Packets that run ahead: the passage of the next link is dealt with when a packet is launched, not when it arrives there.
//!
//! Where a link gets all its packets from one other, its *feeder*, what a packet meets there follows from the packets
//! before it on the feeder. So as soon as the feeder has launched a packet that the next link will let straight through,
//! the packet is moved into the flight of that link, with the times that it has there; the feeder needs no event for it.
//! A packet that will have to wait, or that arrives at its destination, stays in the flight of the feeder until it
//! arrives, and so do those behind it; when it has arrived they run ahead in turn.
//!
//! No packet runs ahead of the next stop of the run: at a stop every packet is where it would be otherwise, and is counted
//! as it would be. That is why nothing ever has to be taken back.
//!
//! Departures are replayed when something needs to know of them, and the deliveries of a link are the last to do so. A
//! feeder on which packets wait and none is in flight has to *look* instead: at the time at which the packet now in
//! transmission is on the wire for the delay of the link. What is launched until then arrives later than that.

use super::{Agent, Core, Key, Network, Tracer};
use crate::fel::EventList;
use crate::packet::NONE;
use crate::port::Port;
use crate::slab::to_usize;
use sojourn_units::Time;

impl<P: Port, A: Agent, T: Tracer> Network<P, A, T> {
    /// The event of a feeder. Says whether a packet has arrived; otherwise the feeder only looks.
    #[inline(never)]
    pub(super) fn deliver_from_feeder(&mut self, link: u32) -> bool {
        let core = &mut self.core;
        let key = core.key;
        let Some(feeder) = core.links.get_mut(to_usize(link)) else {
            return false;
        };
        feeder.looks = false;
        if feeder.waiting {
            feeder.catch_up(&key.including_departure(), &mut core.frame);
        }
        let arrived = feeder
            .ring
            .flight_head()
            .is_some_and(|packet| packet.at == key.time);
        if arrived {
            let id = feeder.id;
            self.deliver::<true>(link, key.time.as_ps(), key.birth.as_ps(), id);
        }
        self.core.due.push(link);
        arrived
    }

    /// Sees to the links that are due.
    #[inline(always)]
    pub(super) fn run_ahead(&mut self) {
        while let Some(link) = self.core.due.pop() {
            self.run_ahead_of(link);
        }
    }

    /// Lets the packets in flight on a link run ahead, up to the first one that cannot, and lists the event of the link:
    /// none of its packets in flight is in the list.
    #[inline(never)]
    fn run_ahead_of(&mut self, link: u32) {
        let index = to_usize(link);
        match self.core.links[index].answers {
            NONE => while self.core.head_runs_ahead(link) {},
            agent => {
                let key = self.core.key;
                while self.is_told_ahead(link, agent) {}
                self.core.key = key;
            }
        }
        if let Some((id, at, birth)) = self.core.links[index].next_landing() {
            self.core.fel.set(id, at, birth);
        }
        self.core.list_look(index);
    }

    /// Tells an agent of the packet that arrives next at the end of the link, the only one over which it gets packets;
    /// says whether it can. What the agent does until then has to be done already.
    #[inline(always)]
    fn is_told_ahead(&mut self, link: u32, agent: u32) -> bool {
        let core = &mut self.core;
        let Some(from) = core.links.get_mut(to_usize(link)) else {
            return false;
        };
        let Some(packet) = from.ring.flight_head() else {
            return false;
        };
        let at = packet.at;
        let wake = core.fel.pending(core.seats[to_usize(agent)].id);
        if at >= core.horizon || wake.is_some_and(|(time, _)| time <= at.as_ps()) {
            return false;
        }
        core.key = Key::event(at, packet.launched, from.id);
        let packet = from.ring.land_next();
        core.frame.census.hops += 1;
        core.frame.census.events += 1;
        self.consume(&packet);
        true
    }
}

impl<P: Port, T: Tracer> Core<P, T> {
    /// As [`Core::list_look`], when the delay of the link has changed.
    pub(super) fn list_look_anew(&mut self, link: usize) {
        self.links[link].looks = false;
        if self.links[link].feeds {
            self.list_look(link);
        }
    }

    /// Lists the event with which a feeder looks, if it needs one and has none. The event list has its next arrival.
    pub(super) fn list_look(&mut self, feeder: usize) {
        let link = &mut self.links[feeder];
        let needed = link.waiting && link.ring.in_flight() == 0;
        if needed && !link.looks {
            let at = link.free_at + link.delay;
            // Born before every other event of that time, so that what is launched then is in the list in time.
            self.fel.set(link.id, at.as_ps(), Time::ZERO.as_ps());
        }
        link.looks = needed;
    }

    /// Lets the packet that arrives next at the end of a feeder run ahead; says whether it can.
    #[inline(always)]
    fn head_runs_ahead(&mut self, feeder: u32) -> bool {
        let Some(from) = self.links.get(to_usize(feeder)) else {
            return false;
        };
        let Some(packet) = from.ring.flight_head() else {
            return false;
        };
        let (at, size, hops_left) = (packet.at, packet.size, packet.hops_left);
        if at >= self.horizon || packet.dst == from.to || hops_left == 0 {
            return false;
        }
        let next = self.routes.towards(from.exits, packet.dst);
        let Ok([from, to]) = self
            .links
            .get_disjoint_mut([to_usize(feeder), to_usize(next)])
        else {
            return false;
        };
        if !to.lets_through_ahead(size, at) {
            return false;
        }
        // As if the feeder had delivered it.
        self.frame.census.hops += 1;
        self.frame.census.events += 1;
        if to.silent {
            // Whatever arrives before the horizon may be counted now: nobody looks earlier.
            self.frame.absorb(to, self.horizon);
        }
        let listed = to.is_listed();
        let arrival = to.let_through(size, at);
        if to.silent && arrival < self.horizon {
            let frame = &mut self.frame;
            frame.census.hops += 1;
            frame.census.events += 1;
            return from.ring.land_before(Time::MAX, |packet| {
                frame.take_in(packet, arrival);
                frame.release(packet);
            });
        }
        let Some(packet) = to.ring.relay(&mut from.ring) else {
            return false;
        };
        packet.at = arrival;
        packet.launched = at;
        packet.hops_left = hops_left - 1;
        if listed {
        } else if to.feeds {
            self.due.push(next);
        } else {
            self.fel.set(to.id, arrival.as_ps(), at.as_ps());
        }
        true
    }
}
