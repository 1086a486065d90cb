//! One run: a compiled scenario, simulated to its end, read into an outcome.

mod media;

use crate::batches::Batches;
use crate::compile::{Compiled, FlowInfo, GroupInfo, LinkChange, LinkInfo, compile};
use crate::host::{Host, around, host_of};
use crate::network::{Capacity, LabNetwork};
use crate::series::Recorder;
use sojourn_queue::QueuePort;
use sojourn_queue::account::FlowAccount;
use sojourn_results::outcome::{FlowOutcome, QueueOutcome, Reception, RunOutcome, TransferOutcome};
use sojourn_scenario::Resolved;
use sojourn_scenario::error::{LabError, LabErrorKind};
use sojourn_scenario::model::Scenario;
use sojourn_sim::topology::Role;
use sojourn_sim::trace::{NoTrace, Tracer};
use sojourn_sim::{BuildError, DropReason, FlowCounts, Network};
use sojourn_traffic::Endpoint;
use sojourn_traffic::udp_rr::UDP_RR;
use sojourn_traffic::workload::{self, Transfer, TransferKind};
use sojourn_units::{Rate, Span, Time};
use std::any::Any;
use std::collections::VecDeque;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use crate::host::Watch;

/// Runs one replication of a scenario.
///
/// # Errors
/// If the scenario cannot be compiled or a flow cannot reach its receiver.
pub fn run(scenario: &Scenario, replication: u64) -> Result<RunOutcome, LabError> {
    run_resolved(&scenario.resolve()?, replication)
}

/// As [`run`], for a scenario that was resolved: once for all its replications.
///
/// # Errors
/// As [`run`].
pub fn run_resolved(scenario: &Resolved, replication: u64) -> Result<RunOutcome, LabError> {
    run_unless(scenario, replication, &AtomicBool::new(false))
}

/// As [`run_resolved`], but ends within a fraction of a second once `stop` is true.
///
/// # Errors
/// As [`run`], and when it was stopped.
pub fn run_unless(
    scenario: &Resolved,
    replication: u64,
    stop: &AtomicBool,
) -> Result<RunOutcome, LabError> {
    let watch = Watch {
        stop,
        reached: None,
    };
    run_watched(scenario, replication, watch)
}

/// As [`run_unless`], and tells how far it is.
///
/// # Errors
/// As [`run_unless`].
pub fn run_watched(
    scenario: &Resolved,
    replication: u64,
    watch: Watch<'_>,
) -> Result<RunOutcome, LabError> {
    let here = |host: Option<&dyn Host>| {
        let slices = Slices::default();
        let (outcome, _) =
            run_in_slices(scenario, replication, |_| NoTrace, (watch, host), slices)?;
        Ok(outcome)
    };
    match host_of(scenario) {
        None => here(None),
        Some(host) => host.run((scenario, replication), watch, &mut || {
            around(host, || here(Some(host)))
        }),
    }
}

/// Runs one replication with a tracer, made once the network is compiled.
///
/// # Errors
/// As [`run`].
pub fn run_traced<T: Tracer>(
    scenario: &Scenario,
    replication: u64,
    tracer: impl FnOnce(&Compiled) -> T,
) -> Result<(RunOutcome, T), LabError> {
    let resolved = scenario.resolve()?;
    run_traced_unless(&resolved, replication, tracer, &AtomicBool::new(false))
}

/// As [`run_traced`], but ends within a fraction of a second once `stop` is true.
///
/// # Errors
/// As [`run`], and when it was stopped.
pub fn run_traced_unless<T: Tracer>(
    scenario: &Resolved,
    replication: u64,
    tracer: impl FnOnce(&Compiled) -> T,
    stop: &AtomicBool,
) -> Result<(RunOutcome, T), LabError> {
    let watch = Watch {
        stop,
        reached: None,
    };
    let slices = Slices::default();
    match host_of(scenario) {
        None => run_in_slices(scenario, replication, tracer, (watch, None), slices),
        Some(host) => around(host, || {
            run_in_slices(scenario, replication, tracer, (watch, Some(host)), slices)
        }),
    }
}

