//! Whole connections over a network, in lazy and eager mode.

use super::{TcpConfig, TcpParams, TcpReceiver, TcpSender};
use crate::app::tests::Script;
use crate::report::{ReceiverReport, SenderReport};
use proptest::prelude::*;
use sojourn_cc::registry;
use sojourn_sim::trace::NoTrace;
use sojourn_sim::{
    Agent, AgentSpec, DropReason, FastPort, FlowSpec, Host, ImpairmentSpec, LinkSpec, Loss,
    MarkReason, Network, NetworkSpec, Packet, Port, PortSink, Ring, Stream, Ties, TxRounding,
};
use sojourn_units::{Params, Rate, Span, Time};

/// Tail drop; marks what finds `mark_at` packets waiting.
#[derive(Clone, Debug)]
pub(crate) struct Fifo {
    limit: u64,
    mark_at: u64,
    waiting: u64,
    pub(crate) drops: u64,
    pub(crate) marks: u64,
    released: (u64, u64),
}

impl Fifo {
    pub(crate) fn of(limit: u64) -> Fifo {
        Fifo {
            limit,
            mark_at: u64::MAX,
            waiting: 0,
            drops: 0,
            marks: 0,
            released: (0, 0),
        }
    }

    pub(crate) fn marking(self, mark_at: u64) -> Fifo {
        Fifo { mark_at, ..self }
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
        if self.waiting >= self.limit {
            self.drops += 1;
            sink.dropped(packet, DropReason::Overlimit, now);
            return;
        }
        if self.waiting >= self.mark_at && packet.mark() {
            self.marks += 1;
            sink.marked(&packet.label(), MarkReason::Threshold, now);
        }
        self.waiting += 1;
        packet.stamp(now);
        ring.push(packet);
    }

    fn dequeue<S: PortSink>(&mut self, ring: &mut Ring, _now: Time, _sink: &mut S) -> bool {
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

    fn on_idle(&mut self, _now: Time) {}

    fn on_rate(&mut self, _rate: Rate) {}

    fn start_measuring(&mut self, _ring: &Ring, _now: Time) {}

    fn finish<S: PortSink>(&mut self, ring: &Ring, _now: Time, _sink: &mut S) {
        assert_eq!(self.waiting, ring.waiting());
    }
}

impl FastPort for Fifo {}

#[derive(Debug)]
enum End {
    Sender(Box<TcpSender<Script>>),
    Receiver(TcpReceiver),
}

impl Agent for End {
    fn on_start<H: Host>(&mut self, host: &mut H) {
        match self {
            End::Sender(end) => end.on_start(host),
            End::Receiver(end) => end.on_start(host),
        }
    }

    fn on_packet<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        match self {
            End::Sender(end) => end.on_packet(packet, host),
            End::Receiver(end) => end.on_packet(packet, host),
        }
    }

    fn on_wake<H: Host>(&mut self, host: &mut H) {
        match self {
            End::Sender(end) => end.on_wake(host),
            End::Receiver(end) => end.on_wake(host),
        }
    }

    fn start_measuring(&mut self, now: Time) {
        match self {
            End::Sender(end) => end.start_measuring(now),
            End::Receiver(end) => end.start_measuring(now),
        }
    }
}

/// Flows between two nodes: 10 Mbps and 20 ms each way unless a test says otherwise.
struct Path {
    dialect: &'static str,
    params: Vec<(&'static str, &'static str)>,
    source: Script,
    flows: u32,
    rate: Rate,
    delay: Span,
    forward: Fifo,
    impair: [ImpairmentSpec; 2],
    seed: u64,
    eager: bool,
    run: Span,
    warm_up: Span,
    stop: Option<Time>,
}

impl Default for Path {
    fn default() -> Self {
        Path {
            dialect: "rfc",
            params: vec![("delayed_ack", "1")],
            source: Script::Unlimited,
            flows: 1,
            rate: Rate::mbps(10),
            delay: Span::from_ms(20),
            forward: Fifo::of(10_000),
            impair: Default::default(),
            seed: 1,
            eager: false,
            run: Span::from_secs(100),
            warm_up: Span::ZERO,
            stop: None,
        }
    }
}

