//! Time series: what is sampled at every step of a run. What there is to record of a queue or of a flow is an entry of a table in
//! `series/`; here the series are opened and sampled.

mod inner;
mod of_flows;
mod of_queues;
mod recordable;
mod samples;

use crate::compile::{FlowInfo, LinkInfo};
use crate::network::{Capacity, LabNetwork};
use sojourn_results::outcome::SeriesOutcome;
use sojourn_scenario::Resolved;
use sojourn_scenario::error::LabError;
use sojourn_scenario::model::Scenario;
use sojourn_scenario::quantities::wanted;
use sojourn_sim::trace::Tracer;
use sojourn_traffic::media::RTP;
use sojourn_units::{Span, Time};

pub use inner::InnerQueues;
pub use recordable::Recordable;
pub use samples::count;

use inner::MOST_QUEUES;
use of_flows::{FlowEnds, FlowSample, MEDIA, OF_FLOWS, OfFlow, PACKETS, told_by};
use of_queues::{OF_QUEUES, QueueSample};
use samples::push;

/// An upper estimate of the series that a run with `flows` flows and `queues` observed queues records.
pub fn number(scenario: &Scenario, flows: u64, queues: u64) -> u64 {
    let wanted = wanted(&scenario.series.record).unwrap_or_default();
    let inner = flows.min(u64::try_from(MOST_QUEUES).unwrap_or(u64::MAX));
    let media = scenario.flows.iter().filter(|group| group.kind == RTP);
    let media = media.fold(0, |sum: u64, group| sum.saturating_add(group.place.count));
    let of = |quantity: &&str| {
        let queue = OF_QUEUES.iter().filter(|own| own.asked == *quantity);
        let flow = OF_FLOWS.iter().filter(|own| own.asked == *quantity);
        let flows_of = match *quantity {
            MEDIA => media,
            _ => flows,
        };
        match *quantity {
            "carried" => queues.saturating_mul(flows),
            "queues" => queues.saturating_mul(inner).saturating_mul(7),
            _ => {
                let of_queues = queues.saturating_mul(queue.map(|own| own.about).sum());
                let of_flows = flows_of.saturating_mul(flow.map(|own| own.about).sum());
                of_queues.saturating_add(of_flows)
            }
        }
    };
    wanted.iter().map(of).fold(0, u64::saturating_add)
}

/// Samples a run.
pub(crate) struct Recorder {
    step: Span,
    next: Time,
    wanted: Vec<&'static str>,
    queues: Vec<ObservedQueue>,
    flows: Vec<ObservedFlow>,
    series: Vec<SeriesOutcome>,
}

/// What has been carried of each flow.
struct Carried {
    first_series: usize,
    /// Bytes on the way when measuring began.
    before: Vec<u64>,
    /// Bytes at the far end at the last sample.
    last: Vec<u64>,
}

struct ObservedQueue {
    link: usize,
    name: String,
    carried: Carried,
    inner: InnerQueues,
    /// Sojourn sum, packets sent and packets dropped at the last sample; below zero, wrapping, where they have begun anew since.
    last: (u128, u64, u64),
    /// Bits that the link could have carried by the last sample, in the same way.
    last_capacity: u128,
    first_series: usize,
    /// Names of the internal state of its discipline when the run began.
    state: &'static [&'static str],
    /// Another queue has taken its place: of queues inside, nothing is recorded any more.
    changed: bool,
}

struct ObservedFlow {
    network: std::ops::Range<usize>,
    sender: usize,
    last_bytes: u64,
    /// Packets sent, delivered and dropped at the last sample.
    last_packets: [u64; 3],
    first_series: usize,
    /// What is asked for and it has.
    recorded: Vec<&'static OfFlow>,
    /// Its receiver; of a flow to a group, the first member.
    receiver: Option<usize>,
    /// Names that the congestion control tells, as it tells them.
    control: Vec<&'static str>,
}

/// Bytes delivered so far, over the connections of a flow.
fn bytes_of<T: Tracer>(network: &LabNetwork<T>, flows: std::ops::Range<usize>) -> u64 {
    flows
        .map(|flow| network.flow(flow)[0].delivered_bytes)
        .sum()
}

/// Packets sent, delivered and dropped so far, over the connections of a flow.
fn packets_of<T: Tracer>(network: &LabNetwork<T>, flows: std::ops::Range<usize>) -> [u64; 3] {
    let mut sum = [0; 3];
    for flow in flows {
        let counts = network.flow(flow)[0];
        sum[0] += counts.sent_packets;
        sum[1] += counts.delivered_packets;
        sum[2] += counts.dropped_packets;
    }
    sum
}

/// Bytes of each flow that the queue of a link has given up and that are not at the link's far end.
fn on_the_way<T: Tracer>(network: &LabNetwork<T>, link: usize, flows: &[ObservedFlow]) -> Vec<u64> {
    let mut bytes = vec![0; flows.len()];
    for (number, size) in network.on_the_way(link) {
        let own = |flow: &ObservedFlow| flow.network.contains(&number);
        if let Some(flow) = flows.iter().position(own) {
            bytes[flow] += size;
        }
    }
    bytes
}

