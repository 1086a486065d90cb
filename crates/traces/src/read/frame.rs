//! The headers of a captured packet: from the link layer through tunnels to TCP and UDP.
//!
//! Sources: tcpdump.org's registry of link types; RFC 791, 8200, 2675, 9293, 768. Below IP: RFC 3032 (MPLS), 4385 (Ethernet over MPLS), 2516
//! (PPPoE). Tunnels: RFC 2003, 2473, 4213 (IP in IP), 2784 and 2890 (GRE), 7348 (VXLAN), 8926 (Geneve). The library `etherparse` takes
//! headers apart, apart from MPLS, PPPoE and the tunnels.
//!
//! Packets may be cut off behind their headers: lengths are those that the headers say. Segmentation offload leaves a length of 0 where a
//! sender captures; such a packet ends where its frame ends.

use etherparse::{
    EtherType, IpNumber, LaxIpPayloadSlice, LaxIpv4Slice, LaxIpv6Slice, LaxNetSlice,
    LaxSlicedPacket, TcpSlice, TransportSlice, UdpSlice,
};
use std::net::IpAddr;

/// A packet of IP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// Protocol and ends.
    pub key: Key,
    /// Bytes from the IP header on.
    pub bytes: u32,
    /// The IP header says length 0: `bytes` are those of the captured frame.
    pub offload: bool,
    /// It is carried in another packet of IP, or, with [`Tunnels::Outer`], carries one.
    pub tunnelled: bool,
    /// It carries the mark of congestion (CE), or a packet around it does: RFC 6040 section 4.2 hands the mark on at the end of the tunnel.
    pub marked: bool,
    /// TCP's header, if there is one.
    pub tcp: Option<Tcp>,
    /// What tells it from other packets, and stays the same on its way: of addresses, identification, ports, and transport header
    /// without checksum, which a sender may leave to its interface. Packets of the same identity may differ in what they carry.
    pub identity: u64,
    /// The IPv4 header numbers it: its identification is not zero, and there is one.
    pub numbered: bool,
}

/// One direction of a conversation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Key {
    /// Protocol number of IP.
    pub protocol: u8,
    /// Address and port of the sender; port 0 where there is none, as in all fragments but the first.
    pub source: (IpAddr, u16),
    /// Address and port of the receiver.
    pub destination: (IpAddr, u16),
}

impl Key {
    /// Protocol and both ends, such as `TCP 10.0.0.1:7 > 10.0.0.2:80`.
    pub fn name(&self) -> String {
        let (source, destination) = (end_text(self.source), end_text(self.destination));
        format!("{} {source} > {destination}", self.protocol_name())
    }

    /// The other direction.
    #[must_use]
    pub fn reversed(self) -> Key {
        Key {
            source: self.destination,
            destination: self.source,
            ..self
        }
    }

    /// The name of the protocol.
    pub fn protocol_name(&self) -> String {
        match self.protocol {
            1 => "icmp".to_owned(),
            2 => "igmp".to_owned(),
            6 => "tcp".to_owned(),
            17 => "udp".to_owned(),
            58 => "icmpv6".to_owned(),
            other => format!("protocol-{other}"),
        }
    }
}

/// Address and port as text, the port left out where it is 0.
pub fn end_text((address, port): (IpAddr, u16)) -> String {
    match (address, port) {
        (address, 0) => address.to_string(),
        (IpAddr::V4(address), port) => format!("{address}:{port}"),
        (IpAddr::V6(address), port) => format!("[{address}]:{port}"),
    }
}

/// What a TCP header says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tcp {
    /// Sequence number.
    pub sequence: u32,
    /// Acknowledgement number, of a segment that acknowledges.
    pub acknowledgement: Option<u32>,
    /// The window field, without scale.
    pub window: u16,
    /// Bytes of payload.
    pub payload: u32,
    /// It opens the connection.
    pub syn: bool,
    /// It ends one direction.
    pub fin: bool,
    /// It resets the connection.
    pub rst: bool,
}

impl Tcp {
    /// Numbers that the segment takes: payload, SYN, FIN.
    pub fn carries(&self) -> u64 {
        u64::from(self.payload) + u64::from(self.syn) + u64::from(self.fin)
    }
}

/// Why a packet is not analysed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Other {
    /// It is not of IP.
    NotIp,
    /// What packets of the interface begin with is not known.
    LinkType(i32),
    /// A header is cut off or contradicts itself.
    Damaged,
}

