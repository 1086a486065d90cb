//! Whole connections over a network, in lazy and eager mode.

use super::{TcpConfig, TcpParams, TcpReceiver, TcpSender};
use crate::app::tests::Script;
use crate::report::{ReceiverReport, SenderReport};
use proptest::prelude::*;
use sojourn_cc::registry;
use sojourn_sim::trace::NoTrace;
use sojourn_sim::{
    Agent, AgentSpec, DropReason, FlowSpec, Host, ImpairmentSpec, LinkSpec, Loss, MarkReason,
    Network, NetworkSpec, Packet, Port, PortSink, Ring, Stream, Ties, TxRounding,
};
use sojourn_units::{Params, Rate, Span, Time};

/// Tail drop; marks what finds `mark_at` packets waiting.
#[derive(Clone, Debug)]
struct Fifo {
    limit: u64,
    mark_at: u64,
    waiting: u64,
    drops: u64,
    marks: u64,
}

impl Fifo {
    fn of(limit: u64) -> Fifo {
        Fifo {
            limit,
            mark_at: u64::MAX,
            waiting: 0,
            drops: 0,
            marks: 0,
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
        if self.waiting >= self.limit {
            self.drops += 1;
            sink.dropped(packet, DropReason::Overlimit, now);
            return;
        }
        if self.waiting >= self.mark_at && packet.mark() {
            self.marks += 1;
            sink.marked(&packet, MarkReason::Threshold, now);
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
        ring.take();
        true
    }

    fn backlog_packets(&self) -> u64 {
        self.waiting
    }

    fn on_idle(&mut self, _now: Time) {}

    fn on_rate(&mut self, _rate: Rate) {}

    fn start_measuring(&mut self, _now: Time) {}

    fn finish<S: PortSink>(&mut self, _now: Time, waiting_in_ring: u64, _sink: &mut S) {
        assert_eq!(self.waiting, waiting_in_ring);
    }
}

#[derive(Debug)]
enum End {
    Sender(TcpSender<Script>),
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

    fn run(self) -> Outcome {
        let mut params = TcpParams::default();
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
                cc: registry::build("reno", None, &[]).unwrap(),
                source: self.source.clone(),
                rng: Stream::derive(self.seed, 0, &name),
                start: Time::ZERO + Span::from_ms(7) * u64::from(flow),
                stop: self.stop,
            });
            agents.push(AgentSpec {
                name: format!("{name}/sender"),
                node: 0,
                agent: End::Sender(sender),
            });
            agents.push(AgentSpec {
                name: format!("{name}/receiver"),
                node: 1,
                agent: End::Receiver(TcpReceiver::new(&params)),
            });
            flows.push(FlowSpec {
                name,
                source: 0,
                sink: 1,
                sender: 2 * flow,
                receiver: Some(2 * flow + 1),
            });
        }
        let link =
            |name: &str, ends: (u32, u32), port: Fifo, impairments: &ImpairmentSpec| LinkSpec {
                name: name.to_owned(),
                from: ends.0,
                to: ends.1,
                rate: self.rate,
                delay: self.delay,
                rounding: TxRounding::Carry,
                device_queue: 0,
                impairments: impairments.clone(),
                port,
            };
        let spec = NetworkSpec {
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
            ties: Ties::DeparturesFirst,
            eager: self.eager,
            seed: self.seed,
            replication: 0,
        };
        let mut network = Network::build(spec, NoTrace).unwrap();
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
        bytes in 0..200_000u64,
        recovery in prop_oneof![Just("reno"), Just("newreno")],
        guard in prop_oneof![Just("careful"), Just("ack_heuristic"), Just("covered"), Just("off")],
        delayed_ack in prop_oneof![Just("1"), Just("2"), Just("4")],
        limited_transmit in prop_oneof![Just("true"), Just("false")],
        window in prop_oneof![Just("none"), Just("1460B"), Just("20kB")],
        dialect in prop_oneof![Just("1s"), Just("200ms")],
        flows in 1..3u32,
    ) {
        let path = |eager| Path {
            flows,
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
            ..Path::bytes(bytes)
        }
        .with(&[
            ("recovery", recovery),
            ("guard", guard),
            ("delayed_ack", delayed_ack),
            ("limited_transmit", limited_transmit),
            ("window", window),
            ("min_rto", dialect),
            ("ecn", if mark_at == u64::MAX { "false" } else { "true" }),
        ])
        .run();
        let lazy = path(false);
        lazy.assert_delivered(bytes);
        prop_assert_eq!(lazy, path(true));
    }
}
