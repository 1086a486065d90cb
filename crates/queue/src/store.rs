//! Where the packets of a scheduler wait: one store for all its queues, each of which is a list through it.
//!
//! A packet is moved into the store when the scheduler gets it and out of it when it leaves; between the two only its
//! handle moves. The sizes are kept beside the order, so that nobody waits for a packet to learn its size. A place that was
//! left last is filled first.

use sojourn_sim::{Packet, to_usize as at};
use std::num::NonZeroU32;

/// No slot.
const NONE: u32 = u32::MAX;
/// In place of the previous slot: no packet is in this one.
const FREE: u32 = u32::MAX - 1;

/// A packet in a scheduler's hands: it is in the store, and in at most one list. Such a packet or none fits a register.
#[derive(PartialEq, Eq, Debug)]
pub struct Held {
    /// One more than its slot.
    beyond: NonZeroU32,
    /// Bytes on the wire.
    pub size: u32,
}

impl Held {
    #[inline(always)]
    fn new(slot: u32, size: u32) -> Held {
        Held {
            beyond: NonZeroU32::MIN.saturating_add(slot),
            size,
        }
    }

    /// A number that no other packet in the store has meanwhile.
    #[inline(always)]
    pub fn slot(&self) -> u32 {
        self.beyond.get() - 1
    }
}

/// The packets of all queues.
pub struct Store {
    /// The packets, by slot.
    packets: Vec<Packet>,
    /// The neighbours of each in its list, by slot.
    links: Vec<Links>,
    /// The slot that was left last, or [`NONE`]; the others follow by their `next`.
    free: u32,
}

#[derive(Clone, Copy)]
struct Links {
    /// The slot before it in its list; meaningless at the head, [`FREE`] in a free slot.
    previous: u32,
    /// The slot after it in its list, or in the chain of free slots.
    next: u32,
    /// Bytes of the packet at `next`.
    next_size: u32,
}

impl Default for Store {
    fn default() -> Store {
        Store {
            packets: Vec::new(),
            links: Vec::new(),
            free: NONE,
        }
    }
}

/// One queue in a [`Store`]. A list that is dropped leaves its packets in the store.
#[derive(Clone, Copy, Debug)]
pub struct List {
    /// Slot of the first packet, [`NONE`] without packets.
    head: u32,
    /// Slot of the last packet.
    tail: u32,
    /// Packets in it.
    len: u32,
    /// Bytes of the first packet.
    head_size: u32,
}

impl Default for List {
    fn default() -> List {
        List {
            head: NONE,
            tail: NONE,
            len: 0,
            head_size: 0,
        }
    }
}

impl List {
    /// Packets in it.
    #[inline]
    pub fn len(&self) -> u64 {
        u64::from(self.len)
    }

    /// The [slot](Held::slot) of the first packet, if there is one.
    #[inline(always)]
    pub fn head_slot(&self) -> Option<u32> {
        (self.head != NONE).then_some(self.head)
    }

    /// The [slot](Held::slot) of the last packet, if there is one.
    #[inline]
    pub fn tail_slot(&self) -> Option<u32> {
        (self.len > 0).then_some(self.tail)
    }

    /// Bytes of the first packet, if there is one.
    #[inline(always)]
    pub fn head_size(&self) -> Option<u32> {
        (self.len > 0).then_some(self.head_size)
    }

    /// True without packets.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Makes this list count `packets` that are in other lists. Only its length may be used then.
    ///
    /// # Panics
    /// If they do not fit a store.
    pub(crate) fn stand_for(&mut self, packets: u64) {
        self.len = u32::try_from(packets).expect("fewer than 2^32 packets wait");
    }
}

impl Store {
    /// Takes a packet into the scheduler's hands.
    #[inline(always)]
    pub fn hold(&mut self, packet: Packet) -> Held {
        self.hold_next(|| packet).0
    }

    /// Takes the packet that `next` gives into the scheduler's hands, and shows it there. It is asked when the place is known, so that
    /// the packet is copied once.
    #[inline(always)]
    pub fn hold_next(&mut self, next: impl FnOnce() -> Packet) -> (Held, &mut Packet) {
        if self.free == NONE {
            self.grow();
        }
        let slot = self.free;
        let links = &mut self.links[at(slot)];
        self.free = links.next;
        links.previous = NONE;
        let place = &mut self.packets[at(slot)];
        *place = next();
        (Held::new(slot, place.size), place)
    }

