//! The packet ring of a link: packets in flight, packets that the device holds and packets that wait,
//! in one power-of-two buffer, by value.
//!
//! ```text
//!   flight      device          (gap)      waiting
//! [head .. sent .. sent + held] .... [sent + lead .. + waiting]
//! ```
//!
//! A packet of a FIFO discipline enters at the end and leaves at `head` without being moved, unless a
//! discipline removed one before it; then `take` moves the packet that it takes to the other side of the gap. A gap that has
//! become large is closed before the ring would grow for it. A ring that holds few packets goes round in some of its slots only,
//! which are in the cache.
//! A scheduler keeps its own queues and puts each packet straight behind those that the device holds.

#![allow(
    unsafe_code,
    reason = "packets are moved out of and into slots whose state the cursors know; a checked Option per slot costs a quarter of a hop"
)]

use crate::packet::Packet;
use crate::slab::to_usize;
use sojourn_units::Time;
use std::mem::MaybeUninit;

/// The ring; see the module documentation for its regions.
#[repr(C)]
pub struct Ring {
    slots: Box<[MaybeUninit<Packet>]>,
    /// The number of slots that it goes round in, a power of two, less one. There may be more behind them.
    mask: u32,
    // Free-running counters; the slot of counter `i` is `i & (len - 1)`.
    head: u32,
    sent: u32,
    /// Packets from `sent` on that the device holds.
    held: u32,
    /// Slots from `sent` to the head of the queue: those of the device and the gap; as many as `held` when nothing waits.
    lead: u32,
    /// Packets that wait.
    waiting: u32,
}

