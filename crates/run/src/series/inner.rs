//! The queues inside a scheduler, recorded one by one.

use std::collections::BTreeMap;

use sojourn_queue::{QueuePort, QueueState};
use sojourn_results::outcome::SeriesOutcome;
use sojourn_units::{Span, Time};

use super::samples::{count, push, signed};

/// Queues of one scheduler that are recorded at most: those that come first.
pub(super) const MOST_QUEUES: usize = 64;

/// What is recorded of a queue inside a scheduler, before the state of what is in it; the last only where there are deficits.
pub(super) const OF_A_QUEUE: [&str; 3] = ["queue_packets", "queue_bytes", "queue_deficit_bytes"];

/// The queues inside a scheduler, by their numbers.
#[derive(Default)]
pub struct InnerQueues {
    queues: BTreeMap<u32, InnerQueue>,
}

/// What was recorded of a queue since it came, and the queues of a scheduler that is in it.
struct InnerQueue {
    series: Vec<SeriesOutcome>,
    inner: InnerQueues,
}

impl InnerQueues {
    /// Takes a sample at `at`, the one before and the one after it a `step` away. A queue that is not there has none.
    pub fn sample(&mut self, port: &QueuePort, of: &str, at: Time, step: Span) {
        port.queues(&mut |queue| self.take(&queue, of, at, step));
        self.fill(at, step);
    }

    fn take(&mut self, queue: &QueueState<'_>, of: &str, at: Time, step: Span) {
        if !self.queues.contains_key(&queue.number) && self.queues.len() == MOST_QUEUES {
            return;
        }
        let of = format!("{of}/queue-{}", queue.number);
        let own = self.queues.entry(queue.number).or_insert_with(|| {
            let names = OF_A_QUEUE.iter().chain(queue.inside.state_names());
            let open = |quantity: &&str| SeriesOutcome {
                of: of.clone(),
                quantity: (*quantity).to_owned(),
                first: at,
                step,
                values: Vec::new(),
            };
            InnerQueue {
                series: names.map(open).collect(),
                inner: InnerQueues::default(),
            }
        });
        let mut values = vec![
            count(queue.packets),
            count(queue.bytes),
            queue.deficit.map_or(f64::NAN, signed),
        ];
        queue.inside.state(&mut values);
        push(&mut own.series, &values);
        let inner = &mut own.inner;
        queue
            .inside
            .queues(&mut |queue| inner.take(&queue, &of, at, step));
    }

    /// Puts a gap where a queue that was there has not been shown.
    pub fn fill(&mut self, at: Time, step: Span) {
        for queue in self.queues.values_mut() {
            let taken = at.since(queue.series[0].first).as_ps() / step.as_ps() + 1;
            if u64::try_from(queue.series[0].values.len()).is_ok_and(|length| length < taken) {
                for series in &mut queue.series {
                    series.values.push(f64::NAN);
                }
            }
            queue.inner.fill(at, step);
        }
    }

    /// What was recorded, queue by queue.
    pub fn into_series(self) -> Vec<SeriesOutcome> {
        let mut all = Vec::new();
        for queue in self.queues.into_values() {
            let seen = |series: &SeriesOutcome| series.values.iter().any(|v| v.is_finite());
            all.extend(queue.series.into_iter().filter(seen));
            all.extend(queue.inner.into_series());
        }
        all
    }
}
