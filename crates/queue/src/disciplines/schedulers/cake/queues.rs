//! The queues of a tin: set-associative hashing, rounds of new and old flows, and the fairness of hosts.

use crate::disciplines::aqms::cobalt::{CobaltLaw, CobaltVars};
use crate::longest::{Longest, Rank};
use crate::store::{self, Held, Store};
use sojourn_sim::{Stream, to_usize as at};
use sojourn_units::choice;
use std::cell::Cell;

choice! {
    /// Parties that share the capacity fairly.
    pub enum CakeIsolation {
        /// Nothing: one queue for a tin.
        Flowblind = "flowblind",
        /// Source hosts.
        Srchost = "srchost",
        /// Destination hosts.
        Dsthost = "dsthost",
        /// Pairs of hosts.
        Hosts = "hosts",
        /// Flows.
        Flows = "flows",
        /// Source hosts, and flows of each.
        DualSrchost = "dual-srchost",
        /// Destination hosts, and flows of each.
        DualDsthost = "dual-dsthost",
        /// Source and destination hosts, and flows of each.
        TripleIsolate = "triple-isolate",
    }
}

/// Queues of a tin.
pub(super) const QUEUES: u32 = 1024;
/// Queues of a set of the hash.
pub(super) const WAYS: u32 = 8;
/// As many, to index arrays.
pub(super) const PLACES: usize = 1024;
/// No queue.
pub(super) const NONE: u32 = u32::MAX;

/// The place of a queue, or of a host, in an array of [`PLACES`].
#[inline(always)]
pub(super) fn place(index: u32) -> usize {
    at(index % QUEUES)
}

/// The flows of a tin, and their hosts.
pub(super) struct Queues {
    /// Flows counted as sparse.
    pub(super) sparse: u32,
    /// Flows counted as bulk flows.
    pub(super) bulk: u32,
    /// Sparse flows, which are served first.
    pub(super) new_flows: Ring,
    /// The rotation of bulk flows.
    pub(super) old_flows: Ring,
    /// Empty flows whose AQM still has a state.
    pub(super) decaying_flows: Ring,
    pub(super) flows: Box<[Flow; PLACES]>,
    /// Hash of the flow in each queue. Apart from `flows`, since a search reads eight of them.
    pub(super) tags: [u32; PLACES],
    /// What the flow in each queue is counted as.
    pub(super) sets: [Set; PLACES],
    /// Hosts that send.
    pub(super) sources: Hosts,
    /// Hosts that receive.
    pub(super) destinations: Hosts,
}

/// A packet touches the first cache line, and the second only if BLUE's probability may change or a signal is due.
#[repr(C, align(64))]
pub(super) struct Flow {
    pub(super) queue: store::List,
    /// Bytes that wait.
    pub(super) bytes: u64,
    /// Its length in `Longest`, in bytes: an upper bound of `bytes` as far as 32 bits go, 0 if it is not there. A queue that
    /// empties stays there and is put right when it comes to the top; most have grown again before.
    pub(super) ranked_bytes: Cell<u32>,
    /// Bytes that it may still send in its turn.
    pub(super) deficit: i32,
    /// Its source among the hosts.
    pub(super) src: u16,
    /// Its destination among the hosts.
    pub(super) dst: u16,
    /// The flow before it in its ring.
    pub(super) previous: u16,
    /// The flow after it in its ring.
    pub(super) next: u16,
    pub(super) cobalt: CobaltVars,
}

const _: () = assert!(
    std::mem::offset_of!(Flow, cobalt) + CobaltVars::OFTEN <= 64 && size_of::<Flow>() == 128
);

pub(super) type Flows = [Flow; PLACES];

/// The hosts at one end of the flows.
pub(super) struct Hosts {
    /// Hash of each host.
    pub(super) tags: [u32; PLACES],
    /// Bulk flows of each host. Apart from `tags`, since every quantum reads it.
    pub(super) bulk: [u16; PLACES],
}

/// What a flow is counted as, which says in which ring it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Set {
    /// In none.
    None,
    /// Among the new flows.
    Sparse,
    /// Counted as sparse, but in the rotation of bulk flows.
    SparseWait,
    /// Among the old flows, in the rotation.
    Bulk,
    /// Empty, and with a deficit left: nobody else gets there, and nothing there uses deficits up.
    Decaying,
}

