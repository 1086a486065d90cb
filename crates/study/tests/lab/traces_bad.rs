//! Traces that are cut off, mixed up or damaged: an error with its place, or with `lenient` a counted skip; never a panic, never less
//! than the truth silently.

use sojourn_scenario::LabError;
use sojourn_traces::read::format::{Family, Format};
use sojourn_traces::read::table::Value;
use sojourn_traces::read::{Analysis, Options};
use sojourn_units::{Span, Time};

use crate::support;

fn analyse(bytes: &[u8], format: Option<Format>, lenient: bool) -> Result<Analysis, LabError> {
    analyse_with(
        bytes,
        &Options {
            lenient,
            format,
            ..Options::default()
        },
    )
}

fn analyse_with(bytes: &[u8], options: &Options) -> Result<Analysis, LabError> {
    support::analyse(bytes, "t", options)
}

#[test]
fn a_time_in_which_a_trace_has_nothing_is_an_error() {
    for bytes in [NS3.as_bytes(), &pcapng(false)] {
        for (from, to) in [(Some(99), None), (Some(99), Some(100)), (None, Some(0))] {
            let at = |seconds: Option<u64>| seconds.map(|s| Time::ZERO + Span::from_secs(s));
            let options = Options {
                from: at(from),
                to: at(to),
                ..Options::default()
            };
            let told = analyse_with(bytes, &options)
                .map(drop)
                .unwrap_err()
                .to_string();
            assert!(told.starts_with("t: the trace has no "), "{told}");
            assert!(told.ends_with("; change --from or --to"), "{told}");
        }
    }
}

const NS3: &str = "+ 1 /NodeList/0/DeviceList/0/$ns3::PointToPointNetDevice/TxQueue/Enqueue ns3::PppHeader (Point-to-Point Protocol: IP (0x0021)) ns3::Ipv4Header (tos 0x0 ttl 64 id 0 protocol 17 offset 0 flags [none] length: 1052 10.1.1.1 > 10.1.1.2) ns3::UdpHeader (length: 1032 49153 > 9) Payload (size=1024)\n\
- 1 /NodeList/0/DeviceList/0/$ns3::PointToPointNetDevice/TxQueue/Dequeue ns3::PppHeader (Point-to-Point Protocol: IP (0x0021)) ns3::Ipv4Header (tos 0x0 ttl 64 id 0 protocol 17 offset 0 flags [none] length: 1052 10.1.1.1 > 10.1.1.2) ns3::UdpHeader (length: 1032 49153 > 9) Payload (size=1024)\n\
r 1.00369 /NodeList/1/DeviceList/0/$ns3::PointToPointNetDevice/MacRx ns3::PppHeader (Point-to-Point Protocol: IP (0x0021)) ns3::Ipv4Header (tos 0x0 ttl 64 id 0 protocol 17 offset 0 flags [none] length: 1052 10.1.1.1 > 10.1.1.2) ns3::UdpHeader (length: 1032 49153 > 9) Payload (size=1024)\n";

/// pcapng with two blocks of packets, big-endian if asked.
fn pcapng(big: bool) -> Vec<u8> {
    let word = |value: u32| {
        if big {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        }
    };
    let half = |value: u16| {
        if big {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        }
    };
    let block = |kind: u32, body: &[u8]| {
        let length = word(u32::try_from(body.len() + 12).unwrap());
        [&word(kind)[..], &length, body, &length].concat()
    };
    let section = [&word(0x1a2b_3c4d)[..], &half(1), &half(0), &[0xff; 8]].concat();
    let interface = [&half(101)[..], &half(0), &word(96)].concat();
    let mut all = block(0x0a0d_0d0a, &section);
    all.extend(block(1, &interface));
    for number in 0..2u32 {
        let mut ip = vec![
            0x45,
            0,
            0,
            28,
            0,
            u8::try_from(number).unwrap(),
            0,
            0,
            64,
            17,
            0,
            0,
            10,
            0,
            0,
            1,
            10,
            0,
            0,
            2,
        ];
        ip.extend([0xc0, 0, 0xc0, 1, 0, 8, 0, 0]);
        let head = [
            word(0),
            word(0),
            word(1_000_000 + number),
            word(28),
            word(28),
        ]
        .concat();
        all.extend(block(6, &[head, ip].concat()));
    }
    all
}

fn samples() -> Vec<(Format, Vec<u8>)> {
    vec![
        (
            Format::Ns2,
            support::bytes("ns2-goldens/tiny-reno-taildrop.tr.gz"),
        ),
        (Format::Ns3, NS3.as_bytes().to_vec()),
        (Format::Pcap, support::bytes("traces/loopback.pcap.gz")),
        (Format::Pcapng, pcapng(false)),
        (Format::Pcapng, pcapng(true)),
    ]
}

fn packets(analysis: &Analysis) -> u64 {
    let whole = analysis.table("trace").unwrap();
    let count = whole
        .value(0, "events")
        .or_else(|| whole.value(0, "packets"));
    match count {
        Some(Value::Integer(Some(count))) => *count,
        other => panic!("{other:?}"),
    }
}

