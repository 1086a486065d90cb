//! Captures as interfaces, tunnels and offload write them: eleven packets in a second, of 1000 bytes from the IP header on.

use sojourn_scenario::LabError;
use sojourn_traces::read::frame::Tunnels;
use sojourn_traces::read::table::Value;
use sojourn_traces::read::{Analysis, Options};

use crate::support;

/// Packets of every file, a tenth of a second apart.
const PACKETS: u64 = 11;
/// When the first packet passes, in seconds since 1970.
const START: u64 = 1_700_000_000;

fn short(number: usize) -> [u8; 2] {
    u16::try_from(number).unwrap().to_be_bytes()
}

/// IPv4 around a payload; ECN is the lower two bits of `tos`.
fn ipv4(protocol: u8, tos: u8, hosts: u8, payload: &[u8]) -> Vec<u8> {
    let mut ip = vec![0x45, tos];
    ip.extend(short(payload.len() + 20));
    ip.extend([0, 0, 0, 0, 64, protocol, 0, 0]);
    ip.extend([10, 0, hosts, 1, 10, 0, hosts, 2]);
    ip.extend(payload);
    ip
}

/// IPv6 around a payload.
fn ipv6(next_header: u8, payload: &[u8]) -> Vec<u8> {
    let mut ip = vec![0x60, 0, 0, 0];
    ip.extend(short(payload.len()));
    ip.extend([next_header, 64]);
    ip.extend([[1; 16], [2; 16]].concat());
    ip.extend(payload);
    ip
}

fn udp(port: u16, payload: &[u8]) -> Vec<u8> {
    let mut datagram = [1000u16.to_be_bytes(), port.to_be_bytes()].concat();
    datagram.extend(short(payload.len() + 8));
    datagram.extend([0, 0]);
    datagram.extend(payload);
    datagram
}

/// A TCP segment with a given number of bytes of payload.
fn tcp(payload: usize) -> Vec<u8> {
    let mut segment = vec![
        0, 1, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0,
    ];
    segment.resize(20 + payload, b'x');
    segment
}

/// The packet that all tunnels carry: UDP in IPv4, 1000 bytes.
fn packet() -> Vec<u8> {
    ipv4(17, 0, 0, &udp(2000, &[b'x'; 972]))
}

fn ethernet(kind: u16, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
    frame.extend(kind.to_be_bytes());
    frame.extend(payload);
    frame
}

const IPV4: u16 = 0x0800;

/// A pcap file of frames; at most `snap` bytes of each were captured.
fn pcap(link_type: u32, frame: &[u8], snap: usize) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, link_type] {
        file.extend(u32::to_le_bytes(word));
    }
    let captured = &frame[..frame.len().min(snap)];
    for tenths in 0..PACKETS {
        let seconds = START + tenths / 10;
        let size = |bytes: &[u8]| u64::try_from(bytes.len()).unwrap();
        for word in [seconds, tenths % 10 * 100_000, size(captured), size(frame)] {
            file.extend(u32::try_from(word).unwrap().to_le_bytes());
        }
        file.extend(captured);
    }
    file
}

/// A pcapng file whose interface counts time in a given number of units per second, `if_tsresol` saying so, and adds an offset.
fn pcapng(big: bool, resolution: u8, units: u64, offset: Option<u64>) -> Vec<u8> {
    let order = |mut bytes: Vec<u8>| {
        if big {
            bytes.reverse();
        }
        bytes
    };
    let word = |value: u64| order(u32::try_from(value).unwrap().to_le_bytes().to_vec());
    let half = |value: u16| order(value.to_le_bytes().to_vec());
    let long = |value: u64| order(value.to_le_bytes().to_vec());
    let size = |bytes: &[u8]| u64::try_from(bytes.len()).unwrap();
    let block = |kind: u64, mut body: Vec<u8>| {
        body.resize(body.len().next_multiple_of(4), 0);
        let length = word(size(&body) + 12);
        [word(kind), length.clone(), body, length].concat()
    };
    let section = [word(0x1a2b_3c4d), half(1), half(0), vec![0xff; 8]].concat();
    let mut interface = [half(1), half(0), word(0)].concat();
    interface.extend([half(9), half(1), vec![resolution, 0, 0, 0]].concat());
    if let Some(offset) = offset {
        interface.extend([half(14), half(8), long(offset)].concat());
    }
    interface.extend([half(8), half(8), long(8_000)].concat());
    interface.extend([half(0), half(0)].concat());
    let frame = ethernet(IPV4, &packet());
    let mut file = [block(0x0a0d_0d0a, section), block(1, interface)].concat();
    for tenths in 0..PACKETS {
        let ticks = (START - offset.unwrap_or(0)) * units + tenths * units / 10;
        let (high, low) = (ticks >> 32, ticks & 0xffff_ffff);
        let head = [0, high, low, size(&frame), size(&frame)]
            .map(word)
            .concat();
        file.extend(block(6, [head, frame.clone()].concat()));
    }
    let lost = [half(5), half(8), long(3), half(0), half(0)].concat();
    let statistics = [word(0), word(0), word(0), lost].concat();
    file.extend(block(5, statistics));
    file
}

