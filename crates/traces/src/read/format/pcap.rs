//! Capture files, pcap and pcapng: either order of bytes, micro- and nanoseconds, whole packets or their beginnings.
//!
//! Source: draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng; blocks are taken apart by the library `pcap-parser`. Its own readers keep
//! no position of what was wrong and grow with any length that a file claims, so blocks are cut here: by their lengths, which are checked.

use crate::read::form::{Content, Form, Layout, no_line};
use crate::read::input::{At, Fault, Input, LONGEST};
use pcap_parser::pcapng::{
    Block, EnhancedPacketBlock, InterfaceDescriptionBlock, PcapNGOption, parse_block_be,
    parse_block_le,
};
use pcap_parser::{PcapHeader, parse_pcap_header};
use sojourn_scenario::error::{LabError, Result};

pub(crate) const FORM: Form = Form {
    name: "pcap",
    title: "a pcap capture",
    // Either order of bytes, micro- and nanoseconds, and the variant with longer records.
    begins: &[
        &[0xa1, 0xb2, 0xc3, 0xd4],
        &[0xd4, 0xc3, 0xb2, 0xa1],
        &[0xa1, 0xb2, 0x3c, 0x4d],
        &[0x4d, 0x3c, 0xb2, 0xa1],
        &[0x34, 0xcd, 0xb2, 0xa1],
    ],
    has_line: no_line,
    content: Content::Capture(Layout::Records),
};

/// Bytes of a pcap file's header.
const FILE_HEADER: usize = 24;
/// Bytes of a pcap record's header, and of the modified variant's.
const RECORD_HEADER: usize = 16;
const MODIFIED_HEADER: usize = 24;
/// Bytes of the shortest block: type, length, length.
const SHORTEST: usize = 12;
const SECTION: u32 = 0x0a0d_0d0a;
/// Interfaces that a section may have; more would be memory without bound.
const MOST_INTERFACES: usize = 1 << 16;
pub(crate) const PS_PER_S: u128 = 1_000_000_000_000;
/// Codes of options that hold eight bytes: packets lost before one; the rate of an interface, and the seconds to add to its times; packets
/// that it lost.
const EPB_DROPCOUNT: u16 = 4;
const IF_SPEED: u16 = 8;
const IF_TSOFFSET: u16 = 14;
const ISB_IFDROP: u16 = 5;
/// A packet of a capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record {
    /// When, in picoseconds since 1970, which need more than 64 bits.
    pub time: u128,
    /// Byte of the file at which it begins.
    pub byte: u64,
    /// Number of the interface in [`Capture::interfaces`].
    pub interface: u32,
    /// Bytes that it had.
    pub length: u32,
    /// Packets that the interface lost before it, as far as the file says.
    pub dropped: u64,
}

/// Where packets were captured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interface {
    /// The name; empty in pcap files.
    pub name: String,
    /// What the file says of it; empty in pcap files.
    pub description: String,
    /// What packets begin with: LINKTYPE_ of the registry.
    pub link_type: i32,
    /// Rate in bit/s, where the file says it.
    pub speed: Option<u64>,
    /// Packets lost at the interface, as its statistics say at last.
    pub dropped: Option<u64>,
    /// Units of time per second.
    units: u128,
    /// Seconds to add to times.
    offset: i64,
}

/// A capture that is being read.
pub struct Capture {
    input: Input,
    kind: Kind,
    /// Every interface of every section.
    interfaces: Vec<Interface>,
    /// The first of the present section.
    first: usize,
    big_endian: bool,
    data: Vec<u8>,
    ignored: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Pcap { modified: bool },
    Pcapng,
}

/// What a block turned out to be.
enum Taken {
    Packet(Record),
    Other,
}

