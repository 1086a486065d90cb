//! Analysis of captures: conversations with their packets, bytes, rates and gaps, TCP's handshakes, retransmissions and round trips;
//! and of two captures of the same traffic, one-way delay and loss.

mod digest;
mod opposite;
mod pairing;
mod paths;
mod tables;
mod twice;

pub use tables::documented;

use super::dialogue::{Direction, Nature};
use super::event::{Lookup, ahead, backwards, place};
use super::format::Format;
use super::frame::{Key, LINK_TYPES, Other, Packet, Tcp, Tunnels, decode_whole};
use super::input::{Fault, Input};
use super::moments::{Counts, Sizes};
use super::order::{Ordered, Standing};
use super::pcap::{Capture, Interface, PS_PER_S, Record};
use super::series::{Errors, Series, Subject};
use super::{Analysis, Options, nothing};
use crate::error::Result;
use digest::Digest;
use opposite::opposite;
use paths::Paths;
use sojourn_units::{Span, Time};
use std::path::Path;
use twice::Twice;

/// Captures that begin before this time, in seconds, count from 0 and not from 1970: they are of a simulation.
const SIMULATED: u128 = 100 * 86_400;
/// So much earlier than the first packet may those of another capture be, in seconds.
const MARGIN: u128 = 3600;

/// What is known of a capture after some packets.
struct Book {
    directions: Vec<(u32, Key, Direction)>,
    by_key: Lookup<(u32, Key), u32>,
    /// Of each interface, that of the other direction of its link.
    opposite: Vec<Option<u32>>,
    interfaces: Vec<Seen>,
    series: Option<Series>,
    /// Time of the first packet, and of the last that counts.
    zero: Option<Time>,
    last: Option<Time>,
    packets: u64,
    counted: Counts,
    offload: u64,
    twice: Twice,
    tunnelled: u64,
    not_ip: u64,
    damaged: u64,
    unknown_link: u64,
}

/// What an interface saw.
#[derive(Clone, PartialEq, Debug, Default)]
struct Seen {
    packets: Sizes,
    dropped: u64,
    active: Option<(Time, Time)>,
}

impl Book {
    fn new() -> Book {
        Book {
            directions: Vec::new(),
            by_key: Lookup::default(),
            opposite: Vec::new(),
            interfaces: Vec::new(),
            series: None,
            zero: None,
            last: None,
            packets: 0,
            counted: Counts::default(),
            offload: 0,
            twice: Twice::new(),
            tunnelled: 0,
            not_ip: 0,
            damaged: 0,
            unknown_link: 0,
        }
    }

    /// The number of a direction of a conversation at an interface.
    fn direction(&mut self, interface: u32, key: Key) -> u32 {
        let next = u32::try_from(self.directions.len()).unwrap_or(u32::MAX - 1);
        let number = *self.by_key.entry((interface, key)).or_insert(next);
        if number == next {
            self.directions.push((interface, key, Direction::default()));
        }
        number
    }

    /// The number of the other direction: at the same interface, or at that of the other direction of its link.
    fn reverse(&self, interface: u32, key: Key) -> Option<u32> {
        let at = |interface| self.by_key.get(&(interface, key.reversed())).copied();
        let opposite = || self.opposite.get(place(interface)).copied().flatten();
        at(interface).or_else(|| opposite().and_then(at))
    }

    /// Takes a packet; `counted` says whether it is to be counted.
    fn record(&mut self, record: &Passing, packet: &Packet, counted: bool) {
        if !counted {
            return;
        }
        let number = self.direction(record.interface, packet.key);
        let reverse = self.reverse(record.interface, packet.key);
        if let Some(tcp) = &packet.tcp {
            self.renew(number, reverse, tcp);
        }
        let mut repeats = false;
        if let (Some(tcp), Some(reverse)) = (&packet.tcp, reverse) {
            repeats = self.directions[place(reverse)]
                .2
                .acknowledge(record.time, tcp);
            if !tcp.syn {
                self.directions[place(number)].2.confirm(record.time);
            }
        }
        let way = &mut self.directions[place(number)].2;
        let nature = way.record(record.time, packet);
        way.duplicates += u64::from(repeats);
        let errors = Errors {
            retransmitted: u64::from(nature == Nature::Retransmitted),
            filled: u64::from(nature == Nature::Filled),
            duplicates: u64::from(repeats),
        };
        self.counted.record(packet.bytes);
        self.offload += u64::from(packet.offload);
        self.twice.record(record.time, record.interface, packet);
        self.tunnelled += u64::from(packet.tunnelled);
        if let Some(series) = &mut self.series {
            for subject in [Subject::Flow(number), Subject::Trace] {
                let bin = series.bin(subject);
                bin.sent.record(packet.bytes);
                bin.errors.add(errors);
            }
        }
    }

