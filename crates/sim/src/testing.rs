//! Random networks for property tests: the same seed gives the same network, whatever queues its links have.
//!
//! Of the feature `testing`, for the tests of this workspace and of those who write algorithms of their own.

#![allow(missing_docs, reason = "names of tests' fields say what they are")]

use crate::network::Census;
use crate::topology::{Graph, Line};
use crate::trace::{Event, Record, Tracer};
use crate::{
    Agent, AgentSpec, Caps, FastPort, FlowSpec, Host, ImpairmentSpec, Kind, Label, Launch,
    LinkSpec, LinkState, Loss, LossAt, Network, NetworkSpec, Opportunities, Outage, Outgoing,
    Packet, Port, PortSink, Ring, Side, Stream, Ties, TxRounding,
};
use sojourn_units::{Rate, Span, Time};

/// How long a run lasts.
pub const END: Time = Time::from_ps(2_000_000_000_000);

/// An endpoint that sends at random times, or answers at once.
pub struct Endpoint {
    flow: u32,
    /// A sender's packets left; a receiver has none.
    left: u32,
    /// Times between bursts are multiples of this; a coarse step makes events coincide.
    step: Span,
    sizes: (u32, u32),
    tos: u8,
    /// A sender that hears nothing and sends one packet at a time, and can say so without a host.
    launches: bool,
    /// Probability of an answer to a packet.
    answers: f64,
    rng: Stream,
    seq: u64,
}

impl Endpoint {
    fn packet(&mut self) -> Outgoing {
        self.seq += 1;
        let (least, most) = self.sizes;
        Outgoing {
            size: least
                + u32::try_from(self.rng.below(u64::from(most - least) + 1)).expect("a size"),
            seq: self.seq,
            kind: Kind::Segment,
            tos: self.tos,
            ..Outgoing::default()
        }
    }

    fn schedule<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        let next = self.next(now);
        let armed = host.armed(next);
        host.wake(next, armed);
    }

    fn next(&mut self, now: Time) -> Time {
        let steps = self.rng.below(20);
        if self.launches && steps == 0 {
            // Once more at the same event.
            return now;
        }
        now + self.step * steps.max(1)
    }

    /// The packet of one wake of a source, and when the next is due.
    fn single(&mut self, now: Time) -> (Outgoing, Option<Time>) {
        let packet = self.packet();
        self.left = self.left.saturating_sub(1);
        (packet, (self.left > 0).then(|| self.next(now)))
    }
}

/// What markers write by default: best effort, AF11, AF12 and AF13.
const MARKS: [u8; 4] = [0, 10, 12, 14];

impl Agent for Endpoint {
    fn on_start<H: Host>(&mut self, host: &mut H) {
        if self.left > 0 {
            self.schedule(host);
        }
    }

    fn on_packet<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        // Each flow has a codepoint of its own, both ways, unless a marker on the way has written one of its own.
        let codepoint = packet.dscp();
        assert!(u32::from(codepoint) == packet.flow % 64 || MARKS.contains(&codepoint));
        if self.rng.chance(self.answers) {
            let packet = self.packet();
            host.send(self.flow, packet);
        }
        // Some answers come later, and a sender may change its mind.
        if self.rng.chance(self.answers / 8.0) {
            self.schedule(host);
        }
    }

    fn on_wake<H: Host>(&mut self, host: &mut H) {
        if self.launches {
            let now = host.now();
            loop {
                let (packet, next) = self.single(now);
                host.send(self.flow, packet);
                match next {
                    Some(next) if next <= now => {}
                    Some(next) => {
                        let armed = host.armed(next);
                        return host.wake(next, armed);
                    }
                    None => return,
                }
            }
        }
        for _ in 0..=self.rng.below(8) {
            let packet = self.packet();
            if self.rng.chance(0.2) {
                host.send_with(self.flow, packet, Side::default());
            } else {
                host.send(self.flow, packet);
            }
            self.left = self.left.saturating_sub(1);
        }
        if self.left > 0 {
            self.schedule(host);
        }
    }

    fn start_measuring(&mut self, _: Time) {}

    fn launch(&mut self, now: Time) -> Option<Launch> {
        if !self.launches {
            return None;
        }
        let (packet, next) = self.single(now);
        Some(Launch {
            flow: self.flow,
            packet,
            next,
        })
    }
}

