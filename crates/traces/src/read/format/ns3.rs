//! ns-3's ASCII traces: `event time context header (fields) header (fields)...`, as `AsciiTraceHelper` writes them for devices (`+`, `-`, `d`
//! at `TxQueue`, `r` at `MacRx`) and for IP (`t`, `r`, `d` at `Ipv4L3Protocol`).
//!
//! Source: ns-3 tutorial, section "Parsing Ascii Traces", and lines of ns-3.9 to ns-3.4x in public repositories; the manual gives no
//! grammar. A trace of ns-3.37 agrees with its FlowMonitor (`tests/data/traces`). The traces name no packets: one is told from others by what of it stays the same from hop to hop (addresses, protocol,
//! identification, fragment, transport header, payload), so not by TTL or ToS. Bytes are those of the IP packet. Times have six significant
//! digits unless the program that wrote them set more, which bounds what delays mean. What has no IP header (ARP, beacons) is ignored and
//! counted.

use crate::read::event::{Event, Flow, Grammar, Link, Lookup, NONE, Names, What, place};
use crate::read::form::{Content, Form};
use crate::read::input::{Fault, excerpt};
use crate::read::number::{integer, seconds};
use sojourn_units::Time;

pub(crate) const FORM: Form = Form {
    name: "ns3",
    title: "an ASCII trace of ns-3",
    begins: &[],
    has_line: |fields| fields[0].len() == 1 && fields[2].starts_with(b"/"),
    content: Content::Events(|| Box::new(Ns3::default())),
};

/// Bytes of IPv6's fixed header, which its length field leaves out.
const IPV6_HEADER: u64 = 40;
const ECN_CE: u64 = 3;

/// The grammar of ns-3's ASCII traces.
#[derive(Default)]
pub struct Ns3 {
    names: Names,
    nodes: Lookup<Box<[u8]>, u32>,
    /// By node and device.
    links: Lookup<Box<[u8]>, u32>,
    flows: Lookup<Vec<u8>, u32>,
    /// Of each flow: how often its 32-bit sequence and acknowledgement numbers have come round.
    rounds: Vec<[Unwrapped; 2]>,
    key: Vec<u8>,
}

/// A number of 32 bits as the 64-bit number that it is the lower half of, where neighbours are near each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Unwrapped {
    last: Option<u64>,
}

impl Unwrapped {
    /// The number nearest to the one before.
    #[inline]
    pub fn next(&mut self, low: u32) -> u64 {
        let low = u64::from(low);
        let number = match self.last {
            // Room below for what comes late.
            None => low + (1 << 32),
            Some(last) => {
                let base = last & !u64::from(u32::MAX);
                let number = base + low;
                if number + (1 << 31) < last {
                    number + (1 << 32)
                } else if number > last + (1 << 31) && number >= 1 << 32 {
                    number - (1 << 32)
                } else {
                    number
                }
            }
        };
        self.last = Some(self.last.map_or(number, |last| last.max(number)));
        number
    }
}

/// What is read of a packet's headers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Packet<'a> {
    size: u32,
    source: &'a [u8],
    destination: &'a [u8],
    protocol: &'a [u8],
    identification: &'a [u8],
    fragment: &'a [u8],
    marked: bool,
    ports: Option<(&'a [u8], &'a [u8])>,
    /// All that stands behind the IP header.
    behind: &'a [u8],
}

impl Grammar for Ns3 {
    fn parse(&mut self, line: &[u8]) -> Result<Option<Event>, Fault> {
        let Some((what, rest)) = happening(line)? else {
            return Ok(None);
        };
        let (time_text, rest) = word(rest);
        let (context, rest) = word(rest);
        let time = time(time_text)?;
        let Some(context) = Context::parse(context) else {
            return Err(Fault::new(format!(
                "context: {} is not /NodeList/NODE/DeviceList/DEVICE/...",
                excerpt(context)
            )));
        };
        let Some(packet) = packet(rest)? else {
            return Ok(None);
        };
        let node = self.node(&context);
        let link = match what {
            What::Receive => NONE,
            _ => self.link(&context, node),
        };
        let flow = self.flow(&packet);
        let data = self.data(flow, packet.behind);
        Ok(Some(Event {
            time,
            what,
            node,
            link,
            uid: packet.identity(),
            flow,
            size: packet.size,
            start: data.start,
            end: data.end,
            acknowledged: data.acknowledged,
            marked: packet.marked,
        }))
    }