    /// Forgets what was seen of an earlier connection on the same ports, where a segment of this direction opens another.
    fn renew(&mut self, number: u32, reverse: Option<u32>, tcp: &Tcp) {
        if !tcp.syn {
            return;
        }
        let none = Direction::default();
        let back = reverse.map(place);
        let way = &self.directions[place(number)].2;
        let other = back.map_or(&none, |back| &self.directions[back].2);
        let anew = way.begins_anew(tcp, other);
        // The answer begins one of its own direction; of the other one, if the SYN was not captured.
        let both = match tcp.acknowledgement {
            None => anew,
            Some(_) => other.missed_syn(tcp),
        };
        if anew {
            self.directions[place(number)].2.renew();
        }
        if let (true, Some(back)) = (both, back) {
            self.directions[back].2.renew();
        }
    }

    fn interface(&mut self, record: &Passing) {
        let at = place(record.interface);
        if at >= self.interfaces.len() {
            self.interfaces.resize_with(at + 1, Seen::default);
        }
        let seen = &mut self.interfaces[at];
        seen.packets.record(record.length);
        seen.dropped += record.dropped;
        let first = seen.active.map_or(record.time, |(first, _)| first);
        seen.active = Some((first, record.time));
    }
}

/// The packet of IP in a record with the digest of what it carries, if that is needed, or why there is none.
type Content = std::result::Result<(Packet, Digest), Other>;

/// A packet whose time counts from the base of its capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Passing {
    time: Time,
    interface: u32,
    length: u32,
    dropped: u64,
}

/// A capture, in the order of time, and the next packet of it that can be used.
struct Source {
    capture: Capture,
    tunnels: Tunnels,
    next: Option<(Passing, Packet, Digest)>,
    /// Digests are needed.
    digests: bool,
    ordered: Ordered<u128, (Record, Content)>,
    ended: bool,
    /// Seconds since 1970 that times count from: picoseconds since 1970 need more than 64 bits.
    base: Option<u128>,
    packets: u64,
}

impl Source {
    fn open(input: Input, format: Format, tunnels: Tunnels, digests: bool) -> Result<Source> {
        Ok(Source {
            digests,
            tunnels,
            ordered: Ordered::new(input.lenient()),
            capture: Capture::open(input, format == Format::Pcapng)?,
            next: None,
            ended: false,
            base: None,
            packets: 0,
        })
    }

    /// Reads on to the next packet of IP.
    fn advance(&mut self) -> Result<()> {
        self.next = None;
        while self.next.is_none()
            && let Some((passing, packet)) = self.take()?
        {
            self.next = packet
                .ok()
                .map(|(packet, digest)| (passing, packet, digest));
        }
        Ok(())
    }

    /// The next packet.
    fn take(&mut self) -> Result<Option<(Passing, Content)>> {
        loop {
            while self.ordered.wants() && !self.ended {
                self.read()?;
            }
            self.base = self.base.or_else(|| self.likely_base());
            let Some((standing, (record, packet))) = self.ordered.pop() else {
                return Ok(None);
            };
            let time = self.base.and_then(|base| since(base, record.time));
            let fault = match (standing, time) {
                (Standing::Fits, Some(time)) => {
                    let passing = Passing {
                        time,
                        interface: record.interface,
                        length: record.length,
                        dropped: record.dropped,
                    };
                    self.packets += 1;
                    if let Err(Other::LinkType(kind)) = packet {
                        self.unknown(kind, record.byte)?;
                    }
                    return Ok(Some((passing, packet)));
                }
                (Standing::Fits, None) => {
                    Fault::new("the time of a packet is months from that of the first")
                }
                (Standing::Behind(last), _) => backwards(record.time, last),
                (Standing::Ahead(next), _) => ahead(record.time, next),
            };
            self.capture.skip_or(&fault, record.byte)?;
        }
    }

