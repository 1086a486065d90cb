//! The benchmark cases: fixed networks whose cost per packet-hop is measured, beside the cheapest loop that moves packets
//! through one ring at all.
//!
//! This module builds and counts; the command measures time. A packet-hop is one packet carried over one link: queue,
//! serialization, propagation.

use crate::host::hosted;
use crate::network::LabNetwork;
use sojourn_queue::QueuePort;
use sojourn_queue::registry::{self, BuildContext, CatalogueEntry, DisciplineKind};
use sojourn_scenario::error::{LabError, LabErrorKind};
use sojourn_sim::trace::NoTrace;
use sojourn_sim::{
    AgentSpec, FlowSpec, ImpairmentSpec, LinkSpec, Network, NetworkSpec, Stream, Ties, TxRounding,
};
use sojourn_traffic::Endpoint;
use sojourn_traffic::flow::{FlowRequest, build_flow};
use sojourn_units::{Rate, Span, Spec, SpecError, Time};
use std::borrow::Cow;
use std::sync::Arc;

/// One case.
#[derive(Clone, Debug)]
pub struct Case {
    /// Name on the command line, such as `b3-64`.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Flows.
    pub flows: u32,
    /// Simulated time at which the case is defined.
    pub seconds: f64,
    /// What runs; CBR over UDP unless it is TCP.
    transport: Transport,
    /// Rate of the bottleneck.
    rate: Rate,
    /// Packets that the bottleneck holds.
    buffer: u64,
    /// Queue of the bottleneck, without its limit.
    queue: Cow<'static, str>,
    /// Congestion control of TCP flows; Reno's unless given.
    control: Option<Spec>,
}

/// What the flows of a case are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Transport {
    Cbr,
    NewReno,
    /// With selective acknowledgement, timestamps and delayed acknowledgements.
    Sack,
}

impl Case {
    /// The same case through another queue.
    #[must_use]
    pub fn through(&self, queue: &str) -> Case {
        Case {
            queue: Cow::Owned(queue.to_owned()),
            ..self.clone()
        }
    }

    /// The same case with another congestion control, such as `cubic beta=0.5`.
    ///
    /// # Errors
    /// If that is no name with parameters, or there is no such congestion control.
    pub fn controlled(&self, control: &str) -> Result<Case, LabError> {
        let spec: Spec = control.parse().map_err(LabError::from_spec)?;
        sojourn_cc::registry::required(&spec.name)
            .map_err(|error| LabError::new(LabErrorKind::UnknownName, error.to_string()))?;
        Ok(Case {
            control: Some(spec),
            ..self.clone()
        })
    }

    /// Whether a class of a module takes part.
    fn is_hosted(&self) -> bool {
        let control = self.control.as_ref().map_or("", |spec| &spec.name);
        self.queue.contains(':') || control.contains(':')
    }
}

/// What a discipline may cost: a case, and how many times DropTail's cost per packet-hop in it is the most.
///
/// AQMs are measured with 10 flows, schedulers with 100 and with 10 000. Classes of a module, which an interpreter runs, have bounds of
/// their own.
pub fn bounds(entry: &CatalogueEntry) -> &'static [(&'static str, f64)] {
    match entry.kind {
        DisciplineKind::Aqm if entry.name.contains(':') => &[("b1", 15.0)],
        DisciplineKind::Scheduler if entry.name.contains(':') => &[("b2-100", 50.0)],
        DisciplineKind::Aqm => &[("b1", 1.3)],
        DisciplineKind::Scheduler => &[("b2-100", 2.0), ("b2-10000", 3.0)],
    }
}

/// Every case, smallest first within its family.
pub fn cases() -> Vec<Case> {
    [udp_cases(), tcp_cases()].concat()
}

