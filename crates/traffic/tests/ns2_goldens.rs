//! ns-2.35's own traces of tiny runs, reproduced line by line: times to the printed digit, order, drops by identity.

#[allow(dead_code, reason = "each test crate uses its part")]
mod common;

use common::{Dumbbell, Flow};
use sojourn_queue::registry::build_aqm;
use sojourn_queue::{Aqm, BuildContext, Cx, Meta, Verdict, View, Waiting};
use sojourn_sim::trace::Merged;
use sojourn_sim::trace_ns2::{FlowLabel, line};
use sojourn_sim::{DropReason, Stream};
use sojourn_units::{Rate, Span, Time};
use std::io::Read;

fn golden(name: &str) -> String {
    read(&format!("{name}.tr"))
}

fn read(name: &str) -> String {
    let path = format!(
        "{}/../../tests/data/ns2-goldens/{name}.gz",
        env!("CARGO_MANIFEST_DIR")
    );
    let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut text = String::new();
    flate2::read::GzDecoder::new(file)
        .read_to_string(&mut text)
        .unwrap();
    text
}

/// The trace of a dumbbell that runs for `seconds`.
fn trace(dumbbell: &Dumbbell, datagram: &str, seconds: u64) -> Vec<String> {
    let lines = std::cell::RefCell::new(Vec::new());
    let ends: Vec<(u32, u32)> = dumbbell.link_ends();
    let labels: Vec<FlowLabel> = (1..)
        .take(dumbbell.flows.len())
        .map(|id| FlowLabel {
            datagram: datagram.to_owned(),
            id,
            source: (2 * id, 0),
            sink: (2 * id + 1, 0),
        })
        .collect();
    // The lag of the network: its longest propagation.
    let lag = dumbbell.delay.max(dumbbell.access_delay);
    let tracer = Merged::new(lag, |record| {
        let index = |i: u32| usize::try_from(i).unwrap();
        let label = &labels[index(record.packet.flow)];
        lines
            .borrow_mut()
            .extend(line(record, ends[index(record.link)], label));
    });
    let mut network = dumbbell.build(tracer);
    network.run_before(Time::ZERO + Span::from_secs(seconds));
    network.finish();
    drop(network);
    lines.into_inner()
}

fn matches(name: &str, mut dumbbell: Dumbbell, datagram: &str, seconds: u64) {
    let golden = golden(name);
    let golden: Vec<&str> = golden.lines().collect();
    for eager in [false, true] {
        dumbbell.eager = eager;
        let ours = trace(&dumbbell, datagram, seconds);
        for (number, (line, theirs)) in ours.iter().zip(&golden).enumerate() {
            assert_eq!(line, theirs, "{name}, line {}", number + 1);
        }
        assert_eq!(ours.len(), golden.len(), "{name}: lines");
    }
}

fn tcp(recovery: &str, packets: u64, queue: &str, losses: &[u64]) -> Dumbbell {
    // ns-2 starts its clock at a random phase; this is the draw that the runs made (generator MRG32k3a, seed 1, second draw).
    let spec = format!("{recovery} window=1000p packets={packets}p tick_phase=0.00555880716s");
    Dumbbell {
        rate: Rate::mbps(1),
        delay: Span::from_ms(20),
        access_rate: Rate::mbps(10),
        access_delay: Span::from_ms(2),
        queue: queue.to_owned(),
        flows: vec![Flow {
            spec,
            start: Span::ZERO,
        }],
        losses: losses.to_vec(),
        eager: false,
        seed: 1,
    }
}

fn cbr(queue: &str, flows: Vec<Flow>) -> Dumbbell {
    Dumbbell {
        rate: Rate::mbps(1),
        delay: Span::from_ms(10),
        access_rate: Rate::mbps(10),
        access_delay: Span::from_ms(2),
        queue: queue.to_owned(),
        flows,
        losses: vec![],
        eager: false,
        seed: 1,
    }
}

fn flow(spec: &str) -> Flow {
    Flow {
        spec: spec.to_owned(),
        start: Span::ZERO,
    }
}

#[test]
fn cbr_underload_matches_ns2() {
    let flows = vec![flow("cbr rate=500kbps size=1000B packets=30p")];
    let dumbbell = cbr("droptail limit=5p", flows);
    matches("tiny-cbr-underload", dumbbell, "cbr", 2);
}

#[test]
fn cbr_overload_matches_ns2() {
    let flows = vec![flow("cbr rate=2Mbps size=1000B packets=60p")];
    let dumbbell = cbr("droptail limit=5p", flows);
    matches("tiny-cbr-overload", dumbbell, "cbr", 2);
}

#[test]
fn reno_with_one_loss_matches_ns2() {
    let dumbbell = tcp("reno", 80, "droptail limit=50p", &[20]);
    matches("tiny-reno-1loss", dumbbell, "", 20);
}

#[test]
fn newreno_with_three_losses_matches_ns2() {
    let dumbbell = tcp("newreno", 80, "droptail limit=50p", &[20, 22, 24]);
    matches("tiny-newreno-3loss", dumbbell, "", 20);
}

#[test]
fn reno_against_a_full_queue_matches_ns2() {
    let dumbbell = tcp("reno", 200, "droptail limit=8p", &[]);
    matches("tiny-reno-taildrop", dumbbell, "", 20);
}

#[test]
fn tahoe_with_one_loss_matches_ns2() {
    let dumbbell = tcp("tahoe", 80, "droptail limit=50p", &[20]);
    matches("tiny-tahoe-1loss", dumbbell, "", 20);
}

