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
use super::input::Input;
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