    fn read(&mut self) -> Result<()> {
        let Some(record) = self.capture.next_record()? else {
            self.ended = true;
            return Ok(());
        };
        let link_type = self.capture.interfaces()[place(record.interface)].link_type;
        let data = self.capture.data();
        let packet = decode_whole(link_type, data, record.length, self.tunnels);
        let packet = packet.map(|(packet, payload)| {
            let digest = match self.digests {
                true => Digest::of(payload),
                false => Digest::default(),
            };
            (packet, digest)
        });
        self.ordered.push(Some(record.time), (record, packet));
        Ok(())
    }

    /// A link type that is not known makes a capture useless, unless lenient.
    fn unknown(&self, link_type: i32, byte: u64) -> Result<()> {
        let fault = Fault {
            problem: format!(
                "packets of link type {link_type} cannot be read (allowed: {LINK_TYPES})"
            ),
            remedy: "with --lenient, they are counted and left out",
        };
        match self.capture.lenient() {
            true => Ok(()),
            false => Err(self.capture.fault(&fault, byte)),
        }
    }

    /// The base by the first packet from which most of those in sight can be told: the time of the very first may be wrong.
    fn likely_base(&self) -> Option<u128> {
        let times = || self.ordered.waiting().map(|(record, _)| record.time);
        let bases = || {
            times().map(|ps| match ps / PS_PER_S {
                seconds if seconds < SIMULATED => 0,
                seconds => seconds - MARGIN,
            })
        };
        let near = |base: u128| times().filter(|ps| since(base, *ps).is_some()).count();
        let most = bases().find(|base| 2 * near(*base) >= times().count());
        most.or_else(|| bases().next())
    }

    /// What a capture without packets is told, unless something was skipped.
    fn check(&self) -> Result<()> {
        if self.packets > 0 || self.capture.skipped() > 0 {
            return Ok(());
        }
        let fault = Fault {
            problem: "the capture ends, and has no packet".to_owned(),
            remedy: "was it closed before anything passed, or does its filter let nothing pass?",
        };
        Err(self.capture.fault(&fault, self.capture.position()))
    }
}

/// A time in picoseconds since 1970, from a base in seconds on; `None` out of range.
fn since(base: u128, ps: u128) -> Option<Time> {
    let ps = ps.checked_sub(base * PS_PER_S)?;
    u64::try_from(ps).ok().map(Time::from_ps)
}

/// Reads a capture to its end and analyses it; with a second one, where the same packets arrive, one-way delay and loss, too.
///
/// # Errors
/// What is wrong with a capture, with its byte; when the time series would have too many steps.
pub fn analyse(
    input: Input,
    format: Format,
    receiver: Option<(Input, Format)>,
    options: &Options,
) -> Result<Analysis> {
    let mut book = Book::new();
    let two = receiver.is_some();
    let mut source = Source::open(input, format, options.tunnels, two)?;
    let mut second = match receiver {
        Some((input, format)) => Some(Source::open(input, format, options.tunnels, two)?),
        None => None,
    };
    let mut paths = second.as_ref().map(|_| Paths::new(options.horizon));
    // The first packet of the first capture says what times count from.
    read(&mut source, &mut book, options)?;
    if let Some(second) = &mut second {
        second.base = source.base;
        second.advance()?;
    }
    loop {
        let times = [
            &source.next,
            &second.as_ref().and_then(|second| second.next),
        ]
        .map(|next| next.map(|(record, ..)| record.time));
        match times {
            [None, None] => break,
            [Some(own), other] if other.is_none_or(|other| own <= other) => {
                if let (Some((record, packet, digest)), Some(paths)) = (source.next, &mut paths)
                    && book.wanted(record.time, options) == Some(true)
                {
                    paths.sender(record.time, &packet, &digest);
                }
                read(&mut source, &mut book, options)?;
            }
            _ => {
                if let Some(second) = &mut second {
                    if let (Some((record, packet, digest)), Some(paths)) = (second.next, &mut paths)
                        && book.wanted(record.time, options) == Some(true)
                    {
                        paths.receiver(record.time, &packet, &digest);
                    }
                    second.advance()?;
                }
            }
        }
    }
    if let Some(paths) = &mut paths {
        paths.finish();
    }
    let interfaces = source.capture.interfaces().to_vec();
    let (base, ignored) = (source.base, source.capture.ignored());
    source.check()?;
    if let Some(second) = &second {
        second.check()?;
    }
    let input = source.capture.into_input();
    if book.zero.is_some() && book.packets == 0 {
        return Err(nothing(input.name(), "packet", options));
    }
    if let Some(paths) = &paths {
        let name = options.receiver.as_deref().unwrap_or(Path::new(""));
        paths.check([input.name(), &name.display().to_string()])?;
    }
    let mut skipped = vec![input.into_skipped()];
    if let Some(second) = second {
        skipped.push(second.capture.into_input().into_skipped());
    }
    let skips: u64 = skipped.iter().map(|skipped| skipped.count).sum();
    let about = tables::Whole {
        interfaces: &interfaces,
        base: base.unwrap_or(0),
        ignored,
        skipped: skips,
    };
    let first = &skipped[0].file;
    let mut remarks: Vec<String> = book.remark(first).into_iter().collect();
    remarks.extend(book.twice.remark(first, book.counted.packets));
    if let (Some(paths), Some(second)) = (&paths, skipped.get(1)) {
        remarks.extend(paths.remark(&second.file));
    }
    let tables = tables::tables(&mut book, &about, paths.as_ref(), options);
    skipped.retain(|skipped| skipped.count > 0);
    Ok(Analysis {
        format,
        tables,
        skipped,
        remarks,
    })
}