fn read(file: &[u8], tunnels: Tunnels) -> Result<Analysis, LabError> {
    let options = Options {
        tunnels,
        ..Options::default()
    };
    support::analyse(file, "capture", &options)
}

fn value(analysis: &Analysis, table: &str, name: &str) -> f64 {
    let table = analysis.table(table).unwrap();
    let column = table.columns.iter().position(|column| column.name == name);
    match &table.rows[0][column.unwrap()] {
        Value::Integer(Some(count)) => sojourn_results::stats::to_f64(*count),
        Value::Number(Some(number)) => *number,
        other => panic!("{name}: {other:?}"),
    }
}

/// Packets of IP, their bytes on average, and the names of their directions.
fn seen(analysis: &Analysis) -> (u64, f64, Vec<String>) {
    let packets = value(analysis, "trace", "ip_packets");
    let conversations = analysis.table("conversations").unwrap();
    let name = |row: &Vec<Value>| match &row[0] {
        Value::Text(name) => name.clone(),
        other => panic!("{other:?}"),
    };
    let names = conversations.rows.iter().map(name).collect();
    let bytes = value(analysis, "trace", "ip_bytes");
    assert!((value(analysis, "trace", "duration_s") - 1.0).abs() < 1e-6);
    assert_eq!(packets.to_string(), PACKETS.to_string());
    (PACKETS, bytes / packets, names)
}

const INNER: &str = "udp 10.0.0.1:1000 > 10.0.0.2:2000";

/// What carries [`packet`] below IP: frames of Ethernet, with their names.
fn carriers() -> Vec<(&'static str, Vec<u8>)> {
    let with = |head: &[u8]| [head, &packet()[..]].concat();
    let pppoe = with(&[0x11, 0, 0, 3, 0x03, 0xea, 0x00, 0x21]);
    let label = |last: u8| [0, 0x06, 0x40 | last, 64];
    let stack = [label(0), label(1)].concat();
    let pseudowire = [&label(1)[..], &[0; 4], &ethernet(IPV4, &packet())].concat();
    let vlan = |rest: &[u8], kind: u16| [&[0, 5], &kind.to_be_bytes()[..], rest].concat();
    vec![
        ("plain", ethernet(IPV4, &packet())),
        ("VLAN", ethernet(0x8100, &vlan(&packet(), IPV4))),
        ("PPPoE", ethernet(0x8864, &pppoe)),
        ("PPPoE in a VLAN", ethernet(0x8100, &vlan(&pppoe, 0x8864))),
        ("MPLS", ethernet(0x8847, &with(&label(1)))),
        ("two labels", ethernet(0x8847, &with(&stack))),
        ("Ethernet over MPLS", ethernet(0x8847, &pseudowire)),
    ]
}

/// What carries [`packet`] over IP: the outer packets, with their names and the name of their direction.
fn tunnels() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let inner = packet();
    let frame = ethernet(IPV4, &inner);
    let gre = |head: &[u8], rest: &[u8]| ipv4(47, 0, 9, &[head, rest].concat());
    let over_udp =
        |port: u16, head: &[u8]| ipv4(17, 0, 9, &udp(port, &[head, &frame[..]].concat()));
    const VXLAN: [u8; 8] = [0x08, 0, 0, 0, 0, 0, 7, 0];
    const GENEVE: [u8; 12] = [0x01, 0, 0x65, 0x58, 0, 0, 7, 0, 1, 1, 0, 0];
    const GRE: &str = "protocol-47 10.0.9.1 > 10.0.9.2";
    vec![
        ("GRE", gre(&[0, 0, 8, 0], &inner), GRE),
        (
            "GRE with a key",
            gre(&[0x20, 0, 8, 0, 0, 0, 0, 7], &inner),
            GRE,
        ),
        (
            "GRE with all",
            gre(&[0xb0, 0, 8, 0, 1, 2, 0, 0, 0, 0, 0, 7, 0, 0, 0, 1], &inner),
            GRE,
        ),
        ("Ethernet over GRE", gre(&[0, 0, 0x65, 0x58], &frame), GRE),
        (
            "VXLAN",
            over_udp(4789, &VXLAN),
            "udp 10.0.9.1:1000 > 10.0.9.2:4789",
        ),
        (
            "VXLAN of Linux",
            over_udp(8472, &VXLAN),
            "udp 10.0.9.1:1000 > 10.0.9.2:8472",
        ),
        (
            "Geneve",
            over_udp(6081, &GENEVE),
            "udp 10.0.9.1:1000 > 10.0.9.2:6081",
        ),
        (
            "IP in IP",
            ipv4(4, 0, 9, &inner),
            "protocol-4 10.0.9.1 > 10.0.9.2",
        ),
        (
            "IPv4 in IPv6",
            ipv6(4, &inner),
            "protocol-4 101:101:101:101:101:101:101:101 > 202:202:202:202:202:202:202:202",
        ),
    ]
}