/// Flows in a round: the last is the one before the first, so that the first becomes the last if the next one becomes the first.
#[derive(Clone, Copy)]
pub(super) struct Ring {
    /// The first flow, or [`NONE`].
    pub(super) head: u32,
}

/// The number of a queue as it is kept in a ring.
#[inline(always)]
pub(super) fn short(index: u32) -> u16 {
    u16::try_from(index % QUEUES).unwrap_or(0)
}

impl Ring {
    pub(super) const EMPTY: Ring = Ring { head: NONE };

    /// The first flow, which there is, goes to the end.
    #[inline(always)]
    pub(super) fn rotate(&mut self, flows: &Flows) {
        self.head = u32::from(flows[place(self.head)].next);
    }

    /// A flow that is in no ring comes to the end.
    #[inline]
    pub(super) fn push(&mut self, index: u32, flows: &mut Flows) {
        if self.head == NONE {
            self.head = index;
            let flow = &mut flows[place(index)];
            (flow.previous, flow.next) = (short(index), short(index));
            return;
        }
        let first = &mut flows[place(self.head)];
        let last = std::mem::replace(&mut first.previous, short(index));
        flows[place(last.into())].next = short(index);
        let flow = &mut flows[place(index)];
        (flow.previous, flow.next) = (last, short(self.head));
    }

    /// A flow of this ring leaves it.
    #[inline]
    pub(super) fn remove(&mut self, index: u32, flows: &mut Flows) {
        let (previous, next) = (flows[place(index)].previous, flows[place(index)].next);
        flows[place(previous.into())].next = next;
        flows[place(next.into())].previous = previous;
        if self.head == index {
            self.head = match u32::from(next) == index {
                true => NONE,
                false => next.into(),
            };
        }
    }
}

/// 32 random bits.
pub(super) fn draw(rng: &mut Stream) -> u32 {
    u32::try_from(rng.bits() >> 32).unwrap_or(u32::MAX)
}

impl CakeIsolation {
    pub(super) fn by_source(self) -> bool {
        matches!(
            self,
            CakeIsolation::DualSrchost | CakeIsolation::TripleIsolate
        )
    }

    pub(super) fn by_destination(self) -> bool {
        matches!(
            self,
            CakeIsolation::DualDsthost | CakeIsolation::TripleIsolate
        )
    }
}

/// The places of the set that a tag belongs to, its own first.
pub(super) fn ways(tag: u32) -> impl Iterator<Item = u32> {
    let own = tag % QUEUES;
    let (inner, outer) = (own % WAYS, own - own % WAYS);
    (0..WAYS).map(move |i| outer + (inner + i) % WAYS)
}

impl Hosts {
    /// The place of the host with this tag from now on: where it is, or a free one of its set, or the first of its set.
    pub(super) fn find(&mut self, tag: u32) -> u32 {
        let known = ways(tag).find(|k| self.tags[place(*k)] == tag);
        let free = || ways(tag).find(|k| self.bulk[place(*k)] == 0);
        let host = known.or_else(free).unwrap_or(tag % QUEUES);
        self.tags[place(host)] = tag;
        host
    }

    /// A flow of a host becomes a bulk flow, or stops to be one.
    pub(super) fn count(&mut self, host: u32, comes: bool) {
        let bulk = &mut self.bulk[place(host)];
        *bulk = match comes {
            true => *bulk + 1,
            false => bulk.saturating_sub(1),
        };
    }

    #[inline]
    pub(super) fn bulk(&self, host: u32) -> u16 {
        self.bulk[place(host)]
    }
}

impl Flow {
    /// Its rank in `Longest`, whose length it remembers.
    #[inline]
    pub(super) fn rank(&self, number: u32) -> Rank {
        self.ranked_bytes
            .set(u32::try_from(self.bytes).unwrap_or(u32::MAX));
        Rank {
            length: self.bytes,
            tie: u64::from(number),
        }
    }

    /// A packet is sent from its deficit.
    #[inline(always)]
    pub(super) fn pay(&mut self, length: u32) {
        self.deficit = self.deficit.saturating_sub_unsigned(length);
    }

