//! Captures that are written, of every kind of TCP flow in every dialect: what the headers say is what the flow sent.

use proptest::prelude::*;
use proptest::sample::select;
use sojourn_run::compile::compile;
use sojourn_scenario::document::Document;
use sojourn_scenario::model::Scenario;
use sojourn_traces::read::Options;
use sojourn_traces::read::table::{TraceTable, Value};
use sojourn_traces::write::{TraceFormat, run_written};
use sojourn_traffic::flow::{Transport, flow_kinds};
use sojourn_transport::TcpParams;
use sojourn_transport::ns2::Ns2Params;
use sojourn_transport::ns3::Ns3Params;
use sojourn_units::Params;
use std::collections::BTreeMap;
use std::process::Command;

use crate::support::{analyse, scenario};

/// A segment of TCP, as its headers have it.
#[derive(Clone, Copy, Debug)]
struct Segment {
    ends: ([u8; 6], [u8; 6]),
    sequence: u32,
    syn: bool,
    fin: bool,
    payload: u32,
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn short(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16::from_be_bytes(bytes[at..at + 2].try_into().unwrap()))
}

/// The segments of a pcapng file of raw IPv4.
fn segments(file: &[u8]) -> Vec<Segment> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < file.len() {
        let length = usize::try_from(word(file, at + 4)).unwrap();
        let block = &file[at..at + length];
        at += length;
        if word(block, 0) != 6 {
            continue;
        }
        let (captured, original) = (word(block, 20), word(block, 24));
        let ip = &block[28..];
        assert_eq!(ip[0], 0x45);
        assert_eq!(short(ip, 2), original, "the length is that of the frame");
        if ip[9] != 6 {
            continue;
        }
        let tcp = &ip[20..];
        let header = u32::from(tcp[12] >> 4) * 4;
        assert!((20..=60).contains(&header), "{header}");
        assert_eq!(20 + header, captured, "headers are written whole");
        let end = |address: usize, port: usize| {
            let mut end = [0; 6];
            end[..4].copy_from_slice(&ip[address..address + 4]);
            end[4..].copy_from_slice(&tcp[port..port + 2]);
            end
        };
        found.push(Segment {
            ends: (end(12, 0), end(16, 2)),
            sequence: short(tcp, 4) << 16 | short(tcp, 6),
            syn: tcp[13] & 2 != 0,
            fin: tcp[13] & 1 != 0,
            payload: original - captured,
        });
    }
    found
}

/// A scenario of flows of these specifications, in which nothing is lost.
fn text(specs: &[String]) -> String {
    let flows = specs
        .iter()
        .map(|spec| format!("[[flows]]\nspec = {spec:?}\nstart = \"0s\"\n"));
    format!(
        "[run]\nduration = \"2s\"\nwarmup = \"0s\"\n[topology]\nrate = \"1Gbps\"\nrtt = \"20ms\"\n\
         queue = \"droptail limit=100000p\"\n{}",
        flows.collect::<String>()
    )
}

/// Whether there is such a flow: not every congestion control has every dialect.
fn exists(spec: &String) -> bool {
    let text = text(std::slice::from_ref(spec));
    let document = Document::parse(&text, "t.toml").unwrap();
    let scenario = Scenario::from_document(&document);
    scenario.is_ok_and(|scenario| compile(&scenario.resolve().unwrap(), 0).is_ok())
}

/// What passed both links at the senders of flows of these specifications.
fn lossless(specs: &[String]) -> Vec<u8> {
    let scenario = scenario(&text(specs));
    let compiled = compile(&scenario.resolve().unwrap(), 0).unwrap();
    let links: Vec<String> = compiled
        .links
        .iter()
        .map(|info| info.name.clone())
        .filter(|name| name.ends_with("-src-left") || name.ends_with("-src"))
        .collect();
    let mut bytes = Vec::new();
    let outcome = run_written(&scenario, 0, TraceFormat::Pcapng, &links, &mut bytes).unwrap();
    for flow in &outcome.flows {
        assert_eq!(flow.retransmissions, 0, "{}", flow.name);
        assert!(flow.delivered_packets > 0, "{}", flow.name);
    }
    bytes
}

fn count(table: &TraceTable, row: usize, column: &str) -> u64 {
    match table.value(row, column) {
        Some(Value::Integer(count)) => count.unwrap_or(0),
        other => panic!("{column}: {other:?}"),
    }
}