/// What changes during a run.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    Rate(usize, Rate),
    Delay(usize, Span),
    State(usize, LinkState),
    Measure,
    /// Every link is brought up to date, as a probe does.
    Look,
}

/// A network, and what happens to it.
pub struct Plan<P> {
    pub spec: NetworkSpec<P, Endpoint>,
    pub changes: Vec<(Time, Change)>,
}

/// What a plan may contain.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub ties: Ties,
    pub eager: bool,
    /// Loss, duplication, jitter, reordering.
    pub impaired: bool,
    /// Packets below the discipline of each link.
    pub device_queue: u32,
}

/// The plan of a seed; `port` makes the queue of a link from its name and number.
pub fn plan<P>(seed: u64, shape: Shape, port: impl FnMut(&str, usize) -> P) -> Plan<P> {
    plan_with(seed, shape, false, port)
}

/// As [`plan`]; with `sources` most flows are sources that hear nothing and send one packet at a time.
pub fn plan_with<P>(
    seed: u64,
    shape: Shape,
    sources: bool,
    mut port: impl FnMut(&str, usize) -> P,
) -> Plan<P> {
    let rng = &mut Stream::derive(seed, 0, "plan");
    // On the grid, serialization times, delays and sending times are multiples of a millisecond.
    let grid = rng.chance(0.5);
    // Otherwise each byte may take a whole number of picoseconds.
    let whole = rng.chance(0.6);
    let line = |rng: &mut Stream, slow: bool| Line {
        rate: if grid {
            Rate::mbps(if slow { 4 } else { 8 })
        } else if whole {
            Rate::kbps(
                [500, 625, 800, 1250, 2000, 2500, 4000, 5000, 8000, 10_000]
                    [usize::try_from(rng.below(6)).expect("small") + if slow { 0 } else { 4 }],
            )
        } else {
            Rate::bps(rng.below(9_000_000) + if slow { 500_000 } else { 5_000_000 })
        },
        delay: match rng.below(3) {
            0 => Span::ZERO,
            _ if grid => Span::from_ms(rng.below(10)),
            _ => Span::from_ps(rng.below(30_000_000_000)),
        },
    };
    let routers = 2 + usize::try_from(rng.below(3)).expect("small");
    let forward: Vec<Line> = (1..routers).map(|_| line(rng, true)).collect();
    let reverse: Vec<Line> = (1..routers).map(|_| line(rng, true)).collect();
    let mut graph = Graph::parking_lot(&forward, &reverse);
    let mut agents = Vec::new();
    let mut flows = Vec::new();
    for flow in 0..1 + rng.below(5) {
        let ends = [rng.below(routers as u64), rng.below(routers as u64)];
        let (first, second) = if ends[0] == ends[1] {
            (0, routers as u64 - 1)
        } else {
            (ends[0], ends[1])
        };
        let mut host = |end: u64, name: &str, rng: &mut Stream| {
            let router = u32::try_from(end).expect("small");
            let (slow_up, slow_down) = (rng.chance(0.2), rng.chance(0.3));
            let (up, down) = (line(rng, slow_up), line(rng, slow_down));
            graph.attach(router, &format!("{name}{flow}"), up, down)
        };
        let (source, sink) = (host(first, "source", rng), host(second, "sink", rng));
        let step = if grid {
            Span::from_ms(1)
        } else {
            Span::from_ps(1 + rng.below(4_000_000_000))
        };
        let sizes = if grid { (1000, 1000) } else { (40, 1500) };
        let tos = u8::try_from(rng.below(4)).expect("two bits");
        let answers = if rng.chance(0.3) { 0.0 } else { 0.5 };
        let sender = u32::try_from(agents.len()).expect("few");
        let has_receiver = rng.chance(if sources { 0.2 } else { 0.8 });
        for (role, node, left, answers) in [
            ("sender", source, 400, answers / 4.0),
            ("receiver", sink, 0, answers),
        ] {
            if role == "sender" || has_receiver {
                let name = format!("flow/{flow}/{role}");
                agents.push(AgentSpec {
                    agent: Endpoint {
                        flow: u32::try_from(flow).expect("few"),
                        left,
                        step,
                        sizes,
                        tos,
                        launches: role == "sender" && !has_receiver && sources,
                        answers,
                        rng: Stream::derive(seed, 0, &name),
                        seq: 0,
                    },
                    name,
                    node,
                });
            }
        }
        flows.push(FlowSpec {
            name: format!("flow/{flow}"),
            dscp: u8::try_from(flow % 64).expect("six bits"),
            source,
            sink,
            sender,
            receiver: has_receiver.then_some(sender + 1),
        });
    }
    let links: Vec<LinkSpec<P>> = graph
        .edges
        .iter()
        .enumerate()
        .map(|(index, edge)| {
            let name = format!("link/{}", graph.edge_name(edge));
            LinkSpec {
                from: edge.from,
                to: edge.to,
                rate: edge.rate,
                delay: edge.delay,
                rounding: if rng.chance(0.2) {
                    TxRounding::TruncateNs
                } else {
                    TxRounding::Carry
                },
                device_queue: shape.device_queue,
                header: 0,
                opportunities: (shape.ties != Ties::Ns2Clock && rng.chance(0.15))
                    .then(|| opportunities(rng, grid)),
                impairments: if shape.impaired && rng.chance(0.6) {
                    impairments(rng)
                } else {
                    ImpairmentSpec::default()
                },
                port: port(&name, index),
                name,
            }
        })
        .collect();
    let mut changes = vec![(Time::from_ps(300_000_000_000), Change::Measure)];
    let looks = if rng.chance(0.3) { 60 } else { 0 };
    for number in 0..rng.below(8) + looks {
        let link = usize::try_from(rng.below(links.len() as u64)).expect("an index");
        let time = if grid {
            rng.below(2000) * 1_000_000_000
        } else {
            rng.below(END.as_ps())
        };
        let fresh = line(rng, true);
        let change = match rng.below(3) {
            _ if number < looks => Change::Look,
            0 => Change::Rate(link, fresh.rate),
            1 => Change::Delay(link, fresh.delay),
            _ => Change::Look,
        };
        changes.push((Time::from_ps(time), change));
    }
    let links = with_outages(seed, grid, links, &mut changes);
    changes.sort_by_key(|(time, _)| *time);
    let spec = NetworkSpec {
        nodes: graph.nodes,
        links,
        agents,
        flows,
        groups: Vec::new(),
        ties: shape.ties,
        eager: shape.eager,
        seed,
        replication: 0,
    };
    Plan { spec, changes }
}

