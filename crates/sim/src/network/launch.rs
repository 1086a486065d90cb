//! Sources that launch: the sender that alone uses a link and hears nothing back sends its next packet when the one
//! before has arrived, at its own time.
//!
//! Its event is *deferred* until then: nothing that happens meanwhile reaches it. As a rule the next packet finds the link
//! free; then one stroke hands over the packet that has arrived and launches the next, one event per packet in all.

use super::core::{Seat, key_of};
use super::frame::{Frame, Handed};
use super::{Agent, Key, MAX_HOPS, Network, Tracer};
use crate::agent::Launch;
use crate::fel::{AutoList, EventList};
use crate::link::Link;
use crate::packet::{NONE, Packet};
use crate::port::FastPort;
use crate::slab::to_usize;
use sojourn_units::Time;

impl<P: FastPort, A: Agent, T: Tracer> Network<P, A, T> {
    /// A packet has arrived at the far end of a link with a source. When it was the last one in flight, the source goes on:
    /// as a rule it launches the next packet, which finds the link free, in the same stroke.
    #[inline(never)]
    pub(super) fn deliver_from_outlet(&mut self, link: u32, time: u64, birth: u64, id: u32) {
        let core = &mut self.core;
        let index = to_usize(link);
        let Some((source, next)) = core.links.get(index).map(|l| (l.source, l.onward)) else {
            return;
        };
        let key = key_of(time, birth, id);
        let (Ok([outlet, to]), Some(seat), Some(endpoint)) = (
            core.links.get_disjoint_mut([index, to_usize(next)]),
            core.seats.get_mut(to_usize(source)),
            self.agents.get_mut(to_usize(source)),
        ) else {
            return self.deliver_and_go_on(link, key);
        };
        let at = seat.wakes;
        if at >= core.horizon || !outlet.lets_through(at) || outlet.ring.in_flight() != 1 {
            return self.deliver_and_go_on(link, key);
        }
        core.frame.census.hops += 1;
        let was_listed = to.is_listed();
        let handed = core.frame.hand_over(outlet, to, &key, core.horizon);
        if !was_listed {
            if to.feeds {
                if to.needs_event() {
                    core.due.push(next);
                }
            } else if let Handed::Through { start, arrival } = handed {
                core.fel.set(to.id, arrival.as_ps(), start.as_ps());
            }
        }
        let launched = if let Handed::Not = handed {
            core.key = key;
            core.offer(link, next);
            self.launch_from(link, source, at)
        } else {
            launch(&mut core.frame, &mut core.fel, outlet, seat, endpoint, at)
        };
        match launched {
            Launched::One => {}
            Launched::More => {
                let id = self.core.seats[to_usize(source)].id;
                self.core.key = Key::event(at, at, id);
                self.wake(source);
            }
            Launched::Nothing => self.go_on(source),
        }
    }

    /// As [`launch`], of a source and its link.
    #[inline(never)]
    fn launch_from(&mut self, link: u32, source: u32, at: Time) -> Launched {
        let core = &mut self.core;
        match (
            core.links.get_mut(to_usize(link)),
            core.seats.get_mut(to_usize(source)),
            self.agents.get_mut(to_usize(source)),
        ) {
            (Some(outlet), Some(seat), Some(endpoint)) => {
                launch(&mut core.frame, &mut core.fel, outlet, seat, endpoint, at)
            }
            _ => Launched::Nothing,
        }
    }

    /// As [`Network::deliver_from_outlet`], in any case.
    #[inline(never)]
    fn deliver_and_go_on(&mut self, link: u32, key: Key) {
        let index = to_usize(link);
        let core = &mut self.core;
        let Some(outlet) = core.links.get(index) else {
            return;
        };
        let source = outlet.source;
        let due = core.seats.get(to_usize(source)).map(|seat| seat.wakes);
        if outlet.waiting || due.is_some_and(|at| at <= outlet.free_at) {
            // What is sent while the link transmits comes before the departures up to now.
            self.wake_deferred(source, &key);
        }
        let id = self.core.links[index].id;
        self.deliver::<false>(link, key.time.as_ps(), key.birth.as_ps(), id);
        self.go_on(source);
    }

    /// Lets a source go on until it has a packet in flight: at its own time, be that past or to come, as nothing that
    /// happens meanwhile reaches it.
    #[inline(never)]
    pub(super) fn go_on(&mut self, source: u32) {
        loop {
            let core = &mut self.core;
            let Some(seat) = core.seats.get_mut(to_usize(source)) else {
                return;
            };
            let Some(outlet) = core.links.get(to_usize(seat.outlet)) else {
                return;
            };
            if outlet.is_listed() {
                return;
            }
            let Some(key) = seat.deferred() else {
                return;
            };
            seat.wakes = Time::MAX;
            if key.time >= core.horizon {
                core.fel.set(seat.id, key.time.as_ps(), key.birth.as_ps());
                return;
            }
            core.key = key;
            core.frame.census.events += 1;
            self.wake(source);
        }
    }

    /// Lets the events of an agent happen that are deferred and come before `bound`.
    #[inline]
    pub(super) fn wake_deferred(&mut self, agent: u32, bound: &Key) {
        loop {
            let seat = &mut self.core.seats[to_usize(agent)];
            let Some(key) = seat.deferred().filter(|key| key < bound) else {
                return;
            };
            seat.wakes = Time::MAX;
            self.core.key = key;
            self.core.frame.census.events += 1;
            self.wake(agent);
        }
    }
}

/// What a source has launched.
enum Launched {
    /// A packet; the next one is due later, if there is one.
    One,
    /// A packet, and more is due at the same event.
    More,
    /// It has nothing to send at its event, or does not say so beforehand.
    Nothing,
}

/// A source whose event is deferred to `at` sends its next packet over its link, on which nothing is and which lets it
/// through.
#[inline(always)]
fn launch<P: FastPort, A: Agent, T: Tracer>(
    frame: &mut Frame<T>,
    fel: &mut AutoList,
    outlet: &mut Link<P>,
    seat: &mut Seat,
    endpoint: &mut A,
    at: Time,
) -> Launched {
    let Some(Launch { flow, packet, next }) = endpoint.launch(at) else {
        return Launched::Nothing;
    };
    frame.launched += 1;
    seat.sent.0 += 1;
    seat.sent.1 += u64::from(packet.size);
    seat.wakes = next.unwrap_or(Time::MAX);
    seat.armed = at;
    let arrival = outlet.let_through(packet.size, flow, at);
    outlet.ring.send(Packet {
        at: arrival,
        launched: at,
        created: at,
        seq: packet.seq,
        ack: packet.ack,
        flow,
        dst: seat.peer,
        side: NONE,
        uid: frame.census.next_uid(),
        size: packet.size,
        kind: packet.kind,
        tos: packet.tos | seat.tos,
        flags: packet.flags,
        hops_left: MAX_HOPS - 1,
    });
    fel.set(outlet.id, arrival.as_ps(), at.as_ps());
    if next.is_some_and(|next| next <= at) {
        seat.wakes = Time::MAX;
        return Launched::More;
    }
    Launched::One
}
