//! A capture of a run: pcapng with an interface per link direction, packets as they begin to be transmitted; their headers are
//! made up.
//!
//! Source: draft-ietf-opsawg-pcapng; RFC 791, 768, 9293. Packets are raw IPv4 (LINKTYPE_RAW). Node n has the address 10.0.0.0 + n + 1, its
//! port p is 49152 + p. Of each packet the headers are kept, with the lengths and checksums that it has with a payload of zeros. Dropped packets
//! are never transmitted: the next packet of the interface carries their number (`epb_dropcount`) and a comment that names them, and the
//! interface's statistics count them all.
//!
//! Of TCP, what a segment says to carry is what it carries: SYNs and acknowledgements nothing, other segments what is not headers in the
//! model of their flow, which is the step of the sequence number. Headers are whole words of four bytes, as in RFC 9293. So a packet has
//! another length than in the simulation, and a comment that says so, where the model counts another number of bytes for headers: with the
//! header of a link among them, as in ns-3, with none (`headers=0B`), with a number that is no multiple of four, or for options that a SYN
//! has. UDP leaves out what a model counts beyond IPv4 and UDP. Packets longer than IP allows are written with the greatest length that it has.
//!
//! Sequence numbers of ns-2's TCP, which numbers packets, are those of the bytes in them. Where connections come and go in a flow, one after
//! the other has its ports, and each begins with a sequence number of its own; connections are not closed.
//!
//! Options of TCP: a SYN has its largest segment (RFC 9293 section 3.7.1), the window's scale (RFC 7323 section 2) and, where
//! acknowledgements are selective, leave to be so (RFC 2018); these have their blocks. Other options are padding of the length that the
//! flow's headers leave: what a simulation has in place of timestamps is no option of RFC 7323, and that of Accurate ECN has but one of its counts (RFC 9768).
//! The window is as large as can be.

use crate::write::scene::{Flow, Scene, Transport, UDP_HEADERS, item};
use crate::write::sink::{Form, Sink};
use etherparse::{IpNumber, Ipv4Header, TcpHeader, UdpHeader, ip_number};
use sojourn_sim::packet::{Flags, Kind};
use sojourn_sim::trace::{Event, Record};
use sojourn_transport::sack::has_ae;
use std::io::{Error, Result, Write};

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const STATISTICS: u32 = 5;
const PACKET: u32 = 6;
const MAGIC: u32 = 0x1a2b_3c4d;
const LINKTYPE_RAW: u16 = 101;
/// The headers that are kept: IPv4 without options, and TCP with all it may have.
const SNAPLEN: u32 = 80;

/// Codes of options.
const COMMENT: u16 = 1;
const SHB_USERAPPL: u16 = 4;
const IF_NAME: u16 = 2;
const IF_DESCRIPTION: u16 = 3;
const IF_SPEED: u16 = 8;
const IF_TSRESOL: u16 = 9;
const EPB_FLAGS: u16 = 2;
const EPB_DROPCOUNT: u16 = 4;
const ISB_STARTTIME: u16 = 2;
const ISB_ENDTIME: u16 = 3;
const ISB_IFRECV: u16 = 4;
const ISB_IFDROP: u16 = 5;

/// Nanoseconds: ten to the power of minus this.
const NANOSECONDS: u8 = 9;
const OUTBOUND: u32 = 2;
const PORTS: u32 = 49_152;
const TTL: u8 = 64;
const IP_HEADER: usize = 20;
const TCP_HEADER: usize = 20;
const MOST_OPTIONS: usize = 40;
/// Kinds of options of TCP.
const NO_OPERATION: u8 = 1;
const LARGEST_SEGMENT: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK_BLOCKS: u8 = 5;
/// Initial sequence numbers of successive connections are so far apart: the golden ratio of their range, so that those of any few
/// successive ones are far from each other.
const NUMBERS_APART: u32 = 0x9e37_79b1;
/// The greatest scale: windows of a gigabyte.
const SCALE: u8 = 14;
const UDP_HEADER: usize = 8;
/// Drops that a comment names one by one.
const NAMED: usize = 3;

