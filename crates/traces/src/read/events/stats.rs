//! What is counted of each link, node and flow.

use crate::read::moments::{Counts, Jitter, Sizes, Spans};
use sojourn_results::stats::{to_f64, wide_to_f64};
use sojourn_units::Time;
use std::collections::VecDeque;

/// Data under way that are remembered per flow for round trips: with an answer seen, and before one is.
const REMEMBERED: usize = 1 << 16;
const REMEMBERED_UNANSWERED: usize = 1 << 10;

/// A link direction.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct LinkStats {
    /// The node at its far end, once known.
    pub(super) to: Option<u32>,
    /// Handed to its queue.
    pub(super) enqueued: Counts,
    /// Whose transmission started.
    pub(super) sent: Counts,
    /// That arrived.
    pub(super) received: Counts,
    /// Dropped.
    pub(super) dropped: Counts,
    /// Sent, and never heard of again.
    pub(super) lost: Counts,
    /// From the queue's entrance to the start of transmission.
    pub(super) queueing: Spans,
    /// From there to the far end.
    pub(super) transit: Spans,
    /// Packets waiting.
    pub(super) backlog: u64,
    /// The most that ever waited.
    pub(super) backlog_max: u64,
    /// The start of transmission seen last, its bytes, and whether others waited.
    pub(super) last_sent: Option<(Time, u32, bool)>,
    /// Bytes sent while others waited, and the picoseconds that this took.
    pub(super) busy: (u64, u128),
}

/// A node.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct NodeStats {
    /// Packets that begin here.
    pub(super) sent: Counts,
    /// Packets that end here.
    pub(super) received: Counts,
    /// Packets that pass.
    pub(super) forwarded: Counts,
    /// Dropped at a queue of this node.
    pub(super) dropped: Counts,
    /// From arrival to the queue of the next link.
    pub(super) processing: Spans,
}

/// A flow.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct FlowStats {
    /// Packets that were sent.
    pub(super) sent: Sizes,
    /// That arrived at the end.
    pub(super) received: Counts,
    /// That were dropped.
    pub(super) dropped: Counts,
    /// That were neither, and not heard of any more.
    pub(super) lost: Counts,
    /// That were neither, and may be under way.
    pub(super) open: Counts,
    /// That arrived with CE.
    pub(super) marked: u64,
    /// Packets with data that had been sent before.
    pub(super) repeated: u64,
    /// From end to end.
    pub(super) delay: Spans,
    /// Its variation.
    pub(super) jitter: Jitter,
    /// Between arrivals.
    pub(super) gaps: Spans,
    /// From data to their acknowledgement.
    pub(super) rtt: Spans,
    /// First and last sending or arrival.
    pub(super) active: Option<(Time, Time)>,
    pub(super) last_arrival: Option<Time>,
    /// All data below were sent at least once.
    pub(super) highest: u64,
    /// End of data under way, when they were sent, and whether only once; in ascending order.
    outstanding: VecDeque<(u64, Time, bool)>,
    answered: bool,
}

impl FlowStats {
    /// Data were sent; says whether they had been before.
    pub(super) fn send_data(&mut self, end: u64, time: Time) -> bool {
        if end <= self.highest {
            // Karn: which of the two is acknowledged will not be known.
            if let Ok(at) = self
                .outstanding
                .binary_search_by_key(&end, |(end, ..)| *end)
            {
                self.outstanding[at].2 = false;
            }
            return true;
        }
        self.highest = end;
        let most = match self.answered {
            true => REMEMBERED,
            false => REMEMBERED_UNANSWERED,
        };
        if self.outstanding.len() >= most {
            self.outstanding.pop_front();
        }
        self.outstanding.push_back((end, time, true));
        false
    }

    /// All data below `acknowledged` are known to have arrived at `time`; `counted` says whether the round trip counts.
    pub(super) fn acknowledge(&mut self, acknowledged: u64, time: Time, counted: bool) {
        self.answered = true;
        let mut newest = None;
        while let Some((end, ..)) = self.outstanding.front()
            && *end <= acknowledged
        {
            newest = self.outstanding.pop_front();
        }
        if let Some((_, sent, true)) = newest
            && counted
        {
            self.rtt.record(time.since(sent));
        }
    }

    /// Mean difference of consecutive delays, in seconds, as runs count it: over the packets that arrived, less one.
    pub(super) fn jitter_mean(&self) -> Option<f64> {
        let pairs = self
            .delay
            .count()
            .checked_sub(1)
            .filter(|pairs| *pairs > 0)?;
        Some(wide_to_f64(self.jitter.differences().0) * 1e-12 / to_f64(pairs))
    }

    /// Something of the flow happened.
    pub(super) fn touch(&mut self, time: Time) {
        let first = self.active.map_or(time, |(first, _)| first);
        self.active = Some((first, time));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_trip_of_data_sent_twice_does_not_count() {
        let at = |ms: u64| Time::from_ps(ms * 1_000_000_000);
        let mut flow = FlowStats::default();
        assert!(!flow.send_data(1, at(0)));
        assert!(!flow.send_data(2, at(1)));
        assert!(flow.send_data(2, at(5)));
        flow.acknowledge(1, at(10), true);
        flow.acknowledge(2, at(12), true);
        assert_eq!((flow.rtt.count(), flow.rtt.mean()), (1, Some(0.01)));
    }
}