/// Bytes of each flow that have arrived at the far end of a link since measuring began, when those `before` were on the way.
fn carried_by<T: Tracer>(
    network: &LabNetwork<T>,
    link: usize,
    flows: &[ObservedFlow],
    before: &[u64],
) -> Vec<u64> {
    let given_up = network.port(link).account().flows.as_deref();
    let of = |flow: usize| {
        given_up
            .and_then(|flows| flows.get(flow))
            .map_or(0, |f| f.dequeued_bytes)
    };
    let now = on_the_way(network, link, flows);
    let all = flows.iter().zip(before).zip(now);
    all.map(|((flow, before), now)| {
        let given_up: u64 = flow.network.clone().map(of).sum();
        (before + given_up).saturating_sub(now)
    })
    .collect()
}

impl Recorder {
    pub(crate) fn new<T: Tracer>(
        scenario: &Resolved,
        network: &LabNetwork<T>,
        links: &[LinkInfo],
        flows: &[FlowInfo],
    ) -> Result<Recorder, LabError> {
        let wanted = wanted(&scenario.series.record).map_err(|e| e.in_file(&scenario.name))?;
        let step = scenario.series.step;
        let first = Time::ZERO + step;
        let mut recorder = Recorder {
            step,
            next: if wanted.is_empty() { Time::MAX } else { first },
            wanted,
            queues: Vec::new(),
            flows: Vec::new(),
            series: Vec::new(),
        };
        for (link, index) in links.iter().zip(0..).filter(|(link, _)| link.observed) {
            recorder.observe_queue(network, link, index, flows);
        }
        for flow in flows {
            recorder.observe_flow(network, flow);
        }
        Ok(recorder)
    }

    fn observe_queue<T: Tracer>(
        &mut self,
        network: &LabNetwork<T>,
        link: &LinkInfo,
        index: usize,
        flows: &[FlowInfo],
    ) {
        let first_series = self.series.len();
        for own in OF_QUEUES {
            let quantities = (own.quantities)(network.port(index));
            self.open(own.asked, &link.name, quantities);
        }
        let first_carried = self.series.len();
        for flow in flows {
            let of = format!("{}/{}", link.name, flow.name);
            self.open("carried", &of, &["carried_bps"]);
        }
        self.queues.push(ObservedQueue {
            link: index,
            name: link.name.clone(),
            inner: InnerQueues::default(),
            carried: Carried {
                first_series: first_carried,
                before: vec![0; flows.len()],
                last: vec![0; flows.len()],
            },
            last: (0, 0, 0),
            last_capacity: 0,
            first_series,
            state: network.port(index).state_names(),
            changed: false,
        });
    }

    /// Another queue has taken the place of the one before a link.
    pub(crate) fn queue_changed(&mut self, link: usize) {
        let mut queues = self.queues.iter_mut();
        if let Some(queue) = queues.find(|queue| queue.link == link) {
            queue.changed = true;
        }
    }

    fn observe_flow<T: Tracer>(&mut self, network: &LabNetwork<T>, flow: &FlowInfo) {
        let sender = network.agent(flow.sender);
        let receiver = flow.receiver.or(flow.members.first().copied());
        let ends = FlowEnds {
            sender,
            arrives: receiver.is_some(),
        };
        let first_series = self.series.len();
        let is_recorded = |own: &&OfFlow| self.wanted.contains(&own.asked) && (own.has)(&ends);
        let recorded: Vec<&'static OfFlow> = OF_FLOWS.iter().filter(is_recorded).collect();
        for own in &recorded {
            let quantities = (own.quantities)(&ends);
            let quantities: Vec<&str> = quantities.iter().map(String::as_str).collect();
            self.open(own.asked, &flow.name, &quantities);
        }
        self.flows.push(ObservedFlow {
            network: flow.own.clone(),
            sender: flow.sender,
            last_bytes: 0,
            last_packets: [0; 3],
            first_series,
            recorded,
            receiver,
            control: told_by(sender),
        });
    }

    fn open(&mut self, wanted: &str, of: &str, quantities: &[&str]) {
        if self.wanted.contains(&wanted) {
            self.series
                .extend(quantities.iter().map(|quantity| SeriesOutcome {
                    of: of.to_owned(),
                    quantity: (*quantity).to_owned(),
                    first: Time::ZERO + self.step,
                    step: self.step,
                    values: Vec::new(),
                }));
        }
    }