/// What came of a run.
#[derive(Clone, PartialEq, Debug)]
struct Outcome {
    senders: Vec<SenderReport>,
    receivers: Vec<ReceiverReport>,
    /// What arrived behind gaps and stayed there.
    held: u64,
    /// Bytes that arrived at the receiving node, and delay.
    arrived: u64,
    delay_sum: u128,
    drops: u64,
    marks: u64,
    sent_bytes: u64,
}

impl Path {
    fn bytes(bytes: u64) -> Path {
        Path {
            source: Script::bytes(bytes),
            ..Path::default()
        }
    }

    /// Loses the forward packets with these numbers, counted from 0: the SYN is 0, the acknowledgement of
    /// the SYN-ACK 1, the first data segment 2.
    fn losing(mut self, numbers: &[u64]) -> Path {
        self.impair[0].loss = Loss::List(numbers.to_vec());
        self
    }

    fn with(mut self, pairs: &[(&'static str, &'static str)]) -> Path {
        self.params.extend(pairs);
        self
    }

    /// The two ends of each flow, and the flows.
    fn ends(&self) -> (Vec<AgentSpec<End>>, Vec<FlowSpec>) {
        let mut params = TcpParams::in_dialect(self.dialect).unwrap();
        for (key, value) in &self.params {
            params.set(key, value).unwrap();
        }
        let mut agents = Vec::new();
        let mut flows = Vec::new();
        for flow in 0..self.flows {
            let name = format!("flow/{flow}");
            let sender = TcpSender::new(TcpConfig {
                flow,
                params: params.clone(),
                cc: registry::build("reno", Some(self.dialect), &[]).unwrap(),
                source: self.source.clone(),
                rng: Stream::derive(self.seed, 0, &name),
                start: Time::ZERO + Span::from_ms(7) * u64::from(flow),
                stop: self.stop,
            });
            agents.push(AgentSpec {
                name: format!("{name}/sender"),
                node: 0,
                agent: End::Sender(Box::new(sender)),
            });
            agents.push(AgentSpec {
                name: format!("{name}/receiver"),
                node: 1,
                agent: End::Receiver(TcpReceiver::new(&params)),
            });
            flows.push(FlowSpec {
                name,
                dscp: 0,
                source: 0,
                sink: 1,
                sender: 2 * flow,
                receiver: Some(2 * flow + 1),
            });
        }
        (agents, flows)
    }

    fn network(&self) -> NetworkSpec<Fifo, End> {
        let (agents, flows) = self.ends();
        let link =
            |name: &str, ends: (u32, u32), port: Fifo, impairments: &ImpairmentSpec| LinkSpec {
                name: name.to_owned(),
                from: ends.0,
                to: ends.1,
                rate: self.rate,
                delay: self.delay,
                rounding: TxRounding::Carry,
                device_queue: 0,
                header: 0,
                opportunities: None,
                impairments: impairments.clone(),
                port,
            };
        NetworkSpec {
            nodes: vec!["a".to_owned(), "b".to_owned()],
            links: vec![
                link(
                    "link/forward",
                    (0, 1),
                    self.forward.clone(),
                    &self.impair[0],
                ),
                link("link/back", (1, 0), Fifo::of(u64::MAX), &self.impair[1]),
            ],
            agents,
            flows,
            groups: Vec::new(),
            ties: Ties::DeparturesFirst,
            eager: self.eager,
            seed: self.seed,
            replication: 0,
        }
    }

    fn run(self) -> Outcome {
        let mut network = Network::build(self.network(), NoTrace).unwrap();
        if !self.warm_up.is_zero() {
            network.run_before(Time::ZERO + self.warm_up);
            network.start_measuring();
        }
        network.run_before(Time::ZERO + self.run);
        network.finish();
        let mut outcome = Outcome {
            senders: Vec::new(),
            receivers: Vec::new(),
            held: 0,
            arrived: 0,
            delay_sum: 0,
            drops: network.port(0).drops,
            marks: network.port(0).marks,
            sent_bytes: network.sent(0).1,
        };
        for flow in 0..usize::try_from(self.flows).unwrap() {
            if let End::Sender(sender) = network.agent(2 * flow) {
                outcome.senders.push(sender.report());
            }
            if let End::Receiver(receiver) = network.agent(2 * flow + 1) {
                outcome.receivers.push(receiver.report());
                outcome.held += receiver.held_bytes();
            }
            let counts = &network.flow(flow)[0];
            outcome.arrived += counts.delivered_bytes;
            outcome.delay_sum += counts.delay_sum;
        }
        outcome
    }
}

