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

use super::tables::key_name;
use crate::error::{LabError, LabErrorKind, Result};
use crate::traces::event::{Lookup, place};
use crate::traces::frame::{Key, Packet};
use crate::traces::moments::{Counts, Jitter, Spans, signed};
use sojourn_units::{Span, Time};
use std::collections::VecDeque;

/// Unmatched packets before the first look for those that are too old.
const SWEEP: usize = 1 << 12;

/// One late match in so many others may be chance.
const CHANCE: u64 = 10;

/// Matching of two captures.
pub(super) struct Paths {
    pub(super) ways: Vec<Way>,
    by_key: Lookup<Key, u32>,
    waiting: [Lookup<u64, VecDeque<Waiting>>; 2],
    count: usize,
    sweep: usize,
    horizon: Span,
    /// Packets that are in one capture alone, and of which the other had one of the same identity longer ago than the horizon; and the
    /// longest of these times.
    late: (u64, Span),
    /// Packets that were matched.
    pub(super) matched: u64,
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
    /// How long ago the other capture had one of the same identity, if that is longer than the horizon; zero if it had none.
    after: Span,
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
            late: (0, Span::ZERO),
            matched: 0,
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
                self.matched += 1;
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
                let old = self.waiting[1 - side].get(&packet.identity);
                let after = old
                    .and_then(VecDeque::front)
                    .map_or(Span::ZERO, |old| time.saturating_since(old.time));
                let size = packet.bytes;
                let queue = self.waiting[side].entry(packet.identity).or_default();
                queue.push_back(Waiting {
                    time,
                    way,
                    size,
                    after,
                });
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
        if !packet.after.is_zero() {
            self.late = (self.late.0 + 1, self.late.1.max(packet.after));
        }
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

    /// What is wrong with the match of two captures, `names`, as a whole.
    ///
    /// A packet that takes longer than the horizon would be lost in one capture and, once more, alone in the other. A few such
    /// matches are chance: another packet of the same content.
    ///
    /// # Errors
    /// If the captures have no packet in common, or too many took longer than the horizon.
    pub(super) fn check(&self, [first, second]: [&str; 2]) -> Result<()> {
        let (late, longest) = self.late;
        let horizon = self.horizon;
        if late > 0 && late * CHANCE >= self.matched {
            let problem = format!(
                "{late} packets are in both captures and took longer than that, the longest {longest}; each would be counted twice, \
                 as lost and as never sent"
            );
            return Err(LabError::new(LabErrorKind::Contradiction, problem)
                .in_file(&format!("--horizon {horizon}"))
                .remedy("choose a longer one; clocks that differ add to the time"));
        }
        let [Some(of_first), Some(of_second)] = self.extent else {
            return Ok(());
        };
        if self.matched > 0 {
            return Ok(());
        }
        let shared = self
            .ways
            .iter()
            .filter(|way| way.seen.iter().all(|seen| seen.packets > 0));
        let has = |side: usize| {
            let ways = self.ways.iter().filter(|way| way.seen[side].packets > 0);
            let example = ways
                .clone()
                .next()
                .map_or_else(String::new, |way| key_name(&way.key));
            format!(
                "{} packets in {} directions, such as {example}",
                self.packets[side],
                ways.count()
            )
        };
        let problem = format!(
            "it has no packet in common with {first}: it has {}; {first} has {}",
            has(1),
            has(0)
        );
        let remedy = match shared.count() {
            0 => "give a capture of the same traffic; addresses and ports have to be the same in both".to_owned(),
            shared => {
                let apart = of_second.0.saturating_since(of_first.0).max(of_first.0.saturating_since(of_second.0));
                format!(
                    "{shared} directions are in both, and no packet within {horizon}; their first packets are {apart} apart: if the clocks \
                     differ by that, a longer --horizon matches them"
                )
            }
        };
        Err(LabError::new(LabErrorKind::Contradiction, problem)
            .in_file(&format!("--receiver {second}"))
            .remedy(&remedy))
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
