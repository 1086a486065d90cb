//! The same packets in two captures: one-way delay and loss.
//!
//! A packet is known again by what stays the same on its way: its headers ([`Packet::identity`]) and its content ([`Digest`]). Several
//! that are equal are told apart by their order ([`pairing`](super::pairing)); where that leaves it open which of them arrived, they are
//! counted, and have no delay.
//! Clocks are taken as they are: a direction whose packets mostly pass the second capture first goes the other way, and its delays are
//! turned round.
//!
//! A packet that the other capture does not have was lost between them, or never was at the other one, if it would have to be there:
//! it passed when the other capture had begun, and as long before the last packet of that one as any of its direction took. Otherwise
//! it is *open*: perhaps it was under way when the capture ended, or came before it began. What is forgotten because of the horizon is
//! decided by the same rule, for which it is enough to know whether the other capture has had a packet since.

use super::digest::Digest;
use super::pairing::{Order, Pair, Run, Waiting, take};
use crate::read::event::{Lookup, place};
use crate::read::frame::{Key, Packet};
use crate::read::moments::{Counts, Jitter, Spans, signed};
use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use sojourn_units::{Span, Time};
use std::collections::VecDeque;

/// Unmatched packets before the first look for those that are too old.
const SWEEP: usize = 1 << 12;

/// Packets that are enough to say in which order a direction passes the captures, if fewer than one in this many contradict them.
const SETTLED: u64 = 10;

/// One late match in this many others may be chance.
const CHANCE: u64 = 10;

/// Matching of two captures.
pub(super) struct Paths {
    pub(super) ways: Vec<Way>,
    by_key: Lookup<Key, u32>,
    waiting: [Lookup<u64, VecDeque<Waiting>>; 2],
    count: usize,
    sweep: usize,
    horizon: Span,
    /// Packets that are in one capture alone, where the other had one of the same identity longer ago than the horizon; and the
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
    /// Packets that are in the first or second alone, since the other has had a number of them.
    since: [(u64, Counts); 2],
    /// Packets in both captures that equal others, so that it is not known which they are; by the capture in which they waited.
    pub(super) untold: [u64; 2],
    /// The least delay that they may have had.
    untold_least: [Option<Span>; 2],
    /// Behind the place that was paired last in either capture.
    reached: [u64; 2],
    run: Option<Run>,
    /// Delays of packets that passed the first capture first, and of the others.
    pub(super) delays: [Spans; 2],
    pub(super) jitter: Jitter,
}

impl Way {
    /// The capture that its packets pass first: 0 or 1.
    pub(super) fn first(&self) -> usize {
        let [one, other] = self.delays.each_ref().map(Spans::count);
        let matched = [one + self.untold[0], other + self.untold[1]];
        let by_delay = matched[1] > matched[0];
        let by_presence = matched == [0, 0] && self.seen[1].packets > self.seen[0].packets;
        usize::from(by_delay || by_presence)
    }

    /// The longest time by which a packet may pass the captures in the order that begins with `first`; `None` if that is open. Where nearly
    /// all pass in the other order, one that seems to have gone before them by more than any delay is a copy that the network made.
    fn longest(&self, first: usize) -> Option<Span> {
        let count = |side: usize| self.delays[side].count() + self.untold[side];
        let usual = count(1 - first);
        let settled = usual >= SETTLED && count(first).saturating_mul(SETTLED) < usual;
        settled.then(|| self.delays[1 - first].most())
    }

    fn record(&mut self, pair: &Pair) {
        self.delays[pair.first].record(pair.took);
        self.jitter.record(pair.transit, true);
    }

    /// The delay of a packet is not known, but not below that of the one that it would be at the earliest.
    fn leave_open(&mut self, pair: &Pair) {
        self.untold[pair.first] += 1;
        let least = &mut self.untold_least[pair.first];
        *least = Some(least.map_or(pair.took, |least| least.min(pair.took)));
    }

