//! Which of several equal packets of one capture a packet of the other is.
//!
//! Packets of a direction pass both captures in order, except for some that others overtake. So of equal packets that wait, the one is taken
//! that is nearest to where the other capture has got, and what lies before it was lost. Equal packets between which nothing else
//! arrived form a *run*. Where all of a run arrived, they did so in order. Where some are missing, it is not known which: the others have
//! no delay.

use super::digest::Digest;
use sojourn_units::{Span, Time};
use std::collections::VecDeque;

/// Waiting packets that are looked at, from the nearest on.
const LOOKED_AT: usize = 1 << 12;
/// Packets of a run that nothing is known of yet.
const LONGEST_RUN: usize = 1 << 20;

/// A packet of one capture that waits for the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) time: Time,
    pub(super) way: u32,
    pub(super) size: u32,
    /// Its place among the packets of its direction in its capture.
    pub(super) place: u64,
    pub(super) digest: Digest,
    /// How long ago the other capture had an equal one, if that is longer than the horizon; zero if it had none.
    pub(super) after: Span,
}

/// How a packet was paired.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    /// Behind all that were paired before.
    Next,
    /// Others have overtaken it, and no other can be meant.
    Late,
    /// Others have overtaken it, and there are several that may be meant.
    Unclear,
}

/// Takes the packet out of those that wait, with the same headers and in order of their places, that one of this content is: of those
/// that passed at `since` or later the nearest to the place `expected`.
pub(super) fn take(
    queue: &mut VecDeque<Waiting>,
    digest: &Digest,
    expected: u64,
    since: impl Fn(&Waiting) -> bool,
) -> Option<(Waiting, Order)> {
    let middle = queue.partition_point(|waiting| waiting.place < expected);
    let fits = |at: &usize| {
        queue
            .get(*at)
            .is_some_and(|waiting| since(waiting) && waiting.digest.agrees(digest))
    };
    let distance = |at: usize| {
        queue
            .get(at)
            .map(|waiting| waiting.place.abs_diff(expected))
    };
    let mut ahead = (middle..queue.len()).take(LOOKED_AT).filter(fits);
    let mut behind = (0..middle).rev().take(LOOKED_AT).filter(fits);
    let next = ahead.next();
    let before = behind.next();
    let nearer = |one: usize, other: Option<usize>| {
        other
            .and_then(distance)
            .is_none_or(|other| distance(one) <= Some(other))
    };
    let (at, order) = match (next, before) {
        (Some(next), before) if nearer(next, before) => (next, Order::Next),
        (next, Some(before)) => {
            let far = |other: Option<usize>| {
                let twice = distance(before).map(|distance| 2 * distance);
                other.and_then(distance) > twice || other.is_none()
            };
            let clear = far(next) && far(behind.next());
            (before, if clear { Order::Late } else { Order::Unclear })
        }
        _ => return None,
    };
    queue.remove(at).map(|waiting| (waiting, order))
}

/// Two sightings of a packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Pair {
    /// The capture that it passed first: 0 or 1.
    pub(super) first: usize,
    pub(super) took: Span,
    /// From the first capture to the second, in picoseconds.
    pub(super) transit: i128,
    /// Nothing else can be meant.
    pub(super) sure: bool,
}

/// Equal packets that were paired one after the other, and nothing else between them.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Run {
    pub(super) identity: u64,
    pub(super) digest: Digest,
    /// The capture in which they waited.
    pub(super) side: usize,
    /// The place there from which on they may be.
    pub(super) from: u64,
    pub(super) pairs: Vec<Pair>,
}

impl Run {
    /// Whether a packet of that identity and content, that waited at `side`, belongs to it.
    pub(super) fn has(&self, identity: u64, digest: &Digest, side: usize) -> bool {
        let room = self.pairs.len() < LONGEST_RUN;
        room && self.identity == identity && self.side == side && self.digest.agrees(digest)
    }

    /// Whether packets of the run are left among those that wait, before the place `until`, that are `lost`.
    pub(super) fn misses(
        &self,
        queue: Option<&VecDeque<Waiting>>,
        until: u64,
        lost: impl Fn(&Waiting) -> bool,
    ) -> bool {
        let Some(queue) = queue else {
            return false;
        };
        let from = queue.partition_point(|waiting| waiting.place < self.from);
        queue
            .range(from..)
            .take_while(|waiting| waiting.place < until)
            .any(|waiting| waiting.digest.agrees(&self.digest) && lost(waiting))
    }
}