    fn names(&self) -> &Names {
        &self.names
    }
}

/// Numbers of TCP's data as [`Event`] has them: what a packet carries, and what it acknowledges.
#[derive(Default)]
struct Data {
    start: u64,
    end: u64,
    acknowledged: u64,
}

impl Ns3 {
    /// The number of a node, which it gets when it is first seen.
    fn node(&mut self, context: &Context<'_>) -> u32 {
        if let Some(node) = self.nodes.get(context.node) {
            return *node;
        }
        let node = self.names.add_node(text(context.node));
        self.nodes.insert(context.node.into(), node);
        node
    }

    /// The number of the link that a device of a node sends on.
    fn link(&mut self, context: &Context<'_>, node: u32) -> u32 {
        if let Some(link) = self.links.get(context.device) {
            return *link;
        }
        let name = match context.number {
            [] => text(context.node),
            number => format!("{}/{}", text(context.node), text(number)),
        };
        let (from, to) = (node, NONE);
        let link = self.names.add_link(Link { name, from, to });
        self.links.insert(context.device.into(), link);
        link
    }

    /// The number of the flow of a packet.
    fn flow(&mut self, packet: &Packet<'_>) -> u32 {
        let (source, destination) = packet.ends();
        flow_key(&mut self.key, packet.protocol, &source, &destination);
        if let Some(flow) = self.flows.get(&self.key) {
            return *flow;
        }
        let mut back = Vec::new();
        flow_key(&mut back, packet.protocol, &destination, &source);
        let kind = kind(packet.protocol);
        let flow = self.names.add_flow(Flow {
            id: kind.clone(),
            kind,
            source: text(&source),
            destination: text(&destination),
            source_node: None,
            destination_node: None,
            reverse: self.flows.get(&back).copied(),
        });
        self.flows.insert(self.key.clone(), flow);
        self.rounds.push(Default::default());
        flow
    }

    /// What the headers behind that of IP say of TCP's data; zeros where there is no TCP.
    fn data(&mut self, flow: u32, headers: &[u8]) -> Data {
        let Some(tcp) = tcp(headers) else {
            return Data::default();
        };
        let [sequence, acknowledgement] = &mut self.rounds[place(flow)];
        let start = sequence.next(tcp.sequence);
        let acknowledged = match tcp.acknowledges {
            true => acknowledgement.next(tcp.acknowledgement),
            false => 0,
        };
        Data {
            start,
            end: start + tcp.carries,
            acknowledged,
        }
    }
}

/// What the letter at the begin of a line says, and the rest of the line; `None` of an empty line or a comment.
fn happening(line: &[u8]) -> Result<Option<(What, &[u8])>, Fault> {
    Ok(match line {
        [b'+', b' ', rest @ ..] => Some((What::Enqueue, rest)),
        [b'-', b' ', rest @ ..] => Some((What::Dequeue, rest)),
        [b'r', b' ', rest @ ..] => Some((What::Receive, rest)),
        [b'd', b' ', rest @ ..] => Some((What::Drop, rest)),
        [b't', b' ', rest @ ..] => Some((What::Transmit, rest)),
        [] | [b'#', ..] => None,
        other => {
            return Err(Fault::new(format!(
                "a line begins with +, -, r, d or t, not as {}",
                excerpt(other)
            )));
        }
    })
}

/// A time in seconds; ns-3 may write a sign before it and the unit behind it.
fn time(text: &[u8]) -> Result<Time, Fault> {
    let digits = text.strip_suffix(b"s").unwrap_or(text);
    let digits = digits.strip_prefix(b"+").unwrap_or(digits);
    seconds(digits).ok_or_else(|| {
        Fault::new(format!(
            "time: {} is not a time in seconds from 0 on",
            excerpt(text)
        ))
    })
}

/// Where something happened.
struct Context<'a> {
    node: &'a [u8],
    /// The device's number; empty of IP's own traces.
    number: &'a [u8],
    /// The path up to the device.
    device: &'a [u8],
}

