//! The headers of a captured packet: from the link layer to TCP and UDP.
//!
//! Source: tcpdump.org's registry of link types; RFC 791, 8200, 9293, 768; headers are taken apart by the library `etherparse`. Packets
//! may be cut off behind their headers: lengths are those that the headers say.

use etherparse::{EtherType, LaxNetSlice, LaxSlicedPacket, TransportSlice};
use std::net::IpAddr;

/// A packet of IP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// Protocol and ends.
    pub key: Key,
    /// Bytes from the IP header on.
    pub bytes: u32,
    /// It carries the mark of congestion (CE).
    pub marked: bool,
    /// TCP's header, if there is one.
    pub tcp: Option<Tcp>,
    /// What tells it from other packets, and stays the same on its way: of addresses, identification, ports, and transport header
    /// without checksum, which a sender may leave to its interface.
    pub identity: u64,
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

/// Takes the bytes of a packet apart.
pub fn decode(link_type: i32, data: &[u8]) -> Result<Packet, Other> {
    match link_type {
        1 => sliced(&LaxSlicedPacket::from_ethernet(data).map_err(|_| Other::Damaged)?),
        12 | 14 | 101 | 228 | 229 => ip(data),
        0 | 108 => ip(data.get(4..).ok_or(Other::Damaged)?),
        9 | 50 => ppp(data),
        113 => ether_type(data, 14, 16),
        276 => ether_type(data, 0, 20),
        other => Err(Other::LinkType(other)),
    }
}

fn ppp(data: &[u8]) -> Result<Packet, Other> {
    // Address and control may be left out, and the first byte of the protocol if it is zero.
    let data = data.strip_prefix(&[0xff, 0x03]).unwrap_or(data);
    match data {
        [0x00, 0x21 | 0x57, rest @ ..] | [0x21 | 0x57, rest @ ..] => ip(rest),
        [] => Err(Other::Damaged),
        _ => Err(Other::NotIp),
    }
}

/// A header in which the type of what follows stands at `at`, and which is `length` bytes long.
fn ether_type(data: &[u8], at: usize, length: usize) -> Result<Packet, Other> {
    let (Some([high, low]), Some(rest)) = (data.get(at..at + 2), data.get(length..)) else {
        return Err(Other::Damaged);
    };
    let kind = EtherType(u16::from_be_bytes([*high, *low]));
    sliced(&LaxSlicedPacket::from_ether_type(kind, rest))
}

fn ip(data: &[u8]) -> Result<Packet, Other> {
    match data.first().map(|byte| byte >> 4) {
        Some(4 | 6) => sliced(&LaxSlicedPacket::from_ip(data).map_err(|_| Other::Damaged)?),
        Some(_) => Err(Other::NotIp),
        None => Err(Other::Damaged),
    }
}

fn sliced(packet: &LaxSlicedPacket<'_>) -> Result<Packet, Other> {
    let mut identity = Identity::default();
    let (source, destination, protocol, bytes, header, ecn): (IpAddr, IpAddr, u8, u32, u32, u8);
    match &packet.net {
        Some(LaxNetSlice::Ipv4(slice)) => {
            let ip = slice.header();
            source = ip.source_addr().into();
            destination = ip.destination_addr().into();
            protocol = slice.payload().ip_number.0;
            bytes = u32::from(ip.total_len());
            header = u32::from(ip.ihl()) * 4;
            ecn = ip.ecn().value();
            identity.add(u64::from(ip.identification()));
            identity.add(u64::from(ip.fragments_offset().value()));
        }
        Some(LaxNetSlice::Ipv6(slice)) => {
            let ip = slice.header();
            source = ip.source_addr().into();
            destination = ip.destination_addr().into();
            protocol = slice.payload().ip_number.0;
            bytes = u32::from(ip.payload_length()) + 40;
            // Extension headers lie between, as far as they were captured.
            let extensions = slice.extensions().slice().len();
            header = 40 + u32::try_from(extensions).unwrap_or(0);
            ecn = ip.ecn().value();
        }
        Some(LaxNetSlice::Arp(_)) => return Err(Other::NotIp),
        None if packet.stop_err.is_some() => return Err(Other::Damaged),
        None => return Err(Other::NotIp),
    }
    let behind = bytes.saturating_sub(header);
    let mut ports = (0, 0);
    let mut tcp = None;
    match &packet.transport {
        Some(TransportSlice::Tcp(slice)) => {
            ports = (slice.source_port(), slice.destination_port());
            let segment = Tcp {
                sequence: slice.sequence_number(),
                acknowledgement: slice.ack().then(|| slice.acknowledgment_number()),
                payload: behind.saturating_sub(u32::from(slice.data_offset()) * 4),
                syn: slice.syn(),
                fin: slice.fin(),
                rst: slice.rst(),
            };
            identity
                .add(u64::from(segment.sequence) << 32 | u64::from(slice.acknowledgment_number()));
            identity.add(u64::from(slice.window_size()) << 8 | segment.carries() << 24);
            for byte in slice.options() {
                identity.add(u64::from(*byte));
            }
            tcp = Some(segment);
        }
        Some(TransportSlice::Udp(slice)) => {
            ports = (slice.source_port(), slice.destination_port());
            identity.add(u64::from(slice.length()));
        }
        _ => identity.add(u64::from(behind)),
    }
    let key = Key {
        protocol,
        source: (source, ports.0),
        destination: (destination, ports.1),
    };
    for (address, port) in [key.source, key.destination] {
        match address {
            IpAddr::V4(address) => identity.add(u64::from(u32::from(address))),
            IpAddr::V6(address) => address
                .segments()
                .iter()
                .for_each(|part| identity.add(u64::from(*part))),
        }
        identity.add(u64::from(port));
    }
    identity.add(u64::from(protocol));
    Ok(Packet {
        key,
        bytes,
        marked: ecn == 3,
        tcp,
        identity: identity.0,
    })
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::PacketBuilder;

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
    }
}