const INITIAL_SLOTS: usize = 4;
const INITIAL_MASK: u32 = 3;
const MAX_MASK: u32 = (1 << 31) - 1;

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
            held: 0,
            lead: 0,
            waiting: 0,
        }
    }

    #[inline]
    fn index(&self, counter: u32) -> usize {
        to_usize(counter & self.mask)
    }

    #[inline]
    fn slot(&self, counter: u32) -> &MaybeUninit<Packet> {
        let index = self.index(counter);
        // SAFETY: `index` masks with `mask`, which is below the length from `new`, `grow` and `narrow` on.
        unsafe { self.slots.get_unchecked(index) }
    }

    #[inline]
    fn slot_mut(&mut self, counter: u32) -> &mut MaybeUninit<Packet> {
        let index = self.index(counter);
        // SAFETY: `index` masks with `mask`, which is below the length from `new`, `grow` and `narrow` on.
        unsafe { self.slots.get_unchecked_mut(index) }
    }

    /// The counter behind the packets that the device holds.
    #[inline]
    fn taken(&self) -> u32 {
        self.sent.wrapping_add(self.held)
    }

    /// The counter of the packet that waits at the head of the queue.
    #[inline]
    fn next(&self) -> u32 {
        self.sent.wrapping_add(self.lead)
    }

    /// The counter behind everything.
    #[inline]
    fn tail(&self) -> u32 {
        self.next().wrapping_add(self.waiting)
    }

    /// Closes a gap of more than a quarter of the slots, so that what it takes to move all packets that wait is little for each
    /// that was removed; or else doubles the slots, or goes round in twice as many of them.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        if self.lead - self.held > self.mask / 4 {
            for position in 0..self.waiting {
                let from = self.index(self.next().wrapping_add(position));
                let to = self.index(self.taken().wrapping_add(position));
                // The slot at `to` is in the gap (uninitialised), or was left by the packet that was moved before.
                self.slots.swap(from, to);
            }
            self.lead = self.held;
            return;
        }
        assert!(self.mask < MAX_MASK, "a ring holds {MAX_MASK} packets");
        let old = to_usize(self.mask) + 1;
        if old < self.slots.len() {
            return self.widen(old);
        }
        let mut slots: Vec<MaybeUninit<Packet>> = Vec::with_capacity(old * 2);
        slots.resize_with(old * 2, MaybeUninit::uninit);
        let mut slots = slots.into_boxed_slice();
        let mask = 2 * self.mask + 1;
        let mut counter = self.head;
        while counter != self.tail() {
            let from = self.index(counter);
            // Slots of the gap are moved as the uninitialised bytes they are.
            std::mem::swap(&mut slots[to_usize(counter & mask)], &mut self.slots[from]);
            counter = counter.wrapping_add(1);
        }
        self.slots = slots;
        self.mask = mask;
    }

    /// Goes round in twice as many slots from now on, which are there.
    fn widen(&mut self, old: usize) {
        let head = self.index(self.head);
        let mask = 2 * self.mask + 1;
        // The ring is full: what is from its head on in the slots has counters of one half of the new round, what is before it of
        // the other.
        let upper = match head == to_usize(self.head & mask) {
            true => 0..head,
            false => head..old,
        };
        let (narrow, wide) = self.slots.split_at_mut(old);
        // Slots of the gap are moved as the uninitialised bytes they are.
        narrow[upper.clone()].swap_with_slice(&mut wide[upper]);
        self.mask = mask;
    }

    /// Goes round in half of the slots from now on, if they hold everything by then and little: called when the next packet would
    /// be put into the slot `end` at the beginning of the other half.
    #[cold]
    #[inline(never)]
    fn narrow(&mut self, end: u32) {
        // Less than a quarter, and so all of it before `end` in the first half.
        if end.wrapping_sub(self.head) <= self.mask / 4 && self.mask > INITIAL_MASK {
            self.mask /= 2;
        }
    }

    /// Sees to it that the slot of counter `end` is free when everything up to it is in use; without a gap.
    #[inline]
    fn make_room(&mut self, end: u32) {
        if end & self.mask == self.mask / 2 + 1 {
            self.narrow(end);
        }
        if end.wrapping_sub(self.head) > self.mask {
            self.grow();
        }
    }

    /// The counter behind everything, whose slot is free.
    #[inline]
    fn room_behind(&mut self) -> u32 {
        let mut tail = self.tail();
        if tail.wrapping_sub(self.head) > self.mask {
            self.grow();
            tail = self.tail();
        }
        tail
    }

    /// Packets that wait.
    #[inline]
    pub fn waiting(&self) -> u64 {
        u64::from(self.waiting)
    }

    /// Packets that the discipline has given up and whose transmission has not started.
    #[inline]
    pub fn held(&self) -> u64 {
        u64::from(self.held)
    }

    /// Bytes of the packets that the discipline has given up and whose transmission has not started.
    pub(crate) fn held_bytes(&self) -> u64 {
        (0..self.held)
            .map(|i| {
                // SAFETY: the `held` slots from `sent` on hold packets.
                let packet = unsafe { self.slot(self.sent.wrapping_add(i)).assume_init_ref() };
                u64::from(packet.size)
            })
            .sum()
    }

    /// Packets that the discipline has given up, in flight or not, in order.
    pub(crate) fn given_up(&self) -> impl Iterator<Item = &Packet> {
        (0..self.taken().wrapping_sub(self.head)).map(|i| {
            // SAFETY: the slots from `head` up to `taken` hold packets: those in flight, and `held` ones behind them.
            unsafe { self.slot(self.head.wrapping_add(i)).assume_init_ref() }
        })
    }

    /// Packets in flight.
    #[inline]
    pub fn in_flight(&self) -> u64 {
        u64::from(self.sent.wrapping_sub(self.head))
    }

    /// Appends a packet to those that wait.
    #[inline]
    pub fn push(&mut self, packet: Packet) {
        let tail = self.room_behind();
        self.slot_mut(tail).write(packet);
        self.waiting += 1;
    }

    /// The waiting packet at `position` (0 is the head of the queue).
    #[inline]
    pub fn peek(&self, position: u64) -> Option<&Packet> {
        let position = u32::try_from(position).ok()?;
        if position < self.waiting {
            // SAFETY: the `waiting` slots from `next` on hold packets.
            Some(unsafe {
                self.slot(self.next().wrapping_add(position))
                    .assume_init_ref()
            })
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
        if self.waiting == 0 {
            return None;
        }
        let next = self.next();
        // SAFETY: the `waiting` slots from `next` on hold packets.
        Some(unsafe { self.slot_mut(next).assume_init_mut() })
    }

    /// Gives the head of the queue up for transmission.
    ///
    /// # Panics
    /// If nothing waits.
    #[inline]
    pub fn take(&mut self) {
        assert!(self.waiting != 0, "nothing waits");
        if self.lead != self.held {
            self.close_gap();
        }
        self.waiting -= 1;
        self.held += 1;
        self.lead += 1;
    }

    /// Moves the head of the queue to the beginning of the gap; the gap is behind it then.
    #[inline]
    fn close_gap(&mut self) {
        let next = self.next();
        let packet = std::mem::replace(self.slot_mut(next), MaybeUninit::uninit());
        // The slot at `taken` is in the gap.
        let taken = self.taken();
        *self.slot_mut(taken) = packet;
        if self.waiting == 1 {
            self.lead = self.held;
        }
    }

    /// Removes the waiting packet at `position`; those before it move back by one slot, or those behind it move up, whichever
    /// are fewer.
    pub fn remove(&mut self, position: u64) -> Option<Packet> {
        let position = u32::try_from(position).ok().filter(|p| *p < self.waiting)?;
        let next = self.next();
        let (counter, last) = (next.wrapping_add(position), self.tail().wrapping_sub(1));
        let from_front = position < self.waiting / 2 || self.waiting == 1;
        // SAFETY: the `waiting` slots from `next` on hold packets; this one is moved out, and its slot is taken by another, or left
        // in the gap or behind the last.
        let packet = unsafe { self.slot(counter).assume_init_read() };
        match from_front {
            true => self.shift(next, counter, true),
            false => self.shift(counter, last, false),
        }
        self.waiting -= 1;
        if self.waiting == 0 {
            self.lead = self.held;
        } else if from_front {
            self.lead += 1;
        }
        Some(packet)
    }

    /// Moves the slots of counters `from` to `to`, both included, by one place: back, except for the last, over which the others go;
    /// or up, except for the first.
    fn shift(&mut self, from: u32, to: u32, back: bool) {
        let (begin, end) = (self.index(from), self.index(to));
        if begin <= end {
            return shift(&mut self.slots[begin..=end], back);
        }
        // Both parts on their own, and what one gives to the other.
        let (head, tail) = self.slots[..=to_usize(self.mask)].split_at_mut(begin);
        let head = &mut head[..=end];
        if back {
            shift(head, back);
            if let (Some(there), Some(here)) = (tail.last_mut(), head.first_mut()) {
                std::mem::swap(there, here);
            }
            shift(tail, back);
        } else {
            shift(tail, back);
            if let (Some(there), Some(here)) = (tail.last_mut(), head.first_mut()) {
                std::mem::swap(there, here);
            }
            shift(head, back);
        }
    }

    /// Puts the packet that `next` gives, of a scheduler's own queues, up for transmission. It is asked when the slot is known,
    /// so that the packet is copied once.
    ///
    /// # Panics
    /// If packets wait in the ring: a discipline uses either the ring or its own queues.
    #[inline]
    pub fn put(&mut self, next: impl FnOnce() -> Packet) {
        assert!(
            self.waiting == 0,
            "a discipline waits in the ring or in its own queues"
        );
        if self.head == self.taken() {
            (self.head, self.sent) = (0, 0);
        }
        let taken = self.taken();
        self.make_room(taken);
        self.slot_mut(taken).write(next());
        self.held += 1;
        self.lead += 1;
    }

    /// The slot for a packet that goes straight into flight; it is in flight from now on. An empty ring begins anew at its
    /// first slot, which is in the cache.
    #[inline(always)]
    fn straight(&mut self) -> u32 {
        assert!(self.lead | self.waiting == 0, "others go first");
        let mut counter = self.sent;
        if counter == self.head {
            self.head = 0;
            counter = 0;
        } else {
            self.make_room(counter);
        }
        self.sent = counter.wrapping_add(1);
        counter
    }

    /// Puts a packet straight into flight.
    ///
    /// # Panics
    /// If packets wait in the ring or in the device: they go first.
    #[inline(always)]
    pub(crate) fn send(&mut self, packet: Packet) -> &Packet {
        let counter = self.straight();
        // Between the step of `sent` in `straight` and here nothing looks at the slot.
        self.slot_mut(counter).write(packet)
    }

    /// Moves the packet in flight that arrives next in `from` straight into flight in this ring.
    ///
    /// # Panics
    /// If packets wait in this ring or in the device: they go first.
    #[inline(always)]
    pub(crate) fn relay(&mut self, from: &mut Ring) -> Option<&mut Packet> {
        if from.head == from.sent {
            return None;
        }
        let counter = self.straight();
        // SAFETY: every slot of head..sent holds a packet; `head` moves past this one, so it is read once.
        let packet = unsafe { from.slot(from.head).assume_init_read() };
        from.head = from.head.wrapping_add(1);
        Some(self.slot_mut(counter).write(packet))
    }

    /// Moves the packet in flight that arrives next in `from` behind those that wait in this ring.
    #[inline(always)]
    pub fn queue(&mut self, from: &mut Ring) -> Option<&mut Packet> {
        if from.head == from.sent {
            return None;
        }
        let tail = self.room_behind();
        self.waiting += 1;
        // SAFETY: every slot of head..sent holds a packet; `head` moves past this one, so it is read once.
        let packet = unsafe { from.slot(from.head).assume_init_read() };
        from.head = from.head.wrapping_add(1);
        Some(self.slot_mut(tail).write(packet))
    }

    /// Takes the packet whose transmission is next out of the ring: for whoever drives a port without a link.
    ///
    /// # Panics
    /// If packets are in flight, which only a link puts there.
    pub fn withdraw(&mut self) -> Option<Packet> {
        assert!(self.head == self.sent, "packets in flight leave first");
        if self.held == 0 {
            return None;
        }
        self.launch();
        self.land()
    }

    /// The packet whose transmission is next; it is in flight from now on.
    ///
    /// # Panics
    /// If the device holds none.
    #[inline]
    pub(crate) fn launch(&mut self) -> &mut Packet {
        assert!(self.held != 0, "nothing to send");
        let counter = self.sent;
        self.held -= 1;
        self.lead -= 1;
        self.sent = counter.wrapping_add(1);
        // SAFETY: the `held` slots from `sent` on held packets.
        unsafe { self.slot_mut(counter).assume_init_mut() }
    }

    /// The packet at the head of the queue, where the device holds none.
    #[inline(always)]
    pub(crate) fn next_in_line(&self) -> Option<&Packet> {
        if self.held != 0 {
            return None;
        }
        self.peek(0)
    }

    /// Launches the packet at the head of the queue: [`Ring::take`] and [`Ring::launch`] in one.
    ///
    /// # Panics
    /// If it is not [next in line](Ring::next_in_line).
    #[inline(always)]
    pub(crate) fn launch_waiting(&mut self) -> &mut Packet {
        assert!(self.held == 0 && self.waiting != 0, "nothing in line");
        if self.lead != 0 {
            self.close_gap();
        }
        let counter = self.sent;
        self.waiting -= 1;
        self.sent = counter.wrapping_add(1);
        // SAFETY: without a gap the `waiting` slots from `sent` on held packets; `close_gap` has moved the first of them there.
        unsafe { self.slot_mut(counter).assume_init_mut() }
    }

    /// The packet launched last.
    #[inline]
    pub(crate) fn launched_last(&mut self) -> Option<&mut Packet> {
        if self.head == self.sent {
            return None;
        }
        let counter = self.sent.wrapping_sub(1);
        // SAFETY: every slot of head..sent holds a packet.
        Some(unsafe { self.slot_mut(counter).assume_init_mut() })
    }

    /// The packet in flight that arrives next.
    #[inline]
    pub fn flight_head(&self) -> Option<&Packet> {
        if self.head == self.sent {
            return None;
        }
        // SAFETY: every slot of head..sent holds a packet.
        Some(unsafe { self.slot(self.head).assume_init_ref() })
    }

    /// Takes the packet that arrives next out of the ring.
    #[inline]
    pub(crate) fn land(&mut self) -> Option<Packet> {
        (self.head != self.sent).then(|| self.land_next())
    }

    /// Takes the packet that arrives next, where the caller has seen that one is in flight: an option of a packet would be taken apart
    /// and put together again.
    ///
    /// # Panics
    /// If none is.
    #[inline(always)]
    pub fn land_next(&mut self) -> Packet {
        assert!(self.head != self.sent, "nothing in flight");
        let counter = self.head;
        self.head = counter.wrapping_add(1);
        // SAFETY: every slot of head..sent holds a packet; `head` moved past this one, so it is read once.
        unsafe { self.slot(counter).assume_init_read() }
    }

    /// As [`Ring::land_next`], with the times of an arrival that is yet to come. The times that are in the slot have just been
    /// written, one by one; a copy of the whole slot would wait for them.
    ///
    /// # Panics
    /// If no packet is in flight.
    #[inline(always)]
    pub(crate) fn land_ahead(&mut self, at: Time, launched: Time) -> Packet {
        Packet {
            at,
            launched,
            ..self.land_next()
        }
    }

    /// Shows the packet that arrives next to `see` if it arrives before `time`, and drops it then; says whether it did.
    #[inline(always)]
    pub(crate) fn land_before(&mut self, time: Time, see: impl FnOnce(&Packet)) -> bool {
        match self.flight_head() {
            Some(packet) if packet.at < time => see(packet),
            _ => return false,
        }
        // Packets own nothing, so a slot may simply be left.
        self.head = self.head.wrapping_add(1);
        true
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // Packets own nothing (no field has a destructor), so slots may simply be freed.
        const { assert!(!std::mem::needs_drop::<Packet>()) }
    }
}

