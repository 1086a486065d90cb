//! Captures in which a connection follows another on its ports, or something is sent again: what counts as a retransmission, and what as a
//! round trip. The files' README says what is in them; all paths take 0.1 s.

use sojourn_lab::traces::Options;
use sojourn_lab::traces::table::{TraceTable, Value};

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