impl Outcome {
    fn sender(&self) -> &SenderReport {
        &self.senders[0]
    }

    /// Retransmissions, timeouts, fast recoveries of the first flow.
    fn repairs(&self) -> (u64, u64, u64) {
        let sender = self.sender();
        (
            sender.retransmissions,
            sender.timeouts,
            sender.fast_recoveries,
        )
    }

    fn assert_delivered(&self, bytes: u64) {
        for (sender, receiver) in self.senders.iter().zip(&self.receivers) {
            assert_eq!(sender.bytes_acked, bytes);
            assert_eq!(receiver.goodput_bytes, bytes);
            assert!(sender.completed.is_some());
        }
        assert_eq!(self.held, 0);
    }
}

const MSS: u64 = 1460;

#[test]
fn a_transfer_without_loss_sends_every_byte_once() {
    let outcome = Path::bytes(100 * MSS + 7).run();
    outcome.assert_delivered(100 * MSS + 7);
    assert_eq!(outcome.repairs(), (0, 0, 0));
    // 101 segments, the SYN and the acknowledgement of the SYN-ACK, 40 bytes of headers each.
    assert_eq!(outcome.arrived, 100 * MSS + 7 + 103 * 40);
    assert_eq!(outcome.receivers[0].acks, 101);
}

#[test]
fn the_completion_time_is_that_of_the_round_trips() {
    // Handshake, then windows of 10, 20 and 3 segments: at 1 Gbps four round trips and a little.
    let outcome = Path {
        rate: Rate::gbps(1),
        ..Path::bytes(33 * MSS)
    }
    .run();
    let took = outcome.sender().completed.unwrap() - outcome.sender().started.unwrap();
    assert!(
        took > Span::from_ms(160) && took < Span::from_ms(162),
        "{took}"
    );
}

#[test]
fn one_loss_costs_one_retransmission_and_no_timeout() {
    for recovery in ["reno", "newreno"] {
        let outcome = Path::bytes(200 * MSS)
            .losing(&[12])
            .with(&[("recovery", recovery)])
            .run();
        outcome.assert_delivered(200 * MSS);
        assert_eq!(outcome.repairs(), (1, 0, 1), "{recovery}");
        assert_eq!(outcome.receivers[0].duplicates, 0);
    }
}

#[test]
fn newreno_repairs_three_losses_of_a_window_in_one_recovery() {
    let outcome = Path::bytes(200 * MSS).losing(&[40, 42, 45]).run();
    outcome.assert_delivered(200 * MSS);
    assert_eq!(outcome.repairs(), (3, 0, 1));
}

#[test]
fn reno_needs_a_recovery_per_loss_or_a_timeout() {
    let outcome = Path::bytes(200 * MSS)
        .losing(&[40, 42, 45])
        .with(&[("recovery", "reno")])
        .run();
    outcome.assert_delivered(200 * MSS);
    let (_, timeouts, recoveries) = outcome.repairs();
    assert!(timeouts > 0 || recoveries == 3, "{:?}", outcome.repairs());
}

#[test]
fn lost_packets_of_the_handshake_are_repaired() {
    // The SYN; the SYN-ACK; the acknowledgement of it.
    let path = || Path::bytes(20 * MSS);
    let syn = path().losing(&[0]).run();
    syn.assert_delivered(20 * MSS);
    assert_eq!(syn.sender().handshake_retransmissions, 1);
    let mut answer = path();
    answer.impair[1].loss = Loss::List(vec![0]);
    let answer = answer.run();
    answer.assert_delivered(20 * MSS);
    assert_eq!(answer.sender().handshake_retransmissions, 1);
    let third = path().losing(&[1]).run();
    third.assert_delivered(20 * MSS);
    assert_eq!(third.sender().handshake_retransmissions, 0);
    assert_eq!(third.repairs(), (0, 0, 0));
}

#[test]
fn every_dialect_repairs_a_loss_without_a_timeout() {
    for dialect in TcpParams::DIALECTS {
        let outcome = Path {
            dialect: dialect.name,
            params: Vec::new(),
            ..Path::bytes(200_000)
        }
        .losing(&[30, 33])
        .run();
        outcome.assert_delivered(200_000);
        assert_eq!(outcome.repairs(), (2, 0, 1), "{}", dialect.name);
    }
}