/// Without loss, the sequence number steps by the payload, nothing else carries any, and nothing looks like a repetition.
fn check(file: &[u8], about: &str) {
    let mut next: BTreeMap<([u8; 6], [u8; 6]), u32> = BTreeMap::new();
    let mut payload: BTreeMap<([u8; 6], [u8; 6]), u64> = BTreeMap::new();
    for segment in segments(file) {
        if segment.syn {
            assert_eq!(segment.payload, 0, "{about}: a SYN carries {segment:?}");
            next.insert(segment.ends, segment.sequence.wrapping_add(1));
            continue;
        }
        let next = next.entry(segment.ends).or_insert(segment.sequence);
        if segment.payload > 0 || segment.fin {
            assert_eq!(segment.sequence, *next, "{about}: {segment:?}");
            *next = segment
                .sequence
                .wrapping_add(segment.payload + u32::from(segment.fin));
        }
        *payload.entry(segment.ends).or_default() += u64::from(segment.payload);
    }
    for (ends, bytes) in &payload {
        let back = payload.get(&(ends.1, ends.0)).copied().unwrap_or(0);
        assert!(
            *bytes == 0 || back == 0,
            "{about}: an acknowledgement carries {ends:?} {back}"
        );
    }
    assert!(payload.values().sum::<u64>() > 0, "{about}");
    let analysis = analyse(file, "own.pcapng", &Options::default()).unwrap();
    let conversations = analysis.table("conversations").unwrap();
    for row in 0..conversations.rows.len() {
        for column in ["retransmitted_packets", "filled_packets"] {
            let name = conversations.value(row, "conversation");
            assert_eq!(
                count(conversations, row, column),
                0,
                "{about}: {column} {name:?}"
            );
        }
    }
}

/// What tshark counts in a capture: repetitions and losses that it supposes, and the SYNs that carry something. `None` where it is not
/// installed.
#[expect(clippy::print_stderr, reason = "a test that skips says why")]
fn tshark(file: &[u8]) -> Option<(usize, usize)> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("own.pcapng");
    std::fs::write(&path, file).unwrap();
    let lines = |filter: &str| {
        let output = Command::new("tshark")
            .args([
                "-r".as_ref(),
                path.as_os_str(),
                "-Y".as_ref(),
                filter.as_ref(),
            ])
            .output();
        match output {
            Ok(output) if output.status.success() => {
                Some(String::from_utf8_lossy(&output.stdout).lines().count())
            }
            other => {
                eprintln!("skipped: no tshark here ({other:?})");
                None
            }
        }
    };
    let again = "tcp.analysis.retransmission or tcp.analysis.spurious_retransmission or tcp.analysis.out_of_order \
         or tcp.analysis.lost_segment or tcp.analysis.ack_lost_segment";
    Some((lines(again)?, lines("tcp.flags.syn == 1 and tcp.len > 0")?))
}

/// Flows with feedback that are no TCP.
const BY_UDP: [&str; 4] = ["tfrc", "quic", "rtp", "srm"];

/// What a kind of flow needs beside its name.
fn spec(name: &str, dialect: &str) -> String {
    match name {
        "workload" => {
            format!(
                "workload sizes=(fixed bytes=30000B) interval=30ms connections=3 tcp=(cubic dialect={dialect})"
            )
        }
        "request_response" => {
            format!("request_response think=20ms tcp=(newreno dialect={dialect})")
        }
        "web" | "dash" => format!("{name} tcp=(sack dialect={dialect})"),
        _ => format!("{name} dialect={dialect} packets=200p"),
    }
}

/// The kinds of TCP flow that each dialect has.
fn kinds() -> BTreeMap<&'static str, Vec<&'static str>> {
    let tables = [
        TcpParams::DIALECTS,
        Ns2Params::DIALECTS,
        Ns3Params::DIALECTS,
    ];
    let transports: Vec<&str> = tables.into_iter().flatten().map(|info| info.name).collect();
    let mut all: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for kind in flow_kinds() {
        // Those that answer losses as TCP does may be carried by UDP.
        if kind.transport != Transport::Tcp || BY_UDP.contains(&kind.name) {
            continue;
        }
        for dialect in kind.dialects {
            // Others are of a congestion control alone, in the dialect of its transport.
            if !transports.contains(&dialect.name) {
                continue;
            }
            let names = all.entry(dialect.name).or_default();
            if !names.contains(&kind.name) {
                names.push(kind.name);
            }
        }
    }
    all
}

#[test]
fn a_capture_of_any_dialect_and_kind_of_flow_without_loss_shows_none() {
    let kinds = kinds();
    assert!(kinds.len() >= 5, "{kinds:?}");
    let mut all = 0;
    for (dialect, names) in kinds {
        let specs = names.iter().map(|name| spec(name, dialect));
        let specs: Vec<String> = specs.filter(exists).collect();
        all += specs.len();
        let file = lossless(&specs);
        check(&file, dialect);
        if let Some(seen) = tshark(&file) {
            assert_eq!(seen, (0, 0), "{dialect}: {names:?}");
        }
    }
    assert!(all >= 60, "{all} flows");
}

#[test]
fn a_capture_of_tahoe_in_ns3_24_has_its_data_and_options_and_no_header_of_the_link() {
    let file = lossless(&["tahoe dialect=ns3_24 packets=20p".to_owned()]);
    let data: Vec<u32> = segments(&file)
        .iter()
        .map(|segment| segment.payload)
        .filter(|payload| *payload > 0)
        .collect();
    assert_eq!(data, [536; 20]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_capture_has_the_payload_of_segments_whatever_the_headers_count(
        flow in select(vec!["reno", "newreno", "sack", "cubic", "bbr", "dctcp", "vegas"]),
        dialect in select(vec!["rfc", "ns3", "linux"]),
        headers in 0u32..80,
        mss in 1u32..3000,
    ) {
        let spec = format!("{flow} dialect={dialect} headers={headers}B mss={mss}B packets=30p");
        check(&lossless(std::slice::from_ref(&spec)), &spec);
    }
}
