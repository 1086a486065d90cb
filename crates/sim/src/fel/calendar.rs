//! An intrusive calendar queue: the event list for any number of components.
//!
//! Sources: R. Brown, "Calendar queues: a fast O(1) priority queue implementation for the
//! simulation event set problem", CACM 31(10), 1988, for days, years and the mean spacing of events
//! as the measure of a day; W. T. Tang, R. S. M. Goh and I. L.-J. Thng, "Ladder queue", ACM TOMACS
//! 15(3), 2005, for sorting events only when they are near.
//!
//! Time is cut into *days* of a power of two picoseconds. The days that follow today have a bucket
//! each: a chain of component ids in no order, linked through the components' own records, so that
//! scheduling writes three words and allocates nothing. When a day begins, its chain is sorted into
//! `today`, a stack with the least event on top. Whatever the calendar cannot hold cheaply goes to a
//! heap, and the least event of the list is the smaller of the two tops: events beyond the last
//! bucket (retransmission timers), and events that arrive today when today is crowded already, so
//! that neither a burst at one instant nor a badly chosen day costs more than the heap would.
//!
//! Deviations from Brown: the day's length follows from counting the events that fired in a stretch
//! of simulated time, not from sampling the queue; far events wait in a heap instead of wrapping
//! round the year; with few events pending the days are made so long that today holds them all,
//! which makes the list a sorted array. The order of events never depends on any of this.
//!
//! The paths that every event takes index without bounds checks, which is worth an eighth of the
//! time of a hold. They rest on these facts, which every method keeps whatever it is called with:
//! heads, `Pending::next` and `Pending::prev` (but for its three marks) are at most `end()`, and
//! there are `end() + 1` records; keys other than `VOID` hold ids below `end()`; there are `mask + 1`
//! heads and a word of `occupied` for each 64 of them; `today[0]` is `VOID`, and `top` is a place of
//! `today`.

#![allow(
    unsafe_code,
    reason = "bounds checks cost an eighth of a hold; tested beside SafeList"
)]

use std::cmp::Ordering;

use super::{Event, EventList, HeapList, index, index64, low32, wide};

/// The event list for any number of components; see the module's head.
///
/// It is exact for any sequence of operations. It is fast when most events are scheduled within
/// some thousands of mean event spacings, whatever their distribution, and never much slower than a
/// heap.
#[derive(Clone, Debug)]
pub struct CalendarList {
    /// One record per component, and one more which ends every chain.
    pending: Box<[Pending]>,
    /// Keys of the events of `day`, greatest first, from `floor + 1` to `top`; `VOID` at and below
    /// `floor`, and in place of an event that was cancelled deep in the stack.
    today: Vec<u64>,
    top: usize,
    floor: usize,
    voids: usize,
    /// A key on the stack below this one is before every event in `far`.
    guard: u64,
    /// The day on the stack. Buckets hold the `mask` days that follow it.
    day: u64,
    /// A day is 2^`shift` picoseconds.
    shift: u32,
    /// Bits of an id in a key.
    id_bits: u32,
    /// Buckets, a power of two, less one.
    mask: u64,
    /// The first component of each bucket's chain.
    heads: Vec<u32>,
    /// A bit for each bucket that is not empty.
    occupied: Vec<u64>,
    in_buckets: usize,
    far: HeapList,
    /// The time of the last event popped.
    now: u64,
    /// Events that left the list, counted when they reach the stack.
    events: u64,
    /// `events` and `now` at the last look at the day's length, and `events` at the next.
    last_events: u64,
    last_now: u64,
    next_events: u64,
    interval: u64,
}

