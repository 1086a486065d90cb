//! The values that a metric can have.

use super::terms::{Subject, Unit};
use crate::stats::to_f64;

/// From the least to the greatest value, in the unit of storage.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Range {
    /// Between fixed ends, infinite where there is none.
    Between(f64, f64),
    /// From 1/n to 1, where n is the number of flows: Jain's index.
    Fairness,
}

impl Range {
    /// Counts, times, rates.
    pub const NOT_NEGATIVE: Range = Range::Between(0.0, f64::INFINITY);
    /// A part of a whole.
    pub const SHARE: Range = Range::Between(0.0, 1.0);
    /// A multiple of the least possible.
    pub const FROM_ONE: Range = Range::Between(1.0, f64::INFINITY);

    /// The range of a metric that declares none: by its unit.
    pub(super) const fn of(unit: Unit) -> Range {
        match unit {
            Unit::Ratio => Range::SHARE,
            _ => Range::NOT_NEGATIVE,
        }
    }

    /// Least and greatest value of a subject.
    pub fn bounds(self, subject: &Subject<'_>) -> (f64, f64) {
        match (self, subject) {
            (Range::Between(low, high), _) => (low, high),
            (Range::Fairness, Subject::Flows(flows, ..)) if !flows.is_empty() => (
                1.0 / to_f64(u64::try_from(flows.len()).unwrap_or(u64::MAX)),
                1.0,
            ),
            (Range::Fairness, _) => (0.0, 1.0),
        }
    }

    /// The range in words, for documents.
    pub fn text(self) -> String {
        match self {
            Range::Between(low, high) if high.is_infinite() => format!("≥ {low}"),
            Range::Between(low, high) if low.is_infinite() => format!("≤ {high}"),
            Range::Between(low, high) => format!("{low}…{high}"),
            Range::Fairness => "1/n…1".to_owned(),
        }
    }
}
