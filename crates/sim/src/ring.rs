//! The packet ring of a link: packets in flight, packets that the device holds and packets that wait,
//! in one power-of-two buffer, by value.
//!
//! ```text
//!   flight      device      (gap)      waiting
//! [head .. sent .. taken]   ....   [next .. tail]
//! ```
//!
//! A packet of a FIFO discipline enters at `tail` and leaves at `head` without being moved, unless a
//! discipline removed one before it; then `take` closes the gap by moving the packet that it takes.
//! A scheduler keeps its own queues and puts each packet straight behind `taken`.

#![allow(
    unsafe_code,
    reason = "packets are moved out of and into slots whose state the cursors know; a checked Option per slot costs a quarter of a hop"
)]

use crate::packet::Packet;
use std::mem::MaybeUninit;

/// The ring; see the module documentation for its four regions.
pub struct Ring {
    slots: Box<[MaybeUninit<Packet>]>,
    /// The length, a power of two, less one.
    mask: u64,
    // Free-running counters; the slot of counter `i` is `i & (len - 1)`.
    head: u64,
    sent: u64,
    taken: u64,
    next: u64,
    tail: u64,
}

const INITIAL_SLOTS: usize = 4;
const INITIAL_MASK: u64 = 3;

impl Default for Ring {
    fn default() -> Self {
        Ring::new()
    }
}

impl Ring {
    /// An empty ring.
    pub fn new() -> Self {
        Ring {
            slots: Box::new([const { MaybeUninit::uninit() }; INITIAL_SLOTS]),
            mask: INITIAL_MASK,
            head: 0,
            sent: 0,
            taken: 0,
            next: 0,
            tail: 0,
        }
    }

    #[inline]
    fn index(&self, counter: u64) -> usize {
        // The mask keeps only bits below the length, which is a usize: the truncation loses nothing.
        #[allow(clippy::as_conversions, reason = "masked to less than the length")]
        let slot = (counter & self.mask) as usize;
        slot
    }

    #[inline]
    fn slot(&self, counter: u64) -> &MaybeUninit<Packet> {
        let index = self.index(counter);
        // SAFETY: `index` masks with `mask`, which is len - 1 from `new` and `grow` on, so it is below len.
        unsafe { self.slots.get_unchecked(index) }
    }

    #[inline]
    fn slot_mut(&mut self, counter: u64) -> &mut MaybeUninit<Packet> {
        let index = self.index(counter);
        // SAFETY: `index` masks with `mask`, which is len - 1 from `new` and `grow` on, so it is below len.
        unsafe { self.slots.get_unchecked_mut(index) }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let old = self.slots.len();
        let mut slots: Vec<MaybeUninit<Packet>> = Vec::with_capacity(old * 2);
        slots.resize_with(old * 2, MaybeUninit::uninit);
        let mut slots = slots.into_boxed_slice();
        let mask = slots.len() - 1;
        let mut counter = self.head;
        while counter != self.tail {
            #[allow(clippy::as_conversions, reason = "masked to less than the length")]
            let to = (counter as usize) & mask;
            let from = self.index(counter);
            // Slots of the gap are moved as the uninitialised bytes they are.
            slots.swap_with_slot(to, &mut self.slots, from);
            counter += 1;
        }
        self.slots = slots;
        self.mask = 2 * self.mask + 1;
    }

    #[inline]
    fn make_room(&mut self) {
        if self.tail - self.head > self.mask {
            self.grow();
        }
    }

    /// Packets that wait.
    #[inline]
    pub fn waiting(&self) -> u64 {
        self.tail - self.next
    }

    /// Packets that the discipline has given up and whose transmission has not started.
    #[inline]
    pub fn held(&self) -> u64 {
        self.taken - self.sent
    }

    /// Packets in flight.
    #[inline]
    pub fn in_flight(&self) -> u64 {
        self.sent - self.head
    }

    /// Appends a packet to those that wait.
    #[inline]
    pub fn push(&mut self, packet: Packet) {
        self.make_room();
        self.slot_mut(self.tail).write(packet);
        self.tail += 1;
    }

    /// The waiting packet at `position` (0 is the head of the queue).
    #[inline]
    pub fn peek(&self, position: u64) -> Option<&Packet> {
        if position < self.waiting() {
            // SAFETY: every slot of next..tail holds a packet.
            Some(unsafe { self.slot(self.next + position).assume_init_ref() })
        } else {
            None
        }
    }

    /// The packets that wait, head first.
    pub fn iter(&self) -> impl Iterator<Item = &Packet> {
        (0..self.waiting()).filter_map(|position| self.peek(position))
    }

    /// The head of the queue, to be marked.
    #[inline]
    pub fn peek_mut(&mut self) -> Option<&mut Packet> {
        if self.next == self.tail {
            return None;
        }
        // SAFETY: every slot of next..tail holds a packet.
        Some(unsafe { self.slot_mut(self.next).assume_init_mut() })
    }

    /// Gives the head of the queue up for transmission.
    #[inline]
    pub fn take(&mut self) {
        debug_assert!(self.next != self.tail, "nothing waits");
        if self.taken != self.next {
            self.close_gap();
        }
        self.taken += 1;
        self.next += 1;
    }

    #[cold]
    fn close_gap(&mut self) {
        let from = self.index(self.next);
        let to = self.index(self.taken);
        // The slot at `taken` is in the gap (uninitialised), the slot at `next` holds the packet.
        self.slots.swap(from, to);
    }

