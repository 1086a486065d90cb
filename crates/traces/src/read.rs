//! Packet traces: read in a stream, analysed in memory that does not grow with the file.
//!
//! Two families. An *event trace* (ns-2, ns-3's ASCII traces) follows each packet from queue to queue; [`events::analyse`] reads
//! one. A *capture* (pcap, pcapng) has what passed one point, with its headers; [`capture::analyse`] reads one, or two of the same
//! traffic. Both give [`table::TraceTable`]s. [`analyse`] finds out by the file's content which it is.
//!
//! What is kept grows with the nodes, links, flows and conversations of a trace, with the packets under way and with the steps of the
//! time series, never with its lines. A packet that was not read of for longer than [`Options::horizon`] is taken for lost and
//! forgotten.

mod analysis;
pub mod capture;
pub mod column;
pub mod dialogue;
pub mod event;
pub mod events;
pub mod form;
pub mod format;
pub mod frame;
pub mod given;
pub mod heading;
pub mod input;
pub mod moments;
pub mod number;
mod order;
pub mod output;
mod series;
pub mod table;

use std::path::Path;

pub use analysis::{Analysis, Options};

use format::Family;
use frame::Tunnels;
use input::{Input, STANDARD_INPUT};
use sojourn_scenario::error::{LabError, LabErrorKind, Result};

/// Reads the trace in a file, plain or gzip, and analyses it; the file `-` is standard input.
///
/// # Errors
/// When it cannot be read or is no trace, with its line or byte; when an option does not fit the trace.
pub fn analyse(path: &Path, options: &Options) -> Result<Analysis> {
    if path == Path::new(STANDARD_INPUT) && options.receiver.as_deref() == Some(path) {
        return Err(LabError::new(
            LabErrorKind::Contradiction,
            "standard input is already the first capture",
        )
        .in_file("--receiver -")
        .remedy("name a file for one of the two captures"));
    }
    let input = Input::open(path, options.lenient)?;
    let format = format::choose(&input, options.format)?;
    match format.family() {
        Family::Events => {
            if options.receiver.is_some() {
                return Err(LabError::new(
                    LabErrorKind::Contradiction,
                    format!(
                        "{} is an event trace, which already contains both ends of a path",
                        path.display()
                    ),
                )
                .in_file("--receiver")
                .remedy("use --receiver only with captures (pcap, pcapng)"));
            }
            if options.tunnels != Tunnels::default() {
                return Err(LabError::new(
                    LabErrorKind::Contradiction,
                    format!(
                        "{} is an event trace, which has no packet headers",
                        path.display()
                    ),
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
                    "a capture has no links, so a link rate does not apply",
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
