//! Traces that other programs wrote, against what those programs counted. Sources: `tests/data/traces/README.md` and
//! `tests/data/ns2-goldens/README.md`.

use sojourn_traces::read::format::Format;
use sojourn_traces::read::table::{TraceTable, Value};
use sojourn_traces::read::{Analysis, Options, analyse};
use sojourn_units::{Span, Time};
use std::path::PathBuf;

fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/data")
        .join(name)
}

fn read(name: &str) -> Analysis {
    analyse(&data(name), &Options::default()).unwrap()
}

fn column(analysis: &Analysis, table: &str, column: &str) -> Vec<u64> {
    let table = analysis.table(table).unwrap();
    (0..table.rows.len())
        .map(|row| match table.value(row, column) {
            Some(Value::Integer(count)) => count.unwrap_or(0),
            other => panic!("{column}: {other:?}"),
        })
        .collect()
}

fn numbers(table: &TraceTable, column: &str) -> Vec<Option<f64>> {
    (0..table.rows.len())
        .map(|row| match table.value(row, column) {
            Some(Value::Number(number)) => *number,
            other => panic!("{column}: {other:?}"),
        })
        .collect()
}

#[test]
fn ns2_counts_what_its_trace_gives() {
    let analysis = read("traces/ns2-newreno-2flows.tr.gz");
    assert_eq!(analysis.format, Format::Ns2);
    let total = |table, name| column(&analysis, table, name).iter().sum::<u64>();
    assert_eq!(total("links", "sent_packets"), 6306, "pdepartures_");
    assert_eq!(total("links", "dropped_packets"), 39, "pdrops_");
    assert_eq!(total("nodes", "dropped_packets"), 39);
    let flows = analysis.table("flows").unwrap();
    let of_kind = |kind: &str, name: &str| {
        let rows =
            (0..flows.rows.len()).filter(|row| flows.value(*row, "kind") == Some(&kind.into()));
        rows.map(|row| column(&analysis, "flows", name)[row])
            .collect::<Vec<_>>()
    };
    // The SYN is among them.
    assert_eq!(of_kind("tcp", "sent_packets"), [397, 693], "ndatapack_");
    assert_eq!(of_kind("tcp", "repeated_packets"), [54, 10], "nrexmitpack_");
    // The bottleneck is found to have 1.5 Mb/s, and is never idle for long.
    let links = analysis.table("links").unwrap();
    let bottleneck = (0..links.rows.len())
        .find(|row| links.value(*row, "link") == Some(&"0-1".into()))
        .unwrap();
    let rate = numbers(links, "rate_bps")[bottleneck].unwrap();
    assert!((rate - 1.5e6).abs() < 1.0, "{rate}");
    assert_eq!(
        column(&analysis, "nodes", "sent_packets")
            .iter()
            .sum::<u64>(),
        total("flows", "sent_packets")
    );
    // Every packet ends in one way.
    for row in 0..flows.rows.len() {
        let count = |name| column(&analysis, "flows", name)[row];
        let ends = [
            "received_packets",
            "dropped_packets",
            "lost_packets",
            "open_packets",
        ]
        .map(count);
        assert_eq!(ends.iter().sum::<u64>(), count("sent_packets"));
    }
    // Propagation there and back, and six transmissions of 40 bytes: the SYN of the first flow met no other packet.
    let rtt = numbers(flows, "rtt_s_min");
    let least = 0.044 + 2.0 * (320.0 / 1.5e6 + 2.0 * 320.0 / 1e8);
    let measured = rtt.iter().flatten().fold(f64::MAX, |a, b| a.min(*b));
    assert!((measured - least).abs() < 5e-6, "{measured} {least}");
}

