//! Flow queueing: the scheduler of RFC 8290 sections 4.1 and 4.2, with any AQM in each queue. The disciplines `fq_codel`,
//! `fq_pie` and `fq_cobalt` are this structure with their own AQM and defaults.
//!
//! A queue that becomes active joins the end of the list of new queues with credits of one quantum. The first new queue is
//! served, or else the first old one; without credits it gets a quantum and goes to the end of the old queues. A queue found
//! empty goes to the end of the old queues if it was new, and leaves its list if it was old.
//!
//! The RFC gives new credits at "a negative number of credits (i.e., it has already dequeued at least a quantum of bytes)". A
//! quantum used up exactly leaves zero; here, as in Linux and ns-3, zero is used up.

use crate::child::{Backlog, Child};
use crate::classify::Classifier;
use crate::disciplines::aqms::AnyAqm;
use crate::entry::SpecError;
use crate::longest::{Longest, Rank};
use crate::scheduler::{QueueState, SchedulerCx};
use crate::store::Held;
use sojourn_sim::{Packet, to_usize as at};
use sojourn_units::Limit;
use std::collections::VecDeque;

/// What is dropped when the limit over all queues is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WhenFull {
    /// The arriving packet.
    Refuse,
    /// Heads of the queue with the most bytes: half of its packets, rounded down, but at least one and at most this number.
    HalfThePackets(u32),
    /// Heads of the queue with the most bytes, until half of its bytes are gone, at most this number.
    HalfTheBytes(u32),
}

/// What tells one flow queueing discipline from another, beside the AQM.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Bytes that a queue may send before others have their turn.
    pub quantum: u32,
    /// What may wait over all queues.
    pub limit: Limit,
    /// Memory that waiting packets may take, counted as [`memory_of`]; `None` for any.
    pub memory: Option<u64>,
    /// Which packet is dropped when the limit is reached.
    pub when_full: WhenFull,
    /// The AQM of a queue sees the bytes that wait in all queues, not in its own.
    pub counts_all: bool,
    /// The set-associative hash, if the buckets are sets of queues.
    pub sets: Option<Sets>,
    /// Whose packets make their queue a new one when it becomes active; others join the end of the old queues.
    pub favoured: Dscps,
}

/// A set-associative hash: a class may take any queue of its set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sets {
    /// Queues.
    buckets: u32,
    /// Queues in a set.
    ways: u32,
}

impl Sets {
    /// Sets of `ways` queues out of `buckets`; none without `ways`.
    ///
    /// # Errors
    /// If `ways` is given without the dialect that has it, or sets do not fill the buckets: what is wrong.
    pub fn of(
        ways: Option<u32>,
        buckets: Option<u32>,
        known: bool,
    ) -> Result<Option<Sets>, &'static str> {
        match (ways, buckets) {
            (None, _) => Ok(None),
            (Some(_), _) if !known => {
                Err("ways needs dialect ns3; leave it out or choose that one")
            }
            (Some(_), None) => Err("ways needs buckets; give their number"),
            (Some(ways), Some(buckets)) if !buckets.is_multiple_of(ways) => {
                Err("buckets is not a multiple of ways; change one of them")
            }
            (Some(ways), Some(buckets)) => Ok(Some(Sets { buckets, ways })),
        }
    }
}

/// The queues of a set-associative hash.
#[derive(Default)]
struct Places {
    /// The queue in each bucket, or [`NONE`], and the hash of the class that was there last.
    queues: Vec<(u32, u64)>,
}

/// No queue.
const NONE: u32 = u32::MAX;

/// A set of differentiated services codepoints.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dscps(u64);

impl Dscps {
    /// All 64 of them.
    pub const ALL: Dscps = Dscps(u64::MAX);

    /// Those given, each below 64.
    pub fn of(dscps: impl IntoIterator<Item = u8>) -> Dscps {
        Dscps(
            dscps
                .into_iter()
                .fold(0, |set, dscp| set | 1 << (dscp & 63)),
        )
    }

    /// True if it is one of them.
    #[inline]
    pub fn contains(self, dscp: u8) -> bool {
        self.0 >> (dscp & 63) & 1 == 1
    }
}

