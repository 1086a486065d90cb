//! Time series: what is sampled at every step of a run.

use crate::compile::{FlowInfo, LinkInfo};
use crate::network::{Capacity, LabNetwork};
use sojourn_cc::{CongestionControl, Phase};
use sojourn_queue::{QueuePort, QueueState};
use sojourn_results::outcome::SeriesOutcome;
use sojourn_scenario::error::LabError;
use sojourn_scenario::model::Scenario;
use sojourn_scenario::quantities::wanted;
use sojourn_sim::trace::Tracer;
use sojourn_traffic::media::RTP;
use sojourn_units::{Span, Time};
use std::collections::BTreeMap;

/// An upper estimate of the series that a run with `flows` flows and `queues` observed queues records.
pub fn number(scenario: &Scenario, flows: u64, queues: u64) -> u64 {
    let wanted = wanted(&scenario.series.record).unwrap_or_default();
    let inner = flows.min(u64::try_from(MOST_QUEUES).unwrap_or(u64::MAX));
    let media = scenario.flows.iter().filter(|group| group.kind == RTP);
    let media = media.fold(0, |sum: u64, group| sum.saturating_add(group.place.count));
    let of = |quantity: &&str| match *quantity {
        "backlog" => queues.saturating_mul(2),
        "sojourn" | "drops" | "capacity" => queues,
        "carried" => queues.saturating_mul(flows),
        "state" => queues.saturating_mul(4),
        "queues" => queues.saturating_mul(inner).saturating_mul(7),
        "cwnd" | "packets" => flows.saturating_mul(3),
        "rtt" => flows.saturating_mul(2),
        "control" => flows.saturating_mul(4),
        "media" => media.saturating_mul(5),
        _ => flows,
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

/// Queues of one scheduler that are recorded at most: those that come first.
const MOST_QUEUES: usize = 64;

/// What is recorded of a queue inside a scheduler, before the state of what is in it; the last only where there are deficits.
const OF_A_QUEUE: [&str; 3] = ["queue_packets", "queue_bytes", "queue_deficit_bytes"];

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
    fn fill(&mut self, at: Time, step: Span) {
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
    state: usize,
}

struct ObservedFlow {
    network: std::ops::Range<usize>,
    sender: usize,
    last_bytes: u64,
    /// Packets sent, delivered and dropped at the last sample.
    last_packets: [u64; 3],
    first_series: usize,
    has_window: bool,
    /// A workload: connections that come and go.
    has_connections: bool,
    /// It measures round trips by requests and responses.
    is_requester: bool,
    paces: bool,
    has_phase: bool,
    /// The receiver of media; of a group, its first member.
    media: Option<usize>,
    /// Names that the congestion control tells, as it tells them.
    control: Vec<&'static str>,
}

/// What is recorded of media.
const OF_MEDIA: [&str; 5] = [
    "reported_loss_ratio",
    "reported_jitter_s",
    "reported_rtt_s",
    "playout_delay_s",
    "target_bps",
];

/// What is recorded of the packets of a flow.
const OF_PACKETS: [&str; 3] = ["sent_pps", "delivered_pps", "dropped_pps"];

/// The quantity that a congestion control calls `name (unit)`, and the factor to its unit.
fn quantity_of(told: &str) -> (String, f64) {
    let (name, unit) = match told.split_once(" (") {
        Some((name, unit)) => (name, unit.trim_end_matches(')')),
        None => (told, ""),
    };
    match unit {
        "" => (name.to_owned(), 1.0),
        "ms" => (format!("{name}_s"), 1e-3),
        "us" => (format!("{name}_s"), 1e-6),
        unit => (format!("{name}_{unit}"), 1.0),
    }
}

/// The phase as a number.
fn phase_number(phase: Phase) -> f64 {
    match phase {
        Phase::Open => 0.0,
        Phase::Disorder => 1.0,
        Phase::Reducing => 2.0,
        Phase::Recovery => 3.0,
        Phase::Loss => 4.0,
    }
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
        scenario: &Scenario,
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
            let state = network.port(index).state_names();
            let first_series = recorder.series.len();
            recorder.open(
                "backlog",
                &link.name,
                &["backlog_packets", "backlog_bytes"],
                first,
            );
            recorder.open("sojourn", &link.name, &["sojourn_s"], first);
            recorder.open("drops", &link.name, &["drops_packets"], first);
            recorder.open("capacity", &link.name, &["capacity_bps"], first);
            recorder.open("state", &link.name, state, first);
            let first_carried = recorder.series.len();
            for flow in flows {
                let of = format!("{}/{}", link.name, flow.name);
                recorder.open("carried", &of, &["carried_bps"], first);
            }
            recorder.queues.push(ObservedQueue {
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
                state: state.len(),
            });
        }
        for flow in flows {
            let has_window = network.agent(flow.sender).gauges().is_some();
            let first_series = recorder.series.len();
            recorder.open("throughput", &flow.name, &["throughput_bps"], first);
            if has_window {
                let windows = ["cwnd_bytes", "ssthresh_bytes", "in_flight_bytes"];
                recorder.open("cwnd", &flow.name, &windows, first);
                recorder.open("rtt", &flow.name, &["srtt_s", "rto_s"], first);
            }
            let sender = network.agent(flow.sender);
            let has_connections = sender.open_connections().is_some();
            if has_connections {
                let sums = ["cwnd_bytes", "in_flight_bytes", "open_connections"];
                recorder.open("cwnd", &flow.name, &sums, first);
                recorder.open("rtt", &flow.name, &["srtt_s"], first);
            }
            let is_requester = sender.requester().is_some();
            if is_requester {
                recorder.open("rtt", &flow.name, &["rtt_s"], first);
            }
            recorder.open("packets", &flow.name, &OF_PACKETS, first);
            let mut control = Vec::new();
            if let Some(own) = sender.control() {
                own.series(&mut |name, _| control.push(name));
            }
            let paces = sender.paces();
            if paces {
                recorder.open("pacing", &flow.name, &["pacing_bps"], first);
            }
            let has_phase = sender.phase().is_some();
            if has_phase {
                recorder.open("phase", &flow.name, &["phase"], first);
            }
            let names: Vec<String> = control.iter().map(|told| quantity_of(told).0).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            recorder.open("control", &flow.name, &names, first);
            let receiver = flow.receiver.or(flow.members.first().copied());
            let media = receiver.filter(|_| sender.rtp_gauges().is_some());
            if media.is_some() {
                recorder.open("media", &flow.name, &OF_MEDIA, first);
            }
            recorder.flows.push(ObservedFlow {
                network: flow.own.clone(),
                sender: flow.sender,
                last_bytes: 0,
                last_packets: [0; 3],
                first_series,
                has_window,
                has_connections,
                is_requester,
                paces,
                has_phase,
                media,
                control,
            });
        }
        Ok(recorder)
    }

    fn open(&mut self, wanted: &str, of: &str, quantities: &[&str], first: Time) {
        if self.wanted.contains(&wanted) {
            self.series
                .extend(quantities.iter().map(|quantity| SeriesOutcome {
                    of: of.to_owned(),
                    quantity: (*quantity).to_owned(),
                    first,
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
        let wants = |name: &str| self.wanted.contains(&name);
        for queue in &mut self.queues {
            network.settle(queue.link);
            let port = network.port(queue.link);
            let account = port.account();
            let totals = account.measured();
            let now = (account.sojourn_sum, totals.dequeued, totals.dropped());
            let (sum, sent, dropped) = (
                now.0.wrapping_sub(queue.last.0),
                now.1.wrapping_sub(queue.last.1),
                now.2.wrapping_sub(queue.last.2),
            );
            queue.last = now;
            let mut values = Vec::with_capacity(4 + queue.state);
            if wants("backlog") {
                values.push(count(account.backlog_packets()));
                values.push(count(account.backlog_bytes()));
            }
            if wants("sojourn") {
                values.push(if sent == 0 {
                    f64::NAN
                } else {
                    seconds(sum) / count(sent)
                });
            }
            if wants("drops") {
                values.push(count(dropped));
            }
            if wants("capacity") {
                let bits = capacity.bits(queue.link, at);
                let during = bits.wrapping_sub(std::mem::replace(&mut queue.last_capacity, bits));
                let during = count(u64::try_from(during).unwrap_or(u64::MAX));
                values.push(during / self.step.as_secs_f64());
            }
            if wants("state") {
                port.state(&mut values);
            }
            push(&mut self.series[queue.first_series..], &values);
            if wants("queues") {
                queue.inner.sample(port, &queue.name, at, self.step);
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
        for flow in &mut self.flows {
            let bytes = bytes_of(network, flow.network.clone());
            let mut values = Vec::with_capacity(6);
            if wants("throughput") {
                let arrived = bytes.wrapping_sub(flow.last_bytes);
                values.push(count(arrived) * 8.0 / self.step.as_secs_f64());
            }
            flow.last_bytes = bytes;
            if flow.has_window
                && let Some(gauges) = network.agent(flow.sender).gauges()
            {
                if wants("cwnd") {
                    values.push(count(gauges.cwnd_bytes));
                    values.push(gauges.ssthresh_bytes.map_or(f64::NAN, count));
                    values.push(count(gauges.in_flight_bytes));
                }
                if wants("rtt") {
                    values.push(gauges.srtt.map_or(f64::NAN, Span::as_secs_f64));
                    values.push(gauges.rto.as_secs_f64());
                }
            }
            let sender = network.agent(flow.sender);
            if flow.has_connections
                && let Some(open) = sender.open_connections()
            {
                if wants("cwnd") {
                    let sums = [open.cwnd_bytes, open.in_flight_bytes, open.number];
                    values.extend(sums.map(count));
                }
                if wants("rtt") {
                    values.push(open.srtt.map_or(f64::NAN, Span::as_secs_f64));
                }
            }
            if flow.is_requester
                && wants("rtt")
                && let Some(requester) = sender.requester()
            {
                let last = requester.last_round_trip();
                values.push(last.map_or(f64::NAN, Span::as_secs_f64));
            }
            if wants("packets") {
                let packets = packets_of(network, flow.network.clone());
                for (now, last) in packets.iter().zip(flow.last_packets) {
                    values.push(count(now.wrapping_sub(last)) / self.step.as_secs_f64());
                }
                flow.last_packets = packets;
            }
            if flow.paces && wants("pacing") {
                let rate = sender.pacing_rate();
                values.push(rate.map_or(f64::NAN, |rate| count(rate.as_bps())));
            }
            if flow.has_phase && wants("phase") {
                values.push(sender.phase().map_or(f64::NAN, phase_number));
            }
            if let Some(control) = sender.control()
                && wants("control")
            {
                let first = values.len();
                values.resize(first + flow.control.len(), f64::NAN);
                control.series(&mut |name, value| {
                    if let Some(place) = flow.control.iter().position(|own| *own == name) {
                        values[first + place] = value * quantity_of(name).1;
                    }
                });
            }
            if let Some(receiver) = flow.media
                && wants("media")
                && let Some(gauges) = sender.rtp_gauges()
            {
                let number = u32::try_from(flow.network.start).unwrap_or(u32::MAX);
                let delay = network.agent(receiver).playout_delay(number);
                let told = [
                    gauges.fraction_lost,
                    gauges.jitter,
                    gauges.round_trip,
                    delay.map(Span::as_secs_f64),
                    gauges.target,
                ];
                values.extend(told.map(|value| value.unwrap_or(f64::NAN)));
            }
            push(&mut self.series[flow.first_series..], &values);
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

fn push(series: &mut [SeriesOutcome], values: &[f64]) {
    for (series, value) in series.iter_mut().zip(values) {
        series.values.push(*value);
    }
}

#[allow(
    clippy::cast_precision_loss,
    reason = "a sample of a series: 53 bits are plenty"
)]
fn signed(value: i64) -> f64 {
    value as f64
}

fn seconds(picoseconds: u128) -> f64 {
    wide(picoseconds) * 1e-12
}

#[allow(
    clippy::cast_precision_loss,
    reason = "a sample of a series: 53 bits are plenty"
)]
/// A count as samples have it.
pub fn count(value: u64) -> f64 {
    value as f64
}

#[allow(
    clippy::cast_precision_loss,
    reason = "a sample of a series: 53 bits are plenty"
)]
fn wide(value: u128) -> f64 {
    value as f64
}
