//! Where the packets of a scheduler wait: one store for all its queues, each of which is a list through it.
//!
//! A slot that was left last is filled first, so that many queues that hold few packets between them touch few cache
//! lines.

use sojourn_sim::{Packet, to_usize as at};

/// No slot.
const NONE: u32 = u32::MAX;

/// The packets of all queues.
#[derive(Default)]
pub struct Store {
    slots: Vec<Option<Packet>>,
    links: Vec<Links>,
    /// The slot that was left last; the others follow by their `next`.
    free: Option<u32>,
}

#[derive(Clone, Copy)]
struct Links {
    previous: u32,
    next: u32,
}

/// One queue in a [`Store`]. A list that is dropped leaves its packets in the store.
#[derive(Clone, Copy, Debug)]
pub struct List {
    head: u32,
    tail: u32,
    len: u32,
}

impl Default for List {
    fn default() -> List {
        List {
            head: NONE,
            tail: NONE,
            len: 0,
        }
    }
}

impl List {
    /// Packets in it.
    #[inline]
    pub fn len(&self) -> u64 {
        u64::from(self.len)
    }

    /// True without packets.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Store {
    /// Puts a packet at the end of a list.
    #[inline]
    pub fn push_back(&mut self, list: &mut List, packet: Packet) {
        let slot = match self.free {
            Some(slot) => self.fill(slot, packet),
            None => self.grow(packet),
        };
        self.links[at(slot)] = Links {
            previous: list.tail,
            next: NONE,
        };
        match list.tail {
            NONE => list.head = slot,
            tail => self.links[at(tail)].next = slot,
        }
        list.tail = slot;
        list.len += 1;
    }

    #[inline]
    fn fill(&mut self, slot: u32, packet: Packet) -> u32 {
        self.free = match self.links[at(slot)].next {
            NONE => None,
            next => Some(next),
        };
        self.slots[at(slot)] = Some(packet);
        slot
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, packet: Packet) -> u32 {
        let slot = u32::try_from(self.slots.len()).expect("fewer than 2^32 packets wait");
        assert!(slot != NONE, "fewer than 2^32 - 1 packets wait");
        self.slots.push(Some(packet));
        self.links.push(Links {
            previous: NONE,
            next: NONE,
        });
        slot
    }

    /// Takes the packet out of a slot that no list leads to any more.
    #[inline]
    fn leave(&mut self, slot: u32) -> Option<Packet> {
        let packet = self.slots[at(slot)].take();
        self.links[at(slot)].next = self.free.unwrap_or(NONE);
        self.free = Some(slot);
        packet
    }

    /// Takes the first packet of a list.
    #[inline]
    pub fn pop_front(&mut self, list: &mut List) -> Option<Packet> {
        let slot = list.head;
        if slot == NONE {
            return None;
        }
        list.head = self.links[at(slot)].next;
        match list.head {
            NONE => list.tail = NONE,
            next => self.links[at(next)].previous = NONE,
        }
        list.len -= 1;
        self.leave(slot)
    }

    /// Takes the last packet of a list.
    pub fn pop_back(&mut self, list: &mut List) -> Option<Packet> {
        match list.tail {
            NONE => None,
            slot => self.unlink(list, slot),
        }
    }

    /// Takes the packet at `position` of a list (0 is the first). Walks there.
    pub fn remove(&mut self, list: &mut List, position: u64) -> Option<Packet> {
        let slot = self.slot(list, position)?;
        self.unlink(list, slot)
    }

    fn unlink(&mut self, list: &mut List, slot: u32) -> Option<Packet> {
        let Links { previous, next } = self.links[at(slot)];
        match previous {
            NONE => list.head = next,
            previous => self.links[at(previous)].next = next,
        }
        match next {
            NONE => list.tail = previous,
            next => self.links[at(next)].previous = previous,
        }
        list.len -= 1;
        self.leave(slot)
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
        self.slots[at(self.slot(list, position)?)].as_ref()
    }

    /// The first packet of a list.
    #[inline]
    pub fn front(&self, list: &List) -> Option<&Packet> {
        self.slots.get(at(list.head))?.as_ref()
    }

    /// The first packet of a list, to be marked.
    #[inline]
    pub fn front_mut(&mut self, list: &List) -> Option<&mut Packet> {
        self.slots.get_mut(at(list.head))?.as_mut()
    }

    /// The last packet of a list.
    #[inline]
    pub fn back(&self, list: &List) -> Option<&Packet> {
        self.slots.get(at(list.tail))?.as_ref()
    }

    /// Every packet, in no particular order.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.slots.iter().flatten()
    }

    /// Takes every packet out, whatever list it is in.
    pub fn drain(&mut self) -> impl Iterator<Item = Packet> {
        self.links.clear();
        self.free = None;
        self.slots.drain(..).flatten()
    }

    /// The packets of a list, first to last.
    pub fn iter<'a>(&'a self, list: &List) -> impl Iterator<Item = &'a Packet> {
        let mut slot = list.head;
        std::iter::from_fn(move || {
            let packet = self.slots.get(at(slot))?.as_ref();
            slot = self.links[at(slot)].next;
            packet
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
        let uid = |packet: Option<Packet>| packet.map(|packet| packet.uid);
        for number in 0..20_000 {
            let which = draw(5);
            let (list, queue) = (&mut lists[which], &mut queues[which]);
            let position = draw(8);
            let place = u64::try_from(position).expect("small");
            match draw(9) {
                0..5 => {
                    store.push_back(list, Packet::test(100, 0, number));
                    queue.push_back(number);
                }
                5..7 => assert_eq!(uid(store.pop_front(list)), queue.pop_front()),
                7 => assert_eq!(uid(store.pop_back(list)), queue.pop_back()),
                _ => assert_eq!(uid(store.remove(list, place)), queue.remove(position)),
            }
            assert_eq!(list.len(), u64::try_from(queue.len()).expect("small"));
            assert_eq!(list.is_empty(), queue.is_empty());
            assert_eq!(store.front(list).map(|p| p.uid), queue.front().copied());
            assert_eq!(store.back(list).map(|p| p.uid), queue.back().copied());
            let there = store.get(list, place).map(|p| p.uid);
            assert_eq!(there, queue.get(position).copied());
            if number % 64 == 0 {
                assert!(store.iter(list).map(|p| &p.uid).eq(queue.iter()));
            }
            if queue.len() > 200 {
                while store.pop_front(list).is_some() {}
                queue.clear();
            }
        }
    }

    #[test]
    fn a_slot_that_was_left_is_filled_again() {
        let (mut store, mut list) = (Store::default(), List::default());
        for number in 0..100 {
            store.push_back(&mut list, Packet::test(100, 0, number));
            if number > 2 {
                store.pop_front(&mut list);
            }
        }
        assert_eq!(store.slots.len(), 4);
    }
}