fn run_in_slices<T: Tracer>(
    scenario: &Resolved,
    replication: u64,
    tracer: impl FnOnce(&Compiled) -> T,
    watched: (Watch<'_>, Option<&dyn Host>),
    slices: Slices,
) -> Result<(RunOutcome, T), LabError> {
    let compiled = compile(scenario, replication)?;
    let tracer = tracer(&compiled);
    let mut running = Running::of(scenario, replication, compiled, tracer)?;
    running.slices = slices;
    running.advance_in(Time::MAX, watched)?;
    running.into_outcome()
}

/// A run that is advanced in steps of simulated time from outside: between two steps its queues and senders can be read, and those that
/// take [actions](sojourn_queue::Aqm::steer) given one. Steps change nothing: without actions, the outcome is that of [`run`] to the bit.
///
/// ```
/// use sojourn_run::run::{Stepper, run};
/// use sojourn_scenario::{document::Document, model::Scenario};
/// use sojourn_units::{Span, Time};
/// use std::sync::Arc;
///
/// let text = "flows = [\"cubic\"]\n[run]\nduration = \"2s\"\n";
/// let scenario = Scenario::from_document(&Document::parse(text, "lab.toml")?)?;
/// let mut stepper = Stepper::new(Arc::new(scenario.resolve()?), 0)?;
/// let link = stepper.bottleneck().expect("a dumbbell has one");
/// let mut longest = 0;
/// while stepper.now() < stepper.end() {
///     stepper.advance(stepper.now() + Span::from_ms(10))?;
///     longest = longest.max(stepper.queue(link).account().backlog_packets());
/// }
/// assert!(longest > 10);
/// assert!(stepper.finish()? == run(&scenario, 0)?);
/// # Ok::<(), sojourn_scenario::LabError>(())
/// ```
pub struct Stepper {
    scenario: Arc<Resolved>,
    running: Running<NoTrace>,
}

impl Stepper {
    /// One replication of a scenario, at time zero.
    ///
    /// # Errors
    /// As [`run`].
    pub fn new(scenario: Arc<Resolved>, replication: u64) -> Result<Stepper, LabError> {
        let compiled = compile(&scenario, replication)?;
        let running = Running::of(&scenario, replication, compiled, NoTrace)?;
        Ok(Stepper { scenario, running })
    }

    /// Runs everything before `to`, and at most up to the end. What happens at `to` itself comes with the next step.
    ///
    /// # Errors
    /// A bug of Sojourn; the run cannot go on then.
    pub fn advance(&mut self, to: Time) -> Result<(), LabError> {
        let to = to.min(self.end());
        let stop = AtomicBool::new(false);
        let watch = Watch {
            stop: &stop,
            reached: None,
        };
        self.running.advance(to, watch)
    }

    /// Runs what is left and reads the outcome.
    ///
    /// # Errors
    /// As [`Stepper::advance`].
    pub fn finish(mut self) -> Result<RunOutcome, LabError> {
        let stop = AtomicBool::new(false);
        let watch = Watch {
            stop: &stop,
            reached: None,
        };
        self.running.advance(Time::MAX, watch)?;
        let (outcome, _) = self.running.into_outcome()?;
        Ok(outcome)
    }

    /// The time up to which it has run.
    pub fn now(&self) -> Time {
        self.running.network.now()
    }

    /// When it ends.
    pub fn end(&self) -> Time {
        self.running.end
    }

    /// The link directions, in the order of their index.
    pub fn links(&self) -> &[LinkInfo] {
        &self.running.links
    }

    /// The flows, in the order of their index.
    pub fn flows(&self) -> &[FlowInfo] {
        &self.running.flows
    }

    /// The index of the first bottleneck.
    pub fn bottleneck(&self) -> Option<usize> {
        let bottleneck = |link: &LinkInfo| link.role == Role::Bottleneck;
        self.links().iter().position(bottleneck)
    }

    /// The queue of a link at the time up to which the run has come: what is due before that time is done, periodic updates included.
    ///
    /// # Panics
    /// If there is no such link.
    pub fn queue(&mut self, link: usize) -> &mut QueuePort {
        self.running.network.settle(link);
        self.running.network.port_mut(link)
    }

    /// The sender of a flow.
    ///
    /// # Panics
    /// If there is no such flow.
    pub fn sender(&mut self, flow: usize) -> &mut Endpoint {
        let sender = self.running.flows[flow].sender;
        self.running.network.agent_mut(sender)
    }
}

impl std::fmt::Debug for Stepper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stepper")
            .field("scenario", &self.scenario.name)
            .field("replication", &self.running.replication())
            .field("now", &self.now())
            .finish_non_exhaustive()
    }
}

/// A run under way. It stops wherever its caller wants to look, which changes nothing about it.
pub struct Running<T: Tracer> {
    of: RunOf,
    pub(crate) network: LabNetwork<T>,
    pub(crate) links: Vec<LinkInfo>,
    pub(crate) flows: Vec<FlowInfo>,
    groups: Vec<GroupInfo>,
    pub(crate) changes: VecDeque<LinkChange>,
    pub(crate) rates: Capacity,
    recorder: Recorder,
    batches: Batches,
    pub(crate) warmup: Time,
    pub(crate) end: Time,
    measuring: bool,
    slices: Slices,
}

/// What repeats a run.
struct RunOf {
    name: String,
    seed: u64,
    replication: u64,
}

impl RunOf {
    fn new(scenario: &Resolved, replication: u64) -> RunOf {
        RunOf {
            name: scenario.name.clone(),
            seed: scenario.run.seed,
            replication,
        }
    }
}

impl<T: Tracer> Running<T> {
    /// A run of a scenario that was compiled, at its beginning.
    ///
    /// # Errors
    /// If a flow cannot reach its receiver.
    pub fn of(
        scenario: &Resolved,
        replication: u64,
        compiled: Compiled,
        tracer: T,
    ) -> Result<Running<T>, LabError> {
        let Compiled {
            network,
            links,
            flows,
            groups,
            changes,
            slowest: _,
        } = compiled;
        let rates = Capacity::new(&links, &network.links);
        let network = Network::build(network, tracer);
        let network = network.map_err(|error| build_error(scenario, &error))?;
        let recorder = Recorder::new(scenario, &network, &links, &flows)?;
        let batches = Batches::new(scenario, &links, &flows);
        Ok(Running {
            of: RunOf::new(scenario, replication),
            network,
            links,
            flows,
            groups,
            changes: changes.into(),
            rates,
            recorder,
            batches,
            warmup: Time::ZERO + scenario.run.warmup(),
            end: Time::ZERO + scenario.run.duration,
            measuring: false,
            slices: Slices::default(),
        })
    }

    /// Goes on until `until`, which is not part of it, or until the end if that is earlier.
    ///
    /// # Errors
    /// If it was stopped, and where a bug of Sojourn stopped it.
    pub fn advance(&mut self, until: Time, watch: Watch<'_>) -> Result<(), LabError> {
        self.advance_in(until, (watch, None))
    }

