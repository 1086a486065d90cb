//! An intrusive calendar queue: the event list for any number of components.
//!
//! Sources: R. Brown, "Calendar queues: a fast O(1) priority queue implementation for the
//! simulation event set problem", CACM 31(10), 1988, for days, years and the mean spacing of events
//! as the measure of a day; W. T. Tang, R. S. M. Goh and I. L.-J. Thng, "Ladder queue", ACM TOMACS
//! 15(3), 2005, for sorting events only when they are near.
//!
//! Time is cut into *days* of a power of two picoseconds. The days that follow today have a bucket
//! each: two chains of component ids in no order, linked through the components' own records, so that
//! scheduling writes one record and allocates nothing. When a day begins, its chains are sorted into
//! `today`, a stack with the least event on top. Whatever the calendar cannot hold cheaply goes to a
//! heap, and the least event of the list is the smaller of the two tops: events beyond the last
//! bucket (retransmission timers), and events that arrive today when today is crowded already, so
//! that neither a burst at one instant nor a badly chosen day costs more than the heap would.
//!
//! Branches that follow the data are what a hold costs most, so that the common paths have few: four
//! links of each chain are followed whatever its length (the record that ends it follows itself), a
//! network sorts them, and a new event of today finds its place among eight without a branch. The
//! place is not searched for: each of the eight keys becomes the middle one of itself, the key
//! below it and the new key, so that none waits for another.
//!
//! Deviations from Brown: the day's length follows from counting the events that fired in a stretch
//! of simulated time, not from sampling the queue; far events wait in a heap instead of wrapping
//! round the year; with few events pending the days are made so long that today holds them all,
//! which makes the list a sorted array. The order of events never depends on any of this.
//!
//! The paths that every event takes index without bounds checks. They rest on these facts, which
//! every method keeps whatever it is called with: heads, `Pending::next` and `Pending::prev` (except for
//! its three marks) are at most `end`, and there are `end + 1` records; keys other than `VOID` hold
//! ids below `end`; there are `mask + 1` heads and as many marks; `floor` is from `LOWEST` to
//! `HIGHEST + AT_ONCE`, `top` is at least `floor` and a place of `today`, which has `ROOM` places or more.

#![allow(
    unsafe_code,
    reason = "bounds checks cost an eighth of a hold; tested beside SafeList"
)]

use std::cmp::Ordering;

use super::{Event, EventList, HeapList, index, index64, low32, wide};

/// The event list for any number of components; see the module's head.
///
/// It is exact for any sequence of operations. It is fast when most events are scheduled within
/// some thousands of mean event spacings, whatever their distribution, and not much slower than a
/// heap otherwise, except for one thing: an event that waits its turn among many of the same day is
/// looked for one by one when it is cancelled or moved.
#[derive(Clone, Debug)]
pub struct CalendarList {
    /// One record per component, and one more which ends every chain.
    pending: Box<[Pending]>,
    /// The number of components, and the id of the record that ends every chain.
    end: u32,
    /// Keys of the events of `day`, greatest first, from `floor + 1` to `top`; from 0 to `floor` all is
    /// `VOID`.
    today: Vec<u64>,
    top: usize,
    /// An event after all others of today goes below them, so that the floor sinks, down to `LOWEST`;
    /// then the stack is moved up to `HIGHEST`.
    floor: usize,
    /// From this place to `top`, events of equal times are in order.
    settled: usize,
    /// A key on the stack below this one is before every event in `far`.
    guard: u64,
    /// The day on the stack. Buckets hold the `mask` days that follow it.
    day: u64,
    /// A day is 2^`shift` picoseconds.
    shift: u32,
    /// Bits of an id in a key.
    id_bits: u32,
    /// Those bits.
    id_mask: u64,
    /// Buckets, a power of two, less one.
    mask: u64,
    /// The first components of each bucket's two chains.
    heads: Vec<Heads>,
    /// For each bucket, 1 if it is not empty; eight are read as one word.
    occupied: Vec<[u8; 8]>,
    far: HeapList,
    /// The day of the first event in `far`, `u64::MAX` if there is none.
    far_day: u64,
    /// The time of the last event popped.
    now: u64,
    /// Events that entered the list, and that left it.
    entered: u64,
    left: u64,
    /// `left` and `now` at the last look at the day's length, and `left` at the next.
    last_left: u64,
    last_now: u64,
    next_look: u64,
    interval: u64,
}

/// The first components of a bucket's two chains: of the one that got an event last, and of the
/// other, which gets the next. Two chains are followed in half the time of one, because each link
/// is waited for.
#[derive(Clone, Copy, Debug)]
#[repr(align(8))]
struct Heads([u32; 2]);

