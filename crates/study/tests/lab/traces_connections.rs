//! Captures in which a connection follows another on its ports, or something is sent again: what counts as a retransmission, and what as a
//! round trip. The files' README says what is in them; all paths take 0.1 s.

use sojourn_traces::read::Options;
use sojourn_traces::read::table::{TraceTable, Value};

use crate::support::{analyse, bytes};

/// The conversations of a capture.
fn conversations(name: &str) -> TraceTable {
    let file = bytes(&format!("traces/captures/{name}.pcap.gz"));
    let analysis = analyse(&file, name, &Options::default()).unwrap();
    analysis.table("conversations").unwrap().clone()
}

/// Retransmissions, number of round trips and the longest, of what the host with this address sends.
fn of(table: &TraceTable, source: &str) -> (u64, u64, f64) {
    let mut rows = (0..table.rows.len()).filter(|row| {
        let name = table.value(*row, "conversation");
        matches!(name, Some(Value::Text(name)) if name.starts_with(&format!("tcp {source}:")))
    });
    let row = rows.next().unwrap();
    let count = |column| match table.value(row, column) {
        Some(Value::Integer(Some(count))) => *count,
        other => panic!("{column}: {other:?}"),
    };
    let longest = match table.value(row, "rtt_s_max") {
        Some(Value::Number(longest)) => longest.unwrap_or(0.0),
        other => panic!("{other:?}"),
    };
    (count("retransmitted_packets"), count("rtt_count"), longest)
}

const CLIENT: &str = "10.0.0.1";
const SERVER: &str = "10.0.0.2";

fn near(value: f64, wanted: f64) -> bool {
    (value - wanted).abs() < 1e-6
}

#[test]
fn a_connection_on_the_ports_of_another_repeats_nothing_of_it() {
    let lower = conversations("port-reuse");
    let (again, trips, longest) = of(&lower, CLIENT);
    assert_eq!((again, trips), (0, 103));
    assert!(near(longest, 0.1), "{longest}");
    let higher = conversations("port-reuse-higher");
    assert_eq!(of(&higher, CLIENT).0, 0);
    let reset = conversations("port-reuse-rst-server-data");
    assert_eq!(of(&reset, SERVER).0, 0);
    assert_eq!(of(&reset, CLIENT).0, 0);
}

#[test]
fn a_byte_that_was_not_acknowledged_is_sent_again_and_one_that_was_keeps_alive() {
    for (name, wanted) in [
        ("one-byte-again", 1),
        ("two-bytes-again", 1),
        ("keepalive", 0),
    ] {
        let (again, _, longest) = of(&conversations(name), CLIENT);
        assert_eq!(again, wanted, "{name}");
        assert!(near(longest, 0.1), "{name}: {longest}");
    }
}

#[test]
fn an_acknowledgement_of_what_was_sent_again_is_no_round_trip() {
    let (again, trips, longest) = of(&conversations("rtt-after-hole"), CLIENT);
    assert_eq!((again, trips), (1, 1));
    assert!(near(longest, 0.1), "{longest}");
}

/// A pcap file with each packet as many times as `copies`, 20 µs apart.
fn copied(file: &[u8], copies: u32) -> Vec<u8> {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    let mut all = file[..24].to_vec();
    let mut at = 24;
    while at < file.len() {
        let length = usize::try_from(word(at + 8)).unwrap();
        for copy in 0..copies {
            all.extend(word(at).to_le_bytes());
            all.extend((word(at + 4) + 20 * copy).to_le_bytes());
            all.extend(&file[at + 8..at + 16 + length]);
        }
        at += 16 + length;
    }
    all
}

#[test]
fn frames_that_were_captured_twice_are_remarked_on() {
    let file = bytes("traces/captures/port-reuse.pcap.gz");
    let remarks = |copies| {
        let file = copied(&file, copies);
        let analysis = analyse(&file, "some.pcap", &Options::default()).unwrap();
        analysis.remarks
    };
    assert_eq!(remarks(1), Vec::<String>::new());
    let told = remarks(2);
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("captured twice"), "{told:?}");
}

#[test]
fn retransmissions_of_a_step_are_in_its_row() {
    let file = bytes("traces/captures/two-bytes-again.pcap.gz");
    let analysis = analyse(&file, "some.pcap", &Options::default()).unwrap();
    let series = analysis.table("series").unwrap();
    let step = Options::default().step.as_secs_f64();
    let sum = |column: &str| -> f64 {
        let rows = (0..series.rows.len())
            .filter(|row| series.value(*row, "subject") == Some(&Value::Text("trace".to_owned())));
        rows.map(|row| match series.value(row, column) {
            Some(Value::Number(Some(number))) => number * step,
            other => panic!("{column}: {other:?}"),
        })
        .sum()
    };
    assert!(near(sum("retransmitted_pps"), 1.0));
    assert!(near(sum("filled_pps"), 0.0));
    let errors = sum("errors_pps");
    assert!(near(errors, 1.0 + sum("duplicate_acks_pps")), "{errors}");
}