/// Lets some links of every other network go down and come up. It draws apart, so that the plans are otherwise what they were.
fn with_outages<P>(
    seed: u64,
    grid: bool,
    mut links: Vec<LinkSpec<P>>,
    changes: &mut Vec<(Time, Change)>,
) -> Vec<LinkSpec<P>> {
    let rng = &mut Stream::derive(seed, 0, "outages");
    if rng.chance(0.5) {
        return links;
    }
    let state = |rng: &mut Stream| match rng.below(5) {
        0 | 1 => LinkState::Up,
        2 | 3 => LinkState::Down(Outage::Wait),
        _ => LinkState::Down(Outage::Lose),
    };
    for (link, spec) in links.iter_mut().enumerate() {
        if rng.chance(0.6) {
            continue;
        }
        spec.impairments.outages = Some(match rng.chance(0.2) {
            true => state(rng),
            false => LinkState::Up,
        });
        // Otherwise a packet may be lost before the queue or after it, and a record does not say which.
        spec.impairments.loss_at = LossAt::Wire;
        for _ in 0..rng.below(12) {
            let at = match grid {
                true => rng.below(2000) * 1_000_000_000,
                false => rng.below(END.as_ps()),
            };
            changes.push((Time::from_ps(at), Change::State(link, state(rng))));
        }
    }
    links
}