/// Moves what is in `slots` by one place: back, except for the last, over which the others go; or up, except for the first.
#[inline]
fn shift(slots: &mut [MaybeUninit<Packet>], back: bool) {
    let moved = slots.len().saturating_sub(1);
    let first = slots.as_mut_ptr();
    // SAFETY: the `moved` slots from `first` on, and as many from the one behind it on, are among `slots`.
    unsafe {
        match back {
            true => std::ptr::copy(first, first.wrapping_add(1), moved),
            false => std::ptr::copy(first.wrapping_add(1), first, moved),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    #[test]
    fn removing_heads_from_a_queue_that_never_empties_needs_no_more_slots() {
        let mut ring = Ring::new();
        let (mut pushed, mut next) = (0, 0);
        for round in 0..20_000_u32 {
            ring.push(Packet::test(1000, 0, pushed));
            pushed += 1;
            if round < 100 {
                continue;
            }
            let uid = if round % 3 == 0 {
                ring.remove(0).map(|packet| packet.uid)
            } else {
                ring.take();
                ring.launch();
                ring.land().map(|packet| packet.uid)
            };
            assert_eq!(uid, Some(next));
            next += 1;
        }
        assert!(ring.mask <= 255, "{}", ring.mask);
    }

    /// The safe reference: one queue per region.
    #[derive(Default)]
    struct Reference {
        flight: VecDeque<u32>,
        held: VecDeque<u32>,
        waiting: VecDeque<u32>,
    }

    #[test]
    fn what_is_removed_leaves_a_gap_in_the_slots_that_the_ring_goes_round_in() {
        let mut ring = Ring::new();
        for uid in 0..64 {
            ring.send(Packet::test(1000, 0, uid));
        }
        let mut uid = 64;
        while ring.mask > 7 {
            while ring.in_flight() > 1 {
                ring.land();
            }
            ring.send(Packet::test(1000, 0, uid));
            uid += 1;
        }
        assert_eq!((ring.slots.len(), ring.in_flight()), (64, 2));
        while ring.tail() & ring.mask != 6 {
            ring.send(Packet::test(1000, 0, uid));
            ring.land();
            uid += 1;
        }
        // The packets that wait begin behind the sixth of eight slots, and go on in the first.
        for waiting in 0..6 {
            ring.push(Packet::test(1000, 0, 1000 + waiting));
        }
        assert_eq!(ring.mask, 7);
        assert_eq!(ring.remove(2).map(|packet| packet.uid), Some(1002));
        let left: Vec<u32> = ring.iter().map(|packet| packet.uid).collect();
        assert_eq!(left, [1000, 1001, 1003, 1004, 1005]);
    }

    #[test]
    fn a_ring_that_holds_few_packets_again_goes_round_in_few_slots() {
        let mut ring = Ring::new();
        for uid in 0..1000 {
            ring.send(Packet::test(1000, 0, uid));
        }
        assert_eq!((ring.mask, ring.slots.len()), (1023, 1024));
        let mut next = 0;
        for uid in 1000..10_000 {
            ring.send(Packet::test(1000, 0, uid));
            let target = if uid % 1000 < 500 { 3 } else { 40 };
            while ring.in_flight() > target {
                assert_eq!(ring.land().map(|packet| packet.uid), Some(next));
                next += 1;
            }
            match uid % 1000 {
                499 if uid > 3000 => assert!(ring.mask <= 15, "{}", ring.mask),
                999 if uid > 3000 => assert!(ring.mask <= 255, "{}", ring.mask),
                _ => {}
            }
        }
        assert_eq!(ring.slots.len(), 1024);
    }

    proptest! {
        #[test]
        fn ring_agrees_with_three_plain_queues(ops in prop::collection::vec((0u8..14, 0u64..6), 0..400)) {
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
                        ring.put(|| Packet::test(1000, 0, uid));
                        plain.held.push_back(uid);
                        uid += 1;
                    }
                    7 if plain.waiting.is_empty() && plain.held.is_empty() => {
                        ring.send(Packet::test(1000, 0, uid));
                        plain.flight.push_back(uid);
                        uid += 1;
                    }
                    8 if plain.waiting.is_empty() && plain.held.is_empty() => {
                        let mut other = Ring::new();
                        other.send(Packet::test(1000, 0, uid));
                        prop_assert_eq!(ring.relay(&mut other).map(|p| p.uid), Some(uid));
                        prop_assert!(other.land().is_none());
                        plain.flight.push_back(uid);
                        uid += 1;
                    }
                    9 => {
                        let mut other = Ring::new();
                        other.send(Packet::test(1000, 0, uid));
                        prop_assert_eq!(ring.queue(&mut other).map(|p| p.uid), Some(uid));
                        prop_assert!(other.land().is_none());
                        plain.waiting.push_back(uid);
                        uid += 1;
                    }
                    10 => {
                        let mut landed = None;
                        let before = Time::from_ps(argument.min(1));
                        let did = ring.land_before(before, |packet| landed = Some(packet.uid));
                        let expected = if argument > 0 { plain.flight.pop_front() } else { None };
                        prop_assert_eq!((did, landed), (expected.is_some(), expected));
                    }
                    11 if ring.next_in_line().is_some() => {
                        prop_assert!(plain.held.is_empty());
                        let launched = ring.launch_waiting().uid;
                        let expected = plain.waiting.pop_front().expect("not empty");
                        prop_assert_eq!(launched, expected);
                        plain.flight.push_back(expected);
                    }
                    12 => while let Some(packet) = ring.land() {
                        prop_assert_eq!(Some(packet.uid), plain.flight.pop_front());
                    },
                    13 => for _ in 0..10 * argument {
                        ring.push(Packet::test(1000, 0, uid));
                        plain.waiting.push_back(uid);
                        uid += 1;
                        if argument > 2 {
                            ring.take();
                            plain.held.push_back(plain.waiting.pop_front().expect("not empty"));
                            prop_assert_eq!(Some(ring.launch().uid), plain.held.front().copied());
                            plain.flight.extend(plain.held.pop_front());
                        }
                    },
                    _ => {}
                }
                prop_assert_eq!(ring.held_bytes(), 1000 * plain.held.len() as u64);
                prop_assert_eq!(ring.waiting(), plain.waiting.len() as u64);
                prop_assert_eq!(ring.held(), plain.held.len() as u64);
                prop_assert_eq!(ring.in_flight(), plain.flight.len() as u64);
                prop_assert_eq!(ring.flight_head().map(|p| p.uid), plain.flight.front().copied());
                let given_up: Vec<u32> = ring.given_up().map(|p| p.uid).collect();
                let expected: Vec<u32> = plain.flight.iter().chain(&plain.held).copied().collect();
                prop_assert_eq!(given_up, expected);
                for (i, expected) in plain.waiting.iter().enumerate() {
                    prop_assert_eq!(ring.peek(i as u64).map(|p| p.uid), Some(*expected));
                }
            }
        }
    }
}
