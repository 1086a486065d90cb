//! Words of metrics: what they are of, and in which unit.

use sojourn_units::Span;

use crate::outcome::{FlowOutcome, QueueOutcome, RunOutcome};

/// What a metric is of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    /// A queue.
    Queue,
    /// A flow, or flows of a group together.
    Flow,
    /// Flows of a group, compared with each other.
    Group,
    /// The whole run.
    Run,
}

/// Unit of a metric's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Seconds; shown in milliseconds.
    Seconds,
    /// Seconds; shown in seconds.
    LongSeconds,
    /// Bits per second; shown in Mbps.
    BitsPerSecond,
    /// A share of 1; shown in percent.
    Ratio,
    /// A number without a unit.
    Index,
    /// Packets.
    Packets,
    /// Bytes.
    Bytes,
    /// Packets per second.
    PacketsPerSecond,
    /// Bytes per second.
    BytesPerSecond,
    /// A number of events.
    Count,
}

/// What a metric is taken of.
#[derive(Clone, Debug)]
pub enum Subject<'a> {
    /// Queues, over the measured time.
    Queues(Vec<&'a QueueOutcome>, Span),
    /// Flows, over the measured time, and over the time in which anything happened in the run.
    Flows(Vec<&'a FlowOutcome>, Span, Span),
    /// A run.
    Run(&'a RunOutcome),
}

impl Unit {
    /// The unit of the value as it is stored.
    pub fn stored(self) -> &'static str {
        match self {
            Unit::Seconds | Unit::LongSeconds => "s",
            Unit::BitsPerSecond => "bit/s",
            Unit::Ratio | Unit::Index | Unit::Count => "1",
            Unit::Packets => "packets",
            Unit::Bytes => "bytes",
            Unit::PacketsPerSecond => "packets/s",
            Unit::BytesPerSecond => "B/s",
        }
    }

    /// The unit of the value as it is shown; empty where there is none.
    pub fn shown(self) -> &'static str {
        match self {
            Unit::Seconds => "ms",
            Unit::LongSeconds => "s",
            Unit::BitsPerSecond => "Mbps",
            Unit::Ratio => "%",
            Unit::Index | Unit::Count => "",
            Unit::Packets => "packets",
            Unit::Bytes => "bytes",
            Unit::PacketsPerSecond => "packets/s",
            Unit::BytesPerSecond => "B/s",
        }
    }

    /// The value as it is shown, from the value as it is stored.
    pub fn show(self, value: f64) -> f64 {
        match self {
            Unit::Seconds => value * 1e3,
            Unit::BitsPerSecond => value / 1e6,
            Unit::Ratio => value * 100.0,
            _ => value,
        }
    }

    /// The factor that takes a value in the unit called `name` to the unit of storage; `None` if it is no unit of this
    /// quantity. No name is the unit of storage.
    pub fn factor(self, name: &str) -> Option<f64> {
        let factors: &[(&str, f64)] = match self {
            Unit::Seconds | Unit::LongSeconds => &[
                ("s", 1.0),
                ("ms", 1e-3),
                ("us", 1e-6),
                ("µs", 1e-6),
                ("ns", 1e-9),
                ("min", 60.0),
            ],
            Unit::BitsPerSecond => &[
                ("bps", 1.0),
                ("bit/s", 1.0),
                ("kbps", 1e3),
                ("Mbps", 1e6),
                ("Gbps", 1e9),
                ("B/s", 8.0),
                ("kB/s", 8e3),
                ("MB/s", 8e6),
            ],
            Unit::Ratio => &[("1", 1.0), ("ratio", 1.0), ("%", 0.01)],
            Unit::Index | Unit::Count => &[("1", 1.0)],
            Unit::Packets => &[("packets", 1.0), ("p", 1.0), ("pkt", 1.0)],
            Unit::Bytes => &[("bytes", 1.0), ("B", 1.0), ("kB", 1e3), ("MB", 1e6)],
            Unit::PacketsPerSecond => &[("packets/s", 1.0), ("pps", 1.0)],
            Unit::BytesPerSecond => &[("B/s", 1.0), ("kB/s", 1e3), ("bps", 0.125)],
        };
        match name {
            "" => Some(1.0),
            name => factors
                .iter()
                .find(|(unit, _)| *unit == name)
                .map(|(_, f)| *f),
        }
    }

    /// The names that [`Unit::factor`] knows, for a message.
    pub fn names(self) -> &'static str {
        match self {
            Unit::Seconds | Unit::LongSeconds => "s, ms, us, ns, min",
            Unit::BitsPerSecond => "bps, kbps, Mbps, Gbps, B/s, kB/s, MB/s",
            Unit::Ratio => "1, %",
            Unit::Index | Unit::Count => "1",
            Unit::Packets => "packets",
            Unit::Bytes => "bytes, kB, MB",
            Unit::PacketsPerSecond => "packets/s",
            Unit::BytesPerSecond => "B/s, kB/s, bps",
        }
    }
}

impl Level {
    /// What it is called in documents.
    pub fn name(self) -> &'static str {
        match self {
            Level::Queue => "queue",
            Level::Flow => "flow",
            Level::Group => "group of flows",
            Level::Run => "run",
        }
    }
}