    /// Removes the waiting packet at `position`; those before it move back by one slot.
    pub fn remove(&mut self, position: u64) -> Option<Packet> {
        if position >= self.waiting() {
            return None;
        }
        let mut counter = self.next + position;
        // SAFETY: every slot of next..tail holds a packet; this one is moved out and overwritten or left behind `next`.
        let packet = unsafe { self.slot(counter).assume_init_read() };
        while counter != self.next {
            let (to, from) = (self.index(counter), self.index(counter - 1));
            self.slots.swap(to, from);
            counter -= 1;
        }
        self.next += 1;
        Some(packet)
    }

    /// Puts a packet of a scheduler's own queues up for transmission.
    ///
    /// # Panics
    /// If packets wait in the ring: a discipline uses either the ring or its own queues.
    #[inline]
    pub fn put(&mut self, packet: Packet) {
        assert!(
            self.next == self.tail,
            "a discipline waits in the ring or in its own queues"
        );
        if self.next != self.taken {
            self.next = self.taken;
            self.tail = self.taken;
        }
        self.make_room();
        self.slot_mut(self.taken).write(packet);
        self.taken += 1;
        self.next = self.taken;
        self.tail = self.taken;
    }

    /// Takes the packet whose transmission is next out of the ring: for whoever drives a port without a link.
    ///
    /// # Panics
    /// If packets are in flight, which only a link puts there.
    pub fn withdraw(&mut self) -> Option<Packet> {
        assert!(self.head == self.sent, "packets in flight leave first");
        if self.sent == self.taken {
            return None;
        }
        self.sent += 1;
        self.land()
    }

    /// The packet whose transmission is next.
    #[inline]
    pub(crate) fn launch(&mut self) -> &mut Packet {
        debug_assert!(self.sent != self.taken, "nothing to send");
        let counter = self.sent;
        self.sent += 1;
        // SAFETY: every slot of sent..taken holds a packet.
        unsafe { self.slot_mut(counter).assume_init_mut() }
    }

    /// The packet launched last.
    #[inline]
    pub(crate) fn launched_last(&mut self) -> Option<&mut Packet> {
        if self.head == self.sent {
            return None;
        }
        let counter = self.sent - 1;
        // SAFETY: every slot of head..sent holds a packet.
        Some(unsafe { self.slot_mut(counter).assume_init_mut() })
    }

    /// The packet in flight that arrives next.
    #[inline]
    pub(crate) fn flight_head(&self) -> Option<&Packet> {
        if self.head == self.sent {
            return None;
        }
        // SAFETY: every slot of head..sent holds a packet.
        Some(unsafe { self.slot(self.head).assume_init_ref() })
    }

    /// Takes the packet that arrives next out of the ring.
    #[inline]
    pub(crate) fn land(&mut self) -> Option<Packet> {
        if self.head == self.sent {
            return None;
        }
        let counter = self.head;
        self.head += 1;
        // SAFETY: every slot of head..sent holds a packet; `head` moved past this one, so it is read once.
        Some(unsafe { self.slot(counter).assume_init_read() })
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // Packets own nothing (no field has a destructor), so slots may simply be freed.
        const { assert!(!std::mem::needs_drop::<Packet>()) }
    }
}

/// Swapping between two slices, slot by slot.
trait SwapSlots {
    fn swap_with_slot(&mut self, to: usize, other: &mut Self, from: usize);
}

impl SwapSlots for Box<[MaybeUninit<Packet>]> {
    #[inline]
    fn swap_with_slot(&mut self, to: usize, other: &mut Self, from: usize) {
        std::mem::swap(&mut self[to], &mut other[from]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    /// The safe reference: one queue per region.
    #[derive(Default)]
    struct Reference {
        flight: VecDeque<u32>,
        held: VecDeque<u32>,
        waiting: VecDeque<u32>,
    }

    proptest! {
        #[test]
        fn ring_agrees_with_three_plain_queues(ops in prop::collection::vec((0u8..7, 0u64..6), 0..400)) {
            let mut ring = Ring::new();
            let mut plain = Reference::default();
            let mut uid = 0;
            for (op, argument) in ops {
                match op {
                    0 | 1 => {
                        ring.push(Packet::test(1000, 0, uid));
                        plain.waiting.push_back(uid);
                        uid += 1;
                    }
                    2 if !plain.waiting.is_empty() => {
                        ring.take();
                        plain.held.push_back(plain.waiting.pop_front().expect("not empty"));
                    }
                    3 => {
                        let removed = ring.remove(argument).map(|p| p.uid);
                        let expected = usize::try_from(argument).ok().and_then(|i| plain.waiting.remove(i));
                        prop_assert_eq!(removed, expected);
                    }
                    4 if !plain.held.is_empty() => {
                        let launched = ring.launch().uid;
                        let expected = plain.held.pop_front().expect("not empty");
                        prop_assert_eq!(launched, expected);
                        plain.flight.push_back(expected);
                    }
                    5 => prop_assert_eq!(ring.land().map(|p| p.uid), plain.flight.pop_front()),
                    6 if plain.waiting.is_empty() => {
                        ring.put(Packet::test(1000, 0, uid));
                        plain.held.push_back(uid);
                        uid += 1;
                    }
                    _ => {}
                }
                prop_assert_eq!(ring.waiting(), plain.waiting.len() as u64);
                prop_assert_eq!(ring.held(), plain.held.len() as u64);
                prop_assert_eq!(ring.in_flight(), plain.flight.len() as u64);
                prop_assert_eq!(ring.flight_head().map(|p| p.uid), plain.flight.front().copied());
                for (i, expected) in plain.waiting.iter().enumerate() {
                    prop_assert_eq!(ring.peek(i as u64).map(|p| p.uid), Some(*expected));
                }
            }
        }
    }
}