/// What the list knows of one component.
#[derive(Clone, Copy, Debug)]
struct Pending {
    /// The time, then the component: see `CalendarList::key`. `VOID` in the record that ends
    /// every chain.
    key: u64,
    time: u64,
    birth: u64,
    /// In a chain, the next component; the record that ends every chain follows itself.
    next: u32,
    /// `IDLE`, `FAR`, or, in a chain, the previous component or `HEAD`. A component whose event is
    /// of today keeps what it had: its time says where it is.
    prev: u32,
}

/// `Pending::prev` of a component without an event.
const IDLE: u32 = u32::MAX;
/// `Pending::prev` of a component in the heap.
const FAR: u32 = u32::MAX - 1;
/// `Pending::prev` of the first component of a chain.
const HEAD: u32 = u32::MAX - 2;
/// Greater than any key: no component's id is all ones.
const VOID: u64 = u64::MAX;

/// Events per day: enough to spread the cost of beginning a day, few enough to sort at once. The
/// power of two makes it two thirds to four thirds of this.
const OCCUPANCY: u64 = 6;
/// With so few events pending, a day holds them all.
const FEW: usize = 16;
const OCCUPANCY_OF_FEW: u64 = 1024;
/// The number of events that are sorted, or that a new event is compared with, at once, and of the
/// places at the bottom of `today` that stay `VOID`.
const AT_ONCE: usize = 8;
const LOWEST: usize = AT_ONCE;
const HIGHEST: usize = LOWEST + 128;
/// Today takes new events in their order while it has fewer than this; more go to the heap.
const SHALLOW: usize = 32;
/// Places of `today`: the floor and the stack.
const ROOM: usize = HIGHEST + AT_ONCE + 1 + SHALLOW;
/// No event of today has been put in order of birth.
const UNSETTLED: usize = usize::MAX;
/// Of no event.
const NO_DAY: u64 = u64::MAX;
const MIN_BUCKETS: usize = 2048;
const MAX_BUCKETS: usize = 1 << 20;
/// The day's length before anything is known: 8 ns.
const FIRST_SHIFT: u32 = 13;
/// At least 1, so that no day is numbered `u64::MAX`, the day before the first.
const MIN_SHIFT: u32 = 1;
/// Events before the first look at the day's length; the stretch doubles up to `MAX_INTERVAL` or
/// twice the number of components.
const MIN_INTERVAL: u64 = 64;
const MAX_INTERVAL: u64 = 8192;

impl EventList for CalendarList {
    fn with_components(n: usize) -> Self {
        let end = u32::try_from(n).ok().filter(|&end| end < HEAD);
        let end =
            end.unwrap_or_else(|| panic!("{n} components: an event list holds {HEAD} less 1"));
        let idle = Pending {
            key: VOID,
            time: 0,
            birth: 0,
            next: end,
            prev: IDLE,
        };
        let id_bits = u32::BITS - end.leading_zeros();
        Self {
            pending: vec![idle; n + 1].into(),
            end,
            today: vec![VOID; ROOM],
            top: HIGHEST,
            floor: HIGHEST,
            settled: UNSETTLED,
            guard: VOID,
            day: day_before(0),
            shift: FIRST_SHIFT,
            id_bits,
            id_mask: (1 << id_bits) - 1,
            mask: wide(MIN_BUCKETS) - 1,
            heads: vec![Heads([end; 2]); MIN_BUCKETS],
            occupied: vec![[0; 8]; MIN_BUCKETS / 8],
            far: HeapList::with_components(n),
            far_day: NO_DAY,
            now: 0,
            entered: 0,
            left: 0,
            last_left: 0,
            last_now: 0,
            next_look: MIN_INTERVAL,
            interval: MIN_INTERVAL,
        }
    }

    #[inline]
    fn set(&mut self, id: u32, time: u64, birth: u64) {
        debug_assert!(
            time >= self.now,
            "component {id} is set to {time} ps, before the last event popped, at {} ps",
            self.now
        );
        if id >= self.end {
            no_such_component(id, self.end);
        }
        // SAFETY: checked above.
        if unsafe { self.own(id) }.prev == IDLE {
            self.entered += 1;
            self.place(id, time, birth);
        } else {
            self.replace(id, time, birth);
        }
    }

    fn cancel(&mut self, id: u32) {
        if id >= self.end {
            no_such_component(id, self.end);
        }
        if self.pending[index(id)].prev != IDLE {
            self.remove(id);
            self.pending[index(id)].prev = IDLE;
            self.left += 1;
        }
    }