/// CBR flows that offer more than the link carries.
fn udp_cases() -> Vec<Case> {
    let (gig, ten_gig) = (Rate::gbps(1), Rate::gbps(10));
    let udp = |(name, about): (&'static str, &'static str), flows, seconds, rate, queue| Case {
        name,
        about,
        flows,
        seconds,
        transport: Transport::Cbr,
        rate,
        buffer: 1000,
        queue: Cow::Borrowed(queue),
        control: None,
    };
    let b1 = ("b1", "UDP, 10 CBR flows, 1.2 times 1 Gbps");
    let b2_100 = ("b2-100", "UDP, 100 CBR flows, 1.2 times 10 Gbps");
    let through_drr = ("b1-drr", "the same through DRR");
    vec![
        udp(b1, 10, 10.0, gig, "droptail"),
        udp(
            ("b1-codel", "the same through CoDel"),
            10,
            10.0,
            gig,
            "codel",
        ),
        udp(through_drr, 10, 10.0, gig, "drr quantum=1500B"),
        udp(b2_100, 100, 2.0, ten_gig, "droptail"),
        udp(
            ("b2-1000", "UDP, 1000 CBR flows"),
            1000,
            2.0,
            ten_gig,
            "droptail",
        ),
        udp(
            ("b2-10000", "UDP, 10 000 CBR flows"),
            10_000,
            2.0,
            ten_gig,
            "droptail",
        ),
        udp(
            ("b2-100000", "UDP, 100 000 CBR flows"),
            100_000,
            2.0,
            ten_gig,
            "droptail",
        ),
    ]
}

/// TCP flows that share a link.
fn tcp_cases() -> Vec<Case> {
    let gig = |name, about, flows, transport| Case {
        name,
        about,
        flows,
        seconds: 10.0,
        transport,
        rate: Rate::gbps(1),
        buffer: 2000,
        queue: Cow::Borrowed("droptail"),
        control: None,
    };
    let ten_gig = |case| Case {
        seconds: 2.0,
        rate: Rate::gbps(10),
        buffer: 20_000,
        ..case
    };
    let sack_4 = "TCP with SACK and timestamps, 4 flows, 1 Gbps";
    let sack_64 = "TCP with SACK and timestamps, 64 flows, 1 Gbps";
    let sack_1024 = "TCP with SACK and timestamps, 1024 flows, 10 Gbps";
    let (reno, sack) = (Transport::NewReno, Transport::Sack);
    vec![
        gig("b3-4", "TCP NewReno, 4 flows, 1 Gbps", 4, reno),
        gig("b3-64", "TCP NewReno, 64 flows, 1 Gbps", 64, reno),
        Case {
            queue: Cow::Borrowed("codel"),
            ..gig("b3-64-codel", "the same through CoDel", 64, reno)
        },
        gig("b3-4-sack", sack_4, 4, sack),
        gig("b3-64-sack", sack_64, 64, sack),
        ten_gig(gig(
            "b4-1024",
            "TCP NewReno, 1024 flows, 10 Gbps",
            1024,
            reno,
        )),
        ten_gig(gig("b4-1024-sack", sack_1024, 1024, sack)),
        Case {
            seconds: 1.0,
            rate: Rate::gbps(20),
            buffer: 40_000,
            ..gig(
                "b4-10240",
                "TCP NewReno, 10 240 flows, 20 Gbps",
                10_240,
                reno,
            )
        },
    ]
}

/// The case called `name`.
///
/// # Errors
/// If there is none.
pub fn find(name: &str) -> Result<Case, LabError> {
    let all = cases();
    let names: Vec<&str> = all.iter().map(|c| c.name).collect();
    all.iter().find(|c| c.name == name).cloned().ok_or_else(|| {
        LabError::new(
            LabErrorKind::UnknownName,
            format!("unknown benchmark case {name:?}"),
        )
        .nearest(sojourn_units::nearest(name, names.iter().copied()))
        .allowed("cases", names.join(", "))
    })
}

/// The entry of the catalogue that a queue is of, such as `codel target=10ms`.
///
/// # Errors
/// If there is none of that name, with the nearest one.
pub fn queue_entry(queue: &str) -> Result<&'static CatalogueEntry, LabError> {
    let name = queue.split_whitespace().next().unwrap_or_default();
    registry::required(name).map_err(|e| LabError::from_queue(&e))
}

/// What a run of a case counted.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Counted {
    /// Packet-hops.
    pub hops: u64,
    /// Events of links and endpoints, also those put off without a place in the event list.
    pub events: u64,
    /// Packets handed to the bottleneck.
    pub arrivals: u64,
    /// Packets dropped there.
    pub drops: u64,
}

/// A case, built and ready to run.
pub struct Prepared {
    network: LabNetwork<NoTrace>,
    hosted: bool,
}

