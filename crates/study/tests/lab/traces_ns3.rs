//! An ASCII trace of ns-3 in which a router lies between two hosts, in the lines of ns-3's tutorial (section "Parsing Ascii Traces"), against
//! what can be counted by hand. No program of ns-3 ran for it.

use sojourn_traces::read::format::Format;
use sojourn_traces::read::input::Input;
use sojourn_traces::read::table::{TraceTable, Value};
use sojourn_traces::read::{Analysis, Options, events};
use std::io::Cursor;

/// One event: letter, time, node, device; of packet `id` with `ttl`, between the hosts, or back.
fn line(event: char, time: &str, node: u32, device: u32, id: u32, ttl: u32, back: bool) -> String {
    let tail = match event {
        '+' => "TxQueue/Enqueue",
        '-' => "TxQueue/Dequeue",
        'd' => "TxQueue/Drop",
        _ => "MacRx",
    };
    let (ends, ports) = match back {
        false => ("10.1.1.1 > 10.1.2.2", "49153 > 9"),
        true => ("10.1.2.2 > 10.1.1.1", "9 > 49153"),
    };
    format!(
        "{event} {time} /NodeList/{node}/DeviceList/{device}/$ns3::PointToPointNetDevice/{tail} \
         ns3::PppHeader (Point-to-Point Protocol: IP (0x0021)) \
         ns3::Ipv4Header (tos 0x0 DSCP Default ECN Not-ECT ttl {ttl} id {id} protocol 17 offset (bytes) 0 flags [none] length: 1052 {ends}) \
         ns3::UdpHeader (length: 1032 {ports}) Payload (size=1024)\n"
    )
}

/// Packet `id` at `t` tenths of a second through the router, 10 ms a link, 5 ms in the router's queue.
fn through(id: u32, t: u32) -> String {
    let at = |ms: u32| format!("{}.{}{ms:02}", t / 10, t % 10);
    [
        line('+', &at(0), 0, 0, id, 64, false),
        line('-', &at(0), 0, 0, id, 64, false),
        line('r', &at(10), 1, 0, id, 64, false),
        line('+', &at(10), 1, 1, id, 63, false),
        line('-', &at(15), 1, 1, id, 63, false),
        line('r', &at(25), 2, 0, id, 63, false),
    ]
    .concat()
}

fn analyse(text: &str) -> Analysis {
    let input = Input::new(Cursor::new(text.to_owned()), "t.tr", false).unwrap();
    events::analyse(input, Format::Ns3, &Options::default()).unwrap()
}

fn count(table: &TraceTable, row: usize, column: &str) -> u64 {
    match table.value(row, column) {
        Some(Value::Integer(Some(count))) => *count,
        other => panic!("{column}: {other:?}"),
    }
}

fn number(table: &TraceTable, row: usize, column: &str) -> f64 {
    match table.value(row, column) {
        Some(Value::Number(Some(number))) => *number,
        other => panic!("{column}: {other:?}"),
    }
}

#[test]
fn routers_forward_and_hosts_receive_though_the_trace_names_addresses_only() {
    let mut text: String = (0..5).map(|id| through(id, 10 + id)).collect();
    text.push_str(&line('+', "1.9", 2, 0, 0, 64, true));
    text.push_str(&line('d', "1.9", 2, 0, 0, 64, true));
    let analysis = analyse(&text);
    let flows = analysis.table("flows").unwrap();
    assert_eq!(count(flows, 0, "sent_packets"), 5);
    assert_eq!(count(flows, 0, "received_packets"), 5);
    assert!((number(flows, 0, "delay_s_mean") - 0.025).abs() < 1e-15);
    assert_eq!(number(flows, 0, "jitter_s_mean"), 0.0);
    assert_eq!(
        (
            count(flows, 1, "sent_packets"),
            count(flows, 1, "dropped_packets")
        ),
        (1, 1)
    );
    let nodes = analysis.table("nodes").unwrap();
    let of = |column| [0, 1, 2].map(|row| count(nodes, row, column));
    assert_eq!(of("sent_packets"), [5, 0, 1]);
    assert_eq!(of("forwarded_packets"), [0, 5, 0]);
    assert_eq!(of("received_packets"), [0, 0, 5]);
    assert_eq!(of("dropped_packets"), [0, 0, 1]);
    let links = analysis.table("links").unwrap();
    assert_eq!(links.value(1, "link"), Some(&Value::Text("1/1".to_owned())));
    assert_eq!(links.value(1, "to"), Some(&Value::Text("2".to_owned())));
    assert!((number(links, 1, "queueing_s_mean") - 0.005).abs() < 1e-15);
    assert!((number(links, 1, "transit_s_mean") - 0.01).abs() < 1e-15);
}

#[test]
fn what_arrived_before_its_end_was_known_arrived_first() {
    // Delays of 25 ms, and one of 30 ms for the first packet; after a second it is known that node 2 keeps what it gets.
    let mut text = through(0, 10).replace("r 1.025 /NodeList/2", "r 1.030 /NodeList/2");
    text.push_str(&(1..20).map(|id| through(id, 10 + id)).collect::<String>());
    let analysis = analyse(&text);
    let flows = analysis.table("flows").unwrap();
    assert_eq!(count(flows, 0, "received_packets"), 20);
    let jitter = number(flows, 0, "jitter_s_mean");
    assert!((jitter - 0.005 / 19.0).abs() < 1e-12, "{jitter}");
    // The times between arrivals are 95 ms once, and 100 ms.
    let gap = number(flows, 0, "gap_s_min");
    assert!((gap - 0.095).abs() < 1e-12, "{gap}");
}

#[test]
fn what_arrives_last_counts_in_the_step_in_which_it_arrived() {
    // A second passes before it is known that node 2 keeps what it gets.
    let mut text = through(0, 9);
    text.push_str(&through(1, 45));
    let analysis = analyse(&text);
    let series = analysis.table("series").unwrap();
    let flows = Value::Text("flow".to_owned());
    let rows = (0..series.rows.len()).filter(|row| series.value(*row, "subject") == Some(&flows));
    let received: Vec<(f64, u64)> = rows
        .map(|row| {
            (
                number(series, row, "time_s"),
                count(series, row, "received_packets"),
            )
        })
        .collect();
    assert_eq!(received, [(0.0, 1), (4.0, 1)]);
}