/// The link types that are known, for messages.
pub const LINK_TYPES: &str = "0 (null), 1 (Ethernet), 9 (PPP), 12, 14, 101, 228, 229 (raw IP), 50 (PPP in HDLC), 108 (loop), 113, 276 (Linux cooked)";

/// Which packet of IP is analysed where one carries another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tunnels {
    /// The innermost that was captured.
    #[default]
    Inner,
    /// The outermost: what the network between the ends of the tunnel sees.
    Outer,
}

impl Tunnels {
    /// Every choice with its name.
    pub const ALL: [(&str, Tunnels); 2] = [("inner", Tunnels::Inner), ("outer", Tunnels::Outer)];
}

/// Tags and labels that may lie between the link's header and the packet's: VLAN, MPLS, PPPoE, and Ethernet again.
const MOST_LAYERS: u8 = 16;
/// UDP ports of VXLAN: the one of RFC 7348, and the one that Linux uses unless told otherwise.
const VXLAN: [u16; 2] = [4789, 8472];
/// UDP port of Geneve, RFC 8926 section 3.3.
const GENEVE: u16 = 6081;
/// Transparent Ethernet bridging: a frame of Ethernet in GRE or Geneve.
const BRIDGED: u16 = 0x6558;

/// Takes the bytes of a packet apart that had `length` on the wire.
///
/// # Errors
/// Why it is no packet of IP. A tunnel in which no packet of IP is found is a packet of its own.
pub fn decode(link_type: i32, data: &[u8], length: u32, tunnels: Tunnels) -> Result<Packet, Other> {
    decode_whole(link_type, data, length, tunnels).map(|(packet, _)| packet)
}

/// As [`decode`], with what was captured of what the packet carries behind the headers of IP and of TCP or UDP.
///
/// # Errors
/// As [`decode`].
pub fn decode_whole(
    link_type: i32,
    data: &[u8],
    length: u32,
    tunnels: Tunnels,
) -> Result<(Packet, &[u8]), Other> {
    let layers = MOST_LAYERS;
    let frame = Part {
        data,
        length,
        layers,
    };
    let mut found = link(link_type, frame)?;
    while let Some(inner) = found.carried.and_then(|inside| inside.packet().ok()) {
        if tunnels == Tunnels::Outer {
            found.packet.tunnelled = true;
            break;
        }
        let marked = found.packet.marked;
        found = inner;
        found.packet.marked |= marked;
        found.packet.tunnelled = true;
    }
    Ok((found.packet, found.payload))
}

/// The rest of a frame.
#[derive(Clone, Copy)]
struct Part<'a> {
    /// What was captured of it.
    data: &'a [u8],
    /// Bytes that it had on the wire.
    length: u32,
    /// Tags that may still come.
    layers: u8,
}

impl<'a> Part<'a> {
    /// What follows a number of bytes.
    fn behind(self, bytes: usize) -> Result<Part<'a>, Other> {
        let data = self.data.get(bytes..).ok_or(Other::Damaged)?;
        Ok(self.at(data))
    }

    /// What follows up to the end, from `rest` on, which lies in it.
    fn at(self, rest: &'a [u8]) -> Part<'a> {
        let skipped = rest.as_ptr().addr() - self.data.as_ptr().addr();
        Part {
            data: rest,
            length: self
                .length
                .saturating_sub(u32::try_from(skipped).unwrap_or(u32::MAX)),
            ..self
        }
    }
}

/// A packet of IP, and what it carries.
struct Found<'a> {
    packet: Packet,
    /// What was captured of the payload.
    payload: &'a [u8],
    carried: Option<Inside<'a>>,
}

