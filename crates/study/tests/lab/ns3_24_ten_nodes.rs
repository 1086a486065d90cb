//! ns-3.24's own runs of ten nodes with TCP Tahoe and UDP over RED or DropTail (`tests/data/ns3-3.24`), run again from the study
//! `red-droptail-ten-nodes`: all 72 published lines to the printed digit with every byte and drop, and packet traces line by line.

use crate::support::data;
use sojourn_results::outcome::RunOutcome;
use sojourn_results::stats::significant;
use sojourn_run::compile::compile;
use sojourn_run::run::run;
use sojourn_scenario::model::{Scenario, Topology};
use sojourn_sim::trace::{Event, Merged};
use sojourn_sim::{Flags, Network, to_usize};
use sojourn_study::study::Study;
use sojourn_transport::ns3::Ns3Change;
use sojourn_units::{Rate, Span, Time};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;

fn path(below: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../..", below]
        .iter()
        .collect()
}

/// The scenario of a published line, by its levels: configuration set, queue, rate and delay multiplier.
fn scenarios() -> BTreeMap<[String; 4], Scenario> {
    let study = Study::read(&path("studies/red-droptail-ten-nodes/study.toml")).expect("a study");
    study
        .points
        .into_iter()
        .filter(|point| point.experiment == "published")
        .map(|point| {
            let level = |factor: &str| point.levels[factor].clone();
            let levels = ["config", "queue", "rate", "rtt"].map(level);
            let scenario = point.scenario().expect("a scenario");
            (levels, Scenario::clone(&scenario))
        })
        .collect()
}

/// The rows of ns-3.24's runs: each value by its column.
fn rows() -> Vec<BTreeMap<String, String>> {
    let file = path("tests/data/ns3-3.24/ten-nodes-runs.csv");
    let mut reader = csv::Reader::from_path(file).expect("the rows");
    reader
        .deserialize()
        .map(|row| row.expect("a row"))
        .collect()
}

fn levels(row: &BTreeMap<String, String>) -> [String; 4] {
    let queue = row["queue"].strip_suffix("Queue").expect("a queue");
    let queue = if queue == "Red" { "RED" } else { queue };
    [&row["config"], queue, &row["dratem"], &row["rttm"]].map(str::to_owned)
}

fn received(outcome: &RunOutcome, label: &str) -> u64 {
    let flows = outcome.flows.iter().filter(|flow| flow.label == label);
    flows.map(|flow| flow.goodput_bytes).sum()
}

/// Drops at a queue.
fn dropped(outcome: &RunOutcome, link: &str) -> u64 {
    let mut queues = outcome.queues.iter();
    let queue = queues.find(|queue| queue.link == link).expect(link);
    queue.totals.dropped()
}

#[allow(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "bytes below 2^53"
)]
fn per_second(bytes: u64, span: Span) -> f64 {
    bytes as f64 / span.as_secs_f64()
}

#[test]
fn all_72_published_lines_come_out_to_the_printed_digit() {
    let scenarios = scenarios();
    let rows = rows();
    assert_eq!((rows.len(), scenarios.len()), (72, 72));
    let mut exact = 0;
    for row in &rows {
        let levels = levels(row);
        let outcome = run(&scenarios[&levels], 0).expect("a run");
        let (tcp, udp) = (received(&outcome, "tcp"), received(&outcome, "udp"));
        let end = outcome.active();
        let ours = [
            per_second(tcp, end),
            per_second(udp, end),
            end.as_secs_f64(),
        ];
        let theirs = ["published_tcp_gp", "published_udp_gp", "published_time"];
        let same = ours.iter().zip(theirs).all(|(ours, column)| {
            let theirs: f64 = row[column].parse().expect(column);
            significant(*ours, 6) == significant(theirs, 6)
        });
        exact += usize::from(same);
        let drops = ["k1-k2", "b1-k1", "c1-c2"].map(|link| dropped(&outcome, link).to_string());
        let counted = ["core_drops", "b1_drops", "c1c2_drops"].map(|column| row[column].clone());
        assert_eq!(tcp.to_string(), row["tcp_bytes_received"], "{levels:?}");
        assert_eq!(drops, counted, "{levels:?}");
    }
    assert_eq!(exact, 72);
}

#[test]
fn with_the_slow_link_repaired_every_byte_of_tcp_is_that_of_ns_3() {
    let scenarios = scenarios();
    let mut compared = 0;
    for row in rows() {
        if row["repaired_tcp_bytes_received"].is_empty() {
            continue;
        }
        let levels = levels(&row);
        let mut scenario = scenarios[&levels].clone();
        let Topology::Graph(links) = &mut scenario.topology else {
            panic!("a graph")
        };
        links[2].rate = Rate::mbps(5);
        let outcome = run(&scenario, 0).expect("a run");
        let ours = received(&outcome, "tcp").to_string();
        assert_eq!(ours, row["repaired_tcp_bytes_received"], "{levels:?}");
        // The sources stop at 500 s; what is left is sent; then the connection waits twice 120 s.
        let end = outcome.active().as_secs_f64();
        assert!((740.0..800.0).contains(&end), "{levels:?}: {end}");
        compared += 1;
    }
    assert_eq!(compared, 24);
}