#[test]
fn sack_with_three_losses_matches_ns2() {
    let dumbbell = tcp("sack", 80, "droptail limit=50p", &[20, 22, 24]);
    matches("tiny-sack1-3loss", dumbbell, "", 20);
}

#[test]
fn sack_that_loses_a_retransmission_matches_ns2() {
    let dumbbell = tcp(
        "sack",
        80,
        "droptail limit=50p",
        &[14, 16, 18, 24, 28, 30, 33],
    );
    matches("tiny-sack1-relost", dumbbell, "", 20);
}

#[test]
fn sack_against_a_full_queue_matches_ns2() {
    let dumbbell = tcp("sack", 200, "droptail limit=8p", &[]);
    matches("tiny-sack1-taildrop", dumbbell, "", 20);
}

#[test]
fn vegas_against_a_full_queue_matches_ns2() {
    let dumbbell = tcp("vegas", 200, "droptail limit=5p", &[]);
    matches("tiny-vegas-taildrop", dumbbell, "", 20);
}

#[test]
fn fack_against_a_full_queue_matches_ns2() {
    let dumbbell = tcp("tcp recovery=fack", 200, "droptail limit=8p", &[]);
    matches("tiny-fack-taildrop", dumbbell, "", 20);
}

#[test]
fn drr_with_two_flows_matches_ns2() {
    let flows = vec![
        flow("cbr rate=800kbps size=500B packets=80p"),
        Flow {
            spec: "cbr rate=1600kbps size=1000B packets=80p".to_owned(),
            start: Span::from_us(500),
        },
    ];
    let dumbbell = cbr("drr quantum=250B buckets=8 limit=6000B", flows);
    matches("tiny-drr-two-flows", dumbbell, "cbr", 2);
}

/// Six significant digits, as C's `%g` prints them.
fn six_digits(x: f64) -> String {
    let printed = format!("{x:.5e}");
    let (digits, exponent) = printed.split_once('e').unwrap();
    let exponent: i32 = exponent.parse().unwrap();
    let trimmed = |text: &str| {
        let text = text.trim_end_matches('0').trim_end_matches('.');
        text.to_owned()
    };
    if exponent < -4 {
        return format!("{}e-{:02}", trimmed(digits), -exponent);
    }
    trimmed(&format!("{x:.*}", usize::try_from(5 - exponent).unwrap()))
}

/// Arrivals and departures are the golden's own, in the order of its lines: where they coincide, the rounding of ns-2's
/// doubles orders them.
#[test]
fn red_decides_and_averages_as_ns2() {
    let spec = "red dialect=ns2 min=3p max=6p weight=0.1 probability=0.000000001 gentle=false limit=20p \
                queue_in_bytes=false byte_mode=false avpkt=1000B";
    let context = BuildContext::plain(1, "queue/red");
    let mut red = build_aqm(&spec.parse().unwrap(), &context).unwrap();
    let mut rng = Stream::derive(1, 0, "red");
    let golden = golden("tiny-red-forced");
    let events: Vec<Vec<&str>> = golden
        .lines()
        .map(|line| line.split(' ').collect::<Vec<_>>())
        .filter(|line| line[2..4] == ["0", "1"] && line[0] != "r")
        .collect();
    let mut waiting = 0;
    let (mut averages, mut probabilities, mut lengths) = (vec![], vec![], vec![]);
    let (mut drops, mut last, mut length) = (0, vec![0.0, 0.0], 0);
    for (event, next) in events
        .iter()
        .zip(events[1..].iter().map(Some).chain([None]))
    {
        match event[0] {
            "+" => {
                let meta = Meta {
                    size: 1000,
                    flow: 0,
                    tos: 0,
                };
                let view = View {
                    packets: waiting,
                    bytes: 1000 * waiting,
                    rate: Rate::mbps(1),
                    last_departure: Time::ZERO,
                    asked: false,
                    waiting: Waiting::Nothing,
                };
                let seconds: f64 = event[1].parse().unwrap();
                let now = Time::ZERO + Span::round_from_secs(seconds);
                let verdict = red.on_enqueue(&meta, &view, &mut Cx { now, rng: &mut rng });
                let dropped = next.is_some_and(|next| next[0] == "d" && next[11] == event[11]);
                let expected = if dropped {
                    Verdict::Drop(DropReason::Early)
                } else {
                    Verdict::Pass
                };
                assert_eq!(verdict, expected, "packet {} at {}", event[11], event[1]);
                drops += u64::from(dropped);
                if length != waiting {
                    length = waiting;
                    lengths.push(waiting.to_string());
                }
                let mut state = vec![];
                red.state(&mut state);
                for (index, series) in [&mut averages, &mut probabilities].into_iter().enumerate() {
                    if state[index] != last[index] {
                        series.push(six_digits(state[index]));
                    }
                }
                last = state;
                waiting += u64::from(!dropped);
            }
            "-" => waiting -= 1,
            _ => {}
        }
    }
    assert_eq!(drops, 43);
    let traced = read("tiny-red-forced.avg");
    let traced = |variable: &str| -> Vec<String> {
        traced
            .lines()
            .filter_map(|line| line.strip_prefix(variable)?.trim().split_once(' '))
            .map(|(_, value)| value.trim().to_owned())
            .collect()
    };
    assert_eq!(averages, traced("a"));
    assert_eq!(probabilities, traced("p"));
    assert_eq!(lengths, traced("Q"));
}