/// Queues, their lists and the packets in them.
pub struct FlowQueue {
    rules: Rules,
    classes: Classifier,
    queues: Vec<Queue>,
    /// Queues that are served first.
    new: VecDeque<u32>,
    /// Queues in rotation.
    old: VecDeque<u32>,
    backlog: Backlog,
    /// Kernel memory of the packets that wait, in bytes.
    memory: u64,
    longest: Longest,
    places: Places,
    /// Makes the AQM of a queue.
    make: Box<dyn Fn() -> AnyAqm + Send>,
}

#[repr(C, align(64))]
struct Queue {
    /// Bytes that it may still send in its turn.
    credits: i64,
    /// It stands in the list of new or of old queues.
    listed: bool,
    // Last: every packet touches the fields before and the child's first, but only an AQM that judges touches its end.
    child: Child,
}

/// What Linux's allocator gives to a frame of these bytes: `struct skb_shared_info` (320 bytes) and the usual headroom (64)
/// beside the data, rounded up to a power of two, and `struct sk_buff` (256). A full Ethernet frame takes 2304, an
/// acknowledgement 768. Drivers that allocate otherwise are not modelled.
pub const fn memory_of(size: u32) -> u64 {
    let data: u64 = 320 + 64 + widen(size);
    data.next_power_of_two() + 256
}

#[allow(clippy::as_conversions, reason = "From is not const")]
const fn widen(size: u32) -> u64 {
    size as u64
}

/// An error of the AQM in the name of the discipline around it.
pub fn in_name_of(discipline: &str) -> impl Fn(SpecError) -> SpecError + '_ {
    move |error| match error {
        SpecError::Contradiction { text, .. } => SpecError::Contradiction {
            discipline: discipline.to_owned(),
            text,
        },
        other => other,
    }
}