#[test]
fn ns3_counts_what_its_trace_gives() {
    let analysis = read("traces/ns3-dumbbell.tr.gz");
    assert_eq!(analysis.format, Format::Ns3);
    let flows = analysis.table("flows").unwrap();
    let counted = std::fs::read_to_string(data("traces/ns3-dumbbell.csv")).unwrap();
    let rows: Vec<Vec<&str>> = counted
        .lines()
        .filter(|line| !line.starts_with('#'))
        .skip(1)
        .map(|line| line.split(',').collect())
        .collect();
    assert_eq!((rows.len(), flows.rows.len()), (3, 3));
    for fields in rows {
        let row = (0..flows.rows.len())
            .find(|row| {
                let source = flows.value(*row, "source") == Some(&fields[0].into());
                source && flows.value(*row, "destination") == Some(&fields[1].into())
            })
            .unwrap_or_else(|| panic!("{fields:?}"));
        let whole: Vec<u64> = fields[3..].iter().map(|one| one.parse().unwrap()).collect();
        let [
            sent,
            sent_bytes,
            received,
            received_bytes,
            dropped,
            delay,
            jitter,
            sink,
        ] = whole[..]
        else {
            panic!("{fields:?}");
        };
        for (name, expected) in [
            ("sent_packets", sent),
            ("sent_bytes", sent_bytes),
            ("received_packets", received),
            ("received_bytes", received_bytes),
            ("dropped_packets", dropped),
            ("lost_packets", 0),
            ("open_packets", 0),
        ] {
            assert_eq!(
                column(&analysis, "flows", name)[row],
                expected,
                "{name} {fields:?}"
            );
        }
        // FlowMonitor sums in nanoseconds.
        let real = |count: u64| f64::from(u32::try_from(count).unwrap());
        let ours = |name| numbers(flows, name)[row].unwrap();
        let delay = real(delay) * 1e-9 / real(received);
        assert!((ours("delay_s_mean") - delay).abs() < 2e-9, "{fields:?}");
        let jitter = real(jitter) * 1e-9 / (real(received) - 1.0);
        assert!((ours("jitter_s_mean") - jitter).abs() < 2e-9, "{fields:?}");
        // What the sink gave to its application: 60 kB of TCP, of UDP all but the headers.
        match fields[2] {
            "17" => assert_eq!(sink, received_bytes - 28 * received),
            _ => assert!(sink <= received_bytes - 40 * received, "{fields:?}"),
        }
    }
    // Every packet passed three links, or was dropped before the second.
    let total = |table, name| column(&analysis, table, name).iter().sum::<u64>();
    assert_eq!(total("links", "sent_packets"), 540);
    assert_eq!(total("links", "dropped_packets"), 12);
}

#[test]
fn the_tiny_traces_of_ns2_have_what_their_description_says() {
    for (name, sent, dropped) in [
        ("tiny-cbr-underload", 30, 0),
        ("tiny-cbr-overload", 60, 26),
        ("tiny-red-forced", 150, 43),
        ("tiny-drr-two-flows", 160, 0),
    ] {
        let analysis = read(&format!("ns2-goldens/{name}.tr.gz"));
        let total = |column_name| column(&analysis, "flows", column_name).iter().sum::<u64>();
        assert_eq!(total("sent_packets"), sent, "{name}");
        if name != "tiny-drr-two-flows" {
            assert_eq!(total("dropped_packets"), dropped, "{name}");
        }
        assert_eq!(
            total("received_packets") + total("dropped_packets"),
            sent,
            "{name}"
        );
    }
    for (name, drops) in [
        ("tiny-reno-1loss", 1),
        ("tiny-tahoe-1loss", 1),
        ("tiny-newreno-3loss", 3),
        ("tiny-reno-taildrop", 16),
    ] {
        let analysis = read(&format!("ns2-goldens/{name}.tr.gz"));
        assert_eq!(
            column(&analysis, "flows", "dropped_packets")
                .iter()
                .sum::<u64>(),
            drops,
            "{name}"
        );
    }
    // 1000 B at 1 Mb/s and twice at 10 Mb/s, 10 ms and twice 2 ms: without a queue, all delays are the same.
    let analysis = read("ns2-goldens/tiny-cbr-underload.tr.gz");
    let flows = analysis.table("flows").unwrap();
    assert_eq!(numbers(flows, "delay_s_mean"), [Some(0.0236)]);
    assert_eq!(numbers(flows, "jitter_s_mean"), [Some(0.0)]);
}