    #[inline]
    fn pending(&self, id: u32) -> Option<(u64, u64)> {
        if id >= self.end {
            no_such_component(id, self.end);
        }
        let own = self.pending[index(id)];
        (own.prev != IDLE).then_some((own.time, own.birth))
    }

    #[inline]
    fn pop(&mut self) -> Option<Event> {
        if self.is_ready() || self.prepare() {
            Some(self.take())
        } else {
            self.pop_far(None)
        }
    }

    #[inline(always)]
    fn pop_before(&mut self, limit: u64) -> Option<Event> {
        if self.is_ready() || self.prepare() {
            (self.top_event().time < limit).then(|| self.take())
        } else {
            self.pop_far(Some(limit))
        }
    }

    #[inline]
    fn peek(&mut self) -> Option<Event> {
        if self.is_ready() || self.prepare() {
            Some(self.top_event())
        } else {
            self.far.first()
        }
    }

    /// Says so where the stack alone tells.
    #[inline(always)]
    fn comes_first(&self, id: u32, time: u64) -> bool {
        let (key, top) = (self.key(time, id), self.top_key());
        time >> self.shift == self.day && key < top.min(self.guard) && !self.same_time(key, top)
    }

    fn len(&self) -> usize {
        index64(self.entered - self.left)
    }
}

impl CalendarList {
    /// The record of a component, or the one that ends every chain.
    ///
    /// # Safety
    ///
    /// `id` is at most `end`.
    #[inline(always)]
    unsafe fn own(&self, id: u32) -> &Pending {
        debug_assert!(id <= self.end);
        // SAFETY: there are `end() + 1` records.
        unsafe { self.pending.get_unchecked(index(id)) }
    }

    /// As `own`.
    ///
    /// # Safety
    ///
    /// `id` is at most `end`.
    #[inline(always)]
    unsafe fn own_mut(&mut self, id: u32) -> &mut Pending {
        debug_assert!(id <= self.end);
        // SAFETY: there are `end() + 1` records.
        unsafe { self.pending.get_unchecked_mut(index(id)) }
    }

    /// The chains of the bucket that holds a day.
    #[inline(always)]
    fn heads_mut(&mut self, day: u64) -> &mut Heads {
        debug_assert_eq!(wide(self.heads.len()), self.mask + 1);
        // SAFETY: there are `mask + 1` heads.
        unsafe { self.heads.get_unchecked_mut(index64(day & self.mask)) }
    }

    /// The marks of a day's bucket and its neighbours; the bucket of the earliest day is lowest.
    #[inline(always)]
    fn marks(&self, day: u64) -> u64 {
        debug_assert_eq!(wide(self.occupied.len()) << 3, self.mask + 1);
        // SAFETY: there are eight marks for each eight of the `mask + 1` buckets.
        let marks = unsafe { *self.occupied.get_unchecked(index64((day & self.mask) >> 3)) };
        u64::from_le_bytes(marks)
    }

    /// Marks a day's bucket as empty or not.
    #[inline(always)]
    fn mark(&mut self, day: u64, mark: u8) {
        debug_assert_eq!(wide(self.occupied.len()) << 3, self.mask + 1);
        // SAFETY: there is a mark for each of the `mask + 1` buckets.
        unsafe {
            *self
                .occupied
                .as_flattened_mut()
                .get_unchecked_mut(index64(day & self.mask)) = mark;
        }
    }

    /// The key on top of the stack, `VOID` if the stack is empty.
    #[inline(always)]
    fn top_key(&self) -> u64 {
        debug_assert!(self.top < self.today.len());
        // SAFETY: `top` is a place of `today`.
        unsafe { *self.today.get_unchecked(self.top) }
    }

    /// The key below the top of the stack.
    #[inline(always)]
    fn second_key(&self) -> u64 {
        debug_assert!((LOWEST..self.today.len()).contains(&self.top));
        // SAFETY: `top` is a place of `today`, and at least `LOWEST`.
        unsafe { *self.today.get_unchecked(self.top - 1) }
    }

    /// An event as a word: its time, without the bits that events of one day share, then its
    /// component. Births are not in it, so equal times are put in order by `settle`.
    #[inline(always)]
    fn key(&self, time: u64, id: u32) -> u64 {
        time << self.id_bits | u64::from(id)
    }

    #[inline(always)]
    fn id(&self, key: u64) -> u32 {
        low32(key & self.id_mask)
    }

    #[inline(always)]
    fn same_time(&self, a: u64, b: u64) -> bool {
        (a ^ b) <= self.id_mask
    }