#[test]
fn delayed_acknowledgements_halve_their_number() {
    let outcome = Path::bytes(1000 * MSS).with(&[("delayed_ack", "2")]).run();
    outcome.assert_delivered(1000 * MSS);
    assert_eq!(outcome.receivers[0].acks, 500);
}

#[test]
fn the_last_lost_segment_needs_the_timer() {
    let outcome = Path::bytes(20 * MSS).losing(&[21]).run();
    outcome.assert_delivered(20 * MSS);
    assert_eq!(outcome.repairs(), (1, 1, 0));
    let took = outcome.sender().completed.unwrap() - outcome.sender().started.unwrap();
    assert!(took > Span::from_secs(1), "{took}");
}

#[test]
fn a_lost_retransmission_needs_the_timer() {
    // Segment 10 is packet 12. Its loss shows when 11, 12 and 13 have arrived; by then 20 more have been sent.
    let plain = Path::bytes(60 * MSS).losing(&[12]).run();
    assert_eq!(plain.repairs(), (1, 0, 1));
    let lost_twice = (20..50).find_map(|n| {
        let outcome = Path::bytes(60 * MSS).losing(&[12, n]).run();
        outcome.assert_delivered(60 * MSS);
        // Losing the retransmission leaves one fast recovery; losing another segment is repaired within it.
        (outcome.sender().timeouts > 0).then_some(outcome)
    });
    let outcome = lost_twice.expect("one of the packets is the retransmission");
    assert_eq!(
        (outcome.sender().timeouts, outcome.sender().fast_recoveries),
        (1, 1)
    );
}

#[test]
fn a_full_path_carries_its_rate_less_headers() {
    let outcome = Path {
        forward: Fifo::of(40),
        warm_up: Span::from_secs(20),
        ..Path::default()
    }
    .run();
    // A buffer of the bandwidth-delay product (34 packets) keeps the bottleneck busy (half the window fills it).
    let expected = 80 * 10_000_000 / 8 * MSS / 1500;
    let goodput = outcome.receivers[0].goodput_bytes;
    assert!(
        goodput <= expected + 40 * MSS && goodput > expected / 1000 * 995,
        "{goodput}"
    );
    assert_eq!(outcome.sender().timeouts, 0);
    assert!(outcome.drops > 10);
}

#[test]
fn the_window_of_the_receiver_sets_the_rate() {
    let outcome = Path {
        rate: Rate::gbps(1),
        warm_up: Span::from_secs(20),
        ..Path::default()
    }
    .with(&[("window", "29200B")])
    .run();
    // 20 segments per round trip of 40 ms plus 12.32 us of serialization.
    let goodput = outcome.receivers[0].goodput_bytes;
    let expected = 80_000_000_000 / 40_012_320 * 20 * MSS * 1000 / 1000;
    assert!(
        goodput.abs_diff(expected) < 40 * MSS * 20,
        "{goodput} {expected}"
    );
}

#[test]
fn marks_take_the_place_of_losses() {
    let outcome = Path {
        forward: Fifo {
            mark_at: 30,
            ..Fifo::of(1000)
        },
        warm_up: Span::from_secs(20),
        ..Path::default()
    }
    .with(&[("ecn", "true")])
    .run();
    assert_eq!(outcome.drops, 0);
    assert_eq!(outcome.repairs(), (0, 0, 0));
    let reductions = outcome.sender().ecn_reductions;
    assert!(
        reductions > 10 && outcome.marks >= reductions,
        "{reductions}"
    );
    // The window falls to half of about 64 segments and gains one per round trip: a cycle lasts some 32 of them,
    // 1.7 s or so.
    assert!((35..=70).contains(&reductions), "{reductions}");
    let full = 80 * 10_000_000 / 8 * MSS / 1500;
    assert!(outcome.receivers[0].goodput_bytes > full / 100 * 98);
}