#[test]
fn tshark_counts_what_a_capture_of_tcpdump_gives() {
    let analysis = read("traces/loopback.pcap.gz");
    assert_eq!(analysis.format, Format::Pcap);
    assert_eq!(column(&analysis, "conversations", "packets"), [45, 43, 60]);
    assert_eq!(
        column(&analysis, "conversations", "bytes"),
        [58_348, 2324, 13_680]
    );
    assert_eq!(
        column(&analysis, "conversations", "retransmitted_packets"),
        [0, 0, 0]
    );
    assert_eq!(
        column(&analysis, "conversations", "payload_bytes")[0],
        40 * 1400
    );
    assert_eq!(column(&analysis, "trace", "packets"), [148]);
    let conversations = analysis.table("conversations").unwrap();
    assert_eq!(
        numbers(conversations, "handshake_s"),
        [Some(32e-6), None, None]
    );
}

/// The capture with its times later by `later` microseconds, without every `n`th packet.
fn elsewhere(bytes: &[u8], later: u32, n: usize) -> Vec<u8> {
    let mut copy = bytes[..24].to_vec();
    let (mut at, mut number) = (24, 0);
    while at < bytes.len() {
        let word = |place: usize| u32::from_le_bytes(bytes[place..place + 4].try_into().unwrap());
        let size = 16 + usize::try_from(word(at + 8)).unwrap();
        let us = u64::from(word(at)) * 1_000_000 + u64::from(word(at + 4)) + u64::from(later);
        number += 1;
        if number % n != 0 {
            copy.extend(u32::try_from(us / 1_000_000).unwrap().to_le_bytes());
            copy.extend(u32::try_from(us % 1_000_000).unwrap().to_le_bytes());
            copy.extend(&bytes[at + 8..at + size]);
        }
        at += size;
    }
    copy
}

#[test]
fn two_captures_give_one_way_delay_and_loss() {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(data("traces/loopback.pcap.gz")).unwrap();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(file), &mut bytes).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let (first, second) = (dir.path().join("a.pcap"), dir.path().join("b.pcap"));
    std::fs::write(&first, &bytes).unwrap();
    std::fs::write(&second, elsewhere(&bytes, 2500, 10)).unwrap();
    let options = Options {
        receiver: Some(second),
        ..Options::default()
    };
    let analysis = analyse(&first, &options).unwrap();
    let total = |name| column(&analysis, "paths", name).iter().sum::<u64>();
    assert_eq!(
        (
            total("sent_packets"),
            total("received_packets"),
            total("lost_packets")
        ),
        (148, 134, 14)
    );
    assert_eq!((total("unsent_packets"), total("reversed_packets")), (0, 0));
    let paths = analysis.table("paths").unwrap();
    for (mean, jitter) in numbers(paths, "delay_s_mean")
        .iter()
        .zip(numbers(paths, "jitter_s_mean"))
    {
        assert_eq!((*mean, jitter), (Some(0.0025), Some(0.0)));
    }
}

/// Where the records of a pcap file begin, and their times in microseconds.
fn times(bytes: &[u8]) -> Vec<(usize, u64)> {
    let (mut all, mut at) = (Vec::new(), 24);
    while at < bytes.len() {
        let word = |place: usize| u32::from_le_bytes(bytes[place..place + 4].try_into().unwrap());
        let us = u64::from(word(at)) * 1_000_000 + u64::from(word(at + 4));
        all.push((at, us));
        at += 16 + usize::try_from(word(at + 8)).unwrap();
    }
    all
}

#[test]
fn packets_that_the_other_capture_had_no_time_to_see_are_open_and_not_lost() {
    const LATER: u32 = 2500;
    let mut bytes = Vec::new();
    let file = std::fs::File::open(data("traces/loopback.pcap.gz")).unwrap();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(file), &mut bytes).unwrap();
    let sent = times(&bytes);
    let dir = tempfile::tempdir().unwrap();
    let (first, second) = (dir.path().join("a.pcap"), dir.path().join("b.pcap"));
    std::fs::write(&first, &bytes).unwrap();
    let there = elsewhere(&bytes, LATER, 10);
    let arrived = times(&there);
    for (begin, end) in [(0, arrived.len()), (0, 60), (50, arrived.len()), (30, 100)] {
        let upto = arrived.get(end).map_or(there.len(), |record| record.0);
        let part = [&there[..24], &there[arrived[begin].0..upto]].concat();
        std::fs::write(&second, &part).unwrap();
        let (begins, ends) = (arrived[begin].1, arrived[end - 1].1);
        // What was left out is lost where it would have been seen, and the rest of what is not there open.
        let seen = |us: u64| begins <= us && us + u64::from(LATER) <= ends;
        let numbered = sent.iter().zip(1..);
        let lost = numbered
            .filter(|((_, us), n)| n % 10 == 0 && seen(*us))
            .count();
        for horizon in [Span::from_secs(60), Span::from_ms(3)] {
            let options = Options {
                receiver: Some(second.clone()),
                horizon,
                ..Options::default()
            };
            let analysis = analyse(&first, &options).unwrap();
            let total = |name| column(&analysis, "paths", name).iter().sum::<u64>();
            let counts = [
                "sent_packets",
                "received_packets",
                "lost_packets",
                "open_packets",
            ];
            let [sent, received, gone, open] = counts.map(total);
            assert_eq!(gone, u64::try_from(lost).unwrap(), "{begin} {end}");
            let early = total("unsent_packets");
            assert_eq!(sent + early, received + gone + open, "{begin} {end}");
        }
    }
}