    /// The event whose key the caller has read from the stack, and which is not `VOID`.
    #[inline(always)]
    fn event(&self, key: u64) -> Event {
        debug_assert_ne!(key, VOID);
        let id = self.id(key);
        // SAFETY: keys other than `VOID` hold ids below `end`.
        let own = unsafe { self.own(id) };
        Event {
            time: own.time,
            birth: own.birth,
            id,
        }
    }

    /// The event on top of the stack, which is not empty.
    #[inline(always)]
    fn top_event(&self) -> Event {
        self.event(self.top_key())
    }

    /// Takes the event on top of the stack, which is not empty.
    #[inline(always)]
    fn take(&mut self) -> Event {
        let event = self.top_event();
        // SAFETY: keys other than `VOID` hold ids below `end`.
        unsafe { self.own_mut(event.id) }.prev = IDLE;
        // As the key is not `VOID`, `top` is above `floor`.
        self.top -= 1;
        self.left += 1;
        self.now = event.time;
        event
    }

    /// True if the least event is on top of the stack for sure.
    #[inline(always)]
    fn is_ready(&self) -> bool {
        let key = self.top_key();
        key < self.guard && !self.same_time(key, self.second_key())
    }

    /// Brings the least event to the top of the stack, unless it is in the heap or there is none:
    /// then it returns false.
    #[inline(never)]
    fn prepare(&mut self) -> bool {
        if self.top_key() == VOID {
            self.advance();
        }
        let key = self.top_key();
        if key == VOID {
            return false;
        }
        if self.same_time(key, self.second_key()) {
            self.settle();
        }
        key < self.guard || self.is_before_far()
    }

    /// True if the event on top of the stack is before the heap's.
    #[inline(never)]
    fn is_before_far(&self) -> bool {
        let near = self.top_event();
        self.far.first().is_none_or(|far| near < far)
    }

    /// Puts an idle component's event where it belongs. The component's id is below `end`.
    #[inline(always)]
    fn place(&mut self, id: u32, time: u64, birth: u64) {
        let day = time >> self.shift;
        let ahead = day.wrapping_sub(self.day);
        if ahead.wrapping_sub(1) < self.mask {
            let heads = self.heads_mut(day);
            let Heads([last, head]) = *heads;
            *heads = Heads([id, last]);
            self.mark(day, 1);
            // SAFETY: a head is at most `end`.
            unsafe { self.own_mut(head) }.prev = id;
            let key = self.key(time, id);
            // SAFETY: the caller's id is below `end`.
            *unsafe { self.own_mut(id) } = Pending {
                key,
                time,
                birth,
                next: head,
                prev: HEAD,
            };
            return;
        }
        let key = self.key(time, id);
        let comes_last = ahead == 0 && self.greatest_key() < key && self.top <= self.settled;
        if !comes_last || self.top - self.floor >= SHALLOW || self.floor == LOWEST {
            return self.place_elsewhere(id, time, birth);
        }
        // Below all others of today.
        self.settled = UNSETTLED;
        // SAFETY: `floor` is a place of `today`.
        unsafe { *self.today.get_unchecked_mut(self.floor) = key };
        self.floor -= 1;
        // SAFETY: the caller's id is below `end`.
        let own = unsafe { self.own_mut(id) };
        (own.time, own.birth, own.prev) = (time, birth, HEAD);
    }

    /// Puts an idle component's event of today on the stack, and of any other day in the heap.
    #[inline(never)]
    fn place_elsewhere(&mut self, id: u32, time: u64, birth: u64) {
        if time >> self.shift != self.day || self.top - self.floor >= SHALLOW {
            return self.place_far(id, time, birth);
        }
        if self.top > self.settled {
            return self.place_among_settled(id, time, birth);
        }
        let key = self.key(time, id);
        // SAFETY: the caller's id is below `end`.
        let own = unsafe { self.own_mut(id) };
        own.time = time;
        own.birth = birth;
        own.prev = HEAD;
        self.insert(key);
        if self.floor == LOWEST {
            self.raise();
        }
    }

    /// The key at the bottom of the stack; what was there last if the stack is empty.
    #[inline(always)]
    fn greatest_key(&self) -> u64 {
        debug_assert!(self.floor + 1 < self.today.len());
        // SAFETY: `floor` is at most `HIGHEST + AT_ONCE`, and `today` has `ROOM` places or more.
        unsafe { *self.today.get_unchecked(self.floor + 1) }
    }

    /// Moves the stack up to the highest floor, so that there is room below it.
    #[inline(never)]
    fn raise(&mut self) {
        let by = HIGHEST - self.floor;
        self.today
            .copy_within(self.floor + 1..=self.top, HIGHEST + 1);
        self.today[self.floor + 1..=HIGHEST].fill(VOID);
        self.top += by;
        self.floor = HIGHEST;
    }