#[test]
fn pppoe_and_mpls_lead_to_the_packet_that_they_carry() {
    for (name, frame) in carriers() {
        let file = pcap(1, &frame, usize::MAX);
        for tunnels in [Tunnels::Inner, Tunnels::Outer] {
            let analysis = read(&file, tunnels).unwrap();
            assert_eq!(
                seen(&analysis),
                (PACKETS, 1000.0, vec![INNER.to_owned()]),
                "{name}"
            );
            assert_eq!(
                value(&analysis, "trace", "tunnelled_packets"),
                0.0,
                "{name}"
            );
        }
    }
}

#[test]
fn a_tunnel_is_analysed_inside_or_outside() {
    for (name, outer, direction) in tunnels() {
        let kind = if outer[0] == 0x60 { 0x86dd } else { IPV4 };
        let file = pcap(1, &ethernet(kind, &outer), usize::MAX);
        let inside = read(&file, Tunnels::Inner).unwrap();
        assert_eq!(
            seen(&inside),
            (PACKETS, 1000.0, vec![INNER.to_owned()]),
            "{name}"
        );
        let outside = read(&file, Tunnels::Outer).unwrap();
        let size = f64::from(u32::try_from(outer.len()).unwrap());
        assert_eq!(
            seen(&outside),
            (PACKETS, size, vec![direction.to_owned()]),
            "{name}"
        );
        for analysis in [inside, outside] {
            assert_eq!(
                value(&analysis, "trace", "tunnelled_packets"),
                11.0,
                "{name}"
            );
        }
    }
}

#[test]
fn a_tunnel_in_which_no_packet_is_found_is_a_packet_of_its_own() {
    let arp = ethernet(0x0806, &[0; 28]);
    for (name, outer) in [
        (
            "GRE with ARP",
            ipv4(47, 0, 9, &[&[0, 0, 0x65, 0x58], &arp[..]].concat()),
        ),
        (
            "GRE of PPTP",
            ipv4(47, 0, 9, &[0x20, 0x01, 0x88, 0x0b, 0, 0, 0, 0]),
        ),
        ("no VXLAN", ipv4(17, 0, 9, &udp(4789, &[0; 60]))),
    ] {
        let analysis = read(&pcap(101, &outer, usize::MAX), Tunnels::Inner).unwrap();
        let size = f64::from(u32::try_from(outer.len()).unwrap());
        assert_eq!(seen(&analysis).1, size, "{name}");
        assert_eq!(
            value(&analysis, "trace", "tunnelled_packets"),
            0.0,
            "{name}"
        );
    }
    // Cut off within the inner header.
    let outer = ipv4(47, 0, 9, &[&[0, 0, 8, 0], &packet()[..]].concat());
    let analysis = read(&pcap(101, &outer, 34), Tunnels::Inner).unwrap();
    assert_eq!(seen(&analysis).1, 1024.0);
}

#[test]
fn a_mark_on_the_outside_of_a_tunnel_counts() {
    for (outer_tos, marked) in [(3, 11.0), (2, 0.0)] {
        let outer = ipv4(47, outer_tos, 9, &[&[0, 0, 8, 0], &packet()[..]].concat());
        let analysis = read(&pcap(101, &outer, usize::MAX), Tunnels::Inner).unwrap();
        assert_eq!(value(&analysis, "conversations", "marked_packets"), marked);
    }
}