#[test]
fn captures_with_nothing_in_common_are_refused_with_what_each_has() {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(data("traces/loopback.pcap.gz")).unwrap();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(file), &mut bytes).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let (first, second) = (dir.path().join("a.pcap"), dir.path().join("b.pcap"));
    std::fs::write(&first, &bytes).unwrap();
    let read = |horizon| {
        let options = Options {
            receiver: Some(second.clone()),
            horizon,
            ..Options::default()
        };
        analyse(&first, &options).unwrap_err().to_string()
    };
    // Other addresses: the last byte of each that is 127.0.0.1.
    let strange: Vec<u8> = bytes.clone();
    let strange = strange
        .windows(4)
        .enumerate()
        .filter(|(_, four)| *four == [127, 0, 0, 1])
        .fold(bytes.clone(), |mut copy, (at, _)| {
            copy[at + 3] = 9;
            copy
        });
    std::fs::write(&second, strange).unwrap();
    let error = read(Span::from_secs(60));
    assert!(error.contains("--receiver"), "{error}");
    assert!(error.contains("no packet in common with"), "{error}");
    assert!(error.contains("It has 148 packets"), "{error}");
    assert!(error.contains("127.0.0.9"), "{error}");
    assert!(error.contains("addresses and ports"), "{error}");
    // The same packets, behind the horizon.
    std::fs::write(&second, elsewhere(&bytes, 2500, 10)).unwrap();
    let error = read(Span::from_us(1));
    assert!(error.contains("--horizon 1us"), "{error}");
    assert!(error.contains("the slowest 2.5ms"), "{error}");
    assert!(error.contains("count twice"), "{error}");
}

#[test]
fn a_horizon_below_the_delay_of_the_path_is_refused_and_counts_nothing_twice() {
    let path = data("traces/ns2-newreno-2flows.tr.gz");
    let with = |horizon| {
        let options = Options {
            horizon,
            ..Options::default()
        };
        analyse(&path, &options)
    };
    let sent = |horizon| column(&with(horizon).unwrap(), "trace", "sent_packets")[0];
    assert_eq!(sent(Span::from_secs(1)), sent(Span::from_secs(60)));
    let error = with(Span::from_us(1)).unwrap_err().to_string();
    assert!(error.contains("--horizon 1us"), "{error}");
    assert!(error.contains("count twice"), "{error}");
    assert!(error.contains("choose a horizon above"), "{error}");
}

#[test]
fn a_window_counts_what_is_in_it() {
    let whole = read("traces/ns2-newreno-2flows.tr.gz");
    let window = |from: Option<u64>, to: Option<u64>| {
        let at = |seconds: u64| Time::ZERO + Span::from_secs(seconds);
        let options = Options {
            from: from.map(at),
            to: to.map(at),
            ..Options::default()
        };
        analyse(&data("traces/ns2-newreno-2flows.tr.gz"), &options).unwrap()
    };
    let (early, late) = (window(None, Some(3)), window(Some(3), None));
    for name in ["sent_packets", "received_packets", "dropped_packets"] {
        let [whole, early, late] =
            [&whole, &early, &late].map(|analysis| column(analysis, "trace", name)[0]);
        assert_eq!(early + late, whole, "{name}");
    }
}