impl FlowQueue {
    /// The names of what [`FlowQueue::state`] reports.
    pub const STATE_NAMES: &'static [&'static str] =
        &["queues", "new_queues", "old_queues", "longest_queue_bytes"];

    /// Without packets; `make` makes the AQM of a queue when its first packet comes.
    pub fn new(
        rules: Rules,
        classes: Classifier,
        make: Box<dyn Fn() -> AnyAqm + Send>,
    ) -> FlowQueue {
        FlowQueue {
            rules,
            classes,
            queues: Vec::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            backlog: Backlog::default(),
            memory: 0,
            longest: Longest::default(),
            places: Places::default(),
            make,
        }
    }

    /// See [`crate::Scheduler::enqueue`].
    pub fn enqueue(&mut self, packet: Held, cx: &mut SchedulerCx) {
        let arriving = cx.store.packet(&packet);
        let (index, dscp) = (self.queue_of(arriving), arriving.dscp());
        let size = packet.size;
        if self.rules.when_full == WhenFull::Refuse && !self.has_room(size) {
            self.queues[at(index)].child.refuse(packet, cx);
            return;
        }
        if self.rules.memory.is_some() {
            self.memory += memory_of(size);
        }
        if !self.with_child(index, cx, |child, cx| child.enqueue(packet, cx)) {
            return;
        }
        let queue = &mut self.queues[at(index)];
        let length = queue.child.bytes();
        if !queue.listed {
            self.list(index, dscp);
        }
        if self.rules.when_full != WhenFull::Refuse {
            self.longest.raise(index, rank(index, length));
            self.keep_limit(cx);
        }
    }

    /// A queue becomes active with a packet of this codepoint.
    #[inline(never)]
    fn list(&mut self, index: u32, dscp: u8) {
        let queue = &mut self.queues[at(index)];
        queue.listed = true;
        queue.credits = i64::from(self.rules.quantum);
        match self.rules.favoured.contains(dscp) {
            true => self.new.push_back(index),
            false => self.old.push_back(index),
        }
    }

    /// See [`crate::Scheduler::dequeue`].
    pub fn dequeue(&mut self, cx: &mut SchedulerCx) -> Option<Held> {
        loop {
            let (index, is_new) = match (self.new.front(), self.old.front()) {
                (Some(&index), _) => (index, true),
                (None, Some(&index)) => (index, false),
                (None, None) => return None,
            };
            let queue = &mut self.queues[at(index)];
            if queue.credits <= 0 {
                queue.credits += i64::from(self.rules.quantum);
                self.leave(is_new);
                self.old.push_back(index);
                continue;
            }
            if queue.child.is_empty() {
                queue.child.is_found_empty(cx);
                self.unlist(index, is_new);
                continue;
            }
            let others = match self.rules.counts_all {
                true => self.backlog.bytes - queue.child.bytes(),
                false => 0,
            };
            let drops = cx.drops.len();
            let sent = self
                .backlog
                .keep(&mut queue.child, |child| child.dequeue_among(others, cx));
            if self.rules.memory.is_some() {
                let sent = sent.as_ref().map_or(0, |packet| memory_of(packet.size));
                self.memory -= sent + memory_of_dropped(cx, drops);
            }
            match sent {
                Some(packet) => {
                    queue.credits -= i64::from(packet.size);
                    if queue.child.is_empty() && self.rules.when_full != WhenFull::Refuse {
                        self.longest.forget(index);
                    }
                    return Some(packet);
                }
                // Its AQM has dropped what was left: it is found empty.
                None => self.unlist(index, is_new),
            }
        }
    }

    /// The queue in turn was found empty: a new one becomes an old one, an old one is in no list any more.
    #[inline]
    fn unlist(&mut self, index: u32, is_new: bool) {
        self.queues[at(index)].listed = is_new;
        self.leave(is_new);
        if is_new {
            self.old.push_back(index);
        }
    }

    /// See [`crate::Scheduler::on_empty`]: a request that finds all queues empty takes them off their lists.
    pub fn on_empty(&mut self, now: sojourn_units::Time) {
        for index in self.new.drain(..).chain(self.old.drain(..)) {
            let queue = &mut self.queues[at(index)];
            queue.listed = false;
            queue.child.on_empty(now);
        }
    }

    /// See [`crate::Scheduler::catch_up`].
    pub fn catch_up(&mut self, cx: &mut SchedulerCx) {
        for queue in &mut self.queues {
            queue.child.catch_up(cx);
        }
    }

    /// See [`crate::Scheduler::backlog`].
    pub fn backlog(&self) -> (u64, u64) {
        self.backlog.counts()
    }

    /// See [`crate::Scheduler::state`].
    pub fn state(&self, out: &mut Vec<f64>) {
        let count = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
        let longest = self.queues.iter().map(|q| q.child.bytes()).max();
        out.extend([
            count(self.queues.len()),
            count(self.new.len()),
            count(self.old.len()),
            f64::from(u32::try_from(longest.unwrap_or(0)).unwrap_or(u32::MAX)),
        ]);
    }

    /// Shows the queues; credits are deficits.
    pub fn queues(&self, show: &mut dyn FnMut(QueueState<'_>)) {
        for (queue, number) in self.queues.iter().zip(0..) {
            show(QueueState::of(number, &queue.child, Some(queue.credits)));
        }
    }

    /// Packets in each queue.
    #[cfg(test)]
    pub(crate) fn lengths(&self) -> Vec<u64> {
        self.queues.iter().map(|q| q.child.packets()).collect()
    }

    /// Whether each queue stands in a list.
    #[cfg(test)]
    pub(crate) fn listed(&self) -> Vec<bool> {
        self.queues.iter().map(|q| q.listed).collect()
    }

    #[inline]
    fn leave(&mut self, is_new: bool) {
        match is_new {
            true => self.new.pop_front(),
            false => self.old.pop_front(),
        };
    }

    #[inline]
    fn has_room(&self, size: u32) -> bool {
        self.backlog.has_room(self.rules.limit, u64::from(size))
    }

    #[inline]
    fn within_limit(&self) -> bool {
        self.backlog.keeps(self.rules.limit)
    }

    /// Drops until the limit is kept; for the memory once, as Linux does.
    #[inline]
    fn keep_limit(&mut self, cx: &mut SchedulerCx) {
        let within_memory = self.rules.memory.is_none_or(|most| self.memory <= most);
        if !within_memory {
            self.drop_from_longest(cx);
        }
        while !self.within_limit() {
            self.drop_from_longest(cx);
        }
    }

    #[cold]
    fn drop_from_longest(&mut self, cx: &mut SchedulerCx) {
        let queues = &self.queues;
        let index = self
            .longest
            .top(|index| rank(index, queues[at(index)].child.bytes()));
        let child = &self.queues[at(index)].child;
        let (packets, bytes) = (child.packets(), child.bytes());
        let (most_packets, half_bytes) = match self.rules.when_full {
            WhenFull::HalfTheBytes(batch) => (batch, bytes / 2),
            WhenFull::HalfThePackets(batch) => {
                let half = u32::try_from(packets / 2).unwrap_or(u32::MAX);
                (batch.min(half), bytes)
            }
            WhenFull::Refuse => (1, bytes),
        };
        self.with_child(index, cx, |child, cx| {
            let mut dropped = (0, 0);
            while let Some(size) = child.evict_head(cx) {
                dropped = (dropped.0 + 1, dropped.1 + u64::from(size));
                if dropped.0 >= most_packets || dropped.1 >= half_bytes {
                    break;
                }
            }
        });
    }

    /// Runs `work` on a child queue and keeps the totals.
    #[inline]
    fn with_child<R>(
        &mut self,
        index: u32,
        cx: &mut SchedulerCx,
        work: impl FnOnce(&mut Child, &mut SchedulerCx) -> R,
    ) -> R {
        let child = &mut self.queues[at(index)].child;
        let drops = cx.drops.len();
        let result = self.backlog.keep(child, |child| work(child, cx));
        if self.rules.memory.is_some() {
            self.memory -= memory_of_dropped(cx, drops);
        }
        result
    }

    /// The queue of a packet, made on its first one.
    #[inline]
    fn queue_of(&mut self, packet: &Packet) -> u32 {
        let index = match self.rules.sets {
            None => self.classes.queue_of(packet),
            Some(sets) => self.queue_in_set(packet, sets),
        };
        if at(index) == self.queues.len() {
            self.queues.push(Queue {
                child: Child::new((self.make)()),
                credits: 0,
                listed: false,
            });
        }
        index
    }

    /// As ns-3's set-associative hash: of the queues of a set the first that was never used, or was this class's last, or is in
    /// no list; the first of all if there is none such.
    #[inline(never)]
    fn queue_in_set(&mut self, packet: &Packet, sets: Sets) -> u32 {
        let hash = self.classes.hash_of(self.classes.class_of(packet));
        let (buckets, ways) = (at(sets.buckets), at(sets.ways));
        let places = &mut self.places.queues;
        places.resize(buckets, (NONE, 0));
        let bucket = usize::try_from(hash % u64::from(sets.buckets)).unwrap_or(0);
        let first = bucket - bucket % ways;
        let queues = &self.queues;
        let is_free =
            |(queue, tag): (u32, u64)| queue == NONE || tag == hash || !queues[at(queue)].listed;
        let chosen = (first..first + ways).find(|place| is_free(places[*place]));
        let (queue, tag) = &mut places[chosen.unwrap_or(first)];
        *tag = hash;
        if *queue == NONE {
            *queue = u32::try_from(queues.len()).expect("fewer than 2^32 queues");
        }
        *queue
    }
}