impl Context<'_> {
    fn parse(path: &[u8]) -> Option<Context<'_>> {
        let rest = path.strip_prefix(b"/NodeList/")?;
        let head = path.len() - rest.len();
        let slash = rest.iter().position(|byte| *byte == b'/')?;
        let (node, rest) = rest.split_at(slash);
        if node.is_empty() {
            return None;
        }
        let Some(tail) = rest.strip_prefix(b"/DeviceList/") else {
            return Some(Context {
                node,
                number: &[],
                device: &path[..head + node.len()],
            });
        };
        let end = tail
            .iter()
            .position(|byte| *byte == b'/')
            .unwrap_or(tail.len());
        let number = &tail[..end];
        integer(number)?;
        let length = head + node.len() + (rest.len() - tail.len()) + end;
        Some(Context {
            node,
            number,
            device: &path[..length],
        })
    }
}

impl Packet<'_> {
    /// Addresses with ports, where there are ports.
    fn ends(&self) -> (Vec<u8>, Vec<u8>) {
        let end = |address: &[u8], port: Option<&[u8]>| match port {
            Some(port) => [address, port].join(&b':'),
            None => address.to_vec(),
        };
        (
            end(self.source, self.ports.map(|ports| ports.0)),
            end(self.destination, self.ports.map(|ports| ports.1)),
        )
    }

    /// What tells it from others: FNV-1a, 64 bits, of what no router changes.
    fn identity(&self) -> u64 {
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        let parts = [
            self.source,
            self.destination,
            self.protocol,
            self.identification,
            self.fragment,
            self.behind,
        ];
        for part in parts {
            for byte in part.iter().chain(b" ") {
                hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
        hash
    }
}

fn flow_key(key: &mut Vec<u8>, protocol: &[u8], source: &[u8], destination: &[u8]) {
    key.clear();
    for part in [protocol, b" ", source, b" ", destination] {
        key.extend_from_slice(part);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The name of a protocol number.
fn kind(protocol: &[u8]) -> String {
    match protocol {
        b"1" => "icmp".to_owned(),
        b"6" => "tcp".to_owned(),
        b"17" => "udp".to_owned(),
        b"58" => "icmpv6".to_owned(),
        other => format!("protocol-{}", text(other)),
    }
}

/// The first word, and what is behind it.
fn word(bytes: &[u8]) -> (&[u8], &[u8]) {
    let start = bytes
        .iter()
        .position(|byte| *byte != b' ')
        .unwrap_or(bytes.len());
    let bytes = &bytes[start..];
    let end = bytes
        .iter()
        .position(|byte| *byte == b' ')
        .unwrap_or(bytes.len());
    bytes.split_at(end)
}

/// Where a text begins in bytes.
fn find(bytes: &[u8], text: &[u8]) -> Option<usize> {
    bytes.windows(text.len()).position(|window| window == text)
}

/// What is behind a text.
fn behind<'a>(bytes: &'a [u8], text: &[u8]) -> Option<&'a [u8]> {
    find(bytes, text).map(|at| &bytes[at + text.len()..])
}

/// The word behind a text.
fn after<'a>(bytes: &'a [u8], text: &[u8]) -> Option<&'a [u8]> {
    behind(bytes, text).map(|rest| word(rest).0)
}