    /// As [`Running::advance`], with the host of components from outside.
    fn advance_in(
        &mut self,
        until: Time,
        (watch, host): (Watch<'_>, Option<&dyn Host>),
    ) -> Result<(), LabError> {
        let stopped = || watch.stop.load(Ordering::Relaxed);
        loop {
            // What happens next, in this order at one instant: a change, the end of the warm-up, a batch, a sample, the end.
            let change = self.changes.front().map_or(Time::MAX, |change| change.at);
            let start = if self.measuring {
                Time::MAX
            } else {
                self.warmup
            };
            let next = change.min(start).min(self.recorder.next());
            let next = next.min(self.batches.next()).min(self.end);
            let slice = self.slices.end(self.network.now()).min(next).min(until);
            let arrived = caught(&self.of, &mut self.network, |network| {
                network.run_before_unless(slice, &stopped)
            })?;
            if !arrived || stopped() {
                return Err(interrupted(self.network.now()));
            }
            if let Some(reached) = watch.reached {
                reached.store(self.network.now().as_ps(), Ordering::Relaxed);
            }
            self.slices
                .adapt(self.network.census().hops, self.links.len());
            if let Some(host) = host {
                host.breathe();
            }
            if slice >= until {
                return Ok(());
            }
            if slice < next {
                continue;
            }
            if next == change && change < self.end {
                if let Some(change) = self.changes.pop_front() {
                    self.apply(&change)?;
                }
            } else if next == start {
                self.start_measuring(next);
            } else if next == self.batches.next() && next < self.end {
                self.batches.sample(&mut self.network);
            } else if next == self.recorder.next() && next < self.end {
                self.recorder.sample(&mut self.network, &self.rates);
            } else {
                return Ok(());
            }
        }
    }

    /// Makes a timed change of a link.
    fn apply(&mut self, change: &LinkChange) -> Result<(), LabError> {
        let (network, rates) = (&mut self.network, &mut self.rates);
        if let Some(rate) = change.rate {
            network.set_rate(change.link, rate);
            rates.set_rate(change.link, change.at, rate);
        }
        if let Some(delay) = change.delay {
            network.set_delay(change.link, delay);
        }
        if let Some(queue) = &change.queue {
            let port = queue
                .build()
                .map_err(|error| LabError::from_queue(&error))?;
            network.set_queue(change.link, port);
            self.recorder.queue_changed(change.link);
        }
        if let Some(state) = change.state {
            network.set_state(change.link, state);
            rates.set_state(change.link, change.at, state);
        }
        Ok(())
    }

    /// Its number among the replications.
    pub(crate) fn replication(&self) -> u64 {
        self.of.replication
    }

    fn start_measuring(&mut self, now: Time) {
        self.measuring = true;
        self.recorder
            .before_measuring(&mut self.network, &self.rates);
        self.batches.before_measuring(&mut self.network);
        self.network.start_measuring();
        self.rates.start_measuring(now);
        self.recorder.start_measuring(&self.network);
        self.batches.start_measuring(&mut self.network);
    }

    /// What came of it; it has to have arrived at its end.
    ///
    /// # Errors
    /// Where a bug of Sojourn stopped it.
    pub fn into_outcome(mut self) -> Result<(RunOutcome, T), LabError> {
        self.recorder.finish(&mut self.network, &self.rates);
        self.batches.finish(&mut self.network);
        let census = caught(&self.of, &mut self.network, LabNetwork::finish)?;
        let (network, links, flows) = (self.network, self.links, self.flows);
        let from = network.measuring_from();
        let outcome = RunOutcome {
            replication: self.of.replication,
            measured: self.end.since(from),
            census,
            queues: queues(&network, &links, &flows, &self.rates, self.end),
            flows: flow_outcomes(&network, &flows, from),
            receivers: receiver_outcomes(&network, &flows, &self.groups, self.end),
            series: self.recorder.into_series(),
            batches: self.batches.into_outcome(),
        };
        Ok((outcome, network.into_tracer()))
    }
}

/// Does a step of a run; a panic in it becomes an error that says everything that repeats it. A component from outside ends a run
/// that it makes impossible by unwinding with the error.
fn caught<T: Tracer, R>(
    of: &RunOf,
    network: &mut LabNetwork<T>,
    step: impl FnOnce(&mut LabNetwork<T>) -> R,
) -> Result<R, LabError> {
    // After a panic only the clock is read, and the network goes.
    catch_unwind(AssertUnwindSafe(|| step(network)))
        .map_err(|panic| failed(of, Some(network.now()), panic))
}

/// The error of a run that was unwound: the one that it was unwound with, or else that of a bug.
fn failed(of: &RunOf, at: Option<Time>, panic: Box<dyn Any + Send>) -> LabError {
    match panic.downcast::<LabError>() {
        Ok(error) => *error,
        Err(panic) => bug(of, at, &panic_text(&*panic)),
    }
}

/// Lengths of simulated time after which a run stops for a moment and looks whether it is to end: packets that run ahead need
/// no event, and do so up to the next stop. A stop changes nothing.
#[derive(Clone, Copy)]
struct Slices {
    length: Span,
    longest: Span,
    /// Packet-hops up to the last stop.
    hops: u64,
}

impl Slices {
    const SHORTEST: Span = Span::from_us(1);
    /// Packet-hops from one stop to the next: many enough for stops to cost nothing, and far fewer than a second's worth.
    const HOPS: u64 = 20_000;
    /// More of them for each link, since a stop looks at every one.
    const HOPS_PER_LINK: u64 = 20;

    fn end(&self, now: Time) -> Time {
        now.checked_add(self.length).unwrap_or(Time::MAX)
    }

    /// Makes slices longer or shorter. The slices so far had `hops` packet-hops.
    fn adapt(&mut self, hops: u64, links: usize) {
        let links = u64::try_from(links).unwrap_or(u64::MAX);
        let wanted = Slices::HOPS.saturating_add(links.saturating_mul(Slices::HOPS_PER_LINK));
        // Hops are counted anew when measuring begins.
        let passed = hops.checked_sub(self.hops).unwrap_or(hops);
        self.hops = hops;
        if passed < wanted {
            self.length = (self.length * 2).min(self.longest);
        } else if passed / 4 > wanted {
            self.length = (self.length / 2).max(Slices::SHORTEST);
        }
    }
}

impl Default for Slices {
    fn default() -> Slices {
        Slices {
            length: Span::from_ms(10),
            longest: Span::from_secs(10),
            hops: 0,
        }
    }
}

/// The error of a run that was stopped.
fn interrupted(at: Time) -> LabError {
    let at = at.since(Time::ZERO);
    let problem = format!("interrupted at simulated time {at}");
    LabError::new(LabErrorKind::Interrupted, problem)
}

/// The error of a run that a bug of Sojourn stopped.
fn bug(of: &RunOf, at: Option<Time>, text: &str) -> LabError {
    let at = at.map_or_else(String::new, |time| {
        format!(" at simulated time {}", time.since(Time::ZERO))
    });
    LabError::new(
        LabErrorKind::Bug,
        format!(
            "a bug in Sojourn {} stopped replication {} of scenario {:?} (seed {}){at}: {text}",
            env!("CARGO_PKG_VERSION"),
            of.replication,
            of.name,
            of.seed
        ),
    )
    .remedy("please report it with the scenario and this message")
}

/// What `run` gives; a panic in it is the error about a bug of Sojourn.
///
/// # Errors
/// That of `run`, and where it panics.
pub fn guarded<T>(
    scenario: &Resolved,
    replication: u64,
    run: impl FnOnce() -> Result<T, LabError>,
) -> Result<T, LabError> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let of = RunOf::new(scenario, replication);
        Err(failed(&of, None, panic))
    })
}

