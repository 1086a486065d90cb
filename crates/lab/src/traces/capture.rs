//! Analysis of captures: conversations with their packets, bytes, rates and gaps, TCP's handshakes, retransmissions and round trips;
//! and of two captures of the same traffic, one-way delay and loss.

mod paths;
mod tables;

pub use tables::documented;

use super::dialogue::Direction;
use super::event::{Lookup, place};
use super::format::Format;
use super::frame::{Key, LINK_TYPES, Other, Packet, decode};
use super::input::{Fault, Input};
use super::moments::{Counts, Sizes};
use super::pcap::{Capture, Interface, Record};
use super::series::{Series, Subject};
use super::{Analysis, Options, nothing};
use crate::error::Result;
use paths::Paths;
use sojourn_units::{Span, Time};

/// What is known of a capture after some packets.
struct Book {
    directions: Vec<(u32, Key, Direction)>,
    by_key: Lookup<(u32, Key), u32>,
    interfaces: Vec<Seen>,
    series: Option<Series>,
    /// Time of the first packet, and of the last that counts.
    zero: Option<Time>,
    last: Option<Time>,
    packets: u64,
    counted: Counts,
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
            interfaces: Vec::new(),
            series: None,
            zero: None,
            last: None,
            packets: 0,
            counted: Counts::default(),
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

    /// Takes a packet; `counted` says whether it is to be counted.
    fn record(&mut self, record: &Record, packet: &Packet, counted: bool) {
        if !counted {
            return;
        }
        let number = self.direction(record.interface, packet.key);
        let reverse = self
            .by_key
            .get(&(record.interface, packet.key.reversed()))
            .copied();
        if let (Some(tcp), Some(reverse)) = (&packet.tcp, reverse) {
            self.directions[place(reverse)]
                .2
                .acknowledge(record.time, tcp);
            if !tcp.syn {
                self.directions[place(number)].2.confirm(record.time);
            }
        }
        self.directions[place(number)].2.record(record.time, packet);
        self.counted.record(packet.bytes);
        if let Some(series) = &mut self.series {
            for subject in [Subject::Flow(number), Subject::Trace] {
                series.bin(subject).sent.record(packet.bytes);
            }
        }
    }

    fn interface(&mut self, record: &Record) {
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

/// A capture and the next packet of it that can be used.
struct Source {
    capture: Capture,
    next: Option<(Record, Packet)>,
    other: [u64; 3],
    told: bool,
}

impl Source {
    fn open(input: Input, format: Format) -> Result<Source> {
        Ok(Source {
            capture: Capture::open(input, format == Format::Pcapng)?,
            next: None,
            other: [0; 3],
            told: false,
        })
    }

    /// Reads on to the next packet of IP; `each` sees every packet before.
    fn advance(&mut self, mut each: impl FnMut(&Record)) -> Result<()> {
        self.next = None;
        while let Some(record) = self.capture.next_record()? {
            each(&record);
            let link_type = self.capture.interfaces()[place(record.interface)].link_type;
            match decode(link_type, self.capture.data()) {
                Ok(packet) => {
                    self.next = Some((record, packet));
                    break;
                }
                Err(Other::NotIp) => self.other[0] += 1,
                Err(Other::Damaged) => self.other[1] += 1,
                Err(Other::LinkType(_)) => self.other[2] += 1,
            }
        }
        Ok(())
    }

    /// A link type that is not known makes a capture useless, unless lenient.
    fn check(&mut self, lenient: bool) -> Result<()> {
        let unknown =
            self.capture.interfaces().iter().find(|interface| {
                matches!(decode(interface.link_type, &[]), Err(Other::LinkType(_)))
            });
        if let Some(interface) = unknown
            && !lenient
            && !self.told
            && self.other[2] > 0
        {
            let fault = Fault {
                problem: format!(
                    "packets of link type {} cannot be read (allowed: {LINK_TYPES})",
                    interface.link_type
                ),
                remedy: "with --lenient, they are counted and left out",
            };
            self.told = true;
            return Err(self.capture.fault(&fault));
        }
        Ok(())
    }
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
    let mut source = Source::open(input, format)?;
    let mut second = match receiver {
        Some((input, format)) => Some(Source::open(input, format)?),
        None => None,
    };
    let mut paths = second.as_ref().map(|_| Paths::new(options.horizon));
    // The first packet of the first capture says what times count from.
    read(&mut source, &mut book, options)?;
    if let Some(second) = &mut second {
        second.capture.set_base(source.capture.base());
        second.advance(|_| {})?;
    }
    loop {
        let times = [
            &source.next,
            &second.as_ref().and_then(|second| second.next),
        ]
        .map(|next| next.map(|(record, _)| record.time));
        match times {
            [None, None] => break,
            [Some(own), other] if other.is_none_or(|other| own <= other) => {
                if let (Some((record, packet)), Some(paths)) = (source.next, &mut paths)
                    && book.wanted(record.time, options) == Some(true)
                {
                    paths.sender(record.time, &packet);
                }
                read(&mut source, &mut book, options)?;
            }
            _ => {
                if let Some(second) = &mut second {
                    if let (Some((record, packet)), Some(paths)) = (second.next, &mut paths)
                        && book.wanted(record.time, options) == Some(true)
                    {
                        paths.receiver(record.time, &packet);
                    }
                    second.advance(|_| {})?;
                    second.check(options.lenient)?;
                }
            }
        }
    }
    if let Some(paths) = &mut paths {
        paths.finish();
    }
    [book.not_ip, book.damaged, book.unknown_link] = source.other;
    let interfaces = source.capture.interfaces().to_vec();
    let (base, ignored) = (source.capture.base(), source.capture.ignored());
    let input = source.capture.into_input();
    if book.zero.is_some() && book.packets == 0 {
        return Err(nothing(input.name(), "packet", options));
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
    let tables = tables::tables(&mut book, &about, paths.as_ref(), options);
    skipped.retain(|skipped| skipped.count > 0);
    Ok(Analysis {
        format,
        tables,
        skipped,
    })
}

impl Book {
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
    let mut seen: Vec<Record> = Vec::new();
    source.advance(|record| seen.push(*record))?;
    source.check(options.lenient)?;
    for record in &seen {
        if book.zero.is_none() {
            let simulated = source.capture.base() == Some(0);
            let zero = if simulated { Time::ZERO } else { record.time };
            book.zero = Some(zero);
            let from = options
                .from
                .map_or(Span::ZERO, |from| from.since(Time::ZERO));
            book.series = Some(Series::new(options.step, zero.saturating_add(from)));
        }
        match book.wanted(record.time, options) {
            None => {
                source.next = None;
                return Ok(());
            }
            Some(false) => {}
            Some(true) => {
                book.packets += 1;
                book.last = Some(record.time);
                book.interface(record);
                if let Some(series) = &mut book.series {
                    series.advance(record.time)?;
                }
            }
        }
    }
    if let Some((record, packet)) = &source.next {
        let counted = book.wanted(record.time, options) == Some(true);
        book.record(record, packet, counted);
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