fn skips(analysis: &Analysis) -> u64 {
    analysis.skipped.iter().map(|skipped| skipped.count).sum()
}

/// A generator of numbers that is the same everywhere: xorshift of 64 bits (Marsaglia 2003).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(bound).unwrap()).unwrap()
    }
}

#[test]
fn either_order_of_bytes_reads_the_same() {
    let [little, big] = [false, true].map(|big| analyse(&pcapng(big), None, false).unwrap());
    assert_eq!(little.tables, big.tables);
    assert_eq!(packets(&little), 2);
}

#[test]
fn a_file_that_is_cut_off_is_told_or_skipped_and_never_passes_for_whole() {
    let mut numbers = Numbers(7);
    for (format, bytes) in samples() {
        let whole = packets(&analyse(&bytes, Some(format), false).unwrap());
        for _ in 0..60 {
            let cut = 1 + numbers.below(bytes.len() - 1);
            let strict = analyse(&bytes[..cut], Some(format), false);
            let lenient = analyse(&bytes[..cut], Some(format), true);
            match (strict, lenient) {
                // Between two lines or packets, a file may end.
                (Ok(strict), Ok(lenient)) => {
                    assert!(
                        packets(&strict) < whole || bytes[cut..].len() < 2,
                        "{format:?} {cut}"
                    );
                    assert_eq!((packets(&lenient), skips(&lenient)), (packets(&strict), 0));
                }
                (Err(error), Ok(lenient)) => {
                    assert!(skips(&lenient) > 0, "{format:?} {cut}: {error}");
                    let placed = error.line().is_some() || error.to_string().contains("at byte ");
                    assert!(placed, "{error}");
                }
                // With no more than its header, nothing can be read of a capture.
                (Err(_), Err(error)) => {
                    assert!(cut <= 48 && format.family() == Family::Capture, "{error}");
                }
                (Ok(_), Err(error)) => panic!("{error}"),
            }
        }
    }
}

#[test]
fn damaged_bytes_are_told_or_skipped_and_never_a_panic() {
    let mut numbers = Numbers(1);
    for (format, bytes) in samples() {
        for _ in 0..300 {
            let mut damaged = bytes.clone();
            for _ in 0..1 + numbers.below(8) {
                let at = numbers.below(damaged.len());
                match numbers.below(4) {
                    0 => damaged[at] = u8::try_from(numbers.below(256)).unwrap(),
                    1 => damaged[at] ^= 1 << numbers.below(8),
                    2 => drop(damaged.drain(at..damaged.len().min(at + 1 + numbers.below(30)))),
                    _ => damaged.insert(at, b" \n0-x"[numbers.below(5)]),
                }
                if damaged.is_empty() {
                    damaged.push(b'\n');
                }
            }
            for asked in [None, Some(format)] {
                if let Err(error) = analyse(&damaged, asked, false) {
                    assert!(error.to_string().starts_with('t'), "{error}");
                }
                let _ = analyse(&damaged, asked, true);
            }
        }
    }
}

#[test]
fn a_format_that_is_not_the_files_is_told_at_its_first_line_or_byte() {
    for (format, bytes) in samples() {
        for other in Format::ALL.into_iter().filter(|other| *other != format) {
            if let Ok(analysis) = analyse(&bytes, Some(other), false) {
                panic!("{format:?} read as {other:?}: {:?}", packets(&analysis));
            }
        }
    }
}

#[test]
fn lines_of_two_traces_in_one_file_are_told() {
    let mixed = [
        support::bytes("ns2-goldens/tiny-cbr-underload.tr.gz"),
        NS3.as_bytes().to_vec(),
    ]
    .concat();
    let lines = support::bytes("ns2-goldens/tiny-cbr-underload.tr.gz")
        .iter()
        .filter(|byte| **byte == b'\n')
        .count();
    let error = analyse(&mixed, None, false).unwrap_err();
    assert_eq!(error.line(), Some(lines + 1), "{error}");
    let lenient = analyse(&mixed, None, true).unwrap();
    assert_eq!(skips(&lenient), 3);
}

#[test]
fn a_trace_without_packets_is_told_with_its_end() {
    let pcap = support::bytes("traces/loopback.pcap.gz");
    for (bytes, format, place) in [
        (&pcap[..24], None, "t: at byte 24: "),
        (&pcapng(false)[..48], None, "t: at byte 48: "),
        (b"# one\n\n", Some(Format::Ns2), "t:2: "),
        (b"# one\n\n", Some(Format::Ns3), "t:2: "),
    ] {
        for (lenient, from) in [(false, None), (true, None), (false, Some(Time::from_ps(1)))] {
            let options = Options {
                lenient,
                format,
                from,
                ..Options::default()
            };
            let error = analyse_with(bytes, &options).map(drop).unwrap_err();
            let told = error.to_string();
            assert!(told.starts_with(place) && told.contains("has no"), "{told}");
        }
    }
}