/// What a panic says.
fn panic_text(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_else(|| "a panic without a message".to_owned())
}

fn build_error(scenario: &Resolved, error: &BuildError) -> LabError {
    let kind = match error {
        BuildError::Duplicate { .. } => LabErrorKind::Contradiction,
        _ => LabErrorKind::Unreachable,
    };
    LabError::new(kind, error.to_string()).in_file(&scenario.name)
}

fn queues<T: Tracer>(
    network: &LabNetwork<T>,
    links: &[LinkInfo],
    flows: &[FlowInfo],
    rates: &Capacity,
    end: Time,
) -> Vec<QueueOutcome> {
    let mut outcomes = Vec::new();
    for (link, index) in links.iter().zip(0..) {
        if !link.observed {
            continue;
        }
        let account = network.port(index).account();
        let (sent_packets, sent_bytes) = network.sent(index);
        let sent_bytes = sent_bytes + sent_packets * u64::from(link.link_header);
        let mut drops_by_reason = account.drops_by_reason;
        drops_by_reason[DropReason::Wire.index()] += network.lost(index);
        outcomes.push(QueueOutcome {
            link: link.name.clone(),
            bottleneck: link.role == Role::Bottleneck,
            discipline: link.discipline.name,
            release: link.resolved.release,
            rate: rates.rate(index),
            totals: account.measured(),
            sent_bytes,
            sent_packets,
            capacity_bits: rates.bits(index, end),
            drops_by_reason,
            marks_by_reason: account.marks_by_reason,
            sojourn: account.sojourn(),
            sojourn_sum: account.sojourn_sum,
            sojourn_min: account.sojourn_min(),
            sojourn_max: account.sojourn_max,
            backlog_mean: account.backlog_mean(),
            backlog_max: (account.backlog_max_packets, account.backlog_max_bytes),
            per_flow: by_flow(account.flows.as_deref().unwrap_or_default(), flows),
            loss_events: account.losses.events,
            loss_event_flows: account.losses.flows,
            seen_flows: seen(account.flows.as_deref().unwrap_or_default()),
        });
    }
    outcomes
}

/// Flows of the network that the queue was handed packets of, or dropped packets of that it had before.
fn seen(counts: &[FlowAccount]) -> u64 {
    let seen = counts
        .iter()
        .filter(|flow| flow.received > 0 || flow.dropped > 0)
        .count();
    u64::try_from(seen).unwrap_or(u64::MAX)
}

/// Counts of the flows of the network, by flow of the scenario.
fn by_flow(counts: &[FlowAccount], flows: &[FlowInfo]) -> Vec<FlowAccount> {
    let mut all = Vec::with_capacity(flows.len());
    for flow in flows {
        // What follows has not been seen.
        let own = flow.network.start.min(counts.len())..flow.network.end.min(counts.len());
        let Some((first, rest)) = counts[own].split_first() else {
            break;
        };
        let mut sum = *first;
        for other in rest {
            sum.received += other.received;
            sum.dropped += other.dropped;
            sum.marked += other.marked;
            sum.dequeued += other.dequeued;
            sum.dequeued_bytes += other.dequeued_bytes;
            sum.sojourn_sum += other.sojourn_sum;
        }
        all.push(sum);
    }
    all
}

/// The least time in which each transfer of a flow could have arrived: propagation, and transmission of all its bytes with their
/// headers at the slowest link of the path.
struct Ideal {
    one_way: Span,
    rate: Rate,
    mss: u64,
    headers: u64,
}

impl Ideal {
    fn of(flow: &FlowInfo) -> Ideal {
        let parameter = |name: &str| {
            let mut pairs = flow.parts.iter().flat_map(|(_, resolved)| &resolved.pairs);
            let (_, text) = pairs.find(|(key, _)| *key == name)?;
            text.parse().ok().map(sojourn_units::Bytes::get)
        };
        Ideal {
            one_way: flow.base_rtt / 2,
            rate: flow.slowest,
            mss: match flow.kind == UDP_RR {
                // A response is one datagram.
                true => u64::MAX,
                false => parameter("mss").unwrap_or(1460).max(1),
            },
            headers: parameter("headers").unwrap_or(0) + u64::from(flow.link_header),
        }
    }

    /// A page has none: it depends on what its objects wait for.
    fn time(&self, transfer: &Transfer) -> Option<Span> {
        let segments = transfer.bytes.div_ceil(self.mss);
        let bytes = transfer
            .bytes
            .saturating_add(segments.saturating_mul(self.headers));
        let one_way = self.one_way + self.rate.serialization(bytes);
        match transfer.kind {
            TransferKind::Flow => Some(one_way),
            TransferKind::Response => Some(one_way + self.one_way),
            TransferKind::Page => None,
        }
    }
}