/// What the headers of a packet say; `None` of one without an IP header.
fn packet(headers: &[u8]) -> Result<Option<Packet<'_>>, Fault> {
    let missing = |what: &str| {
        Fault::new(format!(
            "the IP header has no {what}, or the line was cut off"
        ))
    };
    let (inner, six) = match behind(headers, b"ns3::Ipv4Header (") {
        Some(inner) => (inner, false),
        None => match behind(headers, b"ns3::Ipv6Header (") {
            Some(inner) => (inner, true),
            None => return Ok(None),
        },
    };
    let length_of = |name: &[u8]| after(inner, name).and_then(integer);
    let (length, protocol) = match six {
        false => (length_of(b"length:"), after(inner, b"protocol ")),
        true => (
            length_of(b"Payload Length ").map(|length| length.saturating_add(IPV6_HEADER)),
            after(inner, b"Next Header "),
        ),
    };
    let size = length
        .and_then(|length| u32::try_from(length).ok())
        .ok_or_else(|| missing("length"))?;
    let arrow = find(inner, b" > ").ok_or_else(|| missing("addresses"))?;
    let source = inner[..arrow]
        .rsplit(|byte| matches!(byte, b' ' | b')'))
        .next();
    let tail = &inner[arrow + 3..];
    let end = tail
        .iter()
        .position(|byte| matches!(byte, b' ' | b')'))
        .ok_or_else(|| missing("end"))?;
    let behind = tail[end..].strip_prefix(b")").unwrap_or(&tail[end..]);
    let ecn = after(inner, b"tos 0x")
        .and_then(|tos| u64::from_str_radix(str::from_utf8(tos).ok()?, 16).ok());
    Ok(Some(Packet {
        size,
        source: source
            .filter(|s| !s.is_empty())
            .ok_or_else(|| missing("source"))?,
        destination: &tail[..end],
        protocol: protocol.ok_or_else(|| missing("protocol"))?,
        identification: match six {
            false => after(inner, b" id ").unwrap_or_default(),
            true => &[],
        },
        fragment: after(inner, b"offset (bytes) ")
            .or_else(|| after(inner, b"offset "))
            .unwrap_or_default(),
        marked: ecn.is_some_and(|tos| tos & 3 == ECN_CE),
        ports: ports(behind),
        behind,
    }))
}

/// The ports of a UDP or TCP header.
fn ports(headers: &[u8]) -> Option<(&[u8], &[u8])> {
    let inner =
        behind(headers, b"ns3::UdpHeader (").or_else(|| behind(headers, b"ns3::TcpHeader ("))?;
    let arrow = find(inner, b" > ")?;
    let source = inner[..arrow].rsplit(|byte| *byte == b' ').next()?;
    let tail = &inner[arrow + 3..];
    let end = tail
        .iter()
        .position(|byte| !byte.is_ascii_digit())
        .unwrap_or(tail.len());
    Some((source, &tail[..end]))
}

struct Tcp {
    sequence: u32,
    acknowledgement: u32,
    acknowledges: bool,
    /// Numbers that it takes: bytes of payload, and one for SYN or FIN.
    carries: u64,
}

