//! What is recorded of queues: one entry per name of `record`.

use sojourn_queue::QueuePort;
use sojourn_units::{Span, Time};

use super::samples::{count, seconds};
use crate::network::Capacity;

/// What can be recorded of a queue.
pub(super) struct OfQueue {
    /// The name in `record`.
    pub(super) asked: &'static str,
    /// About how many series there are of a queue, rather more than fewer.
    pub(super) about: u64,
    /// The quantities, each with its unit.
    pub(super) quantities: fn(&QueuePort) -> &'static [&'static str],
    /// A sample of each.
    pub(super) sample: fn(&mut QueueSample<'_>, &mut Vec<f64>),
}

/// A queue at the end of a step.
pub(super) struct QueueSample<'a> {
    pub(super) port: &'a QueuePort,
    /// Sum of the sojourn times of the packets that were sent during the step, picoseconds.
    pub(super) sojourn: u128,
    /// Packets sent and dropped during the step.
    pub(super) sent: u64,
    pub(super) dropped: u64,
    pub(super) at: Time,
    pub(super) step: Span,
    pub(super) link: usize,
    pub(super) capacity: &'a Capacity,
    /// Bits that the link could have carried by the last sample; below zero, wrapping, where they have begun anew since.
    pub(super) last_capacity: &'a mut u128,
    /// Names of the internal state that is recorded: that of the discipline with which the run began.
    pub(super) state: &'static [&'static str],
}

/// Everything, in the order in which it is recorded.
pub(super) const OF_QUEUES: &[OfQueue] = &[
    OfQueue {
        asked: "backlog",
        about: 2,
        quantities: |_| &["backlog_packets", "backlog_bytes"],
        sample: |queue, values| {
            let account = queue.port.account();
            values.push(count(account.backlog_packets()));
            values.push(count(account.backlog_bytes()));
        },
    },
    OfQueue {
        asked: "sojourn",
        about: 1,
        quantities: |_| &["sojourn_s"],
        sample: |queue, values| {
            values.push(match queue.sent {
                0 => f64::NAN,
                sent => seconds(queue.sojourn) / count(sent),
            });
        },
    },
    OfQueue {
        asked: "drops",
        about: 1,
        quantities: |_| &["drops_packets"],
        sample: |queue, values| values.push(count(queue.dropped)),
    },
    OfQueue {
        asked: "capacity",
        about: 1,
        quantities: |_| &["capacity_bps"],
        sample: |queue, values| {
            let bits = queue.capacity.bits(queue.link, queue.at);
            let during = bits.wrapping_sub(std::mem::replace(queue.last_capacity, bits));
            let during = count(u64::try_from(during).unwrap_or(u64::MAX));
            values.push(during / queue.step.as_secs_f64());
        },
    },
    OfQueue {
        asked: "state",
        about: 4,
        quantities: QueuePort::state_names,
        sample: |queue, values| match queue.port.state_names() == queue.state {
            true => queue.port.state(values),
            // Another discipline has taken over.
            false => values.extend(queue.state.iter().map(|_| f64::NAN)),
        },
    },
];