/// What a packet of IP carries where that is a packet again.
#[derive(Clone, Copy)]
enum Inside<'a> {
    Ip(Part<'a>),
    Gre(Part<'a>),
    Vxlan(Part<'a>),
    Geneve(Part<'a>),
}

impl<'a> Inside<'a> {
    fn packet(self) -> Result<Found<'a>, Other> {
        match self {
            Inside::Ip(part) => ip(part),
            Inside::Gre(part) => gre(part),
            // Flag I: the network's identifier is valid.
            Inside::Vxlan(part) => match part.data {
                [flags, ..] if flags & 0x08 != 0 => ethernet(part.behind(8)?),
                _ => Err(Other::NotIp),
            },
            Inside::Geneve(part) => match part.data {
                // Version 0; the options take a multiple of four bytes.
                [first, _, high, low, ..] if first >> 6 == 0 => {
                    let rest = part.behind(8 + usize::from(first & 0x3f) * 4)?;
                    ether_type(u16::from_be_bytes([*high, *low]), rest)
                }
                _ => Err(Other::NotIp),
            },
        }
    }
}

fn link(link_type: i32, frame: Part<'_>) -> Result<Found<'_>, Other> {
    match link_type {
        1 => ethernet(frame),
        12 | 14 | 101 | 228 | 229 => ip(frame),
        0 | 108 => ip(frame.behind(4)?),
        9 | 50 => ppp(frame),
        113 => typed(frame, 14, 16),
        276 => typed(frame, 0, 20),
        other => Err(Other::LinkType(other)),
    }
}

fn ethernet(frame: Part<'_>) -> Result<Found<'_>, Other> {
    let packet = LaxSlicedPacket::from_ethernet(frame.data).map_err(|_| Other::Damaged)?;
    sliced(&packet, frame)
}

fn ppp(part: Part<'_>) -> Result<Found<'_>, Other> {
    // Address and control may be left out, and the first byte of the protocol if it is zero.
    let data = part.data.strip_prefix(&[0xff, 0x03]).unwrap_or(part.data);
    match data {
        [0x00, 0x21 | 0x57, rest @ ..] | [0x21 | 0x57, rest @ ..] => ip(part.at(rest)),
        // MPLS, RFC 3032 section 4.3.
        [0x02, 0x81 | 0x83, rest @ ..] => mpls(part.at(rest)),
        [] => Err(Other::Damaged),
        _ => Err(Other::NotIp),
    }
}

/// A header in which the type of what follows stands at `at`, and which is `length` bytes long.
fn typed(part: Part<'_>, at: usize, length: usize) -> Result<Found<'_>, Other> {
    let Some([high, low]) = part.data.get(at..at + 2) else {
        return Err(Other::Damaged);
    };
    ether_type(u16::from_be_bytes([*high, *low]), part.behind(length)?)
}

fn ether_type(kind: u16, part: Part<'_>) -> Result<Found<'_>, Other> {
    let layers = part.layers.checked_sub(1).ok_or(Other::NotIp)?;
    let part = Part { layers, ..part };
    match kind {
        0x8847 | 0x8848 => mpls(part),
        // A session of PPPoE: version, code, session, length.
        0x8864 => ppp(part.behind(6)?),
        BRIDGED => ethernet(part),
        kind => sliced(
            &LaxSlicedPacket::from_ether_type(EtherType(kind), part.data),
            part,
        ),
    }
}

/// A stack of labels. Its last one does not say what follows: the first four bits there tell IP from the control word of Ethernet.
fn mpls(part: Part<'_>) -> Result<Found<'_>, Other> {
    let labels = part.data.chunks_exact(4);
    let above = labels.take_while(|label| label[2] & 1 == 0).count();
    let rest = part.behind((above + 1) * 4)?;
    match rest.data.first().map(|byte| byte >> 4) {
        Some(4 | 6) => ip(rest),
        Some(0) => ether_type(BRIDGED, rest.behind(4)?),
        Some(_) => Err(Other::NotIp),
        None => Err(Other::Damaged),
    }
}

/// GRE of version 0: two bytes of flags, the type of what follows, and the fields that the flags name.
fn gre(part: Part<'_>) -> Result<Found<'_>, Other> {
    let [flags, version, high, low, ..] = part.data else {
        return Err(Other::Damaged);
    };
    // Routing (RFC 1701) is a list of unknown length.
    if version & 0x07 != 0 || flags & 0x40 != 0 {
        return Err(Other::NotIp);
    }
    let fields = [0x80, 0x20, 0x10].iter().filter(|flag| flags & **flag != 0);
    let rest = part.behind(4 + 4 * fields.count())?;
    ether_type(u16::from_be_bytes([*high, *low]), rest)
}

fn ip(part: Part<'_>) -> Result<Found<'_>, Other> {
    match part.data.first().map(|byte| byte >> 4) {
        Some(4 | 6) => {
            let packet = LaxSlicedPacket::from_ip(part.data).map_err(|_| Other::Damaged)?;
            sliced(&packet, part)
        }
        Some(_) => Err(Other::NotIp),
        None => Err(Other::Damaged),
    }
}

/// The payload length of the jumbo option in the hop-by-hop header that extension headers begin with, RFC 2675 section 2.
fn jumbo_payload(extensions: &[u8]) -> Option<u32> {
    let length = 8 * (usize::from(*extensions.get(1)?) + 1);
    let mut options = extensions.get(2..length)?;
    loop {
        match options {
            [0, rest @ ..] => options = rest,
            [0xc2, 4, a, b, c, d, ..] => return Some(u32::from_be_bytes([*a, *b, *c, *d])),
            [_, length, rest @ ..] => options = rest.get(usize::from(*length)..)?,
            _ => return None,
        }
    }
}

/// The packet that the library took apart, which begins in `part`.
fn sliced<'a>(packet: &LaxSlicedPacket<'a>, part: Part<'a>) -> Result<Found<'a>, Other> {
    let mut identity = Identity::default();
    let header = match &packet.net {
        Some(LaxNetSlice::Ipv4(slice)) => ipv4(slice, part, &mut identity),
        Some(LaxNetSlice::Ipv6(slice)) => ipv6(slice, part),
        Some(LaxNetSlice::Arp(_)) => return Err(Other::NotIp),
        None if packet.stop_err.is_some() => return Err(Other::Damaged),
        None => {
            // Behind tags, another type may follow that the library does not know.
            return match packet.ether_payload() {
                Some(inner) if inner.payload.len() < part.data.len() => {
                    ether_type(inner.ether_type.0, part.at(inner.payload))
                }
                _ => Err(Other::NotIp),
            };
        }
    };
    let payload = header.payload;
    let inside = Part {
        data: payload.payload,
        length: header
            .bytes
            .checked_sub(header.length)
            .ok_or(Other::Damaged)?,
        ..part
    };
    let transport = match &packet.transport {
        Some(TransportSlice::Tcp(slice)) => segment(slice, inside, &mut identity),
        Some(TransportSlice::Udp(slice)) => datagram(slice, inside, &mut identity),
        _ => no_ports(payload, inside, &mut identity),
    };
    let key = Key {
        protocol: payload.ip_number.0,
        source: (header.source, transport.ports.0),
        destination: (header.destination, transport.ports.1),
    };
    identity.add_key(&key);
    let packet = Packet {
        key,
        bytes: header.bytes,
        offload: header.offload,
        tunnelled: false,
        marked: header.ecn == 3,
        tcp: transport.tcp,
        identity: identity.0,
        numbered: header.numbered,
    };
    Ok(Found {
        packet,
        payload: transport.payload,
        carried: transport.carried,
    })
}

/// What the header of IP says.
struct Header<'p, 'a> {
    source: IpAddr,
    destination: IpAddr,
    /// Bytes of the packet.
    bytes: u32,
    /// Bytes of the header itself.
    length: u32,
    offload: bool,
    numbered: bool,
    ecn: u8,
    payload: &'p LaxIpPayloadSlice<'a>,
}

fn ipv4<'p, 'a>(
    slice: &'p LaxIpv4Slice<'a>,
    part: Part<'a>,
    identity: &mut Identity,
) -> Header<'p, 'a> {
    let ip = slice.header();
    identity.add(u64::from(ip.identification()));
    identity.add(u64::from(ip.fragments_offset().value()));
    let offload = ip.total_len() == 0;
    Header {
        source: ip.source_addr().into(),
        destination: ip.destination_addr().into(),
        bytes: match offload {
            true => part.at(ip.slice()).length,
            false => u32::from(ip.total_len()),
        },
        length: u32::from(ip.ihl()) * 4,
        offload,
        numbered: ip.identification() != 0,
        ecn: ip.ecn().value(),
        payload: slice.payload(),
    }
}

fn ipv6<'p, 'a>(slice: &'p LaxIpv6Slice<'a>, part: Part<'a>) -> Header<'p, 'a> {
    let ip = slice.header();
    // Extension headers lie between, as far as they were captured.
    let extensions = slice.extensions().slice();
    let jumbo = match ip.next_header() {
        IpNumber::IPV6_HEADER_HOP_BY_HOP => jumbo_payload(extensions),
        IpNumber::IPV6_NO_NEXT_HEADER => Some(0),
        _ => None,
    };
    Header {
        source: ip.source_addr().into(),
        destination: ip.destination_addr().into(),
        bytes: match (ip.payload_length(), jumbo) {
            (0, Some(length)) => length.saturating_add(40),
            (0, None) => part.at(ip.slice()).length,
            (length, _) => u32::from(length) + 40,
        },
        length: 40 + u32::try_from(extensions.len()).unwrap_or(0),
        offload: ip.payload_length() == 0 && jumbo.is_none(),
        numbered: false,
        ecn: ip.ecn().value(),
        payload: slice.payload(),
    }
}

/// What lies behind the header of IP.
struct Transport<'a> {
    /// Of the sender and of the receiver; 0 where there are none.
    ports: (u16, u16),
    tcp: Option<Tcp>,
    /// What was captured of the payload.
    payload: &'a [u8],
    carried: Option<Inside<'a>>,
}

fn segment<'a>(slice: &TcpSlice<'a>, inside: Part<'a>, identity: &mut Identity) -> Transport<'a> {
    let segment = Tcp {
        sequence: slice.sequence_number(),
        acknowledgement: slice.ack().then(|| slice.acknowledgment_number()),
        window: slice.window_size(),
        payload: inside
            .length
            .saturating_sub(u32::from(slice.data_offset()) * 4),
        syn: slice.syn(),
        fin: slice.fin(),
        rst: slice.rst(),
    };
    identity.add(u64::from(segment.sequence) << 32 | u64::from(slice.acknowledgment_number()));
    identity.add(u64::from(slice.window_size()) << 8 | segment.carries() << 24);
    for byte in slice.options() {
        identity.add(u64::from(*byte));
    }
    Transport {
        ports: (slice.source_port(), slice.destination_port()),
        tcp: Some(segment),
        payload: slice.payload(),
        carried: None,
    }
}

/// A datagram of UDP, which may carry a packet of a tunnel: its port tells.
fn datagram<'a>(slice: &UdpSlice<'a>, inside: Part<'a>, identity: &mut Identity) -> Transport<'a> {
    identity.add(u64::from(slice.length()));
    let payload = slice.payload();
    let inside = inside.at(payload);
    Transport {
        ports: (slice.source_port(), slice.destination_port()),
        tcp: None,
        payload,
        carried: match slice.destination_port() {
            port if VXLAN.contains(&port) => Some(Inside::Vxlan(inside)),
            GENEVE => Some(Inside::Geneve(inside)),
            _ => None,
        },
    }
}

/// What is neither a segment of TCP nor a datagram of UDP, or a fragment; a whole packet may carry another one.
fn no_ports<'a>(
    payload: &LaxIpPayloadSlice<'a>,
    inside: Part<'a>,
    identity: &mut Identity,
) -> Transport<'a> {
    identity.add(u64::from(inside.length));
    Transport {
        ports: (0, 0),
        tcp: None,
        payload: payload.payload,
        carried: match payload.ip_number {
            _ if payload.fragmented => None,
            IpNumber::IPV4 | IpNumber::IPV6 => Some(Inside::Ip(inside)),
            IpNumber::GRE => Some(Inside::Gre(inside)),
            _ => None,
        },
    }
}

/// FNV-1a over numbers of 64 bits.
struct Identity(u64);

impl Default for Identity {
    fn default() -> Identity {
        Identity(0xcbf2_9ce4_8422_2325)
    }
}

impl Identity {
    fn add(&mut self, number: u64) {
        for byte in number.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn add_key(&mut self, key: &Key) {
        for (address, port) in [key.source, key.destination] {
            match address {
                IpAddr::V4(address) => self.add(u64::from(u32::from(address))),
                IpAddr::V6(address) => {
                    let parts = address.segments();
                    parts.iter().for_each(|part| self.add(u64::from(*part)));
                }
            }
            self.add(u64::from(port));
        }
        self.add(u64::from(key.protocol));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::PacketBuilder;

    /// What was captured whole.
    fn decode(link_type: i32, data: &[u8]) -> Result<Packet, Other> {
        let length = u32::try_from(data.len()).unwrap();
        super::decode(link_type, data, length, Tunnels::Inner)
    }

    fn udp(payload: usize) -> Vec<u8> {
        let builder = PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).udp(7, 9);
        let mut bytes = Vec::new();
        builder.write(&mut bytes, &vec![0; payload]).unwrap();
        bytes
    }

    fn tcp() -> Vec<u8> {
        let builder = PacketBuilder::ipv6([1; 16], [2; 16], 64)
            .tcp(80, 5000, 1000, 400)
            .ack(17)
            .fin();
        let mut bytes = Vec::new();
        builder.write(&mut bytes, &[0; 100]).unwrap();
        bytes
    }

    #[test]
    fn every_link_type_leads_to_the_same_packet() {
        let inner = udp(100);
        let wanted = decode(101, &inner).unwrap();
        assert_eq!(wanted.bytes, 128);
        assert_eq!(end_text(wanted.key.source), "10.0.0.1:7");
        let with = |head: &[u8]| [head, inner.as_slice()].concat();
        let mut ethernet = vec![0; 12];
        ethernet.extend([0x08, 0x00]);
        let mut vlan = vec![0; 12];
        vlan.extend([0x81, 0x00, 0, 5, 0x08, 0x00]);
        let mut cooked = vec![0; 14];
        cooked.extend([0x08, 0x00]);
        let mut cooked2 = vec![0x08, 0x00];
        cooked2.extend([0; 18]);
        for (link_type, head) in [
            (0, vec![2, 0, 0, 0]),
            (1, ethernet),
            (1, vlan),
            (9, vec![0xff, 0x03, 0x00, 0x21]),
            (9, vec![0x21]),
            (12, vec![]),
            (108, vec![0, 0, 0, 2]),
            (113, cooked),
            (276, cooked2),
        ] {
            assert_eq!(decode(link_type, &with(&head)), Ok(wanted), "{link_type}");
        }
    }

    #[test]
    fn lengths_are_those_of_the_headers_where_the_packet_was_cut_off() {
        let whole = decode(101, &udp(1000)).unwrap();
        assert_eq!(decode(101, &udp(1000)[..40]), Ok(whole));
        let bytes = tcp();
        let segment = decode(229, &bytes).unwrap();
        assert_eq!(segment.bytes, 160);
        let parts = segment.tcp.unwrap();
        assert_eq!((parts.payload, parts.carries()), (100, 101));
        assert_eq!((parts.sequence, parts.acknowledgement), (1000, Some(17)));
        assert_eq!(decode(229, &bytes[..60]), Ok(segment));
    }

    #[test]
    fn what_is_not_understood_is_told_apart() {
        assert_eq!(decode(147, &udp(1)), Err(Other::LinkType(147)));
        assert_eq!(decode(101, &[]), Err(Other::Damaged));
        assert_eq!(decode(101, &[0x45, 0, 0]), Err(Other::Damaged));
        assert_eq!(decode(101, &[0x10, 0, 0]), Err(Other::NotIp));
        let mut arp = vec![0; 12];
        arp.extend([0x08, 0x06]);
        arp.extend([0, 1, 8, 0, 6, 4, 0, 1]);
        arp.extend([0; 20]);
        assert_eq!(decode(1, &arp), Err(Other::NotIp));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_taken_apart_or_refused(link in 0i32..280, bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..120)) {
            for link_type in [link, 0, 1, 9, 101, 113, 276] {
                let _ = decode(link_type, &bytes);
            }
        }

        #[test]
        fn any_bytes_in_a_tunnel_are_taken_apart_or_left_there(
            protocol in proptest::sample::select(vec![4u8, 17, 41, 47]),
            port in proptest::sample::select(vec![4789u16, 8472, 6081]),
            bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..120),
        ) {
            let inside = match protocol {
                17 => {
                    let mut datagram = vec![0, 1];
                    datagram.extend(port.to_be_bytes());
                    datagram.extend(u16::try_from(bytes.len() + 8).unwrap().to_be_bytes());
                    datagram.extend([0, 0]);
                    [datagram, bytes].concat()
                }
                _ => bytes,
            };
            let mut outer = vec![0x45, 0];
            outer.extend(u16::try_from(inside.len() + 20).unwrap().to_be_bytes());
            outer.extend([0, 0, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
            outer.extend(inside);
            // What is outside is a packet of IP whatever is inside.
            proptest::prop_assert!(decode(101, &outer).is_ok());
        }
    }
}
