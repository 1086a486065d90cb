//! Two captures of the same packets, some of them lost on the way: what is known of each.

use proptest::collection::btree_set;
use proptest::prelude::*;
use sojourn_traces::read::format::Format;
use sojourn_traces::read::input::Input;
use sojourn_traces::read::table::{TraceTable, Value};
use sojourn_traces::read::{Analysis, Options, capture};
use std::io::Cursor;

use crate::support::bytes;

fn compare(sender: Vec<u8>, receiver: Vec<u8>) -> Analysis {
    let open = |file: Vec<u8>, name| Input::new(Cursor::new(file), name, false).unwrap();
    let second = (open(receiver, "receiver.pcap"), Format::Pcap);
    let options = Options {
        receiver: Some("receiver.pcap".into()),
        ..Options::default()
    };
    capture::analyse(
        open(sender, "sender.pcap"),
        Format::Pcap,
        Some(second),
        &options,
    )
    .unwrap()
}

fn count(table: &TraceTable, column: &str) -> u64 {
    match table.value(0, column) {
        Some(Value::Integer(Some(count))) => *count,
        other => panic!("{column}: {other:?}"),
    }
}

fn number(table: &TraceTable, column: &str) -> Option<f64> {
    match table.value(0, column) {
        Some(Value::Number(number)) => *number,
        other => panic!("{column}: {other:?}"),
    }
}

/// Lost and open packets, and the least and greatest delay.
fn outcome(analysis: &Analysis) -> (u64, u64, Option<f64>, Option<f64>) {
    let paths = analysis.table("paths").unwrap();
    (
        count(paths, "lost_packets"),
        count(paths, "open_packets"),
        number(paths, "delay_s_min"),
        number(paths, "delay_s_max"),
    )
}

fn all_take(analysis: &Analysis, wanted: f64, lost: u64) {
    let (gone, open, least, most) = outcome(analysis);
    assert_eq!((gone, open), (lost, 0));
    for delay in [least, most] {
        assert!((delay.unwrap() - wanted).abs() < 1e-6, "{delay:?}");
    }
    assert_eq!(analysis.remarks, Vec::<String>::new());
}

#[test]
fn packets_without_identification_are_known_by_their_content() {
    for (name, lost) in [("q4id0", 20), ("q6", 20), ("t6", 1)] {
        let side = |side: &str| bytes(&format!("traces/captures/{name}-{side}.pcap.gz"));
        all_take(&compare(side("s"), side("r")), 0.05, lost);
    }
}