impl Capture {
    /// Reads the header of a capture.
    ///
    /// # Errors
    /// If it is none.
    pub fn open(mut input: Input, layout: Layout) -> Result<Capture> {
        let mut capture = Capture {
            kind: Kind::Pcapng,
            interfaces: Vec::new(),
            first: 0,
            big_endian: false,
            data: Vec::new(),
            ignored: 0,
            input: {
                input.fill(FILE_HEADER)?;
                input
            },
        };
        match layout {
            Layout::Blocks => capture.open_pcapng()?,
            Layout::Records => capture.open_pcap()?,
        }
        Ok(capture)
    }

    fn open_pcap(&mut self) -> Result<()> {
        let head = self.input.ahead(FILE_HEADER);
        let found = head.len();
        let Ok((_, header)) = parse_pcap_header(head) else {
            let problem = match found < FILE_HEADER {
                true => format!("the file header must have {FILE_HEADER} bytes, but has {found}"),
                false => "this is not a pcap file header".to_owned(),
            };
            return Err(self.input.fault(&Fault::new(problem), At::Byte(0)));
        };
        if header.version_major != 2 {
            let problem = format!(
                "pcap version {} is not supported, only version 2 is",
                header.version_major
            );
            return Err(self.input.fault(&Fault::new(problem), At::Byte(0)));
        }
        self.pcap_header(&header);
        self.input.take(FILE_HEADER);
        Ok(())
    }

    fn pcap_header(&mut self, header: &PcapHeader) {
        let modified = header.is_modified_format();
        self.kind = Kind::Pcap { modified };
        self.big_endian = header.is_bigendian();
        self.interfaces.push(Interface {
            name: String::new(),
            description: String::new(),
            // The upper bits say something of checksums (FCS).
            link_type: header.network.0 & 0x03ff_ffff,
            speed: None,
            dropped: None,
            units: match header.is_nanosecond_precision() {
                true => 1_000_000_000,
                false => 1_000_000,
            },
            offset: i64::from(header.thiszone),
        });
    }

    fn open_pcapng(&mut self) -> Result<()> {
        let head = self.input.ahead(4);
        if head != SECTION.to_le_bytes() {
            let fault = Fault::new("a pcapng file begins with a section header");
            return Err(self.input.fault(&fault, At::Byte(0)));
        }
        Ok(())
    }

    /// The interfaces found so far.
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    /// Blocks that are no packets and say nothing that is used.
    pub fn ignored(&self) -> u64 {
        self.ignored
    }

    /// The error of a fault at a byte.
    pub fn fault(&self, fault: &Fault, byte: u64) -> LabError {
        self.input.fault(fault, At::Byte(byte))
    }

    /// Bytes of the file taken so far.
    pub fn position(&self) -> u64 {
        self.input.position()
    }

    /// Skips what begins at a byte.
    ///
    /// # Errors
    /// The fault, unless the input is lenient.
    pub fn skip_or(&mut self, fault: &Fault, byte: u64) -> Result<()> {
        self.input.skip_or(fault, At::Byte(byte))
    }

    /// Whether faults are skipped.
    pub fn lenient(&self) -> bool {
        self.input.lenient()
    }

    /// How much was skipped.
    pub fn skipped(&self) -> u64 {
        self.input.skipped()
    }

    /// The captured bytes of the packet read last.
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// The input, for what was skipped.
    pub fn into_input(self) -> Input {
        self.input
    }

    /// The next packet, in the order of the file; `None` at the end. Its bytes are [`Capture::data`].
    ///
    /// # Errors
    /// What is wrong, with its byte. With a lenient input, a packet that cannot be used is skipped, and so is the rest of a file in
    /// which the next block cannot be found.
    pub fn next_record(&mut self) -> Result<Option<Record>> {
        loop {
            let taken = match self.kind {
                Kind::Pcap { modified } => self.record(modified),
                Kind::Pcapng => self.block(),
            }?;
            match taken {
                None => return Ok(None),
                Some(Taken::Other) => {}
                Some(Taken::Packet(record)) => return Ok(Some(record)),
            }
        }
    }

