//! The future event list: which component acts next, and when.
//!
//! Components have dense ids, and each has at most one pending event. Events leave the list in the
//! order of (time, birth, id): the id is the rank, and the birth, the instant at which the event was
//! scheduled, is read only when times are equal. This is a total order, so every list here gives the
//! same sequence for the same operations, whatever its structure or tuning. Times are picoseconds.
//!
//! [`AutoList`] is what the engine uses. [`SafeList`] is the reference that the others are compared
//! with, [`HeapList`] a heap with positions, [`CalendarList`] an intrusive calendar; [`hold()`]
//! measures them.

mod calendar;
mod heap;
mod hold;
mod safe;

pub use calendar::CalendarList;
pub use heap::HeapList;
pub use hold::{Hold, Increments, UNIT, hold};
pub use safe::SafeList;

/// The event list of the engine.
///
/// It is the calendar for any number of components: with few events pending the calendar is a
/// sorted array, which is as fast as the heap at three events and faster from ten on (the table is
/// printed by the example `hold`), so there is nothing to choose at run time.
pub type AutoList = CalendarList;

/// A pending event. The order of the fields is the order of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Event {
    /// When it fires, in picoseconds.
    pub time: u64,
    /// When it was scheduled, in picoseconds: the first tie rule.
    pub birth: u64,
    /// The component that acts: the second tie rule.
    pub id: u32,
}

/// A list of the pending events of `n` components with ids `0..n`.
///
/// Methods that take an id panic if there is no such component.
pub trait EventList {
    /// An empty list for `n` components.
    fn with_components(n: usize) -> Self;

    /// Schedules the component's event at `time`, in place of the pending one if there is one.
    ///
    /// `time` is not before the time of the last event popped. To look ahead without committing to
    /// an event's time, use [`EventList::pop_before`] or [`EventList::peek`].
    fn set(&mut self, id: u32, time: u64, birth: u64);

    /// Removes the component's event, if there is one.
    fn cancel(&mut self, id: u32);

    /// The time and birth of the component's event, if there is one.
    fn pending(&self, id: u32) -> Option<(u64, u64)>;

    /// Removes and returns the least event.
    fn pop(&mut self) -> Option<Event>;

    /// Removes and returns the least event if it is before `limit`.
    #[inline]
    fn pop_before(&mut self, limit: u64) -> Option<Event> {
        if self.peek()?.time < limit {
            self.pop()
        } else {
            None
        }
    }

    /// The least event. The list may rearrange itself to find it.
    fn peek(&mut self) -> Option<Event>;

    /// True if an event of the component at `time` would come before every one that is pending. A list may also say so of none:
    /// then the event is to be set and popped.
    #[inline]
    fn comes_first(&self, id: u32, time: u64) -> bool {
        let _ = (id, time);
        false
    }

    /// The number of pending events.
    fn len(&self) -> usize;