impl Book {
    /// What has to be known of the bytes that were counted.
    fn remark(&self, file: &str) -> Option<String> {
        (self.offload > 0).then(|| {
            format!(
                "{file}: {} of {} IP packets have length 0 in their header, as segmentation offload (TSO) leaves it where a sender captures; \
                 their bytes are counted by the frame",
                self.offload, self.counted.packets
            )
        })
    }

    /// Whether what happens at a time counts; `None` if nothing from there on does. Times are told from the first packet, of a capture
    /// of a simulation from zero.
    fn wanted(&self, time: Time, options: &Options) -> Option<bool> {
        let zero = self.zero.unwrap_or(Time::ZERO);
        let since = |at: Option<Time>| at.map(|at| zero.saturating_add(at.since(Time::ZERO)));
        if since(options.to).is_some_and(|to| time >= to) {
            return None;
        }
        Some(since(options.from).is_none_or(|from| time >= from))
    }
}

/// Reads the next packet of the first capture into the book.
fn read(source: &mut Source, book: &mut Book, options: &Options) -> Result<()> {
    source.next = None;
    while let Some((passing, packet)) = source.take()? {
        let interfaces = source.capture.interfaces();
        if book.opposite.len() != interfaces.len() {
            book.opposite = opposite(interfaces);
        }
        if book.zero.is_none() {
            let simulated = source.base == Some(0);
            let zero = if simulated { Time::ZERO } else { passing.time };
            book.zero = Some(zero);
            let from = options
                .from
                .map_or(Span::ZERO, |from| from.since(Time::ZERO));
            book.series = Some(Series::new(options.step, zero.saturating_add(from)));
        }
        let Some(counted) = book.wanted(passing.time, options) else {
            return Ok(());
        };
        if counted {
            book.packets += 1;
            book.last = Some(passing.time);
            book.interface(&passing);
            if let Some(series) = &mut book.series {
                series.advance(passing.time)?;
            }
        }
        match packet {
            Ok((packet, digest)) => {
                book.record(&passing, &packet, counted);
                source.next = Some((passing, packet, digest));
                return Ok(());
            }
            Err(_) if !counted => {}
            Err(Other::NotIp) => book.not_ip += 1,
            Err(Other::Damaged) => book.damaged += 1,
            Err(Other::LinkType(_)) => book.unknown_link += 1,
        }
    }
    Ok(())
}

/// The name of an interface: its own, or its number.
fn interface_name(interfaces: &[Interface], number: u32) -> String {
    let name = interfaces
        .get(place(number))
        .map_or("", |interface| interface.name.as_str());
    match name {
        "" => number.to_string(),
        name => name.to_owned(),
    }
}