    /// Makes a place that is free.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let slot = u32::try_from(self.links.len()).expect("fewer than 2^32 packets wait");
        assert!(slot < FREE, "fewer than 2^32 - 2 packets wait");
        self.links.push(Links {
            previous: FREE,
            next: NONE,
            next_size: 0,
        });
        self.packets.push(Packet::test(0, 0, 0));
        self.free = slot;
    }

    /// Gives a packet out of the scheduler's hands.
    #[inline(always)]
    #[allow(
        clippy::needless_pass_by_value,
        reason = "a handle is good for one use"
    )]
    pub fn release(&mut self, held: Held) -> Packet {
        self.leave(held).replicate()
    }

    /// As [`Store::release`], but the packet is left where it was, to be copied from there before anything else is done with the store.
    #[inline(always)]
    #[allow(
        clippy::needless_pass_by_value,
        reason = "a handle is good for one use"
    )]
    pub(crate) fn leave(&mut self, held: Held) -> &Packet {
        let links = &mut self.links[at(held.slot())];
        links.previous = FREE;
        links.next = std::mem::replace(&mut self.free, held.slot());
        &self.packets[at(held.slot())]
    }

    /// The packet itself.
    #[inline]
    pub fn packet(&self, held: &Held) -> &Packet {
        &self.packets[at(held.slot())]
    }

    /// The packet itself, to be marked.
    #[inline]
    pub fn packet_mut(&mut self, held: &Held) -> &mut Packet {
        &mut self.packets[at(held.slot())]
    }

    /// Puts a packet at the end of a list.
    #[inline(always)]
    #[allow(
        clippy::needless_pass_by_value,
        reason = "a handle is good for one use"
    )]
    pub fn push_back(&mut self, list: &mut List, held: Held) {
        let links = &mut self.links[at(held.slot())];
        links.previous = list.tail;
        links.next = NONE;
        match list.len {
            0 => (list.head, list.head_size) = (held.slot(), held.size),
            _ => {
                let last = &mut self.links[at(list.tail)];
                (last.next, last.next_size) = (held.slot(), held.size);
            }
        }
        list.tail = held.slot();
        list.len += 1;
    }

    /// Takes the first packet of a list.
    #[inline(always)]
    pub fn pop_front(&mut self, list: &mut List) -> Option<Held> {
        let (slot, size) = (list.head, list.head_size);
        let links = self.links.get(at(slot))?;
        (list.head, list.head_size) = (links.next, links.next_size);
        list.len -= 1;
        Some(Held::new(slot, size))
    }

    /// Takes the last packet of a list.
    pub fn pop_back(&mut self, list: &mut List) -> Option<Held> {
        match list.len {
            0 => None,
            _ => self.unlink(list, list.tail),
        }
    }

    /// Takes out the packet at `position` of a list (0 is the first). Walks there.
    pub fn remove(&mut self, list: &mut List, position: u64) -> Option<Held> {
        let slot = self.slot(list, position)?;
        self.unlink(list, slot)
    }

    fn unlink(&mut self, list: &mut List, slot: u32) -> Option<Held> {
        if slot == list.head {
            return self.pop_front(list);
        }
        let Links {
            previous,
            next,
            next_size,
        } = self.links[at(slot)];
        let before = &mut self.links[at(previous)];
        (before.next, before.next_size) = (next, next_size);
        match next {
            NONE => list.tail = previous,
            next => self.links[at(next)].previous = previous,
        }
        list.len -= 1;
        let size = self.packets[at(slot)].size;
        Some(Held::new(slot, size))
    }

    fn slot(&self, list: &List, position: u64) -> Option<u32> {
        if position >= list.len() {
            return None;
        }
        let mut slot = list.head;
        for _ in 0..position {
            slot = self.links[at(slot)].next;
        }
        Some(slot)
    }

    /// The packet at `position` of a list (0 is the first). Walks there.
    pub fn get(&self, list: &List, position: u64) -> Option<&Packet> {
        self.packets.get(at(self.slot(list, position)?))
    }

    /// The first packet of a list.
    #[inline]
    pub fn front(&self, list: &List) -> Option<&Packet> {
        self.packets.get(at(list.head))
    }

    /// The first packet of a list, to be marked.
    #[inline]
    pub fn front_mut(&mut self, list: &List) -> Option<&mut Packet> {
        self.packets.get_mut(at(list.head))
    }

    /// The last packet of a list.
    #[inline]
    pub fn back(&self, list: &List) -> Option<&Packet> {
        match list.len {
            0 => None,
            _ => self.packets.get(at(list.tail)),
        }
    }

    /// Every packet, in no particular order.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        let there = self.links.iter().map(|links| links.previous != FREE);
        let all = self.packets.iter().zip(there);
        all.filter_map(|(packet, there)| there.then_some(packet))
    }

    /// Takes every packet out, whatever list it is in.
    pub fn drain(&mut self) -> impl Iterator<Item = Packet> {
        self.free = NONE;
        let there = self.links.drain(..).map(|links| links.previous != FREE);
        let all = self.packets.drain(..).zip(there);
        all.filter_map(|(packet, there)| there.then_some(packet))
    }

    /// The packets of a list, first to last.
    pub fn iter<'a>(&'a self, list: &List) -> impl Iterator<Item = &'a Packet> {
        let mut slot = list.head;
        std::iter::from_fn(move || {
            let packet = self.packets.get(at(slot))?;
            slot = self.links[at(slot)].next;
            Some(packet)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_sim::Stream;
    use std::collections::VecDeque;

    #[test]
    fn lists_in_one_store_do_what_queues_of_their_own_do() {
        let mut rng = Stream::derive(1, 0, "store");
        let mut store = Store::default();
        let mut lists = [List::default(); 5];
        let mut queues: [VecDeque<u32>; 5] = Default::default();
        let mut draw = |bound: u64| usize::try_from(rng.below(bound)).expect("small");
        let uid = |store: &mut Store, held: Option<Held>| {
            held.map(|held| {
                let size = held.size;
                let packet = store.release(held);
                assert_eq!((packet.size, packet.flow), (size, 0));
                packet.uid
            })
        };
        for number in 0..20_000 {
            let which = draw(5);
            let (list, queue) = (&mut lists[which], &mut queues[which]);
            let position = draw(8);
            let place = u64::try_from(position).expect("small");
            match draw(9) {
                0..5 => {
                    let held = store.hold(Packet::test(100 + number % 7, 0, number));
                    store.push_back(list, held);
                    queue.push_back(number);
                }
                5..7 => {
                    let held = store.pop_front(list);
                    assert_eq!(uid(&mut store, held), queue.pop_front());
                }
                7 => {
                    let held = store.pop_back(list);
                    assert_eq!(uid(&mut store, held), queue.pop_back());
                }
                _ => {
                    let held = store.remove(list, place);
                    assert_eq!(uid(&mut store, held), queue.remove(position));
                }
            }
            assert_eq!(list.len(), u64::try_from(queue.len()).expect("small"));
            assert_eq!(list.is_empty(), queue.is_empty());
            assert_eq!(list.head_slot().is_none(), queue.is_empty());
            assert_eq!(store.front(list).map(|p| p.uid), queue.front().copied());
            assert_eq!(list.head_size(), store.front(list).map(|p| p.size));
            assert_eq!(store.back(list).map(|p| p.uid), queue.back().copied());
            let there = store.get(list, place).map(|p| p.uid);
            assert_eq!(there, queue.get(position).copied());
            if number % 64 == 0 {
                assert!(store.iter(list).map(|p| &p.uid).eq(queue.iter()));
            }
            if queue.len() > 200 {
                while let Some(held) = store.pop_front(list) {
                    store.release(held);
                }
                queue.clear();
            }
            let waiting: usize = queues.iter().map(VecDeque::len).sum();
            assert_eq!(store.packets().count(), waiting);
        }
        let waiting: usize = queues.iter().map(VecDeque::len).sum();
        assert_eq!(store.drain().count(), waiting);
    }

    #[test]
    fn a_slot_that_was_left_is_filled_again() {
        let (mut store, mut list) = (Store::default(), List::default());
        for number in 0..100 {
            let held = store.hold(Packet::test(100, 0, number));
            store.push_back(&mut list, held);
            if number > 2
                && let Some(held) = store.pop_front(&mut list)
            {
                store.release(held);
            }
        }
        assert_eq!(store.links.len(), 4);
    }
}
