//! The same packets in two captures: one-way delay and loss.
//!
//! A packet is known again by what stays the same on its way ([`Packet::identity`]); several of the same identity are matched in order.
//! Clocks are taken as they are: a direction whose packets mostly pass the second capture first goes the other way, and its delays are
//! turned round.
//!
//! A packet that the other capture does not have was lost between them, or never was at the other one, if it would have to be there:
//! it passed when the other capture had begun, and as long before the last packet of that one as any of its direction took. Otherwise
//! it is *open*: perhaps it was under way when the capture ended, or came before it began. What is forgotten because of the horizon is
//! decided by the same rule, for which it is enough to know whether the other capture has had a packet since.

use crate::traces::event::{Lookup, place};
use crate::traces::frame::{Key, Packet};
use crate::traces::moments::{Counts, Jitter, Spans, signed};
use sojourn_units::{Span, Time};
use std::collections::VecDeque;

/// Unmatched packets before the first look for those that are too old.
const SWEEP: usize = 1 << 12;

/// Matching of two captures.
pub(super) struct Paths {
    pub(super) ways: Vec<Way>,
    by_key: Lookup<Key, u32>,
    waiting: [Lookup<u64, VecDeque<Waiting>>; 2],
    count: usize,
    sweep: usize,
    horizon: Span,
    /// Of either capture: time of the first packet and of the last, and how many there were.
    extent: [Option<(Time, Time)>; 2],
    packets: [u64; 2],
}

/// One direction of a conversation, in both captures.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Way {
    pub(super) key: Key,
    /// Packets in the first and in the second capture.
    pub(super) seen: [Counts; 2],
    /// Packets that are in the first or second alone, and would have to be in the other.
    pub(super) alone: [Counts; 2],
    /// Packets that are in the first or second alone, when the other had not begun or was over.
    pub(super) open: [Counts; 2],
    /// Packets that are in the first or second alone, since the other has had so many.
    since: [(u64, Counts); 2],
    /// Delays of packets that passed the first capture first, and of the others.
    pub(super) delays: [Spans; 2],
    pub(super) jitter: Jitter,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    time: Time,
    way: u32,
    size: u32,
}

impl Way {
    /// The capture that its packets pass first: 0 or 1.
    pub(super) fn first(&self) -> usize {
        let matched = self.delays.each_ref().map(Spans::count);
        let by_delay = matched[1] > matched[0];
        let by_presence = matched == [0, 0] && self.seen[1].packets > self.seen[0].packets;
        usize::from(by_delay || by_presence)
    }
}

impl Paths {
    pub(super) fn new(horizon: Span) -> Paths {
        Paths {
            ways: Vec::new(),
            by_key: Lookup::default(),
            waiting: [Lookup::default(), Lookup::default()],
            count: 0,
            sweep: SWEEP,
            horizon,
            extent: [None; 2],
            packets: [0; 2],
        }
    }

    /// A packet of the first capture.
    pub(super) fn sender(&mut self, time: Time, packet: &Packet) {
        self.seen(0, time, packet);
    }

    /// A packet of the second capture.
    pub(super) fn receiver(&mut self, time: Time, packet: &Packet) {
        self.seen(1, time, packet);
    }

    fn seen(&mut self, side: usize, time: Time, packet: &Packet) {
        let next = u32::try_from(self.ways.len()).unwrap_or(u32::MAX - 1);
        let way = *self.by_key.entry(packet.key).or_insert(next);
        if way == next {
            self.ways.push(Way {
                key: packet.key,
                seen: Default::default(),
                alone: Default::default(),
                open: Default::default(),
                since: Default::default(),
                delays: Default::default(),
                jitter: Jitter::default(),
            });
        }
        self.ways[place(way)].seen[side].record(packet.bytes);
        let first = self.extent[side].map_or(time, |(first, _)| first);
        self.extent[side] = Some((first, time));
        self.packets[side] += 1;
        let horizon = self.horizon;
        let partner = self.waiting[1 - side]
            .get_mut(&packet.identity)
            .and_then(|queue| {
                // Those that are too old stay for the sweep.
                let fresh = queue
                    .iter()
                    .position(|other| other.time.saturating_add(horizon) >= time)?;
                queue.remove(fresh)
            });
        match partner {
            Some(partner) => {
                self.count -= 1;
                let way = &mut self.ways[place(way)];
                let took = time.saturating_since(partner.time);
                // The partner came first.
                way.delays[1 - side].record(took);
                let transit = match side {
                    1 => signed(time, partner.time),
                    _ => signed(partner.time, time),
                };
                way.jitter.record(transit, true);
            }
            None => {
                let size = packet.bytes;
                let queue = self.waiting[side].entry(packet.identity).or_default();
                queue.push_back(Waiting { time, way, size });
                self.count += 1;
                if self.count > self.sweep {
                    self.forget(Some(time));
                }
            }
        }
    }

    /// Counts and removes those that are too old, or all.
    fn forget(&mut self, now: Option<Time>) {
        let mut waiting = std::mem::take(&mut self.waiting);
        let horizon = self.horizon;
        self.count = 0;
        for (side, waiting) in waiting.iter_mut().enumerate() {
            waiting.retain(|_, queue| {
                queue.retain(|packet| {
                    let keep = now.is_some_and(|now| packet.time.saturating_add(horizon) >= now);
                    if !keep {
                        self.give_up(side, packet);
                    }
                    keep
                });
                self.count += queue.len();
                !queue.is_empty()
            });
        }
        self.waiting = waiting;
        self.sweep = SWEEP.max(2 * self.count);
    }

    /// A packet of one capture is in no other.
    fn give_up(&mut self, side: usize, packet: &Waiting) {
        let way = &mut self.ways[place(packet.way)];
        let latest = packet.time.saturating_add(way.delays[side].most());
        match self.extent[1 - side] {
            Some((first, last)) if first <= packet.time && latest <= last => {
                way.alone[side].record(packet.size);
            }
            // Another packet of the other capture would come a horizon later at least, and so after the longest delay.
            Some((first, _)) if first <= packet.time => {
                let now = self.packets[1 - side];
                let (then, counts) = &mut way.since[side];
                if *then != now {
                    way.alone[side].add(std::mem::take(counts));
                    *then = now;
                }
                counts.record(packet.size);
            }
            _ => way.open[side].record(packet.size),
        }
    }

    /// Both captures are over.
    pub(super) fn finish(&mut self) {
        self.forget(None);
        for way in &mut self.ways {
            for side in [0, 1] {
                let (then, counts) = std::mem::take(&mut way.since[side]);
                match then == self.packets[1 - side] {
                    true => way.open[side].add(counts),
                    false => way.alone[side].add(counts),
                }
            }
        }
    }
}