    /// As `place_elsewhere`, once what `settle` has put in order of birth is back in the order of keys,
    /// which `insert` relies on.
    #[inline(never)]
    fn place_among_settled(&mut self, id: u32, time: u64, birth: u64) {
        self.today[self.settled..=self.top].sort_unstable_by(|a, b| b.cmp(a));
        self.settled = UNSETTLED;
        self.place_elsewhere(id, time, birth);
    }

    /// Puts a key in its place on a stack of less than `SHALLOW`, which is in the order of keys.
    #[inline(always)]
    fn insert(&mut self, key: u64) {
        debug_assert!(self.top < self.floor + SHALLOW);
        debug_assert!(self.top <= self.settled);
        self.settled = UNSETTLED;
        self.top += 1;
        // SAFETY: the new top is at most `floor + SHALLOW`, which is below `ROOM`, and at least
        // `LOWEST + 1`, which is `AT_ONCE + 1`: that many places are below it.
        let below = unsafe {
            let mut place = self.today.as_mut_ptr().add(self.top);
            let mut lesser = 0;
            for _ in 0..AT_ONCE {
                let below = place.sub(1).read();
                place.write(lesser.max(below.min(key)));
                lesser = below;
                place = place.sub(1);
            }
            place.write(lesser.max(key));
            place.sub(1).read()
        };
        if below < key {
            self.sink(self.top - AT_ONCE, key);
        }
    }

    /// Moves a key down the stack from its place to where it belongs.
    #[inline(never)]
    fn sink(&mut self, mut place: usize, key: u64) {
        while self.today[place - 1] < key {
            self.today[place] = self.today[place - 1];
            place -= 1;
        }
        self.today[place] = key;
    }

    #[inline(never)]
    fn place_far(&mut self, id: u32, time: u64, birth: u64) {
        let own = &mut self.pending[index(id)];
        own.time = time;
        own.birth = birth;
        own.prev = FAR;
        self.far.set(id, time, birth);
        self.set_guard();
    }

    /// Moves a pending event. A timer that stays beyond the buckets moves within the heap.
    #[inline(never)]
    fn replace(&mut self, id: u32, time: u64, birth: u64) {
        let old = self.pending[index(id)];
        if (old.time, old.birth) == (time, birth) {
            return;
        }
        let ahead = (time >> self.shift).wrapping_sub(self.day);
        if old.prev == FAR && ahead > self.mask {
            self.place_far(id, time, birth);
        } else {
            self.remove(id);
            self.place(id, time, birth);
        }
    }

    /// Takes a component's event out of where it is; the record is left as it was.
    #[inline(never)]
    fn remove(&mut self, id: u32) {
        let Pending {
            time, next, prev, ..
        } = self.pending[index(id)];
        let day = time >> self.shift;
        if prev == FAR {
            self.far.cancel(id);
            self.set_guard();
        } else if day == self.day {
            let key = self.key(time, id);
            let place = self
                .today
                .iter()
                .take(self.top + 1)
                .rposition(|&other| other == key);
            let place = place.expect("an event of today is on the stack");
            self.today.copy_within(place + 1..=self.top, place);
            self.top -= 1;
            self.settled -= usize::from(place < self.settled);
        } else {
            if prev == HEAD {
                let end = self.end;
                let Heads(heads) = self.heads_mut(day);
                heads[usize::from(heads[0] != id)] = next;
                if *heads == [end; 2] {
                    self.mark(day, 0);
                }
            } else {
                self.pending[index(prev)].next = next;
            }
            self.pending[index(next)].prev = prev;
        }
    }

    /// Puts the events on top of the stack that have equal times in the order of birth and id.
    #[inline(never)]
    fn settle(&mut self) {
        if self.top > self.settled {
            return;
        }
        let (key, second) = (self.top_key(), self.second_key());
        if !self.same_time(key, self.today[self.top - 2]) {
            let place = self.top;
            if self.event(second) < self.event(key) {
                self.today.swap(place - 1, place);
            }
            self.settled = place - 1;
            return;
        }
        let stack = &self.today[..=self.top];
        let equal = stack
            .iter()
            .rev()
            .take_while(|&&other| other != VOID && self.same_time(key, other));
        let first = self.top + 1 - equal.count();
        let (mask, pending) = (self.id_mask, &self.pending);
        let id = |key: u64| low32(key & mask);
        self.today[first..=self.top].sort_unstable_by_key(|&key| {
            std::cmp::Reverse((pending[index(id(key))].birth, id(key)))
        });
        self.settled = first;
    }