/// A few opportunities in some milliseconds, at whole ones in a grid.
fn opportunities(rng: &mut Stream, grid: bool) -> Opportunities {
    let mut time = |ms: u64| match grid {
        true => Span::from_ms(rng.below(ms + 1)),
        false => Span::from_ps(rng.below(ms * 1_000_000_000)),
    };
    let mut offsets: Vec<Span> = (0..12).map(|_| time(10)).collect();
    let (beyond, ahead) = (time(3), time(20));
    offsets.sort_unstable();
    let bytes = u32::try_from(300 + rng.below(3000)).expect("few");
    let period = offsets[11] + beyond + Span::from_ms(1);
    Opportunities::new(offsets, period, bytes, ahead).expect("a schedule")
}

fn impairments(rng: &mut Stream) -> ImpairmentSpec {
    ImpairmentSpec {
        loss: match rng.below(4) {
            0 => Loss::None,
            1 => Loss::List(vec![0, 3, 4, 17]),
            2 => Loss::Bernoulli(0.05),
            _ => Loss::GilbertElliott {
                to_bad: 0.02,
                to_good: 0.3,
                loss_good: 0.001,
                loss_bad: 0.6,
            },
        },
        loss_at: if rng.chance(0.5) {
            LossAt::Wire
        } else {
            LossAt::Queue
        },
        duplicate: if rng.chance(0.5) { 0.1 } else { 0.0 },
        jitter: if rng.chance(0.5) {
            Span::from_ps(rng.below(8_000_000_000))
        } else {
            Span::ZERO
        },
        reorder: rng.chance(0.3),
        bleach: if rng.chance(0.3) { 0.2 } else { 0.0 },
        mark: if rng.chance(0.3) { 0.2 } else { 0.0 },
        outages: None,
    }
}

/// Everything that can be seen of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// In order: when, what, at which link, which packet.
    pub events: Vec<(Time, Event, u32, Label)>,
    /// Packets, without the number of events, which is the engine's own affair.
    pub census: Census,
    /// Counts of flows and links whenever one looks and at the end, printed.
    pub counts: Vec<String>,
}

/// Keeps every record.
#[derive(Default)]
pub struct Keep(Vec<Record>);

impl Tracer for Keep {
    const ON: bool = true;
    fn record(&mut self, record: Record) {
        self.0.push(record);
    }
    fn advance(&mut self, _: Time) {}
    fn finish(&mut self) {}
}

fn without_events(census: Census) -> Census {
    Census {
        events: 0,
        ..census
    }
}

/// Runs a plan; `show` prints what is to be compared of a queue.
pub fn run<P: FastPort>(plan: Plan<P>, show: impl Fn(&P) -> String) -> Outcome {
    let (network, census, counts) = play(plan, Keep::default(), show);
    let census = without_events(census);
    let mut records = network.into_tracer().0;
    // Ids differ between the modes, their order does not; within one key the order of occurrence counts.
    records.sort_by_key(|record| record.key);
    let events = records
        .into_iter()
        .map(|r| (r.key.time, r.event, r.link, r.packet))
        .collect();
    Outcome {
        events,
        census,
        counts,
    }
}