#[test]
fn a_packet_whose_header_says_no_length_has_that_of_its_frame() {
    let mut four = ipv4(6, 0, 0, &tcp(60_000));
    four[2..4].fill(0);
    let mut six = ipv6(6, &tcp(60_000));
    six[4..6].fill(0);
    for (kind, ip, size) in [(IPV4, four, 60_040.0), (0x86dd, six, 60_060.0)] {
        let frame = ethernet(kind, &ip);
        let carried = ethernet(0x8100, &[&[0, 5], &kind.to_be_bytes()[..], &ip].concat());
        // Whole, cut off, and behind a tag.
        for (frame, snap) in [(&frame, usize::MAX), (&frame, 96), (&carried, usize::MAX)] {
            let analysis = read(&pcap(1, frame, snap), Tunnels::Inner).unwrap();
            assert_eq!(seen(&analysis).1, size);
            assert_eq!(
                value(&analysis, "conversations", "payload_bytes"),
                660_000.0
            );
            assert_eq!(value(&analysis, "trace", "offload_packets"), 11.0);
            let told = analysis.remarks.join("\n");
            assert!(
                told.starts_with("capture: 11 of 11 IP packets have length 0"),
                "{told}"
            );
        }
    }
    let plain = read(&pcap(101, &packet(), usize::MAX), Tunnels::Inner).unwrap();
    assert_eq!(plain.remarks, Vec::<String>::new());
    assert_eq!(value(&plain, "trace", "offload_packets"), 0.0);
}

#[test]
fn a_jumbogram_has_the_length_of_its_option_and_no_next_header_has_none() {
    // Hop-by-hop: TCP follows; the jumbo option, whose length counts this header, too.
    let length = 8 + 20 + 70_000u32;
    let mut jumbo = vec![6, 0, 0xc2, 4];
    jumbo.extend(length.to_be_bytes());
    jumbo.extend(tcp(70_000));
    let mut ip = vec![0x60, 0, 0, 0, 0, 0, 0, 64];
    ip.extend([[1; 16], [2; 16]].concat());
    ip.extend(&jumbo);
    let analysis = read(&pcap(101, &ip, 120), Tunnels::Inner).unwrap();
    assert_eq!(seen(&analysis).1, f64::from(length + 40));
    assert_eq!(
        value(&analysis, "conversations", "payload_bytes"),
        770_000.0
    );
    assert_eq!(analysis.remarks, Vec::<String>::new());
    let nothing = ethernet(0x86dd, &[ipv6(59, &[]), vec![0; 20]].concat());
    let analysis = read(&pcap(1, &nothing, usize::MAX), Tunnels::Inner).unwrap();
    assert_eq!(seen(&analysis).1, 40.0);
}

#[test]
fn a_length_shorter_than_its_header_is_damage() {
    let mut ip = packet();
    ip[2..4].copy_from_slice(&[0, 19]);
    let analysis = read(&pcap(101, &ip, usize::MAX), Tunnels::Inner).unwrap();
    assert_eq!(value(&analysis, "trace", "damaged_packets"), 11.0);
}

#[test]
fn tags_without_end_are_refused() {
    let mut frame = ethernet(0x8100, &[0, 5]);
    for _ in 0..60_000 {
        frame.extend([0x81, 0x00, 0, 5]);
    }
    let analysis = read(&pcap(1, &frame, usize::MAX), Tunnels::Inner).unwrap();
    assert_eq!(value(&analysis, "trace", "ip_packets"), 0.0);
    assert_eq!(value(&analysis, "trace", "other_packets"), 11.0);
}

#[test]
fn every_time_resolution_gives_the_same_second() {
    for (resolution, units) in [
        (6, 1_000_000),
        (9, 1_000_000_000),
        (0x80 | 20, 1 << 20),
        (0x80 | 10, 1 << 10),
        (0x80 | 32, 1 << 32),
        (1, 10),
    ] {
        for big in [false, true] {
            for offset in [None, Some(START)] {
                let file = pcapng(big, resolution, units, offset);
                let analysis = read(&file, Tunnels::Inner).unwrap();
                let took = value(&analysis, "trace", "duration_s");
                assert!((took - 1.0).abs() < 1e-6, "{resolution:#x}: {took}");
                let first = value(&analysis, "trace", "first_time_s");
                assert_eq!(
                    first,
                    sojourn_results::stats::to_f64(START),
                    "{resolution:#x}"
                );
                // Options of eight bytes are in the order of the section.
                assert_eq!(value(&analysis, "interfaces", "rate_bps"), 8_000.0);
                assert_eq!(value(&analysis, "interfaces", "dropped_packets"), 3.0);
            }
        }
    }
}

#[test]
fn a_time_resolution_that_no_number_holds_is_told() {
    let told = read(&pcapng(false, 39, 1, None), Tunnels::Inner).unwrap_err();
    let told = told.to_string();
    assert!(
        told.contains("time resolution 0x27, 10^-39 s (allowed: 10^0 to 10^-38 s"),
        "{told}"
    );
    // Finer than a picosecond, but a number: every packet is of the first instant.
    let options = Options::default();
    let fine = support::analyse(&pcapng(false, 0x80 | 127, 1, None), "t", &options).unwrap();
    assert_eq!(value(&fine, "trace", "ip_packets"), 11.0);
}