    /// When the next sample is due; [`Time::MAX`] if nothing is recorded.
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// Counts of the network are about to begin anew: what happened since the last sample is kept, as counts before zero.
    pub(crate) fn before_measuring<T: Tracer>(
        &mut self,
        network: &mut LabNetwork<T>,
        capacity: &Capacity,
    ) {
        if self.wanted.is_empty() {
            return;
        }
        for queue in &mut self.queues {
            network.settle(queue.link);
            let totals = network.port(queue.link).account().measured();
            let sum = network.port(queue.link).account().sojourn_sum;
            queue.last = (
                queue.last.0.wrapping_sub(sum),
                queue.last.1.wrapping_sub(totals.dequeued),
                queue.last.2.wrapping_sub(totals.dropped()),
            );
            let bits = capacity.bits(queue.link, network.now());
            queue.last_capacity = queue.last_capacity.wrapping_sub(bits);
            let carried = &mut queue.carried;
            let now = carried_by(network, queue.link, &self.flows, &carried.before);
            for (last, now) in carried.last.iter_mut().zip(now) {
                *last = last.wrapping_sub(now);
            }
        }
        for flow in &mut self.flows {
            let bytes = bytes_of(network, flow.network.clone());
            flow.last_bytes = flow.last_bytes.wrapping_sub(bytes);
            let packets = packets_of(network, flow.network.clone());
            for (last, now) in flow.last_packets.iter_mut().zip(packets) {
                *last = last.wrapping_sub(now);
            }
        }
    }

    /// Counts of the network have begun anew.
    pub(crate) fn start_measuring<T: Tracer>(&mut self, network: &LabNetwork<T>) {
        for queue in &mut self.queues {
            queue.carried.before = on_the_way(network, queue.link, &self.flows);
        }
    }

    pub(crate) fn sample<T: Tracer>(&mut self, network: &mut LabNetwork<T>, capacity: &Capacity) {
        let at = self.next;
        self.next += self.step;
        for index in 0..self.queues.len() {
            self.sample_queue(index, network, capacity, at);
        }
        for flow in &mut self.flows {
            let bytes = bytes_of(network, flow.network.clone());
            let arrived = bytes.wrapping_sub(flow.last_bytes);
            flow.last_bytes = bytes;
            let mut packets = [0; 3];
            if flow.recorded.iter().any(|own| own.asked == PACKETS) {
                let now = packets_of(network, flow.network.clone());
                let last = std::mem::replace(&mut flow.last_packets, now);
                for ((during, now), last) in packets.iter_mut().zip(now).zip(last) {
                    *during = now.wrapping_sub(last);
                }
            }
            let sample = FlowSample {
                sender: network.agent(flow.sender),
                receiver: flow.receiver.map(|receiver| network.agent(receiver)),
                number: u32::try_from(flow.network.start).unwrap_or(u32::MAX),
                arrived,
                packets,
                step: self.step,
                control: &flow.control,
            };
            let mut values = Vec::with_capacity(6);
            for own in &flow.recorded {
                (own.sample)(&sample, &mut values);
            }
            push(&mut self.series[flow.first_series..], &values);
        }
    }

    fn sample_queue<T: Tracer>(
        &mut self,
        index: usize,
        network: &mut LabNetwork<T>,
        capacity: &Capacity,
        at: Time,
    ) {
        let wants = |name: &str| self.wanted.contains(&name);
        let queue = &mut self.queues[index];
        network.settle(queue.link);
        let port = network.port(queue.link);
        let account = port.account();
        let totals = account.measured();
        let now = (account.sojourn_sum, totals.dequeued, totals.dropped());
        let last = std::mem::replace(&mut queue.last, now);
        let mut sample = QueueSample {
            port,
            sojourn: now.0.wrapping_sub(last.0),
            sent: now.1.wrapping_sub(last.1),
            dropped: now.2.wrapping_sub(last.2),
            at,
            step: self.step,
            link: queue.link,
            capacity,
            last_capacity: &mut queue.last_capacity,
            state: queue.state,
        };
        let mut values = Vec::with_capacity(8);
        for own in OF_QUEUES.iter().filter(|own| wants(own.asked)) {
            (own.sample)(&mut sample, &mut values);
        }
        push(&mut self.series[queue.first_series..], &values);
        if wants("queues") {
            match queue.changed {
                true => queue.inner.fill(at, self.step),
                false => queue.inner.sample(port, &queue.name, at, self.step),
            }
        }
        if wants("carried") {
            let carried = &mut queue.carried;
            let series = &mut self.series[carried.first_series..];
            let now = carried_by(network, queue.link, &self.flows, &carried.before);
            for ((series, last), now) in series.iter_mut().zip(&mut carried.last).zip(now) {
                let bits = count(now.wrapping_sub(*last)) * 8.0;
                series.values.push(bits / self.step.as_secs_f64());
                *last = now;
            }
        }
    }

    /// Takes the last sample if it is due at the end of the run.
    pub(crate) fn finish<T: Tracer>(&mut self, network: &mut LabNetwork<T>, capacity: &Capacity) {
        if self.next == network.now() {
            self.sample(network, capacity);
        }
    }

    pub(crate) fn into_series(self) -> Vec<SeriesOutcome> {
        let inner = self.queues.into_iter().map(|queue| queue.inner);
        let mut series = self.series;
        series.extend(inner.flat_map(InnerQueues::into_series));
        series
    }
}