/// A pcap file of UDP packets over IPv4 without identification unless it has one: time in microseconds, identification and payload;
/// `kept` bytes of it were captured.
fn pcap(packets: &[(u32, u16, Vec<u8>)], kept: usize) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 101] {
        file.extend(word.to_le_bytes());
    }
    for (us, identification, payload) in packets {
        let length = u16::try_from(payload.len()).unwrap();
        let mut ip = vec![0x45, 0];
        ip.extend((length + 28).to_be_bytes());
        ip.extend(identification.to_be_bytes());
        ip.extend([0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        ip.extend([0x13, 0x88, 0x13, 0x89]);
        ip.extend((length + 8).to_be_bytes());
        ip.extend([0, 0]);
        let whole = u32::from(length) + 28;
        ip.extend(&payload[..kept.min(payload.len())]);
        let captured = u32::try_from(ip.len()).unwrap();
        for word in [1000 + us / 1_000_000, us % 1_000_000, captured, whole] {
            file.extend(word.to_le_bytes());
        }
        file.extend(ip);
    }
    file
}

/// `count` packets, one per 10 ms, as `about` says, and what arrives 50 ms later of those that are not in `lost`.
fn sent(
    count: u32,
    lost: &[u32],
    about: impl Fn(u32) -> (u16, Vec<u8>),
) -> [Vec<(u32, u16, Vec<u8>)>; 2] {
    let all = (0..count).map(|at| {
        let (identification, payload) = about(at);
        (at * 10_000, identification, payload)
    });
    let arrived = all.clone().zip(0..).filter(|(_, at)| !lost.contains(at));
    let arrived = arrived
        .map(|((us, identification, payload), _)| (us + 50_000, identification, payload))
        .collect();
    [all.collect(), arrived]
}

#[test]
fn an_identification_that_comes_round_is_told_apart_by_order() {
    let [all, arrived] = sent(200, &[47, 90], |at| {
        (u16::try_from(at % 20).unwrap() + 1, vec![7; 100])
    });
    all_take(&compare(pcap(&all, 100), pcap(&arrived, 100)), 0.05, 2);
}

#[test]
fn captures_that_kept_more_and_less_of_a_packet_agree_on_what_both_have() {
    let content = |at: u32| (0, [at.to_be_bytes().to_vec(), vec![1; 300]].concat());
    let [all, arrived] = sent(200, &[50, 51, 120], content);
    for kept in [[300, 40], [20, 300], [12, 9]] {
        let [first, second] = kept;
        all_take(&compare(pcap(&all, first), pcap(&arrived, second)), 0.05, 3);
    }
}

#[test]
fn packets_that_others_overtake_are_paired_with_themselves() {
    let content = |at: u32| (0, at.to_be_bytes().to_vec());
    let [all, mut arrived] = sent(100, &[30], content);
    // Two change places; each keeps the time of its place.
    for at in [10, 40, 70] {
        let (one, other) = (arrived[at].2.clone(), arrived[at + 1].2.clone());
        (arrived[at].2, arrived[at + 1].2) = (other, one);
    }
    let (lost, open, least, most) = outcome(&compare(pcap(&all, 100), pcap(&arrived, 100)));
    assert_eq!((lost, open), (1, 0));
    assert!((least.unwrap() - 0.04).abs() < 1e-6, "{least:?}");
    assert!((most.unwrap() - 0.06).abs() < 1e-6, "{most:?}");
}

#[test]
fn equal_packets_have_delays_where_none_is_lost_and_none_where_some_are() {
    let equal = |_| (0, vec![7; 100]);
    let [all, arrived] = sent(200, &[], equal);
    all_take(&compare(pcap(&all, 100), pcap(&arrived, 100)), 0.05, 0);
    let lost: Vec<u32> = (50..70).collect();
    let [all, arrived] = sent(200, &lost, equal);
    let analysis = compare(pcap(&all, 100), pcap(&arrived, 100));
    let (gone, open, least, most) = outcome(&analysis);
    assert_eq!((gone, open, least, most), (20, 0, None, None));
    let paths = analysis.table("paths").unwrap();
    assert_eq!(count(paths, "untold_packets"), 180);
    assert!(
        analysis.remarks[0].contains("cannot be matched"),
        "{:?}",
        analysis.remarks
    );
}

#[test]
fn a_loss_among_equal_packets_leaves_those_behind_others_with_their_delay() {
    // Groups of three equal ones; one of the group 10 is lost.
    let group = |at: u32| (0, (at / 3).to_be_bytes().to_vec());
    let [all, arrived] = sent(90, &[31], group);
    let analysis = compare(pcap(&all, 100), pcap(&arrived, 100));
    let (lost, open, least, most) = outcome(&analysis);
    assert_eq!((lost, open), (1, 0));
    for delay in [least, most] {
        assert!((delay.unwrap() - 0.05).abs() < 1e-6, "{delay:?}");
    }
    let paths = analysis.table("paths").unwrap();
    assert_eq!(count(paths, "untold_packets"), 2);
    assert_eq!(count(paths, "delay_count"), 87);
}

#[test]
fn a_copy_that_the_network_made_is_not_a_packet_that_is_sent_later() {
    // The packets 100 and 20 are equal: 20 arrives twice, and 100 later.
    let content = |at: u32| {
        (
            0,
            (if at == 100 { 20u32 } else { at }).to_be_bytes().to_vec(),
        )
    };
    let [all, mut arrived] = sent(200, &[], content);
    let (us, identification, payload) = arrived[20].clone();
    arrived.insert(21, (us + 100, identification, payload));
    let analysis = compare(pcap(&all, 100), pcap(&arrived, 100));
    all_take(&analysis, 0.05, 0);
    let paths = analysis.table("paths").unwrap();
    assert_eq!(count(paths, "unsent_packets"), 1);
    assert_eq!(count(paths, "reversed_packets"), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn whatever_is_lost_of_a_cycle_of_equal_packets_the_others_have_their_delay(
        cycle in 8u32..60,
        lost in btree_set(10u32..180, 0..30),
    ) {
        // Of a whole cycle nobody could tell; the first and last ones say how long the capture is.
        let longest = lost.iter().map(|at| (*at..).take_while(|next| lost.contains(next)).count());
        prop_assume!(longest.max().unwrap_or(0) < 8);
        let lost: Vec<u32> = lost.into_iter().collect();
        let [all, arrived] = sent(200, &lost, |at| (0, (at % cycle).to_be_bytes().to_vec()));
        let gone = u64::try_from(lost.len()).unwrap();
        all_take(&compare(pcap(&all, 100), pcap(&arrived, 100)), 0.05, gone);
    }
}