    fn set_guard(&mut self) {
        let first = self.far.first_time();
        self.far_day = first.map_or(NO_DAY, |first| first >> self.shift);
        self.guard = match (first, self.far_day.cmp(&self.day)) {
            (Some(first), Ordering::Equal) => self.key(first, 0),
            (Some(_), Ordering::Less) => 0,
            _ => VOID,
        };
    }

    /// Removes and returns the heap's least event.
    #[inline(never)]
    fn pop_far(&mut self, limit: Option<u64>) -> Option<Event> {
        let event = self.far.first()?;
        if limit.is_some_and(|limit| event.time >= limit) {
            return None;
        }
        self.far.pop();
        self.set_guard();
        self.pending[index(event.id)].prev = IDLE;
        self.now = event.time;
        self.left += 1;
        if self.left >= self.next_look {
            self.retune();
        }
        Some(event)
    }

    /// Begins the day of the least event; the stack is empty. If the heap has an event before every
    /// bucket's, that day's stack stays empty.
    #[inline(always)]
    fn advance(&mut self) {
        if self.left >= self.next_look {
            self.retune();
        }
        if self.len() > self.far.len() {
            let day = self.next_day();
            if self.far_day >= day {
                return self.begin(day);
            }
        }
        self.skip();
    }

    /// Begins the day of the first event in the heap, if there is one.
    #[inline(never)]
    fn skip(&mut self) {
        // A look ahead (`peek`, `pop_before`) may have begun a later day than that of an event scheduled since. The day
        // does not go back then: the buckets hold the days that follow it.
        if self.far.len() > 0
            && (self.len() == self.far.len() || self.far_day.wrapping_sub(self.day) <= self.mask)
        {
            self.day = self.far_day;
        }
        self.set_guard();
    }

    /// The first day after this one whose bucket is not empty; there is one.
    #[inline(always)]
    fn next_day(&self) -> u64 {
        let tomorrow = self.day.wrapping_add(1);
        let mut day = tomorrow & !7;
        let mut marks = self.marks(day) & (!0 << (8 * (tomorrow & 7)));
        while marks == 0 {
            day += 8;
            marks = self.marks(day);
        }
        day + u64::from(marks.trailing_zeros() / 8)
    }

    /// Sorts a day's bucket onto the empty stack. Up to eight events are sorted by a network, which
    /// has no branch to mispredict; a shorter chain is padded by the record that ends it.
    #[inline(always)]
    fn begin(&mut self, day: u64) {
        self.day = day;
        let end = self.end;
        let Heads(heads) = std::mem::replace(self.heads_mut(day), Heads([end; 2]));
        self.mark(day, 0);
        let mut ids = heads;
        let mut keys = [VOID; AT_ONCE];
        for pair in keys.chunks_exact_mut(2) {
            for (key, id) in pair.iter_mut().zip(&mut ids) {
                // SAFETY: a head, and what follows in a chain, is at most `end`.
                let own = unsafe { self.own(*id) };
                *key = own.key;
                *id = own.next;
            }
        }
        self.settled = UNSETTLED;
        sort_8(&mut keys);
        self.lay(keys);
        if ids != [end; 2] {
            self.add_rest(ids);
        }
        if self.far_day == day {
            self.set_guard();
        } else {
            self.guard = VOID;
        }
    }

    /// Adds the rest of a day's chains to the stack: a few one by one, of more the others all at once.
    #[inline(never)]
    fn add_rest(&mut self, ids: [u32; 2]) {
        const { assert!(2 * AT_ONCE <= SHALLOW) };
        let mut rest = 0;
        for mut id in ids {
            while id != self.end {
                let own = self.pending[index(id)];
                if rest < AT_ONCE {
                    self.insert(own.key);
                } else {
                    self.today.truncate(self.top + 1);
                    self.today.push(own.key);
                    self.top += 1;
                }
                rest += 1;
                id = own.next;
            }
        }
        if rest > AT_ONCE {
            let first = self.floor + 1;
            self.today[first..].sort_unstable_by(|a, b| b.cmp(a));
            self.today.resize(ROOM.max(self.today.len()), VOID);
        }
    }

    /// Makes a stack of sorted keys, some of which may be `VOID`.
    #[inline(always)]
    fn lay(&mut self, keys: [u64; AT_ONCE]) {
        debug_assert!(self.today.len() >= ROOM);
        const { assert!(HIGHEST + 1 + AT_ONCE <= ROOM) };
        // What is above a lower floor is free: the stack is empty.
        self.floor = self.floor.min(HIGHEST);
        // SAFETY: `floor` is at most `HIGHEST`, and `today` has `ROOM` places or more.
        unsafe {
            let stack = self.today.as_mut_ptr().add(self.floor + 1);
            stack.cast::<[u64; AT_ONCE]>().write(keys);
        }
        self.top = self.floor + AT_ONCE;
        // What a short chain was padded with is part of the floor.
        self.floor += keys
            .iter()
            .map(|&key| usize::from(key == VOID))
            .sum::<usize>();
    }

