//! Workloads over a network, in lazy and eager mode.

use super::*;
use crate::flow::build_flow;
use sojourn_queue::QueuePort;
use sojourn_queue::registry::{BuildContext, build_port};
use sojourn_sim::trace::NoTrace;
use sojourn_sim::{
    AgentSpec, FlowSpec, ImpairmentSpec, LinkSpec, Loss, Network, NetworkSpec, Ties, TxRounding,
};
use sojourn_transport::{ReceiverReport, SenderReport};
use sojourn_units::Rate;
use std::sync::Arc;

/// A workload between two nodes, 10 ms apart.
struct Pair {
    spec: &'static str,
    rate: Rate,
    queue: &'static str,
    loss: [f64; 2],
    reorder: bool,
    duplicate: f64,
    eager: bool,
    warm_up: Span,
    run: Span,
    seed: u64,
}

impl Pair {
    fn of(spec: &'static str) -> Pair {
        Pair {
            spec,
            rate: Rate::mbps(10),
            queue: "droptail limit=100p",
            loss: [0.0; 2],
            reorder: false,
            duplicate: 0.0,
            eager: false,
            warm_up: Span::ZERO,
            run: Span::from_secs(30),
            seed: 1,
        }
    }

    fn run(&self) -> Outcome {
        let spec: Spec = self.spec.parse().unwrap();
        let request = FlowRequest {
            flow: 0,
            name: "flow/test-1",
            dialect: None,
            seed: self.seed,
            replication: 0,
            start: Time::ZERO,
            stop: None,
            ns3_number: None,
            capacity: self.rate,
            shares: 1,
        };
        let built = build_flow(&spec.name, &spec.pairs(), &request).unwrap();
        let flow_nodes: Arc<[(u32, u32)]> = (0..built.connections).map(|_| (0, 1)).collect();
        let link = |name: &str, from, to, loss| {
            let cx = BuildContext {
                flow_nodes: Arc::clone(&flow_nodes),
                ..BuildContext::plain(self.seed, name)
            };
            let queue: Spec = self.queue.parse().unwrap();
            LinkSpec {
                name: name.to_owned(),
                from,
                to,
                rate: self.rate,
                delay: Span::from_ms(10),
                rounding: TxRounding::Carry,
                device_queue: 0,
                header: 0,
                opportunities: None,
                impairments: ImpairmentSpec {
                    loss: Loss::Bernoulli(loss),
                    duplicate: self.duplicate,
                    jitter: match self.reorder {
                        true => Span::from_ms(5),
                        false => Span::ZERO,
                    },
                    reorder: self.reorder,
                    ..ImpairmentSpec::default()
                },
                port: build_port(&queue, &cx).unwrap(),
            }
        };
        let agent = |name: &str, node, agent| AgentSpec {
            name: name.to_owned(),
            node,
            agent,
        };
        let network: NetworkSpec<QueuePort, Endpoint> = NetworkSpec {
            nodes: vec!["a".to_owned(), "b".to_owned()],
            links: vec![
                link("there", 0, 1, self.loss[0]),
                link("back", 1, 0, self.loss[1]),
            ],
            agents: vec![
                agent("sender", 0, built.sender),
                agent("receiver", 1, built.receiver.unwrap()),
            ],
            flows: (0..built.connections)
                .map(|number| FlowSpec {
                    name: format!("flow/{number}"),
                    dscp: 0,
                    source: 0,
                    sink: 1,
                    sender: 0,
                    receiver: Some(1),
                })
                .collect(),
            groups: Vec::new(),
            ties: Ties::DeparturesFirst,
            eager: self.eager,
            seed: self.seed,
            replication: 0,
        };
        let mut network = Network::build(network, NoTrace).unwrap();
        network.run_before(Time::ZERO + self.warm_up);
        network.start_measuring();
        network.run_before(Time::ZERO + self.run);
        // Says itself whether packets conserve.
        network.finish();
        let sent = (0..2).map(|link| network.sent(link)).collect();
        Outcome {
            transfers: transfers(network.agent(0), Some(network.agent(1))),
            playback: playback(Some(network.agent(1)), network.now()),
            sender: network.agent(0).sender_report().unwrap(),
            receiver: network.agent(1).receiver_report().unwrap(),
            sent,
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
struct Outcome {
    transfers: Vec<Transfer>,
    playback: Option<Playback>,
    sender: SenderReport,
    receiver: ReceiverReport,
    sent: Vec<(u64, u64)>,
}

impl Outcome {
    fn seconds(&self, index: usize) -> f64 {
        let transfer = self.transfers[index];
        transfer
            .completed
            .unwrap()
            .since(transfer.asked)
            .as_secs_f64()
    }
}

#[test]
fn a_transfer_over_an_idle_path_takes_the_time_that_can_be_worked_out() {
    // A SYN, its answer and ten segments of 1500 bytes at 10 Mbps, 10 ms each way.
    let spec = "workload tcp=(reno delayed_ack=1) arrivals=deterministic sizes=(fixed bytes=14600B) interval=1s transfers=3";
    let outcome = Pair::of(spec).run();
    assert_eq!(outcome.transfers.len(), 3);
    let header = 40.0 * 8.0 / 1e7;
    let expected = 0.03 + 3.0 * header + 10.0 * 1500.0 * 8.0 / 1e7;
    for index in 0..3 {
        let took = outcome.seconds(index);
        assert!((took - expected).abs() < 1e-9, "{took} against {expected}");
    }
    assert_eq!(outcome.receiver.goodput_bytes, 3 * 14_600);
    assert_eq!(outcome.sender.bytes_acked, 3 * 14_600);
}

#[test]
fn a_response_begins_two_round_trips_after_its_request_and_one_on_an_open_connection() {
    let spec = "request_response tcp=(cubic delayed_ack=1) sizes=(fixed bytes=1460B) think=500ms random_think=false request=360B requests=3";
    let outcome = Pair::of(spec).run();
    assert_eq!(outcome.transfers.len(), 3);
    let bytes = |n: f64| n * 8.0 / 1e7;
    let first = 0.04 + bytes(400.0) + 3.0 * bytes(40.0) + bytes(1500.0);
    let later = 0.02 + bytes(400.0) + bytes(1500.0);
    for (index, expected) in [first, later, later].into_iter().enumerate() {
        let took = outcome.seconds(index);
        assert!(
            (took - expected).abs() < 1e-9,
            "{index}: {took} against {expected}"
        );
    }
    let gap = outcome.transfers[1]
        .asked
        .since(outcome.transfers[0].completed.unwrap());
    assert_eq!(gap, Span::from_ms(500));
    let anew = "request_response tcp=(cubic delayed_ack=1) sizes=(fixed bytes=1460B) think=500ms random_think=false request=360B requests=3 life=request";
    let outcome = Pair::of(anew).run();
    assert!((0..3).all(|index| (outcome.seconds(index) - first).abs() < 1e-9));
}

/// A handshake of one packet each way, and the ten packets of the first window.
#[test]
fn a_transfer_over_quic_takes_the_time_that_can_be_worked_out() {
    let spec = "workload tcp=(quic) arrivals=deterministic sizes=(fixed bytes=11600B) interval=1s transfers=3";
    let outcome = Pair::of(spec).run();
    assert_eq!(outcome.transfers.len(), 3);
    // Each of 1228 bytes.
    let expected = 0.03 + 12.0 * 1228.0 * 8.0 / 1e7;
    for index in 0..3 {
        let took = outcome.seconds(index);
        assert!((took - expected).abs() < 1e-9, "{took} against {expected}");
    }
    assert_eq!(outcome.receiver.goodput_bytes, 34_800);
    assert_eq!(outcome.sender.bytes_acked, 34_800);
}

/// Its ends were once none of those that a workload had, and nothing was sent.
#[test]
fn a_workload_whose_receiver_bounds_it_is_carried() {
    let spec = "workload tcp=(cubic rledbat=true) arrivals=deterministic sizes=(fixed bytes=20kB) interval=1s transfers=3";
    let outcome = Pair::of(spec).run();
    assert_eq!(outcome.receiver.goodput_bytes, 60_000);
    assert!((0..3).all(|index| outcome.seconds(index) < 0.3));
}

#[test]
fn a_page_is_its_first_object_and_then_the_others_in_parallel() {
    let page = |connections: u32| -> f64 {
        let spec = format!(
            "web first=(fixed bytes=5kB) objects=(fixed n=12) sizes=(fixed bytes=20kB) pages=1 connections={connections}"
        );
        let outcome = Pair {
            rate: Rate::mbps(100),
            ..Pair::of(Box::leak(spec.into_boxed_str()))
        }
        .run();
        let pages: Vec<&Transfer> = outcome
            .transfers
            .iter()
            .filter(|transfer| transfer.kind == TransferKind::Page)
            .collect();
        assert_eq!(outcome.transfers.len(), 14);
        assert_eq!((pages.len(), pages[0].bytes), (1, 5_000 + 12 * 20_000));
        let last = outcome
            .transfers
            .iter()
            .filter_map(|transfer| transfer.completed)
            .max();
        assert_eq!(pages[0].completed, last);
        last.unwrap().since(pages[0].asked).as_secs_f64()
    };
    let (one, six) = (page(1), page(6));
    // One after the other takes at least a round trip each.
    assert!(one > 13.0 * 0.02 && six < one / 2.0, "{one} {six}");
}

#[test]
fn a_video_whose_quality_the_link_carries_does_not_freeze_and_one_beyond_does() {
    let watch = |rate: u64, control: &str| {
        let spec = format!("dash ladder=500kbps:1Mbps:2Mbps control={control} segments=50");
        let pair = Pair {
            rate: Rate::kbps(rate),
            run: Span::from_secs(600),
            ..Pair::of(Box::leak(spec.into_boxed_str()))
        };
        pair.run().playback.unwrap()
    };
    // 50 segments of 4 s. At 4 Mbps even the highest quality comes in half of its time.
    let fast = watch(4_000, "highest");
    assert_eq!((fast.stalls, fast.played), (0, Span::from_secs(200)));
    assert!(fast.startup.unwrap() < Span::from_secs(3));
    // At 1 Mbps it takes twice its time and is frozen for half of that; startup apart.
    let slow = watch(1_000, "highest");
    let frozen = slow.stalled.as_secs_f64() / slow.played.as_secs_f64();
    assert!((0.9..1.3).contains(&frozen), "{frozen}");
    assert!(slow.stalls > 40);
    // The controls give quality up instead.
    for control in ["buffer", "rate"] {
        let careful = watch(1_200, control);
        assert_eq!(careful.stalls, 0, "{control}");
        let mean = careful.rates_sum / careful.segments;
        assert!((500_000..1_200_000).contains(&mean), "{control}: {mean}");
    }
}

#[test]
fn what_exceeds_the_connections_waits_and_is_not_lost() {
    let spec = "workload sizes=(fixed bytes=50kB) arrivals=(trace points=\"0:50000,0:50000,0:50000,0:50000\") connections=2";
    let spec: &str = &spec.replace("sizes=(fixed bytes=50kB) ", "");
    let outcome = Pair::of(Box::leak(spec.to_owned().into_boxed_str())).run();
    let took: Vec<f64> = (0..4).map(|index| outcome.seconds(index)).collect();
    assert_eq!(outcome.receiver.goodput_bytes, 200_000);
    // The later two begin when the first ones have ended.
    let later = took
        .iter()
        .filter(|seconds| **seconds > 1.5 * took[0])
        .count();
    assert_eq!(later, 2, "{took:?}");
}

#[test]
fn every_transfer_arrives_whole_whatever_the_network_does_and_in_both_modes() {
    for spec in [
        "workload tcp=reno sizes=(exponential mean=20kB) interval=50ms connections=8 transfers=200",
        "workload tcp=cubic sizes=web_search interval=2s connections=4 transfers=5",
        "workload tcp=bbr sizes=(pareto mean=20kB) interval=100ms transfers=100",
        "request_response sizes=(exponential mean=20kB) think=50ms life=request requests=60",
        "request_response tcp=newreno sizes=(exponential mean=20kB) think=50ms requests=60",
        "web think=100ms pages=20",
        "request_response tcp=(cubic rledbat=true) sizes=(exponential mean=20kB) think=50ms requests=60",
        "workload tcp=(quic cc=(cubic)) sizes=(exponential mean=20kB) interval=50ms connections=8 transfers=200",
        "request_response tcp=quic sizes=(exponential mean=20kB) think=50ms life=request requests=60",
        "web tcp=(quic cc=(bbr)) think=100ms pages=20 life=session",
        "web tcp=(reno) think=100ms pages=20 life=session",
        "dash segment=2s buffer=10s reservoir=3s resume=2s variation=0.2 segments=40",
    ] {
        for (loss, reorder, duplicate, seed) in [
            ([0.0; 2], false, 0.0, 1),
            ([0.02, 0.02], true, 0.01, 2),
            ([0.1, 0.05], true, 0.05, 3),
        ] {
            let pair = Pair {
                loss,
                reorder,
                duplicate,
                seed,
                run: Span::from_secs(600),
                ..Pair::of(spec)
            };
            let lazy = pair.run();
            let eager = Pair {
                eager: true,
                ..pair
            }
            .run();
            assert_eq!(lazy, eager, "{spec} {loss:?}");
            assert!(!lazy.transfers.is_empty());
            let unfinished: Vec<&Transfer> = lazy
                .transfers
                .iter()
                .filter(|t| t.completed.is_none())
                .collect();
            assert!(unfinished.is_empty(), "{spec} {loss:?}: {unfinished:?}");
            let flows = lazy
                .transfers
                .iter()
                .filter(|t| t.kind != TransferKind::Page);
            let bytes: u64 = flows.map(|transfer| transfer.bytes).sum();
            assert_eq!(lazy.receiver.goodput_bytes, bytes, "{spec} {loss:?}");
        }
    }
}

#[test]
fn the_offered_load_is_what_is_carried() {
    let spec = "workload sizes=(exponential mean=30kB) load=50% connections=256";
    let run = Span::from_secs(400);
    let outcome = Pair {
        run,
        ..Pair::of(spec)
    }
    .run();
    let rate = outcome.receiver.goodput_bytes * 8 / 400;
    assert!((4_800_000..5_200_000).contains(&rate), "{rate}");
}

#[test]
fn only_what_arrives_after_the_warm_up_is_counted_as_goodput() {
    let spec = "workload sizes=(fixed bytes=10kB) arrivals=deterministic interval=100ms";
    let whole = Pair::of(spec).run();
    let half = Pair {
        warm_up: Span::from_secs(15),
        ..Pair::of(spec)
    }
    .run();
    assert_eq!(whole.transfers, half.transfers);
    let share = half.receiver.goodput_bytes * 100 / whole.receiver.goodput_bytes;
    assert!((49..=51).contains(&share), "{share}");
}