/// What the list knows of one component.
#[derive(Clone, Copy, Debug)]
struct Pending {
    time: u64,
    birth: u64,
    /// In a chain, the next component; on a stack of more than `SHALLOW` events, the place.
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
/// Greater than any key: a day's offset and an id take 63 bits at most.
const VOID: u64 = u64::MAX;

/// Events per day: enough to spread the cost of beginning a day, few enough to sort at once.
const OCCUPANCY: u64 = 8;
/// With so few events pending, a day holds them all.
const FEW: usize = 16;
const OCCUPANCY_OF_FEW: u64 = 1024;
/// Today takes new events in their order while it has fewer than this; more go to the heap.
const SHALLOW: usize = 32;
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
            time: 0,
            birth: 0,
            next: end,
            prev: IDLE,
        };
        Self {
            pending: vec![idle; n + 1].into(),
            today: vec![VOID; SHALLOW + 2],
            top: 0,
            floor: 0,
            voids: 0,
            guard: VOID,
            day: day_before(0),
            shift: FIRST_SHIFT,
            id_bits: u32::BITS - end.leading_zeros(),
            mask: wide(MIN_BUCKETS) - 1,
            heads: vec![end; MIN_BUCKETS],
            occupied: vec![0; MIN_BUCKETS / 64],
            in_buckets: 0,
            far: HeapList::with_components(n),
            now: 0,
            events: 0,
            last_events: 0,
            last_now: 0,
            next_events: MIN_INTERVAL,
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
        assert!(id < self.end(), "component {id} of {}", self.end());
        // SAFETY: checked above.
        if unsafe { self.own(id) }.prev == IDLE {
            self.place(id, time, birth);
        } else {
            self.replace(id, time, birth);
        }
    }

    fn cancel(&mut self, id: u32) {
        assert!(id < self.end(), "component {id} of {}", self.end());
        self.remove(id);
        self.pending[index(id)].prev = IDLE;
    }

    #[inline]
    fn pending(&self, id: u32) -> Option<(u64, u64)> {
        assert!(id < self.end(), "component {id} of {}", self.end());
        let own = self.pending[index(id)];
        (own.prev != IDLE).then_some((own.time, own.birth))
    }

    #[inline]
    fn pop(&mut self) -> Option<Event> {
        let key = self.top_key();
        if key < self.guard {
            Some(self.take(key))
        } else {
            self.pop_slow()
        }
    }

    #[inline]
    fn pop_before(&mut self, limit: u64) -> Option<Event> {
        let key = self.top_key();
        if key < self.guard {
            (self.event(key).time < limit).then(|| self.take(key))
        } else if self.peek_slow()?.time < limit {
            self.pop()
        } else {
            None
        }
    }

    #[inline]
    fn peek(&mut self) -> Option<Event> {
        let key = self.top_key();
        if key < self.guard {
            Some(self.event(key))
        } else {
            self.peek_slow()
        }
    }

    fn len(&self) -> usize {
        self.in_buckets + self.top - self.floor - self.voids + self.far.len()
    }
}

impl CalendarList {
    /// The id of the record that ends every chain; also the number of components.
    #[inline(always)]
    fn end(&self) -> u32 {
        low32(wide(self.pending.len()) - 1)
    }

    /// The record of a component, or the one that ends every chain.
    ///
    /// # Safety
    ///
    /// `id` is at most `end()`.
    #[inline(always)]
    unsafe fn own(&self, id: u32) -> &Pending {
        debug_assert!(id <= self.end());
        // SAFETY: there are `end() + 1` records.
        unsafe { self.pending.get_unchecked(index(id)) }
    }

    /// As `own`.
    ///
    /// # Safety
    ///
    /// `id` is at most `end()`.
    #[inline(always)]
    unsafe fn own_mut(&mut self, id: u32) -> &mut Pending {
        debug_assert!(id <= self.end());
        // SAFETY: there are `end() + 1` records.
        unsafe { self.pending.get_unchecked_mut(index(id)) }
    }

    /// The first component of the bucket that holds a day.
    #[inline(always)]
    fn head_mut(&mut self, day: u64) -> &mut u32 {
        debug_assert_eq!(wide(self.heads.len()), self.mask + 1);
        // SAFETY: there are `mask + 1` heads.
        unsafe { self.heads.get_unchecked_mut(index64(day & self.mask)) }
    }