    /// Raises it in `Longest`, where it stands with fewer bytes.
    #[inline(never)]
    pub(super) fn raise(&self, number: u32, longest: &mut Longest) {
        longest.raise(number, self.rank(number));
    }

    /// Its next packet.
    #[inline(always)]
    pub(super) fn take(&mut self, store: &mut Store) -> Option<Held> {
        let packet = store.pop_front(&mut self.queue)?;
        self.bytes -= u64::from(packet.size);
        Some(packet)
    }
}

impl Queues {
    /// In a box from the start: whoever made one in its own frame would clear so much of the stack at each call.
    #[cold]
    #[inline(never)]
    pub(super) fn new(law: &CobaltLaw) -> Box<Queues> {
        let flow = |_| Flow {
            queue: store::List::default(),
            bytes: 0,
            ranked_bytes: Cell::new(0),
            deficit: 0,
            src: 0,
            dst: 0,
            previous: 0,
            next: 0,
            cobalt: law.start(),
        };
        let flows: Box<[Flow]> = (0..PLACES).map(flow).collect();
        let hosts = || Hosts {
            tags: [0; PLACES],
            bulk: [0; PLACES],
        };
        Box::new(Queues {
            sparse: 0,
            bulk: 0,
            new_flows: Ring::EMPTY,
            old_flows: Ring::EMPTY,
            decaying_flows: Ring::EMPTY,
            flows: flows.try_into().ok().expect("as many"),
            tags: [0; PLACES],
            sets: [Set::None; PLACES],
            sources: hosts(),
            destinations: hosts(),
        })
    }

    /// How many flows decay.
    pub(super) fn decaying(&self) -> u64 {
        self.sets
            .iter()
            .map(|set| u64::from(*set == Set::Decaying))
            .sum()
    }

    /// The queue for this tag if its own place is not in use with it: by a hash into sets of eight.
    pub(super) fn find(&mut self, isolation: CakeIsolation, tag: u32, src: u32, dst: u32) -> u32 {
        let ways = || ways(tag);
        let reserved = ways().find(|k| self.tags[place(*k)] == tag);
        let free = || ways().find(|k| self.sets[place(*k)] == Set::None);
        let index = reserved.or_else(free).unwrap_or(tag % QUEUES);
        let collides = reserved.is_none() && self.sets[place(index)] != Set::None;
        let bulk = self.sets[place(index)] == Set::Bulk;
        if collides && bulk {
            self.count_hosts(isolation, index, false);
        }
        if reserved.is_none() || self.sets[place(index)] == Set::None {
            if isolation.by_source() {
                self.flows[place(index)].src = short(self.sources.find(src));
            }
            if isolation.by_destination() {
                self.flows[place(index)].dst = short(self.destinations.find(dst));
            }
            if bulk {
                self.count_hosts(isolation, index, true);
            }
        }
        self.tags[place(index)] = tag;
        index
    }

    /// A flow whose deficit is used up gets a quantum and goes to the end of the rotation of bulk flows. It is the first of its ring.
    #[inline(always)]
    pub(super) fn grant(
        &mut self,
        index: u32,
        quantum: u32,
        isolation: CakeIsolation,
        rng: &mut Stream,
    ) {
        match self.sets[place(index)] {
            Set::Sparse => self.grow_old(index, isolation),
            _ => self.old_flows.rotate(&self.flows),
        }
        let dither = u64::from(draw(rng) >> 16);
        let grant = (u64::from(quantum) * self.share(index) + dither) >> 16;
        self.flows[place(index)].deficit += i32::try_from(grant).unwrap_or(0);
    }

    /// The first of the new flows goes to the old ones. As sparse flows count those that are new, and those that are empty.
    #[inline(never)]
    pub(super) fn grow_old(&mut self, index: u32, isolation: CakeIsolation) {
        self.new_flows.remove(index, &mut self.flows);
        self.old_flows.push(index, &mut self.flows);
        if self.flows[place(index)].queue.is_empty() {
            self.sets[place(index)] = Set::SparseWait;
            return;
        }
        self.sets[place(index)] = Set::Bulk;
        self.sparse -= 1;
        self.count_bulk(isolation, index, true);
    }

