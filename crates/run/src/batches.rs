//! Counts in equal parts of a run, for the rules on its warm-up. They begin with the run, and the end of the warm-up does not
//! show in them.

use sojourn_results::outcome::{
    BatchOutcome, DROPPED_PACKETS, FORWARD, GOODPUT_BYTES, LEFT_BYTES, LEFT_PACKETS, SOJOURN_SUM,
};
use sojourn_scenario::Resolved;
use sojourn_sim::topology::Role;
use sojourn_sim::trace::Tracer;
use sojourn_units::{Span, Time};

use crate::compile::{FlowInfo, LinkInfo};
use crate::network::LabNetwork;

/// Batches of a run.
const MOST: u64 = 1000;
/// Fewer of them where there is much to look at, so that a run does not take longer; never fewer than the rules can use.
const LEAST: u64 = 100;
const LOOKS: u64 = 100_000;
/// Queues that are counted.
const MOST_QUEUES: usize = 16;

/// Counts a run in batches.
pub(crate) struct Batches {
    step: Span,
    next: Time,
    left: u64,
    queues: Vec<Queue>,
    flows: Flows,
}

struct Queue {
    link: usize,
    name: String,
    /// Counts at the last sample; below zero, wrapping, where they have begun anew since.
    last: Counts,
    sums: [Vec<u64>; QUANTITIES.len()],
}

const QUANTITIES: [&str; 4] = [LEFT_BYTES, LEFT_PACKETS, SOJOURN_SUM, DROPPED_PACKETS];

/// Bytes and packets that left, packets dropped, and the sum of sojourn times in picoseconds.
#[derive(Clone, Copy, Default)]
struct Counts {
    bytes: u64,
    packets: u64,
    dropped: u64,
    sojourn: u128,
}

impl Counts {
    fn plus(self, other: Counts) -> Counts {
        Counts {
            bytes: self.bytes.wrapping_add(other.bytes),
            packets: self.packets.wrapping_add(other.packets),
            dropped: self.dropped.wrapping_add(other.dropped),
            sojourn: self.sojourn.wrapping_add(other.sojourn),
        }
    }

    fn minus(self, other: Counts) -> Counts {
        Counts {
            bytes: self.bytes.wrapping_sub(other.bytes),
            packets: self.packets.wrapping_sub(other.packets),
            dropped: self.dropped.wrapping_sub(other.dropped),
            sojourn: self.sojourn.wrapping_sub(other.sojourn),
        }
    }
}

/// The flows in the direction under study.
struct Flows {
    each: Vec<Flow>,
    last: u64,
    sums: Vec<u64>,
}

struct Flow {
    /// Its receiver, which tells its goodput; of others every byte counts that arrives.
    receiver: Option<usize>,
    own: std::ops::Range<usize>,
}

impl Flow {
    fn bytes<T: Tracer>(&self, network: &LabNetwork<T>) -> u64 {
        let report = |receiver| network.agent(receiver).receiver_report();
        match self.receiver.and_then(report) {
            Some(report) => report.goodput_bytes,
            None => {
                let of = |flow| network.flow(flow)[0].delivered_bytes;
                self.own.clone().map(of).sum()
            }
        }
    }
}

impl Batches {
    pub(crate) fn new(scenario: &Resolved, links: &[LinkInfo], flows: &[FlowInfo]) -> Batches {
        let studied = links.iter().zip(0..);
        let studied = studied.filter(|(link, _)| link.observed && link.role == Role::Bottleneck);
        let queues = studied.take(MOST_QUEUES).map(|(link, index)| Queue {
            link: index,
            name: link.name.clone(),
            last: Counts::default(),
            sums: Default::default(),
        });
        let forward = flows.iter().filter(|flow| flow.forward);
        let each = forward.map(|flow| Flow {
            receiver: flow.receiver,
            own: flow.own.clone(),
        });
        let (queues, each): (Vec<Queue>, Vec<Flow>) = (queues.collect(), each.collect());
        // A stop of the run looks at every link, and a workload's receiver at each of its connections.
        let connections: usize = each.iter().map(|flow| flow.own.len()).sum();
        let looks = u64::try_from(connections + links.len()).unwrap_or(u64::MAX);
        let number = (LOOKS / looks.max(1)).clamp(LEAST, MOST);
        let duration = scenario.run.duration;
        let step = Span::from_ps(duration.as_ps().div_ceil(number).max(1));
        Batches {
            step,
            next: Time::ZERO + step,
            left: duration / step,
            queues,
            flows: Flows {
                each,
                last: 0,
                sums: Vec::new(),
            },
        }
    }

    /// When the next batch ends; [`Time::MAX`] behind the last one.
    pub(crate) fn next(&self) -> Time {
        match self.left {
            0 => Time::MAX,
            _ => self.next,
        }
    }

    /// Counts of the network are about to begin anew: what happened since the last sample is kept, as counts before zero.
    pub(crate) fn before_measuring<T: Tracer>(&mut self, network: &mut LabNetwork<T>) {
        for queue in &mut self.queues {
            queue.last = queue.last.minus(counts(network, queue.link));
        }
        let bytes = self.flows.bytes(network);
        self.flows.last = self.flows.last.wrapping_sub(bytes);
    }

