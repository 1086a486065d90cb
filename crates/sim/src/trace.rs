//! Per-packet events, statically dispatched: with [`NoTrace`] every hook compiles to nothing.
//!
//! A lazy link executes departures after the fact, with their true times, so events reach the tracer out
//! of order by at most the longest propagation of the network. [`Merged`] holds them back by that lag
//! and hands them on in the order (time, birth, rank, order of occurrence).

use crate::key::Key;
use crate::packet::Label;
use crate::port::{DropReason, MarkReason};
use crate::slab::Side;
use sojourn_units::{Span, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What happened to a packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Event {
    /// Handed to the queue of a link.
    Enqueue,
    /// Its transmission starts.
    Dequeue,
    /// Its last bit has arrived at the far end of a link.
    Receive,
    /// Dropped at a link.
    Drop(DropReason),
    /// Marked with CE at a link.
    Mark(MarkReason),
}

/// One event with everything that trace formats print.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record {
    /// When, and the order among equal times.
    pub key: Key,
    /// What.
    pub event: Event,
    /// The link at which it happened.
    pub link: u32,
    /// The packet.
    pub packet: Label,
    /// Its side data, where it has some; not reported for marks.
    pub side: Option<Side>,
}

/// Receives every event of a run.
pub trait Tracer {
    /// False compiles every hook away.
    const ON: bool;
    /// An event happened; not necessarily in order of time.
    fn record(&mut self, record: Record);
    /// The clock moved to `now`: nothing older than `now - lag` will be recorded any more.
    fn advance(&mut self, now: Time);
    /// The run is over.
    fn finish(&mut self);
}

/// No tracing, at no cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTrace;

impl Tracer for NoTrace {
    const ON: bool = false;
    #[inline]
    fn record(&mut self, _: Record) {}
    #[inline]
    fn advance(&mut self, _: Time) {}
    #[inline]
    fn finish(&mut self) {}
}

/// Brings the events of lazy links into the order of time, holding each back by the lag of the network.
pub struct Merged<F: FnMut(&Record)> {
    lag: Span,
    count: u64,
    held: BinaryHeap<Reverse<Held>>,
    write: F,
}

struct Held {
    count: u64,
    record: Record,
}

impl Held {
    fn order(&self) -> (Key, u64) {
        (self.record.key, self.count)
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}
impl Eq for Held {}
impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Held {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.order().cmp(&other.order())
    }
}

impl<F: FnMut(&Record)> Merged<F> {
    /// Hands records to `write` in order of time; `lag` is [`crate::network::Network::lag`].
    pub fn new(lag: Span, write: F) -> Self {
        Merged {
            lag,
            count: 0,
            held: BinaryHeap::new(),
            write,
        }
    }
}

impl<F: FnMut(&Record)> Tracer for Merged<F> {
    const ON: bool = true;

    fn record(&mut self, record: Record) {
        self.count += 1;
        self.held.push(Reverse(Held {
            count: self.count,
            record,
        }));
    }

    fn advance(&mut self, now: Time) {
        while let Some(Reverse(first)) = self.held.peek() {
            if first.record.key.time + self.lag >= now {
                break;
            }
            if let Some(Reverse(first)) = self.held.pop() {
                (self.write)(&first.record);
            }
        }
    }

    fn finish(&mut self) {
        while let Some(Reverse(first)) = self.held.pop() {
            (self.write)(&first.record);
        }
    }
}