#[test]
fn random_loss_bounds_the_rate_by_the_square_root_law() {
    // Mathis et al. 1997: MSS / RTT * sqrt(3/2) / sqrt(p), with one acknowledgement per segment. At p = 0.2 % and 40 ms
    // that is 8.0 Mbps of payload; timeouts and slow start move it by some per cent.
    for recovery in ["newreno", "reno"] {
        let mut path = Path {
            rate: Rate::gbps(1),
            run: Span::from_secs(2000),
            warm_up: Span::from_secs(20),
            ..Path::default()
        }
        .with(&[("recovery", recovery)]);
        path.impair[0].loss = Loss::Bernoulli(0.002);
        let outcome = path.run();
        let rate = outcome.receivers[0].goodput_bytes * 8 / 1980;
        assert!((6_800_000..8_800_000).contains(&rate), "{recovery}: {rate}");
    }
}

#[test]
fn an_unlimited_source_that_is_stopped_completes() {
    let outcome = Path {
        stop: Some(Time::ZERO + Span::from_secs(2)),
        run: Span::from_secs(5),
        ..Path::default()
    }
    .run();
    let completed = outcome.sender().completed.unwrap();
    assert!(completed >= Time::ZERO + Span::from_secs(2));
    assert_eq!(
        outcome.sender().bytes_acked,
        outcome.receivers[0].goodput_bytes
    );
}

#[test]
fn equal_flows_share_a_bottleneck() {
    let outcome = Path {
        flows: 4,
        forward: Fifo::of(60),
        run: Span::from_secs(300),
        warm_up: Span::from_secs(20),
        ..Path::default()
    }
    .run();
    let rates: Vec<u64> = outcome.receivers.iter().map(|r| r.goodput_bytes).collect();
    let (least, most) = (rates.iter().min().unwrap(), rates.iter().max().unwrap());
    assert!(least * 2 > *most, "{rates:?}");
    let full = 280 * 10_000_000 / 8 * MSS / 1500;
    assert!(rates.iter().sum::<u64>() > full / 100 * 98, "{rates:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_arrives_once_whatever_the_network_does(
        seed in any::<u64>(),
        loss in prop_oneof![Just(0.0), 0.0..0.2f64],
        loss_back in prop_oneof![Just(0.0), 0.0..0.2f64],
        duplicate in prop_oneof![Just(0.0), 0.0..0.1f64],
        jitter_us in prop_oneof![Just(0u64), 0..30_000u64],
        reorder in any::<bool>(),
        limit in 2..60u64,
        mark_at in prop_oneof![Just(u64::MAX), 1..20u64],
        writes in prop::collection::vec((0..3_000u64, 0..60_000u64), 0..6),
        recovery in prop_oneof![Just("reno"), Just("newreno")],
        guard in prop_oneof![Just("careful"), Just("ack_heuristic"), Just("covered"), Just("off")],
        delayed_ack in prop_oneof![Just("1"), Just("2"), Just("4")],
        limited_transmit in prop_oneof![Just("true"), Just("false")],
        window in prop_oneof![Just("none"), Just("1460B"), Just("20kB")],
        min_rto in prop_oneof![Just("1s"), Just("200ms"), Just("0s")],
        switch in any::<bool>(),
        flows in 1..3u32,
    ) {
        let mut at = Time::ZERO;
        let writes: Vec<_> = writes
            .iter()
            .map(|&(ms, bytes)| {
                at += Span::from_ms(ms);
                (at, bytes)
            })
            .collect();
        let bytes = writes.iter().map(|write| write.1).sum();
        let path = |eager| Path {
            flows,
            source: Script::writes(&writes),
            forward: Fifo { mark_at, ..Fifo::of(limit) },
            impair: [loss, loss_back].map(|loss| ImpairmentSpec {
                loss: Loss::Bernoulli(loss),
                duplicate,
                jitter: Span::from_us(jitter_us),
                reorder,
                ..ImpairmentSpec::default()
            }),
            seed,
            eager,
            run: Span::from_secs(20_000),
            ..Path::default()
        }
        .with(&[
            ("recovery", recovery),
            ("guard", guard),
            ("delayed_ack", delayed_ack),
            ("limited_transmit", limited_transmit),
            ("window", window),
            ("min_rto", min_rto),
            ("nagle", if switch { "true" } else { "false" }),
            ("restart_timer", if switch { "true" } else { "false" }),
            ("validate_window", if switch { "true" } else { "false" }),
            ("partial_timer", if switch { "every" } else { "first" }),
            ("ecn", if mark_at == u64::MAX { "false" } else { "true" }),
        ])
        .run();
        let lazy = path(false);
        lazy.assert_delivered(bytes);
        prop_assert_eq!(lazy, path(true));
    }
}
