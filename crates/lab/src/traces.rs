//! Packet traces: read in a stream, analysed in memory that does not grow with the file.
//!
//! Two families. An *event trace* (ns-2, ns-3's ASCII traces) follows each packet from queue to queue; [`events::analyse`] reads
//! one. A *capture* (pcap, pcapng) has what passed one point, with its headers; [`capture::analyse`] reads one, or two of the same
//! traffic. Both give [`table::TraceTable`]s. [`analyse`] finds out by the file's content which it is.
//!
//! What is kept grows with the nodes, links, flows and conversations of a trace, with the packets under way and with the steps of the
//! time series, never with its lines. A packet of which nothing was read for longer than [`Options::horizon`] is taken for lost and
//! forgotten.

pub mod bench;
pub mod capture;
pub mod dialogue;
pub mod event;
pub mod events;
pub mod format;
pub mod frame;
pub mod given;
pub mod heading;
pub mod input;
pub mod moments;
pub mod ns2;
pub mod ns3;
pub mod number;
mod order;
pub mod output;
pub mod pcap;
pub mod reference;

mod series;
pub mod table;

use crate::error::{LabError, LabErrorKind, Result};
use format::{Family, Format};
use frame::Tunnels;
use input::{Input, STANDARD_INPUT, Skipped};
use sojourn_units::{Rate, Span, Time};
use std::path::{Path, PathBuf};
use table::TraceTable;

/// What an analysis is told.
#[derive(Clone, Debug)]
pub struct Options {
    /// The format; found by content unless given.
    pub format: Option<Format>,
    /// Skip what cannot be read, and count it, instead of stopping there.
    pub lenient: bool,
    /// Length of a step of the time series.
    pub step: Span,
    /// What happens before is followed but not counted: the warm-up.
    pub from: Option<Time>,
    /// What happens from then on is not read.
    pub to: Option<Time>,
    /// Rates of links, by name.
    pub rates: Vec<(String, Rate)>,
    /// After so long without a line, a packet is taken for lost.
    pub horizon: Span,
    /// A second capture of the same traffic, where it arrives.
    pub receiver: Option<PathBuf>,
    /// Which packet of a capture is analysed where one carries another.
    pub tunnels: Tunnels,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            format: None,
            lenient: false,
            step: Span::from_secs(1),
            from: None,
            to: None,
            rates: Vec::new(),
            horizon: Span::from_secs(60),
            receiver: None,
            tunnels: Tunnels::default(),
        }
    }
}

/// What an analysis gives.
#[derive(Clone, PartialEq, Debug)]
pub struct Analysis {
    /// The format that was read.
    pub format: Format,
    /// The tables; the first is the summary.
    pub tables: Vec<TraceTable>,
    /// What was skipped, file by file; only with [`Options::lenient`].
    pub skipped: Vec<Skipped>,
    /// What has to be known beside the tables, a sentence each.
    pub remarks: Vec<String>,
}

impl Analysis {
    /// The table of a name.
    pub fn table(&self, name: &str) -> Option<&TraceTable> {
        self.tables.iter().find(|table| table.name == name)
    }
}

/// Reads the trace in a file, plain or gzip, and analyses it; the file `-` is standard input.
///
/// # Errors
/// When it cannot be read or is no trace, with its line or byte; when an option does not fit the trace.
pub fn analyse(path: &Path, options: &Options) -> Result<Analysis> {
    if path == Path::new(STANDARD_INPUT) && options.receiver.as_deref() == Some(path) {
        return Err(LabError::new(
            LabErrorKind::Contradiction,
            "standard input is the first capture already",
        )
        .in_file("--receiver -")
        .remedy("give one of the two as a file"));
    }
    let input = Input::open(path, options.lenient)?;
    let format = format::choose(&input, options.format)?;
    match format.family() {
        Family::Events => {
            if options.receiver.is_some() {
                return Err(LabError::new(
                    LabErrorKind::Contradiction,
                    format!(
                        "{} is an event trace, which has both ends already",
                        path.display()
                    ),
                )
                .in_file("--receiver")
                .remedy("give two captures, or leave the option out"));
            }
            if options.tunnels != Tunnels::default() {
                return Err(LabError::new(
                    LabErrorKind::Contradiction,
                    format!("{} is an event trace, which has no headers", path.display()),
                )
                .in_file("--tunnels")
                .remedy("leave the option out"));
            }
            events::analyse(input, format, options)
        }
        Family::Capture => {
            if let Some((link, _)) = options.rates.first() {
                return Err(LabError::new(
                    LabErrorKind::Contradiction,
                    "a capture has no links, so none can have a rate",
                )
                .in_file(&format!("--rate {link}"))
                .remedy("leave the option out"));
            }
            let receiver = match &options.receiver {
                None => None,
                Some(path) => {
                    let input = Input::open(path, options.lenient)?;
                    let format = format::choose(&input, None)?;
                    if format.family() != Family::Capture {
                        return Err(LabError::new(
                            LabErrorKind::Contradiction,
                            format!("this is {}, not a capture", format.title()),
                        )
                        .in_file(&path.display().to_string())
                        .allowed("formats", "pcap, pcapng"));
                    }
                    Some((input, format))
                }
            };
            capture::analyse(input, format, receiver, options)
        }
    }
}

/// The error of a trace that has none of `what` in the time that is asked for.
fn nothing(name: &str, what: &str, options: &Options) -> LabError {
    let window = match (options.from, options.to) {
        (Some(from), Some(to)) => format!(" from {from} to {to}"),
        (Some(from), None) => format!(" at {from} or later"),
        (None, Some(to)) => format!(" before {to}"),
        (None, None) => String::new(),
    };
    LabError::new(
        LabErrorKind::BadValue,
        format!("the trace has no {what}{window}"),
    )
    .remedy("choose another time")
    .in_file(name)
}