    /// The word of `occupied` that a day's bucket has a bit in.
    #[inline(always)]
    fn word(&self, day: u64) -> u64 {
        debug_assert_eq!(wide(self.occupied.len()) << 6, self.mask + 1);
        // SAFETY: there is a word for each 64 of the `mask + 1` buckets.
        unsafe { *self.occupied.get_unchecked(index64((day & self.mask) >> 6)) }
    }

    /// As `word`.
    #[inline(always)]
    fn word_mut(&mut self, day: u64) -> &mut u64 {
        debug_assert_eq!(wide(self.occupied.len()) << 6, self.mask + 1);
        // SAFETY: there is a word for each 64 of the `mask + 1` buckets.
        unsafe {
            self.occupied
                .get_unchecked_mut(index64((day & self.mask) >> 6))
        }
    }

    /// The key on top of the stack, `VOID` if the stack is empty.
    #[inline(always)]
    fn top_key(&self) -> u64 {
        debug_assert!(self.top < self.today.len());
        // SAFETY: `top` is a place of `today`.
        unsafe { *self.today.get_unchecked(self.top) }
    }

    /// An event of today as a word: its time within the day, then its component. Births are not in
    /// it, so equal times are put in order by `settle`.
    #[inline(always)]
    fn key(&self, time: u64, id: u32) -> u64 {
        (time & ((1 << self.shift) - 1)) << self.id_bits | u64::from(id)
    }

    #[inline(always)]
    fn id(&self, key: u64) -> u32 {
        low32(key & ((1 << self.id_bits) - 1))
    }

    #[inline(always)]
    fn same_time(&self, a: u64, b: u64) -> bool {
        (a ^ b) >> self.id_bits == 0
    }

    /// The event whose key the caller has read from the stack, and which is not `VOID`.
    #[inline(always)]
    fn event(&self, key: u64) -> Event {
        debug_assert_ne!(key, VOID);
        let id = self.id(key);
        // SAFETY: keys other than `VOID` hold ids below `end()`.
        let own = unsafe { self.own(id) };
        Event {
            time: own.time,
            birth: own.birth,
            id,
        }
    }

    /// Takes the event on top of the stack, whose key the caller has read; it is not `VOID`.
    #[inline(always)]
    fn take(&mut self, key: u64) -> Event {
        let event = self.event(key);
        // SAFETY: keys other than `VOID` hold ids below `end()`.
        unsafe { self.own_mut(event.id) }.prev = IDLE;
        // As the key is not `VOID`, `top` is not 0.
        self.top -= 1;
        self.now = event.time;
        event
    }

    /// Puts an idle component's event where it belongs. The component's id is below `end()`.
    #[inline(always)]
    fn place(&mut self, id: u32, time: u64, birth: u64) {
        let day = time >> self.shift;
        let ahead = day.wrapping_sub(self.day);
        if ahead.wrapping_sub(1) < self.mask {
            let head = std::mem::replace(self.head_mut(day), id);
            *self.word_mut(day) |= 1 << (day & 63);
            // SAFETY: a head is at most `end()`.
            unsafe { self.own_mut(head) }.prev = id;
            // SAFETY: the caller's id is below `end()`.
            *unsafe { self.own_mut(id) } = Pending {
                time,
                birth,
                next: head,
                prev: HEAD,
            };
            self.in_buckets += 1;
        } else if ahead == 0 {
            self.place_today(id, time, birth);
        } else {
            self.place_far(id, time, birth);
        }
    }