/// Runs a plan to its end; the network, its census, and the counts of flows and links whenever one looks and at the end.
pub fn play<P: FastPort, T: Tracer>(
    plan: Plan<P>,
    tracer: T,
    show: impl Fn(&P) -> String,
) -> (Network<P, Endpoint, T>, Census, Vec<String>) {
    let links = plan.spec.links.len();
    let flows = plan.spec.flows.len();
    let agents = plan.spec.agents.len();
    let mut network = Network::build(plan.spec, tracer).expect("a network");
    let look = |network: &Network<P, Endpoint, T>, counts: &mut Vec<String>| {
        counts.extend((0..agents).map(|agent| {
            let endpoint = network.agent(agent);
            format!("sent {}, left {}", endpoint.seq, endpoint.left)
        }));
        counts.push(format!("{:?}", without_events(network.census())));
        counts.extend((0..flows).map(|flow| format!("{:?}", network.flow(flow))));
        counts.extend((0..flows).map(|flow| format!("{:?}", network.receivers(flow))));
        counts.extend(
            (0..links).map(|link| format!("{:?} {}", network.sent(link), show(network.port(link)))),
        );
    };
    let mut counts = Vec::new();
    for (time, change) in plan.changes {
        network.run_before(time);
        match change {
            Change::Rate(link, rate) => network.set_rate(link, rate),
            Change::Delay(link, delay) => network.set_delay(link, delay),
            Change::State(link, state) => network.set_state(link, state),
            Change::Measure => network.start_measuring(),
            Change::Look => {
                network.settle_all();
                look(&network, &mut counts);
            }
        }
    }
    network.run_before(END);
    let census = network.finish();
    look(&network, &mut counts);
    (network, census, counts)
}

/// A FIFO of at most `limit` packets.
#[derive(Debug)]
pub struct Fifo {
    pub limit: u64,
    waiting: u64,
    /// Packets bypass it when nothing waits, and wait uncopied otherwise.
    pub fast: bool,
    released: (u64, u64),
    /// How often the transmitter found nothing, and when it did last; not counted where packets may bypass the port.
    idle: (u64, Time),
    rate: Rate,
}

impl Fifo {
    pub fn new(limit: u64) -> Fifo {
        Fifo {
            limit,
            waiting: 0,
            fast: false,
            released: (0, 0),
            idle: (0, Time::ZERO),
            rate: Rate::ZERO,
        }
    }
}

impl Port for Fifo {
    fn enqueue<S: PortSink>(
        &mut self,
        mut packet: Packet,
        ring: &mut Ring,
        now: Time,
        sink: &mut S,
    ) {
        packet.stamp(now);
        if self.waiting == self.limit {
            sink.dropped(packet, crate::DropReason::Overlimit, now);
            return;
        }
        self.waiting += 1;
        ring.push(packet);
    }

    fn dequeue<S: PortSink>(&mut self, ring: &mut Ring, _: Time, _: &mut S) -> bool {
        if self.waiting == 0 {
            return false;
        }
        self.waiting -= 1;
        self.released.0 += 1;
        self.released.1 += ring.peek(0).map_or(0, |p| u64::from(p.size));
        ring.take();
        true
    }

    fn released(&self) -> (u64, u64) {
        self.released
    }

    fn backlog_packets(&self) -> u64 {
        self.waiting
    }

    fn on_idle(&mut self, now: Time) {
        if !self.fast {
            self.idle = (self.idle.0 + 1, now);
        }
    }

    fn on_rate(&mut self, rate: Rate) {
        self.rate = rate;
    }

    fn start_measuring(&mut self, _: &Ring, _: Time) {
        self.released = (0, 0);
    }

    fn finish<S: PortSink>(&mut self, ring: &Ring, _: Time, _: &mut S) {
        assert_eq!(ring.waiting(), self.waiting, "backlog of the ring");
    }
}

impl FastPort for Fifo {
    fn caps(&self) -> Caps {
        Caps {
            bypass: self.fast,
            ..Caps::default()
        }
    }

    fn bypass(&mut self, bytes: u32) {
        assert!(self.waiting == 0 && self.fast, "no bypass");
        self.released.0 += 1;
        self.released.1 += u64::from(bytes);
    }

    fn admit_at_tail(&mut self, _: &Packet, _: &Ring, _: Time) -> bool {
        let room = self.fast && self.waiting < self.limit;
        self.waiting += u64::from(room);
        room
    }

    fn release_head(&mut self, packet: &Packet, _: Time) -> bool {
        if self.fast {
            self.waiting -= 1;
            self.released.0 += 1;
            self.released.1 += u64::from(packet.size);
        }
        self.fast
    }
}