/// The place of a queue among the longest: most bytes first, then the one seen first.
fn rank(index: u32, bytes: u64) -> Rank {
    Rank {
        length: bytes,
        tie: u64::from(index),
    }
}

/// The memory of the packets that were dropped after the first ones.
fn memory_of_dropped(cx: &SchedulerCx, before: usize) -> u64 {
    let freed = cx.drops[before..].iter().map(|(p, _)| memory_of(p.size));
    freed.sum()
}

/// Makes a discipline of a [`FlowQueue`] in its field 0.
macro_rules! schedule_flow_queue {
    ($Type:ident) => {
        impl $crate::scheduler::Scheduler for $Type {
            #[inline]
            fn enqueue(
                &mut self,
                packet: $crate::store::Held,
                cx: &mut $crate::scheduler::SchedulerCx,
            ) {
                self.0.enqueue(packet, cx);
            }
            #[inline]
            fn dequeue(
                &mut self,
                cx: &mut $crate::scheduler::SchedulerCx,
            ) -> Option<$crate::store::Held> {
                self.0.dequeue(cx)
            }
            fn on_empty(&mut self, now: sojourn_units::Time) {
                self.0.on_empty(now);
            }
            fn catch_up(&mut self, cx: &mut $crate::scheduler::SchedulerCx) {
                self.0.catch_up(cx);
            }
            fn backlog(&self) -> (u64, u64) {
                self.0.backlog()
            }
            fn state_names(&self) -> &'static [&'static str] {
                $crate::flow_queue::FlowQueue::STATE_NAMES
            }
            fn state(&self, out: &mut Vec<f64>) {
                self.0.state(out);
            }
            fn queues(&self, show: &mut dyn FnMut($crate::scheduler::QueueState<'_>)) {
                self.0.queues(show);
            }
        }
    };
}
pub(crate) use schedule_flow_queue;