    /// True if no event is pending.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// An id as an index. No supported machine has an address of less than 32 bits.
#[inline(always)]
const fn index(id: u32) -> usize {
    id as usize
}

/// A number below some length as an index.
#[inline(always)]
const fn index64(n: u64) -> usize {
    n as usize
}

/// The lower 32 bits.
#[inline(always)]
const fn low32(n: u64) -> u32 {
    n as u32
}

/// A length or an index as a number.
#[inline(always)]
const fn wide(n: usize) -> u64 {
    n as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A list beside the reference: every operation is done to both and compared.
    struct Pair<L> {
        list: L,
        reference: SafeList,
        n: u32,
        now: u64,
    }

    impl<L: EventList> Pair<L> {
        fn new(n: u32) -> Self {
            let (list, reference) = (
                L::with_components(index(n)),
                EventList::with_components(index(n)),
            );
            Self {
                list,
                reference,
                n,
                now: 0,
            }
        }

        fn set(&mut self, id: u32, time: u64, birth: u64) {
            self.list.set(id, time, birth);
            self.reference.set(id, time, birth);
        }

        fn cancel(&mut self, id: u32) {
            self.list.cancel(id);
            self.reference.cancel(id);
        }

        fn pop(&mut self) -> Option<Event> {
            let event = self.list.pop();
            assert_eq!(event, self.reference.pop());
            self.now = event.map_or(self.now, |event| event.time);
            event
        }

        fn pop_before(&mut self, limit: u64) {
            let event = self.list.pop_before(limit);
            assert_eq!(event, self.reference.pop_before(limit));
            self.now = event.map_or(self.now, |event| event.time);
        }

        fn peek(&mut self) {
            assert_eq!(self.list.peek(), self.reference.peek());
        }

        /// What would come first for sure, does.
        fn sees_first(&mut self, id: u32, time: u64, birth: u64) -> bool {
            let idle = self.reference.pending(id).is_none();
            let sure = idle && time >= self.now && self.list.comes_first(id, time);
            if sure {
                let first = self.reference.peek();
                let event = Event { time, birth, id };
                assert!(
                    first.is_none_or(|first| event < first),
                    "{event:?} before {first:?}"
                );
            }
            sure
        }

        fn compare(&self) {
            assert_eq!(self.list.len(), self.reference.len());
            assert_eq!(self.list.is_empty(), self.reference.is_empty());
            for id in 0..self.n {
                assert_eq!(
                    self.list.pending(id),
                    self.reference.pending(id),
                    "component {id}"
                );
            }
        }

        fn drain(&mut self) {
            self.compare();
            while self.pop().is_some() {}
            self.compare();
        }
    }

    #[derive(Clone, Debug)]
    enum Operation {
        Set {
            id: u32,
            after: u64,
            birth: u64,
        },
        SetAll {
            first: u32,
            count: u32,
            after: u64,
            birth: u64,
        },
        Cancel {
            id: u32,
        },
        CancelAll {
            first: u32,
            count: u32,
        },
        Pop,
        PopBefore {
            after: u64,
        },
        Hold {
            after: u64,
        },
        HoldMany {
            count: u32,
            after: u64,
        },
        Peek,
        /// Looks ahead to a limit, and then schedules what may be before all that was seen.
        LookAhead {
            limit: u64,
            id: u32,
            after: u64,
            birth: u64,
        },
        Compare,
    }

    /// Waits from nothing to seconds: equal times, one day, many days, beyond every bucket.
    fn after() -> impl Strategy<Value = u64> {
        prop_oneof![
            3 => Just(0_u64),
            4 => 0_u64..4,
            4 => 0_u64..2_000,
            4 => 0_u64..200_000,
            4 => 0_u64..50_000_000,
            1 => 0_u64..1_000_000_000_000,
            1 => Just(200_000_000_000_u64),
        ]
    }

    fn operation(n: u32) -> impl Strategy<Value = Operation> {
        let birth = || 0_u64..3;
        prop_oneof![
            8 => (0..n, after(), birth()).prop_map(|(id, after, birth)| Operation::Set { id, after, birth }),
            1 => (0..n, 0..n, after(), birth())
                .prop_map(|(first, count, after, birth)| Operation::SetAll { first, count, after, birth }),
            2 => (0..n).prop_map(|id| Operation::Cancel { id }),
            1 => (0..n, 0..n).prop_map(|(first, count)| Operation::CancelAll { first, count }),
            6 => Just(Operation::Pop),
            2 => after().prop_map(|after| Operation::PopBefore { after }),
            6 => after().prop_map(|after| Operation::Hold { after }),
            2 => (0_u32..300, after()).prop_map(|(count, after)| Operation::HoldMany { count, after }),
            2 => Just(Operation::Peek),
            4 => (after(), 0..n, prop_oneof![Just(0), 0_u64..4, after()], birth())
                .prop_map(|(limit, id, after, birth)| Operation::LookAhead { limit, id, after, birth }),
            1 => Just(Operation::Compare),
        ]
    }

    fn cases() -> impl Strategy<Value = (u32, Vec<Operation>)> {
        prop_oneof![1_u32..6, 20_u32..60, 200_u32..400]
            .prop_flat_map(|n| (Just(n), proptest::collection::vec(operation(n), 1..120)))
    }

    fn agrees<L: EventList>(n: u32, operations: &[Operation]) {
        let mut pair = Pair::<L>::new(n);
        for operation in operations {
            match *operation {
                Operation::Set { id, after, birth } => {
                    pair.sees_first(id, pair.now + after, birth);
                    pair.set(id, pair.now + after, birth);
                }
                Operation::SetAll {
                    first,
                    count,
                    after,
                    birth,
                } => {
                    for id in (first..first + count).map(|id| id % n) {
                        pair.set(id, pair.now + after, birth + u64::from(id % 3));
                    }
                }
                Operation::Cancel { id } => pair.cancel(id),
                Operation::CancelAll { first, count } => {
                    for id in (first..first + count).map(|id| id % n) {
                        pair.cancel(id);
                    }
                }
                Operation::Pop => {
                    pair.pop();
                }
                Operation::PopBefore { after } => pair.pop_before(pair.now + after),
                Operation::Hold { after } => {
                    if let Some(event) = pair.pop() {
                        pair.sees_first(event.id, event.time + after, event.time);
                        pair.set(event.id, event.time + after, event.time);
                    }
                }
                Operation::HoldMany { count, after } => {
                    for i in 0..u64::from(count) {
                        if let Some(event) = pair.pop() {
                            let spread = i.wrapping_mul(2_654_435_761) % (after + 1);
                            pair.set(event.id, event.time + spread, event.time);
                        }
                    }
                }
                Operation::Peek => pair.peek(),
                Operation::LookAhead {
                    limit,
                    id,
                    after,
                    birth,
                } => {
                    pair.pop_before(pair.now + limit);
                    pair.set(id, pair.now + after, birth);
                    pair.pop_before(pair.now + after);
                }
                Operation::Compare => pair.compare(),
            }
        }
        pair.drain();
    }

    proptest! {
        #[test]
        fn heap_pops_what_the_reference_pops((n, operations) in cases()) {
            agrees::<HeapList>(n, &operations);
        }

        #[test]
        fn calendar_pops_what_the_reference_pops((n, operations) in cases()) {
            agrees::<CalendarList>(n, &operations);
        }
    }

    #[test]
    fn equal_times_leave_by_birth_and_then_by_id() {
        fn check<L: EventList>() {
            let mut list = L::with_components(5);
            for (id, time, birth) in [(0, 7, 3), (1, 7, 2), (2, 7, 3), (3, 6, 9), (4, 7, 2)] {
                list.set(id, time, birth);
            }
            let order: Vec<u32> = std::iter::from_fn(|| list.pop())
                .map(|event| event.id)
                .collect();
            assert_eq!(order, [3, 1, 4, 0, 2]);
        }
        check::<SafeList>();
        check::<HeapList>();
        check::<CalendarList>();
    }

    #[test]
    fn a_look_ahead_does_not_hide_what_is_scheduled_before_it() {
        let mut pair = Pair::<CalendarList>::new(2);
        pair.set(0, 29_736_960, 0);
        pair.pop_before(0);
        pair.set(1, 29_745_152, 0);
        pair.set(0, 0, 0);
        assert_eq!(pair.pop().map(|event| event.id), Some(0));
        pair.set(0, 12_967_937, 0);
        pair.drain();
    }

    #[test]
    fn an_event_that_comes_before_all_others_of_its_day_is_seen_to() {
        let mut pair = Pair::<CalendarList>::new(4);
        for (id, time) in [(0, 5), (1, 9), (2, 12)] {
            pair.set(id, time, 0);
        }
        pair.pop();
        assert!(pair.sees_first(3, 8, 0));
        assert!(!pair.sees_first(3, 9, 0), "birth orders equal times");
        assert!(!pair.sees_first(3, 10, 0));
    }

    #[test]
    fn what_arrives_among_equal_times_that_are_leaving_takes_its_turn() {
        let mut pair = Pair::<CalendarList>::new(8);
        for (id, birth) in [(0, 5), (1, 1), (2, 4), (3, 2), (4, 3)] {
            pair.set(id, 9, birth);
        }
        pair.pop();
        pair.set(5, 9, 3);
        pair.pop();
        pair.cancel(2);
        pair.set(6, 9, 0);
        pair.set(7, 11, 0);
        pair.drain();
    }

    #[test]
    fn every_list_gives_the_same_holds() {
        for increments in Increments::ALL {
            for n in [1, 2, 10, 17, 300, 5000] {
                let components = index(n);
                let run = |seed| {
                    let mut safe = SafeList::with_components(components);
                    let mut heap = HeapList::with_components(components);
                    let mut calendar = CalendarList::with_components(components);
                    let ops = 40_000;
                    let sum = hold(&mut safe, n, increments, ops, seed);
                    assert_eq!(hold(&mut heap, n, increments, ops, seed), sum);
                    assert_eq!(hold(&mut calendar, n, increments, ops, seed), sum);
                    sum
                };
                assert_ne!(run(1), run(2));
            }
        }
    }

    /// Packets every few microseconds, timers at 200 ms that are set while pending, bursts of all
    /// components at one instant, silence, and a load that changes a thousandfold.
    #[test]
    fn calendar_agrees_with_the_reference_while_the_load_changes() {
        let n = 1500;
        let mut pair = Pair::<CalendarList>::new(n);
        let mut state = 1_u64;
        let mut draw = |below: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 20) % below
        };
        for phase in 0..12 {
            let spacing = [1_000, 1_000_000, 30, 50_000_000][phase % 4];
            for id in 0..n {
                let after = if phase % 3 == 0 {
                    5_000
                } else {
                    draw(spacing * 100)
                };
                pair.set(id, pair.now + after, pair.now);
            }
            for _ in 0..20_000 {
                let Some(event) = pair.pop() else { break };
                match draw(20) {
                    0 => pair.set(event.id, event.time + 200_000_000_000, event.time),
                    1 => pair.set(
                        low32(draw(u64::from(n))),
                        event.time + draw(spacing),
                        event.time,
                    ),
                    2 => {
                        pair.cancel(low32(draw(u64::from(n))));
                        pair.set(event.id, event.time, event.time);
                    }
                    3 => {
                        pair.set(event.id, event.time + draw(4), event.time);
                        pair.peek();
                    }
                    _ => pair.set(event.id, event.time + draw(spacing * 50), event.time),
                }
            }
            pair.compare();
        }
        pair.drain();
    }
}