impl Prepared {
    /// Runs up to the given simulated time.
    pub fn run_before(&mut self, until: Time) {
        match self.hosted {
            true => hosted(|| self.network.run_before(until)),
            false => self.network.run_before(until),
        }
    }

    /// What was counted so far.
    pub fn counted(&self) -> Counted {
        let census = self.network.census();
        let totals = self.network.port(0).account().total();
        Counted {
            hops: census.hops,
            events: census.events,
            arrivals: totals.received,
            drops: totals.dropped(),
        }
    }

    /// Ends the run: asserts that packets conserve.
    pub fn finish(mut self) {
        self.network.finish();
    }
}

/// Serves packets of 1500 bytes from access links of the same rate or, for TCP, ten times the bottleneck's.
///
/// # Errors
/// If a queue or flow of the case cannot be built: a fault of the case.
pub fn prepare(case: &Case) -> Result<Prepared, LabError> {
    let rate = case.rate;
    let (access_rate, bottleneck_delay) = match case.transport {
        Transport::Cbr => (rate, Span::from_ms(5)),
        _ => (Rate::gbps(10).max(rate), Span::from_ms(10)),
    };
    let mut spec = NetworkSpec {
        nodes: vec!["left".to_owned(), "right".to_owned()],
        links: Vec::new(),
        agents: Vec::new(),
        flows: Vec::new(),
        groups: Vec::new(),
        ties: Ties::DeparturesFirst,
        eager: false,
        seed: 1,
        replication: 0,
    };
    let flow_nodes: Arc<[(u32, u32)]> = (0..case.flows)
        .map(|flow| (2 + 2 * flow, 3 + 2 * flow))
        .collect();
    let mut link = |ends, rate, delay, queue: &str| {
        let link = link_spec(ends, rate, delay, (queue, &flow_nodes));
        link.map(|link| spec.links.push(link))
    };
    let unlimited = "droptail limit=1000000p";
    link((0, 1), rate, bottleneck_delay, &with_limit(case)?)?;
    link((1, 0), rate, bottleneck_delay, unlimited)?;
    let delay = Span::from_ms(1);
    for flow in 0..case.flows {
        let (source, sink) = (2 + 2 * flow, 3 + 2 * flow);
        for ends in [(source, 0), (0, source), (1, sink), (sink, 1)] {
            link(ends, access_rate, delay, unlimited)?;
        }
    }
    for flow in 0..case.flows {
        add_flow(&mut spec, case, flow)?;
    }
    let network = Network::build(spec, NoTrace)
        .map_err(|error| LabError::new(LabErrorKind::Bug, error.to_string()))?;
    Ok(Prepared {
        network,
        hosted: case.is_hosted(),
    })
}

/// The queue of the bottleneck, with its limit.
fn with_limit(case: &Case) -> Result<String, LabError> {
    let entry = queue_entry(&case.queue)?;
    let given: Spec = case.queue.parse().map_err(LabError::from_spec)?;
    let has = |key| entry.params.iter().any(|info| info.name == key) && given.get(key).is_none();
    let mut queue = case.queue.to_string();
    if has("limit") {
        queue += &format!(" limit={}p", case.buffer);
    } else if has("each") && has("classify") && !has("classes") {
        // Each flow has a queue with a limit of its own: together they hold as much as the others.
        let share = (case.buffer / u64::from(case.flows)).max(1);
        queue += &format!(" each=(droptail limit={share}p)");
    }
    // A shaper lets the link's rate through, so that the same packets are carried as through the others.
    let rate = case.rate;
    if has("rate") {
        queue += &format!(" rate={rate} burst=100kB");
    }
    if has("classes") {
        let half = Rate::bps(rate.as_bps() / 2);
        queue += &format!(" cburst=100kB classes={half}/{rate},{half}/{rate}");
    }
    Ok(queue)
}

