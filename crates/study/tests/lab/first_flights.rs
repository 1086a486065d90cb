//! The first packets of a connection, and the first after a pause, for each transport and dialect: what is sent before anything can be
//! acknowledged, with losses in the handshake, after silence, and with small writes.

use sojourn_traces::write::{TraceFormat, run_written};

use crate::support::scenario;

/// When a flight begins, in milliseconds, and how many packets it has.
type Flight = (u64, usize);

/// What a transport sends in each situation.
struct Row {
    flow: &'static str,
    /// Nothing is lost.
    first: Flight,
    /// The first packet of the handshake is lost, and then the two first ones.
    lost: [Flight; 2],
    /// The first answer of the handshake is lost.
    unanswered: Flight,
    /// The source writes 100 bytes at a time, faster than answers come.
    small: usize,
    /// The source begins again after three seconds, with writes of 1000 bytes.
    again: Option<usize>,
}

/// The round trip is 100 ms, so data is sent first 100 ms after the SYN that is answered.
const TABLE: [Row; 17] = [
    // The initial window of RFC 6928, which two lost SYNs lower to a segment (section 2), sent at 0, 1 and 3 s (RFC 6298 section 2). After a
    // pause it is the restart window (RFC 5681 section 4.1): 14 600 bytes are 14 segments of 1000 bytes.
    rfc("cubic"),
    rfc("newreno"),
    rfc("dctcp"),
    // BBR keeps its window through a pause (draft-ietf-ccwg-bbr section 5.4.1): all that is written leaves.
    Row {
        again: Some(686),
        ..rfc("bbr")
    },
    // Linux sends SYNs again when its timer wheel comes to it: after 1.024 s and 2.048 s more. The unused window has fallen to 10 packets,
    // which are counted, not their bytes.
    linux("cubic dialect=linux"),
    linux("newreno dialect=linux"),
    linux("dctcp dialect=linux"),
    // ns-2 knows no restart after a pause: its window of 20 leaves.
    tcp("newreno dialect=ns2", [2, 1, 1], [3100, 9100], Some(20)),
    tcp("sack dialect=ns2", [2, 1, 1], [3100, 9100], Some(20)),
    // ns-3 keeps the initial window whatever was lost, and knows no restart after a pause: its receiver's window of 131 072 bytes leaves. BBR
    // paces it, which takes more than a round trip.
    ns3("newreno dialect=ns3"),
    ns3("cubic dialect=ns3"),
    Row {
        again: None,
        ..ns3("bbr dialect=ns3")
    },
    tcp("tahoe dialect=ns3_24", [1, 1, 1], [3100, 9100], Some(132)),
    // Of QUIC a lost Initial is a loss (RFC 9002 section 4.9), found when a later one is acknowledged; an unanswered one is none. Probes are
    // sent after 999 ms and twice that (section 6.2). What a burst after a pause may be is in the tests of the transport.
    quic("quic cc=reno", 5),
    // 0.7 times 11 600 bytes are a rounding error short of seven packets of 1160 bytes.
    quic("quic cc=cubic", 6),
    quic("quic cc=cubic pacing=false", 6),
    // BBR has no model yet that a loss could change.
    quic("quic cc=bbr", 10),
];

/// TCP with such windows after no, one and two lost packets of the handshake, which begin at such times in the latter cases.
const fn tcp(
    flow: &'static str,
    windows: [usize; 3],
    lost_ms: [u64; 2],
    again: Option<usize>,
) -> Row {
    Row {
        flow,
        first: (100, windows[0]),
        lost: [(lost_ms[0], windows[1]), (lost_ms[1], windows[2])],
        unanswered: (lost_ms[0], windows[1]),
        small: windows[0],
        again,
    }
}

const fn rfc(flow: &'static str) -> Row {
    tcp(flow, [10, 10, 1], [1100, 3100], Some(14))
}

const fn linux(flow: &'static str) -> Row {
    tcp(flow, [10, 10, 1], [1124, 3172], Some(10))
}

const fn ns3(flow: &'static str) -> Row {
    tcp(flow, [10, 10, 10], [3100, 9100], Some(262))
}

const fn quic(flow: &'static str, after_loss: usize) -> Row {
    Row {
        flow,
        first: (100, 10),
        lost: [(1099, after_loss), (3097, after_loss)],
        unanswered: (1099, 10),
        small: 10,
        again: None,
    }
}

/// The flight that follows a number of packets of the handshake of more than 60 bytes and begins a number of seconds into the run or later: what
/// leaves within nine tenths of a round trip.
fn flight(flow: &str, lost: &str, (large, from): (usize, f64)) -> Flight {
    let text = format!(
        "[run]\nduration = \"12s\"\nwarmup = \"0s\"\ndeterministic = true\n\
         [topology]\nrate = \"1Gbps\"\nrtt = \"100ms\"\naccess_rate = \"1Gbps\"\nqueue = \"droptail limit=100000p\"\n\
         [[flows]]\nspec = \"{flow}\"\nstart = \"0s\"\n{lost}"
    );
    let mut written = Vec::new();
    run_written(&scenario(&text), 0, TraceFormat::Ns2, &[], &mut written).expect("a trace");
    let trace = String::from_utf8(written).expect("text");
    let sent = trace.lines().filter_map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let from_sender = words[0] == "+" && words[2..4] == ["2", "0"];
        let bytes: u64 = words[5].parse().expect("bytes");
        (from_sender && bytes > 60).then(|| words[1].parse::<f64>().expect("a time"))
    });
    let sent: Vec<f64> = sent.skip(large).filter(|at| *at >= from).collect();
    let first = sent[0];
    let packets = sent.iter().take_while(|at| **at < first + 0.09);
    let ms = (0..20_000_u32).find(|ms| f64::from(*ms) + 0.5 > first * 1000.0);
    (ms.expect("within the run").into(), packets.count())
}

#[test]
fn the_first_flights_of_every_transport_are_those_of_its_text() {
    let lost = |link: &str, packets: &str| {
        format!("[[impairments]]\nlink = \"{link}\"\nloss_list = \"{packets}\"\n")
    };
    let mut wrong = Vec::new();
    for row in TABLE {
        let bulk = format!("{} bytes=300kB", row.flow);
        let small = format!(
            "{} source=(periodic rate=10Mbps on=50ms off=20s size=100B)",
            row.flow
        );
        let pause = format!(
            "{} source=(periodic rate=400Mbps on=20ms off=3s size=1000B)",
            row.flow
        );
        let initial = usize::from(row.flow.starts_with("quic"));
        let found = [
            ("nothing lost", flight(&bulk, "", (initial, 0.0)), row.first),
            (
                "the first packet lost",
                flight(&bulk, &lost("left-right", "0"), (2 * initial, 0.0)),
                row.lost[0],
            ),
            (
                "two packets lost",
                flight(&bulk, &lost("left-right", "0,1"), (3 * initial, 0.0)),
                row.lost[1],
            ),
            (
                "the answer lost",
                flight(&bulk, &lost("right-left", "0"), (2 * initial, 0.0)),
                row.unanswered,
            ),
            (
                "small writes",
                flight(&small, "", (initial, 0.0)),
                (100, row.small),
            ),
        ];
        let again = row.again.map(|packets| {
            let (_, found) = flight(&pause, "", (initial, 3.015));
            ("after a pause", (0, found), (0, packets))
        });
        for (situation, found, expected) in found.into_iter().chain(again) {
            if found != expected {
                wrong.push(format!(
                    "{}, {situation}: {found:?}, not {expected:?}",
                    row.flow
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