    /// A run is over: whether some of it are missing.
    fn close(&mut self, run: &Run, misses: bool) {
        for pair in &run.pairs {
            match misses && !pair.sure {
                true => self.leave_open(pair),
                false => self.record(pair),
            }
        }
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
    pub(super) fn sender(&mut self, time: Time, packet: &Packet, digest: &Digest) {
        self.seen(0, time, packet, digest);
    }

    /// A packet of the second capture.
    pub(super) fn receiver(&mut self, time: Time, packet: &Packet, digest: &Digest) {
        self.seen(1, time, packet, digest);
    }

    fn seen(&mut self, side: usize, time: Time, packet: &Packet, digest: &Digest) {
        let next = u32::try_from(self.ways.len()).unwrap_or(u32::MAX - 1);
        let way = *self.by_key.entry(packet.key).or_insert(next);
        if way == next {
            self.ways.push(Way {
                key: packet.key,
                seen: Default::default(),
                alone: Default::default(),
                open: Default::default(),
                since: Default::default(),
                untold: [0; 2],
                untold_least: [None; 2],
                reached: [0; 2],
                run: None,
                delays: Default::default(),
                jitter: Jitter::default(),
            });
        }
        let own = &mut self.ways[place(way)];
        let at = own.seen[side].packets;
        let expected = own.reached[1 - side];
        own.seen[side].record(packet.bytes);
        let first = self.extent[side].map_or(time, |(first, _)| first);
        self.extent[side] = Some((first, time));
        self.packets[side] += 1;
        let horizon = self.horizon;
        // Those that are too old stay for the sweep.
        let longest = own
            .longest(1 - side)
            .map_or(horizon, |own| own.min(horizon));
        let fresh = |other: &Waiting| other.time.saturating_add(longest) >= time;
        let partner = self.waiting[1 - side]
            .get_mut(&packet.identity)
            .and_then(|queue| take(queue, digest, expected, fresh));
        match partner {
            Some((partner, order)) => {
                self.matched += 1;
                self.count -= 1;
                self.pair(way, (side, time, at), (partner, order), packet, digest);
            }
            None => {
                let old = self.waiting[1 - side].get(&packet.identity);
                let after = old
                    .and_then(|queue| queue.iter().find(|old| old.digest.agrees(digest)))
                    .map_or(Span::ZERO, |old| time.saturating_since(old.time));
                let size = packet.bytes;
                let queue = self.waiting[side].entry(packet.identity).or_default();
                queue.push_back(Waiting {
                    time,
                    way,
                    size,
                    place: at,
                    digest: *digest,
                    after,
                });
                self.count += 1;
                if self.count > self.sweep {
                    self.forget(Some(time));
                }
            }
        }
    }

    /// A packet that passes a capture at a time and place is the one that waited in the other.
    fn pair(
        &mut self,
        way: u32,
        (side, time, at): (usize, Time, u64),
        (partner, order): (Waiting, Order),
        packet: &Packet,
        digest: &Digest,
    ) {
        let back = 1 - side;
        let pair = Pair {
            // The partner came first.
            first: back,
            took: time.saturating_since(partner.time),
            transit: match side {
                1 => signed(time, partner.time),
                _ => signed(partner.time, time),
            },
            sure: order == Order::Late,
        };
        let own = &mut self.ways[place(way)];
        match (order, &mut own.run) {
            (Order::Unclear, _) => own.leave_open(&pair),
            (Order::Late, Some(run)) => run.pairs.push(pair),
            (Order::Late, None) => own.record(&pair),
            (Order::Next, Some(run)) if run.has(packet.identity, digest, back) => {
                run.pairs.push(pair);
            }
            (Order::Next, _) => {
                if let Some(run) = own.run.take() {
                    let until = [at, partner.place][usize::from(run.side == back)];
                    let queue = self.waiting[run.side].get(&run.identity);
                    own.close(&run, run.misses(queue, until, |_| true));
                }
                own.run = Some(Run {
                    identity: packet.identity,
                    digest: *digest,
                    side: back,
                    from: own.reached[back],
                    pairs: vec![pair],
                });
            }
        }
        if order == Order::Next {
            own.reached[back] = partner.place + 1;
            own.reached[side] = at + 1;
        }
        let all = self.waiting[back]
            .get(&packet.identity)
            .is_none_or(VecDeque::is_empty);
        if all
            && own
                .run
                .as_ref()
                .is_some_and(|run| run.has(packet.identity, digest, back))
            && let Some(run) = own.run.take()
        {
            own.close(&run, false);
        }
    }

    /// Ends the runs that are about to be forgotten in part: what passed before `since`, or everything.
    fn close_runs(&mut self, forgotten: impl Fn(&Waiting) -> bool) {
        for way in &mut self.ways {
            let Some(run) = &way.run else {
                continue;
            };
            let queue = self.waiting[run.side].get(&run.identity);
            if run.misses(queue, u64::MAX, &forgotten)
                && let Some(run) = way.run.take()
            {
                way.close(&run, true);
            }
        }
    }

    /// Counts and removes those that are too old, or all.
    fn forget(&mut self, now: Option<Time>) {
        let horizon = self.horizon;
        let keeps =
            |packet: &Waiting| now.is_some_and(|now| packet.time.saturating_add(horizon) >= now);
        self.close_runs(|packet| !keeps(packet));
        let mut waiting = std::mem::take(&mut self.waiting);
        self.count = 0;
        for (side, waiting) in waiting.iter_mut().enumerate() {
            waiting.retain(|_, queue| {
                queue.retain(|packet| {
                    let keep = keeps(packet);
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
        let untold = way.untold_least[side].unwrap_or(Span::ZERO);
        let latest = packet
            .time
            .saturating_add(way.delays[side].most().max(untold));
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
                "{late} packets in both captures took longer than the horizon, the slowest {longest}; each would count twice, as lost and as never sent"
            );
            return Err(LabError::new(LabErrorKind::Contradiction, problem)
                .in_file(&format!("--horizon {horizon}"))
                .remedy("choose a longer horizon; a difference of the clocks adds to the delay"));
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
                .map_or_else(String::new, |way| way.key.name());
            format!(
                "{} packets in {} directions, such as {example}",
                self.packets[side],
                ways.count()
            )
        };
        let problem = format!(
            "it has no packet in common with {first}. It has {}; {first} has {}",
            has(1),
            has(0)
        );
        let remedy = match shared.count() {
            0 => "use a capture of the same traffic, with the same addresses and ports".to_owned(),
            shared => {
                let apart = of_second
                    .0
                    .saturating_since(of_first.0)
                    .max(of_first.0.saturating_since(of_second.0));
                format!(
                    "{shared} directions are in both captures, but with no packet within {horizon}. Their first packets are {apart} apart: if the clocks differ by that, use a longer --horizon"
                )
            }
        };
        Err(LabError::new(LabErrorKind::Contradiction, problem)
            .in_file(&format!("--receiver {second}"))
            .remedy(&remedy))
    }

    /// What has to be known of the pairs.
    pub(super) fn remark(&self, second: &str) -> Option<String> {
        let untold: u64 = self.ways.iter().flat_map(|way| way.untold).sum();
        (untold > 0).then(|| {
            format!(
                "--receiver {second}: {untold} of {} packets in both captures are identical to other packets of their direction, and some of these did not arrive. They have no delay, because they cannot be matched. IPv4 identifications, TCP timestamps or more bytes per packet would distinguish them",
                self.matched
            )
        })
    }

    /// Both captures are over.
    pub(super) fn finish(&mut self) {
        self.close_runs(|_| true);
        for way in &mut self.ways {
            if let Some(run) = way.run.take() {
                way.close(&run, false);
            }
        }
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