    /// The first of the flows that decay was found empty once more.
    #[inline(always)]
    pub(super) fn decay(&mut self, law: &CobaltLaw, now: u64) {
        let index = self.decaying_flows.head;
        let cobalt = &mut self.flows[place(index)].cobalt;
        law.on_empty(cobalt, now);
        if cobalt.rests(now) {
            self.forget(index);
        } else {
            self.decaying_flows.rotate(&self.flows);
        }
    }

    /// A flow has decayed.
    #[inline(never)]
    pub(super) fn forget(&mut self, index: u32) {
        self.decaying_flows.remove(index, &mut self.flows);
        self.sets[place(index)] = Set::None;
    }

    /// A flow was served and found empty: it decays, or is forgotten if its AQM rests.
    #[inline(never)]
    pub(super) fn retire(
        &mut self,
        index: u32,
        law: &CobaltLaw,
        now: u64,
        isolation: CakeIsolation,
    ) {
        let cobalt = &mut self.flows[place(index)].cobalt;
        law.on_empty(cobalt, now);
        let set = match cobalt.rests(now) {
            true => Set::None,
            false => Set::Decaying,
        };
        match std::mem::replace(&mut self.sets[place(index)], set) {
            Set::Sparse => {
                self.new_flows.remove(index, &mut self.flows);
                self.sparse -= 1;
            }
            Set::SparseWait => {
                self.old_flows.remove(index, &mut self.flows);
                self.sparse -= 1;
            }
            Set::Bulk => {
                self.old_flows.remove(index, &mut self.flows);
                self.count_bulk(isolation, index, false);
            }
            Set::None | Set::Decaying => unreachable!("a flow that is served waits to be"),
        }
        if set == Set::Decaying {
            self.decaying_flows.push(index, &mut self.flows);
        }
    }

    /// A flow that does not wait to be served has got a packet.
    #[inline(never)]
    pub(super) fn wake(&mut self, index: u32, quantum: u32, isolation: CakeIsolation) {
        match self.sets[place(index)] {
            set @ (Set::None | Set::Decaying) => {
                if set == Set::Decaying {
                    self.decaying_flows.remove(index, &mut self.flows);
                }
                self.new_flows.push(index, &mut self.flows);
                self.sparse += 1;
                let quantum = (u64::from(quantum) * self.share(index)) >> 16;
                self.sets[place(index)] = Set::Sparse;
                let flow = &mut self.flows[place(index)];
                flow.deficit = i32::try_from(quantum).unwrap_or(0);
            }
            Set::SparseWait => {
                self.sets[place(index)] = Set::Bulk;
                self.sparse -= 1;
                self.count_bulk(isolation, index, true);
            }
            Set::Sparse | Set::Bulk => {}
        }
    }

    /// A flow becomes a bulk flow, or stops to be one.
    pub(super) fn count_bulk(&mut self, isolation: CakeIsolation, index: u32, comes: bool) {
        match comes {
            true => self.bulk += 1,
            false => self.bulk -= 1,
        }
        self.count_hosts(isolation, index, comes);
    }

    pub(super) fn count_hosts(&mut self, isolation: CakeIsolation, index: u32, comes: bool) {
        let (src, dst) = (self.flows[place(index)].src, self.flows[place(index)].dst);
        if isolation.by_source() {
            self.sources.count(src.into(), comes);
        }
        if isolation.by_destination() {
            self.destinations.count(dst.into(), comes);
        }
    }

    /// The share of a quantum that a flow gets, a fraction of 16 bits: by the bulk flows of the busier of its hosts. Hosts that do
    /// not matter have none.
    #[inline]
    pub(super) fn share(&self, index: u32) -> u64 {
        let flow = &self.flows[place(index)];
        let bulk = self.sources.bulk(flow.src.into());
        let load = bulk.max(self.destinations.bulk(flow.dst.into()));
        match SHARES.get(usize::from(load)) {
            Some(share) => u64::from(*share),
            None => u64::from(u16::MAX / load),
        }
    }
}

/// The share by the number of bulk flows: a table, since a branch on one or more would be mispredicted, and a division is slow.
pub(super) const SHARES: [u16; 64] = shares();

pub(super) const fn shares() -> [u16; 64] {
    let mut shares = [u16::MAX; 64];
    let (mut load, mut place) = (2, 2);
    while place < 64 {
        shares[place] = u16::MAX / load;
        (load, place) = (load + 1, place + 1);
    }
    shares
}