    /// The file cannot be followed from here on: nothing more comes of it.
    fn lost<T>(&mut self, problem: String) -> Result<Option<T>> {
        let fault = Fault {
            problem,
            remedy: "use --lenient to analyse everything before it",
        };
        let here = self.input.here();
        self.input.skip_or(&fault, here)?;
        Ok(None)
    }

    /// A record of a pcap file; `None` at its end.
    fn record(&mut self, modified: bool) -> Result<Option<Taken>> {
        let header = match modified {
            true => MODIFIED_HEADER,
            false => RECORD_HEADER,
        };
        let found = self.input.fill(header)?;
        if found == 0 {
            return Ok(None);
        }
        if found < header {
            return self.lost(format!(
                "a record header must have {header} bytes, but only {found} are left: the capture was cut off"
            ));
        }
        let big = self.big_endian;
        let word = |bytes: &[u8], at: usize| number(bytes, at, big);
        let head = self.input.ahead(header);
        let (seconds, fraction) = (word(head, 0), word(head, 4));
        let (captured, length) = (word(head, 8), word(head, 12));
        let size = usize::try_from(captured).unwrap_or(usize::MAX);
        if size > LONGEST {
            return self.lost(format!(
                "a record declares {captured} bytes, at most {LONGEST} are allowed"
            ));
        }
        let found = self.input.fill(header + size)?;
        if found < header + size {
            return self.lost(format!(
                "a record declares {size} bytes, but only {} are left: the capture was cut off",
                found - header
            ));
        }
        let interface = &self.interfaces[0];
        let time = instant(
            u128::from(seconds) * interface.units + u128::from(fraction),
            interface,
        );
        let valid = u128::from(fraction) < interface.units;
        self.data.clear();
        self.data
            .extend_from_slice(&self.input.ahead(header + size)[header..]);
        let checked = checked(time.filter(|_| valid), captured, length);
        let byte = self.input.position();
        self.input.take(header + size);
        match checked {
            Ok(time) => Ok(Some(Taken::Packet(Record {
                time,
                byte,
                interface: 0,
                length,
                dropped: 0,
            }))),
            Err(fault) => {
                self.input.skip_or(&fault, At::Byte(byte))?;
                Ok(Some(Taken::Other))
            }
        }
    }

    /// A block of a pcapng file; `None` at its end.
    fn block(&mut self) -> Result<Option<Taken>> {
        let Some(size) = self.next_block()? else {
            return Ok(None);
        };
        let taken = match self.read_block(size) {
            Ok(taken) => taken,
            Err(fault) => {
                let here = self.input.here();
                self.input.skip_or(&fault, here)?;
                Taken::Other
            }
        };
        self.input.take(size);
        Ok(Some(taken))
    }

    /// Brings the next block into sight, with the order of bytes of a section that it begins, and says how many bytes it has; `None`
    /// where no block follows.
    fn next_block(&mut self) -> Result<Option<usize>> {
        let found = self.input.fill(SHORTEST)?;
        if found == 0 {
            return Ok(None);
        }
        if found < SHORTEST {
            return self.lost(format!(
                "a block has at least {SHORTEST} bytes, but only {found} are left: the capture was cut off"
            ));
        }
        let head = self.input.ahead(SHORTEST);
        if number(head, 0, false) == SECTION {
            // The order of bytes is that of the magic behind the length.
            self.big_endian = match number(head, 8, false) {
                0x1a2b_3c4d => false,
                0x4d3c_2b1a => true,
                other => {
                    return self.lost(format!(
                        "a section header has the byte-order magic {other:#010x}"
                    ));
                }
            };
            self.first = self.interfaces.len();
        }
        let length = number(self.input.ahead(8), 4, self.big_endian);
        let size = usize::try_from(length).unwrap_or(usize::MAX);
        if !(SHORTEST..=LONGEST).contains(&size) || size % 4 != 0 {
            return self.lost(format!("a block declares {length} bytes; allowed are multiples of 4 from {SHORTEST} to {LONGEST}"));
        }
        let found = self.input.fill(size)?;
        if found < size {
            return self.lost(format!(
                "a block declares {size} bytes, but only {found} are left: the capture was cut off"
            ));
        }
        let trailer = number(self.input.ahead(size), size - 4, self.big_endian);
        if trailer != length {
            return self.lost(format!(
                "a block declares {length} bytes at its start and {trailer} at its end"
            ));
        }
        Ok(Some(size))
    }