    /// Chooses the day's length from the events and the time since the last look, and the number of
    /// buckets from the events pending.
    #[cold]
    #[inline(never)]
    fn retune(&mut self) {
        let events = self.left - self.last_left;
        let elapsed = self.now.saturating_sub(self.last_now);
        let limit = MAX_INTERVAL.max(2 * wide(self.pending.len()));
        self.interval = (2 * self.interval).min(limit);
        self.last_left = self.left;
        self.last_now = self.now;
        self.next_look = self.left + self.interval;
        let len = self.len();
        let buckets = len.next_power_of_two().clamp(MIN_BUCKETS, MAX_BUCKETS);
        let occupancy = if len <= FEW {
            OCCUPANCY_OF_FEW
        } else {
            OCCUPANCY
        };
        let wanted = (elapsed / events).saturating_mul(occupancy)
            + (elapsed % events).saturating_mul(occupancy) / events;
        let width = 1 << self.shift;
        let ill_sized = buckets > self.heads.len() || buckets < self.heads.len() / 4;
        let ill_timed = elapsed > 0 && (wanted > 2 * width || wanted < width / 2);
        if ill_sized || ill_timed {
            // The nearest power of two: up from one and a half.
            let nearest = wanted.saturating_add(wanted / 3).max(1).ilog2();
            let shift = if elapsed > 0 { nearest } else { self.shift };
            self.rebuild(shift.clamp(MIN_SHIFT, 63 - self.id_bits), buckets);
        }
    }

    fn rebuild(&mut self, shift: u32, buckets: usize) {
        let end = self.end;
        self.shift = shift;
        self.day = day_before(self.now >> shift);
        self.mask = wide(buckets) - 1;
        self.heads.clear();
        self.heads.resize(buckets, Heads([end; 2]));
        self.occupied.clear();
        self.occupied.resize(buckets / 8, [0; 8]);
        self.today.fill(VOID);
        (self.top, self.floor) = (HIGHEST, HIGHEST);
        self.settled = UNSETTLED;
        self.far.clear();
        for id in 0..end {
            let own = self.pending[index(id)];
            if own.prev != IDLE {
                self.place(id, own.time, own.birth);
            }
        }
        self.set_guard();
    }
}

/// Kept out of `set`, which would otherwise make room for the message's parts.
#[cold]
#[inline(never)]
fn no_such_component(id: u32, end: u32) -> ! {
    panic!("component {id} of {end}");
}

/// The day before; before the first, `u64::MAX`, which wraps round to it.
fn day_before(day: u64) -> u64 {
    day.wrapping_sub(1)
}

/// Exchanges by a sorting network, greatest first.
macro_rules! network {
    ($keys:ident: $($i:literal $j:literal),+) => {
        $(($keys[$i], $keys[$j]) = ($keys[$i].max($keys[$j]), $keys[$i].min($keys[$j]));)+
    };
}