/// A line of a trace with the order that it has at one instant: arrivals, what they change, what is sent.
type Line = (Time, u8, String);

fn seconds(time: Time) -> String {
    let ns = time.as_ps() / 1000;
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

/// What ns-3's trace shows of the first 60 s.
fn trace(scenario: &Scenario) -> Vec<String> {
    let mut compiled = compile(&scenario.resolve().unwrap(), 0).expect("a network");
    let link = |name: &str| {
        let mut links = compiled.links.iter();
        links.position(|link| link.name == name).expect(name)
    };
    let (out, back) = (link("b2-b1"), link("b1-b2"));
    let slow = [link("c1-c2"), link("c2-c1")];
    let (tcp, flow) = compiled
        .flows
        .iter()
        .zip(0_u32..)
        .find(|(flow, _)| flow.label == "tcp")
        .map(|(flow, index)| (flow.sender, index))
        .expect("a TCP flow");
    compiled.network.agents[tcp].agent.keep_ns3_changes();
    let records = RefCell::new(Vec::new());
    let lag = compiled.lag();
    let tracer = Merged::new(lag, |record| records.borrow_mut().push(*record));
    let mut network = Network::build(compiled.network, tracer).expect("connected");
    let end = Time::ZERO + Span::from_secs(60);
    network.run_before(end);
    let changes = network.agent(tcp).ns3_changes().to_vec();
    network.finish();
    drop(network);

    let mut lines: Vec<Line> = Vec::new();
    let mut windows = changes.iter().filter_map(|(_, change)| match change {
        Ns3Change::Received(window) => Some(*window),
        _ => None,
    });
    let mut sent = changes.iter().filter_map(|(_, change)| match change {
        Ns3Change::Sent(flags, payload, window) => Some((*flags, *payload, *window)),
        _ => None,
    });
    for record in records.into_inner() {
        let (time, packet) = (record.key.time, record.packet);
        let at = seconds(time);
        let index = to_usize(record.link);
        let (seq, ack, size) = (packet.seq, packet.ack, packet.size);
        match record.event {
            _ if time >= end => {}
            Event::Drop(_) if !slow.contains(&index) => {
                lines.push((time, 3, format!("d,{at},{index},{size},,,,")));
            }
            Event::Dequeue if index == out && packet.flow == flow => {
                let (flags, payload, window) = sent.next().expect("a segment for each packet");
                let header = format!("{flags},{payload},{window},{size}");
                lines.push((time, 2, format!("s,{at},{seq},{ack},{header}")));
            }
            Event::Receive if index == back && packet.flow == flow => {
                let syn = packet.flags.has(Flags::SYN);
                let flags = if syn { 18 } else { 16 };
                let window = windows.next().expect("a header for each arrival");
                lines.push((
                    time,
                    0,
                    format!("r,{at},{seq},{ack},{flags},0,{window},{size}"),
                ));
            }
            _ => {}
        }
    }
    for (time, change) in changes {
        let at = seconds(time);
        let line = match change {
            Ns3Change::Cwnd(old, new) => format!("c,{at},{old},{new},,,,"),
            Ns3Change::Ssthresh(old, new) => format!("h,{at},{old},{new},,,,"),
            Ns3Change::Rto(old, new) => {
                let (old, new) = (old.as_secs_f64(), new.as_secs_f64());
                format!("t,{at},{old:.6},{new:.6},,,,")
            }
            Ns3Change::Received(_) | Ns3Change::Sent(..) => continue,
        };
        // ns-3's program listens to the socket from after its first SYN on.
        if time > Time::ZERO && time < end {
            lines.push((time, 1, line));
        }
    }
    lines.sort_by_key(|(time, order, _)| (*time, *order));
    lines.into_iter().map(|(_, _, line)| line).collect()
}

#[test]
fn traces_of_ns_3_are_reproduced_line_by_line() {
    let scenarios = scenarios();
    for (name, levels) in [
        ("droptail-config1-rate3-rtt4", ["1", "DropTail", "3", "4"]),
        ("droptail-config2-rate3-rtt1", ["2", "DropTail", "3", "1"]),
        ("red-config1-rate3-rtt2", ["1", "RED", "3", "2"]),
        ("red-config2-rate2-rtt2", ["2", "RED", "2", "2"]),
    ] {
        let golden = data(&format!("ns3-3.24/{name}.csv.gz"));
        let golden: Vec<&str> = golden.lines().skip(1).collect();
        for eager in [false, true] {
            let mut scenario = scenarios[&levels.map(str::to_owned)].clone();
            scenario.run.eager = eager;
            let ours = trace(&scenario);
            for (number, (ours, theirs)) in ours.iter().zip(&golden).enumerate() {
                assert_eq!(ours, theirs, "{name}, line {}, eager {eager}", number + 2);
            }
            assert_eq!(ours.len(), golden.len(), "{name}: lines, eager {eager}");
        }
    }
}