    /// Reads the block of `size` bytes that is ahead.
    fn read_block(&mut self, size: usize) -> std::result::Result<Taken, Fault> {
        let bytes = self.input.ahead(size);
        let parsed = match self.big_endian {
            true => parse_block_be(bytes),
            false => parse_block_le(bytes),
        };
        let Ok((_, block)) = parsed else {
            return Err(Fault::new(format!(
                "a block of type {} and {size} bytes cannot be read",
                number(bytes, 0, self.big_endian)
            )));
        };
        let (interfaces, big) = (&mut self.interfaces, self.big_endian);
        match read(&block, interfaces, (self.first, big), &mut self.data)? {
            Read::Packet { record, time } => {
                let captured = u32::try_from(self.data.len()).unwrap_or(u32::MAX);
                let byte = self.input.position();
                let time = checked(time, captured, record.length)?;
                Ok(Taken::Packet(Record {
                    time,
                    byte,
                    ..record
                }))
            }
            Read::Known => Ok(Taken::Other),
            Read::Ignored => {
                self.ignored += 1;
                Ok(Taken::Other)
            }
        }
    }
}

/// The time of a packet whose lengths can be.
fn checked(time: Option<u128>, captured: u32, length: u32) -> std::result::Result<u128, Fault> {
    if captured > length {
        return Err(Fault::new(format!(
            "{captured} bytes were captured of a packet of {length}"
        )));
    }
    time.ok_or_else(|| Fault::new("a packet has an invalid time"))
}

enum Read {
    Packet { record: Record, time: Option<u128> },
    Known,
    Ignored,
}

/// Reads a block; the bytes of a packet are put into `data`.
fn read(
    block: &Block<'_>,
    interfaces: &mut Vec<Interface>,
    (first, big_endian): (usize, bool),
    data: &mut Vec<u8>,
) -> std::result::Result<Read, Fault> {
    match block {
        Block::SectionHeader(_) => Ok(Read::Known),
        Block::InterfaceDescription(description) => {
            if interfaces.len() >= MOST_INTERFACES {
                return Err(Fault::new(format!(
                    "more than {MOST_INTERFACES} interfaces"
                )));
            }
            interfaces.push(described(description, big_endian)?);
            Ok(Read::Known)
        }
        Block::EnhancedPacket(packet) => {
            let at = interface_place(packet.if_id, first, interfaces)?;
            let bytes = captured(packet)?;
            data.clear();
            data.extend_from_slice(bytes);
            let ticks = u128::from(packet.ts_high) << 32 | u128::from(packet.ts_low);
            Ok(Read::Packet {
                time: instant(ticks, &interfaces[at]),
                record: Record {
                    time: 0,
                    byte: 0,
                    interface: u32::try_from(at).unwrap_or(u32::MAX),
                    length: packet.origlen,
                    dropped: eight(&packet.options, EPB_DROPCOUNT, big_endian)
                        .map_or(0, u64::from_ne_bytes),
                },
            })
        }
        Block::SimplePacket(_) => Err(Fault {
            problem: "a simple packet block has no time".to_owned(),
            remedy: "use --lenient to skip it",
        }),
        Block::InterfaceStatistics(statistics) => {
            let at = interface_place(statistics.if_id, first, interfaces)?;
            let dropped = eight(&statistics.options, ISB_IFDROP, big_endian);
            let dropped = dropped.map(u64::from_ne_bytes);
            interfaces[at].dropped = dropped.or(interfaces[at].dropped);
            Ok(Read::Known)
        }
        _ => Ok(Read::Ignored),
    }
}