    /// What does not begin anew is as it was.
    pub(crate) fn start_measuring<T: Tracer>(&mut self, network: &mut LabNetwork<T>) {
        for queue in &mut self.queues {
            queue.last = queue.last.plus(counts(network, queue.link));
        }
        let now = self.flows.bytes(network);
        self.flows.last = self.flows.last.wrapping_add(now);
    }

    pub(crate) fn sample<T: Tracer>(&mut self, network: &mut LabNetwork<T>) {
        self.next += self.step;
        self.left -= 1;
        for queue in &mut self.queues {
            let now = counts(network, queue.link);
            let during = now.minus(queue.last);
            queue.last = now;
            let sojourn = u64::try_from(during.sojourn / PS_PER_NS).unwrap_or(u64::MAX);
            let values = [during.bytes, during.packets, sojourn, during.dropped];
            for (sums, value) in queue.sums.iter_mut().zip(values) {
                sums.push(value);
            }
        }
        let now = self.flows.bytes(network);
        self.flows.sums.push(now.wrapping_sub(self.flows.last));
        self.flows.last = now;
    }

    /// Takes the last sample if it is due at the end of the run.
    pub(crate) fn finish<T: Tracer>(&mut self, network: &mut LabNetwork<T>) {
        if self.next() == network.now() {
            self.sample(network);
        }
    }

    pub(crate) fn into_outcome(self) -> Vec<BatchOutcome> {
        let step = self.step;
        let of = |of: &str, quantity: &str, sums: Vec<u64>| BatchOutcome {
            of: of.to_owned(),
            quantity: quantity.to_owned(),
            step,
            sums,
        };
        let mut all = Vec::new();
        for queue in self.queues {
            let counts = QUANTITIES.into_iter().zip(queue.sums);
            all.extend(counts.map(|(quantity, sums)| of(&queue.name, quantity, sums)));
        }
        if !self.flows.each.is_empty() {
            all.push(of(FORWARD, GOODPUT_BYTES, self.flows.sums));
        }
        all
    }
}

const PS_PER_NS: u128 = 1000;

impl Flows {
    fn bytes<T: Tracer>(&self, network: &LabNetwork<T>) -> u64 {
        let bytes = self.each.iter().map(|flow| flow.bytes(network));
        bytes.fold(0, u64::wrapping_add)
    }
}

/// What a queue counts now.
fn counts<T: Tracer>(network: &mut LabNetwork<T>, link: usize) -> Counts {
    network.settle(link);
    let account = network.port(link).account();
    let totals = account.measured();
    Counts {
        bytes: totals.dequeued_bytes,
        packets: totals.dequeued,
        dropped: totals.dropped(),
        sojourn: account.sojourn_sum,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::run;
    use sojourn_results::outcome::RunOutcome;
    use sojourn_scenario::document::Document;
    use sojourn_scenario::model::Scenario;

    fn outcome(warmup: &str, flows: &str) -> RunOutcome {
        let text = format!(
            "flows = [{flows}]\n[run]\nduration = \"6s\"\nwarmup = {warmup:?}\n\
             [topology]\nrate = \"2Mbps\"\nrtt = \"40ms\"\nqueue = \"codel\"\n"
        );
        let document = Document::parse(&text, "batches.toml").unwrap();
        run(&Scenario::from_document(&document).unwrap(), 0).unwrap()
    }

    const FLOWS: [&str; 3] = [
        "\"2*reno\", \"cbr 100kbps\"",
        "\"web\"",
        "\"cbr 1Mbps stop=4s\"",
    ];

    #[test]
    fn the_end_of_the_warm_up_does_not_show_in_batches() {
        for flows in FLOWS {
            let whole = outcome("0s", flows).batches;
            assert!(whole.iter().all(|own| own.sums.len() == 1000), "{flows}");
            // On a sample, between two, and in the first batch.
            for warmup in ["3s", "3901us", "1ms"] {
                let other = outcome(warmup, flows).batches;
                for (one, other) in whole.iter().zip(&other) {
                    assert_eq!(one, other, "{flows} {warmup}");
                }
            }
        }
    }

    #[test]
    fn batches_add_up_to_what_the_run_counts() {
        for flows in FLOWS {
            let outcome = outcome("3s", flows);
            let queue = outcome
                .queues
                .iter()
                .find(|queue| queue.bottleneck)
                .unwrap();
            let sum = |quantity: &str| -> u64 {
                let own = outcome.batches.iter().find(|own| own.quantity == quantity);
                own.unwrap().sums[500..].iter().sum()
            };
            assert_eq!(sum(LEFT_BYTES), queue.totals.dequeued_bytes, "{flows}");
            assert_eq!(sum(LEFT_PACKETS), queue.totals.dequeued, "{flows}");
            assert_eq!(sum(DROPPED_PACKETS), queue.totals.dropped(), "{flows}");
            let sojourn = u64::try_from(queue.sojourn_sum / PS_PER_NS).unwrap();
            assert!(sojourn.abs_diff(sum(SOJOURN_SUM)) <= 500, "{flows}");
            let forward = outcome.flows.iter().filter(|flow| flow.forward);
            let goodput: u64 = forward.map(|flow| flow.goodput_bytes).sum();
            // Goodput of a datagram is what is in it; the bytes of all that arrives are with headers.
            assert!(sum(GOODPUT_BYTES) >= goodput, "{flows}");
            assert!(sum(GOODPUT_BYTES) <= goodput + goodput / 20, "{flows}");
        }
    }
}