/// A link between two nodes.
fn link_spec(
    ends: (u32, u32),
    rate: Rate,
    delay: Span,
    (queue, flow_nodes): (&str, &Arc<[(u32, u32)]>),
) -> Result<LinkSpec<QueuePort>, LabError> {
    let name = format!("link/{}-{}", ends.0, ends.1);
    let cx = BuildContext {
        per_flow: ends.0 == 0 && ends.1 == 1,
        flow_nodes: Arc::clone(flow_nodes),
        ..BuildContext::plain(1, &name)
    };
    let queue = queue
        .parse()
        .map_err(|error: SpecError| LabError::new(LabErrorKind::BadValue, error.to_string()))?;
    let port = registry::build_port(&queue, &cx).map_err(|e| LabError::from_queue(&e))?;
    Ok(LinkSpec {
        name,
        from: ends.0,
        to: ends.1,
        rate,
        delay,
        rounding: TxRounding::Carry,
        device_queue: 0,
        header: 0,
        opportunities: None,
        impairments: ImpairmentSpec::default(),
        port,
    })
}

/// Adds a flow between hosts of its own.
fn add_flow(
    spec: &mut NetworkSpec<QueuePort, Endpoint>,
    case: &Case,
    flow: u32,
) -> Result<(), LabError> {
    let (source, sink) = (2 + 2 * flow, 3 + 2 * flow);
    spec.nodes.push(format!("source-{flow}"));
    spec.nodes.push(format!("sink-{flow}"));
    // Load 1.2 in packets of 1500 bytes.
    let gap = Span::from_ps(
        u64::from(case.flows) * 12_000_000_000_000 / (case.rate.as_bps() / 1000) / 1200 * 1000,
    );
    let name = format!("flow/{flow}");
    let start = match case.transport {
        Transport::Cbr => Time::ZERO + gap / u64::from(case.flows) * u64::from(flow),
        _ => {
            let mut stream = Stream::derive(1, 0, &format!("{name}/start"));
            Time::from_ps(stream.below(Span::from_ms(100).as_ps()))
        }
    };
    let request = FlowRequest {
        flow,
        name: &name,
        dialect: None,
        seed: 1,
        replication: 0,
        start,
        stop: None,
        ns3_number: None,
        capacity: Rate::mbps(10),
        shares: 1,
    };
    let (kind, args) = flow_args(case, gap);
    let built = build_flow(&kind, &args, &request).map_err(|e| LabError::from_param(&e))?;
    let mut add = |role: &str, node, agent| {
        spec.agents.push(AgentSpec {
            name: format!("{name}/{role}"),
            node,
            agent,
        });
        u32::try_from(spec.agents.len() - 1).expect("fewer than 2^32 agents")
    };
    let sender = add("sender", source, built.sender);
    let receiver = built.receiver.map(|agent| add("receiver", sink, agent));
    spec.flows.push(FlowSpec {
        name,
        dscp: 0,
        source,
        sink,
        sender,
        receiver,
    });
    Ok(())
}

/// The kind of a flow and its parameters; CBR sends a packet every `gap`.
fn flow_args(case: &Case, gap: Span) -> (String, Vec<(String, String)>) {
    let gap = gap.to_string();
    let (kind, args): (&str, &[(&str, &str)]) = match case.transport {
        Transport::Sack => (
            "sack",
            &[
                ("mss", "1448B"),
                ("headers", "52B"),
                ("initial_window", "10"),
                ("min_rto", "200ms"),
                ("delayed_ack", "2"),
                ("timestamps", "true"),
            ],
        ),
        Transport::NewReno => (
            "newreno",
            &[
                ("mss", "1460B"),
                ("headers", "40B"),
                ("initial_window", "10"),
                ("min_rto", "200ms"),
                ("delayed_ack", "1"),
            ],
        ),
        Transport::Cbr => (
            "cbr",
            &[("size", "1500B"), ("headers", "0B"), ("interval", &gap)],
        ),
    };
    let owned = |&(key, value): &(&str, &str)| (key.to_owned(), value.to_owned());
    let mut args: Vec<_> = args.iter().map(owned).collect();
    let Some(control) = case
        .control
        .as_ref()
        .filter(|_| case.transport != Transport::Cbr)
    else {
        return (kind.to_owned(), args);
    };
    args.push(("recovery".to_owned(), kind.to_owned()));
    args.extend(control.pairs());
    (control.name.clone(), args)
}

/// The floor: one queue of packet records of 32 bytes in a ring, departures replayed before each arrival, tail drop at
/// 1000 packets, random gaps at load 1.2, and nothing else.
///
/// Gaps are drawn beforehand, because the logarithm costs as much as the queue, and there are enough of them that no
/// branch is foreseen: a sequence of 4096 is learned by the branch predictors of some processors (AMD Zen 3 then takes 7.7 ns
/// per packet, and 10.5 ns with any number of gaps from 16 384 to four million).
pub struct RingLoop {
    gaps: Vec<u32>,
    ring: Vec<Record>,
    head: usize,
    tail: usize,
    now: u64,
    free_at: u64,
    number: u64,
}