/// The transfers of a workload, or the responses of `udp_rr`, that were asked for from `from` on.
fn transfers_of<T: Tracer>(
    network: &LabNetwork<T>,
    flow: &FlowInfo,
    from: Time,
) -> Vec<TransferOutcome> {
    let receiver = flow.receiver.map(|receiver| network.agent(receiver));
    let all = workload::transfers(network.agent(flow.sender), receiver);
    let ideal = Ideal::of(flow);
    all.into_iter()
        .filter(|transfer| transfer.asked >= from)
        .map(|transfer| TransferOutcome {
            kind: transfer.kind,
            bytes: transfer.bytes,
            asked: transfer.asked,
            completed: transfer.completed,
            ideal: ideal.time(&transfer),
        })
        .collect()
}

fn flow_outcomes<T: Tracer>(
    network: &LabNetwork<T>,
    flows: &[FlowInfo],
    from: Time,
) -> Vec<FlowOutcome> {
    let outcomes = flows.iter().map(|flow| flow_outcome(network, flow, from));
    let mut outcomes: Vec<FlowOutcome> = outcomes.collect();
    // Jitter is a matter of one receiver.
    for (flow, outcome) in flows.iter().zip(&mut outcomes) {
        let all = flow.own.clone().flat_map(|flow| network.receivers(flow));
        outcome.jitter_sum += all.map(|receiver| receiver.counts.jitter_sum).sum::<u128>();
    }
    outcomes
}

/// The counts of a flow there, and back; of a session of a group, those of the source and those of the members.
fn both_ways<T: Tracer>(network: &LabNetwork<T>, flow: &FlowInfo) -> [FlowCounts; 2] {
    let way = |i: usize, flows: Range<usize>| {
        FlowCounts::together(flows.map(|flow| network.flow(flow)[i]))
    };
    match flow.network.len() {
        1 => network.flow(flow.network.start).map(FlowCounts::clone),
        _ if flow.own.len() < flow.network.len() => {
            // What members send to their group.
            let others = flow.own.end..flow.network.end;
            [way(0, flow.own.clone()), way(0, others)]
        }
        _ => [0, 1].map(|i| way(i, flow.network.clone())),
    }
}

fn flow_outcome<T: Tracer>(network: &LabNetwork<T>, flow: &FlowInfo, from: Time) -> FlowOutcome {
    let [counts, replies] = both_ways(network, flow);
    let sender = network.agent(flow.sender).sender_report();
    let receiver = match flow.receiver {
        Some(receiver) => network.agent(receiver).receiver_report(),
        None => media::goodput(network, flow),
    };
    let sent = sender.unwrap_or_default();
    let added = u64::from(flow.link_header);
    FlowOutcome {
        name: flow.name.clone(),
        label: flow.label.clone(),
        kind: flow.kind.clone(),
        release: flow.release.clone(),
        forward: flow.forward,
        base_rtt: flow.base_rtt,
        sent_packets: counts.sent_packets,
        sent_bytes: counts.sent_bytes + counts.sent_packets * added,
        delivered_packets: counts.delivered_packets,
        delivered_bytes: counts.delivered_bytes + counts.delivered_packets * added,
        dropped_packets: counts.dropped_packets,
        marked_packets: counts.marked_packets,
        // A passive sink hands every datagram on, whatever arrived before it.
        goodput_bytes: receiver.map_or_else(
            || payload(counts.delivered_bytes, counts.delivered_packets, flow),
            |r| r.goodput_bytes,
        ),
        delay_min: counts.delay_min(),
        delay: counts.delays,
        delay_sum: counts.delay_sum,
        delay_max: counts.delay_max,
        replies: replies.delivered_packets,
        replies_delay_sum: replies.delay_sum,
        jitter_sum: counts.jitter_sum,
        retransmissions: sent.retransmissions,
        timeouts: sent.timeouts,
        reductions: network.agent(flow.sender).reductions(),
        rtt: (
            sent.rtt_sum_ps,
            sent.rtt_count,
            sent.rtt_min,
            sent.rtt_max.unwrap_or(Span::ZERO),
        ),
        started: sent.started.unwrap_or(flow.start),
        completed: sent.completed,
        transfers: transfers_of(network, flow, from),
        exchanges: (network.agent(flow.sender).requester())
            .map(|requester| requester.counts(from, network.now())),
        playback: workload::playback(
            flow.receiver.map(|receiver| network.agent(receiver)),
            network.now(),
        ),
        media: media::of_flow(network, flow),
        last_active: std::iter::once(flow.sender)
            .chain(flow.receiver)
            .filter_map(|agent| network.agent(agent).last_active())
            .max(),
        reception: None,
    }
}

/// What each member of a group got of each flow to it, in the order of the flows.
fn receiver_outcomes<T: Tracer>(
    network: &LabNetwork<T>,
    flows: &[FlowInfo],
    groups: &[GroupInfo],
    end: Time,
) -> Vec<FlowOutcome> {
    let mut outcomes = Vec::new();
    for flow in flows {
        let Some(group) = flow.group.and_then(|group| groups.get(group)) else {
            continue;
        };
        let receivers = network.receivers(flow.network.start);
        for ((member, receiver), number) in group.members.iter().zip(receivers).zip(0_usize..) {
            let agent = flow.members.get(number).copied();
            let srm = agent.and_then(|agent| network.agent(agent).srm_counts());
            let media = media::of_member(network, flow, number);
            let counts = &receiver.counts;
            let from_waypoint = &receiver.from_waypoint;
            outcomes.push(FlowOutcome {
                name: format!("{} at {}", flow.name, member.node),
                label: format!("{} at {}", flow.label, member.node),
                kind: flow.kind.clone(),
                release: flow.release.clone(),
                forward: flow.forward,
                base_rtt: flow.base_rtt,
                sent_packets: counts.delivered_packets + receiver.lost_packets,
                sent_bytes: 0,
                delivered_packets: counts.delivered_packets,
                delivered_bytes: counts.delivered_bytes
                    + counts.delivered_packets * u64::from(flow.link_header),
                dropped_packets: receiver.lost_packets,
                marked_packets: counts.marked_packets,
                goodput_bytes: media.as_ref().map_or_else(
                    || payload(counts.delivered_bytes, counts.delivered_packets, flow),
                    |(_, got)| got.goodput_bytes,
                ),
                delay: counts.delays.clone(),
                delay_sum: counts.delay_sum,
                delay_min: counts.delay_min(),
                delay_max: counts.delay_max,
                replies: 0,
                replies_delay_sum: 0,
                jitter_sum: counts.jitter_sum,
                retransmissions: 0,
                timeouts: 0,
                reductions: None,
                rtt: (0, 0, None, Span::ZERO),
                started: flow.start,
                completed: None,
                transfers: Vec::new(),
                exchanges: None,
                playback: None,
                media: media.map(|(media, _)| media),
                last_active: None,
                reception: Some(Reception {
                    flow: flow.name.clone(),
                    receiver: member.node.clone(),
                    member: member.present(network.measuring_from(), end),
                    passed_packets: from_waypoint.packets,
                    passed_delay_sum: from_waypoint.sum,
                    passed_delay: from_waypoint.delays.clone(),
                    srm: srm.unwrap_or_default(),
                }),
            });
        }
    }
    outcomes
}

