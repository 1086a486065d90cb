//! The state of a network without its endpoints: links, the places of endpoints, the event list.

use super::frame::Frame;
use crate::fel::{self, AutoList, EventList};
use crate::key::Key;
use crate::link::Link;
use crate::packet::{NONE, Packet};
use crate::port::{DropReason, FastPort, PortSink};
use crate::routing::Routes;
use crate::slab::to_usize;
use crate::trace::Tracer;
use sojourn_units::Time;

/// The state of a network, its endpoints left out: they are lent this state while they work.
pub(super) struct Core<P, T> {
    pub(super) key: Key,
    /// The next stop of the run, at which everything has to be as if no packet had run ahead.
    pub(super) horizon: Time,
    /// Links whose packets in flight may run ahead, and whose event is not listed, until that is seen to.
    pub(super) due: Vec<u32>,
    pub(super) fel: AutoList,
    /// The next arrival at the end of the link whose packet has arrived last, which is to be listed.
    pub(super) again: Again,
    pub(super) links: Vec<Link<P>>,
    pub(super) routes: Routes,
    pub(super) seats: Vec<Seat>,
    /// Births say where events lie on the clock of ns-2.
    pub(super) on_ns2_clock: bool,
    pub(super) frame: Frame<T>,
}

/// An event that is to be listed, or none. Its parts are written and read one by one: to read them at once, so soon after they were
/// written, waits for all of them.
pub(super) struct Again {
    time: u64,
    birth: u64,
    /// [`NONE`] if there is none.
    id: u32,
}

impl Default for Again {
    fn default() -> Self {
        Again {
            time: 0,
            birth: 0,
            id: NONE,
        }
    }
}

impl Again {
    /// The event of a plain link is to be listed, if packets are in flight on it.
    #[inline(always)]
    pub(super) fn list<P: FastPort>(&mut self, link: &Link<P>) {
        if let Some(next) = link.next_landing() {
            self.time = next.time;
            self.birth = next.birth;
            self.id = next.id;
        }
    }

    #[inline(always)]
    fn take(&mut self) -> Option<fel::Event> {
        if self.id == NONE {
            return None;
        }
        let event = fel::Event {
            time: self.time,
            birth: self.birth,
            id: self.id,
        };
        self.id = NONE;
        Some(event)
    }
}

/// The place of an endpoint in the network, and what it has sent: one cache line.
#[repr(align(64))]
pub(super) struct Seat {
    /// When its event fires, [`Time::MAX`] if it has none. The event is in the list, except that of a source while it is
    /// *deferred*: until a packet has arrived at the end of the outlet. For a source this is the deferred event only.
    pub(super) wakes: Time,
    /// When that event was armed.
    pub(super) armed: Time,
    /// Packets of its flow that it has sent and their bytes, until they are added to the counts of the flow.
    pub(super) sent: (u64, u64),
    /// Its flow, if it has exactly one and is one end of it, or [`NONE`].
    pub(super) flow: u32,
    /// The node of the other end of that flow.
    pub(super) peer: u32,
    /// The link that leads there, or [`NONE`].
    pub(super) exit: u32,
    /// Of its component.
    pub(super) id: u32,
    pub(super) node: u32,
    /// The link whose [source](Link::source) it is, or [`NONE`].
    pub(super) outlet: u32,
    /// It is the receiver of its flow: what it sends travels back.
    pub(super) answers: bool,
    /// The codepoint of its flow, where packets have it: above the two bits of ECN.
    pub(super) tos: u8,
}

impl Seat {
    /// The event of a source that is deferred.
    #[inline(always)]
    pub(super) fn deferred(&self) -> Option<Key> {
        (self.wakes != Time::MAX).then(|| Key::event(self.wakes, self.armed, self.id))
    }
}

const _: () = assert!(size_of::<Seat>() == 64);

impl<P: FastPort, T: Tracer> Core<P, T> {
    /// The birth of an event that is scheduled now for `at`.
    #[inline]
    pub(super) fn birth(&mut self, at: Time) -> Time {
        let (now, birth) = (self.key.time, self.key.birth);
        match self.on_ns2_clock {
            true => self.frame.ns2_clock.scheduled(at, (now, birth)),
            false => now,
        }
    }

    /// Takes the next event before `limit` out of the list. Packets often arrive in pairs, so the next arrival at the end of the
    /// link that had the last one may well be it: then it need not enter the list at all.
    #[inline(always)]
    pub(super) fn next_event(&mut self, limit: u64) -> Option<fel::Event> {
        if let Some(again) = self.again.take() {
            if again.time < limit && self.fel.comes_first(again.id, again.time) {
                return Some(again);
            }
            self.fel.set(again.id, again.time, again.birth);
        }
        self.fel.pop_before(limit)
    }

    /// Tells the census and the flows what was counted elsewhere on the way.
    pub(super) fn tell_flows(&mut self) {
        let frame = &mut self.frame;
        let ahead = std::mem::take(&mut frame.ahead);
        frame.census.hops += ahead;
        frame.census.events += ahead + std::mem::take(&mut frame.launched);
        for seat in &mut self.seats {
            let (packets, bytes) = std::mem::take(&mut seat.sent);
            if packets > 0
                && let Some(flow) = frame.flows.get_mut(to_usize(seat.flow))
            {
                let counts = &mut flow.ways[usize::from(seat.answers)].counts;
                counts.sent_packets += packets;
                counts.sent_bytes += bytes;
            }
        }
    }