/// Where the packets of a pcap file begin.
fn records(bytes: &[u8]) -> Vec<usize> {
    let (mut all, mut at) = (Vec::new(), 24);
    while at < bytes.len() {
        all.push(at);
        let size = u32::from_le_bytes(bytes[at + 8..at + 12].try_into().unwrap());
        at += 16 + usize::try_from(size).unwrap();
    }
    all
}

/// The trace with one time replaced, and the place that the error names.
fn with_time(format: Format, bytes: &[u8], at: usize, late: bool) -> (Vec<u8>, String) {
    if format == Format::Pcap {
        let (mut copy, begin) = (bytes.to_vec(), records(bytes)[at]);
        let seconds = if late { u32::MAX } else { 0 };
        copy[begin..begin + 4].copy_from_slice(&seconds.to_le_bytes());
        return (copy, format!("t: at byte {begin}: "));
    }
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let lines = text.lines().zip(0..).map(|(line, number)| {
        let mut words: Vec<&str> = line.split(' ').collect();
        if number == at {
            words[1] = if late { "99999.5" } else { "0" };
        }
        words.join(" ") + "\n"
    });
    (
        lines.collect::<String>().into_bytes(),
        format!("t:{}: ", at + 1),
    )
}

#[test]
fn one_wrong_time_costs_one_packet() {
    let ns3 = support::bytes("traces/ns3-dumbbell.tr.gz");
    for (format, bytes) in samples().into_iter().chain([(Format::Ns3, ns3)]) {
        let whole = packets(&analyse(&bytes, Some(format), false).unwrap());
        if format == Format::Pcapng || whole < 100 {
            continue;
        }
        for (at, late) in [(0, true), (1, true), (70, true), (70, false), (99, false)] {
            let (wrong, place) = with_time(format, &bytes, at, late);
            let error = analyse(&wrong, Some(format), false).unwrap_err();
            assert!(error.to_string().contains("s to "), "{error}");
            let lenient = analyse(&wrong, Some(format), true).unwrap();
            let told = &lenient.skipped[0].first[0];
            assert!(told.starts_with(&place), "{format:?} {told}");
            let counts = (packets(&lenient), skips(&lenient));
            assert_eq!(counts, (whole - 1, 1), "{format:?} {at} {late}");
        }
    }
    // Its first time is what a capture counts from, or would be.
    let pcap = support::bytes("traces/loopback.pcap.gz");
    let (wrong, _) = with_time(Format::Pcap, &pcap, 0, false);
    let lenient = analyse(&wrong, None, true).unwrap();
    assert_eq!((packets(&lenient), skips(&lenient)), (147, 1));
}

#[test]
fn a_wrong_time_does_not_pass_for_the_end_that_was_asked_for() {
    let options = |lenient| Options {
        lenient,
        to: Some(Time::ZERO + Span::from_secs(1000)),
        ..Options::default()
    };
    for (format, bytes) in [&samples()[0], &samples()[2]] {
        let whole = packets(&analyse(bytes, None, false).unwrap());
        let (wrong, _) = with_time(*format, bytes, 70, true);
        let error = analyse_with(&wrong, &options(false)).unwrap_err();
        assert!(error.to_string().contains("the time goes back"), "{error}");
        let lenient = analyse_with(&wrong, &options(true)).unwrap();
        assert_eq!(packets(&lenient), whole - 1);
    }
}

#[test]
fn what_is_read_ahead_does_not_count() {
    let bytes = support::bytes("traces/ns2-newreno-2flows.tr.gz");
    let at = |ms| Some(Time::ZERO + Span::from_ms(ms));
    for to in [at(20), at(101), at(3000)] {
        let [strict, lenient] = [false, true].map(|lenient| {
            let options = Options {
                lenient,
                to,
                ..Options::default()
            };
            analyse_with(&bytes, &options).unwrap()
        });
        assert_eq!(strict, lenient);
    }
}

#[test]
fn times_that_go_back_in_a_capture_are_told_with_their_byte() {
    let mut bytes = pcapng(false);
    let at = bytes.len() - 4 - 28 - 8 - 4;
    // The lower half of the second packet's time.
    bytes[at..at + 4].copy_from_slice(&1u32.to_le_bytes());
    let error = analyse(&bytes, None, false).unwrap_err();
    assert!(error.to_string().contains("goes back"), "{error}");
    assert_eq!(skips(&analyse(&bytes, None, true).unwrap()), 1);
}

#[test]
fn a_link_type_that_is_not_known_is_told() {
    let mut bytes = support::bytes("traces/loopback.pcap.gz");
    bytes[20] = 147;
    let error = analyse(&bytes, None, false).unwrap_err();
    assert!(error.to_string().contains("link type 147"), "{error}");
    let lenient = analyse(&bytes, None, true).unwrap();
    let whole = lenient.table("trace").unwrap();
    assert_eq!(whole.value(0, "unknown_link_packets"), Some(&148u64.into()));
}