/// Bytes without headers.
fn payload(bytes: u64, packets: u64, flow: &FlowInfo) -> u64 {
    let header = flow
        .parts
        .iter()
        .flat_map(|(_, resolved)| &resolved.pairs)
        .find(|(key, _)| *key == "headers")
        .and_then(|(_, text)| text.parse::<sojourn_units::Bytes>().ok())
        .map_or(0, sojourn_units::Bytes::get);
    bytes.saturating_sub(packets * header)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_results::metrics::{Subject, find};
    use sojourn_scenario::document::Document;
    use sojourn_scenario::model::Warmup;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn the_end_of_the_warm_up_does_not_show_in_time_series() {
        let text = "flows = [\"2*reno\", \"cbr 1Mbps\"]\n[run]\nduration = \"6s\"\nwarmup = \"0s\"\n\
            [topology]\nrate = \"2Mbps\"\nrtt = \"40ms\"\nqueue = \"droptail limit=10p\"\n\
            [series]\nrecord = \"all\"\nstep = \"500ms\"\n";
        let document = Document::parse(text, "series.toml").unwrap();
        let mut scenario = Scenario::from_document(&document).unwrap();
        let whole = run(&scenario, 0).unwrap().series;
        // On a sample, between two, and in the first step.
        for warmup in [4000, 3900, 100] {
            scenario.run.warmup = Warmup::Of(Span::from_ms(warmup));
            let series = run(&scenario, 0).unwrap().series;
            assert_eq!(series.len(), whole.len());
            for (one, other) in series.iter().zip(&whole) {
                assert_eq!((&one.of, &one.quantity), (&other.of, &other.quantity));
                let same = one.values.len() == other.values.len()
                    && one.values.iter().zip(&other.values).all(|(a, b)| {
                        a.to_bits() == b.to_bits() || (a - b).abs() <= 1e-9 * b.abs()
                    });
                assert!(
                    same,
                    "{} {}: {:?} {:?}",
                    one.of, one.quantity, one.values, other.values
                );
            }
        }
    }

    /// Packets that run ahead do so up to the next stop, which here comes at once or never.
    #[test]
    fn stops_of_a_run_change_nothing() {
        let graph = "[topology]\nkind = \"graph\"\n[[links]]\nfrom = \"a\"\nto = \"b\"\nrate = \"5Mbps\"\n\
            [[links]]\nfrom = \"b\"\nto = \"c\"\nrate = \"3Mbps\"\nqueue = \"fq_codel\"\n";
        let to_c = "from = \"a\", to = \"c\"";
        let cases = [
            "flows = [\"udp_rr\", \"2*cubic\"]\n".to_owned(),
            "flows = [\"udp_rr\"]\n".to_owned(),
            "flows = [\"2*web\", \"cbr 1Mbps\"]\n[topology]\nqueue = \"drr each=(codel)\"\nrate = \"2Mbps\"\n".to_owned(),
            "dialect = \"ns2\"\nflows = [\"2*reno\", \"onoff rate=2Mbps dialect=exact\"]\n[topology]\nrate = \"2Mbps\"\nqueue = \"red\"\n"
                .to_owned(),
            "flows = [\"cbr 9Mbps\"]\n[topology]\nkind = \"chain\"\nhops = 5\n".to_owned(),
            format!("flows = [{{ kind = \"reno\", {to_c} }}]\n{graph}"),
            format!(
                "flows = [{{ kind = \"reno\", {to_c} }}, {{ kind = \"poisson\", rate = \"2Mbps\", {to_c} }}]\n{graph}\
                 [[impairments]]\nlink = \"a-b\"\nloss = \"1%\"\njitter = \"2ms\"\n\
                 [[changes]]\nat = \"2s\"\nlink = \"b-c\"\nrate = \"1Mbps\"\n"
            ),
        ];
        for text in cases {
            let text = format!(
                "{text}[run]\nduration = \"4s\"\nwarmup = \"1s\"\nstart_spread = \"300ms\"\n"
            );
            let scenario = Scenario::from_document(&Document::parse(&text, "t.toml").unwrap());
            let scenario = scenario.unwrap_or_else(|error| panic!("{error}: {text}"));
            let never = AtomicBool::new(false);
            let with = |length| {
                let slices = Slices {
                    length,
                    longest: length,
                    hops: 0,
                };
                let watch = Watch {
                    stop: &never,
                    reached: None,
                };
                run_in_slices(
                    &scenario.resolve().unwrap(),
                    0,
                    |_| NoTrace,
                    (watch, None),
                    slices,
                )
                .unwrap()
                .0
            };
            let whole = with(Span::from_secs(4));
            assert!(whole.census.delivered > 100, "{text}");
            for length in [Span::from_us(100), Span::from_us(777), Span::from_ms(50)] {
                assert!(with(length) == whole, "{length}: {text}");
            }
        }
    }

    #[test]
    fn a_run_in_steps_has_the_outcome_of_one_without_them() {
        let cases = [
            "flows = [\"2*cubic\", \"cbr 1Mbps\"]\n[topology]\nrate = \"4Mbps\"\nqueue = \"pi2\"\n",
            "flows = [\"bbr\"]\n[topology]\nrate = \"4Mbps\"\nqueue = \"fq_codel\"\n[series]\nrecord = \"backlog,state\"\n\
             [[changes]]\nat = \"1s\"\nlink = \"left-right\"\nrate = \"1Mbps\"\n",
        ];
        for text in cases {
            let text = format!("{text}[run]\nduration = \"3s\"\nwarmup = \"1s\"\n");
            let scenario = Scenario::from_document(&Document::parse(&text, "t.toml").unwrap());
            let resolved = Arc::new(scenario.unwrap().resolve().unwrap());
            let whole = run_resolved(&resolved, 3).unwrap();
            for step in [Span::from_us(137), Span::from_ms(10), Span::from_secs(2)] {
                let mut stepper = Stepper::new(Arc::clone(&resolved), 3).unwrap();
                let mut steps = 0;
                while stepper.now() < stepper.end() {
                    let to = stepper.now() + step;
                    stepper.advance(to).unwrap();
                    assert_eq!(stepper.now(), to.min(stepper.end()));
                    let link = stepper.bottleneck().expect("a dumbbell has one");
                    let _ = stepper.queue(link).account().backlog_packets();
                    steps += 1;
                }
                assert_eq!(steps, Span::from_secs(3).as_ps().div_ceil(step.as_ps()));
                assert!(stepper.finish().unwrap() == whole, "{step}: {text}");
            }
        }
    }

    #[test]
    fn a_run_tells_how_far_it_is() {
        let text = "flows = [\"cubic\"]\n[run]\nduration = \"20s\"\nreplications = 1\n";
        let scenario = Scenario::from_document(&Document::parse(text, "t.toml").unwrap()).unwrap();
        let (never, reached) = (AtomicBool::new(false), AtomicU64::new(0));
        let watch = Watch {
            stop: &never,
            reached: Some(&reached),
        };
        run_watched(&scenario.resolve().unwrap(), 0, watch).unwrap();
        assert_eq!(reached.into_inner(), Span::from_secs(20).as_ps());
    }

    #[test]
    fn a_run_ends_when_it_is_told_to_even_if_nothing_needs_an_event() {
        for flow in ["udp_rr", "cbr 1Mbps", "4*cubic"] {
            let text =
                format!("flows = [\"{flow}\"]\n[run]\nduration = \"200h\"\nreplications = 1\n");
            let scenario =
                Scenario::from_document(&Document::parse(&text, "t.toml").unwrap()).unwrap();
            let stop = AtomicBool::new(false);
            let error = std::thread::scope(|scope| {
                let run = scope.spawn(|| run_unless(&scenario.resolve().unwrap(), 0, &stop));
                std::thread::sleep(std::time::Duration::from_millis(100));
                stop.store(true, Ordering::Relaxed);
                run.join().unwrap().unwrap_err()
            });
            assert_eq!(error.kind(), LabErrorKind::Interrupted, "{flow}");
        }
    }

    fn outcome(text: &str) -> RunOutcome {
        let document = Document::parse(text, "lab.toml").unwrap();
        run(&Scenario::from_document(&document).unwrap(), 0).unwrap()
    }

    #[test]
    fn what_the_wire_loses_is_counted_by_link_and_not_by_its_queue() {
        for at in ["wire", "queue"] {
            let outcome = outcome(&format!(
                "flows = [\"cbr 1Mbps\"]\n[run]\nduration = \"9s\"\nwarmup = \"2s\"\n\
                 [topology]\nrate = \"2Mbps\"\nrtt = \"20ms\"\n[[impairments]]\nlink = \"left-right\"\nloss = \"10%\"\nloss_at = \"{at}\"\n"
            ));
            let queue = outcome.queues.iter().find(|queue| queue.bottleneck);
            let queue = queue.expect("a dumbbell has one");
            let lost = queue.drops_by_reason[DropReason::Wire.index()];
            let flow = &outcome.flows[0];
            assert_eq!(lost, flow.dropped_packets, "{at}");
            assert!(lost > 0 && queue.totals.dropped_before == 0, "{at}");
        }
    }

    #[test]
    fn percentiles_and_shares_stay_within_what_there_was() {
        let outcome = outcome(
            "flows = [\"cbr 4Mbps size=1000B\"]\n[run]\nduration = \"9s\"\nwarmup = \"1s\"\n\
             [topology]\nrate = \"2Mbps\"\nrtt = \"20ms\"\nqueue = \"droptail limit=7p\"\n",
        );
        let queues: Vec<&QueueOutcome> = outcome.queues.iter().filter(|q| q.bottleneck).collect();
        let flows: Vec<&FlowOutcome> = outcome.flows.iter().collect();
        let queues = Subject::Queues(queues, outcome.measured);
        let flows = Subject::Flows(flows, outcome.measured, outcome.active());
        let value = |name: &str, subject: &Subject<'_>| {
            let (metric, _) = find(name, None).expect(name);
            metric.value(subject).expect(name)
        };
        for (name, subject) in [("sojourn_s", &queues), ("delay_s", &flows)] {
            let most = value(&format!("{name}_max"), subject);
            for share in ["p50", "p95", "p99"] {
                assert!(value(&format!("{name}_{share}"), subject) <= most, "{name}");
            }
        }
        assert!(value("utilization_ratio", &queues) <= 1.0);
    }

    fn bottlenecks(outcome: &RunOutcome) -> Vec<&str> {
        let queues = outcome.queues.iter().filter(|queue| queue.bottleneck);
        queues.map(|queue| queue.link.as_str()).collect()
    }

    #[test]
    fn the_bottleneck_of_a_graph_is_the_slowest_link_on_the_way_unless_links_say_so() {
        let graph = |slow: &str, last: &str, flows: &str| {
            outcome(&format!(
                "flows = [{flows}]\n[run]\nduration = \"3s\"\nwarmup = \"0s\"\n[topology]\nkind = \"graph\"\n\
                 [[links]]\nfrom = \"a\"\nto = \"b\"\nrate = \"10Mbps\"\n\
                 [[links]]\nfrom = \"c\"\nto = \"b\"\nrate = \"2Mbps\"\n{slow}\
                 [[links]]\nfrom = \"c\"\nto = \"d\"\nrate = \"2Mbps\"\n{last}"
            ))
        };
        let one = "{ kind = \"cbr\", rate = \"3Mbps\", from = \"a\", to = \"d\" }";
        let two =
            format!("{one}, {{ kind = \"cbr\", rate = \"1Mbps\", from = \"a\", to = \"b\" }}");
        // Of two that are as slow, the first on the way.
        assert_eq!(bottlenecks(&graph("", "", one)), ["b-c"]);
        assert_eq!(bottlenecks(&graph("", "", &two)), ["b-c"]);
        let back =
            format!("{one}, {{ kind = \"cbr\", rate = \"1Mbps\", from = \"d\", to = \"a\" }}");
        assert_eq!(bottlenecks(&graph("", "", &back)), ["b-c", "d-c"]);
        assert_eq!(
            bottlenecks(&graph("bottleneck = false\n", "", one)),
            ["c-d"]
        );
        assert_eq!(bottlenecks(&graph("", "bottleneck = true\n", one)), ["c-d"]);
        let lossy = graph("", "", one);
        let bottleneck = lossy.queues.iter().find(|queue| queue.bottleneck).unwrap();
        assert!(bottleneck.sent_bytes > 200_000, "{}", bottleneck.sent_bytes);
    }

    #[test]
    fn a_change_at_the_very_beginning_is_in_time_for_the_first_packet() {
        let outcome = outcome(
            "flows = [\"cbr packets=10p interval=1ms start=0s\"]\n[run]\nduration = \"1s\"\nwarmup = \"0s\"\n\
             deterministic = true\n[topology]\nrate = \"10Mbps\"\nrtt = \"40ms\"\n\
             [[changes]]\nat = \"0s\"\nlink = \"left-right\"\ndelay = \"1ms\"\nrate = \"80Mbps\"\n",
        );
        let flow = &outcome.flows[0];
        assert_eq!(flow.delay_min, Some(flow.delay_max), "all take as long");
        let bottleneck = outcome
            .queues
            .iter()
            .find(|queue| queue.bottleneck)
            .unwrap();
        assert_eq!(bottleneck.rate, Rate::mbps(80));
    }

    #[test]
    fn what_is_sent_at_the_very_beginning_counts_without_a_warm_up() {
        let outcome = outcome(
            "flows = [\"cbr packets=10p interval=1ms start=0s\"]\n[run]\nduration = \"1s\"\nwarmup = \"0s\"\n\
             deterministic = true\n[topology]\nrate = \"10Mbps\"\nrtt = \"10ms\"\n",
        );
        let flow = &outcome.flows[0];
        assert_eq!((flow.sent_packets, flow.delivered_packets), (10, 10));
        let bottleneck = outcome
            .queues
            .iter()
            .find(|queue| queue.bottleneck)
            .unwrap();
        assert_eq!(bottleneck.totals.received, 10);
        let first = &outcome
            .queues
            .iter()
            .find(|queue| queue.totals.received > 0)
            .unwrap();
        assert_eq!(first.sent_packets, 10);
    }

    #[test]
    fn a_run_that_is_unwound_with_an_error_ends_with_it() {
        let text = "flows = [\"cbr rate=1Mbps\"]\n[run]\nduration = \"10ms\"\nwarmup = \"0s\"\nstart_spread = \"0s\"\n";
        let scenario = Scenario::from_document(&Document::parse(text, "t.toml").unwrap());
        let scenario = scenario.unwrap().resolve().unwrap();
        let given = LabError::new(LabErrorKind::Plugin, "mine:Class: dequeue returned 7");
        let unwound =
            || -> Result<(), LabError> { std::panic::resume_unwind(Box::new(given.clone())) };
        assert_eq!(guarded(&scenario, 0, unwound), Err(given.clone()));
        assert_eq!(given.exit_status(), 2);
        let compiled = compile(&scenario, 0).unwrap();
        let mut network = Network::build(compiled.network, NoTrace).unwrap();
        let step = |_: &mut LabNetwork<NoTrace>| std::panic::resume_unwind(Box::new(given.clone()));
        assert_eq!(
            caught::<_, ()>(&RunOf::new(&scenario, 0), &mut network, step),
            Err(given.clone())
        );
    }

    #[test]
    fn a_panic_in_a_run_says_everything_that_repeats_it() {
        let text = "name = \"tiny\"\nflows = [\"cbr 1Mbps\"]\n[run]\nseed = 7\nduration = \"10ms\"\nwarmup = \"0s\"\nstart_spread = \"0s\"\n";
        let document = Document::parse(text, "tiny.toml").unwrap();
        let scenario = Scenario::from_document(&document).unwrap();
        let scenario = scenario.resolve().unwrap();
        let compiled = compile(&scenario, 3).unwrap();
        let mut network = Network::build(compiled.network, NoTrace).unwrap();
        let error = caught(&RunOf::new(&scenario, 3), &mut network, |network| {
            network.run_before(Time::ZERO + Span::from_ms(2));
            let now = network.now();
            assert!(now < Time::ZERO, "the sky falls");
        })
        .unwrap_err();
        let expected = format!(
            "a bug in Sojourn {} stopped replication 3 of scenario \"tiny\" (seed 7) at simulated time {}: the sky falls; \
             please report it with the scenario and this message",
            env!("CARGO_PKG_VERSION"),
            network.now().since(Time::ZERO)
        );
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.exit_status(), 101);
    }
}