/// What the ring loop moves.
#[derive(Clone, Copy, Default)]
struct Record {
    arrived: u64,
    sent: u64,
    flow: u64,
    size: u64,
}

impl RingLoop {
    const SLOTS: usize = 1024;
    const LIMIT: usize = 1000;
    const GAPS: usize = 65_536;

    /// An empty ring, and the gaps drawn from `seed`.
    #[must_use]
    pub fn new(seed: u64) -> RingLoop {
        let mut stream = Stream::derive(seed, 0, "ring");
        let mut gap = || Span::round_from_secs(stream.exponential(10.0e-6)).as_ps();
        RingLoop {
            // 4.3 ms is more than 400 means: no gap is that long.
            gaps: (0..RingLoop::GAPS)
                .map(|_| u32::try_from(gap()).unwrap_or(u32::MAX))
                .collect(),
            ring: vec![Record::default(); RingLoop::SLOTS],
            head: 0,
            tail: 0,
            now: 0,
            free_at: 0,
            number: 0,
        }
    }

    /// Lets `arrivals` more packets arrive. Returns the packets sent meanwhile and the sum of their waits in picoseconds: a result
    /// that is used is not optimised away.
    pub fn run(&mut self, arrivals: u64) -> (u64, u64) {
        const BYTE: u64 = 8000;
        let (ring, gaps) = (
            &mut self.ring[..RingLoop::SLOTS],
            &self.gaps[..RingLoop::GAPS],
        );
        let (mut head, mut tail) = (self.head, self.tail);
        let (mut now, mut free_at, mut sent, mut waits) = (self.now, self.free_at, 0u64, 0u64);
        let last = self.number + arrivals;
        for number in self.number..last {
            let pick = usize::try_from(number).unwrap_or(0) & (RingLoop::GAPS - 1);
            now += u64::from(gaps[pick]);
            while head != tail {
                let record = ring[head & (RingLoop::SLOTS - 1)];
                let start = free_at.max(record.arrived);
                if start > now {
                    break;
                }
                waits += start - record.arrived;
                free_at = start + record.size * BYTE;
                sent += 1;
                head += 1;
            }
            if tail - head < RingLoop::LIMIT {
                ring[tail & (RingLoop::SLOTS - 1)] = Record {
                    arrived: now,
                    sent: now,
                    flow: number & 15,
                    size: 1500,
                };
                tail += 1;
            }
        }
        let tag = ring[head & (RingLoop::SLOTS - 1)];
        (self.head, self.tail) = (head, tail);
        (self.now, self.free_at, self.number) = (now, free_at, last);
        (sent, waits ^ (tag.flow & tag.sent & 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b1_counts_what_other_simulators_count() {
        // ns-2 2.35 reports 999 899 arrivals and 165 651 drops, htsim delivers 832 832 packets.
        let case = find("b1").expect("a case");
        let mut prepared = prepare(&case).expect("it builds");
        prepared.run_before(Time::ZERO + Span::from_secs(10));
        let counted = prepared.counted();
        assert_eq!(counted.arrivals, 999_899);
        assert!(counted.drops.abs_diff(165_650) <= 1, "{}", counted.drops);
        prepared.finish();
    }

    #[test]
    fn the_ring_loop_serves_what_its_service_allows() {
        // 12 us per packet, arrivals every 10 us: five of six are sent, and in parts as in one go.
        let whole = RingLoop::new(1).run(300_000).0;
        let mut ring = RingLoop::new(1);
        let parts: u64 = (0..300).map(|_| ring.run(1000).0).sum();
        assert_eq!(whole, parts);
        assert!((245_000..=252_000).contains(&whole), "{whole}");
    }

    #[test]
    fn every_case_builds() {
        for case in cases().iter().filter(|case| case.flows <= 1024) {
            let mut prepared = prepare(case).expect(case.name);
            prepared.run_before(Time::ZERO + Span::from_ms(20));
            prepared.finish();
        }
    }
}
