//! What links and ports hand packets and events back to.

use super::counts::Census;
use super::flow::{Flow, direction};
use super::groups::Groups;
use crate::key::Key;
use crate::link::{Link, LinkSink};
use crate::ns2_time;
use crate::packet::{Label, NONE, Packet};
use crate::port::{DropReason, FastPort, MarkReason, PortSink};
use crate::slab::{Side, Slab, to_usize};
use crate::trace::{Event, Record, Tracer};
use sojourn_units::Time;

/// What links and ports hand packets and events back to, while one of them works.
pub(super) struct Frame<T> {
    /// The key and link of what is traced.
    pub(super) traced: (Key, u32),
    pub(super) tracer: T,
    pub(super) flows: Vec<Flow>,
    pub(super) groups: Groups,
    pub(super) slab: Slab,
    pub(super) census: Census,
    /// Packet-hops without an event in the list, until they are added to the census. A counter of its own: two that are
    /// added to at once and one by one in turn wait for each other.
    pub(super) ahead: u64,
    /// Events of sources at which they have [launched](super::launch) a packet, until they are added to the census.
    pub(super) launched: u64,
    /// Used where the ties are ns-2's.
    pub(super) ns2_clock: ns2_time::Clock,
}

/// What has become of a packet that was handed to a link.
pub(super) enum Handed {
    /// It is on its wire, starts and arrives at these times.
    Through { start: Time, arrival: Time },
    /// It waits, or is gone.
    Queued,
    /// It is still to be offered to the link.
    Not,
}

impl<T: Tracer> Frame<T> {
    /// Counts a packet that has arrived where it was sent to.
    #[inline(always)]
    pub(super) fn take_in(&mut self, packet: &Packet, now: Time) {
        self.census.delivered += 1;
        let way = &mut self.flows[to_usize(packet.flow)].ways[direction(packet)];
        way.counts.deliver(packet, now);
    }

    /// Gives up the side data of a packet.
    #[inline(always)]
    pub(super) fn release(&mut self, packet: &Packet) {
        if packet.side != NONE {
            self.slab.release(packet.side);
        }
    }

    /// Counts the packets of a silent link that have arrived before `time`.
    #[inline(always)]
    pub(super) fn absorb<P: FastPort>(&mut self, link: &mut Link<P>, time: Time) {
        let packets = link.absorb(time, |packet| {
            self.take_in(packet, packet.at);
            self.release(packet);
        });
        self.ahead += packets;
    }

    /// Takes the packet that has arrived at the far end of a plain link by the event `key`, and hands it to the link `to`.
    /// The next arrival is left to the caller to list. Nothing is traced.
    #[inline(always)]
    pub(super) fn hand_over<P: FastPort>(
        &mut self,
        from: &mut Link<P>,
        to: &mut Link<P>,
        key: &Key,
        horizon: Time,
    ) -> Handed {
        let now = key.time;
        if (to.precomputes || to.lets_through(now))
            && let Some(packet) = from.ring.flight_head()
            && packet.hops_left > 0
            && let Some((start, arrival)) = to.enter(packet.size, packet.flow, now, horizon)
        {
            if to.silent {
                self.absorb(to, now);
            }
            if let Some(packet) = to.ring.relay(&mut from.ring) {
                packet.at = arrival;
                packet.launched = start;
                packet.hops_left -= 1;
            }
            return Handed::Through { start, arrival };
        }
        match self.queue_up(from, to, key, horizon) {
            true => Handed::Queued,
            false => Handed::Not,
        }
    }

    /// Takes the packet that has arrived at the far end of a plain link, and hands it to the queue of the link `to`, if that
    /// transmits. Says whether it does.
    #[inline(always)]
    pub(super) fn queue_up<P: FastPort>(
        &mut self,
        from: &mut Link<P>,
        to: &mut Link<P>,
        key: &Key,
        horizon: Time,
    ) -> bool {
        if to.is_busy_at(key, self)
            && let Some(packet) = from.ring.flight_head()
            && packet.hops_left > 0
        {
            if to.port.admit_at_tail(packet, &to.ring, key.time)
                && let Some(packet) = to.ring.queue(&mut from.ring)
            {
                packet.at = key.time;
                packet.hops_left -= 1;
                to.waiting = true;
                if T::ON {
                    self.at_key(*key, to.index);
                    self.event(Event::Enqueue, packet);
                }
            } else {
                to.take_in(&mut from.ring, key, self);
            }
            to.launch_ahead(horizon, self);
            return true;
        }
        false
    }

    fn record(&mut self, time: Time, event: Event, packet: Label, side: Option<Side>) {
        let (key, link) = self.traced;
        let key = Key { time, ..key };
        self.tracer.record(Record {
            key,
            event,
            link,
            packet,
            side,
        });
    }
}

impl<T: Tracer> PortSink for Frame<T> {
    fn dropped(&mut self, packet: Packet, reason: DropReason, at: Time) {
        if reason == DropReason::EndOfRun {
            self.census.left += 1;
        } else {
            self.census.dropped += 1;
            let counts = packet.dst < self.groups.first || self.lose_copy(&packet);
            if counts && let Some(flow) = self.flows.get_mut(to_usize(packet.flow)) {
                flow.ways[direction(&packet)].counts.dropped_packets += 1;
            }
            if T::ON {
                let side = self.slab.get(packet.side);
                self.record(at, Event::Drop(reason), packet.label(), side);
            }
        }
        self.release(&packet);
    }

    fn marked(&mut self, label: &Label, reason: MarkReason, at: Time) {
        if T::ON {
            self.record(at, Event::Mark(reason), *label, None);
        }
    }
}

impl<T: Tracer> LinkSink for Frame<T> {
    const TRACES: bool = T::ON;

    fn at_key(&mut self, key: Key, link: u32) {
        self.traced = (key, link);
    }

    fn event(&mut self, event: Event, packet: &Packet) {
        let time = self.traced.0.time;
        self.record(time, event, packet.label(), self.slab.get(packet.side));
    }

    fn ns2_clock(&mut self) -> &mut ns2_time::Clock {
        &mut self.ns2_clock
    }
}