fn tcp(headers: &[u8]) -> Option<Tcp> {
    let inner = behind(headers, b"ns3::TcpHeader (")?;
    let number = |name: &[u8]| -> Option<u32> {
        let rest = behind(inner, name)?;
        let end = rest
            .iter()
            .position(|byte| !byte.is_ascii_digit())
            .unwrap_or(rest.len());
        u32::try_from(integer(&rest[..end])?).ok()
    };
    let sequence = number(b"Seq=")?;
    let flags = find(inner, b"Seq=").map_or(&[][..], |at| &inner[..at]);
    let has = |flag: &[u8]| find(flags, flag).is_some();
    let mut payload = 0;
    let mut rest = inner;
    while let Some(tail) = behind(rest, b"size=") {
        let end = tail
            .iter()
            .position(|byte| !byte.is_ascii_digit())
            .unwrap_or(tail.len());
        payload += integer(&tail[..end])?.min(u64::from(u32::MAX));
        rest = tail;
    }
    Some(Tcp {
        sequence,
        acknowledgement: number(b"Ack=").unwrap_or(0),
        acknowledges: has(b"ACK"),
        carries: payload + u64::from(has(b"SYN") || has(b"FIN")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::event::{AllEvents, all_events};
    use sojourn_scenario::error::Result;

    const UDP: &str = "ns3::PppHeader (Point-to-Point Protocol: IP (0x0021)) ns3::Ipv4Header (tos 0x3 DSCP Default ECN CE ttl 64 id 7 protocol 17 offset (bytes) 0 flags [none] length: 1052 10.1.1.1 > 10.1.1.2) ns3::UdpHeader (length: 1032 49153 > 9) Payload (size=1024)";
    const TCP: &str = "ns3::PppHeader (Point-to-Point Protocol: IP (0x0021)) ns3::Ipv4Header (tos 0x0 ttl 63 id 3 protocol 6 offset 0 flags [none] length: 576 10.0.0.1 > 10.0.1.2) ns3::TcpHeader (49153 > 5000 [ ACK ] Seq=537 Ack=1 Win=65535) Payload Fragment [0:536]";

    fn read(lines: &str, lenient: bool) -> Result<AllEvents> {
        all_events(lines, Ns3::default(), lenient)
    }

    #[test]
    fn a_packet_is_known_again_behind_a_router() {
        let path = |node: u32, device: u32, tail: &str| {
            format!("/NodeList/{node}/DeviceList/{device}/$ns3::PointToPointNetDevice/{tail}")
        };
        let hop = UDP
            .replace("ttl 64", "ttl 63")
            .replace("tos 0x3", "tos 0x0");
        let text = format!(
            "+ 2 {} {UDP}\n- 2 {} {UDP}\nr 2.00369 {} {UDP}\n+ 2.00369 {} {hop}\n",
            path(0, 0, "TxQueue/Enqueue"),
            path(0, 0, "TxQueue/Dequeue"),
            path(1, 0, "MacRx"),
            path(1, 1, "TxQueue/Enqueue"),
        );
        let (events, names, ..) = read(&text, false).unwrap();
        assert!(
            events
                .iter()
                .all(|event| event.uid == events[0].uid && event.size == 1052)
        );
        let links: Vec<(u32, u32)> = events
            .iter()
            .map(|event| (event.node, event.link))
            .collect();
        assert_eq!(links, [(0, 0), (0, 0), (1, NONE), (1, 1)]);
        assert_eq!(names.links[1].name, "1/1");
        assert!(events[0].marked && !events[3].marked);
        let flow = &names.flows[0];
        assert_eq!(
            (flow.kind.as_str(), flow.source.as_str()),
            ("udp", "10.1.1.1:49153")
        );
        assert_eq!(flow.destination, "10.1.1.2:9");
    }

    #[test]
    fn tcp_numbers_and_flows_the_other_way_are_found() {
        let at = "/NodeList/0/DeviceList/0/$ns3::PointToPointNetDevice/TxQueue/Enqueue";
        let data = TCP.replace("Payload Fragment [0:536]", "Payload (size=536)");
        let back = TCP
            .replace("10.0.0.1 > 10.0.1.2", "10.0.1.2 > 10.0.0.1")
            .replace("49153 > 5000", "5000 > 49153")
            .replace("Seq=537 Ack=1", "Seq=1 Ack=1073")
            .replace(" Payload Fragment [0:536]", "");
        let (events, names, ..) =
            read(&format!("+ 1 {at} {data}\n+ 2 {at} {back}\n"), false).unwrap();
        assert_eq!(events[0].end - events[0].start, 536);
        assert_eq!(names.flows[0].reverse, Some(1));
        assert_eq!(events[1].acknowledged, events[0].end);
    }

    #[test]
    fn what_has_no_ip_header_is_ignored_and_what_is_cut_off_is_told() {
        let at = "/NodeList/0/DeviceList/0/$ns3::CsmaNetDevice/TxQueue/Enqueue";
        let arp = "ns3::EthernetHeader ( length/type=0x806, source=00:00:00:00:00:04) ns3::ArpHeader (request)";
        let (events, _, ignored, _) = read(&format!("+ 1 {at} {arp}\n"), false).unwrap();
        assert_eq!((events.len(), ignored), (0, 1));
        for (line, what) in [
            (format!("+ 1 {at} {}", &UDP[..150]), "IP header has no"),
            (format!("+ one {at} {UDP}"), "time"),
            (format!("+ 1 /Names/x {UDP}"), "context"),
            (format!("x 1 {at} {UDP}"), "begins with"),
        ] {
            let text = format!("{line}\n+ 3 {at} {UDP}\n");
            let error = read(&text, false).unwrap_err();
            assert_eq!(error.line(), Some(1), "{error}");
            assert!(error.to_string().contains(what), "{error}");
            assert_eq!(read(&text, true).unwrap().3, 1);
        }
    }

    #[test]
    fn numbers_of_32_bits_go_on_beyond_them() {
        let mut round = Unwrapped::default();
        let first = round.next(u32::MAX - 10);
        assert_eq!(round.next(5) - first, 16);
        assert_eq!(round.next(u32::MAX) - first, 10);
        assert_eq!(round.next(2_000_000_000) - first, 2_000_000_011);
        assert_eq!(round.next(4_000_000_000) - first, 4_000_000_011);
        assert_eq!(round.next(7) - first, 18 + (1 << 32));
    }
}
