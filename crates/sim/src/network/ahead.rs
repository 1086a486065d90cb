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
//! feeder on which packets wait and none is in flight has to *look* instead: when the packet that it transmits arrives. What
//! is launched until then arrives later than that. At a stop no feeder looks: what it transmits then is in its flight. What a
//! shaper holds back counts as what it transmits, until the time at which it may give a packet.
//!
//! A feeder all of whose packets go on to silent links is *calm*: nothing follows from where its packets are, and it lets
//! them run ahead a number at once, and the rest when the run stops, and needs no event. A packet that has to wait in a
//! silent link is delivered there with the rest, at its own time: that link gets its packets from this feeder only.
//!
//! Where an endpoint gets all its packets over one link that carries nothing else, and alone sends over the link by which
//! it answers, it may get a packet ahead of time in the same way. Its own timers that are due before fire first.
//! What it sends then is on its way with the times that it has. And what arrives at the end of a silent link before the
//! next stop is counted at once.

use super::core::Core;
use super::{Agent, Key, Network, Tracer};
use crate::fel::EventList;
use crate::link::AT_ONCE;
use crate::packet::NONE;
use crate::port::FastPort;
use crate::slab::to_usize;
use sojourn_units::Time;

impl<P: FastPort, A: Agent, T: Tracer> Network<P, A, T> {
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
    pub(super) fn run_ahead_of(&mut self, link: u32) {
        loop {
            let (agent, told) = match self.core.send_ahead(link) {
                Step::Stays if self.core.is_calm(link) => match self.core.deliver_from_calm(link) {
                    true => continue,
                    false => return self.core.calm_down(link),
                },
                Step::Stays => break,
                Step::Moved => continue,
                Step::Arrives(agent, key) => (agent, key),
            };
            // The packet is at the head of the flight still, and nothing else reaches the agent before it.
            self.wake_before(agent, &told);
            let Some(from) = self.core.links.get_mut(to_usize(link)) else {
                return;
            };
            let packet = from.ring.land_ahead(told.time, told.birth);
            self.core.key = told;
            self.hand_to(agent, &packet);
        }
        let index = to_usize(link);
        if let Some(next) = self.core.links[index].next_landing() {
            self.core.fel.set(next.id, next.time, next.birth);
        }
        self.core.list_look(index);
    }
}

impl<P: FastPort, A: Agent, T: Tracer> Network<P, A, T> {
    /// A packet that has arrived at the far end of a plain link at `now` has been let through by the feeder `next`, on which
    /// nothing else is, and will be at its end at `arrival`. It may run ahead from there at once, without having been put into
    /// the flight of the feeder: as a rule through one more link to an endpoint.
    #[inline(never)]
    pub(super) fn go_straight_on(&mut self, link: u32, next: u32, start: Time, arrival: Time) {
        let core = &mut self.core;
        let told = core.straight_on(link, next, start, arrival);
        let Some(from) = core.links.get_mut(to_usize(link)) else {
            return;
        };
        let packet = told.map(|(_, key)| from.ring.land_ahead(key.time, key.birth));
        core.again.list(from);
        if let (Some((agent, key)), Some(packet)) = (told, packet) {
            self.wake_before(agent, &key);
            self.core.key = key;
            self.hand_to(agent, &packet);
        }
    }

    /// Fires the timers of an agent that are due before something reaches it at `told`. Nothing else reaches it until then.
    #[inline(always)]
    fn wake_before(&mut self, agent: u32, told: &Key) {
        while let Some(seat) = self.core.seats.get(to_usize(agent))
            && seat.wakes <= told.time
            && self.wake_ahead(agent, told)
        {}
    }

    /// Lets the event of an agent happen now if it comes before `told`; says whether it does.
    #[cold]
    #[inline(never)]
    fn wake_ahead(&mut self, agent: u32, told: &Key) -> bool {
        let seat = &mut self.core.seats[to_usize(agent)];
        let (id, key) = (seat.id, Key::event(seat.wakes, seat.armed, seat.id));
        if key > *told {
            return false;
        }
        seat.wakes = Time::MAX;
        self.core.key = key;
        self.core.frame.census.events += 1;
        self.wake(agent);
        if self.core.seats[to_usize(agent)].wakes == Time::MAX {
            self.core.fel.cancel(id);
        }
        true
    }
}

/// How far a packet has run ahead.
enum Step {
    /// Not at all.
    Stays,
    /// Into another link, or to its end.
    Moved,
    /// To this endpoint, which has still to get it, with this key.
    Arrives(u32, Key),
}

/// When a packet arrives at the end of a link and was launched there. Then the agent that gets it ahead of time, if one does, and
/// the key of that event.
type Crossing = ((Time, Time), Option<(u32, Key)>);

impl<P: FastPort, T: Tracer> Core<P, T> {
    /// Lists the event with which a feeder looks, if it needs one and has none. The event list has its next arrival.
    pub(super) fn list_look(&mut self, feeder: usize) {
        let link = &mut self.links[feeder];
        let needed = link.waiting && link.ring.in_flight() == 0 && !link.calm;
        if needed
            && !link.looks
            && let Some(at) = link.free_at.checked_add(link.delay)
        {
            // Born before every other event of that time, so that what is launched then is in the list in time.
            self.fel.set(link.id, at.as_ps(), Time::ZERO.as_ps());
        }
        link.looks = needed;
    }

    #[inline(always)]
    fn is_calm(&self, link: u32) -> bool {
        self.links.get(to_usize(link)).is_some_and(|link| link.calm)
    }

    /// The packets that a calm link has in flight now arrive after the next stop: it tries again when it has launched more.
    fn calm_down(&mut self, link: u32) {
        let link = &mut self.links[to_usize(link)];
        link.enough = link.ring.in_flight() + AT_ONCE;
    }