/// A payload of any length.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

pub(crate) const FORM: Form = Form {
    name: "pcapng",
    about: "",
    is_analysed: true,
    open: |scene, out| Ok(Box::new(Capture::new(scene, out)?)),
};

/// Writes packets as they are transmitted.
pub(super) struct Capture<'a> {
    scene: Scene,
    /// The interface of each link; none of those that are not written.
    interfaces: Vec<Option<u32>>,
    drops: Vec<Drops>,
    /// Packets sent per link.
    sent: Vec<u64>,
    last_ns: u64,
    out: &'a mut (dyn Write + Send),
    block: Vec<u8>,
}

/// What a link dropped.
#[derive(Clone, Default)]
struct Drops {
    all: u64,
    /// Since the last packet that was sent.
    since: u64,
    named: Vec<String>,
}

impl<'a> Capture<'a> {
    pub(super) fn new(scene: Scene, out: &'a mut (dyn Write + Send)) -> Result<Capture<'a>> {
        let count = scene.links.len();
        let mut chosen = 0..;
        let interfaces = scene
            .links
            .iter()
            .map(|link| link.chosen.then(|| chosen.next()).flatten())
            .collect();
        let mut capture = Capture {
            scene,
            interfaces,
            drops: vec![Drops::default(); count],
            sent: vec![0; count],
            last_ns: 0,
            out,
            block: Vec::new(),
        };
        capture.header()?;
        Ok(capture)
    }

    fn header(&mut self) -> Result<()> {
        let mut body = MAGIC.to_le_bytes().to_vec();
        body.extend(1u16.to_le_bytes());
        body.extend(0u16.to_le_bytes());
        // The length of the section is not known.
        body.extend(u64::MAX.to_le_bytes());
        let program = format!("sojourn {}", env!("CARGO_PKG_VERSION"));
        option(&mut body, SHB_USERAPPL, program.as_bytes())?;
        self.write(SECTION, &mut body)?;
        for link in 0..self.scene.links.len() {
            if self.interfaces[link].is_none() {
                continue;
            }
            let link = &self.scene.links[link];
            let mut body = LINKTYPE_RAW.to_le_bytes().to_vec();
            body.extend(0u16.to_le_bytes());
            body.extend(SNAPLEN.to_le_bytes());
            option(&mut body, IF_NAME, link.name.as_bytes())?;
            let node = |at| item(&self.scene.nodes, at).map_or("", String::as_str);
            let about = format!(
                "from {} to {}, {}",
                node(link.ends.0),
                node(link.ends.1),
                link.rate
            );
            option(&mut body, IF_DESCRIPTION, about.as_bytes())?;
            option(&mut body, IF_SPEED, &link.rate.as_bps().to_le_bytes())?;
            option(&mut body, IF_TSRESOL, &[NANOSECONDS])?;
            self.write(INTERFACE, &mut body)?;
        }
        Ok(())
    }

    /// Writes a block of this type; options in its body are ended here.
    fn write(&mut self, kind: u32, body: &mut Vec<u8>) -> Result<()> {
        body.extend([0; 4]);
        let length = u32::try_from(body.len() + 12).map_err(Error::other)?;
        self.block.clear();
        self.block.extend(kind.to_le_bytes());
        self.block.extend(length.to_le_bytes());
        self.block.append(body);
        self.block.extend(length.to_le_bytes());
        self.out.write_all(&self.block)
    }

    fn packet(&mut self, record: &Record, at: usize) -> Result<()> {
        let Some(flow) = item(&self.scene.flows, record.packet.flow) else {
            return Ok(());
        };
        let Some(interface) = self.interfaces[at] else {
            return Ok(());
        };
        let (headers, length) = headers(record, flow)?;
        let captured = u32::try_from(headers.len()).map_err(Error::other)?;
        let mut comment = String::new();
        if length != record.packet.size {
            comment = format!("{} bytes in the simulation", record.packet.size);
        }
        let drops = &mut self.drops[at];
        let since = std::mem::take(&mut drops.since);
        if since > 0 {
            let named = std::mem::take(&mut drops.named);
            let more = since.saturating_sub(u64::try_from(named.len()).unwrap_or(0));
            if !comment.is_empty() {
                comment.push_str("; ");
            }
            comment.push_str(&format!("dropped before it: {}", named.join(", ")));
            if more > 0 {
                comment.push_str(&format!(", and {more} more"));
            }
        }
        let mut body = interface.to_le_bytes().to_vec();
        body.extend(ticks(record.key.time.as_ns()));
        body.extend(captured.to_le_bytes());
        body.extend(length.to_le_bytes());
        body.extend(&headers);
        body.resize(body.len().next_multiple_of(4), 0);
        if !comment.is_empty() {
            option(&mut body, COMMENT, comment.as_bytes())?;
        }
        option(&mut body, EPB_FLAGS, &OUTBOUND.to_le_bytes())?;
        if since > 0 {
            option(&mut body, EPB_DROPCOUNT, &since.to_le_bytes())?;
        }
        self.sent[at] += 1;
        self.write(PACKET, &mut body)
    }

    fn drop(&mut self, record: &Record, at: usize, reason: &str) {
        let flow =
            item(&self.scene.flows, record.packet.flow).map_or("", |flow| flow.name.as_str());
        let drops = &mut self.drops[at];
        drops.all += 1;
        drops.since += 1;
        if drops.named.len() < NAMED {
            let packet = &record.packet;
            let text = format!(
                "{flow} sequence {} ({} bytes, {reason})",
                packet.seq, packet.size
            );
            drops.named.push(text);
        }
    }
}

impl Sink for Capture<'_> {
    fn record(&mut self, record: &Record) -> Result<()> {
        let at = usize::try_from(record.link).map_err(Error::other)?;
        self.last_ns = self.last_ns.max(record.key.time.as_ns());
        match record.event {
            Event::Dequeue if at < self.sent.len() => self.packet(record, at),
            Event::Drop(reason) if at < self.sent.len() => {
                self.drop(record, at, reason.name());
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn finish(&mut self) -> Result<()> {
        for at in 0..self.sent.len() {
            let Some(interface) = self.interfaces[at] else {
                continue;
            };
            let mut body = interface.to_le_bytes().to_vec();
            body.extend(ticks(self.last_ns));
            option(&mut body, ISB_STARTTIME, &ticks(0))?;
            option(&mut body, ISB_ENDTIME, &ticks(self.last_ns))?;
            let (sent, dropped) = (self.sent[at], self.drops[at].all);
            option(&mut body, ISB_IFRECV, &(sent + dropped).to_le_bytes())?;
            option(&mut body, ISB_IFDROP, &dropped.to_le_bytes())?;
            self.write(STATISTICS, &mut body)?;
        }
        self.out.flush()
    }
}

/// A time as the format has it: the upper half first.
fn ticks(ns: u64) -> [u8; 8] {
    let [a, b, c, d, e, f, g, h] = ns.to_le_bytes();
    [e, f, g, h, a, b, c, d]
}

/// Appends an option, padded.
fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) -> Result<()> {
    let length = u16::try_from(value.len()).map_err(Error::other)?;
    body.extend(code.to_le_bytes());
    body.extend(length.to_le_bytes());
    body.extend(value);
    body.resize(body.len().next_multiple_of(4), 0);
    Ok(())
}

/// The headers of a packet, and the length that they say.
fn headers(record: &Record, flow: &Flow) -> Result<(Vec<u8>, u32)> {
    let packet = &record.packet;
    let (mut from, mut to) = (flow.label.source, flow.label.sink);
    if packet.flags.has(Flags::REVERSE) {
        std::mem::swap(&mut from, &mut to);
    }
    let datagram = matches!(packet.kind, Kind::Datagram | Kind::Control);
    let tcp = flow.transport != Transport::Udp && !datagram;
    let options = match tcp {
        true => tcp_options(record, flow),
        false => Vec::new(),
    };
    let transport = if tcp {
        TCP_HEADER + options.len()
    } else {
        UDP_HEADER
    };
    let above = IP_HEADER + transport;
    let length = match tcp {
        true => above + carried(record, flow)?,
        false => usize::try_from(datagram_length(packet.size, flow)).map_err(Error::other)?,
    };
    let length = length.clamp(above, usize::from(u16::MAX));
    let payload = length - above;
    let behind = u16::try_from(length - IP_HEADER).map_err(Error::other)?;
    let protocol: IpNumber = if tcp { ip_number::TCP } else { ip_number::UDP };
    let mut ip = Ipv4Header::new(behind, TTL, protocol, address(from.0), address(to.0))
        .map_err(Error::other)?;
    ip.dscp = (packet.tos >> 2).try_into().map_err(Error::other)?;
    ip.ecn = (packet.tos & 3).try_into().map_err(Error::other)?;
    ip.identification = low_half(packet.uid);
    ip.dont_fragment = false;
    ip.header_checksum = ip.calc_header_checksum();
    let mut bytes = ip.to_bytes().to_vec();
    let payload = &ZEROS[..payload];
    let (source, destination) = (port(from.1), port(to.1));
    if tcp {
        let header = tcp_header(record, flow, (source, destination), &options)?;
        let checksum = header
            .calc_checksum_ipv4(&ip, payload)
            .map_err(Error::other)?;
        let header = TcpHeader { checksum, ..header };
        bytes.extend(header.to_bytes());
    } else {
        let header = UdpHeader::with_ipv4_checksum(source, destination, &ip, payload)
            .map_err(Error::other)?;
        bytes.extend(header.to_bytes());
    }
    Ok((bytes, u32::try_from(length).map_err(Error::other)?))
}

fn tcp_header(
    record: &Record,
    flow: &Flow,
    (source, destination): (u16, u16),
    options: &[u8],
) -> Result<TcpHeader> {
    let packet = &record.packet;
    let syn = packet.flags.has(Flags::SYN);
    let data = matches!(packet.kind, Kind::Segment | Kind::Pushed);
    let mut header = TcpHeader::new(source, destination, 0, u16::MAX);
    let back = packet.flags.has(Flags::REVERSE);
    let base = initial_number(record, flow);
    let (own, acknowledged) = match (flow.numbers_connections, back) {
        (false, _) => (packet.seq, packet.ack),
        // Data run one way: the other end has sent nothing but its SYN.
        (true, false) => (packet.seq, u64::from(!syn)),
        (true, true) => (u64::from(!syn), packet.ack),
    };
    let number = match flow.transport {
        // ns-2's acknowledgements have no number of their own in what they carry.
        Transport::TcpInPackets(_) if !data => 0,
        // Where nothing stands for the SYN, the first packet has data, and ends where the second one begins.
        Transport::TcpInPackets(payload) if own == 0 && !syn => 1u64.wrapping_sub(payload),
        _ => bytes_before(own, flow),
    };
    header.ack = !data || acknowledged > 0;
    header.sequence_number = low_word(number).wrapping_add(base);
    if header.ack {
        let number = low_word(bytes_before(acknowledged, flow));
        header.acknowledgment_number = number.wrapping_add(base);
    }
    header.syn = syn;
    header.psh = packet.kind == Kind::Pushed;
    header.fin = packet.flags.has(Flags::FIN);
    header.ece = packet.flags.has(Flags::ECE);
    header.cwr = packet.flags.has(Flags::CWR);
    // RFC 9768 section 3.1 calls the bit AE.
    header.ns = flow.counts_marks && record.side.is_some_and(|side| has_ae(&side));
    header.set_options_raw(options).map_err(Error::other)?;
    Ok(header)
}

/// The number in bytes of what a flow numbers so: where it numbers packets, the bytes before that one, the SYN's included.
fn bytes_before(number: u64, flow: &Flow) -> u64 {
    match (flow.transport, number) {
        (Transport::TcpInPackets(_), 0) => 0,
        (Transport::TcpInPackets(payload), number) => {
            (number - 1).wrapping_mul(payload).wrapping_add(1)
        }
        _ => number,
    }
}

/// Where the sequence numbers of a packet's connection begin, in both directions: far from those of the connection before it on the same ports.
fn initial_number(record: &Record, flow: &Flow) -> u32 {
    let packet = &record.packet;
    let connection = match (flow.numbers_connections, packet.flags.has(Flags::REVERSE)) {
        (false, _) => 0,
        (true, false) => packet.ack,
        (true, true) => packet.seq,
    };
    low_word(connection).wrapping_mul(NUMBERS_APART)
}

/// Bytes of data in a segment of TCP: the step of its sequence number.
fn carried(record: &Record, flow: &Flow) -> Result<usize> {
    let packet = &record.packet;
    let data = matches!(packet.kind, Kind::Segment | Kind::Pushed);
    let bytes = match data && !packet.flags.has(Flags::SYN) {
        true => packet.size.saturating_sub(flow.headers),
        false => 0,
    };
    usize::try_from(bytes).map_err(Error::other)
}

/// The length of a datagram of IP: without what the model counts beyond the headers of IPv4 and UDP, such as that of a link.
fn datagram_length(size: u32, flow: &Flow) -> u32 {
    let beyond = match flow.transport {
        Transport::Udp => flow.headers.saturating_sub(UDP_HEADERS),
        _ => 0,
    };
    size.saturating_sub(beyond)
}

/// The options of a segment, padded to the length that the flow's headers, or an acknowledgement's size, leave for them.
fn tcp_options(record: &Record, flow: &Flow) -> Vec<u8> {
    let packet = &record.packet;
    let mut options = Vec::new();
    if packet.flags.has(Flags::SYN) {
        let mss = u16::try_from(flow.mss).unwrap_or(u16::MAX);
        options.extend([LARGEST_SEGMENT, 4]);
        options.extend(mss.to_be_bytes());
        options.extend([NO_OPERATION, WINDOW_SCALE, 3, SCALE]);
        if flow.selective {
            options.extend([NO_OPERATION, NO_OPERATION, SACK_PERMITTED, 2]);
        }
    }
    let blocks: Vec<(u64, u64)> = record
        .side
        .filter(|_| packet.kind == Kind::Ack)
        .map_or(Vec::new(), |side| side.sack.to_vec())
        .into_iter()
        .filter(|block| *block != (0, 0))
        .collect();
    if !blocks.is_empty() {
        let length = u8::try_from(2 + 8 * blocks.len()).unwrap_or(0);
        options.extend([NO_OPERATION, NO_OPERATION, SACK_BLOCKS, length]);
        let base = initial_number(record, flow);
        for (from, to) in blocks {
            for edge in [from, to] {
                let number = low_word(bytes_before(edge, flow)).wrapping_add(base);
                options.extend(number.to_be_bytes());
            }
        }
    }
    let length = match packet.kind {
        Kind::Ack => packet.size,
        _ => flow.headers.min(packet.size),
    };
    let room = usize::try_from(length)
        .unwrap_or(0)
        .saturating_sub(IP_HEADER + TCP_HEADER)
        .min(MOST_OPTIONS)
        / 4
        * 4;
    options.resize(room.max(options.len()), NO_OPERATION);
    options
}

fn address(node: u32) -> [u8; 4] {
    let [_, high, middle, low] = node.wrapping_add(1).to_be_bytes();
    [10, high, middle, low]
}

fn port(port: u32) -> u16 {
    u16::try_from(PORTS + port % (1 << 14)).unwrap_or(u16::MAX)
}

fn low_word(number: u64) -> u32 {
    let [a, b, c, d, ..] = number.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

fn low_half(number: u32) -> u16 {
    let [a, b, ..] = number.to_le_bytes();
    u16::from_le_bytes([a, b])
}