    #[inline(never)]
    fn place_today(&mut self, id: u32, time: u64, birth: u64) {
        if self.voids > 0 || self.top - self.floor >= SHALLOW {
            return self.place_far(id, time, birth);
        }
        self.events += 1;
        self.pending[index(id)] = Pending {
            time,
            birth,
            next: 0,
            prev: HEAD,
        };
        self.top += 1;
        if self.top == self.today.len() {
            self.today.push(VOID);
        }
        let key = self.key(time, id);
        let mut at = self.top;
        while self.today[at - 1] < key {
            self.today[at] = self.today[at - 1];
            at -= 1;
        }
        self.today[at] = key;
        let below = self.same_time(key, self.today[at - 1]);
        if below || at < self.top && self.same_time(key, self.today[at + 1]) {
            self.settle();
        }
    }

    #[inline(never)]
    fn place_far(&mut self, id: u32, time: u64, birth: u64) {
        self.pending[index(id)] = Pending {
            time,
            birth,
            next: 0,
            prev: FAR,
        };
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

    /// Takes a component's event, if it has one, out of where it is; the record is left as it was.
    #[inline(never)]
    fn remove(&mut self, id: u32) {
        let Pending {
            time, next, prev, ..
        } = self.pending[index(id)];
        if prev == IDLE {
            return;
        }
        if prev == FAR {
            self.far.cancel(id);
            self.set_guard();
            return;
        }
        if time >> self.shift == self.day {
            self.remove_today(id, index(next));
            return;
        }
        if prev == HEAD {
            let day = time >> self.shift;
            *self.head_mut(day) = next;
            if next == self.end() {
                *self.word_mut(day) &= !(1 << (day & 63));
            }
        } else {
            self.pending[index(prev)].next = next;
        }
        self.pending[index(next)].prev = prev;
        self.in_buckets -= 1;
    }

    /// Takes an event off the stack. In a stack of more than `SHALLOW` events nothing was moved
    /// since the day began (`place_today` stays out), so the recorded place holds.
    fn remove_today(&mut self, id: u32, place: usize) {
        let key = self.key(self.pending[index(id)].time, id);
        if self.top - self.floor > SHALLOW {
            debug_assert_eq!(self.today[place], key);
            self.today[place] = VOID;
            self.voids += 1;
            self.trim();
        } else {
            let stack = &self.today[self.floor + 1..=self.top];
            let place = stack.iter().rposition(|&other| other == key);
            let place = self.floor + 1 + place.expect("an event of today is on the stack");
            self.today.copy_within(place + 1..=self.top, place);
            self.top -= 1;
        }
    }

    /// Drops cancelled events from the top of the stack.
    fn trim(&mut self) {
        while self.top > self.floor && self.today[self.top] == VOID {
            self.top -= 1;
            self.voids -= 1;
        }
    }

    /// Puts events of equal times on the stack in the order of birth and id.
    #[cold]
    #[inline(never)]
    fn settle(&mut self) {
        let (bits, pending) = (self.id_bits, &self.pending);
        let id = |key: u64| low32(key & ((1 << bits) - 1));
        let stack = &mut self.today[self.floor + 1..=self.top];
        for equal in stack.chunk_by_mut(|a, b| (a ^ b) >> bits == 0) {
            equal.sort_unstable_by_key(|&key| {
                std::cmp::Reverse((pending[index(id(key))].birth, id(key)))
            });
        }
    }

    fn set_guard(&mut self) {
        let day = self
            .far
            .first_time()
            .map(|first| (first >> self.shift).cmp(&self.day));
        self.guard = match (self.far.first_time(), day) {
            (Some(first), Some(Ordering::Equal)) => self.key(first, 0),
            (_, Some(Ordering::Less)) => 0,
            _ => VOID,
        };
    }

    #[inline(never)]
    fn pop_slow(&mut self) -> Option<Event> {
        self.trim();
        if self.top == self.floor {
            self.advance();
        }
        let key = self.top_key();
        if key < self.guard {
            return Some(self.take(key));
        }
        let first = self.far.first()?;
        if self.top > self.floor && self.event(key) < first {
            return Some(self.take(key));
        }
        self.far.pop();
        self.set_guard();
        self.pending[index(first.id)].prev = IDLE;
        self.now = first.time;
        self.events += 1;
        if self.events >= self.next_events {
            self.retune();
        }
        Some(first)
    }

    #[inline(never)]
    fn peek_slow(&mut self) -> Option<Event> {
        self.trim();
        if self.top == self.floor {
            self.advance();
        }
        let far = self.far.first();
        if self.top == self.floor {
            return far;
        }
        let near = self.event(self.top_key());
        Some(far.map_or(near, |far| near.min(far)))
    }

    /// Begins the day of the least event; the stack is empty. If the heap has an event before every
    /// bucket's, that day's stack stays empty.
    #[inline(never)]
    fn advance(&mut self) {
        if self.events >= self.next_events {
            self.retune();
        }
        let far = self.far.first_time().map(|first| first >> self.shift);
        if self.in_buckets > 0 {
            let day = self.next_day();
            if far.is_none_or(|far| far >= day) {
                return self.begin(day);
            }
        }
        // A look ahead (`peek`, `pop_before`) may have begun a later day than that of an event scheduled since. The day
        // does not go back then: the buckets hold the days that follow it.
        if let Some(far) = far
            && (self.in_buckets == 0 || far.wrapping_sub(self.day) <= self.mask)
        {
            self.day = far;
        }
        self.set_guard();
    }

    /// The first day after this one whose bucket is not empty; there is one.
    #[inline(always)]
    fn next_day(&self) -> u64 {
        let tomorrow = self.day.wrapping_add(1);
        let mut day = tomorrow & !63;
        let mut bits = self.word(day) & (!0 << (tomorrow & 63));
        while bits == 0 {
            day += 64;
            bits = self.word(day);
        }
        day + u64::from(bits.trailing_zeros())
    }

    /// Sorts a day's bucket onto the empty stack. Up to sixteen events are sorted by a network,
    /// which has no branch to mispredict.
    #[inline(always)]
    fn begin(&mut self, day: u64) {
        self.day = day;
        let end = self.end();
        let mut id = std::mem::replace(self.head_mut(day), end);
        *self.word_mut(day) &= !(1 << (day & 63));
        let mut keys = [VOID; 16];
        let mut n = 0;
        while id != end && n < 16 {
            // SAFETY: a head, and what follows in a chain, is at most `end()`.
            let own = unsafe { self.own(id) };
            keys[n] = self.key(own.time, id);
            id = own.next;
            n += 1;
        }
        let equal = if n <= 8 {
            let mut keys: [u64; 8] = std::array::from_fn(|i| keys[i]);
            sort_8(&mut keys);
            self.lay(keys, n)
        } else if id == end {
            sort_16(&mut keys);
            self.lay(keys, n)
        } else {
            self.today.truncate(1);
            self.today.extend_from_slice(&keys);
            while id != end {
                let own = &self.pending[index(id)];
                let key = self.key(own.time, id);
                self.today.push(key);
                id = own.next;
                n += 1;
            }
            self.today[1..].sort_unstable_by(|a, b| b.cmp(a));
            self.floor = 0;
            self.top = n;
            self.today
                .windows(2)
                .any(|pair| self.same_time(pair[0], pair[1]))
        };
        if equal {
            self.settle();
        }
        if n > SHALLOW {
            for place in 1..=n {
                let id = self.id(self.today[place]);
                self.pending[index(id)].next = low32(wide(place));
            }
        }
        self.in_buckets -= n;
        self.events += wide(n);
        self.set_guard();
    }

    /// Makes a stack of sorted keys, of which `n` at the end are events; true if two of these have
    /// equal times.
    #[inline(always)]
    fn lay<const N: usize>(&mut self, keys: [u64; N], n: usize) -> bool {
        self.today[1..=N].copy_from_slice(&keys);
        self.top = N;
        self.floor = N - n;
        let mut equal = 0;
        for i in 1..N {
            equal += usize::from(self.same_time(keys[i - 1], keys[i]));
        }
        // Voids are equal to each other.
        equal > (N - n).saturating_sub(1)
    }

    /// Chooses the day's length from the events and the time since the last look, and the number of
    /// buckets from the events pending.
    #[cold]
    #[inline(never)]
    fn retune(&mut self) {
        let events = self.events - self.last_events;
        let elapsed = self.now.saturating_sub(self.last_now);
        let limit = MAX_INTERVAL.max(2 * wide(self.pending.len()));
        self.interval = (2 * self.interval).min(limit);
        self.last_events = self.events;
        self.last_now = self.now;
        self.next_events = self.events + self.interval;
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
        let end = self.end();
        self.shift = shift;
        self.day = day_before(self.now >> shift);
        self.mask = wide(buckets) - 1;
        self.heads.clear();
        self.heads.resize(buckets, end);
        self.occupied.clear();
        self.occupied.resize(buckets / 64, 0);
        self.in_buckets = 0;
        self.top = 0;
        self.floor = 0;
        self.voids = 0;
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

/// 60 comparisons in 10 layers.
#[inline(always)]
fn sort_16(keys: &mut [u64; 16]) {
    network!(keys: 0 13, 1 12, 2 15, 3 14, 4 8, 5 6, 7 11, 9 10);
    network!(keys: 0 5, 1 7, 2 9, 3 4, 6 13, 8 14, 10 15, 11 12);
    network!(keys: 0 1, 2 3, 4 5, 6 8, 7 9, 10 11, 12 13, 14 15);
    network!(keys: 0 2, 1 3, 4 10, 5 11, 6 7, 8 9, 12 14, 13 15);
    network!(keys: 1 2, 3 12, 4 6, 5 7, 8 10, 9 11, 13 14);
    network!(keys: 1 4, 2 6, 5 8, 7 10, 9 13, 11 14);
    network!(keys: 2 4, 3 6, 9 12, 11 13);
    network!(keys: 3 5, 6 8, 7 9, 10 12);
    network!(keys: 3 4, 5 6, 7 8, 9 10, 11 12);
    network!(keys: 6 7, 8 9);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fel::{Hold, Increments, UNIT};

    /// A network that sorts every sequence of zeros and ones sorts everything (Knuth, 5.3.4).
    #[test]
    fn networks_sort_zeros_and_ones() {
        let greatest_first = |keys: &[u64]| keys.is_sorted_by(|a, b| a >= b);
        for pattern in 0..1_u64 << 16 {
            let mut keys: [u64; 16] = std::array::from_fn(|i| pattern >> i & 1);
            let mut half: [u64; 8] = std::array::from_fn(|i| pattern >> i & 1);
            sort_16(&mut keys);
            sort_8(&mut half);
            assert!(greatest_first(&keys), "{pattern:b}: {keys:?}");
            assert!(greatest_first(&half), "{pattern:b}: {half:?}");
        }
    }

    /// The day's length in mean event spacings, at `n` pending events whose increments have mean 1.
    fn day_after_holds(list: &mut CalendarList, n: u32) -> f64 {
        let mut hold = Hold::new(n, Increments::NearConstant, 1);
        hold.fill(list);
        hold.run(list, 100_000);
        (1_u64 << list.shift) as f64 / (UNIT as f64 / f64::from(n))
    }

    #[test]
    fn a_day_holds_about_eight_events_at_any_load() {
        for n in [30, 1_000, 20_000] {
            let mut list = CalendarList::with_components(index(n));
            let day = day_after_holds(&mut list, n);
            assert!(
                (3.0..=20.0).contains(&day),
                "{day} spacings with {n} events"
            );
        }
    }

    #[test]
    fn a_day_holds_all_of_a_few_events() {
        let mut list = CalendarList::with_components(10);
        assert!(day_after_holds(&mut list, 10) > 100.0);
        assert_eq!(list.in_buckets + list.far.len(), 0);
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
        assert!((3.0..=20.0).contains(&day), "{day} spacings");
        assert!(list.heads.len() < buckets);
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
        assert_eq!(list.top - list.floor, index(n) - 1);
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