    /// Counts a packet of an endpoint that has several flows, or sends for one that is not its own. Says where the packet
    /// goes, whether it travels back, over which link it leaves, and its codepoint.
    #[cold]
    pub(super) fn address(&mut self, agent: u32, flow: u32, bytes: u32) -> (u32, bool, u32, u8) {
        let ways = &mut self.frame.flows[to_usize(flow)].ways;
        // A sender sends forward; whoever else sends for the flow answers.
        let reverse = ways[1].receiver != agent;
        let way = &mut ways[usize::from(reverse)];
        way.counts.sent_packets += 1;
        way.counts.sent_bytes += u64::from(bytes);
        let node = self.seats[to_usize(agent)].node;
        (way.node, reverse, self.routes.next(node, way.node), way.tos)
    }

    pub(super) fn settle(&mut self, link: usize) {
        let key = self.key;
        let l = &mut self.links[link];
        // Strictly before the current time: events at it have not run.
        if l.free_at < key.time || l.fill_at < key.time {
            let bound = Key {
                time: Time::from_ps(key.time.as_ps() - 1),
                birth: Time::MAX,
                order: u64::MAX,
            };
            l.catch_up(&bound, &mut self.frame);
        }
        l.settle_port(key.time);
        self.list_events(link);
    }

    /// Takes the packet that has arrived at the far end of a plain link, and hands it to the link `next`, which does not let
    /// it through. Lists the next arrival, unless the link feeds others.
    #[inline(never)]
    pub(super) fn pass_on(&mut self, link: u32, next: u32) {
        self.queue_up(link, next);
        if let Some(from) = self.links.get(to_usize(link))
            && !from.feeds
        {
            self.again.list(from);
        }
    }

    /// Takes the packet that has arrived at the far end of a plain link, and hands it to the link `next`, which does not let
    /// it through: as a rule that transmits, and the packet waits there.
    #[inline(always)]
    pub(super) fn queue_up(&mut self, link: u32, next: u32) {
        if let Ok([from, to]) = self
            .links
            .get_disjoint_mut([to_usize(link), to_usize(next)])
        {
            let was_listed = to.is_listed();
            let queued = self.frame.queue_up(from, to, &self.key, self.horizon);
            if to.feeds && !was_listed && to.needs_event() {
                self.due.push(next);
            }
            if queued {
                return;
            }
        }
        self.offer(link, next);
    }

    /// Takes the packet that has arrived at the far end of a plain link, and offers it to the link `next`.
    #[inline(never)]
    pub(super) fn offer(&mut self, link: u32, next: u32) {
        if let Some(from) = self.links.get_mut(to_usize(link)) {
            let packet = from.ring.land_next();
            self.forward(packet, next);
        }
    }

    /// Says whether the departure is an event in its own right: that of a lazy link only looks what is held back.
    pub(super) fn depart(&mut self, link: u32) -> bool {
        let index = to_usize(link);
        self.links[index].on_departure_event(&self.key, &mut self.frame);
        self.list_events(index);
        self.links[index].eager
    }

    /// Lists the events of a link whose state has changed outside the fast path.
    pub(super) fn list_events(&mut self, link: usize) {
        let l = &self.links[link];
        if l.calm {
            return;
        }
        if let Some((at, birth)) = l.next_delivery() {
            self.fel.set(l.id, at.as_ps(), birth.as_ps());
        }
        if let Some((at, birth)) = l.next_departure() {
            self.fel.set(l.id + 1, at.as_ps(), birth.as_ps());
        }
        if l.feeds {
            self.list_look(link);
        }
    }

    #[cold]
    pub(super) fn lose(&mut self, packet: Packet, reason: DropReason, link: u32) {
        self.frame.traced = (self.key, link);
        self.frame.dropped(packet, reason, self.key.time);
    }

    /// As [`Core::forward`], out of line.
    #[inline(never)]
    pub(super) fn forward_new(&mut self, packet: Packet, next: u32) {
        self.forward(packet, next);
    }

    /// Hands a packet to the link `next`, [`NONE`] if no route leads on.
    #[inline]
    pub(super) fn forward(&mut self, mut packet: Packet, next: u32) {
        let index = to_usize(next);
        let Some(link) = self.links.get_mut(index) else {
            self.forward_beyond(packet);
            return;
        };
        if packet.hops_left == 0 {
            self.lose(packet, DropReason::HopLimit, next);
            return;
        }
        packet.hops_left -= 1;
        let was_listed = link.is_listed();
        link.arrive(packet, &self.key, &mut self.frame);
        link.launch_ahead(self.horizon, &mut self.frame);
        if !link.plain {
            self.list_events(index);
        } else if was_listed {
        } else if link.feeds {
            if link.needs_event() {
                self.due.push(next);
            }
        } else if let Some((at, birth)) = link.next_delivery() {
            self.fel.set(link.id, at.as_ps(), birth.as_ps());
        }
    }
}

/// The key of an event of the event list.
#[inline(always)]
pub(super) fn key_of(time: u64, birth: u64, id: u32) -> Key {
    Key::event(Time::from_ps(time), Time::from_ps(birth), id)
}