/// 19 comparisons in 6 layers.
#[inline(always)]
fn sort_8(keys: &mut [u64; 8]) {
    network!(keys: 0 2, 1 3, 4 6, 5 7);
    network!(keys: 0 4, 1 5, 2 6, 3 7);
    network!(keys: 0 1, 2 3, 4 5, 6 7);
    network!(keys: 2 4, 3 5);
    network!(keys: 1 4, 3 6);
    network!(keys: 1 2, 3 4, 5 6);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fel::{Hold, Increments, SafeList, UNIT};

    /// A network that sorts every sequence of zeros and ones sorts everything (Knuth, 5.3.4).
    #[test]
    fn the_network_sorts_zeros_and_ones() {
        let greatest_first = |keys: &[u64]| keys.is_sorted_by(|a, b| a >= b);
        for pattern in 0..1_u64 << 8 {
            let mut keys: [u64; 8] = std::array::from_fn(|i| pattern >> i & 1);
            sort_8(&mut keys);
            assert!(greatest_first(&keys), "{pattern:b}: {keys:?}");
        }
    }

    fn on_stack(list: &CalendarList) -> usize {
        let stack = &list.today[..=list.top];
        stack.iter().filter(|&&key| key != VOID).count()
    }

    /// The day's length in mean event spacings, at `n` pending events whose increments have mean 1.
    fn day_after_holds(list: &mut CalendarList, n: u32) -> f64 {
        let mut hold = Hold::new(n, Increments::NearConstant, 1);
        hold.fill(list);
        hold.run(list, 100_000);
        (1_u64 << list.shift) as f64 / (UNIT as f64 / f64::from(n))
    }

    #[test]
    fn a_day_holds_about_six_events_at_any_load() {
        for n in [30, 1_000, 20_000] {
            let mut list = CalendarList::with_components(index(n));
            let day = day_after_holds(&mut list, n);
            assert!(
                (2.0..=12.0).contains(&day),
                "{day} spacings with {n} events"
            );
        }
    }

    #[test]
    fn a_day_holds_all_of_a_few_events() {
        let mut list = CalendarList::with_components(10);
        assert!(day_after_holds(&mut list, 10) > 100.0);
        assert_eq!(on_stack(&list), list.len());
    }

    /// Sources in turn: what is scheduled comes after all others, except for a stranger now and then.
    #[test]
    fn events_that_come_last_leave_in_order_however_far_the_floor_sinks() {
        for n in [2, 9, 10, 15] {
            let mut list = CalendarList::with_components(index(n + 1));
            let mut reference = SafeList::with_components(index(n + 1));
            for id in 0..n {
                list.set(id, u64::from(id) * 1_000, 0);
                reference.set(id, u64::from(id) * 1_000, 0);
            }
            let mut floors = Vec::new();
            for step in 0..10_000_u64 {
                let event = list.pop().expect("an event is pending");
                assert_eq!(reference.pop(), Some(event), "{n} sources, step {step}");
                let mut set = |id, after| {
                    list.set(id, event.time + after, event.time);
                    reference.set(id, event.time + after, event.time);
                };
                if event.id < n {
                    set(event.id, 1_000 * u64::from(n));
                }
                if event.id == n || step % 37 == 0 {
                    set(n, 500 * (step % 5));
                }
                floors.push(list.floor);
            }
            let sunk = floors.iter().min().expect("floors");
            assert_eq!(*sunk, LOWEST, "{n} sources");
            assert!(floors.contains(&HIGHEST), "{n} sources");
        }
    }

    #[test]
    fn a_day_follows_a_load_that_falls() {
        let (many, few) = (5_000, 50);
        let mut list = CalendarList::with_components(index(many));
        day_after_holds(&mut list, many);
        let buckets = list.heads.len();
        while list.len() > index(few) {
            list.pop();
        }
        let mut hold = Hold::new(many, Increments::Exponential, 1);
        hold.run(&mut list, 100_000);
        let day = (1_u64 << list.shift) as f64 / (UNIT as f64 / f64::from(few));
        assert!((2.0..=12.0).contains(&day), "{day} spacings");
        assert!(list.heads.len() < buckets);
    }

    /// Chains of every length, and made unequal by what is cancelled while they wait.
    #[test]
    fn a_crowded_day_is_taken_in_order_whatever_was_cancelled() {
        for n in 1..80 {
            for step in 1..6 {
                let mut list = CalendarList::with_components(index(n));
                let mut reference = SafeList::with_components(index(n));
                // Days are 8192 ps long before any are measured.
                for id in 0..n {
                    let time = 16_384 + u64::from(id) * 5_003 % 8_192;
                    list.set(id, time, 0);
                    reference.set(id, time, 0);
                }
                for id in (0..n).filter(|id| id % (step + 1) == 0 || id / 4 % step == 1) {
                    list.cancel(id);
                    reference.cancel(id);
                }
                while let Some(event) = reference.pop() {
                    assert_eq!(list.pop(), Some(event), "{n} events, step {step}");
                }
                assert_eq!(list.pop(), None);
            }
        }
    }

    #[test]
    fn a_burst_at_one_instant_is_sorted_once_and_refilled_through_the_heap() {
        let n = 10_000;
        let mut list = CalendarList::with_components(index(n));
        for id in 0..n {
            list.set(id, 1_000, 0);
        }
        let first = list.pop();
        assert_eq!(
            first,
            Some(Event {
                time: 1_000,
                birth: 0,
                id: 0
            })
        );
        assert_eq!(on_stack(&list), index(n) - 1);
        list.set(0, 1_000, 1_000);
        assert_eq!(list.far.len(), 1);
        for id in 1..n {
            assert_eq!(list.pop().map(|event| event.id), Some(id));
        }
        assert_eq!(
            list.pop(),
            Some(Event {
                time: 1_000,
                birth: 1_000,
                id: 0
            })
        );
        assert!(list.is_empty());
    }

    #[test]
    #[should_panic(expected = "component 5 of 5")]
    fn an_unknown_component_is_refused() {
        CalendarList::with_components(5).set(5, 0, 0);
    }
}