    /// Delivers the packet that arrives next at the end of a calm link at its own time, be that past or to come: it has to
    /// wait in the silent link to which it goes on. Says whether it did.
    #[inline(never)]
    fn deliver_from_calm(&mut self, link: u32) -> bool {
        let from = &self.links[to_usize(link)];
        let Some(packet) = from.ring.flight_head() else {
            return false;
        };
        if packet.at >= self.horizon {
            return false;
        }
        self.key = Key::event(packet.at, packet.launched, from.id);
        let next = self.routes.towards(from.exits, packet.dst);
        self.frame.ahead += 1;
        self.pass_on(link, next);
        true
    }

    /// True if the agent of a link may get now a packet that arrives at `at`: there is one, and nobody looks at it before.
    #[inline(always)]
    fn hears_ahead(&self, agent: u32, at: Time) -> bool {
        agent != NONE && at < self.horizon
    }

    /// What [`Network::go_straight_on`] does to the links beyond. Returns the agent that is to get the packet, and the key of that
    /// event; then the packet is still in the flight of `link`. Otherwise it is in the flight of another link.
    #[inline(always)]
    fn straight_on(
        &mut self,
        link: u32,
        next: u32,
        start: Time,
        arrival: Time,
    ) -> Option<(u32, Key)> {
        let feeder = self.links.get_mut(to_usize(next))?;
        feeder.looks = false;
        let (end, exits) = (feeder.to, feeder.exits);
        let packet = self.links.get(to_usize(link))?.ring.flight_head()?;
        let (load, dst, hops_left) = ((packet.size, packet.flow), packet.dst, packet.hops_left);
        if dst != end && arrival < self.horizon && hops_left > 1 {
            let exit = self.routes.towards(exits, dst);
            if let Some((times, told)) = self.cross_exit(exit, load, arrival) {
                if told.is_none() {
                    self.move_ahead(link, exit, times, 2);
                }
                return told;
            }
        }
        self.move_ahead(link, next, (arrival, start), 1);
        None
    }

    /// Lets a packet of `size` bytes that will arrive at `at` straight through the link `exit`. That link has to be empty and to lead
    /// to an agent that may get packets ahead of time.
    #[inline(always)]
    fn cross_exit(&mut self, exit: u32, (size, flow): (u32, u32), at: Time) -> Option<Crossing> {
        let link = self.links.get_mut(to_usize(exit))?;
        let agent = link.answers;
        if agent == NONE || link.ring.in_flight() > 0 {
            return None;
        }
        let (start, arrival) = link.enter_ahead(size, flow, at, self.horizon)?;
        let key = Key::event(arrival, start, link.id);
        self.frame.ahead += 1;
        let told = self.hears_ahead(agent, arrival);
        self.frame.ahead += u64::from(told);
        Some(((arrival, start), told.then_some((agent, key))))
    }

    /// Moves the packet that arrives next at the end of `link` into the flight of the link `to`, where it arrives and was launched
    /// at these times. It has crossed `crossed` links on the way.
    #[inline(always)]
    fn move_ahead(&mut self, link: u32, to: u32, (at, launched): (Time, Time), crossed: u8) {
        let pair = [to_usize(link), to_usize(to)];
        let Ok([from, to_link]) = self.links.get_disjoint_mut(pair) else {
            return;
        };
        let listed = to_link.is_listed();
        let Some(packet) = to_link.ring.relay(&mut from.ring) else {
            return;
        };
        packet.at = at;
        packet.launched = launched;
        packet.hops_left -= crossed;
        if !listed {
            if !to_link.feeds {
                self.fel.set(to_link.id, at.as_ps(), launched.as_ps());
            } else if to_link.needs_event() {
                self.due.push(to);
            }
        }
    }

    /// Lets the packet that arrives next at the end of a link run ahead.
    #[inline(always)]
    fn send_ahead(&mut self, link: u32) -> Step {
        let Some(from) = self.links.get(to_usize(link)) else {
            return Step::Stays;
        };
        let Some(packet) = from.ring.flight_head() else {
            return Step::Stays;
        };
        let (at, hops_left) = (packet.at, packet.hops_left);
        let (size, flow) = (packet.size, packet.flow);
        if packet.dst == from.to {
            if !self.hears_ahead(from.answers, at) {
                return Step::Stays;
            }
            self.frame.ahead += 1;
            let key = Key::event(at, packet.launched, from.id);
            return Step::Arrives(from.answers, key);
        }
        if at >= self.horizon || hops_left == 0 {
            return Step::Stays;
        }
        let next = self.routes.towards(from.exits, packet.dst);
        if !from.calm
            && let Some((times, told)) = self.cross_exit(next, (size, flow), at)
        {
            if let Some((agent, key)) = told {
                return Step::Arrives(agent, key);
            }
            self.move_ahead(link, next, times, 1);
            return Step::Moved;
        }
        let horizon = self.horizon;
        let Ok([from, to]) = self
            .links
            .get_disjoint_mut([to_usize(link), to_usize(next)])
        else {
            return Step::Stays;
        };
        let Some((start, arrival)) = to.enter_ahead(size, flow, at, horizon) else {
            return Step::Stays;
        };
        self.frame.ahead += 1;
        if to.silent {
            // Whatever arrives before the horizon may be counted now: nobody looks before.
            self.frame.absorb(to, horizon);
            if arrival < horizon {
                self.frame.ahead += 1;
                if let Some(packet) = from.ring.flight_head() {
                    self.frame.take_in(packet, arrival);
                    self.frame.release(packet);
                }
                from.ring.land_before(Time::MAX, |_| {});
                return Step::Moved;
            }
        }
        self.move_ahead(link, next, (arrival, start), 1);
        Step::Moved
    }
}
