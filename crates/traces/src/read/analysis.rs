//! The options of an analysis, and what it gives.

use std::path::PathBuf;

use sojourn_scenario::error::{LabError, LabErrorKind};
use sojourn_units::{Rate, Span, Time};

use super::format::Format;
use super::frame::Tunnels;
use super::input::Skipped;
use super::table::TraceTable;

/// The options of an analysis.
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

/// The error of a trace that has none of `what` in the time that is asked for.
pub(super) fn nothing(name: &str, what: &str, options: &Options) -> LabError {
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
    .remedy("change --from or --to")
    .in_file(name)
}
