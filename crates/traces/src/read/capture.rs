//! Analysis of captures: conversations with their packets, bytes, rates and gaps, TCP's handshakes, retransmissions and round trips;
//! and of two captures of the same traffic, one-way delay and loss.

mod book;
mod digest;
mod opposite;
mod pairing;
mod paths;
mod source;
mod tables;
mod twice;

use std::path::Path;

use sojourn_units::{Span, Time};

pub use tables::documented;

use super::analysis::{Analysis, Options, nothing};
use super::format::Format;
use super::frame::Other;
use super::input::{Input, Skipped};
use super::series::Series;
use book::Book;
use opposite::opposite;
use paths::Paths;
use sojourn_scenario::error::Result;
use source::Source;

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
    let mut source = Source::open(input, format, options.tunnels, receiver.is_some())?;
    let mut receiver = match receiver {
        Some((input, format)) => Some(Receiver::open(input, format, options)?),
        None => None,
    };
    match &mut receiver {
        Some(receiver) => read_both(&mut source, receiver, &mut book, options)?,
        None => read_alone(&mut source, &mut book, options)?,
    }
    let interfaces = source.capture.interfaces().to_vec();
    let (base, ignored) = (source.base, source.capture.ignored());
    source.check()?;
    if let Some(receiver) = &receiver {
        receiver.source.check()?;
    }
    let input = source.capture.into_input();
    if book.zero.is_some() && book.packets == 0 {
        return Err(nothing(input.name(), "packet", options));
    }
    if let Some(receiver) = &receiver {
        let name = options.receiver.as_deref().unwrap_or(Path::new(""));
        let names = [input.name(), &name.display().to_string()];
        receiver.paths.check(names)?;
    }
    let mut skipped = vec![input.into_skipped()];
    let paths = receiver.map(|receiver| {
        skipped.push(receiver.source.capture.into_input().into_skipped());
        receiver.paths
    });
    let about = tables::Whole {
        interfaces: &interfaces,
        base: base.unwrap_or(0),
        ignored,
        skipped: skipped.iter().map(|skipped| skipped.count).sum(),
    };
    let remarks = remarks(&book, paths.as_ref(), &skipped);
    let tables = tables::tables(&mut book, &about, paths.as_ref(), options);
    skipped.retain(|skipped| skipped.count > 0);
    Ok(Analysis {
        format,
        tables,
        skipped,
        remarks,
    })
}

/// The second capture, where the packets of the first arrive, and the paths between the two.
struct Receiver {
    source: Source,
    paths: Paths,
}

impl Receiver {
    fn open(input: Input, format: Format, options: &Options) -> Result<Receiver> {
        Ok(Receiver {
            source: Source::open(input, format, options.tunnels, true)?,
            paths: Paths::new(options.horizon),
        })
    }
}

/// Reads the only capture to its end.
fn read_alone(source: &mut Source, book: &mut Book, options: &Options) -> Result<()> {
    loop {
        read(source, book, options)?;
        if source.next.is_none() {
            return Ok(());
        }
    }
}

/// Reads two captures to their ends, together in the order of time; of packets at the same time, the first capture's come first.
fn read_both(
    source: &mut Source,
    receiver: &mut Receiver,
    book: &mut Book,
    options: &Options,
) -> Result<()> {
    // The first packet of the first capture says what times count from.
    read(source, book, options)?;
    receiver.source.base = source.base;
    receiver.source.advance()?;
    loop {
        let arriving = receiver.source.next;
        let leaving = source
            .next
            .filter(|(own, ..)| arriving.is_none_or(|(other, ..)| own.time <= other.time));
        if let Some((passing, packet, digest)) = leaving {
            if book.wanted(passing.time, options) == Some(true) {
                receiver.paths.sender(passing.time, &packet, &digest);
            }
            read(source, book, options)?;
        } else if let Some((passing, packet, digest)) = arriving {
            if book.wanted(passing.time, options) == Some(true) {
                receiver.paths.receiver(passing.time, &packet, &digest);
            }
            receiver.source.advance()?;
        } else {
            receiver.paths.finish();
            return Ok(());
        }
    }
}

/// What has to be known beside the tables; `skipped` names the captures.
fn remarks(book: &Book, paths: Option<&Paths>, skipped: &[Skipped]) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(first) = skipped.first() {
        remarks.extend(book.remark(&first.file));
        remarks.extend(book.twice.remark(&first.file, book.counted.packets));
    }
    if let (Some(paths), Some(second)) = (paths, skipped.get(1)) {
        remarks.extend(paths.remark(&second.file));
    }
    remarks
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