/// The interface of a description.
fn described(
    description: &InterfaceDescriptionBlock<'_>,
    big_endian: bool,
) -> std::result::Result<Interface, Fault> {
    let options = &description.options;
    let speed = eight(options, IF_SPEED, big_endian);
    let offset = eight(options, IF_TSOFFSET, big_endian);
    let name = description.if_name().and_then(|name| name.ok());
    let text = description.if_description().and_then(|text| text.ok());
    Ok(Interface {
        name: name.unwrap_or_default().to_owned(),
        description: text.unwrap_or_default().to_owned(),
        link_type: description.linktype.0,
        speed: speed.map(u64::from_ne_bytes),
        dropped: None,
        units: units(description.if_tsresol)?,
        offset: offset.map_or(0, i64::from_ne_bytes),
    })
}

/// The place of the interface that a section, whose first one is `first`, calls `id`.
fn interface_place(
    id: u32,
    first: usize,
    interfaces: &[Interface],
) -> std::result::Result<usize, Fault> {
    let place = usize::try_from(id)
        .unwrap_or(usize::MAX)
        .saturating_add(first);
    (place < interfaces.len())
        .then_some(place)
        .ok_or_else(|| Fault::new(format!("interface {id} is used before its description")))
}

/// What was captured of a packet.
fn captured<'a>(packet: &EnhancedPacketBlock<'a>) -> std::result::Result<&'a [u8], Fault> {
    let captured = usize::try_from(packet.caplen).unwrap_or(usize::MAX);
    packet.data.get(..captured).ok_or_else(|| {
        Fault::new(format!(
            "a packet declares {captured} bytes, but its block has only {}",
            packet.data.len()
        ))
    })
}

/// The eight bytes of an option, in the order of this machine.
///
/// The library reads numbers of options as little-endian, whatever the section says.
fn eight(options: &[PcapNGOption<'_>], code: u16, big_endian: bool) -> Option<[u8; 8]> {
    let option = options.iter().find(|option| option.code.0 == code)?;
    let mut bytes: [u8; 8] = option.value().try_into().ok()?;
    if big_endian != cfg!(target_endian = "big") {
        bytes.reverse();
    }
    Some(bytes)
}

/// Units of time per second: a power of ten, or of two where the highest bit says so.
///
/// Source: draft-ietf-opsawg-pcapng section 4.2, `if_tsresol`.
fn units(resolution: u8) -> std::result::Result<u128, Fault> {
    let exponent = u32::from(resolution & 0x7f);
    let units = match resolution & 0x80 {
        0 => 10u128.checked_pow(exponent),
        _ => 1u128.checked_shl(exponent),
    };
    units.ok_or_else(|| {
        Fault::new(format!(
            "an interface has the time resolution {resolution:#04x}, 10^-{exponent} s (allowed: 10^0 to 10^-38 s, 2^0 to 2^-127 s)"
        ))
    })
}

/// A time in an interface's units as picoseconds since 1970; `None` out of range.
fn instant(ticks: u128, interface: &Interface) -> Option<u128> {
    let units = interface.units;
    let seconds = i128::try_from(ticks / units)
        .ok()?
        .checked_add(i128::from(interface.offset))?;
    let fraction = (ticks % units) * PS_PER_S / units;
    u128::try_from(seconds)
        .ok()?
        .checked_mul(PS_PER_S)?
        .checked_add(fraction)
}

/// Four bytes as a number.
fn number(bytes: &[u8], at: usize, big_endian: bool) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    match big_endian {
        true => u32::from_be_bytes(word),
        false => u32::from_le_bytes(word),
    }
}
