//! The formats in which events are written, and what each does with an event.

use sojourn_scenario::error::{LabError, LabErrorKind};
use sojourn_sim::trace::Record;

/// A format in which events are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceFormat {
    /// ns-2's lines, times rounded to the microsecond as ns-2 rounds them.
    Ns2,
    /// ns-2's lines, times to the picosecond.
    Ns2Exact,
    /// A capture with an interface per link, packets at the start of their transmission, to the nanosecond.
    Pcapng,
    /// A Parquet table with a row per event.
    Parquet,
}

impl TraceFormat {
    /// Every format.
    pub const ALL: [TraceFormat; 4] = [
        TraceFormat::Ns2,
        TraceFormat::Ns2Exact,
        TraceFormat::Pcapng,
        TraceFormat::Parquet,
    ];

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            TraceFormat::Ns2 => "ns2",
            TraceFormat::Ns2Exact => "ns2-exact",
            TraceFormat::Pcapng => "pcapng",
            TraceFormat::Parquet => "parquet",
        }
    }

    /// The format of a name.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn parse(given: &str) -> Result<TraceFormat, LabError> {
        let names = TraceFormat::ALL.map(TraceFormat::name);
        let found = TraceFormat::ALL
            .into_iter()
            .find(|format| format.name() == given);
        found.ok_or_else(|| {
            LabError::new(
                LabErrorKind::UnknownName,
                format!("there is no trace format {given:?}"),
            )
            .in_file("--trace")
            .nearest(sojourn_units::nearest(given, names))
            .allowed("formats", names.join(", "))
            .remedy("write --trace ns2 FILE")
        })
    }
}

/// Takes events in the order of time.
pub(super) trait Sink {
    /// Writes what the format has of an event.
    fn record(&mut self, record: &Record) -> std::io::Result<()>;
    /// Writes what belongs at the end.
    fn finish(&mut self) -> std::io::Result<()>;
}
